//! Ranges of sorted sets, by rank, score or member: ZRANGE with all its forms and the commands it replaced.
//! Single members are in `zsets`.

use super::zsets::read_zset;
use crate::command::args::{Args, int, is, span};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::reply::Resp;
use crate::store::{Event, Expiry};
use crate::util::float::strtod;
use crate::value::Value;
use crate::value::zset::{LexBound, ZSet};
use std::ops::{Bound, Range};
use std::sync::Arc;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "zcount",
        usage: "ZCOUNT key min<double> max<double>",
        summary: "Count the members in a sorted set with scores within the given values",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) with N being the number of elements in the sorted set.",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: zcount,
        ..Spec::BASE
    },
    Spec {
        name: "zlexcount",
        usage: "ZLEXCOUNT key min max",
        summary: "Count the number of members in a sorted set between a given lexicographical range",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)) with N being the number of elements in the sorted set.",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: zlexcount,
        ..Spec::BASE
    },
    Spec {
        name: "zrange",
        usage: "ZRANGE key start<string> stop<string> sortby=[BYSCORE|BYLEX]@6.2.0 [REV@6.2.0] [LIMIT offset_count=(offset count)@6.2.0] [WITHSCORES]",
        summary: "Return a range of members in a sorted set",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements returned.",
        history: &[("6.2.0", "Added the `REV`, `BYSCORE`, `BYLEX` and `LIMIT` options.")],
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: zrange,
        ..Spec::BASE
    },
    Spec {
        name: "zrangebylex",
        usage: "ZRANGEBYLEX key min max [LIMIT offset_count=(offset count)]",
        summary: "Return a range of members in a sorted set, by lexicographical range",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
        deprecated: Some(("6.2.0", "`ZRANGE` with the `BYLEX` argument")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: zrangebylex,
        ..Spec::BASE
    },
    Spec {
        name: "zrangebyscore",
        usage: "ZRANGEBYSCORE key min<double> max<double> [WITHSCORES@2.0.0] [LIMIT offset_count=(offset count)]",
        summary: "Return a range of members in a sorted set, by score",
        since: "1.0.5",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
        history: &[("2.0.0", "Added the `WITHSCORES` modifier.")],
        deprecated: Some(("6.2.0", "`ZRANGE` with the `BYSCORE` argument")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: zrangebyscore,
        ..Spec::BASE
    },
    Spec {
        name: "zrangestore",
        usage: "ZRANGESTORE dst src min max sortby=[BYSCORE|BYLEX] [REV] [LIMIT offset_count=(offset count)]",
        summary: "Store a range of members from sorted set into another key",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements stored into the destination key.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS)],
        run: zrangestore,
        ..Spec::BASE
    },
    Spec {
        name: "zremrangebylex",
        usage: "ZREMRANGEBYLEX key min max",
        summary: "Remove all members in a sorted set between the given lexicographical range",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
        flags: WRITE,
        keys: &[at(1, RW | DELETE)],
        run: zremrangebylex,
        ..Spec::BASE
    },
    Spec {
        name: "zremrangebyrank",
        usage: "ZREMRANGEBYRANK key start stop",
        summary: "Remove all members in a sorted set within the given indexes",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
        flags: WRITE,
        keys: &[at(1, RW | DELETE)],
        run: zremrangebyrank,
        ..Spec::BASE
    },
    Spec {
        name: "zremrangebyscore",
        usage: "ZREMRANGEBYSCORE key min<double> max<double>",
        summary: "Remove all members in a sorted set within the given scores",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
        flags: WRITE,
        keys: &[at(1, RW | DELETE)],
        run: zremrangebyscore,
        ..Spec::BASE
    },
    Spec {
        name: "zrevrange",
        usage: "ZREVRANGE key start stop [WITHSCORES]",
        summary: "Return a range of members in a sorted set, by index, with scores ordered from high to low",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements returned.",
        deprecated: Some(("6.2.0", "`ZRANGE` with the `REV` argument")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: zrevrange,
        ..Spec::BASE
    },
    Spec {
        name: "zrevrangebylex",
        usage: "ZREVRANGEBYLEX key max min [LIMIT offset_count=(offset count)]",
        summary: "Return a range of members in a sorted set, by lexicographical range, ordered from higher to lower strings.",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
        deprecated: Some(("6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: zrevrangebylex,
        ..Spec::BASE
    },
    Spec {
        name: "zrevrangebyscore",
        usage: "ZREVRANGEBYSCORE key max<double> min<double> [WITHSCORES] [LIMIT offset_count=(offset count)]",
        summary: "Return a range of members in a sorted set, by score, with scores ordered from high to low",
        since: "2.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
        history: &[("2.1.6", "`min` and `max` can be exclusive.")],
        deprecated: Some(("6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: zrevrangebyscore,
        ..Spec::BASE
    },
];

/// What the ends of a range are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Lex,
}

/// The options of a range command.
#[derive(Debug, Clone, Copy)]
struct RangeOptions {
    by: By,
    rev: bool,
    withscores: bool,
    offset: i64,
    limit: i64,
}

impl RangeOptions {
    /// Reads the options behind the two ends. `form` is what the command's name says already; what it leaves open
    /// (None) are the options of ZRANGE.
    fn parse(args: &mut Args<'_>, form: Option<(By, bool)>, stores: bool) -> Result<Self, Failure> {
        let (by, rev) = form.unzip();
        let mut chosen = by;
        let mut options =
            RangeOptions { by: By::Rank, rev: rev.unwrap_or(false), withscores: false, offset: 0, limit: -1 };
        while let Some(word) = args.next() {
            if is(word, "WITHSCORES") && !stores {
                options.withscores = true;
            } else if is(word, "LIMIT") && args.left() >= 2 {
                options.offset = args.int()?;
                options.limit = args.int()?;
            } else if is(word, "REV") && form.is_none() && !options.rev {
                options.rev = true;
            } else if is(word, "BYLEX") && chosen.is_none() {
                chosen = Some(By::Lex);
            } else if is(word, "BYSCORE") && chosen.is_none() {
                chosen = Some(By::Score);
            } else {
                return Err(Failure::Syntax);
            }
        }
        options.by = chosen.unwrap_or(By::Rank);
        if options.limit != -1 && options.by == By::Rank {
            return Err(Failure::LIMIT_BY_RANK);
        }
        if options.withscores && options.by == By::Lex {
            return Err(Failure::WITHSCORES_BY_LEX);
        }
        Ok(options)
    }

    /// The ranks that LIMIT leaves of a range, counted from the end the walk starts at.
    fn cut(&self, ranks: Range<usize>) -> Range<usize> {
        let Ok(offset) = usize::try_from(self.offset) else { return 0..0 };
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let left = ranks.len().saturating_sub(offset).min(limit);
        if left == 0 {
            0..0
        } else if self.rev {
            let end = ranks.end - offset;
            end - left..end
        } else {
            let start = ranks.start + offset;
            start..start + left
        }
    }
}

/// A range as its two ends say.
#[derive(Debug, Clone, Copy)]
enum Ends<'a> {
    Rank(i64, i64),
    Score(Bound<f64>, Bound<f64>),
    Lex(LexBound<'a>, LexBound<'a>),
}

impl<'a> Ends<'a> {
    fn parse(by: By, min: &'a [u8], max: &'a [u8]) -> Result<Self, Failure> {
        match by {
            By::Rank => Ok(Ends::Rank(int(min)?, int(max)?)),
            By::Score => {
                let ends = score_bound(min).zip(score_bound(max));
                let (min, max) = ends.ok_or(Failure::BAD_SCORE_RANGE)?;
                Ok(Ends::Score(min, max))
            }
            By::Lex => {
                let ends = lex_bound(min).zip(lex_bound(max));
                let (min, max) = ends.ok_or(Failure::BAD_LEX_RANGE)?;
                Ok(Ends::Lex(min, max))
            }
        }
    }

    /// The ranks, of a range of members without the first `skip`.
    fn ranks(&self, zset: &ZSet, rev: bool, skip: usize) -> Range<usize> {
        match *self {
            Ends::Rank(start, end) => {
                let (len, ranks) = (zset.len(), span(start, end, zset.len()));
                if rev { len - ranks.end..len - ranks.start } else { ranks }
            }
            Ends::Score(min, max) => zset.ranks_by_score(min, max),
            Ends::Lex(min, max) => zset.ranks_by_lex(min, max, rev, skip),
        }
    }
}

/// An end of a range of scores: `(` leaves the score itself out. Read as C does, so that nothing is zero.
fn score_bound(word: &[u8]) -> Option<Bound<f64>> {
    let (text, bound): (_, fn(f64) -> Bound<f64>) = match word {
        [b'(', rest @ ..] => (rest, Bound::Excluded),
        all => (all, Bound::Included),
    };
    let number = strtod(text);
    let whole = text.get(number.consumed).is_none_or(|&byte| byte == 0);
    (whole && !number.value.is_nan()).then(|| bound(number.value))
}

/// An end of a range of members.
fn lex_bound(word: &[u8]) -> Option<LexBound<'_>> {
    match word {
        [b'-'] | [b'-', 0, ..] => Some(LexBound::Minimum),
        [b'+'] | [b'+', 0, ..] => Some(LexBound::Maximum),
        [b'(', member @ ..] => Some(LexBound::Excluded(member)),
        [b'[', member @ ..] => Some(LexBound::Included(member)),
        _ => None,
    }
}

fn zrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_range(cx, argv, None, out)
}

fn zrevrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_range(cx, argv, Some((By::Rank, true)), out)
}

fn zrangebyscore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_range(cx, argv, Some((By::Score, false)), out)
}

fn zrevrangebyscore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_range(cx, argv, Some((By::Score, true)), out)
}

fn zrangebylex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_range(cx, argv, Some((By::Lex, false)), out)
}

fn zrevrangebylex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_range(cx, argv, Some((By::Lex, true)), out)
}

fn reply_range(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    form: Option<(By, bool)>,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let options = RangeOptions::parse(&mut Args::new(argv, 4), form, false)?;
    let resp = cx.resp();
    let (zset, ranks) = find_range(cx, &argv[1..4], options)?;
    let Some(zset) = zset else {
        out.array(0);
        return Ok(Flow::Done);
    };
    let pairs_in_line = options.withscores && resp == Resp::V2;
    out.array(if pairs_in_line { ranks.len() * 2 } else { ranks.len() });
    let mut each = |(member, score): (&[u8], f64)| {
        if options.withscores && !pairs_in_line {
            out.array(2);
        }
        out.bulk(member);
        if options.withscores {
            out.double(score);
        }
    };
    if options.rev {
        zset.range(ranks).rev().for_each(&mut each);
    } else {
        zset.range(ranks).for_each(&mut each);
    }
    Ok(Flow::Done)
}

/// Finds the sorted set and the ranks that key, start and end name; a reversed range has its higher end first.
fn find_range<'a>(
    cx: &'a mut Ctx<'_>,
    words: Argv<'_>,
    options: RangeOptions,
) -> Result<(Option<&'a ZSet>, Range<usize>), Failure> {
    let &[key, start, end] = words else { return Err(Failure::Syntax) };
    let swapped = options.rev && options.by != By::Rank;
    let (min, max) = if swapped { (end, start) } else { (start, end) };
    let ends = Ends::parse(options.by, min, max)?;
    let zset = read_zset(cx, key)?;
    // A range of members passes over what LIMIT leaves out before it looks where it ends.
    let skip = if options.by == By::Lex { usize::try_from(options.offset).unwrap_or(usize::MAX) } else { 0 };
    let ranks = zset.map_or(0..0, |zset| ends.ranks(zset, options.rev, skip));
    let ranks = match options.by {
        By::Rank => ranks,
        By::Score => options.cut(ranks),
        By::Lex => RangeOptions { offset: 0, ..options }.cut(ranks),
    };
    Ok((zset, ranks))
}

fn zrangestore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = RangeOptions::parse(&mut Args::new(argv, 5), None, true)?;
    let limits = cx.state.config.zset_limits();
    let (zset, ranks) = find_range(cx, &argv[2..5], options)?;
    let mut stored = ZSet::new();
    for (member, score) in zset.into_iter().flat_map(|zset| zset.range(ranks.clone())) {
        stored.insert(member, score, &limits);
    }
    out.int(stored.len() as i64);
    if stored.is_empty() {
        cx.discard(argv[1], Event::generic("del"));
    } else {
        cx.put(argv[1], Value::ZSet(Arc::new(stored)), Expiry::Clear, Event::zset("zrangestore"));
    }
    Ok(Flow::Done)
}

fn zcount(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    count(cx, argv, By::Score, out)
}

fn zlexcount(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    count(cx, argv, By::Lex, out)
}

fn count(cx: &mut Ctx<'_>, argv: Argv<'_>, by: By, out: &mut Reply) -> Result<Flow, Failure> {
    let ends = Ends::parse(by, argv[2], argv[3])?;
    let count = read_zset(cx, argv[1])?.map_or(0, |zset| ends.ranks(zset, false, 0).len());
    out.int(count as i64);
    Ok(Flow::Done)
}

fn zremrangebyrank(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    remove_range(cx, argv, By::Rank, Event::zset("zremrangebyrank"), out)
}

fn zremrangebyscore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    remove_range(cx, argv, By::Score, Event::zset("zremrangebyscore"), out)
}

fn zremrangebylex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    remove_range(cx, argv, By::Lex, Event::zset("zremrangebylex"), out)
}

fn remove_range(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    by: By,
    event: Event,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let ends = Ends::parse(by, argv[2], argv[3])?;
    let mut removed = 0;
    if let Some(mut edit) = cx.edit(argv[1]) {
        let ranks = ends.ranks(edit.value().as_zset()?, false, 0);
        removed = edit.value_mut().as_zset_mut()?.remove_range(ranks);
        edit.commit_removal(removed, event);
    }
    out.int(removed as i64);
    Ok(Flow::Done)
}
