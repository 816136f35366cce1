//! The journal: each write in the form in which a server propagates it to replicas and its AOF. Kept only while
//! somebody reads it; each reader gets every entry once. Entries of one unit are wrapped in MULTI and EXEC when there
//! is more than one. What readers hold outside the engine is in `engine::journal`.

use super::{Db, Store};
use crate::util::words::join_words;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};

/// Where a script lets its writes go (`redis.set_repl`); a replay takes all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Targets {
    /// Replicas and AOF.
    #[default]
    All,
    /// The AOF only.
    Aof,
    /// Replicas only.
    Replica,
    /// Neither.
    None,
}

/// One propagated command.
#[derive(Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// The database it acts on.
    pub db: Db,
    /// Unix milliseconds of the unit it belongs to.
    pub now_ms: i64,
    /// The unit of work it belongs to; entries of one unit are contiguous.
    pub unit: u64,
    /// Where the write goes.
    pub targets: Targets,
    /// The command.
    pub argv: Vec<Vec<u8>>,
}

impl JournalEntry {
    /// True for the MULTI and EXEC around the entries of a unit.
    pub fn is_bracket(&self) -> bool {
        matches!(self.argv.as_slice(), [word] if word == b"MULTI" || word == b"EXEC")
    }
    fn bracket(&self, name: &[u8]) -> JournalEntry {
        JournalEntry { argv: vec![name.to_vec()], targets: Targets::All, ..*self }
    }
}

/// The command as a line, and its database when it is not 0: `SET k "two words" (db 3)`.
impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join_words(&self.argv))?;
        if self.db == 0 { Ok(()) } else { write!(f, " (db {})", self.db) }
    }
}

impl fmt::Debug for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalEntry")
            .field("db", &self.db)
            .field("now_ms", &self.now_ms)
            .field("unit", &self.unit)
            .field("targets", &self.targets)
            .field("argv", &format_args!("{}", join_words(&self.argv)))
            .finish()
    }
}

/// The right to read the journal; dropping it and its clones gives the right up.
#[derive(Debug, Clone)]
pub(crate) struct Subscription(Arc<()>);

#[derive(Debug, Clone)]
struct Reader {
    alive: Weak<()>,
    /// The number of the entry it reads next.
    next: u64,
}

/// The writes of finished units that somebody has not read yet, and those of the unit that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Journal {
    unit: u64,
    open: Vec<JournalEntry>,
    /// Each entry stands alone: no brackets, a unit for each.
    single: bool,
    log: VecDeque<JournalEntry>,
    /// The number of the first entry in the log.
    first: u64,
    readers: Vec<Reader>,
}

impl Journal {
    pub(super) fn push(&mut self, db: Db, now_ms: i64, targets: Targets, argv: &[&[u8]]) {
        let argv = argv.iter().map(|arg| arg.to_vec()).collect();
        self.open.push(JournalEntry { db, now_ms, unit: self.unit, targets, argv });
    }
    /// The entries of the unit that runs do not belong together (what expires at one time).
    pub(super) fn unbracket(&mut self) {
        self.single = true;
    }
    /// Ends the unit: what it wrote becomes readable. False when nobody reads any more.
    pub(super) fn finish_unit(&mut self) -> bool {
        let single = std::mem::take(&mut self.single);
        if self.open.is_empty() {
            return true;
        }
        self.forget_readers();
        if single {
            for entry in self.open.drain(..) {
                self.log.push_back(JournalEntry { unit: self.unit, ..entry });
                self.unit += 1;
            }
            return !self.readers.is_empty();
        }
        if let [first, .., last] = self.open.as_slice() {
            let (first, last) = (first.bracket(b"MULTI"), last.bracket(b"EXEC"));
            self.log.push_back(first);
            self.log.extend(self.open.drain(..));
            self.log.push_back(last);
        } else {
            self.log.extend(self.open.drain(..));
        }
        self.unit += 1;
        !self.readers.is_empty()
    }
    /// Forgets what the unit wrote that did not end.
    pub(super) fn abandon_unit(&mut self) {
        self.open.clear();
        self.single = false;
    }
    /// A new reader of all that follows.
    pub(super) fn subscribe(&mut self) -> Subscription {
        let alive = Arc::new(());
        let next = self.first + self.log.len() as u64;
        self.readers.push(Reader { alive: Arc::downgrade(&alive), next });
        Subscription(alive)
    }
    /// What a reader has not read yet, oldest first.
    pub(super) fn take(&mut self, subscription: &Subscription) -> Vec<JournalEntry> {
        self.forget_readers();
        let is_reader = |reader: &&mut Reader| reader.alive.as_ptr() == Arc::as_ptr(&subscription.0);
        let end = self.first + self.log.len() as u64;
        let Some(reader) = self.readers.iter_mut().find(is_reader) else { return Vec::new() };
        let from = (reader.next - self.first) as usize;
        reader.next = end;
        if self.readers.len() == 1 {
            self.first = end;
            return std::mem::take(&mut self.log).into_iter().skip(from).collect();
        }
        let taken = self.log.range(from..).cloned().collect();
        self.forget_read();
        taken
    }
    fn forget_readers(&mut self) {
        self.readers.retain(|reader| reader.alive.strong_count() > 0);
    }
    /// Drops the entries that every reader has read.
    fn forget_read(&mut self) {
        let needed = self.readers.iter().map(|reader| reader.next).min().unwrap_or(self.first);
        self.log.drain(..(needed - self.first) as usize);
        self.first = needed;
    }
}

impl Store {
    /// A new reader of the journal.
    pub(crate) fn subscribe_journal(&mut self) -> Subscription {
        self.journal.get_or_insert_default().subscribe()
    }
    /// True while somebody reads the journal.
    #[inline]
    pub fn has_journal(&self) -> bool {
        self.journal.is_some()
    }
    /// What a reader of the journal has not read yet.
    pub(crate) fn take_journal(&mut self, subscription: &Subscription) -> Vec<JournalEntry> {
        self.journal.as_mut().map(|journal| journal.take(subscription)).unwrap_or_default()
    }
    /// What the unit that runs writes is not one transaction: each entry stands alone in the journal.
    pub(crate) fn unbracket_journal(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.unbracket();
        }
    }
    /// Notes the propagated form of a write; nothing when nobody reads it.
    #[inline]
    pub fn propagate(&mut self, db: Db, argv: &[&[u8]]) {
        let (now_ms, targets) = (self.now_ms, self.targets);
        if let Some(journal) = &mut self.journal {
            journal.push(db, now_ms, targets, argv);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(entries: &[JournalEntry]) -> Vec<String> {
        let text = |entry: &JournalEntry| String::from_utf8_lossy(&entry.argv.join(&b' ')).into_owned();
        entries.iter().map(|entry| format!("{} {}", entry.unit, text(entry))).collect()
    }

    #[test]
    fn each_reader_gets_each_entry_once() {
        let mut journal = Journal::default();
        let one = journal.subscribe();
        journal.push(0, 1, Targets::All, &[b"SET", b"a", b"1"]);
        assert!(journal.finish_unit());
        let two = journal.subscribe();
        journal.push(0, 1, Targets::All, &[b"DEL", b"a"]);
        journal.push(0, 1, Targets::All, &[b"DEL", b"b"]);
        assert!(journal.finish_unit());
        assert_eq!(texts(&journal.take(&two)), ["1 MULTI", "1 DEL a", "1 DEL b", "1 EXEC"]);
        assert_eq!(texts(&journal.take(&one)), ["0 SET a 1", "1 MULTI", "1 DEL a", "1 DEL b", "1 EXEC"]);
        assert!(journal.log.is_empty());
        journal.push(0, 1, Targets::All, &[b"DEL", b"a"]);
        journal.push(0, 1, Targets::All, &[b"DEL", b"b"]);
        journal.unbracket();
        assert!(journal.finish_unit());
        drop(two);
        assert_eq!(texts(&journal.take(&one)), ["2 DEL a", "3 DEL b"]);
        drop(one);
        journal.push(0, 1, Targets::All, &[b"DEL", b"a"]);
        assert!(!journal.finish_unit());
    }
}
