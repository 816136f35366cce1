//! Each limit of `Limits`: what it stops, with which text, that it can be set, that the next script is none the worse.

use moonkeep::{Client, Engine, Limits, Reply};

fn client(limits: Limits) -> Client {
    Engine::builder().script_limits(limits).build().client()
}

fn eval(client: &mut Client, script: &str) -> String {
    let mut reply = Reply::new();
    client.call_into(["EVAL", script, "0"], &mut reply).expect("the engine is free");
    let text = format!("{reply:?}");
    text.split(" script: ").next().unwrap_or_default().to_owned()
}

const BASE: Limits = Limits {
    work: 1_000_000,
    time_ms: 600_000,
    memory: 8 << 20,
    source: 10_000,
    string: 1 << 20,
    traffic: 1 << 20,
    reply: 1 << 20,
    nesting: 10,
};

const NO_MEMORY: &str = "not enough memory";
const WORK: &str = "Script stopped: it used up its work budget";
const TIME: &str = "Script stopped: it ran longer than its time limit";
const TRAFFIC: &str = "Script stopped: it passes too much to commands and gets too much from them";
const REPLY: &str = "Script stopped: what it returns is too large";

/// A limit, a script that goes beyond it and one that does not, and what the first one is told.
const ROWS: &[(&str, Limits, &str, &str, &str)] = &[
    ("work", Limits { work: 10_000, ..BASE }, "while true do end", "for i = 1, 1000 do end return 1", WORK),
    ("time", Limits { work: u64::MAX, time_ms: 5, ..BASE }, "while true do end", "return 1", TIME),
    (
        "memory",
        Limits { memory: 1 << 20, ..BASE },
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} for i = 1, 1000 do t[i] = {} end return 1",
        NO_MEMORY,
    ),
    (
        "source",
        BASE,
        "return assert(loadstring(('x = 1 '):rep(2000)))()",
        "return assert(loadstring('local x return 1' .. (' '):rep(9000)))()",
        "script source too long",
    ),
    ("string", BASE, "return #('x'):rep(1100000)", "return #('x'):rep(1000000) / 1000000", NO_MEMORY),
    (
        "string, joined",
        BASE,
        "local s = ('x'):rep(600000) return #(s .. s)",
        "local s = ('x'):rep(500000) return #(s .. s) / 1000000",
        NO_MEMORY,
    ),
    (
        "traffic",
        BASE,
        "local s = ('x'):rep(100000) for i = 1, 20 do redis.call('SET', 'k', s) end",
        "redis.call('SET', 'k', ('x'):rep(100000)) return 1",
        TRAFFIC,
    ),
    (
        "traffic, replies",
        BASE,
        "redis.call('SET', 'k', ('x'):rep(100000)) for i = 1, 20 do redis.call('GET', 'k') end",
        "redis.call('SET', 'k', ('x'):rep(100000)) redis.call('GET', 'k') return 1",
        TRAFFIC,
    ),
    (
        "traffic, far writes",
        BASE,
        "for i = 1, 20 do redis.call('SETRANGE', 'k' .. i, 100000, 'x') end",
        "redis.call('SETRANGE', 'k', 100000, 'x') return 1",
        TRAFFIC,
    ),
    (
        "reply",
        BASE,
        "local s, t = ('x'):rep(100000), {} for i = 1, 20 do t[i] = s end return t",
        "return 1",
        REPLY,
    ),
];

#[test]
fn each_limit_stops_what_goes_beyond_it_and_nothing_else() {
    for (limit, limits, beyond, within, text) in ROWS {
        let mut client = client(limits.clone());
        for _ in 0..3 {
            let got = eval(&mut client, beyond);
            assert!(got.starts_with("-ERR ") && got.ends_with(text), "{limit}: {got}");
            assert_eq!(eval(&mut client, within), ":1", "{limit}");
        }
    }
}

/// Commands that copy what is there, or make it long by few words.
#[test]
fn the_keyspace_grows_by_the_traffic_only() {
    for script in [
        "redis.call('SET', 'k', ('x'):rep(100000)) for i = 1, 100 do redis.call('COPY', 'k', 'c' .. i) \
        redis.call('APPEND', 'c' .. i, 'x') end return 1",
        "for i = 1, 100 do redis.call('BITFIELD', 'k' .. i, 'SET', 'u8', '#100000', 1) end return 1",
        "redis.call('SETRANGE', 'k', 100000, 'x') for i = 1, 100 do redis.call('BITOP', 'NOT', 'n' .. i, 'k') end return 1",
        "for i = 1, 1000 do redis.call('SADD', 's', i .. 'y') end for i = 1, 1000 do \
        redis.call('SUNIONSTORE', 's' .. i, 's') end return 1",
    ] {
        let mut client = client(Limits { traffic: 1 << 20, ..Limits::default() });
        let got = eval(&mut client, script);
        assert!(got.contains(TRAFFIC), "{script}: {}", &got[..got.len().min(300)]);
        assert_eq!(eval(&mut client, "return 7"), ":7");
    }
}

/// Descriptions are kept outside of Lua's memory.
#[test]
fn descriptions_of_a_library_are_bounded() {
    let text = "names and descriptions of a library's functions are longer than 16 MiB together";
    let code = |count: usize| {
        format!(
            "#!lua name=lib\nlocal s = ('x'):rep(2^22) for i = 1, {count} do redis.register_function{{ \
            function_name = 'f' .. i, description = s, callback = function() return i end}} end"
        )
    };
    let mut client = client(Limits::default());
    let error = client.call(["FUNCTION", "LOAD", &code(5)]).expect_err("too long");
    assert!(error.to_string().contains(text), "{error}");
    assert!(client.call(["FUNCTION", "LOAD", &code(3)]).is_ok());
    assert_eq!(client.query::<i64, _>(["FCALL", "f3", "0"]), Ok(3));
}

/// Nesting of calls, of the parser, of patterns and of what is returned.
#[test]
fn each_kind_of_nesting_has_an_end() {
    for (script, text) in [
        ("local function f() return 1 + f() end f()", "stack overflow"),
        ("local function f() return pcall(f) end return select(-1, f())", "C stack overflow"),
        ("local function f() return coroutine.wrap(f)() end return f()", "C stack overflow"),
        ("local function f() return (('x'):gsub('x', f)) end return f()", "C stack overflow"),
        (
            "local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x",
            "C stack overflow",
        ),
        ("local t = {} setmetatable(t, {__index = t}) return t.x", "loop in gettable"),
        (
            "return select(2, loadstring('return ' .. ('('):rep(1000) .. '1' .. (')'):rep(1000)))",
            "chunk has too many syntax levels",
        ),
        (
            "return select(2, loadstring(('do '):rep(1000) .. ('end '):rep(1000)))",
            "chunk has too many syntax levels",
        ),
        ("return string.find(('a'):rep(1000), ('a?'):rep(1000))", "pattern too complex"),
        (
            "return select(2, loadstring('if a then ' .. ('elseif a then '):rep(50000) .. 'end'))",
            "script source too complex",
        ),
        ("return cjson.decode(('['):rep(2000))", "Found too many nested data structures (1001)"),
        (
            "local t = {} for i = 1, 2000 do t = {t} end return cjson.encode(t)",
            "Cannot serialise, excessive nesting (1001)",
        ),
        ("local t = 1 for i = 1, 300 do t = {t} end return t", "reached lua stack limit"),
    ] {
        let mut client = client(Limits::default());
        let got = eval(&mut client, script);
        assert!(got.contains(text), "{script}: {}", &got[..got.len().min(300)]);
        assert_eq!(eval(&mut client, "return 7"), ":7");
    }
}

/// The time of the parser is bounded by what it would have to do, not by the length of a source alone.
#[test]
fn a_source_that_the_parser_would_be_busy_with_is_refused() {
    let mut client = client(Limits::default());
    let refused = "-ERR Error compiling script (new function): script source too complex";
    assert_eq!(eval(&mut client, &format!("return {}1", "a and ".repeat(100_000))), refused);
    assert_eq!(eval(&mut client, &format!("if x then {}end", "elseif x then ".repeat(50_000))), refused);
    let long =
        format!("local t = {{}} {} return #t", "t[#t + 1] = 'a line of an ordinary script' ".repeat(20_000));
    assert_eq!(eval(&mut client, &long), ":20000");
    let branches = format!(
        "local x = 5 {}",
        "if x == 1 then x = 2 elseif x == 3 then x = 4 else x = x + 0 end ".repeat(5_000)
    );
    assert_eq!(eval(&mut client, &format!("{branches} return x")), ":5");
}

/// What a run left of its budget can be asked for, and is the same each time.
#[test]
fn the_work_that_is_left_is_the_same_each_time() {
    let left = |script: &str| {
        let engine = Engine::builder().script_limits(BASE).build();
        eval(&mut engine.client(), script);
        engine.script_control().work_left()
    };
    for script in [
        "return 1",
        "for i = 1, 10000 do redis.call('INCR', 'n') end",
        "local t = {} for i = 1, 20000 do t[i] = {i} end table.sort(t, function(a, b) return a[1] > b[1] end)",
        "return #('ab'):rep(100000):gsub('a', 'xyz')",
        "while true do end",
    ] {
        assert_eq!(left(script), left(script), "{script}");
    }
    assert_eq!(left("while true do end"), 0);
    assert!(left("return 1") > left("for i = 1, 10000 do redis.call('INCR', 'n') end"));
}
