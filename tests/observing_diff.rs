//! Random programs of several clients that watch, cache and hold each other back (MONITOR, CLIENT TRACKING in all its modes,
//! CLIENT PAUSE), on the front and on the reference server: after each step, all that each of them reads. `MOONKEEP_SEED`
//! repeats a run, `MOONKEEP_DIFF_PROGRAMS` sets its length.

use crate::diff::rng::Rng;
use crate::support::served::Served;
use crate::support::server::{Server, server_or_skip};
use crate::support::shrink::without_needless;
use crate::support::target::{Target, argv};
use crate::support::wire::Wire;
use crate::support::words;
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: u64 = 40;
/// Each of them waits for the real server again and again.
const PROGRAMS_MAX: u64 = 2000;
const STEPS: usize = 50;
const CLIENTS: [&str; 4] = ["a", "b", "c", "d"];
/// Watches all that runs. Nothing holds it back, so that it tells when the others have been answered.
const WATCH: &str = "watch";
/// What it says for that: it stands in the lines of all who MONITOR.
const TOKEN: &str = "so far";
/// How often it has to be answered until what others were sent has been written.
const ROUNDS: usize = 3;

/// Caches, in all modes; prefixes do not overlap, which has an answer of its own.
const TRACKING: &[&str] = &[
    "HELLO 3",
    "HELLO 3",
    "CLIENT TRACKING ON",
    "CLIENT TRACKING ON",
    "CLIENT TRACKING ON NOLOOP",
    "CLIENT TRACKING ON OPTIN",
    "CLIENT TRACKING ON OPTOUT",
    "CLIENT TRACKING ON OPTOUT NOLOOP",
    "CLIENT TRACKING ON BCAST",
    "CLIENT TRACKING ON BCAST PREFIX a",
    "CLIENT TRACKING ON BCAST PREFIX b NOLOOP",
    "CLIENT TRACKING ON BCAST PREFIX a PREFIX b",
    "CLIENT TRACKING ON REDIRECT @?",
    "CLIENT TRACKING ON BCAST REDIRECT @?",
    "CLIENT TRACKING ON OPTIN REDIRECT @? NOLOOP",
    "CLIENT TRACKING ON REDIRECT 999999",
    "CLIENT TRACKING OFF",
    "CLIENT CACHING YES",
    "CLIENT CACHING YES",
    "CLIENT CACHING NO",
    "CLIENT TRACKINGINFO",
    "SUBSCRIBE __redis__:invalidate",
    "UNSUBSCRIBE",
];
/// What notes keys.
const READS: &[&str] = &[
    "GET K1",
    "GET K1",
    "MGET K1 K2",
    "EXISTS K1 K2",
    "STRLEN K1",
    "TYPE K1",
    "EVAL \"return redis.call('GET', KEYS[1])\" 1 K1",
    "EVAL_RO \"return redis.call('STRLEN', KEYS[1])\" 1 K1",
    "EVAL \"#!lua flags=no-writes\\nreturn redis.call('EXISTS', 'K1')\" 0",
    "DBSIZE",
];
/// What tells of them.
const WRITES: &[&str] = &[
    "SET K1 1",
    "SET K1 1",
    "SET K1 2 GET",
    "MSET K1 3 K2 4",
    "INCR K1",
    "APPEND K1 5",
    "DEL K1",
    "DEL K1 K2",
    "UNLINK K1",
    "RENAME K1 K2",
    "COPY K1 K2 REPLACE",
    "GETDEL K1",
    "SETRANGE K1 2 x",
    "PFADD h K1",
    "PFCOUNT h",
    "EVAL \"return redis.call('SET', KEYS[1], 6)\" 1 K1",
    "EVAL \"redis.call('GET', KEYS[1]) return redis.call('INCR', KEYS[2])\" 2 K1 K2",
    "FLUSHDB",
    "FLUSHALL",
    "PUBLISH ch hi",
];
/// What holds back.
const PAUSES: &[&str] = &[
    "CLIENT PAUSE 20",
    "CLIENT PAUSE 20 WRITE",
    "CLIENT PAUSE 20 WRITE",
    "CLIENT PAUSE 1 ALL",
    "CLIENT PAUSE 0",
    "CLIENT PAUSE 20 SOME",
    "CLIENT PAUSE -1",
    "CLIENT UNPAUSE",
    "CLIENT UNPAUSE",
];
/// What else a client does.
const OTHERS: &[&str] = &[
    "SELECT 1",
    "SELECT 0",
    "RESET",
    "HELLO 2",
    "AUTH secret",
    "NOSUCH",
    "GET",
    "CLIENT NO-EVICT ON",
    "SCRIPT LOAD \"return 1\"",
    "CONFIG SET tracking-table-max-keys 2",
    "CONFIG SET tracking-table-max-keys 1000000",
    "ECHO x",
];
const WATCHING: &[&str] = &["MONITOR", "MONITOR", "RESET", "PING hi"];
const TRANSACTIONS: &[&str] = &["MULTI", "MULTI", "EXEC", "EXEC", "EXEC", "DISCARD", "WATCH K1", "UNWATCH"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A line for a client; `@x` in it is the number of the client x.
    Send(&'static str, String),
    Advance(i64),
}

impl Step {
    fn line(&self) -> String {
        match self {
            Step::Send(client, line) => format!("{client}> {line}"),
            Step::Advance(ms) => format!("advance {ms} ms"),
        }
    }
}

/// What was read, over all programs.
#[derive(Debug, Default)]
struct Reached {
    shown: u64,
    told: u64,
    held: u64,
}

#[test]
fn random_clients_that_observe_agree_with_the_server() {
    let test = "random_clients_that_observe_agree_with_the_server";
    let Some(mut server) = server_or_skip(test) else { return };
    let mut served = Served::default();
    let number =
        |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (seed, programs) =
        (number("MOONKEEP_SEED", 1), number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS).min(PROGRAMS_MAX));
    let mut reached = Reached::default();
    for at in 0..programs {
        let program = program(&mut Rng::new(seed ^ (at << 20)));
        let mut run = |program: &[Step]| run(&mut server, &mut served, program, &mut reached).err();
        // A busy machine may let a pause of the server end early; what is wrong is wrong again.
        if run(&program).is_some()
            && let Some(difference) = run(&program)
        {
            let small = without_needless(program, |program| run(program).is_some());
            let difference = run(&small).unwrap_or(difference);
            let lines: Vec<String> = small.iter().map(Step::line).collect();
            panic!("seed {seed}, program {at}:\n{}\n{difference}", lines.join("\n"));
        }
    }
    println!("{reached:?}");
    let Reached { shown, told, held } = reached;
    assert!(shown.min(8 * told).min(held) > programs, "hardly reached in {programs} programs");
}

fn program(rng: &mut Rng) -> Vec<Step> {
    let step = |rng: &mut Rng| match rng.below(16) {
        0 => Step::Advance([1, 10, 30][rng.below(3)]),
        _ => {
            let client = *rng.pick(&CLIENTS);
            Step::Send(client, line(rng, client))
        }
    };
    (0..STEPS).map(|_| step(rng)).collect()
}

fn key(rng: &mut Rng) -> &'static str {
    ["a", "a1", "b", "b1", "c"][rng.below(5)]
}

fn line(rng: &mut Rng, client: &str) -> String {
    let line = match rng.below(11) {
        0 => *rng.pick(TRACKING),
        1..4 => rng.pick(READS),
        4..7 => rng.pick(WRITES),
        // What a client that MONITORs is shown of its own transaction stands elsewhere than on the server.
        7..9 if client == "d" => rng.pick(WATCHING),
        7..9 => rng.pick(TRANSACTIONS),
        9 => rng.pick(PAUSES),
        _ => rng.pick(OTHERS),
    };
    line.replace("K1", key(rng)).replace("K2", key(rng)).replace("@?", ["@a", "@b", "@c"][rng.below(3)])
}

/// One side: what passes the time, and the numbers of its clients.
struct Side<'a> {
    target: &'a mut dyn Target,
    numbers: BTreeMap<&'static str, String>,
}

impl<'a> Side<'a> {
    fn new(target: &'a mut dyn Target) -> Self {
        target.reset();
        let mut side = Side { target, numbers: BTreeMap::new() };
        side.call("CONFIG SET tracking-table-max-keys 1000000");
        for client in CLIENTS {
            let number = side.target.call(client, &argv(&["CLIENT", "ID"])).to_string();
            side.numbers.insert(client, number.trim_start_matches(':').to_owned());
        }
        side.call("MONITOR");
        side
    }
    fn call(&mut self, line: &str) -> Wire {
        self.target.call(WATCH, &words::split(line).expect("words"))
    }
    fn send(&mut self, client: &str, line: &str) {
        let mut line = line.to_owned();
        for (name, number) in &self.numbers {
            line = line.replace(&format!("@{name}"), number);
        }
        self.target.send(client, &words::split(&line).expect("words"));
    }
    /// All that has been read by now, by client; what the watcher is shown too.
    fn read(&mut self) -> BTreeMap<&'static str, Vec<String>> {
        let mut all: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for _ in 0..ROUNDS {
            self.target.send(WATCH, &argv(&["ECHO", TOKEN]));
            loop {
                match self.target.receive(WATCH) {
                    Wire::Bulk(text) if text == TOKEN.as_bytes() => break,
                    Wire::Timeout => panic!("the watcher is not answered"),
                    // It has ended a pause itself: the answer stands before or behind what goes on.
                    Wire::Status(text) if text == b"OK" => {}
                    shown => all.entry(WATCH).or_default().extend(self.shown(&shown)),
                }
            }
        }
        for client in CLIENTS {
            loop {
                match self.target.poll(client) {
                    Wire::Timeout => break,
                    reply => all.entry(client).or_default().extend(self.shown(&reply)),
                }
            }
        }
        // What a client is shown of its own script stands before the reply on the server, behind it here.
        let is_line = |text: &String| text.starts_with('+') && text.contains(" [");
        all.values_mut().for_each(|lines| lines.sort_by_key(is_line));
        all
    }
    /// A reply as both sides have it: without addresses and numbers, and without what this test itself does.
    fn shown(&self, reply: &Wire) -> Option<String> {
        let text = match reply {
            // What HELLO says varies.
            reply if reply.to_string().contains("\"modules\"") => "what HELLO says".into(),
            reply => reply.to_string(),
        };
        let is_own = [TOKEN, "\"PING\"", "\"CLIENT\" \"PAUSE\" \"0\" \"WRITE\"", "\"CLIENT\" \"ID\""];
        if is_own.iter().any(|part| text.contains(part)) {
            return None;
        }
        let text = match (text.find(" unix:"), text.find("] \"")) {
            (Some(from), Some(to)) if from < to => format!("{}{}", &text[..from], &text[to..]),
            _ => text,
        };
        let quote = if text.contains("\"REDIRECT\"") { "\"" } else { ":" };
        if quote == ":" && !text.contains("redirect") {
            return Some(text);
        }
        let number =
            |number: &String| if quote == ":" { format!(":{number}") } else { format!("\"{number}\"") };
        Some(self.numbers.iter().fold(text, |text, (name, id)| text.replace(&number(id), name)))
    }
    /// Lets all go on that is held back, so that what comes next finds the side free.
    fn end(&mut self) {
        // What goes on may pause again.
        for _ in 0..=2 * CLIENTS.len() {
            self.send(WATCH, "CLIENT UNPAUSE");
            self.read();
        }
    }
}

/// The first step after which the sides differ, and how.
fn run(
    server: &mut Server,
    served: &mut Served,
    program: &[Step],
    reached: &mut Reached,
) -> Result<(), String> {
    let (mut theirs, mut ours) = (Side::new(server), Side::new(served));
    let mut result = Ok(());
    let mut silent: BTreeSet<&str> = BTreeSet::new();
    for step in program {
        match step {
            Step::Send(client, _) if silent.contains(client) => continue,
            Step::Send(client, line) => {
                theirs.send(client, line);
                ours.send(client, line);
                silent.insert(client);
            }
            Step::Advance(ms) => {
                for side in [&mut theirs, &mut ours] {
                    side.target.pass(*ms);
                    // A pause whose time is over is looked for.
                    side.send(WATCH, "CLIENT PAUSE 0 WRITE");
                }
            }
        }
        let (expected, got) = (theirs.read(), ours.read());
        for (client, lines) in &got {
            silent.remove(client);
            reached.shown +=
                u64::from(*client == "d") * lines.iter().filter(|line| line.contains(" [")).count() as u64;
            reached.told += lines.iter().filter(|line| line.contains("invalidate")).count() as u64;
        }
        reached.held += silent.len() as u64;
        if expected != got {
            let show = |read: &BTreeMap<&str, Vec<String>>| {
                read.iter()
                    .map(|(client, lines)| format!("  {client}: {}", lines.join("\n     ")))
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            result =
                Err(format!("after {}\nexpected\n{}\ngot\n{}", step.line(), show(&expected), show(&got)));
            break;
        }
    }
    theirs.end();
    ours.end();
    result
}
