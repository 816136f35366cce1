//! The sources of known scripts, by SHA1. Compiled functions are the VM's own affair.

use crate::util::hasher::Map;
use std::sync::Arc;

/// A SHA1 in lower-case hexadecimal.
pub type Sha = [u8; 40];

/// Known scripts.
#[derive(Debug, Clone, Default)]
pub struct Scripts {
    sources: Map<Sha, Arc<[u8]>>,
    /// Grows with each flush, so that a VM notices that its functions are stale.
    generation: u64,
}

impl Scripts {
    /// The source of a script; the SHA1 may be in either case.
    pub fn get(&self, sha: &[u8]) -> Option<&Arc<[u8]>> {
        let sha: Sha = sha.to_ascii_lowercase().try_into().ok()?;
        self.sources.get(&sha)
    }
    /// Keeps a script.
    pub fn insert(&mut self, sha: Sha, source: &[u8]) {
        self.sources.entry(sha).or_insert_with(|| Arc::from(source));
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
    /// True when none is known.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
    /// Grows with each flush.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}
