//! The digest of a value: 64 bits that depend on what the value holds, not on its form, the order in a table or the
//! seed of a hasher. Equal values have equal digests.

use crate::util::hasher::Hasher;
use crate::value::Value;

/// Mixes words and byte strings, in order, into 64 bits.
#[derive(Debug, Clone)]
pub struct Digest {
    state: u64,
}

const BYTES: Hasher = Hasher::with_seed(0x6d6f_6f6e_6b65_6570);

impl Digest {
    /// A digest of nothing yet; `kind` sets apart what is digested.
    pub const fn new(kind: u64) -> Self {
        Digest { state: kind }
    }
    /// Adds a number.
    pub fn word(&mut self, word: u64) {
        let mixed = u128::from(self.state ^ 0x9e37_79b9_7f4a_7c15)
            .wrapping_add(1)
            .wrapping_mul(u128::from(word ^ 0xd6e8_feb8_6659_fd93) << 1 | 1);
        self.state = (mixed as u64) ^ ((mixed >> 64) as u64) ^ self.state.rotate_left(29);
    }
    /// Adds a byte string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.word(BYTES.hash_bytes(bytes));
    }
    /// The 64 bits.
    pub fn finish(mut self) -> u64 {
        self.word(0);
        self.state
    }
}

/// The digest of a few byte strings.
fn of_parts(parts: &[&[u8]]) -> u64 {
    let mut digest = Digest::new(0);
    parts.iter().for_each(|part| digest.bytes(part));
    digest.finish()
}

/// A sum of digests: the order does not matter.
fn unordered(digests: impl Iterator<Item = u64>) -> u64 {
    digests.fold(0, u64::wrapping_add)
}

impl Value {
    /// See the head of the file `value/digest.rs`.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::new(match self {
            Value::String(_) => 1,
            Value::List(_) => 2,
            Value::Set(_) => 3,
            Value::Hash(_) => 4,
            Value::ZSet(_) => 5,
            Value::Stream(_) => 6,
        });
        match self {
            Value::String(string) => digest.bytes(string.bytes().as_bytes()),
            Value::List(list) => list.iter().for_each(|item| digest.bytes(item)),
            Value::Set(set) => {
                digest.word(set.len() as u64);
                digest.word(unordered(set.iter().map(|member| of_parts(&[&member]))));
            }
            Value::Hash(hash) => {
                digest.word(hash.len() as u64);
                digest.word(unordered(hash.iter().map(|(field, value)| of_parts(&[field, value]))));
            }
            Value::ZSet(zset) => {
                for (member, score) in zset.iter() {
                    digest.bytes(member);
                    // Both zeros are equal scores.
                    digest.word((score + 0.0).to_bits());
                }
            }
            Value::Stream(stream) => {
                stream.last_id().digest(&mut digest);
                stream.max_deleted_id().digest(&mut digest);
                digest.word(stream.entries_added());
                for entry in stream.iter() {
                    entry.id.digest(&mut digest);
                    for (field, value) in entry.fields() {
                        digest.bytes(field);
                        digest.bytes(value);
                    }
                    digest.word(entry.field_count() as u64);
                }
                for (name, group) in stream.groups() {
                    digest.bytes(name);
                    group.digest(&mut digest);
                }
            }
        }
        digest.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::packed::Limits;
    use crate::value::{Str, hash::Hash, set::Set};
    use std::sync::Arc;

    fn set(members: &[&str], max_intset_entries: usize) -> Value {
        let mut set = Set::new();
        members.iter().for_each(|member| _ = set.insert(member.as_bytes(), max_intset_entries));
        Value::Set(Arc::new(set))
    }

    #[test]
    fn the_form_and_the_order_do_not_matter() {
        assert_eq!(set(&["1", "2", "3"], 512).digest(), set(&["3", "2", "1"], 0).digest());
        let mut grown = Str::new(b"1");
        grown.make_growable().push(b'2');
        assert_eq!(Value::String(grown).digest(), Value::String(Str::new(b"12")).digest());
    }

    #[test]
    fn what_differs_differs() {
        let string = |text: &[u8]| Value::String(Str::new(text)).digest();
        let mut seen = vec![string(b""), string(b"\0"), string(b"\0\0"), string(b"1"), string(b"10")];
        seen.extend([set(&["1"], 512).digest(), set(&["1", "2"], 512).digest(), set(&[], 512).digest()]);
        for (field, value) in [("a", "bc"), ("ab", "c"), ("bc", "a")] {
            let mut hash = Hash::new();
            hash.insert(field.as_bytes(), value.as_bytes(), &Limits::HASH);
            seen.push(Value::Hash(Arc::new(hash)).digest());
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }
}
