//! Replies: the shape that all replies of a script have, and the one reply that a case promises.

use super::cursor::Cursor;
use super::error::{ContractError, Position};
use super::expr::{Datum, Expr, Parser};
use super::facts::Facts;
use super::lexer::Token;
use crate::reply::ReplyRef;
use crate::util::words::quote;

/// The shape of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Any,
    Nil,
    Int(i64, i64),
    /// Any bulk string, or this one.
    Bulk(Option<Vec<u8>>),
    /// Any status, or this one.
    Status(Option<Vec<u8>>),
    /// Elements of these shapes.
    Array(Vec<Shape>),
    /// Any number of elements of this shape.
    List(Box<Shape>),
    OneOf(Vec<Shape>),
}

impl Shape {
    pub(super) fn parse(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape, ContractError> {
        let first = Shape::one(cursor, depth)?;
        if !matches!(cursor.peek(), Some(Token::Sign("|"))) {
            return Ok(first);
        }
        let mut shapes = vec![first];
        while cursor.takes("|") {
            shapes.push(Shape::one(cursor, depth)?);
        }
        Ok(Shape::OneOf(shapes))
    }
    fn one(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape, ContractError> {
        const WANTED: &str =
            "a shape: an integer, int, int(MIN, MAX), bytes, a text, status, nil, any, or [SHAPE, ...]";
        if cursor.takes("[") {
            return Shape::array(cursor, depth);
        }
        match cursor.peek() {
            Some(Token::Int(_) | Token::Sign("-")) => {
                let value = cursor.int("an integer")?;
                Ok(Shape::Int(value, value))
            }
            Some(Token::Text(_)) => Ok(Shape::Bulk(Some(cursor.text("a text")?))),
            Some(Token::Name(name)) => {
                let wanted = cursor.wanted(WANTED);
                cursor.next();
                match name.as_str() {
                    "any" => Ok(Shape::Any),
                    "nil" => Ok(Shape::Nil),
                    "bytes" => Ok(Shape::Bulk(None)),
                    "status" if matches!(cursor.peek(), Some(Token::Text(_))) => {
                        Ok(Shape::Status(Some(cursor.text("a text")?)))
                    }
                    "status" if matches!(cursor.peek(), Some(Token::Name(_))) => {
                        Err(cursor.wanted("the text of the status in quotes"))
                    }
                    "status" => Ok(Shape::Status(None)),
                    "int" if matches!(cursor.peek(), Some(Token::Sign("("))) => {
                        let (min, max) = cursor.bounds()?;
                        Ok(Shape::Int(min, max))
                    }
                    "int" => Ok(Shape::Int(i64::MIN, i64::MAX)),
                    _ => Err(wanted),
                }
            }
            _ => Err(cursor.wanted(WANTED)),
        }
    }
    fn array(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape, ContractError> {
        enter(depth, cursor.position())?;
        let mut shapes = Vec::new();
        while !cursor.takes("]") {
            if !shapes.is_empty() {
                cursor.expect_one_of(BETWEEN, ",")?;
            }
            shapes.push(Shape::parse(cursor, depth + 1)?);
            let at = cursor.position();
            if cursor.takes("...") {
                if shapes.len() > 1 || !cursor.takes("]") {
                    return Err(at.error("\"...\" goes with one shape alone, as in [bytes...]"));
                }
                return Ok(Shape::List(Box::new(shapes.remove(0))));
            }
        }
        Ok(Shape::Array(shapes))
    }
    /// Whether a reply has the shape.
    pub(super) fn fits(&self, reply: ReplyRef<'_>) -> bool {
        match (self, reply) {
            (Shape::Any, _) | (Shape::Nil, ReplyRef::Nil | ReplyRef::NilArray) => true,
            (Shape::Int(min, max), ReplyRef::Int(value)) => (*min..=*max).contains(&value),
            (Shape::Bulk(text), ReplyRef::Bulk(found)) | (Shape::Status(text), ReplyRef::Status(found)) => {
                text.as_ref().is_none_or(|text| text == found)
            }
            (Shape::Array(shapes), ReplyRef::Array(items)) => {
                shapes.len() == items.len() && shapes.iter().zip(items).all(|(shape, item)| shape.fits(item))
            }
            (Shape::List(shape), ReplyRef::Array(mut items)) => items.all(|item| shape.fits(item)),
            (Shape::OneOf(shapes), reply) => shapes.iter().any(|shape| shape.fits(reply)),
            _ => false,
        }
    }
}

/// What may stand behind an element of an array.
const BETWEEN: &str = "\",\" or \"]\"";

/// Deeper arrays are no reply that a person declares, and would take the stack of the thread.
fn enter(depth: usize, at: Position) -> Result<(), ContractError> {
    if depth >= 32 { Err(at.error("arrays are nested too deeply")) } else { Ok(()) }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Any => f.write_str("any"),
            Shape::Nil => f.write_str("nil"),
            Shape::Int(i64::MIN, i64::MAX) => f.write_str("int"),
            Shape::Int(min, max) if min == max => write!(f, "{min}"),
            Shape::Int(min, max) => write!(f, "int({min}, {max})"),
            Shape::Bulk(None) => f.write_str("bytes"),
            Shape::Bulk(Some(text)) => f.write_str(&quote(text)),
            Shape::Status(None) => f.write_str("status"),
            Shape::Status(Some(text)) => write!(f, "status {}", quote(text)),
            Shape::Array(shapes) => write!(f, "[{}]", join(shapes, ", ")),
            Shape::List(shape) => write!(f, "[{shape}...]"),
            Shape::OneOf(shapes) => f.write_str(&join(shapes, " | ")),
        }
    }
}

fn join(items: &[impl std::fmt::Display], between: &str) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(between)
}

/// The reply that a case promises.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Promise {
    /// An error with this text; nothing changes.
    Error(Vec<u8>),
    Any,
    Status(Vec<u8>),
    Value(Expr),
    Array(Vec<Promise>),
}

/// The promised reply of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expected {
    Any,
    Nil,
    Int(i128),
    Bulk(Vec<u8>),
    Status(Vec<u8>),
    Array(Vec<Expected>),
}

impl Promise {
    pub(super) fn parse(parser: &mut Parser<'_, '_>, depth: usize) -> Result<Promise, ContractError> {
        if parser.cursor.takes("[") {
            enter(depth, parser.cursor.position())?;
            let mut items = Vec::new();
            while !parser.cursor.takes("]") {
                if !items.is_empty() {
                    parser.cursor.expect_one_of(BETWEEN, ",")?;
                }
                items.push(Promise::parse(parser, depth + 1)?);
            }
            return Ok(Promise::Array(items));
        }
        if depth == 0 && parser.cursor.takes_word("error") {
            return Ok(Promise::Error(parser.cursor.error_text()?));
        }
        if parser.cursor.takes_word("any") {
            return Ok(Promise::Any);
        }
        if parser.cursor.takes_word("status") {
            return Ok(Promise::Status(parser.cursor.text("the text of the status in quotes")?));
        }
        Ok(Promise::Value(parser.value()?.0))
    }
    /// What it comes to in a call; None where an integer overflows or is divided by 0.
    pub(super) fn expected(&self, facts: &Facts<'_>) -> Option<Expected> {
        Some(match self {
            // Found before a run, which is then none.
            Promise::Error(_) => return None,
            Promise::Any => Expected::Any,
            Promise::Status(text) => Expected::Status(text.clone()),
            Promise::Array(items) => {
                Expected::Array(items.iter().map(|item| item.expected(facts)).collect::<Option<_>>()?)
            }
            Promise::Value(expr) => match expr.eval(facts, None)? {
                Datum::Int(value) => Expected::Int(value),
                Datum::Text(text) => Expected::Bulk(text.into_owned()),
                Datum::Nil => Expected::Nil,
                Datum::Bool(_) | Datum::Other => return None,
            },
        })
    }
}

impl Expected {
    pub(super) fn is(&self, reply: ReplyRef<'_>) -> bool {
        match (self, reply) {
            (Expected::Any, _) | (Expected::Nil, ReplyRef::Nil | ReplyRef::NilArray) => true,
            (Expected::Int(value), ReplyRef::Int(found)) => *value == i128::from(found),
            (Expected::Bulk(text), ReplyRef::Bulk(found)) => text == found,
            (Expected::Status(text), ReplyRef::Status(found)) => text == found,
            (Expected::Array(items), ReplyRef::Array(found)) => {
                items.len() == found.len() && items.iter().zip(found).all(|(item, found)| item.is(found))
            }
            _ => false,
        }
    }
}

/// A reply as a contract would write it.
pub(super) struct Shown<'a>(pub(super) ReplyRef<'a>);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ReplyRef::Int(value) => write!(f, "{value}"),
            ReplyRef::Nil | ReplyRef::NilArray => f.write_str("nil"),
            ReplyRef::Bulk(text) => f.write_str(&quote(text)),
            ReplyRef::Status(text) => write!(f, "status {}", quote(text)),
            ReplyRef::Error(text) => write!(f, "error {}", quote(text)),
            ReplyRef::Array(items) => write!(f, "[{}]", join(&items.map(Shown).collect::<Vec<_>>(), ", ")),
            other => write!(f, "{other:?}"),
        }
    }
}

/// In the notation of [`Shown`].
impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::Any => f.write_str("any"),
            Expected::Nil => f.write_str("nil"),
            Expected::Int(value) => write!(f, "{value}"),
            Expected::Bulk(text) => f.write_str(&quote(text)),
            Expected::Status(text) => write!(f, "status {}", quote(text)),
            Expected::Array(items) => write!(f, "[{}]", join(items, ", ")),
        }
    }
}
