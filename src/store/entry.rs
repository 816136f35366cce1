//! One key with its value: 64 bytes, one cache line.

use super::memory::{EXPIRY_BYTES, KEY_BYTES};
use crate::util::bytes::Bytes;
use crate::value::Value;
use crate::value::digest::Digest;

/// No expiry. As an unsigned number it is later than any time.
pub(super) const NO_EXPIRY: i64 = -1;

/// A key, its value and its expiry.
#[derive(Debug, Clone)]
pub struct Entry {
    pub(super) key: Bytes,
    pub(super) value: Value,
    pub(super) expire_at: i64,
    pub(super) hash: u32,
    /// When or how often it was used: see `uses`.
    pub(super) used: u32,
}

const _: () = assert!(size_of::<Option<Entry>>() == 64, "one cache line");

impl Entry {
    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }
    /// The key as it is stored: a clone of it copies no long key.
    pub fn key_bytes(&self) -> &Bytes {
        &self.key
    }
    /// The value.
    #[inline]
    pub fn value(&self) -> &Value {
        &self.value
    }
    /// The value, taken out.
    pub fn into_value(self) -> Value {
        self.value
    }
    /// The instant of expiry in Unix milliseconds; the key is gone one millisecond later.
    #[inline]
    pub fn expire_at_ms(&self) -> Option<i64> {
        (self.expire_at != NO_EXPIRY).then_some(self.expire_at)
    }
    /// True once the instant of expiry has passed.
    #[inline]
    pub fn is_expired(&self, now_ms: i64) -> bool {
        (self.expire_at as u64) < now_ms as u64
    }
    /// Of key, value and expiry.
    pub(super) fn digest(&self) -> u64 {
        let mut digest = Digest::new(1);
        digest.bytes(&self.key);
        digest.word(self.value.digest());
        digest.word(self.expire_at as u64);
        digest.finish()
    }
    /// When or how often it was used, for another key that takes the value over.
    pub fn uses(&self) -> u32 {
        self.used
    }
    /// What the key takes up, by the engine's own count.
    pub fn memory_bytes(&self) -> usize {
        let expiry = if self.expire_at == NO_EXPIRY { 0 } else { EXPIRY_BYTES };
        KEY_BYTES + expiry + self.heap_bytes()
    }
    /// The long parts of key and value.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        self.key.heap_bytes() + self.value.heap_bytes()
    }
}
