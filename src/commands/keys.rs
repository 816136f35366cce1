//! Keys as such, whatever they hold: to ask for, remove, rename, copy and move them.
//! SCAN is in `scan`, OBJECT in `object`, EXPIRE and TTL in `expiry`.

use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Db, Event, Expiry};
use crate::util::glob::glob;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "copy",
        usage: "COPY source destination [DB destination-db] [REPLACE]",
        summary: "Copy a key",
        since: "6.2.0",
        group: Group::Generic,
        complexity: "O(N) worst case for collections, where N is the number of nested items. O(1) for string values.",
        flags: WRITE | DENYOOM,
        keys: &[at(1, RO | ACCESS), at(2, OW | UPDATE)],
        run: copy,
        ..Spec::BASE
    },
    Spec {
        name: "del",
        usage: "DEL key...",
        summary: "Delete a key",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N) where N is the number of keys that will be removed. When a key to remove holds a value other than a string, the individual complexity for this key is O(M) where M is the number of elements in the list, set, sorted set or hash. Removing a single key that holds a string value is O(1).",
        flags: WRITE,
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        keys: &[at(1, RM | DELETE).range(-1, 1, 0)],
        run: del,
        ..Spec::BASE
    },
    Spec {
        name: "exists",
        usage: "EXISTS key...",
        summary: "Determine if a key exists",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N) where N is the number of keys to check.",
        history: &[("3.0.3", "Accepts multiple `key` arguments.")],
        flags: READONLY | FAST,
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        keys: &[at(1, RO).range(-1, 1, 0)],
        run: exists,
        ..Spec::BASE
    },
    Spec {
        name: "keys",
        usage: "KEYS pattern",
        summary: "Find all keys matching the given pattern",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N) with N being the number of keys in the database, under the assumption that the key names in the database and the given pattern have limited length.",
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: READONLY,
        tips: &["request_policy:all_shards", "nondeterministic_output_order"],
        run: keys,
        ..Spec::BASE
    },
    Spec {
        name: "move",
        usage: "MOVE key db",
        summary: "Move a key to another database",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | UPDATE)],
        run: move_,
        ..Spec::BASE
    },
    Spec {
        name: "randomkey",
        usage: "RANDOMKEY",
        summary: "Return a random key from the keyspace",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY | TOUCHES_ARBITRARY_KEYS,
        tips: &["request_policy:all_shards", "nondeterministic_output"],
        run: randomkey,
        ..Spec::BASE
    },
    Spec {
        name: "rename",
        usage: "RENAME key newkey",
        summary: "Rename a key",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: WRITE,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, OW | UPDATE)],
        run: rename,
        ..Spec::BASE
    },
    Spec {
        name: "renamenx",
        usage: "RENAMENX key newkey",
        summary: "Rename a key, only if the new key does not exist",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[(
            "3.2.0",
            "The command no longer returns an error when source and destination names are the same.",
        )],
        flags: WRITE | FAST,
        keys: &[at(1, RW | ACCESS | DELETE), at(2, OW | INSERT)],
        run: renamenx,
        ..Spec::BASE
    },
    Spec {
        name: "touch",
        usage: "TOUCH key...",
        summary: "Alters the last access time of a key(s). Returns the number of existing keys specified.",
        since: "3.2.1",
        group: Group::Generic,
        complexity: "O(N) where N is the number of keys that will be touched.",
        flags: READONLY | FAST,
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        keys: &[at(1, RO).range(-1, 1, 0)],
        run: touch,
        ..Spec::BASE
    },
    Spec {
        name: "type",
        usage: "TYPE key",
        summary: "Determine the type stored at key",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO)],
        run: type_,
        ..Spec::BASE
    },
    Spec {
        name: "unlink",
        usage: "UNLINK key...",
        summary: "Delete a key asynchronously in another thread. Otherwise it is just as DEL, but non blocking.",
        since: "4.0.0",
        group: Group::Generic,
        complexity: "O(1) for each key removed regardless of its size. Then the command does O(N) work in a different thread in order to reclaim memory, where N is the number of allocations the deleted objects where composed of.",
        flags: WRITE | FAST,
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        keys: &[at(1, RM | DELETE).range(-1, 1, 0)],
        run: unlink,
        ..Spec::BASE
    },
];

fn del(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.config.lazy_user_del {
        return unlink(cx, argv, out);
    }
    let gone = argv[1..].iter().filter(|key| cx.remove(key, Event::generic("del"))).count();
    out.int(gone as i64);
    Ok(Flow::Done)
}

/// As DEL: nothing here is freed by another thread, but what would be is counted.
fn unlink(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let db = cx.db();
    let unlink = |key: &&&[u8]| cx.state.store.unlink(db, key, Event::generic("del"));
    let gone = argv[1..].iter().filter(unlink).count();
    out.int(gone as i64);
    Ok(Flow::Done)
}

fn exists(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let there = argv[1..].iter().filter(|key| cx.look(key).is_some()).count();
    out.int(there as i64);
    Ok(Flow::Done)
}

fn touch(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let there = argv[1..].iter().filter(|key| cx.read(key).is_some()).count();
    out.int(there as i64);
    Ok(Flow::Done)
}

fn type_(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.status(cx.look(argv[1]).map_or("none", |entry| entry.value().type_name()));
    Ok(Flow::Done)
}

fn keys(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (pattern, now_ms) = (argv[1], cx.now_ms());
    let list = out.deferred_array();
    let mut found = 0;
    for entry in cx.state.store.entries(cx.db()) {
        let matches = pattern == b"*" || glob(pattern, entry.key(), false);
        if matches && !entry.is_expired(now_ms) {
            out.bulk(entry.key());
            found += 1;
        }
    }
    out.close(list, found);
    Ok(Flow::Done)
}

fn randomkey(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let db = cx.db();
    match cx.state.store.random_key(db) {
        Some(key) => out.bulk(&key),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn rename(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if !cx.has(argv[1]) {
        return Err(Failure::NoSuchKey);
    }
    if argv[1] != argv[2] {
        let db = cx.db();
        let from = (db, argv[1], Event::generic("rename_from"));
        cx.state.store.relocate(from, (db, argv[2], Event::generic("rename_to")));
    }
    out.ok();
    Ok(Flow::Done)
}

fn renamenx(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if !cx.has(argv[1]) {
        return Err(Failure::NoSuchKey);
    }
    let free = argv[1] != argv[2] && !cx.has(argv[2]);
    if free {
        let db = cx.db();
        let from = (db, argv[1], Event::generic("rename_from"));
        cx.state.store.relocate(from, (db, argv[2], Event::generic("rename_to")));
    }
    out.int(i64::from(free));
    Ok(Flow::Done)
}

/// The number of a database, read as the server reads it.
fn database(cx: &Ctx<'_>, word: &[u8]) -> Result<Db, Failure> {
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let number = int(word)?;
    if !(least..=most).contains(&number) {
        return Err(Failure::NotBetween(least, most));
    }
    let known = Db::try_from(number).ok().filter(|&db| db < cx.state.store.databases());
    known.ok_or(Failure::DbOutOfRange)
}

fn move_(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.cluster.is_some() {
        return Err(Failure::NO_MOVE_IN_CLUSTER);
    }
    let (key, source, target) = (argv[1], cx.db(), database(cx, argv[2])?);
    if source == target {
        return Err(Failure::SameObject);
    }
    let moves = cx.has(key) && !cx.state.store.has(target, key);
    if moves {
        let from = (source, key, Event::generic("move_from"));
        cx.state.store.relocate(from, (target, key, Event::generic("move_to")));
    }
    out.int(i64::from(moves));
    Ok(Flow::Done)
}

fn copy(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (from, to) = (argv[1], argv[2]);
    let (mut target, mut replace) = (cx.db(), false);
    let mut args = Args::new(argv, 3);
    while let Some(option) = args.next() {
        if is(option, "replace") {
            replace = true;
        } else if is(option, "db") {
            target = database(cx, args.word()?)?;
        } else {
            return Err(Failure::Syntax);
        }
    }
    if target != 0 && cx.state.cluster.is_some() {
        return Err(Failure::NO_COPY_IN_CLUSTER);
    }
    if target == cx.db() && from == to {
        return Err(Failure::SameObject);
    }
    let source = cx.read(from).map(|entry| (entry.value().clone(), entry.expire_at_ms()));
    let taken = source.is_some() && cx.state.store.has(target, to);
    let copied = source.filter(|_| replace || !taken);
    out.int(i64::from(copied.is_some()));
    if let Some((mut value, expire_at_ms)) = copied {
        // The copy is a value of its own, which changes otherwise than this one.
        if value.walk().is_some_and(|number| number > 0) {
            value.set_walk(0);
        }
        let expiry = expire_at_ms.map_or(Expiry::Clear, Expiry::At);
        cx.state.store.put_anew(target, to, value, expiry, Event::generic("copy_to"));
    }
    Ok(Flow::Done)
}
