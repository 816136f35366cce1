//! The functions of the library `table`: in Lua they walk tables inside C, where no instruction hook sees them. These
//! charge each step to the work budget, know sealed tables, and make the same comparisons and calls in the same order
//! as Lua's own. Not here: the functions that look at tables without a library (`base`).

use super::base::{spend, stopped};
use super::bridge::{Call, native};
use super::sandbox::{refuse_sealed, unseal};
use super::stack::{Kind, Raised, Returned, Stack};
use super::strings::BYTES_PER_WORK;
use mlua::ffi::lua_CFunction;
use std::cmp::Ordering;

/// Elements looked at that count as one unit of work.
const ELEMENTS_PER_WORK: u64 = 2;
/// So many elements are paid for at once.
const CHUNK: i32 = 1024;
/// Moving an element takes as many steps as it would take instructions.
const MOVE_STEPS: i32 = 4;

/// A name, and the function that Lua calls by it.
type Entry = (&'static [u8], fn() -> lua_CFunction);

pub(super) const FUNCTIONS: [Entry; 7] = [
    (b"concat", || native(concat)),
    (b"insert", || native(insert)),
    (b"remove", || native(remove)),
    (b"maxn", || native(maxn)),
    (b"foreach", || native(foreach)),
    (b"foreachi", || native(foreachi)),
    (b"sort", || native(sort)),
];

/// Pays for the next elements when a chunk of them is done. To move one may be to rehash the whole table.
#[inline(always)]
fn pay(call: Call<'_>, done: i32) -> Result<(), Raised> {
    call.step(MOVE_STEPS).map_err(|stop| stopped(call, stop))?;
    if done & (CHUNK - 1) == 0 {
        spend(call, u64::from(CHUNK.unsigned_abs()) / ELEMENTS_PER_WORK)
    } else {
        Ok(())
    }
}

fn concat(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let separator = if stack.is_none_or_nil(2) { &[] } else { stack.check_text(2) };
    stack.check_table(1);
    let first = if stack.is_none_or_nil(3) { 1 } else { stack.check_int(3) };
    let last = if stack.is_none_or_nil(4) { stack.length(1) as i32 } else { stack.check_int(4) };
    call.run(|run| run.scratch.clear());
    let room = call.string_room();
    for index in first..=last {
        pay(call, index.wrapping_sub(first).wrapping_add(1))?;
        stack.raw_get_index(1, index);
        let Some(piece) = stack.text(-1) else { return Err(invalid_value(stack, index)) };
        let separator = if index < last { separator } else { &[] };
        let fits = call.run(|run| {
            let fits = run.scratch.len() + piece.len() + separator.len() <= room;
            if fits {
                run.scratch.extend_from_slice(piece);
                run.scratch.extend_from_slice(separator);
            }
            fits
        });
        if !fits {
            return Err(stack.fail_plain(b"not enough memory"));
        }
        spend(call, (piece.len() + separator.len()) as u64 / BYTES_PER_WORK)?;
        stack.pop(1);
    }
    let made: *const [u8] = call.run(|run| &raw const run.scratch[..]);
    stack.push_scratch(made);
    Ok(1)
}

#[cold]
fn invalid_value(stack: Stack<'_>, index: i32) -> Raised {
    let kind = stack.type_name(-1);
    stack.push_where(1);
    stack.push_bytes(b"invalid value (");
    stack.push_bytes(kind.to_bytes());
    stack.push_bytes(b") at index ");
    stack.push_bytes(itoa::Buffer::new().format(index).as_bytes());
    stack.push_bytes(b" in table for 'concat'");
    stack.concat(6);
    Raised
}

fn insert(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    let end = stack.length(1) as i32;
    let position = match stack.top() {
        2 => end.wrapping_add(1),
        3 => stack.check_int(2),
        _ => return Err(stack.fail(b"wrong number of arguments to 'insert'")),
    };
    refuse_sealed(stack, 1)?;
    let last = if stack.top() == 3 { end.wrapping_add(1).max(position) } else { position };
    for index in (position..last).rev() {
        pay(call, index)?;
        stack.raw_get_index(1, index);
        stack.raw_set_index(1, index + 1);
    }
    stack.raw_set_index(1, position);
    Ok(0)
}

fn remove(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    let end = stack.length(1) as i32;
    let position = if stack.is_none_or_nil(2) { end } else { stack.check_int(2) };
    if !(1..=end).contains(&position) {
        return Ok(0);
    }
    refuse_sealed(stack, 1)?;
    stack.raw_get_index(1, position);
    for index in position..end {
        pay(call, index)?;
        stack.raw_get_index(1, index + 1);
        stack.raw_set_index(1, index);
    }
    stack.push_nil();
    stack.raw_set_index(1, end);
    Ok(1)
}

fn maxn(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    let (mut most, mut count) = (0.0, 0i32);
    stack.push_nil();
    while stack.next(1) {
        count = count.wrapping_add(1);
        pay(call, count)?;
        stack.pop(1);
        most = stack.number(-1).filter(|key| *key > most).unwrap_or(most);
    }
    stack.push_number(most);
    Ok(1)
}

fn foreach(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    stack.check_function(2);
    let reads = Reads::of(stack);
    if unseal(stack, 1) {
        stack.replace(1);
    }
    stack.push_nil();
    while stack.next(1) {
        spend(call, 1)?;
        stack.copy(2);
        stack.copy(-3);
        stack.copy(-3);
        reads.pay(call)?;
        stack.call(2, 1);
        if !stack.is_nil(-1) {
            return Ok(1);
        }
        stack.pop(2);
    }
    Ok(0)
}

fn foreachi(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    let count = stack.length(1) as i32;
    stack.check_function(2);
    let reads = Reads::of(stack);
    for index in 1..=count {
        spend(call, 1)?;
        stack.copy(2);
        stack.push_number(index.into());
        stack.raw_get_index(1, index);
        reads.pay(call)?;
        stack.call(2, 1);
        if !stack.is_nil(-1) {
            return Ok(1);
        }
        stack.pop(1);
    }
    Ok(0)
}

/// Whether the function at 2, which is called with two arguments, is not made of instructions: then it may read all
/// bytes of both, as those do that take a text for a number.
#[derive(Clone, Copy)]
struct Reads(bool);

impl Reads {
    fn of(stack: Stack<'_>) -> Self {
        Reads(stack.native(2).is_some())
    }

    /// Pays for the two arguments on top.
    #[inline]
    fn pay(self, call: Call<'_>) -> Result<(), Raised> {
        if !self.0 {
            return Ok(());
        }
        let bytes = [-1, -2].map(|index| call.stack.bytes(index).map_or(0, <[u8]>::len));
        spend(call, (bytes[0] + bytes[1]) as u64 / BYTES_PER_WORK)
    }
}

fn sort(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    let count = stack.length(1) as i32;
    if !stack.reserve(40) {
        return Err(stack.fail(b"stack overflow ()"));
    }
    if !stack.is_none_or_nil(2) {
        stack.check_function(2);
    }
    stack.set_top(2);
    Sort { call, compares: stack.kind(2) == Kind::Function, reads: Reads::of(stack) }.range(1, count)?;
    Ok(0)
}

/// Lua's quicksort of the table at 1, by the function at 2 if there is one: a script sees which elements are compared
/// in which order, so the pivots and the scans are Lua's.
#[derive(Clone, Copy)]
struct Sort<'a> {
    call: Call<'a>,
    compares: bool,
    reads: Reads,
}

impl Sort<'_> {
    /// Sorts from `low` to `high`; calls itself for the smaller part only.
    fn range(self, mut low: i32, mut high: i32) -> Result<(), Raised> {
        while low < high {
            self.order(low, high)?;
            if high - low == 1 {
                break;
            }
            let middle = low.midpoint(high);
            if !self.order(low, middle)? {
                self.order(middle, high)?;
            }
            if high - low == 2 {
                break;
            }
            let middle = self.partition(low, high, middle)?;
            if middle - low < high - middle {
                self.range(low, middle - 1)?;
                low = middle + 1;
            } else {
                self.range(middle + 1, high)?;
                high = middle - 1;
            }
        }
        Ok(())
    }

    /// Exchanges two elements when the second is less than the first; whether it was.
    fn order(self, first: i32, second: i32) -> Result<bool, Raised> {
        let stack = self.call.stack;
        stack.raw_get_index(1, first);
        stack.raw_get_index(1, second);
        let exchanges = self.is_less(-1, -2)?;
        if exchanges {
            stack.raw_set_index(1, first);
            stack.raw_set_index(1, second);
        } else {
            stack.pop(2);
        }
        Ok(exchanges)
    }

    /// Brings what is less than the element at `pivot` before it and the rest behind it; where it then is.
    fn partition(self, low: i32, high: i32, pivot: i32) -> Result<i32, Raised> {
        let stack = self.call.stack;
        stack.raw_get_index(1, pivot);
        stack.copy(-1);
        stack.raw_get_index(1, high - 1);
        stack.raw_set_index(1, pivot);
        stack.raw_set_index(1, high - 1);
        let (mut left, mut right) = (low, high - 1);
        loop {
            left += 1;
            stack.raw_get_index(1, left);
            while self.is_less(-1, -2)? {
                if left > high {
                    return Err(stack.fail(b"invalid order function for sorting"));
                }
                stack.pop(1);
                left += 1;
                stack.raw_get_index(1, left);
            }
            right -= 1;
            stack.raw_get_index(1, right);
            while self.is_less(-3, -1)? {
                if right < low {
                    return Err(stack.fail(b"invalid order function for sorting"));
                }
                stack.pop(1);
                right -= 1;
                stack.raw_get_index(1, right);
            }
            if right < left {
                break;
            }
            stack.raw_set_index(1, left);
            stack.raw_set_index(1, right);
        }
        stack.pop(3);
        stack.raw_get_index(1, high - 1);
        stack.raw_get_index(1, left);
        stack.raw_set_index(1, high - 1);
        stack.raw_set_index(1, left);
        Ok(left)
    }

    /// Whether the element at one place of the stack goes before that at another.
    #[inline]
    fn is_less(self, left: i32, right: i32) -> Result<bool, Raised> {
        let stack = self.call.stack;
        spend(self.call, 2)?;
        if self.compares {
            stack.copy(2);
            stack.copy(left - 1);
            stack.copy(right - 2);
            self.reads.pay(self.call)?;
            stack.call(2, 1);
            let less = stack.truth(-1);
            stack.pop(1);
            return Ok(less);
        }
        match (stack.bytes(left), stack.bytes(right)) {
            (Some(left), Some(right)) => {
                spend(self.call, left.len().min(right.len()) as u64 / BYTES_PER_WORK)?;
                Ok(left.cmp(right) == Ordering::Less)
            }
            _ => Ok(stack.less_than(left, right)),
        }
    }
}
