//! Listpacks, the server's packed form of strings and integers: written, and looked through to the end before a single
//! item is given out. Six bytes of header (size, count), the items, a byte of 255. An item is what it is encoded as,
//! its bytes, and its length again, read backwards.

use crate::util::num::parse_i64;

const HEADER_BYTES: usize = 6;
const END: u8 = 0xff;
/// The count of a listpack that holds too many items to say how many.
const COUNT_UNKNOWN: u16 = u16::MAX;
/// Texts up to this length are looked at as integers.
const INTEGER_DIGITS_MAX: usize = 20;

/// An item of a listpack or a ziplist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item<'a> {
    /// A string.
    Text(&'a [u8]),
    /// An integer.
    Integer(i64),
}

impl<'a> Item<'a> {
    /// The item as a string; an integer is written into the buffer.
    pub fn text<'b>(&self, buffer: &'b mut itoa::Buffer) -> &'b [u8]
    where
        'a: 'b,
    {
        match *self {
            Item::Text(text) => text,
            Item::Integer(value) => buffer.format(value).as_bytes(),
        }
    }
    /// The item as an integer.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Item::Integer(value) => Some(*value),
            Item::Text(_) => None,
        }
    }
}

/// Makes a listpack.
#[derive(Debug, Clone)]
pub struct Builder {
    bytes: Vec<u8>,
    count: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Builder { bytes: vec![0; HEADER_BYTES], count: 0 }
    }
}

impl Builder {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The size that the whole will have.
    pub fn byte_len(&self) -> usize {
        self.bytes.len() + 1
    }
    /// Adds a string, as an integer when it is one.
    pub fn push(&mut self, text: &[u8]) {
        if text.len() <= INTEGER_DIGITS_MAX
            && let Some(value) = parse_i64(text)
        {
            return self.push_integer(value);
        }
        let start = self.bytes.len();
        match text.len() {
            len @ 0..64 => self.bytes.push(0x80 | len as u8),
            len @ 64..4096 => self.bytes.extend([0xe0 | (len >> 8) as u8, len as u8]),
            len => {
                self.bytes.push(0xf0);
                self.bytes.extend((len as u32).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(text);
        self.close(start);
    }
    /// Adds an integer.
    pub fn push_integer(&mut self, value: i64) {
        let start = self.bytes.len();
        let little = value.to_le_bytes();
        match value {
            0..=127 => self.bytes.push(value as u8),
            -4096..=4095 => {
                let bits = (value & 0x1fff) as u16;
                self.bytes.extend([0xc0 | (bits >> 8) as u8, bits as u8]);
            }
            -0x8000..=0x7fff => self.integer_bytes(0xf1, &little[..2]),
            -0x80_0000..=0x7f_ffff => self.integer_bytes(0xf2, &little[..3]),
            -0x8000_0000..=0x7fff_ffff => self.integer_bytes(0xf3, &little[..4]),
            _ => self.integer_bytes(0xf4, &little),
        }
        self.close(start);
    }
    fn integer_bytes(&mut self, encoding: u8, bytes: &[u8]) {
        self.bytes.push(encoding);
        self.bytes.extend_from_slice(bytes);
    }
    /// Ends the item that began at `start`: its length, readable backwards.
    fn close(&mut self, start: usize) {
        let length = self.bytes.len() - start;
        for place in (0..back_length_size(length)).rev() {
            let first = place + 1 == back_length_size(length);
            let bits = (length >> (7 * place)) as u8 & 0x7f;
            self.bytes.push(if first { bits } else { bits | 0x80 });
        }
        self.count += 1;
    }
    /// The listpack.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(END);
        let size = (self.bytes.len() as u32).to_le_bytes();
        let count = u16::try_from(self.count).unwrap_or(COUNT_UNKNOWN).to_le_bytes();
        for (place, byte) in self.bytes.iter_mut().zip(size.into_iter().chain(count)) {
            *place = byte;
        }
        self.bytes
    }
}

/// How many bytes the length of an item takes up behind it.
fn back_length_size(length: usize) -> usize {
    match length {
        0..128 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    }
}

/// The items of a listpack; none when it does not hold together from its first byte to its last.
pub fn items(listpack: &[u8]) -> Option<Items<'_>> {
    let (size, rest) = listpack.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let items = Items { rest: rest.strip_suffix(&[END])? };
    if u32::from_le_bytes(*size) as usize != listpack.len() {
        return None;
    }
    let (mut walk, mut found) = (items.rest, 0);
    while !walk.is_empty() {
        walk = read(walk)?.1;
        found += 1;
    }
    let count = u16::from_le_bytes(*count);
    (count == COUNT_UNKNOWN || usize::from(count) == found).then_some(items)
}

/// The items of a listpack that holds together.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (item, rest) = read(self.rest)?;
        self.rest = rest;
        Some(item)
    }
}

/// The first item, and what is behind it.
fn read(data: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let (&first, after) = data.split_first()?;
    let (item, rest) = match first {
        0..0x80 => (Item::Integer(first.into()), after),
        0x80..0xc0 => text(after, usize::from(first & 0x3f))?,
        0xc0..0xe0 => {
            let (&low, after) = after.split_first()?;
            let bits = i64::from(first & 0x1f) << 8 | i64::from(low);
            (Item::Integer(if bits >= 1 << 12 { bits - (1 << 13) } else { bits }), after)
        }
        0xe0..0xf0 => {
            let (&low, after) = after.split_first()?;
            text(after, usize::from(first & 0xf) << 8 | usize::from(low))?
        }
        0xf0 => {
            let (len, after) = after.split_first_chunk()?;
            text(after, u32::from_le_bytes(*len) as usize)?
        }
        0xf1 => little_endian(after, 2)?,
        0xf2 => little_endian(after, 3)?,
        0xf3 => little_endian(after, 4)?,
        0xf4 => little_endian(after, 8)?,
        _ => return None,
    };
    let length = data.len() - rest.len();
    let (back, rest) = rest.split_at_checked(back_length_size(length))?;
    (read_back_length(back)? == length).then_some((item, rest))
}

/// A string of so many bytes, and what is behind it.
pub(super) fn text(data: &[u8], len: usize) -> Option<(Item<'_>, &[u8])> {
    let (text, rest) = data.split_at_checked(len)?;
    Some((Item::Text(text), rest))
}

/// An integer of so many bytes, and what is behind it.
pub(super) fn little_endian(data: &[u8], count: usize) -> Option<(Item<'_>, &[u8])> {
    let (bytes, rest) = data.split_at_checked(count)?;
    let mut whole = [if bytes.last()? & 0x80 == 0 { 0 } else { 0xff }; 8];
    whole.get_mut(..count)?.copy_from_slice(bytes);
    Some((Item::Integer(i64::from_le_bytes(whole)), rest))
}

/// The length in these bytes, which must all be part of it.
fn read_back_length(bytes: &[u8]) -> Option<usize> {
    let mut length = 0;
    for (place, byte) in bytes.iter().rev().enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return (place + 1 == bytes.len()).then_some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listpack(texts: &[&[u8]]) -> Vec<u8> {
        let mut builder = Builder::default();
        texts.iter().for_each(|text| builder.push(text));
        assert_eq!((builder.len(), builder.is_empty()), (texts.len(), texts.is_empty()));
        let size = builder.byte_len();
        let listpack = builder.finish();
        assert_eq!(listpack.len(), size);
        listpack
    }

    fn texts(listpack: &[u8]) -> Option<Vec<Vec<u8>>> {
        Some(items(listpack)?.map(|item| item.text(&mut itoa::Buffer::new()).to_vec()).collect())
    }

    #[test]
    fn a_listpack_is_that_of_the_server() {
        assert_eq!(listpack(&[b"a", b"1"]), *b"\x0c\0\0\0\x02\0\x81a\x02\x01\x01\xff");
        assert_eq!(listpack(&[]), *b"\x07\0\0\0\0\0\xff");
    }

    #[test]
    fn items_of_every_size_come_back() {
        let long: Vec<Vec<u8>> =
            [63, 64, 123, 4095, 4096, 16_377, 16_378, 2_097_146].map(|len| vec![b'x'; len]).into();
        let numbers = [0, 127, 128, 4095, 4096, 32_767, 32_768, 8_388_607, 8_388_608, i64::from(i32::MAX)];
        let more =
            [i64::from(i32::MAX) + 1, i64::MAX, i64::MIN, -1, -4096, -4097, -32_768, -32_769, -8_388_609];
        let numbers: Vec<String> = numbers.iter().chain(&more).map(i64::to_string).collect();
        let mut all: Vec<&[u8]> = vec![b"", b"007", b"-0", b"9223372036854775808"];
        all.extend(long.iter().map(Vec::as_slice));
        all.extend(numbers.iter().map(String::as_bytes));
        let bytes = listpack(&all);
        assert_eq!(texts(&bytes), Some(all.iter().map(|text| text.to_vec()).collect()));
        assert_eq!(items(&bytes).map(|items| items.filter_map(|item| item.integer()).count()), Some(19));
    }

    #[test]
    fn the_count_of_many_items_is_unknown() {
        let many = vec![&b"x"[..]; 70_000];
        let bytes = listpack(&many);
        assert_eq!(bytes[4..6], [0xff, 0xff]);
        assert_eq!(items(&bytes).map(Iterator::count), Some(70_000));
    }

    proptest! {
        #[test]
        fn any_change_of_structure_is_seen(texts in prop::collection::vec("[0-9]{0,4}|[a-z]{0,70}", 0..6)) {
            let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
            let bytes = listpack(&texts);
            for end in 0..bytes.len() {
                prop_assert!(items(&bytes[..end]).is_none());
            }
            let mut longer = bytes.clone();
            longer.push(END);
            prop_assert!(items(&longer).is_none());
        }

        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let size = (bytes.len() as u32).to_le_bytes();
            bytes.iter_mut().zip(size).for_each(|(place, byte)| *place = byte);
            if let Some(items) = items(&bytes) {
                prop_assert!(items.count() <= bytes.len());
            }
        }
    }
}
