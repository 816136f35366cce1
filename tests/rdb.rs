//! `.rdb` files: one that a real server saved is loaded, what is saved here a real server loads, and a file that is
//! damaged changes nothing and says where it is.

use crate::diff::judge::state;
use crate::diff::rng::Rng;
use crate::payloads::recipe;
use crate::support::moonkeep::Moonkeep;
use crate::support::server::{Server, server_or_skip, server_with_file_or_skip};
use crate::support::target::{MAIN, START_MS, Target, argv};
use crate::support::wire::Wire;
use moonkeep::{Client, Clock, Engine, RdbError, Reply};

/// Saved by a real server: all types, two databases, an expiry in 2100, a library of functions.
const FILE: &[u8] = include_bytes!("data/server-7.0.15.rdb");

fn engine() -> Engine {
    Engine::builder().clock(Clock::manual(START_MS)).build()
}

fn ask(client: &mut Client, line: &str) -> String {
    let mut reply = Reply::new();
    client.call_into(line.split(' ').collect::<Vec<_>>(), &mut reply).expect("an engine that works");
    reply.to_string()
}

#[test]
fn a_file_of_a_real_server_is_loaded() {
    let engine = engine();
    let mut client = engine.client();
    client.call(["SET", "before", "gone"]).expect("SET works");
    engine.load_rdb(FILE).expect("a server's own file");
    let rows = [
        ("DBSIZE", "(integer) 13"),
        ("GET number", "\"-12345\""),
        ("STRLEN long", "(integer) 90"),
        ("PEXPIRETIME expiring", "(integer) 4102444800123"),
        ("LRANGE list 0 -1", "1) \"a\"\n2) \"1\"\n3) \"-70000\"\n4) \"b\""),
        ("OBJECT ENCODING numbers", "\"intset\""),
        ("SMISMEMBER words x y w", "1) (integer) 1\n2) (integer) 1\n3) (integer) 0"),
        ("HMGET hash field n", "1) \"value\"\n2) \"1\""),
        ("OBJECT ENCODING table", "\"listpack\""),
        ("OBJECT ENCODING skips", "\"listpack\""),
        (
            "ZRANGE ranks 0 -1 WITHSCORES",
            "1) \"least\"\n2) (double) -inf\n3) \"one\"\n4) (double) 1\n5) \"two\"\n6) (double) 2.5",
        ),
        ("XLEN events", "(integer) 2"),
        ("FCALL double 0 21", "(integer) 42"),
        ("EXISTS before", "(integer) 0"),
    ];
    for (line, expected) in rows {
        assert_eq!(ask(&mut client, line), expected, "{line}");
    }
    assert!(ask(&mut client, "XPENDING events readers").contains("1-2"), "the pending entries came along");
    client.call(["SELECT", "3"]).expect("a database");
    assert_eq!(ask(&mut client, "GET greeting"), "\"elsewhere\"");
}

#[test]
fn what_is_saved_is_loaded_again() {
    let first = engine();
    first.load_rdb(FILE).expect("a server's own file");
    let second = Engine::builder().clock(Clock::manual(START_MS)).seed(9).build();
    second.load_rdb(&first.save_rdb().expect("an engine that works")).expect("its own file");
    assert_eq!(first.state_hash(), second.state_hash());
    assert_eq!(first.save_rdb(), second.save_rdb());
}

#[test]
fn keys_whose_time_is_over_are_passed_over() {
    let late = Engine::builder().clock(Clock::manual(4_102_444_800_124)).build();
    late.load_rdb(FILE).expect("a server's own file");
    assert_eq!(ask(&mut late.client(), "EXISTS expiring greeting"), "(integer) 1");
}

#[test]
fn a_damaged_file_changes_nothing_and_is_told() {
    let engine = engine();
    engine.client().call(["SET", "k", "v"]).expect("SET works");
    let hash = engine.state_hash();
    let refused = |file: &[u8]| {
        let error = engine.load_rdb(file).expect_err("a damaged file");
        assert_eq!(engine.state_hash(), hash);
        error.to_string()
    };
    let begin = "the .rdb file cannot be loaded: ";
    let mut wrong = FILE.to_vec();
    *wrong.last_mut().expect("bytes") ^= 1;
    let rows: [(&[u8], &str); 7] = [
        (b"", "no .rdb file: REDIS and a version should stand first (at byte 0)"),
        (b"REDIS0099", "version 99 of the format; 1 to 10 can be read (at byte 0)"),
        (b"REDIS0010", "the data ends early (at byte 9)"),
        (b"REDIS0010\xf7\x01\x02\x03", "data of a module, and no module is known (at byte 9)"),
        (
            b"REDIS0010\xfe\x10\x00\x01k\x01v\xff",
            "a key of database 16, and the engine has fewer (at byte 11)",
        ),
        (b"REDIS0010\x00\x01k\x01v\x00\x01k\x01v\xff", "an element that is there already (at byte 14)"),
        (b"REDIS0010\x63\x01k", "no type of a value has the number 99 (at byte 9)"),
    ];
    for (file, expected) in rows {
        assert_eq!(refused(file), format!("{begin}{expected}"));
    }
    let at = FILE.len() - 8;
    assert_eq!(refused(&wrong), format!("{begin}the checksum is wrong: the file is damaged (at byte {at})"));
    for end in 0..FILE.len() {
        refused(&FILE[..end]);
    }
    let library = b"REDIS0004\xf5\x0d#!lua name=l\n\xff";
    let error = engine.load_rdb(library).expect_err("a library without functions");
    assert!(matches!(&error, RdbError::Functions(text) if text == "ERR No functions registered"), "{error}");
    assert_eq!(engine.state_hash(), hash);
}

#[test]
fn files_of_early_servers_are_loaded() {
    let engine = engine();
    let expiring = b"REDIS0003\xfe\x00\xfd\xff\xff\xff\x7f\x00\x01k\x01v\x01\x01e\x00\xff";
    engine.load_rdb(expiring).expect("a file of version 3");
    assert_eq!(ask(&mut engine.client(), "EXPIRETIME k"), "(integer) 2147483647");
    assert_eq!(ask(&mut engine.client(), "DBSIZE"), "(integer) 1", "a list without items is passed over");
}

/// The file that the server saves to and loads from.
fn path(server: &Server) -> std::path::PathBuf {
    server.socket().with_file_name("dump.rdb")
}

fn digest(server: &mut Server) -> Wire {
    server.call(MAIN, &argv(&["DEBUG", "DIGEST"]))
}

#[test]
fn files_pass_to_and_fro() {
    let Some(mut server) = server_or_skip("files_pass_to_and_fro") else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed: u64 = number("MOONKEEP_SEED").unwrap_or(1);
    for program in 0..number("MOONKEEP_DIFF_PROGRAMS").unwrap_or(200).min(2000) / 10 {
        let mut rng = Rng::new(seed ^ (program << 20));
        server.reset();
        for key in 0..12 {
            server.call(MAIN, &argv(&["SELECT", ["0", "0", "5"][rng.below(3)]]));
            server.call(MAIN, &argv(&["DEL", "k"]));
            for command in recipe(&mut rng) {
                server.call(MAIN, &command);
            }
            if rng.percent(30) {
                server.call(
                    MAIN,
                    &argv(&["PEXPIREAT", "k", &(START_MS + 1 + rng.below(100_000) as i64).to_string()]),
                );
            }
            server.call(MAIN, &argv(&["RENAME", "k", &format!("key{key}")]));
        }
        let code = "#!lua name=l\nredis.register_function('f', function() return 1 end)";
        server.call(MAIN, &argv(&["FUNCTION", "LOAD", code]));
        let expected = digest(&mut server);
        assert_eq!(server.call(MAIN, &argv(&["SAVE"])).to_string(), "+OK");
        let engine = engine();
        engine.load_rdb(&std::fs::read(path(&server)).expect("saved")).expect("a server's own file");
        std::fs::write(path(&server), engine.save_rdb().expect("a file")).expect("writable");
        server.call(MAIN, &argv(&["FLUSHALL"]));
        server.call(MAIN, &argv(&["FUNCTION", "FLUSH"]));
        assert_eq!(server.call(MAIN, &argv(&["DEBUG", "RELOAD", "NOSAVE"])).to_string(), "+OK");
        assert_eq!(digest(&mut server), expected, "seed {seed}, program {program}");
        assert_eq!(server.call(MAIN, &argv(&["FCALL", "f", "0"])).to_string(), ":1");
    }
}

/// Values of all types and forms in three databases, some with an expiry, one of them over, and a library.
fn fill(side: &mut dyn Target, rng: &mut Rng) {
    for key in 0..25 {
        side.call(MAIN, &argv(&["SELECT", ["0", "0", "1", "2"][rng.below(4)]]));
        side.call(MAIN, &argv(&["DEL", "k"]));
        for command in recipe(rng) {
            side.call(MAIN, &command);
        }
        if rng.percent(30) {
            let at_ms = START_MS + 1 + rng.below(100_000) as i64;
            side.call(MAIN, &argv(&["PEXPIREAT", "k", &at_ms.to_string()]));
        }
        side.call(MAIN, &argv(&["RENAME", "k", &format!("key{key}")]));
    }
    side.call(MAIN, &argv(&["SET", "over", "v", "PXAT", &(START_MS - 1).to_string()]));
    let code = "#!lua name=l\nredis.register_function{function_name='f', description='d', flags={'no-writes'}, \
        callback=function(keys, args) return {#keys, args} end}";
    side.call(MAIN, &argv(&["FUNCTION", "LOAD", code]));
}

/// All that a side holds.
fn whole(side: &mut dyn Target) -> Vec<String> {
    let mut lines: Vec<String> = ["0", "1", "2"].iter().flat_map(|db| state(side, db)).collect();
    let questions: [&[&str]; 4] = [
        &["DEBUG", "DIGEST"],
        &["FUNCTION", "LIST", "WITHCODE"],
        &["FCALL_RO", "f", "1", "key", "a"],
        &["INFO", "keyspace"],
    ];
    for words in questions {
        let reply = side.call("(state)", &argv(words)).to_string();
        // The average of times is an estimate of the server's.
        lines.push(reply.split("avg_ttl").next().unwrap_or_default().to_owned());
    }
    lines
}

fn assert_same(expected: &[String], got: &[String], seed: u64) {
    let without = |lines: &[String], others: &[String]| {
        let lines = lines.iter().filter(|line| !others.contains(line));
        lines.map(|line| line.chars().take(500).collect()).collect::<Vec<String>>()
    };
    assert_eq!(without(expected, got), without(got, expected), "seed {seed}");
}

#[test]
fn servers_start_from_a_file_and_leave_one_that_is_loaded() {
    let test = "servers_start_from_a_file_and_leave_one_that_is_loaded";
    for seed in 1..=4 {
        let mut first = Moonkeep::default();
        fill(&mut first, &mut Rng::new(seed));
        let file = first.engine().save_rdb().expect("an engine that works");
        // A file does not say which short strings are `raw`.
        let mut again = Moonkeep::default();
        again.engine().load_rdb(&file).expect("its own file");
        let expected = whole(&mut again);
        assert!(expected.len() > 20, "{expected:?}");
        first.advance(0);
        let digest = argv(&["DEBUG", "DIGEST"]);
        assert_eq!(first.call(MAIN, &digest), again.call(MAIN, &digest));
        let Some(mut server) = server_with_file_or_skip(test, &file) else { return };
        assert_same(&expected, &whole(&mut server), seed);
        let mut second = Moonkeep::default();
        second.engine().load_rdb(&server.saved()).expect("a server's own file");
        assert_same(&expected, &whole(&mut second), seed);
    }
}
