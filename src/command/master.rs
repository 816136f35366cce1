//! The master of an engine that is a replica: REPLICAOF names it, and since there is no network the link to it stays down.
//! A replica takes no writes of clients, lets no key expire by itself, and answers only what its settings allow meanwhile.

use super::blocking::{Unblock, Wait, WaitOn};
use super::config::Config;
use super::memory::{may_write, queued_flags};
use super::spec::STALE;
use super::table::Row;
use super::{Argv, Ctx, State, refusal};
use crate::error::Failure;
use crate::util::num::parse_i64;

/// Whom an engine follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Master {
    /// Its address.
    pub host: Box<str>,
    /// Its port.
    pub port: u16,
}

impl Master {
    /// A port that a master may have.
    ///
    /// # Errors
    /// When it is none.
    pub fn port(word: &[u8]) -> Result<u16, Failure> {
        parse_i64(word).and_then(|port| u16::try_from(port).ok()).ok_or(Failure::BAD_MASTER_PORT)
    }
    /// Whether this is the one meant.
    pub fn is(&self, host: &[u8], port: u16) -> bool {
        host.eq_ignore_ascii_case(self.host.as_bytes()) && port == self.port
    }
}

/// The parameter replicaof as it is shown.
pub(super) fn show(config: &Config) -> String {
    config.master.as_ref().map_or_else(String::new, |master| format!("{} {}", master.host, master.port))
}

/// The parameter replicaof as a configuration file has it.
pub(super) fn read(config: &mut Config, value: &[u8]) -> Result<(), String> {
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    config.master = match words.as_slice() {
        [] => None,
        [no, one] if no.eq_ignore_ascii_case(b"no") && one.eq_ignore_ascii_case(b"one") => None,
        [host, port] => {
            let port = Master::port(port).map_err(|_| "Invalid master port")?;
            Some(Master { host: String::from_utf8_lossy(host).into(), port })
        }
        _ => return Err("wrong number of arguments".to_owned()),
    };
    Ok(())
}

impl State {
    /// The engine is a replica: somebody else is told to be the master of its keys.
    pub(crate) fn has_master(&self) -> bool {
        self.config.master.is_some()
    }
    /// Clients may not write here.
    pub(super) fn is_read_only(&self) -> bool {
        self.has_master() && self.config.replica_read_only
    }
    /// The link to the master is down, and what may be out of date is not shown.
    pub(super) fn is_stale(&self) -> bool {
        self.has_master() && !self.config.replica_serve_stale_data
    }
    /// Makes room for keys, unless the master does so. False when memory is over its limit all the same.
    pub(crate) fn make_room(&mut self) -> bool {
        let leaves_it = self.has_master() && self.config.replica_ignore_maxmemory;
        self.store.count_beside(self.client_bytes());
        leaves_it || self.store.make_room()
    }
}

impl State {
    /// The engine becomes a replica. Who waits cannot be served any more.
    pub(crate) fn obey(&mut self, master: Master) {
        self.config.master = Some(master);
        self.heed_config();
        // What a pause holds back has not begun, and is looked at again then.
        let waits = |wait: &Wait| wait.on != WaitOn::Pause;
        let waiting =
            self.sessions.iter().filter(|(_, session)| session.blocked.as_deref().is_some_and(waits));
        self.unblocked.extend(waiting.map(|(id, _)| (id, Unblock::RoleChanged)));
    }
}

impl Ctx<'_> {
    /// The engine is a master again, under a new identity. Those that follow it have to come back to learn of that.
    pub(crate) fn leave_master(&mut self) {
        self.state.config.master = None;
        self.state.heed_config();
        self.state.replication.take_new_identity();
        for id in self.state.replication.followers().to_vec() {
            self.cut_session(id);
        }
    }
}

/// Before a command of a client, on a replica: it may not write.
///
/// # Errors
/// When it may; an EXEC that is refused ends its transaction.
pub(super) fn admit_write(cx: &mut Ctx<'_>, row: &Row, argv: Argv<'_>) -> Result<(), Failure> {
    if cx.state.is_read_only() && !cx.session().replays && may_write(cx, row, argv) {
        return Err(refusal(cx, row, Failure::READ_ONLY_REPLICA));
    }
    Ok(())
}

/// Before a command of a client, on a replica whose link is down: it may show what is out of date.
///
/// # Errors
/// When that is not to be shown; an EXEC that is refused ends its transaction.
pub(super) fn admit_stale(cx: &mut Ctx<'_>, row: &Row, argv: Argv<'_>) -> Result<(), Failure> {
    if !cx.state.is_stale() {
        return Ok(());
    }
    let queued = cx.session().queue.as_ref().filter(|_| row.spec.name == "exec");
    let is_fine = queued.is_none_or(|queue| queue.common_flags & STALE != 0);
    if !is_fine || queued_flags(cx, row, argv) & STALE == 0 {
        return Err(refusal(cx, row, Failure::MASTER_IS_DOWN));
    }
    Ok(())
}
