//! Where a change is noted, and who is told of it: those who watch a key, wait for it, listen or keep a record.

use super::observers::Modified;
use super::{Bytes, Classes, Db, Event, SessionId, Store, Told};

impl Store {
    /// The one place where a change of a key is noted; `wakes` names the type of value of which those who wait for the
    /// key are told.
    #[inline(always)]
    pub(crate) fn touch(&mut self, db: Db, key: &[u8], event: Event, wakes: Option<&'static str>) {
        self.dirty += 1;
        if !self.observers.is_empty() {
            self.observers.mark_and_tell(db, key, event, wakes);
        }
    }
    /// `touch` for the key in a slot.
    pub(super) fn touch_slot(&mut self, db: Db, slot: u32, event: Event) {
        self.dirty += 1;
        let Store { dbs, observers, .. } = self;
        if !observers.is_empty()
            && let Some(entry) = dbs[db as usize].get(slot)
        {
            observers.mark_and_tell(db, entry.key(), event, event.wakes());
        }
    }
    /// `touch_slot` without an event.
    pub(super) fn touch_untold(&mut self, db: Db, slot: u32) {
        self.dirty += 1;
        let Store { dbs, observers, .. } = self;
        if !observers.is_empty()
            && let Some(entry) = dbs[db as usize].get(slot)
        {
            observers.mark(db, entry.key(), None);
        }
    }
    /// `touch_slot` without marking those who watch the key; some of these changes have no event either.
    pub(super) fn touch_unwatched(&mut self, db: Db, slot: u32, event: Option<Event>) {
        self.dirty += 1;
        let Store { dbs, observers, .. } = self;
        if !observers.is_empty()
            && let Some(entry) = dbs[db as usize].get(slot)
        {
            observers.mark_unwatched(db, entry.key(), event.and_then(Event::wakes));
        }
        if let Some(event) = event {
            self.notify_slot(db, slot, event);
        }
    }
    /// Tells a further event of a change that is noted by itself: SET with a time is `set`, then `expire`.
    #[inline]
    pub fn notify(&mut self, db: Db, key: &[u8], event: Event) {
        self.observers.tell(db, key, event);
    }
    /// A key was made: those who wait for it are told.
    pub(super) fn note_new(&mut self, db: Db, slot: u32) {
        self.notify_slot(db, slot, Event::NEW);
        let Store { dbs, observers, .. } = self;
        if !observers.waiters.is_empty()
            && let Some(entry) = dbs[db as usize].get(slot)
        {
            observers.waiters.mark(db, entry.key(), entry.value.type_name());
        }
    }
    /// `notify` for the key in a slot.
    pub(super) fn notify_slot(&mut self, db: Db, slot: u32, event: Event) {
        let Store { dbs, observers, .. } = self;
        if observers.heard.has(event.class)
            && let Some(entry) = dbs[db as usize].get(slot)
        {
            observers.tell(db, entry.key(), event);
        }
    }
    /// The keyspace events that are told from now on.
    pub(crate) fn listen(&mut self, classes: Classes) {
        self.observers.heard = classes;
    }
    /// Whether something has happened that somebody listens to.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        self.observers.has_news()
    }
    /// What has happened, in its order.
    pub(crate) fn take_events(&mut self) -> Vec<Told> {
        self.observers.take_told()
    }
    /// Notes from now on which keys change, or does so no more.
    pub(crate) fn note_changes(&mut self, notes: bool) {
        self.observers.note_changes(notes);
    }
    /// What has changed, in its order.
    pub(crate) fn take_changes(&mut self) -> Vec<Modified> {
        self.observers.take_changes()
    }
    /// Grows with each change.
    #[inline]
    pub fn dirty(&self) -> u64 {
        self.dirty
    }

    // ---- WATCH

    /// Starts to watch a key for a session.
    pub fn watch(&mut self, session: SessionId, db: Db, key: &[u8]) {
        let keyspace = self.keyspace(db);
        let entry = keyspace.find(key).and_then(|slot| keyspace.get(slot));
        let was_expired = entry.is_some_and(|entry| entry.is_expired(self.now_ms));
        self.observers.watches.add(session, db, key, was_expired);
    }
    /// Forgets all keys that a session watches.
    pub fn unwatch(&mut self, session: SessionId) {
        self.observers.watches.forget(session);
    }
    /// How many keys a session watches.
    pub fn watch_count(&self, session: SessionId) -> usize {
        self.observers.watches.count(session)
    }
    /// True when EXEC of the session must not run: a watched key changed, or its time is over since.
    pub fn watch_is_broken(&self, session: SessionId) -> bool {
        self.observers.watches.is_dirty(session)
            || self.observers.watches.of(session).any(|(db, key, was_expired)| {
                let keyspace = self.keyspace(db);
                let entry = keyspace.find(key).and_then(|slot| keyspace.get(slot));
                !was_expired && entry.is_some_and(|entry| entry.is_expired(self.now_ms))
            })
    }

    // ---- waiting

    /// The session waits from now on for the key to hold a value of this type, behind those that do already.
    pub(crate) fn wait_for(&mut self, session: SessionId, db: Db, key: &[u8], type_name: &'static str) {
        self.observers.waiters.add(session, db, key, type_name);
    }
    /// The session does not wait for the key any more.
    pub(crate) fn stop_waiting(&mut self, session: SessionId, db: Db, key: &[u8], type_name: &'static str) {
        self.observers.waiters.forget(session, db, key, type_name);
    }
    /// The sessions that wait for a key, the first one first.
    pub(crate) fn waiting_for(&self, db: Db, key: &[u8]) -> Vec<SessionId> {
        self.observers.waiters.of(db, key)
    }
    /// The keys that somebody waits for and that were written since the last call, in the order of their first write.
    #[inline]
    pub(crate) fn take_ready(&mut self) -> Vec<(Db, Bytes)> {
        if self.observers.waiters.is_empty() { Vec::new() } else { self.observers.waiters.take_ready() }
    }
    /// What kind of value a key holds now; changes nothing at all.
    pub(crate) fn type_name(&self, db: Db, key: &[u8]) -> Option<&'static str> {
        self.keyspace(db).find_live(key, self.now_ms).map(|entry| entry.value.type_name())
    }

    /// Forgets who waits and what is recorded, as calls that were cut short leave them; watches stay.
    pub(crate) fn forget_observers_of_calls(&mut self) {
        self.observers.waiters = Default::default();
        self.observers.take_record();
        self.observers.take_told();
        self.observers.take_changes();
    }

    // ---- records

    /// Records each key that is written from now on.
    pub(crate) fn record_writes(&mut self) {
        self.observers.record();
    }
    /// Ends the record of [`record_writes`](Self::record_writes), and gives it: each write once.
    pub(crate) fn take_writes(&mut self) -> Vec<(Db, Bytes)> {
        self.observers.take_record()
    }
}
