//! The result of a check for other programs: one JSON object, or JUnit's XML.

use super::Checked;
use crate::json::Json;
use moonkeep::{CheckFailure, CheckReport, Mutant, MutationReport, ReachedClause, Rule};

/// All of it as JSON.
pub(super) fn json(all: &[Checked]) -> Json {
    Json::Object(vec![("scripts", Json::List(all.iter().map(script).collect()))])
}

fn count(number: u64) -> Json {
    Json::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn script(one: &Checked) -> Json {
    let Checked { path, report, time, .. } = one;
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
        ("instructions", count(report.instructions())),
        ("instructions_allowed", report.instructions_allowed().map_or(Json::Null, count)),
        ("clauses", Json::List(report.clauses().iter().map(clause).collect())),
        ("failures", Json::List(report.failures().iter().map(|one| failure(path, one)).collect())),
        ("mutants", one.mutants.as_ref().map_or(Json::Null, mutants)),
        ("nanoseconds", count(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))),
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

fn failure(path: &str, one: &CheckFailure) -> Json {
    let input = one.input();
    let text = |text: String| Json::text(text.as_bytes());
    Json::Object(vec![
        ("rule", text(one.rule().name().into())),
        ("told", text(one.told().into())),
        ("run", count(one.run())),
        ("clause", one.clause().map_or(Json::Null, |at| count(at as u64))),
        ("setup", Json::List(input.setup.iter().map(|command| Json::words(command)).collect())),
        ("advance_ms", count(input.advance_ms)),
        ("keys", Json::words(&input.keys)),
        ("args", Json::words(&input.args)),
        ("reply", Json::reply(one.reply().view())),
        ("calls", Json::List(one.calls().iter().map(|call| text(call.to_string())).collect())),
        ("changes", Json::List(one.changes().iter().map(|change| text(change.to_string())).collect())),
        ("command", text(one.command(path))),
    ])
}

/// A test suite for each script, a test case for each clause.
pub(super) fn junit(all: &[Checked]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for one in all {
        text += &suite(one);
    }
    text + "</testsuites>\n"
}

fn suite(one: &Checked) -> String {
    let Checked { path, report, time, .. } = one;
    let cases = cases(report);
    let name = escaped(path);
    let failed = cases.iter().filter(|(_, failures, _)| !failures.is_empty()).count();
    let skipped = cases.iter().filter(|(_, failures, runs)| failures.is_empty() && *runs == 0).count();
    let mut text = format!(
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.6}\">\n",
        cases.len(),
        time.as_secs_f64()
    );
    text += &format!("    <properties><property name=\"seed\" value=\"{}\"/></properties>\n", report.seed());
    for (clause, failures, runs) in cases {
        let clause = escaped(&clause);
        text += &format!("    <testcase classname=\"{name}\" name=\"{clause}\"");
        if failures.is_empty() && runs > 0 {
            text += "/>\n";
            continue;
        }
        text += ">\n";
        if failures.is_empty() {
            text += "      <skipped message=\"no call reached it\"/>\n";
        }
        for failure in failures {
            let (rule, told) = (failure.rule(), escaped(failure.told()));
            let body = escaped(&format!("{}\n{failure}", failure.command(path)));
            text += &format!("      <failure type=\"{rule}\" message=\"{told}\">{body}</failure>\n");
        }
        text += "    </testcase>\n";
    }
    text + "  </testsuite>\n"
}

/// Each clause with its failures and runs; what no clause decides comes last.
fn cases(report: &CheckReport) -> Vec<(String, Vec<&CheckFailure>, u64)> {
    let of =
        |at: Option<usize>| report.failures().iter().filter(|one| one.clause() == at).collect::<Vec<_>>();
    let clauses = report.clauses().iter().enumerate();
    let mut cases: Vec<_> = clauses
        .map(|(at, clause)| (format!("line {}: {}", clause.line, clause.text), of(Some(at)), clause.runs))
        .collect();
    let decided: u64 = report.clauses().iter().map(|clause| clause.runs).sum();
    if report.runs() > decided {
        cases.push(("calls that no clause decides".to_owned(), of(None), report.runs() - decided));
    }
    cases
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
