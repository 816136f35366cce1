//! What INFO has counted: of everything, of each command, of each kind of error, and how long commands took.

use super::Fields;
use crate::command::Ctx;
use crate::command::process::{Figure, Process};
use crate::command::pubsub::Topic;
use crate::command::stats::CommandStats;
use crate::command::table::Row;

pub(super) fn stats(cx: &Ctx<'_>, fields: &mut Fields) {
    let (engine, store) = (&cx.state.stats, &cx.state.store.stats);
    traffic(cx, fields);
    fields.add("sync_full", engine.full_syncs);
    fields.add("sync_partial_ok", 0);
    fields.add("sync_partial_err", engine.partial_syncs_refused);
    fields.add("expired_keys", store.expired);
    // Nothing stays that is due, and no cycle ends before it is through.
    fields.add("expired_stale_perc", "0.00");
    fields.add("expired_time_cap_reached_count", 0);
    fields.add("expire_cycle_cpu_milliseconds", engine.expire_us / 1000);
    fields.add("evicted_keys", store.evicted);
    fields.add("evicted_clients", engine.evicted_clients);
    let over_for_us = cx.state.store.over_for_us();
    fields.add("total_eviction_exceeded_time", (store.eviction_exceeded_us + over_for_us) / 1000);
    fields.add("current_eviction_exceeded_time", over_for_us / 1000);
    fields.add("keyspace_hits", store.hits);
    fields.add("keyspace_misses", store.misses);
    fields.add("pubsub_channels", cx.state.pubsub.count(Topic::Channel));
    fields.add("pubsub_patterns", cx.state.pubsub.count(Topic::Pattern));
    fields.add("pubsubshard_channels", cx.state.pubsub.count(Topic::Shard));
    // There are no child processes, no connections to others, no defragmentation.
    for name in ["latest_fork_usec", "total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys"] {
        fields.add(name, 0);
    }
    for name in ["hits", "misses", "key_hits", "key_misses"] {
        fields.add(format_args!("active_defrag_{name}"), 0);
    }
    fields.add("total_active_defrag_time", 0);
    fields.add("current_active_defrag_time", 0);
    let (keys, items, prefixes) = cx.state.tracking.counts();
    for (name, count) in [("keys", keys), ("items", items), ("prefixes", prefixes)] {
        fields.add(format_args!("tracking_total_{name}"), count);
    }
    fields.add("unexpected_error_replies", 0);
    fields.add("total_error_replies", engine.errors);
    fields.add("dump_payload_sanitizations", 0);
    let figure =
        |of: fn(&Process) -> &Figure| cx.state.process.as_deref().map_or(0, |process| of(process).get());
    fields.add("total_reads_processed", figure(|process| &process.reads));
    fields.add("total_writes_processed", figure(|process| &process.writes));
    fields.add("io_threaded_reads_processed", 0);
    fields.add("io_threaded_writes_processed", 0);
    fields.add("reply_buffer_shrinks", figure(|process| &process.shrinks));
    fields.add("reply_buffer_expands", figure(|process| &process.expands));
}

/// Connections, commands and bytes.
fn traffic(cx: &Ctx<'_>, fields: &mut Fields) {
    let figure =
        |of: fn(&Process) -> &Figure| cx.state.process.as_deref().map_or(0, |process| of(process).get());
    let (engine, samples) = (&cx.state.stats, &cx.state.samples);
    let kilobytes = |per_second: u64| format!("{:.2}", per_second as f32 / 1024.0);
    fields.add("total_connections_received", engine.connections);
    fields.add("total_commands_processed", engine.commands());
    fields.add("instantaneous_ops_per_sec", samples.commands.per_second());
    fields.add("total_net_input_bytes", figure(|process| &process.bytes_in));
    fields.add("total_net_output_bytes", figure(|process| &process.bytes_out));
    fields.add("total_net_repl_input_bytes", 0);
    fields.add("total_net_repl_output_bytes", engine.replica_bytes);
    fields.add("instantaneous_input_kbps", kilobytes(samples.bytes_in.per_second()));
    fields.add("instantaneous_output_kbps", kilobytes(samples.bytes_out.per_second()));
    fields.add("instantaneous_input_repl_kbps", "0.00");
    fields.add("instantaneous_output_repl_kbps", "0.00");
    fields.add("rejected_connections", figure(|process| &process.refused));
}

/// The commands of which something was counted, in order of name.
fn counted(cx: &Ctx<'_>) -> Vec<(&'static Row, CommandStats)> {
    let mut rows: Vec<&'static Row> = cx.state.table.rows().iter().collect();
    rows.sort_unstable_by_key(|row| row.spec.name);
    rows.into_iter().map(|row| (row, cx.state.stats.command(row))).collect()
}

pub(super) fn commands(cx: &Ctx<'_>, fields: &mut Fields) {
    for (row, counted) in counted(cx) {
        let CommandStats { calls, microseconds, rejected, failed, .. } = counted;
        if calls > 0 || rejected > 0 || failed > 0 {
            let per_call = if calls == 0 { 0.0 } else { microseconds as f32 / calls as f32 };
            let line = format_args!(
                "calls={calls},usec={microseconds},usec_per_call={per_call:.2},rejected_calls={rejected},failed_calls={failed}"
            );
            fields.add(format_args!("cmdstat_{}", row.spec.name), line);
        }
    }
}

pub(super) fn errors(cx: &Ctx<'_>, fields: &mut Fields) {
    for (code, count) in cx.state.stats.by_code() {
        let name = String::from_utf8_lossy(code).replace(['#', ':', '\n', '\r'], "_");
        fields.add(format_args!("errorstat_{name}"), format_args!("count={count}"));
    }
}

pub(super) fn latencies(cx: &Ctx<'_>, fields: &mut Fields) {
    if !cx.state.config.latency_tracking {
        return;
    }
    let wanted = cx.state.config.text("latency-tracking-info-percentiles");
    for (row, counted) in counted(cx).into_iter().filter(|(_, counted)| counted.histogram.total() > 0) {
        let shown = wanted.split_whitespace().map(|percent| {
            let ns = counted.histogram.percentile(percent.parse().unwrap_or_default());
            format!("p{percent}={:.3}", ns as f64 / 1000.0)
        });
        let line = shown.collect::<Vec<_>>().join(",");
        fields.add(format_args!("latency_percentiles_usec_{}", row.spec.name), line);
    }
}
