//! `moonkeep check`: runs scripts on calls that their contracts make, and says where they do not keep their word. Here: what
//! it was told, and the walk over the scripts; `show` is for people, `files` is the report for other programs, `junit` that
//! for CI, `page` the one to read in a browser, `regressions` the calls that failed once, `server` the real one beside it.

mod files;
mod junit;
mod page;
mod regressions;
mod server;
mod show;

use crate::scripts::Source;
use crate::{Refusal, Word, harmless, next_word, print};
use moonkeep::lint::{Finding, lint};
use moonkeep::util::clock::Stopwatch;
use moonkeep::{CheckHooks, CheckOptions, CheckReport, Contract, Engine, MutationReport, Reply, Script};
use regressions::Regressions;
use server::Server;
use show::Look;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) const HELP: &str = "\
Run scripts on thousands of calls that their contracts make, and say where they do not keep their word.

Usage: moonkeep check [OPTIONS] SCRIPT...

  SCRIPT    a Lua script whose contract stands in its header, or in NAME.contract beside NAME.lua

Calls are made on both sides of every bound of the contract, each on a state that is made for it: keys that are
missing, of the right type and of another one, without expiry, with one that is far, or that ends at the very
instant. What each call comes to is compared with the contract; it is run twice with other seeds of chance; what it
tells to replicas is applied to a copy. A call that fails is made as small as it gets, and kept in NAME.regressions,
whose calls are tried first. Lines that no call ran are told, each with the call that came nearest, and what
moonkeep lint finds.

  --seed N            the seed of the calls (default 0); the same one makes the same calls
  --runs N            how many calls are made for each script (default 10000)
  --work N            the work that a run may take before it counts as one that does not end: instructions of Lua, and
                      what strings and commands take (default 1000000, or eight times the declared instructions)
  --against URL       make the same calls on a real server: redis://[[USER]:PASSWORD@]HOST[:PORT]/DB, or
                      unix:PATH, whose database must be empty
  --mutate            change each script in small ways (a bound by one, a comparison, a check or a write dropped
                      or moved, another key), and list the changes that its contract does not notice; each
                      is tried on --runs calls, 2000 without it; one that breaks its contract has to be mended first
  --strict            fail as well where lint finds something, or no call reached a line or a clause
  --no-lint           do not look for what moonkeep lint finds
  --no-regressions    neither read nor write NAME.regressions
  --json              print one JSON object: scripts, each with its clauses, failures, lines and findings
  --junit FILE        write a report in JUnit's XML, a test case for each clause, for lines and for lint
  --html FILE         write a report to read in a browser, in one file: lines with what ran, cases, times
  -h, --help          this text

Exit status: 0 when all scripts kept their word, 1 when one did not (with --strict also when one has findings, or lines
or clauses that were not reached), 2 when moonkeep was not called rightly, a contract is wrong itself, a script does
not compile, or one could not be checked to its end.

Examples:
  moonkeep check lua/decrease_stock.lua lua/unlock.lua
  moonkeep check --mutate --runs 1000 lua/unlock.lua
  moonkeep check --seed 7 --runs 2000 --json lua/renew_lock.lua
";

/// What `check` was told.
#[derive(Default)]
struct Check {
    seed: u64,
    runs: Option<u64>,
    work: Option<u64>,
    against: Option<String>,
    json: bool,
    junit: Option<PathBuf>,
    html: Option<PathBuf>,
    forgets: bool,
    mutates: bool,
    strict: bool,
    no_lint: bool,
    scripts: Vec<PathBuf>,
}

impl Check {
    /// That the reports can be written, and cost nothing that is there: a run is long, and they are written at its end.
    fn try_reports(&self) -> Result<(), Refusal> {
        let mut taken: Vec<(PathBuf, &str)> = Vec::new();
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        taken.extend(self.scripts.iter().map(|path| (real(path), "a script that is checked")));
        for (option, path) in [("--junit", &self.junit), ("--html", &self.html)] {
            let Some(path) = path else { continue };
            if let Some((_, other)) = taken.iter().find(|(one, _)| *one == real(path)) {
                return Err(Refusal(format!("{option} names {path:?}, which is {other}")));
            }
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
            opened.map_err(|error| Refusal(format!("cannot write the report {path:?}: {error}")))?;
            taken.push((real(path), "the file of another report"));
        }
        Ok(())
    }
}

/// What all scripts came to.
#[derive(Default)]
struct Results {
    checked: Vec<Checked>,
    /// Those that could not be checked, or not to the end: their names, and why.
    stopped: Vec<(String, String)>,
    strict: bool,
}

impl Results {
    /// Tells why a script was not checked to its end, and keeps that for the reports.
    fn stop(&mut self, name: &str, Refusal(text): Refusal) {
        tell!("moonkeep: {}", harmless(&text));
        self.stopped.push((name.to_owned(), text));
    }
}

/// A script that was checked.
struct Checked {
    file: PathBuf,
    /// The file as it is shown.
    path: String,
    report: CheckReport,
    findings: Vec<Finding>,
    mutants: Mutants,
    time: Duration,
}

/// What became of the mutants of a script.
enum Mutants {
    NotAsked,
    /// The script breaks its contract itself, so nearly all of them would.
    Skipped,
    Tried(MutationReport),
}

impl Checked {
    /// What --strict does not let pass, where the script kept its word.
    fn is_loose(&self) -> bool {
        let is_reached = self.report.clauses().iter().all(|clause| clause.runs > 0);
        !(is_reached && self.report.missed().is_empty() && self.findings.is_empty())
    }
    fn fails(&self, strict: bool) -> bool {
        !self.report.is_kept() || (strict && self.is_loose())
    }
}

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let Some(told) = parse(parser)? else {
        print(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    if told.scripts.is_empty() {
        return Err(Refusal("check needs the file of a script, see moonkeep check --help".into()));
    }
    told.try_reports()?;
    let look = Look::new(std::io::stdout().is_terminal());
    let mut results = Results { strict: told.strict, ..Results::default() };
    let scripts = load(&told, &mut results);
    if !results.stopped.is_empty() {
        report(&told, &look, &results)?;
        return Ok(ExitCode::from(2));
    }
    let mut server = told.against.as_deref().map(Server::connect).transpose()?;
    for script in &scripts {
        match check(&told, script, server.as_mut()) {
            Ok(one) => {
                if !told.json {
                    print(look.script(&one).as_bytes())?;
                }
                results.checked.push(one);
            }
            // What is known of the others is told all the same.
            Err(refusal) => results.stop(&script.name, refusal),
        }
    }
    report(&told, &look, &results)?;
    Ok(match results {
        Results { stopped, .. } if !stopped.is_empty() => ExitCode::from(2),
        Results { checked, strict, .. } if checked.iter().any(|one| one.fails(strict)) => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

/// Reads all scripts, and tells what is wrong with any of them before the first runs.
fn load(told: &Check, results: &mut Results) -> Vec<Loaded> {
    let mut scripts = Vec::new();
    for path in &told.scripts {
        match Loaded::read(path) {
            Ok(script) => scripts.push(script),
            Err(refusal) => results.stop(&path.display().to_string(), refusal),
        }
    }
    scripts
}

/// Tells of all scripts together.
fn report(told: &Check, look: &Look, results: &Results) -> Result<(), Refusal> {
    if told.json {
        print(format!("{}\n", files::json(results)).as_bytes())?;
    } else if results.checked.len() > 1 {
        print(look.summary(results).as_bytes())?;
    }
    for (file, text) in [(&told.junit, junit::junit as fn(&Results) -> String), (&told.html, page::html)] {
        if let Some(path) = file {
            std::fs::write(path, text(results))
                .map_err(|error| Refusal(format!("cannot write the report {path:?}: {error}")))?;
        }
    }
    Ok(())
}

fn parse(parser: &mut lexopt::Parser) -> Result<Option<Check>, Refusal> {
    use lexopt::ValueExt;
    let mut told = Check::default();
    while let Some(word) = next_word(parser)? {
        let option = match word {
            Word::Option(option) => option,
            Word::Value(word) => {
                told.scripts.push(word.into());
                continue;
            }
        };
        match option.as_str() {
            "--seed" => told.seed = crate::setting::number(parser, "--seed takes a number from 0 on")?,
            "--runs" => {
                let runs: u64 = crate::setting::number(parser, "--runs takes a number from 1 on")?;
                if runs == 0 {
                    return Err(Refusal("--runs takes a number from 1 on".into()));
                }
                told.runs = Some(runs);
            }
            "--work" => {
                told.work = Some(crate::setting::number(parser, "--work takes a number from 1 on")?);
            }
            "--against" => told.against = Some(parser.value()?.string()?),
            "--json" => told.json = true,
            "--junit" => told.junit = Some(parser.value()?.into()),
            "--html" => told.html = Some(parser.value()?.into()),
            "--mutate" => told.mutates = true,
            "--strict" => told.strict = true,
            "--no-lint" => told.no_lint = true,
            "--no-regressions" => told.forgets = true,
            "--help" | "-h" => return Ok(None),
            option => {
                return Err(Refusal(format!("invalid option '{option}'; see moonkeep check --help")));
            }
        }
    }
    Ok(Some(told))
}

/// A script that compiles, and its contract.
struct Loaded {
    path: PathBuf,
    /// As it is shown.
    name: String,
    text: Vec<u8>,
    contract: Contract,
}

impl Loaded {
    fn read(path: &Path) -> Result<Self, Refusal> {
        if path.as_os_str() == "-" {
            return Err(Refusal("check reads scripts from files, beside which it keeps what failed".into()));
        }
        let source = Source::named(path);
        let text = source.read()?;
        let contract = source.contract(&text)?;
        let mut reply = Reply::new();
        Engine::new().try_client()?.call_into([&b"SCRIPT"[..], b"LOAD", &text], &mut reply)?;
        if let Some(error) = reply.error_message() {
            return Err(Refusal(format!("{}: {}", path.display(), String::from_utf8_lossy(error))));
        }
        Ok(Loaded { path: path.to_owned(), name: path.display().to_string(), text, contract })
    }
}

fn check(told: &Check, script: &Loaded, server: Option<&mut Server>) -> Result<Checked, Refusal> {
    let Loaded { path, name, text, contract } = script;
    let mut regressions = match told.forgets {
        true => Regressions::none(),
        false => Regressions::beside(path)?,
    };
    let runs = told.runs.unwrap_or(10_000);
    let options = CheckOptions::new().seed(told.seed).runs(runs).first(regressions.inputs());
    let options = told.work.map_or(options.clone(), |work| options.work(work));
    let progress = show::Progress::new(contract.name(), runs, std::io::stderr().is_terminal());
    let mut watch = |done: u64| {
        progress.show(done);
        true
    };
    let mut call = server.map(|server| |words: &[&[u8]]| server.call(words));
    let stopwatch = Stopwatch::start();
    let hooks = CheckHooks {
        watch: Some(&mut watch),
        server: call.as_mut().map(|call| call as &mut dyn FnMut(&[&[u8]]) -> Result<Reply, String>),
    };
    let report = contract.check_with(&Script::new(text), &options, hooks);
    progress.clear();
    let report = report.map_err(|error| Refusal(format!("{name}: {error}")))?;
    let time = stopwatch.elapsed();
    if let Err(Refusal(told)) = regressions.keep(&report) {
        tell!("moonkeep: {told}");
    }
    let findings = match told.no_lint {
        true => Vec::new(),
        false => lint(text, Some(contract))
            .map_err(|error| Refusal(format!("{name}:{error} (--no-lint leaves lint out)")))?,
    };
    let mutants = match told.mutates {
        false => Mutants::NotAsked,
        true if !report.is_kept() => Mutants::Skipped,
        true => Mutants::Tried(mutate(contract, text, &options.runs(told.runs.unwrap_or(2000)))?),
    };
    Ok(Checked { file: path.clone(), path: name.clone(), report, findings, mutants, time })
}

/// What becomes of the mutants of a script.
fn mutate(contract: &Contract, source: &[u8], options: &CheckOptions) -> Result<MutationReport, Refusal> {
    let at_terminal = std::io::stderr().is_terminal();
    let progress = show::Progress::new(&format!("mutants of {}", contract.name()), 100, at_terminal);
    let report = contract.check_mutants_watched(&Script::new(source), options, &mut |done, all| {
        progress.show_now(done as u64 * 100 / (all as u64).max(1));
        true
    });
    progress.clear();
    Ok(report?)
}
