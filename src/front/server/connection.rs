//! One connection: bytes in, calls of its client, bytes out. It knows no other connection and never waits: what cannot be
//! read, answered or written yet is taken up again when the loop (`turns`) is told that it can.

use super::socket::Socket;
use crate::command::buffers::{Buffers, Fit};
use crate::command::process::Process;
use crate::engine::{Client, Desk, Meanwhile, Standing, Tended, UNSENT_BEFORE_MESSAGES};
use crate::error::Error;
use crate::front::request::{Bounds, READ_LONG_AT_ONCE, Requests};
use crate::reply::Reply;
use mio::{Registry, Token};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::task::Waker;

/// How much is read at once, so that each connection gets its turn.
const READ_AT_ONCE: usize = 16 * 1024;
/// Answers that a client does not read stop its requests: those that are here already wait with those still on the way.
const UNSENT_MAX: u64 = 1 << 30;

/// A client that came through a socket.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    client: Client,
    /// What stands in `requests` and `out`, for others to see.
    buffers: Arc<Buffers>,
    /// Where reads and writes are counted.
    process: Arc<Process>,
    /// When its use of the reply buffer began to be measured.
    measured_at_ms: i64,
    waker: Waker,
    standing: Standing,
    requests: Requests,
    out: Vec<u8>,
    /// How much of `out` is written.
    sent: usize,
    /// It ends once all is written.
    closing: bool,
    /// It would end, but nothing is written that tells of it (CLIENT REPLY OFF): it is heard no more, and stays until the
    /// other side goes.
    lingers: bool,
    /// The other side will send no more.
    finished: bool,
    /// It is told when the socket has room again.
    awaits_room: bool,
    /// The socket may have bytes that were not read.
    readable: bool,
    /// The end of what it sends is near: it is read up to there, for nobody will tell of it again.
    hung_up: bool,
    /// Something may have come for it.
    called: bool,
}

/// The connection is over.
#[derive(Debug)]
pub(super) struct Gone;

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Self {
        Gone
    }
}

/// Through what a connection reaches the engine: its client, or what is open to it while a script runs in this thread.
pub(super) type Door<'a, 'b> = Option<&'a mut Meanwhile<'b>>;

impl Connection {
    pub(super) fn new(
        socket: Socket,
        client: Client,
        (buffers, process): (Arc<Buffers>, Arc<Process>),
        waker: Waker,
    ) -> Self {
        Connection {
            socket,
            client,
            buffers,
            process,
            measured_at_ms: 0,
            waker,
            standing: Standing { word_max: READ_AT_ONCE as u64, unread_max: u64::MAX, ..Standing::default() },
            requests: Requests::default(),
            out: Vec::new(),
            sent: 0,
            closing: false,
            lingers: false,
            finished: false,
            awaits_room: false,
            readable: true,
            hung_up: false,
            called: true,
        }
    }
    /// The socket has bytes or room; or its other side will send no more.
    pub(super) fn note_socket(&mut self, hung_up: bool) {
        self.readable = true;
        self.hung_up |= hung_up;
    }
    /// Something may have come for it.
    pub(super) fn note_call(&mut self) {
        self.called = true;
    }
    /// Asks the system to tell when there is room again, when it has something left to write.
    pub(super) fn watch(&mut self, registry: &Registry, token: Token) -> Result<(), Gone> {
        let awaits_room = self.unsent() > 0;
        if awaits_room != self.awaits_room {
            self.awaits_room = awaits_room;
            self.socket.await_room(registry, token, awaits_room)?;
        }
        Ok(())
    }
    /// Goes on as far as it can. True when it has to come again: there is more to be read.
    pub(super) fn go_on(&mut self, mut door: Door<'_, '_>, reply: &mut Reply) -> Result<bool, Gone> {
        if self.called && !self.lingers {
            self.receive(door.as_deref_mut(), reply)?;
        }
        if self.readable {
            self.read()?;
        }
        self.work(door, reply)?;
        self.write()?;
        self.note_buffered();
        let unanswered = self.standing.waits || self.is_full();
        if self.finished && !unanswered {
            return Err(Gone);
        }
        let has_room_again = self.called && !self.lingers && self.unsent() == 0;
        Ok((self.readable && self.may_read()) || has_room_again)
    }
    /// Whether it is read from. One that waits is too: it may have gone, and then it waits no more.
    fn may_read(&self) -> bool {
        let is_behind = self.standing.waits && self.requests.pending() > READ_LONG_AT_ONCE;
        !self.closing && !self.is_full() && !is_behind
    }
    /// Reads once. A socket that has more is read again in the next turn.
    fn read(&mut self) -> Result<(), Gone> {
        if !self.may_read() {
            return Ok(());
        }
        let expected = self.requests.expected();
        let buffer = self.requests.buffer();
        let before = buffer.len();
        let mut room = READ_AT_ONCE.max(buffer.capacity() - before).min(READ_LONG_AT_ONCE);
        if expected > 0 {
            // It grows by doubling, but not beyond the end of a long word.
            room = room.min(expected);
            if buffer.capacity() < before + room {
                buffer.reserve_exact(buffer.capacity().max(room).min(expected));
            }
        }
        buffer.resize(before + room, 0);
        let result = loop {
            match self.socket.read(&mut buffer[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let count = result.as_ref().copied().unwrap_or_default();
        buffer.truncate(before + count);
        match result {
            Ok(0) => {
                (self.finished, self.readable) = (true, false);
                // Nobody is left to hear what a waiting call would answer.
                if self.standing.waits { Err(Gone) } else { Ok(()) }
            }
            Ok(_) => {
                self.process.reads.add(1);
                self.process.bytes_in.add(count as u64);
                // What filled the room has more behind it; else the system tells when there is.
                self.readable = count == room || self.hung_up;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(())
            }
            Err(_) => Err(Gone),
        }
    }
    /// The reply of the call that waits, and what was published, if they have come.
    fn receive(&mut self, door: Door<'_, '_>, reply: &mut Reply) -> Result<(), Gone> {
        // What has stayed in the inbox is asked for again once that is written.
        self.called = self.unsent() > UNSENT_BEFORE_MESSAGES;
        let desk = Desk { waker: &self.waker, reply, out: &mut self.out, sent: self.sent };
        let received = match door {
            None => self.client.receive(desk, &mut self.standing),
            Some(meanwhile) => {
                // It has to ask once the script is over.
                self.called = true;
                meanwhile.receive(&self.client, desk);
                Ok(())
            }
        };
        if received.as_ref().is_err_and(Error::is_reply) {
            // A script of another thread runs for long.
            self.called = true;
            return Ok(());
        }
        self.note(received)
    }
    /// Makes the calls that have arrived, in order, until one waits.
    fn work(&mut self, mut door: Door<'_, '_>, reply: &mut Reply) -> Result<(), Gone> {
        if self.lingers {
            self.requests.discard();
        }
        while !self.standing.waits && !self.closing && !self.is_full() && self.requests.pending() > 0 {
            let bounds = Bounds { word_max: self.standing.word_max, before_auth: self.standing.before_auth };
            let advanced = self.requests.advance(bounds);
            if self.requests.take_passed_over() && self.standing.withholds {
                self.pass_over(door.as_deref_mut())?;
            }
            match advanced {
                Ok(false) if self.requests.begun() as u64 > self.standing.unread_max => return Err(Gone),
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    if !self.standing.is_unheard {
                        error.write(&mut self.out);
                    }
                    self.end();
                    break;
                }
            }
            let words = self.requests.words();
            if words.first().is_some_and(|name| is_of_a_browser(name)) {
                return Err(Gone);
            }
            self.buffers.note_unread(self.requests.pending(), self.requests.free());
            self.buffers.note_words(words.iter().map(|word| word.len()).sum());
            let desk = Desk { waker: &self.waker, reply, out: &mut self.out, sent: self.sent };
            let answered = match door.as_deref_mut() {
                None => self.client.exchange(&words, desk, &mut self.standing),
                Some(meanwhile) => meanwhile.exchange(&self.client, &words, desk, &mut self.standing),
            };
            drop(words);
            self.requests.finish();
            self.note(answered)?;
            if !self.standing.waits {
                self.buffers.note_words(0);
            }
        }
        Ok(())
    }
    /// A request without a word counts for CLIENT REPLY SKIP.
    fn pass_over(&mut self, door: Door<'_, '_>) -> Result<(), Gone> {
        let passed = match door {
            None => self.client.pass_over(&mut self.standing),
            Some(meanwhile) => {
                meanwhile.pass_over(&self.client, &mut self.standing);
                Ok(())
            }
        };
        self.note(passed)
    }
    /// It ends once all is written. As on the server, nobody notices where there is nothing to be written.
    fn end(&mut self) {
        if self.unsent() > 0 {
            self.closing = true;
        } else {
            self.lingers = true;
            self.requests.discard();
        }
    }
    /// What a call has left behind: an end that is told, or one that is not.
    fn note(&mut self, result: Result<(), Error>) -> Result<(), Gone> {
        match result {
            Ok(()) if self.standing.closed && !self.lingers => self.end(),
            Ok(()) => {}
            Err(error) if error.is_closed() || error.is_connection_lost() => self.closing = true,
            Err(_) => return Err(Gone),
        }
        if self.standing.cut { Err(Gone) } else { Ok(()) }
    }
    /// Looks after the client, about once a second: gives back memory that it does not use, ends it where a setting wants
    /// it to be ended.
    pub(super) fn tend(&mut self, now_ms: i64) -> Result<(), Gone> {
        let Tended { idle_s, peak_lasts_ms, keeps_reply_buffer } = match self.client.tend() {
            Ok(tended) => tended,
            // A script of another thread runs for long.
            Err(error) if error.is_reply() => return Ok(()),
            Err(_) => return Err(Gone),
        };
        self.requests.shrink(idle_s);
        self.note_buffered();
        let fit = if keeps_reply_buffer { Fit::Same } else { self.buffers.fit_reply_buffer() };
        match fit {
            Fit::Smaller => self.process.shrinks.add(1),
            Fit::Larger => self.process.expands.add(1),
            Fit::Same => {}
        }
        if peak_lasts_ms.is_some_and(|lasts_ms| now_ms - self.measured_at_ms > lasts_ms) {
            self.buffers.forget_peak();
            self.measured_at_ms = now_ms;
        }
        Ok(())
    }
    /// What has arrived is counted: what is no whole word yet, and the words of a request that is not whole.
    fn note_buffered(&mut self) {
        self.buffers.note_unread(self.requests.begun(), self.requests.free());
        if !self.standing.waits {
            self.buffers.note_words(self.requests.word_bytes());
        }
        self.buffers.count();
    }
    /// Writes as much as the socket takes.
    fn write(&mut self) -> Result<(), Gone> {
        if self.out.is_empty() && !self.closing {
            return Ok(());
        }
        let written = self.write_on();
        self.buffers.note_unsent(self.unsent());
        written
    }
    fn write_on(&mut self) -> Result<(), Gone> {
        while self.sent < self.out.len() {
            match self.socket.write(&self.out[self.sent..]) {
                Ok(0) => return Err(Gone),
                Ok(written) => {
                    self.sent += written;
                    self.process.writes.add(1);
                    self.process.bytes_out.add(written as u64);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(_) => return Err(Gone),
            }
        }
        if self.out.capacity() > 4 * READ_AT_ONCE {
            self.out = Vec::new();
        }
        self.out.clear();
        self.sent = 0;
        if self.closing { Err(Gone) } else { Ok(()) }
    }
    fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }
    fn is_full(&self) -> bool {
        self.unsent() as u64 > self.standing.unsent_max.max(UNSENT_MAX)
    }
}

/// What a browser sends that was led to this port: its requests must not act, so the connection ends at once.
fn is_of_a_browser(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}
