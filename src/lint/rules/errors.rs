//! Rules about errors and writes: what a script has written stays when it ends in an error. The ways through the script are
//! followed, with what was written on them.

use super::super::Rule;
use super::super::facts::Script;
use super::super::outcome;
use super::Findings;
use crate::syntax::Place;
use crate::syntax::tree::{Block, Expr, Kind, Stmt, each_statement};
use std::collections::{BTreeMap, BTreeSet};

/// `late-error`: an error of the script's own that may come after a write. `unchecked-error`: a call whose error is lost,
/// before a write.
pub(super) fn errors(script: &Script<'_>, found: &mut Findings) {
    let mut walk = Walk { script, found, rounds: BTreeMap::new(), breaks: Vec::new(), is_silent: false };
    walk.block(&script.chunk.body, Past::default());
    each_statement(&script.chunk.body, &mut |statement| {
        for expression in statement.expressions() {
            for body in expression.functions() {
                walk.block(body, Past::default());
            }
        }
    });
}

/// What may have happened on the way to a place.
#[derive(Clone, Default)]
struct Past {
    /// Calls that may have written, and whether it was in an earlier round of a loop.
    writes: BTreeSet<(Place, bool)>,
    /// Calls whose error is lost.
    lost: BTreeSet<Place>,
}

impl Past {
    fn or(mut self, other: &Past) -> Past {
        self.writes.extend(&other.writes);
        self.lost.extend(&other.lost);
        self
    }
    /// Without the writes that wrote nothing.
    fn without(mut self, nothing: &BTreeSet<Place>) -> Past {
        self.writes.retain(|(place, is_earlier)| *is_earlier || !nothing.contains(place));
        self
    }
    /// As the next round of a loop sees it.
    fn in_next_round(mut self) -> Past {
        self.writes = self.writes.into_iter().map(|(place, _)| (place, true)).collect();
        self
    }
}

struct Walk<'a, 'b> {
    script: &'a Script<'a>,
    found: &'b mut Findings,
    /// What one round of a loop does, by the address of its body: loops in loops are gone through once each for it.
    rounds: BTreeMap<usize, Past>,
    /// What happened on the ways to each `break`, of each loop around.
    breaks: Vec<Past>,
    /// It is found out what a round does, and nothing told.
    is_silent: bool,
}

impl Walk<'_, '_> {
    /// What may have happened at the end of a block; none when nothing goes on behind it.
    fn block(&mut self, block: &Block, mut past: Past) -> Option<Past> {
        for statement in block {
            past = self.statement(statement, past)?;
        }
        Some(past)
    }
    fn statement(&mut self, statement: &Stmt, mut past: Past) -> Option<Past> {
        match statement {
            Stmt::Return(values) => {
                for value in values {
                    if self.is_error(value) {
                        self.tell_late(value, &past);
                    }
                }
                self.note_calls(statement, &mut past);
                return None;
            }
            Stmt::Break => {
                if let Some(breaks) = self.breaks.last_mut() {
                    *breaks = std::mem::take(breaks).or(&past);
                }
                return None;
            }
            Stmt::Call(call) if self.script.call_of(call, "error").is_some() => {
                self.tell_late(call, &past);
                return None;
            }
            Stmt::If(branches, other) => return self.branches(branches, other.as_ref(), past),
            _ => self.note_calls(statement, &mut past),
        }
        let (block, until) = match statement {
            Stmt::Do(block) => return self.block(block, past),
            Stmt::While(_, block) | Stmt::For(_, block) | Stmt::ForIn(_, block) => (block, None),
            Stmt::Repeat(block, until) => (block, Some(until)),
            _ => return Some(past),
        };
        let left = self.looped(block, until, &past);
        Some(past.or(&left))
    }
    fn branches(
        &mut self,
        branches: &[(Expr, Block)],
        other: Option<&Block>,
        mut past: Past,
    ) -> Option<Past> {
        let mut ends = Vec::new();
        for (condition, block) in branches {
            self.note_calls_of(condition, &mut past);
            let nothing = outcome::told_by(self.script, condition);
            ends.extend(self.block(block, past.clone().without(&nothing.when_true)));
            past = past.without(&nothing.when_false);
        }
        ends.extend(match other {
            Some(block) => self.block(block, past),
            None => Some(past),
        });
        ends.into_iter().reduce(|one, other| one.or(&other))
    }
    /// What may have happened where a loop is left.
    fn looped(&mut self, block: &Block, until: Option<&Expr>, before: &Past) -> Past {
        let address = std::ptr::from_ref(block).addr();
        let nothing = until.map(|until| outcome::told_by(self.script, until)).unwrap_or_default();
        let round = match self.rounds.get(&address) {
            Some(round) => round.clone(),
            None => {
                let was_silent = std::mem::replace(&mut self.is_silent, true);
                let (end, _) = self.round(block, Past::default());
                self.is_silent = was_silent;
                let round = end.without(&nothing.when_false).in_next_round();
                self.rounds.insert(address, round.clone());
                round
            }
        };
        let (end, breaks) = self.round(block, before.clone().or(&round));
        end.without(&nothing.when_true).or(&breaks)
    }
    /// What may have happened at the end of a loop's body, and at its `break`s.
    fn round(&mut self, block: &Block, before: Past) -> (Past, Past) {
        self.breaks.push(Past::default());
        let end = self.block(block, before).unwrap_or_default();
        (end, self.breaks.pop().unwrap_or_default())
    }
    /// What the statement's own expressions do.
    fn note_calls(&mut self, statement: &Stmt, past: &mut Past) {
        statement.expressions().into_iter().for_each(|expression| self.note_calls_of(expression, past));
        if let Stmt::Call(call) = statement
            && self.script.command_here(call).is_some_and(|command| command.is_protected)
        {
            past.lost.insert(call.place);
        }
    }
    fn note_calls_of(&mut self, expression: &Expr, past: &mut Past) {
        expression.each(&mut |expr| {
            if self.script.command_here(expr).is_some_and(|command| command.writes()) {
                self.tell_lost(expr.place, past);
                past.writes.insert((expr.place, false));
            }
        });
    }
    fn is_error(&self, value: &Expr) -> bool {
        let is_table = |fields: &[(Option<Expr>, Expr)]| {
            fields.iter().any(|(key, _)| {
                key.as_ref().is_some_and(|key| matches!(&key.kind, Kind::Text(text) if text == b"err"))
            })
        };
        match &value.kind {
            Kind::Table(fields) => is_table(fields),
            Kind::Call(..) => ["redis.error_reply", "error"]
                .iter()
                .any(|function| self.script.call_of(value, function).is_some()),
            _ => false,
        }
    }
    fn tell_late(&mut self, error: &Expr, past: &Past) {
        let first = past.writes.iter().map(|(place, _)| *place).min();
        if let Some(place) = first.filter(|_| !self.is_silent) {
            let what = format!("the error comes after a write (line {}), which stays", place.line);
            self.found.add(Rule::LateError, error, what, "check everything first, then write");
        }
    }
    /// A write comes behind calls whose error is lost; itself in another round does not count.
    fn tell_lost(&mut self, write: Place, past: &Past) {
        for place in past.lost.iter().filter(|place| **place != write && !self.is_silent) {
            let what = "an error of redis.pcall is lost here, and the script goes on to write";
            self.found.at(Rule::UncheckedError, *place, what, "look at the reply's err, or use redis.call");
        }
    }
}
