//! Patterns: what the scripts of `lua/` do, as typed operations that run on an engine and on a server alike.
//!
//! Each operation is a [`Step`]: it says which command to send and reads the reply, and never touches a connection.
//! [`Step::run`] drives it on whatever implements [`Run`] (an engine's [`Client`](crate::Client); with feature `redis`
//! any connection of the redis crate, in `Redis`), [`Step::run_async`] on whatever implements [`RunAsync`].
//! `stock` and `lease` are the patterns, `fence` the numbers that make a lease safe downstream, `redlock` a lease on a majority of
//! independent servers.
//!
//! ```
//! use moonkeep::Engine;
//! use moonkeep::patterns::{Decreased, Lease, SeededTokens, Step, Stock, Tokens};
//! use std::time::Duration;
//!
//! let engine = Engine::new();
//! let mut client = engine.client();
//!
//! let stock = Stock::new("stock:{p1}");
//! stock.set(3)?.run(&mut client)?;
//! assert_eq!(stock.decrease(2)?.run(&mut client)?, Decreased::Taken { left: 1 });
//! assert_eq!(stock.decrease(2)?.run(&mut client)?, Decreased::Short { left: 1 });
//!
//! let mut tokens = SeededTokens::new(7);
//! let lease = Lease::new("lock:{p1}", Duration::from_secs(5))?;
//! let held = lease.acquire(tokens.token()?).run(&mut client)?.expect("nobody holds it");
//! assert!(lease.acquire(tokens.token()?).run(&mut client)?.is_none());
//! engine.advance(Duration::from_secs(4))?;
//! assert!(held.renew().run(&mut client)?);
//! assert!(held.release().run(&mut client)?);
//! # Ok::<(), moonkeep::Error>(())
//! ```

mod drive;
mod error;
mod fence;
mod lease;
#[cfg(feature = "redis")]
mod redis;
mod redlock;
mod script;
mod step;
mod stock;
mod token;

#[cfg(feature = "redis")]
pub use self::redis::Redis;
pub use drive::{Run, RunAsync};
pub use error::{Error, OutOfBounds, Refusal};
pub use fence::{AcquireFenced, FenceError, FencedHeld, FencedLease, FencedSet, FencedValue, FencedWrite};
pub use lease::{Acquire, Held, Lease, Release, Renew};
#[cfg(feature = "redis-aio")]
pub use redlock::SystemTime;
pub use redlock::{Redlock, RedlockHeld, Time};
pub use script::RunScript;
pub use step::{Next, Resend, Step};
pub use stock::{Decrease, Decreased, Left, SetStock, Stock};
#[cfg(feature = "redis")]
pub use token::OsTokens;
pub use token::{NoEntropy, SeededTokens, Token, Tokens};
