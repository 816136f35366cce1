//! XCLAIM and XAUTOCLAIM: entries that one consumer of a group has not acknowledged go to another. How that and reading
//! by a group are told to a journal is here too. Groups themselves are in `stream_groups`.

use super::stream_options::{range_start, strict_id};
use super::streams::{read_stream, reply_entry};
use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;
use crate::util::bytes::Bytes;
use crate::util::num::parse_i64;
use crate::value::stream::{Stream, StreamId};
use crate::value::stream_groups::{Group as ConsumerGroup, Pending};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "xautoclaim",
        usage: "XAUTOCLAIM key group consumer min-idle-time start<string> [COUNT count] [JUSTID]",
        summary: "Changes (or acquires) ownership of messages in a consumer group, as if the messages were delivered to the specified consumer.",
        since: "6.2.0",
        group: Group::Stream,
        complexity: "O(1) if COUNT is small.",
        history: &[(
            "7.0.0",
            "Added an element to the reply array, containing deleted entries the command cleared from the PEL",
        )],
        flags: WRITE | FAST,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RW | DELETE)],
        run: xautoclaim,
        ..Spec::BASE
    },
    Spec {
        name: "xclaim",
        usage: "XCLAIM key group consumer min-idle-time id... [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]",
        summary: "Changes (or acquires) ownership of a message in a consumer group, as if the message was delivered to the specified consumer.",
        since: "5.0.0",
        group: Group::Stream,
        complexity: "O(log N) with N being the number of messages in the PEL of the consumer group.",
        flags: WRITE | FAST,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RW | UPDATE)],
        run: xclaim,
        ..Spec::BASE
    },
];

/// Changes of who has which entry, as they are told to a journal: nothing is kept when nobody reads it.
pub(super) struct Claims {
    claims: Option<Vec<Claim>>,
}

/// An entry is pending with a consumer, or was until it was found to be gone.
struct Claim {
    /// The ID, as the caller spelled it.
    id: Vec<u8>,
    consumer: Bytes,
    pending: Pending,
    last_id: StreamId,
}

impl Claims {
    pub(super) fn new(cx: &Ctx<'_>) -> Self {
        Claims { claims: cx.has_journal().then(Vec::new) }
    }
    /// An entry is pending now.
    pub(super) fn note(&mut self, group: &ConsumerGroup, id: StreamId, pending: &Pending) {
        if self.claims.is_some() {
            self.note_as(group, id.to_string().as_bytes(), pending);
        }
    }
    fn note_as(&mut self, group: &ConsumerGroup, id: &[u8], pending: &Pending) {
        if let Some(claims) = &mut self.claims {
            let (id, consumer) = (id.to_vec(), Bytes::from(group.owner(pending)));
            claims.push(Claim { id, consumer, pending: *pending, last_id: group.last_id });
        }
    }
    /// Whether the first one is told as a delivery by XREADGROUP is, which counts as read where it is replayed.
    fn begin_like_a_delivery(&self) -> bool {
        let first = self.claims.as_ref().and_then(|claims| claims.first());
        first.is_some_and(|claim| {
            claim.pending.deliveries == 1 && strict_id(&claim.id, 0).ok() == Some(claim.last_id)
        })
    }
    /// Tells what was noted.
    pub(super) fn tell(self, cx: &mut Ctx<'_>, key: &[u8], group: &[u8]) {
        for Claim { id, consumer, pending, last_id } in self.claims.into_iter().flatten() {
            let time = pending.delivered_at_ms.to_string();
            let (retries, last_id) = (pending.deliveries.cast_signed().to_string(), last_id.to_string());
            let start: [&[u8]; 8] = [b"XCLAIM", key, group, &consumer, b"0", &id, b"TIME", time.as_bytes()];
            let end: [&[u8]; 6] =
                [b"RETRYCOUNT", retries.as_bytes(), b"FORCE", b"JUSTID", b"LASTID", last_id.as_bytes()];
            cx.propagate(&[&start[..], &end[..]].concat());
        }
    }
    /// Tells how far a group has read.
    pub(super) fn tell_last_id(cx: &mut Ctx<'_>, key: &[u8], name: &[u8]) {
        if !cx.has_journal() {
            return;
        }
        let group = cx.look(key).and_then(|entry| entry.value().as_stream().ok()?.group(name));
        let Some(group) = group else { return };
        let (last_id, read) = (group.last_id.to_string(), group.entries_read.unwrap_or(-1).to_string());
        let words: [&[u8]; 5] = [b"XGROUP", b"SETID", key, name, last_id.as_bytes()];
        cx.propagate(&[&words[..], &[b"ENTRIESREAD", read.as_bytes()]].concat());
    }
}

/// What XCLAIM is told behind the consumer.
struct ClaimOptions<'a> {
    min_idle_ms: i64,
    /// The IDs, and how they are spelled.
    ids: Vec<(StreamId, &'a [u8])>,
    /// IDLE or TIME; now when it makes no sense.
    delivered_at_ms: i64,
    deliveries: Option<u64>,
    force: bool,
    justid: bool,
    last_id: StreamId,
}

impl<'a> ClaimOptions<'a> {
    fn parse(argv: Argv<'a>, now_ms: i64) -> Result<Self, Failure> {
        let mut options = ClaimOptions {
            min_idle_ms: parse_i64(argv[4]).ok_or(Failure::XCLAIM_MIN_IDLE)?.max(0),
            ids: Vec::with_capacity(argv.len() - 5),
            delivered_at_ms: now_ms,
            deliveries: None,
            force: false,
            justid: false,
            last_id: StreamId::MIN,
        };
        let parsed = argv[5..].iter().map_while(|word| Some((strict_id(word, 0).ok()?, *word)));
        options.ids.extend(parsed);
        let mut args = Args::new(argv, 5 + options.ids.len());
        while let Some(word) = args.next() {
            options.option(word, &mut args, now_ms)?;
        }
        if options.delivered_at_ms < 0 {
            options.delivered_at_ms = now_ms;
        }
        options.delivered_at_ms = options.delivered_at_ms.min(now_ms);
        Ok(options)
    }
    fn option(&mut self, word: &[u8], args: &mut Args<'_>, now_ms: i64) -> Result<(), Failure> {
        let has_argument = !args.is_done();
        let mut integer = |failure: Failure| parse_i64(args.word()?).ok_or(failure);
        if is(word, "FORCE") {
            self.force = true;
        } else if is(word, "JUSTID") {
            self.justid = true;
        } else if is(word, "IDLE") && has_argument {
            self.delivered_at_ms = now_ms.wrapping_sub(integer(Failure::XCLAIM_IDLE)?);
        } else if is(word, "TIME") && has_argument {
            self.delivered_at_ms = integer(Failure::XCLAIM_TIME)?;
        } else if is(word, "RETRYCOUNT") && has_argument {
            self.deliveries = u64::try_from(integer(Failure::XCLAIM_RETRYCOUNT)?).ok();
        } else if is(word, "LASTID") && has_argument {
            self.last_id = strict_id(args.word()?, 0)?;
        } else {
            return Err(Failure::xclaim_option(word));
        }
        Ok(())
    }
    /// Whether this is how a delivery by XREADGROUP is told: then it counts as read. What the server sends to a replica
    /// leaves that out.
    fn tells_a_delivery(&self) -> bool {
        let id = self.ids.first().map(|(id, _)| *id);
        self.ids.len() == 1
            && id == Some(self.last_id)
            && self.force
            && self.justid
            && self.deliveries == Some(1)
    }
}

/// Refuses a key without this group.
fn check_group(cx: &mut Ctx<'_>, key: &[u8], group: &[u8]) -> Result<(), Failure> {
    match read_stream(cx, key)?.and_then(|stream| stream.group(group)) {
        Some(_) => Ok(()),
        None => Err(Failure::no_key_or_group(key, group)),
    }
}

/// The consumer that claims: it is looked for when there is something to claim, and added if need be.
struct Claimant<'a> {
    name: &'a [u8],
    now_ms: i64,
    number: Option<u32>,
    is_new: bool,
}

impl<'a> Claimant<'a> {
    fn new(name: &'a [u8], now_ms: i64) -> Self {
        Claimant { name, now_ms, number: None, is_new: false }
    }
    fn number(&mut self, group: &mut ConsumerGroup) -> u32 {
        if let Some(number) = self.number {
            return number;
        }
        let (number, is_new) = group.seen(self.name, self.now_ms);
        (self.number, self.is_new) = (Some(number), is_new);
        number
    }
    fn event(&self) -> Option<Event> {
        self.is_new.then_some(Event::stream("xgroup-createconsumer"))
    }
}

/// An entry as XCLAIM answers it.
fn reply_claimed(stream: &Stream, id: StreamId, justid: bool, out: &mut Reply) {
    match stream.get(id) {
        Some(entry) if !justid => reply_entry(&entry, out),
        _ => out.bulk_display(id),
    }
}

fn xclaim(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (key, name) = (argv[1], argv[2]);
    check_group(cx, key, name)?;
    let (now_ms, replays) = (cx.now_ms(), cx.session().replays);
    let options = ClaimOptions::parse(argv, now_ms)?;
    let mut claims = Claims::new(cx);
    let mut claimant = Claimant::new(argv[3], now_ms);
    let Some(mut edit) = cx.edit(key) else { return Err(Failure::no_key_or_group(key, name)) };
    let stream = edit.value_mut().as_stream_mut()?;
    let claimed = stream.with_group(name, |stream, group| {
        let is_moved = options.last_id > group.last_id;
        if is_moved && replays && options.tells_a_delivery() {
            stream.note_read(group, options.last_id);
        } else if is_moved {
            group.last_id = options.last_id;
        }
        (is_moved, claim(stream, group, &options, &mut claimant, &mut claims, out))
    });
    let (is_moved, changes) = claimed.unwrap_or_default();
    if is_moved || changes {
        edit.commit_unwatched(claimant.event());
    } else {
        edit.unchanged();
    }
    cx.propagate_nothing();
    if is_moved && !replays && claims.begin_like_a_delivery() {
        Claims::tell_last_id(cx, key, name);
    }
    claims.tell(cx, key, name);
    if is_moved && !changes {
        Claims::tell_last_id(cx, key, name);
    }
    Ok(Flow::Done)
}

/// Claims the entries that were named; whether that has changed any.
fn claim(
    stream: &Stream,
    group: &mut ConsumerGroup,
    options: &ClaimOptions<'_>,
    claimant: &mut Claimant<'_>,
    claims: &mut Claims,
    out: &mut Reply,
) -> bool {
    let slot = out.deferred_array();
    let (mut claimed, mut gone) = (0, 0);
    for &(id, word) in &options.ids {
        let before = group.pending(id);
        if stream.get(id).is_none() {
            if let Some(before) = before {
                claims.note_as(group, word, &before);
                group.acknowledge(id);
                gone += 1;
            }
            continue;
        }
        let deliveries = match before {
            Some(before) if is_too_fresh(&before, claimant.now_ms, options.min_idle_ms) => continue,
            Some(before) => before.deliveries,
            None if options.force => 1,
            None => continue,
        };
        let again = deliveries.wrapping_add(u64::from(!options.justid));
        let pending = Pending {
            consumer: claimant.number(group),
            delivered_at_ms: options.delivered_at_ms,
            deliveries: options.deliveries.unwrap_or(again),
        };
        group.assign(id, pending);
        reply_claimed(stream, id, options.justid, out);
        claims.note_as(group, word, &pending);
        claimed += 1;
    }
    out.close(slot, claimed);
    claimed + gone > 0
}

fn is_too_fresh(pending: &Pending, now_ms: i64, min_idle_ms: i64) -> bool {
    min_idle_ms > 0 && now_ms.wrapping_sub(pending.delivered_at_ms) < min_idle_ms
}

/// What XAUTOCLAIM is told behind the consumer.
struct AutoclaimOptions {
    min_idle_ms: i64,
    start: StreamId,
    count: usize,
    justid: bool,
}

/// XAUTOCLAIM looks at this many entries for one that it may claim.
const ATTEMPTS: usize = 10;
/// The highest COUNT of XAUTOCLAIM.
const COUNT_MAX: i64 = i64::MAX / 16;
/// The server finds no memory for the IDs of more, wherever it runs.
const COUNT_IN_MEMORY_MAX: i64 = 1 << 42;

impl AutoclaimOptions {
    fn parse(argv: Argv<'_>) -> Result<Self, Failure> {
        let min_idle_ms = parse_i64(argv[4]).ok_or(Failure::XAUTOCLAIM_MIN_IDLE)?.max(0);
        let mut options =
            AutoclaimOptions { min_idle_ms, start: range_start(argv[5])?, count: 100, justid: false };
        let mut args = Args::new(argv, 6);
        while let Some(word) = args.next() {
            if is(word, "COUNT") && !args.is_done() {
                let count = int(args.word()?).ok().filter(|count| (1..=COUNT_MAX).contains(count));
                options.count = count.ok_or(Failure::XAUTOCLAIM_COUNT)? as usize;
            } else if is(word, "JUSTID") {
                options.justid = true;
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
}

fn xautoclaim(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (key, name) = (argv[1], argv[2]);
    let group = check_group(cx, key, name);
    let options = AutoclaimOptions::parse(argv)?;
    group?;
    if options.count as i64 > COUNT_IN_MEMORY_MAX {
        return Err(Failure::XAUTOCLAIM_NO_MEMORY);
    }
    let mut claims = Claims::new(cx);
    let mut claimant = Claimant::new(argv[3], cx.now_ms());
    let Some(mut edit) = cx.edit(key) else { return Err(Failure::no_key_or_group(key, name)) };
    let stream = edit.value_mut().as_stream_mut()?;
    let claimed = stream.with_group(name, |stream, group| {
        autoclaim(stream, group, &options, &mut claimant, &mut claims, out)
    });
    if claimed.unwrap_or_default() {
        edit.commit_unwatched(claimant.event());
    } else {
        edit.unchanged();
    }
    cx.propagate_nothing();
    claims.tell(cx, key, name);
    Ok(Flow::Done)
}

/// Claims what has been idle for long, in the order of IDs; whether that has changed anything.
fn autoclaim(
    stream: &Stream,
    group: &mut ConsumerGroup,
    options: &AutoclaimOptions,
    claimant: &mut Claimant<'_>,
    claims: &mut Claims,
    out: &mut Reply,
) -> bool {
    let (mut claimed, mut deleted) = (Vec::new(), Vec::new());
    let mut at = Some(options.start);
    let next = |group: &ConsumerGroup, at: Option<StreamId>| {
        let (id, pending) = group.pending_in(at?..=StreamId::MAX).next()?;
        Some((id, *pending))
    };
    for _ in 0..options.count.saturating_mul(ATTEMPTS) {
        if claimed.len() + deleted.len() == options.count {
            break;
        }
        let Some((id, before)) = next(group, at) else { break };
        at = id.next();
        if stream.get(id).is_none() {
            claims.note(group, id, &before);
            group.acknowledge(id);
            deleted.push(id);
        } else if !is_too_fresh(&before, claimant.now_ms, options.min_idle_ms) {
            let deliveries = before.deliveries.wrapping_add(u64::from(!options.justid));
            let consumer = claimant.number(group);
            let pending = Pending { consumer, delivered_at_ms: claimant.now_ms, deliveries };
            group.assign(id, pending);
            claims.note(group, id, &pending);
            claimed.push(id);
        }
    }
    out.array(3);
    out.bulk_display(next(group, at).map_or(StreamId::MIN, |(id, _)| id));
    out.array(claimed.len());
    claimed.iter().for_each(|&id| reply_claimed(stream, id, options.justid, out));
    out.array(deleted.len());
    deleted.iter().for_each(|id| out.bulk_display(id));
    !claimed.is_empty() || !deleted.is_empty()
}
