//! What a change is called: the names of keyspace notifications, by class. Which of them somebody listens to is in
//! `classes`.

use super::Db;
use crate::util::bytes::Bytes;

/// A class of keyspace events, as a letter of notify-keyspace-events names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EventClass {
    /// `g`: commands of any type, as DEL and EXPIRE.
    Generic,
    /// `$`: strings.
    String,
    /// `l`: lists.
    List,
    /// `s`: sets.
    Set,
    /// `h`: hashes.
    Hash,
    /// `z`: sorted sets.
    ZSet,
    /// `x`: expiries.
    Expired,
    /// `e`: evictions.
    Evicted,
    /// `t`: streams.
    Stream,
    /// `d`: modules, of which there are none.
    Module,
    /// `n`: a key that was not there before.
    New,
    /// `m`: a key that was looked for and not found.
    KeyMiss,
}

/// A change of a key, by class and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The class.
    pub class: EventClass,
    /// The name, as in `__keyevent@0__:<name>`.
    pub name: &'static str,
}

/// An event that somebody listens to.
#[derive(Debug, Clone)]
pub struct Told {
    /// The database of the key.
    pub db: Db,
    /// The key.
    pub key: Bytes,
    /// What happened to it.
    pub event: Event,
}

impl Event {
    /// The key was not there before.
    pub const NEW: Event = Event { class: EventClass::New, name: "new" };
    /// The key was looked for and not found.
    pub const KEY_MISS: Event = Event { class: EventClass::KeyMiss, name: "keymiss" };
    /// The type of value of which those who wait for the key are told at a change in place: of new entries of a stream,
    /// and of a group that goes. Else the server tells of new keys only, and of a stream that goes; not of a value
    /// stored over another.
    pub(super) fn wakes(self) -> Option<&'static str> {
        let wakes = self.class == EventClass::Stream && matches!(self.name, "xadd" | "xgroup-destroy");
        wakes.then_some("stream")
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $function:ident $class:ident),*) => {
        impl Event {
            $($(#[$doc])*
            pub const fn $function(name: &'static str) -> Self {
                Event { class: EventClass::$class, name }
            })*
        }
    };
}
classes! {
    /// An event of the generic class.
    generic Generic,
    /// An event of strings.
    string String,
    /// An event of lists.
    list List,
    /// An event of sets.
    set Set,
    /// An event of hashes.
    hash Hash,
    /// An event of sorted sets.
    zset ZSet,
    /// An event of streams.
    stream Stream,
    /// An expiry.
    expired Expired,
    /// An eviction.
    evicted Evicted
}
