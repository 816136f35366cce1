//! A client of a run: each call, each operation of the business database and each sleep is one point of the schedule.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;

use super::desk::{Answer, Desks, Request};
use super::store::Store;
use super::world::Node;
use crate::error::Error;
use crate::patterns::{RunAsync, Time};
use crate::reply::{FromReply, Reply};

/// A client of a run. Each call and each sleep is one point of the schedule: whatever other clients do may happen before it.
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) index: usize,
    pub(super) node: usize,
}

impl Client {
    /// Runs a command once the schedule lets it.
    ///
    /// # Errors
    /// As [`crate::Client::call`]; [`Error::is_connection_lost`] when the schedule lost the request or the reply.
    pub fn call<T: AsRef<[u8]>>(&self, argv: impl AsRef<[T]>) -> Call {
        let words = self.desks.lock().words(argv.as_ref());
        Call(self.ask(Request::Call { node: self.node, words }))
    }

    /// Runs a command once the schedule lets it, and reads its reply as `R`.
    ///
    /// # Errors
    /// As [`call`](Self::call), and when the reply cannot be read as `R`.
    pub async fn query<R: FromReply, T: AsRef<[u8]>>(&self, argv: impl AsRef<[T]>) -> Result<R, Error> {
        self.call(argv).await?.get()
    }

    /// The same client on another engine of its world, with a session of its own there. It still makes one call at a time.
    #[must_use]
    pub fn on(&self, node: Node) -> Client {
        Client { node: node.0, ..self.clone() }
    }

    /// The client's connection to the business database.
    pub fn store(&self) -> Store {
        Store { client: self.clone() }
    }

    /// Sleeps at least so long. Time moves on by itself once nobody else can do anything, or by a jump of the clock.
    pub async fn sleep(&self, time: Duration) {
        let _ = self.ask(Request::Sleep(self.wakes_at(time))).await;
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
        self.tally_by(name, 1);
    }

    /// Counts so many at once, or takes them back.
    pub fn tally_by(&self, name: &str, by: i64) {
        let tallies = &mut self.desks.lock().tallies;
        match tallies.iter_mut().find(|(other, _)| other == name) {
            Some((_, count)) => *count = count.saturating_add(by),
            None => tallies.push((name.to_owned(), by)),
        }
    }

    pub(super) fn wakes_at(&self, time: Duration) -> i64 {
        self.now_ms().saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// Runs a command once the schedule lets it; an error reply is a reply.
    pub(crate) fn exchange_words(
        &self,
        argv: &[&[u8]],
    ) -> impl Future<Output = Result<Reply, Error>> + use<> {
        let call = self.call(argv);
        async move { as_reply(call.await) }
    }

    pub(super) fn ask(&self, request: Request) -> Asking {
        Asking { client: self.clone(), request: Some(request) }
    }
}

/// Patterns run under exploration as they are.
impl RunAsync for Client {
    type Error = Error;

    async fn exchange_async(&mut self, argv: &[&[u8]]) -> Result<Reply, Error> {
        self.exchange_words(argv).await
    }
}

/// The world's time.
impl Time for Client {
    fn now(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.now_ms()).unwrap_or_default())
    }

    async fn pause(&self, time: Duration) {
        self.sleep(time).await;
    }
}

/// An error reply as the reply that it is.
pub(super) fn as_reply(told: Result<Reply, Error>) -> Result<Reply, Error> {
    match told {
        Err(error) => match error.reply_text() {
            Some(text) => {
                let mut reply = Reply::new();
                reply.error_text(text);
                Ok(reply)
            }
            None => Err(error),
        },
        reply => reply,
    }
}

/// A call that waits for its turn.
#[derive(Debug)]
#[must_use = "a call that is not awaited is not made"]
pub struct Call(Asking);

impl Future for Call {
    type Output = Result<Reply, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|answer| match answer? {
            Answer::Reply(reply) => Ok(reply),
            Answer::Store(_) | Answer::Awake => Err(Error::usage("another answer than a command has")),
        })
    }
}

/// Anything that waits for its turn.
#[derive(Debug)]
pub(super) struct Asking {
    client: Client,
    request: Option<Request>,
}

impl Future for Asking {
    type Output = Result<Answer, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let request = self.request.take();
        let desk = &mut self.client.desks.lock().desks[self.client.index];
        match request {
            // A second call of the same client at the same time: a connection takes one after the other.
            Some(_) if desk.request.is_some() || desk.answer.is_some() => {
                Poll::Ready(Err(Error::usage("a client of an exploration makes one call at a time")))
            }
            Some(request) => {
                (desk.request, desk.waker) = (Some(request), Some(context.waker().clone()));
                Poll::Pending
            }
            None => desk.answer.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}
