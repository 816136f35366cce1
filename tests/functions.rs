//! Libraries of functions beyond what `corpus` asks of them: what stays between calls and what does not, what stops
//! them, what another thread sees and does while one runs, and their dumps exchanged with the reference server.

use crate::support::server::{Server, server_or_skip};
use crate::support::target::{MAIN, Target};
use moonkeep::util::rng::Rng;
use moonkeep::{Client, Engine, Limits, Reply};

fn call(client: &mut Client, words: &[&str]) -> String {
    let mut reply = Reply::new();
    client.call_into(words, &mut reply).expect("the engine is free");
    format!("{reply:?}")
}

/// Loads a library `l` of this code, in the place of the one before.
fn load(client: &mut Client, code: &str) -> String {
    call(client, &["FUNCTION", "LOAD", "REPLACE", &format!("#!lua name=l\n{code}")])
}

/// Loads a function `f` with this body and calls it.
fn run(client: &mut Client, body: &str) -> String {
    let code = format!("redis.register_function('f', function(keys, args) {body} end)");
    assert_eq!(load(client, &code), "\"l\"", "{body}");
    call(client, &["FCALL", "f", "0"])
}

const COUNTER: &str = "local n = 0 redis.register_function('count', function() n = n + 1 return n end)";

fn small() -> Limits {
    Limits { work: 5_000_000, memory: 16 << 20, ..Limits::default() }
}

fn small_client() -> Client {
    Engine::builder().script_limits(small()).build().client()
}

#[test]
fn upvalues_live_until_the_library_is_loaded_again() {
    let engine = Engine::new();
    let mut client = engine.client();
    load(&mut client, COUNTER);
    let mut count = || call(&mut client, &["FCALL", "count", "0"]);
    assert_eq!([count(), count()], [":1", ":2"]);
    let snapshot = engine.snapshot().expect("the engine is free");
    assert_eq!(count(), ":3");
    let mut fork = engine.fork().expect("the engine is free").client();
    assert_eq!(call(&mut fork, &["FCALL", "COUNT", "0"]), ":1");
    assert_eq!(count(), ":4");
    engine.restore(&snapshot).expect("a snapshot of its own");
    assert_eq!([count(), count()], [":1", ":2"]);
    assert_eq!(call(&mut fork, &["FCALL", "count", "0"]), ":2");
    engine.reset().expect("the engine is free");
    assert_eq!(count(), ":3");
    let mut later = snapshot.fork().client();
    assert_eq!(call(&mut later, &["FCALL_RO", "count", "0"]), format!("-{ONLY_WRITES}"));
    assert_eq!(call(&mut later, &["FCALL", "count", "0"]), ":1");
}

const ONLY_WRITES: &str = "ERR Can not execute a script with write flag using *_ro command.";

#[test]
fn a_fork_keeps_its_own_libraries() {
    let engine = Engine::new();
    let mut client = engine.client();
    load(&mut client, COUNTER);
    let before = engine.snapshot().expect("the engine is free");
    let mut fork = engine.fork().expect("the engine is free").client();
    assert_eq!(call(&mut fork, &["FUNCTION", "DELETE", "l"]), "+OK");
    assert_eq!(call(&mut fork, &["FCALL", "count", "0"]), "-ERR Function not found");
    assert_eq!(call(&mut client, &["FCALL", "count", "0"]), ":1");
    call(&mut client, &["FUNCTION", "FLUSH"]);
    assert_eq!(call(&mut client, &["FCALL", "count", "0"]), "-ERR Function not found");
    engine.restore(&before).expect("a snapshot of its own");
    assert_eq!(call(&mut client, &["FCALL", "count", "0"]), ":1");
}

#[test]
fn libraries_are_part_of_the_state_and_of_the_journal() {
    let (source, target) = (Engine::new(), Engine::new());
    let journal = source.subscribe_journal().expect("the engine is free");
    let mut client = source.client();
    let empty = source.state_hash();
    let none = source.snapshot().expect("the engine is free");
    load(&mut client, COUNTER);
    let one = source.state_hash();
    assert_ne!(one, empty);
    let kept = source.snapshot().expect("the engine is free");
    assert!(!kept.same_data(&none) && kept.same_data(&kept.clone()));
    assert_eq!(Ok(kept.state_hash()), one);
    let dump = client.query::<Vec<u8>, _>(["FUNCTION", "DUMP"]).expect("a dump");
    call(&mut client, &["FUNCTION", "FLUSH"]);
    assert_eq!(source.state_hash(), empty);
    client.call([&b"FUNCTION"[..], b"RESTORE", &dump]).expect("a dump of its own");
    call(&mut client, &["FLUSHALL"]);
    assert_eq!(source.state_hash(), one);
    target.replay(&journal.take().expect("the engine is free")).expect("a journal that replays");
    assert_eq!(target.state_hash(), one);
    assert_eq!(call(&mut target.client(), &["FCALL", "count", "0"]), ":1");
}

/// What a function tries to leave behind, and what a script and another function must see.
const CHANNELS: [(&str, &str, &str); 22] = [
    ("x = 1", "return rawget(_G, 'x')", "nil"),
    ("_G.x = 1", "return rawget(_G, 'x')", "nil"),
    ("rawset(_G, 'x', 1)", "return rawget(_G, 'x')", "nil"),
    ("getmetatable(_G).__index = nil", "return pcall(function() return nope end) and 1 or 0", ":0"),
    ("setmetatable(_G, nil)", "return pcall(function() return nope end) and 1 or 0", ":0"),
    ("string.format = nil", "return string.format('%d', 5)", "\"5\""),
    ("rawset(string, 'format', nil)", "return string.format('%d', 5)", "\"5\""),
    ("table.insert(string, 1)", "return #string", ":0"),
    ("redis.call = function() return 9 end", "return redis.call('ECHO', 'e')", "\"e\""),
    ("for k in pairs(redis) do redis[k] = nil end", "return redis.sha1hex('') and 1", ":1"),
    ("r.log = nil r.y = 1", "return type(redis.log)", "\"function\""),
    ("for k in pairs(r) do rawset(r, k, nil) end", "return type(redis.log)", "\"function\""),
    ("setmetatable(r, {}) getmetatable(r).__index = nil", "return type(redis.log)", "\"function\""),
    ("getmetatable('').__index = function() return 9 end", "return ('x'):upper()", "\"X\""),
    ("redis.setresp(3)", "return {redis.call('GET', 'no'), true}", "[nil, :1]"),
    ("math.randomseed(7) math.random()", "return math.random(1, 1000000)", ":396465"),
    ("collectgarbage('setpause', 1)", "return collectgarbage('setpause', 200)", ":200"),
    ("loadstring('x = 1')()", "return rawget(_G, 'x')", "nil"),
    ("coroutine.wrap(function() x = 1 end)()", "return rawget(_G, 'x')", "nil"),
    ("redis.call('SELECT', 3)", "redis.call('SET', 'here', 1) return 1", ":1"),
    ("keys.x = 1 args[9] = 2 setmetatable(keys, {__len = 1})", "return rawget(_G, 'keys')", "nil"),
    ("cjson.encode_number_precision(3)", "return cjson.encode(1.23456)", "\"1.23456\""),
];

#[test]
fn nothing_but_upvalues_leaks_from_one_function() {
    for (leave, look, expected) in CHANNELS {
        // Libraries that write to tables or globals get another environment than those that do not.
        for guard in ["", "local t = {} t.x = 1", "if r == 1 then y = 1 end"] {
            let mut client = Engine::new().client();
            load(
                &mut client,
                &format!(
                    "local r = redis redis.register_function('g', function(keys, args) {guard} {leave} end)"
                ),
            );
            call(&mut client, &["FCALL", "g", "0"]);
            assert_eq!(call(&mut client, &["EVAL", look, "0"]), expected, "a script after {leave}");
            let other = format!(
                "#!lua name=o\nlocal r redis.register_function('o', function(keys, args) {guard} {look} end)"
            );
            let mut client = Engine::new().client();
            assert_eq!(call(&mut client, &["FUNCTION", "LOAD", &other]), "\"o\"");
            load(
                &mut client,
                &format!("local r = redis redis.register_function('g', function(keys, args) {leave} end)"),
            );
            call(&mut client, &["FCALL", "g", "0"]);
            assert_eq!(
                call(&mut client, &["FCALL", "o", "0"]),
                expected,
                "a function after {leave}, {guard}"
            );
        }
    }
}

#[test]
fn no_function_and_no_library_outlives_its_work_budget() {
    let mut client = small_client();
    for body in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do redis.pcall('nope') end",
        "string.find(string.rep('a', 60), string.rep('a*', 12) .. 'b')",
    ] {
        let got = run(&mut client, body);
        assert!(got.starts_with("-ERR Script stopped: it used up its work budget script: f, on "), "{got}");
        assert_eq!(run(&mut client, "return 1"), ":1");
        assert_eq!(call(&mut client, &["EVAL", "return 1", "0"]), ":1");
    }
    let timeout = "-ERR Error registering functions: ERR FUNCTION LOAD timeout";
    for code in [
        "while true do end",
        "local function f() return f() end f()",
        "for i = 1, 1e9 do redis.register_function('f' .. i, redis.log) end",
        "local s = ('x'):rep(1e6) while true do s:find('y') end",
    ] {
        assert_eq!(load(&mut client, code), timeout, "{code}");
        assert_eq!(run(&mut client, "return 1"), ":1");
    }
    // Where nothing bounds scripts, libraries are bounded still.
    let limits = Limits { work: u64::MAX, time_ms: u64::MAX, ..Limits::default() };
    let mut client = Engine::builder().script_limits(limits).build().client();
    assert_eq!(load(&mut client, "while true do end"), timeout);
}

#[test]
fn memory_is_bounded_and_a_library_that_hoards_it_is_loaded_anew() {
    let mut client = small_client();
    let full = "-ERR Error registering functions: ERR not enough memory";
    assert_eq!(load(&mut client, "local t, n = {}, 1 while true do t[n] = {} n = n + 1 end"), full);
    let got = run(&mut client, "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end");
    assert_eq!(got, "-ERR Error running script f, not enough memory");
    load(
        &mut client,
        "local kept, n = {}, 0 redis.register_function('keep', function(keys, args) n = n + 1 \
         kept[n] = string.rep('x', 1000000) .. n return n end)",
    );
    let counts: Vec<String> = (0..20).map(|_| call(&mut client, &["FCALL", "keep", "0"])).collect();
    let again = counts.iter().skip(1).position(|count| count == ":1").expect("it is loaded again") + 1;
    assert!((7..12).contains(&again), "{counts:?}");
    assert_eq!(counts[again * 2 - 1], format!(":{again}"), "{counts:?}");
    assert_eq!(run(&mut client, "return #string.rep('x', 2000000)"), ":2000000");
}

#[test]
fn libraries_that_come_and_go_do_not_pile_up() {
    let mut client = small_client();
    for round in 0..3000 {
        let big = format!("local s = ('x'):rep(20000) .. {round}");
        load(&mut client, &format!("{big} redis.register_function('f', function() return #s end)"));
        if round % 3 == 0 {
            assert_eq!(load(&mut client, &format!("{big} nope()")).get(..15), Some("-ERR Error regi"));
        }
        assert!(call(&mut client, &["FCALL", "f", "0"]).starts_with(":2000"), "{round}");
    }
}

#[test]
fn a_source_is_bounded_in_libraries_too() {
    let limits = Limits { source: 1000, ..Limits::default() };
    let mut client = Engine::builder().script_limits(limits).build().client();
    let got = load(&mut client, &" ".repeat(1000));
    assert_eq!(got, "-ERR Error compiling function: script source too long");
    assert_eq!(
        load(&mut client, "\x1bLua"),
        "-ERR Error compiling function: user_function:2: unexpected symbol near 'char(27)'"
    );
}

#[test]
fn functions_whose_names_differ_by_case_are_one_function() {
    // On the server it is chance which one is called, and deleting the library ends the process.
    let mut client = Engine::new().client();
    let code = "redis.register_function('f', function() return 1 end) \
                redis.register_function('F', function() return 2 end)";
    assert_eq!(load(&mut client, code), "\"l\"");
    assert_eq!(call(&mut client, &["FCALL", "F", "0"]), ":1");
    assert!(call(&mut client, &["FUNCTION", "STATS"]).contains("\"functions_count\"=>:2"));
    assert_eq!(call(&mut client, &["FUNCTION", "DELETE", "l"]), "+OK");
    assert_eq!(call(&mut client, &["FCALL", "f", "0"]), "-ERR Function not found");
}

#[test]
fn a_line_break_in_metadata_does_not_split_the_reply() {
    let mut client = Engine::new().client();
    let mut reply = Reply::new();
    client
        .call_into(["FUNCTION", "LOAD", "#!lua name=l \"bad=a\\r\\nb\"\n"], &mut reply)
        .expect("the engine is free");
    let mut bytes = Vec::new();
    moonkeep::reply::resp::encode(&reply, moonkeep::reply::Resp::V2, &mut bytes);
    assert_eq!(String::from_utf8_lossy(&bytes), "-ERR Invalid metadata value given: bad=a  b\r\n");
}

#[test]
fn libraries_are_listed_by_name_and_functions_as_registered() {
    let mut client = Engine::new().client();
    for name in ["b", "c", "a"] {
        let code = format!(
            "#!lua name={name}\nredis.register_function('{name}2', redis.log) redis.register_function('{name}1', redis.log)"
        );
        call(&mut client, &["FUNCTION", "LOAD", &code]);
    }
    let list = call(&mut client, &["FUNCTION", "LIST"]);
    let places = ["\"a2\"", "\"a1\"", "\"b2\"", "\"b1\"", "\"c2\"", "\"c1\""].map(|name| list.find(name));
    assert!(places.is_sorted() && places[0].is_some(), "{list}");
}

/// What others can ask while a function runs, from another thread.
#[test]
fn other_threads_see_and_kill_a_function_that_has_not_written() {
    let engine = Engine::builder()
        .script_limits(Limits { work: u64::MAX, time_ms: 120_000, ..Limits::default() })
        .build();
    let control = engine.script_control();
    let (mut runner, mut other) = (engine.client(), engine.client());
    load(
        &mut runner,
        "redis.register_function('Spin', function(keys, args) if args[1] then redis.call('SET', 'k', 1) end \
         while true do pcall(function() while true do end end) end end)",
    );
    assert_eq!(call(&mut other, &["FUNCTION", "KILL"]), "-NOTBUSY No scripts in execution right now.");
    let spin = std::thread::spawn(move || {
        let got = call(&mut runner, &["fcall", "spin", "1", "a b"]);
        (got, runner)
    });
    while !control.is_running() {
        std::thread::yield_now();
    }
    // One that has just begun is not told of yet: until then the question waits for the lock, which is not free.
    let shown = loop {
        if let Some(shown) = control.is_told().then(|| call(&mut other, &["FUNCTION", "STATS"])) {
            break shown;
        }
        std::thread::yield_now();
    };
    let (before, after) = shown.split_once("\"duration_ms\"=>:").expect("it runs");
    assert_eq!(
        before,
        "%{\"running_script\"=>%{\"name\"=>\"Spin\", \"command\"=>[\"fcall\", \"spin\", \"1\", \"a b\"], "
    );
    let (_, after) = after.split_once('}').expect("a map");
    assert_eq!(after, ", \"engines\"=>%{\"LUA\"=>%{\"libraries_count\"=>:1, \"functions_count\"=>:1}}}");
    let busy = "-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
    assert_eq!(call(&mut other, &["SCRIPT", "KILL"]), busy);
    assert_eq!(call(&mut other, &["FUNCTION", "KILL"]), "+OK");
    let (got, mut runner) = spin.join().expect("the function is stopped");
    assert!(got.starts_with("-ERR Script killed by user with SCRIPT KILL... script: Spin, on "), "{got}");
    assert!(call(&mut other, &["FUNCTION", "STATS"]).starts_with("%{\"running_script\"=>nil"));
    let spin = std::thread::spawn(move || call(&mut runner, &["FCALL", "Spin", "0", "write"]));
    while !control.has_written() {
        std::thread::yield_now();
    }
    assert!(call(&mut other, &["FUNCTION", "KILL"]).starts_with("-UNKILLABLE "));
    assert!(call(&mut other, &["SCRIPT", "KILL"]).starts_with("-UNKILLABLE "));
    control.kill();
    assert!(spin.join().expect("the function is stopped").starts_with("-ERR Script killed by user"));
}

#[test]
fn a_script_is_no_function_to_other_threads() {
    let engine = Engine::builder()
        .script_limits(Limits { work: u64::MAX, time_ms: 120_000, ..Limits::default() })
        .build();
    let control = engine.script_control();
    let (mut runner, mut other) = (engine.client(), engine.client());
    let spin = std::thread::spawn(move || call(&mut runner, &["EVAL", "while true do end", "0"]));
    while !control.is_running() {
        std::thread::yield_now();
    }
    let busy = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    assert_eq!(call(&mut other, &["FUNCTION", "STATS"]), busy);
    assert_eq!(call(&mut other, &["FUNCTION", "KILL"]), busy);
    assert_eq!(call(&mut other, &["SCRIPT", "KILL"]), "+OK");
    assert!(spin.join().expect("the script is stopped").starts_with("-ERR Script killed by user"));
}

fn words(words: &[&[u8]]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.to_vec()).collect()
}

/// A library whose code has a comment of random text, compressible or not.
fn library(rng: &mut Rng, name: &str) -> Vec<u8> {
    let mut code =
        format!("#!lua name={name}\nredis.register_function('{name}', function() return '{name}' end) --");
    let letters = 1 + rng.below(26);
    for _ in 0..rng.below(3000) {
        code.push(char::from(b'A' + rng.below(letters) as u8));
        if rng.below(20) == 0 {
            let from = rng.below(code.len() as u64) as usize;
            let again = code[from..].chars().filter(|&letter| letter != '\n').take(rng.below(400) as usize);
            code.push_str(&again.collect::<String>());
        }
    }
    code.into_bytes()
}

#[test]
fn dumps_are_those_of_the_server() {
    let Some(mut server) = server_or_skip("dumps_are_those_of_the_server") else { return };
    let mut ask = |words: &[&[u8]]| -> Vec<u8> {
        let reply = server.call(MAIN, &self::words(words));
        reply.bytes().map_or_else(|| reply.to_string().into_bytes(), <[u8]>::to_vec)
    };
    let mut rng = Rng::new(5);
    for round in 0..200 {
        let code = library(&mut rng, "l");
        let mut client = Engine::new().client();
        client.call([&b"FUNCTION"[..], b"LOAD", &code]).expect("a library");
        ask(&[b"FUNCTION", b"FLUSH"]);
        assert_eq!(ask(&[b"FUNCTION", b"LOAD", &code]), b"l");
        let ours = client.query::<Vec<u8>, _>(["FUNCTION", "DUMP"]).expect("a dump");
        assert_eq!(ask(&[b"FUNCTION", b"DUMP"]), ours, "round {round}: {}", String::from_utf8_lossy(&code));
    }
}

#[test]
fn a_dump_of_the_server_loads_here_and_ours_there() {
    let Some(mut server) = server_or_skip("a_dump_of_the_server_loads_here_and_ours_there") else { return };
    let mut rng = Rng::new(9);
    for _ in 0..20 {
        let names = ["a", "b", "c", "d"];
        let call_all = |server: &mut Server| {
            names.map(|name| server.call(MAIN, &words(&[b"FCALL", name.as_bytes(), b"0"])).to_string())
        };
        server.call(MAIN, &words(&[b"FUNCTION", b"FLUSH"]));
        for name in names {
            server.call(MAIN, &words(&[b"FUNCTION", b"LOAD", &library(&mut rng, name)]));
        }
        let dump = server.call(MAIN, &words(&[b"FUNCTION", b"DUMP"]));
        let mut client = Engine::new().client();
        client
            .call([&b"FUNCTION"[..], b"RESTORE", dump.bytes().expect("a dump"), b"FLUSH"])
            .expect("the server's dump loads");
        assert_eq!(
            names.map(|name| call(&mut client, &["FCALL", name, "0"])),
            names.map(|name| format!("{name:?}"))
        );
        let ours = client.query::<Vec<u8>, _>(["FUNCTION", "DUMP"]).expect("a dump");
        server.call(MAIN, &words(&[b"FUNCTION", b"FLUSH"]));
        let restored = server.call(MAIN, &words(&[b"FUNCTION", b"RESTORE", &ours]));
        assert_eq!(restored.to_string(), "+OK");
        assert_eq!(call_all(&mut server), names.map(|name| format!("{name:?}")));
    }
}
