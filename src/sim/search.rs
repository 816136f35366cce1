//! Which schedules are run. Futures cannot be copied, so each schedule begins anew and repeats what leads to its branch; a
//! point of the schedule is known by the actions before it.

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::footprint::Footprint;
use super::report::{Failure, Report};
use super::run::{Fate, Run};
use super::table::{parse_action, replay_text};
use super::{Action, At, Explore, Faults, Reduction, View};
use crate::engine::Snapshot;
use crate::error::Error;

/// A point of the schedule that is being run, and what was tried there.
struct Node {
    actions: Vec<Action>,
    /// The one that is being tried.
    at: usize,
    /// Those that were tried, with what they touched.
    tried: Vec<(Action, Footprint)>,
    /// Those that need not be tried: a schedule with them now is like one that was run.
    asleep: Vec<(Action, Footprint)>,
    requests: u64,
    last: Option<usize>,
    switches: usize,
}

/// Whether two actions may change places.
fn are_independent((a, touched): (Action, &Footprint), (b, other): (Action, &Footprint)) -> bool {
    let different = matches!((a.actor(), b.actor()), (Some(one), Some(two)) if one != two);
    different && !(a.is_fault() && b.is_fault()) && !touched.meets(other)
}

impl Node {
    fn open(actions: Vec<Action>, requests: u64, point: Point) -> Self {
        let Point { asleep, last, switches } = point;
        Node { actions, at: 0, tried: Vec::new(), asleep, requests, last, switches }
    }

    fn is_forced(&self) -> bool {
        self.actions.len() == 1
    }

    /// Goes to the next action that is to be tried.
    fn advance(&mut self) -> bool {
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

/// The points that were reached.
type Seen = HashSet<u64, FixedState>;

/// What is known of the point that a run is at.
#[derive(Default)]
struct Point {
    asleep: Vec<(Action, Footprint)>,
    last: Option<usize>,
    switches: usize,
}

impl Explore<'_> {
    fn reduction_in_use(&self) -> Reduction {
        let looks_between = self.invariants.iter().any(|invariant| invariant.at == At::EachStep);
        match self.reduction {
            Reduction::SleepSets if looks_between => Reduction::States,
            reduction => reduction,
        }
    }

    /// Depth first over all schedules. With a bound on forced switches, states are told apart by the bound too.
    pub(super) fn exhaust(
        &self,
        base: &Snapshot,
        switches_max: Option<usize>,
        faults: Faults,
        stops_at_first: bool,
    ) -> Result<Report, Error> {
        let reduction = match (switches_max, self.reduction_in_use()) {
            (Some(_), Reduction::SleepSets) => Reduction::States,
            (_, reduction) => reduction,
        };
        let mut report = Report::default();
        let mut seen = Seen::default();
        let mut path: Vec<Node> = Vec::new();
        let mut is_cut = false;
        while report.schedules + report.pruned < self.runs_max {
            let mut run = Run::start(self.world(base)?, false)?;
            let mut point = self.follow(&mut run, &mut path, reduction)?;
            report.steps += path.len() as u64;
            let mut why = if path.is_empty() { None } else { self.broken(&run, At::EachStep) };
            let ended = loop {
                if why.is_some() {
                    break true;
                }
                if reduction == Reduction::States
                    && !path.is_empty()
                    && !seen.insert(told_apart(&run, &point, switches_max)?)
                {
                    break false;
                }
                let mut actions = run.actions(&faults)?;
                is_cut |= !actions.is_empty() && path.len() >= self.depth_max;
                if actions.is_empty() || path.len() >= self.depth_max {
                    break true;
                }
                arrange(&mut actions, &point, switches_max);
                let mut node = Node::open(actions, run.requests(), point);
                if !node.advance() {
                    break false;
                }
                path.push(node);
                point = take_step(&mut run, &mut path, reduction)?;
                report.steps += 1;
                why = self.broken(&run, At::EachStep);
            };
            if ended {
                why = why.or_else(|| self.broken(&run, At::End));
                let is_first = why.is_some() && report.failing == 0;
                self.count(&run, &mut report, why.as_deref());
                if is_first {
                    let actions: Vec<Action> = path.iter().map(|node| node.actions[node.at]).collect();
                    report.failure = Some(self.show(base, &actions, why.unwrap_or_default())?);
                    if stops_at_first {
                        return Ok(report);
                    }
                }
            } else {
                report.pruned += 1;
            }
            if !back(&mut path) {
                report.is_exhausted = !is_cut;
                break;
            }
        }
        report.states = seen.len() as u64;
        Ok(report)
    }

    /// Repeats what leads to the branch, and takes its first new step, which is the last of the path.
    fn follow(&self, run: &mut Run, path: &mut [Node], reduction: Reduction) -> Result<Point, Error> {
        let Some(before) = path.len().checked_sub(1) else { return Ok(Point::default()) };
        for node in &path[..before] {
            same_requests(run, node)?;
            run.step(node.actions[node.at], node.is_forced())?;
        }
        same_requests(run, &path[before])?;
        take_step(run, path, reduction)
    }

    pub(super) fn count(&self, run: &Run, report: &mut Report, why: Option<&str>) {
        report.schedules += 1;
        report.failing += u64::from(why.is_some());
        *report.outcomes.entry(self.outcome_of(run)).or_default() += 1;
    }

    fn outcome_of(&self, run: &Run) -> String {
        let view = View { run };
        if let Some(tell) = &self.outcome {
            return tell(&view);
        }
        let state = |key: &Vec<u8>| {
            let held = super::table::state_text(&run.engine, key).unwrap_or_else(|error| error.to_string());
            format!("{}={held}", String::from_utf8_lossy(key))
        };
        let mut parts: Vec<String> = run.shown.iter().map(state).collect();
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

    /// The failing schedule with the fewest faults, and of those with the fewest forced switches.
    pub(super) fn smallest(&self, base: &Snapshot) -> Result<Option<Failure>, Error> {
        const SWITCHES: usize = 16;
        let Faults { clock_jumps, crashes, lost_replies, lost_requests } = self.faults;
        for most in 0..=clock_jumps + crashes + lost_replies + lost_requests {
            for switches in 0..SWITCHES {
                let faults = Faults {
                    clock_jumps: clock_jumps.min(most),
                    crashes: crashes.min(most),
                    lost_replies: lost_replies.min(most),
                    lost_requests: lost_requests.min(most),
                };
                let found = self.exhaust(base, Some(switches), faults, true)?;
                if found.failure.is_some() {
                    return Ok(found.failure);
                }
            }
        }
        Ok(None)
    }

    /// The table of a schedule that was run.
    pub(super) fn show(&self, base: &Snapshot, actions: &[Action], why: String) -> Result<Failure, Error> {
        let mut run = Run::start(self.world(base)?, true)?;
        for &action in actions {
            let is_forced = run.actions(&self.faults)?.len() == 1;
            run.step(action, is_forced)?;
        }
        let replay = replay_text(actions, &run.names);
        let keys = run.shown.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        Ok(Failure { why, rows: run.rows.take().unwrap_or_default(), names: run.names, keys, replay })
    }

    /// See [`Explore::replay`].
    pub(super) fn repeat(&self, base: &Snapshot, schedule: &str) -> Result<Failure, Error> {
        let mut run = Run::start(self.world(base)?, false)?;
        let mut actions = Vec::new();
        let mut why = None;
        for word in schedule.split_whitespace() {
            let action = parse_action(word, &run.names)?;
            let open = run.actions(&self.faults)?;
            if !open.contains(&action) {
                let text = replay_text(&open, &run.names);
                return Err(Error::usage(format!(
                    "{word} cannot happen at step {}: only {text}",
                    actions.len() + 1
                )));
            }
            run.step(action, open.len() == 1)?;
            actions.push(action);
            why = why.or_else(|| self.broken(&run, At::EachStep));
        }
        let why = why.or_else(|| self.broken(&run, At::End)).unwrap_or_else(|| "nothing".into());
        self.show(base, &actions, why)
    }
}

/// What tells a point from others.
fn told_apart(run: &Run, point: &Point, switches_max: Option<usize>) -> Result<u64, Error> {
    let fingerprint = run.fingerprint()?;
    Ok(match switches_max {
        Some(_) => super::footprint::hash_of(&(fingerprint, point.last, point.switches)),
        None => fingerprint,
    })
}

/// The client that went last comes first; with a bound that is reached, nobody else goes on while it could.
fn arrange(actions: &mut Vec<Action>, point: &Point, switches_max: Option<usize>) {
    let Some(last) = point.last else { return };
    let could_go_on = actions.contains(&Action::Step(last));
    if could_go_on && switches_max.is_some_and(|most| point.switches >= most) {
        actions.retain(|action| action.actor().is_none_or(|actor| actor == last));
    }
    actions.sort_by_key(|action| *action != Action::Step(last));
}

/// Takes the step that the last node of the path is at.
fn take_step(run: &mut Run, path: &mut [Node], reduction: Reduction) -> Result<Point, Error> {
    let Some(node) = path.last_mut() else { return Ok(Point::default()) };
    let action = node.actions[node.at];
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

/// Goes back to the last point where something is left to be tried.
fn back(path: &mut Vec<Node>) -> bool {
    while let Some(node) = path.last_mut() {
        node.at += 1;
        if node.advance() {
            return true;
        }
        path.pop();
    }
    false
}

/// A client that was answered the same asks for the same.
fn same_requests(run: &Run, node: &Node) -> Result<(), Error> {
    if run.requests() == node.requests {
        return Ok(());
    }
    Err(Error::usage(
        "the same schedule did not give the same requests again: a client depends on something but the replies it gets, \
         such as real time, randomness, the order of a hash map, or what other schedules left behind",
    ))
}
