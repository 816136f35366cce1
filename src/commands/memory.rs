//! MEMORY: what a key takes up, by the engine's own count (`store::memory`), and what can be said of memory as a whole
//! without a process of one's own.

use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{BASE_BYTES, Db, EXPIRY_BYTES, KEY_BYTES};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "memory",
        usage: "MEMORY",
        summary: "A container for memory diagnostics commands",
        since: "4.0.0",
        group: Group::Server,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "memory|doctor",
        usage: "MEMORY DOCTOR",
        summary: "Outputs memory problems report",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(1)",
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        run: memory_doctor,
        ..Spec::BASE
    },
    Spec {
        name: "memory|help",
        usage: "MEMORY HELP",
        summary: "Show helpful text about the different subcommands",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: memory_help,
        ..Spec::BASE
    },
    Spec {
        name: "memory|malloc-stats",
        usage: "MEMORY MALLOC-STATS",
        summary: "Show allocator internal stats",
        since: "4.0.0",
        group: Group::Server,
        complexity: "Depends on how much memory is allocated, could be slow",
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        run: memory_malloc_stats,
        ..Spec::BASE
    },
    Spec {
        name: "memory|purge",
        usage: "MEMORY PURGE",
        summary: "Ask the allocator to release memory",
        since: "4.0.0",
        group: Group::Server,
        complexity: "Depends on how much memory is allocated, could be slow",
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: memory_purge,
        ..Spec::BASE
    },
    Spec {
        name: "memory|stats",
        usage: "MEMORY STATS",
        summary: "Show memory usage details",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(1)",
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        run: memory_stats,
        ..Spec::BASE
    },
    Spec {
        name: "memory|usage",
        usage: "MEMORY USAGE key [SAMPLES count]",
        summary: "Estimate the memory usage of a key",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the number of samples.",
        flags: READONLY,
        keys: &[at(2, RO)],
        run: memory_usage,
        ..Spec::BASE
    },
];

fn memory_usage(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut args = Args::new(argv, 3);
    while let Some(option) = args.next() {
        if !is(option, "samples") || int(args.word()?)? < 0 {
            return Err(Failure::Syntax);
        }
    }
    // Not a use, and no look at the time: a key that is overdue but there takes up what it takes.
    match cx.state.store.peek(cx.db(), argv[2]) {
        Some(entry) => out.int(entry.memory_bytes() as i64),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn memory_purge(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.ok();
    Ok(Flow::Done)
}

/// What the server says with an allocator that it cannot ask.
fn memory_malloc_stats(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.bulk(b"Stats not supported for the current allocator");
    Ok(Flow::Done)
}

/// Below this the server does not look for trouble.
const SMALL_BYTES: usize = 5 << 20;

fn memory_doctor(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let text = if cx.state.store.memory_bytes() < SMALL_BYTES {
        "Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these \
         conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be \
         back to our programming as soon as I finished rebooting.\n"
    } else {
        "Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on this base.\n"
    };
    out.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

/// The fields that follow from the keys; the allocator's are left out.
fn memory_stats(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let store = &cx.state.store;
    let dbs: Vec<Db> = (0..store.databases()).filter(|&db| store.len(db) > 0).collect();
    let (keys, expiries) = store.keys_and_expiries();
    let total = store.memory_bytes();
    let overhead = BASE_BYTES + keys * KEY_BYTES + expiries * EXPIRY_BYTES;
    let above = total - BASE_BYTES;
    let field = |out: &mut Reply, name: &str, value: usize| {
        out.bulk(name.as_bytes());
        out.int(value as i64);
    };
    out.map(FIELDS + dbs.len());
    field(out, "total.allocated", total);
    field(out, "startup.allocated", BASE_BYTES);
    for name in ["replication.backlog", "clients.slaves", "clients.normal", "cluster.links", "aof.buffer"] {
        field(out, name, 0);
    }
    for db in dbs {
        out.bulk(format!("db.{db}").as_bytes());
        out.map(3);
        field(out, "overhead.hashtable.main", store.len(db) * KEY_BYTES);
        field(out, "overhead.hashtable.expires", store.expires_len(db) * EXPIRY_BYTES);
        field(out, "overhead.hashtable.slot-to-keys", 0);
    }
    field(out, "overhead.total", overhead);
    field(out, "keys.count", keys);
    field(out, "keys.bytes-per-key", above.checked_div(keys).unwrap_or(0));
    field(out, "dataset.bytes", total - overhead);
    out.bulk(b"dataset.percentage");
    out.double((total - overhead) as f64 * 100.0 / above.max(1) as f64);
    Ok(Flow::Done)
}

/// Fields of MEMORY STATS but for those of databases.
const FIELDS: usize = 12;

fn memory_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "DOCTOR",
        "    Return memory problems reports.",
        "MALLOC-STATS",
        "    Return internal statistics report from the memory allocator.",
        "PURGE",
        "    Attempt to purge dirty pages for reclamation by the allocator.",
        "STATS",
        "    Return information about the memory usage of the server.",
        "USAGE <key> [SAMPLES <count>]",
        "    Return memory in bytes used by <key> and its value. Nested values are",
        "    sampled up to <count> times (default: 5, 0 means sample all).",
    ];
    help::reply(out, "MEMORY", LINES);
    Ok(Flow::Done)
}
