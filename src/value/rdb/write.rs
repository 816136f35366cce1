//! Values as the server writes them, each in the form it has. A list is divided into nodes as one that was pushed item
//! by item.

use super::listpack::Builder;
use super::{Thresholds, Writer, kinds, ziplist};
use crate::util::float::format_score;
use crate::util::num::NumBuf;
use crate::value::Value;
use crate::value::hash::Hash;
use crate::value::list::List;
use crate::value::set::Set;
use crate::value::zset::ZSet;

/// A node of a list that holds a listpack. (One of a single long item is plain from a gigabyte on.)
const NODE_PACKED: u64 = 2;
const NODE_PLAIN: u64 = 1;
const PLAIN_BYTES: usize = 1 << 30;
/// What the server estimates an item to take up beside its bytes.
const ITEM_OVERHEAD: usize = 8;
/// The sizes of nodes that the negative classes stand for.
const NODE_BYTES: [usize; 5] = [4096, 8192, 16_384, 32_768, 65_536];
/// The size of nodes that are limited by count.
const NODE_BYTES_SAFE: usize = 8192;

/// The byte in front of a value.
pub fn kind(value: &Value) -> u8 {
    match value {
        Value::String(_) => kinds::STRING,
        Value::List(_) => kinds::LIST_QUICKLIST_2,
        Value::Set(set) if set.integers().is_some() => kinds::SET_INTSET,
        Value::Set(_) => kinds::SET,
        Value::Hash(hash) if hash.is_packed() => kinds::HASH_LISTPACK,
        Value::Hash(_) => kinds::HASH,
        Value::ZSet(zset) if zset.is_packed() => kinds::ZSET_LISTPACK,
        Value::ZSet(_) => kinds::ZSET_2,
        Value::Stream(_) => kinds::STREAM_LISTPACKS_2,
    }
}

/// Writes a value, without the byte in front of it.
pub fn value(writer: &mut Writer, value: &Value, thresholds: &Thresholds) {
    match value {
        Value::String(string) => writer.string(string.bytes().as_bytes()),
        Value::List(value) => list(writer, value, thresholds.list),
        Value::Set(value) => set(writer, value),
        Value::Hash(value) => hash(writer, value),
        Value::ZSet(value) => zset(writer, value),
        Value::Stream(value) => super::streams::write(writer, value),
    }
}

/// What a list is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListNodes {
    /// How many nodes there are.
    pub count: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// The nodes of a list that was pushed item by item.
pub fn list_nodes(list: &List, size: i64) -> ListNodes {
    let nodes = nodes(list, size);
    ListNodes { count: nodes.len(), bytes: nodes.iter().map(|(_, node)| node.len()).sum() }
}

fn list(writer: &mut Writer, list: &List, size: i64) {
    let nodes = nodes(list, size);
    writer.length(nodes.len() as u64);
    for (container, node) in nodes {
        writer.length(container);
        writer.string(&node);
    }
}

/// The container and the bytes of each node.
fn nodes(list: &List, size: i64) -> Vec<(u64, Vec<u8>)> {
    let mut nodes = Vec::new();
    let mut node = Builder::default();
    for item in list.iter() {
        if item.len() >= PLAIN_BYTES {
            close(&mut nodes, &mut node);
            nodes.push((NODE_PLAIN, item.to_vec()));
            continue;
        }
        if !takes(&node, item, size) {
            close(&mut nodes, &mut node);
        }
        node.push(item);
    }
    close(&mut nodes, &mut node);
    nodes
}

fn close(nodes: &mut Vec<(u64, Vec<u8>)>, node: &mut Builder) {
    if !node.is_empty() {
        nodes.push((NODE_PACKED, std::mem::take(node).finish()));
    }
}

/// Whether the server would add the item to the node.
fn takes(node: &Builder, item: &[u8], size: i64) -> bool {
    let bytes = node.byte_len() + item.len() + ITEM_OVERHEAD;
    match usize::try_from(size) {
        Ok(count) => bytes <= NODE_BYTES_SAFE && node.len() < count,
        Err(_) => {
            let class = (-1 - size.max(-(NODE_BYTES.len() as i64))) as usize;
            bytes <= NODE_BYTES.get(class).copied().unwrap_or(NODE_BYTES_SAFE)
        }
    }
}

fn set(writer: &mut Writer, set: &Set) {
    if let Some(integers) = set.integers() {
        return writer.string(&ziplist::intset(integers));
    }
    writer.length(set.len() as u64);
    set.iter().for_each(|member| writer.string(&member));
}

fn hash(writer: &mut Writer, hash: &Hash) {
    if hash.is_packed() {
        let mut listpack = Builder::default();
        for (field, value) in hash.iter() {
            listpack.push(field);
            listpack.push(value);
        }
        return writer.string(&listpack.finish());
    }
    writer.length(hash.len() as u64);
    for (field, value) in hash.iter() {
        writer.string(field);
        writer.string(value);
    }
}

fn zset(writer: &mut Writer, zset: &ZSet) {
    if zset.is_packed() {
        let mut listpack = Builder::default();
        let mut buffer = NumBuf::new();
        for (member, score) in zset.iter() {
            listpack.push(member);
            listpack.push(format_score(&mut buffer, score));
        }
        return writer.string(&listpack.finish());
    }
    writer.length(zset.len() as u64);
    for (member, score) in zset.iter().rev() {
        writer.string(member);
        writer.bytes(&score.to_le_bytes());
    }
}
