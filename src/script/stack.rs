//! A thin, copyable handle to the stack of a Lua state: the operations this layer needs, each a line or two.
//! A method marked "may jump" can raise a Lua error (memory, a type, an error of a called function): it then
//! leaves through `longjmp`. Whoever calls one owns nothing that has to be dropped. Not here: the functions
//! that Lua calls and the protected calls (`bridge`), the memory (`alloc`).
#![allow(unsafe_code)]

use mlua::ffi::{self, lua_CFunction, lua_State};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// The type of a value on the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    None,
    Nil,
    Boolean,
    Number,
    String,
    Table,
    Function,
    Other,
}

/// What a function raises: its value lies on top of the stack.
#[derive(Debug)]
pub(super) struct Raised;

/// How many values a function returns, from the top of the stack.
pub(super) type Returned = Result<c_int, Raised>;

/// The table in which this layer keeps its own values; scripts cannot reach it.
pub(super) const REGISTRY: c_int = ffi::LUA_REGISTRYINDEX;
/// The table of globals of the running thread.
pub(super) const GLOBALS: c_int = ffi::LUA_GLOBALSINDEX;
/// All results of a call.
pub(super) const ALL: c_int = ffi::LUA_MULTRET;

/// The stack of one Lua thread, lent for `'a`: the time of one call into Rust.
#[derive(Clone, Copy)]
pub(super) struct Stack<'a> {
    state: *mut lua_State,
    lent: PhantomData<&'a mut lua_State>,
}

/// One call of the Lua interface. Indices come from this layer's own code: they are within the stack, and
/// pushes stay within the 20 slots that a function may use, or follow a `reserve`.
macro_rules! lua {
    ($name:ident($stack:expr $(, $argument:expr)*)) => {{
        // SAFETY: a `Stack` is only made for a living state (see `Stack::new`); see above for the indices.
        unsafe { ffi::$name($stack.state $(, $argument)*) }
    }};
}

impl<'a> Stack<'a> {
    /// # Safety
    /// `state` is a living Lua state or thread, not used by another thread during `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(state: *mut lua_State) -> Self {
        Stack { state, lent: PhantomData }
    }

    #[inline(always)]
    pub(super) fn raw(self) -> *mut lua_State {
        self.state
    }

    #[inline(always)]
    pub(super) fn top(self) -> c_int {
        lua!(lua_gettop(self))
    }

    #[inline(always)]
    pub(super) fn set_top(self, top: c_int) {
        lua!(lua_settop(self, top));
    }

    #[inline(always)]
    pub(super) fn pop(self, count: c_int) {
        lua!(lua_settop(self, -count - 1));
    }

    #[inline(always)]
    pub(super) fn copy(self, index: c_int) {
        lua!(lua_pushvalue(self, index));
    }

    pub(super) fn insert(self, index: c_int) {
        lua!(lua_insert(self, index));
    }

    pub(super) fn remove(self, index: c_int) {
        lua!(lua_remove(self, index));
    }

    pub(super) fn replace(self, index: c_int) {
        lua!(lua_replace(self, index));
    }

    /// Room for `more` values; false when Lua's limit for one function is reached. May jump.
    #[inline(always)]
    pub(super) fn reserve(self, more: c_int) -> bool {
        lua!(lua_checkstack(self, more)) != 0
    }

    #[inline(always)]
    pub(super) fn kind(self, index: c_int) -> Kind {
        match lua!(lua_type(self, index)) {
            ffi::LUA_TNONE => Kind::None,
            ffi::LUA_TNIL => Kind::Nil,
            ffi::LUA_TBOOLEAN => Kind::Boolean,
            ffi::LUA_TNUMBER => Kind::Number,
            ffi::LUA_TSTRING => Kind::String,
            ffi::LUA_TTABLE => Kind::Table,
            ffi::LUA_TFUNCTION => Kind::Function,
            _ => Kind::Other,
        }
    }

    #[inline(always)]
    pub(super) fn is_nil(self, index: c_int) -> bool {
        lua!(lua_type(self, index)) == ffi::LUA_TNIL
    }

    #[inline(always)]
    pub(super) fn is_none_or_nil(self, index: c_int) -> bool {
        lua!(lua_type(self, index)) <= ffi::LUA_TNIL
    }

    /// The name of the type of a value, as Lua's messages have it.
    pub(super) fn type_name(self, index: c_int) -> &'static CStr {
        let kind = lua!(lua_type(self, index));
        let name = lua!(lua_typename(self, kind));
        // SAFETY: Lua's type names are constants of the program.
        unsafe { CStr::from_ptr(name) }
    }

    /// The value when it is a number (a string of digits is none).
    #[inline(always)]
    pub(super) fn number(self, index: c_int) -> Option<f64> {
        (lua!(lua_type(self, index)) == ffi::LUA_TNUMBER).then(|| lua!(lua_tonumber(self, index)))
    }

    /// The value as a number, 0 when it is none: the way `lua_tonumber` sees it.
    pub(super) fn to_number(self, index: c_int) -> f64 {
        lua!(lua_tonumber(self, index))
    }

    /// Whether `lua_tonumber` takes it: a number, or a string that reads as one.
    pub(super) fn is_numeric(self, index: c_int) -> bool {
        lua!(lua_isnumber(self, index)) != 0
    }

    #[inline(always)]
    pub(super) fn truth(self, index: c_int) -> bool {
        lua!(lua_toboolean(self, index)) != 0
    }

    /// The bytes of a string. They live as long as the string does: as long as it stays on the stack.
    #[inline(always)]
    pub(super) fn bytes(self, index: c_int) -> Option<&'a [u8]> {
        if lua!(lua_type(self, index)) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let first = lua!(lua_tolstring(self, index, &mut length));
        // SAFETY: a string's bytes, which do not move; the caller leaves the value on the stack.
        Some(unsafe { std::slice::from_raw_parts(first.cast(), length) })
    }

    /// The bytes of a string, or of a number, which becomes a string in its slot. May jump.
    pub(super) fn text(self, index: c_int) -> Option<&'a [u8]> {
        if self.kind(index) == Kind::Number {
            lua!(lua_tolstring(self, index, null_mut()));
        }
        self.bytes(index)
    }

    /// The bytes of a string argument, or the error Lua's own functions raise. May jump.
    pub(super) fn check_text(self, argument: c_int) -> &'a [u8] {
        let mut length = 0;
        let first = lua!(luaL_checklstring(self, argument, &mut length));
        // SAFETY: as in `bytes`.
        unsafe { std::slice::from_raw_parts(first.cast(), length) }
    }

    /// A number argument, or a string that reads as one. May jump.
    #[inline(always)]
    pub(super) fn check_number(self, argument: c_int) -> f64 {
        lua!(luaL_checknumber(self, argument))
    }

    /// A number argument cut to 32 bits the way C's `luaL_checkint` does. May jump.
    pub(super) fn check_int(self, argument: c_int) -> i32 {
        lua!(luaL_checkinteger(self, argument)) as i32
    }

    /// May jump.
    pub(super) fn check_integer(self, argument: c_int) -> i64 {
        lua!(luaL_checkinteger(self, argument)) as i64
    }

    /// May jump.
    pub(super) fn check_table(self, argument: c_int) {
        lua!(luaL_checktype(self, argument, ffi::LUA_TTABLE));
    }

    /// May jump.
    pub(super) fn check_function(self, argument: c_int) {
        lua!(luaL_checktype(self, argument, ffi::LUA_TFUNCTION));
    }

    /// May jump.
    pub(super) fn check_any(self, argument: c_int) {
        lua!(luaL_checkany(self, argument));
    }

    /// Raises `bad argument #n to 'f' (message)`. Jumps.
    pub(super) fn bad_argument(self, argument: c_int, message: &CStr) {
        lua!(luaL_argerror(self, argument, message.as_ptr()));
    }

    /// As `bad_argument`, with the text on top as the message. Jumps.
    pub(super) fn bad_argument_on_top(self, argument: c_int) {
        let message = lua!(lua_tolstring(self, -1, null_mut()));
        lua!(luaL_argerror(self, argument, message));
    }

    /// The index of an upvalue of the running function.
    pub(super) const fn upvalue(number: c_int) -> c_int {
        ffi::lua_upvalueindex(number)
    }

    /// Raises the value on top. Jumps.
    pub(super) fn raise(self) -> ! {
        // SAFETY: as in `lua!`; the caller owns nothing.
        unsafe { ffi::lua_error(self.state) }
    }

    #[inline(always)]
    pub(super) fn push_nil(self) {
        lua!(lua_pushnil(self));
    }

    #[inline(always)]
    pub(super) fn push_bool(self, value: bool) {
        lua!(lua_pushboolean(self, value.into()));
    }

    #[inline(always)]
    pub(super) fn push_number(self, value: f64) {
        lua!(lua_pushnumber(self, value));
    }

    /// May jump.
    #[inline(always)]
    pub(super) fn push_bytes(self, value: &[u8]) {
        lua!(lua_pushlstring_(self, value.as_ptr().cast::<c_char>(), value.len()));
    }

    /// Pushes a copy of a text in the run's scratch memory, which nothing changes meanwhile. May jump.
    pub(super) fn push_scratch(self, text: *const [u8]) {
        // SAFETY: the scratch memory lives in the host; the allocator, all that runs here, leaves it alone.
        self.push_bytes(unsafe { &*text });
    }

    /// The value that stands for a null inside a table: a pointer to nothing.
    pub(super) fn push_null(self) {
        lua!(lua_pushlightuserdata(self, null_mut()));
    }

    #[inline(always)]
    pub(super) fn is_null(self, index: c_int) -> bool {
        lua!(lua_type(self, index)) == ffi::LUA_TLIGHTUSERDATA && lua!(lua_touserdata(self, index)).is_null()
    }

    /// A value whose only use is to be a key that no script can make.
    pub(super) fn push_address(self, address: *const c_void) {
        lua!(lua_pushlightuserdata(self, address.cast_mut()));
    }

    /// May jump.
    pub(super) fn push_function(self, function: lua_CFunction, upvalues: c_int) {
        lua!(lua_pushcclosure(self, function, upvalues));
    }

    /// May jump.
    #[inline(always)]
    pub(super) fn new_table(self, items: c_int, fields: c_int) {
        lua!(lua_createtable(self, items, fields));
    }

    /// Replaces the key on top by the value it has in the table at `table`.
    #[inline(always)]
    pub(super) fn raw_get(self, table: c_int) {
        lua!(lua_rawget_(self, table));
    }

    #[inline(always)]
    pub(super) fn raw_get_index(self, table: c_int, index: c_int) {
        lua!(lua_rawgeti_(self, table, index));
    }

    /// Replaces the key on top by the value it has in the table at `table`, with metamethods. May jump.
    pub(super) fn get(self, table: c_int) {
        lua!(lua_gettable_(self, table));
    }

    /// Sets key and value, the two on top. May jump.
    #[inline(always)]
    pub(super) fn raw_set(self, table: c_int) {
        lua!(lua_rawset(self, table));
    }

    /// Sets the value on top. May jump.
    #[inline(always)]
    pub(super) fn raw_set_index(self, table: c_int, index: c_int) {
        lua!(lua_rawseti_(self, table, index));
    }

    /// Sets field `name` to the value on top, without metamethods. May jump.
    pub(super) fn raw_set_field(self, table: c_int, name: &[u8]) {
        let table = if table < 0 && table > REGISTRY { table - 1 } else { table };
        self.push_bytes(name);
        self.insert(-2);
        self.raw_set(table);
    }

    /// Pushes field `name`, without metamethods. May jump.
    pub(super) fn raw_get_field(self, table: c_int, name: &[u8]) {
        let table = if table < 0 && table > REGISTRY { table - 1 } else { table };
        self.push_bytes(name);
        self.raw_get(table);
    }

    /// Replaces the key on top by the next key and its value; pops it and is false at the end. May jump.
    #[inline(always)]
    pub(super) fn next(self, table: c_int) -> bool {
        lua!(lua_next(self, table)) != 0
    }

    /// The border of a table, the length of a string.
    #[inline(always)]
    pub(super) fn length(self, index: c_int) -> usize {
        lua!(lua_objlen(self, index))
    }

    pub(super) fn raw_equal(self, left: c_int, right: c_int) -> bool {
        lua!(lua_rawequal(self, left, right)) != 0
    }

    /// Whether one value is less than another, by metamethods too. May jump.
    pub(super) fn less_than(self, left: c_int, right: c_int) -> bool {
        lua!(lua_lessthan(self, left, right)) != 0
    }

    /// Pushes the metatable, or nothing and is false.
    #[inline(always)]
    pub(super) fn get_metatable(self, index: c_int) -> bool {
        lua!(lua_getmetatable(self, index)) != 0
    }

    /// Makes the table on top the metatable of the value at `index`.
    pub(super) fn set_metatable(self, index: c_int) {
        lua!(lua_setmetatable(self, index));
    }

    /// Calls the function below its arguments. May jump.
    pub(super) fn call(self, arguments: c_int, results: c_int) {
        lua!(lua_call(self, arguments, results));
    }

    /// Calls the function below its arguments; on an error its value is on top instead of the results.
    #[inline(always)]
    pub(super) fn protected_call(self, arguments: c_int, results: c_int, handler: c_int) -> Outcome {
        match lua!(lua_pcall(self, arguments, results, handler)) {
            ffi::LUA_OK => Outcome::Done,
            ffi::LUA_ERRMEM => Outcome::NoMemory,
            _ => Outcome::Failed,
        }
    }

    /// Pushes where the function at `level` of the call stack is, as `name:line: `, or nothing known as ``. May jump.
    pub(super) fn push_where(self, level: c_int) {
        lua!(luaL_where(self, level));
    }

    /// Joins the `count` values on top. May jump.
    pub(super) fn concat(self, count: c_int) {
        lua!(lua_concat(self, count));
    }

    /// An error with the place of the calling Lua function in front, as `luaL_error` makes it. May jump.
    #[cold]
    pub(super) fn fail(self, message: &[u8]) -> Raised {
        self.push_where(1);
        self.push_bytes(message);
        self.concat(2);
        Raised
    }

    /// An error that is just this text. May jump.
    #[cold]
    pub(super) fn fail_plain(self, message: &[u8]) -> Raised {
        self.push_bytes(message);
        Raised
    }

    /// Makes the table on top the environment of the function at `index`.
    pub(super) fn set_environment(self, index: c_int) {
        lua!(lua_setfenv(self, index));
    }

    /// Keeps the value on top in the registry and gives the number to find it by. May jump.
    pub(super) fn keep(self) -> c_int {
        lua!(luaL_ref(self, REGISTRY))
    }

    /// Gives up a number that `keep` gave.
    pub(super) fn release(self, number: c_int) {
        lua!(luaL_unref(self, REGISTRY, number));
    }

    /// One of the collector's operations (`ffi::LUA_GC…`). May jump.
    pub(super) fn collector(self, operation: c_int, argument: c_int) -> c_int {
        lua!(lua_gc(self, operation, argument))
    }

    /// Whether the value is a coroutine.
    pub(super) fn is_thread(self, index: c_int) -> bool {
        lua!(lua_type(self, index)) == ffi::LUA_TTHREAD
    }

    /// The thread at `index`.
    pub(super) fn thread(self, index: c_int) -> *mut lua_State {
        lua!(lua_tothread(self, index))
    }

    /// Why this thread cannot be resumed from another one: what it is, as Lua calls it.
    pub(super) fn status_for(self, from: Stack<'_>) -> Option<&'static [u8]> {
        if self.state == from.state {
            return Some(b"running");
        }
        match lua!(lua_status(self)) {
            ffi::LUA_YIELD => None,
            ffi::LUA_OK if self.place(0).is_some() => Some(b"normal"),
            ffi::LUA_OK if self.top() > 0 => None,
            _ => Some(b"dead"),
        }
    }

    /// The C function at `index`, when it is one.
    pub(super) fn native(self, index: c_int) -> Option<lua_CFunction> {
        lua!(lua_tocfunction(self, index))
    }

    /// The source and line of the function at `level` of the call stack (0 is the running one): none
    /// when there is no such level; a line of -1 for a function of this layer.
    pub(super) fn place(self, level: c_int) -> Option<Place> {
        // SAFETY: a zeroed `lua_Debug` is a valid one: integers, and pointers that Lua sets.
        let mut record: ffi::lua_Debug = unsafe { std::mem::zeroed() };
        if lua!(lua_getstack(self, level, &mut record)) == 0 {
            return None;
        }
        lua!(lua_getinfo(self, c"Sl".as_ptr(), &mut record));
        // SAFETY: `lua_getinfo` with "S" sets both to texts that end in a zero byte and live as long as the function.
        let (what, source) = unsafe { (CStr::from_ptr(record.what), CStr::from_ptr(record.source)) };
        Some(Place {
            native: what == c"C",
            source: source.to_bytes().as_ptr(),
            length: source.count_bytes(),
            line: record.currentline,
        })
    }
}

/// How a protected call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Done,
    NoMemory,
    Failed,
}

/// Where a function of the call stack is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) native: bool,
    source: *const u8,
    length: usize,
    pub(super) line: c_int,
}

impl Place {
    /// The chunk's name as it was given: `@user_script`. Valid while the function is on the call stack.
    pub(super) fn source(&self) -> &[u8] {
        // SAFETY: see `Stack::place`; a `Place` is used at once, before anything returns.
        unsafe { std::slice::from_raw_parts(self.source, self.length) }
    }
}
