//! `call`, the one path by which any command runs: from a client, in EXEC, from a script. Rows are described in `spec`,
//! found through `table`; what a handler works with is in `context`, what it asks for in `flow`, all there is to know in
//! `state`; handlers are in `commands`.

pub mod args;
pub mod blocking;
pub mod buffers;
pub(crate) mod client_info;
pub mod cluster;
pub mod config;
mod context;
pub mod faults;
mod flow;
pub mod help;
pub mod host;
pub mod keys;
pub mod libraries;
pub mod log;
pub mod master;
mod memory;
pub(crate) mod memory_use;
mod monitors;
pub(crate) mod observe;
pub mod output_limits;
pub mod pause;
pub mod process;
pub mod pubsub;
pub mod random;
pub mod replication;
pub mod scan;
pub mod scripts;
pub mod session;
pub(crate) mod shebang;
pub mod slowlog;
pub mod spec;
mod state;
pub mod stats;
pub mod table;
pub mod tracking;
pub mod usage;
pub mod users;

pub use context::Ctx;
pub use flow::{Flow, RestorePolicy, Source, VmCall};
pub use state::State;

use crate::error::Failure;
use crate::reply::Reply;
use crate::util::clock::Stopwatch;
use crate::util::words::join_words;
use blocking::WaitOn;
use observe::Ran;
use spec::{
    ALLOW_BUSY, MAY_REPLICATE, NO_MULTI, NOSCRIPT, PROTECTED, READONLY, STALE, TOUCHES_ARBITRARY_KEYS, WRITE,
};
use std::time::Duration;
use table::{Row, Table};

/// The version of the server whose behaviour this is.
pub const REDIS_VERSION: &str = "7.0.15";

/// The words of a command; the first one is its name.
pub type Argv<'a> = &'a [&'a [u8]];

/// What runs a command: checks all, reads or edits, writes one reply.
pub type Handler = fn(&mut Ctx<'_>, Argv<'_>, &mut Reply) -> Result<Flow, Failure>;

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
            Ok((row, Turn::Now)) => run(cx, row, argv, out),
            Ok((_, Turn::AfterPause)) => {
                cx.state.postponed.push(cx.id);
                Ok(cx.wait(WaitOn::Pause, &[], None, argv))
            }
            Ok((row, Turn::InTransaction)) => {
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

/// When a client's command runs that is not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Now,
    /// It is queued for EXEC.
    InTransaction,
    /// CLIENT PAUSE holds it back; it is looked at again then.
    AfterPause,
}

/// Checks before a client's command, and when it runs. A refusal spoils an open transaction.
#[inline(always)]
fn client_row(
    cx: &mut Ctx<'_>,
    table: &'static Table,
    argv: Argv<'_>,
) -> Result<(&'static Row, Turn), Failure> {
    let row = match table.lookup(argv) {
        Ok(row) => row,
        Err(failure) => {
            cx.note_call("");
            return Err(failure);
        }
    };
    let session = cx.note_call(row.spec.name);
    let is_free = session.queue.is_none() && session.subscriber.is_none() && !session.restricted;
    let is_free = is_free && !row.spec.has(PROTECTED);
    if is_free && !cx.state.restricts {
        return Ok((row, Turn::Now));
    }
    bound_row(cx, row, argv)
}

/// Whether a client's command would run now: it is neither refused nor queued.
#[cfg(feature = "server")]
pub(crate) fn runs_now(cx: &mut Ctx<'_>, argv: Argv<'_>) -> bool {
    let table = cx.state.table;
    matches!(client_row(cx, table, argv), Ok((_, Turn::Now)))
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
fn bound_row(cx: &mut Ctx<'_>, row: &'static Row, argv: Argv<'_>) -> Result<(&'static Row, Turn), Failure> {
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
    if cx.state.config.memory.maxmemory != 0 && cx.state.busy.is_none() {
        memory::admit(cx, row, argv)?;
    }
    if cx.state.tracking.is_on() {
        cx.state.limit_tracking();
    }
    if cx.state.config.min_replicas_to_write != 0 {
        memory::admit_write(cx, row, argv)?;
    }
    if cx.state.has_master() {
        master::admit_write(cx, row, argv)?;
    }
    if cx.only_listens() && !runs_while_listening(row) {
        return Err(Failure::while_listening(row.spec.name));
    }
    if cx.state.has_master() {
        master::admit_stale(cx, row, argv)?;
    }
    if let Some(busy) = &cx.state.busy
        && !row.spec.has(ALLOW_BUSY)
    {
        let busy = busy.clone();
        return Err(refusal(cx, row, busy));
    }
    if (cx.is_replica() || cx.is_monitor())
        && memory::flags_of_all(cx, row, argv) & (WRITE | READONLY | MAY_REPLICATE) != 0
    {
        return Err(Failure::REPLICA_TOUCHES_KEYS);
    }
    if cx.is_paused(row, argv) {
        return Ok((row, Turn::AfterPause));
    }
    Ok((row, if in_multi && !runs_in_multi(row) { Turn::InTransaction } else { Turn::Now }))
}

/// A client's command was refused: an open transaction is spoiled; a refused EXEC discards it.
#[cold]
fn refused(cx: &mut Ctx<'_>, argv: Argv<'_>, failure: Failure) -> Failure {
    if let Ok(row) = cx.state.table.resolve(argv) {
        cx.state.stats.note_rejection(row);
        if row.spec.name == "exec" {
            // It ends what MULTI began, which was shown.
            cx.show_now(argv);
        }
    }
    match failure {
        Failure::Arity(name) if name == "exec" => {
            cx.end_transaction();
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
    cx.end_transaction();
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
    if cx.state.has_master() && cx.state.is_stale() && !row.spec.has(STALE) {
        return Err(Failure::SCRIPT_STALE);
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
        cx.state.tell_events(cx.id, true);
    }
    if cx.state.store.dirty() != dirty && !cx.state.rewritten {
        cx.state.store.propagate(db, argv);
    }
    match result {
        // Not handed on but said again: the whole of it, read right after its parts were written, would be waited for.
        Ok(Flow::Done) => Ok(Flow::Done),
        Ok(flow) => Ok(flow),
        Err(failure) => {
            out.rollback(mark);
            Err(failure)
        }
    }
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
