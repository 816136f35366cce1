//! One schedule being run: which actions there are at a point, and what one of them does.

use std::hash::Hash;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::footprint::{Footprint, hash_of};
use super::table::{Row, answer_text, state_text, words_text};
use super::world::{Desks, End, Protocol, Request, World};
use super::{Action, Faults};
use crate::engine::explored::Touch;
use crate::engine::{Client, Engine};
use crate::error::Error;
use crate::reply::Reply;
use crate::reply::Resp;
use crate::reply::resp::encode;

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

pub(super) struct Session {
    client: Client,
    protocol: Option<Protocol>,
    pub(super) fate: Fate,
    /// All that it was answered so far, which with its protocol is all that it knows.
    history: u64,
    queued: Footprint,
    watched: Footprint,
}

/// How much a schedule has used of what is bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Used {
    pub(super) clock_jumps: usize,
    pub(super) crashes: usize,
    pub(super) lost_replies: usize,
    pub(super) lost_requests: usize,
}

pub(super) struct Run {
    pub(super) engine: Engine,
    pub(super) names: Vec<String>,
    pub(super) shown: Vec<Vec<u8>>,
    pub(super) sessions: Vec<Session>,
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) used: Used,
    /// The steps so far whose effect neither keys nor replies tell, in their order.
    unseen: u64,
    /// The scripts that were sent as text.
    scripts: Vec<u64>,
    waits: u64,
    /// The rows of the table, when one is wanted.
    pub(super) rows: Option<Vec<Row>>,
}

/// The key that stands for the cache of scripts in footprints.
const SCRIPTS: &[u8] = b"\0scripts";

impl Run {
    /// Begins: each client runs to its first call.
    pub(super) fn start(world: World, keeps_rows: bool) -> Result<Self, Error> {
        let World { engine, desks, names, protocols, shown, .. } = world;
        let mut sessions = Vec::with_capacity(protocols.len());
        for protocol in protocols {
            let (queued, watched) = (Footprint::default(), Footprint::default());
            let client = engine.try_client()?;
            sessions.push(Session {
                client,
                protocol: Some(protocol),
                fate: Fate::Ready,
                history: 0,
                queued,
                watched,
            });
        }
        let rows = keeps_rows.then(Vec::new);
        let (used, scripts) = (Used::default(), Vec::new());
        let mut run = Run { engine, names, shown, sessions, desks, used, unseen: 0, scripts, waits: 0, rows };
        for index in 0..run.sessions.len() {
            run.poll(index)?;
        }
        Ok(run)
    }

    /// What could happen next. Empty when all is over, or nobody will ever go on.
    pub(super) fn actions(&self, faults: &Faults) -> Result<Vec<Action>, Error> {
        let now_ms = self.engine.now_ms()?;
        let mut actions = Vec::new();
        let mut moments: Vec<i64> = Vec::new();
        {
            let desks = self.desks.lock();
            for (index, (session, desk)) in self.sessions.iter().zip(&desks.desks).enumerate() {
                match (&session.fate, &desk.request) {
                    (Fate::Ready, Some(Request::Call(_))) => {
                        actions.push(Action::Step(index));
                        let lose = |action, used, most| (used < most).then_some(action);
                        actions.extend(lose(
                            Action::LoseReply(index),
                            self.used.lost_replies,
                            faults.lost_replies,
                        ));
                        actions.extend(lose(
                            Action::LoseRequest(index),
                            self.used.lost_requests,
                            faults.lost_requests,
                        ));
                        actions.extend(lose(Action::Crash(index), self.used.crashes, faults.crashes));
                    }
                    (Fate::Ready, Some(Request::Sleep(until))) if *until <= now_ms => {
                        actions.push(Action::Step(index))
                    }
                    (Fate::Ready, Some(Request::Sleep(until))) => moments.push(*until),
                    (Fate::Waiting(_), _) => moments.extend(session.client.wait_ends_ms()?),
                    _ => {}
                }
            }
        }
        // When nobody can go on time passes by itself; else its jumps are counted.
        if actions.is_empty() {
            actions.extend(moments.into_iter().min().map(Action::Time));
        } else if self.used.clock_jumps < faults.clock_jumps {
            moments.extend(self.engine.next_expiry_ms()?);
            moments.sort_unstable();
            moments.dedup();
            actions.extend(moments.into_iter().map(Action::Time));
        }
        Ok(actions)
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
                let request = self.desks.lock().desks[index].request.take();
                if self.rows.is_some() {
                    text = format!("{} (request lost)", request_text(request.as_ref()));
                }
                self.lose_connection(index)?;
                Footprint::default()
            }
            Action::Crash(index) => {
                self.used.crashes += 1;
                let request = self.desks.lock().desks[index].request.take();
                if self.rows.is_some() {
                    text = format!("(crash before {})", request_text(request.as_ref()));
                }
                self.sessions[index].protocol = None;
                self.sessions[index].fate = Fate::Crashed;
                self.sessions[index].client = self.engine.try_client()?;
                Footprint::default()
            }
            Action::Time(moment_ms) => {
                self.used.clock_jumps += usize::from(!is_forced);
                self.engine.set_time(moment_ms)?;
                self.desks.lock().now_ms = moment_ms;
                text = format!("(time -> {moment_ms} ms)");
                Footprint::all()
            }
        };
        let actor = action.actor();
        if let Some(index) = actor {
            self.poll(index)?;
        }
        self.note_row(actor, text)?;
        self.wake()?;
        Ok(footprint)
    }

    /// The client's request goes to the engine.
    fn request(&mut self, index: usize, is_lost: bool, text: &mut String) -> Result<Footprint, Error> {
        let request = self.desks.lock().desks[index].request.take();
        let Some(Request::Call(argv)) = request else {
            *text = "(wakes up)".into();
            self.answer(index, Ok(Reply::new()));
            return Ok(Footprint::default());
        };
        let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let mut footprint = self.footprint(index, &words)?;
        let mut out = Reply::new();
        let session = &mut self.sessions[index];
        let done = if runs_scripts(&words) {
            session.client.trace(&words).map(|(reply, calls)| {
                out = reply;
                for call in calls {
                    let words: Vec<&[u8]> = call.argv.iter().map(Vec::as_slice).collect();
                    footprint.merge(&touched(&session.client, &words));
                }
                true
            })
        } else {
            session.client.begin_call(&words, &mut out)
        };
        if footprint.is_all() {
            self.unseen = hash_of(&(self.unseen, index, &argv));
        }
        self.after(index, &words, &footprint);
        if self.rows.is_some() {
            *text = words_text(&words);
        }
        match done {
            _ if is_lost => {
                text.push_str(" (reply lost)");
                self.lose_connection(index)?;
            }
            Ok(true) => {
                if self.rows.is_some() {
                    text.push_str(" -> ");
                    text.push_str(&answer_text(&out.view()));
                }
                self.answer(index, Ok(out));
            }
            Ok(false) => {
                text.push_str(" (waits)");
                self.waits += 1;
                self.sessions[index].fate = Fate::Waiting(self.waits);
            }
            Err(error) => self.answer(index, Err(error)),
        }
        let in_transaction = self.sessions[index].client.in_transaction().unwrap_or(false);
        let queues = in_transaction && !words.first().is_some_and(|name| is(name, "watch"));
        Ok(if queues { Footprint::default() } else { footprint })
    }

    /// What a request is going to touch: EXEC what was queued and is watched, a script what it declares.
    fn footprint(&mut self, index: usize, words: &[&[u8]]) -> Result<Footprint, Error> {
        let session = &mut self.sessions[index];
        if is(words.first().copied().unwrap_or_default(), "exec") {
            let mut footprint = std::mem::take(&mut session.queued);
            footprint.merge(&std::mem::take(&mut session.watched).read_only());
            return Ok(footprint);
        }
        let mut footprint = touched(&session.client, words);
        match words {
            [name, text, ..] if is(name, "eval") || is(name, "eval_ro") => {
                let script = hash_of(*text);
                let is_new = !self.scripts.contains(&script);
                if is_new {
                    self.scripts.push(script);
                    self.scripts.sort_unstable();
                }
                footprint.add(SCRIPTS, is_new);
            }
            [name, ..] if is(name, "evalsha") || is(name, "evalsha_ro") => footprint.add(SCRIPTS, false),
            _ => {}
        }
        Ok(footprint)
    }

    /// Keeps what the transaction of a session is about.
    fn after(&mut self, index: usize, words: &[&[u8]], footprint: &Footprint) {
        let session = &mut self.sessions[index];
        let name = words.first().copied().unwrap_or_default();
        if is(name, "watch") {
            session.watched.merge(footprint);
        } else if session.client.in_transaction().unwrap_or(false) {
            session.queued.merge(footprint);
        } else if is(name, "discard") || is(name, "unwatch") || is(name, "reset") {
            session.queued = Footprint::default();
            session.watched = Footprint::default();
        }
    }

    fn answer(&mut self, index: usize, answer: Result<Reply, Error>) {
        let mut bytes = Vec::new();
        match &answer {
            Ok(reply) => encode(reply, Resp::V3, &mut bytes),
            Err(error) => bytes.extend_from_slice(error.to_string().as_bytes()),
        }
        let session = &mut self.sessions[index];
        session.history = hash_of(&(session.history, bytes));
        // An error reply is an error to the client, as with the engine's own clients.
        let answer = answer.and_then(|reply| match reply.error_message() {
            Some(text) => Err(Error::reply(text)),
            None => Ok(reply),
        });
        self.desks.lock().desks[index].answer = Some(answer);
    }

    /// The client is told that its connection is lost, and goes on with a new one.
    fn lose_connection(&mut self, index: usize) -> Result<(), Error> {
        let client = self.engine.try_client()?;
        let session = &mut self.sessions[index];
        (session.queued, session.watched) = (Footprint::default(), Footprint::default());
        session.client = client;
        self.answer(index, Err(Error::connection_lost()));
        Ok(())
    }

    /// A client goes on until its next request.
    fn poll(&mut self, index: usize) -> Result<(), Error> {
        let session = &mut self.sessions[index];
        if matches!(session.fate, Fate::Waiting(_)) {
            return Ok(());
        }
        let Some(protocol) = &mut session.protocol else { return Ok(()) };
        match protocol.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(end) => {
                session.protocol = None;
                session.fate = match end {
                    End::Done => Fate::Done,
                    End::Failed(text) => Fate::Failed(text),
                };
            }
            Poll::Pending if self.desks.lock().desks[index].request.is_none() => {
                let name = &self.names[index];
                return Err(Error::usage(format!(
                    "client {name} awaits something that is no call of its handle: a schedule cannot let it go on"
                )));
            }
            Poll::Pending => {}
        }
        Ok(())
    }

    /// Those whose waiting has ended go on.
    fn wake(&mut self) -> Result<(), Error> {
        for index in 0..self.sessions.len() {
            let session = &mut self.sessions[index];
            let mut reply = Reply::new();
            if !matches!(session.fate, Fate::Waiting(_)) || !session.client.finish_call(None, &mut reply)? {
                continue;
            }
            session.fate = Fate::Ready;
            let text = format!("(answered: {})", answer_text(&reply.view()));
            self.answer(index, Ok(reply));
            self.poll(index)?;
            self.note_row(Some(index), text)?;
        }
        Ok(())
    }

    fn note_row(&mut self, actor: Option<usize>, text: String) -> Result<(), Error> {
        if self.rows.is_none() {
            return Ok(());
        }
        let note = actor.and_then(|index| self.desks.lock().desks[index].note.take());
        let state =
            self.shown.iter().map(|key| state_text(&self.engine, key)).collect::<Result<_, Error>>()?;
        let row = Row { at_ms: self.engine.now_ms()?, actor, text, note, state };
        self.rows.get_or_insert_default().push(row);
        Ok(())
    }

    /// What every client asks for at this point: on the way to a point that was seen before it has to be the same again.
    pub(super) fn requests(&self) -> u64 {
        let desks = self.desks.lock();
        desks.desks.iter().enumerate().fold(0, |sum, (index, desk)| {
            desk.request.as_ref().map_or(sum, |request| sum ^ hash_of(&(index, request)))
        })
    }

    /// Two points with the same fingerprint have the same futures.
    pub(super) fn fingerprint(&self) -> Result<u64, Error> {
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        let mut broken = Vec::with_capacity(self.sessions.len());
        for (index, session) in self.sessions.iter().enumerate() {
            broken.push(session.client.is_watch_broken()?);
            if let Fate::Waiting(number) = session.fate {
                waiting.push((number, index));
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
        let state = (self.engine.state_hash()?, self.engine.now_ms()?, self.used, self.unseen);
        Ok(hash_of(&(state, broken, order, fates, tallies, &self.scripts)))
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

fn touched(client: &Client, words: &[&[u8]]) -> Footprint {
    let mut footprint = Footprint::default();
    match client.touch_of(words) {
        Ok(Touch::Keys(keys)) => keys.into_iter().for_each(|(key, is_write)| footprint.add(key, is_write)),
        Ok(Touch::Session) => {}
        Ok(Touch::All) | Err(_) => return Footprint::all(),
    }
    footprint
}

fn request_text(request: Option<&Request>) -> String {
    match request {
        Some(Request::Call(argv)) => words_text(&argv.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        Some(Request::Sleep(until)) => format!("waking up at {until} ms"),
        None => "its next call".into(),
    }
}
