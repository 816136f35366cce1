//! The `cmsgpack` library, packing half: Lua values as MessagePack, whose formats come from the crate `rmp`. Tables
//! are packed to sixteen levels, so recursion is shallow. Unpacking is in `cmsgpack_unpack`.

use super::super::bridge::{Call, native};
use super::super::sandbox::unseal;
use super::super::stack::{Kind, Raised, Returned, Stack};
use super::cmsgpack_unpack::{unpack, unpack_limit, unpack_one};
use super::{Entry, Output, VALUE_WORK, make_room, refuse, spend, to_i64};
use rmp::encode;

/// In the server's order: `pairs` shows it.
const FUNCTIONS: [Entry; 4] = [
    (b"pack", || native(pack)),
    (b"unpack", || native(unpack)),
    (b"unpack_one", || native(unpack_one)),
    (b"unpack_limit", || native(unpack_limit)),
];

const TEXTS: [(&[u8], &[u8]); 4] = [
    (b"_NAME", b"cmsgpack"),
    (b"_VERSION", b"lua-cmsgpack 0.4.0"),
    (b"_COPYRIGHT", b"Copyright (C) 2012, Salvatore Sanfilippo"),
    (b"_DESCRIPTION", b"MessagePack C implementation for Lua"),
];

/// Tables within so many others are packed as nil.
const MAX_NESTING: u32 = 16;
/// The longest start of a value: a marker with a number of eight bytes.
const HEAD_BYTES: usize = 9;

/// Pushes the library. May jump.
pub(super) fn push_library(stack: Stack<'_>) {
    stack.new_table(0, 0);
    for (name, function) in FUNCTIONS {
        stack.push_function(function(), 0);
        stack.raw_set_field(-2, name);
    }
    for (name, text) in TEXTS {
        stack.push_bytes(text);
        stack.raw_set_field(-2, name);
    }
}

/// All arguments, one after the other.
fn pack(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let count = stack.top();
    if count == 0 {
        return Err(refuse(stack, 0, c"MessagePack pack needs input."));
    }
    if !stack.reserve(count) {
        return Err(refuse(stack, 0, c"Too many arguments for MessagePack pack."));
    }
    let packer = Packer { call, output: Output::begin(call) };
    for argument in 1..=count {
        make_room(stack, 1, b"in function mp_check")?;
        stack.copy(argument);
        packer.value(0)?;
        // The server keeps a text here for each argument; so much less room there is for the next one.
        stack.push_nil();
    }
    stack.pop(count);
    packer.output.push();
    Ok(1)
}

#[derive(Clone, Copy)]
struct Packer<'a> {
    call: Call<'a>,
    output: Output<'a>,
}

impl Packer<'_> {
    /// Appends the value on top, and pops it.
    fn value(self, level: u32) -> Result<(), Raised> {
        let stack = self.call.stack;
        spend(self.call, VALUE_WORK)?;
        match stack.kind(-1) {
            Kind::String => {
                let text = stack.bytes(-1).unwrap_or_default();
                self.head(|head| encode::write_str_len(head, text.len() as u32).is_ok())?;
                self.output.add(text)?;
            }
            Kind::Boolean => self.head(|head| encode::write_bool(head, stack.truth(-1)).is_ok())?,
            Kind::Number => self.number(stack.to_number(-1))?,
            Kind::Table if level < MAX_NESTING => self.table(level)?,
            _ => self.head(|head| encode::write_nil(head).is_ok())?,
        }
        stack.pop(1);
        Ok(())
    }

    /// Appends what `write` writes into a buffer that is large enough for every start of a value.
    fn head(self, write: impl FnOnce(&mut &mut [u8]) -> bool) -> Result<(), Raised> {
        let mut head = [0; HEAD_BYTES];
        let mut rest = &mut head[..];
        write(&mut rest);
        let length = HEAD_BYTES - rest.len();
        self.output.add(&head[..length])
    }

    /// An integer if it is one that fits 64 bits, else the shorter of the two floating point forms that holds it.
    fn number(self, value: f64) -> Result<(), Raised> {
        let integer = to_i64(value);
        let single = value as f32;
        self.head(|head| {
            if value.is_finite() && integer as f64 == value {
                encode::write_sint(head, integer).is_ok()
            } else if f64::from(single) == value {
                encode::write_f32(head, single).is_ok()
            } else {
                encode::write_f64(head, value).is_ok()
            }
        })
    }

    fn table(self, level: u32) -> Result<(), Raised> {
        if self.is_array()? { self.array(level) } else { self.map(level) }
    }

    /// Whether the keys of the table on top are 1 to their number. What is behind a proxy takes its place.
    fn is_array(self) -> Result<bool, Raised> {
        let stack = self.call.stack;
        make_room(stack, 2, b"in function table_is_an_array")?;
        if unseal(stack, -1) {
            stack.replace(-2);
        }
        let (mut count, mut last) = (0u64, 0.0);
        stack.push_nil();
        while stack.next(-2) {
            stack.pop(1);
            match stack.number(-1) {
                Some(key) if key > 0.0 && key <= i32::MAX.into() && key.trunc() == key => {
                    last = key.max(last)
                }
                _ => {
                    stack.pop(1);
                    return Ok(false);
                }
            }
            count += 1;
        }
        spend(self.call, count)?;
        Ok(count as f64 == last)
    }

    fn array(self, level: u32) -> Result<(), Raised> {
        let stack = self.call.stack;
        let length = stack.length(-1);
        self.head(|head| encode::write_array_len(head, length as u32).is_ok())?;
        make_room(stack, 1, b"in function mp_encode_lua_table_as_array")?;
        for index in 1..=length {
            stack.raw_get_index(-1, index as i32);
            self.value(level + 1)?;
        }
        Ok(())
    }

    fn map(self, level: u32) -> Result<(), Raised> {
        let stack = self.call.stack;
        make_room(stack, 3, b"in function mp_encode_lua_table_as_map")?;
        let mut count = 0u32;
        stack.push_nil();
        while stack.next(-2) {
            stack.pop(1);
            count += 1;
        }
        spend(self.call, count.into())?;
        self.head(|head| encode::write_map_len(head, count).is_ok())?;
        stack.push_nil();
        while stack.next(-2) {
            stack.copy(-2);
            self.value(level + 1)?;
            self.value(level + 1)?;
        }
        Ok(())
    }
}
