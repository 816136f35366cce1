//! What INFO says of the keys: the memory they take, where they are kept, how many there are.

use super::{Fields, human};
use crate::command::Ctx;
use crate::command::memory_use::MemoryUse;

pub(super) fn memory(cx: &Ctx<'_>, fields: &mut Fields) {
    let MemoryUse { used, peak, startup, overhead, resident, .. } = cx.state.memory_use();
    let store = &cx.state.store;
    let machine = cx.state.process.as_deref().map_or(0, |process| process.machine.get());
    fields.add_bytes("used_memory", used as u64);
    fields.add_bytes("used_memory_rss", resident as u64);
    fields.add_bytes("used_memory_peak", peak as u64);
    fields.add("used_memory_peak_perc", format_args!("{:.2}%", used as f64 * 100.0 / peak.max(1) as f64));
    fields.add("used_memory_overhead", overhead);
    fields.add("used_memory_startup", startup);
    fields.add("used_memory_dataset", used - overhead);
    let share = (used - overhead) as f64 * 100.0 / (used - startup).max(1) as f64;
    fields.add("used_memory_dataset_perc", format_args!("{share:.2}%"));
    fields.add("allocator_allocated", used);
    fields.add("allocator_active", resident);
    fields.add("allocator_resident", resident);
    fields.add_bytes("total_system_memory", machine);
    scripts(cx, fields);
    fields.add_bytes("maxmemory", store.memory().maxmemory);
    fields.add("maxmemory_policy", store.memory().policy.name());
    fragments(cx, fields);
    fields.add("mem_not_counted_for_evict", cx.state.replica_bytes());
    fields.add("mem_replication_backlog", 0);
    fields.add("mem_total_replication_buffers", cx.state.replica_bytes());
    fields.add("mem_clients_slaves", cx.state.replica_bytes());
    fields.add("mem_clients_normal", cx.state.client_bytes());
    fields.add("mem_cluster_links", 0);
    fields.add("mem_aof_buffer", 0);
    fields.add("mem_allocator", "rust");
    fields.add("active_defrag_running", 0);
    // What is freed in the background on a server is freed at once, and counted the same.
    fields.add("lazyfree_pending_objects", 0);
    fields.add("lazyfreed_objects", store.stats.lazy_freed);
}

fn scripts(cx: &Ctx<'_>, fields: &mut Fields) {
    let (scripts, libraries) = (cx.state.scripts.memory_bytes(), cx.state.libraries.memory_bytes());
    // What the interpreters take is not the engine's to say: see the differences.
    fields.add("used_memory_lua", 0);
    fields.add("used_memory_vm_eval", 0);
    fields.add("used_memory_lua_human", human(0));
    fields.add("used_memory_scripts_eval", scripts);
    fields.add("number_of_cached_scripts", cx.state.scripts.len());
    fields.add("number_of_functions", cx.state.libraries.functions_len());
    fields.add("number_of_libraries", cx.state.libraries.len());
    fields.add("used_memory_vm_functions", 0);
    fields.add_bytes("used_memory_vm_total", 0);
    fields.add("used_memory_functions", libraries);
    fields.add_bytes("used_memory_scripts", (scripts + libraries) as u64);
}

/// How resident memory compares with what is in use.
fn fragments(cx: &Ctx<'_>, fields: &mut Fields) {
    let MemoryUse { used, resident, .. } = cx.state.memory_use();
    let ratio = resident as f64 / used as f64;
    let bytes = resident as i64 - used as i64;
    fields.add("allocator_frag_ratio", format_args!("{ratio:.2}"));
    fields.add("allocator_frag_bytes", bytes);
    fields.add("allocator_rss_ratio", "1.00");
    fields.add("allocator_rss_bytes", 0);
    fields.add("rss_overhead_ratio", "1.00");
    fields.add("rss_overhead_bytes", 0);
    fields.add("mem_fragmentation_ratio", format_args!("{ratio:.2}"));
    fields.add("mem_fragmentation_bytes", bytes);
}

pub(super) fn persistence(cx: &Ctx<'_>, fields: &mut Fields) {
    let saving = &cx.state.saving;
    fields.add("loading", 0);
    fields.add("async_loading", 0);
    fields.add("current_cow_peak", 0);
    fields.add("current_cow_size", 0);
    fields.add("current_cow_size_age", 0);
    fields.add("current_fork_perc", "0.00");
    fields.add("current_save_keys_processed", 0);
    fields.add("current_save_keys_total", 0);
    fields.add("rdb_changes_since_last_save", cx.state.changes_since_save());
    fields.add("rdb_bgsave_in_progress", 0);
    fields.add("rdb_last_save_time", saving.saved_at_s);
    fields.add("rdb_last_bgsave_status", if saving.has_failed { "err" } else { "ok" });
    fields.add("rdb_last_bgsave_time_sec", if saving.has_saved_aside { 0 } else { -1 });
    fields.add("rdb_current_bgsave_time_sec", -1);
    fields.add("rdb_saves", saving.saves);
    fields.add("rdb_last_cow_size", 0);
    fields.add("rdb_last_load_keys_expired", saving.load_expired);
    fields.add("rdb_last_load_keys_loaded", saving.load_taken);
    fields.add("aof_enabled", u8::from(cx.state.config.appendonly));
    fields.add("aof_rewrite_in_progress", 0);
    fields.add("aof_rewrite_scheduled", 0);
    fields.add("aof_last_rewrite_time_sec", -1);
    fields.add("aof_current_rewrite_time_sec", -1);
    fields.add("aof_last_bgrewrite_status", "ok");
    fields.add("aof_rewrites", 0);
    fields.add("aof_rewrites_consecutive_failures", 0);
    fields.add("aof_last_write_status", "ok");
    fields.add("aof_last_cow_size", 0);
    fields.add("module_fork_in_progress", 0);
    fields.add("module_fork_last_cow_size", 0);
    if cx.state.config.appendonly {
        // There is no such file: what would be written to it is in the journal.
        for name in [
            "current_size",
            "base_size",
            "pending_rewrite",
            "buffer_length",
            "pending_bio_fsync",
            "delayed_fsync",
        ] {
            fields.add(format_args!("aof_{name}"), 0);
        }
    }
}

pub(super) fn keyspace(cx: &Ctx<'_>, fields: &mut Fields) {
    for db in 0..cx.state.store.databases() {
        let (keys, expires) = (cx.state.store.len(db), cx.state.store.expires_len(db));
        if keys > 0 {
            fields.add(format_args!("db{db}"), format_args!("keys={keys},expires={expires},avg_ttl=0"));
        }
    }
}
