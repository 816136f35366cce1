//! Contracts of the shipped scripts: what Rust says of a call before Lua runs is what Lua says, on every row of the
//! boundary table and on generated inputs; and a script that does something else is caught.

use crate::boundaries::{rows, shipped};
use moonkeep::{
    CheckOptions, Contract, ContractBuilder, Engine, Error, Input, KeyRule, Promised, PromisedReply, Reply,
    Rule, Script, TextRule, Verdict,
};
use std::collections::BTreeMap;

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
        self.engine.advance(input.advance()).expect("a manual clock");
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

/// Whether this is said of a script on one of the generated inputs.
fn is_breached(name: &str, source: &str, told: &str) -> bool {
    let mut pair = Pair::new(source);
    let contract = Contract::parse(shipped(name)).expect("a contract");
    contract.inputs(1).take(20_000).any(|input| {
        // The whole of it: a call that Rust would refuse runs too.
        let (run, reply, _) = pair.run(true, &input);
        let found = match run {
            Err(error) if error.is_breach() => Some(error.to_string()),
            Err(error) => panic!("{error}"),
            Ok(()) => pair.compare(&input).err().filter(|_| reply.is_error()),
        };
        found.is_some_and(|found| found.contains(told))
    })
}

#[test]
fn changed_scripts_are_caught() {
    let mut missed = Vec::new();
    for (name, old, new, told) in MUTANTS {
        let source = shipped(name);
        let changed = source.replacen(old, new, 1);
        assert_ne!(changed, source, "{name} has no {old}");
        if !is_breached(name, &changed, told) {
            missed.push(format!("{name}: {old} -> {new}: {told}"));
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

/// The contract of decrease_stock, in Rust.
fn built() -> ContractBuilder {
    Contract::builder("decrease_stock")
        .key("stock", KeyRule::string(TextRule::int(0..=1_000_000_000)).required().rw())
        .arg("quantity", TextRule::int(1..=1_000_000_000))
        .error("arity", "Expected one key and one argument")
        .error("quantity", "Quantity must be a positive bounded integer")
        .error("stock", "Stock is missing or invalid")
        .raises("stock.type", "WRONGTYPE")
        .reply("[0, int(0, 999999999)] | [1, int(0, 999999999)]")
        .case(
            "enough",
            |call| call.int("stock") >= call.int("quantity"),
            |call| {
                let left = call.int("stock")? - call.int("quantity")?;
                Some(Promised::reply((1, left)).set("stock", left))
            },
        )
        .otherwise(|call| Some(Promised::reply((0, call.int("stock")))))
        .writes_when(&["stock"], |call| {
            let Some(moonkeep::ReplyRef::Array(mut items)) = call.reply() else { return false };
            items.next() == Some(moonkeep::ReplyRef::Int(1))
        })
        .instructions(100)
}

#[test]
fn a_contract_in_rust_is_that_of_the_header() {
    let source = shipped("decrease_stock");
    let (built, told) = (built().build().expect("a contract"), Contract::parse(&source).expect("a contract"));
    assert_eq!(built.inputs(3).take(500).collect::<Vec<_>>(), told.inputs(3).take(500).collect::<Vec<_>>());
    let options = CheckOptions::new().runs(2000);
    let [one, other] =
        [&built, &told].map(|contract| contract.check(&Script::new(&source), &options).expect("checked"));
    one.assert_kept();
    let runs = |report: &moonkeep::CheckReport| {
        report.clauses().iter().map(|clause| clause.runs).collect::<Vec<_>>()
    };
    assert_eq!(runs(&one), runs(&other));
    assert_eq!(one.clauses()[4].text, "case enough");
    let broken = Script::new(source.replace("stock < quantity", "stock <= quantity"));
    let report = built.check(&broken, &options).expect("checked");
    assert_eq!(report.failures()[0].told(), "line 9, case enough: the reply should be [1, 0], it is [0, 1]");
    // A script is held to it at each call too.
    let mut client = Engine::new().client();
    client.call(["SET", "s", "5"]).expect("set");
    let held = Script::new(&source).with_contract(built.clone());
    assert_eq!(held.key("s").arg(2).run::<(i64, i64)>(&mut client).expect("taken"), (1, 3));
    assert_eq!(
        held.key("s").arg("02").verdict(&mut client).expect("judged"),
        Some(Verdict::Refused("Quantity must be a positive bounded integer".into()))
    );
    let silent = Script::new("redis.call('SET', KEYS[1], 1) return {0, 3}").with_contract(built);
    let error = silent.key("s").arg(9).run::<(i64, i64)>(&mut client).expect_err("it writes");
    assert_eq!(
        error.to_string(),
        "decrease_stock broke its contract: no writes clause lets stock be written for the reply [0, 3]"
    );
}

/// What is told of a script that replies `text` after a call of `words`, when its one case promises this.
fn told(rule: KeyRule, then: fn() -> Option<Promised>, words: &str) -> Option<(Rule, String)> {
    let contract = Contract::builder("c")
        .key("k", rule)
        .args("rest", TextRule::bytes(), 0..=2)
        .error("arity", "ERR arity")
        .raises("k.type", "WRONGTYPE")
        .otherwise(move |_| then())
        .build()
        .expect("a contract");
    let source = format!(
        "if #KEYS ~= 1 or #ARGV > 2 then return redis.error_reply('ERR arity') end redis.call({words}) return 1"
    );
    let report = contract.check(&Script::new(source), &CheckOptions::new().runs(300)).expect("checked");
    report
        .failures()
        .iter()
        .find(|one| one.clause() == Some(2))
        .map(|one| (one.rule(), one.told().to_owned()))
}

#[test]
fn closures_promise_replies_and_what_becomes_of_keys() {
    let hash = || KeyRule::fields([("n", TextRule::int(0..=9))]).rw().rm().ttl_any();
    let set = "'HSET', KEYS[1], 'n', '5'";
    assert_eq!(told(hash(), || Some(Promised::reply(1).set_field("k", "n", 5)), set), None);
    assert_eq!(told(hash(), || Some(Promised::reply(1).change("k")), set), None);
    let other = told(hash(), || Some(Promised::reply(1).set_field("k", "n", "6")), set).expect("broken");
    let should = "line 6, case else: k should be {\"n\": \"6\"} afterwards, it is {\"n\": \"5\"}";
    assert_eq!(other, (Rule::Effect, should.to_owned()));
    assert_eq!(told(hash(), || Some(Promised::reply(1).drop_field("k", "n")), "'HDEL', KEYS[1], 'n'"), None);
    assert_eq!(told(hash(), || Some(Promised::reply(1).delete("k")), "'DEL', KEYS[1]"), None);
    assert_eq!(
        told(
            hash(),
            || Some(Promised::reply(1).pttl("k", 5).change("k")),
            "'HSET', KEYS[1], 'n', '5') redis.call('PEXPIRE', KEYS[1], 5"
        ),
        None
    );
    let case = |text: &str| Some((Rule::Case, format!("line 6, case else: {text}")));
    let incomputable = "cannot be computed in this call: an integer overflows, or is divided by 0";
    assert_eq!(told(hash(), || None, set), case(&format!("its reply {incomputable}")));
    assert_eq!(
        told(hash(), || Some(Promised::reply(1).set("k", ())), set),
        case(&format!("what becomes of k {incomputable}"))
    );
    assert_eq!(
        told(hash(), || Some(Promised::reply(1).delete("q")), set),
        case("it tells what becomes of \"q\", which is no key of the contract")
    );
    let reply = told(hash(), || Some(Promised::reply(PromisedReply::Status("OK".into())).change("k")), set);
    assert_eq!(
        reply,
        Some((Rule::Reply, "line 6, case else: the reply should be status \"OK\", it is 1".into()))
    );
    let refused = told(hash(), || Some(Promised::error("ERR never")), set);
    assert_eq!(
        refused,
        Some((Rule::Refusal, "the call is to be refused with ERR never, the script replied 1".into()))
    );
}

#[test]
fn what_is_wrong_with_a_builder_is_told_with_the_number_of_its_clause() {
    let error = |builder: ContractBuilder| builder.build().expect_err("wrong").to_string();
    let one = || Contract::builder("c").key("k", KeyRule::any().rw()).error("arity", "ERR arity");
    assert!(error(one()).starts_with("1:4: nothing says what the script replies"), "{}", error(one()));
    assert_eq!(error(one().reply("int").key("k", KeyRule::any())), "5:8: \"k\" is declared already");
    assert_eq!(
        error(one().reply("int\n--!reply nil")),
        "4:1: \"reply int\\n--!reply nil\" is more than a line; a clause of a builder is one"
    );
    assert_eq!(
        error(one().arg("a", TextRule::one_of(["a\"b", "\u{7}"]))),
        "4:9: nothing says what is answered when a is wrong by syntax; add --!error a.syntax \"TEXT\""
    );
    assert_eq!(
        error(one().reply("int").writes_when(&["q"], |_| true)),
        "1:1: \"q\" is not declared above; declared are k"
    );
    let after_else = one().clause("case else => 1").otherwise(|_| None);
    assert_eq!(error(after_else), "1:4: no case applies after \"case else\"; leave it to otherwise");
    let behind = one().otherwise(|_| None).case("late", |_| true, |_| None);
    assert_eq!(error(behind), "5:1: no case applies after otherwise; put this one above it");
    assert_eq!(
        error(Contract::builder("")),
        "1:12: here should be the name of the contract, not the end of the clause"
    );
}

#[test]
fn elements_of_keys_are_told_of() {
    let parse = |case: &str| {
        Contract::parse(format!(
            "--!contract c\n--!key z zset rw\n--!key l list of int(0, 9)\n--!key s set\n--!key score hash of int(0, 9)\n--!argv a token\n\
             --!error arity, a \"ERR a\"\n--!error z.type WRONGTYPE\n--!error l.type WRONGTYPE\n--!error s.type WRONGTYPE\n\
             --!error score.type WRONGTYPE\n--!case {case}"
        ))
        .map_err(|error| error.to_string())
    };
    for case in [
        "has(z, a) and has(l, 5) and has(s, a) and has(score, \"f\") => 1",
        "default(score(z, a), 0) > now => default(item(l, -1), 0) + default(field(score, a), 0)",
        "score(z, a) == 3 => score(z, a) ; change z",
    ] {
        assert!(parse(case).is_ok(), "{case}: {:?}", parse(case));
    }
    for (case, told) in [
        ("has(a, a) => 1", "12:13: a is an argument; here should be the name of a key"),
        ("score(l, a) == 1 => 1", "12:15: score is of a zset; l is none"),
        ("item(l, a) == 1 => 1", "12:17: \"item\" works on integers; this is a text"),
        (
            "score(z, a) > 1 => 1",
            "12:9: an optional key may be missing; write default(KEY, VALUE) to say what counts then",
        ),
        ("has(z) => 1", "12:14: here should be \",\" and which element, not \")\""),
    ] {
        assert_eq!(parse(case).expect_err(case), told);
    }
}

#[test]
fn elements_of_keys_decide_cases() {
    let head = "--!contract c\n--!key z zset\n--!key l list of int(0, 9)\n--!key h hash of int(0, 9)\n--!argv a bytes\n\
                --!error arity \"ERR a\"\n--!error z.type WRONGTYPE\n--!error l.type WRONGTYPE\n--!error h.type WRONGTYPE\n--!case else => ";
    let mut client = Engine::new().client();
    for words in ["ZADD z 2.5 m -inf n", "RPUSH l 7 8 x", "HSET h m 3 7 4"] {
        client.call(words.split(' ').collect::<Vec<_>>()).expect("set up");
    }
    for (value, arg, reply) in [
        ("score(z, a)", "m", "2"),
        ("default(score(z, a), -1)", "q", "-1"),
        ("default(item(l, 0), 9) + default(item(l, -2), 9)", "m", "15"),
        ("item(l, 3)", "m", "false"),
        ("item(l, -4)", "m", "false"),
        // It is no integer.
        ("item(l, 2)", "m", "false"),
        ("field(h, a)", "m", "3"),
        ("field(h, default(item(l, 0), 1))", "m", "4"),
        ("[field(h, a), 1]", "q", "{false, 1}"),
    ] {
        let script = Script::new(format!("{head}{value}\nreturn {reply}"))
            .checked()
            .unwrap_or_else(|error| panic!("{error}"));
        let mut out = Reply::new();
        let run = script.call().keys(["z", "l", "h"]).arg(arg).run_into(&mut client, &mut out);
        assert!(run.is_ok(), "{value}: {run:?}");
    }
    let when = |condition: &str| {
        let text = format!("{head}1")
            .replace("case else => 1", &format!("case {condition} => 1\n--!case else => 0"));
        Script::new(format!("{text}\nreturn 1")).checked().unwrap_or_else(|error| panic!("{error}"))
    };
    for (condition, holds) in [
        ("has(z, a)", true),
        ("has(h, a)", true),
        ("has(l, a)", false),
        ("has(l, 8)", true),
        ("has(z, 8)", false),
    ] {
        let run = when(condition).call().keys(["z", "l", "h"]).arg("m").run::<i64>(&mut client);
        assert_eq!(run.is_ok(), holds, "{condition}: {run:?}");
    }
}
