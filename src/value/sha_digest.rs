//! The digest that DEBUG DIGEST shows, made as the server makes it: of SHA-1s that are mixed in where order matters and
//! combined by exclusive or where it does not. The digest of states of this engine is in `digest`.

use crate::util::digest::{hex, sha1};
use crate::util::float::format_general;
use crate::util::num::NumBuf;
use crate::value::Value;

/// A digest that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaDigest([u8; 20]);

/// A digest of nothing.
pub const EMPTY: ShaDigest = ShaDigest([0; 20]);

impl ShaDigest {
    /// Adds what may stand anywhere.
    pub fn xor(&mut self, bytes: &[u8]) {
        self.0.iter_mut().zip(sha1(bytes)).for_each(|(own, other)| *own ^= other);
    }
    /// Adds what stands behind all that was mixed in before.
    pub fn mix(&mut self, bytes: &[u8]) {
        self.xor(bytes);
        self.0 = sha1(&self.0);
    }
    /// The digest.
    pub fn bytes(&self) -> [u8; 20] {
        self.0
    }
    /// The digest in hexadecimal.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
    /// Adds a value, and whether its key has an expiry.
    pub fn value(&mut self, value: &Value, expires: bool) {
        self.mix(&type_number(value).to_be_bytes());
        match value {
            Value::String(string) => self.mix(string.bytes().as_bytes()),
            Value::List(list) => list.iter().for_each(|item| self.mix(item)),
            Value::Set(set) => set.iter().for_each(|member| self.xor(&member)),
            Value::ZSet(zset) => {
                let mut buffer = NumBuf::new();
                for (member, score) in zset.iter() {
                    self.pair(member, format_general(&mut buffer, score, 17));
                }
            }
            Value::Hash(hash) => hash.iter().for_each(|(field, value)| self.pair(field, value)),
            Value::Stream(stream) => {
                for entry in stream.iter() {
                    self.mix(format!("{}.{}", entry.id.ms, entry.id.seq).as_bytes());
                    for (field, value) in entry.fields() {
                        self.mix(field);
                        self.mix(value);
                    }
                }
            }
        }
        if expires {
            self.xor(b"!!expire!!");
        }
    }
    fn pair(&mut self, one: &[u8], other: &[u8]) {
        let mut pair = EMPTY;
        pair.mix(one);
        pair.mix(other);
        self.xor(&pair.0);
    }
}

fn type_number(value: &Value) -> u32 {
    match value {
        Value::String(_) => 0,
        Value::List(_) => 1,
        Value::Set(_) => 2,
        Value::ZSet(_) => 3,
        Value::Hash(_) => 4,
        Value::Stream(_) => 6,
    }
}
