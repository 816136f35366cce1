//! WATCH: which sessions look at which keys, and which of them have seen a change.

use super::Db;
use crate::util::bytes::Bytes;
use crate::util::hasher::Map;

/// A number that names a session.
pub type SessionId = u32;

#[derive(Debug, Clone, Default)]
pub(super) struct Watches {
    by_key: Map<(Db, Bytes), Vec<SessionId>>,
    by_session: Map<SessionId, Watched>,
}

#[derive(Debug, Clone, Default)]
struct Watched {
    keys: Vec<WatchedKey>,
    dirty: bool,
}

#[derive(Debug, Clone)]
struct WatchedKey {
    db: Db,
    key: Bytes,
    /// Its time was over already when WATCH came: its going is no change.
    was_expired: bool,
}

/// What becomes of a key of a database whose keys all change at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fate {
    /// There was one, live or not.
    pub(super) was_there: bool,
    /// There is one now.
    pub(super) is_there: bool,
    /// Its time is over.
    pub(super) is_expired: bool,
}

impl Watches {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
    pub(super) fn add(&mut self, session: SessionId, db: Db, key: &[u8], was_expired: bool) {
        let watched = self.by_session.entry(session).or_default();
        if watched.keys.iter().any(|seen| seen.db == db && *seen.key == *key) {
            return;
        }
        watched.keys.push(WatchedKey { db, key: Bytes::from(key), was_expired });
        self.by_key.entry((db, Bytes::from(key))).or_default().push(session);
    }
    pub(super) fn forget(&mut self, session: SessionId) {
        let Some(watched) = self.by_session.remove(&session) else { return };
        for WatchedKey { db, key, .. } in watched.keys {
            let place = (db, key);
            if let Some(sessions) = self.by_key.get_mut(&place) {
                sessions.retain(|&other| other != session);
                if sessions.is_empty() {
                    self.by_key.remove(&place);
                }
            }
        }
    }
    /// How many keys a session watches.
    pub(super) fn count(&self, session: SessionId) -> usize {
        self.by_session.get(&session).map_or(0, |watched| watched.keys.len())
    }
    /// Marks everybody who watches the key.
    pub(super) fn mark(&mut self, db: Db, key: &[u8]) {
        let Watches { by_key, by_session } = self;
        let Some(sessions) = by_key.get(&(db, Bytes::from(key))) else { return };
        for session in sessions {
            if let Some(watched) = by_session.get_mut(session) {
                watched.dirty = true;
            }
        }
    }
    /// The key went because its time was over: a change only for those who saw it alive.
    pub(super) fn mark_expired(&mut self, db: Db, key: &[u8]) {
        let Watches { by_key, by_session } = self;
        let Some(sessions) = by_key.get(&(db, Bytes::from(key))) else { return };
        for session in sessions {
            let Some(watched) = by_session.get_mut(session) else { continue };
            let Some(seen) = watched.keys.iter_mut().find(|seen| seen.db == db && *seen.key == *key) else {
                continue;
            };
            watched.dirty |= !std::mem::take(&mut seen.was_expired);
        }
    }
    /// The keys of a whole database change at once: `fate(key)` tells what becomes of each watched one.
    pub(super) fn mark_db(&mut self, db: Db, mut fate: impl FnMut(&[u8]) -> Fate) {
        for watched in self.by_session.values_mut() {
            let Watched { keys, dirty } = watched;
            for seen in keys.iter_mut().filter(|seen| seen.db == db) {
                let Fate { was_there, is_there, is_expired } = fate(&seen.key);
                match (was_there, is_there) {
                    (false, false) => {}
                    // Who saw it expired sees no change when it goes; what is there from now on is new.
                    (_, false) if seen.was_expired => seen.was_expired = false,
                    (_, true) if is_expired && (seen.was_expired || !was_there) => seen.was_expired = true,
                    _ => *dirty = true,
                }
            }
        }
    }
    /// True when a key the session watches has changed.
    pub(super) fn is_dirty(&self, session: SessionId) -> bool {
        self.by_session.get(&session).is_some_and(|watched| watched.dirty)
    }
    /// The keys that a session watches: (db, key, was expired).
    pub(super) fn of(&self, session: SessionId) -> impl Iterator<Item = (Db, &[u8], bool)> {
        let keys = self.by_session.get(&session).map(|watched| watched.keys.as_slice()).unwrap_or_default();
        keys.iter().map(|seen| (seen.db, &*seen.key, seen.was_expired))
    }
}
