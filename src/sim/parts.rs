//! A long search in parts, for several threads. The parts are put together in the order of the search, so that what is found
//! does not depend on the threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::report::{Progress, Report};
use super::search::{How, Node, Stop, arrange, take_step};
use super::world::Base;
use super::{At, Explore, Reduction, Watching};
use crate::error::Error;

/// So many schedules are run before others are asked to help.
const ALONE: u64 = 2_000;

/// So many parts for each thread: they differ in size.
const PARTS: usize = 24;

/// Counts what all threads do, and tells of it.
pub(super) struct Meter<'m> {
    watching: &'m Watching<'m>,
    runs: AtomicU64,
    pruned: AtomicU64,
    failing: AtomicU64,
    /// What was told of already is not told again when the search begins anew with others.
    told: Mutex<u64>,
}

impl<'m> Meter<'m> {
    pub(super) fn new(watching: &'m Watching<'m>) -> Self {
        let (runs, pruned, failing) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Meter { watching, runs, pruned, failing, told: Mutex::new(0) }
    }

    /// One more schedule.
    pub(super) fn count(&self, is_whole: bool, is_failing: bool) {
        self.failing.fetch_add(u64::from(is_failing), Ordering::Relaxed);
        self.pruned.fetch_add(u64::from(!is_whole), Ordering::Relaxed);
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let (every, tell) = self.watching;
        if runs.is_multiple_of(*every) {
            let mut told = self.told.lock();
            if runs > *told {
                *told = runs;
                let pruned = self.pruned.load(Ordering::Relaxed).min(runs);
                tell(&Progress {
                    schedules: runs - pruned,
                    pruned,
                    failing: self.failing.load(Ordering::Relaxed),
                });
            }
        }
    }

    /// Begins anew, and tells nothing twice.
    fn again(&self) {
        [&self.runs, &self.pruned, &self.failing]
            .into_iter()
            .for_each(|count| count.store(0, Ordering::Relaxed));
    }
}

impl<'a> Explore<'a> {
    pub(super) fn meter(&self) -> Option<Meter<'_>> {
        self.watching.as_ref().map(Meter::new)
    }

    /// How many threads there are to be.
    pub(super) fn threads_in_use(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Searches, and does it again with nothing left out when clients turn out to see more than the reduction knows of.
    pub(super) fn reduced<T>(
        &self,
        base: &Base,
        wanted: Reduction,
        search: impl Fn(Reduction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let reduction = base.allowed(wanted);
        let found = search(reduction);
        if base.allowed(wanted) == reduction { found } else { search(Reduction::None) }
    }

    /// Over all schedules, with several threads when there are many.
    pub(super) fn exhaust_all(&self, base: &Arc<Base>, switches_max: Option<usize>) -> Result<Report, Error> {
        let wanted = self.reduction_in_use(switches_max);
        self.reduced(base, wanted, |reduction| self.exhaust_with(base, reduction, switches_max))
    }

    fn exhaust_with(
        &self,
        base: &Arc<Base>,
        reduction: Reduction,
        switches_max: Option<usize>,
    ) -> Result<Report, Error> {
        let meter = self.meter();
        let how = How {
            faults: self.faults,
            faults_max: usize::MAX,
            reduction,
            switches_max,
            stops_at_first: false,
            runs_max: self.runs_max,
            stop: None,
            meter: meter.as_ref(),
        };
        let threads = self.threads_in_use();
        if threads == 1
            || how.reduction == Reduction::States
            || switches_max.is_some()
            || self.runs_max <= ALONE
        {
            return self.exhaust(base, &how, Vec::new());
        }
        let first = self.exhaust(base, &How { runs_max: ALONE, ..how }, Vec::new())?;
        if first.is_exhausted || first.runs() < ALONE {
            return Ok(first);
        }
        meter.as_ref().inspect(|meter| meter.again());
        let parts = self.split(base, &how, threads * PARTS);
        self.exhaust_parts(base, &how, &parts, threads)
    }

    /// What schedules begin with, so that each schedule belongs to one part, in the order of the search.
    fn split(&self, base: &Arc<Base>, how: &How<'_>, wanted: usize) -> Vec<Vec<Node>> {
        const LEVELS: usize = 12;
        let mut parts = vec![Vec::new()];
        for _ in 0..LEVELS {
            if parts.len() >= wanted {
                break;
            }
            let mut next = Vec::with_capacity(4 * parts.len());
            for part in parts {
                // An error is met again by who searches the part, in its turn.
                match self.branches(base, how, &part) {
                    Ok(Some(branches)) => next.extend(branches),
                    Ok(None) | Err(_) => next.push(part),
                }
            }
            parts = next;
        }
        parts
    }

    /// The parts that a part consists of; none when its schedule has ended.
    fn branches(
        &self,
        base: &Arc<Base>,
        how: &How<'_>,
        part: &[Node],
    ) -> Result<Option<Vec<Vec<Node>>>, Error> {
        let mut path = part.to_vec();
        let keeps = how.keeps(false);
        let mut run = self.start(base, keeps)?;
        let point = self.follow(&mut run, &mut path, how.reduction)?;
        let mut actions = run.actions(&how.faults)?;
        let is_broken = !path.is_empty() && self.broken(&run, At::EachStep).is_some();
        if actions.is_empty() || is_broken || path.len() >= self.depth_max {
            return Ok(None);
        }
        arrange(&mut actions, &point, how.switches_max);
        let mut node = Node::open(actions, &run, point);
        let mut branches = Vec::new();
        while node.advance() {
            let mut branch = part.to_vec();
            branch.push(node.clone());
            branches.push(branch);
            if how.reduction == Reduction::SleepSets {
                // What the step touches, for those after it.
                let mut run = self.start(base, keeps)?;
                self.follow(&mut run, &mut path, how.reduction)?;
                let mut last = [node];
                take_step(&mut run, &mut last, how.reduction)?;
                [node] = last;
            }
            node.at += 1;
        }
        // Where all sleep, the part itself says so.
        Ok((!branches.is_empty()).then_some(branches))
    }

    fn exhaust_parts(
        &self,
        base: &Arc<Base>,
        how: &How<'_>,
        parts: &[Vec<Node>],
        threads: usize,
    ) -> Result<Report, Error> {
        // Parts behind this one are not wanted: it ends the search, by an error or by the limit.
        let last = AtomicUsize::new(usize::MAX);
        let ended = Mutex::new(vec![None; parts.len()]);
        let found = in_parallel(threads, parts.len(), |at| {
            let how = How { stop: Some(Stop { last: &last, at }), ..*how };
            let found = self.exhaust(base, &how, parts[at].clone());
            let mut ended = ended.lock();
            ended[at] = found.as_ref().ok().map(Report::runs);
            let is_last = |runs: &mut u64, ended: &Option<u64>| {
                *runs += (*ended)?;
                Some(*runs)
            };
            let reaches = ended.iter().scan(0, is_last).position(|runs| runs >= how.runs_max);
            let ends = found.is_err().then_some(at).into_iter().chain(reaches).min();
            last.fetch_min(ends.unwrap_or(usize::MAX), Ordering::Relaxed);
            found
        });
        let mut all = Report { is_exhausted: true, ..Report::default() };
        for (part, found) in parts.iter().zip(found) {
            let left = how.runs_max - all.runs();
            match found.unwrap_or_else(|| Ok(Report::default())) {
                Ok(report) if report.runs() <= left => all.add(report),
                found => {
                    // As if one thread had met the limit, perhaps before the error.
                    let how = How { runs_max: left, stop: None, meter: None, ..*how };
                    let again = self.exhaust(base, &how, part.clone())?;
                    if again.runs() < left {
                        found?;
                    }
                    all.add(again);
                    break;
                }
            }
        }
        Ok(all)
    }
}

/// Does `count` things with so many threads; what each gave, in their order.
pub(super) fn in_parallel<T: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<Option<T>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let help = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let one = work(at);
            found.lock()[at] = Some(one);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(help);
        }
        help();
    });
    found.into_inner()
}
