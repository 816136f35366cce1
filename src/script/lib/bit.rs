//! The `bit` library: 32-bit operations on numbers, which wrap to 32 bits first and come back signed.

use super::super::base::read_numbers;
use super::super::bridge::{Call, native};
use super::super::stack::{Returned, Stack};
use super::{Entry, spend};

pub(super) const FUNCTIONS: &[Entry] = &[
    (b"tobit", || native(tobit)),
    (b"bnot", || native(bnot)),
    (b"band", || native(band)),
    (b"bor", || native(bor)),
    (b"bxor", || native(bxor)),
    (b"lshift", || native(lshift)),
    (b"rshift", || native(rshift)),
    (b"arshift", || native(arshift)),
    (b"rol", || native(rol)),
    (b"ror", || native(ror)),
    (b"bswap", || native(bswap)),
    (b"tohex", || native(tohex)),
];

/// Added to a number this leaves its integer part, rounded, in the low bits of the sum: 2^52 + 2^51. Numbers beyond
/// 2^51 come out as the server's do, which is all that can be said of them.
const INTEGER_IN_LOW_BITS: f64 = 6_755_399_441_055_744.0;

/// An argument as 32 bits. May jump.
fn bits(stack: Stack<'_>, argument: i32) -> u32 {
    (stack.check_number(argument) + INTEGER_IN_LOW_BITS).to_bits() as u32
}

fn push(stack: Stack<'_>, bits: u32) -> Returned {
    stack.push_number(f64::from(bits.cast_signed()));
    Ok(1)
}

fn tobit(call: Call<'_>) -> Returned {
    push(call.stack, bits(call.stack, 1))
}

fn bnot(call: Call<'_>) -> Returned {
    push(call.stack, !bits(call.stack, 1))
}

/// The first argument with all others, the last one first: the order in which they are checked.
fn fold(call: Call<'_>, operation: impl Fn(u32, u32) -> u32) -> Returned {
    let stack = call.stack;
    read_numbers(call)?;
    let first = bits(stack, 1);
    let count = stack.top();
    spend(call, count.unsigned_abs().into())?;
    push(stack, (2..=count).rev().fold(first, |value, argument| operation(value, bits(stack, argument))))
}

fn band(call: Call<'_>) -> Returned {
    fold(call, |left, right| left & right)
}

fn bor(call: Call<'_>) -> Returned {
    fold(call, |left, right| left | right)
}

fn bxor(call: Call<'_>) -> Returned {
    fold(call, |left, right| left ^ right)
}

/// The first argument, shifted by the low five bits of the second.
fn shift(call: Call<'_>, operation: impl Fn(u32, u32) -> u32) -> Returned {
    let value = bits(call.stack, 1);
    push(call.stack, operation(value, bits(call.stack, 2) & 31))
}

fn lshift(call: Call<'_>) -> Returned {
    shift(call, |value, by| value << by)
}

fn rshift(call: Call<'_>) -> Returned {
    shift(call, |value, by| value >> by)
}

fn arshift(call: Call<'_>) -> Returned {
    shift(call, |value, by| (value.cast_signed() >> by).cast_unsigned())
}

fn rol(call: Call<'_>) -> Returned {
    shift(call, u32::rotate_left)
}

fn ror(call: Call<'_>) -> Returned {
    shift(call, u32::rotate_right)
}

fn bswap(call: Call<'_>) -> Returned {
    push(call.stack, bits(call.stack, 1).swap_bytes())
}

/// The last digits in hexadecimal, eight unless the second argument says otherwise; in capitals if it is negative.
fn tohex(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let value = bits(stack, 1);
    let wanted = if stack.top() < 2 { 8 } else { bits(stack, 2).cast_signed() };
    let digits = if wanted < 0 { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let text: [u8; 8] = std::array::from_fn(|at| digits[(value >> (28 - 4 * at)) as usize & 15]);
    stack.push_bytes(&text[8 - wanted.unsigned_abs().min(8) as usize..]);
    Ok(1)
}
