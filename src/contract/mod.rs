//! Contracts: what a script promises, declared in the comments of its header and held to by the engine. The clauses
//! are read by `header` (words by `lexer` and `cursor`, keys by `keys`, conditions by `expr`, replies by `shape`); `judge`
//! says before a run what a call must come to, `verify` after it whether it did; `generate` makes calls. lua/README.md is
//! the manual.

mod builder;
mod closures;
mod cursor;
mod error;
mod expr;
mod facts;
mod generate;
mod grammar;
mod header;
mod json;
mod judge;
mod keys;
mod lexer;
mod shape;
#[cfg(test)]
mod tests;
mod verify;
mod within;

pub use builder::{ContractBuilder, KeyRule, TextRule};
pub use closures::{CallFacts, Promised};
pub use error::ContractError;
pub(crate) use expr::is_reserved;
pub(crate) use facts::{Facts, Outcome, Used};
pub use generate::{Input, Inputs};
pub(crate) use judge::Decider;
pub use judge::Verdict;
pub use shape::PromisedReply;
pub(crate) use verify::Breach;
pub use verify::Rule;
pub(crate) use within::Stray;

use crate::util::hasher::Map;
use expr::Expr;
use grammar::{Fault, Grammar};
use shape::{Promise, Shape};

/// What a script promises: how many keys and arguments it takes and what each may hold, what it answers when they hold
/// something else, and what it replies and changes when they do not.
///
/// A contract stands in the header of a script, in comments that begin with `--!`; the manual is `lua/README.md` in the
/// package. [`Script::checked`](crate::Script::checked) makes a script that is held to it.
///
/// ```
/// let contract = moonkeep::Contract::parse(
///     r#"
/// --!contract take
/// --!key   stock  string int(0, 1000) required rw
/// --!argv  n      int(1, 1000)
/// --!error arity  "ERR one key, one argument"
/// --!error n      "ERR n is no number from 1 to 1000"
/// --!error stock  "ERR no stock"
/// --!error stock.type WRONGTYPE
/// --!case stock >= n => [1, stock - n] ; stock = stock - n
/// --!case else       => [0, stock]
/// "#,
/// )?;
/// assert_eq!(contract.name(), "take");
/// # Ok::<(), moonkeep::ContractError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    name: String,
    /// The names of keys and arguments.
    names: Map<String, Place>,
    keys: Vec<Key>,
    args: Vec<Arg>,
    rejections: Vec<Rejection>,
    reply: Option<Shape>,
    cases: Vec<Case>,
    writes: Vec<Writes>,
    instructions: Option<u64>,
    /// What a run comes to may hang on chance.
    random: bool,
    /// Callers keep to the numbers of keys and arguments; nothing is said of other calls.
    trusts_arity: bool,
}

/// A key of the script.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    name: String,
    kind: KeyType,
    required: bool,
    access: Access,
    ttl: Ttl,
    /// The last key may stand for so many; what is said of it is said of each.
    many: Option<(usize, usize)>,
}

/// What a key holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyType {
    String(Grammar),
    /// A type by the name that TYPE tells, and what its elements look like.
    Collection(&'static str, Elements),
    Any,
}

/// What the elements of a list, hash, set, sorted set or stream look like in the states that calls are made with. A key that
/// holds others is taken as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Elements {
    Any,
    /// Each of them; of a hash and a stream, each value.
    Each(Grammar),
    /// The fields of a hash, or of each entry of a stream.
    Fields(Vec<Field>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: Vec<u8>,
    grammar: Grammar,
    optional: bool,
}

impl Elements {
    /// The grammar of a field, and whether it may be missing.
    fn field(&self, name: &[u8]) -> Option<(&Grammar, bool)> {
        match self {
            Elements::Any => None,
            Elements::Each(grammar) => Some((grammar, true)),
            Elements::Fields(fields) => {
                let field = fields.iter().find(|field| field.name == name)?;
                Some((&field.grammar, field.optional))
            }
        }
    }
}

/// What a script may do to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Access {
    write: bool,
    remove: bool,
}

/// What becomes of a key's expiry when the script writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ttl {
    /// It stays.
    Kept,
    /// The key has one afterwards.
    Set,
    /// The key has none afterwards.
    Dropped,
    Any,
}

/// An argument of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Arg {
    name: String,
    grammar: Grammar,
    presence: Presence,
}

/// How often an argument is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    /// Once or not at all; only such ones follow.
    Optional,
    /// Any number of times within the bounds; the last argument.
    Many {
        min: usize,
        max: usize,
    },
}

/// A key or an argument, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Key(usize),
    Arg(usize),
}

/// An `error` clause: what is wrong with a call, and what it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rejection {
    line: usize,
    /// The clause as it is written, for messages.
    text: String,
    wrongs: Vec<Wrong>,
    answer: Answer,
}

/// One thing that may be wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Wrong {
    Arity,
    /// A key or argument that breaks its grammar: in this way, or in any but a wrong type.
    Broken(Place, Option<Fault>),
}

/// What a call that is wrong is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// The script replies this error.
    Text(Vec<u8>),
    /// A command that the script calls raises an error with this code.
    Raised(String),
}

/// A `case` clause: when it applies, what the script replies and what it changes then.
#[derive(Debug, Clone, PartialEq)]
struct Case {
    line: usize,
    /// The clause as it is written, for messages.
    text: String,
    /// None for `else`.
    when: Option<Expr>,
    promise: Promise,
    effects: Vec<Effect>,
}

/// What a case changes; a key that no effect names stays as it is.
#[derive(Debug, Clone, PartialEq)]
enum Effect {
    /// The string key holds this afterwards.
    Assign(usize, Expr),
    /// The key is gone.
    Delete(usize),
    /// The key has so many milliseconds left.
    Expire(usize, Expr),
    /// The key holds something else; what, is not told.
    Change(usize),
    /// The hash holds this in a field.
    SetField(usize, Vec<u8>, Expr),
    /// The hash has this field no more.
    DropField(usize, Vec<u8>),
}

/// A `writes` clause: keys that may be written, and for which replies.
#[derive(Debug, Clone, PartialEq)]
struct Writes {
    keys: Vec<usize>,
    when: Option<Expr>,
}

impl Contract {
    /// Reads a contract: a script with its header, or the clauses by themselves as they stand in a `.contract` file.
    ///
    /// # Errors
    /// The first mistake, with its line and column. A text without a `contract` clause has none.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Contract, ContractError> {
        header::parse(text.as_ref())
    }
    /// A contract that is made in Rust, with conditions, replies and effects as closures where its cases need more than the
    /// language has. It is used as any other: by [`Script::with_contract`](crate::Script::with_contract),
    /// [`check`](Self::check) and [`inputs`](Self::inputs).
    ///
    /// ```
    /// use moonkeep::{CheckOptions, Contract, KeyRule, Promised, Script, TextRule};
    /// let contract = Contract::builder("finish")
    ///     .key("jobs", KeyRule::zset(TextRule::token()).rw().rm())
    ///     .arg("job", TextRule::token())
    ///     .error("arity, job", "Expected one key and one job")
    ///     .raises("jobs.type", "WRONGTYPE")
    ///     .case(
    ///         "the job is due",
    ///         |call| call.score("jobs", call.text("job").unwrap_or_default()) <= Some(call.now_ms() as f64)
    ///             && call.score("jobs", call.text("job").unwrap_or_default()).is_some(),
    ///         |call| {
    ///             let done = Promised::reply(1);
    ///             Some(if call.len("jobs") == 1 { done.delete("jobs") } else { done.change("jobs") })
    ///         },
    ///     )
    ///     .otherwise(|_| Some(Promised::reply(0)))
    ///     .build()?;
    /// let source = r#"
    /// if #KEYS ~= 1 or #ARGV ~= 1 or ARGV[1] == "" then
    ///   return redis.error_reply("Expected one key and one job")
    /// end
    /// local due = redis.call("ZSCORE", KEYS[1], ARGV[1])
    /// local time = redis.call("TIME")
    /// if not due or tonumber(due) > time[1] * 1000 + math.floor(time[2] / 1000) then
    ///   return 0
    /// end
    /// return redis.call("ZREM", KEYS[1], ARGV[1])"#;
    /// let options = CheckOptions::new().runs(1000);
    /// contract.check(&Script::new(source), &options)?.assert_kept();
    ///
    /// let hasty = Script::new(source.replace(" > ", " > 60000 + "));
    /// let report = contract.check(&hasty, &options)?;
    /// assert_eq!(report.failures()[0].told(), "line 7, case else: the reply should be 0, it is 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(name: &str) -> ContractBuilder {
        ContractBuilder::new(name)
    }
    /// Whether the header of a script holds a contract.
    pub fn is_in(script: impl AsRef<[u8]>) -> bool {
        header::lines(script.as_ref()).next().is_some()
    }
    /// The name of the contract.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The names of the keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(|key| key.name.as_str())
    }
    /// The names of the arguments, in order.
    pub fn args(&self) -> impl ExactSizeIterator<Item = &str> {
        self.args.iter().map(|arg| arg.name.as_str())
    }
    /// The greatest integer that an argument may be, by its number from 0; none where it is no integer.
    pub(crate) fn greatest(&self, arg: usize) -> Option<i64> {
        match self.args.get(arg)?.grammar {
            Grammar::Int { max, .. } => Some(max),
            _ => None,
        }
    }
    /// How many instructions of the Lua VM a run may take.
    pub fn instructions(&self) -> Option<u64> {
        self.instructions
    }
    /// How many keys a call has: the least and the most.
    pub(crate) fn key_counts(&self) -> (usize, usize) {
        match self.keys.split_last() {
            Some((Key { many: Some((min, max)), .. }, before)) => {
                (before.len() + min, before.len().saturating_add(*max))
            }
            _ => (self.keys.len(), self.keys.len()),
        }
    }
    /// What is declared of a key of a call, by its number there: the number of the declaration, and it.
    fn declared_key(&self, at: usize) -> Option<(usize, &Key)> {
        let number = match self.keys.last()?.many {
            Some(_) => at.min(self.keys.len() - 1),
            None => at,
        };
        Some((number, self.keys.get(number)?))
    }
    /// The keys of a call that a declaration is about, by their numbers there.
    fn keys_of(&self, number: usize, count: usize) -> std::ops::Range<usize> {
        let end =
            if self.keys.get(number).is_some_and(|key| key.many.is_some()) { count } else { number + 1 };
        number.min(count)..end.min(count)
    }
    /// Whether what a call comes to with other numbers of keys and arguments is left to its callers:
    /// `--!arity trusted`.
    pub(crate) fn trusts_arity(&self) -> bool {
        self.trusts_arity
    }
    /// How many arguments a call has: the least and the most.
    pub(crate) fn arg_counts(&self) -> (usize, usize) {
        self.args.iter().fold((0, 0), |(least, most), arg| match arg.presence {
            Presence::Required => (least + 1, most + 1),
            Presence::Optional => (least, most + 1),
            Presence::Many { min, max } => (least + min, most.saturating_add(max)),
        })
    }
    /// Whether what a run comes to may hang on chance: `--!flags random`.
    pub fn is_random(&self) -> bool {
        self.random
    }
    /// Calls on both sides of every bound, each with the state that it meets: at and beside the ends of each range, in
    /// every wrong form, for keys of other types, missing, at the instant of their expiry and past it. The same seed
    /// gives the same calls.
    ///
    /// ```
    /// let contract = moonkeep::Contract::parse(include_str!("../../lua/unlock.lua"))?;
    /// let inputs: Vec<_> = contract.inputs(7).take(3).collect();
    /// assert_eq!(contract.inputs(7).take(3).collect::<Vec<_>>(), inputs);
    /// # Ok::<(), moonkeep::ContractError>(())
    /// ```
    pub fn inputs(&self, seed: u64) -> Inputs<'_> {
        Inputs::new(self, seed)
    }
    fn place(&self, name: &str) -> Option<Place> {
        self.names.get(name).copied()
    }
    fn place_name(&self, place: Place) -> &str {
        match place {
            Place::Key(key) => &self.keys[key].name,
            Place::Arg(arg) => &self.args[arg].name,
        }
    }
    /// What is said of a name that is none of the contract's.
    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.keys().chain(self.args()).collect();
        if names.is_empty() {
            return format!("{name:?} is not declared; declare it above with a key or argv clause");
        }
        format!("{name:?} is not declared above; declared are {}", names.join(", "))
    }
}
