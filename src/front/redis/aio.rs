//! Connections of the redis crate that do not block, to an engine in the same process.

use super::connection::{Answers, greeting};
pub use super::stream::Stream;
use super::value::{failed, value_of};
use super::words::with_words;
use crate::engine::{Client, Engine};
use crate::error::Error;
use crate::reply::{Reply, Resp};
use futures_timer::Delay;
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisConnectionInfo, RedisFuture, RedisResult, Value};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Mutex;

/// A connection of the redis crate to an engine in the same process, for any executor: whatever takes a
/// [`redis::aio::ConnectionLike`] runs on it unmodified, `AsyncCommands`, pipelines, scripts and
/// `redis::aio::transaction_async` too. Clones share the session, as those of a `MultiplexedConnection` do, and take
/// their turns at it.
///
/// ```
/// use moonkeep::{Engine, redis::aio::Connection};
/// use redis::AsyncCommands;
/// use std::time::Duration;
///
/// /// Code as it is in production.
/// async fn next_job(mut connection: impl AsyncCommands) -> redis::RedisResult<Option<(String, String)>> {
///     connection.blpop("jobs", 5.0).await
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let engine = Engine::new();
/// let (worker, mut producer) = (Connection::new(engine.client()), Connection::new(engine.client()));
/// let waits = tokio::join!(next_job(worker.clone()), producer.rpush::<_, _, u64>("jobs", "one"));
/// assert_eq!(waits.0?, Some(("jobs".into(), "one".into())));
/// let over = tokio::join!(next_job(worker), async { engine.advance(Duration::from_millis(5001)) });
/// assert_eq!(over.0?, None);
/// # Ok::<(), redis::RedisError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A call that has to wait (BLPOP, XREAD with BLOCK …) is a future that waits, on a manual clock until it is moved. One
/// that is dropped before it is ready waits no more, and takes nothing from a list; a pipeline that is dropped makes none of its
/// further calls, and runs no transaction. Else it is as
/// [`redis::Connection`](super::Connection) is, and its messages are for a [`Stream`].
#[derive(Debug, Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    /// Who holds it makes a call, or a pipeline; the others come after.
    turn: Mutex<Turn>,
}

#[derive(Debug)]
struct Turn {
    /// Used again from call to call.
    reply: Reply,
    heard: Resp,
}

impl Connection {
    /// A connection that is this client's session.
    pub fn new(client: Client) -> Self {
        let heard = client.protocol().unwrap_or_default();
        Connection {
            inner: Arc::new(Inner { client, turn: Mutex::new(Turn { reply: Reply::new(), heard }) }),
        }
    }
    /// A connection as the crate opens one: with a user and a password, a protocol version and a database.
    ///
    /// # Errors
    /// What the engine refuses.
    pub async fn open(engine: &Engine, info: &RedisConnectionInfo) -> RedisResult<Self> {
        let mut connection = Connection::new(engine.client());
        for command in greeting(info) {
            connection.req_packed_command(&command).await?.extract_error()?;
        }
        Ok(connection)
    }
}

impl From<Client> for Connection {
    fn from(client: Client) -> Self {
        Connection::new(client)
    }
}

impl Inner {
    /// Runs a command and leaves its reply in the turn.
    async fn call(&self, command: &Cmd, turn: &mut Turn) -> RedisResult<()> {
        let begun = with_words(command, |argv| {
            match self.client.begin(argv, &mut turn.reply, &mut turn.heard) {
                Ok(ready) => Ok(ready),
                Err(error) => match error.reply_text() {
                    // A script of another thread runs for long.
                    Some(text) => {
                        turn.reply.error_text(text);
                        Ok(true)
                    }
                    None => Err(failed(error)),
                },
            }
        })?;
        if !begun {
            self.wait(&mut turn.reply).await.map_err(failed)?;
        }
        Ok(())
    }
    /// Waits for the reply of the call that was begun; gives it up when dropped before.
    async fn wait(&self, reply: &mut Reply) -> Result<(), Error> {
        let mut waiting = Waiting { client: &self.client, alarm: Alarm::default(), done: false };
        poll_fn(|context| waiting.look(reply, context)).await
    }
}

struct Waiting<'c> {
    client: &'c Client,
    alarm: Alarm,
    done: bool,
}

impl Waiting<'_> {
    fn look(&mut self, reply: &mut Reply, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            let looked = self.client.finish(Some(context.waker()), reply);
            self.done = !matches!(looked, Ok(false));
            if self.done {
                return Poll::Ready(looked.map(|_| ()));
            }
            if !self.alarm.is_over(self.client, context)? {
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.done {
            // From inside the engine nothing can be given up, and nothing waits.
            let _ = self.client.cancel();
        }
    }
}

/// The transaction of a pipeline. A pipeline that is dropped before its EXEC leaves none behind in the session, which others
/// share.
struct Transaction<'c> {
    client: &'c Client,
    is_open: bool,
}

impl Transaction<'_> {
    fn end(mut self) {
        self.is_open = false;
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // From inside the engine nothing can be given up, and nothing waits.
            let _ = self.client.end_transaction();
        }
    }
}

/// Wakes who waits on the system's clock when the time of the waiting is over.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<Delay>);

impl Alarm {
    /// Whether it is time to look again; else the task is woken then.
    pub(super) fn is_over(&mut self, client: &Client, context: &mut Context<'_>) -> Result<bool, Error> {
        if self.0.is_none() {
            let left = client.wait_left()?;
            self.0 = left.map(|left| Delay::new(left.max(Duration::from_millis(1))));
        }
        let Some(delay) = &mut self.0 else { return Ok(false) };
        let rings = Pin::new(delay).poll(context).is_ready();
        if rings {
            self.0 = None;
        }
        Ok(rings)
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let turn = &mut *self.inner.turn.lock().await;
            self.inner.call(command, turn).await?;
            if command.is_no_response() {
                return Ok(Value::Nil);
            }
            value_of(&turn.reply, turn.heard)
        })
    }
    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let turn = &mut *self.inner.turn.lock().await;
            let mut answers = Answers::new(offset, count);
            let atomic = pipeline.is_transaction();
            let (multi, exec) = (redis::cmd("MULTI"), redis::cmd("EXEC"));
            let first = atomic.then_some(&multi).into_iter();
            let transaction = Transaction { client: &self.inner.client, is_open: atomic };
            for command in first.chain(pipeline.cmd_iter()).chain(atomic.then_some(&exec)) {
                match self.inner.call(command, turn).await {
                    // Behind a lost connection the rest of the pipeline is lost too.
                    Err(error) if error.is_connection_dropped() => return Err(error),
                    ran => answers.take(ran.map(|()| (&turn.reply, turn.heard))),
                }
            }
            transaction.end();
            answers.finish()
        })
    }
    fn get_db(&self) -> i64 {
        self.inner.client.database().map_or(0, i64::from)
    }
}
