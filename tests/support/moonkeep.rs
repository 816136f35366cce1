//! The engine as one side of a comparison: a fresh engine on a manual clock for each case, a client for each
//! named connection, and each reply through the encoder to what a client of a server would read.

use super::aof::line;
use super::memory_files::MemoryFiles;
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
    /// Its last command waits; what is sent meanwhile runs after it.
    waits: bool,
    unread: VecDeque<Vec<Vec<u8>>>,
}

impl Default for Moonkeep {
    fn default() -> Moonkeep {
        Moonkeep { engine: fresh_engine(), connections: BTreeMap::new(), journal: None }
    }
}

impl Moonkeep {
    /// One of an engine with other settings; `reset` forgets them.
    pub(crate) fn of(set: impl FnOnce(moonkeep::Builder) -> moonkeep::Builder) -> Moonkeep {
        Moonkeep {
            engine: set(Engine::builder().clock(Clock::manual(START_MS))).build(),
            ..Moonkeep::default()
        }
    }
}

fn fresh_engine() -> Engine {
    let files = std::sync::Arc::new(MemoryFiles::default());
    Engine::builder().clock(Clock::manual(START_MS)).files(files).build()
}

impl Moonkeep {
    /// One that tells `effects`.
    pub(crate) fn propagating() -> Moonkeep {
        let mut moonkeep = Moonkeep::default();
        moonkeep.journal = Some(moonkeep.engine.subscribe_journal().expect("the engine is at rest"));
        moonkeep
    }

    /// The engine itself.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    fn connection(&mut self, name: &str) -> &mut Connection {
        let engine = &self.engine;
        self.connections.entry(name.into()).or_insert_with(|| Connection::new(engine.client()))
    }

    /// Fetches what commands that waited were answered meanwhile, and what was published.
    fn pump(&mut self) {
        while self.connections.values_mut().any(Connection::pump) {}
        self.connections.values_mut().for_each(Connection::read_messages);
    }
}

impl Target for Moonkeep {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        let connection = self.connection(connection);
        connection.unread.push_back(argv.to_vec());
        connection.pump();
        self.pump();
    }

    fn receive(&mut self, connection: &str) -> Wire {
        self.pump();
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
        let lines = to_file.map(|entry| line(&entry.db.to_string(), &entry.argv)).collect();
        unbracketed(lines)
    }

    fn reset(&mut self) {
        *self = if self.journal.is_some() { Moonkeep::propagating() } else { Moonkeep::default() };
    }
}

/// Without the MULTI and EXEC around what is not more than one write. The server leaves out what goes to replicas only
/// before it counts, when it has no replicas.
fn unbracketed(mut lines: Vec<String>) -> Vec<String> {
    let mut at = 0;
    while at < lines.len() {
        let end = lines[at..].iter().position(|line| line == "EXEC").filter(|_| lines[at] == "MULTI");
        match end {
            Some(end) if end <= 2 => {
                lines.remove(at + end);
                lines.remove(at);
            }
            _ => at += 1,
        }
    }
    lines
}

impl Connection {
    fn new(client: Client) -> Self {
        Connection { client, replies: VecDeque::new(), waits: false, unread: VecDeque::new() }
    }

    /// Fetches a reply that has come, and runs what was sent behind it; whether anything happened.
    fn pump(&mut self) -> bool {
        let mut reply = Reply::new();
        let run = if self.waits {
            self.client.finish_call(None, &mut reply)
        } else if let Some(argv) = self.unread.pop_front() {
            match catch_unwind(AssertUnwindSafe(|| self.client.begin_call(&argv, &mut reply))) {
                Ok(run) => run,
                Err(panic) => {
                    self.replies.push_back(Wire::Error(panic_text(&*panic).into_bytes()));
                    return true;
                }
            }
        } else {
            return false;
        };
        let waited = std::mem::replace(&mut self.waits, matches!(run, Ok(false)));
        match run {
            Ok(false) => return !waited,
            Ok(true) => {
                let mut ahead = Vec::new();
                if self.client.messages_ahead_into(&mut ahead).is_ok() {
                    self.replies.extend(read_all(&ahead));
                }
                self.replies.extend(wires(&self.client, &reply));
                self.read_messages();
            }
            Err(error) => self.replies.push_back(Wire::Error(format!("(no reply) {error}").into_bytes())),
        }
        true
    }

    /// Fetches what was published; nothing comes from a session that has ended.
    fn read_messages(&mut self) {
        let mut bytes = Vec::new();
        if self.client.messages_into(None, &mut bytes).is_ok() {
            self.replies.extend(read_all(&bytes));
        }
    }
}

/// Runs one command and reads back what goes over the wire, checking that it is well formed.
pub(crate) fn replies(client: &mut Client, argv: &[Vec<u8>]) -> Vec<Wire> {
    let mut reply = Reply::new();
    if let Err(error) = client.call_into(argv, &mut reply) {
        return vec![Wire::Error(format!("(no reply) {error}").into_bytes())];
    }
    wires(client, &reply)
}

fn wires(client: &Client, reply: &Reply) -> Vec<Wire> {
    let mut bytes = Vec::new();
    // Who is told that the engine is busy cannot ask it either.
    encode(reply, client.protocol().unwrap_or_default(), &mut bytes);
    read_all(&bytes)
}

fn read_all(bytes: &[u8]) -> Vec<Wire> {
    let mut rest = bytes;
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
