//! The zset value.
