//! Values across the border: what a command answered as Lua values, what a script returned or raised as a reply.
//! The rules are the server's, for RESP2 and RESP3. Not here: arguments of `redis.call` (`bridge`).

use super::bridge::steps;
use super::limits::{Meter, Stop};
use super::stack::{Kind, Stack};
use crate::command::stats::Stats;
use crate::error::Failure;
use crate::error::scripting::CODE;
use crate::reply::{Items, Reply, ReplyRef, Resp, Slot};
use crate::util::float::format_f64;
use crate::util::long_double::format_human;
use crate::util::num::NumBuf;
use std::ffi::CStr;

/// The work charged for one `redis.call`.
pub(super) const COMMAND_WORK: u64 = 20;
/// Bytes of a reply that count as one unit of work; each element has so many beside its own.
const BYTES_PER_WORK: u64 = 16;

/// Upvalues of `redis.call` and `redis.pcall`: names that every reply table needs, already made.
pub(super) const NAMES: [&[u8]; 3] = [b"ok", b"err", b"ignore_error_stats_update"];
const OK: i32 = 1;
const ERR: i32 = 2;
const IGNORE: i32 = 3;

/// Pushes a command's reply; true when it is an error. May jump.
pub(super) fn push_reply(stack: Stack<'_>, reply: ReplyRef<'_>, resp: Resp) -> bool {
    match reply {
        ReplyRef::Int(value) => stack.push_number(value as f64),
        ReplyRef::Bulk(text) => stack.push_bytes(text),
        ReplyRef::Nil | ReplyRef::NilArray if resp == Resp::V3 => stack.push_nil(),
        ReplyRef::Nil | ReplyRef::NilArray => stack.push_bool(false),
        ReplyRef::Status(text) => {
            stack.new_table(0, 1);
            stack.copy(Stack::upvalue(OK));
            stack.push_bytes(text);
            stack.raw_set(-3);
        }
        ReplyRef::Error(text) => {
            push_command_error(stack, text);
            return true;
        }
        ReplyRef::Array(items) => push_array(stack, items, resp),
        other if resp == Resp::V3 => push_resp3(stack, other),
        ReplyRef::Map(items) | ReplyRef::Set(items) | ReplyRef::Push(items) | ReplyRef::Attribute(items) => {
            push_array(stack, items, resp)
        }
        ReplyRef::Double(value) => stack.push_bytes(format_f64(&mut NumBuf::new(), value)),
        ReplyRef::Coordinate(value) => stack.push_bytes(&format_human(value)),
        ReplyRef::Bool(value) => stack.push_number(f64::from(u8::from(value))),
        ReplyRef::BigNumber(text) | ReplyRef::Verbatim(_, text) => stack.push_bytes(text),
    }
    false
}

/// The error table of `redis.pcall`: it has a code, and says that the error was counted already. What never became
/// a command was not counted.
fn push_command_error(stack: Stack<'_>, text: &[u8]) {
    stack.new_table(0, 1);
    stack.copy(Stack::upvalue(ERR));
    push_coded(stack, text);
    stack.raw_set(-3);
    let uncounted = [Failure::CALL_WITHOUT_ARGUMENTS, Failure::CALL_ARGUMENT_TYPE];
    if uncounted.iter().any(|failure| matches!(failure, Failure::Text(known) if known.as_bytes() == text)) {
        return;
    }
    stack.copy(Stack::upvalue(IGNORE));
    stack.push_bool(true);
    stack.raw_set(-3);
}

/// Pushes an error's text; one that is a single word gets the code ERR.
fn push_coded(stack: Stack<'_>, text: &[u8]) {
    let text = before_nul(text);
    if text.contains(&b' ') {
        stack.push_bytes(text);
    } else {
        stack.push_bytes(CODE);
        stack.push_bytes(text);
        stack.concat(2);
    }
}

/// Pushes the error table that functions of the `redis` table raise: `text` without a code, or `-CODE text`. May jump.
pub(super) fn push_error_table(stack: Stack<'_>, text: &[u8]) {
    let text = before_nul(text);
    stack.new_table(0, 1);
    stack.push_bytes(b"err");
    let (code, message) = match text.strip_prefix(b"-") {
        None => (&b"ERR"[..], text),
        Some(text) => match text.iter().position(|&byte| byte == b' ') {
            None => (&b"ERR"[..], text),
            Some(space) => (&text[..space], &text[space + 1..]),
        },
    };
    stack.push_bytes(code);
    stack.push_bytes(b" ");
    stack.push_bytes(trim_line_ends(message));
    stack.concat(3);
    stack.raw_set(-3);
}

fn trim_line_ends(text: &[u8]) -> &[u8] {
    let first = text.iter().position(|byte| !is_line_end(byte)).unwrap_or(text.len());
    trim_last_line_ends(&text[first..])
}

/// Of an error that goes out only the end is trimmed: the server trims it with the `-` before it.
fn trim_last_line_ends(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !is_line_end(byte)).map_or(0, |last| last + 1);
    &text[..end]
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// How much a reply may keep on the stack while its elements are pushed: far above what any command nests, and
/// small enough for the native stack too.
const MAX_NESTED: i32 = 1000;

/// Elements are pushed in groups of so many, with a look at the time between them when one is due.
const GROUP: i32 = 16;

/// Room for element number `index` with what it opens. Raises the error of a reply that is nested too deep, or the stop:
/// each element is a string that Lua may compare with thousands of others. May jump.
#[inline]
fn make_room(stack: Stack<'_>, index: i32) {
    if index % GROUP == 0 {
        steps(stack, GROUP);
    }
    if stack.top() > MAX_NESTED || !stack.reserve(8) {
        stack.push_bytes(b"reply is nested too deep");
        stack.raise();
    }
}

fn push_array(stack: Stack<'_>, items: Items<'_>, resp: Resp) {
    let count = i32::try_from(items.len()).unwrap_or(i32::MAX);
    // A null leaves a hole in RESP3; then the table grows as the server's does, so that `#` finds the same border.
    stack.new_table(if resp == Resp::V2 { count } else { 0 }, 0);
    for (item, index) in items.zip(1..) {
        make_room(stack, index);
        push_reply(stack, item, resp);
        stack.raw_set_index(-2, index);
    }
}

/// What only RESP3 has. Tables grow as the server's do, so that `pairs` finds the same order.
fn push_resp3(stack: Stack<'_>, reply: ReplyRef<'_>) {
    match reply {
        ReplyRef::Map(items) => push_wrapped(stack, b"map", |stack| push_pairs(stack, items)),
        ReplyRef::Set(items) => push_wrapped(stack, b"set", |stack| push_members(stack, items)),
        ReplyRef::Push(items) => push_array(stack, items, Resp::V3),
        ReplyRef::Double(value) | ReplyRef::Coordinate(value) => {
            push_wrapped(stack, b"double", |stack| stack.push_number(value))
        }
        ReplyRef::Bool(value) => stack.push_bool(value),
        ReplyRef::BigNumber(text) => push_wrapped(stack, b"big_number", |stack| stack.push_bytes(text)),
        ReplyRef::Verbatim(format, text) => push_wrapped(stack, b"verbatim_string", |stack| {
            stack.new_table(0, 0);
            stack.push_bytes(text);
            stack.raw_set_field(-2, b"string");
            stack.push_bytes(&format);
            stack.raw_set_field(-2, b"format");
        }),
        _ => stack.push_nil(),
    }
}

fn push_wrapped(stack: Stack<'_>, name: &[u8], push: impl FnOnce(Stack<'_>)) {
    stack.new_table(0, 0);
    stack.push_bytes(name);
    push(stack);
    stack.raw_set(-3);
}

fn push_pairs(stack: Stack<'_>, mut items: Items<'_>) {
    stack.new_table(0, 0);
    let mut index = 0;
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        index += 2;
        make_room(stack, index);
        push_reply(stack, key, Resp::V3);
        push_reply(stack, value, Resp::V3);
        stack.raw_set(-3);
    }
}

fn push_members(stack: Stack<'_>, items: Items<'_>) {
    stack.new_table(0, 0);
    for (member, index) in items.zip(1..) {
        make_room(stack, index);
        push_reply(stack, member, Resp::V3);
        stack.push_bool(true);
        stack.raw_set(-3);
    }
}

/// The fields by which a table says that it is no array, in the order in which they are tried.
pub(super) const FIELDS: [&[u8]; 9] =
    [b"err", b"ok", b"double", b"big_number", b"verbatim_string", b"map", b"set", b"format", b"string"];

/// An aggregate that is being written: its place on the tape, and how far it is.
#[derive(Debug)]
enum Level {
    Array { slot: Slot, count: usize },
    Map { slot: Slot, count: usize, value_next: bool },
    Set { slot: Slot, count: usize },
}

/// Writes what a script returned as a reply. Nothing here may jump: it runs outside protected calls, with memory
/// unlimited.
pub(super) struct Writer<'a> {
    /// Registry numbers of `FIELDS`.
    pub(super) fields: &'a [i32; FIELDS.len()],
    /// The version that the script chose.
    pub(super) resp: Resp,
    pub(super) out: &'a mut Reply,
    /// What is written is paid for, and may not be larger than its limit.
    pub(super) meter: &'a mut Meter,
    /// Where errors are counted that are written.
    pub(super) stats: Option<&'a mut Stats>,
}

impl Writer<'_> {
    /// Writes and pops the value on top; what is written stays in place when the run has to end. Aggregates are
    /// walked with a list of open levels, not by recursion. One table may stand in many places of the value, so there
    /// is no bound but the limit on what a few of them can make.
    pub(super) fn write(&mut self, stack: Stack<'_>) -> Result<(), Stop> {
        let mut levels: Vec<Level> = Vec::new();
        let start = self.out.size();
        let mut size = start;
        loop {
            if let Some(level) = self.write_one(stack, levels.len()) {
                levels.push(level);
            }
            let added = self.out.size() - size;
            size += added;
            self.meter.charge(added as u64 / BYTES_PER_WORK)?;
            self.meter.step(1)?;
            if size - start > self.meter.limits().reply {
                self.meter.set_stop(Stop::Reply);
                return Err(Stop::Reply);
            }
            loop {
                let Some(level) = levels.last_mut() else { return Ok(()) };
                if self.next_element(stack, level) {
                    break;
                }
                levels.pop();
            }
        }
    }

    /// Writes the value on top and pops it; an aggregate stays, and its level is returned.
    fn write_one(&mut self, stack: Stack<'_>, depth: usize) -> Option<Level> {
        let is_too_deep = depth >= self.meter.limits().nesting && stack.kind(-1) == Kind::Table;
        if is_too_deep || !stack.reserve(4) {
            self.out.error(&Failure::STACK_LIMIT);
            self.note_error(&Failure::STACK_LIMIT.to_bytes(), false);
            stack.pop(1);
            return None;
        }
        match stack.kind(-1) {
            Kind::String => self.out.bulk(stack.bytes(-1).unwrap_or_default()),
            Kind::Number => self.out.int(to_integer(stack.number(-1).unwrap_or_default())),
            Kind::Boolean if self.resp == Resp::V3 => self.out.boolean(stack.truth(-1)),
            Kind::Boolean if stack.truth(-1) => self.out.int(1),
            Kind::Table => return self.write_table(stack),
            _ => self.out.nil(),
        }
        stack.pop(1);
        None
    }

    fn write_table(&mut self, stack: Stack<'_>) -> Option<Level> {
        if self.is_pure_array(stack) {
            return Some(Level::Array { slot: self.out.deferred_array(), count: 0 });
        }
        for field in 0..7 {
            self.push_field(stack, field);
            let kind = stack.kind(-1);
            match (field, kind) {
                (0, Kind::String) => self.write_error(stack),
                (1, Kind::String) => self.out.status_bytes(before_nul(text(stack))),
                (2, Kind::Number) => self.out.double(stack.number(-1).unwrap_or_default()),
                (3, Kind::String) => self.out.big_number(text(stack)),
                (4, Kind::Table) if self.write_verbatim(stack) => {}
                (5, Kind::Table) => {
                    stack.push_nil();
                    return Some(Level::Map { slot: self.out.deferred_map(), count: 0, value_next: false });
                }
                (6, Kind::Table) => {
                    stack.push_nil();
                    return Some(Level::Set { slot: self.out.deferred_set(), count: 0 });
                }
                _ => {
                    stack.pop(1);
                    continue;
                }
            }
            stack.pop(2);
            return None;
        }
        Some(Level::Array { slot: self.out.deferred_array(), count: 0 })
    }

    /// Writes the error on top, whose table is below.
    fn write_error(&mut self, stack: Stack<'_>) {
        let text = trim_last_line_ends(before_nul(text(stack)));
        self.out.error_text(text);
        let top = stack.top();
        let is_retold = stack.reserve(8) && {
            stack.copy(-2);
            is_retold(stack)
        };
        stack.set_top(top);
        self.note_error(text, is_retold);
    }

    fn note_error(&mut self, text: &[u8], is_retold: bool) {
        match &mut self.stats {
            Some(stats) if is_retold => stats.note_retold(),
            Some(stats) => stats.note_error(text),
            None => {}
        }
    }

    /// True when the table on top is short and all its keys are numbers: then it has none of the fields.
    fn is_pure_array(&self, stack: Stack<'_>) -> bool {
        const SHORT: usize = 4;
        stack.push_nil();
        for _ in 0..=SHORT {
            if !stack.next(-2) {
                return true;
            }
            stack.pop(1);
            if stack.kind(-1) != Kind::Number {
                break;
            }
        }
        stack.pop(1);
        false
    }

    /// Pushes the field of the table on top.
    fn push_field(&self, stack: Stack<'_>, field: usize) {
        stack.raw_get_index(super::stack::REGISTRY, self.fields[field]);
        stack.raw_get(-2);
    }

    /// Writes the verbatim string that the table on top describes; false when it does not describe one.
    fn write_verbatim(&mut self, stack: Stack<'_>) -> bool {
        self.push_field(stack, 7);
        if stack.kind(-1) != Kind::String {
            stack.pop(1);
            return false;
        }
        let mut format = *b"   ";
        for (slot, byte) in format.iter_mut().zip(before_nul(text(stack))) {
            *slot = *byte;
        }
        stack.pop(1);
        self.push_field(stack, 8);
        let found = stack.bytes(-1);
        if let Some(text) = found {
            self.out.verbatim(format, text);
        }
        stack.pop(1);
        found.is_some()
    }

    /// Pushes the next value of an aggregate; at its end closes and pops it and is false.
    fn next_element(&mut self, stack: Stack<'_>, level: &mut Level) -> bool {
        match level {
            Level::Array { slot, count } => {
                stack.raw_get_index(-1, i32::try_from(*count + 1).unwrap_or(i32::MAX));
                if stack.is_nil(-1) {
                    stack.pop(2);
                    self.out.close(*slot, *count);
                    return false;
                }
                *count += 1;
                true
            }
            Level::Map { value_next, .. } if *value_next => {
                *value_next = false;
                true
            }
            Level::Map { slot, count, value_next } => {
                if !stack.next(-2) {
                    stack.pop(2);
                    self.out.close(*slot, *count);
                    return false;
                }
                stack.copy(-2);
                *count += 1;
                *value_next = true;
                true
            }
            Level::Set { slot, count } => {
                if !stack.next(-2) {
                    stack.pop(2);
                    self.out.close(*slot, *count);
                    return false;
                }
                stack.pop(1);
                stack.copy(-1);
                *count += 1;
                true
            }
        }
    }
}

fn text(stack: Stack<'_>) -> &[u8] {
    stack.bytes(-1).unwrap_or_default()
}

/// A number as an integer reply: cut towards zero; what no 64-bit integer holds becomes the smallest one.
fn to_integer(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// What C's `%s` shows of a byte string: everything before the first NUL.
pub(super) fn before_nul(bytes: &[u8]) -> &[u8] {
    CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes)
}

/// Pushes the field of the table on top, or of the one that stands for what it lacks. No function is asked for it: this is
/// outside of protected calls.
fn push_inherited(stack: Stack<'_>, name: &[u8]) {
    const INHERITED_MAX: usize = 100;
    for _ in 0..INHERITED_MAX {
        stack.raw_get_field(-1, name);
        if !stack.is_nil(-1) || !stack.get_metatable(-2) {
            return;
        }
        stack.raw_get_field(-1, b"__index");
        if stack.kind(-1) != Kind::Table {
            stack.push_nil();
            return;
        }
        // The table takes the place of the one that lacks the field.
        stack.replace(-4);
        stack.pop(2);
    }
    stack.push_nil();
}

/// Whether the table on top is the error of a command, which is counted already.
fn is_retold(stack: Stack<'_>) -> bool {
    push_inherited(stack, NAMES[2]);
    stack.kind(-1) == Kind::Boolean && stack.truth(-1)
}

/// The text of the error that ended a script: the value on top; and whether it is that of a command, which is counted
/// already. Outside protected calls only, as `Writer`.
pub(super) fn failure_text(stack: Stack<'_>, name: &[u8], stop: Option<Stop>) -> (Vec<u8>, bool) {
    if let Some(stop) = stop
        && stack.kind(-1) != Kind::Table
    {
        return (stop.failure().to_bytes().into_owned(), false);
    }
    if stack.kind(-1) != Kind::Table {
        let message = stack.text(-1).map_or(&b"execution failure"[..], before_nul);
        let text = Failure::running(name, &message[..message.len().min(100)]).to_bytes().into_owned();
        return (text, false);
    }
    let field = |name: &[u8]| {
        let top = stack.top();
        push_inherited(stack, name);
        let text = stack.text(-1).map(|text| before_nul(text).to_vec());
        stack.set_top(top);
        text
    };
    let mut text = field(b"err").unwrap_or_else(|| Failure::UNKNOWN_ERROR.to_bytes().into_owned());
    if let (Some(line), Some(source)) = (field(b"line"), field(b"source")) {
        for part in [&b" script: "[..], name, b", on ", &source, b":", &line, b"."] {
            text.extend_from_slice(part);
        }
    }
    let top = stack.top();
    let is_retold = is_retold(stack);
    stack.set_top(top);
    (text, is_retold)
}
