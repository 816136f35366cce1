//! Every error: `Failure` is what a command answers a client with (all client-visible texts stand here),
//! `Error` is what the Rust API returns: opaque, with predicates. Texts are those of redis-server 7.0.15.

/// Failures with a fixed text, as constants.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl Failure {
            $($(#[$doc])* pub const $name: Failure = Failure::text($text);)*
        }
    };
}

mod cluster;
mod data;
mod payload;
pub(crate) mod scripting;
mod server;
mod users;

use std::borrow::Cow;
pub use users::{Reason, RuleError};

/// Why a command was refused, with the text a client reads.
///
/// The first word is the error code. [`Display`](std::fmt::Display) gives the text without the leading `-`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The key holds a value of another type.
    #[error("WRONGTYPE Operation against a key holding the wrong kind of value")]
    WrongType,
    /// An argument or a stored value is not a 64-bit integer.
    #[error("ERR value is not an integer or out of range")]
    NotInteger,
    /// An argument or a stored value is not a float.
    #[error("ERR value is not a valid float")]
    NotFloat,
    /// An integer argument lies outside what the command takes.
    #[error("ERR value is out of range")]
    OutOfRange,
    /// An integer argument must be positive.
    #[error("ERR value is out of range, must be positive")]
    MustBePositive,
    /// INCR and DECR would leave the range of 64-bit integers.
    #[error("ERR increment or decrement would overflow")]
    Overflow,
    /// The options do not parse.
    #[error("ERR syntax error")]
    Syntax,
    /// A relative or absolute expiry outside what the command takes.
    #[error("ERR invalid expire time in '{0}' command")]
    InvalidExpire(String),
    /// The wrong number of arguments; the name is the full one, as in `config|get`.
    #[error("ERR wrong number of arguments for '{0}' command")]
    Arity(String),
    /// COMMAND GETKEYS of a name that is no command.
    #[error("ERR Invalid command specified")]
    GetKeysOfNoCommand,
    /// COMMAND GETKEYS of a command that has no keys.
    #[error("ERR The command has no key arguments")]
    GetKeysOfKeyless,
    /// COMMAND GETKEYS with too few or too many words for the command.
    #[error("ERR Invalid number of arguments specified for command")]
    GetKeysArity,
    /// COMMAND GETKEYS with words among which no key is found.
    #[error("ERR Invalid arguments specified for command")]
    GetKeysNotFound,
    /// The string would grow over proto-max-bulk-len.
    #[error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")]
    StringTooLong,
    /// The key must exist and does not.
    #[error("ERR no such key")]
    NoSuchKey,
    /// A database number that is not one of the configured databases.
    #[error("ERR DB index is out of range")]
    DbOutOfRange,
    /// No script with this SHA1 is known.
    #[error("NOSCRIPT No matching script. Please use EVAL.")]
    NoScript,
    /// EXEC after a queueing error.
    #[error("EXECABORT Transaction discarded because of previous errors.")]
    ExecAbort,
    /// The memory limit is reached and the command may need more.
    #[error("OOM command not allowed when used memory > 'maxmemory'.")]
    OutOfMemory,
    /// An integer argument lies outside a stated range.
    #[error("ERR value is out of range, value must between {0} and {1}")]
    NotBetween(i64, i64),
    /// Source and destination are the same key of the same database.
    #[error("ERR source and destination objects are the same")]
    SameObject,
    /// The cursor of a SCAN is no unsigned integer.
    #[error("ERR invalid cursor")]
    InvalidCursor,
    /// EXPIRE and the like: NX does not go with the other conditions.
    #[error("ERR NX and XX, GT or LT options at the same time are not compatible")]
    ExpireNxWithOthers,
    /// EXPIRE and the like: GT and LT exclude each other.
    #[error("ERR GT and LT options at the same time are not compatible")]
    ExpireGtWithLt,
    /// OBJECT FREQ needs an eviction policy that counts uses.
    #[error(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
    )]
    NoFrequency,
    /// OBJECT IDLETIME needs an eviction policy that does not count uses.
    #[error(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
    )]
    NoIdleTime,
    /// Any other text, code included.
    #[error("{0}")]
    Text(Cow<'static, str>),
    /// A text that may hold any bytes, code included.
    #[error("{}", String::from_utf8_lossy(.0))]
    Bytes(Vec<u8>),
}

impl Failure {
    /// A failure with a fixed text; the code is part of it, as in `ERR no such key`.
    pub const fn text(text: &'static str) -> Self {
        Failure::Text(Cow::Borrowed(text))
    }

    /// The server's text for a name that is no command.
    #[cold]
    pub fn unknown_command(argv: &[&[u8]]) -> Self {
        let mut args = Vec::new();
        for arg in argv.iter().skip(1) {
            if args.len() >= 128 {
                break;
            }
            args.push(b'\'');
            let room = 128usize.saturating_sub(args.len() - 1);
            args.extend_from_slice(&c_str(arg)[..c_str(arg).len().min(room)]);
            args.extend_from_slice(b"' ");
        }
        let name = c_str(argv.first().copied().unwrap_or_default());
        let mut text = b"ERR unknown command '".to_vec();
        text.extend_from_slice(&name[..name.len().min(128)]);
        text.extend_from_slice(b"', with args beginning with: ");
        text.extend_from_slice(&args);
        Failure::Bytes(text)
    }

    /// The server's text for a subcommand that a container does not have.
    pub fn unknown_subcommand(container: &str, subcommand: &[u8]) -> Self {
        let sub = c_str(subcommand);
        let mut text = b"ERR unknown subcommand '".to_vec();
        text.extend_from_slice(&sub[..sub.len().min(128)]);
        text.extend_from_slice(b"'. Try ");
        text.extend_from_slice(container.to_ascii_uppercase().as_bytes());
        text.extend_from_slice(b" HELP.");
        Failure::Bytes(text)
    }

    /// The server's text for a word that is no option of EXPIRE and the like.
    pub fn unsupported_option(option: &[u8]) -> Self {
        Failure::Bytes([b"ERR Unsupported option ", c_str(option)].concat())
    }

    /// A text around a word that came from outside, shown up to its first NUL as the server does.
    fn with_word(before: &str, word: &[u8], after: &str) -> Self {
        Failure::Bytes([before.as_bytes(), c_str(word), after.as_bytes()].concat())
    }

    /// The text as bytes, exactly as a client gets it but for the replaced line ends.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Failure::Bytes(bytes) => Cow::Borrowed(bytes),
            Failure::Text(text) => Cow::Borrowed(text.as_bytes()),
            other => Cow::Owned(other.to_string().into_bytes()),
        }
    }
}

/// What C's `%s` shows of a byte string: everything before the first NUL.
fn c_str(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// The one error of the Rust API.
///
/// Opaque; ask it with the predicates. An error reply of a command arrives here with its whole text.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

/// What `unwrap` shows: the kind, and its text as text.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            Kind::Reply(text) => f.debug_tuple("Reply").field(&String::from_utf8_lossy(text)).finish(),
            other => other.fmt(f),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Kind {
    #[error("{}", String::from_utf8_lossy(.0))]
    Reply(Vec<u8>),
    #[error("the engine was entered again by the thread that is inside it; use one call after the other")]
    Reentered,
    #[error(
        "the engine is poisoned: a panic left a unit of work unfinished; build a new engine or restore a snapshot"
    )]
    Poisoned,
    #[error(
        "the command would wait, and only its caller could end that, by another call or by advancing the clock: begin it with Client::start, or choose with Builder::blocking what a call does"
    )]
    WouldBlock,
    #[error("the connection is lost: the engine was told to lose requests or replies; heal() ends it")]
    ConnectionLost,
    #[error("the session has ended, by QUIT, CLIENT KILL or too many unread messages; open another one")]
    Closed,
    #[error("cannot read {got} as {want}")]
    Convert { want: &'static str, got: String },
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Breach(String),
}

impl Error {
    /// An error reply with this text, code included.
    pub fn reply(text: &[u8]) -> Self {
        Error(Box::new(Kind::Reply(text.to_vec())))
    }
    #[cold]
    pub(crate) fn reentered() -> Self {
        Error(Box::new(Kind::Reentered))
    }
    #[cold]
    pub(crate) fn poisoned() -> Self {
        Error(Box::new(Kind::Poisoned))
    }
    #[cold]
    pub(crate) fn closed() -> Self {
        Error(Box::new(Kind::Closed))
    }
    #[allow(dead_code, reason = "commands that wait arrive with the list and stream families")]
    pub(crate) fn would_block() -> Self {
        Error(Box::new(Kind::WouldBlock))
    }
    #[cold]
    pub(crate) fn connection_lost() -> Self {
        Error(Box::new(Kind::ConnectionLost))
    }
    pub(crate) fn convert(want: &'static str, got: String) -> Self {
        Error(Box::new(Kind::Convert { want, got }))
    }
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Error(Box::new(Kind::Usage(text.into())))
    }

    #[cold]
    pub(crate) fn breach(text: String) -> Self {
        Error(Box::new(Kind::Breach(text)))
    }

    /// True for an error reply of a command or script.
    pub fn is_reply(&self) -> bool {
        matches!(*self.0, Kind::Reply(_))
    }
    /// The first word of an error reply, as in `WRONGTYPE`; None for an error of the API itself.
    pub fn code(&self) -> Option<&str> {
        let Kind::Reply(text) = &*self.0 else { return None };
        let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
        std::str::from_utf8(&text[..end]).ok()
    }
    /// The whole text of an error reply as bytes; None for an error of the API itself.
    pub fn reply_text(&self) -> Option<&[u8]> {
        match &*self.0 {
            Kind::Reply(text) => Some(text),
            _ => None,
        }
    }
    /// True when a thread that is inside the engine called it again.
    pub fn is_reentered(&self) -> bool {
        matches!(*self.0, Kind::Reentered)
    }
    /// True when an earlier panic left the engine unusable.
    pub fn is_poisoned(&self) -> bool {
        matches!(*self.0, Kind::Poisoned)
    }
    /// True when the session was ended by QUIT, CLIENT KILL or too many unread messages.
    pub fn is_closed(&self) -> bool {
        matches!(*self.0, Kind::Closed)
    }
    /// True when a blocking command had to wait on a clock that only the caller moves.
    pub fn is_would_block(&self) -> bool {
        matches!(*self.0, Kind::WouldBlock)
    }
    /// True when the request or the reply was lost on the way: the command may have run or not.
    pub fn is_connection_lost(&self) -> bool {
        matches!(*self.0, Kind::ConnectionLost)
    }
    /// True when a reply has not the shape that was asked for.
    pub fn is_conversion(&self) -> bool {
        matches!(*self.0, Kind::Convert { .. })
    }
    /// True when a script did not do what its contract promises; the text says what. The script has run.
    pub fn is_breach(&self) -> bool {
        matches!(*self.0, Kind::Breach(_))
    }
    /// True when the API was given something it does not take; the text says what is allowed.
    pub fn is_usage(&self) -> bool {
        matches!(*self.0, Kind::Usage(_))
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::reply(&failure.to_bytes())
    }
}
