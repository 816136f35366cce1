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
}

impl<'a> Edit<'a> {
    pub(super) fn new(store: &'a mut Store, db: Db, slot: u32) -> Self {
        Edit { store, db, slot, open: false }
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
        let now_s = self.store.now_s();
        let entry = self.store.keyspace_mut(self.db).get_mut(self.slot);
        let entry = entry.expect("the slot is held while the guard lives");
        entry.used_at_s = now_s;
        &mut entry.value
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
    /// Notes the change.
    pub fn commit(mut self, event: Event) {
        self.open = false;
        self.store.touch_slot(self.db, self.slot, event);
    }
    /// Ends without a change.
    pub fn unchanged(mut self) {
        self.open = false;
    }
    /// Removes the key (a container became empty, GETDEL) and notes it.
    pub fn remove(mut self, event: Event) -> Option<Entry> {
        self.open = false;
        let entry = self.store.keyspace_mut(self.db).remove(self.slot)?;
        self.store.touch(self.db, entry.key(), event);
        Some(entry)
    }
}

impl Drop for Edit<'_> {
    fn drop(&mut self) {
        debug_assert!(
            !self.open || std::thread::panicking(),
            "an edit must end in commit, unchanged or remove"
        );
    }
}
