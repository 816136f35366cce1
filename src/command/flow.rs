//! What a handler asks the engine to do once it has returned: there is no way back up but this. Only the engine reads it.

use super::blocking::Wait;
use super::faults::Fault;
use super::host::HostCall;
use std::time::Duration;

/// What the engine has to do once the handler has returned. Only the engine interprets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Nothing: the reply is written.
    Done,
    /// Run Lua.
    Vm(VmCall),
    /// Run the queued commands of the session.
    Exec,
    /// Let this time pass on the engine's clock, then answer OK.
    Sleep(Duration),
    /// Move a manual clock on by so many milliseconds, do what is due then, and answer OK.
    Advance(u64),
    /// Let a fault begin, or end the one that holds, and answer OK.
    Fault(Option<Box<Fault>>),
    /// Let the session wait for keys.
    Wait(Box<Wait>),
    /// Act on all of the state, or on the process.
    Host(Box<HostCall>),
}

impl Flow {
    /// See [`Flow::Host`].
    pub fn host(call: HostCall) -> Self {
        Flow::Host(Box::new(call))
    }
}

/// What the Lua VM has to do. Positions in argv, so that nothing is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VmCall {
    /// Run a script: `EVAL script numkeys key… arg…` and its like.
    Eval {
        /// What the first word after the name is.
        source: Source,
        /// How many of the words after numkeys are KEYS; the others are ARGV.
        numkeys: u32,
        /// EVAL_RO and EVALSHA_RO.
        read_only: bool,
    },
    /// SCRIPT LOAD: compile and keep.
    Load {
        /// Where the text is.
        body: u32,
    },
    /// FCALL: `FCALL function numkeys key… arg…`.
    Function {
        /// The identity of the library that has the function.
        library: u64,
        /// The number of the function in it.
        index: u32,
        /// How many of the words after numkeys are keys; the others are arguments.
        numkeys: u32,
        /// FCALL_RO.
        read_only: bool,
    },
    /// FUNCTION LOAD: run the library's code and keep what it registers.
    LoadLibrary {
        /// Where the code is.
        code: u32,
        /// It may take the place of a library.
        replace: bool,
    },
    /// FUNCTION RESTORE: load the libraries of a dump.
    RestoreLibraries {
        /// What becomes of those that are there.
        policy: RestorePolicy,
    },
}

/// What FUNCTION RESTORE does to the libraries that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestorePolicy {
    /// It keeps them.
    Append,
    /// It replaces those with a name in the dump.
    Replace,
    /// It removes all of them.
    Flush,
}

/// How the script of a call is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// By its text.
    Body,
    /// By its SHA1.
    Sha,
}
