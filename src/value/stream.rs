//! The stream value.
