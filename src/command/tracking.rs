//! CLIENT TRACKING: which keys clients hold in caches of their own, and who is told that one has changed. A client is told
//! of keys that it has read, or, in broadcasting mode, of all that begin with a prefix. Keys are noted where they change
//! (`store::observers`) and told once their command has run: to others at once, to the client itself behind its reply.
//! The commands are in `commands::tracking`.

use super::observe::Ran;
use super::session::{SCRIPT_SESSION, Session};
use super::spec::{PUBSUB, READONLY, acl};
use super::{Argv, State, keys};
use crate::reply::{Message, Resp};
use crate::store::{Modified, SessionId};
use crate::util::bytes::Bytes;
use crate::util::hasher::Map;
use crate::util::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A client, and the number that tells it from one that has its place later.
type Place = (SessionId, u64);

/// What a client that caches has asked for.
#[derive(Debug, Clone, Default)]
pub struct Caching {
    /// Whom to tell instead.
    pub redirect: Option<Place>,
    /// BCAST: all changes of keys with a prefix are told, read or not.
    pub broadcasts: bool,
    /// OPTIN: only keys of commands behind CLIENT CACHING YES are told.
    pub opts_in: bool,
    /// OPTOUT: keys of commands behind CLIENT CACHING NO are not told.
    pub opts_out: bool,
    /// NOLOOP: its own changes are not told.
    pub no_loop: bool,
    /// CLIENT CACHING holds for the next command.
    pub next_is_special: bool,
    /// The client to be told instead was not there.
    pub is_broken: bool,
    /// The prefixes of BCAST.
    pub prefixes: BTreeSet<Bytes>,
}

/// Who may hold which keys.
#[derive(Debug, Clone, Default)]
struct Readers {
    places: Map<Bytes, usize>,
    rows: Vec<(Bytes, Vec<Place>)>,
    /// Pairs of a key and a client.
    pairs: usize,
}

impl Readers {
    fn add(&mut self, key: &[u8], client: Place) {
        let at = *self.places.entry(Bytes::from(key)).or_insert_with_key(|key| {
            self.rows.push((key.clone(), Vec::new()));
            self.rows.len() - 1
        });
        let clients = &mut self.rows[at].1;
        if !clients.contains(&client) {
            clients.push(client);
            self.pairs += 1;
        }
    }
    fn take(&mut self, key: &[u8]) -> Vec<Place> {
        let Some(at) = self.places.remove(key) else { return Vec::new() };
        let (_, clients) = self.rows.swap_remove(at);
        if let Some((moved, _)) = self.rows.get(at) {
            self.places.insert(moved.clone(), at);
        }
        self.pairs -= clients.len();
        clients
    }
    fn at_random(&self, rng: &mut Rng) -> Option<Bytes> {
        self.rows.get(rng.below(self.rows.len() as u64) as usize).map(|(key, _)| key.clone())
    }
}

/// Those who are told of a prefix, and the keys that have changed since they were told last, each with the session that
/// has changed it last.
#[derive(Debug, Clone, Default)]
struct Prefix {
    clients: Vec<SessionId>,
    changed: BTreeMap<Bytes, SessionId>,
}

/// Who caches what.
#[derive(Debug, Clone)]
pub struct Tracking {
    /// How many clients cache.
    clients: usize,
    readers: Readers,
    prefixes: BTreeMap<Bytes, Prefix>,
    /// A key with a prefix has changed.
    has_broadcasts: bool,
    /// What the client that runs a command is to be told behind its reply: a key, or that all have changed.
    pending: Vec<Option<Bytes>>,
    /// The keys of the script that runs.
    script_keys: Vec<Bytes>,
    /// Chooses what is forgotten when there is too much.
    rng: Rng,
    /// How often in a row it was too much still.
    tries: u64,
}

impl Tracking {
    pub(super) fn new(seed: u64) -> Self {
        const PURPOSE: u64 = 0x7472_6163_6b69_6e67;
        Tracking {
            clients: 0,
            readers: Readers::default(),
            prefixes: BTreeMap::new(),
            has_broadcasts: false,
            pending: Vec::new(),
            script_keys: Vec::new(),
            rng: Rng::new(seed ^ PURPOSE),
            tries: 0,
        }
    }
    /// Whether anybody caches.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.clients > 0
    }
    /// Whether keys with a prefix have changed of which nobody was told.
    #[inline]
    pub(crate) fn has_broadcasts(&self) -> bool {
        self.has_broadcasts
    }
    /// How many clients cache.
    pub fn clients(&self) -> usize {
        self.clients
    }
    /// How many keys somebody may hold, how many pairs of a key and a client there are, and how many prefixes.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.readers.rows.len(), self.readers.pairs, self.prefixes.len())
    }
}

impl Session {
    /// The client that is told instead: 0 for nobody, -1 for one that does not cache.
    pub(crate) fn redirected_to(&self) -> i64 {
        let redirect = self.tracking.as_ref().map(|caching| caching.redirect);
        redirect.map_or(-1, |redirect| redirect.map_or(0, |(_, client_id)| client_id as i64))
    }
}

impl State {
    /// A session caches from now on, as asked for; what it asked for before holds no more, but for its prefixes.
    pub(crate) fn begin_tracking(&mut self, id: SessionId, wanted: Caching) {
        let before = self.sessions.get_mut(id).tracking.take();
        self.tracking.clients += usize::from(before.is_none());
        let before = before.map(|before| *before).unwrap_or_default();
        let mut prefixes = before.prefixes;
        for prefix in &wanted.prefixes {
            let listeners = &mut self.tracking.prefixes.entry(prefix.clone()).or_default().clients;
            if prefixes.insert(prefix.clone()) {
                listeners.push(id);
            }
        }
        let caching = Caching { prefixes, next_is_special: before.next_is_special, ..wanted };
        self.sessions.get_mut(id).tracking = Some(Box::new(caching));
        self.heed_tracking();
    }
    /// A session caches no more. Keys that it has read are forgotten when they change.
    pub(crate) fn end_tracking(&mut self, id: SessionId) {
        let Some(before) = self.sessions.get_mut(id).tracking.take() else { return };
        self.tracking.clients -= 1;
        for prefix in &before.prefixes {
            let Some(told) = self.tracking.prefixes.get_mut(prefix) else { continue };
            told.clients.retain(|other| *other != id);
            if told.clients.is_empty() {
                self.tracking.prefixes.remove(prefix);
            }
        }
        self.heed_tracking();
    }
    fn heed_tracking(&mut self) {
        let (keys, _, prefixes) = self.tracking.counts();
        self.store.note_changes(self.tracking.is_on() || keys + prefixes > 0);
        self.heed_config();
    }
    /// A script begins: what it reads counts as reading its keys.
    pub(crate) fn note_script_keys(&mut self, keys: &[&[u8]]) {
        if self.tracking.is_on() {
            self.tracking.script_keys = keys.iter().map(|key| Bytes::from(*key)).collect();
        }
    }
    /// A command has run: the keys that it has read are those of a client that caches from now on.
    #[cold]
    pub(super) fn remember_reads(&mut self, ran: &Ran<'_>) {
        let spec = ran.row.spec;
        if !spec.has(READONLY) || spec.categories() & acl::SCRIPTING != 0 || spec.has(PUBSUB) {
            return;
        }
        let in_script = ran.id == SCRIPT_SESSION;
        let id = if in_script { self.script_caller } else { ran.id };
        let session = self.sessions.get(id);
        let Some(caching) = &session.tracking else { return };
        let is_left_out = if caching.next_is_special { caching.opts_out } else { caching.opts_in };
        if caching.broadcasts || is_left_out {
            return;
        }
        let client = (id, session.client_id);
        let Tracking { readers, script_keys, .. } = &mut self.tracking;
        if in_script {
            script_keys.iter().for_each(|key| readers.add(key, client));
        } else {
            keys::find(spec, ran.argv).iter().for_each(|key| readers.add(ran.argv[key.at], client));
        }
    }
    /// Tells of keys that have changed: in a command that this session runs, or without one.
    #[cold]
    pub(super) fn tell_changes(&mut self, by: SessionId, in_call: bool) {
        for change in self.store.take_changes() {
            match change {
                Modified::Written(key) => self.tell_change(&key, by, in_call),
                Modified::Gone(key) => self.tell_change(&key, SCRIPT_SESSION, in_call),
                Modified::All => self.tell_flush(in_call),
            }
        }
    }
    fn tell_change(&mut self, key: &Bytes, by: SessionId, in_call: bool) {
        for (prefix, told) in &mut self.tracking.prefixes {
            if key.starts_with(prefix) {
                told.changed.insert(key.clone(), by);
                self.tracking.has_broadcasts = true;
            }
        }
        self.tell_readers(key, in_call);
    }
    /// Those who have read the key are told, and have to read it again to be told again.
    fn tell_readers(&mut self, key: &Bytes, in_call: bool) {
        for place in self.tracking.readers.take(key) {
            let Some(caching) = self.client_at(place).and_then(|session| session.tracking.as_ref()) else {
                continue;
            };
            let is_caller = place.0 == self.caller;
            if caching.broadcasts || (caching.no_loop && is_caller) {
                continue;
            }
            if is_caller && in_call {
                self.tracking.pending.push(Some(key.clone()));
            } else {
                self.send_invalidation(place.0, Some(Arc::from([key.clone()])), false);
            }
        }
    }
    /// Databases were emptied: all who cache are told so.
    fn tell_flush(&mut self, in_call: bool) {
        let caches =
            |(id, session): (SessionId, &Session)| session.tracking.as_ref().map(|_| (session.client_id, id));
        let mut clients: Vec<(u64, SessionId)> = self.sessions.iter().filter_map(caches).collect();
        clients.sort_unstable();
        for (_, id) in clients {
            if id == self.caller && in_call {
                self.tracking.pending.push(None);
            } else {
                self.send_invalidation(id, None, false);
            }
        }
        self.tracking.readers = Readers::default();
    }
    /// The client whose command runs, or has just run, is told what has changed of its own cache.
    #[cold]
    pub(crate) fn tell_caller(&mut self) {
        for key in std::mem::take(&mut self.tracking.pending) {
            self.send_invalidation(self.caller, key.map(|key| Arc::from([key])), true);
        }
    }
    /// The command of a session is over, and with it what CLIENT CACHING has said of it.
    #[cold]
    pub(crate) fn end_tracked_call(&mut self, id: SessionId, argv: Argv<'_>) {
        if self.store.has_events() {
            self.tell_events(id, true);
        }
        let in_multi = self.sessions.get(id).queue.is_some();
        let is_about_clients = self.table.resolve(argv).is_ok_and(|row| row.spec.name.starts_with("client|"));
        if let Some(caching) = &mut self.sessions.get_mut(id).tracking {
            caching.next_is_special &= in_multi || is_about_clients;
        }
    }
    /// Tells of all changes of keys with a prefix, each prefix for itself.
    #[cold]
    pub(crate) fn broadcast_changes(&mut self) {
        self.tracking.has_broadcasts = false;
        let told: Vec<Prefix> = (self.tracking.prefixes.values_mut())
            .filter(|prefix| !prefix.changed.is_empty())
            .map(|prefix| Prefix {
                clients: prefix.clients.clone(),
                changed: std::mem::take(&mut prefix.changed),
            })
            .collect();
        for Prefix { clients, changed } in told {
            let all: Arc<[Bytes]> = changed.keys().cloned().collect();
            for id in clients {
                let caching = self.sessions.get(id).tracking.as_ref();
                let mut keys = all.clone();
                if caching.is_some_and(|caching| caching.no_loop) {
                    let foreign = changed.iter().filter(|(_, by)| **by != id);
                    keys = foreign.map(|(key, _)| key.clone()).collect();
                }
                if !keys.is_empty() {
                    self.send_invalidation(id, Some(keys), true);
                }
            }
        }
    }
    /// Forgets keys that were read, chosen at random, while there are more than tracking-table-max-keys: those who have
    /// read them are told as if they had changed.
    #[cold]
    pub(crate) fn limit_tracking(&mut self) {
        const AT_ONCE: u64 = 100;
        let most = self.config.tracking_table_max_keys;
        let is_over = |state: &State| most > 0 && state.tracking.readers.rows.len() as u64 > most;
        for _ in 0..AT_ONCE * (self.tracking.tries + 1) {
            if !is_over(self) {
                self.tracking.tries = 0;
                return;
            }
            let Tracking { readers, rng, .. } = &mut self.tracking;
            let Some(key) = readers.at_random(rng) else { break };
            self.tell_readers(&key, false);
        }
        self.tracking.tries += u64::from(is_over(self));
    }
    /// Tells a client that caches, or the one that it has named for that: keys, or none for all of them. Who speaks RESP2
    /// can only be told through another client that listens to channels.
    fn send_invalidation(&mut self, id: SessionId, keys: Option<Arc<[Bytes]>>, behind: bool) {
        let session = self.sessions.get(id);
        let own = session.resp;
        let redirect = session.tracking.as_ref().and_then(|caching| caching.redirect);
        let (to, resp) = match redirect.map(|place| (place, self.client_at(place))) {
            None => (id, own),
            Some((place, Some(other))) => {
                let listens = other.subscriber.as_ref().is_some_and(|subscriber| subscriber.listens());
                if other.resp == Resp::V2 && !listens {
                    return;
                }
                (place.0, other.resp)
            }
            Some(((_, client_id), None)) => return self.note_broken_redirect(id, client_id, behind),
        };
        if resp == Resp::V3 || redirect.is_some() {
            self.send_tracked(to, Message::invalidated(keys, own, resp), behind);
        }
    }
    /// The client that is to be told is gone.
    fn note_broken_redirect(&mut self, id: SessionId, client_id: u64, behind: bool) {
        let session = self.sessions.get_mut(id);
        if let Some(caching) = &mut session.tracking {
            caching.is_broken = true;
        }
        if session.resp == Resp::V3 {
            self.send_tracked(id, Message::redirect_broken(client_id), behind);
        }
    }
    fn send_tracked(&mut self, id: SessionId, message: Message, behind: bool) {
        if behind { self.send_message_behind(id, message) } else { self.send_message(id, message) }
    }
    /// The client of this number, if it is still there.
    fn client_at(&self, (id, client_id): Place) -> Option<&Session> {
        self.sessions.find(id).filter(|session| session.client_id == client_id && !session.closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_counted_and_forgotten_with_their_key() {
        let mut readers = Readers::default();
        for (key, client) in [("a", 1), ("b", 1), ("a", 2), ("a", 1), ("c", 3)] {
            readers.add(key.as_bytes(), (client, u64::from(client)));
        }
        assert_eq!((readers.rows.len(), readers.pairs), (3, 4));
        assert_eq!(readers.take(b"a"), [(1, 1), (2, 2)]);
        assert_eq!(readers.take(b"a"), []);
        assert_eq!(readers.take(b"c"), [(3, 3)]);
        assert_eq!(readers.at_random(&mut Rng::new(1)), Some(Bytes::from("b")));
        assert_eq!(readers.take(b"b"), [(1, 1)]);
        assert_eq!((readers.rows.len(), readers.pairs, readers.places.len()), (0, 0, 0));
        assert_eq!(readers.at_random(&mut Rng::new(1)), None);
    }
}
