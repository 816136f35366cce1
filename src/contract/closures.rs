//! Cases whose conditions, replies and effects are closures: what these are told of a call, and what they promise.

use super::expr::Datum;
use super::facts::Facts;
use super::grammar::{Form, Grammar};
use super::shape::PromisedReply;
use super::{Contract, KeyType, Place, Presence};
use crate::reply::ReplyRef;
use crate::store::Held;
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// A call with the state that it meets, as the closures of a contract see it: keys and arguments by their names. What a
/// name that is not declared stands for is not there.
#[derive(Debug)]
pub struct CallFacts<'a> {
    declared: &'a Contract,
    facts: &'a Facts<'a>,
    reply: Option<ReplyRef<'a>>,
}

impl CallFacts<'_> {
    /// The time of the call in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.facts.now_ms
    }
    /// The text of an argument, or what a string key holds; none when it is not there.
    pub fn text(&self, name: &str) -> Option<Vec<u8>> {
        match self.declared.place(name)? {
            Place::Key(key) => self.facts.text(key).map(|text| text.into_owned()),
            Place::Arg(arg) => self.facts.args.get(arg).map(|text| text.to_vec()),
        }
    }
    /// The integer that an argument is, or a string key holds; none when it is not there or is no integer in the form
    /// that is declared.
    pub fn int(&self, name: &str) -> Option<i64> {
        let grammar = match self.declared.place(name)? {
            Place::Key(key) => match &self.declared.keys[key].kind {
                KeyType::String(grammar) => Some(grammar),
                _ => None,
            },
            Place::Arg(arg) => Some(&self.declared.args[arg].grammar),
        };
        let form = if let Some(Grammar::Int { form, .. }) = grammar { *form } else { Form::Canonical };
        i64::try_from(form.read(&self.text(name)?)?).ok()
    }
    /// The texts of an argument that may be given any number of times, and of one that is given once or not at all.
    pub fn texts(&self, name: &str) -> Vec<Vec<u8>> {
        let Some(Place::Arg(arg)) = self.declared.place(name) else { return Vec::new() };
        let is_many = matches!(self.declared.args[arg].presence, Presence::Many { .. });
        let count = if is_many { usize::MAX } else { 1 };
        self.facts.args.iter().skip(arg).take(count).map(|text| text.to_vec()).collect()
    }
    /// Whether a key, or an optional argument, is there.
    pub fn exists(&self, name: &str) -> bool {
        match self.declared.place(name) {
            Some(Place::Key(key)) => self.facts.held(key).is_some(),
            Some(Place::Arg(arg)) => self.facts.args.len() > arg,
            None => false,
        }
    }
    /// What a key holds, and when it expires: for lists, sets, sorted sets and streams.
    pub fn held(&self, name: &str) -> Option<&Held> {
        match self.declared.place(name)? {
            Place::Key(key) => self.facts.held(key),
            Place::Arg(_) => None,
        }
    }
    /// What a hash holds in a field.
    pub fn field(&self, name: &str, field: impl AsRef<[u8]>) -> Option<&[u8]> {
        match &self.held(name)?.value {
            Value::Hash(hash) => hash.get(field.as_ref()),
            _ => None,
        }
    }
    /// The score of a member of a sorted set.
    pub fn score(&self, name: &str, member: impl AsRef<[u8]>) -> Option<f64> {
        match self.declared.place(name)? {
            Place::Key(key) => self.facts.score(key, member.as_ref()),
            Place::Arg(_) => None,
        }
    }
    /// Whether a key has this element: a member, a field of a hash, an item of a list.
    pub fn has(&self, name: &str, element: impl AsRef<[u8]>) -> bool {
        match self.declared.place(name) {
            Some(Place::Key(key)) => self.facts.has(key, element.as_ref()),
            _ => false,
        }
    }
    /// How many elements a key has, or bytes when it is a string, or how many texts an argument stands for; 0 when it is
    /// not there.
    pub fn len(&self, name: &str) -> usize {
        match self.declared.place(name) {
            Some(Place::Key(key)) => self.facts.len(key),
            Some(Place::Arg(_)) => self.texts(name).len(),
            None => 0,
        }
    }
    /// How many keys or arguments a name stands for, also one that may be given any number of times.
    pub fn count(&self, name: &str) -> usize {
        match self.declared.place(name) {
            Some(Place::Key(key)) => self.declared.keys_of(key, self.facts.keys.len()).len(),
            Some(Place::Arg(_)) => self.texts(name).len(),
            None => 0,
        }
    }
    /// What each of the keys that a name stands for holds, in order; None for one that is not there.
    pub fn each_held(&self, name: &str) -> impl Iterator<Item = Option<&Held>> {
        let keys = match self.declared.place(name) {
            Some(Place::Key(key)) => self.declared.keys_of(key, self.facts.keys.len()),
            _ => 0..0,
        };
        keys.map(|at| self.facts.held(at))
    }
    /// The milliseconds that a key has left, as PTTL tells it: -1 without expiry, -2 when it is not there.
    pub fn pttl(&self, name: &str) -> i64 {
        match self.declared.place(name) {
            Some(Place::Key(key)) => i64::try_from(self.facts.pttl(key)).unwrap_or(i64::MAX),
            _ => -2,
        }
    }
    /// The reply of the script, for the condition of [`ContractBuilder::writes_when`](super::ContractBuilder::writes_when);
    /// none in cases, which are told before it.
    pub fn reply(&self) -> Option<ReplyRef<'_>> {
        self.reply
    }
}

/// What a case promises: a reply, and what becomes of keys. Keys of which nothing is said stay as they are, value and
/// expiry.
#[derive(Debug, Clone, PartialEq)]
pub struct Promised {
    pub(super) answer: Answered,
    /// What becomes of keys, by their names.
    pub(super) effects: Vec<(String, Became)>,
}

/// The promised answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answered {
    Reply(PromisedReply),
    /// An error with this text; nothing changes.
    Error(Vec<u8>),
}

/// What becomes of a key in one call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Became {
    /// A string that holds this.
    Text(Vec<u8>),
    Gone,
    /// It has so many milliseconds left.
    Left(i128),
    /// It holds something; what, is not told.
    Changed,
    /// The hash holds this in a field.
    Field(Vec<u8>, Vec<u8>),
    /// The hash has this field no more.
    NoField(Vec<u8>),
    /// What cannot be told, as no text is.
    Nothing,
}

impl Promised {
    /// This reply: an integer, a text, a list or tuple of such, `()` for nil, or a [`PromisedReply`].
    pub fn reply(reply: impl Into<PromisedReply>) -> Self {
        Promised { answer: Answered::Reply(reply.into()), effects: Vec::new() }
    }
    /// An error with this text, for what hangs on several things at once. Like an `error` clause it is answered before
    /// Lua runs, and nothing changes.
    pub fn error(text: impl AsRef<[u8]>) -> Self {
        Promised { answer: Answered::Error(text.as_ref().to_vec()), effects: Vec::new() }
    }
    /// The key is a string that holds this; its expiry is as the key's TTL rule says.
    #[must_use]
    pub fn set(self, key: &str, text: impl Into<PromisedReply>) -> Self {
        self.with(key, text.into().text().map_or(Became::Nothing, Became::Text))
    }
    /// The key is gone.
    #[must_use]
    pub fn delete(self, key: &str) -> Self {
        self.with(key, Became::Gone)
    }
    /// The key has so many milliseconds left; it is gone when that is 0 or less.
    #[must_use]
    pub fn pttl(self, key: &str, ms: i64) -> Self {
        self.with(key, Became::Left(ms.into()))
    }
    /// The key holds whatever it holds.
    #[must_use]
    pub fn change(self, key: &str) -> Self {
        self.with(key, Became::Changed)
    }
    /// The hash holds this in a field; other fields stay as they are.
    #[must_use]
    pub fn set_field(self, key: &str, field: impl AsRef<[u8]>, text: impl Into<PromisedReply>) -> Self {
        let field = field.as_ref().to_vec();
        self.with(key, text.into().text().map_or(Became::Nothing, |text| Became::Field(field, text)))
    }
    /// The field is gone; a hash without fields is gone too.
    #[must_use]
    pub fn drop_field(self, key: &str, field: impl AsRef<[u8]>) -> Self {
        self.with(key, Became::NoField(field.as_ref().to_vec()))
    }
    fn with(mut self, key: &str, became: Became) -> Self {
        self.effects.push((key.to_owned(), became));
        self
    }
}

/// A closure of a contract, with the declarations that it names. Two are equal when they are the same one.
pub(super) struct Closure<T> {
    declared: Arc<Contract>,
    run: Run<T>,
}

/// What a builder is given.
pub(super) type Run<T> = Arc<dyn Fn(&CallFacts<'_>) -> T + Send + Sync>;

impl<T> Closure<T> {
    pub(super) fn new(declared: &Arc<Contract>, run: Run<T>) -> Self {
        Closure { declared: declared.clone(), run }
    }
    pub(super) fn call(&self, facts: &Facts<'_>, reply: Option<ReplyRef<'_>>) -> T {
        (self.run)(&CallFacts { declared: &self.declared, facts, reply })
    }
}

impl Closure<bool> {
    pub(super) fn datum(&self, facts: &Facts<'_>, reply: Option<ReplyRef<'_>>) -> Datum<'static> {
        Datum::Bool(self.call(facts, reply))
    }
}

impl<T> Clone for Closure<T> {
    fn clone(&self) -> Self {
        Closure { declared: self.declared.clone(), run: self.run.clone() }
    }
}

impl<T> PartialEq for Closure<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.run, &other.run)
    }
}

impl<T> fmt::Debug for Closure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}
