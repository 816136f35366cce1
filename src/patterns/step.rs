//! What an operation is: commands out, replies in, no I/O. The loops that drive one stand in `drive`.

use super::drive::{self, Run, RunAsync};
use super::error::{Error, Refusal};
use crate::reply::ReplyRef;

/// What a step wants after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// [`Step::argv`] has the next command to send.
    Send,
    /// The operation is over, with this outcome.
    Done(T),
}

/// An operation as commands and replies, so that anything can carry it: a connection, a simulation, a test by hand.
///
/// ```
/// use moonkeep::ReplyRef;
/// use moonkeep::patterns::{Next, Step, Stock};
/// let mut left = Stock::new("stock").left();
/// assert_eq!(left.argv(), [b"GET".as_slice(), b"stock"]);
/// assert_eq!(left.reply(ReplyRef::Bulk(b"7"))?, Next::Done(7));
/// # Ok::<(), moonkeep::patterns::Refusal>(())
/// ```
pub trait Step {
    /// What the operation gives.
    type Output;

    /// The command to send now; the same until a reply has come in.
    fn argv(&self) -> Vec<&[u8]>;

    /// Takes the reply to [`argv`](Self::argv).
    ///
    /// # Errors
    /// An error reply, or a reply that the command cannot have. The operation is over then.
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<Self::Output>, Refusal>;

    /// Runs the operation to its end, once.
    ///
    /// # Errors
    /// [`Error::Call`] when a call failed: the command may have run or not. [`Error::Refused`] as [`reply`](Self::reply).
    fn run<R: Run + ?Sized>(mut self, on: &mut R) -> Result<Self::Output, Error<R::Error>>
    where
        Self: Sized,
    {
        drive::blocking(&mut self, on)
    }

    /// The same without blocking. Needs no particular executor.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn run_async<R: RunAsync + ?Sized>(
        mut self,
        on: &mut R,
    ) -> impl Future<Output = Result<Self::Output, Error<R::Error>>>
    where
        Self: Sized,
    {
        async move { drive::without_blocking(&mut self, on).await }
    }
}

/// A step whose commands may be sent again when a reply was lost: twice does what once does.
///
/// A lost reply leaves open whether the command ran. [`try_run`](Self::try_run) keeps the step, so that the same
/// operation, with the same token, can be sent again:
///
/// ```
/// use moonkeep::patterns::{Error, Lease, Resend, SeededTokens, Tokens};
/// use moonkeep::{Engine, Loss};
/// let engine = Engine::new();
/// let mut client = engine.client();
/// let lease = Lease::new("lock", std::time::Duration::from_secs(5))?;
/// let mut acquire = lease.acquire(SeededTokens::new(7).token()?);
///
/// engine.lose(Loss::Replies)?;
/// assert!(matches!(acquire.try_run(&mut client), Err(Error::Call(_))));  // held, but who knows
/// engine.heal()?;
/// assert!(acquire.try_run(&mut client)?.is_some());                       // recognised as its own
/// # Ok::<(), moonkeep::Error>(())
/// ```
pub trait Resend: Step {
    /// Tells the step that the reply to [`argv`](Step::argv) was lost: it begins anew, and knows that an earlier
    /// command of its own may have run. The drivers here call it; also call it before the first command where
    /// something below sends a command again by itself, as some cluster clients do.
    fn lost(&mut self);

    /// Runs the operation; after [`Error::Call`] it can be run again.
    ///
    /// # Errors
    /// As [`Step::run`].
    fn try_run<R: Run + ?Sized>(&mut self, on: &mut R) -> Result<Self::Output, Error<R::Error>>
    where
        Self: Sized,
    {
        let outcome = drive::blocking(self, on);
        if let Err(Error::Call(_)) = outcome {
            self.lost();
        }
        outcome
    }

    /// The same without blocking. When the future is dropped before its end, call [`lost`](Self::lost) before the
    /// step is run again.
    ///
    /// # Errors
    /// As [`Step::run`].
    fn try_run_async<R: RunAsync + ?Sized>(
        &mut self,
        on: &mut R,
    ) -> impl Future<Output = Result<Self::Output, Error<R::Error>>>
    where
        Self: Sized,
    {
        async move {
            let outcome = drive::without_blocking(self, on).await;
            if let Err(Error::Call(_)) = outcome {
                self.lost();
            }
            outcome
        }
    }
}
