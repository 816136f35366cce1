//! The hasher of every table in the engine: foldhash with a fixed seed, so that two runs hash alike.
//! A front that faces untrusted input sets a seed of its own before the first table is made; each table keeps the
//! seed it was made with. Nothing observable may depend on hash order, whatever the seed.

use std::hash::{BuildHasher, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::{FixedState, FoldHasher};

/// A map with the engine's hasher; make one with `Map::default()`.
pub type Map<K, V> = hashbrown::HashMap<K, V, Hasher>;

/// A set with the engine's hasher; make one with `Set::default()`.
pub type Set<K> = hashbrown::HashSet<K, Hasher>;

static TABLE_SEED: AtomicU64 = AtomicU64::new(0);

/// Sets the seed of the tables made from now on, in the whole process.
pub fn set_table_seed(seed: u64) {
    TABLE_SEED.store(seed, Ordering::Relaxed);
}

/// Builds hashers of one seed.
#[derive(Clone, Debug)]
pub struct Hasher(FixedState);

impl Hasher {
    /// A hasher with a seed of the caller's choice.
    pub const fn with_seed(seed: u64) -> Self {
        Hasher(FixedState::with_seed(seed))
    }

    /// The hash of a byte string, as the tables over slabs use it.
    #[inline]
    pub fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        let mut state = self.0.build_hasher();
        state.write(bytes);
        state.finish()
    }
}

impl Default for Hasher {
    #[inline]
    fn default() -> Self {
        Hasher::with_seed(TABLE_SEED.load(Ordering::Relaxed))
    }
}

impl BuildHasher for Hasher {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::bytes::Bytes;

    #[test]
    fn equal_seeds_hash_alike_and_others_do_not() {
        let hash = |seed, bytes: &[u8]| Hasher::with_seed(seed).hash_bytes(bytes);
        assert_eq!(hash(1, b"key"), hash(1, b"key"));
        assert_ne!(hash(1, b"key"), hash(2, b"key"));
        assert_ne!(hash(1, b"key"), hash(1, b"kez"));
    }

    #[test]
    fn a_map_of_bytes_is_read_by_slice() {
        let mut map: Map<Bytes, i32> = Map::default();
        map.insert(Bytes::from("a"), 1);
        assert_eq!(map.get(b"a".as_slice()), Some(&1));
        assert_eq!(map.get(b"b".as_slice()), None);
    }
}
