//! Lists: pushing, popping, reading and changing. Their value structure is `value::list`.

use crate::command::args::{Args, int, is, positive, span};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::value::Value;
use crate::value::list::List;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "lindex",
        usage: "LINDEX key index",
        summary: "Get an element from a list by its index",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) where N is the number of elements to traverse to get to the element at index. This makes asking for the first or the last element of the list O(1).",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: lindex,
        ..Spec::BASE
    },
    Spec {
        name: "linsert",
        usage: "LINSERT key where=(BEFORE|AFTER) pivot element",
        summary: "Insert an element before or after another element in a list",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(N) where N is the number of elements to traverse before seeing the value pivot. This means that inserting somewhere on the left end on the list (head) can be considered O(1) and inserting somewhere on the right end (tail) is O(N).",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | INSERT)],
        run: linsert,
        ..Spec::BASE
    },
    Spec {
        name: "llen",
        usage: "LLEN key",
        summary: "Get the length of a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: llen,
        ..Spec::BASE
    },
    Spec {
        name: "lpop",
        usage: "LPOP key [count@6.2.0]",
        summary: "Remove and get the first elements in a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) where N is the number of elements returned",
        history: &[("6.2.0", "Added the `count` argument.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE)],
        run: lpop,
        ..Spec::BASE
    },
    Spec {
        name: "lpos",
        usage: "LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
        summary: "Return the index of matching elements on a list",
        since: "6.0.6",
        group: Group::List,
        complexity: "O(N) where N is the number of elements in the list, for the average case. When searching for elements near the head or the tail of the list, or when the MAXLEN option is provided, the command may run in constant time.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: lpos,
        ..Spec::BASE
    },
    Spec {
        name: "lpush",
        usage: "LPUSH key element...",
        summary: "Prepend one or multiple elements to a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
        history: &[("2.4.0", "Accepts multiple `element` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: lpush,
        ..Spec::BASE
    },
    Spec {
        name: "lpushx",
        usage: "LPUSHX key element...",
        summary: "Prepend an element to a list, only if the list exists",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
        history: &[("4.0.0", "Accepts multiple `element` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: lpushx,
        ..Spec::BASE
    },
    Spec {
        name: "lrange",
        usage: "LRANGE key start stop",
        summary: "Get a range of elements from a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(S+N) where S is the distance of start offset from HEAD for small lists, from nearest end (HEAD or TAIL) for large lists; and N is the number of elements in the specified range.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: lrange,
        ..Spec::BASE
    },
    Spec {
        name: "lrem",
        usage: "LREM key count element",
        summary: "Remove elements from a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N+M) where N is the length of the list and M is the number of elements removed.",
        flags: WRITE,
        keys: &[at(1, RW | DELETE)],
        run: lrem,
        ..Spec::BASE
    },
    Spec {
        name: "lset",
        usage: "LSET key index element",
        summary: "Set the value of an element in a list by its index",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) where N is the length of the list. Setting either the first or the last element of the list is O(1).",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | UPDATE)],
        run: lset,
        ..Spec::BASE
    },
    Spec {
        name: "ltrim",
        usage: "LTRIM key start stop",
        summary: "Trim a list to the specified range",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) where N is the number of elements to be removed by the operation.",
        flags: WRITE,
        keys: &[at(1, RW | DELETE)],
        run: ltrim,
        ..Spec::BASE
    },
    Spec {
        name: "rpop",
        usage: "RPOP key [count@6.2.0]",
        summary: "Remove and get the last elements in a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) where N is the number of elements returned",
        history: &[("6.2.0", "Added the `count` argument.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE)],
        run: rpop,
        ..Spec::BASE
    },
    Spec {
        name: "rpush",
        usage: "RPUSH key element...",
        summary: "Append one or multiple elements to a list",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
        history: &[("2.4.0", "Accepts multiple `element` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: rpush,
        ..Spec::BASE
    },
    Spec {
        name: "rpushx",
        usage: "RPUSHX key element...",
        summary: "Append an element to a list, only if the list exists",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
        history: &[("4.0.0", "Accepts multiple `element` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: rpushx,
        ..Spec::BASE
    },
];

/// An end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The list at a key, for reading.
fn read_list<'a>(cx: &'a mut Ctx<'_>, key: &[u8]) -> Result<Option<&'a List>, Failure> {
    cx.read(key).map(|entry| entry.value().as_list()).transpose()
}

fn lpush(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    push(cx, argv, Side::Left, out)
}

fn rpush(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    push(cx, argv, Side::Right, out)
}

fn lpushx(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    push_existing(cx, argv, Side::Left, out)
}

fn rpushx(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    push_existing(cx, argv, Side::Right, out)
}

fn push(cx: &mut Ctx<'_>, argv: Argv<'_>, side: Side, out: &mut Reply) -> Result<Flow, Failure> {
    let mut edit = cx.edit_or(argv[1], || Value::List(Default::default()));
    edit.value().as_list()?;
    let list = edit.value_mut().as_list_mut()?;
    for item in &argv[2..] {
        match side {
            Side::Left => list.push_front(item),
            Side::Right => list.push_back(item),
        }
    }
    out.int(list.len() as i64);
    edit.commit(Event::list(match side {
        Side::Left => "lpush",
        Side::Right => "rpush",
    }));
    Ok(Flow::Done)
}

fn push_existing(cx: &mut Ctx<'_>, argv: Argv<'_>, side: Side, out: &mut Reply) -> Result<Flow, Failure> {
    if !cx.has(argv[1]) {
        out.int(0);
        return Ok(Flow::Done);
    }
    push(cx, argv, side, out)
}

fn lpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    pop(cx, argv, Side::Left, out)
}

fn rpop(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    pop(cx, argv, Side::Right, out)
}

fn pop(cx: &mut Ctx<'_>, argv: Argv<'_>, side: Side, out: &mut Reply) -> Result<Flow, Failure> {
    let (command, event) = match side {
        Side::Left => ("lpop", Event::list("lpop")),
        Side::Right => ("rpop", Event::list("rpop")),
    };
    let count = match argv[2..] {
        [] => None,
        [count] => Some(positive(count)? as usize),
        _ => return Err(Failure::Arity(command.to_owned())),
    };
    let Some(mut edit) = cx.edit(argv[1]) else {
        if count.is_some() {
            out.nil_array();
        } else {
            out.nil();
        }
        return Ok(Flow::Done);
    };
    let taken = count.unwrap_or(1).min(edit.value().as_list()?.len());
    if count.is_some() {
        out.array(taken);
    }
    if taken == 0 {
        edit.unchanged();
        return Ok(Flow::Done);
    }
    let list = edit.value_mut().as_list_mut()?;
    for _ in 0..taken {
        let item = match side {
            Side::Left => list.pop_front(),
            Side::Right => list.pop_back(),
        };
        out.bulk_or_nil(item.as_deref());
    }
    edit.commit_removal(taken, event);
    Ok(Flow::Done)
}

fn llen(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let len = read_list(cx, argv[1])?.map_or(0, List::len);
    out.int(len as i64);
    Ok(Flow::Done)
}

fn lrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (start, end) = (int(argv[2])?, int(argv[3])?);
    let Some(list) = read_list(cx, argv[1])? else {
        out.array(0);
        return Ok(Flow::Done);
    };
    let range = span(start, end, list.len());
    out.array(range.len());
    list.range(range).for_each(|item| out.bulk(item));
    Ok(Flow::Done)
}

/// The place of an index, which counts from the end when negative.
fn place(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { (len as i64).checked_add(index)? } else { index };
    usize::try_from(index).ok()
}

fn lindex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let item = match read_list(cx, argv[1])? {
        Some(list) => place(int(argv[2])?, list.len()).and_then(|index| list.get(index)),
        None => None,
    };
    out.bulk_or_nil(item);
    Ok(Flow::Done)
}

fn lset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut edit = cx.edit(argv[1]).ok_or(Failure::NoSuchKey)?;
    let len = edit.value().as_list()?.len();
    let index = place(int(argv[2])?, len).filter(|&index| index < len);
    let index = index.ok_or(Failure::INDEX_OUT_OF_RANGE)?;
    edit.value_mut().as_list_mut()?.set(index, argv[3]);
    edit.commit(Event::list("lset"));
    out.ok();
    Ok(Flow::Done)
}

fn linsert(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let behind = match argv[2] {
        word if is(word, "AFTER") => 1,
        word if is(word, "BEFORE") => 0,
        _ => return Err(Failure::Syntax),
    };
    let Some(mut edit) = cx.edit(argv[1]) else {
        out.int(0);
        return Ok(Flow::Done);
    };
    let Some(pivot) = edit.value().as_list()?.position(argv[3]) else {
        out.int(-1);
        return Ok(Flow::Done);
    };
    let list = edit.value_mut().as_list_mut()?;
    list.insert(pivot + behind, argv[4]);
    out.int(list.len() as i64);
    edit.commit(Event::list("linsert"));
    Ok(Flow::Done)
}

fn lrem(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let count = int(argv[2])?;
    let mut removed = 0;
    if let Some(mut edit) = cx.edit(argv[1]) {
        edit.value().as_list()?;
        let limit = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
        removed = edit.value_mut().as_list_mut()?.remove_equal(argv[3], limit, count < 0);
        edit.commit_removal(removed, Event::list("lrem"));
    }
    out.int(removed as i64);
    Ok(Flow::Done)
}

fn ltrim(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (start, end) = (int(argv[2])?, int(argv[3])?);
    out.ok();
    let Some(mut edit) = cx.edit(argv[1]) else { return Ok(Flow::Done) };
    let len = edit.value().as_list()?.len();
    let keep = span(start, end, len);
    let removed = len - keep.len();
    edit.value_mut().as_list_mut()?.trim(keep);
    // Told even when nothing goes: it breaks a WATCH, but is not propagated.
    edit.commit_removal(1, Event::list("ltrim"));
    if removed == 0 {
        cx.propagate_nothing();
    }
    Ok(Flow::Done)
}

/// The options of LPOS.
struct LposOptions {
    rank: i64,
    count: Option<i64>,
    maxlen: i64,
}

impl LposOptions {
    fn parse(args: &mut Args<'_>) -> Result<Self, Failure> {
        let mut options = LposOptions { rank: 1, count: None, maxlen: 0 };
        while let Some(word) = args.next() {
            if is(word, "RANK") {
                options.rank = args.int()?;
                if options.rank == 0 {
                    return Err(Failure::RANK_IS_ZERO);
                }
            } else if is(word, "COUNT") {
                let count = positive(args.word()?);
                options.count = Some(count.map_err(|_| Failure::NEGATIVE_COUNT)?);
            } else if is(word, "MAXLEN") {
                let maxlen = positive(args.word()?);
                options.maxlen = maxlen.map_err(|_| Failure::NEGATIVE_MAXLEN)?;
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
}

fn lpos(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = LposOptions::parse(&mut Args::new(argv, 3))?;
    let from_back = options.rank < 0;
    let Some(list) = read_list(cx, argv[1])? else {
        match options.count {
            Some(_) => out.array(0),
            None => out.nil(),
        }
        return Ok(Flow::Done);
    };
    let maxlen = if options.maxlen == 0 { usize::MAX } else { options.maxlen as usize };
    let len = list.len();
    let mut items = list.iter();
    let matches = (0..len.min(maxlen)).filter_map(|step| {
        let item = if from_back { items.next_back() } else { items.next() }?;
        (item == argv[2]).then_some(if from_back { len - 1 - step } else { step })
    });
    // The server's arithmetic: the lowest rank stays negative, so that it skips nothing.
    let skipped = options.rank.wrapping_abs().max(1) as usize - 1;
    let mut matches = matches.skip(skipped);
    match options.count {
        None => match matches.next() {
            Some(index) => out.int(index as i64),
            None => out.nil(),
        },
        Some(count) => {
            let slot = out.deferred_array();
            let limit = if count == 0 { usize::MAX } else { count as usize };
            let found = matches.take(limit).map(|index| out.int(index as i64)).count();
            out.close(slot, found);
        }
    }
    Ok(Flow::Done)
}
