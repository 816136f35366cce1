//! The journal of an engine, read by polling.

use super::border::{free, give, give_reply};
use super::engine::mk_engine;
use super::fault::{Needed, code, entry};
use super::reply::mk_reply;
use super::tree::Tree;
use crate::engine::Journal;
use crate::reply::Reply;
use crate::store::JournalEntry;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

/// A reader of an engine's journal. Any number of threads may use one; each entry is given once.
pub struct mk_journal {
    state: Mutex<Reading>,
}

struct Reading {
    journal: Journal,
    /// What was taken from the engine and not given yet.
    taken: VecDeque<JournalEntry>,
}

impl Reading {
    fn next(&mut self) -> Result<Option<JournalEntry>, crate::error::Error> {
        if self.taken.is_empty() {
            self.taken = self.journal.take()?.into();
        }
        Ok(self.taken.pop_front())
    }
}

/// Starts to read the journal: each write from now on, in the form in which a server propagates it, so that it does not
/// depend on time or chance. Owned by the caller: `mk_journal_free`, before or after the engine is freed; until then what is
/// not read is kept. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_journal_new(engine: Option<&mk_engine>) -> *mut mk_journal {
    let journal = entry(|| {
        let journal = engine.needed("engine")?.engine.subscribe_journal()?;
        Ok(mk_journal { state: Mutex::new(Reading { journal, taken: VecDeque::new() }) })
    });
    give(journal.ok())
}

/// Ends the reading and frees the reader; NULL is ignored, and what is not a living journal refused as far as it can be told.
#[unsafe(no_mangle)]
pub extern "C" fn mk_journal_free(journal: *mut mk_journal) {
    let _ = entry(|| free(journal, "journal"));
}

/// Takes the oldest write that was not read yet: `*write` is owned by the caller (`mk_reply_free`), or NULL when there is none.
/// It is an array of four: the number of its unit of work, the Unix time of that in milliseconds, the number of the
/// database, and the words of the command. Writes of one unit, if there are several, stand between MULTI and EXEC. `MK_OK`
/// or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_journal_next(
    journal: Option<&mk_journal>,
    write: Option<&mut MaybeUninit<*mut mk_reply>>,
) -> c_int {
    code(|| {
        let out = write.needed("the place of the write")?.write(ptr::null_mut());
        if let Some(entry) = journal.needed("journal")?.state.lock().next()? {
            let mut tape = Reply::new();
            tape.array(4);
            tape.int(i64::try_from(entry.unit).unwrap_or(i64::MAX));
            tape.int(entry.now_ms);
            tape.int(entry.db.into());
            tape.array(entry.argv.len());
            entry.argv.iter().for_each(|word| tape.bulk(word));
            *out = give_reply(Tree::of(&tape));
        }
        Ok(())
    })
}

/// Takes all writes that were not read yet and applies them to another engine, each at its time; a manual clock there moves
/// on with them. `MK_OK` or a code; where a write is refused, those before it stay applied.
#[unsafe(no_mangle)]
pub extern "C" fn mk_journal_replay(journal: Option<&mk_journal>, engine: Option<&mk_engine>) -> c_int {
    code(|| {
        let engine = engine.needed("engine")?;
        let mut reading = journal.needed("journal")?.state.lock();
        let mut entries = std::mem::take(&mut reading.taken);
        entries.extend(reading.journal.take()?);
        drop(reading);
        Ok(engine.engine.replay(&entries)?)
    })
}
