//! A reply as a value of the redis crate, in the protocol version that the session speaks; and errors as its errors.

use crate::error::{Error, Failure};
use crate::reply::{Items, Reply, ReplyRef, Resp};
use crate::util::float::format_f64;
use crate::util::long_double::format_human;
use crate::util::num::NumBuf;
use redis::{ErrorKind, PushKind, RedisError, RedisResult, ServerError, Value, VerbatimFormat};
use std::io;

/// The value of a reply to one command; nil when there is none (CLIENT REPLY OFF).
pub(super) fn value_of(reply: &Reply, heard: Resp) -> RedisResult<Value> {
    match heard {
        Resp::V2 => value(reply.view(), heard),
        // As the crate, which passes over what is pushed beside the reply; but not where that is all there is.
        Resp::V3 => {
            let is_beside = |value: &RedisResult<Value>| matches!(value, Ok(Value::Push { .. }));
            let mut values = values_of(reply, heard).peekable();
            let mut value = values.next();
            while value.as_ref().is_some_and(is_beside) && values.peek().is_some_and(|next| !is_beside(next))
            {
                value = values.next();
            }
            value.unwrap_or(Ok(Value::Nil))
        }
    }
}

/// All values of a reply: most commands have one, SUBSCRIBE has one for each channel.
pub(super) fn values_of(reply: &Reply, heard: Resp) -> impl Iterator<Item = RedisResult<Value>> {
    let mut items = reply.values();
    std::iter::from_fn(move || {
        loop {
            match items.next()? {
                ReplyRef::Attribute(_) if heard == Resp::V2 => {}
                ReplyRef::Attribute(said) => {
                    let data = items.next().unwrap_or(ReplyRef::Nil);
                    return Some(attribute(said, data));
                }
                other => return Some(value(other, heard)),
            }
        }
    })
}

fn attribute(said: Items<'_>, data: ReplyRef<'_>) -> RedisResult<Value> {
    Ok(Value::Attribute { data: Box::new(value(data, Resp::V3)?), attributes: pairs(said, Resp::V3)? })
}

/// One value: here what most commands answer, so that it is made where it is read.
#[inline(always)]
fn value(of: ReplyRef<'_>, heard: Resp) -> RedisResult<Value> {
    match of {
        ReplyRef::Int(n) => Ok(Value::Int(n)),
        ReplyRef::Bulk(bytes) => Ok(Value::BulkString(bytes.to_vec())),
        ReplyRef::Status(b"OK") => Ok(Value::Okay),
        ReplyRef::Nil => Ok(Value::Nil),
        other => rarer_value(other, heard),
    }
}

#[inline(never)]
fn rarer_value(of: ReplyRef<'_>, heard: Resp) -> RedisResult<Value> {
    let v3 = heard == Resp::V3;
    Ok(match of {
        ReplyRef::Int(_) | ReplyRef::Bulk(_) | ReplyRef::Nil => return value(of, heard),
        ReplyRef::NilArray => Value::Nil,
        ReplyRef::Status(text) => Value::SimpleString(lossy(text)),
        ReplyRef::Error(text) => Value::ServerError(server_error(text)?),
        ReplyRef::Map(items) | ReplyRef::Attribute(items) if v3 => Value::Map(pairs(items, heard)?),
        ReplyRef::Set(items) if v3 => Value::Set(elements(items, heard)?),
        ReplyRef::Push(items) if v3 => push(items)?,
        ReplyRef::Array(items)
        | ReplyRef::Map(items)
        | ReplyRef::Set(items)
        | ReplyRef::Push(items)
        | ReplyRef::Attribute(items) => Value::Array(elements(items, heard)?),
        ReplyRef::Double(x) | ReplyRef::Coordinate(x) if v3 => Value::Double(x),
        ReplyRef::Double(x) => Value::BulkString(format_f64(&mut NumBuf::new(), x).to_vec()),
        ReplyRef::Coordinate(x) => Value::BulkString(format_human(x).to_vec()),
        ReplyRef::Bool(b) if v3 => Value::Boolean(b),
        ReplyRef::Bool(b) => Value::Int(i64::from(b)),
        // Of which type it is, a feature of the crate decides.
        ReplyRef::BigNumber(digits) if v3 => redis::parse_redis_value(&line(b'(', digits))?,
        ReplyRef::Verbatim(format, text) if v3 => {
            Value::VerbatimString { format: verbatim_format(&format), text: lossy(text) }
        }
        ReplyRef::BigNumber(text) | ReplyRef::Verbatim(_, text) => Value::BulkString(text.to_vec()),
    })
}

fn elements(items: Items<'_>, heard: Resp) -> RedisResult<Vec<Value>> {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(value(item, heard)?);
    }
    Ok(values)
}

fn pairs(mut items: Items<'_>, heard: Resp) -> RedisResult<Vec<(Value, Value)>> {
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let (Some(key), Some(item)) = (items.next(), items.next()) {
        pairs.push((value(key, heard)?, value(item, heard)?));
    }
    Ok(pairs)
}

fn push(mut items: Items<'_>) -> RedisResult<Value> {
    let kind = match items.next() {
        Some(ReplyRef::Bulk(kind) | ReplyRef::Status(kind)) => kind,
        _ => b"",
    };
    Ok(Value::Push { kind: push_kind(kind), data: elements(items, Resp::V3)? })
}

fn push_kind(kind: &[u8]) -> PushKind {
    match kind {
        b"invalidate" => PushKind::Invalidate,
        b"message" => PushKind::Message,
        b"pmessage" => PushKind::PMessage,
        b"smessage" => PushKind::SMessage,
        b"subscribe" => PushKind::Subscribe,
        b"psubscribe" => PushKind::PSubscribe,
        b"ssubscribe" => PushKind::SSubscribe,
        b"unsubscribe" => PushKind::Unsubscribe,
        b"punsubscribe" => PushKind::PUnsubscribe,
        b"sunsubscribe" => PushKind::SUnsubscribe,
        other => PushKind::Other(lossy(other)),
    }
}

fn verbatim_format(format: &[u8; 3]) -> VerbatimFormat {
    match format {
        b"txt" => VerbatimFormat::Text,
        b"mkd" => VerbatimFormat::Markdown,
        other => VerbatimFormat::Unknown(lossy(other)),
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn line(kind: u8, text: &[u8]) -> Vec<u8> {
    [&[kind], lossy(text).as_bytes(), b"\r\n"].concat()
}

/// An error reply. Its kinds are known to the crate's parser alone.
#[cold]
fn server_error(text: &[u8]) -> RedisResult<ServerError> {
    match redis::parse_redis_value(&line(b'-', text))? {
        Value::ServerError(error) => Ok(error),
        _ => Err((ErrorKind::Parse, "an error reply was read as something else").into()),
    }
}

/// A transaction that was given up because commands were refused before EXEC, each with its index.
#[cold]
pub(super) fn aborted(refused: &[(usize, ServerError)]) -> RedisError {
    let mut text = lossy(&Failure::ExecAbort.to_bytes());
    for (index, error) in refused {
        let detail = error.details().unwrap_or_default();
        text.push_str(&format!(" (Index {index}: {} {detail})", error.code()));
    }
    server_error(text.as_bytes()).map_or_else(|error| error, RedisError::from)
}

/// Why a call had no reply.
#[cold]
pub(super) fn failed(error: Error) -> RedisError {
    let kind = if error.is_connection_lost() {
        io::ErrorKind::ConnectionReset
    } else if error.is_closed() {
        io::ErrorKind::BrokenPipe
    } else {
        // Of this kind the crate says that trying again is in vain.
        io::ErrorKind::Unsupported
    };
    io::Error::new(kind, error).into()
}

/// What an engine said when a call through the redis crate had no reply: that it would have to wait, that the connection
/// was lost. None for error replies and what the crate itself finds.
///
/// ```
/// use moonkeep::{Engine, redis::{Connection, engine_error}};
/// let mut connection = Connection::new(Engine::new().client());
/// let error = redis::cmd("BLPOP").arg("queue").arg(0).exec(&mut connection).unwrap_err();
/// assert!(engine_error(&error).is_some_and(moonkeep::Error::is_would_block));
/// ```
pub fn engine_error(error: &RedisError) -> Option<&Error> {
    let source = std::error::Error::source(error)?;
    // The crate keeps an error of the system behind an `Arc`.
    let source = source.downcast_ref::<std::sync::Arc<dyn std::error::Error + Send + Sync>>().map_or(
        source,
        |shared| {
            let inner: &(dyn std::error::Error + 'static) = shared.as_ref();
            inner
        },
    );
    source.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref()
}
