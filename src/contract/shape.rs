//! Replies: the shape that all replies of a script have, and the one reply that a case promises.

use super::closures::{Answered, Closure, Promised};
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
    /// A reply or an error, and effects, in Rust.
    Closure(Closure<Option<Promised>>),
}

/// What a case promises as the reply of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromisedReply {
    /// Any reply.
    Any,
    /// A null.
    Nil,
    /// An integer.
    Int(i128),
    /// A bulk string.
    Bulk(Vec<u8>),
    /// A status, as `OK`.
    Status(Vec<u8>),
    /// An array of these.
    Array(Vec<PromisedReply>),
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
    /// The error that a call is answered.
    pub(super) fn refusal(&self, facts: &Facts<'_>) -> Option<Vec<u8>> {
        match self {
            Promise::Error(text) => Some(text.clone()),
            Promise::Closure(closure) => match closure.call(facts, None)?.answer {
                Answered::Error(text) => Some(text),
                Answered::Reply(_) => None,
            },
            _ => None,
        }
    }
    /// What it comes to in a call; None where an integer overflows or is divided by 0.
    pub(super) fn expected(&self, facts: &Facts<'_>) -> Option<PromisedReply> {
        Some(match self {
            // Found before a run, which is then none.
            Promise::Error(_) => return None,
            Promise::Any => PromisedReply::Any,
            Promise::Closure(closure) => match closure.call(facts, None)?.answer {
                Answered::Reply(reply) => reply,
                Answered::Error(_) => return None,
            },
            Promise::Status(text) => PromisedReply::Status(text.clone()),
            Promise::Array(items) => {
                PromisedReply::Array(items.iter().map(|item| item.expected(facts)).collect::<Option<_>>()?)
            }
            Promise::Value(expr) => match expr.eval(facts, None)? {
                Datum::Int(value) => PromisedReply::Int(value),
                Datum::Text(text) => PromisedReply::Bulk(text.into_owned()),
                Datum::Nil => PromisedReply::Nil,
                Datum::Bool(_) | Datum::Other => return None,
            },
        })
    }
}

impl PromisedReply {
    /// As a key or a field holds it; none of what is no text.
    pub(super) fn text(self) -> Option<Vec<u8>> {
        match self {
            PromisedReply::Int(value) => Some(value.to_string().into_bytes()),
            PromisedReply::Bulk(text) | PromisedReply::Status(text) => Some(text),
            PromisedReply::Any | PromisedReply::Nil | PromisedReply::Array(_) => None,
        }
    }
    pub(super) fn is(&self, reply: ReplyRef<'_>) -> bool {
        match (self, reply) {
            (PromisedReply::Any, _) | (PromisedReply::Nil, ReplyRef::Nil | ReplyRef::NilArray) => true,
            (PromisedReply::Int(value), ReplyRef::Int(found)) => *value == i128::from(found),
            (PromisedReply::Bulk(text), ReplyRef::Bulk(found)) => text == found,
            (PromisedReply::Status(text), ReplyRef::Status(found)) => text == found,
            (PromisedReply::Array(items), ReplyRef::Array(found)) => {
                items.len() == found.len() && items.iter().zip(found).all(|(item, found)| item.is(found))
            }
            _ => false,
        }
    }
}

macro_rules! promised {
    ($($ty:ty, $value:ident => $reply:expr;)*) => {
        $(impl From<$ty> for PromisedReply { fn from($value: $ty) -> Self { $reply } })*
    };
}
promised! {
    i32, value => PromisedReply::Int(value.into());
    i64, value => PromisedReply::Int(value.into());
    i128, value => PromisedReply::Int(value);
    u32, value => PromisedReply::Int(value.into());
    u64, value => PromisedReply::Int(value.into());
    usize, value => PromisedReply::Int(value as i128);
    &str, text => PromisedReply::Bulk(text.as_bytes().to_vec());
    String, text => PromisedReply::Bulk(text.into_bytes());
    &[u8], text => PromisedReply::Bulk(text.to_vec());
    Vec<u8>, text => PromisedReply::Bulk(text);
    (), _nil => PromisedReply::Nil;
}
impl<T: Into<PromisedReply>> From<Option<T>> for PromisedReply {
    fn from(value: Option<T>) -> Self {
        value.map_or(PromisedReply::Nil, Into::into)
    }
}
impl<T: Into<PromisedReply>, const N: usize> From<[T; N]> for PromisedReply {
    fn from(items: [T; N]) -> Self {
        PromisedReply::Array(items.into_iter().map(Into::into).collect())
    }
}
impl<A: Into<PromisedReply>, B: Into<PromisedReply>> From<(A, B)> for PromisedReply {
    fn from((a, b): (A, B)) -> Self {
        PromisedReply::Array(vec![a.into(), b.into()])
    }
}
impl<A: Into<PromisedReply>, B: Into<PromisedReply>, C: Into<PromisedReply>> From<(A, B, C)>
    for PromisedReply
{
    fn from((a, b, c): (A, B, C)) -> Self {
        PromisedReply::Array(vec![a.into(), b.into(), c.into()])
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

/// As the language of contracts writes it.
impl std::fmt::Display for PromisedReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PromisedReply::Any => f.write_str("any"),
            PromisedReply::Nil => f.write_str("nil"),
            PromisedReply::Int(value) => write!(f, "{value}"),
            PromisedReply::Bulk(text) => f.write_str(&quote(text)),
            PromisedReply::Status(text) => write!(f, "status {}", quote(text)),
            PromisedReply::Array(items) => write!(f, "[{}]", join(items, ", ")),
        }
    }
}
