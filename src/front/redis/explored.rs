//! Clients of an exploration as connections of the redis crate: code as it is in production runs under every schedule.

#[cfg(feature = "redis-aio")]
use super::connection::Answers;
use super::value::failed;
#[cfg(feature = "redis-aio")]
use super::value::value_of;
use super::words::Packed;
#[cfg(feature = "redis-aio")]
use super::words::with_words;
use crate::reply::{Reply, Resp};
use crate::sim::Blocking;
#[cfg(feature = "redis-aio")]
use crate::sim::Client;
#[cfg(feature = "redis-aio")]
use redis::{Cmd, Pipeline, RedisFuture};
use redis::{ConnectionLike, RedisResult, Value};

/// Each command of a pipeline is a point of the schedule, MULTI and EXEC of an atomic one too. Values are those of RESP2.
///
/// ```
/// use moonkeep::sim::{At, Explore};
/// use redis::AsyncCommands;
///
/// /// Code as it is in production.
/// async fn take_one(mut connection: impl AsyncCommands) -> redis::RedisResult<()> {
///     let stock: i64 = connection.get("stock").await?;
///     connection.set("stock", stock - 1).await
/// }
///
/// let report = Explore::new(|world| {
///     world.setup(["SET", "stock", "10"]);
///     for name in ["A", "B"] {
///         world.client(name, take_one);
///     }
/// })
/// .invariant("both count", At::End, |view| view.int("stock") == Some(8))
/// .run()?;
/// assert_eq!(report.failure().expect("an update is lost").replay, "A B B A");
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[cfg(feature = "redis-aio")]
impl redis::aio::ConnectionLike for Client {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let call = with_words(command, |argv| Ok(self.exchange_words(argv)))?;
            value_of(&call.await.map_err(failed)?, Resp::V2)
        })
    }
    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let mut answers = Answers::new(offset, count);
            let atomic = pipeline.is_transaction();
            let (multi, exec) = (redis::cmd("MULTI"), redis::cmd("EXEC"));
            let first = atomic.then_some(&multi).into_iter();
            for command in first.chain(pipeline.cmd_iter()).chain(atomic.then_some(&exec)) {
                let call = with_words(command, |argv| Ok(self.exchange_words(argv)))?;
                // Behind a lost connection the rest of the pipeline is lost too.
                let reply: Reply = call.await.map_err(failed)?;
                answers.take(Ok((&reply, Resp::V2)));
            }
            answers.finish()
        })
    }
    fn get_db(&self) -> i64 {
        0
    }
}

/// Code that blocks, as `redis::transaction`, runs in a thread of its own: see [`World::blocking_client`](crate::sim::World::blocking_client).
impl ConnectionLike for Blocking {
    fn req_packed_command(&mut self, bytes: &[u8]) -> RedisResult<Value> {
        let mut values = self.req_packed_commands(bytes, 0, 1)?;
        Ok(values.pop().unwrap_or(Value::Nil))
    }
    fn req_packed_commands(&mut self, bytes: &[u8], offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        let mut packed = Packed::new(bytes);
        let mut answers = super::connection::Answers::new(offset, count);
        while let Some(ran) = packed.next(|argv| self.exchange_words(argv).map_err(failed))? {
            let reply: Reply = ran?;
            answers.take(Ok((&reply, Resp::V2)));
        }
        answers.finish()
    }
    fn get_db(&self) -> i64 {
        0
    }
    fn check_connection(&mut self) -> bool {
        true
    }
    fn is_open(&self) -> bool {
        true
    }
}
