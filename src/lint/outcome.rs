//! What a condition tells of the writes before it: in the branch where one was answered that it wrote nothing (`SETNX` with 0,
//! `redis.pcall` with an `err`), it counts for none.

use super::facts::{Command, Script, is_among};
use crate::syntax::Place;
use crate::syntax::tree::{Expr, Kind};
use std::collections::BTreeSet;

/// Commands that answer 0 where they wrote nothing.
const COUNTS: &str = " del unlink setnx msetnx hsetnx sadd srem smove hdel expire pexpire expireat pexpireat persist zrem \
    zremrangebyrank zremrangebyscore zremrangebylex lpushx rpushx lrem linsert xdel xtrim xack xgroup move copy renamenx pfadd ";
/// Those of them that answer 0 or 1, and those that do when they have one element, of so many words.
const FLAGS: &str =
    " setnx msetnx hsetnx smove expire pexpire expireat pexpireat persist move copy renamenx pfadd ";
const SINGLE: [(&str, usize); 8] =
    [("del", 2), ("unlink", 2), ("sadd", 3), ("srem", 3), ("hdel", 3), ("zrem", 3), ("xdel", 3), ("xack", 4)];
/// Conditions beyond so many in each other tell nothing.
const DEPTH_MAX: u32 = 64;

/// Writes, by the places of their calls, that wrote nothing when a condition is true, and when it is not.
#[derive(Default)]
pub(super) struct Nothing {
    pub(super) when_true: BTreeSet<Place>,
    pub(super) when_false: BTreeSet<Place>,
}

impl Nothing {
    fn when(truth: bool, place: Place) -> Self {
        let places = BTreeSet::from([place]);
        match truth {
            true => Nothing { when_true: places, when_false: BTreeSet::new() },
            false => Nothing { when_true: BTreeSet::new(), when_false: places },
        }
    }
    fn reversed(self) -> Self {
        Nothing { when_true: self.when_false, when_false: self.when_true }
    }
    fn both(self, other: Self) -> Self {
        Nothing {
            when_true: &self.when_true | &other.when_true,
            when_false: &self.when_false & &other.when_false,
        }
    }
}

/// What a condition tells.
pub(super) fn told_by(script: &Script<'_>, condition: &Expr) -> Nothing {
    tells(script, condition, DEPTH_MAX)
}

fn tells(script: &Script<'_>, condition: &Expr, depth: u32) -> Nothing {
    let origin = script.origin(condition);
    let Some(depth) = depth.checked_sub(1) else { return Nothing::default() };
    match &origin.kind {
        Kind::Unary("not", inner) => tells(script, inner, depth).reversed(),
        Kind::Binary("and", left, right) => tells(script, left, depth).both(tells(script, right, depth)),
        Kind::Binary("or", left, right) => {
            let (left, right) = (tells(script, left, depth), tells(script, right, depth));
            left.reversed().both(right.reversed()).reversed()
        }
        Kind::Binary("~=", left, right) => equality(script, left, right).reversed(),
        Kind::Binary("==", left, right) => equality(script, left, right),
        Kind::Binary(sign @ ("<" | "<=" | ">" | ">="), left, right) => order(script, sign, left, right),
        _ => truth(script, origin),
    }
}

/// A value that is a condition itself: a reply that may be false, or its `err` or `ok`.
fn truth(script: &Script<'_>, origin: &Expr) -> Nothing {
    if let Some(place) = failed(script, origin, b"err") {
        return Nothing::when(true, place);
    }
    if let Some(place) = failed(script, origin, b"ok") {
        return Nothing::when(false, place);
    }
    match script.command(origin) {
        Some(command) if is_false_for_nothing(&command) => Nothing::when(false, origin.place),
        _ => Nothing::default(),
    }
}

/// `value == other`.
fn equality(script: &Script<'_>, left: &Expr, right: &Expr) -> Nothing {
    for (value, other) in [(left, right), (right, left)] {
        let (value, other) = (script.origin(value), script.origin(other));
        match &other.kind {
            Kind::Bool | Kind::Nil => {
                // Which of the two words it is the tree does not tell; nobody compares what is answered with true.
                return truth(script, value).reversed();
            }
            Kind::Text(text) => {
                if let Some(place) = failed(script, value, b"ok") {
                    return Nothing::when(false, place);
                }
                if let Some(nothing) = type_of(script, value, text) {
                    return nothing;
                }
            }
            Kind::Number(number, _) => {
                let Some((place, command)) = counted(script, value) else { continue };
                if *number == 0.0 {
                    return Nothing::when(true, place);
                }
                if *number == 1.0 && is_flag(&command) {
                    return Nothing::when(false, place);
                }
            }
            _ => {}
        }
    }
    Nothing::default()
}

/// `value < other` and the like.
fn order(script: &Script<'_>, sign: &str, left: &Expr, right: &Expr) -> Nothing {
    let reversed = match sign {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        _ => "<=",
    };
    for (value, sign, bound) in [(left, sign, right), (right, reversed, left)] {
        let Kind::Number(bound, _) = script.origin(bound).kind else { continue };
        let Some((place, _)) = counted(script, value) else { continue };
        match sign {
            "<" if bound == 1.0 => return Nothing::when(true, place),
            "<=" if bound == 0.0 => return Nothing::when(true, place),
            ">" if bound == 0.0 => return Nothing::when(false, place),
            ">=" if bound == 1.0 => return Nothing::when(false, place),
            _ => {}
        }
    }
    Nothing::default()
}

/// The place of the command whose reply's `err`, or `ok`, this is.
fn failed(script: &Script<'_>, value: &Expr, field: &[u8]) -> Option<Place> {
    let Kind::Index(reply, key) = &value.kind else { return None };
    let is_field = matches!(&script.origin(key).kind, Kind::Text(text) if text == field);
    let reply = script.origin(reply);
    script.command(reply).filter(|_| is_field).map(|_| reply.place)
}

/// `type(value) == text`, of a command that answers a number: a table is its error.
fn type_of(script: &Script<'_>, value: &Expr, text: &[u8]) -> Option<Nothing> {
    let reply = script.origin(script.call_of(value, "type")?.first()?);
    if !script.is_number(reply) {
        return None;
    }
    script.command(reply)?;
    match text {
        b"table" => Some(Nothing::when(true, reply.place)),
        b"number" => Some(Nothing::when(false, reply.place)),
        _ => None,
    }
}

/// A reply, as a number or not, of a command that answers 0 when it wrote nothing.
fn counted<'a>(script: &'a Script<'_>, value: &'a Expr) -> Option<(Place, Command<'a>)> {
    let value = script.call_of(value, "tonumber").and_then(|arguments| arguments.first()).unwrap_or(value);
    let origin = script.origin(value);
    let command = script.command(origin)?;
    let counts = match &command.name[..] {
        "zadd" | "geoadd" => command.has_word("nx") || command.has_word("ch"),
        name => is_among(COUNTS, name),
    };
    counts.then_some((origin.place, command))
}

/// Whether it answers 0 or 1 only.
fn is_flag(command: &Command<'_>) -> bool {
    is_among(FLAGS, &command.name)
        || SINGLE.contains(&(&command.name, command.words.len()))
        || (command.name == "zadd" && command.words.len() == 5 && command.has_word("nx"))
}

/// Whether it is false, or there is no reply, only where it wrote nothing. What a key held before may be none.
fn is_false_for_nothing(command: &Command<'_>) -> bool {
    match &command.name[..] {
        "getset" => false,
        "set" => !command.has_word("get"),
        _ => command.writes(),
    }
}
