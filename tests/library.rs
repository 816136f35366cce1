//! The scripts of `lua/`: each stands in the manual's table, breaks no rule of lint, does in its scenario what is recorded
//! in `library.txt`, on a real server too, keeps its contract on generated inputs, and has no line that none of this runs.
//! `MOONKEEP_RECORD=1` records the replies of a server; `MOONKEEP_LIBRARY_INPUTS` says how many inputs each script gets, and
//! `MOONKEEP_MUTANT_RUNS` on how many calls each mutant of each script is tried.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, START_MS, Target};
use moonkeep::util::words::split_words;
use moonkeep::{
    Builder, CheckOptions, Clock, Contract, Coverage, Engine, Input, Limits, Reply, Script, Verdict,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The scripts by their paths in `lua/`, without `.lua`.
fn library() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("lua")];
    let root = folders[0].clone();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lua") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                let name = path.strip_prefix(&root).expect("below lua").with_extension("");
                all.insert(name.to_str().expect("UTF-8").to_owned(), text);
            }
        }
    }
    assert!(all.len() >= 40, "{}", all.len());
    all
}

fn contract(name: &str, text: &str) -> Contract {
    Contract::parse(text).unwrap_or_else(|error| panic!("lua/{name}.lua:{error}"))
}

#[test]
fn each_script_of_the_library_is_told_of_and_clean() {
    let manual = include_str!("../lua/README.md");
    let mut problems = Vec::new();
    for (name, text) in library() {
        let contract = contract(&name, &text);
        let list = |names: Vec<&str>| names.join(", ");
        let (keys, args) = (list(contract.keys().collect()), list(contract.args().collect()));
        let row = format!("| [{name}]({name}.lua) | ");
        let told = manual.lines().find(|line| line.starts_with(&row));
        if !told.is_some_and(|line| line.ends_with(&format!(" | {keys} | {args} |"))) {
            problems.push(format!("lua/README.md: {row}... | {keys} | {args} |"));
        }
        if !name.ends_with(contract.name()) {
            problems.push(format!("{name}: its contract is called {}", contract.name()));
        }
        for (list, count) in [("KEYS", contract.keys().len()), ("ARGV", contract.args().len())] {
            let missing = (1..=count).find(|at| !text.contains(&format!("--   {list}[{at}]  ")));
            problems.extend(missing.map(|at| format!("{name}: its header does not tell of {list}[{at}]")));
        }
        let findings = moonkeep::lint::lint(&text, None).expect("Lua");
        problems.extend(findings.iter().map(|finding| format!("lua/{name}.lua:{finding}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The scenarios.
fn told() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library.txt");
    std::fs::read_to_string(path).expect("the scenarios")
}

/// A step of a scenario.
enum Step {
    Call(Vec<Vec<u8>>),
    Pass(u64),
}

/// The scenarios: the script of each, and its steps with their lines.
fn scenarios<'a>(text: &'a str, library: &BTreeMap<String, String>) -> Vec<(&'a str, Vec<(Step, usize)>)> {
    let mut all: Vec<(&str, Vec<(Step, usize)>)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let words = || split_words(&line.as_bytes()[1..]).expect("balanced quotes");
        let step = match line.as_bytes().first() {
            Some(b'=') => {
                all.push((line.trim_start_matches("== "), Vec::new()));
                continue;
            }
            Some(b'+') if line.starts_with("+ ") => Step::Pass(line[2..].parse().expect("milliseconds")),
            Some(b'>') => Step::Call(words()),
            Some(b'!') => {
                let name = all.last().expect("a title").0;
                let (script, words) = match name {
                    _ if line.starts_with("!:") => {
                        let mut words = split_words(&line.as_bytes()[2..]).expect("balanced quotes");
                        let name = String::from_utf8(words.remove(0)).expect("UTF-8");
                        (library.get(&name).unwrap_or_else(|| panic!("no {name}")), words)
                    }
                    _ => (library.get(name).unwrap_or_else(|| panic!("no {name}")), words()),
                };
                Step::Call(eval(script, words))
            }
            _ => continue,
        };
        all.last_mut().expect("a title").1.push((step, at));
    }
    all
}

fn eval(script: &str, words: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let keys = words.iter().position(|word| word == b",").unwrap_or(words.len());
    let mut argv = vec![b"EVAL".to_vec(), script.into(), keys.to_string().into_bytes()];
    argv.extend(words.into_iter().filter(|word| word != b","));
    argv
}

/// The scenarios with the replies of one side.
fn played(target: &mut dyn Target, text: &str) -> String {
    let mut replies = BTreeMap::new();
    for (_, steps) in scenarios(text, &library()) {
        target.reset();
        for (step, at) in steps {
            match step {
                Step::Pass(ms) => target.advance(ms as i64),
                Step::Call(argv) => drop(replies.insert(at, target.call(MAIN, &argv).to_string())),
            }
        }
    }
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        if line.starts_with(['=', '>', '!', '#']) || line.starts_with("+ ") || line.is_empty() {
            out.push_str(&format!("{line}\n"));
        }
        out.extend(replies.get(&at).map(|reply| format!("{reply}\n")));
    }
    out
}

#[test]
fn scripts_of_the_library_do_what_their_scenarios_say_on_both_sides() {
    let text = told();
    let titles: Vec<&str> = scenarios(&text, &library()).into_iter().map(|(name, _)| name).collect();
    let untold: Vec<String> = library().into_keys().filter(|name| !titles.contains(&name.as_str())).collect();
    assert_eq!(untold, [""; 0], "scripts without a scenario");
    if let Some(mut server) =
        server_or_skip("scripts_of_the_library_do_what_their_scenarios_say_on_both_sides")
    {
        let served = played(&mut server, &text);
        if std::env::var_os("MOONKEEP_RECORD").is_some() {
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library.txt"), &served)
                .expect("recorded");
        } else {
            assert_eq!(served, text, "the server's replies");
        }
    }
    let text = told();
    assert_eq!(played(&mut Moonkeep::default(), &text), text, "moonkeep's replies");
}

/// What the steps of scenarios answer, each scenario on an engine of its own.
fn replies(text: &str, library: &BTreeMap<String, String>, builder: Builder) -> Vec<String> {
    let mut all = Vec::new();
    for (_, steps) in scenarios(text, library) {
        let engine = builder.clone().clock(Clock::manual(START_MS)).build();
        let (mut client, mut reply) = (engine.client(), Reply::new());
        for (step, _) in steps {
            match step {
                Step::Pass(ms) => engine.advance(Duration::from_millis(ms)).expect("a manual clock"),
                Step::Call(argv) => {
                    client.call_into(&argv, &mut reply).expect("at rest");
                    // The SHA1 that an error tells is that of the text.
                    let text = format!("{reply:?}");
                    all.push(text.split(" script: ").next().unwrap_or_default().to_owned());
                }
            }
        }
    }
    all
}

/// How many generated inputs each script gets.
fn inputs_each() -> usize {
    let told = std::env::var("MOONKEEP_LIBRARY_INPUTS").ok();
    told.map_or(1500, |count| count.parse().expect("MOONKEEP_LIBRARY_INPUTS is a number"))
}

/// What is wrong with a run, if something is.
fn problem(engine: &Engine, checked: &Script, input: &Input) -> Option<String> {
    engine.reset().expect("resets");
    engine.set_time(START_MS).expect("a manual clock");
    let mut client = engine.client();
    for command in &input.setup {
        client.call(command).expect("the set-up runs");
    }
    engine.advance(input.advance()).expect("a manual clock");
    let call = checked.call().keys(&input.keys).args(&input.args);
    let verdict = call.verdict(&mut client).expect("judged").expect("a contract");
    let mut reply = Reply::new();
    if let Verdict::Refused(text) = &verdict {
        // Lua does not run for it: the script by itself must answer the same, and leave everything as it is.
        let before = engine.state_hash().expect("a hash");
        let plain = Script::new(checked.source());
        plain.call().keys(&input.keys).args(&input.args).run_into(&mut client, &mut reply).expect("runs");
        let agrees = reply.error_message() == Some(text) && engine.state_hash().expect("a hash") == before;
        return (!agrees)
            .then(|| format!("is to be refused with {}, replies {reply:?}", text.escape_ascii()));
    }
    call.run_into(&mut client, &mut reply).err().map(|error| error.to_string())
}

#[test]
fn scripts_of_the_library_keep_their_contracts_and_have_no_line_that_never_runs() {
    let coverage = Coverage::new();
    let engine = Engine::builder().coverage(&coverage).build();
    replies(&told(), &library(), Engine::builder().coverage(&coverage));
    let mut problems = Vec::new();
    for (name, text) in library() {
        coverage.name_script(&text, &name);
        let checked = Script::new(&text).with_contract(contract(&name, &text));
        let contract = checked.contract().expect("a contract");
        for (number, input) in contract.inputs(7).take(inputs_each()).enumerate() {
            if let Some(problem) = problem(&engine, &checked, &input) {
                problems.push(format!("{name}, input {number}: {problem}\n{input}"));
                break;
            }
        }
    }
    for script in coverage.scripts() {
        let missed = script.missed();
        if !missed.is_empty() {
            problems.push(format!("{}: never run: {missed:?}", script.name));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// How many mutants of the library may live, of a thousand.
const LIVING_MAX: usize = 50;

/// The parts of the scenarios that call a script.
fn parts_with(name: &str) -> String {
    let calls = format!("!:{name} ");
    let told = told();
    let parts = told.split("\n== ").skip(1);
    let parts = parts.filter(|part| part.starts_with(&format!("{name}\n")) || part.contains(&calls));
    parts.map(|part| format!("== {part}\n")).collect()
}

#[test]
fn nearly_all_mutants_of_the_library_are_noticed_by_contract_or_scenario() {
    let told = std::env::var("MOONKEEP_MUTANT_RUNS").ok();
    // All scripts in the long form, some in the short one.
    let every = if told.is_some() { 1 } else { 8 };
    let runs = told.map_or(100, |count| count.parse().expect("MOONKEEP_MUTANT_RUNS is a number"));
    let builder = || Engine::builder().script_limits(Limits { work: 1_000_000, ..Limits::default() });
    let library = library();
    let (mut all, mut living) = (0, Vec::new());
    for (name, text) in library.iter().step_by(every) {
        let contract = contract(name, text);
        let options = CheckOptions::new().runs(runs);
        let report = contract.check_mutants(&Script::new(text), &options).expect("mutants");
        all += report.mutants().len();
        let scenario = parts_with(name);
        let expected = replies(&scenario, &library, builder());
        for mutant in report.survivors() {
            let mut changed = library.clone();
            let source = String::from_utf8(mutant.source()).expect("UTF-8");
            changed.insert(name.clone(), source);
            if replies(&scenario, &changed, builder()) == expected {
                living.push(format!("{name}: {mutant}"));
            }
        }
    }
    println!("{} of {all} mutants live:\n{}", living.len(), living.join("\n"));
    let most = if every == 1 { LIVING_MAX } else { 2 * LIVING_MAX };
    assert!(living.len() * 1000 <= all * most, "{} of {all} mutants live", living.len());
}
