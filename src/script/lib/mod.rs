//! The libraries that the server adds to Lua: `bit`, `cjson`, `cmsgpack` and `struct`, in files of their own and all in terms
//! of the safe `Stack`. Here: how they are installed, and where they keep what they make. They are sealed with the
//! others by `sandbox`.

mod bit;
mod cjson;
mod cjson_decode;
mod cjson_encode;
mod cmsgpack;
mod cmsgpack_unpack;
mod struct_;

use super::bridge::{Call, push_stop};
use super::stack::{GLOBALS, Raised, Stack};
pub(super) use cjson::Settings;
use mlua::ffi::lua_CFunction;
use std::ffi::CStr;

/// Bytes copied that count as one unit of work.
const BYTES_PER_WORK: u64 = 16;
/// Units of work that reading or writing one value counts as.
const VALUE_WORK: u64 = 4;

/// A name in a library, and the function that Lua calls by it.
type Entry = (&'static [u8], fn() -> lua_CFunction);

/// Adds the libraries to the globals. May jump.
pub(super) fn install(stack: Stack<'_>) {
    for (name, functions) in [(&b"bit"[..], bit::FUNCTIONS), (b"struct", struct_::FUNCTIONS)] {
        // The place for all fields at once gives `pairs` the server's order.
        stack.new_table(0, functions.len() as i32);
        for (name, function) in functions {
            stack.push_function(function(), 0);
            stack.raw_set_field(-2, name);
        }
        stack.raw_set_field(GLOBALS, name);
    }
    cjson::push_library(stack);
    stack.raw_set_field(GLOBALS, b"cjson");
    cmsgpack::push_library(stack);
    stack.raw_set_field(GLOBALS, b"cmsgpack");
}

/// A table that is being read or written, with others inside it: values may be nested deeper than calls of Rust
/// should be.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// Whether it has keys of its own; else it is an array.
    keyed: bool,
    /// How many elements are done.
    done: u32,
    /// How many are to come, where that is known.
    left: u64,
}

/// Raises `bad argument #n to 'f' (message)`. Jumps.
#[cold]
fn refuse(stack: Stack<'_>, argument: i32, message: &CStr) -> Raised {
    stack.set_top(0);
    stack.bad_argument(argument, message);
    Raised
}

/// The same with a message in parts, which are not on the stack. Jumps.
#[cold]
fn refuse_with(stack: Stack<'_>, argument: i32, message: &[&[u8]]) -> Raised {
    stack.set_top(0);
    message.iter().for_each(|part| stack.push_bytes(part));
    stack.concat(message.len() as i32);
    stack.bad_argument_on_top(argument);
    Raised
}

/// An error with the place of the calling Lua function in front; its parts are not on the stack, which may be full
/// and is emptied. May jump.
#[cold]
fn fail(stack: Stack<'_>, message: &[&[u8]]) -> Raised {
    stack.set_top(0);
    stack.push_where(1);
    message.iter().for_each(|part| stack.push_bytes(part));
    stack.concat(message.len() as i32 + 1);
    Raised
}

/// Charges work; when there is none left the stack is emptied for the error. May jump.
#[inline]
fn spend(call: Call<'_>, work: u64) -> Result<(), Raised> {
    call.charge(work).map_err(|stop| {
        call.stack.set_top(0);
        push_stop(call.stack, stop);
        Raised
    })
}

/// Room for `more` values, or the error `stack overflow (message)`. May jump.
#[inline]
fn make_room(stack: Stack<'_>, more: i32, message: &[u8]) -> Result<(), Raised> {
    if stack.reserve(more) {
        return Ok(());
    }
    Err(fail(stack, &[b"stack overflow (", message, b")"]))
}

/// A text under construction, in the run's scratch memory: a Lua error may leave it at any time.
#[derive(Clone, Copy)]
struct Output<'a> {
    call: Call<'a>,
    room: usize,
}

impl<'a> Output<'a> {
    /// An empty text, which may grow to what is left of the memory that Lua may use.
    fn begin(call: Call<'a>) -> Self {
        call.run(|run| run.scratch.clear());
        Output { call, room: call.string_room() }
    }

    fn len(self) -> usize {
        self.call.run(|run| run.scratch.len())
    }

    /// Appends bytes, and charges for them.
    fn add(self, bytes: &[u8]) -> Result<(), Raised> {
        let added = self.call.run(|run| {
            let fits = bytes.len() <= self.room - run.scratch.len();
            if fits {
                run.scratch.extend_from_slice(bytes);
            }
            fits
        });
        if !added {
            self.call.stack.set_top(0);
            return Err(self.call.stack.fail_plain(b"not enough memory"));
        }
        spend(self.call, bytes.len() as u64 / BYTES_PER_WORK)
    }

    /// Pushes the text. May jump.
    fn push(self) {
        let made: *const [u8] = self.call.run(|run| &raw const run.scratch[..]);
        self.call.stack.push_scratch(made);
    }
}

/// A number as C cuts it to 64 bits on the server's machines: what does not fit becomes the least one.
fn to_i64(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}
