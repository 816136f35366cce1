//! The engine: one lock around all state, and the unit of work that a client submits under it.
//! `client` is what callers hold, `exec` runs transactions, `builder` makes engines. Commands are in `commands`.

mod blocking;
mod builder;
mod busy;
mod checked;
mod client;
#[cfg(feature = "server")]
mod connection;
mod exec;
#[cfg(feature = "sim")]
pub(crate) mod explored;
mod faults;
mod host;
mod inbox;
mod journal;
mod lock;
mod pending;
mod rdb;
mod script;
mod state;
mod users;

pub use crate::command::faults::Loss;
pub use crate::command::host::Files;
pub use blocking::Blocking;
pub use builder::Builder;
#[cfg(feature = "capi")]
pub(crate) use builder::DATABASES_MAX;
pub(crate) use checked::Probe;
pub use client::Client;
#[cfg(feature = "server")]
pub(crate) use connection::{Desk, Meanwhile, Pulse, Standing, Tended, UNSENT_BEFORE_MESSAGES};
pub(crate) use host::Stop;
pub use inbox::NextMessage;
pub use journal::Journal;
pub use pending::Pending;
pub use rdb::RdbError;
pub use script::{Invocation, Script, ToArg};
pub use state::Snapshot;

use crate::command::faults::Fault;
use crate::command::observe::Ran;
use crate::command::session::{Replies, SCRIPT_SESSION};
use crate::command::table::Row;
use crate::command::{Argv, Ctx, Flow, Origin, State, VmCall, call};
use crate::error::{Error, Failure};
use crate::reply::Reply;
use crate::script::{Control, Settings, Vm};
use crate::store::{SessionId, Store};
use crate::util::clock::Clock;
use lock::{Guard, Shared};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// An in-process keyspace with its commands, scripts and clock.
///
/// Cheap to make, and cheap to clone: clones are the same engine. Any number of threads may share one; each works
/// through a [`Client`] of its own.
#[derive(Debug, Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// All that the lock guards.
pub(crate) struct Core {
    pub(crate) state: State,
    /// Made at the first script.
    pub(crate) vm: Option<Box<Vm>>,
    pub(crate) clock: Clock,
    /// The time that was last looked at, in microseconds: what passes until the next look is what a command took.
    looked_us: i64,
    /// A command has moved the clock: what is due is done at the end of its unit.
    pub(crate) has_moved: bool,
    pub(crate) fault: Option<Box<Fault>>,
    /// The last image that DEBUG RELOAD has made.
    image: Option<Arc<[u8]>>,
    /// SHUTDOWN has been called.
    has_shut_down: bool,
    /// Fronts that serve the engine.
    fronts: Vec<Weak<dyn Stop>>,
    /// What becomes of calls that have to wait.
    pub(crate) blocking: Blocking,
    deliveries: blocking::Deliveries,
    pub(crate) script_settings: Settings,
    /// Shared with the lock, so that others can stop a script while it holds the lock.
    pub(crate) script_control: Arc<Control>,
}

impl Default for Engine {
    fn default() -> Self {
        Engine::new()
    }
}

impl Engine {
    /// An engine with 16 empty databases, seed 0, and a manual clock that stands at the start of 2024 until it is
    /// moved. See [`builder`](Self::builder) for other settings.
    pub fn new() -> Self {
        Engine::builder().build()
    }
    /// Settings for an engine.
    pub fn builder() -> Builder {
        Builder::default()
    }
    /// Opens a session.
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned; BUSY when a script of another thread runs for long.
    pub fn try_client(&self) -> Result<Client, Error> {
        Ok(self.open_client(self.shared.lock()?))
    }
    fn open_client(&self, mut core: Guard<'_>) -> Client {
        let now_ms = core.clock.now_ms();
        let id = core.state.open_session(now_ms, None);
        Client::new(self.shared.clone(), id)
    }
    /// Ends all sessions, and with them whatever waits in one.
    #[cfg(feature = "capi")]
    pub(crate) fn close_sessions(&self) -> Result<(), Error> {
        let mut core = self.shared.patiently(Shared::lock)?;
        let ids: Vec<_> = core.state.sessions.iter().map(|(id, _)| id).collect();
        for id in ids {
            Ctx::new(&mut core.state, id, Origin::Client).close_session(id);
            core.deliveries.tell_of_messages(id);
        }
        core.settle();
        Ok(())
    }
    /// Opens a session; a script of another thread is waited for, however long it runs.
    ///
    /// # Panics
    /// After a panic inside the engine, and from a host function that runs inside a script.
    pub fn client(&self) -> Client {
        match self.shared.patiently(Shared::lock) {
            Ok(core) => self.open_client(core),
            Err(error) => panic!("no session: {error}"),
        }
    }
    /// The engine's clock; clones of it move the same time.
    ///
    /// # Errors
    /// As [`try_client`](Self::try_client).
    pub fn clock(&self) -> Result<Clock, Error> {
        Ok(self.shared.lock()?.clock.clone())
    }
    /// The engine's time in Unix milliseconds.
    ///
    /// # Errors
    /// As [`try_client`](Self::try_client).
    pub fn now_ms(&self) -> Result<i64, Error> {
        Ok(self.shared.lock()?.clock.now_ms())
    }
    /// Moves a manual clock on and expires what is due, earliest first. Costs what expires, not what exists.
    ///
    /// # Errors
    /// On the system clock; else as [`try_client`](Self::try_client).
    pub fn advance(&self, by: Duration) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        if !core.clock.advance(by) {
            return Err(Error::usage(
                "the system clock cannot be moved; build the engine with Clock::manual",
            ));
        }
        core.settle();
        Ok(())
    }
    /// Sets a manual clock to this Unix time in milliseconds, also backwards (not before 1970), and expires what is
    /// due.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn set_time(&self, unix_ms: i64) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        if !core.clock.set_ms(unix_ms) {
            return Err(Error::usage("the system clock cannot be set; build the engine with Clock::manual"));
        }
        core.settle();
        Ok(())
    }
    /// Does what the time asks for, on a clock that runs by itself: expires keys, earliest first, and ends the waiting of
    /// those whose timeout is over. For who keeps an engine for long, as a server does, which calls this when nothing
    /// else is to be done; any call does a little of it too. Gives how long there is nothing to do by the clock: no end
    /// when nothing is due, or when the clock is a manual one, which does all of this when it is moved.
    ///
    /// ```
    /// use moonkeep::{Clock, Engine};
    /// let engine = Engine::builder().clock(Clock::system()).build();
    /// assert_eq!(engine.keep_time()?, None);
    /// engine.client().call(["SET", "k", "v", "EX", "100"])?;
    /// assert!(engine.keep_time()?.is_some_and(|idle| idle.as_secs() <= 100));
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`try_client`](Self::try_client).
    pub fn keep_time(&self) -> Result<Option<Duration>, Error> {
        Ok(self.shared.lock()?.keep())
    }
    /// Empties all databases at once; sessions, scripts, libraries, settings, the clock and the generator stay as they are.
    ///
    /// # Errors
    /// As [`try_client`](Self::try_client).
    pub fn reset(&self) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        core.state.store.clear();
        core.finish_unit();
        core.serve();
        Ok(())
    }
    /// What another thread may see and do while a script runs: see [`Control`]. Never waits for the engine.
    pub fn script_control(&self) -> Arc<Control> {
        self.shared.script_control.clone()
    }
}

impl Core {
    /// One unit of work: time is sampled once, the command runs to its end, what it did is settled.
    pub(crate) fn unit(&mut self, id: SessionId, argv: Argv<'_>, out: &mut Reply) -> Result<(), Error> {
        self.enter(id)?;
        self.run(id, Origin::Client, argv, out);
        self.leave(id, out);
        if self.state.tracking.is_on() {
            self.state.end_tracked_call(id, argv);
        }
        self.serve();
        self.state.caller = SCRIPT_SESSION;
        if self.has_moved {
            self.settle();
        }
        Ok(())
    }
    /// Begins a unit of a session.
    #[inline(always)]
    fn enter(&mut self, id: SessionId) -> Result<(), Error> {
        if self.state.sessions.get(id).closed {
            return Err(Error::closed());
        }
        if self.is_blocked(id) {
            return Err(Error::usage("the session waits for the reply of an earlier call"));
        }
        self.deliveries.drop_unread(id);
        self.begin_unit();
        self.end_overdue_waits();
        if self.state.measures {
            let started = self.state.store.latency.start();
            self.expire_due(EXPIRE_PER_UNIT);
            let now_s = self.state.store.now_s();
            self.state.store.latency.stop("expire-cycle", started, now_s);
            self.finish_unit();
        }
        self.begin_to_call(id);
        Ok(())
    }
    /// From now on, messages of the session stand before or behind the reply to what it calls.
    #[inline(always)]
    fn begin_to_call(&mut self, id: SessionId) {
        self.state.caller = id;
        let session = self.state.sessions.get_mut(id);
        session.is_answered = false;
        if let Some(inbox) = &mut session.subscriber {
            inbox.catch_up();
        }
    }
    /// Looks at the clock for a unit of work.
    #[inline(always)]
    fn begin_unit(&mut self) {
        self.looked_us = self.clock.now_us();
        self.state.store.begin_unit(self.looked_us);
    }
    /// Ends it, with its reply.
    #[inline(always)]
    fn leave(&mut self, id: SessionId, out: &mut Reply) {
        let session = self.state.sessions.get(id);
        if session.replies != Replies::On && session.blocked.is_none() {
            self.withhold(id, out);
        }
        // Each command has told its events itself.
        self.state.store.finish_unit();
    }
    /// What the unit has done is told.
    #[inline(always)]
    fn finish_unit(&mut self) {
        if self.state.store.has_events() {
            self.state.tell_events(SCRIPT_SESSION, false);
        }
        self.state.store.finish_unit();
    }
    /// Withholds the reply of a command from a session that does not want it.
    fn withhold(&mut self, id: SessionId, out: &mut Reply) {
        let session = self.state.sessions.get_mut(id);
        let (replies, sent) = session.replies.after_command();
        session.replies = replies;
        let is_sifted = std::mem::take(&mut session.is_sifted);
        if !sent && !is_sifted {
            out.keep_pushes();
        }
    }
    /// Runs one command, does what its flow asks for, and notes what it was.
    #[inline(always)]
    fn run(&mut self, id: SessionId, origin: Origin, argv: Argv<'_>, out: &mut Reply) {
        let mut cx = Ctx::new(&mut self.state, id, origin);
        let flow = call(&mut cx, argv, out);
        let row = cx.ran;
        // Looked at where it is: to move it costs more than most commands' part of this.
        match (&flow, row) {
            (Ok(Flow::Done), None) => {}
            (Ok(Flow::Done), Some(row)) if self.state.is_calm => self.state.stats.count(row),
            (Ok(Flow::Vm(call)), Some(row)) if self.state.is_calm => {
                self.calm_script((id, origin, row), call, argv, out);
            }
            _ => self.follow(id, origin, argv, (row, flow), out),
        }
    }
    /// Runs Lua where most calls need no more than to be counted.
    fn calm_script(
        &mut self,
        (id, origin, row): (SessionId, Origin, &'static Row),
        call: &VmCall,
        argv: Argv<'_>,
        out: &mut Reply,
    ) {
        let result = self.script(id, origin, call, argv, out);
        if result.is_ok() && !self.state.stats.has_failures() && self.clock.now_us() == self.looked_us {
            return self.state.stats.count(row);
        }
        let result = result.map(|()| Flow::Done);
        self.follow(id, origin, argv, (Some(row), result), out);
    }
    /// Does what the flow of a command asks for, and notes what the command was, unless it was refused or queued.
    #[inline(never)]
    fn follow(&mut self, id: SessionId, origin: Origin, argv: Argv<'_>, called: Called, out: &mut Reply) {
        let began_us = self.looked_us;
        let (row, flow) = called;
        let waits = matches!(flow, Ok(Flow::Wait(_)));
        self.end(id, origin, argv, flow, out);
        let Some(row) = row else { return self.state.stats.settle_errors() };
        self.looked_us = self.clock.now_us();
        let duration_us = self.looked_us.saturating_sub(began_us).max(0) as u64;
        self.state.note_run(&Ran { id, row, argv, duration_us, at_us: self.looked_us, waits });
    }
    /// Does what the flow of a command asks for. Where that is an error, it is answered.
    fn end(
        &mut self,
        id: SessionId,
        origin: Origin,
        argv: Argv<'_>,
        flow: Result<Flow, Failure>,
        out: &mut Reply,
    ) {
        let result = flow.and_then(|flow| match flow {
            Flow::Done => Ok(()),
            Flow::Vm(call) => self.script(id, origin, &call, argv, out),
            Flow::Exec => self.exec(id, out),
            Flow::Wait(wait) => {
                self.block(id, wait);
                Ok(())
            }
            Flow::Host(call) => self.host(id, *call, out),
            Flow::Sleep(time) => {
                self.clock.sleep(time);
                out.ok();
                Ok(())
            }
            Flow::Advance(ms) => self.advance_by(ms, out),
            Flow::Fault(fault) => {
                self.fault = fault;
                out.ok();
                Ok(())
            }
        });
        if let Err(failure) = result {
            self.state.stats.note_error(&failure.to_bytes());
            out.error(&failure);
        }
    }
    /// DEBUG ADVANCE: what is due then is done once the unit is over, for time stands still in it.
    fn advance_by(&mut self, ms: u64, out: &mut Reply) -> Result<(), Failure> {
        if !self.clock.advance(Duration::from_millis(ms)) {
            return Err(Failure::CLOCK_RUNS);
        }
        self.has_moved = true;
        out.ok();
        Ok(())
    }
    fn script(
        &mut self,
        id: SessionId,
        origin: Origin,
        call: &VmCall,
        argv: Argv<'_>,
        out: &mut Reply,
    ) -> Result<(), Failure> {
        self.vm();
        let result = match &mut self.vm {
            Some(vm) => vm.run(&mut self.state, id, origin, call, argv, out),
            None => Ok(()),
        };
        let slept = std::mem::take(&mut self.state.debug.slept);
        if slept > Duration::ZERO {
            // Time stands still in a script: it may as well pass now.
            self.clock.sleep(slept);
        }
        result
    }
    /// The Lua VM, made at its first use.
    #[inline]
    fn vm(&mut self) -> &mut Vm {
        self.vm.get_or_insert_with(|| {
            Box::new(Vm::with_limits(self.script_settings.clone(), self.script_control.clone()))
        })
    }
    /// Does what the time asks for, unless the clock is a manual one; how long there is nothing to do then.
    fn keep(&mut self) -> Option<Duration> {
        if self.clock.is_manual() {
            return None;
        }
        self.state.store.begin_unit(self.clock.now_us());
        self.state.sample(self.state.store.now_ms());
        self.expire_in_background();
        self.finish_unit();
        self.limit_tracking();
        self.serve();
        self.end_overdue_waits();
        self.save_when_due();
        let pause_ms = self.state.pause.map(|pause| pause.last_ms);
        let keeps_expired = self.state.debug.keeps_expired || self.state.has_master() || pause_ms.is_some();
        let expiry_ms = if keeps_expired { None } else { self.state.store.next_expiry_ms() };
        let deadlines = expiry_ms.into_iter().chain(pause_ms).chain(self.deliveries.next_deadline_ms());
        let due_ms = deadlines.min()?;
        let idle_ms = due_ms.saturating_add(1).saturating_sub(self.clock.now_ms());
        Some(Duration::from_millis(idle_ms.max(0).unsigned_abs()))
    }
    /// What is due expires, and how long that takes is counted.
    fn expire_in_background(&mut self) {
        let is_due = self.state.store.next_expiry_ms().is_some_and(|at_ms| at_ms < self.state.store.now_ms());
        if is_due {
            let began_us = self.clock.now_us();
            self.expire_due(EXPIRE_AT_ONCE);
            let us = self.clock.now_us().saturating_sub(began_us).max(0).unsigned_abs();
            self.state.stats.expire_us += us;
            let now_s = self.state.store.now_s();
            self.state.store.latency.note("expire-cycle", us / 1000, now_s);
        }
    }
    /// The clock moved: what is due expires now.
    fn settle(&mut self) {
        self.has_moved = false;
        self.begin_unit();
        // First those whose time is over, as on the server: that a stream goes at the same time does not end their wait.
        self.end_overdue_waits();
        self.expire_due(usize::MAX);
        self.finish_unit();
        self.limit_tracking();
        self.serve();
        self.save_when_due();
        self.deliveries.tell_of_time();
    }
    /// Keys whose time is over go, unless DEBUG SET-ACTIVE-EXPIRE says otherwise.
    fn expire_due(&mut self, limit: usize) {
        if !self.state.debug.keeps_expired {
            self.state.store.expire_due(limit);
        }
    }
}

/// A command that was called: its row, if it ran, and what is to be done.
type Called = (Option<&'static Row>, Result<Flow, Failure>);

/// On the system clock nobody calls `advance`: each unit takes some of the work of the server's expiry cycle.
const EXPIRE_PER_UNIT: usize = 16;
/// How many keys expire in one go when somebody has the time for it; others wait meanwhile.
const EXPIRE_AT_ONCE: usize = 10_000;

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Engine {
    pub(crate) fn from_store(
        store: Store,
        config: crate::command::config::Config,
        clock: Clock,
        script_settings: Settings,
        blocking: Blocking,
    ) -> Self {
        let mut store = store;
        store.set_memory(config.memory);
        let mut state = State::new(store, config, crate::commands::table());
        state.started_at_ms = clock.now_ms();
        state.saving.saved_at_s = state.started_at_ms.div_euclid(1000);
        state.cluster = state.config.cluster_enabled.then(Box::default);
        state.heed_config();
        Engine::from_parts(state, clock, script_settings, blocking)
    }
}
