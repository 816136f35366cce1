//! Who listens to what: channels, patterns and sharded channels, with the sessions that have subscribed in the order in
//! which they did, and for each session its subscriptions and its inbox. Plain data; the commands are in
//! `commands::pubsub`, what wakes a reader in `engine::inbox`.

use super::buffers::Buffers;
use super::output_limits::BufferLimit;
use super::session::{Session, Sessions};
use super::{Ctx, State};
use crate::reply::{Message, Resp, Via};
use crate::store::{Classes, SessionId, Told};
use crate::util::bytes::Bytes;
use crate::util::glob::glob;
use crate::util::hasher::Map;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What one subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A channel.
    Channel,
    /// All channels whose names match a pattern.
    Pattern,
    /// A sharded channel.
    Shard,
}

/// A map that is walked in the order in which its names were added.
#[derive(Debug, Clone)]
pub(crate) struct Ordered<V> {
    places: Map<Bytes, u64>,
    items: BTreeMap<u64, (Bytes, V)>,
    next: u64,
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Ordered { places: Map::default(), items: BTreeMap::new(), next: 0 }
    }
}

impl<V: Default> Ordered<V> {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
    pub(crate) fn get(&self, name: &[u8]) -> Option<&V> {
        self.items.get(self.places.get(name)?).map(|(_, value)| value)
    }
    /// The value of a name, made when there is none; and whether it was.
    fn enter(&mut self, name: &Bytes) -> (&mut V, bool) {
        let next = self.next;
        let place = *self.places.entry(name.clone()).or_insert(next);
        self.next += u64::from(place == next);
        let (_, value) = self.items.entry(place).or_insert_with(|| (name.clone(), V::default()));
        (value, place == next)
    }
    fn get_mut(&mut self, name: &[u8]) -> Option<&mut V> {
        self.items.get_mut(self.places.get(name)?).map(|(_, value)| value)
    }
    fn remove(&mut self, name: &[u8]) -> bool {
        let gone = self.places.remove(name).is_some_and(|place| self.items.remove(&place).is_some());
        if self.items.is_empty() {
            self.places = Map::default();
        }
        gone
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, &V)> {
        self.items.values().map(|(name, value)| (name, value))
    }
}

/// One value for each kind of topic.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topics<V> {
    channels: Ordered<V>,
    patterns: Ordered<V>,
    shards: Ordered<V>,
}

impl<V> Topics<V> {
    pub(crate) fn of(&self, topic: Topic) -> &Ordered<V> {
        match topic {
            Topic::Channel => &self.channels,
            Topic::Pattern => &self.patterns,
            Topic::Shard => &self.shards,
        }
    }
    fn of_mut(&mut self, topic: Topic) -> &mut Ordered<V> {
        match topic {
            Topic::Channel => &mut self.channels,
            Topic::Pattern => &mut self.patterns,
            Topic::Shard => &mut self.shards,
        }
    }
}

/// What a session has that has ever subscribed.
#[derive(Debug, Clone, Default)]
pub struct Subscriber {
    names: Topics<()>,
    inbox: VecDeque<Message>,
    /// What stands behind the reply of the command that the session has called last, and so behind the inbox.
    behind: VecDeque<Message>,
    /// What the messages in both take on the wire.
    inbox_bytes: usize,
    /// Since when the inbox holds more than the soft limit, in seconds.
    above_soft_since_s: Option<i64>,
    /// The inbox held more than a limit: the session ends with the unit.
    overflowed: bool,
    /// Bytes to be read that are no message: what a replica follows.
    pub(crate) raw: Vec<u8>,
    /// Of a client that came through a socket: what has left the inbox waits there.
    buffers: Option<Arc<Buffers>>,
}

impl Subscriber {
    /// How many topics of a kind there are.
    pub fn count(&self, topic: Topic) -> usize {
        self.names.of(topic).len()
    }
    /// The topics of a kind.
    pub(crate) fn topics(&self, topic: Topic) -> impl Iterator<Item = &Bytes> {
        self.names.of(topic).iter().map(|(name, ())| name)
    }
    /// What a reply to SUBSCRIBE and its like counts.
    pub fn told_count(&self, topic: Topic) -> usize {
        match topic {
            Topic::Shard => self.count(Topic::Shard),
            Topic::Channel | Topic::Pattern => self.count(Topic::Channel) + self.count(Topic::Pattern),
        }
    }
    /// Whether it listens to anything.
    pub fn listens(&self) -> bool {
        self.told_count(Topic::Channel) + self.count(Topic::Shard) > 0
    }
    /// How many messages wait to be read, and their bytes on the wire.
    pub fn unread(&self) -> (usize, usize) {
        (self.inbox.len() + self.behind.len(), self.inbox_bytes)
    }
    /// Takes the oldest message.
    pub(crate) fn take(&mut self) -> Option<Message> {
        if self.inbox.is_empty() {
            self.catch_up();
        }
        self.take_ahead()
    }
    /// The session calls again: what stood behind its reply stands before all that comes now.
    pub(crate) fn catch_up(&mut self) {
        self.inbox.append(&mut self.behind);
    }
    /// Takes the oldest message that stands before the reply.
    pub(crate) fn take_ahead(&mut self) -> Option<Message> {
        let message = self.inbox.pop_front()?;
        self.inbox_bytes -= message.wire_bytes();
        if self.inbox.is_empty() {
            self.inbox = VecDeque::new();
        }
        Some(message)
    }
    /// Puts bytes in that are no message.
    pub(crate) fn receive_raw(&mut self, bytes: &[u8], limit: &BufferLimit, now_s: i64) {
        if !self.overflowed {
            self.raw.extend_from_slice(bytes);
            self.check_limit(limit, now_s);
        }
    }
    /// Puts a message in; true when there was none, or there are too many now.
    fn receive(&mut self, message: Message, place: Place, limit: &BufferLimit, now_s: i64) -> bool {
        if self.overflowed {
            return false;
        }
        let was_empty = self.inbox.is_empty() && self.behind.is_empty();
        let bytes = message.wire_bytes();
        self.inbox_bytes += bytes;
        if let Some(buffers) = &self.buffers {
            buffers.note_message(bytes);
        }
        match place {
            Place::Last if self.behind.is_empty() => self.inbox.push_back(message),
            Place::Ahead => self.inbox.push_back(message),
            Place::Behind | Place::Last => self.behind.push_back(message),
        }
        self.check_limit(limit, now_s);
        was_empty || self.overflowed
    }
    /// Whether what waits for the session is too much, or has been for too long.
    pub(crate) fn check_limit(&mut self, limit: &BufferLimit, now_s: i64) -> bool {
        let sent_on = self.buffers.as_ref().map_or(0, |buffers| buffers.block_bytes());
        let bytes = (self.inbox_bytes + self.raw.len() + sent_on) as u64;
        if limit.is_exceeded(bytes, &mut self.above_soft_since_s, now_s) {
            self.overflowed = true;
            self.inbox = VecDeque::new();
            self.behind = VecDeque::new();
            self.inbox_bytes = 0;
            self.raw = Vec::new();
        }
        self.overflowed
    }
}

/// Where a message stands among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind all that has come.
    Last,
    /// Before the reply of the command that the session itself runs,
    Ahead,
    /// and behind it.
    Behind,
}

impl Place {
    /// Before the reply of the command that the session runs, when it does; behind one that it has not read yet.
    fn ahead(session: &Session, runs: bool) -> Self {
        match (runs, session.is_answered) {
            (true, _) => Place::Ahead,
            (false, true) => Place::Behind,
            (false, false) => Place::Last,
        }
    }
}

/// All subscriptions.
#[derive(Debug, Clone, Default)]
pub struct PubSub {
    listeners: Topics<Vec<SessionId>>,
    /// Sessions whose inbox was empty and is not any more, or has run over.
    news: Vec<SessionId>,
}

impl PubSub {
    /// How many topics of a kind somebody listens to.
    pub fn count(&self, topic: Topic) -> usize {
        self.listeners.of(topic).len()
    }
    /// The topics of a kind that somebody listens to, in the order in which the first one came.
    pub fn names(&self, topic: Topic) -> impl Iterator<Item = &[u8]> {
        self.listeners.of(topic).iter().map(|(name, _)| name.as_slice())
    }
    /// How many sessions listen to one.
    pub fn listeners(&self, topic: Topic, name: &[u8]) -> usize {
        self.listeners.of(topic).get(name).map_or(0, Vec::len)
    }
    /// Whether anybody listens to channels.
    pub(crate) fn is_heard(&self) -> bool {
        self.count(Topic::Channel) + self.count(Topic::Pattern) > 0
    }
    /// Whether there is somebody to be told.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }
    /// Somebody is to be told.
    pub(crate) fn tell(&mut self, id: SessionId) {
        self.news.push(id);
    }
    /// Those who are to be told that something has come, or that nothing will.
    pub(crate) fn take_news(&mut self) -> Vec<SessionId> {
        std::mem::take(&mut self.news)
    }
    fn forget(&mut self, id: SessionId, topic: Topic, name: &[u8]) {
        let listeners = self.listeners.of_mut(topic);
        let Some(sessions) = listeners.get_mut(name) else { return };
        sessions.retain(|other| *other != id);
        if sessions.is_empty() {
            listeners.remove(name);
        }
    }
    /// Sends a message to all who listen, in the order in which they began to; answers to how many.
    pub(crate) fn publish(&mut self, post: &Post<'_>, sessions: &mut Sessions) -> usize {
        if !post.is_sharded && !self.is_heard() {
            return 0;
        }
        let PubSub { listeners, news } = self;
        let (channel, payload) = (Bytes::from(post.channel), Bytes::from(post.payload));
        let mut count = 0;
        let mut send = |via: &Via, to: &[SessionId]| {
            for id in to {
                count += 1;
                let session = sessions.get_mut(*id);
                let (resp, place) = (session.resp, Place::ahead(session, *id == post.caller));
                let Some(subscriber) = &mut session.subscriber else { continue };
                let message = Message::published(via.clone(), channel.clone(), payload.clone(), resp);
                let is_news = subscriber.receive(message, place, post.limit, post.now_s);
                news.extend(is_news.then_some(*id));
            }
        };
        let (topic, via) = match post.is_sharded {
            true => (Topic::Shard, Via::Shard),
            false => (Topic::Channel, Via::Channel),
        };
        listeners.of(topic).get(post.channel).into_iter().for_each(|to| send(&via, to));
        if !post.is_sharded {
            let fitting = listeners.patterns.iter().filter(|(pattern, _)| glob(pattern, post.channel, false));
            fitting.for_each(|(pattern, to)| send(&Via::Pattern(pattern.clone()), to));
        }
        count
    }
}

/// A message on its way.
pub(crate) struct Post<'a> {
    is_sharded: bool,
    channel: &'a [u8],
    payload: &'a [u8],
    limit: &'a BufferLimit,
    now_s: i64,
    /// The session whose command publishes it.
    caller: SessionId,
}

impl State {
    /// Puts a message into the inbox of a session: before the reply, where the session runs a command now.
    pub(crate) fn send_message(&mut self, id: SessionId, message: Message) {
        let place = Place::ahead(self.sessions.get(id), id == self.caller);
        self.put_message(id, message, place);
    }
    /// The same, but behind the reply.
    pub(crate) fn send_message_behind(&mut self, id: SessionId, message: Message) {
        let session = self.sessions.get(id);
        let place = if id == self.caller || session.is_answered { Place::Behind } else { Place::Last };
        self.put_message(id, message, place);
    }
    fn put_message(&mut self, id: SessionId, message: Message, place: Place) {
        let now_s = self.store.now_ms().div_euclid(1000);
        let session = self.sessions.get_mut(id);
        if session.closed {
            return;
        }
        let limit = *self.config.output_limits.of(session);
        if session.inbox().receive(message, place, &limit, now_s) {
            self.pubsub.tell(id);
        }
    }
    /// Sends a message to all who listen; answers to how many.
    pub(crate) fn publish(&mut self, is_sharded: bool, channel: &[u8], payload: &[u8]) -> usize {
        let State { pubsub, sessions, config, store, caller, .. } = self;
        let (limit, now_s) = (&config.output_limits.pubsub, store.now_ms().div_euclid(1000));
        let post = Post { is_sharded, channel, payload, limit, now_s, caller: *caller };
        pubsub.publish(&post, sessions)
    }
    /// Notes which keyspace events somebody may hear, after subscriptions or settings have changed.
    pub(crate) fn listen(&mut self) {
        self.attend();
        let wanted = self.config.notify_keyspace_events;
        let heard = wanted.is_heard() && self.pubsub.is_heard();
        self.store.listen(if heard { wanted } else { Classes::NONE });
    }
    /// Tells of the keys that have changed, and publishes the keyspace events, in their order: those of the command that
    /// has run for a session, or what has happened without one.
    #[cold]
    pub(crate) fn tell_events(&mut self, by: SessionId, in_call: bool) {
        self.tell_changes(by, in_call);
        let classes = self.config.notify_keyspace_events;
        for Told { db, key, event } in self.store.take_events() {
            if classes.to_keyspace() {
                let channel = [format!("__keyspace@{db}__:").as_bytes(), &key].concat();
                self.publish(false, &channel, event.name.as_bytes());
            }
            if classes.to_keyevent() {
                let channel = format!("__keyevent@{db}__:{}", event.name);
                self.publish(false, channel.as_bytes(), &key);
            }
        }
    }
    /// The session listens to nothing any more.
    pub(crate) fn end_subscriptions(&mut self, id: SessionId) {
        let Some(subscriber) = &mut self.sessions.get_mut(id).subscriber else { return };
        let names = std::mem::take(&mut subscriber.names);
        for topic in [Topic::Channel, Topic::Pattern, Topic::Shard] {
            names.of(topic).iter().for_each(|(name, ())| self.pubsub.forget(id, topic, name));
        }
        self.listen();
    }
    /// Whether the inbox of a session that is open has run over.
    pub(crate) fn has_overflowed(&self, id: SessionId) -> bool {
        let session = self.sessions.find(id).filter(|session| !session.closed);
        let subscriber = session.and_then(|session| session.subscriber.as_ref());
        subscriber.is_some_and(|subscriber| subscriber.overflowed)
    }
    /// Nothing more is known of the session.
    pub(crate) fn forget_session(&mut self, id: SessionId) {
        self.store.unwatch(id);
        self.end_subscriptions(id);
        self.end_monitoring(id);
        self.end_tracking(id);
        self.replication.forget(id);
        self.sessions.close(id);
    }
}

impl Ctx<'_> {
    /// The session's subscriptions, if it has ever subscribed.
    pub(crate) fn subscriber(&self) -> Option<&Subscriber> {
        self.session().subscriber.as_deref()
    }
    /// Whether the session takes only commands about subscriptions: it has some and speaks RESP2.
    pub(crate) fn only_listens(&self) -> bool {
        self.session().only_listens()
    }
    /// Subscribes the session.
    pub(crate) fn subscribe(&mut self, topic: Topic, name: &[u8]) {
        let (id, name) = (self.id, Bytes::from(name));
        let subscriber = self.session_mut().inbox();
        let (_, is_new) = subscriber.names.of_mut(topic).enter(&name);
        if is_new {
            self.state.pubsub.listeners.of_mut(topic).enter(&name).0.push(id);
        }
    }
    /// Ends a subscription of the session.
    pub(crate) fn unsubscribe(&mut self, topic: Topic, name: &[u8]) {
        let id = self.id;
        let Some(subscriber) = &mut self.session_mut().subscriber else { return };
        if subscriber.names.of_mut(topic).remove(name) {
            self.state.pubsub.forget(id, topic, name);
        }
    }
    /// What the session listens to, in the order in which it began to.
    pub(crate) fn subscriptions(&self, topic: Topic) -> Vec<Bytes> {
        let names = self.subscriber().map(|subscriber| subscriber.names.of(topic).iter());
        names.into_iter().flatten().map(|(name, ())| name.clone()).collect()
    }
}

/// Whether a session takes only commands about subscriptions.
impl super::session::Session {
    /// Its inbox, made where there is none.
    pub(crate) fn inbox(&mut self) -> &mut Subscriber {
        self.subscriber.get_or_insert_with(|| {
            let buffers = self.peer.as_ref().map(|peer| Arc::clone(&peer.buffers));
            Box::new(Subscriber { buffers, ..Subscriber::default() })
        })
    }
    /// It has subscriptions and speaks RESP2.
    #[inline]
    pub fn only_listens(&self) -> bool {
        match &self.subscriber {
            None => false,
            Some(subscriber) => self.resp == Resp::V2 && subscriber.listens(),
        }
    }
}
