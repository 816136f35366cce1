//! Pub/sub: SUBSCRIBE and its like for patterns and sharded channels, PUBLISH, SPUBLISH and PUBSUB. A command answers once
//! for each name it is given. Who listens to what is in `command::pubsub`, reading messages in `engine::inbox`.

use crate::command::pubsub::Topic;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::Targets;
use crate::util::glob::glob;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "psubscribe",
        usage: "PSUBSCRIBE pattern=(pattern)...",
        summary: "Listen for messages published to channels matching the given patterns",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of patterns the client is already subscribed to.",
        flags: PUBSUB | NOSCRIPT | LOADING | STALE,
        run: psubscribe,
        ..Spec::BASE
    },
    Spec {
        name: "publish",
        usage: "PUBLISH channel message",
        summary: "Post a message to a channel",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N+M) where N is the number of clients subscribed to the receiving channel and M is the total number of subscribed patterns (by any client).",
        flags: PUBSUB | LOADING | STALE | FAST | MAY_REPLICATE,
        run: publish,
        ..Spec::BASE
    },
    Spec {
        name: "pubsub",
        usage: "PUBSUB",
        summary: "A container for Pub/Sub commands",
        since: "2.8.0",
        group: Group::Pubsub,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "pubsub|channels",
        usage: "PUBSUB CHANNELS [pattern]",
        summary: "List active channels",
        since: "2.8.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of active channels, and assuming constant time pattern matching (relatively short channels and patterns)",
        flags: PUBSUB | LOADING | STALE,
        run: pubsub_channels,
        ..Spec::BASE
    },
    Spec {
        name: "pubsub|help",
        usage: "PUBSUB HELP",
        summary: "Show helpful text about the different subcommands",
        since: "6.2.0",
        group: Group::Pubsub,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: pubsub_help,
        ..Spec::BASE
    },
    Spec {
        name: "pubsub|numpat",
        usage: "PUBSUB NUMPAT",
        summary: "Get the count of unique patterns pattern subscriptions",
        since: "2.8.0",
        group: Group::Pubsub,
        complexity: "O(1)",
        flags: PUBSUB | LOADING | STALE,
        run: pubsub_numpat,
        ..Spec::BASE
    },
    Spec {
        name: "pubsub|numsub",
        usage: "PUBSUB NUMSUB [channel...]",
        summary: "Get the count of subscribers for channels",
        since: "2.8.0",
        group: Group::Pubsub,
        complexity: "O(N) for the NUMSUB subcommand, where N is the number of requested channels",
        flags: PUBSUB | LOADING | STALE,
        run: pubsub_numsub,
        ..Spec::BASE
    },
    Spec {
        name: "pubsub|shardchannels",
        usage: "PUBSUB SHARDCHANNELS [pattern]",
        summary: "List active shard channels",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of active shard channels, and assuming constant time pattern matching (relatively short shard channels).",
        flags: PUBSUB | LOADING | STALE,
        run: pubsub_shardchannels,
        ..Spec::BASE
    },
    Spec {
        name: "pubsub|shardnumsub",
        usage: "PUBSUB SHARDNUMSUB [shardchannel...]",
        summary: "Get the count of subscribers for shard channels",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels",
        flags: PUBSUB | LOADING | STALE,
        run: pubsub_shardnumsub,
        ..Spec::BASE
    },
    Spec {
        name: "punsubscribe",
        usage: "PUNSUBSCRIBE [pattern...]",
        summary: "Stop listening for messages posted to channels matching the given patterns",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N+M) where N is the number of patterns the client is already subscribed and M is the number of total patterns subscribed in the system (by any client).",
        flags: PUBSUB | NOSCRIPT | LOADING | STALE,
        run: punsubscribe,
        ..Spec::BASE
    },
    Spec {
        name: "spublish",
        usage: "SPUBLISH shardchannel message",
        summary: "Post a message to a shard channel",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of clients subscribed to the receiving shard channel.",
        flags: PUBSUB | LOADING | STALE | FAST | MAY_REPLICATE,
        keys: &[at(1, NOT_KEY)],
        run: spublish,
        ..Spec::BASE
    },
    Spec {
        name: "ssubscribe",
        usage: "SSUBSCRIBE shardchannel...",
        summary: "Listen for messages published to the given shard channels",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of shard channels to subscribe to.",
        flags: PUBSUB | NOSCRIPT | LOADING | STALE,
        keys: &[at(1, NOT_KEY).range(-1, 1, 0)],
        run: ssubscribe,
        ..Spec::BASE
    },
    Spec {
        name: "subscribe",
        usage: "SUBSCRIBE channel...",
        summary: "Listen for messages published to the given channels",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of channels to subscribe to.",
        flags: PUBSUB | NOSCRIPT | LOADING | STALE,
        run: subscribe,
        ..Spec::BASE
    },
    Spec {
        name: "sunsubscribe",
        usage: "SUNSUBSCRIBE [shardchannel...]",
        summary: "Stop listening for messages posted to the given shard channels",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of clients already subscribed to a shard channel.",
        flags: PUBSUB | NOSCRIPT | LOADING | STALE,
        keys: &[at(1, NOT_KEY).range(-1, 1, 0)],
        run: sunsubscribe,
        ..Spec::BASE
    },
    Spec {
        name: "unsubscribe",
        usage: "UNSUBSCRIBE [channel...]",
        summary: "Stop listening for messages posted to the given channels",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) where N is the number of clients already subscribed to a channel.",
        flags: PUBSUB | NOSCRIPT | LOADING | STALE,
        run: unsubscribe,
        ..Spec::BASE
    },
];

/// One reply: the kind, the name, and how many subscriptions the session has.
fn confirm(cx: &Ctx<'_>, kind: &str, topic: Topic, name: Option<&[u8]>, out: &mut Reply) {
    out.push(3);
    out.bulk(kind.as_bytes());
    out.bulk_or_nil(name);
    out.int(cx.subscriber().map_or(0, |subscriber| subscriber.told_count(topic)) as i64);
}

fn listen(cx: &mut Ctx<'_>, argv: Argv<'_>, kind: &str, topic: Topic, out: &mut Reply) -> Flow {
    for name in &argv[1..] {
        cx.subscribe(topic, name);
        confirm(cx, kind, topic, Some(name), out);
    }
    cx.state.listen();
    Flow::Done
}

fn listen_no_more(cx: &mut Ctx<'_>, argv: Argv<'_>, kind: &str, topic: Topic, out: &mut Reply) -> Flow {
    let all = if argv.len() == 1 { cx.subscriptions(topic) } else { Vec::new() };
    let names: Vec<&[u8]> = argv[1..].iter().copied().chain(all.iter().map(|name| name.as_slice())).collect();
    for name in &names {
        cx.unsubscribe(topic, name);
        confirm(cx, kind, topic, Some(name), out);
    }
    if names.is_empty() {
        confirm(cx, kind, topic, None, out);
    }
    cx.state.listen();
    Flow::Done
}

fn subscribe(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listen(cx, argv, "subscribe", Topic::Channel, out))
}

fn psubscribe(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listen(cx, argv, "psubscribe", Topic::Pattern, out))
}

/// Younger than the two above, it has no need to be allowed in EXEC, where one reply is expected.
fn ssubscribe(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.origin == Origin::Exec {
        return Err(Failure::NO_SSUBSCRIBE);
    }
    Ok(listen(cx, argv, "ssubscribe", Topic::Shard, out))
}

fn unsubscribe(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listen_no_more(cx, argv, "unsubscribe", Topic::Channel, out))
}

fn punsubscribe(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listen_no_more(cx, argv, "punsubscribe", Topic::Pattern, out))
}

fn sunsubscribe(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listen_no_more(cx, argv, "sunsubscribe", Topic::Shard, out))
}

fn publish(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(post(cx, argv, false, out))
}

fn spublish(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(post(cx, argv, true, out))
}

/// Published messages go to replicas, which have subscribers of their own, and not to the append-only file.
fn post(cx: &mut Ctx<'_>, argv: Argv<'_>, is_sharded: bool, out: &mut Reply) -> Flow {
    let receivers = cx.state.publish(is_sharded, argv[1], argv[2]);
    let targets = cx.state.store.targets;
    if matches!(targets, Targets::All | Targets::Replica) {
        cx.state.store.targets = Targets::Replica;
        cx.propagate(argv);
        cx.state.store.targets = targets;
    }
    out.int(receivers as i64);
    Flow::Done
}

fn pubsub_channels(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    names(cx, argv, Topic::Channel, out)
}

fn pubsub_shardchannels(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    names(cx, argv, Topic::Shard, out)
}

fn names(cx: &mut Ctx<'_>, argv: Argv<'_>, topic: Topic, out: &mut Reply) -> Result<Flow, Failure> {
    if argv.len() > 3 {
        return Err(Failure::wrong_subcommand("PUBSUB", argv[1]));
    }
    let fits = |name: &&[u8]| argv.get(2).is_none_or(|pattern| glob(pattern, name, false));
    let slot = out.deferred_array();
    let mut count = 0;
    for name in cx.state.pubsub.names(topic).filter(fits) {
        out.bulk(name);
        count += 1;
    }
    out.close(slot, count);
    Ok(Flow::Done)
}

fn pubsub_numsub(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listeners(cx, argv, Topic::Channel, out))
}

fn pubsub_shardnumsub(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    Ok(listeners(cx, argv, Topic::Shard, out))
}

fn listeners(cx: &mut Ctx<'_>, argv: Argv<'_>, topic: Topic, out: &mut Reply) -> Flow {
    out.array(2 * (argv.len() - 2));
    for name in &argv[2..] {
        out.bulk(name);
        out.int(cx.state.pubsub.listeners(topic, name) as i64);
    }
    Flow::Done
}

fn pubsub_numpat(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.state.pubsub.count(Topic::Pattern) as i64);
    Ok(Flow::Done)
}

fn pubsub_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "CHANNELS [<pattern>]",
        "    Return the currently active channels matching a <pattern> (default: '*').",
        "NUMPAT",
        "    Return number of subscriptions to patterns.",
        "NUMSUB [<channel> ...]",
        "    Return the number of subscribers for the specified channels, excluding",
        "    pattern subscriptions(default: no channels).",
        "SHARDCHANNELS [<pattern>]",
        "    Return the currently active shard level channels matching a <pattern> (default: '*').",
        "SHARDNUMSUB [<shardchannel> ...]",
        "    Return the number of subscribers for the specified shard level channel(s)",
    ];
    help::reply(out, "PUBSUB", LINES);
    Ok(Flow::Done)
}
