//! Runs one program on both sides and finds the first difference: replies step by step, then what is in the keyspace.
//! Where the server's answer is not defined (the order of a set, a random element, a client's number), only what is
//! defined is compared.

use super::coverage::Coverage;
use super::program::{Command, Step};
use crate::support::target::{Target, argv};
use crate::support::wire::Wire;
use std::collections::BTreeMap;

/// Where the two sides part.
pub(crate) struct Difference {
    /// The index of the step; the number of steps for the final state.
    pub(crate) at: usize,
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

impl Difference {
    /// What two differences with the same cause have in common.
    pub(crate) fn signature(&self) -> String {
        let head = |text: &str| {
            let length = if text.starts_with('-') { 40 } else { 2 };
            text.chars().filter(|c| !c.is_ascii_digit()).take(length).collect::<String>()
        };
        format!("{}|{}|{}", self.what, head(&self.expected), head(&self.got))
    }
}

/// How far two replies must agree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Exact,
    /// The elements, in any order.
    Elements,
    /// The pairs, in any order.
    Pairs,
    /// The kind and the number of elements.
    Shape,
}

fn agreement(name: &str) -> Agreement {
    match name {
        "SMEMBERS" | "SUNION" | "SINTER" | "SDIFF" | "KEYS" | "HKEYS" | "HVALS" => Agreement::Elements,
        "HGETALL" | "CONFIG GET" => Agreement::Pairs,
        "SPOP" | "SRANDMEMBER" | "HRANDFIELD" | "ZRANDMEMBER" | "RANDOMKEY" | "SCAN" | "HSCAN" | "SSCAN"
        | "ZSCAN" | "DUMP" | "CLIENT ID" | "CLIENT INFO" | "CLIENT LIST" | "INFO" | "HELLO"
        | "OBJECT IDLETIME" | "OBJECT REFCOUNT" | "LASTSAVE" | "LOLWUT" => Agreement::Shape,
        _ => Agreement::Exact,
    }
}

fn is_random_write(command: &Command) -> bool {
    command.inner.as_deref().unwrap_or(&command.name) == "SPOP"
}

fn walks(command: &Command) -> bool {
    ["RANDOMKEY", "SCAN"].contains(&command.inner.as_deref().unwrap_or(&command.name))
}

/// BITFIELD whose numbers do not fit may still lengthen the string, which the server tells nobody.
fn may_grow_untold(command: &Command) -> bool {
    command.inner.as_deref().unwrap_or(&command.name) == "BITFIELD"
        && command.argv.iter().any(|word| word.eq_ignore_ascii_case(b"FAIL"))
}

fn of_command(command: &Command) -> Agreement {
    agreement(command.inner.as_deref().unwrap_or(&command.name))
}

fn agree(how: Agreement, expected: &Wire, got: &Wire) -> bool {
    if expected == got {
        return true;
    }
    match how {
        Agreement::Exact => false,
        Agreement::Elements => deep_sorted(expected) == deep_sorted(got),
        Agreement::Pairs => pairs(expected) == pairs(got),
        Agreement::Shape => expected.shape() == got.shape(),
    }
}

/// Sorted at all depths: a script may put a set into its own array.
fn deep_sorted(reply: &Wire) -> Wire {
    match reply {
        Wire::Array(items) => Wire::Array(items.iter().map(deep_sorted).collect()).sorted(),
        other => other.sorted(),
    }
}

fn pairs(reply: &Wire) -> Wire {
    match reply {
        Wire::Array(items) if items.len() == 1 => Wire::Array(vec![pairs(&items[0])]),
        other => other.sorted_pairs(),
    }
}

/// The two sides and what the run remembers.
pub(crate) struct Judge<'a> {
    pub(crate) server: &'a mut dyn Target,
    pub(crate) moonkeep: &'a mut dyn Target,
    pub(crate) coverage: Option<&'a mut Coverage>,
}

impl Judge<'_> {
    /// Runs a program from an empty keyspace.
    pub(crate) fn run(&mut self, program: &[Step]) -> Option<Difference> {
        self.server.reset();
        self.moonkeep.reset();
        let mut queues: BTreeMap<&str, Vec<Command>> = BTreeMap::new();
        for (at, step) in program.iter().enumerate() {
            match step {
                Step::Advance(ms) => {
                    self.server.advance(*ms);
                    self.moonkeep.advance(*ms);
                    if let Some(difference) = self.compare_effects("the passing of time", true) {
                        return Some(Difference { at, ..difference });
                    }
                }
                Step::Call(connection, command) => {
                    let queue = queues.entry(connection).or_default();
                    let commands = [queue.as_slice(), std::slice::from_ref(command)].concat();
                    if let Some(difference) = self.call(connection, command, queue) {
                        let undefined = commands.iter().any(|command| self.is_undefined(command));
                        return (!undefined).then_some(Difference { at, ..difference });
                    }
                }
            }
        }
        self.compare_state(program.len())
    }

    fn call(&mut self, connection: &str, command: &Command, queue: &mut Vec<Command>) -> Option<Difference> {
        if let Some(difference) = self.settle(command, queue) {
            return Some(difference);
        }
        let expected = self.server.call(connection, &command.argv);
        let got = self.moonkeep.call(connection, &command.argv);
        if let Some(coverage) = &mut self.coverage {
            coverage.note(command, &expected);
        }
        let same = if command.name == "EXEC" {
            exec_agrees(queue, &expected, &got)
        } else {
            agree(of_command(command), &expected, &got)
        };
        let randomised = match command.name.as_str() {
            _ if expected == Wire::Status(b"QUEUED".to_vec()) => {
                queue.push(command.clone());
                Vec::new()
            }
            "EXEC" | "DISCARD" | "RESET" | "MULTI" => std::mem::take(queue),
            _ => vec![command.clone()],
        };
        let untold =
            |command: &Command| is_random_write(command) || walks(command) || may_grow_untold(command);
        let effects = if randomised.iter().any(untold) {
            self.discard_effects();
            None
        } else {
            self.compare_effects(&command.name, false)
        };
        if randomised.len() > 1 && randomised.iter().any(is_random_write) {
            self.heal_all();
        }
        randomised.iter().for_each(|command| self.heal(command));
        if same && effects.is_some() {
            return effects;
        }
        (!same).then(|| Difference {
            at: 0,
            what: command.inner.clone().map_or(command.name.clone(), |inner| format!("script {inner}")),
            expected: expected.to_string(),
            got: got.to_string(),
        })
    }

    /// A range of members of a big sorted set with different scores: the server's answer depends on chance.
    fn is_undefined(&mut self, command: &Command) -> bool {
        let of_members = command.name == "ZLEXCOUNT"
            || command
                .argv
                .iter()
                .any(|word| word.to_ascii_uppercase().ends_with(b"BYLEX") || word == b"ZLEXCOUNT");
        if self.sorts_in_no_order(command) {
            return true;
        }
        of_members && command.argv.iter().any(|word| self.is_big(word))
    }

    /// The server takes the elements of a set or sorted set in the order of its table, which shows where SORT leaves
    /// some of them as they come. And a number out of range in one SORT may spoil the next one.
    fn sorts_in_no_order(&mut self, command: &Command) -> bool {
        let sorts = |word: &Vec<u8>| word.to_ascii_uppercase().starts_with(b"SORT");
        let mut words = command.argv.iter().skip_while(|word| !sorts(word));
        let Some(key) = words.nth(1) else { return false };
        let by = words.any(|word| word.eq_ignore_ascii_case(b"BY"));
        // What stood there is gone where the result goes to the same key.
        let store = |pair: &[Vec<u8>]| pair[0].eq_ignore_ascii_case(b"STORE") && pair[1] == *key;
        if by && command.argv.windows(2).any(store) {
            return true;
        }
        let kind = [b"TYPE".to_vec(), key.clone()];
        by && ["0", "1", "2"].iter().any(|db| {
            self.server.call("(state)", &argv(&["SELECT", db]));
            matches!(self.server.call("(state)", &kind).to_string().as_str(), "+set" | "+zset")
        })
    }

    fn is_big(&mut self, key: &[u8]) -> bool {
        let encoding = [b"OBJECT".to_vec(), b"ENCODING".to_vec(), key.to_vec()];
        ["0", "1", "2"].iter().any(|db| {
            let sides: [&mut dyn Target; 2] = [&mut *self.server, &mut *self.moonkeep];
            sides.into_iter().any(|side| {
                side.call("(state)", &argv(&["SELECT", db]));
                side.call("(state)", &encoding).bytes() == Some(b"skiplist")
            })
        })
    }

    /// A command that walks the keyspace removes what it meets and is long due, on the server: first removes all that.
    fn settle(&mut self, command: &Command, queue: &[Command]) -> Option<Difference> {
        if !walks(command) && !queue.iter().any(walks) {
            return None;
        }
        self.expire();
        self.compare_effects("the passing of time", true)
    }

    fn expire(&mut self) {
        self.server.advance(0);
        self.moonkeep.advance(0);
    }

    fn discard_effects(&mut self) {
        self.expire();
        self.server.effects();
        self.moonkeep.effects();
    }

    /// What the two sides propagated for the last step. The server expires what is due at one time in any order.
    fn compare_effects(&mut self, name: &str, any_order: bool) -> Option<Difference> {
        let (mut expected, mut got) = (self.server.effects(), self.moonkeep.effects());
        if any_order {
            expected.sort();
            got.sort();
        }
        (expected != got).then(|| Difference {
            at: 0,
            what: format!("what {name} propagates"),
            expected: expected.join("\n         "),
            got: got.join("\n         "),
        })
    }

    /// After a random choice the two sides hold different elements: removes the key on both.
    fn heal(&mut self, command: &Command) {
        if let Some(key) = stored_by_sort(command) {
            self.remove(key);
        }
        if is_random_write(command) {
            let skipped = command.argv.len()
                - command.argv.iter().rev().position(|word| word.eq_ignore_ascii_case(b"SPOP")).unwrap_or(0);
            if let Some(key) = command.argv.get(skipped) {
                self.remove(key);
            }
        }
    }

    fn remove(&mut self, key: &[u8]) {
        for db in ["0", "1", "2"] {
            for side in [&mut *self.server, &mut *self.moonkeep] {
                side.call("(state)", &argv(&["SELECT", db]));
                side.call("(state)", &[b"DEL".to_vec(), key.to_vec()]);
            }
        }
        self.discard_effects();
    }

    /// After a transaction with a random choice other keys may hold what was left by it.
    fn heal_all(&mut self) {
        for side in [&mut *self.server, &mut *self.moonkeep] {
            side.call("(state)", &argv(&["FLUSHALL"]));
        }
        self.discard_effects();
    }

    fn compare_state(&mut self, at: usize) -> Option<Difference> {
        for db in ["0", "1", "2"] {
            let expected = state(self.server, db);
            let got = state(self.moonkeep, db);
            if expected != got {
                let differing = |left: &[String], right: &[String]| {
                    left.iter()
                        .filter(|line| !right.contains(line))
                        .cloned()
                        .collect::<Vec<_>>()
                        .join("\n         ")
                };
                let what = format!("the state of database {db}");
                return Some(Difference {
                    at,
                    what,
                    expected: differing(&expected, &got),
                    got: differing(&got, &expected),
                });
            }
        }
        None
    }
}

/// Where SORT stores texts among which some may be equal: of a set they then come in no order.
fn stored_by_sort(command: &Command) -> Option<&[u8]> {
    let has = |name: &[u8]| command.argv.iter().any(|word| word.eq_ignore_ascii_case(name));
    let at = command.argv.iter().rposition(|word| word.eq_ignore_ascii_case(b"STORE"))?;
    let sorts = has(b"SORT") && has(b"BY") && has(b"ALPHA");
    command.argv.get(at + 1).filter(|_| sorts).map(Vec::as_slice)
}

fn exec_agrees(queue: &[Command], expected: &Wire, got: &Wire) -> bool {
    match (expected, got) {
        // The server changes the protocol within the reply; a tape has one version throughout.
        (Wire::Array(expected), Wire::Array(got)) if queue.iter().any(|command| command.name == "HELLO") => {
            expected.len() == got.len()
        }
        // What a random choice left is another thing on either side.
        (Wire::Array(expected), Wire::Array(got)) if queue.iter().any(is_random_write) => {
            expected.len() == got.len()
        }
        (Wire::Array(expected), Wire::Array(got)) => {
            expected.len() == got.len()
                && expected.iter().zip(got).enumerate().all(|(at, (expected, got))| {
                    agree(queue.get(at).map_or(Agreement::Exact, of_command), expected, got)
                })
        }
        _ => expected == got,
    }
}

/// One line a key: type, expiry, encoding, value.
fn state(side: &mut dyn Target, db: &str) -> Vec<String> {
    let mut ask =
        |words: &[&[u8]]| side.call("(state)", &words.iter().map(|word| word.to_vec()).collect::<Vec<_>>());
    ask(&[b"SELECT", db.as_bytes()]);
    let keys = ask(&[b"KEYS", b"*"]).sorted();
    let mut lines = Vec::new();
    for key in keys.items() {
        let Some(name) = key.bytes() else { continue };
        let kind = ask(&[b"TYPE", name]).to_string();
        let value = match kind.as_str() {
            "+string" => ask(&[b"GET", name]),
            "+list" => ask(&[b"LRANGE", name, b"0", b"-1"]),
            "+set" => ask(&[b"SMEMBERS", name]).sorted(),
            "+zset" => ask(&[b"ZRANGE", name, b"0", b"-1", b"WITHSCORES"]),
            "+hash" => ask(&[b"HGETALL", name]).sorted_pairs(),
            _ => ask(&[b"XINFO", b"STREAM", name, b"FULL", b"COUNT", b"0"]),
        };
        let expiry = ask(&[b"PEXPIRETIME", name]);
        let encoding = ask(&[b"OBJECT", b"ENCODING", name]);
        lines.push(format!("{key} {kind} {encoding} expires {expiry} {value}"));
    }
    lines
}
