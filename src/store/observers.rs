//! Who is told of a change of a key: sessions that WATCH it, sessions that wait for it, and a record of all that is
//! written, for scripts that are held to a contract. The common case, nobody at all, costs one look.

use super::Db;
use super::classes::Classes;
use super::event::{Event, Told};
use super::waiters::Waiters;
use super::watch::{Fate, Watches};
use crate::util::bytes::Bytes;

/// A change of which those are told who cache keys, whatever the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Modified {
    /// A key was written or removed.
    Written(Bytes),
    /// A key went because its time was over, or because memory was short.
    Gone(Bytes),
    /// A database was emptied: nothing is said of its keys.
    All,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Observers {
    pub(super) watches: Watches,
    pub(super) waiters: Waiters,
    /// The keyspace events that somebody listens to.
    pub(super) heard: Classes,
    /// Those of the command that runs, in their order.
    told: Vec<Told>,
    /// Changes of keys are noted for those who cache them.
    notes: bool,
    /// Those of the command that runs, in their order.
    changed: Vec<Modified>,
    /// There is something in `told` or `changed`.
    has_news: bool,
    /// The keys that changed since the record was begun, if it was.
    recorded: Option<Vec<(Db, Bytes)>>,
}

impl Observers {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.watches.is_empty()
            && self.waiters.is_empty()
            && self.heard.is_none()
            && self.recorded.is_none()
            && !self.notes
    }
    /// A key was written: `mark` and `tell`.
    #[cold]
    pub(super) fn mark_and_tell(&mut self, db: Db, key: &[u8], event: Event, wakes: Option<&'static str>) {
        self.mark(db, key, wakes);
        self.tell(db, key, event);
    }
    /// Something has happened to a key.
    #[inline]
    pub(super) fn tell(&mut self, db: Db, key: &[u8], event: Event) {
        if self.heard.has(event.class) {
            self.note(db, key, event);
        }
    }
    #[cold]
    #[inline(never)]
    fn note(&mut self, db: Db, key: &[u8], event: Event) {
        self.told.push(Told { db, key: Bytes::from(key), event });
        self.has_news = true;
    }
    /// Whether there is something to be told.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        self.has_news
    }
    /// The events that have happened, in their order.
    pub(super) fn take_told(&mut self) -> Vec<Told> {
        self.has_news = !self.changed.is_empty();
        std::mem::take(&mut self.told)
    }
    /// Notes changes of keys from now on, or does so no more.
    pub(super) fn note_changes(&mut self, notes: bool) {
        self.notes = notes;
    }
    fn note_change(&mut self, change: impl FnOnce() -> Modified) {
        if self.notes {
            self.changed.push(change());
            self.has_news = true;
        }
    }
    /// A database was emptied.
    pub(super) fn note_flush(&mut self) {
        // Several at once are one to those who are told.
        if self.changed.last() != Some(&Modified::All) {
            self.note_change(|| Modified::All);
        }
    }
    /// The changes that were noted, in their order.
    pub(super) fn take_changes(&mut self) -> Vec<Modified> {
        self.has_news = !self.told.is_empty();
        std::mem::take(&mut self.changed)
    }
    /// A key was written; `wakes` names the type of value of which those who wait for it are told.
    pub(super) fn mark(&mut self, db: Db, key: &[u8], wakes: Option<&'static str>) {
        self.watches.mark(db, key);
        self.note_change(|| Modified::Written(Bytes::from(key)));
        self.mark_unwatched(db, key, wakes);
    }
    /// A key was written in a way that those who watch it are not told of.
    pub(super) fn mark_unwatched(&mut self, db: Db, key: &[u8], wakes: Option<&'static str>) {
        if let Some(type_name) = wakes {
            self.waiters.mark(db, key, type_name);
        }
        if let Some(recorded) = &mut self.recorded {
            recorded.push((db, Bytes::from(key)));
        }
    }
    /// The key went because its time was over.
    pub(super) fn mark_expired(&mut self, db: Db, key: &[u8]) {
        self.watches.mark_expired(db, key);
        self.note_change(|| Modified::Gone(Bytes::from(key)));
    }
    /// The key went because memory was short: no script has written it.
    pub(super) fn mark_evicted(&mut self, db: Db, key: &[u8]) {
        self.watches.mark(db, key);
        self.note_change(|| Modified::Gone(Bytes::from(key)));
    }
    /// All keys of a database change at once: these are those it held. `fate(key)` tells what becomes of a watched key,
    /// `wakes(key)` of which types of value to tell those who wait for it.
    pub(super) fn mark_db<'a>(
        &mut self,
        db: Db,
        keys: impl Iterator<Item = &'a [u8]>,
        fate: impl FnMut(&[u8]) -> Fate,
        wakes: impl FnMut(&[u8]) -> [Option<&'static str>; 2],
    ) {
        self.watches.mark_db(db, fate);
        self.waiters.mark_db(db, wakes);
        if let Some(recorded) = &mut self.recorded {
            recorded.extend(keys.map(|key| (db, Bytes::from(key))));
        }
    }
    /// Records each change of a key from now on.
    pub(super) fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }
    /// Ends the record and gives it.
    pub(super) fn take_record(&mut self) -> Vec<(Db, Bytes)> {
        self.recorded.take().unwrap_or_default()
    }
}
