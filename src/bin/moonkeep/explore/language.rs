//! What a protocol file says, as a tree; every part knows its line and column. `parse` makes it, `play` runs it.

use std::fmt;

/// A line and a column, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// What is wrong with a protocol, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) at: Place,
    pub(super) text: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.at.line, self.at.column, self.text)
    }
}

impl Place {
    pub(super) fn mistake<T>(self, text: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake { at: self, text: text.into() })
    }
}

/// A part of a word of a command.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(Vec<u8>),
    Value(Expr),
}

#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) at: Place,
    /// The parts of a word are joined.
    pub(super) words: Vec<Vec<Part>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Join,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Int(i64),
    Text(Vec<u8>),
    Nil,
    Name(String),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// A command within an invariant.
    Ask(Command),
}

#[derive(Debug, Clone)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    pub(super) at: Place,
}

#[derive(Debug, Clone)]
pub(super) enum Source {
    Value(Expr),
    Command {
        command: Command,
        /// An error is a value.
        tries: bool,
    },
}

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Let(String, Source),
    Run(Command),
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    Break,
    Stop,
    Sleep(Expr),
    Note(Expr),
    Tally(String, Option<Expr>),
    Fail(Expr),
}

/// A protocol that several clients follow.
#[derive(Debug, Clone)]
pub(super) struct Clients {
    pub(super) names: Vec<String>,
    pub(super) body: Vec<Statement>,
}

#[derive(Debug, Clone)]
pub(super) struct Invariant {
    pub(super) name: String,
    pub(super) at_each_step: bool,
    pub(super) holds: Expr,
}

/// All of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Protocol {
    /// Values that all of it may use.
    pub(super) constants: Vec<(String, Expr)>,
    pub(super) setup: Vec<Command>,
    pub(super) watched: Vec<Vec<Part>>,
    pub(super) time_ms: Option<i64>,
    pub(super) faults: Vec<(String, usize, Place)>,
    pub(super) clients: Vec<Clients>,
    pub(super) invariants: Vec<Invariant>,
}
