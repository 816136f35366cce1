//! INFO: what the engine says about itself, in sections. Fields that only a process of its own has (CPU, resident memory,
//! sockets) are absent; all values follow from the calls, the clock and the seed.

use crate::command::args::is;
use crate::command::master::Master;
use crate::command::pubsub::Topic;
use crate::command::replication::Known;
use crate::command::session::Session;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, REDIS_VERSION};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{BASE_BYTES, EXPIRY_BYTES, KEY_BYTES};
use crate::util::rng::Rng;
use std::fmt::Write;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "info",
    usage: "INFO [section...]",
    summary: "Get information and statistics about the server",
    since: "1.0.0",
    group: Group::Server,
    complexity: "O(1)",
    history: &[("7.0.0", "Added support for taking multiple section arguments.")],
    acl: acl::DANGEROUS,
    flags: LOADING | STALE,
    tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    run: info,
    ..Spec::BASE
}];

/// A section: its name, and what writes its fields.
type Section = (&'static str, fn(&Ctx<'_>, &mut Fields));

/// In the server's order, whatever the order in which they are asked for.
const SECTIONS: &[Section] = &[
    ("Server", server),
    ("Clients", clients),
    ("Memory", memory),
    ("Persistence", persistence),
    ("Stats", stats),
    ("Replication", replication),
    ("Modules", |_, _| {}),
    ("Cluster", cluster),
    ("Keyspace", keyspace),
];

fn info(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let wanted = &argv[1..];
    let names_all = |word: &&[u8]| ["default", "all", "everything"].iter().any(|all| is(word, all));
    let all = wanted.is_empty() || wanted.iter().any(names_all);
    let mut fields = Fields::default();
    for (name, write) in SECTIONS {
        if all || wanted.iter().any(|word| is(word, name)) {
            fields.section(name);
            write(cx, &mut fields);
        }
    }
    out.verbatim(*b"txt", fields.0.as_bytes());
    Ok(Flow::Done)
}

/// The text, as it grows.
#[derive(Default)]
struct Fields(String);

impl Fields {
    fn section(&mut self, name: &str) {
        let separator = if self.0.is_empty() { "" } else { "\r\n" };
        let _ = write!(self.0, "{separator}# {name}\r\n");
    }
    fn add(&mut self, name: impl std::fmt::Display, value: impl std::fmt::Display) {
        let _ = write!(self.0, "{name}:{value}\r\n");
    }
    /// A size, and again the way people read it.
    fn add_bytes(&mut self, name: &str, bytes: u64) {
        self.add(name, bytes);
        self.add(format_args!("{name}_human"), human(bytes));
    }
}

/// A size with the largest unit that leaves it at least 1.
fn human(bytes: u64) -> String {
    const UNITS: [char; 5] = ['K', 'M', 'G', 'T', 'P'];
    let order = bytes.checked_ilog2().unwrap_or_default() as usize / 10;
    match order.checked_sub(1).and_then(|unit| UNITS.get(unit)) {
        Some(unit) => format!("{:.2}{unit}", bytes as f64 / (1u64 << (10 * order)) as f64),
        None => format!("{bytes}B"),
    }
}

/// Forty digits that name this engine: they follow from its seed, and drawing them leaves its generator alone.
fn identity(cx: &Ctx<'_>, purpose: u64) -> String {
    Rng::new(cx.state.store.seed() ^ purpose).hex(40)
}

fn server(cx: &Ctx<'_>, fields: &mut Fields) {
    let now_us = cx.state.store.now_us();
    let uptime_s = (cx.now_ms() - cx.state.started_at_ms).max(0) / 1000;
    fields.add("redis_version", REDIS_VERSION);
    fields.add("redis_git_sha1", "00000000");
    fields.add("redis_git_dirty", 0);
    fields.add("redis_mode", if cx.state.cluster.is_some() { "cluster" } else { "standalone" });
    fields.add("moonkeep_version", env!("CARGO_PKG_VERSION"));
    fields.add("arch_bits", usize::BITS);
    fields.add("process_id", 0);
    fields.add("run_id", identity(cx, RUN_ID));
    fields.add("tcp_port", 0);
    fields.add("server_time_usec", now_us);
    fields.add("uptime_in_seconds", uptime_s);
    fields.add("uptime_in_days", uptime_s / 86_400);
    fields.add("hz", 10);
    fields.add("configured_hz", 10);
    fields.add("lru_clock", now_us.div_euclid(1_000_000) & 0xff_ffff);
    fields.add("executable", "");
    fields.add("config_file", "");
}

const RUN_ID: u64 = 0x7275_6e5f_6964;

fn clients(cx: &Ctx<'_>, fields: &mut Fields) {
    fields.add("connected_clients", cx.state.sessions.len());
    fields.add("cluster_connections", 0);
    fields.add("blocked_clients", cx.state.blocked);
    fields.add("tracking_clients", 0);
    let has_timeout =
        |session: &Session| session.blocked.as_ref().is_some_and(|wait| wait.deadline_ms.is_some());
    let timed = cx.state.sessions.iter().filter(|(_, session)| has_timeout(session)).count();
    fields.add("clients_in_timeout_table", timed);
}

fn memory(cx: &Ctx<'_>, fields: &mut Fields) {
    let store = &cx.state.store;
    let (keys, expiries) = store.keys_and_expiries();
    let (used, startup) = (store.memory_bytes(), BASE_BYTES);
    let overhead = startup + keys * KEY_BYTES + expiries * EXPIRY_BYTES;
    fields.add_bytes("used_memory", used as u64);
    fields.add("used_memory_overhead", overhead);
    fields.add("used_memory_startup", startup);
    fields.add("used_memory_dataset", used - overhead);
    let share = (used - overhead) as f64 * 100.0 / (used - startup).max(1) as f64;
    fields.add("used_memory_dataset_perc", format_args!("{share:.2}%"));
    fields.add("number_of_cached_scripts", cx.state.scripts.len());
    fields.add("number_of_functions", cx.state.libraries.functions_len());
    fields.add("number_of_libraries", cx.state.libraries.len());
    fields.add_bytes("maxmemory", store.memory().maxmemory);
    fields.add("maxmemory_policy", store.memory().policy.name());
    fields.add("mem_not_counted_for_evict", 0);
    fields.add("lazyfree_pending_objects", 0);
    fields.add("lazyfreed_objects", 0);
}

fn persistence(cx: &Ctx<'_>, fields: &mut Fields) {
    fields.add("loading", 0);
    fields.add("async_loading", 0);
    let saving = &cx.state.saving;
    fields.add("rdb_changes_since_last_save", cx.state.changes_since_save());
    fields.add("rdb_bgsave_in_progress", 0);
    fields.add("rdb_last_save_time", saving.saved_at_s);
    fields.add("rdb_last_bgsave_status", if saving.has_failed { "err" } else { "ok" });
    fields.add("aof_enabled", u8::from(cx.state.config.appendonly));
    fields.add("aof_rewrite_in_progress", 0);
    fields.add("aof_rewrite_scheduled", 0);
}

fn stats(cx: &Ctx<'_>, fields: &mut Fields) {
    let (engine, store) = (&cx.state.stats, &cx.state.store.stats);
    fields.add("total_connections_received", engine.connections);
    fields.add("total_commands_processed", engine.commands());
    fields.add("expired_keys", store.expired);
    fields.add("evicted_keys", store.evicted);
    fields.add("evicted_clients", 0);
    let over_for_us = cx.state.store.over_for_us();
    fields.add("total_eviction_exceeded_time", (store.eviction_exceeded_us + over_for_us) / 1000);
    fields.add("current_eviction_exceeded_time", over_for_us / 1000);
    fields.add("keyspace_hits", store.hits);
    fields.add("keyspace_misses", store.misses);
    fields.add("pubsub_channels", cx.state.pubsub.count(Topic::Channel));
    fields.add("pubsub_patterns", cx.state.pubsub.count(Topic::Pattern));
    fields.add("pubsubshard_channels", cx.state.pubsub.count(Topic::Shard));
    fields.add("total_error_replies", engine.errors);
}

fn replication(cx: &Ctx<'_>, fields: &mut Fields) {
    fields.add("role", if cx.state.has_master() { "slave" } else { "master" });
    if let Some(master) = &cx.state.config.master {
        of_master(cx, master, fields);
    }
    let replicas = cx.state.replicas();
    fields.add("connected_slaves", replicas.len());
    for (number, replica) in replicas.iter().enumerate() {
        let Known { address, port, acknowledged, lag_s } = replica;
        let line = format_args!("ip={address},port={port},state=online,offset={acknowledged},lag={lag_s}");
        fields.add(format_args!("slave{number}"), line);
    }
    fields.add("master_failover_state", "no-failover");
    fields.add("master_replid", cx.state.replication_id());
    let (former, former_ends) = cx.state.former_replication_id().unwrap_or_else(|| ("0".repeat(40), -1));
    fields.add("master_replid2", former);
    fields.add("master_repl_offset", cx.state.replication.offset);
    fields.add("second_repl_offset", former_ends);
    fields.add("repl_backlog_active", u8::from(cx.state.replication.has_backlog));
}

/// What a replica says of its master: there is no network, so the link has never been up.
fn of_master(cx: &Ctx<'_>, master: &Master, fields: &mut Fields) {
    let yes = |name: &str| u8::from(cx.state.config.is_yes(name));
    fields.add("master_host", &master.host);
    fields.add("master_port", master.port);
    fields.add("master_link_status", "down");
    fields.add("master_last_io_seconds_ago", -1);
    fields.add("master_sync_in_progress", 0);
    fields.add("slave_read_repl_offset", cx.state.replication.offset);
    fields.add("slave_repl_offset", cx.state.replication.offset);
    fields.add("master_link_down_since_seconds", -1);
    fields.add("slave_priority", cx.state.config.text("replica-priority"));
    fields.add("slave_read_only", yes("replica-read-only"));
    fields.add("replica_announced", yes("replica-announced"));
}

fn cluster(cx: &Ctx<'_>, fields: &mut Fields) {
    fields.add("cluster_enabled", u8::from(cx.state.cluster.is_some()));
}

fn keyspace(cx: &Ctx<'_>, fields: &mut Fields) {
    for db in 0..cx.state.store.databases() {
        let (keys, expires) = (cx.state.store.len(db), cx.state.store.expires_len(db));
        if keys > 0 {
            fields.add(format_args!("db{db}"), format_args!("keys={keys},expires={expires},avg_ttl=0"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn sizes_read_as_on_the_server() {
        let sizes = [0, 1023, 1024, 1536, 1 << 20, 3 << 30, 5 << 40, 1 << 50, 1 << 60];
        let texts = sizes.map(human);
        let expected =
            ["0B", "1023B", "1.00K", "1.50K", "1.00M", "3.00G", "5.00T", "1.00P", "1152921504606846976B"];
        assert_eq!(texts, expected);
    }
}
