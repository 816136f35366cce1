//! A node of a cluster: which slots it serves, what it knows of other nodes, and where a command has to go for its keys.
//! Nodes do not talk to each other: others are those that the keeper of the engine has told of. The commands are in
//! `commands::cluster`.

use super::blocking::{Unblock, Wait};
use super::keys;
use super::session::Session;
use super::spec::{ASKING, Group, WRITE};
use super::table::Row;
use super::{Argv, Ctx, State};
use crate::error::Failure;
use crate::store::SessionId;
use crate::util::crc16::{SLOT_COUNT, key_slot};
use crate::util::rng::Rng;
use std::collections::BTreeMap;

/// The number of a node; this one is [`MYSELF`].
pub type NodeNumber = u16;
/// This node.
pub const MYSELF: NodeNumber = 0;
/// No node.
const NOBODY: NodeNumber = NodeNumber::MAX;

/// Another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Forty hexadecimal digits.
    pub id: String,
    /// Its address.
    pub address: String,
    /// Its port.
    pub port: u16,
}

/// What a node knows of its cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Other nodes, the one with the number 1 first.
    others: Vec<Node>,
    /// Who serves each slot.
    owners: Vec<NodeNumber>,
    /// How many slots nobody serves.
    unserved: usize,
    /// Slots of this node on their way to others.
    pub migrating: BTreeMap<u16, NodeNumber>,
    /// Slots of others on their way to this node.
    pub importing: BTreeMap<u16, NodeNumber>,
    /// The newest epoch that is known.
    pub current_epoch: u64,
    /// The epoch of what this node serves.
    pub my_epoch: u64,
    /// How often the node has taken another identity.
    identities: u64,
}

/// A node that serves all slots alone.
impl Default for Cluster {
    fn default() -> Self {
        Cluster {
            others: Vec::new(),
            owners: vec![MYSELF; usize::from(SLOT_COUNT)],
            unserved: 0,
            migrating: BTreeMap::new(),
            importing: BTreeMap::new(),
            current_epoch: 0,
            my_epoch: 0,
            identities: 0,
        }
    }
}

impl Cluster {
    /// Who serves a slot.
    pub fn owner(&self, slot: u16) -> Option<NodeNumber> {
        self.owners.get(usize::from(slot)).copied().filter(|&node| node != NOBODY)
    }
    /// Lets a node serve a slot, or nobody.
    pub fn assign(&mut self, slot: u16, node: Option<NodeNumber>) {
        if let Some(owner) = self.owners.get_mut(usize::from(slot)) {
            self.unserved -= usize::from(*owner == NOBODY);
            *owner = node.unwrap_or(NOBODY);
            self.unserved += usize::from(*owner == NOBODY);
        }
    }
    /// How many slots a node serves.
    pub fn slot_count(&self, node: NodeNumber) -> usize {
        self.owners.iter().filter(|&&owner| owner == node).count()
    }
    /// Slots that somebody serves.
    pub fn assigned(&self) -> usize {
        self.owners.len() - self.unserved
    }
    /// The ranges of slots that each node serves, in order: first and last slot and the node.
    pub fn ranges(&self) -> Vec<(u16, u16, NodeNumber)> {
        let mut ranges: Vec<(u16, u16, NodeNumber)> = Vec::new();
        for (slot, &owner) in (0u16..).zip(&self.owners) {
            match ranges.last_mut() {
                Some((_, last, node)) if *node == owner && *last + 1 == slot => *last = slot,
                _ => ranges.push((slot, slot, owner)),
            }
        }
        ranges.retain(|(_, _, node)| *node != NOBODY);
        ranges
    }
    /// Another node.
    pub fn other(&self, node: NodeNumber) -> Option<&Node> {
        self.others.get(usize::from(node).checked_sub(1)?)
    }
    /// All nodes with their numbers, this one first.
    pub fn nodes(&self) -> impl Iterator<Item = NodeNumber> + use<> {
        MYSELF..=self.others.len() as NodeNumber
    }
    /// Another node that serves these slots.
    pub fn add(&mut self, node: Node, slots: impl IntoIterator<Item = u16>) {
        self.others.push(node);
        let number = self.others.len() as NodeNumber;
        slots.into_iter().for_each(|slot| self.assign(slot, Some(number)));
    }
    /// Forgets a node, which serves nothing from then on.
    pub fn forget(&mut self, node: NodeNumber) {
        let Some(place) = usize::from(node).checked_sub(1).filter(|place| *place < self.others.len()) else {
            return;
        };
        self.others.remove(place);
        for owner in &mut self.owners {
            *owner = match *owner {
                owner if owner == node => {
                    self.unserved += 1;
                    NOBODY
                }
                owner if owner > node && owner != NOBODY => owner - 1,
                owner => owner,
            };
        }
        for on_their_way in [&mut self.migrating, &mut self.importing] {
            on_their_way.retain(|_, other| *other != node);
            on_their_way.values_mut().filter(|other| **other > node).for_each(|other| *other -= 1);
        }
    }
    /// Serves nothing and knows nobody; a hard reset takes another identity too.
    pub fn reset(&mut self, hard: bool) {
        let identities = self.identities + u64::from(hard);
        let (current_epoch, my_epoch) = if hard { (0, 0) } else { (self.current_epoch, self.my_epoch) };
        *self = Cluster { current_epoch, my_epoch, identities, ..Cluster::default() };
        self.owners.fill(NOBODY);
        self.unserved = self.owners.len();
    }
    /// Takes the next epoch, unless this node has the newest one already; whether it did.
    pub fn bump_epoch(&mut self) -> bool {
        let bumps = self.my_epoch == 0 || self.my_epoch != self.current_epoch;
        if bumps {
            self.current_epoch += 1;
            self.my_epoch = self.current_epoch;
        }
        bumps
    }
}

impl State {
    /// The identity of a node.
    pub fn node_id(&self, node: NodeNumber) -> String {
        const PURPOSE: u64 = 0x006e_6f64_655f_6964;
        let Some(cluster) = &self.cluster else { return String::new() };
        match cluster.other(node) {
            Some(other) => other.id.clone(),
            None => {
                let number = cluster.identities.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                Rng::new(self.store.seed() ^ PURPOSE ^ number).hex(40)
            }
        }
    }
    /// The address of a node.
    pub fn node_address(&self, node: NodeNumber) -> String {
        let other = self.cluster.as_ref().and_then(|cluster| cluster.other(node));
        other.map_or_else(|| self.config.text("cluster-announce-ip"), |other| other.address.clone())
    }
    /// The port of a node.
    pub fn node_port(&self, node: NodeNumber) -> i64 {
        let other = self.cluster.as_ref().and_then(|cluster| cluster.other(node));
        let own = || match self.number("cluster-announce-port") {
            0 => self.number("port"),
            port => port,
        };
        other.map_or_else(own, |other| other.port.into())
    }
    /// The port at which a node would talk to others.
    pub fn node_bus_port(&self, node: NodeNumber) -> i64 {
        const BEYOND_PORT: i64 = 10_000;
        let of_my_own = ["cluster-announce-bus-port", "cluster-port"].map(|name| self.number(name));
        let own = of_my_own.into_iter().find(|&port| port != 0 && node == MYSELF);
        own.unwrap_or_else(|| {
            let port = if node == MYSELF { self.number("port") } else { self.node_port(node) };
            port + BEYOND_PORT
        })
    }
    fn number(&self, name: &str) -> i64 {
        self.config.text(name).parse().unwrap_or_default()
    }
    /// The host name that this node is known by; others have none.
    pub fn node_hostname(&self, node: NodeNumber) -> String {
        if node == MYSELF { self.config.text("cluster-announce-hostname") } else { String::new() }
    }
    /// Where clients are sent for a node.
    pub fn node_endpoint(&self, node: NodeNumber) -> String {
        match self.config.text("cluster-preferred-endpoint-type").as_str() {
            "hostname" => match self.node_hostname(node) {
                name if name.is_empty() => "?".to_owned(),
                name => name,
            },
            "unknown-endpoint" => String::new(),
            _ => self.node_address(node),
        }
    }
    /// Whether all is served that has to be.
    pub fn cluster_is_up(&self) -> bool {
        let Some(cluster) = &self.cluster else { return true };
        match cluster.assigned() {
            0 => false,
            count => count == usize::from(SLOT_COUNT) || !self.config.is_yes("cluster-require-full-coverage"),
        }
    }
}

/// What a command needs of a cluster.
#[derive(Default)]
struct Needs<'a> {
    /// The slot of its keys.
    slot: Option<u16>,
    first_key: &'a [u8],
    has_many_keys: bool,
    existing: usize,
    missing: usize,
}

impl<'a> Needs<'a> {
    /// Adds the keys of a command.
    fn add(&mut self, cx: &Ctx<'_>, row: &Row, argv: &[&'a [u8]]) -> Result<(), Failure> {
        let is_channel = row.spec.group == Group::Pubsub;
        for at in keys::routed(row.spec, argv) {
            let Some(key) = argv.get(at) else { continue };
            let slot = key_slot(key);
            if self.slot.is_none() {
                (self.slot, self.first_key) = (Some(slot), *key);
                if cx.state.cluster.as_ref().is_some_and(|cluster| cluster.owner(slot).is_none()) {
                    return Err(Failure::SLOT_NOT_SERVED);
                }
            } else if self.first_key != *key {
                if self.slot != Some(slot) {
                    return Err(Failure::CROSS_SLOT);
                }
                self.has_many_keys = true;
            }
            if !is_channel {
                let is_here = cx.state.store.contains(0, key);
                self.existing += usize::from(is_here);
                self.missing += usize::from(!is_here);
            }
        }
        Ok(())
    }
}

impl State {
    /// Slots have another owner: who waits for keys of them waits here no more.
    pub(crate) fn redirect_waiting(&mut self) {
        if self.blocked == 0 {
            return;
        }
        let goes = |(id, session): (SessionId, &Session)| {
            let wait = session.blocked.as_deref()?;
            self.redirection(wait).map(|_| (id, Unblock::Redirected))
        };
        let redirected: Vec<_> = self.sessions.iter().filter_map(goes).collect();
        self.unblocked.extend(redirected);
    }
    /// Where a client has to go whose key can come here no more; none when it may go on waiting.
    pub(crate) fn redirection(&self, wait: &Wait) -> Option<Failure> {
        let cluster = self.cluster.as_ref().filter(|_| wait.on.type_name().is_some())?;
        if !self.cluster_is_up() {
            return Some(Failure::CLUSTER_DOWN);
        }
        let slot = key_slot(wait.keys.first()?);
        match cluster.owner(slot) {
            Some(MYSELF) => None,
            _ if cluster.importing.contains_key(&slot) => None,
            Some(other) => Some(self.moved("MOVED", slot, other)),
            None => Some(Failure::SLOT_NOT_SERVED),
        }
    }
    fn moved(&self, code: &str, slot: u16, node: NodeNumber) -> Failure {
        Failure::redirected(code, slot, &self.node_endpoint(node), self.node_port(node))
    }
}

impl Ctx<'_> {
    /// Before a command of a client: whether this node is where it has to go. Notes the slot of its keys.
    ///
    /// # Errors
    /// Where it has to go instead, or why it goes nowhere.
    pub(super) fn check_slot(&mut self, row: &'static Row, argv: Argv<'_>) -> Result<(), Failure> {
        let was_asking = self.session().asking;
        let in_multi = self.session().queue.is_some();
        let ends_multi = matches!(row.spec.name, "exec" | "discard");
        if !matches!(row.spec.name, "asking" | "multi") && (!in_multi || ends_multi) {
            self.session_mut().asking = false;
        }
        (self.state.keys_slot, self.state.is_asking) = (None, was_asking);
        let session = self.session();
        if session.replays || session.woken_by.is_some() {
            return Ok(());
        }
        let result = match &session.queue {
            Some(queue) if row.spec.name == "exec" => {
                let writes = queue.flags & WRITE != 0;
                self.slot_of_queue().and_then(|needs| self.serves(&needs, writes, was_asking, row, true))
            }
            _ if !row.spec.keys.is_empty() => {
                let mut needs = Needs::default();
                let writes = super::memory::queued_flags(self, row, argv) & WRITE != 0;
                let is_asking = was_asking || row.spec.has(ASKING);
                needs.add(self, row, argv).and_then(|()| self.serves(&needs, writes, is_asking, row, false))
            }
            _ => Ok(None),
        };
        match result {
            Ok(slot) => self.state.keys_slot = slot,
            Err(failure) => return Err(self.redirect(row, failure)),
        }
        Ok(())
    }
    fn slot_of_queue(&self) -> Result<Needs<'_>, Failure> {
        let mut needs = Needs::default();
        let Some(queue) = &self.session().queue else { return Ok(needs) };
        for words in &queue.commands {
            let argv: Vec<&[u8]> = words.iter().map(|word| &**word).collect();
            if let Ok(row) = self.state.table.lookup(&argv) {
                needs.add(self, row, &argv)?;
            }
        }
        Ok(needs)
    }
    /// An EXEC that has to go elsewhere ends its transaction.
    fn redirect(&mut self, row: &Row, failure: Failure) -> Failure {
        if row.spec.name == "exec" {
            self.end_transaction();
        }
        failure
    }
    /// Whether this node serves keys; their slot.
    fn serves(
        &self,
        needs: &Needs<'_>,
        writes: bool,
        is_asking: bool,
        row: &Row,
        is_exec: bool,
    ) -> Result<Option<u16>, Failure> {
        let (Some(slot), Some(cluster)) = (needs.slot, &self.state.cluster) else { return Ok(None) };
        if !self.state.cluster_is_up() {
            let is_channel = !is_exec && row.spec.group == Group::Pubsub;
            let allowed = if is_channel {
                "cluster-allow-pubsubshard-when-down"
            } else {
                "cluster-allow-reads-when-down"
            };
            match self.state.config.is_yes(allowed) {
                false => return Err(Failure::CLUSTER_DOWN),
                true if writes && !is_channel => return Err(Failure::CLUSTER_READS_ONLY),
                true => {}
            }
        }
        let owner = cluster.owner(slot);
        let migrating = cluster.migrating.get(&slot).filter(|_| owner == Some(MYSELF));
        let is_importing = migrating.is_none() && cluster.importing.contains_key(&slot);
        if (migrating.is_some() || is_importing) && row.spec.name == "migrate" {
            return Ok(Some(slot));
        }
        if let Some(&target) = migrating
            && needs.missing > 0
        {
            return Err(if needs.existing > 0 {
                Failure::TRY_AGAIN
            } else {
                self.state.moved("ASK", slot, target)
            });
        }
        if is_importing && is_asking {
            let is_split = needs.has_many_keys && needs.missing > 0;
            return if is_split { Err(Failure::TRY_AGAIN) } else { Ok(Some(slot)) };
        }
        match owner {
            Some(MYSELF) => Ok(Some(slot)),
            Some(other) => Err(self.state.moved("MOVED", slot, other)),
            None => Err(Failure::SLOT_NOT_SERVED),
        }
    }
    /// Before a command of a script: its keys are here, and of the slot that the script works on unless it may use several.
    ///
    /// # Errors
    /// With the texts that the server has for scripts.
    pub(super) fn check_script_slot(&mut self, row: &'static Row, argv: Argv<'_>) -> Result<(), Failure> {
        if row.spec.keys.is_empty() {
            return Ok(());
        }
        let is_asking = self.state.is_asking;
        let mut needs = Needs::default();
        let found = needs
            .add(self, row, argv)
            .and_then(|()| self.serves(&needs, row.spec.has(WRITE), is_asking, row, false));
        let slot = found.map_err(|failure| match failure {
            failure if failure == Failure::CLUSTER_DOWN => Failure::SCRIPT_CLUSTER_DOWN,
            failure if failure == Failure::CLUSTER_READS_ONLY => Failure::SCRIPT_CLUSTER_READS_ONLY,
            _ => Failure::SCRIPT_KEY_ELSEWHERE,
        })?;
        if slot.is_none() || self.state.script_crosses_slots {
            return Ok(());
        }
        match self.state.keys_slot {
            Some(_) if self.state.keys_slot != slot => Err(Failure::SCRIPT_CROSS_SLOT),
            _ => {
                self.state.keys_slot = slot;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_nobody_serves_are_counted_as_they_change() {
        let mut cluster = Cluster::default();
        let node = |port| Node { id: "ab".repeat(20), address: String::new(), port };
        cluster.add(node(1), [1, 2, 3]);
        cluster.add(node(2), [3, 4]);
        let mut rng = Rng::new(7);
        for _ in 0..2000 {
            match rng.below(40) {
                0 => cluster.reset(false),
                1 => cluster.forget(1),
                2 => cluster.add(node(3), [rng.below(50) as u16]),
                owner => cluster.assign(rng.below(50) as u16, (owner % 2 == 0).then_some(MYSELF)),
            }
            assert_eq!(cluster.assigned(), cluster.owners.iter().filter(|&&owner| owner != NOBODY).count());
        }
    }
}
