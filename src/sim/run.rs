//! One schedule being run: what it consists of, how it begins, and what one action does. `offers` tells which actions there
//! are at a point, `requests` runs what a client asks for, `clients` lets them go on, `point` tells points apart.

mod clients;
mod offers;
mod point;
mod requests;

pub(super) use clients::{Fate, Session};

use std::sync::Arc;

use parking_lot::Mutex;

use super::desk::{Desks, Protocol};
use super::footprint::Footprint;
use super::refill::Refill;
use super::store::Tables;
use super::table::{Row, state_text};
use super::twice::Mark;
use super::world::{Base, Shown, Stage, World};
use super::{Action, Faults};
use crate::engine::{Client, Engine, Snapshot};
use crate::error::Error;
use crate::util::clock::Clock;
use clients::Seat;

/// An engine of the world.
pub(super) struct Spot {
    pub(super) name: String,
    pub(super) engine: Engine,
    /// Requests do not reach it.
    pub(super) is_down: bool,
    /// Its clock, when it is not the world's.
    clock: Option<Clock>,
    /// How far it has jumped before the others.
    ahead_ms: i64,
    /// What has run in it can be put back.
    is_rewindable: bool,
}

impl Spot {
    pub(super) fn new(name: &str, engine: Engine, clock: &Clock) -> Self {
        let clock = Some(clock.clone()).filter(Clock::is_skewed);
        Spot { name: name.to_owned(), engine, is_down: false, clock, ahead_ms: 0, is_rewindable: true }
    }

    /// Is what it was at the beginning, with clients that have no session; false when it cannot be.
    pub(super) fn begin<'c>(
        &mut self,
        snapshot: &Snapshot,
        clients: impl Iterator<Item = &'c mut Client>,
    ) -> bool {
        (self.is_down, self.ahead_ms) = (false, 0);
        self.is_rewindable && self.engine.rewind(snapshot, clients) == Ok(true)
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
    pub(super) base: Option<Arc<Base>>,
    pub(super) places: Refill<Spot>,
    pub(super) tables: Tables,
    pub(super) names: Refill<String>,
    pub(super) shown: Refill<Shown>,
    pub(super) sessions: Vec<Session>,
    /// What each client does; none when that is over.
    protocols: Vec<Option<Protocol>>,
    pub(super) desks: Arc<Mutex<Desks>>,
    pub(super) used: Used,
    pub(super) now_ms: i64,
    keeps: Keeps,
    /// The steps so far whose effect neither keys nor replies tell, in their order.
    unseen: u64,
    /// The scripts that were sent as text.
    scripts: Vec<u64>,
    waits: u64,
    /// How many clients wait now.
    waiting: usize,
    /// Memory that is used again.
    bytes: Vec<u8>,
    /// The rows of the table, when one is wanted.
    pub(super) rows: Option<Vec<Row>>,
    pub(super) marks: Vec<Mark>,
}

impl Run {
    /// Begins: each client runs to its first call.
    pub(super) fn start(world: World, keeps: Keeps) -> Result<Self, Error> {
        let World { kept, stage, tables, protocols, .. } = world;
        let Stage { spots, desks, names, shown, sessions } = stage;
        let now_ms = desks.lock().now_ms;
        let mut run = Run {
            base: kept,
            places: spots,
            tables,
            names,
            shown,
            sessions,
            protocols,
            desks,
            used: Used::default(),
            now_ms,
            keeps,
            unseen: 0,
            scripts: Vec::new(),
            waits: 0,
            waiting: 0,
            bytes: Vec::new(),
            rows: keeps.rows.then(Vec::new),
            marks: Vec::new(),
        };
        run.seat()?;
        for index in 0..run.sessions.len() {
            run.poll(index)?;
        }
        Ok(run)
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
                self.protocols[index] = None;
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
                for place in self.places.iter() {
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
                        self.waiting -= 1;
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
                && self.protocols[index].is_some()
                && has_none
            {
                self.answer(index, Err(Error::connection_lost()));
                self.poll(index)?;
            }
        }
        Ok(())
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
}

/// What it was played on is used again.
impl Drop for Run {
    fn drop(&mut self) {
        let Some(base) = self.base.take() else { return };
        // They hold handles.
        self.protocols.clear();
        let mut sessions = std::mem::take(&mut self.sessions);
        sessions.iter_mut().for_each(Session::end);
        base.keep(Stage {
            spots: std::mem::take(&mut self.places),
            desks: std::mem::take(&mut self.desks),
            names: std::mem::take(&mut self.names),
            shown: std::mem::take(&mut self.shown),
            sessions,
        });
    }
}
