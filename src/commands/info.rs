//! INFO: what the engine says about itself, in the server's sections and fields. What follows from calls, clock and seed
//! stands in the state; what only a process knows is zero unless a front serves the engine and tells it.

mod counters;
mod memory;
mod roles;

use crate::command::args::is;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use std::fmt::Write;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "info",
    usage: "INFO [section...]",
    summary: "Get information and statistics about the server",
    since: "1.0.0",
    group: Group::Server,
    complexity: "O(1)",
    history: &[("7.0.0", "Added support for taking multiple section arguments.")],
    acl: acl::DANGEROUS,
    flags: LOADING | STALE,
    tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
    run: info,
    ..Spec::BASE
}];

/// A section.
struct Section {
    name: &'static str,
    /// It is shown to who names none.
    by_default: bool,
    /// Writes its fields.
    write: fn(&Ctx<'_>, &mut Fields),
}

const fn section(name: &'static str, by_default: bool, write: fn(&Ctx<'_>, &mut Fields)) -> Section {
    Section { name, by_default, write }
}

/// In the server's order, whatever the order in which they are asked for.
const SECTIONS: &[Section] = &[
    section("Server", true, roles::server),
    section("Clients", true, roles::clients),
    section("Memory", true, memory::memory),
    section("Persistence", true, memory::persistence),
    section("Stats", true, counters::stats),
    section("Replication", true, roles::replication),
    section("CPU", true, roles::cpu),
    section("Modules", true, |_, _| {}),
    section("Commandstats", false, counters::commands),
    section("Errorstats", true, counters::errors),
    section("Latencystats", false, counters::latencies),
    section("Cluster", true, roles::cluster),
    section("Keyspace", true, memory::keyspace),
];

fn info(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let wanted = &argv[1..];
    let has = |name: &str| wanted.iter().any(|word| is(word, name));
    let (all, default) = (has("all") || has("everything"), wanted.is_empty() || has("default"));
    cx.state.note_peak();
    let mut fields = Fields::default();
    for Section { name, by_default, write } in SECTIONS {
        let is_list_of_modules = *name == "Modules" && has("module_list");
        if all || (default && *by_default) || has(name) || is_list_of_modules {
            fields.section(name);
            write(cx, &mut fields);
        }
    }
    out.verbatim(*b"txt", fields.0.as_bytes());
    Ok(Flow::Done)
}

/// The text, as it grows.
#[derive(Default)]
struct Fields(String);

impl Fields {
    fn section(&mut self, name: &str) {
        let separator = if self.0.is_empty() { "" } else { "\r\n" };
        let _ = write!(self.0, "{separator}# {name}\r\n");
    }
    fn add(&mut self, name: impl std::fmt::Display, value: impl std::fmt::Display) {
        let _ = write!(self.0, "{name}:{value}\r\n");
    }
    /// A size, and again the way people read it.
    fn add_bytes(&mut self, name: &str, bytes: u64) {
        self.add(name, bytes);
        self.add(format_args!("{name}_human"), human(bytes));
    }
}

/// A size with the largest unit that leaves it at least 1.
fn human(bytes: u64) -> String {
    const UNITS: [char; 5] = ['K', 'M', 'G', 'T', 'P'];
    let order = bytes.checked_ilog2().unwrap_or_default() as usize / 10;
    match order.checked_sub(1).and_then(|unit| UNITS.get(unit)) {
        Some(unit) => format!("{:.2}{unit}", bytes as f64 / (1u64 << (10 * order)) as f64),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn sizes_read_as_on_the_server() {
        let sizes = [0, 1023, 1024, 1536, 1 << 20, 3 << 30, 5 << 40, 1 << 50, 1 << 60];
        let texts = sizes.map(human);
        let expected =
            ["0B", "1023B", "1.00K", "1.50K", "1.00M", "3.00G", "5.00T", "1.00P", "1152921504606846976B"];
        assert_eq!(texts, expected);
    }
}
