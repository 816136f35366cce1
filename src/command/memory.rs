//! What settings ask of a command before it runs: memory is made room in, and what may need more is refused when there is
//! none; writes are refused while too few replicas follow. Which keys go is in `store::evict`. What a script may call then
//! is decided when it begins (`State::begin_script`).

use super::session::SCRIPT_SESSION;
use super::shebang::{self, Flags};
use super::spec::{DENYOOM, Flags as CommandFlags, MAY_REPLICATE, STALE, WRITE};
use super::table::Row;
use super::{Argv, Ctx, State, refusal};
use crate::error::Failure;

/// Before a command of a client: makes room. What reruns or replays is not held to the limit.
///
/// # Errors
/// When there is no room and the command may need some; an EXEC that is refused ends its transaction.
#[cold]
pub(super) fn admit(cx: &mut Ctx<'_>, row: &Row, argv: Argv<'_>) -> Result<(), Failure> {
    let session = cx.session();
    if session.replays || session.woken_by.is_some() {
        return Ok(());
    }
    if cx.state.pause.is_some() {
        // The data stays as it is, however large.
        cx.state.out_of_memory = false;
        return Ok(());
    }
    let is_short = !cx.state.make_room();
    if cx.state.store.has_events() {
        cx.state.tell_events(SCRIPT_SESSION, false);
    }
    if is_short && may_grow(cx, row, argv) {
        return Err(refusal(cx, row, Failure::OutOfMemory));
    }
    cx.state.out_of_memory = is_short;
    Ok(())
}

/// Before a command of a client that may write: enough replicas follow.
///
/// # Errors
/// When they do not; an EXEC that is refused ends its transaction.
#[cold]
pub(super) fn admit_write(cx: &mut Ctx<'_>, row: &Row, argv: Argv<'_>) -> Result<(), Failure> {
    let session = cx.session();
    let is_exempt = session.replays || session.woken_by.is_some();
    if !is_exempt && !cx.state.has_enough_replicas() && may_write(cx, row, argv) {
        return Err(refusal(cx, row, Failure::NO_REPLICAS));
    }
    Ok(())
}

/// The flags that a command has in a queue: what its script declares counts instead of what is said of all scripts.
pub(super) fn queued_flags(cx: &Ctx<'_>, row: &Row, argv: Argv<'_>) -> CommandFlags {
    let Some(flags) = script_flags(cx, row.spec.name, argv).filter(|flags| flags.declared) else {
        return row.spec.flags;
    };
    let may_grow = if flags.may_grow() { DENYOOM } else { 0 };
    let may_write = if flags.no_writes { 0 } else { WRITE };
    let may_be_stale = if flags.allow_stale { STALE } else { 0 };
    row.spec.flags & !(STALE | MAY_REPLICATE) | may_grow | may_write | may_be_stale
}

/// The flags of all that a command runs: of what EXEC has in its queue too.
pub(super) fn flags_of_all(cx: &Ctx<'_>, row: &Row, argv: Argv<'_>) -> CommandFlags {
    match &cx.session().queue {
        Some(queue) if row.spec.name == "exec" => queue.flags,
        _ => queued_flags(cx, row, argv),
    }
}

/// Whether a command may write: by its flags, by those of the script it runs, or as it is queued.
pub(super) fn may_write(cx: &Ctx<'_>, row: &Row, argv: Argv<'_>) -> bool {
    match (&cx.session().queue, row.spec.name) {
        (Some(queue), "exec") => queue.flags & WRITE != 0,
        _ => queued_flags(cx, row, argv) & WRITE != 0,
    }
}

/// Whether a command may take more memory: by its flags, by those of the script it runs, or as it is queued.
fn may_grow(cx: &Ctx<'_>, row: &Row, argv: Argv<'_>) -> bool {
    match (&cx.session().queue, row.spec.name) {
        (Some(queue), "exec") => queue.flags & DENYOOM != 0,
        (Some(_), "discard" | "quit" | "reset") => false,
        (Some(_), _) => true,
        (None, name) => row.spec.has(DENYOOM) || script_flags(cx, name, argv).is_some_and(Flags::may_grow),
    }
}

/// What the script or function of a call declares of itself.
fn script_flags(cx: &Ctx<'_>, name: &str, argv: Argv<'_>) -> Option<Flags> {
    let word = argv.get(1)?;
    match name {
        "eval" | "eval_ro" => Some(shebang::parse(word).ok()?.0),
        "evalsha" | "evalsha_ro" => Some(shebang::parse(&cx.state.scripts.get(word)?.text).ok()?.0),
        "fcall" | "fcall_ro" => {
            let (library, index) = cx.state.libraries.function(word)?;
            Some(Flags::of_function(library.functions.get(index)?.flags))
        }
        _ => None,
    }
}

impl State {
    /// A script begins: whether it may take more memory holds for all of it.
    ///
    /// # Errors
    /// When memory is short and the script does not declare that it can do without.
    pub(crate) fn begin_script(&mut self, flags: Flags) -> Result<(), Failure> {
        if self.cluster.is_some() {
            if flags.declared && flags.no_cluster {
                return Err(Failure::SCRIPT_NO_CLUSTER);
            }
            self.script_crosses_slots = !flags.declared || flags.allow_cross_slot_keys;
        }
        if self.is_stale() && !(flags.declared && flags.allow_stale) {
            return Err(if flags.declared {
                Failure::SCRIPT_MAY_NOT_BE_STALE
            } else {
                Failure::MASTER_IS_DOWN
            });
        }
        let is_read_only = self.is_read_only();
        if is_read_only && flags.declared && !flags.no_writes {
            return Err(Failure::SCRIPT_ON_READ_ONLY_REPLICA);
        }
        let lacks_replicas = !self.has_enough_replicas();
        if lacks_replicas && flags.declared && !flags.no_writes {
            return Err(Failure::NO_REPLICAS);
        }
        self.refuses_writes = is_read_only || (lacks_replicas && !flags.declared);
        let is_short = self.out_of_memory && self.config.memory.maxmemory != 0;
        if is_short && flags.may_grow() {
            return Err(Failure::SCRIPT_OUT_OF_MEMORY);
        }
        self.refuses_growth = is_short && !flags.allow_oom;
        Ok(())
    }
    /// A script that may not take more memory, or not write, calls a command. Once it has called one that writes it may go on.
    ///
    /// # Errors
    /// When the command may need more memory, or writes.
    #[cold]
    pub(super) fn check_growth(&mut self, row: &Row) -> Result<(), Failure> {
        if self.refuses_writes && row.spec.has(WRITE) {
            return Err(if self.has_master() { Failure::READ_ONLY_REPLICA } else { Failure::NO_REPLICAS });
        }
        if self.refuses_growth && row.spec.has(DENYOOM) {
            return Err(Failure::OutOfMemory);
        }
        self.refuses_growth &= !row.spec.has(WRITE);
        Ok(())
    }
    /// Whether as many replicas follow as min-replicas-to-write asks for; one that is a replica itself needs none.
    fn has_enough_replicas(&self) -> bool {
        let wanted = self.config.min_replicas_to_write;
        wanted == 0
            || self.has_master()
            || self.config.min_replicas_max_lag == 0
            || self.good_replicas() >= wanted
    }
}
