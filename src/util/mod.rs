//! Small things without state of the engine: clock, randomness, hashing, numbers, patterns.
//! The only places where time and entropy enter are `clock` and `rng`.

pub mod bytes;
pub mod hasher;
