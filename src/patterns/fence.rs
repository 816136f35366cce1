//! Fencing: each holder of a lease gets a greater number than the one before, and what is written downstream is refused
//! from holders whose number is behind. The decisions are lua/acquire_fenced.lua and lua/fenced_set.lua.

use super::error::{OutOfBounds, Refusal};
use super::lease::{Held, Lease, Release, Renew};
use super::script::{ACQUIRE_FENCED, FENCED_SET, RunScript, with_number};
use super::step::{Next, Resend, Step};
use super::token::Token;
use crate::reply::ReplyRef;
use crate::util::crc16::key_slot;

/// The greatest fencing number: the last integer that Lua counts exactly.
const FENCE_MOST: u64 = (1 << 53) - 1;

/// Why keys do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError {
    /// A cluster keeps the two keys on different nodes, and no script can reach both.
    #[error("the keys are in different hash slots: give both the same {{tag}}")]
    DifferentSlots,
    /// One key cannot hold both things.
    #[error("both keys are the same: each holds something of its own")]
    SameKey,
}

impl From<FenceError> for crate::Error {
    fn from(error: FenceError) -> Self {
        crate::Error::usage(error.to_string())
    }
}

/// Whether a script can be given both keys.
fn go_together(one: &[u8], other: &[u8]) -> Result<(), FenceError> {
    if one == other {
        Err(FenceError::SameKey)
    } else if key_slot(one) != key_slot(other) {
        Err(FenceError::DifferentSlots)
    } else {
        Ok(())
    }
}

/// A lease whose holders are numbered: [`Lease::fenced`].
///
/// ```
/// use moonkeep::Engine;
/// use moonkeep::patterns::{FencedValue, FencedWrite, Lease, SeededTokens, Step, Tokens};
/// use std::time::Duration;
///
/// let engine = Engine::new();
/// let mut client = engine.client();
/// let mut tokens = SeededTokens::new(7);
/// let lease = Lease::new("lock:{p1}", Duration::from_secs(5))?.fenced("fence:{p1}")?;
/// let stock = FencedValue::new("stock:{p1}", "seen:{p1}")?;
///
/// let first = lease.acquire(tokens.token()?).run(&mut client)?.expect("it is free");
/// engine.advance(Duration::from_secs(7))?;                         // the first holder pauses, its lease ends
/// let second = lease.acquire(tokens.token()?).run(&mut client)?.expect("it is free again");
/// assert_eq!((first.fence(), second.fence()), (1, 2));
///
/// assert_eq!(stock.set(second.fence(), "8")?.run(&mut client)?, FencedWrite::Written);
/// assert_eq!(stock.set(first.fence(), "9")?.run(&mut client)?, FencedWrite::Stale { seen: 2 });
/// assert_eq!(client.query::<i64, _>(["GET", "stock:{p1}"])?, 8);
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedLease {
    lease: Lease,
    counter: Vec<u8>,
}

impl Lease {
    /// The same lease with a number for each holder, counted under a key in the same hash slot.
    ///
    /// The counter must outlive every lease: it has no expiry, and must not be evicted. A server that fails over to a
    /// replica that has not heard of the last numbers gives them out again: where that must not happen, take the
    /// numbers from what does not lose writes.
    ///
    /// # Errors
    /// A counter in another hash slot; one under the lease's own key.
    pub fn fenced(&self, counter: impl Into<Vec<u8>>) -> Result<FencedLease, FenceError> {
        let counter = counter.into();
        go_together(&self.key, &counter)?;
        Ok(FencedLease { lease: self.clone(), counter })
    }
}

impl FencedLease {
    /// Takes the lease with the next number, if it is free; `None` when it is not.
    ///
    /// Sent again with the same token, it finds its own lease and number, and gives it its whole time.
    pub fn acquire(&self, token: Token) -> AcquireFenced {
        let call = ACQUIRE_FENCED.call().keys([&self.lease.key, &self.counter]);
        let script = RunScript::new(call.arg(token.as_bytes()).arg(self.lease.ttl_ms));
        AcquireFenced { lease: self.lease.clone(), token, script }
    }
}

/// A numbered lease that was taken.
#[derive(Debug)]
#[must_use = "a lease that is dropped is held until its time is over"]
pub struct FencedHeld {
    held: Held,
    fence: u64,
}

impl FencedHeld {
    /// The number of this holder: greater than that of every holder before.
    pub fn fence(&self) -> u64 {
        self.fence
    }
    /// As [`Held::renew`]; the number stays.
    pub fn renew(&self) -> Renew {
        self.held.renew()
    }
    /// As [`Held::release`]; the counter stays.
    pub fn release(self) -> Release {
        self.held.release()
    }
    /// The lease itself.
    pub fn held(&self) -> &Held {
        &self.held
    }
}

/// Takes a lease and a number: [`FencedLease::acquire`].
#[derive(Debug)]
#[must_use = "a step does nothing before it is run"]
pub struct AcquireFenced {
    lease: Lease,
    token: Token,
    script: RunScript<'static>,
}

impl Step for AcquireFenced {
    type Output = Option<FencedHeld>;

    fn argv(&self) -> Vec<&[u8]> {
        self.script.argv()
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<Option<FencedHeld>>, Refusal> {
        let Some(reply) = self.script.outcome(reply) else { return Ok(Next::Send) };
        let (is_ours, fence) = with_number(reply)?;
        let held = || FencedHeld { held: self.lease.held_with(self.token.again()), fence };
        Ok(Next::Done(is_ours.then(held)))
    }
}

/// The script knows its own token.
impl Resend for AcquireFenced {
    fn lost(&mut self) {}
}

/// A string that holders of a [`FencedLease`] write, and the greatest number that wrote it so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedValue {
    key: Vec<u8>,
    seen: Vec<u8>,
}

/// What came of a write with a fencing number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a stale number wrote nothing"]
pub enum FencedWrite {
    /// The value was written.
    Written,
    /// A greater number, or this one, has written before; nothing was written.
    Stale {
        /// The greatest number that has written.
        seen: u64,
    },
}

impl FencedValue {
    /// The value under a key; the greatest number that wrote it stands under another one in the same hash slot.
    ///
    /// # Errors
    /// Keys in different hash slots, or twice the same.
    pub fn new(key: impl Into<Vec<u8>>, seen: impl Into<Vec<u8>>) -> Result<Self, FenceError> {
        let (key, seen) = (key.into(), seen.into());
        go_together(&key, &seen)?;
        Ok(FencedValue { key, seen })
    }
    /// Writes the value, unless this number or a greater one has written before: each number writes once.
    ///
    /// # Errors
    /// A number outside 1 to 2^53 - 1.
    pub fn set(&self, fence: u64, value: impl AsRef<[u8]>) -> Result<FencedSet, OutOfBounds> {
        let fence = OutOfBounds::check("fencing number", fence, 1, FENCE_MOST)?;
        let value = value.as_ref().to_vec();
        let call = FENCED_SET.call().keys([&self.key, &self.seen]).arg(fence).arg(&value);
        let script = RunScript::new(call);
        Ok(FencedSet { script, key: self.key.clone(), value, fence, may_have_run: false, reads_back: false })
    }
}

/// Writes with a fencing number: [`FencedValue::set`].
///
/// When a reply was lost and it is sent again, it may find that its own number has written: then it reads the value
/// back, and `Written` says that it is the one it was to write.
#[derive(Debug)]
#[must_use = "a step does nothing before it is run"]
pub struct FencedSet {
    script: RunScript<'static>,
    key: Vec<u8>,
    value: Vec<u8>,
    fence: u64,
    may_have_run: bool,
    reads_back: bool,
}

impl Step for FencedSet {
    type Output = FencedWrite;

    fn argv(&self) -> Vec<&[u8]> {
        if self.reads_back { vec![b"GET", &self.key] } else { self.script.argv() }
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<FencedWrite>, Refusal> {
        if self.reads_back {
            return match reply {
                ReplyRef::Bulk(value) if value == self.value => Ok(Next::Done(FencedWrite::Written)),
                ReplyRef::Bulk(_) | ReplyRef::Nil => Ok(Next::Done(FencedWrite::Stale { seen: self.fence })),
                other => Refusal::of("a string", other),
            };
        }
        let Some(reply) = self.script.outcome(reply) else { return Ok(Next::Send) };
        match with_number(reply)? {
            (true, _) => Ok(Next::Done(FencedWrite::Written)),
            (false, seen) if self.may_have_run && seen == self.fence => {
                self.reads_back = true;
                Ok(Next::Send)
            }
            (false, seen) => Ok(Next::Done(FencedWrite::Stale { seen })),
        }
    }
}

impl Resend for FencedSet {
    fn lost(&mut self) {
        self.may_have_run = true;
        self.reads_back = false;
    }
}
