//! What one script could leave behind for another: each channel is a row, with what uses it, what looks for it, and
//! the name of the engine's state it must not touch. Also what one engine could do to another one in the process.
//! The upvalues of a library's functions are no leak: they are what libraries are for.

use moonkeep::{Client, Engine, Limits, Reply};

/// What a script leaves, and what another one sees in a new engine and must see here.
type Channel = (&'static str, &'static str, &'static str);

const SHOW_LISTS: &str = "local seen = {} \
    for _, list in ipairs({KEYS, ARGV}) do for k, v in pairs(list) do seen[#seen + 1] = tostring(k) .. type(v) end \
    seen[#seen + 1] = tostring(getmetatable(list)) seen[#seen + 1] = #list end return seen";

/// Channels of the Lua environment.
const CHANNELS: &[Channel] = &[
    ("a global", "x = 1", "return rawget(_G, 'x')"),
    ("a global by rawset", "rawset(_G, 'x', 1)", "return rawget(_G, 'x')"),
    ("a global by the table of globals", "_G.x = 1", "return rawget(_G, 'x')"),
    ("a global of loaded code", "loadstring('x = 1')()", "return rawget(_G, 'x')"),
    ("a global of a coroutine", "coroutine.wrap(function() x = 1 end)()", "return rawget(_G, 'x')"),
    ("a global by table.insert", "table.insert(_G, 'x')", "return #_G"),
    ("a global that is replaced", "tostring = nil", "return tostring(1)"),
    ("the table of globals", "_G._G = {}", "return _G._G == _G"),
    (
        "the metatable of globals",
        "setmetatable(_G, {__index = function() return 1 end})",
        "return pcall(function() return nope end)",
    ),
    (
        "__index of globals",
        "getmetatable(_G).__index = function() return 1 end",
        "return pcall(function() return nope end)",
    ),
    ("__newindex of globals", "getmetatable(_G).__newindex = nil", "return pcall(function() x = 1 end)"),
    ("a member of string", "string.rep = function() return 'evil' end", "return ('x'):rep(2)"),
    ("a member of string by rawset", "rawset(string, 'rep', nil)", "return ('x'):rep(2)"),
    ("a new member of table", "rawset(table, 'x', 1)", "return table.x"),
    ("an element of math", "table.insert(math, 1)", "return #math"),
    (
        "the metatable of redis",
        "setmetatable(redis, {__index = function() return 1 end})",
        "return tostring(redis.nope)",
    ),
    ("redis.call", "redis.call = function() return 'evil' end", "return redis.call('ECHO', 'e')"),
    ("all of redis", "for k in pairs(redis) do rawset(redis, k, nil) end", "return redis.sha1hex('')"),
    ("a member of cjson", "cjson.encode = nil", "return cjson.encode({1})"),
    ("a member of bit", "rawset(bit, 'band', nil)", "return bit.band(3, 1)"),
    (
        "the metatable of strings",
        "getmetatable('').__index = function() return 'evil' end",
        "return ('x'):upper()",
    ),
    (
        "a metamethod of strings",
        "getmetatable('').__add = function() return 9 end",
        "return pcall(function() return 'a' + 1 end)",
    ),
    ("string methods", "getmetatable('').__index.upper = nil", "return ('x'):upper()"),
    (
        "a metatable of numbers",
        "setmetatable(1, {__index = function() return 1 end})",
        "return pcall(function() return (1).x end)",
    ),
    (
        "a metatable of nil",
        "setmetatable(nil, {__index = function() return 1 end})",
        "return pcall(function() local n return n.x end)",
    ),
    ("a metatable of functions", "getmetatable(pcall).__call = 1", "return tostring(getmetatable(pcall))"),
    ("the depth that cjson encodes", "cjson.encode_max_depth(2)", "return cjson.encode({{{1}}})"),
    ("the depth that cjson decodes", "cjson.decode_max_depth(2)", "return cjson.decode('[[[1]]]')[1][1][1]"),
    (
        "sparse arrays of cjson",
        "cjson.encode_sparse_array(true, 1, 1)",
        "return pcall(cjson.encode, {[1000] = 1})",
    ),
    ("digits of cjson", "cjson.encode_number_precision(3)", "return cjson.encode(1 / 3)"),
    ("invalid numbers of cjson", "cjson.encode_invalid_numbers(true)", "return pcall(cjson.encode, 0 / 0)"),
    ("the seed of the generator", "math.randomseed(7)", "return math.random(1, 1000000)"),
    ("the pause of the collector", "collectgarbage('setpause', 1)", "return collectgarbage('setpause', 200)"),
    (
        "the speed of the collector",
        "collectgarbage('setstepmul', 1)",
        "return collectgarbage('setstepmul', 200)",
    ),
    ("a stopped collector", "collectgarbage('stop')", "for i = 1, 60000 do local t = {{}} end return 1"),
    (
        "memory in use",
        "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(500) .. i end local s = ('y'):rep(100000) .. 'z'",
        "local n = collectgarbage('count') return {tostring(n), gcinfo()}",
    ),
    ("the version of replies", "redis.setresp(3)", "return {redis.call('GET', 'no'), true}"),
    ("where writes go", "redis.set_repl(redis.REPL_NONE)", "redis.call('SET', 'k', 'v') return 1"),
    ("the database", "redis.call('SELECT', 5)", "redis.call('SET', 'here', 1) return redis.call('DBSIZE')"),
    ("elements of KEYS", "KEYS[1] = 'x' KEYS[9] = 'y'", SHOW_LISTS),
    ("fields of ARGV", "ARGV.x = 1 ARGV[-1] = 2 ARGV[0] = 3", SHOW_LISTS),
    ("the metatable of KEYS", "setmetatable(KEYS, {__index = function() return 'evil' end})", SHOW_LISTS),
    (
        "KEYS filled and emptied",
        "for i = 1, 200 do KEYS['k' .. i] = 1 end for i = 2, 200 do KEYS['k' .. i] = nil end",
        SHOW_LISTS,
    ),
    (
        "the order of what KEYS held",
        "for i = 1, 200 do KEYS['k' .. i] = 1 end for k in pairs(KEYS) do KEYS[k] = nil end KEYS[1] = 'x'",
        "for i = 1, 20 do KEYS['k' .. i] = i end local seen = {} for k in pairs(KEYS) do seen[#seen + 1] = k end \
        for k in pairs(seen) do KEYS[k] = nil end return {table.concat(seen), pcall(next, KEYS, 'k150')}",
    ),
    ("a library raised", "error(redis)", "return {tostring(redis.line), tostring(redis.source)}"),
    (
        "the strings' library raised",
        "error(string)",
        "return {tostring(('x').line), tostring(string.source)}",
    ),
    ("the globals raised", "local all = _G error(all)", "return {rawget(_G, 'line'), rawget(_G, 'source')}"),
    (
        "what strings are known",
        "return 'a string that nobody else makes'",
        "local before = collectgarbage('count') \
        local made = ('a string that nobody '):rep(1) .. 'else makes' return tostring(collectgarbage('count') - before)",
    ),
    ("KEYS as a global", "KEYS = {'evil'}", "return #KEYS"),
    ("KEYS by functions alone", "table.insert(KEYS, -7, 'x') table.insert(KEYS, 2, 'y')", SHOW_LISTS),
    (
        "a coroutine left behind",
        "co = coroutine.create(function() while true do coroutine.yield() end end) coroutine.resume(co)",
        "return {tostring(coroutine.running()), rawget(_G, 'co')}",
    ),
    (
        "a coroutine in ARGV",
        "ARGV[1] = coroutine.wrap(function() redis.setresp(3) coroutine.yield() end) ARGV[1]()",
        SHOW_LISTS,
    ),
    (
        "an error table",
        "error(setmetatable({err = 'E x'}, {__index = function() return 'evil' end}))",
        "return {pcall(error, {err = 'E y'})}",
    ),
    (
        "an error in a handler",
        "xpcall(function() error('x') end, function() error('y') end) error()",
        "return {pcall(error, 'z')}",
    ),
    (
        "an error that ends the work",
        "local t = {} while true do t[#t + 1] = #t end",
        "return #('x'):rep(1000000)",
    ),
    (
        "the environment of loaded code",
        "local f = loadstring('y = 1') pcall(f)",
        "return {rawget(_G, 'y'), pcall(loadstring('return y'))}",
    ),
    (
        "the chunk name of loaded code",
        "loadstring('x x', '=user_script')",
        "return select(2, loadstring('x x', 'mine'))",
    ),
    (
        "a script of the same name",
        "f_e0e1f9fabfc9d4800c877a703b823ac0578ff8db = 1",
        "return rawget(_G, 'f_e0e1f9fabfc9d4800c877a703b823ac0578ff8db')",
    ),
    ("an iterator of gmatch", "it = ('abc'):gmatch('.') it()", "return ('abc'):gmatch('.')()"),
    ("the log", "redis.log(3, 'from the first')", "redis.log(3, 'from the second') return 1"),
];

/// With little memory, so that a script that fills it takes no time.
fn engine() -> Engine {
    Engine::builder().script_limits(Limits { memory: 4 << 20, ..Limits::default() }).build()
}

fn eval(client: &mut Client, script: &str, keys: &[&str]) -> String {
    let count = keys.len().to_string();
    let mut words = vec!["EVAL", script, &count];
    words.extend(keys);
    let mut reply = Reply::new();
    client.call_into(&words, &mut reply).expect("the engine is free");
    format!("{reply:?}")
}

/// Scripts are compiled in different ways; each must not leave anything to any.
const FORMS: [&str; 3] = ["", "local t = {} t.x = 1 ", "local t = setmetatable({}, {}) "];

#[test]
fn no_channel_carries_anything_from_one_script_to_the_next() {
    assert!(CHANNELS.len() >= 30);
    for (channel, leave, look) in CHANNELS {
        for form in FORMS {
            for keys in [&[][..], &["a"], &["a", "b", "c"]] {
                let look = format!("{form}{look}");
                let expected = eval(&mut engine().client(), &look, keys);
                let mut client = engine().client();
                eval(&mut client, &format!("{form}{leave}"), &[]);
                assert_eq!(eval(&mut client, &look, keys), expected, "{channel}, {form}");
                eval(&mut client, leave, keys);
                // The keyspace is not a channel of scripts, it is what they share.
                client.call(["FLUSHALL"]).expect("the engine is free");
                let again = eval(&mut client, &look, keys);
                if !look.contains("math.random") {
                    assert_eq!(again, expected, "{channel}, {form}, once more");
                }
            }
        }
    }
}

/// The same leaves and looks, where what leaves is a function or the code of a library: neither scripts nor the
/// functions of other libraries see any of it.
#[test]
fn no_channel_leads_out_of_a_library() {
    for (channel, leave, look) in CHANNELS {
        let mut client = engine().client();
        let mut fresh = engine().client();
        let library = |name: &str, body: &str| {
            format!("#!lua name={name}\nredis.register_function('{name}', function(KEYS, ARGV) {body} end)")
        };
        let load = |client: &mut Client, code: &str| {
            let mut reply = Reply::new();
            client.call_into(["FUNCTION", "LOAD", "REPLACE", code], &mut reply).expect("the engine is free");
        };
        let call = |client: &mut Client, name: &str| {
            let mut reply = Reply::new();
            client.call_into(["FCALL", name, "0"], &mut reply).expect("the engine is free");
            format!("{reply:?}")
        };
        load(&mut client, &library("leaves", leave));
        load(&mut client, &format!("#!lua name=code\n{leave}\nredis.register_function('f', function() end)"));
        call(&mut client, "leaves");
        assert_eq!(eval(&mut client, look, &["a"]), eval(&mut fresh, look, &["a"]), "{channel}, to a script");
        for client in [&mut client, &mut fresh] {
            client.call(["FLUSHALL"]).expect("the engine is free");
            load(client, &library("looks", look));
        }
        let (seen, expected) = (call(&mut client, "looks"), call(&mut fresh, "looks"));
        if !look.contains("math.random") {
            assert_eq!(seen, expected, "{channel}, to a function");
        }
    }
}

/// Two engines share nothing, whatever the script in one does: interleaved, and on two threads at once.
#[test]
fn no_channel_leads_to_another_engine() {
    let (mut one, mut two) = (engine().client(), engine().client());
    for (channel, leave, look) in CHANNELS {
        eval(&mut one, leave, &["a"]);
        let expected = eval(&mut engine().client(), look, &["a"]);
        client_is_new(&mut two);
        let seen = eval(&mut two, look, &["a"]);
        if !look.contains("math.random") {
            assert_eq!(seen, expected, "{channel}");
        }
    }
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut client = engine().client();
                for (_, leave, look) in CHANNELS {
                    eval(&mut client, leave, &["a"]);
                    eval(&mut client, look, &["a"]);
                }
                assert_eq!(client.query::<i64, _>(["EVAL", "return 7", "0"]), Ok(7));
            });
        }
    });
}

fn client_is_new(client: &mut Client) {
    client.call(["FLUSHALL"]).expect("the engine is free");
}

/// What stays with the engine on purpose: the generator runs on, as the server's does.
#[test]
fn the_generator_runs_on_and_a_seed_does_not() {
    let mut client = engine().client();
    let next = "return math.random(1, 1000000)";
    let first: Vec<String> = (0..3).map(|_| eval(&mut client, next, &[])).collect();
    assert_eq!(first, [":396465", ":840486", ":353337"]);
    let mut seeded = engine().client();
    eval(&mut seeded, "math.randomseed(1) math.random()", &[]);
    assert_eq!(eval(&mut seeded, next, &[]), ":396465");
}

/// A script of one session does not see the transaction, the database or the protocol of another one.
#[test]
fn sessions_do_not_meet_in_scripts() {
    let engine = engine();
    let (mut one, mut two) = (engine.client(), engine.client());
    one.call(["HELLO", "3"]).expect("the engine is free");
    one.call(["SELECT", "3"]).expect("the engine is free");
    eval(&mut one, "redis.setresp(3) redis.call('SET', 'k', 'three')", &[]);
    assert_eq!(eval(&mut two, "return {redis.call('GET', 'k'), true}", &[]), "[nil, :1]");
    assert_eq!(eval(&mut one, "return redis.call('GET', 'k')", &[]), "\"three\"");
    one.call(["MULTI"]).expect("the engine is free");
    assert_eq!(eval(&mut two, "return redis.call('DBSIZE')", &[]), ":0");
    one.call(["DISCARD"]).expect("the engine is free");
}
