//! The options that all commands of `moonkeep` share: at what time and with which seed an engine begins, and the steps
//! that set it up, in the order in which they were told.

use crate::statements::{self, Statements};
use crate::{Refusal, time};
use moonkeep::{Blocking, Builder, Client, Clock, Engine};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// The lines of the help about these options.
macro_rules! setting_help {
    () => {
        "\x20 --do CMD            run this command first, as in --do 'SET stock:{p1} 10'
  --setup FILE        run the commands of this file first: one a line, quoted as in redis-cli ('it\\'s', \"\\xff\\n\");
                      while a quote is open a command goes on in the next line; lines with # in front are comments
  --rdb FILE          begin with what a server has saved in this .rdb file, in place of all that is there
  --advance DURATION  move the clock on: 250us, 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds
  --now MS            the time at which all begins, in Unix milliseconds (default 1704067200000, 2024-01-01)
  --seed N            the seed of all randomness (default 0)
"
    };
}
pub(crate) use setting_help;

/// How an engine begins.
#[derive(Default)]
pub(crate) struct Setting {
    pub(crate) now_ms: Option<i64>,
    pub(crate) seed: u64,
    steps: Vec<Step>,
}

/// What is done before the work begins.
enum Step {
    Do(String),
    Setup(PathBuf),
    Rdb(PathBuf),
    Advance(Duration),
}

impl Setting {
    /// The options that [`take`](Self::take) knows.
    pub(crate) const OPTIONS: [&str; 6] = ["--do", "--setup", "--rdb", "--advance", "--now", "--seed"];

    /// Takes an option with its value; false when it is none of these.
    pub(crate) fn take(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<bool, Refusal> {
        match option {
            "--do" => self.steps.push(Step::Do(text(parser)?)),
            "--setup" => self.steps.push(Step::Setup(parser.value()?.into())),
            "--rdb" => self.steps.push(Step::Rdb(parser.value()?.into())),
            "--advance" => {
                let time = time::parse_duration(&text(parser)?, "--advance")?;
                self.steps.push(Step::Advance(time));
            }
            "--now" => self.now_ms = Some(number(parser, "--now takes Unix milliseconds")?),
            "--seed" => self.seed = number(parser, "--seed takes a number from 0 on")?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A clock that stands at the time of the beginning.
    pub(crate) fn clock(&self) -> Clock {
        self.now_ms.map_or_else(Clock::default, Clock::manual)
    }

    /// Whether the options say what time it is.
    pub(crate) fn is_timed(&self) -> bool {
        self.now_ms.is_some() || self.steps.iter().any(|step| matches!(step, Step::Advance(_)))
    }

    /// An engine that begins so, empty. It has one client, whom nobody else could serve: a command that waits (BLPOP)
    /// lets its timeout pass on the clock.
    pub(crate) fn engine(&self) -> Engine {
        self.builder().build()
    }

    /// The settings of that engine.
    pub(crate) fn builder(&self) -> Builder {
        Engine::builder().clock(self.clock()).seed(self.seed).blocking(Blocking::Advance)
    }

    /// Does the steps, in order; each must succeed.
    pub(crate) fn prepare(&self, engine: &Engine, client: &mut Client) -> Result<(), Refusal> {
        for step in &self.steps {
            match step {
                Step::Do(command) => {
                    let whose = format!("--do {command:?}");
                    if !run(client, command.as_bytes(), &whose)? {
                        return Err(Refusal(format!("{whose}: it needs a command, as in --do 'SET k v'")));
                    }
                }
                Step::Setup(path) => {
                    let text = std::fs::read(path)
                        .map_err(|error| Refusal(format!("cannot read the set-up {path:?}: {error}")))?;
                    for statement in Statements::of(&text) {
                        let whose = format!("{}:{}", path.display(), statement.line);
                        run(client, &statement.text, &whose)?;
                    }
                }
                Step::Rdb(path) => load(engine, path)?,
                Step::Advance(time) => engine.advance(*time)?,
            }
        }
        Ok(())
    }
}

/// Loads an `.rdb` file.
pub(crate) fn load(engine: &Engine, path: &Path) -> Result<(), Refusal> {
    let file = std::fs::read(path).map_err(|error| Refusal(format!("cannot read {path:?}: {error}")))?;
    engine.load_rdb(&file).map_err(|error| Refusal(format!("{}: {error}", path.display())))
}

/// Runs a command of the set-up; false when there is none.
fn run(client: &mut Client, command: &[u8], whose: &str) -> Result<bool, Refusal> {
    let words = statements::words(command).map_err(|what| Refusal(format!("{whose}: {what}")))?;
    match words.first() {
        None => return Ok(false),
        Some(first) if first.starts_with(b":") => {
            let first = String::from_utf8_lossy(first);
            return Err(Refusal(format!(
                "{whose}: {first} is a command of the prompt (moonkeep repl); --advance moves the clock here"
            )));
        }
        Some(_) => {}
    }
    client.call(&words).map_err(|error| Refusal(format!("{whose}: {error}")))?;
    Ok(true)
}

pub(crate) fn text(parser: &mut lexopt::Parser) -> Result<String, Refusal> {
    use lexopt::ValueExt;
    Ok(parser.value()?.string()?)
}

/// The value of an option that takes a number.
pub(crate) fn number<T: FromStr>(parser: &mut lexopt::Parser, takes: &str) -> Result<T, Refusal> {
    let word = parser.value()?.to_string_lossy().into_owned();
    word.parse().map_err(|_| Refusal(format!("{takes}, not {word:?}")))
}
