//! Exploring schedules: a client protocol, written once as ordinary async Rust, is run under every order in which its calls
//! may reach the engine, with clocks that jump, clients that crash and replies that are lost. The smallest schedule that
//! breaks an invariant is printed as a table.
//!
//! ```
//! use moonkeep::sim::{At, Explore};
//!
//! let report = Explore::new(|world| {
//!     world.setup(["SET", "stock", "10"]);
//!     world.watch_keys(["stock"]);
//!     for name in ["A", "B"] {
//!         world.client(name, |client| async move {
//!             let stock: i64 = client.query(["GET", "stock"]).await?;
//!             client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
//!             Ok::<_, moonkeep::Error>(())
//!         });
//!     }
//! })
//! .invariant("both decrements count", At::End, |view| view.int("stock") == Some(8))
//! .run()?;
//! assert!(report.is_exhausted());
//! let failure = report.failure().expect("an update is lost");
//! assert_eq!(failure.to_string(), "\
//! | # | ms | A                 | B                 | stock |
//! |---|----|-------------------|-------------------|-------|
//! | 1 | 0  | GET stock -> \"10\" |                   | 10    |
//! | 2 | 0  |                   | GET stock -> \"10\" | 10    |
//! | 3 | 0  |                   | SET stock 9 -> OK | 9     |
//! | 4 | 0  | SET stock 9 -> OK |                   | 9     |
//! violated: both decrements count
//! replay: A B B A");
//! # Ok::<(), moonkeep::Error>(())
//! ```
//!
//! `world` is what is there first, `client` what a client may do, `store` the business database beside the keyspace, `run` one
//! schedule, `search` which ones are run and `parts` by which threads, `table` how one is shown. Clients share a manual clock
//! and one engine, or several with clocks of their own; nothing here opens a socket. There are threads for long searches, and for
//! clients that block (`threads`). `history` judges what ran at the same time elsewhere.

mod client;
mod desk;
mod footprint;
mod history;
mod parts;
mod refill;
mod report;
mod run;
mod sample;
mod search;
mod smallest;
mod store;
mod table;
mod threads;
mod twice;
mod view;
mod world;

pub use client::{Call, Client};
pub use desk::Outcome;
pub use history::{History, Model};
pub use report::{Failure, Progress, Report};
pub use store::{Is, Row, Store, StoreError, StoreSetup, Update, Value};
pub use table::Row as Step;
pub use threads::Blocking;
pub use view::{Judgement, View};
pub use world::{Node, World};

use std::sync::Arc;

use crate::error::Error;
use run::Keeps;
use world::Base;

/// What may happen at a point of a schedule. Clients are told by their place in the order in which they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// The client's request runs, or it wakes up.
    Step(usize),
    /// The request runs, and its reply is lost: the client gets an error, and another connection.
    LoseReply(usize),
    /// The request is lost on its way: the client gets an error, and another connection.
    LoseRequest(usize),
    /// The client ends before its request is sent; its connection is closed.
    Crash(usize),
    /// The clock goes to this moment in milliseconds: an expiry, the end of a sleep or of a timeout.
    Time(i64),
    /// The clock of one engine jumps before the others, to its next expiry.
    Jump {
        /// Which engine, by its place in the world.
        node: usize,
        /// How far.
        by_ms: i64,
    },
    /// This engine restarts without what it held.
    Restart(usize),
}

impl Action {
    fn actor(self) -> Option<usize> {
        match self {
            Action::Step(index)
            | Action::LoseReply(index)
            | Action::LoseRequest(index)
            | Action::Crash(index) => Some(index),
            Action::Time(_) | Action::Jump { .. } | Action::Restart(_) => None,
        }
    }

    fn is_fault(self) -> bool {
        !matches!(self, Action::Step(_))
    }
}

/// How many faults of each kind a schedule may have.
///
/// ```
/// use moonkeep::sim::Faults;
/// let faults = Faults::none().clock_jumps(1).lost_replies(1);
/// assert_eq!(faults, Faults { clock_jumps: 1, lost_replies: 1, ..Faults::default() });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// Jumps of the clock to the next expiry, end of a sleep or of a timeout while clients could go on: every pause that
    /// matters is one of them. That time passes when nobody can go on is not counted.
    pub clock_jumps: usize,
    /// Clients that end before a request.
    pub crashes: usize,
    /// Replies that are lost behind their effect.
    pub lost_replies: usize,
    /// Requests that are lost before it.
    pub lost_requests: usize,
    /// Jumps of the clock of one engine to its next expiry, while the others' stand.
    pub node_jumps: usize,
    /// Engines that restart without what they held.
    pub restarts: usize,
}

impl Faults {
    /// So many of all kinds together.
    fn total(&self) -> usize {
        let Faults { clock_jumps, crashes, lost_replies, lost_requests, node_jumps, restarts } = *self;
        let kinds = [clock_jumps, crashes, lost_replies, lost_requests, node_jumps, restarts];
        kinds.into_iter().fold(0, usize::saturating_add)
    }

    /// No faults.
    pub const fn none() -> Self {
        Faults { clock_jumps: 0, crashes: 0, lost_replies: 0, lost_requests: 0, node_jumps: 0, restarts: 0 }
    }

    /// So many jumps of the clock.
    #[must_use]
    pub const fn clock_jumps(self, most: usize) -> Self {
        Faults { clock_jumps: most, ..self }
    }

    /// So many clients that end.
    #[must_use]
    pub const fn crashes(self, most: usize) -> Self {
        Faults { crashes: most, ..self }
    }

    /// So many lost replies.
    #[must_use]
    pub const fn lost_replies(self, most: usize) -> Self {
        Faults { lost_replies: most, ..self }
    }

    /// So many lost requests.
    #[must_use]
    pub const fn lost_requests(self, most: usize) -> Self {
        Faults { lost_requests: most, ..self }
    }

    /// So many jumps of the clock of one engine.
    #[must_use]
    pub const fn node_jumps(self, most: usize) -> Self {
        Faults { node_jumps: most, ..self }
    }

    /// So many engines that restart empty.
    #[must_use]
    pub const fn restarts(self, most: usize) -> Self {
        Faults { restarts: most, ..self }
    }
}

/// Which schedules are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// All of them.
    Exhaustive,
    /// All with at most so many forced switches: a client that could go on does not.
    Bounded {
        /// How many.
        switches: usize,
    },
    /// So many, each next action chosen at random.
    Random {
        /// Of the generator.
        seed: u64,
        /// How many schedules.
        runs: u64,
    },
    /// So many by random priorities that change at `depth` - 1 random points: finds a fault of that depth with a known
    /// probability (Burckhardt and others, 2010).
    Pct {
        /// The number of ordering constraints a fault may need.
        depth: usize,
        /// How many schedules.
        runs: u64,
        /// Of the generator.
        seed: u64,
    },
}

/// What an exhaustive search leaves out, as it can only give an outcome that is there already. Nothing is left out once a
/// client asks for what depends on more than what is stored and the time: the order of keys, a random member, when a key
/// was used, what there is of memory, the connections; with `States` also the order of members or fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reduction {
    /// Nothing: for clients that share what is outside of the engine, and to count.
    None,
    /// Orders of steps that touch nothing in common (sleep sets). With an invariant at each step, as `States`, since the
    /// points between are not all passed.
    #[default]
    SleepSets,
    /// What follows from a point that was reached before: equal databases, clock and clients.
    States,
}

/// When an invariant is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Behind each step.
    EachStep,
    /// When nobody goes on any more.
    End,
}

type Predicate<'a> = Box<dyn Fn(&View<'_>) -> Result<(), String> + Sync + 'a>;

type Telling<'a> = Box<dyn Fn(&View<'_>) -> String + Sync + 'a>;

/// What is told of a long search, and each how many schedules.
type Watching<'a> = (u64, Box<dyn Fn(&Progress) + Sync + 'a>);

struct Invariant<'a> {
    name: String,
    at: At,
    holds: Predicate<'a>,
}

/// An exploration: what is explored, what has to hold, how much is tried.
pub struct Explore<'a> {
    build: Box<dyn Fn(&mut World) + Sync + 'a>,
    invariants: Vec<Invariant<'a>>,
    outcome: Option<Telling<'a>>,
    watching: Option<Watching<'a>>,
    faults: Faults,
    search: Search,
    reduction: Reduction,
    runs_max: u64,
    depth_max: usize,
    states_max: usize,
    threads: Option<usize>,
    runs_twice: bool,
}

impl<'a> Explore<'a> {
    /// Explores this world. `build` is called for each schedule, by several threads in a long search, so what it captures and
    /// changes is to be made within.
    pub fn new(build: impl Fn(&mut World) + Sync + 'a) -> Self {
        Explore {
            build: Box::new(build),
            invariants: Vec::new(),
            outcome: None,
            watching: None,
            faults: Faults::none(),
            search: Search::Exhaustive,
            reduction: Reduction::default(),
            runs_max: 10_000_000,
            depth_max: 10_000,
            states_max: 16_000_000,
            threads: None,
            runs_twice: false,
        }
    }

    /// What has to hold: the predicate gives a bool, or a result whose error tells more than the name does.
    pub fn invariant<J: Judgement>(
        mut self,
        name: &str,
        at: At,
        predicate: impl Fn(&View<'_>) -> J + Sync + 'a,
    ) -> Self {
        let holds: Predicate<'a> = Box::new(move |view| predicate(view).judge());
        self.invariants.push(Invariant { name: name.to_owned(), at, holds });
        self
    }

    /// How outcomes are told apart in the report: by default by what is shown beside the table and who did not end well.
    pub fn outcome(mut self, tell: impl Fn(&View<'_>) -> String + Sync + 'a) -> Self {
        self.outcome = Some(Box::new(tell));
        self
    }

    /// Which faults schedules have; none by default.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Which schedules are run; all by default.
    pub fn search(mut self, search: Search) -> Self {
        self.search = search;
        self
    }

    /// What an exhaustive search leaves out; sleep sets by default.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// The most schedules that are run (ten million), and the most actions of one (ten thousand). A search that met a limit
    /// says that it was not exhausted.
    pub fn limits(mut self, runs: u64, depth: usize) -> Self {
        (self.runs_max, self.depth_max) = (runs, depth);
        self
    }

    /// The most points that are remembered where points are told apart (16 million, of about 10 bytes each). What comes after
    /// is explored as if it had not been seen before: the search is longer, and as right.
    pub fn states_max(mut self, states: usize) -> Self {
        self.states_max = states;
        self
    }

    /// How many threads a long search may use; as many as the machine has cores by default. What is found does not depend on
    /// it. A search that tells points apart uses one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Calls this each time that so many schedules were run or left out.
    pub fn progress(mut self, every: u64, tell: impl Fn(&Progress) + Sync + 'a) -> Self {
        self.watching = Some((every.max(1), Box::new(tell)));
        self
    }

    /// Runs each schedule twice, and refuses a world in which a client, a reply or an engine is not the same again: a hunt for
    /// randomness, real time and whatever else is not under control.
    pub fn twice(mut self) -> Self {
        self.runs_twice = true;
        self
    }

    /// Runs the search, and looks for the smallest failing schedule if there is one.
    ///
    /// # Errors
    /// A set-up command that fails, a client with a bad name or one that an invariant asks for in vain, one that awaits
    /// something but its calls, one that does not do the same again when it is answered the same (it is named).
    pub fn run(&self) -> Result<Report, Error> {
        let base = self.base()?;
        let mut report = match self.search {
            Search::Exhaustive => self.exhaust_all(&base, None)?,
            Search::Bounded { switches } => {
                let report = self.exhaust_all(&base, Some(switches))?;
                Report { is_exhausted: false, is_bound_exhausted: report.is_exhausted, ..report }
            }
            Search::Random { seed, runs } => self.random(&base, seed, runs)?,
            Search::Pct { depth, runs, seed } => self.pct(&base, depth, runs, seed)?,
        };
        base.knew_all()?;
        if let Some((actions, why)) = report.first_failing.take() {
            report.failure = match self.search {
                Search::Exhaustive | Search::Bounded { .. } => self.smallest(&base)?,
                Search::Random { .. } | Search::Pct { .. } => None,
            };
            if report.failure.is_none() {
                report.failure = Some(self.show(&base, &actions, Some(why))?);
            }
        }
        Ok(report)
    }

    /// Runs exactly one schedule again, by the string that a failure shows, and gives it as a table, whether an invariant
    /// fails or not.
    ///
    /// # Errors
    /// As [`run`](Self::run), and a string that does not fit this world.
    pub fn replay(&self, schedule: &str) -> Result<Failure, Error> {
        let base = self.base()?;
        let shown = self.repeat(&base, schedule)?;
        base.knew_all().map(|()| shown)
    }

    /// What all schedules begin with.
    fn base(&self) -> Result<Arc<Base>, Error> {
        let mut world = World::new(None);
        (self.build)(&mut world);
        Ok(Arc::new(world.into_base()?))
    }

    /// A run at its beginning.
    fn start(&self, base: &Arc<Base>, keeps: Keeps) -> Result<run::Run, Error> {
        let mut world = World::new(Some(base.clone()));
        (self.build)(&mut world);
        match world.error.take() {
            Some(error) => Err(error),
            None => run::Run::start(world, keeps),
        }
    }
}
