//! moonkeep: an embeddable, Lua-scripted state engine with Redis's commands, on a clock that a test holds.
//!
//! ```
//! use moonkeep::{Engine, Script};
//! use std::time::Duration;
//!
//! let engine = Engine::new();
//! let mut client = engine.client();
//! client.call(["SET", "lease", "me", "PX", "5000"])?;
//! let left = Script::new("return redis.call('PTTL', KEYS[1])");
//! assert_eq!(left.key("lease").run::<i64>(&mut client)?, 5000);
//! engine.advance(Duration::from_millis(5001))?;
//! assert_eq!(client.query::<Option<String>, _>(["GET", "lease"])?, None);
//! # Ok::<(), moonkeep::Error>(())
//! ```
//!
//! Where to look:
//!
//! - make an engine, choose clock, seed and limits: [`Engine`], [`Builder`], [`Clock`], [`Limits`]
//! - run commands and read typed replies: [`Client::call`], [`Client::query`], [`Client::call_into`], [`FromReply`]
//! - run scripts: [`Script`]; give them functions of your own: [`Builder::function`]; stop them: [`Control`]
//! - hold a script to its contract: [`Script::checked`], [`Contract`]; find the call for which it breaks it: [`Contract::check`]
//! - find what is wrong with a script before it runs: [`lint::lint`]
//! - see which lines of scripts ran, and how often: [`Builder::coverage`], [`Coverage`]
//! - wait for a list, or for the end of a timeout, without stopping the thread: [`Client::start`], [`Pending`],
//!   [`Builder::blocking`]
//! - listen to what is published: [`Client::try_next_message`], [`Client::next_message`], [`Client::message`], [`Message`]
//! - move time: [`Engine::advance`], [`Engine::set_time`]
//! - keep, compare and go back: [`Engine::snapshot`], [`Engine::restore`], [`Engine::fork`], [`Snapshot::diff`]
//! - begin with the dump of a real server, or make one: [`Engine::load_rdb`], [`Engine::save_rdb`]
//! - see what happened: [`Engine::subscribe_journal`], [`Client::trace`], [`Engine::take_log`]; let replies be lost: [`Engine::lose`]
//! - a stock, a lease, a fencing number, here and on a server, with the same code: [`patterns`]
//! - connections for the redis crate, for code that has them in production: `redis`, with feature `redis`
//! - ask an error what it is: [`Error::code`] for an error reply, the predicates of [`Error`] for the rest
//!
//! The modules are what the engine is made of. README.md says what runs, docs/RECIPES.md shows longer examples,
//! ARCHITECTURE.md is the map of the layers.

mod check;
pub mod command;
mod commands;
mod contract;
mod engine;
mod error;
mod front;
pub mod lint;
pub mod patterns;
pub mod reply;
mod script;
#[cfg(feature = "sim")]
pub mod sim;
pub mod store;
mod syntax;
pub mod util;
pub mod value;

pub use check::{
    CheckFailure, CheckHooks, CheckOptions, CheckReport, InputError, MissedLine, Mutant, MutationReport,
    ReachedClause, ServerCall,
};
pub use command::TracedCall;
pub use command::log::{LogLevel, LogLine};
pub use commands::table as commands;
pub use contract::{
    CallFacts, Contract, ContractBuilder, ContractError, Input, Inputs, KeyRule, Promised, PromisedReply,
    Rule, TextRule, Verdict,
};
pub use engine::{
    Blocking, Builder, Client, Engine, Files, Invocation, Journal, Loss, NextMessage, Pending, RdbError,
    Script, Snapshot, ToArg,
};
pub use error::{Error, Failure};
#[cfg(feature = "redis")]
pub use front::redis;
#[cfg(feature = "server")]
pub use front::server;
pub use reply::{FromReply, Message, Reply, ReplyRef};
pub use script::{Control, Coverage, HostFunction, Limits, LineCoverage, ScriptCoverage};
pub use store::{Change, Held, JournalEntry};
pub use util::clock::Clock;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;

/// The examples of the recipes, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/RECIPES.md")]
struct RecipeDoctests;

/// The example of the manual of contracts, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../lua/README.md")]
struct ContractDoctests;
