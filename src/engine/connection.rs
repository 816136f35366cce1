//! What a front does with a client whose words come through a socket: a request, and what has come for it meanwhile, as
//! RESP bytes, each under one lock. And the same while a script of this thread holds the lock for long (`Meanwhile`).

use super::client::has_a_name;
use super::{Client, Core, Engine};
use crate::command::output_limits::BufferLimit;
use crate::command::session::Peer;
use crate::command::spec::ALLOW_BUSY;
use crate::command::{Argv, Ctx, Flow, Origin, State, call};
use crate::error::{Error, Failure};
use crate::reply::resp::encode;
use crate::reply::{Reply, Resp};
use crate::script::Control;
use crate::store::SessionId;
use std::task::Waker;

/// How a client stands after a request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Standing {
    /// The protocol version that its replies are encoded in.
    pub(crate) resp: Resp,
    /// It has ended.
    pub(crate) closed: bool,
    /// It has to give its password before anything else.
    pub(crate) before_auth: bool,
    /// It may not do everything: who holds the lock alone can tell what.
    pub(crate) restricted: bool,
    /// Its last call waits for its reply.
    pub(crate) waits: bool,
    /// The longest word that it may send.
    pub(crate) word_max: u64,
    /// How much may wait to be read by it.
    pub(crate) unsent: BufferLimit,
}

/// What a request needs beside its words.
pub(crate) struct Desk<'a> {
    /// Woken when asking again is worth it.
    pub(crate) waker: &'a Waker,
    /// Used again from call to call.
    pub(crate) reply: &'a mut Reply,
    /// Where the bytes for the client go.
    pub(crate) out: &'a mut Vec<u8>,
}

/// The engine while a script of this thread runs in it for longer than busy-reply-threshold: commands that may run
/// then do, all others are answered BUSY.
pub(crate) struct Meanwhile<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) control: &'a Control,
}

impl Engine {
    /// Opens a session for a client that came through a socket.
    pub(crate) fn connect(&self, peer: Peer) -> Result<Client, Error> {
        let client = self.try_client()?;
        let mut core = self.shared.lock()?;
        core.state.sessions.get_mut(client.id).peer = Some(Box::new(peer));
        core.state.debug.is_served = true;
        drop(core);
        Ok(client)
    }
}

impl Client {
    /// One request: runs it, and appends what was published by then and the reply. A call that waits leaves no reply: it
    /// is for [`receive`](Self::receive) to fetch.
    ///
    /// # Errors
    /// As [`Client::call_into`], but for errors that are replies.
    pub(crate) fn exchange(
        &self,
        argv: Argv<'_>,
        desk: Desk<'_>,
        standing: &mut Standing,
    ) -> Result<(), Error> {
        let Desk { waker, reply, out } = desk;
        reply.clear();
        has_a_name(argv)?;
        if !standing.restricted && self.shared.answers_beside_the_lock(argv, reply) {
            encode(reply, standing.resp, out);
            return Ok(());
        }
        let mut core = match self.shared.lock() {
            Ok(core) => core,
            Err(error) => {
                reply.error_text(error.reply_text().ok_or_else(|| error.clone())?);
                encode(reply, standing.resp, out);
                return Ok(());
            }
        };
        core.lossy_unit(self.id, argv, reply)?;
        core.state.take_messages(self.id, out);
        *standing = core.standing(self.id);
        if standing.waits {
            core.deliveries.ask(self.id, waker);
            // It may have been served at once.
            return core.fetch(self.id, reply, out, standing);
        }
        encode(reply, standing.resp, out);
        Ok(())
    }
    /// Appends what has come meanwhile: the reply of a call that waited, messages. The waker is woken when there is more.
    ///
    /// # Errors
    /// The session has ended and nothing is left for it; its reply was lost; a call from inside the engine, a poisoned
    /// engine.
    pub(crate) fn receive(&self, desk: Desk<'_>, standing: &mut Standing) -> Result<(), Error> {
        let Desk { waker, reply, out } = desk;
        let mut core = self.shared.lock()?;
        core.keep_time();
        if standing.waits {
            core.fetch(self.id, reply, out, standing)?;
            if standing.waits {
                core.deliveries.ask(self.id, waker);
            }
        }
        if core.loses_replies() && core.state.has_messages(self.id) {
            return Err(Error::connection_lost());
        }
        let is_none = core.state.take_messages(self.id, out) == 0;
        *standing = core.standing(self.id);
        if standing.closed && is_none {
            return Err(Error::closed());
        }
        core.deliveries.ask_for_messages(self.id, waker);
        Ok(())
    }
}

impl Core {
    fn standing(&self, id: SessionId) -> Standing {
        let waits = self.is_blocked(id) || self.deliveries.has(id);
        Standing { waits, ..self.state.standing(id) }
    }
    /// The reply of a call that waited, once it has come.
    fn fetch(
        &mut self,
        id: SessionId,
        reply: &mut Reply,
        out: &mut Vec<u8>,
        standing: &mut Standing,
    ) -> Result<(), Error> {
        if let Some(delivered) = self.deliveries.take(id) {
            *reply = delivered?;
            self.state.take_messages(id, out);
            *standing = self.standing(id);
            encode(reply, standing.resp, out);
        }
        Ok(())
    }
}

impl State {
    fn standing(&self, id: SessionId) -> Standing {
        let session = self.sessions.get(id);
        let listens = session.subscriber.as_ref().is_some_and(|subscriber| subscriber.listens());
        let limits = &self.config.output_limits;
        Standing {
            resp: session.resp,
            closed: session.closed,
            before_auth: session.restricted && self.users.ask_for_password(session),
            restricted: session.restricted,
            waits: false,
            word_max: self.config.proto_max_bulk_len,
            unsent: if listens { limits.pubsub } else { limits.normal },
        }
    }
    fn has_messages(&self, id: SessionId) -> bool {
        let subscriber = self.sessions.get(id).subscriber.as_ref();
        subscriber.is_some_and(|subscriber| subscriber.unread().0 > 0 || !subscriber.raw.is_empty())
    }
    /// Appends the messages that have come; how many there were.
    fn take_messages(&mut self, id: SessionId, out: &mut Vec<u8>) -> usize {
        let Some(subscriber) = &mut self.sessions.get_mut(id).subscriber else { return 0 };
        let mut count = usize::from(subscriber.take_raw(out));
        while let Some(message) = subscriber.take() {
            message.encode(out);
            count += 1;
        }
        count
    }
}

impl Meanwhile<'_> {
    /// See [`Engine::connect`].
    pub(crate) fn connect(&mut self, engine: &Engine, peer: Peer) -> Client {
        let now_ms = self.state.store.now_ms();
        let id = self.state.sessions.open(now_ms);
        self.state.sessions.get_mut(id).peer = Some(Box::new(peer));
        self.state.stats.connections += 1;
        Client::new(engine.shared.clone(), id)
    }
    /// See [`Client::exchange`].
    pub(crate) fn exchange(
        &mut self,
        client: &Client,
        argv: Argv<'_>,
        desk: Desk<'_>,
        standing: &mut Standing,
    ) -> Result<(), Error> {
        let Desk { reply, out, .. } = desk;
        reply.clear();
        has_a_name(argv)?;
        if let Err(failure) = self.check(client.id, argv) {
            reply.error(&failure);
        } else if !client.shared.answers_beside_the_lock(argv, reply)
            && let Err(failure) = self.call(client.id, argv, reply)
        {
            reply.error(&failure);
        }
        self.state.take_messages(client.id, out);
        *standing = self.state.standing(client.id);
        encode(reply, standing.resp, out);
        Ok(())
    }
    /// See [`Client::receive`]; nothing is published while a script runs that other sessions would get at once.
    pub(crate) fn receive(&mut self, client: &Client, desk: Desk<'_>) {
        self.state.take_messages(client.id, desk.out);
    }
    /// Who may not call a command is told so whatever runs.
    fn check(&mut self, id: SessionId, argv: Argv<'_>) -> Result<(), Failure> {
        let cx = &mut Ctx::new(self.state, id, Origin::Client);
        match cx.state.table.lookup(argv) {
            Ok(row) if cx.session().restricted => {
                cx.check_authenticated(row)?;
                cx.check_permission(row, argv)
            }
            _ => Ok(()),
        }
    }
    fn call(&mut self, id: SessionId, argv: Argv<'_>, reply: &mut Reply) -> Result<(), Failure> {
        let busy = if self.control.is_function() { Failure::BUSY_FUNCTION } else { Failure::BUSY_SCRIPT };
        let row = self.state.table.lookup(argv).ok();
        let cx = &mut Ctx::new(self.state, id, Origin::Client);
        match row {
            // What is no command is refused as such.
            None => call(cx, argv, reply).map(drop),
            Some(row) if row.spec.has(ALLOW_BUSY) => match call(cx, argv, reply)? {
                Flow::Done => Ok(()),
                _ => Err(busy),
            },
            Some(row) if row.spec.name == "exec" && cx.session().queue.is_some() => {
                cx.session_mut().queue = None;
                cx.state.store.unwatch(id);
                Err(Failure::exec_aborted(&busy))
            }
            Some(_) => {
                cx.session_mut().spoil_queue();
                Err(busy)
            }
        }
    }
}
