//! The `cjson` library but for its two conversions (`cjson_encode`, `cjson_decode`): its table, its settings and the
//! functions that read and change them. Settings of the library itself end with the run; those of a copy made by
//! `cjson.new` live as long as the copy.

use super::super::bridge::{Call, native};
use super::super::convert::before_nul;
use super::super::stack::{Kind, Raised, Returned, Stack};
use super::cjson_decode::decode;
use super::cjson_encode::encode;
use super::{Entry, refuse, refuse_with, spend};

/// In the server's order: `pairs` shows it.
const FUNCTIONS: [Entry; 10] = [
    (b"encode", || native(encode)),
    (b"decode", || native(decode)),
    (b"encode_sparse_array", || native(encode_sparse_array)),
    (b"encode_max_depth", || native(encode_max_depth)),
    (b"decode_max_depth", || native(decode_max_depth)),
    (b"encode_number_precision", || native(encode_number_precision)),
    (b"encode_keep_buffer", || native(encode_keep_buffer)),
    (b"encode_invalid_numbers", || native(encode_invalid_numbers)),
    (b"decode_invalid_numbers", || native(decode_invalid_numbers)),
    (b"new", || native(new)),
];

/// The upvalue of each function: nil in the library itself, in a copy a table with its settings, packed, at 1.
const OWN_SETTINGS: i32 = Stack::upvalue(1);
/// The work charged for a copy of the library.
const COPY_WORK: u64 = 200;

/// One setting.
#[derive(Clone, Copy)]
pub(super) enum Setting {
    /// Whether arrays with too many holes become objects; else they are an error.
    SparseConvert,
    /// An array has too many holes when its last index is more than this times its elements; never if 0.
    SparseRatio,
    /// Up to this last index an array never has too many holes.
    SparseSafe,
    EncodeMaxDepth,
    DecodeMaxDepth,
    /// What becomes of numbers that are not finite: 0 an error, 1 their names, 2 null.
    EncodeInvalidNumbers,
    DecodeInvalidNumbers,
    NumberPrecision,
    /// Has no effect that can be seen.
    KeepBuffer,
}

const SETTINGS: usize = Setting::KeepBuffer as usize + 1;

/// All settings of the library or of a copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::script) struct Settings([i32; SETTINGS]);

impl Settings {
    pub(in crate::script) const DEFAULT: Settings = Settings([0, 2, 10, 1000, 1000, 0, 1, 14, 1]);

    /// Those of the function that runs. May jump.
    pub(super) fn of(call: Call<'_>) -> Self {
        let stack = call.stack;
        if stack.is_nil(OWN_SETTINGS) {
            return call.run(|run| run.cjson);
        }
        stack.raw_get_index(OWN_SETTINGS, 1);
        let settings = stack.bytes(-1).map_or(Settings::DEFAULT, Settings::unpack);
        stack.pop(1);
        settings
    }

    /// Makes them those of the function that runs. May jump.
    fn keep(self, call: Call<'_>) {
        if call.stack.is_nil(OWN_SETTINGS) {
            call.run(|run| run.cjson = self);
        } else {
            call.stack.push_bytes(self.pack().as_flattened());
            call.stack.raw_set_index(OWN_SETTINGS, 1);
        }
    }

    pub(super) fn get(self, setting: Setting) -> i32 {
        self.0[setting as usize]
    }

    fn pack(self) -> [[u8; 4]; SETTINGS] {
        self.0.map(i32::to_le_bytes)
    }

    fn unpack(bytes: &[u8]) -> Self {
        let mut settings = Settings::DEFAULT;
        for (slot, bytes) in settings.0.iter_mut().zip(bytes.as_chunks().0) {
            *slot = i32::from_le_bytes(*bytes);
        }
        settings
    }
}

/// Pushes the library, with the upvalue nil. May jump.
pub(super) fn push_library(stack: Stack<'_>) {
    stack.push_nil();
    push_with_settings(stack);
}

/// Replaces what tells the settings, on top, by a table of the library. May jump.
fn push_with_settings(stack: Stack<'_>) {
    stack.new_table(0, 0);
    for (name, function) in FUNCTIONS {
        stack.copy(-2);
        stack.push_function(function(), 1);
        stack.raw_set_field(-2, name);
    }
    stack.push_null();
    stack.raw_set_field(-2, b"null");
    stack.push_bytes(b"cjson");
    stack.raw_set_field(-2, b"_NAME");
    stack.push_bytes(b"2.1.0");
    stack.raw_set_field(-2, b"_VERSION");
    stack.remove(-2);
}

/// A copy of the library with settings of its own. It is an ordinary table.
fn new(call: Call<'_>) -> Returned {
    spend(call, COPY_WORK)?;
    call.stack.new_table(1, 0);
    push_with_settings(call.stack);
    Ok(1)
}

/// Sees to it that there are so many arguments, nil where none was given.
fn take_arguments(stack: Stack<'_>, count: i32) -> Result<(), Raised> {
    if stack.top() > count {
        return Err(refuse(stack, count + 1, c"found too many arguments"));
    }
    stack.set_top(count);
    Ok(())
}

/// Sets a number from an argument unless that is nil, and pushes what holds.
fn number_option(call: Call<'_>, argument: i32, setting: Setting, least: i32, most: i32) -> Returned {
    let stack = call.stack;
    let mut settings = Settings::of(call);
    if !stack.is_nil(argument) {
        let value = stack.check_int(argument);
        if !(least..=most).contains(&value) {
            return Err(out_of_range(stack, least, most));
        }
        settings.0[setting as usize] = value;
        settings.keep(call);
    }
    stack.push_number(settings.get(setting).into());
    Ok(1)
}

/// The server names the first argument whichever it is.
#[cold]
fn out_of_range(stack: Stack<'_>, least: i32, most: i32) -> Raised {
    let (mut first, mut last) = (itoa::Buffer::new(), itoa::Buffer::new());
    let (first, last) = (first.format(least).as_bytes(), last.format(most).as_bytes());
    refuse_with(stack, 1, &[b"expected integer between ", first, b" and ", last])
}

const SWITCH: &[&[u8]] = &[b"off", b"on"];
const SWITCH_OR_NULL: &[&[u8]] = &[b"off", b"on", b"null"];

/// Sets one of several from a boolean or its name unless that is nil, and pushes what holds.
fn named_option(call: Call<'_>, argument: i32, setting: Setting, names: &[&[u8]]) -> Returned {
    let stack = call.stack;
    let mut settings = Settings::of(call);
    if !stack.is_nil(argument) {
        let value = match stack.kind(argument) {
            Kind::Boolean => usize::from(stack.truth(argument)),
            _ => {
                let given = before_nul(stack.check_text(argument));
                let known = names.iter().position(|name| *name == given);
                known.ok_or_else(|| invalid_option(stack, argument, given))?
            }
        };
        settings.0[setting as usize] = value as i32;
        settings.keep(call);
    }
    match settings.get(setting) {
        value @ (0 | 1) => stack.push_bool(value == 1),
        _ => stack.push_bytes(b"null"),
    }
    Ok(1)
}

#[cold]
fn invalid_option(stack: Stack<'_>, argument: i32, given: &[u8]) -> Raised {
    stack.push_bytes(b"invalid option '");
    stack.push_bytes(given);
    stack.push_bytes(b"'");
    stack.concat(3);
    stack.bad_argument_on_top(argument);
    Raised
}

fn encode_sparse_array(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 3)?;
    named_option(call, 1, Setting::SparseConvert, SWITCH)?;
    number_option(call, 2, Setting::SparseRatio, 0, i32::MAX)?;
    number_option(call, 3, Setting::SparseSafe, 0, i32::MAX)?;
    Ok(3)
}

fn encode_max_depth(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 1)?;
    number_option(call, 1, Setting::EncodeMaxDepth, 1, i32::MAX)
}

fn decode_max_depth(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 1)?;
    number_option(call, 1, Setting::DecodeMaxDepth, 1, i32::MAX)
}

fn encode_number_precision(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 1)?;
    number_option(call, 1, Setting::NumberPrecision, 1, 14)
}

fn encode_keep_buffer(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 1)?;
    named_option(call, 1, Setting::KeepBuffer, SWITCH)
}

fn encode_invalid_numbers(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 1)?;
    named_option(call, 1, Setting::EncodeInvalidNumbers, SWITCH_OR_NULL)
}

fn decode_invalid_numbers(call: Call<'_>) -> Returned {
    take_arguments(call.stack, 1)?;
    named_option(call, 1, Setting::DecodeInvalidNumbers, SWITCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_packing() {
        let settings = Settings([1, i32::MAX, 0, 1, i32::MAX, 2, 0, 3, 0]);
        assert_eq!(Settings::unpack(settings.pack().as_flattened()), settings);
        assert_eq!(Settings::unpack(b""), Settings::DEFAULT);
    }
}
