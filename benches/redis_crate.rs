//! What a call through the redis crate costs on an engine in the same process: CPU time of this thread above that of the
//! same call over a connection that answers a constant, and to that of the same call through `Client::call_into`. Medians
//! of interleaved rounds. Run: `cargo bench --features redis --bench redis_crate`.

mod crate_calls;
#[allow(dead_code, unsafe_code, reason = "shared with other benches")]
mod measure;

use crate_calls::{Constant, call};
use measure::{median, per_call};
use moonkeep::redis::Connection;
use moonkeep::{Client, Engine, Reply, Script};
use std::hint::black_box;

const ROUNDS: usize = 9;
const BUDGET_MS: f64 = 60.0;

fn set_up(client: &mut Client, stock: &Script) {
    client.call(["SET", "k", "0123456789abcdef"]).expect("set-up");
    client.call(["SET", "stock", "1000000000"]).expect("set-up");
    client.call([&b"SCRIPT"[..], b"LOAD", stock.source()]).expect("set-up");
}

fn main() {
    let stock = Script::new(include_bytes!("../lua/decrease_stock.lua"));
    let cases: [(&str, Vec<&[u8]>); 4] = [
        ("GET", vec![b"GET", b"k"]),
        ("SET", vec![b"SET", b"k", b"0123456789abcdef"]),
        ("INCR", vec![b"INCR", b"n"]),
        ("decrease_stock", vec![b"EVALSHA", stock.sha().as_bytes(), b"1", b"stock", b"1"]),
    ];
    let engine = Engine::new();
    let (mut client, mut reply) = (engine.client(), Reply::new());
    let mut connection = Connection::new(engine.client());
    set_up(&mut client, &stock);
    println!("{:16}{:>12}{:>12}{:>12}{:>14}", "", "constant", "engine", "above", "to call_into");
    for (name, words) in cases {
        let mut constant = Constant(call(&mut connection, &words));
        let (mut above, mut ratios, mut empty, mut ours) = (vec![], vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            let nothing = per_call(BUDGET_MS, || drop(black_box(call(&mut constant, &words))));
            let here = per_call(BUDGET_MS, || drop(black_box(call(&mut connection, &words))));
            let direct = per_call(BUDGET_MS, || {
                client.call_into(&words[..], black_box(&mut reply)).expect("it runs");
            });
            above.push(here - nothing);
            ratios.push(here / direct);
            empty.push(nothing);
            ours.push(here);
        }
        let [empty, ours, above, ratio] = [empty, ours, above, ratios].map(median);
        println!("{name:16}{empty:>9.0} ns{ours:>9.0} ns{above:>9.0} ns{ratio:>14.2}");
    }
}
