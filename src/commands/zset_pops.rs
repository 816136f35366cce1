//! Sorted sets as queues: taking from the lowest or the highest end, of one or of the first of several, and the forms
//! that wait until there is a member. The other commands are in `zsets`; how a session waits is in `engine::blocking`.

use crate::command::args::{first_of, is, positive};
use crate::command::blocking::{WaitOn, timeout_in_seconds};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::{Edit, Event};
use crate::util::num::{NumBuf, format_u64};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "bzmpop",
        usage: "BZMPOP timeout numkeys key... where=(MIN|MAX) [COUNT count]",
        summary: "Remove and return members with scores in a sorted set or block until one is available",
        since: "7.0.0",
        group: Group::SortedSet,
        complexity: "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of elements in the sorted set, and M being the number of elements popped.",
        flags: WRITE | BLOCKING,
        keys: &[at(2, RW | ACCESS | DELETE).counted(0, 1, 1)],
        run: bzmpop,
        ..Spec::BASE
    },
    Spec {
        name: "bzpopmax",
        usage: "BZPOPMAX key... timeout",
        summary: "Remove and return the member with the highest score from one or more sorted sets, or block until one is available",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) with N being the number of elements in the sorted set.",
        history: &[("6.0.0", "`timeout` is interpreted as a double instead of an integer.")],
        flags: WRITE | NOSCRIPT | BLOCKING | FAST,
        keys: &[at(1, RW | ACCESS | DELETE).range(-2, 1, 0)],
        run: bzpopmax,
        ..Spec::BASE
    },
    Spec {
        name: "bzpopmin",
        usage: "BZPOPMIN key... timeout",
        summary: "Remove and return the member with the lowest score from one or more sorted sets, or block until one is available",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) with N being the number of elements in the sorted set.",
        history: &[("6.0.0", "`timeout` is interpreted as a double instead of an integer.")],
        flags: WRITE | NOSCRIPT | BLOCKING | FAST,
        keys: &[at(1, RW | ACCESS | DELETE).range(-2, 1, 0)],
        run: bzpopmin,
        ..Spec::BASE
    },
    Spec {
        name: "zmpop",
        usage: "ZMPOP numkeys key... where=(MIN|MAX) [COUNT count]",
        summary: "Remove and return members with scores in a sorted set",
        since: "7.0.0",
        group: Group::SortedSet,
        complexity: "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of elements in the sorted set, and M being the number of elements popped.",
        flags: WRITE,
        keys: &[at(1, RW | ACCESS | DELETE).counted(0, 1, 1)],
        run: zmpop,
        ..Spec::BASE
    },
    Spec {
        name: "zpopmax",
        usage: "ZPOPMAX key [count]",
        summary: "Remove and return members with the highest scores in a sorted set",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)*M) with N being the number of elements in the sorted set, and M being the number of elements popped.",
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE)],
        run: zpopmax,
        ..Spec::BASE
    },
    Spec {
        name: "zpopmin",
        usage: "ZPOPMIN key [count]",
        summary: "Remove and return members with the lowest scores in a sorted set",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)*M) with N being the number of elements in the sorted set, and M being the number of elements popped.",
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE)],
        run: zpopmin,
        ..Spec::BASE
    },
];

/// An end of a sorted set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Lowest,
    Highest,
}

impl End {
    fn parse(word: &[u8]) -> Result<End, Failure> {
        if is(word, "MIN") {
            Ok(End::Lowest)
        } else if is(word, "MAX") {
            Ok(End::Highest)
        } else {
            Err(Failure::Syntax)
        }
    }
    /// The command that takes from this end.
    fn pop(self) -> &'static [u8] {
        match self {
            End::Lowest => b"ZPOPMIN",
            End::Highest => b"ZPOPMAX",
        }
    }
    fn popped(self) -> Event {
        Event::zset(match self {
            End::Lowest => "zpopmin",
            End::Highest => "zpopmax",
        })
    }
}

/// Takes up to `count` members from an end; each is a bulk string and a score, `nested` in an array or not.
fn take(mut edit: Edit<'_>, end: End, count: usize, nested: bool, out: &mut Reply) -> Result<usize, Failure> {
    let zset = edit.value().as_zset()?;
    let (len, taken) = (zset.len(), count.min(zset.len()));
    let mut each = |(member, score): (&[u8], f64)| {
        if nested {
            out.array(2);
        }
        out.bulk(member);
        out.double(score);
    };
    let ranks = match end {
        End::Lowest => 0..taken,
        End::Highest => len - taken..len,
    };
    match end {
        End::Lowest => zset.range(ranks.clone()).for_each(&mut each),
        End::Highest => zset.range(ranks.clone()).rev().for_each(&mut each),
    }
    if taken > 0 {
        edit.value_mut().as_zset_mut()?.remove_range(ranks);
    }
    edit.commit_removal(taken, end.popped());
    Ok(taken)
}

fn zpopmin(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    pop(cx, argv, End::Lowest, out)
}

fn zpopmax(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    pop(cx, argv, End::Highest, out)
}

fn pop(cx: &mut Ctx<'_>, argv: Argv<'_>, end: End, out: &mut Reply) -> Result<Flow, Failure> {
    let count = match argv[2..] {
        [] => None,
        [count] => Some(positive(count)? as usize),
        _ => return Err(Failure::Syntax),
    };
    let nested = cx.resp() == Resp::V3 && count.is_some();
    let Some(edit) = cx.edit(argv[1]) else {
        out.array(0);
        return Ok(Flow::Done);
    };
    let taken = count.unwrap_or(1).min(edit.value().as_zset()?.len());
    out.array(if nested { taken } else { taken * 2 });
    take(edit, end, taken, nested, out)?;
    Ok(Flow::Done)
}

/// Takes from the first of the keys that there is: name, member and score, or with a count name and pairs. False when
/// there is none.
fn take_first(
    cx: &mut Ctx<'_>,
    keys: &[&[u8]],
    end: End,
    count: Option<usize>,
    out: &mut Reply,
) -> Result<bool, Failure> {
    for &key in keys {
        if !cx.may_take_from(key) {
            continue;
        }
        let Some(edit) = cx.edit(key) else { continue };
        let len = edit.value().as_zset()?.len();
        out.array(if count.is_some() { 2 } else { 3 });
        out.bulk(key);
        if let Some(count) = count {
            out.array(count.min(len));
        }
        let taken = take(edit, end, count.unwrap_or(1), count.is_some(), out)?;
        match count {
            None => cx.propagate(&[end.pop(), key]),
            Some(_) => cx.propagate(&[end.pop(), key, format_u64(&mut NumBuf::new(), taken as u64)]),
        }
        return Ok(true);
    }
    Ok(false)
}

fn zmpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (keys, end, count) = first_of(argv, 1, End::parse)?;
    if !take_first(cx, keys, end, Some(count), out)? {
        out.nil_array();
    }
    Ok(Flow::Done)
}

fn bzmpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (keys, end, count) = first_of(argv, 2, End::parse)?;
    take_or_wait(cx, keys, argv[1], end, Some(count), argv, out)
}

fn bzpopmin(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let [_, keys @ .., timeout] = argv else { return Err(Failure::Syntax) };
    take_or_wait(cx, keys, timeout, End::Lowest, None, argv, out)
}

fn bzpopmax(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let [_, keys @ .., timeout] = argv else { return Err(Failure::Syntax) };
    take_or_wait(cx, keys, timeout, End::Highest, None, argv, out)
}

/// Takes what is there; where there is nothing the session waits, or is told so where it cannot.
fn take_or_wait(
    cx: &mut Ctx<'_>,
    keys: &[&[u8]],
    timeout: &[u8],
    end: End,
    count: Option<usize>,
    argv: Argv<'_>,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let deadline_ms = timeout_in_seconds(cx, timeout)?;
    if take_first(cx, keys, end, count, out)? {
        return Ok(Flow::Done);
    }
    if cx.can_block() {
        return Ok(cx.wait(WaitOn::ZSet, keys, deadline_ms, argv));
    }
    out.nil_array();
    Ok(Flow::Done)
}
