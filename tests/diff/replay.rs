//! The journal of random programs, replayed step by step into a fresh engine: the state is equal after each step,
//! whatever command wrote. `MOONKEEP_REPLAY_PROGRAMS` sets the least length of the run, `MOONKEEP_SEED` repeats one, and
//! `MOONKEEP_REPLAYED` names a file for the table of how often each command wrote.

use super::number;
use super::program::{Command, Generator, Step};
use super::rng::Rng;
use crate::support::moonkeep::Moonkeep;
use crate::support::target::{MAIN, START_MS, Target, argv};
use crate::support::wire::Wire;
use crate::support::words;
use moonkeep::{Clock, Engine};
use std::collections::BTreeMap;

const PROGRAMS: u64 = 3000;
const STEPS: usize = 50;
/// What is no write without another server.
const NEVER_WRITES: &[&str] = &["MIGRATE"];
/// Settings are not propagated, and a replay knows only those that it starts with.
const SETS: &str = "CONFIG SET";

/// Writes that a script may make beside its command.
type Counts = BTreeMap<String, u64>;

#[test]
fn a_replayed_journal_gives_an_equal_state_for_every_command() {
    let mut moonkeep = Moonkeep::default();
    let syntaxes = super::syntaxes(&mut Moonkeep::default(), &mut moonkeep);
    let provocations = super::provocations(&mut moonkeep);
    let mut counts: Counts = write_commands(&mut moonkeep).into_iter().map(|name| (name, 0)).collect();
    assert!(counts.len() > 100, "{} commands write", counts.len());
    let seed = number("MOONKEEP_SEED", 1);
    let programs = number("MOONKEEP_REPLAY_PROGRAMS", PROGRAMS);
    // Some seeds take longer to make each command write.
    let goes_on = |program: &u64, counts: &Counts| {
        *program < programs || *program < 8 * programs && counts.values().any(|count| *count == 0)
    };
    let mut program = 0;
    while goes_on(&program, &counts) {
        let rng = Rng::new(seed ^ (program << 20));
        let steps = Generator { syntaxes: &syntaxes, provocations: &provocations, rng }.program(STEPS);
        moonkeep.reset();
        if let Err((at, problem)) = follow(&mut moonkeep, &steps, &mut counts) {
            let lines: Vec<String> = steps[..=at].iter().map(Step::line).collect();
            panic!("seed {seed}, program {program}:\n{}\n{problem}", lines.join("\n"));
        }
        program += 1;
    }
    if let Some(path) = std::env::var_os("MOONKEEP_REPLAYED") {
        let lines: Vec<String> = counts.iter().map(|(name, count)| format!("{count:>9}  {name}\n")).collect();
        std::fs::write(path, lines.concat()).expect("a writable file");
    }
    let never: Vec<&String> = counts.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name).collect();
    assert!(never.is_empty(), "never wrote anything: {never:?}");
}

/// The commands that write, as moonkeep's table says.
fn write_commands(moonkeep: &mut Moonkeep) -> Vec<String> {
    let list = moonkeep.call(MAIN, &argv(&["COMMAND", "LIST", "FILTERBY", "ACLCAT", "write"]));
    let names = list.items().iter().filter_map(Wire::bytes).map(String::from_utf8_lossy);
    let names = names.map(|name| name.to_ascii_uppercase().replace('|', " "));
    let names: Vec<String> = names.filter(|name| !NEVER_WRITES.contains(&name.as_str())).collect();
    // A container is named beside its subcommands.
    let is_container = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name} ")));
    names.iter().filter(|name| !is_container(name)).cloned().collect()
}

/// Runs a program and replays what each step writes; the step after which the two states differ, and how.
fn follow(moonkeep: &mut Moonkeep, steps: &[Step], counts: &mut Counts) -> Result<(), (usize, String)> {
    let journal = moonkeep.engine().subscribe_journal().expect("an engine that works");
    let replica = Engine::builder().clock(Clock::manual(START_MS)).build();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Call(_, command) if command.argv.len() > 1 && words::join(&command.argv[..2]) == SETS => {
                continue;
            }
            Step::Call(connection, command) => call(moonkeep, connection, command),
            Step::Advance(ms) => moonkeep.advance(*ms),
        }
        let entries = journal.take().expect("an engine that works");
        if let Step::Call(_, command) = step
            && !entries.is_empty()
        {
            let name = command.inner.as_ref().unwrap_or(&command.name);
            counts.entry(name.clone()).and_modify(|count| *count += 1);
        }
        let written = || entries.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        if let Err(error) = replica.replay(&entries) {
            return Err((at, format!("what was written is refused: {error}\n{}", written())));
        }
        let now_ms = moonkeep.engine().now_ms().expect("a time");
        replica.set_time(now_ms).expect("a manual clock");
        if moonkeep.engine().state_hash() != replica.state_hash() {
            let snapshot = |engine: &Engine| engine.snapshot().expect("an engine that works");
            let diff = snapshot(moonkeep.engine()).diff(&snapshot(&replica));
            let diff: Vec<String> = diff.iter().map(ToString::to_string).collect();
            return Err((at, format!("the replay differs:\n{}\nafter\n{}", diff.join("\n"), written())));
        }
    }
    Ok(())
}

/// Calls; who waits is told to go on.
fn call(moonkeep: &mut Moonkeep, connection: &str, command: &Command) {
    let id = moonkeep.call(connection, &argv(&["CLIENT", "ID"]));
    if moonkeep.call(connection, &command.argv) == Wire::Timeout
        && let Wire::Int(id) = id
    {
        moonkeep.call("(state)", &argv(&["CLIENT", "UNBLOCK", &id.to_string()]));
        moonkeep.receive(connection);
    }
}

#[test]
fn a_claim_that_looks_like_a_delivery_is_replayed_as_a_claim() {
    let lines = [
        "XGROUP CREATE x g 0 MKSTREAM",
        "XADD x 1-1 f v",
        "XADD x 1-2 f v",
        "XADD x 2-0 f v",
        "XREADGROUP GROUP g c COUNT 1 STREAMS x >",
        "XCLAIM x g c 0 2 FORCE JUSTID LASTID 2-0",
        "XCLAIM x g d 0 1-1 2 LASTID 9-9",
        "XREADGROUP GROUP g c STREAMS x 0",
        "XREADGROUP GROUP g e STREAMS x 0",
    ];
    let steps: Vec<Step> = lines.iter().map(|line| super::program::parsed(MAIN, line)).collect();
    assert_eq!(follow(&mut Moonkeep::default(), &steps, &mut Counts::new()), Ok(()));
}
