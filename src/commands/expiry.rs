//! Expiry: setting, clearing and asking for the instant at which a key goes. At that instant the key is still there
//! with nothing left to live; it is gone one millisecond later. Removing what is due is in `store`.

use crate::command::args::{int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Event;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "expire",
        usage: "EXPIRE key seconds condition=[NX|XX|GT|LT]@7.0.0",
        summary: "Set a key's time to live in seconds",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: expire,
        ..Spec::BASE
    },
    Spec {
        name: "expireat",
        usage: "EXPIREAT key unix-time-seconds condition=[NX|XX|GT|LT]@7.0.0",
        summary: "Set the expiration for a key as a UNIX timestamp",
        since: "1.2.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: expireat,
        ..Spec::BASE
    },
    Spec {
        name: "expiretime",
        usage: "EXPIRETIME key",
        summary: "Get the expiration Unix timestamp for a key",
        since: "7.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: expiretime,
        ..Spec::BASE
    },
    Spec {
        name: "persist",
        usage: "PERSIST key",
        summary: "Remove the expiration from a key",
        since: "2.2.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: WRITE | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: persist,
        ..Spec::BASE
    },
    Spec {
        name: "pexpire",
        usage: "PEXPIRE key milliseconds condition=[NX|XX|GT|LT]@7.0.0",
        summary: "Set a key's time to live in milliseconds",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: pexpire,
        ..Spec::BASE
    },
    Spec {
        name: "pexpireat",
        usage: "PEXPIREAT key unix-time-milliseconds condition=[NX|XX|GT|LT]@7.0.0",
        summary: "Set the expiration for a key as a UNIX timestamp specified in milliseconds",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
        flags: WRITE | FAST,
        keys: &[at(1, RW | UPDATE)],
        run: pexpireat,
        ..Spec::BASE
    },
    Spec {
        name: "pexpiretime",
        usage: "PEXPIRETIME key",
        summary: "Get the expiration Unix timestamp for a key in milliseconds",
        since: "7.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY | FAST,
        keys: &[at(1, RO | ACCESS)],
        run: pexpiretime,
        ..Spec::BASE
    },
    Spec {
        name: "pttl",
        usage: "PTTL key",
        summary: "Get the time to live for a key in milliseconds",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[("2.8.0", "Added the -2 reply.")],
        flags: READONLY | FAST,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: pttl,
        ..Spec::BASE
    },
    Spec {
        name: "ttl",
        usage: "TTL key",
        summary: "Get the time to live for a key in seconds",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        history: &[("2.8.0", "Added the -2 reply.")],
        flags: READONLY | FAST,
        tips: &["nondeterministic_output"],
        keys: &[at(1, RO | ACCESS)],
        run: ttl,
        ..Spec::BASE
    },
];

/// How a command of the EXPIRE kind states the instant.
struct Form {
    name: &'static str,
    relative: bool,
    unit_ms: i64,
}

/// The conditions under which the expiry is set.
#[derive(Default)]
struct Conditions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Conditions {
    fn parse(words: Argv<'_>) -> Result<Self, Failure> {
        let mut found = Conditions::default();
        for word in words {
            let flag = match () {
                () if is(word, "nx") => &mut found.nx,
                () if is(word, "xx") => &mut found.xx,
                () if is(word, "gt") => &mut found.gt,
                () if is(word, "lt") => &mut found.lt,
                () => return Err(Failure::unsupported_option(word)),
            };
            *flag = true;
        }
        if found.nx && (found.xx || found.gt || found.lt) {
            return Err(Failure::ExpireNxWithOthers);
        }
        if found.gt && found.lt {
            return Err(Failure::ExpireGtWithLt);
        }
        Ok(found)
    }
    /// No expiry counts as later than any.
    fn allow(&self, new_ms: i64, current_ms: Option<i64>) -> bool {
        match current_ms {
            None => !self.xx && !self.gt,
            Some(current_ms) => {
                !self.nx && (!self.gt || new_ms > current_ms) && (!self.lt || new_ms < current_ms)
            }
        }
    }
}

impl Form {
    fn instant_ms(&self, word: &[u8], now_ms: i64) -> Result<i64, Failure> {
        let base_ms = if self.relative { now_ms } else { 0 };
        let invalid = || Failure::InvalidExpire(self.name.to_owned());
        let stated_ms = int(word)?.checked_mul(self.unit_ms).ok_or_else(invalid)?;
        stated_ms.checked_add(base_ms).ok_or_else(invalid)
    }
    /// The words that a server propagates: PEXPIREAT with the instant, the conditions as they stand.
    fn propagate(&self, cx: &mut Ctx<'_>, argv: Argv<'_>, at_ms: i64) {
        if !cx.has_journal() || (!self.relative && self.unit_ms == 1) {
            return;
        }
        let mut buffer = itoa::Buffer::new();
        let mut words: Vec<&[u8]> = vec![b"PEXPIREAT", argv[1], buffer.format(at_ms).as_bytes()];
        words.extend(&argv[3..]);
        cx.propagate(&words);
    }
    fn run(&self, cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
        let conditions = Conditions::parse(&argv[3..])?;
        let now_ms = cx.now_ms();
        let at_ms = self.instant_ms(argv[2], now_ms)?;
        let Some(mut key) = cx.edit(argv[1]) else {
            out.int(0);
            return Ok(Flow::Done);
        };
        if !conditions.allow(at_ms, key.expire_at_ms()) {
            key.unchanged();
            out.int(0);
            return Ok(Flow::Done);
        }
        if at_ms <= now_ms {
            key.remove(Event::generic("del"));
            cx.propagate_removal(argv[1], cx.state.config.memory.lazy_expire);
        } else {
            key.set_expire(Some(at_ms));
            key.commit(Event::generic("expire"));
            self.propagate(cx, argv, at_ms);
        }
        out.int(1);
        Ok(Flow::Done)
    }
}

fn expire(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Form { name: "expire", relative: true, unit_ms: 1000 }.run(cx, argv, out)
}

fn expireat(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Form { name: "expireat", relative: false, unit_ms: 1000 }.run(cx, argv, out)
}

fn pexpire(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Form { name: "pexpire", relative: true, unit_ms: 1 }.run(cx, argv, out)
}

fn pexpireat(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Form { name: "pexpireat", relative: false, unit_ms: 1 }.run(cx, argv, out)
}

/// What TTL and its kin answer: -2 for no key, -1 for no expiry, else what `shown` makes of the instant.
fn answer_time(
    cx: &mut Ctx<'_>,
    argv: Argv<'_>,
    out: &mut Reply,
    shown: impl Fn(i64) -> i64,
) -> Result<Flow, Failure> {
    out.int(match cx.look(argv[1]).map(|entry| entry.expire_at_ms()) {
        None => -2,
        Some(None) => -1,
        Some(Some(at_ms)) => shown(at_ms).max(0),
    });
    Ok(Flow::Done)
}

/// Milliseconds as seconds, rounded to the nearest.
fn seconds(ms: i64) -> i64 {
    (i128::from(ms.max(0)) + 500).div_euclid(1000) as i64
}

fn ttl(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let now_ms = cx.now_ms();
    answer_time(cx, argv, out, |at_ms| seconds(at_ms.saturating_sub(now_ms)))
}

fn pttl(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let now_ms = cx.now_ms();
    answer_time(cx, argv, out, |at_ms| at_ms.saturating_sub(now_ms))
}

fn expiretime(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    answer_time(cx, argv, out, seconds)
}

fn pexpiretime(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    answer_time(cx, argv, out, |at_ms| at_ms)
}

fn persist(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let key = cx.edit(argv[1]);
    let had_expiry = key.as_ref().is_some_and(|key| key.expire_at_ms().is_some());
    match key {
        Some(mut key) if had_expiry => {
            key.set_expire(None);
            key.commit(Event::generic("persist"));
        }
        Some(key) => key.unchanged(),
        None => {}
    }
    out.int(i64::from(had_expiry));
    Ok(Flow::Done)
}
