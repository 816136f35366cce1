//! The journal against what a real server appends to its AOF: the same programs, step by step the same commands.

use crate::support::runs::{Step, program};
use crate::support::server::{Server, server_or_skip};
use crate::support::target::{MAIN, START_MS, Target};
use crate::support::wire::Wire;
use moonkeep::{Client, Clock, Engine, Journal, Reply};
use std::io::BufReader;
use std::time::Duration;

/// What is propagated: the database (none for MULTI and EXEC) and the words.
type Write = (Option<u32>, Vec<Vec<u8>>);

/// Reads the appended writes one after the other; SELECT becomes the database of those that follow.
#[derive(Default)]
struct Appended {
    read: usize,
    db: u32,
}

impl Appended {
    fn next(&mut self, server: &Server) -> Vec<Write> {
        let bytes = server.writes();
        let mut rest = &bytes[self.read..];
        self.read = bytes.len();
        let mut writes = Vec::new();
        while !rest.is_empty() {
            let mut reader = BufReader::with_capacity(1, rest);
            let command = Wire::read(&mut reader).expect("a whole command");
            let left = reader.get_ref().len();
            rest = &rest[rest.len() - left..];
            let words: Vec<Vec<u8>> =
                command.items().iter().filter_map(Wire::bytes).map(<[u8]>::to_vec).collect();
            match words.as_slice() {
                [select, db] if select == b"SELECT" => {
                    self.db = String::from_utf8_lossy(db).parse().expect("a number");
                }
                [word] if word == b"MULTI" || word == b"EXEC" => writes.push((None, words)),
                _ => writes.push((Some(self.db), words)),
            }
        }
        writes
    }
}

struct Side {
    clock: Clock,
    engine: Engine,
    client: Client,
    journal: Journal,
}

impl Side {
    fn new() -> Self {
        let clock = Clock::manual(START_MS);
        let engine = Engine::builder().clock(clock.clone()).build();
        let journal = engine.subscribe_journal().expect("an engine that works");
        Side { clock, client: engine.client(), engine, journal }
    }
    fn writes(&self) -> Vec<Write> {
        let entries = self.journal.take().expect("an engine that works");
        entries.into_iter().map(|entry| ((!entry.is_bracket()).then_some(entry.db), entry.argv)).collect()
    }
}

/// What moonkeep and the server may do differently, or in another order.
fn is_comparable(step: &Step) -> bool {
    let Step::Call(words) = step else { return true };
    !matches!(words[0].as_str(), "RANDOMKEY" | "SCAN" | "SPOP")
        && !words.iter().any(|word| word.contains("random") || word.contains("RANDOM"))
}

fn shown(writes: &[Write]) -> Vec<String> {
    let show = |(db, words): &Write| {
        format!("{} {}", db.map_or("-".into(), |db| db.to_string()), words.join(&b' ').escape_ascii())
    };
    writes.iter().map(show).collect()
}

/// Runs a program on both sides. `lazily`: what expires goes when a command meets it, else when time passes.
fn compare(server: &mut Server, appended: &mut Appended, seed: u64, lazily: bool) -> usize {
    server.reset();
    let mut compared = 0;
    appended.next(server);
    let mut side = Side::new();
    for step in program(seed, 400).iter().filter(|step| is_comparable(step)) {
        match step {
            Step::Call(words) => {
                let words: Vec<Vec<u8>> = words.iter().map(|word| word.clone().into_bytes()).collect();
                server.call(MAIN, &words);
                side.client.call_into(&words, &mut Reply::new()).expect("an engine that works");
            }
            Step::Advance(ms) if lazily => {
                server.pass(*ms as i64);
                side.clock.advance(Duration::from_millis(*ms));
            }
            Step::Advance(ms) => {
                server.advance(*ms as i64);
                side.engine.advance(Duration::from_millis(*ms)).expect("a manual clock");
            }
        }
        let (mut theirs, mut ours) = (appended.next(server), side.writes());
        if matches!(step, Step::Advance(_)) {
            theirs.sort();
            ours.sort();
        }
        assert_eq!(shown(&ours), shown(&theirs), "program {seed}, lazily {lazily}, at {step:?}");
        compared += ours.len();
    }
    compared
}

/// Commands that meet keys whose time is over, in whatever order: their going is no transaction.
const MEETINGS: &[&str] = &["SCAN 0", "SCAN 0 TYPE none", "TOUCH a b", "KEYS *", "DEL a b", "RANDOMKEY"];

#[test]
fn what_a_command_on_any_key_expires_is_no_transaction() {
    let test = "what_a_command_on_any_key_expires_is_no_transaction";
    let Some(mut server) = server_or_skip(test) else { return };
    server.keep_writes();
    let mut appended = Appended::default();
    for meeting in MEETINGS {
        server.reset();
        let mut side = Side::new();
        for line in ["SET a 1 PX 5", "SET b 1 PX 5", "", meeting] {
            appended.next(&server);
            side.writes();
            if line.is_empty() {
                server.pass(6);
                side.clock.advance(Duration::from_millis(6));
                continue;
            }
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            server.call(MAIN, &words);
            side.client.call_into(&words, &mut Reply::new()).expect("an engine that works");
        }
        let (mut theirs, mut ours) = (appended.next(&server), side.writes());
        theirs.sort();
        ours.sort();
        assert_eq!(shown(&ours), shown(&theirs), "{meeting}");
    }
}

#[test]
fn the_journal_is_what_a_server_appends() {
    let Some(mut server) = server_or_skip("the_journal_is_what_a_server_appends") else { return };
    server.keep_writes();
    let mut appended = Appended::default();
    let compared: usize = (0..30).map(|seed| compare(&mut server, &mut appended, seed, seed % 2 == 0)).sum();
    assert!(compared > 3_000, "only {compared} writes were compared");
}
