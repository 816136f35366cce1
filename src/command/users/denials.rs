//! What was refused, for ACL LOG: the latest first, those that are alike counted in one entry.

use crate::error::Reason;
use crate::util::bytes::Bytes;
use std::collections::VecDeque;

/// How long two refusals count as one event, in milliseconds.
const ALIKE_FOR_MS: u64 = 60_000;
/// How many of the latest entries are compared with a new one.
const COMPARED: usize = 10;

/// Where a command was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// On its own.
    TopLevel,
    /// When it was queued, or in EXEC.
    Multi,
    /// In a script.
    Lua,
}

impl Context {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Context::TopLevel => "toplevel",
            Context::Multi => "multi",
            Context::Lua => "lua",
        }
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// How often it happened.
    pub count: u64,
    /// What was not allowed.
    pub reason: Reason,
    /// Where.
    pub context: Context,
    /// The command, the key or the channel.
    pub object: Bytes,
    /// Who.
    pub user: Bytes,
    /// When it happened last, in milliseconds.
    pub at_ms: i64,
    /// The client that it happened to last.
    pub client_info: Vec<u8>,
}

impl Denial {
    fn is_like(&self, other: &Denial) -> bool {
        self.reason == other.reason
            && self.context == other.context
            && self.at_ms.abs_diff(other.at_ms) <= ALIKE_FOR_MS
            && self.object == other.object
            && self.user == other.user
    }
}

/// The entries, the latest first.
#[derive(Debug, Clone, Default)]
pub struct Denials {
    entries: VecDeque<Denial>,
}

impl Denials {
    /// Adds what happened to an entry like it, or a new entry, which may push out the oldest.
    pub(crate) fn add(&mut self, denial: Denial, len_max: u64) {
        let alike = self.entries.iter().take(COMPARED).position(|known| known.is_like(&denial));
        if let Some(mut known) = alike.and_then(|place| self.entries.remove(place)) {
            known.count += 1;
            (known.at_ms, known.client_info) = (denial.at_ms, denial.client_info);
            self.entries.push_front(known);
            return;
        }
        self.entries.push_front(denial);
        self.entries.truncate(usize::try_from(len_max).unwrap_or(usize::MAX));
    }
    /// The entries, the latest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Denial> {
        self.entries.iter()
    }
    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
}
