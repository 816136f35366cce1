//! What a node of a cluster tells of it: CLUSTER INFO, LINKS, NODES, SHARDS and SLOTS. What it serves is changed in `cluster`.

use crate::command::cluster::{Cluster, MYSELF, NodeNumber};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, State};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "cluster|info",
        usage: "CLUSTER INFO",
        summary: "Provides info about Redis Cluster node state",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        flags: STALE,
        tips: &["nondeterministic_output"],
        run: cluster_info,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|links",
        usage: "CLUSTER LINKS",
        summary: "Returns a list of all TCP links to and from peer nodes in cluster",
        since: "7.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of Cluster nodes",
        flags: STALE,
        tips: &["nondeterministic_output"],
        run: cluster_links,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|nodes",
        usage: "CLUSTER NODES",
        summary: "Get Cluster config for the node",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of Cluster nodes",
        flags: STALE,
        tips: &["nondeterministic_output"],
        run: cluster_nodes,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|shards",
        usage: "CLUSTER SHARDS",
        summary: "Get array of cluster slots to node mappings",
        since: "7.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of cluster nodes",
        flags: STALE,
        tips: &["nondeterministic_output"],
        run: cluster_shards,
        ..Spec::BASE
    },
    Spec {
        name: "cluster|slots",
        usage: "CLUSTER SLOTS",
        summary: "Get array of Cluster slot to node mappings",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(N) where N is the total number of Cluster nodes",
        history: &[("4.0.0", "Added node IDs."), ("7.0.0", "Added additional networking metadata field.")],
        deprecated: Some(("7.0.0", "`CLUSTER SHARDS`")),
        flags: STALE,
        tips: &["nondeterministic_output"],
        run: cluster_slots,
        ..Spec::BASE
    },
];

/// The cluster, when there is one.
fn known<'a>(cx: &'a Ctx<'_>) -> Result<&'a Cluster, Failure> {
    cx.state.cluster.as_deref().ok_or(Failure::NO_CLUSTER)
}

fn cluster_info(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let is_up = cx.state.cluster_is_up();
    let cluster = known(cx)?;
    let assigned = cluster.assigned();
    let size = cluster.nodes().filter(|&node| cluster.slot_count(node) > 0).count();
    let text = format!(
        "cluster_state:{}\r\ncluster_slots_assigned:{assigned}\r\ncluster_slots_ok:{assigned}\r\n\
         cluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:{}\r\ncluster_size:{size}\r\n\
         cluster_current_epoch:{}\r\ncluster_my_epoch:{}\r\ncluster_stats_messages_sent:0\r\n\
         cluster_stats_messages_received:0\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n",
        if is_up { "ok" } else { "fail" },
        cluster.nodes().count(),
        cluster.current_epoch,
        cluster.my_epoch,
    );
    out.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

/// A node as a line of CLUSTER NODES.
fn description(state: &State, cluster: &Cluster, node: NodeNumber) -> String {
    let hostname = match state.node_hostname(node) {
        name if name.is_empty() => name,
        name => format!(",{name}"),
    };
    let (flags, epoch) = if node == MYSELF { ("myself,master", cluster.my_epoch) } else { ("master", 0) };
    let mut line = format!(
        "{} {}:{}@{}{hostname} {flags} - 0 0 {epoch} connected",
        state.node_id(node),
        state.node_address(node),
        state.node_port(node),
        state.node_bus_port(node),
    );
    for (first, last, _) in cluster.ranges().into_iter().filter(|(_, _, owner)| *owner == node) {
        line += &if first == last { format!(" {first}") } else { format!(" {first}-{last}") };
    }
    if node == MYSELF {
        for (slot, to) in &cluster.migrating {
            line += &format!(" [{slot}->-{}]", state.node_id(*to));
        }
        let importing = cluster.importing.iter().filter(|(slot, _)| !cluster.migrating.contains_key(slot));
        for (slot, from) in importing {
            line += &format!(" [{slot}-<-{}]", state.node_id(*from));
        }
    }
    line
}

fn cluster_nodes(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let cluster = known(cx)?;
    let lines = cluster.nodes().map(|node| description(cx.state, cluster, node) + "\n");
    out.verbatim(*b"txt", lines.collect::<String>().as_bytes());
    Ok(Flow::Done)
}

/// Where a node is, as CLUSTER SLOTS tells it: an endpoint, the port, the identity, what else is known.
fn place(state: &State, node: NodeNumber, out: &mut Reply) {
    let preferred = state.config.text("cluster-preferred-endpoint-type");
    let (hostname, address) = (state.node_hostname(node), state.node_address(node));
    out.array(4);
    match preferred.as_str() {
        "unknown-endpoint" => out.nil(),
        _ => out.bulk(state.node_endpoint(node).as_bytes()),
    }
    out.int(state.node_port(node));
    out.bulk(state.node_id(node).as_bytes());
    let others = [
        ("ip", &address, preferred != "ip"),
        ("hostname", &hostname, preferred != "hostname" && !hostname.is_empty()),
    ];
    let told = others.iter().filter(|(_, _, is_told)| *is_told);
    out.map(told.clone().count());
    for (name, value, _) in told {
        out.bulk(name.as_bytes());
        out.bulk(value.as_bytes());
    }
}

fn cluster_slots(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let ranges = known(cx)?.ranges();
    out.array(ranges.len());
    for (first, last, node) in ranges {
        out.array(3);
        out.int(first.into());
        out.int(last.into());
        place(cx.state, node, out);
    }
    Ok(Flow::Done)
}

fn cluster_shards(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let cluster = known(cx)?;
    let ranges = cluster.ranges();
    out.array(cluster.nodes().count());
    for node in cluster.nodes() {
        let own: Vec<_> = ranges.iter().filter(|(_, _, owner)| *owner == node).collect();
        out.map(2);
        out.bulk(b"slots");
        out.array(own.len() * 2);
        own.iter().flat_map(|(first, last, _)| [first, last]).for_each(|slot| out.int((*slot).into()));
        out.bulk(b"nodes");
        out.array(1);
        shard_node(cx.state, node, out);
    }
    Ok(Flow::Done)
}

/// A node as CLUSTER SHARDS tells it.
fn shard_node(state: &State, node: NodeNumber, out: &mut Reply) {
    let (port, hostname) = (state.node_port(node), state.node_hostname(node));
    let offset = if node == MYSELF { state.replication.offset } else { 0 };
    let text = |out: &mut Reply, name: &str, value: &str| {
        out.bulk(name.as_bytes());
        out.bulk(value.as_bytes());
    };
    out.map(6 + usize::from(port != 0) + usize::from(!hostname.is_empty()));
    text(out, "id", &state.node_id(node));
    if port != 0 {
        out.bulk(b"port");
        out.int(port);
    }
    text(out, "ip", &state.node_address(node));
    text(out, "endpoint", &state.node_endpoint(node));
    if !hostname.is_empty() {
        text(out, "hostname", &hostname);
    }
    text(out, "role", "master");
    out.bulk(b"replication-offset");
    out.int(offset);
    text(out, "health", "online");
}

fn cluster_links(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    known(cx)?;
    out.array(0);
    Ok(Flow::Done)
}
