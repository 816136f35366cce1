//! The deadlines of a database: a heap that is added to and never searched. An entry that no longer holds is
//! recognised when it comes up; when more than half do not hold, the heap is built anew. Adding is O(1) for the
//! usual rising deadlines, and expiring costs only what expires.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(super) struct Deadlines {
    heap: Arc<BinaryHeap<Reverse<(i64, u32)>>>,
    live: usize,
}

impl Deadlines {
    /// Becomes what the other is; costs nothing where both share it still.
    #[cfg(feature = "sim")]
    pub(super) fn rewind(&mut self, other: &Deadlines) {
        if !Arc::ptr_eq(&self.heap, &other.heap) {
            self.heap.clone_from(&other.heap);
        }
        self.live = other.live;
    }
    /// How many keys have an expiry.
    pub(super) fn live(&self) -> usize {
        self.live
    }
    pub(super) fn add(&mut self, deadline_ms: i64, slot: u32) {
        self.live += 1;
        Arc::make_mut(&mut self.heap).push(Reverse((deadline_ms, slot)));
    }
    /// A key lost its expiry, or went; its entry in the heap no longer holds.
    pub(super) fn forget(&mut self) {
        debug_assert!(self.live > 0, "only a key with an expiry is forgotten");
        self.live = self.live.saturating_sub(1);
    }
    /// The earliest entry before `now_ms`, whether it still holds or not.
    pub(super) fn pop_before(&mut self, now_ms: i64) -> Option<(i64, u32)> {
        let Reverse((deadline, _)) = *self.heap.peek()?;
        if deadline >= now_ms {
            return None;
        }
        Arc::make_mut(&mut self.heap).pop().map(|Reverse(entry)| entry)
    }
    /// All entries before `now_ms`, whether they still hold or not, in no order. Costs no more than there are.
    pub(super) fn before(&self, now_ms: i64) -> Vec<(i64, u32)> {
        let heap = self.heap.as_slice();
        let (mut found, mut open) = (Vec::new(), vec![0]);
        while let Some(at) = open.pop() {
            if let Some(&Reverse((deadline, slot))) = heap.get(at)
                && deadline < now_ms
            {
                found.push((deadline, slot));
                open.extend([2 * at + 1, 2 * at + 2]);
            }
        }
        found
    }
    /// The earliest deadline in the heap; it may no longer hold.
    pub(super) fn earliest(&self) -> Option<i64> {
        self.heap.peek().map(|Reverse((deadline, _))| *deadline)
    }
    /// Drops what no longer holds, when that is most of the heap.
    pub(super) fn compact(&mut self, expiry_of: impl Fn(u32) -> Option<i64>) {
        if self.heap.len() <= 2 * self.live + 64 {
            return;
        }
        let heap = Arc::make_mut(&mut self.heap);
        let mut entries: Vec<_> = std::mem::take(heap).into_vec();
        entries.retain(|Reverse((deadline, slot))| expiry_of(*slot) == Some(*deadline));
        entries.sort_unstable();
        entries.dedup();
        *heap = entries.into();
    }
    /// The entry at a place of the heap, whether it still holds or not.
    pub(super) fn at(&self, place: usize) -> Option<(i64, u32)> {
        self.heap.as_slice().get(place).map(|Reverse(entry)| *entry)
    }
    /// How many entries the heap has, those that no longer hold included.
    pub(super) fn entries(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_stays_within_twice_what_holds() {
        let mut deadlines = Deadlines::default();
        deadlines.add(1, 0);
        for at in 2..10_000 {
            deadlines.forget();
            deadlines.add(at, 0);
            deadlines.compact(|_| Some(at));
        }
        assert_eq!(deadlines.live(), 1);
        assert!(deadlines.heap.len() <= 67);
        while let Some((at, _)) = deadlines.pop_before(9_999) {
            assert!(at < 9_999);
        }
        assert_eq!(deadlines.earliest(), Some(9_999));
    }
}
