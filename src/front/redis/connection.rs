//! A blocking connection of the redis crate to an engine in the same process.

use super::value::{aborted, failed, value_of, values_of};
use super::words::{Packed, with_words};
use crate::engine::{Client, Engine};
use crate::reply::{Reply, Resp};
use redis::{Cmd, ConnectionLike, ErrorKind, RedisConnectionInfo, RedisResult, Value};

/// A connection of the redis crate to an engine in the same process: whatever takes a [`redis::ConnectionLike`] runs on
/// it unmodified, `Commands`, pipelines, scripts and `redis::transaction` too.
///
/// ```
/// use moonkeep::{Engine, redis::Connection};
/// use redis::Commands;
/// use std::time::Duration;
///
/// /// Code as it is in production.
/// fn greet(connection: &mut impl redis::ConnectionLike, name: &str) -> redis::RedisResult<u64> {
///     let (count,) = redis::pipe().atomic()
///         .incr(name, 1)
///         .expire(name, 60).ignore()
///         .query(connection)?;
///     Ok(count)
/// }
///
/// let engine = Engine::new();
/// let mut connection = Connection::new(engine.client());
/// assert_eq!(greet(&mut connection, "alice")?, 1);
/// assert_eq!(greet(&mut connection, "alice")?, 2);
/// engine.advance(Duration::from_secs(61)).unwrap();
/// assert_eq!(greet(&mut connection, "alice")?, 1);
/// assert_eq!(connection.ttl::<_, i64>("alice")?, 60);
/// # Ok::<(), redis::RedisError>(())
/// ```
///
/// It differs from a connection through a socket in this:
///
/// - A call that would have to wait does what [`Builder::blocking`](crate::Builder::blocking) says: on a manual clock it
///   is an error. A reply or request that [`Engine::lose`] lost is an error for which `is_connection_dropped` holds; the
///   connection is good again once the engine is healed.
/// - Messages of channels wait in the inbox of its [client](Self::client_mut); the crate's own `PubSub` needs a socket,
///   as `moonkeep serve` has, or feature `redis-aio`.
/// - When commands of a transaction are refused before EXEC, the error has the kind `ExecAbort` as from a server, and
///   says each of them in its detail; `into_server_errors` has that one error.
/// - A command without a reply (CLIENT REPLY OFF) answers nil.
/// - `get_db` tells the database that the session is in, after SELECT too.
#[derive(Debug)]
pub struct Connection {
    client: Client,
    /// Used again from call to call.
    reply: Reply,
    heard: Resp,
    open: bool,
}

impl Connection {
    /// A connection that is this client's session.
    pub fn new(client: Client) -> Self {
        let heard = client.protocol().unwrap_or_default();
        Connection { client, reply: Reply::new(), heard, open: true }
    }
    /// A connection as the crate opens one: with a user and a password, a protocol version and a database.
    ///
    /// ```
    /// use moonkeep::{Engine, redis::Connection};
    /// use redis::{ConnectionLike, ProtocolVersion, RedisConnectionInfo};
    /// let info = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_db(3);
    /// let mut connection = Connection::open(&Engine::new(), &info)?;
    /// assert_eq!(connection.get_db(), 3);
    /// assert!(connection.check_connection());
    /// # Ok::<(), redis::RedisError>(())
    /// ```
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn open(engine: &Engine, info: &RedisConnectionInfo) -> RedisResult<Self> {
        let mut connection = Connection::new(engine.client());
        for command in greeting(info) {
            connection.req_command(&command)?.extract_error()?;
        }
        Ok(connection)
    }
    /// The client whose session it is: for its inbox, traces and whatever else the crate does not know.
    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }
    /// The client whose session it was.
    pub fn into_client(self) -> Client {
        self.client
    }
    /// Runs a command and leaves its reply in `reply`.
    fn call(&mut self, argv: &[&[u8]]) -> RedisResult<()> {
        let result = self.client.submit_heard(argv, &mut self.reply, &mut self.heard);
        self.open = !matches!(&result, Err(error) if error.is_closed() || error.is_connection_lost());
        result.map_err(failed)
    }
}

impl From<Client> for Connection {
    fn from(client: Client) -> Self {
        Connection::new(client)
    }
}

/// What a connection begins with.
pub(super) fn greeting(info: &RedisConnectionInfo) -> Vec<Cmd> {
    let mut commands = Vec::new();
    let mut who = Cmd::new();
    if info.protocol().supports_resp3() {
        who.arg("HELLO").arg("3");
        if let Some(password) = info.password() {
            who.arg("AUTH").arg(info.username().unwrap_or("default")).arg(password);
        }
        commands.push(who);
    } else if let Some(password) = info.password() {
        who.arg("AUTH").arg(info.username()).arg(password);
        commands.push(who);
    }
    if info.db() != 0 {
        let mut select = Cmd::new();
        select.arg("SELECT").arg(info.db());
        commands.push(select);
    }
    commands
}

impl ConnectionLike for Connection {
    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        with_words(command, |argv| self.call(argv))?;
        if command.is_no_response() {
            return Ok(Value::Nil);
        }
        value_of(&self.reply, self.heard)
    }
    fn req_packed_command(&mut self, bytes: &[u8]) -> RedisResult<Value> {
        let mut values = self.req_packed_commands(bytes, 0, 1)?;
        Ok(values.pop().unwrap_or(Value::Nil))
    }
    fn req_packed_commands(&mut self, bytes: &[u8], offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        let mut packed = Packed::new(bytes);
        let mut answers = Answers::new(offset, count);
        while let Some(ran) = packed.next(|argv| self.call(argv))? {
            match ran {
                // Behind a lost connection the rest of the pipeline is lost too.
                Err(error) if !self.open => return Err(error),
                ran => answers.take(ran.map(|()| (&self.reply, self.heard))),
            }
        }
        answers.finish()
    }
    fn get_db(&self) -> i64 {
        self.client.database().map_or(0, i64::from)
    }
    fn check_connection(&mut self) -> bool {
        redis::cmd("PING").query::<String>(self).is_ok()
    }
    fn is_open(&self) -> bool {
        self.open
    }
}

/// The answers to a pipeline: the first `offset` of them say only which commands were refused.
pub(super) struct Answers {
    offset: usize,
    count: usize,
    seen: usize,
    values: Vec<Value>,
    refused: Vec<(usize, redis::ServerError)>,
    failure: Option<redis::RedisError>,
}

impl Answers {
    pub(super) fn new(offset: usize, count: usize) -> Self {
        let (values, refused) = (Vec::new(), Vec::new());
        Answers { offset, count, seen: 0, values, refused, failure: None }
    }
    /// The reply to the next command.
    pub(super) fn take(&mut self, ran: RedisResult<(&Reply, Resp)>) {
        match ran {
            Ok((reply, _)) if reply.is_empty() => self.add(Value::Nil),
            Ok((reply, heard)) => {
                for value in values_of(reply, heard) {
                    match value {
                        Ok(value) => self.add(value),
                        Err(error) => self.fail(error),
                    }
                }
            }
            Err(error) => self.fail(error),
        }
    }
    fn fail(&mut self, error: redis::RedisError) {
        self.seen += 1;
        self.failure.get_or_insert(error);
    }
    fn add(&mut self, value: Value) {
        match value {
            Value::Push { .. } => return,
            // One less, as MULTI stands before the commands.
            Value::ServerError(error) if self.seen < self.offset => {
                self.refused.push((self.seen.saturating_sub(1), error));
            }
            value if self.seen >= self.offset && self.values.len() < self.count => self.values.push(value),
            _ => {}
        }
        self.seen += 1;
    }
    pub(super) fn finish(self) -> RedisResult<Vec<Value>> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        if !self.refused.is_empty() {
            return Err(aborted(&self.refused));
        }
        if self.values.len() < self.count {
            let text = format!("{} of {} came", self.values.len(), self.count);
            return Err((ErrorKind::Client, "fewer replies than are asked for", text).into());
        }
        Ok(self.values)
    }
}
