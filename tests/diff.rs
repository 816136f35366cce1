//! Random differential programs: the same commands to moonkeep and to the reference server, every reply, the
//! propagated form of every write and the final keyspace compared. A program that differs is shrunk and printed as
//! a case for `tests/corpus/`.
//! `MOONKEEP_SEED` repeats a run, `MOONKEEP_DIFF_PROGRAMS` sets its length, `MOONKEEP_COVERAGE` names a file for
//! the table of what was reached, `MOONKEEP_COVERAGE_MIN` fails where something was reached less
//! often.

mod coverage;
mod dumps;
pub(crate) mod grammar;
pub(crate) mod judge;
pub(crate) mod listening;
mod lua;
pub(crate) mod program;
mod provocations;
mod replay;
pub(crate) mod rng;
mod shrink;
mod texts;
pub(crate) mod told;
pub(crate) mod values;

use crate::support::moonkeep::Moonkeep;
use crate::support::not_yet::is_unknown;
use crate::support::server::{propagating_server_or_skip, server_or_skip};
use crate::support::target::{MAIN, Target, argv};
use coverage::Coverage;
use grammar::Syntax;
use judge::{Difference, Judge};
use listening::Listening;
use program::{Generator, Step};
use rng::Rng;
use std::collections::BTreeSet;

/// Commands that end or reconfigure the server, or show what only a process has; and subscriptions, which have programs
/// of their own (`tests/pubsub_diff.rs`), as users have (`tests/users_diff.rs`).
const LEFT_OUT: &[&str] = &[
    "ACL",
    "ASKING",
    "AUTH",
    "BGREWRITEAOF",
    "BGSAVE",
    "CLIENT",
    "CLUSTER",
    "COMMAND",
    "CONFIG",
    "DEBUG",
    "FAILOVER",
    "LASTSAVE",
    "LATENCY",
    "LOLWUT",
    "MEMORY",
    "MIGRATE",
    "MODULE",
    "MONITOR",
    "PFDEBUG",
    "PSUBSCRIBE",
    "PSYNC",
    "PUNSUBSCRIBE",
    "QUIT",
    "READONLY",
    "READWRITE",
    "REPLCONF",
    "REPLICAOF",
    "ROLE",
    "SAVE",
    "SCRIPT DEBUG",
    "SHUTDOWN",
    "SLAVEOF",
    "SLOWLOG",
    "SSUBSCRIBE",
    "SUBSCRIBE",
    "SUNSUBSCRIBE",
    "SYNC",
    "UNSUBSCRIBE",
    "WAIT",
];
/// Of those, the ones that are harmless after all.
const KEPT: &[&str] = &[
    "CLIENT GETNAME",
    "CLIENT ID",
    "CLIENT SETNAME",
    "CONFIG GET",
    "MEMORY HELP",
    "MEMORY PURGE",
    "MEMORY USAGE",
];
/// Commands that programs have in their own way, not drawn by their syntax: around others, calling others, and, as it
/// computes for half a second, at the end of few programs.
const APART: &[&str] = &[
    "DISCARD",
    "EVAL",
    "EVALSHA",
    "EVALSHA_RO",
    "EVAL_RO",
    "EXEC",
    "FCALL",
    "FCALL_RO",
    "MULTI",
    "PFDEBUG",
    "PFSELFTEST",
];

const PROGRAMS: u64 = 2000;
const STEPS: usize = 50;
/// A run goes on after a difference, to report several at once.
const DIFFERENCES_MAX: usize = 12;

#[test]
fn random_programs_agree_with_the_server() {
    let test = "random_programs_agree_with_the_server";
    let Some(mut server) = propagating_server_or_skip(test) else { return };
    let mut moonkeep = Moonkeep::propagating();
    let syntaxes = syntaxes(&mut server, &mut moonkeep);
    let provocations = provocations(&mut moonkeep);
    println!("the syntax of {} commands", syntaxes.len());
    let mut coverage = Coverage::default();
    coverage.expect_texts();
    for syntax in &syntaxes {
        coverage.expect(&syntax.name, grammar::tokens(&syntax.arguments));
    }
    APART.iter().for_each(|name| coverage.expect(name, Vec::new()));
    let mut run = Run { server, moonkeep, coverage };
    let reports = run.reports(number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS), &|rng| {
        Generator { syntaxes: &syntaxes, provocations: &provocations, rng }.program(STEPS)
    });
    println!("reached {}", run.coverage.summary());
    if let Some(path) = std::env::var_os("MOONKEEP_COVERAGE") {
        std::fs::write(path, run.coverage.table()).expect("a writable file");
    }
    fail_with(&reports);
    let least = number("MOONKEEP_COVERAGE_MIN", 0);
    let rare = run.coverage.rarer_than(least);
    assert!(rare.is_empty(), "reached less than {least} times: {}", rare.join(", "));
}

#[test]
fn random_programs_notify_as_on_the_server() {
    let test = "random_programs_notify_as_on_the_server";
    let Some(mut server) = server_or_skip(test) else { return };
    let mut moonkeep = Moonkeep::default();
    let syntaxes = syntaxes(&mut server, &mut moonkeep);
    let provocations = provocations(&mut moonkeep);
    let (server, moonkeep) = (Listening(server), Listening(moonkeep));
    let mut run = Run { server, moonkeep, coverage: Coverage::default() };
    run.compare(number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS / 2), &|rng| {
        Generator { syntaxes: &syntaxes, provocations: &provocations, rng }.program(STEPS)
    });
}

#[test]
fn random_scripts_agree_with_the_server() {
    let Some(server) = server_or_skip("random_scripts_agree_with_the_server") else { return };
    let mut run = Run { server, moonkeep: Moonkeep::default(), coverage: Coverage::default() };
    run.compare(number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS), &program::of_scripts);
}

#[test]
fn random_functions_agree_with_the_server() {
    let Some(server) = server_or_skip("random_functions_agree_with_the_server") else { return };
    let mut run = Run { server, moonkeep: Moonkeep::default(), coverage: Coverage::default() };
    run.compare(number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS) / 2, &program::of_functions);
}

/// The two sides, and what a run reached.
struct Run<S, M> {
    server: S,
    moonkeep: M,
    coverage: Coverage,
}

impl<S: Target, M: Target> Run<S, M> {
    /// Runs so many programs; fails with the differences found.
    fn compare(&mut self, programs: u64, generate: &dyn Fn(Rng) -> Vec<Step>) {
        fail_with(&self.reports(programs, generate));
    }

    /// Runs so many programs: the differences found, each shrunk.
    fn reports(&mut self, programs: u64, generate: &dyn Fn(Rng) -> Vec<Step>) -> Vec<String> {
        let seed = number("MOONKEEP_SEED", 1);
        println!("seed {seed}, {programs} programs");
        let mut reports: Vec<String> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for number in 0..programs {
            let program = generate(Rng::new(seed ^ (number << 20)));
            let Run { server, moonkeep, coverage } = self;
            let (coverage, dumps) = (Some(coverage), number % 4 == 0);
            let mut judge = Judge { server, moonkeep, coverage, dumps };
            let Some(difference) = judge.run(&program) else { continue };
            if !seen.insert(difference.signature()) {
                continue;
            }
            let (program, difference) = shrink::shrink(server, moonkeep, program, difference);
            seen.insert(difference.signature());
            reports.push(report(&program, &difference, number));
            if reports.len() >= DIFFERENCES_MAX {
                break;
            }
        }
        reports
    }
}

fn fail_with(reports: &[String]) {
    assert!(reports.is_empty(), "{} differences:\n\n{}", reports.len(), reports.join("\n"));
}

/// A side that answers one command wrongly, to see that the judge sees it.
struct Liar(Moonkeep);

impl Target for Liar {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        let wrong = argv.first().is_some_and(|name| name == b"APPEND");
        let lie = [b"STRLEN".to_vec(), argv.get(1).cloned().unwrap_or_default()];
        self.0.send(connection, if wrong { &lie } else { argv });
    }

    fn receive(&mut self, connection: &str) -> crate::support::wire::Wire {
        self.0.receive(connection)
    }

    fn advance(&mut self, ms: i64) {
        self.0.advance(ms);
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

#[test]
fn a_difference_is_found_and_shrunk() {
    let lines = ["SET a 1", "GET a", "SET k v", "PING", "APPEND k w", "DEL a"];
    let program: Vec<Step> = lines.iter().map(|line| program::parsed(MAIN, line)).collect();
    let (mut honest, mut liar) = (Moonkeep::default(), Liar(Moonkeep::default()));
    let found =
        Judge { server: &mut honest, moonkeep: &mut liar, coverage: None, dumps: false }.run(&program);
    let found = found.expect("the sides differ");
    let (small, difference) = shrink::shrink(&mut honest, &mut liar, program, found);
    let text = report(&small, &difference, 0);
    assert_eq!(text, "== APPEND (program 0)\n> APPEND k w\nexpected :1\ngot      :0\n");
}

#[test]
fn hello_in_a_transaction_sets_the_version_of_the_whole_reply() {
    let mut moonkeep = Moonkeep::default();
    let mut call =
        |line: &str| moonkeep.call(MAIN, &crate::support::words::split(line).expect("words")).to_string();
    let queued = ["MULTI", "GET none", "HELLO 3", "GET none"].map(&mut call);
    assert_eq!(queued, ["+OK", "+QUEUED", "+QUEUED", "+QUEUED"]);
    let reply = call("EXEC");
    assert!(reply.starts_with("[_nil, %{") && reply.ends_with("}, _nil]"), "{reply}");
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What to generate: the commands that moonkeep has, as a side describes them.
fn syntaxes(told_by: &mut dyn Target, moonkeep: &mut Moonkeep) -> Vec<Syntax> {
    let mut syntaxes = grammar::read(told_by);
    syntaxes.retain(|syntax| {
        let container = syntax.name.split(' ').next().unwrap_or_default();
        let left_out = LEFT_OUT.contains(&container) || LEFT_OUT.contains(&syntax.name.as_str());
        (!left_out || KEPT.contains(&syntax.name.as_str())) && !APART.contains(&container)
    });
    let only = std::env::var("MOONKEEP_DIFF_GROUPS").ok();
    syntaxes.retain(|syntax| {
        only.as_deref().is_none_or(|only| only.split(',').any(|group| group == syntax.group))
    });
    syntaxes.retain(|syntax| {
        let words: Vec<&str> = syntax.name.split(' ').collect();
        let reply = moonkeep.call(MAIN, &argv(&words)).to_string();
        !is_unknown(&reply)
    });
    moonkeep.reset();
    syntaxes
}

/// The provocations whose commands moonkeep has; those that call an unknown command on purpose among them.
fn provocations(moonkeep: &mut Moonkeep) -> Vec<&'static [&'static str]> {
    let mut all = provocations::PROVOCATIONS.to_vec();
    all.retain(|lines| {
        lines.iter().all(|line| {
            let name = line.split(' ').next().unwrap_or_default();
            name.starts_with("NOSUCH") || !is_unknown(&moonkeep.call(MAIN, &argv(&[name])).to_string())
        })
    });
    all
}

/// A difference as a case to paste into a corpus file.
fn report(program: &[Step], difference: &Difference, number: u64) -> String {
    let mut text = format!("== {} (program {number})\n", difference.what);
    for step in program {
        text.push_str(&step.line());
        text.push('\n');
    }
    let place = if difference.at < program.len() { "" } else { " (final state)" };
    text.push_str(&format!("expected {}{place}\ngot      {}\n", difference.expected, difference.got));
    text
}
