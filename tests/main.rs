//! The one integration test binary: each module is one kind of test.

mod allocations;
mod api;
mod blocking;
mod blocking_diff;
mod blocking_edges;
mod boundaries;
#[cfg(feature = "capi")]
mod capi;
mod checking;
#[cfg(feature = "cli")]
mod checking_cli;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod clients;
mod cluster;
mod contract_edges;
mod contract_many;
mod contracts;
mod corpus;
mod coverage;
mod debugging;
mod dependencies;
mod determinism;
#[cfg(feature = "server")]
mod diagnosis;
mod diff;
mod examples;
#[cfg(feature = "sim")]
mod exploring;
#[cfg(feature = "sim")]
mod exploring_code;
#[cfg(all(feature = "cli", feature = "sim"))]
mod exploring_files;
#[cfg(feature = "sim")]
mod exploring_sights;
#[cfg(feature = "sim")]
mod exploring_worlds;
mod functions;
mod fuzz_smoke;
mod hostile;
#[cfg(feature = "server")]
mod information;
mod interleaving;
mod introspection;
mod journal;
#[cfg(feature = "server")]
mod keeping;
mod keys;
mod language;
mod libraries;
mod library;
mod lint;
mod luadiff;
mod memory;
mod messaging;
mod observing;
#[cfg(feature = "server")]
mod observing_diff;
mod patterns;
mod payloads;
mod pubsub;
mod pubsub_diff;
mod rdb;
#[cfg(feature = "redis")]
mod redis_crate;
mod reference;
#[cfg(feature = "cli")]
mod repl;
mod replication;
mod reported;
mod scan;
mod scan_elements;
#[cfg(feature = "sim")]
mod scenarios;
mod scripts;
#[cfg(feature = "server")]
mod serving;
#[cfg(feature = "server")]
mod serving_bytes;
#[cfg(feature = "server")]
mod serving_limits;
#[cfg(feature = "server")]
mod serving_time;
mod settings;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod soak;
mod state;
mod support;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod terminal;
mod tidy;
mod users;
mod users_diff;
