//! `Bytes`: an immutable byte string of 24 bytes. Short ones (most keys, members and fields) live inside it,
//! long ones behind a shared pointer, so that a clone is always cheap.
//! Strings that change in place are `value::string`; packed runs of strings are `value::packed`.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The longest string held without an allocation.
pub const INLINE_MAX: usize = 22;

/// An immutable byte string, cheap to clone.
#[derive(Clone)]
pub enum Bytes {
    /// Up to [`INLINE_MAX`] bytes, of which the first `len` count; the others are zero.
    Inline {
        /// How many bytes of `data` belong to the string.
        len: u8,
        /// The string, padded with zeros.
        data: [u8; INLINE_MAX],
    },
    /// A longer string, shared between its clones.
    Heap(Arc<[u8]>),
}

const _: () = assert!(size_of::<Bytes>() == 24);

impl Bytes {
    /// The empty string.
    pub const EMPTY: Bytes = Bytes::Inline { len: 0, data: [0; INLINE_MAX] };

    /// The string as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Inline { len, data } => data.get(..usize::from(*len)).unwrap_or(data),
            Bytes::Heap(shared) => shared,
        }
    }

    /// Bytes allocated beside the 24 of the value itself (the two counters of the shared block included).
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Bytes::Inline { .. } => 0,
            Bytes::Heap(shared) => shared.len() + 2 * size_of::<usize>(),
        }
    }
}

impl From<&[u8]> for Bytes {
    #[inline]
    fn from(source: &[u8]) -> Self {
        if source.len() > INLINE_MAX {
            return Bytes::Heap(Arc::from(source));
        }
        let mut data = [0; INLINE_MAX];
        data[..source.len()].copy_from_slice(source);
        Bytes::Inline { len: source.len() as u8, data }
    }
}

impl From<&str> for Bytes {
    fn from(source: &str) -> Self {
        Bytes::from(source.as_bytes())
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    fn from(source: &[u8; N]) -> Self {
        Bytes::from(source.as_slice())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(source: Vec<u8>) -> Self {
        if source.len() > INLINE_MAX {
            Bytes::Heap(Arc::from(source))
        } else {
            Bytes::from(source.as_slice())
        }
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Bytes::EMPTY
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl Borrow<[u8]> for Bytes {
    #[inline]
    fn borrow(&self) -> &[u8] {
        self.as_slice()
    }
}

impl PartialEq for Bytes {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl PartialEq<[u8]> for Bytes {
    #[inline]
    fn eq(&self, other: &[u8]) -> bool {
        self.as_slice() == other
    }
}

impl PartialEq<&[u8]> for Bytes {
    #[inline]
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_slice() == *other
    }
}

impl PartialOrd for Bytes {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl Hash for Bytes {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

/// Shown as a byte string literal, so that a failed test reads well.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.as_slice().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_inline_and_long_ones_shared() {
        for len in [0, 1, INLINE_MAX] {
            let bytes = Bytes::from(vec![7; len]);
            assert!(matches!(bytes, Bytes::Inline { .. }));
            assert_eq!((&*bytes, bytes.heap_bytes()), (vec![7; len].as_slice(), 0));
        }
        let long = Bytes::from([7; INLINE_MAX + 1].as_slice());
        assert!(matches!(long, Bytes::Heap(_)));
        assert_eq!((&*long, long.heap_bytes()), ([7; INLINE_MAX + 1].as_slice(), INLINE_MAX + 17));
        assert_eq!(long.clone().as_ptr(), long.as_ptr());
    }

    #[test]
    fn order_and_equality_are_those_of_the_slice() {
        let mut strings =
            [Bytes::from("b"), Bytes::from("a".repeat(40).as_str()), Bytes::from("ab"), Bytes::EMPTY];
        strings.sort();
        assert_eq!(strings[0], Bytes::EMPTY);
        assert_eq!(strings[1], *"a".repeat(40).as_bytes());
        assert_eq!(strings[3], *b"b".as_slice());
        assert_eq!(format!("{:?}", Bytes::from(b"a\0\"\xff")), r#"b"a\x00\"\xff""#);
    }
}
