//! Replicas: sessions that follow all writes as RESP commands, in the form in which the journal has them. What they read
//! waits in their inbox as bytes, behind an image of the databases (`engine::host`). The commands are in
//! `commands::replication`.

use super::{Ctx, State};
use crate::command::pubsub::Subscriber;
use crate::reply::resp::encode_command;
use crate::store::{Db, JournalEntry, SessionId, Subscription, Targets};
use crate::util::rng::Rng;

/// What a session has told as a replica.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replica {
    /// The address that it wants to be known by.
    pub address: Option<Box<str>>,
    /// The port that it listens to.
    pub port: i64,
    /// It follows the writes.
    pub follows: bool,
    /// It asked by SYNC, and does not tell how far it has come.
    pub is_old: bool,
    /// It wants the image only.
    pub image_only: bool,
    /// How far it has come, as it has told.
    pub acknowledged: i64,
    /// When it told so last, in milliseconds.
    pub told_at_ms: i64,
}

/// A replica as ROLE and INFO show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its address, without the port.
    pub address: String,
    /// The port that it listens to.
    pub port: i64,
    /// How far it has come.
    pub acknowledged: i64,
    /// For how many seconds it was not heard of.
    pub lag_s: i64,
}

/// All that follow, and how far the writes have come.
#[derive(Debug, Clone, Default)]
pub struct Replication {
    followers: Vec<SessionId>,
    reader: Option<Subscription>,
    /// The database that was selected last in what the followers read.
    selected: Option<Db>,
    /// Bytes that were told so far.
    pub offset: i64,
    /// Where replicas began to be here: bytes are counted from there on.
    backlog_from: Option<i64>,
    /// How often the engine has taken another identity.
    pub identities: u64,
    /// The identity that it had as a replica, and the first byte that is not of it.
    pub former: Option<(u64, i64)>,
}

impl Replication {
    /// Those that follow, in the order in which they began to.
    pub fn followers(&self) -> &[SessionId] {
        &self.followers
    }
    /// Whether nobody follows.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.followers.is_empty()
    }
    /// Replicas have been here.
    pub fn has_backlog(&self) -> bool {
        self.backlog_from.is_some()
    }
    /// What a server would keep for replicas that come back, of at most so many bytes: the first one, and how many.
    pub fn backlog(&self, size: i64) -> Option<(i64, i64)> {
        let length = (self.offset - self.backlog_from?).min(size);
        Some((self.offset - length + 1, length))
    }
    /// A replica becomes a master: what it goes on with has another name.
    pub(crate) fn take_new_identity(&mut self) {
        self.former = Some((self.identities, self.offset + 1));
        self.identities += 1;
        self.selected = None;
    }
    /// The session follows no more.
    pub(crate) fn forget(&mut self, id: SessionId) {
        self.followers.retain(|other| *other != id);
        if self.followers.is_empty() {
            self.reader = None;
        }
    }
}

impl State {
    /// Forty digits that name what replicas follow: they follow from the seed.
    pub fn replication_id(&self) -> String {
        self.identity(self.replication.identities)
    }
    /// The name that it had as a replica, and the first byte that is not of it.
    pub fn former_replication_id(&self) -> Option<(String, i64)> {
        self.replication.former.map(|(number, offset)| (self.identity(number), offset))
    }
    fn identity(&self, number: u64) -> String {
        const PURPOSE: u64 = 0x7265_706c_6964;
        let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Rng::new(self.store.seed() ^ PURPOSE ^ number).hex(40)
    }
    /// All replicas, in the order in which they came.
    pub fn replicas(&self) -> Vec<Known> {
        let known = self.replication.followers.iter().filter_map(|&id| {
            let session = self.sessions.get(id);
            let replica = session.replica.as_ref()?;
            let came_from = session.peer.as_ref().map_or("local", |peer| &peer.address);
            let host = came_from.rsplit_once(':').map_or(came_from, |(host, _)| host);
            let since_ms = self.store.now_ms() - replica.told_at_ms;
            Some(Known {
                address: replica.address.as_deref().unwrap_or(host).to_owned(),
                port: replica.port,
                acknowledged: replica.acknowledged,
                lag_s: since_ms.max(0) / 1000,
            })
        });
        known.collect()
    }
    /// A session follows from now on, behind this image.
    pub(crate) fn follow(&mut self, id: SessionId, image: &[u8], has_offsets: bool) {
        self.stats.full_syncs += 1;
        if !self.replication.has_backlog() {
            self.replication.backlog_from = Some(self.replication.offset);
            self.replication.identities += 1;
            self.replication.former = None;
        }
        let (replication_id, offset) = (self.replication_id(), self.replication.offset);
        let now_ms = self.store.now_ms();
        let session = self.sessions.get_mut(id);
        let inbox = session.inbox();
        if has_offsets {
            inbox.raw.extend_from_slice(format!("+FULLRESYNC {replication_id} {offset}\r\n").as_bytes());
        }
        inbox.raw.extend_from_slice(format!("${}\r\n", image.len()).as_bytes());
        inbox.raw.extend_from_slice(image);
        let replica = session.replica.get_or_insert_default();
        (replica.follows, replica.is_old, replica.told_at_ms) = (true, !has_offsets, now_ms);
        self.pubsub.tell(id);
        let replication = &mut self.replication;
        replication.selected = None;
        replication.followers.push(id);
        if replication.reader.is_none() {
            replication.reader = Some(self.store.subscribe_journal());
        }
    }
    /// The end of a unit: what was written goes to those that follow.
    #[cold]
    pub(crate) fn feed_replicas(&mut self) {
        let Some(reader) = &self.replication.reader else { return };
        let entries = self.store.take_journal(reader);
        if self.has_master() {
            // What it writes meanwhile is its own.
            return;
        }
        let mut bytes = Vec::new();
        for unit in entries.chunk_by(|one, other| one.unit == other.unit) {
            for entry in to_replicas(unit, self.config.appendonly) {
                self.replication.selected = select(self.replication.selected, entry, &mut bytes);
                encode_command(&entry.argv, &mut bytes);
            }
        }
        self.send_to_replicas(&bytes);
    }
    /// Asks all replicas how far they have come.
    pub(crate) fn ask_replicas(&mut self) {
        self.feed_replicas();
        let mut bytes = Vec::new();
        encode_command(&["REPLCONF", "GETACK", "*"], &mut bytes);
        self.send_to_replicas(&bytes);
    }
    fn send_to_replicas(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.replication.offset += bytes.len() as i64;
        let told = self.replication.followers.len() as u64;
        self.stats.replica_bytes += bytes.len() as u64 * told;
        let (limit, now_s) = (self.config.output_limits.replica, self.store.now_ms().div_euclid(1000));
        for &id in &self.replication.followers {
            let session = self.sessions.get_mut(id);
            let is_told = session.replica.as_ref().is_some_and(|replica| !replica.image_only);
            if let Some(inbox) = session.subscriber.as_mut().filter(|_| is_told) {
                inbox.receive_raw(bytes, &limit, now_s);
                self.pubsub.tell(id);
            }
        }
    }
    /// How many replicas have all that was told up to here.
    pub(crate) fn replicas_at(&self, offset: i64) -> usize {
        let replicas = self.replication.followers.iter().filter_map(|&id| {
            self.sessions.get(id).replica.as_ref().filter(|replica| replica.acknowledged >= offset)
        });
        replicas.count()
    }
    /// How many replicas were heard of not longer ago than min-replicas-max-lag says.
    pub(crate) fn good_replicas(&self) -> u64 {
        let now_s = self.store.now_ms().div_euclid(1000);
        let is_good = |id: &&SessionId| {
            let told =
                self.sessions.get(**id).replica.as_ref().map(|replica| replica.told_at_ms.div_euclid(1000));
            told.is_some_and(|told_s| now_s - told_s <= self.config.min_replicas_max_lag as i64)
        };
        self.replication.followers.iter().filter(is_good).count() as u64
    }
}

impl Ctx<'_> {
    /// Whether the session follows the writes.
    pub(crate) fn is_replica(&self) -> bool {
        self.session().replica.as_ref().is_some_and(|replica| replica.follows)
    }
}

impl Subscriber {
    /// Takes bytes that are no message; whether there were any.
    pub(crate) fn take_raw(&mut self, out: &mut Vec<u8>) -> bool {
        let raw = std::mem::take(&mut self.raw);
        out.extend_from_slice(&raw);
        !raw.is_empty()
    }
}

/// What replicas are told of a unit. What goes to a file only counts for the brackets as long as there is a file.
fn to_replicas(unit: &[JournalEntry], has_file: bool) -> Vec<&JournalEntry> {
    let is_told = |entry: &&JournalEntry| matches!(entry.targets, Targets::All | Targets::Replica);
    let mut told: Vec<&JournalEntry> = unit.iter().filter(is_told).collect();
    if !has_file && told.iter().filter(|entry| !entry.is_bracket()).count() <= 1 {
        told.retain(|entry| !entry.is_bracket());
    }
    told
}

/// Writes SELECT where an entry acts on another database than the one before.
fn select(selected: Option<Db>, entry: &JournalEntry, out: &mut Vec<u8>) -> Option<Db> {
    if selected != Some(entry.db) {
        encode_command(&["SELECT", &entry.db.to_string()], out);
    }
    Some(entry.db)
}
