//! One set of rules: which commands, which keys, which channels. A user has one of their own and any number besides.
//! Words become rules in `rules`; what several selectors make of a command is in `permissions`.

use super::super::Argv;
use super::super::args::is;
use super::super::keys::{self, KeyRef};
use super::super::spec::{ACCESS, Access, DELETE, INSERT, NO_AUTH, NOT_KEY, UPDATE};
use super::super::table::{Row, Table};
use crate::error::Reason;
use crate::util::bytes::Bytes;
use crate::util::glob::glob;
use std::collections::BTreeMap;

/// A set of commands, by their numbers in the table. The highest number stands for all commands there may ever be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommandSet([u64; 16]);

impl CommandSet {
    pub(super) const NONE: CommandSet = CommandSet([0; 16]);
    pub(super) const ALL: CommandSet = CommandSet([u64::MAX; 16]);
    const FUTURE: u16 = 16 * 64 - 1;

    pub(super) fn has(&self, number: u16) -> bool {
        self.0.get(usize::from(number / 64)).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
    pub(super) fn set(&mut self, number: u16, allowed: bool) {
        if let Some(word) = self.0.get_mut(usize::from(number / 64)) {
            let bit = 1 << (number % 64);
            *word = if allowed { *word | bit } else { *word & !bit };
        }
    }
    /// Whether commands belong to it that nobody knows yet: it is all but some.
    pub(super) fn has_future(&self) -> bool {
        self.has(Self::FUTURE)
    }
}

/// Keys that may be read, written or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyPattern {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) pattern: Bytes,
}

impl KeyPattern {
    /// Whether what a command does to a key is covered.
    fn covers(&self, access: Access) -> bool {
        (self.reads || access & ACCESS == 0) && (self.writes || access & (INSERT | DELETE | UPDATE) == 0)
    }
}

/// One set of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    pub(super) all_commands: bool,
    pub(super) all_keys: bool,
    pub(super) all_channels: bool,
    pub(super) commands: CommandSet,
    /// First arguments with which a command is allowed that is not allowed otherwise.
    pub(super) first_args: BTreeMap<u16, Vec<Bytes>>,
    pub(super) keys: Vec<KeyPattern>,
    pub(super) channels: Vec<Bytes>,
}

/// A refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Denied {
    /// What is not allowed.
    pub reason: Reason,
    /// Its place in argv.
    pub at: usize,
}

/// The channels of a command from this argument on, and how they are meant.
struct Channels {
    count: usize,
    are_patterns: bool,
}

impl Selector {
    /// Allows nothing, but all channels where that is the default.
    pub(super) fn new(all_channels: bool) -> Self {
        Selector {
            all_commands: false,
            all_keys: false,
            all_channels,
            commands: CommandSet::NONE,
            first_args: BTreeMap::new(),
            keys: Vec::new(),
            channels: Vec::new(),
        }
    }
    /// Allows everything.
    pub(super) fn unlimited() -> Self {
        Selector { all_commands: true, all_keys: true, commands: CommandSet::ALL, ..Selector::new(true) }
    }
    /// Whether no command needs to be looked at.
    pub(super) fn allows_everything(&self) -> bool {
        self.all_commands && self.all_keys && self.all_channels
    }
    /// Allows or refuses a command with all its subcommands.
    pub(super) fn change(&mut self, table: &Table, row: &Row, allowed: bool) {
        self.set_command(row.number, allowed);
        self.first_args.remove(&row.number);
        for subcommand in table.subcommands(row) {
            self.set_command(subcommand.number, allowed);
        }
    }
    fn set_command(&mut self, number: u16, allowed: bool) {
        self.commands.set(number, allowed);
        self.all_commands &= allowed;
    }
    /// Whether a command with these words is allowed; `keys` are looked for once for all selectors.
    pub(super) fn check(
        &self,
        row: &Row,
        argv: Argv<'_>,
        keys: &mut Option<Vec<KeyRef>>,
    ) -> Result<(), Denied> {
        if !self.all_commands && !row.spec.has(NO_AUTH) && !self.allows_command(row, argv) {
            return Err(Denied { reason: Reason::Command, at: 0 });
        }
        if !self.all_keys && may_have_keys(row) {
            let keys = keys.get_or_insert_with(|| keys::find(row.spec, argv));
            let refused = keys.iter().find(|key| !self.allows_key(word(argv, key.at), key.access));
            if let Some(key) = refused {
                return Err(Denied { reason: Reason::Key, at: key.at });
            }
        }
        match channels(row) {
            Some(channels) if !self.all_channels => self.check_channels(&channels, argv),
            _ => Ok(()),
        }
    }
    fn allows_command(&self, row: &Row, argv: Argv<'_>) -> bool {
        if self.commands.has(row.number) {
            return true;
        }
        let (Some(allowed), Some(first)) = (self.first_args.get(&row.number), argv.get(1)) else {
            return false;
        };
        allowed.iter().any(|allowed| c_str(allowed).eq_ignore_ascii_case(c_str(first)))
    }
    pub(super) fn allows_key(&self, key: &[u8], access: Access) -> bool {
        self.all_keys
            || self.keys.iter().any(|known| known.covers(access) && glob(&known.pattern, key, false))
    }
    /// Whether this access is allowed to all keys there are: what SORT asks before it looks keys up by a pattern.
    pub(super) fn allows_all_keys(&self, access: Access) -> bool {
        self.all_keys
            || self.keys.iter().any(|known| known.covers(access) && known.pattern.as_slice() == b"*")
    }
    fn check_channels(&self, channels: &Channels, argv: Argv<'_>) -> Result<(), Denied> {
        let names = argv.iter().enumerate().skip(1).take(channels.count);
        let mut refused =
            names.filter(|(_, name)| !allows_channel(&self.channels, name, channels.are_patterns));
        match refused.next() {
            Some((at, _)) => Err(Denied { reason: Reason::Channel, at }),
            None => Ok(()),
        }
    }
}

/// Whether one of the patterns lets a channel through: a pattern that is subscribed to has to be among them literally.
pub(super) fn allows_channel(allowed: &[Bytes], name: &[u8], is_pattern: bool) -> bool {
    allowed.iter().any(|pattern| match is_pattern {
        true => pattern.as_slice() == c_str(name),
        false => glob(pattern, name, false),
    })
}

/// Whether a command has keys in some of its forms.
fn may_have_keys(row: &Row) -> bool {
    row.spec.keys.iter().any(|key| key.access & NOT_KEY == 0)
}

fn channels(row: &Row) -> Option<Channels> {
    let (count, are_patterns) = match row.spec.name {
        "subscribe" | "ssubscribe" => (usize::MAX, false),
        "psubscribe" => (usize::MAX, true),
        "publish" | "spublish" => (1, false),
        _ => return None,
    };
    Some(Channels { count, are_patterns })
}

fn word<'a>(argv: Argv<'a>, at: usize) -> &'a [u8] {
    argv.get(at).copied().unwrap_or_default()
}

/// What C's string functions see of a word.
pub(super) fn c_str(word: &[u8]) -> &[u8] {
    word.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Whether the word is one of these keywords.
pub(super) fn is_one_of(word: &[u8], keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| is(word, keyword))
}
