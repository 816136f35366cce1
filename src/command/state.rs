//! All that an engine knows but the Lua VM, as one value: how it begins, what a copy takes along and what a restore takes
//! over. Each part of it has its own file beside this one, the keyspace is in `store`.

use super::blocking::Unblock;
use super::cluster::Cluster;
use super::config::{Config, ConfigFile};
use super::host::{Debug, Files, Saving};
use super::libraries::Libraries;
use super::pause::Pause;
use super::process::{Process, Samples};
use super::pubsub::PubSub;
use super::replication::Replication;
use super::scripts::Scripts;
use super::session::{self, Peer, Sessions};
use super::slowlog::SlowLog;
use super::stats::Stats;
use super::table::Table;
use super::tracking::Tracking;
use super::users::Users;
use super::{TracedCall, log};
use crate::error::Failure;
use crate::store::{SessionId, Store};
use std::sync::Arc;

/// All state of an engine but the Lua VM: plain data, which can be copied and hashed.
#[derive(Debug, Clone)]
pub struct State {
    /// The keyspace.
    pub store: Store,
    /// The clients.
    pub sessions: Sessions,
    /// Who there is, and what each may do.
    pub users: Users,
    /// The session whose script runs, or ran last.
    pub(crate) script_caller: SessionId,
    /// The session whose command runs, or ran last; that of scripts when nobody has called.
    pub(crate) caller: SessionId,
    /// Who is shown what runs.
    pub(crate) monitors: Vec<SessionId>,
    /// Who listens to what is published.
    pub pubsub: PubSub,
    /// Sources of known scripts.
    pub scripts: Scripts,
    /// Libraries of functions.
    pub libraries: Libraries,
    /// Settings.
    pub config: Config,
    /// Who follows what is written.
    pub replication: Replication,
    /// Counters.
    pub stats: Stats,
    /// What is sampled from time to time.
    pub(crate) samples: Samples,
    /// The process that serves the engine, when one does.
    pub(crate) process: Option<Arc<Process>>,
    /// Where files are, when they may be anywhere.
    pub(crate) files: Option<Arc<dyn Files>>,
    /// The configuration file, if there is one.
    pub(crate) config_file: Option<ConfigFile>,
    /// When the engine was made, in milliseconds.
    pub started_at_ms: i64,
    /// All commands.
    pub table: &'static Table,
    /// What scripts wrote with `redis.log`.
    pub log: log::Log,
    /// The commands that took long.
    pub slow_log: SlowLog,
    /// How long a command has to take so that anybody looks at it, in microseconds: 0 while somebody looks at all.
    pub(super) attention_us: u64,
    /// A command that succeeds and takes no time is counted, and that is all: the clock is held, and nobody looks.
    pub(crate) is_calm: bool,
    /// The clock runs by itself: what a script's command takes is to be measured.
    pub(crate) measures: bool,
    /// What scripts call, while somebody asks for it.
    pub trace: Option<Vec<TracedCall>>,
    /// Who caches which keys.
    pub tracking: Tracking,
    /// What CLIENT PAUSE holds back.
    pub pause: Option<Pause>,
    /// The sessions whose commands it holds back, in order.
    pub(crate) postponed: Vec<SessionId>,
    /// How many sessions wait.
    pub blocked: usize,
    /// Sessions whose waiting the running command has ended.
    pub unblocked: Vec<(SessionId, Unblock)>,
    /// The last command of a script was one that may take long.
    pub(crate) took_long: bool,
    /// Bytes that the last command of a script has looked at or made beyond what it was passed and answered.
    pub(crate) worked: usize,
    /// The last command that was let in found memory over its limit, and no key to evict.
    pub(crate) out_of_memory: bool,
    /// The running script may not call what needs more memory.
    pub(crate) refuses_growth: bool,
    /// The running script may not call what writes.
    pub(crate) refuses_writes: bool,
    /// Settings, or a script, ask for more checks before a command.
    pub(super) restricts: bool,
    /// What commands are refused with that may not run beside the script that runs.
    pub(super) busy: Option<Failure>,
    /// What the node knows of its cluster, when it is one.
    pub cluster: Option<Box<Cluster>>,
    /// The slot of the keys of the command that runs, in a cluster.
    pub(crate) keys_slot: Option<u16>,
    /// The command that runs was announced by ASKING.
    pub(crate) is_asking: bool,
    /// The running script may use keys of several slots.
    pub(crate) script_crosses_slots: bool,
    /// What was saved last.
    pub saving: Saving,
    /// What DEBUG has changed.
    pub debug: Debug,
    /// The running command has told its propagated form itself.
    pub(super) rewritten: bool,
}

impl State {
    /// A fresh state.
    pub fn new(store: Store, config: Config, table: &'static Table) -> Self {
        let stats = Stats::new(table.rows().len());
        let mut state = State::bare(store, config, table, Users::default(), stats, Libraries::default());
        state.attend();
        if !state.config.requirepass().is_empty() {
            state.require_password();
        }
        state
    }
    /// A state without sessions that nobody has attended to.
    fn bare(
        store: Store,
        config: Config,
        table: &'static Table,
        users: Users,
        stats: Stats,
        libraries: Libraries,
    ) -> Self {
        let tracking = Tracking::new(store.seed());
        State {
            store,
            sessions: Sessions::default(),
            users,
            script_caller: session::SCRIPT_SESSION,
            caller: session::SCRIPT_SESSION,
            monitors: Vec::new(),
            pubsub: PubSub::default(),
            scripts: Scripts::default(),
            libraries,
            config,
            stats,
            replication: Replication::default(),
            samples: Samples::default(),
            process: None,
            files: None,
            config_file: None,
            started_at_ms: 0,
            table,
            log: log::Log::default(),
            slow_log: SlowLog::default(),
            attention_us: u64::MAX,
            is_calm: false,
            measures: false,
            trace: None,
            tracking,
            pause: None,
            postponed: Vec::new(),
            blocked: 0,
            unblocked: Vec::new(),
            took_long: false,
            worked: 0,
            out_of_memory: false,
            refuses_growth: false,
            refuses_writes: false,
            restricts: false,
            busy: None,
            cluster: None,
            keys_slot: None,
            is_asking: false,
            script_crosses_slots: false,
            saving: Saving::default(),
            debug: Debug::default(),
            rewritten: false,
        }
    }
    /// A copy without sessions, which shares all that neither side changes.
    pub(crate) fn detached(&self) -> State {
        let (store, config) = (self.store.detached(), self.config.clone());
        let (users, stats, libraries) = (self.users.detached(), self.stats.clone(), self.libraries.clone());
        let mut state = State::bare(store, config, self.table, users, stats, libraries);
        state.scripts = self.scripts.clone();
        state.samples = self.samples;
        state.started_at_ms = self.started_at_ms;
        state.measures = self.measures;
        state.out_of_memory = self.out_of_memory;
        state.cluster = self.cluster.clone();
        state.saving = self.saving;
        state.debug = self.debug;
        state.review_rights();
        state.attend();
        state.heed_config();
        state
    }
    /// Puts back what commands on keys, transactions and scripts have changed since this was a [`detached`](Self::detached)
    /// copy of the other. False when somebody is still there.
    #[cfg(feature = "sim")]
    pub(crate) fn rewind(&mut self, other: &State) -> bool {
        if self.blocked > 0 || !self.sessions.is_empty() || !self.store.rewind(&other.store) {
            return false;
        }
        self.sessions.rewind(&other.sessions);
        self.stats.rewind(&other.stats);
        self.scripts.rewind(&other.scripts);
        self.log = log::Log::default();
        self.slow_log = SlowLog::default();
        (self.caller, self.script_caller) = (session::SCRIPT_SESSION, session::SCRIPT_SESSION);
        (self.out_of_memory, self.took_long, self.worked) = (other.out_of_memory, false, 0);
        (self.refuses_growth, self.refuses_writes, self.rewritten) = (false, false, false);
        (self.keys_slot, self.is_asking, self.script_crosses_slots) = (None, false, false);
        self.unblocked.clear();
        true
    }
    /// Takes over what a [`detached`](Self::detached) copy holds; sessions and users stay, and with them the password.
    pub(crate) fn adopt(&mut self, other: &State) {
        self.store.adopt(&other.store);
        self.scripts = other.scripts.clone();
        self.libraries = other.libraries.clone();
        self.config.adopt(&other.config);
        self.out_of_memory = other.out_of_memory;
        self.stats = other.stats.clone();
        self.started_at_ms = other.started_at_ms;
        self.heed_config();
    }
    /// A client comes, of this process or through a socket.
    pub(crate) fn open_session(&mut self, now_ms: i64, peer: Option<Peer>) -> SessionId {
        self.stats.connections += 1;
        let id = self.sessions.open(now_ms);
        self.sessions.get_mut(id).peer = peer.map(Box::new);
        id
    }
    /// How many changes there were since all was saved last.
    pub fn changes_since_save(&self) -> u64 {
        self.store.dirty().saturating_sub(self.saving.saved_dirty)
    }
    /// Rewrites the configuration file; with `all` also for parameters that have their default.
    ///
    /// # Errors
    /// There is none; within, why it could not be rewritten.
    pub(crate) fn rewrite_config(&self, all: bool) -> Result<Result<(), String>, Failure> {
        let file = self.config_file.as_ref().ok_or(Failure::NO_CONFIG_FILE)?;
        let users = self.users.iter().map(|(name, user)| user.line(name, self.table)).collect();
        Ok(file.rewrite(&self.config, users, all))
    }
    /// Settings have changed.
    pub(crate) fn heed_config(&mut self) {
        let memory_is_bound = self.config.memory.maxmemory != 0;
        let needs_replicas = self.config.min_replicas_to_write != 0;
        let is_bound = memory_is_bound || needs_replicas || self.has_master();
        let others_look = self.tracking.is_on() || self.pause.is_some();
        self.restricts = is_bound || others_look || self.cluster.is_some() || self.busy.is_some();
        self.store.keep_overdue(self.has_master() || self.pause.is_some());
        self.listen();
    }
    /// What is refused with that may not run beside the script that runs.
    pub(crate) fn busy(&self) -> Option<&Failure> {
        self.busy.as_ref()
    }
    /// From now on a script runs beside the commands that are called, and those that may not run then are refused so; none
    /// when that is over.
    #[cfg(feature = "server")]
    pub(crate) fn set_busy(&mut self, busy: Option<Failure>) {
        self.busy = busy;
        self.heed_config();
    }
}
