//! The result of a check as one page to read in a browser: nothing is loaded from elsewhere.

use super::files::escaped;
use super::{Checked, Mutants, Results};
use crate::time::shown_duration;
use moonkeep::{CheckFailure, LineCoverage};
use std::collections::BTreeMap;
use std::path::Path;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #ddd}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:#f6f6f6;padding:.6rem;overflow-x:auto}.kept{color:#17752b}.broken{color:#b3151d}.unreached{background:#fff3cd}
table.source td{border:0;padding:0 .6rem;white-space:pre-wrap}tr.hit td{background:#3fb95022}tr.missed td{background:#f851493d}
tr.note td{font-style:italic;padding-left:3rem}.failure{border-left:3px solid #b3151d;padding-left:.8rem;margin:1rem 0}
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}pre{background:#222}td,th{border-color:#444}.unreached{background:#4a3c00}
.kept{color:#6fd184}.broken{color:#ff7b81}}
";

/// The whole page.
pub(super) fn html(results: &Results) -> String {
    let all = &results.checked;
    let broken = all.iter().filter(|one| !one.report.is_kept()).count();
    let title = match broken {
        0 => "All scripts kept their word".to_owned(),
        _ => format!("{broken} of {} scripts broke their contract", all.len()),
    };
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>moonkeep check: {title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n<table>\n\
         <tr><th>Script<th>Result<th class=n>Runs<th class=n>Seed<th class=n>Instructions<th class=n>Lines<th>Lint<th class=n>Time<th class=n>A run\n"
    );
    for (at, one) in all.iter().enumerate() {
        let report = &one.report;
        let (covered, lines) = report.coverage().covered();
        let allowed = report.instructions_allowed().map_or(String::new(), |most| format!(" of {most}"));
        text += &format!(
            "<tr><td><a href=\"#s{at}\">{}</a><td>{}<td class=n>{}<td class=n>{}<td class=n>{}{allowed}<td class=n>{covered} of {lines}<td>{}<td class=n>{}<td class=n>{}\n",
            escaped(&one.path),
            verdict(one),
            report.runs(),
            report.seed(),
            report.instructions(),
            match one.findings.len() {
                0 => String::new(),
                findings => findings.to_string(),
            },
            shown_duration(one.time),
            shown_duration(one.time / u32::try_from(report.runs().max(1)).unwrap_or(u32::MAX))
        );
    }
    for (path, told) in &results.stopped {
        text += &format!(
            "<tr><td>{}<td class=broken colspan=8>not checked to its end: {}\n",
            escaped(path),
            escaped(told)
        );
    }
    text += "</table>\n";
    for (at, one) in all.iter().enumerate() {
        text += &script(at, one);
    }
    text + "</html>\n"
}

fn verdict(one: &Checked) -> &'static str {
    if one.report.is_kept() { "<span class=kept>kept</span>" } else { "<span class=broken>broken</span>" }
}

fn script(at: usize, one: &Checked) -> String {
    let report = &one.report;
    let path = escaped(&one.path);
    let mut text =
        format!("<h2 id=s{at}>{path}: {}</h2>\n<p>SHA1 <code>{}</code>\n", verdict(one), report.sha());
    for failure in report.failures() {
        text += &self::failure(&one.file, failure);
    }
    text += "<table>\n<tr><th class=n>Line<th>Clause<th class=n>Runs it decided\n";
    for clause in report.clauses() {
        let class = if clause.runs == 0 { " class=unreached" } else { "" };
        let (line, words, runs) = (clause.line, escaped(&clause.text), clause.runs);
        text += &format!("<tr{class}><td class=n>{line}<td><code>{words}</code><td class=n>{runs}\n");
    }
    text += "</table>\n";
    match &one.mutants {
        Mutants::NotAsked => {}
        Mutants::Skipped => text += "<p>Mutants not tried: the script breaks its contract itself.\n",
        Mutants::Tried(mutants) => {
            text +=
                &format!("<p>{} of {} mutants noticed\n<ul>\n", mutants.killed(), mutants.mutants().len());
            for mutant in mutants.survivors() {
                text += &format!("<li>survives: {}\n", escaped(&mutant.to_string()));
            }
            text += "</ul>\n";
        }
    }
    text + &source(one)
}

/// The text of the script: what ran of each line, what lint finds there, which call came nearest to one that did not run.
fn source(one: &Checked) -> String {
    let coverage = one.report.coverage();
    let lines: BTreeMap<u32, &LineCoverage> = coverage.lines.iter().map(|line| (line.line, line)).collect();
    let mut text = "<table class=source>\n<tr><th class=n>Line<th class=n>Hits<th class=n>Instructions\
                    <th class=n>Calls<th>The script\n"
        .to_owned();
    for (words, number) in coverage.source_lines().iter().zip(1u32..) {
        let line = lines.get(&number);
        let class = line.map_or("", |line| if line.hits > 0 { " class=hit" } else { " class=missed" });
        let shown =
            |count: fn(&LineCoverage) -> u64| line.map_or(String::new(), |line| count(line).to_string());
        text += &format!(
            "<tr{class}><td class=n>{number}<td class=n>{}<td class=n>{}<td class=n>{}<td><code>{}</code>\n",
            shown(|line| line.hits),
            shown(|line| line.instructions),
            shown(|line| line.calls),
            escaped(words)
        );
        for missed in one.report.missed().iter().filter(|missed| missed.line == number) {
            if let Some(command) = missed.command(&one.file) {
                text += &format!(
                    "<tr class=note><td colspan=4><td>nearest: <code>{}</code>\n",
                    escaped(&command)
                );
            }
        }
        for finding in one.findings.iter().filter(|finding| finding.line == number as usize) {
            let (rule, what, mend) = (finding.rule, escaped(&finding.what), escaped(&finding.mend));
            text += &format!("<tr class=note><td colspan=4><td><b>{rule}</b>: {what}; {mend}\n");
        }
    }
    text + "</table>\n"
}

fn failure(file: &Path, failure: &CheckFailure) -> String {
    let lines = |items: Vec<String>| escaped(&items.join("\n"));
    let changes = failure.changes().iter().map(ToString::to_string).collect::<Vec<_>>();
    let calls = failure.calls().iter().map(ToString::to_string).collect::<Vec<_>>();
    format!(
        "<div class=failure><p><b>{}</b>: {}\n<pre>{}</pre>\n<p>Reply:<pre>{}</pre>\n<p>Calls:<pre>{}</pre>\n<p>Changes:<pre>{}</pre></div>\n",
        failure.rule(),
        escaped(failure.told()),
        escaped(&failure.command(file)),
        escaped(&format!("{:?}", failure.reply())),
        lines(calls),
        lines(changes)
    )
}
