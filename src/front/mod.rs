//! Where other worlds come in: `capi` is the C ABI. Servers and bindings to other crates belong here too.
//! A front turns foreign calls into `Client` calls and replies into foreign values; it knows no command.

#[cfg(feature = "capi")]
mod capi;
