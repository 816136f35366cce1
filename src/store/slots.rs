//! Which slots are free. A slot that was freed in the unit that runs goes back to its own key if that key is made
//! again before the unit ends, and to no other: for everybody else the key was there all the time, so a scan must
//! find it ahead of its cursor, or have met it.

use hashbrown::HashTable;
use std::ops::Range;

/// The free slots of a database.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeSlots {
    /// Free for any key, the one to use next at the end.
    any: Vec<u32>,
    /// Those that never held a key; used when there are no others.
    fresh: Range<u32>,
    /// Freed in this unit: hash of the key and slot.
    held: HashTable<(u32, u32)>,
}

/// A table of held slots larger than this is not kept for the next unit.
const KEPT_CAPACITY: usize = 64;

impl FreeSlots {
    /// A slot for a key with this hash.
    #[inline]
    pub(super) fn take(&mut self, hash: u32) -> Option<u32> {
        if !self.held.is_empty()
            && let Ok(found) = self.held.find_entry(spread(hash), |&(other, _)| other == hash)
        {
            return Some(found.remove().0.1);
        }
        self.any.pop().or_else(|| self.fresh.next())
    }
    /// The key with this hash left its slot.
    #[inline]
    pub(super) fn hold(&mut self, hash: u32, slot: u32) {
        self.held.insert_unique(spread(hash), (hash, slot), |&(hash, _)| spread(hash));
    }
    /// Slots that never held a key; there are no others left.
    pub(super) fn add(&mut self, slots: Range<u32>) {
        self.fresh = slots;
    }
    /// The unit has ended: what it freed is free for any key, the lowest slot first.
    pub(super) fn settle(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let start = self.any.len();
        self.any.extend(self.held.drain().map(|(_, slot)| slot));
        self.any[start..].sort_unstable_by(|a, b| b.cmp(a));
        if self.held.capacity() > KEPT_CAPACITY {
            self.held = HashTable::new();
        }
    }
}

/// Where an entry goes in a table: from the 32 bits of its hash that are kept, so that growing needs no key.
#[inline]
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_waits_for_its_key_until_the_unit_ends() {
        let mut slots = FreeSlots::default();
        slots.add(0..3);
        assert_eq!(slots.take(70), Some(0));
        assert_eq!(slots.take(71), Some(1));
        slots.hold(70, 0);
        assert_eq!(slots.take(72), Some(2));
        assert_eq!(slots.take(73), None);
        assert_eq!(slots.take(70), Some(0));
        slots.hold(71, 1);
        slots.hold(70, 0);
        slots.settle();
        assert_eq!([slots.take(74), slots.take(75), slots.take(76)], [Some(0), Some(1), None]);
    }
}
