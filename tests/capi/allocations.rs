//! A call through C whose reply the client owns asks the allocator for nothing at steady state, as in Rust.

#[path = "../../benches/exported.rs"]
#[allow(unsafe_code, dead_code, reason = "it names the functions as C does; shared with benches")]
mod exported;

use crate::support::counting::allocations;
use exported::{Caller, Words};

/// The allocations of each of five calls at steady state.
fn each_call(caller: &Caller, words: &[&str]) -> Vec<u64> {
    let words = Words::new(words);
    (0..3).for_each(|_| caller.call_borrow(&words));
    (0..5).map(|_| allocations(|| caller.call_borrow(&words))).collect()
}

#[test]
fn a_borrowed_reply_allocates_nothing() {
    let caller = Caller::new();
    caller.call_borrow(&Words::new(&[
        "MSET",
        "k",
        "a value of some length, too long for the entry",
        "n",
        "1",
    ]));
    for words in [
        &["GET", "k"][..],
        &["GET", "nobody"],
        &["INCR", "n"],
        &["SET", "k", "short"],
        &["MGET", "k", "n", "nobody"],
        &["EVAL", "return tonumber(ARGV[1])", "0", "7"],
    ] {
        assert_eq!(each_call(&caller, words), [0; 5], "{words:?}");
    }
}

#[test]
fn a_script_that_is_an_object_allocates_nothing() {
    let caller = Caller::new();
    let script = caller.script("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    let words = Words::new(&["n", "3"]);
    let run = || caller.run_borrow(script, 1, &words);
    (0..3).for_each(|_| run());
    assert_eq!((0..5).map(|_| allocations(run)).collect::<Vec<_>>(), [0; 5]);
}
