//! What the hot paths ask of the allocator at steady state: nothing. Counted for this thread by `support::counting`.

use crate::support::counting::{allocations, held_bytes};
use moonkeep::{Client, Engine, Reply};

/// Calls a command until it is at steady state, then counts the allocations of each of ten more calls.
fn each_call(client: &mut Client, argv: &[&[u8]]) -> Vec<u64> {
    let mut reply = Reply::new();
    let mut call = || client.call_into(argv, &mut reply).expect("the engine is free");
    (0..3).for_each(|_| call());
    (0..10).map(|_| allocations(&mut call)).collect()
}

const NONE: [u64; 10] = [0; 10];

fn client_with(argv: &[&[u8]]) -> Client {
    let mut client = Engine::new().client();
    client.call(argv).expect("a valid command");
    client
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn get_of_a_key_that_is_there() {
    let mut client = client_with(&[b"SET", b"k", b"a value of some length, too long for the entry"]);
    assert_eq!(each_call(&mut client, &[b"GET", b"k"]), NONE);
    assert_eq!(each_call(&mut client, &[b"GET", b"nobody"]), NONE);
}

#[test]
fn set_of_a_short_value_over_another() {
    let mut client = client_with(&[b"SET", b"k", b"old"]);
    assert_eq!(each_call(&mut client, &[b"SET", b"k", b"short"]), NONE);
    assert_eq!(each_call(&mut client, &[b"SET", b"k", b"17"]), NONE);
    assert_eq!(each_call(&mut client, &[b"set", b"k", b"v", b"XX"]), NONE);
}

#[test]
fn incr_of_a_number() {
    let mut client = client_with(&[b"SET", b"n", b"41"]);
    assert_eq!(each_call(&mut client, &[b"INCR", b"n"]), NONE);
    assert_eq!(each_call(&mut client, &[b"DECRBY", b"n", b"3"]), NONE);
}

/// The SHA1 of a script that the engine knows.
fn loaded(client: &mut Client, script: &str) -> String {
    client.query(["SCRIPT", "LOAD", script]).expect("the script compiles")
}

#[test]
fn a_script_with_an_integer_reply() {
    let mut client = client_with(&[b"SET", b"k", b"41"]);
    let sha = loaded(&mut client, "return tonumber(ARGV[1]) + #KEYS");
    assert_eq!(each_call(&mut client, &[b"EVALSHA", sha.as_bytes(), b"1", b"k", b"7"]), NONE);
}

#[test]
fn a_script_with_an_array_reply() {
    let mut client = client_with(&[b"SET", b"k", b"41"]);
    let sha = loaded(&mut client, "return {1, tonumber(ARGV[1])}");
    let counts = each_call(&mut client, &[b"EVALSHA", sha.as_bytes(), b"1", b"k", b"7"]);
    assert!(counts.iter().all(|&count| count <= 1), "{counts:?}");
}

#[test]
fn each_call_of_a_script() {
    let mut client = client_with(&[b"SET", b"k", b"41"]);
    for call in ["'GET', KEYS[1]", "'SET', KEYS[1], ARGV[1]", "'INCR', KEYS[1]", "'DECRBY', KEYS[1], 3"] {
        let script = format!("for i = 1, 100 do redis.call({call}) end return 1");
        let sha = loaded(&mut client, &script);
        assert_eq!(each_call(&mut client, &[b"EVALSHA", sha.as_bytes(), b"1", b"k", b"7"]), NONE, "{call}");
    }
}

#[test]
fn the_documents_scripts() {
    let mut client = client_with(&[b"SET", b"stock", b"1000"]);
    client.call(["SET", "lock", "me", "PX", "100000"]).expect("a valid command");
    let stock = loaded(&mut client, include_str!("../lua/decrease_stock.lua"));
    let renew = loaded(&mut client, include_str!("../lua/renew_lock.lua"));
    let unlock = loaded(&mut client, include_str!("../lua/unlock.lua"));
    let counts = each_call(&mut client, &[b"EVALSHA", stock.as_bytes(), b"1", b"stock", b"1"]);
    assert!(counts.iter().all(|&count| count <= 1), "{counts:?}");
    let renewed = each_call(&mut client, &[b"EVALSHA", renew.as_bytes(), b"1", b"lock", b"me", b"5000"]);
    assert_eq!(renewed, NONE);
    let missed = each_call(&mut client, &[b"EVALSHA", unlock.as_bytes(), b"1", b"lock", b"you"]);
    assert_eq!(missed, NONE);
}

/// A hundred thousand runs of one script leave memory where it was, and so do ten thousand scripts after SCRIPT FLUSH.
#[test]
fn scripts_leave_memory_flat() {
    let mut client = Engine::new().client();
    let mut reply = Reply::new();
    let mut eval = |client: &mut Client, body: &str| {
        client.call_into(["EVAL", body, "1", "n", "1"], &mut reply).expect("the engine is free");
        assert!(!reply.is_error(), "{reply}");
    };
    let body =
        "local t = {} for i = 1, 10 do t[i] = {KEYS[1], ARGV[1] .. i} end return redis.call('INCR', KEYS[1])";
    (0..1000).for_each(|_| eval(&mut client, body));
    let before = held_bytes();
    (0..100_000).for_each(|_| eval(&mut client, body));
    assert!(held_bytes() - before <= 4096, "{} bytes more", held_bytes() - before);
    let mut thousands = Vec::new();
    for _ in 0..3 {
        (0..10_000).for_each(|n| eval(&mut client, &format!("return {n}")));
        client.call(["SCRIPT", "FLUSH"]).expect("the engine is free");
        eval(&mut client, body);
        thousands.push(held_bytes());
    }
    assert!(thousands[2] - thousands[0] <= 4096, "{thousands:?}");
}
