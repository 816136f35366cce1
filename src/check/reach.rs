//! Which lines the calls of a check ran, and for each line that none did the call that came nearest to it.
//!
//! From such a line the ways that lead to it are followed backwards to the nearest line that did run: its guard, mostly the
//! condition around it. Of the calls that ran the guard, the one that ran the most instructions of it each time came
//! nearest: it got furthest in a chain of `and` and `or`.

use super::report::MissedLine;
use crate::contract::Input;
use crate::script::{LineCoverage, Tally, Watched};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the lines of one script.
#[derive(Default)]
pub(super) struct Reach {
    lines: BTreeMap<u32, Line>,
}

/// A line that ran.
struct Line {
    tally: Tally,
    /// The call that got furthest on it.
    furthest: Input,
    depth: Depth,
}

/// How far a call got on a line.
#[derive(Clone, Copy)]
pub(super) struct Depth {
    instructions: u64,
    hits: u64,
}

impl Reach {
    /// Notes what a call ran.
    pub(super) fn note(&mut self, input: &Input, ran: &[(u32, Tally)]) {
        for (line, tally) in ran {
            let depth = Depth::of(tally);
            let known = self.lines.entry(*line).or_insert_with(|| Line {
                tally: Tally::default(),
                furthest: input.clone(),
                depth,
            });
            known.tally.hits += tally.hits;
            known.tally.instructions += tally.instructions;
            known.tally.calls += tally.calls;
            if depth.is_beyond(known.depth) {
                (known.furthest, known.depth) = (input.clone(), depth);
            }
        }
    }
    /// All lines that can run.
    pub(super) fn lines(&self, script: &Watched) -> Vec<LineCoverage> {
        let line = |line: u32| {
            let Tally { hits, instructions, calls } =
                self.lines.get(&line).map_or(Tally::default(), |known| known.tally);
            LineCoverage { line, hits, instructions, calls }
        };
        script.lines().into_iter().map(line).collect()
    }
    /// The lines that no call ran. `smaller` makes a call small that runs a line, and so many instructions of it each time.
    pub(super) fn missed(
        &self,
        script: &Watched,
        smaller: &mut dyn FnMut(&Input, u32, Depth) -> Input,
    ) -> Vec<MissedLine> {
        // Lines in a row have one guard.
        let mut known: BTreeMap<u32, Input> = BTreeMap::new();
        let mut before: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        script.steps().into_iter().for_each(|(from, to)| before.entry(to).or_default().push(from));
        let missed = script.lines().into_iter().filter(|line| !self.has_run(*line));
        missed
            .map(|line| {
                let guard = self.guard(line, &before);
                let nearest = guard.and_then(|guard| {
                    let Line { furthest, depth, .. } = self.lines.get(&guard)?;
                    let small = known.entry(guard).or_insert_with(|| smaller(furthest, guard, *depth));
                    Some(small.clone())
                });
                MissedLine { line, guard, nearest }
            })
            .collect()
    }
    fn has_run(&self, line: u32) -> bool {
        self.lines.get(&line).is_some_and(|known| known.tally.hits > 0)
    }
    /// The nearest line on a way to this one that ran; of several that are as near the last one.
    fn guard(&self, line: u32, before: &BTreeMap<u32, Vec<u32>>) -> Option<u32> {
        let mut seen = BTreeSet::from([line]);
        let mut front = vec![line];
        while !front.is_empty() {
            let behind = front.iter().flat_map(|line| before.get(line).into_iter().flatten());
            let behind: BTreeSet<u32> = behind.copied().filter(|line| !seen.contains(line)).collect();
            if let Some(guard) = behind.iter().rev().find(|line| self.has_run(**line)) {
                return Some(*guard);
            }
            seen.extend(&behind);
            front = behind.into_iter().collect();
        }
        None
    }
}

impl Depth {
    fn of(tally: &Tally) -> Self {
        Depth { instructions: tally.instructions, hits: tally.hits.max(1) }
    }
    /// Whether it is more instructions each time.
    fn is_beyond(self, other: Depth) -> bool {
        u128::from(self.instructions) * u128::from(other.hits)
            > u128::from(other.instructions) * u128::from(self.hits)
    }
    /// Whether a call that ran these lines got as far on this one.
    pub(super) fn is_kept(self, line: u32, ran: &[(u32, Tally)]) -> bool {
        ran.iter().any(|(at, tally)| *at == line && !self.is_beyond(Depth::of(tally)))
    }
}
