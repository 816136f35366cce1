//! Values for the arguments, chosen by what an argument is called: small pools, so that commands meet each other's
//! keys, members and IDs, and edges that have caught out implementations before.

use super::grammar::{Argument, Kind};
use super::provocations::LIBRARIES;
use super::rng::Rng;
use crate::support::target::START_MS;

const INTEGERS: &[&str] = &["0", "1", "2", "3", "-1", "-2", "5", "10", "100"];
const ODD_INTEGERS: &[&str] = &[
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "4294967296",
    "2147483648",
    "-2147483649",
    "abc",
    "",
    "1.5",
    " 1",
    "01",
    "+1",
    "-0",
    "1e3",
];
const DOUBLES: &[&str] = &["1", "2", "-1", "0", "1.5", "0.1", "-2.25", "3.0", "1e3", "100", "10.50"];
const ODD_DOUBLES: &[&str] = &[
    "inf",
    "-inf",
    "nan",
    "1e400",
    "1e308",
    "5e-324",
    "abc",
    "",
    " 1",
    "0x10",
    "1e17",
    "-0",
    "123456789012345678",
];
const TEXTS: &[&str] = &["a", "b", "c", "1", "10", "-5", "3.25", "hello", "foobar", "", "A", "ab"];
const ODD_TEXTS: &[&str] = &[
    "a b",
    "\u{0}",
    "é\u{ff}",
    "9223372036854775807",
    "-9223372036854775808",
    "x\r\ny",
    "nan",
    "1e5",
    "0010",
];
const PATTERNS: &[&str] = &["*", "s*", "?0", "[sh]*", "nosuch", "*[^0]", "\\*", "a*", ""];
/// Patterns of SORT, which name other keys by its elements.
const SORT_PATTERNS: &[&str] = &["s*", "h*->a", "s0*", "nosort", "#", "e*->b", "*"];
const IDS: &[&str] = &[
    "0",
    "1-1",
    "1-2",
    "2-1",
    "3",
    "5-5",
    "0-0",
    "10-0",
    "abc",
    "1-",
    "18446744073709551615-18446744073709551615",
];
const BOUNDS: &[&str] = &[
    "-inf", "+inf", "1", "(1", "2", "-1", "0", "100", "[a", "(b", "-", "+", "[c", "nan", "abc", "(", "1-1",
    "(1-1", "2",
];
const LONGITUDES: &[&str] = &[
    "13.361389",
    "15.087269",
    "13.5",
    "13.36",
    "-122.4",
    "120",
    "0",
    "0.0001",
    "-0.00001",
    "179.9",
    "-179.9",
    "180",
    "-180",
];
const ODD_LONGITUDES: &[&str] = &["180.1", "-181", "1e308", "inf", "nan", "abc", "", " 1", "0x10", "-0"];
const LATITUDES: &[&str] = &[
    "38.115556",
    "37.502669",
    "38.1",
    "37.77",
    "0",
    "0.00001",
    "66.5",
    "80.1",
    "-70",
    "-33.9",
    "85.05112878",
    "-85.05112878",
    "85",
];
const ODD_LATITUDES: &[&str] = &["85.06", "-90", "1e308", "-inf", "nan", "abc", "", "1e-300", "-0"];
const DISTANCES: &[&str] =
    &["0", "1", "0.5", "50", "100", "200", "1000", "5000", "20000", "1e6", "5000000", "1e7", "4e7"];
const ODD_DISTANCES: &[&str] = &["-1", "-0", "inf", "nan", "abc", "", "1e308", "5e-324", "1e-7", " 1"];
const LONG: usize = 300;

/// The number of different keys of a type.
const KEYS: usize = 3;

/// A key: mostly one that holds, or may come to hold, the type that the command works on.
pub(crate) fn key(rng: &mut Rng, group: &str) -> Vec<u8> {
    let own: &[&str] = match group {
        "string" | "bitmap" => &["s"],
        "hash" => &["h"],
        "list" => &["l"],
        "set" => &["e"],
        "hyperloglog" => &["p"],
        "sorted-set" | "geo" => &["z", "z", "z", "e"],
        "stream" => &["x"],
        _ => &["s", "h", "l", "e", "z", "x", "p"],
    };
    let any: &[&str] = &["s", "h", "l", "e", "z", "x", "n"];
    let letter = if rng.percent(90) { rng.pick(own) } else { rng.pick(any) };
    format!("{letter}{}", rng.below(KEYS)).into_bytes()
}

/// A value for an argument that is not a key, token or group.
pub(crate) fn of(rng: &mut Rng, argument: &Argument, group: &str) -> Vec<u8> {
    match argument.name.as_str() {
        "seconds" | "milliseconds" | "ttl" => duration(rng),
        "unix-time-seconds" => moment(rng, START_MS / 1000),
        "unix-time-milliseconds" => moment(rng, START_MS),
        "pattern" if argument.token.is_some() && group == "generic" => text(rng.pick(SORT_PATTERNS)),
        "serialized-value" if group == "scripting" => library_dump(rng),
        "serialized-value" => dump(rng),
        "function-code" => text(rng.pick(LIBRARIES)),
        "function" => text(rng.pick(&["f", "f", "g", "h", "nosuch"])),
        "library-name" => text(rng.pick(&["l", "two", "nosuch"])),
        "library-name-pattern" => text(rng.pick(&["*", "l", "t*", "nosuch"])),
        "timeout" => {
            odd(rng, &["0", "0.05", "1", "100", "0.0001"], &["-1", "abc", "", "inf", "1e300", "nan"])
        }
        "pattern" => text(rng.pick(PATTERNS)),
        "cursor" => odd(rng, &["0", "0", "0", "0", "5", "17"], ODD_INTEGERS),
        "db" | "index1" | "index2" | "destination-db" => {
            odd(rng, &["0", "0", "1", "2"], &["16", "-1", "abc", "99"])
        }
        "protover" => odd(rng, &["2", "3"], &["1", "4", "abc", ""]),
        "index" if group == "connection" => odd(rng, &["0", "0", "0", "1", "2"], &["16", "-1", "abc"]),
        "id" if group == "stream" && rng.percent(25) => text(rng.pick(&[">", "$", "0", "-"])),
        "id" | "threshold" | "last-id" if group == "stream" => text(rng.pick(IDS)),
        "min-idle-time" => odd(rng, &["0", "0", "1", "10", "1000"], ODD_INTEGERS),
        // A high COUNT of XAUTOCLAIM is refused where the machine has little memory.
        "count" if group == "stream" => {
            odd(rng, &["1", "2", "10", "0"], &["-1", "abc", "", "9223372036854775807"])
        }
        "start" | "stop" | "end" if group == "stream" => {
            text(rng.pick(&["-", "+", "1-1", "(1-1", "2", "abc", "5"]))
        }
        "min" | "max" => text(rng.pick(BOUNDS)),
        "start" | "stop" | "end" if argument.kind == Kind::Text && group == "sorted-set" => {
            text(rng.pick(BOUNDS))
        }
        "offset" if group == "bitmap" => {
            odd(rng, &["0", "1", "5", "7", "15", "40", "-1"], &["abc", "5000", "4294967296", "#1"])
        }
        "offset" if group == "string" => odd(
            rng,
            &["0", "1", "5", "7", "15", "40", "-1"],
            &["abc", "536870912", "2000", "9223372036854775807"],
        ),
        "longitude" => odd(rng, LONGITUDES, ODD_LONGITUDES),
        "latitude" => odd(rng, LATITUDES, ODD_LATITUDES),
        "radius" | "width" | "height" => odd(rng, DISTANCES, ODD_DISTANCES),
        "encoding" => text(rng.pick(&["u8", "i8", "u4", "i16", "u1", "i64", "u63", "u64", "i5", "x8", "u0"])),
        "type" => text(rng.pick(&["string", "hash", "list", "set", "zset", "stream", "STRING", "bogus"])),
        "bit" => odd(rng, &["0", "1"], &["2", "abc", ""]),
        "operation" => text(rng.pick(&["AND", "OR", "XOR", "NOT", "and", "BOGUS"])),
        "groupname" | "group" => text(rng.pick(&["g", "h", "nosuch"])),
        "consumer" | "consumername" => text(rng.pick(&["c", "d"])),
        "parameter" => {
            text(rng.pick(&["databases", "hash-max-*", "nosuch", "set-max-intset-entries", "lua-time-limit"]))
        }
        "username" => text(rng.pick(&["default", "default", "nobody"])),
        "section" => text(rng.pick(&["server", "keyspace", "stats", "memory", "nosuch"])),
        "clientname" | "connection-name" => text(rng.pick(&["foo", "bar", "", "a b"])),
        _ => by_kind(rng, argument.kind),
    }
}

fn by_kind(rng: &mut Rng, kind: Kind) -> Vec<u8> {
    match kind {
        Kind::Integer => odd(rng, INTEGERS, ODD_INTEGERS),
        Kind::Double => odd(rng, DOUBLES, ODD_DOUBLES),
        _ if rng.percent(2) => vec![b'x'; LONG],
        _ => odd(rng, TEXTS, ODD_TEXTS),
    }
}

/// A dump of libraries of functions, as FUNCTION DUMP makes it.
fn library_dump(rng: &mut Rng) -> Vec<u8> {
    const LIBRARY: u8 = 0xf5;
    if rng.percent(20) {
        return if rng.percent(50) { dump(rng) } else { junk(rng) };
    }
    let mut writer = moonkeep::value::rdb::Writer::default();
    // Mostly those that can be loaded, two of them under one name.
    let from = if rng.percent(70) { &LIBRARIES[..3] } else { LIBRARIES };
    for _ in 0..1 + rng.below(2) {
        writer.byte(LIBRARY);
        writer.string(rng.pick(from).as_bytes());
    }
    writer.finish()
}

/// Too little behind the type, and a type that is none.
const BROKEN_DUMPS: &[&[u8]] =
    &[b"\x00\x05ab", b"\x01\x03\x01a", b"\x05\x01\x01a\x00", b"\x63\x01a", b"\x00"];

/// A dump of a small value of some type.
fn dump(rng: &mut Rng) -> Vec<u8> {
    let mut writer = moonkeep::value::rdb::Writer::default();
    if rng.percent(8) {
        writer.bytes(BROKEN_DUMPS[rng.below(BROKEN_DUMPS.len())]);
        return writer.finish();
    }
    let kind = rng.below(6) as u8;
    writer.byte(kind);
    match kind {
        0 => writer.string(rng.pick(TEXTS).as_bytes()),
        3 => writer.bytes(b"\x02\x01a\x031.5\x01b\x02-3"),
        5 => writer.bytes(b"\x01\x01a\x00\x00\x00\x00\x00\x00\xf0\x3f"),
        _ => {
            // Different ones: the server takes a field twice where it does not sanitize.
            writer.length(2);
            let fields = ["a", "1", "foobar"];
            let first = rng.below(2);
            for field in &fields[first..first + 2] {
                writer.string(field.as_bytes());
                if kind == 4 {
                    writer.string(rng.pick(TEXTS).as_bytes());
                }
            }
        }
    }
    writer.finish()
}

/// A value that fits nowhere in particular.
pub(crate) fn junk(rng: &mut Rng) -> Vec<u8> {
    let pool = [TEXTS, ODD_TEXTS, INTEGERS, ODD_INTEGERS, ODD_DOUBLES, IDS, BOUNDS];
    let pool = *rng.pick(&pool);
    text(rng.pick(pool))
}

fn odd(rng: &mut Rng, usual: &[&str], odd: &[&str]) -> Vec<u8> {
    if rng.percent(88) { text(rng.pick(usual)) } else { text(rng.pick(odd)) }
}

fn duration(rng: &mut Rng) -> Vec<u8> {
    odd(
        rng,
        &["1", "10", "100", "1000", "50", "100000"],
        &["0", "-1", "abc", "9223372036854775807", "9223372036854775", "", "1.5"],
    )
}

fn moment(rng: &mut Rng, now: i64) -> Vec<u8> {
    let shift = *rng.pick(&[1, 10, 100, 1000, 100_000, 0, -1]);
    if rng.percent(90) { (now + shift).to_string().into_bytes() } else { duration(rng) }
}

fn text(text: &&str) -> Vec<u8> {
    text.as_bytes().to_vec()
}
