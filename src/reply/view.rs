//! Reading a tape: `ReplyRef` is one value, borrowed; `Items` walks the elements of an aggregate.

use super::tape::{Kind, Mark, Op, Reply};
use std::fmt;

/// One value of a reply, borrowed from it.
#[derive(Clone, Copy)]
pub enum ReplyRef<'a> {
    /// An integer.
    Int(i64),
    /// A bulk string.
    Bulk(&'a [u8]),
    /// A status such as `OK`.
    Status(&'a [u8]),
    /// An error, code included.
    Error(&'a [u8]),
    /// A null.
    Nil,
    /// A null array, which RESP2 tells apart.
    NilArray,
    /// An array.
    Array(Items<'a>),
    /// A map: keys and values in turn.
    Map(Items<'a>),
    /// A set.
    Set(Items<'a>),
    /// A push message.
    Push(Items<'a>),
    /// What is said of the value that follows: keys and values in turn.
    Attribute(Items<'a>),
    /// A double.
    Double(f64),
    /// A double that is written with up to 17 decimals, as GEOPOS does.
    Coordinate(f64),
    /// A boolean.
    Bool(bool),
    /// A big number in decimal.
    BigNumber(&'a [u8]),
    /// A verbatim string: format and text.
    Verbatim([u8; 3], &'a [u8]),
}

/// The elements of an aggregate, in order.
#[derive(Clone, Copy)]
pub struct Items<'a> {
    ops: &'a [Op],
    data: &'a [u8],
    left: usize,
}

impl Reply {
    /// All top-level values, in order; most commands have one.
    pub fn values(&self) -> Items<'_> {
        let mut count = 0;
        let mut at = 0;
        while at < self.ops.len() {
            at += width(&self.ops[at..]);
            count += 1;
        }
        Items { ops: &self.ops, data: &self.data, left: count }
    }
    /// The first top-level value, without what is said of it; a null when there is none.
    #[inline]
    pub fn view(&self) -> ReplyRef<'_> {
        match &self.ops[..] {
            [] => ReplyRef::Nil,
            [Op { kind: Kind::Attribute, .. }, ..] => self.view_behind_attributes(),
            ops => value(ops, &self.data),
        }
    }
    #[cold]
    fn view_behind_attributes(&self) -> ReplyRef<'_> {
        let mut ops = &self.ops[..];
        while ops.first().is_some_and(|op| op.kind == Kind::Attribute) {
            ops = ops.get(width(ops)..).unwrap_or_default();
        }
        if ops.is_empty() { ReplyRef::Nil } else { value(ops, &self.data) }
    }
    /// The reply where it is one text and nothing else, with a NUL behind the text that is no part of it, for who reads it in
    /// place as C reads texts.
    #[inline]
    #[cfg(feature = "capi")]
    pub(crate) fn terminated(&mut self) -> Option<ReplyRef<'_>> {
        let &[Op { kind, len, n }] = self.ops.as_slice() else { return None };
        let (start, end) = (n as usize, n as usize + len as usize);
        if !matches!(kind, Kind::Bulk | Kind::Status | Kind::Error) || end != self.data.len() {
            return None;
        }
        self.data.push(0);
        let text = &self.data[start..end];
        Some(match kind {
            Kind::Bulk => ReplyRef::Bulk(text),
            Kind::Status => ReplyRef::Status(text),
            _ => ReplyRef::Error(text),
        })
    }
    /// All values of all depths, each before its elements; without attributes.
    #[cfg(feature = "capi")]
    pub(crate) fn walk(&self) -> impl Iterator<Item = ReplyRef<'_>> {
        let mut ops = &self.ops[..];
        std::iter::from_fn(move || {
            while ops.first().is_some_and(|op| op.kind == Kind::Attribute) {
                ops = ops.get(width(ops)..).unwrap_or_default();
            }
            let (_, rest) = ops.split_first()?;
            let value = value(ops, &self.data);
            ops = rest;
            Some(value)
        })
    }
    /// Writes a value of another reply, with its elements.
    pub fn value(&mut self, value: ReplyRef<'_>) {
        let items = match value {
            ReplyRef::Int(n) => return self.int(n),
            ReplyRef::Bulk(bytes) => return self.bulk(bytes),
            ReplyRef::Status(text) => return self.status_bytes(text),
            ReplyRef::Error(text) => return self.error_text(text),
            ReplyRef::Nil => return self.nil(),
            ReplyRef::NilArray => return self.nil_array(),
            ReplyRef::Double(x) => return self.double(x),
            ReplyRef::Coordinate(x) => return self.coordinate(x),
            ReplyRef::Bool(b) => return self.boolean(b),
            ReplyRef::BigNumber(digits) => return self.big_number(digits),
            ReplyRef::Verbatim(format, text) => return self.verbatim(format, text),
            ReplyRef::Array(items) => {
                self.array(items.len());
                items
            }
            ReplyRef::Map(items) => {
                self.map(items.len() / 2);
                items
            }
            ReplyRef::Set(items) => {
                self.set(items.len());
                items
            }
            ReplyRef::Push(items) => {
                self.push(items.len());
                items
            }
            ReplyRef::Attribute(items) => {
                self.attribute(items.len() / 2);
                items
            }
        };
        items.for_each(|item| self.value(item));
    }
    /// Drops all but the push messages, wherever they stand: what a client reads that wants no replies.
    pub(crate) fn keep_pushes(&mut self) {
        self.keep_pushes_since(Mark::default());
    }
    /// Drops all but the push messages of what was written since the mark.
    pub(crate) fn keep_pushes_since(&mut self, mark: Mark) {
        let mut kept = Reply::new();
        let mut at = mark.ops;
        while at < self.ops.len() {
            let ops = &self.ops[at..];
            if ops[0].kind == Kind::Push {
                kept.value(read(ops, &self.data).0);
            }
            at += if ops[0].kind == Kind::Push { width(ops) } else { 1 };
        }
        self.rollback(mark);
        kept.values().for_each(|push| self.value(push));
    }
    /// True when the first value is an error.
    pub fn is_error(&self) -> bool {
        self.ops.first().is_some_and(|op| op.kind == Kind::Error)
    }
    /// The text of the error, when the first value is one.
    pub fn error_message(&self) -> Option<&[u8]> {
        match self.view() {
            ReplyRef::Error(text) => Some(text),
            _ => None,
        }
    }
}

/// How many operations the value at the front takes, children included.
fn width(ops: &[Op]) -> usize {
    let mut left = 1usize;
    let mut at = 0;
    while left > 0 && at < ops.len() {
        left = left - 1 + children(&ops[at]);
        at += 1;
    }
    at
}

fn children(op: &Op) -> usize {
    match op.kind {
        Kind::Array | Kind::Set | Kind::Push => op.n as usize,
        Kind::Map | Kind::Attribute => 2 * op.n as usize,
        _ => 0,
    }
}

/// Reads the value at the front; returns it and how many operations it took.
fn read<'a>(ops: &'a [Op], data: &'a [u8]) -> (ReplyRef<'a>, usize) {
    let width = if children(&ops[0]) == 0 { 1 } else { width(ops) };
    (value(ops, data), width)
}

/// Reads the value at the front.
#[inline]
fn value<'a>(ops: &'a [Op], data: &'a [u8]) -> ReplyRef<'a> {
    let op = &ops[0];
    let text = || &data[op.n as usize..op.n as usize + op.len as usize];
    let items = || Items { ops: &ops[1..], data, left: children(op) };
    match op.kind {
        Kind::Int => ReplyRef::Int(op.n),
        Kind::Bulk => ReplyRef::Bulk(text()),
        Kind::Status => ReplyRef::Status(text()),
        Kind::Error => ReplyRef::Error(text()),
        Kind::Nil => ReplyRef::Nil,
        Kind::NilArray => ReplyRef::NilArray,
        Kind::Array => ReplyRef::Array(items()),
        Kind::Map => ReplyRef::Map(items()),
        Kind::Set => ReplyRef::Set(items()),
        Kind::Push => ReplyRef::Push(items()),
        Kind::Attribute => ReplyRef::Attribute(items()),
        Kind::Double => ReplyRef::Double(f64::from_bits(op.n as u64)),
        Kind::Coordinate => ReplyRef::Coordinate(f64::from_bits(op.n as u64)),
        Kind::Bool => ReplyRef::Bool(op.n != 0),
        Kind::BigNumber => ReplyRef::BigNumber(text()),
        Kind::Verbatim => {
            let text = text();
            ReplyRef::Verbatim([text[0], text[1], text[2]], &text[3..])
        }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = ReplyRef<'a>;
    fn next(&mut self) -> Option<ReplyRef<'a>> {
        if self.left == 0 || self.ops.is_empty() {
            return None;
        }
        let (value, width) = read(self.ops, self.data);
        self.ops = &self.ops[width..];
        self.left -= 1;
        Some(value)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Items<'_> {}

impl PartialEq for ReplyRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        use ReplyRef::*;
        match (self, other) {
            (Int(a), Int(b)) => a == b,
            (Double(a), Double(b)) | (Coordinate(a), Coordinate(b)) => a.to_bits() == b.to_bits(),
            (Bool(a), Bool(b)) => a == b,
            (Nil, Nil) | (NilArray, NilArray) => true,
            (Bulk(a), Bulk(b)) | (Status(a), Status(b)) | (Error(a), Error(b)) => a == b,
            (BigNumber(a), BigNumber(b)) => a == b,
            (Verbatim(f, a), Verbatim(g, b)) => f == g && a == b,
            (Array(a), Array(b)) | (Map(a), Map(b)) | (Set(a), Set(b)) | (Push(a), Push(b)) => a.eq(*b),
            (Attribute(a), Attribute(b)) => a.eq(*b),
            _ => false,
        }
    }
}

impl PartialEq for Reply {
    fn eq(&self, other: &Self) -> bool {
        self.values().eq(other.values())
    }
}

fn quote(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for &byte in bytes {
        match byte {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            0x20..=0x7e => write!(f, "{}", byte as char)?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_str("\"")
}

fn list(items: &Items<'_>, open: &str, close: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item:?}")?;
    }
    f.write_str(close)
}

/// Short and unambiguous: `:1`, `+OK`, `-ERR …`, `"bulk"`, `nil`, `nil*`, `[…]`, `%{k=>v}`, `~[…]`, `>[…]`, `,1.5`, `#t`.
impl fmt::Debug for ReplyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplyRef::Int(n) => write!(f, ":{n}"),
            ReplyRef::Bulk(text) => quote(text, f),
            ReplyRef::Status(text) => write!(f, "+{}", String::from_utf8_lossy(text)),
            ReplyRef::Error(text) => write!(f, "-{}", String::from_utf8_lossy(text)),
            ReplyRef::Nil => f.write_str("nil"),
            ReplyRef::NilArray => f.write_str("nil*"),
            ReplyRef::Array(items) => list(items, "[", "]", f),
            ReplyRef::Set(items) => list(items, "~[", "]", f),
            ReplyRef::Push(items) => list(items, ">[", "]", f),
            ReplyRef::Map(items) | ReplyRef::Attribute(items) => {
                f.write_str(if matches!(self, ReplyRef::Map(_)) { "%{" } else { "|{" })?;
                for (index, item) in items.enumerate() {
                    f.write_str(if index % 2 == 1 {
                        "=>"
                    } else if index > 0 {
                        ", "
                    } else {
                        ""
                    })?;
                    write!(f, "{item:?}")?;
                }
                f.write_str("}")
            }
            ReplyRef::Double(value) | ReplyRef::Coordinate(value) => write!(f, ",{value}"),
            ReplyRef::Bool(value) => f.write_str(if *value { "#t" } else { "#f" }),
            ReplyRef::BigNumber(text) => write!(f, "({}", String::from_utf8_lossy(text)),
            ReplyRef::Verbatim(format, text) => {
                write!(f, "={}:{}", String::from_utf8_lossy(format), String::from_utf8_lossy(text))
            }
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.values().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{value:?}")?;
        }
        Ok(())
    }
}
