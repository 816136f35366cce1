//! Random input of the parsers: JSON texts, MessagePack bytes, formats of `struct`, whole ones and broken ones.

use super::values::bytes;
use crate::diff::rng::Rng;

const JSON_ATOMS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "1.5",
    "-0.5e3",
    "1E+2",
    "1e999",
    "-1e999",
    "1e-999",
    "007",
    "-01",
    "0x10",
    "-0xA.8p1",
    "0x.8",
    "0x",
    "0xg",
    "5.",
    "-.5",
    ".5",
    "+5",
    "+",
    "-",
    "--1",
    "- 1",
    "1e",
    "1e+",
    "12x",
    "nan",
    "-nan",
    "NaN",
    "nan(5)",
    "nan(0x1f)",
    "nan(",
    "nan(!)",
    "inf",
    "-Infinity",
    "INF",
    "infinit",
    "nul",
    "tru",
    "fals",
    "True",
    "NULL",
    "nil",
    "x",
    "9007199254740993",
    "123456789012345678901234567890",
    "0.1",
    "2.2250738585072014e-308",
    "999999999999999",
    "1234567890123456",
    "1e5",
    "1e-5",
    "''",
    "'x'",
    "[]",
    "{}",
    "[[]]",
    "\"\"",
    "\"a\"",
];
const JSON_PIECES: &[&str] = &[
    "a",
    "b",
    "\\n",
    "\\\"",
    "\\\\",
    "\\/",
    "\\b",
    "\\f",
    "\\r",
    "\\t",
    "\\u0041",
    "\\u00e9",
    "\\u20ac",
    "\\ud834\\udd1e",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\\ud800x",
    "\\ud800\\n",
    "\\ud800\\u0041",
    "\\uD834\\uDD1E",
    "\\u12",
    "\\uzzzz",
    "\\x",
    "\\",
    "\u{7f}",
    "\u{1}",
    "é",
    "/",
    "'",
    "{",
    "]",
];
const JSON_MARKS: &[&str] =
    &[",", ":", "[", "]", "{", "}", "\"", " ", "\n", "\t", "\0", "\\", "/", "1", "n", "-", "+", "\u{b}"];

/// A JSON text, mostly well-formed.
pub(crate) fn json(rng: &mut Rng) -> Vec<u8> {
    let mut text = match rng.below(30) {
        0 => "[".repeat(1 + rng.below(3) + 998),
        1 => "{\"a\":".repeat(1 + rng.below(3) + 998),
        2 => format!("{}1{}", "[".repeat(1000), "]".repeat(1000)),
        _ => json_value(rng, 3),
    }
    .into_bytes();
    if rng.percent(35) {
        for _ in 0..1 + rng.below(2) {
            break_json(rng, &mut text);
        }
    }
    text
}

fn break_json(rng: &mut Rng, text: &mut Vec<u8>) {
    let at = rng.below(text.len() + 1);
    match rng.below(4) {
        0 => text.truncate(at),
        1 if at < text.len() => {
            text.remove(at);
        }
        2 if at < text.len() => text[at] = rng.below(256) as u8,
        _ => {
            text.splice(at..at, rng.pick(JSON_MARKS).bytes());
        }
    }
}

fn json_value(rng: &mut Rng, depth: usize) -> String {
    let space = *rng.pick(&["", "", "", " ", "\n", " \t\r\n"]);
    let value = match rng.below(12) {
        0..=3 => (*rng.pick(JSON_ATOMS)).to_string(),
        4 => (rng.next() as i64 >> rng.below(64)).to_string(),
        5 => format!("{:e}", f64::from_bits(rng.next())),
        6 | 7 => json_string(rng),
        8 | 9 if depth > 0 => {
            let items: Vec<String> = (0..rng.below(5)).map(|_| json_value(rng, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ if depth > 0 => {
            let pairs: Vec<String> = (0..rng.below(4))
                .map(|_| format!("{}{space}:{}", json_key(rng), json_value(rng, depth - 1)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        _ => "1".into(),
    };
    format!("{space}{value}{space}")
}

fn json_key(rng: &mut Rng) -> String {
    if rng.percent(75) { format!("\"k{}\"", rng.below(9)) } else { json_string(rng) }
}

fn json_string(rng: &mut Rng) -> String {
    let well_formed = rng.percent(85);
    let pool = if well_formed { &JSON_PIECES[..14] } else { JSON_PIECES };
    let inside: String = (0..rng.below(5)).map(|_| *rng.pick(pool)).collect();
    format!("\"{inside}\"")
}

/// MessagePack values, one after the other, mostly well-formed.
pub(crate) fn message_pack(rng: &mut Rng) -> Vec<u8> {
    let mut data = Vec::new();
    if rng.below(40) == 0 {
        let unit: &[u8] = rng.pick::<&[u8]>(&[b"\x91", b"\x81", b"\x81\x01", b"\x91\x81\x01", b"\x01"]);
        data = unit.repeat(*rng.pick(&[100, 3998, 3999, 4000, 7997, 7998, 7999, 8000]));
    }
    for _ in 0..1 + rng.below(3) {
        pack_value(rng, 3, &mut data);
    }
    if rng.percent(35) {
        let at = rng.below(data.len() + 1);
        match rng.below(4) {
            0 => data.truncate(at),
            1 if at < data.len() => {
                data.remove(at);
            }
            2 if at < data.len() => data[at] = rng.below(256) as u8,
            _ => data.insert(at, 0xc0 + rng.below(32) as u8),
        }
    }
    data
}

fn pack_value(rng: &mut Rng, depth: usize, data: &mut Vec<u8>) {
    match rng.below(10) {
        0 => data.push(rng.below(128) as u8),
        1 => data.push(0xe0 + rng.below(32) as u8),
        2 => data.push(*rng.pick(&[0xc0, 0xc2, 0xc3])),
        3 | 4 => {
            let marker = *rng.pick(&[0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3, 0xca, 0xcb]);
            let length = match marker {
                0xcc | 0xd0 => 1,
                0xcd | 0xd1 => 2,
                0xcf | 0xd3 | 0xcb => 8,
                _ => 4,
            };
            data.push(marker);
            let fill = *rng.pick(&[0, 0x7f, 0x80, 0xff]);
            data.extend((0..length).map(|_| if rng.percent(50) { fill } else { rng.below(256) as u8 }));
        }
        5 | 6 => {
            let text = bytes(rng, 8);
            head(rng, data, 0xa0, 0xd9, text.len());
            data.extend(text);
        }
        7 | 8 if depth > 0 => {
            let count = rng.below(4);
            head(rng, data, 0x90, 0xdb, count);
            (0..count).for_each(|_| pack_value(rng, depth - 1, data));
        }
        _ if depth > 0 => {
            let count = rng.below(4);
            head(rng, data, 0x80, 0xdd, count);
            for _ in 0..count {
                // Keys that are not tables: their order would depend on addresses.
                pack_value(rng, 0, data);
                pack_value(rng, depth - 1, data);
            }
        }
        _ => data.push(1),
    }
}

/// A marker with a length: in the marker itself, or behind one of `long` (with one byte, for texts), 16 or 32 bits.
fn head(rng: &mut Rng, data: &mut Vec<u8>, short: u8, long: u8, length: usize) {
    let length32 = (length as u32).to_be_bytes();
    match rng.below(6) {
        0 if short == 0xa0 => data.extend([long, length32[3]]),
        1 => data.extend([long + 1, length32[2], length32[3]]),
        2 => {
            data.push(long + 2);
            data.extend(length32);
        }
        _ => data.push(short | length as u8),
    }
}

const OPTIONS: &[&str] = &[
    "b", "B", "h", "H", "l", "L", "T", "i", "I", "f", "d", "s", "x", "c0", "c1", "c3", "c", "i1", "i2", "i3",
    "i5", "i7", "i8", "i9", "i16", "i32", "I3", "I4", "I9", "I32", "<", ">", "!", "!1", "!2", "!4", "!8",
    "!16", " ",
];
const ODD_OPTIONS: &[&str] = &[
    "!0",
    "!3",
    "!1073741824",
    "!2147483648",
    "i0",
    "i33",
    "i2147483647",
    "i2147483648",
    "c2147483647",
    "c99999999999",
    "z",
    "5",
    "?",
    "=",
    "\u{ff}",
    "\0b",
    "-",
    "I0",
    "c5",
    "s5",
];

pub(crate) fn format(rng: &mut Rng) -> String {
    let count = rng.below(7);
    let option = |_| {
        let pool = if rng.percent(94) { OPTIONS } else { ODD_OPTIONS };
        *rng.pick(pool)
    };
    (0..count).map(option).collect()
}
