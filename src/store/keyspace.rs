//! One database: entries in pages of 64 behind `Arc` (a fork shares them until one side writes), found through a
//! table of slot numbers. A slot keeps its number while its key lives, which makes it the SCAN cursor.
//! No time and no events here: those are in `store`.

use super::Db;
use super::entry::{Entry, NO_EXPIRY};
use super::expire::Deadlines;
use super::memory::{EXPIRY_BYTES, KEY_BYTES};
use super::slots::{FreeSlots, spread};
use super::watch::Fate;
use crate::util::bytes::Bytes;
use crate::util::hasher::Hasher;
use crate::value::Value;
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};

pub(super) const PAGE: usize = 64;
/// A keyspace that lost all its keys gives back its pages when it has more than this.
const EMPTY_PAGES: usize = 16;

#[derive(Debug)]
pub(super) struct Page {
    entries: [Option<Entry>; PAGE],
    /// The entries that may differ from those of the page that this one is a copy of: a bit for each.
    changed: u64,
    /// What [`digest`](Self::digest) found; 0 after a change. Atomic, as forks share pages.
    digest: AtomicU64,
    /// The same for a page and its copies, and for no other.
    line: u64,
}

impl Clone for Page {
    fn clone(&self) -> Self {
        Page {
            entries: self.entries.clone(),
            changed: self.changed,
            digest: AtomicU64::new(self.digest.load(Relaxed)),
            line: self.line,
        }
    }
}

impl Page {
    fn new() -> Self {
        static LINES: AtomicU64 = AtomicU64::new(0);
        let line = LINES.fetch_add(1, Relaxed);
        Page { entries: [const { None }; PAGE], changed: 0, digest: AtomicU64::new(0), line }
    }
    /// An entry for changing.
    #[inline]
    fn change(&mut self, at: usize) -> &mut Option<Entry> {
        *self.digest.get_mut() = 0;
        self.changed |= 1 << at;
        &mut self.entries[at]
    }
    /// Becomes what the other is, of which it is a copy; costs what was changed.
    #[cfg(feature = "sim")]
    fn rewind(&mut self, other: &Page) {
        while self.changed != 0 {
            let at = self.changed.trailing_zeros() as usize;
            self.entries[at].clone_from(&other.entries[at]);
            self.changed &= self.changed - 1;
        }
        *self.digest.get_mut() = other.digest();
    }
    /// Whether the digest is known.
    #[cfg(test)]
    pub(super) fn has_digest(&self) -> bool {
        self.digest.load(Relaxed) != 0
    }
    /// The sum of the digests of the entries.
    pub(super) fn digest(&self) -> u64 {
        let known = self.digest.load(Relaxed);
        if known != 0 {
            return known;
        }
        let digests = self.entries.iter().flatten().map(Entry::digest);
        let sum = digests.fold(0, u64::wrapping_add);
        self.digest.store(sum, Relaxed);
        sum
    }
}

/// The keys of one database.
#[derive(Debug, Clone)]
pub(super) struct Keyspace {
    table: HashTable<u32>,
    pages: Vec<Arc<Page>>,
    free: FreeSlots,
    /// How often the keys of this database number were exchanged under a scan: the upper half of its cursors.
    epoch: u32,
    /// A cursor of this epoch was given out.
    scanned: bool,
    /// How often a key came or went.
    moves: u64,
    /// The long parts of all keys and values, but for a value that is lifted.
    heap_bytes: usize,
    hasher: Hasher,
    pub(super) deadlines: Deadlines,
}

/// A database by its number: an empty one when nobody has written to it.
#[inline]
pub(super) fn of(dbs: &[Keyspace], db: Db) -> &Keyspace {
    static EMPTY: LazyLock<Keyspace> = LazyLock::new(|| Keyspace::new(Hasher::with_seed(0)));
    match dbs.get(db as usize) {
        Some(keyspace) => keyspace,
        None => &EMPTY,
    }
}

impl Keyspace {
    /// Becomes what the other is, of which it was a copy; costs what was changed.
    #[cfg(feature = "sim")]
    pub(super) fn rewind(&mut self, other: &Keyspace) {
        let is_untouched = |side: &Keyspace| side.pages.is_empty() && side.epoch == 0 && !side.scanned;
        if is_untouched(self) && is_untouched(other) {
            return;
        }
        let are_copies = self.rewind_pages(&other.pages);
        if !are_copies || self.moves != other.moves {
            self.table.clone_from(&other.table);
            self.free.clone_from(&other.free);
            self.moves = other.moves;
        }
        self.deadlines.rewind(&other.deadlines);
        (self.epoch, self.scanned, self.heap_bytes) = (other.epoch, other.scanned, other.heap_bytes);
    }
    /// Whether all pages were copies of the others: not when the database was flushed since, or is another one.
    #[cfg(feature = "sim")]
    fn rewind_pages(&mut self, others: &[Arc<Page>]) -> bool {
        let is_copy = |(own, other): (&Arc<Page>, &Arc<Page>)| own.line == other.line;
        let are_copies = self.pages.len() == others.len() && self.pages.iter().zip(others).all(is_copy);
        self.pages.truncate(others.len());
        for (own, other) in self.pages.iter_mut().zip(others) {
            if Arc::ptr_eq(own, other) {
                continue;
            }
            match Arc::get_mut(own) {
                // What was copied is kept, to be written to again.
                Some(own) if own.line == other.line => own.rewind(other),
                _ => own.clone_from(other),
            }
        }
        self.pages.extend_from_slice(&others[self.pages.len()..]);
        are_copies
    }
    pub(super) fn new(hasher: Hasher) -> Self {
        Keyspace {
            table: HashTable::new(),
            pages: Vec::new(),
            free: FreeSlots::default(),
            epoch: 0,
            scanned: false,
            moves: 0,
            heap_bytes: 0,
            hasher,
            deadlines: Deadlines::default(),
        }
    }
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }
    pub(super) fn slots(&self) -> usize {
        self.pages.len() * PAGE
    }
    #[inline]
    fn hash(&self, key: &[u8]) -> u32 {
        let hash = self.hasher.hash_bytes(key);
        (hash ^ (hash >> 32)) as u32
    }
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        self.find_entry(key).map(|(slot, _)| slot)
    }
    /// Looks for the hash first and compares the key once: two keys of one hash are as good as never met, and a loop
    /// without a call in it keeps its registers.
    #[inline]
    pub(super) fn find_entry(&self, key: &[u8]) -> Option<(u32, &Entry)> {
        let hash = self.hash(key);
        let has_hash = |&slot: &u32| self.get(slot).is_some_and(|entry| entry.hash == hash);
        let slot = *self.table.find(spread(hash), has_hash)?;
        let entry = self.get(slot)?;
        if *entry.key == *key { Some((slot, entry)) } else { self.find_among(hash, key) }
    }
    /// Several keys have this hash.
    #[cold]
    fn find_among(&self, hash: u32, key: &[u8]) -> Option<(u32, &Entry)> {
        let same = |&slot: &u32| self.get(slot).is_some_and(|entry| entry.hash == hash && *entry.key == *key);
        let slot = *self.table.find(spread(hash), same)?;
        Some((slot, self.get(slot)?))
    }
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Entry> {
        let slot = slot as usize;
        self.pages.get(slot / PAGE)?.entries[slot % PAGE].as_ref()
    }
    /// The entry for changing; copies its page when a fork shares it.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.open(slot).map(|(entry, _)| entry)
    }
    /// Puts another value in the place of one, and notes the use. Whether the entry has an expiry, and who is woken by
    /// the going of the old value.
    #[inline]
    pub(super) fn replace(&mut self, slot: u32, value: Value, used: u32) -> (bool, Option<&'static str>) {
        let new = value.heap_bytes();
        let Some((entry, heap_bytes)) = self.open(slot) else { return (false, None) };
        let wakes = entry.value.wakes_by_going();
        *heap_bytes = *heap_bytes - entry.value.heap_bytes() + new;
        entry.value = value;
        entry.used = used;
        (entry.expire_at != NO_EXPIRY, wakes)
    }
    /// An entry for changing, and the sum that its long parts are in.
    #[inline]
    fn open(&mut self, slot: u32) -> Option<(&mut Entry, &mut usize)> {
        let slot = slot as usize;
        let page = Arc::make_mut(self.pages.get_mut(slot / PAGE)?);
        Some((page.change(slot % PAGE).as_mut()?, &mut self.heap_bytes))
    }
    /// An entry whose value does not count until it is laid down again.
    #[inline]
    pub(super) fn lift(&mut self, slot: u32) -> Option<&mut Entry> {
        let (entry, heap_bytes) = self.open(slot)?;
        *heap_bytes -= entry.value.heap_bytes();
        Some(entry)
    }
    /// A value that was lifted counts again.
    #[inline]
    pub(super) fn lay(&mut self, slot: u32) {
        let bytes = self.get(slot).map_or(0, |entry| entry.value.heap_bytes());
        self.heap_bytes += bytes;
    }
    /// Notes the use of an entry; copies nothing when that is known already. The digest of the page stays.
    #[inline]
    pub(super) fn note_use(&mut self, slot: u32, used: u32) {
        let slot = slot as usize;
        let Some(page) = self.pages.get_mut(slot / PAGE) else { return };
        if page.entries[slot % PAGE].as_ref().is_some_and(|entry| entry.used != used) {
            let page = Arc::make_mut(page);
            page.changed |= 1 << (slot % PAGE);
            if let Some(entry) = &mut page.entries[slot % PAGE] {
                entry.used = used;
            }
        }
    }
    /// The earliest expiry of an entry; forgets what no longer holds before it.
    pub(super) fn first_expiry_ms(&mut self) -> Option<i64> {
        loop {
            let (deadline_ms, slot) = self.deadlines.at(0)?;
            if self.get(slot).is_some_and(|entry| entry.expire_at == deadline_ms) {
                return Some(deadline_ms);
            }
            self.deadlines.pop_before(i64::MAX)?;
        }
    }
    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, key: &[u8], value: Value, used: u32) -> u32 {
        let hash = self.hash(key);
        let entry = Entry { key: Bytes::from(key), value, expire_at: NO_EXPIRY, hash, used };
        self.heap_bytes += entry.heap_bytes();
        let slot = self.free.take(hash).unwrap_or_else(|| self.grow());
        let at = slot as usize;
        *Arc::make_mut(&mut self.pages[at / PAGE]).change(at % PAGE) = Some(entry);
        self.moves += 1;
        let Keyspace { table, pages, .. } = self;
        table.insert_unique(spread(hash), slot, |&slot| {
            let slot = slot as usize;
            pages[slot / PAGE].entries[slot % PAGE].as_ref().map_or(0, |e| spread(e.hash))
        });
        slot
    }
    fn grow(&mut self) -> u32 {
        let first = (self.pages.len() * PAGE) as u32;
        self.pages.push(Arc::new(Page::new()));
        self.free.add(first + 1..first + PAGE as u32);
        first
    }
    /// Takes the entry out; its slot is used again, by another key only once the unit has ended.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Entry> {
        let hash = self.get(slot)?.hash;
        if let Ok(found) = self.table.find_entry(spread(hash), |&other| other == slot) {
            found.remove();
        }
        let at = slot as usize;
        let entry = Arc::make_mut(&mut self.pages[at / PAGE]).change(at % PAGE).take()?;
        self.moves += 1;
        self.heap_bytes -= entry.heap_bytes();
        self.free.hold(hash, slot);
        if entry.expire_at != NO_EXPIRY {
            self.deadlines.forget();
        }
        Some(entry)
    }
    /// Sets or clears the expiry of an entry.
    pub(super) fn set_expiry(&mut self, slot: u32, expire_at_ms: Option<i64>) {
        let new = expire_at_ms.unwrap_or(NO_EXPIRY);
        let Some(entry) = self.get_mut(slot) else { return };
        let old = std::mem::replace(&mut entry.expire_at, new);
        if old == new {
            return;
        }
        if old != NO_EXPIRY {
            self.deadlines.forget();
        }
        if new != NO_EXPIRY {
            self.deadlines.add(new, slot);
            self.compact_deadlines();
        }
    }
    fn compact_deadlines(&mut self) {
        let Keyspace { deadlines, pages, .. } = self;
        deadlines.compact(|slot| {
            let slot = slot as usize;
            pages.get(slot / PAGE).and_then(|page| page.entries[slot % PAGE].as_ref()).map(|e| e.expire_at)
        });
    }
    /// The next slot whose deadline lies before `now_ms`, earliest first.
    pub(super) fn next_expired(&mut self, now_ms: i64) -> Option<u32> {
        while let Some((deadline, slot)) = self.deadlines.pop_before(now_ms) {
            if self.get(slot).is_some_and(|entry| entry.expire_at == deadline) {
                return Some(slot);
            }
        }
        None
    }
    /// The entries in slot order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.pages.iter().flat_map(|page| page.entries.iter().flatten())
    }
    pub(super) fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter().map(|page| &**page)
    }
    /// The entries in pages that the other keyspace does not share.
    pub(super) fn unshared(&self, other: Option<&Keyspace>) -> impl Iterator<Item = &Entry> {
        let shares = move |at: usize, page: &Arc<Page>| {
            other.and_then(|other| other.pages.get(at)).is_some_and(|theirs| Arc::ptr_eq(page, theirs))
        };
        let pages = self.pages.iter().enumerate().filter(move |(at, page)| !shares(*at, page));
        pages.flat_map(|(_, page)| page.entries.iter().flatten())
    }
    /// The entries whose time is over but that nobody has met yet. Costs no more than there are.
    pub(super) fn overdue(&self, now_ms: i64) -> impl Iterator<Item = &Entry> {
        let mut found = self.deadlines.before(now_ms);
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .filter_map(|(deadline, slot)| self.get(slot).filter(|entry| entry.expire_at == deadline))
    }
    /// What kind of value a key holds, be its time over or not.
    pub(super) fn type_name(&self, key: &[u8]) -> Option<&'static str> {
        self.find_entry(key).map(|(_, entry)| entry.value.type_name())
    }
    /// See [`Value::wakes_by_going`].
    pub(super) fn wakes_by_going(&self, key: &[u8]) -> Option<&'static str> {
        self.find_entry(key).and_then(|(_, entry)| entry.value.wakes_by_going())
    }
    /// The entry of a key whose time is not over.
    pub(super) fn find_live(&self, key: &[u8], now_ms: i64) -> Option<&Entry> {
        self.get(self.find(key)?).filter(|entry| !entry.is_expired(now_ms))
    }
    /// What becomes of a key when all keys of another keyspace take the place of these.
    pub(super) fn fate(&self, key: &[u8], other: &Keyspace, now_ms: i64) -> Fate {
        Fate {
            was_there: self.find(key).is_some(),
            is_there: other.find(key).is_some(),
            is_expired: other.find_live(key, now_ms).is_none(),
        }
    }
    /// The unit of work has ended: the slots it freed may be used by any key.
    pub(super) fn settle(&mut self) {
        self.free.settle();
        if self.table.is_empty() && self.pages.len() > EMPTY_PAGES {
            self.pages = Vec::new();
            self.free = FreeSlots::default();
            self.table = HashTable::new();
            self.moves += 1;
        }
    }
    /// Takes the place of another keyspace under the same number. Scans of that one begin anew here: what was there
    /// and is here is met.
    pub(super) fn follow(&mut self, before: (u32, bool)) {
        let (epoch, scanned) = before;
        self.epoch = epoch.wrapping_add(u32::from(scanned));
        self.scanned = false;
    }
    /// What [`follow`](Self::follow) needs to know of a keyspace.
    pub(super) fn scan_state(&self) -> (u32, bool) {
        (self.epoch, self.scanned)
    }
    /// One step of SCAN. A cursor is the epoch and the slot to go on with. Looks at about ten slots for each entry
    /// asked for, to the end of a page, so that a sparse keyspace does not hold up the caller.
    pub(super) fn scan(&mut self, cursor: u64, count: usize, mut each: impl FnMut(&Entry)) -> u64 {
        let (epoch, from) = ((cursor >> 32) as u32, cursor & u64::from(u32::MAX));
        let mut slot = match epoch.cmp(&self.epoch) {
            Ordering::Less => 0,
            Ordering::Equal => from,
            Ordering::Greater => return 0,
        };
        let slots = self.slots() as u64;
        let end = slot
            .saturating_add((count as u64).saturating_mul(10))
            .checked_next_multiple_of(PAGE as u64)
            .unwrap_or(slots)
            .min(slots);
        let mut shown = 0;
        while slot < end {
            if let Some(entry) = self.get(slot as u32) {
                if shown == count {
                    break;
                }
                each(entry);
                shown += 1;
            }
            slot += 1;
        }
        if slot >= slots {
            return 0;
        }
        self.scanned = true;
        u64::from(self.epoch) << 32 | slot
    }
    /// What the keys take up, by the engine's own count.
    pub(super) fn memory_bytes(&self) -> usize {
        self.len() * KEY_BYTES + self.deadlines.live() * EXPIRY_BYTES + self.heap_bytes
    }
    /// The same, counted anew: costs a look at each key.
    #[cfg(any(test, debug_assertions))]
    pub(super) fn weigh(&self) -> usize {
        self.iter().map(Entry::memory_bytes).sum()
    }
}
