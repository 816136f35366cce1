//! The `moonkeep` command: a thin caller of the library. Here: which of its commands runs, and how it prints and
//! refuses. `eval` runs one script, `check` holds scripts to their contracts, `contract` drafts one, `lint` looks at them,
//! `repl` is the prompt, `serve` a server, `explore` runs protocols, `parameters` what its configuration file says, `setting`
//! makes the engine that the options describe.

/// As `eprintln!`; that nobody reads it any more is no error.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod check;
mod contract;
mod eval;
mod explore;
mod json;
mod lint;
mod parameters;
mod profile;
mod repl;
mod scripts;
mod serve;
mod setting;
mod statements;
mod time;
mod trace;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
moonkeep: Redis commands and Lua scripts in process, on a clock that you hold

Usage:
  moonkeep eval [OPTIONS] SCRIPT [KEY...] , [ARG...]    run a script file, as redis-cli --eval does
  moonkeep check [OPTIONS] SCRIPT...                    find calls for which scripts break their contracts
  moonkeep contract SCRIPT                              draft a contract for a script that has none
  moonkeep lint [--json] SCRIPT...                      tell what is wrong with scripts before they run
  moonkeep repl [OPTIONS]                               type commands at a prompt, or pipe them in
  moonkeep serve [OPTIONS]                              serve Redis clients over TCP and unix sockets
  moonkeep explore [OPTIONS] FILE                       run a protocol of several clients under every schedule
  moonkeep help [eval|check|contract|lint|repl|serve|explore] | --help
  moonkeep version | --version

`moonkeep eval --help`, and so for each, tells more.
";

/// What went wrong before the work began, with what to do.
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
            tell!("moonkeep: {text}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Refusal> {
    let mut parser = lexopt::Parser::from_env();
    match next_word(&mut parser)? {
        None => print(HELP.as_bytes())?,
        Some(Word::Option(option)) => match option.as_str() {
            "--help" | "-h" => print(HELP.as_bytes())?,
            "--version" | "-V" => print(version().as_bytes())?,
            "--eval" => {
                return Err(Refusal(
                    "it is `moonkeep eval SCRIPT ...`, without the dashes of redis-cli".into(),
                ));
            }
            _ => return Err(Refusal(format!("invalid option '{option}'; see `moonkeep help`"))),
        },
        Some(Word::Value(word)) => match word.to_str() {
            Some("eval") => return eval::run(&mut parser),
            Some("check") => return check::run(&mut parser),
            Some("lint") => return lint::run(&mut parser),
            Some("contract") => return contract::run(&mut parser),
            Some("repl") => return repl::run(&mut parser),
            Some("serve") => return serve::run(&mut parser),
            Some("explore") => return explore::run(&mut parser),
            Some("help") => help(&mut parser)?,
            Some("version") => print(version().as_bytes())?,
            _ => return Err(no_command(&word)),
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn help(parser: &mut lexopt::Parser) -> Result<(), Refusal> {
    let text = match next_word(parser)? {
        Some(Word::Value(word)) if word == "eval" => eval::HELP,
        Some(Word::Value(word)) if word == "check" => check::HELP,
        Some(Word::Value(word)) if word == "lint" => lint::HELP,
        Some(Word::Value(word)) if word == "contract" => contract::HELP,
        Some(Word::Value(word)) if word == "repl" => repl::HELP,
        Some(Word::Value(word)) if word == "serve" => serve::HELP,
        Some(Word::Value(word)) if word == "explore" => explore::HELP,
        Some(Word::Value(word)) => return Err(no_command(&word)),
        _ => HELP,
    };
    print(text.as_bytes())
}

fn no_command(word: &OsString) -> Refusal {
    let word = word.to_string_lossy();
    Refusal(format!("there is no command {word:?}; `moonkeep help` lists them"))
}

fn version() -> String {
    format!("moonkeep {} (semantics of Redis 7.0.15)\n", env!("CARGO_PKG_VERSION"))
}

/// A word of the command line: an option by its name, dashes included, or another one.
enum Word {
    Option(String),
    Value(OsString),
}

fn next_word(parser: &mut lexopt::Parser) -> Result<Option<Word>, Refusal> {
    Ok(parser.next()?.map(|arg| match arg {
        lexopt::Arg::Long(name) => Word::Option(format!("--{name}")),
        lexopt::Arg::Short(name) => Word::Option(format!("-{name}")),
        lexopt::Arg::Value(word) => Word::Value(word),
    }))
}

/// Writes to standard output; a reader that went away is no error.
fn print(text: &[u8]) -> Result<(), Refusal> {
    print_to_reader(text).map(|_| ())
}

/// The same; false when the reader went away.
fn print_to_reader(text: &[u8]) -> Result<bool, Refusal> {
    let mut out = std::io::stdout();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Refusal(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(true),
    }
}

/// Text without what a terminal would obey.
fn harmless(text: &str) -> String {
    let shown = |letter: char| match letter.is_control() {
        true => format!("\\x{:02x}", u32::from(letter)),
        false => letter.to_string(),
    };
    text.chars().map(shown).collect()
}
