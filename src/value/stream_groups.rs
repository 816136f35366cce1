//! Consumer groups of a stream: how far a group has read, its consumers, and the entries that they were given and have
//! not acknowledged. The counters behind `lag` follow the server's rules, which know of deleted entries only so far.
//! Entries are in `value::stream`; the commands in `commands::{stream_groups, stream_claims, stream_reads}`.

use super::digest::Digest;
use super::stream::{Stream, StreamId};
use crate::util::bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;

/// What one entry takes up among those of its group and those of its consumer: the nodes of the trees are about two
/// thirds full.
const PENDING_BYTES: usize = (2 * size_of::<StreamId>() + size_of::<Pending>()) * 3 / 2;

/// What a consumer takes up beside a long name and its entries.
const CONSUMER_BYTES: usize = size_of::<(Bytes, u32)>() + size_of::<Option<Consumer>>();

/// The groups of a stream, in the order of their names.
pub type Groups = BTreeMap<Bytes, Group>;

/// An entry that was delivered and is not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The consumer it was delivered to, as [`Group::seen`] numbers it.
    pub consumer: u32,
    /// When it was delivered last.
    pub delivered_at_ms: i64,
    /// How often it was delivered.
    pub deliveries: u64,
}

/// A reader of a group.
#[derive(Debug, Clone)]
pub struct Consumer {
    name: Bytes,
    /// When it asked for entries last.
    pub seen_at_ms: i64,
    pending: BTreeSet<StreamId>,
}

impl Consumer {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }
    /// How many entries it has not acknowledged.
    pub fn pending_len(&self) -> usize {
        self.pending.len()
    }
    /// The entries that it has not acknowledged, from an ID on.
    pub fn pending_from(&self, start: StreamId) -> impl Iterator<Item = StreamId> {
        self.pending.range(start..).copied()
    }
}

/// A group of consumers that share the entries of a stream.
#[derive(Clone, Default)]
pub struct Group {
    /// The ID of the last entry that was delivered.
    pub last_id: StreamId,
    /// How many entries were read, as far as that is known.
    pub entries_read: Option<i64>,
    pending: BTreeMap<StreamId, Pending>,
    /// By number; the numbers of those that went are used again.
    consumers: Vec<Option<Consumer>>,
    free: Vec<u32>,
    by_name: BTreeMap<Bytes, u32>,
    /// What the long names of consumers take up.
    names_heap_bytes: usize,
}

impl Group {
    /// A group that begins behind an ID, with so many entries read.
    pub fn new(last_id: StreamId, entries_read: Option<i64>) -> Self {
        Group { last_id, entries_read, ..Group::default() }
    }
    /// The number of a consumer.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.by_name.get(name).copied()
    }
    /// The consumer with a number.
    pub fn consumer(&self, number: u32) -> Option<&Consumer> {
        self.consumers.get(number as usize)?.as_ref()
    }
    /// The name of the consumer that an entry was delivered to.
    pub fn owner(&self, pending: &Pending) -> &[u8] {
        self.consumer(pending.consumer).map_or(b"", Consumer::name)
    }
    /// All consumers, in the order of their names.
    pub fn consumers(&self) -> impl Iterator<Item = &Consumer> {
        self.by_name.values().filter_map(|&number| self.consumer(number))
    }
    /// How many consumers there are.
    pub fn consumers_len(&self) -> usize {
        self.by_name.len()
    }
    /// Adds a consumer; None when there is one of this name.
    pub fn add(&mut self, name: &[u8], now_ms: i64) -> Option<u32> {
        if self.by_name.contains_key(name) {
            return None;
        }
        let name = Bytes::from(name);
        let consumer = Some(Consumer { name: name.clone(), seen_at_ms: now_ms, pending: BTreeSet::new() });
        let number = match self.free.pop() {
            Some(number) => {
                self.consumers[number as usize] = consumer;
                number
            }
            None => {
                self.consumers.push(consumer);
                (self.consumers.len() - 1) as u32
            }
        };
        self.names_heap_bytes += name.heap_bytes();
        self.by_name.insert(name, number);
        Some(number)
    }
    /// Notes that a consumer asks, and adds it when there is none of this name: its number, and whether it is new.
    pub fn seen(&mut self, name: &[u8], now_ms: i64) -> (u32, bool) {
        let Some(number) = self.find(name) else {
            return (self.add(name, now_ms).unwrap_or_default(), true);
        };
        if let Some(Some(consumer)) = self.consumers.get_mut(number as usize) {
            consumer.seen_at_ms = now_ms;
        }
        (number, false)
    }
    /// Removes a consumer with all that it has not acknowledged; how many entries that were.
    pub fn remove_consumer(&mut self, name: &[u8]) -> Option<usize> {
        let (name, number) = self.by_name.remove_entry(name)?;
        self.names_heap_bytes -= name.heap_bytes();
        let consumer = self.consumers.get_mut(number as usize)?.take()?;
        self.free.push(number);
        consumer.pending.iter().for_each(|id| _ = self.pending.remove(id));
        Some(consumer.pending.len())
    }

    /// How many entries are not acknowledged.
    pub fn pending_len(&self) -> usize {
        self.pending.len()
    }
    /// What is known of an entry that is not acknowledged.
    pub fn pending(&self, id: StreamId) -> Option<Pending> {
        self.pending.get(&id).copied()
    }
    /// The entries that are not acknowledged, in the order of their IDs.
    pub fn pending_in(
        &self,
        ids: RangeInclusive<StreamId>,
    ) -> impl DoubleEndedIterator<Item = (StreamId, &Pending)> {
        let ids = if ids.start() <= ids.end() { ids } else { StreamId::MIN..=StreamId::MIN };
        self.pending.range(ids).map(|(id, pending)| (*id, pending))
    }
    /// Delivers an entry to a consumer, whoever had it before.
    pub fn assign(&mut self, id: StreamId, pending: Pending) {
        let before = self.pending.insert(id, pending);
        if before.is_some_and(|before| before.consumer == pending.consumer) {
            return;
        }
        if let Some(before) = before {
            self.pending_of(before.consumer).map(|pending| pending.remove(&id));
        }
        self.pending_of(pending.consumer).map(|pending| pending.insert(id));
    }
    /// Forgets an entry: it was acknowledged, or is gone from the stream.
    pub fn acknowledge(&mut self, id: StreamId) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        self.pending_of(pending.consumer).map(|pending| pending.remove(&id));
        Some(pending)
    }
    /// Delivers to its consumer again what it was given before: as it is pending now.
    pub fn deliver_again(&mut self, id: StreamId, now_ms: i64) -> Option<Pending> {
        let pending = self.pending.get_mut(&id)?;
        pending.delivered_at_ms = now_ms;
        pending.deliveries = pending.deliveries.wrapping_add(1);
        Some(*pending)
    }
    fn pending_of(&mut self, number: u32) -> Option<&mut BTreeSet<StreamId>> {
        Some(&mut self.consumers.get_mut(number as usize)?.as_mut()?.pending)
    }

    /// About how many bytes the group takes up.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<(Bytes, Self)>()
            + self.names_heap_bytes
            + self.by_name.len() * CONSUMER_BYTES
            + self.pending.len() * PENDING_BYTES
    }
    /// Adds to a digest all but when consumers were seen: that is a note of use, as the one that OBJECT IDLETIME reads.
    pub(super) fn digest(&self, digest: &mut Digest) {
        self.last_id.digest(digest);
        digest.word(self.entries_read.map_or(u64::MAX, |count| count as u64));
        digest.word(self.by_name.len() as u64);
        self.by_name.keys().for_each(|name| digest.bytes(name));
        digest.word(self.pending.len() as u64);
        for (id, pending) in &self.pending {
            id.digest(digest);
            digest.bytes(self.owner(pending));
            digest.word(pending.delivered_at_ms as u64);
            digest.word(pending.deliveries);
        }
    }
}

/// Equal whatever the numbers of the consumers and whenever they were seen.
impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        let known = |group: &Group| (group.last_id, group.entries_read, group.pending.len());
        let delivered = |pending: &Pending| (pending.delivered_at_ms, pending.deliveries);
        known(self) == known(other)
            && self.by_name.keys().eq(other.by_name.keys())
            && self.pending.iter().zip(&other.pending).all(|((id, own), (other_id, others))| {
                id == other_id
                    && delivered(own) == delivered(others)
                    && self.owner(own) == other.owner(others)
            })
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("last_id", &self.last_id)
            .field("entries_read", &self.entries_read)
            .field("consumers", &self.by_name.keys())
            .field("pending", &self.pending)
            .finish()
    }
}

/// What the counters of a stream tell of its groups.
impl Stream {
    /// How many entries a group has yet to read, as far as that is known.
    pub fn lag(&self, group: &Group) -> Option<i64> {
        if self.entries_added() == 0 {
            return Some(0);
        }
        let read = match group.entries_read {
            Some(read) if !self.has_tombstone_from(group.last_id) => read,
            _ => self.entries_up_to(group.last_id)?,
        };
        Some((self.entries_added() as i64).wrapping_sub(read))
    }
    /// A group has read an entry behind the last that it had read.
    pub fn note_read(&self, group: &mut Group, id: StreamId) {
        match group.entries_read {
            Some(read) if !self.has_tombstone_from(id) => group.entries_read = Some(read.wrapping_add(1)),
            _ if self.entries_added() > 0 => group.entries_read = self.entries_up_to(id),
            _ => {}
        }
        group.last_id = id;
    }
    /// Whether an entry with this ID or a higher one may have been deleted.
    fn has_tombstone_from(&self, start: StreamId) -> bool {
        let deleted = self.max_deleted_id();
        !self.is_empty() && deleted != StreamId::MIN && self.first_id() <= deleted && start <= deleted
    }
    /// How many entries were ever added up to an ID, where that is certain.
    pub(super) fn entries_up_to(&self, id: StreamId) -> Option<i64> {
        let (added, len) = (self.entries_added() as i64, self.len() as i64);
        if added == 0 {
            return Some(0);
        }
        if id == self.last_id() || (self.is_empty() && id < self.last_id()) {
            return Some(added);
        }
        let is_whole = self.max_deleted_id() == StreamId::MIN || self.max_deleted_id() < self.first_id();
        match id.cmp(&self.first_id()) {
            _ if id > self.last_id() || !is_whole => None,
            std::cmp::Ordering::Less => Some(added.wrapping_sub(len)),
            std::cmp::Ordering::Equal => Some(added.wrapping_sub(len).wrapping_add(1)),
            std::cmp::Ordering::Greater => None,
        }
    }
}

#[cfg(test)]
#[path = "stream_groups_tests.rs"]
mod tests;
