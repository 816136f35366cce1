//! Error texts about users: what ACL and AUTH answer, and what those read who may not do what they asked for.

use super::Failure;

/// Why a rule was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It is no rule, or its pattern has a space or a NUL.
    #[error("Syntax error")]
    Syntax,
    /// It names a command or a category that does not exist.
    #[error("Unknown command or category name in ACL")]
    UnknownName,
    /// A pattern after the one for all keys.
    #[error(
        "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
    )]
    AfterAllKeys,
    /// A pattern after the one for all channels.
    #[error(
        "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
    )]
    AfterAllChannels,
    /// A password is to go that is not there.
    #[error("The password you are trying to remove from the user does not exist")]
    NoSuchPassword,
    /// What should be a SHA-256 is none.
    #[error(
        "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
    )]
    BadHash,
    /// A first argument of what is a subcommand already.
    #[error("Allowing first-arg of a subcommand is not supported")]
    FirstArgOfSubcommand,
}

/// What of a command is not allowed; the later one is told where several are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The command itself.
    Command,
    /// A key.
    Key,
    /// The name or the password of AUTH.
    Auth,
    /// A channel.
    Channel,
}

impl Reason {
    /// The word for it in ACL LOG.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Command => "command",
            Reason::Key => "key",
            Reason::Auth => "auth",
            Reason::Channel => "channel",
        }
    }
}

texts! {
    /// A command of a client that has to authenticate first.
    NO_AUTH = "NOAUTH Authentication required.";
    /// HELLO of such a client.
    HELLO_NO_AUTH = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time";
    /// A user's name with a space or a NUL.
    USER_NAME = "ERR Usernames can't contain spaces or null characters";
    /// ACL DELUSER default.
    DEFAULT_USER = "ERR The 'default' user cannot be removed";
    /// ACL LOAD and ACL SAVE: there is no file.
    NO_ACL_FILE = "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.";
    /// ACL SAVE that failed.
    ACL_FILE_NOT_WRITTEN = "ERR There was an error trying to save the ACLs. Please check the server logs for more information";
    /// ACL GENPASS with another number of bits.
    GENPASS_BITS = "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096";
    /// SORT with BY by a user who may not read all keys.
    SORT_BY_DENIED = "ERR BY option of SORT denied due to insufficient ACL permissions.";
    /// SORT with GET by a user who may not read all keys.
    SORT_GET_DENIED = "ERR GET option of SORT denied due to insufficient ACL permissions.";
}

impl Failure {
    /// A command of a client whose user may not run it.
    pub fn denied(reason: Reason, command: &str) -> Self {
        let what = match reason {
            Reason::Command | Reason::Auth => {
                let text = format!("NOPERM this user has no permissions to run the '{command}' command");
                return Failure::Text(text.into());
            }
            Reason::Key => "one of the keys used as arguments",
            Reason::Channel => "one of the channels used as arguments",
        };
        Failure::Text(format!("NOPERM this user has no permissions to access {what}").into())
    }
    /// A command in EXEC that was allowed when it was queued.
    pub fn denied_in_exec(reason: Reason) -> Self {
        let why = match reason {
            Reason::Command | Reason::Auth => "no permission to execute the command or subcommand",
            Reason::Key => "no permission to touch the specified keys",
            Reason::Channel => "no permission to access one of the channels used as arguments",
        };
        Failure::Text(format!("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: {why}").into())
    }
    /// A command of a script whose caller may not run it.
    pub fn denied_in_script(reason: Reason) -> Self {
        let what = match reason {
            Reason::Command | Reason::Auth => "can't run this command or subcommand",
            Reason::Key => "can't access at least one of the keys mentioned in the command arguments",
            Reason::Channel => "can't publish to the channel mentioned in the command",
        };
        Failure::Text(format!("ERR The user executing the script {what}").into())
    }
    /// ACL SETUSER with a rule that is not taken.
    pub fn user_rule(rule: &[u8], why: RuleError) -> Self {
        Failure::with_word("ERR Error in ACL SETUSER modifier '", rule, &format!("': {why}"))
    }
    /// ACL LOAD of a file with errors.
    pub fn acl_file(errors: &[u8]) -> Self {
        let end = b"WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
        Failure::Bytes([b"ERR ", errors, end].concat())
    }
    /// ACL LOAD of a file that cannot be read.
    pub fn acl_file_unreadable(name: &str, why: &str) -> Self {
        Failure::Text(format!("ERR Error loading ACLs, opening file '{name}': {why}").into())
    }
    /// ACL SETUSER with a parenthesis that nothing closes.
    pub fn unmatched_parenthesis(start: &[u8]) -> Self {
        Failure::with_word("ERR Unmatched parenthesis in acl selector starting at '", start, "'.")
    }
    /// ACL CAT with what is no category.
    pub fn unknown_category(name: &[u8]) -> Self {
        Failure::with_word("ERR Unknown category '", &name[..name.len().min(128)], "'")
    }
    /// ACL DRYRUN with a user who does not exist.
    pub fn user_not_found(name: &[u8]) -> Self {
        Failure::with_word("ERR User '", name, "' not found")
    }
    /// ACL DRYRUN with a command that does not exist.
    pub fn command_not_found(name: &[u8]) -> Self {
        Failure::with_word("ERR Command '", name, "' not found")
    }
}
