//! Sorted sets combined, with plain sets too: unions, intersections and differences, answered, counted or stored. Single
//! sorted sets are in `zsets`.

use super::set_algebra::MEMBER_BYTES;
use crate::command::args::{Args, int, is, positive};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::{Event, Expiry};
use crate::util::bytes::Bytes;
use crate::util::float::parse_f64;
use crate::util::hasher::Map;
use crate::value::Value;
use crate::value::set::Set;
use crate::value::zset::ZSet;
use std::sync::Arc;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "zdiff",
        usage: "ZDIFF numkeys key... [WITHSCORES]",
        summary: "Subtract multiple sorted sets",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N is the size of the first set, and K is the size of the result set.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS).counted(0, 1, 1)],
        run: zdiff,
        ..Spec::BASE
    },
    Spec {
        name: "zdiffstore",
        usage: "ZDIFFSTORE destination numkeys key...",
        summary: "Subtract multiple sorted sets and store the resulting sorted set in a new key",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N is the size of the first set, and K is the size of the result set.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS).counted(0, 1, 1)],
        run: zdiffstore,
        ..Spec::BASE
    },
    Spec {
        name: "zinter",
        usage: "ZINTER numkeys key... [WEIGHTS weight...] [AGGREGATE aggregate=(SUM|MIN|MAX)] [WITHSCORES]",
        summary: "Intersect multiple sorted sets",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the number of input sorted sets and M being the number of elements in the resulting sorted set.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS).counted(0, 1, 1)],
        run: zinter,
        ..Spec::BASE
    },
    Spec {
        name: "zintercard",
        usage: "ZINTERCARD numkeys key... [LIMIT limit]",
        summary: "Intersect multiple sorted sets and return the cardinality of the result",
        since: "7.0.0",
        group: Group::SortedSet,
        complexity: "O(N*K) worst case with N being the smallest input sorted set, K being the number of input sorted sets.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS).counted(0, 1, 1)],
        run: zintercard,
        ..Spec::BASE
    },
    Spec {
        name: "zinterstore",
        usage: "ZINTERSTORE destination numkeys key... [WEIGHTS weight...] [AGGREGATE aggregate=(SUM|MIN|MAX)]",
        summary: "Intersect multiple sorted sets and store the resulting sorted set in a new key",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the number of input sorted sets and M being the number of elements in the resulting sorted set.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS).counted(0, 1, 1)],
        run: zinterstore,
        ..Spec::BASE
    },
    Spec {
        name: "zunion",
        usage: "ZUNION numkeys key... [WEIGHTS weight...] [AGGREGATE aggregate=(SUM|MIN|MAX)] [WITHSCORES]",
        summary: "Add multiple sorted sets",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N)+O(M*log(M)) with N being the sum of the sizes of the input sorted sets, and M being the number of elements in the resulting sorted set.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS).counted(0, 1, 1)],
        run: zunion,
        ..Spec::BASE
    },
    Spec {
        name: "zunionstore",
        usage: "ZUNIONSTORE destination numkeys key... [WEIGHTS weight...] [AGGREGATE aggregate=(SUM|MIN|MAX)]",
        summary: "Add multiple sorted sets and store the resulting sorted set in a new key",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(N)+O(M log(M)) with N being the sum of the sizes of the input sorted sets, and M being the number of elements in the resulting sorted set.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS).counted(0, 1, 1)],
        run: zunionstore,
        ..Spec::BASE
    },
];

/// What a key holds: the members of a plain set have the score 1.
#[derive(Clone)]
enum Members {
    None,
    Set(Arc<Set>),
    ZSet(Arc<ZSet>),
}

impl Members {
    fn read(cx: &mut Ctx<'_>, key: &[u8]) -> Result<Members, Failure> {
        match cx.read(key).map(|entry| entry.value()) {
            None => Ok(Members::None),
            Some(Value::Set(set)) => Ok(Members::Set(set.clone())),
            Some(Value::ZSet(zset)) => Ok(Members::ZSet(zset.clone())),
            Some(_) => Err(Failure::WrongType),
        }
    }
    fn len(&self) -> usize {
        match self {
            Members::None => 0,
            Members::Set(set) => set.len(),
            Members::ZSet(zset) => zset.len(),
        }
    }
    fn score(&self, member: &[u8]) -> Option<f64> {
        match self {
            Members::None => None,
            Members::Set(set) => set.contains(member).then_some(1.0),
            Members::ZSet(zset) => zset.score(member),
        }
    }
    /// Passes each member with its score, until `each` has had enough.
    fn walk(&self, mut each: impl FnMut(&[u8], f64) -> bool) {
        match self {
            Members::None => {}
            Members::Set(set) => {
                let _ = set.iter().all(|member| each(&member, 1.0));
            }
            Members::ZSet(zset) => {
                let _ = zset.iter().all(|(member, score)| each(member, score));
            }
        }
    }
}

/// Members with scores, in any order.
type Pairs = Vec<(Bytes, f64)>;

/// How the scores of one member become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn parse(word: &[u8]) -> Result<Self, Failure> {
        let all = [("SUM", Self::Sum), ("MIN", Self::Min), ("MAX", Self::Max)];
        let found = all.into_iter().find(|(name, _)| is(word, name));
        found.map(|(_, aggregate)| aggregate).ok_or(Failure::Syntax)
    }
    fn of(self, score: f64, other: f64) -> f64 {
        match self {
            Aggregate::Sum => number(score + other),
            Aggregate::Min if other < score => other,
            Aggregate::Max if other > score => other,
            Aggregate::Min | Aggregate::Max => score,
        }
    }
}

/// Infinities that cancel each other make 0.
fn number(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

/// What becomes of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Answer,
    Count,
    Store,
}

/// A call, read: its sets with their weights, and the options.
struct Call {
    sources: Vec<(Members, f64)>,
    aggregate: Aggregate,
    withscores: bool,
    limit: usize,
}

impl Call {
    /// Reads `numkeys key… option…` from word `at` on. The keys are looked at before the options are.
    fn parse(
        cx: &mut Ctx<'_>,
        argv: Argv<'_>,
        at: usize,
        operation: Operation,
        purpose: Purpose,
    ) -> Result<Call, Failure> {
        let numkeys = int(argv[at])?;
        if numkeys < 1 {
            return Err(Failure::no_input_key(argv[0]));
        }
        let numkeys = usize::try_from(numkeys).unwrap_or(usize::MAX);
        let (keys, options) = argv[at + 1..].split_at_checked(numkeys).ok_or(Failure::Syntax)?;
        let sources = keys.iter().map(|key| Ok((Members::read(cx, key)?, 1.0)));
        let sources = sources.collect::<Result<_, Failure>>()?;
        let mut call = Call { sources, aggregate: Aggregate::Sum, withscores: false, limit: usize::MAX };
        let mut args = Args::new(options, 0);
        while let Some(word) = args.next() {
            call.option(word, &mut args, operation, purpose)?;
        }
        cx.note_work(call.walked(operation) * MEMBER_BYTES);
        Ok(call)
    }
    /// How many members are looked at, about.
    fn walked(&self, operation: Operation) -> usize {
        let mut lengths = self.sources.iter().map(|(members, _)| members.len());
        match operation {
            Operation::Intersection => lengths.min().unwrap_or(0) * self.sources.len(),
            Operation::Union => lengths.sum(),
            Operation::Difference => lengths.next().unwrap_or(0) * self.sources.len(),
        }
    }
    fn option(
        &mut self,
        word: &[u8],
        args: &mut Args<'_>,
        operation: Operation,
        purpose: Purpose,
    ) -> Result<(), Failure> {
        let combines = operation != Operation::Difference && purpose != Purpose::Count;
        if combines && is(word, "WEIGHTS") && args.left() >= self.sources.len() {
            for (_, weight) in &mut self.sources {
                *weight = parse_f64(args.word()?).ok_or(Failure::WEIGHT_NOT_FLOAT)?;
            }
        } else if combines && is(word, "AGGREGATE") {
            self.aggregate = Aggregate::parse(args.word()?)?;
        } else if purpose == Purpose::Answer && is(word, "WITHSCORES") {
            self.withscores = true;
        } else if purpose == Purpose::Count && is(word, "LIMIT") {
            let limit = positive(args.word()?).map_err(|_| Failure::NEGATIVE_LIMIT)?;
            self.limit = if limit == 0 { usize::MAX } else { limit as usize };
        } else {
            return Err(Failure::Syntax);
        }
        Ok(())
    }
    fn combine(&mut self, operation: Operation) -> Pairs {
        if operation != Operation::Difference {
            self.sources.sort_by_key(|(members, _)| members.len());
        }
        match operation {
            Operation::Union => self.union(),
            Operation::Intersection => self.intersection(),
            Operation::Difference => self.difference(),
        }
    }
    fn union(&self) -> Pairs {
        let mut all: Map<Bytes, f64> = Map::default();
        for (members, weight) in &self.sources {
            members.walk(|member, score| {
                let score = number(weight * score);
                match all.get_mut(member) {
                    Some(so_far) => *so_far = self.aggregate.of(*so_far, score),
                    None => drop(all.insert(Bytes::from(member), score)),
                }
                true
            });
        }
        all.into_iter().collect()
    }
    /// Walks the smallest set.
    fn intersection(&self) -> Pairs {
        let mut common = Pairs::new();
        let Some(((first, weight), others)) = self.sources.split_first() else { return common };
        first.walk(|member, score| {
            let combined = others.iter().try_fold(number(weight * score), |so_far, (other, weight)| {
                other.score(member).map(|score| self.aggregate.of(so_far, weight * score))
            });
            common.extend(combined.map(|score| (Bytes::from(member), score)));
            common.len() < self.limit
        });
        common
    }
    fn difference(&self) -> Pairs {
        let mut left = Pairs::new();
        let Some(((first, _), others)) = self.sources.split_first() else { return left };
        first.walk(|member, score| {
            if others.iter().all(|(other, _)| other.score(member).is_none()) {
                left.push((Bytes::from(member), score));
            }
            true
        });
        left
    }
}

fn answer(cx: &mut Ctx<'_>, argv: Argv<'_>, operation: Operation, out: &mut Reply) -> Result<Flow, Failure> {
    let mut call = Call::parse(cx, argv, 1, operation, Purpose::Answer)?;
    let mut pairs = call.combine(operation);
    pairs.sort_unstable_by(|(member, score), (other, other_score)| {
        score.partial_cmp(other_score).unwrap_or(std::cmp::Ordering::Equal).then_with(|| member.cmp(other))
    });
    let nested = call.withscores && cx.resp() == Resp::V3;
    out.array(if call.withscores && !nested { pairs.len() * 2 } else { pairs.len() });
    for (member, score) in &pairs {
        if nested {
            out.array(2);
        }
        out.bulk(member);
        if call.withscores {
            out.double(*score);
        }
    }
    Ok(Flow::Done)
}

/// Stores a result, or removes the key when there is nothing to store.
fn store(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    operation: Operation,
    event: Event,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let limits = cx.state.config.zset_limits();
    let pairs = Call::parse(cx, argv, 2, operation, Purpose::Store)?.combine(operation);
    out.int(pairs.len() as i64);
    if pairs.is_empty() {
        cx.discard(argv[1], Event::generic("del"));
        return Ok(Flow::Done);
    }
    let zset = ZSet::collect(&pairs, &limits);
    cx.put(argv[1], Value::ZSet(Arc::new(zset)), Expiry::Clear, event);
    Ok(Flow::Done)
}

fn zunion(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    answer(cx, argv, Operation::Union, out)
}

fn zinter(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    answer(cx, argv, Operation::Intersection, out)
}

fn zdiff(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    answer(cx, argv, Operation::Difference, out)
}

fn zintercard(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut call = Call::parse(cx, argv, 1, Operation::Intersection, Purpose::Count)?;
    out.int(call.combine(Operation::Intersection).len() as i64);
    Ok(Flow::Done)
}

fn zunionstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    store(cx, argv, Operation::Union, Event::zset("zunionstore"), out)
}

fn zinterstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    store(cx, argv, Operation::Intersection, Event::zset("zinterstore"), out)
}

fn zdiffstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    store(cx, argv, Operation::Difference, Event::zset("zdiffstore"), out)
}
