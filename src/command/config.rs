//! The settings that CONFIG shows and changes, as far as the engine has what they set: the values, and a table of the
//! names with what each takes. The command itself is in `commands::configuration`.

use super::output_limits::OutputLimits;
use crate::store::{Classes, MemorySettings, Policy};
use crate::util::num::{parse_i64, parse_memory};
use crate::value::packed::Limits;
use crate::value::rdb::Thresholds;
use crate::value::stream::NodeLimits;

/// Settings of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How long a script runs before the server answers BUSY, in milliseconds: busy-reply-threshold.
    pub busy_reply_threshold: u64,
    /// hash-max-listpack-entries.
    pub hash_max_listpack_entries: u64,
    /// hash-max-listpack-value.
    pub hash_max_listpack_value: u64,
    /// hll-sparse-max-bytes.
    pub hll_sparse_max_bytes: u64,
    /// list-compress-depth.
    pub list_compress_depth: i64,
    /// list-max-listpack-size: elements, or below zero a class of sizes.
    pub list_max_listpack_size: i64,
    /// maxmemory-eviction-tenacity: kept, but eviction never stops half-way.
    pub maxmemory_eviction_tenacity: u64,
    /// maxmemory and what belongs to it; the store has a copy.
    pub memory: MemorySettings,
    /// Settings about freeing in the background, of which nobody can tell: server-del, user-del, user-flush.
    pub lazy_frees: [bool; 3],
    /// Which keyspace events are published: notify-keyspace-events.
    pub notify_keyspace_events: Classes,
    /// How much may wait to be read by a client: client-output-buffer-limit.
    pub output_limits: OutputLimits,
    /// The longest string: proto-max-bulk-len.
    pub proto_max_bulk_len: u64,
    /// set-max-intset-entries.
    pub set_max_intset_entries: u64,
    /// stream-node-max-bytes.
    pub stream_node_max_bytes: u64,
    /// stream-node-max-entries.
    pub stream_node_max_entries: u64,
    /// zset-max-listpack-entries.
    pub zset_max_listpack_entries: u64,
    /// zset-max-listpack-value.
    pub zset_max_listpack_value: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            busy_reply_threshold: 5000,
            hash_max_listpack_entries: 512,
            hash_max_listpack_value: 64,
            hll_sparse_max_bytes: 3000,
            list_compress_depth: 0,
            list_max_listpack_size: -2,
            notify_keyspace_events: Classes::NONE,
            output_limits: OutputLimits::default(),
            maxmemory_eviction_tenacity: 10,
            memory: MemorySettings::default(),
            lazy_frees: [false; 3],
            proto_max_bulk_len: 512 * 1024 * 1024,
            set_max_intset_entries: 512,
            stream_node_max_bytes: 4096,
            stream_node_max_entries: 100,
            zset_max_listpack_entries: 128,
            zset_max_listpack_value: 64,
        }
    }
}

impl Config {
    /// When a hash becomes large.
    pub fn hash_limits(&self) -> Limits {
        Limits {
            max_entries: self.hash_max_listpack_entries as usize,
            max_value: self.hash_max_listpack_value as usize,
        }
    }
    /// When a sorted set becomes large.
    pub fn zset_limits(&self) -> Limits {
        Limits {
            max_entries: self.zset_max_listpack_entries as usize,
            max_value: self.zset_max_listpack_value as usize,
        }
    }
    /// What decides the forms of values that are read from a dump or a file.
    pub fn thresholds(&self) -> Thresholds {
        Thresholds {
            hash: self.hash_limits(),
            zset: self.zset_limits(),
            set: self.set_max_intset_entries as usize,
            list: self.list_max_listpack_size,
        }
    }
    /// When a block of a stream is full.
    pub fn stream_limits(&self) -> NodeLimits {
        NodeLimits {
            max_bytes: self.stream_node_max_bytes as usize,
            max_entries: self.stream_node_max_entries as usize,
        }
    }
}

/// One name that CONFIG knows.
pub struct Setting {
    /// The name in lower case; an older name of a setting is a setting of its own.
    pub name: &'static str,
    kind: Kind,
}

/// What a setting is.
enum Kind {
    /// An integer between two others.
    Int { field: fn(&mut Config) -> &mut u64, min: u64, max: u64 },
    /// An integer that may be negative.
    Signed { field: fn(&mut Config) -> &mut i64, min: i64, max: i64 },
    /// A size in bytes that may have a unit.
    Memory { field: fn(&mut Config) -> &mut u64, min: u64, max: u64 },
    /// Text of a form of its own.
    Text { show: fn(&Config) -> String, read: fn(&mut Config, &[u8]) -> Result<(), String> },
    /// `yes` or `no`.
    Bool { field: fn(&mut Config) -> &mut bool },
    /// A policy of eviction.
    Policy,
    /// The number of databases, which is fixed.
    Databases,
    /// What this engine never does otherwise: only this value is taken.
    Fixed(&'static str),
}

const MOST: u64 = i64::MAX as u64;

macro_rules! int {
    ($field:ident) => {
        Kind::Int { field: |config| &mut config.$field, min: 0, max: MOST }
    };
}
macro_rules! memory_int {
    ($field:ident, $min:expr) => {
        Kind::Int { field: |config| &mut config.memory.$field, min: $min, max: i32::MAX as u64 }
    };
}
macro_rules! yes_no {
    ($($field:tt)*) => {
        Kind::Bool { field: |config| &mut config.$($field)* }
    };
}
macro_rules! signed {
    ($field:ident, $min:expr) => {
        Kind::Signed { field: |config| &mut config.$field, min: $min, max: i32::MAX as i64 }
    };
}
macro_rules! memory {
    ($field:ident, $min:expr) => {
        Kind::Memory { field: |config| &mut config.$field, min: $min, max: MOST }
    };
}

/// In order of name.
static SETTINGS: &[Setting] = &[
    Setting { name: "appendonly", kind: Kind::Fixed("no") },
    Setting { name: "busy-reply-threshold", kind: int!(busy_reply_threshold) },
    Setting {
        name: "client-output-buffer-limit",
        kind: Kind::Text {
            show: |config| config.output_limits.to_string(),
            read: |config, text| config.output_limits.change(text),
        },
    },
    Setting { name: "databases", kind: Kind::Databases },
    Setting { name: "hash-max-listpack-entries", kind: int!(hash_max_listpack_entries) },
    Setting { name: "hash-max-listpack-value", kind: memory!(hash_max_listpack_value, 0) },
    Setting { name: "hash-max-ziplist-entries", kind: int!(hash_max_listpack_entries) },
    Setting { name: "hash-max-ziplist-value", kind: memory!(hash_max_listpack_value, 0) },
    Setting { name: "hll-sparse-max-bytes", kind: memory!(hll_sparse_max_bytes, 0) },
    Setting { name: "lazyfree-lazy-eviction", kind: yes_no!(memory.lazy_eviction) },
    Setting { name: "lazyfree-lazy-expire", kind: yes_no!(memory.lazy_expire) },
    Setting { name: "lazyfree-lazy-server-del", kind: yes_no!(lazy_frees[0]) },
    Setting { name: "lazyfree-lazy-user-del", kind: yes_no!(lazy_frees[1]) },
    Setting { name: "lazyfree-lazy-user-flush", kind: yes_no!(lazy_frees[2]) },
    Setting { name: "lfu-decay-time", kind: memory_int!(lfu_decay_time, 0) },
    Setting { name: "lfu-log-factor", kind: memory_int!(lfu_log_factor, 0) },
    Setting { name: "list-compress-depth", kind: signed!(list_compress_depth, 0) },
    Setting { name: "list-max-listpack-size", kind: signed!(list_max_listpack_size, i32::MIN as i64) },
    Setting { name: "list-max-ziplist-size", kind: signed!(list_max_listpack_size, i32::MIN as i64) },
    Setting { name: "lua-time-limit", kind: int!(busy_reply_threshold) },
    Setting {
        name: "maxmemory",
        kind: Kind::Memory { field: |config| &mut config.memory.maxmemory, min: 0, max: u64::MAX },
    },
    Setting {
        name: "maxmemory-eviction-tenacity",
        kind: Kind::Int { field: |config| &mut config.maxmemory_eviction_tenacity, min: 0, max: 100 },
    },
    Setting { name: "maxmemory-policy", kind: Kind::Policy },
    Setting { name: "maxmemory-samples", kind: memory_int!(samples, 1) },
    Setting {
        name: "notify-keyspace-events",
        kind: Kind::Text {
            show: |config| config.notify_keyspace_events.to_string(),
            read: |config, text| {
                let classes = Classes::parse(text);
                config.notify_keyspace_events =
                    classes.ok_or("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")?;
                Ok(())
            },
        },
    },
    Setting { name: "proto-max-bulk-len", kind: memory!(proto_max_bulk_len, 1024 * 1024) },
    Setting { name: "requirepass", kind: Kind::Fixed("") },
    Setting { name: "save", kind: Kind::Fixed("") },
    Setting { name: "set-max-intset-entries", kind: int!(set_max_intset_entries) },
    Setting { name: "stream-node-max-bytes", kind: memory!(stream_node_max_bytes, 0) },
    Setting { name: "stream-node-max-entries", kind: int!(stream_node_max_entries) },
    Setting { name: "timeout", kind: Kind::Fixed("0") },
    Setting { name: "zset-max-listpack-entries", kind: int!(zset_max_listpack_entries) },
    Setting { name: "zset-max-listpack-value", kind: memory!(zset_max_listpack_value, 0) },
    Setting { name: "zset-max-ziplist-entries", kind: int!(zset_max_listpack_entries) },
    Setting { name: "zset-max-ziplist-value", kind: memory!(zset_max_listpack_value, 0) },
];

/// All settings, in order of name.
pub fn settings() -> &'static [Setting] {
    SETTINGS
}

/// The setting of this name, whatever its case.
pub fn setting(name: &[u8]) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name.as_bytes().eq_ignore_ascii_case(name))
}

impl Setting {
    /// Whether CONFIG SET takes it.
    pub fn can_change(&self) -> bool {
        !matches!(self.kind, Kind::Databases)
    }
    /// The value as CONFIG GET shows it.
    pub fn value(&self, databases: u32, config: &Config) -> String {
        match self.kind {
            Kind::Int { field, .. } | Kind::Memory { field, .. } => field(&mut config.clone()).to_string(),
            Kind::Signed { field, .. } => field(&mut config.clone()).to_string(),
            Kind::Text { show, .. } => show(config),
            Kind::Bool { field } => if *field(&mut config.clone()) { "yes" } else { "no" }.to_owned(),
            Kind::Policy => config.memory.policy.name().to_owned(),
            Kind::Databases => databases.to_string(),
            Kind::Fixed(value) => value.to_owned(),
        }
    }
    /// Sets the value.
    ///
    /// # Errors
    /// With the server's reason.
    pub fn change(&self, config: &mut Config, value: &[u8]) -> Result<(), String> {
        match self.kind {
            Kind::Int { field, min, max } => {
                let value = integer(value)?;
                let fits = u64::try_from(value).ok().filter(|value| (min..=max).contains(value));
                *field(config) = fits.ok_or_else(|| out_of_range(min, max))?;
            }
            Kind::Signed { field, min, max } => {
                let value = integer(value)?;
                *field(config) = Some(value)
                    .filter(|value| (min..=max).contains(value))
                    .ok_or_else(|| out_of_range(min, max))?;
            }
            Kind::Memory { field, min, max } => {
                let value = parse_memory(value).ok_or("argument must be a memory value")?;
                *field(config) = Some(value)
                    .filter(|value| (min..=max).contains(value))
                    .ok_or_else(|| out_of_range(min, max))?;
            }
            Kind::Text { read, .. } => read(config, value)?,
            Kind::Bool { field } => {
                *field(config) = yes_or_no(value).ok_or("argument must be 'yes' or 'no'")?;
            }
            Kind::Policy => config.memory.policy = policy(value)?,
            Kind::Fixed(only) if value == only.as_bytes() => {}
            Kind::Fixed(only) => {
                return Err(format!("moonkeep takes only '{only}'"));
            }
            Kind::Databases => return Err("can't set immutable config".to_owned()),
        }
        Ok(())
    }
}

fn yes_or_no(value: &[u8]) -> Option<bool> {
    let yes = value.eq_ignore_ascii_case(b"yes");
    (yes || value.eq_ignore_ascii_case(b"no")).then_some(yes)
}

fn policy(value: &[u8]) -> Result<Policy, String> {
    let known = Policy::NAMES.iter().find(|(name, _)| value.eq_ignore_ascii_case(name.as_bytes()));
    let names = || Policy::NAMES.map(|(name, _)| name).join(", ");
    known
        .map(|(_, policy)| *policy)
        .ok_or_else(|| format!("argument(s) must be one of the following: {}", names()))
}

fn integer(value: &[u8]) -> Result<i64, String> {
    parse_i64(value).ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())
}

fn out_of_range(min: impl std::fmt::Display, max: impl std::fmt::Display) -> String {
    format!("argument must be between {min} and {max} inclusive")
}
