//! The result of a check as JUnit's XML, for CI.

use super::files::escaped;
use super::{Checked, Results};
use moonkeep::{CheckFailure, CheckReport};
use std::path::Path;

/// A test suite for each script, a test case for each clause.
pub(super) fn junit(results: &Results) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for one in &results.checked {
        text += &suite(one, results.strict);
    }
    for (path, told) in &results.stopped {
        let (name, told) = (escaped(path), escaped(told));
        text +=
            &format!("  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n");
        text += &format!(
            "    <testcase classname=\"{name}\" name=\"check\"><error message=\"{told}\"/></testcase>\n"
        );
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn suite(one: &Checked, strict: bool) -> String {
    let Checked { file, path, report, time, .. } = one;
    let cases: Vec<Case> =
        clauses(file, report, strict).chain([lines(one, strict), findings(one, strict)]).collect();
    let name = escaped(path);
    let failed = cases.iter().filter(|case| case.verdict == Verdict::Failed).count();
    let skipped = cases.iter().filter(|case| case.verdict == Verdict::Skipped).count();
    let mut text = format!(
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" time=\"{:.6}\">\n",
        cases.len(),
        time.as_secs_f64()
    );
    text += &format!("    <properties><property name=\"seed\" value=\"{}\"/></properties>\n", report.seed());
    for Case { name: case, inner, .. } in cases {
        text += &format!("    <testcase classname=\"{name}\" name=\"{}\"", escaped(&case));
        text += &if inner.is_empty() { "/>\n".to_owned() } else { format!(">\n{inner}    </testcase>\n") };
    }
    text + "  </testsuite>\n"
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Skipped,
    Failed,
}

/// A test case.
struct Case {
    name: String,
    verdict: Verdict,
    /// The elements in it.
    inner: String,
}

impl Case {
    /// What is wrong, but lets the script pass unless it is to be strict: a skipped case then, or a failed one.
    fn loose(name: String, kind: &str, (told, body): (&str, &str), strict: bool) -> Self {
        let (told, body) = (escaped(told), escaped(body));
        if strict {
            let inner = format!("      <failure type=\"{kind}\" message=\"{told}\">{body}</failure>\n");
            return Case { name, verdict: Verdict::Failed, inner };
        }
        let inner = format!("      <skipped message=\"{told}\">{body}</skipped>\n");
        Case { name, verdict: Verdict::Skipped, inner }
    }
}

/// Each clause with its failures; what no clause decides comes last.
fn clauses<'a>(file: &'a Path, report: &'a CheckReport, strict: bool) -> impl Iterator<Item = Case> + 'a {
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
    cases.into_iter().map(move |(name, failures, runs)| {
        if failures.is_empty() && runs == 0 {
            return Case::loose(name, "unreached", ("no call reached it", ""), strict);
        }
        let failure = |failure: &CheckFailure| {
            let (rule, told) = (failure.rule(), escaped(failure.told()));
            let body = escaped(&format!("{}\n{failure}", failure.command(file)));
            format!("      <failure type=\"{rule}\" message=\"{told}\">{body}</failure>\n")
        };
        let verdict = if failures.is_empty() { Verdict::Passed } else { Verdict::Failed };
        Case { name, verdict, inner: failures.into_iter().map(failure).collect() }
    })
}

/// Whether every line ran.
fn lines(one: &Checked, strict: bool) -> Case {
    let missed = one.report.missed();
    let name = "every line runs".to_owned();
    if missed.is_empty() {
        return Case { name, verdict: Verdict::Passed, inner: String::new() };
    }
    let lines: Vec<String> = missed.iter().map(|missed| missed.line.to_string()).collect();
    let told = format!("never ran: {}", lines.join(", "));
    let body = missed.iter().map(|missed| {
        let nearest =
            missed.command(&one.file).map_or(String::new(), |command| format!("; nearest: {command}"));
        format!("line {}{nearest}\n", missed.line)
    });
    Case::loose(name, "lines", (&told, &body.collect::<String>()), strict)
}

/// Whether lint finds nothing.
fn findings(one: &Checked, strict: bool) -> Case {
    let name = "lint".to_owned();
    if one.findings.is_empty() {
        return Case { name, verdict: Verdict::Passed, inner: String::new() };
    }
    let told = format!("{} findings", one.findings.len());
    let body: String = one.findings.iter().map(|finding| format!("{}:{finding}\n", one.path)).collect();
    Case::loose(name, "lint", (&told, &body), strict)
}
