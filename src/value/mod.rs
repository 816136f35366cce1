//! The data structures a key can hold. No keys, no time, no clients here: those are in `store` and `command`.

pub mod counted_tree;
pub mod digest;
pub mod hash;
pub mod hyperloglog;
pub mod list;
pub mod packed;
pub mod partial_sort;
mod places;
pub mod preview;
pub mod rdb;
pub mod set;
pub mod sha_digest;
pub mod stream;
mod stream_block;
pub mod stream_groups;
mod stream_radix;
mod string;
pub mod table;
pub mod zset;

pub use string::{Str, Text};

use crate::error::Failure;
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

/// What a full node of a list takes on a server.
const LIST_NODE_BYTES: usize = 8192;

const _: () = assert!(size_of::<Value>() == 24, "an entry of the keyspace stays one cache line");

impl Value {
    /// Whether this is a container that has lost its last element; such a key goes. Streams stay.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::String(_) | Value::Stream(_) => false,
            Value::List(list) => list.is_empty(),
            Value::Set(set) => set.is_empty(),
            Value::Hash(hash) => hash.is_empty(),
            Value::ZSet(zset) => zset.is_empty(),
        }
    }
    /// The type of this value when those who wait for such a value have to be told that it goes: only streams.
    #[inline]
    pub fn wakes_by_going(&self) -> Option<&'static str> {
        matches!(self, Value::Stream(_)).then(|| self.type_name())
    }
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

    /// In about how many parts a server frees this value; 1 for all that stands in one piece.
    pub fn parts(&self) -> usize {
        match self {
            Value::List(list) => list.memory_bytes() / LIST_NODE_BYTES,
            Value::Set(set) if set.encoding() == "hashtable" => set.len(),
            Value::Hash(hash) if hash.encoding() == "hashtable" => hash.len(),
            Value::ZSet(zset) if zset.encoding() == "skiplist" => zset.len(),
            Value::Stream(stream) => {
                let groups = stream.groups();
                let pending = groups.values().next().map_or(0, |group| group.pending_len());
                stream.radix_node_count() + groups.len() * (1 + pending)
            }
            _ => 1,
        }
    }

    /// What OBJECT ENCODING says.
    pub fn encoding(&self) -> &'static str {
        match self {
            Value::String(string) => string.encoding(),
            Value::List(list) => list.encoding(),
            Value::Set(set) => set.encoding(),
            Value::Hash(hash) => hash.encoding(),
            Value::ZSet(zset) => zset.encoding(),
            Value::Stream(_) => "stream",
        }
    }

    /// What OBJECT REFCOUNT says: the server shares small integers between all keys that hold them, unless each key has
    /// to have a use of its own.
    pub fn shown_references(&self, shares: bool) -> i64 {
        const SHARED_INTEGERS: i64 = 10_000;
        const SHARED: i64 = i32::MAX as i64;
        if shares && matches!(self, Value::String(Str::Int(0..SHARED_INTEGERS))) { SHARED } else { 1 }
    }

    /// The number in cursors of this value, see [`table::Table::walk`]; None where nothing is walked in steps.
    pub fn walk(&self) -> Option<u32> {
        match self {
            Value::Set(set) => set.walk(),
            Value::Hash(hash) => hash.walk(),
            Value::ZSet(zset) => zset.walk(),
            _ => None,
        }
    }

    /// Sets the number in cursors of this value.
    pub fn set_walk(&mut self, number: u32) {
        match self {
            Value::Set(set) => Arc::make_mut(set).set_walk(number),
            Value::Hash(hash) => Arc::make_mut(hash).set_walk(number),
            Value::ZSet(zset) => Arc::make_mut(zset).set_walk(number),
            _ => {}
        }
    }

    /// About how many bytes the value takes up beside the 24 that are part of its entry.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Value::String(string) => string.heap_bytes(),
            container => container.shared_bytes(),
        }
    }
    fn shared_bytes(&self) -> usize {
        let shared = match self {
            Value::String(_) => 0,
            Value::List(list) => list.memory_bytes(),
            Value::Set(set) => set.memory_bytes(),
            Value::Hash(hash) => hash.memory_bytes(),
            Value::ZSet(zset) => zset.memory_bytes(),
            Value::Stream(stream) => stream.memory_bytes(),
        };
        // The two counters of the Arc.
        shared + 2 * size_of::<usize>()
    }
}

/// Access to one type of value: borrowed, or for changing (a value shared with a fork is copied first).
macro_rules! typed {
    ($variant:ident, $type:ty, $get:ident, $get_mut:ident) => {
        impl Value {
            /// The value as this type.
            ///
            /// # Errors
            /// WrongType when it is of another.
            #[inline]
            pub fn $get(&self) -> Result<&$type, Failure> {
                match self {
                    Value::$variant(value) => Ok(value),
                    _ => Err(Failure::WrongType),
                }
            }
            /// The value as this type, for changing.
            ///
            /// # Errors
            /// WrongType when it is of another.
            #[inline]
            pub fn $get_mut(&mut self) -> Result<&mut $type, Failure> {
                match self {
                    Value::$variant(value) => Ok(Arc::make_mut(value)),
                    _ => Err(Failure::WrongType),
                }
            }
        }
    };
}
typed!(List, list::List, as_list, as_list_mut);
typed!(Set, set::Set, as_set, as_set_mut);
typed!(Hash, hash::Hash, as_hash, as_hash_mut);
typed!(ZSet, zset::ZSet, as_zset, as_zset_mut);
typed!(Stream, stream::Stream, as_stream, as_stream_mut);

impl Value {
    /// The value as a string.
    ///
    /// # Errors
    /// WrongType when it is of another type.
    #[inline]
    pub fn as_string(&self) -> Result<&Str, Failure> {
        match self {
            Value::String(value) => Ok(value),
            _ => Err(Failure::WrongType),
        }
    }
    /// The value as a string, for changing.
    ///
    /// # Errors
    /// WrongType when it is of another type.
    #[inline]
    pub fn as_string_mut(&mut self) -> Result<&mut Str, Failure> {
        match self {
            Value::String(value) => Ok(value),
            _ => Err(Failure::WrongType),
        }
    }
}
