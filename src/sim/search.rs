//! Which schedules are run. Futures cannot be copied, so each schedule begins anew and repeats what leads to its branch; a
//! point of the schedule is known by the actions before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::footprint::{Footprint, hash_of};
use super::parts::Meter;
use super::report::Report;
use super::run::{Fate, Keeps, Run};
use super::table::{shown_name, state_text};
use super::world::Base;
use super::{Action, At, Explore, Faults, Reduction, View};
use crate::error::Error;

/// A point of the schedule that is being run, and what was tried there.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) actions: Vec<Action>,
    /// The one that is being tried.
    pub(super) at: usize,
    /// Those that were tried, with what they touched.
    tried: Vec<(Action, Footprint)>,
    /// Those that need not be tried: a schedule with them now is like one that was run.
    asleep: Vec<(Action, Footprint)>,
    requests: Vec<u64>,
    last: Option<usize>,
    switches: usize,
}

/// Whether two actions may change places.
fn are_independent((a, touched): (Action, &Footprint), (b, other): (Action, &Footprint)) -> bool {
    let different = matches!((a.actor(), b.actor()), (Some(one), Some(two)) if one != two);
    different && !(a.is_fault() && b.is_fault()) && !touched.meets(other)
}

impl Node {
    pub(super) fn open(actions: Vec<Action>, run: &Run, point: Point) -> Self {
        let mut node = Node { actions, ..Node::default() };
        node.begin(run, point);
        node
    }

    /// Is what the run is at, where its actions may happen.
    fn begin(&mut self, run: &Run, point: Point) {
        Point { asleep: self.asleep, last: self.last, switches: self.switches } = point;
        self.at = 0;
        self.tried.clear();
        self.requests.clear();
        self.requests.extend(run.requests());
    }

    pub(super) fn action(&self) -> Action {
        self.actions[self.at]
    }

    fn is_forced(&self) -> bool {
        self.actions.len() == 1
    }

    /// Goes to the next action that is to be tried.
    pub(super) fn advance(&mut self) -> bool {
        while self.at < self.actions.len()
            && self.asleep.iter().any(|(action, _)| *action == self.actions[self.at])
        {
            self.at += 1;
        }
        self.at < self.actions.len()
    }

    /// What sleeps behind the action that is being tried.
    fn asleep_behind(&self, action: Action, footprint: &Footprint) -> Vec<(Action, Footprint)> {
        let known = self.asleep.iter().chain(self.tried.iter().filter(|(tried, _)| *tried != action));
        known
            .filter(|(other, touched)| are_independent((*other, touched), (action, footprint)))
            .cloned()
            .collect()
    }

    /// Whether the action takes the turn from a client that could go on.
    fn is_switch(&self, action: Action) -> bool {
        match (self.last, action.actor()) {
            (Some(last), Some(actor)) => last != actor && self.actions.contains(&Action::Step(last)),
            _ => false,
        }
    }
}

/// What a search keeps from one schedule to the next.
#[derive(Default)]
struct Memory {
    /// The points that were reached.
    seen: HashSet<u64, FixedState>,
    /// Nodes that are used again.
    spare: Vec<Node>,
}

/// What is known of the point that a run is at.
#[derive(Default)]
pub(super) struct Point {
    asleep: Vec<(Action, Footprint)>,
    last: Option<usize>,
    switches: usize,
}

/// How a search is done.
#[derive(Clone, Copy)]
pub(super) struct How<'s> {
    pub(super) faults: Faults,
    /// So many of all kinds together.
    pub(super) faults_max: usize,
    pub(super) reduction: Reduction,
    /// The bound on forced switches, when there is one.
    pub(super) switches_max: Option<usize>,
    pub(super) stops_at_first: bool,
    pub(super) runs_max: u64,
    /// Others may end it.
    pub(super) stop: Option<Stop<'s>>,
    pub(super) meter: Option<&'s Meter<'s>>,
}

/// A search of one part of many. What is found in a part before it may make it needless; what comes behind it may not, for
/// the outcome does not depend on who is first.
#[derive(Clone, Copy)]
pub(super) struct Stop<'s> {
    /// The last part that is wanted.
    pub(super) last: &'s AtomicUsize,
    /// The number of this one.
    pub(super) at: usize,
}

impl How<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.at > stop.last.load(Ordering::Relaxed))
    }

    pub(super) fn keeps(&self, runs_twice: bool) -> Keeps {
        let states = self.reduction == Reduction::States;
        Keeps {
            rows: false,
            footprints: self.reduction != Reduction::None,
            history: states || runs_twice,
            marks: runs_twice,
        }
    }
}

impl Explore<'_> {
    /// What a search leaves out.
    pub(super) fn reduction_in_use(&self, switches_max: Option<usize>) -> Reduction {
        let looks_between = self.invariants.iter().any(|invariant| invariant.at == At::EachStep);
        match self.reduction {
            Reduction::SleepSets if looks_between || switches_max.is_some() => Reduction::States,
            reduction => reduction,
        }
    }

    /// Depth first over all schedules that begin with the path. With a bound on forced switches, states are told apart by
    /// the bound too.
    pub(super) fn exhaust(
        &self,
        base: &Arc<Base>,
        how: &How<'_>,
        mut path: Vec<Node>,
    ) -> Result<Report, Error> {
        let floor = path.len();
        let mut report = Report::default();
        let mut memory = Memory::default();
        let mut is_cut = false;
        let is_sound = || base.allowed(how.reduction) == how.reduction;
        while report.runs() < how.runs_max && !how.is_stopped() && is_sound() {
            let mut run = self.start(base, how.keeps(self.runs_twice))?;
            let point = self.follow(&mut run, &mut path, how.reduction)?;
            report.steps += path.len() as u64;
            let ended = self.go_on(&mut run, &mut path, point, how, &mut memory, &mut report)?;
            is_cut |= matches!(ended, Ended::Cut);
            let is_failing = self.close(base, &run, &path, ended, &mut report)?;
            how.meter.inspect(|meter| meter.count(!matches!(ended, Ended::Left), is_failing));
            if is_failing && how.stops_at_first {
                return Ok(report);
            }
            if !back(&mut path, floor, &mut memory.spare) {
                report.is_exhausted = !is_cut;
                break;
            }
        }
        report.states = memory.seen.len() as u64;
        Ok(report)
    }

    /// Takes the first of the untried steps at each point, to the end of the schedule.
    fn go_on(
        &self,
        run: &mut Run,
        path: &mut Vec<Node>,
        mut point: Point,
        how: &How<'_>,
        memory: &mut Memory,
        report: &mut Report,
    ) -> Result<Ended, Error> {
        loop {
            if !path.is_empty() && self.broken(run, At::EachStep).is_some() {
                return Ok(Ended::Whole);
            }
            if how.reduction == Reduction::States && !path.is_empty() {
                let told = told_apart(run, &point, how.switches_max)?;
                let seen = &mut memory.seen;
                let is_new =
                    if seen.len() < self.states_max { seen.insert(told) } else { !seen.contains(&told) };
                if !is_new {
                    return Ok(Ended::Left);
                }
            }
            let mut node = memory.spare.pop().unwrap_or_default();
            run.actions_into(&how.faults, &mut node.actions)?;
            if node.actions.len() > 1 && run.used.total() >= how.faults_max {
                node.actions.retain(|action| !action.is_fault());
            }
            if node.actions.is_empty() || path.len() >= self.depth_max {
                let is_over = node.actions.is_empty();
                memory.spare.push(node);
                return Ok(if is_over { Ended::Whole } else { Ended::Cut });
            }
            arrange(&mut node.actions, &point, how.switches_max);
            node.begin(run, point);
            if !node.advance() {
                return Ok(Ended::Left);
            }
            path.push(node);
            point = take_step(run, path, how.reduction)?;
            report.steps += 1;
        }
    }

    /// Counts a schedule; whether it fails.
    fn close(
        &self,
        base: &Arc<Base>,
        run: &Run,
        path: &[Node],
        ended: Ended,
        report: &mut Report,
    ) -> Result<bool, Error> {
        if matches!(ended, Ended::Left) {
            report.pruned += 1;
            return Ok(false);
        }
        let why = self.broken(run, At::EachStep).filter(|_| !path.is_empty());
        let is_over = !matches!(ended, Ended::Cut);
        let why = why.or_else(|| is_over.then(|| self.broken(run, At::End)).flatten());
        self.count(run, report, why.is_some());
        let actions = || path.iter().map(Node::action).collect::<Vec<_>>();
        if self.runs_twice {
            self.run_again(base, &actions(), run)?;
        }
        let is_failing = why.is_some();
        if let (Some(why), None) = (why, &report.first_failing) {
            report.first_failing = Some((actions(), why));
        }
        Ok(is_failing)
    }

    /// Repeats what leads to the branch, and takes its first new step, which is the last of the path.
    pub(super) fn follow(
        &self,
        run: &mut Run,
        path: &mut [Node],
        reduction: Reduction,
    ) -> Result<Point, Error> {
        let Some(before) = path.len().checked_sub(1) else { return Ok(Point::default()) };
        for (at, node) in path[..before].iter().enumerate() {
            same_requests(run, node, at)?;
            run.step(node.action(), node.is_forced())?;
        }
        same_requests(run, &path[before], before)?;
        take_step(run, path, reduction)
    }

    pub(super) fn count(&self, run: &Run, report: &mut Report, is_failing: bool) {
        report.schedules += 1;
        report.failing += u64::from(is_failing);
        report.add_outcome(self.outcome_of(run), 1);
    }

    fn outcome_of(&self, run: &Run) -> String {
        let view = View { run };
        if let Some(tell) = &self.outcome {
            return tell(&view);
        }
        let mut parts: Vec<String> = Vec::new();
        for shown in run.shown.iter() {
            let held = state_text(run, shown).unwrap_or_else(|error| error.to_string());
            parts.push(format!("{}={held}", shown_name(shown, &run.places)));
        }
        for (name, session) in run.names.iter().zip(&run.sessions) {
            match &session.fate {
                Fate::Done => {}
                Fate::Failed(text) => parts.push(format!("{name}: {text}")),
                Fate::Crashed => parts.push(format!("{name} crashed")),
                Fate::Waiting(_) => parts.push(format!("{name} waits")),
                Fate::Ready => parts.push(format!("{name} has not ended")),
            }
        }
        parts.join(", ")
    }

    /// Which invariant does not hold.
    pub(super) fn broken(&self, run: &Run, at: At) -> Option<String> {
        let view = View { run };
        let asked = self.invariants.iter().filter(|invariant| invariant.at == at);
        asked.into_iter().find_map(|invariant| {
            let said = (invariant.holds)(&view).err()?;
            Some(if said.is_empty() { invariant.name.clone() } else { format!("{}: {said}", invariant.name) })
        })
    }
}

/// How a schedule came to its end.
#[derive(Clone, Copy)]
enum Ended {
    /// All is over, or an invariant is broken.
    Whole,
    /// It is too long.
    Cut,
    /// It can only give an outcome that is there already.
    Left,
}

/// What tells a point from others.
fn told_apart(run: &Run, point: &Point, switches_max: Option<usize>) -> Result<u64, Error> {
    let fingerprint = run.fingerprint()?;
    Ok(match switches_max {
        Some(_) => hash_of(&(fingerprint, point.last, point.switches)),
        None => fingerprint,
    })
}

/// The client that went last comes first; with a bound that is reached, nobody else goes on while it could.
pub(super) fn arrange(actions: &mut Vec<Action>, point: &Point, switches_max: Option<usize>) {
    let Some(last) = point.last else { return };
    let could_go_on = actions.contains(&Action::Step(last));
    if could_go_on && switches_max.is_some_and(|most| point.switches >= most) {
        actions.retain(|action| action.actor().is_none_or(|actor| actor == last));
    }
    actions.sort_by_key(|action| *action != Action::Step(last));
}

/// Takes the step that the last node of the path is at.
pub(super) fn take_step(run: &mut Run, path: &mut [Node], reduction: Reduction) -> Result<Point, Error> {
    let Some(node) = path.last_mut() else { return Ok(Point::default()) };
    let action = node.action();
    let footprint = run.step(action, node.is_forced())?;
    let switches = node.switches + usize::from(node.is_switch(action));
    let last = action.actor().or(node.last);
    let mut asleep = Vec::new();
    if reduction == Reduction::SleepSets {
        asleep = node.asleep_behind(action, &footprint);
        node.tried.push((action, footprint));
    }
    Ok(Point { asleep, last, switches })
}

/// Goes back to the last point where something is left to be tried; not to those that the search begins with.
fn back(path: &mut Vec<Node>, floor: usize, spare: &mut Vec<Node>) -> bool {
    while path.len() > floor {
        let Some(node) = path.last_mut() else { break };
        node.at += 1;
        if node.advance() {
            return true;
        }
        spare.extend(path.pop());
    }
    false
}

/// A client that was answered the same asks for the same.
fn same_requests(run: &Run, node: &Node, at: usize) -> Result<(), Error> {
    match run.other_request(&node.requests) {
        None => Ok(()),
        Some(index) => Err(run.is_not_the_same(index, at)),
    }
}
