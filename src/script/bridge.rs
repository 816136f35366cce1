//! The border between Lua and Rust: the trampolines through which Lua calls functions of this layer, `redis.call`,
//! and the instruction hook. With `stack`, `alloc` and `interpreter` all the code that touches Lua.
//!
//! A Lua error is a `longjmp`: it must not cross a Rust frame that owns something. So a command runs to its end
//! into the reply tape, its Rust values die, and only then is Lua touched again; what a function needs for longer
//! lives in `Host`. A panic is caught where it happens and raised again after the run.
#![allow(unsafe_code)]

use super::alloc::{Arena, LARGE_HEAP};
use super::coverage::{Recorder, Tally};
use super::host::HostFunctions;
use super::library::Registered;
use super::limits::{self, Control, INTERVAL, Meter, OnOverdue, RunningFunction, Stop, interval};
use super::stack::{Raised, Returned, Stack};
use super::{base, convert, lib};
use crate::command::args::is;
use crate::command::session::SCRIPT_SESSION;
use crate::command::{Argv, Ctx, Flow, Origin, State, call};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::util::clock::Stopwatch;
use crate::util::float::format_f64;
use crate::util::lrand48::Lrand48;
use crate::util::num::NumBuf;
use mlua::ffi::{self, lua_CFunction, lua_State};
use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};

/// Arguments of `redis.call` up to this many stay in the frame; more cost an allocation.
const FRAME_ARGUMENTS: usize = 12;
/// How much a large heap may grow before it is collected, in percent.
const LARGE_HEAP_PAUSE: c_int = 200;
/// What a script is told of the collector's settings: the server's defaults.
const COLLECTOR_SETTINGS: [c_int; 2] = [200, 200];
/// Bytes that the collector looks at for one unit of work.
const COLLECTED_BYTES_PER_WORK: u64 = 32;
/// The work charged for a step of the collector, which looks at 100,000 bytes or so.
pub(super) const STEP_WORK: u64 = 3000;
/// The steps that a charge stands for: about the instructions that a loop in Lua would have.
const CHARGE_STEPS: c_int = 4;
/// What a key or element that was written takes beside its own bytes, about.
const KEY_BYTES: usize = 64;
/// The most bytes a number takes as text.
const NUMBER_BYTES: usize = 32;

/// What stands behind a Lua state; the allocator's pointer leads to it from any thread of the state.
pub(super) struct Host {
    pub(super) arena: Arena,
    pub(super) meter: Meter,
    pub(super) run: Run,
    /// Memory in use after the last forced collection.
    pub(super) collected: usize,
    /// The thread of the state that runs.
    pub(super) running: *mut lua_State,
    /// The hook was called early to look at the memory.
    pub(super) pressed: bool,
    /// What Lua calls between instructions.
    pub(super) hook: Hook,
    /// Where it is noted which lines run.
    pub(super) recorder: Option<Recorder>,
}

/// A function that Lua calls between instructions, and when.
#[derive(Clone, Copy)]
pub(super) struct Hook {
    function: unsafe extern "C-unwind" fn(*mut lua_State, *mut ffi::lua_Debug),
    mask: c_int,
}

impl Hook {
    /// Called every so many instructions.
    pub(super) const COUNTING: Hook = Hook { function: hook, mask: ffi::LUA_MASKCOUNT };
    /// The same, and when a line is entered.
    pub(super) const COVERING: Hook =
        Hook { function: covering_hook, mask: ffi::LUA_MASKCOUNT | ffi::LUA_MASKLINE };

    /// Has it called for a thread after so many instructions, again and again.
    ///
    /// # Safety
    /// A living Lua state or thread; setting a hook may be done at any time, it sets fields of the thread.
    #[inline(always)]
    pub(super) unsafe fn set(self, thread: *mut lua_State, interval: c_int) {
        // SAFETY: see above.
        unsafe { ffi::lua_sethook(thread, Some(self.function), self.mask, interval) };
    }
}

impl Host {
    /// How many instructions may run between two looks.
    pub(super) fn interval(&self) -> c_int {
        interval(self.arena.used(), self.arena.in_large())
    }
}

/// What functions called by Lua need from one call to the next.
pub(super) struct Run {
    /// The engine's state, lent for the time of a run; null between runs.
    pub(super) state: *mut State,
    /// The reply of the last command.
    tape: Reply,
    /// For texts under construction: never owned by a frame that Lua may jump over.
    pub(super) scratch: Vec<u8>,
    /// The same for what is open around the value that a library reads or writes.
    pub(super) levels: Vec<lib::Level>,
    /// The settings of the library `cjson`; they end with the run.
    pub(super) cjson: lib::Settings,
    pub(super) panic: Option<Box<dyn Any + Send>>,
    /// Lua's own functions that this layer wraps, by `base`.
    pub(super) wrapped: [Option<lua_CFunction>; base::WRAPPED],
    /// What the script asked of the collector; it has no effect and ends with the run.
    pub(super) collector: [c_int; 2],
    /// The generator as it was before the script seeded it: a seed holds for one script.
    pub(super) unseeded: Option<Lrand48>,
    /// What the library that is being loaded has registered; none when none is.
    pub(super) registering: Option<Vec<Registered>>,
    /// The words of the FCALL that runs, lent as `state` is.
    pub(super) fcall: Option<*const [&'static [u8]]>,
    /// What the host registered, what it was passed last and what it answered.
    pub(super) functions: HostFunctions,
    pub(super) arguments: Reply,
    pub(super) answer: Reply,
    /// Registry numbers of the names by which a table tells what it is.
    pub(super) fields: [c_int; convert::FIELDS.len()],
}

impl Run {
    pub(super) fn new(functions: HostFunctions) -> Self {
        Run {
            state: null_mut(),
            tape: Reply::new(),
            scratch: Vec::new(),
            levels: Vec::new(),
            cjson: lib::Settings::DEFAULT,
            panic: None,
            wrapped: [None; base::WRAPPED],
            collector: COLLECTOR_SETTINGS,
            functions,
            arguments: Reply::new(),
            answer: Reply::new(),
            fields: [0; convert::FIELDS.len()],
            unseeded: None,
            registering: None,
            fcall: None,
        }
    }

    /// The end of a run: what holds for one script only is put back.
    pub(super) fn end(&mut self, state: &mut State) {
        self.collector = COLLECTOR_SETTINGS;
        self.cjson = lib::Settings::DEFAULT;
        if let Some(random) = self.unseeded.take() {
            state.scripts.random = random;
        }
    }

    /// Runs a command of the script; its reply, errors too, goes to the tape.
    #[inline(always)]
    fn dispatch(&mut self, state: &mut State, meter: &mut Meter, argv: Argv<'_>) {
        let dirty = state.store.dirty();
        meter.begin_growth(|| state.store.memory_bytes());
        let result = call(&mut Ctx::new(state, SCRIPT_SESSION, Origin::Script), argv, &mut self.tape);
        match result {
            Ok(Flow::Done) => {}
            Ok(Flow::Sleep(time)) => {
                state.debug.slept = state.debug.slept.saturating_add(time);
                self.tape.ok();
            }
            Ok(_) => self.tape.error(&Failure::SCRIPT_NOT_ALLOWED),
            Err(failure) => self.tape.error(&failure),
        }
        let mut bytes = self.tape.size();
        if state.store.dirty() != dirty {
            meter.wrote();
            meter.grow(state.store.memory_bytes());
            bytes += KEY_BYTES;
        }
        // A stop is found by whoever runs the command.
        let _ = meter.exchange(bytes);
        if state.took_long {
            let _ = meter.charge(state.worked as u64 / limits::BYTES_PER_WORK);
            let _ = meter.look();
        }
    }
}

/// A call of a function of this layer by Lua.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) stack: Stack<'a>,
    pub(super) host: *mut Host,
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

    /// Charges for bytes that leave Lua.
    pub(super) fn pass(self, bytes: usize) -> Result<(), Stop> {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.pass(bytes, 0) }
    }

    /// Charges work to the run. What is charged one by one are steps of a loop, each with calls or new strings.
    #[inline]
    pub(super) fn charge(self, work: u64) -> Result<(), Stop> {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.charge(work)? };
        self.step(CHARGE_STEPS)
    }

    /// Charges a slice of one long step, as a pattern at work is. The hook cannot come meanwhile, so what it does for a run
    /// that takes long is done here. Not to be called while `run` or `state` works.
    pub(super) fn charge_slice(self, work: u64) -> Result<(), Stop> {
        self.charge(work)?;
        // SAFETY: as in `run`; nothing borrows the host.
        unsafe {
            attend(self.host);
            (*self.host).meter.look()
        }
    }

    /// Makes so many steps, which are to a function of this layer what instructions are to Lua's.
    #[inline]
    pub(super) fn step(self, steps: c_int) -> Result<(), Stop> {
        // SAFETY: as in `run`.
        unsafe { step(self.host, steps) }
    }

    /// Collects all garbage.
    pub(super) fn collect(self) -> Result<(), Stop> {
        // SAFETY: the thread that runs, in the call of a function by Lua.
        unsafe { collect(self.stack.raw(), self.host) }
    }

    /// Resumes the coroutine at `thread` with the arguments on top, as Lua's own `coroutine.resume` does: its results
    /// or its error replace them. May jump.
    pub(super) fn resume(self, thread: c_int, arguments: c_int) -> Result<Resumed, Raised> {
        let (stack, host) = (self.stack, self.host);
        let (from, resumed) = (stack.raw(), stack.thread(thread));
        // SAFETY: a thread of this state, kept by the value at `thread`.
        let other = unsafe { Stack::new(resumed) };
        if resumed != from && !other.reserve(arguments) {
            return Err(stack.fail(b"too many arguments to resume"));
        }
        if let Some(status) = other.status_for(stack) {
            stack.push_bytes(b"cannot resume ");
            stack.push_bytes(status);
            stack.push_bytes(b" coroutine");
            stack.concat(3);
            return Ok(Resumed::Failed);
        }
        // SAFETY: as in `run`. `lua_resume` catches what is raised; while it runs, the coroutine is the thread that
        // the allocator may want to stop.
        let failed = unsafe {
            ffi::lua_xmove(from, resumed, arguments);
            lua_setlevel(from, resumed);
            adapt_hook(resumed, host);
            (*host).running = resumed;
            let status = ffi::lua_resume_(resumed, arguments);
            (*host).running = from;
            adapt_hook(from, host);
            !matches!(status, ffi::LUA_OK | ffi::LUA_YIELD)
        };
        let results = if failed { 1 } else { other.top() };
        if !failed && !stack.reserve(results + 1) {
            return Err(stack.fail(b"too many results to resume"));
        }
        // SAFETY: two threads of one state; there is room for the results.
        unsafe { ffi::lua_xmove(resumed, from, results) };
        Ok(if failed { Resumed::Failed } else { Resumed::Done(results) })
    }

    /// Whether calls of commands are noted by line.
    pub(super) fn notes_calls(self) -> bool {
        // SAFETY: as in `run`; nothing borrows the recorder.
        unsafe { (*self.host).recorder.is_some() }
    }

    /// Why the run has to end, if so.
    pub(super) fn stop(self) -> Option<Stop> {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.stop() }
    }

    /// Memory in use as a script is told: always that of a new interpreter. A true figure would show what others left to
    /// be collected, and, string by string, which strings they know.
    pub(super) fn told_memory(self) -> usize {
        // SAFETY: as in `run`; the arena is only borrowed inside the allocator.
        unsafe { (*self.host).arena.pristine() }
    }

    /// How long a new string may be.
    pub(super) fn string_room(self) -> usize {
        // SAFETY: as above.
        let (arena, limits) = unsafe { (&(*self.host).arena, (*self.host).meter.limits()) };
        arena.limit().saturating_sub(arena.used()).min(limits.string)
    }

    /// The longest source that is compiled.
    pub(super) fn source_limit(self) -> usize {
        // SAFETY: as in `run`.
        unsafe { (*self.host).meter.limits().source }
    }

    /// Writes the arguments of this call as an array to the run's `arguments`. Memory is unlimited meanwhile, so
    /// nothing jumps.
    pub(super) fn take_arguments(self) -> Result<(), Stop> {
        let count = self.stack.top();
        // SAFETY: as in `run`: while the arguments are written Lua uses the arena alone, and no hook runs.
        unsafe {
            let top = self.stack.top();
            let suspended = (*self.host).arena.suspend();
            let Run { arguments, fields, .. } = &mut (*self.host).run;
            let meter = &mut (*self.host).meter;
            arguments.clear();
            arguments.array(count.unsigned_abs() as usize);
            let mut writer = convert::Writer { fields, resp: Resp::V3, out: arguments, meter, stats: None };
            let written = (1..=count).try_for_each(|index| {
                self.stack.copy(index);
                writer.write(self.stack)
            });
            (*self.host).arena.resume(suspended);
            self.stack.set_top(top);
            written
        }
    }

    /// Pushes the run's `answer`. May jump.
    pub(super) fn push_answer(self) {
        // SAFETY: as in `run`: the answer is not changed while Lua takes its values.
        let answer = unsafe { &(*self.host).run.answer };
        let resp = self.state(|state| state.sessions.get(SCRIPT_SESSION).resp).unwrap_or(Resp::V2);
        convert::push_reply(self.stack, answer.view(), resp);
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

/// Makes so many steps of a loop that no hook sees, with a look at the time when one is due.
#[inline]
unsafe fn step(host: *mut Host, steps: c_int) -> Result<(), Stop> {
    // SAFETY: called from functions that Lua calls: the host lives and nothing borrows its meter.
    unsafe {
        if (*host).meter.keeps_pace(steps) {
            return Ok(());
        }
        (*host).meter.set_pace((*host).interval());
        (*host).meter.look()
    }
}

/// Steps of a loop that pushes values without being a function that Lua calls. Raises the stop when the run has to
/// end. May jump.
pub(super) fn steps(stack: Stack<'_>, steps: c_int) {
    // SAFETY: a `Stack` is only made for a living state.
    if let Err(stop) = unsafe { step(host_of(stack.raw()), steps) } {
        push_stop(stack, stop);
        stack.raise();
    }
}

/// How a coroutine came back: with so many results, or with an error.
pub(super) enum Resumed {
    Done(c_int),
    Failed,
}

unsafe extern "C-unwind" {
    /// Calls of C count through from one thread to the one it resumes.
    fn lua_setlevel(from: *mut lua_State, to: *mut lua_State);
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
        let function: F = NonNull::<F>::dangling().read();
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

/// As `redis_call`, where calls are noted by line.
pub(super) unsafe extern "C-unwind" fn noted_call(state: *mut lua_State) -> c_int {
    // SAFETY: as `redis_call`.
    unsafe {
        note_call(state);
        redis_call(state)
    }
}

/// As `redis_pcall`, where calls are noted by line.
pub(super) unsafe extern "C-unwind" fn noted_pcall(state: *mut lua_State) -> c_int {
    // SAFETY: as `redis_pcall`.
    unsafe {
        note_call(state);
        redis_pcall(state)
    }
}

/// So far up the call stack a line of the script is looked for, when what calls a command is none.
const LEVELS_NOTED: c_int = 8;

/// Notes a call of a command at the line of the script that makes it.
unsafe fn note_call(state: *mut lua_State) {
    // SAFETY: Lua calls this with a living state, and nothing borrows the recorder. A zeroed `lua_Debug` is a valid one.
    unsafe {
        let mut record: ffi::lua_Debug = std::mem::zeroed();
        // What it takes to find a level grows with it.
        for level in 1..=LEVELS_NOTED {
            if ffi::lua_getstack(state, level, &mut record) == 0
                || note(state, &mut record, |tally| tally.calls += 1)
            {
                return;
            }
        }
    }
}

/// Notes something at the line of a function that is on the call stack; false when that is none of a script's.
unsafe fn note(state: *mut lua_State, record: *mut ffi::lua_Debug, what: impl FnOnce(&mut Tally)) -> bool {
    // SAFETY: a living state and a record that Lua has filled for it. "S" sets the source to a text that ends in a zero
    // byte and lives as long as the function. Nothing else borrows the recorder, and nothing here jumps.
    unsafe {
        ffi::lua_getinfo(state, c"Sl".as_ptr(), record);
        let Some(recorder) = &(*host_of(state)).recorder else { return false };
        recorder.note(CStr::from_ptr((*record).source).to_bytes(), (*record).currentline, what)
    }
}

/// Called by Lua in place of `hook` where lines are noted: also when a line is entered.
unsafe extern "C-unwind" fn covering_hook(state: *mut lua_State, record: *mut ffi::lua_Debug) {
    // SAFETY: as in `hook`; the record is that of the function that runs.
    unsafe {
        if (*record).event == ffi::LUA_HOOKLINE {
            note(state, record, |tally| tally.hits += 1);
            return;
        }
        if (*host_of(state)).meter.counts_each() {
            note(state, record, |tally| tally.instructions += 1);
        }
        hook(state, record);
    }
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
    match unsafe { arguments(lua, argv, &mut run.scratch) } {
        Ok(bytes) if meter.pass(bytes, far_bytes(argv)).is_ok() => run.dispatch(state, meter, argv),
        Ok(_) => {}
        Err(failure) => run.tape.error(&failure),
    }
}

/// How long a string may become by a command that writes far behind its end; a command that does not write counts
/// nothing.
#[inline(always)]
fn far_bytes(argv: Argv<'_>) -> usize {
    const BITS: usize = 8;
    match argv {
        [name, _, offset, [_, ..]] if name.len() == 8 && is(name, "setrange") => parse_offset(offset),
        [name, _, offset, [b'0' | b'1']] if name.len() == 6 && is(name, "setbit") => {
            parse_offset(offset) / BITS
        }
        _ => 0,
    }
}

/// An offset; one that is none, or larger than a string may be, is refused by its command.
#[cold]
fn parse_offset(text: &[u8]) -> usize {
    const FAR: usize = u32::MAX as usize;
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).filter(|far| *far <= FAR).unwrap_or(0)
}

/// Borrows the arguments from the Lua stack; numbers become text in `scratch`. How many bytes they are.
#[inline(always)]
unsafe fn arguments(
    lua: *mut lua_State,
    argv: &mut [&[u8]],
    scratch: &mut Vec<u8>,
) -> Result<usize, Failure> {
    if argv.is_empty() {
        return Err(Failure::CALL_WITHOUT_ARGUMENTS);
    }
    scratch.clear();
    scratch.reserve(argv.len() * NUMBER_BYTES);
    let mut bytes = 0;
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
        bytes += slot.len();
    }
    Ok(bytes)
}

/// Called by Lua every so many instructions (see `set_hook`), whatever thread runs.
pub(super) unsafe extern "C-unwind" fn hook(state: *mut lua_State, _: *mut ffi::lua_Debug) {
    // SAFETY: Lua calls this with a living state, between two instructions: nothing borrows the host, and
    // nothing is owned here when the error jumps.
    unsafe {
        let host = host_of(state);
        let pressed = std::mem::take(&mut (*host).pressed);
        let interval = (*host).interval();
        let ran = ffi::lua_gethookcount(state);
        if !(*host).meter.tick(ran, interval) && !pressed && (*host).meter.stop().is_none() {
            if ran > 1 {
                // A coroutine that a function kept from a run in which not each instruction was counted.
                adapt_hook(state, host);
            }
            return;
        }
        let looked = catch_unwind(AssertUnwindSafe(|| {
            let ran = if pressed { INTERVAL } else { ffi::lua_gethookcount(state) };
            let ran = if (*host).meter.counts_each() { interval } else { ran };
            let granted = (*host).arena.take_granted();
            attend(host);
            (*host).meter.set_pace(interval);
            (*host).meter.report(ran, granted)
        }));
        let stopped = match looked {
            Ok(Ok(())) => collect_under_pressure(state, host),
            Ok(Err(stop)) => Err(stop),
            Err(panic) => {
                note_panic(host, panic);
                Err(Stop::Panicked)
            }
        };
        if let Err(stop) = stopped {
            // From now on each instruction of this thread asks again, so that no handler gets anywhere.
            (*host).hook.set(state, 1);
            push_stop(Stack::new(state), stop);
            ffi::lua_error(state);
        }
        adapt_hook(state, host);
    }
}

/// Lets others see what runs, and does what else there is to do when the run takes long.
unsafe fn attend(host: *mut Host) {
    // SAFETY: called from the hook, or from a function that Lua calls: nothing borrows the host.
    unsafe {
        if (*host).meter.is_untold() {
            tell(host);
        }
        if let Some((call, control)) = (*host).meter.overdue() {
            do_else(host, call, &control);
        }
    }
}

/// The run takes long: the thread does what else it has to do.
#[cold]
unsafe fn do_else(host: *mut Host, call: OnOverdue, control: &Control) {
    // SAFETY: as `attend`: nothing borrows the host. The state is lent up to the end of the run, and no command works on it
    // now.
    if let Some(state) = unsafe { (*host).run.state.as_mut() } {
        call(state, control);
    }
}

/// Lets other threads see which function runs.
#[cold]
unsafe fn tell(host: *mut Host) {
    // SAFETY: called from the hook: nothing borrows the host. State and words are lent up to the end of the run, and
    // no command works on the state now.
    let lent = unsafe { (*host).run.state.as_ref().zip((*host).run.fcall.map(|argv| &*argv)) };
    let Some((state, argv)) = lent else { return };
    let name = argv.get(1).and_then(|name| state.libraries.function(name));
    let function = RunningFunction {
        name: name.map_or(Vec::new(), |(library, index)| library.functions[index].name.clone()),
        argv: argv.iter().map(|word| word.to_vec()).collect(),
        since: Stopwatch::start(),
        libraries: state.libraries.len(),
        functions: state.libraries.functions_len(),
    };
    // SAFETY: as above.
    unsafe { (*host).meter.tell(function) };
}

/// Lets the hook of a thread be called as often as the memory in use asks for. A thread that runs on after another
/// one may have one that is called too rarely.
unsafe fn adapt_hook(state: *mut lua_State, host: *mut Host) {
    // SAFETY: called from the hook or a function that Lua calls; setting a hook sets fields of the thread.
    unsafe {
        let interval = if (*host).meter.counts_each() { 1 } else { (*host).interval() };
        if ffi::lua_gethookmask(state) != 0 && ffi::lua_gethookcount(state) != interval {
            (*host).hook.set(state, interval);
        }
    }
}

/// The collector is tuned for small heaps; a growing one is collected in time, at points that depend on
/// instructions and bytes alone.
unsafe fn collect_under_pressure(state: *mut lua_State, host: *mut Host) -> Result<(), Stop> {
    // SAFETY: called from the hook; the collector uses only the arena, and runs no code of the script.
    unsafe {
        let (used, limit) = ((*host).arena.used(), (*host).arena.limit());
        if used > LARGE_HEAP {
            ffi::lua_gc(state, ffi::LUA_GCSETPAUSE, LARGE_HEAP_PAUSE);
        }
        if used > limit / 4 && used > (*host).collected + limit / 8 {
            collect(state, host)?;
            (*host).collected = (*host).arena.used();
        }
        let pressure = (*host).arena.used().saturating_add(limit / 16).max(LARGE_HEAP);
        (*host).arena.set_pressure(pressure);
    }
    Ok(())
}

/// Collects all garbage, in steps with looks at the budget between them: with a full heap it takes as long as
/// millions of instructions.
unsafe fn collect(state: *mut lua_State, host: *mut Host) -> Result<(), Stop> {
    // SAFETY: as in `collect_under_pressure`.
    unsafe {
        // The end of the cycle that is under way, and one more.
        for _ in 0..2 {
            (*host).meter.charge((*host).arena.used() as u64 / COLLECTED_BYTES_PER_WORK)?;
            while ffi::lua_gc(state, ffi::LUA_GCSTEP, 0) == 0 {
                (*host).meter.look()?;
            }
        }
    }
    Ok(())
}

/// The function that `lua_newstate` gets, with the host as its pointer.
pub(super) unsafe extern "C" fn allocate(
    host: *mut c_void,
    block: *mut c_void,
    old: usize,
    new: usize,
) -> *mut c_void {
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

/// Has the hook called at the running thread's next instruction: a collection may be due long before the usual look.
#[cold]
unsafe fn look_soon(host: *mut Host) {
    // SAFETY: as in `allocate`; setting a hook may be done at any time, it sets fields of the thread.
    unsafe {
        (*host).arena.note_pressure();
        (*host).pressed = true;
        (*host).meter.hurry();
        (*host).hook.set((*host).running, 1);
    }
}
