//! What a contract is asked about: a call's keys and arguments, and what its keys hold at that moment.

use crate::store::{Db, Held, Store};
use crate::util::bytes::Bytes;
use crate::value::Value;
use std::borrow::Cow;

/// A call, with the state that it meets.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) now_ms: i64,
    pub(crate) db: Db,
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) args: &'a [&'a [u8]],
    /// What each key holds; changes nothing when it is looked at.
    pub(crate) held: Vec<Option<Held>>,
}

impl<'a> Facts<'a> {
    /// Looks at the keys.
    pub(crate) fn look(store: &Store, db: Db, keys: &'a [&'a [u8]], args: &'a [&'a [u8]]) -> Self {
        let held = keys.iter().map(|key| store.held(db, key)).collect();
        Facts { now_ms: store.now_ms(), db, keys, args, held }
    }
    pub(super) fn held(&self, key: usize) -> Option<&Held> {
        self.held.get(key)?.as_ref()
    }
    /// What a string key holds.
    pub(super) fn text(&self, key: usize) -> Option<Cow<'_, [u8]>> {
        match &self.held(key)?.value {
            Value::String(text) => Some(Cow::Owned(text.to_vec())),
            _ => None,
        }
    }
    /// What a field of a hash holds.
    pub(super) fn field(&self, key: usize, field: &[u8]) -> Option<&[u8]> {
        match &self.held(key)?.value {
            Value::Hash(hash) => hash.get(field),
            _ => None,
        }
    }
    /// Whether a key has this element: a member, a field of a hash, an item of a list.
    pub(super) fn has(&self, key: usize, element: &[u8]) -> bool {
        match self.held(key).map(|held| &held.value) {
            Some(Value::Set(set)) => set.contains(element),
            Some(Value::ZSet(zset)) => zset.contains(element),
            Some(Value::Hash(hash)) => hash.contains(element),
            Some(Value::List(list)) => list.position(element).is_some(),
            _ => false,
        }
    }
    /// The score of a member of a sorted set.
    pub(super) fn score(&self, key: usize, member: &[u8]) -> Option<f64> {
        match &self.held(key)?.value {
            Value::ZSet(zset) => zset.score(member),
            _ => None,
        }
    }
    /// The item of a list at this place, counted from 0, or from -1 at the end.
    pub(super) fn item(&self, key: usize, place: i128) -> Option<&[u8]> {
        let Value::List(list) = &self.held(key)?.value else { return None };
        let place = if place < 0 { place.checked_add(list.len() as i128)? } else { place };
        list.get(usize::try_from(place).ok()?)
    }
    /// The time that a key has left, as PTTL tells it.
    pub(super) fn pttl(&self, key: usize) -> i128 {
        match self.held(key) {
            None => -2,
            Some(Held { expire_at_ms: None, .. }) => -1,
            Some(Held { expire_at_ms: Some(at), .. }) => i128::from(*at) - i128::from(self.now_ms),
        }
    }
    /// How many elements a key has, or bytes when it is a string; 0 when it is not there.
    pub(super) fn len(&self, key: usize) -> usize {
        match self.held(key).map(|held| &held.value) {
            None => 0,
            Some(Value::String(text)) => text.len(),
            Some(Value::List(list)) => list.len(),
            Some(Value::Hash(hash)) => hash.len(),
            Some(Value::Set(set)) => set.len(),
            Some(Value::ZSet(zset)) => zset.len(),
            Some(Value::Stream(stream)) => stream.len(),
        }
    }
}

/// What the commands of a call looked at.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// The keys that they named.
    pub(crate) keys: Vec<(Db, Vec<u8>)>,
    /// One that reaches keys which it does not name, as KEYS.
    pub(crate) beyond: Option<Vec<u8>>,
}

/// What a call has done.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What each key holds afterwards.
    pub(crate) held: Vec<Option<Held>>,
    /// The keys that were written, each write once.
    pub(crate) written: Vec<(Db, Bytes)>,
    /// What the script's commands looked at.
    pub(crate) used: Used,
    /// How many instructions of the VM ran.
    pub(crate) instructions: u64,
}
