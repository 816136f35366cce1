//! The result of a check for other programs: one JSON object.

use super::{Checked, Mutants, Results};
use crate::json::Json;
use moonkeep::lint::Finding;
use moonkeep::{CheckFailure, LineCoverage, MissedLine, Mutant, MutationReport, ReachedClause, Rule};
use std::path::Path;

/// All of it as JSON.
pub(super) fn json(results: &Results) -> Json {
    let stopped = |(path, told): &(String, String)| {
        Json::Object(vec![("script", Json::text(path.as_bytes())), ("told", Json::text(told.as_bytes()))])
    };
    Json::Object(vec![
        ("scripts", Json::List(results.checked.iter().map(script).collect())),
        ("stopped", Json::List(results.stopped.iter().map(stopped).collect())),
    ])
}

fn count(number: u64) -> Json {
    Json::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn script(one: &Checked) -> Json {
    let Checked { file, path, report, time, .. } = one;
    let clause = |clause: &ReachedClause| {
        Json::Object(vec![
            ("line", count(clause.line as u64)),
            ("clause", Json::text(clause.text.as_bytes())),
            ("runs", count(clause.runs)),
        ])
    };
    Json::Object(vec![
        ("script", Json::text(path.as_bytes())),
        ("contract", Json::text(report.name().as_bytes())),
        ("sha", Json::text(report.sha().as_bytes())),
        ("kept", Json::Bool(report.is_kept())),
        ("seed", count(report.seed())),
        ("runs", count(report.runs())),
        ("left_out", count(report.left_out())),
        ("outside", count(report.outside())),
        ("instructions", count(report.instructions())),
        ("instructions_allowed", report.instructions_allowed().map_or(Json::Null, count)),
        ("clauses", Json::List(report.clauses().iter().map(clause).collect())),
        ("failures", Json::List(report.failures().iter().map(|one| failure(file, one)).collect())),
        ("lines", Json::List(report.coverage().lines.iter().map(line).collect())),
        ("missed", Json::List(report.missed().iter().map(|one| missed(file, one)).collect())),
        ("findings", Json::List(one.findings.iter().map(finding).collect())),
        ("mutants", if let Mutants::Tried(report) = &one.mutants { mutants(report) } else { Json::Null }),
        ("nanoseconds", count(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))),
    ])
}

fn line(one: &LineCoverage) -> Json {
    let LineCoverage { line, hits, instructions, calls } = *one;
    Json::Object(vec![
        ("line", count(line.into())),
        ("hits", count(hits)),
        ("instructions", count(instructions)),
        ("calls", count(calls)),
    ])
}

fn missed(file: &Path, one: &MissedLine) -> Json {
    Json::Object(vec![
        ("line", count(one.line.into())),
        ("guard", one.guard.map_or(Json::Null, |line| count(line.into()))),
        (
            "nearest",
            one.nearest.as_ref().map_or(Json::Null, |input| Json::text(input.to_string().as_bytes())),
        ),
        ("command", one.command(file).map_or(Json::Null, |command| Json::text(command.as_bytes()))),
    ])
}

/// As `moonkeep lint --json` has it.
fn finding(one: &Finding) -> Json {
    let Finding { line, column, rule, what, mend } = one;
    Json::Object(vec![
        ("line", count(*line as u64)),
        ("column", count(*column as u64)),
        ("rule", Json::text(rule.name().as_bytes())),
        ("what", Json::text(what.as_bytes())),
        ("mend", Json::text(mend.as_bytes())),
    ])
}

fn mutants(report: &MutationReport) -> Json {
    let mutant = |(mutant, rule): (&Mutant, Option<Rule>)| {
        Json::Object(vec![
            ("line", count(mutant.line() as u64)),
            ("change", Json::text(mutant.change().as_bytes())),
            ("before", Json::text(mutant.before().as_bytes())),
            ("after", Json::text(mutant.after().as_bytes())),
            ("noticed", rule.map_or(Json::Null, |rule| Json::text(rule.name().as_bytes()))),
        ])
    };
    Json::List(report.mutants().map(mutant).collect())
}

fn failure(file: &Path, one: &CheckFailure) -> Json {
    let input = one.input();
    let text = |text: String| Json::text(text.as_bytes());
    Json::Object(vec![
        ("rule", text(one.rule().name().into())),
        ("told", text(one.told().into())),
        ("run", count(one.run())),
        ("clause", one.clause().map_or(Json::Null, |at| count(at as u64))),
        ("setup", Json::List(input.setup.iter().map(|command| Json::words(command)).collect())),
        ("advance_ms", count(input.advance_ms)),
        ("advance_us", count(input.advance_us)),
        ("keys", Json::words(&input.keys)),
        ("args", Json::words(&input.args)),
        ("reply", Json::reply(one.reply().view())),
        ("calls", Json::List(one.calls().iter().map(|call| text(call.to_string())).collect())),
        ("changes", Json::List(one.changes().iter().map(|change| text(change.to_string())).collect())),
        ("command", text(one.command(file))),
    ])
}

/// Text as XML and HTML hold it; characters that they cannot hold are shown as such.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            '\t' => out.push('\t'),
            control if control < ' ' || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                out.push_str(&format!("\\x{:02x}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out
}
