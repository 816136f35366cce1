//! CLUSTER, ASKING, READONLY and READWRITE, for an engine that is a node of a cluster (`cluster-enabled`): what it serves
//! and whom it knows. What it tells of the whole is in `cluster_views`, which node a command goes to in `command::cluster`.

use crate::command::args::{int, is};
use crate::command::cluster::{Cluster, MYSELF, NodeNumber};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, State, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::crc16::{SLOT_COUNT, key_slot};
use std::net::IpAddr;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "asking",
        usage: "ASKING",
        summary: "Sent by cluster clients after an -ASK redirect",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        acl: acl::CONNECTION,
        flags: FAST,
        run: asking,
        ..Spec::BASE
    },
    Spec {
        name: "cluster",
        usage: "CLUSTER",
        summary: "A container for cluster commands",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "cluster|addslots",
        usage: "CLUSTER ADDSLOTS slot...",
        summary: "Assign new hash slots to receiving node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of hash slot arguments",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_addslots,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|addslotsrange",
        usage: "CLUSTER ADDSLOTSRANGE start-slot_end-slot=(start-slot end-slot)...",
        summary: "Assign new hash slots to receiving node",
        since: "7.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of the slots between the start slot and end slot arguments.",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_addslotsrange,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|bumpepoch",
        usage: "CLUSTER BUMPEPOCH",
        summary: "Advance the cluster config epoch",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        tips: &["nondeterministic_output"],
        run: cluster_bumpepoch,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|count-failure-reports",
        usage: "CLUSTER COUNT-FAILURE-REPORTS node-id",
        summary: "Return the number of failure reports active for a given node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the number of failure reports",
        flags: ADMIN | STALE,
        tips: &["nondeterministic_output"],
        run: cluster_count_failure_reports,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|countkeysinslot",
        usage: "CLUSTER COUNTKEYSINSLOT slot",
        summary: "Return the number of local keys in the specified hash slot",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: STALE,
        run: cluster_countkeysinslot,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|delslots",
        usage: "CLUSTER DELSLOTS slot...",
        summary: "Set hash slots as unbound in receiving node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of hash slot arguments",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_delslots,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|delslotsrange",
        usage: "CLUSTER DELSLOTSRANGE start-slot_end-slot=(start-slot end-slot)...",
        summary: "Set hash slots as unbound in receiving node",
        since: "7.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of the slots between the start slot and end slot arguments.",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_delslotsrange,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|failover",
        usage: "CLUSTER FAILOVER options=[FORCE|TAKEOVER]",
        summary: "Forces a replica to perform a manual failover of its master.",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_failover,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|flushslots",
        usage: "CLUSTER FLUSHSLOTS",
        summary: "Delete a node's own slots information",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_flushslots,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|forget",
        usage: "CLUSTER FORGET node-id",
        summary: "Remove a node from the nodes table",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_forget,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|getkeysinslot",
        usage: "CLUSTER GETKEYSINSLOT slot count",
        summary: "Return local key names in the specified hash slot",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(log(N)) where N is the number of requested keys",
        flags: STALE,
        tips: &["nondeterministic_output"],
        run: cluster_getkeysinslot,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|help",
        usage: "CLUSTER HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: cluster_help,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|keyslot",
        usage: "CLUSTER KEYSLOT key<string>",
        summary: "Returns the hash slot of the specified key",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the number of bytes in the key",
        flags: STALE,
        run: cluster_keyslot,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|meet",
        usage: "CLUSTER MEET ip port [cluster_bus_port@4.0.0]",
        summary: "Force a node cluster to handshake with another node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        history: &[("4.0.0", "Added the optional `cluster_bus_port` argument.")],
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_meet,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|myid",
        usage: "CLUSTER MYID",
        summary: "Return the node id",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: STALE,
        run: cluster_myid,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|replicas",
        usage: "CLUSTER REPLICAS node-id",
        summary: "List replica nodes of the specified master node",
        since: "5.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE,
        tips: &["nondeterministic_output"],
        run: cluster_replicas,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|replicate",
        usage: "CLUSTER REPLICATE node-id",
        summary: "Reconfigure a node as a replica of the specified master node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_replicate,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|reset",
        usage: "CLUSTER RESET hard_soft=[HARD|SOFT]",
        summary: "Reset a Redis Cluster node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the number of known nodes. The command may execute a FLUSHALL as a side effect.",
        flags: ADMIN | NOSCRIPT | STALE,
        run: cluster_reset,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|saveconfig",
        usage: "CLUSTER SAVECONFIG",
        summary: "Forces the node to save cluster state on disk",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_saveconfig,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|set-config-epoch",
        usage: "CLUSTER SET-CONFIG-EPOCH config-epoch",
        summary: "Set the configuration epoch in a new node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_set_config_epoch,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|setslot",
        usage: "CLUSTER SETSLOT slot subcommand=(IMPORTING node-id|MIGRATING node-id|NODE node-id|STABLE)",
        summary: "Bind a hash slot to a specific node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: ADMIN | STALE | NO_ASYNC_LOADING,
        run: cluster_setslot,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|slaves",
        usage: "CLUSTER SLAVES node-id",
        summary: "List replica nodes of the specified master node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        deprecated: Some(("5.0.0", "`CLUSTER REPLICAS`")),
        flags: ADMIN | STALE,
        tips: &["nondeterministic_output"],
        run: cluster_slaves,
        ..Spec::BASE
    },
    Spec {
        name: "readonly",
        usage: "READONLY",
        summary: "Enables read queries for a connection to a cluster replica node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        acl: acl::CONNECTION,
        flags: LOADING | STALE | FAST,
        run: readonly,
        ..Spec::BASE
    },
    Spec {
        name: "readwrite",
        usage: "READWRITE",
        summary: "Disables read queries for a connection to a cluster replica node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        acl: acl::CONNECTION,
        flags: LOADING | STALE | FAST,
        run: readwrite,
        ..Spec::BASE
    },
];

/// The cluster, when there is one.
fn cluster<'a>(cx: &'a mut Ctx<'_>) -> Result<&'a mut Cluster, Failure> {
    cx.state.cluster.as_deref_mut().ok_or(Failure::NO_CLUSTER)
}

fn is_node(cx: &Ctx<'_>) -> Result<(), Failure> {
    if cx.state.cluster.is_some() { Ok(()) } else { Err(Failure::NO_CLUSTER) }
}

fn done(out: &mut Reply) -> Result<Flow, Failure> {
    out.ok();
    Ok(Flow::Done)
}

fn asking(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    cx.session_mut().asking = true;
    done(out)
}

/// Replicas are read so; a node that is its own master is read in any case.
fn readonly(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    cx.session_mut().reads_replicas = true;
    done(out)
}

fn readwrite(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    cx.session_mut().reads_replicas = false;
    done(out)
}

/// Slots are served by others now, and so are those who wait for their keys.
fn slots_changed(cx: &mut Ctx<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.redirect_waiting();
    done(out)
}

fn slot(word: &[u8]) -> Result<u16, Failure> {
    let number = int(word).ok().and_then(|number| u16::try_from(number).ok());
    number.filter(|slot| *slot < SLOT_COUNT).ok_or(Failure::BAD_SLOT)
}

/// The number of a node by its identity, or by the beginning of one.
fn node(cx: &Ctx<'_>, id: &[u8]) -> Option<NodeNumber> {
    let mut nodes = cx.state.cluster.as_ref()?.nodes();
    nodes.find(|&node| cx.state.node_id(node).as_bytes() == id)
}

/// Lets this node serve slots, or nobody, once all of them are found right.
fn change_slots(
    cx: &mut Ctx<'_>,
    slots: impl Iterator<Item = u16>,
    is_added: bool,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let cluster = cluster(cx)?;
    let mut seen = vec![false; usize::from(SLOT_COUNT)];
    let slots: Vec<u16> = slots.collect();
    for &slot in &slots {
        match cluster.owner(slot) {
            Some(_) if is_added => return Err(Failure::slot_is_busy(slot)),
            None if !is_added => return Err(Failure::slot_is_unassigned(slot)),
            _ if std::mem::replace(&mut seen[usize::from(slot)], true) => {
                return Err(Failure::slot_twice(slot));
            }
            _ => {}
        }
    }
    for slot in slots {
        cluster.assign(slot, is_added.then_some(MYSELF));
        if is_added {
            cluster.importing.remove(&slot);
        }
    }
    slots_changed(cx, out)
}

fn listed(argv: Argv<'_>) -> Result<Vec<u16>, Failure> {
    argv[2..].iter().map(|word| slot(word)).collect()
}

fn cluster_addslots(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    change_slots(cx, listed(argv)?.into_iter(), true, out)
}

fn cluster_delslots(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    change_slots(cx, listed(argv)?.into_iter(), false, out)
}

fn change_ranges(cx: &mut Ctx<'_>, argv: Argv<'_>, is_added: bool, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    if argv.len() % 2 == 1 {
        let name = if is_added { "cluster|addslotsrange" } else { "cluster|delslotsrange" };
        return Err(Failure::Arity(name.to_owned()));
    }
    let mut slots = Vec::new();
    for pair in argv[2..].chunks_exact(2) {
        let (start, end) = (slot(pair[0])?, slot(pair[1])?);
        if start > end {
            return Err(Failure::slots_backwards(start, end));
        }
        slots.extend(start..=end);
    }
    change_slots(cx, slots.into_iter(), is_added, out)
}

fn cluster_addslotsrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    change_ranges(cx, argv, true, out)
}

fn cluster_delslotsrange(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    change_ranges(cx, argv, false, out)
}

fn cluster_flushslots(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    if cx.state.store.len(0) > 0 {
        return Err(Failure::FLUSHSLOTS_WITH_KEYS);
    }
    let cluster = cluster(cx)?;
    let own = (0..SLOT_COUNT).filter(|&slot| cluster.owner(slot) == Some(MYSELF));
    own.collect::<Vec<_>>().into_iter().for_each(|slot| cluster.assign(slot, None));
    slots_changed(cx, out)
}

fn keys_in_slot(state: &State, slot: i64) -> impl Iterator<Item = &[u8]> {
    let keys = state.store.entries(0).map(|entry| entry.key());
    keys.filter(move |key| i64::from(key_slot(key)) == slot)
}

fn cluster_countkeysinslot(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    let slot = int(argv[2])?;
    if !(0..i64::from(SLOT_COUNT)).contains(&slot) {
        return Err(Failure::BAD_SLOT_TO_COUNT);
    }
    out.int(keys_in_slot(cx.state, slot).count() as i64);
    Ok(Flow::Done)
}

fn cluster_getkeysinslot(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    let (slot, most) = (int(argv[2])?, int(argv[3])?);
    let most = usize::try_from(most).ok().filter(|_| (0..i64::from(SLOT_COUNT)).contains(&slot));
    let keys: Vec<&[u8]> =
        keys_in_slot(cx.state, slot).take(most.ok_or(Failure::BAD_SLOT_OR_COUNT)?).collect();
    out.array(keys.len());
    keys.into_iter().for_each(|key| out.bulk(key));
    Ok(Flow::Done)
}

fn cluster_keyslot(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    out.int(key_slot(argv[2]).into());
    Ok(Flow::Done)
}

fn cluster_myid(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    out.bulk(cx.state.node_id(MYSELF).as_bytes());
    Ok(Flow::Done)
}

fn cluster_reset(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    let hard = match argv {
        [_, _] => false,
        [_, _, how] if is(how, "hard") => true,
        [_, _, how] if is(how, "soft") => false,
        _ => return Err(Failure::Syntax),
    };
    if cx.state.store.len(cx.db()) > 0 {
        return Err(Failure::RESET_WITH_KEYS);
    }
    cluster(cx)?.reset(hard);
    slots_changed(cx, out)
}

fn cluster_bumpepoch(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let cluster = cluster(cx)?;
    let said = if cluster.bump_epoch() { "BUMPED" } else { "STILL" };
    out.status(&format!("{said} {}", cluster.my_epoch));
    Ok(Flow::Done)
}

fn cluster_set_config_epoch(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let cluster = cluster(cx)?;
    let number = int(argv[2])?;
    let epoch = u64::try_from(number).map_err(|_| Failure::bad_epoch(number))?;
    if cluster.nodes().count() > 1 {
        return Err(Failure::EPOCH_WITH_OTHERS);
    }
    if cluster.my_epoch != 0 {
        return Err(Failure::EPOCH_IS_SET);
    }
    cluster.my_epoch = epoch;
    cluster.current_epoch = cluster.current_epoch.max(epoch);
    done(out)
}

fn cluster_saveconfig(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    done(out)
}

fn cluster_failover(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    match argv {
        [_, _] => Err(Failure::FAILOVER_OF_MASTER),
        [_, _, how] if is(how, "force") || is(how, "takeover") => Err(Failure::FAILOVER_OF_MASTER),
        _ => Err(Failure::Syntax),
    }
}

fn cluster_forget(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    match node(cx, argv[2]).ok_or_else(|| Failure::unknown_node(argv[2]))? {
        MYSELF => return Err(Failure::FORGET_MYSELF),
        other => cluster(cx)?.forget(other),
    }
    slots_changed(cx, out)
}

fn cluster_replicate(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    if node(cx, argv[2]).ok_or_else(|| Failure::unknown_node(argv[2]))? == MYSELF {
        return Err(Failure::REPLICATE_MYSELF);
    }
    if cluster(cx)?.slot_count(MYSELF) > 0 || cx.state.store.len(0) > 0 {
        return Err(Failure::REPLICATE_WITH_SLOTS);
    }
    Err(Failure::CANNOT_REPLICATE)
}

/// No node has replicas.
fn replicas_of(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    node(cx, argv[2]).ok_or_else(|| Failure::unknown_node(argv[2]))?;
    out.array(0);
    Ok(Flow::Done)
}

fn cluster_replicas(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    replicas_of(cx, argv, out)
}

fn cluster_slaves(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    replicas_of(cx, argv, out)
}

fn cluster_count_failure_reports(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    node(cx, argv[2]).ok_or_else(|| Failure::unknown_node(argv[2]))?;
    out.int(0);
    Ok(Flow::Done)
}

fn cluster_meet(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    let port = int(argv[3]).map_err(|_| Failure::bad_node_port("base", argv[3]))?;
    let bus_port = match argv.get(4) {
        Some(word) => int(word).map_err(|_| Failure::bad_node_port("bus", word))?,
        None => port.saturating_add(10_000),
    };
    let address = std::str::from_utf8(argv[2]).ok().and_then(|text| text.parse::<IpAddr>().ok());
    let is_port = |port: &i64| (1..=65_535).contains(port);
    if address.is_none() || !is_port(&port) || !is_port(&bus_port) {
        return Err(Failure::bad_node_address(argv[2], argv[3]));
    }
    Err(Failure::CANNOT_MEET)
}

fn cluster_setslot(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    let slot = slot(argv[2])?;
    let has_keys = keys_in_slot(cx.state, slot.into()).next().is_some();
    let named = argv.get(4).map(|id| (node(cx, id), *id));
    let cluster = cluster(cx)?;
    let is_mine = cluster.owner(slot) == Some(MYSELF);
    match (argv[3], named) {
        (action, Some((node, id))) if is(action, "migrating") && argv.len() == 5 => {
            if !is_mine {
                return Err(Failure::not_owner_of_slot(slot));
            }
            cluster.migrating.insert(slot, node.ok_or_else(|| Failure::node_not_known(id))?);
        }
        (action, Some((node, id))) if is(action, "importing") && argv.len() == 5 => {
            if is_mine {
                return Err(Failure::owner_of_slot(slot));
            }
            cluster.importing.insert(slot, node.ok_or_else(|| Failure::node_not_known(id))?);
        }
        (action, None) if is(action, "stable") => {
            cluster.migrating.remove(&slot);
            cluster.importing.remove(&slot);
        }
        (action, Some((node, id))) if is(action, "node") && argv.len() == 5 => {
            let node = node.ok_or_else(|| Failure::unknown_node(id))?;
            if is_mine && node != MYSELF && has_keys {
                return Err(Failure::slot_has_keys(slot));
            }
            give_slot(cluster, slot, node, has_keys);
        }
        _ => return Err(Failure::BAD_SETSLOT),
    }
    slots_changed(cx, out)
}

/// A slot has come to its new node.
fn give_slot(cluster: &mut Cluster, slot: u16, node: NodeNumber, has_keys: bool) {
    if !has_keys {
        cluster.migrating.remove(&slot);
    }
    cluster.assign(slot, Some(node));
    if node == MYSELF && cluster.importing.remove(&slot).is_some() {
        cluster.bump_epoch();
    }
}

fn cluster_help(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    is_node(cx)?;
    help::reply(out, "CLUSTER", LINES);
    Ok(Flow::Done)
}

const LINES: &[&str] = &[
    "ADDSLOTS <slot> [<slot> ...]",
    "    Assign slots to current node.",
    "ADDSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
    "    Assign slots which are between <start-slot> and <end-slot> to current node.",
    "BUMPEPOCH",
    "    Advance the cluster config epoch.",
    "COUNT-FAILURE-REPORTS <node-id>",
    "    Return number of failure reports for <node-id>.",
    "COUNTKEYSINSLOT <slot>",
    "    Return the number of keys in <slot>.",
    "DELSLOTS <slot> [<slot> ...]",
    "    Delete slots information from current node.",
    "DELSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
    "    Delete slots information which are between <start-slot> and <end-slot> from current node.",
    "FAILOVER [FORCE|TAKEOVER]",
    "    Promote current replica node to being a master.",
    "FORGET <node-id>",
    "    Remove a node from the cluster.",
    "GETKEYSINSLOT <slot> <count>",
    "    Return key names stored by current node in a slot.",
    "FLUSHSLOTS",
    "    Delete current node own slots information.",
    "INFO",
    "    Return information about the cluster.",
    "KEYSLOT <key>",
    "    Return the hash slot for <key>.",
    "MEET <ip> <port> [<bus-port>]",
    "    Connect nodes into a working cluster.",
    "MYID",
    "    Return the node id.",
    "NODES",
    "    Return cluster configuration seen by node. Output format:",
    "    <id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...",
    "REPLICATE <node-id>",
    "    Configure current node as replica to <node-id>.",
    "RESET [HARD|SOFT]",
    "    Reset current node (default: soft).",
    "SET-CONFIG-EPOCH <epoch>",
    "    Set config epoch of current node.",
    "SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)",
    "    Set slot state.",
    "REPLICAS <node-id>",
    "    Return <node-id> replicas.",
    "SAVECONFIG",
    "    Force saving cluster configuration on disk.",
    "SLOTS",
    "    Return information about slots range mappings. Each range is made of:",
    "    start, end, master and replicas IP addresses, ports and ids",
    "SHARDS",
    "    Return information about slot range mappings and the nodes associated with them.",
    "LINKS",
    "    Return information about all network links between this node and its peers.",
    "    Output format is an array where each array element is a map containing attributes of a link",
];
