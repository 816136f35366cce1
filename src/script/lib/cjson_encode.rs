//! `cjson.encode`: a Lua value as JSON text, made in the run's scratch memory. Tables are walked with a list of open
//! levels, not by recursion; they are read as they are, without metamethods. Its settings are in `cjson`.

use super::super::bridge::Call;
use super::super::sandbox::unseal;
use super::super::stack::{Kind, Raised, Returned, Stack};
use super::cjson::{Setting, Settings};
use super::{Level, Output, VALUE_WORK, fail, refuse, spend};
use crate::util::float::format_general;
use crate::util::num::{NumBuf, format_i64};

/// Below 10 to this power integers print with all their digits: the index is the precision.
const POWERS: [f64; 15] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];

pub(super) fn encode(call: Call<'_>) -> Returned {
    if call.stack.top() != 1 {
        return Err(refuse(call.stack, 1, c"expected 1 argument"));
    }
    let settings = Settings::of(call);
    call.run(|run| run.levels.clear());
    Encoder { call, settings, output: Output::begin(call) }.run()?;
    Ok(1)
}

#[derive(Clone, Copy)]
struct Encoder<'a> {
    call: Call<'a>,
    settings: Settings,
    output: Output<'a>,
}

impl Encoder<'_> {
    /// Writes the value on top, and pushes the text.
    fn run(self) -> Result<(), Raised> {
        loop {
            let mut whole = self.begin_value()?;
            loop {
                if whole {
                    if self.call.run(|run| run.levels.is_empty()) {
                        self.output.push();
                        return Ok(());
                    }
                    self.call.stack.pop(1);
                }
                if self.next_element()? {
                    break;
                }
                whole = true;
            }
        }
    }

    /// Writes the value on top, of a table only the start: then it is not whole, and false is returned.
    fn begin_value(self) -> Result<bool, Raised> {
        let stack = self.call.stack;
        spend(self.call, VALUE_WORK)?;
        match stack.kind(-1) {
            Kind::String => self.string(-1)?,
            Kind::Number => self.number(-1)?,
            Kind::Boolean if stack.truth(-1) => self.output.add(b"true")?,
            Kind::Boolean => self.output.add(b"false")?,
            Kind::Nil => self.output.add(b"null")?,
            Kind::Table => {
                self.open()?;
                return Ok(false);
            }
            _ if stack.is_null(-1) => self.output.add(b"null")?,
            _ => return Err(self.refuse_value(-1, b"type not supported")),
        }
        Ok(true)
    }

    /// Opens the table on top; below a key, none at first, it stays there until it is whole.
    fn open(self) -> Result<(), Raised> {
        let stack = self.call.stack;
        let depth = self.call.run(|run| run.levels.len()) + 1;
        if depth > self.settings.get(Setting::EncodeMaxDepth) as usize || !stack.reserve(3) {
            return Err(too_deep(stack, depth));
        }
        if unseal(stack, -1) {
            stack.replace(-2);
        }
        let length = self.array_length()?;
        let keyed = length == 0;
        self.call.run(|run| run.levels.push(Level { keyed, done: 0, left: length }));
        if keyed {
            stack.push_nil();
        }
        self.output.add(if keyed { b"{" } else { b"[" })
    }

    /// The last index of the table on top if it is to be an array, and 0 if it is to be an object.
    fn array_length(self) -> Result<u64, Raised> {
        let stack = self.call.stack;
        let (mut last, mut count) = (0i32, 0i32);
        stack.push_nil();
        while stack.next(-2) {
            match stack.number(-2) {
                Some(key) if key >= 1.0 && key.floor() == key => {
                    if key > last.into() {
                        last = to_i32(key);
                    }
                    count = count.wrapping_add(1);
                    stack.pop(1);
                }
                _ => {
                    stack.pop(2);
                    last = 0;
                    break;
                }
            }
        }
        spend(self.call, count.unsigned_abs().into())?;
        let ratio = self.settings.get(Setting::SparseRatio);
        let sparse =
            ratio > 0 && last > count.wrapping_mul(ratio) && last > self.settings.get(Setting::SparseSafe);
        if sparse && self.settings.get(Setting::SparseConvert) == 0 {
            return Err(self.refuse_value(-1, b"excessively sparse array"));
        }
        Ok(if sparse { 0 } else { u64::try_from(last).unwrap_or(0) })
    }

    /// Writes up to the next element of the innermost open table and pushes its value; at the end closes the table and
    /// is false.
    fn next_element(self) -> Result<bool, Raised> {
        let stack = self.call.stack;
        let Some(level) = self.call.run(|run| run.levels.last().copied()) else { return Ok(false) };
        let more = if level.keyed { stack.next(-2) } else { level.left > 0 };
        if !more {
            self.call.run(|run| run.levels.pop());
            self.output.add(if level.keyed { b"}" } else { b"]" })?;
            return Ok(false);
        }
        self.call.run(|run| {
            if let Some(level) = run.levels.last_mut() {
                level.done += 1;
                level.left = level.left.saturating_sub(1);
            }
        });
        if level.done > 0 {
            self.output.add(b",")?;
        }
        if level.keyed {
            self.key()?;
        } else {
            stack.raw_get_index(-1, level.done as i32 + 1);
        }
        Ok(true)
    }

    /// Writes the key below the top.
    fn key(self) -> Result<(), Raised> {
        match self.call.stack.kind(-2) {
            Kind::Number => {
                self.output.add(b"\"")?;
                self.number(-2)?;
                self.output.add(b"\":")
            }
            Kind::String => {
                self.string(-2)?;
                self.output.add(b":")
            }
            _ => Err(self.refuse_value(-2, b"table key must be a number or string")),
        }
    }

    fn number(self, index: i32) -> Result<(), Raised> {
        let value = self.call.stack.to_number(index);
        if !value.is_finite() {
            match self.settings.get(Setting::EncodeInvalidNumbers) {
                0 => return Err(self.refuse_value(index, b"must not be NaN or Inf")),
                1 if value.is_nan() => return self.output.add(b"nan"),
                1 => {}
                _ => return self.output.add(b"null"),
            }
        }
        let precision = self.settings.get(Setting::NumberPrecision).clamp(1, 14) as usize;
        let mut digits = NumBuf::new();
        let plain = value.abs() < POWERS[precision] && value.trunc() == value;
        if plain && (value != 0.0 || value.is_sign_positive()) {
            return self.output.add(format_i64(&mut digits, value as i64));
        }
        self.output.add(format_general(&mut digits, value, precision))
    }

    fn string(self, index: i32) -> Result<(), Raised> {
        let mut rest = self.call.stack.bytes(index).unwrap_or_default();
        self.output.add(b"\"")?;
        while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
            self.output.add(&rest[..at])?;
            let (escaped, length) = escape(rest[at]);
            self.output.add(&escaped[..length])?;
            rest = &rest[at + 1..];
        }
        self.output.add(rest)?;
        self.output.add(b"\"")
    }

    /// The error of a value that has no JSON form.
    #[cold]
    fn refuse_value(self, index: i32, reason: &[u8]) -> Raised {
        let kind = self.call.stack.type_name(index);
        fail(self.call.stack, &[b"Cannot serialise ", kind.to_bytes(), b": ", reason])
    }
}

#[cold]
fn too_deep(stack: Stack<'_>, depth: usize) -> Raised {
    let mut text = itoa::Buffer::new();
    let depth = text.format(depth).as_bytes();
    fail(stack, &[b"Cannot serialise, excessive nesting (", depth, b")"])
}

/// A number as C cuts it to an `int` on the server's machines: what does not fit becomes the least one.
fn to_i32(number: f64) -> i32 {
    if number < 2_147_483_648.0 { number as i32 } else { i32::MIN }
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | b'/' | 0x7f)
}

/// How a byte is written, and the length of that.
fn escape(byte: u8) -> ([u8; 6], usize) {
    let short = match byte {
        b'"' | b'\\' | b'/' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
            return ([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)], 6);
        }
    };
    ([b'\\', short, 0, 0, 0, 0], 2)
}
