//! A script's text as Lua 5.1 reads it: `lexer` makes words of it, `parser` and `expressions` a `tree`, and an `outline` of
//! where the parts of the tree stand.

mod expressions;
mod lexer;
pub(crate) mod outline;
mod parser;
pub(crate) mod tree;

pub(crate) use lexer::Allowed;
use outline::Outline;
use tree::Chunk;

/// A script that was read.
pub(crate) struct Source {
    pub(crate) chunk: Chunk,
    /// What its comments allow.
    pub(crate) allowed: Vec<Allowed>,
    pub(crate) outline: Outline,
}

impl Source {
    /// Reads a script.
    ///
    /// # Errors
    /// A text that is no Lua 5.1, or is nested deeper than two hundred levels.
    pub(crate) fn parse(text: &[u8]) -> Result<Source, SyntaxError> {
        parser::parse(text)
    }
}

/// A text that is no Lua 5.1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {text}")]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub text: String,
}

impl SyntaxError {
    fn new(place: Place, text: String) -> Self {
        SyntaxError { line: place.line, column: place.column, text }
    }
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}
