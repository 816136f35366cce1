//! Functions of libraries: a Lua state apart from that of scripts, with what the libraries of the engine registered.
//! A library is loaded again from its source when it is called and its functions are not here: in a fork, after a
//! restore, or when the state had to be made new. What its code meets while it is loaded: `library`.

use super::host::Settings;
use super::interpreter::Interpreter;
use super::library::Registered;
use super::limits::{Control, Limits, Purpose};
use super::{Called, Function, Invocation, invoke, word};
use crate::command::libraries::{Function as Declared, Libraries, Library};
use crate::command::shebang::{self, Flags};
use crate::command::{Argv, RestorePolicy, State};
use crate::commands::functions::{EARLY_LIBRARY, LIBRARY};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::SessionId;
use crate::util::hasher::Map;
use crate::value::rdb;
use std::borrow::Cow;
use std::sync::Arc;

/// A Lua state for functions. What it holds beyond the libraries' sources are their upvalues.
pub(super) struct FunctionVm {
    interpreter: Interpreter,
    /// The functions of libraries by the library's identity, in the order of their declarations.
    loaded: Map<u64, Vec<Function>>,
    /// That of the libraries when `loaded` was compared with them.
    generation: Option<u64>,
    limits: Limits,
}

/// Which function is called, and how.
pub(super) struct FunctionCall {
    pub(super) library: u64,
    pub(super) index: u32,
    pub(super) numkeys: u32,
    pub(super) read_only: bool,
}

impl FunctionVm {
    pub(super) fn new(settings: &Settings, control: Arc<Control>) -> Self {
        let interpreter = Interpreter::new(Purpose::Function, settings, control);
        let limits = settings.limits.clone();
        FunctionVm { interpreter, loaded: Map::default(), generation: None, limits }
    }

    /// FCALL.
    pub(super) fn call(
        &mut self,
        state: &mut State,
        caller: SessionId,
        call: &FunctionCall,
        argv: Argv<'_>,
        out: &mut Reply,
    ) -> Result<(), Failure> {
        let function = self.find(state, call, word(argv, 1))?;
        let words = argv.get(3..).unwrap_or_default();
        let (keys, args) = words.split_at_checked(call.numkeys as usize).unwrap_or((words, &[]));
        let called = Called::Function { argv };
        let run = Invocation { called, function, keys, args, read_only: call.read_only };
        let result = invoke(&mut self.interpreter, state, caller, &run, out);
        self.bound_memory();
        result
    }

    /// FUNCTION LOAD.
    pub(super) fn load(
        &mut self,
        state: &mut State,
        code: &[u8],
        replace: bool,
        out: &mut Reply,
    ) -> Result<(), Failure> {
        self.forget_removed(&state.libraries);
        let head = shebang::parse_library(code)?;
        if !replace && state.libraries.get(&head.name).is_some() {
            return Err(Failure::library_exists(&head.name));
        }
        let (library, functions) = self.prepare(state, code)?;
        let id = library.id;
        self.loaded.insert(id, functions);
        self.generation = None;
        state.libraries.insert(library)?;
        out.bulk(&head.name);
        Ok(())
    }

    /// FUNCTION RESTORE.
    pub(super) fn restore(
        &mut self,
        state: &mut State,
        payload: &[u8],
        policy: RestorePolicy,
        out: &mut Reply,
    ) -> Result<(), Failure> {
        let mut reader = rdb::Reader::of_dump(payload).ok_or(Failure::BAD_DUMP)?;
        self.forget_removed(&state.libraries);
        self.generation = None;
        let mut restored = Libraries::default();
        while !reader.is_done() {
            let code = read_library(&mut reader)?;
            let head = shebang::parse_library(&code)?;
            if restored.get(&head.name).is_some() {
                return Err(Failure::library_exists(&head.name));
            }
            let (library, functions) = self.prepare(state, &code)?;
            self.loaded.insert(library.id, functions);
            restored.insert(library)?;
        }
        match policy {
            RestorePolicy::Flush => state.libraries = restored,
            policy => state.libraries.join(&restored, policy == RestorePolicy::Replace)?,
        }
        out.ok();
        Ok(())
    }

    /// All upvalues are gone: the libraries are loaded again when they are called.
    pub(super) fn reset(&mut self) {
        self.interpreter.reset();
        self.loaded.clear();
    }

    /// As `Interpreter::count_each`.
    pub(super) fn count_each(&mut self, on: bool) -> u64 {
        self.interpreter.count_each(on)
    }

    /// As `Interpreter::cover`.
    pub(super) fn cover(&mut self, code: &[u8]) {
        self.interpreter.cover(code);
    }

    /// Lets the `n`-th request for memory of each run to come fail.
    #[cfg(test)]
    pub(super) fn refuse_nth(&mut self, n: Option<u64>) {
        self.interpreter.refuse_nth(n);
    }

    /// Runs a library's code: the library, and its functions.
    fn prepare(&mut self, state: &mut State, code: &[u8]) -> Result<(Library, Vec<Function>), Failure> {
        let head = shebang::parse_library(code)?;
        self.interpreter.cover(code);
        let registered = self.run_code(state, head.code)?;
        if registered.is_empty() {
            return Err(Failure::NO_FUNCTIONS);
        }
        let functions = registered.iter().map(Function::of).collect();
        let declared = registered.into_iter().map(|function| {
            let Registered { name, description, flags, .. } = function;
            Declared { name, description, flags }
        });
        Ok((Library::new(head.name, code.to_vec(), declared.collect()), functions))
    }

    fn run_code(&mut self, state: &mut State, code: &[u8]) -> Result<Vec<Registered>, Failure> {
        if code.len() > self.limits.source {
            return Err(Failure::compile_library(b"script source too long"));
        }
        self.bound_memory();
        let result = self.interpreter.load_library(code, state);
        if result.is_err() {
            self.bound_memory();
        }
        result
    }

    #[inline]
    fn find(&mut self, state: &mut State, call: &FunctionCall, name: &[u8]) -> Result<Function, Failure> {
        if self.generation != Some(state.libraries.generation()) {
            self.forget_removed(&state.libraries);
        }
        match self.loaded.get(&call.library).and_then(|functions| functions.get(call.index as usize)) {
            Some(function) => Ok(*function),
            None => self.load_again(state, name),
        }
    }

    /// Loads the library of a function of which only the source is known here.
    #[cold]
    fn load_again(&mut self, state: &mut State, name: &[u8]) -> Result<Function, Failure> {
        let (library, index) = state.libraries.function(name).ok_or(Failure::FUNCTION_NOT_FOUND)?;
        let library = library.clone();
        self.interpreter.cover(&library.code);
        let registered = self.run_code(state, shebang::parse_library(&library.code)?.code)?;
        let find = |declared: &Declared| registered.iter().find(|function| function.name == declared.name);
        let functions: Option<Vec<Function>> =
            library.functions.iter().map(|declared| find(declared).map(Function::of)).collect();
        let functions = functions.ok_or(Failure::FUNCTION_NOT_FOUND)?;
        let function = functions.get(index).copied().ok_or(Failure::FUNCTION_NOT_FOUND)?;
        self.loaded.insert(library.id, functions);
        Ok(function)
    }

    /// Lets the functions of libraries go that are there no longer.
    #[cold]
    fn forget_removed(&mut self, libraries: &Libraries) {
        let generation = Some(libraries.generation());
        if self.generation == generation {
            return;
        }
        self.generation = generation;
        let FunctionVm { interpreter, loaded, .. } = self;
        let there: Vec<u64> = libraries.iter().map(|library| library.id).collect();
        for (_, functions) in loaded.extract_if(|id, _| !there.contains(id)) {
            interpreter.release(functions.iter().map(|function| function.number));
        }
    }

    /// Libraries that keep a good part of the memory are loaded anew, so that there is some for the next call.
    fn bound_memory(&mut self) {
        if self.interpreter.memory() > self.limits.memory / 2 {
            self.reset();
        }
    }
}

impl Function {
    fn of(registered: &Registered) -> Self {
        Function { number: registered.number, harmless: false, flags: Flags::of_function(registered.flags) }
    }
}

/// The code of the next library in a dump.
fn read_library<'a>(reader: &mut rdb::Reader<'a>) -> Result<Cow<'a, [u8]>, Failure> {
    match reader.byte() {
        Ok(LIBRARY) => reader.string().map_err(|_| Failure::BAD_LIBRARY_PAYLOAD),
        Ok(EARLY_LIBRARY) => {
            let name = reader.string().map_err(|_| Failure::BAD_LIBRARY_NAME_PAYLOAD)?;
            let engine = reader.string().map_err(|_| Failure::BAD_ENGINE_PAYLOAD)?;
            if reader.length().map_err(|_| Failure::BAD_DESCRIPTION_MARK)? != 0 {
                reader.string().map_err(|_| Failure::BAD_DESCRIPTION_PAYLOAD)?;
            }
            let code = reader.string().map_err(|_| Failure::BAD_BLOB_PAYLOAD)?;
            Ok([b"#!", &engine[..], b" name=", &name, b"\n", &code].concat().into())
        }
        _ => Err(Failure::NOT_A_FUNCTION),
    }
}
