//! Rules about what a script names: its keys, its globals, the places of `KEYS` and `ARGV`.

use super::super::Rule;
use super::super::facts::Script;
use super::Findings;
use crate::syntax::tree::{Expr, Kind, Stmt, each_statement};

/// Commands that reach keys by themselves, and what they do to them.
const REACHING: [(&str, &str); 6] = [
    ("flushall", "removes"),
    ("flushdb", "removes"),
    ("swapdb", "moves"),
    ("keys", "finds"),
    ("scan", "finds"),
    ("randomkey", "finds"),
];

/// `undeclared-key`: a key of a command that is made of texts, or is an argument or a reply; keys that a command reaches
/// by itself.
pub(super) fn undeclared_keys(script: &Script<'_>, expr: &Expr, found: &mut Findings) {
    let Some(command) = script.command_here(expr) else { return };
    for key in command.keys() {
        if let Some(what) = undeclared(script, key) {
            let mend = "pass it in KEYS, so that a cluster can route the script by it";
            found.add(Rule::UndeclaredKey, key, what, mend);
        }
    }
    let mend = "pass them in KEYS, so that a cluster can route the script by them";
    if let Some((name, does)) = REACHING.iter().find(|(name, _)| *name == command.name) {
        let what = format!("{} {does} keys that are not in KEYS", name.to_ascii_uppercase());
        found.add(Rule::UndeclaredKey, expr, what, mend);
    }
    if matches!(&command.name[..], "sort" | "sort_ro") {
        for option in ["by", "get"] {
            for pattern in command.behind(option).into_iter().filter(|pattern| is_pattern(script, pattern)) {
                let what =
                    format!("SORT with {} reads keys that are not in KEYS", option.to_ascii_uppercase());
                found.add(Rule::UndeclaredKey, pattern, what, mend);
            }
        }
    }
}

/// What is wrong with a key, where it is none of `KEYS` as far as the text tells.
fn undeclared(script: &Script<'_>, key: &Expr) -> Option<String> {
    if !script.may_look() {
        return None;
    }
    let origin = script.origin(key);
    let is_made =
        || ["string.format", "tostring"].iter().any(|function| script.call_of(origin, function).is_some());
    Some(match &origin.kind {
        Kind::Binary("or", left, right) => {
            return undeclared(script, left).or_else(|| undeclared(script, right));
        }
        Kind::Binary("and", _, right) => return undeclared(script, right),
        Kind::Text(text) => format!("the key {:?} stands in the script", String::from_utf8_lossy(text)),
        Kind::Number(..) => "the key is a number of the script".into(),
        Kind::Binary("..", ..) => "the key is joined from texts".into(),
        _ if is_made() => "the key is made of texts".into(),
        _ if script.is_element(origin, "ARGV") => "the key is an argument".into(),
        _ if script.is_text(origin) && !script.is_element(origin, "KEYS") => {
            "the key is what a command answered".into()
        }
        _ => return None,
    })
}

/// Whether a text has a `*`, for which SORT puts each element.
fn is_pattern(script: &Script<'_>, pattern: &Expr) -> bool {
    let mut found = false;
    script.origin(pattern).each(&mut |part| {
        found |= matches!(&script.origin(part).kind, Kind::Text(text) if text.contains(&b'*'));
    });
    found
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
    // The most that a call may have.
    let declared = match (&list[..], script.contract) {
        ("KEYS", contract) => contract.map(|contract| contract.key_counts().1),
        ("ARGV", contract) => contract.map(|contract| contract.arg_counts().1),
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
