//! What the engine knows of a client: plain data, kept in a slab, so that commands about clients are ordinary handlers.

use super::Argv;
use super::blocking::Wait;
use super::buffers::Buffers;
use super::pubsub::Subscriber;
use super::replication::Replica;
use super::spec::Flags;
use super::tracking::Caching;
use crate::reply::Resp;
use crate::store::{Db, SessionId};
use crate::util::bytes::Bytes;
use std::sync::Arc;

/// The session that scripts run with; it belongs to the engine.
pub const SCRIPT_SESSION: SessionId = 0;

/// Where a client comes from, when it came through a socket.
#[derive(Debug, Clone, Default)]
pub struct Peer {
    /// Its address, as `127.0.0.1:60866`.
    pub address: Box<str>,
    /// The address that it came to.
    pub local_address: Box<str>,
    /// It came to a socket in the file system.
    pub is_unix: bool,
    /// The file descriptor of its socket.
    pub descriptor: i32,
    /// What stands in its buffers.
    pub buffers: Arc<Buffers>,
    /// Since when more replies wait than the soft limit allows, in seconds.
    pub above_soft_since_s: Option<i64>,
}

/// One client.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// What CLIENT ID says; never used again.
    pub client_id: u64,
    /// The database that SELECT chose.
    pub db: Db,
    /// The protocol version that HELLO chose.
    pub resp: Resp,
    /// What CLIENT SETNAME set; empty for none.
    pub name: Bytes,
    /// The open transaction.
    pub queue: Option<Queue>,
    /// How many commands the transaction has that EXEC is running now.
    pub running: Option<usize>,
    /// A script that may not write runs with the session.
    pub read_only: bool,
    /// The user that it is, unless that is the default one.
    pub user: Option<Bytes>,
    /// It has given a password, or was let in without one.
    pub authenticated: bool,
    /// Its commands have to be looked at: its user may not do everything, or it has not authenticated yet.
    pub restricted: bool,
    /// Its commands come from a journal and were checked when they were written there.
    pub replays: bool,
    /// Where it comes from; none for one of this process.
    pub peer: Option<Box<Peer>>,
    /// When it was opened, in milliseconds.
    pub created_at_ms: i64,
    /// When it called last, in milliseconds.
    pub used_at_ms: i64,
    /// The full name of the last command; empty before the first one and after an unknown one.
    pub last_command: &'static str,
    /// Whether its replies are sent.
    pub replies: Replies,
    /// What it has waited for is answered: messages that come now stand behind that.
    pub is_answered: bool,
    /// What it does not want of the reply has been taken out of it already.
    pub is_sifted: bool,
    /// CLIENT NO-EVICT is on.
    pub no_evict: bool,
    /// What it waits for, when it does.
    pub blocked: Option<Box<Wait>>,
    /// Its subscriptions and its inbox, once it has subscribed.
    pub subscriber: Option<Box<Subscriber>>,
    /// ASKING: its next command may use a slot that is on its way here.
    pub asking: bool,
    /// READONLY: it would read what a replica has.
    pub reads_replicas: bool,
    /// CLIENT TRACKING: it caches keys.
    pub tracking: Option<Box<Caching>>,
    /// MONITOR: it is shown what runs.
    pub monitors: bool,
    /// What it has told as a replica.
    pub replica: Option<Box<Replica>>,
    /// The key that was written, while its waiting command runs again.
    pub woken_by: Option<Bytes>,
    /// Ended by QUIT, CLIENT KILL or a full inbox: it takes no further call.
    pub closed: bool,
    /// It has ended at once: what waits to be sent to it is not sent.
    pub cut: bool,
}

/// What becomes of the replies of a client, as CLIENT REPLY sets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Replies {
    /// They are sent.
    #[default]
    On,
    /// None is sent.
    Off,
    /// That of the command after this one is not sent.
    SkipNext,
    /// That of the running command is not sent.
    Skip,
}

impl Replies {
    /// Whether what is answered now is sent.
    pub fn are_sent(self) -> bool {
        matches!(self, Replies::On | Replies::SkipNext)
    }
    /// The mode after a command, and whether its reply is sent.
    pub fn after_command(self) -> (Self, bool) {
        match self {
            Replies::On => (Replies::On, true),
            Replies::Off => (Replies::Off, false),
            Replies::SkipNext => (Replies::Skip, false),
            Replies::Skip => (Replies::On, false),
        }
    }
}

/// The commands between MULTI and EXEC.
#[derive(Debug, Clone)]
pub struct Queue {
    /// The commands, in order.
    pub commands: Vec<Vec<Box<[u8]>>>,
    /// A command was refused while queueing: EXEC will answer EXECABORT.
    pub spoiled: bool,
    /// All flags of the queued commands.
    pub flags: Flags,
    /// The flags that each of them has.
    pub common_flags: Flags,
    /// Bytes of all words, with a pointer for each as the server counts.
    pub bytes: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { commands: Vec::new(), spoiled: false, flags: 0, common_flags: !0, bytes: 0 }
    }
}

impl Session {
    /// Adds a command to the open transaction.
    pub fn enqueue(&mut self, argv: Argv<'_>, flags: Flags) {
        if let Some(queue) = &mut self.queue {
            queue.commands.push(argv.iter().map(|arg| Box::from(*arg)).collect());
            queue.bytes += argv.iter().map(|word| word.len() + size_of::<u64>()).sum::<usize>();
            queue.flags |= flags;
            queue.common_flags &= flags;
        }
    }
    /// A command was refused: an open transaction will not run.
    pub fn spoil_queue(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.spoiled = true;
        }
    }
}

/// All sessions, by number.
#[derive(Debug, Clone)]
pub struct Sessions {
    slots: Vec<Option<Session>>,
    free: Vec<SessionId>,
    next_client_id: u64,
    /// What a new session is, as to `authenticated` and `restricted`.
    rights: (bool, bool),
}

impl Default for Sessions {
    fn default() -> Self {
        Sessions {
            slots: vec![Some(Session::default())],
            free: Vec::new(),
            next_client_id: 1,
            rights: (true, false),
        }
    }
}

impl Sessions {
    /// Begins anew, with what new sessions are in the other.
    #[cfg(feature = "sim")]
    pub(crate) fn rewind(&mut self, other: &Sessions) {
        self.slots.clear();
        self.slots.push(other.slots[usize::from(SCRIPT_SESSION as u16)].clone());
        self.free.clear();
        self.next_client_id = other.next_client_id;
        self.rights = other.rights;
    }
    /// Opens a session.
    pub fn open(&mut self, now_ms: i64) -> SessionId {
        let client_id = self.next_client_id;
        self.next_client_id += 1;
        let (authenticated, restricted) = self.rights;
        let session = Session {
            client_id,
            authenticated,
            restricted,
            created_at_ms: now_ms,
            used_at_ms: now_ms,
            ..Session::default()
        };
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = Some(session);
                id
            }
            None => {
                self.slots.push(Some(session));
                (self.slots.len() - 1) as SessionId
            }
        }
    }
    /// Sets what new sessions are, as to `authenticated` and `restricted`.
    pub(crate) fn set_rights(&mut self, authenticated: bool, restricted: bool) {
        self.rights = (authenticated, restricted);
    }
    /// Closes a session; its number is used again.
    pub fn close(&mut self, id: SessionId) {
        if id != SCRIPT_SESSION && self.slots.get_mut(id as usize).and_then(Option::take).is_some() {
            self.free.push(id);
        }
    }
    /// A session that is open.
    ///
    /// # Panics
    /// When it is not; a client holds its session open, so that input cannot lead here.
    #[inline]
    pub fn get(&self, id: SessionId) -> &Session {
        self.slots[id as usize].as_ref().expect("a client holds its session open")
    }
    /// A session, if it is open.
    pub(crate) fn find(&self, id: SessionId) -> Option<&Session> {
        self.slots.get(id as usize)?.as_ref()
    }
    /// A session that is open, for changing; panics as [`get`](Self::get).
    #[inline]
    pub fn get_mut(&mut self, id: SessionId) -> &mut Session {
        self.slots[id as usize].as_mut().expect("a client holds its session open")
    }
    /// All clients in order of their number, scripts' own session and ended ones left out.
    pub fn iter(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        let slots = (0..).zip(&self.slots).skip(1);
        slots.filter_map(|(id, slot)| {
            slot.as_ref().filter(|session| !session.closed).map(|session| (id, session))
        })
    }
    /// All sessions with their numbers, for changing; those of scripts and ended ones too.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (SessionId, &mut Session)> {
        (0..).zip(&mut self.slots).filter_map(|(id, slot)| Some((id, slot.as_mut()?)))
    }
    /// How many clients there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }
    /// True when there is no client.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
