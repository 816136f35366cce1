//! Scripts as the command line names them: their text, the words behind them, the contract they are held to, and one run.

use crate::Refusal;
use crate::json::Json;
use crate::trace::{self, Trace};
use moonkeep::util::clock::Stopwatch;
use moonkeep::util::words::split_words;
use moonkeep::{Client, Contract, Engine, Reply, Script, Verdict};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where a script is.
pub(crate) enum Source {
    File(PathBuf),
    Input,
    Text(Vec<u8>),
}

impl Source {
    /// A file, or standard input for `-`.
    pub(crate) fn named(name: impl Into<PathBuf>) -> Source {
        let path = name.into();
        if path.as_os_str() == "-" { Source::Input } else { Source::File(path) }
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>, Refusal> {
        let mut text = Vec::new();
        match self {
            Source::Text(text) => Ok(text.clone()),
            Source::File(path) => std::fs::read(path)
                .map_err(|error| Refusal(format!("cannot read the script {path:?}: {error}"))),
            Source::Input => match std::io::stdin().read_to_end(&mut text) {
                Ok(_) => Ok(text),
                Err(error) => Err(Refusal(format!("cannot read the script from standard input: {error}"))),
            },
        }
    }

    /// What it is called where it is shown.
    pub(crate) fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Input => "standard input".into(),
            Source::Text(_) => "the script".into(),
        }
    }

    /// Whether the script with this text has a contract, in its header or in a file beside it.
    pub(crate) fn has_contract(&self, text: &[u8]) -> bool {
        Contract::is_in(text) || self.contract_beside().is_some_and(|path| path.exists())
    }

    /// Where its contract is when it stands beside it.
    pub(crate) fn contract_beside(&self) -> Option<PathBuf> {
        match self {
            Source::File(path) => Some(path.with_extension("contract")),
            _ => None,
        }
    }

    /// The contract of the script with this text: in its header, or in the file `NAME.contract` beside it; the same one
    /// where both are there.
    pub(crate) fn contract(&self, text: &[u8]) -> Result<Contract, Refusal> {
        let name = self.name();
        let path = self.contract_beside();
        let beside = path.as_deref().filter(|path| path.exists()).map(read_contract).transpose()?;
        match beside {
            Some((shown, beside)) if Contract::is_in(text) && !clauses(text).eq(clauses(&beside)) => {
                Err(Refusal(format!(
                    "{name} has a contract in its header and another one in {shown}; leave one of them out"
                )))
            }
            _ if Contract::is_in(text) => parse(&name, text),
            Some((shown, beside)) => parse(&shown, &beside),
            // Contract lines that are not in the header: what is wrong with them is told.
            None if clauses(text).next().is_some() => parse(&name, text),
            None => Err(no_contract(&name, path.as_deref())),
        }
    }
}

/// A contract in a file of its own: how the file is shown, and what stands in it.
fn read_contract(path: &Path) -> Result<(String, Vec<u8>), Refusal> {
    match std::fs::read(path) {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(error) => Err(Refusal(format!("cannot read the contract {path:?}: {error}"))),
    }
}

/// Lines that look like those of a contract, wherever they stand.
fn clauses(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.map(<[u8]>::trim_ascii).filter(|line| line.starts_with(b"--!"))
}

fn parse(name: &str, text: &[u8]) -> Result<Contract, Refusal> {
    Contract::parse(text).map_err(|error| Refusal(format!("{name}:{error}")))
}

fn no_contract(name: &str, beside: Option<&Path>) -> Refusal {
    let nor = match beside {
        Some(path) => format!(", and there is no {}", path.display()),
        None => String::new(),
    };
    Refusal(format!(
        "{name} has no contract to hold it to: no --! lines in its header{nor}; lua/README.md tells how to write one"
    ))
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
    /// Takes the quotes of redis-cli off each word.
    pub(crate) fn unquote(&mut self) -> Result<(), Refusal> {
        for word in self.keys.iter_mut().chain(&mut self.args) {
            let words = split_words(word).filter(|words| words.len() == 1);
            let one = words.and_then(|mut words| words.pop());
            *word = one.ok_or_else(|| {
                let word = String::from_utf8_lossy(word);
                Refusal(format!("{word:?} is no word in the quotes of redis-cli, as \"a\\x00b\" is"))
            })?;
        }
        Ok(())
    }
    /// What looks like a slip: a comma that is none, or none at all where the script failed.
    pub(crate) fn slip(&self, failed: bool) -> Option<String> {
        if self.comma {
            return None;
        }
        let touching = |word: &&Vec<u8>| word.starts_with(b",") || word.ends_with(b",");
        match self.keys.iter().find(touching) {
            Some(word) => {
                let word = String::from_utf8_lossy(word);
                Some(format!(
                    "the comma of {word:?} belongs to the key; one that ends the keys stands alone: KEY , ARG"
                ))
            }
            None if failed && !self.keys.is_empty() => Some(
                "no comma stands among the words, so all are keys; arguments follow one: KEY , ARG".into(),
            ),
            None => None,
        }
    }
    /// The words of EVAL.
    pub(crate) fn eval(&self, text: &[u8]) -> Vec<Vec<u8>> {
        let count = self.keys.len().to_string().into_bytes();
        let mut argv = vec![b"EVAL".to_vec(), text.to_vec(), count];
        argv.extend(self.keys.iter().chain(&self.args).cloned());
        argv
    }
}

/// What a run gave.
pub(crate) struct Run {
    pub(crate) reply: Reply,
    pub(crate) trace: Option<Trace>,
    /// What the script did that its contract does not say.
    pub(crate) breach: Option<String>,
}

/// Runs a command, traced or not.
pub(crate) fn run(
    engine: &Engine,
    client: &mut Client,
    argv: &[Vec<u8>],
    traced: bool,
) -> Result<Run, moonkeep::Error> {
    let mut reply = Reply::new();
    let mut trace = None;
    if traced {
        let instructions = trace::forked(engine, client)?.count_instructions(argv)?.1;
        let stopwatch = Stopwatch::start();
        let (answer, calls) = client.trace(argv)?;
        (reply, trace) = (answer, Some(Trace { calls, time: stopwatch.elapsed(), instructions }));
    } else {
        client.call_into(argv, &mut reply)?;
    }
    Ok(Run { reply, trace, breach: None })
}

/// Runs a script, held to its contract.
pub(crate) fn run_checked(
    engine: &Engine,
    client: &mut Client,
    (text, contract): (&[u8], Contract),
    words: &Words,
    traced: bool,
) -> Result<Run, moonkeep::Error> {
    let script = Script::new(text).with_contract(contract);
    let call = script.call().keys(&words.keys).args(&words.args);
    let refusal = match call.verdict(client)? {
        Some(Verdict::Refused(text)) => Some(text),
        _ => None,
    };
    let trace = match traced {
        true if refusal.is_some() => Some(Trace::default()),
        // On a fork and without the contract, whose checks count each instruction.
        true => run(engine, &mut trace::forked(engine, client)?, &words.eval(text), true)?.trace,
        false => None,
    };
    let mut reply = Reply::new();
    let breach = match (call.run_into(client, &mut reply), refusal) {
        (Err(error), _) if error.is_breach() => Some(error.to_string()),
        (Err(error), _) => return Err(error),
        (Ok(()), None) => None,
        (Ok(()), Some(refusal)) => own_answer(engine, client, &words.eval(text), &refusal)?.map(|own| {
            let (name, refusal) = (script.contract().map_or("", Contract::name), String::from_utf8_lossy(&refusal));
            format!("{name} broke its contract: the call is to be refused with {refusal}, the script by itself {own}")
        }),
    };
    Ok(Run { reply, trace, breach })
}

/// What the script does otherwise than its contract with a call that this refuses: Lua does not run for that, so the
/// script is asked on a fork.
fn own_answer(
    engine: &Engine,
    client: &Client,
    argv: &[Vec<u8>],
    refusal: &[u8],
) -> Result<Option<String>, moonkeep::Error> {
    let engine = engine.fork()?;
    let before = engine.state_hash()?;
    let mut reply = Reply::new();
    trace::in_database_of(client, &engine)?.call_into(argv, &mut reply)?;
    Ok(match reply.error_message() {
        Some(text) if text == refusal => {
            (engine.state_hash()? != before).then(|| "writes before it refuses".to_owned())
        }
        Some(text) => Some(format!("replies (error) {}", String::from_utf8_lossy(text))),
        None => Some(format!("replies {}", Json::reply(reply.view()))),
    })
}
