//! What the server front holds of its clients: what is shown of it, and when a client is ended for it.

use crate::support::served::{Front, Served, served_engine};
use crate::support::target::{MAIN, Target, argv};
use moonkeep::server::Listen;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

fn call(served: &mut Served, connection: &str, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    served.call(connection, &argv(&words)).to_string()
}

fn open(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    stream
}

/// Sends these bytes, and expects exactly this answer.
fn converse(stream: &mut UnixStream, bytes: &[u8], answer: &str) {
    stream.write_all(bytes).expect("it reads");
    let mut found = vec![0; answer.len()];
    stream.read_exact(&mut found).expect("an answer");
    assert_eq!(String::from_utf8_lossy(&found), answer);
}

/// The value of a field in the line of CLIENT LIST that the named client has; none when it is gone.
fn field(served: &mut Served, client: &str, field: &str) -> Option<i64> {
    let list = call(served, MAIN, "CLIENT LIST");
    let line = list.split("\\n").find(|line| line.contains(&format!(" name={client} ")))?;
    let (_, rest) = line.split_once(&format!(" {field}="))?;
    rest.split(' ').next()?.parse().ok()
}

/// Whether the client ends without another answer; the end may come as a reset of the connection.
fn has_ended(stream: &mut UnixStream) -> bool {
    let mut bytes = [0; 1];
    match stream.read(&mut bytes) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

/// Moves the clock in steps in which all clients are looked after.
fn pass(served: &mut Served, seconds: usize) {
    for _ in 0..seconds * 2 {
        assert_eq!(call(served, MAIN, "DEBUG ADVANCE 500"), "+OK");
    }
    // The loop looks after them before its next turn.
    call(served, MAIN, "PING");
    call(served, MAIN, "PING");
}

#[test]
fn buffers_are_shown_and_given_back() {
    let mut served = Served::default();
    let mut client = open(&served.socket());
    converse(&mut client, b"CLIENT SETNAME sized\r\n", "+OK\r\n");
    let info = call(&mut served, MAIN, "CLIENT LIST");
    assert!(info.contains(" qbuf=26 "), "its own command stands in the buffer: {info}");
    assert!(info.contains(" argv-mem=10 "), "{info}");
    assert_eq!(field(&mut served, "sized", "qbuf"), Some(0));
    assert_eq!(field(&mut served, "sized", "qbuf-free"), Some(16_384));
    assert_eq!(field(&mut served, "sized", "rbs"), Some(16_384));
    client.write_all(b"*2\r\n$3\r\nGET\r\n$10\r\nabc").expect("it reads");
    // Words that are whole have left the buffer.
    while field(&mut served, "sized", "qbuf") != Some(3) {}
    assert_eq!(field(&mut served, "sized", "argv-mem"), Some(3));
    converse(&mut client, b"defghij\r\n", "$-1\r\n");
    pass(&mut served, 10);
    assert_eq!(field(&mut served, "sized", "qbuf-free"), Some(0));
    assert_eq!(field(&mut served, "sized", "rbs"), Some(1024));
    // What a long word needed is given back once shorter ones come.
    let long = format!("*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$400000\r\n{}\r\n", "A".repeat(400_000));
    converse(&mut client, long.as_bytes(), "+OK\r\n");
    assert!(field(&mut served, "sized", "qbuf-free") > Some(400_000));
    for _ in 0..3 {
        converse(&mut client, b"SET x short\r\n", "+OK\r\n");
        pass(&mut served, 1);
    }
    let left = field(&mut served, "sized", "qbuf-free");
    assert!(left > Some(0) && left < Some(400_000), "{left:?}");
}

#[test]
fn a_listener_that_does_not_read_is_ended_by_the_soft_limit_without_another_message() {
    let mut served = Served::default();
    served.call(MAIN, &argv(&["CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 100000 3"]));
    let mut lazy = open(&served.socket());
    converse(&mut lazy, b"CLIENT SETNAME lazy\r\n", "+OK\r\n");
    converse(&mut lazy, b"SUBSCRIBE foo\r\n", "*3\r\n$9\r\nsubscribe\r\n$3\r\nfoo\r\n:1\r\n");
    let message = "x".repeat(1000);
    while field(&mut served, "lazy", "omem") < Some(100_000) {
        assert_eq!(call(&mut served, MAIN, &format!("PUBLISH foo {message}")), ":1");
    }
    pass(&mut served, 3);
    assert!(field(&mut served, "lazy", "oll") > Some(0), "not longer than allowed");
    pass(&mut served, 1);
    assert_eq!(field(&mut served, "lazy", "oll"), None);
    assert_eq!(call(&mut served, MAIN, "PUBLISH foo bar"), ":0");
}

#[test]
fn a_reply_beyond_the_limit_ends_the_client_instead() {
    let mut served = Served::default();
    served.call(MAIN, &argv(&["CONFIG", "SET", "client-output-buffer-limit", "normal 100000 0 0"]));
    assert_eq!(call(&mut served, MAIN, "HSET h a b"), ":1");
    assert_eq!(call(&mut served, MAIN, &format!("SET big {}", "x".repeat(30_000))), "+OK");
    for lines in [
        "GET big\r\n".repeat(5),
        "HRANDFIELD h -999999999\r\n".to_owned(),
        "MULTI\r\nSET after 1\r\n".to_owned() + &"GET big\r\n".repeat(5) + "INCR after\r\nEXEC\r\n",
    ] {
        let mut greedy = open(&served.socket());
        // Read in one go, as they come in one.
        greedy.write_all(lines.as_bytes()).expect("it reads");
        let mut answer = String::new();
        let _ = greedy.read_to_string(&mut answer);
        assert!(!answer.contains('x') && !answer.contains("ERR"), "{answer}");
    }
    assert_eq!(call(&mut served, MAIN, "GET after"), "\"2\"", "a transaction runs to its end");
}

#[test]
fn a_request_without_end_ends_its_client() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "CONFIG SET client-query-buffer-limit 1048576"), "+OK");
    let mut endless = open(&served.socket());
    let head = b"*2\r\n$4\r\nECHO\r\n$2000000\r\n".as_slice();
    let _ = endless.write_all(&[head, &vec![b'x'; 1_048_000]].concat());
    assert_eq!(call(&mut served, MAIN, "PING"), "+PONG");
    let _ = endless.write_all(&vec![b'x'; 900_000]);
    assert!(has_ended(&mut endless));
    // Words that are whole do not count.
    let mut many = open(&served.socket());
    let word = format!("$600000\r\n{}\r\n", "x".repeat(600_000));
    let request = format!("*5\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n{}", word.repeat(3));
    converse(&mut many, request.as_bytes(), ":3\r\n");
}

#[test]
fn clients_that_do_nothing_are_ended_after_the_timeout() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "CONFIG SET timeout 10"), "+OK");
    let mut clients: Vec<UnixStream> = (0..4).map(|_| open(&served.socket())).collect();
    for (stream, name) in clients.iter_mut().zip(["idle", "busy", "waits", "listens"]) {
        converse(stream, format!("CLIENT SETNAME {name}\r\n").as_bytes(), "+OK\r\n");
    }
    clients[2].write_all(b"BLPOP queue 0\r\n").expect("it reads");
    converse(&mut clients[3], b"SUBSCRIBE c\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    pass(&mut served, 6);
    converse(&mut clients[1], b"PING\r\n", "+PONG\r\n");
    pass(&mut served, 6);
    assert!(has_ended(&mut clients[0]));
    assert_eq!(field(&mut served, "busy", "idle"), Some(6));
    assert_eq!(field(&mut served, "waits", "idle"), Some(12));
    assert_eq!(field(&mut served, "listens", "idle"), Some(12));
}

#[test]
fn maxclients_can_be_set_while_it_runs() {
    let engine = served_engine();
    let front = Front::new(&engine, Listen { clients_max: Some(7), ..Listen::default() });
    let mut first = open(&front.socket());
    converse(&mut first, b"CONFIG GET maxclients\r\n", "*2\r\n$10\r\nmaxclients\r\n$1\r\n7\r\n");
    converse(&mut first, b"CONFIG SET maxclients 1\r\n", "+OK\r\n");
    converse(&mut first, b"PING\r\n", "+PONG\r\n");
    let mut refused = String::new();
    open(&front.socket()).read_to_string(&mut refused).expect("an answer");
    assert_eq!(refused, "-ERR max number of clients reached\r\n");
    converse(&mut first, b"CONFIG SET maxclients 2\r\n", "+OK\r\n");
    converse(&mut first, b"PING\r\n", "+PONG\r\n");
    converse(&mut open(&front.socket()), b"PING\r\n", "+PONG\r\n");
}

#[test]
fn a_client_that_is_killed_gets_nothing_of_what_waits_for_it() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, &format!("SET big {}", "x".repeat(1 << 20))), "+OK");
    let mut victim = open(&served.socket());
    converse(&mut victim, b"CLIENT SETNAME victim\r\n", "+OK\r\n");
    victim.write_all("GET big\r\n".repeat(16).as_bytes()).expect("it reads");
    while field(&mut served, "victim", "omem") == Some(0) {}
    let client_id = field(&mut served, "victim", "fd").map(|_| call(&mut served, MAIN, "CLIENT LIST"));
    let list = client_id.expect("it is there");
    let line = list.split("\\n").find(|line| line.contains("name=victim")).expect("its line");
    let id = line.trim_matches('"').split(' ').next().and_then(|field| field.strip_prefix("id="));
    assert_eq!(call(&mut served, MAIN, &format!("CLIENT KILL ID {}", id.expect("an id"))), ":1");
    call(&mut served, MAIN, "PING");
    let mut rest = Vec::new();
    let _ = victim.read_to_end(&mut rest);
    assert!(rest.len() < 16 << 20, "{} bytes", rest.len());
}

#[test]
fn a_long_script_of_another_thread_is_told_of_and_ends_nothing() {
    const BUSY: &str =
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";
    let engine = served_engine();
    let front = Front::new(&engine, Listen::default());
    let mut first = open(&front.socket());
    converse(&mut first, b"CONFIG SET busy-reply-threshold 1\r\n", "+OK\r\n");
    let (control, inside) = (engine.script_control(), engine.clone());
    let thread = std::thread::spawn(move || inside.client().call(["EVAL", "while true do end", "0"]));
    while !control.is_running() {
        std::thread::yield_now();
    }
    converse(&mut first, b"PING\r\n", BUSY);
    let mut late = open(&front.socket());
    late.write_all(b"PING\r\n").expect("it has room");
    converse(&mut first, b"SCRIPT KILL\r\n", "+OK\r\n");
    assert!(thread.join().expect("no panic").is_err());
    let mut answer = [0; 5];
    late.read_exact(&mut answer).expect("an answer");
    assert!(["+PONG", "-BUSY"].contains(&String::from_utf8_lossy(&answer).as_ref()));
    converse(&mut first, b"PING\r\n", "+PONG\r\n");
}
