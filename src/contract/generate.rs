//! Calls on both sides of every bound of a contract, with the state that each meets: most have one fault or none, so
//! that each error clause and each case is reached; some are broken in several places.

use super::grammar::{Form, Grammar};
use super::{Contract, KeyType};
use crate::util::rng::Rng;

/// A call, and the state that it meets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Input {
    /// The commands that make the state, on an empty keyspace.
    pub setup: Vec<Vec<Vec<u8>>>,
    /// How far the clock moves after the set-up, in milliseconds.
    pub advance_ms: u64,
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
}

impl<'c> Inputs<'c> {
    pub(super) fn new(contract: &'c Contract, seed: u64) -> Self {
        Inputs { contract, rng: Rng::new(seed) }
    }
}

/// The time between the set-up and the call: long enough that a key expires in it, or at its end.
const ADVANCE_MS: u64 = 1000;
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
        let wrongness = match self.pick(16) {
            0..8 => Wrongness::Nowhere,
            8 => Wrongness::Arity,
            9..15 if places > 0 => Wrongness::At(self.pick(places)),
            _ => Wrongness::Anywhere,
        };
        let mut input =
            Input { setup: Vec::new(), advance_ms: ADVANCE_MS, keys: Vec::new(), args: Vec::new() };
        let mut texts = Vec::new();
        for at in 0..self.contract.keys.len() {
            let is_wrong = self.is_wrong(wrongness, at);
            texts.extend(self.key(at, is_wrong, &mut input));
        }
        for (at, arg) in self.contract.args.iter().enumerate() {
            let is_wrong = self.is_wrong(wrongness, self.contract.keys.len() + at);
            let text = self.arg(&arg.grammar, is_wrong, &texts);
            input.args.push(text);
        }
        if wrongness == Wrongness::Arity || (wrongness == Wrongness::Anywhere && self.pick(2) == 0) {
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
    fn break_arity(&mut self, input: &mut Input) {
        let words = if self.pick(2) == 0 { &mut input.keys } else { &mut input.args };
        if self.rng.below(2) == 1 || words.pop().is_none() {
            words.push(b"{k}more".to_vec());
        }
    }
    /// Makes a key; gives the text that a string key holds.
    fn key(&mut self, at: usize, is_wrong: bool, input: &mut Input) -> Option<Vec<u8>> {
        let declared = &self.contract.keys[at];
        let name = format!("{{k}}{}", declared.name).into_bytes();
        input.keys.push(name.clone());
        let is_missing = match is_wrong {
            true => declared.required && self.pick(3) == 0,
            false => !declared.required && self.pick(4) == 0,
        };
        if is_missing && self.pick(2) == 0 {
            return None;
        }
        let (kind, text) = match &declared.kind {
            KeyType::String(grammar) if !is_wrong || (self.pick(2) == 0 && !grammar.faults().is_empty()) => {
                ("string", if is_wrong { self.outside(grammar) } else { self.inside(grammar) })
            }
            KeyType::String(_) => (OTHER_TYPES[1 + self.pick(5)], Vec::new()),
            KeyType::Any => (OTHER_TYPES[self.pick(6)], b"text".to_vec()),
            KeyType::Other(own) if is_wrong => {
                let others: Vec<_> = OTHER_TYPES.into_iter().filter(|one| one != own).collect();
                (others[self.pick(others.len())], b"text".to_vec())
            }
            KeyType::Other(own) => (*own, Vec::new()),
        };
        input.setup.push(made(kind, &name, &text));
        self.expiry(is_missing, &name, input);
        (kind == "string" && !is_missing).then_some(text)
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
                let value = match self.pick(8) {
                    0 => min,
                    1 => max,
                    2 => min + 1,
                    3 => max - 1,
                    4 => min + i128::from(self.rng.below(span.min(10))),
                    _ => min + i128::from(self.rng.below(span)),
                };
                self.written(value.clamp(min, max), *form)
            }
            Grammar::Bytes { min, max } => {
                const TEXTS: [&[u8]; 9] =
                    [b"1", b"token", b"Token", b"a b", b"\0", b"\r\n", b"\xff\xfe", "é".as_bytes(), b"01"];
                let known = TEXTS[self.pick(TEXTS.len())];
                let length = match self.pick(8) {
                    0 => *min,
                    1 => (*min).max(1),
                    2 => 1000,
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
