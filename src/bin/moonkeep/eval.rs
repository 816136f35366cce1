//! `moonkeep eval`: runs one script as `redis-cli --eval` does, on an engine that the options set up, and shows its
//! reply, what it changed, what it logged and, when asked, what it called.

use crate::json::Json;
use crate::profile::{self, Noting};
use crate::scripts::{self, Run, Source, Words};
use crate::setting::{Setting, setting_help};
use crate::{Refusal, Word, harmless, next_word, print};
use moonkeep::reply::Resp;
use moonkeep::{Client, Engine, JournalEntry, Limits, LogLine, Message};
use std::ffi::OsString;
use std::process::ExitCode;

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
  --work N            the work that the script may do until it is stopped: instructions of Lua, and what strings and
                      commands take (default 500000000)
  --quoted            KEY and ARG are quoted as in redis-cli, so that they may hold any bytes: '\"a\\x00b\"'
  --resp3             call as a client that speaks RESP3
  --checked           hold the script to its contract, in its header or in NAME.contract beside NAME.lua; a call
                      that the contract refuses is answered by it, and the script must answer the same on a fork
  --trace             show each redis.call and redis.pcall with its reply and the real time it took on this machine,
                      once and cold (the engine's own time stands still while a script runs), and how many
                      instructions of Lua ran, which are the same each time
  --coverage FILE     note which lines of scripts run, and write it to this file: as a tracefile of lcov for
                      .info and .lcov, as a page for .html; which lines did not run goes to standard error
  --profile           show the lines of each script with how often they were entered, the instructions of Lua that ran
                      on them and the commands that they called
  --raw               show the reply as redis-cli does in a pipe
  --json              print one JSON object: reply, error, changes, log; messages when some came;
                      breach when the contract was broken; calls, nanoseconds and instructions with --trace;
                      profile with --profile, a list of scripts with their lines
  -h, --help          this text

Prints the reply as redis-cli does, then what was published to the session (its set-up may HELLO 3 and SUBSCRIBE), then
what the script changed, in the form in which a server propagates it; what it logged goes to standard error. In JSON,
integers, strings, null, true, false and arrays stand for themselves; other replies name their type, as
{\"status\":\"OK\"}, {\"error\":...}, {\"double\":...}, {\"map\":[[key,value],...]}, {\"set\":[...]}; bytes that are no
UTF-8 are {\"hex\":\"ff00\"}.
Exit status: 0, or 1 when the reply is an error or the contract was broken, or 2 when moonkeep was not called rightly,
the set-up failed or the contract itself is wrong.

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
    checked: bool,
    resp3: bool,
    quoted: bool,
    work: Option<u64>,
    noting: Noting,
    source: Option<Source>,
    words: Words,
}

/// What a run gave and did.
struct Outcome {
    run: Run,
    log: Vec<LogLine>,
    changes: Vec<JournalEntry>,
    /// What was published to the session.
    messages: Vec<Message>,
}

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let Some(mut told) = parse(parser)? else {
        print(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let limits = told.work.map_or_else(Limits::default, |work| Limits { work, ..Limits::default() });
    let engine = told.noting.build(told.setting.builder().script_limits(limits));
    let mut client = engine.try_client()?;
    told.setting.prepare(&engine, &mut client)?;
    if client.in_transaction()? {
        return Err(Refusal("the set-up left a MULTI open, and the script would be queued; add EXEC".into()));
    }
    if told.resp3 {
        client.call(["HELLO", "3"])?;
    }
    let outcome = call(&told, &engine, &mut client)?;
    let profile = told.noting.profile();
    if told.json {
        let mut members = json(&outcome);
        members.extend(profile.map(|scripts| ("profile", profile::json(&scripts))));
        print(format!("{}\n", Json::Object(members)).as_bytes())?;
    } else {
        show(&outcome, told.raw)?;
        print(profile.map_or(String::new(), |scripts| profile::table(&scripts)).as_bytes())?;
    }
    told.noting.write()?;
    let Run { reply, breach, .. } = &outcome.run;
    if let Some(breach) = breach {
        tell!("moonkeep: {breach}");
    }
    let failed = reply.is_error() || breach.is_some();
    if let Some(slip) = misplaced(&told.words).or_else(|| told.words.slip(failed)) {
        tell!("moonkeep: {slip}");
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
                told.source = Some(Source::named(word));
                break;
            }
        };
        match option.as_str() {
            "--raw" => told.raw = true,
            "--json" => told.json = true,
            "--trace" => told.trace = true,
            "--checked" => told.checked = true,
            "--resp3" => told.resp3 = true,
            "--quoted" => told.quoted = true,
            "--work" => told.work = Some(crate::setting::number(parser, "--work takes a number from 1 on")?),
            "--profile" => told.noting.profile = true,
            "--coverage" => told.noting.cover(parser.value()?.into())?,
            "--script" | "-e" if told.source.is_some() => {
                return Err(Refusal(format!("{option} was given already; eval runs one script")));
            }
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
    if told.trace && told.noting.is_on() {
        return Err(Refusal("--trace runs the script on a fork too, which would be noted; choose it or --coverage and --profile".into()));
    }
    words.extend(parser.raw_args()?);
    told.words = Words::new(words.into_iter().map(OsString::into_encoded_bytes).collect());
    if told.quoted {
        told.words.unquote()?;
    }
    Ok(Some(told))
}

/// An option among the words after SCRIPT; it is run as it stands and told.
fn misplaced(words: &Words) -> Option<String> {
    let is_option = |word: &&Vec<u8>| {
        let own = ["--raw", "--json", "--trace", "--checked", "--resp3", "--quoted", "--script"];
        let own = own.iter().chain(&["--coverage", "--profile", "--work"]);
        own.chain(&Setting::OPTIONS).any(|option| option.as_bytes() == word.as_slice())
    };
    let word = words.keys.iter().chain(&words.args).find(is_option)?;
    let word = String::from_utf8_lossy(word);
    Some(format!("{word} stands after SCRIPT and went to the script; options stand before SCRIPT"))
}

fn call(told: &Eval, engine: &Engine, client: &mut Client) -> Result<Outcome, Refusal> {
    let Some(source) = &told.source else {
        return Err(Refusal("eval needs the file of a script, see moonkeep eval --help".into()));
    };
    let text = source.read()?;
    told.noting.name(&text, source);
    let journal = engine.subscribe_journal()?;
    let mut run = if told.checked {
        let contract = source.contract(&text)?;
        scripts::run_checked(engine, client, (&text, contract), &told.words, told.trace)?
    } else {
        scripts::run(engine, client, &told.words.eval(&text), told.trace)?
    };
    run.reply = run.reply.received(client.protocol()?);
    let mut messages = Vec::new();
    while let Some(message) = client.try_next_message()? {
        messages.push(message);
    }
    Ok(Outcome { run, log: engine.take_log()?, changes: journal.take()?, messages })
}

fn show(outcome: &Outcome, raw: bool) -> Result<(), Refusal> {
    let Run { reply, trace, .. } = &outcome.run;
    if let Some(trace) = trace {
        print(trace.lines().as_bytes())?;
    }
    if reply.values().len() > 0 {
        let mut text = if raw { reply.to_raw() } else { reply.to_string().into_bytes() };
        text.push(b'\n');
        print(&text)?;
    }
    for message in &outcome.messages {
        let text = if raw { message.to_reply().to_raw() } else { message.to_string().into_bytes() };
        print(&[&text[..], b"\n"].concat())?;
    }
    for line in &outcome.log {
        tell!("log {}", harmless(&line.to_string()));
    }
    for entry in &outcome.changes {
        print(format!("changed: {entry}\n").as_bytes())?;
    }
    Ok(())
}

fn json(outcome: &Outcome) -> Vec<(&'static str, Json)> {
    let change = |entry: &JournalEntry| {
        Json::Object(vec![("db", Json::Int(entry.db.into())), ("command", Json::words(&entry.argv))])
    };
    let line = |line: &LogLine| {
        let level = format!("{:?}", line.level).to_lowercase();
        Json::Object(vec![("level", Json::Text(level.into_bytes())), ("text", Json::text(&line.text))])
    };
    let Run { reply, trace, breach } = &outcome.run;
    let mut members = vec![
        ("reply", Json::reply(reply.view())),
        ("error", Json::Bool(reply.is_error())),
        ("changes", Json::List(outcome.changes.iter().map(change).collect())),
        ("log", Json::List(outcome.log.iter().map(line).collect())),
    ];
    if !outcome.messages.is_empty() {
        let messages =
            outcome.messages.iter().map(|message| Json::reply(message.to_reply().received(Resp::V2).view()));
        members.push(("messages", Json::List(messages.collect())));
    }
    if let Some(breach) = breach {
        members.push(("breach", Json::text(breach.as_bytes())));
    }
    members.extend(trace.iter().flat_map(|trace| trace.members()));
    members
}
