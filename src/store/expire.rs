//! The deadlines of a database: a heap that is added to and never searched. An entry that no longer holds is
//! recognised when it comes up; when more than half do not hold, the heap is built anew. Adding is O(1) for the
//! usual rising deadlines, and expiring costs only what expires.

use super::{Db, Entry, Event, Store, keyspace};
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

impl Store {
    /// Whether keys whose time is over stay until they are written.
    pub(crate) fn keep_overdue(&mut self, keeps: bool) {
        self.keeps_overdue = keeps;
    }
    /// A command that does not write meets a key whose time is over.
    #[cold]
    pub(super) fn meet_overdue(&mut self, db: Db, slot: u32) {
        if !self.keeps_overdue {
            self.expire(db, slot);
        }
    }
    pub(super) fn expire(&mut self, db: Db, slot: u32) {
        let started = self.latency.start();
        let Some(entry) = self.drop_slot(db, slot) else { return };
        self.stats.expired += 1;
        let name: &[u8] = if self.memory.lazy_expire { b"UNLINK" } else { b"DEL" };
        self.propagate(db, &[name, &entry.key]);
        if !self.observers.is_empty() {
            self.observers.mark_expired(db, &entry.key);
            self.observers.tell(db, &entry.key, Event::expired("expired"));
        }
        self.free(entry, self.memory.lazy_expire);
        self.latency.stop("expire-del", started, self.now_s());
    }
    /// The time of this unit, in seconds.
    pub(crate) fn now_s(&self) -> i64 {
        self.now_ms.div_euclid(1000)
    }
    /// Frees what a key held; what a server would free in the background is counted.
    pub(super) fn free(&mut self, entry: Entry, lazily: bool) {
        const CHEAP: usize = 64;
        self.stats.lazy_freed += u64::from(lazily && entry.value.parts() > CHEAP);
    }
    /// Removes a live key as a server does in the background; false when there is none.
    pub fn unlink(&mut self, db: Db, key: &[u8], event: Event) -> bool {
        let Some(entry) = self.take(db, key, event) else { return false };
        self.free(entry, true);
        true
    }
    /// Removes a key whose time is over; false when there is no such key.
    pub fn expire_if_due(&mut self, db: Db, key: &[u8]) -> bool {
        let slot = self.keyspace(db).find(key);
        slot.is_some() && self.live_to_read(db, key).is_none()
    }
    /// When the next key may expire, in Unix milliseconds.
    pub fn next_expiry_ms(&self) -> Option<i64> {
        self.dbs.iter().filter_map(|keyspace| keyspace.deadlines.earliest()).min()
    }
    /// The earliest expiry of a key that is there. Costs what has to be forgotten.
    pub fn first_expiry_ms(&mut self) -> Option<i64> {
        self.dbs.iter_mut().filter_map(keyspace::Keyspace::first_expiry_ms).min()
    }
    /// Active expiry, a unit of its own: removes up to `limit` keys whose time is over, earliest first; answers how
    /// many.
    pub fn expire_due(&mut self, limit: usize) -> usize {
        let now_ms = self.now_ms;
        let mut gone = 0;
        self.unbracket_journal();
        while gone < limit && !self.keeps_overdue {
            let deadlines =
                self.dbs.iter().enumerate().filter_map(|(db, k)| Some((k.deadlines.earliest()?, db)));
            let Some((deadline, db)) = deadlines.min() else { break };
            if deadline >= now_ms {
                break;
            }
            if let Some(slot) = self.dbs[db].next_expired(now_ms) {
                self.expire(db as Db, slot);
                gone += 1;
            }
        }
        gone
    }
    /// The earliest instant at which a key of any database may expire.
    pub fn next_deadline_ms(&self) -> Option<i64> {
        self.dbs.iter().filter_map(|keyspace| keyspace.deadlines.earliest()).min()
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
