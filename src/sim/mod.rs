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
//! `world` is what a client may call and what is there first, `run` one schedule, `search` which ones are run, `table` how one
//! is shown. Clients share a manual clock and one engine; nothing here opens a socket or starts a thread.

mod footprint;
mod report;
mod run;
mod sample;
mod search;
mod table;
mod view;
mod world;

pub use report::{Failure, Report};
pub use table::Row;
pub use view::{Judgement, View};
pub use world::{Call, Client, Outcome, World};

use crate::engine::{Engine, Snapshot};
use crate::error::Error;
use crate::util::clock::Clock;

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
}

impl Action {
    fn actor(self) -> Option<usize> {
        match self {
            Action::Step(index)
            | Action::LoseReply(index)
            | Action::LoseRequest(index)
            | Action::Crash(index) => Some(index),
            Action::Time(_) => None,
        }
    }

    fn is_fault(self) -> bool {
        !matches!(self, Action::Step(_))
    }
}

/// How many faults of each kind a schedule may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

/// What an exhaustive search leaves out, as it can only give an outcome that is there already.
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

type Predicate<'a> = Box<dyn Fn(&View<'_>) -> Result<(), String> + 'a>;

type Telling<'a> = Box<dyn Fn(&View<'_>) -> String + 'a>;

struct Invariant<'a> {
    name: String,
    at: At,
    holds: Predicate<'a>,
}

/// An exploration: what is explored, what has to hold, how much is tried.
pub struct Explore<'a> {
    build: Box<dyn Fn(&mut World) + 'a>,
    invariants: Vec<Invariant<'a>>,
    outcome: Option<Telling<'a>>,
    faults: Faults,
    search: Search,
    reduction: Reduction,
    runs_max: u64,
    depth_max: usize,
}

impl<'a> Explore<'a> {
    /// Explores this world. `build` is called for each schedule, so what it captures and changes is to be made within.
    pub fn new(build: impl Fn(&mut World) + 'a) -> Self {
        Explore {
            build: Box::new(build),
            invariants: Vec::new(),
            outcome: None,
            faults: Faults::default(),
            search: Search::Exhaustive,
            reduction: Reduction::default(),
            runs_max: 10_000_000,
            depth_max: 10_000,
        }
    }

    /// What has to hold: the predicate gives a bool, or a result whose error tells more than the name does.
    pub fn invariant<J: Judgement>(
        mut self,
        name: &str,
        at: At,
        predicate: impl Fn(&View<'_>) -> J + 'a,
    ) -> Self {
        let holds: Predicate<'a> = Box::new(move |view| predicate(view).judge());
        self.invariants.push(Invariant { name: name.to_owned(), at, holds });
        self
    }

    /// How outcomes are told apart in the report: by default by what the watched keys hold and who did not end well.
    pub fn outcome(mut self, tell: impl Fn(&View<'_>) -> String + 'a) -> Self {
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

    /// Runs the search, and looks for the smallest failing schedule if there is one.
    ///
    /// # Errors
    /// A set-up command that fails, a client with a bad name, one that awaits something but its calls, one that does not
    /// do the same again when it is answered the same.
    pub fn run(&self) -> Result<Report, Error> {
        let base = self.base()?;
        let mut report = match self.search {
            Search::Exhaustive => self.exhaust(&base, None, self.faults, false)?,
            Search::Bounded { switches } => self.exhaust(&base, Some(switches), self.faults, false)?,
            Search::Random { seed, runs } => self.random(&base, seed, runs)?,
            Search::Pct { depth, runs, seed } => self.pct(&base, depth, runs, seed)?,
        };
        if report.failing > 0 && matches!(self.search, Search::Exhaustive | Search::Bounded { .. }) {
            report.failure = self.smallest(&base)?.or(report.failure);
        }
        Ok(report)
    }

    /// Runs exactly one schedule again, by the string that a failure shows, and gives it as a table, whether an invariant
    /// fails or not.
    ///
    /// # Errors
    /// As [`run`](Self::run), and a string that does not fit this world.
    pub fn replay(&self, schedule: &str) -> Result<Failure, Error> {
        self.repeat(&self.base()?, schedule)
    }

    /// What all schedules begin with.
    fn base(&self) -> Result<Snapshot, Error> {
        let engine = Engine::builder().clock(Clock::manual(0)).build();
        let mut world = World::new(engine, false, 0);
        (self.build)(&mut world);
        match world.error {
            Some(error) => Err(error),
            None => world.engine.snapshot(),
        }
    }

    /// A world at its beginning.
    fn world(&self, base: &Snapshot) -> Result<World, Error> {
        let mut world = World::new(base.fork(), true, base.now_ms());
        (self.build)(&mut world);
        match world.error.take() {
            Some(error) => Err(error),
            None => Ok(world),
        }
    }
}
