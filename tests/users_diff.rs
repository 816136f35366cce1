//! Random users under random rules, on moonkeep and on the server: what ACL SETUSER answers, what users look like then,
//! what ACL DRYRUN says of random commands of all families, and what these users are answered when they run some.
//! `MOONKEEP_SEED` and `MOONKEEP_DIFF_PROGRAMS` as in `tests/diff.rs`.

use crate::diff::grammar::{self, Syntax};
use crate::diff::program::Generator;
use crate::diff::rng::Rng;
use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::shrink::without_needless;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use crate::support::words;

const USERS: [&str; 4] = ["alice", "bob", "carol", "default"];
const PROGRAMS: u64 = 200;
const STEPS: usize = 60;
/// What can be said of users as it is.
const RULES: &[&str] = &[
    "on",
    "on",
    "off",
    "nopass",
    "nopass",
    "resetpass",
    ">one",
    ">two",
    "<one",
    "<two",
    "reset",
    "allcommands",
    "nocommands",
    "allkeys",
    "resetkeys",
    "allchannels",
    "resetchannels",
    "clearselectors",
    "sanitize-payload",
    "skip-sanitize-payload",
    "~*",
    "&*",
    "+@all",
    "-@all",
    "(",
    ")",
    "()",
    "",
    "x",
    "+",
    "-",
    "+@",
    "~",
    "&",
    "%",
    "%~a b",
    "#2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "!2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "#2c",
    "+select|0",
    "+get|s0",
    "-get|s0",
    "+config|get|x",
    "+config|nosuch",
    "+nosuch|x",
    "+object|",
    "OnX",
    "ALLKEYS",
    "+@nosuch",
];
const KEYS: [&str; 12] = ["s*", "*0", "?1", "[shl]*", "l0", "e*", "z0", "x*", "n?", "k*", "*", "h\\*"];
const CHANNELS: [&str; 6] = ["c*", "c1", "d?", "*", "[ab]", "x"];
/// What users run: what is answered does not depend on the order of a hash table.
const RUN: &[&str] = &[
    "GET s0",
    "GET k1",
    "SET s0 v",
    "SET s1 v GET",
    "SET k1 v",
    "MGET s0 s1 k0",
    "DEL s0 l0",
    "LPUSH l0 1 2",
    "LRANGE l0 0 -1",
    "RPOPLPUSH l0 l1",
    "COPY s0 s1 REPLACE",
    "RENAME s0 k0",
    "BITFIELD s0 GET u8 0",
    "BITFIELD s0 SET u8 0 1",
    "INCR k0",
    "STRLEN s0",
    "EXISTS s0 h0 n0",
    "TOUCH s0",
    "SORT l0 BY s* GET #",
    "SORT l0",
    "SORT l0 STORE l1",
    "ZADD z0 1 a",
    "ZUNIONSTORE z1 1 z0",
    "PUBLISH c1 x",
    "PUBLISH d1 x",
    "SPUBLISH c1 x",
    "MULTI",
    "EXEC",
    "DISCARD",
    "PING",
    "ECHO x",
    "SELECT 0",
    "CONFIG GET maxmemory",
    "OBJECT ENCODING s0",
    "EVAL \"return redis.call('GET', KEYS[1])\" 1 s0",
    "EVAL \"return redis.pcall(unpack(ARGV))\" 0 SET s0 1",
    "EVAL \"return redis.pcall(unpack(ARGV))\" 0 PUBLISH c1 1",
    "EVAL \"return redis.call('SORT', 'l0', 'BY', 's*')\" 0",
    "EVAL_RO \"return redis.pcall(unpack(ARGV))\" 0 INCR s0",
    "EVAL \"return {redis.acl_check_cmd('GET', 's0'), redis.acl_check_cmd('SET', 'k0', '1')}\" 0",
    "ACL WHOAMI",
    "NOSUCH",
    "GET",
    "RESET",
    "AUTH alice one",
    "AUTH bob two",
    "AUTH carol x",
    "AUTH default x",
    "AUTH one",
    "HELLO 2 AUTH alice one",
    "ACL USERS",
    "SUBSCRIBE",
    "XREAD STREAMS x0 0",
    "GEORADIUS z0 0 0 1 m STORE z1",
    "MSET s0 1 k0 2",
];

/// A command, and the connection that sends it.
type Step = (&'static str, Vec<Vec<u8>>);

#[test]
fn random_users_agree_with_the_server() {
    let Some(mut server) = server_or_skip("random_users_agree_with_the_server") else { return };
    let mut moonkeep = Moonkeep::default();
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let seed: u64 = number("MOONKEEP_SEED", 1);
    let syntaxes = syntaxes(&mut server, &mut moonkeep);
    for at in 0..number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS) {
        let rng = Rng::new(seed ^ (at << 20));
        let mut generator = Generator { syntaxes: &syntaxes, provocations: &[], rng };
        let program: Vec<Step> = (0..STEPS).map(|_| step(&mut generator)).collect();
        if let Some(difference) = differs(&mut server, &mut moonkeep, &program) {
            let small =
                without_needless(program, |program| differs(&mut server, &mut moonkeep, program).is_some());
            let difference = differs(&mut server, &mut moonkeep, &small).unwrap_or(difference);
            let lines: Vec<String> =
                small.iter().map(|(who, argv)| format!("{who}> {}", words::join(argv))).collect();
            panic!("seed {seed}, program {at}:\n{}\n{difference}", lines.join("\n"));
        }
    }
}

/// The commands that both sides have.
fn syntaxes(server: &mut dyn Target, moonkeep: &mut dyn Target) -> Vec<Syntax> {
    let mut all = grammar::read(server);
    all.retain(|syntax| {
        let name = syntax.name.replace(' ', "|");
        moonkeep
            .call(MAIN, &argv(&["COMMAND", "INFO", &name]))
            .items()
            .iter()
            .any(|info| !info.items().is_empty())
    });
    all.iter_mut().for_each(|syntax| syntax.weight = 1);
    all
}

fn step(generator: &mut Generator<'_>) -> Step {
    let user = *generator.rng.pick(&USERS);
    match generator.rng.below(20) {
        0..7 => {
            let mut words = argv(&["ACL", "SETUSER", user]);
            let count = generator.rng.below(4);
            let rules: Vec<String> = (0..count).map(|_| rule(generator, true)).collect();
            // The default user keeps what lets the program go on.
            let kept = ["on", "nopass", "+acl", "+ping"].map(String::from);
            let kept = if user == "default" { &kept[..] } else { &[] };
            words.extend(rules.iter().chain(kept).map(|rule| rule.as_bytes().to_vec()));
            (MAIN, words)
        }
        7 => (MAIN, argv(&["ACL", "DELUSER", USERS[generator.rng.below(3)]])),
        8..14 => {
            let mut words = argv(&["ACL", "DRYRUN", user]);
            words.extend(generator.command("").argv);
            (MAIN, words)
        }
        14 => {
            let all_channels = ["allchannels", "resetchannels"][generator.rng.below(2)];
            ("", argv(&["CONFIG", "SET", "acl-pubsub-default", all_channels]))
        }
        _ => {
            let line = generator.rng.pick(RUN);
            (*generator.rng.pick(&["b", "c"]), words::split(line).expect("words"))
        }
    }
}

fn rule(generator: &mut Generator<'_>, may_nest: bool) -> String {
    let rng = &mut generator.rng;
    let sign = *rng.pick(&["+", "+", "-"]);
    match rng.below(12) {
        0..3 => (*rng.pick(RULES)).to_owned(),
        3 => format!("{}{}", rng.pick(&["~", "%R~", "%W~", "%RW~", "%rw~"]), rng.pick(&KEYS)),
        4 => format!("~{}", rng.pick(&KEYS)),
        5 => format!("&{}", rng.pick(&CHANNELS)),
        6 | 7 => {
            let categories =
                ["read", "write", "string", "list", "fast", "slow", "dangerous", "pubsub", "scripting"];
            format!("{sign}@{}", rng.pick(&categories))
        }
        8 if may_nest => {
            let rules: Vec<String> = (0..1 + rng.below(3)).map(|_| rule(generator, false)).collect();
            format!("({})", rules.join(" "))
        }
        _ => {
            let syntax = rng.pick(generator.syntaxes);
            format!("{sign}{}", syntax.name.replace(' ', "|").to_ascii_lowercase())
        }
    }
}

/// The default user as it is after a reset that it survives.
const DEFAULT: [&str; 9] = ["ACL", "SETUSER", "default", "reset", "on", "nopass", "~*", "&*", "+@all"];

fn begin(side: &mut dyn Target) {
    side.call(MAIN, &argv(&DEFAULT));
    side.reset();
    side.call(MAIN, &argv(&DEFAULT));
}

/// The first step after which the sides differ, and how.
fn differs(server: &mut dyn Target, moonkeep: &mut dyn Target, program: &[Step]) -> Option<String> {
    begin(server);
    begin(moonkeep);
    // By which categories commands are told depends on all commands there are.
    let count = argv(&["COMMAND", "COUNT"]);
    let all = server.call(MAIN, &count) == moonkeep.call(MAIN, &count);
    let mut difference = None;
    for (who, words) in program {
        let looks: Vec<Step> = match words.get(1).map(Vec::as_slice) {
            Some(b"SETUSER") => USERS.iter().map(|user| (MAIN, argv(&["ACL", "GETUSER", user]))).collect(),
            _ => Vec::new(),
        };
        let looks = looks.into_iter().chain([(MAIN, argv(&["ACL", "LOG"])), (MAIN, argv(&["ACL", "LIST"]))]);
        for (who, words) in [(*who, words.clone())].into_iter().chain(looks) {
            let (expected, got) = (server.call(who, &words), moonkeep.call(who, &words));
            let (expected, got) = (shown(&words, expected, all), shown(&words, got, all));
            if expected != got && difference.is_none() {
                let line = words::join(&words);
                difference = Some(format!("{who}> {line}\nexpected {expected}\ngot      {got}"));
            }
        }
        if difference.is_some() {
            break;
        }
    }
    // What the reset of the next program needs.
    server.call(MAIN, &argv(&DEFAULT));
    difference
}

/// A reply without what varies: the order of single commands, ages and clients of what was refused.
fn shown(words: &[Vec<u8>], reply: Wire, all: bool) -> String {
    let text = reply.to_string();
    if text.starts_with("-(no reply)") {
        return "the session has ended".to_owned();
    }
    match words.get(1).map(Vec::as_slice) {
        Some(b"GETUSER") => {
            let items: Vec<String> =
                reply.items().iter().map(|item| sorted(&item.to_string(), all)).collect();
            items.join(" | ")
        }
        Some(b"LIST") => {
            let lines: Vec<String> =
                reply.items().iter().map(|line| sorted(&line.to_string(), all)).collect();
            lines.join("\n")
        }
        Some(b"LOG") => {
            let entries = reply.items().iter().map(|entry| {
                let fields = entry.items().iter().take(10).map(ToString::to_string);
                fields.collect::<Vec<_>>().join(" ")
            });
            entries.collect::<Vec<_>>().join("\n")
        }
        Some(b"AUTH" | b"2") => reply.shape(),
        _ => text,
    }
}

/// The words of a text in order, each set of rules for itself, with its commands or without.
fn sorted(text: &str, all: bool) -> String {
    let parts = text.split(['(', ')', ']']).map(|part| {
        let mut words: Vec<&str> = part.split([' ', '"', ',', '[']).collect();
        words.retain(|word| all || !word.starts_with(['+', '-']) || word.ends_with("@all"));
        words.sort_unstable();
        words.join(" ")
    });
    parts.collect::<Vec<_>>().join(" / ")
}
