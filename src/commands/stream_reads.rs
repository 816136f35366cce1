//! XREAD and XREADGROUP: entries of several streams at once, new ones or those that a consumer was given before, and
//! waiting until there is one. Ranges of one stream are in `streams`; how a session waits is in `engine::blocking`.

use super::stream_claims::Claims;
use super::stream_options::strict_id;
use super::streams::{read_stream, reply_entries, reply_entry};
use crate::command::args::{Args, int, is};
use crate::command::blocking::{WaitOn, timeout_in_milliseconds};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin};
use crate::error::Failure;
use crate::reply::{Reply, Resp, Slot};
use crate::store::Event;
use crate::value::stream::{Stream, StreamId};
use crate::value::stream_groups::{Group as ConsumerGroup, Pending};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "xread",
        usage: "XREAD [COUNT count] [BLOCK milliseconds] STREAMS streams=(key... id...)",
        summary: "Return never seen elements in multiple streams, with IDs greater than the ones reported by the caller for each stream. Can block.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "For each stream mentioned: O(N) with N being the number of elements being returned, it means that XREAD-ing with a fixed COUNT is O(1). Note that when the BLOCK option is used, XADD will pay O(M) time in order to serve the M clients blocked on the stream getting new data.",
        flags: READONLY | BLOCKING,
        keys: &[after("STREAMS", 1, RO | ACCESS).range(-1, 1, 2)],
        run: xread,
        ..Spec::BASE
    },
    Spec {
        name: "xreadgroup",
        usage: "XREADGROUP GROUP group_consumer=(group consumer) [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS streams=(key... id...)",
        summary: "Return new entries from a stream using a consumer group, or access the history of the pending entries for a given consumer. Can block.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "For each stream mentioned: O(M) with M being the number of elements returned. If M is constant (e.g. always asking for the first 10 elements with COUNT), you can consider it O(1). On the other side when XREADGROUP blocks, XADD will pay the O(N) time in order to serve the N clients blocked on the stream getting new data.",
        flags: WRITE | BLOCKING,
        keys: &[after("STREAMS", 4, RO | ACCESS).range(-1, 1, 2)],
        run: xreadgroup,
        ..Spec::BASE
    },
];

/// How many entries at most a reader is given that had to wait and named no number.
const WAITED_COUNT: usize = 1000;
/// The ID that stands for `>`.
const NEW: StreamId = StreamId::MAX;

/// The arguments of XREAD and XREADGROUP.
struct ReadOptions<'a> {
    count: Option<usize>,
    /// BLOCK: the last instant of waiting, None in it to wait for ever.
    block: Option<Option<i64>>,
    /// The group and the consumer.
    group: Option<(&'a [u8], &'a [u8])>,
    noack: bool,
    keys: Argv<'a>,
    ids: Argv<'a>,
}

impl<'a> ReadOptions<'a> {
    fn parse(cx: &Ctx<'_>, argv: Argv<'a>, by_group: bool) -> Result<Self, Failure> {
        let mut options =
            ReadOptions { count: None, block: None, group: None, noack: false, keys: &[], ids: &[] };
        let mut args = Args::new(argv, 1);
        while let Some(word) = args.next() {
            if is(word, "BLOCK") && !args.is_done() {
                if cx.origin == Origin::Script {
                    return Err(Failure::block_in_script(argv[0]));
                }
                options.block = Some(timeout_in_milliseconds(cx, args.word()?)?);
            } else if is(word, "COUNT") && !args.is_done() {
                options.count = usize::try_from(int(args.word()?)?).ok().filter(|&count| count > 0);
            } else if is(word, "STREAMS") && !args.is_done() {
                let rest = args.rest();
                if !rest.len().is_multiple_of(2) {
                    return Err(Failure::UNBALANCED_STREAMS);
                }
                (options.keys, options.ids) = rest.split_at(rest.len() / 2);
                break;
            } else if is(word, "GROUP") && args.left() >= 2 {
                if !by_group {
                    return Err(Failure::GROUP_OF_XREAD);
                }
                options.group = Some((args.word()?, args.word()?));
            } else if is(word, "NOACK") {
                if !by_group {
                    return Err(Failure::NOACK_OF_XREAD);
                }
                options.noack = true;
            } else {
                return Err(Failure::Syntax);
            }
        }
        if options.keys.is_empty() {
            return Err(Failure::Syntax);
        }
        if by_group && options.group.is_none() {
            return Err(Failure::MISSING_GROUP);
        }
        Ok(options)
    }
    /// Behind which ID each stream is read; `NEW` for `>`.
    fn read_ids(&self, cx: &mut Ctx<'_>) -> Result<Vec<StreamId>, Failure> {
        let mut ids = Vec::with_capacity(self.keys.len());
        for (key, word) in self.keys.iter().zip(self.ids) {
            let stream = read_stream(cx, key)?;
            if let Some((group, _)) = self.group
                && stream.is_none_or(|stream| stream.group(group).is_none())
            {
                return Err(Failure::no_group_to_read(key, group));
            }
            ids.push(match () {
                () if is(word, "$") && self.group.is_some() => return Err(Failure::LAST_ID_OF_GROUP),
                () if is(word, "$") => stream.map_or(StreamId::MIN, Stream::last_id),
                () if is(word, ">") && self.group.is_none() => return Err(Failure::NEW_ID_OF_XREAD),
                () if is(word, ">") => NEW,
                () => strict_id(word, 0)?,
            });
        }
        Ok(ids)
    }
    /// How many entries of each stream.
    fn count(&self) -> usize {
        self.count.unwrap_or(usize::MAX)
    }
    /// How many entries for one who has waited.
    fn waited_count(&self) -> usize {
        self.count.unwrap_or(WAITED_COUNT)
    }
}

/// The reply of both commands: names of streams, each with its entries. Nothing is written before the first.
struct Streams {
    resp: Resp,
    open: Option<Slot>,
    count: usize,
}

impl Streams {
    fn new(cx: &Ctx<'_>) -> Self {
        Streams { resp: cx.resp(), open: None, count: 0 }
    }
    /// Begins a stream; its entries follow.
    fn begin(&mut self, key: &[u8], out: &mut Reply) {
        let nested = self.resp == Resp::V2;
        self.open.get_or_insert_with(|| if nested { out.deferred_array() } else { out.deferred_map() });
        if nested {
            out.array(2);
        }
        out.bulk(key);
        self.count += 1;
    }
    /// Ends the reply; false when there was no stream.
    fn end(self, out: &mut Reply) -> bool {
        if let Some(slot) = self.open {
            out.close(slot, self.count);
        }
        self.open.is_some()
    }
}

/// The ID of the last entry that is there.
fn last_entry_id(stream: &Stream) -> Option<StreamId> {
    stream.iter().next_back().map(|entry| entry.id)
}

/// The entries behind an ID.
fn reply_behind(stream: &Stream, after: StreamId, count: usize, out: &mut Reply) {
    match after.next() {
        Some(start) => reply_entries(stream.range(start, StreamId::MAX), count, out),
        None => out.array(0),
    }
}

fn xread(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = ReadOptions::parse(cx, argv, false)?;
    if let Some(key) = cx.session().woken_by.clone() {
        return read_woken(cx, argv, &options, &key, out);
    }
    let ids = options.read_ids(cx)?;
    let mut streams = Streams::new(cx);
    for (key, &after) in options.keys.iter().zip(&ids) {
        let Some(stream) = read_stream(cx, key)? else { continue };
        if last_entry_id(stream).is_some_and(|last| last > after) {
            streams.begin(key, out);
            reply_behind(stream, after, options.count(), out);
        }
    }
    if streams.end(out) {
        return Ok(Flow::Done);
    }
    Ok(wait_or_nil(cx, argv, &options, Some(&ids), out))
}

/// Nothing is there: the session waits if that was asked for, behind the IDs as they are now.
fn wait_or_nil(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    options: &ReadOptions<'_>,
    ids: Option<&[StreamId]>,
    out: &mut Reply,
) -> Flow {
    let Some(deadline_ms) = options.block.filter(|_| cx.can_block()) else {
        out.nil_array();
        return Flow::Done;
    };
    let on = if options.group.is_some() { WaitOn::Group } else { WaitOn::Stream };
    let ids: Vec<String> = ids.unwrap_or_default().iter().map(StreamId::to_string).collect();
    let mut words = argv.to_vec();
    let first = words.len() - options.ids.len();
    words.iter_mut().skip(first).zip(&ids).for_each(|(word, id)| *word = id.as_bytes());
    cx.wait(on, options.keys, deadline_ms, &words)
}

/// Serves one who waited for the stream at this key: what is behind its ID, be it deleted again.
fn read_woken(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    options: &ReadOptions<'_>,
    key: &[u8],
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let word = options.keys.iter().zip(options.ids).find(|(own, _)| **own == key).map(|(_, word)| word);
    let after = word.map_or(Ok(NEW), |word| strict_id(word, 0))?;
    let mut streams = Streams::new(cx);
    match read_stream(cx, key)?.filter(|stream| stream.last_id() > after) {
        Some(stream) => {
            streams.begin(key, out);
            reply_behind(stream, after, options.waited_count(), out);
            streams.end(out);
            Ok(Flow::Done)
        }
        None => Ok(wait_or_nil(cx, argv, options, None, out)),
    }
}

fn xreadgroup(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = ReadOptions::parse(cx, argv, true)?;
    // What it does is told in other words, or not at all.
    cx.propagate_nothing();
    if let Some(key) = cx.session().woken_by.clone() {
        return read_group_woken(cx, argv, &options, &key, out);
    }
    let ids = options.read_ids(cx)?;
    let (group, _) = options.group.unwrap_or_default();
    let mut streams = Streams::new(cx);
    for (key, &after) in options.keys.iter().zip(&ids) {
        let Some(stream) = read_stream(cx, key)? else { continue };
        let last_id = stream.group(group).map_or(StreamId::MAX, |group| group.last_id);
        if after != NEW {
            streams.begin(key, out);
            deliver(cx, key, &options, Some(after), options.count(), out)?;
        } else if last_entry_id(stream).is_some_and(|last| last > last_id) {
            streams.begin(key, out);
            deliver(cx, key, &options, None, options.count(), out)?;
        }
    }
    if streams.end(out) {
        return Ok(Flow::Done);
    }
    Ok(wait_or_nil(cx, argv, &options, None, out))
}

/// Serves a reader of a group that waited for the stream at this key.
fn read_group_woken(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    options: &ReadOptions<'_>,
    key: &[u8],
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let (group, _) = options.group.unwrap_or_default();
    let Some(stream) = read_stream(cx, key)? else { return Err(Failure::STREAM_GONE) };
    let last_id = stream.group(group).ok_or(Failure::GROUP_GONE)?.last_id;
    if stream.last_id() <= last_id {
        return Ok(wait_or_nil(cx, argv, options, None, out));
    }
    let mut streams = Streams::new(cx);
    streams.begin(key, out);
    deliver(cx, key, options, None, options.waited_count(), out)?;
    streams.end(out);
    Ok(Flow::Done)
}

/// Delivers entries of a stream to the consumer: new ones, or those behind an ID that it has not acknowledged.
fn deliver(
    cx: &mut Ctx<'_>,
    key: &[u8],
    options: &ReadOptions<'_>,
    history: Option<StreamId>,
    count: usize,
    out: &mut Reply,
) -> Result<(), Failure> {
    let (now_ms, mut claims) = (cx.now_ms(), Claims::new(cx));
    let (name, consumer) = options.group.unwrap_or_default();
    let Some(mut edit) = cx.edit(key) else { return Ok(()) };
    edit.value().as_stream()?;
    let stream = edit.value_mut().as_stream_mut()?;
    let read = stream.with_group(name, |stream, group| {
        let (number, is_new) = group.seen(consumer, now_ms);
        let Some(after) = history else {
            let to = (!options.noack).then_some(number);
            let is_moved = deliver_new(stream, group, to, count, now_ms, &mut claims, out);
            return (is_new, is_moved && options.noack);
        };
        let pending = pending_behind(group, number, after, count);
        deliver_again(stream, group, &pending, now_ms, &mut claims, out);
        (is_new, false)
    });
    let (is_new, is_moved) = read.unwrap_or_default();
    edit.commit_unwatched(is_new.then_some(Event::stream("xgroup-createconsumer")));
    // Where entries are delivered their claims tell of the consumer too. What a new one has not acknowledged is
    // nothing: the server tells nobody of it then, but a replay has to know.
    if is_new && (options.noack || history.is_some()) {
        cx.propagate(&[b"XGROUP", b"CREATECONSUMER", key, name, consumer]);
    }
    claims.tell(cx, key, name);
    if is_moved {
        Claims::tell_last_id(cx, key, name);
    }
    Ok(())
}

/// Delivers entries that the group has not read yet, to be acknowledged by a consumer if one is given; whether there
/// were any.
fn deliver_new(
    stream: &Stream,
    group: &mut ConsumerGroup,
    consumer: Option<u32>,
    count: usize,
    now_ms: i64,
    claims: &mut Claims,
    out: &mut Reply,
) -> bool {
    let slot = out.deferred_array();
    let mut delivered = 0;
    let start = group.last_id.next();
    let entries = start.into_iter().flat_map(|start| stream.range(start, StreamId::MAX));
    for entry in entries.take(count) {
        stream.note_read(group, entry.id);
        reply_entry(&entry, out);
        delivered += 1;
        if let Some(consumer) = consumer {
            let pending = Pending { consumer, delivered_at_ms: now_ms, deliveries: 1 };
            group.assign(entry.id, pending);
            claims.note(group, entry.id, &pending);
        }
    }
    out.close(slot, delivered);
    delivered > 0
}

/// What a consumer has not acknowledged, behind an ID.
fn pending_behind(group: &ConsumerGroup, consumer: u32, after: StreamId, count: usize) -> Vec<StreamId> {
    match (after.next(), group.consumer(consumer)) {
        (Some(start), Some(consumer)) => consumer.pending_from(start).take(count).collect(),
        _ => Vec::new(),
    }
}

/// Shows a consumer again what it was given. Of what is gone from the stream it sees the ID alone. The server tells nobody
/// that this counts as a delivery; a replay has to know.
fn deliver_again(
    stream: &Stream,
    group: &mut ConsumerGroup,
    pending: &[StreamId],
    now_ms: i64,
    claims: &mut Claims,
    out: &mut Reply,
) {
    out.array(pending.len());
    for &id in pending {
        if let Some(entry) = stream.get(id) {
            reply_entry(&entry, out);
            if let Some(pending) = group.deliver_again(id, now_ms) {
                claims.note(group, id, &pending);
            }
        } else {
            out.array(2);
            out.bulk_display(id);
            out.nil_array();
        }
    }
}
