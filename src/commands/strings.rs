//! Strings: GET, SET and all that reads and changes values of bytes. Options are read in `string_options`.
//! Strings as numbers (INCR and the like) are in `string_numbers`, LCS is in `lcs`, single bits are in `bitmaps`.

use super::string_options::{Expire, GetexOptions, SetOptions, Unit};
use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
use crate::value::{Str, Value};

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "append",
        usage: "APPEND key value",
        summary: "Append a value to a key",
        since: "2.0.0",
        group: Group::String,
        complexity: "O(1). The amortized time complexity is O(1) assuming the appended value is small and the already present value is of any size, since the dynamic string library used by Redis will double the free space available on every reallocation.",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | INSERT)],
        run: append,
        ..Spec::BASE
    },
    Spec {
        name: "get",
        usage: "GET key",
        summary: "Get the value of a key",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: get,
        ..Spec::BASE
    },
    Spec {
        name: "getdel",
        usage: "GETDEL key",
        summary: "Get the value of a key and delete the key",
        since: "6.2.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE)],
        run: getdel,
        ..Spec::BASE
    },
    Spec {
        name: "getex",
        usage: "GETEX key expiration=[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|PERSIST]",
        summary: "Get the value of a key and optionally set its expiration",
        since: "6.2.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE).note("RW and UPDATE because it changes the TTL")],
        run: getex,
        ..Spec::BASE
    },
    Spec {
        name: "getrange",
        usage: "GETRANGE key start end",
        summary: "Get a substring of the string stored at a key",
        since: "2.4.0",
        group: Group::String,
        complexity: "O(N) where N is the length of the returned string. The complexity is ultimately determined by the returned length, but because creating a substring from an existing string is very cheap, it can be considered O(1) for small strings.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: getrange,
        ..Spec::BASE
    },
    Spec {
        name: "getset",
        usage: "GETSET key value",
        summary: "Set the string value of a key and return its old value",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        deprecated: Some(("6.2.0", "`SET` with the `!GET` argument")),
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: getset,
        ..Spec::BASE
    },
    Spec {
        name: "mget",
        usage: "MGET key...",
        summary: "Get the values of all the given keys",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(N) where N is the number of keys to retrieve.",
        flags: READONLY | FAST,
        tips: &["request_policy:multi_shard"],
        keys: &[at(1, RO | ACCESS).range(-1, 1, 0)],
        run: mget,
        ..Spec::BASE
    },
    Spec {
        name: "mset",
        usage: "MSET key_value=(key value)...",
        summary: "Set multiple keys to multiple values",
        since: "1.0.1",
        group: Group::String,
        complexity: "O(N) where N is the number of keys to set.",
        flags: WRITE | DENYOOM,
        tips: &["request_policy:multi_shard", "response_policy:all_succeeded"],
        keys: &[at(1, OW | UPDATE).range(-1, 2, 0)],
        run: mset,
        ..Spec::BASE
    },
    Spec {
        name: "msetnx",
        usage: "MSETNX key_value=(key value)...",
        summary: "Set multiple keys to multiple values, only if none of the keys exist",
        since: "1.0.1",
        group: Group::String,
        complexity: "O(N) where N is the number of keys to set.",
        flags: WRITE | DENYOOM,
        tips: &["request_policy:multi_shard", "response_policy:agg_min"],
        keys: &[at(1, OW | INSERT).range(-1, 2, 0)],
        run: msetnx,
        ..Spec::BASE
    },
    Spec {
        name: "psetex",
        usage: "PSETEX key milliseconds value",
        summary: "Set the value and expiration in milliseconds of a key",
        since: "2.6.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE)],
        run: psetex,
        ..Spec::BASE
    },
    Spec {
        name: "set",
        usage: "SET key value condition=[NX|XX]@2.6.12 [GET@6.2.0] expiration=[EX seconds@2.6.12|PX milliseconds@2.6.12|EXAT unix-time-seconds@6.2.0|PXAT unix-time-milliseconds@6.2.0|KEEPTTL@6.0.0]",
        summary: "Set the string value of a key",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        history: &[
            ("2.6.12", "Added the `EX`, `PX`, `NX` and `XX` options."),
            ("6.0.0", "Added the `KEEPTTL` option."),
            ("6.2.0", "Added the `GET`, `EXAT` and `PXAT` option."),
            ("7.0.0", "Allowed the `NX` and `GET` options to be used together."),
        ],
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | ACCESS | UPDATE | VARIABLE_FLAGS)
            .note("RW and ACCESS due to the optional `GET` argument")],
        run: set,
        ..Spec::BASE
    },
    Spec {
        name: "setex",
        usage: "SETEX key seconds value",
        summary: "Set the value and expiration of a key",
        since: "2.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE)],
        run: setex,
        ..Spec::BASE
    },
    Spec {
        name: "setnx",
        usage: "SETNX key value",
        summary: "Set the value of a key, only if the key does not exist",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        flags: WRITE | DENYOOM | FAST,
        keys: &[at(1, OW | INSERT)],
        run: setnx,
        ..Spec::BASE
    },
    Spec {
        name: "setrange",
        usage: "SETRANGE key offset value",
        summary: "Overwrite part of a string at key starting at the specified offset",
        since: "2.2.0",
        group: Group::String,
        complexity: "O(1), not counting the time taken to copy the new string in place. Usually, this string is very small so the amortized complexity is O(1). Otherwise, complexity is O(M) with M being the length of the value argument.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | UPDATE)],
        run: setrange,
        ..Spec::BASE
    },
    Spec {
        name: "strlen",
        usage: "STRLEN key",
        summary: "Get the length of the value stored in a key",
        since: "2.2.0",
        group: Group::String,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: strlen,
        ..Spec::BASE
    },
    Spec {
        name: "substr",
        usage: "SUBSTR key start end",
        summary: "Get a substring of the string stored at a key",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(N) where N is the length of the returned string. The complexity is ultimately determined by the returned length, but because creating a substring from an existing string is very cheap, it can be considered O(1) for small strings.",
        deprecated: Some(("2.0.0", "`GETRANGE`")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: substr,
        ..Spec::BASE
    },
];

fn get(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_value(cx, argv[1], out)?;
    Ok(Flow::Done)
}

/// Answers the value of a key, or nil, as GET does; says whether there was one.
#[inline(always)]
fn reply_value(cx: &mut Ctx<'_>, key: &[u8], out: &mut Reply) -> Result<bool, Failure> {
    match cx.read(key) {
        None => {
            out.nil();
            Ok(false)
        }
        Some(entry) => {
            out.bulk(entry.value().as_string()?.bytes().as_bytes());
            Ok(true)
        }
    }
}

fn set(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = SetOptions::parse(&mut Args::new(argv, 3))?;
    let expire_at_ms = match options.expire {
        Some(expire) => Some(expire.at_ms(cx.now_ms(), "set")?),
        None => None,
    };
    let (key, text) = (argv[1], argv[2]);
    if options.get {
        reply_value(cx, key, out)?;
    }
    let refused = (options.nx || options.xx) && cx.has(key) == options.nx;
    if !refused {
        let expiry = match expire_at_ms {
            Some(at) => Expiry::At(at),
            None if options.keepttl => Expiry::Keep,
            None => Expiry::Clear,
        };
        store_text(cx, key, text, expiry);
        if options.get && expire_at_ms.is_none() && cx.has_journal() {
            let words = argv.iter().enumerate();
            let kept: Vec<&[u8]> =
                words.filter(|(at, word)| *at < 3 || !is(word, "GET")).map(|(_, word)| *word).collect();
            cx.propagate(&kept);
        }
    }
    match (options.get, refused) {
        (true, _) => {}
        (false, true) => out.nil(),
        (false, false) => out.ok(),
    }
    Ok(Flow::Done)
}

/// Stores what SET stores. With a time, the absolute form is what gets propagated.
#[inline]
fn store_text(cx: &mut Ctx<'_>, key: &[u8], text: &[u8], expiry: Expiry) {
    cx.put(key, Value::String(Str::new(text)), expiry, Event::string("set"));
    if let Expiry::At(at_ms) = expiry {
        cx.notify(key, Event::generic("expire"));
        cx.propagate(&[b"SET", key, text, b"PXAT", itoa::Buffer::new().format(at_ms).as_bytes()]);
    }
}

fn setex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let expire = Expire { unit: Unit::Ex, time: argv[2] };
    let at_ms = expire.at_ms(cx.now_ms(), "setex")?;
    store_text(cx, argv[1], argv[3], Expiry::At(at_ms));
    out.ok();
    Ok(Flow::Done)
}

fn psetex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let expire = Expire { unit: Unit::Px, time: argv[2] };
    let at_ms = expire.at_ms(cx.now_ms(), "psetex")?;
    store_text(cx, argv[1], argv[3], Expiry::At(at_ms));
    out.ok();
    Ok(Flow::Done)
}

fn setnx(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let free = !cx.has(argv[1]);
    if free {
        store_text(cx, argv[1], argv[2], Expiry::Clear);
    }
    out.int(i64::from(free));
    Ok(Flow::Done)
}

fn getset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    reply_value(cx, argv[1], out)?;
    store_text(cx, argv[1], argv[2], Expiry::Clear);
    cx.propagate(&[b"SET", argv[1], argv[2]]);
    Ok(Flow::Done)
}

fn getdel(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if reply_value(cx, argv[1], out)? {
        cx.remove(argv[1], Event::generic("del"));
        cx.propagate_removal(argv[1], cx.state.config.lazy_user_del);
    }
    Ok(Flow::Done)
}

fn getex(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = GetexOptions::parse(&mut Args::new(argv, 2))?;
    let key = argv[1];
    if !reply_value(cx, key, out)? {
        return Ok(Flow::Done);
    }
    let now_ms = cx.now_ms();
    match options {
        GetexOptions::Nothing => {}
        GetexOptions::Persist => {
            if set_expire(cx, key, None, "persist") {
                cx.propagate(&[b"PERSIST", key]);
            }
        }
        GetexOptions::Expire(expire) => {
            let at_ms = expire.at_ms(now_ms, "getex")?;
            if expire.is_absolute() && at_ms <= now_ms {
                cx.remove(key, Event::generic("del"));
                cx.propagate_removal(key, cx.state.config.memory.lazy_expire);
            } else if set_expire(cx, key, Some(at_ms), "expire") {
                cx.propagate(&[b"PEXPIREAT", key, itoa::Buffer::new().format(at_ms).as_bytes()]);
            }
        }
    }
    Ok(Flow::Done)
}

/// Sets or clears the expiry of a key; false when there was none to clear.
fn set_expire(cx: &mut Ctx<'_>, key: &[u8], expire_at_ms: Option<i64>, event: &'static str) -> bool {
    let Some(mut edit) = cx.edit(key) else { return false };
    let changes = expire_at_ms.is_some() || edit.expire_at_ms().is_some();
    if changes {
        edit.set_expire(expire_at_ms);
        edit.commit(Event::generic(event));
    }
    changes
}

fn mget(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.array(argv.len() - 1);
    for key in &argv[1..] {
        match cx.read(key).map(|entry| entry.value()) {
            Some(Value::String(text)) => out.bulk(text.bytes().as_bytes()),
            _ => out.nil(),
        }
    }
    Ok(Flow::Done)
}

fn mset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (pairs, []) = argv[1..].as_chunks::<2>() else { return Err(Failure::Arity("mset".into())) };
    for [key, text] in pairs {
        store_text(cx, key, text, Expiry::Clear);
    }
    out.ok();
    Ok(Flow::Done)
}

fn msetnx(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (pairs, []) = argv[1..].as_chunks::<2>() else { return Err(Failure::Arity("msetnx".into())) };
    let free = pairs.iter().all(|[key, _]| !cx.has(key));
    if free {
        for [key, text] in pairs {
            store_text(cx, key, text, Expiry::Clear);
        }
    }
    out.int(i64::from(free));
    Ok(Flow::Done)
}

fn append(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let limit = cx.state.config.proto_max_bulk_len;
    let mut edit = cx.edit_or(argv[1], || Value::String(Str::new(argv[2])));
    let mut len = edit.value().as_string()?.len();
    if edit.is_new() {
        edit.commit(Event::string("append"));
    } else {
        check_length(len as u64, argv[2].len(), limit)?;
        let text = edit.value_mut().as_string_mut()?.make_growable();
        text.extend_from_slice(argv[2]);
        len = text.len();
        edit.commit(Event::string("append"));
    }
    out.int(len as i64);
    Ok(Flow::Done)
}

/// Refuses a string of more than proto-max-bulk-len bytes.
fn check_length(start: u64, more: usize, limit: u64) -> Result<(), Failure> {
    match start.checked_add(more as u64) {
        Some(total) if total <= limit => Ok(()),
        _ => Err(Failure::StringTooLong),
    }
}

fn setrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let limit = cx.state.config.proto_max_bulk_len;
    let text = argv[3];
    let Ok(offset) = u64::try_from(int(argv[2])?) else {
        return Err(Failure::BAD_OFFSET);
    };
    let mut edit = cx.edit_or(argv[1], || Value::String(Str::text(b"")));
    let mut len = edit.value().as_string()?.len();
    if text.is_empty() {
        edit.unchanged();
    } else {
        check_length(offset, text.len(), limit)?;
        let start = offset as usize;
        let bytes = edit.value_mut().as_string_mut()?.make_growable();
        len = bytes.len().max(start + text.len());
        Str::lengthen(bytes, len);
        bytes[start..start + text.len()].copy_from_slice(text);
        edit.commit(Event::string("setrange"));
    }
    out.int(len as i64);
    Ok(Flow::Done)
}

fn strlen(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let len = match cx.read(argv[1]) {
        Some(entry) => entry.value().as_string()?.len(),
        None => 0,
    };
    out.int(len as i64);
    Ok(Flow::Done)
}

fn getrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (start, end) = (int(argv[2])?, int(argv[3])?);
    let Some(entry) = cx.read(argv[1]) else {
        out.bulk(b"");
        return Ok(Flow::Done);
    };
    let mut text = entry.value().as_string()?.bytes();
    out.bulk(between(text.as_bytes(), start, end));
    Ok(Flow::Done)
}

/// The bytes from `start` to `end`, the end included; negative positions count from the end.
fn between(bytes: &[u8], start: i64, end: i64) -> &[u8] {
    if start < 0 && end < 0 && start > end {
        return &[];
    }
    let len = bytes.len() as i64;
    let from = |at: i64| if at < 0 { (len + at).max(0) } else { at };
    let (start, end) = (from(start), from(end).min(len - 1));
    if start > end { &[] } else { bytes.get(start as usize..=end as usize).unwrap_or_default() }
}

fn substr(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    getrange(cx, argv, out)
}
