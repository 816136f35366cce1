//! What COMMAND says of each command the engine has, held against the reference server in both protocols:
//! INFO, DOCS, LIST, and the keys found in random words.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use moonkeep::command::spec::acl;
use moonkeep::util::rng::Rng;
use std::collections::BTreeSet;

/// Asks both sides the same and notes where they differ.
struct Pair<S> {
    moonkeep: Moonkeep,
    server: S,
    problems: Vec<String>,
}

impl<S: Target> Pair<S> {
    fn ask(&mut self, words: &[&str]) -> (Wire, Wire) {
        (self.moonkeep.call(MAIN, &argv(words)), self.server.call(MAIN, &argv(words)))
    }

    fn compare(&mut self, words: &[&str], view: impl Fn(Wire) -> Wire) {
        let (ours, theirs) = self.ask(words);
        let (ours, theirs) = (view(ours), view(theirs));
        if ours != theirs {
            self.problems.push(format!("{}\nserver   {theirs}\nmoonkeep {ours}", words.join(" ")));
        }
    }

    /// Both sides afresh, speaking this protocol; false when the engine cannot yet.
    fn speak(&mut self, protocol: &str) -> bool {
        self.moonkeep.reset();
        self.server.reset();
        let (ours, theirs) = self.ask(&["HELLO", protocol]);
        assert!(!theirs.is_error(), "{theirs}");
        protocol == "2" || !ours.is_error()
    }

    fn finish(self) {
        let count = self.problems.len();
        assert!(
            count == 0,
            "{count} replies differ, the first:\n{}",
            self.problems[..count.min(5)].join("\n")
        );
    }
}

fn pair(test: &str) -> Option<Pair<impl Target>> {
    let server = server_or_skip(test)?;
    Some(Pair { moonkeep: Moonkeep::default(), server, problems: Vec::new() })
}

fn names() -> Vec<&'static str> {
    moonkeep::commands().rows().iter().map(|row| row.spec.name).collect()
}

/// A description without its subcommands, which are compared one by one: the engine need not have them all.
fn alone(reply: Wire) -> Wire {
    let is_subcommands = |name: &Wire| *name == Wire::Bulk(b"subcommands".to_vec());
    match reply {
        Wire::Array(mut items) => {
            match items.iter().position(is_subcommands) {
                Some(at) => drop(items.drain(at..at + 2)),
                None if items.len() == 10 && matches!(items[1], Wire::Int(_)) => items.truncate(9),
                None => {}
            }
            Wire::Array(items.into_iter().map(alone).collect())
        }
        Wire::Map(mut pairs) => {
            pairs.retain(|(name, _)| !is_subcommands(name));
            Wire::Map(pairs.into_iter().map(|(name, value)| (name, alone(value))).collect())
        }
        other => other,
    }
}

#[test]
fn each_command_is_described_as_by_the_server() {
    let Some(mut pair) = pair("each_command_is_described_as_by_the_server") else { return };
    for protocol in ["2", "3"] {
        if pair.speak(protocol) {
            for name in names() {
                pair.compare(&["COMMAND", "INFO", name], alone);
                pair.compare(&["COMMAND", "DOCS", name], alone);
            }
        }
    }
    pair.finish();
}

#[test]
fn command_list_names_what_the_server_names() {
    let Some(mut pair) = pair("command_list_names_what_the_server_names") else { return };
    pair.speak("2");
    let known: BTreeSet<Wire> = names().iter().map(|name| Wire::Bulk(name.as_bytes().to_vec())).collect();
    let shared = |reply: Wire| {
        let items = reply.items().iter().filter(|name| known.contains(name)).cloned().collect();
        Wire::Array(items).sorted()
    };
    pair.compare(&["COMMAND", "LIST"], shared);
    for category in acl::NAMES {
        pair.compare(&["COMMAND", "LIST", "FILTERBY", "ACLCAT", category], shared);
    }
    for pattern in ["*|*", "[GS]ET*", "*", "x?ead", "nothing"] {
        pair.compare(&["COMMAND", "LIST", "FILTERBY", "PATTERN", pattern], shared);
    }
    pair.finish();
}

/// The whole table at once, subcommands within their containers; of a set of names only what is in it counts.
#[test]
fn the_table_is_that_of_the_server() {
    let Some(mut pair) = pair("the_table_is_that_of_the_server") else { return };
    let absent = crate::reference::absent();
    let is_known = |name: &Wire| !absent.iter().any(|absent| name.bytes() == Some(absent.as_bytes()));
    for protocol in ["2", "3"] {
        pair.speak(protocol);
        pair.compare(&["COMMAND"], |reply| by_name(&reply, &is_known));
        pair.compare(&["COMMAND", "DOCS"], |reply| by_name(&reply, &is_known));
        pair.compare(&["COMMAND", "LIST"], |reply| by_name(&reply, &is_known));
    }
    pair.finish();
}

/// A table whose entries, and whatever is in them, stand in an order that does not depend on the server's hash tables.
fn by_name(reply: &Wire, is_known: &impl Fn(&Wire) -> bool) -> Wire {
    let is_there = |entry: &Wire| is_known(entry) && entry.items().first().is_none_or(is_known);
    let inner = |entry: &Wire| by_name(entry, is_known);
    match reply {
        Wire::Array(items) => {
            let pairs = items.chunks(2).all(|pair| pair[0].bytes().is_some() && pair.len() == 2);
            if pairs && items.len() > 2 && matches!(items[1], Wire::Array(_)) {
                let known = items.chunks(2).filter(|pair| is_known(&pair[0]));
                return Wire::Array(
                    known.map(|pair| Wire::Array(pair.iter().map(inner).collect())).collect(),
                )
                .sorted();
            }
            let known = Wire::Array(items.iter().filter(|entry| is_there(entry)).map(inner).collect());
            let is_entry = items.get(1).is_some_and(|second| matches!(second, Wire::Int(_)));
            if is_entry { known } else { known.sorted() }
        }
        Wire::Set(items) => {
            Wire::Set(items.iter().filter(|entry| is_there(entry)).map(inner).collect()).sorted()
        }
        Wire::Map(pairs) => {
            let known = pairs.iter().filter(|(name, _)| is_known(name));
            Wire::Map(known.map(|(name, value)| (name.clone(), inner(value))).collect()).sorted()
        }
        other => other.clone(),
    }
}

/// Words that mean something in some command.
const WORDS: &[&str] = &[
    "k",
    "key",
    "0",
    "1",
    "2",
    "3",
    "4",
    "-1",
    "2x",
    "+2",
    "99999999999999999999",
    "4294967297",
    "STREAMS",
    "store",
    "STOREDIST",
    "KEYS",
    "get",
    "set",
    "overflow",
    "incrby",
    "by",
    "limit",
    "auth",
    "auth2",
    "copy",
    "count",
    "block",
    "group",
    "noack",
    "u8",
    "wrap",
];

#[test]
fn keys_are_found_where_the_server_finds_them() {
    let Some(mut pair) = pair("keys_are_found_where_the_server_finds_them") else { return };
    pair.speak("2");
    let mut rng = Rng::new(7);
    let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
    for row in moonkeep::commands().rows() {
        let programs = if row.spec.keys.is_empty() { 2 } else { 60 };
        for _ in 0..programs {
            let surplus = if row.arity < 0 || below(10) == 0 { below(6) } else { 0 };
            let mut words = vec!["COMMAND", ["GETKEYS", "GETKEYSANDFLAGS"][below(2)]];
            words.extend(row.spec.name.split('|'));
            words.resize_with(2 + row.arity.unsigned_abs() as usize + surplus, || WORDS[below(WORDS.len())]);
            pair.compare(&words, |reply| reply);
        }
    }
    pair.finish();
}
