//! The usual criterion figures of single operations; the comparison with a server is in `compare`.

use criterion::{Criterion, criterion_group, criterion_main};
use moonkeep::{Engine, Reply, Script};
use std::hint::black_box;

fn commands(c: &mut Criterion) {
    let engine = Engine::new();
    let mut client = engine.client();
    let mut out = Reply::new();
    client.call(["SET", "k", "0123456789abcdef"]).expect("set");
    let mut group = c.benchmark_group("commands");
    for argv in [
        &["PING"][..],
        &["GET", "k"],
        &["SET", "k", "0123456789abcdef"],
        &["INCR", "n"],
        &["EXPIRE", "k", "9"],
    ] {
        group.bench_function(argv[0], |b| {
            b.iter(|| client.call_into(argv, black_box(&mut out)).expect("runs"));
        });
    }
    group.finish();
}

fn scripts(c: &mut Criterion) {
    let engine = Engine::new();
    let mut client = engine.client();
    let mut out = Reply::new();
    client.call(["SET", "stock", "1000000000"]).expect("set");
    let source = include_bytes!("../lua/decrease_stock.lua");
    let stock = Script::new(source);
    let call = stock.key("stock").arg(1);
    c.bench_function("scripts/decrease_stock", |b| {
        b.iter(|| call.run_into(&mut client, black_box(&mut out)).expect("runs"));
    });
}

criterion_group!(benches, commands, scripts);
criterion_main!(benches);
