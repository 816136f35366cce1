//! Eviction, as the server does it: before a command, keys go until memory is within its limit. The policies of LRU,
//! LFU and TTL keep a pool of the sixteen best candidates met so far, to which each round adds a few keys at random.
//! What is chosen follows from the seed. There is no limit of time: a round ends when memory is free or no key is left.

use super::keyspace::{self, Keyspace};
use super::memory::Policy;
use super::{Db, Event, Store};
use crate::util::bytes::Bytes;
use crate::util::rng::Rng;

const POOL: usize = 16;
/// Of more keys than this it is not asked whether one is among them twice.
const MANY: usize = 64;
/// How many slots are looked at for one key that is to be found.
const TRIES: usize = 10;

/// A key that may go.
#[derive(Debug, Clone)]
struct Candidate {
    /// The higher, the sooner it goes.
    score: u64,
    db: Db,
    key: Bytes,
}

/// What eviction remembers from one round to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Evictor {
    /// Ascending by score; keys may have gone since.
    pool: Vec<Candidate>,
    /// The database from which the last random key went.
    last_db: Db,
    /// Since when memory is over its limit and no key could go, in microseconds.
    over_since_us: Option<i64>,
}

impl Evictor {
    /// As the server's pool takes a candidate: a full one drops its worst.
    fn offer(&mut self, score: u64, db: Db, key: &Bytes) {
        let at = self.pool.partition_point(|other| other.score < score);
        let candidate = Candidate { score, db, key: key.clone() };
        if self.pool.len() < POOL {
            self.pool.insert(at, candidate);
        } else if at > 0 {
            self.pool.remove(0);
            self.pool.insert(at - 1, candidate);
        }
    }
}

impl Store {
    /// Removes keys until memory is within its limit. False when it is not and no key may go.
    pub(crate) fn make_room(&mut self) -> bool {
        let limit = self.memory.maxmemory;
        let is_over = |store: &Store| limit != 0 && (store.memory_bytes() + store.beside) as u64 > limit;
        let started = if is_over(self) { self.latency.start() } else { None };
        let mut evicted = false;
        while is_over(self) {
            let Some((db, slot)) = self.choose() else { break };
            self.evict(db, slot);
            evicted = true;
        }
        self.latency.stop("eviction-cycle", started, self.now_s());
        if evicted {
            self.unbracket_journal();
            self.finish_unit();
        }
        let fits = !is_over(self);
        self.note_room(fits);
        fits
    }
    /// So much is taken up beside the keys and counts against the limit.
    pub(crate) fn count_beside(&mut self, bytes: usize) {
        self.beside = bytes;
    }
    /// Keeps count of the time for which memory was over its limit.
    fn note_room(&mut self, fits: bool) {
        match (fits, self.evictor.over_since_us) {
            (false, None) => self.evictor.over_since_us = Some(self.now_us),
            (true, Some(_)) => {
                self.stats.eviction_exceeded_us += self.over_for_us();
                self.evictor.over_since_us = None;
            }
            _ => {}
        }
    }
    /// For how long memory has been over its limit.
    pub fn over_for_us(&self) -> u64 {
        let since = self.evictor.over_since_us;
        since.map_or(0, |since| self.now_us.saturating_sub(since).max(0) as u64)
    }
    fn evict(&mut self, db: Db, slot: u32) {
        let started = self.latency.start();
        let Some(entry) = self.drop_slot(db, slot) else { return };
        self.stats.evicted += 1;
        if !self.observers.is_empty() {
            self.observers.mark_evicted(db, &entry.key);
        }
        self.notify(db, &entry.key, Event::evicted("evicted"));
        let name: &[u8] = if self.memory.lazy_eviction { b"UNLINK" } else { b"DEL" };
        self.propagate(db, &[name, &entry.key]);
        self.free(entry, self.memory.lazy_eviction);
        self.latency.stop("eviction-del", started, self.now_s());
    }
    /// The key that goes next.
    fn choose(&mut self) -> Option<(Db, u32)> {
        match self.memory.policy {
            Policy::NoEviction => None,
            policy if policy.is_random() => self.choose_at_random(policy.takes_all()),
            policy => self.choose_best(policy),
        }
    }
    /// A random key of the next database that has one.
    fn choose_at_random(&mut self, all: bool) -> Option<(Db, u32)> {
        for _ in 0..self.databases() {
            self.evictor.last_db = (self.evictor.last_db + 1) % self.databases();
            let (db, Store { dbs, rng, evictor, .. }) = (self.evictor.last_db, &mut *self);
            let slot = keyspace::of(dbs, evictor.last_db).sample(1, all, rng).pop();
            if let Some(slot) = slot {
                return Some((db, slot));
            }
        }
        None
    }
    /// The best candidate, after a few keys of each database were added to the pool.
    fn choose_best(&mut self, policy: Policy) -> Option<(Db, u32)> {
        loop {
            let mut sampled = 0;
            for db in 0..self.databases() {
                sampled += self.fill_pool(db, policy);
            }
            if sampled == 0 {
                return None;
            }
            while let Some(Candidate { db, key, .. }) = self.evictor.pool.pop() {
                let keyspace = self.keyspace(db);
                let found = keyspace.find_entry(&key);
                if let Some((slot, entry)) = found
                    && (policy.takes_all() || entry.expire_at_ms().is_some())
                {
                    return Some((db, slot));
                }
            }
        }
    }
    fn fill_pool(&mut self, db: Db, policy: Policy) -> usize {
        let Store { dbs, rng, evictor, memory, now_ms, .. } = self;
        let keyspace = keyspace::of(dbs, db);
        let slots = keyspace.sample(memory.samples as usize, policy.takes_all(), rng);
        for &slot in &slots {
            let Some(entry) = keyspace.get(slot) else { continue };
            let score = match policy {
                Policy::VolatileTtl => u64::MAX - entry.expire_at as u64,
                policy if policy.counts() => 255 - u64::from(entry.frequency(*now_ms, memory.lfu_decay_time)),
                _ => entry.idle_s(*now_ms) as u64,
            };
            evictor.offer(score, db, &entry.key);
        }
        slots.len()
    }
}

impl Keyspace {
    /// Up to so many keys at random, each once while they are few: of all, or of those with an expiry. One at least, when there is one.
    fn sample(&self, count: usize, all: bool, rng: &mut Rng) -> Vec<u32> {
        let there = if all { self.len() } else { self.deadlines.live() };
        let places = if all { self.slots() } else { self.deadlines.entries() };
        if there == 0 {
            return Vec::new();
        }
        let slot_at = |place: usize| if all { self.occupied(place) } else { self.with_deadline(place) };
        if count >= there && places <= count.saturating_mul(TRIES).max(256) {
            let mut found: Vec<u32> = (0..places).filter_map(slot_at).collect();
            found.sort_unstable();
            found.dedup();
            return found;
        }
        let mut found = Vec::new();
        for _ in 0..count.min(there).saturating_mul(TRIES) {
            let slot = slot_at(rng.below(places as u64) as usize);
            // A key that is offered twice does no harm: of many it is not asked.
            found.extend(slot.filter(|slot| found.len() > MANY || !found.contains(slot)));
            if found.len() == count {
                return found;
            }
        }
        if found.is_empty() {
            let from = rng.below(places as u64) as usize;
            found.extend((from..places).chain(0..from).find_map(slot_at));
        }
        found
    }
    fn occupied(&self, place: usize) -> Option<u32> {
        self.get(place as u32).map(|_| place as u32)
    }
    /// The slot of the deadline at a place of the heap, when it still holds.
    fn with_deadline(&self, place: usize) -> Option<u32> {
        let (deadline, slot) = self.deadlines.at(place)?;
        self.get(slot).filter(|entry| entry.expire_at == deadline).map(|_| slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pool_drops_its_worst() {
        let mut evictor = Evictor::default();
        let key = Bytes::from("k");
        (0..20).for_each(|score| evictor.offer(score, 0, &key));
        let scores = |evictor: &Evictor| evictor.pool.iter().map(|one| one.score).collect::<Vec<_>>();
        assert_eq!(scores(&evictor), (4..20).collect::<Vec<_>>());
        evictor.offer(3, 0, &key);
        evictor.offer(4, 0, &key);
        assert_eq!(scores(&evictor), (4..20).collect::<Vec<_>>());
        evictor.offer(7, 0, &key);
        assert_eq!(scores(&evictor)[..5], [5, 6, 7, 7, 8]);
        assert_eq!(evictor.pool.pop().map(|best| best.score), Some(19));
    }
}
