//! A script that is held to its contract: a call is judged before Lua runs, and what the script did is verified after,
//! all in one unit of work.

use super::{Client, Core};
use crate::command::session::Replies;
use crate::command::{Argv, Ctx, Origin, TracedCall, keys};
use crate::contract::{Breach, Contract, Decider, Facts, Outcome, Used, Verdict};
use crate::error::{Error, Failure};
use crate::reply::Reply;
use crate::store::{Db, SessionId};
use crate::util::num::parse_i64;

/// A call of a script with a contract.
pub(super) struct CheckedCall<'a> {
    pub(super) contract: &'a Contract,
    pub(super) source: &'a [u8],
    pub(super) sha: &'a [u8],
    pub(super) keys: &'a [&'a [u8]],
    pub(super) args: &'a [&'a [u8]],
}

/// What a call came to that ran whatever its contract says of it.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) reply: Reply,
    /// The clause that decides what the call is to come to.
    pub(crate) decider: Decider,
    pub(crate) breach: Option<Breach>,
    pub(crate) instructions: u64,
    pub(crate) calls: Vec<TracedCall>,
}

impl CheckedCall<'_> {
    fn judge(&self, facts: &Facts<'_>) -> Result<Verdict, Error> {
        match self.contract.untrusted(facts).or_else(|| self.contract.same_keys(self.keys)) {
            Some(told) => Err(Error::usage(told)),
            None => Ok(self.contract.judge(facts)),
        }
    }
    /// The call as EVALSHA when the engine knows the script, else as EVAL.
    fn with_words<T>(&self, core: &mut Core, act: impl FnOnce(&mut Core, Argv<'_>) -> T) -> T {
        let count = self.keys.len().to_string();
        let (name, script): (&[u8], &[u8]) = match core.state.scripts.contains(self.sha) {
            true => (b"EVALSHA", self.sha),
            false => (b"EVAL", self.source),
        };
        let mut argv = vec![name, script, count.as_bytes()];
        argv.extend(self.keys.iter().chain(self.args));
        act(core, &argv)
    }
    /// Whether the user of a session may make the call: else it is told nothing of what the contract would say.
    fn check_permission(&self, core: &mut Core, id: SessionId) -> Result<(), Failure> {
        if !core.state.sessions.get(id).restricted {
            return Ok(());
        }
        self.with_words(core, |core, argv| {
            let cx = &mut Ctx::new(&mut core.state, id, Origin::Client);
            let row = cx.state.table.lookup(argv)?;
            cx.check_authenticated(row)?;
            cx.check_permission(row, argv)
        })
    }
}

impl Client {
    /// What the contract says of a call, in the state as it is. Nothing runs.
    pub(super) fn judge(&mut self, call: &CheckedCall<'_>) -> Result<Verdict, Error> {
        let mut core = self.shared.lock()?;
        core.enter(self.id)?;
        call.check_permission(&mut core, self.id)?;
        let db = core.state.sessions.get(self.id).db;
        let verdict = call.judge(&Facts::look(&core.state.store, db, call.keys, call.args));
        core.finish_unit();
        core.serve();
        verdict
    }
    /// Runs a call, also one that the contract refuses, and compares what it did with the contract.
    pub(super) fn probe(&mut self, call: &CheckedCall<'_>) -> Result<Probe, Error> {
        let mut reply = Reply::new();
        let mut core = self.shared.lock()?;
        core.enter(self.id)?;
        let db = core.state.sessions.get(self.id).db;
        let facts = Facts::look(&core.state.store, db, call.keys, call.args);
        let probe = call.judge(&facts).map(|verdict| {
            let outcome = core.observed(self.id, call, &facts, &mut reply);
            let calls = core.state.trace.take().unwrap_or_default();
            let outcome = Outcome { used: core.used(facts.db, &calls), ..outcome };
            let breach = call.contract.breach(&facts, &verdict, &reply, &outcome);
            let (decider, instructions) = (call.contract.decider(&facts), outcome.instructions);
            (decider, breach, instructions, calls)
        });
        core.leave(self.id, &mut reply);
        core.serve();
        probe.map(|(decider, breach, instructions, calls)| Probe {
            reply,
            decider,
            breach,
            instructions,
            calls,
        })
    }
    /// Runs a call that is held to its contract, and gives what it called.
    pub(super) fn submit_checked(
        &mut self,
        call: &CheckedCall<'_>,
        out: &mut Reply,
    ) -> Result<Vec<TracedCall>, Error> {
        out.clear();
        let mut core = self.shared.lock()?;
        let id = self.id;
        let mut calls = Vec::new();
        core.lossy(id, b"evalsha", out, |core, out| core.checked_unit(id, call, &mut calls, out))?;
        Ok(calls)
    }
}

impl Core {
    fn checked_unit(
        &mut self,
        id: SessionId,
        call: &CheckedCall<'_>,
        calls: &mut Vec<TracedCall>,
        out: &mut Reply,
    ) -> Result<(), Error> {
        self.enter(id)?;
        let session = self.state.sessions.get(id);
        if session.queue.is_some() || session.replies != Replies::On {
            return Err(Error::usage(
                "a call that is held to its contract needs its reply at once: not in MULTI, nor with CLIENT REPLY off",
            ));
        }
        if let Err(failure) = call.check_permission(self, id) {
            out.error(&failure);
            self.leave(id, out);
            return Ok(());
        }
        let db = self.state.sessions.get(id).db;
        let facts = Facts::look(&self.state.store, db, call.keys, call.args);
        let verdict = call.judge(&facts);
        let breach = match &verdict {
            Err(_) => None,
            Ok(Verdict::Refused(text)) => {
                self.state.stats.note_error(text);
                self.state.stats.settle_errors();
                out.error_text(text);
                None
            }
            Ok(verdict) => {
                let outcome = self.observed(id, call, &facts, out);
                *calls = self.state.trace.take().unwrap_or_default();
                let outcome = Outcome { used: self.used(facts.db, calls), ..outcome };
                call.contract.breach(&facts, verdict, out, &outcome)
            }
        };
        self.leave(id, out);
        self.serve();
        verdict.and_then(|_| match breach {
            None => Ok(()),
            Some(breach) => Err(Error::breach(call.contract.told(&breach))),
        })
    }
    /// Runs the call, and notes what it did.
    fn observed(
        &mut self,
        id: SessionId,
        call: &CheckedCall<'_>,
        facts: &Facts<'_>,
        out: &mut Reply,
    ) -> Outcome {
        self.vm().count_each(true);
        self.state.store.record_writes();
        self.state.trace = Some(Vec::new());
        call.with_words(self, |core, argv| core.run(id, Origin::Client, argv, out));
        let written = self.state.store.take_writes();
        let instructions = self.vm().count_each(false);
        let held = Facts::look(&self.state.store, facts.db, facts.keys, facts.args).held;
        Outcome { held, written, used: Used::default(), instructions }
    }
    /// What the commands of a script, which begins in this database, look at.
    fn used(&self, mut db: Db, calls: &[TracedCall]) -> Used {
        let mut used = Used::default();
        for TracedCall { argv, reply, .. } in calls {
            let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
            let Ok(row) = self.state.table.lookup(&words) else { continue };
            if reaches_beyond(row.spec.name, &words) {
                used.beyond.get_or_insert_with(|| row.spec.name.to_ascii_uppercase().into_bytes());
            }
            let keys = keys::find(row.spec, &words);
            used.keys.extend(keys.into_iter().filter_map(|key| Some((db, argv.get(key.at)?.clone()))));
            if row.spec.name == "select" && !reply.is_error() {
                db = words.get(1).and_then(|word| parse_i64(word)).map_or(db, |selected| selected as Db);
            }
        }
        used
    }
}

/// Whether a command reaches keys that it does not name: whatever keys there are, or those that a pattern of SORT makes.
fn reaches_beyond(name: &str, words: &[&[u8]]) -> bool {
    match name {
        "keys" | "scan" | "randomkey" | "dbsize" | "flushall" | "flushdb" | "swapdb" => true,
        "sort" | "sort_ro" => words.windows(2).skip(2).any(|pair| {
            let is = |option: &str| pair[0].eq_ignore_ascii_case(option.as_bytes());
            (is("by") || is("get")) && pair[1].contains(&b'*')
        }),
        _ => false,
    }
}
