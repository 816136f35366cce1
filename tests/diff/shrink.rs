//! Makes a differing program small: drops steps, then words, as long as the two sides still part in the same command.

use super::judge::{Difference, Judge};
use super::program::Step;
use crate::support::target::Target;

/// How many runs one shrinking may take.
const RUNS_MAX: usize = 250;

/// The smallest program found that still differs, and its difference.
pub(crate) fn shrink(
    server: &mut dyn Target,
    moonkeep: &mut dyn Target,
    program: Vec<Step>,
    difference: Difference,
) -> (Vec<Step>, Difference) {
    let mut best = (program, difference);
    best.0.truncate(best.1.at + 1);
    let mut runs = 0;
    let mut differs = |program: &[Step], what: &str| {
        runs += 1;
        let mut judge = Judge { server, moonkeep, coverage: None, dumps: true };
        if runs > RUNS_MAX { None } else { judge.run(program).filter(|difference| difference.what == what) }
    };
    let mut chunk = best.0.len().div_ceil(2);
    loop {
        let mut from = 0;
        while from < best.0.len() {
            let mut smaller = best.0.clone();
            smaller.drain(from..(from + chunk).min(smaller.len()));
            match differs(&smaller, &best.1.what) {
                Some(difference) => best = (smaller, difference),
                None => from += chunk,
            }
        }
        if chunk == 1 {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
    best
}
