//! Random programs about subscriptions on several connections, on moonkeep and on the server: every reply and every
//! message, in their order, as far as the server defines it. `MOONKEEP_SEED` and `MOONKEEP_DIFF_PROGRAMS` as in
//! `tests/diff.rs`.

use crate::diff::rng::Rng;
use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::shrink::without_needless;
use crate::support::target::Target;
use crate::support::wire::Wire;
use crate::support::words;
use std::collections::BTreeMap;

const CONNECTIONS: [&str; 4] = ["a", "b", "c", "d"];
const NAMES: [&str; 6] = ["x", "xy", "y", "", "x*", "__keyspace@0__:k"];
const PATTERNS: [&str; 7] = ["x*", "*", "?", "[xy]", "x\\*", "__key*", ""];
const PROGRAMS: u64 = 300;
const STEPS: usize = 40;

/// A command, and the connection that sends it.
type Step = (&'static str, String);

#[test]
fn random_subscriptions_agree_with_the_server() {
    let Some(mut server) = server_or_skip("random_subscriptions_agree_with_the_server") else { return };
    let mut moonkeep = Moonkeep::default();
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let seed: u64 = number("MOONKEEP_SEED", 1);
    let programs = number("MOONKEEP_DIFF_PROGRAMS", PROGRAMS);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for at in 0..programs {
        let program = program(&mut Rng::new(seed ^ (at << 20)));
        let names = program.iter().filter_map(|(_, line)| line.split(' ').next());
        names.for_each(|name| *counts.entry(name.into()).or_default() += 1);
        if let Some(difference) = differs(&mut server, &mut moonkeep, &program) {
            let small =
                without_needless(program, |program| differs(&mut server, &mut moonkeep, program).is_some());
            let difference = differs(&mut server, &mut moonkeep, &small).unwrap_or(difference);
            let lines: Vec<String> = small.iter().map(|(who, line)| format!("{who}> {line}")).collect();
            panic!("seed {seed}, program {at}:\n{}\n{difference}", lines.join("\n"));
        }
    }
    println!("{counts:?}");
    assert!(counts.values().all(|count| *count >= programs / 2), "{counts:?}");
}

fn program(rng: &mut Rng) -> Vec<Step> {
    (0..STEPS).map(|_| (*rng.pick(&CONNECTIONS), line(rng))).collect()
}

fn line(rng: &mut Rng) -> String {
    let name = |rng: &mut Rng| format!("\"{}\"", rng.pick(&NAMES));
    let names = |rng: &mut Rng, from: &[&str], least: usize| {
        (0..least + rng.below(3))
            .map(|_| format!(" \"{}\"", rng.pick(from).replace('\\', "\\\\")))
            .collect::<String>()
    };
    match rng.below(34) {
        0..4 => format!("SUBSCRIBE{}", names(rng, &NAMES, 1)),
        4..7 => format!("PSUBSCRIBE{}", names(rng, &PATTERNS, 1)),
        7..9 => format!("SSUBSCRIBE{}", names(rng, &NAMES, 1)),
        9..11 => format!("UNSUBSCRIBE{}", names(rng, &NAMES, 0)),
        11 => format!("PUNSUBSCRIBE{}", names(rng, &PATTERNS, 0)),
        12 => format!("SUNSUBSCRIBE{}", names(rng, &NAMES, 0)),
        13..19 => format!("PUBLISH {} {}", name(rng), rng.below(100)),
        19..21 => format!("SPUBLISH {} {}", name(rng), rng.below(100)),
        21 => format!("EVAL \"return redis.call('PUBLISH', ARGV[1], ARGV[2])\" 0 {} hi", name(rng)),
        22..25 => ["HELLO 3", "HELLO 3", "HELLO 2"][rng.below(3)].into(),
        25 => "RESET".into(),
        26 => "PUBSUB CHANNELS".into(),
        27 => format!("PUBSUB NUMSUB{}", names(rng, &NAMES, 0)),
        28 => ["PUBSUB NUMPAT", "PUBSUB SHARDCHANNELS x*"][rng.below(2)].into(),
        29 => format!("PUBSUB SHARDNUMSUB{}", names(rng, &NAMES, 0)),
        30 => "PING".into(),
        31 => "ECHO hi".into(),
        32 => "SET k v".into(),
        _ => ["CONFIG SET notify-keyspace-events KEA", "CONFIG SET notify-keyspace-events \"\""]
            [rng.below(2)]
        .into(),
    }
}

/// The first step after which the sides differ, and how.
fn differs(server: &mut dyn Target, moonkeep: &mut dyn Target, program: &[Step]) -> Option<String> {
    server.reset();
    moonkeep.reset();
    for (who, line) in program {
        let argv = words::split(line).expect("words");
        server.send(who, &argv);
        moonkeep.send(who, &argv);
        // The one that has sent it first, so that what the others read has been written.
        for other in [who].into_iter().chain(CONNECTIONS.iter().filter(|other| *other != who)) {
            let (expected, got) = (received(server, other, line), received(moonkeep, other, line));
            if expected != got {
                let shown = |replies: &[String]| replies.join("\n         ");
                return Some(format!(
                    "after {who}> {line}, {other} reads\nexpected {}\ngot      {}",
                    shown(&expected),
                    shown(&got)
                ));
            }
        }
    }
    None
}

/// All that a connection reads, up to the reply to a PING that it sends now. Where the server's order is that of a hash
/// table, sorted.
fn received(side: &mut dyn Target, connection: &str, line: &str) -> Vec<String> {
    const TOKEN: &[u8] = b"the end";
    side.send(connection, &[b"PING".to_vec(), TOKEN.to_vec()]);
    let mut replies = Vec::new();
    loop {
        let reply = side.receive(connection);
        let ends = match &reply {
            Wire::Bulk(text) => text == TOKEN,
            Wire::Array(items) => items.get(1) == Some(&Wire::Bulk(TOKEN.to_vec())),
            other => *other == Wire::Timeout,
        };
        if ends {
            break;
        }
        replies.push(match reply {
            // What HELLO says varies.
            Wire::Map(_) => "a map".into(),
            reply if line.starts_with("PUBSUB") => reply.sorted().to_string(),
            reply if line.starts_with("HELLO") && !reply.is_error() => reply.shape(),
            reply => reply.to_string(),
        });
    }
    if is_unordered(line) {
        replies.sort_by_key(|reply| unnumbered(reply));
        let leaves = line.contains("UNSUBSCRIBE");
        replies.iter_mut().filter(|_| leaves).for_each(|reply| *reply = unnumbered(reply));
    }
    replies
}

/// Whether the server walks a hash table for it.
fn is_unordered(line: &str) -> bool {
    ["UNSUBSCRIBE", "SUNSUBSCRIBE", "PUBLISH", "EVAL", "SET"].iter().any(|name| line.starts_with(name))
}

/// A reply without how many subscriptions are left.
fn unnumbered(reply: &str) -> String {
    reply.chars().filter(|c| !c.is_ascii_digit()).collect()
}
