//! client-output-buffer-limit: how much may wait to be read by a client before its session is ended: in the inbox of one
//! who listens or follows, and on its way through a socket. Who looks is in `pubsub` and in `engine::connection`.

use super::args::is;
use super::session::Session;
use crate::util::num::parse_memory;
use std::fmt;

/// The limit of one class of clients; 0 is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BufferLimit {
    /// Bytes with which the session ends at once.
    pub hard_bytes: u64,
    /// Bytes with which it ends when it has had them for too long.
    pub soft_bytes: u64,
    /// How long that is.
    pub soft_seconds: i64,
}

impl BufferLimit {
    /// Whether so much may not wait, or has waited for too long. Since when it is more than the soft limit is kept in
    /// `above_soft_since_s`.
    pub fn is_exceeded(&self, bytes: u64, above_soft_since_s: &mut Option<i64>, now_s: i64) -> bool {
        let above_soft = self.soft_bytes > 0 && bytes >= self.soft_bytes;
        let since_s = above_soft.then(|| *above_soft_since_s.get_or_insert(now_s));
        *above_soft_since_s = since_s;
        let too_long = since_s.is_some_and(|since_s| now_s - since_s > self.soft_seconds);
        too_long || (self.hard_bytes > 0 && bytes >= self.hard_bytes)
    }
}

/// The limits of all classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Of clients that have no subscriptions.
    pub normal: BufferLimit,
    /// Of replicas.
    pub replica: BufferLimit,
    /// Of subscribers.
    pub pubsub: BufferLimit,
}

impl Default for OutputLimits {
    fn default() -> Self {
        let mb = 1024 * 1024;
        OutputLimits {
            normal: BufferLimit::default(),
            replica: BufferLimit { hard_bytes: 256 * mb, soft_bytes: 64 * mb, soft_seconds: 60 },
            pubsub: BufferLimit { hard_bytes: 32 * mb, soft_bytes: 8 * mb, soft_seconds: 60 },
        }
    }
}

impl OutputLimits {
    /// The limit of a client.
    pub fn of(&self, session: &Session) -> &BufferLimit {
        if session.replica.as_ref().is_some_and(|replica| replica.follows) {
            return &self.replica;
        }
        let listens = session.subscriber.as_ref().is_some_and(|subscriber| subscriber.listens());
        if listens { &self.pubsub } else { &self.normal }
    }
    /// Sets the limits of the classes that the text names: `class hard soft seconds`, as often as one likes.
    ///
    /// # Errors
    /// With the server's reason; nothing is set then.
    pub fn change(&mut self, text: &[u8]) -> Result<(), String> {
        let words: Vec<&[u8]> = text.split(|byte| *byte == b' ').filter(|_| !text.is_empty()).collect();
        let limits = words.chunks_exact(4);
        if !limits.remainder().is_empty() {
            return Err("Wrong number of arguments in buffer limit configuration.".to_owned());
        }
        let mut changed = *self;
        for limit in limits {
            let class = changed
                .class(limit[0])
                .ok_or("Invalid client class specified in buffer limit configuration.")?;
            *class = read(&limit[1..])
                .ok_or("Error in hard, soft or soft_seconds setting in buffer limit configuration.")?;
        }
        *self = changed;
        Ok(())
    }
    /// The lines of a configuration file, and of each whether it is not the default.
    pub(super) fn lines(&self, name: &str, size: fn(u64) -> String) -> Vec<(String, bool)> {
        let default = OutputLimits::default();
        let classes = [
            ("normal", self.normal, default.normal),
            ("replica", self.replica, default.replica),
            ("pubsub", self.pubsub, default.pubsub),
        ];
        let line = |(class, limit, default): (&str, BufferLimit, BufferLimit)| {
            let sizes = [limit.hard_bytes, limit.soft_bytes].map(size).join(" ");
            (format!("{name} {class} {sizes} {}", limit.soft_seconds), limit != default)
        };
        classes.into_iter().map(line).collect()
    }
    fn class(&mut self, name: &[u8]) -> Option<&mut BufferLimit> {
        match name {
            name if is(name, "normal") => Some(&mut self.normal),
            name if is(name, "slave") || is(name, "replica") => Some(&mut self.replica),
            name if is(name, "pubsub") => Some(&mut self.pubsub),
            _ => None,
        }
    }
}

fn read(words: &[&[u8]]) -> Option<BufferLimit> {
    let seconds = std::str::from_utf8(words[2]).ok()?;
    let soft_seconds: i32 = if seconds.is_empty() { 0 } else { seconds.parse().ok()? };
    let (hard_bytes, soft_bytes) = (parse_memory(words[0])?, parse_memory(words[1])?);
    (soft_seconds >= 0).then_some(BufferLimit { hard_bytes, soft_bytes, soft_seconds: soft_seconds.into() })
}

/// As CONFIG GET shows them.
impl fmt::Display for OutputLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes = [("normal", self.normal), (" slave", self.replica), (" pubsub", self.pubsub)];
        for (name, BufferLimit { hard_bytes, soft_bytes, soft_seconds }) in classes {
            write!(f, "{name} {hard_bytes} {soft_bytes} {soft_seconds}")?;
        }
        Ok(())
    }
}
