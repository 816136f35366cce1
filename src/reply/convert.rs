//! Typed reading of replies: `FromReply` for the Rust types people ask for, with errors that name both sides.

use super::{Reply, ReplyRef};
use crate::error::Error;
use crate::util::float::format_f64;
use crate::util::num::NumBuf;

/// A type that can be read from a reply.
///
/// Nulls are read by `Option`, integers and integer texts by the integer types, status and bulk by `String` and
/// `Vec<u8>`, aggregates by `Vec` and pairs.
pub trait FromReply: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// An error reply comes back as itself; a value of another shape as a conversion error that names both.
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error>;
}

impl Reply {
    /// Reads the first value as `T`.
    ///
    /// # Errors
    /// See [`FromReply::from_reply`].
    pub fn get<T: FromReply>(&self) -> Result<T, Error> {
        T::from_reply(self.view())
    }
}

fn refuse<T>(want: &'static str, value: ReplyRef<'_>) -> Result<T, Error> {
    match value {
        ReplyRef::Error(text) => Err(Error::reply(text)),
        other => {
            let mut got = format!("{other:?}");
            if got.len() > 80 {
                let end = (0..=77).rev().find(|&at| got.is_char_boundary(at)).unwrap_or(0);
                got.truncate(end);
                got.push_str("...");
            }
            Err(Error::convert(want, got))
        }
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl FromReply for $ty {
            fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
                let read = match value {
                    ReplyRef::Int(n) => <$ty>::try_from(n).ok(),
                    ReplyRef::Bool(b) => Some(<$ty>::from(b)),
                    ReplyRef::Bulk(text) | ReplyRef::Status(text) | ReplyRef::BigNumber(text) => {
                        std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
                    }
                    _ => None,
                };
                read.map_or_else(|| refuse(stringify!($ty), value), Ok)
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, isize, u16, u32, u64, usize);

impl FromReply for f64 {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        let read = match value {
            ReplyRef::Double(x) => Some(x),
            ReplyRef::Int(n) => Some(n as f64),
            ReplyRef::Bulk(text) | ReplyRef::Status(text) => {
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
            }
            _ => None,
        };
        read.map_or_else(|| refuse("f64", value), Ok)
    }
}

impl FromReply for bool {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        match value {
            ReplyRef::Bool(b) => Ok(b),
            ReplyRef::Int(0) => Ok(false),
            ReplyRef::Int(1) => Ok(true),
            ReplyRef::Status(b"OK") => Ok(true),
            ReplyRef::Nil | ReplyRef::NilArray => Ok(false),
            other => refuse("bool", other),
        }
    }
}

impl FromReply for () {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        match value {
            ReplyRef::Error(_) => refuse("nothing", value),
            _ => Ok(()),
        }
    }
}

impl FromReply for String {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        let text = match value {
            ReplyRef::Int(n) => return Ok(n.to_string()),
            ReplyRef::Double(x) => {
                let mut buf = NumBuf::new();
                return Ok(String::from_utf8_lossy(format_f64(&mut buf, x)).into_owned());
            }
            ReplyRef::Bulk(text) | ReplyRef::Status(text) | ReplyRef::BigNumber(text) => text,
            ReplyRef::Verbatim(_, text) => text,
            other => return refuse("String", other),
        };
        String::from_utf8(text.to_vec()).or_else(|_| refuse("String (UTF-8)", value))
    }
}

macro_rules! sequences {
    ($($name:literal $ty:ty [$item:ident $($bound:tt)*]),*) => {$(
        impl<$item: FromReply $($bound)*> FromReply for $ty {
            fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
                match value {
                    ReplyRef::Array(items) | ReplyRef::Set(items) | ReplyRef::Push(items) | ReplyRef::Map(items) => {
                        items.map($item::from_reply).collect()
                    }
                    other => refuse($name, other),
                }
            }
        }
    )*};
}
sequences!("Vec" Vec<T>[T], "BTreeSet" std::collections::BTreeSet<T>[T + Ord]);

/// Bytes of a bulk string. (A list of small integers is read as `Vec<i64>`.)
impl FromReply for Vec<u8> {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        match value {
            ReplyRef::Bulk(text) | ReplyRef::Status(text) | ReplyRef::Verbatim(_, text) => Ok(text.to_vec()),
            ReplyRef::BigNumber(text) => Ok(text.to_vec()),
            ReplyRef::Int(n) => Ok(n.to_string().into_bytes()),
            other => refuse("bytes", other),
        }
    }
}

impl<T: FromReply> FromReply for Option<T> {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        match value {
            ReplyRef::Nil | ReplyRef::NilArray => Ok(None),
            other => T::from_reply(other).map(Some),
        }
    }
}

impl<A: FromReply, B: FromReply> FromReply for (A, B) {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        match value {
            ReplyRef::Array(mut items) if items.len() == 2 => {
                let first = items.next().map_or_else(|| refuse("pair", value), A::from_reply)?;
                let second = items.next().map_or_else(|| refuse("pair", value), B::from_reply)?;
                Ok((first, second))
            }
            other => refuse("pair", other),
        }
    }
}

impl<K: FromReply + Ord, V: FromReply> FromReply for std::collections::BTreeMap<K, V> {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        let (ReplyRef::Map(mut items) | ReplyRef::Array(mut items)) = value else {
            return refuse("map", value);
        };
        let mut map = Self::new();
        while let Some(key) = items.next() {
            let Some(item) = items.next() else { return refuse("map", value) };
            map.insert(K::from_reply(key)?, V::from_reply(item)?);
        }
        Ok(map)
    }
}
