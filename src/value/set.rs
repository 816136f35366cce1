//! The set value.
