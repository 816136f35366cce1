//! The fuzz targets on a stable toolchain: the bodies of `fuzz/src` with inputs from a seeded generator, and all kept
//! inputs of `fuzz/regressions`. MOONKEEP_FUZZ_SECONDS (1) scales the number of inputs, MOONKEEP_FUZZ_SEED chooses
//! others. An input that fails is printed as it would be kept. MOONKEEP_FUZZ_CORPUS names a folder that gets all inputs.

#[path = "../fuzz/src/bodies.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod bodies;
#[path = "../fuzz/src/libraries.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod libraries;
#[path = "../fuzz/src/parsers.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz crate")]
pub(crate) mod parsers;

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
const NEVER_SUCCEED: &[&str] = &["function|kill", "script|kill"];

#[test]
fn programs_make_each_command_succeed() {
    let programs = Programs::new();
    let mut missing: BTreeSet<&str> = programs.names().collect();
    for seed in 0..1500 {
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
    missing.retain(|name| !NEVER_SUCCEED.contains(name));
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
