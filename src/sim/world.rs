//! What a protocol is written against: a world that is set up, its engines, its business database and its clients.

use std::future::Future;
use std::sync::Arc;

use parking_lot::Mutex;

use super::client::Client;
use super::desk::{Desk, Desks, End, Outcome, Protocol};
use super::store::{StoreSetup, Tables};
use crate::engine::{Engine, Snapshot};
use crate::error::Error;
use crate::util::clock::Clock;

/// An engine of a world beside the first one: [`World::node`] adds one, [`Client::on`] goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node(pub(super) usize);

/// An engine of a world.
pub(super) struct Place {
    pub(super) name: String,
    pub(super) engine: Engine,
    /// Requests do not reach it.
    pub(super) is_down: bool,
}

/// What is shown beside a schedule.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    Key { node: usize, key: Vec<u8> },
    Row { table: String, key: String },
}

/// What all schedules begin with.
pub(super) struct Base {
    pub(super) nodes: Vec<Origin>,
    pub(super) tables: Tables,
    pub(super) now_ms: i64,
}

/// What an engine of the world begins with, and engines of schedules that are over: to go back costs less than to fork.
pub(super) struct Origin {
    snapshot: Snapshot,
    spare: Mutex<Vec<Engine>>,
}

impl Origin {
    fn engine(&self) -> Engine {
        while let Some(engine) = { self.spare.lock().pop() } {
            if engine.rewind(&self.snapshot) == Ok(true) {
                return engine;
            }
        }
        self.snapshot.fork()
    }

    /// Takes an engine whose schedule is over, and whose clients are gone.
    pub(super) fn keep(&self, engine: Engine) {
        const SPARE: usize = 64;
        let mut spare = self.spare.lock();
        if spare.len() < SPARE {
            spare.push(engine);
        }
    }
}

/// A schedule's world while it is set up: what the keyspace holds first, who the clients are, which keys are shown.
pub struct World {
    /// Where a set-up begins that was done before.
    pub(super) kept: Option<Arc<Base>>,
    pub(super) places: Vec<Place>,
    pub(super) tables: Tables,
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) names: Vec<String>,
    pub(super) protocols: Vec<Protocol>,
    pub(super) shown: Vec<Shown>,
    pub(super) error: Option<Error>,
}

impl World {
    /// A world with one engine: an empty one, or the one of a set-up that was done before.
    pub(super) fn new(kept: Option<Arc<Base>>) -> Self {
        let (now_ms, tables) = match &kept {
            Some(base) => (base.now_ms, base.tables.clone()),
            None => (0, Tables::default()),
        };
        let desks = Arc::new(Mutex::new(Desks { now_ms, ..Desks::default() }));
        let (places, names, protocols) = (Vec::new(), Vec::new(), Vec::new());
        let mut world =
            World { kept, places, tables, desks, names, protocols, shown: Vec::new(), error: None };
        world.add_place(String::new(), 0, 0);
        world
    }

    fn add_place(&mut self, name: String, offset_ms: i64, rate_ppm: i64) {
        let kept = self.kept.as_ref().and_then(|base| base.nodes.get(self.places.len()));
        let engine = match kept {
            Some(origin) => origin.engine(),
            None => {
                let clock = Clock::manual(self.desks.lock().now_ms).skewed(offset_ms, rate_ppm);
                Engine::builder().clock(clock).build()
            }
        };
        self.places.push(Place { name, engine, is_down: false });
    }

    /// What other schedules are to begin with.
    pub(super) fn into_base(self) -> Result<Base, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let origin = |place: &Place| {
            place.engine.snapshot().map(|snapshot| Origin { snapshot, spare: Mutex::new(Vec::new()) })
        };
        let nodes = self.places.iter().map(origin).collect::<Result<_, _>>()?;
        Ok(Base { nodes, tables: self.tables, now_ms: self.desks.lock().now_ms })
    }

    /// Another engine, independent of the first one, as an instance that a lock is taken on. Its name stands in tables and
    /// replay strings.
    pub fn node(&mut self, name: &str) -> Node {
        self.node_with_clock(name, 0, 0)
    }

    /// The same with a clock that is off by `offset_ms` from the world's, and runs `rate_ppm` millionths too fast.
    pub fn node_with_clock(&mut self, name: &str, offset_ms: i64, rate_ppm: i64) -> Node {
        if is_bad(name) || self.places.iter().any(|place| place.name == name) {
            self.refuse(name);
        }
        self.add_place(name.to_owned(), offset_ms, rate_ppm);
        Node(self.places.len() - 1)
    }

    /// Requests to this engine are lost from the beginning on.
    pub fn take_down(&mut self, node: Node) {
        if let Some(place) = self.places.get_mut(node.0) {
            place.is_down = true;
        }
    }

    /// Runs a command before the clients begin. It is run once and its effect kept for all schedules; an error reply ends
    /// the exploration with that error.
    pub fn setup<T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) {
        self.setup_on(Node(0), argv);
    }

    /// The same on another engine.
    pub fn setup_on<T: AsRef<[u8]>>(&mut self, node: Node, argv: impl AsRef<[T]>) {
        if self.kept.is_some() || self.error.is_some() {
            return;
        }
        let Some(place) = self.places.get(node.0) else {
            self.error = Some(Error::usage("this engine is none of the world"));
            return;
        };
        let called = place.engine.try_client().and_then(|mut client| client.call(argv));
        self.error = called.err();
    }

    /// The business database, to be set up as commands are: once for all schedules.
    pub fn store(&mut self) -> StoreSetup<'_> {
        let tables = self.kept.is_none().then_some(&mut self.tables);
        StoreSetup { tables, error: &mut self.error }
    }

    /// Adds a client: `protocol` is given its handle, and runs until its first call. The name stands in tables and replay
    /// strings; it has no blanks, `!` and `@`.
    pub fn client<F>(&mut self, name: &str, protocol: impl FnOnce(Client) -> F)
    where
        F: Future + 'static,
        F::Output: Outcome,
    {
        if let Some(client) = self.add_client(name) {
            let future = protocol(client);
            self.protocols.push(Box::pin(async move {
                match future.await.failure() {
                    Some(text) => End::Failed(text),
                    None => End::Done,
                }
            }));
        }
    }

    /// The handle of a client whose protocol is to be pushed next; none for a name that cannot be.
    pub(super) fn add_client(&mut self, name: &str) -> Option<Client> {
        if is_bad(name) || self.names.iter().any(|other| other == name) {
            self.refuse(name);
            return None;
        }
        let index = self.names.len();
        self.desks.lock().desks.push(Desk::default());
        self.names.push(name.to_owned());
        Some(Client { desks: self.desks.clone(), index, node: 0 })
    }

    fn refuse(&mut self, name: &str) {
        let text =
            format!("a name is not empty, without blanks, '!' and '@', and no other one's: {name:?} is not");
        self.error.get_or_insert_with(|| Error::usage(text));
    }

    /// Shows these keys in a column each beside the schedule, and tells outcomes apart by what they hold at the end.
    pub fn watch_keys<T: AsRef<[u8]>>(&mut self, keys: impl AsRef<[T]>) {
        self.watch_keys_on(Node(0), keys);
    }

    /// The same for keys of another engine.
    pub fn watch_keys_on<T: AsRef<[u8]>>(&mut self, node: Node, keys: impl AsRef<[T]>) {
        if node.0 >= self.places.len() {
            self.error.get_or_insert_with(|| Error::usage("this engine is none of the world"));
            return;
        }
        let shown = |key: &T| Shown::Key { node: node.0, key: key.as_ref().to_vec() };
        self.shown.extend(keys.as_ref().iter().map(shown));
    }

    /// The same for a row of the business database.
    pub fn watch_row(&mut self, table: &str, key: &str) {
        self.shown.push(Shown::Row { table: table.to_owned(), key: key.to_owned() });
    }

    /// Sets the clock, in Unix milliseconds, before the clients begin; it stands at 0 otherwise.
    pub fn set_time(&mut self, unix_ms: i64) {
        if self.kept.is_some() || self.error.is_some() {
            return;
        }
        self.desks.lock().now_ms = unix_ms;
        self.error = self.places.iter().find_map(|place| place.engine.set_time(unix_ms).err());
    }
}

fn is_bad(name: &str) -> bool {
    name.is_empty() || name.contains(|c: char| c.is_whitespace() || matches!(c, '!' | '@'))
}
