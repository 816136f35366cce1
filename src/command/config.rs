//! The settings that CONFIG shows and changes, as far as the engine has what they set.

/// Settings of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The longest string: proto-max-bulk-len.
    pub proto_max_bulk_len: u64,
    /// hash-max-listpack-entries.
    pub hash_max_listpack_entries: u64,
    /// hash-max-listpack-value.
    pub hash_max_listpack_value: u64,
    /// set-max-intset-entries.
    pub set_max_intset_entries: u64,
    /// zset-max-listpack-entries.
    pub zset_max_listpack_entries: u64,
    /// zset-max-listpack-value.
    pub zset_max_listpack_value: u64,
    /// stream-node-max-entries.
    pub stream_node_max_entries: u64,
    /// stream-node-max-bytes.
    pub stream_node_max_bytes: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            proto_max_bulk_len: 512 * 1024 * 1024,
            hash_max_listpack_entries: 512,
            hash_max_listpack_value: 64,
            set_max_intset_entries: 512,
            zset_max_listpack_entries: 128,
            zset_max_listpack_value: 64,
            stream_node_max_entries: 100,
            stream_node_max_bytes: 4096,
        }
    }
}
