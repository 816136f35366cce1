//! The rule about orders that nothing decides: what a hash table or a set gives comes in another order elsewhere.

use super::super::Rule;
use super::super::facts::Script;
use super::Findings;
use crate::syntax::Place;
use crate::syntax::tree::{Block, Expr, Kind, LocalId, Stmt, each_expression, each_statement};
use std::collections::BTreeMap;

/// Commands whose reply has no order.
const UNORDERED: &str = " smembers sinter sunion sdiff keys hkeys hvals hgetall scan sscan hscan ";

/// `unordered`: a reply that hangs on such an order.
pub(super) fn unordered(script: &Script<'_>, found: &mut Findings) {
    let mut filled = BTreeMap::new();
    each_statement(&script.chunk.body, &mut |statement| {
        if let Stmt::ForIn(values, body) = statement
            && let Some(source) = values.first().and_then(|value| loop_source(script, value))
        {
            note_filled(script, body, &source, &mut filled);
        }
    });
    let sorted = sorted_locals(script);
    let look = &mut |expr: &Expr| {
        let is_sorted = |id: &LocalId| sorted.contains(id);
        if let Kind::Local(id) = &expr.kind {
            if is_sorted(id) {
                return;
            }
            if let Some((source, place)) = filled.get(id) {
                let what = format!(
                    "the reply has the order of {source} (line {}), which nothing decides",
                    place.line
                );
                return found.add(Rule::Unordered, expr, what, "sort it with table.sort");
            }
        }
        if let Some(source) = unordered_command(script, expr) {
            let what = format!("the reply has the order of {source}, which nothing decides");
            found.add(Rule::Unordered, expr, what, "sort it with table.sort, or read a list or sorted set");
        }
    };
    for returned in results(script) {
        passed_on(script, returned, look);
    }
}

/// What scripts reply: the values that the script, or the functions of a library, return.
fn results<'a>(script: &'a Script<'_>) -> Vec<&'a Expr> {
    let mut all = Vec::new();
    if script.is_library {
        each_statement(&script.chunk.body, &mut |statement| {
            if let Stmt::Return(values) = statement {
                all.extend(values);
            }
        });
    } else {
        own_results(&script.chunk.body, &mut all);
    }
    all
}

/// Those that the block itself returns, not functions in it.
fn own_results<'a>(block: &'a Block, all: &mut Vec<&'a Expr>) {
    for statement in block {
        if let Stmt::Return(values) = statement {
            all.extend(values);
        }
        statement.blocks().into_iter().for_each(|inner| own_results(inner, all));
    }
}

/// The values whose order is that of what is returned: the value, elements of a table, what is joined or encoded.
fn passed_on<'a>(script: &'a Script<'_>, expr: &'a Expr, look: &mut dyn FnMut(&Expr)) {
    look(expr);
    match &expr.kind {
        Kind::Paren(inner) => passed_on(script, inner, look),
        Kind::Table(fields) => fields.iter().for_each(|(_, value)| passed_on(script, value, look)),
        Kind::Call(..) => {
            for function in ["table.concat", "cjson.encode", "cmsgpack.pack", "unpack"] {
                let arguments = script.call_of(expr, function).into_iter().flatten();
                arguments.take(1).for_each(|argument| passed_on(script, argument, look));
            }
        }
        _ => {}
    }
}

fn unordered_command(script: &Script<'_>, expr: &Expr) -> Option<String> {
    let command = script.command(expr)?;
    let is_unordered = UNORDERED.split_ascii_whitespace().any(|name| name == command.name);
    is_unordered.then(|| command.name.to_ascii_uppercase())
}

/// What a loop goes through without an order: `pairs`, or an unsorted reply.
fn loop_source(script: &Script<'_>, value: &Expr) -> Option<String> {
    let over = |function| script.call_of(value, function).and_then(|arguments| arguments.first());
    if over("pairs").is_some() || matches!(&script.origin(value).kind, Kind::Global(name) if name == "next") {
        return Some("pairs".into());
    }
    let list = over("ipairs")?;
    let is_sorted = matches!(list.kind, Kind::Local(id) if sorted_locals(script).contains(&id));
    if is_sorted { None } else { unordered_command(script, list) }
}

/// Locals to which a loop's body appends.
fn note_filled(
    script: &Script<'_>,
    body: &Block,
    source: &str,
    filled: &mut BTreeMap<LocalId, (String, Place)>,
) {
    let mut note = |expr: &Expr| {
        if let Kind::Local(id) = expr.kind {
            filled.entry(id).or_insert_with(|| (source.to_owned(), expr.place));
        }
    };
    each_statement(body, &mut |statement| match statement {
        Stmt::Assign(targets, values) => {
            for (target, value) in targets.iter().zip(values) {
                match (&target.kind, &value.kind) {
                    (Kind::Index(table, key), _) if measures(key) => note(table),
                    (Kind::Local(_), Kind::Binary("..", ..)) => note(target),
                    _ => {}
                }
            }
        }
        Stmt::Call(call) => {
            if let Some([table, ..]) = script.call_of(call, "table.insert") {
                note(table);
            }
        }
        _ => {}
    });
}

/// Whether a key of a table hangs on how many elements there are: `#t + 1`.
fn measures(key: &Expr) -> bool {
    let mut found = false;
    key.each(&mut |part| found |= matches!(part.kind, Kind::Unary("#", _)));
    found
}

/// Locals that `table.sort` sorts somewhere.
fn sorted_locals(script: &Script<'_>) -> Vec<LocalId> {
    let mut all = Vec::new();
    each_expression(&script.chunk.body, &mut |expr| {
        if !matches!(expr.kind, Kind::Call(..)) {
            return;
        }
        if let Some([Expr { kind: Kind::Local(id), .. }, ..]) = script.call_of(expr, "table.sort") {
            all.push(*id);
        }
    });
    all
}
