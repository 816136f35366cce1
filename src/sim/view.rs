//! What an invariant sees of a schedule.

use super::run::{Fate, Run};
use super::store::Row;
use super::world::Node;
use crate::engine::explored::Glance;
use crate::error::Error;
use crate::reply::FromReply;

/// What a predicate gives: a bool, or a result whose error says what is wrong.
pub trait Judgement {
    /// Nothing, or what is wrong; an empty text when there is no more to say.
    fn judge(self) -> Result<(), String>;
}

impl Judgement for bool {
    fn judge(self) -> Result<(), String> {
        if self { Ok(()) } else { Err(String::new()) }
    }
}

impl<E: std::fmt::Display> Judgement for Result<(), E> {
    fn judge(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// A point of a schedule as an invariant sees it. Looking changes nothing: each look is at a copy. To ask for a client that
/// there is not is an error of the exploration.
pub struct View<'r> {
    pub(super) run: &'r Run,
}

impl View<'_> {
    /// Runs a command on a copy of the engine.
    ///
    /// # Errors
    /// As [`crate::Client::query`].
    pub fn query<R: FromReply, T: AsRef<[u8]>>(&self, argv: impl AsRef<[T]>) -> Result<R, Error> {
        self.query_on(Node(0), argv)
    }

    /// Runs a command on a copy of another engine.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn query_on<R: FromReply, T: AsRef<[u8]>>(
        &self,
        node: Node,
        argv: impl AsRef<[T]>,
    ) -> Result<R, Error> {
        match self.run.places.get(node.0) {
            Some(place) => place.engine.fork()?.try_client()?.query(argv),
            None => Err(Error::usage("this engine is none of the world")),
        }
    }

    /// The committed rows of a table of the business database, with their keys and in their order.
    pub fn rows(&self, table: &str) -> Vec<(String, Row)> {
        self.run.tables.rows(table).map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    /// One of them.
    pub fn row(&self, table: &str, key: &str) -> Option<Row> {
        self.run.tables.rows(table).find(|(other, _)| *other == key).map(|(_, row)| row.clone())
    }

    /// The string that a key holds; none when there is none.
    pub fn get(&self, key: &str) -> Option<String> {
        match self.run.places.first()?.engine.glance(key.as_bytes()) {
            Ok(Some(Glance::Text(text))) => String::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// The integer that a key holds; none when there is none.
    pub fn int(&self, key: &str) -> Option<i64> {
        self.get(key)?.parse().ok()
    }

    /// How often clients counted this with [`Client::tally`](super::Client::tally).
    pub fn tally(&self, name: &str) -> i64 {
        let desks = self.run.desks.lock();
        desks.tallies.iter().find(|(other, _)| other == name).map_or(0, |&(_, count)| count)
    }

    /// The time in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.run.now_ms
    }

    /// Whether this client has come to its end without an error.
    pub fn is_done(&self, client: &str) -> bool {
        self.fate(client) == Some(&Fate::Done)
    }

    /// Whether this client has crashed.
    pub fn is_crashed(&self, client: &str) -> bool {
        self.fate(client) == Some(&Fate::Crashed)
    }

    /// Whether this client's call waits for somebody.
    pub fn is_waiting(&self, client: &str) -> bool {
        matches!(self.fate(client), Some(Fate::Waiting(_)))
    }

    /// The error that this client ended with.
    pub fn error(&self, client: &str) -> Option<&str> {
        match self.fate(client) {
            Some(Fate::Failed(text)) => Some(text),
            _ => None,
        }
    }

    fn fate(&self, client: &str) -> Option<&Fate> {
        match self.run.names.iter().position(|name| name == client) {
            Some(index) => Some(&self.run.sessions[index].fate),
            None => {
                self.run.base.as_ref().inspect(|base| base.note_unknown(client));
                None
            }
        }
    }
}
