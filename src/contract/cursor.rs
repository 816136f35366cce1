//! Walks over the words of one clause; every refusal says what could have stood there.

use super::error::{ContractError, Position};
use super::lexer::Token;

pub(super) struct Cursor<'a> {
    tokens: &'a [(Token, Position)],
    /// Where the clause ends.
    end: Position,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [(Token, Position)], end: Position) -> Self {
        Cursor { tokens, end }
    }
    /// Where the next word stands.
    pub(super) fn position(&self) -> Position {
        self.tokens.first().map_or(self.end, |(_, at)| *at)
    }
    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.tokens.first().map(|(token, _)| token)
    }
    /// Whether this sign stands behind the next word.
    pub(super) fn has_behind(&self, sign: &str) -> bool {
        matches!(self.tokens.get(1), Some((Token::Sign(found), _)) if *found == sign)
    }
    pub(super) fn next(&mut self) -> Option<(&'a Token, Position)> {
        let ((token, at), rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some((token, *at))
    }
    /// Takes the sign if it is next.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        if found {
            self.next();
        }
        found
    }
    /// Takes the name if it is next.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(next)) if next == word);
        if found {
            self.next();
        }
        found
    }
    pub(super) fn expect(&mut self, sign: &str) -> Result<(), ContractError> {
        if self.takes(sign) { Ok(()) } else { Err(self.wanted(&format!("{sign:?}"))) }
    }
    /// Takes the sign; else says all that could have stood there.
    pub(super) fn expect_one_of(&mut self, wanted: &str, sign: &str) -> Result<(), ContractError> {
        if self.takes(sign) { Ok(()) } else { Err(self.wanted(wanted)) }
    }
    pub(super) fn name(&mut self, wanted: &str) -> Result<(&'a str, Position), ContractError> {
        match self.tokens.first() {
            Some((Token::Name(name), at)) => {
                self.next();
                Ok((name, *at))
            }
            _ => Err(self.wanted(wanted)),
        }
    }
    pub(super) fn text(&mut self, wanted: &str) -> Result<Vec<u8>, ContractError> {
        match self.peek() {
            Some(Token::Text(text)) => {
                self.next();
                Ok(text.clone())
            }
            _ => Err(self.wanted(wanted)),
        }
    }
    /// The text of an error, as a client reads it: one line, not empty.
    pub(super) fn error_text(&mut self) -> Result<Vec<u8>, ContractError> {
        let at = self.position();
        let text = self.text("the text of the error in quotes")?;
        if text.is_empty() {
            return Err(at.error("an error has a text"));
        }
        if text.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
            return Err(at.error("an error is one line: a client reads a blank for each \\r and \\n"));
        }
        Ok(text)
    }
    /// An integer, with a sign or without.
    pub(super) fn int(&mut self, wanted: &str) -> Result<i64, ContractError> {
        let at = self.position();
        let negative = self.takes("-");
        let Some(Token::Int(value)) = self.peek() else { return Err(self.wanted(wanted)) };
        self.next();
        let value = if negative { -value } else { *value };
        i64::try_from(value).map_err(|_| at.error("the integer is out of range"))
    }
    /// Two integers in parentheses, the first no greater than the second.
    pub(super) fn bounds(&mut self) -> Result<(i64, i64), ContractError> {
        self.expect_one_of("\"(\" and two bounds, as in (0, 100)", "(")?;
        let at = self.position();
        let min = self.int("the least value")?;
        self.expect_one_of("\",\" and the greatest value", ",")?;
        let max = self.int("the greatest value")?;
        self.expect(")")?;
        if min > max {
            return Err(at.error(format!("the bounds are the wrong way round: {min} is greater than {max}")));
        }
        Ok((min, max))
    }
    pub(super) fn is_done(&self) -> bool {
        self.tokens.is_empty()
    }
    /// Nothing may follow.
    pub(super) fn done(&self) -> Result<(), ContractError> {
        if self.is_done() { Ok(()) } else { Err(self.wanted("the end of the clause")) }
    }
    /// Nothing may follow, after more of what could have stood here.
    pub(super) fn done_after(&self, more: &str) -> Result<(), ContractError> {
        if self.is_done() { Ok(()) } else { Err(self.wanted(&format!("{more} or the end of the clause"))) }
    }
    /// The error for what is next, where `wanted` should stand.
    pub(super) fn wanted(&self, wanted: &str) -> ContractError {
        let found = match self.peek() {
            Some(token) => token.to_string(),
            None => "the end of the clause".to_owned(),
        };
        self.position().error(format!("here should be {wanted}, not {found}"))
    }
}
