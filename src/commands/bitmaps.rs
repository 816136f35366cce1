//! Bitmaps: single bits of strings, and operations on all of them. Integers among the bits are in `bitfields`, strings
//! as strings in `strings`.

use crate::command::args::{int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
use crate::value::{Str, Value};
use std::ops::Range;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "bitcount",
        usage: "BITCOUNT key index=[start end index_unit=[BYTE|BIT]@7.0.0]",
        summary: "Count set bits in a string",
        since: "2.6.0",
        group: Group::Bitmap,
        complexity: "O(N)",
        history: &[("7.0.0", "Added the `BYTE|BIT` option.")],
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: bitcount,
        ..Spec::BASE
    },
    Spec {
        name: "bitop",
        usage: "BITOP operation destkey key...",
        summary: "Perform bitwise operations between strings",
        since: "2.6.0",
        group: Group::Bitmap,
        complexity: "O(N)",
        flags: WRITE | DENYOOM,
        keys: &[at(2, OW | UPDATE), at(3, RO | ACCESS).range(-1, 1, 0)],
        run: bitop,
        ..Spec::BASE
    },
    Spec {
        name: "bitpos",
        usage: "BITPOS key bit index=[start end_index=[end index_unit=[BYTE|BIT]@7.0.0]]",
        summary: "Find first bit set or clear in a string",
        since: "2.8.7",
        group: Group::Bitmap,
        complexity: "O(N)",
        history: &[("7.0.0", "Added the `BYTE|BIT` option.")],
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: bitpos,
        ..Spec::BASE
    },
    Spec {
        name: "getbit",
        usage: "GETBIT key offset",
        summary: "Returns the bit value at offset in the string value stored at key",
        since: "2.2.0",
        group: Group::Bitmap,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: getbit,
        ..Spec::BASE
    },
    Spec {
        name: "setbit",
        usage: "SETBIT key offset value<integer>",
        summary: "Sets or clears the bit at offset in the string value stored at key",
        since: "2.2.0",
        group: Group::Bitmap,
        complexity: "O(1)",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: setbit,
        ..Spec::BASE
    },
];

/// The position of a bit, limited as the length of a string is.
fn bit_offset(cx: &Ctx<'_>, word: &[u8]) -> Result<usize, Failure> {
    let limit = cx.state.config.proto_max_bulk_len;
    let offset = int(word).ok().and_then(|offset| usize::try_from(offset).ok());
    offset.filter(|offset| ((offset >> 3) as u64) < limit).ok_or(Failure::BAD_BIT_OFFSET)
}

/// The mask of a bit within its byte; the first bit is the highest.
fn mask(offset: usize) -> u8 {
    0x80 >> (offset & 7)
}

fn setbit(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let offset = bit_offset(cx, argv[2])?;
    let on = match int(argv[3]) {
        Ok(bit @ (0 | 1)) => bit == 1,
        _ => return Err(Failure::BAD_BIT),
    };
    let mut edit = cx.edit_or(argv[1], || Value::String(Str::text(b"")));
    edit.value().as_string()?;
    let bytes = edit.value_mut().as_string_mut()?.make_growable();
    let (byte, mask) = (offset >> 3, mask(offset));
    let grows = bytes.len() <= byte;
    if grows {
        Str::lengthen(bytes, byte + 1);
    }
    let was_on = bytes[byte] & mask != 0;
    if on {
        bytes[byte] |= mask;
    } else {
        bytes[byte] &= !mask;
    }
    if grows || was_on != on {
        edit.commit(Event::string("setbit"));
    } else {
        edit.unchanged();
    }
    out.int(i64::from(was_on));
    Ok(Flow::Done)
}

fn getbit(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let offset = bit_offset(cx, argv[2])?;
    let on = match cx.read(argv[1]) {
        Some(entry) => {
            let mut text = entry.value().as_string()?.bytes();
            text.as_bytes().get(offset >> 3).is_some_and(|byte| byte & mask(offset) != 0)
        }
        None => false,
    };
    out.int(i64::from(on));
    Ok(Flow::Done)
}

/// Whether positions count bits (BIT) or bytes (BYTE, and without the word).
fn counts_bits(unit: Option<&&[u8]>) -> Result<bool, Failure> {
    match unit {
        Some(word) if is(word, "BIT") => Ok(true),
        Some(word) if !is(word, "BYTE") => Err(Failure::Syntax),
        _ => Ok(false),
    }
}

/// The bits from position `start` to position `end`, the end included; negative ones count from the end.
fn bit_range(start: i64, end: i64, bits: bool, len: usize) -> Range<usize> {
    let scale = if bits { 1 } else { 8 };
    let total = (len * 8 / scale) as i64;
    let from = |at: i64| if at < 0 { total.saturating_add(at).max(0) } else { at };
    let (start, end) = (from(start), from(end).min(total - 1));
    if start > end { 0..0 } else { start as usize * scale..(end as usize + 1) * scale }
}

fn bitcount(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let Some(entry) = cx.read(argv[1]) else {
        out.int(0);
        return Ok(Flow::Done);
    };
    let mut text = entry.value().as_string()?.bytes();
    let bytes = text.as_bytes();
    let range = match argv {
        [_, _] => 0..bytes.len() * 8,
        [_, _, start, end, unit @ ..] if unit.len() <= 1 => {
            let (start, end) = (int(start)?, int(end)?);
            if start < 0 && end < 0 && start > end {
                0..0
            } else {
                bit_range(start, end, counts_bits(unit.first())?, bytes.len())
            }
        }
        _ => return Err(Failure::Syntax),
    };
    let looked = range.len() / 8;
    out.int(count_ones(bytes, range) as i64);
    cx.note_work(looked);
    Ok(Flow::Done)
}

fn count_ones(bytes: &[u8], range: Range<usize>) -> usize {
    let ones = |bytes: &[u8]| {
        let (words, rest) = bytes.as_chunks::<8>();
        let in_words: usize = words.iter().map(|word| u64::from_ne_bytes(*word).count_ones() as usize).sum();
        in_words + rest.iter().map(|byte| byte.count_ones() as usize).sum::<usize>()
    };
    let up_to = |bit: usize| {
        let part = bytes.get(bit >> 3).map_or(0, |byte| (byte & !(0xFF >> (bit & 7))).count_ones() as usize);
        (bit >> 3, part)
    };
    let ((first, before), (last, after)) = (up_to(range.start), up_to(range.end));
    ones(&bytes[first..last]) + after - before
}

fn bitpos(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let on = match int(argv[2])? {
        0 => false,
        1 => true,
        _ => return Err(Failure::BAD_BITPOS_BIT),
    };
    let Some(entry) = cx.read(argv[1]) else {
        out.int(if on { -1 } else { 0 });
        return Ok(Flow::Done);
    };
    let mut text = entry.value().as_string()?.bytes();
    let bytes = text.as_bytes();
    let range = match argv[3..] {
        [] => bit_range(0, -1, false, bytes.len()),
        [start] => bit_range(int(start)?, -1, false, bytes.len()),
        [start, end, ref unit @ ..] if unit.len() <= 1 => {
            let start = int(start)?;
            let bits = counts_bits(unit.first())?;
            bit_range(start, int(end)?, bits, bytes.len())
        }
        _ => return Err(Failure::Syntax),
    };
    // Behind a string without an explicit end there are zeros only.
    let behind = if !on && argv.len() < 5 && !range.is_empty() { range.end as i64 } else { -1 };
    let (start, end) = (range.start, range.end);
    let found = find_bit(bytes, range, on);
    out.int(found.map_or(behind, |at| at as i64));
    cx.note_work((found.unwrap_or(end) - start) / 8);
    Ok(Flow::Done)
}

fn find_bit(bytes: &[u8], range: Range<usize>, on: bool) -> Option<usize> {
    let one_by_one = |mut bits: Range<usize>| bits.find(|&at| (bytes[at >> 3] & mask(at) != 0) == on);
    let range = range.start..range.end.min(bytes.len() * 8);
    let (first, last) = (range.start.div_ceil(8), range.end / 8);
    if first >= last {
        return one_by_one(range);
    }
    let middle = &bytes[first..last];
    let other = if on { 0 } else { 0xFF };
    // Eight bytes at a time to the first that has one, then byte by byte.
    let (words, _) = middle.as_chunks::<8>();
    let from = words.iter().take_while(|word| **word == [other; 8]).count() * 8;
    let in_middle =
        || middle[from..].iter().position(|&byte| byte != other).map(|at| (first + from + at) * 8);
    one_by_one(range.start..first * 8)
        .or_else(|| in_middle().and_then(|at| one_by_one(at..at + 8)))
        .or_else(|| one_by_one(last * 8..range.end))
}

/// What BITOP does to two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BitOperation {
    And,
    Or,
    Xor,
    Not,
}

impl BitOperation {
    fn parse(word: &[u8]) -> Result<Self, Failure> {
        let all = [("AND", Self::And), ("OR", Self::Or), ("XOR", Self::Xor), ("NOT", Self::Not)];
        let found = all.into_iter().find(|(name, _)| is(word, name));
        found.map(|(_, operation)| operation).ok_or(Failure::Syntax)
    }
    /// Combines what there is so far with another string; the shorter one goes on with zeros.
    fn combine(self, so_far: &mut Vec<u8>, other: &[u8]) {
        if so_far.len() < other.len() {
            so_far.resize(other.len(), 0);
        }
        let (both, rest) = so_far.split_at_mut(other.len());
        let pairs = both.iter_mut().zip(other);
        match self {
            BitOperation::And => {
                pairs.for_each(|(byte, other)| *byte &= other);
                rest.fill(0);
            }
            BitOperation::Or => pairs.for_each(|(byte, other)| *byte |= other),
            BitOperation::Xor => pairs.for_each(|(byte, other)| *byte ^= other),
            BitOperation::Not => {}
        }
    }
}

fn bitop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let operation = BitOperation::parse(argv[1])?;
    if operation == BitOperation::Not && argv.len() != 4 {
        return Err(Failure::BITOP_NOT_OF_MANY);
    }
    let mut result = Vec::new();
    for (at, key) in argv[3..].iter().enumerate() {
        let mut text = match cx.read(key) {
            Some(entry) => Some(entry.value().as_string()?.bytes()),
            None => None,
        };
        let bytes = text.as_mut().map_or(&b""[..], |text| text.as_bytes());
        if at == 0 {
            result.extend_from_slice(bytes);
        } else {
            operation.combine(&mut result, bytes);
        }
        let looked = bytes.len();
        cx.note_work(looked);
    }
    cx.note_work(result.len());
    if operation == BitOperation::Not {
        result.iter_mut().for_each(|byte| *byte = !*byte);
    }
    out.int(result.len() as i64);
    if result.is_empty() {
        cx.discard(argv[2], Event::generic("del"));
    } else {
        let mut value = Str::text(b"");
        *value.make_growable() = result;
        cx.put(argv[2], Value::String(value), Expiry::Clear, Event::string("set"));
    }
    Ok(Flow::Done)
}
