//! Coverage as others read it: a tracefile of lcov, and an HTML page that needs nothing beside it.

use super::{LineCoverage, ScriptCoverage};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One record a script: its lines with their hits, how many there are and how many of them ran.
pub(super) fn lcov(scripts: &[ScriptCoverage]) -> String {
    let mut out = String::new();
    for script in scripts {
        let _ = writeln!(out, "TN:\nSF:{}", on_one_line(&script.name));
        for line in &script.lines {
            let _ = writeln!(out, "DA:{},{}", line.line, line.hits);
        }
        let (covered, all) = script.covered();
        let _ = writeln!(out, "LF:{all}\nLH:{covered}\nend_of_record");
    }
    out
}

/// A name without line ends and other control characters, which would end its record.
fn on_one_line(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:right;padding:0 .6rem;white-space:pre}
th:last-child,td:last-child,table.all td:first-child,table.all th:first-child{text-align:left}
table.source{font:13px/1.5 ui-monospace,monospace;margin-bottom:2rem}
td.n{opacity:.55}
tr.hit td:last-child{background:#3fb95026}
tr.missed td:last-child{background:#f851493d}
";

/// A page with a table of all scripts, then each script with its lines.
pub(super) fn html(scripts: &[ScriptCoverage], with_instructions: bool) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Coverage of scripts</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Coverage of scripts</h1>\n<table class=\"all\">\n\
         <tr><th>script</th><th>lines</th><th>ran</th><th></th></tr>\n"
    );
    for (number, script) in scripts.iter().enumerate() {
        let (covered, all) = script.covered();
        let _ = writeln!(
            out,
            "<tr><td><a href=\"#s{number}\">{}</a></td><td>{all}</td><td>{covered}</td><td>{}</td></tr>",
            escape(&script.name),
            percent(covered, all)
        );
    }
    out.push_str("</table>\n");
    for (number, script) in scripts.iter().enumerate() {
        source(&mut out, number, script, with_instructions);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn source(out: &mut String, number: usize, script: &ScriptCoverage, with_instructions: bool) {
    let _ = writeln!(out, "<h2 id=\"s{number}\">{}</h2>\n<table class=\"source\">", escape(&script.name));
    let counted = if with_instructions { "<th>instructions</th>" } else { "" };
    let _ = writeln!(out, "<tr><th>line</th><th>hits</th>{counted}<th>calls</th><th>source</th></tr>");
    let lines: BTreeMap<u32, &LineCoverage> = script.lines.iter().map(|line| (line.line, line)).collect();
    for (text, at) in script.source_lines().iter().zip(1u32..) {
        let line = lines.get(&at);
        let class =
            line.map_or("", |line| if line.hits > 0 { " class=\"hit\"" } else { " class=\"missed\"" });
        let shown =
            |count: fn(&LineCoverage) -> u64| line.map_or(String::new(), |line| count(line).to_string());
        let _ = write!(out, "<tr{class}><td class=\"n\">{at}</td><td>{}</td>", shown(|line| line.hits));
        if with_instructions {
            let _ = write!(out, "<td>{}</td>", shown(|line| line.instructions));
        }
        let calls = line.filter(|line| line.calls > 0).map_or(String::new(), |line| line.calls.to_string());
        let _ = writeln!(out, "<td>{calls}</td><td>{}</td></tr>", escape(text));
    }
    out.push_str("</table>\n");
}

/// The share in percent, with one decimal.
fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", if all == 0 { 100.0 } else { part as f64 * 100.0 / all as f64 })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
