//! A client: a session in an engine, as a connection is on a server. `submit` is where every call starts.

use super::lock::Shared;
use crate::command::TracedCall;
use crate::error::Error;
use crate::reply::{FromReply, Reply, Resp};
use crate::store::SessionId;
use std::sync::Arc;

/// A session. Has its own database number, protocol version, transaction and watched keys, as a connection has.
#[derive(Debug)]
pub struct Client {
    pub(super) shared: Arc<Shared>,
    pub(super) id: SessionId,
}

/// Calls of up to so many words need no memory for the list of words.
const FEW_WORDS: usize = 8;

impl Client {
    pub(super) fn new(shared: Arc<Shared>, id: SessionId) -> Self {
        Client { shared, id }
    }
    /// Runs a command.
    ///
    /// ```
    /// let mut client = moonkeep::Engine::new().client();
    /// assert!(client.call(["SET", "k", "v"]).is_ok());
    /// assert_eq!(client.call(["GET", "k"])?.get::<String>()?, "v");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error reply comes back as an error with the whole text. Else: no words at all, a session that QUIT or
    /// CLIENT KILL has ended, a call from inside the engine, a poisoned engine.
    pub fn call<T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) -> Result<Reply, Error> {
        let mut out = Reply::new();
        self.call_into(argv, &mut out)?;
        match out.error_message() {
            Some(text) => Err(Error::reply(text)),
            None => Ok(out),
        }
    }
    /// Runs a command and reads its reply as `T`.
    ///
    /// # Errors
    /// As [`call`](Self::call), and when the reply cannot be read as `T`.
    pub fn query<R: FromReply, T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) -> Result<R, Error> {
        self.call(argv)?.get()
    }
    /// Runs a command with a reply that is used again: the hot path, without an allocation at steady state. An error
    /// reply stays in `out`.
    ///
    /// # Errors
    /// No words at all, a session that has ended, a call from inside the engine, a poisoned engine.
    pub fn call_into<T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>, out: &mut Reply) -> Result<(), Error> {
        match argv.as_ref() {
            [name] => self.submit(&[name.as_ref()], out),
            [name, a] => self.submit(&[name.as_ref(), a.as_ref()], out),
            [name, a, b] => self.submit(&[name.as_ref(), a.as_ref(), b.as_ref()], out),
            words if words.len() <= FEW_WORDS => {
                let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
                for (slot, word) in few.iter_mut().zip(words) {
                    *slot = word.as_ref();
                }
                self.submit(&few[..words.len()], out)
            }
            words => {
                let many: Vec<&[u8]> = words.iter().map(AsRef::as_ref).collect();
                self.submit(&many, out)
            }
        }
    }
    /// The protocol version that the session's replies are to be encoded in, as HELLO chose it.
    ///
    /// # Errors
    /// A call from inside the engine, a poisoned engine.
    pub fn protocol(&self) -> Result<Resp, Error> {
        Ok(self.shared.patiently(Shared::lock)?.state.sessions.get(self.id).resp)
    }
    /// The number of the session's database, as SELECT chose it.
    ///
    /// # Errors
    /// A call from inside the engine, a poisoned engine.
    pub fn database(&self) -> Result<u32, Error> {
        Ok(self.shared.patiently(Shared::lock)?.state.sessions.get(self.id).db)
    }
    /// Whether the session is between MULTI and EXEC, so that commands are queued.
    ///
    /// # Errors
    /// A call from inside the engine, a poisoned engine.
    pub fn in_transaction(&self) -> Result<bool, Error> {
        Ok(self.shared.patiently(Shared::lock)?.state.sessions.get(self.id).queue.is_some())
    }
    /// One call: takes the lock, runs one unit of work, leaves the reply in `out`.
    pub(crate) fn submit(&mut self, argv: &[&[u8]], out: &mut Reply) -> Result<(), Error> {
        self.submit_heard(argv, out, &mut Resp::V2)
    }
    /// The same, and in which version the reply is heard, which the call may have changed.
    pub(crate) fn submit_heard(
        &mut self,
        argv: &[&[u8]],
        out: &mut Reply,
        heard: &mut Resp,
    ) -> Result<(), Error> {
        out.clear();
        has_a_name(argv)?;
        if self.shared.answers_beside_the_lock(argv, out) {
            return Ok(());
        }
        let mut core = match self.shared.lock() {
            Ok(core) => core,
            Err(error) => return reply_or(error, out),
        };
        core.lossy_unit(self.id, argv, out)?;
        *heard = core.state.sessions.get(self.id).resp;
        if core.is_blocked(self.id) { self.wait(core, out) } else { Ok(()) }
    }
    pub(super) fn submit_traced(
        &mut self,
        argv: &[&[u8]],
        out: &mut Reply,
    ) -> Result<Vec<TracedCall>, Error> {
        has_a_name(argv)?;
        let mut core = self.shared.lock()?;
        core.state.trace = Some(Vec::new());
        let result = core.lossy_unit(self.id, argv, out);
        let calls = core.state.trace.take().unwrap_or_default();
        result?;
        if core.is_blocked(self.id) {
            self.wait(core, out)?;
        }
        Ok(calls)
    }
    pub(super) fn submit_counted(&mut self, argv: &[&[u8]], out: &mut Reply) -> Result<u64, Error> {
        has_a_name(argv)?;
        let mut core = self.shared.lock()?;
        core.vm().count_each(true);
        let result = core.lossy_unit(self.id, argv, out);
        let instructions = core.vm().count_each(false);
        result?;
        if core.is_blocked(self.id) {
            self.wait(core, out)?;
        }
        Ok(instructions)
    }
}

/// An error that is an error reply goes where replies go.
#[cold]
fn reply_or(error: Error, out: &mut Reply) -> Result<(), Error> {
    match error.reply_text() {
        Some(text) => {
            out.error_text(text);
            Ok(())
        }
        None => Err(error),
    }
}

pub(super) fn has_a_name(argv: &[&[u8]]) -> Result<(), Error> {
    if argv.is_empty() {
        return Err(Error::usage("a call needs at least the name of a command"));
    }
    Ok(())
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shared.close_later(self.id);
    }
}
