//! The `cmsgpack` library, unpacking half: MessagePack as Lua values, built with a list of open levels, not by
//! recursion. The markers come from the crate `rmp`; of them the server does not know those of binary data and of
//! extensions.

use super::super::bridge::Call;
use super::super::stack::{Raised, Returned, Stack};
use super::{BYTES_PER_WORK, Level, VALUE_WORK, fail, make_room, spend};
use rmp::Marker;

/// All values.
pub(super) fn unpack(call: Call<'_>) -> Returned {
    unpack_from(call, 0, 0)
}

/// One value from an offset on, and the offset behind it.
pub(super) fn unpack_one(call: Call<'_>) -> Returned {
    let offset = optional_integer(call.stack, 2);
    keep_first(call.stack);
    unpack_from(call, 1, offset)
}

/// So many values from an offset on, and the offset behind them.
pub(super) fn unpack_limit(call: Call<'_>) -> Returned {
    let limit = call.stack.check_integer(2);
    let offset = optional_integer(call.stack, 3);
    keep_first(call.stack);
    unpack_from(call, limit, offset)
}

fn optional_integer(stack: Stack<'_>, argument: i32) -> i64 {
    if stack.is_none_or_nil(argument) { 0 } else { stack.check_integer(argument) }
}

fn keep_first(stack: Stack<'_>) {
    stack.set_top(stack.top().min(1));
}

/// With neither limit nor offset all values, and no offset in front of them.
fn unpack_from(call: Call<'_>, limit: i64, offset: i64) -> Returned {
    let stack = call.stack;
    let data = stack.check_text(1);
    let at = match usize::try_from(offset) {
        Ok(at) if limit >= 0 && at <= data.len() => at,
        Ok(_) if limit >= 0 => {
            return Err(wrong_place(
                stack,
                [b"Start offset ", b" greater than input length "],
                offset,
                data.len(),
            ));
        }
        _ => {
            // The server names the length as the limit.
            let texts = [&b"Invalid request to unpack with offset of "[..], b" and limit of "];
            return Err(wrong_place(stack, texts, offset, data.len()));
        }
    };
    let all = limit == 0 && offset == 0;
    let limit = if all { i32::MAX.into() } else { limit };
    let mut unpacker = Unpacker { call, data, at };
    call.run(|run| run.levels.clear());
    let mut count = 0;
    while unpacker.at < data.len() && i64::from(count) < limit {
        unpacker.value()?;
        count += 1;
    }
    if !all {
        make_room(stack, 1, b"in function mp_unpack_full")?;
        stack.push_number(if unpacker.at == data.len() { -1.0 } else { unpacker.at as f64 });
        stack.insert(2);
        count += 1;
    }
    Ok(count)
}

/// Both numbers are cut to 32 bits, as in the server's texts.
#[cold]
fn wrong_place(stack: Stack<'_>, texts: [&[u8]; 2], offset: i64, length: usize) -> Raised {
    let (mut first, mut second) = (itoa::Buffer::new(), itoa::Buffer::new());
    let (first, second) = (first.format(offset as i32).as_bytes(), second.format(length as i32).as_bytes());
    fail(stack, &[texts[0], first, texts[1], second, b"."])
}

struct Unpacker<'a> {
    call: Call<'a>,
    data: &'a [u8],
    at: usize,
}

impl<'a> Unpacker<'a> {
    /// Pushes the next value.
    fn value(&mut self) -> Result<(), Raised> {
        loop {
            let mut whole = self.begin_value()?;
            // The last element of a table may be the last of those around it.
            loop {
                let open = self.call.run(|run| {
                    let level = run.levels.last_mut()?;
                    level.left -= u64::from(whole);
                    level.done += u32::from(whole);
                    Some(*level)
                });
                let Some(level) = open else { return Ok(()) };
                if whole && (!level.keyed || level.left.is_multiple_of(2)) {
                    self.call.stack.raw_set(-3);
                }
                if level.left > 0 {
                    if !level.keyed {
                        self.call.stack.push_number(f64::from(level.done) + 1.0);
                    }
                    break;
                }
                self.call.run(|run| run.levels.pop());
                whole = true;
            }
        }
    }

    /// Pushes the next value, or the empty table that it opens: then it is not whole, and false is returned.
    fn begin_value(&mut self) -> Result<bool, Raised> {
        let stack = self.call.stack;
        let marker = *self.data.get(self.at).ok_or_else(|| missing(stack))?;
        spend(self.call, VALUE_WORK)?;
        make_room(stack, 1, b"too many return values at once; use unpack_one or unpack_limit instead.")?;
        self.at += 1;
        match Marker::from_u8(marker) {
            Marker::FixPos(value) => stack.push_number(value.into()),
            Marker::FixNeg(value) => stack.push_number(value.into()),
            Marker::Null => stack.push_nil(),
            Marker::False => stack.push_bool(false),
            Marker::True => stack.push_bool(true),
            Marker::U8 => self.push_integer(1, |bits| bits as i64)?,
            Marker::U16 => self.push_integer(2, |bits| bits as i64)?,
            Marker::U32 => self.push_integer(4, |bits| bits as i64)?,
            // The server takes the highest bit for a sign.
            Marker::U64 | Marker::I64 => self.push_integer(8, u64::cast_signed)?,
            Marker::I8 => self.push_integer(1, |bits| (bits as i8).into())?,
            Marker::I16 => self.push_integer(2, |bits| (bits as i16).into())?,
            Marker::I32 => self.push_integer(4, |bits| (bits as i32).into())?,
            Marker::F32 => stack.push_number(f32::from_bits(self.bits(4)? as u32).into()),
            Marker::F64 => stack.push_number(f64::from_bits(self.bits(8)?)),
            Marker::FixStr(length) => self.push_string(length.into())?,
            Marker::Str8 => self.push_string_of(1)?,
            Marker::Str16 => self.push_string_of(2)?,
            Marker::Str32 => self.push_string_of(4)?,
            Marker::FixArray(length) => return self.open(false, length.into()),
            Marker::Array16 => return self.open_of(false, 2),
            Marker::Array32 => return self.open_of(false, 4),
            Marker::FixMap(length) => return self.open(true, length.into()),
            Marker::Map16 => return self.open_of(true, 2),
            Marker::Map32 => return self.open_of(true, 4),
            _ => return Err(fail(stack, &[b"Bad data format in input."])),
        }
        Ok(true)
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], Raised> {
        let taken = self.data[self.at..].get(..count as usize).ok_or_else(|| missing(self.call.stack))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// So many bytes as a number, the first one being worth most.
    fn bits(&mut self, count: u64) -> Result<u64, Raised> {
        Ok(self.take(count)?.iter().fold(0, |bits, byte| (bits << 8) | u64::from(*byte)))
    }

    fn push_integer(&mut self, count: u64, signed: impl Fn(u64) -> i64) -> Result<(), Raised> {
        let bits = self.bits(count)?;
        self.call.stack.push_number(signed(bits) as f64);
        Ok(())
    }

    fn push_string_of(&mut self, count: u64) -> Result<(), Raised> {
        let length = self.bits(count)?;
        self.push_string(length)
    }

    fn push_string(&mut self, length: u64) -> Result<(), Raised> {
        let text = self.take(length)?;
        spend(self.call, length / BYTES_PER_WORK)?;
        self.call.stack.push_bytes(text);
        Ok(())
    }

    fn open_of(&mut self, keyed: bool, count: u64) -> Result<bool, Raised> {
        let length = self.bits(count)?;
        self.open(keyed, length)
    }

    /// Pushes an empty table for so many elements, or keys with their values.
    fn open(&mut self, keyed: bool, length: u64) -> Result<bool, Raised> {
        let stack = self.call.stack;
        stack.new_table(0, 0);
        if !keyed {
            make_room(stack, 1, b"in function mp_decode_to_lua_array")?;
        }
        let left = if keyed { length * 2 } else { length };
        self.call.run(|run| run.levels.push(Level { keyed, done: 0, left }));
        Ok(false)
    }
}

#[cold]
fn missing(stack: Stack<'_>) -> Raised {
    fail(stack, &[b"Missing bytes in input."])
}
