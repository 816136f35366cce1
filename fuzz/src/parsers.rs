//! The target for the parsers that read what clients send: numbers, patterns, usage texts. Beyond not panicking, a text
//! that reads as a number is written back as it was, and patterns agree with a matcher too simple to be wrong.

use moonkeep::command::usage;
use moonkeep::util::float::{format_f64, format_score, parse_f64, strtod};
use moonkeep::util::glob::glob;
use moonkeep::util::long_double::LongDouble;
use moonkeep::util::num::{NumBuf, format_i64, format_u64, parse_i64, parse_memory, parse_u64};
use std::sync::Mutex;

/// Any bytes as a number, as a pattern and a text (parted by a NUL), as a usage text.
pub fn parsers(input: &[u8]) {
    integers(input);
    floats(input);
    let (pattern, text) = match input.iter().position(|&byte| byte == 0) {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &b"some text"[..]),
    };
    patterns(pattern, text);
    usages(input);
}

fn integers(text: &[u8]) {
    let plain = std::str::from_utf8(text).ok();
    let mut buf = NumBuf::new();
    if let Some(n) = parse_i64(text) {
        assert_eq!(format_i64(&mut buf, n), text);
    } else if let Some(n) = plain.and_then(|text| text.parse::<i64>().ok()) {
        assert_ne!(n.to_string().as_bytes(), text, "a canonical integer was refused");
    }
    let mut buf = NumBuf::new();
    match (parse_u64(text), plain.and_then(|text| text.parse::<u64>().ok())) {
        (None, Some(n)) => assert_ne!(format_u64(&mut buf, n), text, "a canonical number was refused"),
        (Some(n), Some(same)) => assert_eq!(n, same),
        _ => {}
    }
    let _ = parse_memory(text);
}

fn floats(text: &[u8]) {
    let _ = strtod(text);
    if let Some(value) = parse_f64(text) {
        assert!(!value.is_nan());
        for format in [format_f64, format_score] {
            let mut buf = NumBuf::new();
            let written = format(&mut buf, value);
            assert_eq!(parse_f64(written).map(f64::to_bits), Some(value.to_bits()), "{value:e}");
        }
    }
    if let Some(value) = LongDouble::parse(text) {
        let mut written = Vec::new();
        value.write_human(&mut written);
        assert!(value.is_infinite() || LongDouble::parse(&written).is_some(), "{written:?}");
    }
}

fn patterns(pattern: &[u8], text: &[u8]) {
    let matched = glob(pattern, text, false);
    glob(pattern, text, true);
    let is_plain = !pattern.iter().any(|byte| b"[]\\".contains(byte));
    if is_plain && !text.is_empty() && pattern.len() + text.len() < 64 {
        assert_eq!(matched, naive(pattern, text), "pattern {pattern:?} text {text:?}");
    }
}

/// `*` and `?` only: a row of the classic table, one entry for each prefix of the text.
fn naive(pattern: &[u8], text: &[u8]) -> bool {
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for &element in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match element {
                b'*' => reached[at] || (at > 0 && next[at - 1]),
                _ => at > 0 && reached[at - 1] && (element == b'?' || element == text[at - 1]),
            };
        }
        reached = next;
    }
    reached[text.len()]
}

/// Usage texts live as long as the program: those tried are kept, so that nothing is lost from sight.
static TRIED: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn usages(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if text.len() > 200 {
        return;
    }
    let text: &'static str = Box::leak(format!("NAME {text}").into_boxed_str());
    if let Ok(mut tried) = TRIED.lock() {
        tried.push(text);
    }
    if let Ok(arguments) = usage::parse("name", text) {
        assert_ne!(usage::arity("name", &arguments), 0);
        let _ = usage::help(&arguments);
    }
}
