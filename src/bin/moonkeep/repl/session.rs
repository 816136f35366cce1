//! What a session with the prompt holds, and what one line does to it. It prints nothing itself: each line gives an
//! answer, so that the prompt, a pipe and the tests see the same.

use super::nearest::nearest;
use super::{colon, help};
use crate::Refusal;
use crate::scripts::{self, Run};
use crate::setting::Setting;
use crate::statements::{self, Statements};
use crate::time::shown_clock;
use moonkeep::{Client, Engine, Journal, Reply, ReplyRef, Snapshot, commands};
use std::collections::BTreeMap;

/// What a line gave.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// For standard output.
    pub(super) out: Vec<u8>,
    /// For standard error, a line each.
    pub(super) notes: Vec<String>,
    /// An error reply, or a line that moonkeep could not take.
    pub(super) failed: bool,
    /// The session is over.
    pub(super) ends: bool,
}

impl Answer {
    pub(super) fn text(text: impl Into<Vec<u8>>) -> Answer {
        let mut out = text.into();
        if !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        Answer { out, ..Answer::default() }
    }
    fn note(text: String) -> Answer {
        Answer { notes: vec![text], failed: true, ..Answer::default() }
    }
    pub(super) fn add(&mut self, other: Answer) {
        self.out.extend(other.out);
        self.notes.extend(other.notes);
        self.failed |= other.failed;
        self.ends |= other.ends;
    }
}

/// The text of an error that moonkeep tells.
pub(super) type Told = Result<Answer, String>;

/// How a session shows what it says.
#[derive(Clone, Copy, Default)]
pub(super) struct Look {
    /// Replies as redis-cli shows them in a pipe.
    pub(super) raw: bool,
    /// With the styles of a terminal.
    pub(super) styled: bool,
}

/// A session.
pub(super) struct Session {
    setting: Setting,
    look: Look,
    pub(super) engine: Engine,
    pub(super) client: Client,
    /// While changes are shown.
    pub(super) journal: Option<Journal>,
    /// Whether the calls of scripts are shown.
    pub(super) traces: bool,
    pub(super) snapshots: BTreeMap<String, Snapshot>,
    /// The last snapshot taken or gone back to; at first that of the beginning.
    pub(super) last: Snapshot,
    pub(super) timed_prompt: bool,
    /// How many files are being read, one from the other.
    pub(super) sources: usize,
}

impl Session {
    pub(super) fn new(setting: Setting, look: Look) -> Result<Session, Refusal> {
        let engine = setting.engine();
        let mut client = engine.try_client()?;
        setting.prepare(&engine, &mut client)?;
        let last = engine.snapshot()?;
        let snapshots = BTreeMap::new();
        Ok(Session {
            setting,
            look,
            engine,
            client,
            journal: None,
            traces: false,
            snapshots,
            last,
            timed_prompt: false,
            sources: 0,
        })
    }

    /// Begins again as the options told, with this seed if there is one. Named snapshots stay.
    pub(super) fn begin_again(&mut self, seed: Option<u64>) -> Result<(), String> {
        self.setting.seed = seed.unwrap_or(self.setting.seed);
        let engine = self.setting.engine();
        let begin = || -> Result<(Client, Snapshot, Option<Journal>), Refusal> {
            let mut client = engine.try_client()?;
            self.setting.prepare(&engine, &mut client)?;
            let journal = self.journal.as_ref().map(|_| engine.subscribe_journal()).transpose()?;
            Ok((client, engine.snapshot()?, journal))
        };
        let (client, last, journal) = begin().map_err(|refusal| refusal.0)?;
        (self.engine, self.client, self.last, self.journal) = (engine, client, last, journal);
        Ok(())
    }

    pub(super) fn seed(&self) -> u64 {
        self.setting.seed
    }

    /// `moonkeep[1](TX)> `, as redis-cli shows database and transaction.
    pub(super) fn prompt(&self) -> String {
        let db = match self.client.database() {
            Ok(db @ 1..) => format!("[{db}]"),
            _ => String::new(),
        };
        let transaction = if self.client.in_transaction() == Ok(true) { "(TX)" } else { "" };
        let time = match self.engine.now_ms() {
            Ok(now_ms) if self.timed_prompt => format!(" {}", shown_clock(now_ms)),
            _ => String::new(),
        };
        format!("moonkeep{time}{db}{transaction}> ")
    }

    /// Runs all commands of a text; what moonkeep tells of one names its line when the text has a name.
    pub(super) fn run_text(&mut self, text: &[u8], name: Option<&str>) -> Answer {
        let mut answer = Answer::default();
        for statement in Statements::of(text) {
            let mut one = self.run(&statement.text);
            if let Some(name) = name {
                one.notes.iter_mut().for_each(|note| *note = format!("{name}:{}: {note}", statement.line));
            }
            answer.add(one);
            if answer.ends {
                break;
            }
        }
        answer
    }

    /// Runs one command, Redis's or moonkeep's.
    pub(super) fn run(&mut self, text: &[u8]) -> Answer {
        let words = match statements::words(text) {
            Ok(words) => words,
            Err(what) => return Answer::note(what.to_owned()),
        };
        let Some((first, rest)) = words.split_first() else { return Answer::default() };
        let told = match first.to_ascii_lowercase().as_slice() {
            [b':', ..] => colon::run(self, &String::from_utf8_lossy(first), rest),
            b"help" | b"?" if rest.first().is_some_and(|word| word.starts_with(b":")) => {
                colon::run(self, ":help", rest)
            }
            b"help" | b"?" => help::help(rest, self.look.styled).map(Answer::text),
            b"quit" | b"exit" => Ok(Answer { ends: true, ..Answer::default() }),
            b"clear" if self.look.styled => {
                Ok(Answer { out: b"\x1b[H\x1b[2J".to_vec(), ..Answer::default() })
            }
            b"clear" => Ok(Answer::default()),
            _ => self.call(&words, self.traces),
        };
        let mut answer = told.unwrap_or_else(Answer::note);
        answer.out.extend(self.messages());
        match self.changes() {
            Ok(text) => answer.out.extend(text.into_bytes()),
            Err(text) => answer.add(Answer::note(text)),
        }
        answer
    }

    /// Runs a Redis command.
    pub(super) fn call(&mut self, words: &[Vec<u8>], traced: bool) -> Told {
        let called = scripts::run(&self.engine, &mut self.client, words, traced);
        let hint = called.as_ref().ok().and_then(|run| hint(&run.reply, words));
        let mut answer = self.told(called)?;
        answer.notes.extend(hint);
        Ok(answer)
    }

    /// What a run of a command or a script gave.
    pub(super) fn told(&mut self, called: Result<Run, moonkeep::Error>) -> Told {
        let run = match called {
            Ok(run) => run,
            Err(error) if error.is_closed() => {
                self.client = self.engine.try_client().map_err(|error| error.to_string())?;
                return Err("the session had ended; a new one is open now, in database 0: call again".into());
            }
            Err(error) if error.is_would_block() => {
                return Err("the command would wait for ever: nobody else is here to serve it; with a timeout, that passes on the clock".into());
            }
            Err(error) => return Err(error.to_string()),
        };
        let mut answer = Answer::default();
        if let Some(trace) = run.trace.filter(|trace| trace.instructions > 0) {
            answer.out = trace.lines().into_bytes();
        }
        answer.add(self.shown(&run.reply)?);
        answer.failed |= run.breach.is_some();
        answer.notes.extend(run.breach);
        Ok(answer)
    }

    /// A reply as redis-cli shows it; texts for people (INFO, CLIENT LIST) stand as they are.
    fn shown(&self, reply: &Reply) -> Told {
        if reply.values().len() == 0 {
            return Ok(Answer::default());
        }
        let failed = reply.is_error();
        let received = reply.received(self.client.protocol().map_err(|error| error.to_string())?);
        let out = match reply.view() {
            ReplyRef::Verbatim(_, text) => text.to_vec(),
            _ if self.look.raw => [&received.to_raw()[..], b"\n"].concat(),
            _ => received.to_string().into_bytes(),
        };
        Ok(Answer { failed, ..Answer::text(out) })
    }

    /// What was published to the session since the last call, as redis-cli shows it.
    fn messages(&mut self) -> Vec<u8> {
        let mut shown = Vec::new();
        while let Ok(Some(message)) = self.client.try_next_message() {
            let text =
                if self.look.raw { message.to_reply().to_raw() } else { message.to_string().into_bytes() };
            shown.extend_from_slice(&text);
            shown.push(b'\n');
        }
        shown
    }

    /// What was changed since the last call, while that is shown.
    fn changes(&self) -> Result<String, String> {
        let Some(journal) = &self.journal else { return Ok(String::new()) };
        let entries = journal.take().map_err(|error| error.to_string())?;
        Ok(entries.iter().map(|entry| format!("changed: {entry}\n")).collect())
    }
}

/// What may have been meant by a command that there is not.
fn hint(reply: &Reply, words: &[Vec<u8>]) -> Option<String> {
    let text = String::from_utf8_lossy(reply.error_message()?).into_owned();
    let (_, text) = text.split_once(' ')?;
    let lower = |word: &Vec<u8>| String::from_utf8_lossy(word).to_lowercase();
    let name = lower(words.first()?);
    let is_subcommand = text.starts_with("unknown subcommand");
    let wanted = match words.get(1) {
        Some(subcommand) if is_subcommand => format!("{name}|{}", lower(subcommand)),
        _ if text.starts_with("unknown command") => name.clone(),
        _ => return None,
    };
    let alike = |row: &&moonkeep::command::table::Row| match row.spec.parts() {
        (container, Some(_)) => is_subcommand && container == name,
        (_, None) => !is_subcommand,
    };
    let names = commands().rows().iter().filter(alike).map(|row| row.spec.name);
    Some(match nearest(&wanted, names) {
        Some(near) => format!("did you mean {}?", near.replace('|', " ").to_uppercase()),
        None if is_subcommand => format!("help {name} shows its subcommands"),
        None => "no command that runs here has a name like that; tab lists all".to_owned(),
    })
}
