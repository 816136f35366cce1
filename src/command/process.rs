//! What only the process around an engine knows, as the front that serves it tells: its number, its port, the time and the
//! memory it has used, the bytes of its sockets. An engine in process has none of this, and INFO says zero.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The process that serves an engine. The front writes the figures, commands read them.
#[derive(Debug, Default)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// The TCP port that it listens to; 0 for none.
    pub port: u16,
    /// The program.
    pub executable: String,
    /// Processor time in the system's calls, in microseconds.
    pub system_us: Figure,
    /// Processor time outside of them, in microseconds.
    pub user_us: Figure,
    /// Memory that is resident, in bytes.
    pub resident: Figure,
    /// Memory of the machine, in bytes.
    pub machine: Figure,
    /// Bytes read from sockets.
    pub bytes_in: Figure,
    /// Bytes written to sockets.
    pub bytes_out: Figure,
    /// Reads that brought something.
    pub reads: Figure,
    /// Writes that took something.
    pub writes: Figure,
    /// Connections refused because there were too many.
    pub refused: Figure,
    /// Memory that clients take up.
    pub client_bytes: Figure,
    /// Buffers of replies made smaller.
    pub shrinks: Figure,
    /// Buffers of replies made larger.
    pub expands: Figure,
}

/// A number that the front changes while others look at it.
#[derive(Debug, Default)]
pub struct Figure(AtomicU64);

impl Figure {
    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
    /// Sets it.
    #[inline]
    pub fn set(&self, number: u64) {
        self.0.store(number, Relaxed);
    }
    /// Adds to it.
    #[inline]
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Relaxed);
    }
}

impl Process {
    /// CONFIG RESETSTAT: what is counted begins anew.
    pub fn reset(&self) {
        let traffic = [&self.bytes_in, &self.bytes_out, &self.reads, &self.writes, &self.refused];
        traffic.into_iter().chain([&self.shrinks, &self.expands]).for_each(|figure| figure.set(0));
    }
}

/// How many samples a rate is the mean of.
const SAMPLES: usize = 16;
/// How far apart they are at least.
const SAMPLE_EVERY_MS: i64 = 100;

/// How much of something there is in a second, lately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    samples: [u64; SAMPLES],
    next: usize,
    counted: u64,
    at_ms: i64,
}

impl Rate {
    /// Whether it is time for a sample.
    pub fn is_due(&self, now_ms: i64) -> bool {
        now_ms - self.at_ms >= SAMPLE_EVERY_MS
    }
    /// There have been so many up to now.
    pub fn sample(&mut self, now_ms: i64, counted: u64) {
        if self.at_ms > 0 {
            let per_second = counted.saturating_sub(self.counted).saturating_mul(1000);
            self.samples[self.next] = per_second / (now_ms - self.at_ms).max(1).unsigned_abs();
            self.next = (self.next + 1) % SAMPLES;
        }
        (self.counted, self.at_ms) = (counted, now_ms);
    }
    /// How many there are in a second.
    pub fn per_second(&self) -> u64 {
        self.samples.iter().sum::<u64>() / SAMPLES as u64
    }
    /// Counting begins anew.
    pub fn reset(&mut self) {
        *self = Rate::default();
    }
}

/// What is sampled from time to time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Samples {
    /// Commands.
    pub commands: Rate,
    /// Bytes read.
    pub bytes_in: Rate,
    /// Bytes written.
    pub bytes_out: Rate,
    /// The most memory that was seen.
    pub peak_bytes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_mean_of_the_last_samples() {
        let mut rate = Rate::default();
        rate.sample(1000, 7);
        assert_eq!((rate.per_second(), rate.is_due(1099), rate.is_due(1100)), (0, false, true));
        for at in 1..=16 {
            rate.sample(1000 + 100 * at, 7 + 5 * at.unsigned_abs());
        }
        assert_eq!(rate.per_second(), 50);
        rate.sample(4200, 87);
        assert_eq!(rate.per_second(), 46);
        rate.reset();
        assert_eq!(rate.per_second(), 0);
    }
}
