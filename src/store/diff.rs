//! What differs between two stores, key by key: for people (`Display`) and for programs. Keys whose time is over do
//! not count, and how a value is represented does not matter.

use super::{Db, Entry, Store};
use crate::value::Value;
use crate::value::preview::quoted;
use std::fmt;

/// A key that differs.
#[derive(Clone, PartialEq)]
pub struct Change {
    /// Its database.
    pub db: Db,
    /// The key.
    pub key: Vec<u8>,
    /// What it held before; None when it was not there.
    pub before: Option<Held>,
    /// What it holds after; None when it is not there.
    pub after: Option<Held>,
}

/// What a key holds at some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The value.
    pub value: Value,
    /// The instant of expiry in Unix milliseconds.
    pub expire_at_ms: Option<i64>,
    /// The time of the store, in Unix milliseconds.
    pub now_ms: i64,
}

impl Held {
    fn new(entry: &Entry, now_ms: i64) -> Self {
        Held { value: entry.value().clone(), expire_at_ms: entry.expire_at_ms(), now_ms }
    }
    /// Whether value and expiry are the same.
    fn same(&self, other: &Held) -> bool {
        self.expire_at_ms == other.expire_at_ms && self.value == other.value
    }
    fn expiry(&self) -> String {
        match self.expire_at_ms {
            Some(at_ms) => format!("expires in {} ms", at_ms.saturating_sub(self.now_ms)),
            None => "no expiry".to_owned(),
        }
    }
}

/// Type, value, and the expiry if there is one.
impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value.type_name(), self.value.preview())?;
        if self.expire_at_ms.is_some() {
            write!(f, " ({})", self.expiry())?;
        }
        Ok(())
    }
}

/// One line: `+ key type value` for an added key, `-` for a removed one, `~` with both sides for a changed one.
/// Its line in quotes.
impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Change").field(&self.to_string()).finish()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match (&self.before, &self.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        write!(f, "{sign} {}", readable(&self.key))?;
        if self.db != 0 {
            write!(f, " (db {})", self.db)?;
        }
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before.value == after.value => {
                write!(f, " {} {}", before.value.type_name(), before.value.preview())?;
                write!(f, ": {} -> {}", before.expiry(), after.expiry())
            }
            (Some(before), Some(after)) if before.value.type_name() == after.value.type_name() => {
                let kind = before.value.type_name();
                write!(f, " {kind} {} -> {}", before.value.preview(), after.value.preview())?;
                if before.expire_at_ms == after.expire_at_ms {
                    return Ok(());
                }
                write!(f, " ({} -> {})", before.expiry(), after.expiry())
            }
            (Some(before), Some(after)) => write!(f, " {before} -> {after}"),
            (Some(held), None) | (None, Some(held)) => write!(f, " {held}"),
            (None, None) => Ok(()),
        }
    }
}

/// A key as it stands when it can be printed, else quoted.
fn readable(key: &[u8]) -> String {
    let plain = !key.is_empty() && key.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'"');
    if plain { String::from_utf8_lossy(key).into_owned() } else { quoted(key) }
}

impl Store {
    /// What differs in `after`, in the order of databases and keys. Costs what changed, when one of the two is a copy
    /// of the other.
    pub fn diff(&self, after: &Store) -> Vec<Change> {
        let mut changes = Vec::new();
        for db in 0..self.databases().max(after.databases()) {
            for key in self.suspects(after, db) {
                let held = |store: &Store| store.alive(db, key).map(|entry| Held::new(entry, store.now_ms));
                let (before, after) = (held(self), held(after));
                let same = match (&before, &after) {
                    (Some(before), Some(after)) => before.same(after),
                    (before, after) => before.is_none() && after.is_none(),
                };
                if !same {
                    changes.push(Change { db, key: key.to_vec(), before, after });
                }
            }
        }
        changes
    }
    /// What a key holds; None when it is not there. Changes nothing at all.
    pub(crate) fn held(&self, db: Db, key: &[u8]) -> Option<Held> {
        self.alive(db, key).map(|entry| Held::new(entry, self.now_ms))
    }
    /// The entry of a key that is alive; changes nothing at all.
    fn alive(&self, db: Db, key: &[u8]) -> Option<&Entry> {
        self.dbs.get(db as usize)?.find_live(key, self.now_ms)
    }
}
