//! The words of ACL SETUSER and what each does to a user: all the server's rules, with its errors. Changes are made on a
//! copy, so that a word that is refused leaves the user as it was. Showing rules is in `describe`.

use super::super::Argv;
use super::super::args::is;
use super::super::spec::acl;
use super::super::table::Table;
use super::selector::{CommandSet, KeyPattern, Selector, c_str, is_one_of};
use super::{Hash, User};
use crate::error::{Failure, RuleError};
use crate::util::bytes::Bytes;
use crate::util::digest::sha256_hex;
use crate::util::words::split_words;
use std::borrow::Cow;

/// What rules are read with: the commands there are, and what a new selector begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grammar {
    pub(crate) table: &'static Table,
    /// New selectors allow all channels: acl-pubsub-default.
    pub(crate) all_channels: bool,
}

impl Grammar {
    /// The user after these words of ACL SETUSER.
    ///
    /// # Errors
    /// With the server's text for the first word that is refused.
    pub(crate) fn changed(self, user: Option<&User>, words: Argv<'_>) -> Result<User, Failure> {
        let mut changed = user.cloned().unwrap_or_else(|| User::new(self.all_channels));
        for word in merged(words)? {
            let refused = |error: RuleError| Failure::user_rule(&word, error);
            self.change(&mut changed, &word).map_err(refused)?;
        }
        Ok(changed)
    }
    /// One word of ACL SETUSER.
    pub(crate) fn change(self, user: &mut User, word: &[u8]) -> Result<(), RuleError> {
        match word {
            [] => {}
            _ if is(word, "on") => user.enabled = true,
            _ if is(word, "off") => user.enabled = false,
            _ if is(word, "skip-sanitize-payload") => user.sanitizes_payload = Some(false),
            _ if is(word, "sanitize-payload") => user.sanitizes_payload = Some(true),
            _ if is_one_of(word, &["nopass", "resetpass"]) => {
                user.nopass = is(word, "nopass");
                user.passwords.clear();
            }
            [b'>' | b'#', ..] => {
                let hash = hash_of(word)?;
                if !user.passwords.contains(&hash) {
                    user.passwords.push(hash);
                }
                user.nopass = false;
            }
            [b'<' | b'!', ..] => {
                let hash = hash_of(word)?;
                let place = user.passwords.iter().position(|known| *known == hash);
                user.passwords.remove(place.ok_or(RuleError::NoSuchPassword)?);
            }
            [b'(', rules @ .., b')'] => user.selectors.push(self.selector(rules)?),
            _ if is(word, "clearselectors") => user.selectors.truncate(1),
            _ if is(word, "reset") => {
                *user = User { sanitizes_payload: Some(true), ..User::new(self.all_channels) };
            }
            _ => {
                if let Some(own) = user.selectors.first_mut() {
                    self.change_selector(own, word)?;
                }
            }
        }
        Ok(())
    }
    /// What stands between parentheses; words that cannot be told apart are none, as on the server.
    fn selector(self, rules: &[u8]) -> Result<Selector, RuleError> {
        let mut selector = Selector::new(self.all_channels);
        for word in split_words(rules).unwrap_or_default() {
            self.change_selector(&mut selector, &word)?;
        }
        Ok(selector)
    }
    fn change_selector(self, selector: &mut Selector, word: &[u8]) -> Result<(), RuleError> {
        if is_one_of(word, &["allkeys", "~*", "resetkeys"]) {
            selector.all_keys = !is(word, "resetkeys");
            selector.keys.clear();
        } else if is_one_of(word, &["allchannels", "&*", "resetchannels"]) {
            selector.all_channels = !is(word, "resetchannels");
            selector.channels.clear();
        } else if is_one_of(word, &["allcommands", "+@all"]) {
            (selector.all_commands, selector.commands) = (true, CommandSet::ALL);
            selector.first_args.clear();
        } else if is_one_of(word, &["nocommands", "-@all"]) {
            (selector.all_commands, selector.commands) = (false, CommandSet::NONE);
            selector.first_args.clear();
        } else {
            self.add_rule(selector, word)?;
        }
        Ok(())
    }
    fn add_rule(self, selector: &mut Selector, word: &[u8]) -> Result<(), RuleError> {
        match word {
            [b'~' | b'%', ..] => add_keys(selector, word),
            [b'&', channel @ ..] => add_channel(selector, channel),
            [sign @ (b'+' | b'-'), b'@', category @ ..] => {
                self.change_category(selector, c_str(category), *sign == b'+')
            }
            [b'+', command @ ..] => self.allow(selector, c_str(command)),
            [b'-', command @ ..] => {
                let row = self.table.by_name(c_str(command)).ok_or(RuleError::UnknownName)?;
                selector.change(self.table, row, false);
                Ok(())
            }
            _ => Err(RuleError::Syntax),
        }
    }
    pub(super) fn change_category(
        self,
        selector: &mut Selector,
        category: &[u8],
        allowed: bool,
    ) -> Result<(), RuleError> {
        let category = acl::by_name(category);
        if category == acl::NONE {
            return Err(RuleError::UnknownName);
        }
        for row in self.table.rows().iter().filter(|row| row.spec.categories() & category != 0) {
            selector.change(self.table, row, allowed);
        }
        Ok(())
    }
    /// A command, a subcommand, or a command with this first argument only.
    fn allow(self, selector: &mut Selector, command: &[u8]) -> Result<(), RuleError> {
        let find = |name| self.table.by_name(name).ok_or(RuleError::UnknownName);
        let Some(bar) = command.iter().rposition(|&byte| byte == b'|') else {
            selector.change(self.table, find(command)?, true);
            return Ok(());
        };
        let (container, argument) = (&command[..bar], &command[bar + 1..]);
        let row = find(container)?;
        if row.spec.parts().1.is_some() {
            return Err(RuleError::FirstArgOfSubcommand);
        }
        if argument.is_empty() {
            return Err(RuleError::Syntax);
        }
        if row.is_container() {
            selector.change(self.table, find(command)?, true);
            return Ok(());
        }
        let allowed = selector.first_args.entry(row.number).or_default();
        if !allowed.iter().any(|known| known.eq_ignore_ascii_case(argument)) {
            allowed.push(Bytes::from(argument));
        }
        Ok(())
    }
}

fn add_keys(selector: &mut Selector, word: &[u8]) -> Result<(), RuleError> {
    if selector.all_keys {
        return Err(RuleError::AfterAllKeys);
    }
    let (reads, writes, pattern) = key_pattern(word)?;
    if has_spaces(pattern) {
        return Err(RuleError::Syntax);
    }
    match selector.keys.iter_mut().find(|known| known.pattern.as_slice() == pattern) {
        Some(known) => {
            known.reads |= reads;
            known.writes |= writes;
        }
        None => selector.keys.push(KeyPattern { reads, writes, pattern: Bytes::from(pattern) }),
    }
    Ok(())
}

/// Whether keys are read and written, and which: `~pattern` or `%RW~pattern`.
fn key_pattern(word: &[u8]) -> Result<(bool, bool, &[u8]), RuleError> {
    let (mut reads, mut writes) = (false, false);
    let mut rest = match word {
        [b'~', pattern @ ..] => return Ok((true, true, pattern)),
        _ => word.get(1..).unwrap_or_default(),
    };
    loop {
        rest = match rest {
            [b'R' | b'r', rest @ ..] if !reads => {
                reads = true;
                rest
            }
            [b'W' | b'w', rest @ ..] if !writes => {
                writes = true;
                rest
            }
            [b'~', pattern @ ..] if reads || writes => return Ok((reads, writes, pattern)),
            [] if reads || writes => return Ok((reads, writes, rest)),
            _ => return Err(RuleError::Syntax),
        };
    }
}

fn add_channel(selector: &mut Selector, channel: &[u8]) -> Result<(), RuleError> {
    if selector.all_channels {
        return Err(RuleError::AfterAllChannels);
    }
    if has_spaces(channel) {
        return Err(RuleError::Syntax);
    }
    if !selector.channels.iter().any(|known| known.as_slice() == channel) {
        selector.channels.push(Bytes::from(channel));
    }
    Ok(())
}

/// What no name of a user and no pattern may hold.
pub(crate) fn has_spaces(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b' ' | b'\t'..=b'\r' | 0))
}

/// The hash that a word gives, or that of the password it gives.
fn hash_of(word: &[u8]) -> Result<Hash, RuleError> {
    let (sign, rest) = word.split_first().ok_or(RuleError::Syntax)?;
    if matches!(sign, b'>' | b'<') {
        return Ok(sha256_hex(rest));
    }
    let hash: Hash = rest.try_into().map_err(|_| RuleError::BadHash)?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if hash.iter().all(is_digit) { Ok(hash) } else { Err(RuleError::BadHash) }
}

/// The words with those joined that stand between one pair of parentheses.
pub(super) fn merged<'a>(words: Argv<'a>) -> Result<Vec<Cow<'a, [u8]>>, Failure> {
    let mut all = Vec::new();
    let mut open: Option<(&[u8], Vec<u8>)> = None;
    for &word in words {
        if word.first() == Some(&b'(') && word.last() != Some(&b')') {
            open = Some((word, word.to_vec()));
        } else if let Some((_, selector)) = &mut open {
            selector.push(b' ');
            selector.extend_from_slice(c_str(word));
            if word.last() == Some(&b')') {
                all.extend(open.take().map(|(_, selector)| Cow::Owned(selector)));
            }
        } else {
            all.push(Cow::Borrowed(word));
        }
    }
    match open {
        Some((start, _)) => Err(Failure::unmatched_parenthesis(start)),
        None => Ok(all),
    }
}
