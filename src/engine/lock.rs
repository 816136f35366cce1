//! The one lock. It knows the thread that holds it, so that a call from inside is an error instead of a deadlock, and
//! remembers a panic that left a unit unfinished.

use super::Core;
use crate::error::Error;
use crate::script::Control;
use crate::store::SessionId;
use parking_lot::{Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What clients and engines share.
#[derive(Debug)]
pub(crate) struct Shared {
    core: Mutex<Core>,
    owner: AtomicUsize,
    poisoned: AtomicBool,
    /// Sessions whose client was dropped: closed when the lock is taken next.
    closing: Mutex<Vec<SessionId>>,
    has_closing: AtomicBool,
    pub(crate) script_control: Arc<Control>,
}

/// A number that differs between threads that run at the same time, and is not 0.
fn thread_number() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

impl Shared {
    pub(crate) fn new(core: Core) -> Self {
        Shared {
            script_control: core.script_control.clone(),
            core: Mutex::new(core),
            owner: AtomicUsize::new(0),
            poisoned: AtomicBool::new(false),
            closing: Mutex::new(Vec::new()),
            has_closing: AtomicBool::new(false),
        }
    }
    /// Enters the engine.
    #[inline]
    pub(crate) fn lock(&self) -> Result<Guard<'_>, Error> {
        let mut guard = self.lock_anyway()?;
        if self.poisoned.load(Ordering::Relaxed) {
            return Err(Error::poisoned());
        }
        if self.has_closing.load(Ordering::Acquire) {
            guard.close_dropped();
        }
        Ok(guard)
    }
    /// Enters the engine, even when it is poisoned: to put all of its state right.
    #[inline]
    pub(crate) fn lock_anyway(&self) -> Result<Guard<'_>, Error> {
        let me = thread_number();
        if self.owner.load(Ordering::Relaxed) == me {
            return Err(Error::reentered());
        }
        let core = self.core.lock();
        self.owner.store(me, Ordering::Relaxed);
        Ok(Guard { shared: self, core })
    }
    /// The state is right again; whether it was poisoned.
    pub(crate) fn heal(&self) -> bool {
        self.poisoned.swap(false, Ordering::Relaxed)
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
}

impl Guard<'_> {
    #[cold]
    fn close_dropped(&mut self) {
        self.shared.has_closing.store(false, Ordering::Release);
        let ids = std::mem::take(&mut *self.shared.closing.lock());
        for id in ids {
            self.core.state.store.unwatch(id);
            self.core.state.sessions.close(id);
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
    #[inline]
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.poisoned.store(true, Ordering::Relaxed);
        }
        self.shared.owner.store(0, Ordering::Relaxed);
    }
}
