//! Where a command runs: two small traits, one blocking and one not, the loops that drive a step on them, and their
//! implementation for an engine's client. Connections of the redis crate stand in `redis`.

use super::error::Error;
use super::step::{Next, Step};
use crate::engine::Client;
use crate::reply::Reply;

/// Something that runs a command and waits for its reply.
pub trait Run {
    /// Why a call failed: no connection, no reply.
    type Error;

    /// Runs a command. An error reply is a reply.
    ///
    /// # Errors
    /// When no reply came: the command may have run or not.
    fn exchange(&mut self, argv: &[&[u8]]) -> Result<Reply, Self::Error>;
}

/// Something that runs a command without blocking.
pub trait RunAsync {
    /// Why a call failed: no connection, no reply.
    type Error;

    /// Runs a command. An error reply is a reply.
    ///
    /// # Errors
    /// When no reply came: the command may have run or not.
    fn exchange_async(&mut self, argv: &[&[u8]]) -> impl Future<Output = Result<Reply, Self::Error>>;
}

pub(super) fn blocking<S: Step, R: Run + ?Sized>(
    step: &mut S,
    on: &mut R,
) -> Result<S::Output, Error<R::Error>> {
    loop {
        let reply = on.exchange(&step.argv()).map_err(Error::Call)?;
        if let Next::Done(output) = step.reply(reply.view())? {
            return Ok(output);
        }
    }
}

pub(super) async fn without_blocking<S: Step, R: RunAsync + ?Sized>(
    step: &mut S,
    on: &mut R,
) -> Result<S::Output, Error<R::Error>> {
    loop {
        let reply = on.exchange_async(&step.argv()).await.map_err(Error::Call)?;
        if let Next::Done(output) = step.reply(reply.view())? {
            return Ok(output);
        }
    }
}

impl Run for Client {
    type Error = crate::Error;

    fn exchange(&mut self, argv: &[&[u8]]) -> Result<Reply, crate::Error> {
        let mut reply = Reply::new();
        self.submit(argv, &mut reply)?;
        Ok(reply)
    }
}

/// An engine never lets a caller wait, so each call is ready when it is polled.
impl RunAsync for Client {
    type Error = crate::Error;

    async fn exchange_async(&mut self, argv: &[&[u8]]) -> Result<Reply, crate::Error> {
        self.exchange(argv)
    }
}
