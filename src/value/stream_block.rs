//! A block of a stream: up to a hundred entries that mostly have the same fields, packed one after another. It stands
//! for a node of the server's stream and counts what that node would take up, so that a new block is begun where the
//! server begins a new node: approximate trimming, which drops whole nodes, then drops the same entries.
//!
//! An entry is stored as: 1 if it has the field names of the block (else 0), the difference of its ID to the block's
//! first, the number of fields and their names unless those of the block, and the values.

use crate::util::num::parse_i64;
use crate::value::packed::{self, Packed, Position};
use crate::value::stream::{Entry, NodeLimits, StreamId};

/// The most a node may take up, whatever the limits say.
pub(crate) const NODE_MAX_BYTES: usize = 1 << 30;

/// Entries next to each other.
#[derive(Clone)]
pub(super) struct Block {
    /// The ID of the entry the block was begun with, be it deleted since.
    pub(super) first: StreamId,
    /// The ID of the entry that was added last, be it deleted since.
    pub(super) last: StreamId,
    /// The field names of the first entry.
    pub(super) names: Packed,
    entries: Packed,
    deleted: usize,
    /// What the server's node takes up, apart from the counts of entries.
    listpack_bytes: usize,
}

impl Block {
    /// A block for an entry with these fields and values (in turns), which is not added yet.
    pub(super) fn new(id: StreamId, pairs: &[&[u8]]) -> Self {
        let mut names = Packed::new();
        pairs.iter().step_by(2).for_each(|name| names.push_back(name));
        names.compact();
        // A header of six bytes and an end of one, the number of fields, the names, and a zero behind them.
        let listpack_bytes = 7
            + integer_size(names.len() as i64)
            + names.iter().map(string_size).sum::<usize>()
            + integer_size(0);
        Block { first: id, last: id, names, entries: Packed::new(), deleted: 0, listpack_bytes }
    }

    /// How many entries are left in the block.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the server would put an entry with these fields and values in this node.
    pub(super) fn takes(&self, pairs: &[&[u8]], limits: &NodeLimits) -> bool {
        let counts = integer_size(self.len() as i64) + integer_size(self.deleted as i64);
        let new: usize = pairs.iter().map(|part| part.len()).sum();
        let max_bytes = match limits.max_bytes {
            0 => NODE_MAX_BYTES,
            max => max.min(NODE_MAX_BYTES),
        };
        let full = limits.max_entries > 0 && self.len() + self.deleted >= limits.max_entries;
        !full && self.listpack_bytes + counts + new < max_bytes
    }

    /// Adds an entry behind the last.
    pub(super) fn push(&mut self, id: StreamId, pairs: &[&[u8]]) {
        let same =
            pairs.len() == 2 * self.names.len() && self.names.iter().eq(pairs.iter().step_by(2).copied());
        let (ms, seq) = (id.ms.wrapping_sub(self.first.ms), id.seq.wrapping_sub(self.first.seq));
        let mut item = Vec::with_capacity(16 + pairs.iter().map(|part| part.len() + 2).sum::<usize>());
        item.push(u8::from(same));
        write_varint(&mut item, ms);
        write_varint(&mut item, zigzag(seq));
        let field_count = pairs.len() / 2;
        let mut parts = 3 + field_count;
        // Flags, the two differences.
        let mut size = 2 + integer_size(ms as i64) + integer_size(seq as i64);
        if !same {
            write_varint(&mut item, field_count as u64);
            size += integer_size(field_count as i64);
            parts += field_count + 1;
        }
        for part in pairs.iter().skip(usize::from(same)).step_by(1 + usize::from(same)) {
            write_varint(&mut item, part.len() as u64);
            item.extend_from_slice(part);
            size += string_size(part);
        }
        self.entries.push_back(&item);
        self.listpack_bytes += size + integer_size(parts as i64);
        self.last = id;
    }

    /// Removes the entry at a position.
    pub(super) fn remove(&mut self, at: Position) {
        self.entries.remove(at);
        self.deleted += 1;
    }

    /// Removes this many entries from the front.
    pub(super) fn remove_front(&mut self, count: usize) {
        self.entries.remove_run(self.entries.start(), count);
        self.deleted += count;
    }

    /// Says of a block that was read what its entries do not tell: the last ID, how many entries were deleted, and what
    /// the server's node takes up.
    pub(super) fn note_deleted(&mut self, last: StreamId, deleted: usize, node_bytes: usize) {
        let counts = integer_size(self.len() as i64) + integer_size(deleted as i64);
        self.last = last;
        self.deleted = deleted;
        self.listpack_bytes = node_bytes.saturating_sub(counts);
    }

    /// Gives back the memory kept for more entries.
    pub(super) fn close(&mut self) {
        self.entries.compact();
    }

    /// The position of the first entry with this ID or a higher one.
    pub(super) fn seek(&self, id: StreamId) -> Position {
        let mut at = self.entries.start();
        while at != self.entries.end() && self.id_of(self.entries.get(at)) < id {
            at = self.entries.next(at);
        }
        at
    }

    /// The position behind the last entry with this ID or a lower one.
    pub(super) fn seek_behind(&self, id: StreamId) -> Position {
        let mut at = self.entries.end();
        while at != self.entries.start() {
            let before = self.entries.previous(at);
            if self.id_of(self.entries.get(before)) <= id {
                break;
            }
            at = before;
        }
        at
    }

    /// The entry with this ID.
    pub(super) fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        self.find(id).map(|at| self.decode(self.entries.get(at)))
    }

    /// The position of the entry with this ID.
    pub(super) fn find(&self, id: StreamId) -> Option<Position> {
        let at = self.seek(id);
        (at != self.entries.end() && self.id_of(self.entries.get(at)) == id).then_some(at)
    }

    /// The stored entries between two positions, from both ends; the first and the last when None.
    pub(super) fn items(&self, from: Option<Position>, to: Option<Position>) -> packed::Iter<'_> {
        let (from, to) = (from.unwrap_or(self.entries.start()), to.unwrap_or(self.entries.end()));
        self.entries.iter_between(from, to)
    }

    /// Reads a stored entry.
    #[inline]
    pub(super) fn decode<'a>(&'a self, item: &'a [u8]) -> Entry<'a> {
        let (same, mut rest) = item.split_first().map_or((false, item), |(flag, rest)| (*flag == 1, rest));
        let id = self.read_id(&mut rest);
        let field_count = if same { self.names.len() } else { read_varint(&mut rest) as usize };
        let names = same.then(|| self.names.iter());
        Entry { id, field_count, names, rest }
    }

    #[inline]
    fn read_id(&self, rest: &mut &[u8]) -> StreamId {
        let ms = self.first.ms.wrapping_add(read_varint(rest));
        let seq = self.first.seq.wrapping_add(unzigzag(read_varint(rest)));
        StreamId { ms, seq }
    }

    #[inline]
    fn id_of(&self, item: &[u8]) -> StreamId {
        self.read_id(&mut item.get(1..).unwrap_or(&[]))
    }

    /// About how many bytes the block takes up.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.names.byte_len() + self.entries.byte_len()
    }

    /// The bytes really allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.names.heap_bytes() + self.entries.heap_bytes()
    }
}

/// Reads the next string of a stored entry.
#[inline]
pub(super) fn read_string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = read_varint(rest) as usize;
    let (string, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(string)
}

fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a number; 0 at the end.
#[inline]
fn read_varint(rest: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some((byte, behind)) = rest.split_first() {
        *rest = behind;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 || shift >= 63 {
            break;
        }
        shift += 7;
    }
    value
}

/// Small differences of both signs as small numbers.
fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64) >> 63) as u64
}

fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// What an integer takes up in the server's listpack.
fn integer_size(value: i64) -> usize {
    let encoded = match value {
        0..=127 => 1,
        -4096..=4095 => 2,
        -32_768..=32_767 => 3,
        -8_388_608..=8_388_607 => 4,
        -2_147_483_648..=2_147_483_647 => 5,
        _ => 9,
    };
    encoded + 1
}

/// What a string takes up in the server's listpack, which stores the canonical integers as such.
fn string_size(string: &(impl AsRef<[u8]> + ?Sized)) -> usize {
    let string = string.as_ref();
    if let Some(integer) = parse_i64(string) {
        return integer_size(integer);
    }
    let encoded = match string.len() {
        len @ ..64 => 1 + len,
        len @ ..4096 => 2 + len,
        len => 5 + len,
    };
    let back = match encoded {
        0..=127 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    };
    encoded + back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for value in [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            write_varint(&mut out, value);
            assert_eq!(read_varint(&mut out.as_slice()), value);
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert_eq!((zigzag(3), zigzag(3_u64.wrapping_neg())), (6, 5));
    }

    #[test]
    fn sizes_are_those_of_a_listpack() {
        assert_eq!([127, 128, -1, 4096, 32_768, 1 << 23, 1 << 31].map(integer_size), [2, 3, 3, 4, 5, 6, 10]);
        assert_eq!(["", "a", "12", "-0", "012"].map(string_size), [2, 3, 2, 4, 5]);
        assert_eq!(
            [63, 64, 125, 126, 4095, 4096].map(|len| string_size(&vec![b'x'; len])),
            [65, 67, 128, 130, 4099, 4103]
        );
    }
}
