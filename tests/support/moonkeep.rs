//! The engine as one side of a comparison: a fresh engine on a manual clock for each case, a client for each
//! named connection, and each reply through the encoder to what a client of a server would read.

use super::aof::line;
use super::target::{START_MS, Target};
use super::wire::Wire;
use moonkeep::reply::resp::encode;
use moonkeep::store::Targets;
use moonkeep::{Client, Clock, Engine, Journal, Reply};
use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// moonkeep behind the same face as the server.
pub(crate) struct Moonkeep {
    engine: Engine,
    connections: BTreeMap<String, Connection>,
    journal: Option<Journal>,
}

struct Connection {
    client: Client,
    replies: VecDeque<Wire>,
}

impl Default for Moonkeep {
    fn default() -> Moonkeep {
        Moonkeep { engine: fresh_engine(), connections: BTreeMap::new(), journal: None }
    }
}

fn fresh_engine() -> Engine {
    Engine::builder().clock(Clock::manual(START_MS)).build()
}

impl Moonkeep {
    /// One that tells `effects`.
    pub(crate) fn propagating() -> Moonkeep {
        let mut moonkeep = Moonkeep::default();
        moonkeep.journal = Some(moonkeep.engine.subscribe_journal().expect("the engine is at rest"));
        moonkeep
    }

    fn connection(&mut self, name: &str) -> &mut Connection {
        let engine = &self.engine;
        self.connections
            .entry(name.into())
            .or_insert_with(|| Connection { client: engine.client(), replies: VecDeque::new() })
    }
}

impl Target for Moonkeep {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        let connection = self.connection(connection);
        match catch_unwind(AssertUnwindSafe(|| replies(&mut connection.client, argv))) {
            Ok(replies) => connection.replies.extend(replies),
            Err(panic) => connection.replies.push_back(Wire::Error(panic_text(&*panic).into_bytes())),
        }
    }

    fn receive(&mut self, connection: &str) -> Wire {
        self.connection(connection).replies.pop_front().unwrap_or(Wire::Timeout)
    }

    fn advance(&mut self, ms: i64) {
        let by = Duration::from_millis(u64::try_from(ms).expect("time moves forward"));
        self.engine.advance(by).expect("a manual clock");
    }

    fn effects(&mut self) -> Vec<String> {
        let entries = self.journal.as_ref().map(|journal| journal.take().unwrap_or_default());
        let entries = entries.unwrap_or_default();
        let to_file = entries.iter().filter(|entry| matches!(entry.targets, Targets::All | Targets::Aof));
        to_file.map(|entry| line(&entry.db.to_string(), &entry.argv)).collect()
    }

    fn reset(&mut self) {
        *self = if self.journal.is_some() { Moonkeep::propagating() } else { Moonkeep::default() };
    }
}

/// Runs one command and reads back what goes over the wire, checking that it is well formed.
pub(super) fn replies(client: &mut Client, argv: &[Vec<u8>]) -> Vec<Wire> {
    let mut reply = Reply::new();
    if let Err(error) = client.call_into(argv, &mut reply) {
        return vec![Wire::Error(format!("(no reply) {error}").into_bytes())];
    }
    let mut bytes = Vec::new();
    encode(&reply, client.protocol().expect("the engine is not poisoned"), &mut bytes);
    let mut rest = bytes.as_slice();
    let mut replies = Vec::new();
    while !rest.fill_buf().unwrap_or_default().is_empty() {
        match Wire::read(&mut rest) {
            Ok(reply) => replies.push(reply),
            Err(error) => return vec![Wire::Error(format!("(malformed) {error}").into_bytes())],
        }
    }
    replies
}

fn panic_text(panic: &dyn std::any::Any) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("(panic) {}", text.unwrap_or("without a text"))
}
