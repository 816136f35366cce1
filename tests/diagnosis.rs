//! The diagnoses of docs/RECIPES.md from outside: redis-cli looks for big and hot keys, and at a client that does not read.

use crate::support::served::{Front, served_engine};
use moonkeep::server::Listen;
use moonkeep::{Client, Engine};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// An engine with one big value of each type, many small keys, and one that is used often.
fn workload() -> Engine {
    let engine = served_engine();
    let mut client = engine.client();
    client.call(["CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"]).expect("a policy");
    client.call(["SET", "big:string", &"x".repeat(300_000)]).expect("a string");
    for n in 0..300 {
        let word = format!("element:{n}");
        for words in [
            &["RPUSH", "big:list", &word][..],
            &["HSET", "big:hash", &word, "1"],
            &["SADD", "big:set", &word],
            &["ZADD", "big:zset", "1", &word],
            &["XADD", "big:stream", "*", "f", &word],
            &["SET", &word, "1"],
        ] {
            client.call(words).expect("a write");
        }
    }
    client.call(["SET", "hot:item", "1"]).expect("a write");
    for _ in 0..5000 {
        client.call(["GET", "hot:item"]).expect("a read");
    }
    engine
}

/// What redis-cli prints; none where there is no redis-cli.
fn cli(socket: &Path, options: &[&str]) -> Option<String> {
    let output = Command::new("redis-cli").arg("-s").arg(socket).args(options).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn redis_cli_finds_big_and_hot_keys() {
    let engine = workload();
    let front = Front::new(&engine, Listen::default());
    let Some(big) = cli(&front.socket(), &["--bigkeys"]) else {
        return eprintln!("redis_cli_finds_big_and_hot_keys: skipped, there is no redis-cli");
    };
    for line in [
        "Biggest   list found '\"big:list\"' has 300 items",
        "Biggest   hash found '\"big:hash\"' has 300 fields",
        "Biggest string found '\"big:string\"' has 300000 bytes",
        "Biggest stream found '\"big:stream\"' has 300 entries",
        "Biggest    set found '\"big:set\"' has 300 members",
        "Biggest   zset found '\"big:zset\"' has 300 members",
        "Sampled 307 keys in the keyspace!",
    ] {
        assert!(big.contains(line), "{line} in {big}");
    }
    let memory = cli(&front.socket(), &["--memkeys"]).expect("redis-cli");
    let usage: i64 = engine.client().query(["MEMORY", "USAGE", "big:string"]).expect("it is there");
    let line = format!("Biggest string found '\"big:string\"' has {usage} bytes");
    assert!(memory.contains(&line), "{line} in {memory}");
    let hot = cli(&front.socket(), &["--hotkeys"]).expect("redis-cli");
    let first = hot.lines().find(|line| line.starts_with("hot key found")).expect("a hot key");
    assert!(first.ends_with("keyname: \"hot:item\""), "{hot}");
}

#[test]
fn redis_cli_shows_figures_as_they_change() {
    let engine = workload();
    let front = Front::new(&engine, Listen::default());
    // Into a pipe it writes some fifty lines at once, so at short intervals.
    let started = Command::new("redis-cli")
        .arg("-s")
        .arg(front.socket())
        .args(["--stat", "-i", "0.02"])
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut tool) = started else {
        return eprintln!("redis_cli_shows_figures_as_they_change: skipped, there is no redis-cli");
    };
    let lines = BufReader::new(tool.stdout.take().expect("a pipe")).lines();
    let lines: Vec<String> = lines.take(3).map(|line| line.expect("a line")).collect();
    tool.kill().and_then(|()| tool.wait()).expect("it ends");
    let figures: Vec<&str> = lines[2].split_whitespace().collect();
    // Keys, memory, clients, those that wait, requests.
    assert_eq!((figures[0], figures[2], figures[3]), ("307", "1", "0"), "{lines:?}");
    assert!(
        figures[1].ends_with('K') && figures[4].parse::<u64>().is_ok_and(|count| count > 5000),
        "{lines:?}"
    );
}

fn field(client: &mut Client, words: &[&str], name: &str) -> u64 {
    let text: String = client.query(words).expect("a text");
    let lines = text.split(['\n', '\r', ' ']);
    let found = lines.filter_map(|part| part.strip_prefix(name)).next_back();
    found.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
}

#[test]
fn a_client_that_does_not_read_is_found_and_ended() {
    let engine = workload();
    let front = Front::new(&engine, Listen::default());
    let mut slow = UnixStream::connect(front.socket()).expect("it listens");
    let mut client = engine.client();
    let before = field(&mut client, &["INFO", "memory"], "mem_clients_normal:");
    for _ in 0..40 {
        slow.write_all(b"GET big:string\r\n").expect("it is read");
    }
    while field(&mut client, &["CLIENT", "LIST"], "omem=") < 5_000_000 {
        std::thread::yield_now();
    }
    assert!(field(&mut client, &["CLIENT", "LIST"], "tot-mem=") > 5_000_000);
    assert!(field(&mut client, &["INFO", "memory"], "mem_clients_normal:") > before + 5_000_000);
    assert!(field(&mut client, &["INFO", "memory"], "used_memory:") > 5_000_000);
    client.call(["CONFIG", "SET", "maxmemory-clients", "1mb"]).expect("a limit");
    assert_eq!(field(&mut client, &["INFO", "stats"], "evicted_clients:"), 1);
    while field(&mut client, &["INFO", "clients"], "connected_clients:") > 1 {
        std::thread::yield_now();
    }
}
