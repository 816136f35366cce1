//! A message of pub/sub: what a subscriber receives of it, as a value, as a reply and as RESP bytes.
//! Who receives what is in `command::pubsub`, how it is fetched in `engine::inbox`.

use super::resp::encode;
use super::{Reply, Resp};
use crate::util::bytes::Bytes;
use crate::util::num::{NumBuf, format_u64};
use std::fmt;

/// What a message was subscribed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Via {
    /// SUBSCRIBE: `message`.
    Channel,
    /// PSUBSCRIBE with this pattern: `pmessage`.
    Pattern(Bytes),
    /// SSUBSCRIBE: `smessage`.
    Shard,
}

/// One message that a client has received, see [`Client::next_message`](crate::Client::next_message).
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    via: Via,
    channel: Bytes,
    payload: Bytes,
    /// The version that the client spoke when the message came.
    resp: Resp,
}

impl Message {
    pub(crate) fn new(via: Via, channel: Bytes, payload: Bytes, resp: Resp) -> Self {
        Message { via, channel, payload, resp }
    }
    /// `message`, `pmessage` for one that came by a pattern, `smessage` for one of a sharded channel.
    pub fn kind(&self) -> &'static str {
        match self.via {
            Via::Channel => "message",
            Via::Pattern(_) => "pmessage",
            Via::Shard => "smessage",
        }
    }
    /// The pattern of PSUBSCRIBE by which it came.
    pub fn pattern(&self) -> Option<&[u8]> {
        match &self.via {
            Via::Pattern(pattern) => Some(pattern),
            _ => None,
        }
    }
    /// The channel to which it was published.
    pub fn channel(&self) -> &[u8] {
        &self.channel
    }
    /// What was published.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }
    /// As the server sends it: a push of kind, pattern if there is one, channel and payload.
    pub fn to_reply(&self) -> Reply {
        let mut reply = Reply::new();
        let pattern = self.pattern();
        reply.push(3 + usize::from(pattern.is_some()));
        reply.bulk(self.kind().as_bytes());
        pattern.into_iter().for_each(|pattern| reply.bulk(pattern));
        reply.bulk(&self.channel);
        reply.bulk(&self.payload);
        reply
    }
    /// Appends its RESP bytes, in the version that the client spoke when it came: a push in RESP3, an array in RESP2.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode(&self.to_reply(), self.resp, out);
    }
    /// How many bytes [`encode`](Self::encode) appends.
    pub(crate) fn wire_bytes(&self) -> usize {
        let bulk = |text: &[u8]| {
            format_u64(&mut NumBuf::new(), text.len() as u64).len() + text.len() + "$\r\n\r\n".len()
        };
        "*3\r\n".len()
            + bulk(self.kind().as_bytes())
            + self.pattern().map_or(0, bulk)
            + bulk(&self.channel)
            + bulk(&self.payload)
    }
}

/// As redis-cli shows it.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_reply().fmt(f)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut told = f.debug_struct("Message");
        told.field("kind", &self.kind());
        if let Some(pattern) = self.pattern() {
            told.field("pattern", &text(pattern));
        }
        told.field("channel", &text(&self.channel)).field("payload", &text(&self.payload)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_bytes_that_are_counted_for_it() {
        for (via, resp, bytes) in [
            (Via::Channel, Resp::V2, "*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$10\r\n0123456789\r\n"),
            (Via::Shard, Resp::V3, ">3\r\n$8\r\nsmessage\r\n$2\r\nch\r\n$10\r\n0123456789\r\n"),
            (
                Via::Pattern("c*".into()),
                Resp::V3,
                ">4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$2\r\nch\r\n$10\r\n0123456789\r\n",
            ),
        ] {
            let message = Message::new(via, "ch".into(), "0123456789".into(), resp);
            let mut out = Vec::new();
            message.encode(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), bytes);
            assert_eq!(message.wire_bytes(), out.len());
        }
    }
}
