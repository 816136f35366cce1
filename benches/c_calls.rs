//! What a call costs through the C functions, to the same call in Rust: ratios of CPU time of this thread, by turns, medians.
//! Run: `cargo bench --bench c_calls`. The functions are called by their addresses, as C calls a library's.

#![allow(unsafe_code)]

mod exported;
#[allow(dead_code, reason = "shared with `compare`, which counts bytes too")]
mod measure;

use exported::{Caller, Words};
use measure::{median, per_call};
use moonkeep::{Engine, Reply, Script};
use std::hint::black_box;

const ROUNDS: usize = 15;

const STOCK: &str = "demo:repair:stock:{p1}:ten";
const LOCK: &str = "demo:repair:lock:{p1}";
const TOKEN: &str = "tokenA-0123456789abcdef";
const OTHER: &str = "tokenB-0123456789abcdef";

const SET_UP: &[&[&str]] = &[
    &["SET", STOCK, "1000000000"],
    &["SET", LOCK, TOKEN, "PX", "600000000"],
    &["SET", "str", "0123456789abcdef"],
];

/// A script of `lua/`, its key and its arguments.
const SCRIPTS: [(&str, &[&str]); 3] = [
    ("decrease_stock", &[STOCK, "1"]),
    ("renew_lock", &[LOCK, TOKEN, "600000000"]),
    ("unlock", &[LOCK, OTHER]),
];

/// Medians of both sides, of their ratio and of their difference.
fn compare(name: &str, mut rust: impl FnMut(), mut c: impl FnMut()) {
    let (mut rust_ns, mut c_ns, mut ratios, mut more) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let own = per_call(15.0, &mut rust);
        let through = per_call(15.0, &mut c);
        rust_ns.push(own);
        c_ns.push(through);
        ratios.push(through / own);
        more.push(through - own);
    }
    println!(
        "| {name} | {:.3} | {:+.1} | {:.0} | {:.0} |",
        median(ratios),
        median(more),
        median(rust_ns),
        median(c_ns)
    );
}

fn main() {
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let engine = Engine::new();
    let mut client = engine.client();
    let caller = Caller::new();
    for words in SET_UP {
        client.call(words).expect("set-up");
        caller.call_borrow(&Words::new(words));
    }
    let mut out = Reply::new();
    println!("| call | C to Rust | ns more | Rust ns | C ns |\n|---|---|---|---|---|");
    for (name, rest) in SCRIPTS {
        let source = std::fs::read_to_string(format!("{}/lua/{name}.lua", env!("CARGO_MANIFEST_DIR")))
            .expect("a shipped script");
        let script = Script::new(&source);
        client.call(["SCRIPT", "LOAD", &source]).expect("compiles");
        caller.call_borrow(&Words::new(&["SCRIPT", "LOAD", &source]));
        let argv: Vec<&str> = ["EVALSHA", script.sha(), "1"].iter().chain(rest).copied().collect();
        let words = Words::new(&argv);
        compare(
            &format!("{name}, mk_call_borrow"),
            || client.call_into(&argv, black_box(&mut out)).expect("runs"),
            || caller.call_borrow(&words),
        );
        let handle = caller.script(&source);
        let words = Words::new(rest);
        compare(
            &format!("{name}, mk_script_run_borrow"),
            || client.call_into(&argv, black_box(&mut out)).expect("runs"),
            || caller.run_borrow(handle, 1, &words),
        );
    }
    let get = ["GET", "str"];
    let words = Words::new(&get);
    compare(
        "GET, mk_call_borrow",
        || client.call_into(get, black_box(&mut out)).expect("runs"),
        || caller.call_borrow(&words),
    );
    compare(
        "GET, mk_call and mk_reply_free",
        || client.call_into(get, black_box(&mut out)).expect("runs"),
        || caller.call_and_free(&words),
    );
}
