//! DEBUG: what suites ask of a server to see how it works within. The digests are in `value::sha_digest`; what concerns
//! all of the state (RELOAD, LOADAOF) is done by the engine. What would end the process is refused.

use crate::command::args::{int, is};
use crate::command::faults::Fault;
use crate::command::host::HostCall;
use crate::command::log::LogLevel;
use crate::command::memory_use::{CLIENT_BUCKETS, SMALLEST_BUCKET_LOG};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Handler, help};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::store::{Entry, Expiry, Targets};
use crate::util::float::strtod;
use crate::util::num::parse_memory;
use crate::value::rdb::{self, ListNodes, Writer};
use crate::value::{Str, Value, sha_digest};
use std::time::Duration;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "debug",
    usage: "DEBUG",
    arity: -2,
    summary: "A container for debugging commands",
    since: "1.0.0",
    group: Group::Server,
    complexity: "Depends on subcommand.",
    flags: ADMIN | NOSCRIPT | LOADING | STALE | PROTECTED | SYSCMD,
    run: debug,
    ..Spec::BASE
}];

/// One subcommand: its name, how many words the whole command has, its handler.
type Row = (&'static str, std::ops::RangeInclusive<usize>, Handler);

const ANY: usize = usize::MAX;

static ROWS: &[Row] = &[
    ("advance", 3..=3, advance),
    ("aof-flush-sleep", 3..=3, accepted),
    ("assert", 2..=ANY, refused),
    ("change-repl-id", 2..=2, change_repl_id),
    ("client-eviction", 2..=2, client_eviction),
    ("clusterlink", 5..=5, cluster_link),
    ("config-rewrite-force-all", 2..=2, config_rewrite),
    ("crash-and-recover", 2..=ANY, refused),
    ("digest", 2..=2, digest),
    ("digest-value", 2..=ANY, digest_value),
    ("drop-cluster-packet-filter", 3..=3, drop_packets),
    ("error", 3..=3, error),
    ("fault", 2..=ANY, fault),
    ("help", 2..=2, lines),
    ("htstats", 3..=3, htstats),
    ("htstats-key", 3..=3, htstats_key),
    ("leak", 3..=3, accepted),
    ("listpack", 3..=3, listpack),
    ("loadaof", 2..=ANY, loadaof),
    ("log", 3..=3, log),
    ("mallctl", 3..=ANY, mallctl),
    ("mallctl-str", 3..=ANY, mallctl),
    ("object", 3..=3, object),
    ("oom", 2..=ANY, refused),
    ("panic", 2..=ANY, panic),
    ("pause-cron", 3..=3, accepted),
    ("populate", 3..=5, populate),
    ("protocol", 3..=3, protocol),
    ("quicklist", 3..=4, quicklist),
    ("quicklist-packed-threshold", 3..=3, packed_threshold),
    ("reload", 2..=ANY, reload),
    ("replicate", 3..=ANY, replicate),
    ("replybuffer", 4..=4, replybuffer),
    ("restart", 2..=ANY, refused),
    ("sdslen", 3..=3, sdslen),
    ("segfault", 2..=ANY, refused),
    ("set-active-expire", 3..=3, set_active_expire),
    ("set-disable-deny-scripts", 3..=3, set_disable_deny_scripts),
    ("set-skip-checksum-validation", 3..=3, set_skip_checksum_validation),
    ("sleep", 3..=3, sleep),
    ("stringmatch-test", 2..=2, stringmatch_test),
    ("structsize", 2..=2, structsize),
];

fn debug(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let fits = |(name, words, _): &&Row| is(argv[1], name) && words.contains(&argv.len());
    match ROWS.iter().find(fits) {
        Some((_, _, run)) => run(cx, argv, out),
        None => Err(Failure::wrong_subcommand("DEBUG", argv[1])),
    }
}

/// What has no effect that anybody could see here.
fn accepted(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.ok();
    Ok(Flow::Done)
}

/// What ends a server would end the program around the engine.
fn refused(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::ends_the_process(argv[1]))
}

/// In process it shows that a panic poisons this engine and harms nothing else; others may not do it by a connection.
fn panic(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.debug.is_served {
        return Err(Failure::ends_the_process(argv[1]));
    }
    panic!("DEBUG PANIC")
}

/// Of this engine only: moves a manual clock on.
fn advance(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    let ms = int(argv[2])?;
    Ok(Flow::Advance(u64::try_from(ms).map_err(|_| Failure::NotInteger)?))
}

/// Of this engine only: loses requests or replies.
fn fault(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Ok(Flow::Fault(Fault::read(&argv[2..])?))
}

fn sleep(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Ok(Flow::Sleep(sleep_time(argv[2])))
}

/// Seconds as C's `strtod` reads them, down to whole microseconds; what is no time is no sleep.
fn sleep_time(seconds: &[u8]) -> Duration {
    let seconds = strtod(seconds).value;
    let longest = i64::MAX as f64 / 1e6;
    Duration::from_micros((seconds.clamp(0.0, longest) * 1e6) as u64)
}

/// Whether a word is a number other than zero, as C's `atoi` reads it.
fn is_on(word: &[u8]) -> bool {
    strtod(word).value as i32 != 0
}

fn set_active_expire(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.debug.keeps_expired = !is_on(argv[2]);
    out.ok();
    Ok(Flow::Done)
}

fn set_disable_deny_scripts(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.debug.scripts_may_all = is_on(argv[2]);
    out.ok();
    Ok(Flow::Done)
}

fn set_skip_checksum_validation(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.debug.skips_checksums = is_on(argv[2]);
    out.ok();
    Ok(Flow::Done)
}

fn change_repl_id(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.replication.identities += 1;
    out.ok();
    Ok(Flow::Done)
}

fn config_rewrite(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let why = |why: String| Failure::config_not_rewritten("CONFIG-REWRITE-FORCE-ALL failed", &why);
    cx.state.rewrite_config(true)?.map_err(why)?;
    out.ok();
    Ok(Flow::Done)
}

/// Nodes of a cluster have no links here, so there is nothing to kill.
fn cluster_link(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if !is(argv[2], "kill") {
        return Err(Failure::wrong_subcommand("DEBUG", argv[1]));
    }
    let cluster = cx.state.cluster.as_ref().ok_or(Failure::NO_CLUSTER_LINK)?;
    let is_known = cluster.nodes().any(|node| cx.state.node_id(node).as_bytes() == argv[4]);
    if !is_known {
        return Err(Failure::unknown_node(argv[4]));
    }
    out.ok();
    Ok(Flow::Done)
}

fn client_eviction(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.config.text("maxmemory-clients") == "0" {
        return Err(Failure::NO_CLIENT_EVICTION);
    }
    let mut text = String::new();
    for (bucket, (bytes, clients)) in (SMALLEST_BUCKET_LOG..).zip(cx.state.client_buckets()) {
        let from = if bucket == SMALLEST_BUCKET_LOG { 0 } else { 1u64 << (bucket - 1) };
        let is_last = bucket == SMALLEST_BUCKET_LOG + CLIENT_BUCKETS as u32 - 1;
        text += &format!("bucket {from:10}");
        text +=
            &if is_last { "+            : ".to_owned() } else { format!(" - {:10}: ", (1u64 << bucket) - 1) };
        text += &format!("tot-mem: {bytes:10}, clients: {clients}\n");
    }
    out.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

fn drop_packets(_: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    int(argv[2])?;
    out.ok();
    Ok(Flow::Done)
}

fn digest(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let store = &cx.state.store;
    let mut all = sha_digest::EMPTY;
    for db in (0..store.databases()).filter(|&db| store.len(db) > 0) {
        all.mix(&db.to_be_bytes());
        for entry in store.entries(db) {
            let mut one = sha_digest::EMPTY;
            one.mix(entry.key());
            one.value(entry.value(), entry.expire_at_ms().is_some());
            all.xor(&one.bytes());
        }
    }
    out.status(&all.hex());
    Ok(Flow::Done)
}

fn digest_value(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let keys = &argv[2..];
    out.array(keys.len());
    for key in keys {
        let mut digest = sha_digest::EMPTY;
        if let Some(entry) = cx.state.store.peek(cx.db(), key) {
            digest.value(entry.value(), entry.expire_at_ms().is_some());
        }
        out.status(&digest.hex());
    }
    Ok(Flow::Done)
}

fn error(_: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.error_text(argv[2]);
    Ok(Flow::Done)
}

fn log(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.log.push(LogLevel::Warning, [b"DEBUG LOG: ", argv[2]].concat());
    out.ok();
    Ok(Flow::Done)
}

/// The key as it is, its time over or not.
fn entry<'a>(cx: &'a Ctx<'_>, key: &[u8]) -> Result<&'a Entry, Failure> {
    cx.state.store.peek(cx.db(), key).ok_or(Failure::NoSuchKey)
}

fn object(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (entry, thresholds) = (entry(cx, argv[2])?, cx.state.config.thresholds());
    let shares = cx.state.store.memory().shares_integers();
    let value = entry.value();
    let mut writer = Writer::default();
    rdb::write_value(&mut writer, value, &thresholds);
    let mut text = format!(
        "Value at:{:#x} refcount:{} encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}",
        0x7f00_0000_0000u64 | u64::from(entry.uses()) << 4,
        value.shown_references(shares),
        value.encoding(),
        writer.written().len(),
        entry.uses(),
        entry.idle_s(cx.now_ms()),
    );
    if let Value::List(list) = value {
        let ListNodes { count, bytes } = rdb::list_nodes(list, thresholds.list);
        let average = list.len() as f64 / count as f64;
        let compressed = i32::from(cx.state.config.list_compress_depth != 0);
        text += &format!(
            " ql_nodes:{count} ql_avg_node:{average:.2} ql_listpack_max:{} ql_compressed:{compressed} ql_uncompressed_size:{bytes}",
            thresholds.list
        );
    }
    out.status(&text);
    Ok(Flow::Done)
}

/// What an allocator with classes of sizes hands out for so many bytes.
fn allocated(bytes: usize) -> usize {
    match bytes {
        0..=8 => 8,
        9..=128 => bytes.next_multiple_of(16),
        _ => bytes.next_multiple_of(bytes.next_power_of_two() / 8),
    }
}

/// A string of the server's with its header and its NUL.
fn allocated_for_string(len: usize) -> usize {
    let header = match len {
        0..32 => 1,
        32..256 => 3,
        256..65_536 => 5,
        _ => 9,
    };
    allocated(header + len + 1)
}

fn sdslen(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const OBJECT_BYTES: usize = 16;
    let entry = entry(cx, argv[2])?;
    let len = match entry.value() {
        Value::String(Str::Int(_)) => return Err(Failure::NOT_AN_SDS),
        Value::String(string) => string.len(),
        _ => return Err(Failure::NOT_AN_SDS),
    };
    let is_embedded = entry.value().encoding() == "embstr";
    let value_bytes = if is_embedded {
        allocated(OBJECT_BYTES + 3 + len + 1) - OBJECT_BYTES
    } else {
        allocated_for_string(len)
    };
    let key_len = entry.key().len();
    out.status(&format!(
        "key_sds_len:{key_len}, key_sds_avail:0, key_zmalloc: {}, val_sds_len:{len}, val_sds_avail:0, val_zmalloc: {value_bytes}",
        allocated_for_string(key_len),
    ));
    Ok(Flow::Done)
}

fn listpack(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let entry = cx.look_untold(argv[2]).ok_or(Failure::NoSuchKey)?;
    if entry.value().encoding() != "listpack" {
        return Err(Failure::NOT_A_LISTPACK);
    }
    out.status("Listpack structure printed on stdout");
    Ok(Flow::Done)
}

fn quicklist(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let entry = cx.look_untold(argv[2]).ok_or(Failure::NoSuchKey)?;
    entry.value().as_list().map_err(|_| Failure::NOT_A_QUICKLIST)?;
    out.status("Quicklist structure printed on stdout");
    Ok(Flow::Done)
}

fn mallctl(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::NO_SUCH_FILE)
}

fn positive(word: &[u8]) -> Result<usize, Failure> {
    let number = int(word).ok().and_then(|number| usize::try_from(number).ok());
    number.ok_or(Failure::MustBePositive)
}

/// Keys that are told to nobody but those who watch them.
fn populate(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let count = positive(argv[2])?;
    let prefix = argv.get(3).copied().unwrap_or(b"key");
    let size = argv.get(4).map_or(Ok(0), |word| positive(word))?;
    if size as u64 > cx.state.config.proto_max_bulk_len {
        return Err(Failure::StringTooLong);
    }
    for number in 0..count {
        let key = [prefix, b":", number.to_string().as_bytes()].concat();
        if cx.has(&key) {
            continue;
        }
        let mut value = format!("value:{number}").into_bytes();
        if size > 0 {
            value.resize(size, 0);
        }
        let db = cx.db();
        cx.state.store.put_untold(db, &key, Value::String(Str::new(&value)), Expiry::Clear);
    }
    cx.propagate_nothing();
    out.ok();
    Ok(Flow::Done)
}

/// What DEBUG PROTOCOL DOUBLE answers.
#[expect(clippy::approx_constant, reason = "the server's figure, not a constant of nature")]
const DEBUG_DOUBLE: f64 = 3.141;

fn protocol(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let name = argv[2].to_ascii_lowercase();
    match &name[..] {
        b"string" => out.bulk(b"Hello World"),
        b"integer" => out.int(12345),
        b"double" => out.double(DEBUG_DOUBLE),
        b"bignum" => out.big_number(b"1234567999999999999999999999999999999"),
        b"null" => out.nil(),
        b"array" => {
            out.array(3);
            (0..3).for_each(|number| out.int(number));
        }
        b"set" => {
            out.set(3);
            (0..3).for_each(|number| out.int(number));
        }
        b"map" => {
            out.map(3);
            for number in 0..3 {
                out.int(number);
                out.boolean(number == 1);
            }
        }
        b"attrib" => {
            out.attribute(1);
            out.bulk(b"key-popularity");
            out.array(2);
            out.bulk(b"key:123");
            out.int(90);
            out.bulk(b"Some real reply following the attribute");
        }
        b"push" if cx.resp() == Resp::V2 => return Err(Failure::NEEDS_RESP3),
        b"push" => {
            out.push(2);
            out.bulk(b"server-cpu-usage");
            out.int(42);
            out.bulk(b"Some real reply following the push reply");
        }
        b"true" => out.boolean(true),
        b"false" => out.boolean(false),
        b"verbatim" => out.verbatim(*b"txt", b"This is a verbatim\nstring"),
        _ => return Err(Failure::NO_PROTOCOL_TYPE),
    }
    Ok(Flow::Done)
}

fn packed_threshold(_: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const MOST: u64 = (1 << 32) - (1 << 20);
    parse_memory(argv[2]).filter(|bytes| *bytes <= MOST).ok_or(Failure::BAD_PACKED_THRESHOLD)?;
    out.ok();
    Ok(Flow::Done)
}

fn reload(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    let (mut save, mut flush, mut merge) = (true, true, false);
    for option in &argv[2..] {
        match option {
            option if is(option, "merge") => merge = true,
            option if is(option, "noflush") => flush = false,
            option if is(option, "nosave") => save = false,
            _ => return Err(Failure::BAD_RELOAD_OPTION),
        }
    }
    Ok(Flow::host(HostCall::Reload { save, flush, merge }))
}

fn loadaof(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Ok(Flow::host(HostCall::LoadAof))
}

/// To replicas only.
fn replicate(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let targets = std::mem::replace(&mut cx.state.store.targets, Targets::Replica);
    cx.propagate(&argv[2..]);
    cx.state.store.targets = targets;
    out.ok();
    Ok(Flow::Done)
}

fn replybuffer(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let lasts_ms = &mut cx.state.debug.reply_peak_lasts_ms;
    match argv[3] {
        switch if is(argv[2], "resizing") => cx.state.debug.keeps_reply_buffers = !is_on(switch),
        _ if !is(argv[2], "peak-reset-time") => return Err(Failure::wrong_subcommand("DEBUG", argv[1])),
        time if is(time, "never") => *lasts_ms = Some(-1),
        time if is(time, "reset") => *lasts_ms = None,
        time => *lasts_ms = Some(int(time)?),
    }
    out.ok();
    Ok(Flow::Done)
}

fn stringmatch_test(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.status("Apparently Redis did not crash: test passed");
    Ok(Flow::Done)
}

fn structsize(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.bulk(b"bits:64 robj:16 dictentry:24 sdshdr5:1 sdshdr8:3 sdshdr16:5 sdshdr32:9 sdshdr64:17 ");
    Ok(Flow::Done)
}

/// A table in which each element stands in a place of its own.
fn table_stats(elements: usize) -> String {
    let head = "Hash table 0 stats (main hash table):\n";
    if elements == 0 {
        return format!("{head}No stats available for empty dictionaries\n");
    }
    let size = elements.next_power_of_two().max(4);
    let free = size - elements;
    let share = |count: usize| count as f64 * 100.0 / size as f64;
    let mut text = format!(
        "{head} table size: {size}\n number of elements: {elements}\n different slots: {elements}\n max chain length: 1\n avg chain length (counted): 1.00\n avg chain length (computed): 1.00\n Chain length distribution:\n"
    );
    if free > 0 {
        text += &format!("   0: {free} ({:.2}%)\n", share(free));
    }
    text + &format!("   1: {elements} ({:.2}%)\n", share(elements))
}

fn htstats(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let store = &cx.state.store;
    let db = u32::try_from(int(argv[2])?).ok().filter(|db| *db < store.databases());
    let db = db.ok_or(Failure::DB_OUT_OF_RANGE_HERE)?;
    let (keys, expires) = (table_stats(store.len(db)), table_stats(store.expires_len(db)));
    out.verbatim(*b"txt", format!("[Dictionary HT]\n{keys}[Expires HT]\n{expires}").as_bytes());
    Ok(Flow::Done)
}

fn htstats_key(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let value = cx.look_untold(argv[2]).ok_or(Failure::NoSuchKey)?.value();
    let elements = match value {
        _ if !matches!(value.encoding(), "hashtable" | "skiplist") => None,
        Value::Set(set) => Some(set.len()),
        Value::Hash(hash) => Some(hash.len()),
        Value::ZSet(zset) => Some(zset.len()),
        _ => None,
    };
    out.verbatim(*b"txt", table_stats(elements.ok_or(Failure::NO_HASH_TABLE)?).as_bytes());
    Ok(Flow::Done)
}

fn lines(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    help::reply(out, "DEBUG", LINES);
    Ok(Flow::Done)
}

const LINES: &[&str] = &[
    "ADVANCE <milliseconds>",
    "    Move a manual clock on.",
    "FAULT REQUESTS|REPLIES [COUNT <n>] [ONLY <command> [<command> ...]]",
    "    Lose requests or replies as a broken connection does: of the next <n> calls, or until FAULT HEAL.",
    "FAULT HEAL",
    "    Lose nothing any more.",
    "AOF-FLUSH-SLEEP <microsec>",
    "    Server will sleep before flushing the AOF, this is used for testing.",
    "ASSERT",
    "    Crash by assertion failed.",
    "CHANGE-REPL-ID",
    "    Change the replication IDs of the instance.",
    "    Dangerous: should be used only for testing the replication subsystem.",
    "CONFIG-REWRITE-FORCE-ALL",
    "    Like CONFIG REWRITE but writes all configuration options, including",
    "    keywords not listed in original configuration file or default values.",
    "CRASH-AND-RECOVER [<milliseconds>]",
    "    Hard crash and restart after a <milliseconds> delay (default 0).",
    "DIGEST",
    "    Output a hex signature representing the current DB content.",
    "DIGEST-VALUE <key> [<key> ...]",
    "    Output a hex signature of the values of all the specified keys.",
    "ERROR <string>",
    "    Return a Redis protocol error with <string> as message. Useful for clients",
    "    unit tests to simulate Redis errors.",
    "LEAK <string>",
    "    Create a memory leak of the input string.",
    "LOG <message>",
    "    Write <message> to the server log.",
    "HTSTATS <dbid>",
    "    Return hash table statistics of the specified Redis database.",
    "HTSTATS-KEY <key>",
    "    Like HTSTATS but for the hash table stored at <key>'s value.",
    "LOADAOF",
    "    Flush the AOF buffers on disk and reload the AOF in memory.",
    "REPLICATE <string>",
    "    Replicates the provided string to replicas, allowing data divergence.",
    "MALLCTL <key> [<val>]",
    "    Get or set a malloc tuning integer.",
    "MALLCTL-STR <key> [<val>]",
    "    Get or set a malloc tuning string.",
    "OBJECT <key>",
    "    Show low level info about `key` and associated value.",
    "DROP-CLUSTER-PACKET-FILTER <packet-type>",
    "    Drop all packets that match the filtered type. Set to -1 allow all packets.",
    "OOM",
    "    Crash the server simulating an out-of-memory error.",
    "PANIC",
    "    Crash the server simulating a panic.",
    "POPULATE <count> [<prefix>] [<size>]",
    "    Create <count> string keys named key:<num>. If <prefix> is specified then",
    "    it is used instead of the 'key' prefix. These are not propagated to",
    "    replicas. Cluster slots are not respected so keys not belonging to the",
    "    current node can be created in cluster mode.",
    "PROTOCOL <type>",
    "    Reply with a test value of the specified type. <type> can be: string,",
    "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
    "    true, false.",
    "RELOAD [option ...]",
    "    Save the RDB on disk and reload it back to memory. Valid <option> values:",
    "    * MERGE: conflicting keys will be loaded from RDB.",
    "    * NOFLUSH: the existing database will not be removed before load, but",
    "      conflicting keys will generate an exception and kill the server.",
    "    * NOSAVE: the database will be loaded from an existing RDB file.",
    "    Examples:",
    "    * DEBUG RELOAD: verify that the server is able to persist, flush and reload",
    "      the database.",
    "    * DEBUG RELOAD NOSAVE: replace the current database with the contents of an",
    "      existing RDB file.",
    "    * DEBUG RELOAD NOSAVE NOFLUSH MERGE: add the contents of an existing RDB",
    "      file to the database.",
    "RESTART [<milliseconds>]",
    "    Graceful restart: save config, db, restart after a <milliseconds> delay (default 0).",
    "SDSLEN <key>",
    "    Show low level SDS string info representing `key` and value.",
    "SEGFAULT",
    "    Crash the server with sigsegv.",
    "SET-ACTIVE-EXPIRE <0|1>",
    "    Setting it to 0 disables expiring keys in background when they are not",
    "    accessed (otherwise the Redis behavior). Setting it to 1 reenables back the",
    "    default.",
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "    Sets the threshold for elements to be inserted as plain vs packed nodes",
    "    Default value is 1GB, allows values up to 4GB. Setting to 0 restores to default.",
    "SET-SKIP-CHECKSUM-VALIDATION <0|1>",
    "    Enables or disables checksum checks for RDB files and RESTORE's payload.",
    "SLEEP <seconds>",
    "    Stop the server for <seconds>. Decimals allowed.",
    "STRINGMATCH-TEST",
    "    Run a fuzz tester against the stringmatchlen() function.",
    "STRUCTSIZE",
    "    Return the size of different Redis core C structures.",
    "LISTPACK <key>",
    "    Show low level info about the listpack encoding of <key>.",
    "QUICKLIST <key> [<0|1>]",
    "    Show low level info about the quicklist encoding of <key>.",
    "    The optional argument (0 by default) sets the level of detail",
    "CLIENT-EVICTION",
    "    Show low level client eviction pools info (maxmemory-clients).",
    "PAUSE-CRON <0|1>",
    "    Stop periodic cron job processing.",
    "REPLYBUFFER PEAK-RESET-TIME <NEVER||RESET|time>",
    "    Sets the time (in milliseconds) to wait between client reply buffer peak resets.",
    "    In case NEVER is provided the last observed peak will never be reset",
    "    In case RESET is provided the peak reset time will be restored to the default value",
    "REPLYBUFFER RESIZING <0|1>",
    "    Enable or disable the reply buffer resize cron job",
    "CLUSTERLINK KILL <to|from|all> <node-id>",
    "    Kills the link based on the direction to/from (both) with the provided node.",
];
