//! Error texts of scripts: of the commands that run them, of the functions they call, of a run that is stopped.

use super::Failure;

texts! {
    /// EVAL with more keys than words.
    TOO_MANY_KEYS = "ERR Number of keys can't be greater than number of args";
    /// EVAL with a negative number of keys.
    NEGATIVE_KEYS = "ERR Number of keys can't be negative";
    /// SCRIPT FLUSH with another word.
    FLUSH_MODE = "ERR SCRIPT FLUSH only support SYNC|ASYNC option";
    /// SCRIPT KILL when no script runs.
    NOT_BUSY = "NOTBUSY No scripts in execution right now.";
    /// SCRIPT DEBUG YES and SYNC.
    NO_DEBUGGER = "ERR SCRIPT DEBUG is not supported: there is no script debugger";
    /// SCRIPT DEBUG in a transaction.
    DEBUG_IN_PIPELINE = "ERR SCRIPT DEBUG must be called outside a pipeline";
    /// SCRIPT DEBUG with another word.
    DEBUG_MODE = "ERR Use SCRIPT DEBUG YES/SYNC/NO";
    /// A script calls a command that does not exist.
    SCRIPT_UNKNOWN_COMMAND = "ERR Unknown Redis command called from script";
    /// A script calls a command with too many or too few words.
    SCRIPT_ARITY = "ERR Wrong number of args calling Redis command from script";
    /// A script calls a command that scripts may not call.
    SCRIPT_NOT_ALLOWED = "ERR This Redis command is not allowed from script";
    /// A script that may only read calls a command that may write.
    SCRIPT_READ_ONLY = "ERR Write commands are not allowed from read-only scripts.";
    /// EVAL_RO of a script that declares itself and not `no-writes`.
    SCRIPT_WRITES = "ERR Can not execute a script with write flag using *_ro command.";
    /// A first line that starts with `#!` and does not end.
    SHEBANG = "ERR Invalid script shebang";
    /// A first line whose words cannot be told apart.
    SHEBANG_ENGINE = "ERR Invalid engine in script shebang";
    /// A source over the limit.
    SOURCE_TOO_LONG = "ERR Error compiling script (new function): script source too long";
    /// `redis.call` without arguments.
    CALL_WITHOUT_ARGUMENTS = "ERR Please specify at least one argument for this redis lib call";
    /// `redis.call` with a table, a boolean or the like.
    CALL_ARGUMENT_TYPE = "ERR Lua redis lib command arguments must be strings or integers";
    /// `redis.call` while no script runs.
    CALL_OUTSIDE = "ERR redis.call/pcall can only be called inside a script invocation";
    /// In place of what is nested deeper in a result than Lua's stack allows.
    STACK_LIMIT = "ERR reached lua stack limit";
    /// A script raised a table without a text.
    UNKNOWN_ERROR = "ERR unknown error";
    /// The work budget is used up.
    OUT_OF_WORK = "ERR Script stopped: it used up its work budget";
    /// The time limit is over.
    OUT_OF_TIME = "ERR Script stopped: it ran longer than its time limit";
    /// SCRIPT KILL after the script has written.
    UNKILLABLE = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";
    /// SCRIPT KILL.
    KILLED = "ERR Script killed by user with SCRIPT KILL...";
    /// A command of the script panicked.
    PANICKED = "ERR Script stopped: internal error";
}

/// The code of an error that names none.
pub(crate) const CODE: &[u8] = b"ERR ";

impl Failure {
    /// A shebang line with a word that it must not have.
    pub(crate) fn bad_shebang(what: &str, word: &[u8]) -> Self {
        Failure::Bytes([CODE, what.as_bytes(), word].concat())
    }

    /// A script that does not compile, with Lua's message.
    pub(crate) fn compile(message: &[u8]) -> Self {
        Failure::Bytes([b"ERR Error compiling script (new function): ", message].concat())
    }

    /// A script that ended in an error which is no table: out of memory, or an error in handling an error.
    pub(crate) fn running(sha: &[u8], message: &[u8]) -> Self {
        Failure::Bytes([b"ERR Error running script ", sha, b", ", message].concat())
    }
}
