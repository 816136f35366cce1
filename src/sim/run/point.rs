//! What a run is at: two points with the same fingerprint have the same futures.

use std::hash::{Hash, Hasher};

use super::super::footprint::{hash_of, hasher};
use super::super::table::request_text;
use super::{Fate, Run, Session};
use crate::error::Error;

impl Run {
    /// What every client asks for at this point: on the way to a point that was seen before it has to be the same again.
    pub(in crate::sim) fn requests(&self) -> impl Iterator<Item = u64> {
        self.sessions.iter().map(|session| session.request)
    }

    /// What every client was answered so far.
    pub(in crate::sim) fn histories(&self) -> Vec<u64> {
        self.sessions.iter().map(|session| session.history).collect()
    }

    /// How every client stands, and what they counted.
    pub(in crate::sim) fn ends(&self) -> u64 {
        let mut ends = hasher();
        for Session { fate, .. } in &self.sessions {
            rank(fate).hash(&mut ends);
            if let Fate::Failed(text) = fate {
                text.hash(&mut ends);
            }
        }
        self.desks.lock().tallies.hash(&mut ends);
        ends.finish()
    }

    /// Whether every client asks for the same as at a point that was seen before; else one that does not.
    pub(in crate::sim) fn other_request(&self, seen: &[u64]) -> Option<usize> {
        self.sessions.iter().zip(seen).position(|(session, seen)| session.request != *seen)
    }

    /// What a client asks for, as a table shows it.
    pub(in crate::sim) fn asks_for(&self, index: usize) -> String {
        match (&self.sessions[index].fate, &self.desks.lock().desks[index].request) {
            (_, Some(request)) => request_text(Some(request), &self.places),
            (Fate::Done | Fate::Failed(_), None) => "nothing more".into(),
            (_, None) => "nothing now".into(),
        }
    }

    /// Two points with the same fingerprint have the same futures.
    pub(in crate::sim) fn fingerprint(&self) -> Result<u64, Error> {
        let mut point = hasher();
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        for (index, session) in self.sessions.iter().enumerate() {
            (session.history, rank(&session.fate)).hash(&mut point);
            for seat in &session.seats {
                let is_broken = seat.is_used && seat.client.is_watch_broken()?;
                (is_broken, seat.is_used, seat.is_lost).hash(&mut point);
            }
            if let Fate::Waiting(number) = session.fate {
                waiting.push((number, index));
                session.seats[session.waits_at].client.wait_ends_ms()?.hash(&mut point);
            }
        }
        waiting.sort_unstable();
        waiting.iter().for_each(|(_, index)| index.hash(&mut point));
        for spot in self.places.iter() {
            (spot.engine.state_hash()?, spot.ahead_ms).hash(&mut point);
        }
        (self.now_ms, self.used, self.unseen, &self.tables, &self.scripts).hash(&mut point);
        // In no order.
        let tallies = &self.desks.lock().tallies;
        let counted = tallies.iter().filter(|(_, count)| *count != 0).map(hash_of);
        counted.fold(0, u64::wrapping_add).hash(&mut point);
        Ok(point.finish())
    }
}

fn rank(fate: &Fate) -> u8 {
    match fate {
        Fate::Ready => 0,
        Fate::Waiting(_) => 1,
        Fate::Done => 2,
        Fate::Failed(_) => 3,
        Fate::Crashed => 4,
    }
}
