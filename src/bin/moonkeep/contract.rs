//! `moonkeep contract`: a first contract for a script that has none, for a person to finish.

use crate::scripts::Source;
use crate::{Refusal, Word, next_word, print};
use moonkeep::{Contract, Script};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const HELP: &str = "\
Print a draft of a contract for a script that has none, for a person to finish.

Usage: moonkeep contract SCRIPT > NAME.contract

  SCRIPT    the file with the script; - reads it from standard input

The script is read for its keys, arguments, names and errors, and run on states and arguments of many kinds: which
types its keys have, what it takes and where its bounds are, what it writes and removes, what it replies. What it does
need not be what it is meant to do: put the draft above the script, or beside it as NAME.contract, correct it, add cases
(lua/README.md tells how), and let moonkeep check find what is missing.

Exit status: 0, or 2 when the script has a contract, does not compile or cannot be read.
";

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let mut script: Option<PathBuf> = None;
    while let Some(word) = next_word(parser)? {
        match word {
            Word::Option(option) if option == "--help" || option == "-h" => {
                print(HELP.as_bytes())?;
                return Ok(ExitCode::SUCCESS);
            }
            Word::Option(option) => {
                return Err(Refusal(format!("invalid option '{option}'; see moonkeep contract --help")));
            }
            Word::Value(word) if script.is_none() => script = Some(word.into()),
            Word::Value(word) => return Err(Refusal(format!("contract takes one script, not {word:?} too"))),
        }
    }
    let Some(path) = script else {
        return Err(Refusal("contract needs the file of a script, see moonkeep contract --help".into()));
    };
    let name = path.file_stem().map_or_else(|| "script".into(), |name| name.to_string_lossy().into_owned());
    let source = Source::named(&path);
    let text = source.read()?;
    if Contract::is_in(&text) {
        return Err(Refusal(format!("{} has a contract already; moonkeep check tries it", path.display())));
    }
    // An empty one is what the shell makes of `> NAME.contract` before the draft is there.
    if let Some(beside) = source.contract_beside().filter(|path| is_filled(path)) {
        let (name, beside) = (path.display(), beside.display());
        return Err(Refusal(format!("{name} has a contract in {beside} already; moonkeep check tries it")));
    }
    let draft = Contract::draft(&name, &Script::new(&text))
        .map_err(|error| Refusal(format!("{}: {error}", path.display())))?;
    print(draft.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a file is there and something stands in it.
fn is_filled(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}
