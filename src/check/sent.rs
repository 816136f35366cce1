//! Which calls a real server gets. It may hold what others need, and its clock is another one: it gets the calls whose
//! commands work on the keys of the call and on nothing else, and hang on no time but what keys have left.

use crate::command::spec::{ADMIN, NOSCRIPT};
use crate::command::{TracedCall, keys};
use crate::contract::Input;

/// Whether a call whose script called this may be made on a real server, and be compared with what the engine did.
pub(super) fn is_sent(calls: &[TracedCall], input: &Input) -> bool {
    calls.iter().all(|TracedCall { argv, .. }| {
        let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        stays_within(&words, input) && !hangs_on_the_clock(&words)
    })
}

/// Whether a command works on keys of the call alone. Commands that have none reach the whole database, the server or
/// those who listen to it.
fn stays_within(words: &[&[u8]], input: &Input) -> bool {
    let Ok(row) = crate::commands::table().lookup(words) else { return false };
    if matches!(row.spec.name, "echo" | "ping") {
        return true;
    }
    let leaves_the_database = match row.spec.name {
        "move" | "migrate" => true,
        "copy" => words.iter().skip(3).any(|word| word.eq_ignore_ascii_case(b"db")),
        _ => false,
    };
    let found = keys::find(row.spec, words);
    let is_own =
        |at: usize| words.get(at).is_some_and(|word| input.keys.iter().any(|key| key.as_slice() == *word));
    !leaves_the_database
        && row.spec.flags & (ADMIN | NOSCRIPT) == 0
        && !found.is_empty()
        && found.iter().all(|key| is_own(key.at))
}

/// Whether what a command does hangs on what time it is, or on how much has passed since something was used.
fn hangs_on_the_clock(words: &[&[u8]]) -> bool {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let has = |names: &[&str]| words.iter().skip(2).any(|word| names.iter().any(|name| is(word, name)));
    let (Some(command), second) = (words.first(), words.get(1)) else { return false };
    let name = String::from_utf8_lossy(command).to_ascii_lowercase();
    match name.as_str() {
        "expiretime" | "pexpiretime" | "expireat" | "pexpireat" => true,
        // What is left on the server is a little less by then.
        "expire" | "pexpire" => has(&["gt", "lt"]),
        "set" | "getex" => has(&["exat", "pxat"]),
        "restore" => has(&["absttl", "idletime", "freq"]),
        "object" => second.is_some_and(|word| is(word, "idletime") || is(word, "freq")),
        // An id of the clock: in full, or its first half.
        "xadd" => words.iter().skip(2).any(|word| *word == b"*" || word.ends_with(b"-*")),
        // Consumers have been seen, and entries delivered, at a time.
        "xreadgroup" | "xclaim" | "xautoclaim" => true,
        "xpending" => words.len() > 3,
        "xgroup" => second.is_some_and(|word| is(word, "createconsumer")),
        "xinfo" => second.is_some_and(|word| is(word, "consumers")) || has(&["full"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Reply;

    fn sent(command: &str) -> bool {
        let argv = command.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        let call = TracedCall { argv, reply: Reply::new(), real_time: std::time::Duration::ZERO };
        is_sent(&[call], &"call 2 k l".parse().expect("an input"))
    }

    #[test]
    fn a_server_gets_what_works_on_the_keys_alone() {
        for command in [
            "GET k",
            "set k v px 5",
            "ECHO x",
            "PING",
            "COPY k l",
            "RENAME k l",
            "SORT k STORE l",
            "ZUNIONSTORE k 1 l",
            "XADD k 1-1 f v",
            "OBJECT ENCODING k",
            "EXPIRE k 5 NX",
            "XPENDING k g",
            "XINFO STREAM k",
        ] {
            assert!(sent(command), "{command}");
        }
    }

    #[test]
    fn a_server_gets_nothing_that_reaches_beyond() {
        for command in [
            "FLUSHALL",
            "flushdb ASYNC",
            "SWAPDB 0 1",
            "SELECT 0",
            "SELECT 1",
            "CONFIG SET save x",
            "SCRIPT FLUSH",
            "SCRIPT LOAD x",
            "FUNCTION FLUSH",
            "FUNCTION DELETE x",
            "FUNCTION LOAD x",
            "SHUTDOWN",
            "DEBUG SLEEP 1",
            "DEBUG OBJECT k",
            "MIGRATE h 1 k 0 5",
            "REPLICAOF NO ONE",
            "ACL SETUSER x",
            "ACL DELUSER x",
            "SAVE",
            "BGSAVE",
            "BGREWRITEAOF",
            "CLIENT KILL x",
            "CLIENT PAUSE 5",
            "MOVE k 1",
            "COPY k l DB 1",
            "PUBLISH c x",
            "SPUBLISH c x",
            "KEYS *",
            "DBSIZE",
            "SCAN 0",
            "RANDOMKEY",
            "INFO",
            "MEMORY PURGE",
            "SLOWLOG RESET",
            "LATENCY RESET",
            "CLUSTER RESET",
            "MODULE LOAD x",
            "FAILOVER",
            "GET other",
            "MSET k 1 other 2",
            "EVAL x 1 k",
            "NOSUCH k",
            "GET",
            "WAIT 0 1",
            "",
        ] {
            assert!(!sent(command), "{command}");
        }
    }

    #[test]
    fn a_server_gets_nothing_that_hangs_on_its_clock() {
        for command in [
            "TIME",
            "XADD k * f v",
            "XADD k MAXLEN 5 5-* f v",
            "PEXPIRETIME k",
            "EXPIREAT k 5 NX",
            "SET k v EXAT 5",
            "GETEX k PXAT 5",
            "EXPIRE k 5 GT",
            "OBJECT IDLETIME k",
            "XREADGROUP GROUP g c STREAMS k >",
            "XINFO STREAM k FULL",
            "XPENDING k g - + 5",
            "XCLAIM k g c 5 1-1",
            "RESTORE k 5 x ABSTTL",
        ] {
            assert!(!sent(command), "{command}");
        }
    }
}
