//! Calls on both sides of every bound of a contract, with the state that each meets: most have one fault or none, so
//! that each error clause and each case is reached; some are broken in several places.

use super::grammar::{Form, Grammar};
use super::{Contract, Elements, Field, Key, KeyType, Presence};
use crate::util::clock::Clock;
use crate::util::rng::Rng;
use std::time::Duration;

/// A call, and the state that it meets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Input {
    /// The commands that make the state, on an empty keyspace.
    pub setup: Vec<Vec<Vec<u8>>>,
    /// How far the clock moves after the set-up, in milliseconds.
    pub advance_ms: u64,
    /// And how many microseconds more, less than a thousand.
    pub advance_us: u64,
    /// The keys of the call.
    pub keys: Vec<Vec<u8>>,
    /// The arguments of the call.
    pub args: Vec<Vec<u8>>,
}

/// An endless sequence of [`Input`]s, see [`Contract::inputs`].
#[derive(Debug, Clone)]
pub struct Inputs<'c> {
    contract: &'c Contract,
    rng: Rng,
    /// The time between the set-up and the call.
    advance_ms: u64,
}

impl Input {
    /// How far the clock moves after the set-up.
    pub fn advance(&self) -> Duration {
        Duration::from_millis(self.advance_ms) + Duration::from_micros(self.advance_us)
    }
}

impl<'c> Inputs<'c> {
    pub(super) fn new(contract: &'c Contract, seed: u64) -> Self {
        Inputs { contract, rng: Rng::new(seed), advance_ms: ADVANCE_MS }
    }
}

/// The least time between the set-up and the call: long enough that a key expires in it, or at its end.
const ADVANCE_MS: u64 = 1000;
/// Calls have no more keys or arguments than this, but for the least that a contract asks for.
const COUNT_MOST: usize = 10_000;
const OTHER_TYPES: [&str; 6] = ["string", "list", "hash", "set", "zset", "stream"];

/// Where a call is to be wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrongness {
    Nowhere,
    /// The number of keys or arguments.
    Arity,
    /// The place with this number, keys first.
    At(usize),
    Anywhere,
}

impl Iterator for Inputs<'_> {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        let places = self.contract.keys.len() + self.contract.args.len();
        let trusts_arity = self.contract.trusts_arity();
        let wrongness = match self.pick(16) {
            0..8 => Wrongness::Nowhere,
            8 if trusts_arity => Wrongness::Nowhere,
            8 => Wrongness::Arity,
            9..15 if places > 0 => Wrongness::At(self.pick(places)),
            _ => Wrongness::Anywhere,
        };
        self.advance_ms = self.some_time();
        let (advance_ms, advance_us) = (self.advance_ms, [0, 0, 1, 999, self.rng.below(1000)][self.pick(5)]);
        let (setup, keys, args) = Default::default();
        let mut input = Input { setup, advance_ms, advance_us, keys, args };
        let mut texts = Vec::new();
        let count = self.key_count(wrongness);
        for (at, declared) in self.contract.keys.iter().enumerate() {
            let is_wrong = self.is_wrong(wrongness, at);
            let here = if declared.many.is_some() { count.saturating_sub(at) } else { 1 };
            let wrong_one = self.pick(here.max(1));
            // Of many, all are seldom alike by chance.
            let are_missing = [None, None, Some(true), Some(false)][if here > 1 { self.pick(4) } else { 0 }];
            for number in 0..here {
                let is_wrong = is_wrong && number == wrong_one;
                texts.extend(self.key((declared, number), is_wrong, are_missing, &mut input));
            }
        }
        let count = self.arg_count(wrongness);
        for (at, arg) in self.contract.args.iter().enumerate() {
            let is_wrong = self.is_wrong(wrongness, self.contract.keys.len() + at);
            let many = matches!(arg.presence, Presence::Many { .. });
            let here = if many { count.saturating_sub(at) } else { usize::from(at < count) };
            // One of many is enough to be wrong.
            let wrong_one = self.pick(here.max(1));
            for number in 0..here {
                let text = self.arg(&arg.grammar, is_wrong && number == wrong_one, &texts);
                input.args.push(text);
            }
        }
        let breaks_arity =
            wrongness == Wrongness::Arity || (wrongness == Wrongness::Anywhere && self.pick(2) == 0);
        if breaks_arity && !trusts_arity {
            self.break_arity(&mut input);
        }
        Some(input)
    }
}

impl Inputs<'_> {
    /// A number from 0 to `bound` - 1.
    fn pick(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }
    fn is_wrong(&mut self, wrongness: Wrongness, place: usize) -> bool {
        match wrongness {
            Wrongness::At(at) => at == place,
            Wrongness::Anywhere => self.pick(2) == 0,
            Wrongness::Nowhere | Wrongness::Arity => false,
        }
    }
    /// How long it is from the set-up to the call: half of the time as short as may be.
    fn some_time(&mut self) -> u64 {
        match self.pick(8) {
            0..4 => ADVANCE_MS,
            4 => ADVANCE_MS + 1,
            5 => 2 * ADVANCE_MS - 1,
            6 => ADVANCE_MS + self.rng.below(1000),
            _ => ADVANCE_MS + self.rng.below(100_000_000),
        }
    }
    fn key_count(&mut self, wrongness: Wrongness) -> usize {
        let needed = match wrongness {
            Wrongness::At(place) if place < self.contract.keys.len() => place + 1,
            _ => 0,
        };
        let (counts, names) = (self.contract.key_counts(), self.contract.keys.len());
        self.some_count(counts, names, needed)
    }
    fn arg_count(&mut self, wrongness: Wrongness) -> usize {
        let needed = match wrongness {
            Wrongness::At(place) => (place + 1).saturating_sub(self.contract.keys.len()),
            _ => 0,
        };
        let (counts, names) = (self.contract.arg_counts(), self.contract.args.len());
        self.some_count(counts, names, needed)
    }
    /// How many keys or arguments a call is to have: at the ends of what is allowed more often than between; as many as it
    /// takes to have the one that is to be wrong.
    fn some_count(&mut self, (least, most): (usize, usize), names: usize, needed: usize) -> usize {
        if least == most {
            return least;
        }
        // Large bounds are reached, but seldom: such calls take long.
        let is_seldom = self.pick(32) == 0;
        let far = if is_seldom && most <= COUNT_MOST { most } else { least + names + 60 };
        let most = most.min(far);
        let few = (most - least).min(names + 3);
        let count = match self.pick(8) {
            _ if is_seldom => most,
            0 => least,
            1 => most,
            _ => least + self.pick(few + 1),
        };
        count.max(needed).min(most)
    }
    fn break_arity(&mut self, input: &mut Input) {
        let (least, most) = self.contract.arg_counts();
        let (least_keys, most_keys) = self.contract.key_counts();
        let more = b"{k}more".to_vec();
        match self.pick(4) {
            0 if most < COUNT_MOST => input.args.resize(most + 1, more),
            1 if least > 0 => input.args.truncate(least - 1),
            2 if least_keys > 0 => input.keys.truncate(least_keys - 1),
            _ if most_keys < COUNT_MOST => {
                let given = input.keys.len();
                input.keys.extend((given..=most_keys).map(|at| format!("{{k}}more{at}").into_bytes()));
            }
            _ if most < COUNT_MOST => input.args.resize(most + 1, more),
            _ => {}
        }
    }
    /// Makes a key; gives the texts that it holds.
    fn key(
        &mut self,
        (declared, number): (&Key, usize),
        is_wrong: bool,
        are_missing: Option<bool>,
        input: &mut Input,
    ) -> Vec<Vec<u8>> {
        let number = if number == 0 { String::new() } else { (number + 1).to_string() };
        let name = format!("{{k}}{}{number}", declared.name).into_bytes();
        input.keys.push(name.clone());
        let is_missing = match is_wrong {
            true => declared.required && self.pick(3) == 0,
            false => !declared.required && are_missing.unwrap_or_else(|| self.pick(4) == 0),
        };
        if is_missing && self.pick(2) == 0 {
            return Vec::new();
        }
        let (command, texts) = match &declared.kind {
            KeyType::String(grammar) if !is_wrong || (self.pick(2) == 0 && !grammar.faults().is_empty()) => {
                let text = if is_wrong { self.outside(grammar) } else { self.inside(grammar) };
                (made("string", &name, &text), vec![text])
            }
            KeyType::String(_) => (made(OTHER_TYPES[1 + self.pick(5)], &name, b""), Vec::new()),
            KeyType::Any => (made(OTHER_TYPES[self.pick(6)], &name, b"text"), Vec::new()),
            KeyType::Collection(own, _) if is_wrong => {
                let others: Vec<_> = OTHER_TYPES.into_iter().filter(|one| one != own).collect();
                (made(others[self.pick(others.len())], &name, b"text"), Vec::new())
            }
            KeyType::Collection(own, elements) => self.collection(own, &name, elements),
        };
        input.setup.push(command);
        self.expiry(is_missing, &name, input);
        if is_missing { Vec::new() } else { texts }
    }
    /// The command that makes a list, hash, set, sorted set or stream of such elements, and their texts.
    fn collection(&mut self, kind: &str, name: &[u8], elements: &Elements) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        const NAMES: [&[u8]; 5] = [b"a", b"b", b"f", b"1", b"token"];
        let count = match self.pick(16) {
            0 => 150,
            1 => 20,
            _ => 1 + self.pick(4),
        };
        let any = Grammar::Bytes { min: 1, max: 8 };
        let mut words = made(kind, name, b"");
        let mut texts = Vec::new();
        words.truncate(if kind == "stream" { 3 } else { 2 });
        if let Elements::Fields(fields) = elements {
            for Field { name, grammar, optional } in fields {
                if !*optional || self.pick(3) > 0 {
                    let text = self.inside(grammar);
                    words.extend([name.clone(), text.clone()]);
                    texts.push(text);
                }
            }
            if texts.is_empty() {
                words.extend([fields[0].name.clone(), self.inside(&fields[0].grammar)]);
            }
            return (words, texts);
        }
        let grammar = if let Elements::Each(grammar) = elements { grammar } else { &any };
        for number in 0..count {
            let text = match NAMES.get(number) {
                Some(name) if *grammar == any => name.to_vec(),
                _ => self.inside(grammar),
            };
            match kind {
                "zset" => words.push(self.score()),
                "hash" | "stream" => {
                    let field = NAMES
                        .get(number)
                        .map_or_else(|| format!("f{number}").into_bytes(), |name| name.to_vec());
                    texts.push(field.clone());
                    words.push(field);
                }
                _ => {}
            }
            texts.push(text.clone());
            words.push(text);
        }
        (words, texts)
    }
    /// A score: small, or a time near the call.
    fn score(&mut self) -> Vec<u8> {
        let score = match self.pick(6) {
            0 => 0,
            1 => self.rng.below(100) as i64 - 50,
            2 => self.now_ms(),
            3 => self.now_ms() - self.rng.below(120_000) as i64,
            4 => self.now_ms() + self.rng.below(120_000) as i64,
            _ => self.rng.below(5) as i64,
        };
        score.to_string().into_bytes()
    }
    /// The time of the call.
    fn now_ms(&self) -> i64 {
        Clock::DEFAULT_START_MS + self.advance_ms as i64
    }
    /// Gives a key an expiry, or none.
    fn expiry(&mut self, is_over: bool, name: &[u8], input: &mut Input) {
        let advance_ms = input.advance_ms;
        let ttl_ms = match self.pick(6) {
            _ if is_over => advance_ms - 1,
            0..2 => return,
            // PTTL 0: the key is there up to the end of this millisecond.
            2 => advance_ms,
            3 => advance_ms + 1,
            4 => advance_ms + 1 + self.rng.below(1_000_000),
            _ => advance_ms + 604_800_000,
        };
        input.setup.push(vec![b"PEXPIRE".to_vec(), name.to_vec(), ttl_ms.to_string().into_bytes()]);
    }
    /// An argument; half of the right ones have to do with what a key holds.
    fn arg(&mut self, grammar: &Grammar, is_wrong: bool, held: &[Vec<u8>]) -> Vec<u8> {
        if is_wrong && !grammar.faults().is_empty() {
            return self.outside(grammar);
        }
        if !held.is_empty() && self.pick(2) == 0 {
            let at = self.pick(held.len());
            let near = self.near(&held[at], grammar);
            if grammar.fault(&near).is_none() {
                return near;
            }
        }
        self.inside(grammar)
    }
    /// A text beside one that a key holds, or the same.
    fn near(&mut self, text: &[u8], grammar: &Grammar) -> Vec<u8> {
        if let (Grammar::Int { form, .. }, Ok(value)) = (grammar, std::str::from_utf8(text)) {
            let Ok(value) = value.parse::<i64>() else { return text.to_vec() };
            let value = value.saturating_add(self.pick(3) as i64 - 1);
            return self.written(i128::from(value), *form);
        }
        let mut near = text.to_vec();
        match self.pick(6) {
            0 => near.push(b'x'),
            1 => drop(near.pop()),
            2 => near.make_ascii_uppercase(),
            _ => {}
        }
        near
    }
    fn written(&mut self, value: i128, form: Form) -> Vec<u8> {
        let zeros = match (form, self.pick(8)) {
            (Form::Digits, 0) => 1,
            (Form::Digits, 1) => 400,
            _ => 0,
        };
        format!("{}{value}", "0".repeat(zeros)).into_bytes()
    }
    /// A text within the grammar.
    fn inside(&mut self, grammar: &Grammar) -> Vec<u8> {
        match grammar {
            Grammar::OneOf(texts) => texts[self.pick(texts.len())].clone(),
            Grammar::Int { min, max, form } => {
                let (min, max) = (i128::from(*min), i128::from(*max));
                let span = (max - min + 1).clamp(1, i128::from(u64::MAX)) as u64;
                let now_ms = i128::from(self.now_ms());
                let value = match self.pick(9) {
                    // A time, where it may be one.
                    8 if (min..=max).contains(&now_ms) => {
                        now_ms - 60_000 + i128::from(self.rng.below(120_000))
                    }
                    0 => min,
                    1 => max,
                    2 => min + 1,
                    3 => max - 1,
                    4 => min + i128::from(self.rng.below(span.min(10))),
                    _ => min + i128::from(self.rng.below(span)),
                };
                self.written(value.clamp(min, max), *form)
            }
            Grammar::Json => {
                const TEXTS: [&str; 9] = [
                    "{}",
                    "[]",
                    "null",
                    "0",
                    "\"a\"",
                    "{\"id\":1}",
                    "[1,2.5,\"x\"]",
                    " {\"a\": {\"b\": [true]}} ",
                    "\"\\u00e9\"",
                ];
                TEXTS[self.pick(TEXTS.len())].as_bytes().to_vec()
            }
            Grammar::Bytes { min, max } => {
                const TEXTS: [&[u8]; 9] =
                    [b"1", b"token", b"Token", b"a b", b"\0", b"\r\n", b"\xff\xfe", "é".as_bytes(), b"01"];
                let known = TEXTS[self.pick(TEXTS.len())];
                let length = match self.pick(9) {
                    0 => *min,
                    1 => (*min).max(1),
                    2 => 1000,
                    // The longest that is allowed, less often the longer it is.
                    8 if *max <= 1 << 20 && self.pick(1 + *max / 4096) == 0 => *max,
                    3 => min.saturating_add(self.pick(40)),
                    _ if (*min..=*max).contains(&known.len()) => return known.to_vec(),
                    _ => *min,
                };
                let mut text = vec![b'x'; length.clamp(*min, *max)];
                text.iter_mut().take(1000).for_each(|byte| *byte = self.rng.below(256) as u8);
                text
            }
        }
    }
    /// A text outside the grammar, which has faults.
    fn outside(&mut self, grammar: &Grammar) -> Vec<u8> {
        for _ in 0..16 {
            let text = self.beside(grammar);
            if grammar.fault(&text).is_some() {
                return text;
            }
        }
        Vec::new()
    }
    /// A text that is likely to be outside the grammar.
    fn beside(&mut self, grammar: &Grammar) -> Vec<u8> {
        match grammar {
            Grammar::Bytes { min, max } => {
                let length =
                    if *min > 0 && self.pick(2) == 0 { *min - 1 } else { max.saturating_add(1).min(1 << 20) };
                vec![b'x'; length]
            }
            Grammar::Json => {
                const TEXTS: [&str; 9] = ["", "{", "{]", "nul", "{\"a\":}", "[1,]", "'a'", "01", "{} x"];
                TEXTS[self.pick(TEXTS.len())].as_bytes().to_vec()
            }
            Grammar::OneOf(_) => {
                let inside = self.inside(grammar);
                match self.pick(4) {
                    0 => Vec::new(),
                    1 => [&inside[..], b" "].concat(),
                    2 => inside.iter().skip(1).copied().collect(),
                    _ => inside.iter().map(|byte| byte ^ 0x20).collect(),
                }
            }
            Grammar::Int { min, max, .. } => {
                let value = String::from_utf8(self.inside(grammar)).unwrap_or_default();
                self.miswritten(&value, *min, *max)
            }
        }
    }
    /// An integer beside its bounds, or written in another way.
    fn miswritten(&mut self, value: &str, min: i64, max: i64) -> Vec<u8> {
        let (min, max) = (i128::from(min), i128::from(max));
        let text = match self.pick(28) {
            0 => (min - 1).to_string(),
            1 | 2 => (max + 1).to_string(),
            3 => format!("0{value}"),
            4 => format!("+{value}"),
            5 => format!("-{value}"),
            6 => format!(" {value}"),
            7 => format!("{value} "),
            8 => format!("{value}\n"),
            9 => format!("{value}\0"),
            10 => format!("\0{value}"),
            11 => format!("{value}e0"),
            12 => format!("{value}.0"),
            13 => format!("0x{value}"),
            14 => format!("{value}{value}{value}"),
            15 => format!("{value}１"),
            16 => "9".repeat(20),
            17 => "9".repeat(400),
            18 => "9007199254740993".into(),
            19 => "9223372036854775807".into(),
            20 => "9223372036854775808".into(),
            21 => "0".repeat(1 + self.pick(3)),
            22 => "-0".into(),
            23 => "nan".into(),
            24 => "1e3".into(),
            25 => "x".into(),
            26 => format!("{}{value}x", "0".repeat(self.pick(2) * 100_000)),
            _ => String::new(),
        };
        text.into_bytes()
    }
}

/// The command that makes a key of a type.
fn made(kind: &str, name: &[u8], text: &[u8]) -> Vec<Vec<u8>> {
    let words: &[&[u8]] = match kind {
        "list" => &[b"RPUSH", name, b"a", b"b"],
        "hash" => &[b"HSET", name, b"f", b"1"],
        "set" => &[b"SADD", name, b"a", b"b"],
        "zset" => &[b"ZADD", name, b"1", b"a"],
        "stream" => &[b"XADD", name, b"1-1", b"f", b"1"],
        _ => &[b"SET", name, text],
    };
    words.iter().map(|word| word.to_vec()).collect()
}
