//! A list that is filled anew again and again, mostly with the same: what stood at a place before is taken again where it
//! fits.

use std::ops::{Deref, DerefMut};

/// See the module. Shows what it was filled with since [`begin`](Self::begin).
#[derive(Debug)]
pub(super) struct Refill<T> {
    items: Vec<T>,
    len: usize,
}

impl<T> Default for Refill<T> {
    fn default() -> Self {
        Refill { items: Vec::new(), len: 0 }
    }
}

impl<T> Refill<T> {
    /// Is filled anew with what it holds now.
    pub(super) fn begin(&mut self) {
        self.items.truncate(self.len);
        self.len = 0;
    }

    /// Adds what stood at this place before, if it fits, or else something new.
    pub(super) fn add(&mut self, fits: impl FnOnce(&mut T) -> bool, new: impl FnOnce() -> T) {
        let fits = self.items.get_mut(self.len).is_some_and(fits);
        if !fits {
            self.items.truncate(self.len);
            self.items.push(new());
        }
        self.len += 1;
    }
}

impl<T> Deref for Refill<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[..self.len]
    }
}

impl<T> DerefMut for Refill<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_taken_again_and_what_comes_behind_another_one_is_not() {
        let mut names: Refill<String> = Refill::default();
        let mut fill = |wanted: &[&str]| {
            names.begin();
            let mut made = 0;
            for name in wanted {
                let new = || {
                    made += 1;
                    (*name).to_owned()
                };
                names.add(|other| other == name, new);
            }
            assert_eq!(*names, *wanted);
            made
        };
        assert_eq!([fill(&["A", "B"]), fill(&["A", "B"]), fill(&["A"])], [2, 0, 0]);
        assert_eq!([fill(&["A", "B", "C"]), fill(&["B", "B", "C"])], [2, 3]);
    }
}
