//! What the code of a library meets while it is loaded: an environment that holds nothing but a small `redis` table,
//! and `redis.register_function`. Once it is loaded its functions find the usual globals in the same environment.
//! Who keeps the functions and calls them: `functions`.

use super::api::{self, raise};
use super::base::{spend, stopped};
use super::bridge::{Call, native};
use super::bytecode::Uses;
use super::convert::before_nul;
use super::limits::Stop;
use super::sandbox::{push_strict_metatable, refuse_write, seal_strictly};
use super::stack::{GLOBALS, Kind, REGISTRY, Raised, Returned, Stack};
use crate::command::libraries::FunctionFlags;
use crate::command::shebang::is_name;
use crate::error::Failure;
use crate::error::scripting::CODE;
use std::ffi::c_int;

/// What a library has registered.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) name: Vec<u8>,
    pub(super) description: Option<Vec<u8>>,
    pub(super) flags: FunctionFlags,
    /// The number by which the interpreter keeps the function.
    pub(super) number: c_int,
}

/// Makes the globals those of functions, and keeps what libraries see while they are loaded. May jump.
pub(super) fn adapt_globals(stack: Stack<'_>) {
    stack.push_nil();
    stack.raw_set_field(GLOBALS, b"__redis__err__handler");
    api::adapt_to_functions(stack);
    push_strict_metatable(stack);
    stack.raw_set_field(REGISTRY, b"strict metatable");
    stack.new_table(0, 1);
    api::push_for_libraries(stack);
    seal_strictly(stack);
    stack.raw_set_field(-2, b"redis");
    stack.raw_get_field(REGISTRY, b"strict metatable");
    stack.set_metatable(-2);
    stack.raw_set_field(REGISTRY, b"library globals");
}

/// The kind of environment of a library: the quickest in which it can do no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// A table with the plain globals.
    Quick,
    /// A table with all globals.
    Direct,
    /// A proxy: the library assigns to globals, which is an error.
    Sealed,
}

impl Environment {
    pub(super) fn for_uses(uses: Option<Uses>) -> Self {
        match uses {
            Some(Uses { sets_global: false, sets_field: false, reads_other: false }) => Environment::Quick,
            Some(Uses { sets_global: false, .. }) => Environment::Direct,
            _ => Environment::Sealed,
        }
    }

    /// Pushes an environment for a library that is about to be loaded. May jump.
    pub(super) fn push(self, stack: Stack<'_>) {
        stack.new_table(0, 0);
        stack.raw_get_field(REGISTRY, b"library globals");
        if self == Environment::Sealed {
            stack.new_table(0, 2);
            stack.insert(-2);
            stack.raw_set_field(-2, b"__index");
            stack.push_function(native(refuse_write), 0);
            stack.raw_set_field(-2, b"__newindex");
        } else {
            stack.raw_get_field(-1, b"redis");
            stack.raw_set_field(-3, b"redis");
            stack.pop(1);
            stack.raw_get_field(REGISTRY, b"strict metatable");
        }
        stack.set_metatable(-2);
    }

    /// The library is loaded: its environment, on top, gets the globals of functions. May jump.
    pub(super) fn complete(self, stack: Stack<'_>) {
        let name = if self == Environment::Quick { &b"quick globals"[..] } else { b"globals" };
        stack.raw_get_field(REGISTRY, name);
        if self == Environment::Sealed {
            stack.get_metatable(-2);
            stack.insert(-2);
            stack.raw_set_field(-2, b"__index");
            stack.pop(1);
            return;
        }
        stack.push_nil();
        while stack.next(-2) {
            stack.copy(-2);
            stack.insert(-2);
            stack.raw_set(-5);
        }
        stack.pop(1);
    }
}

/// The text of the error that ended the loading of a library: the value on top. Outside protected calls only.
pub(super) fn failure_text(stack: Stack<'_>, stop: Option<Stop>) -> Vec<u8> {
    if let Some(Stop::Work | Stop::Time) = stop {
        return Failure::LOAD_TIMEOUT.to_bytes().into_owned();
    }
    if stack.kind(-1) == Kind::Table {
        stack.raw_get_field(-1, b"err");
        let text =
            stack.text(-1).map_or_else(|| Failure::UNKNOWN_ERROR.to_bytes().into_owned(), <[u8]>::to_vec);
        stack.pop(1);
        return before_nul(&text).to_vec();
    }
    [CODE, before_nul(stack.text(-1).unwrap_or(b"execution failure"))].concat()
}

/// Where an argument of `redis.register_function` lies on the stack, once all are read.
const NAME: c_int = 2;
const DESCRIPTION: c_int = 3;
const CALLBACK: c_int = 4;

pub(super) fn register_function(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if !call.run(|run| run.registering.is_some()) {
        return Err(raise(stack, b"redis.register_function can only be called on FUNCTION LOAD command"));
    }
    let known = call.run(|run| run.registering.as_ref().map_or(0, Vec::len));
    spend(call, REGISTER_WORK + known as u64)?;
    let flags = match stack.top() {
        1 => named_arguments(call)?,
        2 => positional_arguments(stack)?,
        _ => return Err(raise(stack, b"wrong number of arguments to redis.register_function")),
    };
    let name = stack.text(NAME).unwrap_or_default();
    if !is_name(name) {
        let text = b"Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
        return Err(raise(stack, text));
    }
    let is_known = |functions: &Vec<Registered>| functions.iter().any(|function| function.name == name);
    if call.run(|run| run.registering.as_ref().is_some_and(is_known)) {
        return Err(raise(stack, b"Function already exists in the library"));
    }
    let description = stack.text(DESCRIPTION);
    let bytes = name.len() + description.map_or(0, <[u8]>::len);
    call.pass(bytes).map_err(|stop| stopped(call, stop))?;
    if call.run(|run| registered_bytes(run.registering.as_deref()) + bytes) > DESCRIPTIONS_MAX {
        return Err(raise(
            stack,
            b"names and descriptions of a library's functions are longer than 16 MiB together",
        ));
    }
    let number = stack.keep();
    call.run(|run| {
        let function =
            Registered { name: name.to_vec(), description: description.map(<[u8]>::to_vec), flags, number };
        run.registering.get_or_insert_default().push(function);
    });
    Ok(0)
}

fn registered_bytes(functions: Option<&[Registered]>) -> usize {
    let bytes =
        |function: &Registered| function.name.len() + function.description.as_ref().map_or(0, Vec::len);
    functions.unwrap_or_default().iter().map(bytes).sum()
}

/// How long names and descriptions of a library may be together.
const DESCRIPTIONS_MAX: usize = 16 << 20;
/// The work charged for each call, and for each flag.
const REGISTER_WORK: u64 = 100;

/// Whether C's interface takes the value for a string.
fn is_stringlike(stack: Stack<'_>, index: c_int) -> bool {
    matches!(stack.kind(index), Kind::String | Kind::Number)
}

fn positional_arguments(stack: Stack<'_>) -> Result<FunctionFlags, Raised> {
    if !is_stringlike(stack, 1) {
        return Err(raise(stack, b"first argument to redis.register_function must be a string"));
    }
    if stack.kind(2) != Kind::Function {
        return Err(raise(stack, b"second argument to redis.register_function must be a function"));
    }
    stack.push_nil();
    stack.insert(2);
    stack.push_nil();
    stack.insert(1);
    Ok(FunctionFlags::default())
}

fn named_arguments(call: Call<'_>) -> Result<FunctionFlags, Raised> {
    let stack = call.stack;
    if stack.kind(1) != Kind::Table {
        let text = b"calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).";
        return Err(raise(stack, text));
    }
    for _ in NAME..=CALLBACK {
        stack.push_nil();
    }
    let mut flags = FunctionFlags::default();
    stack.push_nil();
    while stack.next(1) {
        named_argument(call, &mut flags)?;
    }
    if stack.is_nil(NAME) {
        return Err(raise(stack, b"redis.register_function must get a function name argument"));
    }
    if stack.is_nil(CALLBACK) {
        return Err(raise(stack, b"redis.register_function must get a callback argument"));
    }
    Ok(flags)
}

/// Reads and pops the value on top, whose name lies below it.
fn named_argument(call: Call<'_>, flags: &mut FunctionFlags) -> Result<(), Raised> {
    let stack = call.stack;
    if !is_stringlike(stack, -2) {
        let text = b"named argument key given to redis.register_function is not a string";
        return Err(raise(stack, text));
    }
    let key = stack.bytes(-2).map(before_nul).unwrap_or_default();
    let (fits, slot, wanted): (_, _, &[u8]) = if key.eq_ignore_ascii_case(b"function_name") {
        let text = b"function_name argument given to redis.register_function must be a string";
        (is_stringlike(stack, -1), NAME, text)
    } else if key.eq_ignore_ascii_case(b"description") {
        let text = b"description argument given to redis.register_function must be a string";
        (is_stringlike(stack, -1), DESCRIPTION, text)
    } else if key.eq_ignore_ascii_case(b"callback") {
        let text = b"callback argument given to redis.register_function must be a function";
        (stack.kind(-1) == Kind::Function, CALLBACK, text)
    } else if key.eq_ignore_ascii_case(b"flags") {
        *flags = read_flags(call)?;
        stack.pop(1);
        return Ok(());
    } else {
        return Err(raise(stack, b"unknown argument given to redis.register_function"));
    };
    if !fits {
        return Err(raise(stack, wanted));
    }
    stack.replace(slot);
    Ok(())
}

/// The flags that the table on top lists.
fn read_flags(call: Call<'_>) -> Result<FunctionFlags, Raised> {
    let stack = call.stack;
    if stack.kind(-1) != Kind::Table {
        let text = b"flags argument to redis.register_function must be a table representing function flags";
        return Err(raise(stack, text));
    }
    let mut flags = FunctionFlags::default();
    for index in 1.. {
        spend(call, REGISTER_WORK)?;
        stack.raw_get_index(-1, index);
        if stack.is_nil(-1) {
            stack.pop(1);
            break;
        }
        if !stack.bytes(-1).is_some_and(|name| flags.set(before_nul(name))) {
            return Err(raise(stack, b"unknown flag given"));
        }
        stack.pop(1);
    }
    Ok(flags)
}
