//! A lease: a lock that ends by itself. One command takes it, scripts renew it and give it back, each only while it is
//! still the caller's. What a lease cannot do is in the documentation of `Lease`; `fence` adds what makes up for it.

use super::error::{OutOfBounds, Refusal};
use super::script::{RENEW_LOCK, RunScript, UNLOCK, yes_or_no};
use super::step::{Next, Resend, Step};
use super::token::Token;
use crate::reply::ReplyRef;
use std::time::Duration;

/// The longest time of a lease: a week.
const TTL_MOST_MS: u64 = 604_800_000;

/// A lock that ends by itself after its time, so that a holder that dies blocks nobody for ever.
///
/// - Its time counts from *before* the command that took it was sent: the reply tells that it is held, not for how
///   long the reply was on its way.
/// - Its end stops nobody. A holder that pauses past the end still runs, and its writes still arrive: what must not be
///   overwritten by it asks for a fencing number, [`fenced`](Self::fenced).
/// - In its last millisecond it is nobody's to act on: it cannot be renewed any more and cannot be taken yet.
/// - A server that fails over to a replica that has not heard of the lease gives it to a second holder.
///
/// ```
/// use moonkeep::Engine;
/// use moonkeep::patterns::{Lease, SeededTokens, Step, Tokens};
/// use std::time::Duration;
///
/// let engine = Engine::new();
/// let (mut ours, mut theirs) = (engine.client(), engine.client());
/// let mut tokens = SeededTokens::new(7);
/// let lease = Lease::new("lock:{p1}", Duration::from_secs(5))?;
///
/// let held = lease.acquire(tokens.token()?).run(&mut ours)?.expect("it is free");
/// engine.advance(Duration::from_millis(5001))?;                    // we paused for too long
/// let other = lease.acquire(tokens.token()?).run(&mut theirs)?.expect("ours is over");
/// assert!(!held.renew().run(&mut ours)?);                          // and we are told so
/// assert!(!held.release().run(&mut ours)?);                        // which does not touch theirs
/// assert!(other.release().run(&mut theirs)?);
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(super) key: Vec<u8>,
    pub(super) ttl_ms: u64,
}

impl Lease {
    /// A lease under this key for this time: 1 millisecond to a week, rounded down to milliseconds.
    ///
    /// # Errors
    /// A time outside that.
    pub fn new(key: impl Into<Vec<u8>>, ttl: Duration) -> Result<Self, OutOfBounds> {
        Ok(Lease { key: key.into(), ttl_ms: ttl_ms(ttl)? })
    }
    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }
    /// The time it is taken and renewed for.
    pub fn ttl(&self) -> Duration {
        Duration::from_millis(self.ttl_ms)
    }
    /// Takes the lease, if it is free; `None` when it is not. The token is of this attempt alone.
    pub fn acquire(&self, token: Token) -> Acquire {
        let stage = Stage::Set(self.ttl_ms.to_string());
        Acquire { lease: self.clone(), token, stage, may_have_run: false }
    }
    /// A lease that somebody took under this token, to be renewed or given back here: it was handed over from another
    /// process. Whether it is still held only [`Held::renew`] can say.
    pub fn held_with(&self, token: Token) -> Held {
        Held { lease: self.clone(), token }
    }
}

/// The time in whole milliseconds, when the scripts take it.
fn ttl_ms(ttl: Duration) -> Result<u64, OutOfBounds> {
    OutOfBounds::check("time in milliseconds", ttl.as_millis(), 1, TTL_MOST_MS)
}

/// A lease that was taken. That it still is only the server knows: see [`Lease`].
#[derive(Debug)]
#[must_use = "a lease that is dropped is held until its time is over"]
pub struct Held {
    lease: Lease,
    token: Token,
}

impl Held {
    /// Gives the lease its whole time again, from now; false when it is over or somebody else's: stop then.
    pub fn renew(&self) -> Renew {
        self.renew_ms(self.lease.ttl_ms)
    }
    /// The same with another time, which may be shorter.
    ///
    /// # Errors
    /// A time outside 1 millisecond to a week.
    pub fn renew_for(&self, ttl: Duration) -> Result<Renew, OutOfBounds> {
        Ok(self.renew_ms(ttl_ms(ttl)?))
    }
    fn renew_ms(&self, ttl_ms: u64) -> Renew {
        Renew { script: renewal(&self.lease.key, &self.token, ttl_ms) }
    }
    /// Gives the lease back; false when it was over or somebody else's already, which changes nothing. After a lost
    /// reply that was sent again, false also when the first one did it.
    pub fn release(self) -> Release {
        Release { script: RunScript::new(UNLOCK.key(&self.lease.key).arg(self.token.as_bytes())) }
    }
    /// The token that stands under the key.
    pub fn token(&self) -> &str {
        self.token.as_str()
    }
}

fn renewal(key: &[u8], token: &Token, ttl_ms: u64) -> RunScript<'static> {
    RunScript::new(RENEW_LOCK.key(key).arg(token.as_bytes()).arg(ttl_ms))
}

/// Takes a lease: [`Lease::acquire`].
///
/// One command, `SET key token NX PX time`. When its reply was lost and it is sent again, a lease that is taken may be
/// our own: then lua/renew_lock.lua with our token gives it its whole time, or says that it is somebody else's.
#[derive(Debug)]
#[must_use = "a step does nothing before it is run"]
pub struct Acquire {
    lease: Lease,
    token: Token,
    stage: Stage,
    may_have_run: bool,
}

#[derive(Debug)]
enum Stage {
    /// SET, with the time as text.
    Set(String),
    /// It is taken, perhaps by ourselves.
    Renew(RunScript<'static>),
}

impl Step for Acquire {
    type Output = Option<Held>;

    fn argv(&self) -> Vec<&[u8]> {
        match &self.stage {
            Stage::Set(ttl) => {
                vec![b"SET", &self.lease.key, self.token.as_bytes(), b"NX", b"PX", ttl.as_bytes()]
            }
            Stage::Renew(script) => script.argv(),
        }
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<Option<Held>>, Refusal> {
        let is_ours = match (&mut self.stage, reply) {
            (Stage::Set(_), ReplyRef::Status(b"OK")) => true,
            (Stage::Set(_), ReplyRef::Nil) if self.may_have_run => {
                self.stage = Stage::Renew(renewal(&self.lease.key, &self.token, self.lease.ttl_ms));
                return Ok(Next::Send);
            }
            (Stage::Set(_), ReplyRef::Nil) => false,
            (Stage::Set(_), other) => return Refusal::of("OK or nil", other),
            (Stage::Renew(script), reply) => match script.outcome(reply) {
                Some(reply) => yes_or_no(reply)?,
                None => return Ok(Next::Send),
            },
        };
        let held = || Held { lease: self.lease.clone(), token: self.token.again() };
        Ok(Next::Done(is_ours.then(held)))
    }
}

impl Resend for Acquire {
    fn lost(&mut self) {
        self.may_have_run = true;
        self.stage = Stage::Set(self.lease.ttl_ms.to_string());
    }
}

macro_rules! script_steps {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        #[must_use = "a step does nothing before it is run"]
        pub struct $name {
            script: RunScript<'static>,
        }

        impl Step for $name {
            type Output = bool;

            fn argv(&self) -> Vec<&[u8]> {
                self.script.argv()
            }
            fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<bool>, Refusal> {
                match self.script.outcome(reply) {
                    Some(reply) => yes_or_no(reply).map(Next::Done),
                    None => Ok(Next::Send),
                }
            }
        }

        /// The script looks at the token, so that a second run does nothing that the first one did not.
        impl Resend for $name {
            fn lost(&mut self) {}
        }
    )*};
}

script_steps! {
    /// Gives a lease its time again: [`Held::renew`].
    Renew;
    /// Gives a lease back: [`Held::release`].
    Release;
}
