//! A lock over independent servers: held by who has a majority of them in time. It is built on `lease`, one on each server.

use super::drive::RunAsync;
use super::error::OutOfBounds;
use super::lease::Lease;
use super::step::Step;
use super::token::{NoEntropy, Token, Tokens};
use std::time::Duration;

/// What a lock over several servers needs beside them: time.
pub trait Time {
    /// The time that has passed since some moment; it does not go back.
    fn now(&self) -> Duration;

    /// Waits so long.
    fn pause(&self, time: Duration) -> impl Future<Output = ()>;
}

/// A lock over several independent servers, held by who took a lease on more than half of them.
///
/// Each attempt asks all servers, one after the other, with a token of its own. It holds for what is left of the lease's time
/// behind the asking, less what clocks may differ by: a hundredth of it and two milliseconds. Without a majority, or when no
/// time is left, it is given back everywhere, also where no answer came, and tried again after a pause by chance.
///
/// It keeps two holders apart while servers keep what they granted and clocks run alike. A server that restarts empty or whose
/// clock jumps can make a majority of two minorities, and a holder that pauses goes on when its time is over: what must not be
/// overwritten asks for a fencing number, as [`FencedLease`](super::FencedLease) has.
///
/// ```
/// use moonkeep::Engine;
/// use moonkeep::patterns::{Redlock, SeededTokens, Time};
/// use std::time::Duration;
///
/// /// In production: `SystemTime` of feature `redis-aio`.
/// struct Held;
/// impl Time for Held {
///     fn now(&self) -> Duration { Duration::ZERO }
///     async fn pause(&self, _: Duration) {}
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let engines: Vec<Engine> = (0..5).map(|_| Engine::new()).collect();
/// let connect = || engines.iter().map(Engine::client).collect::<Vec<_>>();
/// let (mut ours, mut theirs) = (connect(), connect());
/// let lock = Redlock::new("lock:{p1}", Duration::from_secs(10))?;
///
/// let held = lock.acquire(&mut ours, &Held, &mut SeededTokens::new(1)).await?.expect("it is free");
/// assert_eq!(held.valid_for(&Held), Duration::from_millis(9_898));
/// assert!(lock.acquire(&mut theirs, &Held, &mut SeededTokens::new(2)).await?.is_none());
/// assert_eq!(held.release(&mut ours).await, 5);
/// # Ok::<(), moonkeep::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Redlock {
    lease: Lease,
    retries: u32,
    pause_most: Duration,
}

/// What clocks may differ by in the time of a lease.
fn drift(ttl: Duration) -> Duration {
    ttl / 100 + Duration::from_millis(2)
}

impl Redlock {
    /// A lock under this key for this time: 1 millisecond to a week. It is tried once; see [`retry`](Self::retry).
    ///
    /// # Errors
    /// A time outside that.
    pub fn new(key: impl Into<Vec<u8>>, ttl: Duration) -> Result<Self, OutOfBounds> {
        Ok(Redlock { lease: Lease::new(key, ttl)?, retries: 0, pause_most: Duration::ZERO })
    }

    /// Tries so often again, each time after a pause by chance of at most this time: those who got in each other's way are not
    /// to meet again.
    #[must_use]
    pub fn retry(self, times: u32, pause_most: Duration) -> Self {
        Redlock { retries: times, pause_most, ..self }
    }

    /// Takes the lock; `None` when others have it.
    ///
    /// # Errors
    /// When there is no randomness. A server that does not answer is one that did not grant it.
    pub async fn acquire<R: RunAsync>(
        &self,
        servers: &mut [R],
        time: &impl Time,
        tokens: &mut impl Tokens,
    ) -> Result<Option<RedlockHeld>, NoEntropy> {
        for attempt in 0..=self.retries {
            let token = tokens.token()?;
            let began = time.now();
            let mut granted = 0;
            for server in &mut *servers {
                let taken = self.lease.acquire(token.again()).run_async(server).await;
                granted += usize::from(matches!(taken, Ok(Some(_))));
            }
            let held = RedlockHeld { lease: self.lease.clone(), token, ends: self.ends(began) };
            if granted > servers.len() / 2 && !held.valid_for(time).is_zero() {
                return Ok(Some(held));
            }
            held.release(servers).await;
            if attempt < self.retries {
                time.pause(by_chance(tokens.token()?, self.pause_most)).await;
            }
        }
        Ok(None)
    }

    /// Until when what was begun then may be relied on.
    fn ends(&self, began: Duration) -> Duration {
        began + self.lease.ttl().saturating_sub(drift(self.lease.ttl()))
    }
}

/// A part of a time, by the bits of a token.
fn by_chance(token: Token, most: Duration) -> Duration {
    let bits = u32::from_str_radix(token.as_str().get(..8).unwrap_or_default(), 16).unwrap_or_default();
    Duration::try_from_secs_f64(most.as_secs_f64() * (f64::from(bits) / f64::from(u32::MAX))).unwrap_or(most)
}

/// A lock that a majority has granted.
#[derive(Debug)]
#[must_use = "a lock that is dropped is held until its time is over"]
pub struct RedlockHeld {
    lease: Lease,
    token: Token,
    ends: Duration,
}

impl RedlockHeld {
    /// For how long it may be relied on from now: zero when that is over.
    pub fn valid_for(&self, time: &impl Time) -> Duration {
        self.ends.saturating_sub(time.now())
    }

    /// Gives the lock its whole time again, from now; false when no majority has done so in time: stop then.
    pub async fn renew<R: RunAsync>(&mut self, servers: &mut [R], time: &impl Time) -> bool {
        let began = time.now();
        let mut renewed = 0;
        for server in &mut *servers {
            let held = self.lease.held_with(self.token.again());
            renewed += usize::from(matches!(held.renew().run_async(server).await, Ok(true)));
        }
        if renewed <= servers.len() / 2 {
            return false;
        }
        self.ends = began + self.lease.ttl().saturating_sub(drift(self.lease.ttl()));
        !self.valid_for(time).is_zero()
    }

    /// Gives the lock back on all servers, also on those that have not granted it or not answered; on how many it was held.
    pub async fn release<R: RunAsync>(self, servers: &mut [R]) -> usize {
        let mut released = 0;
        for server in servers {
            let held = self.lease.held_with(self.token.again());
            released += usize::from(matches!(held.release().run_async(server).await, Ok(true)));
        }
        released
    }

    /// The token that stands under the key.
    pub fn token(&self) -> &str {
        self.token.as_str()
    }
}

/// The system's time, for any executor.
#[cfg(feature = "redis-aio")]
#[derive(Debug, Clone, Copy)]
pub struct SystemTime(crate::util::clock::Stopwatch);

#[cfg(feature = "redis-aio")]
impl Default for SystemTime {
    fn default() -> Self {
        SystemTime(crate::util::clock::Stopwatch::start())
    }
}

#[cfg(feature = "redis-aio")]
impl Time for SystemTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    async fn pause(&self, time: Duration) {
        futures_timer::Delay::new(time).await;
    }
}
