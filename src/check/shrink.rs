//! From a call that fails to the smallest one that fails in the same way: greedy steps, each to a call that is simpler by
//! one order, until none fails any more.

use crate::contract::Input;
use std::time::Duration;

/// Enough for every call that was seen; a bound all the same.
pub(super) const TRIES: usize = 4000;

/// The smallest call that still fails, of those that may be tried, after so many tries at most.
pub(super) fn smallest(
    input: Input,
    tries_most: usize,
    may: &dyn Fn(&Input) -> bool,
    fails: &mut dyn FnMut(&Input) -> bool,
) -> Input {
    let (mut smallest, mut left) = (input, tries_most);
    while let Some(next) = step(&smallest, &mut left, may, fails) {
        smallest = next;
    }
    smallest
}

/// A simpler call that fails too.
fn step(
    input: &Input,
    left: &mut usize,
    may: &dyn Fn(&Input) -> bool,
    fails: &mut dyn FnMut(&Input) -> bool,
) -> Option<Input> {
    let weight = weight(input);
    let mut simpler =
        candidates(input).filter(|candidate| self::weight(candidate) < weight && may(candidate));
    while *left > 0 {
        *left -= 1;
        let candidate = simpler.next()?;
        if fails(&candidate) {
            return Some(candidate);
        }
    }
    None
}

/// Calls are compared by this: fewer commands, fewer words, fewer bytes, less time, plainer bytes.
fn weight(input: &Input) -> (usize, usize, usize, Duration, Vec<u8>) {
    let words = || input.setup.iter().flatten().chain(&input.args);
    let bytes = words().map(Vec::len).sum();
    let count = words().count() + input.keys.len();
    (input.setup.len(), count, bytes, input.advance(), words().flatten().map(|byte| rank(*byte)).collect())
}

/// Digits are plainer than letters, letters than all the rest.
fn rank(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'z' => byte - b'a' + 10,
        b'A'..=b'Z' => byte - b'A' + 36,
        b' '..=b'~' => 100,
        _ => 101,
    }
}

/// Calls that may be simpler, made one by one: each may be large.
fn candidates(input: &Input) -> impl Iterator<Item = Input> + '_ {
    let changed = move |change: &dyn Fn(&mut Input)| {
        let mut less = input.clone();
        change(&mut less);
        less
    };
    let commands = (0..input.setup.len()).map(move |at| changed(&|less| drop(less.setup.remove(at))));
    let words = input.setup.iter().enumerate().flat_map(move |(at, command)| {
        let one = (3..command.len()).map(move |word| changed(&|less| drop(less.setup[at].remove(word))));
        let pairs = (3..command.len().saturating_sub(1)).step_by(2);
        one.chain(pairs.map(move |word| changed(&|less| drop(less.setup[at].drain(word..word + 2)))))
    });
    let keys = (0..input.keys.len()).rev().map(move |at| changed(&|less| drop(less.keys.remove(at))));
    let args = (0..input.args.len()).rev().map(move |at| changed(&|less| drop(less.args.remove(at))));
    let texts = texts(input);
    let shifted = shifted(input, &texts);
    let plainer = texts.into_iter().flat_map(move |text| {
        let simpler = simpler(&text).into_iter();
        simpler.flat_map(move |simpler| [true, false].map(|all| replaced(input, &text, &simpler, all)))
    });
    commands.chain(words).chain(keys).chain(args).chain(sooner(input)).chain(plainer).chain(shifted)
}

/// The same with less time between set-up and call: expiries come as near to the call as they were.
fn sooner(input: &Input) -> Vec<Input> {
    let less_by = |by: u64| {
        let mut less = input.clone();
        less.advance_ms -= by;
        for command in less.setup.iter_mut().filter(|command| command[0] == b"PEXPIRE") {
            let ttl = integer(&command[2])? - i128::from(by);
            command[2] = ttl.to_string().into_bytes();
        }
        Some(less)
    };
    let whole = Input { advance_us: 0, ..input.clone() };
    let times = [input.advance_ms, input.advance_ms.saturating_sub(1), input.advance_ms / 2];
    let less = times.into_iter().filter(|by| *by > 0).filter_map(less_by);
    less.chain((input.advance_us > 0).then_some(whole)).collect()
}

/// The texts that may be another one: arguments, and what keys hold; each once.
fn texts(input: &Input) -> Vec<Vec<u8>> {
    let held = input.setup.iter().flat_map(|command| command.iter().skip(2));
    let mut texts: Vec<Vec<u8>> = held.chain(&input.args).cloned().collect();
    texts.sort();
    texts.dedup();
    texts
}

/// Texts that are simpler than this one.
fn simpler(text: &[u8]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = [&b""[..], b"0", b"1", b"2", b"a"].map(<[u8]>::to_vec).into();
    if let Some(value) = integer(text) {
        let mut step = value;
        while step != 0 {
            found.push((value - step).to_string().into_bytes());
            step /= 2;
        }
        found.push((value - value.signum()).to_string().into_bytes());
    }
    let half = text.len() / 2;
    found.extend([&text[..half], &text[half..]].map(<[u8]>::to_vec));
    if text.len() > 1 {
        found.extend([&text[1..], &text[..text.len() - 1]].map(<[u8]>::to_vec));
    }
    for (at, byte) in text.iter().enumerate().take(64).filter(|(_, byte)| rank(**byte) > 9) {
        let plain = if rank(*byte) > 36 { b'a' } else { b'0' };
        let mut plainer = text.to_vec();
        plainer[at] = plain;
        found.push(plainer);
    }
    found
}

/// The input with another text in place of one: wherever it stands, or in the last place alone.
fn replaced(input: &Input, old: &[u8], new: &[u8], everywhere: bool) -> Input {
    let mut changed = input.clone();
    let held = changed.setup.iter_mut().flat_map(|command| command.iter_mut().skip(2));
    let mut places: Vec<&mut Vec<u8>> =
        held.chain(&mut changed.args).filter(|text| text.as_slice() == old).collect();
    let from = if everywhere { 0 } else { places.len().saturating_sub(1) };
    places.drain(from..).for_each(|place| *place = new.to_vec());
    changed
}

/// All integers less by as much: what is between them stays.
fn shifted(input: &Input, texts: &[Vec<u8>]) -> Vec<Input> {
    let Some(least) = texts.iter().filter_map(|text| integer(text)).filter(|value| *value > 0).min() else {
        return Vec::new();
    };
    [least, least - 1, least / 2, 1]
        .into_iter()
        .filter(|by| *by > 0)
        .map(|by| {
            let mut less = input.clone();
            let is_expiry = |command: &[Vec<u8>]| command[0] == b"PEXPIRE";
            let held = less.setup.iter_mut().filter(|command| !is_expiry(command));
            let held = held.flat_map(|command| command.iter_mut().skip(2));
            for text in held.chain(&mut less.args) {
                if let Some(value) = integer(text) {
                    *text = value.saturating_sub(by).to_string().into_bytes();
                }
            }
            less
        })
        .collect()
}

/// The value of an integer in its one form.
fn integer(text: &[u8]) -> Option<i128> {
    let value: i128 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (value.to_string().as_bytes() == text).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(stock: &str, quantity: &str) -> Input {
        let words = |line: &str| line.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        Input {
            setup: vec![words(&format!("SET k {stock}")), words("PEXPIRE k 5000"), words("RPUSH l a b c")],
            advance_ms: 1000,
            keys: vec![b"k".to_vec()],
            args: vec![quantity.as_bytes().to_vec()],
            ..Input::default()
        }
    }

    fn number(text: &[u8]) -> i64 {
        std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(-1)
    }

    #[test]
    fn what_has_to_be_equal_stays_so() {
        let fails = |input: &Input| {
            let held = input.setup.iter().find(|command| command[0] == b"SET").map(|set| number(&set[2]));
            let quantity = input.args.first().map_or(-1, |arg| number(arg));
            quantity > 0 && held == Some(quantity)
        };
        let small = smallest(input("482733", "482733"), TRIES, &|_| true, &mut |input| fails(input));
        assert_eq!(small.to_string(), "SET k 1\nadvance 0 ms\ncall 0 1");
        // What is three apart.
        let fails = |input: &Input| {
            let held = input.setup.iter().find(|command| command[0] == b"SET").map(|set| number(&set[2]));
            let quantity = input.args.first().map_or(-1, |arg| number(arg));
            quantity > 10 && held == Some(quantity + 3)
        };
        let small = smallest(input("482736", "482733"), TRIES, &|_| true, &mut |input| fails(input));
        assert_eq!(small.to_string(), "SET k 14\nadvance 0 ms\ncall 0 11");
    }

    #[test]
    fn a_bound_is_found() {
        let mut tries = 0;
        let small = smallest(input("7", "999999999"), TRIES, &|_| true, &mut |input| {
            tries += 1;
            input.args.first().is_some_and(|arg| number(arg) >= 604_801)
        });
        assert_eq!(small.to_string(), "advance 0 ms\ncall 0 604801");
        assert!(tries < 1000, "{tries}");
    }

    #[test]
    fn an_expiry_at_the_very_instant_stays_there() {
        let mut given = input("7", "a");
        given.setup[1][2] = b"1000".to_vec();
        let fails = |input: &Input| {
            let ttl = input.setup.iter().find(|command| command[0] == b"PEXPIRE").map(|set| number(&set[2]));
            input.setup.iter().any(|command| command[0] == b"SET") && ttl == Some(input.advance_ms as i64)
        };
        let small = smallest(given, TRIES, &|_| true, &mut |input| fails(input));
        assert_eq!(small.to_string(), "SET k \"\"\nPEXPIRE k 0\nadvance 0 ms\ncall 0");
    }
}
