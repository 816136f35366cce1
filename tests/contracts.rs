//! Contracts of the shipped scripts: what Rust says of a call before Lua runs is what Lua says, on every row of the
//! boundary table and on generated inputs; and a script that does something else is caught.

use crate::boundaries::{rows, shipped};
use moonkeep::{Contract, Engine, Error, Input, Reply, Script, Verdict};
use std::collections::BTreeMap;
use std::time::Duration;

const SCRIPTS: [&str; 3] = ["decrease_stock", "unlock", "renew_lock"];
const START_MS: i64 = 1_704_067_200_000;

/// A script twice: as it is, and held to its contract.
struct Pair {
    engine: Engine,
    client: moonkeep::Client,
    plain: Script,
    checked: Script,
}

impl Pair {
    fn new(source: &str) -> Self {
        let engine = Engine::new();
        let checked = Script::new(source).checked().unwrap_or_else(|error| panic!("{error}"));
        Pair { client: engine.client(), engine, plain: Script::new(source), checked }
    }
    fn prepare(&mut self, input: &Input) {
        self.engine.reset().expect("resets");
        self.engine.set_time(START_MS).expect("a manual clock");
        for command in &input.setup {
            self.client.call(command).expect("the set-up runs");
        }
        self.engine.advance(Duration::from_millis(input.advance_ms)).expect("a manual clock");
    }
    fn run(&mut self, is_checked: bool, input: &Input) -> (Result<(), Error>, Reply, u64) {
        self.prepare(input);
        let script = if is_checked { &self.checked } else { &self.plain };
        let mut reply = Reply::new();
        let run = script.call().keys(&input.keys).args(&input.args).run_into(&mut self.client, &mut reply);
        (run, reply, self.engine.state_hash().expect("a hash"))
    }
    /// Runs an input on both, and says what is not as it should be; else what Rust said of the call, and the reply.
    fn compare(&mut self, input: &Input) -> Result<(Verdict, Reply), String> {
        self.prepare(input);
        let before = self.engine.state_hash().expect("a hash");
        let call = self.checked.call().keys(&input.keys).args(&input.args);
        let verdict = call.verdict(&mut self.client).expect("judged").expect("a contract");
        let (_, plain, after) = self.run(false, input);
        let agreed = match (&verdict, plain.error_message()) {
            (Verdict::Accepted, None) => true,
            (Verdict::Refused(text), Some(error)) => text == error && before == after,
            (Verdict::Raised(code), Some(error)) => error.starts_with(code.as_bytes()) && before == after,
            _ => false,
        };
        if !agreed {
            return Err(format!("the contract says {verdict:?}, the script {plain:?}"));
        }
        let (checked, reply, checked_after) = self.run(true, input);
        checked.map_err(|error| error.to_string())?;
        if (&reply, checked_after) != (&plain, after) {
            return Err(format!("checked it replies {reply:?}, unchecked {plain:?}"));
        }
        Ok((verdict, plain))
    }
}

#[test]
fn rust_and_lua_agree_on_every_row() {
    let mut pairs: BTreeMap<String, Pair> =
        SCRIPTS.iter().map(|name| (name.to_string(), Pair::new(&shipped(name)))).collect();
    let mut problems = Vec::new();
    let rows = rows();
    for row in &rows {
        let pair = pairs.get_mut(&row.script).expect("a shipped script");
        let input = input(row.setup.clone(), row.keys.clone(), row.arguments.clone());
        match pair.compare(&input) {
            Ok((verdict, reply)) => {
                let expected = crate::boundaries::head(&row.reply);
                let refused = matches!(verdict, Verdict::Refused(_));
                let text = |reply: &Reply| {
                    format!("-{}", String::from_utf8_lossy(reply.error_message().unwrap_or_default()))
                };
                if refused && text(&reply) != expected {
                    problems.push(format!("line {}: {} is not {expected}", row.line, text(&reply)));
                }
            }
            Err(problem) => problems.push(format!("line {}: {problem}", row.line)),
        }
    }
    assert_eq!(rows.len(), 145, "rows in the table");
    assert!(problems.is_empty(), "{} rows differ:\n{}", problems.len(), problems.join("\n"));
}

/// An input that is not generated; the clock stands.
fn input(setup: Vec<Vec<Vec<u8>>>, keys: Vec<Vec<u8>>, args: Vec<Vec<u8>>) -> Input {
    let contract = Contract::parse(shipped("unlock")).expect("a contract");
    let mut input = contract.inputs(0).next().expect("endless");
    (input.setup, input.keys, input.args, input.advance_ms) = (setup, keys, args, 0);
    input
}

/// How many generated inputs each script gets; `MOONKEEP_CONTRACT_INPUTS` says otherwise.
fn inputs_each() -> usize {
    let told = std::env::var("MOONKEEP_CONTRACT_INPUTS").ok();
    told.map_or(50_000, |count| count.parse().expect("MOONKEEP_CONTRACT_INPUTS is a number"))
}

/// Every error and every kind of reply must come up in at least one of two hundred inputs.
fn agree_on_generated_inputs(name: &str, outcomes: &[&str]) {
    let mut pair = Pair::new(&shipped(name));
    let contract = pair.checked.contract().expect("a contract").clone();
    let mut reached: BTreeMap<String, usize> = BTreeMap::new();
    for (number, input) in contract.inputs(1).take(inputs_each()).enumerate() {
        let outcome = match pair.compare(&input) {
            Err(problem) => panic!("{name}, input {number}: {problem}\n{input}"),
            Ok((Verdict::Accepted, reply)) => {
                format!("{reply:?}").split(',').next().unwrap_or_default().to_owned()
            }
            Ok((Verdict::Refused(text), _)) => String::from_utf8_lossy(&text).into_owned(),
            Ok((other, _)) => format!("{other:?}"),
        };
        *reached.entry(outcome).or_default() += 1;
    }
    println!("{name}: {} inputs reached {reached:?}", inputs_each());
    assert_eq!(reached.keys().collect::<Vec<_>>(), outcomes);
    assert!(reached.values().all(|&count| count > inputs_each() / 200), "hardly reached: {reached:?}");
}

#[test]
fn rust_and_lua_agree_on_generated_inputs_for_the_stock() {
    let errors = ["Expected one key and one argument", "Quantity must be a positive bounded integer"];
    let others = ["Raised(\"WRONGTYPE\")", "Stock is missing or invalid", "[:0", "[:1"];
    agree_on_generated_inputs("decrease_stock", &[&errors[..], &others].concat());
}

#[test]
fn rust_and_lua_agree_on_generated_inputs_for_unlock() {
    let outcomes = [":0", ":1", "Expected one key and a non-empty owner token", "Raised(\"WRONGTYPE\")"];
    agree_on_generated_inputs("unlock", &outcomes);
}

#[test]
fn rust_and_lua_agree_on_generated_inputs_for_renewal() {
    let replies = [":0", ":1"];
    let errors = ["Expected one key, owner token and TTL", "Invalid TTL", "Raised(\"WRONGTYPE\")"];
    let last = ["TTL must be a positive bounded integer"];
    agree_on_generated_inputs("renew_lock", &[&replies[..], &errors, &last].concat());
}

#[test]
fn rust_and_lua_agree_on_generated_inputs_for_fences() {
    let texts = ["Expected two keys, owner token and TTL", "Fence is invalid or used up", "Invalid TTL"];
    let others = ["Raised(\"WRONGTYPE\")", "TTL must be a positive bounded integer", "[:0", "[:1"];
    agree_on_generated_inputs("acquire_fenced", &[&texts[..], &others].concat());
    let texts = ["Expected two keys, fence and value", "Fence is invalid or used up"];
    let others = ["Fence must be a positive bounded integer", "Raised(\"WRONGTYPE\")", "[:0", "[:1"];
    agree_on_generated_inputs("fenced_set", &[&texts[..], &others].concat());
}

/// A change of a script, and what its contract says of it.
type Mutant = (&'static str, &'static str, &'static str, &'static str);

const MUTANTS: [Mutant; 28] = [
    // The checks of the quantity and the stock.
    ("decrease_stock", "^[1-9]%d*$", "^%d+$", "Refused(\"Quantity must be"),
    ("decrease_stock", "^[1-9]%d*$", "^[1-9]%d*", "Refused("),
    ("decrease_stock", "number <= MOST", "number <= MOST + 1", "Refused("),
    ("decrease_stock", "#text <= 10", "#text <= 9", "is to be accepted"),
    ("decrease_stock", "canonical(ARGV[1], 1)", "canonical(ARGV[1], 0)", "Refused("),
    (
        "decrease_stock",
        "canonical(redis.call(\"GET\", KEYS[1]), 0)",
        "canonical(redis.call(\"GET\", KEYS[1]), 1)",
        "is to be accepted",
    ),
    ("decrease_stock", "Stock is missing or invalid", "Stock is missing", "Refused("),
    // What it compares and does.
    ("decrease_stock", "stock < quantity", "stock <= quantity", "case stock >= quantity"),
    ("decrease_stock", "{0, stock}", "{0}", "replies are"),
    ("decrease_stock", "{0, stock}", "{0, quantity}", "case else"),
    ("decrease_stock", "\"DECRBY\", KEYS[1], quantity)", "\"DECRBY\", KEYS[1], 1)", "case stock >= quantity"),
    ("decrease_stock", "local stock =", "redis.call(\"INCR\", KEYS[1])\nlocal stock =", "stock"),
    (
        "decrease_stock",
        "local stock =",
        "redis.call(\"GET\", \"{k}other\")\nlocal stock =",
        "used {k}other, which is none of its keys",
    ),
    ("decrease_stock", "local stock =", "redis.call(\"SET\", \"{k}other\", 1)\nlocal stock =", "{k}other"),
    (
        "decrease_stock",
        "local stock =",
        "for i = 1, 100 do local _ = i end\nlocal stock =",
        "a run takes up to 100 instructions",
    ),
    // Whose lock it is.
    ("unlock", "redis.call(\"GET\", KEYS[1]) ~= token", "false", "case else"),
    (
        "unlock",
        "redis.call(\"DEL\", KEYS[1])",
        "redis.call(\"PEXPIRE\", KEYS[1], 1)",
        "lock was written, it may be removed only",
    ),
    ("unlock", " or token == \"\"", "", "Refused("),
    // What time it has.
    ("renew_lock", "KEYS[1]) > 0", "KEYS[1]) >= 0", "case else"),
    ("renew_lock", " and redis.call(\"PTTL\", KEYS[1]) > 0", "", "case else"),
    ("renew_lock", "KEYS[1], ttl_ms)", "KEYS[1], ttl_ms + 1)", "case lock == owner and pttl(lock) > 0"),
    ("renew_lock", "ttl_ms > 604800000", "ttl_ms > 604800001", "Refused("),
    // What a fence keeps out.
    ("acquire_fenced", "last == MOST", "last > MOST", "Refused("),
    ("acquire_fenced", "KEYS[1]) > 0", "KEYS[1]) >= 0", "case exists(lock)"),
    ("acquire_fenced", "redis.call(\"INCR\", KEYS[2])}", "last + 1}", "fence should be"),
    ("acquire_fenced", "\"NX\", \"PX\", ttl_ms", "\"NX\", \"PX\", ttl_ms + 1", "lock should expire"),
    ("fenced_set", "fence <= seen", "fence < seen", "case else"),
    ("fenced_set", "redis.call(\"SET\", KEYS[2], ARGV[1])", "", "seen should be"),
];

/// What is said of a script first, on generated inputs.
fn first_breach(name: &str, source: &str) -> Option<String> {
    let mut pair = Pair::new(source);
    let contract = Contract::parse(shipped(name)).expect("a contract");
    contract.inputs(1).take(20_000).find_map(|input| {
        // The whole of it: a call that Rust would refuse runs too.
        let (run, reply, _) = pair.run(true, &input);
        match run {
            Err(error) if error.is_breach() => Some(error.to_string()),
            Err(error) => panic!("{error}"),
            Ok(()) => pair.compare(&input).err().filter(|_| reply.is_error()),
        }
    })
}

#[test]
fn changed_scripts_are_caught() {
    let mut missed = Vec::new();
    for (name, old, new, told) in MUTANTS {
        let source = shipped(name);
        let changed = source.replacen(old, new, 1);
        assert_ne!(changed, source, "{name} has no {old}");
        match first_breach(name, &changed) {
            Some(text) if text.contains(told) => {}
            other => missed.push(format!("{name}: {old} -> {new}: {other:?}")),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_breach_is_an_error_of_its_own_and_the_reply_is_kept() {
    let source = shipped("unlock").replace("redis.call(\"GET\", KEYS[1]) ~= token", "false");
    let script = Script::new(source).checked().expect("a contract");
    let mut client = Engine::new().client();
    client.call(["SET", "lock", "theirs"]).expect("sets");
    let mut reply = Reply::new();
    let error = script.key("lock").arg("mine").run_into(&mut client, &mut reply).expect_err("a breach");
    assert!(error.is_breach() && !error.is_reply());
    let told = "unlock broke its contract: line 15, case else => 0: the reply should be 0, it is 1";
    assert_eq!(error.to_string(), told);
    assert_eq!(reply.get::<i64>().expect("an integer"), 1);
}

#[test]
fn a_checked_call_is_refused_where_its_reply_does_not_come_at_once() {
    let script = Script::new(shipped("unlock")).checked().expect("a contract");
    let mut client = Engine::new().client();
    client.call(["MULTI"]).expect("begins");
    let error = script.key("lock").arg("mine").run::<i64>(&mut client).expect_err("in MULTI");
    assert!(error.is_usage(), "{error}");
    client.call(["DISCARD"]).expect("ends");
    assert_eq!(script.key("lock").arg("mine").run::<i64>(&mut client).expect("runs"), 0);
}

/// Runs a script with a contract once, after a set-up: its reply, or what is said of it.
fn run(contract: &str, source: &str, setup: &[&str]) -> String {
    let script =
        Script::new(format!("{contract}{source}")).checked().unwrap_or_else(|error| panic!("{error}"));
    let mut client = Engine::new().client();
    for command in setup {
        client.call(command.split(' ').collect::<Vec<_>>()).expect("the set-up runs");
    }
    let mut reply = Reply::new();
    match script.key("k").arg("7").run_into(&mut client, &mut reply) {
        Ok(()) => format!("{reply:?}"),
        Err(error) => error.to_string().replace("c broke its contract: ", ""),
    }
}

const HEAD: &str = "--!contract c\n--!argv n int(0, 9)\n--!error arity \"ERR arity\"\n--!error n \"ERR n\"\n";

#[test]
fn effects_on_keys_of_every_kind_are_held_to() {
    let list = format!(
        "{HEAD}--!key k list rw rm\n--!error k.type WRONGTYPE\n--!case len(k) >= 1 => len(k) + 1 ; change k\n--!case else => 0\n"
    );
    let push =
        "if redis.call('LLEN', KEYS[1]) == 0 then return 0 end return redis.call('RPUSH', KEYS[1], ARGV[1])";
    assert_eq!(run(&list, push, &["RPUSH k a"]), ":2");
    assert_eq!(run(&list, push, &[]), ":0");
    assert_eq!(run(&list, push, &["SET k a"]).split(' ').next(), Some("-WRONGTYPE"));
    let always = "return redis.call('RPUSH', KEYS[1], ARGV[1])";
    assert_eq!(run(&list, always, &[]), "line 8, case else => 0: the reply should be 0, it is 1");
    let string = format!(
        "{HEAD}--!key k string rw ttl=dropped\n--!error k.type WRONGTYPE\n--!case else => status \"OK\" ; k = n\n"
    );
    assert_eq!(run(&string, "return redis.call('SET', KEYS[1], ARGV[1])", &["SET k a PX 5000"]), "+OK");
    assert_eq!(
        run(&string, "return redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')", &["SET k a PX 5000"]),
        "line 7, case else => status \"OK\" ; k = n: k should have no expiry (ttl=dropped), it expires 5000 ms from now"
    );
    assert_eq!(
        run(&string, "redis.call('SET', KEYS[1], 8) return redis.status_reply('OK')", &[]),
        "line 7, case else => status \"OK\" ; k = n: k should be \"7\" afterwards, it is \"8\""
    );
    assert_eq!(
        run(&string, "redis.call('DEL', KEYS[1]) return redis.status_reply('OK')", &["SET k a"]),
        "k was removed, it is not declared rm"
    );
    assert_eq!(
        run(&string, "return redis.call('FLUSHALL')", &["SET other a"]),
        "the script wrote other, which is none of its keys"
    );
}

#[test]
fn cases_count_with_integers_of_any_size() {
    let big = format!(
        "{HEAD}--!key k string int(-9223372036854775808, 9223372036854775807) rw\n--!error k \"ERR k\"\n--!error k.type WRONGTYPE\n--!case default(k, 0) * n / 2 % 5 == 1 and not (n < 1 or now < 0) => [default(k, 0) - n, nil, \"x\", any]\n--!case else => any\n"
    );
    let script = "local k = tonumber(redis.call('GET', KEYS[1]) or 0) return {k - ARGV[1], false, 'x', 5}";
    assert_eq!(run(&big, script, &["SET k 9223372036854775807"]), "[:-9223372036854775808, nil, \"x\", :5]");
    assert_eq!(run(&big, script, &["SET k 23"]), "[:16, nil, \"x\", :5]");
    assert_eq!(run(&big, script, &["SET k -23"]), "[:-30, nil, \"x\", :5]");
}
