//! What a check found: how often each clause decided, and where the script did not keep its word.

use crate::command::TracedCall;
use crate::contract::{Input, Rule};
use crate::reply::Reply;
use crate::script::ScriptCoverage;
use crate::store::Change;
use std::fmt;

/// What [`Contract::check`](crate::Contract::check) found. `Display` is a text for people.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    pub(super) name: String,
    pub(super) sha: String,
    pub(super) seed: u64,
    pub(super) runs: u64,
    pub(super) clauses: Vec<ReachedClause>,
    pub(super) failures: Vec<CheckFailure>,
    pub(super) instructions_most: u64,
    pub(super) instructions_allowed: Option<u64>,
    pub(super) left_out: u64,
    pub(super) outside: u64,
    pub(super) coverage: ScriptCoverage,
    pub(super) missed: Vec<MissedLine>,
}

/// A line that can run, and that no call of a check ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissedLine {
    /// The number of the line, from 1.
    pub line: u32,
    /// The line that did run and from which the shortest way leads to this one: mostly the condition around it.
    pub guard: Option<u32>,
    /// Of the calls that ran the guard the one that came nearest: it ran the most of the guard's instructions each time, so
    /// that it got furthest in a chain of `and` and `or`. Of several the first.
    pub nearest: Option<Input>,
}

/// A clause that decides what calls come to, and how often it did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReachedClause {
    /// Its line in the contract.
    pub line: usize,
    /// The clause as it is written, without `--!`.
    pub text: String,
    /// How many runs it decided.
    pub runs: u64,
}

/// A call for which a script did not keep its word, as small as it gets.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckFailure {
    pub(super) rule: Rule,
    pub(super) told: String,
    pub(super) input: Input,
    pub(super) run: u64,
    pub(super) repeat: Repeat,
    pub(super) clause: Option<usize>,
    pub(super) reply: Reply,
    pub(super) calls: Vec<TracedCall>,
    pub(super) changes: Vec<Change>,
}

/// How a failure is had again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Repeat {
    /// The seed of the calls.
    pub(super) seed: u64,
    /// How many calls have to be made; none where it was one that was given first.
    pub(super) runs: Option<u64>,
    /// The work that a run may take.
    pub(super) work: u64,
    /// It hangs on chance: a fresh engine may do otherwise.
    pub(super) by_chance: bool,
}

impl Repeat {
    /// Of a run with these calls, by the number that it has among those that are made, from 0 on.
    pub(super) fn new(seed: u64, made: Option<u64>) -> Self {
        Repeat { seed, runs: made.map(|made| made + 1), ..Repeat::default() }
    }
}

impl CheckReport {
    /// Whether the script kept its word in all runs.
    pub fn is_kept(&self) -> bool {
        self.failures.is_empty()
    }
    /// Panics with the whole report when the script did not keep its word: for tests.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn assert_kept(&self) {
        assert!(self.is_kept(), "{self}");
    }
    /// The name of the contract.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The SHA1 of the script.
    pub fn sha(&self) -> &str {
        &self.sha
    }
    /// The seed of the calls.
    pub fn seed(&self) -> u64 {
        self.seed
    }
    /// How many calls were run, those to make a failure small not counted.
    pub fn runs(&self) -> u64 {
        self.runs
    }
    /// The clauses that may decide, in the order of the contract; one with 0 runs was not reached.
    pub fn clauses(&self) -> &[ReachedClause] {
        &self.clauses
    }
    /// Where the script did not keep its word: for each rule and clause the first call, made small.
    pub fn failures(&self) -> &[CheckFailure] {
        &self.failures
    }
    /// The most instructions that a run took.
    pub fn instructions(&self) -> u64 {
        self.instructions_most
    }
    /// How many calls were not compared with a real server: they hang on the instant of an expiry, on the clock or on chance,
    /// reach beyond their keys, or it did otherwise only once.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
    /// How many of the calls that were given first failed where the contract does not speak of them: a key holds elements
    /// that are not as declared. They do not count as failures.
    pub fn outside(&self) -> u64 {
        self.outside
    }
    /// The text of the script and its lines that can run, with how often all calls together ran each.
    pub fn coverage(&self) -> &ScriptCoverage {
        &self.coverage
    }
    /// The lines that can run and that no call ran, in order.
    pub fn missed(&self) -> &[MissedLine] {
        &self.missed
    }
    /// The most that the contract allows.
    pub fn instructions_allowed(&self) -> Option<u64> {
        self.instructions_allowed
    }
}

impl CheckFailure {
    /// What was broken.
    pub fn rule(&self) -> Rule {
        self.rule
    }
    /// What the script did that it should not.
    pub fn told(&self) -> &str {
        &self.told
    }
    /// The smallest call that was found.
    pub fn input(&self) -> &Input {
        &self.input
    }
    /// Which run found it first, from 1 on.
    pub fn run(&self) -> u64 {
        self.run
    }
    /// The clause that decides the call, by its place in [`CheckReport::clauses`].
    pub fn clause(&self) -> Option<usize> {
        self.clause
    }
    /// What the script replied.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }
    /// The commands that the script called.
    pub fn calls(&self) -> &[TracedCall] {
        &self.calls
    }
    /// What the script changed.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_kept() { "kept" } else { "broken" };
        write!(f, "{}: {verdict}, {} runs, seed {}", self.name, self.runs, self.seed)?;
        write!(f, ", up to {} instructions", self.instructions_most)?;
        if let Some(allowed) = self.instructions_allowed {
            write!(f, " of {allowed}")?;
        }
        for clause in self.clauses.iter().filter(|clause| clause.runs == 0) {
            write!(f, "\n  not reached: line {}, {}", clause.line, clause.text)?;
        }
        for MissedLine { line, guard, .. } in &self.missed {
            let from = guard.map_or(String::new(), |guard| format!(", to which line {guard} leads"));
            write!(f, "\n  never ran: line {line}{from}")?;
        }
        self.failures.iter().try_for_each(|failure| write!(f, "\n{failure}"))
    }
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {} (run {}): {}", self.rule, self.run, self.told)?;
        for line in self.input.to_string().lines() {
            write!(f, "\n    {line}")?;
        }
        write!(f, "\n    -> {:?}", self.reply)?;
        self.changes.iter().try_for_each(|change| write!(f, "\n    {change}"))
    }
}
