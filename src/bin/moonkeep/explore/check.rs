//! What can be known of a protocol before it runs: its names, its functions, its commands and how many words they take. A slip
//! of the pen is told with its place; found while it runs, it would end a client, and every invariant might hold.

use std::collections::BTreeSet;

use moonkeep::{Client, Engine, Reply};

use super::language::{Command, Expr, Kind, Mistake, Part, Place, Protocol, Source, Statement};
use super::value::{NO_FUNCTION, Value};

/// Where an expression stands, which decides what may be called there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    BeforeClients,
    InClient,
    InInvariant,
}

struct Checker<'p> {
    /// Asked for commands.
    commands: Client,
    names: BTreeSet<&'p str>,
    clients: BTreeSet<&'p str>,
    tallies: BTreeSet<&'p str>,
    at: Where,
}

/// # Errors
/// The first mistake that is found, with its line and column.
pub(super) fn check(protocol: &Protocol) -> Result<(), Mistake> {
    let mut checker = Checker {
        commands: Engine::new().client(),
        names: BTreeSet::new(),
        clients: protocol.clients.iter().flat_map(|clients| &clients.names).map(String::as_str).collect(),
        tallies: BTreeSet::new(),
        at: Where::BeforeClients,
    };
    for (name, value) in &protocol.constants {
        checker.expression(value)?;
        checker.names.insert(name);
    }
    protocol.setup.iter().try_for_each(|command| checker.command(command))?;
    protocol.watched.iter().try_for_each(|parts| checker.word(parts))?;
    let constants = checker.names.clone();
    for clients in &protocol.clients {
        checker.at = Where::InClient;
        checker.names.insert("client");
        checker.collect(&clients.body);
        checker.body(&clients.body)?;
        checker.names.clone_from(&constants);
    }
    checker.at = Where::InInvariant;
    protocol.invariants.iter().try_for_each(|invariant| checker.expression(&invariant.holds))
}

impl<'p> Checker<'p> {
    /// What a client names and counts, on whatever way it goes.
    fn collect(&mut self, body: &'p [Statement]) {
        for statement in body {
            match statement {
                Statement::Let(name, _) => drop(self.names.insert(name)),
                Statement::Tally(name, _) => drop(self.tallies.insert(name)),
                Statement::While(_, body) => self.collect(body),
                Statement::If(branches, otherwise) => {
                    branches.iter().for_each(|(_, body)| self.collect(body));
                    self.collect(otherwise);
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, body: &[Statement]) -> Result<(), Mistake> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Mistake> {
        match statement {
            Statement::Let(_, Source::Value(expr))
            | Statement::Sleep(expr)
            | Statement::Note(expr)
            | Statement::Tally(_, Some(expr))
            | Statement::Fail(expr) => self.expression(expr),
            Statement::Let(_, Source::Command { command, .. }) | Statement::Run(command) => {
                self.command(command)
            }
            Statement::While(condition, body) => {
                self.expression(condition)?;
                self.body(body)
            }
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    self.expression(condition)?;
                    self.body(body)?;
                }
                self.body(otherwise)
            }
            Statement::Tally(_, None) | Statement::Break | Statement::Stop => Ok(()),
        }
    }

    fn expression(&mut self, expr: &Expr) -> Result<(), Mistake> {
        match &expr.kind {
            Kind::Int(_) | Kind::Text(_) | Kind::Nil => Ok(()),
            Kind::Name(name) if self.names.contains(name.as_str()) => Ok(()),
            Kind::Name(name) => expr.at.mistake(format!("nothing is named {name:?} here")),
            Kind::Not(inner) | Kind::Minus(inner) => self.expression(inner),
            Kind::Binary(_, left, right) => {
                self.expression(left)?;
                self.expression(right)
            }
            Kind::Call(name, arguments) => {
                self.function(name, arguments, expr.at)?;
                arguments.iter().try_for_each(|one| self.expression(one))
            }
            Kind::Ask(command) => self.command(command),
        }
    }

    fn function(&self, name: &str, arguments: &[Expr], at: Place) -> Result<(), Mistake> {
        let wanted = match (name, self.at) {
            ("int" | "len" | "is_error" | "is_lost", _) => 1,
            ("item", _) => 2,
            ("file", Where::BeforeClients) => 1,
            ("now", Where::InClient | Where::InInvariant) => 0,
            ("tally" | "is_done" | "is_crashed", Where::InInvariant) => 1,
            _ => return at.mistake(format!("there is no function {name:?} here: {NO_FUNCTION}")),
        };
        if arguments.len() != wanted {
            let text = format!("{name} takes {wanted} values, not {}", arguments.len());
            return at.mistake(text);
        }
        let Some(Kind::Text(text)) = arguments.first().map(|one| &one.kind) else { return Ok(()) };
        let text = String::from_utf8_lossy(text);
        match name {
            "tally" if !self.tallies.contains(&*text) => {
                at.mistake(format!("no client counts {text:?}: {}", list(&self.tallies)))
            }
            "is_done" | "is_crashed" if !self.clients.contains(&*text) => {
                at.mistake(format!("no client is named {text:?}: {}", list(&self.clients)))
            }
            _ => Ok(()),
        }
    }

    fn word(&mut self, parts: &[Part]) -> Result<(), Mistake> {
        let values = parts.iter().filter_map(|part| match part {
            Part::Value(expr) => Some(expr),
            Part::Text(_) => None,
        });
        values.into_iter().try_for_each(|expr| self.expression(expr))
    }

    fn command(&mut self, command: &Command) -> Result<(), Mistake> {
        command.words.iter().try_for_each(|parts| self.word(parts))?;
        let Some(name) = command.words.first().and_then(|parts| constant(parts)) else { return Ok(()) };
        let Some(mut known) = self.entry(&name) else {
            return command.at.mistake(format!("there is no command {name:?}"));
        };
        if let (true, Some(parts)) = (known.has_subcommands, command.words.get(1)) {
            let Some(second) = constant(parts) else { return Ok(()) };
            let Some(entry) = self.entry(&format!("{name}|{second}")) else {
                return command.at.mistake(format!("{name} has no subcommand {second:?}"));
            };
            known = entry;
        }
        let count = command.words.len() as i64;
        if count == known.arity || known.arity < 0 && count >= -known.arity {
            return Ok(());
        }
        let least = if known.arity < 0 { "at least " } else { "" };
        let wanted = known.arity.abs();
        command.at.mistake(format!("{name} takes {least}{wanted} words, its name included, not {count}"))
    }

    /// What the table of commands says; none for no command.
    fn entry(&mut self, name: &str) -> Option<Entry> {
        let reply: Reply = self.commands.call(["COMMAND", "INFO", name]).ok()?;
        let Value::List(entries) = Value::of(&reply.view()) else { return None };
        let Some(Value::List(entry)) = entries.first() else { return None };
        let Some(Value::Int(arity)) = entry.get(1) else { return None };
        let has_subcommands = matches!(entry.get(9), Some(Value::List(names)) if !names.is_empty());
        Some(Entry { arity: *arity, has_subcommands })
    }
}

/// How many words a command takes: so many, or below zero at least so many.
struct Entry {
    arity: i64,
    has_subcommands: bool,
}

/// A word that is the same in each run.
fn constant(parts: &[Part]) -> Option<String> {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => Some(String::from_utf8_lossy(text)),
        Part::Value(_) => None,
    });
    texts.collect()
}

fn list(names: &BTreeSet<&str>) -> String {
    if names.is_empty() {
        return "there is none".into();
    }
    names.iter().copied().collect::<Vec<_>>().join(", ")
}
