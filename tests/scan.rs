//! SCAN's promise: a key that is there from the first call to the last is returned at least once, whatever is written
//! in between; also when keyspaces are swapped or flushed, keys are deleted and made again in one transaction or
//! script, and when the engine forks.

use moonkeep::{Client, Engine, Reply};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// What happens between two calls of SCAN.
#[derive(Debug, Clone)]
enum Act {
    Call(String),
    /// All in one transaction.
    Transaction(Vec<String>),
    /// All in one script.
    Script(Vec<String>),
    Advance(u64),
    /// Goes on with a fork.
    Fork,
}

fn key() -> impl Strategy<Value = String> {
    (0..300u32).prop_map(|n| format!("k{n}"))
}

fn command() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => key().prop_map(|k| format!("SET {k} v")),
        4 => key().prop_map(|k| format!("DEL {k}")),
        2 => (key(), key()).prop_map(|(a, b)| format!("RENAME {a} {b}")),
        2 => (key(), key()).prop_map(|(a, b)| format!("COPY {a} {b} REPLACE")),
        1 => key().prop_map(|k| format!("MOVE {k} 1")),
        1 => (key(), 1..9u32).prop_map(|(k, ms)| format!("PEXPIRE {k} {ms}")),
        1 => key().prop_map(|k| format!("GETDEL {k}")),
        1 => (0..300u32, 1..80u32).prop_map(|(first, count)| fill(first, count)),
        1 => (0..300u32, 1..80u32).prop_map(|(first, count)| clear(first, count)),
        1 => Just("SWAPDB 0 1".to_owned()),
        1 => Just("FLUSHDB".to_owned()),
    ]
}

fn names(first: u32, count: u32) -> impl Iterator<Item = String> {
    (first..first + count).map(|n| format!("k{n}"))
}

fn fill(first: u32, count: u32) -> String {
    names(first, count).fold("MSET".to_owned(), |line, name| line + " " + &name + " v")
}

fn clear(first: u32, count: u32) -> String {
    names(first, count).fold("DEL".to_owned(), |line, name| line + " " + &name)
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => command().prop_map(Act::Call),
        3 => vec(command(), 2..6).prop_map(Act::Transaction),
        2 => vec(command(), 2..6).prop_map(Act::Script),
        // Deleted and made again at once: for everybody else it was there all the time.
        3 => (0..300u32, 1..80u32).prop_map(|(first, count)| {
            Act::Transaction(vec![clear(first, count), "SET other v".to_owned(), fill(first, count)])
        }),
        1 => (0..300u32, 1..80u32).prop_map(|(first, count)| {
            Act::Transaction(vec!["FLUSHALL".to_owned(), fill(first, count)])
        }),
        1 => (0..5u64).prop_map(Act::Advance),
        1 => Just(Act::Fork),
    ]
}

struct World {
    engine: Engine,
    client: Client,
}

impl World {
    fn new() -> Self {
        let engine = Engine::new();
        World { client: engine.client(), engine }
    }
    /// Runs a command; that it may be refused is part of the game.
    fn call(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        self.client.call_into(words, &mut Reply::new()).expect("an engine that works");
    }
    fn perform(&mut self, act: &Act) {
        match act {
            Act::Call(line) => self.call(line),
            Act::Transaction(lines) => {
                self.call("MULTI");
                lines.iter().for_each(|line| self.call(line));
                self.call("EXEC");
            }
            Act::Script(lines) => {
                let script = "for _, line in ipairs(ARGV) do local words = {} \
                    for word in string.gmatch(line, '%S+') do words[#words + 1] = word end \
                    redis.pcall(unpack(words)) end";
                let mut argv = vec!["EVAL", script, "0"];
                argv.extend(lines.iter().map(String::as_str));
                self.client.call(argv).expect("a script that works");
            }
            Act::Advance(ms) => self.engine.advance(Duration::from_millis(*ms)).expect("a manual clock"),
            Act::Fork => {
                self.engine = self.engine.fork().expect("an engine that works");
                self.client = self.engine.client();
            }
        }
    }
    fn keys(&mut self) -> BTreeSet<String> {
        let keys: Vec<String> = self.client.query(["KEYS", "*"]).expect("KEYS works");
        keys.into_iter().collect()
    }
    /// One call of SCAN: the next cursor and what it returned.
    fn scan(&mut self, cursor: &str, count: usize) -> (String, Vec<String>) {
        self.client.query(["SCAN", cursor, "COUNT", &count.to_string()]).expect("SCAN works")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_there_throughout_is_returned(
        fills in vec((0..300u32, 1..80u32), 1..6),
        acts in vec(vec(act(), 0..4), 0..25),
        count in 1..20usize,
    ) {
        let mut world = World::new();
        for (first, count) in fills {
            world.call(&fill(first, count));
        }
        let mut throughout = world.keys();
        let mut returned = BTreeSet::new();
        let mut cursor = "0".to_owned();
        let mut acts = acts.iter();
        for calls in 0.. {
            prop_assert!(calls < 1_000, "the scan does not end");
            let (next, found) = world.scan(&cursor, count);
            prop_assert!(found.len() <= count);
            returned.extend(found);
            if next == "0" {
                break;
            }
            cursor = next;
            for act in acts.next().into_iter().flatten() {
                world.perform(act);
                let present = world.keys();
                throughout.retain(|key| present.contains(key));
            }
        }
        let missed: Vec<_> = throughout.difference(&returned).collect();
        prop_assert!(missed.is_empty(), "there throughout, but not returned: {missed:?}");
    }
}

#[test]
fn a_scan_without_writes_returns_each_key_once() {
    let mut world = World::new();
    world.call(&fill(0, 300));
    world.call(&clear(50, 120));
    for count in [1, 7, 10, 64, 1000] {
        let (mut cursor, mut all) = ("0".to_owned(), Vec::new());
        loop {
            let (next, found) = world.scan(&cursor, count);
            all.extend(found);
            if next == "0" {
                break;
            }
            cursor = next;
        }
        assert_eq!(all.len(), 180);
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), world.keys());
    }
}

#[test]
fn cursors_that_were_never_given_out_end_the_scan_or_go_on_somewhere() {
    let mut world = World::new();
    world.call(&fill(0, 100));
    assert_eq!(world.scan("18446744073709551615", 10), ("0".to_owned(), vec![]));
    assert_eq!(world.scan("4294967296", 10), ("0".to_owned(), vec![]));
    assert_eq!(world.scan("4294967295", 10), ("0".to_owned(), vec![]));
    assert_eq!(world.scan("95", 10).1.len(), 5);
}
