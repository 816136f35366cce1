//! One reply as it crosses the wire in RESP2 or RESP3: read from bytes, written as one line of text that
//! tests record and compare. Both sides of a comparison pass through here. The text:
//! `+OK` `-ERR ..` `:1` `"bulk"` `nil` `nil*` (null array) `[a, b]`, RESP3 `%{k=>v}` `~[..]` `>[..]` `,1.5` `#t`
//! `|{k=>v}` (attribute) `(123` `="txt:.."` `_nil`.

use std::fmt::{self, Display, Formatter, Write};
use std::io::{self, BufRead};

/// A reply as the wire carries it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wire {
    Status(Vec<u8>),
    Error(Vec<u8>),
    Int(i64),
    Bulk(Vec<u8>),
    NilBulk,
    NilArray,
    Null,
    Array(Vec<Wire>),
    Map(Vec<(Wire, Wire)>),
    /// What is said of the reply that follows.
    Attribute(Vec<(Wire, Wire)>),
    Set(Vec<Wire>),
    Push(Vec<Wire>),
    Double(Vec<u8>),
    Bool(bool),
    BigNumber(Vec<u8>),
    Verbatim(Vec<u8>),
    /// No reply came in time (a blocked client).
    Timeout,
}

impl Wire {
    /// Reads one reply.
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Wire> {
        let line = read_line(from)?;
        let (&kind, rest) = line.split_first().ok_or_else(|| broken("an empty line"))?;
        Ok(match kind {
            b'+' => Wire::Status(rest.to_vec()),
            b'-' => Wire::Error(rest.to_vec()),
            b':' => Wire::Int(number(rest)?),
            b'$' if rest == b"-1" => Wire::NilBulk,
            b'$' => Wire::Bulk(read_bulk(from, number(rest)?)?),
            b'*' if rest == b"-1" => Wire::NilArray,
            b'*' => Wire::Array(read_items(from, number(rest)?)?),
            b'~' => Wire::Set(read_items(from, number(rest)?)?),
            b'>' => Wire::Push(read_items(from, number(rest)?)?),
            b'%' => Wire::Map(pairs(read_items(from, 2 * number(rest)?)?)),
            b'|' => Wire::Attribute(pairs(read_items(from, 2 * number(rest)?)?)),
            b'_' => Wire::Null,
            b',' => Wire::Double(rest.to_vec()),
            b'#' => Wire::Bool(rest == b"t"),
            b'(' => Wire::BigNumber(rest.to_vec()),
            b'=' => Wire::Verbatim(read_bulk(from, number(rest)?)?),
            _ => return Err(broken(&String::from_utf8_lossy(&line))),
        })
    }

    /// Writes a command the way a client sends it.
    pub(crate) fn write_command(argv: &[Vec<u8>], to: &mut Vec<u8>) {
        to.extend_from_slice(format!("*{}\r\n", argv.len()).as_bytes());
        for word in argv {
            to.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            to.extend_from_slice(word);
            to.extend_from_slice(b"\r\n");
        }
    }

    /// True for an error reply.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Wire::Error(_))
    }

    /// The elements of an array, set or push; empty for all else.
    pub(crate) fn items(&self) -> &[Wire] {
        match self {
            Wire::Array(items) | Wire::Set(items) | Wire::Push(items) => items,
            _ => &[],
        }
    }

    /// The same reply with its elements in sorted order (for replies whose order the server does not define).
    pub(crate) fn sorted(&self) -> Wire {
        let mut copy = self.clone();
        match &mut copy {
            Wire::Array(items) | Wire::Set(items) => items.sort(),
            Wire::Map(items) => items.sort(),
            _ => {}
        }
        copy
    }

    /// The same reply with a flat list of pairs sorted by pair.
    pub(crate) fn sorted_pairs(&self) -> Wire {
        match self {
            Wire::Array(items) if items.len() % 2 == 0 => {
                let mut sorted: Vec<Vec<Wire>> = items.chunks(2).map(<[Wire]>::to_vec).collect();
                sorted.sort();
                Wire::Array(sorted.concat())
            }
            other => other.sorted(),
        }
    }

    /// The text of a bulk, status, error or verbatim reply.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Wire::Bulk(text) | Wire::Status(text) | Wire::Error(text) | Wire::Verbatim(text) => Some(text),
            _ => None,
        }
    }

    /// What remains of a random reply when its values are taken away: kinds and lengths.
    pub(crate) fn shape(&self) -> String {
        match self {
            Wire::Array(items) => format!("array of {}", items.len()),
            Wire::Set(items) => format!("set of {}", items.len()),
            Wire::Map(items) => format!("map of {}", items.len()),
            Wire::Bulk(_) => "bulk".into(),
            Wire::Int(_) => "integer".into(),
            Wire::Verbatim(_) => "verbatim".into(),
            other => other.to_string(),
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a reply: {what}"))
}

fn read_line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\r\n") {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended"));
    }
    line.truncate(line.len() - 2);
    Ok(line)
}

fn read_bulk(from: &mut impl BufRead, length: i64) -> io::Result<Vec<u8>> {
    let mut bulk = vec![0; usize::try_from(length).map_err(|_| broken("a negative length"))? + 2];
    from.read_exact(&mut bulk)?;
    bulk.truncate(bulk.len() - 2);
    Ok(bulk)
}

fn read_items(from: &mut impl BufRead, count: i64) -> io::Result<Vec<Wire>> {
    (0..count).map(|_| Wire::read(from)).collect()
}

fn number(text: &[u8]) -> io::Result<i64> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| broken("a length or number"))
}

fn pairs(items: Vec<Wire>) -> Vec<(Wire, Wire)> {
    let mut items = items.into_iter();
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        pairs.push((key, value));
    }
    pairs
}

/// Writes bytes between double quotes, everything unprintable as an escape.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text.push('"');
    text
}

/// Bytes of a one-line reply as text: printable as they are, the rest escaped.
fn plain(bytes: &[u8]) -> String {
    let quoted = quote(bytes);
    quoted[1..quoted.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\")
}

fn join(out: &mut Formatter<'_>, open: &str, items: &[Wire]) -> fmt::Result {
    out.write_str(open)?;
    for (at, item) in items.iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        write!(out, "{separator}{item}")?;
    }
    out.write_char(']')
}

impl Display for Wire {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Wire::Status(text) => write!(out, "+{}", plain(text)),
            Wire::Error(text) => write!(out, "-{}", plain(text)),
            Wire::Int(value) => write!(out, ":{value}"),
            Wire::Bulk(bytes) => out.write_str(&quote(bytes)),
            Wire::NilBulk => out.write_str("nil"),
            Wire::NilArray => out.write_str("nil*"),
            Wire::Null => out.write_str("_nil"),
            Wire::Array(items) => join(out, "[", items),
            Wire::Set(items) => join(out, "~[", items),
            Wire::Push(items) => join(out, ">[", items),
            Wire::Map(items) | Wire::Attribute(items) => {
                let body: Vec<String> = items.iter().map(|(key, value)| format!("{key}=>{value}")).collect();
                let mark = if matches!(self, Wire::Map(_)) { '%' } else { '|' };
                write!(out, "{mark}{{{}}}", body.join(", "))
            }
            Wire::Double(text) => write!(out, ",{}", plain(text)),
            Wire::Bool(value) => out.write_str(if *value { "#t" } else { "#f" }),
            Wire::BigNumber(text) => write!(out, "({}", plain(text)),
            Wire::Verbatim(text) => write!(out, "={}", quote(text)),
            Wire::Timeout => out.write_str("!TIMEOUT"),
        }
    }
}
