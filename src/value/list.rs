//! The list value: chunks of packed items (the server's quicklist). Both ends are one step away; the middle is found
//! by the counts of the chunks, from the nearer end. Commands are in `commands::lists`.

use std::collections::VecDeque;
use std::ops::Range;

use crate::util::bytes::Bytes;
use crate::value::packed::{self, Packed, stored_size};

/// The size of a full chunk. A longer item has a chunk of its own.
const CHUNK_BYTES: usize = 4096;

/// A sequence of byte strings. No chunk is ever empty.
#[derive(Clone, Default)]
pub struct List {
    chunks: VecDeque<Packed>,
    len: usize,
    item_bytes: usize,
}

impl List {
    /// An empty list.
    pub fn new() -> Self {
        List::default()
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item; such a list is never left in the keyspace.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The form, as OBJECT ENCODING names it.
    pub fn encoding(&self) -> &'static str {
        "quicklist"
    }

    /// Adds an item at the front.
    pub fn push_front(&mut self, item: &[u8]) {
        self.note_added(item);
        match self.chunks.front_mut() {
            Some(chunk) if fits(chunk, item) => chunk.push_front(item),
            full => {
                full.map(Packed::compact);
                self.chunks.push_front(one(item));
            }
        }
    }

    /// Adds an item at the back.
    pub fn push_back(&mut self, item: &[u8]) {
        self.note_added(item);
        match self.chunks.back_mut() {
            Some(chunk) if fits(chunk, item) => chunk.push_back(item),
            full => {
                full.map(Packed::compact);
                self.chunks.push_back(one(item));
            }
        }
    }

    /// Removes the first item.
    pub fn pop_front(&mut self) -> Option<Bytes> {
        let chunk = self.chunks.front_mut()?;
        let item = Bytes::from(chunk.get(chunk.start()));
        chunk.remove(chunk.start());
        if chunk.is_empty() {
            self.chunks.pop_front();
        }
        self.note_removed(1, stored_size(item.len()));
        Some(item)
    }

    /// Removes the last item.
    pub fn pop_back(&mut self) -> Option<Bytes> {
        let chunk = self.chunks.back_mut()?;
        let at = chunk.previous(chunk.end());
        let item = Bytes::from(chunk.get(at));
        chunk.remove(at);
        if chunk.is_empty() {
            self.chunks.pop_back();
        }
        self.note_removed(1, stored_size(item.len()));
        Some(item)
    }

    /// The item with this index.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let (number, within) = self.locate(index)?;
        let chunk = self.chunks.get(number)?;
        Some(chunk.get(chunk.seek(within)))
    }

    /// The index of the first item equal to this one.
    pub fn position(&self, item: &[u8]) -> Option<usize> {
        self.iter().position(|other| other == item)
    }

    /// Puts another item in the place of one; false if there is no such index.
    pub fn set(&mut self, index: usize, item: &[u8]) -> bool {
        let Some((number, within)) = self.locate(index) else { return false };
        let chunk = &mut self.chunks[number];
        let at = chunk.seek(within);
        let old = stored_size(chunk.get(at).len());
        if chunk.len() > 1 && chunk.byte_len() - old + stored_size(item.len()) > CHUNK_BYTES {
            chunk.remove(at);
            self.note_removed(1, old);
            self.insert(index, item);
            return true;
        }
        chunk.replace(at, item);
        self.item_bytes = self.item_bytes - old + stored_size(item.len());
        true
    }

    /// Inserts an item so that it has this index; at the back if the list is shorter.
    pub fn insert(&mut self, index: usize, item: &[u8]) {
        let Some((number, within)) = self.locate(index).filter(|_| index > 0) else {
            return if index == 0 { self.push_front(item) } else { self.push_back(item) };
        };
        self.note_added(item);
        let chunk = &mut self.chunks[number];
        let at = chunk.seek(within);
        if fits(chunk, item) {
            return chunk.insert(at, &[item]);
        }
        if within > 0 {
            let tail = chunk.split_off(at);
            self.chunks.insert(number + 1, tail);
            let chunk = &mut self.chunks[number];
            if fits(chunk, item) {
                return chunk.push_back(item);
            }
        }
        let before = if within > 0 { number + 1 } else { number };
        self.chunks.insert(before, one(item));
    }

    /// Removes up to `limit` items equal to this one, the first or the last of them, and returns how many.
    pub fn remove_equal(&mut self, item: &[u8], limit: usize, from_back: bool) -> usize {
        let (mut removed, chunk_count) = (0, self.chunks.len());
        for step in 0..chunk_count {
            if removed == limit {
                break;
            }
            let number = if from_back { chunk_count - 1 - step } else { step };
            removed += remove_from(&mut self.chunks[number], item, limit - removed, from_back);
        }
        self.note_removed(removed, removed * stored_size(item.len()));
        if removed > 0 {
            self.tidy_chunks();
        }
        removed
    }

    /// Keeps the items with these indexes only.
    pub fn trim(&mut self, keep: Range<usize>) {
        let end = keep.end.min(self.len);
        let start = keep.start.min(end);
        self.drop_back(self.len - end);
        self.drop_front(start);
    }

    /// All items, from both ends.
    pub fn iter(&self) -> Iter<'_> {
        self.range(0..self.len)
    }

    /// The items with these indexes, from both ends.
    pub fn range(&self, indexes: Range<usize>) -> Iter<'_> {
        let end = indexes.end.min(self.len);
        let start = indexes.start.min(end);
        let mut iter =
            Iter { list: self, middle: 0..0, front: packed::Iter::default(), back: packed::Iter::default() };
        let Some((first, from)) = self.locate(start).filter(|_| start < end) else { return iter };
        let (last, to) = self.locate(end).unwrap_or((self.chunks.len(), 0));
        let chunk = &self.chunks[first];
        if first == last {
            iter.front = chunk.iter_between(chunk.seek(from), chunk.seek(to));
            return iter;
        }
        iter.front = chunk.iter_between(chunk.seek(from), chunk.end());
        iter.middle = first + 1..last;
        if let Some(chunk) = self.chunks.get(last) {
            iter.back = chunk.iter_between(chunk.start(), chunk.seek(to));
        }
        iter
    }

    /// About how many bytes this list takes up, itself included.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.chunks.len() * size_of::<Packed>() + self.item_bytes
    }

    /// The chunk with the item of this index, and the item's index in there.
    fn locate(&self, index: usize) -> Option<(usize, usize)> {
        if index >= self.len {
            return None;
        }
        if index < self.len / 2 {
            let mut rest = index;
            for (number, chunk) in self.chunks.iter().enumerate() {
                match rest.checked_sub(chunk.len()) {
                    Some(less) => rest = less,
                    None => return Some((number, rest)),
                }
            }
        }
        let mut behind = self.len - index;
        for (number, chunk) in self.chunks.iter().enumerate().rev() {
            match chunk.len().checked_sub(behind) {
                Some(within) => return Some((number, within)),
                None => behind -= chunk.len(),
            }
        }
        None
    }

    fn drop_front(&mut self, count: usize) {
        let (mut rest, mut bytes) = (count, 0);
        while let Some(chunk) = self.chunks.front_mut().filter(|_| rest > 0) {
            if chunk.len() <= rest {
                rest -= chunk.len();
                bytes += chunk.byte_len();
                self.chunks.pop_front();
            } else {
                bytes += chunk.byte_len();
                chunk.remove_run(chunk.start(), rest);
                bytes -= chunk.byte_len();
                rest = 0;
            }
        }
        self.note_removed(count, bytes);
    }

    fn drop_back(&mut self, count: usize) {
        let (mut rest, mut bytes) = (count, 0);
        while let Some(chunk) = self.chunks.back_mut().filter(|_| rest > 0) {
            if chunk.len() <= rest {
                rest -= chunk.len();
                bytes += chunk.byte_len();
                self.chunks.pop_back();
            } else {
                bytes += chunk.byte_len();
                chunk.remove_run(chunk.seek(chunk.len() - rest), rest);
                bytes -= chunk.byte_len();
                rest = 0;
            }
        }
        self.note_removed(count, bytes);
    }

    /// Drops empty chunks and joins neighbours that together fill no more than half of one.
    fn tidy_chunks(&mut self) {
        let mut kept = VecDeque::<Packed>::with_capacity(self.chunks.len());
        for chunk in self.chunks.drain(..).filter(|chunk| !chunk.is_empty()) {
            match kept.back_mut() {
                Some(before) if before.byte_len() + chunk.byte_len() <= CHUNK_BYTES / 2 => {
                    before.append(&chunk)
                }
                _ => kept.push_back(chunk),
            }
        }
        self.chunks = kept;
    }

    fn note_added(&mut self, item: &[u8]) {
        self.len += 1;
        self.item_bytes += stored_size(item.len());
    }

    fn note_removed(&mut self, count: usize, bytes: usize) {
        self.len -= count;
        self.item_bytes -= bytes;
    }
}

fn fits(chunk: &Packed, item: &[u8]) -> bool {
    chunk.byte_len() + stored_size(item.len()) <= CHUNK_BYTES
}

fn one(item: &[u8]) -> Packed {
    let mut chunk = Packed::new();
    chunk.push_back(item);
    chunk
}

/// Removes up to `limit` items equal to this one, the first or the last of them, and returns how many.
fn remove_from(chunk: &mut Packed, item: &[u8], limit: usize, from_back: bool) -> usize {
    let found = chunk.iter().filter(|other| *other == item).count();
    let removed = found.min(limit);
    if removed == 0 {
        return 0;
    }
    let first = if from_back { found - removed } else { 0 };
    let (mut kept, mut seen) = (Packed::new(), 0);
    for other in chunk.iter() {
        let doomed = other == item && (first..first + removed).contains(&seen);
        seen += usize::from(other == item);
        if !doomed {
            kept.push_back(other);
        }
    }
    *chunk = kept;
    removed
}

/// Items of a [`List`], from both ends.
#[derive(Clone)]
pub struct Iter<'a> {
    list: &'a List,
    /// The chunks not begun from either end.
    middle: Range<usize>,
    front: packed::Iter<'a>,
    back: packed::Iter<'a>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(item) = self.front.next() {
                return Some(item);
            }
            match self.middle.next() {
                Some(number) => self.front = self.list.chunks.get(number)?.iter(),
                None => return self.back.next(),
            }
        }
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.back.next_back() {
                return Some(item);
            }
            match self.middle.next_back() {
                Some(number) => self.back = self.list.chunks.get(number)?.iter(),
                None => return self.front.next_back(),
            }
        }
    }
}

/// Equal when the items are, however they are divided into chunks.
impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(Bytes::from)).finish()
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
