//! Scripts: `Vm` compiles and runs them. Whatever a script does to data goes through `command::call`, like a
//! client's command. Libraries of functions are in `functions`. All Lua stays inside this module: `interpreter`, `bridge` and `stack` talk to it, `alloc` is its memory,
//! `sandbox`, `base` and `api` are what scripts see, `convert` turns values, `limits` says when to stop, `coverage` what has run.

mod alloc;
mod api;
mod base;
mod brackets;
mod bridge;
mod bytecode;
mod constants;
mod convert;
mod coverage;
mod functions;
mod host;
mod interpreter;
mod lib;
mod library;
mod limits;
mod parsing;
mod pattern;
mod sandbox;
mod stack;
mod strings;
mod tables;
#[cfg(test)]
mod tests;

use crate::command::scripts::Sha;
use crate::command::session::SCRIPT_SESSION;
use crate::command::shebang::{self, Flags};
use crate::command::{self, Argv, Origin, State, VmCall};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::{SessionId, Targets};
use crate::util::digest::sha1_hex;
use crate::util::hasher::Map;
pub use coverage::{Coverage, LineCoverage, ScriptCoverage};
pub(crate) use coverage::{Tally, Watched};
use functions::{FunctionCall, FunctionVm};
pub use host::HostFunction;
pub(crate) use host::{Settings, is_free_name};
use interpreter::Interpreter;
use limits::Purpose;
pub(crate) use limits::RunningFunction;
pub use limits::{Control, Limits};
use std::sync::Arc;

/// More compiled functions than this are not kept: they are compiled again when they run.
const FUNCTIONS_MAX: usize = 4096;

/// What no generation of scripts is.
const NEVER: u64 = u64::MAX;

/// A Lua state with its compiled functions; holds nothing that can be observed between runs. Libraries of functions,
/// which keep their upvalues, have a state of their own.
pub(crate) struct Vm {
    interpreter: Interpreter,
    functions: Map<u64, Function>,
    /// Made at the first library.
    libraries: Option<Box<FunctionVm>>,
    limits: Limits,
    /// That of the scripts for which functions were compiled.
    generation: u64,
    /// The same, as long as nothing is to be done before a run: else no generation.
    looked: u64,
    settings: Settings,
    control: Arc<Control>,
    /// Each instruction is counted.
    counts_each: bool,
}

/// A compiled script.
#[derive(Clone, Copy)]
struct Function {
    number: i32,
    /// It can write to no table that is not its own.
    harmless: bool,
    flags: Flags,
}

/// What a run calls, for its errors.
enum Called<'a> {
    /// A script, by its SHA1.
    Script { sha: &'a [u8] },
    /// A function, with the words of the call.
    Function { argv: Argv<'a> },
}

/// What one run is given.
struct Invocation<'a> {
    called: Called<'a>,
    function: Function,
    keys: &'a [&'a [u8]],
    args: &'a [&'a [u8]],
    read_only: bool,
}

impl Vm {
    /// A new VM; `control` is what other threads may see and do while it runs.
    pub(crate) fn with_limits(settings: impl Into<Settings>, control: Arc<Control>) -> Self {
        let settings = settings.into();
        let interpreter = Interpreter::new(Purpose::Script, &settings, control.clone());
        Vm {
            interpreter,
            functions: Map::default(),
            libraries: None,
            limits: settings.limits.clone(),
            generation: 0,
            looked: if settings.coverage.is_some() { NEVER } else { 0 },
            settings,
            control,
            counts_each: false,
        }
    }

    /// As new: nothing compiled.
    pub(crate) fn reset(&mut self) {
        self.interpreter.reset();
        self.functions.clear();
    }

    /// Counts each instruction of the runs to come, of functions too, or none of them; gives how many were counted.
    pub(crate) fn count_each(&mut self, on: bool) -> u64 {
        self.counts_each = on;
        let functions = self.libraries.as_mut().map_or(0, |libraries| libraries.count_each(on));
        self.interpreter.count_each(on) + functions
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
        if self.looked != state.scripts.generation() {
            self.look(state, call, argv);
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
                let run = Invocation {
                    called: Called::Script { sha },
                    function,
                    keys,
                    args,
                    read_only: *read_only,
                };
                let result = invoke(&mut self.interpreter, state, caller, &run, out);
                if self.interpreter.memory() > self.limits.memory / 4 {
                    self.reset();
                }
                result
            }
            VmCall::Function { library, index, numkeys, read_only } => {
                let (library, index, numkeys, read_only) = (*library, *index, *numkeys, *read_only);
                let call = FunctionCall { library, index, numkeys, read_only };
                self.libraries().call(state, caller, &call, argv, out)
            }
            VmCall::LoadLibrary { code, replace } => {
                self.libraries().load(state, word(argv, *code as usize), *replace, out)?;
                let db = state.sessions.get(caller).db;
                state.store.propagate(db, argv);
                Ok(())
            }
            VmCall::RestoreLibraries { policy } => {
                self.libraries().restore(state, word(argv, 2), *policy, out)?;
                let db = state.sessions.get(caller).db;
                state.store.propagate(db, argv);
                Ok(())
            }
        }
    }

    /// Before a run: what was compiled for scripts that are gone is forgotten; where lines are noted, this is done each
    /// time, and it is told whose lines run now.
    #[cold]
    fn look(&mut self, state: &State, call: &VmCall, argv: Argv<'_>) {
        let generation = state.scripts.generation();
        if self.generation != generation {
            self.generation = generation;
            self.reset();
        }
        if self.settings.coverage.is_none() {
            self.looked = generation;
            return;
        }
        match call {
            VmCall::Load { body } => self.interpreter.cover(word(argv, *body as usize)),
            VmCall::Eval { source: command::Source::Body, .. } => self.interpreter.cover(word(argv, 1)),
            VmCall::Eval { .. } => {
                if let Some(source) = state.scripts.get(word(argv, 1)) {
                    self.interpreter.cover(&source.text);
                }
            }
            VmCall::Function { .. } => {
                if let Some((library, _)) = state.libraries.function(word(argv, 1)) {
                    self.libraries().cover(&library.code);
                }
            }
            // Told where their code is loaded.
            VmCall::LoadLibrary { .. } | VmCall::RestoreLibraries { .. } => {}
        }
    }

    fn libraries(&mut self) -> &mut FunctionVm {
        let Vm { libraries, settings, control, counts_each, .. } = self;
        libraries.get_or_insert_with(|| {
            let mut new = Box::new(FunctionVm::new(settings, control.clone()));
            new.count_each(*counts_each);
            new
        })
    }

    /// What libraries keep from call to call is gone: they are loaded again when they are called.
    pub(crate) fn forget_libraries(&mut self) {
        if let Some(libraries) = &mut self.libraries {
            libraries.reset();
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
            Ok((number, harmless)) => Ok(Function { number, harmless, flags }),
            Err(message) => Err(Failure::compile(convert::before_nul(&message))),
        }
    }
}

/// Runs a function for a session, and writes its result.
fn invoke(
    interpreter: &mut Interpreter,
    state: &mut State,
    caller: SessionId,
    run: &Invocation<'_>,
    out: &mut Reply,
) -> Result<(), Failure> {
    let flags = run.function.flags;
    if flags.declared && !flags.no_writes && run.read_only {
        return Err(Failure::SCRIPT_WRITES);
    }
    state.begin_script(flags)?;
    state.script_caller = caller;
    state.note_script_keys(run.keys);
    let caller = state.sessions.get(caller);
    let (db, restricted) = (caller.db, caller.restricted);
    let session = state.sessions.get_mut(SCRIPT_SESSION);
    session.db = db;
    session.restricted = restricted;
    session.resp = Resp::V2;
    session.read_only = run.read_only || (flags.declared && flags.no_writes);
    let finished = match run.called {
        Called::Script { .. } => interpreter.run(run.function, run.keys, run.args, state),
        Called::Function { argv } => interpreter.call(run.function.number, run.keys, run.args, state, argv),
    };
    let session = state.sessions.get_mut(SCRIPT_SESSION);
    session.read_only = false;
    let resp = session.resp;
    state.store.targets = Targets::All;
    let mark = out.mark();
    let finished = finished.and_then(|()| {
        interpreter.write_result(resp, out, &mut state.stats).map_err(|stop| {
            out.rollback(mark);
            Some(stop)
        })
    });
    if let Err(stop) = finished {
        let name = name_of(&run.called, state);
        let (text, is_retold) = convert::failure_text(interpreter.result(), &name, stop);
        out.error_text(&text);
        if is_retold {
            state.stats.note_retold();
        } else {
            state.stats.note_error(&text);
        }
    }
    interpreter.clear();
    Ok(())
}

/// What an error calls the script or function.
#[cold]
fn name_of(called: &Called<'_>, state: &State) -> Vec<u8> {
    match called {
        Called::Script { sha } => sha.to_ascii_lowercase(),
        Called::Function { argv } => {
            let place = state.libraries.function(word(argv, 1));
            place.map_or(Vec::new(), |(library, index)| library.functions[index].name.clone())
        }
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
