//! The stream value.

/// The stream value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stream;
