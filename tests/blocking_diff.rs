//! Random programs of several clients that wait for lists, on moonkeep and on the reference server: after each step the
//! replies of all of them, what was propagated, and how many wait; at the end the keyspace.
//! `MOONKEEP_SEED` repeats a run, `MOONKEEP_DIFF_PROGRAMS` sets its length.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::{Server, propagating_server_or_skip};
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
    let mut moonkeep = Moonkeep::propagating();
    let number =
        |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (seed, programs) = (number("MOONKEEP_SEED", 1), number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS));
    let (mut reports, mut ended) = (Vec::new(), Ended::default());
    for number in 0..programs {
        let program = program(&mut Rng::new(seed ^ (number << 20)));
        let mut sides = Sides { server: &mut server, moonkeep: &mut moonkeep, ended: &mut ended };
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
    assert!(rarest * 10 > programs, "hardly reached: {rarest} times in {programs} programs");
    assert!(
        reports.is_empty(),
        "{} programs differ (seed {seed}):\n\n{}",
        reports.len(),
        reports.join("\n\n")
    );
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
    server: &'a mut Server,
    moonkeep: &'a mut Moonkeep,
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
        let ids = [&mut *self.server as &mut dyn Target, self.moonkeep].map(numbers);
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
            self.compare(at, matches!(step, Step::Advance(_)))?;
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
    fn compare(&mut self, at: usize, time_passed: bool) -> Result<(), String> {
        self.server.settle();
        for client in CLIENTS {
            let (expected, got) = (replies(self.server, client), replies(self.moonkeep, client));
            differ(at, &format!("{client} is answered"), expected, got)?;
        }
        let (mut expected, mut got) = (self.server.effects(), self.moonkeep.effects());
        if time_passed {
            expected.sort();
            got.sort();
        }
        differ(at, "what is propagated", expected, got)
    }
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
            format!(
                "{key}: {} {} {}",
                ask(&["LRANGE", key, "0", "-1"]),
                ask(&["TYPE", key]),
                ask(&["PTTL", key])
            )
        })
        .collect()
}

const KEYS: [&str; 4] = ["k0", "k1", "k2", "k3"];
const TIMEOUTS: [&str; 11] = ["0", "0", "0", "0", "0", "0.05", "0.1", "1", "0.0001", "1e-2", "1000000000000"];
const TIMES: [i64; 8] = [0, 1, 10, 50, 51, 100, 101, 1001];

/// What waits. K is a key, E an end, T a timeout, V a new value, N a small number.
const WAITING: &[&str] = &[
    "BLPOP K T",
    "BLPOP K K T",
    "BRPOP K K K T",
    "BRPOP K T",
    "BLMOVE K K E E T",
    "BLMOVE K K E E T",
    "BRPOPLPUSH K K T",
    "BLMPOP T 1 K E",
    "BLMPOP T 2 K K E COUNT N",
];

/// What wakes.
const PUSHES: &[&str] = &["RPUSH K V", "RPUSH K V", "RPUSH K V V V", "LPUSH K V V", "DEL K", "DEL K K K"];

/// What may wake, or gets in the way.
const OTHERS: &[&str] = &[
    "RPUSHX K V",
    "LINSERT K BEFORE v1 V",
    "LPOP K",
    "RPOP K N",
    "LTRIM K 1 0",
    "LMOVE K K E E",
    "RPOPLPUSH K K",
    "LMPOP 2 K K E COUNT N",
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
    "ZADD K 1 V",
    "PEXPIRE K 50",
    "PEXPIRE K 0",
    "PERSIST K",
    "LLEN K",
    "SELECT 1",
    "SELECT 0",
    "SWAPDB 0 1",
    "FLUSHDB",
    "FLUSHALL",
    "WATCH K",
    "UNWATCH",
    "CLIENT UNBLOCK @a",
    "CLIENT UNBLOCK @b ERROR",
    "CLIENT UNBLOCK @c TIMEOUT",
    "CLIENT REPLY SKIP",
    "CLIENT REPLY OFF",
    "CLIENT REPLY ON",
    "HELLO 3",
    "HELLO 2",
    "RESET",
];

const SCRIPTS: &[&str] = &[
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

fn program(rng: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut values = 0;
    while steps.len() < STEPS {
        let client = pick(rng, &CLIENTS);
        match rng.below(20) {
            0 | 1 => steps.push(Step::Advance(pick(rng, &TIMES))),
            // The last client never waits: it wakes the others.
            2..9 if client != "e" => steps.push(Step::Send(client, line(rng, WAITING, &mut values))),
            9 => {
                let line = format!("EVAL \"{}\" 2 K K V V", pick(rng, SCRIPTS));
                steps.push(Step::Send("e", fill(rng, &line, &mut values)));
            }
            10 => transaction(rng, &mut steps, &mut values),
            _ => {
                // Mostly one that does not wait.
                let client = if rng.below(4) == 0 { client } else { "e" };
                let from = if rng.below(2) == 0 { PUSHES } else { OTHERS };
                steps.push(Step::Send(client, line(rng, from, &mut values)));
            }
        }
    }
    steps
}

fn transaction(rng: &mut Rng, steps: &mut Vec<Step>, values: &mut usize) {
    steps.push(Step::Send("e", "MULTI".into()));
    for _ in 0..1 + rng.below(4) {
        let from = if rng.below(4) == 0 { WAITING } else { OTHERS };
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
        "T" => pick(rng, &TIMEOUTS).to_owned(),
        "N" => (1 + rng.below(3)).to_string(),
        "V" => {
            *values += 1;
            format!("v{values}")
        }
        other => other.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
