//! What the fuzz targets do; each file of `fuzz_targets` hands libFuzzer's input to one body.

pub mod bodies;
pub mod parsers;
