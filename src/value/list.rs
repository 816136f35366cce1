//! The list value.
