//! What this process has used of the machine, as Linux tells it in `/proc`; elsewhere the figures stay zero.

use crate::command::process::Process;
use crate::util::clock::Stopwatch;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

/// How old the figures may be.
const FRESH_FOR: Duration = Duration::from_millis(100);
/// What Linux counts processor time in, in microseconds.
const TICK_US: u64 = 10_000;

/// The figures of this process, and when they were read.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) process: Arc<Process>,
    read: Option<Stopwatch>,
}

impl Figures {
    pub(super) fn new(port: u16) -> Self {
        let executable = std::env::current_exe().map(|path| path.to_string_lossy().into_owned());
        let process = Process {
            id: std::process::id(),
            port,
            executable: executable.unwrap_or_default(),
            ..Process::default()
        };
        process.machine.set(kilobytes("/proc/meminfo", "MemTotal:").unwrap_or(0) * 1024);
        let mut figures = Figures { process: Arc::new(process), read: None };
        figures.refresh();
        figures
    }
    /// Reads them again, unless that was done just before.
    pub(super) fn refresh(&mut self) {
        if self.read.is_some_and(|read| read.elapsed() < FRESH_FOR) {
            return;
        }
        self.read = Some(Stopwatch::start());
        if let Some(bytes) = kilobytes("/proc/self/status", "VmRSS:") {
            self.process.resident.set(bytes * 1024);
        }
        if let Some((user, system)) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(ticks) {
            self.process.user_us.set(user * TICK_US);
            self.process.system_us.set(system * TICK_US);
        }
    }
}

/// A line of a file that tells a number of kilobytes.
fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Ticks in user mode and in the system's calls: the twelfth and thirteenth word behind the name of the program, which may
/// have blanks itself.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ticks_stand_behind_the_name() {
        let line = "7 (a b) c) R 1 7 7 0 -1 4194304 103 0 0 0 42 17 0 0 20 0 1 0 5 2 3";
        assert_eq!(ticks(line), Some((42, 17)));
        assert_eq!(ticks("7 (a)"), None);
    }

    #[test]
    fn figures_are_those_of_this_process() {
        let figures = Figures::new(7);
        assert_eq!((figures.process.id, figures.process.port), (std::process::id(), 7));
        assert_eq!(figures.process.resident.get() > 0, cfg!(target_os = "linux"));
    }
}
