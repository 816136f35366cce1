//! SLOWLOG: the commands that took long. What is logged when is in `command::observe`, the log itself in
//! `command::slowlog`.

use crate::command::slowlog::SlowCommand;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::num::parse_i64;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "slowlog",
        usage: "SLOWLOG",
        summary: "A container for slow log commands",
        since: "2.2.12",
        group: Group::Server,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "slowlog|get",
        usage: "SLOWLOG GET [count]",
        summary: "Get the slow log's entries",
        since: "2.2.12",
        group: Group::Server,
        complexity: "O(N) where N is the number of entries returned",
        history: &[("4.0.0", "Added client IP address, port and name to the reply.")],
        flags: ADMIN | LOADING | STALE,
        tips: &["request_policy:all_nodes", "nondeterministic_output"],
        run: slowlog_get,
        ..Spec::BASE
    },
    Spec {
        name: "slowlog|help",
        usage: "SLOWLOG HELP",
        summary: "Show helpful text about the different subcommands",
        since: "6.2.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: slowlog_help,
        ..Spec::BASE
    },
    Spec {
        name: "slowlog|len",
        usage: "SLOWLOG LEN",
        summary: "Get the slow log's length",
        since: "2.2.12",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | LOADING | STALE,
        tips: &["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
        run: slowlog_len,
        ..Spec::BASE
    },
    Spec {
        name: "slowlog|reset",
        usage: "SLOWLOG RESET",
        summary: "Clear all entries from the slow log",
        since: "2.2.12",
        group: Group::Server,
        complexity: "O(N) where N is the number of entries in the slowlog",
        flags: ADMIN | LOADING | STALE,
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        run: slowlog_reset,
        ..Spec::BASE
    },
];

fn slowlog_get(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const COUNT: usize = 10;
    if argv.len() > 3 {
        return Err(Failure::wrong_subcommand("SLOWLOG", argv[1]));
    }
    let count = match argv.get(2) {
        None => COUNT,
        Some(word) => match parse_i64(word) {
            Some(-1) => usize::MAX,
            Some(count @ 0..) => usize::try_from(count).unwrap_or(usize::MAX),
            _ => return Err(Failure::BAD_SLOWLOG_COUNT),
        },
    };
    let log = &cx.state.slow_log;
    out.array(log.len().min(count));
    log.iter().take(count).for_each(|entry| tell(entry, out));
    Ok(Flow::Done)
}

fn tell(entry: &SlowCommand, out: &mut Reply) {
    out.array(6);
    out.int(entry.id as i64);
    out.int(entry.at_s);
    out.int(entry.duration_us as i64);
    out.array(entry.argv.len());
    entry.argv.iter().for_each(|word| out.bulk(word));
    out.bulk(entry.address.as_bytes());
    out.bulk(&entry.name);
}

fn slowlog_len(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.state.slow_log.len() as i64);
    Ok(Flow::Done)
}

fn slowlog_reset(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.slow_log.clear();
    out.ok();
    Ok(Flow::Done)
}

fn slowlog_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "GET [<count>]",
        "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
        "    Entries are made of:",
        "    id, timestamp, time in microseconds, arguments array, client IP and port,",
        "    client name",
        "LEN",
        "    Return the length of the slowlog.",
        "RESET",
        "    Reset the slowlog.",
    ];
    help::reply(out, "SLOWLOG", LINES);
    Ok(Flow::Done)
}
