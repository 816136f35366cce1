//! Recorded transcripts, one file a family in `tests/corpus/`: run on moonkeep always, on the reference server
//! where there is one. `MOONKEEP_RECORD=1` writes the server's replies into the files. `MOONKEEP_CORPUS=strings`
//! runs one family only. The format:
//!
//! ```text
//! == a title: a case begins with an empty keyspace
//! > SET k v                the main connection; the reply follows
//! +OK
//! b> GET k                 a connection named b
//! "v"
//! b>> BLPOP l 0            sent without reading the reply
//! b<                       reads it, or the next push
//! advance 50 ms            time passes
//! waits for cjson          below a title: what moonkeep lacks; once the case holds, the line must go
//! ```
//! A reply line `unordered [..]` ignores the order of elements, `pairs [..]` that of pairs, `? text*` is a
//! pattern for what varies from run to run.

mod file;

use crate::diff::told::{self, Freedom};
use crate::support::moonkeep::Moonkeep;
use crate::support::not_yet::{is_unknown, lacks_command};
use crate::support::server::{propagating_server_or_skip, server_or_skip};
use crate::support::target::Target;
use crate::support::wire::Wire;
use crate::support::words;
use file::{Case, Corpus, Step, StepKind};

#[test]
fn moonkeep_answers_as_recorded() {
    let mut moonkeep = Moonkeep::default();
    judge("moonkeep", &mut moonkeep, true);
}

#[cfg(feature = "server")]
#[test]
fn the_front_answers_as_recorded() {
    judge("the front", &mut crate::support::served::Served::default(), true);
}

#[test]
fn the_server_answers_as_recorded() {
    let Some(mut server) = server_or_skip("the_server_answers_as_recorded") else { return };
    if std::env::var_os("MOONKEEP_RECORD").is_some() {
        return record(&mut server);
    }
    judge("redis-server", &mut server, false);
}

#[test]
fn writes_propagate_as_on_the_server() {
    let Some(mut server) = propagating_server_or_skip("writes_propagate_as_on_the_server") else { return };
    let mut moonkeep = Moonkeep::propagating();
    let mut problems = Vec::new();
    for corpus in Corpus::all() {
        // A case that turns the append-only file off leaves nothing to compare.
        let turns_off = |case: &&Case| case.steps.iter().any(|step| step.head.contains("appendonly"));
        for case in corpus.cases.iter().filter(|case| case.waits_for.is_none() && !turns_off(case)) {
            if let Some(problem) = compare_effects(&mut server, &mut moonkeep, case) {
                problems.push(format!("{}: {}\n{problem}", corpus.family, case.title));
            }
        }
    }
    assert!(problems.is_empty(), "{} cases differ:\n\n{}", problems.len(), problems.join("\n"));
}

/// Runs a case on both sides, as far as moonkeep has the commands; the first step after which they differ in what
/// they propagated.
fn compare_effects(server: &mut dyn Target, moonkeep: &mut dyn Target, case: &Case) -> Option<String> {
    server.reset();
    moonkeep.reset();
    // The server looks at the end of a pause by a timer of its own: who was held back goes on some time after the clock
    // has moved, at the latest before the next step is done.
    let pauses = case.steps.iter().any(|step| step.head.contains("CLIENT PAUSE"));
    let (mut late, mut early) = (Vec::new(), Vec::new());
    for step in &case.steps {
        let expected = perform(server, step);
        let got = perform(moonkeep, step);
        let lacking = expected
            .iter()
            .zip(&got)
            .any(|(expected, got)| lacks_command(is_unknown(&expected.to_string()), got));
        if lacking {
            return None;
        }
        let (mut expected, mut got) = (std::mem::take(&mut late), std::mem::take(&mut early));
        expected.extend(server.effects());
        got.extend(moonkeep.effects());
        if pauses && matches!(step.kind, StepKind::Advance(_)) {
            (late, early) = (expected, got);
            continue;
        }
        if matches!(step.kind, StepKind::Advance(_)) {
            expected.sort();
            got.sort();
        }
        let freedom =
            Freedom { chooses: false, ..Freedom::of(&words::split(&step.head).unwrap_or_default()) };
        if !told::agree(&expected, &got, freedom) {
            let lines = |effects: &[String]| effects.join("\n         ");
            return Some(format!("{}\nexpected {}\ngot      {}\n", step.head, lines(&expected), lines(&got)));
        }
    }
    None
}

/// What came of running a case.
enum Outcome {
    Held,
    Lacking(String),
    Differed(String),
}

fn judge(name: &str, target: &mut dyn Target, may_lack_commands: bool) {
    let (mut held, mut lacking, mut differed) = (0, Vec::new(), Vec::new());
    for corpus in Corpus::all() {
        for case in &corpus.cases {
            let waits = case.waits_for.is_some() && may_lack_commands;
            match run(target, case) {
                Outcome::Held if waits => {
                    differed.push(format!("{}: {}\nholds: remove `waits for`", corpus.family, case.title));
                }
                Outcome::Differed(line) | Outcome::Lacking(line) if waits => lacking.push(line),
                Outcome::Held => held += 1,
                Outcome::Lacking(line) if may_lack_commands => lacking.push(line),
                Outcome::Lacking(line) | Outcome::Differed(line) => {
                    differed.push(format!("{}: {}\n{line}", corpus.family, case.title));
                }
            }
        }
    }
    println!("{name}: {held} cases held, {} wait, {} differ", lacking.len(), differed.len());
    lacking.iter().for_each(|line| println!("waiting: {}", line.trim_end().replace('\n', " | ")));
    assert!(differed.is_empty(), "{} cases differ on {name}:\n\n{}", differed.len(), differed.join("\n"));
}

fn run(target: &mut dyn Target, case: &Case) -> Outcome {
    target.reset();
    let mut seen = String::new();
    for step in &case.steps {
        let got = perform(target, step);
        for (at, reply) in got.iter().enumerate() {
            let expected = step.replies.get(at).map_or("(no more replies)", String::as_str);
            if file::holds(expected, reply) {
                continue;
            }
            if lacks_command(is_unknown(expected), reply) {
                return Outcome::Lacking(step.head.clone());
            }
            let line = step.line;
            return Outcome::Differed(format!(
                "{seen}{}        (line {line})\nexpected {expected}\ngot      {reply}\n",
                step.head
            ));
        }
        seen.push_str(&step.head);
        seen.push('\n');
    }
    Outcome::Held
}

/// Does one step; the replies it yields.
fn perform(target: &mut dyn Target, step: &Step) -> Vec<Wire> {
    match &step.kind {
        StepKind::Call(connection, argv) => {
            let mut replies = vec![target.call(connection, argv)];
            for _ in 1..step.replies.len() {
                replies.push(target.receive(connection));
            }
            replies
        }
        StepKind::Send(connection, argv) => {
            target.send(connection, argv);
            Vec::new()
        }
        StepKind::Receive(connection) => vec![target.receive(connection)],
        StepKind::Advance(ms) => {
            target.advance(*ms);
            Vec::new()
        }
    }
}

fn record(server: &mut dyn Target) {
    for mut corpus in Corpus::all() {
        for case in &mut corpus.cases {
            server.reset();
            for step in &mut case.steps {
                let got = perform(server, step);
                let old = std::mem::take(&mut step.replies);
                step.replies = got
                    .iter()
                    .enumerate()
                    .map(|(at, reply)| file::recorded(old.get(at).map(String::as_str), step, reply))
                    .collect();
            }
        }
        corpus.save();
    }
}
