//! What a command is, and `call`, the one path by which any command runs: from a client, in EXEC, from a script.
//! Rows are described in `spec`, found through `table`; what a client has is in `session`; handlers are in `commands`.

pub mod args;
pub mod blocking;
pub mod buffers;
pub(crate) mod client_info;
pub mod cluster;
pub mod config;
pub mod faults;
pub mod help;
pub mod host;
pub mod keys;
pub mod libraries;
pub mod log;
mod memory;
pub(crate) mod observe;
pub mod output_limits;
pub mod pubsub;
pub mod random;
pub mod replication;
pub mod scan;
pub mod scripts;
pub mod session;
pub(crate) mod shebang;
pub mod slowlog;
pub mod spec;
pub mod stats;
pub mod table;
pub mod usage;
pub mod users;

use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::{Db, Edit, Entry, Event, Expiry, SessionId, Store};
use crate::util::clock::Stopwatch;
use crate::util::rng::Rng;
use crate::util::words::join_words;
use crate::value::Value;
use blocking::{Unblock, Wait};
use cluster::Cluster;
use config::Config;
use faults::Fault;
use host::{Debug, HostCall, Saving};
use libraries::Libraries;
use observe::Ran;
use pubsub::PubSub;
use replication::Replication;
use scripts::Scripts;
use session::{Session, Sessions};
use slowlog::SlowLog;
use spec::{MAY_REPLICATE, NO_MULTI, NOSCRIPT, PROTECTED, READONLY, TOUCHES_ARBITRARY_KEYS, WRITE};
use stats::Stats;
use std::time::Duration;
use table::{Row, Table};
use users::Users;

/// The version of the server whose behaviour this is.
pub const REDIS_VERSION: &str = "7.0.15";

/// The words of a command; the first one is its name.
pub type Argv<'a> = &'a [&'a [u8]];

/// What runs a command: checks all, reads or edits, writes one reply.
pub type Handler = fn(&mut Ctx<'_>, Argv<'_>, &mut Reply) -> Result<Flow, Failure>;

/// What the engine has to do once the handler has returned. Only the engine interprets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Nothing: the reply is written.
    Done,
    /// Run Lua.
    Vm(VmCall),
    /// Run the queued commands of the session.
    Exec,
    /// Let this time pass on the engine's clock, then answer OK.
    Sleep(Duration),
    /// Move a manual clock on by so many milliseconds, do what is due then, and answer OK.
    Advance(u64),
    /// Let a fault begin, or end the one that holds, and answer OK.
    Fault(Option<Box<Fault>>),
    /// Let the session wait for keys.
    Wait(Box<Wait>),
    /// Act on all of the state, or on the process.
    Host(Box<HostCall>),
}

impl Flow {
    /// See [`Flow::Host`].
    pub fn host(call: HostCall) -> Self {
        Flow::Host(Box::new(call))
    }
}

/// What the Lua VM has to do. Positions in argv, so that nothing is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VmCall {
    /// Run a script: `EVAL script numkeys key… arg…` and its like.
    Eval {
        /// What the first word after the name is.
        source: Source,
        /// How many of the words after numkeys are KEYS; the others are ARGV.
        numkeys: u32,
        /// EVAL_RO and EVALSHA_RO.
        read_only: bool,
    },
    /// SCRIPT LOAD: compile and keep.
    Load {
        /// Where the text is.
        body: u32,
    },
    /// FCALL: `FCALL function numkeys key… arg…`.
    Function {
        /// The identity of the library that has the function.
        library: u64,
        /// The number of the function in it.
        index: u32,
        /// How many of the words after numkeys are keys; the others are arguments.
        numkeys: u32,
        /// FCALL_RO.
        read_only: bool,
    },
    /// FUNCTION LOAD: run the library's code and keep what it registers.
    LoadLibrary {
        /// Where the code is.
        code: u32,
        /// It may take the place of a library.
        replace: bool,
    },
    /// FUNCTION RESTORE: load the libraries of a dump.
    RestoreLibraries {
        /// What becomes of those that are there.
        policy: RestorePolicy,
    },
}

/// What FUNCTION RESTORE does to the libraries that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestorePolicy {
    /// It keeps them.
    Append,
    /// It replaces those with a name in the dump.
    Replace,
    /// It removes all of them.
    Flush,
}

/// How the script of a call is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// By its text.
    Body,
    /// By its SHA1.
    Sha,
}

/// Who calls a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A client, directly.
    Client,
    /// A client, from its queue.
    Exec,
    /// A script.
    Script,
}

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
    /// When the engine was made, in milliseconds.
    pub started_at_ms: i64,
    /// All commands.
    pub table: &'static Table,
    /// What scripts wrote with `redis.log`.
    pub log: log::Log,
    /// The commands that took long.
    pub slow_log: SlowLog,
    /// How long a command has to take so that anybody looks at it, in microseconds: 0 while somebody looks at all.
    attention_us: u64,
    /// A command that succeeds and takes no time is counted, and that is all: the clock is held, and nobody looks.
    pub(crate) is_calm: bool,
    /// The clock runs by itself: what a script's command takes is to be measured.
    pub(crate) measures: bool,
    /// What scripts call, while somebody asks for it.
    pub trace: Option<Vec<TracedCall>>,
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
    /// Settings ask for more checks before a command.
    restricts: bool,
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
    rewritten: bool,
}

impl State {
    /// A fresh state.
    pub fn new(store: Store, config: Config, table: &'static Table) -> Self {
        let mut state = State {
            store,
            sessions: Sessions::default(),
            users: Users::default(),
            script_caller: session::SCRIPT_SESSION,
            pubsub: PubSub::default(),
            scripts: Scripts::default(),
            libraries: Libraries::default(),
            config,
            stats: Stats::new(table.rows().len()),
            replication: Replication::default(),
            started_at_ms: 0,
            table,
            log: log::Log::default(),
            slow_log: SlowLog::default(),
            attention_us: u64::MAX,
            is_calm: false,
            measures: false,
            trace: None,
            blocked: 0,
            unblocked: Vec::new(),
            took_long: false,
            worked: 0,
            out_of_memory: false,
            refuses_growth: false,
            refuses_writes: false,
            restricts: false,
            cluster: None,
            keys_slot: None,
            is_asking: false,
            script_crosses_slots: false,
            saving: Saving::default(),
            debug: Debug::default(),
            rewritten: false,
        };
        state.attend();
        if !state.config.requirepass().is_empty() {
            state.require_password();
        }
        state
    }
    /// A copy without sessions, which shares all that neither side changes.
    pub(crate) fn detached(&self) -> State {
        let mut state = State {
            users: self.users.detached(),
            scripts: self.scripts.clone(),
            libraries: self.libraries.clone(),
            stats: self.stats.clone(),
            started_at_ms: self.started_at_ms,
            measures: self.measures,
            out_of_memory: self.out_of_memory,
            restricts: self.restricts,
            cluster: self.cluster.clone(),
            saving: self.saving,
            debug: self.debug,
            ..State::new(self.store.detached(), self.config.clone(), self.table)
        };
        state.review_rights();
        state
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
    /// How many changes there were since all was saved last.
    pub fn changes_since_save(&self) -> u64 {
        self.store.dirty().saturating_sub(self.saving.saved_dirty)
    }
    /// Settings have changed.
    pub(crate) fn heed_config(&mut self) {
        let memory_is_bound = self.config.memory.maxmemory != 0;
        let needs_replicas = self.config.min_replicas_to_write != 0;
        self.restricts = memory_is_bound || needs_replicas || self.cluster.is_some();
        self.listen();
    }
}

/// One `redis.call` or `redis.pcall` of a script.
#[derive(Clone)]
pub struct TracedCall {
    /// The command.
    pub argv: Vec<Vec<u8>>,
    /// What it answered; errors too.
    pub reply: Reply,
    /// What the command alone took on this machine, without Lua. The engine's time stands still within a script; this
    /// is real time, another one in each run, so it takes no part in comparing and showing calls.
    pub real_time: Duration,
}

impl PartialEq for TracedCall {
    fn eq(&self, other: &Self) -> bool {
        self.argv == other.argv && self.reply == other.reply
    }
}

/// As in `INCR n -> (integer) 1`.
impl std::fmt::Display for TracedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {}", join_words(&self.argv), self.reply)
    }
}

impl std::fmt::Debug for TracedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let argv = join_words(&self.argv);
        f.debug_struct("TracedCall")
            .field("argv", &format_args!("{argv}"))
            .field("reply", &self.reply)
            .finish()
    }
}

/// What a handler works with.
pub struct Ctx<'a> {
    /// Everything there is.
    pub state: &'a mut State,
    /// The session the command runs for.
    pub id: SessionId,
    /// Who calls.
    pub origin: Origin,
    /// The row that has run.
    pub(crate) ran: Option<&'static Row>,
}

impl<'a> Ctx<'a> {
    /// What a command of a session works with.
    #[inline(always)]
    pub fn new(state: &'a mut State, id: SessionId, origin: Origin) -> Self {
        Ctx { state, id, origin, ran: None }
    }
}

impl Ctx<'_> {
    /// The session the command runs for.
    #[inline]
    pub fn session(&self) -> &Session {
        self.state.sessions.get(self.id)
    }
    /// The session, for changing.
    #[inline]
    pub fn session_mut(&mut self) -> &mut Session {
        self.state.sessions.get_mut(self.id)
    }
    /// Notes that the running command looks at so many bytes, or at as many as elements take as much time: a script pays
    /// for what does not show in words and replies.
    pub fn note_work(&mut self, bytes: usize) {
        self.state.worked = self.state.worked.saturating_add(bytes);
    }
    /// The database of the session.
    #[inline]
    pub fn db(&self) -> Db {
        self.session().db
    }
    /// The protocol version of the session.
    pub fn resp(&self) -> Resp {
        self.session().resp
    }
    /// Ends a session, which gets nothing more of what waits to be sent to it.
    pub(crate) fn cut_session(&mut self, id: SessionId) {
        self.close_session(id);
        self.state.sessions.get_mut(id).cut = true;
    }
    /// Ends a session: it takes no further call, and nothing of it is left but its number.
    pub fn close_session(&mut self, id: SessionId) {
        self.state.store.unwatch(id);
        self.state.end_subscriptions(id);
        self.state.replication.forget(id);
        self.state.pubsub.tell(id);
        let session = self.state.sessions.get_mut(id);
        session.queue = None;
        session.closed = true;
        if session.blocked.is_some() {
            self.state.unblocked.push((id, Unblock::Closed));
        }
    }
    /// The time of this unit in milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.state.store.now_ms()
    }
    /// See [`Store::read`].
    #[inline]
    pub fn read(&mut self, key: &[u8]) -> Option<&Entry> {
        let db = self.db();
        self.state.store.read(db, key)
    }
    /// See [`Store::look`].
    pub fn look(&mut self, key: &[u8]) -> Option<&Entry> {
        let db = self.db();
        self.state.store.look(db, key)
    }
    /// See [`Store::look_untold`].
    pub fn look_untold(&mut self, key: &[u8]) -> Option<&Entry> {
        let db = self.db();
        self.state.store.look_untold(db, key)
    }
    /// See [`Store::expire_if_due`].
    pub fn expire_if_due(&mut self, key: &[u8]) -> bool {
        let db = self.db();
        self.state.store.expire_if_due(db, key)
    }
    /// See [`Store::has`].
    #[inline]
    pub fn has(&mut self, key: &[u8]) -> bool {
        let db = self.db();
        self.state.store.has(db, key)
    }
    /// See [`Store::edit`].
    #[inline]
    pub fn edit(&mut self, key: &[u8]) -> Option<Edit<'_>> {
        let db = self.db();
        self.state.store.edit(db, key)
    }
    /// See [`Store::edit_or`].
    pub fn edit_or(&mut self, key: &[u8], fresh: impl FnOnce() -> Value) -> Edit<'_> {
        let db = self.db();
        self.state.store.edit_or(db, key, fresh)
    }
    /// See [`Store::notify`].
    pub fn notify(&mut self, key: &[u8], event: Event) {
        let db = self.db();
        self.state.store.notify(db, key, event);
    }
    /// See [`Store::put`].
    #[inline]
    pub fn put(&mut self, key: &[u8], value: Value, expiry: Expiry, event: Event) {
        let db = self.db();
        self.state.store.put(db, key, value, expiry, event);
    }
    /// See [`Store::remove`].
    pub fn remove(&mut self, key: &[u8], event: Event) -> bool {
        let db = self.db();
        self.state.store.remove(db, key, event)
    }
    /// Does something with the generator of the state, which the borrow of a value would otherwise be in the way of.
    pub fn with_rng<R>(&mut self, act: impl FnOnce(&mut Self, &mut Rng) -> R) -> R {
        let mut rng = self.state.store.rng.clone();
        let result = act(self, &mut rng);
        self.state.store.rng = rng;
        result
    }
    /// See [`Store::discard`].
    pub fn discard(&mut self, key: &[u8], event: Event) -> bool {
        let db = self.db();
        self.state.store.discard(db, key, event)
    }
    /// True while somebody reads the journal: only then is it worth building a propagated form.
    pub fn has_journal(&self) -> bool {
        self.state.store.has_journal()
    }
    /// Tells the propagated form of this command instead of its own words (what is not deterministic is made so).
    pub fn propagate(&mut self, argv: Argv<'_>) {
        self.state.rewritten = true;
        let db = self.db();
        self.state.store.propagate(db, argv);
    }
    /// Tells that the key went: as UNLINK where a setting frees in the background.
    pub fn propagate_removal(&mut self, key: &[u8], lazily: bool) {
        self.propagate(&[if lazily { b"UNLINK" } else { b"DEL" }, key]);
    }
    /// This command's change is not propagated (or was, in other words).
    pub fn propagate_nothing(&mut self) {
        self.state.rewritten = true;
    }
}

/// Looks up, checks, queues or runs one command. An error never leaves half a reply behind.
///
/// # Errors
/// What the command answers; the caller writes it to the tape.
#[inline(always)]
pub fn call(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let table = cx.state.table;
    match cx.origin {
        Origin::Script if cx.state.trace.is_some() => traced(cx, argv, out),
        Origin::Script => run_for_script(cx, argv, out),
        Origin::Exec => {
            let row = table.lookup(argv)?;
            if cx.session().restricted {
                cx.check_permission(row, argv)?;
            }
            run(cx, row, argv, out)
        }
        Origin::Client => match client_row(cx, table, argv) {
            Ok((row, false)) => run(cx, row, argv, out),
            Ok((row, true)) => {
                let flags = memory::queued_flags(cx, row, argv);
                cx.session_mut().enqueue(argv, flags);
                out.status("QUEUED");
                Ok(Flow::Done)
            }
            Err(failure) => Err(refused(cx, argv, failure)),
        },
    }
}

/// A script's command, which is noted here: nothing of it is left to the engine.
#[inline(always)]
fn run_for_script(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let table = cx.state.table;
    let row = script_row(cx, table, argv).inspect_err(|failure| cx.state.note_rejection(argv, failure))?;
    let stopwatch = cx.state.measures.then(Stopwatch::start);
    let result = run(cx, row, argv, out);
    if cx.state.is_calm && result.is_ok() {
        cx.state.stats.count(row);
        return result;
    }
    if let Err(failure) = &result {
        cx.state.stats.note_error(&failure.to_bytes());
    }
    let duration_us = stopwatch.map_or(0, |stopwatch| stopwatch.elapsed().as_micros() as u64);
    let at_us = cx.state.store.now_us();
    cx.state.note_run(&Ran { id: cx.id, row, argv, duration_us, at_us, waits: false });
    result
}

/// A script's command that somebody wants to know of; the tape holds this one reply only.
#[cold]
fn traced(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let stopwatch = Stopwatch::start();
    let result = run_for_script(cx, argv, out);
    let real_time = stopwatch.elapsed();
    let mut reply = out.clone();
    if let Err(failure) = &result {
        reply.error(failure);
    }
    let argv = argv.iter().map(|word| word.to_vec()).collect();
    if let Some(calls) = &mut cx.state.trace {
        calls.push(TracedCall { argv, reply, real_time });
    }
    result
}

/// Checks before a client's command; true when it is to be queued. A refusal spoils an open transaction.
#[inline(always)]
fn client_row(
    cx: &mut Ctx<'_>,
    table: &'static Table,
    argv: Argv<'_>,
) -> Result<(&'static Row, bool), Failure> {
    let now_ms = cx.now_ms();
    let row = table.lookup(argv);
    let session = cx.session_mut();
    session.used_at_ms = now_ms;
    session.last_command = row.as_ref().map_or("", |row| row.spec.name);
    let row = row?;
    let is_free = session.queue.is_none() && session.subscriber.is_none() && !session.restricted;
    let is_free = is_free && !row.spec.has(PROTECTED);
    if is_free && !cx.state.restricts {
        return Ok((row, false));
    }
    bound_row(cx, row, argv)
}

/// Commands that a setting has to allow.
#[cold]
fn check_protected(cx: &Ctx<'_>, row: &Row) -> Result<(), Failure> {
    let (container, _) = row.spec.parts();
    match cx.state.config.text(&format!("enable-{container}-command")).as_str() {
        "no" => Err(Failure::not_enabled(container)),
        _ => Ok(()),
    }
}

/// The checks that depend on who the session is and what it has done before, and on memory.
#[cold]
#[inline(never)]
fn bound_row(cx: &mut Ctx<'_>, row: &'static Row, argv: Argv<'_>) -> Result<(&'static Row, bool), Failure> {
    if row.spec.has(PROTECTED) {
        check_protected(cx, row)?;
    }
    let (in_multi, restricted) = (cx.session().queue.is_some(), cx.session().restricted);
    if restricted {
        cx.check_authenticated(row)?;
    }
    if in_multi && row.spec.has(NO_MULTI) {
        return Err(Failure::NOT_IN_MULTI);
    }
    if restricted {
        cx.check_permission(row, argv)?;
    }
    if cx.state.cluster.is_some() {
        cx.check_slot(row, argv)?;
    }
    if cx.state.config.memory.maxmemory != 0 {
        memory::admit(cx, row, argv)?;
    }
    if cx.state.config.min_replicas_to_write != 0 {
        memory::admit_write(cx, row, argv)?;
    }
    if cx.is_replica() && row.spec.flags & (WRITE | READONLY | MAY_REPLICATE) != 0 {
        return Err(Failure::REPLICA_TOUCHES_KEYS);
    }
    if cx.only_listens() && !runs_while_listening(row) {
        return Err(Failure::while_listening(row.spec.name));
    }
    Ok((row, in_multi && !runs_in_multi(row)))
}

/// A client's command was refused: an open transaction is spoiled; a refused EXEC discards it.
#[cold]
fn refused(cx: &mut Ctx<'_>, argv: Argv<'_>, failure: Failure) -> Failure {
    if let Ok(row) = cx.state.table.resolve(argv) {
        cx.state.stats.note_rejection(row);
    }
    match failure {
        Failure::Arity(name) if name == "exec" => {
            cx.session_mut().queue = None;
            cx.state.store.unwatch(cx.id);
            Failure::exec_arity()
        }
        failure => {
            cx.session_mut().spoil_queue();
            failure
        }
    }
}

/// What a client reads whose command is refused before it runs: an EXEC ends its transaction.
#[cold]
fn refusal(cx: &mut Ctx<'_>, row: &Row, failure: Failure) -> Failure {
    if row.spec.name != "exec" {
        return failure;
    }
    cx.session_mut().queue = None;
    cx.state.store.unwatch(cx.id);
    Failure::exec_aborted(&failure)
}

/// Checks before a script's command: the server has texts of its own for these.
fn script_row(cx: &mut Ctx<'_>, table: &'static Table, argv: Argv<'_>) -> Result<&'static Row, Failure> {
    let row = table.lookup(argv).map_err(|failure| match failure {
        Failure::Arity(_) => Failure::SCRIPT_ARITY,
        _ => Failure::SCRIPT_UNKNOWN_COMMAND,
    })?;
    (cx.state.took_long, cx.state.worked) = (row.may_take_long, 0);
    if row.spec.has(NOSCRIPT) && !cx.state.debug.scripts_may_all {
        return Err(Failure::SCRIPT_NOT_ALLOWED);
    }
    if cx.session().restricted {
        cx.check_permission(row, argv)?;
    }
    if row.spec.flags & (WRITE | MAY_REPLICATE) != 0 && cx.session().read_only {
        return Err(Failure::SCRIPT_READ_ONLY);
    }
    if cx.state.refuses_growth | cx.state.refuses_writes {
        cx.state.check_growth(row)?;
    }
    if cx.state.cluster.is_some() {
        cx.check_script_slot(row, argv)?;
    }
    Ok(row)
}

#[inline(always)]
fn run(cx: &mut Ctx<'_>, row: &'static Row, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mark = out.mark();
    let (dirty, db) = (cx.state.store.dirty(), cx.db());
    cx.state.rewritten = false;
    if cx.has_journal() && cx.origin == Origin::Client && row.spec.has(TOUCHES_ARBITRARY_KEYS) {
        cx.state.store.unbracket_journal();
    }
    cx.ran = Some(row);
    let result = (row.spec.run)(cx, argv, out);
    if cx.state.store.has_events() {
        cx.state.tell_events();
    }
    if cx.state.store.dirty() != dirty && !cx.state.rewritten {
        cx.state.store.propagate(db, argv);
    }
    result.inspect_err(|_| out.rollback(mark))
}

/// What a session may call that listens and speaks RESP2.
fn runs_while_listening(row: &Row) -> bool {
    let names = [
        "ping",
        "subscribe",
        "ssubscribe",
        "unsubscribe",
        "sunsubscribe",
        "psubscribe",
        "punsubscribe",
        "quit",
    ];
    names.contains(&row.spec.name) || row.spec.name == "reset"
}

/// EXEC, DISCARD, MULTI, WATCH, QUIT and RESET act at once in an open transaction.
fn runs_in_multi(row: &Row) -> bool {
    matches!(row.spec.name, "exec" | "discard" | "multi" | "watch" | "quit" | "reset")
}
