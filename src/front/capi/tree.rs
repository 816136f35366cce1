//! A tape as C reads it: one `mk_reply` for each value, the elements of an aggregate side by side, all texts in one buffer
//! with a NUL behind each. Used again from call to call where a client owns it.

use super::reply::*;
use crate::reply::{Reply, ReplyRef};
use crate::util::float::format_f64;
use crate::util::long_double::format_human;
use crate::util::num::NumBuf;
use std::ptr;

/// A reply with all that it points to: the reply must be the first field.
#[repr(C)]
pub(super) struct Tree {
    root: mk_reply,
    /// All elements of all depths; those of one aggregate are contiguous.
    elements: Vec<mk_reply>,
    /// All texts, each with a NUL behind it.
    text: Vec<u8>,
    /// Aggregates whose elements are being read, from the outside in.
    open: Vec<Open>,
}

/// An aggregate: where its next element goes, and how many are still to come.
struct Open {
    next: usize,
    left: usize,
}

impl Tree {
    pub(super) const fn new() -> Tree {
        Tree { root: mk_reply::blank(MK_REPLY_NIL), elements: Vec::new(), text: Vec::new(), open: Vec::new() }
    }
    /// A tree of its own, to be given to C.
    pub(super) fn of(tape: &Reply) -> Box<Tree> {
        let mut tree = Box::new(Tree::new());
        tree.read(tape);
        tree.root.is_free = true;
        tree
    }
    /// A tree of one string.
    pub(super) fn of_bytes(bytes: &[u8]) -> Box<Tree> {
        let mut tape = Reply::new();
        tape.bulk(bytes);
        Tree::of(&tape)
    }
    /// Reads a tape that stays as it is while the tree is read. A reply that is one text is read in place.
    #[inline]
    pub(super) fn show(&mut self, tape: &mut Reply) -> &mk_reply {
        let (kind, text) = match tape.terminated() {
            Some(ReplyRef::Bulk(text)) => (MK_REPLY_STRING, text),
            Some(ReplyRef::Status(text)) => (MK_REPLY_STATUS, text),
            Some(ReplyRef::Error(text)) => (MK_REPLY_ERROR, text),
            _ => {
                self.read(tape);
                return &self.root;
            }
        };
        self.root = mk_reply { start: text.as_ptr().cast(), len: text.len(), ..mk_reply::blank(kind) };
        &self.root
    }
    /// Copies the values of a tape: the only one, or all as an array (SUBSCRIBE answers once for each name).
    fn read(&mut self, tape: &Reply) {
        self.elements.clear();
        self.text.clear();
        self.open.clear();
        self.root = mk_reply::blank(MK_REPLY_NIL);
        let count = tape.values().filter(|value| !matches!(value, ReplyRef::Attribute(_))).count();
        if count > 1 {
            self.root = mk_reply { len: count, ..mk_reply::blank(MK_REPLY_ARRAY) };
            self.root.start = ptr::without_provenance(self.begin(count));
        }
        for value in tape.walk() {
            let mut reply = mk_reply::read(&value, &mut self.text);
            let place = self.place();
            if reply.has_elements() && reply.len > 0 {
                reply.start = ptr::without_provenance(self.begin(reply.len));
            }
            match place {
                Some(at) => self.elements[at] = reply,
                None => self.root = reply,
            }
        }
        self.link();
    }
    /// Makes room for the elements of an aggregate; where they begin.
    fn begin(&mut self, count: usize) -> usize {
        let at = self.elements.len();
        self.elements.resize(at + count, mk_reply::blank(MK_REPLY_NIL));
        self.open.push(Open { next: at, left: count });
        at
    }
    /// Where the next value goes; None for the root.
    fn place(&mut self) -> Option<usize> {
        while self.open.last().is_some_and(|open| open.left == 0) {
            self.open.pop();
        }
        let open = self.open.last_mut()?;
        open.next += 1;
        open.left -= 1;
        Some(open.next - 1)
    }
    /// Turns positions into pointers, once nothing moves any more.
    fn link(&mut self) {
        let (texts, elements) = (self.text.as_ptr(), self.elements.as_ptr());
        for reply in self.elements.iter_mut().chain([&mut self.root]) {
            let at = reply.start.addr();
            if reply.has_text() {
                reply.start = texts.wrapping_add(at).cast();
            } else if reply.has_elements() {
                reply.start = elements.wrapping_add(at).cast();
            }
        }
    }
}

impl mk_reply {
    pub(super) const fn blank(kind: std::ffi::c_int) -> mk_reply {
        mk_reply {
            kind,
            is_free: false,
            shade: Shade::Plain,
            vtype: [0; 4],
            number: 0,
            start: ptr::null(),
            len: 0,
        }
    }
    /// Copies one value but for its elements.
    fn read(value: &ReplyRef<'_>, text: &mut Vec<u8>) -> mk_reply {
        let blank = mk_reply::blank;
        let mut with_text = |kind, bytes: &[u8]| {
            let start = ptr::without_provenance(text.len());
            text.extend_from_slice(bytes);
            text.push(0);
            mk_reply { start, len: bytes.len(), ..blank(kind) }
        };
        match *value {
            ReplyRef::Int(number) => mk_reply { number, ..blank(MK_REPLY_INTEGER) },
            ReplyRef::Bool(value) => mk_reply { number: i64::from(value), ..blank(MK_REPLY_BOOL) },
            ReplyRef::Bulk(bytes) => with_text(MK_REPLY_STRING, bytes),
            ReplyRef::Status(bytes) => with_text(MK_REPLY_STATUS, bytes),
            ReplyRef::Error(bytes) => with_text(MK_REPLY_ERROR, bytes),
            ReplyRef::BigNumber(bytes) => with_text(MK_REPLY_BIGNUM, bytes),
            ReplyRef::Verbatim([a, b, c], bytes) => {
                let vtype = [a, b, c, 0].map(|byte| byte as std::ffi::c_char);
                mk_reply { vtype, ..with_text(MK_REPLY_VERB, bytes) }
            }
            ReplyRef::Double(dval) => {
                let reply = with_text(MK_REPLY_DOUBLE, format_f64(&mut NumBuf::new(), dval));
                mk_reply { number: dval.to_bits() as i64, ..reply }
            }
            ReplyRef::Coordinate(dval) => {
                let reply = with_text(MK_REPLY_DOUBLE, &format_human(dval));
                mk_reply { number: dval.to_bits() as i64, shade: Shade::Coordinate, ..reply }
            }
            ReplyRef::Nil => blank(MK_REPLY_NIL),
            ReplyRef::NilArray => mk_reply { shade: Shade::NilArray, ..blank(MK_REPLY_NIL) },
            ReplyRef::Array(items) => mk_reply { len: items.len(), ..blank(MK_REPLY_ARRAY) },
            ReplyRef::Map(items) | ReplyRef::Attribute(items) => {
                mk_reply { len: items.len(), ..blank(MK_REPLY_MAP) }
            }
            ReplyRef::Set(items) => mk_reply { len: items.len(), ..blank(MK_REPLY_SET) },
            ReplyRef::Push(items) => mk_reply { len: items.len(), ..blank(MK_REPLY_PUSH) },
        }
    }
    /// The tape that it was read from: the other way round.
    pub(super) fn to_tape(self) -> Reply {
        let mut tape = Reply::new();
        let mut open = vec![std::slice::from_ref(&self).iter()];
        while let Some(values) = open.last_mut() {
            let Some(value) = values.next() else {
                open.pop();
                continue;
            };
            value.write(&mut tape);
            open.push(value.elements().iter());
        }
        tape
    }
    /// Writes it but for its elements.
    fn write(&self, tape: &mut Reply) {
        match self.kind {
            MK_REPLY_STRING => tape.bulk(self.text()),
            MK_REPLY_STATUS => tape.status_bytes(self.text()),
            MK_REPLY_ERROR => tape.error_text(self.text()),
            MK_REPLY_BIGNUM => tape.big_number(self.text()),
            MK_REPLY_VERB => {
                let [a, b, c, _] = self.vtype.map(|byte| byte as u8);
                tape.verbatim([a, b, c], self.text());
            }
            MK_REPLY_DOUBLE if self.shade == Shade::Coordinate => {
                tape.coordinate(f64::from_bits(self.number as u64))
            }
            MK_REPLY_DOUBLE => tape.double(f64::from_bits(self.number as u64)),
            MK_REPLY_INTEGER => tape.int(self.number),
            MK_REPLY_BOOL => tape.boolean(self.number != 0),
            MK_REPLY_ARRAY => tape.array(self.len),
            MK_REPLY_MAP => tape.map(self.len / 2),
            MK_REPLY_SET => tape.set(self.len),
            MK_REPLY_PUSH => tape.push(self.len),
            _ if self.shade == Shade::NilArray => tape.nil_array(),
            _ => tape.nil(),
        }
    }
}
