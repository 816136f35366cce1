//! Scenarios of `docs/SCENARIOS.md`, each explored in all schedules: how many there are and how many fail is exact. What is a single
//! sequence of calls stands in `tests/corpus` (messaging, scenarios), `tests/messaging.rs` and `tests/patterns`.

mod caches;
mod locks;
mod messaging;
mod read_modify_write;
mod redlock;

use moonkeep::sim::{Explore, Reduction, Report};

/// All schedules.
fn all(explore: Explore<'_>) -> Report {
    let report = explore.reduction(Reduction::None).run().expect("the world is sound");
    assert!(report.is_exhausted());
    report
}

/// How many schedules fail, of how many.
fn failing(explore: Explore<'_>) -> (u64, u64) {
    let report = all(explore);
    (report.failing(), report.schedules())
}

/// The ways in which schedules end, and how many in each.
fn ends(report: &Report) -> Vec<(&str, u64)> {
    report.outcomes().iter().map(|(text, count)| (text.as_str(), *count)).collect()
}
