//! `.rdb` files: what a real server has saved as the content of an engine, and the other way round. Bytes in, bytes out:
//! where they come from and go to is up to the caller. The format is in `value::rdb`.

use super::{Core, Engine};
use crate::command::libraries::Libraries;
use crate::command::{Origin, REDIS_VERSION, RestorePolicy, State, VmCall};
use crate::commands::functions::LIBRARY;
use crate::error::Error;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
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
        fresh.store.clear();
        fresh.libraries = Libraries::default();
        let mut libraries = Vec::new();
        let thresholds = fresh.config.thresholds();
        file::read(file, &thresholds, |offset, record| match record {
            Record::Library(code) => {
                libraries.push(code);
                Ok(())
            }
            record => add(&mut fresh, offset, record).map_err(RdbError::from),
        })?;
        core.load_libraries(&mut fresh, &libraries)?;
        core.state.store.adopt(&fresh.store);
        core.state.libraries = fresh.libraries;
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
        Ok(save(&core.state))
    }
}

impl Core {
    /// Loads the libraries of a file into a state.
    fn load_libraries(&mut self, state: &mut State, codes: &[Cow<'_, [u8]>]) -> Result<(), RdbError> {
        if codes.is_empty() {
            return Ok(());
        }
        let mut dump = Writer::default();
        for code in codes {
            dump.byte(LIBRARY);
            dump.string(code);
        }
        let dump = dump.finish();
        let (argv, mut out) = ([b"FUNCTION".as_slice(), b"RESTORE", &dump, b"FLUSH"], Reply::new());
        let call = VmCall::RestoreLibraries { policy: RestorePolicy::Flush };
        let id = state.sessions.open(state.store.now_ms());
        let run = self.vm().run(state, id, Origin::Client, &call, &argv, &mut out);
        // What was loaded belongs to that state; it is loaded again when it is called.
        self.vm().forget_libraries();
        run.map_err(|failure| RdbError::Functions(failure.to_string()))
    }
}

/// Adds a key of a file.
fn add(state: &mut State, offset: usize, record: Record<'_>) -> Result<(), Broken> {
    let Record::Key { db, key, value, attributes } = record else { return Ok(()) };
    let store = &mut state.store;
    let known = u32::try_from(db).ok().filter(|&db| db < store.databases());
    let db = known.ok_or(Broken { offset, fault: Fault::Database(db) })?;
    if attributes.expire_at_ms.is_some_and(|at_ms| at_ms < store.now_ms()) {
        return Ok(());
    }
    if store.contains(db, &key) {
        return Err(Broken { offset, fault: Fault::Duplicate });
    }
    let expiry = attributes.expire_at_ms.map_or(Expiry::Clear, Expiry::At);
    store.put(db, &key, value, expiry, Event::generic("loaded"));
    store.set_use(db, &key, attributes.idle_s, attributes.frequency);
    Ok(())
}

fn save(state: &State) -> Vec<u8> {
    let (store, thresholds) = (&state.store, state.config.thresholds());
    let (now_ms, memory) = (store.now_ms(), store.memory());
    let mut file = FileWriter::new(REDIS_VERSION, now_ms.div_euclid(1000));
    state.libraries.iter().for_each(|library| file.library(&library.code));
    for db in 0..store.databases() {
        let live = || store.entries(db).filter(|entry| !entry.is_expired(now_ms));
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
