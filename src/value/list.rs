//! The list value.

/// The list value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List;
