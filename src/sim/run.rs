//! One schedule being run: which actions there are at a point, and what one of them does.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::desk::{Answer, Desks, End, Protocol, Request};
use super::footprint::{Footprint, hash_of};
use super::store::{Op, StoreError, Tables};
use super::table::{Row, answer_text, request_text, state_text};
use super::twice::Mark;
use super::world::{Base, Place, Shown, World};
use super::{Action, Faults};
use crate::engine::explored::{Touch, is_rewindable};
use crate::engine::{Client, Engine};
use crate::error::Error;
use crate::reply::Reply;
use crate::reply::Resp;
use crate::reply::resp::encode;
use crate::util::clock::Clock;

/// What a client of the run is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    /// At a point of the schedule.
    Ready,
    /// Its call waits for another client or the clock; the number orders those who wait.
    Waiting(u64),
    Done,
    Failed(String),
    Crashed,
}

/// A client's session in one engine, and what its transaction is about.
struct Seat {
    client: Client,
    queued: Footprint,
    watched: Footprint,
    /// It has run something.
    is_used: bool,
    /// It has run what keys do not tell, as SUBSCRIBE: that it ends may matter to anybody.
    matters: bool,
    /// Its engine has restarted: the next call is told so.
    is_lost: bool,
}

pub(super) struct Session {
    /// One in each engine.
    seats: Vec<Seat>,
    /// Where its call waits, when it does.
    waits_at: usize,
    protocol: Option<Protocol>,
    pub(super) fate: Fate,
    /// All that it was answered so far, which with its protocol is all that it knows.
    history: u64,
    /// What it asks for now.
    request: u64,
}

/// An engine of the run.
pub(super) struct Spot {
    pub(super) name: String,
    pub(super) engine: Engine,
    is_down: bool,
    /// Its clock, when it is not the world's.
    clock: Option<Clock>,
    /// How far it has jumped before the others.
    ahead_ms: i64,
    /// What has run in it can be put back.
    is_rewindable: bool,
}

impl Spot {
    fn new(place: Place) -> Result<Self, Error> {
        let Place { name, engine, is_down } = place;
        let clock = Some(engine.clock()?).filter(Clock::is_skewed);
        Ok(Spot { name, engine, is_down, clock, ahead_ms: 0, is_rewindable: true })
    }

    /// The world's time at which its clock shows this one.
    fn world_ms(&self, shown_ms: i64) -> i64 {
        let source_ms = self.clock.as_ref().map_or(shown_ms, |clock| clock.source_ms_at(shown_ms));
        source_ms.saturating_sub(self.ahead_ms)
    }
}

/// How much a schedule has used of what is bounded.
pub(super) type Used = Faults;

/// What a run has to keep of its steps: what it does not keep costs no time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keeps {
    pub(super) rows: bool,
    /// What each step touched.
    pub(super) footprints: bool,
    /// What each client was answered.
    pub(super) history: bool,
    /// What the run was at behind each step.
    pub(super) marks: bool,
}

pub(super) struct Run {
    base: Option<Arc<Base>>,
    pub(super) places: Vec<Spot>,
    pub(super) tables: Tables,
    pub(super) names: Vec<String>,
    pub(super) shown: Vec<Shown>,
    pub(super) sessions: Vec<Session>,
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) used: Used,
    pub(super) now_ms: i64,
    keeps: Keeps,
    /// The steps so far whose effect neither keys nor replies tell, in their order.
    unseen: u64,
    /// The scripts that were sent as text.
    scripts: Vec<u64>,
    waits: u64,
    /// The rows of the table, when one is wanted.
    pub(super) rows: Option<Vec<Row>>,
    pub(super) marks: Vec<Mark>,
}

/// The key that stands for the cache of scripts in footprints.
const SCRIPTS: &[u8] = b"\0scripts";

impl Run {
    /// Begins: each client runs to its first call.
    pub(super) fn start(world: World, keeps: Keeps) -> Result<Self, Error> {
        let World { kept, places, tables, desks, names, protocols, shown, .. } = world;
        let places = places.into_iter().map(Spot::new).collect::<Result<Vec<_>, _>>()?;
        let mut sessions = Vec::with_capacity(protocols.len());
        for protocol in protocols {
            let seats = places.iter().map(|place| Seat::new(&place.engine)).collect::<Result<_, _>>()?;
            sessions.push(Session {
                seats,
                waits_at: 0,
                protocol: Some(protocol),
                fate: Fate::Ready,
                history: 0,
                request: 0,
            });
        }
        let rows = keeps.rows.then(Vec::new);
        let now_ms = desks.lock().now_ms;
        let (used, scripts, unseen, waits) = (Used::default(), Vec::new(), 0, 0);
        let mut run = Run {
            base: kept,
            places,
            tables,
            names,
            shown,
            sessions,
            desks,
            used,
            now_ms,
            keeps,
            unseen,
            scripts,
            waits,
            rows,
            marks: Vec::new(),
        };
        for index in 0..run.sessions.len() {
            run.poll(index)?;
        }
        Ok(run)
    }

    /// What could happen next. Empty when all is over, or nobody will ever go on.
    pub(super) fn actions(&self, faults: &Faults) -> Result<Vec<Action>, Error> {
        let mut actions = Vec::new();
        let mut moments: Vec<i64> = Vec::new();
        {
            let desks = self.desks.lock();
            for (index, (session, desk)) in self.sessions.iter().zip(&desks.desks).enumerate() {
                match (&session.fate, &desk.request) {
                    (Fate::Ready, Some(Request::Call { .. })) => self.offer(index, faults, &mut actions),
                    (Fate::Ready, Some(Request::Store(op))) if self.may_run(&desks, index, op) => {
                        self.offer(index, faults, &mut actions);
                    }
                    (Fate::Ready, Some(Request::Sleep(until))) if *until <= self.now_ms => {
                        actions.push(Action::Step(index))
                    }
                    (Fate::Ready, Some(Request::Sleep(until))) => moments.push(*until),
                    (Fate::Waiting(_), _) => {
                        let ends = session.seats[session.waits_at].client.wait_ends_ms()?;
                        moments.extend(ends.map(|shown_ms| self.places[session.waits_at].world_ms(shown_ms)));
                    }
                    _ => {}
                }
            }
        }
        // When nobody can go on time passes by itself; else its jumps are counted.
        if actions.is_empty() {
            actions.extend(moments.into_iter().filter(|at_ms| *at_ms > self.now_ms).min().map(Action::Time));
        } else {
            self.offer_jumps(faults, moments, &mut actions)?;
        }
        Ok(actions)
    }

    /// What may become of a client's request.
    fn offer(&self, index: usize, faults: &Faults, actions: &mut Vec<Action>) {
        actions.push(Action::Step(index));
        let mut lose = |action, used, most| actions.extend((used < most).then_some(action));
        lose(Action::LoseReply(index), self.used.lost_replies, faults.lost_replies);
        lose(Action::LoseRequest(index), self.used.lost_requests, faults.lost_requests);
        lose(Action::Crash(index), self.used.crashes, faults.crashes);
    }

    /// What may happen to clocks and engines while clients could go on.
    fn offer_jumps(
        &self,
        faults: &Faults,
        mut moments: Vec<i64>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Error> {
        if self.used.clock_jumps < faults.clock_jumps {
            for place in &self.places {
                moments.extend(place.engine.next_expiry_ms()?.map(|shown_ms| place.world_ms(shown_ms)));
            }
            moments.sort_unstable();
            moments.dedup();
            actions.extend(moments.into_iter().map(Action::Time));
        }
        for (node, place) in self.places.iter().enumerate() {
            if self.used.node_jumps < faults.node_jumps {
                let expiry = place.engine.next_expiry_ms()?.map(|shown_ms| place.world_ms(shown_ms));
                actions.extend(
                    expiry.map(|at_ms| Action::Jump { node, by_ms: at_ms.saturating_sub(self.now_ms) }),
                );
            }
            // An engine that holds nothing loses nothing.
            if self.used.restarts < faults.restarts && place.engine.holds_keys()? {
                actions.push(Action::Restart(node));
            }
        }
        Ok(())
    }

    /// Whether nobody's transaction keeps an operation waiting, or it is to be told that it would wait for ever.
    fn may_run(&self, desks: &Desks, index: usize, op: &Op) -> bool {
        self.tables.blocker(index, op).is_none_or(|other| self.waits_for(desks, other, index))
    }

    /// Whether `one` waits for a transaction of `index`, itself or through others.
    fn waits_for(&self, desks: &Desks, mut one: usize, index: usize) -> bool {
        for _ in 0..self.sessions.len() {
            if one == index {
                return true;
            }
            let Some(Request::Store(op)) = &desks.desks[one].request else { return false };
            match self.tables.blocker(one, op) {
                Some(other) => one = other,
                None => return false,
            }
        }
        false
    }

    /// Does one action, one that [`actions`](Self::actions) named, and tells what it touched.
    pub(super) fn step(&mut self, action: Action, is_forced: bool) -> Result<Footprint, Error> {
        let mut text = String::new();
        let footprint = match action {
            Action::Step(index) => self.request(index, false, &mut text)?,
            Action::LoseReply(index) => {
                self.used.lost_replies += 1;
                self.request(index, true, &mut text)?
            }
            Action::LoseRequest(index) => {
                self.used.lost_requests += 1;
                self.give_up(index, "request lost", &mut text);
                let footprint = self.ended(index);
                self.lose_connection(index)?;
                footprint
            }
            Action::Crash(index) => {
                self.used.crashes += 1;
                self.give_up(index, "crash", &mut text);
                self.sessions[index].protocol = None;
                self.sessions[index].fate = Fate::Crashed;
                let footprint = self.ended(index);
                self.new_seats(index)?;
                footprint
            }
            Action::Time(_) | Action::Jump { .. } | Action::Restart(_) => {
                text = self.happen(action, is_forced)?;
                Footprint::all()
            }
        };
        let actor = action.actor();
        if let Some(index) = actor {
            self.poll(index)?;
        }
        self.note_row(actor, text)?;
        let footprint = if self.wake()? { Footprint::all() } else { footprint };
        if self.keeps.marks {
            self.marks.push(self.mark()?);
        }
        Ok(footprint)
    }

    /// What no client does: time passes, a clock jumps, an engine restarts.
    fn happen(&mut self, action: Action, is_forced: bool) -> Result<String, Error> {
        Ok(match action {
            Action::Time(moment_ms) => {
                self.used.clock_jumps += usize::from(!is_forced);
                self.now_ms = moment_ms;
                self.desks.lock().now_ms = moment_ms;
                for place in &self.places {
                    place.engine.set_time(moment_ms.saturating_add(place.ahead_ms))?;
                }
                format!("(time -> {moment_ms} ms)")
            }
            Action::Jump { node, by_ms } => {
                self.used.node_jumps += 1;
                let place = &mut self.places[node];
                place.ahead_ms = place.ahead_ms.saturating_add(by_ms);
                place.engine.set_time(self.now_ms.saturating_add(place.ahead_ms))?;
                format!("({}: clock +{by_ms} ms)", place.name)
            }
            Action::Restart(node) => {
                self.used.restarts += 1;
                let place = &self.places[node];
                place.engine.reset()?;
                for session in &mut self.sessions {
                    let is_lost = session.seats[node].is_used;
                    session.seats[node] = Seat { is_lost, ..Seat::new(&place.engine)? };
                    if matches!(session.fate, Fate::Waiting(_)) && session.waits_at == node {
                        session.seats[node].is_lost = false;
                        session.fate = Fate::Ready;
                    }
                }
                let text = format!("({} restarts empty)", place.name);
                self.tell_of_restart(node)?;
                text
            }
            Action::Step(_) | Action::LoseReply(_) | Action::LoseRequest(_) | Action::Crash(_) => {
                String::new()
            }
        })
    }

    /// Calls that waited in an engine that restarts have lost their connection.
    fn tell_of_restart(&mut self, node: usize) -> Result<(), Error> {
        for index in 0..self.sessions.len() {
            let session = &self.sessions[index];
            let has_none = self.desks.lock().desks[index].request.is_none();
            if session.waits_at == node
                && session.fate == Fate::Ready
                && session.protocol.is_some()
                && has_none
            {
                self.answer(index, Err(Error::connection_lost()));
                self.poll(index)?;
            }
        }
        Ok(())
    }

    /// The request of a client goes nowhere.
    fn give_up(&mut self, index: usize, why: &str, text: &mut String) {
        let request = self.desks.lock().desks[index].request.take();
        if self.rows.is_some() {
            let asked = request_text(request.as_ref(), &self.places);
            *text =
                if why == "crash" { format!("(crash before {asked})") } else { format!("{asked} ({why})") };
        }
    }

    /// The client's transaction in the business database is rolled back; what others may go on with now.
    fn ended(&mut self, index: usize) -> Footprint {
        let matters = self.sessions[index].seats.iter().any(|seat| seat.matters);
        let mut footprint = if matters { Footprint::all() } else { Footprint::default() };
        for table in self.tables.touched(index) {
            footprint.add_table(table, true);
        }
        self.tables.roll_back(index);
        footprint
    }

    /// The client's request goes where it is to go.
    fn request(&mut self, index: usize, is_lost: bool, text: &mut String) -> Result<Footprint, Error> {
        let request = self.desks.lock().desks[index].request.take();
        let footprint = match &request {
            Some(Request::Call { node, .. }) if *node >= self.places.len() => {
                self.answer(index, Err(Error::usage("this engine is none of the client's world")));
                Footprint::default()
            }
            Some(Request::Call { node, .. }) if self.is_cut_off(index, *node) => {
                self.answer(index, Err(Error::connection_lost()));
                text.push_str(" (no answer)");
                Footprint::default()
            }
            Some(Request::Call { node, argv }) => self.command(index, *node, argv, is_lost, text)?,
            Some(Request::Store(op)) => self.operate(index, op, is_lost, text)?,
            Some(Request::Sleep(_)) | None => {
                text.push_str("(wakes up)");
                self.answer(index, Ok(Answer::Awake));
                return Ok(Footprint::default());
            }
        };
        if self.rows.is_some() {
            text.insert_str(0, &request_text(request.as_ref(), &self.places));
        }
        Ok(footprint)
    }

    /// Whether a request does not reach its engine: it is down, or has restarted since the client's last call there.
    fn is_cut_off(&mut self, index: usize, node: usize) -> bool {
        std::mem::take(&mut self.sessions[index].seats[node].is_lost) || self.places[node].is_down
    }

    /// A command runs in an engine.
    fn command(
        &mut self,
        index: usize,
        node: usize,
        argv: &[Vec<u8>],
        is_lost: bool,
        text: &mut String,
    ) -> Result<Footprint, Error> {
        let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        self.places[node].is_rewindable &= is_rewindable(&words);
        let mut footprint = self.footprint(index, node, &words)?;
        let mut out = Reply::new();
        let seat = &mut self.sessions[index].seats[node];
        let done = if self.keeps.footprints && runs_scripts(&words) {
            seat.client.trace(&words).map(|(reply, calls)| {
                out = reply;
                for call in calls {
                    let words: Vec<&[u8]> = call.argv.iter().map(Vec::as_slice).collect();
                    footprint.merge(&touched(&seat.client, node, &words));
                }
                true
            })
        } else {
            seat.client.begin_call(&words, &mut out)
        };
        seat.is_used = true;
        if footprint.is_all() {
            seat.matters = true;
            self.unseen = hash_of(&(self.unseen, index, node, argv));
        }
        self.after(index, node, &words, &footprint);
        match done {
            _ if is_lost => {
                text.push_str(" (reply lost)");
                footprint.merge(&self.ended(index));
                self.lose_connection(index)?;
            }
            Ok(true) => {
                if self.rows.is_some() {
                    text.push_str(" -> ");
                    text.push_str(&answer_text(&out.view()));
                }
                self.answer(index, Ok(Answer::Reply(out)));
            }
            Ok(false) => {
                text.push_str(" (waits)");
                self.waits += 1;
                self.sessions[index].fate = Fate::Waiting(self.waits);
                self.sessions[index].waits_at = node;
            }
            Err(error) => self.answer(index, Err(error)),
        }
        let in_transaction = self.keeps.footprints && self.in_transaction(index, node);
        let queues = in_transaction && !words.first().is_some_and(|name| is(name, "watch"));
        Ok(if queues { Footprint::default() } else { footprint })
    }

    fn in_transaction(&self, index: usize, node: usize) -> bool {
        self.sessions[index].seats[node].client.in_transaction().unwrap_or(false)
    }

    /// An operation of the business database.
    fn operate(
        &mut self,
        index: usize,
        op: &Op,
        is_lost: bool,
        text: &mut String,
    ) -> Result<Footprint, Error> {
        let mut footprint = Footprint::default();
        if matches!(op, Op::Commit | Op::Rollback) {
            for table in self.tables.touched(index) {
                footprint.add_table(table, true);
            }
        }
        if let Some(table) = op.table() {
            footprint.add_table(table, !op.is_read());
        }
        let told = if self.tables.blocker(index, op).is_some() {
            footprint.merge(&self.ended(index));
            Err(StoreError::Deadlock)
        } else {
            self.tables.run(index, op)
        };
        if is_lost {
            text.push_str(" (reply lost)");
            footprint.merge(&self.ended(index));
            self.lose_connection(index)?;
            return Ok(footprint);
        }
        if self.rows.is_some() {
            text.push_str(" -> ");
            text.push_str(&told.as_ref().map_or_else(ToString::to_string, ToString::to_string));
        }
        self.answer(index, Ok(Answer::Store(told)));
        Ok(footprint)
    }

    /// What a request is going to touch: EXEC what was queued and is watched, a script what it declares.
    fn footprint(&mut self, index: usize, node: usize, words: &[&[u8]]) -> Result<Footprint, Error> {
        if !self.keeps.footprints {
            return Ok(Footprint::default());
        }
        let seat = &mut self.sessions[index].seats[node];
        if is(words.first().copied().unwrap_or_default(), "exec") {
            let mut footprint = std::mem::take(&mut seat.queued);
            footprint.merge(&std::mem::take(&mut seat.watched).read_only());
            return Ok(footprint);
        }
        let mut footprint = touched(&seat.client, node, words);
        match words {
            [name, text, ..] if is(name, "eval") || is(name, "eval_ro") => {
                let script = hash_of(&(node, *text));
                let is_new = !self.scripts.contains(&script);
                if is_new {
                    self.scripts.push(script);
                    self.scripts.sort_unstable();
                }
                footprint.add(node, SCRIPTS, is_new);
            }
            [name, ..] if is(name, "evalsha") || is(name, "evalsha_ro") => {
                footprint.add(node, SCRIPTS, false)
            }
            _ => {}
        }
        Ok(footprint)
    }

    /// Keeps what the transaction of a session is about.
    fn after(&mut self, index: usize, node: usize, words: &[&[u8]], footprint: &Footprint) {
        if !self.keeps.footprints {
            return;
        }
        let in_transaction = self.in_transaction(index, node);
        let seat = &mut self.sessions[index].seats[node];
        let name = words.first().copied().unwrap_or_default();
        if is(name, "watch") {
            seat.watched.merge(footprint);
        } else if in_transaction {
            seat.queued.merge(footprint);
        } else if is(name, "discard") || is(name, "unwatch") || is(name, "reset") {
            seat.queued = Footprint::default();
            seat.watched = Footprint::default();
        }
    }

    fn answer(&mut self, index: usize, answer: Result<Answer, Error>) {
        if self.keeps.history {
            let mut bytes = Vec::new();
            match &answer {
                Ok(Answer::Reply(reply)) => encode(reply, Resp::V3, &mut bytes),
                Ok(Answer::Store(told)) => bytes.extend_from_slice(&hash_of(told).to_le_bytes()),
                Ok(Answer::Awake) => {}
                Err(error) => bytes.extend_from_slice(error.to_string().as_bytes()),
            }
            let session = &mut self.sessions[index];
            session.history = hash_of(&(session.history, bytes, self.now_ms));
        }
        // An error reply is an error to the client, as with the engine's own clients.
        let answer = answer.and_then(|answer| match &answer {
            Answer::Reply(reply) => match reply.error_message() {
                Some(text) => Err(Error::reply(text)),
                None => Ok(answer),
            },
            _ => Ok(answer),
        });
        self.desks.lock().desks[index].answer = Some(answer);
    }

    /// The client is told that its connection is lost, and goes on with new ones.
    fn lose_connection(&mut self, index: usize) -> Result<(), Error> {
        self.new_seats(index)?;
        self.answer(index, Err(Error::connection_lost()));
        Ok(())
    }

    fn new_seats(&mut self, index: usize) -> Result<(), Error> {
        for (seat, place) in self.sessions[index].seats.iter_mut().zip(&self.places) {
            *seat = Seat::new(&place.engine)?;
        }
        Ok(())
    }

    /// A client goes on until its next request.
    fn poll(&mut self, index: usize) -> Result<(), Error> {
        let session = &mut self.sessions[index];
        if matches!(session.fate, Fate::Waiting(_)) {
            return Ok(());
        }
        let Some(protocol) = &mut session.protocol else { return Ok(()) };
        let polled = protocol.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let desks = self.desks.lock();
        let request = desks.desks[index].request.as_ref();
        session.request = request.map_or(0, hash_of);
        match polled {
            Poll::Ready(end) => {
                session.protocol = None;
                session.fate = match end {
                    End::Done => Fate::Done,
                    End::Failed(text) => Fate::Failed(text),
                };
                drop(desks);
                self.tables.roll_back(index);
            }
            Poll::Pending if request.is_none() => {
                let name = &self.names[index];
                return Err(Error::usage(format!(
                    "client {name} awaits something that is no call of its handle: a schedule cannot let it go on"
                )));
            }
            Poll::Pending => {}
        }
        Ok(())
    }

    /// Those whose waiting has ended go on; whether there was one.
    fn wake(&mut self) -> Result<bool, Error> {
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
            session.fate = Fate::Ready;
            let text = format!("(answered: {})", answer_text(&reply.view()));
            self.answer(index, Ok(Answer::Reply(reply)));
            self.poll(index)?;
            self.note_row(Some(index), text)?;
        }
        Ok(woke)
    }

    fn note_row(&mut self, actor: Option<usize>, text: String) -> Result<(), Error> {
        if self.rows.is_none() {
            return Ok(());
        }
        let note = actor.and_then(|index| self.desks.lock().desks[index].note.take());
        let state = self.shown.iter().map(|shown| state_text(self, shown)).collect::<Result<_, Error>>()?;
        let row = Row { at_ms: self.now_ms, actor, text, note, state };
        self.rows.get_or_insert_default().push(row);
        Ok(())
    }

    /// What every client asks for at this point: on the way to a point that was seen before it has to be the same again.
    pub(super) fn requests(&self) -> Vec<u64> {
        self.sessions.iter().map(|session| session.request).collect()
    }

    /// What every client was answered so far.
    pub(super) fn histories(&self) -> Vec<u64> {
        self.sessions.iter().map(|session| session.history).collect()
    }

    /// Whether every client asks for the same as at a point that was seen before; else one that does not.
    pub(super) fn other_request(&self, seen: &[u64]) -> Option<usize> {
        self.sessions.iter().zip(seen).position(|(session, seen)| session.request != *seen)
    }

    /// What a client asks for, as a table shows it.
    pub(super) fn asks_for(&self, index: usize) -> String {
        match (&self.sessions[index].fate, &self.desks.lock().desks[index].request) {
            (_, Some(request)) => request_text(Some(request), &self.places),
            (Fate::Done | Fate::Failed(_), None) => "nothing more".into(),
            (_, None) => "nothing now".into(),
        }
    }

    /// Two points with the same fingerprint have the same futures.
    pub(super) fn fingerprint(&self) -> Result<u64, Error> {
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        let mut ends = Vec::new();
        let mut broken = Vec::with_capacity(self.sessions.len());
        for (index, session) in self.sessions.iter().enumerate() {
            for seat in &session.seats {
                broken.push((seat.client.is_watch_broken()?, seat.is_used, seat.is_lost));
            }
            if let Fate::Waiting(number) = session.fate {
                waiting.push((number, index));
                ends.push(session.seats[session.waits_at].client.wait_ends_ms()?);
            }
        }
        waiting.sort_unstable();
        let order: Vec<usize> = waiting.into_iter().map(|(_, index)| index).collect();
        let fates: Vec<(u64, u8)> =
            self.sessions.iter().map(|session| (session.history, rank(&session.fate))).collect();
        let tallies = {
            let mut tallies = self.desks.lock().tallies.clone();
            tallies.sort_unstable();
            tallies
        };
        let mut data = Vec::with_capacity(self.places.len());
        for place in &self.places {
            data.push((place.engine.state_hash()?, place.ahead_ms));
        }
        let state = (data, self.now_ms, self.used, self.unseen, &self.tables);
        Ok(hash_of(&(state, broken, order, ends, fates, tallies, &self.scripts)))
    }
}

/// Engines are used again.
impl Drop for Run {
    fn drop(&mut self) {
        let Some(base) = self.base.take() else { return };
        self.sessions.clear();
        for (place, origin) in self.places.drain(..).zip(&base.nodes) {
            if place.is_rewindable {
                origin.keep(place.engine);
            }
        }
    }
}

impl Seat {
    fn new(engine: &Engine) -> Result<Self, Error> {
        Ok(Seat {
            client: engine.try_client()?,
            queued: Footprint::default(),
            watched: Footprint::default(),
            is_used: false,
            matters: false,
            is_lost: false,
        })
    }
}

fn rank(fate: &Fate) -> u8 {
    match fate {
        Fate::Ready => 0,
        Fate::Waiting(_) => 1,
        Fate::Done => 2,
        Fate::Failed(_) => 3,
        Fate::Crashed => 4,
    }
}

fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// Whether a request runs Lua, so that keys are touched that its words do not name.
fn runs_scripts(words: &[&[u8]]) -> bool {
    let names = ["eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro", "exec"];
    words.first().is_some_and(|word| names.iter().any(|name| is(word, name)))
}

fn touched(client: &Client, node: usize, words: &[&[u8]]) -> Footprint {
    let mut footprint = Footprint::default();
    match client.touch_of(words) {
        Ok(Touch::Keys(keys)) => {
            keys.into_iter().for_each(|(key, is_write)| footprint.add(node, key, is_write))
        }
        Ok(Touch::Session) => {}
        Ok(Touch::All) | Err(_) => return Footprint::all(),
    }
    footprint
}
