//! Keys and their expiry through the Rust API, on a clock that the test holds. What a server can be asked about is in
//! `tests/corpus/keys.txt` and `expiry.txt`.

use moonkeep::{Client, Clock, Engine};
use std::time::Duration;

fn int<const N: usize>(client: &mut Client, words: [&str; N]) -> i64 {
    client.query(words).expect("an integer")
}

#[test]
fn a_key_lives_to_the_last_millisecond_and_not_longer() {
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["SET", "lock", "me", "EX", "20"]).expect("SET works");
    engine.advance(Duration::from_millis(20_000)).expect("a manual clock");
    assert_eq!((int(&mut client, ["PTTL", "lock"]), int(&mut client, ["EXISTS", "lock"])), (0, 1));
    assert_eq!(client.query::<Option<String>, _>(["SET", "lock", "you", "NX"]), Ok(None));
    engine.advance(Duration::from_millis(1)).expect("a manual clock");
    assert_eq!((int(&mut client, ["PTTL", "lock"]), int(&mut client, ["EXISTS", "lock"])), (-2, 0));
    assert_eq!(int(&mut client, ["DBSIZE"]), 0);
}

#[test]
fn a_clock_set_back_lets_keys_live_longer() {
    let engine = Engine::builder().clock(Clock::manual(1_000_000)).build();
    let mut client = engine.client();
    client.call(["SET", "k", "v", "PX", "500"]).expect("SET works");
    engine.set_time(999_000).expect("a manual clock");
    assert_eq!(int(&mut client, ["PTTL", "k"]), 1_500);
    engine.set_time(1_000_501).expect("a manual clock");
    assert_eq!(int(&mut client, ["PTTL", "k"]), -2);
}

#[test]
fn small_integers_have_an_idle_time_of_their_own() {
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["MSET", "a", "7", "b", "7"]).expect("MSET works");
    engine.advance(Duration::from_secs(9)).expect("a manual clock");
    client.call(["GET", "a"]).expect("GET works");
    assert_eq!(int(&mut client, ["OBJECT", "IDLETIME", "a"]), 0);
    assert_eq!(int(&mut client, ["OBJECT", "IDLETIME", "b"]), 9);
    client.call(["COPY", "a", "c"]).expect("COPY works");
    assert_eq!(int(&mut client, ["OBJECT", "REFCOUNT", "c"]), i64::from(i32::MAX));
}

#[test]
fn a_deadline_far_away_is_no_deadline_soon() {
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["SET", "k", "v"]).expect("SET works");
    client.call(["PEXPIREAT", "k", "9223372036854775807"]).expect("PEXPIREAT works");
    engine.set_time(i64::MAX / 1_000).expect("a manual clock");
    assert_eq!(int(&mut client, ["EXISTS", "k"]), 1);
    assert_eq!(int(&mut client, ["PEXPIRETIME", "k"]), i64::MAX);
}
