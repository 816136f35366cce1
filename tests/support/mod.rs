//! What the judging tests share: a reference server on a held clock (`server`), replies as one comparable
//! text (`wire`), the command words of a readable test file (`words`), and the two sides that answer
//! commands behind one trait (`target`).

pub(crate) mod aof;
pub(crate) mod beside;
#[cfg(feature = "redis")]
pub(crate) mod cluster;
pub(crate) mod connection;
pub(crate) mod counting;
pub(crate) mod memory_files;
pub(crate) mod moonkeep;
pub(crate) mod not_yet;
pub(crate) mod programs;
pub(crate) mod runs;
#[cfg(feature = "server")]
pub(crate) mod served;
pub(crate) mod server;
pub(crate) mod shrink;
pub(crate) mod target;
pub(crate) mod wire;
pub(crate) mod words;
