//! Random programs of several clients that wait for lists, sorted sets and streams, on moonkeep and on the reference server: after each step the
//! replies of all of them, what was propagated, and how many wait; at the end the keyspace.
//! `MOONKEEP_SEED` repeats a run, `MOONKEEP_DIFF_PROGRAMS` sets its length.

use crate::diff::listening::Listening;
use crate::diff::told::{self, Freedom};
use crate::support::moonkeep::Moonkeep;
use crate::support::server::{propagating_server_or_skip, server_or_skip};
use crate::support::target::{Target, argv};
use crate::support::wire::Wire;
use crate::support::words;
use moonkeep::util::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: u64 = 150;
const STEPS: usize = 40;
const CLIENTS: [&str; 5] = ["a", "b", "c", "d", "e"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A line for a client; `@x` in it is the number of the client x.
    Send(&'static str, String),
    Advance(i64),
}

impl Step {
    fn line(&self) -> String {
        match self {
            Step::Send(client, line) => format!("{client}>> {line}"),
            Step::Advance(ms) => format!("advance {ms} ms"),
        }
    }
    /// The databases are exchanged, which serves in the order of a hash table when several keys are waited for.
    fn swaps(&self) -> bool {
        matches!(self, Step::Send(_, line) if line.contains("SWAPDB"))
    }
}

#[test]
fn random_clients_that_wait_agree_with_the_server() {
    let Some(mut server) = propagating_server_or_skip("random_clients_that_wait_agree_with_the_server")
    else {
        return;
    };
    compare(&mut server, &mut Moonkeep::propagating());
}

#[test]
fn random_clients_that_wait_notify_as_on_the_server() {
    let Some(server) = server_or_skip("random_clients_that_wait_notify_as_on_the_server") else { return };
    compare(&mut Listening(server), &mut Listening(Moonkeep::default()));
}

fn compare(server: &mut dyn Target, moonkeep: &mut dyn Target) {
    let number =
        |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (seed, programs) = (number("MOONKEEP_SEED", 1), number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS));
    let (mut reports, mut ended) = (Vec::new(), Ended::default());
    for number in 0..programs {
        let program = program(&mut Rng::new(seed ^ (number << 20)));
        let mut sides = Sides { server, moonkeep, ended: &mut ended };
        if let Err(difference) = sides.run(&program) {
            let (program, difference) = shrink(&mut sides, program, difference);
            let lines: Vec<String> = program.iter().map(Step::line).collect();
            reports.push(format!("== program {number}\n{}\n{difference}", lines.join("\n")));
        }
        if reports.len() == 8 {
            break;
        }
    }
    println!("{ended:?}");
    let Ended { by_time, by_unblock, served, several_at_once } = ended;
    let rarest = by_time.min(by_unblock).min(served).min(several_at_once);
    assert!(
        reports.is_empty(),
        "{} programs differ (seed {seed}):\n\n{}",
        reports.len(),
        reports.join("\n\n")
    );
    assert!(rarest * 10 > programs, "hardly reached: {rarest} times in {programs} programs");
}

/// Leaves out steps as long as the sides still differ.
fn shrink(sides: &mut Sides<'_>, mut program: Vec<Step>, mut difference: String) -> (Vec<Step>, String) {
    for size in [16, 8, 4, 2, 1, 1] {
        let mut at = 0;
        while at < program.len() {
            let mut smaller = program.clone();
            smaller.drain(at..(at + size).min(program.len()));
            match sides.run(&smaller) {
                Err(other) => (program, difference) = (smaller, other),
                Ok(()) => at += size,
            }
        }
    }
    (program, difference)
}

struct Sides<'a> {
    server: &'a mut dyn Target,
    moonkeep: &'a mut dyn Target,
    ended: &'a mut Ended,
}

/// How often the waiting of a client ended so.
#[derive(Debug, Default)]
struct Ended {
    by_time: u64,
    by_unblock: u64,
    served: u64,
    several_at_once: u64,
}

impl Ended {
    fn note(&mut self, step: &Step, clients: usize) {
        match step {
            _ if clients == 0 => {}
            Step::Advance(_) => self.by_time += 1,
            Step::Send(_, line) if line.starts_with("CLIENT") => self.by_unblock += 1,
            Step::Send(..) if clients > 1 => self.several_at_once += 1,
            Step::Send(..) => self.served += 1,
        }
    }
}

impl Sides<'_> {
    fn run(&mut self, program: &[Step]) -> Result<(), String> {
        self.server.reset();
        self.moonkeep.reset();
        let ids = [numbers(self.server), numbers(self.moonkeep)];
        let mut waiting: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (at, step) in program.iter().enumerate() {
            let keys: BTreeSet<&String> = waiting.values().flatten().collect();
            match step {
                Step::Advance(ms) => {
                    self.server.advance(*ms);
                    self.moonkeep.advance(*ms);
                }
                Step::Send(client, line) => {
                    if waiting.contains_key(client) || (step.swaps() && keys.len() > 1) {
                        continue;
                    }
                    self.server.send(client, &filled(line, &ids[0]));
                    self.moonkeep.send(client, &filled(line, &ids[1]));
                    waiting.insert(client, keys_waited_for(line));
                }
            }
            self.compare(at, step, told_otherwise(&program[..=at]))?;
            let waits = [who_waits(self.server, &ids[0]), who_waits(self.moonkeep, &ids[1])];
            let sender = if let Step::Send(client, _) = step { client } else { "" };
            let ended = waiting.keys().filter(|client| **client != sender && !waits[0].contains(client));
            self.ended.note(step, ended.count());
            waiting.retain(|client, _| waits[0].contains(client));
            let [expected, got] = waits;
            differ(at, "who waits", expected, got)?;
        }
        for db in ["0", "1"] {
            differ(
                program.len(),
                &format!("database {db}"),
                state(self.server, db),
                state(self.moonkeep, db),
            )?;
        }
        Ok(())
    }
    /// What all clients were answered, and what was propagated.
    fn compare(&mut self, at: usize, step: &Step, freedom: Freedom) -> Result<(), String> {
        // The server has answered all that it was sent: of the replies of one round of its loop, this may be the first.
        for _ in 0..2 {
            self.server.call("(state)", &argv(&["PING"]));
        }
        for client in CLIENTS {
            let (expected, got) = (replies(self.server, client), replies(self.moonkeep, client));
            differ(at, &format!("{client} is answered"), expected, got)?;
        }
        let (mut expected, mut got) = (self.server.effects(), self.moonkeep.effects());
        if matches!(step, Step::Advance(_)) {
            expected.sort();
            got.sort();
        }
        if told::agree(&expected, &got, freedom) {
            Ok(())
        } else {
            differ(at, "what is propagated", expected, got)
        }
    }
}

/// What the last step may tell otherwise; EXEC runs what was sent before.
fn told_otherwise(program: &[Step]) -> Freedom {
    let lines = program.iter().rev().map(|step| match step {
        Step::Send(_, line) => line.as_str(),
        Step::Advance(_) => "",
    });
    let count = if lines.clone().next() == Some("EXEC") { program.len() } else { 1 };
    lines.take(count).map(|line| Freedom::of(&filled(line, &[]))).fold(Freedom::default(), Freedom::or)
}

fn differ<T: PartialEq + std::fmt::Debug>(at: usize, what: &str, expected: T, got: T) -> Result<(), String> {
    if expected == got {
        Ok(())
    } else {
        Err(format!("step {at}, {what}:\nexpected {expected:?}\ngot      {got:?}"))
    }
}

/// The numbers of all clients.
fn numbers(side: &mut dyn Target) -> Vec<String> {
    let number = |client: &&str| match side.call(client, &argv(&["CLIENT", "ID"])) {
        Wire::Int(number) => number.to_string(),
        other => panic!("CLIENT ID answers {other}"),
    };
    CLIENTS.iter().map(number).collect()
}

fn filled(line: &str, ids: &[String]) -> Vec<Vec<u8>> {
    let mut line = line.to_owned();
    for (client, id) in CLIENTS.iter().zip(ids) {
        line = line.replace(&format!("@{client}"), id);
    }
    words::split(&line).expect("a well-formed line")
}

fn keys_waited_for(line: &str) -> Vec<String> {
    line.split(' ').filter(|word| word.starts_with('k')).map(str::to_owned).collect()
}

fn replies(side: &mut dyn Target, client: &str) -> Vec<String> {
    let next = || match side.poll(client) {
        Wire::Timeout => None,
        // HELLO tells the number of the client.
        reply => Some(reply.to_string().split("\"id\"").next().unwrap_or_default().to_owned()),
    };
    std::iter::from_fn(next).collect()
}

/// Which clients wait.
fn who_waits(side: &mut dyn Target, ids: &[String]) -> Vec<&'static str> {
    let list = side.call("(state)", &argv(&["CLIENT", "LIST"]));
    let list = String::from_utf8_lossy(list.bytes().unwrap_or_default()).into_owned();
    let waits = |id: &String| {
        let line = list.lines().find(|line| line.starts_with(&format!("id={id} ")));
        let flags = line.and_then(|line| line.split(" flags=").nth(1)?.split(' ').next());
        flags.is_some_and(|flags| flags.contains('b'))
    };
    CLIENTS.into_iter().zip(ids).filter(|(_, id)| waits(id)).map(|(client, _)| client).collect()
}

fn state(side: &mut dyn Target, db: &str) -> Vec<String> {
    let mut ask = |words: &[&str]| side.call("(state)", &argv(words)).to_string();
    ask(&["SELECT", db]);
    KEYS.iter()
        .map(|key| {
            let kind = ask(&["TYPE", key]);
            let value = match kind.as_str() {
                "+zset" => ask(&["ZRANGE", key, "0", "-1", "WITHSCORES"]),
                "+stream" => ask(&["XINFO", "STREAM", key, "FULL", "COUNT", "0"]),
                _ => ask(&["LRANGE", key, "0", "-1"]),
            };
            format!("{key}: {kind} {value} {}", ask(&["PTTL", key]))
        })
        .collect()
}

const KEYS: [&str; 4] = ["k0", "k1", "k2", "k3"];
const TIMEOUTS: [&str; 11] = ["0", "0", "0", "0", "0", "0.05", "0.1", "1", "0.0001", "1e-2", "1000000000000"];
const TIMES: [i64; 8] = [0, 1, 10, 50, 51, 100, 101, 1001];

/// What the clients of a program wait for, mostly.
struct Family {
    begin: &'static [&'static str],
    /// What waits.
    waiting: &'static [&'static str],
    /// What wakes.
    pushes: &'static [&'static str],
    /// What may wake, or gets in the way, beside [`OTHERS`].
    others: &'static [&'static str],
    scripts: &'static [&'static str],
}

/// In lines K is a key, E an end of a list, X one of a sorted set, T a timeout in seconds, B one in milliseconds, V a new
/// value, N a small number, I an ID, P the ID to read from.
const FAMILIES: [Family; 3] = [
    Family {
        begin: &[],
        waiting: &[
            "BLPOP K T",
            "BLPOP K K T",
            "BRPOP K K K T",
            "BRPOP K T",
            "BLMOVE K K E E T",
            "BLMOVE K K E E T",
            "BRPOPLPUSH K K T",
            "BLMPOP T 1 K E",
            "BLMPOP T 2 K K E COUNT N",
        ],
        pushes: &["RPUSH K V", "RPUSH K V", "RPUSH K V V V", "LPUSH K V V", "DEL K", "DEL K K K"],
        others: &[
            "RPUSHX K V",
            "LINSERT K BEFORE v1 V",
            "LPOP K",
            "RPOP K N",
            "LTRIM K 1 0",
            "LMOVE K K E E",
            "RPOPLPUSH K K",
            "LMPOP 2 K K E COUNT N",
            "LLEN K",
        ],
        scripts: LIST_SCRIPTS,
    },
    Family {
        begin: &[],
        waiting: &[
            "BZPOPMIN K T",
            "BZPOPMIN K K K T",
            "BZPOPMAX K T",
            "BZPOPMAX K K T",
            "BZMPOP T 1 K X",
            "BZMPOP T 2 K K X COUNT N",
        ],
        pushes: &[
            "ZADD K N V",
            "ZADD K N V",
            "ZADD K N V N V N V",
            "ZADD K NX N V",
            "ZINCRBY K N V",
            "DEL K",
            "DEL K K K",
        ],
        others: &[
            "ZADD K XX N v1",
            "ZADD K INCR N V",
            "ZADD K NX CH N V N V",
            "ZPOPMIN K",
            "ZPOPMAX K N",
            "ZMPOP 2 K K X COUNT N",
            "ZREM K v1 v2",
            "ZREMRANGEBYRANK K 0 -1",
            "ZUNIONSTORE K 2 K K",
            "ZINTERSTORE K 2 K K",
            "ZDIFFSTORE K 2 K K",
            "ZRANGESTORE K K 0 N",
            "GEOADD K 13.5 38.1 V",
            "GEORADIUS K 13 38 99 km STORE K",
            "GEOSEARCHSTORE K K FROMLONLAT 13 38 BYRADIUS 99 km",
            "ZCARD K",
        ],
        scripts: ZSET_SCRIPTS,
    },
    Family {
        begin: &["XGROUP CREATE k0 g $ MKSTREAM", "XGROUP CREATE k1 g 0 MKSTREAM", "XADD k2 1-1 f v"],
        waiting: &[
            "XREAD BLOCK B STREAMS K P",
            "XREAD BLOCK B STREAMS K $",
            "XREAD COUNT N BLOCK B STREAMS K K $ P",
            "XREADGROUP GROUP g c BLOCK B STREAMS K >",
            "XREADGROUP GROUP g d BLOCK B STREAMS K >",
            "XREADGROUP GROUP g c COUNT N BLOCK B NOACK STREAMS K >",
            "XREADGROUP GROUP g c COUNT N BLOCK B STREAMS K K > >",
            "XREADGROUP GROUP g d COUNT N BLOCK B STREAMS K K > 0",
        ],
        pushes: &["XADD K * f V", "XADD K * f V", "XADD K * f V g V", "XADD K I f V", "DEL K"],
        others: &[
            "XGROUP CREATE K g $ MKSTREAM",
            "XGROUP CREATE K g 0 MKSTREAM",
            "XGROUP CREATE K g $ MKSTREAM",
            "XGROUP DESTROY K g",
            "XGROUP SETID K g P",
            "XGROUP SETID K g $",
            "XGROUP DELCONSUMER K g c",
            "XGROUP CREATECONSUMER K g d",
            "XADD K NOMKSTREAM * f V",
            "XADD K MAXLEN N * f V",
            "XDEL K I",
            "XTRIM K MAXLEN 0",
            "XSETID K 9-9",
            "XACK K g I",
            "XAUTOCLAIM K g c 0 0",
            "XCLAIM K g d 0 I",
            "XREADGROUP GROUP g c STREAMS K >",
            "XREAD STREAMS K P",
            "XLEN K",
        ],
        scripts: STREAM_SCRIPTS,
    },
];

/// What may wake, or gets in the way.
const OTHERS: &[&str] = &[
    "DEL K",
    "UNLINK K K",
    "RENAME K K",
    "RENAMENX K K",
    "COPY K K REPLACE",
    "COPY K K DB 1 REPLACE",
    "MOVE K 1",
    "SET K V",
    "SET K V GET",
    "SADD K V",
    "RPUSH K V",
    "ZADD K 1 V",
    "XADD K * f V",
    "PEXPIRE K 50",
    "PEXPIRE K 0",
    "PERSIST K",
    "SELECT 1",
    "SELECT 0",
    "SWAPDB 0 1",
    "FLUSHDB",
    "FLUSHALL",
    "WATCH K",
    "UNWATCH",
    "CLIENT UNBLOCK @a",
    "CLIENT UNBLOCK @b ERROR",
    "CLIENT UNBLOCK @b",
    "CLIENT UNBLOCK @c TIMEOUT",
    "CLIENT UNBLOCK @d ERROR",
    "CLIENT REPLY SKIP",
    "CLIENT REPLY OFF",
    "CLIENT REPLY ON",
    "HELLO 3",
    "HELLO 2",
    "RESET",
];

const LIST_SCRIPTS: &[&str] = &[
    "redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2]) redis.call('DEL', KEYS[1])",
    "redis.call('RPUSH', KEYS[1], ARGV[1]) redis.call('LPUSH', KEYS[2], ARGV[2]) return redis.call('LLEN', KEYS[1])",
    "redis.call('RPUSH', KEYS[2], ARGV[1]) redis.call('RPUSH', KEYS[1], ARGV[2])",
    "redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('RENAME', KEYS[1], KEYS[2])",
    "redis.call('RPUSH', KEYS[1], ARGV[1]) error('late')",
    "redis.call('SELECT', 1) return redis.call('RPUSH', KEYS[1], ARGV[1])",
    "redis.call('SET', KEYS[1], ARGV[1]) redis.call('DEL', KEYS[1]) return redis.call('RPUSH', KEYS[1], ARGV[2])",
    "redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('SET', KEYS[1], ARGV[2])",
    "return redis.pcall('BLPOP', KEYS[1], 0)",
    "return redis.pcall('BLMPOP', 0, 1, KEYS[1], 'LEFT')",
];

const ZSET_SCRIPTS: &[&str] = &[
    "redis.call('ZADD', KEYS[1], 1, ARGV[1]) redis.call('DEL', KEYS[1])",
    "redis.call('ZADD', KEYS[1], 1, ARGV[1]) redis.call('ZADD', KEYS[2], 2, ARGV[2])",
    "redis.call('ZADD', KEYS[2], 1, ARGV[1]) redis.call('ZADD', KEYS[1], 2, ARGV[2])",
    "redis.call('ZADD', KEYS[1], 1, ARGV[1]) return redis.call('RENAME', KEYS[1], KEYS[2])",
    "redis.call('SET', KEYS[1], ARGV[1]) redis.call('DEL', KEYS[1]) return redis.call('ZADD', KEYS[1], 1, ARGV[2])",
    "redis.call('ZADD', KEYS[1], 1, ARGV[1]) redis.call('DEL', KEYS[1]) return redis.call('RPUSH', KEYS[1], ARGV[2])",
    "return redis.pcall('BZPOPMIN', KEYS[1], 0)",
    "return redis.pcall('BZMPOP', 0, 1, KEYS[1], 'MIN')",
];

const STREAM_SCRIPTS: &[&str] = &[
    "redis.call('XADD', KEYS[1], '*', 'f', ARGV[1]) redis.call('DEL', KEYS[1])",
    "redis.call('XADD', KEYS[1], '*', 'f', ARGV[1]) redis.call('XADD', KEYS[2], '*', 'f', ARGV[2])",
    "redis.call('XADD', KEYS[1], '*', 'f', ARGV[1]) return redis.call('XTRIM', KEYS[1], 'MAXLEN', 0)",
    "redis.call('XADD', KEYS[1], '*', 'f', ARGV[1]) return redis.call('RENAME', KEYS[1], KEYS[2])",
    "redis.call('DEL', KEYS[1]) return redis.call('XGROUP', 'CREATE', KEYS[1], 'g', '$', 'MKSTREAM')",
    "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1])",
    "redis.call('XADD', KEYS[1], '*', 'f', ARGV[1]) return redis.pcall('XGROUP', 'DESTROY', KEYS[1], 'g')",
    "return redis.pcall('XREAD', 'BLOCK', 0, 'STREAMS', KEYS[1], '$')",
    "return redis.pcall('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', KEYS[1], '>')",
];

fn program(rng: &mut Rng) -> Vec<Step> {
    let family = &FAMILIES[rng.below(FAMILIES.len() as u64) as usize];
    let mut steps: Vec<Step> = family.begin.iter().map(|line| Step::Send("e", (*line).into())).collect();
    let mut values = 0;
    while steps.len() < STEPS {
        let client = pick(rng, &CLIENTS);
        match rng.below(20) {
            0 | 1 => steps.push(Step::Advance(pick(rng, &TIMES))),
            // The last client never waits: it wakes the others.
            2..9 if client != "e" => {
                // Now and then something of another type is waited for.
                let family = if rng.below(12) == 0 { &FAMILIES[rng.below(3) as usize] } else { family };
                steps.push(Step::Send(client, line(rng, family.waiting, &mut values)));
            }
            9 => {
                let line = format!("EVAL \"{}\" 2 K K V V", pick(rng, family.scripts));
                steps.push(Step::Send("e", fill(rng, &line, &mut values)));
            }
            10 => transaction(rng, family, &mut steps, &mut values),
            _ => {
                // Mostly one that does not wait.
                let client = if rng.below(4) == 0 { client } else { "e" };
                let from = if rng.below(2) == 0 { family.pushes } else { in_the_way(rng, family) };
                steps.push(Step::Send(client, line(rng, from, &mut values)));
            }
        }
    }
    steps
}

fn in_the_way(rng: &mut Rng, family: &Family) -> &'static [&'static str] {
    if rng.below(3) == 0 { family.others } else { OTHERS }
}

fn transaction(rng: &mut Rng, family: &Family, steps: &mut Vec<Step>, values: &mut usize) {
    steps.push(Step::Send("e", "MULTI".into()));
    for _ in 0..1 + rng.below(4) {
        let from = match rng.below(4) {
            0 => family.waiting,
            1 => family.pushes,
            _ => in_the_way(rng, family),
        };
        let line = line(rng, from, values);
        // In EXEC the server begins to reply, or to reply in another protocol, in the midst of its array.
        if !line.starts_with("CLIENT REPLY") && !line.starts_with("HELLO") {
            steps.push(Step::Send("e", line));
        }
    }
    steps.push(Step::Send("e", if rng.below(8) == 0 { "DISCARD" } else { "EXEC" }.into()));
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// One of these lines, filled in.
fn line(rng: &mut Rng, from: &[&str], values: &mut usize) -> String {
    let line = pick(rng, from);
    fill(rng, line, values)
}

fn fill(rng: &mut Rng, line: &str, values: &mut usize) -> String {
    let word = |word: &str| match word {
        "K" => pick(rng, &KEYS).to_owned(),
        "E" => pick(rng, &["LEFT", "RIGHT", "left"]).to_owned(),
        "X" => pick(rng, &["MIN", "MAX", "min"]).to_owned(),
        "T" => pick(rng, &TIMEOUTS).to_owned(),
        "B" => pick(rng, &["0", "0", "0", "0", "50", "100", "1000", "1"]).to_owned(),
        "I" => pick(rng, &["1-1", "2-1", "2-*", "5-5", "0-1"]).to_owned(),
        "P" => pick(rng, &["0", "0-0", "1-1", "5", "$"]).to_owned(),
        "N" => (1 + rng.below(3)).to_string(),
        "V" => {
            *values += 1;
            format!("v{values}")
        }
        other => other.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
