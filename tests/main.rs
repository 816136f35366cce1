//! The one integration test binary: each module is one kind of test.

mod corpus;
mod support;
mod tidy;
