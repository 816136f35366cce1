//! The slow log: the commands that took longer than slowlog-log-slower-than, the last ones first. What is logged when is
//! in `observe`, the command in `commands::slowlog`.

use crate::util::bytes::Bytes;
use std::collections::VecDeque;

/// How many words of a command are kept.
const WORDS_MAX: usize = 32;
/// How many bytes of a word are kept.
const WORD_BYTES_MAX: usize = 128;

/// One slow command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowCommand {
    /// Grows from entry to entry.
    pub id: u64,
    /// When it ended, in seconds.
    pub at_s: i64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// Its words, as far as they are kept.
    pub argv: Vec<Vec<u8>>,
    /// Where its client came from.
    pub address: String,
    /// What its client is called.
    pub name: Bytes,
}

/// The last slow commands.
#[derive(Debug, Clone, Default)]
pub struct SlowLog {
    entries: VecDeque<SlowCommand>,
    next_id: u64,
}

impl SlowLog {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The entries, the last one first.
    pub fn iter(&self) -> impl Iterator<Item = &SlowCommand> {
        self.entries.iter()
    }
    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
    /// Adds an entry; it gets the next number, and long words are cut.
    pub(crate) fn push(&mut self, argv: &[&[u8]], entry: SlowCommand) {
        let id = self.next_id;
        self.next_id += 1;
        self.entries.push_front(SlowCommand { id, argv: cut(argv), ..entry });
    }
    /// Forgets the oldest entries beyond so many.
    pub(crate) fn trim(&mut self, len: u64) {
        self.entries.truncate(usize::try_from(len).unwrap_or(usize::MAX));
    }
}

/// The words as they are kept: the last one tells how many there are more.
fn cut(argv: &[&[u8]]) -> Vec<Vec<u8>> {
    let kept = if argv.len() > WORDS_MAX { WORDS_MAX - 1 } else { argv.len() };
    let mut words: Vec<Vec<u8>> = argv[..kept].iter().map(|word| cut_word(word)).collect();
    if kept < argv.len() {
        words.push(format!("... ({} more arguments)", argv.len() - kept).into_bytes());
    }
    words
}

fn cut_word(word: &[u8]) -> Vec<u8> {
    match word.len().checked_sub(WORD_BYTES_MAX) {
        None | Some(0) => word.to_vec(),
        Some(more) => [&word[..WORD_BYTES_MAX], format!("... ({more} more bytes)").as_bytes()].concat(),
    }
}
