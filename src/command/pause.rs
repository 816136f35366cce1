//! CLIENT PAUSE: for a while, commands of clients wait, all of them or those that may write; expiry and eviction wait with
//! them, so that the data stays as it is. Which commands wait is told here, on the call path; how their sessions wait and
//! go on is in `engine::blocking`, the commands are in `commands::pause`.

use super::blocking::{Unblock, WaitOn};
use super::memory::flags_of_all;
use super::spec::{MAY_REPLICATE, WRITE};
use super::table::Row;
use super::{Argv, Ctx, State};

/// What waits, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paused {
    /// What may write, or be told to replicas.
    Writes,
    /// All commands.
    All,
}

/// A pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// What waits.
    pub what: Paused,
    /// Its last instant, in Unix milliseconds.
    pub last_ms: i64,
}

impl State {
    /// Pauses clients. One that goes on already gets no shorter and lets nothing through that it holds back.
    pub(crate) fn pause(&mut self, what: Paused, last_ms: i64) {
        self.end_pause_when_over();
        let before = self.pause.unwrap_or(Pause { what, last_ms });
        self.pause = Some(Pause { what: what.max(before.what), last_ms: last_ms.max(before.last_ms) });
        self.heed_config();
        self.end_pause_when_over();
    }
    /// Ends the pause, whose time may not be over: what has waited goes on, in its order, once the unit is over.
    pub(crate) fn end_pause(&mut self) {
        if self.pause.take().is_none() {
            return;
        }
        self.heed_config();
        for id in std::mem::take(&mut self.postponed) {
            let waits = self.sessions.find(id).and_then(|session| session.blocked.as_ref());
            if waits.is_some_and(|wait| wait.on == WaitOn::Pause) {
                self.unblocked.push((id, Unblock::Resumed));
            }
        }
    }
    /// Ends a pause whose time is over.
    pub(crate) fn end_pause_when_over(&mut self) {
        if self.pause.is_some_and(|pause| pause.last_ms < self.store.now_ms()) {
            self.end_pause();
        }
    }
}

impl Ctx<'_> {
    /// Whether a client's command, which would run or be queued now, has to wait for the end of a pause. Replicas and
    /// those who MONITOR do not, nor does what has begun before, or what runs beside a script.
    #[cold]
    pub(super) fn is_paused(&self, row: &Row, argv: Argv<'_>) -> bool {
        let Some(pause) = self.state.pause else { return false };
        let session = self.session();
        let goes_on = session.replays || session.woken_by.is_some() || self.state.busy.is_some();
        if goes_on || self.is_replica() || self.is_monitor() {
            return false;
        }
        pause.what == Paused::All || flags_of_all(self, row, argv) & (WRITE | MAY_REPLICATE) != 0
    }
}
