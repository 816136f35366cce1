//! What an exploration of schedules asks of the engine: what a command may touch, whether a transaction is broken already,
//! and which moments the clock could move to.

use super::{Client, Engine};
use crate::command::keys;
use crate::command::spec::{Group, INSERT, OW, RM, RW, Spec, UPDATE};
use crate::error::Error;
use crate::value::Value;

/// What a command does to what others see, as far as its words tell.
pub(crate) enum Touch<'a> {
    /// These keys, and whether each is written.
    Keys(Vec<(&'a [u8], bool)>),
    /// The session alone.
    Session,
    /// Anything.
    All,
}

/// What the reply of a command tells beside what databases hold and the time. A search that leaves schedules out takes
/// those for equal between which nothing else differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sees {
    /// Nothing more.
    Contents,
    /// How a value came about: the order of what is in none, how it is kept; or the number of a connection.
    Making,
    /// What any other command may change: the order of keys, the generator, when a key was used, the memory in use.
    All,
}

/// What a key holds.
pub(crate) enum Glance {
    /// A string.
    Text(Vec<u8>),
    /// Something of this type.
    Other(&'static str),
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

/// What the command touches; one that is unknown or called wrongly touches nothing but its session.
pub(crate) fn touch_of<'a>(argv: &[&'a [u8]]) -> Touch<'a> {
    let Ok(row) = crate::commands::table().resolve(argv) else { return Touch::Session };
    let spec: &Spec = row.spec;
    if !row.takes(argv.len()) || OWN.contains(&spec.name) {
        return Touch::Session;
    }
    if !keys::has_keys(spec) || reads_others(spec.name, argv) {
        return Touch::All;
    }
    let writes = |access| access & (RW | OW | RM | INSERT | UPDATE) != 0;
    Touch::Keys(keys::find(spec, argv).into_iter().map(|key| (argv[key.at], writes(key.access))).collect())
}

/// What a command sees beside what databases hold.
pub(crate) fn sees(argv: &[&[u8]]) -> Sees {
    const TIPS: [&str; 2] = ["nondeterministic_output", "nondeterministic_output_order"];
    let Ok(row) = crate::commands::table().resolve(argv) else { return Sees::Contents };
    let container = row.spec.name.split('|').next().unwrap_or_default();
    match row.spec.name {
        // How much goes depends on how the entries lie.
        "xadd" | "xtrim" if argv.contains(&&b"~"[..]) => Sees::Making,
        // What these answer follows from the time and from what the key holds.
        "xadd" | "xtrim" | "xautoclaim" | "xclaim" | "xpending" | "xinfo|consumers" => Sees::Contents,
        "ttl" | "pttl" | "time" | "lastsave" => Sees::Contents,
        "sort" | "sort_ro" | "memory|usage" | "xinfo|stream" | "hello" | "client|id" => Sees::Making,
        "object|freq" | "object|idletime" | "migrate" => Sees::All,
        "spop" | "srandmember" | "hrandfield" | "zrandmember" => Sees::All,
        _ => match container {
            "client" | "config" | "debug" | "info" | "latency" | "memory" | "slowlog" => Sees::All,
            _ if !row.spec.tips.iter().any(|tip| TIPS.contains(tip)) => Sees::Contents,
            _ if keys::has_keys(row.spec) => Sees::Making,
            _ => Sees::All,
        },
    }
}

/// Whether a command reads keys that its words do not name.
fn reads_others(name: &str, argv: &[&[u8]]) -> bool {
    let is_pattern = |word: &&[u8]| word.eq_ignore_ascii_case(b"by") || word.eq_ignore_ascii_case(b"get");
    matches!(name, "sort" | "sort_ro") && argv.iter().skip(2).any(is_pattern)
}

impl Client {
    /// Whether EXEC would do nothing, as a watched key has changed.
    pub(crate) fn is_watch_broken(&self) -> Result<bool, Error> {
        Ok(self.shared.lock()?.state.store.watch_is_broken(self.id))
    }
    /// The first moment at which the time of a call that waits is over.
    pub(crate) fn wait_ends_ms(&self) -> Result<Option<i64>, Error> {
        let last_ms = self.shared.lock()?.wait_deadline_ms(self.id);
        Ok(last_ms.map(|last_ms| last_ms.saturating_add(1)))
    }
}

impl Engine {
    /// Opens sessions for clients that have none since the engine was rewound, in this order.
    pub(crate) fn reopen<'c>(&self, clients: impl Iterator<Item = &'c mut Client>) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        let now_ms = core.clock.now_ms();
        clients.for_each(|client| client.id = core.state.open_session(now_ms, None));
        Ok(())
    }
    /// What a key holds if that is a string, or else its type; none when it is not there. Changes nothing at all.
    pub(crate) fn glance(&self, key: &[u8]) -> Result<Option<Glance>, Error> {
        let core = self.now()?;
        let entry =
            core.state.store.peek(0, key).filter(|entry| !entry.is_expired(core.state.store.now_ms()));
        Ok(entry.map(|entry| match entry.value() {
            Value::String(text) => Glance::Text(text.to_vec()),
            other => Glance::Other(other.type_name()),
        }))
    }
    /// Whether keys may go to make room for others.
    pub(crate) fn is_bounded(&self) -> Result<bool, Error> {
        Ok(self.shared.lock()?.state.config.memory.maxmemory > 0)
    }
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
