//! Sorted sets: adding, removing, scores and ranks, random members, and a walk step by step. Ranges of members are in
//! `zset_ranges`, taking from an end in `zset_pops`, unions and the like in `zset_algebra`; the value structure is
//! `value::zset`.

use crate::command::args::{Args, is};
use crate::command::random::Draw;
use crate::command::scan;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::Event;
use crate::util::float::{format_f64, format_score, parse_f64};
use crate::util::num::NumBuf;
use crate::value::Value;
use crate::value::packed::Limits;
use crate::value::zset::{Change, ZSet};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "zadd",
        usage: "ZADD key condition=[NX|XX]@3.0.2 comparison=[GT|LT]@6.2.0 [change=CH@3.0.2] [increment=INCR@3.0.2] score_member=(score member)...",
        summary: "Add one or more members to a sorted set, or update its score if it already exists",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for each item added, where N is the number of elements in the sorted set.",
        history: &[
            ("2.4.0", "Accepts multiple elements."),
            ("3.0.2", "Added the `XX`, `NX`, `CH` and `INCR` options."),
            ("6.2.0", "Added the `GT` and `LT` options."),
        ],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: zadd,
        ..Spec::BASE
    },
    Spec {
        name: "zcard",
        usage: "ZCARD key",
        summary: "Get the number of members in a sorted set",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: zcard,
        ..Spec::BASE
    },
    Spec {
        name: "zincrby",
        usage: "ZINCRBY key increment member",
        summary: "Increment the score of a member in a sorted set",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) where N is the number of elements in the sorted set.",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: zincrby,
        ..Spec::BASE
    },
    Spec {
        name: "zmscore",
        usage: "ZMSCORE key member...",
        summary: "Get the score associated with the given members in a sorted set",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N) where N is the number of members being requested.",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: zmscore,
        ..Spec::BASE
    },
    Spec {
        name: "zrandmember",
        usage: "ZRANDMEMBER key options=[count [WITHSCORES]]",
        summary: "Get one or multiple random elements from a sorted set",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N) where N is the number of elements returned",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: zrandmember,
        ..Spec::BASE
    },
    Spec {
        name: "zrank",
        usage: "ZRANK key member",
        summary: "Determine the index of a member in a sorted set",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N))",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: zrank,
        ..Spec::BASE
    },
    Spec {
        name: "zrem",
        usage: "ZREM key member...",
        summary: "Remove one or more members from a sorted set",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(M*log(N)) with N being the number of elements in the sorted set and M the number of elements to be removed.",
        history: &[("2.4.0", "Accepts multiple elements.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | DELETE)],
        run: zrem,
        ..Spec::BASE
    },
    Spec {
        name: "zrevrank",
        usage: "ZREVRANK key member",
        summary: "Determine the index of a member in a sorted set, with scores ordered from high to low",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N))",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: zrevrank,
        ..Spec::BASE
    },
    Spec {
        name: "zscan",
        usage: "ZSCAN key cursor [MATCH pattern] [COUNT count]",
        summary: "Incrementally iterate sorted sets elements and associated scores",
        since: "2.8.0",
        group: Group::SortedSet,
        complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection..",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: zscan,
        ..Spec::BASE
    },
    Spec {
        name: "zscore",
        usage: "ZSCORE key member",
        summary: "Get the score associated with the given member in a sorted set",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: zscore,
        ..Spec::BASE
    },
];

/// The sorted set at a key, for reading.
pub(super) fn read_zset<'a>(cx: &'a mut Ctx<'_>, key: &[u8]) -> Result<Option<&'a ZSet>, Failure> {
    cx.read(key).map(|entry| entry.value().as_zset()).transpose()
}

/// The options of ZADD.
#[derive(Debug, Clone, Copy, Default)]
struct ZaddOptions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
    ch: bool,
    incr: bool,
}

impl ZaddOptions {
    /// Reads the options up to the first score.
    fn parse(args: &mut Args<'_>) -> Self {
        let mut options = ZaddOptions::default();
        loop {
            let option = match args.rest().first() {
                Some(word) if is(word, "NX") => &mut options.nx,
                Some(word) if is(word, "XX") => &mut options.xx,
                Some(word) if is(word, "CH") => &mut options.ch,
                Some(word) if is(word, "INCR") => &mut options.incr,
                Some(word) if is(word, "GT") => &mut options.gt,
                Some(word) if is(word, "LT") => &mut options.lt,
                _ => return options,
            };
            *option = true;
            args.next();
        }
    }

    fn check(&self, pairs: usize) -> Result<(), Failure> {
        if self.nx && self.xx {
            return Err(Failure::XX_AND_NX);
        }
        if self.nx && (self.gt || self.lt) || self.gt && self.lt {
            return Err(Failure::GT_LT_NX);
        }
        if self.incr && pairs > 1 {
            return Err(Failure::INCR_OF_MANY);
        }
        Ok(())
    }

    /// The score that a member gets; None where the options leave the member alone.
    fn score(&self, old: Option<f64>, score: f64) -> Result<Option<f64>, Failure> {
        let Some(old) = old else { return Ok((!self.xx).then_some(score)) };
        if self.nx {
            return Ok(None);
        }
        let new = if self.incr { old + score } else { score };
        if new.is_nan() {
            return Err(Failure::NAN_SCORE);
        }
        let refused = self.lt && new >= old || self.gt && new <= old;
        Ok((!refused).then_some(new))
    }
}

pub(super) fn zadd(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut args = Args::new(argv, 2);
    let options = ZaddOptions::parse(&mut args);
    add(cx, argv[1], args.rest(), options, out)
}

fn zincrby(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = ZaddOptions { incr: true, ..ZaddOptions::default() };
    add(cx, argv[1], &argv[2..], options, out)
}

/// What ZADD and ZINCRBY do with pairs of score and member.
fn add(
    cx: &mut Ctx<'_>,
    key: &[u8],
    words: Argv<'_>,
    options: ZaddOptions,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let (pairs @ [_, ..], []) = words.as_chunks::<2>() else { return Err(Failure::Syntax) };
    options.check(pairs.len())?;
    for [score, _] in pairs {
        parse_f64(score).ok_or(Failure::NotFloat)?;
    }
    let limits = cx.state.config.zset_limits();
    let mut edit = cx.edit_or(key, || Value::ZSet(Default::default()));
    edit.value().as_zset()?;
    let mut tally = Tally::default();
    let result = edit.value_mut().as_zset_mut().and_then(|zset| {
        pairs.iter().try_for_each(|[score, member]| tally.add(zset, score, member, options, &limits))
    });
    if tally.added + tally.updated > 0 {
        edit.commit(Event::zset(if options.incr { "zincr" } else { "zadd" }));
    } else {
        edit.unchanged();
    }
    result?;
    match (options.incr, tally.score) {
        (true, Some(score)) => out.double(score),
        (true, None) => out.nil(),
        (false, _) if options.ch => out.int(tally.added + tally.updated),
        (false, _) => out.int(tally.added),
    }
    Ok(Flow::Done)
}

/// What ZADD did so far.
#[derive(Default)]
struct Tally {
    added: i64,
    updated: i64,
    /// The last member's score, unless the options left it alone.
    score: Option<f64>,
}

impl Tally {
    fn add(
        &mut self,
        zset: &mut ZSet,
        score: &[u8],
        member: &[u8],
        options: ZaddOptions,
        limits: &Limits,
    ) -> Result<(), Failure> {
        let score = parse_f64(score).ok_or(Failure::NotFloat)?;
        self.score = options.score(zset.score(member), score)?;
        if let Some(score) = self.score {
            match zset.insert(member, score, limits) {
                Change::Added => self.added += 1,
                Change::Updated => self.updated += 1,
                Change::Unchanged => {}
            }
        }
        Ok(())
    }
}

fn zrem(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut removed = 0;
    if let Some(mut edit) = cx.edit(argv[1]) {
        edit.value().as_zset()?;
        let zset = edit.value_mut().as_zset_mut()?;
        removed = argv[2..].iter().filter(|member| zset.remove(member).is_some()).count();
        edit.commit_removal(removed, Event::zset("zrem"));
    }
    out.int(removed as i64);
    Ok(Flow::Done)
}

fn zcard(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let len = read_zset(cx, argv[1])?.map_or(0, ZSet::len);
    out.int(len as i64);
    Ok(Flow::Done)
}

fn zscore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match read_zset(cx, argv[1])?.and_then(|zset| zset.score(argv[2])) {
        Some(score) => out.double(score),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn zmscore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let zset = read_zset(cx, argv[1])?;
    out.array(argv.len() - 2);
    for member in &argv[2..] {
        match zset.and_then(|zset| zset.score(member)) {
            Some(score) => out.double(score),
            None => out.nil(),
        }
    }
    Ok(Flow::Done)
}

fn zrank(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match read_zset(cx, argv[1])?.and_then(|zset| zset.rank(argv[2])) {
        Some(rank) => out.int(rank as i64),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn zrevrank(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let zset = read_zset(cx, argv[1])?;
    match zset.and_then(|zset| Some(zset.len() - 1 - zset.rank(argv[2])?)) {
        Some(rank) => out.int(rank as i64),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn zrandmember(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let draw = if argv.len() > 2 { Some(Draw::parse(argv, Some("withscores"))?) } else { None };
    let flat = cx.resp() == Resp::V2;
    cx.with_rng(|cx, rng| {
        let Some(zset) = read_zset(cx, argv[1])? else {
            match draw {
                None => out.nil(),
                Some(_) => out.array(0),
            }
            return Ok(Flow::Done);
        };
        let len = zset.len();
        let Some(draw) = draw else {
            out.bulk_or_nil(zset.any(rng.below(len as u64) as usize).map(|(member, _)| member));
            return Ok(Flow::Done);
        };
        // Who wants all of them gets them from the highest to the lowest.
        let all = draw.distinct && draw.count >= len;
        draw.reply(rng, len, flat, out, |out, index| {
            let pair = if all { zset.nth(len - 1 - index) } else { zset.any(index) };
            let (member, score) = pair.unwrap_or_default();
            if draw.paired && !flat {
                out.array(2);
            }
            out.bulk(member);
            if draw.paired {
                out.double(score);
            }
        })?;
        Ok(Flow::Done)
    })
}

fn zscan(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let begun = scan::begin(cx, argv, |value| value.as_zset().map(ZSet::len))?;
    let Some((value, cursor, options)) = begun else {
        scan::reply(out, 0, 0, &Reply::new());
        return Ok(Flow::Done);
    };
    let zset = value.as_zset_mut()?;
    let (mut found, mut len, mut text) = (Reply::new(), 0, NumBuf::new());
    // A small set keeps scores as texts, and these have more digits of large integers.
    let format = if zset.encoding() == "listpack" { format_score } else { format_f64 };
    let next = zset.scan(cursor, options.count, |member, score| {
        if options.matches(member) {
            found.bulk(member);
            found.bulk(format(&mut text, score));
            len += 2;
        }
    });
    scan::reply(out, next, len, &found);
    Ok(Flow::Done)
}
