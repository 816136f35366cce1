//! What an exploration found.

use std::collections::BTreeMap;

use super::Action;
use super::table::Row;

/// A schedule that breaks an invariant; shown as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// An invariant is broken: not in each schedule that [`Explore::replay`](super::Explore::replay) runs.
    pub is_broken: bool,
    /// The name of the invariant, and what the predicate said; or what is said where none is broken.
    pub why: String,
    /// The steps, in order.
    pub rows: Vec<Row>,
    /// The clients, in the order of their columns.
    pub names: Vec<String>,
    /// The watched keys, in the order of theirs.
    pub keys: Vec<String>,
    /// What [`Explore::replay`](super::Explore::replay) takes.
    pub replay: String,
}

/// What an exploration found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub(super) schedules: u64,
    pub(super) failing: u64,
    pub(super) pruned: u64,
    pub(super) steps: u64,
    pub(super) states: u64,
    pub(super) is_exhausted: bool,
    pub(super) is_bound_exhausted: bool,
    pub(super) outcomes: BTreeMap<String, u64>,
    pub(super) failure: Option<Failure>,
    /// The first schedule that failed, and why.
    pub(super) first_failing: Option<(Vec<Action>, String)>,
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Schedules that were run to their end.
    pub schedules: u64,
    /// Schedules that were given up, as they could only give an outcome that is there already.
    pub pruned: u64,
    /// Schedules that broke an invariant.
    pub failing: u64,
}

/// More different outcomes than these are counted together.
const OUTCOMES_MAX: usize = 10_000;

impl Report {
    /// One more schedule ended in this way.
    pub(super) fn add_outcome(&mut self, outcome: String, count: u64) {
        let is_new = self.outcomes.len() >= OUTCOMES_MAX && !self.outcomes.contains_key(&outcome);
        *self.outcomes.entry(if is_new { "(others)".into() } else { outcome }).or_default() += count;
    }

    /// Adds what a later part of the search found.
    pub(super) fn add(&mut self, later: Report) {
        self.schedules += later.schedules;
        self.failing += later.failing;
        self.pruned += later.pruned;
        self.steps += later.steps;
        self.states += later.states;
        self.is_exhausted &= later.is_exhausted;
        later.outcomes.into_iter().for_each(|(outcome, count)| self.add_outcome(outcome, count));
        if self.first_failing.is_none() {
            self.first_failing = later.first_failing;
        }
    }

    /// Schedules that were begun.
    pub(super) fn runs(&self) -> u64 {
        self.schedules + self.pruned
    }

    /// Schedules that were run to their end.
    pub fn schedules(&self) -> u64 {
        self.schedules
    }

    /// Those of them that broke an invariant.
    pub fn failing(&self) -> u64 {
        self.failing
    }

    /// Schedules that were given up, as they could only give an outcome that is there already.
    pub fn pruned(&self) -> u64 {
        self.pruned
    }

    /// Actions in all, replays of what leads to a branch included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Points that were told apart; 0 unless states are compared.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Whether every schedule was run or shown to be like one that was. A random search never is, nor one with a bound on
    /// switches or one that met a limit: that it found nothing proves nothing.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Whether every schedule within the bound on switches was run or shown to be like one that was; false for a search that
    /// has no such bound.
    pub fn is_bound_exhausted(&self) -> bool {
        self.is_bound_exhausted
    }

    /// How many schedules ended in which way.
    pub fn outcomes(&self) -> &BTreeMap<String, u64> {
        &self.outcomes
    }

    /// The smallest failing schedule, by faults and then by forced switches; of a random search the first one.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// For tests.
    ///
    /// # Panics
    /// An invariant is broken, with the table. Whether every schedule was tried says [`is_exhausted`](Self::is_exhausted).
    #[track_caller]
    pub fn assert_ok(&self) {
        if let Some(failure) = &self.failure {
            panic!("{} of {} schedules fail, the smallest:\n{failure}", self.failing, self.schedules);
        }
    }
}
