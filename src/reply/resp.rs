//! A tape as RESP2 or RESP3 bytes. No sockets here; parsing requests belongs to the server front.

use super::{Items, Reply, ReplyRef, Resp};
use crate::util::float::format_f64;
use crate::util::long_double::format_human;
use crate::util::num::NumBuf;

/// Appends all values of the reply in the given protocol version.
pub fn encode(reply: &Reply, resp: Resp, out: &mut Vec<u8>) {
    for value in reply.values() {
        encode_value(&value, resp, out);
    }
}

/// Appends one value in the given protocol version.
pub fn encode_value(value: &ReplyRef<'_>, resp: Resp, out: &mut Vec<u8>) {
    let v3 = resp == Resp::V3;
    match *value {
        ReplyRef::Int(n) => head(b':', n, out),
        ReplyRef::Bulk(text) => bulk(text, out),
        ReplyRef::Status(text) => line(b'+', text, out),
        ReplyRef::Error(text) => line(b'-', text, out),
        ReplyRef::Nil if v3 => out.extend_from_slice(b"_\r\n"),
        ReplyRef::NilArray if v3 => out.extend_from_slice(b"_\r\n"),
        ReplyRef::Nil => out.extend_from_slice(b"$-1\r\n"),
        ReplyRef::NilArray => out.extend_from_slice(b"*-1\r\n"),
        ReplyRef::Array(items) => aggregate(b'*', items.len(), items, resp, out),
        ReplyRef::Map(items) if v3 => aggregate(b'%', items.len() / 2, items, resp, out),
        ReplyRef::Set(items) if v3 => aggregate(b'~', items.len(), items, resp, out),
        ReplyRef::Push(items) if v3 => aggregate(b'>', items.len(), items, resp, out),
        ReplyRef::Attribute(items) if v3 => aggregate(b'|', items.len() / 2, items, resp, out),
        ReplyRef::Attribute(_) => {}
        ReplyRef::Map(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => {
            aggregate(b'*', items.len(), items, resp, out);
        }
        ReplyRef::Double(value) if v3 => line(b',', format_f64(&mut NumBuf::new(), value), out),
        ReplyRef::Double(value) => bulk(format_f64(&mut NumBuf::new(), value), out),
        ReplyRef::Coordinate(value) if v3 => line(b',', &format_human(value), out),
        ReplyRef::Coordinate(value) => bulk(&format_human(value), out),
        ReplyRef::Bool(value) if v3 => line(b'#', if value { b"t" } else { b"f" }, out),
        ReplyRef::Bool(value) => head(b':', i64::from(value), out),
        ReplyRef::BigNumber(text) if v3 => line(b'(', text, out),
        ReplyRef::BigNumber(text) => bulk(text, out),
        ReplyRef::Verbatim(format, text) if v3 => {
            head(b'=', text.len() as i64 + 4, out);
            out.extend_from_slice(&format);
            out.push(b':');
            out.extend_from_slice(text);
            out.extend_from_slice(b"\r\n");
        }
        ReplyRef::Verbatim(_, text) => bulk(text, out),
    }
}

impl Reply {
    /// The reply as a client of this protocol version receives it: RESP2 has arrays for maps and sets, and strings or
    /// integers for doubles, booleans, big numbers and verbatim strings.
    #[must_use]
    pub fn received(&self, resp: Resp) -> Reply {
        match resp {
            Resp::V3 => self.clone(),
            Resp::V2 => {
                let mut out = Reply::new();
                self.values().for_each(|value| received_value(value, &mut out));
                out
            }
        }
    }
}

/// Writes a value as RESP2 has it.
fn received_value(value: ReplyRef<'_>, out: &mut Reply) {
    match value {
        ReplyRef::Array(items) | ReplyRef::Map(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => {
            out.array(items.len());
            items.for_each(|item| received_value(item, out));
        }
        ReplyRef::Attribute(_) => {}
        ReplyRef::Double(value) => out.bulk(format_f64(&mut NumBuf::new(), value)),
        ReplyRef::Coordinate(value) => out.bulk(&format_human(value)),
        ReplyRef::Bool(value) => out.int(i64::from(value)),
        ReplyRef::BigNumber(text) | ReplyRef::Verbatim(_, text) => out.bulk(text),
        other => out.value(other),
    }
}

/// Appends a command as a client sends it.
pub fn encode_command(argv: &[impl AsRef<[u8]>], out: &mut Vec<u8>) {
    head(b'*', argv.len() as i64, out);
    argv.iter().for_each(|word| bulk(word.as_ref(), out));
}

fn head(kind: u8, n: i64, out: &mut Vec<u8>) {
    line(kind, itoa::Buffer::new().format(n).as_bytes(), out);
}

fn line(kind: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn bulk(text: &[u8], out: &mut Vec<u8>) {
    head(b'$', text.len() as i64, out);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn aggregate(kind: u8, len: usize, items: Items<'_>, resp: Resp, out: &mut Vec<u8>) {
    head(kind, len as i64, out);
    for item in items {
        encode_value(&item, resp, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(build: impl Fn(&mut Reply)) -> (String, String) {
        let mut reply = Reply::new();
        build(&mut reply);
        let text = |resp| {
            let mut out = Vec::new();
            encode(&reply, resp, &mut out);
            String::from_utf8(out).expect("ascii")
        };
        let mut received = Vec::new();
        encode(&reply.received(Resp::V2), Resp::V3, &mut received);
        let received = String::from_utf8_lossy(&received).into_owned();
        assert_eq!(received.replace("_\r\n", "$-1\r\n"), text(Resp::V2).replace("*-1\r\n", "$-1\r\n"));
        assert_eq!(reply.received(Resp::V3), reply);
        (text(Resp::V2), text(Resp::V3))
    }

    #[test]
    fn a_map_is_flat_in_resp2() {
        let (two, three) = both(|r| {
            r.map(1);
            r.bulk(b"f");
            r.double(1.5);
        });
        assert_eq!(two, "*2\r\n$1\r\nf\r\n$3\r\n1.5\r\n");
        assert_eq!(three, "%1\r\n$1\r\nf\r\n,1.5\r\n");
    }

    #[test]
    fn the_two_nulls_differ_in_resp2_only() {
        let (two, three) = both(|r| {
            r.nil();
            r.nil_array();
        });
        assert_eq!((two.as_str(), three.as_str()), ("$-1\r\n*-1\r\n", "_\r\n_\r\n"));
    }
}
