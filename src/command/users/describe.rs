//! Users as the rules that make them: what ACL LIST and ACL GETUSER show. Commands are told by as few categories and
//! single commands as the server's search finds; where it lists single commands in no order, these are by name.

use super::super::spec::acl;
use super::super::table::Table;
use super::User;
use super::rules::Grammar;
use super::selector::{CommandSet, KeyPattern, Selector};

impl User {
    /// The names of what is set, as ACL GETUSER lists them.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.enabled, "on"),
            (!self.enabled, "off"),
            (self.nopass, "nopass"),
            (self.sanitizes_payload == Some(false), "skip-sanitize-payload"),
            (self.sanitizes_payload == Some(true), "sanitize-payload"),
        ];
        flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag)
    }
    /// All rules in one line.
    pub(crate) fn describe(&self, table: &'static Table) -> Vec<u8> {
        let mut line = Vec::new();
        for flag in self.flags() {
            line.extend_from_slice(flag.as_bytes());
            line.push(b' ');
        }
        for password in &self.passwords {
            line.push(b'#');
            line.extend_from_slice(password);
            line.push(b' ');
        }
        for (place, selector) in self.selectors.iter().enumerate() {
            if place == 0 {
                selector.describe(table, &mut line);
            } else {
                line.extend_from_slice(b" (");
                selector.describe(table, &mut line);
                line.push(b')');
            }
        }
        line
    }
}

impl KeyPattern {
    fn describe(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(match (self.reads, self.writes) {
            (true, true) => b"~",
            (true, false) => b"%R~",
            (false, _) => b"%W~",
        });
        line.extend_from_slice(&self.pattern);
    }
}

impl Selector {
    fn describe(&self, table: &'static Table, line: &mut Vec<u8>) {
        let keys = self.describe_keys();
        line.extend_from_slice(&keys);
        line.extend_from_slice(if keys.is_empty() { b"" } else { b" " });
        if !self.all_channels {
            line.extend_from_slice(b"resetchannels ");
        }
        let channels = self.describe_channels();
        line.extend_from_slice(&channels);
        line.extend_from_slice(if channels.is_empty() { b"" } else { b" " });
        line.extend_from_slice(&self.describe_commands(table));
    }
    /// The patterns of keys.
    pub(crate) fn describe_keys(&self) -> Vec<u8> {
        if self.all_keys {
            return b"~*".to_vec();
        }
        let shown = self.keys.iter().map(|pattern| {
            let mut text = Vec::new();
            pattern.describe(&mut text);
            text
        });
        shown.collect::<Vec<_>>().join(&b' ')
    }
    /// The patterns of channels.
    pub(crate) fn describe_channels(&self) -> Vec<u8> {
        if self.all_channels {
            return b"&*".to_vec();
        }
        let shown = self.channels.iter().map(|pattern| [b"&", pattern.as_slice()].concat());
        shown.collect::<Vec<_>>().join(&b' ')
    }
    /// The commands, as rules that begin with all or with none.
    pub(crate) fn describe_commands(&self, table: &'static Table) -> Vec<u8> {
        let adds = !self.commands.has_future();
        let mut text = if adds { b"-@all".to_vec() } else { b"+@all".to_vec() };
        let mut made = Selector::new(false);
        made.commands = if adds { CommandSet::NONE } else { CommandSet::ALL };
        let grammar = Grammar { table, all_channels: false };
        for category in self.best_categories(grammar, adds) {
            text.extend_from_slice(if adds { b" +@" } else { b" -@" });
            text.extend_from_slice(category.as_bytes());
            // Each of these is the name of a category.
            let _ = grammar.change_category(&mut made, category.as_bytes(), adds);
        }
        self.add_single_commands(table, &mut made, &mut text);
        text
    }
    /// The categories that come closest, best first, each counted on what those before it leave.
    fn best_categories(&self, grammar: Grammar, adds: bool) -> Vec<&'static str> {
        let (mut left, mut chosen) = (self.clone(), Vec::new());
        loop {
            let mut best: Option<(usize, usize, &'static str)> = None;
            for name in acl::NAMES.into_iter().filter(|name| !chosen.contains(name)) {
                let (on, off) = left.count(grammar.table, acl::by_name(name.as_bytes()));
                let (same, differ) = if adds { (on, off) } else { (off, on) };
                let is_better =
                    best.is_none_or(|(least, most, _)| differ < least || (differ == least && same > most));
                if same > differ && is_better {
                    best = Some((differ, same, name));
                }
            }
            let Some((_, _, name)) = best else { return chosen };
            let _ = grammar.change_category(&mut left, name.as_bytes(), !adds);
            chosen.push(name);
        }
    }
    /// How many commands of a category are allowed, and how many are not.
    fn count(&self, table: &Table, category: u32) -> (usize, usize) {
        let members = table.rows().iter().filter(|row| row.spec.categories() & category != 0);
        members.fold((0, 0), |(on, off), row| match self.commands.has(row.number) {
            true => (on + 1, off),
            false => (on, off + 1),
        })
    }
    fn add_single_commands(&self, table: &Table, made: &mut Selector, text: &mut Vec<u8>) {
        for row in table.rows() {
            let allowed = self.commands.has(row.number);
            if allowed != made.commands.has(row.number) {
                text.extend_from_slice(if allowed { b" +" } else { b" -" });
                text.extend_from_slice(row.spec.name.as_bytes());
                made.change(table, row, allowed);
            }
            let first_args = self.first_args.get(&row.number).filter(|_| !allowed);
            for argument in first_args.into_iter().flatten() {
                text.extend_from_slice(b" +");
                text.extend_from_slice(row.spec.name.as_bytes());
                text.push(b'|');
                text.extend_from_slice(argument);
            }
        }
    }
}
