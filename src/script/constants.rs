//! How long Lua's parser compares the strings and numbers of a long source: it keeps them in hash tables whose hash
//! anybody can compute, so a source may be made of those that share one place. Counted before a source is parsed, as
//! part of what `parsing` counts. Not here: the same in tables of a script that runs (`alloc`, and the looks of `limits`).

use crate::util::hasher::Set;

/// Places in which strings are counted: fewer than the table of all strings has when there are many.
const TEXT_PLACES: u32 = 1 << 12;
/// Sizes of a table of constants, as powers of two, in which numbers are counted.
const SIZES: std::ops::RangeInclusive<u32> = 10..=17;
/// How many sizes below the fitting one are looked at: a function has a table of its own, with a part of all numbers.
const SMALLER_SIZES: u32 = 2;

/// The strings and numbers of a source so far.
pub(super) struct Constants {
    texts: Set<Box<[u8]>>,
    in_text_place: Vec<u32>,
    numbers: Set<u64>,
    /// For each size, how many numbers are in each place.
    in_number_place: Vec<Vec<u32>>,
    /// For a string whose escapes are resolved.
    resolved: Vec<u8>,
}

impl Constants {
    pub(super) fn new() -> Self {
        Constants {
            texts: Set::default(),
            in_text_place: vec![0; TEXT_PLACES as usize],
            numbers: Set::default(),
            in_number_place: SIZES.map(|size| vec![0; 1 << size]).collect(),
            resolved: Vec::new(),
        }
    }

    /// A string stands in the source: with how many others it may be compared.
    pub(super) fn text(&mut self, text: &[u8]) -> u64 {
        let place = &mut self.in_text_place[(hash(text) % TEXT_PLACES) as usize];
        if !self.texts.contains(text) {
            self.texts.insert(text.into());
            *place += 1;
        }
        u64::from(*place - 1)
    }

    /// The same for a string with its quotes and escapes.
    pub(super) fn quoted(&mut self, source: &[u8]) -> u64 {
        let inner = source.get(1..source.len().saturating_sub(1)).unwrap_or_default();
        if !inner.contains(&b'\\') {
            return self.text(inner);
        }
        let mut resolved = std::mem::take(&mut self.resolved);
        resolve(inner, &mut resolved);
        let steps = self.text(&resolved);
        self.resolved = resolved;
        steps
    }

    /// A number stands in the source: with how many others it may be compared.
    pub(super) fn number(&mut self, source: &[u8]) -> u64 {
        let Some(value) = std::str::from_utf8(source).ok().and_then(parse) else { return 0 };
        let bits = value.to_bits();
        let is_new = self.numbers.insert(bits);
        let fitting = usize::BITS - self.numbers.len().leading_zeros();
        let sum = (bits as u32).wrapping_add((bits >> 32) as u32);
        let mut most = 0;
        for (size, places) in SIZES.zip(&mut self.in_number_place) {
            let place = &mut places[(sum % ((1 << size) - 1)) as usize];
            *place += u32::from(is_new);
            if size + SMALLER_SIZES >= fitting {
                most = most.max(*place);
            }
        }
        most.saturating_sub(1).into()
    }
}

fn parse(text: &str) -> Option<f64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as f64),
        None => text.parse().ok(),
    }
}

/// The hash by which Lua finds a string: of long ones only some bytes count.
fn hash(text: &[u8]) -> u32 {
    let step = (text.len() >> 5) + 1;
    let mut hash = text.len() as u32;
    let mut end = text.len();
    while end >= step {
        let mixed = (hash << 5).wrapping_add(hash >> 2).wrapping_add(text[end - 1].into());
        hash ^= mixed;
        end -= step;
    }
    hash
}

/// What a string with escapes stands for.
fn resolve(source: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = source;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let Some((&escaped, after)) = after.split_first().filter(|_| byte == b'\\') else {
            out.push(byte);
            continue;
        };
        rest = after;
        out.push(match escaped {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' | b'\r' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'0'..=b'9' => {
                let mut code = u32::from(escaped - b'0');
                for _ in 0..2 {
                    let Some((&digit @ b'0'..=b'9', after)) = rest.split_first() else { break };
                    code = code * 10 + u32::from(digit - b'0');
                    rest = after;
                }
                code as u8
            }
            other => other,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_escapes_are_those_of_lua() {
        assert_eq!(hash(b""), 0);
        assert_eq!(hash(b"a"), 1 ^ (32 + u32::from(b'a')));
        let mut out = Vec::new();
        resolve(br"\97\0981\n\\\q", &mut out);
        assert_eq!(out, b"ab1\n\\q");
    }

    #[test]
    fn what_stands_there_again_is_compared_again() {
        let mut constants = Constants::new();
        assert_eq!([constants.text(b"a"), constants.text(b"a"), constants.quoted(b"'a'")], [0, 0, 0]);
        assert_eq!(constants.text(b"another"), 0);
        assert_eq!([constants.number(b"1"), constants.number(b"0x1"), constants.number(b"1.0")], [0, 0, 0]);
        assert_eq!(constants.number(b"0xfffffffffffffffff"), 0);
        let same = |i: u64| {
            format!("{:?}", f64::from_bits((0x3ff0_0000 + i) << 32 | (0x7fff_ffff - 0x3ff0_0000 - i)))
        };
        assert_eq!([0, 1, 2, 1].map(|i| constants.number(same(i).as_bytes())), [0, 1, 2, 2]);
    }
}
