//! Contracts at their edges: texts that no contract should be (very long, deep, in other encodings, misplaced), inputs of
//! extreme grammars, scripts that do what no contract foresees, and what a checked call leaves behind when it fails.

use moonkeep::reply::Resp;
use moonkeep::{Client, Contract, Engine, Error, Input, Limits, Loss, Reply, Script, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a contract needs to be read, in front of the clauses in question.
const HEAD: &str = "--!contract c\n--!key k string int(0, 9) rw ttl=any\n--!argv n int(0, 9)\n--!error arity \"ERR arity\"\n--!error n \"ERR n\"\n--!error k \"ERR k\"\n--!error k.type WRONGTYPE\n";

fn error(text: impl AsRef<[u8]>) -> String {
    let text = text.as_ref();
    match Contract::parse(text) {
        Ok(_) => panic!("{} is accepted", String::from_utf8_lossy(text)),
        Err(error) => error.to_string(),
    }
}

const MISPLACED: &str =
    "contract lines begin in the first column and stand in the header, above the first line of code";

#[test]
fn no_contract_line_is_overlooked() {
    let rest = &HEAD["--!contract c\n".len()..];
    for (text, place) in [
        (format!("--!contract c\n  --!instructions 5\n{rest}--!reply int\n"), "2:1"),
        (format!("--!contract c\n\t--!instructions 5\n{rest}--!reply int\n"), "2:1"),
        (format!("{HEAD}--!reply int\n --!instructions 5\n"), "9:1"),
        (format!("{HEAD}--!reply int\nreturn 1\n--!instructions 5\n"), "10:1"),
        (format!("{HEAD}--!reply int\n--[[ a long comment\n--!instructions 5\n]]\n"), "10:1"),
        (format!("{HEAD}--!reply int\nlocal text = [[\n--!instructions 5]]\n"), "10:1"),
        (format!("#!lua\n#!lua\n{HEAD}--!reply int\n"), "3:1"),
    ] {
        assert_eq!(error(&text), format!("{place}: {MISPLACED}"), "{text}");
    }
}

#[test]
fn line_ends_of_other_systems_change_nothing() {
    let text = format!("#!lua flags=no-writes\n\n-- a script\n{HEAD}--!reply int  # tabs:\t\n\nreturn 1\n");
    let unix = Contract::parse(&text).expect("parses");
    assert_eq!(Contract::parse(text.replace('\n', "\r\n")).expect("parses"), unix);
    let tabs = text.replace("--!key k string int", "--!key\tk\tstring\tint").replace("  #", "\t#");
    assert_eq!(Contract::parse(tabs).expect("parses"), unix);
    let mistake = format!("{HEAD}--!reply int(1\r\n");
    assert_eq!(
        error(mistake),
        "8:15: here should be \",\" and the greatest value, not the end of the clause"
    );
}

#[test]
fn other_encodings_are_told() {
    assert_eq!(
        error(format!("\u{feff}{HEAD}--!reply int\n")),
        "1:1: the text begins with a byte order mark, which no script may; save it without one"
    );
    let latin = [HEAD.as_bytes(), b"--!reply \"\xe9\"\n"].concat();
    assert_eq!(error(latin), "8:11: this byte is no UTF-8; in a text in quotes it is written \\xe9");
    let behind = ["--!contract c # é".as_bytes(), b"\xff\n"].concat();
    assert_eq!(error(behind), "1:18: this byte is no UTF-8; in a text in quotes it is written \\xff");
    let wide: Vec<u8> = HEAD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(
        error(wide),
        "1:1: there is no contract in the header; it begins with a line --!contract NAME"
    );
    let own = [HEAD.as_bytes(), b"-- caf\xe9\n--!reply \"\\xe9\"\n"].concat();
    assert!(Contract::parse(own).is_ok(), "in other comments any bytes may stand");
}

#[test]
fn columns_count_characters() {
    for (line, column) in [
        ("--!reply \"é\" | ~", 16),
        ("--!reply \"日本\" | ~", 17),
        ("--!reply \"e\u{301}\" | ~", 17),
        ("--!reply\t\"🌙\"\t|\t~", 16),
    ] {
        let expected = format!("8:{column}: '~' means nothing here; \"is not\" is !=");
        assert_eq!(error(format!("{HEAD}{line}\n")), expected);
    }
}

/// A clause behind `HEAD`, and what is said of it.
const MISTAKES: &[(&str, &str)] = &[
    ("--!error n \"again\"", "8:10: the answer to n is told above already; this never applies"),
    ("--!error n.range \"again\"", "8:10: the answer to n.range is told above already; this never applies"),
    ("--!error arity \"again\"", "8:10: the answer to arity is told above already; this never applies"),
    ("--!error k.syntax, k.type X", "8:10: the answer to k.syntax is told above already; this never applies"),
    (
        "--!argv m int(0, 9)\n--!error m \"a\\nb\"",
        "9:12: an error is one line: a client reads a blank for each \\r and \\n",
    ),
    ("--!argv m int(0, 9)\n--!error m \"\"", "9:12: an error has a text"),
    ("--!case n > 1 => error \"\"", "8:24: an error has a text"),
    ("--!case n > 1 => 1 ; k = nil", "8:26: a key that holds nothing is gone; write del k"),
    (
        "--!case n > 1 => 1 ; k = k",
        "8:26: an optional key may be missing; write default(KEY, VALUE) to say what counts then",
    ),
    (
        "--!case n > 1 => 1 ; pttl(k) = k",
        "8:32: an optional key may be missing; write default(KEY, VALUE) to say what counts then",
    ),
    ("--!case n > 1 => 1 ; k = 1, k = 2", "8:29: another effect of this case says what becomes of the key"),
    (
        "--!case n > 1 => 1 ; k = 1, change k",
        "8:29: another effect of this case says what becomes of the key",
    ),
    (
        "--!case n > 1 => 1 ; pttl(k) = 1, pttl(k) = 2",
        "8:35: another effect of this case says what becomes of the key",
    ),
    (
        "--!case default(k, \"x\") > 1 => 1",
        "8:20: what stands for an integer is an integer too; this is a text",
    ),
    ("--!argv m int(-5, 5) digits", "8:22: digits have no sign; the least value is 0 then, not -5"),
    ("--!argv m bytes(536870913, 9e9)", "8:29: here should be \")\", not \"e9\""),
    (
        "--!argv m bytes(9223372036854775807, 9223372036854775807)",
        "8:16: a text has at most 536870912 bytes, not 9223372036854775807",
    ),
    ("--!argv m bytes(-1, 5)", "8:16: a number of bytes is not negative"),
    ("--!argv m one_of()", "8:18: here should be a text in quotes, not \")\""),
    ("--!reply int(9223372036854775808, 1)", "8:14: the integer is out of range"),
    ("--!reply int(0, 99999999999999999999)", "8:17: integers go up to 9223372036854775807"),
    ("--!reply -9223372036854775809", "8:11: integers go up to 9223372036854775807"),
    (
        "--!reply ...",
        "8:10: here should be a shape: an integer, int, int(MIN, MAX), bytes, a text, status, nil, any, or [SHAPE, ...], not \"...\"",
    ),
    ("--!reply [int, int...]", "8:19: \"...\" goes with one shape alone, as in [bytes...]"),
    (
        "--!writes k when reply == \"a\" and",
        "8:34: here should be a name, an integer, a text or a condition, not the end of the clause",
    ),
    ("--!instructions -1", "8:17: a run takes at least one instruction"),
    ("--!", "1:4: nothing says what the script replies; add a reply clause or case clauses"),
    ("--!contract d", "8:4: a script has one contract; this is its second"),
    (
        "--!5",
        "8:4: here should be the name of a clause; clauses are contract, key, argv, error, reply, case, writes, instructions, flags, arity",
    ),
];

#[test]
fn mistakes_are_told() {
    let told =
        MISTAKES.iter().map(|(clause, expected)| (clause, expected, error(format!("{HEAD}{clause}\n"))));
    let other: Vec<_> = told.filter(|(_, expected, told)| told != *expected).collect();
    assert!(other.is_empty(), "{other:#?}");
    let any = "--!contract c\n--!argv n bytes\n--!error n.range \"x\"\n";
    assert_eq!(error(any), "3:12: n cannot be wrong at all; it needs no error clause");
}

#[test]
fn a_clause_has_at_most_so_many_operators() {
    for chain in ["1 + ", "1 - ", "1 * ", "1 % ", "n == 1 or ", "n == 1 and ", "not n == 1 or "] {
        let end = if chain.contains("==") { "n == 1" } else { "1 > 0" };
        let clause = |count: usize| format!("{HEAD}--!case {}{end} => 1\n", chain.repeat(count));
        assert!(Contract::parse(clause(256)).is_ok(), "{chain}");
        let told = error(clause(100_000));
        assert!(told.ends_with(": a clause has at most 256 operators"), "{chain}: {told}");
    }
}

/// The longest contracts that fit into a script, and longer ones: read in a moment.
#[test]
fn long_contracts_are_read() {
    let keys: String = (0..50_000).map(|n| format!("--!key k{n} any\n--!argv a{n} bytes\n")).collect();
    let many = Contract::parse(format!("--!contract c\n{keys}--!error arity \"x\"\n--!reply int\n"));
    assert_eq!(many.expect("parses").keys().len(), 50_000);
    let cases: String = (0..100_000).map(|n| format!("--!case n == {n} => {n}\n")).collect();
    assert!(Contract::parse(format!("{HEAD}{cases}")).is_ok());
    let line = "1 | ".repeat(250_000);
    assert!(Contract::parse(format!("{HEAD}--!reply {line}1\n")).is_ok());
    let lines = "--!  | 1\n".repeat(100_000);
    assert!(Contract::parse(format!("{HEAD}--!reply 1\n{lines}")).is_ok());
    let text = "x".repeat(1 << 20);
    assert!(Contract::parse(format!("{HEAD}--!reply \"{text}\"\n")).is_ok());
    assert_eq!(error(format!("{HEAD}--!reply \"{text}\n")), "8:10: the text has no closing double quote");
    let open = format!("{HEAD}--!reply {}", "[int, ".repeat(100_000));
    assert!(error(open).ends_with(": arrays are nested too deeply"));
}

/// Grammars at the ends of what they may be.
const GRAMMARS: &[&str] = &[
    "int(-9223372036854775808, 9223372036854775807)",
    "int(-9223372036854775808, -9223372036854775808)",
    "int(9223372036854775807, 9223372036854775807) digits",
    "int(0, 0) digits",
    "int(0, 0)",
    "bytes(0, 0)",
    "bytes(0, 9223372036854775807)",
    "bytes(2000, 5000)",
    "bytes(100001, 100001)",
    "bytes(5, 5)",
    "bytes",
    "token",
    "one_of(\"\")",
    "one_of(\"\", \"a\", \"a\")",
    "one_of(\"\\x00\\xff\")",
    "json",
];

/// A contract with an argument and a key of this grammar.
fn of_grammar(grammar: &str) -> Contract {
    let has_faults = !["bytes", "bytes(0, 9223372036854775807)"].contains(&grammar);
    let wrong = if has_faults { "--!error a \"a\"\n--!error k \"k\"\n" } else { "" };
    // A length of at most any number is told, though no text has another one.
    let wrong =
        if grammar.starts_with("bytes(0, 92") { "--!error a \"a\"\n--!error k \"k\"\n" } else { wrong };
    let text = format!(
        "--!contract c\n--!key k string {grammar}\n--!argv a {grammar}\n--!error arity \"x\"\n{wrong}--!error k.type WRONGTYPE\n--!reply any\n"
    );
    Contract::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn inputs_of_every_grammar_are_within_it_and_beside_it() {
    for grammar in GRAMMARS {
        let contract = of_grammar(grammar);
        let inputs: Vec<Input> = contract.inputs(3).take(400).collect();
        assert_eq!(contract.inputs(3).take(400).collect::<Vec<_>>(), inputs, "{grammar}: the same seed");
        assert_ne!(contract.inputs(4).take(400).collect::<Vec<_>>(), inputs, "{grammar}: another seed");
        let script = Script::new("return 1").with_contract(contract);
        let (mut accepted, mut refused) = (0, 0);
        for input in inputs {
            let engine = Engine::new();
            let mut client = engine.client();
            for command in &input.setup {
                client.call(command).expect("the set-up runs");
            }
            engine.advance(input.advance()).expect("a manual clock");
            let call = script.call().keys(&input.keys).args(&input.args);
            match call.verdict(&mut client).expect("judged").expect("a contract") {
                Verdict::Accepted => accepted += 1,
                _ => refused += 1,
            }
        }
        assert!(accepted >= 120 && refused >= 60, "{grammar}: {accepted} accepted, {refused} refused");
    }
}

#[test]
fn a_contract_without_keys_and_arguments_has_inputs() {
    let contract = Contract::parse("--!contract c\n--!error arity \"x\"\n--!reply int\n").expect("parses");
    let inputs: Vec<Input> = contract.inputs(1).take(200).collect();
    assert!(inputs.iter().all(|input| input.setup.is_empty()));
    assert!(inputs.iter().any(|input| !input.keys.is_empty()));
    assert!(inputs.iter().any(|input| !input.args.is_empty()));
    let script = Script::new("return 1").with_contract(contract);
    assert_eq!(script.call().run::<i64>(&mut Engine::new().client()), Ok(1));
}

/// How often something holds of the inputs of a contract.
fn inputs_where(contract: &Contract, holds: impl Fn(&Input) -> bool) -> usize {
    contract.inputs(5).take(1000).filter(|input| holds(input)).count()
}

#[test]
fn inputs_have_the_parts_that_are_declared() {
    let clauses = "--!contract c\n--!key h hash(n int(0, 9), \"a b\" json optional)\n--!key l list of int(3, 5)\n--!key z zset of token\n--!key s stream(f token) required\n--!argv one token\n--!argv two int(1, 2) optional\n--!argv rest one_of(\"x\", \"y\") ...(0, 3)\n--!error arity \"a\"\n--!error one, two, rest, s \"b\"\n--!error h.type, l.type, z.type, s.type WRONGTYPE\n--!reply any\n";
    let contract = Contract::parse(clauses).unwrap_or_else(|error| panic!("{error}"));
    let made = |input: &Input, command: &str, holds: &dyn Fn(&[Vec<u8>]) -> bool| {
        let key = |words: &&Vec<Vec<u8>>| words[0] == command.as_bytes();
        input.setup.iter().filter(key).any(|words| holds(&words[2..]))
    };
    assert!(
        inputs_where(&contract, |input| made(input, "HSET", &|words| words.len() == 4 && words[2] == b"a b"))
            > 200
    );
    assert!(
        inputs_where(&contract, |input| made(input, "HSET", &|words| words.len() == 2 && words[0] == b"n"))
            > 100
    );
    let in_list = |words: &[Vec<u8>]| words.iter().all(|word| matches!(word.as_slice(), b"3" | b"4" | b"5"));
    assert!(
        inputs_where(&contract, |input| made(input, "RPUSH", &|words| words.len() > 2 && in_list(words)))
            > 200
    );
    assert!(inputs_where(&contract, |input| made(input, "ZADD", &|words| words.len() >= 200)) > 20);
    assert!(inputs_where(&contract, |input| made(input, "XADD", &|words| words[1] == b"f")) > 500);
    // Too few, each number that is allowed, and too many.
    for (len, least) in [(0, 10), (1, 100), (2, 50), (3, 50), (4, 50), (5, 50), (6, 10)] {
        let found = inputs_where(&contract, |input| input.args.len() == len);
        assert!(found >= least, "{found} inputs have {len} arguments");
    }
}

const PARTS: &str = "--!contract c\n--!key h hash(n int(0, 99), owner token optional) rw rm\n--!argv name token optional\n--!argv more int(0, 9) ...(0, 2)\n--!error arity \"ERR arity\"\n--!error name \"ERR name\"\n--!error more.syntax \"ERR more\"\n--!error more.range \"ERR range\"\n--!error h.type WRONGTYPE\n";

#[test]
fn fields_and_any_number_of_arguments_are_held_to() {
    let clauses = format!(
        "{PARTS}--!case not exists(name) => len(more)\n--!case exists(h.owner) and h.owner != name => 0\n--!case default(h.n, 0) == 9 => 9 ; del h.owner\n--!case else => len(more) ; h.n = default(h.n, 0) + 1, h.owner = default(name, \"\")\n"
    );
    let lua = "if #ARGV > 3 or #KEYS ~= 1 then return redis.error_reply('ERR arity') end if not ARGV[1] then return 0 end local h = KEYS[1] local owner = redis.call('HGET', h, 'owner') if owner and owner ~= ARGV[1] then return 0 end if redis.call('HGET', h, 'n') == '9' then redis.call('HDEL', h, 'owner') return 9 end redis.call('HINCRBY', h, 'n', 1) redis.call('HSET', h, 'owner', ARGV[1]) return #ARGV - 1";
    assert_eq!(run(&clauses, lua, &[], &["h"], &[]), ":0");
    assert_eq!(run(&clauses, lua, &[], &["h"], &["me", "1", "2"]), ":2");
    assert_eq!(run(&clauses, lua, &["HSET h n 5 owner you"], &["h"], &["me"]), ":0");
    assert_eq!(run(&clauses, lua, &["HSET h n 9 owner me"], &["h"], &["me", "3"]), ":9");
    assert_eq!(run(&clauses, lua, &[], &["h"], &["me", "1", "x"]), "-ERR more");
    assert_eq!(run(&clauses, lua, &[], &["h"], &["me", "10"]), "-ERR range");
    assert_eq!(run(&clauses, lua, &[], &["h"], &["me", "1", "2", "3"]), "-ERR arity");
    let forgets = lua.replace("redis.call('HSET', h, 'owner', ARGV[1])", "");
    let told = run(&clauses, &forgets, &["HSET h n 1"], &["h"], &["me"]);
    assert!(
        told.ends_with("h should be {\"n\": \"2\", \"owner\": \"me\"} afterwards, it is {\"n\": \"2\"}"),
        "{told}"
    );
}

/// Runs a script with a contract of these clauses; `setup` and calls as words. What came of it.
fn run(clauses: &str, source: &str, setup: &[&str], keys: &[&str], args: &[&str]) -> String {
    let text = format!("{clauses}{source}");
    let script = Script::new(&text).checked().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut client = Engine::new().client();
    for command in setup {
        client.call(command.split(' ').collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut reply = Reply::new();
    match script.call().keys(keys).args(args).run_into(&mut client, &mut reply) {
        Ok(()) => format!("{reply:?}"),
        Err(error) if error.is_breach() => error.to_string().replace("c broke its contract: ", "breach: "),
        Err(error) => format!("error: {error}"),
    }
}

/// One key and one argument behind `HEAD`.
fn one(clauses: &str, source: &str, setup: &[&str], arg: &str) -> String {
    run(&format!("{HEAD}{clauses}\n"), source, setup, &["k"], &[arg])
}

#[test]
fn what_cannot_be_computed_is_told() {
    let reply = "return 1";
    let told = |text: &str| {
        format!(
            "breach: line 8, case {text} cannot be computed in this call: an integer overflows, or is divided by 0"
        )
    };
    assert_eq!(one("--!case 10 / n == 5 => 1\n--!case else => any", reply, &[], "2"), ":1");
    assert_eq!(
        one("--!case 10 / n == 5 => 1\n--!case else => any", reply, &[], "0"),
        told("10 / n == 5 => 1: its condition")
    );
    assert_eq!(
        one("--!case not 10 % n == 5 => 1\n--!case else => any", reply, &[], "0"),
        told("not 10 % n == 5 => 1: its condition")
    );
    assert_eq!(one("--!case n != 0 and 10 / n == 5 => 1\n--!case else => 1", reply, &[], "0"), ":1");
    assert_eq!(one("--!case n == 0 or 10 / n == 5 => 1", reply, &[], "0"), ":1");
    assert_eq!(one("--!case else => 10 / n", reply, &[], "0"), told("else => 10 / n: its reply"));
    assert_eq!(
        one("--!case else => 1 ; k = 10 / n", "redis.call('SET', KEYS[1], 1) return 1", &[], "0"),
        told("else => 1 ; k = 10 / n: what becomes of k")
    );
    assert_eq!(
        one(
            "--!case else => 1 ; k = 1, pttl(k) = 9223372036854775807 + n",
            "return redis.call('SET', KEYS[1], 1) and 1",
            &[],
            "0"
        ),
        told("else => 1 ; k = 1, pttl(k) = 9223372036854775807 + n: what becomes of k")
    );
    let power = "--!case 9223372036854775807 * 9223372036854775807 * (n + 9) > 0 => 1";
    assert_eq!(one(power, reply, &[], "0"), told(&format!("{}: its condition", &power[8..])));
    assert_eq!(one("--!case 10 / n == 5 => error \"E x\"\n--!case else => any", reply, &[], "2"), "-E x");
    assert_eq!(
        one("--!case 10 / n == 5 => error \"E x\"\n--!case else => any", reply, &[], "0"),
        told("10 / n == 5 => error \"E x\": its condition")
    );
}

#[test]
fn an_expiry_is_held_to_without_cases_too() {
    let clauses = |ttl: &str| {
        format!(
            "--!contract c\n--!key k string rw ttl={ttl}\n--!error arity \"x\"\n--!error k.type WRONGTYPE\n--!reply any\n"
        )
    };
    let outcome = |ttl: &str, source: &str| run(&clauses(ttl), source, &["SET k a PX 5000"], &["k"], &[]);
    let set = "return redis.call('SET', KEYS[1], 'b')";
    let kept = "return redis.call('SET', KEYS[1], 'b', 'KEEPTTL')";
    assert_eq!(outcome("kept", set), "breach: k should expire 5000 ms from now (ttl=kept), it has no expiry");
    assert_eq!(outcome("kept", kept), "+OK");
    assert_eq!(outcome("dropped", set), "+OK");
    assert_eq!(
        outcome("dropped", kept),
        "breach: k should have no expiry (ttl=dropped), it expires 5000 ms from now"
    );
    assert_eq!(outcome("set", set), "breach: k should expire (ttl=set), it has no expiry");
    assert_eq!(outcome("any", set), "+OK");
    assert_eq!(outcome("kept", "return redis.call('GET', KEYS[1])"), "\"a\"");
    assert_eq!(
        outcome("kept", "return redis.call('PEXPIRE', KEYS[1], 1)"),
        "breach: k should expire 5000 ms from now (ttl=kept), it expires 1 ms from now"
    );
}

#[test]
fn a_time_that_is_over_at_once_is_a_removal() {
    let clauses = "--!contract c\n--!key k string rw rm ttl=set\n--!argv n int(-9, 9)\n--!error arity \"x\"\n--!error n \"n\"\n--!error k.type WRONGTYPE\n--!case exists(k) => 1 ; pttl(k) = n\n--!case else => 0\n";
    let source = "return redis.call('PEXPIRE', KEYS[1], ARGV[1])";
    for n in ["-9", "0", "1", "9"] {
        assert_eq!(run(clauses, source, &["SET k a"], &["k"], &[n]), ":1", "{n}");
        assert_eq!(run(clauses, source, &[], &["k"], &[n]), ":0", "{n}");
    }
    let late = "redis.call('PEXPIRE', KEYS[1], ARGV[1] + 1) return 1";
    let told =
        "breach: line 7, case exists(k) => 1 ; pttl(k) = n: k should be missing afterwards, it is \"a\"";
    assert_eq!(run(clauses, late, &["SET k a"], &["k"], &["0"]), told);
}

#[test]
fn a_reply_that_is_an_array_is_not_nil() {
    let clauses = "--!reply any\n--!writes k when reply == nil";
    let write = |reply: &str| format!("redis.call('SET', KEYS[1], 1) return {reply}");
    assert_eq!(one(clauses, &write("false"), &[], "1"), "nil");
    assert_eq!(
        one(clauses, &write("{1}"), &[], "1"),
        "breach: no writes clause lets k be written for the reply [1]"
    );
    assert_eq!(
        one(clauses, &write("{}"), &[], "1"),
        "breach: no writes clause lets k be written for the reply []"
    );
    let other = "--!reply any\n--!writes k when reply != nil";
    assert_eq!(one(other, &write("{}"), &[], "1"), "[]");
    let part = "--!reply any\n--!writes k when reply[2] == nil";
    assert_eq!(one(part, &write("{1}"), &[], "1"), "[:1]");
    assert_eq!(
        one(part, &write("{1, {}}"), &[], "1"),
        "breach: no writes clause lets k be written for the reply [1, []]"
    );
}

#[test]
fn one_key_given_twice_is_refused_where_one_is_written() {
    let source = std::fs::read_to_string("lua/acquire_fenced.lua").expect("a shipped script");
    let script = Script::new(source).checked().expect("a contract");
    let mut client = Engine::new().client();
    let call = script.call().keys(["a", "a"]).args(["token", "5"]);
    let told = "lock and fence are both the key a; acquire_fenced tells what becomes of different keys";
    let error = call.run::<(i64, i64)>(&mut client).expect_err("the same key");
    assert_eq!((error.to_string().as_str(), error.is_usage()), (told, true));
    assert_eq!(call.verdict(&mut client).expect_err("the same key").to_string(), told);
    assert_eq!(client.query::<i64, _>(["DBSIZE"]), Ok(0), "nothing ran");
    let few = script.call().keys(["a", "a", "a"]).args(["token", "5"]);
    let error = few.run::<(i64, i64)>(&mut client).expect_err("three keys");
    assert_eq!(error.to_string(), "Expected two keys, owner token and TTL");
    let empty = script.call().keys(["", ""]).args(["token", "5"]);
    assert!(
        empty.run::<(i64, i64)>(&mut client).expect_err("the same key").to_string().contains("the key \"\";")
    );
    assert_eq!(script.call().keys(["", "b"]).args(["token", "5"]).run::<(i64, i64)>(&mut client), Ok((1, 1)));

    let compare = "--!contract c\n--!key a string ro\n--!key b string ro\n--!error arity \"x\"\n--!error a.type, b.type WRONGTYPE\n--!case a == b => 1\n--!case else => 0\n";
    let source = "return redis.call('GET', KEYS[1]) == redis.call('GET', KEYS[2]) and 1 or 0";
    assert_eq!(run(compare, source, &["SET k 1"], &["k", "k"], &[]), ":1", "both are only read");
}

/// A script, what it meets, and what came of it.
const STRAYS: &[(&str, &[&str], &str)] = &[
    (
        "return redis.call('SELECT', 1) and redis.call('GET', KEYS[1])",
        &[],
        "breach: the script used k of database 1, which is none of its keys",
    ),
    (
        "redis.call('SELECT', 1) redis.call('SELECT', 0) return redis.call('GET', KEYS[1])",
        &["SET k 5"],
        "\"5\"",
    ),
    ("redis.pcall('SELECT', 99) return redis.call('GET', KEYS[1])", &["SET k 5"], "\"5\""),
    (
        "redis.call('SELECT', 1) return redis.call('SET', KEYS[1], 1)",
        &[],
        "breach: the script wrote k, which is none of its keys",
    ),
    ("return redis.call('MOVE', KEYS[1], 1)", &["SET k 5"], "breach: k was removed, it is not declared rm"),
    (
        "return redis.call('COPY', KEYS[1], KEYS[1], 'DB', 1)",
        &["SET k 5"],
        "breach: the script wrote k, which is none of its keys",
    ),
    (
        "return redis.call('COPY', KEYS[1], 'l')",
        &["SET k 5"],
        "breach: the script wrote l, which is none of its keys",
    ),
    (
        "return redis.call('RENAME', KEYS[1], 'l')",
        &["SET k 5"],
        "breach: k was removed, it is not declared rm",
    ),
    (
        "return redis.call('SWAPDB', 0, 1)",
        &["SET other 5"],
        "breach: the script wrote other, which is none of its keys",
    ),
    ("return redis.call('FLUSHALL')", &["SET k 5"], "breach: k was removed, it is not declared rm"),
    ("return redis.call('FLUSHDB')", &[], "breach: the script reached beyond its keys with FLUSHDB"),
    ("return redis.call('SWAPDB', 0, 1)", &[], "breach: the script reached beyond its keys with SWAPDB"),
    ("return redis.call('KEYS', '*')", &[], "breach: the script reached beyond its keys with KEYS"),
    ("return redis.call('SCAN', 0)", &[], "breach: the script reached beyond its keys with SCAN"),
    ("return redis.call('RANDOMKEY')", &[], "breach: the script reached beyond its keys with RANDOMKEY"),
    ("return redis.call('DBSIZE')", &[], "breach: the script reached beyond its keys with DBSIZE"),
    (
        "return redis.call('EXISTS', KEYS[1], 'l')",
        &[],
        "breach: the script used l, which is none of its keys",
    ),
    (
        "return redis.pcall('GET', 'l')['err'] or 1",
        &["RPUSH l a"],
        "breach: the script used l, which is none of its keys",
    ),
    ("return redis.pcall('GET', 'l', 'm')['err'] and 1", &[], ":1"),
    (
        "redis.call('SET', KEYS[1], 1) error('late')",
        &[],
        "breach: the call is to be accepted, the script replied (error) ERR user_script:9: late script: 8f2, on @user_script:9.",
    ),
    ("redis.pcall('INCR', KEYS[1]) return 1", &["SET k 9"], ":1"),
    (
        "return redis.call('EVAL', 'return 1', 0)",
        &[],
        "breach: the call is to be accepted, the script replied (error) ERR This Redis command is not allowed from script script: 8f2, on @user_script:9.",
    ),
    (
        "return redis.call('XADD', 'l', '*', 'f', 'v')",
        &[],
        "breach: the script wrote l, which is none of its keys",
    ),
    ("redis.call('SET', KEYS[1], 1) redis.call('DEL', KEYS[1]) return 1", &[], ":1"),
    (
        "redis.call('SADD', 'l', 'a') return 1",
        &["SADD l a"],
        "breach: the script used l, which is none of its keys",
    ),
];

#[test]
fn a_script_stays_with_its_keys_in_its_database() {
    let none = |source: &str, setup: &[&str]| one("--!reply any", source, setup, "1");
    let mut other = Vec::new();
    for (source, setup, expected) in STRAYS.iter().copied() {
        let got = none(source, setup);
        let got = match (got.find(" script: "), got.find(", on @")) {
            (Some(from), Some(to)) => format!("{} script: 8f2{}", &got[..from], &got[to..]),
            _ => got,
        };
        if got != expected {
            other.push((source, expected, got));
        }
    }
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn flags_of_a_script_are_kept_beside_its_contract() {
    let with = |first: &str, source: &str| {
        let text = format!("{first}\n{HEAD}--!reply any\n{source}");
        let script = Script::new(&text).checked().expect("a contract");
        let mut reply = Reply::new();
        let ran = script.key("k").arg("1").run_into(&mut Engine::new().client(), &mut reply);
        ran.map_or_else(|error| error.to_string(), |()| format!("{reply:?}"))
    };
    assert_eq!(with("#!lua flags=no-writes", "return redis.call('GET', KEYS[1])"), "nil");
    assert!(
        with("#!lua flags=no-writes", "return redis.call('SET', KEYS[1], 1)")
            .contains("Write commands are not allowed from read-only scripts")
    );
    assert!(with("#!lua flags=nonsense", "return 1").contains("Unexpected flag in script shebang: nonsense"));
    assert!(with("#!lua\r", "return 1").contains(":1"));
    assert!(with("#!lua", "return (").contains("Error compiling script"));
}

fn stock() -> Script {
    let source = std::fs::read_to_string("lua/decrease_stock.lua").expect("a shipped script");
    Script::new(source).checked().expect("a contract")
}

#[test]
fn a_checked_call_beside_watchers_journals_and_losses() {
    let engine = Engine::new();
    let (mut client, mut other) = (engine.client(), engine.client());
    let journal = engine.subscribe_journal().expect("a journal");
    client.call(["SET", "s", "5"]).expect("sets");
    other.call(["WATCH", "s"]).expect("watches");
    let take = stock();
    assert_eq!(take.key("s").arg(9).run::<(i64, i64)>(&mut client), Ok((0, 5)));
    other.call(["MULTI"]).expect("begins");
    assert!(other.query::<Option<Vec<i64>>, _>(["EXEC"]).expect("runs").is_some(), "nothing was written");
    other.call(["WATCH", "s"]).expect("watches");
    assert_eq!(take.key("s").arg(2).run::<(i64, i64)>(&mut client), Ok((1, 3)));
    other.call(["MULTI"]).expect("begins");
    assert_eq!(other.query::<Option<Vec<i64>>, _>(["EXEC"]), Ok(None), "it was written");
    let lines: Vec<String> = journal.take().expect("entries").iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["SET s 5", "DECRBY s 2"]);

    engine.lose(Loss::Replies).expect("loses");
    assert!(take.key("s").arg(1).run::<(i64, i64)>(&mut client).expect_err("lost").is_connection_lost());
    engine.lose(Loss::Requests).expect("loses");
    assert!(take.key("s").arg(1).run::<(i64, i64)>(&mut client).expect_err("lost").is_connection_lost());
    engine.heal().expect("heals");
    assert_eq!(take.key("s").arg(9).run::<(i64, i64)>(&mut client), Ok((0, 2)), "one of them ran");

    let snapshot = engine.snapshot().expect("a snapshot");
    let mut fork = engine.fork().expect("a fork").client();
    assert_eq!(take.key("s").arg(2).run::<(i64, i64)>(&mut fork), Ok((1, 0)));
    assert_eq!(take.key("s").arg(1).run::<(i64, i64)>(&mut client), Ok((1, 1)));
    engine.restore(&snapshot).expect("restores");
    assert_eq!(take.key("s").arg(2).run::<(i64, i64)>(&mut client), Ok((1, 0)));
}

#[test]
fn a_checked_call_asks_for_a_session_that_gets_its_reply() {
    let engine = Engine::new();
    let (mut client, mut other) = (engine.client(), engine.client());
    let take = stock();
    let outcome = |client: &mut Client| {
        take.key("s").arg(1).run::<(i64, i64)>(client).map_err(|error: Error| error.to_string())
    };
    let told = "a call that is held to its contract needs its reply at once: not in MULTI, nor with CLIENT REPLY off";
    client.call(["SET", "s", "5"]).expect("sets");
    client.call(["CLIENT", "REPLY", "OFF"]).expect("is silent");
    assert_eq!(outcome(&mut client), Err(told.into()));
    client.call(["CLIENT", "REPLY", "ON"]).expect("is not");
    assert_eq!(outcome(&mut client), Ok((1, 4)));
    client.call(["HELLO", "3"]).expect("the other protocol");
    assert_eq!(client.protocol(), Ok(Resp::V3));
    assert_eq!(outcome(&mut client), Ok((1, 3)));
    std::mem::forget(client.start(["BLPOP", "l", "0"]).expect("waits"));
    assert_eq!(outcome(&mut client), Err("the session waits for the reply of an earlier call".into()));
    client.cancel_call().expect("gives up");
    client.call(["SELECT", "1"]).expect("selects");
    assert_eq!(outcome(&mut client), Err("Stock is missing or invalid".into()));
    client.call(["QUIT"]).expect("ends");
    assert!(take.key("s").arg(1).run::<(i64, i64)>(&mut client).expect_err("has ended").is_closed());
    other.call(["PING"]).expect("another session goes on");
}

#[test]
fn a_trace_of_a_checked_call_is_of_that_call() {
    let mut client = Engine::new().client();
    client.call(["SET", "s", "5"]).expect("sets");
    let take = stock();
    let (reply, calls) = take.key("s").arg(2).trace(&mut client).expect("runs");
    assert_eq!(reply.get::<(i64, i64)>(), Ok((1, 3)));
    let lines: Vec<String> = calls.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["GET s -> \"5\"", "DECRBY s 2 -> (integer) 3"]);
    let (reply, calls) = take.key("s").arg(0).trace(&mut client).expect("is refused");
    assert_eq!((reply.is_error(), calls.len()), (true, 0));
}

const COUNTED: &str = "local n = 0 for i = 1, 100 do n = n + i end return n";

fn count(client: &mut Client, words: &[&str]) -> (String, u64) {
    let (reply, instructions) = client.count_instructions(words).expect("the engine is free");
    (format!("{reply:?}"), instructions)
}

#[test]
fn instructions_are_counted_alike_in_every_run_and_form() {
    let engine = Engine::new();
    let mut client = engine.client();
    let first = count(&mut client, &["EVAL", COUNTED, "0"]);
    assert_eq!(first.0, ":5050");
    assert_eq!(count(&mut client, &["EVAL", COUNTED, "0"]), first);
    assert_eq!(count(&mut engine.fork().expect("forks").client(), &["EVAL", COUNTED, "0"]), first);
    client.call(["SCRIPT", "FLUSH"]).expect("flushes");
    assert_eq!(count(&mut client, &["EVAL", COUNTED, "0"]), first);
    let library = format!("#!lua name=l\nredis.register_function('f', function() {COUNTED} end)");
    client.call(["FUNCTION", "LOAD", &library]).expect("loads");
    assert_eq!(count(&mut client, &["FCALL", "f", "0"]), first);
    assert_eq!(count(&mut client, &["FCALL", "f", "0"]), first);
    let mut fork = engine.fork().expect("forks").client();
    fork.call(["FCALL", "f", "0"]).expect("runs");
    assert_eq!(count(&mut fork, &["FCALL", "f", "0"]), first);
    assert_eq!(count(&mut client, &["PING"]), ("+PONG".into(), 0));
    // In a coroutine as outside of one.
    let inside = |body: &str| format!("return coroutine.wrap(function() {body} end)()");
    let (empty, full) = (
        count(&mut client, &["EVAL", &inside("return 5050"), "0"]),
        count(&mut client, &["EVAL", &inside(COUNTED), "0"]),
    );
    let plain = count(&mut client, &["EVAL", "return 5050", "0"]);
    assert_eq!(full.1 - empty.1, first.1 - plain.1);
}

/// An engine without limits counts nothing, and a script in it cannot be stopped: whether one can tells whether the
/// counting went on.
fn unlimited() -> (Engine, std::sync::Arc<std::sync::OnceLock<Engine>>) {
    let limits = Limits { work: u64::MAX, time_ms: u64::MAX, ..Limits::default() };
    let own = std::sync::Arc::new(std::sync::OnceLock::<Engine>::new());
    let inside = own.clone();
    let engine = Engine::builder().script_limits(limits).function("kill", move |_, answer| {
        inside.get().expect("it is set").script_control().kill();
        answer.int(1);
        Ok(())
    });
    let engine = engine
        .expect("a free name")
        .function("fail", |_, _| panic!("in the host"))
        .expect("a free name")
        .build();
    own.set(engine.clone()).expect("once");
    (engine, own)
}

const KILLS_ITSELF: &str = "kill() for i = 1, 5000 do local x = i end return 7";

#[test]
fn counting_ends_with_the_call() {
    let (engine, _own) = unlimited();
    let mut client = engine.client();
    client.call(["SET", "s", "5"]).expect("sets");
    assert_eq!(client.query::<i64, _>(["EVAL", KILLS_ITSELF, "0"]), Ok(7));
    assert_eq!(stock().key("s").arg(1).run::<(i64, i64)>(&mut client), Ok((1, 4)));
    assert_eq!(client.query::<i64, _>(["EVAL", KILLS_ITSELF, "0"]), Ok(7), "after a checked call");
    for failing in
        ["error('x')", "return redis.call('NOSUCH')", "return {err = 'x'}", KILLS_ITSELF, "return ("]
    {
        client.count_instructions(["EVAL", failing, "0"]).expect("the engine is free");
        assert_eq!(client.query::<i64, _>(["EVAL", KILLS_ITSELF, "0"]), Ok(7), "{failing}");
    }
    let library = format!("#!lua name=l\nredis.register_function('f', function() {KILLS_ITSELF} end)");
    client.call(["FUNCTION", "LOAD", &library]).expect("loads");
    assert_eq!(client.query::<i64, _>(["FCALL", "f", "0"]), Ok(7), "after the code of a library");
    count(&mut client, &["FCALL", "f", "0"]);
    assert_eq!(client.query::<i64, _>(["FCALL", "f", "0"]), Ok(7), "after a counted function");
}

#[test]
fn a_coroutine_that_is_kept_from_a_counted_run_is_not_slower() {
    let limits = Limits { work: 200_000, ..Limits::default() };
    let mut client = Engine::builder().script_limits(limits).build().client();
    let library = "#!lua name=l\nlocal go redis.register_function('f', function() go = go or coroutine.wrap(function() while true do for i = 1, 10000 do local x = i end coroutine.yield(1) end end) return go() end)";
    client.call(["FUNCTION", "LOAD", library]).expect("loads");
    let counted = count(&mut client, &["FCALL", "f", "0"]).1;
    assert!((20_000..60_000).contains(&counted), "{counted}");
    for _ in 0..3 {
        assert_eq!(client.query::<i64, _>(["FCALL", "f", "0"]), Ok(1), "within its work");
    }
    let again = count(&mut client, &["FCALL", "f", "0"]).1;
    assert!(again.abs_diff(counted) <= 1000, "{again}, {counted}");
}

#[test]
fn a_killed_run_is_no_breach() {
    let (engine, _own) = unlimited();
    let text = format!("{HEAD}--!reply int\n{KILLS_ITSELF}");
    let script = Script::new(text).checked().expect("a contract");
    let error = script.key("k").arg("1").run::<i64>(&mut engine.client()).expect_err("killed");
    assert!(error.is_reply() && error.to_string().starts_with("ERR Script killed by user"), "{error}");
}

#[test]
fn a_panic_leaves_nothing_switched_on() {
    let (engine, _own) = unlimited();
    let mut client = engine.client();
    let snapshot = engine.snapshot().expect("a snapshot");
    let text = format!("{HEAD}--!reply int\nredis.call('SET', KEYS[1], 1) fail()");
    let script = Script::new(text).checked().expect("a contract");
    let panicked = catch_unwind(AssertUnwindSafe(|| script.key("k").arg("1").run::<i64>(&mut client)));
    assert!(panicked.is_err());
    assert!(client.call(["PING"]).expect_err("poisoned").is_poisoned());
    engine.restore(&snapshot).expect("restores");
    assert_eq!(client.query::<i64, _>(["EXISTS", "k"]), Ok(0));
    assert_eq!(client.query::<i64, _>(["EVAL", KILLS_ITSELF, "0"]), Ok(7));
    client.call(["SET", "s", "5"]).expect("sets");
    assert_eq!(stock().key("s").arg(1).run::<(i64, i64)>(&mut client), Ok((1, 4)));
}

#[test]
fn a_call_that_waits_can_be_counted_and_traced() {
    let engine = Engine::builder().blocking(moonkeep::Blocking::Advance).build();
    let mut client = engine.client();
    assert_eq!(count(&mut client, &["BLPOP", "l", "1"]), ("nil*".into(), 0));
    assert_eq!(count(&mut client, &["PING"]), ("+PONG".into(), 0), "it does not wait any more");
    let (reply, calls) = client.trace(["BLPOP", "l", "1"]).expect("waits");
    assert_eq!((format!("{reply:?}"), calls.len()), ("nil*".into(), 0));
}
