//! Functions of Lua's own libraries that are replaced or wrapped: because they would look behind a proxy, load
//! bytecode, run without bound, hide a stop, or because the server has its own (`pcall`, `math.random`).
//! What stays as Lua has it is not mentioned here. What exists at all: `sandbox`.

use super::bridge::{self, Call, Resumed, native};
use super::convert::before_nul;
use super::interpreter;
use super::limits::Stop;
use super::sandbox::{push_shown_metatable, refuse_sealed, unseal};
use super::stack::{ALL, GLOBALS, Kind, Outcome, REGISTRY, Raised, Returned, Stack};
use super::{strings, tables};
use mlua::ffi::{self, lua_CFunction};
use std::ffi::c_int;

/// Lua's own functions that are called by what wraps them.
#[derive(Clone, Copy)]
enum Wrapped {
    Tonumber,
    Setmetatable,
    Getmetatable,
    Create,
    Format,
    Max,
    Min,
    Char,
}

/// How many functions are wrapped.
pub(super) const WRAPPED: usize = Wrapped::Char as usize + 1;

/// The work charged for a new coroutine: what its first instructions may use before they are counted.
const COROUTINE_WORK: u64 = 1000;

/// A library (none is the globals), a name in it, and the function that Lua calls by it.
type Entry = (&'static [u8], &'static [u8], fn() -> lua_CFunction);

const FUNCTIONS: &[Entry] = &[
    (b"", b"pcall", || native(pcall)),
    (b"", b"xpcall", || native(xpcall)),
    (b"", b"next", || native(next)),
    (b"", b"rawget", || native(rawget)),
    (b"", b"rawset", || native(rawset)),
    (b"", b"getmetatable", || native(getmetatable)),
    (b"", b"setmetatable", || native(setmetatable)),
    (b"", b"unpack", || native(unpack)),
    (b"", b"collectgarbage", || native(collectgarbage)),
    (b"", b"gcinfo", || native(gcinfo)),
    (b"", b"load", || native(load)),
    (b"", b"loadstring", || native(loadstring)),
    (b"", b"tonumber", || native(tonumber)),
    (b"coroutine", b"create", || native(coroutine_create)),
    (b"coroutine", b"wrap", || native(coroutine_wrap)),
    (b"coroutine", b"resume", || native(coroutine_resume)),
    (b"string", b"rep", || native(strings::rep)),
    (b"string", b"find", || native(strings::find)),
    (b"string", b"match", || native(strings::match_)),
    (b"string", b"gmatch", || native(strings::gmatch)),
    (b"string", b"gsub", || native(strings::gsub)),
    (b"string", b"upper", || native(strings::upper)),
    (b"string", b"lower", || native(strings::lower)),
    (b"string", b"reverse", || native(strings::reverse)),
    (b"string", b"format", || native(format)),
    (b"string", b"char", || native(char)),
    (b"math", b"max", || native(max)),
    (b"math", b"min", || native(min)),
    (b"math", b"random", || native(math_random)),
    (b"math", b"randomseed", || native(math_randomseed)),
];

const ORIGINALS: [(Wrapped, &[u8], &[u8]); WRAPPED] = [
    (Wrapped::Tonumber, b"", b"tonumber"),
    (Wrapped::Setmetatable, b"", b"setmetatable"),
    (Wrapped::Getmetatable, b"", b"getmetatable"),
    (Wrapped::Create, b"coroutine", b"create"),
    (Wrapped::Format, b"string", b"format"),
    (Wrapped::Max, b"math", b"max"),
    (Wrapped::Min, b"math", b"min"),
    (Wrapped::Char, b"string", b"char"),
];

/// Puts these functions in the place of Lua's own. May jump.
pub(super) fn install(call: Call<'_>) {
    let stack = call.stack;
    for (which, library, name) in ORIGINALS {
        push_library(stack, library);
        stack.raw_get_field(-1, name);
        let function = stack.native(-1);
        call.run(|run| run.wrapped[which as usize] = function);
        stack.pop(2);
    }
    let of_tables = tables::FUNCTIONS.iter().map(|(name, function)| (&b"table"[..], *name, *function));
    for (library, name, function) in FUNCTIONS.iter().copied().chain(of_tables) {
        push_library(stack, library);
        stack.push_function(function(), 0);
        stack.raw_set_field(-2, name);
        stack.pop(1);
    }
    push_library(stack, b"string");
    stack.raw_get_field(-1, b"gmatch");
    stack.raw_set_field(-2, b"gfind");
    stack.pop(1);
    install_error_handler(stack);
    stack.push_function(native(next), 0);
    stack.push_function(native(pairs), 1);
    stack.raw_set_field(GLOBALS, b"pairs");
}

fn push_library(stack: Stack<'_>, name: &[u8]) {
    if name.is_empty() {
        stack.copy(GLOBALS);
    } else {
        stack.raw_get_field(GLOBALS, name);
    }
}

/// Goes on as Lua's own function.
fn original(call: Call<'_>, which: Wrapped) -> Returned {
    call.become_wrapped(which as usize)
}

/// Raises the stop again that a protected call has caught: no script may outlive it.
fn rethrow_stop(call: Call<'_>) -> Result<(), Raised> {
    match call.stop() {
        None => Ok(()),
        Some(stop) => {
            bridge::push_stop(call.stack, stop);
            Err(Raised)
        }
    }
}

/// Charges work, and raises the stop when there is none left.
#[inline]
pub(super) fn spend(call: Call<'_>, work: u64) -> Result<(), Raised> {
    call.charge(work).map_err(|stop| stopped(call, stop))
}

/// Raises the stop.
#[cold]
pub(super) fn stopped(call: Call<'_>, stop: Stop) -> Raised {
    bridge::push_stop(call.stack, stop);
    Raised
}

/// `pcall` as the server has it: an error table becomes its text.
fn pcall(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let arguments = stack.top();
    if arguments == 0 {
        stack.push_bool(false);
        stack.push_bytes(b"attempt to call a boolean value");
        return Ok(2);
    }
    stack.push_bool(true);
    stack.insert(1);
    if stack.protected_call(arguments - 1, ALL, 0) == Outcome::Done {
        return Ok(stack.top());
    }
    rethrow_stop(call)?;
    stack.remove(1);
    if stack.kind(-1) == Kind::Table {
        stack.push_bytes(b"err");
        stack.get(-2);
        // What is no text stays behind the table as a further result, as on the server.
        if matches!(stack.kind(-1), Kind::String | Kind::Number) {
            stack.replace(-2);
        }
    }
    stack.push_bool(false);
    stack.insert(1);
    Ok(stack.top())
}

/// `xpcall`: the handler runs after the error has left the called function, never inside the hook.
fn xpcall(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_any(2);
    stack.set_top(2);
    stack.raw_get_field(REGISTRY, b"error handler");
    let handler = if stack.raw_equal(2, -1) { 2 } else { 0 };
    stack.pop(1);
    stack.copy(1);
    let outcome = stack.protected_call(0, ALL, handler);
    if outcome == Outcome::Done {
        if !stack.reserve(1) {
            return Err(stack.fail(b"stack overflow"));
        }
        stack.push_bool(true);
        stack.replace(2);
        stack.remove(1);
        return Ok(stack.top());
    }
    rethrow_stop(call)?;
    if outcome == Outcome::Failed && handler == 0 {
        handle_error(call)?;
    }
    stack.push_bool(false);
    stack.insert(-2);
    Ok(2)
}

/// Replaces the error on top by what the handler at 2 makes of it, or of the errors in the handler.
fn handle_error(call: Call<'_>) -> Result<(), Raised> {
    let stack = call.stack;
    let attempts = if stack.kind(2) == Kind::Function { 20 } else { 0 };
    for _ in 0..attempts {
        stack.copy(2);
        stack.insert(-2);
        if stack.protected_call(1, 1, 0) == Outcome::Done {
            return Ok(());
        }
        rethrow_stop(call)?;
    }
    stack.push_bytes(b"error in error handling");
    Ok(())
}

/// The name by which errors tell of the handler.
const HANDLER_NAME: &[u8] = b"@err_handler_def";
/// The server's handler for errors of a script: a table with the text, the source and the line. It is a function of
/// Lua's there too, so that what goes wrong in it has its name and its lines.
const ERROR_HANDLER: &[u8] = b"local place, type, tostring = ...

return function(err)
  local source, line = place()



  if type(err) ~= 'table' then
    err = {err = 'ERR ' .. tostring(err)} end if line then
    err['source'] = source
    err['line'] = line
  end
  return err
end";

/// Puts the handler among the globals and where this layer finds it.
fn install_error_handler(stack: Stack<'_>) {
    stack.push_bytes(HANDLER_NAME);
    let loaded = interpreter::load(stack, ERROR_HANDLER, -1);
    debug_assert!(loaded, "the handler is a Lua program");
    stack.remove(-2);
    stack.push_function(native(place_of_error), 0);
    for name in [&b"type"[..], b"tostring"] {
        stack.raw_get_field(GLOBALS, name);
    }
    stack.call(3, 1);
    stack.copy(-1);
    stack.raw_set_field(GLOBALS, b"__redis__err__handler");
    stack.raw_set_field(REGISTRY, b"error handler");
}

/// For the handler: the source and the line of the function that failed, or of the one that called it if that is none of
/// Lua's; nothing when there is no such place.
fn place_of_error(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let mut level = 2;
    // A run that has to end may be told so in the handler of an error before.
    let is_stop = call.stop().is_some();
    while is_stop && stack.place(level).is_some_and(|place| place.native || place.source() == HANDLER_NAME) {
        level += 1;
    }
    let place = match stack.place(level) {
        Some(place) if place.native => stack.place(level + 1),
        place => place,
    };
    let Some(place) = place else { return Ok(0) };
    stack.push_bytes(place.source());
    stack.push_number(place.line.into());
    Ok(2)
}

fn pairs(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    stack.copy(ffi::lua_upvalueindex(1));
    stack.copy(1);
    stack.push_nil();
    Ok(3)
}

fn next(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    stack.set_top(2);
    if unseal(stack, 1) {
        stack.replace(1);
    }
    if stack.next(1) {
        return Ok(2);
    }
    stack.push_nil();
    Ok(1)
}

fn rawget(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    stack.check_any(2);
    stack.set_top(2);
    if unseal(stack, 1) {
        stack.replace(1);
    }
    stack.raw_get(1);
    Ok(1)
}

fn rawset(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    stack.check_any(2);
    stack.check_any(3);
    stack.set_top(3);
    refuse_sealed(stack, 1)?;
    stack.raw_set(1);
    Ok(1)
}

fn getmetatable(call: Call<'_>) -> Returned {
    call.stack.check_any(1);
    if push_shown_metatable(call.stack, 1) { Ok(1) } else { original(call, Wrapped::Getmetatable) }
}

fn setmetatable(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    if matches!(stack.kind(2), Kind::Nil | Kind::Table) {
        refuse_sealed(stack, 1)?;
    }
    original(call, Wrapped::Setmetatable)
}

fn unpack(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_table(1);
    let first = if stack.is_none_or_nil(2) { 1 } else { stack.check_int(2) };
    let last = if stack.is_none_or_nil(3) { stack.length(1) as i32 } else { stack.check_int(3) };
    if first > last {
        return Ok(0);
    }
    let count = i64::from(last) - i64::from(first) + 1;
    if count >= i64::from(i32::MAX) || !stack.reserve(count as i32) {
        return Err(stack.fail(b"too many results to unpack"));
    }
    spend(call, count.unsigned_abs() / 4)?;
    for index in first..=last {
        stack.raw_get_index(1, index);
    }
    Ok(count as i32)
}

const COLLECTOR_OPTIONS: [&[u8]; 7] =
    [b"stop", b"restart", b"collect", b"count", b"step", b"setpause", b"setstepmul"];

/// `collectgarbage`: what it sets has no effect and is forgotten after the run.
fn collectgarbage(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let option = if stack.is_none_or_nil(1) { &b"collect"[..] } else { before_nul(stack.check_text(1)) };
    if !COLLECTOR_OPTIONS.contains(&option) {
        stack.push_bytes(b"invalid option '");
        stack.push_bytes(option);
        stack.push_bytes(b"'");
        stack.concat(3);
        stack.bad_argument_on_top(1);
    }
    let argument = if stack.is_none_or_nil(2) { 0 } else { stack.check_int(2) };
    match option {
        b"count" => stack.push_number(call.told_memory() as f64 / 1024.0),
        b"collect" => {
            call.collect().map_err(|stop| stopped(call, stop))?;
            stack.push_number(0.0);
        }
        b"step" => stack.push_bool(collect_step(call, argument)?),
        b"setpause" => stack.push_number(exchange_setting(call, 0, argument)),
        b"setstepmul" => stack.push_number(exchange_setting(call, 1, argument)),
        _ => stack.push_number(0.0),
    }
    Ok(1)
}

fn gcinfo(call: Call<'_>) -> Returned {
    call.stack.push_number((call.told_memory() / 1024) as f64);
    Ok(1)
}

/// A step of the collector, or as many as an argument of so many kilobytes asks for. Whether a cycle has ended.
fn collect_step(call: Call<'_>, kilobytes: c_int) -> Result<bool, Raised> {
    const KILOBYTES_PER_STEP: c_int = 100;
    for _ in 0..=kilobytes.max(0) / KILOBYTES_PER_STEP {
        spend(call, bridge::STEP_WORK)?;
        if call.stack.collector(ffi::LUA_GCSTEP, 0) == 1 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn exchange_setting(call: Call<'_>, which: usize, value: c_int) -> f64 {
    call.run(|run| std::mem::replace(&mut run.collector[which], value)).into()
}

/// `load`: the reader is drained before anything is parsed, and only text is accepted.
fn load(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let name = if stack.is_none_or_nil(2) { b"=(load)" } else { stack.check_text(2) };
    stack.check_function(1);
    stack.set_top(2);
    stack.push_bytes(name);
    stack.replace(2);
    spend(call, COROUTINE_WORK)?;
    loaded(call, interpreter::load_from_reader(call))
}

fn loadstring(call: Call<'_>) -> Returned {
    let stack = call.stack;
    stack.check_text(1);
    if !stack.is_none_or_nil(2) {
        stack.check_text(2);
    }
    stack.set_top(2);
    if stack.is_none_or_nil(2) {
        stack.copy(1);
        stack.replace(2);
    }
    spend(call, COROUTINE_WORK)?;
    loaded(call, interpreter::load_text(call, 1, 2))
}

fn loaded(call: Call<'_>, done: bool) -> Returned {
    rethrow_stop(call)?;
    if done {
        return Ok(1);
    }
    interpreter::restore_message(call);
    call.stack.push_nil();
    call.stack.insert(-2);
    Ok(2)
}

/// `tonumber`, with a short way for what it mostly gets: a few decimal digits.
fn tonumber(call: Call<'_>) -> Returned {
    const EXACT_DIGITS: usize = 15;
    let stack = call.stack;
    if stack.top() == 1
        && let Some(digits @ [_, ..]) = stack.bytes(1)
        && digits.len() <= EXACT_DIGITS
        && digits.iter().all(u8::is_ascii_digit)
    {
        let value = digits.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
        stack.push_number(value as f64);
        return Ok(1);
    }
    original(call, Wrapped::Tonumber)
}

fn coroutine_create(call: Call<'_>) -> Returned {
    spend(call, COROUTINE_WORK)?;
    original(call, Wrapped::Create)
}

/// `coroutine.wrap`: what resumes the coroutine is ours too.
fn coroutine_wrap(call: Call<'_>) -> Returned {
    spend(call, COROUTINE_WORK)?;
    original(call, Wrapped::Create)?;
    call.stack.push_function(native(resume_wrapped), 1);
    Ok(1)
}

fn resume_wrapped(call: Call<'_>) -> Returned {
    let stack = call.stack;
    match call.resume(Stack::upvalue(1), stack.top())? {
        Resumed::Done(results) => Ok(results),
        Resumed::Failed => {
            if matches!(stack.kind(-1), Kind::String | Kind::Number) {
                stack.push_where(1);
                stack.insert(-2);
                stack.concat(2);
            }
            Err(Raised)
        }
    }
}

fn coroutine_resume(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if !stack.is_thread(1) {
        stack.bad_argument(1, c"coroutine expected");
    }
    let resumed = call.resume(1, stack.top() - 1)?;
    rethrow_stop(call)?;
    match resumed {
        Resumed::Done(results) => {
            stack.push_bool(true);
            stack.insert(-results - 1);
            Ok(results + 1)
        }
        Resumed::Failed => {
            stack.push_bool(false);
            stack.insert(-2);
            Ok(2)
        }
    }
}

/// `string.format`: Lua's own, which walks the format and what it quotes in one go, paid for in advance.
fn format(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let bytes: usize = (1..=stack.top()).filter_map(|index| stack.bytes(index)).map(<[u8]>::len).sum();
    spend(call, bytes as u64 / 4)?;
    original(call, Wrapped::Format)
}

/// For functions that take any number of arguments for numbers: each may be a long text, or the same one. The long ones
/// are read one by one, and paid for; what is no number stays for the function to refuse.
pub(super) fn read_numbers(call: Call<'_>) -> Result<(), Raised> {
    const LONG: usize = 1024;
    let stack = call.stack;
    for index in 1..=stack.top() {
        let Some(text) = stack.bytes(index).filter(|text| text.len() >= LONG) else { continue };
        spend(call, text.len() as u64 / strings::BYTES_PER_WORK)?;
        if stack.is_numeric(index) {
            stack.push_number(stack.to_number(index));
            stack.replace(index);
        }
    }
    Ok(())
}

fn max(call: Call<'_>) -> Returned {
    read_numbers(call)?;
    original(call, Wrapped::Max)
}

fn min(call: Call<'_>) -> Returned {
    read_numbers(call)?;
    original(call, Wrapped::Min)
}

fn char(call: Call<'_>) -> Returned {
    read_numbers(call)?;
    original(call, Wrapped::Char)
}

fn math_random(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let Some(value) = call.state(|state| state.scripts.random.next_unit()) else {
        return Err(stack.fail(b"math.random can only be called inside a script invocation"));
    };
    match stack.top() {
        0 => stack.push_number(value),
        1 => {
            let upper = stack.check_int(1);
            if upper < 1 {
                stack.bad_argument(1, c"interval is empty");
            }
            stack.push_number((value * f64::from(upper)).floor() + 1.0);
        }
        2 => {
            let (lower, upper) = (stack.check_int(1), stack.check_int(2));
            if lower > upper {
                stack.bad_argument(2, c"interval is empty");
            }
            let span = upper.wrapping_sub(lower).wrapping_add(1);
            stack.push_number((value * f64::from(span)).floor() + f64::from(lower));
        }
        _ => return Err(stack.fail(b"wrong number of arguments")),
    }
    Ok(1)
}

fn math_randomseed(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let seed = stack.check_int(1);
    let reseeded = call.state(|state| {
        let before = state.scripts.random.clone();
        state.scripts.random.reseed(seed);
        before
    });
    let Some(before) = reseeded else {
        return Err(stack.fail(b"math.randomseed can only be called inside a script invocation"));
    };
    call.run(|run| run.unseeded.get_or_insert(before).clone());
    Ok(0)
}
