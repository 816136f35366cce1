//! The string value: integers, short strings inline, long ones behind an `Arc`. 24 bytes.
//! Which variant holds a string decides what OBJECT ENCODING says, as on the server.

use crate::util::num::parse_i64;
use std::sync::Arc;

/// The longest string that OBJECT ENCODING calls `embstr`.
const EMBSTR_MAX: usize = 44;
/// The longest text that is looked at as an integer.
const INT_TEXT_MAX: usize = 20;
const INLINE_MAX: usize = 22;

/// A string.
#[derive(Debug, Clone)]
pub enum Str {
    /// A canonical 64-bit integer.
    Int(i64),
    /// Up to 22 bytes, in place.
    Inline(InlineStr),
    /// Longer, never changed in place.
    Fixed(Arc<[u8]>),
    /// Changed in place before (APPEND, SETRANGE, SETBIT): stays growable.
    Growable(Arc<Vec<u8>>),
}

/// The bytes of a short string.
#[derive(Debug, Clone, Copy)]
pub struct InlineStr {
    len: u8,
    bytes: [u8; INLINE_MAX],
}

/// The bytes of a string, borrowed, or the text of an integer made on the spot.
pub enum Text<'a> {
    /// Bytes of the value itself.
    Borrowed(&'a [u8]),
    /// Decimal text of an integer.
    Int(itoa::Buffer, i64),
}

impl Text<'_> {
    /// The bytes.
    pub fn as_bytes(&mut self) -> &[u8] {
        match self {
            Text::Borrowed(bytes) => bytes,
            Text::Int(buffer, value) => buffer.format(*value).as_bytes(),
        }
    }
}

impl Str {
    /// Stores what SET stores: an integer when the text is one.
    #[inline]
    pub fn new(bytes: &[u8]) -> Self {
        if bytes.len() <= INT_TEXT_MAX
            && let Some(value) = parse_i64(bytes)
        {
            return Str::Int(value);
        }
        Self::text(bytes)
    }
    /// Stores the bytes without looking for an integer.
    #[inline]
    pub fn text(bytes: &[u8]) -> Self {
        if bytes.len() <= INLINE_MAX {
            let mut inline = InlineStr { len: bytes.len() as u8, bytes: [0; INLINE_MAX] };
            inline.bytes[..bytes.len()].copy_from_slice(bytes);
            return Str::Inline(inline);
        }
        Str::Fixed(Arc::from(bytes))
    }
    /// The bytes, or the text of the integer.
    #[inline]
    pub fn bytes(&self) -> Text<'_> {
        match self {
            Str::Int(value) => Text::Int(itoa::Buffer::new(), *value),
            Str::Inline(inline) => Text::Borrowed(&inline.bytes[..inline.len as usize]),
            Str::Fixed(bytes) => Text::Borrowed(bytes),
            Str::Growable(bytes) => Text::Borrowed(bytes),
        }
    }
    /// A copy of the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes().as_bytes().to_vec()
    }
    /// The value as an integer, when its text is a canonical one.
    #[inline]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Str::Int(value) => Some(*value),
            other => parse_i64(other.bytes().as_bytes()),
        }
    }
    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Str::Int(value) => itoa::Buffer::new().format(*value).len(),
            Str::Inline(inline) => inline.len as usize,
            Str::Fixed(bytes) => bytes.len(),
            Str::Growable(bytes) => bytes.len(),
        }
    }
    /// True for the empty string.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The bytes for changing in place; from then on the encoding is `raw`, as on the server.
    pub fn make_growable(&mut self) -> &mut Vec<u8> {
        if !matches!(self, Str::Growable(_)) {
            *self = Str::Growable(Arc::new(self.to_vec()));
        }
        match self {
            Str::Growable(bytes) => Arc::make_mut(bytes),
            _ => unreachable!("made growable above"),
        }
    }
    /// Lengthens a growable string to `len` bytes with zeros. One that becomes much longer gets memory that the
    /// system hands out as zeros, so that it costs nothing to fill.
    pub fn lengthen(bytes: &mut Vec<u8>, len: usize) {
        const MUCH: usize = 1 << 20;
        if len.saturating_sub(bytes.len()) < MUCH || len <= bytes.capacity() {
            bytes.resize(len.max(bytes.len()), 0);
            return;
        }
        let mut longer = vec![0; len];
        longer[..bytes.len()].copy_from_slice(bytes);
        *bytes = longer;
    }
    /// What OBJECT ENCODING says.
    pub fn encoding(&self) -> &'static str {
        match self {
            Str::Int(_) => "int",
            Str::Inline(_) => "embstr",
            Str::Fixed(bytes) if bytes.len() <= EMBSTR_MAX => "embstr",
            Str::Fixed(_) | Str::Growable(_) => "raw",
        }
    }
    /// Bytes on the heap, for accounting.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Str::Int(_) | Str::Inline(_) => 0,
            Str::Fixed(bytes) => bytes.len() + 16,
            Str::Growable(bytes) => bytes.len() + 40,
        }
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Str::Int(a), Str::Int(b)) => a == b,
            _ => self.bytes().as_bytes() == other.bytes().as_bytes(),
        }
    }
}
impl Eq for Str {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_follow_the_server() {
        assert_eq!(Str::new(b"12").encoding(), "int");
        assert_eq!(Str::new(b"012").encoding(), "embstr");
        assert_eq!(Str::new(&[b'x'; 44]).encoding(), "embstr");
        assert_eq!(Str::new(&[b'x'; 45]).encoding(), "raw");
        let mut grown = Str::new(b"12");
        grown.make_growable().push(b'3');
        assert_eq!((grown.encoding(), grown.as_int()), ("raw", Some(123)));
        assert_eq!(grown, Str::Int(123));
    }

    #[test]
    fn a_string_becomes_longer_by_zeros_and_never_shorter() {
        for len in [0, 5, 3 << 20, 2] {
            let mut bytes = b"abc".to_vec();
            Str::lengthen(&mut bytes, len);
            assert_eq!(bytes.len(), len.max(3));
            assert!(bytes.starts_with(b"abc") && bytes[3..].iter().all(|&byte| byte == 0));
        }
    }
}
