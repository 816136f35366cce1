//! A histogram of durations in nanoseconds, from 1 to 10⁹: exact below 256, and to 1/128 of the value above. Its classes
//! are those of the server's library, so that percentiles read the same.

/// Classes of which the first two halves have single values: 2⁷.
const HALF: usize = 1 << HALF_BITS;
const HALF_BITS: u32 = 7;
/// What is shorter counts as this.
const SHORTEST_NS: u64 = 1;
/// What is longer counts as this.
const LONGEST_NS: u64 = 1_000_000_000;

/// How often durations of each class were noted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Up to the highest class that was noted.
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Notes durations of one length.
    pub fn note(&mut self, ns: u64, times: u64) {
        if times == 0 {
            return;
        }
        let class = class_of(ns.clamp(SHORTEST_NS, LONGEST_NS));
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += times;
        self.total += times;
    }
    /// Adds all that another one has noted.
    pub fn add(&mut self, other: &Histogram) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
        self.total += other.total;
    }
    /// How many durations were noted.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// The duration that so many percent of those noted do not exceed, in nanoseconds: the longest of its class, for 0
    /// the shortest.
    pub fn percentile(&self, percent: f64) -> u64 {
        let wanted = (percent.min(100.0) / 100.0 * self.total as f64 + 0.5) as u64;
        let mut seen = 0;
        let reaches = |count: &u64| {
            seen += count;
            seen >= wanted.max(1)
        };
        let class = self.counts.iter().position(reaches).unwrap_or(0);
        if percent == 0.0 { least(class) } else { least(class + 1) - 1 }
    }
    /// How many were noted in the classes up to that of 1024 ns, of 2048 ns and so on, as (its end in microseconds, count):
    /// only those at which there are more than at the one before.
    pub fn cumulative(&self) -> Vec<(u64, u64)> {
        let (mut steps, mut counted, mut told, mut class) = (Vec::new(), 0, 0, 0);
        let mut limit = 1024;
        while counted < self.total {
            while class < self.counts.len() && least(class) <= limit {
                counted += self.counts[class];
                class += 1;
            }
            if counted > told {
                steps.push(((limit + limit / HALF as u64 - 1) / 1000, counted));
                told = counted;
            }
            limit *= 2;
        }
        steps
    }
}

fn class_of(ns: u64) -> usize {
    let bucket = (ns | (2 * HALF as u64 - 1)).ilog2() - HALF_BITS;
    (bucket as usize) * HALF + (ns >> bucket) as usize
}

/// The shortest duration of a class.
fn least(class: usize) -> u64 {
    match class / HALF {
        0 => class as u64,
        bucket => ((class % HALF + HALF) as u64) << (bucket - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_exact_below_256_and_as_wide_as_they_may_be_above() {
        for ns in 1..256 {
            assert_eq!((class_of(ns), least(class_of(ns))), (ns as usize, ns));
        }
        assert_eq!([256, 257, 258].map(class_of), [256, 256, 257]);
        for ns in [256, 1000, 1024, 65_535, 65_536, 50_000_000, LONGEST_NS] {
            let class = class_of(ns);
            assert!(least(class) <= ns && ns < least(class + 1), "{ns}");
            assert!(least(class + 1) - least(class) <= ns / 128, "{ns}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_server() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentile(50.0), histogram.cumulative()), (0, vec![]));
        histogram.note(0, 9);
        histogram.note(50_060_000, 1);
        assert_eq!(
            [0.0, 50.0, 90.0, 99.0, 100.0].map(|p| histogram.percentile(p)),
            [1, 1, 1, 50_069_503, 50_069_503]
        );
        assert_eq!(histogram.cumulative(), [(1, 9), (67_633, 10)]);
        histogram.note(u64::MAX, 1);
        assert_eq!(histogram.percentile(100.0), 1_002_438_655);
        let mut sum = histogram.clone();
        sum.add(&histogram);
        assert_eq!((sum.total(), sum.cumulative()), (22, vec![(1, 18), (67_633, 20), (1_082_130, 22)]));
    }
}
