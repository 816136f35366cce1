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
mod version;
