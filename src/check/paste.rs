//! Calls as text: the block of lines that a file of regressions holds, and the command that repeats one in a terminal.

use super::report::Repeat;
use super::{CheckFailure, MissedLine};
use crate::contract::{Input, Rule};
use crate::util::words::{join_words, quote_word, split_words};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A text that is no [`Input`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {told}")]
pub struct InputError {
    line: usize,
    told: String,
}

impl InputError {
    /// The line of the mistake, from 1 on.
    pub fn line(&self) -> usize {
        self.line
    }
}

/// The set-up, a command a line; how far the clock moves; the number of keys, the keys and the arguments. It reads back.
///
/// ```
/// let text = "SET {k}lock mine\nadvance 1000 ms\ncall 1 {k}lock \"not mine\"";
/// let input: moonkeep::Input = text.parse()?;
/// assert_eq!(input.args, [b"not mine"]);
/// assert_eq!(input.to_string(), text);
/// # Ok::<(), moonkeep::InputError>(())
/// ```
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for command in &self.setup {
            writeln!(f, "{}", join_words(command))?;
        }
        match self.advance_us {
            0 => writeln!(f, "advance {} ms", self.advance_ms)?,
            us => writeln!(f, "advance {} ms {us} us", self.advance_ms)?,
        }
        write!(f, "call {}", self.keys.len())?;
        self.keys.iter().chain(&self.args).try_for_each(|word| write!(f, " {}", quote_word(word)))
    }
}

impl FromStr for Input {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let mut input = Input::default();
        let mut is_called = false;
        for (line, number) in text.lines().zip(1..) {
            // A remark may hold any text, quotes too.
            if is_remark(line) {
                continue;
            }
            let wrong = |told: &str| InputError { line: number, told: told.to_owned() };
            let words = split_words(line.as_bytes()).ok_or_else(|| wrong("a quote is not closed"))?;
            let first: &[u8] = words.first().map_or(b"", Vec::as_slice);
            match first {
                _ if is_called => return Err(wrong("nothing follows the call")),
                b"advance" => {
                    let told = || wrong("it is advance N ms, or advance N ms N us with less than 1000");
                    input.advance_ms = number_at(&words, 1).ok_or_else(told)?;
                    if words.len() > 3 {
                        let us = number_at(&words, 3).filter(|us| *us < 1000);
                        input.advance_us = us.ok_or_else(told)?;
                    }
                }
                b"call" => {
                    is_called = true;
                    let keys = number_at(&words, 1).and_then(|keys| usize::try_from(keys).ok());
                    let keys = keys.filter(|keys| *keys <= words.len() - 2);
                    let keys = keys.ok_or_else(|| wrong("it is call NUMKEYS KEY... ARG..."))?;
                    input.keys = words[2..2 + keys].to_vec();
                    input.args = words[2 + keys..].to_vec();
                }
                _ => input.setup.push(words),
            }
        }
        let lines = text.lines().count();
        if is_called { Ok(input) } else { Err(InputError { line: lines, told: "a call is missing".into() }) }
    }
}

/// Whether a line says nothing of the call.
fn is_remark(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

fn number_at(words: &[Vec<u8>], at: usize) -> Option<u64> {
    std::str::from_utf8(words.get(at)?).ok()?.parse().ok()
}

impl CheckFailure {
    /// The command that repeats the call in a terminal, for a script in this file.
    ///
    /// ```
    /// use moonkeep::{CheckOptions, Contract, Script};
    /// let source = include_str!("../../lua/decrease_stock.lua");
    /// let broken = Script::new(source.replace("stock < quantity", "stock <= quantity"));
    /// let report = Contract::parse(source)?.check(&broken, &CheckOptions::new())?;
    /// let command = report.failures()[0].command("decrease_stock.lua");
    /// assert_eq!(command, "moonkeep eval --do 'SET {k}stock 1' --checked decrease_stock.lua '{k}stock' , 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// What a single run does not show, or a terminal does not take, is repeated by the check that found it.
    pub fn command(&self, script: impl AsRef<Path>) -> String {
        let script = script.as_ref();
        let Repeat { seed, runs, work, by_chance } = self.repeat;
        let is_seen = !by_chance && !matches!(self.rule(), Rule::Determinism | Rule::Replication);
        let options = if self.rule() == Rule::End { format!(" --work {work}") } else { String::new() };
        if let Some(command) = self.input().command(script, &options, true).filter(|_| is_seen) {
            return command;
        }
        let mut command = "moonkeep check".to_owned();
        // A call of the file of regressions is made first.
        command += if runs.is_some() { " --no-regressions" } else { "" };
        if seed != 0 {
            command += &format!(" --seed {seed}");
        }
        command += &format!(" --runs {}{options} {}", runs.unwrap_or(1), shell_path(script));
        command
    }
}

impl MissedLine {
    /// The command that makes the call that came nearest, for a script in this file; none where it is too long for a
    /// terminal.
    pub fn command(&self, script: impl AsRef<Path>) -> Option<String> {
        self.nearest.as_ref()?.command(script.as_ref(), "", false)
    }
}

impl Input {
    /// The command that makes the call in a terminal, held to the contract or not; none where a word is longer than a
    /// system takes.
    fn command(&self, script: &Path, options: &str, checked: bool) -> Option<String> {
        let Input { setup, advance_ms, advance_us, keys, args } = self;
        let mut command = format!("moonkeep eval{options}");
        let setup: Vec<String> = setup.iter().map(|words| join_words(words)).collect();
        for words in &setup {
            command += &format!(" --do {}", shell_word(words));
        }
        if *advance_us > 0 {
            command += &format!(" --advance {}us", self.advance().as_micros());
        } else if *advance_ms > 0 {
            command += &format!(" --advance {advance_ms}ms");
        }
        let is_text =
            |word: &Vec<u8>| !word.is_empty() && word.iter().all(|byte| (b' '..=b'~').contains(byte));
        let is_quoted = !keys.iter().all(is_text) || !args.iter().all(|arg| arg.is_empty() || is_text(arg));
        let is_quoted = is_quoted || keys.iter().any(|key| key == b",");
        command += if checked { " --checked" } else { "" };
        command += if is_quoted { " --quoted" } else { "" };
        command += &format!(" {}", shell_path(script));
        let written = |word: &Vec<u8>| match word.as_slice() {
            b"," if is_quoted => "\",\"".to_owned(),
            word if is_quoted => quote_word(word),
            word => String::from_utf8_lossy(word).into_owned(),
        };
        let [keys, args] = [keys, args].map(|words| words.iter().map(written).collect::<Vec<String>>());
        keys.iter().for_each(|key| command += &format!(" {}", shell_word(key)));
        command += " ,";
        args.iter().for_each(|arg| command += &format!(" {}", shell_word(arg)));
        let is_long = setup.iter().chain(&keys).chain(&args).any(|word| word.len() > WORD_MOST);
        (!is_long && command.len() <= COMMAND_MOST).then_some(command)
    }
}

/// What Linux takes for one word of a command, and a little less than it takes for all.
const WORD_MOST: usize = 128 * 1024 - 1;
const COMMAND_MOST: usize = 1_500_000;

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:,=+@%".contains(&byte);
    // Of what begins with =, a shell may look for a program of that name.
    if !word.is_empty() && !word.starts_with('=') && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().any(char::is_control) {
        return escaped_word(word.as_bytes());
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The path of a file as a shell takes it: it is no option, and shows no bytes that a terminal obeys.
fn shell_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = if bytes.starts_with(b"-") { [b"./", bytes].concat() } else { bytes.to_vec() };
    match std::str::from_utf8(&bytes) {
        Ok(text) => shell_word(text),
        Err(_) => escaped_word(&bytes),
    }
}

/// Any bytes, in the quotes of bash and zsh that have escapes.
fn escaped_word(word: &[u8]) -> String {
    let shown = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        // In octal: three digits and no more, so that a digit may follow.
        byte => format!("\\{byte:03o}"),
    };
    format!("$'{}'", word.iter().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, told) in [
            ("SET k v\nadvance 5 ms", "line 2: a call is missing"),
            ("advance x ms\ncall 0", "line 1: it is advance N ms, or advance N ms N us with less than 1000"),
            ("# first\ncall 2 a", "line 2: it is call NUMKEYS KEY... ARG..."),
            ("SET k \"v\ncall 0", "line 1: a quote is not closed"),
            ("call 0\nSET k v", "line 2: nothing follows the call"),
            ("# it's {\"f\": \"1\"}\n  # 'so\ncall", "line 3: it is call NUMKEYS KEY... ARG..."),
        ] {
            assert_eq!(text.parse::<Input>().expect_err(text).to_string(), told);
        }
    }

    #[test]
    fn words_of_a_shell() {
        assert_eq!(["a:b", "", "{k}", "it's"].map(shell_word), ["a:b", "''", "'{k}'", "'it'\\''s'"]);
        assert_eq!(["=x", "\u{1b}[31m'", "ю"].map(shell_word), ["'=x'", "$'\\033[31m\\''", "'ю'"]);
    }

    #[test]
    fn paths_of_a_shell() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes: &'static [u8]| shell_path(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(path(b"-dash.lua"), "./-dash.lua");
        assert_eq!(path(b"a/-dash.lua"), "a/-dash.lua");
        assert_eq!(path(b"\xff1.lua"), "$'\\3771.lua'");
        assert_eq!(path(b"a\x1b[31m.lua"), "$'a\\033[31m.lua'");
    }

    #[test]
    fn a_call_that_no_terminal_takes_has_no_command() {
        let call = |length: usize| {
            let input: Input = format!("call 0 {}", "x".repeat(length)).parse().expect("an input");
            input.command(Path::new("a.lua"), "", true).is_some()
        };
        assert_eq!([call(WORD_MOST), call(WORD_MOST + 1)], [true, false]);
    }
}
