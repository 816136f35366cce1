//! Sessions that wait: how they are blocked, served in the order in which they began to wait, and let go when their
//! time is over. Nothing here stops a thread; what a caller does meanwhile is in `pending`.

use super::Core;
use crate::command::blocking::{Unblock, Wait, WaitOn};
use crate::command::observe::Ran;
use crate::command::table::Row;
use crate::command::{Argv, Ctx, Origin, call};
use crate::error::{Error, Failure};
use crate::reply::Reply;
use crate::store::{Db, SessionId};
use crate::util::bytes::Bytes;
use crate::util::hasher::Map;
use std::task::Waker;

/// What becomes of a [`Client::call`](super::Client::call) that has to wait, as BLPOP on an empty list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Blocking {
    /// On the system's clock the thread waits; on a manual one the call is refused: for the thread that would wait is
    /// most often the one that moves the clock.
    #[default]
    ByClock,
    /// The thread waits until another one serves it or moves the clock.
    Wait,
    /// The call is refused with an error for which [`Error::is_would_block`] holds.
    Refuse,
    /// A manual clock moves on to the end of the timeout. A call without timeout is refused.
    Advance,
}

/// Replies for sessions that had to wait, and who asks for them.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    replies: Map<SessionId, Result<Reply, Error>>,
    askers: Map<SessionId, Waker>,
    /// Who asks for messages.
    readers: Map<SessionId, Waker>,
    /// Who is to be told when a clock is moved.
    timekeepers: Vec<Waker>,
    /// Those to be woken once the lock is free.
    pub(super) wakers: Vec<Waker>,
    /// Sessions whose replies are lost when they come.
    lost: Vec<SessionId>,
    /// Something was delivered that a thread may wait for.
    pub(super) is_fresh: bool,
    /// No wait ends by itself at an earlier time; None when none does.
    next_deadline_ms: Option<i64>,
}

impl Deliveries {
    fn deliver(&mut self, id: SessionId, reply: Result<Reply, Error>) {
        self.replies.insert(id, reply);
        self.wakers.extend(self.askers.remove(&id));
        self.is_fresh = true;
    }
    /// Whether a reply has come that was not taken.
    #[cfg(feature = "server")]
    pub(super) fn has(&self, id: SessionId) -> bool {
        !self.replies.is_empty() && self.replies.contains_key(&id)
    }
    pub(super) fn take(&mut self, id: SessionId) -> Option<Result<Reply, Error>> {
        self.replies.remove(&id)
    }
    /// A reply that nobody fetched is not that of a later call.
    #[inline]
    pub(super) fn drop_unread(&mut self, id: SessionId) {
        if !self.replies.is_empty() {
            self.replies.remove(&id);
        }
    }
    /// Whether the time of somebody who waits is over.
    #[inline]
    pub(super) fn is_overdue(&self, now_ms: impl FnOnce() -> i64) -> bool {
        self.next_deadline_ms.is_some_and(|deadline_ms| deadline_ms < now_ms())
    }
    /// When the first wait may end by itself.
    pub(super) fn next_deadline_ms(&self) -> Option<i64> {
        self.next_deadline_ms
    }
    /// Whoever waits has to look: no reply will come.
    #[cold]
    pub(super) fn wake_all(&mut self) {
        self.wakers.extend(self.askers.drain().map(|(_, waker)| waker));
        self.wakers.extend(self.readers.drain().map(|(_, waker)| waker));
        self.is_fresh = true;
    }
    /// Somebody wants to be told of the delivery.
    pub(super) fn ask(&mut self, id: SessionId, waker: &Waker) {
        self.askers.insert(id, waker.clone());
    }
    /// Somebody wants to be told when a message comes.
    pub(super) fn ask_for_messages(&mut self, id: SessionId, waker: &Waker) {
        self.readers.insert(id, waker.clone());
    }
    /// Somebody wants to be told when the clock is moved.
    #[cfg(feature = "server")]
    pub(super) fn ask_for_time(&mut self, waker: &Waker) {
        if !self.timekeepers.iter().any(|other| other.will_wake(waker)) {
            self.timekeepers.push(waker.clone());
        }
    }
    /// The clock was moved.
    pub(super) fn tell_of_time(&mut self) {
        if !self.timekeepers.is_empty() {
            self.wakers.append(&mut self.timekeepers);
            self.is_fresh = true;
        }
    }
    /// A message has come, or none will.
    pub(super) fn tell_of_messages(&mut self, id: SessionId) {
        self.wakers.extend(self.readers.remove(&id));
        self.is_fresh = true;
    }
    /// The reply that the session waits for will be lost.
    pub(super) fn lose(&mut self, id: SessionId) {
        self.lost.push(id);
    }
    /// Whether the reply that has come now is lost.
    fn take_loss(&mut self, id: SessionId) -> bool {
        let before = self.lost.len();
        self.lost.retain(|lost| *lost != id);
        self.lost.len() < before
    }
    fn forget(&mut self, id: SessionId) {
        self.take_loss(id);
        self.replies.remove(&id);
        self.askers.remove(&id);
        self.readers.remove(&id);
    }
}

impl Core {
    /// Whether the session waits.
    #[inline]
    pub(super) fn is_blocked(&self, id: SessionId) -> bool {
        self.state.blocked > 0 && self.state.sessions.get(id).blocked.is_some()
    }
    /// A command has found nothing: its session waits, unless it did already.
    pub(super) fn block(&mut self, id: SessionId, wait: Box<Wait>) {
        let session = self.state.sessions.get_mut(id);
        if session.woken_by.is_none() {
            let db = session.db;
            let type_name = wait.on.type_name().unwrap_or_default();
            wait.keys.iter().for_each(|key| self.state.store.wait_for(id, db, key, type_name));
            self.state.blocked += 1;
            let next = &mut self.deliveries.next_deadline_ms;
            *next = next.iter().copied().chain(wait.deadline_ms).min();
        }
        self.state.sessions.get_mut(id).blocked = Some(wait);
    }
    /// The session does not wait any more.
    pub(super) fn unblock(&mut self, id: SessionId) -> Option<Box<Wait>> {
        let session = self.state.sessions.get_mut(id);
        let db = session.db;
        let wait = session.blocked.take()?;
        self.release(id, db, &wait);
        Some(wait)
    }
    fn release(&mut self, id: SessionId, db: Db, wait: &Wait) {
        let type_name = wait.on.type_name().unwrap_or_default();
        wait.keys.iter().for_each(|key| self.state.store.stop_waiting(id, db, key, type_name));
        self.state.blocked = self.state.blocked.saturating_sub(1);
        if wait.on == WaitOn::Pause {
            self.state.postponed.retain(|other| *other != id);
        }
    }
    /// A session is closed, or its caller waits no more: what it waited for is forgotten.
    pub(super) fn forget_wait(&mut self, id: SessionId) {
        self.unblock(id);
        self.deliveries.forget(id);
    }
    /// The end of a unit: serves those who wait for keys that it wrote, each in a unit of its own, until nothing more
    /// is ready.
    #[inline]
    pub(super) fn serve(&mut self) {
        if self.state.blocked > 0 {
            self.serve_those_ready();
        }
        if !self.state.replication.is_idle() {
            self.state.feed_replicas();
        }
        if self.state.tracking.is_on() {
            self.tell_caches();
        }
        if self.state.pubsub.has_news() {
            self.hand_out();
            self.serve_those_ready();
        }
    }
    #[cold]
    fn serve_those_ready(&mut self) {
        while self.state.blocked > 0 {
            let ready = self.state.store.take_ready();
            if ready.is_empty() && self.state.unblocked.is_empty() {
                break;
            }
            for (id, reason) in std::mem::take(&mut self.state.unblocked) {
                self.end_wait(id, reason);
                if reason == Unblock::Resumed {
                    let ready = self.state.store.take_ready();
                    self.serve_keys(ready);
                }
            }
            self.serve_keys(ready);
        }
    }
    fn serve_keys(&mut self, ready: Vec<(Db, Bytes)>) {
        for (db, key) in ready {
            self.begin_unit();
            self.serve_key(db, &key);
        }
    }
    /// Time passes: the keys that caches are told of may be too many by now.
    pub(super) fn limit_tracking(&mut self) {
        if self.state.tracking.is_on() {
            self.state.limit_tracking();
        }
    }
    /// Who caches is told what has changed. Clients of a front are told of prefixes once a turn.
    #[cold]
    fn tell_caches(&mut self) {
        self.state.tell_caller();
        let caller = self.state.sessions.find(self.state.caller);
        if caller.is_none_or(|session| session.peer.is_none()) && self.state.tracking.has_broadcasts() {
            self.state.broadcast_changes();
        }
    }
    /// The pause is over: the command that it has held back comes as if it had come now.
    fn resume(&mut self, id: SessionId, wait: &Wait) {
        let argv: Vec<&[u8]> = wait.argv.iter().map(|word| &**word).collect();
        let mut reply = Reply::new();
        self.begin_unit();
        let caller = self.state.caller;
        self.begin_to_call(id);
        self.run(id, Origin::Client, &argv, &mut reply);
        self.finish_unit();
        if self.state.tracking.is_on() {
            self.state.end_tracked_call(id, &argv);
            self.state.tell_caller();
        }
        self.state.caller = caller;
        if !self.is_blocked(id) {
            self.deliver(id, Ok(reply));
        }
    }
    fn serve_key(&mut self, db: Db, key: &[u8]) {
        // Its time may be over by now.
        if self.state.store.expire_if_due(db, key) {
            self.finish_unit();
        }
        for id in self.state.store.waiting_for(db, key) {
            let type_name = self.state.store.type_name(db, key);
            let Some(wait) = &self.state.sessions.get(id).blocked else { continue };
            if wait.on == WaitOn::Group && type_name != Some("stream") {
                self.end_wait(id, Unblock::StreamGone);
            } else if wait.on.serves(type_name) {
                self.run_again(id, db, key);
            }
        }
    }
    /// Runs the command of a waiting session again, on the key that was written.
    fn run_again(&mut self, id: SessionId, db: Db, key: &[u8]) {
        let session = self.state.sessions.get_mut(id);
        let Some(wait) = session.blocked.take() else { return };
        session.woken_by = Some(key.into());
        let argv: Vec<&[u8]> = wait.argv.iter().map(|word| &**word).collect();
        let mut reply = Reply::new();
        let caller = std::mem::replace(&mut self.state.caller, id);
        let mut cx = Ctx::new(&mut self.state, id, Origin::Client);
        let flow = call(&mut cx, &argv, &mut reply);
        let row = cx.ran;
        self.end(id, Origin::Client, &argv, flow, &mut reply);
        self.finish_unit();
        if self.state.tracking.is_on() {
            self.state.tell_caller();
        }
        self.state.caller = caller;
        let session = self.state.sessions.get_mut(id);
        session.woken_by = None;
        if session.blocked.take().is_some() {
            session.blocked = Some(wait);
            return;
        }
        if let Some(row) = row {
            self.note_served(id, row, &argv);
        }
        self.release(id, db, &wait);
        self.deliver(id, Ok(reply));
    }
    /// A command that waited has been served: it took what serving it took.
    fn note_served(&mut self, id: SessionId, row: &'static Row, argv: Argv<'_>) {
        let began_us = self.looked_us;
        if self.state.measures {
            self.looked_us = self.clock.now_us();
        }
        let duration_us = self.looked_us.saturating_sub(began_us).max(0) as u64;
        self.state.note_served(&Ran { id, row, argv, duration_us, at_us: self.looked_us, waits: false });
    }
    /// Ends the waiting of a session without a key.
    pub(super) fn end_wait(&mut self, id: SessionId, reason: Unblock) {
        if reason == Unblock::Redirected && self.redirection(id).is_none() {
            // The slot is here again.
            return;
        }
        let Some(wait) = self.unblock(id) else { return };
        let mut reply = Reply::new();
        match reason {
            Unblock::Timeout if wait.on == WaitOn::Replicas => {
                reply.int(self.state.replicas_at(self.state.replication.offset) as i64);
            }
            Unblock::Timeout => reply.nil_array(),
            Unblock::Error => self.fail_wait(id, &wait, &Failure::UNBLOCKED, &mut reply),
            Unblock::RoleChanged => {
                self.answer_error(&Failure::ROLE_CHANGED, &mut reply);
                Ctx::new(&mut self.state, id, Origin::Client).close_session(id);
            }
            Unblock::Redirected => {
                let failure = self.state.redirection(&wait).unwrap_or(Failure::UNBLOCKED);
                self.answer_error(&failure, &mut reply);
            }
            Unblock::StreamGone => self.fail_wait(id, &wait, &Failure::STREAM_GONE, &mut reply),
            Unblock::Resumed => return self.resume(id, &wait),
            Unblock::Closed => return self.deliver(id, Err(Error::closed())),
        }
        self.deliver(id, Ok(reply));
    }
    /// Where a session has to go that waits here.
    fn redirection(&self, id: SessionId) -> Option<Failure> {
        self.state.redirection(self.state.sessions.get(id).blocked.as_deref()?)
    }
    /// A command that waited has failed.
    fn fail_wait(&mut self, id: SessionId, wait: &Wait, failure: &Failure, reply: &mut Reply) {
        self.state.stats.note_error(&failure.to_bytes());
        let argv: Vec<&[u8]> = wait.argv.iter().map(|word| &**word).collect();
        match self.state.table.resolve(&argv) {
            Ok(row) => self.note_served(id, row, &argv),
            Err(_) => self.state.stats.settle_errors(),
        }
        reply.error(failure);
    }
    fn answer_error(&mut self, failure: &Failure, reply: &mut Reply) {
        self.state.stats.note_error(&failure.to_bytes());
        self.state.stats.settle_errors();
        reply.error(failure);
    }
    fn deliver(&mut self, id: SessionId, reply: Result<Reply, Error>) {
        let is_lost = self.deliveries.take_loss(id) || self.loses_replies();
        let mut reply = if is_lost { Err(Error::connection_lost()) } else { reply };
        if let Ok(reply) = &mut reply {
            self.withhold(id, reply);
            self.state.sessions.get_mut(id).is_answered = true;
        }
        self.deliveries.deliver(id, reply);
    }
    /// A panic has cut a unit short: what it left open is closed, and the calls that waited have failed with it.
    #[cold]
    pub(super) fn close_broken_unit(&mut self) {
        self.state.trace = None;
        self.state.unblocked.clear();
        self.state.postponed.clear();
        self.state.blocked = 0;
        self.state.store.forget_observers_of_calls();
        let mut failed = Vec::new();
        for (id, session) in self.state.sessions.iter_mut() {
            session.running = None;
            if session.blocked.take().is_some() | session.woken_by.take().is_some() {
                failed.push(id);
            }
        }
        failed.into_iter().for_each(|id| self.deliveries.deliver(id, Err(Error::poisoned())));
    }
    /// All of the state is another one: serves who can be served, ends what is over.
    pub(super) fn look_again(&mut self) {
        self.begin_unit();
        self.finish_unit();
        self.serve();
        self.end_overdue_waits();
    }
    /// The clock may have moved without a word to this engine: ends what is over.
    pub(super) fn keep_time(&mut self) {
        if self.state.pause.is_some() || self.deliveries.is_overdue(|| self.clock.now_ms()) {
            self.begin_unit();
            self.end_overdue_waits();
        }
    }
    /// Ends the waiting of those whose time is over, the earliest first, and a pause.
    #[inline]
    pub(super) fn end_overdue_waits(&mut self) {
        if self.state.pause.is_some() || self.deliveries.is_overdue(|| self.state.store.now_ms()) {
            self.end_overdue();
        }
    }
    #[cold]
    fn end_overdue(&mut self) {
        self.state.end_pause_when_over();
        let now_ms = self.state.store.now_ms();
        let mut waiting: Vec<_> = Vec::new();
        for (id, session) in self.state.sessions.iter() {
            let deadline_ms = session.blocked.as_ref().and_then(|wait| wait.deadline_ms);
            waiting.extend(deadline_ms.map(|deadline_ms| (deadline_ms, session.client_id, id)));
        }
        waiting.sort_unstable();
        let overdue = waiting.partition_point(|(deadline_ms, _, _)| *deadline_ms < now_ms);
        self.deliveries.next_deadline_ms = waiting.get(overdue).map(|(deadline_ms, _, _)| *deadline_ms);
        waiting[..overdue].iter().for_each(|(_, _, id)| self.end_wait(*id, Unblock::Timeout));
        if !self.state.unblocked.is_empty() {
            self.serve_those_ready();
        }
    }
}
