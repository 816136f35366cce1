//! OBJECT: what is known about a value besides its content. Asking counts as a hit or a miss, but not as a use.

use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "object",
        usage: "OBJECT",
        summary: "A container for object introspection commands",
        since: "2.2.3",
        group: Group::Generic,
        complexity: "Depends on subcommand.",
        acl: acl::NONE,
        ..Spec::BASE
    },
    Spec {
        name: "object|encoding",
        usage: "OBJECT ENCODING key",
        summary: "Inspect the internal encoding of a Redis object",
        since: "2.2.3",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(2, RO)],
        run: object_encoding,
        ..Spec::BASE
    },
    Spec {
        name: "object|freq",
        usage: "OBJECT FREQ key",
        summary: "Get the logarithmic access frequency counter of a Redis object",
        since: "4.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(2, RO)],
        run: object_freq,
        ..Spec::BASE
    },
    Spec {
        name: "object|help",
        usage: "OBJECT HELP",
        summary: "Show helpful text about the different subcommands",
        since: "6.2.0",
        group: Group::Generic,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: object_help,
        ..Spec::BASE
    },
    Spec {
        name: "object|idletime",
        usage: "OBJECT IDLETIME key",
        summary: "Get the time since a Redis object was last accessed",
        since: "2.2.3",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(2, RO)],
        run: object_idletime,
        ..Spec::BASE
    },
    Spec {
        name: "object|refcount",
        usage: "OBJECT REFCOUNT key",
        summary: "Get the number of references to the value of the key",
        since: "2.2.3",
        group: Group::Generic,
        complexity: "O(1)",
        flags: READONLY,
        tips: &["nondeterministic_output"],
        keys: &[at(2, RO)],
        run: object_refcount,
        ..Spec::BASE
    },
];

fn object_encoding(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match cx.look_untold(argv[2]) {
        Some(entry) => out.bulk(entry.value().encoding().as_bytes()),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn object_freq(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (now_ms, memory) = (cx.now_ms(), *cx.state.store.memory());
    match cx.look_untold(argv[2]) {
        Some(_) if !memory.policy.counts() => return Err(Failure::NoFrequency),
        Some(entry) => out.int(i64::from(entry.frequency(now_ms, memory.lfu_decay_time))),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn object_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    help::reply(
        out,
        "OBJECT",
        &[
            "ENCODING <key>",
            "    Return the kind of internal representation used in order to store the value",
            "    associated with a <key>.",
            "FREQ <key>",
            "    Return the access frequency index of the <key>. The returned integer is",
            "    proportional to the logarithm of the recent access frequency of the key.",
            "IDLETIME <key>",
            "    Return the idle time of the <key>, that is the approximated number of",
            "    seconds elapsed since the last access to the key.",
            "REFCOUNT <key>",
            "    Return the number of references of the value associated with the specified",
            "    <key>.",
        ],
    );
    Ok(Flow::Done)
}

fn object_idletime(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (now_ms, counts) = (cx.now_ms(), cx.state.store.memory().policy.counts());
    match cx.look_untold(argv[2]) {
        Some(_) if counts => return Err(Failure::NoIdleTime),
        Some(entry) => out.int(entry.idle_s(now_ms)),
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn object_refcount(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let shares = cx.state.store.memory().shares_integers();
    match cx.look_untold(argv[2]) {
        Some(entry) => out.int(entry.value().shown_references(shares)),
        None => out.nil(),
    }
    Ok(Flow::Done)
}
