//! Random Lua values as source text: numbers at the edges of the formats, texts of any bytes, tables of every shape.

use crate::diff::rng::Rng;

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "5",
    "7",
    "8",
    "10",
    "15",
    "16",
    "31",
    "32",
    "33",
    "-31",
    "-32",
    "-33",
    "63",
    "64",
    "127",
    "128",
    "129",
    "-127",
    "-128",
    "-129",
    "255",
    "256",
    "-255",
    "-256",
    "32767",
    "32768",
    "-32768",
    "-32769",
    "65535",
    "65536",
    "2^24",
    "2^24+1",
    "2^31-1",
    "2^31",
    "2^31+1",
    "-2^31",
    "-2^31-1",
    "2^32-1",
    "2^32",
    "2^32+1",
    "2^51",
    "2^52",
    "2^52+2^51",
    "2^53-1",
    "2^53",
    "-2^53",
    "2^62",
    "2^63-1024",
    "2^63",
    "-2^63",
    "-2^63-2048",
    "2^64-2048",
    "2^64",
    "-2^64",
    "1e14",
    "99999999999999",
    "1e15",
    "123456789012345",
    "1e21",
    "1e300",
    "-1e300",
    "1e308",
    "5e-324",
    "2.2250738585072014e-308",
    "3.4028234663852886e38",
    "3.5e38",
    "1e-45",
    "1e-46",
    "0.5",
    "-0.5",
    "1.5",
    "2.5",
    "-1.5",
    "0.1",
    "1/3",
    "-2.25",
    "0.49999999999999994",
    "1e-5",
    "0.0001",
    "99999999999999.5",
    "(1/0)",
    "(-1/0)",
    "(0/0)",
    "(-(0/0))",
    "9.5",
    "999.5",
    "0.30000000000000004",
    "3.14159265358979",
];
const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'b'",
    "'abc'",
    "'0'",
    "'1'",
    "'-1'",
    "'10'",
    "'0x10'",
    "' 7 '",
    "'1e3'",
    "'nan'",
    "'inf'",
    "'x y'",
    "'\\0'",
    "'a\\0b'",
    "'\\255\\254'",
    "'\\195\\169'",
    "'\"'",
    "'\\\\'",
    "'/'",
    "'\\127'",
    "'\\n\\r\\t\\b\\f'",
    "'\\1\\31'",
    "'null'",
    "'true'",
    "'on'",
    "'off'",
    "'[1,2]'",
    "'{}'",
];
const OTHERS: &[&str] =
    &["nil", "true", "false", "cjson.null", "print1", "redis.call", "{}", "KEYS", "bit", "struct", "co"];

/// Bytes as a Lua string.
pub(crate) fn literal(bytes: &[u8]) -> String {
    let mut text = String::from("'");
    for byte in bytes {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            // Three digits, so that a digit may follow.
            _ => text.push_str(&format!("\\{byte:03}")),
        }
    }
    text.push('\'');
    text
}

pub(crate) fn bytes(rng: &mut Rng, most: usize) -> Vec<u8> {
    let length = rng.below(most + 1);
    let plain = rng.percent(50);
    (0..length).map(|_| if plain { b'a' + rng.below(26) as u8 } else { rng.below(256) as u8 }).collect()
}

pub(crate) fn number(rng: &mut Rng) -> String {
    match rng.below(10) {
        0..=5 => (*rng.pick(NUMBERS)).into(),
        6 => (rng.next() as i64 >> rng.below(64)).to_string(),
        7 => format!("{:e}", f64::from_bits(rng.next())).replace("NaN", "(0/0)").replace("inf", "(1/0)"),
        8 => format!("{}", (rng.next() % 1_000_000_000) as f64 / 1000.0),
        _ => format!("{}2^{}{}", rng.pick(&["", "-"]), rng.below(70), rng.pick(&["", "+1", "-1", "+0.5"])),
    }
}

pub(crate) fn text(rng: &mut Rng) -> String {
    match rng.below(60) {
        0..=26 => (*rng.pick(TEXTS)).into(),
        27..=53 => literal(&bytes(rng, 12)),
        54..=58 => format!("({}):rep({})", rng.pick(TEXTS), rng.pick(&["31", "32", "255", "256", "300"])),
        _ => format!("({}):rep({})", rng.pick(TEXTS), rng.pick(&["65535", "65536"])),
    }
}

/// A text that both sides hash alike: all bytes of a longer one count on the server, some of them here.
fn short_text(rng: &mut Rng) -> String {
    if rng.percent(50) { (*rng.pick(TEXTS)).into() } else { literal(&bytes(rng, 12)) }
}

/// Any value; tables up to a depth.
pub(crate) fn value(rng: &mut Rng, depth: usize) -> String {
    match rng.below(12) {
        0..=3 => number(rng),
        4 | 5 => text(rng),
        6 => (*rng.pick(OTHERS)).into(),
        _ if depth > 0 => table(rng, depth - 1),
        _ => number(rng),
    }
}

fn table(rng: &mut Rng, depth: usize) -> String {
    match rng.below(12) {
        0..=3 => list(rng, depth),
        4..=6 => map(rng, depth),
        7 => format!("{{{}={},{}}}", key_name(rng), value(rng, depth), value(rng, depth)),
        8 => format!(
            "nest({}, {})",
            rng.pick(&["1", "2", "14", "15", "16", "17", "100", "998", "999", "1000"]),
            value(rng, 0)
        ),
        9 => {
            format!("nestmap({}, {})", rng.pick(&["1", "2", "15", "16", "17", "999", "1000"]), value(rng, 0))
        }
        10 => {
            let count =
                if rng.percent(95) { &["3", "15", "16", "17", "100"][..] } else { &["65535", "65536"] };
            format!("fill({}, {})", rng.pick(count), rng.pick(NUMBERS))
        }
        _ => sparse(rng, depth),
    }
}

fn list(rng: &mut Rng, depth: usize) -> String {
    let items: Vec<String> = (0..rng.below(6)).map(|_| value(rng, depth)).collect();
    format!("{{{}}}", items.join(","))
}

fn key_name(rng: &mut Rng) -> String {
    format!("k{}", rng.below(9))
}

/// Keys that several values share are avoided where their order would depend on addresses: no tables among them.
fn map(rng: &mut Rng, depth: usize) -> String {
    let pairs: Vec<String> = (0..rng.below(6))
        .map(|_| {
            let key = match rng.below(8) {
                0..=3 => format!("'{}'", key_name(rng)),
                4 => short_text(rng),
                5 => (*rng.pick(&["true", "false", "1.5", "0", "-1", "1e300", "(1/0)", "2^31", "2^31-1"]))
                    .into(),
                _ => (rng.below(20)).to_string(),
            };
            format!("[{key}]={}", value(rng, depth))
        })
        .collect();
    format!("{{{}}}", pairs.join(","))
}

fn sparse(rng: &mut Rng, depth: usize) -> String {
    let pairs: Vec<String> = (0..1 + rng.below(4))
        .map(|_| {
            format!(
                "[{}]={}",
                rng.pick(&["1", "2", "3", "4", "5", "9", "10", "11", "12", "21", "50"]),
                value(rng, depth)
            )
        })
        .collect();
    format!("{{{}}}", pairs.join(","))
}
