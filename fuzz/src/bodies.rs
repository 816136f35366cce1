//! The bodies of the fuzz targets: what is done with an input, and what must hold afterwards. A body panics when it does
//! not. Used by the libFuzzer targets of this workspace and, by path, by `tests/fuzz_smoke.rs`, which has only what a
//! stable toolchain has. How inputs are made is elsewhere.
//!
//! A program is text, so that kept inputs can be read: a command a line, words parted by spaces, `\xHH` for any byte,
//! `\e` for the empty word. The line `advance MS` moves the clock.

use super::kept::Kept;
use moonkeep::store::JournalEntry;
use moonkeep::{Client, Clock, Engine, Journal, Limits, Reply, ReplyRef};
use std::sync::OnceLock;
use std::time::Duration;

/// A fuzz target: its name, which is also the folder of its kept inputs, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("commands", commands),
    ("script", script),
    ("parsers", super::parsers::parsers),
    ("libraries", super::libraries::libraries),
    ("payloads", super::payloads::payloads),
    ("contract", super::contracts::contract),
    ("script_contract", super::contracts::script_contract),
    ("lint", super::contracts::lint_scripts),
    #[cfg(feature = "redis-aio")]
    ("requests", super::requests::requests),
];

/// The instant at which each program starts, in Unix milliseconds.
pub const START_MS: i64 = 1_700_000_000_000;
const DATABASES: u32 = 3;
const COMMANDS_MAX: usize = 200;

/// Any sequence of commands: no panic; one reply each; an error leaves the state as it was and is not propagated; what
/// changes the state is; the journal
/// rebuilds the state in another engine; the engine works afterwards.
pub fn commands(input: &[u8]) {
    let mut subject = Subject::new(new_engine());
    for line in input.split(|&byte| byte == b'\n').take(COMMANDS_MAX) {
        subject.step(&words(line));
    }
    // A script may choose what is told.
    if !input.windows(8).any(|word| word == b"set_repl") {
        subject.replay();
    }
    subject.end();
}

/// Any text as a script, with two keys and two arguments: no panic, one reply, the same reply and state each time; and
/// afterwards the engine works and shows the next script the environment it always shows.
pub fn script(input: &[u8]) {
    ENGINES.with(|engines| {
        engines.with(|one| {
            let before = ENVIRONMENT_TOLD.get_or_init(|| Subject::new(new_engine()).environment());
            let mut subject = Subject::new(one.clone());
            let (reply, hash) = subject.script(input);
            assert_eq!(*before, subject.environment(), "a script changed what the next one sees");
            // What tells addresses or the size of the heap may differ.
            if !reply.contains("0x") && !input.windows(14).any(|word| word == b"collectgarbage") {
                let again = engines.with(|other| Subject::new(other.clone()).script(input));
                assert_eq!((reply, hash), again, "a second engine answers otherwise");
            }
        });
    });
}

thread_local! {
    /// Many scripts that are made at random run until they are stopped.
    static ENGINES: Kept = const { Kept::new(|| engine_with(100_000)) };
}

/// What an engine shows that has run nothing.
static ENVIRONMENT_TOLD: OnceLock<String> = OnceLock::new();

/// A script that tells what it sees.
const ENVIRONMENT: &[u8] = b"local names = {}
for name, value in pairs(_G) do
  names[#names + 1] = tostring(name) .. ' ' .. type(value)
  if type(value) == 'table' then
    for inner, v in pairs(value) do names[#names + 1] = tostring(name) .. '.' .. tostring(inner) .. ' ' .. type(v) end
  end
end
table.sort(names)
return {table.concat(names, ', '), KEYS[1], ARGV[1], #KEYS, #ARGV, ('x'):rep(3), tostring(1e15), type(getmetatable(''))}";

/// The words of a line of a program.
pub fn words(line: &[u8]) -> Vec<Vec<u8>> {
    line.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).map(unescape).collect()
}

fn unescape(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\\', [b'e', after @ ..]) => rest = after,
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digits = [*high, *low];
                let value =
                    std::str::from_utf8(&digits).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
                bytes.push(value.unwrap_or(b'\\'));
                rest = if value.is_some() { after } else { tail };
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

/// A word as `words` reads it.
pub fn escape(word: &[u8]) -> String {
    if word.is_empty() {
        return "\\e".into();
    }
    let escaped = |&byte: &u8| match byte {
        b'!'..=b'~' if byte != b'\\' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    word.iter().map(escaped).collect()
}

/// An engine under test, and a second client that looks at its state.
struct Subject {
    engine: Engine,
    journal: Journal,
    /// All that the journal told.
    told: Vec<JournalEntry>,
    /// Something was changed that no journal tells.
    has_untold: bool,
    client: Client,
    watcher: Client,
    reply: Reply,
    state: String,
    hash: u64,
}

/// An engine in which no script runs for long.
fn new_engine() -> Engine {
    engine_with(1_000_000)
}

fn engine_with(work: u64) -> Engine {
    let limits = Limits { work, memory: 16 << 20, ..Limits::default() };
    let clock = Clock::manual(START_MS);
    Engine::builder().clock(clock).databases(DATABASES).script_limits(limits).build()
}

impl Subject {
    fn new(engine: Engine) -> Subject {
        let journal = engine.subscribe_journal().expect("a new engine is free");
        let (client, watcher) = (engine.client(), engine.client());
        let hash = engine.state_hash().expect("a new engine is free");
        let (told, reply, state) = (Vec::new(), Reply::new(), String::new());
        let has_untold = false;
        let mut subject = Subject { engine, journal, told, has_untold, client, watcher, reply, state, hash };
        subject.state = subject.walk();
        subject
    }

    /// Runs one command and checks all that must hold after any.
    fn step(&mut self, words: &[Vec<u8>]) {
        let Some(name) = words.first().map(|name| name.to_ascii_lowercase()) else { return };
        if name == b"advance" {
            return self.advance(words);
        }
        if is_left_out(&name, words) {
            return;
        }
        if let Err(error) = self.client.call_into(words, &mut self.reply) {
            assert!(error.is_would_block() || error.is_closed(), "{error}");
            if error.is_closed() {
                self.client = self.engine.client();
            }
            return;
        }
        self.has_untold |= reads_untold(words);
        let values = self.reply.values().len();
        // One who follows the journal is told through the inbox.
        let follows = matches!(&name[..], b"sync" | b"psync");
        assert!(values == 1 || follows && values == 0, "{values} values for one command: {:?}", self.reply);
        let refused = self.reply.is_error() && !runs_commands(&name);
        // DEBUG SLEEP moves the clock: keys may be gone before anybody looks.
        self.compare(refused, !runs_commands(&name) && name != b"debug" && !reads_untold(words));
    }

    /// Compares state, hash and journal with what they were before a command.
    fn compare(&mut self, refused: bool, must_tell: bool) {
        let told = self.journal.take().expect("the engine is free");
        // A key that had expired unseen is deleted by whoever looks at it; the state without it is the same.
        let tells_expiry = |word: &Vec<u8>| matches!(&word[..], b"DEL" | b"MULTI" | b"EXEC");
        let is_quiet = told.iter().all(|entry| entry.argv.first().is_some_and(tells_expiry));
        assert!(!refused || is_quiet, "refused, yet propagated: {:?} {told:?}", self.reply);
        let (state, hash) = (self.walk(), self.engine.state_hash().expect("the engine is free"));
        let is_same = state == self.state;
        assert!(
            is_same == (hash == self.hash),
            "state and hash disagree\nbefore {}\nafter {state}",
            self.state
        );
        assert!(
            is_same || !refused,
            "refused, yet changed: {:?}\nbefore {}\nafter {state}",
            self.reply,
            self.state
        );
        assert!(
            is_same || !must_tell || !told.is_empty(),
            "changed, yet not propagated\nbefore {}\nafter {state}",
            self.state
        );
        (self.state, self.hash) = (state, hash);
        self.told.extend(told);
    }

    fn advance(&mut self, words: &[Vec<u8>]) {
        let ms = words.get(1).and_then(|word| std::str::from_utf8(word).ok()?.parse().ok()).unwrap_or(1);
        self.engine.advance(Duration::from_millis(ms)).expect("a manual clock moves");
        self.compare(false, false);
    }

    /// Another engine that is told the same has the same state.
    fn replay(&mut self) {
        let copy = new_engine();
        copy.replay(&self.told).expect("what was done can be done again");
        copy.set_time(self.engine.now_ms().expect("the engine is free")).expect("a manual clock moves");
        if self.has_untold {
            return;
        }
        assert_eq!(
            copy.state_hash(),
            self.engine.state_hash(),
            "the journal tells another state: {:?}",
            self.told
        );
    }

    /// Runs a command that answers exactly once; gives the reply as text.
    fn run(&mut self, argv: &[&[u8]]) -> String {
        self.client.call_into(argv, &mut self.reply).expect("the engine is free");
        assert_eq!(self.reply.values().len(), 1, "{:?}", self.reply);
        format!("{:?}", self.reply)
    }

    fn environment(&mut self) -> String {
        let told = self.run(&[b"EVAL", ENVIRONMENT, b"1", b"k", b"v"]);
        assert!(told.contains("redis.call function"), "{told}");
        told
    }

    /// What a script replies, and the state that it leaves.
    fn script(&mut self, input: &[u8]) -> (String, u64) {
        self.run(&[b"SET", b"k1", b"10"]);
        self.run(&[b"RPUSH", b"k2", b"a", b"b"]);
        let mut reply = self.run(&[b"EVAL", input, b"2", b"k1", b"k2", b"7", b"text"]);
        reply += &self.run(&[b"EVAL_RO", input, b"0"]);
        let hash = self.engine.state_hash().expect("the engine is free");
        self.end();
        (reply, hash)
    }

    /// The engine still works: a new client writes and reads.
    fn end(&mut self) {
        let mut probe = self.engine.client();
        let _ = probe.call(["CONFIG", "SET", "maxmemory", "0"]);
        probe.call(["SET", "probe", "alive"]).expect("SET works at the end");
        assert_eq!(probe.query::<String, _>(["GET", "probe"]).as_deref(), Ok("alive"));
        self.walk();
    }

    /// All databases as text: each key with its type, deadline and value, in order of keys. Before them the libraries.
    fn walk(&mut self) -> String {
        let mut text = format!("{:?}\n", self.look(&[b"FUNCTION", b"LIST", b"WITHCODE"]));
        for db in 0..DATABASES {
            self.look(&[b"SELECT", db.to_string().as_bytes()]);
            let mut keys: Vec<Vec<u8>> = self.look(&[b"KEYS", b"*"]).get().unwrap_or_default();
            keys.sort();
            for key in keys {
                let deadline = format!("{:?}", self.look(&[b"PEXPIRETIME", &key]));
                let kind: String = self.look(&[b"TYPE", &key]).get().unwrap_or_default();
                let value = self.value(&kind, &key);
                text.push_str(&format!("{db} {} {kind} {deadline} {value}\n", escape(&key)));
            }
        }
        text
    }

    fn value(&mut self, kind: &str, key: &[u8]) -> String {
        match kind {
            "string" => format!("{:?}", self.look(&[b"GET", key])),
            "list" => format!("{:?}", self.look(&[b"LRANGE", key, b"0", b"-1"])),
            "hash" => sorted(&self.look(&[b"HGETALL", key]), 2),
            "set" => sorted(&self.look(&[b"SMEMBERS", key]), 1),
            "zset" => format!("{:?}", self.look(&[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"])),
            _ => {
                let entries = format!("{:?}", self.look(&[b"XRANGE", key, b"-", b"+"]));
                let info = self.look(&[b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"0"]);
                format!("{entries} {}", without_seen_times(&format!("{info:?}")))
            }
        }
    }

    fn look(&mut self, argv: &[&[u8]]) -> Reply {
        let mut reply = Reply::new();
        self.watcher.call_into(argv, &mut reply).expect("CLIENT KILL of the watcher is left out");
        reply
    }
}

/// When a consumer was seen last is a note of use, as when a key was: no state.
fn without_seen_times(text: &str) -> String {
    let mut parts = text.split("seen-time");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.trim_start_matches(|c: char| !c.is_ascii_digit());
        rest.push_str(behind.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    rest
}

/// Whether a group reads what a consumer was given before, or may do so: a server tells nobody of that, so that a journal
/// lacks how often it was delivered.
fn reads_untold(words: &[Vec<u8>]) -> bool {
    let is = |word: &Vec<u8>, name: &[u8]| word.eq_ignore_ascii_case(name);
    if !words.iter().any(|word| is(word, b"xreadgroup")) {
        return false;
    }
    let rest = words.iter().position(|word| is(word, b"streams")).map_or(&[][..], |at| &words[at + 1..]);
    let ids = &rest[rest.len() / 2..];
    ids.is_empty() || ids.iter().any(|id| id != b">")
}

/// The elements of a reply as text, in groups, sorted: hash order is no state.
fn sorted(reply: &Reply, group: usize) -> String {
    let items: Vec<String> = match reply.view() {
        ReplyRef::Array(items) | ReplyRef::Map(items) | ReplyRef::Set(items) => {
            items.map(|item| format!("{item:?}")).collect()
        }
        other => return format!("{other:?}"),
    };
    let mut groups: Vec<&[String]> = items.chunks(group).collect();
    groups.sort();
    format!("{groups:?}")
}

/// A command that runs others: an error in the middle leaves what was done before.
fn runs_commands(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with(b"eval") || name.starts_with(b"fcall") || name == b"exec"
}

/// What a program may not do: end the process or the watcher's session, hold it back, let it write no more, answer never or
/// more than once, take memory without bound.
fn is_left_out(name: &[u8], words: &[Vec<u8>]) -> bool {
    let numbers = || words.iter().filter_map(|word| std::str::from_utf8(word).ok()?.parse::<i64>().ok());
    match name {
        b"shutdown" | b"monitor" | b"subscribe" | b"psubscribe" | b"ssubscribe" | b"unsubscribe"
        | b"punsubscribe" | b"sunsubscribe" | b"replicaof" | b"slaveof" => true,
        b"client" => words.get(1).is_some_and(|word| {
            [&b"reply"[..], b"kill", b"pause"].iter().any(|name| word.eq_ignore_ascii_case(name))
        }),
        b"debug" => words.get(1).is_none_or(|word| !word.eq_ignore_ascii_case(b"sleep")),
        b"setrange" | b"setbit" | b"bitfield" => numbers().any(|n| (1 << 20..1 << 33).contains(&n)),
        b"srandmember" | b"hrandfield" | b"zrandmember" => numbers().any(|n| n < -1000),
        _ => false,
    }
}
