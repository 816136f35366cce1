//! The fuzz targets on a stable toolchain: the bodies of `fuzz/src` with inputs from a seeded generator, and all kept
//! inputs of `fuzz/regressions`. MOONKEEP_FUZZ_SECONDS (1) scales the number of inputs, MOONKEEP_FUZZ_SEED chooses
//! others. An input that fails is printed as it would be kept. MOONKEEP_FUZZ_CORPUS names a folder that gets all inputs.

#[path = "../fuzz/src/bodies.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod bodies;
#[path = "../fuzz/src/contracts.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod contracts;
#[path = "../fuzz/src/kept.rs"]
mod kept;
#[path = "../fuzz/src/libraries.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod libraries;
#[path = "../fuzz/src/parsers.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod parsers;
#[path = "../fuzz/src/payloads.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod payloads;
#[cfg(feature = "redis-aio")]
#[path = "../fuzz/src/requests.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod requests;

use crate::support::programs::Programs;
use bodies::{TARGETS, escape};
use moonkeep::Engine;
use moonkeep::util::rng::Rng;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Runs a body on about as many inputs as fit in the wanted seconds; the same ones on every machine.
fn smoke(target: &str, inputs_per_second: u64, input: impl Fn(&mut Rng) -> Vec<u8>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("MOONKEEP_FUZZ_SECONDS").unwrap_or(1);
    let seed = number("MOONKEEP_FUZZ_SEED").unwrap_or(1);
    for round in 0..seconds * inputs_per_second {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        let input = input(&mut Rng::new(seed));
        if let Some(folder) = std::env::var_os("MOONKEEP_FUZZ_CORPUS") {
            let file = Path::new(&folder).join(format!("{target}-{seed}"));
            std::fs::write(file, &input).expect("the folder is there");
        }
        try_input(target, &format!("seed {seed}"), &input);
    }
}

/// Runs a body on one input; says which one it was when it fails.
fn try_input(target: &str, origin: &str, input: &[u8]) {
    let body = TARGETS.iter().find(|(name, _)| *name == target).expect("a target of that name").1;
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
        let shown: Vec<String> = input.split(|&byte| byte == b'\n').map(show).collect();
        eprintln!("target {target}, {origin}, input:\n{}\n", shown.join("\n"));
        resume_unwind(panic);
    }
}

/// A line with what cannot be seen escaped.
fn show(line: &[u8]) -> String {
    let shown = |&byte: &u8| match byte {
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    line.iter().map(shown).collect()
}

#[test]
fn fuzz_commands() {
    let programs = Programs::new();
    smoke("commands", 400, |rng| programs.program(rng).into_bytes());
}

#[test]
fn fuzz_script() {
    smoke("script", 200, |rng| text_of_pieces(rng, LUA, " "));
}

#[test]
fn fuzz_parsers() {
    smoke("parsers", 60_000, |rng| text_of_pieces(rng, PARSED, ""));
}

#[test]
fn fuzz_libraries() {
    smoke("libraries", 1000, |rng| text_of_pieces(rng, DATA, ""));
}

#[test]
fn fuzz_contract() {
    smoke("contract", 4000, |rng| match rng.below(2) {
        0 => changed_script(rng),
        _ => text_of_pieces(rng, CLAUSES, " "),
    });
}

#[test]
fn fuzz_script_contract() {
    smoke("script_contract", 300, changed_script);
}

#[test]
fn fuzz_lint() {
    smoke("lint", 1000, |rng| match rng.below(2) {
        0 => changed_script(rng),
        _ => text_of_pieces(rng, LUA, " "),
    });
}

#[cfg(feature = "redis-aio")]
#[test]
fn fuzz_requests() {
    smoke("requests", 2000, |rng| {
        let piece = rng.next_u64() as u8;
        [&[piece][..], &text_of_pieces(rng, REQUESTS, ""), &text_of_pieces(rng, REQUESTS, "\r\n")].concat()
    });
}

/// A shipped script, some of it changed: its text, pieces of it, single bytes.
fn changed_script(rng: &mut Rng) -> Vec<u8> {
    const SCRIPTS: [&str; 6] = [
        include_str!("../lua/decrease_stock.lua"),
        include_str!("../lua/acquire_fenced.lua"),
        include_str!("../lua/limits/gcra.lua"),
        include_str!("../lua/queues/delayed_take.lua"),
        include_str!("../lua/caches/logical_read.lua"),
        include_str!("../lua/filters/cuckoo.lua"),
    ];
    let mut text = SCRIPTS[rng.below(6) as usize].as_bytes().to_vec();
    for _ in 0..rng.below(4) {
        let at = rng.below(text.len().max(1) as u64) as usize;
        let piece = match rng.below(2) {
            0 => CLAUSES[rng.below(CLAUSES.len() as u64) as usize],
            _ => LUA[rng.below(LUA.len() as u64) as usize],
        };
        match rng.below(5) {
            0 => drop(text.drain(at..text.len().min(at + rng.below(40) as usize))),
            1 => text.truncate(at.max(40)),
            2 => text.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.below(256) as u8),
            _ => drop(text.splice(at..at, piece.bytes())),
        }
    }
    text
}

/// A value of each type and form as a server wrote it, and a whole file; then some of it changed.
fn damaged(rng: &mut Rng) -> Vec<u8> {
    const FILE: &[u8] = include_bytes!("data/server-7.0.15.rdb");
    const FORMS: &[&[u8]] = &[
        b"\x00\x05hello",
        b"\x00\xc3\x09\x40\x64\x01aa\xe0\x57\x00\x01aa",
        b"\x01\x02\x01a\xc0\x05",
        b"\x02\x02\x01a\x01b",
        b"\x03\x02\x01a\x031.5\x01b\xff",
        b"\x04\x01\x01f\x01v",
        b"\x05\x01\x01a\0\0\0\0\0\0\xf0\x3f",
        b"\x09\x0f\x02\x01a\x02\x0012\x01b\x01\x02cxx\xff",
        b"\x0a\x1c\x1c\0\0\0\x15\0\0\0\x04\0\0\x03two\x05\xf6\x02\xc0\xe8\x03\x04\xd0\xa0\x86\x01\0\xff",
        b"\x0b\x0c\x02\0\0\0\x02\0\0\0\xff\xff\x01\0",
        b"\x0d\x1c\x1c\0\0\0\x15\0\0\0\x04\0\0\x03two\x05\xf6\x02\xc0\xe8\x03\x04\xd0\xa0\x86\x01\0\xff",
        b"\x10\x0d\x0d\0\0\0\x02\0\x81a\x02\x81b\x02\xff",
        b"\x11\x14\x14\0\0\0\x04\0\x81a\x02\x01\x01\x81b\x02\x832.5\x04\xff",
        b"\x12\x01\x02\x0a\x0a\0\0\0\x01\0\x81a\x02\xff",
        b"\x13\x01\x10\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01\x1d\x1d\0\0\0\x0a\0\x01\x01\0\x01\x01\x01\x81f\x02\
          \0\x01\x02\x01\0\x01\0\x01\x81v\x02\x04\x01\xff\x01\x01\x01\x01\x01\0\0\x01\x01\x01g\x01\x01\x01\x01\
          \0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01\x01\0\0\0\0\0\0\0\x01\x01\x01c\x01\0\0\0\0\0\0\0\x01\
          \0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01",
    ];
    let at = rng.below(FORMS.len() as u64 + 3) as usize;
    let mut bytes = FORMS.get(at).copied().unwrap_or(FILE).to_vec();
    for _ in 0..rng.below(5) {
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        let edge = [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0xc3, 0xf0, 0xfe, 0xff, rng.next_u64() as u8];
        let byte = edge[rng.below(12) as usize];
        match rng.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), byte),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.extend_from_within(at.min(bytes.len())..),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|place| *place = byte),
        }
    }
    bytes
}

#[test]
fn fuzz_payloads() {
    smoke("payloads", 10_000, damaged);
}

#[test]
fn each_form_that_is_damaged_is_whole_before() {
    let (mut rng, mut read) = (Rng::new(1), BTreeSet::new());
    for _ in 0..3000 {
        let bytes = damaged(&mut rng);
        let Some((kind, rest)) = bytes.split_first() else { continue };
        let mut reader = moonkeep::value::rdb::Reader::new(rest);
        let thresholds = moonkeep::value::rdb::Thresholds::DEFAULT;
        if moonkeep::value::rdb::read_value(&mut reader, *kind, &thresholds).is_ok() && reader.left() == 0 {
            read.insert(*kind);
        }
    }
    let expected: Vec<u8> = [&[0, 1, 2, 3, 4, 5][..], &[9, 10, 11, 13, 16, 17, 18, 19]].concat();
    assert!(expected.iter().all(|kind| read.contains(kind)), "{read:?}");
}

#[test]
fn a_length_of_everything_costs_no_memory() {
    let mut client = Engine::new().client();
    for kind in [1u8, 2, 4, 5, 14, 18, 19] {
        let mut dump = moonkeep::value::rdb::Writer::default();
        dump.byte(kind);
        dump.length(u64::MAX - 9);
        let dump = dump.finish();
        let error =
            client.call([&b"RESTORE"[..], b"k", b"0", &dump]).expect_err("nothing is behind the length");
        assert_eq!(error.to_string(), "ERR Bad data format", "{kind}");
    }
}

#[test]
fn fuzz_regressions() {
    for (target, _) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions").join(target);
        let mut files: Vec<_> =
            std::fs::read_dir(&folder).expect("kept").flatten().map(|file| file.path()).collect();
        files.sort();
        for file in files {
            try_input(target, &file.display().to_string(), &std::fs::read(&file).expect("readable"));
        }
    }
}

/// Commands that no drawn program can make succeed: what they need does not exist here.
const NEVER_SUCCEED: &[&str] =
    &["function|kill", "module|load", "module|loadex", "module|unload", "save", "script|kill", "shutdown"];

#[test]
fn programs_make_each_command_succeed() {
    let programs = Programs::new();
    let mut missing: BTreeSet<&str> = programs.names().collect();
    missing.retain(|name| !NEVER_SUCCEED.contains(name));
    for seed in 0..6000 {
        if missing.is_empty() {
            break;
        }
        let mut client = Engine::new().client();
        for line in programs.program(&mut Rng::new(seed)).lines() {
            let words = bodies::words(line.as_bytes());
            let name = |words: &[Vec<u8>]| String::from_utf8_lossy(&words.join(&b'|')).to_lowercase();
            if client.call(&words).is_ok() {
                missing.remove(name(&words[..1]).as_str());
                missing.remove(name(&words[..words.len().min(2)]).as_str());
            }
        }
    }
    assert_eq!(missing, BTreeSet::new(), "of {} commands", programs.names().count());
}

#[test]
fn words_are_written_as_they_are_read() {
    let any: Vec<u8> = (0..=255).collect();
    for word in [&b""[..], b"plain", b"\\", b"\\x41", b"a b\n", &any] {
        assert_eq!(bodies::words(escape(word).as_bytes()), [word]);
    }
    assert_eq!(bodies::words(b"SET \\e a\\x20b \\q"), [&b"SET"[..], b"", b"a b", b"\\q"]);
}

/// Some pieces in a row, a few of them random bytes.
fn text_of_pieces(rng: &mut Rng, pieces: &[&str], between: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..rng.below(14) {
        if rng.below(15) == 0 {
            text.push(rng.below(256) as u8);
        } else {
            text.extend_from_slice(pieces[rng.below(pieces.len() as u64) as usize].as_bytes());
        }
        text.extend_from_slice(between.as_bytes());
    }
    text
}

const CLAUSES: &[&str] = &[
    "\n--!contract c",
    "\n--!key k string",
    "\n--!key k any",
    "\n--!argv n",
    "\n--!error",
    "\n--!reply",
    "\n--!case",
    "\n--!writes k when",
    "\n--!instructions 100",
    "\n--! ",
    "int(0, 9)",
    "int(-9223372036854775808, 9223372036854775807)",
    "token",
    "bytes(1, 3)",
    "one_of(\"a\", \"b\")",
    "canonical",
    "required",
    "optional rw rm ttl=set",
    "arity",
    "k.type WRONGTYPE",
    "n.range",
    "\"no\"",
    "[0, int...] | nil",
    "else => 0",
    "exists(k) and pttl(k) > 0 => [1, default(k, 0) + n]",
    "; k = n, pttl(k) = 5",
    "; del k",
    "reply[1] == 1",
    "=>",
    "now",
    "(",
    ")",
    "-",
    "*",
    "/ 0",
    "#",
];
#[cfg(feature = "redis-aio")]
const REQUESTS: &[&str] = &[
    "*1\r\n$4\r\nPING\r\n",
    "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
    "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\na\r\n\r\n",
    "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n",
    "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n",
    "*3\r\n$5\r\nBLPOP\r\n$1\r\nl\r\n$1\r\n0\r\n",
    "MULTI\r\n",
    "EXEC\r\n",
    "SET k \"a\\r\\n\"\r\n",
    "INCR n\n",
    "*0\r\n",
    "*-1\r\n",
    "*1\r\n",
    "*1048577\r\n",
    "$4\r\nPING\r\n",
    "$0\r\n\r\n",
    "$-1\r\n",
    "$536870913\r\n",
    "$12",
    "*",
    "\r\n",
    "\n",
    "'open",
    "PING\0",
    "QUIT\r\n",
];
const PARSED: &[&str] = &[
    "0",
    "1",
    "9",
    "-",
    "+",
    ".",
    "e",
    "E",
    "inf",
    "nan",
    "0x",
    "f",
    " ",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "*",
    "?",
    "[",
    "]",
    "^",
    "a",
    "b",
    "\\",
    "\0",
    "[a-c]",
    "kb",
    "gb",
    "key",
    "TOKEN",
    "(",
    ")",
    "|",
    "...",
    "=",
    "@",
    "<integer>",
    "#1",
    "name=",
];

const DATA: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0041",
    "\\ud834\\udd1e",
    "\"a\"",
    "\"k\":",
    "1",
    "-0",
    "1.5e3",
    "0x1p-3",
    "nan(7)",
    "inf",
    "null",
    "true",
    "false",
    "[[",
    "]]",
    "{}",
    "[]",
    " ",
    "\0",
    "\u{1}",
    "\u{7f}",
    "b",
    "i",
    "I3",
    "c0",
    "s",
    "d",
    "f",
    "!8",
    "<",
    ">",
    "x",
    "i32",
    "!",
    "c3",
    "2147483648",
];

const LUA: &[&str] = &[
    "return",
    "local",
    "x",
    "y",
    "=",
    "redis.call",
    "redis.pcall",
    "(",
    ")",
    "('SET', KEYS[1], ARGV[1])",
    "('GET', KEYS[1])",
    "{",
    "}",
    ",",
    "1",
    "-1",
    "1e308",
    "'text'",
    "KEYS",
    "ARGV[1]",
    "for i = 1, 10 do",
    "while true do",
    "end",
    "if x then",
    "function()",
    "pcall",
    "error",
    "coroutine.wrap",
    "string.rep",
    "('x', 1000000)",
    "('%d', 1)",
    "string.format",
    "setmetatable",
    "({}, {})",
    "getmetatable",
    "('')",
    "rawset",
    "(_G, 'x', 1)",
    "table.concat",
    "(KEYS, ',')",
    "unpack",
    "redis",
    ".",
    "x.y",
    "[1]",
    "#",
    "..",
    "nil",
    "false",
    "{err = 'E'}",
    "{ok = 'O'}",
    "{double = 1.5}",
    "{map = {a = 1}}",
    "redis.error_reply",
    "redis.setresp(3)",
    "redis.log",
    "(1, 'm')",
    "loadstring",
    "('return 1')",
    "tostring",
    "tonumber",
    "string.gsub",
    "('a', '.', '%1')",
    "string.find",
    "('aaa', '(a*)*b')",
    "table.sort",
    "next",
    "pairs",
    "assert",
    "select",
    "('#', 1)",
    "_G",
    "#!lua flags=no-writes\n",
    "repeat",
    "until",
    "--[[",
    "]]",
    "[[",
    "goto",
    "not",
    "and",
    "or",
];
