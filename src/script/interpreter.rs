//! A Lua state of our own: how it is made and put back to new, how a script is compiled, given its arguments and
//! run, and how source text is loaded. What Lua calls meanwhile is in `bridge`.
#![allow(unsafe_code)]

use super::Function;
use super::alloc::{Arena, LARGE_HEAP};
use super::brackets;
use super::bridge::{Call, Hook, Host, Run, allocate, push_stop};
use super::bytecode::{self, Uses};
use super::coverage::Recorder;
use super::host::{HostFunctions, Settings};
use super::library::{self, Environment, Registered};
use super::limits::{Control, Meter, Purpose, Stop};
use super::stack::{Outcome, REGISTRY, Stack};
use super::{convert, parsing, sandbox};
use crate::command::stats::Stats;
use crate::command::{Argv, State};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::util::clock::Deadline;
use mlua::ffi::{self, lua_State};
use std::borrow::Cow;
use std::ffi::{c_char, c_int, c_void};
use std::panic::resume_unwind;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

/// How much a heap of at most `LARGE_HEAP` bytes may grow before it is collected, in percent: garbage is cheap
/// in an arena, and most scripts leave little.
const SMALL_HEAP_PAUSE: c_int = 1000;
/// A collection runs in few, large steps.
const STEP_SPEED: c_int = 10_000;

/// A Lua state of our own, with the sealed environment and our functions in it.
pub(super) struct Interpreter {
    host: *mut Host,
    lua: *mut lua_State,
    /// Registry numbers of the tables of globals that scripts read: behind the proxy, and the quick one.
    globals: [c_int; 2],
    lists: [List; 2],
    fields: [c_int; convert::FIELDS.len()],
}

/// KEYS or ARGV: tables that are used again as long as scripts leave nothing in them.
#[derive(Clone, Copy)]
struct List {
    name: &'static [u8],
    kept: [Kept; KEPT_SIZES],
    /// The global is this table, not one made for a single run.
    bound: Option<usize>,
}

/// A table for as many items as it has places, or fewer: the server's grow by powers of two, which `next` and `#` show.
#[derive(Clone, Copy, Default)]
struct Kept {
    table: c_int,
    filled: usize,
    /// No script has left anything in it.
    usable: bool,
}

/// Lists up to this length use their table again.
const KEPT_ITEMS: usize = 4;
/// How many sizes of tables that makes: none, one, two and four places.
const KEPT_SIZES: usize = 4;
/// Lists with more bytes than this are not kept, so that they do not hold memory.
const KEPT_BYTES: usize = 16 * 1024;

// SAFETY: the Lua state and its host are reached through this value alone, and hold nothing that belongs to a thread.
unsafe impl Send for Interpreter {}

impl Interpreter {
    pub(super) fn new(purpose: Purpose, settings: &Settings, control: Arc<Control>) -> Self {
        let Settings { limits, functions, coverage } = settings;
        let arena = Arena::new(limits.memory, limits.string);
        let mut meter = Meter::new(limits.clone(), control);
        if coverage.as_ref().is_some_and(|coverage| coverage.counts_instructions()) {
            meter.count_always();
        }
        let recorder = coverage.clone().map(Recorder::new);
        let host = Box::new(Host {
            arena,
            meter,
            run: Run::new(functions.clone()),
            hook: if recorder.is_some() { Hook::COVERING } else { Hook::COUNTING },
            recorder,
            collected: 0,
            running: null_mut(),
            pressed: false,
        });
        let host = Box::into_raw(host);
        // SAFETY: the host outlives the state; its arena grants all while it is new.
        let lua = unsafe { ffi::lua_newstate(allocate, host.cast()) };
        // SAFETY: nothing else borrows the host.
        unsafe { (*host).running = lua };
        assert!(!lua.is_null(), "an unlimited arena has memory for a Lua state");
        let mut new = Interpreter {
            host,
            lua,
            globals: [0; 2],
            lists: [List::new(b"KEYS"), List::new(b"ARGV")],
            fields: [0; 9],
        };
        new.build(purpose, functions);
        new
    }

    /// Fills the new state. Memory is unlimited here, so nothing jumps.
    fn build(&mut self, purpose: Purpose, functions: &HostFunctions) {
        let stack = self.stack();
        sandbox::build(Call { stack, host: self.host }, purpose, functions);
        for (slot, name) in self.globals.iter_mut().zip([&b"globals"[..], b"quick globals"]) {
            stack.raw_get_field(REGISTRY, name);
            *slot = stack.keep();
        }
        for kept in self.lists.iter_mut().flat_map(|list| &mut list.kept) {
            stack.new_table(0, 0);
            kept.table = stack.keep();
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
            list.bound = None;
            list.kept.iter_mut().for_each(|kept| kept.usable = false);
        }
    }

    /// Memory that was taken from the system for Lua.
    pub(super) fn memory(&self) -> usize {
        // SAFETY: nothing else borrows the arena.
        unsafe { (*self.host).arena.held() }
    }

    /// Counts each instruction of the runs to come, or none of them; gives how many were counted.
    pub(super) fn count_each(&mut self, on: bool) -> u64 {
        // SAFETY: nothing else borrows the host between runs.
        unsafe { (*self.host).meter.count_each(on) }
    }

    /// What runs from now on belongs to this text: where lines are noted, they are noted there.
    pub(super) fn cover(&mut self, text: &[u8]) {
        // SAFETY: nothing else borrows the host between runs.
        if let Some(recorder) = unsafe { &mut (*self.host).recorder } {
            recorder.cover(text);
        }
    }

    /// The function on top belongs to that text: the lines that can run are noted.
    fn note_lines(&self) {
        // SAFETY: nothing else borrows the host between runs.
        if let Some(recorder) = unsafe { &(*self.host).recorder } {
            recorder.note_paths(bytecode::paths(&self.dump()));
        }
    }

    /// Lets the `n`-th request for memory of each run to come fail.
    #[cfg(test)]
    pub(super) fn refuse_nth(&mut self, n: Option<u64>) {
        // SAFETY: nothing else borrows the host between runs.
        unsafe { (*self.host).arena.refuse_nth(n) };
    }

    /// Whether one did.
    #[cfg(test)]
    pub(super) fn has_refused(&self) -> bool {
        // SAFETY: nothing else borrows the host between runs.
        unsafe { (*self.host).arena.has_refused() }
    }

    /// Compiles a script: the number of its function, and whether it can write to no table that is not its own; or Lua's
    /// message.
    pub(super) fn compile(&mut self, text: &[u8]) -> Result<(c_int, bool), Vec<u8>> {
        let stack = self.stack();
        let result = self.load(b"@user_script", text).map(|()| {
            self.note_lines();
            let globals = match self.uses(&sandbox::is_plain) {
                Some(Uses { sets_global: false, sets_field: false, reads_other: false }) => {
                    Some(self.globals[1])
                }
                Some(Uses { sets_global: false, .. }) => Some(self.globals[0]),
                _ => None,
            };
            if let Some(globals) = globals {
                stack.raw_get_index(REGISTRY, globals);
                stack.set_environment(-2);
            }
            (stack.keep(), globals == Some(self.globals[1]))
        });
        stack.set_top(HANDLER);
        result
    }

    /// Pushes the function of a text, or Lua's message and gives it.
    fn load(&mut self, name: &[u8], text: &[u8]) -> Result<(), Vec<u8>> {
        let stack = self.stack();
        if parsing::steps(text) > parsing::STEPS_MAX {
            stack.push_bytes(TOO_COMPLEX);
            return Err(TOO_COMPLEX.to_vec());
        }
        stack.push_bytes(name);
        // SAFETY: nothing else borrows the arena; `load` catches what its limit raises.
        let loaded = unsafe {
            (*self.host).arena.enforce();
            let time = Duration::from_millis((*self.host).meter.limits().time_ms.max(COMPILE_MS));
            let watch = Watch { host: self.host, deadline: Some(Deadline::after(time)) };
            let loaded = load_source(stack, &mut Source::of(text, watch), -1);
            (*self.host).arena.relax();
            loaded
        };
        stack.remove(-2);
        let message = stack.bytes(-1).unwrap_or_default();
        if loaded { Ok(()) } else { Err(brackets::restore(message).into_owned()) }
    }

    /// What the function on top does to names and tables: it gets the quickest environment in which it can do no harm.
    fn uses(&self, is_plain: &dyn Fn(&[u8]) -> bool) -> Option<Uses> {
        bytecode::inspect(&self.dump(), is_plain)
    }

    /// The bytecode of the function on top.
    fn dump(&self) -> Vec<u8> {
        let mut dump: Vec<u8> = Vec::new();
        // SAFETY: `collect` gets the vector back and does not jump; a dump needs no memory of Lua's.
        unsafe { ffi::lua_dump_(self.lua, collect, (&raw mut dump).cast()) };
        dump
    }

    /// Runs a compiled script. Its result, or its error, is on top of the stack until `clear`.
    ///
    /// # Panics
    /// With the panic of a command that panicked.
    pub(super) fn run(
        &mut self,
        function: Function,
        keys: &[&[u8]],
        args: &[&[u8]],
        state: &mut State,
    ) -> Result<(), Option<Stop>> {
        self.bind(0, keys, function.harmless);
        self.bind(1, args, function.harmless);
        self.stack().raw_get_index(REGISTRY, function.number);
        self.enter(Purpose::Script, state, 0)
    }

    /// Runs a function of a library, with the words of its FCALL for others to see. As `run`.
    ///
    /// # Panics
    /// As `run`.
    pub(super) fn call(
        &mut self,
        function: c_int,
        keys: &[&[u8]],
        args: &[&[u8]],
        state: &mut State,
        argv: Argv<'_>,
    ) -> Result<(), Option<Stop>> {
        let stack = self.stack();
        stack.raw_get_index(REGISTRY, function);
        for items in [keys, args] {
            push_list(stack, items);
        }
        let argv = std::ptr::slice_from_raw_parts(argv.as_ptr().cast(), argv.len());
        // SAFETY: nothing else borrows the host; the words are lent up to the end of this call.
        unsafe { (*self.host).run.fcall = Some(argv) };
        let finished = self.enter(Purpose::Function, state, 2);
        // SAFETY: as above.
        unsafe { (*self.host).run.fcall = None };
        finished
    }

    /// Runs the code of a library: what it registers, or the text of its error.
    ///
    /// # Panics
    /// As `run`.
    pub(super) fn load_library(
        &mut self,
        code: &[u8],
        state: &mut State,
    ) -> Result<Vec<Registered>, Failure> {
        let stack = self.stack();
        if let Err(message) = self.load(b"@user_function", code) {
            stack.set_top(HANDLER);
            return Err(Failure::compile_library(convert::before_nul(&message)));
        }
        self.note_lines();
        let environment = Environment::for_uses(self.uses(&sandbox::is_plain_in_functions));
        environment.push(stack);
        stack.insert(-2);
        stack.copy(-2);
        stack.set_environment(-2);
        // SAFETY: nothing else borrows the host.
        unsafe { (*self.host).run.registering = Some(Vec::new()) };
        let finished = self.enter(Purpose::Library, state, 0);
        // SAFETY: as above.
        let registered = unsafe { (*self.host).run.registering.take().unwrap_or_default() };
        let result = match finished {
            Ok(()) => {
                stack.pop(1);
                environment.complete(stack);
                Ok(registered)
            }
            Err(stop) => {
                registered.iter().for_each(|function| stack.release(function.number));
                Err(Failure::register_functions(&library::failure_text(stack, stop)))
            }
        };
        self.clear();
        result
    }

    /// Lets compiled functions go.
    pub(super) fn release(&mut self, functions: impl Iterator<Item = c_int>) {
        functions.for_each(|function| self.stack().release(function));
    }

    /// Calls the function below `arguments` values on the stack.
    #[inline(always)]
    fn enter(&mut self, purpose: Purpose, state: &mut State, arguments: c_int) -> Result<(), Option<Stop>> {
        let stack = self.stack();
        let host = self.host;
        let handler = if purpose == Purpose::Library { 0 } else { HANDLER };
        // SAFETY: the host lives; `state` is lent to it up to the end of this call and not used here meanwhile.
        // `Call` and the trampolines borrow from the host only while Lua is not running.
        unsafe {
            assert!((*host).run.state.is_null(), "scripts do not nest");
            let patience_ms = state.config.busy_reply_threshold;
            (*host).run.state = state;
            ((*host).pressed, (*host).running) = (false, self.lua);
            if (*host).meter.begin(purpose, patience_ms) || (*host).recorder.is_some() {
                let interval = if (*host).meter.counts_each() { 1 } else { (*host).interval() };
                (*host).hook.set(self.lua, interval);
            } else {
                ffi::lua_sethook(self.lua, None, 0, 0);
            }
            (*host).arena.enforce();
            let outcome = stack.protected_call(arguments, 1, handler);
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

    /// Writes the result of `run` in the version that the script chose.
    pub(super) fn write_result(
        &mut self,
        resp: Resp,
        out: &mut Reply,
        stats: &mut Stats,
    ) -> Result<(), Stop> {
        let stack = self.stack();
        // SAFETY: nothing else borrows the host between runs.
        let meter = unsafe {
            if (*self.host).arena.used() > LARGE_HEAP {
                (*self.host).meter.set_pace((*self.host).interval());
            }
            &mut (*self.host).meter
        };
        let written =
            convert::Writer { fields: &self.fields, resp, out, meter, stats: Some(stats) }.write(stack);
        meter.tell_left();
        if written.is_err() {
            stack.set_top(HANDLER);
        }
        written
    }

    /// The stack with the error of `run` on top.
    pub(super) fn result(&self) -> Stack<'_> {
        self.stack()
    }

    /// Sets KEYS or ARGV. Memory is unlimited here, so nothing jumps. A script that can write to tables gets new ones: also
    /// what was removed from a table shows, in the order of what comes later and in the time that it takes.
    fn bind(&mut self, which: usize, items: &[&[u8]], harmless: bool) {
        let stack = self.stack();
        let list = &mut self.lists[which];
        let size = match items.len() {
            length @ 0..=2 => length,
            _ => KEPT_SIZES - 1,
        };
        let keep = harmless
            && items.len() <= KEPT_ITEMS
            && items.iter().map(|item| item.len()).sum::<usize>() <= KEPT_BYTES;
        let kept = &mut list.kept[size];
        if !keep || !kept.usable || !kept.refill(stack, items) {
            push_list(stack, items);
            if keep {
                stack.copy(-1);
                stack.raw_set_index(REGISTRY, kept.table);
                (kept.filled, kept.usable) = (items.len(), true);
            }
        } else if list.bound == Some(size) {
            return;
        } else {
            stack.raw_get_index(REGISTRY, kept.table);
        }
        list.bound = keep.then_some(size);
        for globals in self.globals {
            stack.raw_get_index(REGISTRY, globals);
            stack.push_bytes(list.name);
            stack.copy(-3);
            stack.raw_set(-3);
            stack.pop(1);
        }
        stack.pop(1);
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
        List { name, kept: [Kept::default(); KEPT_SIZES], bound: None }
    }
}

impl Kept {
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
        // All entries are counted, not only those behind the items: where a script leaves something in the table, its
        // order is the script's too.
        stack.push_nil();
        let mut entries = 0;
        while stack.next(-2) {
            stack.pop(1);
            entries += 1;
            if entries > items.len() {
                stack.pop(2);
                return false;
            }
        }
        stack.pop(1);
        true
    }
}

/// Pushes a table of the items, as the server's would have grown.
fn push_list(stack: Stack<'_>, items: &[&[u8]]) {
    let places = if items.is_empty() { 0 } else { items.len().next_power_of_two() };
    stack.new_table(c_int::try_from(places).unwrap_or(c_int::MAX), 0);
    fill(stack, items);
}

/// Sets the items of the table on top.
fn fill(stack: Stack<'_>, items: &[&[u8]]) {
    for (item, index) in items.iter().zip(1..) {
        stack.push_bytes(item);
        stack.raw_set_index(-2, index);
    }
}

/// A source that nobody runs yet may be parsed for so long, or as long as a script may run.
const COMPILE_MS: u64 = 200;

/// What is said of a source that would keep the parser busy for too long.
const TOO_COMPLEX: &[u8] = b"script source too complex";

/// The error handler lies at the bottom of the stack.
const HANDLER: c_int = 1;

/// Appends a piece of a dump.
unsafe extern "C-unwind" fn collect(
    _: *mut lua_State,
    piece: *const c_void,
    size: usize,
    dump: *mut c_void,
) -> c_int {
    // SAFETY: `dump` passes a vector, and Lua a piece of `size` bytes.
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
    if !pay_for_parsing(call, text) {
        stack.push_bytes(TOO_COMPLEX);
        return false;
    }
    load_source(stack, &mut Source::of(text, Watch { host: call.host, deadline: None }), name)
}

/// Charges for what the parser will do; false when that is too much, or the run has to end.
fn pay_for_parsing(call: Call<'_>, text: &[u8]) -> bool {
    let steps = parsing::steps(text);
    steps <= parsing::STEPS_MAX && call.charge(text.len() as u64 + steps / STEPS_PER_WORK).is_ok()
}

/// Steps of the parser that count as one unit of work.
const STEPS_PER_WORK: u64 = 2;
/// The work charged for each piece of a source that a function gives.
const PIECE_WORK: u64 = 10;

/// Puts the text of the error on top in the words of the source, should the source have been rewritten.
pub(super) fn restore_message(call: Call<'_>) {
    let message = call.stack.bytes(-1).unwrap_or_default();
    let rewritten = call.run(|run| match brackets::restore(message) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => {
            run.scratch = text;
            Some(&raw const run.scratch[..])
        }
    });
    if let Some(text) = rewritten {
        call.stack.pop(1);
        call.stack.push_scratch(text);
    }
}

/// Loads what the function at 1 returns piece by piece, under the name at 2. It is called to its end first.
pub(super) fn load_from_reader(call: Call<'_>) -> bool {
    let stack = call.stack;
    stack.new_table(0, 0);
    let watch = Watch { host: call.host, deadline: None };
    let limit = call.source_limit();
    let mut source = Source { next: Next::Drain, limit, ..Source::of(&[], watch) };
    load_source(stack, &mut source, 2)
}

pub(super) fn load(stack: Stack<'_>, text: &[u8], name: c_int) -> bool {
    load_source(stack, &mut Source::of(text, Watch { host: null_mut(), deadline: None }), name)
}

/// Loads what the source gives. Where Lua refuses a long bracket inside another, which the server's takes, the text is
/// loaded with the outer ones written in another way.
fn load_source(stack: Stack<'_>, source: &mut Source<'_>, name: c_int) -> bool {
    if parse(stack, source, name) {
        return true;
    }
    if !stack.bytes(-1).is_some_and(brackets::is_refusal) {
        return false;
    }
    let text = brackets::rewrite(source.text);
    stack.pop(1);
    parse(stack, &mut Source::of(&text, source.watch), name)
}

fn parse(stack: Stack<'_>, source: &mut Source<'_>, name: c_int) -> bool {
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
    watch: Watch,
}

impl<'a> Source<'a> {
    fn of(text: &'a [u8], watch: Watch) -> Self {
        Source { text, next: Next::first(text), limit: usize::MAX, watch }
    }
}

/// Looks at the time while a text is parsed, between its pieces: what the parser does cannot all be counted before,
/// for each name may be compared with thousands of strings that are there already.
#[derive(Clone, Copy)]
struct Watch {
    /// None for our own texts.
    host: *mut Host,
    /// For what is parsed outside of a run.
    deadline: Option<Deadline>,
}

impl Watch {
    /// How long the next piece is.
    fn piece(self) -> usize {
        const BYTES_PER_INSTRUCTION: usize = 2;
        // SAFETY: null, or the living host of the state that parses; nothing borrows it.
        let host = unsafe { self.host.as_ref() };
        host.map_or(usize::MAX, |host| host.interval().unsigned_abs() as usize * BYTES_PER_INSTRUCTION)
    }

    /// Raises an error when the time is over. May jump.
    fn look(self, stack: Stack<'_>) {
        if let Some(deadline) = self.deadline {
            if !deadline.is_over() {
                return;
            }
            stack.push_bytes(TOO_COMPLEX);
        } else {
            // SAFETY: as above; without a host there is one piece only.
            let looked = unsafe { self.host.as_mut() }.map_or(Ok(()), |host| host.meter.look());
            let Err(stop) = looked else { return };
            push_stop(stack, stop);
        }
        stack.raise();
    }
}

/// What the parser gets when it asks for more.
enum Next {
    /// What the script's reader function gives.
    Drain,
    /// A blank, so that the first byte of the text is not taken for that of bytecode.
    Blank,
    /// The text, piece by piece.
    Text,
    /// What is behind so many bytes of it.
    Rest(usize),
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
    let start = match source.next {
        Next::Rest(start) => {
            // SAFETY: called by the parser, with the state that parses.
            source.watch.look(unsafe { Stack::new(state) });
            start
        }
        _ => 0,
    };
    let end = start.saturating_add(source.watch.piece()).min(source.text.len());
    let (piece, next): (&[u8], _) = match source.next {
        Next::Drain | Next::End => (&[], Next::End),
        Next::Blank => (b" ", Next::Text),
        Next::Text | Next::Rest(_) if end == source.text.len() => (&source.text[start..], Next::End),
        Next::Text | Next::Rest(_) => (&source.text[start..end], Next::Rest(end)),
    };
    source.next = next;
    *size = piece.len();
    piece.as_ptr().cast()
}

/// Calls the reader function at 1 until it has no more, keeps its pieces in the table at 3, and joins them there.
/// May jump.
unsafe fn drain(stack: Stack<'_>, source: &mut Source<'_>) {
    let (mut count, mut length) = (0, 0usize);
    // Lua looks ahead and then begins: a reader that has nothing at first is asked once more.
    let mut asked_again = false;
    loop {
        stack.copy(1);
        stack.call(0, 1);
        if stack.is_nil(-1) || stack.bytes(-1) == Some(b"") {
            if count > 0 || std::mem::replace(&mut asked_again, true) {
                break;
            }
            stack.pop(1);
            continue;
        }
        let Some(piece) = stack.text(-1) else {
            stack.fail(b"reader function must return a string");
            stack.raise();
        };
        length += piece.len();
        let call = Call { stack, host: source.watch.host };
        if let Err(stop) = call.charge(PIECE_WORK) {
            push_stop(stack, stop);
            stack.raise();
        }
        if length > source.limit {
            stack.fail(b"script source too long");
            stack.raise();
        }
        count += 1;
        stack.raw_set_index(3, count);
    }
    // SAFETY: the host of this call; the closure does not touch Lua but to look at the strings in the table.
    let scratch = unsafe { &mut (*source.watch.host).run.scratch };
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
    if !pay_for_parsing(Call { stack, host: source.watch.host }, source.text) {
        stack.push_bytes(TOO_COMPLEX);
        stack.raise();
    }
}
