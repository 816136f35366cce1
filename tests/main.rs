//! The one integration test binary: each module is one kind of test.

mod boundaries;
#[cfg(feature = "capi")]
mod capi;
mod corpus;
mod diff;
mod introspection;
mod reference;
mod reported;
mod support;
mod tidy;
