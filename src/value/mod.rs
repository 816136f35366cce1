//! The data structures a key can hold. No keys, no time, no clients here: those are in `store` and `command`.

pub mod counted_tree;
pub mod hash;
pub mod list;
pub mod packed;
pub mod set;
pub mod stream;
mod string;
pub mod table;
pub mod zset;

pub use string::{Str, Text};

use std::sync::Arc;

/// The value of a key. Big values stand behind an `Arc`, so that a fork of the keyspace shares them until one side
/// writes.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    String(Str),
    /// A list.
    List(Arc<list::List>),
    /// A set.
    Set(Arc<set::Set>),
    /// A hash.
    Hash(Arc<hash::Hash>),
    /// A sorted set.
    ZSet(Arc<zset::ZSet>),
    /// A stream.
    Stream(Arc<stream::Stream>),
}

const _: () = assert!(size_of::<Value>() == 24, "an entry of the keyspace stays one cache line");

impl Value {
    /// What TYPE says.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::Hash(_) => "hash",
            Value::ZSet(_) => "zset",
            Value::Stream(_) => "stream",
        }
    }
}
