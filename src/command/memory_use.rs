//! What takes memory beside the keys, and how it compares with them: what INFO and MEMORY tell.

use super::buffers::CLIENT_BYTES;
use super::pubsub::Topic;
use super::session::Session;
use super::{Ctx, Origin, State};
use crate::store::{BASE_BYTES, EXPIRY_BYTES, KEY_BYTES, SessionId};

/// How many buckets DEBUG CLIENT-EVICTION shows, and below which power of two the first one ends.
pub(crate) const CLIENT_BUCKETS: usize = 19;
pub(crate) const SMALLEST_BUCKET_LOG: u32 = 15;

/// Memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryUse {
    /// Taken up now, by the engine's own count.
    pub(crate) used: usize,
    /// The most that was seen.
    pub(crate) peak: usize,
    /// Taken up by an engine without a key.
    pub(crate) startup: usize,
    /// What is not keys and values, but what holds them.
    pub(crate) overhead: usize,
    /// Resident memory of the process that serves the engine; by the engine's own count where there is none.
    pub(crate) resident: usize,
    /// How many keys there are.
    pub(crate) keys: usize,
}

impl State {
    /// How memory is used.
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let (keys, expiries) = self.store.keys_and_expiries();
        // A front changes it meanwhile.
        let clients = self.client_bytes();
        let used = self.store.memory_bytes() + clients;
        let resident = self.process.as_deref().map(|process| process.resident.get() as usize);
        MemoryUse {
            used,
            peak: self.samples.peak_bytes.max(used),
            startup: BASE_BYTES,
            overhead: BASE_BYTES + keys * KEY_BYTES + expiries * EXPIRY_BYTES + clients,
            resident: resident.filter(|bytes| *bytes > 0).unwrap_or(used),
            keys,
        }
    }
    /// Memory may be at its highest now.
    pub(crate) fn note_peak(&mut self) {
        self.samples.peak_bytes =
            self.samples.peak_bytes.max(self.store.memory_bytes() + self.client_bytes());
    }
    /// What a client takes up.
    pub(crate) fn session_bytes(&self, id: SessionId) -> usize {
        let session = self.sessions.get(id);
        let held = self.held_bytes(id);
        match &session.peer {
            Some(peer) => {
                peer.buffers.note_held(held);
                peer.buffers.bytes()
            }
            None => CLIENT_BYTES + super::client_info::NO_BUFFERS.bytes() + held,
        }
    }
    /// What it takes up beside its buffers.
    fn held_bytes(&self, id: SessionId) -> usize {
        const WATCHED: usize = 64;
        const SUBSCRIBED: usize = 64;
        const QUEUED: usize = 48;
        const PREFIX: usize = 64;
        let session = self.sessions.get(id);
        let queue = session.queue.as_ref().map_or(0, |queue| queue.bytes + queue.commands.len() * QUEUED);
        let inbox = session.subscriber.as_ref().map_or(0, |subscriber| {
            let topics = subscriber.count(Topic::Channel)
                + subscriber.count(Topic::Pattern)
                + subscriber.count(Topic::Shard);
            subscriber.unread().1 + topics * SUBSCRIBED
        });
        let prefixes = session.tracking.as_ref().map_or(0, |caching| caching.prefixes.len());
        queue + inbox + self.store.watch_count(id) * WATCHED + prefixes * PREFIX
    }
    /// A client that came through a socket takes another amount now.
    #[cfg(feature = "server")]
    #[inline]
    pub(crate) fn count_client(&self, id: SessionId) {
        let session = self.sessions.get(id);
        let Some(peer) = &session.peer else { return };
        if follows(session) {
            return peer.buffers.leave_out();
        }
        let may_hold = session.queue.is_some() || session.subscriber.is_some() || session.tracking.is_some();
        peer.buffers.note_held(if may_hold || self.store.watch_count(id) > 0 {
            self.held_bytes(id)
        } else {
            0
        });
        peer.buffers.count();
    }
    /// What all clients take up that came through sockets and do not follow. Two threads may count at a time: then the sum
    /// is below zero for a moment.
    pub(crate) fn client_bytes(&self) -> usize {
        self.process
            .as_deref()
            .map_or(0, |process| usize::try_from(process.client_bytes.get() as i64).unwrap_or(0))
    }
    /// What clients may take up together: maxmemory-clients; none for no matter.
    fn client_limit(&self) -> Option<usize> {
        const LEAST: u64 = 128 * 1024;
        let maxmemory = self.config.memory.maxmemory;
        let limit = match self.config.maxmemory_clients {
            0 => return None,
            share @ ..0 if maxmemory > 0 => (maxmemory as f64 * share.unsigned_abs() as f64 / 100.0) as u64,
            ..0 => return None,
            bytes => bytes.unsigned_abs(),
        };
        Some(usize::try_from(limit.max(LEAST)).unwrap_or(usize::MAX))
    }
    /// Ends clients while all of them take more than maxmemory-clients allows, the largest ones first.
    pub(crate) fn evict_clients(&mut self) {
        let Some(limit) = self.client_limit() else { return };
        while self.client_bytes() >= limit {
            let candidates =
                self.sessions.iter().filter(|(_, session)| may_be_evicted(session)).map(|(id, _)| id);
            let Some(id) = candidates.max_by_key(|id| (self.session_bytes(*id), std::cmp::Reverse(*id)))
            else {
                return;
            };
            self.stats.evicted_clients += 1;
            Ctx::new(self, id, Origin::Client).cut_session(id);
        }
    }
    /// The clients that maxmemory-clients may end, by how much they take: for each bucket their memory, and how many they are.
    /// The first bucket is below 32 KiB, each further one twice as much, the last one without bound.
    pub(crate) fn client_buckets(&self) -> [(usize, usize); CLIENT_BUCKETS] {
        let mut buckets = [(0, 0); CLIENT_BUCKETS];
        let candidates = self.sessions.iter().filter(|(_, session)| may_be_evicted(session));
        for (id, _) in candidates {
            let bytes = self.session_bytes(id);
            let log = (usize::BITS - bytes.leading_zeros()).saturating_sub(SMALLEST_BUCKET_LOG) as usize;
            let (sum, count) = &mut buckets[log.min(CLIENT_BUCKETS - 1)];
            (*sum, *count) = (*sum + bytes, *count + 1);
        }
        buckets
    }
    /// What waits for those that follow.
    pub(crate) fn replica_bytes(&self) -> usize {
        let followers = self.replication.followers().iter();
        let inboxes = followers.filter_map(|id| self.sessions.get(*id).subscriber.as_ref());
        inboxes.map(|inbox| inbox.raw.len()).sum()
    }
    /// What is sampled from time to time, where the clock runs by itself.
    pub(crate) fn sample(&mut self, now_ms: i64) {
        if !self.samples.commands.is_due(now_ms) {
            return;
        }
        self.samples.commands.sample(now_ms, self.stats.commands());
        if let Some(process) = &self.process {
            self.samples.bytes_in.sample(now_ms, process.bytes_in.get());
            self.samples.bytes_out.sample(now_ms, process.bytes_out.get());
        }
        self.note_peak();
    }
    /// CONFIG RESETSTAT.
    pub(crate) fn reset_stats(&mut self) {
        self.stats.reset();
        self.store.stats = Default::default();
        self.samples.commands.reset();
        self.samples.bytes_in.reset();
        self.samples.bytes_out.reset();
        if let Some(process) = &self.process {
            process.reset();
        }
    }
}

fn may_be_evicted(session: &Session) -> bool {
    session.peer.is_some() && !session.no_evict && !follows(session)
}

fn follows(session: &Session) -> bool {
    session.replica.as_ref().is_some_and(|replica| replica.follows)
}
