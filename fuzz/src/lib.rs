//! What the fuzz targets do; each file of `fuzz_targets` hands libFuzzer's input to one body.
//!
//! `just fuzz commands` runs one: it needs clang and cargo-fuzz, not a nightly toolchain. Its first inputs are those that
//! the generator of `tests/fuzz_smoke.rs` draws. What it finds is made small (`cargo fuzz tmin`) and kept, under a name
//! that says what was wrong, in `regressions/<target>`; the ordinary tests run it from then on. `dictionaries/<target>.dict` has
//! words that libFuzzer puts together, `seeds/<target>` a few first inputs.

pub mod bodies;
pub mod contracts;
mod kept;
pub mod libraries;
pub mod parsers;
pub mod payloads;
#[cfg(feature = "redis-aio")]
pub mod requests;
