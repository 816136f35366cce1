//! The guard for changing a value: it must end in `commit`, `unchanged` or `remove`, so that no change is forgotten.

use super::{Db, Entry, Event, Store};
use crate::value::Value;

/// A live key under change.
#[must_use = "end it with commit, unchanged or remove"]
pub struct Edit<'a> {
    store: &'a mut Store,
    db: Db,
    slot: u32,
    /// The value was opened for changing, and the end of that is not told yet.
    open: bool,
    /// The value was opened for changing: it does not count in the memory that is used until the edit ends.
    lifted: bool,
    /// The key was made for this edit: it goes again unless the edit ends in a change.
    new: bool,
    /// It is told that the key is new.
    announced: bool,
}

impl<'a> Edit<'a> {
    pub(super) fn new(store: &'a mut Store, db: Db, slot: u32, new: bool) -> Self {
        Edit { store, db, slot, open: false, lifted: false, new, announced: false }
    }
    fn entry(&self) -> &Entry {
        self.store.keyspace(self.db).get(self.slot).expect("the slot is held while the guard lives")
    }
    /// The value.
    pub fn value(&self) -> &Value {
        self.entry().value()
    }
    /// The value, for changing.
    pub fn value_mut(&mut self) -> &mut Value {
        self.open = true;
        let keyspace = self.store.keyspace_mut(self.db);
        let entry = if std::mem::replace(&mut self.lifted, true) {
            keyspace.get_mut(self.slot)
        } else {
            keyspace.lift(self.slot)
        };
        &mut entry.expect("the slot is held while the guard lives").value
    }
    /// The instant of expiry in Unix milliseconds.
    pub fn expire_at_ms(&self) -> Option<i64> {
        self.entry().expire_at_ms()
    }
    /// Sets or clears the expiry.
    pub fn set_expire(&mut self, expire_at_ms: Option<i64>) {
        self.open = true;
        self.store.keyspace_mut(self.db).set_expiry(self.slot, expire_at_ms);
    }
    /// Whether the key was made for this edit.
    pub fn is_new(&self) -> bool {
        self.new
    }
    /// Tells an event that comes before the one the edit ends in.
    pub fn notify(&mut self, event: Event) {
        self.announce();
        self.store.notify_slot(self.db, self.slot, event);
    }
    /// Tells that the key is new, once.
    #[inline]
    fn announce(&mut self) {
        if self.new && !self.announced {
            self.announced = true;
            self.store.note_new(self.db, self.slot);
        }
    }
    /// Notes the change.
    pub fn commit(mut self, event: Event) {
        self.announce();
        self.open = false;
        self.new = false;
        self.store.touch_slot(self.db, self.slot, event);
    }
    /// Notes the change, except to those who WATCH the key: some stream commands of the server forget them, and some of
    /// those have no event either.
    pub fn commit_unwatched(mut self, event: impl Into<Option<Event>>) {
        self.announce();
        self.open = false;
        self.new = false;
        self.store.touch_unwatched(self.db, self.slot, event.into());
    }
    /// Notes the change to those who WATCH the key, without an event: PFCOUNT keeps the count in the string.
    pub fn commit_untold(mut self) {
        self.open = false;
        self.new = false;
        self.store.touch_untold(self.db, self.slot);
    }
    /// Notes that so many elements went: nothing when none did; the key goes too when it holds no more.
    pub fn commit_removal(mut self, removed: usize, event: Event) {
        if removed == 0 {
            self.unchanged();
        } else if self.value().is_empty() {
            self.notify(event);
            self.remove(Event::generic("del"));
        } else {
            self.commit(event);
        }
    }
    /// Ends without a change.
    pub fn unchanged(mut self) {
        self.open = false;
    }
    /// What the value takes up counts again.
    #[inline]
    fn lay(&mut self) {
        if std::mem::take(&mut self.lifted) {
            self.store.keyspace_mut(self.db).lay(self.slot);
        }
    }
    /// Removes the key (a container became empty, GETDEL) and notes it.
    pub fn remove(mut self, event: Event) -> Option<Entry> {
        self.announce();
        self.open = false;
        self.new = false;
        self.lay();
        let entry = self.store.drop_slot(self.db, self.slot)?;
        self.store.touch(self.db, entry.key(), event, None);
        Some(entry)
    }
}

impl Drop for Edit<'_> {
    fn drop(&mut self) {
        self.lay();
        if self.new {
            self.store.drop_slot(self.db, self.slot);
        }
        debug_assert!(
            !self.open || std::thread::panicking(),
            "an edit must end in commit, unchanged or remove"
        );
    }
}
