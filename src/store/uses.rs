//! When and how often a key was used: 24 bits in its entry, read as the policy says. For LRU they are the server's
//! clock of seconds; for LFU sixteen bits of minutes and a counter that grows the more slowly the higher it is. A
//! change of the policy converts nothing, as on the server. What is evicted for it is in `evict`.

use super::{Db, Entry, Store};
use crate::util::rng::Rng;

/// Bits of a use.
const CLOCK_MAX: u32 = (1 << 24) - 1;
/// The counter of a new key.
const FIRST_COUNT: u8 = 5;
/// What no entry has: uses are counted, so that each is to be noted.
pub(super) const COUNTED: u32 = u32::MAX;

/// The use of this second.
pub(super) fn clock(now_ms: i64) -> u32 {
    (now_ms.div_euclid(1000) as u32) & CLOCK_MAX
}

/// Minutes as far as an entry keeps them.
fn minutes(now_ms: i64) -> u32 {
    (now_ms.div_euclid(60_000) as u32) & 0xffff
}

fn counted(now_ms: i64, count: u8) -> u32 {
    minutes(now_ms) << 8 | u32::from(count)
}

/// One more use: the likelier to count, the fewer there are.
fn increase(count: u8, log_factor: u64, rng: &mut Rng) -> u8 {
    if count == u8::MAX {
        return count;
    }
    let above = f64::from(count.saturating_sub(FIRST_COUNT));
    let chance = 1.0 / (above * log_factor as f64 + 1.0);
    let drawn = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    count + u8::from(drawn < chance)
}

impl Entry {
    /// For how many seconds the key was not used, by the server's clock of 24 bits.
    pub fn idle_s(&self, now_ms: i64) -> i64 {
        let (now, used) = (clock(now_ms), self.used & CLOCK_MAX);
        i64::from(if now >= used { now - used } else { now + (CLOCK_MAX - used) })
    }
    /// The counter of uses, less one for each span of so many minutes since it was set.
    pub fn frequency(&self, now_ms: i64, decay_minutes: u64) -> u8 {
        let (now, set) = (minutes(now_ms), self.used >> 8 & 0xffff);
        let passed = if now >= set { now - set } else { 0xffff - set + now };
        let periods = u64::from(passed).checked_div(decay_minutes).unwrap_or(0);
        (self.used as u8).saturating_sub(periods.min(255) as u8)
    }
}

impl Store {
    /// What notes a use now: [`COUNTED`] when uses are counted.
    pub(super) fn use_now(&self) -> u32 {
        if self.memory.policy.counts() { COUNTED } else { clock(self.now_ms) }
    }
    /// What a new key begins with.
    #[inline]
    pub(super) fn first_use(&self) -> u32 {
        if self.used_now == COUNTED { counted(self.now_ms, FIRST_COUNT) } else { self.used_now }
    }
    /// Notes that a key was used.
    #[inline]
    pub(super) fn note_use(&mut self, db: Db, slot: u32) {
        let used = self.use_again(db, slot);
        self.keyspace_mut(db).note_use(slot, used);
    }
    /// What a key has once it was used again.
    #[inline]
    pub(super) fn use_again(&mut self, db: Db, slot: u32) -> u32 {
        if self.used_now == COUNTED { self.count_use(db, slot) } else { self.used_now }
    }
    #[cold]
    fn count_use(&mut self, db: Db, slot: u32) -> u32 {
        let (now_ms, memory) = (self.now_ms, self.memory);
        let count = self.keyspace(db).get(slot).map(|entry| entry.frequency(now_ms, memory.lfu_decay_time));
        let count = count.map(|count| increase(count, memory.lfu_log_factor, &mut self.rng));
        counted(now_ms, count.unwrap_or(FIRST_COUNT))
    }
    /// Sets when or how often a key was used, whichever of both the policy asks for: so many seconds ago, so often.
    /// RESTORE and the loading of a dump set what they read.
    pub fn set_use(&mut self, db: Db, key: &[u8], idle_s: Option<i64>, frequency: Option<u8>) {
        let now_ms = self.now_ms;
        let used = if self.used_now == COUNTED {
            frequency.map(|count| counted(now_ms, count))
        } else {
            let now = i64::from(clock(now_ms));
            let before = |idle_s: i64| match now.saturating_sub(idle_s) {
                ..0 => (now + i64::from(CLOCK_MAX / 2)) % i64::from(CLOCK_MAX),
                used => used,
            };
            idle_s.filter(|&idle_s| idle_s >= 0).map(|idle_s| before(idle_s) as u32 & CLOCK_MAX)
        };
        let Some(used) = used else { return };
        if let Some(slot) = self.keyspace(db).find(key) {
            self.keyspace_mut(db).note_use(slot, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::bytes::Bytes;
    use crate::value::{Str, Value};

    fn entry(used: u32) -> Entry {
        Entry { key: Bytes::EMPTY, value: Value::String(Str::Int(1)), expire_at: -1, hash: 0, used }
    }

    #[test]
    fn a_count_decays_by_the_minute_and_wraps_once() {
        let used = counted(600_000, 100);
        assert_eq!([0, 60_000, 600_000].map(|ms| entry(used).frequency(600_000 + ms, 1)), [100, 99, 90]);
        assert_eq!(entry(used).frequency(600_000 + 600_000, 3), 97);
        assert_eq!(entry(used).frequency(60_000_000, 1), 0);
        assert_eq!(entry(used).frequency(60_000_000, 0), 100);
        assert_eq!(entry(counted(65_534 * 60_000, 9)).frequency(65_538 * 60_000, 1), 6);
    }

    #[test]
    fn idle_time_is_that_of_a_clock_of_24_bits() {
        assert_eq!(entry(clock(5_000)).idle_s(9_999), 4);
        assert_eq!(entry(clock(5_000)).idle_s(4_000), i64::from(CLOCK_MAX) - 1);
    }

    #[test]
    fn counts_grow_by_the_logarithm() {
        let mut rng = Rng::new(1);
        let after =
            |uses: u32, factor, rng: &mut Rng| (0..uses).fold(FIRST_COUNT, |n, _| increase(n, factor, rng));
        assert_eq!(after(1, 10, &mut rng), 6);
        assert_eq!(after(100, 0, &mut rng), 105);
        assert!((8..15).contains(&after(100, 10, &mut rng)));
        assert!((14..25).contains(&after(1000, 10, &mut rng)));
        assert_eq!(increase(255, 0, &mut rng), 255);
    }
}
