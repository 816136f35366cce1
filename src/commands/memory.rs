//! MEMORY: what a key takes up, by the engine's own count (`store::memory`), what takes up how much (STATS), and what may be
//! wrong with that (DOCTOR).

mod doctor;

use crate::command::args::{Args, int, is};
use crate::command::memory_use::MemoryUse;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Db, EXPIRY_BYTES, KEY_BYTES};

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

fn memory_doctor(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.note_peak();
    let clients = cx.state.sessions.iter().filter(|(_, session)| session.peer.is_some()).count();
    let found = doctor::Found {
        memory: cx.state.memory_use(),
        clients,
        client_bytes: cx.state.client_bytes(),
        replicas: cx.state.replication.followers().len(),
        replica_bytes: cx.state.replica_bytes(),
        scripts: cx.state.scripts.len(),
    };
    out.verbatim(*b"txt", doctor::report(&found).as_bytes());
    Ok(Flow::Done)
}

fn memory_stats(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.note_peak();
    let MemoryUse { used, peak, startup, overhead, resident, keys } = cx.state.memory_use();
    let dbs: Vec<Db> = (0..cx.state.store.databases()).filter(|&db| cx.state.store.len(db) > 0).collect();
    let above = used - startup;
    out.map(FIELDS + dbs.len());
    for (name, bytes) in [
        ("peak.allocated", peak),
        ("total.allocated", used),
        ("startup.allocated", startup),
        ("replication.backlog", 0),
        ("clients.slaves", cx.state.replica_bytes()),
        ("clients.normal", cx.state.client_bytes()),
        ("cluster.links", 0),
        ("aof.buffer", 0),
        ("lua.caches", cx.state.scripts.memory_bytes()),
        ("functions.caches", cx.state.libraries.memory_bytes()),
    ] {
        field(out, name, bytes as i64);
    }
    for db in dbs {
        out.bulk(format!("db.{db}").as_bytes());
        out.map(3);
        field(out, "overhead.hashtable.main", (cx.state.store.len(db) * KEY_BYTES) as i64);
        field(out, "overhead.hashtable.expires", (cx.state.store.expires_len(db) * EXPIRY_BYTES) as i64);
        field(out, "overhead.hashtable.slot-to-keys", 0);
    }
    field(out, "overhead.total", overhead as i64);
    field(out, "keys.count", keys as i64);
    field(out, "keys.bytes-per-key", above.checked_div(keys).unwrap_or(0) as i64);
    field(out, "dataset.bytes", (used - overhead) as i64);
    ratio(out, "dataset.percentage", (used - overhead) as f64 * 100.0 / above.max(1) as f64);
    ratio(out, "peak.percentage", used as f64 * 100.0 / peak.max(1) as f64);
    allocator_stats(out, used, resident);
    Ok(Flow::Done)
}

/// Of the allocator nothing is known but what of the process is resident.
fn allocator_stats(out: &mut Reply, used: usize, resident: usize) {
    let (share, above) = (resident as f64 / used as f64, resident as i64 - used as i64);
    field(out, "allocator.allocated", used as i64);
    field(out, "allocator.active", resident as i64);
    field(out, "allocator.resident", resident as i64);
    ratio(out, "allocator-fragmentation.ratio", share);
    field(out, "allocator-fragmentation.bytes", above);
    ratio(out, "allocator-rss.ratio", 1.0);
    field(out, "allocator-rss.bytes", 0);
    ratio(out, "rss-overhead.ratio", 1.0);
    field(out, "rss-overhead.bytes", 0);
    ratio(out, "fragmentation", share);
    field(out, "fragmentation.bytes", above);
}

fn field(out: &mut Reply, name: &str, value: i64) {
    out.bulk(name.as_bytes());
    out.int(value);
}

fn ratio(out: &mut Reply, name: &str, value: f64) {
    out.bulk(name.as_bytes());
    out.double(value);
}

/// Fields of MEMORY STATS but for those of databases.
const FIELDS: usize = 27;

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
