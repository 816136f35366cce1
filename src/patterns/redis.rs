//! Connections of the redis crate as places where patterns run: argv to `redis::Cmd`, `redis::Value` to `Reply`.

use super::drive::Run;
#[cfg(feature = "redis-aio")]
use super::drive::RunAsync;
use crate::reply::Reply;
use redis::{Cmd, RedisError, ServerError, Value};

/// A connection of the redis crate: to a server, a cluster, through a pool; blocking or, with feature `redis-aio`, not.
///
/// Each command of a pattern has all its keys in one hash slot and names them as keys, so that a cluster connection
/// finds the node by itself.
///
/// ```no_run
/// use moonkeep::patterns::{Lease, OsTokens, Redis, Step, Tokens};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut connection = Redis(redis::Client::open("redis://127.0.0.1/")?.get_connection()?);
/// let lease = Lease::new("lock:{p1}", std::time::Duration::from_secs(5))?;
/// if let Some(held) = lease.acquire(OsTokens.token()?).run(&mut connection)? {
///     // ... what nobody else may do at the same time ...
///     held.release().run(&mut connection)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// With feature `redis-aio`, on an executor of your own:
///
/// ```no_run
/// # #[cfg(feature = "redis-aio")]
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use moonkeep::patterns::{Decreased, Redis, Step, Stock};
/// let client = redis::Client::open("redis://127.0.0.1/")?;
/// let mut connection = Redis(client.get_multiplexed_async_connection().await?);
/// match Stock::new("stock:{p1}").decrease(3)?.run_async(&mut connection).await? {
///     Decreased::Taken { left } => println!("{left} left"),
///     Decreased::Short { left } => println!("only {left}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Redis<C>(pub C);

impl<C: redis::ConnectionLike> Run for Redis<C> {
    type Error = RedisError;

    fn exchange(&mut self, argv: &[&[u8]]) -> Result<Reply, RedisError> {
        reply_of(self.0.req_command(&command(argv)))
    }
}

#[cfg(feature = "redis-aio")]
impl<C: redis::aio::ConnectionLike> RunAsync for Redis<C> {
    type Error = RedisError;

    async fn exchange_async(&mut self, argv: &[&[u8]]) -> Result<Reply, RedisError> {
        let command = command(argv);
        reply_of(self.0.req_packed_command(&command).await)
    }
}

fn command(argv: &[&[u8]]) -> Cmd {
    let mut command = Cmd::new();
    for word in argv {
        command.arg(*word);
    }
    command
}

/// A reply; an error that the server replied is one, every other error is a failed call.
fn reply_of(result: Result<Value, RedisError>) -> Result<Reply, RedisError> {
    let mut reply = Reply::new();
    match result {
        Ok(value) => write(&value, &mut reply),
        Err(error) => match error.clone().into_server_errors().as_deref() {
            Some([(_, error)]) => write_error(error, &mut reply),
            _ => return Err(error),
        },
    }
    Ok(reply)
}

/// Writes a value, with its elements.
fn write(value: &Value, out: &mut Reply) {
    match value {
        Value::Nil => out.nil(),
        Value::Int(n) => out.int(*n),
        Value::BulkString(bytes) => out.bulk(bytes),
        Value::SimpleString(text) => out.status_bytes(text.as_bytes()),
        Value::Okay => out.status_bytes(b"OK"),
        Value::Double(x) => out.double(*x),
        Value::Boolean(b) => out.boolean(*b),
        Value::ServerError(error) => write_error(error, out),
        Value::Attribute { data, .. } => write(data, out),
        Value::Array(items) => {
            out.array(items.len());
            items.iter().for_each(|item| write(item, out));
        }
        Value::Set(items) => {
            out.set(items.len());
            items.iter().for_each(|item| write(item, out));
        }
        Value::Map(pairs) => {
            out.map(pairs.len());
            for (key, value) in pairs {
                write(key, out);
                write(value, out);
            }
        }
        other => write_text(other, out),
    }
}

/// Big numbers (whose type a feature of the redis crate decides), verbatim strings and what is not known yet.
fn write_text(value: &Value, out: &mut Reply) {
    match redis::from_redis_value_ref::<String>(value) {
        Ok(text) => out.bulk(text.as_bytes()),
        Err(_) => out.bulk(format!("{value:?}").as_bytes()),
    }
}

/// The text as the server sent it: the redis crate keeps its first word apart.
fn write_error(error: &ServerError, out: &mut Reply) {
    match error.details() {
        Some(detail) => out.error_text(format!("{} {detail}", error.code()).as_bytes()),
        None => out.error_text(error.code().as_bytes()),
    }
}
