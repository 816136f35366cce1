//! What a front does with a client whose words come through a socket: a request, and what has come for it meanwhile, as
//! RESP bytes, each under one lock. And the same while a script of this thread holds the lock for long (`Meanwhile`).

use super::client::has_a_name;
use super::{Client, Core, Engine};
use crate::command::host::HostCall;
use crate::command::observe::Ran;
use crate::command::session::{Peer, Replies};
use crate::command::{Argv, Ctx, Flow, Origin, State, call, runs_now};
use crate::error::{Error, Failure};
use crate::reply::resp::encode;
use crate::reply::{Reply, Resp};
use crate::script::Control;
use crate::store::SessionId;
use std::task::Waker;
use std::time::Duration;

/// Messages stay in the inbox while so much waits to be read by the client.
pub(crate) const UNSENT_BEFORE_MESSAGES: usize = 64 * 1024;

/// How a client stands after a request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Standing {
    /// The protocol version that its replies are encoded in.
    pub(crate) resp: Resp,
    /// It has ended.
    pub(crate) closed: bool,
    /// It has ended at once: nothing more is sent to it.
    pub(crate) cut: bool,
    /// It has to give its password before anything else.
    pub(crate) before_auth: bool,
    /// It may not do everything: who holds the lock alone can tell what.
    pub(crate) restricted: bool,
    /// Not each of its replies is sent, and the next one is not: CLIENT REPLY.
    pub(crate) withholds: bool,
    pub(crate) is_unheard: bool,
    /// Its last call waits for its reply.
    pub(crate) waits: bool,
    /// The longest word that it may send.
    pub(crate) word_max: u64,
    /// The most that it may send of a command without its end.
    pub(crate) unread_max: u64,
    /// With how many bytes that wait for it, it is ended; 0 for never.
    pub(crate) unsent_max: u64,
}

/// What a front learns of the engine between two turns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pulse {
    /// How long there is nothing to do by the clock.
    pub(crate) idle: Option<Duration>,
    /// The time.
    pub(crate) now_ms: i64,
    /// It passes by itself.
    pub(crate) runs: bool,
    /// How many clients may be served.
    pub(crate) clients_max: usize,
}

/// What a front learns of a client that it looks after.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tended {
    /// For how many seconds it has not called.
    pub(crate) idle_s: i64,
    /// After how many milliseconds its use of the reply buffer is measured anew; none for never.
    pub(crate) peak_lasts_ms: Option<i64>,
    /// Its reply buffer stays as large as it is.
    pub(crate) keeps_reply_buffer: bool,
}

/// What a request needs beside its words.
pub(crate) struct Desk<'a> {
    /// Woken when asking again is worth it.
    pub(crate) waker: &'a Waker,
    /// Used again from call to call.
    pub(crate) reply: &'a mut Reply,
    /// Where the bytes for the client go.
    pub(crate) out: &'a mut Vec<u8>,
    /// How many of them are written.
    pub(crate) sent: usize,
}

/// The engine while a script of this thread runs in it for longer than busy-reply-threshold: commands that may run
/// then do, all others are answered BUSY.
pub(crate) struct Meanwhile<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) control: &'a Control,
    /// SHUTDOWN has been called: the script is stopped, and the front ends.
    pub(crate) shuts_down: bool,
}

impl Engine {
    /// Opens a session for a client that came through a socket.
    pub(crate) fn connect(&self, peer: Peer) -> Result<Client, Error> {
        let mut core = self.shared.lock()?;
        let now_ms = core.clock.now_ms();
        let id = core.state.open_session(now_ms, Some(peer));
        Ok(Client::new(self.shared.clone(), id))
    }
    /// Whether a script of another thread has run for long.
    pub(crate) fn is_held_for_long(&self) -> Result<bool, Error> {
        match self.shared.lock() {
            Ok(_) => Ok(false),
            Err(error) if error.is_reply() => Ok(true),
            Err(error) => Err(error),
        }
    }
    /// How many clients may be served.
    pub(crate) fn set_clients_max(&self, count: usize) -> Result<(), Error> {
        self.shared.lock()?.state.config.maxclients = count as u64;
        Ok(())
    }
    /// Does what the time asks for, and asks for a call of `waker` when the clock is moved.
    pub(crate) fn pulse(&self, waker: &Waker) -> Result<Pulse, Error> {
        let mut core = self.shared.lock()?;
        core.state.evict_clients();
        let idle = core.keep();
        if core.state.tracking.has_broadcasts() {
            core.state.broadcast_changes();
            core.hand_out();
        }
        core.deliveries.ask_for_time(waker);
        Ok(Pulse {
            idle,
            now_ms: core.clock.now_ms(),
            runs: !core.clock.is_manual(),
            clients_max: usize::try_from(core.state.config.maxclients).unwrap_or(usize::MAX),
        })
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
        let Desk { waker, reply, out, sent } = desk;
        reply.clear();
        has_a_name(argv)?;
        let mut told = |reply: &Reply| {
            if !standing.is_unheard {
                encode(reply, standing.resp, out);
            }
        };
        if !standing.restricted && self.shared.answers_beside_the_lock(argv, reply) {
            told(reply);
            return Ok(());
        }
        let mut core = match self.shared.lock() {
            Ok(core) => core,
            Err(error) => {
                reply.error_text(error.reply_text().ok_or_else(|| error.clone())?);
                told(reply);
                return Ok(());
            }
        };
        core.state.evict_clients();
        core.lossy_unit(self.id, argv, reply)?;
        core.state.take_ahead(self.id, out);
        *standing = core.standing(self.id);
        if standing.waits {
            core.state.take_messages(self.id, out);
            core.deliveries.ask(self.id, waker);
            // It may have been served at once.
            return core.fetch(self.id, reply, out, standing);
        }
        encode(reply, standing.resp, out);
        core.state.take_messages(self.id, out);
        if standing.unsent_max > 0 && is_endless(reply) {
            return Err(core.state.cut(self.id, standing));
        }
        core.state.note_unsent(self.id, out.len() - sent, standing)
    }
    /// A request without a word has come.
    ///
    /// # Errors
    /// A poisoned engine; a script of another thread runs for long.
    pub(crate) fn pass_over(&self, standing: &mut Standing) -> Result<(), Error> {
        let mut core = self.shared.lock()?;
        core.state.pass_over(self.id);
        *standing = core.standing(self.id);
        Ok(())
    }
    /// Looks after the client, from time to time.
    ///
    /// # Errors
    /// It has not called for longer than `timeout` allows, or more waits for it than may: its session has ended.
    pub(crate) fn tend(&self) -> Result<Tended, Error> {
        let mut core = self.shared.lock()?;
        let now_ms = core.clock.now_ms();
        let session = core.state.sessions.get(self.id);
        let idle_s = now_ms.div_euclid(1000) - session.used_at_ms.div_euclid(1000);
        let debug = &core.state.debug;
        let (peak_lasts_ms, keeps_reply_buffer) = (debug.reply_peak_lasts(), debug.keeps_reply_buffers);
        if !session.closed
            && (core.state.is_idle_for_too_long(self.id, idle_s) || core.state.has_too_much(self.id, now_ms))
        {
            Ctx::new(&mut core.state, self.id, Origin::Client).cut_session(self.id);
            return Err(Error::closed());
        }
        Ok(Tended { idle_s, peak_lasts_ms, keeps_reply_buffer })
    }
    /// Appends what has come meanwhile: the reply of a call that waited, and messages unless much waits already. The waker
    /// is woken when there is more.
    ///
    /// # Errors
    /// The session has ended and nothing is left for it; its reply was lost; a call from inside the engine, a poisoned
    /// engine.
    pub(crate) fn receive(&self, desk: Desk<'_>, standing: &mut Standing) -> Result<(), Error> {
        let Desk { waker, reply, out, sent } = desk;
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
        let is_full = out.len() - sent > UNSENT_BEFORE_MESSAGES;
        let is_none = is_full || core.state.take_messages(self.id, out) == 0;
        *standing = core.standing(self.id);
        if standing.closed && is_none {
            return Err(Error::closed());
        }
        core.deliveries.ask_for_messages(self.id, waker);
        core.state.note_unsent(self.id, out.len() - sent, standing)
    }
}

/// Whether a reply would have been so long that there is none.
#[cold]
fn is_endless(reply: &Reply) -> bool {
    let is_refusal = |text: &[u8]| *text == *Failure::RANDOM_REPLY_TOO_LARGE.to_bytes();
    reply.error_message().is_some_and(is_refusal)
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
            self.state.take_ahead(id, out);
            self.state.sessions.get_mut(id).is_answered = false;
            *standing = self.standing(id);
            encode(reply, standing.resp, out);
            self.state.take_messages(id, out);
        }
        Ok(())
    }
}

impl State {
    fn standing(&self, id: SessionId) -> Standing {
        let session = self.sessions.get(id);
        Standing {
            resp: session.resp,
            closed: session.closed,
            cut: session.cut,
            before_auth: session.restricted && self.users.ask_for_password(session),
            restricted: session.restricted,
            withholds: session.replies != Replies::On,
            is_unheard: !session.replies.are_sent(),
            waits: false,
            word_max: self.config.proto_max_bulk_len,
            unread_max: self.config.client_query_buffer_limit,
            unsent_max: self.config.output_limits.of(session).hard_bytes,
        }
    }
    /// A request without a word counts as one whose reply is not sent.
    fn pass_over(&mut self, id: SessionId) {
        let session = self.sessions.get_mut(id);
        session.replies = session.replies.after_command().0;
    }
    /// So much waits now to be sent to a client. Its session ends where that is more than may.
    fn note_unsent(&mut self, id: SessionId, unsent: usize, standing: &mut Standing) -> Result<(), Error> {
        if let Some(peer) = &self.sessions.get(id).peer {
            peer.buffers.note_unsent(unsent);
        }
        self.count_client(id);
        let is_too_much = !standing.closed && self.has_too_much(id, self.store.now_ms());
        if is_too_much { Err(self.cut(id, standing)) } else { Ok(()) }
    }
    /// Ends a session at once.
    #[cold]
    fn cut(&mut self, id: SessionId, standing: &mut Standing) -> Error {
        Ctx::new(self, id, Origin::Client).cut_session(id);
        (standing.closed, standing.cut) = (true, true);
        Error::closed()
    }
    /// Whether more waits for a client than client-output-buffer-limit allows.
    fn has_too_much(&mut self, id: SessionId, now_ms: i64) -> bool {
        let now_s = now_ms.div_euclid(1000);
        let session = self.sessions.get_mut(id);
        let limit = *self.config.output_limits.of(session);
        if let Some(subscriber) = &mut session.subscriber {
            return subscriber.check_limit(&limit, now_s);
        }
        let Some(peer) = &mut session.peer else { return false };
        limit.is_exceeded(peer.buffers.block_bytes() as u64, &mut peer.above_soft_since_s, now_s)
    }
    /// Whether a client that waits for nothing has not called for so long that it is ended.
    fn is_idle_for_too_long(&self, id: SessionId, idle_s: i64) -> bool {
        let session = self.sessions.get(id);
        let listens = session.subscriber.as_ref().is_some_and(|subscriber| subscriber.listens());
        let listens =
            listens || session.monitors || session.replica.as_ref().is_some_and(|replica| replica.follows);
        let timeout_s = self.config.timeout;
        timeout_s > 0 && idle_s > timeout_s as i64 && session.blocked.is_none() && !listens
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
        let id = self.state.open_session(now_ms, Some(peer));
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
        if let Err(failure) = self.call(client, argv, reply) {
            reply.error(&failure);
        }
        let session = self.state.sessions.get_mut(client.id);
        let (replies, is_sent) = session.replies.after_command();
        session.replies = replies;
        self.state.take_ahead(client.id, out);
        *standing = self.state.standing(client.id);
        if is_sent {
            encode(reply, standing.resp, out);
        }
        self.state.take_messages(client.id, out);
        Ok(())
    }
    /// See [`Client::pass_over`].
    pub(crate) fn pass_over(&mut self, client: &Client, standing: &mut Standing) {
        self.state.pass_over(client.id);
        *standing = self.state.standing(client.id);
    }
    /// See [`Client::receive`]; nothing is published while a script runs that other sessions would get at once.
    pub(crate) fn receive(&mut self, client: &Client, desk: Desk<'_>) {
        self.state.take_messages(client.id, desk.out);
    }
    /// Calls what may run beside a script; the call path refuses all else.
    fn call(&mut self, client: &Client, argv: Argv<'_>, reply: &mut Reply) -> Result<(), Failure> {
        let busy = if self.control.is_function() { Failure::BUSY_FUNCTION } else { Failure::BUSY_SCRIPT };
        self.state.set_busy(Some(busy.clone()));
        let caller = std::mem::replace(&mut self.state.caller, client.id);
        let cx = &mut Ctx::new(self.state, client.id, Origin::Client);
        let is_answered = runs_now(cx, argv) && client.shared.answers_beside_the_lock(argv, reply);
        let flow = if is_answered { Ok(Flow::Done) } else { call(cx, argv, reply) };
        if let Some(row) = cx.ran {
            let at_us = self.state.store.now_us();
            self.state.note_run(&Ran { id: client.id, row, argv, duration_us: 0, at_us, waits: false });
        }
        self.state.caller = caller;
        self.state.set_busy(None);
        match flow? {
            Flow::Done => Ok(()),
            Flow::Host(host) if matches!(*host, HostCall::Shutdown { .. }) => {
                self.control.kill();
                self.shuts_down = true;
                self.state.saving.is_given_up = true;
                Ctx::new(self.state, client.id, Origin::Client).close_session(client.id);
                Ok(())
            }
            _ => Err(busy),
        }
    }
}
