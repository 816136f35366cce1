//! The loop: one thread takes turns among all connections, as the server does, so that what happens follows from the
//! order in which bytes arrive. It stops at sockets only; what other threads bring (a message, the end of a waiting)
//! comes through `Mailbox`. A script that runs for long calls the loop from inside, so that others are answered.

use super::connection::{Connection, Door, Gone};
use super::process::Figures;
use super::socket::Listener;
use crate::command::State;
use crate::command::buffers::Buffers;
use crate::command::process::Process;
use crate::engine::{Engine, Meanwhile, Pulse, Stop};
use crate::reply::Reply;
use crate::script::Control;
use crate::util::hasher::Map;
use mio::{Events, Poll, Token};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

const MAILBOX: Token = Token(usize::MAX);
/// Tokens below are those of listeners.
const FIRST_CONNECTION: usize = 16;
/// How often some of the connections are looked after,
const TEND_EVERY: Duration = Duration::from_millis(100);
/// and how many of them at least.
const TEND_AT_LEAST: usize = 5;
/// How many events are taken from the system at once.
const EVENTS_AT_ONCE: usize = 1024;

thread_local! {
    /// The loop that this thread runs.
    static HERE: RefCell<Option<Rc<RefCell<Turns>>>> = const { RefCell::new(None) };
}

/// Where other threads leave word for the loop.
#[derive(Debug)]
pub(super) struct Mailbox {
    woken: Mutex<Vec<Token>>,
    /// The loop may be waiting for sockets: it has to be called.
    sleeps: AtomicBool,
    stops: AtomicBool,
    bell: mio::Waker,
}

impl Stop for Mailbox {
    fn stop(&self) {
        Mailbox::stop(self);
    }
}

impl Mailbox {
    pub(super) fn stop(&self) {
        self.stops.store(true, Ordering::SeqCst);
        self.ring();
    }
    fn leave(&self, token: Token) {
        self.woken.lock().push(token);
        if self.sleeps.load(Ordering::SeqCst) {
            self.ring();
        }
    }
    /// The bell fails when the system has no memory for a counter; the loop then sees it in its next turn.
    fn ring(&self) {
        let _ = self.bell.wake();
    }
}

/// Wakes the loop.
struct Bell(Arc<Mailbox>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }
}

/// Wakes one connection.
struct Knock {
    mailbox: Arc<Mailbox>,
    token: Token,
}

impl Wake for Knock {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.mailbox.leave(self.token);
    }
}

/// All that the loop holds.
#[derive(Debug)]
pub(super) struct Turns {
    engine: Engine,
    poll: Poll,
    mailbox: Arc<Mailbox>,
    listeners: Vec<Listener>,
    /// None for the one whose turn it is.
    connections: Map<Token, Option<Box<Connection>>>,
    /// Those whose turn it is now, in order; a script in the middle of them lets the others go on.
    due: VecDeque<Token>,
    /// Connections that have more to do without being told.
    unfinished: Vec<Token>,
    /// Those that were called while they were in the middle of a call.
    missed: Vec<Token>,
    /// Listeners where somebody waits for the engine to be free.
    knocking: Vec<usize>,
    next: usize,
    clients_max: usize,
    figures: Figures,
    /// All connections, in the order in which they are looked after; those that are over too.
    tended: VecDeque<Token>,
    /// When some of them were, last.
    tended_at_ms: i64,
    /// Used again from turn to turn.
    events: Option<Events>,
}

impl Turns {
    pub(super) fn new(engine: Engine, mut listeners: Vec<Listener>, figures: Figures) -> io::Result<Self> {
        let poll = Poll::new()?;
        let bell = mio::Waker::new(poll.registry(), MAILBOX)?;
        let mailbox = Mailbox {
            woken: Mutex::new(Vec::new()),
            sleeps: AtomicBool::new(false),
            stops: AtomicBool::new(false),
            bell,
        };
        for (listener, number) in listeners.iter_mut().zip(0..FIRST_CONNECTION) {
            listener.register(poll.registry(), Token(number))?;
        }
        Ok(Turns {
            engine,
            poll,
            mailbox: Arc::new(mailbox),
            listeners,
            connections: Map::default(),
            due: VecDeque::new(),
            unfinished: Vec::new(),
            missed: Vec::new(),
            knocking: Vec::new(),
            next: FIRST_CONNECTION,
            clients_max: 0,
            figures,
            tended: VecDeque::new(),
            tended_at_ms: 0,
            events: Some(Events::with_capacity(EVENTS_AT_ONCE)),
        })
    }
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }
    pub(super) fn process(&self) -> Arc<Process> {
        Arc::clone(&self.figures.process)
    }
    pub(super) fn mailbox(&self) -> Arc<Mailbox> {
        Arc::clone(&self.mailbox)
    }
    /// Takes turns until it is told to stop, or the engine is poisoned. What is answered by then is written as far as the
    /// sockets take it.
    pub(super) fn run(self) -> io::Result<()> {
        let (engine, mailbox) = (self.engine.clone(), self.mailbox());
        engine.script_control().on_overdue(meanwhile);
        let turns = Rc::new(RefCell::new(self));
        HERE.set(Some(Rc::clone(&turns)));
        let mut reply = Reply::new();
        let waker = Waker::from(Arc::new(Bell(Arc::clone(&mailbox))));
        let result = loop {
            if mailbox.stops.load(Ordering::SeqCst) {
                break Ok(());
            }
            let idle = match engine.pulse(&waker) {
                Ok(pulse) => turns.borrow_mut().tend(&pulse),
                // A script of another thread has run for long: so much can be told.
                Err(error) if error.is_reply() => Some(TEND_EVERY),
                Err(error) => break Err(io::Error::other(error)),
            };
            if let Err(error) = take_turns(&turns, None, idle, &mut reply) {
                break Err(error);
            }
        };
        HERE.set(None);
        result
    }
    /// Looks after some of the connections, so that each has its turn once a second. How long there is nothing to do.
    fn tend(&mut self, pulse: &Pulse) -> Option<Duration> {
        self.clients_max = pulse.clients_max;
        let since_ms = pulse.now_ms.saturating_sub(self.tended_at_ms).unsigned_abs();
        let every_ms = TEND_EVERY.as_millis() as u64;
        if since_ms >= every_ms {
            self.tended_at_ms = pulse.now_ms;
            let share = self.tended.len() as u64 * since_ms.min(1000) / 1000;
            let count = self.tended.len().min(TEND_AT_LEAST.max(share as usize));
            for token in self.tended.drain(..count).collect::<Vec<_>>() {
                let connection = self.connections.get_mut(&token).and_then(Option::as_mut);
                if connection.is_some_and(|connection| connection.tend(pulse.now_ms).is_ok()) {
                    self.tended.push_back(token);
                } else {
                    self.connections.remove(&token);
                }
            }
        }
        if !pulse.runs || self.connections.is_empty() {
            return pulse.idle;
        }
        let left =
            Duration::from_millis(every_ms.saturating_sub(if since_ms >= every_ms { 0 } else { since_ms }));
        Some(pulse.idle.map_or(left, |idle| idle.min(left)))
    }
    /// Waits for sockets and for the mailbox, no longer than there is nothing to do by the clock, and notes whose turn it
    /// is.
    fn wait(&mut self, door: &mut Door<'_, '_>, idle: Option<Duration>) -> io::Result<()> {
        self.due.extend(self.unfinished.drain(..));
        let Some(mut events) = self.events.take() else { return Ok(()) };
        self.mailbox.sleeps.store(true, Ordering::SeqCst);
        let is_busy = !self.due.is_empty() || !self.mailbox.woken.lock().is_empty();
        let limit = match is_busy {
            true => Some(Duration::ZERO),
            false if !self.knocking.is_empty() => Some(TEND_EVERY),
            false => idle,
        };
        let result = self.poll.poll(&mut events, limit);
        self.mailbox.sleeps.store(false, Ordering::SeqCst);
        self.figures.refresh();
        // First those to whom something has come: it came before what arrives now.
        for token in std::mem::take(&mut *self.mailbox.woken.lock()) {
            match self.connections.get_mut(&token) {
                Some(Some(connection)) => {
                    connection.note_call();
                    self.due.push_back(token);
                }
                Some(None) => self.missed.push(token),
                None => {}
            }
        }
        let mut knocked = std::mem::take(&mut self.knocking);
        for event in &events {
            match event.token() {
                MAILBOX => {}
                Token(number) if number < FIRST_CONNECTION => knocked.push(number),
                token => match self.connections.get_mut(&token) {
                    Some(Some(connection)) => {
                        connection.note_socket(event.is_read_closed() || event.is_error());
                        self.due.push_back(token);
                    }
                    // It is in the middle of a call, and looks at its socket after it.
                    Some(None) => self.unfinished.push(token),
                    None => {}
                },
            }
        }
        self.events = Some(events);
        for number in knocked {
            self.accept(number, door)?;
        }
        match result {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }
    /// A connection has had its turn.
    fn put_back(&mut self, token: Token, mut connection: Box<Connection>, went_on: Result<bool, Gone>) {
        let was_called = self.missed.contains(&token);
        self.missed.retain(|missed| *missed != token);
        let watched = went_on
            .and_then(|comes_again| connection.watch(self.poll.registry(), token).map(|()| comes_again));
        let Ok(comes_again) = watched else {
            self.connections.remove(&token);
            return;
        };
        if was_called {
            connection.note_call();
        }
        if comes_again || was_called {
            self.unfinished.push(token);
        }
        if let Some(place) = self.connections.get_mut(&token) {
            *place = Some(connection);
        }
    }
    /// Takes in all connections that have come.
    fn accept(&mut self, number: usize, door: &mut Door<'_, '_>) -> io::Result<()> {
        loop {
            if door.is_none() && self.engine.is_held_for_long().map_err(io::Error::other)? {
                self.knocking.push(number);
                return Ok(());
            }
            let Some(listener) = self.listeners.get(number) else { return Ok(()) };
            // An error is that of one connection, or a limit of the system: the others are not to suffer.
            let Ok(Some(mut socket)) = listener.accept() else { return Ok(()) };
            if self.connections.len() >= self.clients_max {
                // Its bytes fit into any socket; who does not read them misses an explanation.
                let _ = socket.write(b"-ERR max number of clients reached\r\n");
                self.figures.process.refused.add(1);
                continue;
            }
            let token = Token(self.next);
            self.next += 1;
            socket.register(self.poll.registry(), token)?;
            let mut peer = socket.peer(listener);
            peer.buffers = Arc::new(Buffers::counted(self.process()));
            let counts = (Arc::clone(&peer.buffers), self.process());
            let client = match door {
                None => self.engine.connect(peer).map_err(io::Error::other)?,
                Some(meanwhile) => meanwhile.connect(&self.engine, peer),
            };
            let waker = Waker::from(Arc::new(Knock { mailbox: self.mailbox(), token }));
            self.connections.insert(token, Some(Box::new(Connection::new(socket, client, counts, waker))));
            self.tended.push_back(token);
            self.due.push_back(token);
        }
    }
}

/// Lets each connection that has something to do do it. The loop is not held while one is at work, so that a script can
/// call it from inside.
fn take_turns(
    turns: &RefCell<Turns>,
    mut door: Door<'_, '_>,
    idle: Option<Duration>,
    reply: &mut Reply,
) -> io::Result<()> {
    turns.borrow_mut().wait(&mut door, idle)?;
    loop {
        let (token, mut connection) = {
            let mut turns = turns.borrow_mut();
            let Some(token) = turns.due.pop_front() else { return Ok(()) };
            let Some(connection) = turns.connections.get_mut(&token).and_then(Option::take) else { continue };
            (token, connection)
        };
        let went_on = connection.go_on(door.as_deref_mut(), reply);
        turns.borrow_mut().put_back(token, connection, went_on);
    }
}

/// A script of this thread has run for long: the loop takes a turn in between.
fn meanwhile(state: &mut State, control: &Control) {
    let Some(turns) = HERE.with_borrow(Clone::clone) else { return };
    let mut meanwhile = Meanwhile { state, control, shuts_down: false };
    // Whatever fails here is found again by the loop itself.
    let _ = take_turns(&turns, Some(&mut meanwhile), Some(Duration::ZERO), &mut Reply::new());
    if meanwhile.shuts_down {
        turns.borrow().mailbox.stop();
    }
}
