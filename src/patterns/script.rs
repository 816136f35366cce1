//! A script as a step: EVALSHA first and, when the other side does not know the script yet, EVAL.
//! The patterns build on it, and it runs any other script on whatever implements `Run`.

use super::error::Refusal;
use super::step::{Next, Step};
use crate::engine::{Invocation, Script};
use crate::reply::{FromReply, Reply, ReplyRef};
use std::sync::LazyLock;

/// One run of a script; its outcome is the reply.
///
/// ```
/// use moonkeep::patterns::{RunScript, Step};
/// use moonkeep::{Engine, Script};
/// let add = Script::new("return redis.call('INCRBY', KEYS[1], ARGV[1])");
/// let reply = RunScript::new(add.key("n").arg(5)).run(&mut Engine::new().client())?;
/// assert_eq!(reply.get::<i64>()?, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunScript<'a> {
    call: Invocation<'a>,
    key_count: String,
    with_source: bool,
}

impl<'a> RunScript<'a> {
    /// A step that runs a script with its keys and arguments.
    pub fn new(call: Invocation<'a>) -> Self {
        let key_count = call.parts().1.len().to_string();
        RunScript { call, key_count, with_source: false }
    }
    /// Takes a reply: asks for another command, or gives the reply back to be read.
    pub(super) fn outcome<'r>(&mut self, reply: ReplyRef<'r>) -> Option<ReplyRef<'r>> {
        match reply {
            ReplyRef::Error(text) if !self.with_source && text.starts_with(b"NOSCRIPT") => {
                self.with_source = true;
                None
            }
            other => Some(other),
        }
    }
}

impl Step for RunScript<'_> {
    type Output = Reply;

    fn argv(&self) -> Vec<&[u8]> {
        let (script, keys, args) = self.call.parts();
        let (command, text) = match self.with_source {
            false => (b"EVALSHA".as_slice(), script.sha().as_bytes()),
            true => (b"EVAL".as_slice(), script.source()),
        };
        let mut argv = vec![command, text, self.key_count.as_bytes()];
        argv.extend(keys.iter().chain(args).map(Vec::as_slice));
        argv
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<Reply>, Refusal> {
        let Some(reply) = self.outcome(reply) else { return Ok(Next::Send) };
        match Reply::from_reply(reply) {
            Ok(reply) => Ok(Next::Done(reply)),
            Err(_) => Refusal::of("a reply", reply),
        }
    }
}

/// A script of `lua/`, made when it is first used.
pub(super) type Shipped = LazyLock<Script>;

macro_rules! shipped {
    ($($name:ident = $file:literal;)*) => {$(
        pub(super) static $name: Shipped =
            LazyLock::new(|| Script::new(include_str!(concat!("../../lua/", $file))));
    )*};
}

shipped! {
    DECREASE_STOCK = "decrease_stock.lua";
    RENEW_LOCK = "renew_lock.lua";
    UNLOCK = "unlock.lua";
    ACQUIRE_FENCED = "acquire_fenced.lua";
    FENCED_SET = "fenced_set.lua";
}

/// The reply of a script that answers 1 or 0.
pub(super) fn yes_or_no(reply: ReplyRef<'_>) -> Result<bool, Refusal> {
    match reply {
        ReplyRef::Int(0) => Ok(false),
        ReplyRef::Int(1) => Ok(true),
        other => Refusal::of("1 or 0", other),
    }
}

/// The reply of a script that answers 1 or 0 and a number that is not negative.
pub(super) fn with_number(reply: ReplyRef<'_>) -> Result<(bool, u64), Refusal> {
    const WANT: &str = "a list of 1 or 0 and a number";
    match <(i64, u64)>::from_reply(reply) {
        Ok((0, number)) => Ok((false, number)),
        Ok((1, number)) => Ok((true, number)),
        _ => Refusal::of(WANT, reply),
    }
}
