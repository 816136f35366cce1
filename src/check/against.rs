//! The same call on a real server: its database gets what the keys hold as DUMP tells it, and what it answers and holds
//! afterwards is compared with the engine.

use super::ServerCall;
use crate::contract::Input;
use crate::engine::{Client, Engine, Script, Snapshot};
use crate::error::Error;
use crate::reply::{Reply, ReplyRef, Resp};
use crate::util::clock::Stopwatch;
use std::time::Duration;

/// Keys with less time left than this could expire on the way: such calls are left out.
const TTL_LEAST_MS: i64 = 20_000;
/// The clocks of both sides are read between milliseconds.
const ROUNDING_MS: i64 = 2;

/// A real server whose database is used.
pub(super) struct Server<'a> {
    call: ServerCall<'a>,
    source: Vec<u8>,
}

/// What a real server did with a call.
pub(super) enum Comparison {
    Same,
    /// It does not bear comparison.
    LeftOut,
    /// What it did otherwise.
    Differs(String),
}

/// A key as DUMP and PTTL tell it.
struct Dumped {
    key: Vec<u8>,
    payload: Vec<u8>,
    ttl_ms: i64,
}

impl<'a> Server<'a> {
    pub(super) fn new(call: ServerCall<'a>, script: &Script) -> Result<Self, Error> {
        let mut server = Server { call, source: script.source().to_vec() };
        // DBSIZE counts keys whose time is over until the server comes across them, as RANDOMKEY does.
        if matches!(server.ask(&[b"RANDOMKEY"])?.view(), ReplyRef::Nil) {
            return Ok(server);
        }
        match server.ask(&[b"DBSIZE"])?.view() {
            ReplyRef::Int(keys) => Err(Error::usage(format!(
                "the server's database holds {keys} keys; the check needs an empty one, as the 9 of redis://HOST:PORT/9"
            ))),
            other => Err(Error::usage(format!("the server answers DBSIZE with {other:?}"))),
        }
    }
    fn ask(&mut self, words: &[&[u8]]) -> Result<Reply, Error> {
        (self.call)(words).map_err(Error::usage)
    }
    /// Has the server make a call in the state of before, and compares what it comes to.
    pub(super) fn compare(
        &mut self,
        input: &Input,
        before: &Snapshot,
        reply: &Reply,
        after: &Engine,
    ) -> Result<Comparison, Error> {
        let begin = dumped(&mut before.fork().try_client()?)?;
        if begin.iter().any(|key| (0..TTL_LEAST_MS).contains(&key.ttl_ms)) {
            return Ok(Comparison::LeftOut);
        }
        let ours = dumped(&mut after.fork()?.try_client()?)?;
        let stopwatch = Stopwatch::start();
        let answer = self.answer(input, &begin);
        // Whatever came of it, the database is as empty as it was.
        let theirs = self.take_all();
        // On the server time passes meanwhile, on the engine it stands.
        let passed_ms =
            i64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(i64::MAX).saturating_add(ROUNDING_MS);
        let (answer, theirs) = (answer?, theirs?);
        if ours.iter().any(|key| (0..=passed_ms).contains(&key.ttl_ms)) {
            // What the call itself gave so little time may be gone there by now.
            return Ok(Comparison::LeftOut);
        }
        let has_times = ours.iter().chain(&begin).any(|key| key.ttl_ms >= 0);
        // As this connection has it: a script may choose another protocol within.
        let reply = &reply.received(Resp::V2);
        if !same_reply(reply.view(), answer.view(), if has_times { passed_ms } else { 0 }) {
            return Ok(Comparison::Differs(format!("the reply is {reply:?}, the server's is {answer:?}")));
        }
        Ok(self.state_differs(&ours, &theirs, passed_ms)?.map_or(Comparison::Same, Comparison::Differs))
    }
    /// What the server answers in this state.
    fn answer(&mut self, input: &Input, begin: &[Dumped]) -> Result<Reply, Error> {
        for Dumped { key, payload, ttl_ms } in begin {
            let ttl = (*ttl_ms).max(0).to_string();
            let answer = self.ask(&[b"RESTORE", key, ttl.as_bytes(), payload])?;
            if let Some(text) = answer.error_message() {
                let text = String::from_utf8_lossy(text);
                return Err(Error::usage(format!("the server refuses the set-up with RESTORE: {text}")));
            }
        }
        let count = input.keys.len().to_string();
        let mut words: Vec<&[u8]> = vec![b"EVAL", &self.source, count.as_bytes()];
        words.extend(input.keys.iter().chain(&input.args).map(Vec::as_slice));
        (self.call)(&words).map_err(Error::usage)
    }
    /// What the server holds; it is empty afterwards.
    fn take_all(&mut self) -> Result<Vec<Dumped>, Error> {
        let keys = self.ask(&[b"KEYS", b"*"])?;
        let keys: Vec<Vec<u8>> = keys.get()?;
        let mut all = Vec::new();
        for key in keys {
            let payload = self.ask(&[b"DUMP", &key])?.get::<Option<Vec<u8>>>()?;
            let ttl_ms = self.ask(&[b"PTTL", &key])?.get()?;
            self.ask(&[b"DEL", &key])?;
            all.extend(payload.map(|payload| Dumped { key, payload, ttl_ms }));
        }
        all.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(all)
    }
    fn state_differs(
        &self,
        ours: &[Dumped],
        theirs: &[Dumped],
        passed_ms: i64,
    ) -> Result<Option<String>, Error> {
        let [own, other] = [restored(ours)?, restored(theirs)?];
        let changes = own.diff(&other);
        if !changes.is_empty() {
            let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
            return Ok(Some(format!("the server holds something else: {}", changes.join("; "))));
        }
        let far = ours
            .iter()
            .zip(theirs)
            .find(|(a, b)| (a.ttl_ms < 0) != (b.ttl_ms < 0) || (a.ttl_ms - b.ttl_ms).abs() > passed_ms);
        Ok(far.map(|(a, b)| {
            let key = String::from_utf8_lossy(&a.key);
            format!("the time of {key} to live is {} ms, on the server {} ms", a.ttl_ms, b.ttl_ms)
        }))
    }
}

/// The keys of the first database.
fn dumped(client: &mut Client) -> Result<Vec<Dumped>, Error> {
    let keys: Vec<Vec<u8>> = client.query(["KEYS", "*"])?;
    let mut all = Vec::new();
    for key in keys {
        let payload = client.query::<Option<Vec<u8>>, _>([b"DUMP", &key[..]])?;
        let ttl_ms = client.query([b"PTTL", &key[..]])?;
        all.extend(payload.map(|payload| Dumped { key, payload, ttl_ms }));
    }
    all.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(all)
}

/// An engine that holds this, without expiries.
fn restored(keys: &[Dumped]) -> Result<Snapshot, Error> {
    let engine = Engine::new();
    let mut client = engine.try_client()?;
    for Dumped { key, payload, .. } in keys {
        client.call([b"RESTORE", &key[..], b"0", payload])?;
    }
    engine.advance(Duration::ZERO)?;
    engine.snapshot()
}

/// Whether replies are the same; integers may tell what is left of a time to live, so much of which has passed.
fn same_reply(ours: ReplyRef<'_>, theirs: ReplyRef<'_>, passed_ms: i64) -> bool {
    match (ours, theirs) {
        (ReplyRef::Int(a), ReplyRef::Int(b)) => {
            a == b || (a > TTL_LEAST_MS / 2 && a.abs_diff(b) <= passed_ms.unsigned_abs())
        }
        (ReplyRef::Array(a), ReplyRef::Array(b)) => {
            a.len() == b.len() && a.zip(b).all(|(a, b)| same_reply(a, b, passed_ms))
        }
        (ReplyRef::Nil | ReplyRef::NilArray, ReplyRef::Nil | ReplyRef::NilArray) => true,
        (a, b) => a == b,
    }
}
