//! Sets combined: unions, intersections and differences, answered, counted or stored. Single sets are in `sets`.

use crate::command::args::{Args, is, positive};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
use crate::util::bytes::Bytes;
use crate::util::num::parse_i64;
use crate::value::Value;
use crate::value::set::Set;
use std::sync::Arc;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "sdiff",
        usage: "SDIFF key...",
        summary: "Subtract multiple sets",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) where N is the total number of elements in all given sets.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS).range(-1, 1, 0)],
        run: sdiff,
        ..Spec::BASE
    },
    Spec {
        name: "sdiffstore",
        usage: "SDIFFSTORE destination key...",
        summary: "Subtract multiple sets and store the resulting set in a key",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) where N is the total number of elements in all given sets.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS).range(-1, 1, 0)],
        run: sdiffstore,
        ..Spec::BASE
    },
    Spec {
        name: "sinter",
        usage: "SINTER key...",
        summary: "Intersect multiple sets",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS).range(-1, 1, 0)],
        run: sinter,
        ..Spec::BASE
    },
    Spec {
        name: "sintercard",
        usage: "SINTERCARD numkeys key... [LIMIT limit]",
        summary: "Intersect multiple sets and return the cardinality of the result",
        since: "7.0.0",
        group: Group::Set,
        complexity: "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS).counted(0, 1, 1)],
        run: sintercard,
        ..Spec::BASE
    },
    Spec {
        name: "sinterstore",
        usage: "SINTERSTORE destination key...",
        summary: "Intersect multiple sets and store the resulting set in a key",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | UPDATE), at(2, RO | ACCESS).range(-1, 1, 0)],
        run: sinterstore,
        ..Spec::BASE
    },
    Spec {
        name: "sunion",
        usage: "SUNION key...",
        summary: "Add multiple sets",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) where N is the total number of elements in all given sets.",
        flags: READONLY,
        tips: &["nondeterministic_output_order"],
        keys: &[at(1, RO | ACCESS).range(-1, 1, 0)],
        run: sunion,
        ..Spec::BASE
    },
    Spec {
        name: "sunionstore",
        usage: "SUNIONSTORE destination key...",
        summary: "Add multiple sets and store the resulting set in a key",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) where N is the total number of elements in all given sets.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS).range(-1, 1, 0)],
        run: sunionstore,
        ..Spec::BASE
    },
];

/// A member takes about as long as so many bytes.
pub(super) const MEMBER_BYTES: usize = 64;

/// The sets at the keys; None where there is none.
type Sets = Vec<Option<Arc<Set>>>;

fn read_sets(cx: &mut Ctx<'_>, keys: &[&[u8]]) -> Result<Sets, Failure> {
    let read = |key: &&[u8]| match cx.read(key).map(|entry| entry.value()) {
        None => Ok(None),
        Some(Value::Set(set)) => Ok(Some(set.clone())),
        Some(_) => Err(Failure::WrongType),
    };
    keys.iter().map(read).collect()
}

/// Notes what it takes to walk all of the sets.
fn note_walk(cx: &mut Ctx<'_>, sets: &Sets) {
    cx.note_work(sets.iter().flatten().map(|set| set.len()).sum::<usize>() * MEMBER_BYTES);
}

/// Notes what it takes to ask all sets for the members of the smallest.
fn note_intersection(cx: &mut Ctx<'_>, sets: &Sets) {
    let smallest = sets.iter().map(|set| set.as_ref().map_or(0, |set| set.len())).min();
    cx.note_work(smallest.unwrap_or(0) * sets.len() * MEMBER_BYTES);
}

/// The members that all sets have, the smallest set walked; none when a set is missing.
fn intersection(sets: Sets) -> impl Iterator<Item = Bytes> {
    let mut sets: Vec<_> = sets.into_iter().collect::<Option<_>>().unwrap_or_default();
    sets.sort_by_key(|set| set.len());
    let walked = sets.first().cloned();
    let others = sets.into_iter().skip(1).collect::<Vec<_>>();
    let len = walked.as_ref().map_or(0, |set| set.len());
    let members = (0..len).filter_map(move |index| walked.as_ref().and_then(|set| set.nth(index)));
    members.filter(move |member| others.iter().all(|set| set.contains(member)))
}

fn union(sets: &Sets, max_intset_entries: usize) -> Set {
    let mut all = Set::new();
    for member in sets.iter().flatten().flat_map(|set| set.iter()) {
        all.insert(&member, max_intset_entries);
    }
    all
}

/// The members of the first set that no other has. The server has two ways to find them, and which one it takes shows in
/// the form of the result: what was added and removed again may have made a table of it.
fn difference(sets: &Sets, max_intset_entries: usize) -> Set {
    let mut left = Set::new();
    let Some((Some(first), others)) = sets.split_first() else { return left };
    let others: Vec<_> = others.iter().flatten().collect();
    if others.iter().any(|other| Arc::ptr_eq(first, other)) {
        return left;
    }
    let by_asking = first.len() * (others.len() + 1) / 2;
    let by_removing = first.len() + others.iter().map(|other| other.len()).sum::<usize>();
    if by_asking <= by_removing {
        for member in first.iter().filter(|member| !others.iter().any(|other| other.contains(member))) {
            left.insert(&member, max_intset_entries);
        }
        return left;
    }
    for member in first.iter() {
        left.insert(&member, max_intset_entries);
    }
    for member in others.iter().flat_map(|other| other.iter()) {
        left.remove(&member);
    }
    left
}

fn reply(set: &Set, out: &mut Reply) -> Flow {
    out.set(set.len());
    set.iter().for_each(|member| out.bulk(&member));
    Flow::Done
}

/// Stores a result, or removes the key when there is nothing to store.
fn store(cx: &mut Ctx<'_>, key: &[u8], set: Set, event: Event, out: &mut Reply) -> Flow {
    out.int(set.len() as i64);
    if set.is_empty() {
        cx.discard(key, Event::generic("del"));
    } else {
        cx.put(key, Value::Set(Arc::new(set)), Expiry::Clear, event);
    }
    Flow::Done
}

fn max_intset_entries(cx: &Ctx<'_>) -> usize {
    cx.state.config.set_max_intset_entries as usize
}

fn sinter(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sets = read_sets(cx, &argv[1..])?;
    note_intersection(cx, &sets);
    let list = out.deferred_set();
    let len = intersection(sets).inspect(|member| out.bulk(member)).count();
    out.close(list, len);
    Ok(Flow::Done)
}

fn sinterstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sets = read_sets(cx, &argv[2..])?;
    note_intersection(cx, &sets);
    let mut common = Set::new();
    intersection(sets).for_each(|member| {
        common.insert(&member, max_intset_entries(cx));
    });
    Ok(store(cx, argv[1], common, Event::set("sinterstore"), out))
}

fn sintercard(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let numkeys = parse_i64(argv[1]).filter(|&numkeys| numkeys > 0).ok_or(Failure::NUMKEYS_NOT_POSITIVE)?;
    let numkeys = usize::try_from(numkeys).unwrap_or(usize::MAX);
    let (keys, options) = argv[2..].split_at_checked(numkeys).ok_or(Failure::TOO_MANY_KEYS)?;
    let mut limit = 0;
    let mut options = Args::new(options, 0);
    while let Some(word) = options.next() {
        if !is(word, "LIMIT") {
            return Err(Failure::Syntax);
        }
        limit = positive(options.word()?).map_err(|_| Failure::NEGATIVE_LIMIT)? as usize;
    }
    let sets = read_sets(cx, keys)?;
    note_intersection(cx, &sets);
    let count = intersection(sets).take(if limit == 0 { usize::MAX } else { limit }).count();
    out.int(count as i64);
    Ok(Flow::Done)
}

fn sunion(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sets = read_sets(cx, &argv[1..])?;
    note_walk(cx, &sets);
    Ok(reply(&union(&sets, max_intset_entries(cx)), out))
}

fn sunionstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sets = read_sets(cx, &argv[2..])?;
    note_walk(cx, &sets);
    let all = union(&sets, max_intset_entries(cx));
    Ok(store(cx, argv[1], all, Event::set("sunionstore"), out))
}

fn sdiff(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sets = read_sets(cx, &argv[1..])?;
    note_walk(cx, &sets);
    Ok(reply(&difference(&sets, max_intset_entries(cx)), out))
}

fn sdiffstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let sets = read_sets(cx, &argv[2..])?;
    note_walk(cx, &sets);
    let left = difference(&sets, max_intset_entries(cx));
    Ok(store(cx, argv[1], left, Event::set("sdiffstore"), out))
}
