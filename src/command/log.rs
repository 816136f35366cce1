//! What scripts write with `redis.log`: the last lines, for whoever asks. A server writes them to its log file.

use std::collections::VecDeque;
use std::fmt;

/// How many lines are kept; older ones go.
const LINES_MAX: usize = 1000;
/// How many bytes of a line are kept, as in a server's log file.
pub(crate) const LINE_BYTES_MAX: usize = 1024;

/// The level of a line, as `redis.LOG_DEBUG` and its like name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// `redis.LOG_DEBUG`.
    Debug,
    /// `redis.LOG_VERBOSE`.
    Verbose,
    /// `redis.LOG_NOTICE`.
    Notice,
    /// `redis.LOG_WARNING`.
    Warning,
}

/// One line. Shows itself as `warning: text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The level.
    pub level: LogLevel,
    /// The text.
    pub text: Vec<u8>,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            LogLevel::Debug => "debug",
            LogLevel::Verbose => "verbose",
            LogLevel::Notice => "notice",
            LogLevel::Warning => "warning",
        };
        write!(f, "{level}: {}", String::from_utf8_lossy(&self.text))
    }
}

/// The last lines of all scripts.
#[derive(Debug, Clone, Default)]
pub struct Log {
    lines: VecDeque<LogLine>,
}

impl Log {
    /// Adds a line.
    pub(crate) fn push(&mut self, level: LogLevel, mut text: Vec<u8>) {
        text.truncate(LINE_BYTES_MAX);
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(LogLine { level, text });
    }
    /// Takes all lines, the oldest first.
    pub(crate) fn take(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.lines).into()
    }
}
