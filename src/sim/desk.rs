//! Between the futures of the clients and the run that polls them: what each waits for, what it is answered.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;

use super::store::{Op, StoreError, Told};
use crate::error::Error;
use crate::reply::Reply;

/// The words of a command, in one piece of memory that is used again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Words {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Commands of up to so many words need no memory for the list of words.
const FEW_WORDS: usize = 8;

impl Words {
    /// Holds these words, and no others.
    pub(super) fn fill<T: AsRef<[u8]>>(&mut self, words: &[T]) {
        self.bytes.clear();
        self.ends.clear();
        for word in words {
            self.bytes.extend_from_slice(word.as_ref());
            self.ends.push(self.bytes.len());
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.bytes[begin..end])
    }

    /// Shows the words as commands take them.
    pub(super) fn with<R>(&self, look: impl FnOnce(&[&[u8]]) -> R) -> R {
        if self.ends.len() > FEW_WORDS {
            return look(&self.iter().collect::<Vec<_>>());
        }
        let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
        few.iter_mut().zip(self.iter()).for_each(|(slot, word)| *slot = word);
        look(&few[..self.ends.len()])
    }
}

/// What a client waits for at a point of the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Request {
    /// A command for this engine of the world.
    Call { node: usize, words: Words },
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
    /// Whom to tell of the answer: what polls its parts only when they are woken, as `FuturesUnordered`.
    pub(super) waker: Option<Waker>,
    pub(super) note: Option<String>,
}

/// What all clients of a run share.
#[derive(Debug, Default)]
pub(super) struct Desks {
    pub(super) desks: Vec<Desk>,
    pub(super) now_ms: i64,
    pub(super) tallies: Vec<(String, i64)>,
    /// Memory for the next requests.
    pub(super) spare: Vec<Words>,
}

impl Desks {
    pub(super) fn new(now_ms: i64) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Desks { now_ms, ..Desks::default() }))
    }

    /// Nobody has asked for anything.
    pub(super) fn begin(&mut self, now_ms: i64) {
        const NAMES: usize = 256;
        self.desks.clear();
        self.tallies.truncate(NAMES);
        self.tallies.iter_mut().for_each(|(_, count)| *count = 0);
        self.now_ms = now_ms;
    }

    /// These words as those of a request.
    pub(super) fn words<T: AsRef<[u8]>>(&mut self, words: &[T]) -> Words {
        let mut all = self.spare.pop().unwrap_or_default();
        all.fill(words);
        all
    }

    /// The request was served.
    pub(super) fn take_back(&mut self, request: Option<Request>) {
        const SPARE: usize = 32;
        if let Some(Request::Call { words, .. }) = request
            && self.spare.len() < SPARE
        {
            self.spare.push(words);
        }
    }
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
