//! The keyspace: all databases, read and written key by key. `keyspace` holds one database, `edit` is the guard for changing
//! a value, `touch` the one place where a change is noted, `expire` ends what is due, `journal` tells replicas; commands are above.

mod classes;
mod diff;
mod edit;
mod entry;
mod event;
mod evict;
mod expire;
mod journal;
mod keyspace;
mod memory;
mod observers;
mod slots;
mod snapshot;
#[cfg(test)]
mod tests;
mod touch;
mod uses;
mod waiters;
mod watch;

pub use classes::Classes;
pub use diff::{Change, Held};
pub use edit::Edit;
pub use entry::Entry;
pub use event::{Event, EventClass, Told};
pub(crate) use journal::Subscription;
pub use journal::{JournalEntry, Targets};
pub use memory::{BASE_BYTES, EXPIRY_BYTES, KEY_BYTES, MemorySettings, Policy};
pub(crate) use observers::Modified;
pub use watch::SessionId;

use crate::util::bytes::Bytes;
use crate::util::hasher::Hasher;
use crate::util::latency::Monitor;
use crate::util::rng::Rng;
use crate::value::Value;
use evict::Evictor;
use journal::Journal;
use keyspace::Keyspace;
use observers::Observers;
use watch::Fate;

/// The number of a database.
pub type Db = u32;

/// What becomes of the expiry when a value is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// No expiry afterwards.
    Clear,
    /// The one the key has stays.
    Keep,
    /// This instant, in Unix milliseconds.
    At(i64),
}

/// Counters that INFO shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Keys found by reading commands.
    pub hits: u64,
    /// Keys looked for by reading commands and not found.
    pub misses: u64,
    /// Keys that went because their time was over.
    pub expired: u64,
    /// Keys that went because memory was short.
    pub evicted: u64,
    /// Big values that a server frees in the background.
    pub lazy_freed: u64,
    /// For how long memory was over its limit, in microseconds.
    pub eviction_exceeded_us: u64,
}

/// All databases and what hangs on their changes.
#[derive(Debug, Clone)]
pub struct Store {
    /// The databases up to the last one that was ever written to; the first one at least.
    dbs: Vec<Keyspace>,
    /// How many there are.
    databases: Db,
    hasher: Hasher,
    now_us: i64,
    now_ms: i64,
    /// What notes a use in this unit: see `uses`.
    used_now: u32,
    memory: MemorySettings,
    evictor: Evictor,
    /// What is taken up beside the keys.
    beside: usize,
    /// Grows with each change; a command that leaves it alone has changed nothing.
    dirty: u64,
    /// The databases from which the unit that runs removed keys.
    removed_from: Vec<Db>,
    observers: Observers,
    /// Keys whose time is over stay until they are written: those of a replica go when its master says so, and
    /// while clients are paused none goes.
    keeps_overdue: bool,
    journal: Option<Journal>,
    /// Where the writes of the running script go.
    pub targets: Targets,
    /// What the generator started from.
    seed: u64,
    /// The one source of randomness.
    pub rng: Rng,
    /// Counters for INFO.
    pub stats: StoreStats,
    /// What took long.
    pub latency: Monitor,
    /// The last number given to a value that is walked.
    walks: u32,
}

impl Store {
    /// Empty databases.
    pub fn new(databases: Db, hasher_seed: u64, rng_seed: u64) -> Self {
        let hasher = Hasher::with_seed(hasher_seed);
        Store {
            dbs: vec![Keyspace::new(hasher.clone())],
            databases: databases.max(1),
            hasher,
            now_us: 0,
            now_ms: 0,
            used_now: 0,
            memory: MemorySettings::default(),
            evictor: Evictor::default(),
            beside: 0,
            dirty: 0,
            removed_from: Vec::new(),
            observers: Observers::default(),
            keeps_overdue: false,
            journal: None,
            targets: Targets::All,
            seed: rng_seed,
            rng: Rng::new(rng_seed),
            stats: StoreStats::default(),
            latency: Monitor::default(),
            walks: 0,
        }
    }

    /// The seed of the generator: what names this engine follows from it.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    // ---- time: sampled once per unit

    /// The time of this unit, in milliseconds.
    #[inline]
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }
    /// The time of this unit, in microseconds.
    pub fn now_us(&self) -> i64 {
        self.now_us
    }
    /// Begins a unit of work at this time.
    #[inline]
    pub fn begin_unit(&mut self, now_us: i64) {
        if self.now_us != now_us {
            self.now_us = now_us;
            self.now_ms = now_us.div_euclid(1000);
            self.used_now = self.use_now();
        }
    }
    /// Ends the unit: what it wrote becomes readable in the journal.
    #[inline]
    pub fn finish_unit(&mut self) {
        if let Some(journal) = &mut self.journal
            && !journal.finish_unit()
        {
            self.journal = None;
        }
        if !self.removed_from.is_empty() {
            self.settle_removed();
        }
        #[cfg(debug_assertions)]
        self.assert_memory();
    }
    #[cold]
    fn settle_removed(&mut self) {
        for db in self.removed_from.drain(..) {
            self.dbs[db as usize].settle();
        }
    }
    /// The count of memory is exact: looked at after each unit while there are few keys.
    #[cfg(any(test, debug_assertions))]
    fn assert_memory(&self) {
        const FEW: usize = 64;
        for keyspace in self.dbs.iter().filter(|keyspace| keyspace.len() <= FEW) {
            debug_assert_eq!(keyspace.memory_bytes(), keyspace.weigh(), "the count of memory is exact");
        }
    }

    // ---- reading

    /// How many databases there are.
    pub fn databases(&self) -> Db {
        self.databases
    }
    fn keyspace(&self, db: Db) -> &Keyspace {
        keyspace::of(&self.dbs, db)
    }
    fn keyspace_mut(&mut self, db: Db) -> &mut Keyspace {
        if db as usize >= self.dbs.len() {
            self.open(db);
        }
        &mut self.dbs[db as usize]
    }
    /// The first write to a database.
    #[cold]
    fn open(&mut self, db: Db) {
        debug_assert!(db < self.databases, "commands look at the number");
        self.dbs.resize_with(db as usize + 1, || Keyspace::new(self.hasher.clone()));
    }
    /// The slot of a live key. A key whose time is over goes now, and that is propagated.
    #[inline]
    fn live(&mut self, db: Db, key: &[u8]) -> Option<u32> {
        let (slot, entry) = self.keyspace(db).find_entry(key)?;
        if entry.is_expired(self.now_ms) {
            self.expire(db, slot);
            return None;
        }
        Some(slot)
    }
    /// `live` for a command that does not write.
    fn live_to_read(&mut self, db: Db, key: &[u8]) -> Option<u32> {
        let (slot, entry) = self.keyspace(db).find_entry(key)?;
        if entry.is_expired(self.now_ms) {
            self.meet_overdue(db, slot);
            return None;
        }
        Some(slot)
    }
    /// The entry for a reading command: counts a hit or a miss and notes the use.
    #[inline(always)]
    pub fn read(&mut self, db: Db, key: &[u8]) -> Option<&Entry> {
        let Some((slot, entry)) = self.keyspace(db).find_entry(key) else {
            self.stats.misses += 1;
            self.notify(db, key, Event::KEY_MISS);
            return None;
        };
        if entry.is_expired(self.now_ms) {
            self.stats.misses += 1;
            self.meet_overdue(db, slot);
            self.notify(db, key, Event::KEY_MISS);
            return None;
        }
        let is_noted = entry.used == self.used_now;
        self.stats.hits += 1;
        if !is_noted {
            self.note_use(db, slot);
        }
        self.keyspace(db).get(slot)
    }
    /// The entry for a command that asks about a key (EXISTS, TTL, TYPE, OBJECT): counts, but notes no use.
    pub fn look(&mut self, db: Db, key: &[u8]) -> Option<&Entry> {
        let slot = self.look_for(db, key);
        if slot.is_none() {
            self.notify(db, key, Event::KEY_MISS);
        }
        self.keyspace(db).get(slot?)
    }
    /// `look` for a command of whose misses nobody is told (OBJECT).
    pub fn look_untold(&mut self, db: Db, key: &[u8]) -> Option<&Entry> {
        let slot = self.look_for(db, key)?;
        self.keyspace(db).get(slot)
    }
    fn look_for(&mut self, db: Db, key: &[u8]) -> Option<u32> {
        let slot = self.live_to_read(db, key);
        match slot {
            Some(_) => self.stats.hits += 1,
            None => self.stats.misses += 1,
        }
        slot
    }
    /// Whether a key is there, for a command that writes: notes the use, but counts no hit or miss.
    #[inline]
    pub fn has(&mut self, db: Db, key: &[u8]) -> bool {
        let slot = self.live(db, key);
        if let Some(slot) = slot {
            self.note_use(db, slot);
        }
        slot.is_some()
    }
    /// True when the key is there and its time is not over; changes nothing at all.
    pub fn contains(&self, db: Db, key: &[u8]) -> bool {
        self.keyspace(db).find_live(key, self.now_ms).is_some()
    }
    /// The entry of a key as it is, its time over or not; changes nothing at all.
    pub fn peek(&self, db: Db, key: &[u8]) -> Option<&Entry> {
        self.keyspace(db).find_entry(key).map(|(_, entry)| entry)
    }
    /// Keys in a database, those included whose time is over but that nobody has met yet.
    pub fn len(&self, db: Db) -> usize {
        self.keyspace(db).len()
    }
    /// True when no database holds a key.
    pub fn is_empty(&self) -> bool {
        self.dbs.iter().all(|keyspace| keyspace.len() == 0)
    }
    /// Keys in a database that have an expiry.
    pub fn expires_len(&self, db: Db) -> usize {
        self.keyspace(db).deadlines.live()
    }
    /// The entries of a database in slot order, those included whose time is over.
    pub fn entries(&self, db: Db) -> impl Iterator<Item = &Entry> {
        self.keyspace(db).iter()
    }
    /// One step of SCAN from a cursor: shows about `count` entries and gives the next cursor, 0 at the end. A key that
    /// is there from the first step to the last is shown at least once, whatever else is written in between. Entries
    /// whose time is over are shown too.
    pub fn scan(&mut self, db: Db, cursor: u64, count: usize, each: impl FnMut(&Entry)) -> u64 {
        self.keyspace_mut(db).scan(cursor, count, each)
    }
    /// The value of a key for a walk over its elements, which was looked up just before. A value on which a walk in
    /// steps begins gets a number, so that its cursors are known from those of what the key held before or holds later.
    pub fn walked(&mut self, db: Db, key: &[u8], begins: bool) -> Option<&mut Value> {
        const WALKS_MAX: u32 = u32::MAX >> 1;
        let slot = self.keyspace(db).find_entry(key)?.0;
        if begins && self.keyspace(db).get(slot)?.value().walk() == Some(0) {
            self.walks = self.walks % WALKS_MAX + 1;
            let number = self.walks;
            self.keyspace_mut(db).get_mut(slot)?.value.set_walk(number);
        }
        self.keyspace_mut(db).get_mut(slot).map(|entry| &mut entry.value)
    }
    /// A random key that is alive; where those whose time is over stay, and there may be no others, perhaps one of them.
    pub fn random_key(&mut self, db: Db) -> Option<Bytes> {
        let (all_expire, mut misses) = (self.expires_len(db) == self.len(db), 0);
        while self.len(db) > 0 {
            let slots = self.keyspace(db).slots() as u64;
            let mut slot = self.rng.below(slots) as u32;
            let mut tries = 0;
            while self.keyspace(db).get(slot).is_none() {
                tries += 1;
                slot = if tries < 32 { self.rng.below(slots) as u32 } else { (slot + 1) % slots as u32 };
            }
            let entry = self.keyspace(db).get(slot)?;
            let is_last_of_many = self.keeps_overdue && all_expire && misses >= 99;
            if !entry.is_expired(self.now_ms) || is_last_of_many {
                return Some(entry.key.clone());
            }
            misses += 1;
            self.meet_overdue(db, slot);
        }
        None
    }

    // ---- changing

    /// A guard for changing the value of a live key, or None when there is no such key.
    #[inline]
    pub fn edit(&mut self, db: Db, key: &[u8]) -> Option<Edit<'_>> {
        let slot = self.live(db, key)?;
        self.note_use(db, slot);
        Some(Edit::new(self, db, slot, false))
    }
    /// A guard for changing the value of a key, which is made with the given value when there is none. A key made
    /// so goes again unless the edit ends in a change.
    pub fn edit_or(&mut self, db: Db, key: &[u8], fresh: impl FnOnce() -> Value) -> Edit<'_> {
        if let Some(slot) = self.live(db, key) {
            self.note_use(db, slot);
            return Edit::new(self, db, slot, false);
        }
        let used = self.first_use();
        let slot = self.keyspace_mut(db).insert(key, fresh(), used);
        Edit::new(self, db, slot, true)
    }
    /// Sets a key, whatever it held before.
    pub fn put(&mut self, db: Db, key: &[u8], value: Value, expiry: Expiry, event: Event) {
        let (slot, had_expiry, is_new, wakes) = match self.live(db, key) {
            Some(slot) => {
                let used = self.use_again(db, slot);
                let (had_expiry, wakes) = self.keyspace_mut(db).replace(slot, value, used);
                (slot, had_expiry, false, wakes)
            }
            None => {
                let (used, wakes) = (self.first_use(), Some(value.type_name()));
                (self.keyspace_mut(db).insert(key, value, used), false, true, wakes)
            }
        };
        let keyspace = self.keyspace_mut(db);
        match expiry {
            Expiry::Clear if had_expiry => keyspace.set_expiry(slot, None),
            Expiry::At(at) => keyspace.set_expiry(slot, Some(at)),
            Expiry::Keep | Expiry::Clear => {}
        }
        if is_new {
            self.notify(db, key, Event::NEW);
        }
        self.touch(db, key, event, wakes);
    }
    /// Sets a key without an event: those who watch it are told.
    pub fn put_untold(&mut self, db: Db, key: &[u8], value: Value, expiry: Expiry) {
        let heard = std::mem::replace(&mut self.observers.heard, Classes::NONE);
        self.put(db, key, value, expiry, Event::NEW);
        self.observers.heard = heard;
    }
    /// Sets a key as one that was not there before: what it held goes without an event of its own.
    pub fn put_anew(&mut self, db: Db, key: &[u8], value: Value, expiry: Expiry, event: Event) {
        self.clear_place(db, key);
        self.put(db, key, value, expiry, event);
    }
    fn clear_place(&mut self, db: Db, key: &[u8]) {
        if let Some(slot) = self.live(db, key) {
            self.drop_slot(db, slot);
        }
    }
    /// Takes a live key with its value and expiry from one place to another, as one that was not there before.
    pub fn relocate(&mut self, from: (Db, &[u8], Event), to: (Db, &[u8], Event)) {
        let slot = self.live(from.0, from.1);
        if let Some(type_name) = self.keyspace(from.0).type_name(from.1) {
            self.observers.waiters.mark(to.0, to.1, type_name);
        }
        let Some(entry) = slot.and_then(|slot| self.drop_slot(from.0, slot)) else { return };
        self.clear_place(to.0, to.1);
        self.notify(to.0, to.1, Event::NEW);
        self.touch(from.0, from.1, from.2, None);
        let (expire_at_ms, uses) = (entry.expire_at_ms(), entry.uses());
        let keyspace = self.keyspace_mut(to.0);
        let slot = keyspace.insert(to.1, entry.into_value(), uses);
        keyspace.set_expiry(slot, expire_at_ms);
        self.touch(to.0, to.1, to.2, None);
    }
    /// Takes the entry out of a slot. Who waits for a stream there is told, whatever may take its place.
    fn drop_slot(&mut self, db: Db, slot: u32) -> Option<Entry> {
        if self.removed_from.last() != Some(&db) {
            self.removed_from.push(db);
        }
        let entry = self.keyspace_mut(db).remove(slot)?;
        if !self.observers.is_empty()
            && let Some(type_name) = entry.value.wakes_by_going()
        {
            self.observers.waiters.mark(db, entry.key(), type_name);
        }
        Some(entry)
    }
    /// Removes a live key; false when there is none.
    pub fn remove(&mut self, db: Db, key: &[u8], event: Event) -> bool {
        self.take(db, key, event).is_some()
    }
    /// Removes a key, also one whose time is over that nobody has met: commands do so to the key they would store a
    /// result in, without looking it up, when there is none.
    pub fn discard(&mut self, db: Db, key: &[u8], event: Event) -> bool {
        let Some(slot) = self.keyspace(db).find(key) else { return false };
        self.drop_slot(db, slot);
        self.touch(db, key, event, None);
        true
    }
    /// Removes a key without a word about it, also one whose time is over: another value takes its place.
    pub fn forget(&mut self, db: Db, key: &[u8]) {
        if let Some(slot) = self.keyspace(db).find(key) {
            self.drop_slot(db, slot);
        }
    }
    /// Removes a live key and gives its entry.
    pub fn take(&mut self, db: Db, key: &[u8], event: Event) -> Option<Entry> {
        let slot = self.live(db, key)?;
        let entry = self.drop_slot(db, slot)?;
        self.touch(db, key, event, None);
        Some(entry)
    }
    /// Empties a database; answers how many keys went.
    pub fn flush(&mut self, db: Db) -> usize {
        if db as usize >= self.dbs.len() {
            self.observers.note_flush();
            return 0;
        }
        let mut fresh = Keyspace::new(self.hasher.clone());
        fresh.follow(self.keyspace(db).scan_state());
        let old = std::mem::replace(self.keyspace_mut(db), fresh);
        if !self.observers.is_empty() {
            let keys = old.iter().map(Entry::key);
            let fate =
                |key: &[u8]| Fate { was_there: old.find(key).is_some(), is_there: false, is_expired: false };
            self.observers.mark_db(db, keys, fate, |key| [old.wakes_by_going(key), None]);
        }
        self.observers.note_flush();
        self.dirty += old.len() as u64;
        old.len()
    }
    /// Empties everything without a trace in the journal: databases, watches, counters of changes.
    pub fn clear(&mut self) {
        for db in 0..self.databases() {
            self.flush(db);
        }
    }
    /// Exchanges two databases under the sessions that use them.
    pub fn swap(&mut self, a: Db, b: Db) {
        let (one, two) = (a as usize, b as usize);
        self.keyspace_mut(a.max(b));
        if !self.observers.is_empty() {
            let Store { dbs, observers, now_ms, .. } = self;
            for (db, own, other) in [(a, one, two), (b, two, one)] {
                let fate = |key: &[u8]| dbs[own].fate(key, &dbs[other], *now_ms);
                let wakes = |key: &[u8]| [dbs[other].type_name(key), dbs[own].wakes_by_going(key)];
                observers.mark_db(db, dbs[own].iter().map(Entry::key), fate, wakes);
            }
        }
        let states = (self.dbs[one].scan_state(), self.dbs[two].scan_state());
        self.dbs.swap(one, two);
        self.dbs[one].follow(states.0);
        self.dbs[two].follow(states.1);
        self.dirty += 1;
    }
}
