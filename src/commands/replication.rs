//! Replicas: SYNC and PSYNC make a session follow all writes, REPLCONF, ROLE and WAIT are about such sessions. REPLICAOF
//! makes the engine a replica itself, one whose link is down. What followers read is in `command::replication`, what a
//! replica does not do in `command::master`.

use crate::command::args::{Args, int, is};
use crate::command::blocking::{Unblock, WaitOn, timeout_in_milliseconds};
use crate::command::host::HostCall;
use crate::command::master::Master;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::words::split_words;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "failover",
        usage: "FAILOVER [TO target=(host port [FORCE])] [ABORT] [TIMEOUT milliseconds]",
        summary: "Start a coordinated failover between this server and one of its replicas.",
        since: "6.2.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | STALE,
        run: failover,
        ..Spec::BASE
    },
    Spec {
        name: "psync",
        usage: "PSYNC replicationid offset",
        arity: -3,
        summary: "Internal command used for replication",
        since: "2.8.0",
        group: Group::Server,
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
        run: psync,
        ..Spec::BASE
    },
    Spec {
        name: "replconf",
        usage: "REPLCONF",
        arity: -1,
        summary: "An internal command for configuring the replication stream",
        since: "3.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | LOADING | STALE | ALLOW_BUSY | SYSCMD,
        run: replconf,
        ..Spec::BASE
    },
    Spec {
        name: "replicaof",
        usage: "REPLICAOF args=(host-port=(host port)|no-one=(NO ONE))",
        summary: "Make the server a replica of another instance, or promote it as master.",
        since: "5.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING,
        run: replicaof,
        ..Spec::BASE
    },
    Spec {
        name: "role",
        usage: "ROLE",
        summary: "Return the role of the instance in the context of replication",
        since: "2.8.12",
        group: Group::Server,
        complexity: "O(1)",
        acl: acl::ADMIN | acl::DANGEROUS,
        flags: NOSCRIPT | LOADING | STALE | FAST,
        run: role,
        ..Spec::BASE
    },
    Spec {
        name: "slaveof",
        usage: "SLAVEOF args=(host-port=(host port)|no-one=(NO ONE))",
        summary: "Make the server a replica of another instance, or promote it as master.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        deprecated: Some(("5.0.0", "`REPLICAOF`")),
        flags: ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING,
        run: slaveof,
        ..Spec::BASE
    },
    Spec {
        name: "sync",
        usage: "SYNC",
        summary: "Internal command used for replication",
        since: "1.0.0",
        group: Group::Server,
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
        run: sync,
        ..Spec::BASE
    },
    Spec {
        name: "wait",
        usage: "WAIT numreplicas timeout<integer>",
        summary: "Wait for the synchronous replication of all the write commands sent in the context of the current connection",
        since: "3.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        acl: acl::CONNECTION,
        flags: NOSCRIPT,
        tips: &["request_policy:all_shards", "response_policy:agg_min"],
        run: wait,
        ..Spec::BASE
    },
];

fn sync(cx: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    begin_to_follow(cx, false)
}

fn psync(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    if !cx.is_replica() && !cx.is_monitor() {
        if argv.get(3).is_some_and(|word| is(word, "failover")) {
            return Err(Failure::PSYNC_TO_MASTER);
        }
        int(argv[2])?;
    }
    let goes_on = !argv[1].starts_with(b"?") && !cx.is_replica();
    let flow = begin_to_follow(cx, true)?;
    cx.state.stats.partial_syncs_refused += u64::from(goes_on);
    Ok(flow)
}

/// The image is the engine's to make; it goes to the inbox, and the command itself has no reply.
fn begin_to_follow(cx: &Ctx<'_>, has_offsets: bool) -> Result<Flow, Failure> {
    if cx.is_replica() || cx.is_monitor() {
        return Ok(Flow::Done);
    }
    if cx.state.has_master() {
        return Err(Failure::NO_MASTER_LINK);
    }
    if cx.origin != Origin::Client {
        return Err(Failure::NOT_IN_MULTI);
    }
    Ok(Flow::host(HostCall::Sync { has_offsets }))
}

fn replconf(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if argv.len().is_multiple_of(2) {
        return Err(Failure::Syntax);
    }
    for pair in argv[1..].chunks_exact(2) {
        let (option, value) = (pair[0], pair[1]);
        if is(option, "ack") {
            acknowledge(cx, value);
            return Ok(Flow::Done);
        }
        if is(option, "getack") {
            return Ok(Flow::Done);
        }
        tell_of_replica(cx, option, value)?;
    }
    out.ok();
    Ok(Flow::Done)
}

/// What a session says of itself before it follows.
fn tell_of_replica(cx: &mut Ctx<'_>, option: &[u8], value: &[u8]) -> Result<(), Failure> {
    const ADDRESS_MAX: usize = 256;
    match option {
        _ if is(option, "listening-port") => {
            let port = int(value)?;
            cx.session_mut().replica.get_or_insert_default().port = port;
        }
        _ if is(option, "ip-address") && value.len() >= ADDRESS_MAX => {
            return Err(Failure::replica_address_too_long(value.len()));
        }
        _ if is(option, "ip-address") => {
            let address = String::from_utf8_lossy(value).into();
            cx.session_mut().replica.get_or_insert_default().address = Some(address);
        }
        _ if is(option, "capa") => {}
        _ if is(option, "rdb-only") => {
            let only = int(value)?;
            if !(0..=1).contains(&only) {
                return Err(Failure::NotBetween(0, 1));
            }
            cx.session_mut().replica.get_or_insert_default().image_only = only == 1;
        }
        _ if is(option, "rdb-filter-only") => {
            let filters = split_words(value).ok_or(Failure::NO_IMAGE_FILTER)?;
            if let Some(filter) = filters.iter().find(|filter| !is(filter, "functions")) {
                return Err(Failure::unsupported_image_filter(filter));
            }
        }
        _ => return Err(Failure::unrecognized_replconf(option)),
    }
    Ok(())
}

/// A replica tells how far it has come: who waits for it may go on.
fn acknowledge(cx: &mut Ctx<'_>, offset: &[u8]) {
    let now_ms = cx.now_ms();
    let offset = int(offset).ok();
    let Some(replica) = cx.session_mut().replica.as_mut().filter(|replica| replica.follows) else { return };
    replica.told_at_ms = now_ms;
    replica.acknowledged = replica.acknowledged.max(offset.unwrap_or(0));
    let count = cx.state.replicas_at(cx.state.replication.offset) as i64;
    for (id, session) in cx.state.sessions.iter() {
        let Some(wait) = session.blocked.as_ref().filter(|wait| wait.on == WaitOn::Replicas) else {
            continue;
        };
        if wait.argv.get(1).and_then(|word| int(word).ok()).is_some_and(|wanted| count >= wanted) {
            cx.state.unblocked.push((id, Unblock::Timeout));
        }
    }
}

fn wait(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.has_master() {
        return Err(Failure::WAIT_ON_REPLICA);
    }
    let wanted = int(argv[1])?;
    let deadline_ms = timeout_in_milliseconds(cx, argv[2])?;
    let count = cx.state.replicas_at(cx.state.replication.offset) as i64;
    if wanted > count && cx.can_block() {
        if !cx.state.replication.is_idle() {
            cx.state.ask_replicas();
        }
        return Ok(cx.wait(WaitOn::Replicas, &[], deadline_ms, argv));
    }
    out.int(count);
    Ok(Flow::Done)
}

fn role(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if let Some(master) = &cx.state.config.master {
        out.array(5);
        out.bulk(b"slave");
        out.bulk(master.host.as_bytes());
        out.int(i64::from(master.port));
        out.bulk(b"connect");
        out.int(-1);
        return Ok(Flow::Done);
    }
    let replicas = cx.state.replicas();
    out.array(3);
    out.bulk(b"master");
    out.int(cx.state.replication.offset);
    out.array(replicas.len());
    for replica in replicas {
        out.array(3);
        out.bulk(replica.address.as_bytes());
        out.bulk_int(replica.port);
        out.bulk_int(replica.acknowledged);
    }
    Ok(Flow::Done)
}

fn replicaof(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    follow_another(cx, argv, out)
}

fn slaveof(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    follow_another(cx, argv, out)
}

/// NO ONE makes the engine its own master again.
fn follow_another(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (host, port) = (argv[1], argv[2]);
    if cx.state.cluster.is_some() {
        return Err(Failure::NO_REPLICAOF_IN_CLUSTER);
    }
    if is(host, "no") && is(port, "one") {
        if cx.state.has_master() {
            cx.leave_master();
        }
        out.ok();
        return Ok(Flow::Done);
    }
    if cx.is_replica() {
        return Err(Failure::NOT_FOR_REPLICAS);
    }
    let port = Master::port(port)?;
    if cx.state.config.master.as_ref().is_some_and(|master| master.is(host, port)) {
        out.status("OK Already connected to specified master");
        return Ok(Flow::Done);
    }
    cx.state.obey(Master { host: String::from_utf8_lossy(host).into(), port });
    out.ok();
    Ok(Flow::Done)
}

#[derive(Default)]
struct FailoverOptions<'a> {
    timeout_ms: i64,
    target: Option<(&'a [u8], i64)>,
    force: bool,
}

impl<'a> FailoverOptions<'a> {
    fn parse(argv: Argv<'a>) -> Result<Self, Failure> {
        let mut found = FailoverOptions::default();
        let mut args = Args::new(argv, 1);
        while let Some(word) = args.next() {
            if is(word, "timeout") && args.left() >= 1 && found.timeout_ms == 0 {
                found.timeout_ms = args.int()?;
                if found.timeout_ms <= 0 {
                    return Err(Failure::BAD_FAILOVER_TIMEOUT);
                }
            } else if is(word, "to") && args.left() >= 2 && found.target.is_none() {
                let host = args.word()?;
                found.target = Some((host, args.int()?));
            } else if is(word, "force") && !found.force {
                found.force = true;
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(found)
    }
}

fn failover(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    if cx.state.cluster.is_some() {
        return Err(Failure::NO_FAILOVER_IN_CLUSTER);
    }
    if let [_, word] = argv
        && is(word, "abort")
    {
        return Err(Failure::NO_FAILOVER);
    }
    let options = FailoverOptions::parse(argv)?;
    if cx.state.has_master() {
        return Err(Failure::NO_FAILOVER_OF_REPLICA);
    }
    if cx.state.replication.is_idle() {
        return Err(Failure::FAILOVER_NEEDS_REPLICAS);
    }
    if options.force && (options.timeout_ms == 0 || options.target.is_none()) {
        return Err(Failure::FAILOVER_FORCE_NEEDS_MORE);
    }
    let is_target = |replica: &crate::command::replication::Known| {
        options.target.is_none_or(|(host, port)| replica.address.as_bytes() == host && replica.port == port)
    };
    if !cx.state.replicas().iter().any(is_target) {
        return Err(Failure::NO_FAILOVER_TARGET);
    }
    Err(Failure::CANNOT_FAIL_OVER)
}
