//! The server's own format for values, in which DUMP and `.rdb` files hold them: lengths and strings are in
//! `primitives`, the packed forms within them in `listpack` and `ziplist`, values in `write`, `read` and `streams`.
//!
//! Nothing that is read is relied on. Each packed form is looked through to its end before anything is made of it, and
//! nothing is allocated by what a length says: only by what is there.

pub mod file;
pub mod listpack;
pub mod primitives;
mod read;
mod streams;
mod write;
pub mod ziplist;

pub use primitives::{Reader, Writer};
pub use read::value as read_value;
pub use write::{ListNodes, kind, list_nodes, value as write_value};

use crate::value::Value;
use crate::value::packed::Limits;

/// The version of the format that is written, and the newest one that is read.
pub const VERSION: u16 = 10;

/// The byte in front of a value: its type and its form.
pub mod kinds {
    #![allow(missing_docs, reason = "the names are those of the format")]
    pub const STRING: u8 = 0;
    pub const LIST: u8 = 1;
    pub const SET: u8 = 2;
    pub const ZSET: u8 = 3;
    pub const HASH: u8 = 4;
    pub const ZSET_2: u8 = 5;
    pub const MODULE: u8 = 6;
    pub const MODULE_2: u8 = 7;
    pub const HASH_ZIPMAP: u8 = 9;
    pub const LIST_ZIPLIST: u8 = 10;
    pub const SET_INTSET: u8 = 11;
    pub const ZSET_ZIPLIST: u8 = 12;
    pub const HASH_ZIPLIST: u8 = 13;
    pub const LIST_QUICKLIST: u8 = 14;
    pub const STREAM_LISTPACKS: u8 = 15;
    pub const HASH_LISTPACK: u8 = 16;
    pub const ZSET_LISTPACK: u8 = 17;
    pub const LIST_QUICKLIST_2: u8 = 18;
    pub const STREAM_LISTPACKS_2: u8 = 19;
}

/// The settings that decide in which form a value that is read is kept, and how lists are divided when written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// When a hash is large.
    pub hash: Limits,
    /// When a sorted set is large.
    pub zset: Limits,
    /// set-max-intset-entries.
    pub set: usize,
    /// list-max-listpack-size.
    pub list: i64,
}

impl Thresholds {
    /// The server's defaults.
    pub const DEFAULT: Thresholds = Thresholds {
        hash: Limits::HASH,
        zset: Limits::ZSET,
        set: crate::value::set::MAX_INTSET_ENTRIES,
        list: -2,
    };
}

/// What is wrong with data in this format, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{fault} (at byte {offset})")]
pub struct Broken {
    /// The byte at which what is wrong begins.
    pub offset: usize,
    /// What is wrong.
    pub fault: Fault,
}

/// What can be wrong with data in this format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Something is longer than the data.
    #[error("the data ends early")]
    Short,
    /// A length has none of the forms it may have.
    #[error("not a length")]
    Length,
    /// A compressed string does not give what it says.
    #[error("a compressed string that cannot be read")]
    Compressed,
    /// A listpack does not hold together.
    #[error("a broken listpack")]
    Listpack,
    /// A ziplist does not hold together.
    #[error("a broken ziplist")]
    Ziplist,
    /// A zipmap does not hold together.
    #[error("a broken zipmap")]
    Zipmap,
    /// An intset does not hold together.
    #[error("a broken intset")]
    Intset,
    /// A node of a list is neither packed nor plain.
    #[error("a node of a list that has no known form")]
    Node,
    /// A member or field stands twice.
    #[error("an element that is there already")]
    Duplicate,
    /// A score is not a number.
    #[error("a score that is not a number")]
    Score,
    /// A stream contradicts itself.
    #[error("a stream that contradicts itself")]
    Stream,
    /// A value without elements.
    #[error("a value without elements")]
    Empty,
    /// A value of a module.
    #[error("a value of a module, and no module is known")]
    Module,
    /// A byte that is no type of a value.
    #[error("no type of a value has the number {0}")]
    Kind(u8),
    /// A file that does not begin as an `.rdb` file does.
    #[error("no .rdb file: REDIS and a version should stand first")]
    Magic,
    /// A file of a version that is not read.
    #[error("version {0} of the format; 1 to {VERSION} can be read")]
    Version(u16),
    /// A key of a database that the engine does not have.
    #[error("a key of database {0}, and the engine has fewer")]
    Database(u64),
    /// Data of a module beside the keys.
    #[error("data of a module, and no module is known")]
    ModuleAux,
    /// The checksum at the end is another one.
    #[error("the checksum is wrong: the file is damaged")]
    Checksum,
}

/// A value as DUMP gives it.
pub fn dump(value: &Value, thresholds: &Thresholds) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.byte(kind(value));
    write_value(&mut writer, value, thresholds);
    writer.finish()
}

/// The value of a dump; none when its version or its checksum is wrong.
///
/// # Errors
/// When it holds no value.
pub fn restore(dump: &[u8], thresholds: &Thresholds) -> Option<Result<Value, Broken>> {
    Reader::of_dump(dump).map(|_| restore_unchecked(dump, thresholds))
}

/// The value of a dump whose version and checksum are not looked at.
///
/// # Errors
/// When it holds no value.
pub fn restore_unchecked(dump: &[u8], thresholds: &Thresholds) -> Result<Value, Broken> {
    let mut reader = Reader::new(dump);
    reader.byte().and_then(|kind| read_value(&mut reader, kind, thresholds))
}

#[cfg(test)]
mod tests;
