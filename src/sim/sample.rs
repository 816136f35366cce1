//! Schedules by chance, from a seed: each action at random, or by priorities that change at a few random points.

use super::report::Report;
use super::run::Run;
use super::{Action, At, Explore};
use crate::engine::Snapshot;
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
        let changes = (1..depth).map(|_| rng.below(length.max(1) as u64) as usize).collect();
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

impl Explore<'_> {
    /// Each next action at random.
    pub(super) fn random(&self, base: &Snapshot, seed: u64, runs: u64) -> Result<Report, Error> {
        let mut rng = Rng::new(seed);
        let mut report = Report::default();
        for _ in 0..runs.min(self.runs_max) {
            let run = Run::start(self.world(base)?, false)?;
            self.sample(base, run, &mut AtRandom(&mut rng), &mut report)?;
        }
        Ok(report)
    }

    /// By priorities; how long schedules are is learnt from those that were run.
    pub(super) fn pct(&self, base: &Snapshot, depth: usize, runs: u64, seed: u64) -> Result<Report, Error> {
        let mut rng = Rng::new(seed);
        let mut report = Report::default();
        let mut length = 0;
        for _ in 0..runs.min(self.runs_max) {
            let run = Run::start(self.world(base)?, false)?;
            let mut chooser = ByPriority::new(&mut rng, run.sessions.len(), depth, length);
            length = length.max(self.sample(base, run, &mut chooser, &mut report)?);
        }
        Ok(report)
    }

    /// Runs one schedule; how long it was.
    fn sample(
        &self,
        base: &Snapshot,
        mut run: Run,
        chooser: &mut dyn Chooser,
        report: &mut Report,
    ) -> Result<usize, Error> {
        let mut path = Vec::new();
        let mut why = None;
        while why.is_none() && path.len() < self.depth_max {
            let actions = run.actions(&self.faults)?;
            if actions.is_empty() {
                break;
            }
            let action = actions[chooser.choose(&actions, path.len())];
            run.step(action, actions.len() == 1)?;
            path.push(action);
            why = self.broken(&run, At::EachStep);
        }
        report.steps += path.len() as u64;
        let why = why.or_else(|| self.broken(&run, At::End));
        self.count(&run, report, why.as_deref());
        if let (Some(why), None) = (why, &report.failure) {
            report.failure = Some(self.show(base, &path, why)?);
        }
        Ok(path.len())
    }
}
