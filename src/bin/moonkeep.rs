//! The `moonkeep` command: a thin caller of the library. `eval` runs a script file as `redis-cli --eval` does, on an
//! empty keyspace in this process, and shows what it changed.

use lexopt::prelude::*;
use moonkeep::util::words::split_words;
use moonkeep::{Client, Clock, Engine, Reply};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

const HELP: &str = "\
moonkeep: Redis commands and Lua scripts in process, on a clock that you hold

Usage:
  moonkeep eval [OPTIONS] SCRIPT [KEY...] , [ARG...]
  moonkeep help [eval] | --help
  moonkeep version | --version

`moonkeep eval --help` tells more.
";

const EVAL_HELP: &str = "\
Run a Lua script file as `redis-cli --eval` does, on an empty keyspace in this process.

Usage: moonkeep eval [OPTIONS] SCRIPT [KEY...] , [ARG...]

  SCRIPT    the file with the script
  KEY...    what the script finds in KEYS
  ,         a comma of its own ends the keys; without it all words are keys
  ARG...    what the script finds in ARGV

Options stand before SCRIPT:
  --do CMD      run this command first, as in --do 'SET stock:{p1} 10'; may be given again
  --now MS      the time at which all runs, in Unix milliseconds (default 1704067200000, 2024-01-01)
  --seed N      the seed of all randomness (default 0)
  --raw         show the reply as redis-cli does in a pipe
  -h, --help    this text

Prints the reply as redis-cli does, then what the script changed, in the form in which a server propagates it.
Exit status: 0, or 1 when the reply is an error, or 2 when moonkeep was not called rightly.

Example:
  moonkeep eval --do 'SET stock:{p1} 10' lua/decrease_stock.lua 'stock:{p1}' , 1
";

/// What went wrong before the script ran, with what to do.
struct Refusal(String);

impl<E: std::error::Error> From<E> for Refusal {
    fn from(error: E) -> Self {
        Refusal(error.to_string())
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(Refusal(text)) => {
            eprintln!("moonkeep: {text}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Refusal> {
    let mut parser = lexopt::Parser::from_env();
    match parser.next()? {
        Some(Long("help") | Short('h')) | None => print(HELP.as_bytes())?,
        Some(Long("version") | Short('V')) => print(version().as_bytes())?,
        Some(Value(word)) => match word.to_str() {
            Some("eval") => return eval(&mut parser),
            Some("help") => match parser.next()? {
                Some(Value(word)) if word == "eval" => print(EVAL_HELP.as_bytes())?,
                _ => print(HELP.as_bytes())?,
            },
            Some("version") => print(version().as_bytes())?,
            _ => {
                let word = word.to_string_lossy();
                return Err(Refusal(format!("there is no command {word:?}; `moonkeep help` lists them")));
            }
        },
        Some(Long("eval")) => {
            return Err(Refusal("it is `moonkeep eval SCRIPT ...`, without the dashes of redis-cli".into()));
        }
        Some(other) => return Err(Refusal(format!("{}; see `moonkeep help`", other.unexpected()))),
    }
    Ok(ExitCode::SUCCESS)
}

fn version() -> String {
    format!("moonkeep {} (semantics of Redis 7.0.15)\n", env!("CARGO_PKG_VERSION"))
}

/// What `eval` was told.
#[derive(Default)]
struct Eval {
    first: Vec<String>,
    now_ms: Option<i64>,
    seed: u64,
    raw: bool,
    script: PathBuf,
    keys: Vec<Vec<u8>>,
    /// Whether a comma of its own ended the keys.
    comma: bool,
    args: Vec<Vec<u8>>,
}

fn eval(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let Some(told) = parse_eval(parser)? else {
        print(EVAL_HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let source = std::fs::read(&told.script)
        .map_err(|error| Refusal(format!("cannot read the script {:?}: {error}", told.script)))?;
    let clock = told.now_ms.map_or_else(Clock::default, Clock::manual);
    let engine = Engine::builder().clock(clock).seed(told.seed).build();
    let mut client = engine.try_client()?;
    prepare(&mut client, &told.first)?;
    let journal = engine.subscribe_journal()?;
    let slip = slip(&told);
    let all_are_keys = !told.comma && !told.keys.is_empty();
    let count = told.keys.len().to_string().into_bytes();
    let mut argv = vec![b"EVAL".to_vec(), source, count];
    argv.extend(told.keys.into_iter().chain(told.args));
    let mut reply = Reply::new();
    client.call_into(&argv, &mut reply)?;
    show(&reply, told.raw)?;
    for line in engine.take_log()? {
        eprintln!("log {line}");
    }
    for entry in journal.take()? {
        print(format!("changed: {entry}\n").as_bytes())?;
    }
    if let Some(slip) = slip {
        eprintln!("moonkeep: {slip}");
    } else if reply.is_error() && all_are_keys {
        eprintln!(
            "moonkeep: no comma stands among the words, so all are keys; arguments follow one: KEY , ARG"
        );
    }
    Ok(if reply.is_error() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn parse_eval(parser: &mut lexopt::Parser) -> Result<Option<Eval>, Refusal> {
    let mut told = Eval::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("do") => told.first.push(parser.value()?.string()?),
            Long("now") => told.now_ms = Some(number(parser, "--now takes Unix milliseconds")?),
            Long("seed") => told.seed = number(parser, "--seed takes a number from 0 on")?,
            Long("raw") => told.raw = true,
            Long("help") | Short('h') => return Ok(None),
            Value(script) => {
                told.script = script.into();
                break;
            }
            other => {
                let text = other.unexpected();
                return Err(Refusal(format!(
                    "{text}; options of eval stand before SCRIPT, see moonkeep eval --help"
                )));
            }
        }
    }
    if told.script.as_os_str().is_empty() {
        return Err(Refusal("eval needs the file of a script, see moonkeep eval --help".into()));
    }
    let mut words: Vec<Vec<u8>> = parser.raw_args()?.map(OsString::into_encoded_bytes).collect();
    if let Some(at) = words.iter().position(|word| word == b",") {
        told.args = words.split_off(at + 1);
        words.pop();
        told.comma = true;
    }
    told.keys = words;
    Ok(Some(told))
}

/// The value of an option that takes a number.
fn number<T: FromStr>(parser: &mut lexopt::Parser, takes: &str) -> Result<T, Refusal> {
    let word = parser.value()?.to_string_lossy().into_owned();
    word.parse().map_err(|_| Refusal(format!("{takes}, not {word:?}")))
}

/// What looks like a slip in the words after SCRIPT. They are run as they stand: a slip is only told.
fn slip(told: &Eval) -> Option<String> {
    let words = || told.keys.iter().chain(&told.args);
    let option = |word: &&Vec<u8>| [&b"--do"[..], b"--now", b"--seed", b"--raw"].contains(&word.as_slice());
    if let Some(word) = words().find(option) {
        let word = String::from_utf8_lossy(word);
        return Some(format!(
            "{word} stands after SCRIPT and went to the script; options stand before SCRIPT"
        ));
    }
    let touching = |word: &&Vec<u8>| word.starts_with(b",") || word.ends_with(b",");
    let word = told.keys.iter().filter(|_| !told.comma).find(touching)?;
    let word = String::from_utf8_lossy(word);
    Some(format!("the comma of {word:?} belongs to the key; one that ends the keys stands alone: KEY , ARG"))
}

/// Runs the commands of `--do`; each must succeed.
fn prepare(client: &mut Client, commands: &[String]) -> Result<(), Refusal> {
    for command in commands {
        let words = split_words(command.as_bytes())
            .ok_or_else(|| Refusal(format!("--do {command:?}: the quotes are not balanced")))?;
        if words.is_empty() {
            return Err(Refusal(format!("--do {command:?}: it needs a command, as in --do 'SET k v'")));
        }
        client.call(&words).map_err(|error| Refusal(format!("--do {command:?}: {error}")))?;
    }
    Ok(())
}

fn show(reply: &Reply, raw: bool) -> Result<(), Refusal> {
    let mut text = if raw { reply.to_raw() } else { reply.to_string().into_bytes() };
    text.push(b'\n');
    print(&text)
}

/// Writes to standard output; a reader that went away is no error.
fn print(text: &[u8]) -> Result<(), Refusal> {
    let mut out = std::io::stdout();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Refusal(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
