//! Which sessions wait for which keys, in the order in which they began to, and which of those keys were written since.

use super::{Db, SessionId};
use crate::util::bytes::Bytes;
use crate::util::hasher::Map;

#[derive(Debug, Clone, Default)]
pub(super) struct Waiters {
    by_key: Map<(Db, Bytes), Vec<SessionId>>,
    /// Keys that somebody waits for and that were written: in the order of the first write, each once.
    ready: Vec<(Db, Bytes)>,
}

impl Waiters {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
    /// The session waits for the key, behind those that do already.
    pub(super) fn add(&mut self, session: SessionId, db: Db, key: &[u8]) {
        let sessions = self.by_key.entry((db, Bytes::from(key))).or_default();
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    /// The session does not wait for the key any more.
    pub(super) fn forget(&mut self, session: SessionId, db: Db, key: &[u8]) {
        let place = (db, Bytes::from(key));
        let Some(sessions) = self.by_key.get_mut(&place) else { return };
        sessions.retain(|&other| other != session);
        if sessions.is_empty() {
            self.by_key.remove(&place);
        }
    }
    /// The sessions that wait for a key, the first one first.
    pub(super) fn of(&self, db: Db, key: &[u8]) -> Vec<SessionId> {
        self.by_key.get(&(db, Bytes::from(key))).cloned().unwrap_or_default()
    }
    /// The key was written.
    pub(super) fn mark(&mut self, db: Db, key: &[u8]) {
        let place = (db, Bytes::from(key));
        if self.by_key.contains_key(&place) && !self.ready.contains(&place) {
            self.ready.push(place);
        }
    }
    /// All keys of the database for which this holds were written.
    pub(super) fn mark_db(&mut self, db: Db, mut is_written: impl FnMut(&[u8]) -> bool) {
        let keys = self.by_key.keys().filter(|(of, key)| *of == db && is_written(key));
        let mut keys: Vec<Bytes> = keys.map(|(_, key)| key.clone()).collect();
        keys.sort_unstable();
        keys.iter().for_each(|key| self.mark(db, key));
    }
    /// The keys that were written since the last call.
    pub(super) fn take_ready(&mut self) -> Vec<(Db, Bytes)> {
        std::mem::take(&mut self.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ready_in_the_order_of_their_first_write() {
        let mut waiters = Waiters::default();
        for (session, key) in [(5, b"a"), (3, b"a"), (5, b"a"), (4, b"b")] {
            waiters.add(session, 0, key);
        }
        for key in [b"b", b"c", b"a", b"b"] {
            waiters.mark(0, key);
        }
        waiters.mark(1, b"a");
        assert_eq!(waiters.take_ready(), [(0, Bytes::from(&b"b"[..])), (0, Bytes::from(&b"a"[..]))]);
        assert_eq!(waiters.take_ready(), []);
        assert_eq!(waiters.of(0, b"a"), [5, 3]);
        waiters.forget(5, 0, b"a");
        waiters.forget(3, 0, b"a");
        waiters.forget(4, 0, b"b");
        assert!(waiters.is_empty());
    }
}
