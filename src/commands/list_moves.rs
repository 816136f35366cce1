//! Lists as queues: taking from the first of several, moving an element from one to another, and the forms of both that
//! wait until there is one. The other list commands are in `lists`; how a session waits is in `engine::blocking`.

use crate::command::args::{first_of, is};
use crate::command::blocking::{WaitOn, timeout_in_seconds};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Edit, Event};
use crate::util::bytes::Bytes;
use crate::util::num::{NumBuf, format_u64};
use crate::value::Value;
use crate::value::list::List;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "blmove",
        usage: "BLMOVE source destination wherefrom=(LEFT|RIGHT) whereto=(LEFT|RIGHT) timeout",
        summary: "Pop an element from a list, push it to another list and return it; or block until one is available",
        since: "6.2.0",
        group: Group::List,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | NOSCRIPT | BLOCKING,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)],
        run: blmove,
        ..Spec::BASE
    },
    Spec {
        name: "blmpop",
        usage: "BLMPOP timeout numkeys key... where=(LEFT|RIGHT) [COUNT count]",
        summary: "Pop elements from a list, or block until one is available",
        since: "7.0.0",
        group: Group::List,
        complexity: "O(N+M) where N is the number of provided keys and M is the number of elements returned.",
        flags: WRITE | BLOCKING,
        keys: &[at(2, RW | ACCESS | DELETE).counted(0, 1, 1)],
        run: blmpop,
        ..Spec::BASE
    },
    Spec {
        name: "blpop",
        usage: "BLPOP key... timeout",
        summary: "Remove and get the first element in a list, or block until one is available",
        since: "2.0.0",
        group: Group::List,
        complexity: "O(N) where N is the number of provided keys.",
        history: &[("6.0.0", "`timeout` is interpreted as a double instead of an integer.")],
        flags: WRITE | NOSCRIPT | BLOCKING,
        keys: &[at(1, RW | ACCESS | DELETE).range(-2, 1, 0)],
        run: blpop,
        ..Spec::BASE
    },
    Spec {
        name: "brpop",
        usage: "BRPOP key... timeout",
        summary: "Remove and get the last element in a list, or block until one is available",
        since: "2.0.0",
        group: Group::List,
        complexity: "O(N) where N is the number of provided keys.",
        history: &[("6.0.0", "`timeout` is interpreted as a double instead of an integer.")],
        flags: WRITE | NOSCRIPT | BLOCKING,
        keys: &[at(1, RW | ACCESS | DELETE).range(-2, 1, 0)],
        run: brpop,
        ..Spec::BASE
    },
    Spec {
        name: "brpoplpush",
        usage: "BRPOPLPUSH source destination timeout",
        summary: "Pop an element from a list, push it to another list and return it; or block until one is available",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(1)",
        history: &[("6.0.0", "`timeout` is interpreted as a double instead of an integer.")],
        deprecated: Some(("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments")),
        flags: WRITE | DENYOOM | NOSCRIPT | BLOCKING,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)],
        run: brpoplpush,
        ..Spec::BASE
    },
    Spec {
        name: "lmove",
        usage: "LMOVE source destination wherefrom=(LEFT|RIGHT) whereto=(LEFT|RIGHT)",
        summary: "Pop an element from a list, push it to another list and return it",
        since: "6.2.0",
        group: Group::List,
        complexity: "O(1)",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)],
        run: lmove,
        ..Spec::BASE
    },
    Spec {
        name: "lmpop",
        usage: "LMPOP numkeys key... where=(LEFT|RIGHT) [COUNT count]",
        summary: "Pop elements from a list",
        since: "7.0.0",
        group: Group::List,
        complexity: "O(N+M) where N is the number of provided keys and M is the number of elements returned.",
        flags: WRITE,
        keys: &[at(1, RW | ACCESS | DELETE).counted(0, 1, 1)],
        run: lmpop,
        ..Spec::BASE
    },
    Spec {
        name: "rpoplpush",
        usage: "RPOPLPUSH source destination",
        summary: "Remove the last element in a list, prepend it to another list and return it",
        since: "1.2.0",
        group: Group::List,
        complexity: "O(1)",
        deprecated: Some(("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments")),
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, RW | INSERT)],
        run: rpoplpush,
        ..Spec::BASE
    },
];

/// An end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    fn parse(word: &[u8]) -> Result<Side, Failure> {
        if is(word, "LEFT") {
            Ok(Side::Left)
        } else if is(word, "RIGHT") {
            Ok(Side::Right)
        } else {
            Err(Failure::Syntax)
        }
    }
    fn name(self) -> &'static [u8] {
        match self {
            Side::Left => b"left",
            Side::Right => b"right",
        }
    }
    /// The command that takes from this end.
    fn pop(self) -> &'static [u8] {
        match self {
            Side::Left => b"LPOP",
            Side::Right => b"RPOP",
        }
    }
    fn popped(self) -> Event {
        Event::list(match self {
            Side::Left => "lpop",
            Side::Right => "rpop",
        })
    }
    fn pushed(self) -> Event {
        Event::list(match self {
            Side::Left => "lpush",
            Side::Right => "rpush",
        })
    }
}

/// Takes up to `count` elements from an end, each as a bulk string.
fn take(mut edit: Edit<'_>, side: Side, count: usize, out: &mut Reply) -> Result<usize, Failure> {
    let list = edit.value_mut().as_list_mut()?;
    let taken = count.min(list.len());
    for _ in 0..taken {
        out.bulk_or_nil(pop(list, side).as_deref());
    }
    edit.commit_removal(taken, side.popped());
    Ok(taken)
}

/// Takes from the first of the keys that there is: name and element, or with a count name and elements. False when
/// there is none.
fn take_first(
    cx: &mut Ctx<'_>,
    keys: &[&[u8]],
    side: Side,
    count: Option<usize>,
    out: &mut Reply,
) -> Result<bool, Failure> {
    for &key in keys {
        if !cx.may_take_from(key) {
            continue;
        }
        let Some(edit) = cx.edit(key) else { continue };
        let len = edit.value().as_list()?.len();
        out.array(2);
        out.bulk(key);
        if let Some(count) = count {
            out.array(count.min(len));
        }
        let taken = take(edit, side, count.unwrap_or(1), out)?;
        match count {
            None => cx.propagate(&[side.pop(), key]),
            Some(_) => cx.propagate(&[side.pop(), key, format_u64(&mut NumBuf::new(), taken as u64)]),
        }
        return Ok(true);
    }
    Ok(false)
}

fn blpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    blocking_pop(cx, argv, Side::Left, out)
}

fn brpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    blocking_pop(cx, argv, Side::Right, out)
}

fn blocking_pop(cx: &mut Ctx<'_>, argv: Argv<'_>, side: Side, out: &mut Reply) -> Result<Flow, Failure> {
    let [_, keys @ .., timeout] = argv else { return Err(Failure::Syntax) };
    let deadline_ms = timeout_in_seconds(cx, timeout)?;
    if take_first(cx, keys, side, None, out)? {
        return Ok(Flow::Done);
    }
    Ok(wait_or_nil(cx, keys, deadline_ms, argv, out))
}

/// Nothing is there: the session waits, or is told so where it cannot.
fn wait_or_nil(
    cx: &mut Ctx<'_>,
    keys: &[&[u8]],
    deadline_ms: Option<i64>,
    argv: Argv<'_>,
    out: &mut Reply,
) -> Flow {
    if cx.can_block() {
        return cx.wait(WaitOn::List, keys, deadline_ms, argv);
    }
    out.nil_array();
    Flow::Done
}

fn lmpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (keys, side, count) = first_of(argv, 1, Side::parse)?;
    if !take_first(cx, keys, side, Some(count), out)? {
        out.nil_array();
    }
    Ok(Flow::Done)
}

fn blmpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (keys, side, count) = first_of(argv, 2, Side::parse)?;
    let deadline_ms = timeout_in_seconds(cx, argv[1])?;
    if take_first(cx, keys, side, Some(count), out)? {
        return Ok(Flow::Done);
    }
    Ok(wait_or_nil(cx, keys, deadline_ms, argv, out))
}

fn lmove(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (from, to) = (Side::parse(argv[3])?, Side::parse(argv[4])?);
    if !move_element(cx, argv[1], argv[2], from, to, out)? {
        out.nil();
    }
    Ok(Flow::Done)
}

fn rpoplpush(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if !move_element(cx, argv[1], argv[2], Side::Right, Side::Left, out)? {
        out.nil();
    }
    Ok(Flow::Done)
}

fn blmove(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (from, to) = (Side::parse(argv[3])?, Side::parse(argv[4])?);
    let deadline_ms = timeout_in_seconds(cx, argv[5])?;
    if move_element(cx, argv[1], argv[2], from, to, out)? {
        // One that waited names the ends in the server's own words.
        let waited = cx.session().woken_by.is_some();
        let [from, to] = if waited { [from.name(), to.name()] } else { [argv[3], argv[4]] };
        cx.propagate(&[b"LMOVE", argv[1], argv[2], from, to]);
        return Ok(Flow::Done);
    }
    Ok(wait_to_move(cx, deadline_ms, argv, out))
}

fn brpoplpush(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let deadline_ms = timeout_in_seconds(cx, argv[3])?;
    if move_element(cx, argv[1], argv[2], Side::Right, Side::Left, out)? {
        cx.propagate(&[b"RPOPLPUSH", argv[1], argv[2]]);
        return Ok(Flow::Done);
    }
    Ok(wait_to_move(cx, deadline_ms, argv, out))
}

fn wait_to_move(cx: &mut Ctx<'_>, deadline_ms: Option<i64>, argv: Argv<'_>, out: &mut Reply) -> Flow {
    if cx.can_block() {
        return cx.wait(WaitOn::List, &[argv[1]], deadline_ms, argv);
    }
    out.nil();
    Flow::Done
}

/// Moves an element from one end of a list to one of another, or of the same; false when there is none.
fn move_element(
    cx: &mut Ctx<'_>,
    source: &[u8],
    destination: &[u8],
    from: Side,
    to: Side,
    out: &mut Reply,
) -> Result<bool, Failure> {
    let Some(edit) = cx.edit(source) else { return Ok(false) };
    let list = edit.value().as_list()?;
    let item = match from {
        Side::Left => list.get(0),
        Side::Right => list.get(list.len().wrapping_sub(1)),
    };
    let Some(item) = item.map(<[u8]>::to_vec) else { return Ok(false) };
    edit.unchanged();
    let mut edit = cx.edit_or(destination, || Value::List(Default::default()));
    edit.value().as_list()?;
    let list = edit.value_mut().as_list_mut()?;
    if source == destination {
        pop(list, from);
        push(list, to, &item);
        edit.notify(to.pushed());
        edit.commit(from.popped());
    } else {
        push(list, to, &item);
        edit.commit(to.pushed());
        if let Some(mut edit) = cx.edit(source) {
            pop(edit.value_mut().as_list_mut()?, from);
            edit.commit_removal(1, from.popped());
        }
    }
    out.bulk(&item);
    Ok(true)
}

fn pop(list: &mut List, side: Side) -> Option<Bytes> {
    match side {
        Side::Left => list.pop_front(),
        Side::Right => list.pop_back(),
    }
}

fn push(list: &mut List, side: Side, item: &[u8]) {
    match side {
        Side::Left => list.push_front(item),
        Side::Right => list.push_back(item),
    }
}
