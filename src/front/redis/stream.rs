//! The far end of a socket, in memory: the redis crate writes requests as to a server, and reads what an engine answers
//! and publishes. No task and no buffer between the two: what is written runs at once.

use super::aio::Alarm;
use crate::engine::{Client, Engine};
use crate::error::Error;
use crate::front::request::{Bounds, READ_LONG_AT_ONCE, Requests};
use crate::reply::Reply;
use crate::reply::resp::encode;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Answers that nobody reads stop the requests.
const UNREAD_MAX: usize = 1 << 20;

/// What stands in for a socket to a server: an engine in the same process is at its other end. For the crate's own
/// asynchronous types, `redis::aio::PubSub` and `redis::aio::MultiplexedConnection`.
///
/// ```
/// use futures_util::StreamExt;
/// use moonkeep::{Engine, redis::aio::Stream};
/// use redis::{RedisConnectionInfo, aio::PubSub};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let engine = Engine::new();
/// let mut pubsub = PubSub::new(&RedisConnectionInfo::default(), Stream::new(&engine)).await?;
/// pubsub.subscribe("news").await?;
/// engine.client().call(["PUBLISH", "news", "hello"]).unwrap();
/// let message = pubsub.on_message().next().await.expect("published");
/// assert_eq!(message.get_payload::<String>()?, "hello");
/// # Ok::<(), redis::RedisError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where a `MultiplexedConnection` is wanted by its type:
///
/// ```
/// # use moonkeep::{Engine, redis::aio::Stream};
/// # use redis::{AsyncCommands, AsyncConnectionConfig, RedisConnectionInfo, aio::MultiplexedConnection};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let stream = Stream::new(&Engine::new());
/// // No call is given up because time passes: the clock is held.
/// let config = AsyncConnectionConfig::new().set_response_timeout(None);
/// let info = RedisConnectionInfo::default();
/// let (mut connection, driver) = MultiplexedConnection::new_with_config(&info, stream, config).await?;
/// tokio::spawn(driver);
/// let () = connection.set("k", 1).await?;
/// assert_eq!(connection.incr::<_, _, i64>("k", 1).await?, 2);
/// # Ok::<(), redis::RedisError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream {
    client: Client,
    requests: Requests,
    reply: Reply,
    out: Vec<u8>,
    /// How much of `out` was read.
    read: usize,
    /// A call waits for its reply.
    waits: bool,
    /// It ends once all is read.
    closing: bool,
    alarm: Alarm,
    /// Who reads and found nothing.
    reader: Option<Waker>,
    /// Who writes and found no room.
    writer: Option<Waker>,
}

impl Stream {
    /// A new session of the engine, at the other end of a socket.
    pub fn new(engine: &Engine) -> Self {
        Stream {
            client: engine.client(),
            requests: Requests::default(),
            reply: Reply::new(),
            out: Vec::new(),
            read: 0,
            waits: false,
            closing: false,
            alarm: Alarm::default(),
            reader: None,
            writer: None,
        }
    }
    fn unread(&self) -> usize {
        self.out.len() - self.read
    }
    fn has_room(&self) -> bool {
        // What has arrived is kept where it cannot run yet; a request without its end has to get it.
        let is_held = self.waits || self.unread() >= UNREAD_MAX;
        self.unread() < UNREAD_MAX && !(is_held && self.requests.pending() >= READ_LONG_AT_ONCE)
    }
    /// Makes the calls that have arrived, in order, until one waits.
    fn work(&mut self) -> Result<(), Error> {
        let bounds = Bounds { word_max: 512 << 20, before_auth: false };
        while !self.waits && !self.closing && self.unread() < UNREAD_MAX {
            match self.requests.advance(bounds) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    error.write(&mut self.out);
                    self.closing = true;
                    break;
                }
            }
            let begun = self.client.begin_call(self.requests.words(), &mut self.reply);
            self.requests.finish();
            match begun {
                Ok(true) => self.answer()?,
                Ok(false) => self.waits = true,
                Err(error) => match error.reply_text() {
                    // A script of another thread runs for long.
                    Some(text) => {
                        self.reply.error_text(text);
                        self.answer()?;
                    }
                    None => return Err(error),
                },
            }
        }
        Ok(())
    }
    /// What was published by then, the reply, and what the call has brought about for its own client.
    fn answer(&mut self) -> Result<(), Error> {
        self.client.messages_ahead_into(&mut self.out)?;
        encode(&self.reply, self.client.protocol()?, &mut self.out);
        self.messages(None)
    }
    /// What was published. A session that has ended leaves what there is to be read.
    fn messages(&mut self, waker: Option<&Waker>) -> Result<(), Error> {
        match self.client.messages_into(waker, &mut self.out) {
            Ok(_) => Ok(()),
            Err(error) if error.is_closed() => {
                self.closing = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
    /// Goes on as far as it can; true when it has to look again.
    fn go_on(&mut self, context: &mut Context<'_>) -> Result<bool, Error> {
        if self.waits {
            if self.client.finish(Some(context.waker()), &mut self.reply)? {
                self.waits = false;
                self.answer()?;
            } else if self.alarm.is_over(&self.client, context)? {
                return Ok(true);
            }
        }
        self.work()?;
        if self.unread() == 0 && !self.closing {
            self.messages(Some(context.waker()))?;
        }
        // A call that was begun just now has told nobody yet that it waits.
        if self.waits && self.unread() == 0 {
            return self.client.finish(Some(context.waker()), &mut self.reply).and_then(|came| {
                if came {
                    self.waits = false;
                    self.answer()?;
                }
                Ok(came)
            });
        }
        Ok(false)
    }
    /// How a failure ends it: a lost connection with what was not lost, all else as an error.
    fn fail(&mut self, error: Error) -> io::Result<()> {
        self.closing = true;
        if error.is_closed() || error.is_connection_lost() { Ok(()) } else { Err(io::Error::other(error)) }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let stream = self.get_mut();
        if stream.closing {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if !stream.has_room() {
            stream.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        stream.requests.buffer().extend_from_slice(bytes);
        if let Err(error) = stream.work() {
            stream.fail(error)?;
        }
        stream.reader.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        stream.closing = true;
        stream.reader.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        while stream.unread() == 0 && !stream.closing {
            match stream.go_on(context) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => stream.fail(error)?,
            }
        }
        let count = stream.unread().min(into.remaining());
        into.put_slice(&stream.out[stream.read..stream.read + count]);
        stream.read += count;
        if stream.unread() == 0 {
            stream.out.clear();
            stream.read = 0;
        }
        if stream.has_room() {
            stream.writer.take().into_iter().for_each(Waker::wake);
        }
        if count > 0 || stream.closing || into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        stream.reader = Some(context.waker().clone());
        Poll::Pending
    }
}
