//! A message that comes without being asked for: what was published to a channel, a command that MONITOR shows, keys whose
//! cached values no longer hold. As a value, as a reply and as RESP bytes. Who receives what is in `command::pubsub`,
//! `command::monitors` and `command::tracking`, how it is fetched in `engine::inbox`.

use super::resp::{encode, encode_value};
use super::{Reply, ReplyRef, Resp};
use crate::util::bytes::Bytes;
use crate::util::num::{NumBuf, format_u64};
use std::fmt;
use std::sync::Arc;

/// Where clients that speak RESP2 are told of invalid keys.
const INVALIDATIONS: &[u8] = b"__redis__:invalidate";

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

/// What a message tells.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    /// Something was published.
    Published { via: Via, channel: Bytes, payload: Bytes },
    /// A command has run.
    Monitored(Bytes),
    /// These keys have changed, or all of them. The null that says so is in the version of the client that caches.
    Invalidated { keys: Option<Arc<[Bytes]>>, null: Resp },
    /// The client to which invalidations were to go is gone.
    RedirectBroken(u64),
}

/// One message that a client has received, see [`Client::next_message`](crate::Client::next_message).
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    body: Body,
    /// The version that the client spoke when the message came.
    resp: Resp,
}

impl Message {
    pub(crate) fn published(via: Via, channel: Bytes, payload: Bytes, resp: Resp) -> Self {
        Message { body: Body::Published { via, channel, payload }, resp }
    }
    /// A line of MONITOR.
    pub(crate) fn monitored(line: Bytes, resp: Resp) -> Self {
        Message { body: Body::Monitored(line), resp }
    }
    /// Keys that have changed, none for all of them; for a client that speaks `resp`, on behalf of one that speaks `null`.
    pub(crate) fn invalidated(keys: Option<Arc<[Bytes]>>, null: Resp, resp: Resp) -> Self {
        Message { body: Body::Invalidated { keys, null }, resp }
    }
    /// The client of this number, to which invalidations were to go, is gone.
    pub(crate) fn redirect_broken(client_id: u64) -> Self {
        Message { body: Body::RedirectBroken(client_id), resp: Resp::V3 }
    }
    /// `message`, `pmessage` for one that came by a pattern, `smessage` for one of a sharded channel; `monitor` for a line
    /// of MONITOR; `invalidate` for keys of CLIENT TRACKING, which in RESP2 come as `message`; `tracking-redir-broken`.
    pub fn kind(&self) -> &'static str {
        match &self.body {
            Body::Published { via: Via::Channel, .. } => "message",
            Body::Published { via: Via::Pattern(_), .. } => "pmessage",
            Body::Published { via: Via::Shard, .. } => "smessage",
            Body::Monitored(_) => "monitor",
            Body::Invalidated { .. } if self.resp == Resp::V2 => "message",
            Body::Invalidated { .. } => "invalidate",
            Body::RedirectBroken(_) => "tracking-redir-broken",
        }
    }
    /// The pattern of PSUBSCRIBE by which it came.
    pub fn pattern(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Published { via: Via::Pattern(pattern), .. } => Some(pattern),
            _ => None,
        }
    }
    /// The channel to which it was published; `__redis__:invalidate` for invalid keys in RESP2. Empty for what came by no
    /// channel.
    pub fn channel(&self) -> &[u8] {
        match &self.body {
            Body::Published { channel, .. } => channel,
            Body::Invalidated { .. } if self.resp == Resp::V2 => INVALIDATIONS,
            _ => b"",
        }
    }
    /// What was published; the line of MONITOR. Empty for all else.
    pub fn payload(&self) -> &[u8] {
        match &self.body {
            Body::Published { payload, .. } => payload,
            Body::Monitored(line) => line,
            _ => b"",
        }
    }
    /// The keys whose cached values no longer hold, as CLIENT TRACKING tells: none when it tells nothing of the kind, and
    /// when it says so of [all keys](Self::invalidates_all).
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// let (mut cache, mut writer) = (engine.client(), engine.client());
    /// cache.call(["HELLO", "3"])?;
    /// cache.call(["CLIENT", "TRACKING", "ON"])?;
    /// cache.call(["GET", "k"])?;
    /// writer.call(["SET", "k", "v"])?;
    /// let message = cache.try_next_message()?.expect("k has changed");
    /// assert_eq!(message.invalidated_keys().collect::<Vec<_>>(), [b"k"]);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    pub fn invalidated_keys(&self) -> impl Iterator<Item = &[u8]> {
        let keys = match &self.body {
            Body::Invalidated { keys: Some(keys), .. } => &keys[..],
            _ => &[],
        };
        keys.iter().map(Bytes::as_slice)
    }
    /// Whether no cached value holds any more: databases were emptied.
    pub fn invalidates_all(&self) -> bool {
        matches!(self.body, Body::Invalidated { keys: None, .. })
    }
    /// As the server sends it: a push of kind, pattern if there is one, channel and payload; a status for a line of
    /// MONITOR; a push of kind and keys for what CLIENT TRACKING tells.
    pub fn to_reply(&self) -> Reply {
        let mut reply = Reply::new();
        match &self.body {
            Body::Published { channel, payload, .. } => {
                let pattern = self.pattern();
                reply.push(3 + usize::from(pattern.is_some()));
                reply.bulk(self.kind().as_bytes());
                pattern.into_iter().for_each(|pattern| reply.bulk(pattern));
                reply.bulk(channel);
                reply.bulk(payload);
            }
            Body::Monitored(line) => reply.status_bytes(line),
            Body::Invalidated { keys, .. } => {
                let channel = Some(self.channel()).filter(|channel| !channel.is_empty());
                reply.push(2 + usize::from(channel.is_some()));
                reply.bulk(self.kind().as_bytes());
                channel.into_iter().for_each(|channel| reply.bulk(channel));
                match keys {
                    None => reply.nil(),
                    Some(keys) => {
                        reply.array(keys.len());
                        keys.iter().for_each(|key| reply.bulk(key));
                    }
                }
            }
            Body::RedirectBroken(client_id) => {
                reply.push(2);
                reply.bulk(self.kind().as_bytes());
                reply.int(*client_id as i64);
            }
        }
        reply
    }
    /// Appends its RESP bytes, in the version that the client spoke when it came: a push in RESP3, an array in RESP2.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode(&self.to_reply(), self.resp, out);
        if let Body::Invalidated { keys: None, null } = &self.body {
            out.truncate(out.len() - null_bytes(self.resp));
            encode_value(&ReplyRef::Nil, *null, out);
        }
    }
    /// How many bytes [`encode`](Self::encode) appends.
    pub(crate) fn wire_bytes(&self) -> usize {
        match &self.body {
            Body::Published { channel, payload, .. } => {
                let pattern = self.pattern().map_or(0, bulk_bytes);
                HEAD_BYTES
                    + bulk_bytes(self.kind().as_bytes())
                    + pattern
                    + bulk_bytes(channel)
                    + bulk_bytes(payload)
            }
            Body::Monitored(line) => line.len() + "+\r\n".len(),
            Body::Invalidated { keys, null } => {
                let channel = Some(self.channel()).filter(|channel| !channel.is_empty());
                let keys = match keys {
                    None => null_bytes(*null),
                    Some(keys) => {
                        let count = digits(keys.len()) + "*\r\n".len();
                        count + keys.iter().map(|key| bulk_bytes(key)).sum::<usize>()
                    }
                };
                HEAD_BYTES + bulk_bytes(self.kind().as_bytes()) + channel.map_or(0, bulk_bytes) + keys
            }
            Body::RedirectBroken(client_id) => {
                let number = digits(*client_id as usize) + ":\r\n".len();
                HEAD_BYTES + bulk_bytes(self.kind().as_bytes()) + number
            }
        }
    }
}

const HEAD_BYTES: usize = "*3\r\n".len();

/// How many bytes a string takes.
fn bulk_bytes(text: &[u8]) -> usize {
    digits(text.len()) + text.len() + "$\r\n\r\n".len()
}

fn digits(number: usize) -> usize {
    format_u64(&mut NumBuf::new(), number as u64).len()
}

/// How many bytes a null takes.
fn null_bytes(resp: Resp) -> usize {
    match resp {
        Resp::V2 => "$-1\r\n".len(),
        Resp::V3 => "_\r\n".len(),
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
        match &self.body {
            Body::Published { channel, payload, .. } => {
                told.field("channel", &text(channel)).field("payload", &text(payload))
            }
            Body::Monitored(line) => told.field("line", &text(line)),
            Body::Invalidated { keys: None, .. } => told.field("keys", &"all"),
            Body::Invalidated { .. } => {
                told.field("keys", &self.invalidated_keys().map(text).collect::<Vec<_>>())
            }
            Body::RedirectBroken(client_id) => told.field("client_id", client_id),
        };
        told.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_bytes_that_are_counted_for_it() {
        let published = |via, resp| Message::published(via, "ch".into(), "0123456789".into(), resp);
        let keys = || Some(Arc::from([Bytes::from("a"), Bytes::from("0123456789")]));
        for (message, bytes) in [
            (published(Via::Channel, Resp::V2), "*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$10\r\n0123456789\r\n"),
            (published(Via::Shard, Resp::V3), ">3\r\n$8\r\nsmessage\r\n$2\r\nch\r\n$10\r\n0123456789\r\n"),
            (
                published(Via::Pattern("c*".into()), Resp::V3),
                ">4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$2\r\nch\r\n$10\r\n0123456789\r\n",
            ),
            (
                Message::monitored("1.000002 [0 a:1] \"PING\"".into(), Resp::V3),
                "+1.000002 [0 a:1] \"PING\"\r\n",
            ),
            (
                Message::invalidated(keys(), Resp::V3, Resp::V3),
                ">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$10\r\n0123456789\r\n",
            ),
            (
                Message::invalidated(keys(), Resp::V2, Resp::V2),
                "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*2\r\n$1\r\na\r\n$10\r\n0123456789\r\n",
            ),
            (Message::invalidated(None, Resp::V3, Resp::V3), ">2\r\n$10\r\ninvalidate\r\n_\r\n"),
            (Message::invalidated(None, Resp::V2, Resp::V3), ">2\r\n$10\r\ninvalidate\r\n$-1\r\n"),
            (
                Message::invalidated(None, Resp::V3, Resp::V2),
                "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n_\r\n",
            ),
            (Message::redirect_broken(12), ">2\r\n$21\r\ntracking-redir-broken\r\n:12\r\n"),
        ] {
            let mut out = Vec::new();
            message.encode(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), bytes);
            assert_eq!(message.wire_bytes(), out.len());
        }
    }
}
