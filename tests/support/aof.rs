//! What a server writes into its append-only file, as it writes it: the propagated form of each write.

use super::wire::Wire;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Settings of a server that keeps such a file and writes each command to it before it answers.
pub(crate) const SETTINGS: &[&str] = &[
    "--appendonly",
    "yes",
    "--aof-use-rdb-preamble",
    "no",
    "--appendfsync",
    "no",
    "--auto-aof-rewrite-percentage",
    "0",
];

/// A reader of the file.
pub(crate) struct Aof {
    file: File,
    unread: Vec<u8>,
    db: String,
}

impl Aof {
    /// Opens the file of the server that runs in this folder.
    pub(crate) fn open(folder: &Path) -> Option<Aof> {
        let file = File::open(folder.join("appendonlydir/appendonly.aof.1.incr.aof")).ok()?;
        Some(Aof { file, unread: Vec::new(), db: "0".into() })
    }

    /// The commands written since the last call, each with its database in front; SELECT is left out.
    pub(crate) fn take(&mut self) -> Vec<String> {
        self.file.read_to_end(&mut self.unread).expect("the append-only file is readable");
        let mut commands = Vec::new();
        let mut rest = self.unread.as_slice();
        while let Ok(command) = Wire::read(&mut rest) {
            let words: Vec<Vec<u8>> =
                command.items().iter().filter_map(Wire::bytes).map(<[u8]>::to_vec).collect();
            if words.first().is_some_and(|name| name.eq_ignore_ascii_case(b"SELECT")) {
                self.db = String::from_utf8_lossy(&words[1]).into_owned();
            } else {
                commands.push(line(&self.db, &words));
            }
        }
        self.unread = rest.to_vec();
        commands
    }
}

/// A propagated command as text. The brackets of a unit belong to no database.
pub(crate) fn line(db: &str, words: &[Vec<u8>]) -> String {
    let mut words = words.to_vec();
    if let Some(name) = words.first_mut() {
        name.make_ascii_uppercase();
        if name == b"MULTI" || name == b"EXEC" {
            return String::from_utf8_lossy(name).into_owned();
        }
    }
    format!("{db}: {}", super::words::join(&words))
}
