//! A value on one line, for people: quoted as redis-cli quotes, shortened where it is long.

use crate::value::Value;

/// Longer strings are cut here.
const STRING_MAX: usize = 64;
/// More elements are counted, not shown.
const ELEMENTS_MAX: usize = 8;

/// A byte string in quotes, with what cannot be printed as redis-cli shows it.
pub fn quoted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            0x07 => text.push_str("\\a"),
            0x08 => text.push_str("\\b"),
            b' '..=b'~' => text.push(byte as char),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('"');
    text
}

/// As [`quoted`], shortened.
fn short(bytes: &[u8]) -> String {
    match bytes.get(..STRING_MAX) {
        Some(start) if bytes.len() > STRING_MAX => {
            format!("{}... ({} bytes)", quoted(start), bytes.len())
        }
        _ => quoted(bytes),
    }
}

fn listed(open: char, shown: impl Iterator<Item = String>, len: usize, close: char) -> String {
    let mut parts: Vec<String> = shown.take(ELEMENTS_MAX).collect();
    if len > ELEMENTS_MAX {
        parts.push(format!("... {} in all", len));
    }
    format!("{open}{}{close}", parts.join(", "))
}

impl Value {
    /// The value on one line.
    pub fn preview(&self) -> String {
        match self {
            Value::String(string) => short(string.bytes().as_bytes()),
            Value::List(list) => listed('[', list.iter().map(short), list.len(), ']'),
            Value::Set(set) => listed('{', set.iter().map(|member| short(&member)), set.len(), '}'),
            Value::Hash(hash) => {
                let pairs = hash.iter().map(|(field, value)| format!("{}: {}", short(field), short(value)));
                listed('{', pairs, hash.len(), '}')
            }
            Value::ZSet(zset) => {
                let pairs = zset.iter().map(|(member, score)| format!("{}: {score}", short(member)));
                listed('{', pairs, zset.len(), '}')
            }
            Value::Stream(stream) => {
                let entries = stream.iter().map(|entry| format!("{}", entry.id));
                let mut text = listed('[', entries, stream.len(), ']');
                if !stream.groups().is_empty() {
                    let groups = stream.groups().iter().map(|(name, group)| {
                        format!("{} at {} with {} pending", short(name), group.last_id, group.pending_len())
                    });
                    text.push_str(" read by ");
                    text.push_str(&listed('{', groups, stream.groups().len(), '}'));
                }
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Str, list::List};
    use std::sync::Arc;

    #[test]
    fn long_values_are_shortened() {
        assert_eq!(Value::String(Str::new(b"a\"\n\x01\xff")).preview(), r#""a\"\n\x01\xff""#);
        let long = Value::String(Str::new(&[b'x'; 65])).preview();
        assert_eq!(long, format!("\"{}\"... (65 bytes)", "x".repeat(64)));
        let mut list = List::new();
        (0..10).for_each(|n: i32| list.push_back(n.to_string().as_bytes()));
        let shown = r#"["0", "1", "2", "3", "4", "5", "6", "7", ... 10 in all]"#;
        assert_eq!(Value::List(Arc::new(list)).preview(), shown);
    }
}
