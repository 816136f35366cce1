//! Cases from public bug reports about Redis, its clients and its imitations, with the real server's replies
//! (`tests/data/reported_cases.json`). All must hold on moonkeep.

use crate::cluster::two_nodes;
use crate::support::beside::Beside;
use crate::support::moonkeep::{Moonkeep, replies};
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target};
use crate::support::wire::Wire;
use moonkeep::Client;
use serde_json::Value;

/// Cases that sleep in ways which the server's held clock does not show.
const REAL_TIME: &[&str] = &["a key that passes its TTL inside EXEC"];

struct Case {
    category: String,
    symptom: String,
    steps: Vec<Value>,
    replies: Vec<String>,
}

fn cases() -> Vec<Case> {
    let parsed: Value = serde_json::from_str(include_str!("data/reported_cases.json")).expect("valid JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    list(&parsed)
        .iter()
        .map(|case| Case {
            category: text(&case["category"]),
            symptom: text(&case["symptom"]),
            steps: list(&case["steps"]),
            replies: list(&case["replies"]).iter().map(text).collect(),
        })
        .collect()
}

#[test]
fn reported_cases_hold_on_moonkeep() {
    let mut problems = Vec::new();
    let mut held = 0;
    for case in cases() {
        let result = match case.category.as_str() {
            // A script that is to be killed runs beside its killer.
            "limits" => run(&mut Beside::default(), &case),
            "cluster" => run(&mut TwoNodes::default(), &case),
            _ => run(&mut Moonkeep::default(), &case),
        };
        match result {
            Ok(()) => held += 1,
            Err(problem) => problems.push(format!("{}: {}\n{problem}", case.category, case.symptom)),
        }
    }
    println!("reported cases: {held} hold");
    assert!(problems.is_empty(), "{} problems:\n\n{}", problems.len(), problems.join("\n"));
}

/// Two nodes of a cluster: the connection names the one that is called.
struct TwoNodes {
    nodes: [Client; 2],
    ids: [String; 2],
}

impl Default for TwoNodes {
    fn default() -> Self {
        let mut nodes = two_nodes().map(|engine| engine.client());
        let id = |node: &mut Client| node.query(["CLUSTER", "MYID"]).expect("an identity");
        let ids = nodes.each_mut().map(id);
        TwoNodes { nodes, ids }
    }
}

impl Target for TwoNodes {
    fn send(&mut self, _: &str, _: &[Vec<u8>]) {}
    fn receive(&mut self, _: &str) -> Wire {
        Wire::Timeout
    }
    fn call(&mut self, node: &str, argv: &[Vec<u8>]) -> Wire {
        let ids = &self.ids;
        let move_slot = |nodes: &mut [Client; 2], [one, two]: [&[&str]; 2]| {
            for (node, words) in nodes.iter_mut().zip([one, two]) {
                node.call([&["CLUSTER", "SETSLOT", "866"], words].concat()).expect("a slot");
            }
            Wire::Null
        };
        match argv[0].as_slice() {
            b"SETASK" => move_slot(&mut self.nodes, [&["MIGRATING", &ids[1]], &["IMPORTING", &ids[0]]]),
            b"UNSETASK" => move_slot(&mut self.nodes, [&["STABLE"], &["STABLE"]]),
            _ => replies(&mut self.nodes[usize::from(node == "n2")], argv).remove(0),
        }
    }
    fn advance(&mut self, _: i64) {}
    fn reset(&mut self) {}
}

#[test]
fn reported_cases_hold_on_the_server() {
    let Some(mut server) = server_or_skip("reported_cases_hold_on_the_server") else { return };
    let mut problems = Vec::new();
    for case in cases() {
        // A cluster is more than one server, and a script that is to be killed runs on real time.
        let apart = ["cluster", "limits"].contains(&case.category.as_str());
        if apart || REAL_TIME.contains(&case.symptom.as_str()) {
            continue;
        }
        if let Err(problem) = run(&mut server, &case) {
            problems.push(format!("{}: {}\n{problem}", case.category, case.symptom));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n\n{}", problems.len(), problems.join("\n"));
}

/// Runs a case; the first reply that is not as recorded.
fn run(target: &mut dyn Target, case: &Case) -> Result<(), String> {
    target.reset();
    let mut last_sha = String::new();
    let mut expected = case.replies.iter();
    for step in &case.steps {
        let Some(got) = perform(target, step, &last_sha)? else { continue };
        if is_script_load(step) {
            last_sha = got.bytes().map(|sha| String::from_utf8_lossy(sha).into_owned()).unwrap_or_default();
        }
        let expected = expected.next().ok_or("fewer replies than steps")?;
        if !same(expected, &got) {
            return Err(format!("{step}\nexpected {expected}\ngot      {got}\n"));
        }
    }
    Ok(())
}

/// Calls a command; one that waits is given the time for which it waits.
fn call(target: &mut dyn Target, argv: &[Vec<u8>]) -> Wire {
    let timeout = argv.last().filter(|_| argv[0] == b"BLPOP").and_then(|word| std::str::from_utf8(word).ok());
    let Some(seconds) = timeout.and_then(|text| text.parse::<f64>().ok()) else {
        return target.call(MAIN, argv);
    };
    target.send(MAIN, argv);
    target.advance((seconds * 1000.0) as i64 + 1);
    target.receive(MAIN)
}

/// Does a step; its reply, where it has one.
fn perform(target: &mut dyn Target, step: &Value, sha: &str) -> Result<Option<Wire>, String> {
    if step.is_array() {
        return Ok(Some(call(target, &words(step, sha))));
    }
    if let (Some(connection), argv @ Value::Array(_)) = (step["c"].as_str(), &step["a"]) {
        return Ok(Some(target.call(connection, &words(argv, sha))));
    }
    if let Some(raw) = step["raw"].as_str() {
        target.call(MAIN, &[raw.as_bytes().to_vec()]);
        return Ok(None);
    }
    if let Some(send) = step["send"].as_array() {
        target.send(send[0].as_str().unwrap_or_default(), &words(&send[1], sha));
        return Ok(None);
    }
    if let Some(connection) = step["recv"].as_str() {
        return Ok(Some(target.receive(connection)));
    }
    if let Some(ms) = step["sleep"].as_i64() {
        target.advance(ms);
        return Ok(None);
    }
    Err(format!("a step of another kind: {step}"))
}

fn words(argv: &Value, sha: &str) -> Vec<Vec<u8>> {
    let word = |word: &Value| match word {
        Value::String(text) => text.replace("$SHA", sha).into_bytes(),
        other => other.to_string().into_bytes(),
    };
    argv.as_array().map(|argv| argv.iter().map(word).collect()).unwrap_or_default()
}

fn is_script_load(step: &Value) -> bool {
    step[0].as_str() == Some("SCRIPT") && step[1].as_str() == Some("LOAD")
}

/// Equal, but for what differs from run to run: a connection's number. The file does not escape double quotes.
fn same(expected: &str, got: &Wire) -> bool {
    let plain = |text: &str| without_id(text).replace("\\\"", "\"");
    plain(expected) == plain(&got.to_string())
}

fn without_id(text: &str) -> String {
    match text.split_once("\"id\"=>:") {
        Some((start, rest)) => format!("{start}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => text.to_owned(),
    }
}
