//! The `redis` table: its constants and its functions but `redis.call` and `redis.pcall` (in `bridge`).
//! Errors of these functions are tables with a code, raised, not returned, as on the server.

use super::base::{spend, stopped};
use super::bridge::{Call, native, noted_call, noted_pcall, redis_call, redis_pcall};
use super::convert::{NAMES, push_error_table};
use super::library::register_function;
use super::sandbox::arrange;
use super::stack::{GLOBALS, Kind, Raised, Returned, Stack};
use crate::command::log::{LINE_BYTES_MAX, LogLevel};
use crate::command::session::SCRIPT_SESSION;
use crate::reply::Resp;
use crate::store::Targets;
use crate::util::digest::sha1_hex_by_slices;
use mlua::ffi::lua_CFunction;

const VERSION: &[u8] = b"7.0.15";
const VERSION_NUMBER: f64 = 0x0007_000f as f64;

const NUMBERS: [(&[u8], f64); 10] = [
    (b"LOG_DEBUG", 0.0),
    (b"LOG_VERBOSE", 1.0),
    (b"LOG_NOTICE", 2.0),
    (b"LOG_WARNING", 3.0),
    (b"REDIS_VERSION_NUM", VERSION_NUMBER),
    (b"REPL_NONE", 0.0),
    (b"REPL_AOF", 1.0),
    (b"REPL_SLAVE", 2.0),
    (b"REPL_REPLICA", 2.0),
    (b"REPL_ALL", 3.0),
];

/// A name, and the function that Lua calls by it.
type Entry = (&'static [u8], fn() -> lua_CFunction);

const FUNCTIONS: [Entry; 10] = [
    (b"log", || native(log)),
    (b"setresp", || native(setresp)),
    (b"sha1hex", || native(sha1hex)),
    (b"error_reply", || native(error_reply)),
    (b"status_reply", || native(status_reply)),
    (b"set_repl", || native(set_repl)),
    (b"acl_check_cmd", || native(acl_check_cmd)),
    (b"breakpoint", || native(breakpoint)),
    (b"debug", || native(debug)),
    (b"replicate_commands", || native(replicate_commands)),
];

/// The order in which the server fills the table.
const ORDER: &str = "call pcall log LOG_DEBUG LOG_VERBOSE LOG_NOTICE LOG_WARNING REDIS_VERSION_NUM REDIS_VERSION \
    setresp sha1hex error_reply status_reply set_repl REPL_NONE REPL_AOF REPL_SLAVE REPL_REPLICA REPL_ALL acl_check_cmd \
    breakpoint debug replicate_commands";

/// Adds the table to the globals. May jump.
pub(super) fn install(call: Call<'_>) {
    let stack = call.stack;
    stack.new_table(0, 32);
    let functions: [lua_CFunction; 2] =
        if call.notes_calls() { [noted_call, noted_pcall] } else { [redis_call, redis_pcall] };
    for (name, function) in [&b"call"[..], b"pcall"].into_iter().zip(functions) {
        NAMES.iter().for_each(|name| stack.push_bytes(name));
        stack.push_function(function, NAMES.len() as i32);
        stack.raw_set_field(-2, name);
    }
    for (name, function) in FUNCTIONS {
        stack.push_function(function(), 0);
        stack.raw_set_field(-2, name);
    }
    for (name, value) in NUMBERS {
        stack.push_number(value);
        stack.raw_set_field(-2, name);
    }
    stack.push_bytes(VERSION);
    stack.raw_set_field(-2, b"REDIS_VERSION");
    arrange(stack, 0, ORDER);
    stack.raw_set_field(GLOBALS, b"redis");
}

/// Pushes what a library sees as `redis` while it is loaded. May jump.
pub(super) fn push_for_libraries(stack: Stack<'_>) {
    stack.new_table(0, 8);
    stack.push_function(native(register_function), 0);
    stack.raw_set_field(-2, b"register_function");
    stack.push_function(native(log), 0);
    stack.raw_set_field(-2, b"log");
    for (name, value) in &NUMBERS[..5] {
        stack.push_number(*value);
        stack.raw_set_field(-2, name);
    }
    stack.push_bytes(VERSION);
    stack.raw_set_field(-2, b"REDIS_VERSION");
}

/// Takes away what functions of libraries do not have. May jump.
pub(super) fn adapt_to_functions(stack: Stack<'_>) {
    stack.raw_get_field(GLOBALS, b"redis");
    for name in [&b"breakpoint"[..], b"debug", b"replicate_commands"] {
        stack.push_nil();
        stack.raw_set_field(-2, name);
    }
    arrange(stack, 0, ORDER);
    stack.raw_set_field(GLOBALS, b"redis");
}

/// Raises an error table with a code.
#[cold]
pub(super) fn raise(stack: Stack<'_>, text: &[u8]) -> Raised {
    push_error_table(stack, text);
    Raised
}

fn sha1hex(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if stack.top() != 1 {
        return Err(raise(stack, b"wrong number of arguments"));
    }
    let text = stack.text(1).unwrap_or_default();
    let pay = |slice: &[u8]| call.charge_slice(slice.len() as u64 / 4).map_err(|stop| stopped(call, stop));
    let sum = sha1_hex_by_slices(text, pay)?;
    stack.push_bytes(&sum);
    Ok(1)
}

fn is_one_string(stack: Stack<'_>) -> bool {
    stack.top() == 1 && stack.kind(1) == Kind::String
}

fn error_reply(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if !is_one_string(stack) {
        push_error_table(stack, b"wrong number or type of arguments");
        return Ok(1);
    }
    if stack.bytes(1).is_some_and(|text| text.starts_with(b"-")) {
        push_error_table(stack, stack.bytes(1).unwrap_or_default());
    } else {
        stack.push_bytes(b"-");
        stack.copy(1);
        stack.concat(2);
        push_error_table(stack, stack.bytes(-1).unwrap_or_default());
    }
    Ok(1)
}

fn status_reply(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if !is_one_string(stack) {
        push_error_table(stack, b"wrong number or type of arguments");
        return Ok(1);
    }
    stack.new_table(0, 1);
    stack.copy(1);
    stack.raw_set_field(-2, b"ok");
    Ok(1)
}

/// A number the way C turns it into an `int`: what is none becomes 0.
fn to_int(stack: Stack<'_>, index: i32) -> i32 {
    let value = stack.to_number(index);
    if (-2_147_483_648.0..2_147_483_648.0).contains(&value) { value as i32 } else { i32::MIN }
}

fn setresp(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if stack.top() != 1 {
        return Err(raise(stack, b"redis.setresp() requires one argument."));
    }
    let resp = match to_int(stack, 1) {
        2 => Resp::V2,
        3 => Resp::V3,
        _ => return Err(raise(stack, b"RESP version must be 2 or 3.")),
    };
    call.state(|state| state.sessions.get_mut(SCRIPT_SESSION).resp = resp);
    Ok(0)
}

fn set_repl(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if stack.top() != 1 {
        return Err(raise(stack, b"redis.set_repl() requires two arguments."));
    }
    let targets = match to_int(stack, 1) {
        0 => Targets::None,
        1 => Targets::Aof,
        2 => Targets::Replica,
        3 => Targets::All,
        _ => {
            let text = b"Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.";
            return Err(raise(stack, text));
        }
    };
    call.state(|state| state.store.targets = targets);
    Ok(0)
}

/// Keeps the text, for whoever asks the engine.
fn log(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if stack.top() < 2 {
        return Err(raise(stack, b"redis.log() requires two arguments or more."));
    }
    if !stack.is_numeric(1) {
        return Err(raise(stack, b"First argument must be a number (log level)."));
    }
    let level = match to_int(stack, 1) {
        0 => LogLevel::Debug,
        1 => LogLevel::Verbose,
        2 => LogLevel::Notice,
        3 => LogLevel::Warning,
        _ => return Err(raise(stack, b"Invalid debug level.")),
    };
    call.run(|run| run.scratch.clear());
    for index in 2..=stack.top() {
        let Some(text) = stack.text(index) else { continue };
        if call.run(|run| run.scratch.len()) > LINE_BYTES_MAX {
            break;
        }
        let text = &text[..text.len().min(LINE_BYTES_MAX)];
        spend(call, text.len() as u64 / 64)?;
        call.run(|run| {
            if index > 2 {
                run.scratch.push(b' ');
            }
            run.scratch.extend_from_slice(text);
        });
    }
    let text = call.run(|run| run.scratch.clone());
    call.state(|state| state.log.push(level, text));
    Ok(0)
}

/// Whether the caller's user may run a command with these words.
fn acl_check_cmd(call: Call<'_>) -> Returned {
    let stack = call.stack;
    let count = stack.top();
    if count == 0 {
        return Err(raise(stack, b"Please specify at least one argument for this redis lib call"));
    }
    if (1..=count).any(|index| !matches!(stack.kind(index), Kind::String | Kind::Number)) {
        return Err(raise(stack, b"Lua redis lib command arguments must be strings or integers"));
    }
    // Numbers become strings before there is anything that a jump would leave behind.
    (1..=count).for_each(|index| {
        let _ = stack.text(index);
    });
    let allowed = {
        let words: Vec<&[u8]> = (1..=count).map(|index| stack.bytes(index).unwrap_or_default()).collect();
        call.state(|state| state.caller_may(&words)).flatten()
    };
    let Some(allowed) = allowed else {
        return Err(raise(stack, b"Invalid command passed to redis.acl_check_cmd()"));
    };
    stack.push_bool(allowed);
    Ok(1)
}

fn breakpoint(call: Call<'_>) -> Returned {
    call.stack.push_bool(false);
    Ok(1)
}

fn debug(_: Call<'_>) -> Returned {
    Ok(0)
}

fn replicate_commands(call: Call<'_>) -> Returned {
    call.stack.push_bool(true);
    Ok(1)
}
