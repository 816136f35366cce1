//! What INFO says of the engine as a server: itself, its clients, its process, who follows whom.

use super::Fields;
use crate::command::master::Master;
use crate::command::process::{Figure, Process};
use crate::command::replication::Known;
use crate::command::session::Session;
use crate::command::{Ctx, REDIS_VERSION};
use crate::util::rng::Rng;

const RUN_ID: u64 = 0x7275_6e5f_6964;
const BUILD_ID: u64 = 0x6275_696c_6469;

/// Digits that name this engine: they follow from its seed, and drawing them leaves its generator alone.
fn identity(cx: &Ctx<'_>, purpose: u64, digits: usize) -> String {
    Rng::new(cx.state.store.seed() ^ purpose).hex(digits)
}

pub(super) fn server(cx: &Ctx<'_>, fields: &mut Fields) {
    let process = cx.state.process.as_deref();
    let now_us = cx.state.store.now_us();
    let uptime_s = (cx.now_ms() - cx.state.started_at_ms).max(0) / 1000;
    let hz = cx.state.config.text("hz");
    fields.add("redis_version", REDIS_VERSION);
    fields.add("redis_git_sha1", "00000000");
    fields.add("redis_git_dirty", 0);
    fields.add("redis_build_id", identity(cx, BUILD_ID, 16));
    fields.add("redis_mode", if cx.state.cluster.is_some() { "cluster" } else { "standalone" });
    fields.add("os", format_args!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    fields.add("arch_bits", usize::BITS);
    fields.add("monotonic_clock", if cx.state.measures { "system" } else { "manual" });
    fields.add("multiplexing_api", if process.is_some() { "mio" } else { "none" });
    fields.add("atomicvar_api", "rust");
    fields.add("gcc_version", "0.0.0");
    fields.add("process_id", process.map_or(0, |process| process.id));
    fields.add("process_supervised", "no");
    fields.add("run_id", identity(cx, RUN_ID, 40));
    fields.add("tcp_port", process.map_or(0, |process| process.port));
    fields.add("server_time_usec", now_us);
    fields.add("uptime_in_seconds", uptime_s);
    fields.add("uptime_in_days", uptime_s / 86_400);
    fields.add("hz", &hz);
    fields.add("configured_hz", &hz);
    fields.add("lru_clock", now_us.div_euclid(1_000_000) & 0xff_ffff);
    fields.add("executable", process.map_or("", |process| &process.executable));
    fields.add("config_file", cx.state.config_file.as_ref().map_or("", |file| &file.path));
    fields.add("io_threads_active", 0);
    fields.add("moonkeep_version", env!("CARGO_PKG_VERSION"));
}

pub(super) fn clients(cx: &Ctx<'_>, fields: &mut Fields) {
    let replicas = cx.state.replication.followers().len();
    let figures =
        || cx.state.sessions.iter().filter_map(|(_, session)| Some(session.peer.as_ref()?.buffers.figures()));
    fields.add("connected_clients", cx.state.sessions.len().saturating_sub(replicas));
    fields.add("cluster_connections", 0);
    fields.add("maxclients", cx.state.config.maxclients);
    fields.add(
        "client_recent_max_input_buffer",
        figures().map(|held| held.unread + held.unread_free).max().unwrap_or(0),
    );
    fields.add("client_recent_max_output_buffer", figures().map(|held| held.block_bytes).max().unwrap_or(0));
    fields.add("blocked_clients", cx.state.blocked);
    fields.add("tracking_clients", cx.state.tracking.clients());
    let has_timeout =
        |session: &Session| session.blocked.as_ref().is_some_and(|wait| wait.deadline_ms.is_some());
    let timed = cx.state.sessions.iter().filter(|(_, session)| has_timeout(session)).count();
    fields.add("clients_in_timeout_table", timed);
}

pub(super) fn replication(cx: &Ctx<'_>, fields: &mut Fields) {
    fields.add("role", if cx.state.has_master() { "slave" } else { "master" });
    if let Some(master) = &cx.state.config.master {
        of_master(cx, master, fields);
    }
    let replicas = cx.state.replicas();
    fields.add("connected_slaves", replicas.len());
    if cx.state.config.min_replicas_to_write > 0 && cx.state.config.min_replicas_max_lag > 0 {
        fields.add("min_slaves_good_slaves", cx.state.good_replicas());
    }
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
    let size = cx.state.config.text("repl-backlog-size").parse().unwrap_or_default();
    let (first, length) = cx.state.replication.backlog(size).unwrap_or_default();
    fields.add("repl_backlog_active", u8::from(cx.state.replication.has_backlog()));
    fields.add("repl_backlog_size", size);
    fields.add("repl_backlog_first_byte_offset", first);
    fields.add("repl_backlog_histlen", length);
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

pub(super) fn cpu(cx: &Ctx<'_>, fields: &mut Fields) {
    let figure =
        |of: fn(&Process) -> &Figure| cx.state.process.as_deref().map_or(0, |process| of(process).get());
    let seconds = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    let (system, user) =
        (seconds(figure(|process| &process.system_us)), seconds(figure(|process| &process.user_us)));
    fields.add("used_cpu_sys", &system);
    fields.add("used_cpu_user", &user);
    fields.add("used_cpu_sys_children", seconds(0));
    fields.add("used_cpu_user_children", seconds(0));
    // One thread serves all.
    fields.add("used_cpu_sys_main_thread", &system);
    fields.add("used_cpu_user_main_thread", &user);
}

pub(super) fn cluster(cx: &Ctx<'_>, fields: &mut Fields) {
    fields.add("cluster_enabled", u8::from(cx.state.cluster.is_some()));
}
