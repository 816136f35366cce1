//! What a protocol is written against: a world that is set up, and clients whose every call is a point where another one
//! may come between.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;

use crate::engine::Engine;
use crate::error::Error;
use crate::reply::{FromReply, Reply};

/// What a client waits for at a point of the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Request {
    Call(Vec<Vec<u8>>),
    /// Until this moment in milliseconds.
    Sleep(i64),
}

/// Between a client's future and the run that polls it.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) request: Option<Request>,
    pub(super) answer: Option<Result<Reply, Error>>,
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

/// A schedule's world while it is set up: what the keyspace holds first, who the clients are, which keys are shown.
pub struct World {
    pub(super) engine: Engine,
    /// The keyspace holds what it has to: another run's set-up was kept.
    pub(super) is_set_up: bool,
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) names: Vec<String>,
    pub(super) protocols: Vec<Protocol>,
    pub(super) shown: Vec<Vec<u8>>,
    pub(super) error: Option<Error>,
}

impl World {
    pub(super) fn new(engine: Engine, is_set_up: bool, now_ms: i64) -> Self {
        let desks = Arc::new(Mutex::new(Desks { now_ms, ..Desks::default() }));
        let (names, protocols, shown) = (Vec::new(), Vec::new(), Vec::new());
        World { engine, is_set_up, desks, names, protocols, shown, error: None }
    }

    /// Runs a command before the clients begin. It is run once and its effect kept for all schedules; an error reply ends
    /// the exploration with that error.
    pub fn setup<T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) {
        if self.is_set_up || self.error.is_some() {
            return;
        }
        let called = self.engine.try_client().and_then(|mut client| client.call(argv));
        self.error = called.err();
    }

    /// Adds a client: `protocol` is given its handle, and runs until its first call. The name stands in tables and replay
    /// strings; it has no blanks, `!` and `@`.
    pub fn client<F>(&mut self, name: &str, protocol: impl FnOnce(Client) -> F)
    where
        F: Future + 'static,
        F::Output: Outcome,
    {
        let bad = |c: char| c.is_whitespace() || matches!(c, '!' | '@');
        if name.is_empty() || name.contains(bad) || self.names.iter().any(|other| other == name) {
            let text = format!(
                "a client's name is not empty, without blanks, '!' and '@', and its own: {name:?} is not"
            );
            self.error.get_or_insert_with(|| Error::usage(text));
            return;
        }
        let index = self.names.len();
        self.desks.lock().desks.push(Desk::default());
        let future = protocol(Client { desks: self.desks.clone(), index });
        self.names.push(name.to_owned());
        self.protocols.push(Box::pin(async move {
            match future.await.failure() {
                Some(text) => End::Failed(text),
                None => End::Done,
            }
        }));
    }

    /// Shows these keys in a column each beside the schedule, and tells outcomes apart by what they hold at the end.
    pub fn watch_keys<T: AsRef<[u8]>>(&mut self, keys: impl AsRef<[T]>) {
        self.shown.extend(keys.as_ref().iter().map(|key| key.as_ref().to_vec()));
    }

    /// Sets the clock, in Unix milliseconds, before the clients begin; it stands at 0 otherwise.
    pub fn set_time(&mut self, unix_ms: i64) {
        if self.error.is_none() {
            self.error = self.engine.set_time(unix_ms).err();
            self.desks.lock().now_ms = unix_ms;
        }
    }
}

/// A client of a run. Each call and each sleep is one point of the schedule: whatever other clients do may happen before it.
#[derive(Debug, Clone)]
pub struct Client {
    desks: Arc<Mutex<Desks>>,
    index: usize,
}

impl Client {
    /// Runs a command once the schedule lets it.
    ///
    /// # Errors
    /// As [`crate::Client::call`]; [`Error::is_connection_lost`] when the schedule lost the request or the reply.
    pub fn call<T: AsRef<[u8]>>(&self, argv: impl AsRef<[T]>) -> Call {
        let words = argv.as_ref().iter().map(|word| word.as_ref().to_vec()).collect();
        Call { client: self.clone(), request: Some(Request::Call(words)) }
    }

    /// Runs a command once the schedule lets it, and reads its reply as `R`.
    ///
    /// # Errors
    /// As [`call`](Self::call), and when the reply cannot be read as `R`.
    pub async fn query<R: FromReply, T: AsRef<[u8]>>(&self, argv: impl AsRef<[T]>) -> Result<R, Error> {
        self.call(argv).await?.get()
    }

    /// Sleeps at least so long. Time moves on by itself once nobody else can do anything, or by a jump of the clock.
    pub async fn sleep(&self, time: Duration) {
        let until = self.now_ms().saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
        let _ = Call { client: self.clone(), request: Some(Request::Sleep(until)) }.await;
    }

    /// The time in Unix milliseconds. No point of the schedule.
    pub fn now_ms(&self) -> i64 {
        self.desks.lock().now_ms
    }

    /// Writes a remark into this client's column of the table, beside its last step.
    pub fn note(&self, text: impl Into<String>) {
        self.desks.lock().desks[self.index].note = Some(text.into());
    }

    /// Counts something that an invariant asks for with [`View::tally`](super::View::tally): acknowledgements, deliveries.
    pub fn tally(&self, name: &str) {
        let tallies = &mut self.desks.lock().tallies;
        match tallies.iter_mut().find(|(other, _)| other == name) {
            Some((_, count)) => *count += 1,
            None => tallies.push((name.to_owned(), 1)),
        }
    }
}

/// A call that waits for its turn.
#[derive(Debug)]
#[must_use = "a call that is not awaited is not made"]
pub struct Call {
    client: Client,
    request: Option<Request>,
}

impl Future for Call {
    type Output = Result<Reply, Error>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let request = self.request.take();
        let desk = &mut self.client.desks.lock().desks[self.client.index];
        match request {
            // A second call of the same client at the same time: a connection takes one after the other.
            Some(_) if desk.request.is_some() || desk.answer.is_some() => {
                Poll::Ready(Err(Error::usage("a client of an exploration makes one call at a time")))
            }
            Some(request) => {
                desk.request = Some(request);
                Poll::Pending
            }
            None => desk.answer.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}
