//! Reading the journal of an engine, and applying one to an engine. What is in it is in `store::journal`.

use super::lock::Shared;
use super::{Core, Engine};
use crate::command::Origin;
use crate::error::Error;
use crate::reply::Reply;
use crate::store::{JournalEntry, SessionId, Subscription};
use std::sync::Arc;

/// A reader of an engine's journal, see [`Engine::subscribe_journal`].
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    subscription: Subscription,
}

impl Journal {
    /// What was written since the last call, oldest first.
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub fn take(&self) -> Result<Vec<JournalEntry>, Error> {
        Ok(self.shared.lock()?.state.store.take_journal(&self.subscription))
    }
}

impl Engine {
    /// Starts to read the journal: each write from now on in the form in which a server propagates it, so that it
    /// does not depend on time, chance or what was there before. Each reader gets all; what nobody reads is not kept.
    /// Dropping the reader ends it.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// let journal = engine.subscribe_journal()?;
    /// engine.client().call(["SET", "lock", "me", "NX", "PX", "1500"])?;
    /// assert_eq!(journal.take()?[0].to_string(), "SET lock me PXAT 1704067201500");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub fn subscribe_journal(&self) -> Result<Journal, Error> {
        let subscription = self.shared.lock()?.state.store.subscribe_journal();
        Ok(Journal { shared: self.shared.clone(), subscription })
    }
    /// Applies a journal, unit by unit, each at the time at which it was written. A manual clock that is behind the
    /// last entry then moves on to it, and what is due expires.
    ///
    /// # Errors
    /// When a command is refused (what came before it stays applied) or a database does not exist; else as
    /// [`subscribe_journal`](Self::subscribe_journal).
    pub fn replay<'a>(&self, entries: impl IntoIterator<Item = &'a JournalEntry>) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        let now_ms = core.clock.now_ms();
        let id = core.state.sessions.open(now_ms);
        core.state.sessions.get_mut(id).replays = true;
        let result = core.replay(id, &mut entries.into_iter());
        core.state.forget_session(id);
        core.settle();
        result
    }
}

impl Core {
    fn replay(
        &mut self,
        id: SessionId,
        entries: &mut dyn Iterator<Item = &JournalEntry>,
    ) -> Result<(), Error> {
        let mut unit = None;
        let mut out = Reply::new();
        for entry in entries {
            if unit != Some(entry.unit) {
                self.finish_unit();
                self.state.store.begin_unit(entry.now_ms.max(0).saturating_mul(1000));
                self.clock.catch_up(entry.now_ms);
                unit = Some(entry.unit);
            }
            if entry.is_bracket() {
                continue;
            }
            if entry.db >= self.state.store.databases() {
                return Err(Error::usage(format!("the journal writes to database {}", entry.db)));
            }
            self.state.sessions.get_mut(id).db = entry.db;
            let argv: Vec<&[u8]> = entry.argv.iter().map(Vec::as_slice).collect();
            out.clear();
            self.run(id, Origin::Exec, &argv, &mut out);
            if let Some(text) = out.error_message() {
                return Err(Error::reply(text));
            }
        }
        Ok(())
    }
}
