//! Which replies only say that a command is not there yet. A case that meets one waits for the command instead of
//! failing; that no command goes missing is for the tests of COMMAND and of the reference to see.

use super::wire::Wire;

/// Whether moonkeep's reply only says that it lacks a command which the server has, or, naming itself, a part of one.
pub(crate) fn lacks_command(expected_is_unknown: bool, got: &Wire) -> bool {
    let Wire::Error(text) = got else { return false };
    let text = String::from_utf8_lossy(text);
    !expected_is_unknown && (is_unknown(&text) || text.contains("moonkeep"))
}

/// Whether an error text is the server's answer to an unknown command or subcommand.
pub(crate) fn is_unknown(text: &str) -> bool {
    let text = text.trim_start_matches('-').trim_start_matches("ERR ");
    ["unknown command", "unknown subcommand", "Unknown Redis command"]
        .iter()
        .any(|start| text.starts_with(start))
}
