//! What SCAN, HSCAN, SSCAN and ZSCAN have in common: the cursor and the options.
//! How a cursor moves is in `store` for keys and in `value` for the elements of a key.

use super::args::{Args, is};
use super::{Argv, Ctx};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::glob::glob;
use crate::value::Value;

/// The options of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions<'a> {
    /// About how many elements a call looks at.
    pub count: usize,
    /// Only elements that match; None for all.
    pub pattern: Option<&'a [u8]>,
    /// Only keys of this type; SCAN alone has it.
    pub type_name: Option<&'a [u8]>,
}

impl<'a> ScanOptions<'a> {
    /// Reads the options from word `at` on. `of_keys` tells SCAN, which knows TYPE.
    ///
    /// # Errors
    /// With the server's texts.
    pub fn parse(argv: Argv<'a>, at: usize, of_keys: bool) -> Result<Self, Failure> {
        let mut options = ScanOptions { count: 10, pattern: None, type_name: None };
        let mut args = Args::new(argv, at);
        while let Some(option) = args.next() {
            if is(option, "count") {
                let count = args.int()?;
                if count < 1 {
                    return Err(Failure::Syntax);
                }
                options.count = usize::try_from(count).unwrap_or(usize::MAX);
            } else if is(option, "match") {
                options.pattern = Some(args.word()?).filter(|pattern| *pattern != b"*");
            } else if of_keys && is(option, "type") {
                options.type_name = Some(args.word()?);
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
    /// Whether MATCH lets this element through.
    pub fn matches(&self, element: &[u8]) -> bool {
        self.pattern.is_none_or(|pattern| glob(pattern, element, false))
    }
}

/// What a step over the elements of a key begins with: the value, the cursor and the options. None when there is no such
/// key. `len` tells how many elements the value has, or that it is of another type.
///
/// # Errors
/// With the server's texts.
pub fn begin<'c, 'a>(
    cx: &'c mut Ctx<'_>,
    argv: Argv<'a>,
    len: impl FnOnce(&Value) -> Result<usize, Failure>,
) -> Result<Option<(&'c mut Value, u64, ScanOptions<'a>)>, Failure> {
    let cursor = cursor(argv[2])?;
    let Some(entry) = cx.read(argv[1]) else { return Ok(None) };
    let len = len(entry.value())?;
    let options = ScanOptions::parse(argv, 3, false)?;
    let begins = cursor == 0 && len > options.count;
    let db = cx.db();
    let value = cx.state.store.walked(db, argv[1], begins);
    Ok(value.map(|value| (value, cursor, options)))
}

/// Writes the reply of a step: the next cursor and the elements found, which are so many values.
pub fn reply(out: &mut Reply, next: u64, len: usize, found: &Reply) {
    out.array(2);
    out.bulk(itoa::Buffer::new().format(next).as_bytes());
    out.array(len);
    out.append(found);
}

/// Reads a cursor as C's `strtoul` does: a sign is fine (a minus wraps around), the empty text is 0, a NUL ends it.
///
/// # Errors
/// With the server's text.
pub fn cursor(word: &[u8]) -> Result<u64, Failure> {
    let text = word.split(|&byte| byte == 0).next().unwrap_or_default();
    let (negative, digits) = match text.split_first() {
        None => return Ok(0),
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        Some(_) => (false, text),
    };
    if digits.is_empty() {
        return Err(Failure::InvalidCursor);
    }
    let read = digits.iter().try_fold(0u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    });
    let value = read.ok_or(Failure::InvalidCursor)?;
    Ok(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_the_server_reads_them() {
        for (text, value) in [("", 0), ("\0x", 0), ("+7", 7), ("007", 7), ("-1", u64::MAX), ("7\0x", 7)] {
            assert_eq!(cursor(text.as_bytes()), Ok(value), "{text:?}");
        }
        assert_eq!(cursor(b"18446744073709551615"), Ok(u64::MAX));
        for text in [" 1", "1 ", "a", "-", "+", "1a", "--1", "18446744073709551616"] {
            assert_eq!(cursor(text.as_bytes()), Err(Failure::InvalidCursor), "{text:?}");
        }
    }
}
