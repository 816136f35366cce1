//! XINFO: what a stream, its groups and their consumers are like. Reads only; groups are changed in `stream_groups`,
//! `stream_claims` and `stream_reads`.

use super::streams::{read_stream, reply_entries, reply_entry};
use crate::command::args::{int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::value::stream::{Stream, StreamId};
use crate::value::stream_groups::{Consumer, Group as ConsumerGroup};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "xinfo",
        usage: "XINFO",
        summary: "A container for stream introspection commands",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "Depends on subcommand.",
        acl: acl::NONE,
        ..Spec::BASE
    },
    Spec {
        name: "xinfo|consumers",
        usage: "XINFO CONSUMERS key groupname",
        summary: "List the consumers in a consumer group",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(2, RO | ACCESS)],
        run: xinfo_consumers,
        ..Spec::BASE
    },
    Spec {
        name: "xinfo|groups",
        usage: "XINFO GROUPS key",
        summary: "List the consumer groups of a stream",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        history: &[("7.0.0", "Added the `entries-read` and `lag` fields")],
        flags: READONLY,
        keys: &[at(2, RO | ACCESS)],
        run: xinfo_groups,
        ..Spec::BASE
    },
    Spec {
        name: "xinfo|help",
        usage: "XINFO HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: xinfo_help,
        ..Spec::BASE
    },
    Spec {
        name: "xinfo|stream",
        usage: "XINFO STREAM key [FULL full=([COUNT count])]",
        summary: "Get information about a stream",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        history: &[
            ("6.0.0", "Added the `FULL` modifier."),
            (
                "7.0.0",
                "Added the `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag` fields",
            ),
        ],
        flags: READONLY,
        keys: &[at(2, RO | ACCESS)],
        run: xinfo_stream,
        ..Spec::BASE
    },
];

/// How many entries XINFO STREAM FULL shows unless told otherwise.
const FULL_COUNT: usize = 10;

fn xinfo_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let lines = [
        "CONSUMERS <key> <groupname>",
        "    Show consumers of <groupname>.",
        "GROUPS <key>",
        "    Show the stream consumer groups.",
        "STREAM <key> [FULL [COUNT <count>]",
        "    Show information about the stream.",
    ];
    help::reply(out, "XINFO", &lines);
    Ok(Flow::Done)
}

fn xinfo_consumers(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let now_ms = cx.now_ms();
    let stream = read_stream(cx, argv[2])?.ok_or(Failure::NoSuchKey)?;
    let group = stream.group(argv[3]).ok_or_else(|| Failure::no_group(argv[2], argv[3]))?;
    out.array(group.consumers_len());
    for consumer in group.consumers() {
        out.map(3);
        named_bulk(out, "name", consumer.name());
        named_int(out, "pending", consumer.pending_len() as i64);
        named_int(out, "idle", now_ms.wrapping_sub(consumer.seen_at_ms).max(0));
    }
    Ok(Flow::Done)
}

fn xinfo_groups(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let stream = read_stream(cx, argv[2])?.ok_or(Failure::NoSuchKey)?;
    out.array(stream.groups().len());
    for (name, group) in stream.groups() {
        out.map(6);
        named_bulk(out, "name", name);
        named_int(out, "consumers", group.consumers_len() as i64);
        named_int(out, "pending", group.pending_len() as i64);
        reply_progress(stream, group, out);
    }
    Ok(Flow::Done)
}

fn xinfo_stream(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let stream = read_stream(cx, argv[2])?.ok_or(Failure::NoSuchKey)?;
    match full_count(argv)? {
        Some(count) => reply_full(stream, count, out),
        None => reply_short(stream, out),
    }
    Ok(Flow::Done)
}

/// How many entries FULL shows; None without it.
fn full_count(argv: Argv<'_>) -> Result<Option<usize>, Failure> {
    match argv[3..] {
        [] => Ok(None),
        [full] if is(full, "FULL") => Ok(Some(FULL_COUNT)),
        [full, word, count] if is(full, "FULL") && is(word, "COUNT") => match int(count)? {
            0 => Ok(Some(usize::MAX)),
            count => Ok(Some(usize::try_from(count).unwrap_or(FULL_COUNT))),
        },
        _ => Err(Failure::wrong_subcommand("XINFO", argv[1])),
    }
}

fn reply_short(stream: &Stream, out: &mut Reply) {
    out.map(10);
    reply_counters(stream, out);
    named_int(out, "groups", stream.groups().len() as i64);
    let mut entries = stream.iter();
    for (name, entry) in [("first-entry", entries.next()), ("last-entry", stream.iter().next_back())] {
        out.bulk(name.as_bytes());
        match entry {
            Some(entry) => reply_entry(&entry, out),
            None => out.nil(),
        }
    }
}

fn reply_full(stream: &Stream, count: usize, out: &mut Reply) {
    out.map(9);
    reply_counters(stream, out);
    out.bulk(b"entries");
    reply_entries(stream.iter(), count, out);
    out.bulk(b"groups");
    out.array(stream.groups().len());
    for (name, group) in stream.groups() {
        out.map(7);
        named_bulk(out, "name", name);
        reply_progress(stream, group, out);
        named_int(out, "pel-count", group.pending_len() as i64);
        reply_pending(group, count, out);
        out.bulk(b"consumers");
        out.array(group.consumers_len());
        group.consumers().for_each(|consumer| reply_consumer(group, consumer, count, out));
    }
}

/// What both forms begin with.
fn reply_counters(stream: &Stream, out: &mut Reply) {
    named_int(out, "length", stream.len() as i64);
    named_int(out, "radix-tree-keys", stream.block_count() as i64);
    named_int(out, "radix-tree-nodes", stream.radix_node_count() as i64);
    named_id(out, "last-generated-id", stream.last_id());
    named_id(out, "max-deleted-entry-id", stream.max_deleted_id());
    named_int(out, "entries-added", stream.entries_added() as i64);
    named_id(out, "recorded-first-entry-id", stream.first_id());
}

/// How far a group has read.
fn reply_progress(stream: &Stream, group: &ConsumerGroup, out: &mut Reply) {
    named_id(out, "last-delivered-id", group.last_id);
    for (name, count) in [("entries-read", group.entries_read), ("lag", stream.lag(group))] {
        out.bulk(name.as_bytes());
        match count {
            Some(count) => out.int(count),
            None => out.nil(),
        }
    }
}

fn reply_pending(group: &ConsumerGroup, count: usize, out: &mut Reply) {
    out.bulk(b"pending");
    out.array(count.min(group.pending_len()));
    for (id, pending) in group.pending_in(StreamId::MIN..=StreamId::MAX).take(count) {
        out.array(4);
        out.bulk_display(id);
        out.bulk(group.owner(pending));
        out.int(pending.delivered_at_ms);
        out.int(pending.deliveries as i64);
    }
}

fn reply_consumer(group: &ConsumerGroup, consumer: &Consumer, count: usize, out: &mut Reply) {
    out.map(4);
    named_bulk(out, "name", consumer.name());
    named_int(out, "seen-time", consumer.seen_at_ms);
    named_int(out, "pel-count", consumer.pending_len() as i64);
    out.bulk(b"pending");
    out.array(count.min(consumer.pending_len()));
    for id in consumer.pending_from(StreamId::MIN).take(count) {
        let pending = group.pending(id);
        out.array(3);
        out.bulk_display(id);
        out.int(pending.map_or(0, |pending| pending.delivered_at_ms));
        out.int(pending.map_or(0, |pending| pending.deliveries as i64));
    }
}

fn named_bulk(out: &mut Reply, name: &str, value: &[u8]) {
    out.bulk(name.as_bytes());
    out.bulk(value);
}

fn named_int(out: &mut Reply, name: &str, value: i64) {
    out.bulk(name.as_bytes());
    out.int(value);
}

fn named_id(out: &mut Reply, name: &str, value: StreamId) {
    out.bulk(name.as_bytes());
    out.bulk_display(value);
}
