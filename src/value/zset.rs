//! The zset value.

/// The zset value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ZSet;
