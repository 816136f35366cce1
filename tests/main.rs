//! The one integration test binary: each module is one kind of test.
mod tidy;
