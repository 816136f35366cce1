//! Scripts that misbehave: what stops them, and functions of the host that they call. The corpus of attacks, and what
//! one script could do to another: `hostile`. Ordinary scripts are judged by `corpus` and `diff`.

use moonkeep::{Client, Engine, Limits, Reply};
use std::sync::{Arc, Mutex};

fn engine(limits: Limits) -> Engine {
    Engine::builder().script_limits(limits).build()
}

fn small() -> Limits {
    Limits { work: 5_000_000, memory: 16 << 20, ..Limits::default() }
}

fn eval(client: &mut Client, script: &str) -> String {
    let mut reply = Reply::new();
    client.call_into(["EVAL", script, "0"], &mut reply).expect("the engine is free");
    format!("{reply:?}")
}

const OUT_OF_WORK: &str = "-ERR Script stopped: it used up its work budget script: ";

#[test]
fn no_loop_outlives_its_work_budget() {
    let mut client = engine(small()).client();
    for script in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(coroutine.wrap(function() while true do end end)) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "while true do coroutine.resume(coroutine.create(function() end)) end",
        "while true do redis.pcall('nope') end",
        "string.rep('a', 100):gsub('', function() while true do end end)",
        "table.sort({1, 2, 3}, function() while true do end end)",
        "setmetatable({}, {__index = function() while true do end end}).x()",
        "while true do load(function() return nil end) end",
        "local s, i = string.rep('a', 1000000), 0 while true do i = i % 50 + 1 local t = s .. i end",
        "string.find(string.rep('a', 60), string.rep('a*', 12) .. 'b')",
        "string.find(string.rep('a', 1000000), string.rep('a', 500000) .. 'b', 1, true)",
        "table.insert({}, -2147483647, 1)",
        "while true do collectgarbage() end",
    ] {
        let got = eval(&mut client, script);
        assert!(got.starts_with(OUT_OF_WORK), "{script}: {got}");
        assert_eq!(eval(&mut client, "return 1"), ":1");
    }
}

#[test]
fn the_same_script_stops_at_the_same_place() {
    let counts = [(); 3].map(|()| {
        let mut client = engine(small()).client();
        let script = "while true do redis.call('INCR', 'n') for i = 1, 10 do local s = 'x' .. i end end";
        assert!(eval(&mut client, script).starts_with(OUT_OF_WORK));
        client.query::<i64, _>(["GET", "n"]).expect("an integer")
    });
    assert!(counts[0] > 10_000, "{counts:?}");
    assert_eq!(counts, [counts[0]; 3]);
}

#[test]
fn a_script_that_runs_too_long_is_stopped_whatever_work_is_left() {
    let mut client = engine(Limits { work: u64::MAX, time_ms: 20, ..Limits::default() }).client();
    let got = eval(&mut client, "while true do end");
    assert!(got.starts_with("-ERR Script stopped: it ran longer than its time limit script: "), "{got}");
}

#[test]
fn another_thread_can_kill_a_script() {
    let engine = engine(Limits { work: u64::MAX, ..Limits::default() });
    let control = engine.script_control();
    let mut client = engine.client();
    let killer = std::thread::spawn(move || {
        while !control.has_written() {
            std::thread::yield_now();
        }
        control.kill();
    });
    let got = eval(
        &mut client,
        "redis.call('SET', 'k', 'v') while true do pcall(function() while true do end end) end",
    );
    killer.join().expect("the killer ends");
    assert!(got.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{got}");
    assert_eq!(client.query::<String, _>(["GET", "k"]).expect("a string"), "v");
    assert_eq!(eval(&mut client, "return 1"), ":1");
}

#[test]
fn memory_is_bounded_and_given_back() {
    let mut client = engine(small()).client();
    for script in [
        "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end",
        "local s = 'x' while true do s = s .. s end",
        "return string.rep('x', 100000000)",
        "return (string.rep('x', 10000000):gsub('x', 'yy'))",
    ] {
        let got = eval(&mut client, script);
        assert!(got.contains("not enough memory"), "{script}: {got}");
        assert_eq!(eval(&mut client, "return #string.rep('x', 2000000)"), ":2000000");
    }
}

/// What one script tries to leave behind, and what the next one must see.
const CHANNELS: [(&str, &str, &str); 37] = [
    ("x = 1", "return rawget(_G, 'x')", "nil"),
    ("rawset(_G, 'x', 1)", "return rawget(_G, 'x')", "nil"),
    ("_G.x = 1", "return rawget(_G, 'x')", "nil"),
    ("getmetatable(_G).__index = nil", "return pcall(function() return nope end) and 1 or 0", ":0"),
    ("getmetatable(_G).__newindex = nil", "return pcall(function() y = 1 end) and 1 or 0", ":0"),
    ("setmetatable(_G, nil)", "return pcall(function() return nope end) and 1 or 0", ":0"),
    ("string.format = nil", "return string.format('%d', 5)", "\"5\""),
    ("rawset(string, 'format', nil)", "return string.format('%d', 5)", "\"5\""),
    ("table.insert(string, 1)", "return #string", ":0"),
    ("redis.call = function() return 9 end", "return redis.call('ECHO', 'e')", "\"e\""),
    ("for k in pairs(redis) do redis[k] = nil end", "return redis.sha1hex('') and 1", ":1"),
    ("setmetatable(redis, {__index = function() return 9 end})", "return tostring(redis.nope)", "\"nil\""),
    ("getmetatable('').__index = function() return 9 end", "return ('x'):upper()", "\"X\""),
    (
        "getmetatable('').__add = function() return 9 end",
        "return pcall(function() return 'a' + 1 end) and 1 or 0",
        ":0",
    ),
    ("KEYS = 1", "return #KEYS", ":0"),
    ("redis.setresp(3)", "return {redis.call('GET', 'no'), true}", "[nil, :1]"),
    ("math.randomseed(7) math.random()", "return math.random(1, 1000000)", ":396465"),
    (
        "collectgarbage('stop') collectgarbage('setpause', 1)",
        "return collectgarbage('setpause', 200)",
        ":200",
    ),
    ("coroutine.wrap(function() x = 1 end)", "return rawget(_G, 'x')", "nil"),
    ("loadstring('x = 1')()", "return rawget(_G, 'x')", "nil"),
    ("redis.call('SELECT', 3)", "redis.call('SET', 'here', 1) return 1", ":1"),
    ("error(setmetatable({}, {__newindex = function() x = 1 end}))", "return rawget(_G, 'x')", "nil"),
    ("cjson.encode_max_depth(1)", "return cjson.encode({{1}})", "\"[[1]]\""),
    ("cjson.decode_max_depth(1) error('x')", "return cjson.decode('[[1]]')", "[[:1]]"),
    ("cjson.encode_number_precision(3)", "return cjson.encode(1.23456)", "\"1.23456\""),
    ("cjson.encode_invalid_numbers('null')", "return pcall(cjson.encode, 0/0) and 1 or 0", ":0"),
    ("cjson.decode_invalid_numbers(false)", "return cjson.decode('0x10')", ":16"),
    ("cjson.encode_sparse_array(true)", "return pcall(cjson.encode, {[99] = 1}) and 1 or 0", ":0"),
    ("cjson.encode_sparse_array(false, 1, 1)", "return cjson.encode({[3] = 1})", "\"[null,null,1]\""),
    ("cjson.encode_keep_buffer(false)", "return tostring(cjson.encode_keep_buffer())", "\"true\""),
    ("cjson.new().encode_max_depth(1)", "return cjson.encode({{1}})", "\"[[1]]\""),
    ("cjson.encode = nil", "return cjson.encode(1)", "\"1\""),
    ("rawset(cjson, 'encode', nil)", "return cjson.encode(1)", "\"1\""),
    ("bit.band = nil", "return bit.band(3, 5)", ":1"),
    ("setmetatable(struct, {__index = function() return 9 end})", "return tostring(struct.nope)", "\"nil\""),
    ("cjson.decode('[]').x = 1 cjson.null = 1", "return tostring(cjson.null)", "\"userdata: (nil)\""),
    ("cjson.new().encode = 1", "return type(cjson.new().encode)", "\"function\""),
];

#[test]
fn nothing_leaks_from_one_script_to_the_next() {
    for (leave, look, expected) in CHANNELS {
        let mut client = Engine::new().client();
        eval(&mut client, leave);
        assert_eq!(eval(&mut client, look), expected, "after {leave}");
        // In a script that writes to tables, which sees proxies, as in one that does not.
        let guarded = format!("local t = {{}} t.x = 1 {look}");
        let mut client = Engine::new().client();
        eval(&mut client, &format!("local t = {{}} t.x = 1 {leave}"));
        assert_eq!(eval(&mut client, &guarded), expected, "after {leave}, with a table");
    }
}

#[test]
fn errors_that_carry_nothing_have_a_text() {
    let mut client = Engine::new().client();
    let tail = "script: ";
    for (script, text) in [
        ("error({})", "-ERR unknown error "),
        ("error({err = {}})", "-ERR unknown error "),
        ("error({err = 1})", "-1 "),
        ("error(nil)", "-ERR nil "),
        ("local e = {} e.e = e error(e)", "-ERR unknown error "),
        ("error(setmetatable({}, {__tostring = function() while true do end end}))", "-ERR unknown error "),
        ("error('X\\r\\n+INJECTED')", "-ERR user_script:1: X  +INJECTED "),
    ] {
        let got = eval(&mut client, script);
        assert!(got.starts_with(&format!("{text}{tail}")), "{script}: {got}");
    }
}

#[test]
fn script_debug_can_only_be_turned_off() {
    let mut client = Engine::new().client();
    assert_eq!(format!("{:?}", client.call(["SCRIPT", "DEBUG", "no"]).expect("off")), "+OK");
    for mode in ["yes", "SYNC"] {
        let error = client.call(["SCRIPT", "DEBUG", mode]).expect_err("no debugger");
        assert_eq!(error.to_string(), "ERR SCRIPT DEBUG is not supported: there is no script debugger");
    }
}

#[test]
fn bytecode_is_never_loaded() {
    let mut client = Engine::new().client();
    let refused = "\"[string \\\"\\x1bLuaQ\\\"]:1: unexpected symbol near 'char(27)'\"";
    let dump = "string.dump(function() return 42 end)";
    assert_eq!(eval(&mut client, &format!("return select(2, loadstring({dump}))")), refused);
    let reader = format!(
        "local d = {dump} local f = function() local r = d d = nil return r end return select(2, load(f))"
    );
    assert_eq!(eval(&mut client, &reader), "\"(load):1: unexpected symbol near 'char(27)'\"");
    let got = eval(&mut client, "\u{1b}Lua");
    assert_eq!(
        got,
        "-ERR Error compiling script (new function): user_script:1: unexpected symbol near 'char(27)'"
    );
}

#[test]
fn a_source_is_bounded_wherever_it_comes_from() {
    let mut client = engine(Limits { source: 1000, ..Limits::default() }).client();
    let long = format!("return 1 --{}", "x".repeat(1000));
    let text = "-ERR Error compiling script (new function): script source too long";
    assert_eq!(eval(&mut client, &long), text);
    let message = "\"script source too long\"";
    assert_eq!(eval(&mut client, "return select(2, loadstring(string.rep(' ', 1001)))"), message);
    let reader =
        "return select(2, pcall(function() return {select(2, load(function() return ' ' end))} end))[1]";
    assert_eq!(eval(&mut client, reader), "\"user_script:1: script source too long\"");
}

/// What the host registers is there for scripts by its name, takes and gives any value, and cannot enter the engine.
#[test]
fn functions_of_the_host_run_inside_scripts() {
    let slot: Arc<Mutex<Option<Engine>>> = Arc::default();
    let inside = slot.clone();
    let engine = Engine::builder()
        .function("echo", |arguments, answer| {
            answer.append(arguments);
            Ok(())
        })
        .and_then(|builder| {
            builder.function("enter", move |_, answer| {
                let engine = inside.lock().map_err(|error| error.to_string())?.clone();
                let refused =
                    engine.is_some_and(|engine| engine.try_client().is_err_and(|error| error.is_reentered()));
                answer.boolean(refused);
                Ok(())
            })
        })
        .expect("free names")
        .build();
    *slot.lock().expect("no panic") = Some(engine.clone());
    let mut client = engine.client();
    let echoed =
        client.call(["EVAL", "return echo('a', 1, {2, {3}}, nil, true, {ok='fine'})", "0"]).expect("runs");
    assert_eq!(format!("{echoed:?}"), r#"["a", :1, [:2, [:3]], nil, :1, +fine]"#);
    assert_eq!(client.query::<i64, _>(["EVAL", "return enter()", "0"]), Ok(1));
    assert!(Engine::builder().function("redis", |_, _| Ok(())).is_err_and(|error| error.is_usage()));
    let seen = client.call(["EVAL", "return pcall(function() echo = 1 end)", "0"]).expect("runs");
    assert_eq!(format!("{seen:?}"), "nil");
    *slot.lock().expect("no panic") = None;
}

/// What the host answers becomes a Lua value in the version that the script chose, as what a command answers.
#[test]
fn answers_of_the_host_follow_setresp() {
    let mut client = Engine::builder()
        .function("pair", |_, answer| {
            answer.map(1);
            answer.bulk(b"a");
            answer.double(1.5);
            Ok(())
        })
        .expect("a free name")
        .build()
        .client();
    assert_eq!(eval(&mut client, "return pair()"), r#"["a", "1.5"]"#);
    assert_eq!(eval(&mut client, "redis.setresp(3) return tostring(pair().map.a.double)"), r#""1.5""#);
}

/// However deep a value of the host is nested, a script gets it or an error.
#[test]
fn a_deep_answer_of_the_host_is_an_error() {
    for (depth, expected) in [
        (200, ":1"),
        (
            100_000,
            "-ERR reply is nested too deep script: c7cafac600b479593dc8153b1d2134b0667fa1cd, on @user_script:1.",
        ),
    ] {
        let mut client = Engine::builder()
            .function("deep", move |_, answer| {
                (0..depth).for_each(|_| answer.array(1));
                answer.int(1);
                Ok(())
            })
            .expect("a free name")
            .build()
            .client();
        let script = "local t = deep() while type(t) == 'table' do t = t[1] end return t";
        let mut reply = Reply::new();
        client.call_into(["EVAL", script, "0"], &mut reply).expect("the engine runs");
        assert_eq!(format!("{reply:?}"), expected);
    }
}

/// SCRIPT KILL of another client acts while a script runs; not after the script has written.
#[test]
fn script_kill_of_another_thread_stops_a_script_that_has_not_written() {
    let engine = engine(Limits { work: u64::MAX, time_ms: 120_000, ..Limits::default() });
    let control = engine.script_control();
    let mut killer = engine.client();
    assert_eq!(
        killer.call(["SCRIPT", "KILL"]).unwrap_err().to_string(),
        "NOTBUSY No scripts in execution right now."
    );
    let script = "local f=function() while true do redis.call('PING') end end while true do pcall(f) end";
    let run = |script: &'static str| {
        let mut client = engine.client();
        std::thread::spawn(move || eval(&mut client, script))
    };
    let running = run(script);
    while !control.is_running() {
        std::thread::yield_now();
    }
    assert_eq!(killer.query::<String, _>(["script", "kill"]), Ok("OK".into()));
    let killed = running.join().expect("no panic");
    assert!(killed.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{killed}");
    let running = run("redis.call('SET','w','1') while redis.call('INCR','n') < 300000 do end return 1");
    while !control.has_written() {
        std::thread::yield_now();
    }
    let refused = killer.call(["SCRIPT", "KILL"]).unwrap_err();
    assert!(matches!(refused.code(), Some("UNKILLABLE" | "NOTBUSY")), "{refused}");
    assert_eq!(running.join().expect("no panic"), ":1");
    assert_eq!(killer.query::<i64, _>(["GET", "w"]), Ok(1));
}
