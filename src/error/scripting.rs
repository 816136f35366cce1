//! Error texts of scripts: of the commands that run them, of the functions they call, of a run that is stopped.

use super::{Failure, c_str};

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
    /// A script that declares itself runs in EXEC while memory is short.
    SCRIPT_OUT_OF_MEMORY = "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'";
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
    /// What a script exchanges with commands is over the limit.
    TOO_MUCH_TRAFFIC = "ERR Script stopped: it passes too much to commands and gets too much from them";
    /// What a script returns is over the limit.
    REPLY_TOO_LARGE = "ERR Script stopped: what it returns is too large";
    /// SCRIPT KILL after the script has written.
    UNKILLABLE = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";
    /// SCRIPT KILL.
    KILLED = "ERR Script killed by user with SCRIPT KILL...";
    /// A function is to be killed with SCRIPT KILL.
    BUSY_FUNCTION = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
    /// A script is to be killed with FUNCTION KILL.
    BUSY_SCRIPT = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    /// FCALL of a function that no library has.
    FUNCTION_NOT_FOUND = "ERR Function not found";
    /// FCALL with a number of keys that is none.
    BAD_NUMBER_OF_KEYS = "ERR Bad number of keys provided";
    /// FUNCTION DELETE of a library that is not there.
    LIBRARY_NOT_FOUND = "ERR Library not found";
    /// FUNCTION LOAD without a code.
    FUNCTION_CODE_MISSING = "ERR Function code is missing";
    /// FUNCTION LIST LIBRARYNAME without a name.
    LIBRARY_NAME_MISSING = "ERR library name argument was not given";
    /// FUNCTION FLUSH with another word.
    FUNCTION_FLUSH_MODE = "ERR FUNCTION FLUSH only supports SYNC|ASYNC option";
    /// FUNCTION RESTORE with another word.
    RESTORE_POLICY = "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.";
    /// A dump that was cut, changed, or written by a newer server.
    BAD_DUMP = "ERR DUMP payload version or checksum are wrong";
    /// FUNCTION RESTORE of a dump that holds something else.
    NOT_A_FUNCTION = "ERR given type is not a function";
    /// FUNCTION RESTORE of a dump whose library cannot be read.
    BAD_LIBRARY_PAYLOAD = "ERR Failed loading library payload";
    /// FUNCTION RESTORE of an early dump whose library cannot be read.
    BAD_LIBRARY_NAME_PAYLOAD = "ERR Failed loading library name";
    /// The same, of its engine.
    BAD_ENGINE_PAYLOAD = "ERR Failed loading engine name";
    /// The same, of the mark before its description.
    BAD_DESCRIPTION_MARK = "ERR Failed loading library description indicator";
    /// The same, of its description.
    BAD_DESCRIPTION_PAYLOAD = "ERR Failed loading library description";
    /// The same, of its code.
    BAD_BLOB_PAYLOAD = "ERR Failed loading library blob";
    /// A library that does not start with `#!`.
    NO_LIBRARY_METADATA = "ERR Missing library metadata";
    /// A library whose first line does not end, or whose words cannot be told apart.
    LIBRARY_METADATA = "ERR Invalid library metadata";
    /// A library whose first line names it twice.
    LIBRARY_NAMED_TWICE = "ERR Invalid metadata value, name argument was given multiple times";
    /// A library whose first line does not name it.
    LIBRARY_UNNAMED = "ERR Library name was not given";
    /// A library or a function with a name that is none.
    LIBRARY_NAME = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
    /// A library whose code runs for too long.
    LOAD_TIMEOUT = "ERR FUNCTION LOAD timeout";
    /// A library that registers no function.
    NO_FUNCTIONS = "ERR No functions registered";
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

    /// FUNCTION LOAD with another option.
    pub(crate) fn unknown_load_option(word: &[u8]) -> Self {
        Failure::Bytes([b"ERR Unknown option given: ", c_str(word)].concat())
    }

    /// FUNCTION LIST with another word.
    pub(crate) fn unknown_list_argument(word: &[u8]) -> Self {
        Failure::Bytes([b"ERR Unknown argument ", c_str(word)].concat())
    }

    /// A library whose first line has a word that it must not have.
    pub(crate) fn bad_library_metadata(word: &[u8]) -> Self {
        Failure::Bytes([b"ERR Invalid metadata value given: ", c_str(word)].concat())
    }

    /// A library for an engine that there is not.
    pub(crate) fn unknown_script_engine(name: &[u8]) -> Self {
        Failure::Bytes([b"ERR Engine '", name, b"' not found"].concat())
    }

    /// FUNCTION LOAD of a library that is there.
    pub(crate) fn library_exists(name: &[u8]) -> Self {
        Failure::Bytes([b"ERR Library '", name, b"' already exists"].concat())
    }

    /// FUNCTION RESTORE of a library that is there.
    pub(crate) fn restored_library_exists(name: &[u8]) -> Self {
        Failure::Bytes([b"ERR Library ", name, b" already exists"].concat())
    }

    /// Two libraries with a function of one name.
    pub(crate) fn function_exists(name: &[u8]) -> Self {
        Failure::Bytes([b"ERR Function ", name, b" already exists"].concat())
    }

    /// A library that does not compile, with Lua's message.
    pub(crate) fn compile_library(message: &[u8]) -> Self {
        Failure::Bytes([b"ERR Error compiling function: ", message].concat())
    }

    /// A library whose code ends in an error.
    pub(crate) fn register_functions(message: &[u8]) -> Self {
        Failure::Bytes([b"ERR Error registering functions: ", message].concat())
    }
}
