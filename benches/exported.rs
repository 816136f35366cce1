//! The exported C functions, called by their addresses as a program in C calls them, so that no compiler looks through.

use std::ffi::{c_char, c_int, c_void};
use std::hint::black_box;

// The functions are part of the library that benches link; this names them as C does.
unsafe extern "C" {
    fn mk_engine_new() -> *mut c_void;
    fn mk_client_new(engine: *mut c_void) -> *mut c_void;
    fn mk_script_new(source: *const c_char, len: usize) -> *mut c_void;
    fn mk_call(
        client: *mut c_void,
        argc: c_int,
        argv: *const *const c_char,
        lens: *const usize,
    ) -> *mut c_void;
    fn mk_call_borrow(
        client: *mut c_void,
        argc: c_int,
        argv: *const *const c_char,
        lens: *const usize,
    ) -> *const c_void;
    fn mk_script_run_borrow(
        client: *mut c_void,
        script: *mut c_void,
        numkeys: c_int,
        argc: c_int,
        argv: *const *const c_char,
        lens: *const usize,
    ) -> *const c_void;
    fn mk_reply_type(reply: *const c_void) -> c_int;
    fn mk_reply_free(reply: *mut c_void);
}

/// `MK_REPLY_ERROR`.
const ERROR: c_int = 6;
/// `MK_REPLY_NONE`.
const NONE: c_int = 0;

type Call = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char, *const usize) -> *mut c_void;
type Borrow = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char, *const usize) -> *const c_void;
type Run = unsafe extern "C" fn(
    *mut c_void,
    *mut c_void,
    c_int,
    c_int,
    *const *const c_char,
    *const usize,
) -> *const c_void;

/// Words of a call as C passes them.
pub(crate) struct Words {
    argv: Vec<*const c_char>,
    lens: Vec<usize>,
}

impl Words {
    /// The words must outlive this.
    pub(crate) fn new(words: &[&str]) -> Words {
        Words {
            argv: words.iter().map(|word| word.as_ptr().cast()).collect(),
            lens: words.iter().map(|word| word.len()).collect(),
        }
    }
}

/// A client of an engine of its own; both live as long as the program.
pub(crate) struct Caller {
    client: *mut c_void,
    call: Call,
    borrow: Borrow,
    run: Run,
}

impl Caller {
    pub(crate) fn new() -> Caller {
        // SAFETY: the engine that was made is handed on.
        let client = unsafe { mk_client_new(mk_engine_new()) };
        assert!(!client.is_null());
        let (call, borrow, run): (Call, Borrow, Run) = (mk_call, mk_call_borrow, mk_script_run_borrow);
        Caller { client, call: black_box(call), borrow: black_box(borrow), run: black_box(run) }
    }
    pub(crate) fn script(&self, source: &str) -> *mut c_void {
        // SAFETY: the text is readable for its length.
        unsafe { mk_script_new(source.as_ptr().cast(), source.len()) }
    }
    pub(crate) fn call_borrow(&self, words: &Words) {
        // SAFETY: the client lives, and the words stand for as many texts as are counted.
        let reply = unsafe {
            (self.borrow)(self.client, words.lens.len() as c_int, words.argv.as_ptr(), words.lens.as_ptr())
        };
        look_at(reply);
    }
    pub(crate) fn run_borrow(&self, script: *mut c_void, numkeys: c_int, words: &Words) {
        let argc = words.lens.len() as c_int;
        // SAFETY: client and script live, and the words stand for as many texts as are counted.
        let reply = unsafe {
            (self.run)(self.client, script, numkeys, argc, words.argv.as_ptr(), words.lens.as_ptr())
        };
        look_at(reply);
    }
    pub(crate) fn call_and_free(&self, words: &Words) {
        // SAFETY: the client lives, the words stand for as many texts as are counted; the reply is freed once.
        unsafe {
            let reply =
                (self.call)(self.client, words.lens.len() as c_int, words.argv.as_ptr(), words.lens.as_ptr());
            assert_ne!(mk_reply_type(reply), ERROR);
            mk_reply_free(reply);
        }
    }
}

/// The reply is there, and no error.
fn look_at(reply: *const c_void) {
    // SAFETY: a reply that was just given, or NULL.
    let kind = unsafe { mk_reply_type(reply) };
    assert!(kind != ERROR && kind != NONE, "the call failed");
}
