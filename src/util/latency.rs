//! What the latency monitor keeps: for each kind of event how long it took at which second, the last ones. LATENCY shows
//! it; who notes what is in `command::observe`, `store` and `engine`.

use super::clock::Stopwatch;
use std::collections::{BTreeMap, VecDeque};

/// How many samples are kept of an event.
const SAMPLES: usize = 160;

/// One sample: when, in Unix seconds, and for how long, in milliseconds.
pub type Sample = (i64, u64);

/// What is known of one kind of event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    samples: VecDeque<Sample>,
    /// The longest of all time, in milliseconds.
    pub max_ms: u64,
}

/// What LATENCY DOCTOR tells of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// How many samples there are.
    pub samples: u64,
    /// Their mean, in milliseconds.
    pub mean_ms: u64,
    /// By how much they differ from it in the mean.
    pub deviation_ms: u64,
    /// For how many seconds there have been some.
    pub period_s: i64,
}

impl Series {
    /// A second has one sample: its longest.
    fn note(&mut self, now_s: i64, ms: u64) {
        self.max_ms = self.max_ms.max(ms);
        match self.samples.back_mut() {
            Some((at_s, longest)) if *at_s == now_s => *longest = ms.max(*longest),
            _ => {
                if self.samples.len() == SAMPLES {
                    self.samples.pop_front();
                }
                self.samples.push_back((now_s, ms));
            }
        }
    }
    /// The samples, the oldest first.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Sample> {
        self.samples.iter().copied()
    }
    /// The last sample.
    pub fn last(&self) -> Sample {
        self.samples.back().copied().unwrap_or_default()
    }
    /// What can be said of all of them.
    pub fn summary(&self, now_s: i64) -> Summary {
        let count = self.samples.len().max(1) as u64;
        let mean_ms = self.samples.iter().map(|(_, ms)| ms).sum::<u64>() / count;
        let deviations = self.samples.iter().map(|(_, ms)| ms.abs_diff(mean_ms));
        let first_s = self.samples.iter().map(|(at_s, _)| *at_s).min().unwrap_or(now_s);
        Summary {
            samples: self.samples.len() as u64,
            mean_ms,
            deviation_ms: deviations.sum::<u64>() / count,
            period_s: if now_s == first_s { 1 } else { now_s - first_s },
        }
    }
}

/// The monitor: off until a threshold is set.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    series: BTreeMap<&'static str, Series>,
    /// From how many milliseconds on an event counts; 0 for never.
    pub threshold_ms: u64,
    /// What has no time of its own by the engine's clock is measured: the clock runs by itself.
    pub measures: bool,
}

impl Monitor {
    /// Notes an event, when it took long enough.
    pub fn note(&mut self, event: &'static str, ms: u64, now_s: i64) {
        if self.threshold_ms > 0 && ms >= self.threshold_ms {
            self.series.entry(event).or_default().note(now_s, ms);
        }
    }
    /// Starts to measure what may be an event.
    pub fn start(&self) -> Option<Stopwatch> {
        (self.measures && self.threshold_ms > 0).then(Stopwatch::start)
    }
    /// Notes an event that was measured.
    pub fn stop(&mut self, event: &'static str, started: Option<Stopwatch>, now_s: i64) {
        if let Some(stopwatch) = started {
            self.note(event, stopwatch.elapsed().as_millis() as u64, now_s);
        }
    }
    /// All events, in order of name.
    pub fn series(&self) -> impl ExactSizeIterator<Item = (&'static str, &Series)> {
        self.series.iter().map(|(event, series)| (*event, series))
    }
    /// One event.
    pub fn find(&self, event: &[u8]) -> Option<(&'static str, &Series)> {
        self.series().find(|(name, _)| name.as_bytes() == event)
    }
    /// Forgets the events of this name, in any case, or all; how many there were.
    pub fn forget(&mut self, event: Option<&[u8]>) -> usize {
        let before = self.series.len();
        self.series.retain(|name, _| event.is_some_and(|event| !name.as_bytes().eq_ignore_ascii_case(event)));
        before - self.series.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_one_sample_and_old_ones_go() {
        let mut monitor = Monitor::default();
        monitor.note("command", 100, 1);
        assert_eq!(monitor.series().len(), 0, "it is off");
        monitor.threshold_ms = 5;
        for (ms, at_s) in [(4, 1), (5, 1), (9, 1), (7, 1), (6, 3)] {
            monitor.note("command", ms, at_s);
        }
        let (_, series) = monitor.find(b"command").expect("it is there");
        assert_eq!(series.samples().collect::<Vec<_>>(), [(1, 9), (3, 6)]);
        assert_eq!((series.last(), series.max_ms), ((3, 6), 9));
        assert_eq!(series.summary(5), Summary { samples: 2, mean_ms: 7, deviation_ms: 1, period_s: 4 });
        for at_s in 10..200 {
            monitor.note("command", 5, at_s);
        }
        let (_, series) = monitor.find(b"command").expect("it is there");
        assert_eq!((series.samples().len(), series.samples().next(), series.max_ms), (160, Some((40, 5)), 9));
        assert_eq!((monitor.forget(Some(b"nosuch")), monitor.forget(Some(b"COMMAND"))), (0, 1));
    }
}
