//! What a protocol is written against: a world that is set up, its engines, its business database and its clients.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;

use super::Reduction;
use super::client::Client;
use super::desk::{Desk, Desks, End, Outcome, Protocol};
use super::refill::Refill;
use super::run::{Session, Spot};
use super::store::{StoreSetup, Tables};
use crate::engine::explored::Sees;
use crate::engine::{Engine, Snapshot};
use crate::error::Error;
use crate::util::clock::Clock;

/// An engine of a world beside the first one: [`World::node`] adds one, [`Client::on`] goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node(pub(super) usize);

/// What is shown beside a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    Key { node: usize, key: Vec<u8> },
    Row { table: String, key: String },
}

/// What all schedules begin with, and what schedules that are over have left: to go back costs less than to make it anew.
pub(super) struct Base {
    pub(super) nodes: Vec<Snapshot>,
    pub(super) tables: Tables,
    pub(super) now_ms: i64,
    left: Mutex<Vec<Stage>>,
    /// What clients have asked for so far: a level of `Sees`.
    seen: AtomicU8,
    /// A client that an invariant asked for and that there is not.
    unknown: Mutex<Option<String>>,
}

impl Base {
    /// A client asks for this.
    pub(super) fn note(&self, sees: Sees) {
        if sees > Sees::Contents {
            self.seen.fetch_max(sees as u8, Ordering::Relaxed);
        }
    }

    /// An invariant asks for a client that there is not: what it is told is no answer to anything.
    pub(super) fn note_unknown(&self, client: &str) {
        self.unknown.lock().get_or_insert_with(|| client.to_owned());
    }

    pub(super) fn knew_all(&self) -> Result<(), Error> {
        match &*self.unknown.lock() {
            Some(name) => {
                Err(Error::usage(format!("an invariant asks for client {name:?}, which this world has not")))
            }
            None => Ok(()),
        }
    }

    /// What may be left out, where this is wanted, without losing an outcome that clients can see.
    pub(super) fn allowed(&self, wanted: Reduction) -> Reduction {
        let seen = self.seen.load(Ordering::Relaxed);
        let most = match wanted {
            Reduction::None => return wanted,
            Reduction::SleepSets => Sees::Making,
            Reduction::States => Sees::Contents,
        };
        if seen > most as u8 { Reduction::None } else { wanted }
    }

    /// Takes what a schedule played on.
    pub(super) fn keep(&self, stage: Stage) {
        const MOST: usize = 64;
        let mut left = self.left.lock();
        if left.len() < MOST {
            left.push(stage);
        }
    }

    /// Something to play on, as it was at the beginning.
    fn stage(&self) -> Stage {
        let left = self.left.lock().pop();
        left.and_then(|stage| stage.begin(self)).unwrap_or_else(|| Stage::new(self.now_ms))
    }
}

/// What a schedule plays on.
#[derive(Default)]
pub(super) struct Stage {
    pub(super) spots: Refill<Spot>,
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) names: Refill<String>,
    pub(super) shown: Refill<Shown>,
    /// Those of the schedule before.
    pub(super) sessions: Vec<Session>,
}

impl Stage {
    fn new(now_ms: i64) -> Self {
        Stage { desks: Desks::new(now_ms), ..Stage::default() }
    }

    /// Everything as it was at the beginning; none when that cannot be.
    fn begin(mut self, base: &Base) -> Option<Self> {
        if self.spots.len() != base.nodes.len() {
            return None;
        }
        for (node, (spot, snapshot)) in self.spots.iter_mut().zip(&base.nodes).enumerate() {
            let clients = self.sessions.iter_mut().filter_map(|session| session.client(node));
            if !spot.begin(snapshot, clients) {
                return None;
            }
        }
        match Arc::get_mut(&mut self.desks) {
            Some(desks) => desks.get_mut().begin(base.now_ms),
            // Somebody has kept a handle.
            None => self.desks = Desks::new(base.now_ms),
        }
        self.spots.begin();
        self.names.begin();
        self.shown.begin();
        Some(self)
    }
}

/// A schedule's world while it is set up: what the keyspace holds first, who the clients are, which keys are shown.
pub struct World {
    /// Where a set-up begins that was done before.
    pub(super) kept: Option<Arc<Base>>,
    pub(super) stage: Stage,
    pub(super) tables: Tables,
    pub(super) protocols: Vec<Option<Protocol>>,
    pub(super) error: Option<Error>,
}

impl World {
    /// A world with one engine: an empty one, or the one of a set-up that was done before.
    pub(super) fn new(kept: Option<Arc<Base>>) -> Self {
        let stage = kept.as_ref().map_or_else(|| Stage::new(0), |base| base.stage());
        let tables = kept.as_ref().map(|base| base.tables.clone()).unwrap_or_default();
        let mut world = World { kept, stage, tables, protocols: Vec::new(), error: None };
        world.add_spot("", 0, 0);
        world
    }

    fn add_spot(&mut self, name: &str, offset_ms: i64, rate_ppm: i64) {
        let World { kept, stage: Stage { spots, desks, .. }, .. } = self;
        let snapshot = kept.as_ref().and_then(|base| base.nodes.get(spots.len()));
        let new = || match snapshot {
            Some(snapshot) => Spot::new(name, snapshot.fork(), snapshot.clock()),
            None => {
                let clock = Clock::manual(desks.lock().now_ms).skewed(offset_ms, rate_ppm);
                Spot::new(name, Engine::builder().clock(clock.clone()).build(), &clock)
            }
        };
        spots.add(|spot| spot.name == name, new);
    }

    /// What other schedules are to begin with.
    pub(super) fn into_base(self) -> Result<Base, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let nodes = self.stage.spots.iter().map(|spot| spot.engine.snapshot()).collect::<Result<_, _>>()?;
        let now_ms = self.stage.desks.lock().now_ms;
        let base = Base {
            nodes,
            tables: self.tables,
            now_ms,
            left: Mutex::default(),
            seen: AtomicU8::default(),
            unknown: Mutex::default(),
        };
        for spot in self.stage.spots.iter() {
            if spot.engine.is_bounded()? {
                base.note(Sees::All);
            }
        }
        Ok(base)
    }

    /// Another engine, independent of the first one, as an instance that a lock is taken on. Its name stands in tables and
    /// replay strings.
    pub fn node(&mut self, name: &str) -> Node {
        self.node_with_clock(name, 0, 0)
    }

    /// The same with a clock that is off by `offset_ms` from the world's, and runs `rate_ppm` millionths too fast.
    pub fn node_with_clock(&mut self, name: &str, offset_ms: i64, rate_ppm: i64) -> Node {
        if is_bad(name) || self.stage.spots.iter().any(|spot| spot.name == name) {
            self.refuse(name);
        }
        self.add_spot(name, offset_ms, rate_ppm);
        Node(self.stage.spots.len() - 1)
    }

    /// Requests to this engine are lost from the beginning on.
    pub fn take_down(&mut self, node: Node) {
        if let Some(spot) = self.stage.spots.get_mut(node.0) {
            spot.is_down = true;
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
        let Some(spot) = self.stage.spots.get(node.0) else {
            self.error = Some(Error::usage("this engine is none of the world"));
            return;
        };
        let called = spot.engine.try_client().and_then(|mut client| client.call(argv));
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
            self.protocols.push(Some(Box::pin(async move {
                match future.await.failure() {
                    Some(text) => End::Failed(text),
                    None => End::Done,
                }
            })));
        }
    }

    /// The handle of a client whose protocol is to be pushed next; none for a name that cannot be.
    pub(super) fn add_client(&mut self, name: &str) -> Option<Client> {
        let Stage { names, desks, .. } = &mut self.stage;
        if is_bad(name) || names.iter().any(|other| other == name) {
            self.refuse(name);
            return None;
        }
        let index = names.len();
        desks.lock().desks.push(Desk::default());
        names.add(|other| other == name, || name.to_owned());
        Some(Client { desks: desks.clone(), index, node: 0 })
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
        if node.0 >= self.stage.spots.len() {
            self.error.get_or_insert_with(|| Error::usage("this engine is none of the world"));
            return;
        }
        for word in keys.as_ref() {
            let word = word.as_ref();
            let is_this = |shown: &mut Shown| matches!(shown, Shown::Key { node: of, key } if *of == node.0 && key == word);
            self.stage.shown.add(is_this, || Shown::Key { node: node.0, key: word.to_vec() });
        }
    }

    /// The same for a row of the business database.
    pub fn watch_row(&mut self, table: &str, key: &str) {
        let shown = Shown::Row { table: table.to_owned(), key: key.to_owned() };
        self.stage.shown.add(|other| *other == shown, || shown.clone());
    }

    /// Sets the clock, in Unix milliseconds, before the clients begin; it stands at 0 otherwise.
    pub fn set_time(&mut self, unix_ms: i64) {
        if self.kept.is_some() || self.error.is_some() {
            return;
        }
        self.stage.desks.lock().now_ms = unix_ms;
        self.error = self.stage.spots.iter().find_map(|spot| spot.engine.set_time(unix_ms).err());
    }
}

fn is_bad(name: &str) -> bool {
    name.is_empty() || name.contains(|c: char| c.is_whitespace() || matches!(c, '!' | '@'))
}
