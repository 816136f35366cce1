//! The hash value.
