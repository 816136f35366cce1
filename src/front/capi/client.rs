//! Sessions: calls with the caller's own reply or the client's, calls that wait and are polled, messages, traces.

use super::border::{Entered, Gate, Lengths, Out, Words, free, give, give_reply};
use super::engine::mk_engine;
use super::fault::{Fault, MK_ERR_BUSY, MK_ERR_CLOSED, Needed, code, entry};
use super::reply::{give_or_null, mk_reply};
use super::tree::Tree;
use crate::engine::Client;
use crate::error::Error;
use crate::reply::Reply;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A client keeps the memory of replies up to this size for the next call.
const KEPT_BYTES: usize = 1 << 20;

/// A session in an engine, as a connection is on a server: it has its own database number, transaction and watched
/// keys. One thread at a time may use it; it may move from thread to thread.
pub struct mk_client {
    session: Gate<Session>,
    open: Arc<AtomicBool>,
}

/// What a client changes in a call.
pub(super) struct Session {
    pub(super) client: Client,
    /// The reply of the last call.
    pub(super) tape: Reply,
    /// The same as C reads it, where it borrows it.
    shown: Tree,
    /// The reply on the tape is that of a call that `mk_start` began, and was not fetched.
    is_begun: bool,
}

impl mk_client {
    /// The session, for one call.
    #[inline]
    pub(super) fn enter(&self) -> Result<Entered<'_, Session>, Fault> {
        let Some(session) = self.session.enter() else { return Err(busy()) };
        if self.open.load(Ordering::Acquire) { Ok(session) } else { Err(closed()) }
    }
}

#[cold]
fn busy() -> Fault {
    Fault(MK_ERR_BUSY, "the client is inside another call; use one client a thread".into())
}

#[cold]
fn nameless() -> Fault {
    Fault::usage("argc is 0; a call has at least the name of a command")
}

#[cold]
fn closed() -> Fault {
    Fault(MK_ERR_CLOSED, "the engine of this client was freed".into())
}

impl Session {
    /// The reply of the last call is no longer asked for.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.is_begun = false;
        if self.tape.memory_bytes() > KEPT_BYTES {
            self.forget_memory();
        }
    }
    #[cold]
    fn forget_memory(&mut self) {
        (self.tape, self.shown) = (Reply::new(), Tree::new());
    }
    /// Runs a command; its reply is on the tape.
    #[inline]
    pub(super) fn run(&mut self, words: &[&[u8]]) -> Result<(), Fault> {
        Ok(self.client.submit(words, &mut self.tape)?)
    }
    /// An error that is an error reply goes where replies go.
    pub(super) fn settle<T>(&mut self, result: Result<T, Error>, otherwise: T) -> Result<T, Fault> {
        match result {
            Err(error) if error.is_reply() => {
                self.tape.clear();
                self.tape.error_text(error.reply_text().unwrap_or_default());
                Ok(otherwise)
            }
            result => Ok(result?),
        }
    }
    /// The reply as C reads it until the next call.
    #[inline]
    pub(super) fn show(&mut self) -> *const mk_reply {
        self.shown.show(&mut self.tape)
    }
}

/// Does something in a session with the words of a call; at least one when there are none of our own.
#[inline(always)]
pub(super) fn with_words<'a, T>(
    client: Option<&mk_client>,
    own: &[&'a [u8]],
    (argc, argv, argvlen): (c_int, Words<'a>, Lengths<'a>),
    act: impl FnOnce(&mut Session, &mut [&'a [u8]]) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let client = client.needed("client")?;
    argv.with(own, argc, argvlen, |words| {
        if words.is_empty() {
            return Err(nameless());
        }
        let mut session = client.enter()?;
        session.forget();
        act(&mut session, words)
    })
}

/// Opens a session in an engine. Owned by the caller: `mk_client_free`, before or after the engine is freed. NULL on
/// failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_client_new(engine: Option<&mk_engine>) -> *mut mk_client {
    let client = entry(|| {
        let engine = engine.needed("engine")?;
        let client = engine.engine.try_client()?;
        let session = Session { client, tape: Reply::new(), shown: Tree::new(), is_begun: false };
        Ok(mk_client { session: Gate::new(session), open: engine.open.clone() })
    });
    give(client.ok())
}

/// Closes and frees a session; NULL is ignored. Replies that `mk_call` gave stay valid; the one that `mk_call_borrow` gave
/// last does not. What is not a living client is refused, as far as it can be told: `MK_ERR_USAGE` in
/// `mk_last_error_code`. No other thread uses the client.
#[unsafe(no_mangle)]
pub extern "C" fn mk_client_free(client: *mut mk_client) {
    let _ = entry(|| free(client, "client"));
}

/// Runs a command: `argc` words (the name first) at `argv`, with their lengths at `argvlen`, so that a word may hold any
/// bytes, up to 512 MiB. `argvlen` may be NULL: then each word ends at its NUL. A word of length 0 may be NULL.
///
/// Gives the reply, owned by the caller: `mk_reply_free`. An error of the command or script is a reply too, of type
/// `MK_REPLY_ERROR`. A call that is answered several times, as SUBSCRIBE for each channel, gives an array of the answers;
/// one that is not answered (CLIENT REPLY OFF) a nil. NULL when the call was not made: `mk_last_error` says why, and
/// nothing was changed but after `MK_ERR_PANIC` or `MK_ERR_LOST`.
#[unsafe(no_mangle)]
pub extern "C" fn mk_call(
    client: Option<&mk_client>,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> *mut mk_reply {
    give_or_null(|| {
        with_words(client, &[], (argc, argv, argvlen), |session, words| {
            session.run(words)?;
            Ok(Tree::of(&session.tape))
        })
    })
}

/// As `mk_call`, but the reply belongs to the client: it is valid until the next function that is given this client, and
/// not freed. At steady state nothing is allocated for it, and a single string is not copied.
#[unsafe(no_mangle)]
pub extern "C" fn mk_call_borrow(
    client: Option<&mk_client>,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> *const mk_reply {
    let shown = entry(|| {
        with_words(client, &[], (argc, argv, argvlen), |session, words| {
            session.run(words)?;
            Ok(session.show())
        })
    });
    shown.unwrap_or(ptr::null())
}

/// Runs a command as `mk_call` does, and tells what it called: an array of its reply and a list with, for each
/// `redis.call` and `redis.pcall` of a script, in their order, an array of the words and what they were answered. Owned by
/// the caller: `mk_reply_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_trace(
    client: Option<&mk_client>,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> *mut mk_reply {
    give_or_null(|| {
        with_words(client, &[], (argc, argv, argvlen), |session, words| {
            let (reply, calls) = session.client.trace(&*words)?;
            let mut tape = Reply::new();
            tape.array(2);
            let answers = reply.values().count();
            if answers > 1 {
                tape.array(answers);
            }
            reply.values().for_each(|answer| tape.value(answer));
            if answers == 0 {
                tape.nil();
            }
            tape.array(calls.len());
            for call in &calls {
                tape.array(2);
                tape.array(call.argv.len());
                call.argv.iter().for_each(|word| tape.bulk(word));
                tape.value(call.reply.view());
            }
            Ok(Tree::of(&tape))
        })
    })
}

/// Begins a call that may have to wait (BLPOP, XREAD with BLOCK …) without stopping the thread; `mk_poll` fetches its reply.
/// Until then the client takes no other call, but `mk_cancel`; a reply that is there already is lost by another call.
/// `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_start(
    client: Option<&mk_client>,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> c_int {
    code(|| {
        with_words(client, &[], (argc, argv, argvlen), |session, words| {
            let begun = session.client.begin_call(&*words, &mut session.tape);
            session.is_begun = session.settle(begun, true)?;
            Ok(())
        })
    })
}

/// Fetches the reply of the call that `mk_start` began: `*reply` is owned by the caller (`mk_reply_free`), or NULL as long as
/// the call waits for another client or, on a manual clock, for `mk_advance_ms`. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_poll(
    client: Option<&mk_client>,
    reply: Option<&mut MaybeUninit<*mut mk_reply>>,
) -> c_int {
    answer(client, reply, |session, is_begun| {
        if is_begun {
            return Ok(Some(Tree::of(&session.tape)));
        }
        let finished = session.client.finish_call(None, &mut session.tape);
        Ok(session.settle(finished, true)?.then(|| Tree::of(&session.tape)))
    })
}

/// Gives up the call that `mk_start` began, with its reply if that is there. `MK_OK`, when there is none too, or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_cancel(client: Option<&mk_client>) -> c_int {
    code(|| {
        let mut session = client.needed("client")?.enter()?;
        session.forget();
        Ok(session.client.cancel_call()?)
    })
}

/// Takes the oldest message that was published to a channel or pattern of this client, which it subscribed to by a call:
/// `*message` is owned by the caller (`mk_reply_free`), or NULL when none has come. It is a push of `message`, channel and
/// payload, of `pmessage`, pattern, channel and payload, or of `smessage`, channel and payload. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_next_message(
    client: Option<&mk_client>,
    message: Option<&mut MaybeUninit<*mut mk_reply>>,
) -> c_int {
    answer(client, message, |session, _| {
        Ok(session.client.try_next_message()?.map(|message| Tree::of(&message.to_reply())))
    })
}

/// As `mk_next_message`, but waits for a message as a call that has to wait does: see `mk_options_blocking`.
#[unsafe(no_mangle)]
pub extern "C" fn mk_wait_message(
    client: Option<&mk_client>,
    message: Option<&mut MaybeUninit<*mut mk_reply>>,
) -> c_int {
    answer(client, message, |session, _| Ok(Some(Tree::of(&session.client.next_message()?.to_reply()))))
}

/// Writes what there is to be fetched, or NULL, where the caller wants it.
fn answer(
    client: Option<&mk_client>,
    out: Out<'_, *mut mk_reply>,
    fetch: impl FnOnce(&mut Session, bool) -> Result<Option<Box<Tree>>, Fault>,
) -> c_int {
    code(|| {
        let out = out.needed("the place of the reply")?.write(ptr::null_mut());
        let client = client.needed("client")?;
        let mut session = client.enter()?;
        let is_begun = std::mem::take(&mut session.is_begun);
        if let Some(tree) = fetch(&mut session, is_begun)? {
            *out = give_reply(tree);
        }
        Ok(())
    })
}
