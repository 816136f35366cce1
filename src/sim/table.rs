//! A schedule for people: a step a line, a column a client, the watched keys beside it.

use std::fmt;

use super::desk::Request;
use super::run::{Run, Spot};
use super::world::Shown;
use super::{Action, Failure};
use crate::engine::Engine;
use crate::engine::explored::Glance;
use crate::error::Error;
use crate::reply::{Items, ReplyRef};
use crate::util::words::quote_word;

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The time in Unix milliseconds.
    pub at_ms: i64,
    /// Whose step it is, by its place among the clients; none when time passed.
    pub actor: Option<usize>,
    /// What was done, and what came of it.
    pub text: String,
    /// What the client remarked.
    pub note: Option<String>,
    /// What the watched keys hold behind it.
    pub state: Vec<String>,
}

/// The words of a command on a line.
pub(super) fn words_text(words: &[&[u8]]) -> String {
    words.iter().map(|word| shortened(&quote_word(word))).collect::<Vec<_>>().join(" ")
}

/// A long word, as the text of a script, by its beginning.
fn shortened(word: &str) -> String {
    const MOST: usize = 40;
    if word.chars().count() <= MOST {
        word.to_owned()
    } else {
        word.chars().take(MOST).chain("…".chars()).collect()
    }
}

/// A reply on a line.
pub(super) fn answer_text(reply: &ReplyRef<'_>) -> String {
    let list = |items: &Items<'_>| items.map(|item| answer_text(&item)).collect::<Vec<_>>().join(", ");
    match reply {
        ReplyRef::Int(n) => n.to_string(),
        ReplyRef::Status(text) => String::from_utf8_lossy(text).into_owned(),
        ReplyRef::Nil | ReplyRef::NilArray => "nil".into(),
        ReplyRef::Array(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => format!("[{}]", list(items)),
        ReplyRef::Map(items) | ReplyRef::Attribute(items) => format!("{{{}}}", list(items)),
        other => other.to_string(),
    }
}

/// What a client asks for, on a line; of another engine than the first with its name.
pub(super) fn request_text(request: Option<&Request>, places: &[Spot]) -> String {
    match request {
        Some(Request::Call { node, words }) => {
            let words = words.with(words_text);
            match places.get(*node) {
                Some(place) if *node > 0 => format!("{}: {words}", place.name),
                _ => words,
            }
        }
        Some(Request::Store(op)) => op.to_string(),
        Some(Request::Sleep(until)) => format!("waking up at {until} ms"),
        None => "its next call".into(),
    }
}

/// The head of a column.
pub(super) fn shown_name(shown: &Shown, places: &[Spot]) -> String {
    match shown {
        Shown::Key { node: 0, key } => String::from_utf8_lossy(key).into_owned(),
        Shown::Key { node, key } => format!("{} on {}", String::from_utf8_lossy(key), places[*node].name),
        Shown::Row { table, key } => format!("{table} {key}"),
    }
}

/// What a key or a row holds, on a line.
pub(super) fn state_text(run: &Run, shown: &Shown) -> Result<String, Error> {
    match shown {
        Shown::Key { node, key } => key_text(&run.places[*node].engine, key),
        Shown::Row { table, key } => {
            let row = run.tables.rows(table).find(|(other, _)| *other == key);
            Ok(row.map_or_else(|| "-".into(), |(_, row)| row.to_string()))
        }
    }
}

fn key_text(engine: &Engine, key: &[u8]) -> Result<String, Error> {
    let read: &[&[u8]] = match engine.glance(key)? {
        None => return Ok("-".into()),
        Some(Glance::Text(text)) => return Ok(shortened(&quote_word(&text))),
        Some(Glance::Other("list")) => &[b"LRANGE", key, b"0", b"-1"],
        Some(Glance::Other("set")) => &[b"SMEMBERS", key],
        Some(Glance::Other("zset")) => &[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"],
        Some(Glance::Other("hash")) => &[b"HGETALL", key],
        Some(Glance::Other("stream")) => &[b"XRANGE", key, b"-", b"+"],
        Some(Glance::Other(_)) => return Ok("-".into()),
    };
    // Read in a copy: that somebody looks is no part of the schedule.
    let reply = engine.fork()?.try_client()?.call(read)?;
    Ok(shortened(&answer_text(&reply.view())))
}

/// What would break a line or a column of the table stands escaped.
fn one_line(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', "\\n").replace('\r', "\\r")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["#".to_owned(), "ms".to_owned()].into_iter();
        let mut lines = vec![head.chain(self.names.clone()).chain(self.keys.clone()).collect::<Vec<_>>()];
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = vec![(at + 1).to_string(), row.at_ms.to_string()];
            let note = row.note.as_ref().map_or(String::new(), |note| format!("; {note}"));
            for column in 0..self.names.len() {
                let is_there = row.actor.unwrap_or(0) == column;
                line.push(if is_there { one_line(&format!("{}{note}", row.text)) } else { String::new() });
            }
            line.extend(row.state.iter().map(|held| one_line(held)));
            lines.push(line);
        }
        let columns = lines[0].len();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (at, line) in lines.iter().enumerate() {
            let cells: Vec<String> =
                line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "| {} |", cells.join(" | "))?;
            if at == 0 {
                writeln!(
                    f,
                    "|{}|",
                    widths.iter().map(|width| "-".repeat(width + 2)).collect::<Vec<_>>().join("|")
                )?;
            }
        }
        write!(f, "violated: {}\nreplay: {}", self.why, self.replay)
    }
}

/// The replay string of a schedule: who took each step, `!` behind who met which fault, `@` before a moment or an engine
/// whose clock jumped.
pub(super) fn replay_text(actions: &[Action], run: &Run) -> String {
    let text = |action: &Action| match *action {
        Action::Step(index) => run.names[index].clone(),
        Action::LoseReply(index) => format!("{}!reply", run.names[index]),
        Action::LoseRequest(index) => format!("{}!request", run.names[index]),
        Action::Crash(index) => format!("{}!crash", run.names[index]),
        Action::Time(moment_ms) => format!("@{moment_ms}"),
        Action::Jump { node, by_ms } => format!("@{}+{by_ms}", run.places[node].name),
        Action::Restart(node) => format!("{}!restart", run.places[node].name),
    };
    actions.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Reads one word of a replay string.
pub(super) fn parse_action(word: &str, run: &Run) -> Result<Action, Error> {
    let milliseconds = |text: &str| {
        text.parse::<i64>().map_err(|_| Error::usage(format!("{word:?} has no number of milliseconds")))
    };
    let node_of = |name: &str| match run.places.iter().position(|place| place.name == name) {
        Some(node) => Ok(node),
        None => Err(Error::usage(format!("no engine is named {name:?}"))),
    };
    if let Some(moment) = word.strip_prefix('@') {
        return match moment.rsplit_once('+') {
            Some((name, by_ms)) => Ok(Action::Jump { node: node_of(name)?, by_ms: milliseconds(by_ms)? }),
            None => milliseconds(moment).map(Action::Time),
        };
    }
    let (name, fault) = word.split_once('!').unwrap_or((word, ""));
    if fault == "restart" {
        return node_of(name).map(Action::Restart);
    }
    let Some(index) = run.names.iter().position(|other| other == name) else {
        let text = format!("no client is named {name:?}; there are: {}", run.names.join(", "));
        return Err(Error::usage(text));
    };
    match fault {
        "" => Ok(Action::Step(index)),
        "reply" => Ok(Action::LoseReply(index)),
        "request" => Ok(Action::LoseRequest(index)),
        "crash" => Ok(Action::Crash(index)),
        _ => Err(Error::usage(format!("{fault:?} is no fault: one of reply, request, crash, restart"))),
    }
}
