//! Memory before a command: room is made, and what may need more is refused when there is none. Which keys go is in
//! `store::evict`. What a script may call once memory is short is decided when it begins (`State::begin_script`).

use super::shebang::{self, Flags};
use super::spec::{DENYOOM, Flags as CommandFlags, WRITE};
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
    let is_short = !cx.state.store.make_room();
    if cx.state.store.has_events() {
        cx.state.tell_events();
    }
    if is_short && may_grow(cx, row, argv) {
        return Err(refusal(cx, row, Failure::OutOfMemory));
    }
    cx.state.out_of_memory = is_short;
    Ok(())
}

/// The flags that a command has in a queue: those of its script too, as far as memory goes.
pub(super) fn queued_flags(cx: &Ctx<'_>, row: &Row, argv: Argv<'_>) -> CommandFlags {
    let may_grow = script_flags(cx, row.spec.name, argv).is_some_and(Flags::may_grow);
    row.spec.flags | if may_grow { DENYOOM } else { 0 }
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
        let is_short = self.out_of_memory && self.config.memory.maxmemory != 0;
        if is_short && flags.may_grow() {
            return Err(Failure::SCRIPT_OUT_OF_MEMORY);
        }
        self.refuses_growth = is_short && !flags.allow_oom;
        Ok(())
    }
    /// A script that may not take more memory calls a command. Once it has called one that writes it may go on.
    ///
    /// # Errors
    /// When the command may need more memory.
    #[cold]
    pub(super) fn check_growth(&mut self, row: &Row) -> Result<(), Failure> {
        if row.spec.has(DENYOOM) {
            return Err(Failure::OutOfMemory);
        }
        self.refuses_growth &= !row.spec.has(WRITE);
        Ok(())
    }
}
