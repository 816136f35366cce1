//! Time. A clock is a value that the engine is given: the system's, or one that only its holder moves.
//! The one file where the system's time is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where an engine takes its time from. Clones share the time, so several engines can stand on one clock.
#[derive(Debug, Clone)]
pub struct Clock {
    source: Source,
    offset_us: i64,
    rate_ppm: i64,
}

#[derive(Debug, Clone)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The start time of an engine that was not told another: 2024-01-01 00:00:00 UTC, in milliseconds.
    pub const DEFAULT_START_MS: i64 = 1_704_067_200_000;

    /// The last millisecond that a clock can show.
    pub(crate) const LAST_MS: i64 = i64::MAX / 1000;

    /// The machine's wall clock.
    pub fn system() -> Self {
        Clock { source: Source::System, offset_us: 0, rate_ppm: 0 }
    }
    /// A clock that stands at `start_ms` milliseconds of Unix time until it is moved. No clock shows a time before
    /// 1970: expiry, stream IDs and ages have no meaning there.
    pub fn manual(start_ms: i64) -> Self {
        let us = Arc::new(AtomicI64::new(start_ms.max(0).saturating_mul(1000)));
        Clock { source: Source::Manual(us), offset_us: 0, rate_ppm: 0 }
    }
    /// The same source seen by a machine whose clock is off by `offset_ms` and runs `rate_ppm` millionths too fast.
    #[must_use]
    pub fn skewed(&self, offset_ms: i64, rate_ppm: i64) -> Self {
        Clock { source: self.source.clone(), offset_us: offset_ms.saturating_mul(1000), rate_ppm }
    }
    /// Whether it shows another time than its source has.
    #[cfg(feature = "sim")]
    pub(crate) fn is_skewed(&self) -> bool {
        self.offset_us != 0 || self.rate_ppm != 0
    }
    /// The first whole millisecond of its source at which it shows this time or a later one.
    #[cfg(feature = "sim")]
    pub(crate) fn source_ms_at(&self, shown_ms: i64) -> i64 {
        let source = Clock::manual(0);
        let shows = |ms: i64| {
            source.set_ms(ms);
            Clock { source: source.source.clone(), ..*self }.now_ms()
        };
        // It never runs backwards but for a rate that is: then no later time shows what the first does not.
        let (mut before, mut at) = (-1, Self::LAST_MS);
        while at - before > 1 {
            let middle = before + (at - before) / 2;
            if shows(middle) >= shown_ms { at = middle } else { before = middle }
        }
        at
    }
    /// True when only `advance` and `set` move this clock.
    pub fn is_manual(&self) -> bool {
        matches!(self.source, Source::Manual(_))
    }
    /// Unix time in microseconds.
    #[inline]
    pub fn now_us(&self) -> i64 {
        let us = match &self.source {
            Source::System => system_us(),
            Source::Manual(us) => us.load(Ordering::Acquire),
        };
        if self.offset_us == 0 && self.rate_ppm == 0 {
            return us;
        }
        let drift = i128::from(us) * i128::from(self.rate_ppm) / 1_000_000;
        let drift = drift.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        us.saturating_add(drift).saturating_add(self.offset_us).max(0)
    }
    /// Unix time in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.now_us().div_euclid(1000)
    }
    /// Moves a manual clock on; false (and nothing happens) on the system clock.
    pub fn advance(&self, by: Duration) -> bool {
        let Source::Manual(us) = &self.source else { return false };
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        let _ = us.fetch_update(Ordering::AcqRel, Ordering::Acquire, |at| Some(at.saturating_add(by)));
        true
    }
    /// Lets time pass: moves a manual clock, waits on the system's.
    #[expect(
        clippy::disallowed_methods,
        reason = "only on the system clock, where waiting is what was asked for"
    )]
    pub fn sleep(&self, time: Duration) {
        if !self.advance(time) {
            std::thread::sleep(time);
        }
    }
    /// Sets a manual clock, also backwards, but not before 1970; false (and nothing happens) on the system clock.
    pub fn set_ms(&self, unix_ms: i64) -> bool {
        let Source::Manual(us) = &self.source else { return false };
        us.store(unix_ms.max(0).saturating_mul(1000), Ordering::Release);
        true
    }
    /// A manual clock of its own that stands at the same time; the system's clock remains what it is.
    #[must_use]
    pub(crate) fn standing(&self) -> Self {
        let source = match &self.source {
            Source::System => Source::System,
            Source::Manual(us) => Source::Manual(Arc::new(AtomicI64::new(us.load(Ordering::Acquire)))),
        };
        Clock { source, ..*self }
    }
    /// Sets a manual clock to the time of another manual one, before what either is off by.
    pub(crate) fn set_as(&self, other: &Clock) {
        if let (Source::Manual(us), Source::Manual(other)) = (&self.source, &other.source) {
            us.store(other.load(Ordering::Acquire), Ordering::Release);
        }
    }
    /// Moves a manual clock that is behind this time on to it.
    pub(crate) fn catch_up(&self, unix_ms: i64) {
        let behind = unix_ms.saturating_sub(self.now_ms());
        if let Ok(ms @ 1..) = u64::try_from(behind) {
            self.advance(Duration::from_millis(ms));
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Clock::manual(Clock::DEFAULT_START_MS)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where the system's time is read")]
fn system_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// A deadline in real time, for guards that protect the host (a script that never ends), never for semantics.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(std::time::Instant);

impl Deadline {
    /// So long from now.
    #[expect(clippy::disallowed_methods, reason = "a guard of the host, not part of the semantics")]
    pub fn after(limit: Duration) -> Self {
        let now = std::time::Instant::now();
        Deadline(now.checked_add(limit).unwrap_or_else(|| now + Duration::from_secs(86_400 * 365)))
    }
    /// True once the time is over.
    #[expect(clippy::disallowed_methods, reason = "a guard of the host, not part of the semantics")]
    pub fn is_over(&self) -> bool {
        std::time::Instant::now() >= self.0
    }
}

/// Real time from its start on: to tell people what something cost on this machine, never for semantics.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "shown to people, not part of the semantics")]
    pub fn start() -> Self {
        Stopwatch(std::time::Instant::now())
    }
    /// The time since the start.
    #[expect(clippy::disallowed_methods, reason = "shown to people, not part of the semantics")]
    pub fn elapsed(&self) -> Duration {
        std::time::Instant::now().saturating_duration_since(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = Clock::manual(1_000);
        let shared = clock.clone();
        assert_eq!(clock.now_ms(), 1_000);
        assert!(shared.advance(Duration::from_micros(1_500)));
        assert_eq!((clock.now_ms(), clock.now_us()), (1_001, 1_001_500));
        assert!(clock.set_ms(5));
        assert_eq!(shared.now_us(), 5_000);
    }

    #[test]
    fn a_skewed_view_shares_the_source() {
        let clock = Clock::manual(1_000_000);
        let fast = clock.skewed(10, 1_000);
        assert_eq!(fast.now_ms(), 1_001_010);
        assert!(!Clock::system().advance(Duration::ZERO));
    }

    #[test]
    fn no_clock_shows_a_time_before_1970() {
        let clock = Clock::manual(-1);
        assert_eq!(clock.now_us(), 0);
        assert_eq!(clock.skewed(-5, 0).now_ms(), 0);
        assert_eq!(clock.skewed(i64::MIN, i64::MIN).now_ms(), 0);
        assert!(clock.set_ms(i64::MIN));
        assert_eq!(clock.now_us(), 0);
        assert!(clock.set_ms(i64::MAX));
        assert_eq!(clock.skewed(i64::MAX, i64::MAX).now_us(), i64::MAX);
        assert_eq!(clock.skewed(0, i64::MIN).now_us(), 0);
    }
}
