//! What the random programs reached: commands, tokens of their usage, error texts.

use super::program::Command;
use super::texts::{self, Text};
use crate::support::wire::Wire;
use std::collections::BTreeMap;

/// What programs seldom reach on purpose: a self-test computes for half a second, and takes no arguments.
const SELDOM: &[&str] = &["PFSELFTEST", "ERR TESTFAILED"];

/// Counts.
#[derive(Default)]
pub(crate) struct Coverage {
    commands: BTreeMap<String, u64>,
    tokens: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    texts: Vec<Text>,
    /// Commands in all, those of scripts not counted apart.
    steps: u64,
}

impl Coverage {
    /// Makes the error texts of the sources known.
    pub(crate) fn expect_texts(&mut self) {
        self.texts = texts::reachable();
        self.errors.extend(self.texts.iter().map(|text| (text.name(), 0)));
    }

    /// Makes a command and its tokens known, so that one never reached shows as zero.
    pub(crate) fn expect(&mut self, command: &str, tokens: Vec<String>) {
        self.commands.entry(command.into()).or_default();
        for token in tokens {
            self.tokens.entry(format!("{command} {token}")).or_default();
        }
    }

    /// Counts a command and its reply.
    pub(crate) fn note(&mut self, command: &Command, reply: &Wire) {
        self.steps += 1;
        // A name that is none stands for an error text.
        if let Some(count) = self.commands.get_mut(&command.name) {
            *count += 1;
        }
        if let Some(inner) = &command.inner {
            *self.commands.entry(inner.clone()).or_default() += 1;
        }
        self.note_errors(reply);
        if !reply.is_error() {
            command.tokens.iter().for_each(|token| *self.tokens.entry(token.clone()).or_default() += 1);
            if command.written {
                self.note_words(command);
            }
        }
    }

    /// The errors of a reply, also within the reply to EXEC.
    fn note_errors(&mut self, reply: &Wire) {
        match reply {
            Wire::Error(text) => {
                let text = String::from_utf8_lossy(text);
                let name = texts::of(&self.texts, &text).map_or_else(|| general(&text), Text::name);
                *self.errors.entry(name).or_default() += 1;
            }
            reply => reply.items().iter().for_each(|item| self.note_errors(item)),
        }
    }

    /// Of a command written by hand, the tokens among its words.
    fn note_words(&mut self, command: &Command) {
        let names = command.name.split(' ').count();
        for word in command.argv.iter().skip(names) {
            let token = format!("{} {}", command.name, String::from_utf8_lossy(word));
            if let Some(count) = self.tokens.get_mut(&token) {
                *count += 1;
            }
        }
    }

    /// What was reached less often than this.
    pub(crate) fn rarer_than(&self, least: u64) -> Vec<String> {
        let all = self.commands.iter().chain(&self.tokens).chain(&self.errors);
        let all = all.filter(|(name, _)| !SELDOM.iter().any(|start| name.starts_with(start)));
        all.filter(|(_, count)| **count < least).map(|(name, count)| format!("{name} {count}")).collect()
    }

    /// The table, rarest first in each part.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        for (title, counts) in
            [("command", &self.commands), ("token", &self.tokens), ("error text", &self.errors)]
        {
            let mut rows: Vec<_> = counts.iter().map(|(name, count)| (*count, name)).collect();
            rows.sort();
            text.push_str(&format!("{title}: {} kinds\n", rows.len()));
            for (count, name) in rows {
                text.push_str(&format!("{count:>9}  {name}\n"));
            }
        }
        text
    }

    /// One line: how many of each, and the least count.
    pub(crate) fn summary(&self) -> String {
        let part = |name: &str, counts: &BTreeMap<String, u64>| {
            format!("{} {name} (at least {} times)", counts.len(), counts.values().min().unwrap_or(&0))
        };
        let parts = [
            part("commands", &self.commands),
            part("tokens", &self.tokens),
            part("error texts", &self.errors),
        ];
        format!("by {} commands: {}", self.steps, parts.join(", "))
    }
}

/// An error text without what it quotes: names, numbers, script digests.
fn general(text: &str) -> String {
    let text = text.replace("can't", "cannot").replace("doesn't", "does not");
    let text = text.split(" script: ").next().unwrap_or_default();
    let text = text.split(", with args beginning").next().unwrap_or_default();
    if let Some((start, _)) =
        text.split_once("option ").filter(|(start, _)| start.starts_with("ERR Unsupported"))
    {
        return format!("{start}option …");
    }
    if let Some((start, _)) = text.split_once("compiling script (new function): ") {
        return format!("{start}compiling script …");
    }
    let parts = text.split('\'').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "'…'" });
    parts.collect()
}
