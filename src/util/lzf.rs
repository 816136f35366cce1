//! LZF, the compression of strings in Redis's dumps. Any compressor may choose what to refer back to; this one chooses
//! as the server's does, so that dumps are equal byte for byte.
//!
//! The format: a byte below 32 is followed by that many literal bytes and one more. Any other byte holds a length in
//! its upper three bits (7: a byte with the rest of it follows) and the upper bits of a distance, whose lower byte comes
//! last. Copied are length + 2 bytes from distance + 1 bytes back.

/// How many places the compressor remembers, by a hash of three bytes.
const PLACES: usize = 1 << 16;
const LITERALS_MAX: usize = 32;
const DISTANCE_MAX: usize = 1 << 13;
const LENGTH_MAX: usize = (1 << 8) + (1 << 3);
/// The server compares so many bytes after the third without a look at the end, when they are there.
const UNBOUNDED: usize = 16;
/// A back reference of three bytes makes at most `LENGTH_MAX`.
const EXPANSION_MAX: usize = LENGTH_MAX;

/// The hash of the three bytes at `at`.
fn hash(input: &[u8], at: usize) -> usize {
    let word = u32::from(input[at]) << 16 | u32::from(input[at + 1]) << 8 | u32::from(input[at + 2]);
    ((word >> 8).wrapping_sub(word.wrapping_mul(5)) & (PLACES as u32 - 1)) as usize
}

/// The bytes, compressed: none when that takes more than `room` bytes.
pub fn compress(input: &[u8], room: usize) -> Option<Vec<u8>> {
    // Places are kept with one added: 0 is none.
    let mut places = vec![0u32; PLACES];
    let mut writer = Writer { out: Vec::with_capacity(room.min(input.len())), literals: 0, room };
    writer.begin_literals();
    let mut at = 0;
    while at + 2 < input.len() {
        let slot = &mut places[hash(input, at)];
        let earlier = std::mem::replace(slot, at as u32 + 1) as usize;
        match matching(input, earlier, at) {
            None => {
                writer.literal(input[at])?;
                at += 1;
            }
            Some(length) => {
                writer.reference(at - earlier, length)?;
                at += length;
                if at + 2 >= input.len() {
                    break;
                }
                for inside in [at - 2, at - 1] {
                    places[hash(input, inside)] = inside as u32 + 1;
                }
            }
        }
    }
    if writer.out.len() + 3 > room {
        return None;
    }
    for byte in &input[at.min(input.len())..] {
        writer.last_literal(*byte);
    }
    writer.end_literals();
    Some(writer.out)
}

/// How many bytes at `at` are those of an earlier place (counted from 1), when it may be referred to.
fn matching(input: &[u8], earlier: usize, at: usize) -> Option<usize> {
    // The very first place is never referred to.
    let from = earlier.checked_sub(1).filter(|&from| from > 0)?;
    if at - from > DISTANCE_MAX || input[from..from + 3] != input[at..at + 3] {
        return None;
    }
    let mut longest = (input.len() - at - 2).min(LENGTH_MAX);
    if longest > UNBOUNDED {
        longest = longest.max(UNBOUNDED + 3);
    }
    let same = (3..).take_while(|&offset| offset < longest && input[from + offset] == input[at + offset]);
    Some(same.last().unwrap_or(2) + 1)
}

struct Writer {
    out: Vec<u8>,
    /// How many literals stand after the byte that will count them.
    literals: usize,
    room: usize,
}

impl Writer {
    fn begin_literals(&mut self) {
        self.literals = 0;
        self.out.push(0);
    }
    /// Writes the count of the literals; without any its place is taken back.
    fn end_literals(&mut self) {
        let count = self.out.len() - self.literals - 1;
        match self.literals.checked_sub(1) {
            Some(less) => self.out[count] = less as u8,
            None => self.out.truncate(count),
        }
    }
    fn literal(&mut self, byte: u8) -> Option<()> {
        if self.out.len() >= self.room {
            return None;
        }
        self.last_literal(byte);
        Some(())
    }
    fn last_literal(&mut self, byte: u8) {
        self.literals += 1;
        self.out.push(byte);
        if self.literals == LITERALS_MAX {
            self.end_literals();
            self.begin_literals();
        }
    }
    fn reference(&mut self, distance: usize, length: usize) -> Option<()> {
        let unused = usize::from(self.literals == 0);
        if self.out.len() - unused + 4 >= self.room {
            return None;
        }
        self.end_literals();
        let (length, high) = (length - 2, (distance >> 8) as u8);
        match length {
            0..7 => self.out.push(high | (length as u8) << 5),
            _ => self.out.extend([high | 7 << 5, (length - 7) as u8]),
        }
        self.out.push(distance as u8);
        self.begin_literals();
        Some(())
    }
}

/// The `length` bytes that were compressed: none when these are not such bytes.
pub fn decompress(input: &[u8], length: usize) -> Option<Vec<u8>> {
    if length > input.len().saturating_mul(EXPANSION_MAX) {
        return None;
    }
    let mut out = Vec::with_capacity(length);
    let mut rest = input;
    while let Some((&first, after)) = rest.split_first() {
        let count = usize::from(first);
        if count < LITERALS_MAX {
            let (literals, after) = after.split_at_checked(count + 1)?;
            out.extend_from_slice(literals);
            rest = after;
            continue;
        }
        let (more, after) = if count >> 5 == 7 { after.split_first()? } else { (&0, after) };
        let (low, after) = after.split_first()?;
        rest = after;
        let copied = (count >> 5) + usize::from(*more) + 2;
        let distance = (count & 31) << 8 | usize::from(*low);
        let from = out.len().checked_sub(distance + 1)?;
        if out.len() + copied > length {
            return None;
        }
        for at in from..from + copied {
            out.push(out[at]);
        }
    }
    (out.len() == length).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references_may_overlap_what_they_make() {
        let text = vec![b'a'; 300];
        let small = compress(&text, 296).expect("it repeats");
        assert_eq!(small, [1, b'a', b'a', 0xe0, 255, 0, 0xe0, 23, 0, 1, b'a', b'a']);
        assert_eq!(decompress(&small, 300), Some(text));
    }

    #[test]
    fn what_is_no_compressed_text_is_none() {
        for (bytes, length) in
            [(&[3, 1, 2][..], 4), (&[0x20, 5], 3), (&[0, 7, 0x20], 4), (&[0, 7], 2), (&[], 1)]
        {
            assert_eq!(decompress(bytes, length), None);
        }
        assert_eq!(decompress(&[0, 7], usize::MAX), None);
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(text in prop::collection::vec(0u8..4, 0..2000)) {
            if let Some(small) = compress(&text, text.len()) {
                prop_assert!(small.len() <= text.len());
                prop_assert_eq!(decompress(&small, text.len()), Some(text));
            }
        }

        #[test]
        fn no_bytes_make_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0usize..400) {
            let _ = decompress(&bytes, length);
        }
    }
}
