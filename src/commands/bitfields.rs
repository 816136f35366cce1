//! BITFIELD: integers of any width among the bits of a string. Single bits are in `bitmaps`.

use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::util::num::parse_i64;
use crate::value::{Str, Value};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "bitfield",
        usage: "BITFIELD key operation=[GET encoding_offset=(encoding offset)|write=([OVERFLOW wrap_sat_fail=(WRAP|SAT|FAIL)] write_operation=(SET encoding_offset_value=(encoding offset value<integer>)|INCRBY encoding_offset_increment=(encoding offset increment)))]...",
        summary: "Perform arbitrary bitfield integer operations on strings",
        since: "3.2.0",
        group: Group::Bitmap,
        complexity: "O(1) for each subcommand specified",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | ACCESS | UPDATE | VARIABLE_FLAGS)
            .note("This command allows both access and modification of the key")],
        run: bitfield,
        ..Spec::BASE
    },
    Spec {
        name: "bitfield_ro",
        usage: "BITFIELD_RO key [GET encoding_offset=(encoding offset)...+]",
        summary: "Perform arbitrary bitfield integer operations on strings. Read-only variant of BITFIELD",
        since: "6.0.0",
        group: Group::Bitmap,
        complexity: "O(1) for each subcommand specified",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: bitfield_ro,
        ..Spec::BASE
    },
];

/// The type of a field: so many bits, with or without a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Width {
    bits: u32,
    signed: bool,
}

impl Width {
    fn parse(word: &[u8]) -> Result<Self, Failure> {
        let word = word.split(|&byte| byte == 0).next().unwrap_or_default();
        let (signed, bits) = match word {
            [b'i', bits @ ..] => (true, bits),
            [b'u', bits @ ..] => (false, bits),
            _ => return Err(Failure::BAD_BITFIELD_TYPE),
        };
        let most = if signed { 64 } else { 63 };
        let bits = parse_i64(bits).filter(|bits| (1..=most).contains(bits));
        Ok(Width { bits: bits.ok_or(Failure::BAD_BITFIELD_TYPE)? as u32, signed })
    }
    fn max(self) -> i128 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }
    fn min(self) -> i128 {
        if self.signed { -self.max() - 1 } else { 0 }
    }
    /// The number that these bits are.
    fn number(self, bits: u64) -> i64 {
        let unused = u64::BITS - self.bits;
        if self.signed { (bits << unused) as i64 >> unused } else { bits as i64 }
    }
}

/// What becomes of a number that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

impl Overflow {
    fn parse(word: &[u8]) -> Result<Self, Failure> {
        let all = [("WRAP", Self::Wrap), ("SAT", Self::Saturate), ("FAIL", Self::Fail)];
        let found = all.into_iter().find(|(name, _)| is(word, name));
        found.map(|(_, overflow)| overflow).ok_or(Failure::BAD_OVERFLOW_TYPE)
    }
    /// The bits to store for a number; None when it does not fit and must.
    fn fit(self, number: i128, width: Width) -> Option<u64> {
        let fits = (width.min()..=width.max()).contains(&number);
        let number = match self {
            _ if fits => number,
            Overflow::Wrap => number,
            Overflow::Saturate => number.clamp(width.min(), width.max()),
            Overflow::Fail => return None,
        };
        Some(number as u64 & (u64::MAX >> (u64::BITS - width.bits)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Get,
    Set(i64),
    Increment(i64),
}

/// One operation of BITFIELD.
#[derive(Debug, Clone, Copy)]
struct Operation {
    action: Action,
    width: Width,
    /// The position of the first bit.
    offset: u64,
    overflow: Overflow,
}

impl Operation {
    /// Reads all operations.
    fn parse_all(cx: &Ctx<'_>, argv: Argv<'_>) -> Result<Vec<Operation>, Failure> {
        let limit = cx.state.config.proto_max_bulk_len;
        let mut args = Args::new(argv, 2);
        let (mut operations, mut overflow) = (Vec::new(), Overflow::Wrap);
        while let Some(word) = args.next() {
            let has_number = match word {
                _ if is(word, "GET") && args.left() >= 2 => false,
                _ if (is(word, "SET") || is(word, "INCRBY")) && args.left() >= 3 => true,
                _ if is(word, "OVERFLOW") && args.left() >= 1 => {
                    overflow = Overflow::parse(args.word()?)?;
                    continue;
                }
                _ => return Err(Failure::Syntax),
            };
            let width = Width::parse(args.word()?)?;
            let offset = bit_offset(args.word()?, width.bits, limit)?;
            let action = match has_number.then(|| args.word().and_then(int)).transpose()? {
                None => Action::Get,
                Some(number) if is(word, "SET") => Action::Set(number),
                Some(number) => Action::Increment(number),
            };
            operations.push(Operation { action, width, offset, overflow });
        }
        Ok(operations)
    }
    fn writes(&self) -> bool {
        self.action != Action::Get
    }
    /// The bytes a string must have for this operation to write.
    fn end_bytes(&self) -> usize {
        ((self.offset + u64::from(self.width.bits) - 1) >> 3) as usize + 1
    }
    fn read(&self, bytes: &[u8]) -> u64 {
        let bits = self.offset..self.offset + u64::from(self.width.bits);
        bits.fold(0, |value, at| {
            let byte = bytes.get((at >> 3) as usize).copied().unwrap_or(0);
            value << 1 | u64::from(byte >> (7 - (at & 7)) & 1)
        })
    }
    fn write(&self, bytes: &mut [u8], value: u64) {
        for place in 0..u64::from(self.width.bits) {
            let at = self.offset + place;
            let bit = (value >> (u64::from(self.width.bits) - 1 - place) & 1) as u8;
            if let Some(byte) = bytes.get_mut((at >> 3) as usize) {
                let shift = 7 - (at & 7);
                *byte = *byte & !(1 << shift) | bit << shift;
            }
        }
    }
    /// The number to set. The server takes the distance to the largest one in 64 bits, where that of a number far below
    /// is negative: it passes for one too large.
    fn signed(&self, number: i64) -> i128 {
        let (number, max) = (i128::from(number), self.width.max());
        let is_far_below = self.width.bits < 64 && max - number > i128::from(i64::MAX);
        if is_far_below && self.overflow == Overflow::Saturate { max } else { number }
    }
    /// Reads, and writes if it does; answers whether it wrote and something else than was there.
    fn perform(&self, bytes: &mut [u8], out: &mut Reply) -> Outcome {
        let before = self.read(bytes);
        let old = self.width.number(before);
        let wanted = match self.action {
            Action::Get => {
                out.int(old);
                return Outcome::Nothing;
            }
            Action::Set(number) if self.width.signed => self.signed(number),
            Action::Set(number) => i128::from(number as u64),
            Action::Increment(by) => i128::from(old) + i128::from(by),
        };
        let Some(after) = self.overflow.fit(wanted, self.width) else {
            out.nil();
            return Outcome::Nothing;
        };
        self.write(bytes, after);
        let is_set = matches!(self.action, Action::Set(_));
        out.int(if is_set { old } else { self.width.number(after) });
        if after == before { Outcome::Same } else { Outcome::Changed }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Same,
    Changed,
}

/// The position of a bit; behind `#` it counts fields of that width.
fn bit_offset(word: &[u8], bits: u32, limit: u64) -> Result<u64, Failure> {
    let offset = match word {
        [b'#', count @ ..] => parse_i64(count).map(|count| count.wrapping_mul(i64::from(bits))),
        _ => parse_i64(word),
    };
    let offset = offset.and_then(|offset| u64::try_from(offset).ok());
    offset.filter(|offset| (offset >> 3) < limit).ok_or(Failure::BAD_BIT_OFFSET)
}

fn bitfield_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let operations = Operation::parse_all(cx, argv)?;
    if operations.iter().any(Operation::writes) {
        return Err(Failure::BITFIELD_READ_ONLY);
    }
    read_fields(cx, argv[1], &operations, out)
}

fn bitfield(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let operations = Operation::parse_all(cx, argv)?;
    if operations.iter().any(Operation::writes) {
        write_fields(cx, argv[1], &operations, out)
    } else {
        read_fields(cx, argv[1], &operations, out)
    }
}

fn read_fields(
    cx: &mut Ctx<'_>,
    key: &[u8],
    operations: &[Operation],
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let mut text = match cx.read(key) {
        Some(entry) => Some(entry.value().as_string()?.bytes()),
        None => None,
    };
    let bytes = text.as_mut().map_or(&b""[..], |text| text.as_bytes());
    out.array(operations.len());
    for operation in operations {
        out.int(operation.width.number(operation.read(bytes)));
    }
    Ok(Flow::Done)
}

/// Makes the string as long as the operations need and performs them.
fn write_fields(
    cx: &mut Ctx<'_>,
    key: &[u8],
    operations: &[Operation],
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let writing = operations.iter().filter(|operation| operation.writes());
    let end = writing.map(Operation::end_bytes).max().unwrap_or(0);
    let mut edit = cx.edit_or(key, || Value::String(Str::text(b"")));
    edit.value().as_string()?;
    let bytes = edit.value_mut().as_string_mut()?.make_growable();
    let grows = bytes.len() < end;
    Str::lengthen(bytes, end);
    out.array(operations.len());
    let (mut writes, mut changes) = (false, false);
    for operation in operations {
        let outcome = operation.perform(bytes, out);
        writes |= outcome != Outcome::Nothing;
        changes |= outcome == Outcome::Changed;
    }
    if changes || writes && grows {
        edit.commit(Event::string("setbit"));
    } else if grows {
        // Nothing fitted, but the string is longer now. The server tells nobody; a replay has to know.
        edit.commit_unwatched(None);
    } else {
        edit.unchanged();
    }
    Ok(Flow::Done)
}
