//! The one lock. It knows the thread that holds it, so that a call from inside is an error instead of a deadlock, and
//! remembers a panic that left a unit unfinished.

use super::Core;
use crate::error::Error;
use crate::script::Control;
use crate::store::SessionId;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Waker;

/// What clients and engines share.
pub(crate) struct Shared {
    core: Mutex<Core>,
    owner: AtomicUsize,
    poisoned: AtomicBool,
    /// Sessions whose client was dropped: closed when the lock is taken next.
    closing: Mutex<Vec<SessionId>>,
    has_closing: AtomicBool,
    /// Threads wait here for replies that another one brings.
    delivered: Condvar,
    /// Those who await such replies, woken once the lock is free.
    wakers: Mutex<Vec<Waker>>,
    has_wakers: AtomicBool,
    pub(crate) script_control: Arc<Control>,
}

/// Short, as it stands in the `Debug` of all that has an engine.
impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("core", &self.core)
            .field("poisoned", &self.poisoned)
            .finish_non_exhaustive()
    }
}

/// A number that differs between threads that run at the same time, and is not 0.
fn thread_number() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl Shared {
    #[inline(always)]
    pub(crate) fn new(core: Core) -> Self {
        Shared {
            script_control: core.script_control.clone(),
            core: Mutex::new(core),
            owner: AtomicUsize::new(0),
            poisoned: AtomicBool::new(false),
            closing: Mutex::new(Vec::new()),
            has_closing: AtomicBool::new(false),
            delivered: Condvar::new(),
            wakers: Mutex::new(Vec::new()),
            has_wakers: AtomicBool::new(false),
        }
    }
    /// Enters the engine.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Result<Guard<'_>, Error> {
        let core = self.take()?;
        // The guard is made last, in its place: to move it would cost as much as the lock.
        if self.poisoned.load(Ordering::Relaxed) {
            return Err(Error::poisoned());
        }
        if self.has_closing.load(Ordering::Acquire) {
            return Ok(self.close_dropped(core));
        }
        Ok(self.guard(core))
    }
    /// Enters the engine, even when it is poisoned: to put all of its state right.
    #[inline(always)]
    pub(crate) fn lock_anyway(&self) -> Result<Guard<'_>, Error> {
        Ok(self.guard(self.take()?))
    }
    /// Enters the engine for what is no command: a script of another thread that runs for long is waited for, not told of.
    pub(crate) fn patiently<'a>(
        &'a self,
        enter: impl Fn(&'a Shared) -> Result<Guard<'a>, Error>,
    ) -> Result<Guard<'a>, Error> {
        loop {
            match enter(self) {
                Err(busy) if busy.is_reply() => {}
                entered => return entered,
            }
        }
    }
    #[inline(always)]
    fn take(&self) -> Result<MutexGuard<'_, Core>, Error> {
        if self.owner.load(Ordering::Relaxed) == thread_number() {
            return Err(Error::reentered());
        }
        match self.core.try_lock() {
            Some(core) => Ok(core),
            None => self.wait_for(&self.core),
        }
    }
    #[inline(always)]
    fn guard<'a>(&'a self, core: MutexGuard<'a, Core>) -> Guard<'a> {
        self.owner.store(thread_number(), Ordering::Relaxed);
        Guard { shared: self, core, was_panicking: std::thread::panicking(), _wakes: Wakes(self) }
    }
    #[cold]
    #[inline(never)]
    fn close_dropped<'a>(&'a self, core: MutexGuard<'a, Core>) -> Guard<'a> {
        let mut guard = self.guard(core);
        guard.close_dropped();
        guard
    }
    /// The state is right again; whether it was poisoned.
    pub(crate) fn heal(&self) -> bool {
        self.poisoned.swap(false, Ordering::Relaxed)
    }
    #[cold]
    fn wake(&self) {
        self.has_wakers.store(false, Ordering::Relaxed);
        let wakers = std::mem::take(&mut *self.wakers.lock());
        if std::thread::panicking() {
            // A second panic would end the process.
            let _ = catch_unwind(AssertUnwindSafe(|| wakers.into_iter().for_each(Waker::wake)));
        } else {
            wakers.into_iter().for_each(Waker::wake);
        }
    }
    /// Queues a session for closing; never waits for the engine, so that a client may be dropped anywhere.
    pub(crate) fn close_later(&self, id: SessionId) {
        self.closing.lock().push(id);
        self.has_closing.store(true, Ordering::Release);
    }
}

/// The engine, entered.
pub(crate) struct Guard<'a> {
    shared: &'a Shared,
    core: MutexGuard<'a, Core>,
    /// Entered while the thread unwinds already: that panic is not ours.
    was_panicking: bool,
    /// Dropped last, when the lock is free.
    _wakes: Wakes<'a>,
}

/// Wakes those whose replies have come.
struct Wakes<'a>(&'a Shared);

impl Drop for Wakes<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.has_wakers.load(Ordering::Relaxed) {
            self.0.wake();
        }
    }
}

impl Guard<'_> {
    #[cold]
    fn close_dropped(&mut self) {
        self.shared.has_closing.store(false, Ordering::Release);
        let ids = std::mem::take(&mut *self.shared.closing.lock());
        for id in ids {
            self.core.forget_wait(id);
            self.core.state.forget_session(id);
        }
    }
    /// Lets the lock go until something is delivered, or the waiting of this session is over by the system's clock.
    #[cold]
    pub(super) fn wait_for_delivery(&mut self, id: SessionId) -> Result<(), Error> {
        self.hand_over();
        let shared = self.shared;
        let limit = if self.core.clock.is_manual() { None } else { self.core.wait_left(id) };
        shared.owner.store(0, Ordering::Relaxed);
        if shared.has_wakers.load(Ordering::Relaxed) {
            // Nobody else may come to wake them. Meanwhile a reply may come: the caller looks again.
            MutexGuard::unlocked(&mut self.core, || shared.wake());
        } else if let Some(limit) = limit {
            shared.delivered.wait_for(&mut self.core, limit);
        } else {
            shared.delivered.wait(&mut self.core);
        }
        shared.owner.store(thread_number(), Ordering::Relaxed);
        if shared.poisoned.load(Ordering::Relaxed) {
            return Err(Error::poisoned());
        }
        if limit.is_some() {
            self.core.settle();
        }
        Ok(())
    }
    /// Tells threads of what was delivered, and keeps those who are to be woken once the lock is free.
    #[cold]
    fn hand_over(&mut self) {
        let deliveries = &mut self.core.deliveries;
        if std::mem::take(&mut deliveries.is_fresh) {
            self.shared.delivered.notify_all();
        }
        if !deliveries.wakers.is_empty() {
            self.shared.wakers.lock().append(&mut deliveries.wakers);
            self.shared.has_wakers.store(true, Ordering::Relaxed);
        }
    }
}

impl Deref for Guard<'_> {
    type Target = Core;
    fn deref(&self) -> &Core {
        &self.core
    }
}

impl DerefMut for Guard<'_> {
    fn deref_mut(&mut self) -> &mut Core {
        &mut self.core
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.core.deliveries.is_fresh {
            self.hand_over();
        }
        if !self.was_panicking && std::thread::panicking() {
            self.shared.poisoned.store(true, Ordering::Relaxed);
            self.core.deliveries.wake_all();
            self.hand_over();
        }
        self.shared.owner.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Client, Engine, Error};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// What every entrance answers now.
    fn refusals(engine: &Engine, client: &mut Client) -> Vec<Error> {
        let call = client.call(["PING"]).err();
        let open = engine.try_client().err();
        let advance = engine.advance(std::time::Duration::ZERO).err();
        call.into_iter().chain(open).chain(advance).collect()
    }

    #[test]
    fn a_call_from_inside_is_an_error_and_leaves_the_engine_well() {
        let engine = Engine::new();
        let mut client = engine.client();
        let inside = engine.shared.lock().expect("nobody is inside");
        let refused = refusals(&engine, &mut client);
        assert_eq!(refused.iter().filter(|error| error.is_reentered()).count(), 3);
        let other = engine.clone();
        let waiting = std::thread::spawn(move || other.client().query::<String, _>(["PING"]));
        drop(client);
        drop(inside);
        assert_eq!(waiting.join().expect("no panic"), Ok("PONG".to_owned()));
        assert!(engine.client().call(["PING"]).is_ok());
    }

    #[test]
    fn a_panic_inside_poisons_the_engine() {
        let engine = Engine::new();
        let mut client = engine.client();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _inside = engine.shared.lock();
            panic!("a unit that does not end");
        }));
        assert!(panicked.is_err());
        let refused = refusals(&engine, &mut client);
        assert_eq!(refused.iter().filter(|error| error.is_poisoned()).count(), 3);
        assert!(refused.iter().all(|error| error.code().is_none() && !error.is_reply()));
    }

    #[test]
    fn a_panic_outside_poisons_nothing() {
        struct CallsWhenDropped(Client);
        impl Drop for CallsWhenDropped {
            fn drop(&mut self) {
                assert!(self.0.call(["SET", "k", "v"]).is_ok());
            }
        }
        let engine = Engine::new();
        let guard = CallsWhenDropped(engine.client());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _guard = guard;
            panic!("not in the engine");
        }));
        assert!(panicked.is_err());
        assert_eq!(engine.client().query::<String, _>(["GET", "k"]), Ok("v".to_owned()));
    }
}
