//! A contract made in Rust: the declarations are those of the language, written by typed values and read as its clauses are;
//! conditions, replies and effects may be closures.

use super::closures::{CallFacts, Closure, Promised, Run};
use super::error::{ContractError, Position};
use super::expr::Expr;
use super::grammar::{Form, Grammar};
use super::shape::Promise;
use super::{Case, Contract, Writes, header};
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What an argument is, or a string key holds, or an element of another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRule(Grammar);

impl TextRule {
    /// An integer in this range, in its one form.
    pub fn int(range: RangeInclusive<i64>) -> Self {
        let (min, max) = range.into_inner();
        TextRule(Grammar::Int { min, max, form: Form::Canonical })
    }
    /// Decimal digits, leading zeros among them, of a value in this range.
    pub fn digits(range: RangeInclusive<i64>) -> Self {
        let (min, max) = range.into_inner();
        TextRule(Grammar::Int { min, max, form: Form::Digits })
    }
    /// One byte or more.
    pub fn token() -> Self {
        TextRule(Grammar::TOKEN)
    }
    /// Anything.
    pub fn bytes() -> Self {
        TextRule(Grammar::ANY)
    }
    /// So many bytes.
    pub fn sized(bytes: RangeInclusive<usize>) -> Self {
        let (min, max) = bytes.into_inner();
        TextRule(Grammar::Bytes { min, max })
    }
    /// One of these texts.
    pub fn one_of<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Self {
        TextRule(Grammar::OneOf(texts.into_iter().map(|text| text.as_ref().to_vec()).collect()))
    }
    /// One value of JSON.
    pub fn json() -> Self {
        TextRule(Grammar::Json)
    }
    /// As the language has it.
    fn written(&self) -> String {
        match &self.0 {
            Grammar::OneOf(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                format!("one_of({})", texts.join(", "))
            }
            // The least and the most bytes are what the language can say of them.
            Grammar::Bytes { min, max: usize::MAX } if *min > 1 => format!("bytes({min}, {})", i64::MAX),
            grammar => grammar.to_string(),
        }
    }
}

/// What a key holds, and what the script may do to it: read it, unless [`rw`](Self::rw) or [`rm`](Self::rm) says more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRule(String);

impl KeyRule {
    /// A string of this kind.
    pub fn string(text: TextRule) -> Self {
        KeyRule(format!("string {}", text.written()))
    }
    /// A list of such elements.
    pub fn list(elements: TextRule) -> Self {
        KeyRule(format!("list of {}", elements.written()))
    }
    /// A set of such members.
    pub fn set(members: TextRule) -> Self {
        KeyRule(format!("set of {}", members.written()))
    }
    /// A sorted set of such members.
    pub fn zset(members: TextRule) -> Self {
        KeyRule(format!("zset of {}", members.written()))
    }
    /// A hash with such values in any fields.
    pub fn hash(values: TextRule) -> Self {
        KeyRule(format!("hash of {}", values.written()))
    }
    /// A hash with these fields.
    pub fn fields<'a>(fields: impl IntoIterator<Item = (&'a str, TextRule)>) -> Self {
        KeyRule(format!("hash({})", written_fields(fields)))
    }
    /// A stream of entries with such values in any fields.
    pub fn stream(values: TextRule) -> Self {
        KeyRule(format!("stream of {}", values.written()))
    }
    /// A stream of entries with these fields.
    pub fn entries<'a>(fields: impl IntoIterator<Item = (&'a str, TextRule)>) -> Self {
        KeyRule(format!("stream({})", written_fields(fields)))
    }
    /// Any type.
    pub fn any() -> Self {
        KeyRule("any".to_owned())
    }
    /// The key must be there.
    #[must_use]
    pub fn required(self) -> Self {
        self.with("required")
    }
    /// The script may write it.
    #[must_use]
    pub fn rw(self) -> Self {
        self.with("rw")
    }
    /// The script may remove it.
    #[must_use]
    pub fn rm(self) -> Self {
        self.with("rm")
    }
    /// It has an expiry when it was written; if nothing is said, the expiry stays as it is.
    #[must_use]
    pub fn ttl_set(self) -> Self {
        self.with("ttl=set")
    }
    /// It has no expiry when it was written.
    #[must_use]
    pub fn ttl_dropped(self) -> Self {
        self.with("ttl=dropped")
    }
    /// Its expiry may be anything when it was written.
    #[must_use]
    pub fn ttl_any(self) -> Self {
        self.with("ttl=any")
    }
    fn with(mut self, word: &str) -> Self {
        let _ = write!(self.0, " {word}");
        self
    }
}

fn written_fields<'a>(fields: impl IntoIterator<Item = (&'a str, TextRule)>) -> String {
    let fields =
        fields.into_iter().map(|(name, text)| format!("{} {}", quoted(name.as_bytes()), text.written()));
    fields.collect::<Vec<_>>().join(", ")
}

/// A text in quotes, as the language has it.
fn quoted(text: &[u8]) -> String {
    let mut out = String::from('"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b' '..=b'~' => out.push(byte as char),
            _ => drop(write!(out, "\\x{byte:02x}")),
        }
    }
    out + "\""
}

/// Makes a [`Contract`], see [`Contract::builder`].
#[derive(Clone)]
#[must_use]
pub struct ContractBuilder {
    clauses: Vec<String>,
    cases: Vec<Closures>,
    writes: Vec<(Vec<String>, Run<bool>)>,
}

/// A case whose condition and promise are closures.
#[derive(Clone)]
struct Closures {
    line: usize,
    name: String,
    /// None for the last one, which applies always.
    when: Option<Run<bool>>,
    then: Run<Option<Promised>>,
}

impl std::fmt::Debug for ContractBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContractBuilder").field("clauses", &self.clauses).finish_non_exhaustive()
    }
}

impl ContractBuilder {
    pub(super) fn new(name: &str) -> Self {
        let (cases, writes) = (Vec::new(), Vec::new());
        ContractBuilder { clauses: vec![format!("contract {name}")], cases, writes }
    }
    /// The next of `KEYS`.
    pub fn key(self, name: &str, rule: KeyRule) -> Self {
        self.clause(format!("key {name} {}", rule.0))
    }
    /// The rest of `KEYS`: so many of them; what is said of this name is said of each.
    pub fn keys(self, name: &str, rule: KeyRule, count: RangeInclusive<usize>) -> Self {
        self.clause(format!("key {name} {} ...{}", rule.0, written_count(count)))
    }
    /// The next of `ARGV`.
    pub fn arg(self, name: &str, rule: TextRule) -> Self {
        self.clause(format!("argv {name} {}", rule.written()))
    }
    /// The next of `ARGV`, which may be missing, and so may all behind it.
    pub fn optional_arg(self, name: &str, rule: TextRule) -> Self {
        self.clause(format!("argv {name} {} optional", rule.written()))
    }
    /// The rest of `ARGV`: so many of them.
    pub fn args(self, name: &str, rule: TextRule, count: RangeInclusive<usize>) -> Self {
        self.clause(format!("argv {name} {} ...{}", rule.written(), written_count(count)))
    }
    /// Callers keep to the numbers of keys and arguments: the script does not look at them, and nothing is said of other
    /// calls.
    pub fn arity_trusted(self) -> Self {
        self.clause("arity trusted")
    }
    /// What a wrong call is answered: `what` is wrong, as `arity`, `quantity`, `ttl.range` or several with commas between;
    /// in the order in which the script looks.
    pub fn error(self, what: &str, text: &str) -> Self {
        self.clause(format!("error {what} {}", quoted(text.as_bytes())))
    }
    /// The same where a command raises an error with this code, as `WRONGTYPE`.
    pub fn raises(self, what: &str, code: &str) -> Self {
        self.clause(format!("error {what} {code}"))
    }
    /// The shape of all replies, in the language: `[0, int(0, 9)] | nil`.
    pub fn reply(self, shape: &str) -> Self {
        self.clause(format!("reply {shape}"))
    }
    /// What the script does when a condition holds: the first case applies whose condition does. Closures look at the call
    /// alone, and come to the same each time; a promise of `None` is one that cannot be told, and breaks the contract.
    pub fn case(
        self,
        name: &str,
        when: impl Fn(&CallFacts<'_>) -> bool + Send + Sync + 'static,
        then: impl Fn(&CallFacts<'_>) -> Option<Promised> + Send + Sync + 'static,
    ) -> Self {
        self.with_case(name, Some(Arc::new(when)), Arc::new(then))
    }
    /// What the script does when no case applies; the last one.
    pub fn otherwise(
        self,
        then: impl Fn(&CallFacts<'_>) -> Option<Promised> + Send + Sync + 'static,
    ) -> Self {
        self.with_case("else", None, Arc::new(then))
    }
    fn with_case(mut self, name: &str, when: Option<Run<bool>>, then: Run<Option<Promised>>) -> Self {
        let line = self.clauses.len() + self.cases.len() + 1;
        self.cases.push(Closures { line, name: name.to_owned(), when, then });
        self
    }
    /// The keys that may be written; without this, each that is declared `rw` or `rm`.
    pub fn writes(self, keys: &[&str]) -> Self {
        self.clause(format!("writes {}", keys.join(", ")))
    }
    /// Keys that may be written when a condition holds, which knows the [reply](CallFacts::reply).
    pub fn writes_when(
        mut self,
        keys: &[&str],
        when: impl Fn(&CallFacts<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.writes.push((keys.iter().map(|key| (*key).to_owned()).collect(), Arc::new(when)));
        self
    }
    /// How many instructions of the Lua VM a run may take.
    pub fn instructions(self, most: u64) -> Self {
        self.clause(format!("instructions {most}"))
    }
    /// What a run comes to may hang on chance.
    pub fn random(self) -> Self {
        self.clause("flags random".to_owned())
    }
    /// Any clause of the language, without `--!`. Cases of the language apply before closures.
    pub fn clause(mut self, clause: impl Into<String>) -> Self {
        self.clauses.push(clause.into());
        self
    }
    /// The contract.
    ///
    /// # Errors
    /// What is wrong with it, as [`Contract::parse`]; the line is the number of the clause, the name being the first.
    pub fn build(self) -> Result<Contract, ContractError> {
        let has_cases = !self.cases.is_empty();
        let others = self.cases.iter().take(self.cases.len().saturating_sub(1));
        if let Some(Closures { line, .. }) = others.into_iter().find(|case| case.when.is_none()) {
            let at = Position { line: line + 1, column: 1 };
            return Err(at.error("no case applies after otherwise; put this one above it"));
        }
        let mut contract = header::declared(&self.clauses, has_cases)?;
        let declared = Arc::new(contract.clone());
        for (keys, when) in self.writes {
            let keys = keys.iter().map(|key| header::writable(&contract, key)).collect::<Result<_, _>>()?;
            contract.writes.push(Writes { keys, when: Some(Expr::Closure(Closure::new(&declared, when))) });
        }
        for Closures { line, name, when, then } in self.cases {
            contract.cases.push(Case {
                line,
                text: name,
                when: when.map(|when| Expr::Closure(Closure::new(&declared, when))),
                promise: Promise::Closure(Closure::new(&declared, then)),
                effects: Vec::new(),
            });
        }
        Ok(contract)
    }
}

fn written_count(count: RangeInclusive<usize>) -> String {
    let (min, max) = count.into_inner();
    format!("({min}, {})", i64::try_from(max).unwrap_or(i64::MAX))
}
