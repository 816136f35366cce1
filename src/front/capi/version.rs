//! Which library a program has met.

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
