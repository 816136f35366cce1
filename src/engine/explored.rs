//! What an exploration of schedules asks of the engine: what a command may touch, whether a transaction is broken already,
//! and which moments the clock could move to.

use super::{Client, Engine};
use crate::command::keys;
use crate::command::spec::{Group, INSERT, OW, RM, RW, Spec, UPDATE};
use crate::error::Error;

/// What a command does to what others see, as far as its words tell.
pub(crate) enum Touch<'a> {
    /// These keys, and whether each is written.
    Keys(Vec<(&'a [u8], bool)>),
    /// The session alone.
    Session,
    /// Anything.
    All,
}

/// Commands without keys whose effect and reply are the session's own affair.
const OWN: [&str; 12] = [
    "multi",
    "discard",
    "unwatch",
    "ping",
    "echo",
    "select",
    "hello",
    "auth",
    "reset",
    "quit",
    "readonly",
    "readwrite",
];

/// Whether a command changes nothing but what [`Engine::rewind`] puts back.
pub(crate) fn is_rewindable(argv: &[&[u8]]) -> bool {
    const BESIDE: [&str; 6] = ["eval", "evalsha", "eval_ro", "evalsha_ro", "ping", "echo"];
    let Ok(row) = crate::commands::table().resolve(argv) else { return true };
    let is_of_keys = match row.spec.group {
        Group::Generic | Group::String | Group::List | Group::Set | Group::SortedSet | Group::Hash => true,
        Group::Hyperloglog | Group::Geo | Group::Stream | Group::Bitmap | Group::Transactions => true,
        Group::Pubsub | Group::Connection | Group::Server | Group::Scripting | Group::Cluster => false,
    };
    is_of_keys || BESIDE.contains(&row.spec.name)
}

impl Client {
    /// What the command touches; one that is unknown or called wrongly touches nothing but its session.
    pub(crate) fn touch_of<'a>(&self, argv: &[&'a [u8]]) -> Result<Touch<'a>, Error> {
        let core = self.shared.lock()?;
        let Ok(row) = core.state.table.resolve(argv) else { return Ok(Touch::Session) };
        let spec: &Spec = row.spec;
        if !row.takes(argv.len()) || OWN.contains(&spec.name) {
            return Ok(Touch::Session);
        }
        if !keys::has_keys(spec) {
            return Ok(Touch::All);
        }
        let writes = |access| access & (RW | OW | RM | INSERT | UPDATE) != 0;
        Ok(Touch::Keys(
            keys::find(spec, argv).into_iter().map(|key| (argv[key.at], writes(key.access))).collect(),
        ))
    }
    /// Whether EXEC would do nothing, as a watched key has changed.
    pub(crate) fn is_watch_broken(&self) -> Result<bool, Error> {
        Ok(self.shared.lock()?.state.store.watch_is_broken(self.id))
    }
    /// The first moment at which the time of a call that waits is over.
    pub(crate) fn wait_ends_ms(&self) -> Result<Option<i64>, Error> {
        let core = self.shared.lock()?;
        let wait = core.state.sessions.get(self.id).blocked.as_ref();
        Ok(wait.and_then(|wait| wait.deadline_ms).map(|last_ms| last_ms.saturating_add(1)))
    }
}

impl Engine {
    /// Whether there are keys.
    pub(crate) fn holds_keys(&self) -> Result<bool, Error> {
        let core = self.shared.lock()?;
        let store = &core.state.store;
        Ok(!store.is_empty())
    }
    /// The first moment at which a key is gone that is there now.
    pub(crate) fn next_expiry_ms(&self) -> Result<Option<i64>, Error> {
        Ok(self.shared.lock()?.state.store.first_expiry_ms().map(|last_ms| last_ms.saturating_add(1)))
    }
}
