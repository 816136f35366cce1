//! Hashes: fields with values, numbers in them, random fields, and a walk step by step. Their value structure is
//! `value::hash`.

use crate::command::args::int;
use crate::command::random::Draw;
use crate::command::scan;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::Event;
use crate::util::long_double::LongDouble;
use crate::util::num::parse_i64;
use crate::value::Value;
use crate::value::hash::Hash;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "hdel",
        usage: "HDEL key field...",
        summary: "Delete one or more hash fields",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) where N is the number of fields to be removed.",
        history: &[("2.4.0", "Accepts multiple `field` arguments.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | DELETE)],
        run: hdel,
        ..Spec::BASE
    },
    Spec {
        name: "hexists",
        usage: "HEXISTS key field",
        summary: "Determine if a hash field exists",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: hexists,
        ..Spec::BASE
    },
    Spec {
        name: "hget",
        usage: "HGET key field",
        summary: "Get the value of a hash field",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: hget,
        ..Spec::BASE
    },
    Spec {
        name: "hgetall",
        usage: "HGETALL key",
        summary: "Get all the fields and values in a hash",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) where N is the size of the hash.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS)],
        run: hgetall,
        ..Spec::BASE
    },
    Spec {
        name: "hincrby",
        usage: "HINCRBY key field increment",
        summary: "Increment the integer value of a hash field by the given number",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: hincrby,
        ..Spec::BASE
    },
    Spec {
        name: "hincrbyfloat",
        usage: "HINCRBYFLOAT key field increment<double>",
        summary: "Increment the float value of a hash field by the given amount",
        since: "2.6.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: hincrbyfloat,
        ..Spec::BASE
    },
    Spec {
        name: "hkeys",
        usage: "HKEYS key",
        summary: "Get all the fields in a hash",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) where N is the size of the hash.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS)],
        run: hkeys,
        ..Spec::BASE
    },
    Spec {
        name: "hlen",
        usage: "HLEN key",
        summary: "Get the number of fields in a hash",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: hlen,
        ..Spec::BASE
    },
    Spec {
        name: "hmget",
        usage: "HMGET key field...",
        summary: "Get the values of all the given hash fields",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) where N is the number of fields being requested.",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: hmget,
        ..Spec::BASE
    },
    Spec {
        name: "hmset",
        usage: "HMSET key field_value=(field value)...",
        summary: "Set multiple hash fields to multiple values",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) where N is the number of fields being set.",
        deprecated: Some(("4.0.0", "`HSET` with multiple field-value pairs")),
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: hmset,
        ..Spec::BASE
    },
    Spec {
        name: "hrandfield",
        usage: "HRANDFIELD key options=[count [WITHVALUES]]",
        summary: "Get one or multiple random fields from a hash",
        since: "6.2.0",
        group: Group::Hash,
        complexity: "O(N) where N is the number of fields returned",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: hrandfield,
        ..Spec::BASE
    },
    Spec {
        name: "hscan",
        usage: "HSCAN key cursor [MATCH pattern] [COUNT count]",
        summary: "Incrementally iterate hash fields and associated values",
        since: "2.8.0",
        group: Group::Hash,
        complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection..",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: hscan,
        ..Spec::BASE
    },
    Spec {
        name: "hset",
        usage: "HSET key field_value=(field value)...",
        summary: "Set the string value of a hash field",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1) for each field/value pair added, so O(N) to add N field/value pairs when the command is called with multiple field/value pairs.",
        history: &[("4.0.0", "Accepts multiple `field` and `value` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: hset,
        ..Spec::BASE
    },
    Spec {
        name: "hsetnx",
        usage: "HSETNX key field value",
        summary: "Set the value of a hash field, only if the field does not exist",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: hsetnx,
        ..Spec::BASE
    },
    Spec {
        name: "hstrlen",
        usage: "HSTRLEN key field",
        summary: "Get the length of the value of a hash field",
        since: "3.2.0",
        group: Group::Hash,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: hstrlen,
        ..Spec::BASE
    },
    Spec {
        name: "hvals",
        usage: "HVALS key",
        summary: "Get all the values in a hash",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) where N is the size of the hash.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS)],
        run: hvals,
        ..Spec::BASE
    },
];

/// The hash at a key, for reading.
fn read_hash<'a>(cx: &'a mut Ctx<'_>, key: &[u8]) -> Result<Option<&'a Hash>, Failure> {
    cx.read(key).map(|entry| entry.value().as_hash()).transpose()
}

fn hset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let created = set_fields(cx, argv, "hset")?;
    out.int(created as i64);
    Ok(Flow::Done)
}

fn hmset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    set_fields(cx, argv, "hmset")?;
    out.ok();
    Ok(Flow::Done)
}

/// Sets the fields of HSET and HMSET; answers how many are new.
fn set_fields(cx: &mut Ctx<'_>, argv: Argv<'_>, command: &str) -> Result<usize, Failure> {
    let (pairs, []) = argv[2..].as_chunks::<2>() else { return Err(Failure::Arity(command.to_owned())) };
    let limits = cx.state.config.hash_limits();
    let mut edit = cx.edit_or(argv[1], || Value::Hash(Default::default()));
    edit.value().as_hash()?;
    let hash = edit.value_mut().as_hash_mut()?;
    let longest = argv[2..].iter().map(|word| word.len()).max().unwrap_or(0);
    hash.prepare(longest, &limits);
    let created = pairs.iter().filter(|[field, value]| hash.insert(field, value, &limits)).count();
    edit.commit(Event::hash("hset"));
    Ok(created)
}

fn hsetnx(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let limits = cx.state.config.hash_limits();
    let mut edit = cx.edit_or(argv[1], || Value::Hash(Default::default()));
    let free = !edit.value().as_hash()?.contains(argv[2]);
    if free {
        edit.value_mut().as_hash_mut()?.insert(argv[2], argv[3], &limits);
        edit.commit(Event::hash("hset"));
    } else {
        edit.unchanged();
    }
    out.int(i64::from(free));
    Ok(Flow::Done)
}

fn hincrby(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let increment = int(argv[3])?;
    let limits = cx.state.config.hash_limits();
    let mut edit = cx.edit_or(argv[1], || Value::Hash(Default::default()));
    let old = match edit.value().as_hash()?.get(argv[2]) {
        Some(text) => parse_i64(text).ok_or(Failure::HASH_NOT_INTEGER)?,
        None => 0,
    };
    let new = old.checked_add(increment).ok_or(Failure::Overflow)?;
    let mut text = itoa::Buffer::new();
    edit.value_mut().as_hash_mut()?.insert(argv[2], text.format(new).as_bytes(), &limits);
    edit.commit(Event::hash("hincrby"));
    out.int(new);
    Ok(Flow::Done)
}

fn hincrbyfloat(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let increment = LongDouble::parse(argv[3]).ok_or(Failure::NotFloat)?;
    if increment.is_nan() || increment.is_infinite() {
        return Err(Failure::NAN_INCREMENT);
    }
    let limits = cx.state.config.hash_limits();
    let mut edit = cx.edit_or(argv[1], || Value::Hash(Default::default()));
    let old = match edit.value().as_hash()?.get(argv[2]) {
        Some(text) => LongDouble::parse(text).ok_or(Failure::HASH_NOT_FLOAT)?,
        None => LongDouble::ZERO,
    };
    let sum = old + increment;
    if sum.is_nan() || sum.is_infinite() {
        return Err(Failure::NAN_RESULT);
    }
    let mut text = Vec::new();
    sum.write_human(&mut text);
    edit.value_mut().as_hash_mut()?.insert(argv[2], &text, &limits);
    edit.commit(Event::hash("hincrbyfloat"));
    out.bulk(&text);
    cx.propagate(&[b"HSET", argv[1], argv[2], &text]);
    Ok(Flow::Done)
}

fn hdel(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut removed = 0;
    if let Some(mut edit) = cx.edit(argv[1]) {
        edit.value().as_hash()?;
        let hash = edit.value_mut().as_hash_mut()?;
        removed = argv[2..].iter().filter(|field| hash.remove(field)).count();
        edit.commit_removal(removed, Event::hash("hdel"));
    }
    out.int(removed as i64);
    Ok(Flow::Done)
}

fn hget(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let hash = read_hash(cx, argv[1])?;
    out.bulk_or_nil(hash.and_then(|hash| hash.get(argv[2])));
    Ok(Flow::Done)
}

fn hmget(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let hash = read_hash(cx, argv[1])?;
    out.array(argv.len() - 2);
    for field in &argv[2..] {
        out.bulk_or_nil(hash.and_then(|hash| hash.get(field)));
    }
    Ok(Flow::Done)
}

fn hexists(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let found = read_hash(cx, argv[1])?.is_some_and(|hash| hash.contains(argv[2]));
    out.int(i64::from(found));
    Ok(Flow::Done)
}

fn hlen(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let len = read_hash(cx, argv[1])?.map_or(0, Hash::len);
    out.int(len as i64);
    Ok(Flow::Done)
}

fn hstrlen(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let value = read_hash(cx, argv[1])?.and_then(|hash| hash.get(argv[2]));
    out.int(value.map_or(0, <[u8]>::len) as i64);
    Ok(Flow::Done)
}

fn hgetall(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match read_hash(cx, argv[1])? {
        None => out.map(0),
        Some(hash) => {
            out.map(hash.len());
            for (field, value) in hash.iter() {
                out.bulk(field);
                out.bulk(value);
            }
        }
    }
    Ok(Flow::Done)
}

fn hkeys(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let hash = read_hash(cx, argv[1])?;
    out.array(hash.map_or(0, Hash::len));
    hash.into_iter().flat_map(Hash::iter).for_each(|(field, _)| out.bulk(field));
    Ok(Flow::Done)
}

fn hvals(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let hash = read_hash(cx, argv[1])?;
    out.array(hash.map_or(0, Hash::len));
    hash.into_iter().flat_map(Hash::iter).for_each(|(_, value)| out.bulk(value));
    Ok(Flow::Done)
}

fn hrandfield(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let draw = if argv.len() > 2 { Some(Draw::parse(argv, Some("withvalues"))?) } else { None };
    let flat = cx.resp() == Resp::V2;
    cx.with_rng(|cx, rng| {
        let hash = read_hash(cx, argv[1])?;
        let field = |index| hash.and_then(|hash| hash.nth(index));
        let len = hash.map_or(0, Hash::len);
        match draw {
            None => out.bulk_or_nil(field(rng.below(len as u64) as usize).map(|(field, _)| field)),
            Some(_) if hash.is_none() => out.array(0),
            Some(draw) => draw.reply(rng, len, flat, out, |out, index| {
                let (field, value) = field(index).unwrap_or_default();
                if draw.paired && !flat {
                    out.array(2);
                }
                out.bulk(field);
                if draw.paired {
                    out.bulk(value);
                }
            })?,
        }
        Ok(Flow::Done)
    })
}

fn hscan(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let begun = scan::begin(cx, argv, |value| value.as_hash().map(Hash::len))?;
    let Some((value, cursor, options)) = begun else {
        scan::reply(out, 0, 0, &Reply::new());
        return Ok(Flow::Done);
    };
    let hash = value.as_hash_mut()?;
    let (mut found, mut len) = (Reply::new(), 0);
    let next = hash.scan(cursor, options.count, |field, value| {
        if options.matches(field) {
            found.bulk(field);
            found.bulk(value);
            len += 2;
        }
    });
    scan::reply(out, next, len, &found);
    Ok(Flow::Done)
}
