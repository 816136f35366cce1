//! Where other worlds come in: `capi` is the C ABI, `server` speaks RESP over sockets, `redis` gives the redis crate
//! connections to an engine in the same process. Bindings to other crates belong here too.
//! A front turns foreign calls into `Client` calls and replies into foreign values; it knows no command.

#[cfg(feature = "capi")]
mod capi;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "server", feature = "redis"))]
mod request;
#[cfg(feature = "server")]
pub mod server;
