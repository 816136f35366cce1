//! What is wrong with a contract itself, and where.

/// A mistake in a contract, with its place in the text. `Display` gives `line:column: what is wrong; what is allowed`.
///
/// ```
/// let error = moonkeep::Contract::parse("--!contract c\n--!key stock integer\n").unwrap_err();
/// assert_eq!((error.line(), error.column()), (2, 14));
/// assert!(error.to_string().starts_with("2:14: \"integer\" is no type of a key; types are string, "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ContractError {
    line: usize,
    column: usize,
    message: String,
}

impl ContractError {
    /// The line of the mistake, from 1 on.
    pub fn line(&self) -> usize {
        self.line
    }
    /// The character of that line, from 1 on.
    pub fn column(&self) -> usize {
        self.column
    }
    /// What is wrong and what is allowed, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// A place in the text of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Position {
    pub(super) fn error(self, message: impl Into<String>) -> ContractError {
        ContractError { line: self.line, column: self.column, message: message.into() }
    }
}
