//! The one integration test binary: each module is one kind of test.

#[cfg(feature = "capi")]
mod capi;
mod corpus;
mod introspection;
mod reference;
mod support;
mod tidy;
