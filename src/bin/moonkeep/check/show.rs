//! What people see of a check: one line for a script that kept its word; for one that did not each failure, with the
//! command that repeats it and what the call changed. Colours on a terminal only.

use super::{Checked, Mutants, Results};
use crate::harmless;
use crate::time::shown_duration;
use moonkeep::{CheckFailure, MissedLine};
use std::cell::Cell;
use std::io::Write;
use std::path::Path;

/// How results are shown.
pub(super) struct Look {
    styled: bool,
}

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const BOLD: &str = "1";

impl Look {
    pub(super) fn new(at_terminal: bool) -> Self {
        Look { styled: at_terminal && std::env::var_os("NO_COLOR").is_none() }
    }
    fn styled(&self, code: &str, text: &str) -> String {
        if self.styled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    /// One script.
    pub(super) fn script(&self, one: &Checked) -> String {
        let report = &one.report;
        let verdict = if report.is_kept() { self.styled(GREEN, "kept") } else { self.styled(RED, "broken") };
        let mut text =
            format!("{}: {verdict}, {} runs, seed {}", harmless(&one.path), report.runs(), report.seed());
        text += &format!(", up to {} instructions", report.instructions());
        if let Some(allowed) = report.instructions_allowed() {
            text += &format!(" of {allowed}");
        }
        text.push('\n');
        if report.left_out() > 0 {
            text += &format!(
                "  {} calls were not compared with the server: they hang on an expiry or its clock, on chance, reach beyond their keys, or it did otherwise only once\n",
                report.left_out()
            );
        }
        if report.outside() > 0 {
            text += &format!(
                "  {} calls of the regressions failed and do not count: their keys hold what the contract does not speak of\n",
                report.outside()
            );
        }
        for clause in report.clauses().iter().filter(|clause| clause.runs == 0) {
            let told = self.styled(YELLOW, "not reached");
            text += &format!("  {told}: line {}, {}\n", clause.line, clause.text);
        }
        for missed in report.missed() {
            text += &self.missed(&one.file, missed);
        }
        for finding in &one.findings {
            text += &format!("  {}: {}:{finding}\n", self.styled(YELLOW, "lint"), harmless(&one.path));
        }
        for failure in report.failures() {
            text += &self.failure(&one.file, failure);
        }
        text + &self.mutants(&one.mutants)
    }
    fn missed(&self, file: &Path, missed: &MissedLine) -> String {
        let from = missed.guard.map_or(String::new(), |guard| format!(", to which line {guard} leads"));
        let mut text = format!("  {}: line {}{from}\n", self.styled(YELLOW, "never ran"), missed.line);
        if let Some(command) = missed.command(file) {
            text += &format!("    nearest: {command}\n");
        }
        text
    }
    fn mutants(&self, mutants: &Mutants) -> String {
        let mutants = match mutants {
            Mutants::NotAsked => return String::new(),
            Mutants::Skipped => {
                return "  mutants not tried: the script breaks its contract itself\n".to_owned();
            }
            Mutants::Tried(mutants) => mutants,
        };
        let mut text = format!("  {} of {} mutants noticed\n", mutants.killed(), mutants.mutants().len());
        for mutant in mutants.survivors() {
            text += &format!("  {}: {mutant}\n", self.styled(YELLOW, "survives"));
        }
        text
    }
    fn failure(&self, file: &Path, failure: &CheckFailure) -> String {
        let rule = self.styled(RED, failure.rule().name());
        let mut text = format!("  {rule}: {}\n", harmless(failure.told()));
        text += &format!("    {}\n", self.styled(BOLD, &failure.command(file)));
        for line in format!("{:?}", failure.reply()).lines() {
            text += &format!("    -> {}\n", harmless(line));
        }
        for change in failure.changes() {
            let line = change.to_string();
            let code = match line.as_bytes().first() {
                Some(b'+') => GREEN,
                Some(b'-') => RED,
                _ => YELLOW,
            };
            text += &format!("    {}\n", self.styled(code, &line));
        }
        text
    }
    /// All scripts in a line.
    pub(super) fn summary(&self, results: &Results) -> String {
        let all = &results.checked;
        let broken = all.iter().filter(|one| !one.report.is_kept()).count();
        let loose = all.iter().filter(|one| one.report.is_kept() && one.fails(results.strict)).count();
        let runs: u64 = all.iter().map(|one| one.report.runs()).sum();
        let mut told = match broken {
            0 => self.styled(GREEN, "all kept their word"),
            _ => self.styled(RED, &format!("{broken} broke its contract")),
        };
        if loose > 0 {
            told += &self.styled(RED, &format!(", {loose} not strictly"));
        }
        let time = shown_duration(all.iter().map(|one| one.time).sum());
        format!("{} scripts, {runs} runs in {time}: {told}\n", all.len())
    }
}

/// A bar on standard error that shows how far a check is, on a terminal only.
pub(super) struct Progress {
    name: String,
    runs: u64,
    shown: bool,
    is_drawn: Cell<bool>,
}

impl Progress {
    const STEPS: u64 = 30;

    pub(super) fn new(name: &str, runs: u64, at_terminal: bool) -> Self {
        Progress { name: name.to_owned(), runs, shown: at_terminal, is_drawn: Cell::new(false) }
    }
    pub(super) fn show(&self, done: u64) {
        let every = (self.runs / 200).max(50);
        if !self.shown || done == 0 || !done.is_multiple_of(every) {
            return;
        }
        self.show_now(done);
    }
    pub(super) fn show_now(&self, done: u64) {
        if !self.shown {
            return;
        }
        let filled = (done * Self::STEPS / self.runs.max(1)).min(Self::STEPS) as usize;
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(Self::STEPS as usize - filled));
        let mut out = std::io::stderr();
        let _ = write!(out, "\r{} [{bar}] {done} of {}", self.name, self.runs);
        let _ = out.flush();
        self.is_drawn.set(true);
    }
    pub(super) fn clear(&self) {
        if self.is_drawn.get() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
