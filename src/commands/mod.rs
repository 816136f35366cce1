//! The commands, one file per family: the rows on top, the handlers below. HINCRBY is in `hashes`, EXPIRE in `expiry`.

mod expiry;
mod introspection;
mod keys;
mod object;
mod scan;
mod strings;

use crate::command::table::Table;
use std::sync::LazyLock;

/// All commands.
pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::new(&[
            expiry::SPECS,
            keys::SPECS,
            object::SPECS,
            scan::SPECS,
            introspection::SPECS,
            strings::SPECS,
        ])
    });
    &TABLE
}
