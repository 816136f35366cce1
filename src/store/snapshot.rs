//! A store as a value: copies that share everything until one side writes, and the digest of what it holds.
//! Comparing two stores is in `diff`; snapshots and forks of whole engines are in `engine::state`.

use super::keyspace::{self, Keyspace};
use super::observers::Observers;
use super::{Db, Entry, Store};
use crate::util::hasher::Set;
use crate::util::latency::Monitor;
use crate::value::digest::Digest;

impl Store {
    /// A copy without what belongs to sessions and readers: nobody watches it, nobody reads its journal. Costs no
    /// copy of a key or value.
    pub fn detached(&self) -> Store {
        Store {
            dbs: self.dbs.clone(),
            databases: self.databases,
            hasher: self.hasher.clone(),
            now_us: self.now_us,
            now_ms: self.now_ms,
            used_now: self.used_now,
            memory: self.memory,
            evictor: self.evictor.clone(),
            beside: 0,
            dirty: self.dirty,
            removed_from: Vec::new(),
            observers: Observers::default(),
            keeps_overdue: self.keeps_overdue,
            journal: None,
            targets: self.targets,
            seed: self.seed,
            rng: self.rng.clone(),
            stats: self.stats,
            latency: Monitor::default(),
            walks: self.walks,
        }
    }
    /// Takes over what a [`detached`](Self::detached) copy holds. Who watches is told as if databases were swapped;
    /// readers of the journal go on reading (of this exchange they are not told). Cursors of SCAN are from then on
    /// what they were at the time of the copy.
    ///
    /// Both must have the same number of databases.
    pub(crate) fn adopt(&mut self, other: &Store) {
        if let Some(journal) = &mut self.journal {
            journal.abandon_unit();
        }
        self.take_content(other);
    }
    /// The same within a unit of work, whose writes stay in the journal.
    pub(crate) fn take_content(&mut self, other: &Store) {
        let mut other = other.detached();
        for db in 0..self.databases {
            let (own, new) = (keyspace::of(&self.dbs, db), other.keyspace(db));
            if !self.observers.is_empty() {
                let fate = |key: &[u8]| own.fate(key, new, other.now_ms);
                let wakes = |key: &[u8]| [new.type_name(key), own.wakes_by_going(key)];
                self.observers.mark_db(db, own.iter().map(Entry::key), fate, wakes);
            }
        }
        self.observers.note_flush();
        other.observers = std::mem::take(&mut self.observers);
        other.keeps_overdue = self.keeps_overdue;
        other.latency = std::mem::take(&mut self.latency);
        other.journal = self.journal.take();
        *self = other;
    }
    /// Becomes what the other is, of which it was a [`detached`](Self::detached) copy; costs no more than what was touched
    /// since. False when somebody watches, waits or reads the journal.
    #[cfg(feature = "sim")]
    pub(crate) fn rewind(&mut self, other: &Store) -> bool {
        if !self.observers.is_empty() || self.journal.is_some() || self.databases != other.databases {
            return false;
        }
        self.dbs.truncate(other.dbs.len());
        for (own, other) in self.dbs.iter_mut().zip(&other.dbs) {
            own.rewind(other);
        }
        self.rng = other.rng.clone();
        self.evictor = other.evictor.clone();
        self.latency = Monitor::default();
        self.removed_from.clear();
        (self.now_us, self.now_ms, self.used_now) = (other.now_us, other.now_ms, other.used_now);
        (self.dirty, self.stats, self.walks) = (other.dirty, other.stats, other.walks);
        (self.targets, self.beside) = (other.targets, 0);
        true
    }
    /// A digest of all keys with their values and expiry. It does not depend on the hasher, on the form of values, on
    /// where keys are stored, nor on keys whose time is over. Parts that did not change since the last call are not
    /// looked at again.
    pub fn digest(&self) -> u64 {
        let mut all = Digest::new(0);
        for (db, keyspace) in (0u64..).zip(&self.dbs) {
            let (keys, sum) = keyspace.digest(self.now_ms);
            if keys > 0 {
                all.word(db);
                all.word(keys);
                all.word(sum);
            }
        }
        all.finish()
    }
    /// The keys of a database that may differ from those of another store, each once.
    pub(super) fn suspects<'a>(&'a self, other: &'a Store, db: Db) -> Vec<&'a [u8]> {
        let (own, foreign) = (self.dbs.get(db as usize), other.dbs.get(db as usize));
        let mut keys: Set<&'a [u8]> = Set::default();
        for (keyspace, opposite, now_ms) in [(own, foreign, self.now_ms), (foreign, own, other.now_ms)] {
            let Some(keyspace) = keyspace else { continue };
            keys.extend(keyspace.unshared(opposite).map(|entry| entry.key()));
            keys.extend(keyspace.overdue(now_ms).map(|entry| entry.key()));
        }
        let mut keys: Vec<&[u8]> = keys.into_iter().collect();
        keys.sort_unstable();
        keys
    }
}

impl Keyspace {
    /// How many keys are alive, and the sum of their digests.
    fn digest(&self, now_ms: i64) -> (u64, u64) {
        let mut sum = self.pages().fold(0u64, |sum, page| sum.wrapping_add(page.digest()));
        let mut keys = self.len() as u64;
        for entry in self.overdue(now_ms) {
            sum = sum.wrapping_sub(entry.digest());
            keys -= 1;
        }
        (keys, sum)
    }
}
