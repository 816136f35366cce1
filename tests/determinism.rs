//! Same seed, same clock, same calls: the same bytes, whatever else is true of the process.

use crate::support::runs::{perform, program, run};
use moonkeep::{Clock, Engine};

fn engine(hasher_seed: u64) -> Engine {
    Engine::builder().clock(Clock::manual(1_700_000_000_000)).seed(7).hasher_seed(hasher_seed).build()
}

/// All that can be observed of a long run: replies, journal, hash after each step.
fn trace(seed: u64, steps: usize, hasher_seed: u64) -> Vec<u8> {
    let engine = engine(hasher_seed);
    let journal = engine.subscribe_journal().expect("an engine that works");
    let mut client = engine.client();
    let mut trace = Vec::new();
    for step in program(seed, steps) {
        trace.extend(perform(&engine, &mut client, &step));
        trace.extend(format!("{:?}\n", journal.take().expect("an engine that works")).into_bytes());
        trace.extend(engine.state_hash().expect("an engine that works").to_le_bytes());
    }
    trace
}

#[test]
fn a_long_program_run_twice_leaves_the_same_trace() {
    let one = trace(1, 6_000, 0);
    assert!(one.len() > 100_000);
    assert!(one == trace(1, 6_000, 0), "two runs of one program differ");
    assert!(one != trace(2, 6_000, 0), "another program leaves another trace");
}

#[test]
fn nothing_observable_depends_on_the_seed_of_the_hasher() {
    assert!(trace(3, 3_000, 0) == trace(3, 3_000, 99), "the hasher's seed shows");
}

#[test]
fn the_seed_of_the_generator_shows_in_what_is_random() {
    let keys = |seed| {
        let engine = Engine::builder().seed(seed).build();
        let mut client = engine.client();
        for n in 0..100 {
            client.call(["SET", &n.to_string(), "v"]).expect("SET works");
        }
        (0..20).map(|_| client.query::<String, _>(["RANDOMKEY"]).expect("a key")).collect::<Vec<_>>()
    };
    assert_eq!(keys(1), keys(1));
    assert_ne!(keys(1), keys(2));
}

#[test]
fn a_fork_goes_on_exactly_as_its_origin() {
    let origin = engine(0);
    run(&origin, &program(4, 1_000));
    let fork = origin.fork().expect("an engine that works");
    let more = program(5, 2_000);
    assert!(run(&origin, &more) == run(&fork, &more), "fork and origin answer differently");
    assert_eq!(origin.state_hash(), fork.state_hash());
    assert_eq!(origin.now_ms(), fork.now_ms());
}
