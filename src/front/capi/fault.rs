//! How an entry fails: codes, the last failure of each thread, and the frame around every entry that lets no panic out.

use super::border::Text;
use crate::contract::ContractError;
use crate::engine::RdbError;
use crate::error::Error;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Success.
pub const MK_OK: c_int = 0;
/// A pointer that must not be NULL is NULL.
pub const MK_ERR_NULL: c_int = 1;
/// An argument is not what the function takes; `mk_last_error` says what is allowed.
pub const MK_ERR_USAGE: c_int = 2;
/// The engine of this client was freed, or its session ended by QUIT or CLIENT KILL.
pub const MK_ERR_CLOSED: c_int = 3;
/// The client is inside another call, of another thread or of this one; or a script of another thread keeps the engine for
/// longer than busy-reply-threshold, which `mk_call` answers with an error reply.
pub const MK_ERR_BUSY: c_int = 4;
/// The engine was entered again by the thread that is inside it.
pub const MK_ERR_REENTERED: c_int = 5;
/// An earlier panic left the engine unusable; free it and make a new one, or restore a snapshot.
pub const MK_ERR_POISONED: c_int = 6;
/// The command would wait for another client or for time to pass, and must not: see `mk_options_blocking`, `mk_start`.
pub const MK_ERR_WOULD_BLOCK: c_int = 7;
/// A panic inside the library was caught. If it struck inside an engine, that engine is poisoned from now on.
pub const MK_ERR_PANIC: c_int = 8;
/// The engine was told (DEBUG FAULT) to lose requests or replies, and this one is lost.
pub const MK_ERR_LOST: c_int = 9;
/// A script did not do what its contract promises; `mk_last_error` says what. The script has run.
pub const MK_ERR_BREACH: c_int = 10;

/// Why an entry fails: a code of the header and a text for people.
#[derive(Debug)]
pub(super) struct Fault(pub(super) c_int, pub(super) String);

impl Fault {
    #[cold]
    pub(super) fn null(what: &str) -> Fault {
        Fault(MK_ERR_NULL, format!("{what} is NULL"))
    }
    #[cold]
    pub(super) fn usage(text: impl Into<String>) -> Fault {
        Fault(MK_ERR_USAGE, text.into())
    }
}

/// A pointer that must not be NULL.
pub(super) trait Needed<T> {
    /// The value, or the fault that names it.
    fn needed(self, what: &str) -> Result<T, Fault>;
}

impl<T> Needed<T> for Option<T> {
    #[inline]
    fn needed(self, what: &str) -> Result<T, Fault> {
        match self {
            Some(value) => Ok(value),
            None => Err(Fault::null(what)),
        }
    }
}

impl From<Error> for Fault {
    #[cold]
    fn from(error: Error) -> Fault {
        let code = if error.is_poisoned() {
            MK_ERR_POISONED
        } else if error.is_reentered() {
            MK_ERR_REENTERED
        } else if error.is_would_block() {
            MK_ERR_WOULD_BLOCK
        } else if error.is_closed() {
            MK_ERR_CLOSED
        } else if error.is_connection_lost() {
            MK_ERR_LOST
        } else if error.is_breach() {
            MK_ERR_BREACH
        } else if error.code() == Some("BUSY") {
            MK_ERR_BUSY
        } else {
            MK_ERR_USAGE
        };
        let text = match code {
            MK_ERR_WOULD_BLOCK => {
                "the command would wait, and only its caller could end that: begin it with mk_start, or \
                                   choose with mk_options_blocking what a call does"
                    .into()
            }
            MK_ERR_LOST => {
                "the connection is lost: the engine was told to lose requests or replies; DEBUG FAULT HEAL \
                            ends it"
                    .into()
            }
            _ => error.to_string(),
        };
        Fault(code, text)
    }
}

impl From<ContractError> for Fault {
    fn from(error: ContractError) -> Fault {
        Fault::usage(error.to_string())
    }
}

impl From<RdbError> for Fault {
    fn from(error: RdbError) -> Fault {
        Fault::usage(error.to_string())
    }
}

/// The last failure of a thread: its code, and its text with a NUL behind it.
struct Last {
    code: c_int,
    text: Vec<u8>,
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last { code: MK_OK, text: Vec::new() }) };
}

/// Keeps a failure for `mk_last_error`; a thread that is ending forgets it.
#[cold]
fn note(Fault(code, text): Fault) -> c_int {
    let mut text = text.into_bytes();
    text.retain(|&byte| byte != 0);
    text.push(0);
    let _ = LAST.try_with(|last| *last.borrow_mut() = Last { code, text });
    code
}

/// Runs the body of an entry. A panic ends here; what failed is noted for `mk_last_error`.
#[inline]
pub(super) fn entry<T>(body: impl FnOnce() -> Result<T, Fault>) -> Result<T, c_int> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(note(fault)),
        Err(payload) => Err(caught(payload)),
    }
}

#[cold]
fn caught(payload: Box<dyn Any + Send>) -> c_int {
    let text = panic_text(&*payload);
    discard(payload);
    note(Fault(MK_ERR_PANIC, text))
}

/// Drops what a panic carried. That can panic in its turn; what this second panic carries is left alone.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("a panic inside the library was caught: {message}")
}

/// A code for entries that give nothing else.
pub(super) fn code(body: impl FnOnce() -> Result<(), Fault>) -> c_int {
    entry(body).err().unwrap_or(MK_OK)
}

/// What the last failure of this thread was, in words; empty when there was none. As with errno, a success does not
/// reset it: read it right after a function gave a code or NULL. Owned by the library; valid until the next failure of
/// this thread.
#[unsafe(no_mangle)]
pub extern "C" fn mk_last_error() -> *const c_char {
    let text = LAST.try_with(|last| {
        let last = last.borrow();
        if last.text.is_empty() { c"".as_ptr() } else { last.text.as_ptr().cast() }
    });
    text.unwrap_or(c"".as_ptr())
}

/// The code (`MK_ERR_...`) of the last failure of this thread; `MK_OK` when there was none.
#[unsafe(no_mangle)]
pub extern "C" fn mk_last_error_code() -> c_int {
    LAST.try_with(|last| last.borrow().code).unwrap_or(MK_OK)
}

/// For code that builds on this interface, as `mk_command` does: notes a failure of its own, which `mk_last_error` then
/// tells as it tells the library's. Gives the code back.
#[unsafe(no_mangle)]
pub extern "C" fn mk_note_error(code: c_int, text: Text<'_>) -> c_int {
    entry(|| -> Result<(), Fault> {
        Err(Fault(code, text.until_nul("text").map(String::from_utf8_lossy)?.into_owned()))
    })
    .err()
    .unwrap_or(code)
}
