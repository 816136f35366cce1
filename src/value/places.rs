//! `Places`: where the items of a `Table` are, found by their hash. A sorted array with gaps: each pair of tag (half of
//! the hash) and place stands at the share of the array that its tag is of all tags, or as soon behind it as there is
//! room, so that all pairs ascend. A lookup in a large table then reads one line of memory before the item's own, where
//! a table of groups reads two; and growing is one walk through both arrays that looks at no item.

/// A gap. Above all pairs, since no item is at the last place there could be.
const GAP: u64 = u64::MAX;
/// Of this many homes, `FULL` may have a pair.
const HOMES: usize = 20;
const FULL: usize = 17;
/// The smallest array.
const LEAST: usize = 8;

/// Places by hash.
#[derive(Clone, Default)]
pub(super) struct Places {
    /// `tag << 32 | place`, ascending but for gaps. Longer than `homes` where pairs were pushed over the end.
    pairs: Vec<u64>,
    homes: usize,
    len: usize,
}

fn tag(hash: u64) -> u64 {
    (hash ^ (hash >> 32)) << 32
}

impl Places {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        let mut places = Places::default();
        if capacity > 0 {
            places.spread(capacity * HOMES / FULL + 1);
        }
        places
    }

    /// Where a pair is if nothing stands in its way.
    #[inline]
    fn home(&self, pair: u64) -> usize {
        (((pair >> 32) * self.homes as u64) >> 32) as usize
    }

    /// The place with this hash that is the right one.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        let behind = self.pairs.get(self.home(tag)..)?;
        let same = behind
            .iter()
            .skip_while(|&&pair| pair < tag)
            .take_while(|&&pair| pair ^ tag < 1 << 32 && pair != GAP);
        same.map(|&pair| pair as u32).find(|&place| is_it(place))
    }

    /// Adds a place.
    pub(super) fn insert(&mut self, hash: u64, place: u32) {
        if (self.len + 1) * HOMES > self.homes * FULL {
            // A quarter more: a walk through the arrays is cheap, and room for twice as many would not be.
            self.spread((self.homes + self.homes / 4).max(LEAST));
        }
        self.len += 1;
        let mut carried = tag(hash) | u64::from(place);
        let home = self.home(carried);
        for pair in &mut self.pairs[home..] {
            if carried < *pair {
                std::mem::swap(&mut carried, pair);
                if carried == GAP {
                    return;
                }
            }
        }
        if self.pairs.len() == self.pairs.capacity() {
            self.pairs.reserve_exact(LEAST);
        }
        self.pairs.push(carried);
    }

    /// Where a pair is.
    fn position(&self, hash: u64, place: u32) -> Option<usize> {
        let pair = tag(hash) | u64::from(place);
        let home = self.home(pair);
        let steps = self.pairs.get(home..)?.iter().position(|&other| other >= pair)?;
        (self.pairs[home + steps] == pair).then_some(home + steps)
    }

    /// Takes a place out.
    pub(super) fn remove(&mut self, hash: u64, place: u32) {
        let Some(mut at) = self.position(hash, place) else { return };
        self.len -= 1;
        while let Some(&next) = self.pairs.get(at + 1)
            && next != GAP
            && self.home(next) <= at
        {
            self.pairs[at] = next;
            at += 1;
        }
        self.pairs[at] = GAP;
    }

    /// An item has moved from one place to another.
    pub(super) fn update(&mut self, hash: u64, from: u32, to: u32) {
        self.remove(hash, from);
        self.insert(hash, to);
    }

    /// Gives back what `capacity` items do not need.
    pub(super) fn shrink_to(&mut self, capacity: usize) {
        let homes = (capacity.max(self.len) * HOMES / FULL + 1).max(LEAST);
        if homes < self.homes {
            self.spread(homes);
        }
    }

    /// Lays all pairs out anew in an array with so many homes.
    fn spread(&mut self, homes: usize) {
        self.homes = homes;
        let old = std::mem::replace(&mut self.pairs, Vec::with_capacity(homes + LEAST));
        for pair in old.into_iter().filter(|&pair| pair != GAP) {
            let home = self.home(pair);
            if self.pairs.len() < home {
                self.pairs.resize(home, GAP);
            }
            if self.pairs.len() == self.pairs.capacity() {
                self.pairs.reserve_exact(LEAST);
            }
            self.pairs.push(pair);
        }
        if self.pairs.len() < homes {
            self.pairs.resize(homes, GAP);
        }
    }

    /// The bytes really allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    /// Few tags, many of them at the end and the same, so that pairs stand far from home and over the end.
    fn hash(number: u32) -> u64 {
        match number % 4 {
            0 => u64::from(number),
            1 => u64::from(u32::MAX) << 32,
            2 => u64::from(u32::MAX - number % 8) << 32,
            _ => u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        }
    }

    fn check(places: &Places, model: &BTreeSet<u32>) {
        let pairs: Vec<u64> = places.pairs.iter().copied().filter(|&pair| pair != GAP).collect();
        assert!(pairs.is_sorted());
        assert_eq!(pairs.len(), places.len);
        let mut room = 0;
        for (at, &pair) in places.pairs.iter().enumerate() {
            if pair == GAP {
                room = at + 1;
            } else {
                assert!((room..=at).contains(&places.home(pair)), "no gap between a pair and its home");
            }
        }
        for number in 0..256 {
            let found = places.find(hash(number), |place| place == number);
            assert_eq!(found, model.contains(&number).then_some(number));
        }
    }

    proptest! {
        #[test]
        fn finds_what_a_set_has(steps in prop::collection::vec((0..4_u8, 0..256_u32), 1..600)) {
            let (mut places, mut model) = (Places::default(), BTreeSet::new());
            for (step, number) in steps {
                match step {
                    0 | 1 => if model.insert(number) { places.insert(hash(number), number) },
                    2 => if model.remove(&number) { places.remove(hash(number), number) },
                    _ => if number % 16 == 0 { places.shrink_to(0) },
                }
            }
            check(&places, &model);
        }
    }
}
