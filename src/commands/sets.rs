//! Sets: adding, removing and asking for members, also for random ones and step by step. Unions and the like are in
//! `set_algebra`; the value structure is `value::set`.

use crate::command::args::positive;
use crate::command::random::Draw;
use crate::command::scan;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::util::bytes::Bytes;
use crate::util::rng::Rng;
use crate::value::Value;
use crate::value::set::Set;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "sadd",
        usage: "SADD key member...",
        summary: "Add one or more members to a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
        history: &[("2.4.0", "Accepts multiple `member` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: sadd,
        ..Spec::BASE
    },
    Spec {
        name: "scard",
        usage: "SCARD key",
        summary: "Get the number of members in a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: scard,
        ..Spec::BASE
    },
    Spec {
        name: "sismember",
        usage: "SISMEMBER key member",
        summary: "Determine if a given value is a member of a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: sismember,
        ..Spec::BASE
    },
    Spec {
        name: "smembers",
        usage: "SMEMBERS key",
        summary: "Get all the members in a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) where N is the set cardinality.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS)],
        run: smembers,
        ..Spec::BASE
    },
    Spec {
        name: "smismember",
        usage: "SMISMEMBER key member...",
        summary: "Returns the membership associated with the given elements for a set",
        since: "6.2.0",
        group: Group::Set,
        complexity: "O(N) where N is the number of elements being checked for membership",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: smismember,
        ..Spec::BASE
    },
    Spec {
        name: "smove",
        usage: "SMOVE source destination member",
        summary: "Move a member from one set to another",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1)",
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)],
        run: smove,
        ..Spec::BASE
    },
    Spec {
        name: "spop",
        usage: "SPOP key [count@3.2.0]",
        summary: "Remove and return one or multiple random members from a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "Without the count argument O(1), otherwise O(N) where N is the value of the passed count.",
        history: &[("3.2.0", "Added the `count` argument.")],
        flags: WRITE | FAST,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RW | ACCESS | DELETE)],
        run: spop,
        ..Spec::BASE
    },
    Spec {
        name: "srandmember",
        usage: "SRANDMEMBER key [count@2.6.0]",
        summary: "Get one or multiple random members from a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "Without the count argument O(1), otherwise O(N) where N is the absolute value of the passed count.",
        history: &[("2.6.0", "Added the optional `count` argument.")],
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: srandmember,
        ..Spec::BASE
    },
    Spec {
        name: "srem",
        usage: "SREM key member...",
        summary: "Remove one or more members from a set",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) where N is the number of members to be removed.",
        history: &[("2.4.0", "Accepts multiple `member` arguments.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | DELETE)],
        run: srem,
        ..Spec::BASE
    },
    Spec {
        name: "sscan",
        usage: "SSCAN key cursor [MATCH pattern] [COUNT count]",
        summary: "Incrementally iterate Set elements",
        since: "2.8.0",
        group: Group::Set,
        complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection..",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: sscan,
        ..Spec::BASE
    },
];

/// The set at a key, for reading.
fn read_set<'a>(cx: &'a mut Ctx<'_>, key: &[u8]) -> Result<Option<&'a Set>, Failure> {
    cx.read(key).map(|entry| entry.value().as_set()).transpose()
}

fn sadd(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let max_intset_entries = cx.state.config.set_max_intset_entries as usize;
    let mut edit = cx.edit_or(argv[1], || Value::Set(Default::default()));
    edit.value().as_set()?;
    let set = edit.value_mut().as_set_mut()?;
    let added = argv[2..].iter().filter(|member| set.insert(member, max_intset_entries)).count();
    if added > 0 {
        edit.commit(Event::set("sadd"));
    } else {
        edit.unchanged();
    }
    out.int(added as i64);
    Ok(Flow::Done)
}

fn srem(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut removed = 0;
    if let Some(mut edit) = cx.edit(argv[1]) {
        edit.value().as_set()?;
        let set = edit.value_mut().as_set_mut()?;
        removed = argv[2..].iter().filter(|member| set.remove(member)).count();
        edit.commit_removal(removed, Event::set("srem"));
    }
    out.int(removed as i64);
    Ok(Flow::Done)
}

fn scard(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let len = read_set(cx, argv[1])?.map_or(0, Set::len);
    out.int(len as i64);
    Ok(Flow::Done)
}

fn sismember(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let found = read_set(cx, argv[1])?.is_some_and(|set| set.contains(argv[2]));
    out.int(i64::from(found));
    Ok(Flow::Done)
}

fn smismember(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let set = read_set(cx, argv[1])?;
    out.array(argv.len() - 2);
    for member in &argv[2..] {
        out.int(i64::from(set.is_some_and(|set| set.contains(member))));
    }
    Ok(Flow::Done)
}

fn smembers(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match read_set(cx, argv[1])? {
        None => out.set(0),
        Some(set) => {
            out.set(set.len());
            set.iter().for_each(|member| out.bulk(&member));
        }
    }
    Ok(Flow::Done)
}

fn smove(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (source, destination, member) = (argv[1], argv[2], argv[3]);
    let moved = move_member(cx, source, destination, member)?;
    out.int(i64::from(moved));
    Ok(Flow::Done)
}

/// Moves a member from one set to another; false when it is not in the first.
fn move_member(cx: &mut Ctx<'_>, source: &[u8], destination: &[u8], member: &[u8]) -> Result<bool, Failure> {
    let max_intset_entries = cx.state.config.set_max_intset_entries as usize;
    let (is_there, goes_somewhere) = (cx.has(source), cx.has(destination));
    if !is_there {
        return Ok(false);
    }
    let Some(mut edit) = cx.edit(source) else { return Ok(false) };
    let found = edit.value().as_set()?.contains(member);
    if goes_somewhere {
        edit.unchanged();
        check_set(cx, destination)?;
        let Some(again) = cx.edit(source) else { return Ok(false) };
        edit = again;
    }
    if !found || source == destination {
        edit.unchanged();
        return Ok(found);
    }
    edit.value_mut().as_set_mut()?.remove(member);
    edit.commit_removal(1, Event::set("srem"));
    let mut edit = cx.edit_or(destination, || Value::Set(Default::default()));
    if edit.value_mut().as_set_mut()?.insert(member, max_intset_entries) {
        edit.commit(Event::set("sadd"));
    } else {
        edit.unchanged();
    }
    Ok(true)
}

fn check_set(cx: &mut Ctx<'_>, key: &[u8]) -> Result<(), Failure> {
    let Some(edit) = cx.edit(key) else { return Ok(()) };
    let checked = edit.value().as_set().map(|_| ());
    edit.unchanged();
    checked
}

fn spop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match argv {
        [_, key] => pop_one(cx, key, out),
        [_, key, count] => {
            let count = positive(count)? as usize;
            cx.with_rng(|cx, rng| pop_many(cx, rng, key, count, out))
        }
        _ => Err(Failure::Syntax),
    }
}

fn pop_one(cx: &mut Ctx<'_>, key: &[u8], out: &mut Reply) -> Result<Flow, Failure> {
    let popped = cx.with_rng(|cx, rng| {
        let Some(mut edit) = cx.edit(key) else { return Ok(None) };
        let len = edit.value().as_set()?.len();
        let popped = edit.value_mut().as_set_mut()?.take(rng.below(len as u64) as usize);
        edit.commit_removal(1, Event::set("spop"));
        Ok::<_, Failure>(popped)
    })?;
    out.bulk_or_nil(popped.as_deref());
    if let Some(member) = &popped {
        cx.propagate(&[b"SREM", key, member]);
    }
    Ok(Flow::Done)
}

/// All members go as the key goes; some go as so many removals.
fn pop_many(
    cx: &mut Ctx<'_>,
    rng: &mut Rng,
    key: &[u8],
    count: usize,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    /// What is left is so little, compared with what goes, that the server makes a set of it anew.
    const FEW_LEFT: usize = 5;
    let max_intset_entries = cx.state.config.set_max_intset_entries as usize;
    let Some(mut edit) = cx.edit(key) else {
        out.set(0);
        return Ok(Flow::Done);
    };
    let set = edit.value().as_set()?;
    let left = set.len().saturating_sub(count);
    if count > 0 && left == 0 {
        out.set(set.len());
        set.iter().for_each(|member| out.bulk(&member));
        edit.notify(Event::set("spop"));
        edit.remove(Event::generic("del"));
        cx.propagate(&[b"DEL", key]);
        return Ok(Flow::Done);
    }
    let set = edit.value_mut().as_set_mut()?;
    let popped: Vec<Bytes> =
        (0..count).filter_map(|_| set.take(rng.below(set.len() as u64) as usize)).collect();
    if left * FEW_LEFT <= count {
        set.compact(max_intset_entries);
    }
    edit.commit_removal(count, Event::set("spop"));
    out.set(popped.len());
    for member in &popped {
        out.bulk(member);
        cx.propagate(&[b"SREM", key, member]);
    }
    Ok(Flow::Done)
}

fn srandmember(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let draw = if argv.len() > 2 { Some(Draw::parse(argv, None)?) } else { None };
    cx.with_rng(|cx, rng| {
        let set = read_set(cx, argv[1])?;
        let member = |index| set.and_then(|set| set.nth(index));
        let len = set.map_or(0, Set::len);
        match draw {
            None => out.bulk_or_nil(member(rng.below(len as u64) as usize).as_deref()),
            Some(_) if set.is_none() => out.array(0),
            Some(draw) => {
                draw.reply(rng, len, true, out, |out, index| out.bulk_or_nil(member(index).as_deref()))?;
            }
        }
        Ok(Flow::Done)
    })
}

fn sscan(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let begun = scan::begin(cx, argv, |value| value.as_set().map(Set::len))?;
    let Some((value, cursor, options)) = begun else {
        scan::reply(out, 0, 0, &Reply::new());
        return Ok(Flow::Done);
    };
    let set = value.as_set_mut()?;
    let (mut found, mut len) = (Reply::new(), 0);
    let next = set.scan(cursor, options.count, |member| {
        if options.matches(member) {
            found.bulk(member);
            len += 1;
        }
    });
    scan::reply(out, next, len, &found);
    Ok(Flow::Done)
}
