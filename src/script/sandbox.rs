//! The environment a script sees: which names exist, what is read-only, which of Lua's functions are replaced.
//!
//! A script's table of globals and each library table is an empty proxy ("sealed"): reads go on to the real
//! table, writes raise the server's text. Functions that look at tables without metamethods know proxies.
//! Not here: the `redis` table (`api`), replaced library functions (`base`), the libraries that Lua does not have (`lib`).

use super::bridge::{Call, native};
use super::host::HostFunctions;
use super::limits::Purpose;
use super::stack::{GLOBALS, Kind, REGISTRY, Returned, Stack};
use super::{api, base, host, lib, library};
use mlua::ffi::{self, lua_CFunction};
use std::ffi::{CStr, c_int, c_void};

/// Marks the metatable of a proxy; the value is the real table.
static SEAL: u8 = 1;
/// In the metatable of a proxy: what `getmetatable` shows of it.
static SHOWN: u8 = 2;
/// In the registry: what `getmetatable` shows of a string's metatable.
static STRING_SHOWN: u8 = 3;

/// The globals of the quick environment: with these alone, and no instruction that writes to a table, a script
/// has no way to change a library table, so it may read the tables themselves.
const PLAIN: [&[u8]; 24] = [
    b"redis",
    b"KEYS",
    b"ARGV",
    b"string",
    b"table",
    b"math",
    b"bit",
    b"cjson",
    b"cmsgpack",
    b"struct",
    b"tonumber",
    b"tostring",
    b"type",
    b"error",
    b"assert",
    b"pairs",
    b"ipairs",
    b"next",
    b"select",
    b"unpack",
    b"pcall",
    b"rawequal",
    b"rawget",
    b"_VERSION",
];

/// Whether a script that reads this global may have the quick environment.
pub(super) fn is_plain(name: &[u8]) -> bool {
    PLAIN.contains(&name)
}

/// The same in a library of functions, which have no KEYS and ARGV.
pub(super) fn is_plain_in_functions(name: &[u8]) -> bool {
    is_plain(name) && name != b"KEYS" && name != b"ARGV"
}

const READONLY: &[u8] = b"Attempt to modify a readonly table";

/// What scripts must not have: it reaches files or the process, or undoes the protection of tables.
const REMOVED: [&CStr; 6] = [c"dofile", c"loadfile", c"print", c"newproxy", c"setfenv", c"getfenv"];

/// The library tables that are sealed, all of them.
const LIBRARIES: [&[u8]; 9] =
    [b"string", b"table", b"math", b"coroutine", b"redis", b"bit", b"cjson", b"cmsgpack", b"struct"];

/// The globals in an order that fills a table of 64 places as the server's is filled: first those that stand where their
/// hash says. `debug` is gone when the server is up, but kept its place.
const GLOBALS_ORDER: &str = "string xpcall __redis__err__handler tostring _VERSION unpack setmetatable next assert \
    tonumber rawequal collectgarbage struct getmetatable ARGV _G cjson math pcall type select rawget loadstring error \
    load ipairs debug pairs coroutine table gcinfo rawset cmsgpack bit redis KEYS";
const GLOBALS_PLACES: c_int = 64;

/// Opens Lua's libraries, replaces and removes functions, adds `redis`, seals everything. The stack is left as
/// it was. May jump.
pub(super) fn build(call: Call<'_>, purpose: Purpose, functions: &HostFunctions) {
    let stack = call.stack;
    open_libraries(stack);
    for name in REMOVED {
        stack.push_nil();
        stack.raw_set_field(GLOBALS, name.to_bytes());
    }
    base::install(call);
    api::install(call);
    lib::install(stack);
    host::install(stack, functions);
    if purpose == Purpose::Function {
        library::adapt_globals(stack);
    }
    arrange_globals(stack, purpose);
    show_string_metatable(stack);
    make_quick(stack);
    for name in LIBRARIES {
        stack.raw_get_field(GLOBALS, name);
        mark(stack);
        seal(stack);
        stack.raw_set_field(GLOBALS, name);
    }
    stack.raw_get_field(GLOBALS, b"string");
    let sealed_string = stack.top();
    complete_string_metatable(stack, sealed_string);
    stack.pop(1);
    seal_globals(stack);
}

/// Gives the table of globals the server's layout. KEYS and ARGV get their places, where there are such.
fn arrange_globals(stack: Stack<'_>, purpose: Purpose) {
    let empty: &[&[u8]] =
        if purpose == Purpose::Function { &[b"debug"] } else { &[b"debug", b"KEYS", b"ARGV"] };
    for name in empty {
        stack.push_bool(false);
        stack.raw_set_field(GLOBALS, name);
    }
    stack.copy(GLOBALS);
    arrange(stack, GLOBALS_PLACES, GLOBALS_ORDER);
    stack.push_nil();
    stack.raw_set_field(-2, b"debug");
    stack.replace(GLOBALS);
}

/// Replaces the table on top by one with the same fields that is filled in another order, first the names given: what
/// `pairs` finds first depends on that.
pub(super) fn arrange(stack: Stack<'_>, places: c_int, order: &str) {
    let old = stack.top();
    stack.new_table(0, places);
    for name in order.split(' ') {
        stack.raw_get_field(old, name.as_bytes());
        if stack.is_nil(-1) {
            stack.pop(1);
        } else {
            stack.raw_set_field(-2, name.as_bytes());
        }
    }
    stack.push_nil();
    while stack.next(old) {
        stack.copy(-2);
        stack.insert(-2);
        stack.raw_set(old + 1);
    }
    stack.replace(old);
}

fn open_libraries(stack: Stack<'_>) {
    let libraries: [(&[u8], lua_CFunction); 4] = [
        (b"", ffi::luaopen_base),
        (b"table", ffi::luaopen_table),
        (b"string", ffi::luaopen_string),
        (b"math", ffi::luaopen_math),
    ];
    for (name, open) in libraries {
        stack.push_function(open, 0);
        stack.push_bytes(name);
        stack.call(1, 0);
    }
}

/// Makes the quick environment, in the registry: the plain globals, library tables as they are.
fn make_quick(stack: Stack<'_>) {
    stack.new_table(0, PLAIN.len() as c_int);
    for name in PLAIN {
        stack.raw_get_field(GLOBALS, name);
        stack.raw_set_field(-2, name);
    }
    stack.raw_set_field(REGISTRY, b"quick globals");
}

/// Lets the functions that know proxies know the real table on top as well: it is as read-only as its proxy. Scripts that
/// find it write to no table, but the handler of errors writes to one that is raised.
fn mark(stack: Stack<'_>) {
    stack.new_table(0, 2);
    stack.push_function(native(refuse_write), 0);
    stack.raw_set_field(-2, b"__newindex");
    stack.push_address(address(&SEAL));
    stack.copy(-3);
    stack.raw_set(-3);
    stack.set_metatable(-2);
}

/// Replaces the table on top by a proxy for it.
fn seal(stack: Stack<'_>) {
    let real = stack.top();
    stack.new_table(0, 0);
    stack.new_table(0, 4);
    stack.copy(real);
    stack.raw_set_field(-2, b"__index");
    stack.push_function(native(refuse_write), 0);
    stack.raw_set_field(-2, b"__newindex");
    stack.push_address(address(&SEAL));
    stack.copy(real);
    stack.raw_set(-3);
    stack.set_metatable(-2);
    stack.replace(real);
    stack.set_top(real);
}

/// Pushes a metatable that raises the error of names that do not exist.
pub(super) fn push_strict_metatable(stack: Stack<'_>) {
    stack.new_table(0, 1);
    stack.push_function(native(unknown_global), 0);
    stack.raw_set_field(-2, b"__index");
}

/// Replaces the table on top by a proxy, and raises an error for names that do not exist: scripts see a proxy of the
/// metatable that does.
pub(super) fn seal_strictly(stack: Stack<'_>) {
    let real = stack.top();
    push_strict_metatable(stack);
    stack.copy(-1);
    stack.set_metatable(real);
    seal(stack);
    let shown = stack.top();
    stack.copy(real);
    seal(stack);
    stack.get_metatable(-1);
    stack.push_address(address(&SHOWN));
    stack.copy(shown);
    stack.raw_set(-3);
    stack.pop(1);
    stack.replace(real);
    stack.set_top(real);
}

/// The globals are sealed, and what scripts find as `_G` is the proxy.
fn seal_globals(stack: Stack<'_>) {
    stack.copy(GLOBALS);
    let globals = stack.top();
    stack.copy(globals);
    seal_strictly(stack);
    stack.copy(-1);
    stack.raw_set_field(globals, b"_G");
    stack.copy(globals);
    stack.raw_set_field(REGISTRY, b"globals");
    stack.replace(GLOBALS);
    stack.set_top(globals - 1);
}

/// Makes the table that `getmetatable("")` will show, and keeps it.
fn show_string_metatable(stack: Stack<'_>) {
    stack.push_address(address(&STRING_SHOWN));
    stack.new_table(0, 1);
    stack.raw_set(REGISTRY);
}

fn complete_string_metatable(stack: Stack<'_>, sealed_string: c_int) {
    stack.push_address(address(&STRING_SHOWN));
    stack.copy(-1);
    stack.raw_get(REGISTRY);
    stack.copy(sealed_string);
    stack.raw_set_field(-2, b"__index");
    seal(stack);
    stack.raw_set(REGISTRY);
}

fn address(mark: &'static u8) -> *const c_void {
    (&raw const *mark).cast()
}

/// Pushes the real table when the value at `index` is a proxy; else pushes nothing and is false.
#[inline]
pub(super) fn unseal(stack: Stack<'_>, index: c_int) -> bool {
    if !stack.get_metatable(index) {
        return false;
    }
    stack.push_address(address(&SEAL));
    stack.raw_get(-2);
    stack.remove(-2);
    if stack.is_nil(-1) {
        stack.pop(1);
        return false;
    }
    true
}

/// Raises the error of a write when the value at `index` is a proxy.
pub(super) fn refuse_sealed(stack: Stack<'_>, index: c_int) -> Result<(), super::stack::Raised> {
    if unseal(stack, index) { Err(stack.fail_plain(READONLY)) } else { Ok(()) }
}

/// Pushes what `getmetatable` shows of a proxy or a string: false, and nothing pushed, for all other values.
pub(super) fn push_shown_metatable(stack: Stack<'_>, index: c_int) -> bool {
    if stack.kind(index) == Kind::String {
        stack.push_address(address(&STRING_SHOWN));
        stack.raw_get(REGISTRY);
        return true;
    }
    if !unseal(stack, index) {
        return false;
    }
    stack.pop(1);
    stack.get_metatable(index);
    stack.push_address(address(&SHOWN));
    stack.raw_get(-2);
    stack.remove(-2);
    true
}

/// `__newindex` of every proxy.
pub(super) fn refuse_write(call: Call<'_>) -> Returned {
    Err(call.stack.fail(READONLY))
}

/// `__index` of the table of globals.
fn unknown_global(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if stack.kind(2) != Kind::String && stack.kind(2) != Kind::Number {
        return Err(stack.fail(b"Second argument to luaProtectedTableError must be a string or number"));
    }
    let name = stack.text(2).unwrap_or_default();
    stack.push_where(1);
    stack.push_bytes(b"Script attempted to access nonexistent global variable '");
    stack.push_bytes(super::convert::before_nul(name));
    stack.push_bytes(b"'");
    stack.concat(4);
    Err(super::stack::Raised)
}
