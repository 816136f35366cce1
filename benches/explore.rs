//! How many schedules a second an exploration runs on one core, and what a fork and going back to a set-up cost.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use moonkeep::sim::{Explore, Reduction, Search, World};
use moonkeep::{Engine, Error};
use std::hint::black_box;

/// Clients that read a stock and write one less.
fn read_then_write(clients: usize) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.setup(["SET", "stock", "10"]);
        for name in &["A", "B", "C", "D"][..clients] {
            world.client(name, |client| async move {
                let stock: i64 = client.query(["GET", "stock"]).await?;
                client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                Ok::<_, Error>(())
            });
        }
    })
    .outcome(|_| String::new())
    .threads(1)
}

fn schedules(c: &mut Criterion) {
    const RUNS: u64 = 10_000;
    let mut group = c.benchmark_group("schedules");
    group.sample_size(10);
    group.throughput(Throughput::Elements(RUNS));
    group.bench_function("4 steps", |b| {
        let search = Search::Random { seed: 1, runs: RUNS };
        b.iter(|| black_box(read_then_write(2).search(search).run().expect("it is sound")));
    });
    group.throughput(Throughput::Elements(2_520));
    for reduction in [Reduction::None, Reduction::SleepSets, Reduction::States] {
        group.bench_function(format!("8 steps, {reduction:?}"), |b| {
            b.iter(|| black_box(read_then_write(4).reduction(reduction).run().expect("it is sound")));
        });
    }
    group.finish();
}

fn forks(c: &mut Criterion) {
    let mut group = c.benchmark_group("fork");
    for keys in [10, 1_000] {
        let engine = Engine::new();
        let mut client = engine.client();
        for key in 0..keys {
            client.call(["SET", &format!("key:{key}"), "value"]).expect("OK");
        }
        group
            .bench_function(format!("{keys} keys"), |b| b.iter(|| black_box(engine.fork().expect("a fork"))));
    }
    group.finish();
}

criterion_group!(benches, schedules, forks);
criterion_main!(benches);
