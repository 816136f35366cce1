//! Users as a file holds them: a line for each, in the words of ACL LIST. Reading is all or nothing, with the server's
//! errors; where the file comes from is not known here. The words of a line are read in `rules`.

use super::super::table::Table;
use super::rules::{Grammar, has_spaces, merged};
use super::{DEFAULT_USER, User, Users};
use crate::error::{Failure, RuleError};
use crate::util::bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Users {
    /// All users, a line for each.
    pub(crate) fn to_file(&self, table: &'static Table) -> Vec<u8> {
        let lines = self.iter().map(|(name, user)| user.line(name, table));
        lines.flat_map(|line| [line, b"\n".to_vec()].concat()).collect()
    }
    /// Users in place of those there are.
    pub(super) fn replace(&mut self, users: BTreeMap<Bytes, User>) {
        self.by_name = Arc::new(users);
    }
}

impl User {
    /// The user as ACL LIST and a file show it.
    pub(crate) fn line(&self, name: &[u8], table: &'static Table) -> Vec<u8> {
        [b"user ", name, b" ", &self.describe(table)].concat()
    }
}

impl Grammar {
    /// The users of a file of this name.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub(super) fn read_file(self, name: &str, text: &[u8]) -> Result<BTreeMap<Bytes, User>, Failure> {
        let (mut users, mut errors) = (BTreeMap::new(), Vec::new());
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let line = trim(line, b" \t\r\n");
            if !line.is_empty() {
                self.read_line(&format!("{name}:{number}"), number, line, &mut users, &mut errors);
            }
        }
        if !errors.is_empty() {
            return Err(Failure::acl_file(&errors));
        }
        users.entry(Bytes::from(DEFAULT_USER)).or_insert_with(User::unlimited);
        Ok(users)
    }
    fn read_line(
        self,
        place: &str,
        number: usize,
        line: &[u8],
        users: &mut BTreeMap<Bytes, User>,
        errors: &mut Vec<u8>,
    ) {
        let mut tell = |parts: &[&[u8]]| errors.extend(parts.concat());
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let [b"user", name, rules @ ..] = &words[..] else {
            return tell(&[place.as_bytes(), b" should start with user keyword followed by the username. "]);
        };
        if has_spaces(name) {
            return tell(&[
                b"'",
                place.as_bytes(),
                b": username '",
                name,
                b"' contains invalid characters. ",
            ]);
        }
        if users.contains_key(*name) {
            let number = number.to_string();
            return tell(&[
                b"WARNING: Duplicate user '",
                name,
                b"' found on line ",
                number.as_bytes(),
                b". ",
            ]);
        }
        let mut user = User::new(self.all_channels);
        let Ok(rules) = merged(rules) else {
            return tell(&[place.as_bytes(), b": Unmatched parenthesis in selector definition."]);
        };
        let mut told = false;
        for rule in &rules {
            let rule = trim(rule, b"\t\r\n");
            match self.change(&mut user, rule) {
                Ok(()) => {}
                // What is not known is no secret.
                Err(error @ RuleError::UnknownName) => {
                    let why = error.to_string();
                    tell(&[
                        place.as_bytes(),
                        b": Error in applying operation '",
                        rule,
                        b"': ",
                        why.as_bytes(),
                        b". ",
                    ]);
                }
                Err(_) if told => {}
                Err(error) => {
                    told = true;
                    tell(&[place.as_bytes(), b": ", error.to_string().as_bytes(), b". "]);
                }
            }
        }
        users.insert(Bytes::from(*name), user);
    }
}

fn trim<'a>(text: &'a [u8], away: &[u8]) -> &'a [u8] {
    let from = text.iter().position(|byte| !away.contains(byte)).unwrap_or(text.len());
    let to = text.iter().rposition(|byte| !away.contains(byte)).map_or(from, |last| last + 1);
    &text[from..to]
}
