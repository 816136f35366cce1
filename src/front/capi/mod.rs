//! The C ABI. `include/moonkeep.h` is generated from the files of this folder (tests/capi puts it together from what
//! cbindgen makes of them and `command.h`): the comments on public items here are the C manual.
//!
//! An entry takes what C passes as types that say what the caller promises (`Option<&T>`, `Text`, `Words`), runs its body
//! under `fault::entry`, which keeps panics on this side and notes what failed, and gives a code, a value or NULL. Raw
//! memory is touched in `border` alone. Nothing here knows commands.
#![allow(unsafe_code, reason = "symbols are exported by name; blocks of unsafe code stand in `border` alone")]
#![allow(
    non_camel_case_types,
    unreachable_pub,
    reason = "the names are those of the header, and C reaches them"
)]

mod border;
mod client;
mod engine;
mod fault;
mod journal;
mod options;
mod reply;
mod script;
mod state;
mod tree;

use std::ffi::{c_char, c_int};

/// The version of this interface. A program checks once that `mk_abi_version() == MK_ABI_VERSION`: it grows when a
/// function changes or goes; what is only added leaves it as it is.
pub const MK_ABI_VERSION: c_int = 1;

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
