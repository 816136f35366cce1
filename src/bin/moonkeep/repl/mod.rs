//! `moonkeep repl`: commands typed at a prompt, or read from a pipe, on one engine whose clock stands until it is moved.
//! `session` runs a line, `colon` is what moonkeep adds to Redis, `editor` the prompt, `complete` and `expect` what it
//! offers.

mod colon;
mod complete;
mod editor;
mod expect;
mod help;
mod nearest;
mod session;

use crate::setting::{Setting, setting_help};
use crate::statements::Statements;
use crate::{Refusal, Word, next_word, print, print_to_reader};
use session::{Answer, Look, Session};
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const HELP: &str = concat!(
    "\
Type Redis commands at a prompt, on a keyspace of its own in this process.

Usage: moonkeep repl [OPTIONS]

What sets the keyspace up is done in the order given:
",
    setting_help!(),
    "
How it looks:
  --history FILE      keep what was typed in this file (else it is forgotten at the end)
  --raw               show replies as redis-cli does in a pipe
  -h, --help          this text

At the prompt, tab completes commands, options, keys and names; what may follow stands in grey. A line whose quotes are
open goes on in the next one, so a Lua script can be typed. \"help SET\" and \"help @string\" tell about Redis's commands;
:help lists moonkeep's own: :advance 5s, :snapshot, :diff, :restore, :eval FILE, :trace on and more. Ctrl-C drops the
line, Ctrl-D leaves. A command that waits, as BLPOP, lets its timeout pass on the clock.

When standard input is no terminal, its lines are run without a prompt; replies go to standard output as on a terminal,
what moonkeep itself has to say to standard error. Exit status: 0, or 1 when a line failed (redis-cli gives 0), or 2
when moonkeep was not called rightly or the set-up failed; at a terminal 0.

Examples:
  moonkeep repl --do 'SET stock:{p1} 10'
  printf 'SET lock me PX 5000\\n:advance 6s\\nGET lock\\n' | moonkeep repl
"
);

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let (mut setting, mut look, mut history) = (Setting::default(), Look::default(), None::<PathBuf>);
    while let Some(word) = next_word(parser)? {
        match word {
            Word::Option(option) => match option.as_str() {
                "--raw" => look.raw = true,
                "--history" => history = Some(parser.value()?.into()),
                "--help" | "-h" => {
                    print(HELP.as_bytes())?;
                    return Ok(ExitCode::SUCCESS);
                }
                option if setting.take(option, parser)? => {}
                option => {
                    return Err(Refusal(format!("invalid option '{option}'; see moonkeep repl --help")));
                }
            },
            Word::Value(word) => {
                return Err(Refusal(format!(
                    "repl takes options only, not {word:?}; to run a file of commands: --setup FILE, or < FILE"
                )));
            }
        }
    }
    let at_terminal = std::io::stdin().is_terminal();
    look.styled = at_terminal && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut session = Session::new(setting, look)?;
    if at_terminal {
        editor::run(&mut session, history.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let failed = read_pipe(&mut session)?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the lines of standard input as they come; whether one failed.
fn read_pipe(session: &mut Session) -> Result<bool, Refusal> {
    let mut input = std::io::stdin().lock();
    let mut statements = Statements::default();
    let mut failed = false;
    loop {
        let mut line = Vec::new();
        let is_over = input.read_until(b'\n', &mut line)? == 0;
        let statement = if is_over {
            std::mem::take(&mut statements).finish()
        } else {
            statements.push(line.strip_suffix(b"\n").unwrap_or(&line))
        };
        if let Some(statement) = statement {
            let mut answer = session.run(&statement.text);
            let line = statement.line;
            answer.notes.iter_mut().for_each(|note| *note = format!("line {line}: {note}"));
            let is_read = show(&answer)?;
            failed |= answer.failed;
            if answer.ends || !is_read {
                return Ok(failed);
            }
        }
        if is_over {
            return Ok(failed);
        }
    }
}

/// Shows an answer; false when nobody reads it any more.
fn show(answer: &Answer) -> Result<bool, Refusal> {
    let is_read = print_to_reader(&answer.out)?;
    for note in &answer.notes {
        tell!("moonkeep: {note}");
    }
    Ok(is_read)
}
