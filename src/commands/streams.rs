//! Streams: adding, listing, deleting and trimming entries. Their options are read in `stream_options`, XREAD is in
//! `stream_reads`, groups are in `stream_groups` and `stream_claims`; the value structure is `value::stream`.

use super::stream_options::{NewId, Rules, TrimOptions, XaddOptions, range_end, range_start, strict_id};
use crate::command::args::{Args, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::value::Value;
use crate::value::stream::{Entry, Stream, StreamId, Trim};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "xadd",
        usage: "XADD key [NOMKSTREAM@6.2.0] trim=[strategy=(MAXLEN|MINID@6.2.0) operator=[equal==|approximately=~] threshold [LIMIT count@6.2.0]] id_or_auto=(auto_id=*|id) field_value=(field value)...",
        summary: "Appends a new entry to a stream",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1) when adding a new entry, O(N) when trimming where N being the number of entries evicted.",
        history: &[
            ("6.2.0", "Added the `NOMKSTREAM` option, `MINID` trimming strategy and the `LIMIT` option."),
            ("7.0.0", "Added support for the `<ms>-*` explicit ID form."),
        ],
        flags: WRITE | DENYOOM | FAST,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RW | UPDATE).note("UPDATE instead of INSERT because of the optional trimming feature")],
        run: xadd,
        ..Spec::BASE
    },
    Spec {
        name: "xdel",
        usage: "XDEL key id...",
        summary: "Removes the specified entries from the stream. Returns the number of items actually deleted, that may be different from the number of IDs passed in case certain IDs do not exist.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1) for each single item to delete in the stream, regardless of the stream size.",
        flags: WRITE | FAST,
        keys: &[at(1, RW | DELETE)],
        run: xdel,
        ..Spec::BASE
    },
    Spec {
        name: "xlen",
        usage: "XLEN key",
        summary: "Return the number of entries in a stream",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: xlen,
        ..Spec::BASE
    },
    Spec {
        name: "xrange",
        usage: "XRANGE key start<string> end<string> [COUNT count]",
        summary: "Return a range of elements in a stream, with IDs matching the specified IDs interval",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(N) with N being the number of elements being returned. If N is constant (e.g. always asking for the first 10 elements with COUNT), you can consider it O(1).",
        history: &[("6.2.0", "Added exclusive ranges.")],
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: xrange,
        ..Spec::BASE
    },
    Spec {
        name: "xrevrange",
        usage: "XREVRANGE key end<string> start<string> [COUNT count]",
        summary: "Return a range of elements in a stream, with IDs matching the specified IDs interval, in reverse order (from greater to smaller IDs) compared to XRANGE",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(N) with N being the number of elements returned. If N is constant (e.g. always asking for the first 10 elements with COUNT), you can consider it O(1).",
        history: &[("6.2.0", "Added exclusive ranges.")],
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: xrevrange,
        ..Spec::BASE
    },
    Spec {
        name: "xsetid",
        usage: "XSETID key last-id [ENTRIESADDED entries_added@7.0.0] [MAXDELETEDID max_deleted_entry_id@7.0.0]",
        summary: "An internal command for replicating stream values",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(1)",
        history: &[("7.0.0", "Added the `entries_added` and `max_deleted_entry_id` arguments.")],
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: xsetid,
        ..Spec::BASE
    },
    Spec {
        name: "xtrim",
        usage: "XTRIM key trim=(strategy=(MAXLEN|MINID@6.2.0) operator=[equal==|approximately=~] threshold [LIMIT count@6.2.0])",
        summary: "Trims the stream to (approximately if '~' is passed) a certain size",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(N), with N being the number of evicted entries. Constant times are very small however, since entries are organized in macro nodes containing multiple entries that can be released with a single deallocation.",
        history: &[("6.2.0", "Added the `MINID` trimming strategy and the `LIMIT` option.")],
        flags: WRITE,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RW | DELETE)],
        run: xtrim,
        ..Spec::BASE
    },
];

/// The stream at a key, for reading.
pub(super) fn read_stream<'a>(cx: &'a mut Ctx<'_>, key: &[u8]) -> Result<Option<&'a Stream>, Failure> {
    cx.read(key).map(|entry| entry.value().as_stream()).transpose()
}

fn rules(cx: &Ctx<'_>) -> Rules {
    let node_max_entries = cx.state.config.stream_node_max_entries as usize;
    Rules { node_max_entries, replays: cx.session().replays }
}

fn xadd(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let limits = cx.state.config.stream_limits();
    let mut args = Args::new(argv, 2);
    let options = XaddOptions::parse(&mut args, &rules(cx))?;
    let pairs = args.rest();
    if pairs.is_empty() || pairs.len() % 2 == 1 {
        return Err(Failure::Arity("xadd".to_owned()));
    }
    if options.id == NewId::Given(StreamId::MIN) {
        return Err(Failure::ZERO_ID);
    }
    let now_ms = cx.now_ms();
    if options.nomkstream && !cx.has(argv[1]) {
        out.nil();
        return Ok(Flow::Done);
    }
    let mut edit = cx.edit_or(argv[1], || Value::Stream(Default::default()));
    let id = new_id(edit.value().as_stream()?, options.id, now_ms)?;
    let stream = edit.value_mut().as_stream_mut()?;
    stream.append(id, pairs, &limits);
    let trimmed = trim(stream, &options.trim);
    let left = (stream.len(), stream.first_block_id());
    edit.commit(Event::stream("xadd"));
    if trimmed > 0 {
        cx.notify(argv[1], Event::stream("xtrim"));
    }
    out.bulk_display(id);
    if cx.has_journal() {
        let id = (!matches!(options.id, NewId::Given(_))).then_some((options.id_at, id));
        propagate_exact(cx, argv, &options.trim, left, id);
    }
    Ok(Flow::Done)
}

/// The ID of a new entry, as asked for.
fn new_id(stream: &Stream, wanted: NewId, now_ms: i64) -> Result<StreamId, Failure> {
    let last = stream.last_id();
    if last == StreamId::MAX {
        return Err(Failure::STREAM_EXHAUSTED);
    }
    let id = match wanted {
        NewId::Auto => stream.next_id(now_ms.max(0) as u64),
        // The server's text for an exhausted millisecond.
        NewId::AutoSeq(ms) if ms == last.ms => match last.seq.checked_add(1) {
            Some(seq) => Some(StreamId::new(ms, seq)),
            None => return Err(Failure::ELEMENTS_TOO_LARGE),
        },
        NewId::AutoSeq(ms) => Some(StreamId::new(ms, 0)),
        NewId::Given(id) => Some(id),
    };
    id.filter(|id| *id > last).ok_or(Failure::ID_TOO_SMALL)
}

fn trim(stream: &mut Stream, options: &TrimOptions) -> usize {
    options.trim.map_or(0, |trim| stream.trim(trim, options.approximate, options.limit))
}

/// Tells what was done in exact words: an approximate trim as an exact one to what is left, a made ID as it is.
fn propagate_exact(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    options: &TrimOptions,
    (len, first_block_id): (usize, StreamId),
    id: Option<(usize, StreamId)>,
) {
    let threshold = match options.trim {
        Some(Trim::MinId(_)) => first_block_id.to_string(),
        _ => len.to_string(),
    };
    let mut words = argv.to_vec();
    if options.approximate {
        words[options.threshold_at - 1] = b"=";
        words[options.threshold_at] = threshold.as_bytes();
    }
    let id = id.map(|(at, id)| (at, id.to_string()));
    if let Some((at, id)) = &id {
        words[*at] = id.as_bytes();
    }
    cx.propagate(&words);
}

fn xtrim(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = TrimOptions::parse(&mut Args::new(argv, 2), &rules(cx))?;
    let Some(mut edit) = cx.edit(argv[1]) else {
        out.int(0);
        return Ok(Flow::Done);
    };
    edit.value().as_stream()?;
    let stream = edit.value_mut().as_stream_mut()?;
    let removed = trim(stream, &options);
    let left = (stream.len(), stream.first_block_id());
    edit.commit_removal(removed, Event::stream("xtrim"));
    out.int(removed as i64);
    if removed > 0 && options.approximate {
        propagate_exact(cx, argv, &options, left, None);
    }
    Ok(Flow::Done)
}

fn xdel(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut removed = 0;
    if let Some(mut edit) = cx.edit(argv[1]) {
        edit.value().as_stream()?;
        for word in &argv[2..] {
            strict_id(word, 0)?;
        }
        let stream = edit.value_mut().as_stream_mut()?;
        let ids = argv[2..].iter().filter_map(|word| strict_id(word, 0).ok());
        removed = ids.filter(|id| stream.delete(*id)).count();
        edit.commit_removal(removed, Event::stream("xdel"));
    }
    out.int(removed as i64);
    Ok(Flow::Done)
}

fn xlen(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let len = read_stream(cx, argv[1])?.map_or(0, Stream::len);
    out.int(len as i64);
    Ok(Flow::Done)
}

fn xrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (start, end) = (range_start(argv[2])?, range_end(argv[3])?);
    reply_range(cx, argv, (start, end), false, out)
}

fn xrevrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (start, end) = (range_start(argv[3])?, range_end(argv[2])?);
    reply_range(cx, argv, (start, end), true, out)
}

fn reply_range(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    (start, end): (StreamId, StreamId),
    rev: bool,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let mut args = Args::new(argv, 4);
    let mut count = usize::MAX;
    while let Some(word) = args.next() {
        if !is(word, "COUNT") {
            return Err(Failure::Syntax);
        }
        count = usize::try_from(args.int()?).unwrap_or(0);
    }
    let Some(stream) = read_stream(cx, argv[1])? else {
        out.array(0);
        return Ok(Flow::Done);
    };
    if count == 0 {
        out.nil_array();
        return Ok(Flow::Done);
    }
    let entries = stream.range(start, end);
    if rev {
        reply_entries(entries.rev(), count, out)
    } else {
        reply_entries(entries, count, out)
    }
    Ok(Flow::Done)
}

/// Up to `count` entries in an array.
pub(super) fn reply_entries<'a>(entries: impl Iterator<Item = Entry<'a>>, count: usize, out: &mut Reply) {
    let slot = out.deferred_array();
    let replied = entries.take(count).map(|entry| reply_entry(&entry, out)).count();
    out.close(slot, replied);
}

/// An entry as its ID and its fields with values.
pub(super) fn reply_entry(entry: &Entry<'_>, out: &mut Reply) {
    out.array(2);
    out.bulk_display(entry.id);
    out.array(entry.field_count() * 2);
    for (field, value) in entry.fields() {
        out.bulk(field);
        out.bulk(value);
    }
}

/// The options of XSETID.
#[derive(Default)]
struct XsetidOptions {
    entries_added: Option<u64>,
    max_deleted_id: StreamId,
}

impl XsetidOptions {
    fn parse(args: &mut Args<'_>, id: StreamId) -> Result<Self, Failure> {
        let mut options = XsetidOptions::default();
        while let Some(word) = args.next() {
            if is(word, "ENTRIESADDED") {
                let count = u64::try_from(args.int()?);
                let count = count.map_err(|_| Failure::NEGATIVE_ENTRIES_ADDED)?;
                options.entries_added = Some(count);
            } else if is(word, "MAXDELETEDID") {
                options.max_deleted_id = strict_id(args.word()?, 0)?;
                if id < options.max_deleted_id {
                    return Err(Failure::XSETID_BELOW_DELETED);
                }
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
}

fn xsetid(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let id = strict_id(argv[2], 0)?;
    let options = XsetidOptions::parse(&mut Args::new(argv, 3), id)?;
    let mut edit = cx.edit(argv[1]).ok_or(Failure::NoSuchKey)?;
    let stream = edit.value().as_stream()?;
    let last = stream.iter().next_back().map(|entry| entry.id);
    if last.is_some_and(|last| id < last) {
        return Err(Failure::XSETID_BELOW_TOP);
    }
    if options.entries_added.is_some_and(|count| count < stream.len() as u64) {
        return Err(Failure::XSETID_BELOW_LENGTH);
    }
    let stream = edit.value_mut().as_stream_mut()?;
    stream.set_last_id(id);
    if let Some(count) = options.entries_added {
        stream.set_entries_added(count);
    }
    if options.max_deleted_id != StreamId::MIN {
        stream.set_max_deleted_id(options.max_deleted_id);
    }
    edit.commit_unwatched(Event::stream("xsetid"));
    out.ok();
    Ok(Flow::Done)
}
