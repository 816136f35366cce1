//! A client's request runs: a command in an engine of the world, an operation of the business database. What it touched is
//! told by its footprint.

use super::super::desk::{Answer, Request};
use super::super::footprint::{Footprint, hash_of};
use super::super::store::{Op, StoreError};
use super::super::table::{answer_text, request_text};
use super::{Fate, Run};
use crate::engine::explored::{Touch, is_rewindable, sees, touch_of};
use crate::error::Error;
use crate::reply::{Reply, Resp};

/// The key that stands for the cache of scripts in footprints.
const SCRIPTS: &[u8] = b"\0scripts";

impl Run {
    /// The request of a client goes nowhere.
    pub(super) fn give_up(&mut self, index: usize, why: &str, text: &mut String) {
        let request = self.desks.lock().desks[index].request.take();
        if self.rows.is_some() {
            let asked = request_text(request.as_ref(), &self.places);
            *text =
                if why == "crash" { format!("(crash before {asked})") } else { format!("{asked} ({why})") };
        }
        self.desks.lock().take_back(request);
    }

    /// Adds to what a row of the table says, when there is one.
    fn tell(&self, text: &mut String, more: &str) {
        if self.rows.is_some() {
            text.push_str(more);
        }
    }

    /// The client's transaction in the business database is rolled back; what others may go on with now.
    pub(super) fn ended(&mut self, index: usize) -> Footprint {
        let matters = self.sessions[index].seats.iter().any(|seat| seat.matters);
        let mut footprint = if matters { Footprint::all() } else { Footprint::default() };
        for table in self.tables.touched(index) {
            footprint.add_table(table, true);
        }
        self.tables.roll_back(index);
        footprint
    }

    /// The client's request goes where it is to go.
    pub(super) fn request(
        &mut self,
        index: usize,
        is_lost: bool,
        text: &mut String,
    ) -> Result<Footprint, Error> {
        let request = self.desks.lock().desks[index].request.take();
        let footprint = match &request {
            Some(Request::Call { node, .. }) if *node >= self.places.len() => {
                self.answer(index, Err(Error::usage("this engine is none of the client's world")));
                Footprint::default()
            }
            Some(Request::Call { node, .. }) if self.is_cut_off(index, *node) => {
                self.answer(index, Err(Error::connection_lost()));
                self.tell(text, " (no answer)");
                Footprint::default()
            }
            Some(Request::Call { node, words }) => {
                words.with(|words| self.command(index, *node, words, is_lost, text))?
            }
            Some(Request::Store(op)) => self.operate(index, op, is_lost, text)?,
            Some(Request::Sleep(_)) | None => {
                self.tell(text, "(wakes up)");
                self.answer(index, Ok(Answer::Awake));
                return Ok(Footprint::default());
            }
        };
        if self.rows.is_some() {
            text.insert_str(0, &request_text(request.as_ref(), &self.places));
        }
        self.desks.lock().take_back(request);
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
        words: &[&[u8]],
        is_lost: bool,
        text: &mut String,
    ) -> Result<Footprint, Error> {
        self.places[node].is_rewindable &= is_rewindable(words);
        let mut footprint = self.footprint(index, node, words);
        self.note(words);
        let mut out = Reply::new();
        let client = &mut self.sessions[index].seats[node].client;
        let done = if self.keeps.footprints && runs_scripts(words) {
            client.trace(words).map(|(reply, calls)| {
                out = reply;
                for call in calls {
                    let words: Vec<&[u8]> = call.argv.iter().map(Vec::as_slice).collect();
                    footprint.merge(&touched(node, &words));
                    self.note(&words);
                }
                true
            })
        } else {
            client.begin(words, &mut out, &mut Resp::V2)
        };
        let seat = &mut self.sessions[index].seats[node];
        seat.is_used = true;
        if footprint.is_all() {
            seat.matters = true;
            self.unseen = hash_of(&(self.unseen, index, node, words));
        }
        let queues = self.after(index, node, words, &footprint);
        match done {
            _ if is_lost => {
                self.tell(text, " (reply lost)");
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
                self.tell(text, " (waits)");
                self.waits += 1;
                self.waiting += 1;
                self.sessions[index].fate = Fate::Waiting(self.waits);
                self.sessions[index].waits_at = node;
            }
            Err(error) => self.answer(index, Err(error)),
        }
        Ok(if queues { Footprint::default() } else { footprint })
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
            self.tell(text, " (reply lost)");
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

    /// Notes for the search what a command sees.
    fn note(&self, words: &[&[u8]]) {
        if let Some(base) = self.base.as_ref().filter(|_| self.keeps.footprints) {
            base.note(sees(words));
        }
    }

    /// What a request is going to touch: EXEC what was queued and is watched, a script what it declares.
    fn footprint(&mut self, index: usize, node: usize, words: &[&[u8]]) -> Footprint {
        if !self.keeps.footprints {
            return Footprint::default();
        }
        let seat = &mut self.sessions[index].seats[node];
        if is(words.first().copied().unwrap_or_default(), "exec") {
            let mut footprint = std::mem::take(&mut seat.queued);
            footprint.merge(&std::mem::take(&mut seat.watched).read_only());
            return footprint;
        }
        let mut footprint = touched(node, words);
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
        footprint
    }

    /// Keeps what the transaction of a session is about; whether the command was queued for it.
    fn after(&mut self, index: usize, node: usize, words: &[&[u8]], footprint: &Footprint) -> bool {
        if !self.keeps.footprints {
            return false;
        }
        let seat = &mut self.sessions[index].seats[node];
        let in_transaction = seat.client.in_transaction().unwrap_or(false);
        let name = words.first().copied().unwrap_or_default();
        let watches = is(name, "watch");
        if watches {
            seat.watched.merge(footprint);
        } else if in_transaction {
            seat.queued.merge(footprint);
        } else if is(name, "discard") || is(name, "unwatch") || is(name, "reset") {
            seat.queued.clear();
            seat.watched.clear();
        }
        in_transaction && !watches
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

fn touched(node: usize, words: &[&[u8]]) -> Footprint {
    let mut footprint = Footprint::default();
    match touch_of(words) {
        Touch::Keys(keys) => keys.into_iter().for_each(|(key, is_write)| footprint.add(node, key, is_write)),
        Touch::Session => {}
        Touch::All => return Footprint::all(),
    }
    footprint
}
