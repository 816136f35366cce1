//! More attacks, made from those of the corpus: pieces of several put together, words and numbers exchanged, the whole
//! wrapped into what calls it in another way. Each has a number, and the same number is the same script.
//! MOONKEEP_HOSTILE_MUTANTS (150) says how many are tried, MOONKEEP_HOSTILE_SEED (1) with which number they begin.

use super::runner::{files, number, run_in_children};
use moonkeep::util::rng::Rng;

/// The attacks that mutants are made of.
pub(super) struct Mutator {
    corpus: Vec<Vec<Vec<u8>>>,
}

/// Numbers at the ends of what something takes.
const NUMBERS: [&str; 24] = [
    "0", "1", "-1", "2", "7", "31", "255", "256", "1000", "65536", "(2^31)", "(2^31-1)", "(-2^31)", "(2^32)",
    "(2^53)", "(2^63)", "(-2^63)", "1e15", "1e308", "(0/0)", "(1/0)", "(-1/0)", "0.5", "1e6",
];

/// Values of every kind, functions of every library among them.
const VALUES: [&str; 40] = [
    "nil",
    "true",
    "''",
    "'x'",
    "'\\0'",
    "'%d'",
    "'.-'",
    "'(a*)*b'",
    "{}",
    "{1, 2, 3}",
    "_G",
    "KEYS",
    "ARGV",
    "string",
    "redis",
    "function(...) return ... end",
    "function() error({}) end",
    "coroutine.create(function() coroutine.yield() end)",
    "setmetatable({}, {__index = function(t, k) return k end})",
    "setmetatable({}, {__call = pcall})",
    "('x'):rep(100000)",
    "pcall",
    "xpcall",
    "error",
    "next",
    "unpack",
    "select",
    "load",
    "loadstring",
    "tostring",
    "rawset",
    "coroutine.wrap",
    "coroutine.yield",
    "string.gsub",
    "string.rep",
    "table.sort",
    "table.concat",
    "redis.call",
    "cjson.encode",
    "collectgarbage",
];

/// What a script can be wrapped into; `@` is where it goes.
const WRAPPERS: [&str; 16] = [
    "return pcall(function(...) @ end)",
    "return coroutine.wrap(function(...) @ end)()",
    "return xpcall(function(...) @ end, function(e) return e end)",
    "return (('ab'):gsub('.', function(...) @ end))",
    "table.sort({3, 2, 1}, function(...) @ end)",
    "return tostring(setmetatable({}, {__tostring = function(...) @ end}))",
    "return setmetatable({}, {__index = function(...) @ end}).x",
    "return load(function(...) @ end)",
    "for _ in function(...) @ end do break end",
    "while true do pcall(function(...) @ end) end",
    "local t = {} for i = 1, 3 do t[i] = {pcall(function(...) @ end)} end return t",
    "return table.foreach({1, 2}, function(...) @ end)",
    "return setmetatable({}, {__concat = function(...) @ end}) .. 'x'",
    "local function f(...) @ end return f(unpack({1, 2, 3}))",
    "redis.setresp(3) @",
    "collectgarbage('stop') local keep = {} for i = 1, 100 do keep[i] = {} end @",
];

impl Mutator {
    pub(super) fn new() -> Self {
        let read = |file: &String| words(&std::fs::read(file).expect("a script"));
        Mutator { corpus: files().iter().map(read).collect() }
    }

    /// The mutant of this number.
    pub(super) fn script(&self, seed: u64) -> Vec<u8> {
        let mut rng = Rng::new(seed);
        let mut script = self.piece(&mut rng).to_vec();
        for _ in 0..rng.below(6) {
            self.change(&mut rng, &mut script);
        }
        let mut text = script.concat();
        for _ in 0..rng.below(3) {
            let wrapper = WRAPPERS[rng.below(WRAPPERS.len() as u64) as usize];
            let (before, after) = wrapper.split_once('@').expect("a place");
            text = [before.as_bytes(), &text, b"\n", after.as_bytes()].concat();
        }
        text
    }

    fn piece(&self, rng: &mut Rng) -> &[Vec<u8>] {
        &self.corpus[rng.below(self.corpus.len() as u64) as usize]
    }

    fn change(&self, rng: &mut Rng, script: &mut Vec<Vec<u8>>) {
        let at = rng.below(script.len() as u64 + 1) as usize;
        let some =
            |rng: &mut Rng, list: &[&str]| list[rng.below(list.len() as u64) as usize].as_bytes().to_vec();
        let place_of = |rng: &mut Rng, is: fn(&[u8]) -> bool, script: &[Vec<u8>]| {
            let places: Vec<usize> = (0..script.len()).filter(|place| is(&script[*place])).collect();
            (!places.is_empty()).then(|| places[rng.below(places.len() as u64) as usize])
        };
        match rng.below(8) {
            0 | 1 => {
                if let Some(place) = place_of(rng, |word| word[0].is_ascii_digit(), script) {
                    script[place] = some(rng, &NUMBERS);
                }
            }
            2 | 3 => {
                let is_name = |word: &[u8]| word[0].is_ascii_alphabetic() && !is_keyword(word);
                if let Some(place) = place_of(rng, is_name, script) {
                    script[place] = some(rng, &VALUES);
                }
            }
            4 => {
                let other = self.piece(rng);
                let from = rng.below(other.len() as u64) as usize;
                let until = (from + 1 + rng.below(12) as usize).min(other.len());
                script.splice(at..at, other[from..until].iter().cloned());
            }
            5 => {
                let other = self.piece(rng).to_vec();
                let wrapped = [
                    vec![b"\ndo local _ = pcall(function() ".to_vec()],
                    other,
                    vec![b"\nend) end ".to_vec()],
                ];
                script.splice(0..0, wrapped.concat());
            }
            6 => {
                let until = (at + rng.below(4) as usize).min(script.len());
                script.drain(at..until);
            }
            _ => {
                if let Some(word) = script.get(at).cloned() {
                    script.insert(at, word);
                }
            }
        }
        if script.is_empty() {
            script.push(b" ".to_vec());
        }
    }
}

fn is_keyword(word: &[u8]) -> bool {
    const KEYWORDS: &[&str] = &[
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local",
        "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
    ];
    KEYWORDS.iter().any(|keyword| keyword.as_bytes() == word)
}

/// A script in words, strings, comments and single bytes, blanks with what follows them.
fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let length = match first {
            b'-' if rest.starts_with(b"--") => {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            }
            b'\'' | b'"' => {
                1 + rest[1..].iter().position(|byte| *byte == first).map_or(rest.len() - 1, |at| at + 1)
            }
            _ if is_word(first) => rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len()),
            _ => 1,
        };
        words.push(rest[..length].to_vec());
        rest = &rest[length..];
    }
    words
}

#[test]
fn no_mutant_crashes_hangs_or_leaves_a_trace() {
    let first = number("MOONKEEP_HOSTILE_SEED", 1);
    let names: Vec<String> =
        (0..number("MOONKEEP_HOSTILE_MUTANTS", 150)).map(|n| format!("mutant:{}", first + n)).collect();
    let found = run_in_children(&names);
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), names.len(), found.join("\n"));
}

#[test]
fn a_number_makes_the_same_mutant_each_time() {
    let (one, two) = (Mutator::new(), Mutator::new());
    let scripts: Vec<Vec<u8>> = (0..50).map(|seed| one.script(seed)).collect();
    assert!((0..50).all(|seed| two.script(seed) == scripts[seed as usize]));
    let different: std::collections::BTreeSet<_> = scripts.iter().collect();
    assert!(different.len() > 45);
    assert_eq!(words(b"a1 = 'x y'--z\nb").concat(), b"a1 = 'x y'--z\nb");
}
