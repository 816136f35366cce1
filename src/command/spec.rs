//! A command's row: everything the engine knows about it as data, and the small vocabulary the rows are
//! written in (flags, access flags of keys, ACL categories, key specs). `use crate::command::spec::*` in a
//! family's file brings all of it.
//! Not here: what derives from `usage` (usage.rs), finding keys in an argv (keys.rs), lookup (table.rs).

use super::{Argv, Ctx, Flow, Handler};
use crate::error::Failure;
use crate::reply::Reply;

/// One command, or one subcommand, of the command table.
///
/// A subcommand is a row of its own, named `container|subcommand`; the container is a row without `run`.
/// A row names what differs from [`Spec::BASE`] and ends with `..Spec::BASE`.
pub struct Spec {
    /// The name in lower case: `get`, `config|get`.
    pub name: &'static str,
    /// The syntax, in the notation of `command::usage`; arity and the arguments of COMMAND DOCS derive from it.
    pub usage: &'static str,
    /// The arity as the server counts it, where it is not the one that follows from `usage`; else 0.
    pub arity: i32,
    /// One line of help.
    pub summary: &'static str,
    /// The server's version that introduced the command.
    pub since: &'static str,
    /// The group of COMMAND DOCS and of the CLI's help.
    pub group: Group,
    /// Time complexity in words; empty where the server states none.
    pub complexity: &'static str,
    /// Changes over time: version, what changed.
    pub history: &'static [(&'static str, &'static str)],
    /// Since when the command is deprecated, and what replaces it.
    pub deprecated: Option<(&'static str, &'static str)>,
    /// ACL categories that do not follow from `flags`; by default that of the group.
    pub acl: Acl,
    /// What the command may do and when it may run.
    pub flags: Flags,
    /// Hints for clients and proxies.
    pub tips: &'static [&'static str],
    /// Where the keys are in the arguments and what is done to them.
    pub keys: &'static [KeySpec],
    /// The handler.
    pub run: Handler,
}

impl Spec {
    /// What a row leaves out.
    pub const BASE: Spec = Spec {
        name: "",
        usage: "",
        arity: 0,
        summary: "",
        since: "",
        group: Group::Generic,
        complexity: "",
        history: &[],
        deprecated: None,
        acl: acl::BY_GROUP,
        flags: 0,
        tips: &[],
        keys: &[],
        run: container,
    };

    /// The container's name and the subcommand's, when this is a subcommand.
    pub fn parts(&self) -> (&'static str, Option<&'static str>) {
        match self.name.split_once('|') {
            Some((container, subcommand)) => (container, Some(subcommand)),
            None => (self.name, None),
        }
    }

    /// Whether all of these flags are set.
    pub const fn has(&self, flags: Flags) -> bool {
        self.flags & flags == flags
    }

    /// All ACL categories of the command: its own and those that its flags imply.
    pub const fn categories(&self) -> Acl {
        let mut all = if self.acl == acl::BY_GROUP { self.group.acl() } else { self.acl };
        if self.has(WRITE) {
            all |= acl::WRITE;
        }
        if self.has(READONLY) && all & acl::SCRIPTING == 0 {
            all |= acl::READ;
        }
        if self.has(ADMIN) {
            all |= acl::ADMIN | acl::DANGEROUS;
        }
        if self.has(PUBSUB) {
            all |= acl::PUBSUB;
        }
        if self.has(BLOCKING) {
            all |= acl::BLOCKING;
        }
        all | if self.has(FAST) { acl::FAST } else { acl::SLOW }
    }
}

/// The handler of a container. Lookup resolves the subcommand and arity asks for one, so nothing gets here.
fn container(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    let name = argv.first().copied().unwrap_or_default();
    Err(Failure::Arity(String::from_utf8_lossy(name).to_lowercase()))
}

/// The groups of COMMAND DOCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Group {
    Generic,
    String,
    List,
    Set,
    SortedSet,
    Hash,
    Pubsub,
    Transactions,
    Connection,
    Server,
    Scripting,
    Hyperloglog,
    Cluster,
    Geo,
    Stream,
    Bitmap,
}

impl Group {
    /// The group's name as COMMAND DOCS spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Generic => "generic",
            Group::String => "string",
            Group::List => "list",
            Group::Set => "set",
            Group::SortedSet => "sorted-set",
            Group::Hash => "hash",
            Group::Pubsub => "pubsub",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Scripting => "scripting",
            Group::Hyperloglog => "hyperloglog",
            Group::Cluster => "cluster",
            Group::Geo => "geo",
            Group::Stream => "stream",
            Group::Bitmap => "bitmap",
        }
    }

    /// The ACL category that commands of this group are in unless their row says otherwise.
    const fn acl(self) -> Acl {
        match self {
            Group::Generic => acl::KEYSPACE,
            Group::String => acl::STRING,
            Group::List => acl::LIST,
            Group::Set => acl::SET,
            Group::SortedSet => acl::SORTEDSET,
            Group::Hash => acl::HASH,
            Group::Transactions => acl::TRANSACTION,
            Group::Connection => acl::CONNECTION,
            Group::Scripting => acl::SCRIPTING,
            Group::Hyperloglog => acl::HYPERLOGLOG,
            Group::Geo => acl::GEO,
            Group::Stream => acl::STREAM,
            Group::Bitmap => acl::BITMAP,
            Group::Pubsub | Group::Server | Group::Cluster => acl::NONE,
        }
    }
}

/// A set of command flags: `WRITE | DENYOOM`.
pub type Flags = u32;

pub use flag::*;

/// The command flags, in the order in which the server lists them.
pub mod flag {
    use super::Flags;

    /// Changes the keyspace.
    pub const WRITE: Flags = 1 << 0;
    /// Only reads keys.
    pub const READONLY: Flags = 1 << 1;
    /// Refused when memory is at its limit.
    pub const DENYOOM: Flags = 1 << 2;
    /// Administrative.
    pub const ADMIN: Flags = 1 << 3;
    /// Concerns publish and subscribe.
    pub const PUBSUB: Flags = 1 << 4;
    /// Not to be called from a script.
    pub const NOSCRIPT: Flags = 1 << 5;
    /// May block the client.
    pub const BLOCKING: Flags = 1 << 6;
    /// Allowed while a data set is being loaded.
    pub const LOADING: Flags = 1 << 7;
    /// Allowed on a replica with stale data.
    pub const STALE: Flags = 1 << 8;
    /// Not shown by MONITOR.
    pub const SKIP_MONITOR: Flags = 1 << 9;
    /// Not in the slow log.
    pub const SKIP_SLOWLOG: Flags = 1 << 10;
    /// Implies ASKING in a cluster.
    pub const ASKING: Flags = 1 << 11;
    /// Constant or logarithmic time.
    pub const FAST: Flags = 1 << 12;
    /// Allowed without authentication.
    pub const NO_AUTH: Flags = 1 << 13;
    /// The keys may be absent altogether.
    pub const NO_MANDATORY_KEYS: Flags = 1 << 14;
    /// Refused while a data set is being loaded in the background.
    pub const NO_ASYNC_LOADING: Flags = 1 << 15;
    /// Not allowed inside MULTI.
    pub const NO_MULTI: Flags = 1 << 16;
    /// Never in a row, see `command::keys::legacy_range`: the keys do not all follow from first, last and step.
    pub const MOVABLEKEYS: Flags = 1 << 17;
    /// Allowed while a script that is too slow runs.
    pub const ALLOW_BUSY: Flags = 1 << 18;

    /// Hidden: not marked as a write, yet its effect may be propagated.
    pub const MAY_REPLICATE: Flags = 1 << 24;
    /// Hidden: refused unless the configuration allows it.
    pub const PROTECTED: Flags = 1 << 25;
    /// Hidden: may look at keys that it does not name.
    pub const TOUCHES_ARBITRARY_KEYS: Flags = 1 << 26;
    /// Of the documentation: meant for the server's own use.
    pub const SYSCMD: Flags = 1 << 27;

    /// The names of the flags that COMMAND INFO shows, in its order.
    pub const FLAG_NAMES: [(Flags, &str); 19] = [
        (WRITE, "write"),
        (READONLY, "readonly"),
        (DENYOOM, "denyoom"),
        (ADMIN, "admin"),
        (PUBSUB, "pubsub"),
        (NOSCRIPT, "noscript"),
        (BLOCKING, "blocking"),
        (LOADING, "loading"),
        (STALE, "stale"),
        (SKIP_MONITOR, "skip_monitor"),
        (SKIP_SLOWLOG, "skip_slowlog"),
        (ASKING, "asking"),
        (FAST, "fast"),
        (NO_AUTH, "no_auth"),
        (NO_MANDATORY_KEYS, "no_mandatory_keys"),
        (NO_ASYNC_LOADING, "no_async_loading"),
        (NO_MULTI, "no_multi"),
        (MOVABLEKEYS, "movablekeys"),
        (ALLOW_BUSY, "allow_busy"),
    ];
}

/// A set of ACL categories: `acl::KEYSPACE | acl::DANGEROUS`.
pub type Acl = u32;

/// The ACL categories, in the order in which the server lists them.
#[allow(missing_docs, reason = "the names are the server's")]
pub mod acl {
    use super::Acl;

    /// None but those that the flags imply.
    pub const NONE: Acl = 0;
    pub const KEYSPACE: Acl = 1 << 0;
    pub const READ: Acl = 1 << 1;
    pub const WRITE: Acl = 1 << 2;
    pub const SET: Acl = 1 << 3;
    pub const SORTEDSET: Acl = 1 << 4;
    pub const LIST: Acl = 1 << 5;
    pub const HASH: Acl = 1 << 6;
    pub const STRING: Acl = 1 << 7;
    pub const BITMAP: Acl = 1 << 8;
    pub const HYPERLOGLOG: Acl = 1 << 9;
    pub const GEO: Acl = 1 << 10;
    pub const STREAM: Acl = 1 << 11;
    pub const PUBSUB: Acl = 1 << 12;
    pub const ADMIN: Acl = 1 << 13;
    pub const FAST: Acl = 1 << 14;
    pub const SLOW: Acl = 1 << 15;
    pub const BLOCKING: Acl = 1 << 16;
    pub const DANGEROUS: Acl = 1 << 17;
    pub const CONNECTION: Acl = 1 << 18;
    pub const TRANSACTION: Acl = 1 << 19;
    pub const SCRIPTING: Acl = 1 << 20;
    /// A row's default: the category of its group.
    pub const BY_GROUP: Acl = 1 << 31;

    /// The category of this name, in any case; none for an unknown one.
    pub fn by_name(name: &[u8]) -> Acl {
        (0..)
            .zip(NAMES)
            .find(|(_, known)| name.eq_ignore_ascii_case(known.as_bytes()))
            .map_or(NONE, |(bit, _)| 1 << bit)
    }

    /// The names, in the server's order; the place of a name is the number of its bit.
    pub const NAMES: [&str; 21] = [
        "keyspace",
        "read",
        "write",
        "set",
        "sortedset",
        "list",
        "hash",
        "string",
        "bitmap",
        "hyperloglog",
        "geo",
        "stream",
        "pubsub",
        "admin",
        "fast",
        "slow",
        "blocking",
        "dangerous",
        "connection",
        "transaction",
        "scripting",
    ];
}

/// A set of access flags of a key: `RW | ACCESS | UPDATE`.
pub type Access = u32;

pub use access::*;

/// What a command does to a key: one of RO, RW, OW, RM for the key, and what it does to the user's data in it.
pub mod access {
    use super::Access;

    /// Reads the value, does not change it.
    pub const RO: Access = 1 << 0;
    /// Changes the value or its metadata.
    pub const RW: Access = 1 << 1;
    /// Overwrites the value.
    pub const OW: Access = 1 << 2;
    /// Deletes the key.
    pub const RM: Access = 1 << 3;
    /// Returns, copies or uses the user's data.
    pub const ACCESS: Access = 1 << 4;
    /// Changes the user's data, perhaps depending on its old value.
    pub const UPDATE: Access = 1 << 5;
    /// Adds data without changing or deleting any.
    pub const INSERT: Access = 1 << 6;
    /// Deletes some content explicitly.
    pub const DELETE: Access = 1 << 7;
    /// Not a key, though routed like one.
    pub const NOT_KEY: Access = 1 << 8;
    /// The spec may not find all keys.
    pub const INCOMPLETE: Access = 1 << 9;
    /// The access depends on the arguments.
    pub const VARIABLE_FLAGS: Access = 1 << 10;

    /// The names, in the server's order.
    pub const ACCESS_NAMES: [(Access, &str); 11] = [
        (RO, "RO"),
        (RW, "RW"),
        (OW, "OW"),
        (RM, "RM"),
        (ACCESS, "access"),
        (UPDATE, "update"),
        (INSERT, "insert"),
        (DELETE, "delete"),
        (NOT_KEY, "not_key"),
        (INCOMPLETE, "incomplete"),
        (VARIABLE_FLAGS, "variable_flags"),
    ];
}

/// Where some of a command's keys are: where to begin, and how to go on from there.
///
/// Written `at(1, RO | ACCESS)` for one key at a position, with `.range(..)` or `.counted(..)` for several,
/// `after("STREAMS", 1, ..)` to begin behind a keyword, `unknown(..)` where no rule holds.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// Where the first key, or the count of keys, is.
    pub begin: Begin,
    /// How the keys follow from there.
    pub find: Find,
    /// What is done to these keys.
    pub access: Access,
    /// A remark that COMMAND INFO shows; empty for none.
    pub notes: &'static str,
}

/// Where a key spec begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At this argument.
    Index(i32),
    /// Behind this keyword, looked for from this argument on; a negative position counts from the end and
    /// the search goes backwards.
    Keyword(&'static str, i32),
    /// No rule.
    Unknown,
}

/// How a key spec goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Keys up to `last` (relative to the first; negative: from the end of the arguments), one every `step`
    /// arguments; with `last` -1 and a `limit`, only the first 1/limit of the remaining arguments.
    Range {
        /// The last key.
        last: i32,
        /// The distance between two keys.
        step: i32,
        /// The divisor of the remaining arguments; 0 for none.
        limit: i32,
    },
    /// As many keys as the argument at `count` says, from `first` on, both relative to the beginning.
    Counted {
        /// Where the count is.
        count: i32,
        /// Where the first key is.
        first: i32,
        /// The distance between two keys.
        step: i32,
    },
    /// No rule.
    Unknown,
}

const ONE: Find = Find::Range { last: 0, step: 1, limit: 0 };

/// One key at this argument.
pub const fn at(index: i32, access: Access) -> KeySpec {
    KeySpec { begin: Begin::Index(index), find: ONE, access, notes: "" }
}

/// One key behind this keyword, which is looked for from argument `from` on.
pub const fn after(keyword: &'static str, from: i32, access: Access) -> KeySpec {
    KeySpec { begin: Begin::Keyword(keyword, from), find: ONE, access, notes: "" }
}

/// Keys of which no rule tells where they are.
pub const fn unknown(access: Access) -> KeySpec {
    KeySpec { begin: Begin::Unknown, find: Find::Unknown, access, notes: "" }
}

impl KeySpec {
    /// Several keys: see [`Find::Range`].
    pub const fn range(self, last: i32, step: i32, limit: i32) -> KeySpec {
        KeySpec { find: Find::Range { last, step, limit }, ..self }
    }

    /// A counted number of keys: see [`Find::Counted`].
    pub const fn counted(self, count: i32, first: i32, step: i32) -> KeySpec {
        KeySpec { find: Find::Counted { count, first, step }, ..self }
    }

    /// With a remark for COMMAND INFO.
    pub const fn note(self, notes: &'static str) -> KeySpec {
        KeySpec { notes, ..self }
    }
}
