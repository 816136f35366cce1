//! The engine behind its server front as one side of a comparison: real connections over a unix socket, on a manual clock.

use super::connection::{Connection, may_wait};
use super::server::fresh_folder;
use super::target::{START_MS, Target, argv};
use super::wire::Wire;
use moonkeep::server::{Handle, Listen, Server};
use moonkeep::{Clock, Engine, Limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// moonkeep as clients of any language meet it.
pub(crate) struct Served {
    pub(crate) engine: Engine,
    front: Front,
    connections: BTreeMap<String, Connection>,
}

/// A server in a thread of this process; it ends when it is dropped.
pub(crate) struct Front {
    folder: PathBuf,
    handle: Handle,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Front {
    /// Serves an engine.
    pub(crate) fn new(engine: &Engine, listen: Listen) -> Front {
        let folder = fresh_folder().expect("a folder for the socket");
        let unix = Some(folder.join("socket"));
        let server = Server::bind(engine, &Listen { unix, ..listen }).expect("it can listen");
        let handle = server.handle();
        Front { folder, handle, thread: Some(std::thread::spawn(move || server.run())) }
    }
    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }
    /// Comes back once it answers: from then on SHUTDOWN finds it.
    pub(crate) fn when_it_serves(&mut self) {
        let mut connection = Connection::open(&self.socket());
        connection.send(&argv(&["PING"]));
        connection.receive();
    }
    /// Waits until it has ended by itself; what it ended with.
    pub(crate) fn ended(&mut self) -> std::io::Result<()> {
        self.thread.take().map_or(Ok(()), |thread| thread.join().expect("the server does not panic"))
    }
    /// Stops it; what it ended with.
    pub(crate) fn stop(&mut self) -> std::io::Result<()> {
        self.handle.stop();
        self.ended()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let stopped = self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
        if !std::thread::panicking() {
            stopped.expect("the server ends well");
        }
    }
}

/// An engine as `moonkeep serve --clock manual` has it.
pub(crate) fn served_engine() -> Engine {
    let limits = Limits { work: u64::MAX - 1, time_ms: u64::MAX, ..Limits::default() };
    let files = std::sync::Arc::new(super::memory_files::MemoryFiles::default());
    Engine::builder().clock(Clock::manual(START_MS)).script_limits(limits).files(files).build()
}

impl Default for Served {
    fn default() -> Self {
        let engine = served_engine();
        let front = Front::new(&engine, Listen::default());
        Served { engine, front, connections: BTreeMap::new() }
    }
}

impl Served {
    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.front.socket()
    }
    fn connection(&mut self, name: &str) -> &mut Connection {
        let socket: &Path = &self.front.folder.join("socket");
        self.connections.entry(name.into()).or_insert_with(|| Connection::open(socket))
    }
    /// Lets the loop take a turn.
    fn turn(&mut self) {
        self.call("(control)", &argv(&["PING"]));
    }
}

impl Target for Served {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        self.connection(connection).send(argv);
        if may_wait(argv) {
            // What another connection sends next must not overtake it; one that is new is read a turn later.
            self.turn();
            self.turn();
        }
    }
    fn receive(&mut self, connection: &str) -> Wire {
        if self.connection(connection).may_wait {
            self.turn();
            self.turn();
            return self.poll(connection);
        }
        self.connection(connection).receive()
    }
    fn poll(&mut self, connection: &str) -> Wire {
        self.connection(connection).poll()
    }
    fn advance(&mut self, ms: i64) {
        let by = Duration::from_millis(u64::try_from(ms).expect("time moves forward"));
        self.engine.advance(by).expect("a manual clock");
    }
    fn reset(&mut self) {
        *self = Served::default();
    }
}
