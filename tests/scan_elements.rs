//! The promise of SSCAN, HSCAN and ZSCAN: an element that is there from the first call to the last is returned at least
//! once, also when its key is built anew in between: stored over, renamed, copied, restored in another form.

use moonkeep::{Client, Engine, Reply};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Set,
    Hash,
    ZSet,
}

impl Kind {
    /// The letter that its commands begin with.
    fn letter(self) -> &'static str {
        match self {
            Kind::Set => "S",
            Kind::Hash => "H",
            Kind::ZSet => "Z",
        }
    }
    /// The words that add an element.
    fn element(self, number: u32) -> Vec<String> {
        match self {
            Kind::Set => vec![format!("m{number}")],
            Kind::Hash => vec![format!("m{number}"), "v".into()],
            Kind::ZSet => vec![(number % 7).to_string(), format!("m{number}")],
        }
    }
}

/// What happens between two calls; `k` is the key that is scanned.
#[derive(Debug, Clone)]
enum Act {
    Add(&'static str, u32, u32),
    Remove(&'static str, u32, u32),
    /// A union or the like of two keys over one of them.
    Store(&'static str, &'static str),
    Rename,
    Copy(&'static str, &'static str),
    /// Deleted and made again at once, the elements in the order of these.
    Anew(u32),
    Pop(u32),
    Swap,
    Fork,
}

fn key() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("k"), Just("k"), Just("other")]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (key(), 0..900u32, 1..60u32).prop_map(|(key, first, count)| Act::Add(key, first, count)),
        4 => (key(), 0..900u32, 1..60u32).prop_map(|(key, first, count)| Act::Remove(key, first, count)),
        2 => (prop_oneof![Just("UNION"), Just("INTER"), Just("DIFF")], key()).prop_map(|(how, to)| Act::Store(how, to)),
        1 => Just(Act::Rename),
        1 => Just(Act::Copy("k", "other")),
        1 => Just(Act::Copy("other", "k")),
        2 => any::<u32>().prop_map(Act::Anew),
        1 => (1..40u32).prop_map(Act::Pop),
        1 => Just(Act::Swap),
        1 => Just(Act::Fork),
    ]
}

struct World {
    kind: Kind,
    engine: Engine,
    client: Client,
}

impl World {
    fn new(kind: Kind) -> Self {
        let engine = Engine::new();
        World { kind, client: engine.client(), engine }
    }
    /// Runs a command; that it may be refused is part of the game.
    fn call(&mut self, words: &[String]) {
        self.client.call_into(words, &mut Reply::new()).expect("an engine that works");
    }
    fn line(&mut self, line: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        self.call(&words);
    }
    fn add(&mut self, key: &str, numbers: impl Iterator<Item = u32>) {
        let command = if self.kind == Kind::Hash { "HSET" } else { &format!("{}ADD", self.kind.letter()) };
        let mut words = vec![command.to_owned(), key.to_owned()];
        words.extend(numbers.flat_map(|number| self.kind.element(number)));
        self.call(&words);
    }
    fn perform(&mut self, act: &Act) {
        let letter = self.kind.letter();
        match act {
            Act::Add(key, first, count) => self.add(key, *first..first + count),
            Act::Remove(key, first, count) => {
                let command = if self.kind == Kind::Hash { "HDEL" } else { &format!("{letter}REM") };
                let mut words = vec![command.to_owned(), (*key).to_owned()];
                words.extend((*first..first + count).map(|number| format!("m{number}")));
                self.call(&words);
            }
            Act::Store(how, to) => match self.kind {
                Kind::Set => self.line(&format!("S{how}STORE {to} other k")),
                Kind::ZSet => self.line(&format!("Z{how}STORE {to} 2 other k")),
                Kind::Hash => self.perform(&Act::Copy("other", to)),
            },
            Act::Rename => self.line("RENAME other k"),
            Act::Copy(from, to) => self.line(&format!("COPY {from} {to} REPLACE")),
            Act::Anew(order) => {
                let mut present: Vec<String> = self.elements().into_iter().collect();
                present.sort_by_key(|name| mixed(name, *order));
                self.line("MULTI");
                self.line("DEL k");
                let numbers = present.iter().filter_map(|name| name.get(1..)?.parse().ok());
                self.add("k", numbers);
                self.line("EXEC");
            }
            Act::Pop(count) => {
                self.line(&format!("{letter}POP{} k {count}", if letter == "Z" { "MIN" } else { "" }))
            }
            Act::Swap => {
                self.line("SWAPDB 0 1");
                self.line("SWAPDB 0 1");
            }
            Act::Fork => {
                self.engine = self.engine.fork().expect("an engine that works");
                self.client = self.engine.client();
            }
        }
    }
    fn elements(&mut self) -> BTreeSet<String> {
        let line = match self.kind {
            Kind::Set => &["SMEMBERS", "k"][..],
            Kind::Hash => &["HKEYS", "k"],
            Kind::ZSet => &["ZRANGE", "k", "0", "-1"],
        };
        let elements: Vec<String> = self.client.query(line).expect("a command that works");
        elements.into_iter().collect()
    }
    /// One call: the next cursor and the elements returned.
    fn scan(&mut self, cursor: &str, count: usize) -> (String, Vec<String>) {
        let command = format!("{}SCAN", self.kind.letter());
        let words = [&command, "k", cursor, "COUNT", &count.to_string()];
        let (next, mut found): (String, Vec<String>) = self.client.query(words).expect("a scan that works");
        if self.kind != Kind::Set {
            found = found.into_iter().step_by(2).collect();
        }
        (next, found)
    }
}

/// A number that puts names in an order of its own for each `order`.
fn mixed(name: &str, order: u32) -> u32 {
    let mix = |number: u32, byte: u8| (number ^ u32::from(byte)).wrapping_mul(16_777_619).rotate_left(9);
    name.bytes().fold(order, mix)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_there_throughout_is_returned(
        kind in prop_oneof![Just(Kind::Set), Just(Kind::Hash), Just(Kind::ZSet)],
        size in 1..900u32,
        acts in vec(vec(act(), 0..3), 0..40),
        count in 1..60usize,
    ) {
        let mut world = World::new(kind);
        world.add("k", 0..size);
        world.add("other", size / 2..size + 200);
        let (mut throughout, mut returned) = (world.elements(), BTreeSet::new());
        let (mut cursor, mut acts) = ("0".to_owned(), acts.iter());
        for calls in 0.. {
            prop_assert!(calls < 2_000, "the scan does not end");
            let (next, found) = world.scan(&cursor, count);
            returned.extend(found);
            if next == "0" {
                break;
            }
            cursor = next;
            for act in acts.next().into_iter().flatten() {
                world.perform(act);
                let present = world.elements();
                throughout.retain(|element| present.contains(element));
            }
        }
        let missed: Vec<_> = throughout.difference(&returned).collect();
        prop_assert!(missed.is_empty(), "there throughout, but not returned: {missed:?}");
    }
}

#[test]
fn a_key_that_is_built_anew_in_each_round_is_still_scanned_to_an_end() {
    let mut world = World::new(Kind::Set);
    world.add("k", 0..500);
    let (next, found) = world.scan("0", 10);
    assert_eq!((next.as_str(), found.len()), ("4294967786", 10));
    world.line("SUNIONSTORE k k");
    let (next, found) = world.scan(&next, 10);
    assert_eq!((next.as_str(), found.len()), ("0", 500));
}

#[test]
fn a_scan_in_one_call_leaves_no_trace_and_a_copy_has_cursors_of_its_own() {
    let mut world = World::new(Kind::Hash);
    world.add("k", 0..600);
    assert_eq!(world.scan("0", 1000).1.len(), 600);
    let (next, _) = world.scan("0", 100);
    assert_eq!(next, "4294967796");
    world.line("COPY k other");
    world.line("HDEL other m599 m598 m597");
    world.line("RENAME other k");
    assert_eq!(world.scan(&next, 100).1.len(), 597);
    assert_eq!(world.scan("0", 100).0, "8589935089");
}

#[test]
fn what_goes_during_a_walk_makes_nothing_come_twice() {
    for kind in [Kind::Set, Kind::Hash, Kind::ZSet] {
        let mut world = World::new(kind);
        world.add("k", 0..600);
        let (mut cursor, mut returned, mut first) = ("0".to_owned(), Vec::new(), 0);
        loop {
            let (next, found) = world.scan(&cursor, 50);
            returned.extend(found);
            if next == "0" {
                break;
            }
            cursor = next;
            world.perform(&Act::Remove("k", first, 20));
            world.perform(&Act::Remove("k", 580 - first, 10));
            first += 40;
        }
        let different: BTreeSet<_> = returned.iter().cloned().collect();
        assert_eq!(returned.len(), different.len(), "{kind:?}");
        assert!(world.elements().is_subset(&different), "{kind:?}");
    }
}
