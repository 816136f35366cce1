//! The one integration test binary: each module is one kind of test.

#[cfg(feature = "capi")]
mod capi;
mod corpus;
mod support;
mod tidy;
