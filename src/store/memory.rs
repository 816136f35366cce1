//! How much memory the keys take, and what is set for it. The count is the engine's own: a pure function of keys,
//! values and expiries, whatever room is kept for more and wherever keys are stored, so that it is the same on every
//! machine, in forks and after a replay. It follows each change at once; `evict` frees what is over the limit.

use super::Store;

/// What an engine without a key counts as: a limit below it lets nothing be added.
pub const BASE_BYTES: usize = 8192;
/// What a key takes up beside the long parts of key and value: its entry, and its place in the table.
pub const KEY_BYTES: usize = 72;
/// What an expiry takes up.
pub const EXPIRY_BYTES: usize = 16;

/// Which keys go when memory is short, and by what they are chosen: maxmemory-policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// Keys with an expiry that were not used for long.
    VolatileLru,
    /// Keys with an expiry that are used seldom.
    VolatileLfu,
    /// Keys with an expiry, at random.
    VolatileRandom,
    /// Keys with an expiry, the nearest one first.
    VolatileTtl,
    /// Keys that were not used for long.
    AllkeysLru,
    /// Keys that are used seldom.
    AllkeysLfu,
    /// Keys at random.
    AllkeysRandom,
    /// None.
    #[default]
    NoEviction,
}

impl Policy {
    /// The names, as the server lists them.
    pub const NAMES: [(&'static str, Policy); 8] = [
        ("volatile-lru", Policy::VolatileLru),
        ("volatile-lfu", Policy::VolatileLfu),
        ("volatile-random", Policy::VolatileRandom),
        ("volatile-ttl", Policy::VolatileTtl),
        ("allkeys-lru", Policy::AllkeysLru),
        ("allkeys-lfu", Policy::AllkeysLfu),
        ("allkeys-random", Policy::AllkeysRandom),
        ("noeviction", Policy::NoEviction),
    ];
    /// The name.
    pub fn name(self) -> &'static str {
        Policy::NAMES[self as usize].0
    }
    /// Whether uses are counted: OBJECT FREQ answers, OBJECT IDLETIME does not.
    pub fn counts(self) -> bool {
        matches!(self, Policy::VolatileLfu | Policy::AllkeysLfu)
    }
    /// Whether keys go by how long they were not used; an `.rdb` file then tells it.
    pub fn notes_idle_time(self) -> bool {
        matches!(self, Policy::VolatileLru | Policy::AllkeysLru)
    }
    /// Whether keys without an expiry may go too.
    pub(super) fn takes_all(self) -> bool {
        matches!(self, Policy::AllkeysLru | Policy::AllkeysLfu | Policy::AllkeysRandom)
    }
    /// Whether keys go at random.
    pub(super) fn is_random(self) -> bool {
        matches!(self, Policy::VolatileRandom | Policy::AllkeysRandom)
    }
}

/// Settings of memory and of what goes when it is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySettings {
    /// The limit in bytes: maxmemory; 0 for none.
    pub maxmemory: u64,
    /// maxmemory-policy.
    pub policy: Policy,
    /// How many keys are looked at for each that goes: maxmemory-samples.
    pub samples: u64,
    /// lfu-log-factor.
    pub lfu_log_factor: u64,
    /// lfu-decay-time, in minutes.
    pub lfu_decay_time: u64,
    /// What is evicted is propagated as UNLINK: lazyfree-lazy-eviction.
    pub lazy_eviction: bool,
    /// What expires is propagated as UNLINK: lazyfree-lazy-expire.
    pub lazy_expire: bool,
}

impl MemorySettings {
    /// Whether a server lets keys share small integers: not where each key has to have a use of its own.
    pub fn shares_integers(&self) -> bool {
        self.maxmemory == 0 || !(self.policy.counts() || self.policy.notes_idle_time())
    }
}

impl Default for MemorySettings {
    fn default() -> Self {
        MemorySettings {
            maxmemory: 0,
            policy: Policy::NoEviction,
            samples: 5,
            lfu_log_factor: 10,
            lfu_decay_time: 1,
            lazy_eviction: false,
            lazy_expire: false,
        }
    }
}

impl Store {
    /// Bytes that the keys and values take, and what an engine takes without any.
    pub fn memory_bytes(&self) -> usize {
        BASE_BYTES + self.dbs.iter().map(|keyspace| keyspace.memory_bytes()).sum::<usize>()
    }
    /// How many keys there are in all databases, and how many of them have an expiry.
    pub fn keys_and_expiries(&self) -> (usize, usize) {
        let add = |(keys, expiries), keyspace: &super::Keyspace| {
            (keys + keyspace.len(), expiries + keyspace.deadlines.live())
        };
        self.dbs.iter().fold((0, 0), add)
    }
    /// Settings of memory from now on.
    pub fn set_memory(&mut self, memory: MemorySettings) {
        self.memory = memory;
        self.used_now = self.use_now();
    }
    /// The settings of memory.
    pub fn memory(&self) -> &MemorySettings {
        &self.memory
    }
}
