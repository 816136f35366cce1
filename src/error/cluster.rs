//! Error texts of a node of a cluster: where a command has to go, what is not allowed there, and those of CLUSTER itself.

use super::Failure;

texts! {
    /// CLUSTER and its like on an engine that is no node of a cluster.
    NO_CLUSTER = "ERR This instance has cluster support disabled";
    /// Keys of several slots.
    CROSS_SLOT = "CROSSSLOT Keys in request don't hash to the same slot";
    /// Keys of a slot that is on its way, of which some are still here.
    TRY_AGAIN = "TRYAGAIN Multiple keys request during rehashing of slot";
    /// Some slot is served by nobody.
    CLUSTER_DOWN = "CLUSTERDOWN The cluster is down";
    /// The same, where reading is allowed.
    CLUSTER_READS_ONLY = "CLUSTERDOWN The cluster is down and only accepts read commands";
    /// This slot is served by nobody.
    SLOT_NOT_SERVED = "CLUSTERDOWN Hash slot not served";
    /// A script calls for keys that are not here.
    SCRIPT_KEY_ELSEWHERE = "ERR Script attempted to access a non local key in a cluster node";
    /// A script calls while the cluster is down.
    SCRIPT_CLUSTER_DOWN = "ERR Script attempted to execute a command while the cluster is down";
    /// A script writes while the cluster is down.
    SCRIPT_CLUSTER_READS_ONLY = "ERR Script attempted to execute a write command while the cluster is down and readonly";
    /// A script calls for keys of another slot than before.
    SCRIPT_CROSS_SLOT = "ERR Script attempted to access keys that do not hash to the same slot";
    /// A script that runs on a stale replica calls a command that may not.
    SCRIPT_STALE = "ERR Can not execute the command on a stale replica";
    /// A script that does not say that it may run on a stale replica.
    SCRIPT_MAY_NOT_BE_STALE = "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag is not set on the script.";
    /// A script that may write, on a replica.
    SCRIPT_ON_READ_ONLY_REPLICA = "READONLY Can not run script with write flag on readonly replica";
    /// A script that says that it does not fit a cluster.
    SCRIPT_NO_CLUSTER = "ERR Can not run script on cluster, 'no-cluster' flag is set.";
    /// SELECT of another database than 0.
    NO_SELECT_IN_CLUSTER = "ERR SELECT is not allowed in cluster mode";
    /// MOVE.
    NO_MOVE_IN_CLUSTER = "ERR MOVE is not allowed in cluster mode";
    /// SWAPDB.
    NO_SWAPDB_IN_CLUSTER = "ERR SWAPDB is not allowed in cluster mode";
    /// COPY to another database.
    NO_COPY_IN_CLUSTER = "ERR Copying to another database is not allowed in cluster mode";
    /// REPLICAOF.
    NO_REPLICAOF_IN_CLUSTER = "ERR REPLICAOF not allowed in cluster mode.";
    /// FAILOVER.
    NO_FAILOVER_IN_CLUSTER = "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.";
    /// SORT BY a pattern.
    NO_SORT_BY_IN_CLUSTER = "ERR BY option of SORT denied in Cluster mode.";
    /// SORT GET.
    NO_SORT_GET_IN_CLUSTER = "ERR GET option of SORT denied in Cluster mode.";
    /// What is no number of a slot.
    BAD_SLOT = "ERR Invalid or out of range slot";
    /// CLUSTER COUNTKEYSINSLOT of what is none.
    BAD_SLOT_TO_COUNT = "ERR Invalid slot";
    /// CLUSTER GETKEYSINSLOT of what is none.
    BAD_SLOT_OR_COUNT = "ERR Invalid slot or number of keys";
    /// CLUSTER SETSLOT with another action.
    BAD_SETSLOT = "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP";
    /// CLUSTER FLUSHSLOTS with keys.
    FLUSHSLOTS_WITH_KEYS = "ERR DB must be empty to perform CLUSTER FLUSHSLOTS.";
    /// CLUSTER RESET with keys.
    RESET_WITH_KEYS = "ERR CLUSTER RESET can't be called with master nodes containing keys";
    /// CLUSTER SET-CONFIG-EPOCH with other nodes.
    EPOCH_WITH_OTHERS = "ERR The user can assign a config epoch only when the node does not know any other node.";
    /// CLUSTER SET-CONFIG-EPOCH once it is set.
    EPOCH_IS_SET = "ERR Node config epoch is already non-zero";
    /// CLUSTER FORGET of itself.
    FORGET_MYSELF = "ERR I tried hard but I can't forget myself...";
    /// CLUSTER REPLICATE of itself.
    REPLICATE_MYSELF = "ERR Can't replicate myself";
    /// CLUSTER REPLICATE by a node with slots or keys.
    REPLICATE_WITH_SLOTS = "ERR To set a master the node must be empty and without assigned slots.";
    /// CLUSTER REPLICATE that could be.
    CANNOT_REPLICATE = "ERR CLUSTER REPLICATE is not supported by moonkeep: an engine stays its own master";
    /// CLUSTER MEET that could be.
    CANNOT_MEET = "ERR CLUSTER MEET is not supported by moonkeep: an engine has no network. Builder::cluster_node tells it of others";
    /// CLUSTER FAILOVER of a master.
    FAILOVER_OF_MASTER = "ERR You should send CLUSTER FAILOVER to a replica";
    /// DEBUG CLUSTERLINK without a cluster.
    DEBUG_NO_CLUSTER = "ERR Debug option only available for cluster mode enabled setup!";
}

impl Failure {
    /// The slot is served by another node, for now (`ASK`) or from now on (`MOVED`).
    pub fn redirected(code: &str, slot: u16, address: &str, port: i64) -> Self {
        Failure::Text(format!("{code} {slot} {address}:{port}").into())
    }
    /// CLUSTER ADDSLOTS of a slot that somebody serves.
    pub fn slot_is_busy(slot: u16) -> Self {
        Failure::Text(format!("ERR Slot {slot} is already busy").into())
    }
    /// CLUSTER DELSLOTS of a slot that nobody serves.
    pub fn slot_is_unassigned(slot: u16) -> Self {
        Failure::Text(format!("ERR Slot {slot} is already unassigned").into())
    }
    /// A slot that is named twice.
    pub fn slot_twice(slot: u16) -> Self {
        Failure::Text(format!("ERR Slot {slot} specified multiple times").into())
    }
    /// A range that ends before it begins.
    pub fn slots_backwards(start: u16, end: u16) -> Self {
        Failure::Text(format!("ERR start slot number {start} is greater than end slot number {end}").into())
    }
    /// CLUSTER SETSLOT MIGRATING of a slot of another node.
    pub fn not_owner_of_slot(slot: u16) -> Self {
        Failure::Text(format!("ERR I'm not the owner of hash slot {slot}").into())
    }
    /// CLUSTER SETSLOT IMPORTING of a slot of this node.
    pub fn owner_of_slot(slot: u16) -> Self {
        Failure::Text(format!("ERR I'm already the owner of hash slot {slot}").into())
    }
    /// CLUSTER SETSLOT NODE of a slot whose keys are here.
    pub fn slot_has_keys(slot: u16) -> Self {
        Failure::Text(
            format!(
                "ERR Can't assign hashslot {slot} to a different node while I still hold keys for this hash slot."
            )
            .into(),
        )
    }
    /// CLUSTER SETSLOT to a node that is not known.
    pub fn node_not_known(id: &[u8]) -> Self {
        Failure::with_word("ERR I don't know about node ", id, "")
    }
    /// A node that is not known.
    pub fn unknown_node(id: &[u8]) -> Self {
        Failure::with_word("ERR Unknown node ", id, "")
    }
    /// CLUSTER SET-CONFIG-EPOCH below zero.
    pub fn bad_epoch(epoch: i64) -> Self {
        Failure::Text(format!("ERR Invalid config epoch specified: {epoch}").into())
    }
    /// CLUSTER MEET with what is no port.
    pub fn bad_node_port(kind: &str, port: &[u8]) -> Self {
        Failure::with_word(&format!("ERR Invalid TCP {kind} port specified: "), port, "")
    }
    /// CLUSTER MEET with what is no address.
    pub fn bad_node_address(address: &[u8], port: &[u8]) -> Self {
        let address = [address, b":", port].concat();
        Failure::with_word("ERR Invalid node address specified: ", &address, "")
    }
}
