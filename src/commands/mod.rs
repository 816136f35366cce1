//! The commands, one file per family: the rows on top, the handlers below. HINCRBY is in `hashes`, EXPIRE in `expiry`.

mod client;
mod configuration;
mod connection;
mod expiry;
mod info;
mod introspection;
mod keys;
mod lcs;
mod object;
mod scan;
mod scripting;
mod server;
mod string_numbers;
mod string_options;
mod strings;
mod transactions;

use crate::command::table::Table;
use std::sync::LazyLock;

/// All commands the engine has, with their descriptions.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::new(&[
            client::SPECS,
            configuration::SPECS,
            connection::SPECS,
            expiry::SPECS,
            info::SPECS,
            introspection::SPECS,
            keys::SPECS,
            lcs::SPECS,
            object::SPECS,
            scan::SPECS,
            server::SPECS,
            string_numbers::SPECS,
            scripting::SPECS,
            strings::SPECS,
            transactions::SPECS,
        ])
    });
    &TABLE
}
