//! Transactions of three clients under random interleavings: WATCH against writes, expiry, SWAPDB and flushes. Each
//! reply is compared with the reference server's. (`tests/diff.rs` draws from the whole syntax; this one stays on few
//! keys, where transactions meet.)

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{Target, argv};
use moonkeep::util::rng::Rng;

const PROGRAMS: u64 = 400;
const STEPS: usize = 60;
const CLIENTS: [&str; 3] = ["a", "b", "c"];
const KEYS: [&str; 3] = ["k", "l", "m"];

/// What may happen; K and L stand for keys, D for a database, N for a small number.
const COMMANDS: &[&str] = &[
    "MULTI",
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "EXEC",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH K",
    "WATCH K",
    "WATCH K",
    "WATCH K L",
    "UNWATCH",
    "SET K N",
    "SET K N",
    "SET K N",
    "SET K v PX 1N",
    "SET K v PX N",
    "DEL K",
    "SWAPDB D D",
    "FLUSHDB",
    "FLUSHALL",
    "SELECT D",
    "EXPIRE K N",
    "EXPIRE K -1",
    "PERSIST K",
    "RENAME K L",
    "COPY K L DB D REPLACE",
    "MOVE K D",
    "GET K",
    "GET",
    "NOSUCH",
    "EXEC x",
    "RESET",
    "GETEX K",
    "INCR K",
    "TOUCH K",
    "DBSIZE",
    "advance",
    "advance",
];

fn pick<'a>(rng: &mut Rng, choices: &[&'a str]) -> &'a str {
    choices[rng.below(choices.len() as u64) as usize]
}

fn command(rng: &mut Rng) -> String {
    let mut text = String::new();
    for letter in pick(rng, COMMANDS).chars() {
        match letter {
            'K' if text.ends_with(' ') => text += pick(rng, &KEYS),
            'L' if text.ends_with(' ') => text += pick(rng, &KEYS),
            'D' if text.ends_with(' ') => text += pick(rng, &["0", "1", "2"]),
            'N' if text.ends_with([' ', '1']) => text += pick(rng, &["1", "2", "7"]),
            letter => text.push(letter),
        }
    }
    text
}

/// Runs one program on both sides; what was done up to the first reply that differs.
fn difference(seed: u64, server: &mut dyn Target, moonkeep: &mut dyn Target) -> Option<String> {
    let mut rng = Rng::new(seed);
    let mut log = format!("seed {seed}\n");
    server.reset();
    moonkeep.reset();
    for _ in 0..STEPS {
        let (client, command) = (pick(&mut rng, &CLIENTS), command(&mut rng));
        if command == "advance" {
            let ms = rng.below(20) as i64;
            log += &format!("advance {ms} ms\n");
            server.advance(ms);
            moonkeep.advance(ms);
            continue;
        }
        let words = argv(&command.split(' ').collect::<Vec<_>>());
        let expected = server.call(client, &words).to_string();
        let got = moonkeep.call(client, &words).to_string();
        log += &format!("{client}> {command}\n{expected}\n");
        if got != expected {
            return Some(format!("{log}got {got}\n"));
        }
    }
    None
}

#[test]
fn interleaved_transactions_agree_with_the_server() {
    let Some(mut server) = server_or_skip("interleaved_transactions_agree_with_the_server") else { return };
    let mut moonkeep = Moonkeep::default();
    for seed in 0..PROGRAMS {
        if let Some(log) = difference(seed, &mut server, &mut moonkeep) {
            panic!("{log}");
        }
    }
}
