//! `moonkeep lint`: what is wrong with scripts before they run, one line a finding, or JSON.

use crate::json::Json;
use crate::scripts::Source;
use crate::{Refusal, Word, next_word, print};
use moonkeep::lint::{Finding, Rule, lint};
use std::process::ExitCode;

pub(crate) const HELP: &str = "\
Tell what is wrong with Lua scripts before they run.

Usage: moonkeep lint [--json] SCRIPT...

  SCRIPT      a file; - reads standard input
  --json      print a JSON list of findings, each with file, line, column, rule, what and mend
  -h, --help  this text

Prints one line a finding, FILE:LINE:COLUMN: RULE: what is wrong; how to mend it. A contract in the header of a script, or
in NAME.contract beside NAME.lua, says how many keys and arguments there are. The rules:
  undeclared-key    a key that is made of texts, or is an argument, in place of one of KEYS; keys that FLUSHALL, SCAN,
                    SORT with BY and the like reach by themselves
  global            a global variable that is set, or read without being there
  arity             KEYS or ARGV below 1, or beyond what the contract declares
  unordered         a reply in the order of pairs, SMEMBERS, KEYS, HGETALL and the like, unsorted
  precision         a number beyond 2^53, or a time of more digits than become text
  nil-reply         a reply compared with nil, where what is not there is false
  not-a-number      a text compared with a number, or digits with digits, without tonumber
  late-error        an error after a write, which stays; one that was answered to have written nothing is none
  unchecked-error   a redis.pcall whose error is lost, with a write on a way behind it
  unknown-rule      a comment that allows what is no rule
A comment `-- lint: allow RULE` allows what a rule finds in its line or the next one.
Exit status: 0 without findings, 1 with some, 2 when a file cannot be read or is no Lua.
";

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let (mut sources, mut json) = (Vec::new(), false);
    while let Some(word) = next_word(parser)? {
        match word {
            Word::Value(word) => sources.push(Source::named(word)),
            Word::Option(option) => match option.as_str() {
                "--json" => json = true,
                "--help" | "-h" => {
                    print(HELP.as_bytes())?;
                    return Ok(ExitCode::SUCCESS);
                }
                option => {
                    return Err(Refusal(format!("invalid option '{option}', see moonkeep lint --help")));
                }
            },
        }
    }
    if sources.is_empty() {
        return Err(Refusal("lint needs the file of a script, see moonkeep lint --help".into()));
    }
    let (mut all, mut broken) = (Vec::new(), false);
    for source in &sources {
        let text = source.read()?;
        let contract = match source.has_contract(&text) {
            true => Some(source.contract(&text)?),
            false => None,
        };
        match lint(&text, contract.as_ref()) {
            Ok(findings) => all.extend(findings.into_iter().map(|finding| (source.name(), finding))),
            Err(error) => {
                tell!("moonkeep: {}:{error}", source.name());
                broken = true;
            }
        }
    }
    let text = if json {
        format!("{}\n", Json::List(all.iter().map(|(name, finding)| shown(name, finding)).collect()))
    } else {
        all.iter().map(|(name, finding)| format!("{name}:{finding}\n")).collect()
    };
    print(text.as_bytes())?;
    Ok(match (broken, all.is_empty()) {
        (true, _) => ExitCode::from(2),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

fn shown(name: &str, finding: &Finding) -> Json {
    let int = |number: usize| Json::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let Finding { line, column, rule, what, mend } = finding;
    let rule: Rule = *rule;
    Json::Object(vec![
        ("file", Json::text(name.as_bytes())),
        ("line", int(*line)),
        ("column", int(*column)),
        ("rule", Json::text(rule.name().as_bytes())),
        ("what", Json::text(what.as_bytes())),
        ("mend", Json::text(mend.as_bytes())),
    ])
}
