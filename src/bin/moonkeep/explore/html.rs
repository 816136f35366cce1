//! A schedule as a page that stands alone: a lane for each client, time from top to bottom, what keys hold beside it.

use std::fmt::Write;

use moonkeep::sim::Failure;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8886;--box:#e8f0fe;--fault:#fde2e1;--time:#fff4ce;--text:#1b1b1b}
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem}
h1{font-size:1.25rem}code,.box,td{font-family:ui-monospace,monospace;font-size:.85rem}
.why{border-left:.3rem solid #c62828;padding:.3rem .8rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{padding:.2rem .5rem;text-align:left;vertical-align:top}
th{border-bottom:2px solid var(--line);position:sticky;top:0;background:Canvas}
td.lane{position:relative;min-width:11rem}
td.lane::before{content:'';position:absolute;left:1.1rem;top:0;bottom:0;border-left:2px solid var(--line)}
.box{position:relative;display:inline-block;background:var(--box);color:var(--text);border-radius:.4rem;padding:.15rem .5rem}
.box.fault{background:var(--fault)}.note{display:block;opacity:.7;font-style:italic}
tr.time td{background:var(--time);color:var(--text)}td.state{border-left:1px solid var(--line)}
td.changed{font-weight:700}td.number{opacity:.6;text-align:right}
";

/// The page.
pub(super) fn page(title: &str, summary: &str, failure: &Failure) -> String {
    let mut page = String::new();
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\n<style>\n{STYLE}</style></head>\n\
         <body><h1>{title}</h1>\n<p>{}</p>\n<p class=\"why\">{}</p>\n<p>Replay: <code>{}</code></p>\n\
         <div class=\"scroll\"><table>\n<tr><th>#</th><th>ms</th>",
        escaped(summary),
        escaped(&failure.why),
        escaped(&failure.replay),
        title = escaped(title),
    );
    for name in failure.names.iter().chain(&failure.keys) {
        let _ = write!(page, "<th>{}</th>", escaped(name));
    }
    page.push_str("</tr>\n");
    let mut before: Option<&[String]> = None;
    for (at, row) in failure.rows.iter().enumerate() {
        let class = if row.actor.is_none() { " class=\"time\"" } else { "" };
        let _ = write!(
            page,
            "<tr{class}><td class=\"number\">{}</td><td class=\"number\">{}</td>",
            at + 1,
            row.at_ms
        );
        match row.actor {
            Some(actor) => (0..failure.names.len()).for_each(|lane| {
                page.push_str("<td class=\"lane\">");
                if lane == actor {
                    step(&mut page, &row.text, row.note.as_deref());
                }
                page.push_str("</td>");
            }),
            None => {
                let _ = write!(page, "<td colspan=\"{}\">{}</td>", failure.names.len(), escaped(&row.text));
            }
        }
        for (column, held) in row.state.iter().enumerate() {
            let is_changed = before.is_some_and(|before| before.get(column) != Some(held));
            let class = if is_changed { "state changed" } else { "state" };
            let _ = write!(page, "<td class=\"{class}\">{}</td>", escaped(held));
        }
        page.push_str("</tr>\n");
        before = Some(&row.state);
    }
    page.push_str("</table></div></body></html>\n");
    page
}

fn step(page: &mut String, text: &str, note: Option<&str>) {
    let is_fault =
        ["(reply lost)", "(request lost)", "(crash before"].iter().any(|fault| text.contains(fault));
    let class = if is_fault { "box fault" } else { "box" };
    let _ = write!(page, "<span class=\"{class}\">{}", escaped(text));
    if let Some(note) = note {
        let _ = write!(page, "<span class=\"note\">{}</span>", escaped(note));
    }
    page.push_str("</span>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
