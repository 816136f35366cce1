//! The sources of known scripts, by SHA1. Compiled functions are the VM's own affair.

use crate::util::hasher::Map;
use crate::util::lrand48::Lrand48;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A SHA1 in lower-case hexadecimal.
pub type Sha = [u8; 40];

/// Known scripts.
#[derive(Debug, Clone, Default)]
pub struct Scripts {
    sources: Map<Key, Arc<Source>>,
    /// Grows with each flush, so that a VM notices that its functions are stale.
    generation: u64,
    /// The generator behind `math.random`.
    pub random: Lrand48,
}

/// A SHA1 as a key: its digits are spread evenly, so that some of them make a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key(Sha);

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = self.0;
        hasher.write_u64(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
        hasher.write_u64(u64::from_ne_bytes([i, j, k, l, m, n, o, p]));
    }
}

/// A known script.
#[derive(Debug)]
pub struct Source {
    /// Never given to another source in this process: a VM finds its compiled function by it.
    pub id: u64,
    /// What was given to EVAL or SCRIPT LOAD.
    pub text: Box<[u8]>,
}

impl Scripts {
    /// Becomes what the other is, of which it was a copy that may have grown.
    #[cfg(feature = "sim")]
    pub(crate) fn rewind(&mut self, other: &Scripts) {
        if self.sources.len() != other.sources.len() || self.generation != other.generation {
            *self = other.clone();
        } else {
            self.random = other.random.clone();
        }
    }
    /// The source of a script; the SHA1 may be in either case.
    #[inline]
    pub fn get(&self, sha: &[u8]) -> Option<&Arc<Source>> {
        let mut sha: Sha = sha.try_into().ok()?;
        self.sources.get(&Key(sha)).or_else(|| {
            sha.make_ascii_lowercase();
            self.sources.get(&Key(sha))
        })
    }
    /// Whether a script is known by this SHA1, in either case.
    pub fn contains(&self, sha: &[u8]) -> bool {
        self.get(sha).is_some()
    }
    /// Keeps a script.
    pub fn insert(&mut self, sha: Sha, text: &[u8]) -> &Arc<Source> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        self.sources.entry(Key(sha)).or_insert_with(|| {
            Arc::new(Source { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), text: text.into() })
        })
    }
    /// Forgets all scripts.
    pub fn clear(&mut self) {
        self.sources = Map::default();
        self.generation += 1;
    }
    /// How many scripts are known.
    pub fn len(&self) -> usize {
        self.sources.len()
    }
    /// What their sources take, with their names.
    pub fn memory_bytes(&self) -> usize {
        self.sources.values().map(|source| source.text.len() + size_of::<Sha>()).sum()
    }
    /// True when none is known.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
    /// Grows with each flush.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}
