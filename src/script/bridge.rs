//! The border between Lua and Rust: the interpreter itself, the trampolines through which Lua calls functions of
//! this layer, `redis.call`, and the instruction hook. With `stack` and `alloc` all the code that touches Lua.
//!
//! A Lua error is a `longjmp`: it must not cross a Rust frame that owns something. So a command runs to its end
//! into the reply tape, its Rust values die, and only then is Lua touched again; what a function needs for longer
//! lives in `Host`. A panic is caught where it happens and raised again after the run.
#![allow(unsafe_code)]

use super::alloc::{Arena, LARGE_HEAP};
use super::bytecode::{self, Uses};
use super::host::HostFunctions;
use super::limits::{Control, INTERVAL, Limits, Meter, Stop};
use super::stack::{Outcome, REGISTRY, Returned, Stack};
use super::{base, convert, sandbox};
use crate::command::session::SCRIPT_SESSION;
use crate::command::{Argv, Ctx, Flow, Origin, State, call};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::util::float::format_f64;
use crate::util::lrand48::Lrand48;
use crate::util::num::NumBuf;
use mlua::ffi::{self, lua_CFunction, lua_State};
use std::any::Any;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// Arguments of `redis.call` up to this many stay in the frame; more cost an allocation.
const FRAME_ARGUMENTS: usize = 12;
/// How much a heap of at most `LARGE_HEAP` bytes may grow before it is collected, in percent: garbage is cheap
/// in an arena, and most scripts leave little.
const SMALL_HEAP_PAUSE: c_int = 1000;
const LARGE_HEAP_PAUSE: c_int = 200;
/// A collection runs in few, large steps.
const STEP_SPEED: c_int = 10_000;
/// What a script is told of the collector's settings: the server's defaults.
const COLLECTOR_SETTINGS: [c_int; 2] = [200, 200];
/// The most bytes a number takes as text.
const NUMBER_BYTES: usize = 32;

/// What stands behind a Lua state; the allocator's pointer leads to it from any thread of the state.
struct Host {
    arena: Arena,
    meter: Meter,
    run: Run,
    /// Memory in use after the last forced collection.
    collected: usize,
    /// The main thread of the state.
    lua: *mut lua_State,
    /// The hook was called early to look at the memory.
    pressed: bool,
}

/// What functions called by Lua need from one call to the next.
pub(super) struct Run {
    /// The engine's state, lent for the time of a run; null between runs.
    state: *mut State,
    /// The reply of the last command.
    tape: Reply,
    /// For texts under construction: never owned by a frame that Lua may jump over.
    pub(super) scratch: Vec<u8>,
    panic: Option<Box<dyn Any + Send>>,
    /// Lua's own functions that this layer wraps, by `base`.
    pub(super) wrapped: [Option<lua_CFunction>; base::WRAPPED],
    /// What the script asked of the collector; it has no effect and ends with the run.
    pub(super) collector: [c_int; 2],
    /// What the host registered, what it was passed last and what it answered.
    pub(super) functions: HostFunctions,
    pub(super) arguments: Reply,
    pub(super) answer: Reply,
    /// Registry numbers of the names by which a table tells what it is.
    fields: [c_int; convert::FIELDS.len()],
    /// The generator as it was before the script seeded it: a seed holds for one script.
    pub(super) unseeded: Option<Lrand48>,
}

impl Run {
    fn new(functions: HostFunctions) -> Self {
        Run {
            functions,
            arguments: Reply::new(),
            answer: Reply::new(),
            fields: [0; convert::FIELDS.len()],
            state: null_mut(),
            tape: Reply::new(),
            scratch: Vec::new(),
            panic: None,
            wrapped: [None; base::WRAPPED],
            collector: COLLECTOR_SETTINGS,
            unseeded: None,
        }
    }

    /// The end of a run: what holds for one script only is put back.
    fn end(&mut self, state: &mut State) {
        self.collector = COLLECTOR_SETTINGS;
        if let Some(random) = self.unseeded.take() {
            state.scripts.random = random;
        }
    }

    /// Runs a command of the script; its reply, errors too, goes to the tape.
    #[inline(always)]
    fn dispatch(&mut self, state: &mut State, meter: &mut Meter, argv: Argv<'_>) {
        let dirty = state.store.dirty();
        let result =
            call(&mut Ctx { state, id: SCRIPT_SESSION, origin: Origin::Script }, argv, &mut self.tape);
        match result {
            Ok(Flow::Done) => {}
            Ok(_) => self.tape.error(&Failure::SCRIPT_NOT_ALLOWED),
            Err(failure) => self.tape.error(&failure),
        }
        if state.store.dirty() != dirty {
            meter.wrote();
        }
    }
}

/// A call of a function of this layer by Lua.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) stack: Stack<'a>,
    host: *mut Host,
}

impl Call<'_> {
    /// Works on the run's own data. `work` does not touch Lua.
    pub(super) fn run<R>(self, work: impl FnOnce(&mut Run) -> R) -> R {
        // SAFETY: the host outlives its Lua state, and no other reference to `run` is alive: each lives only
        // as long as such a closure or a command.
        work(unsafe { &mut (*self.host).run })
    }

    /// Works on the engine's state; none outside a run. `work` does not touch Lua.
    pub(super) fn state<R>(self, work: impl FnOnce(&mut State) -> R) -> Option<R> {
        // Not null only while `Interpreter::run` holds the state exclusively, and lent to one piece
        // of work at a time: commands and such closures do not nest.
        let state = self.run(|run| run.state);
        // SAFETY: see above.
        unsafe { state.as_mut() }.map(work)
    }

    /// Charges work to the run.
    #[inline]
    pub(super) fn charge(self, work: u64) -> Result<(), Stop> {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.charge(work) }
    }

    /// Work left in the run.
    #[inline]
    pub(super) fn work_left(self) -> u64 {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.left() }
    }

    /// Why the run has to end, if so.
    pub(super) fn stop(self) -> Option<Stop> {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.stop() }
    }

    /// Memory in use and memory that may be in use.
    pub(super) fn memory(self) -> (usize, usize) {
        // SAFETY: as in `run`; the arena is only borrowed inside the allocator.
        unsafe { ((*self.host).arena.used(), (*self.host).arena.limit()) }
    }

    /// The longest source that is compiled.
    pub(super) fn source_limit(self) -> usize {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.limits().source }
    }

    /// Writes the arguments of this call as an array to the run's `arguments`. Memory is unlimited meanwhile, so
    /// nothing jumps.
    pub(super) fn take_arguments(self) {
        let count = self.stack.top();
        // SAFETY: as in `run`: while the arguments are written Lua uses the arena alone, and no hook runs.
        unsafe {
            (*self.host).arena.relax();
            let Run { arguments, fields, .. } = &mut (*self.host).run;
            arguments.clear();
            arguments.array(count.unsigned_abs() as usize);
            for index in 1..=count {
                self.stack.copy(index);
                convert::Writer { fields, resp: Resp::V3, out: arguments }.write(self.stack);
            }
            (*self.host).arena.enforce();
        }
    }

    /// Pushes the run's `answer`. May jump.
    pub(super) fn push_answer(self) {
        // SAFETY: as in `run`: the answer is not changed while Lua takes its values.
        let answer = unsafe { &*&raw const (*self.host).run.answer };
        convert::push_reply(self.stack, answer.view(), Resp::V2);
    }

    /// Goes on as one of Lua's own functions, with the same arguments. May jump.
    pub(super) fn become_wrapped(self, which: usize) -> Returned {
        match self.run(|run| run.wrapped[which]) {
            // SAFETY: a C function of Lua's library, called the way Lua calls it: in this very call's frame.
            Some(function) => Ok(unsafe { function(self.stack.raw()) }),
            None => Err(self.stack.fail_plain(b"no such function")),
        }
    }
}

/// The host of a Lua state or thread.
#[inline(always)]
unsafe fn host_of(state: *mut lua_State) -> *mut Host {
    let mut host = null_mut();
    // SAFETY: a living state; its allocator's pointer is the host it was made with.
    unsafe { ffi::lua_getallocf(state, &mut host) };
    host.cast()
}

/// A Rust function as a function that Lua can call.
pub(super) fn native<F: Fn(Call<'_>) -> Returned + Copy>(_: F) -> lua_CFunction {
    const { assert!(size_of::<F>() == 0, "a plain function") };
    trampoline::<F>
}

unsafe extern "C-unwind" fn trampoline<F: Fn(Call<'_>) -> Returned + Copy>(state: *mut lua_State) -> c_int {
    // SAFETY: `native` admits only types without data, and one value of F existed. Lua calls this with a
    // living state, whose host lives as long. What follows the closure owns nothing when Lua takes over.
    unsafe {
        let function = NonNull::<F>::dangling().as_ref();
        let host = host_of(state);
        let call = Call { stack: Stack::new(state), host };
        match catch_unwind(AssertUnwindSafe(|| function(call))) {
            Ok(Ok(count)) => count,
            Ok(Err(_)) => ffi::lua_error(state),
            Err(panic) => {
                note_panic(host, panic);
                ffi::lua_pushnil(state);
                ffi::lua_error(state)
            }
        }
    }
}

/// Keeps a panic for the end of the run, which is now.
#[cold]
unsafe fn note_panic(host: *mut Host, panic: Box<dyn Any + Send>) {
    // SAFETY: called from a trampoline: the host lives and nothing else borrows it.
    unsafe {
        (*host).meter.set_stop(Stop::Panicked);
        match &(*host).run.panic {
            None => (*host).run.panic = Some(panic),
            // Dropping a payload may panic again; the first one is enough to tell what happened.
            Some(_) => std::mem::forget(panic),
        }
    }
}

/// Pushes the error that ends a stopped run. May jump.
#[cold]
pub(super) fn push_stop(stack: Stack<'_>, stop: Stop) {
    stack.new_table(0, 1);
    stack.push_bytes(stop.text().as_bytes());
    stack.raw_set_field(-2, b"err");
}

pub(super) unsafe extern "C-unwind" fn redis_call(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a living state; nothing is owned here when the error jumps.
    unsafe { if execute(state) { ffi::lua_error(state) } else { 1 } }
}

pub(super) unsafe extern "C-unwind" fn redis_pcall(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a living state.
    unsafe {
        if execute(state) && (*host_of(state)).meter.stop().is_some() {
            ffi::lua_error(state);
        }
    }
    1
}

/// Runs the command on the stack and leaves its reply there. True when that is an error.
#[inline(always)]
unsafe fn execute(state: *mut lua_State) -> bool {
    // SAFETY: the host lives as long as the state. `run` and `meter` are borrowed only up to the end of the
    // command, which cannot touch Lua; then the tape alone, while the pushes below use only the arena.
    unsafe {
        let host = host_of(state);
        let ran = catch_unwind(AssertUnwindSafe(|| command(state, &mut (*host).run, &mut (*host).meter)));
        if let Err(panic) = ran {
            note_panic(host, panic);
            (*host).run.tape.clear();
        }
        ffi::lua_settop(state, 0);
        let stack = Stack::new(state);
        if let Some(stop) = (*host).meter.stop() {
            push_stop(stack, stop);
            return true;
        }
        let tape = &raw const (*host).run.tape;
        let resp =
            (*host).run.state.as_ref().map_or(Resp::V2, |state| state.sessions.get(SCRIPT_SESSION).resp);
        convert::push_reply(stack, (*tape).view(), resp)
    }
}

/// The arguments from the stack, the command, its reply on the tape.
#[inline(always)]
unsafe fn command(lua: *mut lua_State, run: &mut Run, meter: &mut Meter) {
    // SAFETY: `execute` calls this with a living state.
    let count = unsafe { ffi::lua_gettop(lua) }.unsigned_abs() as usize;
    run.tape.clear();
    if meter.charge(convert::COMMAND_WORK).is_err() {
        return;
    }
    // SAFETY: not null only while `Interpreter::run` holds the state exclusively; nothing else uses it now.
    let Some(state) = (unsafe { run.state.as_mut() }) else {
        return run.tape.error(&Failure::CALL_OUTSIDE);
    };
    let mut frame: [&[u8]; FRAME_ARGUMENTS] = [&[]; FRAME_ARGUMENTS];
    let mut heap: Vec<&[u8]> = Vec::new();
    let argv = match frame.get_mut(..count) {
        Some(argv) => argv,
        None => {
            heap.resize(count, &[]);
            &mut heap[..]
        }
    };
    // SAFETY: `argv` has a place for each value on the stack, and the stack stays as it is until the command ends.
    if let Err(failure) = unsafe { arguments(lua, argv, &mut run.scratch) } {
        return run.tape.error(&failure);
    }
    run.dispatch(state, meter, argv);
}

/// Borrows the arguments from the Lua stack; numbers become text in `scratch`.
#[inline(always)]
unsafe fn arguments(lua: *mut lua_State, argv: &mut [&[u8]], scratch: &mut Vec<u8>) -> Result<(), Failure> {
    if argv.is_empty() {
        return Err(Failure::CALL_WITHOUT_ARGUMENTS);
    }
    scratch.clear();
    scratch.reserve(argv.len() * NUMBER_BYTES);
    for (slot, index) in argv.iter_mut().zip(1..) {
        // SAFETY: `index` is on the stack. A string's bytes stay where they are while it is on the stack;
        // `scratch` has room for every number without moving.
        unsafe {
            match ffi::lua_type(lua, index) {
                ffi::LUA_TSTRING => {
                    let mut length = 0;
                    let first = ffi::lua_tolstring(lua, index, &mut length);
                    *slot = std::slice::from_raw_parts(first.cast(), length);
                }
                ffi::LUA_TNUMBER => {
                    let start = scratch.len();
                    scratch.extend_from_slice(format_f64(&mut NumBuf::new(), ffi::lua_tonumber(lua, index)));
                    *slot = std::slice::from_raw_parts(scratch.as_ptr().add(start), scratch.len() - start);
                }
                _ => return Err(Failure::CALL_ARGUMENT_TYPE),
            }
        }
    }
    Ok(())
}

/// A Lua state of our own, with the sealed environment and our functions in it.
pub(super) struct Interpreter {
    host: *mut Host,
    lua: *mut lua_State,
    /// Registry numbers of the tables of globals that scripts read: behind the proxy, and the quick one.
    globals: [c_int; 2],
    lists: [List; 2],
    fields: [c_int; convert::FIELDS.len()],
}

/// KEYS or ARGV: a table that is used again as long as scripts leave nothing in it.
#[derive(Clone, Copy)]
struct List {
    name: &'static [u8],
    table: c_int,
    filled: usize,
    /// The global is this table, not one made for a single run.
    bound: bool,
}

/// Lists up to this length use their table again.
const KEPT_ITEMS: usize = 4;
/// Lists with more bytes than this are not kept, so that they do not hold memory.
const KEPT_BYTES: usize = 16 * 1024;

// SAFETY: the Lua state and its host are reached through this value alone, and hold nothing that belongs to a thread.
unsafe impl Send for Interpreter {}

impl Interpreter {
    pub(super) fn new(limits: Limits, functions: HostFunctions, control: Arc<Control>) -> Self {
        let arena = Arena::new(limits.memory);
        let host = Box::new(Host {
            arena,
            meter: Meter::new(limits, control),
            run: Run::new(functions.clone()),
            collected: 0,
            lua: null_mut(),
            pressed: false,
        });
        let host = Box::into_raw(host);
        // SAFETY: the host outlives the state; its arena grants all while it is new.
        let lua = unsafe { ffi::lua_newstate(allocate, host.cast()) };
        // SAFETY: nothing else borrows the host.
        unsafe { (*host).lua = lua };
        assert!(!lua.is_null(), "an unlimited arena has memory for a Lua state");
        let mut new = Interpreter {
            host,
            lua,
            globals: [0; 2],
            lists: [List::new(b"KEYS"), List::new(b"ARGV")],
            fields: [0; 9],
        };
        new.build(&functions);
        new
    }

    /// Fills the new state. Memory is unlimited here, so nothing jumps.
    fn build(&mut self, functions: &HostFunctions) {
        let stack = self.stack();
        sandbox::build(Call { stack, host: self.host }, functions);
        for (slot, name) in self.globals.iter_mut().zip([&b"globals"[..], b"quick globals"]) {
            stack.raw_get_field(REGISTRY, name);
            *slot = stack.keep();
        }
        for list in &mut self.lists {
            stack.new_table(KEPT_ITEMS as c_int, 0);
            list.table = stack.keep();
        }
        for (slot, name) in self.fields.iter_mut().zip(convert::FIELDS) {
            stack.push_bytes(name);
            *slot = stack.keep();
        }
        // SAFETY: nothing else borrows the host.
        unsafe { (*self.host).run.fields = self.fields };
        stack.raw_get_field(REGISTRY, b"error handler");
        stack.collector(ffi::LUA_GCSETPAUSE, SMALL_HEAP_PAUSE);
        stack.collector(ffi::LUA_GCSETSTEPMUL, STEP_SPEED);
        stack.collector(ffi::LUA_GCCOLLECT, 0);
        // SAFETY: nothing else borrows the arena.
        let kept = unsafe { (*self.host).arena.snapshot() };
        assert!(kept, "a new Lua state fits into one chunk");
    }

    fn stack(&self) -> Stack<'static> {
        // SAFETY: the state lives as long as `self`, and stacks do not leave this module's calls.
        unsafe { Stack::new(self.lua) }
    }

    /// Back to the state after `new`: all compiled functions are gone.
    pub(super) fn reset(&mut self) {
        // SAFETY: no script runs, so nothing refers into the state.
        let restored = unsafe { (*self.host).arena.restore() };
        assert!(restored, "a snapshot was taken when the state was new");
        for list in &mut self.lists {
            (list.filled, list.bound) = (0, false);
        }
    }

    /// Memory that was taken from the system for Lua.
    pub(super) fn memory(&self) -> usize {
        // SAFETY: nothing else borrows the arena.
        unsafe { (*self.host).arena.held() }
    }

    /// Lets the `n`-th request for memory of each run to come fail.
    #[cfg(test)]
    pub(super) fn refuse_nth(&mut self, n: Option<u64>) {
        // SAFETY: nothing else borrows the host between runs.
        unsafe { (*self.host).arena.refuse_nth(n) };
    }

    /// Compiles a script: the number of its function, or Lua's message.
    pub(super) fn compile(&mut self, text: &[u8]) -> Result<c_int, Vec<u8>> {
        let stack = self.stack();
        stack.push_bytes(b"@user_script");
        // SAFETY: nothing else borrows the arena; `load` catches what its limit raises.
        let loaded = unsafe {
            (*self.host).arena.enforce();
            let loaded = load(stack, text, -1);
            (*self.host).arena.relax();
            loaded
        };
        let result = if loaded {
            self.choose_environment();
            Ok(stack.keep())
        } else {
            Err(stack.bytes(-1).unwrap_or_default().to_vec())
        };
        stack.set_top(HANDLER);
        result
    }

    /// Gives the function on top the quickest environment in which it can do no harm.
    fn choose_environment(&mut self) {
        let stack = self.stack();
        let mut dump: Vec<u8> = Vec::new();
        // SAFETY: `collect` gets the vector back and does not jump; a dump needs no memory of Lua's.
        unsafe { ffi::lua_dump_(self.lua, collect, (&raw mut dump).cast()) };
        let globals = match bytecode::inspect(&dump, &sandbox::is_plain) {
            Some(Uses { sets_global: false, sets_field: false, reads_other: false }) => self.globals[1],
            Some(Uses { sets_global: false, .. }) => self.globals[0],
            _ => return,
        };
        stack.raw_get_index(REGISTRY, globals);
        stack.set_environment(-2);
    }

    /// Runs a compiled script. Its result, or its error, is on top of the stack until `clear`.
    ///
    /// # Panics
    /// With the panic of a command that panicked.
    pub(super) fn run(
        &mut self,
        function: c_int,
        keys: &[&[u8]],
        args: &[&[u8]],
        state: &mut State,
    ) -> Result<(), Option<Stop>> {
        self.bind(0, keys);
        self.bind(1, args);
        let stack = self.stack();
        let host = self.host;
        // SAFETY: the host lives; `state` is lent to it up to the end of this call and not used here meanwhile.
        // `Call` and the trampolines borrow from the host only while Lua is not running.
        unsafe {
            assert!((*host).run.state.is_null(), "scripts do not nest");
            (*host).run.state = state;
            (*host).meter.begin();
            (*host).pressed = false;
            ffi::lua_sethook(self.lua, Some(hook), ffi::LUA_MASKCOUNT, INTERVAL);
            stack.raw_get_index(REGISTRY, function);
            (*host).arena.enforce();
            let outcome = stack.protected_call(0, 1, HANDLER);
            (*host).arena.relax();
            (*host).meter.end();
            (*host).run.state = null_mut();
            (*host).run.end(state);
            if let Some(panic) = (*host).run.panic.take() {
                stack.set_top(HANDLER);
                resume_unwind(panic);
            }
            match (outcome, (*host).meter.stop()) {
                (Outcome::Done, None) => Ok(()),
                (_, stop) => Err(stop),
            }
        }
    }

    /// Drops what `run` left on the stack, and what it left in memory.
    pub(super) fn clear(&mut self) {
        let stack = self.stack();
        stack.set_top(HANDLER);
        // SAFETY: nothing else borrows the host between runs.
        unsafe {
            if (*self.host).arena.used() > LARGE_HEAP {
                (*self.host).collected = 0;
                stack.collector(ffi::LUA_GCCOLLECT, 0);
                stack.collector(ffi::LUA_GCSETPAUSE, SMALL_HEAP_PAUSE);
            }
            if (*self.host).run.scratch.capacity() > LARGE_HEAP {
                (*self.host).run.scratch = Vec::new();
            }
        }
    }

    /// The stack with the result on top, and the numbers of the names by which a table tells what it is.
    pub(super) fn result(&self) -> (Stack<'_>, &[c_int; convert::FIELDS.len()]) {
        (self.stack(), &self.fields)
    }

    /// Sets KEYS or ARGV. Memory is unlimited here, so nothing jumps.
    fn bind(&mut self, which: usize, items: &[&[u8]]) {
        let stack = self.stack();
        let list = &mut self.lists[which];
        let keep =
            items.len() <= KEPT_ITEMS && items.iter().map(|item| item.len()).sum::<usize>() <= KEPT_BYTES;
        if keep && list.bound && list.refill(stack, items) {
            return;
        }
        stack.new_table(c_int::try_from(items.len().max(KEPT_ITEMS)).unwrap_or(c_int::MAX), 0);
        fill(stack, items);
        for globals in self.globals {
            stack.raw_get_index(REGISTRY, globals);
            stack.push_bytes(list.name);
            stack.copy(-3);
            stack.raw_set(-3);
            stack.pop(1);
        }
        (list.bound, list.filled) = (keep, items.len());
        if keep {
            stack.raw_set_index(REGISTRY, list.table);
        } else {
            stack.pop(1);
        }
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`. The state needs no closing: all its memory is the arena's, and
        // no object in it has a finalizer.
        drop(unsafe { Box::from_raw(self.host) });
    }
}

impl List {
    fn new(name: &'static [u8]) -> Self {
        List { name, table: 0, filled: 0, bound: false }
    }

    /// Puts new items into the kept table; false when a script has left something in it.
    fn refill(&mut self, stack: Stack<'_>, items: &[&[u8]]) -> bool {
        stack.raw_get_index(REGISTRY, self.table);
        if stack.get_metatable(-1) {
            stack.pop(2);
            return false;
        }
        fill(stack, items);
        for index in items.len()..self.filled {
            stack.push_nil();
            stack.raw_set_index(-2, index as c_int + 1);
        }
        self.filled = items.len();
        match items.len() {
            0 => stack.push_nil(),
            count => stack.push_number(count as f64),
        }
        if stack.next(-2) {
            stack.pop(3);
            return false;
        }
        stack.pop(1);
        true
    }
}

/// Sets the items of the table on top.
fn fill(stack: Stack<'_>, items: &[&[u8]]) {
    for (item, index) in items.iter().zip(1..) {
        stack.push_bytes(item);
        stack.raw_set_index(-2, index);
    }
}

/// The error handler lies at the bottom of the stack.
const HANDLER: c_int = 1;

/// Called by Lua every `INTERVAL` instructions, whatever thread runs.
unsafe extern "C-unwind" fn hook(state: *mut lua_State, _: *mut ffi::lua_Debug) {
    // SAFETY: Lua calls this with a living state, between two instructions: nothing borrows the host, and
    // nothing is owned here when the error jumps.
    unsafe {
        let host = host_of(state);
        if std::mem::take(&mut (*host).pressed) {
            ffi::lua_sethook((*host).lua, Some(hook), ffi::LUA_MASKCOUNT, INTERVAL);
        }
        let stop = match catch_unwind(AssertUnwindSafe(|| (*host).meter.look((*host).arena.take_granted()))) {
            Ok(stop) => stop,
            Err(panic) => {
                note_panic(host, panic);
                Some(Stop::Panicked)
            }
        };
        if let Some(stop) = stop {
            // From now on each instruction of this thread asks again, so that no handler gets anywhere.
            ffi::lua_sethook(state, Some(hook), ffi::LUA_MASKCOUNT, 1);
            push_stop(Stack::new(state), stop);
            ffi::lua_error(state);
        }
        collect_under_pressure(state, host);
    }
}

/// The collector is tuned for small heaps; a growing one is collected in time, at points that depend on
/// instructions and bytes alone.
unsafe fn collect_under_pressure(state: *mut lua_State, host: *mut Host) {
    // SAFETY: called from the hook; the collector uses only the arena, and runs no code of the script.
    unsafe {
        let (used, limit) = ((*host).arena.used(), (*host).arena.limit());
        if used > LARGE_HEAP {
            ffi::lua_gc(state, ffi::LUA_GCSETPAUSE, LARGE_HEAP_PAUSE);
        }
        if used > limit / 4 && used > (*host).collected + limit / 8 {
            ffi::lua_gc(state, ffi::LUA_GCCOLLECT, 0);
            (*host).collected = (*host).arena.used();
            let _ = (*host).meter.charge(used as u64 / 64);
        }
        let pressure = (*host).arena.used().saturating_add(limit / 16).max(LARGE_HEAP);
        (*host).arena.set_pressure(pressure);
    }
}

/// The function that `lua_newstate` gets, with the host as its pointer.
unsafe extern "C" fn allocate(host: *mut c_void, block: *mut c_void, old: usize, new: usize) -> *mut c_void {
    let host = host.cast::<Host>();
    // SAFETY: the host lives as long as its state, nothing borrows the arena while Lua runs, and Lua gives blocks
    // back with the size it asked for.
    unsafe {
        let block = (*host).arena.request(block.cast(), old, new);
        if (*host).arena.is_pressed() {
            look_soon(host);
        }
        block.cast()
    }
}

/// Has the hook called at the main thread's next instruction: a collection may be due long before the usual look.
#[cold]
unsafe fn look_soon(host: *mut Host) {
    // SAFETY: as in `allocate`; setting a hook may be done at any time, it sets fields of the thread.
    unsafe {
        (*host).arena.set_pressure(usize::MAX);
        (*host).pressed = true;
        ffi::lua_sethook((*host).lua, Some(hook), ffi::LUA_MASKCOUNT, 1);
    }
}

/// Appends a piece of a dump.
unsafe extern "C-unwind" fn collect(
    _: *mut lua_State,
    piece: *const c_void,
    size: usize,
    dump: *mut c_void,
) -> c_int {
    // SAFETY: `choose_environment` passes a vector, and Lua a piece of `size` bytes.
    let (dump, piece) =
        unsafe { (&mut *dump.cast::<Vec<u8>>(), std::slice::from_raw_parts(piece.cast::<u8>(), size)) };
    dump.extend_from_slice(piece);
    0
}

/// Loads the text at `source` under the name at `name`: pushes the function, or a message and is false. Bytecode
/// is not text.
pub(super) fn load_text(call: Call<'_>, source: c_int, name: c_int) -> bool {
    let stack = call.stack;
    let Some(text) = stack.bytes(source) else { return false };
    if text.len() > call.source_limit() {
        stack.push_bytes(b"script source too long");
        return false;
    }
    load(stack, text, name)
}

/// Loads what the function at 1 returns piece by piece, under the name at 2. It is called to its end first.
pub(super) fn load_from_reader(call: Call<'_>) -> bool {
    let stack = call.stack;
    stack.new_table(0, 0);
    let mut source = Source { text: &[], next: Next::Drain, limit: call.source_limit(), host: call.host };
    load_source(stack, &mut source, 2)
}

fn load(stack: Stack<'_>, text: &[u8], name: c_int) -> bool {
    let mut source = Source { text, next: Next::first(text), limit: usize::MAX, host: null_mut() };
    load_source(stack, &mut source, name)
}

fn load_source(stack: Stack<'_>, source: &mut Source<'_>, name: c_int) -> bool {
    let name = stack.bytes(name).unwrap_or(b"?\0");
    let data: *mut Source<'_> = source;
    // SAFETY: `read` gets `source` back while it is alive. A Lua string ends in a zero byte, and the name stays
    // on the stack. `lua_load` catches all errors.
    unsafe { ffi::lua_load(stack.raw(), read, data.cast(), name.as_ptr().cast()) == ffi::LUA_OK }
}

/// A text that the parser reads.
struct Source<'a> {
    text: &'a [u8],
    next: Next,
    limit: usize,
    host: *mut Host,
}

/// What the parser gets when it asks for more.
enum Next {
    /// What the script's reader function gives.
    Drain,
    /// A blank, so that the first byte of the text is not taken for that of bytecode.
    Blank,
    /// The text, all of it.
    Text,
    /// Nothing.
    End,
}

impl Next {
    fn first(text: &[u8]) -> Self {
        if text.first() == Some(&ffi::LUA_SIGNATURE[0]) { Next::Blank } else { Next::Text }
    }
}

unsafe extern "C-unwind" fn read(
    state: *mut lua_State,
    data: *mut c_void,
    size: *mut usize,
) -> *const c_char {
    // SAFETY: `load_source` passes a `Source`, and the parser a place for the size.
    let (source, size) = unsafe { (&mut *data.cast::<Source<'_>>(), &mut *size) };
    if let Next::Drain = source.next {
        // SAFETY: called by `lua_load` in the frame of `load_from_reader`, whose stack it sees.
        unsafe { drain(Stack::new(state), source) };
        source.next = Next::first(source.text);
    }
    let piece: &[u8] = match source.next {
        Next::Drain | Next::End => &[],
        Next::Blank => b" ",
        Next::Text => source.text,
    };
    source.next = if let Next::Blank = source.next { Next::Text } else { Next::End };
    *size = piece.len();
    piece.as_ptr().cast()
}

/// Calls the reader function at 1 until it has no more, keeps its pieces in the table at 3, and joins them there.
/// May jump.
unsafe fn drain(stack: Stack<'_>, source: &mut Source<'_>) {
    let (mut count, mut length) = (0, 0usize);
    loop {
        stack.copy(1);
        stack.call(0, 1);
        if stack.is_nil(-1) {
            break;
        }
        let Some(piece) = stack.text(-1) else {
            stack.fail(b"reader function must return a string");
            stack.raise();
        };
        length += piece.len();
        if piece.is_empty() {
            break;
        }
        if length > source.limit {
            stack.fail(b"script source too long");
            stack.raise();
        }
        count += 1;
        stack.raw_set_index(3, count);
    }
    // SAFETY: the host of this call; the closure does not touch Lua but to look at the strings in the table.
    let scratch = unsafe { &mut (*source.host).run.scratch };
    scratch.clear();
    for index in 1..=count {
        stack.raw_get_index(3, index);
        scratch.extend_from_slice(stack.bytes(-1).unwrap_or_default());
        stack.pop(1);
    }
    let joined: *const [u8] = &raw const scratch[..];
    stack.push_scratch(joined);
    stack.replace(3);
    source.text = stack.bytes(3).map_or(&[], |text| {
        // SAFETY: the string stays at 3 until `lua_load` returns, and `source` is not used after that.
        unsafe { std::slice::from_raw_parts(text.as_ptr(), text.len()) }
    });
}
