//! DEBUG where it is about this engine: what its clock does, what is kept in memory, what is refused.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use moonkeep::{Client, Engine};
use std::time::Duration;

fn text(client: &mut Client, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut reply = moonkeep::Reply::new();
    client.call_into(words, &mut reply).expect("the engine answers");
    format!("{reply:?}")
}

#[test]
fn what_would_end_the_process_is_refused() {
    let mut client = Engine::new().client();
    for name in ["SEGFAULT", "OOM", "ASSERT", "RESTART", "CRASH-AND-RECOVER 5"] {
        let name_alone = name.split(' ').next().unwrap_or_default();
        let refused = format!(
            "-ERR DEBUG {name_alone} is not supported by moonkeep: it would end the program around the engine"
        );
        assert_eq!(text(&mut client, &format!("DEBUG {name}")), refused);
    }
    assert_eq!(text(&mut client, "PING"), "+PONG");
}

#[test]
fn expired_keys_stay_until_a_command_meets_them() {
    let engine = Engine::new();
    let mut client = engine.client();
    assert_eq!(text(&mut client, "DEBUG SET-ACTIVE-EXPIRE 0"), "+OK");
    assert_eq!(text(&mut client, "SET k v PX 10"), "+OK");
    assert_eq!(text(&mut client, "SET other v PX 10"), "+OK");
    engine.advance(Duration::from_millis(50)).expect("a manual clock");
    assert_eq!(text(&mut client, "DBSIZE"), ":2");
    assert_eq!(text(&mut client, "DEBUG LOADAOF"), "+OK");
    assert_eq!(text(&mut client, "DBSIZE"), ":2");
    assert_eq!(text(&mut client, "EXISTS k"), ":0");
    assert_eq!(text(&mut client, "DBSIZE"), ":1");
    assert_eq!(text(&mut client, "DEBUG RELOAD"), "+OK");
    assert_eq!(text(&mut client, "DBSIZE"), ":0");
}

/// What is asked while nothing but who meets a key removes it; a number is a time that passes.
const UNREAPED: &[Result<(&str, &str), i64>] = &[
    Ok(("DEBUG SET-ACTIVE-EXPIRE 0", "+OK")),
    Ok(("SET e 1 PX 20", "+OK")),
    Err(21),
    Ok(("DBSIZE", ":1")),
    Ok(("EXISTS e", ":0")),
    Ok(("DBSIZE", ":0")),
    Ok(("SET e 1 PX 20", "+OK")),
    Err(21),
    Ok(("SCAN 0", "[\"0\", []]")),
    Ok(("DBSIZE", ":0")),
    Ok(("SET e 1 PX 20", "+OK")),
    Err(21),
    Ok(("KEYS *", "[]")),
    Ok(("DBSIZE", ":1")),
    Ok(("SET e 1 PX 20", "+OK")),
    Err(21),
    Ok(("RANDOMKEY", "nil")),
    Ok(("DBSIZE", ":0")),
    // Watched when its time was over, but it was still there: that it is removed does not count as a change.
    Ok(("SET e 1 PX 20", "+OK")),
    Err(21),
    Ok(("WATCH e", "+OK")),
    Ok(("DBSIZE", ":1")),
    Ok(("MULTI", "+OK")),
    Ok(("EXISTS e", "+QUEUED")),
    Ok(("EXEC", "[:0]")),
    Ok(("DBSIZE", ":0")),
];

#[test]
fn s32_s73_a_key_whose_time_is_over_counts_until_somebody_looks_at_it() {
    let asked = |target: &mut dyn Target| {
        target.reset();
        for (at, step) in UNREAPED.iter().enumerate() {
            match step {
                Ok((line, wanted)) => {
                    let words: Vec<&str> = line.split(' ').collect();
                    assert_eq!(target.call(MAIN, &argv(&words)).to_string(), *wanted, "{at}: {line}");
                }
                Err(ms) => target.pass(*ms),
            }
        }
    };
    asked(&mut Moonkeep::default());
    let test = "s32_s73_a_key_whose_time_is_over_counts_until_somebody_looks_at_it";
    if let Some(mut server) = server_or_skip(test) {
        asked(&mut server);
    }
}

#[test]
fn a_script_that_may_sleep_sees_the_time_stand_still() {
    let engine = Engine::new();
    let mut client = engine.client();
    let script = "redis.call('SET', 'k', 'v', 'PX', 1) redis.call('DEBUG', 'SLEEP', 0.01) return redis.call('EXISTS', 'k')";
    assert!(client.call(["EVAL", script, "0"]).is_err());
    assert_eq!(text(&mut client, "DEBUG SET-DISABLE-DENY-SCRIPTS 1"), "+OK");
    let began_ms = engine.now_ms().expect("at rest");
    assert_eq!(client.query::<i64, _>(["EVAL", script, "0"]), Ok(1));
    assert_eq!(engine.now_ms(), Ok(began_ms + 10));
    assert_eq!(text(&mut client, "EXISTS k"), ":0");
}

#[test]
fn a_reload_without_an_image_leaves_nothing() {
    let mut client = Engine::new().client();
    text(&mut client, "SET k v");
    assert_eq!(text(&mut client, "DEBUG RELOAD NOSAVE"), "-ERR Error trying to load the RDB dump");
    assert_eq!(text(&mut client, "DBSIZE"), ":0");
}

#[test]
fn a_reload_that_meets_a_key_is_refused_and_changes_nothing() {
    let mut client = Engine::new().client();
    text(&mut client, "SET k v");
    assert_eq!(text(&mut client, "DEBUG RELOAD NOFLUSH"), "-ERR Error trying to load the RDB dump");
    assert_eq!(text(&mut client, "GET k"), "\"v\"");
    assert_eq!(text(&mut client, "DEBUG RELOAD NOFLUSH MERGE"), "+OK");
    assert_eq!(text(&mut client, "GET k"), "\"v\"");
}

#[test]
fn a_reload_stays_in_this_engine_and_out_of_the_journal() {
    let engine = Engine::new();
    let journal = engine.subscribe_journal().expect("the engine is at rest");
    let mut client = engine.client();
    text(&mut client, "MULTI");
    text(&mut client, "SET k v");
    text(&mut client, "DEBUG RELOAD");
    text(&mut client, "INCR n");
    text(&mut client, "EXEC");
    let lines: Vec<String> = journal.take().expect("at rest").iter().map(|entry| entry.to_string()).collect();
    assert_eq!(lines, ["MULTI", "SET k v", "INCR n", "EXEC"]);
}
