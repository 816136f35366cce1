//! Integers as the server reads and writes them: strict signed numbers, the lenient unsigned numbers
//! of stream IDs, memory sizes with a unit, and `NumBuf`, the stack buffer all numbers are written into.
//! Floating point is in `float` (64 bits) and `long_double` (80 bits).

/// Longest text of any number `NumBuf` can hold; `%.17g` needs 24 bytes, `%.4f` of an i64 needs 21.
const TEXT_CAPACITY: usize = 40;

/// A caller-supplied buffer that numbers are written into without allocation.
pub struct NumBuf {
    integer: itoa::Buffer,
    text: [u8; TEXT_CAPACITY],
    len: usize,
}

impl NumBuf {
    /// An empty buffer; it can be reused for any number of numbers.
    pub fn new() -> Self {
        NumBuf { integer: itoa::Buffer::new(), text: [0; TEXT_CAPACITY], len: 0 }
    }

    /// Forgets what was pushed.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends bytes; what does not fit is dropped, which no number formatted here reaches.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = TEXT_CAPACITY - self.len;
        let taken = &bytes[..bytes.len().min(room)];
        self.text[self.len..self.len + taken.len()].copy_from_slice(taken);
        self.len += taken.len();
    }

    /// What was pushed since the last `clear`.
    pub(super) fn pushed(&self) -> &[u8] {
        &self.text[..self.len]
    }
}

impl Default for NumBuf {
    fn default() -> Self {
        NumBuf::new()
    }
}

impl std::fmt::Write for NumBuf {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// Writes a signed integer in decimal.
pub fn format_i64(buf: &mut NumBuf, value: i64) -> &[u8] {
    buf.integer.format(value).as_bytes()
}

/// Writes an unsigned integer in decimal.
pub fn format_u64(buf: &mut NumBuf, value: u64) -> &[u8] {
    buf.integer.format(value).as_bytes()
}

/// Reads a signed integer in its one canonical form: no space, no plus, no leading zero, no `-0`,
/// nothing after the last digit (the server's `string2ll`).
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    if text == b"0" {
        return Some(0);
    }
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    // Nineteen digits cannot overflow the accumulator.
    if !matches!(digits.first()?, b'1'..=b'9') || digits.len() > 19 {
        return None;
    }
    let mut magnitude: u64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Reads an unsigned integer the way the parts of stream IDs are read (the server's `string2ull`):
/// first as `parse_i64`, refusing negative numbers, else as C's `strtoull`, which takes leading space,
/// a sign (a minus wraps around) and leading zeros. The text ends at its first NUL byte, if any.
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    let text = until_nul(text);
    match parse_i64(text) {
        Some(value) => u64::try_from(value).ok(),
        None => parse_u64_lenient(text),
    }
}

/// C's `strtoull(text, &end, 10)` where `end` must be the end of the text and no overflow is allowed.
fn parse_u64_lenient(text: &[u8]) -> Option<u64> {
    let text = skip_space(text);
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(if negative { value.wrapping_neg() } else { value })
}

/// Reads a size in bytes with an optional unit, `b k kb m mb g gb` in any case (the server's
/// `memtoull`): no digits count as zero, more than u64 as its maximum, and the product wraps.
pub fn parse_memory(text: &[u8]) -> Option<u64> {
    const LONGEST_DIGITS: usize = 127;
    let text = until_nul(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unit = memory_unit(&text[digits..])?;
    if digits > LONGEST_DIGITS {
        return None;
    }
    let count = text[..digits]
        .iter()
        .fold(0u64, |sum, byte| sum.saturating_mul(10).saturating_add(u64::from(byte - b'0')));
    Some(count.wrapping_mul(unit))
}

/// How many bytes a unit of `parse_memory` stands for.
fn memory_unit(unit: &[u8]) -> Option<u64> {
    const UNITS: [(&[u8], u64); 8] = [
        (b"", 1),
        (b"b", 1),
        (b"k", 1000),
        (b"kb", 1 << 10),
        (b"m", 1_000_000),
        (b"mb", 1 << 20),
        (b"g", 1_000_000_000),
        (b"gb", 1 << 30),
    ];
    UNITS.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name)).map(|(_, bytes)| *bytes)
}

/// C's `isspace` in the C locale.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The text without its leading space.
fn skip_space(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| is_space(**byte)).count();
    &text[spaces..]
}

/// The part of the text that a C string function sees.
fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_integers_have_one_spelling() {
        let good: [(&[u8], i64); 7] = [
            (b"0", 0),
            (b"1", 1),
            (b"-1", -1),
            (b"10", 10),
            (b"9223372036854775807", i64::MAX),
            (b"-9223372036854775808", i64::MIN),
            (b"999999999999999999", 999_999_999_999_999_999),
        ];
        for (text, value) in good {
            assert_eq!(parse_i64(text), Some(value));
            assert_eq!(format_i64(&mut NumBuf::new(), value), text);
        }
        let bad: [&[u8]; 16] = [
            b"",
            b"-",
            b"+1",
            b" 1",
            b"1 ",
            b"01",
            b"-0",
            b"-01",
            b"00",
            b"1a",
            b"1\0",
            b"0x1",
            b"--1",
            b"9223372036854775808",
            b"-9223372036854775809",
            b"18446744073709551616",
        ];
        for text in bad {
            assert_eq!(parse_i64(text), None, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn unsigned_integers_follow_strtoull() {
        let good: [(&[u8], u64); 11] = [
            (b"0", 0),
            (b"00", 0),
            (b"-0", 0),
            (b"+1", 1),
            (b" \t\n\x0b\x0c\r7", 7),
            (b"007", 7),
            (b"-007", 7u64.wrapping_neg()),
            (b" -1", u64::MAX),
            (b"18446744073709551615", u64::MAX),
            (b"-18446744073709551615", 1),
            (b"5\0junk", 5),
        ];
        for (text, value) in good {
            assert_eq!(parse_u64(text), Some(value), "{:?}", String::from_utf8_lossy(text));
        }
        let bad: [&[u8]; 9] =
            [b"", b"-1", b"-", b"+", b" ", b"1 ", b"0x1", b"18446744073709551616", b"-18446744073709551616"];
        for text in bad {
            assert_eq!(parse_u64(text), None, "{:?}", String::from_utf8_lossy(text));
        }
        assert_eq!(format_u64(&mut NumBuf::new(), u64::MAX), b"18446744073709551615");
    }

    #[test]
    fn memory_sizes_take_units() {
        let good: [(&[u8], u64); 9] = [
            (b"", 0),
            (b"gb", 0),
            (b"100", 100),
            (b"100B", 100),
            (b"1k", 1000),
            (b"1Kb", 1024),
            (b"2m", 2_000_000),
            (b"3GB", 3 << 30),
            (b"99999999999999999999", u64::MAX),
        ];
        for (text, value) in good {
            assert_eq!(parse_memory(text), Some(value), "{:?}", String::from_utf8_lossy(text));
        }
        for text in [&b"-1"[..], b"1x", b"1 kb", b"1kbb", b"1.5gb"] {
            assert_eq!(parse_memory(text), None, "{:?}", String::from_utf8_lossy(text));
        }
    }
}
