//! Replies as hiredis people know them: a type, and what the type has. How one is made from a tape is in `tree`.

use super::border::{Returned, free_reply, give_reply};
use super::fault::{Fault, Needed, entry};
use super::tree::Tree;
use crate::reply::{Resp, resp};
use std::ffi::{c_char, c_int};
use std::ptr;

/// What `mk_reply_type` gives for NULL: not a reply. The numbers of the types are those of hiredis.
pub const MK_REPLY_NONE: c_int = 0;
/// A string of any bytes: `mk_reply_str`, `mk_reply_len`.
pub const MK_REPLY_STRING: c_int = 1;
/// An array: `mk_reply_elements`, `mk_reply_element`.
pub const MK_REPLY_ARRAY: c_int = 2;
/// An integer: `mk_reply_integer`.
pub const MK_REPLY_INTEGER: c_int = 3;
/// A null.
pub const MK_REPLY_NIL: c_int = 4;
/// A status such as `OK`: `mk_reply_str`.
pub const MK_REPLY_STATUS: c_int = 5;
/// An error reply, code first: `mk_reply_str`.
pub const MK_REPLY_ERROR: c_int = 6;
/// A double: `mk_reply_dval`, and as text `mk_reply_str`.
pub const MK_REPLY_DOUBLE: c_int = 7;
/// A boolean: `mk_reply_integer` is 1 or 0.
pub const MK_REPLY_BOOL: c_int = 8;
/// A map: its keys and values in turn are the elements.
pub const MK_REPLY_MAP: c_int = 9;
/// A set: its members are the elements.
pub const MK_REPLY_SET: c_int = 10;
/// A push message, as SUBSCRIBE and what is published give it: its parts are the elements.
pub const MK_REPLY_PUSH: c_int = 12;
/// An integer of any size in decimal: `mk_reply_str`.
pub const MK_REPLY_BIGNUM: c_int = 13;
/// A text for people: `mk_reply_str`; its format, as `txt`: `mk_reply_vtype`.
pub const MK_REPLY_VERB: c_int = 14;

/// A reply, or an element of one. It does not change: any number of threads may read it.
#[derive(Clone, Copy)]
pub struct mk_reply {
    pub(super) kind: c_int,
    /// The format of a verbatim text, and a NUL.
    pub(super) vtype: [c_char; 4],
    /// Given to C to be freed by it; elements and what belongs to a client are not.
    pub(super) is_free: bool,
    pub(super) shade: Shade,
    /// An integer, or the bits of a double.
    pub(super) number: i64,
    /// Where its text or its elements are. Until a tree is linked, as many bytes or elements behind the first one.
    pub(super) start: *const (),
    /// How many bytes or elements.
    pub(super) len: usize,
}

impl mk_reply {
    #[inline]
    pub(super) fn has_text(&self) -> bool {
        matches!(
            self.kind,
            MK_REPLY_STRING
                | MK_REPLY_STATUS
                | MK_REPLY_ERROR
                | MK_REPLY_BIGNUM
                | MK_REPLY_VERB
                | MK_REPLY_DOUBLE
        )
    }
    #[inline]
    pub(super) fn has_elements(&self) -> bool {
        matches!(self.kind, MK_REPLY_ARRAY | MK_REPLY_MAP | MK_REPLY_SET | MK_REPLY_PUSH)
    }
}

/// What RESP tells apart and the type does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shade {
    Plain,
    /// A null array.
    NilArray,
    /// A double with up to 17 decimals.
    Coordinate,
}

/// What kind of reply it is (`MK_REPLY_...`): as with RESP3, whatever HELLO chose. `MK_REPLY_NONE` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_type(reply: Option<&mk_reply>) -> c_int {
    reply.map_or(MK_REPLY_NONE, |reply| reply.kind)
}

/// The number of an integer, 1 or 0 for a boolean; 0 for all else.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_integer(reply: Option<&mk_reply>) -> i64 {
    reply
        .filter(|reply| matches!(reply.kind, MK_REPLY_INTEGER | MK_REPLY_BOOL))
        .map_or(0, |reply| reply.number)
}

/// The number of a double; 0 for all else.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_dval(reply: Option<&mk_reply>) -> f64 {
    reply
        .filter(|reply| reply.kind == MK_REPLY_DOUBLE)
        .map_or(0.0, |reply| f64::from_bits(reply.number as u64))
}

/// The bytes of a string, status, error, double, big number or verbatim text; NULL for all else. They may hold NULs, so
/// `mk_reply_len` counts them, and one more NUL stands behind them. Valid as long as the whole reply.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_str(reply: Option<&mk_reply>) -> *const c_char {
    reply.filter(|reply| reply.has_text()).map_or(ptr::null(), |reply| reply.start.cast())
}

/// How many bytes `mk_reply_str` gives; 0 where it gives NULL.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_len(reply: Option<&mk_reply>) -> usize {
    reply.filter(|reply| reply.has_text()).map_or(0, |reply| reply.len)
}

/// The format of a verbatim text, three letters as in `txt`; NULL for all else. Valid as long as the whole reply.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_vtype(reply: Option<&mk_reply>) -> *const c_char {
    reply.filter(|reply| reply.kind == MK_REPLY_VERB).map_or(ptr::null(), |reply| reply.vtype.as_ptr())
}

/// How many elements an array, set or push message has, twice the pairs of a map; 0 for all else.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_elements(reply: Option<&mk_reply>) -> usize {
    reply.filter(|reply| reply.has_elements()).map_or(0, |reply| reply.len)
}

/// An element, from 0 on; NULL when there is none. It belongs to the whole reply: valid as long, never freed itself.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_element(reply: Option<&mk_reply>, index: usize) -> *const mk_reply {
    match reply {
        Some(reply) if reply.has_elements() && index < reply.len => {
            reply.start.cast::<mk_reply>().wrapping_add(index)
        }
        _ => ptr::null(),
    }
}

/// The reply as the bytes that a server sends to a client of this protocol version, 2 or 3: a new reply of type
/// `MK_REPLY_STRING`, owned by the caller (`mk_reply_free`). NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_resp(reply: Option<&mk_reply>, version: c_int) -> *mut mk_reply {
    give_or_null(|| {
        let version = match version {
            2 => Resp::V2,
            3 => Resp::V3,
            other => return Err(Fault::usage(format!("the protocol version is {other}; it is 2 or 3"))),
        };
        let mut bytes = Vec::new();
        resp::encode(&reply.needed("reply")?.to_tape(), version, &mut bytes);
        Ok(Tree::of_bytes(&bytes))
    })
}

/// The reply as redis-cli shows it to people, as in `(integer) 1`: a new reply of type `MK_REPLY_STRING`, owned by the
/// caller (`mk_reply_free`). NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_text(reply: Option<&mk_reply>) -> *mut mk_reply {
    give_or_null(|| Ok(Tree::of_bytes(reply.needed("reply")?.to_tape().to_string().as_bytes())))
}

/// Frees a reply with all its elements; NULL is ignored. An element, or a reply that `mk_call_borrow` gave, is refused:
/// nothing happens but that `mk_last_error` says so. No other thread uses the reply.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reply_free(reply: Returned) {
    let _ = entry(|| free_reply(reply));
}

/// Runs the body of an entry that gives a reply of the caller's.
pub(super) fn give_or_null(body: impl FnOnce() -> Result<Box<Tree>, Fault>) -> *mut mk_reply {
    entry(body).map_or(ptr::null_mut(), give_reply)
}
