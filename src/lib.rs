//! moonkeep: an embeddable, Lua-scripted state engine. See README.md and ARCHITECTURE.md.
//!
//! Layers, lowest first; a module imports only from the layers before it (a test checks it):
//! util, error, value, store, reply, command, commands, contract, script, engine, patterns, front.

pub mod command;
mod commands;
mod engine;
mod error;
mod front;
pub mod reply;
mod script;
pub mod store;
pub mod util;
pub mod value;

pub use command::TracedCall;
pub use commands::table as commands;
pub use engine::{Builder, Client, Engine, Invocation, Journal, Loss, Script, Snapshot, ToArg};
pub use error::{Error, Failure};
pub use reply::{FromReply, Reply, ReplyRef};
pub use script::{Control, HostFunction, Limits};
pub use store::{Change, Held, JournalEntry};
pub use util::clock::Clock;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
