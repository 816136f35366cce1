//! The clients of a run: what they are at, what they are answered, and how they go on.

use std::task::{Context, Poll, Waker};

use super::super::desk::{Answer, End};
use super::super::footprint::{Footprint, hash_of};
use super::super::table::answer_text;
use super::{Run, Spot};
use crate::engine::{Client, Engine};
use crate::error::Error;
use crate::reply::resp::encode;
use crate::reply::{Reply, Resp};

/// What a client of the run is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::sim) enum Fate {
    /// At a point of the schedule.
    Ready,
    /// Its call waits for another client or the clock; the number orders those who wait.
    Waiting(u64),
    Done,
    Failed(String),
    Crashed,
}

/// A client's session in one engine, and what its transaction is about.
pub(super) struct Seat {
    pub(super) client: Client,
    pub(super) queued: Footprint,
    pub(super) watched: Footprint,
    /// It has run something.
    pub(super) is_used: bool,
    /// It has run what keys do not tell, as SUBSCRIBE: that it ends may matter to anybody.
    pub(super) matters: bool,
    /// Its engine has restarted: the next call is told so.
    pub(super) is_lost: bool,
}

/// A client, but for its protocol: what it is at, and what it has been told.
pub(in crate::sim) struct Session {
    /// One in each engine.
    pub(super) seats: Vec<Seat>,
    /// Where its call waits, when it does.
    pub(super) waits_at: usize,
    pub(in crate::sim) fate: Fate,
    /// All that it was answered so far, which with its protocol is all that it knows.
    pub(super) history: u64,
    /// What it asks for now.
    pub(super) request: u64,
}

impl Session {
    fn new(engines: &[Spot]) -> Result<Self, Error> {
        let seats = engines.iter().map(|spot| Seat::new(&spot.engine)).collect::<Result<_, _>>()?;
        Ok(Session { seats, waits_at: 0, fate: Fate::Ready, history: 0, request: 0 })
    }

    /// Begins anew, where its clients have sessions.
    fn begin(&mut self) {
        self.fate = Fate::Ready;
        (self.waits_at, self.history, self.request) = (0, 0, 0);
    }

    /// Its client in an engine.
    pub(in crate::sim) fn client(&mut self, node: usize) -> Option<&mut Client> {
        self.seats.get_mut(node).map(|seat| &mut seat.client)
    }

    /// The schedule is over.
    pub(super) fn end(&mut self) {
        self.seats.iter_mut().for_each(Seat::clear);
    }
}

impl Run {
    /// Gives each client a session in each engine.
    pub(super) fn seat(&mut self) -> Result<(), Error> {
        self.sessions.truncate(self.protocols.len());
        for (node, spot) in self.places.iter().enumerate() {
            spot.engine.reopen(self.sessions.iter_mut().filter_map(|session| session.client(node)))?;
        }
        self.sessions.iter_mut().for_each(Session::begin);
        for _ in self.sessions.len()..self.protocols.len() {
            self.sessions.push(Session::new(&self.places)?);
        }
        Ok(())
    }

    pub(super) fn answer(&mut self, index: usize, answer: Result<Answer, Error>) {
        if self.keeps.history {
            self.remember(index, &answer);
        }
        // An error reply is an error to the client, as with the engine's own clients.
        let answer = answer.and_then(|answer| match &answer {
            Answer::Reply(reply) => match reply.error_message() {
                Some(text) => Err(Error::reply(text)),
                None => Ok(answer),
            },
            _ => Ok(answer),
        });
        let waker = {
            let desk = &mut self.desks.lock().desks[index];
            desk.answer = Some(answer);
            desk.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What a client was answered, and when, is all that it knows.
    fn remember(&mut self, index: usize, answer: &Result<Answer, Error>) {
        self.bytes.clear();
        match answer {
            Ok(Answer::Reply(reply)) => encode(reply, Resp::V3, &mut self.bytes),
            Ok(Answer::Store(told)) => self.bytes.extend_from_slice(&hash_of(told).to_le_bytes()),
            Ok(Answer::Awake) => {}
            Err(error) => self.bytes.extend_from_slice(error.to_string().as_bytes()),
        }
        let session = &mut self.sessions[index];
        session.history = hash_of(&(session.history, &self.bytes, self.now_ms));
    }

    /// The client is told that its connection is lost, and goes on with new ones.
    pub(super) fn lose_connection(&mut self, index: usize) -> Result<(), Error> {
        self.new_seats(index)?;
        self.answer(index, Err(Error::connection_lost()));
        Ok(())
    }

    pub(super) fn new_seats(&mut self, index: usize) -> Result<(), Error> {
        for (seat, place) in self.sessions[index].seats.iter_mut().zip(self.places.iter()) {
            *seat = Seat::new(&place.engine)?;
        }
        Ok(())
    }

    /// A client goes on until its next request.
    pub(super) fn poll(&mut self, index: usize) -> Result<(), Error> {
        let session = &mut self.sessions[index];
        if matches!(session.fate, Fate::Waiting(_)) {
            return Ok(());
        }
        let Some(protocol) = &mut self.protocols[index] else { return Ok(()) };
        let polled = protocol.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let asked = self.desks.lock().desks[index].request.as_ref().map(hash_of);
        session.request = asked.unwrap_or(0);
        match polled {
            Poll::Ready(end) => {
                self.protocols[index] = None;
                session.fate = match end {
                    End::Done => Fate::Done,
                    End::Failed(text) => Fate::Failed(text),
                };
                self.tables.roll_back(index);
                Ok(())
            }
            Poll::Pending if asked.is_none() => Err(Error::usage(format!(
                "client {} awaits something that is no call of its handle: a schedule cannot let it go on",
                self.names[index]
            ))),
            Poll::Pending => Ok(()),
        }
    }

    /// Those whose waiting has ended go on; whether there was one.
    pub(super) fn wake(&mut self) -> Result<bool, Error> {
        if self.waiting == 0 {
            return Ok(false);
        }
        let mut woke = false;
        for index in 0..self.sessions.len() {
            let session = &mut self.sessions[index];
            let mut reply = Reply::new();
            if !matches!(session.fate, Fate::Waiting(_))
                || !session.seats[session.waits_at].client.finish_call(None, &mut reply)?
            {
                continue;
            }
            woke = true;
            self.waiting -= 1;
            session.fate = Fate::Ready;
            let text = match &self.rows {
                Some(_) => format!("(answered: {})", answer_text(&reply.view())),
                None => String::new(),
            };
            self.answer(index, Ok(Answer::Reply(reply)));
            self.poll(index)?;
            self.note_row(Some(index), text)?;
        }
        Ok(woke)
    }
}

impl Seat {
    pub(super) fn new(engine: &Engine) -> Result<Self, Error> {
        Ok(Seat {
            client: engine.try_client()?,
            queued: Footprint::default(),
            watched: Footprint::default(),
            is_used: false,
            matters: false,
            is_lost: false,
        })
    }

    fn clear(&mut self) {
        self.queued.clear();
        self.watched.clear();
        (self.is_used, self.matters, self.is_lost) = (false, false, false);
    }
}
