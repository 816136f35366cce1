//! Typed reading of replies: `FromReply` for the Rust types people ask for, with errors that name both sides.

use super::{Items, Reply, ReplyRef};
use crate::error::Error;
use crate::util::float::format_f64;
use crate::util::long_double::format_human;
use crate::util::num::NumBuf;

/// A type that can be read from a reply.
///
/// Nulls are read by `Option`, integers and integer texts by the integer types, status and bulk by `String` and
/// `Vec<u8>`, aggregates by `Vec`, sets, maps and tuples, errors among the elements by `Result<_, Error>`, anything by `Reply`.
/// A `Vec` of pairs and a map take a map, a flat list of keys and values in turn, and a list of lists of two.
///
/// ```
/// # let mut client = moonkeep::Engine::new().client();
/// client.call(["MSET", "a", "1", "b", "x"])?;
/// let (a, b, c): (i64, String, Option<String>) = client.query(["MGET", "a", "b", "c"])?;
/// assert_eq!((a, b.as_str(), c), (1, "x", None));
/// let error = client.query::<i64, _>(["GET", "b"]).unwrap_err();
/// assert_eq!(error.to_string(), "cannot read \"x\" as i64");
/// # Ok::<(), moonkeep::Error>(())
/// ```
pub trait FromReply: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// An error reply comes back as itself; a value of another shape as a conversion error that names both.
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error>;
    /// Reads the elements of an aggregate, keys and values in turn for a map. Pairs take two elements at once.
    ///
    /// # Errors
    /// As [`from_reply`](Self::from_reply).
    #[doc(hidden)]
    fn from_items(items: Items<'_>, _is_map: bool) -> Result<Vec<Self>, Error> {
        items.map(Self::from_reply).collect()
    }
}

impl Reply {
    /// Reads the first value as `T`.
    ///
    /// # Errors
    /// See [`FromReply::from_reply`].
    pub fn get<T: FromReply>(&self) -> Result<T, Error> {
        T::from_reply(self.view())
    }
    /// Reads every value as `T`: SUBSCRIBE and its like answer once for each channel.
    ///
    /// # Errors
    /// See [`FromReply::from_reply`].
    pub fn get_each<T: FromReply>(&self) -> Result<Vec<T>, Error> {
        self.values().map(T::from_reply).collect()
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

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl FromReply for $ty {
            fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
                let read = match value {
                    ReplyRef::Double(x) | ReplyRef::Coordinate(x) => Some(x as $ty),
                    ReplyRef::Int(n) => Some(n as $ty),
                    ReplyRef::Bulk(text) | ReplyRef::Status(text) => {
                        std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
                    }
                    _ => None,
                };
                read.map_or_else(|| refuse(stringify!($ty), value), Ok)
            }
        }
    )*};
}
floats!(f32, f64);

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
            ReplyRef::Coordinate(x) => return Ok(String::from_utf8_lossy(&format_human(x)).into_owned()),
            ReplyRef::Bulk(text) | ReplyRef::Status(text) | ReplyRef::BigNumber(text) => text,
            ReplyRef::Verbatim(_, text) => text,
            other => return refuse("String", other),
        };
        String::from_utf8(text.to_vec()).or_else(|_| refuse("String (UTF-8)", value))
    }
}

/// The elements of an aggregate, and whether they are keys and values in turn.
fn elements(value: ReplyRef<'_>) -> Option<(Items<'_>, bool)> {
    match value {
        ReplyRef::Array(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => Some((items, false)),
        ReplyRef::Map(items) => Some((items, true)),
        _ => None,
    }
}

macro_rules! collections {
    ($($name:literal $ty:ty, [$($generic:tt)*] of $item:ty;)*) => {$(
        impl<$($generic)*> FromReply for $ty {
            fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
                match elements(value) {
                    Some((items, is_map)) => Ok(<$item>::from_items(items, is_map)?.into_iter().collect()),
                    None => refuse($name, value),
                }
            }
        }
    )*};
}

#[expect(clippy::disallowed_types, reason = "the caller's own maps, with the caller's own hasher")]
mod collections {
    use super::{Error, FromReply, ReplyRef, elements, refuse};
    use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
    use std::hash::{BuildHasher, Hash};

    collections! {
        "Vec" Vec<T>, [T: FromReply] of T;
        "VecDeque" VecDeque<T>, [T: FromReply] of T;
        "BTreeSet" BTreeSet<T>, [T: FromReply + Ord] of T;
        "HashSet" HashSet<T, S>, [T: FromReply + Eq + Hash, S: BuildHasher + Default] of T;
        "BTreeMap" BTreeMap<K, V>, [K: FromReply + Ord, V: FromReply] of (K, V);
        "HashMap" HashMap<K, V, S>, [K: FromReply + Eq + Hash, V: FromReply, S: BuildHasher + Default] of (K, V);
    }
}

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

/// The whole value as it is. Errors among its elements stay in it; an error itself comes back as an error.
impl FromReply for Reply {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        if let ReplyRef::Error(text) = value {
            return Err(Error::reply(text));
        }
        let mut copy = Reply::new();
        copy.value(value);
        Ok(copy)
    }
}

/// An error among the elements, as EXEC has them, is a value of its own.
impl<T: FromReply> FromReply for Result<T, Error> {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        match value {
            ReplyRef::Error(text) => Ok(Err(Error::reply(text))),
            other => T::from_reply(other).map(Ok),
        }
    }
}

/// The elements of a list of exactly this length.
fn exactly<'a>(want: &'static str, len: usize, value: ReplyRef<'a>) -> Result<Items<'a>, Error> {
    match elements(value) {
        Some((items, _)) if items.len() == len => Ok(items),
        _ => refuse(want, value),
    }
}

impl<A: FromReply, B: FromReply> FromReply for (A, B) {
    fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
        let mut items = exactly("a list of 2", 2, value)?;
        Ok((next(&mut items)?, next(&mut items)?))
    }
    fn from_items(mut items: Items<'_>, is_map: bool) -> Result<Vec<Self>, Error> {
        if !is_map && items.clone().all(|item| elements(item).is_some()) {
            return items.map(Self::from_reply).collect();
        }
        if items.len() % 2 == 1 {
            return refuse("pairs", ReplyRef::Array(items));
        }
        let mut pairs = Vec::with_capacity(items.len() / 2);
        while items.len() > 0 {
            pairs.push((next(&mut items)?, next(&mut items)?));
        }
        Ok(pairs)
    }
}

fn next<T: FromReply>(items: &mut Items<'_>) -> Result<T, Error> {
    T::from_reply(items.next().unwrap_or(ReplyRef::Nil))
}

macro_rules! tuples {
    ($($len:literal $name:literal [$($item:ident)*];)*) => {$(
        impl<$($item: FromReply),*> FromReply for ($($item,)*) {
            fn from_reply(value: ReplyRef<'_>) -> Result<Self, Error> {
                let mut items = exactly($name, $len, value)?;
                Ok(($(next::<$item>(&mut items)?,)*))
            }
        }
    )*};
}
tuples! {
    1 "a list of 1" [A];
    3 "a list of 3" [A B C];
    4 "a list of 4" [A B C D];
    5 "a list of 5" [A B C D E];
    6 "a list of 6" [A B C D E F];
    7 "a list of 7" [A B C D E F G];
    8 "a list of 8" [A B C D E F G H];
}
