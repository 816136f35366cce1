//! Before a run: the first error clause that applies to a call decides what it is answered.

use super::expr::Datum;
use super::facts::Facts;
use super::grammar::Fault;
use super::{Access, Answer, Arg, Case, Contract, Key, KeyType, Place, Presence, Rejection, Wrong};
use crate::store::Held;
use crate::util::words::quote_word;
use crate::value::Value;
use std::fmt;

/// Cases are declared, and no case can be told to apply.
pub(super) enum NoCase<'c> {
    NoneApplies,
    /// Whether this one does cannot be computed: an integer overflows or is divided by 0.
    Incomputable(&'c Case),
}

/// The clause that decides what a call comes to: an `error` clause or a `case`, by its number, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Decider {
    Error(usize),
    Case(usize),
    /// The contract tells of no cases, or of none that applies.
    Nothing,
}

/// What a contract says of a call before it runs.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The call is within the contract.
    Accepted,
    /// The call is answered this error, which the script need not run for.
    Refused(Vec<u8>),
    /// A command that the script calls will raise an error with this code, as WRONGTYPE.
    Raised(String),
}

/// The text of an error as text.
impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Accepted => f.write_str("Accepted"),
            Verdict::Refused(text) => f.debug_tuple("Refused").field(&String::from_utf8_lossy(text)).finish(),
            Verdict::Raised(code) => f.debug_tuple("Raised").field(code).finish(),
        }
    }
}

impl Contract {
    pub(crate) fn judge(&self, facts: &Facts<'_>) -> Verdict {
        match self.rejection(facts) {
            None => self.judge_by_case(facts),
            Some(at) => match &self.rejections[at].answer {
                Answer::Text(text) => Verdict::Refused(text.clone()),
                Answer::Raised(code) => Verdict::Raised(code.clone()),
            },
        }
    }
    /// The first error clause that applies to a call.
    fn rejection(&self, facts: &Facts<'_>) -> Option<usize> {
        let applies = |one: &Rejection| one.wrongs.iter().any(|wrong| self.applies(*wrong, facts));
        self.rejections.iter().position(applies)
    }
    /// The clause that decides what a call comes to.
    pub(crate) fn decider(&self, facts: &Facts<'_>) -> Decider {
        if let Some(at) = self.rejection(facts) {
            return Decider::Error(at);
        }
        let case = self.case(facts).ok().flatten();
        let at = case.and_then(|case| self.cases.iter().position(|one| std::ptr::eq(one, case)));
        at.map_or(Decider::Nothing, Decider::Case)
    }
    /// All clauses that may decide, with their lines and how they are written.
    pub(crate) fn deciders(&self) -> Vec<(Decider, usize, String)> {
        let errors = self.rejections.iter().enumerate();
        let errors = errors.map(|(at, one)| (Decider::Error(at), one.line, format!("error {}", one.text)));
        let cases = self.cases.iter().enumerate();
        let cases = cases.map(|(at, one)| (Decider::Case(at), one.line, format!("case {}", one.text)));
        errors.chain(cases).collect()
    }
    /// A call that breaks no grammar may still be answered an error, where several things meet.
    fn judge_by_case(&self, facts: &Facts<'_>) -> Verdict {
        match self.case(facts) {
            Ok(Some(case)) => case.promise.refusal(facts).map_or(Verdict::Accepted, Verdict::Refused),
            _ => Verdict::Accepted,
        }
    }
    /// The case that applies: the first whose condition holds. None when no case is declared.
    pub(super) fn case(&self, facts: &Facts<'_>) -> Result<Option<&Case>, NoCase<'_>> {
        for case in &self.cases {
            let Some(when) = &case.when else { return Ok(Some(case)) };
            match when.eval(facts, None) {
                Some(Datum::Bool(true)) => return Ok(Some(case)),
                Some(_) => {}
                None => return Err(NoCase::Incomputable(case)),
            }
        }
        if self.cases.is_empty() { Ok(None) } else { Err(NoCase::NoneApplies) }
    }
    /// What is said of a call whose numbers of keys or arguments are not those that its callers are trusted to keep to.
    pub(crate) fn untrusted(&self, facts: &Facts<'_>) -> Option<String> {
        if !self.trusts_arity || !self.has_wrong_arity(facts.keys.len(), facts.args.len()) {
            return None;
        }
        let told = |(least, most): (usize, usize), what: &str| match most {
            _ if least == most => format!("{least} {what}"),
            usize::MAX => format!("{least} or more {what}"),
            most => format!("{least} to {most} {what}"),
        };
        let (keys, args) = (told(self.key_counts(), "keys"), told(self.arg_counts(), "arguments"));
        let (given_keys, given_args) = (facts.keys.len(), facts.args.len());
        Some(format!(
            "{} has {keys} and {args}, and trusts its callers to know; this call has {given_keys} and {given_args}",
            self.name
        ))
    }
    /// Whether a call with so many keys and arguments has other numbers than are declared.
    pub(super) fn has_wrong_arity(&self, keys: usize, args: usize) -> bool {
        let is_outside = |(least, most), count| !(least..=most).contains(&count);
        is_outside(self.key_counts(), keys) || is_outside(self.arg_counts(), args)
    }
    /// What is said of a call that gives one key twice: a contract tells what becomes of different keys. Keys that are
    /// only read may be the same.
    pub(crate) fn same_keys(&self, keys: &[&[u8]]) -> Option<String> {
        let (least, most) = self.key_counts();
        if !(least..=most).contains(&keys.len()) {
            return None;
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&at| (keys[at], at));
        let declared = |at: usize| self.declared_key(at).map(|(_, key)| key);
        let is_read_only = |at: usize| declared(at).is_none_or(|key| key.access == Access::default());
        let clash = |pair: &&[usize]| {
            keys[pair[0]] == keys[pair[1]] && !(is_read_only(pair[0]) && is_read_only(pair[1]))
        };
        let pair = order.windows(2).find(clash)?;
        let (one, other) = (&declared(pair[0])?.name, &declared(pair[1])?.name);
        if one == other {
            let key = quote_word(keys[pair[0]]);
            return Some(format!(
                "two of {one} are the key {key}; {} tells what becomes of different keys",
                self.name
            ));
        }
        Some(format!(
            "{one} and {other} are both the key {}; {} tells what becomes of different keys",
            quote_word(keys[pair[0]]),
            self.name
        ))
    }
    fn applies(&self, wrong: Wrong, facts: &Facts<'_>) -> bool {
        match wrong {
            Wrong::Arity => self.has_wrong_arity(facts.keys.len(), facts.args.len()),
            Wrong::Broken(place, None) => {
                matches!(self.fault(place, facts), Some(Fault::Missing | Fault::Syntax | Fault::Range))
            }
            Wrong::Broken(place, fault) => self.fault(place, facts) == fault,
        }
    }
    /// How a key or an argument breaks its grammar; one that the call does not have is a matter of arity.
    fn fault(&self, place: Place, facts: &Facts<'_>) -> Option<Fault> {
        match place {
            Place::Arg(arg) => {
                let Arg { grammar, presence, .. } = &self.args[arg];
                let count = if matches!(presence, Presence::Many { .. }) { usize::MAX } else { 1 };
                facts.args.iter().skip(arg).take(count).find_map(|text| grammar.fault(text))
            }
            Place::Key(key) => {
                self.keys_of(key, facts.keys.len()).find_map(|at| self.keys[key].fault(facts.held(at)))
            }
        }
    }
}

impl Key {
    /// How what it holds breaks what is declared.
    fn fault(&self, held: Option<&Held>) -> Option<Fault> {
        let Some(held) = held else { return self.required.then_some(Fault::Missing) };
        match (&self.kind, &held.value) {
            (KeyType::Any, _) => None,
            (KeyType::String(grammar), Value::String(text)) => grammar.fault(&text.to_vec()),
            (KeyType::Collection(name, _), value) if value.type_name() == *name => None,
            _ => Some(Fault::Type),
        }
    }
}
