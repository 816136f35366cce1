//! Small things without state of the engine: clock, randomness, hashing, numbers, patterns.
//! The only places where time and entropy enter are `clock` and `rng`.

mod bigint;
pub mod bytes;
pub mod clock;
pub mod crc16;
pub mod crc64;
mod decimal;
pub mod digest;
pub mod float;
pub mod geohash;
pub mod glob;
pub mod hasher;
pub mod histogram;
pub mod latency;
pub mod lines;
pub mod long_double;
pub mod lrand48;
pub mod lzf;
pub mod num;
pub mod rng;
pub mod sort;
pub mod sparkline;
pub mod words;

#[cfg(test)]
mod recorded;
