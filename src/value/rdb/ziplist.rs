//! The packed forms that older servers wrote and 7.0 still reads, and intsets: ziplists (before 7.0), zipmaps (before
//! 2.6). Each is looked through to its end before an item is given out. Written are intsets only.

use super::listpack::{Item, little_endian, text};

const HEADER_BYTES: usize = 10;
const END: u8 = 0xff;
/// The count of a ziplist that holds too many items to say how many.
const COUNT_UNKNOWN: u16 = u16::MAX;
/// A length that does not fit in a byte has four more behind this one.
const LONG: u8 = 0xfe;

/// The items of a ziplist; none when it does not hold together from its first byte to its last.
pub fn items(ziplist: &[u8]) -> Option<Items<'_>> {
    let (size, rest) = ziplist.split_first_chunk()?;
    let (tail, rest) = rest.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let items = Items { rest: rest.strip_suffix(&[END])? };
    let (size, tail) = (u32::from_le_bytes(*size) as usize, u32::from_le_bytes(*tail) as usize);
    if size != ziplist.len() || tail >= size {
        return None;
    }
    let (mut walk, mut found, mut before, mut last) = (items.rest, 0, 0, tail);
    while !walk.is_empty() {
        let entry = read(walk)?;
        if entry.before != before {
            return None;
        }
        last = HEADER_BYTES + items.rest.len() - walk.len();
        before = walk.len() - entry.rest.len();
        walk = entry.rest;
        found += 1;
    }
    let count = u16::from_le_bytes(*count);
    let counted = count == COUNT_UNKNOWN || usize::from(count) == found;
    (counted && last == tail).then_some(items)
}

/// The items of a ziplist that holds together.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let entry = read(self.rest)?;
        self.rest = entry.rest;
        Some(entry.item)
    }
}

struct Entry<'a> {
    /// The size of the entry before this one.
    before: usize,
    item: Item<'a>,
    rest: &'a [u8],
}

/// The first entry.
fn read(data: &[u8]) -> Option<Entry<'_>> {
    let (before, data) = length(data)?;
    let (&first, after) = data.split_first()?;
    let (item, rest) = match first {
        0..0x40 => text(after, usize::from(first))?,
        0x40..0x80 => {
            let (&low, after) = after.split_first()?;
            text(after, usize::from(first & 0x3f) << 8 | usize::from(low))?
        }
        0x80 => {
            let (len, after) = after.split_first_chunk()?;
            text(after, u32::from_be_bytes(*len) as usize)?
        }
        0xc0 => little_endian(after, 2)?,
        0xd0 => little_endian(after, 4)?,
        0xe0 => little_endian(after, 8)?,
        0xf0 => little_endian(after, 3)?,
        0xfe => little_endian(after, 1)?,
        0xf1..=0xfd => (Item::Integer(i64::from(first & 0xf) - 1), after),
        _ => return None,
    };
    Some(Entry { before, item, rest })
}

/// A length of one byte or five.
fn length(data: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = data.split_first()?;
    match first {
        0..LONG => Some((first.into(), rest)),
        LONG => {
            let (length, rest) = rest.split_first_chunk()?;
            Some((u32::from_le_bytes(*length) as usize, rest))
        }
        _ => None,
    }
}

/// The keys and values of a zipmap; none when it does not hold together.
pub fn pairs(zipmap: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let (&count, rest) = zipmap.split_first()?;
    let mut rest = rest.strip_suffix(&[END])?;
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (len, after) = length(rest)?;
        let (key, after) = after.split_at_checked(len)?;
        let (len, after) = length(after)?;
        let (&unused, after) = after.split_first()?;
        let (value, after) = after.split_at_checked(len)?;
        rest = after.get(usize::from(unused)..)?;
        pairs.push((key, value));
    }
    (!pairs.is_empty() && (count >= LONG || usize::from(count) == pairs.len())).then_some(pairs)
}

/// The integers of an intset, ascending; none when it does not hold together, or holds nothing.
pub fn integers(intset: &[u8]) -> Option<impl Iterator<Item = i64>> {
    let (size, rest) = intset.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let size = u32::from_le_bytes(*size) as usize;
    if ![2, 4, 8].contains(&size) || rest.is_empty() {
        return None;
    }
    let integers = rest.chunks(size).filter_map(move |chunk| little_endian(chunk, size)?.0.integer());
    let whole = (u32::from_le_bytes(*count) as usize).checked_mul(size) == Some(rest.len());
    (whole && integers.clone().is_sorted_by(|one, next| one < next)).then_some(integers)
}

/// An intset of these integers, which ascend.
pub fn intset(integers: &[i64]) -> Vec<u8> {
    let ends = [integers.first(), integers.last()].map(|end| end.copied().unwrap_or_default());
    let fits = |least: i64, most: i64| ends.iter().all(|end| (least..=most).contains(end));
    let size = match () {
        () if fits(i16::MIN.into(), i16::MAX.into()) => 2,
        () if fits(i32::MIN.into(), i32::MAX.into()) => 4,
        () => 8,
    };
    let mut out = Vec::with_capacity(8 + integers.len() * size);
    out.extend((size as u32).to_le_bytes());
    out.extend((integers.len() as u32).to_le_bytes());
    integers.iter().for_each(|integer| out.extend_from_slice(&integer.to_le_bytes()[..size]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `two`, 5, 1000 and 100000, as a server before 7.0 packed them.
    const ZIPLIST: &[u8] =
        b"\x1c\0\0\0\x15\0\0\0\x04\0\0\x03two\x05\xf6\x02\xc0\xe8\x03\x04\xd0\xa0\x86\x01\0\xff";

    #[test]
    fn a_ziplist_is_read_to_its_end_or_not_at_all() {
        let expected = [Item::Text(b"two"), Item::Integer(5), Item::Integer(1000), Item::Integer(100_000)];
        assert_eq!(items(ZIPLIST).map(Iterator::collect), Some(expected.to_vec()));
        for at in [0, 4, 8, 10, 15, 17, 21] {
            let mut wrong = ZIPLIST.to_vec();
            wrong[at] ^= 1;
            assert!(items(&wrong).is_none(), "byte {at}");
            assert!(items(&ZIPLIST[..at]).is_none());
        }
    }

    #[test]
    fn a_zipmap_has_pairs_and_unused_bytes() {
        let zipmap = b"\x02\x01a\x02\x0012\x01b\x01\x023xx\xff";
        assert_eq!(pairs(zipmap), Some(vec![(&b"a"[..], &b"12"[..]), (b"b", b"3")]));
        for end in 0..zipmap.len() {
            assert_eq!(pairs(&zipmap[..end]), None);
        }
        assert_eq!((pairs(b"\x01\x01a\x01\x00"), pairs(b"\x00\xff")), (None, None));
    }

    #[test]
    fn intsets_are_as_small_as_their_integers_allow() {
        assert_eq!(intset(&[-1, 2]), *b"\x02\0\0\0\x02\0\0\0\xff\xff\x02\0");
        for integers in [&[0, 32_768][..], &[-32_769, 5], &[i64::MIN, 0, i64::MAX], &[7]] {
            let bytes = intset(integers);
            assert_eq!(super::integers(&bytes).map(Iterator::collect), Some(integers.to_vec()));
        }
        assert!(super::integers(&intset(&[])).is_none());
        assert!(super::integers(b"\x02\0\0\0\x02\0\0\0\x02\0\x02\0").is_none(), "twice the same");
        assert!(super::integers(b"\x03\0\0\0\x01\0\0\0\x02\0\0").is_none(), "no such size");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            _ = pairs(&bytes);
            _ = integers(&bytes).map(Iterator::count);
            let size = (bytes.len() as u32).to_le_bytes();
            bytes.iter_mut().zip(size).for_each(|(place, byte)| *place = byte);
            _ = items(&bytes).map(Iterator::count);
        }
    }
}
