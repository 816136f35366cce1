//! Waiting for keys: what a blocking command hands to the engine when it finds nothing, and how its timeout is read.
//! The engine (`engine::blocking`) keeps the session blocked, and runs the same words again when a key was written.

use super::{Argv, Ctx, Flow, Origin};
use crate::error::Failure;
use crate::util::bytes::Bytes;
use crate::util::long_double::LongDouble;

/// What a session waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// What a key has to hold.
    pub on: WaitOn,
    /// The keys; any of them will do.
    pub keys: Vec<Bytes>,
    /// The last instant of waiting, in Unix milliseconds; None to wait for ever.
    pub deadline_ms: Option<i64>,
    /// The command that runs again.
    pub argv: Vec<Box<[u8]>>,
}

/// What a key has to hold so that a waiting command can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitOn {
    /// A list.
    List,
    /// A sorted set.
    ZSet,
    /// A stream.
    Stream,
    /// A stream; its going ends the waiting.
    Group,
    /// So many replicas, of which there is none: its time ends the waiting.
    Replicas,
    /// The end of a pause: nothing has run yet.
    Pause,
}

impl WaitOn {
    /// The type of value that is waited for; None for none.
    pub fn type_name(self) -> Option<&'static str> {
        match self {
            WaitOn::List => Some("list"),
            WaitOn::ZSet => Some("zset"),
            WaitOn::Stream | WaitOn::Group => Some("stream"),
            WaitOn::Replicas | WaitOn::Pause => None,
        }
    }
    /// Whether a value of this type may serve the command.
    pub fn serves(self, type_name: Option<&str>) -> bool {
        self.type_name().is_some() && type_name == self.type_name()
    }
}

/// How the waiting of a session ends when no key serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unblock {
    /// As if its time were over.
    Timeout,
    /// With an error, by CLIENT UNBLOCK.
    Error,
    /// The stream that a reader of a group waited for is gone.
    StreamGone,
    /// The engine has become a replica: the session ends with its reply.
    RoleChanged,
    /// The slot of its keys has gone to another node, or to none.
    Redirected,
    /// The pause is over that held back its command.
    Resumed,
    /// The session has ended.
    Closed,
}

/// A timeout in seconds, as BLPOP takes it: the last instant of waiting, None for 0.
///
/// # Errors
/// No float, a negative one.
pub fn timeout_in_seconds(cx: &Ctx<'_>, word: &[u8]) -> Result<Option<i64>, Failure> {
    let seconds = LongDouble::parse(word).ok_or(Failure::TIMEOUT_NOT_FLOAT)?;
    deadline(cx, seconds.scale(1000).ceil_to_i64())
}

/// A timeout in milliseconds, as XREAD takes it.
///
/// # Errors
/// No integer, a negative one.
pub fn timeout_in_milliseconds(cx: &Ctx<'_>, word: &[u8]) -> Result<Option<i64>, Failure> {
    deadline(cx, super::args::int(word).map_err(|_| Failure::TIMEOUT_NOT_INTEGER)?)
}

fn deadline(cx: &Ctx<'_>, ms: i64) -> Result<Option<i64>, Failure> {
    match ms {
        ..0 => Err(Failure::TIMEOUT_NEGATIVE),
        0 => Ok(None),
        _ => Ok(Some(cx.now_ms().saturating_add(ms))),
    }
}

impl Ctx<'_> {
    /// Whether the caller can be made to wait: not in a transaction, not in a script.
    pub fn can_block(&self) -> bool {
        self.origin == Origin::Client && !self.session().replays
    }
    /// Whether a blocking command may take from this key: any, unless it was woken by one.
    pub fn may_take_from(&self, key: &[u8]) -> bool {
        self.session().woken_by.as_ref().is_none_or(|woken_by| **woken_by == *key)
    }
    /// Lets the session wait for keys; these words run again when one of them was written.
    pub fn wait(&self, on: WaitOn, keys: &[&[u8]], deadline_ms: Option<i64>, argv: Argv<'_>) -> Flow {
        Flow::Wait(Box::new(Wait {
            on,
            keys: keys.iter().map(|key| Bytes::from(*key)).collect(),
            deadline_ms,
            argv: argv.iter().map(|word| Box::from(*word)).collect(),
        }))
    }
}
