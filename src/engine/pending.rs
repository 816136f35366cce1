//! A call that may have to wait: as a ticket that is polled or awaited, and as a call that stops its thread.

use super::blocking::Blocking;
use super::client::has_a_name;
use super::lock::{Guard, Shared};
use super::{Client, Core};
use crate::command::blocking::WaitOn;
#[cfg(feature = "redis-aio")]
use crate::command::{Ctx, Origin};
use crate::error::Error;
use crate::reply::{Reply, Resp};
use crate::store::SessionId;
use crate::util::clock::Clock;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A call that was begun with [`Client::start`]: its reply is there now, or once another client or the clock brings it.
///
/// A future too, for any executor. Dropping it ends the waiting; a reply that was there already is lost with it. On the
/// system's clock nothing wakes it when its time is over: whoever awaits a call with a timeout polls it again then.
#[derive(Debug)]
#[must_use = "dropping it ends the waiting"]
pub struct Pending<'c> {
    client: &'c mut Client,
    /// None once it was given away.
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting,
    Ready(Result<Reply, Error>),
    Taken,
}

impl Client {
    /// Begins a call that may have to wait (BLPOP, XREAD with BLOCK …) without stopping the thread. The session takes no
    /// other call meanwhile, as a connection does not.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// let (mut consumer, mut producer) = (engine.client(), engine.client());
    /// let mut pop = consumer.start(["BLPOP", "queue", "5"])?;
    /// assert!(pop.reply()?.is_none());                          // it waits
    /// producer.call(["RPUSH", "queue", "job"])?;
    /// let reply = pop.reply()?.expect("served");
    /// assert_eq!(reply.get::<(String, String)>()?, ("queue".into(), "job".into()));
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`call_into`](Self::call_into). An error reply is found in the reply.
    pub fn start<T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) -> Result<Pending<'_>, Error> {
        let mut reply = Reply::new();
        let state = if self.begin_call(argv, &mut reply)? { State::Ready(Ok(reply)) } else { State::Waiting };
        Ok(Pending { client: self, state })
    }
    /// What [`start`](Self::start) does, for who keeps many clients and asks them in turn, as an event loop: true when
    /// the reply is in `out`, false when it is for [`finish_call`](Self::finish_call) to fetch.
    ///
    /// # Errors
    /// As [`call_into`](Self::call_into).
    pub fn begin_call<T: AsRef<[u8]>>(
        &mut self,
        argv: impl AsRef<[T]>,
        out: &mut Reply,
    ) -> Result<bool, Error> {
        let words: Vec<&[u8]> = argv.as_ref().iter().map(AsRef::as_ref).collect();
        self.begin(&words, out, &mut Resp::V2)
    }
    /// The same, and in which version the reply is heard, which the call may have changed.
    pub(crate) fn begin(&self, argv: &[&[u8]], out: &mut Reply, heard: &mut Resp) -> Result<bool, Error> {
        out.clear();
        has_a_name(argv)?;
        if self.shared.answers_beside_the_lock(argv, out) {
            return Ok(true);
        }
        let mut core = self.shared.lock()?;
        core.lossy_unit(self.id, argv, out)?;
        *heard = core.state.sessions.get(self.id).resp;
        Ok(!core.is_blocked(self.id))
    }
    /// Fetches the reply of a call that had to wait; false while it still does. `waker` is woken when asking again is
    /// worth it.
    ///
    /// # Errors
    /// The session has ended, the reply was lost, a call from inside the engine, a poisoned engine; no call waits.
    pub fn finish_call(&mut self, waker: Option<&Waker>, out: &mut Reply) -> Result<bool, Error> {
        self.finish(waker, out)
    }
    pub(crate) fn finish(&self, waker: Option<&Waker>, out: &mut Reply) -> Result<bool, Error> {
        let mut core = match self.shared.lock() {
            // A script of another thread runs for long: nothing has come, and nobody else may tell when.
            Err(busy) if busy.is_reply() => {
                waker.inspect(|waker| waker.wake_by_ref());
                return Ok(false);
            }
            entered => entered?,
        };
        core.keep_time();
        if let Some(reply) = core.deliveries.take(self.id) {
            *out = reply?;
            return Ok(true);
        }
        if !core.is_blocked(self.id) {
            return Err(Error::usage("no call of this client waits for its reply"));
        }
        waker.inspect(|waker| core.deliveries.ask(self.id, waker));
        Ok(false)
    }
    /// Gives up the call that waits, if one does.
    ///
    /// # Errors
    /// A call from inside the engine.
    pub fn cancel_call(&mut self) -> Result<(), Error> {
        self.cancel()
    }
    pub(crate) fn cancel(&self) -> Result<(), Error> {
        self.shared.patiently(Shared::lock_anyway)?.forget_wait(self.id);
        Ok(())
    }
    /// Gives up the open transaction, if there is one, and what is watched for it.
    #[cfg(feature = "redis-aio")]
    pub(crate) fn end_transaction(&self) -> Result<(), Error> {
        let mut core = self.shared.patiently(Shared::lock)?;
        Ctx::new(&mut core.state, self.id, Origin::Client).end_transaction();
        Ok(())
    }
    /// After how much time the call that waits is to be asked for again, whatever happens: none while nobody but another
    /// client or the holder of the clock ends its waiting.
    #[cfg(feature = "redis-aio")]
    pub(crate) fn wait_left(&self) -> Result<Option<Duration>, Error> {
        let core = match self.shared.lock() {
            // A script of another thread runs for long; `finish` has the task look again.
            Err(busy) if busy.is_reply() => return Ok(None),
            entered => entered?,
        };
        Ok(if core.clock.is_manual() { None } else { core.wait_left(self.id) })
    }
    /// The call has to wait: does what the engine was told to do then.
    #[cold]
    pub(super) fn wait(&self, mut core: Guard<'_>, out: &mut Reply) -> Result<(), Error> {
        loop {
            if let Some(reply) = core.deliveries.take(self.id) {
                *out = reply?;
                return Ok(());
            }
            if !core.is_blocked(self.id) {
                return Err(Error::closed());
            }
            let blocking = core.blocking;
            match blocking {
                Blocking::Wait => core.wait_for_delivery(self.id)?,
                Blocking::ByClock if !core.clock.is_manual() => core.wait_for_delivery(self.id)?,
                Blocking::Advance if core.advance_to_deadline(self.id) => {}
                _ => {
                    core.forget_wait(self.id);
                    return Err(Error::would_block());
                }
            }
        }
    }
}

impl Core {
    /// Moves a manual clock past the end of a session's waiting; false when it has none, or the clock does not move.
    fn advance_to_deadline(&mut self, id: SessionId) -> bool {
        let Some(deadline_ms) = self.wait_deadline_ms(id) else { return false };
        if !self.clock.is_manual() || deadline_ms >= Clock::LAST_MS {
            return false;
        }
        let before_us = self.clock.now_us();
        self.clock.catch_up(deadline_ms.saturating_add(1));
        self.settle();
        // One that is off may not get there at once, or never.
        !self.is_blocked(id) || self.clock.now_us() > before_us
    }
    /// The last instant of a session's waiting.
    pub(super) fn wait_deadline_ms(&self, id: SessionId) -> Option<i64> {
        let wait = self.state.sessions.get(id).blocked.as_ref()?;
        match wait.on {
            WaitOn::Pause => self.state.pause.map(|pause| pause.last_ms),
            _ => wait.deadline_ms,
        }
    }
    /// How long a thread has to wait for the end of a session's waiting when nobody serves it.
    pub(super) fn wait_left(&self, id: SessionId) -> Option<Duration> {
        let deadline_ms = self.wait_deadline_ms(id)?;
        let left = deadline_ms.saturating_add(1).saturating_sub(self.clock.now_ms());
        Some(Duration::from_millis(u64::try_from(left).unwrap_or_default()))
    }
}

impl Pending<'_> {
    /// The reply, once it is there, and not more than once. An error reply is found in it.
    ///
    /// # Errors
    /// The session has ended, the reply was lost, a call from inside the engine, a poisoned engine.
    pub fn reply(&mut self) -> Result<Option<Reply>, Error> {
        self.look(None)
    }
    /// Whether [`reply`](Self::reply) would give one, or an error.
    ///
    /// # Errors
    /// A call from inside the engine, a poisoned engine.
    pub fn is_ready(&mut self) -> Result<bool, Error> {
        if matches!(self.state, State::Waiting) {
            let mut core = match self.client.shared.lock() {
                Err(busy) if busy.is_reply() => return Ok(false),
                entered => entered?,
            };
            core.keep_time();
            if let Some(reply) = core.deliveries.take(self.client.id) {
                self.state = State::Ready(reply);
            }
        }
        Ok(matches!(self.state, State::Ready(_)))
    }
    fn look(&mut self, waker: Option<&Waker>) -> Result<Option<Reply>, Error> {
        if matches!(self.state, State::Waiting) {
            let mut reply = Reply::new();
            if !self.client.finish_call(waker, &mut reply)? {
                return Ok(None);
            }
            self.state = State::Ready(Ok(reply));
        }
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Ready(reply) => reply.map(Some),
            _ => Ok(None),
        }
    }
}

impl Future for Pending<'_> {
    type Output = Result<Reply, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.look(Some(context.waker())) {
            Ok(Some(reply)) => Poll::Ready(Ok(reply)),
            Ok(None) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if matches!(self.state, State::Waiting) {
            // From inside the engine nothing can be given up, and nothing waits.
            let _ = self.client.cancel_call();
        }
    }
}
