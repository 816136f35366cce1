//! Scripts: `Vm` compiles and runs them. Whatever a script does to data goes through `command::call`, like a
//! client's command. All Lua stays inside this module: `interpreter`, `bridge` and `stack` talk to it, `alloc` is its memory,
//! `sandbox`, `base` and `api` are what scripts see, `convert` turns values, `limits` says when to stop.

mod alloc;
mod api;
mod base;
mod bridge;
mod bytecode;
mod convert;
mod host;
mod interpreter;
mod lib;
mod limits;
mod pattern;
mod sandbox;
mod shebang;
mod stack;
mod strings;
#[cfg(test)]
mod tests;

use crate::command::scripts::Sha;
use crate::command::session::SCRIPT_SESSION;
use crate::command::{self, Argv, Origin, State, VmCall};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::{SessionId, Targets};
use crate::util::hasher::Map;
use crate::util::sha1::sha1_hex;
pub use host::HostFunction;
pub(crate) use host::{Settings, is_free_name};
use interpreter::Interpreter;
pub use limits::{Control, Limits};
use shebang::Flags;
use std::sync::Arc;

/// More compiled functions than this are not kept: they are compiled again when they run.
const FUNCTIONS_MAX: usize = 4096;

/// A Lua state with its compiled functions; holds nothing that can be observed between runs.
pub(crate) struct Vm {
    interpreter: Interpreter,
    functions: Map<u64, Function>,
    limits: Limits,
    generation: u64,
}

/// A compiled script.
#[derive(Clone, Copy)]
struct Function {
    number: i32,
    flags: Flags,
}

/// What one run is given.
struct Invocation<'a> {
    sha: &'a [u8],
    function: Function,
    keys: &'a [&'a [u8]],
    args: &'a [&'a [u8]],
    read_only: bool,
}

impl Vm {
    /// A new VM; `control` is what other threads may see and do while it runs.
    pub(crate) fn with_limits(settings: impl Into<Settings>, control: Arc<Control>) -> Self {
        let Settings { limits, functions } = settings.into();
        let interpreter = Interpreter::new(limits.clone(), functions, control);
        Vm { interpreter, functions: Map::default(), limits, generation: 0 }
    }

    /// As new: nothing compiled.
    pub(crate) fn reset(&mut self) {
        self.interpreter.reset();
        self.functions.clear();
    }

    /// Counts each instruction of the runs to come, or none of them; gives how many were counted.
    pub(crate) fn count_each(&mut self, on: bool) -> u64 {
        self.interpreter.count_each(on)
    }

    /// Runs one call: an error reply of a script is on the tape, a refusal to run it is a failure.
    pub(crate) fn run(
        &mut self,
        state: &mut State,
        caller: SessionId,
        _: Origin,
        call: &VmCall,
        argv: Argv<'_>,
        out: &mut Reply,
    ) -> Result<(), Failure> {
        if self.generation != state.scripts.generation() {
            self.generation = state.scripts.generation();
            self.reset();
        }
        match call {
            VmCall::Load { body } => {
                let (sha, _) = self.define(state, word(argv, *body as usize))?;
                out.bulk(&sha);
                Ok(())
            }
            VmCall::Eval { source, numkeys, read_only } => {
                let text = word(argv, 1);
                let defined: Sha;
                let (sha, function) = match source {
                    command::Source::Body => {
                        let function;
                        (defined, function) = self.define(state, text)?;
                        (&defined[..], function)
                    }
                    command::Source::Sha => (text, self.find(state, text)?),
                };
                let words = argv.get(3..).unwrap_or_default();
                let (keys, args) = words.split_at_checked(*numkeys as usize).unwrap_or((words, &[]));
                let run = Invocation { sha, function, keys, args, read_only: *read_only };
                self.invoke(state, caller, &run, out)
            }
        }
    }

    /// The function of a script given as text, which is known from then on.
    fn define(&mut self, state: &mut State, text: &[u8]) -> Result<(Sha, Function), Failure> {
        let sha = sha1_hex(text);
        if state.scripts.get(&sha).is_some() {
            return Ok((sha, self.find(state, &sha)?));
        }
        let function = self.compile(text)?;
        let id = state.scripts.insert(sha, text).id;
        self.functions.insert(id, function);
        Ok((sha, function))
    }

    /// The function of a known script.
    #[inline]
    fn find(&mut self, state: &State, sha: &[u8]) -> Result<Function, Failure> {
        let source = state.scripts.get(sha).ok_or(Failure::NoScript)?;
        if let Some(function) = self.functions.get(&source.id) {
            return Ok(*function);
        }
        let function = self.compile(&source.text)?;
        self.functions.insert(source.id, function);
        Ok(function)
    }

    fn compile(&mut self, text: &[u8]) -> Result<Function, Failure> {
        let (flags, code) = shebang::parse(text)?;
        if code.len() > self.limits.source {
            return Err(Failure::SOURCE_TOO_LONG);
        }
        if self.functions.len() >= FUNCTIONS_MAX || self.interpreter.memory() > self.limits.memory / 4 {
            self.reset();
        }
        match self.interpreter.compile(code) {
            Ok(number) => Ok(Function { number, flags }),
            Err(message) => Err(Failure::compile(convert::before_nul(&message))),
        }
    }

    /// Runs a function for a session, and writes its result.
    fn invoke(
        &mut self,
        state: &mut State,
        caller: SessionId,
        run: &Invocation<'_>,
        out: &mut Reply,
    ) -> Result<(), Failure> {
        let flags = run.function.flags;
        if flags.declared && !flags.no_writes && run.read_only {
            return Err(Failure::SCRIPT_WRITES);
        }
        let db = state.sessions.get(caller).db;
        let session = state.sessions.get_mut(SCRIPT_SESSION);
        session.db = db;
        session.resp = Resp::V2;
        session.read_only = run.read_only || (flags.declared && flags.no_writes);
        let finished = self.interpreter.run(run.function.number, run.keys, run.args, state);
        let session = state.sessions.get_mut(SCRIPT_SESSION);
        session.read_only = false;
        let resp = session.resp;
        state.store.targets = Targets::All;
        let (stack, fields) = self.interpreter.result();
        match finished {
            Ok(()) => convert::Writer { fields, resp, out }.write(stack),
            Err(stop) => out.error_text(&convert::failure_text(stack, run.sha, stop)),
        }
        self.interpreter.clear();
        if self.interpreter.memory() > self.limits.memory / 4 {
            self.reset();
        }
        Ok(())
    }
}

fn word<'a>(argv: Argv<'a>, at: usize) -> &'a [u8] {
    argv.get(at).copied().unwrap_or_default()
}

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vm").field("functions", &self.functions.len()).finish_non_exhaustive()
    }
}
