//! The one integration test binary: each module is one kind of test.

mod allocations;
mod boundaries;
#[cfg(feature = "capi")]
mod capi;
mod corpus;
mod diff;
mod fuzz_smoke;
mod introspection;
mod reference;
mod reported;
mod support;
mod tidy;
