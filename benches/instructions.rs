//! Instructions per call of the three shipped scripts, GET and SET, in Rust, through C and through the redis crate (without
//! what the crate takes by itself), counted by callgrind: the same on a busy machine, so a gate.
//! Run: `cargo bench --features redis --bench instructions`; fails when a figure is over the one kept in `instructions.txt` by more
//! than 3 %, or a call through C takes much more than the same call in Rust. `UPDATE=1` keeps the figures of this run.

#![allow(unsafe_code)]

mod crate_calls;
#[allow(dead_code, reason = "shared with `c_calls`, which runs script objects too")]
mod exported;

use crate_calls::{Constant, call};
use exported::{Caller, Words};
use moonkeep::redis::Connection;
use moonkeep::{Engine, Reply, Script};
use std::hint::black_box;
use std::process::{Command, ExitCode};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");
const TOLERANCE: f64 = 1.03;
const CASES: [&str; 12] = [
    "decrease_stock",
    "unlock",
    "renew_lock",
    "return_1",
    "get",
    "set",
    "c_decrease_stock",
    "c_unlock",
    "c_renew_lock",
    "c_get",
    "redis_get",
    "redis_set",
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--child") {
        child(&args[at + 1], args[at + 2].parse().expect("a count"));
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|arg| arg == "--test") {
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("no valgrind here: nothing is counted");
        return if std::env::var_os("MOONKEEP_REQUIRE_VALGRIND").is_some() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        };
    }
    let figures: Vec<(&str, f64)> = CASES.iter().map(|case| (*case, count(case))).collect();
    if std::env::var_os("UPDATE").is_some() {
        let own = figures.iter().filter(|(case, _)| !case.starts_with("c_"));
        let text: String = own.map(|(case, count)| format!("{case} {count:.0}\n")).collect();
        std::fs::write(KEPT, text).expect("benches/ can be written");
    }
    judge(&figures)
}

/// Compares with the figures that are kept; a call through C with the same call in Rust.
fn judge(figures: &[(&str, f64)]) -> ExitCode {
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    let mut code = ExitCode::SUCCESS;
    println!("| call | instructions | at most | |\n|---|---|---|---|");
    for (case, count) in figures {
        let limit = match case.strip_prefix("c_") {
            Some(rust) => {
                figures.iter().find(|(name, _)| *name == rust).map(|(_, own)| own * through_c_max(rust))
            }
            None => kept
                .lines()
                .find_map(|line| line.strip_prefix(case)?.trim().parse::<f64>().ok())
                .map(|kept| kept * TOLERANCE),
        };
        let verdict = match limit {
            Some(limit) if *count <= limit => "ok",
            Some(_) => "too many",
            None => "not kept yet",
        };
        println!("| {case} | {count:.0} | {:.0} | {verdict} |", limit.unwrap_or(0.0));
        if verdict != "ok" {
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// How many times the instructions of a call in Rust the same call through C may take: most of a GET is the call itself.
fn through_c_max(case: &str) -> f64 {
    if case == "get" { 1.3 } else { 1.2 }
}

/// What is judged of a case: of the redis crate's what it takes above a connection that answers a constant.
fn count(case: &str) -> f64 {
    match case.strip_prefix("redis_") {
        Some(command) => per_call(case) - per_call(&format!("constant_{command}")),
        None => per_call(case),
    }
}

/// The difference between two runs of different length leaves out what starting costs.
fn per_call(case: &str) -> f64 {
    let (few, many) = (1000, 3000);
    (instructions(case, many) - instructions(case, few)) / f64::from(many - few)
}

fn instructions(case: &str, count: u32) -> f64 {
    let own = std::env::current_exe().expect("this program has a path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .args(["--child", case, &count.to_string()])
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let counted =
        text.lines().find_map(|line| line.split_once("Collected : ").map(|(_, rest)| rest.trim().parse()));
    counted.and_then(Result::ok).unwrap_or_else(|| panic!("callgrind said nothing:\n{text}"))
}

const SET_UP: [&[&str]; 3] = [
    &["SET", "demo:repair:stock:{p1}:ten", "1000000000"],
    &["SET", "demo:repair:lock:{p1}", "tokenA-0123456789abcdef", "PX", "600000000"],
    &["SET", "str", "0123456789abcdef"],
];

fn child(case: &str, count: u32) {
    match case.split_once('_') {
        Some(("c", case)) => through_c(case, count),
        Some((way @ ("redis" | "constant"), case)) => through_the_crate(case, count, way == "constant"),
        _ => in_rust(case, count),
    }
}

fn through_the_crate(case: &str, count: u32, is_constant: bool) {
    let mut connection = Connection::new(Engine::new().client());
    for argv in SET_UP {
        connection.client_mut().call(argv).expect("set-up");
    }
    let argv = words(case);
    let argv: Vec<&[u8]> = argv.iter().map(String::as_bytes).collect();
    let mut constant = Constant(call(&mut connection, &argv));
    for _ in 0..count {
        let value = if is_constant { call(&mut constant, &argv) } else { call(&mut connection, &argv) };
        drop(black_box(value));
    }
}

fn through_c(case: &str, count: u32) {
    let caller = Caller::new();
    SET_UP.iter().for_each(|words| caller.call_borrow(&Words::new(words)));
    let argv = words(case);
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    if argv[0] == "EVALSHA" {
        let source = String::from_utf8(source(case)).expect("a shipped script is text");
        caller.call_borrow(&Words::new(&["SCRIPT", "LOAD", &source]));
    }
    let words = Words::new(&argv);
    for _ in 0..count {
        caller.call_borrow(&words);
    }
}

fn in_rust(case: &str, count: u32) {
    let engine = Engine::new();
    let mut client = engine.client();
    let mut out = Reply::new();
    for argv in SET_UP {
        client.call(argv).expect("set-up");
    }
    let argv = words(case);
    if argv[0] == "EVALSHA" {
        client.call(["SCRIPT".as_bytes(), b"LOAD", &source(case)]).expect("compiles");
    }
    for _ in 0..count {
        client.call_into(&argv, &mut out).expect("runs");
    }
    assert!(!out.is_error(), "{out}");
}

fn source(case: &str) -> Vec<u8> {
    if case == "return_1" {
        return b"return 1".to_vec();
    }
    std::fs::read(format!("{}/lua/{case}.lua", env!("CARGO_MANIFEST_DIR"))).expect("a shipped script")
}

fn words(case: &str) -> Vec<String> {
    let rest: &[&str] = match case {
        "decrease_stock" => &["1", "demo:repair:stock:{p1}:ten", "1"],
        "unlock" => &["1", "demo:repair:lock:{p1}", "tokenB-0123456789abcdef"],
        "renew_lock" => &["1", "demo:repair:lock:{p1}", "tokenA-0123456789abcdef", "600000000"],
        "return_1" => &["0"],
        "get" => return ["GET", "str"].map(String::from).to_vec(),
        _ => return ["SET", "str", "0123456789abcdef"].map(String::from).to_vec(),
    };
    let sha = Script::new(source(case)).sha().to_string();
    let mut words = vec!["EVALSHA".to_string(), sha];
    words.extend(rest.iter().map(|word| word.to_string()));
    words
}
