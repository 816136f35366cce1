//! The users: who there is, what each may do, and which passwords open a session as whom. Plain data of the engine's
//! configuration: a fork takes it along, a restore leaves it as it is, and the state hash does not see it.
//! What one set of rules allows is in `selector`, how rules are read in `rules` and shown in `describe`; `permissions`
//! asks them before a command, `file` has users as a file holds them, `denials` keeps what was refused. The command is in `commands::acl`.

mod denials;
mod describe;
mod file;
mod permissions;
mod rules;
mod selector;

pub use crate::error::{Reason, RuleError};
pub use denials::{Context, Denial, Denials};
pub(crate) use rules::{Grammar, has_spaces};
pub use selector::{Denied, Selector};

use crate::util::bytes::Bytes;
use crate::util::digest::sha256_hex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The user that a session has who did not name another one.
pub const DEFAULT_USER: &[u8] = b"default";

/// A password as it is kept: its SHA-256 in lower-case hexadecimal.
pub type Hash = [u8; 64];

/// One user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// A session may become this user.
    pub enabled: bool,
    /// Any password opens a session.
    pub nopass: bool,
    /// Whether RESTORE is to look through what this user gives it; none while nobody has said.
    pub sanitizes_payload: Option<bool>,
    /// The passwords that open a session.
    pub passwords: Vec<Hash>,
    /// The user's own rules first, then those in parentheses: a command needs one that allows all of it.
    pub selectors: Vec<Selector>,
}

impl User {
    /// A user who may nothing yet, but use all channels where that is the default.
    pub fn new(all_channels: bool) -> Self {
        User {
            enabled: false,
            nopass: false,
            sanitizes_payload: None,
            passwords: Vec::new(),
            selectors: vec![Selector::new(all_channels)],
        }
    }
    /// The default user as an engine begins with it: it may everything and has no password.
    fn unlimited() -> Self {
        User {
            enabled: true,
            nopass: true,
            sanitizes_payload: None,
            passwords: Vec::new(),
            selectors: vec![Selector::unlimited()],
        }
    }
    /// Whether no command needs to be looked at.
    pub fn may_everything(&self) -> bool {
        self.selectors.iter().any(Selector::allows_everything)
    }
    /// Whether a session may become this user with this password.
    fn takes(&self, password: &[u8]) -> bool {
        self.enabled && (self.nopass || self.has_password(password))
    }
    /// Compares whole hashes, each in the same time whatever it holds.
    fn has_password(&self, password: &[u8]) -> bool {
        let hash = sha256_hex(password);
        let differ =
            |known: &Hash| known.iter().zip(&hash).fold(0, |bits, (one, other)| bits | (one ^ other));
        self.passwords.iter().any(|known| differ(known) == 0)
    }
    /// Opens a session without being asked.
    fn opens_freely(&self) -> bool {
        self.enabled && self.nopass
    }
}

/// All users, and what they were refused.
#[derive(Debug, Clone)]
pub struct Users {
    /// Copies share them until one side changes.
    by_name: Arc<BTreeMap<Bytes, User>>,
    /// What was refused, for ACL LOG.
    pub denials: Denials,
}

impl Default for Users {
    fn default() -> Self {
        let users = [(Bytes::from(DEFAULT_USER), User::unlimited())];
        Users { by_name: Arc::new(BTreeMap::from(users)), denials: Denials::default() }
    }
}

impl Users {
    /// The users without what they were refused.
    pub(crate) fn detached(&self) -> Self {
        Users { by_name: self.by_name.clone(), denials: Denials::default() }
    }
    /// A user.
    pub fn get(&self, name: &[u8]) -> Option<&User> {
        self.by_name.get(name)
    }
    /// All users in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Bytes, &User)> {
        self.by_name.iter()
    }
    /// Makes or changes a user.
    fn set(&mut self, name: Bytes, user: User) {
        Arc::make_mut(&mut self.by_name).insert(name, user);
    }
    /// Takes a user away, unless it is the default one; false when there is none.
    fn remove(&mut self, name: &[u8]) -> bool {
        name != DEFAULT_USER && Arc::make_mut(&mut self.by_name).remove(name).is_some()
    }
    fn set_default_password(&mut self, password: &[u8]) {
        if let Some(user) = Arc::make_mut(&mut self.by_name).get_mut(DEFAULT_USER) {
            user.nopass = password.is_empty();
            user.passwords.clear();
            user.passwords.extend((!password.is_empty()).then(|| sha256_hex(password)));
        }
    }
    /// The user that a session begins as.
    ///
    /// # Panics
    /// Never: nobody can take this user away.
    pub(crate) fn default_user(&self) -> &User {
        self.by_name.get(DEFAULT_USER).expect("nobody removes the default user")
    }
}
