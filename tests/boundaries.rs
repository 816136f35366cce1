//! S26: the boundary table of the stock and lease scripts (`tests/data/script_boundaries.tsv`, recorded from a real
//! server): each row's reply and the state after it, for the shipped scripts, on moonkeep and on the server.
//! Where MOONKEEP_DOCUMENTS names a folder with the texts that the scripts were written after, the scripts in
//! them are extracted and held to the same rows, down to the digest and the line of a raised error.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use serde_json::Value;
use std::fs;
use std::path::Path;

pub(crate) struct Row {
    pub line: usize,
    pub script: String,
    pub setup: Vec<Vec<Vec<u8>>>,
    pub keys: Vec<Vec<u8>>,
    pub arguments: Vec<Vec<u8>>,
    pub reply: String,
    state: Vec<Value>,
}

pub(crate) fn rows() -> Vec<Row> {
    let table = include_str!("data/script_boundaries.tsv");
    let lines =
        table.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.starts_with("script\t"));
    lines.map(|(at, line)| row(at + 1, line)).collect()
}

fn row(line: usize, text: &str) -> Row {
    let cells: Vec<&str> = text.split('\t').collect();
    let list = |cell: usize| match serde_json::from_str(cells[cell]).expect("valid JSON in the table") {
        Value::Array(items) => items,
        other => vec![other],
    };
    let words = |items: &[Value]| items.iter().map(|word| bytes(word.as_str().unwrap_or_default())).collect();
    Row {
        line,
        script: cells[0].trim_start_matches("demo_").into(),
        setup: list(1).iter().map(|step| words(step.as_array().expect("a set-up command"))).collect(),
        keys: words(&list(2)),
        arguments: words(&list(3)),
        reply: cells[4].into(),
        state: list(5),
    }
}

/// A cell's text as bytes: each character up to U+00FF is a byte, `ccc...<c x N>` is N times c.
fn bytes(text: &str) -> Vec<u8> {
    if let Some((shown, repeated)) = text.split_once("...<") {
        let times = repeated.trim_end_matches('>').rsplit(' ').next().and_then(|times| times.parse().ok());
        if let (Some(&byte), Some(times)) = (shown.as_bytes().first(), times) {
            return vec![byte; times];
        }
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("a byte")).collect()
}

#[test]
fn the_shipped_scripts_hold_on_moonkeep() {
    check(&mut Moonkeep::default(), &shipped, false);
}

#[test]
fn the_shipped_scripts_hold_on_the_server() {
    let Some(mut server) = server_or_skip("the_shipped_scripts_hold_on_the_server") else { return };
    check(&mut server, &shipped, false);
}

#[test]
fn the_documents_scripts_hold_too() {
    let Some(folder) = std::env::var_os("MOONKEEP_DOCUMENTS") else {
        println!("the_documents_scripts_hold_too: skipped, MOONKEEP_DOCUMENTS names no folder");
        return;
    };
    let texts = documents(Path::new(&folder));
    let original = |name: &str| extract(&texts, name);
    check(&mut Moonkeep::default(), &original, true);
    if let Some(mut server) = server_or_skip("the_documents_scripts_hold_too") {
        check(&mut server, &original, true);
    }
}

pub(crate) fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua").join(format!("{name}.lua"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents(folder: &Path) -> String {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("MOONKEEP_DOCUMENTS is a folder")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("a readable document")).collect()
}

/// A script in a document: from the first comment line after its file name to the next blank line.
fn extract(texts: &str, name: &str) -> String {
    let (_, after) = texts.split_once(&format!("demo_{name}.lua")).expect("the document names the script");
    let start = after.find("\n--").expect("the script begins with a comment") + 1;
    let script = &after[start..];
    format!("{}\n", &script[..script.find("\n\n").unwrap_or(script.len())])
}

fn check(target: &mut dyn Target, script: &dyn Fn(&str) -> String, with_tail: bool) {
    let mut problems = Vec::new();
    let rows = rows();
    for row in &rows {
        if let Err(problem) = check_row(target, row, &script(&row.script), with_tail) {
            problems.push(format!("line {} of the table, {}: {problem}", row.line, row.script));
        }
    }
    assert_eq!(rows.len(), 145, "rows in the table");
    assert!(problems.is_empty(), "{} rows differ:\n{}", problems.len(), problems.join("\n"));
}

fn check_row(target: &mut dyn Target, row: &Row, script: &str, with_tail: bool) -> Result<(), String> {
    target.reset();
    for step in &row.setup {
        let reply = target.call(MAIN, step);
        if reply.is_error() {
            return Err(format!("the set-up answered {reply}"));
        }
    }
    let mut call = argv(&["EVAL", script, &row.keys.len().to_string()]);
    call.extend(row.keys.iter().chain(&row.arguments).cloned());
    let reply = boundary_text(&target.call(MAIN, &call));
    let (expected, got) =
        if with_tail { (row.reply.clone(), reply) } else { (head(&row.reply), head(&reply)) };
    if expected != got {
        return Err(format!("expected {expected}, got {got}"));
    }
    compare_state(target, &row.state)
}

/// The reply in the table's notation, which has its own words for null.
fn boundary_text(reply: &Wire) -> String {
    match reply {
        Wire::NilBulk => "$-1".into(),
        Wire::NilArray => "*-1".into(),
        other => other.to_string(),
    }
}

/// An error text without the digest and the line of the script that raised it.
pub(crate) fn head(reply: &str) -> String {
    reply.split(" script: ").next().unwrap_or_default().to_owned()
}

fn compare_state(target: &mut dyn Target, expected: &[Value]) -> Result<(), String> {
    let keys = target.call(MAIN, &argv(&["KEYS", "*"]));
    if keys.items().len() != expected.len() {
        return Err(format!("the keys are {keys}"));
    }
    for entry in expected {
        let key = bytes(entry[0].as_str().unwrap_or_default());
        let kind = entry[1].as_str().unwrap_or_default();
        let mut ask =
            |words: &[&[u8]]| target.call(MAIN, &words.iter().map(|word| word.to_vec()).collect::<Vec<_>>());
        let got = [ask(&[b"TYPE", &key]), value(&mut ask, kind, &key), ask(&[b"PTTL", &key])];
        let value = match &entry[2] {
            Value::String(text) => Wire::Bulk(bytes(text)),
            Value::Number(count) => Wire::Int(count.as_i64().unwrap_or(-1)),
            other => list(other),
        };
        let ttl = Wire::Int(entry[3].as_i64().unwrap_or_default());
        let expected = [Wire::Status(kind.as_bytes().to_vec()), value, ttl];
        if got != expected {
            let shown: String = format!("{got:?}").chars().take(300).collect();
            return Err(format!("the state should be {entry}, got {shown}"));
        }
    }
    Ok(())
}

fn list(items: &Value) -> Wire {
    let items = items.as_array().cloned().unwrap_or_default();
    Wire::Array(items.iter().map(|item| Wire::Bulk(bytes(item.as_str().unwrap_or_default()))).collect())
}

fn value(ask: &mut dyn FnMut(&[&[u8]]) -> Wire, kind: &str, key: &[u8]) -> Wire {
    match kind {
        "string" => ask(&[b"GET", key]),
        "list" => ask(&[b"LRANGE", key, b"0", b"-1"]),
        "hash" => ask(&[b"HGETALL", key]),
        "set" => ask(&[b"SMEMBERS", key]),
        "zset" => ask(&[b"ZRANGE", key, b"0", b"-1"]),
        _ => Wire::Int(ask(&[b"XRANGE", key, b"-", b"+"]).items().len() as i64),
    }
}
