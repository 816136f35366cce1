//! What could happen next at a point of a schedule.

use super::super::desk::{Desks, Request};
use super::super::store::Op;
use super::super::{Action, Faults};
use super::{Fate, Run};
use crate::error::Error;

impl Run {
    /// What could happen next. Empty when all is over, or nobody will ever go on.
    pub(in crate::sim) fn actions(&self, faults: &Faults) -> Result<Vec<Action>, Error> {
        let mut actions = Vec::new();
        self.actions_into(faults, &mut actions)?;
        Ok(actions)
    }

    /// The same into a list that is used again.
    pub(in crate::sim) fn actions_into(
        &self,
        faults: &Faults,
        actions: &mut Vec<Action>,
    ) -> Result<(), Error> {
        actions.clear();
        let mut moments: Vec<i64> = Vec::new();
        {
            let desks = self.desks.lock();
            for (index, (session, desk)) in self.sessions.iter().zip(&desks.desks).enumerate() {
                match (&session.fate, &desk.request) {
                    (Fate::Ready, Some(Request::Call { .. })) => self.offer(index, faults, actions),
                    (Fate::Ready, Some(Request::Store(op))) if self.may_run(&desks, index, op) => {
                        self.offer(index, faults, actions);
                    }
                    (Fate::Ready, Some(Request::Sleep(until))) if *until <= self.now_ms => {
                        actions.push(Action::Step(index))
                    }
                    (Fate::Ready, Some(Request::Sleep(until))) => moments.push(*until),
                    (Fate::Waiting(_), _) => {
                        let ends = session.seats[session.waits_at].client.wait_ends_ms()?;
                        moments.extend(ends.map(|shown_ms| self.places[session.waits_at].world_ms(shown_ms)));
                    }
                    _ => {}
                }
            }
        }
        // When nobody can go on time passes by itself; else its jumps are counted.
        if actions.is_empty() {
            actions.extend(moments.into_iter().filter(|at_ms| *at_ms > self.now_ms).min().map(Action::Time));
            Ok(())
        } else {
            self.offer_jumps(faults, moments, actions)
        }
    }

    /// What may become of a client's request.
    fn offer(&self, index: usize, faults: &Faults, actions: &mut Vec<Action>) {
        actions.push(Action::Step(index));
        let mut lose = |action, used, most| actions.extend((used < most).then_some(action));
        lose(Action::LoseReply(index), self.used.lost_replies, faults.lost_replies);
        lose(Action::LoseRequest(index), self.used.lost_requests, faults.lost_requests);
        lose(Action::Crash(index), self.used.crashes, faults.crashes);
    }

    /// What may happen to clocks and engines while clients could go on.
    fn offer_jumps(
        &self,
        faults: &Faults,
        mut moments: Vec<i64>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Error> {
        if (faults.clock_jumps, faults.node_jumps, faults.restarts) == (0, 0, 0) {
            return Ok(());
        }
        if self.used.clock_jumps < faults.clock_jumps {
            for place in self.places.iter() {
                moments.extend(place.engine.next_expiry_ms()?.map(|shown_ms| place.world_ms(shown_ms)));
            }
            moments.sort_unstable();
            moments.dedup();
            actions.extend(moments.into_iter().map(Action::Time));
        }
        for (node, place) in self.places.iter().enumerate() {
            if self.used.node_jumps < faults.node_jumps {
                let expiry = place.engine.next_expiry_ms()?.map(|shown_ms| place.world_ms(shown_ms));
                actions.extend(
                    expiry.map(|at_ms| Action::Jump { node, by_ms: at_ms.saturating_sub(self.now_ms) }),
                );
            }
            // An engine that holds nothing loses nothing.
            if self.used.restarts < faults.restarts && place.engine.holds_keys()? {
                actions.push(Action::Restart(node));
            }
        }
        Ok(())
    }

    /// Whether nobody's transaction keeps an operation waiting, or it is to be told that it would wait for ever.
    fn may_run(&self, desks: &Desks, index: usize, op: &Op) -> bool {
        self.tables.blocker(index, op).is_none_or(|other| self.waits_for(desks, other, index))
    }

    /// Whether `one` waits for a transaction of `index`, itself or through others.
    fn waits_for(&self, desks: &Desks, mut one: usize, index: usize) -> bool {
        for _ in 0..self.sessions.len() {
            if one == index {
                return true;
            }
            let Some(Request::Store(op)) = &desks.desks[one].request else { return false };
            match self.tables.blocker(one, op) {
                Some(other) => one = other,
                None => return false,
            }
        }
        false
    }
}
