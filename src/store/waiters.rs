//! Which sessions wait for which keys, in the order in which they began to, and which of those keys were written since.

use super::{Db, SessionId};
use crate::util::bytes::Bytes;
use crate::util::hasher::Map;

#[derive(Debug, Clone, Default)]
pub(super) struct Waiters {
    by_key: Map<(Db, Bytes), Vec<SessionId>>,
    /// For how many keys somebody waits, by the type of value. The server tells nobody of a key while nobody waits for
    /// any value of its type.
    by_type: Map<&'static str, usize>,
    /// Keys that somebody waits for and that were written: in the order of the first write, each once.
    ready: Vec<(Db, Bytes)>,
}

impl Waiters {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
    /// The session waits for the key to hold a value of this type, behind those that wait already.
    pub(super) fn add(&mut self, session: SessionId, db: Db, key: &[u8], type_name: &'static str) {
        let sessions = self.by_key.entry((db, Bytes::from(key))).or_default();
        if !sessions.contains(&session) {
            sessions.push(session);
            *self.by_type.entry(type_name).or_default() += 1;
        }
    }
    /// The session does not wait for the key any more.
    pub(super) fn forget(&mut self, session: SessionId, db: Db, key: &[u8], type_name: &'static str) {
        let place = (db, Bytes::from(key));
        let Some(sessions) = self.by_key.get_mut(&place) else { return };
        let before = sessions.len();
        sessions.retain(|&other| other != session);
        let count = self.by_type.entry(type_name).or_default();
        *count = count.saturating_sub(before - sessions.len());
        if sessions.is_empty() {
            self.by_key.remove(&place);
        }
    }
    /// The sessions that wait for a key, the first one first.
    pub(super) fn of(&self, db: Db, key: &[u8]) -> Vec<SessionId> {
        self.by_key.get(&(db, Bytes::from(key))).cloned().unwrap_or_default()
    }
    /// There is news of a value of this type at the key.
    pub(super) fn mark(&mut self, db: Db, key: &[u8], type_name: &'static str) {
        if self.by_type.get(type_name).is_none_or(|&count| count == 0) {
            return;
        }
        let place = (db, Bytes::from(key));
        if self.by_key.contains_key(&place) && !self.ready.contains(&place) {
            self.ready.push(place);
        }
    }
    /// There is news of values of these types at each key of the database.
    pub(super) fn mark_db(&mut self, db: Db, mut types: impl FnMut(&[u8]) -> [Option<&'static str>; 2]) {
        let mut keys: Vec<Bytes> =
            self.by_key.keys().filter(|(of, _)| *of == db).map(|(_, key)| key.clone()).collect();
        keys.sort_unstable();
        for key in &keys {
            types(key).into_iter().flatten().for_each(|type_name| self.mark(db, key, type_name));
        }
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
            waiters.add(session, 0, key, "list");
        }
        for key in [b"b", b"c", b"a", b"b"] {
            waiters.mark(0, key, "list");
        }
        waiters.mark(1, b"a", "list");
        waiters.mark(0, b"a", "zset");
        assert_eq!(waiters.take_ready(), [(0, Bytes::from(&b"b"[..])), (0, Bytes::from(&b"a"[..]))]);
        assert_eq!(waiters.take_ready(), []);
        assert_eq!(waiters.of(0, b"a"), [5, 3]);
        waiters.forget(5, 0, b"a", "list");
        waiters.forget(3, 0, b"a", "list");
        waiters.forget(4, 0, b"b", "list");
        assert!(waiters.is_empty());
    }
}
