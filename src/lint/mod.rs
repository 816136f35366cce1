//! What is wrong with a script before it runs: findings by rules, each with its place, what it is and how to mend it.
//! `facts` says where values come from, `outcome` which writes a condition denies, `rules` has one function a rule.

mod facts;
mod outcome;
mod rules;

use crate::contract::Contract;
use crate::syntax::{Allowed, Place, Source};
use crate::util::hasher::Set;
use facts::Script;
use std::fmt;

pub use crate::syntax::SyntaxError;

/// A kind of mistake in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A key that is made of texts, or is an argument, in place of one of `KEYS`: a cluster cannot route the script by it. So
    /// are those that a command reaches by itself: `FLUSHALL`, `SCAN`, `SORT ... BY`.
    UndeclaredKey,
    /// A global variable that is set, or read without being there: the server raises an error.
    Global,
    /// `KEYS` or `ARGV` beyond what the contract declares, or below 1.
    Arity,
    /// A reply in an order that nothing decides: of `pairs`, `SMEMBERS`, `KEYS`, `HGETALL` and the like, unsorted.
    Unordered,
    /// A number beyond 2^53, or of more digits than become text: it loses its last ones.
    Precision,
    /// A reply that is compared with `nil`: what is not there is `false`.
    NilReply,
    /// A text that is compared with a number, or texts of digits with each other, without `tonumber`.
    NotANumber,
    /// An error after a write, which stays. One that was answered to have written nothing is none.
    LateError,
    /// A `redis.pcall` whose error nobody looks at, with a write behind it.
    UncheckedError,
    /// A comment that allows what is no rule.
    UnknownRule,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 10] = [
        Rule::UndeclaredKey,
        Rule::Global,
        Rule::Arity,
        Rule::Unordered,
        Rule::Precision,
        Rule::NilReply,
        Rule::NotANumber,
        Rule::LateError,
        Rule::UncheckedError,
        Rule::UnknownRule,
    ];
    /// The rule's name, as in messages and in `-- lint: allow NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Rule::UndeclaredKey => "undeclared-key",
            Rule::Global => "global",
            Rule::Arity => "arity",
            Rule::Unordered => "unordered",
            Rule::Precision => "precision",
            Rule::NilReply => "nil-reply",
            Rule::NotANumber => "not-a-number",
            Rule::LateError => "late-error",
            Rule::UncheckedError => "unchecked-error",
            Rule::UnknownRule => "unknown-rule",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
    /// The rule that it breaks.
    pub rule: Rule,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub mend: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { line, column, rule, what, mend } = self;
        write!(f, "{line}:{column}: {rule}: {what}; {mend}")
    }
}

/// What is wrong with a script, in the order of places. Where a contract is given, or stands in the script's header, calls
/// are expected to be as it says. A comment `-- lint: allow RULE` allows what a rule finds in its line or the next one.
///
/// ```
/// use moonkeep::lint::{Rule, lint};
/// let script = "local old = redis.call('GET', KEYS[1])\nif old == nil then\n  return 0\nend\nreturn 1";
/// let findings = lint(script, None)?;
/// assert_eq!((findings.len(), findings[0].rule), (1, Rule::NilReply));
/// assert_eq!(
///     findings[0].to_string(),
///     "2:4: nil-reply: a reply is never nil: what is not there is false; compare with false, or write `not`"
/// );
/// # Ok::<(), moonkeep::lint::SyntaxError>(())
/// ```
///
/// # Errors
/// A text that is no Lua 5.1, or is nested deeper than two hundred levels.
pub fn lint(script: impl AsRef<[u8]>, contract: Option<&Contract>) -> Result<Vec<Finding>, SyntaxError> {
    let text = script.as_ref();
    let Source { chunk, allowed, .. } = Source::parse(text)?;
    let own = if contract.is_none() && Contract::is_in(text) { Contract::parse(text).ok() } else { None };
    let is_library = text.starts_with(b"#!") && first_line(text).contains("name=");
    let script = Script::new(&chunk, contract.or(own.as_ref()), is_library);
    let mut findings = rules::all(&script);
    let is_rule = |name: &str| Rule::ALL.iter().any(|rule| rule.name() == name);
    findings.extend(allowed.iter().filter(|allowed| !is_rule(&allowed.rule)).map(unknown_rule));
    let allowed: Set<(usize, &str)> = allowed.iter().map(|one| (one.place.line, one.rule.as_str())).collect();
    findings.retain(|Finding { line, rule, .. }| {
        !(allowed.contains(&(*line, rule.name())) || allowed.contains(&(line - 1, rule.name())))
    });
    findings.sort_by_key(|finding| (finding.line, finding.column, finding.rule));
    findings.dedup();
    Ok(findings)
}

fn unknown_rule(Allowed { place, rule }: &Allowed) -> Finding {
    let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    let what = format!("{rule:?} is no rule, so nothing is allowed by it");
    let Place { line, column } = *place;
    Finding { line, column, rule: Rule::UnknownRule, what, mend: format!("rules are {}", names.join(", ")) }
}

fn first_line(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next().unwrap_or_default())
}
