//! Clients that are not deterministic: found when what leads to a branch is repeated, or by running each schedule twice.

use std::sync::Arc;

use super::footprint::hash_of;
use super::run::{Keeps, Run};
use super::world::Base;
use super::{Action, Explore};
use crate::error::Error;

/// What a run was at behind a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    requests: Vec<u64>,
    histories: Vec<u64>,
    ends: u64,
    data: u64,
}

const REASON: &str = "depends on something but the replies it gets, such as real time, randomness, the order of a hash map, \
                      or what other schedules left behind";

impl Run {
    /// Client `index` asks for something else than it did in the same schedule before.
    pub(super) fn is_not_the_same(&self, index: usize, step: usize) -> Error {
        let (name, asks) = (&self.names[index], self.asks_for(index));
        Error::usage(format!(
            "client {name} did not give the same request again: behind {step} steps of the same schedule it asks for {asks}; \
             it {REASON}"
        ))
    }

    /// What the run is at.
    pub(super) fn mark(&self) -> Result<Mark, Error> {
        let mut data = 0;
        for place in self.places.iter() {
            data = hash_of(&(data, place.engine.state_hash()?));
        }
        Ok(Mark {
            requests: self.requests().collect(),
            histories: self.histories(),
            ends: self.ends(),
            data: hash_of(&(data, &self.tables)),
        })
    }
}

impl Explore<'_> {
    /// Runs a schedule a second time and compares each step of it.
    pub(super) fn run_again(&self, base: &Arc<Base>, actions: &[Action], first: &Run) -> Result<(), Error> {
        let keeps = Keeps { history: true, ..Keeps::default() };
        let mut second = self.start(base, keeps)?;
        for (step, (&action, mark)) in actions.iter().zip(&first.marks).enumerate() {
            let is_forced = second.actions(&self.faults)?.len() == 1;
            second.step(action, is_forced)?;
            let now = second.mark()?;
            if let Some(index) = second.other_request(&mark.requests) {
                return Err(second.is_not_the_same(index, step + 1));
            }
            if let Some(index) = (0..mark.histories.len()).find(|&at| mark.histories[at] != now.histories[at])
            {
                return Err(Error::usage(format!(
                    "client {} was not answered the same again in step {} of the same schedule: the answer depends on something \
                     but the schedule",
                    second.names[index],
                    step + 1
                )));
            }
            if now.ends != mark.ends {
                return Err(Error::usage(format!(
                    "behind step {} of the same schedule the clients did not end or count in the same way again: one of them \
                     {REASON}",
                    step + 1
                )));
            }
            if now.data != mark.data {
                return Err(Error::usage(format!(
                    "step {} of the same schedule did not leave the same data again: a value depends on something but the schedule",
                    step + 1
                )));
            }
        }
        Ok(())
    }
}
