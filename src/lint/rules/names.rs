//! Rules about what a script names: its keys, its globals, the places of `KEYS` and `ARGV`.

use super::super::Rule;
use super::super::facts::Script;
use super::Findings;
use crate::syntax::tree::{Expr, Kind, Stmt, each_statement};

/// `undeclared-key`: a key of a command that is made of texts, or is an argument or a reply.
pub(super) fn undeclared_keys(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    let Some(command) = script.command_here(expr) else { return };
    for key in command.keys() {
        let origin = script.origin(key);
        let is_made = || {
            ["string.format", "tostring"].iter().any(|function| script.call_of(origin, function).is_some())
        };
        let what = match &origin.kind {
            Kind::Text(text) => format!("the key {:?} stands in the script", String::from_utf8_lossy(text)),
            Kind::Number(..) => "the key is a number of the script".into(),
            Kind::Binary("..", ..) => "the key is joined from texts".into(),
            _ if is_made() => "the key is made of texts".into(),
            _ if script.is_element(origin, "ARGV") => "the key is an argument".into(),
            _ if script.is_text(origin) && !script.is_element(origin, "KEYS") => {
                "the key is what a command answered".into()
            }
            _ => continue,
        };
        let mend = "pass it in KEYS, so that a cluster can route the script by it";
        found.add(Rule::UndeclaredKey, key, what, mend);
    }
}

/// What scripts find.
const GLOBALS: &str = "KEYS ARGV _G _VERSION assert bit cjson cmsgpack collectgarbage coroutine error gcinfo getmetatable \
    ipairs load loadstring math next pairs pcall rawequal rawget rawset redis select setmetatable string struct table \
    tonumber tostring type unpack xpcall";

fn is_known(script: &Script<'_>, name: &str) -> bool {
    let is_argument = name == "KEYS" || name == "ARGV";
    GLOBALS.split_ascii_whitespace().any(|known| known == name) && !(script.is_library && is_argument)
}

/// `global`: reading one that is not there.
pub(super) fn globals(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    let Kind::Global(name) = &expr.kind else { return };
    if is_known(script, name) {
        return;
    }
    let mend = match &name[..] {
        "KEYS" | "ARGV" => "a function gets its keys and arguments as parameters".to_owned(),
        "os" | "io" | "print" | "require" | "dofile" => {
            format!("scripts have no {name}; the time is redis.call('TIME'), a log redis.log")
        }
        _ => format!("declare it: local {name}"),
    };
    found.add(Rule::Global, expr, format!("there is no global {name:?}, the server raises an error"), mend);
}

/// `global`: setting one.
pub(super) fn assigned_globals(script: &Script<'_>, found: &mut Findings) {
    each_statement(&script.chunk.body, &mut |statement| {
        let Stmt::Assign(targets, _) = statement else { return };
        for target in targets {
            let name = match &target.kind {
                // One that is not known was told where it stands.
                Kind::Global(name) if is_known(script, name) => name,
                Kind::Index(table, _) => match &script.origin(table).kind {
                    Kind::Global(name) if is_known(script, name) && name != "KEYS" && name != "ARGV" => name,
                    _ => continue,
                },
                _ => continue,
            };
            let what = format!("the global {name:?} is changed, the server raises an error");
            found.add(Rule::Global, target, what, "keep what changes in a local");
        }
    });
}

/// `arity`: a place of `KEYS` or `ARGV` that no call has.
pub(super) fn arity(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    let Kind::Index(table, index) = &expr.kind else { return };
    let (Kind::Global(list), Kind::Number(index, _)) =
        (&script.origin(table).kind, &script.origin(index).kind)
    else {
        return;
    };
    let declared = match (&list[..], script.contract) {
        ("KEYS", contract) => contract.map(|contract| contract.keys().len()),
        ("ARGV", contract) => contract.map(|contract| contract.args().len()),
        _ => return,
    };
    if *index < 1.0 || index.fract() != 0.0 {
        let what = format!("{list}[{index}] is always nil");
        return found.add(Rule::Arity, expr, what, format!("the first one is {list}[1]"));
    }
    if let Some(declared) = declared.filter(|declared| *index > *declared as f64) {
        let what = format!("{list}[{index}] is beyond the {declared} that the contract declares");
        let clause = if list == "KEYS" { "a key" } else { "an argv" };
        found.add(Rule::Arity, expr, what, format!("declare it with {clause} clause, or take another one"));
    }
}
