//! Contracts of scripts that take any number of keys, or do not look at how many they get, and the times of the calls that
//! are made of a contract.

use moonkeep::{CheckOptions, Client, Contract, Engine, KeyRule, Promised, Script, TextRule};
use std::collections::BTreeSet;

const TOUCH: &str = r#"--!contract touch
--!key   items string bytes rw ttl=set ...(1, 3)
--!argv  ttl   int(1, 1000)
--!arity trusted
--!error ttl        "no ttl"
--!error items.type WRONGTYPE
--!case len(items) > 2 => error "too many"
--!case else           => len(items) ; items = "x", pttl(items) = ttl
local ttl = tonumber(ARGV[1])
if not ttl or not string.find(ARGV[1], "^[1-9]%d*$") or ttl > 1000 then
  return redis.error_reply("no ttl")
end
for _, key in ipairs(KEYS) do
  redis.call("GET", key)
end
if #KEYS > 2 then
  return redis.error_reply("too many")
end
for _, key in ipairs(KEYS) do
  redis.call("SET", key, "x", "PX", ttl)
end
return #KEYS"#;

fn touched(client: &mut Client, text: &str, keys: &[&str], args: &[&str]) -> String {
    let script = Script::new(text).checked().expect("a contract");
    match script.call().keys(keys).args(args).run::<i64>(client) {
        Ok(count) => count.to_string(),
        Err(error) => error.to_string(),
    }
}

fn is_kept(text: &str) -> bool {
    let contract = Contract::parse(text).expect("a contract");
    contract.check(&Script::new(text), &CheckOptions::new().runs(3000)).expect("it is checked").is_kept()
}

#[test]
fn what_is_said_of_many_keys_is_said_of_each() {
    let mut client = Engine::new().client();
    client.call(["RPUSH", "list", "a"]).expect("a list");
    for (keys, args, told) in [
        (&["a"][..], &["5"][..], "1"),
        (&["a", "b"], &["5"], "2"),
        (&["a", "b"], &["0"], "no ttl"),
        (&["a", "list"], &["5"], "WRONGTYPE Operation against a key holding the wrong kind of value"),
        (&["a", "b", "c"], &["5"], "too many"),
        (&["a", "a"], &["5"], "two of items are the key a; touch tells what becomes of different keys"),
        (
            &[],
            &["5"],
            "touch has 1 to 3 keys and 1 arguments, and trusts its callers to know; this call has 0 and 1",
        ),
        (
            &["a", "b"],
            &[],
            "touch has 1 to 3 keys and 1 arguments, and trusts its callers to know; this call has 2 and 0",
        ),
    ] {
        let got = touched(&mut client, TOUCH, keys, args);
        assert_eq!(got.split(" script: ").next(), Some(told), "{keys:?} {args:?}");
    }
    let forgets = TOUCH.replace("\"x\", \"PX\"", "key == KEYS[2] and 'y' or 'x', \"PX\"");
    assert_eq!(
        touched(&mut client, &forgets, &["a", "b"], &["5"]),
        "touch broke its contract: line 8, case else => len(items) ; items = \"x\", pttl(items) = ttl: \
         b (of items) should be \"x\" afterwards, it is \"y\""
    );
    assert!(is_kept(TOUCH) && !is_kept(&forgets));
}

#[test]
fn calls_have_all_numbers_of_keys() {
    let contract = Contract::parse(TOUCH).expect("a contract");
    let counts: BTreeSet<_> = contract.inputs(0).take(500).map(|input| input.keys.len()).collect();
    assert_eq!(counts, BTreeSet::from([1, 2, 3]), "callers are trusted");
    let strict = TOUCH.replace("--!arity trusted", "--!error arity \"arity\"");
    let contract = Contract::parse(strict).expect("a contract");
    let counts: BTreeSet<_> = contract.inputs(0).take(500).map(|input| input.keys.len()).collect();
    assert_eq!(counts, BTreeSet::from([0, 1, 2, 3, 4]));
}

#[test]
fn some_of_many_keys_change() {
    let text = |body: &str| {
        format!(
            "--!contract c\n--!key first any ro\n--!key rest any rw rm ttl=dropped ...\n--!arity trusted\n\
             --!case else => 1 ; change rest\n{body}\nreturn 1"
        )
    };
    let second = "redis.call('EXISTS', KEYS[1]) if KEYS[3] then redis.call('SET', KEYS[3], 1) end";
    assert!(is_kept(&text(second)));
    assert!(!is_kept(&text(&second.replace("1) end", "1, 'PX', 5) end"))), "an expiry");
    assert!(!is_kept(&text("redis.call('SET', KEYS[1], 1)")), "the first is read only");
    let gone = text("for at = 2, #KEYS do redis.call('DEL', KEYS[at]) end").replace("change", "del");
    assert!(is_kept(&gone));
    assert!(!is_kept(&gone.replace("at = 2", "at = 3")), "the second stays");
}

#[test]
fn what_many_keys_and_arity_cannot_be_is_told() {
    let told = |clauses: &str| {
        let text = format!("--!contract c\n{clauses}\n--!case else => 1");
        Contract::parse(text).expect_err("a mistake").to_string()
    };
    let many = "--!key k string bytes ...\n--!error k.type WRONGTYPE\n--!arity trusted";
    for (clauses, expected) in [
        ("--!key k any ...\n--!key l any", "3:8: k takes all keys that are left"),
        ("--!key k any ... rw", "2:18: here should be the end of the clause, not \"rw\""),
        ("--!key k any ...(-1, 2)", "2:17: a number of keys is not negative"),
        ("--!arity open", "2:10: \"open\" is nothing that arity is; it may be trusted"),
        (
            "--!arity trusted\n--!error arity \"x\"",
            "3:10: the answer to arity is told above already; this never applies",
        ),
        (&format!("{many}\n--!case k == \"a\" => 1"), "5:9: k is any number of keys; ask len(k)"),
        (&format!("{many}\n--!case has(k, \"a\") => 1"), "5:13: k is any number of keys; ask len(k)"),
        (&format!("{many}\n--!case pttl(k) > 1 => 1"), "5:14: k is any number of keys; ask len(k)"),
    ] {
        assert_eq!(told(clauses), expected);
    }
}

#[test]
fn sort_by_a_pattern_reaches_other_keys() {
    let text = |options: &str| {
        let head =
            "--!contract c\n--!key k list ro\n--!arity trusted\n--!error k.type WRONGTYPE\n--!reply int";
        format!(
            "{head}\nif redis.call('LLEN', KEYS[1]) then return #redis.call('SORT', KEYS[1], 'ALPHA'{options}) end"
        )
    };
    assert!(is_kept(&text("")) && is_kept(&text(", 'BY', 'nosort', 'GET', '#'")));
    for options in [", 'BY', 'w_*'", ", 'GET', '#', 'get', 'w_*->f'"] {
        let contract = Contract::parse(text(options)).expect("a contract");
        let report =
            contract.check(&Script::new(text(options)), &CheckOptions::new().runs(100)).expect("checked");
        assert_eq!(report.failures()[0].told(), "the script reached beyond its keys with SORT", "{options}");
    }
}

#[test]
fn a_contract_in_rust_has_any_number_of_keys() {
    let contract = Contract::builder("count")
        .keys("sets", KeyRule::set(TextRule::token()), 0..=9)
        .arity_trusted()
        .raises("sets.type", "WRONGTYPE")
        .otherwise(|call| {
            let held = call.each_held("sets").flatten().count();
            Some(Promised::reply([held as i64, call.count("sets") as i64]))
        })
        .build()
        .expect("a contract");
    let source = "local n = 0 for _, key in ipairs(KEYS) do n = n + math.min(redis.call('SCARD', key), 1) end return {n, #KEYS}";
    let options = CheckOptions::new().runs(2000);
    contract.check(&Script::new(source), &options).expect("it is checked").assert_kept();
    let wrong = Script::new(source.replace("#KEYS", "math.min(#KEYS, 8)"));
    assert!(!contract.check(&wrong, &options).expect("it is checked").is_kept());
}

#[test]
fn calls_come_at_many_times() {
    let contract = Contract::parse(TOUCH).expect("a contract");
    let times: BTreeSet<_> = contract.inputs(0).take(500).map(|input| input.advance().as_micros()).collect();
    assert!([1_000_000, 1_000_001, 1_000_999, 1_001_000, 1_999_000].iter().all(|time| times.contains(time)));
    assert!(times.len() > 100 && times.iter().any(|time| *time > 10_000_000_000));
    let clock = "--!contract c\n--!key k string int(0, 9007199254740991) rw\n--!error arity \"ERR arity\"\n\
                 --!error k \"ERR wrong\"\n--!error k.type WRONGTYPE\n--!reply int\n--!case else => now\n\
                 if #KEYS ~= 1 or #ARGV > 0 then return redis.error_reply('arity') end\n\
                 local held = redis.call('GET', KEYS[1]) or '0'\n\
                 if #held > 16 or not string.find(held, '^%d+$') or #held > 1 and string.find(held, '^0')\n\
                 or tonumber(held) > 9007199254740991 then return redis.error_reply('wrong') end\n\
                 local time = redis.call('TIME') return time[1] * 1000 + math.floor(time[2] / 1000)";
    assert!(is_kept(clock));
    assert!(!is_kept(&clock.replace("math.floor(time[2] / 1000)", "time[2]")));
    assert!(!is_kept(&clock.replace("math.floor(time[2] / 1000)", "math.ceil(time[2] / 1000)")));
}
