//! The commands, one file per family: the rows on top, the handlers below. HINCRBY is in `hashes`, EXPIRE in `expiry`.

mod acl;
mod bitfields;
mod bitmaps;
mod client;
mod cluster;
mod cluster_views;
mod configuration;
mod connection;
mod debug;
mod dump;
mod expiry;
pub(crate) mod functions;
mod geo;
mod geo_search;
mod hashes;
mod hyperloglog;
mod info;
mod introspection;
mod keys;
mod latency;
mod lcs;
mod list_moves;
mod lists;
mod lolwut;
mod memory;
mod modules;
mod monitor;
mod object;
mod pause;
mod persistence;
mod pubsub;
mod replication;
mod scan;
mod scripting;
mod server;
mod set_algebra;
mod sets;
mod slowlog;
mod sort;
mod stream_claims;
mod stream_groups;
mod stream_info;
mod stream_options;
mod stream_reads;
mod streams;
mod string_numbers;
mod string_options;
mod strings;
mod tracking;
mod transactions;
mod zset_algebra;
mod zset_pops;
mod zset_ranges;
mod zsets;

use crate::command::table::Table;
use std::sync::LazyLock;

/// All commands the engine has, with their descriptions.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::new(&[
            acl::SPECS,
            bitfields::SPECS,
            bitmaps::SPECS,
            client::SPECS,
            cluster::SPECS,
            cluster_views::SPECS,
            configuration::SPECS,
            connection::SPECS,
            debug::SPECS,
            dump::SPECS,
            expiry::SPECS,
            functions::SPECS,
            geo::SPECS,
            geo_search::SPECS,
            hashes::SPECS,
            hyperloglog::SPECS,
            info::SPECS,
            introspection::SPECS,
            keys::SPECS,
            latency::SPECS,
            lcs::SPECS,
            list_moves::SPECS,
            lists::SPECS,
            lolwut::SPECS,
            memory::SPECS,
            modules::SPECS,
            monitor::SPECS,
            object::SPECS,
            pause::SPECS,
            persistence::SPECS,
            pubsub::SPECS,
            replication::SPECS,
            scan::SPECS,
            scripting::SPECS,
            server::SPECS,
            set_algebra::SPECS,
            sets::SPECS,
            slowlog::SPECS,
            sort::SPECS,
            stream_claims::SPECS,
            stream_groups::SPECS,
            stream_info::SPECS,
            stream_reads::SPECS,
            streams::SPECS,
            string_numbers::SPECS,
            strings::SPECS,
            tracking::SPECS,
            transactions::SPECS,
            zset_algebra::SPECS,
            zset_pops::SPECS,
            zset_ranges::SPECS,
            zsets::SPECS,
        ])
    });
    &TABLE
}
