//! Strings as numbers: INCR, DECR and the like. Numbers in hashes and sorted sets are in the files of these.

use crate::command::args::int;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::util::long_double::LongDouble;
use crate::value::{Str, Value};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "decr",
        usage: "DECR key",
        summary: "Decrement the integer value of a key by one",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: decr,
        ..Spec::BASE
    },
    Spec {
        name: "decrby",
        usage: "DECRBY key decrement",
        summary: "Decrement the integer value of a key by the given number",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: decrby,
        ..Spec::BASE
    },
    Spec {
        name: "incr",
        usage: "INCR key",
        summary: "Increment the integer value of a key by one",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: incr,
        ..Spec::BASE
    },
    Spec {
        name: "incrby",
        usage: "INCRBY key increment",
        summary: "Increment the integer value of a key by the given amount",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: incrby,
        ..Spec::BASE
    },
    Spec {
        name: "incrbyfloat",
        usage: "INCRBYFLOAT key increment<double>",
        summary: "Increment the float value of a key by the given amount",
        since: "2.6.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: incrbyfloat,
        ..Spec::BASE
    },
];

fn incr(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    add(cx, argv[1], 1, out)
}

fn decr(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    add(cx, argv[1], -1, out)
}

fn incrby(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let increment = int(argv[2])?;
    add(cx, argv[1], increment, out)
}

fn decrby(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let decrement = int(argv[2])?;
    let increment = decrement.checked_neg().ok_or(Failure::DECREMENT_OVERFLOW)?;
    add(cx, argv[1], increment, out)
}

/// Adds to the integer of a key, in one look-up.
#[inline]
fn add(cx: &mut Ctx<'_>, key: &[u8], increment: i64, out: &mut Reply) -> Result<Flow, Failure> {
    let mut edit = cx.edit_or(key, || Value::String(Str::Int(0)));
    let old = edit.value().as_string()?.as_int().ok_or(Failure::NotInteger)?;
    let new = old.checked_add(increment).ok_or(Failure::Overflow)?;
    *edit.value_mut() = Value::String(Str::Int(new));
    edit.commit(Event::string("incrby"));
    out.int(new);
    Ok(Flow::Done)
}

fn incrbyfloat(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut edit = cx.edit_or(argv[1], || Value::String(Str::Int(0)));
    let old = LongDouble::parse(edit.value().as_string()?.bytes().as_bytes()).ok_or(Failure::NotFloat)?;
    let sum = old + LongDouble::parse(argv[2]).ok_or(Failure::NotFloat)?;
    if sum.is_nan() || sum.is_infinite() {
        return Err(Failure::NAN_RESULT);
    }
    let mut text = Vec::new();
    sum.write_human(&mut text);
    *edit.value_mut() = Value::String(Str::text(&text));
    edit.commit(Event::string("incrbyfloat"));
    out.bulk(&text);
    cx.propagate(&[b"SET", argv[1], &text, b"KEEPTTL"]);
    Ok(Flow::Done)
}
