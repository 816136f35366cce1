//! DUMP and RESTORE: values in the server's own format, which is read and written in `value::rdb`; and MIGRATE, which is
//! refused where it would need a network.

use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
use crate::value::rdb;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "dump",
        usage: "DUMP key",
        summary: "Return a serialized version of the value stored at the specified key.",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1) to access the key and additional O(N*M) to serialize it, where N is the number of Redis objects composing the value and M their average size. For small string values the time complexity is thus O(1)+O(1*M) where M is small, so simply O(1).",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: dump,
        ..Spec::BASE
    },
    Spec {
        name: "migrate",
        usage: "MIGRATE host port key_or_empty_string=(key|empty_string=\"\") destination-db timeout<integer> [COPY@3.0.0] [REPLACE@3.0.0] authentication=[[AUTH password@4.0.7]|[AUTH2 username_password=(username password)@6.0.0]] [KEYS key...@3.0.6]",
        arity: -6,
        summary: "Atomically transfer a key from a Redis instance to another one.",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "This command actually executes a DUMP+DEL in the source instance, and a RESTORE in the target instance. See the pages of these commands for time complexity. Also an O(N) data transfer between the two instances is performed.",
        history: &[
            ("3.0.0", "Added the `COPY` and `REPLACE` options."),
            ("3.0.6", "Added the `KEYS` option."),
            ("4.0.7", "Added the `AUTH` option."),
            ("6.0.0", "Added the `AUTH2` option."),
        ],
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: WRITE,
        tips: &["nondeterministic_output"],
        keys: &[
            at(3, RW | ACCESS | DELETE),
            after("KEYS", -2, RW | ACCESS | DELETE | INCOMPLETE).range(-1, 1, 0),
        ],
        run: migrate,
        ..Spec::BASE
    },
    Spec {
        name: "restore",
        usage: "RESTORE key ttl serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME seconds@5.0.0] [FREQ frequency@5.0.0]",
        summary: "Create a key using the provided serialized value, previously obtained using DUMP.",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1) to create the new key and additional O(N*M) to reconstruct the serialized value, where N is the number of Redis objects composing the value and M their average size. For small string values the time complexity is thus O(1)+O(1*M) where M is small, so simply O(1). However for sorted set values the complexity is O(N*M*log(N)) because inserting values into sorted sets is O(log(N)).",
        history: &[
            ("3.0.0", "Added the `REPLACE` modifier."),
            ("5.0.0", "Added the `ABSTTL` modifier."),
            ("5.0.0", "Added the `IDLETIME` and `FREQ` options."),
        ],
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE)],
        run: restore,
        ..Spec::BASE
    },
    Spec {
        name: "restore-asking",
        usage: "RESTORE-ASKING key ttl serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME seconds@5.0.0] [FREQ frequency@5.0.0]",
        summary: "An internal command for migrating keys in a cluster",
        since: "3.0.0",
        group: Group::Server,
        complexity: "O(1) to create the new key and additional O(N*M) to reconstruct the serialized value, where N is the number of Redis objects composing the value and M their average size. For small string values the time complexity is thus O(1)+O(1*M) where M is small, so simply O(1). However for sorted set values the complexity is O(N*M*log(N)) because inserting values into sorted sets is O(log(N)).",
        history: &[
            ("3.0.0", "Added the `REPLACE` modifier."),
            ("5.0.0", "Added the `ABSTTL` modifier."),
            ("5.0.0", "Added the `IDLETIME` and `FREQ` options."),
        ],
        acl: acl::DANGEROUS | acl::KEYSPACE,
        flags: WRITE | DENYOOM | ASKING | SYSCMD,
        keys: &[at(1, OW | UPDATE)],
        run: restore_asking,
        ..Spec::BASE
    },
];

fn dump(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let thresholds = cx.state.config.thresholds();
    match cx.read(argv[1]) {
        Some(entry) => out.bulk(&rdb::dump(entry.value(), &thresholds)),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

#[derive(Default)]
struct RestoreOptions {
    replace: bool,
    absolute: bool,
    idle_s: Option<i64>,
    frequency: Option<u8>,
}

impl RestoreOptions {
    fn parse(argv: Argv<'_>) -> Result<Self, Failure> {
        let mut found = RestoreOptions::default();
        let mut args = Args::new(argv, 4);
        while let Some(word) = args.next() {
            let has_value = !args.is_done();
            if is(word, "replace") {
                found.replace = true;
            } else if is(word, "absttl") {
                found.absolute = true;
            } else if is(word, "idletime") && has_value && found.frequency.is_none() {
                let idle_s = Some(args.int()?).filter(|&idle_s| idle_s >= 0);
                found.idle_s = Some(idle_s.ok_or(Failure::BAD_IDLETIME)?);
            } else if is(word, "freq") && has_value && found.idle_s.is_none() {
                found.frequency = Some(u8::try_from(args.int()?).map_err(|_| Failure::BAD_FREQ)?);
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(found)
    }
}

fn restore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    restore_key(cx, argv, out)
}

fn restore_asking(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    restore_key(cx, argv, out)
}

fn restore_key(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let options = RestoreOptions::parse(argv)?;
    let key = argv[1];
    if !options.replace && cx.has(key) {
        return Err(Failure::BUSY_KEY);
    }
    let ttl_ms = int(argv[2])?;
    if ttl_ms < 0 {
        return Err(Failure::BAD_RESTORE_TTL);
    }
    let thresholds = cx.state.config.thresholds();
    let value = match cx.state.debug.skips_checksums {
        true => rdb::restore_unchecked(argv[3], &thresholds),
        false => rdb::restore(argv[3], &thresholds).ok_or(Failure::BAD_DUMP)?,
    };
    let value = value.map_err(|_| Failure::BAD_DUMP_DATA)?;
    let (db, now_ms) = (cx.db(), cx.now_ms());
    let is_relative = ttl_ms > 0 && !options.absolute;
    // Beyond the end of time is the past, as it is for the server.
    let expire_at_ms = if is_relative { ttl_ms.wrapping_add(now_ms) } else { ttl_ms };
    out.ok();
    if expire_at_ms != 0 && expire_at_ms <= now_ms {
        if options.replace && cx.discard(key, Event::generic("del")) {
            cx.propagate(&[b"DEL", key]);
        }
        return Ok(Flow::Done);
    }
    if options.replace {
        cx.state.store.forget(db, key);
    }
    let expiry = if expire_at_ms > 0 { Expiry::At(expire_at_ms) } else { Expiry::Clear };
    cx.put(key, value, expiry, Event::generic("restore"));
    cx.state.store.set_use(db, key, options.idle_s, options.frequency);
    if is_relative && cx.has_journal() {
        let mut buffer = itoa::Buffer::new();
        let mut words = argv.to_vec();
        words[2] = buffer.format(expire_at_ms).as_bytes();
        words.push(b"ABSTTL");
        cx.propagate(&words);
    }
    Ok(Flow::Done)
}

/// The keys that MIGRATE would take, when its words are right.
fn migrated<'a>(argv: Argv<'a>) -> Result<Argv<'a>, Failure> {
    let mut args = Args::new(argv, 6);
    let mut keys = &argv[3..4];
    while let Some(word) = args.next() {
        if is(word, "auth") {
            args.word()?;
        } else if is(word, "auth2") {
            args.word()?;
            args.word()?;
        } else if is(word, "keys") {
            if !argv[3].is_empty() {
                return Err(Failure::MIGRATE_KEY_AND_KEYS);
            }
            keys = args.rest();
            break;
        } else if !is(word, "copy") && !is(word, "replace") {
            return Err(Failure::Syntax);
        }
    }
    int(argv[5])?;
    int(argv[4])?;
    Ok(keys)
}

fn migrate(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let keys = migrated(argv)?;
    if keys.iter().filter(|key| cx.read(key).is_some()).count() > 0 {
        // Clients of a server meet the error that they would know.
        let is_served = cx.state.debug.is_served;
        return Err(if is_served { Failure::TARGET_UNREACHABLE } else { Failure::NO_NETWORK });
    }
    out.status("NOKEY");
    Ok(Flow::Done)
}
