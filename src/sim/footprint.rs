//! What a step touched of what others see: two steps of different clients whose footprints do not meet may change places.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;

/// Keys by their hash, and whether each was written. Two keys of one hash only make a search longer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Footprint {
    keys: Vec<(u64, bool)>,
    all: bool,
}

/// Hashes several values, the same in each run.
pub(super) fn hasher() -> impl Hasher {
    FixedState::with_seed(0).build_hasher()
}

/// A hash that is the same in each run.
pub(super) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    FixedState::with_seed(0).hash_one(value)
}

impl Footprint {
    pub(super) fn all() -> Self {
        Footprint { keys: Vec::new(), all: true }
    }

    /// Of nothing.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.all = false;
    }

    pub(super) fn is_all(&self) -> bool {
        self.all
    }

    /// A key of an engine.
    pub(super) fn add(&mut self, node: usize, key: &[u8], is_write: bool) {
        self.add_hash(hash_of(&(node, key)), is_write);
    }

    /// A table of the business database.
    pub(super) fn add_table(&mut self, table: &str, is_write: bool) {
        self.add_hash(hash_of(&("table", table)), is_write);
    }

    fn add_hash(&mut self, hash: u64, is_write: bool) {
        match self.keys.iter_mut().find(|(other, _)| *other == hash) {
            Some((_, written)) => *written |= is_write,
            None => self.keys.push((hash, is_write)),
        }
    }

    pub(super) fn merge(&mut self, other: &Footprint) {
        self.all |= other.all;
        for &(hash, is_write) in &other.keys {
            self.add_hash(hash, is_write);
        }
    }

    /// The same keys, but nothing is written.
    pub(super) fn read_only(mut self) -> Self {
        self.keys.iter_mut().for_each(|(_, is_write)| *is_write = false);
        self
    }

    /// Whether the order of two steps can matter.
    pub(super) fn meets(&self, other: &Footprint) -> bool {
        let touches = |one: &Footprint| one.all || !one.keys.is_empty();
        if self.all || other.all {
            return touches(self) && touches(other);
        }
        let both =
            |&(hash, is_write): &(u64, bool)| other.keys.iter().any(|&(o, w)| o == hash && (w || is_write));
        self.keys.iter().any(both)
    }
}
