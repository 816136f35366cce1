//! The rules of `moonkeep lint`: each with scripts that break it and scripts that look like it and do not; that nothing
//! is found in scripts that are right; and what any bytes come to.

use crate::boundaries::shipped;
use moonkeep::Contract;
use moonkeep::lint::{Rule, lint};

/// The rules that a script breaks, with their lines.
fn found(script: &str) -> Vec<(usize, &'static str)> {
    let findings = lint(script, None).unwrap_or_else(|error| panic!("{error}\n{script}"));
    findings.iter().map(|finding| (finding.line, finding.rule.name())).collect()
}

fn breaks(rule: Rule, scripts: &[&str]) {
    for script in scripts {
        assert!(
            found(script).iter().any(|(_, name)| *name == rule.name()),
            "{rule}: {script}\n{:?}",
            found(script)
        );
    }
}

fn is_clean(scripts: &[&str]) {
    for script in scripts {
        assert_eq!(found(script), [], "{script}");
    }
}

#[test]
fn keys_that_are_not_in_keys_are_found() {
    breaks(
        Rule::UndeclaredKey,
        &[
            "return redis.call('GET', 'counter')",
            "return redis.call('GET', KEYS[1] .. ':seq')",
            "local k = 'a:' .. ARGV[1] return redis.call('INCR', k)",
            "return redis.call('DEL', string.format('u:%s', ARGV[1]))",
            "return redis.call('HSET', ARGV[1], 'f', 'v')",
            "local call = redis.call return call('SET', 'k', ARGV[1])",
            "return redis.call('MSET', KEYS[1], 1, 'other', 2)",
            "return redis.call('EVAL', 'return 1', 1, 'k')",
            "return redis.call('GET', redis.call('GET', KEYS[1]))",
            "return redis.call('ZUNIONSTORE', KEYS[1], 2, KEYS[2], 'z')",
            "local redis, cmd = redis, 'SET' return redis.call(cmd, 'x', 1)",
            "local n = 2 return redis.call('ZUNIONSTORE', KEYS[1], n, KEYS[2], 'z')",
            "return redis.call('GET', KEYS[1] or 'k')",
            "return redis.call('GET', ARGV[1] and ARGV[1] or KEYS[1])",
        ],
    );
    is_clean(&[
        "return redis.call('GET', KEYS[1])",
        "local k = KEYS[1] return redis.call('SET', k, 'a' .. 'b')",
        "for _, k in ipairs(KEYS) do redis.call('DEL', k) end",
        "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end",
        "local function drop(k) return redis.call('DEL', k) end return drop(KEYS[1])",
        "return redis.call('PUBLISH', 'news', 'text')",
        "return redis.call('MSET', KEYS[1], 'other', KEYS[2], 2)",
        "return redis.call('DEL', unpack(KEYS))",
        "return redis.call('TIME')",
        "return redis.call(ARGV[1], 'k')",
        "local k = KEYS[1] or KEYS[2] return redis.call('GET', k)",
        "return redis.call('GET', ARGV[1] == 'a' and KEYS[1] or KEYS[2])",
        "local cmd = 'SET' if ARGV[1] then cmd = 'TIME' end return redis.call(cmd, 'x', 1)",
    ]);
}

#[test]
fn keys_that_a_command_reaches_by_itself_are_found() {
    for (call, told) in [
        ("'FLUSHALL'", "1:8: undeclared-key: FLUSHALL removes keys that are not in KEYS"),
        ("'flushdb', 'async'", "1:8: undeclared-key: FLUSHDB removes keys that are not in KEYS"),
        ("'SWAPDB', 0, 1", "1:8: undeclared-key: SWAPDB moves keys that are not in KEYS"),
        ("'SCAN', 0, 'MATCH', ARGV[1]", "1:8: undeclared-key: SCAN finds keys that are not in KEYS"),
        ("'RANDOMKEY'", "1:8: undeclared-key: RANDOMKEY finds keys that are not in KEYS"),
        (
            "'SORT', KEYS[1], 'by', 'w_*'",
            "1:42: undeclared-key: SORT with BY reads keys that are not in KEYS",
        ),
        (
            "'SORT_RO', KEYS[1], 'GET', '#', 'GET', ARGV[1] .. '_*'",
            "1:58: undeclared-key: SORT with GET reads keys that are not in KEYS",
        ),
    ] {
        let findings = lint(format!("       redis.call({call})"), None).expect("Lua");
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [format!("{told}; pass them in KEYS, so that a cluster can route the script by them")]
        );
    }
    is_clean(&[
        "return redis.call('SORT', KEYS[1], 'BY', 'nosort', 'GET', '#', 'STORE', KEYS[2])",
        "return redis.call('DBSIZE')",
        "redis.call('SSCAN', KEYS[1], 0) return 1",
    ]);
}

#[test]
fn globals_that_are_not_there_are_found() {
    breaks(
        Rule::Global,
        &[
            "x = 1",
            "function f() end",
            "return os.time()",
            "return undefined",
            "local t = {a = b}",
            "print('x')",
            "redis.call = nil",
            "_G.x = 1",
            "string.trim = function() end",
            "#!lua name=lib\nredis.register_function('f', function() return KEYS[1] end)",
        ],
    );
    is_clean(&[
        "local x = 1 x = 2",
        "local function f() end f()",
        "local t = {} t.a = 1 t['b'] = 2 return t.a",
        "local t = {b = 1} return t.b",
        "return type(KEYS) .. _VERSION .. tostring(bit.band(1, 3))",
        "KEYS[1] = 'a' return redis.call('GET', KEYS[1])",
        "#!lua name=lib\nredis.register_function('f', function(keys, args) return #args end)",
        "local a, b = 1 for i, v in ipairs({}) do a = v b = i end",
        "repeat local done = true until done",
    ]);
}

#[test]
fn places_beyond_the_contract_are_found() {
    let contract = "--!contract c\n--!key k any\n--!argv n bytes\n--!error arity \"a\"\n--!reply any\n";
    breaks(
        Rule::Arity,
        &[
            "return KEYS[0]",
            "return ARGV[1.5]",
            &format!("{contract}return redis.call('GET', KEYS[2])"),
            &format!("{contract}return ARGV[2]"),
            &format!("{contract}local last = 2 return ARGV[last]"),
        ],
    );
    let rest =
        "--!contract c\n--!key k any\n--!argv m token ...(1, 100)\n--!error arity, m \"a\"\n--!reply any\n";
    assert_eq!(found(&format!("{rest}return {{ARGV[1], ARGV[2], ARGV[100], ARGV[101]}}")), [(6, "arity")]);
    let keys = "--!contract c\n--!key a any\n--!key k any ...(0, 3)\n--!error arity \"a\"\n--!reply any\n";
    assert_eq!(found(&format!("{keys}return {{KEYS[1], KEYS[4], KEYS[5]}}")), [(6, "arity")]);
    is_clean(&[&rest.replace("(1, 100)", "").replace("reply any\n", "reply any\nreturn ARGV[999]")]);
    is_clean(&["return ARGV[7]", &format!("{contract}return {{KEYS[1], ARGV[1]}}"), "return KEYS[#KEYS]"]);
    let beside = Contract::parse(contract).expect("a contract");
    let findings = lint("return ARGV[2]", Some(&beside)).expect("Lua");
    assert_eq!(
        findings[0].to_string(),
        "1:8: arity: ARGV[2] is beyond the 1 that the contract declares; declare it with a argv clause, or take another one"
            .replace("a argv", "an argv")
    );
}

#[test]
fn replies_in_an_order_that_nothing_decides_are_found() {
    breaks(
        Rule::Unordered,
        &[
            "return redis.call('SMEMBERS', KEYS[1])",
            "local all = redis.call('HGETALL', KEYS[1]) return all",
            "return {1, redis.call('HKEYS', KEYS[1])}",
            "local t, out = {a = 1}, {} for k in pairs(t) do out[#out + 1] = k end return out",
            "local out = {} for k, v in pairs({a = 1}) do table.insert(out, v) end return cjson.encode(out)",
            "local out = {} for _, m in ipairs(redis.call('SMEMBERS', KEYS[1])) do out[#out + 1] = m end return out",
            "local s = '' for k in pairs({a = 1}) do s = s .. k end return s",
            "return table.concat(redis.call('SINTER', KEYS[1], KEYS[2]), ',')",
        ],
    );
    is_clean(&[
        "local all = redis.call('SMEMBERS', KEYS[1]) table.sort(all) return all",
        "return #redis.call('SMEMBERS', KEYS[1])",
        "local n = 0 for _, v in pairs({1, 2}) do n = n + v end return n",
        "local out = {} for k in pairs({a = 1}) do out[#out + 1] = k end table.sort(out) return out",
        "return redis.call('ZRANGE', KEYS[1], 0, -1)",
        "local out = {} for i, v in ipairs(ARGV) do out[#out + 1] = v end return out",
        "for _, m in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('SREM', KEYS[1], m) end return 1",
        "local function all() return redis.call('SMEMBERS', KEYS[1]) end return #all()",
    ]);
}

#[test]
fn numbers_that_lose_digits_are_found() {
    let large =
        "--!contract c\n--!argv n int(0, 9223372036854775807)\n--!error arity, n \"a\"\n--!reply any\n";
    breaks(
        Rule::Precision,
        &[
            "return 9007199254740993",
            "local t = redis.call('TIME') return t[1] * 1000000000 + t[2]",
            "local t = redis.call('TIME') local us = t[1] * 1000000 + t[2] return us .. '-0'",
            "local t = redis.call('TIME') return tostring(tonumber(t[1]) * 1000000)",
            "local user_id = ARGV[1] return tonumber(user_id)",
            &format!("{large}return tonumber(ARGV[1])"),
        ],
    );
    let small =
        "--!contract c\n--!argv order_id int(0, 1000)\n--!error arity, order_id \"a\"\n--!reply any\n";
    is_clean(&[
        "return 9007199254740992",
        "return 1e300",
        "local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000)",
        "local t = redis.call('TIME') return string.format('%.0f', t[1] * 1000000 + t[2])",
        "return tonumber(ARGV[1])",
        &format!("{small}local order_id = ARGV[1] return tonumber(order_id)"),
        "local width = ARGV[1] return tonumber(width)",
    ]);
}

#[test]
fn replies_compared_with_nil_are_found() {
    breaks(
        Rule::NilReply,
        &[
            "return redis.call('GET', KEYS[1]) == nil",
            "local v = redis.call('HGET', KEYS[1], 'f') if v ~= nil then return v end",
            "local v = redis.call('HMGET', KEYS[1], 'a', 'b') if nil == v[1] then return 0 end",
        ],
    );
    is_clean(&[
        "local v = redis.call('GET', KEYS[1]) if v == false then return 0 end",
        "if ARGV[1] == nil then return 0 end",
        "local v = redis.call('GET', KEYS[1]) v = tonumber(v) if v == nil then return 0 end",
        "redis.setresp(3) return redis.call('GET', KEYS[1]) == nil",
        "local v = redis.call('LRANGE', KEYS[1], 0, -1) if v[1] == nil then return 0 end",
        "local n = tonumber(redis.call('GET', KEYS[1])) return n == nil",
    ]);
}

#[test]
fn texts_that_are_compared_as_numbers_are_found() {
    breaks(
        Rule::NotANumber,
        &[
            "if ARGV[1] > 5 then return 1 end",
            "return ARGV[1] == 0",
            "local limit = ARGV[2] if redis.call('INCR', KEYS[1]) > limit then return 0 end",
            "if redis.call('GET', KEYS[1]) ~= 1 then return 0 end",
            "if (redis.call('GET', KEYS[1]) or '0') < 10 then return 0 end",
            "if ARGV[1] < ARGV[2] then return 0 end",
            "local t = redis.call('TIME') if t[1] > 100 then return 0 end",
            "local a = ARGV[1] return a <= #KEYS",
        ],
    );
    is_clean(&[
        "if tonumber(ARGV[1]) > 5 then return 1 end",
        "return ARGV[1] == '0'",
        "if redis.call('INCR', KEYS[1]) > tonumber(ARGV[1]) then return 0 end",
        "local n = ARGV[1] n = tonumber(n) return n > 5",
        "if redis.call('TTL', KEYS[1]) == -1 then return 0 end",
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end",
        "local all = redis.call('LPOP', KEYS[1], 5) return #all > 3",
        "local t = redis.call('TIME') if t[1] * 1000 > 100 then return 0 end",
    ]);
}

#[test]
fn errors_after_a_write_are_found() {
    breaks(
        Rule::LateError,
        &[
            "redis.call('INCR', KEYS[1]) if #ARGV ~= 1 then return redis.error_reply('ERR no') end",
            "local n = redis.call('INCR', KEYS[1]) if n > 5 then return {err = 'ERR no'} end return n",
            "if ARGV[1] then redis.call('DEL', KEYS[1]) end error('no')",
            "for i = 1, #ARGV do\n  if ARGV[i] == '' then return redis.error_reply('ERR no') end\n  redis.call('RPUSH', KEYS[1], ARGV[i])\nend",
            "local function f() redis.call('DEL', KEYS[1]) error('no') end f()",
        ],
    );
    is_clean(&[
        "if #ARGV ~= 1 then return redis.error_reply('ERR no') end return redis.call('INCR', KEYS[1])",
        "if ARGV[1] then redis.call('DEL', KEYS[1]) return 1 end return redis.error_reply('ERR no')",
        "local n = redis.call('GET', KEYS[1]) if not n then return {err = 'ERR no'} end return n",
        "for i = 1, #ARGV do if ARGV[i] == '' then return redis.error_reply('ERR no') end end redis.call('DEL', KEYS[1])",
        "if ARGV[1] then return redis.call('DEL', KEYS[1]) else return redis.error_reply('ERR no') end",
        "while true do redis.call('INCR', KEYS[1]) break end return 1",
    ]);
}

/// The body of a script in which an error comes in this branch behind this write.
fn branch(write: &str, condition: &str) -> String {
    format!("local r = {write} if {condition} then return redis.error_reply('ERR no') end return 1")
}

#[test]
fn a_write_that_was_answered_to_have_written_nothing_is_none() {
    let nothing = [
        ("redis.pcall('SET', KEYS[1], 1)", "r.err"),
        ("redis.pcall('SET', KEYS[1], 1)", "type(r) == 'table' and r.err"),
        ("redis.pcall('SET', KEYS[1], 1)", "r['err'] ~= nil"),
        ("redis.pcall('SET', KEYS[1], 1)", "not r.ok"),
        ("redis.pcall('INCR', KEYS[1])", "type(r) == 'table'"),
        ("redis.pcall('INCR', KEYS[1])", "type(r) ~= 'number'"),
        ("redis.call('SET', KEYS[1], 1, 'NX')", "not r"),
        ("redis.call('SET', KEYS[1], 1, 'NX')", "r == false"),
        ("redis.call('SETNX', KEYS[1], 1)", "r == 0"),
        ("redis.call('SETNX', KEYS[1], 1)", "r ~= 1"),
        ("redis.call('SETNX', KEYS[1], 1)", "not (r == 1)"),
        ("redis.call('DEL', KEYS[1], KEYS[2])", "r < 1"),
        ("redis.call('DEL', KEYS[1])", "r ~= 1"),
        ("redis.call('SADD', KEYS[1], 'm')", "0 >= r"),
        ("redis.call('HSETNX', KEYS[1], 'f', 1)", "tonumber(r) == 0"),
        ("redis.call('EXPIRE', KEYS[1], 9)", "r == 0 and ARGV[1]"),
        ("redis.call('ZADD', KEYS[1], 'NX', 1, 'm')", "r == 0"),
        ("redis.call('LPOP', KEYS[1])", "not r"),
        ("redis.call('XADD', KEYS[1], 'NOMKSTREAM', '*', 'f', 'v')", "not r"),
    ];
    let written = [
        ("redis.pcall('SET', KEYS[1], 1)", "r.ok"),
        ("redis.call('SET', KEYS[1], 1, 'NX')", "r"),
        ("redis.call('SET', KEYS[1], 1, 'GET')", "not r"),
        ("redis.call('GETSET', KEYS[1], 1)", "not r"),
        ("redis.call('SETNX', KEYS[1], 1)", "r == 1"),
        ("redis.call('SETNX', KEYS[1], 1)", "r == 0 or ARGV[1]"),
        ("redis.call('DEL', KEYS[1], KEYS[2])", "r ~= 1"),
        ("redis.call('ZADD', KEYS[1], 1, 'm')", "r == 0"),
        ("redis.call('DECR', KEYS[1])", "r == 0"),
        ("redis.call('HSET', KEYS[1], 'f', 1)", "r == 0"),
    ];
    nothing.iter().for_each(|(write, condition)| is_clean(&[&branch(write, condition)]));
    for (write, condition) in written {
        assert_eq!(found(&branch(write, condition)), [(1, "late-error")], "{write} {condition}");
    }
    is_clean(&[
        "if redis.call('SETNX', KEYS[1], 1) == 1 then return 1 end error('no')",
        "if redis.call('SETNX', KEYS[1], 1) == 1 then return 1 else return {err = 'ERR no'} end",
        "repeat local n = redis.pcall('RENAMENX', KEYS[1], KEYS[2])\nif type(n) == 'table' then error(n.err) end until n == 1",
    ]);
    // What was written before, or in the round before, stays.
    let before = "redis.call('INCR', KEYS[2])\nif redis.call('SETNX', KEYS[1], 1) == 0 then error('no') end";
    assert_eq!(found(before), [(2, "late-error")]);
    let rounds = "for i = 1, #KEYS do\nif redis.call('SETNX', KEYS[i], 1) == 0 then error('no') end\nend";
    assert_eq!(found(rounds), [(2, "late-error")]);
}

#[test]
fn lost_errors_before_a_write_are_found() {
    breaks(
        Rule::UncheckedError,
        &[
            "redis.pcall('INCR', KEYS[1]) redis.call('DEL', KEYS[2])",
            "if ARGV[1] then redis.pcall('INCR', KEYS[1]) end return redis.call('DEL', KEYS[2])",
            "for i = 1, 2 do redis.call('DEL', KEYS[2]) redis.pcall('INCR', KEYS[1]) end",
            "while true do if ARGV[1] then redis.pcall('INCR', KEYS[1]) break end end redis.call('DEL', KEYS[2])",
        ],
    );
    is_clean(&[
        "if ARGV[1] then\n  redis.pcall('DEL', KEYS[1])\n  return 1\nend\nredis.call('SET', KEYS[1], 1)",
        "if ARGV[1] then redis.pcall('DEL', KEYS[1]) else redis.call('SET', KEYS[1], 1) end",
        "for i = 1, #KEYS do if ARGV[i] then redis.pcall('DEL', KEYS[i]) return 1 end redis.call('INCR', KEYS[i]) end",
        "redis.call('DEL', KEYS[2]) redis.pcall('INCR', KEYS[1])",
        "local r = redis.pcall('INCR', KEYS[1]) if r.err then return 0 end redis.call('DEL', KEYS[2])",
        "redis.pcall('GET', KEYS[1]) return 1",
    ]);
}

#[test]
fn long_chains_of_locals_take_no_time() {
    let chain = |operator: &str, end: &str| {
        let locals: String =
            (1..150).map(|n| format!("local a{n} = a{} {operator} a{}\n", n - 1, n - 1)).collect();
        format!("local a0 = 1\n{locals}return {end}")
    };
    is_clean(&[&chain("+", "a149 .. ''"), &chain("or", "ARGV[1] < a149")]);
}

#[test]
fn a_comment_allows_what_a_rule_finds() {
    let script = "-- lint: allow undeclared-key\nredis.call('GET', 'a')\nredis.call('GET', 'b') -- lint: allow global, undeclared-key\n\
                  redis.call('GET', 'c')\nreturn x -- lint: allow arity";
    assert_eq!(found(script), [(5, "global")]);
    assert_eq!(found("redis.call('GET', 'c')\n\n-- lint: allow undeclared-key"), [(1, "undeclared-key")]);
}

#[test]
fn a_comment_that_allows_what_is_no_rule_is_told() {
    let script = "-- lint: allow undeclard-key\nredis.call('GET', 'a')\nreturn 1";
    assert_eq!(found(script), [(1, "unknown-rule"), (2, "undeclared-key")]);
    let told = lint(script, None).expect("Lua")[0].to_string();
    assert!(told.starts_with("1:1: unknown-rule: \"undeclard-key\" is no rule, so nothing is allowed by it; rules are undeclared-key, "), "{told}");
}

#[test]
fn varargs_belong_to_functions_that_have_them_and_chains_are_long() {
    let error = |text: &str| lint(text, None).expect_err("no Lua").to_string();
    assert_eq!(
        error("local f = function(a)\n  return ...\nend"),
        "2:10: \"...\" stands here in a function that has none"
    );
    assert_eq!(found("local f = function(...)\n  return ...\nend\nlocal g = ...\nreturn f(g)"), []);
    for (sign, count) in [(" or ", 1500), (" .. ", 190), (" + ", 1500)] {
        assert_eq!(found(&format!("local a = 1\nreturn {}", vec!["a"; count].join(sign))), [], "{sign}");
    }
}

#[test]
fn loops_in_loops_take_no_time() {
    let inner = "redis.call('INCR', KEYS[1]) redis.pcall('DEL', KEYS[2])";
    let script = format!("{}{inner}{} error('no')", "while ARGV[1] do ".repeat(190), " end".repeat(190));
    assert_eq!(found(&script), [(1, "unchecked-error"), (1, "late-error")]);
}

#[test]
fn scripts_of_many_names_and_comments_are_read() {
    let lines = (0..20_000)
        .map(|number| format!("local a{number} = {number} -- lint: allow global\nb = a{number}\n"));
    assert_eq!(found(&lines.collect::<String>()), []);
}

#[test]
fn places_are_those_of_the_text() {
    let script = "#!lua flags=no-writes\n--[[ two\nlines ]] local s = [==[\n]]x\n]==] .. \"a\\\n\"\nreturn y";
    assert_eq!(found(script), [(7, "global")]);
    assert_eq!(found("-- a\r\n--[[\r\n]]\rreturn y"), [(4, "global")]);
    let error = |text: &str| lint(text, None).expect_err("no Lua").to_string();
    assert_eq!(error("return 1 +"), "1:11: an expression is expected here, not the end of the script");
    assert_eq!(error("local x = 'a\nb'"), "1:11: the text does not end on its line");
    assert_eq!(error("if x then\n"), "2:1: \"end\" is expected here, not the end of the script");
    assert_eq!(error("x = 1 $"), "1:7: $ is no sign of Lua");
    assert_eq!(error("f"), "1:2: \"=\" is expected here, not the end of the script");
    assert_eq!(error("return 0x"), "1:8: 0x is no number");
    assert_eq!(error(&"(".repeat(5000)), "1:202: more than 200 levels lie in each other");
}

/// What a server's Lua takes the linter takes, and what it refuses the linter refuses.
#[test]
fn the_grammar_is_that_of_the_vm() {
    let mut client = moonkeep::Engine::new().client();
    let pieces = [
        "return",
        "local a = 1",
        "local function f(a, ...) return ... end",
        "f{1, 2; x = 3, ['y'] = 4}",
        "f'a'",
        "a.b.c = 1",
        "a:m(1)",
        "for i = 1, 2 do end",
        "for i = 1, 2, 3, 4 do end",
        "for k, v in f() do break end",
        "goto x",
        "::x::",
        "while a do end",
        "repeat until a",
        "if a then elseif b then else end",
        "do end",
        ";",
        "a = b = c",
        "(a) = 1",
        "a, b = 1",
        "local a, b",
        "return 1, 2;",
        "break",
        "function a.b:c() end",
        "function a:b.c() end",
        "x = not -#a ^ 2",
        "x = a .. b .. c == d",
        "x = 1 .. 2",
        "x = 0x1F + 1e5 + .5 + 3. + 1e",
        "x = [[a]] .. [=[b]=]",
        "x = 0x1p4",
        "x = 1..2",
        "while a do local function f() break end end",
        "repeat break until a",
        "-- x\rx = 1",
        "x = 'a\\\r\nb'",
        "x = [[\r\n]]\r\n",
        "x = 'a\rb'",
        "x = 'a\\065'",
        "x = ...",
        "f()()[1].a{}",
        "f\n()",
        "a.and = 1",
        "local function a.b() end",
        "x = {1, 2,,}",
        "x = {}",
        "x = {,}",
    ];
    let mut taken = 0;
    for one in pieces {
        for other in pieces {
            let script = format!("{one}\n{other}");
            let own = lint(&script, None).is_ok();
            let vm = client.call(["SCRIPT", "LOAD", &script]).is_ok();
            assert_eq!(own, vm, "{script}");
            taken += usize::from(own);
        }
    }
    assert!(taken > 400, "{taken}");
}

#[test]
fn nothing_is_found_in_the_shipped_scripts() {
    for name in ["decrease_stock", "unlock", "renew_lock", "acquire_fenced", "fenced_set"] {
        is_clean(&[&shipped(name)]);
    }
}

/// Scripts as tutorials have them, in their usual style.
#[test]
fn nothing_is_found_in_usual_scripts() {
    is_clean(&[
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end",
        "local quantity = tonumber(ARGV[1])\nif not quantity or quantity < 1 or quantity % 1 ~= 0 then\n  \
         return redis.error_reply('bad quantity')\nend\nlocal raw = redis.call('GET', KEYS[1])\nif not raw then\n  \
         return redis.error_reply('no stock')\nend\nlocal stock = tonumber(raw)\nif stock < quantity then return {0, stock} end\n\
         return {1, redis.call('DECRBY', KEYS[1], quantity)}",
        "local c = redis.call('INCR', KEYS[1])\nif tonumber(c) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end\n\
         return c > tonumber(ARGV[2]) and 0 or 1",
        "local now = tonumber(ARGV[1])\nredis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])\n\
         if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) then\n  redis.call('ZADD', KEYS[1], now, ARGV[4])\n  return 1\nend\nreturn 0",
        "local b = redis.call('HMGET', KEYS[1], 't', 'ts')\nlocal tokens = tonumber(b[1])\nif tokens == nil then tokens = 1 end\n\
         redis.call('HSET', KEYS[1], 't', tokens - 1)\nreturn tostring(tokens)",
    ]);
}

/// Scripts as services run them, with the ways that those end in.
#[test]
fn nothing_is_found_in_scripts_of_production() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lint");
    let mut names: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()).collect();
    names.sort();
    assert_eq!(names.len(), 15);
    for name in names {
        let script = std::fs::read_to_string(&name).expect("a script");
        assert_eq!(found(&script), [], "{}", name.display());
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_command_tells_findings_by_file_for_people_and_programs() {
    use crate::cli::{ScriptFile, moonkeep_reading};
    let bad = ScriptFile::new("lint-bad.lua", "return redis.call('GET', 'k')");
    let good = ScriptFile::new("lint-good.lua", "return redis.call('GET', KEYS[1])");
    let run = |words: &[&str]| moonkeep_reading("return x", &[&["lint"], words].concat());
    let told = format!(
        "{}:1:26: undeclared-key: the key \"k\" stands in the script; pass it in KEYS, so that a cluster can route the script by it\n",
        bad.path()
    );
    assert_eq!(run(&[good.path(), bad.path()]), (told, String::new(), 1));
    assert_eq!(run(&[good.path()]), (String::new(), String::new(), 0));
    let json = "[{\"file\":\"standard input\",\"line\":1,\"column\":8,\"rule\":\"global\",\"what\":\"there is no global \\\"x\\\", \
                the server raises an error\",\"mend\":\"declare it: local x\"}]\n";
    assert_eq!(run(&["--json", "-"]), (json.into(), String::new(), 1));
    let broken = ScriptFile::new("lint-broken.lua", "return +");
    let told = format!("moonkeep: {}:1:8: an expression is expected here, not \"+\"\n", broken.path());
    assert_eq!(run(&[broken.path()]), (String::new(), told, 2));
    let (help, err, status) = run(&["--help"]);
    assert!(Rule::ALL.iter().all(|rule| help.contains(&format!("\n  {rule} "))), "{help}");
    assert_eq!((err.as_str(), status), ("", 0));
    assert_eq!(run(&[]).1, "moonkeep: lint needs the file of a script, see moonkeep lint --help\n");
}
