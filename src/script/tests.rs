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
const GREEDY: [&str; 11] = [
    "local t = {} for i = 1, 300 do t[i] = {i, tostring(i)} end return #t",
    "local s = '' for i = 1, 200 do s = s .. i end return #s",
    "return (string.gsub(string.rep('ab', 50), '%a', function(c) return c .. c end))",
    "local co = coroutine.wrap(function(n) while true do n = coroutine.yield({n}) end end) return co(1)[1] + co(2)[1]",
    "return assert(loadstring('local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(50)'))()",
    "redis.call('SET', 'k', string.rep('v', 100)) return #redis.call('GET', 'k') + #redis.call('MGET', 'k', 'k', 'k')",
    "return {pcall(function() local t = {} for i = 1, 50 do t['k' .. i] = i end error({err = 'X done'}) end)}",
    "return select('#', unpack({1, 2, 3}, 1, 200)) + table.concat({1, 2, 3}, '0')",
    "return cjson.encode(cjson.decode('{\"a\":[1,2,{\"b\":\"c\\\\n\"}],\"d\":' .. ('[' ):rep(60) .. (']'):rep(60) .. '}').a)",
    "return #cmsgpack.pack(cmsgpack.unpack(cmsgpack.pack({1, {a = 'b'}, 'x', {{{}}}, 2.5}, ('y'):rep(300), nil, 7)))",
    "local c = cjson.new() c.encode_number_precision(3) return c.encode(1 / 3) .. struct.pack('s>I4', 'abc', struct.unpack('>I4', 'wxyz'))",
];

#[test]
fn each_failing_request_for_memory_ends_in_an_error_and_leaves_the_vm_whole() {
    let mut bench = Bench::with_commands();
    for script in GREEDY {
        let expected = bench.eval(script);
        assert!(!expected.starts_with('-'), "{expected}");
        let mut failures = 0;
        for n in 1.. {
            // Strings that are still there need no memory: a new state for each try, with the script compiled.
            bench.vm.reset();
            bench.load(script);
            bench.vm.interpreter.refuse_nth(Some(n));
            let got = bench.eval(script);
            bench.vm.interpreter.refuse_nth(None);
            if got == expected {
                break;
            }
            failures += 1;
            assert!(got.starts_with("-ERR ") || got.starts_with("[nil, "), "{n}: {got}");
            assert_eq!(bench.eval(script), expected, "after failure {n}");
        }
        assert!(failures > 3, "{script}: {failures}");
    }
}

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
