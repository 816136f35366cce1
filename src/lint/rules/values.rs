//! Rules about values: numbers that lose digits, replies that are never nil, texts that are no numbers.

use super::super::Rule;
use super::super::facts::Script;
use super::Findings;
use crate::syntax::tree::{Expr, Kind};

/// Up to here each integer is a number of Lua's.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// `precision`: numbers beyond what Lua's have digits for.
pub(super) fn precision(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    match &expr.kind {
        Kind::Number(_, true) => {
            let what = "the number is beyond 2^53 and loses its last digits".to_owned();
            found.add(Rule::Precision, expr, what, "keep it as a text, or let a command count (INCRBY)");
        }
        Kind::Binary("*", left, right) => {
            let times = |one: &Expr, other: &Expr| {
                is_seconds(script, one)
                    && matches!(script.origin(other).kind, Kind::Number(value, _) if value >= 1e7)
            };
            if times(left, right) || times(right, left) {
                let what = "the time in such a unit is beyond 2^53 and loses its last digits";
                found.add(Rule::Precision, expr, what, "count in milliseconds or microseconds");
            }
        }
        Kind::Binary("..", left, right) => {
            [left, right].into_iter().for_each(|part| time_as_text(script, part, found));
        }
        Kind::Call(_, None, arguments) => {
            if script.call_of(expr, "tostring").is_some() {
                arguments.iter().for_each(|argument| time_as_text(script, argument, found));
            }
            if script.call_of(expr, "tonumber").is_some() && arguments.len() == 1 {
                large_id(script, expr, &arguments[0], found);
            }
        }
        _ => {}
    }
}

/// Whether an expression is the seconds that TIME answers, as a text or a number.
fn is_seconds(script: &Script<'_>, expr: &Expr) -> bool {
    let inner = script.call_of(expr, "tonumber").and_then(|arguments| arguments.first()).unwrap_or(expr);
    match &script.origin(inner).kind {
        Kind::Index(table, index) => {
            script.command(table).is_some_and(|command| command.name == "time")
                && matches!(script.origin(index).kind, Kind::Number(1.0, _))
        }
        _ => false,
    }
}

/// Whether an expression is a time in microseconds, of 16 digits.
fn is_microseconds(script: &Script<'_>, expr: &Expr) -> bool {
    if !script.may_look() {
        return false;
    }
    match &script.origin(expr).kind {
        Kind::Binary("+" | "-", left, right) => {
            is_microseconds(script, left) || is_microseconds(script, right)
        }
        Kind::Binary("*", left, right) => {
            let times = |one: &Expr, other: &Expr| {
                is_seconds(script, one)
                    && matches!(script.origin(other).kind, Kind::Number(value, _) if value >= 1e6)
            };
            times(left, right) || times(right, left)
        }
        _ => false,
    }
}

fn time_as_text(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    if is_microseconds(script, expr) {
        let what = "a number becomes text with 14 digits, a time in microseconds has 16";
        found.add(Rule::Precision, expr, what, "write string.format('%.0f', ...)");
    }
}

/// A text that is called an id is often a number of more digits than Lua's have.
fn large_id(script: &Script<'_>, call: &Expr, argument: &Expr, found: &mut Findings) {
    let mut name = match &argument.kind {
        Kind::Local(id) => script.chunk.locals.get(*id).map(|local| local.name.clone()),
        _ => None,
    };
    if let (Some(contract), Some(at)) = (script.contract, argument_number(script, argument)) {
        match contract.greatest(at) {
            Some(greatest) if greatest as f64 <= EXACT => return,
            Some(_) => {
                let what = "the contract lets this be greater than 2^53";
                return found.add(
                    Rule::Precision,
                    call,
                    what,
                    "bound it by 9007199254740991, or keep it as a text",
                );
            }
            None => name = name.or_else(|| contract.args().nth(at).map(str::to_owned)),
        }
    }
    let is_id = |name: &String| {
        ["_id", "Id", "ID"].iter().any(|end| name.ends_with(end)) || name.eq_ignore_ascii_case("id")
    };
    if let Some(name) = name.filter(is_id) {
        let what = format!("{name} becomes a number, and an id beyond 2^53 another one");
        found.add(Rule::Precision, call, what, "compare ids as texts, or bound them in the contract");
    }
}

/// The number, from 0, of the argument that an expression is.
fn argument_number(script: &Script<'_>, expr: &Expr) -> Option<usize> {
    let Kind::Index(_, index) = &script.origin(expr).kind else { return None };
    match script.origin(index).kind {
        Kind::Number(index, _) if index >= 1.0 && script.is_element(expr, "ARGV") => Some(index as usize - 1),
        _ => None,
    }
}

/// `nil-reply`: comparing what a command answered with nil.
pub(super) fn nil_replies(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    let Kind::Binary("==" | "~=", left, right) = &expr.kind else { return };
    for (value, other) in [(left, right), (right, left)] {
        let is_nil = matches!(script.origin(other).kind, Kind::Nil);
        let is_element =
            || script.element_of(value).is_some_and(|of| matches!(&of.name[..], "mget" | "hmget"));
        if is_nil && (script.command(value).is_some() || is_element()) && !speaks_resp3(script) {
            let what = "a reply is never nil: what is not there is false";
            found.add(Rule::NilReply, expr, what, "compare with false, or write `not`");
        }
    }
}

/// Whether the script asks for RESP3, in which a null is nil.
fn speaks_resp3(script: &Script<'_>) -> bool {
    *script.speaks_resp3.get_or_init(|| {
        let mut found = false;
        crate::syntax::tree::each_expression(&script.chunk.body, &mut |expr| {
            found |= matches!(expr.kind, Kind::Call(..)) && script.call_of(expr, "redis.setresp").is_some();
        });
        found
    })
}

/// `not-a-number`: comparing a text with a number, or arguments with each other.
pub(super) fn not_numbers(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    let Kind::Binary(sign, left, right) = &expr.kind else { return };
    let is_ordered = matches!(*sign, "<" | "<=" | ">" | ">=");
    if !is_ordered && !matches!(*sign, "==" | "~=") {
        return;
    }
    let mend = "write tonumber(...)";
    for (text, other) in [(left, right), (right, left)] {
        if script.is_text(text) && script.is_number(other) {
            let what = match is_ordered {
                true => "a text is compared with a number, which raises an error",
                false => "a text is compared with a number, which it never equals",
            };
            return found.add(Rule::NotANumber, expr, what, mend);
        }
    }
    if is_ordered && script.is_text(left) && script.is_text(right) {
        found.add(
            Rule::NotANumber,
            expr,
            "texts are compared byte by byte: \"9\" is greater than \"10\"",
            mend,
        );
    }
}
