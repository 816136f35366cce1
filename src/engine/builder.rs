//! Settings of a new engine.

use super::Engine;
use crate::command::config::Config;
use crate::script::Limits;
use crate::store::{Db, Store};
use crate::util::clock::Clock;

/// Settings of a new engine, see [`Engine::builder`].
#[derive(Debug, Clone)]
pub struct Builder {
    clock: Clock,
    seed: u64,
    hasher_seed: u64,
    databases: Db,
    script_limits: Limits,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            clock: Clock::default(),
            seed: 0,
            hasher_seed: 0,
            databases: 16,
            script_limits: Limits::default(),
        }
    }
}

impl Builder {
    /// The clock. Default: a manual one that stands at the start of 2024.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
    /// The seed of the one source of randomness. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// The seed of the hash tables. Default: 0. Choose it at random where the input is not trusted.
    #[must_use]
    pub fn hasher_seed(mut self, seed: u64) -> Self {
        self.hasher_seed = seed;
        self
    }
    /// How many databases SELECT knows; at least 1. Default: 16.
    #[must_use]
    pub fn databases(mut self, databases: u32) -> Self {
        self.databases = databases;
        self
    }
    /// What a script may spend. Default: enough for any script that ends by itself.
    #[must_use]
    pub fn script_limits(mut self, limits: Limits) -> Self {
        self.script_limits = limits;
        self
    }
    /// Makes the engine.
    pub fn build(self) -> Engine {
        let store = Store::new(self.databases, self.hasher_seed, self.seed);
        Engine::from_store(store, Config::default(), self.clock, self.script_limits)
    }
}
