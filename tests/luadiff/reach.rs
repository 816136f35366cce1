//! What a run reached: rules of the grammar and commands, by name, and the error texts that came back.

use super::grammar;
use super::texts::commands;
use crate::support::wire::Wire;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

#[derive(Default)]
pub(crate) struct Reach {
    rules: BTreeMap<&'static str, u64>,
    commands: BTreeMap<&'static str, u64>,
    errors: BTreeMap<String, u64>,
}

/// More texts than this are chance: the programs make some up themselves.
const ERRORS_SHOWN: usize = 400;

/// Error texts that a long run has to meet, as `shape` writes them.
pub(crate) const TEXTS: &[&str] = &[
    "attempt to index a nil value",
    "attempt to index a number value",
    "attempt to index a boolean value",
    "attempt to index local '' (",
    "attempt to index upvalue '' (",
    "attempt to index field '' (",
    "attempt to index global '' (",
    "attempt to call a nil value",
    "attempt to call a table value",
    "attempt to call local '' (",
    "attempt to call upvalue '' (",
    "attempt to call field '' (",
    "attempt to call method '' (",
    "attempt to perform arithmetic on a nil value",
    "attempt to perform arithmetic on a table value",
    "attempt to perform arithmetic on local '' (",
    "attempt to perform arithmetic on upvalue '' (",
    "attempt to perform arithmetic on field '' (",
    "attempt to concatenate a nil value",
    "attempt to concatenate local '' (",
    "attempt to concatenate upvalue '' (",
    "attempt to compare two table values",
    "attempt to compare two nil values",
    "attempt to compare number with string",
    "attempt to compare string with nil",
    "attempt to get length of",
    "'' initial value must be a number",
    "'' limit must be a number",
    "'' step must be a number",
    "table index is nil",
    "table index is NaN",
    "bad argument # to '' (number expected, got",
    "bad argument # to '' (string expected, got",
    "bad argument # to '' (table expected, got",
    "bad argument # to '' (function expected, got",
    "bad argument # to '' (value expected)",
    "bad argument # to '' (nil or table expected)",
    "bad argument # to '' (base out of range)",
    "bad argument # to '' (index out of range)",
    "bad argument # to '' (interval is empty)",
    "bad argument # to '' (invalid value)",
    "bad argument # to '' (invalid option '')",
    "bad argument # to '' (coroutine expected)",
    "bad argument # to '' (Lua function expected)",
    "bad argument # to '' (string/function/table expected)",
    "wrong number of arguments",
    "assertion failed!",
    "cannot resume dead coroutine",
    "attempt to yield across metamethod/C-call boundary",
    "cannot change a protected metatable",
    "invalid key to ''",
    "'' is obsolete",
    "unable to dump given function",
    "invalid value (nil) at index # in table for ''",
    "invalid value (table) at index # in table for ''",
    "invalid order function for sorting",
    "too many results to unpack",
    "malformed pattern (ends with '')",
    "malformed pattern (missing '')",
    "unfinished capture",
    "invalid pattern capture",
    "invalid capture index",
    "missing '' after '' in pattern",
    "unbalanced pattern",
    "invalid replacement value (a",
    "invalid option '' to ''",
    "invalid format (width or precision too long)",
    "invalid format (repeated flags)",
    "reader function must return a string",
    "C stack overflow",
    "unexpected symbol near",
    "'' expected near",
    "'' expected (to close '' at line #) near",
    "<name> or '' expected near",
    "malformed number near",
    "unfinished string near",
    "unfinished long string near",
    "unfinished long comment near",
    "invalid long string delimiter near",
    "escape sequence too large near",
    "syntax error near",
    "ambiguous syntax (function call x new statement",
    "cannot use '' outside a vararg function near",
    "no loop to break near",
    "function arguments expected near",
    "unexpected symbol",
    "Script attempted to access nonexistent global variable ''",
    "Attempt to modify a readonly table",
    "This Redis command is not allowed from script",
    "Unknown Redis command called from script",
    "Wrong number of args calling Redis command from script",
    "Lua redis lib command arguments must be strings or integers",
    "Please specify at least one argument for this redis lib call",
    "Write commands are not allowed from read-only scripts.",
    "Can not execute a script with write flag using *_ro command.",
    "WRONGTYPE Operation against a key",
    "value is not an integer or out of range",
    "value is not a valid float",
    "increment would produce NaN or Infinity",
    "syntax error",
    "RESP version must be # or #.",
    "redis.setresp() requires one argument.",
    "redis.set_repl() requires two arguments.",
    "Invalid replication flags.",
    "redis.log() requires two arguments or more.",
    "First argument must be a number (log level).",
    "Invalid debug level.",
    "Invalid command passed to redis.acl_check_cmd()",
    "wrong number or type of arguments",
    "Unexpected engine in script shebang",
    "Unexpected flag in script shebang",
    "Unknown lua shebang option",
    "Invalid engine in script shebang",
    "NOSCRIPT No matching script.",
    "Cannot serialise",
    "Expected value but found",
    "excessively sparse array",
];

impl Reach {
    pub(crate) fn note(&mut self, tags: &[&'static str], replies: &[Wire]) {
        let commands: BTreeSet<&str> = commands().iter().map(|(name, _)| *name).collect();
        for tag in tags {
            let counts = if commands.contains(tag) { &mut self.commands } else { &mut self.rules };
            *counts.entry(tag).or_default() += 1;
        }
        replies.iter().for_each(|reply| self.note_errors(reply));
    }

    fn note_errors(&mut self, reply: &Wire) {
        match reply {
            Wire::Error(text) => self.note_error(text),
            Wire::Bulk(text) => {
                let starts = [&b"false;\""[..], b"true;nil;\"", b"true;false;\""];
                if let Some(text) = starts.iter().find_map(|start| text.strip_prefix(*start)) {
                    self.note_error(text.strip_suffix(b"\"").unwrap_or(text));
                }
            }
            other => other.items().iter().for_each(|item| self.note_errors(item)),
        }
    }

    fn note_error(&mut self, text: &[u8]) {
        let shape = shape(&String::from_utf8_lossy(text));
        if self.errors.len() < 20_000 || self.errors.contains_key(&shape) {
            *self.errors.entry(shape).or_default() += 1;
        }
    }

    /// Rules, commands and texts met less often than that.
    pub(crate) fn rarer_than(&self, least: u64) -> Vec<String> {
        let all: BTreeSet<&str> = all_rules();
        let rules = all.iter().filter(|name| self.rules.get(*name).copied().unwrap_or(0) < least);
        let commands = commands().iter().map(|(name, _)| name);
        let commands = commands.filter(|name| self.commands.get(*name).copied().unwrap_or(0) < least);
        rules.chain(commands).map(ToString::to_string).collect()
    }

    /// Texts of the list that were met less often than that.
    pub(crate) fn texts_rarer_than(&self, least: u64) -> Vec<&'static str> {
        let met = |text: &str| {
            self.errors.iter().filter(|(shape, _)| shape.contains(text)).map(|(_, n)| n).sum::<u64>()
        };
        TEXTS.iter().filter(|text| met(text) < least).copied().collect()
    }

    pub(crate) fn summary(&self) -> String {
        let (rules, commands) = (self.rules.len(), self.commands.len());
        format!("{rules} rules, {commands} commands, {} error texts", self.errors.len())
    }

    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        for (title, counts) in [("rules", &self.rules), ("commands", &self.commands)] {
            let _ = writeln!(text, "== {title}");
            for (name, count) in counts {
                let _ = writeln!(text, "{count:9}  {name}");
            }
        }
        let mut errors: Vec<_> = self.errors.iter().collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let _ = writeln!(text, "== error texts ({} in all)", errors.len());
        for (shape, count) in errors.iter().take(ERRORS_SHOWN) {
            let _ = writeln!(text, "{count:9}  {shape}");
        }
        text
    }
}

fn all_rules() -> BTreeSet<&'static str> {
    let tables = [
        grammar::TABLES,
        grammar::OPERATORS,
        grammar::NUMBER_RULES,
        grammar::TEXT_RULES,
        grammar::BOOLEAN_RULES,
        grammar::FUNCTION_RULES,
        grammar::EVENTS,
        grammar::CALLS,
        grammar::STATEMENTS,
    ];
    tables.concat().iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect()
}

/// An error text without what varies: places, numbers, names.
pub(crate) fn shape(text: &str) -> String {
    let text = text.split(" script: ").next().unwrap_or(text);
    let mut out = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' | '`' => {
                quoted = !quoted;
                out.push('\'');
            }
            _ if quoted => {}
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out.replace("user_script:#: ", "").chars().take(90).collect()
}
