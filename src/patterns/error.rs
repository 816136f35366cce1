//! Why an operation failed, told apart by what the caller can do: nothing was sent (`OutOfBounds`), the call failed and
//! may have run (`Error::Call`), the reply was a refusal (`Refusal`).

use crate::reply::ReplyRef;
use std::fmt;

/// The scripts' own texts.
const STOCK_INVALID: &[u8] = b"Stock is missing or invalid";
const FENCE_INVALID: &[u8] = b"Fence is invalid or used up";

/// Why an operation has no outcome; `E` is what the connection says when a call fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E> {
    /// The call failed: the command may have run or not. What is safe to send again is a [`Resend`](super::Resend).
    #[error("the call failed, the command may have run: {0}")]
    Call(E),
    /// A number outside what the script takes; nothing was sent.
    #[error(transparent)]
    OutOfBounds(#[from] OutOfBounds),
    /// The command or script refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl<E> Error<E> {
    /// True when the command may have run although no reply came.
    pub fn is_call(&self) -> bool {
        matches!(self, Error::Call(_))
    }
    /// The refusal, when it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Error::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// A number outside what a script takes. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {got}, it must be from {least} to {most}")]
pub struct OutOfBounds {
    what: &'static str,
    got: u128,
    least: u64,
    most: u64,
}

impl OutOfBounds {
    /// The number, when it lies within the bounds.
    pub(super) fn check(
        what: &'static str,
        got: impl Into<u128>,
        least: u64,
        most: u64,
    ) -> Result<u64, OutOfBounds> {
        let got = got.into();
        match u64::try_from(got) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(OutOfBounds { what, got, least, most }),
        }
    }
    /// The least and the greatest number that are taken.
    pub fn bounds(&self) -> (u64, u64) {
        (self.least, self.most)
    }
}

/// What a command or script answered instead of an outcome. It changed nothing.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no stock under the key, or no number from 0 to 1000000000.
    #[error("the stock is missing or invalid")]
    StockInvalid,
    /// The counter of fencing numbers, or the highest fencing number accepted so far, is no number from 0 to 2^53 - 1.
    #[error("the fencing number is invalid or used up")]
    FenceInvalid,
    /// Any other error reply, as the whole text.
    #[error("{}", String::from_utf8_lossy(.0))]
    Reply(Vec<u8>),
    /// A reply that the command cannot have: another program answers, or the connection is inside MULTI.
    #[error("cannot read {got} as {want}")]
    Unexpected {
        /// What the operation expects.
        want: &'static str,
        /// What came.
        got: String,
    },
}

impl Refusal {
    /// The first word of an error reply, as in `WRONGTYPE`.
    pub fn code(&self) -> Option<&str> {
        let Refusal::Reply(text) = self else { return None };
        text.split(|&byte| byte == b' ').next().and_then(|code| std::str::from_utf8(code).ok())
    }
    /// What a reply that is no outcome means: an error reply, or something unexpected.
    pub(super) fn of<T>(want: &'static str, reply: ReplyRef<'_>) -> Result<T, Refusal> {
        Err(match reply {
            ReplyRef::Error(STOCK_INVALID) => Refusal::StockInvalid,
            ReplyRef::Error(FENCE_INVALID) => Refusal::FenceInvalid,
            ReplyRef::Error(text) => Refusal::Reply(text.to_vec()),
            other => Refusal::Unexpected { want, got: format!("{other:?}").chars().take(80).collect() },
        })
    }
}

/// On an engine, all failures fit into its one error: `?` works in functions that return it.
impl From<Error<crate::Error>> for crate::Error {
    fn from(error: Error<crate::Error>) -> Self {
        match error {
            Error::Call(error) => error,
            Error::OutOfBounds(error) => error.into(),
            Error::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<OutOfBounds> for crate::Error {
    fn from(error: OutOfBounds) -> Self {
        crate::Error::usage(error.to_string())
    }
}

impl From<Refusal> for crate::Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::StockInvalid => crate::Error::reply(STOCK_INVALID),
            Refusal::FenceInvalid => crate::Error::reply(FENCE_INVALID),
            Refusal::Reply(text) => crate::Error::reply(&text),
            Refusal::Unexpected { want, got } => crate::Error::convert(want, got),
        }
    }
}

/// Shows an error reply as text.
impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::StockInvalid => f.write_str("StockInvalid"),
            Refusal::FenceInvalid => f.write_str("FenceInvalid"),
            Refusal::Reply(text) => f.debug_tuple("Reply").field(&String::from_utf8_lossy(text)).finish(),
            Refusal::Unexpected { want, got } => {
                f.debug_struct("Unexpected").field("want", want).field("got", got).finish()
            }
        }
    }
}
