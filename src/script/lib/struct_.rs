//! The `struct` library: numbers and texts to and from bytes in a given layout. A format is read option by option,
//! as the server's C does it, quirks of its integers included; nothing is read beyond the data.

use super::super::bridge::{Call, native};
use super::super::convert::before_nul;
use super::super::stack::{Raised, Returned, Stack};
use super::{BYTES_PER_WORK, Entry, Output, fail, make_room, refuse, refuse_with, spend, to_i64};

pub(super) const FUNCTIONS: &[Entry] =
    &[(b"pack", || native(pack)), (b"unpack", || native(unpack)), (b"size", || native(size))];

/// The most bytes of an integer.
const INTEGER_MAX: usize = 32;
/// The alignment that `!` alone asks for.
const ALIGN_DEFAULT: usize = 8;

/// The rest of a format, and what its options so far have set.
struct Format<'a> {
    rest: &'a [u8],
    big: bool,
    align: usize,
}

impl<'a> Format<'a> {
    fn new(text: &'a [u8]) -> Self {
        Format { rest: before_nul(text), big: false, align: 1 }
    }

    fn next(&mut self) -> Option<u8> {
        let (option, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*option)
    }

    /// The digits that follow as a number, or `default` when none do.
    fn number(&mut self, stack: Stack<'_>, default: usize) -> Result<usize, Raised> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Ok(default);
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let value = digits
            .iter()
            .try_fold(0i32, |value, digit| value.checked_mul(10)?.checked_add(i32::from(digit - b'0')));
        value
            .map(|value| value.unsigned_abs() as usize)
            .ok_or_else(|| fail(stack, &[b"integral size overflow"]))
    }

    /// How many bytes an option stands for; 0 when that depends on the value, or when it stands for none.
    fn size(&mut self, stack: Stack<'_>, option: u8) -> Result<usize, Raised> {
        Ok(match option {
            b'B' | b'b' | b'x' => 1,
            b'H' | b'h' => 2,
            b'f' => 4,
            b'L' | b'l' | b'T' | b'd' => 8,
            b'c' => self.number(stack, 1)?,
            b'i' | b'I' => {
                let size = self.number(stack, 4)?;
                if size > INTEGER_MAX {
                    return Err(too_large(stack, size));
                }
                size
            }
            _ => 0,
        })
    }

    /// How many bytes to skip at `place` in front of an option.
    fn padding(&self, place: usize, option: u8, size: usize) -> usize {
        if size == 0 || option == b'c' {
            return 0;
        }
        let size = size.min(self.align);
        size.wrapping_sub(place & (size - 1)) & (size - 1)
    }

    /// An option that stands for no bytes.
    fn control(&mut self, stack: Stack<'_>, option: u8) -> Result<(), Raised> {
        match option {
            b' ' => {}
            b'>' => self.big = true,
            b'<' => self.big = false,
            b'!' => {
                self.align = self.number(stack, ALIGN_DEFAULT)?;
                if !self.align.is_power_of_two() {
                    return Err(not_a_power(stack, self.align));
                }
            }
            _ => {
                return Err(refuse_with(stack, 1, &[b"invalid format option '", &[option], b"'"]));
            }
        }
        Ok(())
    }
}

#[cold]
fn too_large(stack: Stack<'_>, size: usize) -> Raised {
    let mut text = itoa::Buffer::new();
    let size = text.format(size).as_bytes();
    fail(stack, &[b"integral size ", size, b" is larger than limit of 32"])
}

#[cold]
fn not_a_power(stack: Stack<'_>, align: usize) -> Raised {
    let mut text = itoa::Buffer::new();
    let align = text.format(align).as_bytes();
    fail(stack, &[b"alignment ", align, b" is not a power of 2"])
}

fn pack(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let mut format = Format::new(stack.check_text(1));
    // What is missing reads as nil.
    stack.push_nil();
    let output = Output::begin(call);
    let mut argument = 1;
    while let Some(option) = format.next() {
        spend(call, 1)?;
        let size = format.size(stack, option)?;
        output.add(&[0; INTEGER_MAX][..format.padding(output.len(), option, size)])?;
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                argument += 1;
                let value = to_integer(stack.check_number(argument));
                add_bytes(output, &value.to_le_bytes(), size, format.big)?;
            }
            b'x' => output.add(&[0])?,
            b'f' => {
                argument += 1;
                let value = stack.check_number(argument) as f32;
                add_bytes(output, &value.to_le_bytes(), size, format.big)?;
            }
            b'd' => {
                argument += 1;
                let value = stack.check_number(argument);
                add_bytes(output, &value.to_le_bytes(), size, format.big)?;
            }
            b'c' | b's' => {
                argument += 1;
                let text = stack.check_text(argument);
                let size = if size == 0 { text.len() } else { size };
                let Some(text) = text.get(..size) else {
                    return Err(refuse(stack, argument + 1, c"string too short"));
                };
                output.add(text)?;
                if option == b's' {
                    output.add(&[0])?;
                }
            }
            _ => format.control(stack, option)?,
        }
    }
    output.push();
    Ok(1)
}

/// A number as C makes an integer of it: below zero by way of the signed type, above by way of the unsigned one.
fn to_integer(number: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if number >= HALF {
        to_i64(number - HALF).cast_unsigned() ^ (1 << 63)
    } else {
        to_i64(number).cast_unsigned()
    }
}

/// Appends the first `size` of these bytes, the least one first; zeros follow where they are fewer.
fn add_bytes(output: Output<'_>, bytes: &[u8], size: usize, big: bool) -> Result<(), Raised> {
    let mut field = [0; INTEGER_MAX];
    let field = &mut field[..size];
    for (slot, byte) in field.iter_mut().zip(bytes) {
        *slot = *byte;
    }
    if big {
        field.reverse();
    }
    output.add(field)
}

fn unpack(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let mut format = Format::new(stack.check_text(1));
    let data = stack.check_text(2);
    let place = if stack.is_none_or_nil(3) { 1 } else { stack.check_integer(3) };
    let Some(mut place) = (place as usize).checked_sub(1) else {
        return Err(refuse(stack, 3, c"offset must be 1 or greater"));
    };
    let mut count = 0;
    while let Some(option) = format.next() {
        spend(call, 1)?;
        let size = format.size(stack, option)?;
        place = place.wrapping_add(format.padding(place, option, size));
        let Some(mut field) = field(data, place, size) else { return Err(too_short(stack)) };
        // Room for the value and the place after it.
        make_room(stack, 2, b"too many results")?;
        let mut skipped = size;
        let mut pushed = true;
        match option {
            b'b' | b'h' | b'l' | b'i' => stack.push_number(signed(field, format.big) as f64),
            b'B' | b'H' | b'L' | b'T' | b'I' => stack.push_number(unsigned(field, format.big) as f64),
            b'f' => stack.push_number(f32::from_bits(unsigned(field, format.big) as u32).into()),
            b'd' => stack.push_number(f64::from_bits(unsigned(field, format.big))),
            b'c' => {
                if size == 0 {
                    skipped = previous_size(stack, count)?;
                    count -= 1;
                    field = self::field(data, place, skipped).ok_or_else(|| too_short(stack))?;
                }
                spend(call, skipped as u64 / BYTES_PER_WORK)?;
                stack.push_bytes(field);
            }
            b's' => {
                let rest = data.get(place..).unwrap_or_default();
                let Some(length) = rest.iter().position(|byte| *byte == 0) else {
                    return Err(fail(stack, &[b"unfinished string in data"]));
                };
                spend(call, length as u64 / BYTES_PER_WORK)?;
                stack.push_bytes(&rest[..length]);
                skipped = length + 1;
            }
            b'x' => pushed = false,
            _ => {
                format.control(stack, option)?;
                pushed = false;
            }
        }
        count += i32::from(pushed);
        place += skipped;
    }
    stack.push_number(place.wrapping_add(1).cast_signed() as f64);
    Ok(count + 1)
}

fn field(data: &[u8], place: usize, size: usize) -> Option<&[u8]> {
    data.get(place..)?.get(..size)
}

#[cold]
fn too_short(stack: Stack<'_>) -> Raised {
    refuse(stack, 2, c"data string too short")
}

/// Pops the number on top, the size that `c0` takes from the value before it.
fn previous_size(stack: Stack<'_>, count: i32) -> Result<usize, Raised> {
    if count == 0 || !stack.is_numeric(-1) {
        return Err(fail(stack, &[b"format 'c0' needs a previous size"]));
    }
    let size = to_integer(stack.to_number(-1)) as usize;
    stack.pop(1);
    Ok(size)
}

/// The eight bytes of least worth of an integer.
fn unsigned(field: &[u8], big: bool) -> u64 {
    let push = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
    if big { field.iter().fold(0, push) } else { field.iter().rev().fold(0, push) }
}

/// The same with the sign taken from the highest bit of the field, modulo 64 as the server's machine does it.
fn signed(field: &[u8], big: bool) -> i64 {
    let value = unsigned(field, big);
    let mask = u64::MAX.wrapping_shl((field.len() as u32).wrapping_mul(8).wrapping_sub(1));
    (if value & mask == 0 { value } else { value | mask }).cast_signed()
}

fn size(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let mut format = Format::new(stack.check_text(1));
    spend(call, format.rest.len() as u64 / 4)?;
    let mut place = 0;
    while let Some(option) = format.next() {
        let size = format.size(stack, option)?;
        place += format.padding(place, option, size);
        match option {
            b's' => return Err(refuse(stack, 1, c"option 's' has no fixed size")),
            b'c' if size == 0 => return Err(refuse(stack, 1, c"option 'c0' has no fixed size")),
            _ if option.is_ascii_alphanumeric() => {}
            _ => format.control(stack, option)?,
        }
        place += size;
    }
    stack.push_number(place as f64);
    Ok(1)
}
