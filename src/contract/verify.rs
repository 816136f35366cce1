//! After a run: whether the reply and the changes are what the contract promises.

use super::closures::Became;
use super::expr::{Datum, Expr};
use super::facts::{Facts, Outcome};
use super::judge::{NoCase, Verdict};
use super::shape::{Promise, Shown};
use super::{Case, Contract, Effect, Key, Place, Ttl};
use crate::error::Failure;
use crate::reply::{Reply, ReplyRef};
use crate::store::{Db, Held};
use crate::util::words::quote_word;
use crate::value::hash::Hash;
use crate::value::packed::Limits;
use crate::value::{Str, Value};

/// What of a contract a script broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// A call that is to be refused got another answer.
    Refusal,
    /// A call that is to be refused changed something.
    Untouched,
    /// A call that is to be accepted got an error.
    Acceptance,
    /// The reply has not the shape of the `reply` clause, or is not the one of its case.
    Reply,
    /// A key does not hold what its case says, or its expiry is not as declared.
    Effect,
    /// No case applies, or none can be told to.
    Case,
    /// The script used what is none of its keys.
    Keys,
    /// A key was written that may not be, or not for this reply.
    Writes,
    /// The run took more instructions than the `instructions` clause allows.
    Instructions,
    /// The run did not end within the bound of the check.
    End,
    /// The same call in the same state came to something else the second time.
    Determinism,
    /// What the run told to replicas, applied to a copy, gives another state.
    Replication,
    /// A real server answers otherwise.
    Server,
}

impl Rule {
    /// The name of the rule in one word, as reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Refusal => "refusal",
            Rule::Untouched => "untouched",
            Rule::Acceptance => "acceptance",
            Rule::Reply => "reply",
            Rule::Effect => "effect",
            Rule::Case => "case",
            Rule::Keys => "keys",
            Rule::Writes => "writes",
            Rule::Instructions => "instructions",
            Rule::End => "end",
            Rule::Determinism => "determinism",
            Rule::Replication => "replication",
            Rule::Server => "server",
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a script did that its contract does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) rule: Rule,
    pub(crate) told: String,
}

impl Rule {
    fn broken(self, told: String) -> Breach {
        Breach { rule: self, told }
    }
}

/// What a key should hold after a run.
struct Expectation {
    /// None when any value will do.
    value: Option<Option<Value>>,
    ttl: ExpectedTtl,
    /// The declaration that tells the expiry, when no effect does.
    rule: &'static str,
}

enum ExpectedTtl {
    /// This instant of expiry, or none.
    At(Option<i64>),
    Some,
    Any,
}

impl Contract {
    /// What the script did that its contract does not say, if anything.
    pub(crate) fn breach(
        &self,
        facts: &Facts<'_>,
        verdict: &Verdict,
        reply: &Reply,
        outcome: &Outcome,
    ) -> Option<Breach> {
        let view = reply.view();
        let found = match verdict {
            Verdict::Refused(text) => self.refusal(
                facts,
                &String::from_utf8_lossy(text),
                view == ReplyRef::Error(text),
                view,
                outcome,
            ),
            Verdict::Raised(code) => {
                let is_raised = matches!(view, ReplyRef::Error(text) if code_of(text) == code.as_bytes());
                self.refusal(facts, code, is_raised, view, outcome)
            }
            Verdict::Accepted if matches!(view, ReplyRef::Error(text) if is_from_outside(text)) => {
                return None;
            }
            Verdict::Accepted => self.fulfilment(facts, view, outcome),
        };
        let keys = || undeclared(facts, outcome).map(|told| Rule::Keys.broken(told));
        let budget = || self.budget(outcome).map(|told| Rule::Instructions.broken(told));
        found.or_else(keys).or_else(budget)
    }
    /// What is said of a breach where the script has no other name.
    pub(crate) fn told(&self, breach: &Breach) -> String {
        format!("{} broke its contract: {}", self.name, breach.told)
    }
    /// A call that the contract refuses gets the declared error and changes nothing.
    fn refusal(
        &self,
        facts: &Facts<'_>,
        promised: &str,
        kept: bool,
        view: ReplyRef<'_>,
        outcome: &Outcome,
    ) -> Option<Breach> {
        if !kept {
            return Some(Rule::Refusal.broken(format!(
                "the call is to be refused with {promised}, the script replied {}",
                Shown(view)
            )));
        }
        let (_, key) = outcome.written.first()?;
        Some(Rule::Untouched.broken(format!(
            "the call is to be refused with {promised}, the script wrote {}",
            self.shown(facts, key)
        )))
    }
    fn fulfilment(&self, facts: &Facts<'_>, view: ReplyRef<'_>, outcome: &Outcome) -> Option<Breach> {
        if let ReplyRef::Error(text) = view {
            let text = String::from_utf8_lossy(text);
            let told = format!("the call is to be accepted, the script replied (error) {text}");
            return Some(Rule::Acceptance.broken(told));
        }
        if let Some(told) = self.frame(facts, view, outcome) {
            return Some(Rule::Writes.broken(told));
        }
        if let Some(told) = self.shape(view) {
            return Some(Rule::Reply.broken(told));
        }
        let case = match self.case(facts) {
            Ok(Some(case)) => case,
            Ok(None) => return self.kept_expiry(facts, outcome).map(|told| Rule::Effect.broken(told)),
            Err(NoCase::NoneApplies) => {
                let told = "no case applies to the call; add one, or --!case else";
                return Some(Rule::Case.broken(told.to_owned()));
            }
            Err(NoCase::Incomputable(Case { line, text, .. })) => {
                let told = format!("line {line}, case {text}: its condition {INCOMPUTABLE}");
                return Some(Rule::Case.broken(told));
            }
        };
        let (rule, found) = self.kept_case(case, facts, view, outcome)?;
        Some(rule.broken(format!("line {}, case {}: {found}", case.line, case.text)))
    }
    fn shape(&self, view: ReplyRef<'_>) -> Option<String> {
        let shape = self.reply.as_ref().filter(|shape| !shape.fits(view))?;
        Some(format!("replies are {shape}, the script replied {}", Shown(view)))
    }
    fn kept_case(
        &self,
        case: &Case,
        facts: &Facts<'_>,
        view: ReplyRef<'_>,
        outcome: &Outcome,
    ) -> Option<(Rule, String)> {
        let Some(expected) = case.promise.expected(facts) else {
            return Some((Rule::Case, format!("its reply {INCOMPUTABLE}")));
        };
        if !expected.is(view) {
            let told = format!("the reply should be {expected}, it is {}", Shown(view));
            return Some((Rule::Reply, told));
        }
        let effects = match self.effects(case, facts) {
            Ok(effects) => effects,
            Err(told) => return Some((Rule::Case, told)),
        };
        for at in 0..facts.keys.len() {
            let Some((key, declared)) = self.declared_key(at) else { continue };
            let name = &self.told_name(facts, at);
            if declared.many.is_some() && changes(&effects, key) && !is_written(facts, outcome, at) {
                // Some of many change, and which is not told.
                continue;
            }
            let Some(expected) = expectation(&effects, (key, at), declared, facts) else {
                return Some((Rule::Case, format!("what becomes of {name} {INCOMPUTABLE}")));
            };
            let after = outcome.held.get(at).and_then(Option::as_ref);
            if let Some(found) = expected.mismatch(name, after) {
                return Some((Rule::Effect, found));
            }
        }
        None
    }
    /// Without cases: the expiry of each key that was written is as it is declared.
    fn kept_expiry(&self, facts: &Facts<'_>, outcome: &Outcome) -> Option<String> {
        (0..facts.keys.len()).filter(|at| is_written(facts, outcome, *at)).find_map(|at| {
            let (_, declared) = self.declared_key(at)?;
            let kept = ExpectedTtl::At(facts.held(at).and_then(|held| held.expire_at_ms));
            let (ttl, rule) = declared.ttl.of_written(kept);
            let expected = Expectation { value: None, ttl, rule };
            expected.mismatch(&self.told_name(facts, at), outcome.held.get(at).and_then(Option::as_ref))
        })
    }
    /// Keys that were written and may not be.
    fn frame(&self, facts: &Facts<'_>, view: ReplyRef<'_>, outcome: &Outcome) -> Option<String> {
        for (db, written) in &outcome.written {
            let key = facts.keys.iter().position(|key| *db == facts.db && **key == **written);
            let Some((at, (number, key))) = key.and_then(|at| Some((at, self.declared_key(at)?))) else {
                return Some(format!("the script wrote {}, which is none of its keys", quote_word(written)));
            };
            let allowed = |writes: &super::Writes| {
                writes.keys.contains(&number)
                    && writes.when.as_ref().is_none_or(|when| when.holds(facts, Some(view)))
            };
            let name = self.told_name(facts, at);
            if !self.writes.is_empty() && !self.writes.iter().any(allowed) {
                return Some(format!(
                    "no writes clause lets {} be written for the reply {}",
                    name,
                    Shown(view)
                ));
            }
            let is_gone = facts.held(at).is_some() && outcome.held.get(at).is_some_and(Option::is_none);
            if is_gone && !key.access.remove {
                return Some(format!("{name} was removed, it is not declared rm"));
            }
            if !is_gone && !key.access.write {
                let may = if key.access.remove { "it may be removed only" } else { "it is read only" };
                return Some(format!("{name} was written, {may}; declare it rw"));
            }
        }
        None
    }
    fn budget(&self, outcome: &Outcome) -> Option<String> {
        let limit = self.instructions.filter(|&limit| outcome.instructions > limit)?;
        Some(format!("a run takes up to {limit} instructions, this one took {}", outcome.instructions))
    }
    /// A key by its name, or as it is when it has none.
    fn shown(&self, facts: &Facts<'_>, key: &[u8]) -> String {
        let at = facts.keys.iter().position(|one| *one == key).filter(|at| self.declared_key(*at).is_some());
        at.map_or_else(|| quote_word(key), |at| self.told_name(facts, at))
    }
    /// The name of a key of a call: one of many is told by what it is called itself.
    fn told_name(&self, facts: &Facts<'_>, at: usize) -> String {
        match self.declared_key(at) {
            Some((_, Key { name, many: None, .. })) => name.clone(),
            Some((_, Key { name, .. })) => format!("{} (of {name})", quote_word(facts.keys[at])),
            None => quote_word(facts.keys[at]),
        }
    }
}

/// Said of what has no value in a call.
const INCOMPUTABLE: &str = "cannot be computed in this call: an integer overflows, or is divided by 0";

/// An error that is not the script's word, and not in its power.
fn is_from_outside(text: &[u8]) -> bool {
    code_of(text) == b"OOM" || text.starts_with(&Failure::KILLED.to_bytes())
}

/// A key that the script used and was not given.
fn undeclared(facts: &Facts<'_>, outcome: &Outcome) -> Option<String> {
    let is_given = |(db, key): &&(Db, Vec<u8>)| *db == facts.db && facts.keys.contains(&key.as_slice());
    if let Some((db, key)) = outcome.used.keys.iter().find(|used| !is_given(used)) {
        let place = if *db == facts.db { String::new() } else { format!(" of database {db}") };
        return Some(format!("the script used {}{place}, which is none of its keys", quote_word(key)));
    }
    let beyond = outcome.used.beyond.as_ref()?;
    Some(format!("the script reached beyond its keys with {}", String::from_utf8_lossy(beyond)))
}

/// The first word of an error.
fn code_of(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b' ').next().unwrap_or_default()
}

/// Whether a case only says that a declared key changes.
fn changes(effects: &[(usize, Option<Became>)], key: usize) -> bool {
    effects.iter().any(|(at, effect)| *at == key && matches!(effect, Some(Became::Changed)))
}

/// Whether the script wrote this key of the call.
fn is_written(facts: &Facts<'_>, outcome: &Outcome, at: usize) -> bool {
    outcome.written.iter().any(|(db, written)| *db == facts.db && **written == *facts.keys[at])
}

/// What a key should hold after a case, by the numbers of its declaration and in the call; None where that cannot be told.
fn expectation(
    effects: &[(usize, Option<Became>)],
    (key, at): (usize, usize),
    declared: &Key,
    facts: &Facts<'_>,
) -> Option<Expectation> {
    let before = facts.held(at);
    let kept = ExpectedTtl::At(before.and_then(|held| held.expire_at_ms));
    let value = Some(before.map(|held| held.value.clone()));
    let gone = Expectation { value: Some(None), ttl: ExpectedTtl::Any, rule: "" };
    let mut expected = Expectation { value, ttl: kept, rule: "" };
    let mut is_written = false;
    let mut expires = None;
    for (_, effect) in effects.iter().filter(|(at, _)| *at == key) {
        is_written |= !matches!(effect, Some(Became::Left(_)));
        match effect.as_ref()? {
            Became::Text(text) => expected.value = Some(Some(Value::String(Str::new(text)))),
            Became::Changed => expected.value = None,
            Became::Field(field, text) => edit_hash(&mut expected.value, |hash| {
                hash.insert(field, text, &Limits::HASH);
            }),
            Became::NoField(field) => edit_hash(&mut expected.value, |hash| {
                hash.remove(field);
            }),
            // Its time is over: it goes at once.
            Became::Left(left) if *left <= 0 => return Some(gone),
            Became::Gone => return Some(gone),
            Became::Left(left) => {
                expires = Some(i64::try_from(left.checked_add(i128::from(facts.now_ms))?).ok()?);
            }
            Became::Nothing => return None,
        }
    }
    if let Some(at) = expires {
        expected.ttl = ExpectedTtl::At(Some(at));
    } else if is_written {
        (expected.ttl, expected.rule) = declared.ttl.of_written(expected.ttl);
    }
    Some(expected)
}

impl Contract {
    /// What becomes of keys in a case, by their numbers; None for what cannot be computed.
    fn effects(&self, case: &Case, facts: &Facts<'_>) -> Result<Vec<(usize, Option<Became>)>, String> {
        let Promise::Closure(closure) = &case.promise else {
            return Ok(case.effects.iter().map(|effect| effect.computed(facts)).collect());
        };
        let promised = closure.call(facts, None).map_or_else(Vec::new, |promised| promised.effects);
        let by_number = |(name, became): (String, Became)| match self.place(&name) {
            Some(Place::Key(key)) => Ok((key, Some(became))),
            _ => Err(format!("it tells what becomes of {name:?}, which is no key of the contract")),
        };
        promised.into_iter().map(by_number).collect()
    }
}

impl Effect {
    /// What it comes to in a call.
    fn computed(&self, facts: &Facts<'_>) -> (usize, Option<Became>) {
        let text = |value: &Expr| text_of(value.eval(facts, None)?);
        match self {
            Effect::Assign(key, value) => (*key, text(value).map(Became::Text)),
            Effect::Delete(key) => (*key, Some(Became::Gone)),
            Effect::Change(key) => (*key, Some(Became::Changed)),
            Effect::SetField(key, field, value) => {
                (*key, text(value).map(|text| Became::Field(field.clone(), text)))
            }
            Effect::DropField(key, field) => (*key, Some(Became::NoField(field.clone()))),
            Effect::Expire(key, value) => match value.eval(facts, None) {
                Some(Datum::Int(left)) => (*key, Some(Became::Left(left))),
                _ => (*key, None),
            },
        }
    }
}

impl Ttl {
    /// The expiry of a key that was written and had this one, and the declaration that tells it.
    fn of_written(self, kept: ExpectedTtl) -> (ExpectedTtl, &'static str) {
        match self {
            Ttl::Any => (ExpectedTtl::Any, ""),
            Ttl::Set => (ExpectedTtl::Some, " (ttl=set)"),
            Ttl::Dropped => (ExpectedTtl::At(None), " (ttl=dropped)"),
            Ttl::Kept => (kept, " (ttl=kept)"),
        }
    }
}

/// Changes the hash that a key should hold; one without fields is none.
fn edit_hash(value: &mut Option<Option<Value>>, edit: impl FnOnce(&mut Hash)) {
    let mut hash = match value {
        Some(Some(Value::Hash(hash))) => (**hash).clone(),
        _ => Hash::new(),
    };
    edit(&mut hash);
    *value = Some((!hash.is_empty()).then(|| Value::Hash(hash.into())));
}

fn text_of(value: Datum<'_>) -> Option<Vec<u8>> {
    match value {
        Datum::Int(value) => Some(value.to_string().into_bytes()),
        Datum::Text(text) => Some(text.into_owned()),
        Datum::Bool(_) | Datum::Nil | Datum::Other => None,
    }
}

impl Expectation {
    fn mismatch(&self, name: &str, after: Option<&Held>) -> Option<String> {
        let shown = |value: Option<&Value>| value.map_or("missing".to_owned(), |value| value.preview());
        if let Some(value) = &self.value
            && value.as_ref() != after.map(|held| &held.value)
        {
            let after = shown(after.map(|held| &held.value));
            return Some(format!("{name} should be {} afterwards, it is {after}", shown(value.as_ref())));
        }
        let after = after?;
        let told = |expiry: Option<i64>| match expiry {
            Some(at) => format!("expire {} ms from now", at.saturating_sub(after.now_ms)),
            None => "have no expiry".to_owned(),
        };
        let found = match after.expire_at_ms {
            Some(at) => format!("it expires {} ms from now", at.saturating_sub(after.now_ms)),
            None => "it has no expiry".to_owned(),
        };
        match self.ttl {
            ExpectedTtl::At(at) if at != after.expire_at_ms => {
                Some(format!("{name} should {}{}, {found}", told(at), self.rule))
            }
            ExpectedTtl::Some if after.expire_at_ms.is_none() => {
                Some(format!("{name} should expire{}, {found}", self.rule))
            }
            _ => None,
        }
    }
}
