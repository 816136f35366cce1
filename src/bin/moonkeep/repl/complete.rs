//! What may stand where the cursor is: names of commands, subcommands and tokens from the rows, keys from the
//! keyspace, names of snapshots. Files are left to the editor. Changes nothing: keys are read from a fork.

use super::{colon, expect, help};
use crate::statements::{Parsed, parse};
use moonkeep::command::table::Row;
use moonkeep::command::usage::{self, Argument, Kind};
use moonkeep::util::words::{quote_word, split_words};
use moonkeep::{Engine, commands};

/// What completion may look at.
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) db: u32,
    pub(super) snapshots: Vec<String>,
}

/// What may be put in place of the text from `start` to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Completion {
    Words {
        start: usize,
        words: Vec<String>,
    },
    /// The name of a file.
    File,
}

/// More keys than this are not offered.
const KEYS_MAX: usize = 200;
/// Longer lines hold scripts: nothing is offered there.
const LINE_MAX: usize = 4096;

/// What may stand at the end of the line, which ends at the cursor.
pub(super) fn complete(line: &str, world: &World) -> Completion {
    let none = Completion::Words { start: line.len(), words: Vec::new() };
    let Some((before, start)) = cut(line).filter(|_| line.len() <= LINE_MAX) else { return none };
    let partial = &line[start..];
    let words = match before.split_first() {
        None if partial.starts_with(':') => starting(partial, colon::ALL.iter().map(|colon| colon.name)),
        None => starting(partial, names().chain(["help", "quit", "clear"])),
        Some((first, rest)) => match first.to_ascii_lowercase().as_slice() {
            b":eval" | b":check" | b":source" if rest.is_empty() => return Completion::File,
            b":trace" if matches!(rest, [one] if matches!(one.as_slice(), b":eval" | b":check")) => {
                return Completion::File;
            }
            [b':', ..] => after_colon(&String::from_utf8_lossy(first), rest, partial, world),
            b"help" | b"?" => help_topics(rest, partial),
            _ => of_command(&before, partial, world),
        },
    };
    Completion::Words { start, words }
}

/// What may follow the line, to be shown behind the cursor; None when there is nothing to say.
pub(super) fn hint(line: &str) -> Option<String> {
    if line.len() > LINE_MAX {
        return None;
    }
    let words = split_words(line.as_bytes())?;
    let first = String::from_utf8_lossy(words.first()?).into_owned();
    let text = if first.starts_with(':') {
        colon::find(&first).filter(|_| words.len() == 1)?.usage.to_owned()
    } else {
        let (row, at) = row(&words)?;
        let arguments = usage::parse(row.spec.name, row.spec.usage).ok()?;
        if row.is_container() {
            "subcommand".to_owned()
        } else {
            usage::help(&expect::rest(&arguments, &words[at..])?)
        }
    };
    let space = if line.ends_with(' ') { "" } else { " " };
    (!text.is_empty()).then(|| format!("{space}{text}"))
}

/// The words before the one at the end, and where that one begins. None inside text that cannot be read.
fn cut(line: &str) -> Option<(Vec<Vec<u8>>, usize)> {
    let starts =
        line.char_indices().rev().filter(|(_, letter)| letter.is_ascii_whitespace()).map(|(at, _)| at + 1);
    starts.chain([0]).find_map(|start| match parse(&line.as_bytes()[..start]) {
        Parsed::Words(words) => Some((words, start)),
        Parsed::Open | Parsed::Malformed => None,
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    commands().commands().map(|row| row.spec.name)
}

/// The names that begin with the text, in its case.
fn starting<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let lower = text.chars().any(char::is_lowercase) || text.starts_with([':', '@']);
    let folded = text.to_lowercase();
    let matching = names.into_iter().filter(|name| name.to_lowercase().starts_with(&folded));
    let mut found: Vec<String> =
        matching.map(|name| if lower { name.to_lowercase() } else { name.to_uppercase() }).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn after_colon(name: &str, rest: &[Vec<u8>], partial: &str, world: &World) -> Vec<String> {
    let is_first = rest.is_empty();
    let fixed = match name {
        ":trace" if is_first => {
            let mut words = starting(partial, ["on", "off"]);
            words.extend(starting(partial, names()));
            words.extend(starting(partial, [":check", ":eval"]));
            return words;
        }
        ":trace" if rest[0].starts_with(b":") => return keys(partial, world),
        ":trace" => return of_command(rest, partial, world),
        ":restore" | ":diff" | ":snapshot" if is_first => {
            let names = world.snapshots.iter().filter(|name| name.starts_with(partial));
            return names.map(|name| quote_word(name.as_bytes())).collect();
        }
        ":eval" | ":check" => return keys(partial, world),
        ":help" => return starting(partial, colon::ALL.iter().map(|colon| colon.name)),
        ":journal" => ["on", "off"],
        ":resp" => ["2", "3"],
        ":prompt" => ["time", "plain"],
        _ => return Vec::new(),
    };
    let matching = fixed.into_iter().filter(|word| is_first && word.starts_with(partial));
    matching.map(str::to_owned).collect()
}

fn help_topics(rest: &[Vec<u8>], partial: &str) -> Vec<String> {
    match rest {
        [] if partial.starts_with('@') => {
            let groups: Vec<String> = help::groups().iter().map(|group| format!("@{group}")).collect();
            starting(partial, groups.iter().map(String::as_str))
        }
        [] => starting(partial, names()),
        [name] => subcommands(name, partial).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn subcommands(name: &[u8], partial: &str) -> Option<Vec<String>> {
    let row = commands().by_name(name).filter(|row| row.is_container())?;
    Some(starting(partial, commands().subcommands(row).filter_map(|row| row.spec.parts().1)))
}

/// The row of a command and where its arguments begin.
fn row(words: &[Vec<u8>]) -> Option<(&'static Row, usize)> {
    let row = commands().by_name(words.first()?)?;
    match words.get(1) {
        Some(subcommand) if row.is_container() => {
            let name = [row.spec.name.as_bytes(), b"|", subcommand].concat();
            Some((commands().by_name(&name)?, 2))
        }
        _ => Some((row, 1)),
    }
}

fn of_command(before: &[Vec<u8>], partial: &str, world: &World) -> Vec<String> {
    if let Some(names) =
        before.first().filter(|_| before.len() == 1).and_then(|name| subcommands(name, partial))
    {
        return names;
    }
    let Some((row, at)) = row(before) else { return Vec::new() };
    let Ok(arguments) = usage::parse(row.spec.name, row.spec.usage) else { return Vec::new() };
    let Some(rest) = expect::rest(&arguments, &before[at..]) else { return Vec::new() };
    let next: Vec<&Argument> = expect::next(&rest);
    let tokens = next.iter().filter_map(|argument| argument.token).filter(|token| !token.is_empty());
    let mut words = starting(partial, tokens);
    if next.iter().any(|argument| argument.token.is_none() && argument.kind == Kind::Key) {
        words.extend(keys(partial, world));
    }
    words
}

/// The keys that begin with the text, as they can be typed.
fn keys(partial: &str, world: &World) -> Vec<String> {
    let Some(prefix) = unquoted(partial) else { return Vec::new() };
    read_keys(&prefix, world).unwrap_or_default()
}

/// What a word stands for that may lack its closing quote.
fn unquoted(partial: &str) -> Option<Vec<u8>> {
    let closed = |end: &str| split_words(format!("{partial}{end}").as_bytes());
    let words = closed("").or_else(|| closed("\"")).or_else(|| closed("'"))?;
    match <[Vec<u8>; 1]>::try_from(words) {
        Ok([word]) => Some(word),
        Err(words) => words.is_empty().then(Vec::new),
    }
}

fn read_keys(prefix: &[u8], world: &World) -> Result<Vec<String>, moonkeep::Error> {
    let mut client = world.engine.fork()?.try_client()?;
    client.call(["SELECT", &world.db.to_string()])?;
    let mut pattern = Vec::new();
    for &byte in prefix {
        if b"*?[]^-\\".contains(&byte) {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
    pattern.push(b'*');
    let mut cursor = b"0".to_vec();
    let mut found: Vec<Vec<u8>> = Vec::new();
    loop {
        let page: (Vec<u8>, Vec<Vec<u8>>) =
            client.query([&b"SCAN"[..], &cursor, b"MATCH", &pattern, b"COUNT", b"1000"])?;
        found.extend(page.1);
        cursor = page.0;
        if cursor == b"0" || found.len() >= KEYS_MAX {
            break;
        }
    }
    found.sort_unstable();
    found.truncate(KEYS_MAX);
    Ok(found.iter().map(|key| quote_word(key)).collect())
}
