//! Rules about errors and writes: what a script has written stays when it ends in an error.

use super::super::Rule;
use super::super::facts::Script;
use super::Findings;
use crate::syntax::Place;
use crate::syntax::tree::{Block, Expr, Kind, Stmt, each_statement};

/// `late-error`: an error of the script's own that may come after a write.
pub(super) fn late_errors(script: &Script<'_>, found: &mut Findings) {
    let mut walk = Walk { script, found };
    walk.block(&script.chunk.body, None);
    each_statement(&script.chunk.body, &mut |statement| {
        for expression in statement.expressions() {
            for body in expression.functions() {
                walk.block(body, None);
            }
        }
    });
}

struct Walk<'a, 'b> {
    script: &'a Script<'a>,
    found: &'b mut Findings,
}

/// Where a write was made, when one may have been.
type Written = Option<Place>;

impl Walk<'_, '_> {
    /// What may have been written at the end of a block; none when nothing goes on behind it.
    fn block(&mut self, block: &Block, before: Written) -> Option<Written> {
        let mut written = before;
        for statement in block {
            written = self.statement(statement, written)?;
        }
        Some(written)
    }
    fn statement(&mut self, statement: &Stmt, before: Written) -> Option<Written> {
        match statement {
            Stmt::Return(values) => {
                for value in values {
                    if self.is_error(value) {
                        self.tell(value, before);
                    }
                }
                return None;
            }
            Stmt::Break => return None,
            Stmt::Call(call) if self.script.call_of(call, "error").is_some() => {
                self.tell(call, before);
                return None;
            }
            _ => {}
        }
        let written = self.writes(statement).or(before);
        match statement {
            Stmt::If(branches, other) => {
                let mut ends: Vec<Option<Written>> =
                    branches.iter().map(|(_, block)| self.block(block, written)).collect();
                ends.push(match other {
                    Some(block) => self.block(block, written),
                    None => Some(written),
                });
                let ends: Vec<Written> = ends.into_iter().flatten().collect();
                if ends.is_empty() { None } else { Some(ends.into_iter().flatten().next()) }
            }
            Stmt::Do(block) => self.block(block, written),
            Stmt::While(_, block) | Stmt::Repeat(block, _) | Stmt::For(_, block) | Stmt::ForIn(_, block) => {
                // What one round has written the next one finds written.
                let wrote = first_write(self.script, block).or(written);
                self.block(block, wrote.filter(|_| written.is_some() || goes_round(block)));
                Some(wrote)
            }
            _ => Some(written),
        }
    }
    /// Where the statement's own expressions write.
    fn writes(&self, statement: &Stmt) -> Written {
        let mut place = None;
        for expression in statement.expressions() {
            expression.each(&mut |expr| {
                if self.script.command_here(expr).is_some_and(|command| command.writes()) {
                    place.get_or_insert(expr.place);
                }
            });
        }
        place
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
    fn tell(&mut self, error: &Expr, written: Written) {
        if let Some(place) = written {
            let what = format!("the error comes after a write (line {}), which stays", place.line);
            self.found.add(Rule::LateError, error, what, "check everything first, then write");
        }
    }
}

/// Where a block first writes.
fn first_write(script: &Script<'_>, block: &Block) -> Written {
    let mut place: Written = None;
    each_statement(block, &mut |statement| {
        for expression in statement.expressions() {
            expression.each(&mut |expr| {
                if script.command_here(expr).is_some_and(|command| command.writes()) {
                    place = Some(place.map_or(expr.place, |place| place.min(expr.place)));
                }
            });
        }
    });
    place
}

/// Whether a loop's body may come to its end, so that it runs again.
fn goes_round(block: &Block) -> bool {
    !matches!(block.last(), Some(Stmt::Return(_) | Stmt::Break))
}

/// `unchecked-error`: a call whose error is lost, before a write.
pub(super) fn unchecked_errors(script: &Script<'_>, found: &mut Findings) {
    let mut lost = Vec::new();
    let mut last_write = Place::default();
    each_statement(&script.chunk.body, &mut |statement| {
        if let Stmt::Call(call) = statement
            && script.command_here(call).is_some_and(|command| command.is_protected)
        {
            lost.push(call.place);
        }
        for expression in statement.expressions() {
            expression.each(&mut |expr| {
                if script.command_here(expr).is_some_and(|command| command.writes()) {
                    last_write = last_write.max(expr.place);
                }
            });
        }
    });
    for place in lost.into_iter().filter(|place| *place < last_write) {
        let what = "an error of redis.pcall is lost here, and the script goes on to write";
        found.at(Rule::UncheckedError, place, what, "look at the reply's err, or use redis.call");
    }
}
