//! Sets: adding, removing and asking for members. Their value structure is `value::set`.

use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
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
