//! What is counted of commands and errors: how often each command ran, was refused and failed, for how long it ran, and
//! how often each error was answered. INFO and LATENCY HISTOGRAM show it; what is noted when is in `observe`.

use super::table::Row;
use crate::util::histogram::Histogram;
use std::collections::BTreeMap;

/// Counters that INFO shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sessions opened.
    pub connections: u64,
    /// Images that sessions got which follow.
    pub full_syncs: u64,
    /// Sessions that wanted to go on where they were, and got an image instead.
    pub partial_syncs_refused: u64,
    /// Bytes for those that follow.
    pub replica_bytes: u64,
    /// Clients ended because all of them took too much memory.
    pub evicted_clients: u64,
    /// For how long keys expired in the background, in microseconds, where that is measured.
    pub expire_us: u64,
    /// Error replies; those that scripts got included.
    pub errors: u64,
    /// How many of them there were when the last command ended: those from there on are of the one that runs.
    errors_before: u64,
    /// Failures of the running command that were counted as errors before, within its script.
    retold: u64,
    /// Error replies by their first word.
    by_code: BTreeMap<Box<[u8]>, u64>,
    /// How often each command ran, by the number of its row.
    calls: Vec<u64>,
    /// All else about commands that have more to tell.
    more: Vec<More>,
    /// Where that stands for each row; beyond the end of `more` when there is none.
    places: Vec<u16>,
}

/// What is counted of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandStats {
    /// How often it ran, within scripts and transactions too.
    pub calls: u64,
    /// For how long in all, in microseconds.
    pub microseconds: u64,
    /// How often it was refused before it ran.
    pub rejected: u64,
    /// How often it ran and failed.
    pub failed: u64,
    /// For how long each time, as far as that was kept.
    pub histogram: Histogram,
}

/// What most commands do not have while the clock stands still.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct More {
    microseconds: u64,
    rejected: u64,
    failed: u64,
    /// Calls whose duration is not kept, or in `slow`. All others took no time.
    apart: u64,
    slow: Histogram,
}

impl More {
    fn note_duration(&mut self, us: u64) {
        if us == 0 {
            self.apart = self.apart.wrapping_sub(1);
        } else {
            self.slow.note(us.saturating_mul(1000), 1);
        }
    }
}

impl Stats {
    /// Nothing counted, of commands of which there are so many.
    pub(crate) fn new(rows: usize) -> Self {
        Stats { calls: vec![0; rows], ..Stats::default() }
    }
    /// Becomes what the other is; costs less than a copy where little was counted.
    #[cfg(feature = "sim")]
    pub(crate) fn rewind(&mut self, other: &Stats) {
        let (mut calls, mut more, mut places) = (
            std::mem::take(&mut self.calls),
            std::mem::take(&mut self.more),
            std::mem::take(&mut self.places),
        );
        calls.clone_from(&other.calls);
        more.clone_from(&other.more);
        places.clone_from(&other.places);
        let by_code = other.by_code.clone();
        *self = Stats { by_code, calls, more, places, ..*other };
    }
    /// Everything is counted from zero again.
    pub(crate) fn reset(&mut self) {
        *self = Stats::new(self.calls.len());
    }
    /// Commands run, those of scripts included.
    pub fn commands(&self) -> u64 {
        self.calls.iter().sum()
    }
    /// What is known of a command.
    pub fn command(&self, row: &Row) -> CommandStats {
        let calls = self.calls.get(usize::from(row.number)).copied().unwrap_or_default();
        let mut all = CommandStats { calls, ..CommandStats::default() };
        let Some(more) =
            self.places.get(usize::from(row.number)).and_then(|at| self.more.get(usize::from(*at)))
        else {
            all.histogram.note(0, calls);
            return all;
        };
        all.histogram = more.slow.clone();
        all.histogram.note(0, calls.wrapping_sub(more.apart));
        CommandStats { microseconds: more.microseconds, rejected: more.rejected, failed: more.failed, ..all }
    }
    /// Error replies by their first word, in its order.
    pub fn by_code(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.by_code.iter().map(|(code, count)| (&**code, *count))
    }
    /// Errors up to here are no command's, or are noted with it.
    pub(crate) fn settle_errors(&mut self) {
        self.errors_before = self.errors;
    }
    /// Whether the command that runs has failed, or told of a failure of one within it.
    pub(crate) fn has_failures(&self) -> bool {
        (self.errors ^ self.errors_before) | self.retold != 0
    }
    /// Counts a command that ran as most do: it succeeded, and took no time.
    #[inline(always)]
    pub(crate) fn count(&mut self, row: &Row) {
        if let Some(calls) = self.calls.get_mut(usize::from(row.number)) {
            *calls += 1;
        }
    }
    /// Notes that a command ran, and for how long.
    pub(crate) fn note_call(&mut self, row: &Row, duration_us: u64, keeps_duration: bool) {
        self.count(row);
        let failures = self.take_failures();
        if failures > 0 || duration_us > 0 || !keeps_duration {
            let more = self.more_of(row);
            more.microseconds += duration_us;
            more.failed += failures;
            if !keeps_duration {
                more.apart = more.apart.wrapping_add(1);
            } else if duration_us > 0 {
                more.apart = more.apart.wrapping_add(1);
                more.note_duration(duration_us);
            }
        }
    }
    fn more_of(&mut self, row: &Row) -> &mut More {
        let place = usize::from(row.number);
        if self.places.len() <= place {
            self.places.resize(place + 1, u16::MAX);
        }
        let at = usize::from(self.places[place]).min(self.more.len());
        if at == self.more.len() {
            self.places[place] = at as u16;
            self.more.push(More::default());
        }
        &mut self.more[at]
    }
    /// How often the command that ran has failed: once for all errors of its own, and once for each that it told of.
    fn take_failures(&mut self) -> u64 {
        let own = u64::from(self.errors != self.errors_before);
        self.errors_before = self.errors;
        own + std::mem::take(&mut self.retold)
    }
    /// Notes that a command that waited was served; that it ran is noted.
    pub(crate) fn note_served(&mut self, row: &Row, duration_us: u64, keeps_duration: bool) {
        let failures = self.take_failures();
        let more = self.more_of(row);
        more.microseconds += duration_us;
        more.failed += failures;
        if keeps_duration {
            more.note_duration(duration_us);
        }
    }
    /// Notes that a command was refused, with an error that was noted before.
    pub(crate) fn note_rejection(&mut self, row: &Row) {
        self.more_of(row).rejected += 1;
        self.errors_before = self.errors;
    }
    /// Notes an error reply.
    #[cold]
    pub(crate) fn note_error(&mut self, text: &[u8]) {
        const LONGEST: usize = 31;
        self.errors += 1;
        let end = text.iter().take(LONGEST).position(|byte| *byte == b' ');
        let code = end.map_or(&b"ERR"[..], |end| &text[..end]);
        *self.by_code.entry(Box::from(code)).or_default() += 1;
    }
    /// Notes that a script fails with the error of one of its commands, which is counted.
    pub(crate) fn note_retold(&mut self) {
        self.retold += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_their_first_word() {
        let mut stats = Stats::default();
        for text in ["ERR one", "WRONGTYPE two", "ERR", "", &"X".repeat(40), "A b", "ERR three"] {
            stats.note_error(text.as_bytes());
        }
        let by_code: Vec<_> = stats.by_code().collect();
        assert_eq!(by_code, [(&b"A"[..], 1), (b"ERR", 5), (b"WRONGTYPE", 1)]);
        assert_eq!(stats.errors, 7);
    }
}
