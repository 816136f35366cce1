//! The state of an engine as a value: to keep it, to go back to it, to go on from it twice, to compare it.
//! All share keys and values with the engine until one side writes. What differs is found in `store::diff`.

#[cfg(feature = "sim")]
use super::Client;
use super::blocking::{Blocking, Deliveries};
use super::lock::Shared;
use super::{Core, Engine};
use crate::command::State;
#[cfg(feature = "sim")]
use crate::command::session::SCRIPT_SESSION;
use crate::error::Error;
use crate::script::Settings;
use crate::store::Change;
use crate::util::clock::Clock;
use crate::util::lrand48::Lrand48;
use crate::util::rng::Rng;
use std::sync::Arc;

/// The state of an engine at one time: databases, scripts, libraries, settings, counters, generators and the time.
/// Sessions are not part of it.
///
/// Cheap to take and to clone: nothing is copied that the engine does not change later.
#[derive(Debug, Clone)]
pub struct Snapshot {
    kept: Arc<Kept>,
}

#[derive(Debug)]
struct Kept {
    state: State,
    /// Stands at the time of the snapshot when the engine's clock is manual.
    clock: Clock,
    script_settings: Settings,
    blocking: Blocking,
}

impl Snapshot {
    /// What differs in `after`: keys with their values and expiry, in the order of databases and keys. Keys whose
    /// time is over do not count. Each change prints as one line.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// let mut client = engine.client();
    /// client.call(["SET", "stock", "10"])?;
    /// let before = engine.snapshot()?;
    /// client.call(["DECR", "stock"])?;
    /// let changes = before.diff(&engine.snapshot()?);
    /// assert_eq!(changes[0].to_string(), r#"~ stock string "10" -> "9""#);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    pub fn diff(&self, after: &Snapshot) -> Vec<Change> {
        self.kept.state.store.diff(&after.kept.state.store)
    }
    /// Whether both hold the same keys with the same values and expiry, however they are represented, and the same
    /// libraries of functions.
    pub fn same_data(&self, other: &Snapshot) -> bool {
        self.kept.state.libraries.same(&other.kept.state.libraries) && self.diff(other).is_empty()
    }
    /// See [`Engine::state_hash`].
    pub fn state_hash(&self) -> u64 {
        digest(&self.kept.state)
    }
    /// The clock that forks get copies of.
    #[cfg(feature = "sim")]
    pub(crate) fn clock(&self) -> &Clock {
        &self.kept.clock
    }
    /// The time of the snapshot in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.kept.state.store.now_ms()
    }
    /// A new engine that goes on from here: see [`Engine::fork`].
    pub fn fork(&self) -> Engine {
        let Kept { state, clock, script_settings, blocking } = &*self.kept;
        Engine::from_parts(state.detached(), clock.standing(), script_settings.clone(), *blocking)
    }
}

impl Engine {
    /// Begins all chance anew: it is that of a fresh engine with this seed, and `math.random` has a place of its own for
    /// each seed.
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub(crate) fn reseed(&self, seed: u64) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        core.state.store.rng = Rng::new(seed);
        core.state.scripts.random = Lrand48::default();
        if seed != 0 {
            core.state.scripts.random.reseed(Rng::new(seed).next_u64() as i32);
        }
        Ok(())
    }
    /// The state as it is now.
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let core = self.now()?;
        let kept = Kept {
            state: core.state.detached(),
            clock: core.clock.standing(),
            script_settings: core.script_settings.clone(),
            blocking: core.blocking,
        };
        Ok(Snapshot { kept: Arc::new(kept) })
    }
    /// Goes back to a snapshot, of this engine or another one: databases, scripts, settings, counters, generators,
    /// and the time of a manual clock (for all that share it). Sessions stay open; to those that watch a key it has
    /// changed, and those that wait go on waiting. Readers of the journal are not told. An engine that a panic poisoned
    /// works again; the calls that waited in it have failed.
    ///
    /// # Errors
    /// When the snapshot has another number of databases, or this thread is inside the engine.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let mut core = self.shared.lock_anyway()?;
        let Kept { state, clock, .. } = &*snapshot.kept;
        if core.state.store.databases() != state.store.databases() {
            return Err(Error::usage("the snapshot has another number of databases than the engine"));
        }
        if self.shared.heal() {
            core.vm = None;
            core.close_broken_unit();
        }
        core.state.adopt(state);
        core.clock.set_as(clock);
        core.look_again();
        if let Some(vm) = &mut core.vm {
            vm.forget_libraries();
        }
        Ok(())
    }
    /// A new engine with a copy of the state: same databases, scripts, settings and generators, and no sessions. A
    /// manual clock is copied too: the new one stands at the same time and is moved on its own. Neither side sees
    /// what the other one does from now on.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    pub fn fork(&self) -> Result<Engine, Error> {
        let core = self.now()?;
        let settings = core.script_settings.clone();
        Ok(Engine::from_parts(core.state.detached(), core.clock.standing(), settings, core.blocking))
    }
    /// Goes back to a snapshot that this engine was forked from, to what a new fork of it would be. Since then only commands
    /// on keys, transactions and scripts may have run, whose effects are put back here and which cost less than a fork. The
    /// sessions of its clients, which are all there are, are closed: they need [`reopen`](Self::reopen). False when there is
    /// more than that to put back.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    #[cfg(feature = "sim")]
    pub(crate) fn rewind<'c>(
        &self,
        snapshot: &Snapshot,
        clients: impl Iterator<Item = &'c mut Client>,
    ) -> Result<bool, Error> {
        let mut core = self.shared.lock()?;
        for client in clients {
            let id = std::mem::replace(&mut client.id, SCRIPT_SESSION);
            core.forget_wait(id);
            core.state.forget_session(id);
        }
        let Kept { state, clock, .. } = &*snapshot.kept;
        if core.fault.is_some() || core.image.is_some() || core.has_moved || !core.state.rewind(state) {
            return Ok(false);
        }
        core.clock.set_as(clock);
        core.deliveries = Deliveries::default();
        core.begin_unit();
        core.finish_unit();
        Ok(true)
    }
    /// 64 bits that tell what the databases hold (keys, values, expiry; not keys whose time is over, and not how
    /// anything is represented) and which libraries of functions there are. Engines that hold the same have the same hash, whatever their seeds. After a small
    /// change it costs little.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    pub fn state_hash(&self) -> Result<u64, Error> {
        Ok(digest(&self.now()?.state))
    }
    /// The engine, entered, with the store at the clock's time.
    pub(super) fn now(&self) -> Result<impl std::ops::DerefMut<Target = Core> + '_, Error> {
        let mut core = self.shared.lock()?;
        let now_us = core.clock.now_us();
        core.state.store.begin_unit(now_us);
        Ok(core)
    }
    pub(super) fn from_parts(
        mut state: State,
        clock: Clock,
        script_settings: Settings,
        blocking: Blocking,
    ) -> Self {
        state.measures = !clock.is_manual();
        state.attend();
        // In one expression: each name on the way would be another copy of all of it.
        Engine {
            shared: Arc::new(Shared::new(Core {
                state,
                vm: None,
                looked_us: clock.now_us(),
                clock,
                has_moved: false,
                fault: None,
                image: None,
                has_shut_down: false,
                fronts: Vec::new(),
                blocking,
                deliveries: Deliveries::default(),
                script_settings,
                script_control: Arc::default(),
            })),
        }
    }
}

fn digest(state: &State) -> u64 {
    state.store.digest().wrapping_add(state.libraries.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restoring_heals_an_engine_that_a_panic_poisoned() {
        let engine = Engine::new();
        engine.client().call(["SET", "k", "v"]).expect("SET works");
        let kept = engine.snapshot().expect("an engine that works");
        let inside = engine.clone();
        let panic = std::thread::spawn(move || {
            let _guard = inside.shared.lock();
            panic!("inside the engine");
        });
        assert!(panic.join().is_err());
        assert!(engine.snapshot().expect_err("a poisoned engine").is_poisoned());
        engine.restore(&kept).expect("a snapshot that fits");
        assert_eq!(engine.client().query::<String, _>(["GET", "k"]), Ok("v".to_owned()));
    }
}
