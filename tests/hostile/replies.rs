//! What scripts return and raise, of every shape: always one reply, never a split one, an abort or a reply without an
//! end. Each is encoded for both protocols and read back.

use super::runner::is_one_reply;
use moonkeep::reply::Resp;
use moonkeep::reply::resp::encode;
use moonkeep::{Engine, Limits, Reply};
use std::time::Duration;

fn eval(script: &str) -> Reply {
    eval_with(Limits::default(), script)
}

fn eval_with(limits: Limits, script: &str) -> Reply {
    let mut reply = Reply::new();
    let engine = Engine::builder().script_limits(limits).build();
    engine.client().call_into(["EVAL", script, "0"], &mut reply).expect("the engine is free");
    if let Err(text) = is_one_reply(&reply) {
        panic!("{script}: {text}");
    }
    reply
}

fn bytes(reply: &Reply) -> String {
    let mut bytes = Vec::new();
    encode(reply, Resp::V2, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What stands between a script and the wire: line ends and NUL in every place that becomes a line.
#[test]
fn line_ends_and_nul_never_split_a_reply() {
    for (script, expected) in [
        ("return {ok = 'A\\r\\n+INJECTED\\r\\n'}", "+A  +INJECTED  \r\n"),
        ("return {ok = 'A\\0B'}", "+A\r\n"),
        ("return redis.status_reply('A\\r\\nB')", "+A  B\r\n"),
        ("return {err = 'CODE a\\r\\n:1\\r\\n'}", "-CODE a  :1\r\n"),
        ("return {err = 'CODE a\\0b'}", "-CODE a\r\n"),
        ("return redis.error_reply('CODE a\\r\\nb')", "-CODE a  b\r\n"),
        ("return redis.error_reply('\\r\\n')", "-ERR \r\n"),
        ("return {double = 1/0}", "$3\r\ninf\r\n"),
        ("return {'a\\r\\nb', {ok = '\\n'}}", "*2\r\n$4\r\na\r\nb\r\n+ \r\n"),
        ("return redis.pcall('GET\\r\\n')", "-ERR Unknown Redis command called from script\r\n"),
    ] {
        assert_eq!(bytes(&eval(script)), expected, "{script}");
    }
    for script in [
        "error('A\\r\\n+INJECTED\\r\\n\\0')",
        "error({err = 'CODE\\r\\n+INJECTED\\0'})",
        "error({err = 'a', source = 'x\\r\\n', line = 'y\\r\\n'})",
        "return loadstring('x\\r\\ny', '@a\\r\\nb')() or 1",
        "redis.call('SET', 'k', 'v', 'X\\r\\nY')",
        "return redis.pcall('OBJECT', 'NO\\r\\n:1\\r\\n', 'k')",
        "redis.setresp(3) return {big_number = '1\\r\\n2'}",
        "redis.setresp(3) return {verbatim_string = {string = 'a\\r\\nb', format = '\\r\\n'}}",
        "redis.setresp(3) return {map = {[{ok = 'a\\r\\n'}] = {err = '\\r\\nb'}}}",
        "local t = {} t['a\\r\\n'].b = 1",
        "return nope['\\r\\n']",
        "error(setmetatable({}, {__tostring = function() return '\\r\\n' end}))",
    ] {
        eval(script);
    }
    let mut reply = Reply::new();
    let mut client = Engine::new().client();
    for words in [
        vec!["NO\r\nSUCH", "a\r\n"],
        vec!["EVAL", "return", "x\r\n"],
        vec!["EVAL", "x\r\ny z", "0"],
        vec!["EVAL", "#!lua\r\nreturn 1", "0"],
        vec!["EVAL", "#!a\rb\nreturn 1", "0"],
        vec!["FCALL", "no\r\n", "0"],
        vec!["FUNCTION", "LOAD", "#!lua name=a\rb\n"],
        vec!["FUNCTION", "LOAD", "#!lua name=a\nerror('\\r\\n+X')"],
        vec!["SCRIPT", "NO\r\n"],
    ] {
        client.call_into(&words, &mut reply).expect("the engine is free");
        assert_eq!(is_one_reply(&reply), Ok(()), "{words:?}");
    }
}

/// Errors of every type, raised, raised again and returned.
#[test]
fn errors_of_any_type_are_error_replies() {
    let values = [
        "nil",
        "true",
        "0/0",
        "-1/0",
        "2^63",
        "'text'",
        "''",
        "'\\0'",
        "('x'):rep(100000)",
        "{}",
        "{1, 2}",
        "{err = nil}",
        "{err = {}}",
        "{err = 1}",
        "{err = true}",
        "{err = 'x', line = {}, source = 1}",
        "{ok = 'x'}",
        "(1 == 1)",
        "function() end",
        "coroutine.create(function() end)",
        "string.rep",
        "redis",
        "_G",
        "KEYS",
        "setmetatable({}, {__index = error})",
        "setmetatable({}, {__tostring = error})",
        "setmetatable({}, {__metatable = false})",
        "redis.pcall('NO')",
        "redis.error_reply('A b')",
    ];
    for value in values {
        for script in [
            format!("error({value})"),
            format!("error({value}, 0)"),
            format!("local ok, e = pcall(error, {value}) error(e)"),
            format!("local ok, e = pcall(error, {value}) error({{err = e}})"),
            format!("xpcall(error, function(e) error({value}) end) error({value})"),
            format!("coroutine.wrap(function() error({value}) end)()"),
            format!("assert(false, {value})"),
        ] {
            let reply = eval(&script);
            assert!(reply.is_error(), "{script}: {reply:?}");
            let text = reply.error_message().expect("an error");
            assert!(text.len() < 200_000 && !text.is_empty(), "{script}");
        }
        eval(&format!("return {value}"));
        eval(&format!("return {{{value}, {{{value}}}}}"));
    }
}

/// Tables that hold themselves, are too deep, or stand in each other so often that there is no end to them.
#[test]
fn cyclic_deep_and_endless_tables_have_a_clear_reply() {
    let limit = "-ERR reached lua stack limit\r\n";
    let cyclic = bytes(&eval("local t = {} t[1] = t return t"));
    assert_eq!(cyclic, "*1\r\n".repeat(256) + limit);
    let nested =
        |depth: usize| bytes(&eval(&format!("local t = 7 for _ = 1, {depth} do t = {{t}} end return t")));
    assert_eq!(nested(256), "*1\r\n".repeat(256) + ":7\r\n");
    assert_eq!(nested(257), "*1\r\n".repeat(256) + limit);
    assert_eq!(nested(100_000), "*1\r\n".repeat(256) + limit);
    let shallow = Limits { nesting: 2, ..Limits::default() };
    assert_eq!(bytes(&eval_with(shallow, "return {{{1}}, 2}")), format!("*2\r\n*1\r\n{limit}:2\r\n"));
    let large = "-ERR Script stopped: what it returns is too large\r\n";
    for script in [
        "local t = {'x'} for _ = 1, 60 do t = {t, t} end return t",
        "local s, t = ('x'):rep(1000000), {} for i = 1, 1000 do t[i] = s end return t",
        "redis.setresp(3) local t = 1 for _ = 1, 60 do t = {map = {a = t, b = t}} end return t",
        "local t = {} for i = 1, 1000 do t[i] = t end return t",
    ] {
        let limits = Limits { reply: 1 << 20, ..Limits::default() };
        assert_eq!(bytes(&eval_with(limits, script)), large, "{script}");
    }
    let exact = Limits { reply: 16 * 11, ..Limits::default() };
    assert_eq!(bytes(&eval_with(exact.clone(), "return {1, 2, 3, 4, 5, 6, 7, 8, 9, 0}")).lines().count(), 11);
    assert_eq!(bytes(&eval_with(exact, "return {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}")), large);
}

/// What a script returns is read by the host on threads of any size.
#[test]
fn the_deepest_reply_is_shown_and_read_on_a_small_stack() {
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let work = || {
        let reply = eval("redis.setresp(3) local t = 7 for i = 1, 256 do t = {t} end return t");
        let maps = eval("redis.setresp(3) local t = 7 for i = 1, 255 do t = {map = {k = t}} end return {t}");
        for reply in [reply, maps] {
            assert!(reply.to_string().len() > 500);
            assert!(format!("{reply:?}").len() > 500 && !reply.to_raw().is_empty());
            assert!(reply == reply.clone());
            let mut copy = Reply::new();
            copy.append(&reply.received(Resp::V2));
            assert!(copy.get::<Vec<i64>>().is_err());
        }
    };
    thread.spawn(work).expect("a thread").join().expect("no panic");
}

#[test]
fn a_call_takes_eight_thousand_words() {
    let fill = "local t = {} for i = 1, 8000 do t[i] = i end ";
    let reply = |script: &str| bytes(&eval(&format!("{fill}{script}")));
    assert_eq!(reply("return redis.call('RPUSH', 'l', unpack(t, 1, 7990))"), ":7990\r\n");
    assert_eq!(
        reply("return redis.call('RPUSH', 'l', unpack(t, 1, 7990)) + #redis.call('LRANGE', 'l', 0, -1)"),
        ":15980\r\n"
    );
    let error = reply("return redis.call('RPUSH', 'l', unpack(t, 1, 8000))");
    assert!(error.starts_with("-ERR user_script:1: too many results to unpack script: "), "{error}");
    let wide = "local function grow(n, ...) if n == 0 then return redis.call('RPUSH', 'l', ...) end \
        return grow(n - 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...) end return grow(2000)";
    assert_eq!(bytes(&eval(wide)), ":20000\r\n");
}

/// A script whose reply has no end is stopped by the clock as well: what is written is paid for.
#[test]
fn writing_a_reply_is_part_of_the_run() {
    let endless = "local t = {'x'} for _ = 1, 60 do t = {t, t} end return t";
    let limits = Limits { reply: usize::MAX, work: 1_000_000, ..Limits::default() };
    let reply = bytes(&eval_with(limits, endless));
    assert_eq!(reply, "-ERR Script stopped: it used up its work budget\r\n");
    let limits = Limits { reply: 1 << 30, work: u64::MAX, time_ms: 20, ..Limits::default() };
    let stopwatch = moonkeep::util::clock::Stopwatch::start();
    let reply = bytes(&eval_with(limits, endless));
    assert_eq!(reply, "-ERR Script stopped: it ran longer than its time limit\r\n");
    assert!(stopwatch.elapsed() < Duration::from_secs(20));
}
