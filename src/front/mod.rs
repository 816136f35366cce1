//! Where other worlds come in: `capi` is the C ABI, `server` speaks RESP over sockets. Bindings to other crates belong here
//! too.
//! A front turns foreign calls into `Client` calls and replies into foreign values; it knows no command.

#[cfg(feature = "capi")]
mod capi;
#[cfg(feature = "server")]
pub mod server;
