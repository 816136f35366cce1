//! The stream value: entries in the order of their IDs, in blocks (`value::stream_block`). The blocks are found by
//! binary search; added at the back and trimmed at the front. Commands are in `commands::streams`.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use crate::util::bytes::Bytes;
use crate::value::digest::Digest;
use crate::value::packed;
use crate::value::stream_block::{Block, read_string};
use crate::value::stream_groups::{Group, Groups};
use crate::value::stream_radix;

/// The ID of an entry: a time in milliseconds and a number within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Milliseconds.
    pub ms: u64,
    /// The number within the millisecond.
    pub seq: u64,
}

impl StreamId {
    /// `0-0`, which no entry has.
    pub const MIN: StreamId = StreamId { ms: 0, seq: 0 };
    /// The highest ID.
    pub const MAX: StreamId = StreamId { ms: u64::MAX, seq: u64::MAX };

    /// Adds the ID to a digest.
    pub(super) fn digest(self, digest: &mut Digest) {
        digest.word(self.ms);
        digest.word(self.seq);
    }

    /// An ID of these two parts.
    pub const fn new(ms: u64, seq: u64) -> Self {
        StreamId { ms, seq }
    }

    /// The next higher ID.
    pub fn next(self) -> Option<Self> {
        match self.seq.checked_add(1) {
            Some(seq) => Some(StreamId { seq, ..self }),
            None => Some(StreamId { ms: self.ms.checked_add(1)?, seq: 0 }),
        }
    }

    /// The next lower ID.
    pub fn previous(self) -> Option<Self> {
        match self.seq.checked_sub(1) {
            Some(seq) => Some(StreamId { seq, ..self }),
            None => Some(StreamId { ms: self.ms.checked_sub(1)?, seq: u64::MAX }),
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

/// When a block is full, as configured by `stream-node-max-bytes` and `stream-node-max-entries`; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// The most bytes the server's node takes up.
    pub max_bytes: usize,
    /// The most entries, deleted ones included.
    pub max_entries: usize,
}

impl NodeLimits {
    /// The server's defaults.
    pub const DEFAULT: NodeLimits = NodeLimits { max_bytes: 4096, max_entries: 100 };
}

/// What a trim leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// This many of the newest entries.
    MaxLen(usize),
    /// The entries with this ID or higher ones.
    MinId(StreamId),
}

/// Entries in the order of their IDs. Unlike other values, a stream may be empty in the keyspace.
#[derive(Clone, Default)]
pub struct Stream {
    blocks: VecDeque<Block>,
    len: usize,
    first_id: StreamId,
    last_id: StreamId,
    max_deleted_id: StreamId,
    entries_added: u64,
    block_bytes: usize,
    groups: Groups,
    /// What the groups and their names take up.
    group_bytes: usize,
}

impl Stream {
    /// A stream that never had an entry.
    pub fn new() -> Self {
        Stream::default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The form, as OBJECT ENCODING names it.
    pub fn encoding(&self) -> &'static str {
        "stream"
    }

    /// The ID of the first entry, `0-0` when there is none.
    pub fn first_id(&self) -> StreamId {
        self.first_id
    }

    /// The ID the first block begins with, be that entry deleted since; the highest ID when there is no block. An
    /// approximate trim by ID is propagated as an exact one to here.
    pub fn first_block_id(&self) -> StreamId {
        self.blocks.front().map_or(StreamId::MAX, |block| block.first)
    }

    /// The ID that the next entry's has to exceed.
    pub fn last_id(&self) -> StreamId {
        self.last_id
    }

    /// Sets the ID that the next entry's has to exceed; no lower than that of any entry.
    pub fn set_last_id(&mut self, id: StreamId) {
        self.last_id = id;
    }

    /// The highest ID that was deleted (trimming does not count), `0-0` when none was.
    pub fn max_deleted_id(&self) -> StreamId {
        self.max_deleted_id
    }

    /// Sets what [`max_deleted_id`](Self::max_deleted_id) returns.
    pub fn set_max_deleted_id(&mut self, id: StreamId) {
        self.max_deleted_id = id;
    }

    /// How many entries were ever added.
    pub fn entries_added(&self) -> u64 {
        self.entries_added
    }

    /// Sets what [`entries_added`](Self::entries_added) returns.
    pub fn set_entries_added(&mut self, count: u64) {
        self.entries_added = count;
    }

    /// The number of blocks; XINFO STREAM FULL tells it.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The number of nodes of the server's radix tree; XINFO STREAM tells it.
    pub fn radix_node_count(&self) -> usize {
        stream_radix::node_count(self.blocks.iter().map(|block| block.first))
    }

    /// The consumer groups, in the order of their names.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The consumer group of this name.
    pub fn group(&self, name: &[u8]) -> Option<&Group> {
        self.groups.get(name)
    }

    /// Changes the consumer group of this name, beside the entries; None when there is none.
    pub fn with_group<R>(&mut self, name: &[u8], change: impl FnOnce(&Stream, &mut Group) -> R) -> Option<R> {
        let mut group = std::mem::take(self.groups.get_mut(name)?);
        self.group_bytes -= group.memory_bytes();
        let result = change(self, &mut group);
        self.group_bytes += group.memory_bytes();
        *self.groups.get_mut(name)? = group;
        Some(result)
    }

    /// Adds a consumer group that begins behind an ID; false when there is one of this name.
    pub fn create_group(&mut self, name: &[u8], last_id: StreamId, entries_read: Option<i64>) -> bool {
        let is_new = !self.groups.contains_key(name);
        if is_new {
            let (name, group) = (Bytes::from(name), Group::new(last_id, entries_read));
            self.group_bytes += name.heap_bytes() + group.memory_bytes();
            self.groups.insert(name, group);
        }
        is_new
    }

    /// Removes a consumer group; false when there is none of this name.
    pub fn destroy_group(&mut self, name: &[u8]) -> bool {
        let Some((name, group)) = self.groups.remove_entry(name) else { return false };
        self.group_bytes -= name.heap_bytes() + group.memory_bytes();
        true
    }

    /// The ID for an entry added at a time: `ms-0`, or the one behind the last if that is not higher.
    pub fn next_id(&self, ms: u64) -> Option<StreamId> {
        if ms > self.last_id.ms { Some(StreamId { ms, seq: 0 }) } else { self.last_id.next() }
    }

    /// Adds an entry with these fields and values, in turns; false if its ID does not exceed the last.
    pub fn append(&mut self, id: StreamId, pairs: &[&[u8]], limits: &NodeLimits) -> bool {
        if id <= self.last_id {
            return false;
        }
        match self.blocks.back_mut() {
            Some(block) if block.takes(pairs, limits) => self.block_bytes -= block.memory_bytes(),
            full => {
                full.map(Block::close);
                self.blocks.push_back(Block::new(id, pairs));
            }
        }
        if let Some(block) = self.blocks.back_mut() {
            block.push(id, pairs);
            self.block_bytes += block.memory_bytes();
        }
        self.len += 1;
        self.entries_added += 1;
        self.last_id = id;
        if self.len == 1 {
            self.first_id = id;
        }
        true
    }

    /// The blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter()
    }

    /// Adds a block that was read; false when it does not begin behind the others. The counters are set apart.
    pub(super) fn push_block(&mut self, mut block: Block) -> bool {
        if self.blocks.back().is_some_and(|before| before.last >= block.first) {
            return false;
        }
        block.close();
        let is_first = self.len == 0 && block.len() > 0;
        self.len += block.len();
        self.block_bytes += block.memory_bytes();
        self.blocks.push_back(block);
        if is_first {
            self.find_first_id();
        }
        true
    }

    /// Removes the entry with this ID and returns whether it was there.
    pub fn delete(&mut self, id: StreamId) -> bool {
        let Some(number) = self.block_of(id) else { return false };
        let block = &mut self.blocks[number];
        let Some(at) = block.find(id) else { return false };
        self.block_bytes -= block.memory_bytes();
        if block.len() == 1 {
            self.blocks.remove(number);
        } else {
            block.remove(at);
            self.block_bytes += block.memory_bytes();
        }
        self.len -= 1;
        self.max_deleted_id = self.max_deleted_id.max(id);
        if id == self.first_id {
            self.find_first_id();
        }
        true
    }

    /// Removes old entries and returns how many. An approximate trim removes whole blocks only, and no more than
    /// `limit` entries unless that is 0.
    pub fn trim(&mut self, trim: Trim, approximate: bool, limit: usize) -> usize {
        let before = self.len;
        while let Some(block) = self.blocks.front() {
            let entries = block.len();
            let done = match trim {
                Trim::MaxLen(max) => self.len <= max,
                Trim::MinId(_) => false,
            };
            if done || limit > 0 && before - self.len + entries > limit {
                break;
            }
            let whole = match trim {
                Trim::MaxLen(max) => self.len - entries >= max,
                // A deleted entry at the end counts: the server looks at the last ID the node ever had.
                Trim::MinId(min) => block.last < min,
            };
            if !whole {
                if !approximate {
                    self.trim_first_block(trim);
                }
                break;
            }
            self.len -= entries;
            self.block_bytes -= block.memory_bytes();
            self.blocks.pop_front();
        }
        if before > self.len {
            self.find_first_id();
        }
        before - self.len
    }

    /// Removes entries from within the first block. It stays, even without entries, as the server's node does.
    fn trim_first_block(&mut self, trim: Trim) {
        let Some(block) = self.blocks.front_mut() else { return };
        let count = match trim {
            Trim::MaxLen(max) => self.len.saturating_sub(max),
            Trim::MinId(min) => block.items(None, Some(block.seek(min))).count(),
        };
        self.block_bytes -= block.memory_bytes();
        block.remove_front(count);
        self.block_bytes += block.memory_bytes();
        self.len -= count;
    }

    fn find_first_id(&mut self) {
        self.first_id = self.iter().next().map_or(StreamId::MIN, |entry| entry.id);
    }

    /// The entry with this ID.
    pub fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        self.blocks.get(self.block_of(id)?)?.get(id)
    }

    /// All entries, from both ends.
    pub fn iter(&self) -> Iter<'_> {
        self.range(StreamId::MIN, StreamId::MAX)
    }

    /// The entries with IDs from `start` to `end`, both included, from both ends.
    pub fn range(&self, start: StreamId, end: StreamId) -> Iter<'_> {
        let empty = Ends { block: 0, items: packed::Iter::default() };
        let mut iter = Iter { stream: self, middle: 0..0, front: empty.clone(), back: empty };
        let Some(last) = self.block_of(end).filter(|_| start <= end) else { return iter };
        let first = self.block_of(start).unwrap_or(0);
        let (first_block, last_block) = (&self.blocks[first], &self.blocks[last]);
        let (from, to) = (first_block.seek(start), last_block.seek_behind(end));
        if first == last {
            iter.front = Ends { block: first, items: first_block.items(Some(from), Some(to)) };
            return iter;
        }
        iter.front = Ends { block: first, items: first_block.items(Some(from), None) };
        iter.middle = first + 1..last;
        iter.back = Ends { block: last, items: last_block.items(None, Some(to)) };
        iter
    }

    /// The block that holds the entry with this ID, if any does.
    fn block_of(&self, id: StreamId) -> Option<usize> {
        self.blocks.partition_point(|block| block.first <= id).checked_sub(1)
    }

    /// About how many bytes this stream takes up, itself included.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.block_bytes + self.group_bytes
    }
}

/// An entry of a stream.
#[derive(Clone)]
pub struct Entry<'a> {
    /// Its ID.
    pub id: StreamId,
    pub(super) field_count: usize,
    /// The names, if they are those of the block.
    pub(super) names: Option<packed::Iter<'a>>,
    pub(super) rest: &'a [u8],
}

impl<'a> Entry<'a> {
    /// How many fields it has.
    pub fn field_count(&self) -> usize {
        self.field_count
    }

    /// Fields and values in the order they were given.
    pub fn fields(&self) -> Fields<'a> {
        Fields { left: self.field_count, names: self.names.clone(), rest: self.rest }
    }
}

impl PartialEq for Entry<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.fields().eq(other.fields())
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.id)?;
        let fields = self.fields().map(|(name, value)| (Bytes::from(name), Bytes::from(value)));
        f.debug_map().entries(fields).finish()
    }
}

/// Fields and values of an [`Entry`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    left: usize,
    names: Option<packed::Iter<'a>>,
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let name = match &mut self.names {
            Some(names) => names.next()?,
            None => read_string(&mut self.rest)?,
        };
        Some((name, read_string(&mut self.rest)?))
    }
}

/// Entries of a [`Stream`], from both ends.
#[derive(Clone)]
pub struct Iter<'a> {
    stream: &'a Stream,
    /// The blocks not begun from either end.
    middle: Range<usize>,
    front: Ends<'a>,
    back: Ends<'a>,
}

/// What is left of one block.
#[derive(Clone)]
struct Ends<'a> {
    block: usize,
    items: packed::Iter<'a>,
}

impl<'a> Iter<'a> {
    fn decode(&self, block: usize, item: &'a [u8]) -> Option<Entry<'a>> {
        self.stream.blocks.get(block).map(|block| block.decode(item))
    }

    fn whole(&self, block: usize) -> Ends<'a> {
        let items = self.stream.blocks.get(block).map(|block| block.items(None, None));
        Ends { block, items: items.unwrap_or_default() }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            if let Some(item) = self.front.items.next() {
                return self.decode(self.front.block, item);
            }
            let Some(number) = self.middle.next() else { break };
            self.front = self.whole(number);
        }
        let item = self.back.items.next()?;
        self.decode(self.back.block, item)
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.back.items.next_back() {
                return self.decode(self.back.block, item);
            }
            let Some(number) = self.middle.next_back() else { break };
            self.back = self.whole(number);
        }
        let item = self.front.items.next_back()?;
        self.decode(self.front.block, item)
    }
}

/// Equal when the entries, the counters and the groups are, however divided into blocks.
impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        let counters = |stream: &Stream| {
            (stream.len, stream.first_id, stream.last_id, stream.max_deleted_id, stream.entries_added)
        };
        counters(self) == counters(other) && self.groups == other.groups && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
