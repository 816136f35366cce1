//! LATENCY: what took long and when (LATEST, HISTORY, GRAPH), what to do about it (DOCTOR), and for how long commands ran
//! (HISTOGRAM). The monitor is in `util::latency`, what is counted of commands in `command::stats`.

mod doctor;

use crate::command::spec::*;
use crate::command::table::Row;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::histogram::Histogram;
use crate::util::latency::{Sample, Series};
use crate::util::sparkline;

const BASE: Spec = Spec {
    since: "2.8.13",
    group: Group::Server,
    complexity: "O(1)",
    flags: ADMIN | NOSCRIPT | LOADING | STALE,
    tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
    ..Spec::BASE
};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "latency",
        usage: "LATENCY",
        summary: "A container for latency diagnostics commands",
        complexity: "Depends on subcommand.",
        flags: 0,
        tips: &[],
        ..BASE
    },
    Spec {
        name: "latency|doctor",
        usage: "LATENCY DOCTOR",
        summary: "Return a human readable latency analysis report.",
        run: latency_doctor,
        ..BASE
    },
    Spec {
        name: "latency|graph",
        usage: "LATENCY GRAPH event",
        summary: "Return a latency graph for the event.",
        run: latency_graph,
        ..BASE
    },
    Spec {
        name: "latency|help",
        usage: "LATENCY HELP",
        summary: "Show helpful text about the different subcommands.",
        flags: LOADING | STALE,
        tips: &[],
        run: latency_help,
        ..BASE
    },
    Spec {
        name: "latency|histogram",
        usage: "LATENCY HISTOGRAM [command...]",
        summary: "Return the cumulative distribution of latencies of a subset of commands or all.",
        since: "7.0.0",
        complexity: "O(N) where N is the number of commands with latency information being retrieved.",
        run: latency_histogram,
        ..BASE
    },
    Spec {
        name: "latency|history",
        usage: "LATENCY HISTORY event",
        summary: "Return timestamp-latency samples for the event.",
        run: latency_history,
        ..BASE
    },
    Spec {
        name: "latency|latest",
        usage: "LATENCY LATEST",
        summary: "Return the latest latency samples for all events.",
        run: latency_latest,
        ..BASE
    },
    Spec {
        name: "latency|reset",
        usage: "LATENCY RESET [event...]",
        summary: "Reset latency data for one or more events.",
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        run: latency_reset,
        ..BASE
    },
];

fn now_s(cx: &Ctx<'_>) -> i64 {
    cx.now_ms().div_euclid(1000)
}

fn latency_latest(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let all = cx.state.store.latency.series();
    out.array(all.len());
    for (event, series) in all {
        let (at_s, ms) = series.last();
        out.array(4);
        out.bulk(event.as_bytes());
        out.int(at_s);
        out.int(ms as i64);
        out.int(series.max_ms as i64);
    }
    Ok(Flow::Done)
}

fn latency_history(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let found = cx.state.store.latency.find(argv[2]);
    let samples: Vec<Sample> = found.map(|(_, series)| series.samples().collect()).unwrap_or_default();
    out.array(samples.len());
    for (at_s, ms) in samples {
        out.array(2);
        out.int(at_s);
        out.int(ms as i64);
    }
    Ok(Flow::Done)
}

fn latency_reset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let monitor = &mut cx.state.store.latency;
    let count = match &argv[2..] {
        [] => monitor.forget(None),
        events => events.iter().map(|event| monitor.forget(Some(event))).sum(),
    };
    out.int(count as i64);
    Ok(Flow::Done)
}

fn latency_graph(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let found = cx.state.store.latency.find(argv[2]);
    let (event, series) = found.ok_or_else(|| Failure::no_latency_samples(argv[2]))?;
    out.verbatim(*b"txt", graph(event, series, now_s(cx)).as_bytes());
    Ok(Flow::Done)
}

fn graph(event: &str, series: &Series, now_s: i64) -> String {
    let least = series.samples().map(|(_, ms)| ms).min().unwrap_or(0);
    let most = series.samples().map(|(_, ms)| ms).max().unwrap_or(0);
    let samples: Vec<_> = series.samples().map(|(at_s, ms)| (ms, ago(now_s - at_s))).collect();
    let head = format!("{event} - high {most} ms, low {least} ms (all time high {} ms)", series.max_ms);
    format!("{head}\n{}\n{}", "-".repeat(80), sparkline::draw(&samples))
}

/// How long ago something was, in the largest unit of which there is one.
fn ago(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn latency_doctor(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let report = doctor::report(&cx.state.store.latency, &cx.state.config, now_s(cx));
    out.verbatim(*b"txt", report.as_bytes());
    Ok(Flow::Done)
}

fn latency_histogram(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let map = out.deferred_map();
    let mut count = 0;
    for row in wanted(cx, &argv[2..]) {
        let histogram = cx.state.stats.command(row).histogram;
        if histogram.total() > 0 {
            out.bulk(row.spec.name.as_bytes());
            reply_histogram(&histogram, out);
            count += 1;
        }
    }
    out.close(map, count);
    Ok(Flow::Done)
}

/// The commands of these names, each with its subcommands, in the order in which they are asked for; all in order of name
/// when none is.
fn wanted(cx: &Ctx<'_>, names: &[&[u8]]) -> Vec<&'static Row> {
    let mut rows: Vec<&'static Row> = cx.state.table.rows().iter().collect();
    rows.sort_unstable_by_key(|row| row.spec.name);
    if names.is_empty() {
        return rows;
    }
    let of_name = |name: &&[u8]| {
        let name = name.to_ascii_lowercase();
        let is_meant = move |row: &&&'static Row| {
            let (container, subcommand) = row.spec.parts();
            *row.spec.name.as_bytes() == *name || (subcommand.is_some() && container.as_bytes() == name)
        };
        rows.iter().filter(is_meant).copied().collect::<Vec<_>>()
    };
    names.iter().flat_map(of_name).collect()
}

fn reply_histogram(histogram: &Histogram, out: &mut Reply) {
    let steps = histogram.cumulative();
    out.map(2);
    out.bulk(b"calls");
    out.int(histogram.total() as i64);
    out.bulk(b"histogram_usec");
    out.map(steps.len());
    for (us, count) in steps {
        out.int(us as i64);
        out.int(count as i64);
    }
}

fn latency_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "DOCTOR",
        "    Return a human readable latency analysis report.",
        "GRAPH <event>",
        "    Return an ASCII latency graph for the <event> class.",
        "HISTORY <event>",
        "    Return time-latency samples for the <event> class.",
        "LATEST",
        "    Return the latest latency samples for all events.",
        "RESET [<event> ...]",
        "    Reset latency data of one or more <event> classes.",
        "    (default: reset all data for all event classes)",
        "HISTOGRAM [COMMAND ...]",
        "    Return a cumulative distribution of latencies in the format of a histogram for the specified command names.",
        "    If no commands are specified then all histograms are replied.",
    ];
    help::reply(out, "LATENCY", LINES);
    Ok(Flow::Done)
}
