//! One call of a script, from an empty keyspace on: run on an engine, run again on one with other seeds, and its effects
//! applied to a copy.

use super::CheckOptions;
use super::against::{Comparison, Server};
use super::report::{CheckFailure, Repeat};
use super::{order, sent};
use crate::contract::{Breach, Contract, Decider, Input, Rule};
use crate::engine::{Builder, Client, Engine, Journal, Probe, Script, Snapshot};
use crate::error::{Error, Failure};
use crate::reply::Reply;
use crate::script::{Coverage, Limits, Tally, Watched};
use crate::store::{JournalEntry, Targets};
use crate::util::clock::Clock;
use crate::util::words::join_words;

/// The work that a run may take for each instruction that its contract allows: strings and commands take some too.
const WORK_PER_INSTRUCTION: u64 = 8;

/// An engine that is used again from call to call.
struct Bench {
    engine: Engine,
    client: Client,
    journal: Journal,
}

/// What a run came to.
pub(super) struct Ran {
    pub(super) decider: Decider,
    pub(super) broken: Option<Broken>,
    pub(super) instructions: u64,
    /// The lines that it ran.
    pub(super) lines: Vec<(u32, Tally)>,
    /// The call was not compared with the real server.
    pub(super) is_left_out: bool,
}

/// What the script did not keep.
pub(super) struct Broken {
    pub(super) rule: Rule,
    pub(super) told: String,
}

/// The runs of one script.
pub(super) struct Trial<'a> {
    contract: &'a Contract,
    script: &'a Script,
    work: u64,
    first: Bench,
    /// With other seeds.
    second: Bench,
    /// The seed of chance in the first engine: with the same one a run comes to the same.
    chance: u64,
    server: Option<Server<'a>>,
    /// The script's lines in the first engine, when they are of interest.
    watched: Option<Watched>,
}

impl Bench {
    fn new(builder: Builder, work: u64) -> Result<Self, Error> {
        let engine = builder.script_limits(Limits { work, ..Limits::default() }).build();
        Ok(Bench { client: engine.try_client()?, journal: engine.subscribe_journal()?, engine })
    }
    /// Makes the state that an input meets; from then on chance is that of the seed.
    fn prepare(&mut self, input: &Input, chance: u64) -> Result<(), Error> {
        self.engine.reset()?;
        self.engine.reseed(chance)?;
        self.engine.set_time(Clock::DEFAULT_START_MS)?;
        // What a set-up does to its session ends with it.
        self.client = self.engine.try_client()?;
        let mut reply = Reply::new();
        for command in &input.setup {
            self.client.call_into(command, &mut reply)?;
            if let Some(text) = reply.error_message() {
                let text = String::from_utf8_lossy(text);
                return Err(Error::usage(format!("the set-up {} is refused: {text}", join_words(command))));
            }
        }
        if self.client.in_transaction()? {
            return Err(Error::usage("the set-up leaves a MULTI open, and the script would be queued"));
        }
        self.engine.advance(input.advance())?;
        self.journal.take().map(|_| ())
    }
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        contract: &'a Contract,
        script: &'a Script,
        options: &CheckOptions,
        server: Option<Server<'a>>,
    ) -> Result<Self, Error> {
        let declared = contract.instructions().unwrap_or_default();
        let work = options.work.max(declared.saturating_mul(WORK_PER_INSTRUCTION));
        let coverage = options.covers.then(Coverage::new);
        let builder = Engine::builder();
        let first = match &coverage {
            Some(coverage) => builder.coverage(coverage),
            None => builder,
        };
        let second = Engine::builder().hasher_seed(0x6b65_6570);
        let watched = coverage.map(|coverage| coverage.watch(script.source()));
        let (first, second) = (Bench::new(first, work)?, Bench::new(second, work)?);
        Ok(Trial { contract, script, work, first, second, chance: 0, server, watched })
    }
    /// The script's lines, when they are of interest.
    pub(super) fn watched(&self) -> Option<Watched> {
        self.watched.clone()
    }
    /// From now on chance is that of this seed.
    pub(super) fn chance(&mut self, seed: u64) {
        self.chance = seed;
    }
    /// Runs one call.
    pub(super) fn run(&mut self, input: &Input) -> Result<Ran, Error> {
        self.first.prepare(input, self.chance)?;
        let before = self.first.engine.snapshot()?;
        drop(self.watched.as_ref().map(Watched::take));
        let call = self.script.call().keys(&input.keys).args(&input.args);
        let probe = call.probe(self.contract, &mut self.first.client)?;
        let lines = self.watched.as_ref().map_or_else(Vec::new, Watched::take);
        let (broken, is_left_out) = self.judged(input, &before, &probe)?;
        Ok(Ran { decider: probe.decider, broken, instructions: probe.instructions, lines, is_left_out })
    }
    /// What is wrong with what a call came to, and whether it was not compared with the real server.
    fn judged(
        &mut self,
        input: &Input,
        before: &Snapshot,
        probe: &Probe,
    ) -> Result<(Option<Broken>, bool), Error> {
        let written = self.first.journal.take()?;
        if let Some(endless) = self.endless(probe) {
            return Ok((Some(endless), false));
        }
        if let Some(Breach { rule, told }) = &probe.breach {
            return Ok((Some(Broken { rule: *rule, told: told.clone() }), false));
        }
        if let Some(broken) = self.replayed(before, &written)? {
            return Ok((Some(broken), false));
        }
        if let Some(broken) = self.repeated(input, &probe.reply, &written)? {
            return Ok((Some(broken), false));
        }
        let Some(server) = &mut self.server else { return Ok((None, false)) };
        if self.contract.is_random() || !sent::is_sent(&probe.calls, input) {
            return Ok((None, true));
        }
        Ok(match server.compare(input, before, &probe.reply, &self.first.engine)? {
            Comparison::Same => (None, false),
            Comparison::LeftOut => (None, true),
            Comparison::Differs(told) => (Some(Broken { rule: Rule::Server, told }), false),
        })
    }
    fn endless(&self, probe: &Probe) -> Option<Broken> {
        let text = probe.reply.error_message()?;
        let is_stopped = |by: Failure| text.starts_with(&by.to_bytes());
        let (work, instructions) = (self.work, probe.instructions);
        let told = if is_stopped(Failure::OUT_OF_TIME) {
            "the run did not end in the time that a script has".to_owned()
        } else if !is_stopped(Failure::OUT_OF_WORK) {
            return None;
        } else if instructions >= work - work / 10 {
            format!("the run did not end within {work} instructions of Lua")
        } else {
            format!(
                "the run did not end within {work} units of work: it took {instructions} instructions of Lua, and the rest for strings and commands"
            )
        };
        Some(Broken { rule: Rule::End, told })
    }
    /// The effects that replicas are told, applied to a copy of the state before, must give the state after.
    fn replayed(&self, before: &Snapshot, written: &[JournalEntry]) -> Result<Option<Broken>, Error> {
        let is_told = |entry: &&JournalEntry| matches!(entry.targets, Targets::All | Targets::Replica);
        let written: Vec<&JournalEntry> = written.iter().filter(is_told).collect();
        let copy = before.fork();
        let refused = copy.replay(written.iter().copied()).err();
        if refused.is_none() && copy.state_hash()? == self.first.engine.state_hash()? {
            return Ok(None);
        }
        let effects: Vec<String> = written.iter().map(|entry| join_words(&entry.argv)).collect();
        let told = match refused {
            Some(error) => format!("a replica that is told {} refuses: {error}", effects.join("; ")),
            None => format!("a replica that is told {:?} has another state afterwards", effects.join("; ")),
        };
        Ok(Some(Broken { rule: Rule::Replication, told }))
    }
    /// The same call on an engine with other seeds, and with members and fields that came in another order, must come to
    /// the same.
    fn repeated(
        &mut self,
        input: &Input,
        reply: &Reply,
        written: &[JournalEntry],
    ) -> Result<Option<Broken>, Error> {
        if self.contract.is_random() {
            return Ok(None);
        }
        let other = order::reversed(input);
        self.second.prepare(other.as_ref().unwrap_or(input), !self.chance)?;
        let call = self.script.call().keys(&input.keys).args(&input.args);
        let probe = call.probe(self.contract, &mut self.second.client)?;
        let again = self.second.journal.take()?;
        // What has no order may come in another one, as long as nothing hangs on it.
        let is_loose = other.is_some();
        let is_same_reply = probe.reply == *reply
            || (is_loose && order::unordered(probe.reply.view()) == order::unordered(reply.view()));
        let are_same_effects = order::effects(&again) == order::effects(written)
            || (is_loose && order::unordered_effects(&again) == order::unordered_effects(written));
        let told = if !is_same_reply {
            format!("the reply is {reply:?}, with other seeds of chance and hash tables {:?}", probe.reply)
        } else if self.second.engine.state_hash()? != self.first.engine.state_hash()? {
            "with other seeds of chance and hash tables it leaves another state".to_owned()
        } else if !are_same_effects {
            "with other seeds of chance and hash tables it tells something else to replicas".to_owned()
        } else {
            return Ok(None);
        };
        Ok(Some(Broken { rule: Rule::Determinism, told }))
    }
    /// Whether a call breaks this rule where this clause decides.
    pub(super) fn fails_by(&mut self, input: &Input, (rule, decider): (Rule, Decider)) -> bool {
        let is_same =
            |ran: Ran| ran.decider == decider && ran.broken.is_some_and(|broken| broken.rule == rule);
        self.run(input).is_ok_and(is_same)
    }
    /// Whether it does so too where chance is that of a fresh engine, as `moonkeep eval` has it; chance is so from then on.
    fn fails_without_luck(&mut self, input: &Input, kind: (Rule, Decider)) -> bool {
        let chance = std::mem::take(&mut self.chance);
        let fails = chance == 0 || self.fails_by(input, kind);
        if !fails {
            self.chance = chance;
        }
        fails
    }
    /// Runs a call that fails once more, and tells all of it. None where a real server did otherwise only once: its time
    /// passes, and what does not come again cannot be looked into.
    pub(super) fn explained(
        &mut self,
        input: Input,
        (run, repeat): (u64, Repeat),
        (decider, found): (Decider, Broken),
    ) -> Result<Option<CheckFailure>, Error> {
        let by_chance = !self.fails_without_luck(&input, (found.rule, decider));
        let repeat = Repeat { by_chance, work: self.work, ..repeat };
        let Broken { rule, told } = match self.run(&input)?.broken {
            Some(broken) => broken,
            None if found.rule == Rule::Server => return Ok(None),
            None => Broken { told: format!("{} (it did not happen again)", found.told), ..found },
        };
        self.first.prepare(&input, self.chance)?;
        let before = self.first.engine.snapshot()?;
        let call = self.script.call().keys(&input.keys).args(&input.args);
        let probe = call.probe(self.contract, &mut self.first.client)?;
        let changes = before.diff(&self.first.engine.snapshot()?);
        let Probe { reply, calls, .. } = probe;
        Ok(Some(CheckFailure { rule, told, input, run, repeat, clause: None, reply, calls, changes }))
    }
}
