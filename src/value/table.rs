//! `Table`: the large form of hashes, sets and sorted sets: items in a dense vector, and a hash table of their
//! places. A removed item is replaced by the last one, so that the vector has no holes: a random item is one index
//! away. Items therefore only ever move down, and `scan` walks down too: an item that is there from the first call
//! to the last is always ahead of the cursor or already returned, whatever is added and removed in between. What the
//! latest walk has passed does not move back to where it is yet to come, so that it passes nothing twice: before an
//! item ahead of it is removed, the last of those ahead takes its place. A table that took the place of another has its
//! items elsewhere: it knows a cursor of the other by its number.

use super::places::Places;
use crate::util::hasher::Hasher;

/// What a place costs: eight bytes in an array that is three quarters full.
const PLACE_BYTES: usize = 10;

/// An item that is found by a byte string it holds.
pub trait Keyed {
    /// The byte string.
    fn key(&self) -> &[u8];
    /// The bytes allocated by the item.
    fn heap_bytes(&self) -> usize;
}

/// A set of items with distinct keys.
#[derive(Clone)]
pub struct Table<T> {
    items: Vec<T>,
    places: Places,
    hasher: Hasher,
    items_heap_bytes: usize,
    /// There from the first walk in steps.
    walk: Option<Box<Walk>>,
}

/// The latest walk over a table.
#[derive(Clone)]
struct Walk {
    /// In the cursors of all walks over this table.
    number: u32,
    /// The place in the cursor that was handed out last.
    handed: u32,
    /// How many items are ahead: as many as `handed`, less those of them that were removed since.
    ahead: u32,
}

impl<T: Keyed> Default for Table<T> {
    fn default() -> Self {
        Table::with_capacity(0)
    }
}

impl<T: Keyed> Table<T> {
    /// An empty table with room for `capacity` items.
    pub fn with_capacity(capacity: usize) -> Self {
        Table {
            items: Vec::with_capacity(capacity),
            places: Places::with_capacity(capacity),
            hasher: Hasher::default(),
            items_heap_bytes: 0,
            walk: None,
        }
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All items; their order is that of insertion until one is removed.
    #[inline]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The item at a place.
    #[inline]
    pub fn at(&self, place: u32) -> Option<&T> {
        self.items.get(place as usize)
    }

    /// The item with this key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<&T> {
        self.find(key).ok().and_then(|place| self.at(place))
    }

    /// The place of the item with this key, or else the hash to [`push`](Self::push) it with.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<u32, u64> {
        let hash = self.hasher.hash_bytes(key);
        self.places.find(hash, |place| self.items[place as usize].key() == key).ok_or(hash)
    }

    /// Adds an item that [`find`](Self::find) did not find, and returns its place.
    pub fn push(&mut self, hash: u64, item: T) -> u32 {
        if self.items.len() == self.items.capacity() {
            // Half more, not twice: at a million items the difference is tens of megabytes.
            self.items.reserve_exact((self.items.len() / 2).max(4));
        }
        let place = self.items.len() as u32;
        self.items_heap_bytes += item.heap_bytes();
        self.items.push(item);
        self.places.insert(hash, place);
        place
    }

    /// Changes an item, but not its key, in place.
    #[inline]
    pub fn update<R>(&mut self, place: u32, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let item = self.items.get_mut(place as usize)?;
        let before = item.heap_bytes();
        let result = change(item);
        self.items_heap_bytes = self.items_heap_bytes - before + item.heap_bytes();
        Some(result)
    }

    /// Removes the item at a place; the last item moves there, or to where [`pass`](Self::pass) brings the removed one.
    pub fn remove(&mut self, place: u32) -> Option<T> {
        let place = self.pass(place);
        let last = self.items.len().checked_sub(1)? as u32;
        self.places.remove(self.hash_at(place)?, place);
        if place != last {
            self.places.update(self.hash_at(last)?, last, place);
        }
        let item = self.items.swap_remove(place as usize);
        self.items_heap_bytes -= item.heap_bytes();
        self.shrink();
        Some(item)
    }

    /// Where [`pass`](Self::pass) would bring the item at a place.
    #[inline]
    pub fn passed_at(&self, place: u32) -> u32 {
        match &self.walk {
            Some(walk) if place < walk.ahead => walk.ahead - 1,
            _ => place,
        }
    }

    /// Takes an item out of those that the latest walk has ahead, and returns where it is now. The last of these is at its
    /// place then.
    #[inline]
    pub fn pass(&mut self, place: u32) -> u32 {
        let to = self.passed_at(place);
        match &mut self.walk {
            Some(walk) if place < walk.ahead => walk.ahead = to,
            _ => return place,
        }
        if to != place
            && let (Some(from_hash), Some(to_hash)) = (self.hash_at(place), self.hash_at(to))
        {
            self.places.update(from_hash, place, to);
            self.places.update(to_hash, to, place);
            self.items.swap(place as usize, to as usize);
        }
        to
    }

    /// Removes the item with this key, as [`remove`](Self::remove) does.
    pub fn remove_key(&mut self, key: &[u8]) -> Option<T> {
        let place = self.find(key).ok()?;
        self.remove(place)
    }

    fn hash_at(&self, place: u32) -> Option<u64> {
        self.at(place).map(|item| self.hasher.hash_bytes(item.key()))
    }

    /// Gives memory back once three quarters of it are unused.
    fn shrink(&mut self) {
        let len = self.items.len();
        if self.items.capacity() < 64 || len > self.items.capacity() / 4 {
            return;
        }
        self.items.shrink_to(len * 2);
        self.places.shrink_to(len * 2);
    }

    /// The number in cursors of this table; 0 until it got one.
    pub fn walk(&self) -> u32 {
        self.walk.as_ref().map_or(0, |walk| walk.number)
    }

    /// Sets the number in cursors of this table; 0 for none.
    pub fn set_walk(&mut self, number: u32) {
        self.walk = (number > 0).then(|| Box::new(Walk { number, handed: 0, ahead: 0 }));
    }

    /// Passes up to `count` items to `each` and returns the cursor to go on with: 0 when the walk is over.
    /// A walk starts with cursor 0. With a cursor of another table it passes all that there is and is over.
    pub fn scan(&mut self, cursor: u64, count: usize, mut each: impl FnMut(&T)) -> u64 {
        let (number, place) = ((cursor >> 32) as u32, cursor as u32);
        let len = self.len();
        let (end, count) = match &self.walk {
            _ if cursor == 0 => (len, count),
            Some(walk) if number == walk.number && place == walk.handed => (walk.ahead as usize, count),
            _ if number == self.walk() => (len.min(place as usize), count),
            _ => (len, usize::MAX),
        };
        let start = end.saturating_sub(count.max(1));
        self.items[start..end].iter().rev().for_each(&mut each);
        if let Some(walk) = &mut self.walk {
            (walk.handed, walk.ahead) = (start as u32, start as u32);
        }
        if start == 0 { 0 } else { u64::from(self.walk()) << 32 | start as u64 }
    }

    /// About how many bytes the table and its items take up. It depends on the items alone, not on room kept for
    /// more, so that a clone counts the same.
    pub fn memory_bytes(&self) -> usize {
        self.items.len() * (size_of::<T>() + PLACE_BYTES) + self.items_heap_bytes
    }

    /// The bytes really allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.places.heap_bytes() + self.items_heap_bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::util::bytes::Bytes;

    impl Keyed for (Bytes, u32) {
        fn key(&self) -> &[u8] {
            &self.0
        }

        fn heap_bytes(&self) -> usize {
            self.0.heap_bytes()
        }
    }

    fn add(table: &mut Table<(Bytes, u32)>, number: u32) {
        let key = Bytes::from(number.to_string().as_str());
        if let Err(hash) = table.find(&key) {
            table.push(hash, (key, number));
        }
    }

    fn remove(table: &mut Table<(Bytes, u32)>, number: u32) -> bool {
        table.remove_key(number.to_string().as_bytes()).is_some()
    }

    #[test]
    fn memory_is_given_back() {
        let mut table = Table::default();
        (0..10_000).for_each(|number| add(&mut table, number));
        let full = table.heap_bytes();
        (1..10_000).for_each(|number| assert!(remove(&mut table, number)));
        assert_eq!((table.len(), table.get(b"0").map(|item| item.1)), (1, Some(0)));
        assert!(table.heap_bytes() * 20 < full);
    }

    proptest! {
        /// Whatever happens between two calls, a scan returns every item that stays.
        #[test]
        fn a_scan_returns_what_stays(
            staying in 1..200_u32,
            count in 1..20_usize,
            changes in prop::collection::vec((any::<bool>(), 200..400_u32), 0..600),
        ) {
            let mut table = Table::default();
            for number in 0..staying {
                add(&mut table, number);
                add(&mut table, 200 + number);
            }
            let (mut seen, mut cursor, mut changes) = (vec![false; 400], 0, changes.into_iter());
            loop {
                cursor = table.scan(cursor, count, |item| seen[item.1 as usize] = true);
                if cursor == 0 {
                    break;
                }
                for (insert, number) in changes.by_ref().take(20) {
                    if insert { add(&mut table, number) } else { remove(&mut table, number); }
                }
            }
            prop_assert!(seen[..staying as usize].iter().all(|seen| *seen));
        }

        /// A walk that no other one meets passes an item once for each time that it was added.
        #[test]
        fn a_scan_returns_nothing_twice(
            count in 1..20_usize,
            walks in 1..4_u32,
            changes in prop::collection::vec((any::<bool>(), 0..400_u32), 0..600),
        ) {
            let mut table = Table::default();
            (0..300).for_each(|number| add(&mut table, number));
            table.set_walk(7);
            // Walks that were given up change nothing.
            (1..walks).for_each(|_| assert_ne!(table.scan(0, count, |_| ()), 0));
            let (mut seen, mut added, mut cursor) = ([0; 400], [1; 400], 0);
            let mut changes = changes.into_iter();
            loop {
                cursor = table.scan(cursor, count, |item| seen[item.1 as usize] += 1);
                if cursor == 0 {
                    break;
                }
                for (insert, number) in changes.by_ref().take(20) {
                    if !insert {
                        remove(&mut table, number);
                    } else if table.get(number.to_string().as_bytes()).is_none() {
                        add(&mut table, number);
                        added[number as usize] += 1;
                    }
                }
            }
            prop_assert!(seen.iter().zip(&added).all(|(seen, added)| seen <= added));
            for place in 0..table.len() as u32 {
                let key = table.at(place).unwrap().0.clone();
                prop_assert_eq!(table.find(&key), Ok(place));
            }
        }
    }
}
