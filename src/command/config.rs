//! The settings of an engine: all parameters that a server has. What the engine reads stands in a field; what only CONFIG
//! sets and shows is kept by name. The table of parameters is in `rows`, the command in `commands::configuration`.

mod rewrite;
mod rows;
mod setting;
mod values;

pub use rewrite::ConfigFile;
pub use setting::Setting;

use super::master::Master;
use super::output_limits::OutputLimits;
use crate::store::{Classes, MemorySettings};
use crate::util::bytes::Bytes;
use crate::value::packed::Limits;
use crate::value::rdb::Thresholds;
use crate::value::stream::NodeLimits;
use std::collections::BTreeMap;
use std::sync::Arc;

const REQUIREPASS: &str = "requirepass";

/// Settings of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How many entries ACL LOG keeps: acllog-max-len.
    pub acllog_max_len: u64,
    /// Kept and shown: writes go to a file.
    pub appendonly: bool,
    /// How long a script runs before the server answers BUSY, in milliseconds: busy-reply-threshold.
    pub busy_reply_threshold: u64,
    /// What a client may send that is not yet a whole request: client-query-buffer-limit.
    pub client_query_buffer_limit: u64,
    /// The engine is a node of a cluster.
    pub cluster_enabled: bool,
    /// How many databases there are.
    pub databases: u64,
    /// hash-max-listpack-entries.
    pub hash_max_listpack_entries: u64,
    /// hash-max-listpack-value.
    pub hash_max_listpack_value: u64,
    /// hll-sparse-max-bytes.
    pub hll_sparse_max_bytes: u64,
    /// From how many milliseconds on an event is noted by LATENCY: latency-monitor-threshold; 0 for never.
    pub latency_monitor_threshold: u64,
    /// The time that commands take is counted: latency-tracking.
    pub latency_tracking: bool,
    /// list-compress-depth.
    pub list_compress_depth: i64,
    /// list-max-listpack-size: elements, or below zero a class of sizes.
    pub list_max_listpack_size: i64,
    /// How many clients a front serves at a time.
    pub maxclients: u64,
    /// What clients may take up together, or below zero a share of maxmemory: maxmemory-clients; 0 for no limit.
    pub maxmemory_clients: i64,
    /// maxmemory-eviction-tenacity: kept, but eviction never stops half-way.
    pub maxmemory_eviction_tenacity: u64,
    /// Whom the engine follows: replicaof.
    pub master: Option<Master>,
    /// Within how many seconds a replica has to be heard of: min-replicas-max-lag; 0 for no matter.
    pub min_replicas_max_lag: u64,
    /// How many such replicas writes need: min-replicas-to-write; 0 for none.
    pub min_replicas_to_write: u64,
    /// maxmemory and what belongs to it; the store has a copy.
    pub memory: MemorySettings,
    /// What GETDEL removes is propagated as UNLINK: lazyfree-lazy-user-del.
    pub lazy_user_del: bool,
    /// FLUSHALL and FLUSHDB are ASYNC unless they say otherwise: lazyfree-lazy-user-flush.
    pub lazy_user_flush: bool,
    /// Which keyspace events are published: notify-keyspace-events.
    pub notify_keyspace_events: Classes,
    /// How much may wait to be read by a client: client-output-buffer-limit.
    pub output_limits: OutputLimits,
    /// The longest string: proto-max-bulk-len.
    pub proto_max_bulk_len: u64,
    /// As a replica, memory is the master's business: replica-ignore-maxmemory.
    pub replica_ignore_maxmemory: bool,
    /// As a replica, it takes no writes of clients: replica-read-only.
    pub replica_read_only: bool,
    /// As a replica, it shows what may be out of date: replica-serve-stale-data.
    pub replica_serve_stale_data: bool,
    /// set-max-intset-entries.
    pub set_max_intset_entries: u64,
    /// From how many microseconds on a command is noted by SLOWLOG: slowlog-log-slower-than; below zero for never.
    pub slowlog_log_slower_than: i64,
    /// How many commands SLOWLOG keeps.
    pub slowlog_max_len: u64,
    /// stream-node-max-bytes.
    pub stream_node_max_bytes: u64,
    /// stream-node-max-entries.
    pub stream_node_max_entries: u64,
    /// How often a front looks whether an idle client is still there, in seconds: tcp-keepalive; 0 for never.
    pub tcp_keepalive: u64,
    /// After how many idle seconds a front ends a client: timeout; 0 for never.
    pub timeout: u64,
    /// How many keys clients with tracking may have been told of.
    pub tracking_table_max_keys: u64,
    /// zset-max-listpack-entries.
    pub zset_max_listpack_entries: u64,
    /// zset-max-listpack-value.
    pub zset_max_listpack_value: u64,
    /// Values of other parameters that are not those of a new engine, as they are shown.
    kept: Arc<BTreeMap<&'static str, Bytes>>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            acllog_max_len: 128,
            appendonly: false,
            busy_reply_threshold: 5000,
            client_query_buffer_limit: 1 << 30,
            cluster_enabled: false,
            databases: 16,
            hash_max_listpack_entries: 512,
            hash_max_listpack_value: 64,
            hll_sparse_max_bytes: 3000,
            latency_monitor_threshold: 0,
            latency_tracking: true,
            list_compress_depth: 0,
            list_max_listpack_size: -2,
            notify_keyspace_events: Classes::NONE,
            output_limits: OutputLimits::default(),
            maxclients: 10_000,
            maxmemory_clients: 0,
            maxmemory_eviction_tenacity: 10,
            master: None,
            min_replicas_max_lag: 10,
            min_replicas_to_write: 0,
            memory: MemorySettings::default(),
            lazy_user_del: false,
            lazy_user_flush: false,
            proto_max_bulk_len: 512 * 1024 * 1024,
            replica_ignore_maxmemory: true,
            replica_read_only: true,
            replica_serve_stale_data: true,
            set_max_intset_entries: 512,
            slowlog_log_slower_than: 10_000,
            slowlog_max_len: 128,
            stream_node_max_bytes: 4096,
            stream_node_max_entries: 100,
            tcp_keepalive: 300,
            timeout: 0,
            tracking_table_max_keys: 1_000_000,
            zset_max_listpack_entries: 128,
            zset_max_listpack_value: 64,
            kept: Arc::default(),
        }
    }
}

impl Config {
    /// When a hash becomes large.
    pub fn hash_limits(&self) -> Limits {
        Limits {
            max_entries: self.hash_max_listpack_entries as usize,
            max_value: self.hash_max_listpack_value as usize,
        }
    }
    /// When a sorted set becomes large.
    pub fn zset_limits(&self) -> Limits {
        Limits {
            max_entries: self.zset_max_listpack_entries as usize,
            max_value: self.zset_max_listpack_value as usize,
        }
    }
    /// What decides the forms of values that are read from a dump or a file.
    pub fn thresholds(&self) -> Thresholds {
        Thresholds {
            hash: self.hash_limits(),
            zset: self.zset_limits(),
            set: self.set_max_intset_entries as usize,
            list: self.list_max_listpack_size,
        }
    }
    /// When a block of a stream is full.
    pub fn stream_limits(&self) -> NodeLimits {
        NodeLimits {
            max_bytes: self.stream_node_max_bytes as usize,
            max_entries: self.stream_node_max_entries as usize,
        }
    }
    /// After how many seconds and how many changes a front saves: save.
    pub fn save_points(&self) -> Vec<(i64, u64)> {
        let numbers = self.text("save");
        let numbers: Vec<i64> = numbers.split(' ').filter_map(|word| word.parse().ok()).collect();
        numbers.chunks_exact(2).map(|pair| (pair[0], pair[1].unsigned_abs())).collect()
    }
    /// The value of a parameter, as CONFIG GET shows it; empty for a name that is none.
    pub fn text(&self, name: &str) -> String {
        let value = setting(name.as_bytes()).map(|(_, setting)| setting.value(self));
        String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
    }
    /// Whether a new user may use all channels.
    pub fn acl_all_channels(&self) -> bool {
        self.text("acl-pubsub-default") == "allchannels"
    }
    /// The password of the default user as it was set here; what counts is with the users.
    pub fn requirepass(&self) -> &[u8] {
        self.kept.get(REQUIREPASS).map_or(b"", Bytes::as_slice)
    }
    /// As another one, but for the password, which belongs to users.
    pub(super) fn adopt(&mut self, other: &Config) {
        let requirepass = Bytes::from(self.requirepass());
        *self = other.clone();
        let kept = Arc::make_mut(&mut self.kept);
        kept.remove(REQUIREPASS);
        kept.extend((!requirepass.is_empty()).then_some((REQUIREPASS, requirepass)));
    }
    /// Whether the value of a parameter is `yes`.
    pub fn is_yes(&self, name: &str) -> bool {
        self.text(name) == "yes"
    }
}

/// All parameters by each of their names, in order of name.
pub fn settings() -> Vec<(&'static str, &'static Setting)> {
    let names = |setting: &'static Setting| [Some(setting.name), setting.alias].into_iter().flatten();
    let named = rows::SETTINGS.iter().flat_map(|setting| names(setting).map(move |name| (name, setting)));
    let mut all: Vec<_> = named.collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
}

/// The parameter of this name, whatever its case, and the name in lower case.
pub fn setting(name: &[u8]) -> Option<(&'static str, &'static Setting)> {
    rows::SETTINGS.iter().find_map(|setting| {
        let names = [Some(setting.name), setting.alias];
        let known = names.into_iter().flatten().find(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        known.map(|known| (known, setting))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_engine_has_the_defaults_of_the_table() {
        let config = Config::default();
        for (name, setting) in settings() {
            assert_eq!(String::from_utf8_lossy(&setting.value(&config)), setting.default, "{name}");
            let mut same = config.clone();
            setting.change(&mut same, setting.default.as_bytes()).expect("a default can be set");
            assert!(same == config, "{name}");
        }
        assert!(rows::SETTINGS.is_sorted_by_key(|setting| setting.name));
    }
}
