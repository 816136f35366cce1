//! Who a session is, and what is asked before its commands run. A session of a user who may everything is marked once,
//! when users or sessions change, so that its commands cost no look at any user.

use super::super::pubsub::Topic;
use super::super::session::Session;
use super::super::spec::{Access, NO_AUTH};
use super::super::table::Row;
use super::super::{Argv, Ctx, Origin, State, refusal};
use super::selector::{allows_channel, c_str};
use super::{Context, DEFAULT_USER, Denial, Denied, Grammar, Reason, User, Users};
use crate::error::Failure;
use crate::store::SessionId;
use crate::util::bytes::Bytes;

impl User {
    /// Whether a command with these words is allowed, by one selector alone.
    ///
    /// # Errors
    /// What is not: of several selectors the one that got furthest tells.
    pub fn check(&self, row: &Row, argv: Argv<'_>) -> Result<(), Denied> {
        let mut worst = Denied { reason: Reason::Command, at: 0 };
        let mut keys = None;
        for selector in &self.selectors {
            match selector.check(row, argv, &mut keys) {
                Ok(()) => return Ok(()),
                Err(denied) => worst = worst.max(denied),
            }
        }
        Err(worst)
    }
    /// Whether a command is allowed by a selector that also allows this access to all keys.
    fn reaches_all_keys(&self, row: &Row, argv: Argv<'_>, access: Access) -> bool {
        let mut keys = None;
        self.selectors
            .iter()
            .any(|selector| selector.check(row, argv, &mut keys).is_ok() && selector.allows_all_keys(access))
    }
    /// Whether subscriptions that were allowed may not be any more: none of the new selectors allows all channels, and
    /// a pattern has gone.
    fn lost_channels(&self, before: &User) -> bool {
        let is_kept = |channel: &Bytes| self.channels().any(|kept| kept == channel);
        !self.selectors.iter().any(|selector| selector.all_channels)
            && (before.selectors.iter().any(|selector| selector.all_channels)
                || !before.channels().all(is_kept))
    }
    fn channels(&self) -> impl Iterator<Item = &Bytes> {
        self.selectors.iter().flat_map(|selector| &selector.channels)
    }
}

impl Users {
    /// Whether a session has to authenticate before it does anything else.
    pub(crate) fn ask_for_password(&self, session: &Session) -> bool {
        !session.authenticated && !self.default_user().opens_freely()
    }
    /// The user that a session is.
    pub(crate) fn of(&self, session: &Session) -> &User {
        let named = session.user.as_ref().and_then(|name| self.get(name));
        named.unwrap_or_else(|| self.default_user())
    }
}

impl Session {
    /// The name of the user that the session is.
    pub(crate) fn user_name(&self) -> &[u8] {
        self.user.as_ref().map_or(DEFAULT_USER, Bytes::as_slice)
    }
}

impl State {
    /// Users have changed: marks anew the sessions whose commands have to be looked at, and those that will be opened.
    pub(crate) fn review_rights(&mut self) {
        let State { users, sessions, .. } = self;
        let mark = |session: &mut Session| {
            session.restricted = users.ask_for_password(session) || !users.of(session).may_everything();
        };
        let mut new = Session { authenticated: users.default_user().opens_freely(), ..Session::default() };
        mark(&mut new);
        sessions.set_rights(new.authenticated, new.restricted);
        sessions.iter_mut().for_each(|(_, session)| mark(session));
    }
    /// A session begins anew, as the default user.
    pub(crate) fn reset_user(&mut self, id: SessionId) {
        let opens_freely = self.users.default_user().opens_freely();
        self.become_user(id, None, opens_freely);
    }
    fn become_user(&mut self, id: SessionId, name: Option<Bytes>, authenticated: bool) {
        let State { users, sessions, .. } = self;
        let session = sessions.get_mut(id);
        session.user = name.filter(|name| name.as_slice() != DEFAULT_USER);
        session.authenticated = authenticated;
        session.restricted = users.ask_for_password(session) || !users.of(session).may_everything();
    }
    /// Whether the caller of the running script may run this; none when it is no command.
    pub(crate) fn caller_may(&self, argv: Argv<'_>) -> Option<bool> {
        let row = self.table.resolve(argv).ok()?;
        let session = self.sessions.get(self.script_caller);
        Some(!session.restricted || self.users.of(session).check(row, argv).is_ok())
    }
    /// The password of the default user is requirepass alone; without one everybody is let in.
    pub(crate) fn require_password(&mut self) {
        self.users.set_default_password(self.config.requirepass());
        self.review_rights();
    }
    /// A user that is made or changed. Those who listen to what they may not any more are ended.
    pub(crate) fn set_user(&mut self, name: &[u8], user: User) {
        let lost = self.users.get(name).is_some_and(|before| user.lost_channels(before));
        let victims = if lost { self.unlawful_listeners(name, &user) } else { Vec::new() };
        self.users.set(Bytes::from(name), user);
        for id in victims {
            Ctx::new(self, id, Origin::Client).close_session(id);
        }
        self.review_rights();
    }
    fn unlawful_listeners(&self, name: &[u8], user: &User) -> Vec<SessionId> {
        let allowed: Vec<Bytes> = user.channels().cloned().collect();
        let listens = |session: &Session| {
            session.subscriber.as_ref().is_some_and(|subscriber| {
                [Topic::Pattern, Topic::Channel, Topic::Shard].into_iter().any(|topic| {
                    let is_pattern = topic == Topic::Pattern;
                    subscriber.topics(topic).any(|channel| !allows_channel(&allowed, channel, is_pattern))
                })
            })
        };
        let theirs = self.sessions.iter().filter(|(_, session)| session.user_name() == name);
        theirs.filter(|(_, session)| listens(session)).map(|(id, _)| id).collect()
    }
    /// The users of a file in place of those there are. Whoever is not the default user is ended, as if all others had
    /// been removed.
    ///
    /// # Errors
    /// All that is wrong with the file; nothing has changed then.
    pub(crate) fn load_users(&mut self, file_name: &str, text: &[u8]) -> Result<(), Failure> {
        let all_channels = self.config.acl_all_channels();
        let users = Grammar { table: self.table, all_channels }.read_file(file_name, text)?;
        for name in self.users.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.remove_user(&name);
        }
        self.users.replace(users);
        self.review_rights();
        Ok(())
    }
    /// Removes a user and ends their sessions; false when there is none.
    pub(crate) fn remove_user(&mut self, name: &[u8]) -> bool {
        if !self.users.remove(name) {
            return false;
        }
        let theirs = self.sessions.iter().filter(|(_, session)| session.user_name() == name);
        for id in theirs.map(|(id, _)| id).collect::<Vec<_>>() {
            self.become_user(id, None, false);
            Ctx::new(self, id, Origin::Client).close_session(id);
        }
        true
    }
}

impl Ctx<'_> {
    /// AUTH and HELLO AUTH: the session is this user from now on.
    ///
    /// # Errors
    /// When there is no such user, the user is off, or the password is another one.
    pub(crate) fn authenticate(
        &mut self,
        name: &[u8],
        password: &[u8],
        command: &[u8],
    ) -> Result<(), Failure> {
        if self.state.users.get(name).is_some_and(|user| user.takes(password)) {
            self.state.become_user(self.id, Some(Bytes::from(name)), true);
            return Ok(());
        }
        let in_multi = self.session().queue.is_some() || self.session().running.is_some();
        let context = if in_multi { Context::Multi } else { Context::TopLevel };
        self.note_denial(Reason::Auth, context, Bytes::from(command), Bytes::from(name));
        Err(Failure::WRONG_PASSWORD)
    }
    /// Whether the session has given a password where one is asked for.
    ///
    /// # Errors
    /// When it has not, and the command is none of those that come before.
    pub(crate) fn check_authenticated(&mut self, row: &Row) -> Result<(), Failure> {
        let session = self.session();
        let asks =
            self.state.users.ask_for_password(session) && !session.replays && session.woken_by.is_none();
        if asks && !row.spec.has(NO_AUTH) {
            return Err(refusal(self, row, Failure::NO_AUTH));
        }
        Ok(())
    }
    /// Whether the user of the session, or of the script's caller, may run this.
    ///
    /// # Errors
    /// When not, in the words that the server has for where the command comes from.
    #[cold]
    pub(crate) fn check_permission(&mut self, row: &Row, argv: Argv<'_>) -> Result<(), Failure> {
        let session = self.user_session();
        if session.replays || session.woken_by.is_some() {
            return Ok(());
        }
        let Err(denied) = self.state.users.of(session).check(row, argv) else { return Ok(()) };
        let (context, failure) = match self.origin {
            Origin::Script => (Context::Lua, Failure::denied_in_script(denied.reason)),
            Origin::Exec => (Context::Multi, Failure::denied_in_exec(denied.reason)),
            Origin::Client => {
                let in_multi = session.queue.is_some();
                let failure = Failure::denied(denied.reason, row.spec.name);
                (if in_multi { Context::Multi } else { Context::TopLevel }, failure)
            }
        };
        let object = match denied.reason {
            Reason::Command | Reason::Auth => Bytes::from(row.spec.name),
            Reason::Key | Reason::Channel => Bytes::from(argv.get(denied.at).copied().unwrap_or_default()),
        };
        let name = Bytes::from(session.user_name());
        self.note_denial(denied.reason, context, object, name);
        Err(match self.origin {
            Origin::Client => refusal(self, row, failure),
            _ => failure,
        })
    }
    /// The session whose user counts: that of the caller while a script runs.
    fn user_session(&self) -> &Session {
        match self.origin {
            Origin::Script => self.state.sessions.get(self.state.script_caller),
            _ => self.session(),
        }
    }
    /// Whether a command, which is allowed, may read all keys besides.
    pub(crate) fn reaches_all_keys(&self, argv: Argv<'_>, access: Access) -> bool {
        let session = self.user_session();
        if !session.restricted || session.replays {
            return true;
        }
        let user = self.state.users.of(session);
        self.state.table.resolve(argv).is_ok_and(|row| user.reaches_all_keys(row, argv, access))
    }
    fn note_denial(&mut self, reason: Reason, context: Context, object: Bytes, user: Bytes) {
        let at_ms = self.now_ms();
        let id = if self.origin == Origin::Script { self.state.script_caller } else { self.id };
        let client_info = self.state.client_info(id);
        let denial = Denial { count: 1, reason, context, object, user, at_ms, client_info };
        self.state.users.denials.add(denial, self.state.config.acllog_max_len);
    }
}

impl Denied {
    /// What ACL DRYRUN says of it.
    pub(crate) fn in_dry_run(&self, row: &Row, argv: Argv<'_>) -> Vec<u8> {
        let (what, object, kind) = match self.reason {
            Reason::Command | Reason::Auth => ("run the '", row.spec.name.as_bytes(), "' command"),
            Reason::Key => ("access the '", named(argv, self.at), "' key"),
            Reason::Channel => ("access the '", named(argv, self.at), "' channel"),
        };
        [b"This user has no permissions to ", what.as_bytes(), object, kind.as_bytes()].concat()
    }
}

fn named<'a>(argv: Argv<'a>, at: usize) -> &'a [u8] {
    c_str(argv.get(at).copied().unwrap_or_default())
}
