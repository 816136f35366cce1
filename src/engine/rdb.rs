//! `.rdb` files: what a real server has saved as the content of an engine, and the other way round. Bytes in, bytes out:
//! where they come from and go to is up to the caller. The format is in `value::rdb`.

use super::{Core, Engine};
use crate::command::host::Saving;
use crate::command::libraries::Libraries;
use crate::command::{Origin, REDIS_VERSION, RestorePolicy, State, VmCall};
use crate::commands::functions::LIBRARY;
use crate::error::Error;
use crate::reply::Reply;
use crate::store::{Entry, Event, Expiry};
use crate::value::rdb::file::{self, Attributes, FileWriter, Record};
use crate::value::rdb::{Broken, Fault, Writer};
use std::borrow::Cow;

/// Why an `.rdb` file was not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RdbError {
    /// The bytes are not such a file, or hold what no engine can: the fault and its place.
    #[error("the .rdb file cannot be loaded: {0}")]
    Broken(#[from] Broken),
    /// A library of functions in it does not load.
    #[error("the .rdb file cannot be loaded: its functions: {0}")]
    Functions(String),
    /// The engine cannot be entered.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl Engine {
    /// Loads what a server has saved, from the bytes of its `.rdb` file (of any server up to 7.0), in place of all that
    /// the databases hold and of all libraries of functions. Keys whose time is over by the engine's clock are passed
    /// over, as by a server that starts. Sessions, settings and the clock stay; to those that watch a key it has changed;
    /// readers of the journal are not told.
    ///
    /// # Errors
    /// When the file is broken, holds values of modules or more databases than the engine has, or a library does not
    /// load. The engine is then as it was.
    pub fn load_rdb(&self, file: &[u8]) -> Result<(), RdbError> {
        let mut guard = self.shared.lock()?;
        let core: &mut Core = &mut guard;
        core.state.store.begin_unit(core.clock.now_us());
        let mut fresh = core.state.detached();
        fresh.forget_data();
        core.load_into(&mut fresh, file, Loading::default())?;
        core.take_data(fresh);
        core.look_again();
        Ok(())
    }
    /// All databases and libraries of functions as an `.rdb` file, which a server of version 7.0 loads.
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub fn save_rdb(&self) -> Result<Vec<u8>, Error> {
        let mut guard = self.shared.lock()?;
        let core: &mut Core = &mut guard;
        core.state.store.begin_unit(core.clock.now_us());
        Ok(save(&core.state, Overdue::Pass))
    }
}

/// What becomes of keys whose time is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Overdue {
    /// They are passed over.
    #[default]
    Pass,
    /// They are taken like the others.
    Keep,
}

/// How a file is loaded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loading {
    /// What is there already gives way to what is in the file; else it is an error.
    pub(super) merge: bool,
    pub(super) overdue: Overdue,
}

impl State {
    /// Forgets all keys and libraries.
    pub(super) fn forget_data(&mut self) {
        self.store.clear();
        self.libraries = Libraries::default();
    }
}

impl Core {
    /// Adds what is in a file to a state apart.
    pub(super) fn load_into(
        &mut self,
        state: &mut State,
        file: &[u8],
        loading: Loading,
    ) -> Result<(), RdbError> {
        let mut libraries = Vec::new();
        (state.saving.load_taken, state.saving.load_expired) = (0, 0);
        let thresholds = state.config.thresholds();
        file::read(file, &thresholds, |offset, record| match record {
            Record::Library(code) => {
                libraries.push(code);
                Ok(())
            }
            record => add(state, loading, offset, record).map_err(RdbError::from),
        })?;
        let policy = if loading.merge { RestorePolicy::Replace } else { RestorePolicy::Append };
        self.load_libraries(state, policy, &libraries)
    }
    /// Takes over keys and libraries of a state apart.
    pub(super) fn take_data(&mut self, fresh: State) {
        let changes = self.state.changes_since_save();
        self.state.store.take_content(&fresh.store);
        self.state.saving.saved_dirty = self.state.store.dirty().saturating_sub(changes);
        self.state.libraries = fresh.libraries;
        let Saving { load_taken, load_expired, .. } = fresh.saving;
        (self.state.saving.load_taken, self.state.saving.load_expired) = (load_taken, load_expired);
        if let Some(vm) = &mut self.vm {
            vm.forget_libraries();
        }
    }
    /// Loads the libraries of a file into a state.
    fn load_libraries(
        &mut self,
        state: &mut State,
        policy: RestorePolicy,
        codes: &[Cow<'_, [u8]>],
    ) -> Result<(), RdbError> {
        if codes.is_empty() {
            return Ok(());
        }
        let mut dump = Writer::default();
        for code in codes {
            dump.byte(LIBRARY);
            dump.string(code);
        }
        let dump = dump.finish();
        let (argv, mut out) = ([b"FUNCTION".as_slice(), b"RESTORE", &dump], Reply::new());
        let call = VmCall::RestoreLibraries { policy };
        let id = state.sessions.open(state.store.now_ms());
        let run = self.vm().run(state, id, Origin::Client, &call, &argv, &mut out);
        // What was loaded belongs to that state; it is loaded again when it is called.
        self.vm().forget_libraries();
        run.map_err(|failure| RdbError::Functions(failure.to_string()))
    }
}

/// Adds a key of a file.
fn add(state: &mut State, loading: Loading, offset: usize, record: Record<'_>) -> Result<(), Broken> {
    let Record::Key { db, key, value, attributes } = record else { return Ok(()) };
    let store = &mut state.store;
    let known = u32::try_from(db).ok().filter(|&db| db < store.databases());
    let db = known.ok_or(Broken { offset, fault: Fault::Database(db) })?;
    let is_overdue = attributes.expire_at_ms.is_some_and(|at_ms| at_ms < store.now_ms());
    if is_overdue && loading.overdue == Overdue::Pass {
        state.saving.load_expired += 1;
        return Ok(());
    }
    if loading.merge {
        store.forget(db, &key);
    } else if store.contains(db, &key) {
        return Err(Broken { offset, fault: Fault::Duplicate });
    }
    let expiry = attributes.expire_at_ms.map_or(Expiry::Clear, Expiry::At);
    store.put(db, &key, value, expiry, Event::generic("loaded"));
    store.set_use(db, &key, attributes.idle_s, attributes.frequency);
    state.saving.load_taken += 1;
    Ok(())
}

/// The whole state as a file.
pub(super) fn save(state: &State, overdue: Overdue) -> Vec<u8> {
    let (store, thresholds) = (&state.store, state.config.thresholds());
    let (now_ms, memory) = (store.now_ms(), store.memory());
    let mut file = FileWriter::new(REDIS_VERSION, now_ms.div_euclid(1000));
    state.libraries.iter().for_each(|library| file.library(&library.code));
    for db in 0..store.databases() {
        let is_taken = |entry: &&Entry| overdue == Overdue::Keep || !entry.is_expired(now_ms);
        let live = || store.entries(db).filter(is_taken);
        let keys = live().count();
        if keys == 0 {
            continue;
        }
        file.database(db.into(), keys, live().filter(|entry| entry.expire_at_ms().is_some()).count());
        for entry in live() {
            let attributes = Attributes {
                expire_at_ms: entry.expire_at_ms(),
                idle_s: memory.policy.notes_idle_time().then(|| entry.idle_s(now_ms)),
                frequency: memory.policy.counts().then(|| entry.frequency(now_ms, memory.lfu_decay_time)),
            };
            file.key(entry.key(), entry.value(), attributes, &thresholds);
        }
    }
    file.finish()
}
