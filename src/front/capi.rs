//! The C ABI. `include/moonkeep.h` is generated from this file (cbindgen.toml holds the text on top of it): the comments
//! on public items here are the C manual. The only unsafe code of the fronts.
//!
//! Each entry checks its pointers, runs its body under `entry`, which keeps panics on this side and notes what failed,
//! and gives a code or NULL. Nothing here knows commands; replies are copied from the tape into a tree of `mk_reply`.
#![allow(unsafe_code)]
#![allow(
    non_camel_case_types,
    unreachable_pub,
    reason = "the names are those of the header, and C reaches them"
)]

use crate::engine::{Client, Engine};
use crate::error::Error;
use crate::reply::{Items, Reply, ReplyRef};
use crate::util::float::format_f64;
use crate::util::num::NumBuf;
use parking_lot::Mutex;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The version of this interface. A program checks once that `mk_abi_version() == MK_ABI_VERSION`.
pub const MK_ABI_VERSION: c_int = 1;

/// Success.
pub const MK_OK: c_int = 0;
/// A pointer that must not be NULL is NULL.
pub const MK_ERR_NULL: c_int = 1;
/// An argument is not what the function takes; `mk_last_error` says what is allowed.
pub const MK_ERR_USAGE: c_int = 2;
/// The engine of this client was freed, or its session ended by QUIT or CLIENT KILL.
pub const MK_ERR_CLOSED: c_int = 3;
/// The client is inside another call, of another thread or of this one.
pub const MK_ERR_BUSY: c_int = 4;
/// The engine was entered again by the thread that is inside it.
pub const MK_ERR_REENTERED: c_int = 5;
/// An earlier panic left the engine unusable; free it and make a new one.
pub const MK_ERR_POISONED: c_int = 6;
/// The command would wait for another client.
pub const MK_ERR_WOULD_BLOCK: c_int = 7;
/// A panic inside the library was caught. If it struck inside an engine, that engine is poisoned from now on.
pub const MK_ERR_PANIC: c_int = 8;
/// The engine was told to lose requests or replies, and this one is lost.
pub const MK_ERR_LOST: c_int = 9;

/// What `mk_reply_type` gives for NULL: not a reply.
pub const MK_REPLY_NONE: c_int = 0;
/// A string of any bytes: `mk_reply_str`, `mk_reply_len`.
pub const MK_REPLY_STRING: c_int = 1;
/// An array: `mk_reply_elements`, `mk_reply_element`.
pub const MK_REPLY_ARRAY: c_int = 2;
/// An integer: `mk_reply_integer`.
pub const MK_REPLY_INTEGER: c_int = 3;
/// A null.
pub const MK_REPLY_NIL: c_int = 4;
/// A status such as `OK`: `mk_reply_str`.
pub const MK_REPLY_STATUS: c_int = 5;
/// An error reply, code first: `mk_reply_str`.
pub const MK_REPLY_ERROR: c_int = 6;
/// A double: `mk_reply_dval`, and as text `mk_reply_str`.
pub const MK_REPLY_DOUBLE: c_int = 7;
/// A boolean: `mk_reply_integer` is 1 or 0.
pub const MK_REPLY_BOOL: c_int = 8;
/// A map: its keys and values in turn are the elements.
pub const MK_REPLY_MAP: c_int = 9;
/// A set: its members are the elements.
pub const MK_REPLY_SET: c_int = 10;
/// What is said of the value that follows: keys and values in turn are the elements.
pub const MK_REPLY_ATTR: c_int = 11;
/// A push message: an array that no command asked for.
pub const MK_REPLY_PUSH: c_int = 12;
/// An integer of any size in decimal: `mk_reply_str`.
pub const MK_REPLY_BIGNUM: c_int = 13;
/// A text for people: `mk_reply_str`.
pub const MK_REPLY_VERB: c_int = 14;

/// An engine: databases, scripts and the clock. Any number of threads may use one at the same time.
pub struct mk_engine {
    engine: Engine,
    open: Arc<AtomicBool>,
}

/// A session in an engine, as a connection is on a server: it has its own database number, transaction and watched
/// keys. One thread at a time may use it; it may move from thread to thread.
pub struct mk_client {
    session: Mutex<Session>,
    open: Arc<AtomicBool>,
}

struct Session {
    client: Client,
    tape: Reply,
}

/// A reply, or an element of one. It does not change: any number of threads may read it.
pub struct mk_reply {
    kind: c_int,
    /// Given by `mk_call`, so that it may be freed; elements may not.
    is_whole: bool,
    integer: i64,
    dval: f64,
    /// Until the tree is linked: where the text starts in `Whole::text`, or the first element in `Whole::elements`.
    at: usize,
    text: *const c_char,
    len: usize,
    elements: *const mk_reply,
    count: usize,
}

/// What stands behind a pointer that `mk_call` gives: the reply must be the first field.
#[repr(C)]
struct Whole {
    reply: mk_reply,
    /// All elements of all depths; those of one aggregate are contiguous.
    elements: Vec<mk_reply>,
    /// All texts, each with a NUL behind it.
    text: Vec<u8>,
}

/// Why an entry fails: a code of the header and a text for people.
struct Fault(c_int, String);

impl Fault {
    fn null(what: &str) -> Fault {
        Fault(MK_ERR_NULL, format!("{what} is NULL"))
    }
}

impl From<Error> for Fault {
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
        } else {
            MK_ERR_USAGE
        };
        Fault(code, error.to_string())
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
fn note(Fault(code, text): Fault) -> c_int {
    let mut text = text.into_bytes();
    text.retain(|&byte| byte != 0);
    text.push(0);
    let _ = LAST.try_with(|last| *last.borrow_mut() = Last { code, text });
    code
}

/// Runs the body of an entry. A panic ends here; what failed is noted for `mk_last_error`.
fn entry<T>(body: impl FnOnce() -> Result<T, Fault>) -> Result<T, c_int> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result.map_err(note),
        Err(payload) => {
            let text = panic_text(&*payload);
            discard(payload);
            Err(note(Fault(MK_ERR_PANIC, text)))
        }
    }
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
fn code(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(MK_OK)
}

/// Gives a value to C.
fn give<T>(result: Result<Box<T>, c_int>) -> *mut T {
    result.map_or(ptr::null_mut(), Box::into_raw)
}

/// The version of the interface that the library was built with; never 0. See `MK_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn mk_abi_version() -> c_int {
    MK_ABI_VERSION
}

/// The version of the library, as in `0.1.0`. Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn mk_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
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

/// Makes an engine with 16 empty databases and a clock that stands at the start of 2024 until `mk_advance_ms` moves it.
/// Owned by the caller: `mk_engine_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_engine_new() -> *mut mk_engine {
    give(entry(|| Ok(Box::new(mk_engine { engine: Engine::new(), open: Arc::new(AtomicBool::new(true)) }))))
}

/// Closes and frees an engine; NULL is ignored. Its clients stay valid and must still be freed, but each call through
/// them fails with `MK_ERR_CLOSED`. The memory of the databases is returned with the last client. A call that another
/// thread has begun is finished.
///
/// # Safety
/// `engine` came from `mk_engine_new`, was not freed, and no other thread uses this pointer from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_engine_free(engine: *mut mk_engine) {
    if engine.is_null() {
        return;
    }
    let _ = entry(|| {
        // SAFETY: the caller hands back what `mk_engine_new` made with Box::into_raw, once.
        let engine = unsafe { Box::from_raw(engine) };
        engine.open.store(false, Ordering::Release);
        Ok(())
    });
}

/// Opens a session in an engine. Owned by the caller: `mk_client_free`, before or after the engine is freed. NULL on
/// failure.
///
/// # Safety
/// `engine` is NULL or a living engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_client_new(engine: *const mk_engine) -> *mut mk_client {
    give(entry(|| {
        // SAFETY: the caller says that it lives; engines are only ever shared.
        let engine = unsafe { engine.as_ref() }.ok_or_else(|| Fault::null("engine"))?;
        let session = Session { client: engine.engine.try_client()?, tape: Reply::new() };
        Ok(Box::new(mk_client { session: Mutex::new(session), open: engine.open.clone() }))
    }))
}

/// Closes and frees a session; NULL is ignored. Its replies stay valid.
///
/// # Safety
/// `client` came from `mk_client_new`, was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_client_free(client: *mut mk_client) {
    if client.is_null() {
        return;
    }
    let _ = entry(|| {
        // SAFETY: the caller hands back what `mk_client_new` made with Box::into_raw, once.
        drop(unsafe { Box::from_raw(client) });
        Ok(())
    });
}

/// Moves the engine's clock on by so many milliseconds and expires what is due, earliest first. Gives `MK_OK` or a code.
///
/// # Safety
/// `engine` is NULL or a living engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_advance_ms(engine: *const mk_engine, ms: i64) -> c_int {
    code(entry(|| {
        // SAFETY: the caller says that it lives; engines are only ever shared.
        let engine = unsafe { engine.as_ref() }.ok_or_else(|| Fault::null("engine"))?;
        let by = u64::try_from(ms)
            .map_err(|_| Fault(MK_ERR_USAGE, format!("ms is {ms}; time is moved on, by 0 or more")))?;
        Ok(engine.engine.advance(Duration::from_millis(by))?)
    }))
}

/// Runs a command: `argc` words (the name first) at `argv`, with their lengths at `argvlen`, so that a word may hold any
/// bytes, up to 512 MiB. `argvlen` may be NULL: then each word ends at its NUL. A word of length 0 may be NULL.
///
/// Gives the reply, owned by the caller: `mk_reply_free`. An error of the command or script is a reply too, of type
/// `MK_REPLY_ERROR`. NULL when the call was not made: `mk_last_error` says why, and nothing was changed but after
/// `MK_ERR_PANIC`.
///
/// # Safety
/// `client` is NULL or a living client; `argv` and `argvlen` are NULL or hold `argc` entries; each word can be read for
/// its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_call(
    client: *mut mk_client,
    argc: c_int,
    argv: *const *const c_char,
    argvlen: *const usize,
) -> *mut mk_reply {
    let whole = give(entry(|| {
        // SAFETY: the caller says that it lives; what changes in a client is behind its mutex.
        let client = unsafe { client.as_ref() }.ok_or_else(|| Fault::null("client"))?;
        let count = usize::try_from(argc).ok().filter(|&count| count > 0).ok_or_else(|| {
            Fault(MK_ERR_USAGE, format!("argc is {argc}; a call has at least the name of a command"))
        })?;
        if argv.is_null() {
            return Err(Fault::null("argv"));
        }
        let mut few: [&[u8]; FEW_WORDS] = [&[]; FEW_WORDS];
        let mut many = Vec::new();
        let words = match few.get_mut(..count) {
            Some(few) => few,
            None => {
                many.resize(count, &[][..]);
                &mut many[..]
            }
        };
        for (index, slot) in words.iter_mut().enumerate() {
            // SAFETY: index < argc, and the caller answers for the arrays and the words.
            *slot = unsafe { word(argv, argvlen, index) }?;
        }
        client.run(words)
    }));
    // The reply is the first field of what was made.
    whole.cast()
}

/// Calls of up to so many words need no memory for the list of words.
const FEW_WORDS: usize = 8;
/// A client keeps the memory of replies up to this size for the next call.
const KEPT_BYTES: usize = 1 << 20;

/// The longest word: proto-max-bulk-len, which is what a server reads. More is a length that was never set.
const MAX_WORD_BYTES: usize = 512 << 20;

/// One word of a call.
///
/// # Safety
/// As `mk_call`, and `index` is below `argc`; the word must outlive the borrow.
unsafe fn word<'a>(
    argv: *const *const c_char,
    argvlen: *const usize,
    index: usize,
) -> Result<&'a [u8], Fault> {
    // SAFETY: argv holds more than `index` entries.
    let start = unsafe { *argv.add(index) };
    if argvlen.is_null() {
        if start.is_null() {
            return Err(Fault::null(&format!("argv[{index}]")));
        }
        // SAFETY: without lengths the caller gives texts that end in a NUL.
        return Ok(unsafe { CStr::from_ptr(start) }.to_bytes());
    }
    // SAFETY: argvlen holds more than `index` entries.
    let len = unsafe { *argvlen.add(index) };
    if len == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Fault::null(&format!("argv[{index}]")));
    }
    if len > MAX_WORD_BYTES {
        return Err(Fault(
            MK_ERR_USAGE,
            format!("argvlen[{index}] is {len}; a word has at most {MAX_WORD_BYTES} bytes"),
        ));
    }
    // SAFETY: the caller says that `len` bytes can be read there, and `len` is far below `isize::MAX`.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), len) })
}

impl mk_client {
    fn run(&self, argv: &[&[u8]]) -> Result<Box<Whole>, Fault> {
        let Some(mut session) = self.session.try_lock() else {
            return Err(Fault(
                MK_ERR_BUSY,
                "the client is inside another call; use one client a thread".into(),
            ));
        };
        if !self.open.load(Ordering::Acquire) {
            return Err(Fault(MK_ERR_CLOSED, "the engine of this client was freed".into()));
        }
        let Session { client, tape } = &mut *session;
        client.submit(argv, tape)?;
        let whole = Whole::read(tape);
        if tape.memory_bytes() > KEPT_BYTES {
            *tape = Reply::new();
        }
        Ok(whole)
    }
}

impl Whole {
    /// Copies the first value of a tape.
    fn read(tape: &Reply) -> Box<Whole> {
        let value = tape.view();
        let mut text = Vec::new();
        let mut whole = Box::new(Whole {
            reply: mk_reply::read(&value, &mut text),
            elements: Vec::new(),
            text: Vec::new(),
        });
        whole.reply.is_whole = true;
        if let Some(items) = items(&value) {
            whole.reply.at = 0;
            whole.read_elements(items, &mut text);
        }
        whole.text = text;
        whole.link();
        whole
    }
    /// Copies all elements below an aggregate: a list of what is still open instead of recursion, since scripts choose
    /// how deep a reply is.
    fn read_elements(&mut self, items_of_whole: Items<'_>, text: &mut Vec<u8>) {
        let elements = &mut self.elements;
        let mut open = vec![(None, items_of_whole)];
        while let Some((parent, values)) = open.pop() {
            if let Some(parent) = parent {
                let parent: usize = parent;
                elements[parent].at = elements.len();
            }
            for value in values {
                if let Some(items) = items(&value) {
                    open.push((Some(elements.len()), items));
                }
                elements.push(mk_reply::read(&value, text));
            }
        }
    }
    /// Turns positions into pointers, once nothing moves any more.
    fn link(&mut self) {
        let (texts, elements) = (self.text.as_ptr(), self.elements.as_ptr());
        for reply in self.elements.iter_mut().chain([&mut self.reply]) {
            if reply.has_text() {
                reply.text = texts.wrapping_add(reply.at).cast();
            } else if reply.count > 0 {
                reply.elements = elements.wrapping_add(reply.at);
            }
        }
    }
}

/// The elements of an aggregate.
fn items<'a>(value: &ReplyRef<'a>) -> Option<Items<'a>> {
    match *value {
        ReplyRef::Array(items) | ReplyRef::Map(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => {
            Some(items)
        }
        _ => None,
    }
}

impl mk_reply {
    /// Copies one value but for its elements.
    fn read(value: &ReplyRef<'_>, text: &mut Vec<u8>) -> mk_reply {
        let blank = |kind| mk_reply {
            kind,
            is_whole: false,
            integer: 0,
            dval: 0.0,
            at: 0,
            text: ptr::null(),
            len: 0,
            elements: ptr::null(),
            count: 0,
        };
        let mut with_text = |kind, bytes: &[u8]| {
            let at = text.len();
            text.extend_from_slice(bytes);
            text.push(0);
            mk_reply { at, len: bytes.len(), ..blank(kind) }
        };
        match *value {
            ReplyRef::Int(integer) => mk_reply { integer, ..blank(MK_REPLY_INTEGER) },
            ReplyRef::Bool(value) => mk_reply { integer: i64::from(value), ..blank(MK_REPLY_BOOL) },
            ReplyRef::Bulk(bytes) => with_text(MK_REPLY_STRING, bytes),
            ReplyRef::Status(bytes) => with_text(MK_REPLY_STATUS, bytes),
            ReplyRef::Error(bytes) => with_text(MK_REPLY_ERROR, bytes),
            ReplyRef::BigNumber(bytes) => with_text(MK_REPLY_BIGNUM, bytes),
            ReplyRef::Verbatim(_, bytes) => with_text(MK_REPLY_VERB, bytes),
            ReplyRef::Double(dval) | ReplyRef::Coordinate(dval) => {
                let reply = with_text(MK_REPLY_DOUBLE, format_f64(&mut NumBuf::new(), dval));
                mk_reply { dval, ..reply }
            }
            ReplyRef::Nil | ReplyRef::NilArray => blank(MK_REPLY_NIL),
            ReplyRef::Array(items) => mk_reply { count: items.len(), ..blank(MK_REPLY_ARRAY) },
            ReplyRef::Map(items) => mk_reply { count: items.len(), ..blank(MK_REPLY_MAP) },
            ReplyRef::Set(items) => mk_reply { count: items.len(), ..blank(MK_REPLY_SET) },
            ReplyRef::Push(items) => mk_reply { count: items.len(), ..blank(MK_REPLY_PUSH) },
            ReplyRef::Attribute(items) => mk_reply { count: items.len(), ..blank(MK_REPLY_ATTR) },
        }
    }
    fn has_text(&self) -> bool {
        matches!(
            self.kind,
            MK_REPLY_STRING
                | MK_REPLY_STATUS
                | MK_REPLY_ERROR
                | MK_REPLY_BIGNUM
                | MK_REPLY_VERB
                | MK_REPLY_DOUBLE
        )
    }
}

/// Reads a field of a reply; the other value for NULL.
///
/// # Safety
/// `reply` is NULL or a living reply.
unsafe fn field<T>(reply: *const mk_reply, none: T, read: impl FnOnce(&mk_reply) -> T) -> T {
    // SAFETY: the caller says that it lives; replies never change.
    unsafe { reply.as_ref() }.map_or(none, read)
}

/// What kind of reply it is (`MK_REPLY_...`): as with RESP3, whatever HELLO chose. `MK_REPLY_NONE` for NULL.
///
/// # Safety
/// `reply` is NULL or a living reply; so for each function on replies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_type(reply: *const mk_reply) -> c_int {
    // SAFETY: as promised to this function.
    unsafe { field(reply, MK_REPLY_NONE, |reply| reply.kind) }
}

/// The number of an integer, 1 or 0 for a boolean; 0 for all else.
///
/// # Safety
/// As `mk_reply_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_integer(reply: *const mk_reply) -> i64 {
    // SAFETY: as promised to this function.
    unsafe { field(reply, 0, |reply| reply.integer) }
}

/// The number of a double; 0 for all else.
///
/// # Safety
/// As `mk_reply_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_dval(reply: *const mk_reply) -> f64 {
    // SAFETY: as promised to this function.
    unsafe { field(reply, 0.0, |reply| reply.dval) }
}

/// The bytes of a string, status, error, double, big number or verbatim text; NULL for all else. They may hold NULs, so
/// `mk_reply_len` counts them, and one more NUL stands behind them. Valid as long as the whole reply.
///
/// # Safety
/// As `mk_reply_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_str(reply: *const mk_reply) -> *const c_char {
    // SAFETY: as promised to this function.
    unsafe { field(reply, ptr::null(), |reply| reply.text) }
}

/// How many bytes `mk_reply_str` gives; 0 where it gives NULL.
///
/// # Safety
/// As `mk_reply_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_len(reply: *const mk_reply) -> usize {
    // SAFETY: as promised to this function.
    unsafe { field(reply, 0, |reply| reply.len) }
}

/// How many elements an array, set or push message has, twice the pairs of a map; 0 for all else.
///
/// # Safety
/// As `mk_reply_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_elements(reply: *const mk_reply) -> usize {
    // SAFETY: as promised to this function.
    unsafe { field(reply, 0, |reply| reply.count) }
}

/// An element, from 0 on; NULL when there is none. It belongs to the whole reply: valid as long, never freed itself.
///
/// # Safety
/// As `mk_reply_type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_element(reply: *const mk_reply, index: usize) -> *const mk_reply {
    // SAFETY: as promised to this function.
    let (first, count) = unsafe { field(reply, (ptr::null(), 0), |reply| (reply.elements, reply.count)) };
    if index < count { first.wrapping_add(index) } else { ptr::null() }
}

/// Frees a reply with all its elements; NULL is ignored. An element alone is refused: nothing happens but that
/// `mk_last_error` says so.
///
/// # Safety
/// `reply` came from `mk_call` (or is an element of what did), was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mk_reply_free(reply: *mut mk_reply) {
    let _ = entry(|| {
        // SAFETY: the caller says that it lives.
        match unsafe { field(reply, None, |reply| Some(reply.is_whole)) } {
            None => {}
            Some(false) => {
                return Err(Fault(MK_ERR_USAGE, "an element belongs to its reply; free that instead".into()));
            }
            // SAFETY: `mk_call` made it with Box::into_raw of a Whole, whose first field this is.
            Some(true) => drop(unsafe { Box::from_raw(reply.cast::<Whole>()) }),
        }
        Ok(())
    });
}
