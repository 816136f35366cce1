//! Memory: the count is exact, keys go as the policy says, and what goes is told to those who must know.

use moonkeep::util::rng::Rng;
use moonkeep::{Client, Engine, JournalEntry, Reply};
use std::time::Duration;

/// The reply as text, errors too.
fn text(client: &mut Client, words: &[&str]) -> String {
    let mut out = Reply::new();
    client.call_into(words, &mut out).expect("a call");
    out.to_string()
}

fn int<const N: usize>(client: &mut Client, words: [&str; N]) -> i64 {
    client.query(words).expect("an integer")
}

fn info(client: &mut Client, field: &str) -> String {
    let all: String = client.query(["INFO", "everything"]).expect("a text");
    let line = all.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.expect("a field").trim().to_owned()
}

fn used(client: &mut Client) -> i64 {
    info(client, "used_memory").parse().expect("a number")
}

fn config<const N: usize>(client: &mut Client, pairs: [&str; N]) {
    let words: Vec<&str> = ["CONFIG", "SET"].into_iter().chain(pairs).collect();
    assert_eq!(client.call(words).expect("a call").to_string(), "OK");
}

/// Lets in only what fits beside what is there.
fn limit_to(client: &mut Client, bytes: i64, policy: &str) {
    let maxmemory = bytes.to_string();
    config(client, ["maxmemory-policy", policy, "maxmemory", &maxmemory]);
}

fn keys(client: &mut Client) -> Vec<String> {
    let mut keys: Vec<String> = client.query(["KEYS", "*"]).expect("names");
    keys.sort();
    keys
}

/// What MEMORY USAGE says of all keys of all databases.
fn usages(client: &mut Client, databases: u32) -> i64 {
    let mut sum = 0;
    for db in 0..databases {
        text(client, &["SELECT", &db.to_string()]);
        sum += keys(client).iter().map(|key| int(client, ["MEMORY", "USAGE", key])).sum::<i64>();
    }
    text(client, &["SELECT", "0"]);
    sum
}

const EMPTY: i64 = 8192;

#[test]
fn the_count_of_memory_is_what_the_keys_add_up_to() {
    let engine = Engine::builder().databases(2).build();
    let mut client = engine.client();
    assert_eq!(used(&mut client), EMPTY);
    let mut rng = Rng::new(11);
    for step in 0..3000 {
        let key = format!("k{}", rng.below(6));
        let value = "v".repeat(rng.below(90) as usize);
        let number = rng.below(40).to_string();
        let words: Vec<&str> = match rng.below(20) {
            0 => vec!["SET", &key, &value],
            1 => vec!["SET", &key, &value, "PX", &number],
            2 => vec!["APPEND", &key, &value],
            3 => vec!["SETRANGE", &key, &number, &value],
            4 => vec!["LPUSH", &key, &value, &number],
            5 => vec!["RPOP", &key],
            6 => vec!["SADD", &key, &value, &number],
            7 => vec!["SPOP", &key],
            8 => vec!["HSET", &key, &number, &value],
            9 => vec!["HDEL", &key, &number],
            10 => vec!["ZADD", &key, &number, &value],
            11 => vec!["ZPOPMIN", &key],
            12 => vec!["XADD", &key, "*", &number, &value],
            13 => vec!["XTRIM", &key, "MAXLEN", "3"],
            14 => vec!["RENAME", &key, "other"],
            15 => vec!["COPY", &key, "other", "DB", "1", "REPLACE"],
            16 => vec!["DEL", &key],
            17 => vec!["EXPIRE", &key, &number],
            18 => vec!["SWAPDB", "0", "1"],
            _ => vec!["PERSIST", &key],
        };
        text(&mut client, &words);
        if step % 10 == 0 {
            engine.advance(Duration::from_millis(5)).expect("a manual clock");
            assert_eq!(EMPTY + usages(&mut client, 2), used(&mut client), "step {step}");
        }
    }
    let fork = engine.fork().expect("a fork");
    assert_eq!(used(&mut fork.client()), used(&mut client));
    client.call(["FLUSHALL"]).expect("a call");
    assert_eq!((used(&mut client), usages(&mut client, 2)), (EMPTY, 0));
}

#[test]
fn what_was_not_used_for_long_goes_first() {
    let engine = Engine::new();
    let mut client = engine.client();
    for key in ["a", "b", "c"] {
        text(&mut client, &["SET", key, "v"]);
        engine.advance(Duration::from_secs(10)).expect("a manual clock");
    }
    text(&mut client, &["GET", "a"]);
    // None of these is a use.
    for words in [["EXISTS", "b"], ["TYPE", "b"], ["TTL", "b"]] {
        text(&mut client, &words);
    }
    assert_eq!(int(&mut client, ["OBJECT", "IDLETIME", "b"]), 20);
    let full = used(&mut client);
    limit_to(&mut client, full, "allkeys-lru");
    text(&mut client, &["SET", "d", "v"]);
    assert_eq!(keys(&mut client), ["a", "c", "d"]);
    text(&mut client, &["SET", "e", "v"]);
    text(&mut client, &["PING"]);
    assert_eq!(keys(&mut client), ["a", "d", "e"]);
    assert_eq!(info(&mut client, "evicted_keys"), "2");
}

#[test]
fn what_is_used_seldom_goes_first_and_fame_fades() {
    let engine = Engine::new();
    let mut client = engine.client();
    config(&mut client, ["maxmemory-policy", "allkeys-lfu", "lfu-log-factor", "0"]);
    for (key, uses) in [("a", 3), ("b", 1), ("c", 2)] {
        text(&mut client, &["SET", key, "v"]);
        (0..uses).for_each(|_| drop(text(&mut client, &["GET", key])));
    }
    assert_eq!(["a", "b", "c"].map(|key| int(&mut client, ["OBJECT", "FREQ", key])), [8, 6, 7]);
    let full = used(&mut client);
    limit_to(&mut client, full, "allkeys-lfu");
    // A new key begins with 5 and would go first.
    text(&mut client, &["SET", "d", "v"]);
    assert_eq!(keys(&mut client), ["a", "b", "c"]);
    engine.advance(Duration::from_secs(180)).expect("a manual clock");
    assert_eq!(int(&mut client, ["OBJECT", "FREQ", "a"]), 5);
    config(&mut client, ["lfu-decay-time", "0"]);
    assert_eq!(int(&mut client, ["OBJECT", "FREQ", "a"]), 8);
    config(&mut client, ["lfu-decay-time", "3"]);
    assert_eq!(int(&mut client, ["OBJECT", "FREQ", "a"]), 7);
    text(&mut client, &["GET", "a"]);
    assert_eq!(int(&mut client, ["OBJECT", "FREQ", "a"]), 8);
}

#[test]
fn of_keys_with_an_expiry_the_nearest_goes_first() {
    let mut client = Engine::new().client();
    for (key, ttl_s) in [("a", "300"), ("b", "100"), ("c", "200")] {
        text(&mut client, &["SET", key, "v", "EX", ttl_s]);
    }
    text(&mut client, &["SET", "stays", "v"]);
    let full = used(&mut client);
    limit_to(&mut client, full - 1, "volatile-ttl");
    assert_eq!(keys(&mut client), ["a", "c", "stays"]);
    limit_to(&mut client, 1, "volatile-ttl");
    assert_eq!(keys(&mut client), ["stays"]);
    assert_eq!(
        text(&mut client, &["SET", "x", "v"]),
        "(error) OOM command not allowed when used memory > 'maxmemory'."
    );
}

/// What is left of some keys under each policy that chooses at random.
fn survivors(seed: u64, policy: &str) -> Vec<String> {
    let mut client = Engine::builder().seed(seed).build().client();
    for number in 0..300 {
        let (key, ttl_s) = (format!("k{number}"), (1000 + number).to_string());
        text(&mut client, &["SET", &key, "v", "EX", &ttl_s]);
    }
    let full = used(&mut client);
    limit_to(&mut client, full - 100 * 88, policy);
    keys(&mut client)
}

#[test]
fn what_goes_follows_from_the_seed() {
    for policy in ["allkeys-random", "volatile-random", "allkeys-lru", "volatile-lfu", "volatile-ttl"] {
        let first = survivors(1, policy);
        assert_eq!(first.len(), 200, "{policy}");
        assert_eq!(first, survivors(1, policy), "{policy}");
        assert_ne!(first, survivors(2, policy), "{policy}");
    }
}

#[test]
fn memory_stays_within_its_limit_in_a_sparse_keyspace_too() {
    let mut client = Engine::new().client();
    limit_to(&mut client, 200_000, "allkeys-lru");
    for number in 0..10_000 {
        text(&mut client, &["SET", &format!("key:{number}"), "v"]);
        assert!(used(&mut client) <= 200_000);
    }
    assert!(int(&mut client, ["DBSIZE"]) > 2000);
    config(&mut client, ["maxmemory", "8500"]);
    assert_eq!(int(&mut client, ["DBSIZE"]), 4);
    config(&mut client, ["maxmemory", "200000"]);
    text(&mut client, &["SET", "new", "v"]);
    assert_eq!(int(&mut client, ["DBSIZE"]), 5);
}

#[test]
fn each_eviction_stands_alone_in_the_journal_before_the_command() {
    let engine = Engine::new();
    let journal = engine.subscribe_journal().expect("an engine that works");
    let mut client = engine.client();
    for key in ["a", "b"] {
        text(&mut client, &["SET", key, "v"]);
    }
    limit_to(&mut client, EMPTY + 100, "allkeys-lru");
    config(&mut client, ["lazyfree-lazy-eviction", "yes"]);
    client
        .call(["EVAL", "redis.call('SET', 'c', 'v') return redis.call('SET', 'd', 'v')", "0"])
        .expect("a call");
    text(&mut client, &["PING"]);
    let told: Vec<String> = journal.take().expect("entries").iter().map(JournalEntry::to_string).collect();
    assert_eq!(told[..2], ["SET a v", "SET b v"]);
    assert!(["DEL a", "DEL b"].contains(&told[2].as_str()), "{told:?}");
    assert_eq!(told[3..7], ["MULTI", "SET c v", "SET d v", "EXEC"]);
    assert_eq!(told[7..].iter().filter(|line| line.starts_with("UNLINK ")).count(), 2, "{told:?}");
    assert_eq!(told.len(), 9);
}

#[test]
fn a_replay_neither_evicts_nor_is_refused() {
    let (one, two) = (Engine::new(), Engine::new());
    let journal = one.subscribe_journal().expect("an engine that works");
    limit_to(&mut one.client(), EMPTY + 200, "allkeys-random");
    config(&mut two.client(), ["maxmemory", "1"]);
    for number in 0..20 {
        text(&mut one.client(), &["SET", &format!("k{number}"), "v"]);
    }
    text(&mut one.client(), &["PING"]);
    two.replay(&journal.take().expect("entries")).expect("a replay");
    assert_eq!(one.state_hash().expect("a hash"), two.state_hash().expect("a hash"));
}

#[test]
fn uses_and_settings_go_with_snapshots_and_forks() {
    let engine = Engine::new();
    let mut client = engine.client();
    config(&mut client, ["maxmemory-policy", "allkeys-lfu", "lfu-log-factor", "0"]);
    text(&mut client, &["SET", "a", "v"]);
    text(&mut client, &["GET", "a"]);
    let snapshot = engine.snapshot().expect("a snapshot");
    text(&mut client, &["GET", "a"]);
    config(&mut client, ["maxmemory-policy", "noeviction"]);
    let mut other = snapshot.fork().client();
    assert_eq!(int(&mut other, ["OBJECT", "FREQ", "a"]), 6);
    engine.restore(&snapshot).expect("a restore");
    assert_eq!(int(&mut client, ["OBJECT", "FREQ", "a"]), 6);
    text(&mut client, &["GET", "a"]);
    assert_eq!(int(&mut client, ["OBJECT", "FREQ", "a"]), 7);
}

#[test]
fn the_time_for_which_memory_is_short_is_counted() {
    let engine = Engine::new();
    let mut client = engine.client();
    let times = |client: &mut Client| {
        ["total_eviction_exceeded_time", "current_eviction_exceeded_time"].map(|field| info(client, field))
    };
    config(&mut client, ["maxmemory", "1"]);
    engine.advance(Duration::from_millis(70)).expect("a manual clock");
    assert_eq!(times(&mut client), ["70", "70"]);
    config(&mut client, ["maxmemory", "0"]);
    engine.advance(Duration::from_millis(70)).expect("a manual clock");
    assert_eq!(times(&mut client), ["70", "0"]);
}

#[test]
fn a_woken_client_is_not_refused_for_want_of_memory() {
    let engine = Engine::new();
    let (mut client, mut other) = (engine.client(), engine.client());
    let mut pending = client.start(["BLMOVE", "from", "to", "LEFT", "LEFT", "0"]).expect("it waits");
    let before = used(&mut other).to_string();
    config(&mut other, ["maxmemory", &before]);
    text(&mut other, &["RPUSH", "from", "v"]);
    assert_eq!(pending.reply().expect("an engine that works").expect("a reply").to_string(), "\"v\"");
}

#[test]
fn wait_takes_its_time_and_finds_no_replica() {
    let engine = Engine::new();
    let (mut client, mut other) = (engine.client(), engine.client());
    let id: String = int(&mut client, ["CLIENT", "ID"]).to_string();
    let mut pending = client.start(["WAIT", "1", "50"]).expect("it waits");
    assert_eq!(info(&mut other, "blocked_clients"), "1");
    engine.advance(Duration::from_millis(50)).expect("a manual clock");
    assert!(pending.reply().expect("an engine that works").is_none());
    engine.advance(Duration::from_millis(1)).expect("a manual clock");
    assert_eq!(pending.reply().expect("an engine that works").expect("a reply").to_string(), "(integer) 0");
    drop(pending);
    for (reason, reply) in
        [("TIMEOUT", "(integer) 0"), ("ERROR", "(error) UNBLOCKED client unblocked via CLIENT UNBLOCK")]
    {
        let mut pending = client.start(["WAIT", "1", "0"]).expect("it waits");
        assert_eq!(int(&mut other, ["CLIENT", "UNBLOCK", &id, reason]), 1);
        assert_eq!(pending.reply().expect("an engine that works").expect("a reply").to_string(), reply);
    }
}
