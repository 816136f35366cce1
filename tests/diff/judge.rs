//! Runs one program on both sides and finds the first difference: replies step by step and what each step propagates,
//! then what is in the keyspace, and of some programs its dumps (`dumps`). Where the server's answer is not defined
//! (the order of a set, a random element, a client's number), only what is defined is compared.

use super::coverage::Coverage;
use super::dumps;
use super::program::{Command, Step};
use super::told::{self, Freedom};
use crate::support::target::{Target, argv};
use crate::support::wire::Wire;
use std::collections::BTreeMap;

/// Those that programs use.
const DATABASES: [&str; 3] = ["0", "1", "2"];

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
    /// Of several libraries that are there already either may be told.
    OneOfSeveral,
}

fn agreement(name: &str) -> Agreement {
    match name {
        "SMEMBERS" | "SUNION" | "SINTER" | "SDIFF" | "KEYS" | "HKEYS" | "HVALS" | "FUNCTION LIST" => {
            Agreement::Elements
        }
        "HGETALL" | "CONFIG GET" => Agreement::Pairs,
        "SPOP" | "SRANDMEMBER" | "HRANDFIELD" | "ZRANDMEMBER" | "RANDOMKEY" | "SCAN" | "HSCAN" | "SSCAN"
        | "ZSCAN" | "DUMP" | "CLIENT ID" | "CLIENT INFO" | "CLIENT LIST" | "INFO" | "HELLO"
        | "OBJECT IDLETIME" | "OBJECT FREQ" | "OBJECT REFCOUNT" | "LASTSAVE" | "LOLWUT" | "MEMORY USAGE"
        | "FUNCTION DUMP" => Agreement::Shape,
        "FUNCTION RESTORE" => Agreement::OneOfSeveral,
        _ => Agreement::Exact,
    }
}

fn is_random_write(command: &Command) -> bool {
    command.inner.as_deref().unwrap_or(&command.name) == "SPOP"
}

fn walks(command: &Command) -> bool {
    ["RANDOMKEY", "SCAN"].contains(&command.inner.as_deref().unwrap_or(&command.name))
}

/// What a transaction propagates is not compared in two cases. After a random choice the commands behind it meet other
/// elements on either side. And a key that the transaction itself gives an instant of the past goes when something meets
/// it: a walk through the keyspace meets some keys, and which ones depends on the order of the server's hash table.
fn is_unforeseeable(queue: &[Command]) -> bool {
    let past =
        |command: &Command| command.argv.iter().any(|word| word.to_ascii_uppercase().ends_with(b"XAT"));
    queue.len() > 1
        && (queue.iter().any(is_random_write) || queue.iter().any(walks) && queue.iter().any(past))
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
        Agreement::OneOfSeveral => [expected, got].iter().all(|reply| {
            let text = reply.to_string();
            text.starts_with("-ERR Library ") && text.ends_with(" already exists")
        }),
    }
}

/// Sorted at all depths: a script may put a set into its own array.
fn deep_sorted(reply: &Wire) -> Wire {
    match reply {
        Wire::Array(items) => Wire::Array(items.iter().map(deep_sorted).collect()).sorted(),
        Wire::Map(pairs) => {
            Wire::Map(pairs.iter().map(|(key, value)| (key.clone(), deep_sorted(value))).collect())
        }
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
    /// Whether dumps are passed to and fro at the end.
    pub(crate) dumps: bool,
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
                    if let Some(difference) = self.compare_effects("the passing of time", &[]) {
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
        let mut expected = self.server.call(connection, &command.argv);
        let mut got = self.moonkeep.call(connection, &command.argv);
        if (&expected, &got) == (&Wire::Timeout, &Wire::Timeout) {
            (expected, got) = self.unblock(connection, command);
        }
        if let Some(coverage) = &mut self.coverage {
            coverage.note(command, &expected);
        }
        let same = if command.name == "EXEC" {
            exec_agrees(queue, &expected, &got)
        } else {
            agree(of_command(command), &expected, &got)
        };
        let ran = match command.name.as_str() {
            _ if expected == Wire::Status(b"QUEUED".to_vec()) => {
                queue.push(command.clone());
                Vec::new()
            }
            "EXEC" | "DISCARD" | "RESET" | "MULTI" => std::mem::take(queue),
            _ => vec![command.clone()],
        };
        let effects = if is_unforeseeable(&ran) {
            self.discard_effects();
            None
        } else {
            self.compare_effects(&command.name, &ran)
        };
        if ran.len() > 1 && ran.iter().any(is_random_write) {
            self.empty();
        } else if let Some(difference) = ran.iter().filter(|_| same).find_map(|command| self.heal(command)) {
            return Some(difference);
        }
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

    /// A client that waits on both sides is told to go on: what it is answered then. Whom a write serves is for
    /// `tests/blocking_diff.rs`.
    fn unblock(&mut self, connection: &str, command: &Command) -> (Wire, Wire) {
        let reason = if command.argv.len().is_multiple_of(2) { "TIMEOUT" } else { "ERROR" };
        let [expected, got] = [&mut *self.server, &mut *self.moonkeep].map(|side| {
            let list = side.call("(state)", &argv(&["CLIENT", "LIST"]));
            let list = String::from_utf8_lossy(list.bytes().unwrap_or_default()).into_owned();
            let waits = list.lines().find(|line| line.contains(" flags=b"));
            let id = waits.and_then(|line| line.strip_prefix("id=")?.split(' ').next()).unwrap_or("0");
            side.call("(state)", &argv(&["CLIENT", "UNBLOCK", id, reason]));
            side.receive(connection)
        });
        (expected, got)
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
        by && DATABASES.iter().any(|db| {
            self.server.call("(state)", &argv(&["SELECT", db]));
            matches!(self.server.call("(state)", &kind).to_string().as_str(), "+set" | "+zset")
        })
    }

    fn is_big(&mut self, key: &[u8]) -> bool {
        let encoding = [b"OBJECT".to_vec(), b"ENCODING".to_vec(), key.to_vec()];
        DATABASES.iter().any(|db| {
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
        self.compare_effects("the passing of time", &[])
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

    /// What the two sides propagated for the last step, in which these commands ran; none when time has passed: what
    /// is due at one time expires in any order on the server.
    fn compare_effects(&mut self, name: &str, ran: &[Command]) -> Option<Difference> {
        let (mut expected, mut got) = (self.server.effects(), self.moonkeep.effects());
        if ran.is_empty() {
            expected.sort();
            got.sort();
        }
        let freedom = ran.iter().map(|command| Freedom::of(&command.argv));
        let freedom = freedom.fold(Freedom::default(), Freedom::or);
        (!told::agree(&expected, &got, freedom)).then(|| Difference {
            at: 0,
            what: format!("what {name} propagates"),
            expected: expected.join("\n         "),
            got: got.join("\n         "),
        })
    }

    /// After a random choice the two sides hold different elements: compares how many they are, then puts the server's
    /// on both sides. What SORT stores in no order is removed.
    fn heal(&mut self, command: &Command) -> Option<Difference> {
        if let Some(key) = stored_by_sort(command) {
            self.remove(key);
        }
        if !is_random_write(command) {
            return None;
        }
        let skipped = command.argv.len()
            - command.argv.iter().rev().position(|word| word.eq_ignore_ascii_case(b"SPOP")).unwrap_or(0);
        let key = command.argv.get(skipped)?.clone();
        let mut difference = None;
        for db in DATABASES {
            self.both(&[b"SELECT", db.as_bytes()]);
            for question in [&[b"SCARD", key.as_slice()][..], &[b"PEXPIRETIME", &key]] {
                let (expected, got) = self.both(question);
                if expected != got {
                    let what = "what SPOP leaves".to_owned();
                    let (expected, got) = (expected.to_string(), got.to_string());
                    difference = Some(Difference { at: 0, what, expected, got });
                }
            }
            dumps::copy(self.server, self.moonkeep, &key);
        }
        self.discard_effects();
        difference
    }

    /// Both answers to a question.
    fn both(&mut self, words: &[&[u8]]) -> (Wire, Wire) {
        let argv: Vec<Vec<u8>> = words.iter().map(|word| word.to_vec()).collect();
        (self.server.call("(state)", &argv), self.moonkeep.call("(state)", &argv))
    }

    fn remove(&mut self, key: &[u8]) {
        for db in DATABASES {
            self.both(&[b"SELECT", db.as_bytes()]);
            self.both(&[b"DEL", key]);
        }
        self.discard_effects();
    }

    /// After a transaction with a random choice any key may hold what was left by it.
    fn empty(&mut self) {
        self.both(&[b"FLUSHALL"]);
        self.discard_effects();
    }

    fn compare_state(&mut self, at: usize) -> Option<Difference> {
        if self.dumps {
            // A key that was given an instant of the past is there until something meets it.
            self.expire();
            let (expected, got) = self.both(&[b"DEBUG", b"DIGEST"]);
            if expected != got {
                let what = "the digest of all keys".to_owned();
                return self.compare_keys(at).or(Some(Difference {
                    at,
                    what,
                    expected: expected.to_string(),
                    got: got.to_string(),
                }));
            }
        }
        self.compare_keys(at)
    }

    fn compare_keys(&mut self, at: usize) -> Option<Difference> {
        for db in DATABASES {
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
            if self.dumps
                && let Err((key, expected, got)) = dumps::pass_to_and_fro(self.server, self.moonkeep)
            {
                let what = format!("the dumps in database {db}");
                return Some(Difference { at, what, expected: format!("{key}: {expected}"), got });
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
pub(crate) fn state(side: &mut dyn Target, db: &str) -> Vec<String> {
    let replies = ask(side, &[&[b"SELECT", db.as_bytes()][..], &[b"KEYS", b"*"]]);
    let keys: Vec<Wire> = replies[1].sorted().items().to_vec();
    let names: Vec<&[u8]> = keys.iter().filter_map(Wire::bytes).collect();
    let kinds = ask(side, &names.iter().map(|name| vec![&b"TYPE"[..], name]).collect::<Vec<_>>());
    let questions = names.iter().zip(&kinds).flat_map(|(name, kind)| {
        [vec![b"PEXPIRETIME", *name], vec![b"OBJECT", b"ENCODING", name], read_whole(name, kind)]
    });
    let facts = ask(side, &questions.collect::<Vec<_>>());
    let lines = keys.iter().zip(&kinds).zip(facts.chunks(3)).map(|((key, kind), facts)| {
        let [expiry, encoding, value] = facts else { return String::new() };
        let value = match kind.to_string().as_str() {
            "+set" => value.sorted(),
            "+hash" => value.sorted_pairs(),
            _ => value.clone(),
        };
        format!("{key} {kind} {encoding} expires {expiry} {value}")
    });
    lines.collect()
}

/// The command that reads a value of this type whole.
fn read_whole<'a>(name: &'a [u8], kind: &Wire) -> Vec<&'a [u8]> {
    match kind.to_string().as_str() {
        "+string" => vec![b"GET", name],
        "+list" => vec![b"LRANGE", name, b"0", b"-1"],
        "+set" => vec![b"SMEMBERS", name],
        "+zset" => vec![b"ZRANGE", name, b"0", b"-1", b"WITHSCORES"],
        "+hash" => vec![b"HGETALL", name],
        _ => vec![b"XINFO", b"STREAM", name, b"FULL", b"COUNT", b"0"],
    }
}

/// Asks all at once.
fn ask<'a, Q: AsRef<[&'a [u8]]>>(side: &mut dyn Target, questions: &[Q]) -> Vec<Wire> {
    for words in questions {
        side.send("(state)", &words.as_ref().iter().map(|word| word.to_vec()).collect::<Vec<_>>());
    }
    questions.iter().map(|_| side.receive("(state)")).collect()
}
