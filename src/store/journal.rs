//! The journal: each write in the form in which a server propagates it to replicas and its AOF.
//! Kept only while somebody subscribes; entries of one unit are wrapped in MULTI and EXEC when there is more than one.

use super::Db;

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
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The writes of finished units, oldest first, and those of the unit that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Journal {
    unit: u64,
    open: Vec<JournalEntry>,
    done: Vec<JournalEntry>,
}

impl Journal {
    pub(super) fn push(&mut self, db: Db, now_ms: i64, targets: Targets, argv: &[&[u8]]) {
        let argv = argv.iter().map(|arg| arg.to_vec()).collect();
        self.open.push(JournalEntry { db, now_ms, unit: self.unit, targets, argv });
    }
    /// Ends the unit: what it wrote becomes readable.
    pub(super) fn finish_unit(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let wrap = self.open.len() > 1;
        let bracket = |like: &JournalEntry, name: &str| JournalEntry {
            argv: vec![name.as_bytes().to_vec()],
            targets: Targets::All,
            db: like.db,
            now_ms: like.now_ms,
            unit: like.unit,
        };
        let first = bracket(&self.open[0], "MULTI");
        if wrap {
            let last = bracket(&self.open[self.open.len() - 1], "EXEC");
            self.done.push(first);
            self.done.append(&mut self.open);
            self.done.push(last);
        } else {
            self.done.append(&mut self.open);
        }
        self.unit += 1;
    }
    pub(super) fn take(&mut self) -> Vec<JournalEntry> {
        std::mem::take(&mut self.done)
    }
}
