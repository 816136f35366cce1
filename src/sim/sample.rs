//! Schedules by chance, from a seed: each action at random, or by priorities that change at a few random points.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::footprint::hash_of;
use super::parts::in_parallel;
use super::report::Report;
use super::run::{Keeps, Run};
use super::world::Base;
use super::{Action, At, Explore};
use crate::error::Error;
use crate::util::rng::Rng;

/// What chooses the next action of a schedule.
trait Chooser {
    /// The place of the chosen one among the actions, which are not empty.
    fn choose(&mut self, actions: &[Action], step: usize) -> usize;
}

struct AtRandom<'r>(&'r mut Rng);

impl Chooser for AtRandom<'_> {
    fn choose(&mut self, actions: &[Action], _: usize) -> usize {
        self.0.below(actions.len() as u64) as usize
    }
}

struct ByPriority<'r> {
    rng: &'r mut Rng,
    /// Of each client, and of the clock; the highest goes on.
    priorities: Vec<i64>,
    /// The steps at which who is on top falls below all others.
    changes: Vec<usize>,
    lowest: i64,
}

impl<'r> ByPriority<'r> {
    fn new(rng: &'r mut Rng, clients: usize, depth: usize, length: usize) -> Self {
        let mut priorities: Vec<i64> = (1..=clients as i64 + 1).collect();
        for at in (1..priorities.len()).rev() {
            priorities.swap(at, rng.below(at as u64 + 1) as usize);
        }
        let changes = (1..depth.min(length + 1)).map(|_| rng.below(length.max(1) as u64) as usize).collect();
        ByPriority { rng, priorities, changes, lowest: 0 }
    }

    fn rank(&self, action: Action) -> usize {
        action.actor().unwrap_or(self.priorities.len() - 1)
    }

    fn top(&self, actions: &[Action]) -> usize {
        actions.iter().map(|&action| self.rank(action)).max_by_key(|&who| self.priorities[who]).unwrap_or(0)
    }
}

impl Chooser for ByPriority<'_> {
    fn choose(&mut self, actions: &[Action], step: usize) -> usize {
        for _ in self.changes.iter().filter(|&&change| change == step) {
            let who = self.top(actions);
            self.priorities[who] = self.lowest;
            self.lowest -= 1;
        }
        let who = self.top(actions);
        let own: Vec<usize> = (0..actions.len()).filter(|&at| self.rank(actions[at]) == who).collect();
        own[self.rng.below(own.len() as u64) as usize]
    }
}

/// So many schedules are one part of a search, with a generator of its own.
const PART: u64 = 512;

/// So many parts are taken at a time.
const PARTS: u64 = 1_024;

/// So many schedules tell how long schedules are.
const PROBES: u64 = 32;

impl Explore<'_> {
    /// Each next action at random.
    pub(super) fn random(&self, base: &Arc<Base>, seed: u64, runs: u64) -> Result<Report, Error> {
        self.sample_all(base, seed, 0..runs.min(self.runs_max), &|run, rng, report| {
            self.sample(base, run, &mut AtRandom(rng), report)
        })
    }

    /// By priorities; how long schedules are is learnt from the first ones.
    pub(super) fn pct(&self, base: &Arc<Base>, depth: usize, runs: u64, seed: u64) -> Result<Report, Error> {
        let longest = AtomicUsize::new(0);
        let by_priority = |length: usize| {
            move |run: Run, rng: &mut Rng, report: &mut Report| {
                let mut chooser = ByPriority::new(rng, run.sessions.len(), depth, length);
                self.sample(base, run, &mut chooser, report)
            }
        };
        let runs = runs.min(self.runs_max);
        let probes = runs.min(PROBES);
        let mut report = self.sample_all(base, seed, 0..probes, &|run, rng, report| {
            let length = by_priority(longest.load(Ordering::Relaxed))(run, rng, report)?;
            longest.fetch_max(length, Ordering::Relaxed);
            Ok(length)
        })?;
        report.add(self.sample_all(base, seed, probes..runs, &by_priority(longest.into_inner()))?);
        Ok(report)
    }

    /// Runs these schedules of a seed, in parts that threads may take.
    fn sample_all(
        &self,
        base: &Arc<Base>,
        seed: u64,
        runs: Range<u64>,
        one: &(impl Fn(Run, &mut Rng, &mut Report) -> Result<usize, Error> + Sync),
    ) -> Result<Report, Error> {
        let meter = self.meter();
        let keeps = Keeps { history: self.runs_twice, marks: self.runs_twice, ..Keeps::default() };
        let mut all = Report::default();
        let mut begin = runs.start;
        while begin < runs.end {
            let end = runs.end.min(begin.saturating_add(PART * PARTS));
            let parts = (end - begin).div_ceil(PART) as usize;
            let threads = if parts < 4 { 1 } else { self.threads_in_use() };
            let found = in_parallel(threads, parts, |part| {
                let first = begin + part as u64 * PART;
                let mut rng = Rng::new(hash_of(&(seed, first)));
                let mut report = Report::default();
                for _ in first..end.min(first.saturating_add(PART)) {
                    let failing = report.failing;
                    one(self.start(base, keeps)?, &mut rng, &mut report)?;
                    meter.as_ref().inspect(|meter| meter.count(true, report.failing > failing));
                }
                Ok::<_, Error>(report)
            });
            for report in found {
                all.add(report.unwrap_or_else(|| Ok(Report::default()))?);
            }
            begin = end;
        }
        Ok(all)
    }

    /// Runs one schedule; how long it was.
    fn sample(
        &self,
        base: &Arc<Base>,
        mut run: Run,
        chooser: &mut dyn Chooser,
        report: &mut Report,
    ) -> Result<usize, Error> {
        let mut path = Vec::new();
        let mut why = None;
        let mut is_over = false;
        let mut actions = Vec::new();
        while why.is_none() && path.len() < self.depth_max {
            run.actions_into(&self.faults, &mut actions)?;
            if actions.is_empty() {
                is_over = true;
                break;
            }
            let action = actions[chooser.choose(&actions, path.len())];
            run.step(action, actions.len() == 1)?;
            path.push(action);
            why = self.broken(&run, At::EachStep);
        }
        report.steps += path.len() as u64;
        let why = why.or_else(|| is_over.then(|| self.broken(&run, At::End)).flatten());
        self.count(&run, report, why.is_some());
        if self.runs_twice {
            self.run_again(base, &path, &run)?;
        }
        let length = path.len();
        if let (Some(why), None) = (why, &report.first_failing) {
            report.first_failing = Some((path, why));
        }
        Ok(length)
    }
}
