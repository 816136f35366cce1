//! The one integration test binary: each module is one kind of test.

mod allocations;
#[cfg(feature = "capi")]
mod capi;
mod corpus;
mod fuzz_smoke;
mod introspection;
mod reference;
mod support;
mod tidy;
