//! Three reference servers that are a cluster, on loopback, with their clocks held in step.

use super::server::{Server, node_or_skip};
use super::target::{START_MS, Target};

/// What each node serves.
const SLOTS: [[&str; 2]; 3] = [["0", "5460"], ["5461", "10922"], ["10923", "16383"]];

/// A cluster; its nodes are killed on drop.
pub(crate) struct Cluster {
    nodes: Vec<(Server, u16)>,
}

/// Starts a cluster and waits until all its nodes serve, or says why the test is skipped.
pub(crate) fn cluster_or_skip(test: &str) -> Option<Cluster> {
    let nodes = SLOTS.iter().map(|_| node_or_skip(test)).collect::<Option<Vec<_>>>()?;
    let mut cluster = Cluster { nodes };
    cluster.join();
    Some(cluster)
}

impl Cluster {
    /// How a client of the cluster finds it.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.nodes.iter().map(|(_, port)| format!("redis://127.0.0.1:{port}/")).collect()
    }
    /// Lets time pass on all nodes.
    pub(crate) fn advance(&mut self, ms: i64) {
        self.nodes.iter_mut().for_each(|(node, _)| node.advance(ms));
    }
    /// Empties all nodes, at `START_MS`.
    pub(crate) fn reset(&mut self) {
        for (node, _) in &mut self.nodes {
            for words in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"]] {
                assert!(!node.control(words).is_error());
            }
            node.set_clock(START_MS);
        }
    }
    fn join(&mut self) {
        let ports: Vec<String> = self.nodes.iter().map(|(_, port)| port.to_string()).collect();
        for (at, (node, _)) in self.nodes.iter_mut().enumerate() {
            // Two nodes that begin with the same epoch would have to agree who gets another one first.
            let epoch = (at + 1).to_string();
            assert!(!node.control(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).is_error());
            let [first, last] = SLOTS[at];
            assert!(!node.control(&["CLUSTER", "ADDSLOTSRANGE", first, last]).is_error());
        }
        for port in &ports[1..] {
            assert!(!self.nodes[0].0.control(&["CLUSTER", "MEET", "127.0.0.1", port]).is_error());
        }
        // They meet by their timers, which go by the real clock; a node waits for a while before it takes writes, which
        // goes by the one that is held.
        while !self.nodes.iter_mut().all(|(node, _)| is_up(node)) {
            for (node, _) in &mut self.nodes {
                node.pass(100);
                node.control(&["DEBUG", "SLEEP", "0.01"]);
            }
        }
    }
}

fn is_up(node: &mut Server) -> bool {
    let info = node.control(&["CLUSTER", "INFO"]);
    let info = String::from_utf8_lossy(info.bytes().unwrap_or_default()).into_owned();
    ["cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:3"]
        .iter()
        .all(|line| info.contains(line))
}
