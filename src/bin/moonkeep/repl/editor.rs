//! The line editor: rustyline with the completion, the hints and the rule of open quotes that `complete` and
//! `statements` give. What a line does is in `session`.

use super::complete::{Completion, World, complete, hint};
use super::session::Session;
use crate::statements::{Parsed, parse};
use crate::{Refusal, print};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;

/// What rustyline asks.
pub(super) struct Assistant {
    pub(super) world: World,
    files: FilenameCompleter,
}

impl Assistant {
    pub(super) fn new(session: &Session) -> Assistant {
        Assistant { world: world(session), files: FilenameCompleter::new() }
    }
}

fn world(session: &Session) -> World {
    World {
        engine: session.engine.clone(),
        db: session.client.database().unwrap_or_default(),
        snapshots: session.snapshots.keys().cloned().collect(),
    }
}

impl Completer for Assistant {
    type Candidate = Pair;
    fn complete(
        &self,
        line: &str,
        pos: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        match complete(line.get(..pos).unwrap_or(line), &self.world) {
            Completion::File => self.files.complete(line, pos, context),
            Completion::Words { start, words } => {
                let pair = |word: String| Pair { display: word.clone(), replacement: format!("{word} ") };
                Ok((start, words.into_iter().map(pair).collect()))
            }
        }
    }
}

/// What stands in a new line below an open quote.
const OPEN: &str = "a quote is open, so the command goes on; Ctrl-C drops it";

impl Hinter for Assistant {
    type Hint = String;
    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<String> {
        if pos < line.len() {
            return None;
        }
        if line.ends_with('\n') && parse(line.as_bytes()) == Parsed::Open {
            return Some(OPEN.to_owned());
        }
        hint(line)
    }
}

impl Highlighter for Assistant {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        format!("\x1b[90m{hint}\x1b[0m").into()
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match parse(context.input().as_bytes()) {
            Parsed::Open => ValidationResult::Incomplete,
            Parsed::Words(_) | Parsed::Malformed => ValidationResult::Valid(None),
        })
    }
}

impl Helper for Assistant {}

/// Reads lines from the terminal until the end.
pub(super) fn run(session: &mut Session, history: Option<&Path>) -> Result<(), Refusal> {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant::new(session)));
    if let Some(path) = history {
        load(&mut editor, path)?;
    }
    print(b"moonkeep: type a command of Redis, \"help\", \":help\" or \"quit\"; the clock stands until :advance\n")?;
    loop {
        if let Some(assistant) = editor.helper_mut() {
            assistant.world = world(session);
        }
        let line = match editor.readline(&session.prompt()) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        let answer = session.run_text(line.as_bytes(), None);
        super::show(&answer)?;
        if answer.ends {
            break;
        }
    }
    match history {
        Some(path) => editor
            .save_history(path)
            .map_err(|error| Refusal(format!("cannot write the history {path:?}: {error}"))),
        None => Ok(()),
    }
}

fn load(editor: &mut Editor<Assistant, FileHistory>, path: &Path) -> Result<(), Refusal> {
    match editor.load_history(path) {
        Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Refusal(format!("cannot read the history {path:?}: {error}"))),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repl::session::Look;
    use crate::setting::Setting;
    use rustyline::history::{DefaultHistory, MemHistory};

    /// A session after these lines.
    fn session(lines: &[&str]) -> Session {
        let Ok(mut session) = Session::new(Setting::default(), Look::default()) else { panic!("a session") };
        for line in lines {
            let answer = session.run_text(line.as_bytes(), None);
            assert!(!answer.failed, "{line}: {answer:?}");
        }
        session
    }

    /// What tab offers at the end of the line, each as the whole line would be.
    fn offered(session: &Session, line: &str) -> Vec<String> {
        let (history, assistant) = (MemHistory::new(), Assistant::new(session));
        let (start, pairs) =
            assistant.complete(line, line.len(), &Context::new(&history)).expect("a completion");
        pairs.iter().map(|pair| format!("{}{}", &line[..start], pair.replacement)).collect()
    }

    fn hint_of(line: &str) -> Option<String> {
        Assistant::new(&session(&[])).hint(line, line.len(), &Context::new(&DefaultHistory::new()))
    }

    #[test]
    fn names_of_commands_are_completed_in_the_case_of_the_word() {
        let session = session(&[]);
        let cases: [(&str, &[&str]); 9] = [
            ("DECR", &["DECR ", "DECRBY "]),
            ("hgeta", &["hgetall "]),
            ("CONFIG G", &["CONFIG GET "]),
            ("client k", &["client kill "]),
            (":re", &[":reset ", ":resp ", ":restore "]),
            ("help @st", &["help @stream ", "help @string "]),
            ("help script f", &["help script flush "]),
            (":trace EVALSHA_", &[":trace EVALSHA_RO "]),
            ("nothing", &[]),
        ];
        for (line, wanted) in cases {
            assert_eq!(offered(&session, line), wanted, "{line}");
        }
    }

    #[test]
    fn options_are_completed_where_they_may_stand() {
        let session = session(&["SET EX 1"]);
        let cases: [(&str, &[&str]); 8] = [
            ("SET k v E", &["SET k v EX ", "SET k v EXAT "]),
            ("SET k v EX 5 ", &["SET k v EX 5 GET ", "SET k v EX 5 NX ", "SET k v EX 5 XX "]),
            ("SET k v EX 5 n", &["SET k v EX 5 nx "]),
            ("SET k ", &[]),
            ("SET k v EX ", &[]),
            ("SET E", &["SET EX "]),
            ("zadd z g", &["zadd z gt "]),
            ("ZADD z NX C", &["ZADD z NX CH "]),
        ];
        for (line, wanted) in cases {
            assert_eq!(offered(&session, line), wanted, "{line}");
        }
    }

    #[test]
    fn keys_are_completed_from_the_database_in_use() {
        let session = session(&[
            "MSET stock:{p1} 1 stock:{p2} 2 'two words' 3 a*c 4",
            "SET gone 1 PX 1",
            ":advance 2ms",
            "SELECT 1",
            "SET stock:other 1",
            "SELECT 0",
            ":snapshot before",
        ]);
        let cases: [(&str, &[&str]); 9] = [
            ("GET st", &["GET stock:{p1} ", "GET stock:{p2} "]),
            ("DEL x stock:{p2", &["DEL x stock:{p2} "]),
            ("GET \"two", &["GET \"two words\" "]),
            ("GET a*", &["GET a*c "]),
            ("GET g", &[]),
            ("EVAL \"return 1\" 1 stock:{p1", &["EVAL \"return 1\" 1 stock:{p1} "]),
            (":eval lua/unlock.lua stock:{p1", &[":eval lua/unlock.lua stock:{p1} "]),
            (":restore ", &[":restore before "]),
            (":journal o", &[":journal on ", ":journal off "]),
        ];
        for (line, wanted) in cases {
            assert_eq!(offered(&session, line), wanted, "{line}");
        }
        for command in [":eval", ":source", ":trace :eval"] {
            assert_eq!(
                offered(&session, &format!("{command} lua/unl")),
                [format!("{command} lua/unlock.lua")]
            );
        }
    }

    #[test]
    fn completing_changes_nothing() {
        let mut session = session(&["SET k v PX 5", "CONFIG RESETSTAT"]);
        let info = |session: &mut Session| session.run_text(b"INFO stats", None).out;
        let before = (session.engine.state_hash(), info(&mut session));
        session.run_text(b"CONFIG RESETSTAT", None);
        assert_eq!(offered(&session, "GET k"), ["GET k "]);
        assert_eq!((session.engine.state_hash(), info(&mut session)), before);
    }

    #[test]
    fn hints_say_what_may_follow() {
        let cases = [
            (
                "SET",
                Some(
                    " key value [NX|XX] [GET] [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]",
                ),
            ),
            (
                "SET k v GET NX ",
                Some(
                    "[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]",
                ),
            ),
            ("set k v ex", Some(" seconds [NX|XX] [GET]")),
            ("GET k", None),
            ("GET k more", None),
            ("MGET a", Some(" [key ...]")),
            ("CONFIG", Some(" subcommand")),
            ("CONFIG GET ", Some("parameter [parameter ...]")),
            (":advance ", Some("DURATION")),
            (":advance 5s", None),
            ("nothing", None),
            ("SET \"open", None),
            ("SET k it's\n", Some(OPEN)),
            ("SET k \"\n a", None),
            ("", None),
        ];
        for (line, wanted) in cases {
            assert_eq!(hint_of(line).as_deref(), wanted, "{line}");
        }
    }
}
