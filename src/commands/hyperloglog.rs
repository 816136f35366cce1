//! HyperLogLog: about how many different elements were added, in at most 12 KiB. The strings and the arithmetic are in
//! `value::hyperloglog`.

use crate::command::args::is;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::value::hyperloglog::{self as hll, Corrupted, Run};
use crate::value::{Str, Value};
use std::sync::Arc;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "pfadd",
        usage: "PFADD key [element...]",
        summary: "Adds the specified elements to the specified HyperLogLog.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "O(1) to add every element.",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: pfadd,
        ..Spec::BASE
    },
    Spec {
        name: "pfcount",
        usage: "PFCOUNT key...",
        summary: "Return the approximated cardinality of the set(s) observed by the HyperLogLog at key(s).",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "O(1) with a very small average constant time when called with a single key. O(N) with N being the number of keys, and much bigger constant times, when called with multiple keys.",
        flags: READONLY | MAY_REPLICATE,
        keys: &[at(1, RW | ACCESS).range(-1, 1, 0).note(
            "RW because it may change the internal representation of the key, and \
                 propagate to replicas",
        )],
        run: pfcount,
        ..Spec::BASE
    },
    Spec {
        name: "pfdebug",
        usage: "PFDEBUG subcommand key",
        summary: "Internal commands for debugging HyperLogLog values",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "N/A",
        flags: WRITE | DENYOOM | ADMIN | SYSCMD,
        keys: &[at(2, RW | ACCESS)],
        run: pfdebug,
        ..Spec::BASE
    },
    Spec {
        name: "pfmerge",
        usage: "PFMERGE destkey sourcekey...",
        arity: -2,
        summary: "Merge N different HyperLogLogs into a single one.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "O(N) to merge N HyperLogLogs, but with high constant times.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | ACCESS | INSERT), at(2, RO | ACCESS).range(-1, 1, 0)],
        run: pfmerge,
        ..Spec::BASE
    },
    Spec {
        name: "pfselftest",
        usage: "PFSELFTEST",
        summary: "An internal command for testing HyperLogLog values",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "N/A",
        flags: ADMIN | SYSCMD,
        run: pfselftest,
        ..Spec::BASE
    },
];

impl From<Corrupted> for Failure {
    fn from(_: Corrupted) -> Self {
        Failure::HLL_CORRUPTED
    }
}

/// The bytes of a value that is a HyperLogLog.
fn bytes_of(value: &Value) -> Result<Vec<u8>, Failure> {
    check(value)?;
    Ok(value.as_string()?.to_vec())
}

/// Whether a value is one.
fn check(value: &Value) -> Result<(), Failure> {
    let mut text = value.as_string()?.bytes();
    if hll::is_one(text.as_bytes()) { Ok(()) } else { Err(Failure::NOT_A_HLL) }
}

fn sparse_max(cx: &Ctx<'_>) -> usize {
    usize::try_from(cx.state.config.hll_sparse_max_bytes).unwrap_or(usize::MAX)
}

fn empty() -> Value {
    Value::String(Str::Growable(Arc::new(hll::empty())))
}

fn pfadd(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sparse_max = sparse_max(cx);
    let mut key = cx.edit_or(argv[1], empty);
    let mut changed = key.is_new();
    if let Err(failure) = check(key.value()) {
        key.unchanged();
        return Err(failure);
    }
    let bytes = key.value_mut().as_string_mut()?.make_growable();
    for element in &argv[2..] {
        match hll::add(bytes, element, sparse_max) {
            Ok(raised) => changed |= raised,
            Err(corrupted) => {
                key.unchanged();
                return Err(corrupted.into());
            }
        }
    }
    if changed {
        hll::forget_count(bytes);
        key.commit(Event::string("pfadd"));
    } else {
        key.unchanged();
    }
    out.int(i64::from(changed));
    Ok(Flow::Done)
}

fn pfcount(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if let [_, key] = argv {
        return count_one(cx, key, out);
    }
    let mut all = vec![0; hll::REGISTERS].into_boxed_slice();
    for key in &argv[1..] {
        if let Some(entry) = cx.read(key) {
            hll::raise(&mut all, &bytes_of(entry.value())?)?;
        }
    }
    out.int(hll::count_registers(&all));
    Ok(Flow::Done)
}

/// The count of one key is kept in its string, which is a change: those who watch it are told.
fn count_one(cx: &mut Ctx<'_>, name: &[u8], out: &mut Reply) -> Result<Flow, Failure> {
    let Some(entry) = cx.read(name) else {
        out.int(0);
        return Ok(Flow::Done);
    };
    check(entry.value())?;
    let Some(mut key) = cx.edit(name) else { return Ok(Flow::Done) };
    let bytes = key.value_mut().as_string_mut()?.make_growable();
    if let Some(count) = hll::cached(bytes) {
        key.unchanged();
        out.int(count);
        return Ok(Flow::Done);
    }
    let counted = hll::count(bytes);
    match counted {
        Ok(count) => {
            hll::keep_count(bytes, count);
            key.commit_untold();
            out.int(count);
            Ok(Flow::Done)
        }
        Err(corrupted) => {
            key.unchanged();
            Err(corrupted.into())
        }
    }
}

fn pfmerge(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sparse_max = sparse_max(cx);
    let mut all = vec![0; hll::REGISTERS].into_boxed_slice();
    let mut dense = false;
    for key in &argv[1..] {
        let Some(entry) = cx.read(key) else { continue };
        let bytes = bytes_of(entry.value())?;
        dense |= !hll::is_sparse(&bytes);
        hll::raise(&mut all, &bytes)?;
    }
    let mut key = cx.edit_or(argv[1], empty);
    let bytes = key.value_mut().as_string_mut()?.make_growable();
    if dense && let Err(corrupted) = hll::make_dense(bytes) {
        key.unchanged();
        return Err(corrupted.into());
    }
    for (index, value) in all.iter().enumerate().filter(|(_, value)| **value > 0) {
        // It was read above, so that it is whole.
        _ = hll::set(bytes, index, *value, sparse_max);
    }
    hll::forget_count(bytes);
    key.commit(Event::string("pfadd"));
    out.ok();
    Ok(Flow::Done)
}

fn pfdebug(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let subcommand = argv[1];
    let mut key = cx.edit(argv[2]).ok_or(Failure::HLL_NO_KEY)?;
    if let Err(failure) = check(key.value()) {
        key.unchanged();
        return Err(failure);
    }
    let bytes = key.value_mut().as_string_mut()?.make_growable();
    let was_sparse = hll::is_sparse(bytes);
    let result = debug(subcommand, bytes, out);
    // A change of the form is propagated, but nobody is told.
    if was_sparse && !hll::is_sparse(bytes) {
        key.commit_unwatched(None);
    } else {
        key.unchanged();
    }
    result.map(|()| Flow::Done)
}

fn debug(subcommand: &[u8], bytes: &mut Vec<u8>, out: &mut Reply) -> Result<(), Failure> {
    if is(subcommand, "getreg") {
        hll::make_dense(bytes)?;
        let all = hll::registers(bytes)?;
        out.array(all.len());
        all.iter().for_each(|register| out.int(i64::from(*register)));
    } else if is(subcommand, "decode") {
        if !hll::is_sparse(bytes) {
            return Err(Failure::HLL_NOT_SPARSE);
        }
        out.bulk(&decoded(bytes));
    } else if is(subcommand, "encoding") {
        out.status(if hll::is_sparse(bytes) { "sparse" } else { "dense" });
    } else if is(subcommand, "todense") {
        let was_sparse = hll::is_sparse(bytes);
        hll::make_dense(bytes)?;
        out.int(i64::from(was_sparse));
    } else {
        return Err(Failure::unknown_pfdebug(subcommand));
    }
    Ok(())
}

/// The runs as text: `z` for zeros, `Z` for many, `v` for a value and how often.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let text = |run: Run| match run {
        Run::Zeros(count) => format!("z:{count}"),
        Run::ManyZeros(count) => format!("Z:{count}"),
        Run::Value(value, count) => format!("v:{value},{count}"),
    };
    hll::runs(bytes).map(text).collect::<Vec<_>>().join(" ").into_bytes()
}

/// How many elements the self-test adds.
const TESTED: u64 = 100_000;

/// The server's test on fewer elements: sparse and dense agree, and the error stays small.
fn pfselftest(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let seed = cx.with_rng(|_, rng| rng.next_u64());
    let (mut sparse, mut dense) = (hll::empty(), hll::empty());
    hll::make_dense(&mut dense)?;
    let (mut checkpoint, sparse_max) = (1, sparse_max(cx));
    for number in 1..=TESTED {
        let element = (number ^ seed).to_le_bytes();
        hll::add(&mut sparse, &element, sparse_max)?;
        hll::add(&mut dense, &element, 0)?;
        if number == checkpoint {
            if number < sparse_max as u64 / 2 && !hll::is_sparse(&sparse) {
                return Err(Failure::HLL_SPARSE_UNUSED);
            }
            let found = hll::count(&dense)?;
            if hll::count(&sparse)? != found {
                return Err(Failure::HLL_DISAGREE);
            }
            let error_max = if number == 10 { 1 } else { (number as f64 * 6.0 * 1.04 / 128.0).ceil() as u64 };
            if found.abs_diff(number as i64) > error_max {
                return Err(Failure::HLL_TOO_BIG_ERROR);
            }
            checkpoint *= 10;
        }
    }
    out.ok();
    Ok(Flow::Done)
}
