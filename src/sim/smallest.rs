//! The smallest failing schedule, and one schedule again: by the string that a table shows.

use std::sync::Arc;

use super::report::Failure;
use super::run::Keeps;
use super::search::How;
use super::table::{parse_action, replay_text, shown_name};
use super::world::Base;
use super::{Action, At, Explore, Reduction};
use crate::error::Error;

impl Explore<'_> {
    /// The failing schedule with the fewest faults, and of those with the fewest forced switches.
    pub(super) fn smallest(&self, base: &Arc<Base>) -> Result<Option<Failure>, Error> {
        let wanted = match self.reduction {
            Reduction::None => Reduction::None,
            _ => Reduction::States,
        };
        self.reduced(base, wanted, |reduction| self.smallest_with(base, reduction))
    }

    fn smallest_with(&self, base: &Arc<Base>, reduction: Reduction) -> Result<Option<Failure>, Error> {
        const SWITCHES: usize = 16;
        let all = self.faults;
        const FAULTS: usize = 64;
        for faults_max in 0..=all.total().min(FAULTS) {
            let any = How {
                faults: all,
                faults_max,
                reduction,
                switches_max: None,
                stops_at_first: true,
                runs_max: self.runs_max,
                stop: None,
                meter: None,
            };
            // Where no schedule with so few faults fails, none with few switches does. Points are told apart by less there.
            if reduction == Reduction::States && self.exhaust(base, &any, Vec::new())?.is_exhausted {
                continue;
            }
            for switches in 0..SWITCHES {
                let how = How { switches_max: Some(switches), ..any };
                let found = self.exhaust(base, &how, Vec::new())?;
                if let Some((actions, why)) = found.first_failing {
                    return self.show(base, &actions, Some(why)).map(Some);
                }
                if found.runs() >= how.runs_max {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// The table of a schedule that was run.
    pub(super) fn show(
        &self,
        base: &Arc<Base>,
        actions: &[Action],
        broken: Option<String>,
    ) -> Result<Failure, Error> {
        let mut run = self.start(base, Keeps { rows: true, ..Keeps::default() })?;
        let mut is_broken_again = false;
        for (step, &action) in actions.iter().enumerate() {
            let open = run.actions(&self.faults)?;
            if !open.contains(&action) {
                return Err(action.actor().map_or_else(not_again, |index| run.is_not_the_same(index, step)));
            }
            run.step(action, open.len() == 1)?;
            is_broken_again |= broken.is_some() && self.broken(&run, At::EachStep).is_some();
        }
        let is_over = run.actions(&self.faults)?.is_empty();
        is_broken_again |= broken.is_some() && is_over && self.broken(&run, At::End).is_some();
        if broken.is_some() != is_broken_again {
            return Err(not_again());
        }
        let unbroken = if is_over { "nothing" } else { "nothing yet: the schedule goes on from here" };
        let (is_broken, why) = (broken.is_some(), broken.unwrap_or_else(|| unbroken.into()));
        let replay = replay_text(actions, &run);
        let keys = run.shown.iter().map(|shown| shown_name(shown, &run.places)).collect();
        let names = run.names.to_vec();
        Ok(Failure { is_broken, why, rows: run.rows.take().unwrap_or_default(), names, keys, replay })
    }

    /// See [`Explore::replay`].
    pub(super) fn repeat(&self, base: &Arc<Base>, schedule: &str) -> Result<Failure, Error> {
        let mut run = self.start(base, Keeps::default())?;
        let mut actions = Vec::new();
        let mut why = None;
        for word in schedule.split_whitespace() {
            let action = parse_action(word, &run)?;
            let open = run.actions(&self.faults)?;
            if !open.contains(&action) {
                let step = actions.len() + 1;
                return Err(Error::usage(match replay_text(&open, &run) {
                    text if text.is_empty() => {
                        format!("{word} cannot happen at step {step}: the schedule is over")
                    }
                    text => format!("{word} cannot happen at step {step}: only {text}"),
                }));
            }
            run.step(action, open.len() == 1)?;
            actions.push(action);
            why = why.or_else(|| self.broken(&run, At::EachStep));
        }
        // What holds at the end is not asked before it.
        let is_over = run.actions(&self.faults)?.is_empty();
        let why = why.or_else(|| is_over.then(|| self.broken(&run, At::End)).flatten());
        self.show(base, &actions, why)
    }
}

fn not_again() -> Error {
    Error::usage(
        "a schedule that breaks an invariant did not break one when it was run again: a client, or the invariant, depends on \
         something but the schedule",
    )
}
