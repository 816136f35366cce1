//! A reply as redis-cli shows it: with types and numbering for a terminal, or raw for a pipe.

use super::{Items, Reply, ReplyRef};
use crate::util::float::format_f64;
use crate::util::long_double::format_human;
use crate::util::num::NumBuf;
use crate::util::words::quote;
use std::fmt;

/// As redis-cli shows it on a terminal: `(integer) 1`, `1) "a"`, `(nil)`, `(error) ERR …`; no line end at the end.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.values().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ReplyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&terminal(self, 0))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn human(value: f64) -> String {
    text(&format_human(value))
}

fn double(value: f64) -> String {
    text(format_f64(&mut NumBuf::new(), value))
}

/// `indent`: how far the lines after the first one are set in.
fn terminal(value: &ReplyRef<'_>, indent: usize) -> String {
    match value {
        ReplyRef::Int(n) => format!("(integer) {n}"),
        ReplyRef::Bulk(bytes) => quote(bytes),
        ReplyRef::Status(bytes) | ReplyRef::Verbatim(_, bytes) => text(bytes),
        ReplyRef::Error(bytes) => format!("(error) {}", text(bytes)),
        ReplyRef::Nil | ReplyRef::NilArray => "(nil)".into(),
        ReplyRef::Double(x) => format!("(double) {}", double(*x)),
        ReplyRef::Coordinate(x) => format!("(double) {}", human(*x)),
        ReplyRef::Bool(b) => (if *b { "(true)" } else { "(false)" }).into(),
        ReplyRef::BigNumber(digits) => format!("(big number) {}", text(digits)),
        ReplyRef::Array(items) => list(*items, ')', "(empty array)", indent),
        ReplyRef::Set(items) => list(*items, '~', "(empty set)", indent),
        ReplyRef::Push(items) => list(*items, ')', "(empty push)", indent),
        ReplyRef::Map(items) | ReplyRef::Attribute(items) => map(*items, indent),
    }
}

fn list(items: Items<'_>, mark: char, empty: &str, indent: usize) -> String {
    if items.len() == 0 {
        return empty.into();
    }
    let width = items.len().to_string().len();
    let inner = indent + width + 2;
    let lines = items.enumerate().map(|(index, item)| {
        let number = index + 1;
        format!("{number:>width$}{mark} {}", terminal(&item, inner))
    });
    lines.collect::<Vec<_>>().join(&format!("\n{:indent$}", ""))
}

fn map(mut items: Items<'_>, indent: usize) -> String {
    if items.len() == 0 {
        return "(empty hash)".into();
    }
    let width = (items.len() / 2).to_string().len();
    let inner = indent + width + 2;
    let mut lines = Vec::new();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        let number = lines.len() + 1;
        lines.push(format!("{number:>width$}# {} => {}", terminal(&key, inner), terminal(&value, inner)));
    }
    lines.join(&format!("\n{:indent$}", ""))
}

impl Reply {
    /// As redis-cli shows it in a pipe or with `--raw`: bytes as they are, one element a line.
    pub fn to_raw(&self) -> Vec<u8> {
        let lines: Vec<Vec<u8>> = self.values().map(|value| raw(&value)).collect();
        lines.join(&b'\n')
    }
}

fn raw(value: &ReplyRef<'_>) -> Vec<u8> {
    match value {
        ReplyRef::Int(n) => n.to_string().into_bytes(),
        ReplyRef::Bulk(bytes) | ReplyRef::Status(bytes) | ReplyRef::Verbatim(_, bytes) => bytes.to_vec(),
        ReplyRef::BigNumber(bytes) => bytes.to_vec(),
        ReplyRef::Error(bytes) => [*bytes, b"\n"].concat(),
        ReplyRef::Nil | ReplyRef::NilArray => Vec::new(),
        ReplyRef::Double(x) => double(*x).into_bytes(),
        ReplyRef::Coordinate(x) => format_human(*x),
        ReplyRef::Bool(b) => (if *b { "(true)" } else { "(false)" }).into(),
        ReplyRef::Array(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => {
            items.map(|item| raw(&item)).collect::<Vec<_>>().join(&b'\n')
        }
        ReplyRef::Map(items) | ReplyRef::Attribute(items) => {
            let parts: Vec<Vec<u8>> = items.map(|item| raw(&item)).collect();
            parts.chunks(2).map(|pair| pair.join(&b' ')).collect::<Vec<_>>().join(&b'\n')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested() -> Reply {
        let mut reply = Reply::new();
        reply.array(3);
        reply.int(1);
        reply.array(2);
        reply.bulk(b"a\"\n\x01");
        reply.array(0);
        reply.nil();
        reply
    }

    #[test]
    fn nesting_is_shown_as_redis_cli_does() {
        assert_eq!(
            nested().to_string(),
            "1) (integer) 1\n2) 1) \"a\\\"\\n\\x01\"\n   2) (empty array)\n3) (nil)"
        );
        assert_eq!(nested().to_raw(), b"1\na\"\n\x01\n\n");
    }

    #[test]
    fn numbers_are_set_right_and_maps_have_arrows() {
        let mut reply = Reply::new();
        reply.array(10);
        (0..9).for_each(|n| reply.int(n));
        reply.map(1);
        reply.bulk(b"f");
        reply.double(1.5);
        let text = reply.to_string();
        assert!(text.starts_with(" 1) (integer) 0\n 2) "), "{text}");
        assert!(text.ends_with("\n10) 1# \"f\" => (double) 1.5"), "{text}");
    }
}
