//! What is noted once a command has run: counters always; the slow log, the latency monitor and those who MONITOR only
//! when the command took long enough, or somebody looks. The common case costs one comparison.

use super::args::is;
use super::client_info::address;
use super::slowlog::SlowCommand;
use super::spec::{FAST, SKIP_SLOWLOG};
use super::table::Row;
use super::{Argv, State};
use crate::error::Failure;
use crate::store::SessionId;
use crate::util::num::parse_i64;
use std::borrow::Cow;

/// A command that has run.
#[derive(Clone, Copy)]
pub(crate) struct Ran<'a> {
    /// The session it ran for: of a script's command the one that scripts run with.
    pub(crate) id: SessionId,
    pub(crate) row: &'static Row,
    pub(crate) argv: Argv<'a>,
    pub(crate) duration_us: u64,
    /// When it ended, in microseconds.
    pub(crate) at_us: i64,
    /// The session waits: its end is yet to come.
    pub(crate) waits: bool,
}

impl State {
    /// Notes a command that has run, where it may have more to tell than that ([`is_calm`](Self::is_calm)).
    #[inline(never)]
    pub(crate) fn note_run(&mut self, ran: &Ran<'_>) {
        let keeps_duration = self.config.latency_tracking && !ran.waits;
        self.stats.note_call(ran.row, ran.duration_us, keeps_duration);
        if ran.duration_us >= self.attention_us {
            self.attend_to(ran);
        }
    }
    /// Notes that a script's command was refused.
    #[cold]
    pub(crate) fn note_rejection(&mut self, argv: Argv<'_>, failure: &Failure) {
        self.stats.note_error(&failure.to_bytes());
        if let Ok(row) = self.table.resolve(argv) {
            self.stats.note_rejection(row);
        }
        // It is no failure of the script that goes on.
        self.stats.settle_errors();
    }
    /// The command took long, or somebody looks at all of them.
    #[cold]
    #[inline(never)]
    fn attend_to(&mut self, ran: &Ran<'_>) {
        let event = if ran.row.spec.has(FAST) { "fast-command" } else { "command" };
        self.note_latency(event, ran);
        if !ran.waits {
            self.log_if_slow(ran);
        }
        if !self.monitors.is_empty() {
            self.show(ran.id, ran.row, ran.argv, ran.at_us);
        }
        if self.tracking.is_on() {
            self.remember_reads(ran);
        }
    }
    /// Notes that a command which waited has been served. That it ran was noted when it began to wait.
    pub(crate) fn note_served(&mut self, ran: &Ran<'_>) {
        let keeps_duration = self.config.latency_tracking;
        self.stats.note_served(ran.row, ran.duration_us, keeps_duration);
        if ran.duration_us >= self.attention_us {
            self.note_latency("command-unblocking", ran);
            self.log_if_slow(ran);
        }
    }
    fn note_latency(&mut self, event: &'static str, ran: &Ran<'_>) {
        self.store.latency.note(event, ran.duration_us / 1000, ran.at_us.div_euclid(1_000_000));
    }
    /// Decides which commands are worth a look, after settings have changed or somebody began or ceased to look.
    pub(crate) fn attend(&mut self) {
        let slower_than = u64::try_from(self.config.slowlog_log_slower_than).ok();
        if slower_than.is_some() {
            self.slow_log.trim(self.config.slowlog_max_len);
        }
        let threshold_ms = self.config.latency_monitor_threshold;
        let latency_us = if threshold_ms > 0 { threshold_ms.saturating_mul(1000) } else { u64::MAX };
        self.store.latency.threshold_ms = threshold_ms;
        self.store.latency.measures = self.measures;
        let somebody_looks = !self.monitors.is_empty() || self.tracking.is_on();
        let slow_us = slower_than.unwrap_or(u64::MAX).min(latency_us);
        self.attention_us = if somebody_looks { 0 } else { slow_us };
        self.is_calm = !self.measures && self.attention_us > 0 && self.config.latency_tracking;
    }
    /// The command has run to its end: it goes to the slow log when it took long enough.
    fn log_if_slow(&mut self, ran: &Ran<'_>) {
        let slower_than = u64::try_from(self.config.slowlog_log_slower_than).ok();
        let is_slow = slower_than.is_some_and(|slower_than| ran.duration_us >= slower_than);
        if !is_slow || ran.row.spec.has(SKIP_SLOWLOG) {
            return;
        }
        let session = self.sessions.get(ran.id);
        let entry = SlowCommand {
            id: 0,
            at_s: ran.at_us.div_euclid(1_000_000),
            duration_us: ran.duration_us,
            argv: Vec::new(),
            address: address(session),
            name: session.name.clone(),
        };
        self.slow_log.push(&shown(ran.row, ran.argv), entry);
        self.slow_log.trim(self.config.slowlog_max_len);
    }
}

/// What stands for a word that nobody is to see.
const REDACTED: &[u8] = b"(redacted)";

/// The words of a command as others may see them: without passwords.
pub(crate) fn shown<'a>(row: &Row, argv: Argv<'a>) -> Cow<'a, [&'a [u8]]> {
    let hidden = hidden(row.spec.name, argv);
    if hidden.is_empty() {
        return Cow::Borrowed(argv);
    }
    let show = |(at, word): (usize, &&'a [u8])| if hidden.contains(&at) { REDACTED } else { *word };
    Cow::Owned(argv.iter().enumerate().map(show).collect())
}

/// The places of the words that nobody is to see; where the server reads no further, nothing is hidden beyond.
fn hidden(name: &str, argv: Argv<'_>) -> Vec<usize> {
    match name {
        "auth" if argv.len() <= 3 => (1..argv.len()).collect(),
        "acl|setuser" => (2..argv.len()).collect(),
        "config|set" if argv.len().is_multiple_of(2) => {
            (3..argv.len()).step_by(2).filter(|&at| is_secret(argv[at - 1])).collect()
        }
        "hello" => credentials_of_hello(argv),
        "migrate" => credentials_of_migrate(argv),
        _ => Vec::new(),
    }
}

/// The settings whose values are secrets.
fn is_secret(setting: &[u8]) -> bool {
    ["requirepass", "masterauth", "masteruser"].iter().any(|name| is(setting, name))
}

fn credentials_of_hello(argv: Argv<'_>) -> Vec<usize> {
    let mut hidden = Vec::new();
    if !argv.get(1).is_some_and(|version| matches!(parse_i64(version), Some(2 | 3))) {
        return hidden;
    }
    let mut at = 2;
    while let Some(option) = argv.get(at) {
        if is(option, "auth") && at + 2 < argv.len() {
            hidden.extend([at + 1, at + 2]);
            at += 3;
        } else if is(option, "setname") && at + 1 < argv.len() {
            at += 2;
        } else {
            break;
        }
    }
    hidden
}

fn credentials_of_migrate(argv: Argv<'_>) -> Vec<usize> {
    let mut hidden = Vec::new();
    let mut at = 6;
    while let Some(option) = argv.get(at) {
        let words = match *option {
            option if is(option, "copy") || is(option, "replace") => 0,
            option if is(option, "auth") => 1,
            option if is(option, "auth2") => 2,
            _ => break,
        };
        if at + words >= argv.len() {
            break;
        }
        hidden.extend(at + 1..=at + words);
        at += words + 1;
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::super::spec::Spec;
    use super::*;

    fn seen(name: &'static str, line: &str) -> String {
        let spec = Box::leak(Box::new(Spec { name, usage: "X", ..Spec::BASE }));
        let table = super::super::table::Table::new(&[std::slice::from_ref(spec)]);
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let row = &table.rows()[0];
        let words: Vec<_> =
            shown(row, &argv).iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        words.join(" ").replace("(redacted)", "*")
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(seen("auth", "AUTH p"), "AUTH *");
        assert_eq!(seen("auth", "AUTH u p"), "AUTH * *");
        assert_eq!(seen("auth", "AUTH a b c"), "AUTH a b c");
        assert_eq!(seen("hello", "HELLO 3 SETNAME AUTH auth u p"), "HELLO 3 SETNAME AUTH auth * *");
        assert_eq!(seen("hello", "HELLO 3 X AUTH u p"), "HELLO 3 X AUTH u p");
        assert_eq!(seen("hello", "HELLO 4 AUTH u p"), "HELLO 4 AUTH u p");
        assert_eq!(seen("acl|setuser", "ACL SETUSER u >p"), "ACL SETUSER * *");
        assert_eq!(seen("config|set", "CONFIG SET a b RequirePass c"), "CONFIG SET a b RequirePass *");
        assert_eq!(seen("config|set", "CONFIG SET requirepass"), "CONFIG SET requirepass");
        assert_eq!(
            seen("migrate", "MIGRATE h p k 0 9 COPY AUTH p AUTH2 u p"),
            "MIGRATE h p k 0 9 COPY AUTH * AUTH2 * *"
        );
        assert_eq!(seen("migrate", "MIGRATE h p k 0 9 AUTH2 u"), "MIGRATE h p k 0 9 AUTH2 u");
        assert_eq!(seen("get", "GET auth"), "GET auth");
    }
}
