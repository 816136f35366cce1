//! The VM on its own: what a script leaves behind, failing memory, panics. Replies and texts are in `tests/`.

use super::*;
use crate::command::config::Config;
use crate::command::spec::*;
use crate::command::table::Table;
use crate::command::{Ctx, Flow, Source};
use crate::store::Store;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

fn boom(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    panic!("boom");
}

static BOOM: &[Spec] = &[Spec { name: "boom", usage: "BOOM", run: boom, ..Spec::BASE }];

/// A VM and a state with one session.
struct Bench {
    vm: Vm,
    state: State,
    caller: SessionId,
}

impl Bench {
    fn new(limits: Limits, table: &'static Table) -> Self {
        let mut state = State::new(Store::new(16, 0, 0), Config::default(), table);
        let caller = state.sessions.open(0);
        Bench { vm: Vm::with_limits(limits, Arc::default()), state, caller }
    }

    fn with_commands() -> Self {
        Bench::new(Limits::default(), crate::commands::table())
    }

    fn load(&mut self, script: &str) {
        let argv: [&[u8]; 3] = [b"SCRIPT", b"LOAD", script.as_bytes()];
        let call = VmCall::Load { body: 2 };
        let loaded =
            self.vm.run(&mut self.state, self.caller, Origin::Client, &call, &argv, &mut Reply::new());
        assert_eq!(loaded, Ok(()));
    }

    fn eval(&mut self, script: &str) -> String {
        self.eval_with(script, &[])
    }

    /// FUNCTION LOAD REPLACE of this code.
    fn load_library(&mut self, code: &str) -> String {
        let code = format!("#!lua name=l\n{code}");
        let argv: [&[u8]; 4] = [b"FUNCTION", b"LOAD", b"REPLACE", code.as_bytes()];
        self.run(&VmCall::LoadLibrary { code: 3, replace: true }, &argv)
    }

    fn fcall(&mut self, name: &str) -> String {
        let argv: [&[u8]; 4] = [b"FCALL", name.as_bytes(), b"0", b"v"];
        let (library, index) = self.state.libraries.function(argv[1]).expect("a function");
        let (library, index) = (library.id, index as u32);
        self.run(&VmCall::Function { library, index, numkeys: 0, read_only: false }, &argv)
    }

    fn run(&mut self, call: &VmCall, argv: Argv<'_>) -> String {
        let mut out = Reply::new();
        match self.vm.run(&mut self.state, self.caller, Origin::Client, call, argv, &mut out) {
            Ok(()) => format!("{out:?}"),
            Err(failure) => format!("-{failure}"),
        }
    }

    fn eval_with(&mut self, script: &str, args: &[&[u8]]) -> String {
        let argv = [&[b"EVAL", script.as_bytes(), b"0"], args].concat();
        self.run(&VmCall::Eval { source: Source::Body, numkeys: 0, read_only: false }, &argv)
    }
}

/// Scripts that use memory in all the ways there are.
const GREEDY: [&str; 22] = [
    "local t = {} for i = 1, 300 do t[i] = {i, tostring(i)} end return #t",
    "local s = '' for i = 1, 200 do s = s .. i end return #s",
    "return (string.gsub(string.rep('ab', 50), '%a', function(c) return c .. c end))",
    "local co = coroutine.wrap(function(n) while true do n = coroutine.yield({n}) end end) return co(1)[1] + co(2)[1]",
    "return assert(loadstring('local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(50)'))()",
    "redis.call('SET', 'k', string.rep('v', 100)) return #redis.call('GET', 'k') + #redis.call('MGET', 'k', 'k', 'k')",
    "return {pcall(function() local t = {} for i = 1, 50 do t['k' .. i] = i end error({err = 'X done'}) end)}",
    "return select('#', unpack({1, 2, 3}, 1, 200)) + table.concat({1, 2, 3}, '0')",
    "local t = {} for i = 1, 60 do t[i] = 60 - i end table.sort(t, function(a, b) return a .. '' < b .. '' end) return t[1]",
    "local n = 0 for word in ('a bb ccc'):rep(20):gmatch('%a+') do n = n + #word end return n",
    "return {xpcall(function() local t = nil return t.x end, function(e) return {e .. '!', e} end)}",
    "local parts, i = {'return ', '{1', ', 2}'}, 0 return #load(function() i = i + 1 return parts[i] end)()",
    "local t = setmetatable({}, {__index = function(t, k) return k .. k end, __call = function(t, ...) return {...} end}) return #t.abc + #t(1, 2, 3)",
    "return #string.format('%s %q %5d', ('x'):rep(200), 'a\\nb', 7) + #('x'):rep(300):upper():reverse()",
    "return cjson.encode(cjson.decode('{\"a\":[1,2,{\"b\":\"c\"}],\"d\":null}').a)",
    "return bit.tohex(255) .. struct.pack('>I4s', 7, 'abc') .. #struct.pack('i8', 1)",
    "redis.call('RPUSH', 'l', unpack({1, 2, 3, 4, 5}, 1, 5)) redis.setresp(3) local r = {redis.call('LRANGE', 'l', 0, -1), redis.pcall('NO')} redis.call('DEL', 'l') return #r[1]",
    "local function deep(n) if n == 0 then return {} end return {deep(n - 1)} end return #deep(40)",
    "local f = {} for i = 1, 40 do local a, b = i, {} f[i] = function() return a, b end end return (f[40]())",
    "local r = {} for i = 1, 10 do r[i] = {pcall(error, {err = 'E ' .. i}), pcall(redis.call, 'NO')} end return #r",
    "local t = {} for i = 1, 100 do table.insert(t, 1, i) end for i = 1, 50 do table.remove(t, 1) end return #t + table.maxn(t)",
    "collectgarbage() local t = setmetatable({}, {__mode = 'k'}) for i = 1, 50 do t[{}] = i end collectgarbage() return type(next(t))",
];

#[test]
fn each_failing_request_for_memory_ends_in_an_error_and_leaves_the_vm_whole() {
    let mut bench = Bench::with_commands();
    bench.eval("redis.call('SET', 'untouched', 'value') redis.call('HSET', 'hash', 'a', 1)");
    for script in GREEDY {
        let expected = bench.eval(script);
        assert!(!expected.starts_with('-'), "{script}: {expected}");
        let keys = bench.eval(KEYSPACE);
        let mut failures = 0;
        for n in 1.. {
            // Strings that are still there need no memory: a new state for each try, with the script compiled.
            bench.vm.reset();
            bench.load(script);
            bench.vm.interpreter.refuse_nth(Some(n));
            let got = bench.eval(script);
            let refused = bench.vm.interpreter.has_refused();
            bench.vm.interpreter.refuse_nth(None);
            if !refused {
                assert_eq!(got, expected);
                break;
            }
            failures += 1;
            // A script that catches errors may well answer.
            assert!(!got.starts_with('-') || got.starts_with("-ERR "), "{script}, {n}: {got}");
            bench.eval("if redis.call('EXISTS', 'l') == 1 then redis.call('DEL', 'l') end");
            assert_eq!(bench.eval(KEYSPACE), keys, "{script}, after failure {n}");
            assert_eq!(bench.eval(script), expected, "{script}, after failure {n}");
        }
        assert!(failures > 2, "{script}: {failures}");
    }
}

/// All that is in the keyspace, as one reply.
const KEYSPACE: &str = "local keys = redis.call('KEYS', '*') table.sort(keys) local all = {} \
    for i, key in ipairs(keys) do \
    local get = {string = {'GET', key}, hash = {'HGETALL', key}, list = {'LRANGE', key, 0, -1}} \
    all[i] = {key, redis.call(unpack(get[redis.call('TYPE', key).ok]))} end return all";

#[test]
fn a_panic_of_a_command_passes_through_pcall_and_leaves_the_vm_usable() {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(&[BOOM]));
    let mut bench = Bench::new(Limits::default(), &TABLE);
    for script in [
        "return redis.call('boom')",
        "redis.pcall('boom') return 1",
        "while true do pcall(redis.call, 'boom') end",
        "return coroutine.resume(coroutine.create(function() redis.call('boom') end))",
        "return xpcall(function() redis.call('boom') end, function() return 1 end)",
    ] {
        let panic = catch_unwind(AssertUnwindSafe(|| bench.eval(script))).expect_err("the panic comes back");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"boom"));
        assert_eq!(bench.eval("return 1"), ":1");
    }
}

#[test]
fn a_reset_vm_answers_as_a_new_one() {
    let mut bench = Bench::with_commands();
    for round in 0..1000 {
        bench.vm.reset();
        let script = format!("local t = {{}} for i = 1, 20 do t[i] = i * {round} end return t[20]");
        assert_eq!(bench.eval(&script), format!(":{}", 20 * round));
    }
}

#[test]
fn ten_thousand_different_scripts_do_not_pile_up() {
    let mut bench = Bench::with_commands();
    let mut most = 0;
    for round in 0..10_000 {
        assert_eq!(bench.eval(&format!("return {round} + 1")), format!(":{}", round + 1));
        most = most.max(bench.vm.interpreter.memory());
    }
    assert!(most < 8 << 20, "{most}");
    bench.state.scripts.clear();
    assert_eq!(bench.eval("return 1"), ":1");
    assert_eq!(bench.vm.functions.len(), 1);
    assert!(bench.vm.interpreter.memory() <= 256 * 1024);
}

#[test]
fn a_script_that_filled_its_memory_does_not_take_it_from_the_next() {
    let limits = Limits { memory: 4 << 20, ..Limits::default() };
    let mut bench = Bench::new(limits, crate::commands::table());
    for _ in 0..3 {
        let got = bench.eval("local t = {} while true do t[#t + 1] = {} end");
        assert!(got.contains(", not enough memory"), "{got}");
        assert_eq!(bench.eval("return #string.rep('x', 1000000)"), ":1000000");
    }
}

#[test]
fn what_a_script_leaves_in_keys_and_argv_is_gone() {
    let mut bench = Bench::with_commands();
    let show = "local seen = {} for k, v in pairs(ARGV) do seen[#seen + 1] = tostring(k) .. '=' .. tostring(v) end \
                seen[#seen + 1] = tostring(getmetatable(ARGV)) return seen";
    for leave in [
        "ARGV.x = 1",
        "ARGV[0] = 1",
        "ARGV[3] = 1",
        "ARGV[4] = 1 ARGV[9] = 2",
        "setmetatable(ARGV, {__index = function() return 1 end})",
        "ARGV[1] = nil ARGV[2] = nil",
    ] {
        bench.eval_with(leave, &[b"a", b"b"]);
        assert_eq!(bench.eval_with(show, &[b"c"]), r#"["1=c", "nil"]"#, "{leave}");
    }
    let many: Vec<&[u8]> = vec![b"m"; 50];
    assert_eq!(bench.eval_with("return #ARGV", &many), ":50");
    assert_eq!(bench.eval_with(show, &[b"c", b"d"]), r#"["1=c", "2=d", "nil"]"#);
}

#[test]
fn each_failing_request_for_memory_leaves_libraries_whole() {
    let mut bench = Bench::with_commands();
    let code = "local f, names = redis.register_function, {} for i = 1, 40 do \
                f{function_name = 'f' .. i, description = 'number ' .. i, flags = {'allow-oom'}, \
                callback = function(keys, args) names[#names + 1] = args[1] .. i return {i, keys, args, #names} end} end";
    assert_eq!(bench.load_library(code), "\"l\"");
    assert_eq!(bench.fcall("f7"), "[:7, [], [\"v\"], :1]");
    let mut failures = [0; 2];
    for n in 1.. {
        let libraries = bench.vm.libraries();
        libraries.reset();
        libraries.refuse_nth(Some(n));
        let loaded = bench.load_library(code);
        bench.vm.libraries().refuse_nth(None);
        if loaded == "\"l\"" {
            break;
        }
        failures[0] += 1;
        assert!(loaded.starts_with("-ERR Error ") && loaded.ends_with(" not enough memory"), "{n}: {loaded}");
        assert_eq!(bench.fcall("f40"), "[:40, [], [\"v\"], :1]", "the library before, after failure {n}");
    }
    for n in 1.. {
        bench.vm.libraries().refuse_nth(Some(n));
        let called = bench.fcall("f7");
        bench.vm.libraries().refuse_nth(None);
        if !called.starts_with('-') {
            break;
        }
        failures[1] += 1;
        assert_eq!(called, "-ERR Error running script f7, not enough memory");
        assert!(bench.fcall("f8").starts_with("[:8, [], [\"v\"], :"));
    }
    assert!(failures[0] > 100 && failures[1] > 1, "{failures:?}");
}
