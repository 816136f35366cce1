//! A switch that loses requests or replies, as a broken connection does, until it heals; the log of what a script
//! called, and what it logged. Both for tests of what stands around an engine.

use super::{Client, Core, Engine};
use crate::command::faults::{Fault, Loss};
use crate::command::log::LogLine;
use crate::command::{Argv, Ctx, Origin, TracedCall};
use crate::error::Error;
use crate::reply::Reply;
use crate::store::SessionId;

impl Engine {
    /// From now on requests, or replies, of all clients are lost: calls answer an error for which
    /// [`Error::is_connection_lost`] holds, and a transaction of that client is given up with what it watches; connections
    /// of a server end. [`heal`](Self::heal) ends it, and so does `DEBUG FAULT HEAL`, for `DEBUG` is never lost.
    ///
    /// ```
    /// use moonkeep::{Engine, Loss};
    /// let engine = Engine::new();
    /// let mut client = engine.client();
    /// engine.lose(Loss::Replies)?;
    /// assert!(client.call(["INCR", "n"]).unwrap_err().is_connection_lost());
    /// engine.heal()?;
    /// assert_eq!(client.query::<i64, _>(["GET", "n"])?, 1); // it had run
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// When this thread is inside the engine, or the engine is poisoned.
    pub fn lose(&self, loss: Loss) -> Result<(), Error> {
        self.shared.lock()?.fault = Some(Box::new(Fault { loss, left: None, only: Vec::new() }));
        Ok(())
    }
    /// Ends [`lose`](Self::lose).
    ///
    /// # Errors
    /// As [`lose`](Self::lose).
    pub fn heal(&self) -> Result<(), Error> {
        self.shared.lock()?.fault = None;
        Ok(())
    }
}

impl Core {
    /// A unit of work, unless the request is lost; its reply may be lost after.
    #[inline]
    pub(super) fn lossy_unit(&mut self, id: SessionId, argv: Argv<'_>, out: &mut Reply) -> Result<(), Error> {
        self.lossy(id, argv[0], out, |core, out| core.unit(id, argv, out))
    }
    /// Does the work, unless the request is lost; its reply may be lost after.
    #[inline(always)]
    pub(super) fn lossy(
        &mut self,
        id: SessionId,
        name: &[u8],
        out: &mut Reply,
        work: impl FnOnce(&mut Core, &mut Reply) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let loss = if self.fault.is_some() { self.next_loss(name) } else { None };
        if loss == Some(Loss::Requests) {
            return Err(self.lost(id));
        }
        work(self, out)?;
        if loss == Some(Loss::Replies) {
            if self.is_blocked(id) {
                // Its reply is lost when it comes; as long as all replies are lost, that one is too.
                if !self.loses_replies() {
                    self.deliveries.lose(id);
                }
                return Ok(());
            }
            out.clear();
            return Err(self.lost(id));
        }
        Ok(())
    }
    /// A connection that is lost leaves no transaction and watches nothing: who calls next has connected anew.
    #[cold]
    fn lost(&mut self, id: SessionId) -> Error {
        Ctx::new(&mut self.state, id, Origin::Client).end_transaction();
        Error::connection_lost()
    }
    /// What is lost of this call.
    #[cold]
    fn next_loss(&mut self, name: &[u8]) -> Option<Loss> {
        let fault = self.fault.as_mut().filter(|fault| fault.meets(name))?;
        let loss = fault.loss;
        if let Some(left) = &mut fault.left {
            *left -= 1;
            if *left == 0 {
                self.fault = None;
            }
        }
        Some(loss)
    }
    /// Whether all replies are lost, those of calls that waited and messages with them.
    #[inline]
    pub(super) fn loses_replies(&self) -> bool {
        self.fault
            .as_ref()
            .is_some_and(|fault| fault.loss == Loss::Replies && fault.left.is_none() && fault.only.is_empty())
    }
}

impl Engine {
    /// Takes what scripts wrote with `redis.log`, the oldest line first; the last thousand lines are kept.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// engine.client().call(["EVAL", "redis.log(redis.LOG_WARNING, 'left:', 3)", "0"])?;
    /// assert_eq!(engine.take_log()?[0].to_string(), "warning: left: 3");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`lose`](Self::lose).
    pub fn take_log(&self) -> Result<Vec<LogLine>, Error> {
        Ok(self.shared.lock()?.state.log.take())
    }
}

impl Client {
    /// Runs a command (EVAL, EVALSHA) and gives its reply with every `redis.call` and `redis.pcall` it made, in order.
    /// An error reply stays in the reply.
    ///
    /// ```
    /// let mut client = moonkeep::Engine::new().client();
    /// let (reply, calls) = client.trace(["EVAL", "return redis.call('INCR', KEYS[1])", "1", "n"])?;
    /// assert_eq!(reply.get::<i64>()?, 1);
    /// assert_eq!(calls[0].argv, [b"INCR".to_vec(), b"n".to_vec()]);
    /// assert_eq!(calls[0].reply.get::<i64>()?, 1);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`call_into`](Self::call_into).
    pub fn trace<T: AsRef<[u8]>>(
        &mut self,
        argv: impl AsRef<[T]>,
    ) -> Result<(Reply, Vec<TracedCall>), Error> {
        let words: Vec<&[u8]> = argv.as_ref().iter().map(AsRef::as_ref).collect();
        let mut out = Reply::new();
        let calls = self.submit_traced(&words, &mut out)?;
        Ok((out, calls))
    }
    /// Runs a command (EVAL, EVALSHA, FCALL) and gives its reply with the number of instructions that the Lua VM ran for
    /// it: the same on every machine and in every run. Counting each one takes time. An error reply stays in the reply.
    ///
    /// ```
    /// let mut client = moonkeep::Engine::new().client();
    /// let (reply, instructions) = client.count_instructions(["EVAL", "return 1", "0"])?;
    /// assert_eq!((reply.get::<i64>()?, instructions), (1, 2));
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`call_into`](Self::call_into).
    pub fn count_instructions<T: AsRef<[u8]>>(
        &mut self,
        argv: impl AsRef<[T]>,
    ) -> Result<(Reply, u64), Error> {
        let words: Vec<&[u8]> = argv.as_ref().iter().map(AsRef::as_ref).collect();
        let mut out = Reply::new();
        let instructions = self.submit_counted(&words, &mut out)?;
        Ok((out, instructions))
    }
}
