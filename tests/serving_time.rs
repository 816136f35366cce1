//! The server front on the clock of the system: what happens at its time without any call.

use crate::support::served::Front;
use moonkeep::server::Listen;
use moonkeep::{Clock, Engine};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn front() -> Front {
    Front::new(&Engine::builder().clock(Clock::system()).build(), Listen::default())
}

fn open(front: &Front) -> UnixStream {
    let stream = UnixStream::connect(front.socket()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    stream
}

/// Sends lines, and expects exactly this answer.
fn converse(stream: &mut UnixStream, lines: &str, answer: &str) {
    stream.write_all(lines.as_bytes()).expect("it reads");
    expect(stream, answer);
}

fn expect(stream: &mut UnixStream, answer: &str) {
    let mut bytes = vec![0; answer.len()];
    stream.read_exact(&mut bytes).expect("an answer");
    assert_eq!(String::from_utf8_lossy(&bytes), answer);
}

#[test]
fn a_key_that_expires_while_nobody_calls_is_told_at_once() {
    let front = front();
    let mut caller = open(&front);
    converse(&mut caller, "CONFIG SET notify-keyspace-events Ex\r\n", "+OK\r\n");
    let mut listener = open(&front);
    converse(&mut listener, "PSUBSCRIBE *\r\n", "*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n");
    converse(&mut caller, "PSETEX foo 20 bar\r\n", "+OK\r\n");
    expect(
        &mut listener,
        "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$22\r\n__keyevent@0__:expired\r\n$3\r\nfoo\r\n",
    );
}

#[test]
fn keys_that_are_to_stay_until_a_command_meets_them_do() {
    let front = front();
    let mut caller = open(&front);
    converse(&mut caller, "DEBUG SET-ACTIVE-EXPIRE 0\r\nPSETEX foo 1 bar\r\n", "+OK\r\n+OK\r\n");
    // Nobody sleeps here but the server.
    converse(&mut caller, "DEBUG SLEEP 0.01\r\nDBSIZE\r\nGET foo\r\n", "+OK\r\n:1\r\n$-1\r\n");
    converse(&mut caller, "DBSIZE\r\n", ":0\r\n");
}
