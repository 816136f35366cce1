//! The tape: a reply as a flat list of operations and one byte buffer, both reused from call to call.
//! Operations mean what RESP3 can say; encoders and the Lua bridge turn them down for RESP2.
//! Reading a tape is in `view`.

use crate::error::Failure;
use crate::util::float::strtod;
use crate::util::long_double::format_human;
use std::io::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Int,
    Bulk,
    Status,
    Error,
    Nil,
    NilArray,
    Array,
    Map,
    Set,
    Push,
    Attribute,
    Double,
    Coordinate,
    Bool,
    BigNumber,
    Verbatim,
}

/// One operation. `n` is the integer, the bits of the double, the count of an aggregate or the offset into `data`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) len: u32,
    pub(super) n: i64,
}

/// A reply of zero or more values, or the place to write one.
///
/// Clearing keeps the memory, so that a `Reply` reused for many calls does not allocate at steady state.
#[derive(Default, Clone)]
pub struct Reply {
    pub(super) ops: Vec<Op>,
    pub(super) data: Vec<u8>,
}

/// A place on the tape to go back to, see [`Reply::rollback`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark {
    pub(super) ops: usize,
    data: usize,
}

/// An aggregate whose length is not known yet, see [`Reply::deferred_array`].
#[derive(Debug, Clone, Copy)]
#[must_use = "an open aggregate must be closed"]
pub struct Slot(usize);

impl Reply {
    /// An empty reply; allocates nothing.
    pub const fn new() -> Self {
        Reply { ops: Vec::new(), data: Vec::new() }
    }
    /// Forgets the values, keeps the memory.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.data.clear();
    }
    /// True when nothing was answered (CLIENT REPLY OFF and the like).
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
    /// The present end of the tape.
    pub fn mark(&self) -> Mark {
        Mark { ops: self.ops.len(), data: self.data.len() }
    }
    /// Drops all that was written since the mark.
    pub fn rollback(&mut self, mark: Mark) {
        self.ops.truncate(mark.ops);
        self.data.truncate(mark.data);
    }

    #[inline]
    fn op(&mut self, kind: Kind, n: i64) {
        self.ops.push(Op { kind, len: 0, n });
    }
    #[inline]
    fn bytes(&mut self, kind: Kind, bytes: &[u8]) {
        let at = self.data.len();
        self.data.extend_from_slice(bytes);
        self.ops.push(Op { kind, len: bytes.len() as u32, n: at as i64 });
    }
    /// A one-line text: CR and LF become spaces, so that it stays one line.
    fn line(&mut self, kind: Kind, text: &[u8]) {
        let at = self.data.len();
        self.bytes(kind, text);
        for byte in &mut self.data[at..] {
            if matches!(*byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
    }

    /// An integer.
    #[inline]
    pub fn int(&mut self, value: i64) {
        self.op(Kind::Int, value);
    }
    /// A bulk string.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.bytes(Kind::Bulk, bytes);
    }
    /// A bulk string, or a null.
    pub fn bulk_or_nil(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.bulk(bytes),
            None => self.nil(),
        }
    }
    /// A bulk string with the text of a value.
    pub fn bulk_display(&mut self, value: impl std::fmt::Display) {
        let at = self.data.len();
        // Writing to a vector does not fail.
        let _ = write!(self.data, "{value}");
        self.ops.push(Op { kind: Kind::Bulk, len: (self.data.len() - at) as u32, n: at as i64 });
    }
    /// A bulk string with the decimal text of an integer.
    pub fn bulk_int(&mut self, value: i64) {
        self.bytes(Kind::Bulk, itoa::Buffer::new().format(value).as_bytes());
    }
    /// A status, as in `+OK`.
    pub fn status(&mut self, text: &str) {
        self.line(Kind::Status, text.as_bytes());
    }
    /// A status of any bytes; line ends become spaces.
    pub fn status_bytes(&mut self, text: &[u8]) {
        self.line(Kind::Status, text);
    }
    /// The status `OK`.
    #[inline]
    pub fn ok(&mut self) {
        self.bytes(Kind::Status, b"OK");
    }
    /// An error.
    pub fn error(&mut self, failure: &Failure) {
        self.line(Kind::Error, &failure.to_bytes());
    }
    /// An error with this text, code included; line ends become spaces.
    pub fn error_text(&mut self, text: &[u8]) {
        self.line(Kind::Error, text);
    }
    /// A null: `$-1` in RESP2, `_` in RESP3.
    pub fn nil(&mut self) {
        self.op(Kind::Nil, 0);
    }
    /// A null array: `*-1` in RESP2, `_` in RESP3.
    pub fn nil_array(&mut self) {
        self.op(Kind::NilArray, 0);
    }
    /// An array; its elements follow.
    pub fn array(&mut self, len: usize) {
        self.op(Kind::Array, len as i64);
    }
    /// A map of so many pairs; keys and values follow in turn. RESP2: a flat array.
    pub fn map(&mut self, pairs: usize) {
        self.op(Kind::Map, pairs as i64);
    }
    /// A set; its elements follow. RESP2: an array.
    pub fn set(&mut self, len: usize) {
        self.op(Kind::Set, len as i64);
    }
    /// A push message; its elements follow. RESP2: an array.
    pub fn push(&mut self, len: usize) {
        self.op(Kind::Push, len as i64);
    }
    /// An attribute of the value that follows: so many pairs. RESP2: nothing.
    pub fn attribute(&mut self, pairs: usize) {
        self.op(Kind::Attribute, pairs as i64);
    }
    /// A double. RESP2: a bulk string with its text.
    pub fn double(&mut self, value: f64) {
        self.op(Kind::Double, value.to_bits() as i64);
    }
    /// A double that is written with up to 17 decimals, and is what these say. RESP2: a bulk string with that text.
    pub fn coordinate(&mut self, value: f64) {
        // From here on a double has no bits behind the 17th decimal.
        const EXACT_MIN: f64 = 0.125;
        let exact = value.abs() >= EXACT_MIN;
        let value = if exact { value } else { strtod(&format_human(value)).value };
        self.op(Kind::Coordinate, value.to_bits() as i64);
    }
    /// A boolean. RESP2: 1 or 0.
    pub fn boolean(&mut self, value: bool) {
        self.op(Kind::Bool, i64::from(value));
    }
    /// A big number, in decimal. RESP2: a bulk string.
    pub fn big_number(&mut self, digits: &[u8]) {
        self.line(Kind::BigNumber, digits);
    }
    /// A verbatim string with a three-letter format such as `txt`. RESP2: a bulk string.
    pub fn verbatim(&mut self, format: [u8; 3], text: &[u8]) {
        let at = self.data.len();
        self.data.extend_from_slice(&format);
        self.data.extend_from_slice(text);
        self.ops.push(Op { kind: Kind::Verbatim, len: (text.len() + 3) as u32, n: at as i64 });
    }
    /// An array whose length [`close`](Self::close) sets.
    pub fn deferred_array(&mut self) -> Slot {
        self.array(0);
        Slot(self.ops.len() - 1)
    }
    /// A map whose number of pairs [`close`](Self::close) sets.
    pub fn deferred_map(&mut self) -> Slot {
        self.map(0);
        Slot(self.ops.len() - 1)
    }
    /// A set whose length [`close`](Self::close) sets.
    pub fn deferred_set(&mut self) -> Slot {
        self.set(0);
        Slot(self.ops.len() - 1)
    }
    /// Sets the length of an open array or set, or the number of pairs of an open map.
    pub fn close(&mut self, slot: Slot, len: usize) {
        if let Some(op) = self.ops.get_mut(slot.0) {
            op.n = len as i64;
        }
    }
    /// Appends all values of another reply.
    pub fn append(&mut self, other: &Reply) {
        let base = self.data.len() as i64;
        self.data.extend_from_slice(&other.data);
        self.ops.extend(other.ops.iter().map(|op| match op.kind {
            Kind::Bulk | Kind::Status | Kind::Error | Kind::BigNumber | Kind::Verbatim => {
                Op { n: op.n + base, ..*op }
            }
            _ => *op,
        }));
    }
    /// Bytes of what was written: 16 for each value, and those of the texts.
    pub fn size(&self) -> usize {
        self.ops.len() * size_of::<Op>() + self.data.len()
    }
    /// Bytes held by this reply, for accounting.
    pub fn memory_bytes(&self) -> usize {
        self.ops.capacity() * size_of::<Op>() + self.data.capacity()
    }
}
