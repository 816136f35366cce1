//! Between the futures of the clients and the run that polls them: what each waits for, what it is answered.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use super::store::{Op, StoreError, Told};
use crate::error::Error;
use crate::reply::Reply;

/// What a client waits for at a point of the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Request {
    /// A command for this engine of the world.
    Call { node: usize, argv: Vec<Vec<u8>> },
    /// An operation of the business database.
    Store(Op),
    /// Until this moment in milliseconds.
    Sleep(i64),
}

/// What it gets.
#[derive(Debug)]
pub(super) enum Answer {
    Reply(Reply),
    Store(Result<Told, StoreError>),
    Awake,
}

#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) request: Option<Request>,
    pub(super) answer: Option<Result<Answer, Error>>,
    pub(super) note: Option<String>,
}

/// What all clients of a run share.
#[derive(Debug, Default)]
pub(super) struct Desks {
    pub(super) desks: Vec<Desk>,
    pub(super) now_ms: i64,
    pub(super) tallies: Vec<(String, i64)>,
}

/// How a client of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Done,
    Failed(String),
}

/// What a client's future may give: nothing, or a result whose error is told.
pub trait Outcome {
    /// The text of the error, if it is one.
    fn failure(self) -> Option<String>;
}

impl Outcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

pub(super) type Protocol = Pin<Box<dyn Future<Output = End>>>;
