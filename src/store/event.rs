//! What a change is called: the names of keyspace notifications, by class.

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
    /// `t`: streams.
    Stream,
    /// `x`: expiries.
    Expired,
    /// `e`: evictions.
    Evicted,
}

/// A change of a key, by class and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The class.
    pub class: EventClass,
    /// The name, as in `__keyevent@0__:<name>`.
    pub name: &'static str,
}

impl Event {
    /// Whether sessions that wait for the key are told. Only what brings new entries, or takes away a group, wakes those
    /// who wait for a stream.
    pub(super) fn wakes(self) -> bool {
        self.class != EventClass::Stream || matches!(self.name, "xadd" | "xgroup-destroy")
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
