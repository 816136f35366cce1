//! Random Lua programs on the reference server and here: every reply and what the databases hold afterwards compared.
//! A program that differs is made small and printed. `MOONKEEP_SEED` tries other programs, `MOONKEEP_LUA_PROGRAMS` more,
//! `MOONKEEP_LUA_REACH` names a file for the table of what was reached, `MOONKEEP_LUA_MIN` fails where a rule, a
//! command was met less often, `MOONKEEP_LUA_TEXTS_MIN` the same for known error texts.

mod grammar;
mod maker;
mod program;
mod reach;
mod shrink;
mod sides;
mod texts;

use crate::diff::rng::Rng;
use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use program::Program;
use reach::Reach;
use sides::{Crash, Sides, difference};
use std::collections::BTreeSet;

const PROGRAMS: u64 = 3000;
/// How many programs go to the server in one write.
const BATCH: u64 = 100;
const DIFFERENCES_MAX: usize = 12;

/// A table that stands in itself comes from the server as thousands of arrays in each other: to read them takes a large
/// stack.
#[test]
fn random_lua_programs_agree_with_the_server() {
    let run = std::thread::Builder::new().stack_size(256 << 20).spawn(compare).expect("a thread");
    if let Err(panic) = run.join() {
        std::panic::resume_unwind(panic);
    }
}

fn compare() {
    let Some(sides) = Sides::start("random_lua_programs_agree_with_the_server") else { return };
    let (seed, programs) = (number("MOONKEEP_SEED", 1), number("MOONKEEP_LUA_PROGRAMS", PROGRAMS));
    println!("seed {seed}, {programs} programs");
    let mut run = Run { sides, seed, reach: Reach::default(), seen: BTreeSet::new(), reports: Vec::new() };
    for batch in 0..programs.div_ceil(BATCH) {
        run.batch(batch);
        if run.reports.len() >= DIFFERENCES_MAX {
            break;
        }
    }
    println!("reached {}", run.reach.summary());
    if let Some(path) = std::env::var_os("MOONKEEP_LUA_REACH") {
        std::fs::write(path, run.reach.table()).expect("a writable file");
    }
    let found = run.reports.len();
    assert!(run.reports.is_empty(), "{found} differences (seed {seed}):\n\n{}", run.reports.join("\n"));
    let least = number("MOONKEEP_LUA_MIN", 1);
    let rare = run.reach.rarer_than(least);
    assert!(rare.is_empty(), "reached less than {least} times: {}", rare.join(", "));
    let least = number("MOONKEEP_LUA_TEXTS_MIN", 0);
    let rare = run.reach.texts_rarer_than(least);
    assert!(rare.is_empty(), "texts met less than {least} times:\n{}", rare.join("\n"));
}

/// Without a seed: the generator's first values, and how it runs on from one script to the next.
#[test]
fn chance_runs_on_from_script_to_script_as_on_the_server() {
    let Some(mut server) = server_or_skip("chance_runs_on_from_script_to_script_as_on_the_server") else {
        return;
    };
    let mut moonkeep = Moonkeep::default();
    for round in 0..200 {
        let draws = "math.random(), math.random(10), math.random(-5, 5), math.random(1, 2^30)";
        let script = format!(
            "local r = {{{draws}}} for i = 1, {round} % 7 do r[1] = math.random() end \
            return {{string.format('%.17g', r[1]), r[2], r[3], r[4]}}"
        );
        let call = argv(&["EVAL", &script, "0"]);
        assert_eq!(moonkeep.call(MAIN, &call), server.call(MAIN, &call), "script {round}");
    }
}

struct Run {
    sides: Sides,
    seed: u64,
    reach: Reach,
    seen: BTreeSet<String>,
    reports: Vec<String>,
}

impl Run {
    fn batch(&mut self, batch: u64) {
        let make = |number: u64| Program::make(Rng::new(self.seed ^ ((batch * BATCH + number) << 20)));
        let programs: Vec<Program> = (0..BATCH).map(make).collect();
        let resp3 = batch % 4 == 3;
        if self.together(resp3, &programs).is_ok() {
            return;
        }
        // Which program it was does not show: what was answered before may be lost.
        for program in &programs {
            if self.together(resp3, std::slice::from_ref(program)).is_err_and(|crash| !crash.is_endless()) {
                let text = program.text();
                let text = text.split_once('\n').map_or("", |(_, rest)| rest);
                self.reports.push(format!("== a side crashed or hung (batch {batch})\n{text}\n"));
            }
        }
    }

    fn together(&mut self, resp3: bool, programs: &[Program]) -> Result<(), Crash> {
        let all = self.sides.run(resp3, programs)?;
        for (program, both) in programs.iter().zip(&all) {
            self.reach.note(&program.tags, &both[0]);
            if let Some(found) = difference(both) {
                self.report(resp3, program, found);
            }
        }
        Ok(())
    }

    fn report(&mut self, resp3: bool, program: &Program, found: [String; 2]) {
        if self.reports.len() >= DIFFERENCES_MAX || !self.seen.insert(signature(&found)) {
            return;
        }
        let sides = &mut self.sides;
        let mut differs = |candidate: &Program| {
            let both = sides.run(resp3, std::slice::from_ref(candidate));
            both.is_ok_and(|both| both.iter().any(|both| difference(both).is_some()))
        };
        if !differs(program) {
            self.reports.push(format!("== differs only after others\n{}\n{found:?}\n", program.text()));
            return;
        }
        let small = shrink::shrink(program, &mut differs);
        let both = self.sides.run(resp3, std::slice::from_ref(&small));
        let found = both.ok().and_then(|both| difference(&both[0])).unwrap_or(found);
        if self.seen.insert(signature(&found)) || self.reports.is_empty() {
            let head = small.head.split_once('\n').map_or("", |(_, rest)| rest);
            let (lines, tail) = (small.lines.join("\n"), &small.tail);
            self.reports.push(format!(
                "== {:?}{}\n{head}{lines}\n{tail}\nexpected {}\ngot      {}\n",
                small.form,
                if resp3 { " in RESP3" } else { "" },
                found[0],
                found[1]
            ));
        }
    }
}

fn signature(found: &[String; 2]) -> String {
    let head = |text: &str| reach::shape(text).chars().take(50).collect::<String>();
    format!("{}|{}", head(&found[0]), head(&found[1]))
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
