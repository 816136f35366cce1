//! What a handler works with: the state, the session that calls, and short ways to what both have.

use super::blocking::Unblock;
use super::session::Session;
use super::table::Row;
use super::{Argv, Origin, State};
use crate::reply::Resp;
use crate::store::{Db, Edit, Entry, Event, Expiry, SessionId};
use crate::util::rng::Rng;
use crate::value::Value;

/// What a handler works with.
pub struct Ctx<'a> {
    /// Everything there is.
    pub state: &'a mut State,
    /// The session the command runs for.
    pub id: SessionId,
    /// Who calls.
    pub origin: Origin,
    /// The row that has run.
    pub(crate) ran: Option<&'static Row>,
}

impl<'a> Ctx<'a> {
    /// What a command of a session works with.
    #[inline(always)]
    pub fn new(state: &'a mut State, id: SessionId, origin: Origin) -> Self {
        Ctx { state, id, origin, ran: None }
    }
}

impl Ctx<'_> {
    /// The session the command runs for.
    #[inline]
    pub fn session(&self) -> &Session {
        self.state.sessions.get(self.id)
    }
    /// The session, for changing.
    #[inline]
    pub fn session_mut(&mut self) -> &mut Session {
        self.state.sessions.get_mut(self.id)
    }
    /// Notes that the session calls, and which command; the session.
    #[inline(always)]
    pub(super) fn note_call(&mut self, command: &'static str) -> &mut Session {
        let now_ms = self.now_ms();
        let session = self.session_mut();
        session.used_at_ms = now_ms;
        session.last_command = command;
        session
    }
    /// Notes that the running command looks at so many bytes, or at as many as elements take as much time: a script pays
    /// for what does not show in words and replies.
    pub fn note_work(&mut self, bytes: usize) {
        self.state.worked = self.state.worked.saturating_add(bytes);
    }
    /// The database of the session.
    #[inline]
    pub fn db(&self) -> Db {
        self.session().db
    }
    /// The protocol version of the session.
    pub fn resp(&self) -> Resp {
        self.session().resp
    }
    /// The open transaction, if there is one, is over, and so is what was watched for it.
    pub(crate) fn end_transaction(&mut self) {
        self.session_mut().queue = None;
        self.state.store.unwatch(self.id);
    }
    /// Ends a session, which gets nothing more of what waits to be sent to it.
    pub(crate) fn cut_session(&mut self, id: SessionId) {
        self.close_session(id);
        let session = self.state.sessions.get_mut(id);
        session.cut = true;
        if let Some(peer) = &session.peer {
            peer.buffers.leave_out();
        }
    }
    /// Ends a session: it takes no further call, and nothing of it is left but its number.
    pub fn close_session(&mut self, id: SessionId) {
        self.state.store.unwatch(id);
        self.state.end_subscriptions(id);
        self.state.end_monitoring(id);
        self.state.end_tracking(id);
        self.state.replication.forget(id);
        self.state.pubsub.tell(id);
        let session = self.state.sessions.get_mut(id);
        session.queue = None;
        session.closed = true;
        if session.blocked.is_some() {
            self.state.unblocked.push((id, Unblock::Closed));
        }
    }
    /// The time of this unit in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.state.store.now_ms()
    }
    /// See `Store::read`.
    #[inline]
    pub fn read(&mut self, key: &[u8]) -> Option<&Entry> {
        let db = self.db();
        self.state.store.read(db, key)
    }
    /// See `Store::look`.
    pub fn look(&mut self, key: &[u8]) -> Option<&Entry> {
        let db = self.db();
        self.state.store.look(db, key)
    }
    /// See `Store::look_untold`.
    pub fn look_untold(&mut self, key: &[u8]) -> Option<&Entry> {
        let db = self.db();
        self.state.store.look_untold(db, key)
    }
    /// See `Store::expire_if_due`.
    pub fn expire_if_due(&mut self, key: &[u8]) -> bool {
        let db = self.db();
        self.state.store.expire_if_due(db, key)
    }
    /// See `Store::has`.
    #[inline]
    pub fn has(&mut self, key: &[u8]) -> bool {
        let db = self.db();
        self.state.store.has(db, key)
    }
    /// See `Store::edit`.
    #[inline]
    pub fn edit(&mut self, key: &[u8]) -> Option<Edit<'_>> {
        let db = self.db();
        self.state.store.edit(db, key)
    }
    /// See `Store::edit_or`.
    pub fn edit_or(&mut self, key: &[u8], fresh: impl FnOnce() -> Value) -> Edit<'_> {
        let db = self.db();
        self.state.store.edit_or(db, key, fresh)
    }
    /// See `Store::notify`.
    pub fn notify(&mut self, key: &[u8], event: Event) {
        let db = self.db();
        self.state.store.notify(db, key, event);
    }
    /// See `Store::put`.
    #[inline]
    pub fn put(&mut self, key: &[u8], value: Value, expiry: Expiry, event: Event) {
        let db = self.db();
        self.state.store.put(db, key, value, expiry, event);
    }
    /// See `Store::remove`.
    pub fn remove(&mut self, key: &[u8], event: Event) -> bool {
        let db = self.db();
        self.state.store.remove(db, key, event)
    }
    /// Does something with the generator of the state, which the borrow of a value would otherwise be in the way of.
    pub fn with_rng<R>(&mut self, act: impl FnOnce(&mut Self, &mut Rng) -> R) -> R {
        let mut rng = self.state.store.rng.clone();
        let result = act(self, &mut rng);
        self.state.store.rng = rng;
        result
    }
    /// See `Store::discard`.
    pub fn discard(&mut self, key: &[u8], event: Event) -> bool {
        let db = self.db();
        self.state.store.discard(db, key, event)
    }
    /// True while somebody reads the journal: only then is it worth building a propagated form.
    pub fn has_journal(&self) -> bool {
        self.state.store.has_journal()
    }
    /// Tells the propagated form of this command instead of its own words (what is not deterministic is made so).
    pub fn propagate(&mut self, argv: Argv<'_>) {
        self.state.rewritten = true;
        let db = self.db();
        self.state.store.propagate(db, argv);
    }
    /// Tells that the key went: as UNLINK where a setting frees in the background.
    pub fn propagate_removal(&mut self, key: &[u8], lazily: bool) {
        self.propagate(&[if lazily { b"UNLINK" } else { b"DEL" }, key]);
    }
    /// This command's change is not propagated (or was, in other words).
    pub fn propagate_nothing(&mut self) {
        self.state.rewritten = true;
    }
}
