//! Snapshots, forks, hashes, differences, and the journal, over random programs.

use crate::support::runs::{Step, perform, program, run};
use moonkeep::{Client, Clock, Engine, Snapshot};
use std::time::Duration;

fn engine() -> Engine {
    Engine::builder().clock(Clock::manual(1_700_000_000_000)).seed(3).build()
}

fn call(client: &mut Client, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    client.call(words).expect("a command that works");
}

fn snapshot(engine: &Engine) -> Snapshot {
    engine.snapshot().expect("an engine that works")
}

fn diff(before: &Snapshot, after: &Engine) -> Vec<String> {
    before.diff(&snapshot(after)).iter().map(ToString::to_string).collect()
}

#[test]
fn a_journal_replayed_into_a_fresh_engine_gives_an_equal_state() {
    for seed in 0..40 {
        let source = engine();
        let journal = source.subscribe_journal().expect("an engine that works");
        run(&source, &program(seed, 400));
        let target = engine();
        target.replay(&journal.take().expect("an engine that works")).expect("a journal that replays");
        target.set_time(source.now_ms().expect("a time")).expect("a manual clock");
        assert_eq!(diff(&snapshot(&source), &target), Vec::<String>::new(), "program {seed}");
        assert_eq!(source.state_hash(), target.state_hash(), "program {seed}");
    }
}

#[test]
fn a_journal_replayed_step_by_step_follows_the_source() {
    let (source, target) = (engine(), engine());
    let journal = source.subscribe_journal().expect("an engine that works");
    let mut client = source.client();
    for step in program(77, 2_000) {
        perform(&source, &mut client, &step);
        let entries = journal.take().expect("an engine that works");
        target.replay(&entries).expect("a journal that replays");
        if let Step::Advance(_) = step {
            target.set_time(source.now_ms().expect("a time")).expect("a manual clock");
        }
        assert_eq!(source.state_hash(), target.state_hash(), "{step:?} wrote {entries:?}");
    }
}

#[test]
fn an_approximate_trim_is_replayed_as_an_exact_one() {
    let (source, target) = (engine(), engine());
    let journal = source.subscribe_journal().expect("an engine that works");
    let mut client = source.client();
    call(&mut client, "CONFIG SET stream-node-max-entries 3");
    for number in 1..=8 {
        call(&mut client, &format!("XADD s {number}-1 f v"));
    }
    call(&mut client, "XADD s MAXLEN ~ 2 LIMIT 3 * f v");
    let entries = journal.take().expect("an engine that works");
    let last: Vec<&[u8]> = entries
        .last()
        .map(|entry| entry.argv.iter().map(|word| word.as_slice()).collect())
        .unwrap_or_default();
    assert_eq!(last.join(&b' '), b"XADD s MAXLEN = 6 LIMIT 3 1700000000000-0 f v");
    target.replay(&entries).expect("a journal that replays");
    assert_eq!(diff(&snapshot(&source), &target), Vec::<String>::new());
    assert_eq!(
        target.client().call(["XADD", "s", "MAXLEN", "=", "1", "LIMIT", "3", "*", "f", "v"]).map(drop),
        Err(moonkeep::Failure::LIMIT_WITHOUT_TILDE.into())
    );
}

#[test]
fn neither_side_of_a_fork_sees_the_other() {
    let origin = engine();
    run(&origin, &program(1, 500));
    let then = snapshot(&origin);
    let fork = origin.fork().expect("an engine that works");
    run(&fork, &program(2, 500));
    assert_eq!(diff(&then, &origin), Vec::<String>::new());
    let forked = snapshot(&fork);
    run(&origin, &program(3, 500));
    assert_eq!(diff(&forked, &fork), Vec::<String>::new());
    assert_eq!(then.fork().state_hash().expect("a hash"), then.state_hash());
    assert!(!diff(&then, &origin).is_empty() && !diff(&then, &fork).is_empty());
}

#[test]
fn a_fork_has_a_clock_of_its_own() {
    let origin = engine();
    call(&mut origin.client(), "SET k v PX 100");
    let fork = origin.fork().expect("an engine that works");
    fork.advance(Duration::from_millis(101)).expect("a manual clock");
    assert_eq!(fork.client().query::<i64, _>(["EXISTS", "k"]), Ok(0));
    assert_eq!(origin.client().query::<i64, _>(["PTTL", "k"]), Ok(100));
}

#[test]
fn restore_brings_back_what_can_be_observed() {
    let engine = engine();
    run(&engine, &program(1, 500));
    let sha: String = engine.client().query(["SCRIPT", "LOAD", "return 1"]).expect("a script");
    engine.client().call(["CONFIG", "SET", "hash-max-listpack-entries", "7"]).expect("a setting");
    let kept = snapshot(&engine);
    let next = program(2, 500);
    let first = run(&engine, &next);
    call(&mut engine.client(), "SCRIPT FLUSH");
    call(&mut engine.client(), "CONFIG SET hash-max-listpack-entries 8");
    call(&mut engine.client(), "FLUSHALL");
    engine.advance(Duration::from_secs(9)).expect("a manual clock");
    for _ in 0..2 {
        engine.restore(&kept).expect("a snapshot that fits");
        assert_eq!((engine.now_ms(), engine.state_hash()), (Ok(kept.now_ms()), Ok(kept.state_hash())));
        let mut client = engine.client();
        assert_eq!(client.query::<i64, _>(["EVALSHA", &sha, "0"]), Ok(1));
        let setting: Vec<String> =
            client.query(["CONFIG", "GET", "hash-max-listpack-entries"]).expect("a setting");
        assert_eq!(setting, ["hash-max-listpack-entries", "7"]);
        engine.restore(&kept).expect("a snapshot that fits");
        assert!(run(&engine, &next) == first, "after restore the program runs otherwise");
    }
}

#[test]
fn restore_breaks_the_transactions_of_those_who_watch() {
    let engine = engine();
    let mut client = engine.client();
    call(&mut client, "SET k 1");
    let kept = snapshot(&engine);
    call(&mut client, "WATCH k");
    engine.restore(&kept).expect("a snapshot that fits");
    call(&mut client, "MULTI");
    call(&mut client, "PING");
    assert_eq!(client.query::<Option<Vec<String>>, _>(["EXEC"]), Ok(None));
    let small = Engine::builder().databases(1).build();
    assert!(small.restore(&kept).expect_err("too few databases").is_usage());
}

#[test]
fn differences_read_well() {
    let engine = engine();
    let mut client = engine.client();
    for line in ["SET stock:{p1} 10", "SET lock:{p1} me PX 500", "SET gone x", "RPUSH list a b", "SET old 1"]
    {
        call(&mut client, line);
    }
    let before = snapshot(&engine);
    for line in [
        "DECR stock:{p1}",
        "PEXPIRE lock:{p1} 30000",
        "DEL gone",
        "RPUSH list c",
        "SET new v EX 5",
        "DEL old",
        "SADD old 1 2",
        "PEXPIRE list 70",
        "SELECT 2",
        "HSET h f v",
    ] {
        call(&mut client, line);
    }
    client.call(["SET", "a b", "\n"]).expect("SET works");
    let lines = [
        r#"- gone string "x""#,
        r#"~ list list ["a", "b"] -> ["a", "b", "c"] (no expiry -> expires in 70 ms)"#,
        r#"~ lock:{p1} string "me": expires in 500 ms -> expires in 30000 ms"#,
        r#"+ new string "v" (expires in 5000 ms)"#,
        r#"~ old string "1" -> set {"1", "2"}"#,
        r#"~ stock:{p1} string "10" -> "9""#,
        r#"+ "a b" (db 2) string "\n""#,
        r#"+ h (db 2) hash {"f": "v"}"#,
    ];
    assert_eq!(diff(&before, &engine), lines);
    let way_back: Vec<String> = snapshot(&engine).diff(&before).iter().map(ToString::to_string).collect();
    assert_eq!(way_back.len(), lines.len());
    assert_eq!(way_back[0], r#"+ gone string "x""#);
}

#[test]
fn keys_whose_time_is_over_do_not_count() {
    let clock = Clock::manual(1_000_000);
    let (one, two) = (
        Engine::builder().clock(clock.clone()).build(),
        Engine::builder().clock(clock.clone()).hasher_seed(5).build(),
    );
    call(&mut one.client(), "SET a 1 PX 10");
    let with_a = snapshot(&one);
    for line in ["SET x 1", "SET b 2", "DEL x", "SET b 22 PX 50"] {
        call(&mut two.client(), line);
    }
    call(&mut one.client(), "SET b 22 PX 50");
    assert_ne!(one.state_hash(), two.state_hash());
    assert_eq!(diff(&snapshot(&two), &one), [r#"+ a string "1" (expires in 10 ms)"#]);
    // The shared clock moves without a word to either engine: nothing is removed yet.
    clock.advance(Duration::from_millis(11));
    assert_eq!(one.state_hash(), two.state_hash());
    assert!(snapshot(&one).same_data(&snapshot(&two)));
    assert_eq!(diff(&with_a, &one).len(), 2);
    assert_eq!(one.client().query::<i64, _>(["DBSIZE"]), Ok(2));
}

#[test]
fn equal_data_has_one_hash_however_it_came_about() {
    let (one, two) = (engine(), Engine::builder().hasher_seed(9).databases(3).build());
    two.set_time(1_700_000_000_000).expect("a manual clock");
    for line in
        ["SADD s 1 2 3", "HSET h a 1 b 2", "ZADD z 1 a 2 b", "SET n 12", "RPUSH l a b c", "APPEND t ab"]
    {
        call(&mut one.client(), line);
    }
    for line in [
        "APPEND n 1",
        "APPEND n 2",
        "SADD s x 3 2 1",
        "SELECT 0",
        "HSET h b 2 a 1",
        "ZADD z 2 b 1 a",
        "RPUSH l a b",
        "RPUSH l c",
        "SET t ab",
    ] {
        call(&mut two.client(), line);
    }
    assert_ne!(one.state_hash(), two.state_hash());
    assert_eq!(diff(&snapshot(&one), &two), [r#"~ s set {"1", "2", "3"} -> {"x", "3", "2", "1"}"#]);
    call(&mut one.client(), "SADD s x");
    assert_eq!(one.state_hash(), two.state_hash());
    assert_eq!(diff(&snapshot(&one), &two), Vec::<String>::new());
    call(&mut one.client(), "COPY s s DB 1");
    assert_ne!(one.state_hash(), two.state_hash());
}

#[test]
fn each_reader_of_the_journal_gets_all() {
    let engine = engine();
    let first = engine.subscribe_journal().expect("an engine that works");
    run(&engine, &program(1, 200));
    let second = engine.subscribe_journal().expect("an engine that works");
    run(&engine, &program(2, 200));
    let (all, late) = (first.take().expect("entries"), second.take().expect("entries"));
    assert!(!late.is_empty() && all.len() > late.len());
    assert_eq!(all[all.len() - late.len()..], late);
    assert!(first.take().expect("entries").is_empty());
}
