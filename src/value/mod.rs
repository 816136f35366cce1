//! The data structures a key can hold. No keys, no time, no clients here: those are in `store` and `command`.

pub mod hash;
pub mod list;
pub mod packed;
pub mod set;
pub mod stream;
pub mod table;
pub mod zset;
