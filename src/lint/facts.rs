//! Where values of a script come from, as far as its text tells: a local that is never assigned to again is what it began
//! with; calls of commands by their names; texts and numbers.

use crate::command::keys;
use crate::command::spec::{Spec, WRITE};
use crate::contract::Contract;
use crate::syntax::tree::{Chunk, Expr, Kind, LocalId};
use std::cell::{Cell, OnceCell};

/// A script with what is known of it.
pub(super) struct Script<'a> {
    pub(super) chunk: &'a Chunk,
    pub(super) contract: Option<&'a Contract>,
    /// It is a library of functions.
    pub(super) is_library: bool,
    /// How many more values a question about one expression may look at.
    left: Cell<u32>,
    /// Whether it asks for RESP3, once somebody wants to know.
    pub(super) speaks_resp3: OnceCell<bool>,
}

/// Beyond so many locals behind each other, and so many values in all, nothing is known of where a value comes from.
const HOPS_MAX: u32 = 64;
const VALUES_MAX: u32 = 256;

/// A call of `redis.call` or `redis.pcall`.
pub(super) struct Command<'a> {
    pub(super) is_protected: bool,
    /// The command's words; the first one is a text of the script.
    pub(super) words: &'a [Expr],
    /// The words as they would be sent, those that are no texts or numbers of the script as something else.
    plain: Vec<Vec<u8>>,
    /// The command's name, in lower case.
    pub(super) name: String,
}

/// Commands that answer one text, or false.
const TEXTS: &str = " get getdel getset getex getrange substr hget lindex lpop rpop rpoplpush lmove zscore zincrby \
    incrbyfloat hincrbyfloat srandmember spop hrandfield randomkey type ";
/// Commands that answer a list of texts.
const LISTS: &str = " mget hmget time lrange zrange zrevrange zrangebyscore zrevrangebyscore zrangebylex smembers hgetall \
    hvals hkeys sinter sunion sdiff sort keys zpopmin zpopmax ";
/// Commands that answer an integer, when they answer.
const INTEGERS: &str = " incr incrby decr decrby hincrby strlen hstrlen llen hlen scard zcard zcount zlexcount xlen exists \
    ttl pttl expire pexpire expireat pexpireat persist del unlink sadd srem sismember hset hdel hexists hsetnx setnx zadd \
    zrem zrank zrevrank zremrangebyscore zremrangebyrank lpush rpush lpushx rpushx linsert lrem append setrange setbit \
    getbit bitcount publish pfadd pfcount xack xdel xtrim smove copy dbsize renamenx msetnx move zremrangebylex ";

pub(super) fn is_among(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|other| other == name)
}

impl<'a> Script<'a> {
    pub(super) fn new(chunk: &'a Chunk, contract: Option<&'a Contract>, is_library: bool) -> Self {
        let (left, speaks_resp3) = (Cell::new(VALUES_MAX), OnceCell::new());
        Script { chunk, contract, is_library, left, speaks_resp3 }
    }

    /// Another expression is looked at.
    pub(super) fn begin(&self) {
        self.left.set(VALUES_MAX);
    }
    /// Whether one more value may be looked at.
    pub(super) fn may_look(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// What an expression is made of: brackets are left out, and a local that is never assigned to is what it began with.
    pub(super) fn origin<'b>(&'b self, expr: &'b Expr) -> &'b Expr {
        let mut expr = expr;
        for _ in 0..HOPS_MAX {
            expr = match &expr.kind {
                Kind::Paren(inner) => inner,
                Kind::Local(id) => match self.value(*id) {
                    Some(value) => value,
                    None => return expr,
                },
                _ => return expr,
            }
        }
        expr
    }
    fn value(&self, id: LocalId) -> Option<&Expr> {
        let local = self.chunk.locals.get(id)?;
        local.value.as_ref().filter(|_| !local.assigned)
    }

    /// Whether an expression is this field of a global table.
    fn is_field(&self, expr: &Expr, table: &str, field: &str) -> bool {
        match &self.origin(expr).kind {
            Kind::Index(of, key) => {
                matches!(&self.origin(of).kind, Kind::Global(name) if name == table)
                    && matches!(&key.kind, Kind::Text(text) if text == field.as_bytes())
            }
            _ => false,
        }
    }
    /// The arguments, where an expression calls this function: `tonumber`, `string.format`.
    pub(super) fn call_of<'b>(&'b self, expr: &'b Expr, function: &str) -> Option<&'b [Expr]> {
        let Kind::Call(callee, None, arguments) = &self.origin(expr).kind else { return None };
        let is_it = match function.split_once('.') {
            Some((table, field)) => self.is_field(callee, table, field),
            None => matches!(&self.origin(callee).kind, Kind::Global(name) if name == function),
        };
        is_it.then_some(arguments)
    }

    /// The command that an expression calls, by itself and not through a local.
    pub(super) fn command_here<'b>(&'b self, expr: &'b Expr) -> Option<Command<'b>> {
        let Kind::Call(callee, None, words) = &expr.kind else { return None };
        let is_protected = self.is_field(callee, "redis", "pcall");
        if !is_protected && !self.is_field(callee, "redis", "call") {
            return None;
        }
        let Kind::Text(name) = &self.origin(words.first()?).kind else { return None };
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let plain = words.iter().map(|word| self.plain(word)).collect();
        Some(Command { is_protected, words, plain, name })
    }
    /// A word of a command as it would be sent.
    fn plain(&self, word: &Expr) -> Vec<u8> {
        match &self.origin(word).kind {
            Kind::Text(text) => text.clone(),
            Kind::Number(number, _) => number.to_string().into_bytes(),
            _ => b"?".to_vec(),
        }
    }
    /// The command whose reply an expression is.
    pub(super) fn command<'b>(&'b self, expr: &'b Expr) -> Option<Command<'b>> {
        self.command_here(self.origin(expr))
    }
    /// The command of whose reply an expression is an element.
    pub(super) fn element_of<'b>(&'b self, expr: &'b Expr) -> Option<Command<'b>> {
        match &self.origin(expr).kind {
            Kind::Index(table, _) => self.command(table),
            _ => None,
        }
    }

    /// Whether an expression is an element of this global list: `KEYS`, `ARGV`.
    pub(super) fn is_element(&self, expr: &Expr, list: &str) -> bool {
        match &self.origin(expr).kind {
            Kind::Index(table, _) => {
                matches!(&self.origin(table).kind, Kind::Global(name) if name == list)
            }
            _ => false,
        }
    }
    /// Whether an expression is a text by what it comes from: an argument, the reply of a command, or one with a default.
    pub(super) fn is_text(&self, expr: &Expr) -> bool {
        if !self.may_look() {
            return false;
        }
        let origin = self.origin(expr);
        match &origin.kind {
            Kind::Binary("or", left, _) => self.is_text(left),
            _ if self.is_element(origin, "ARGV") || self.is_element(origin, "KEYS") => true,
            _ => match (self.command(origin), self.element_of(origin)) {
                (Some(command), _) => {
                    let counted = matches!(&command.name[..], "lpop" | "rpop" | "spop" | "srandmember");
                    is_among(TEXTS, &command.name) && !(counted && command.words.len() > 2)
                }
                (_, Some(command)) => is_among(LISTS, &command.name),
                _ => false,
            },
        }
    }
    /// Whether an expression is a number by what it comes from.
    pub(super) fn is_number(&self, expr: &Expr) -> bool {
        if !self.may_look() {
            return false;
        }
        let origin = self.origin(expr);
        match &origin.kind {
            Kind::Number(..) | Kind::Unary("-" | "#", _) => true,
            Kind::Binary("+" | "-" | "*" | "/" | "%" | "^", ..) => true,
            Kind::Binary("or", left, right) => self.is_number(left) && self.is_number(right),
            _ => {
                self.call_of(origin, "tonumber").is_some()
                    || self.call_of(origin, "math.floor").is_some()
                    || self.command(origin).is_some_and(|command| is_among(INTEGERS, &command.name))
            }
        }
    }
}

impl<'a> Command<'a> {
    pub(super) fn spec(&self) -> Option<&'static Spec> {
        crate::commands::table().resolve(&self.plain_words()).ok().map(|row| row.spec)
    }
    /// Whether it may write.
    pub(super) fn writes(&self) -> bool {
        self.spec().is_some_and(|spec| spec.has(WRITE))
    }
    /// The words that are its keys, as far as its text tells.
    pub(super) fn keys(&self) -> Vec<&'a Expr> {
        let Some(spec) = self.spec() else { return Vec::new() };
        keys::find(spec, &self.plain_words()).iter().filter_map(|key| self.words.get(key.at)).collect()
    }
    /// Whether one of its options is this word, in lower case.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.plain.iter().skip(1).any(|plain| plain.eq_ignore_ascii_case(word.as_bytes()))
    }
    /// The words behind each such option, in lower case.
    pub(super) fn behind(&self, option: &str) -> Vec<&'a Expr> {
        let options = self.plain.iter().enumerate().skip(2);
        let found = options.filter(|(_, plain)| plain.eq_ignore_ascii_case(option.as_bytes()));
        found.filter_map(|(at, _)| self.words.get(at + 1)).collect()
    }
    fn plain_words(&self) -> Vec<&[u8]> {
        self.plain.iter().map(Vec::as_slice).collect()
    }
}
