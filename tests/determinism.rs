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

fn engine_with_a_set(seed: u64, members: usize) -> Engine {
    let engine = Engine::builder().seed(seed).build();
    let mut client = engine.client();
    for n in 0..members {
        client.call(["SADD", "s", &format!("m{n}")]).expect("SADD works");
    }
    engine
}

#[test]
fn random_members_follow_from_the_seed() {
    let members = |seed| {
        let mut client = engine_with_a_set(seed, 50).client();
        let one: Vec<String> = client.query(["SRANDMEMBER", "s", "-10"]).expect("members");
        let other: Vec<String> = client.query(["SPOP", "s", "5"]).expect("members");
        (one, other)
    };
    assert_eq!(members(1), members(1));
    assert_ne!(members(1), members(2));
}

#[test]
fn what_spop_chose_is_told_member_by_member() {
    let engine = engine_with_a_set(1, 3);
    let journal = engine.subscribe_journal().expect("an engine that works");
    let popped: Vec<String> = engine.client().query(["SPOP", "s", "2"]).expect("members");
    let told: Vec<String> =
        journal.take().expect("an engine that works").iter().map(ToString::to_string).collect();
    let removed = |at: usize| format!("SREM s {}", popped[at]);
    assert_eq!(told, ["MULTI".to_owned(), removed(0), removed(1), "EXEC".to_owned()]);
}

#[test]
fn a_reply_of_random_elements_is_bounded() {
    let mut client = engine_with_a_set(1, 1).client();
    let refused = client.call(["SRANDMEMBER", "s", "-9223372036854775807"]).unwrap_err();
    assert_eq!(refused.to_string(), "ERR count is out of range, the reply would exceed 64 MiB");
    let many: Vec<String> = client.query(["SRANDMEMBER", "s", "-1000"]).expect("a reply");
    assert_eq!(many.len(), 1000);
}

#[test]
fn a_bitfield_that_only_lengthens_its_string_is_told() {
    let engine = Engine::new();
    let journal = engine.subscribe_journal().expect("an engine that works");
    let mut client = engine.client();
    let line = ["BITFIELD", "k", "OVERFLOW", "FAIL", "INCRBY", "u8", "8", "300"];
    assert_eq!(client.call(line).expect("a reply").to_string(), "1) (nil)");
    assert_eq!(client.query::<i64, _>(["STRLEN", "k"]), Ok(2));
    let told = journal.take().expect("an engine that works");
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), [line.join(" ")]);
    client.call(line).expect("a reply");
    assert_eq!(journal.take().expect("an engine that works").len(), 0);
}
