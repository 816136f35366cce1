//! The server as a whole: FLUSHALL, FLUSHDB, SWAPDB, DBSIZE, TIME. INFO is in `info`, CONFIG in `configuration`,
//! COMMAND in `introspection`, DEBUG in `debug`, what concerns replicas in `replication`.

use crate::command::args::is;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Db;
use crate::util::num::parse_i64;
use std::ops::Range;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "dbsize",
        usage: "DBSIZE",
        summary: "Return the number of keys in the selected database",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        acl: acl::KEYSPACE,
        flags: READONLY | FAST,
        tips: &["request_policy:all_shards", "response_policy:agg_sum"],
        run: dbsize,
        ..Spec::BASE
    },
    Spec {
        name: "flushall",
        usage: "FLUSHALL async=[ASYNC@4.0.0|SYNC@6.2.0]",
        summary: "Remove all keys from all databases",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the total number of keys in all databases",
        history: &[
            ("4.0.0", "Added the `ASYNC` flushing mode modifier."),
            ("6.2.0", "Added the `SYNC` flushing mode modifier."),
        ],
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: WRITE,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: flushall,
        ..Spec::BASE
    },
    Spec {
        name: "flushdb",
        usage: "FLUSHDB async=[ASYNC@4.0.0|SYNC@6.2.0]",
        summary: "Remove all keys from the current database",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the number of keys in the selected database",
        history: &[
            ("4.0.0", "Added the `ASYNC` flushing mode modifier."),
            ("6.2.0", "Added the `SYNC` flushing mode modifier."),
        ],
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: WRITE,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: flushdb,
        ..Spec::BASE
    },
    Spec {
        name: "swapdb",
        usage: "SWAPDB index1 index2",
        summary: "Swaps two Redis databases",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the count of clients watching or blocking on keys from both databases.",
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: WRITE | FAST,
        run: swapdb,
        ..Spec::BASE
    },
    Spec {
        name: "time",
        usage: "TIME",
        summary: "Return the current server time",
        since: "2.6.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: LOADING | STALE | FAST,
        tips: &["nondeterministic_output"],
        run: time,
        ..Spec::BASE
    },
];

/// ASYNC and SYNC are the same here, but for what is counted: nothing is freed in the background.
fn is_lazy(cx: &Ctx<'_>, argv: Argv<'_>) -> Result<bool, Failure> {
    match argv {
        [_] => Ok(cx.state.config.lazy_user_flush),
        [_, mode] if is(mode, "async") => Ok(true),
        [_, mode] if is(mode, "sync") => Ok(false),
        _ => Err(Failure::Syntax),
    }
}

/// Empties databases.
fn flush(cx: &mut Ctx<'_>, dbs: Range<Db>, lazily: bool) {
    let gone: usize = dbs.map(|db| cx.state.store.flush(db)).sum();
    cx.state.store.stats.lazy_freed += if lazily { gone as u64 } else { 0 };
}

fn flushall(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let lazily = is_lazy(cx, argv)?;
    let databases = cx.state.store.databases();
    flush(cx, 0..databases, lazily);
    // Also when nothing was there: a replica may hold keys that are gone here.
    cx.propagate(argv);
    out.ok();
    Ok(Flow::Done)
}

fn flushdb(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let lazily = is_lazy(cx, argv)?;
    let db = cx.db();
    flush(cx, db..db + 1, lazily);
    cx.propagate(argv);
    out.ok();
    Ok(Flow::Done)
}

fn dbsize(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.state.store.len(cx.db()) as i64);
    Ok(Flow::Done)
}

fn time(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let now_us = cx.state.store.now_us();
    out.array(2);
    out.bulk_int(now_us.div_euclid(1_000_000));
    out.bulk_int(now_us.rem_euclid(1_000_000));
    Ok(Flow::Done)
}

fn swapdb(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.cluster.is_some() {
        return Err(Failure::NO_SWAPDB_IN_CLUSTER);
    }
    let first = int32(argv[1]).ok_or(Failure::BAD_FIRST_DB)?;
    let second = int32(argv[2]).ok_or(Failure::BAD_SECOND_DB)?;
    let known = |index: i32| Db::try_from(index).ok().filter(|db| *db < cx.state.store.databases());
    let (Some(first), Some(second)) = (known(first), known(second)) else {
        return Err(Failure::DbOutOfRange);
    };
    if first != second {
        cx.state.store.swap(first, second);
    }
    cx.propagate(argv);
    out.ok();
    Ok(Flow::Done)
}

fn int32(word: &[u8]) -> Option<i32> {
    parse_i64(word).and_then(|index| i32::try_from(index).ok())
}
