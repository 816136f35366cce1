//! Checking a script against its contract: calls on both sides of every bound are run, and what each comes to is compared
//! with what the contract says of it. `trial` runs one call, `shrink` makes one that fails as small as it gets, `report` is
//! what is told, `reach` which lines ran, `paste` writes calls as text, `against` asks a real server the same, of what `sent`
//! lets through; `order` looks away from the order of members;
//! `mutate` changes a script in small ways, which its contract should notice;
//! `draft` makes a first contract for a script that has none.

mod against;
mod draft;
mod mutate;
mod order;
mod paste;
mod reach;
mod report;
mod sent;
mod shrink;
mod trial;

pub use mutate::{Mutant, MutationReport};
pub use paste::InputError;
pub use report::{CheckFailure, CheckReport, MissedLine, ReachedClause};

use crate::contract::{Contract, Decider, Input, Rule, Stray};
use crate::engine::Script;
use crate::error::Error;
use crate::reply::Reply;
use crate::script::{LineCoverage, ScriptCoverage};
use against::Server;
use reach::Reach;
use report::Repeat;
use std::collections::BTreeMap;
use trial::{Ran, Trial};

/// A check is over when so many runs did not end: each takes its time.
const ENDLESS_MOST: usize = 3;
/// How many runs make a call smaller that came near a line.
const NEAR_TRIES: usize = 400;
/// How many runs that may not end make one smaller.
const ENDLESS_TRIES: usize = 40;

/// How a script is checked, see [`Contract::check`].
#[derive(Debug, Clone)]
pub struct CheckOptions {
    seed: u64,
    runs: u64,
    first: Vec<Input>,
    work: u64,
    failures: usize,
    shrinks: bool,
    covers: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            seed: 0,
            runs: 10_000,
            first: Vec::new(),
            work: 1_000_000,
            failures: 8,
            shrinks: true,
            covers: true,
        }
    }
}

impl CheckOptions {
    /// Ten thousand calls with seed 0.
    pub fn new() -> Self {
        CheckOptions::default()
    }
    /// The seed of the calls: the same one makes the same calls. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// How many calls are made. Default: 10,000.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = runs;
        self
    }
    /// Calls that are tried before those that are made, as ones that failed once. Default: none.
    #[must_use]
    pub fn first(mut self, inputs: impl IntoIterator<Item = Input>) -> Self {
        self.first = inputs.into_iter().collect();
        self
    }
    /// The work that a run may take before it counts as one that does not end: instructions of Lua, and what strings and
    /// commands take beside them. A contract that declares instructions gets eight times as much as those, if that is
    /// more. Default: 1,000,000.
    #[must_use]
    pub fn work(mut self, work: u64) -> Self {
        self.work = work;
        self
    }
    /// How many failures of different kinds are looked for until the check ends; at least 1. Default: 8.
    #[must_use]
    pub fn failures(mut self, most: usize) -> Self {
        self.failures = most.max(1);
        self
    }
}

/// Calls a command on a real server and gives its reply; the text of a failure says what is wrong with the connection.
pub type ServerCall<'a> = &'a mut dyn FnMut(&[&[u8]]) -> Result<Reply, String>;

/// Who takes part in a check, see [`Contract::check_with`].
#[derive(Default)]
pub struct CheckHooks<'a> {
    /// Is told before each run how many there were; false ends the check.
    pub watch: Option<&'a mut dyn FnMut(u64) -> bool>,
    /// A Redis or Valkey server that gets the same calls and has to answer and change the same; its database must be
    /// empty, and is so again afterwards. It never gets a call whose commands reach beyond its keys, as FLUSHALL does, nor
    /// one that hangs on the clock, on the instant of an expiry or, where the contract allows that, on chance.
    pub server: Option<ServerCall<'a>>,
}

impl std::fmt::Debug for CheckHooks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CheckHooks { watch, server } = self;
        f.debug_struct("CheckHooks")
            .field("watch", &watch.is_some())
            .field("server", &server.is_some())
            .finish()
    }
}

impl Contract {
    /// Runs a script on calls inside the contract and outside of it, and says where it does not keep its word. The
    /// contract need not be the one in the script's header. For each call:
    ///
    /// - what the contract refuses is refused by the script itself, with the declared error, the first in declared order,
    ///   and nothing changes;
    /// - what it accepts comes to the reply and the changes of its case; keys, frame and instructions are as declared;
    /// - the run ends;
    /// - the same call comes to the same on an engine with other seeds of chance and of hash tables;
    /// - what the run tells to replicas, applied to a copy of the state before, gives the state after.
    ///
    /// A call that fails is made as small as it gets. Which lines of the script ran is told too, and for each that did not
    /// the call that came nearest to it.
    ///
    /// ```
    /// use moonkeep::{CheckOptions, Contract, Script};
    /// let source = include_str!("../../lua/unlock.lua");
    /// let contract = Contract::parse(source)?;
    /// let options = CheckOptions::new().runs(300);
    /// contract.check(&Script::new(source), &options)?.assert_kept();
    ///
    /// // A script that does not look whose lock it is.
    /// let careless = Script::new(source.replace("redis.call(\"GET\", KEYS[1]) ~= token", "false"));
    /// let report = contract.check(&careless, &options)?;
    /// let told: Vec<_> = report.failures().iter().map(|failure| failure.told()).collect();
    /// assert!(told.contains(&"line 15, case else => 0: the reply should be 0, it is 1"));
    /// // It has a line that never runs.
    /// let missed = &report.missed()[0];
    /// assert_eq!(missed.guard, Some(missed.line - 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An input of [`CheckOptions::first`] whose set-up is refused.
    pub fn check(&self, script: &Script, options: &CheckOptions) -> Result<CheckReport, Error> {
        self.check_with(script, options, CheckHooks::default())
    }
    /// The same with somebody who watches, and a real server beside it.
    ///
    /// # Errors
    /// As [`check`](Self::check); what the server's connection says; a database of the server that is not empty.
    pub fn check_with(
        &self,
        script: &Script,
        options: &CheckOptions,
        hooks: CheckHooks<'_>,
    ) -> Result<CheckReport, Error> {
        let CheckHooks { watch, server } = hooks;
        let mut all = |_| true;
        let watch = watch.unwrap_or(&mut all);
        let server = server.map(|call| Server::new(call, script)).transpose()?;
        let mut trial = Trial::new(self, script, options, server)?;
        let deciders = self.deciders();
        let place = |decider| deciders.iter().position(|(one, ..)| *one == decider);
        let mut reached: BTreeMap<Decider, u64> = BTreeMap::new();
        let mut reach = Reach::default();
        let mut found: Vec<(Rule, Decider)> = Vec::new();
        let (mut failures, mut runs, mut instructions_most, mut endless) = (Vec::new(), 0, 0, 0);
        let (mut left_out, mut outside) = (0, 0);
        let made = self.inputs(options.seed).take(usize::try_from(options.runs).unwrap_or(usize::MAX));
        for input in options.first.iter().cloned().chain(made) {
            if !watch(runs) || failures.len() >= options.failures || endless >= ENDLESS_MOST {
                break;
            }
            // Each call that is made has chance of its own.
            let made = runs.checked_sub(options.first.len() as u64);
            trial.chance(made.unwrap_or_default());
            runs += 1;
            let Ran { decider, broken, instructions, lines, is_left_out } = trial.run(&input)?;
            *reached.entry(decider).or_default() += 1;
            instructions_most = instructions_most.max(instructions);
            left_out += u64::from(is_left_out);
            reach.note(&input, &lines);
            let Some(broken) = broken else { continue };
            let strays = self.strays(&input);
            if made.is_none() && is_outside(&strays, decider) {
                outside += 1;
                continue;
            }
            let kind = (broken.rule, decider);
            endless += usize::from(broken.rule == Rule::End);
            if !found.contains(&kind) {
                let smallest = self.smallest(&mut trial, (input, strays), kind, options);
                let repeat = Repeat::new(options.seed, made);
                match trial.explained(smallest, (runs, repeat), (decider, broken))? {
                    Some(failure) => {
                        found.push(kind);
                        failures.push(CheckFailure { clause: place(decider), ..failure });
                    }
                    // A server that does otherwise only once says nothing, but it is not passed over in silence.
                    None => left_out += 1,
                }
            }
        }
        let (lines, missed) = covered(self, &mut trial, &reach, options);
        let (name, sha, source) = (self.name().to_owned(), script.sha().to_owned(), script.source().to_vec());
        Ok(CheckReport {
            name: name.clone(),
            sha: sha.clone(),
            seed: options.seed,
            runs,
            clauses: told_clauses(deciders, &reached),
            failures,
            instructions_most,
            instructions_allowed: self.instructions(),
            left_out,
            outside,
            coverage: ScriptCoverage { name, sha, source, lines },
            missed,
        })
    }
    /// The smallest call that breaks the same rule where the same clause decides, and strays nowhere else.
    fn smallest(
        &self,
        trial: &mut Trial<'_>,
        (input, strays): (Input, Vec<Stray>),
        kind: (Rule, Decider),
        options: &CheckOptions,
    ) -> Input {
        let tries = if kind.0 == Rule::End { ENDLESS_TRIES } else { shrink::TRIES };
        let tries = if options.shrinks { tries } else { 0 };
        shrink::smallest(input, tries, &self.strays_only(strays), &mut |input| trial.fails_by(input, kind))
    }
    /// Whether an input is as declared, but for these places: a small call is wrong where the great one was.
    fn strays_only(&self, strays: Vec<Stray>) -> impl Fn(&Input) -> bool + '_ {
        move |input| self.strays(input).iter().all(|stray| strays.contains(stray))
    }
}

/// The clauses with how often each decided.
fn told_clauses(
    deciders: Vec<(Decider, usize, String)>,
    reached: &BTreeMap<Decider, u64>,
) -> Vec<ReachedClause> {
    let clause = |(decider, line, text)| {
        let runs = reached.get(&decider).copied().unwrap_or(0);
        ReachedClause { line, text, runs }
    };
    deciders.into_iter().map(clause).collect()
}

/// Whether no clause tells what becomes of a call: its state is not as declared in a way that is not looked at.
fn is_outside(strays: &[Stray], decider: Decider) -> bool {
    let has_element = strays.iter().any(|stray| matches!(stray, Stray::Element(_)));
    has_element && !matches!(decider, Decider::Error(_))
}

/// The lines that can run, and those that no call ran, each with the nearest call, made smaller.
fn covered(
    contract: &Contract,
    trial: &mut Trial<'_>,
    reach: &Reach,
    options: &CheckOptions,
) -> (Vec<LineCoverage>, Vec<MissedLine>) {
    let Some(script) = trial.watched() else { return (Vec::new(), Vec::new()) };
    let missed = reach.missed(&script, &mut |input, line, depth| {
        let tries = if options.shrinks { NEAR_TRIES } else { 0 };
        let may = contract.strays_only(contract.strays(input));
        shrink::smallest(input.clone(), tries, &may, &mut |input| {
            trial.run(input).is_ok_and(|ran| depth.is_kept(line, &ran.lines))
        })
    });
    (reach.lines(&script), missed)
}
