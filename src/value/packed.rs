//! `Packed`: byte strings one after another in one allocation, walked from both ends. It is the small form of
//! hashes and sorted sets and the chunk of lists and streams. Each item is stored as its length, its bytes and its
//! length again (read backwards): two bytes more than the string when that is shorter than 128.
//! Room freed at the front is kept as a gap, so that both ends are cheap.

/// When a small form gives way to the large one, as configured by `*-max-listpack-entries` and `-value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most entries (fields of a hash, members of a sorted set) the small form holds.
    pub max_entries: usize,
    /// The longest string the small form holds.
    pub max_value: usize,
}

impl Limits {
    /// The server's defaults for hashes.
    pub const HASH: Limits = Limits { max_entries: 512, max_value: 64 };
    /// The server's defaults for sorted sets.
    pub const ZSET: Limits = Limits { max_entries: 128, max_value: 64 };
}

/// The size at which the server leaves the small form whatever the limits say.
pub(crate) const PACKED_MAX_BYTES: usize = 1 << 30;

/// Where an item begins. Good until the sequence changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(usize);

/// A packed sequence of byte strings.
#[derive(Default)]
pub struct Packed {
    data: Vec<u8>,
    head: usize,
    count: u32,
}

impl Packed {
    /// An empty sequence; allocates nothing.
    pub const fn new() -> Self {
        Packed { data: Vec::new(), head: 0, count: 0 }
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no item.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bytes the items take up, their lengths included.
    #[inline]
    pub fn byte_len(&self) -> usize {
        self.data.len() - self.head
    }

    /// The bytes really allocated.
    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.data.capacity()
    }

    /// The position of the first item, or the end.
    #[inline]
    pub fn start(&self) -> Position {
        Position(self.head)
    }

    /// The position behind the last item.
    #[inline]
    pub fn end(&self) -> Position {
        Position(self.data.len())
    }

    /// The item at a position; empty at the end.
    #[inline]
    pub fn get(&self, at: Position) -> &[u8] {
        read_forward(self.data.get(at.0..).unwrap_or(&[])).map_or(&[], |(item, _)| item)
    }

    /// The position of the item behind this one, or the end.
    #[inline]
    pub fn next(&self, at: Position) -> Position {
        let rest = self.data.get(at.0..).unwrap_or(&[]);
        Position(read_forward(rest).map_or(self.data.len(), |(_, size)| at.0 + size))
    }

    /// The position of the item before this one, or the start.
    #[inline]
    pub fn previous(&self, at: Position) -> Position {
        let before = self.data.get(self.head..at.0).unwrap_or(&[]);
        Position(read_backward(before).map_or(self.head, |(_, size)| at.0 - size))
    }

    /// The position of the item with this index, walking from the nearer end; the end when there is none.
    pub fn seek(&self, index: usize) -> Position {
        let len = self.len();
        if index >= len {
            return self.end();
        }
        if index <= len / 2 {
            return (0..index).fold(self.start(), |at, _| self.next(at));
        }
        (index..len).fold(self.end(), |at, _| self.previous(at))
    }

    /// The items in order, from both ends.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        self.iter_between(self.start(), self.end())
    }

    /// The items from one position up to, not including, another.
    #[inline]
    pub fn iter_between(&self, start: Position, end: Position) -> Iter<'_> {
        Iter { rest: self.data.get(start.0..end.0).unwrap_or(&[]) }
    }

    /// The index and position of the first item that matches, looking at every `stride`th only.
    #[inline]
    pub fn find(&self, stride: usize, matches: impl Fn(&[u8]) -> bool) -> Option<(usize, Position)> {
        let (mut iter, mut index) = (self.iter(), 0);
        loop {
            let at = self.data.len() - iter.rest.len();
            if matches(iter.next()?) {
                return Some((index, Position(at)));
            }
            for _ in 1..stride {
                iter.next();
            }
            index += stride;
        }
    }

    /// Adds an item at the end.
    #[inline]
    pub fn push_back(&mut self, item: &[u8]) {
        self.insert(self.end(), &[item]);
    }

    /// Adds an item at the front; the gap left for more grows with the sequence.
    pub fn push_front(&mut self, item: &[u8]) {
        let size = stored_size(item.len());
        if self.head < size {
            self.open_front(size + self.byte_len().min(4096));
        }
        self.head -= size;
        self.count += 1;
        write_item(&mut self.data[self.head..], &[item], item.len());
    }

    /// Inserts one item, made of the parts one after another, before the item at `at`.
    pub fn insert(&mut self, at: Position, parts: &[&[u8]]) {
        let len = parts.iter().map(|part| part.len()).sum();
        let size = stored_size(len);
        let at = at.0 - self.make_room(size);
        let end = self.data.len();
        self.data.resize(end + size, 0);
        self.data.copy_within(at..end, at + size);
        write_item(&mut self.data[at..], parts, len);
        self.count += 1;
    }

    /// Removes the item at `at`; the items behind it move to its place.
    pub fn remove(&mut self, at: Position) {
        self.remove_run(at, 1);
    }

    /// Removes up to `count` items from `at` on.
    pub fn remove_run(&mut self, at: Position, count: usize) {
        let (mut end, mut removed) = (at, 0);
        while removed < count as u32 && end != self.end() {
            end = self.next(end);
            removed += 1;
        }
        self.count -= removed;
        if self.count == 0 {
            self.data.clear();
            self.head = 0;
        } else if at.0 == self.head {
            self.head = end.0;
        } else if end == self.end() {
            self.data.truncate(at.0);
        } else {
            self.data.drain(at.0..end.0);
        }
        if self.data.capacity() > 256 && self.byte_len() < self.data.capacity() / 4 {
            self.compact();
        }
    }

    /// Puts another item in the place of the one at `at`.
    pub fn replace(&mut self, at: Position, item: &[u8]) {
        let old = self.get(at).len();
        if old != item.len() {
            let next = self.next(at);
            self.data.splice(at.0..next.0, std::iter::repeat_n(0, stored_size(item.len())));
        }
        write_item(&mut self.data[at.0..], &[item], item.len());
    }

    /// Cuts the sequence before `at` and returns the rest.
    pub fn split_off(&mut self, at: Position) -> Packed {
        let moved = self.iter_between(at, self.end()).count() as u32;
        let tail = Packed { data: self.data[at.0..].to_vec(), head: 0, count: moved };
        self.data.truncate(at.0);
        self.count -= moved;
        self.compact();
        tail
    }

    /// Adds all items of another sequence at the end.
    pub fn append(&mut self, other: &Packed) {
        self.make_room(other.byte_len());
        self.data.extend_from_slice(&other.data[other.head..]);
        self.count += other.count;
    }

    /// Gives back the memory that holds no item.
    pub fn compact(&mut self) {
        self.data.drain(..self.head);
        self.head = 0;
        self.data.shrink_to_fit();
    }

    /// Makes room for `size` more bytes at the end. Returns by how much the items moved down.
    fn make_room(&mut self, size: usize) -> usize {
        if self.data.capacity() - self.data.len() >= size {
            return 0;
        }
        let moved = self.head;
        if moved > self.byte_len() / 4 {
            self.data.drain(..moved);
            self.head = 0;
        }
        // A quarter more, not twice: the small forms are there to be small.
        self.data.reserve_exact(size.max(self.byte_len() / 4));
        moved - self.head
    }

    /// Makes the gap at the front `gap` bytes long.
    fn open_front(&mut self, gap: usize) {
        let mut data = Vec::with_capacity(gap + self.byte_len());
        data.resize(gap, 0);
        data.extend_from_slice(&self.data[self.head..]);
        self.data = data;
        self.head = gap;
    }
}

/// A clone takes up no more than the items need.
impl Clone for Packed {
    fn clone(&self) -> Self {
        Packed { data: self.data[self.head..].to_vec(), head: 0, count: self.count }
    }
}

/// Equal items are stored in equal bytes.
impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.data[self.head..] == other.data[other.head..]
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(crate::util::bytes::Bytes::from)).finish()
    }
}

/// The items of a [`Packed`], from both ends.
#[derive(Clone, Debug, Default)]
pub struct Iter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let (item, size) = read_forward(self.rest)?;
        self.rest = &self.rest[size..];
        Some(item)
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (item, size) = read_backward(self.rest)?;
        self.rest = &self.rest[..self.rest.len() - size];
        Some(item)
    }
}

/// The bytes that the two lengths of an item of `len` bytes and the item take up.
#[inline]
pub(crate) fn stored_size(len: usize) -> usize {
    len + 2 * length_size(len)
}

#[inline]
fn length_size(len: usize) -> usize {
    let bits = (usize::BITS - (len | 1).leading_zeros()) as usize;
    bits.div_ceil(7)
}

/// The first item and its stored size, or None at the end.
#[inline]
fn read_forward(data: &[u8]) -> Option<(&[u8], usize)> {
    let first = *data.first()?;
    if first < 0x80 {
        let len = usize::from(first);
        return Some((data.get(1..1 + len)?, len + 2));
    }
    let len = read_length(data.iter());
    let start = length_size(len);
    Some((data.get(start..start + len)?, len + 2 * start))
}

/// The last item and its stored size, or None at the start.
#[inline]
fn read_backward(data: &[u8]) -> Option<(&[u8], usize)> {
    let len = match *data.last()? {
        last if last < 0x80 => usize::from(last),
        _ => read_length(data.iter().rev()),
    };
    let end = data.len() - length_size(len);
    Some((data.get(end - len..end)?, stored_size(len)))
}

fn read_length<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    let mut len = 0;
    for (place, byte) in bytes.enumerate() {
        len |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    len
}

/// Writes an item over the start of `out`.
fn write_item(out: &mut [u8], parts: &[&[u8]], len: usize) {
    let size = length_size(len);
    for place in 0..size {
        let more = if place + 1 < size { 0x80 } else { 0 };
        let byte = (len >> (7 * place)) as u8 & 0x7f | more;
        out[place] = byte;
        out[2 * size + len - 1 - place] = byte;
    }
    let mut at = size;
    for part in parts {
        out[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn items(packed: &Packed) -> Vec<Vec<u8>> {
        packed.iter().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn lengths_of_every_size_read_back_from_both_ends() {
        let mut packed = Packed::new();
        let lengths = [0, 1, 127, 128, 16383, 16384, 2_097_151, 2_097_152];
        for len in lengths {
            packed.push_back(&vec![b'x'; len]);
        }
        assert_eq!(packed.iter().map(<[u8]>::len).collect::<Vec<_>>(), lengths);
        assert_eq!(
            packed.iter().rev().map(<[u8]>::len).collect::<Vec<_>>(),
            lengths.map(|len| len).iter().rev().copied().collect::<Vec<_>>()
        );
    }

    #[test]
    fn short_items_cost_two_bytes_more() {
        let mut packed = Packed::new();
        packed.push_back(b"0123456789abcdef");
        assert_eq!(packed.byte_len(), 18);
        packed.insert(packed.end(), &[b"ab", b"", b"c"]);
        assert_eq!(items(&packed)[1], b"abc");
    }

    #[test]
    fn a_queue_keeps_its_memory() {
        let mut packed = Packed::new();
        for round in 0..10_000_u32 {
            packed.push_back(&round.to_le_bytes());
            if round >= 10 {
                assert_eq!(packed.get(packed.start()), (round - 10).to_le_bytes());
                packed.remove(packed.start());
            }
        }
        assert!(packed.heap_bytes() < 200, "{}", packed.heap_bytes());
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_vec(steps in prop::collection::vec((0..7_u8, 0..300_usize, 0..200_usize), 1..80)) {
            let (mut packed, mut model) = (Packed::new(), Vec::<Vec<u8>>::new());
            for (step, pick, len) in steps {
                let item = vec![step; len];
                let index = if model.is_empty() { 0 } else { pick % model.len() };
                let at = packed.seek(index);
                match step {
                    0 => { packed.push_back(&item); model.push(item); }
                    1 => { packed.push_front(&item); model.insert(0, item); }
                    2 => { packed.insert(at, &[&item[..len / 2], &item[len / 2..]]); model.insert(index, item); }
                    3 if !model.is_empty() => { packed.remove(at); model.remove(index); }
                    4 if !model.is_empty() => { packed.replace(at, &item); model[index] = item; }
                    5 => {
                        let tail = packed.split_off(at);
                        prop_assert_eq!(items(&tail), model[index..].to_vec());
                        packed.append(&tail);
                    }
                    _ => packed.compact(),
                }
                prop_assert_eq!(items(&packed), model.clone());
                prop_assert_eq!(packed.len(), model.len());
                let reversed: Vec<Vec<u8>> = packed.iter().rev().map(<[u8]>::to_vec).collect();
                prop_assert_eq!(reversed, model.iter().rev().cloned().collect::<Vec<_>>());
                prop_assert_eq!(&packed.clone(), &packed);
            }
        }
    }
}
