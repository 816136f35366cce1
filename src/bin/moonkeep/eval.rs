//! `moonkeep eval`: runs one script as `redis-cli --eval` does, on an engine that the options set up, and shows its
//! reply, what it changed, what it logged and, when asked, what it called.

use crate::json::Json;
use crate::setting::{Setting, setting_help};
use crate::{Refusal, Word, next_word, print, trace};
use moonkeep::util::clock::Stopwatch;
use moonkeep::{Client, Engine, JournalEntry, LogLine, Reply, TracedCall};
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) const HELP: &str = concat!(
    "\
Run a Lua script as `redis-cli --eval` does, on a keyspace of its own in this process.

Usage: moonkeep eval [OPTIONS] SCRIPT [KEY...] , [ARG...]
       moonkeep eval [OPTIONS] -e TEXT [KEY...] , [ARG...]

  SCRIPT    the file with the script; - reads it from standard input
  KEY...    what the script finds in KEYS
  ,         a comma of its own ends the keys; without it all words are keys
  ARG...    what the script finds in ARGV

Options stand before SCRIPT and the keys. What sets the keyspace up is done in the order given, then the script runs:
",
    setting_help!(),
    "
What runs, and what is shown of it:
  -e, --script TEXT   the script itself, in place of SCRIPT
  --resp3             call as a client that speaks RESP3
  --raw               show the reply as redis-cli does in a pipe
  --trace             show each redis.call and redis.pcall with its reply and the real time it took on this machine,
                      once and cold; the engine's own time stands still while a script runs
  --json              print one JSON object: reply, error, changes, log, and with --trace calls and nanoseconds
  -h, --help          this text

Prints the reply as redis-cli does, then what the script changed, in the form in which a server propagates it; what it
logged goes to standard error. In JSON, integers, strings, null, true, false and arrays stand for themselves; other
replies name their type, as {\"status\":\"OK\"}, {\"error\":...}, {\"double\":...}, {\"map\":[[key,value],...]}, {\"set\":[...]};
bytes that are no UTF-8 are {\"hex\":\"ff00\"}.
Exit status: 0, or 1 when the reply is an error, or 2 when moonkeep was not called rightly or the set-up failed.

Examples:
  moonkeep eval --do 'SET stock:{p1} 10' lua/decrease_stock.lua 'stock:{p1}' , 1
  moonkeep eval --do 'SET lock me PX 5000' --advance 6s --do 'SET lock you PX 5000' lua/unlock.lua lock , me
  moonkeep eval --trace -e \"return redis.call('INCRBY', KEYS[1], ARGV[1])\" n , 5
"
);

/// What `eval` was told.
#[derive(Default)]
struct Eval {
    setting: Setting,
    raw: bool,
    json: bool,
    trace: bool,
    resp3: bool,
    source: Option<Source>,
    words: Words,
}

/// Where the script is.
enum Source {
    File(PathBuf),
    Input,
    Text(Vec<u8>),
}

/// The words behind a script.
#[derive(Default)]
pub(crate) struct Words {
    pub(crate) keys: Vec<Vec<u8>>,
    /// Whether a comma of its own ended the keys.
    pub(crate) comma: bool,
    pub(crate) args: Vec<Vec<u8>>,
}

impl Words {
    pub(crate) fn new(mut words: Vec<Vec<u8>>) -> Self {
        match words.iter().position(|word| word == b",") {
            Some(at) => {
                let args = words.split_off(at + 1);
                words.pop();
                Words { keys: words, comma: true, args }
            }
            None => Words { keys: words, comma: false, args: Vec::new() },
        }
    }
    /// The words of the call.
    pub(crate) fn call(self, source: Vec<u8>) -> Vec<Vec<u8>> {
        let count = self.keys.len().to_string().into_bytes();
        let mut argv = vec![b"EVAL".to_vec(), source, count];
        argv.extend(self.keys.into_iter().chain(self.args));
        argv
    }
}

/// What a run gave.
struct Outcome {
    reply: Reply,
    calls: Option<Vec<TracedCall>>,
    time: Duration,
    log: Vec<LogLine>,
    changes: Vec<JournalEntry>,
}

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let Some(told) = parse(parser)? else {
        print(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let source = match told.source {
        Some(ref source) => read(source)?,
        None => return Err(Refusal("eval needs the file of a script, see moonkeep eval --help".into())),
    };
    let engine = told.setting.engine();
    let mut client = engine.try_client()?;
    told.setting.prepare(&engine, &mut client)?;
    if told.resp3 {
        client.call(["HELLO", "3"])?;
    }
    let slip = slip(&told);
    let all_are_keys = !told.words.comma && !told.words.keys.is_empty();
    let outcome = call(&engine, &mut client, &told.words.call(source), told.trace)?;
    if told.json {
        print(format!("{}\n", json(&outcome)).as_bytes())?;
    } else {
        show(&outcome, told.raw)?;
    }
    let is_error = outcome.reply.is_error();
    if let Some(slip) = slip {
        eprintln!("moonkeep: {slip}");
    } else if is_error && all_are_keys {
        eprintln!(
            "moonkeep: no comma stands among the words, so all are keys; arguments follow one: KEY , ARG"
        );
    }
    Ok(if is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn parse(parser: &mut lexopt::Parser) -> Result<Option<Eval>, Refusal> {
    use lexopt::ValueExt;
    let mut told = Eval::default();
    let mut words = Vec::new();
    while let Some(word) = next_word(parser)? {
        let option = match word {
            Word::Option(option) => option,
            Word::Value(word) if told.source.is_some() => {
                words.push(word);
                break;
            }
            Word::Value(word) => {
                told.source = Some(if word == "-" { Source::Input } else { Source::File(word.into()) });
                break;
            }
        };
        match option.as_str() {
            "--raw" => told.raw = true,
            "--json" => told.json = true,
            "--trace" => told.trace = true,
            "--resp3" => told.resp3 = true,
            "--script" | "-e" => told.source = Some(Source::Text(parser.value()?.string()?.into_bytes())),
            "--help" | "-h" => return Ok(None),
            option if told.setting.take(option, parser)? => {}
            option => {
                return Err(Refusal(format!(
                    "invalid option '{option}'; options of eval stand before SCRIPT, see moonkeep eval --help"
                )));
            }
        }
    }
    if told.json && told.raw {
        return Err(Refusal("--json and --raw are two forms of one output; choose one".into()));
    }
    words.extend(parser.raw_args()?);
    told.words = Words::new(words.into_iter().map(OsString::into_encoded_bytes).collect());
    Ok(Some(told))
}

fn read(source: &Source) -> Result<Vec<u8>, Refusal> {
    let mut text = Vec::new();
    match source {
        Source::Text(text) => return Ok(text.clone()),
        Source::File(path) => std::fs::read(path).map(|read| text = read),
        Source::Input => std::io::stdin().read_to_end(&mut text).map(|_| ()),
    }
    .map_err(|error| match source {
        Source::File(path) => Refusal(format!("cannot read the script {path:?}: {error}")),
        _ => Refusal(format!("cannot read the script from standard input: {error}")),
    })?;
    Ok(text)
}

/// What looks like a slip in the words after SCRIPT. They are run as they stand: a slip is only told.
fn slip(told: &Eval) -> Option<String> {
    let Words { keys, comma, args } = &told.words;
    let is_option = |word: &&Vec<u8>| {
        let own = ["--raw", "--json", "--trace", "--resp3", "--script"];
        own.iter().chain(&Setting::OPTIONS).any(|option| option.as_bytes() == word.as_slice())
    };
    if let Some(word) = keys.iter().chain(args).find(is_option) {
        let word = String::from_utf8_lossy(word);
        return Some(format!(
            "{word} stands after SCRIPT and went to the script; options stand before SCRIPT"
        ));
    }
    let touching = |word: &&Vec<u8>| word.starts_with(b",") || word.ends_with(b",");
    let word = keys.iter().filter(|_| !comma).find(touching)?;
    let word = String::from_utf8_lossy(word);
    Some(format!("the comma of {word:?} belongs to the key; one that ends the keys stands alone: KEY , ARG"))
}

fn call(engine: &Engine, client: &mut Client, argv: &[Vec<u8>], trace: bool) -> Result<Outcome, Refusal> {
    let journal = engine.subscribe_journal()?;
    let mut reply = Reply::new();
    let mut calls = None;
    let stopwatch = Stopwatch::start();
    if trace {
        let (traced, made) = client.trace(argv)?;
        (reply, calls) = (traced, Some(made));
    } else {
        client.call_into(argv, &mut reply)?;
    }
    let time = stopwatch.elapsed();
    let reply = reply.received(client.protocol()?);
    Ok(Outcome { reply, calls, time, log: engine.take_log()?, changes: journal.take()? })
}

fn show(outcome: &Outcome, raw: bool) -> Result<(), Refusal> {
    if let Some(calls) = &outcome.calls {
        print(trace::lines(calls, outcome.time).as_bytes())?;
    }
    let reply = &outcome.reply;
    let mut text = if raw { reply.to_raw() } else { reply.to_string().into_bytes() };
    text.push(b'\n');
    print(&text)?;
    for line in &outcome.log {
        eprintln!("log {line}");
    }
    for entry in &outcome.changes {
        print(format!("changed: {entry}\n").as_bytes())?;
    }
    Ok(())
}

fn json(outcome: &Outcome) -> Json {
    let change = |entry: &JournalEntry| {
        Json::Object(vec![("db", Json::Int(entry.db.into())), ("command", Json::words(&entry.argv))])
    };
    let line = |line: &LogLine| {
        let level = format!("{:?}", line.level).to_lowercase();
        Json::Object(vec![("level", Json::Text(level.into_bytes())), ("text", Json::text(&line.text))])
    };
    let mut members = vec![
        ("reply", Json::reply(outcome.reply.view())),
        ("error", Json::Bool(outcome.reply.is_error())),
        ("changes", Json::List(outcome.changes.iter().map(change).collect())),
        ("log", Json::List(outcome.log.iter().map(line).collect())),
    ];
    if let Some(calls) = &outcome.calls {
        members.push(("calls", trace::json(calls)));
        members.push(("nanoseconds", trace::nanoseconds(outcome.time)));
    }
    Json::Object(members)
}
