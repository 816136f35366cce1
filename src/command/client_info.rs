//! A client in one line, as CLIENT LIST shows it and the log of refused commands keeps it. What only a socket has reads
//! as it does for a client that has been idle for a while. The commands are in `commands::client`.

use super::State;
use super::args::is;
use super::buffers::Figures;
use super::pubsub::{Subscriber, Topic};
use super::session::Session;
use crate::error::Failure;
use crate::store::SessionId;
use std::io::Write;

/// The figures of a client without a socket.
pub(crate) const NO_BUFFERS: Figures = Figures {
    unread: 0,
    unread_free: 0,
    words: 0,
    reply_buffer: 1024,
    reply_peak: 0,
    buffered: 0,
    blocks: 0,
    block_bytes: 0,
};

/// The kinds of clients.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Normal,
    /// Those who have subscribed to something.
    Subscriber,
    /// Those who follow what is written.
    Replica,
    /// Whom this engine follows: it has no link to one.
    Master,
}

impl Type {
    /// The kind of this name.
    pub(crate) fn named(name: &[u8]) -> Result<Type, Failure> {
        if is(name, "normal") {
            return Ok(Type::Normal);
        }
        if is(name, "pubsub") {
            return Ok(Type::Subscriber);
        }
        if is(name, "slave") || is(name, "replica") {
            return Ok(Type::Replica);
        }
        if is(name, "master") {
            return Ok(Type::Master);
        }
        Err(Failure::unknown_client_type(name))
    }
    /// The kind of a client.
    pub(crate) fn of(session: &Session) -> Type {
        if session.replica.as_ref().is_some_and(|replica| replica.follows) {
            return Type::Replica;
        }
        if listens(session) { Type::Subscriber } else { Type::Normal }
    }
}

fn listens(session: &Session) -> bool {
    session.subscriber.as_ref().is_some_and(|subscriber| subscriber.listens())
}

/// The address of a client; what stands for it where there is no socket. The session that scripts run with has none at all.
pub(crate) fn address(session: &Session) -> String {
    match &session.peer {
        Some(peer) => peer.address.to_string(),
        None if session.client_id == 0 => "?:0".to_owned(),
        None => format!("local:{}", session.client_id),
    }
}

/// Where it came in; clients of the same process all come in at one place.
pub(crate) fn local_address(session: &Session) -> &str {
    session.peer.as_ref().map_or("local:0", |peer| &peer.local_address)
}

impl State {
    /// One line of CLIENT LIST, without its end.
    pub(crate) fn client_info(&self, id: SessionId) -> Vec<u8> {
        let session = self.sessions.get(id);
        let seconds_since = |at_ms: i64| self.store.now_ms().div_euclid(1000) - at_ms.div_euclid(1000);
        let queued = session.queue.as_ref().map(|queue| queue.commands.len()).or(session.running);
        let queued = queued.map_or(-1, |count| count as i64);
        let queue_bytes = session.queue.as_ref().map_or(0, |queue| queue.bytes);
        let subscriber = session.subscriber.as_deref();
        let count = |topic| subscriber.map_or(0, |subscriber| subscriber.count(topic));
        let (unread, unread_bytes) = subscriber.map_or((0, 0), Subscriber::unread);
        let held = session.peer.as_ref().map_or(NO_BUFFERS, |peer| peer.buffers.figures());
        let command = if session.last_command.is_empty() { "NULL" } else { session.last_command };
        let mut line = Vec::new();
        let _ = write!(
            line,
            "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} ssub={} \
             multi={queued} qbuf={} qbuf-free={} argv-mem={} multi-mem={queue_bytes} rbs={} rbp={} obl={} oll={} omem={} \
             tot-mem={} events=r cmd={command} user=",
            session.client_id,
            address(session),
            local_address(session),
            session.peer.as_ref().map_or(-1, |peer| peer.descriptor),
            String::from_utf8_lossy(&session.name),
            seconds_since(session.created_at_ms),
            seconds_since(session.used_at_ms),
            self.client_flags(id, session),
            session.db,
            count(Topic::Channel),
            count(Topic::Pattern),
            count(Topic::Shard),
            held.unread,
            held.unread_free,
            held.words,
            held.reply_buffer,
            held.reply_peak,
            held.buffered,
            held.blocks + unread,
            held.block_bytes + unread_bytes,
            self.session_bytes(id),
        );
        line.extend_from_slice(session.user_name());
        let _ = write!(line, " redir={} resp={}", session.redirected_to(), session.resp.number());
        line
    }
    fn client_flags(&self, id: SessionId, session: &Session) -> String {
        let mut flags = String::new();
        for (set, flag) in [
            (session.monitors, 'O'),
            (Type::of(session) == Type::Replica, 'S'),
            (listens(session), 'P'),
            (session.queue.is_some() || session.running.is_some(), 'x'),
            (session.blocked.is_some(), 'b'),
            (session.tracking.is_some(), 't'),
            (session.tracking.as_ref().is_some_and(|caching| caching.is_broken), 'R'),
            (session.tracking.as_ref().is_some_and(|caching| caching.broadcasts), 'B'),
            (self.store.watch_is_broken(id), 'd'),
            (session.peer.as_ref().is_some_and(|peer| peer.is_unix), 'U'),
            (session.reads_replicas, 'r'),
            (session.no_evict, 'e'),
        ] {
            flags.extend(set.then_some(flag));
        }
        if flags.is_empty() { "N".to_owned() } else { flags }
    }
}
