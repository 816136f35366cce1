//! The commands, one file per family: the rows on top, the handlers below. HINCRBY is in `hashes`, EXPIRE in `keys`.

mod introspection;
mod strings;

use crate::command::table::Table;
use std::sync::LazyLock;

/// All commands.
pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(&[introspection::SPECS, strings::SPECS]));
    &TABLE
}
