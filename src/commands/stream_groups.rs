//! Consumer groups: making and ending them and their consumers, acknowledging, and what is pending. Reading by a group
//! is in `stream_reads`, taking over from another consumer in `stream_claims`; the value is `value::stream_groups`.

use super::stream_options::{parse_id, range_end, range_start, strict_id};
use super::streams::read_stream;
use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Edit, Event};
use crate::value::Value;
use crate::value::stream::StreamId;
use crate::value::stream_groups::{Group as ConsumerGroup, Pending};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "xack",
        usage: "XACK key group id...",
        summary: "Marks a pending message as correctly processed, effectively removing it from the pending entries list of the consumer group. Return value of the command is the number of messages successfully acknowledged, that is, the IDs we were actually able to resolve in the PEL.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1) for each message ID processed.",
        flags: WRITE | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: xack,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup",
        usage: "XGROUP",
        summary: "A container for consumer groups commands",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "Depends on subcommand.",
        acl: acl::NONE,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup|create",
        usage: "XGROUP CREATE key groupname id=(id|new_id=$) [MKSTREAM] [ENTRIESREAD entries_read]",
        summary: "Create a consumer group.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        history: &[("7.0.0", "Added the `entries_read` named argument.")],
        flags: WRITE | DENYOOM,
        keys: &[at(2, RW | INSERT)],
        run: xgroup_create,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup|createconsumer",
        usage: "XGROUP CREATECONSUMER key groupname consumername",
        summary: "Create a consumer in a consumer group.",
        since: "6.2.0",
        group: Group::Stream,
        complexity: "O(1)",
        flags: WRITE | DENYOOM,
        keys: &[at(2, RW | INSERT)],
        run: xgroup_createconsumer,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup|delconsumer",
        usage: "XGROUP DELCONSUMER key groupname consumername",
        summary: "Delete a consumer from a consumer group.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        flags: WRITE,
        keys: &[at(2, RW | DELETE)],
        run: xgroup_delconsumer,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup|destroy",
        usage: "XGROUP DESTROY key groupname",
        summary: "Destroy a consumer group.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(N) where N is the number of entries in the group's pending entries list (PEL).",
        flags: WRITE,
        keys: &[at(2, RW | DELETE)],
        run: xgroup_destroy,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup|help",
        usage: "XGROUP HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: xgroup_help,
        ..Spec::BASE
    },
    Spec {
        name: "xgroup|setid",
        usage: "XGROUP SETID key groupname id=(id|new_id=$) [ENTRIESREAD entries_read]",
        summary: "Set a consumer group to an arbitrary last delivered ID value.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        history: &[("7.0.0", "Added the optional `entries_read` argument.")],
        flags: WRITE,
        keys: &[at(2, RW | UPDATE)],
        run: xgroup_setid,
        ..Spec::BASE
    },
    Spec {
        name: "xpending",
        usage: "XPENDING key group filters=[[IDLE min-idle-time<integer>@6.2.0] start<string> end<string> count [consumer]]",
        summary: "Return information and entries from a stream consumer group pending entries list, that are messages fetched but never acknowledged.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(N) with N being the number of elements returned, so asking for a small fixed number of entries per call is O(1). O(M), where M is the total number of entries scanned when used with the IDLE filter. When the command returns just the summary and the list of consumers is small, it runs in O(1) time; otherwise, an additional O(N) time for iterating every consumer.",
        history: &[("6.2.0", "Added the `IDLE` option and exclusive range intervals.")],
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: xpending,
        ..Spec::BASE
    },
];

/// What XGROUP CREATE and SETID are told behind the ID.
#[derive(Default)]
struct GroupOptions {
    mkstream: bool,
    entries_read: Option<i64>,
}

impl GroupOptions {
    fn parse(argv: Argv<'_>, creates: bool) -> Result<Self, Failure> {
        let mut options = GroupOptions::default();
        let mut args = Args::new(argv, 5);
        while let Some(word) = args.next() {
            if creates && is(word, "MKSTREAM") {
                options.mkstream = true;
            } else if is(word, "ENTRIESREAD") && !args.is_done() {
                options.entries_read = match args.int()? {
                    ..-1 => return Err(Failure::NEGATIVE_ENTRIES_READ),
                    -1 => None,
                    count => Some(count),
                };
            } else {
                return Err(Failure::wrong_subcommand("XGROUP", argv[1]));
            }
        }
        Ok(options)
    }
}

/// The stream of an XGROUP command, for changing.
fn edit_stream<'a>(cx: &'a mut Ctx<'_>, key: &[u8]) -> Result<Edit<'a>, Failure> {
    let edit = cx.edit(key).ok_or(Failure::XGROUP_WITHOUT_KEY)?;
    edit.value().as_stream()?;
    Ok(edit)
}

/// The stream of an XGROUP command on a group that has to be there.
fn edit_group<'a>(cx: &'a mut Ctx<'_>, argv: Argv<'_>) -> Result<Edit<'a>, Failure> {
    let edit = edit_stream(cx, argv[2])?;
    edit.value().as_stream()?.group(argv[3]).ok_or_else(|| Failure::no_group(argv[2], argv[3]))?;
    Ok(edit)
}

fn xgroup_create(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = GroupOptions::parse(argv, true)?;
    let last_id = match read_for_group(cx, argv[2])? {
        None if !options.mkstream => return Err(Failure::XGROUP_WITHOUT_KEY),
        last_id => last_id.unwrap_or_default(),
    };
    if argv.len() > 8 {
        return Err(Failure::wrong_subcommand("XGROUP", argv[1]));
    }
    let id = if is(argv[4], "$") { last_id } else { strict_id(argv[4], 0)? };
    let mut edit = cx.edit_or(argv[2], || Value::Stream(Default::default()));
    if edit.value().as_stream()?.group(argv[3]).is_some() {
        return Err(Failure::BUSY_GROUP);
    }
    edit.value_mut().as_stream_mut()?.create_group(argv[3], id, options.entries_read);
    let event = Event::stream("xgroup-create");
    if edit.is_new() {
        edit.commit(event)
    } else {
        edit.commit_unwatched(event)
    }
    out.ok();
    Ok(Flow::Done)
}

/// The last ID of the stream at a key.
fn read_for_group(cx: &mut Ctx<'_>, key: &[u8]) -> Result<Option<StreamId>, Failure> {
    let Some(edit) = cx.edit(key) else { return Ok(None) };
    Ok(Some(edit.value().as_stream()?.last_id()))
}

fn xgroup_setid(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = GroupOptions::parse(argv, false)?;
    let mut edit = edit_group(cx, argv)?;
    if !matches!(argv.len(), 5 | 7) {
        return Err(Failure::wrong_subcommand("XGROUP", argv[1]));
    }
    let id = if is(argv[4], "$") { edit.value().as_stream()?.last_id() } else { parse_id(argv[4], 0)? };
    edit.value_mut().as_stream_mut()?.with_group(argv[3], |_, group| {
        group.last_id = id;
        group.entries_read = options.entries_read;
    });
    edit.commit_unwatched(Event::stream("xgroup-setid"));
    out.ok();
    Ok(Flow::Done)
}

fn xgroup_destroy(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut edit = edit_stream(cx, argv[2])?;
    let is_there = edit.value().as_stream()?.group(argv[3]).is_some();
    if is_there {
        edit.value_mut().as_stream_mut()?.destroy_group(argv[3]);
        edit.commit_unwatched(Event::stream("xgroup-destroy"));
    }
    out.int(i64::from(is_there));
    Ok(Flow::Done)
}

fn xgroup_createconsumer(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let now_ms = cx.now_ms();
    let mut edit = edit_group(cx, argv)?;
    let is_new = edit.value().as_stream()?.group(argv[3]).is_some_and(|group| group.find(argv[4]).is_none());
    if is_new {
        edit.value_mut().as_stream_mut()?.with_group(argv[3], |_, group| group.add(argv[4], now_ms));
        edit.commit_unwatched(Event::stream("xgroup-createconsumer"));
    }
    out.int(i64::from(is_new));
    Ok(Flow::Done)
}

fn xgroup_delconsumer(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut edit = edit_group(cx, argv)?;
    let is_there =
        edit.value().as_stream()?.group(argv[3]).is_some_and(|group| group.find(argv[4]).is_some());
    let mut pending = None;
    if is_there {
        let stream = edit.value_mut().as_stream_mut()?;
        pending = stream.with_group(argv[3], |_, group| group.remove_consumer(argv[4])).flatten();
        edit.commit_unwatched(Event::stream("xgroup-delconsumer"));
    }
    out.int(pending.unwrap_or_default() as i64);
    Ok(Flow::Done)
}

fn xgroup_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let lines = [
        "CREATE <key> <groupname> <id|$> [option]",
        "    Create a new consumer group. Options are:",
        "    * MKSTREAM",
        "      Create the empty stream if it does not exist.",
        "    * ENTRIESREAD entries_read",
        "      Set the group's entries_read counter (internal use).",
        "CREATECONSUMER <key> <groupname> <consumer>",
        "    Create a new consumer in the specified group.",
        "DELCONSUMER <key> <groupname> <consumer>",
        "    Remove the specified consumer.",
        "DESTROY <key> <groupname>",
        "    Remove the specified group.",
        "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
        "    Set the current group ID and entries_read counter.",
    ];
    help::reply(out, "XGROUP", &lines);
    Ok(Flow::Done)
}

fn xack(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut acknowledged = 0;
    if read_stream(cx, argv[1])?.is_some_and(|stream| stream.group(argv[2]).is_some())
        && let ids = argv[3..].iter().map(|word| strict_id(word, 0)).collect::<Result<Vec<_>, _>>()?
        && let Some(mut edit) = cx.edit(argv[1])
    {
        let stream = edit.value_mut().as_stream_mut()?;
        let taken = stream.with_group(argv[2], |_, group| {
            ids.iter().filter(|id| group.acknowledge(**id).is_some()).count()
        });
        acknowledged = taken.unwrap_or_default();
        if acknowledged > 0 { edit.commit_unwatched(None) } else { edit.unchanged() }
    }
    out.int(acknowledged as i64);
    Ok(Flow::Done)
}

/// Which entries XPENDING lists.
struct PendingFilter<'a> {
    min_idle_ms: i64,
    start: StreamId,
    end: StreamId,
    count: usize,
    consumer: Option<&'a [u8]>,
}

impl<'a> PendingFilter<'a> {
    /// None when no range is given.
    fn parse(argv: Argv<'a>) -> Result<Option<Self>, Failure> {
        if argv.len() == 3 {
            return Ok(None);
        }
        if !(6..=9).contains(&argv.len()) {
            return Err(Failure::Syntax);
        }
        let (mut min_idle_ms, mut at) = (0, 3);
        if is(argv[3], "IDLE") {
            min_idle_ms = int(argv[4])?;
            if argv.len() < 8 {
                return Err(Failure::Syntax);
            }
            at = 5;
        }
        let count = usize::try_from(int(argv[at + 2])?).unwrap_or(0);
        let (start, end) = (range_start(argv[at])?, range_end(argv[at + 1])?);
        Ok(Some(PendingFilter { min_idle_ms, start, end, count, consumer: argv.get(at + 3).copied() }))
    }
}

fn xpending(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let filter = PendingFilter::parse(argv)?;
    let now_ms = cx.now_ms();
    let group = read_stream(cx, argv[1])?.and_then(|stream| stream.group(argv[2]));
    let group = group.ok_or_else(|| Failure::no_key_or_group(argv[1], argv[2]))?;
    match filter {
        None => summarise_pending(group, out),
        Some(filter) => list_pending(group, &filter, now_ms, out),
    }
    Ok(Flow::Done)
}

/// How many entries are pending, the first and the last, and how many with each consumer that has any.
fn summarise_pending(group: &ConsumerGroup, out: &mut Reply) {
    out.array(4);
    out.int(group.pending_len() as i64);
    let mut all = group.pending_in(StreamId::MIN..=StreamId::MAX);
    let Some((first, _)) = all.next() else {
        out.nil();
        out.nil();
        out.nil_array();
        return;
    };
    out.bulk_display(first);
    out.bulk_display(all.next_back().map_or(first, |(last, _)| last));
    let slot = out.deferred_array();
    let mut replied = 0;
    for consumer in group.consumers().filter(|consumer| consumer.pending_len() > 0) {
        out.array(2);
        out.bulk(consumer.name());
        out.bulk_int(consumer.pending_len() as i64);
        replied += 1;
    }
    out.close(slot, replied);
}

/// Single entries: who has them, for how long, and how often they were delivered.
fn list_pending(group: &ConsumerGroup, filter: &PendingFilter<'_>, now_ms: i64, out: &mut Reply) {
    let idle_ms = |pending: &Pending| now_ms.wrapping_sub(pending.delivered_at_ms);
    let is_listed = |pending: &Pending| filter.min_idle_ms == 0 || idle_ms(pending) >= filter.min_idle_ms;
    let slot = out.deferred_array();
    let listed = pending_of(group, filter).filter(|(_, pending)| is_listed(pending)).take(filter.count);
    let replied = listed.map(|(id, pending)| {
        out.array(4);
        out.bulk_display(id);
        out.bulk(group.owner(&pending));
        out.int(idle_ms(&pending).max(0));
        out.int(pending.deliveries as i64);
    });
    let replied = replied.count();
    out.close(slot, replied);
}

/// The entries of a range, of one consumer if it is named.
fn pending_of<'a>(
    group: &'a ConsumerGroup,
    filter: &PendingFilter<'_>,
) -> Box<dyn Iterator<Item = (StreamId, Pending)> + 'a> {
    let (start, end) = (filter.start, filter.end);
    let Some(name) = filter.consumer else {
        return Box::new(group.pending_in(start..=end).map(|(id, pending)| (id, *pending)));
    };
    let consumer = group.find(name).and_then(|number| group.consumer(number));
    let ids = consumer.into_iter().flat_map(move |consumer| consumer.pending_from(start));
    let ids = ids.take_while(move |id| *id <= end);
    Box::new(ids.filter_map(|id| Some((id, group.pending(id)?))))
}
