//! The server front as clients meet it: many at a time, those that wait, vanish or do not read, scripts that run for long,
//! faults, the clock, limits, the end.

use crate::support::connection::Connection;
use crate::support::served::{Front, Served, served_engine};
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use moonkeep::server::{Listen, Server};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

fn call(served: &mut Served, connection: &str, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    served.call(connection, &argv(&words)).to_string()
}

fn send(served: &mut Served, connection: &str, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    served.send(connection, &argv(&words));
}

fn open(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    stream
}

/// Reads so many bytes.
fn read(stream: &mut impl Read, count: usize) -> String {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).expect("an answer");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads to the end of the connection.
fn read_all(stream: &mut UnixStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an end");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_client_that_waits_is_served_by_another_one_or_by_the_clock() {
    let mut served = Served::default();
    send(&mut served, "waits", "BLPOP queue 5");
    assert_eq!(served.receive("waits"), Wire::Timeout);
    assert_eq!(call(&mut served, MAIN, "RPUSH queue job"), ":1");
    assert_eq!(served.receive("waits").to_string(), r#"["queue", "job"]"#);
    send(&mut served, "waits", "BLPOP queue 5");
    assert_eq!(call(&mut served, MAIN, "DEBUG ADVANCE 5000"), "+OK");
    assert_eq!(served.receive("waits"), Wire::Timeout);
    assert_eq!(call(&mut served, MAIN, "DEBUG ADVANCE 1"), "+OK");
    assert_eq!(served.receive("waits").to_string(), "nil*");
}

#[test]
fn a_server_that_migrates_meets_nobody() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "MIGRATE localhost 1 k 0 100"), "+NOKEY");
    assert_eq!(call(&mut served, MAIN, "SET k v"), "+OK");
    let unreachable = "-IOERR error or timeout writing to target instance";
    assert_eq!(call(&mut served, MAIN, "MIGRATE localhost 1 k 0 100"), unreachable);
}

#[test]
fn a_client_that_vanishes_waits_no_more() {
    let mut served = Served::default();
    let mut vanishes = open(&served.socket());
    vanishes.write_all(b"BLPOP queue 0\r\n").expect("it reads");
    while !call(&mut served, MAIN, "INFO clients").contains("blocked_clients:1") {}
    drop(vanishes);
    while !call(&mut served, MAIN, "INFO clients").contains("blocked_clients:0") {}
    assert_eq!(call(&mut served, MAIN, "RPUSH queue job"), ":1");
    assert_eq!(call(&mut served, MAIN, "LLEN queue"), ":1");
}

#[test]
fn one_that_is_gone_before_it_is_heard_leaves_nothing() {
    let mut served = Served::default();
    for request in
        ["BLPOP queue 0\r\n", "PING\r\nBLPOP queue 0\r\nPING\r\n", "*2\r\n$3\r\nGET", "SUBSCRIBE a\r\n", ""]
    {
        for _ in 0..10 {
            let mut vanishes = open(&served.socket());
            vanishes.write_all(request.as_bytes()).expect("it reads");
        }
        while call(&mut served, MAIN, "CLIENT LIST").matches("id=").count() > 2 {}
    }
    assert_eq!(call(&mut served, MAIN, "RPUSH queue job"), ":1");
    assert_eq!(call(&mut served, MAIN, "LLEN queue"), ":1");
}

#[test]
fn a_client_that_hears_nothing_is_not_told_of_its_end() {
    let mut served = Served::default();
    for (request, ends) in [
        ("CLIENT REPLY OFF\r\nQUIT\r\n", false),
        ("CLIENT REPLY OFF\r\n*x\r\nPING\r\n", false),
        ("QUIT\r\n", true),
    ] {
        let mut client = open(&served.socket());
        client.write_all(b"PING\r\n").expect("it reads");
        assert_eq!(read(&mut client, 7), "+PONG\r\n");
        client.write_all(request.as_bytes()).expect("it reads");
        // Bytes are read in the order in which they come, so that it has been heard by now.
        assert_eq!(call(&mut served, MAIN, "PING"), "+PONG");
        if ends {
            assert_eq!(read_all(&mut client), "+OK\r\n");
            continue;
        }
        client.set_nonblocking(true).expect("a mode");
        let nothing = client.read(&mut [0]).expect_err("it is not told");
        assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
        client.set_nonblocking(false).expect("a mode");
        client.shutdown(std::net::Shutdown::Write).expect("an end");
        assert_eq!(read_all(&mut client), "");
    }
}

#[test]
fn a_password_is_asked_for_before_anything_else() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "CONFIG SET requirepass secret"), "+OK");
    assert_eq!(call(&mut served, "new", "GET k"), "-NOAUTH Authentication required.");
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    assert_eq!(call(&mut served, "new", "AUTH wrong"), wrong);
    assert_eq!(call(&mut served, "new", "AUTH secret"), "+OK");
    assert_eq!(call(&mut served, "new", "GET k"), "nil");
    // Who has not given it may send short requests only.
    for (bytes, text) in [
        ("*11\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n"),
        ("*1\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n"),
    ] {
        let mut stranger = open(&served.socket());
        stranger.write_all(bytes.as_bytes()).expect("it reads");
        assert_eq!(read_all(&mut stranger), text);
    }
}

#[test]
fn debug_advance_moves_a_manual_clock_and_expires_keys() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "SET k v PX 100"), "+OK");
    assert_eq!(call(&mut served, "other", "DEBUG ADVANCE 99"), "+OK");
    assert_eq!(call(&mut served, MAIN, "PTTL k"), ":1");
    assert_eq!(call(&mut served, "other", "DEBUG ADVANCE 2"), "+OK");
    assert_eq!(call(&mut served, MAIN, "DBSIZE"), ":0");
    for wrong in ["DEBUG ADVANCE -1", "DEBUG ADVANCE soon"] {
        assert_eq!(call(&mut served, MAIN, wrong), "-ERR value is not an integer or out of range");
    }
    let real = moonkeep::Engine::builder().clock(moonkeep::Clock::system()).build();
    let error = real.client().call(["DEBUG", "ADVANCE", "1"]).expect_err("the system's clock");
    assert_eq!(error.to_string(), "ERR the system clock cannot be moved; DEBUG ADVANCE needs a manual one");
}

#[test]
fn debug_fault_loses_requests_or_replies_until_it_is_healed() {
    let mut served = Served::default();
    let socket = served.socket();
    assert_eq!(call(&mut served, MAIN, "DEBUG FAULT REPLIES COUNT 1 ONLY incr"), "+OK");
    let mut lossy = open(&socket);
    lossy.write_all(b"PING\r\nINCR n\r\nPING\r\n").expect("it reads");
    assert_eq!(read_all(&mut lossy), "+PONG\r\n", "the connection ends instead of an answer");
    assert_eq!(call(&mut served, MAIN, "INCR n"), ":2", "it had run, and the fault is over");
    assert_eq!(call(&mut served, MAIN, "DEBUG FAULT REQUESTS"), "+OK");
    let mut lossy = open(&socket);
    lossy.write_all(b"INCR n\r\n").expect("it reads");
    assert_eq!(read_all(&mut lossy), "");
    assert_eq!(call(&mut served, MAIN, "DEBUG FAULT HEAL"), "+OK");
    assert_eq!(call(&mut served, MAIN, "GET n"), "\"2\"", "it had not run");
    let usage = "-ERR DEBUG FAULT takes REQUESTS|REPLIES [COUNT n] [ONLY command [command ...]], or HEAL; n is at least 1";
    for wrong in
        ["", " NONE", " REPLIES COUNT 0", " REPLIES COUNT x", " REPLIES ONLY", " HEAL NOW", " REPLIES 1"]
    {
        assert_eq!(call(&mut served, MAIN, &format!("DEBUG FAULT{wrong}")), usage, "{wrong:?}");
    }
}

#[test]
fn the_reply_of_a_call_that_waited_is_lost_too() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "DEBUG FAULT REPLIES COUNT 1 ONLY blpop"), "+OK");
    let mut worker = open(&served.socket());
    worker.write_all(b"BLPOP queue 0\r\n").expect("it reads");
    while !call(&mut served, MAIN, "INFO clients").contains("blocked_clients:1") {}
    assert_eq!(call(&mut served, MAIN, "RPUSH queue job"), ":1");
    assert_eq!(read_all(&mut worker), "");
    assert_eq!(call(&mut served, MAIN, "LLEN queue"), ":0", "the element is gone, and nobody has it");
}

#[test]
fn others_are_answered_while_a_script_runs_for_long() {
    const BUSY: &str =
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "CONFIG SET busy-reply-threshold 10"), "+OK");
    assert_eq!(call(&mut served, "transaction", "MULTI"), "+OK");
    assert_eq!(call(&mut served, "transaction", "SET k v"), "+QUEUED");
    served.send("script", &argv(&["EVAL", "while true do end", "0"]));
    while call(&mut served, "first", "GET k") != BUSY {}
    assert_eq!(
        call(&mut served, "transaction", "EXEC"),
        format!("-EXECABORT Transaction discarded because of: {}", &BUSY[1..])
    );
    assert_eq!(call(&mut served, "late", "MULTI"), "+OK", "it may run beside a script");
    assert_eq!(call(&mut served, "late", "GET k"), BUSY);
    assert_eq!(call(&mut served, "queues", "MULTI"), "+OK");
    assert_eq!(call(&mut served, "queues", "SCRIPT KILL"), "+QUEUED", "as any command in a transaction");
    assert_eq!(
        call(&mut served, "late", "NOSUCH"),
        "-ERR unknown command 'NOSUCH', with args beginning with: "
    );
    assert!(call(&mut served, "later", "HELLO 3").starts_with('%'));
    assert_eq!(call(&mut served, "first", "FUNCTION KILL"), BUSY);
    assert_eq!(call(&mut served, "first", "SCRIPT KILL"), "+OK");
    assert!(served.receive("script").to_string().contains("Script killed by user with SCRIPT KILL"));
    assert_eq!(call(&mut served, "first", "GET k"), "nil");
    assert_eq!(
        call(&mut served, "late", "EXEC"),
        "-EXECABORT Transaction discarded because of previous errors."
    );
}

#[test]
fn only_who_may_kills_a_script_that_runs_for_long() {
    let mut served = Served::default();
    let mut run = |name: &str, words: &str| call(&mut served, name, words);
    assert_eq!(run(MAIN, "CONFIG SET busy-reply-threshold 10"), "+OK");
    assert_eq!(run(MAIN, "ACL SETUSER alice on nopass +@all -script|kill -get ~*"), "+OK");
    assert_eq!(run("alice", "AUTH alice x"), "+OK");
    served.send("script", &argv(&["EVAL", "while true do end", "0"]));
    let mut run = |name: &str, words: &str| call(&mut served, name, words);
    while !run("alice", "PING").starts_with("-BUSY") {}
    let denied = |command| format!("-NOPERM this user has no permissions to run the '{command}' command");
    assert_eq!(run("alice", "GET k"), denied("get"));
    assert_eq!(run("alice", "SCRIPT KILL"), denied("script|kill"));
    assert_eq!(run(MAIN, "SCRIPT KILL"), "+OK");
    assert!(served.receive("script").to_string().contains("Script killed by user with SCRIPT KILL"));
}

#[test]
fn a_request_that_came_together_with_a_script_is_answered_while_that_runs() {
    let engine = served_engine();
    let front = Front::new(&engine, Listen::default());
    let (mut script, mut other) = (open(&front.socket()), open(&front.socket()));
    for stream in [&mut script, &mut other] {
        stream.write_all(b"CONFIG SET busy-reply-threshold 0\r\n").expect("it reads");
        assert_eq!(read(stream, 5), "+OK\r\n");
    }
    // Nobody is served while another thread is in the engine: both requests are there when it leaves.
    let (control, inside) = (engine.script_control(), engine.clone());
    let thread = std::thread::spawn(move || inside.client().call(["EVAL", "while true do end", "0"]));
    while !control.is_running() {
        std::thread::yield_now();
    }
    script
        .write_all(b"CONFIG SET busy-reply-threshold 1\r\nEVAL 'while true do end' 0\r\n")
        .expect("it reads");
    other.write_all(b"PING\r\n").expect("it reads");
    control.kill();
    assert!(thread.join().expect("no panic").is_err());
    let busy = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";
    assert_eq!(read(&mut other, busy.len()), busy);
    other.write_all(b"SCRIPT KILL\r\n").expect("it reads");
    assert_eq!(read(&mut other, 5), "+OK\r\n");
    assert!(read(&mut script, 40).starts_with("+OK\r\n-ERR Script killed by user"));
}

#[test]
fn others_are_answered_while_a_pattern_is_at_work() {
    let front = Front::new(&served_engine(), Listen::default());
    let mut script = Connection::open(&front.socket());
    script.send(&argv(&["CONFIG", "SET", "busy-reply-threshold", "1"]));
    assert_eq!(script.receive().to_string(), "+OK");
    let mut other = Connection::open(&front.socket());
    let searches = [
        "return string.gsub(('a'):rep(30), ('a?'):rep(30) .. ('a'):rep(30), '')",
        "return string.find(('a'):rep(300), ('.-'):rep(9) .. 'b')",
    ];
    for search in searches {
        script.send(&argv(&["EVAL", search, "0"]));
        let mut call = |words: &[&str]| {
            other.send(&argv(words));
            other.receive().to_string()
        };
        while !call(&["PING"]).starts_with("-BUSY") {}
        assert_eq!(call(&["SCRIPT", "KILL"]), "+OK");
        assert!(script.receive().to_string().contains("Script killed by user"));
    }
}

#[test]
fn a_script_that_has_written_is_not_killed() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, "CONFIG SET busy-reply-threshold 10"), "+OK");
    let source = "redis.call('SET', KEYS[1], 'v') while redis.call('GET', KEYS[1]) do end";
    served.send("script", &argv(&["EVAL", source, "1", "k"]));
    while !call(&mut served, "first", "PING").starts_with("-BUSY") {}
    let unkillable = call(&mut served, "first", "SCRIPT KILL");
    assert!(
        unkillable.starts_with("-UNKILLABLE Sorry the script already executed write commands"),
        "{unkillable}"
    );
    // Only the host ends it now.
    served.engine.script_control().kill();
    assert!(served.receive("script").is_error());
    assert_eq!(call(&mut served, "first", "GET k"), "\"v\"");
}

#[test]
fn shutdown_nosave_ends_the_front_beside_a_script() {
    let mut front = Front::new(&served_engine(), Listen::default());
    let mut script = Connection::open(&front.socket());
    script.send(&argv(&["CONFIG", "SET", "busy-reply-threshold", "1"]));
    assert_eq!(script.receive().to_string(), "+OK");
    script.send(&argv(&["EVAL", "redis.call('SET', 'k', 'v') while true do end", "0"]));
    let mut other = Connection::open(&front.socket());
    let mut call = |words: &[&str]| {
        other.send(&argv(words));
        other.receive().to_string()
    };
    while !call(&["PING"]).starts_with("-BUSY") {}
    assert!(call(&["SHUTDOWN"]).starts_with("-BUSY"));
    assert!(call(&["SHUTDOWN", "SAVE"]).starts_with("-BUSY"));
    other.send(&argv(&["SHUTDOWN", "NOSAVE"]));
    front.ended().expect("it ends well");
}

#[test]
fn further_clients_are_refused_with_the_servers_words() {
    let front = Front::new(&served_engine(), Listen { clients_max: Some(2), ..Listen::default() });
    let mut first = open(&front.socket());
    first.write_all(b"PING\r\n").expect("it reads");
    assert_eq!(read(&mut first, 7), "+PONG\r\n");
    let second = open(&front.socket());
    assert_eq!(read_all(&mut open(&front.socket())), "-ERR max number of clients reached\r\n");
    drop(second);
    // A place is free once the loop has seen that it is.
    loop {
        let mut third = open(&front.socket());
        let _ = third.write_all(b"QUIT\r\n");
        let mut bytes = Vec::new();
        // Refused with words on the way, the system may take back the answer.
        if third.read_to_end(&mut bytes).is_ok() && bytes == b"+OK\r\n" {
            break;
        }
    }
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody_and_is_ended_by_its_limit() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, MAIN, &format!("SET big {}", "x".repeat(1 << 20))), "+OK");
    let mut lazy = open(&served.socket());
    for _ in 0..20 {
        lazy.write_all(b"GET big\r\n").expect("it reads");
    }
    assert_eq!(call(&mut served, MAIN, "PING"), "+PONG");
    let line = "$1048576\r\n".len() + (1 << 20) + 2;
    assert_eq!(read(&mut lazy, 20 * line).len(), 20 * line, "nothing is lost when it reads late");
    assert_eq!(call(&mut served, MAIN, "CONFIG SET client-output-buffer-limit").chars().next(), Some('-'));
    served.call(MAIN, &argv(&["CONFIG", "SET", "client-output-buffer-limit", "normal 3mb 0 0"]));
    for _ in 0..20 {
        let _ = lazy.write_all(b"GET big\r\n");
    }
    assert_eq!(call(&mut served, MAIN, "PING"), "+PONG");
    let mut rest = Vec::new();
    let _ = lazy.read_to_end(&mut rest);
    assert!(rest.len() < 20 * line, "ended with {} bytes", rest.len());
}

#[test]
fn messages_reach_clients_in_order_and_before_what_comes_later() {
    let mut served = Served::default();
    assert_eq!(call(&mut served, "listens", "SUBSCRIBE news"), r#"["subscribe", "news", :1]"#);
    for n in 0..100 {
        assert_eq!(call(&mut served, MAIN, &format!("PUBLISH news {n}")), ":1");
    }
    for n in 0..100 {
        assert_eq!(served.receive("listens").to_string(), format!(r#"["message", "news", "{n}"]"#));
    }
    let client_id = call(&mut served, "other", "CLIENT ID");
    assert_eq!(call(&mut served, "other", "SUBSCRIBE news"), r#"["subscribe", "news", :1]"#);
    assert_eq!(call(&mut served, MAIN, &format!("CLIENT KILL ID {}", &client_id[1..])), ":1");
    assert_eq!(call(&mut served, MAIN, "PUBLISH news last"), ":1");
}

#[test]
fn many_clients_at_once_lose_nothing() {
    let engine = served_engine();
    let front = Front::new(&engine, Listen::default());
    let mut streams: Vec<UnixStream> = (0..300).map(|_| open(&front.socket())).collect();
    for round in 1..=5 {
        for stream in &mut streams {
            stream.write_all(b"INCR n\r\nINCR n\r\n").expect("it reads");
        }
        for stream in &mut streams {
            let mut replies = String::new();
            while replies.matches("\r\n").count() < 2 {
                replies.push_str(&read(stream, 1));
            }
        }
        assert_eq!(engine.client().query::<i64, _>(["GET", "n"]), Ok(600 * round));
    }
}

#[test]
fn stopping_ends_all_connections_and_removes_the_socket() {
    let engine = served_engine();
    let mut front = Front::new(&engine, Listen::default());
    let socket = front.socket();
    let mut client = open(&socket);
    client.write_all(b"SET k v\r\nBLPOP queue 0\r\n").expect("it reads");
    assert_eq!(read(&mut client, 5), "+OK\r\n");
    front.stop().expect("it ends well");
    assert_eq!(read_all(&mut client), "");
    assert!(!socket.exists());
    assert_eq!(
        engine.client().query::<String, _>(["GET", "k"]),
        Ok("v".to_owned()),
        "the engine is as it was"
    );
    // An engine may be served again.
    let front = Front::new(&engine, Listen::default());
    let mut client = open(&front.socket());
    client.write_all(b"GET k\r\n").expect("it reads");
    assert_eq!(read(&mut client, 7), "$1\r\nv\r\n");
}

#[test]
fn where_it_cannot_listen_is_said() {
    let engine = served_engine();
    let nowhere = Server::bind(&engine, &Listen::default()).expect_err("no place");
    assert_eq!(nowhere.to_string(), "a server needs a TCP port or the path of a unix socket");
    let front = Front::new(&engine, Listen::default());
    let taken = Server::bind(&engine, &Listen { unix: Some(front.socket()), ..Listen::default() });
    assert_eq!(taken.expect_err("it is taken").kind(), std::io::ErrorKind::AddrInUse);
    let file = front.socket().with_file_name("file");
    std::fs::write(&file, "precious").expect("a file");
    assert!(Server::bind(&engine, &Listen { unix: Some(file.clone()), ..Listen::default() }).is_err());
    assert_eq!(std::fs::read(&file).expect("it is still there"), b"precious");
}

#[test]
fn clients_over_tcp_are_shown_with_their_addresses() {
    let engine = served_engine();
    let server = Server::bind(&engine, &Listen { port: Some(0), ..Listen::default() }).expect("a free port");
    let (address, handle) = (server.tcp_address().expect("TCP was asked for"), server.handle());
    let thread = std::thread::spawn(|| server.run());
    let mut client = std::net::TcpStream::connect(address).expect("it listens");
    client.write_all(b"CLIENT INFO\r\nQUIT\r\n").expect("it reads");
    let mut text = String::new();
    client.read_to_string(&mut text).expect("an end");
    let own = client.local_addr().expect("an address");
    assert!(text.contains(&format!(" addr={own} laddr={address} fd=")), "{text}");
    handle.stop();
    thread.join().expect("no panic").expect("it ends well");
}

/// The command itself: says where it listens, serves, and ends with a signal.
#[cfg(feature = "cli")]
#[test]
fn the_command_serves_until_a_signal_ends_it() {
    use std::io::BufRead;
    use std::process::{Command, Stdio};
    let folder = crate::support::server::fresh_folder().expect("a folder");
    let socket = folder.join("socket");
    let mut process = Command::new(env!("CARGO_BIN_EXE_moonkeep"))
        .args([
            "serve",
            "--clock",
            "manual",
            "--version",
            "7.0",
            "--requirepass",
            "secret",
            "--config",
            "user=alice on >word ~stock:* +get",
            "--do",
            "SET stock:{p1} 10",
            "--port",
            "0",
            "--unix",
        ])
        .arg(&socket)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut lines = std::io::BufReader::new(process.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert_eq!(first, format!("moonkeep serves at {}", socket.display()));
    let mut client = open(&socket);
    // As in the README.
    for (request, answer) in [
        ("GET lease", "-NOAUTH Authentication required.\r\n"),
        ("AUTH alice word", "+OK\r\n"),
        ("SET a 1", "-NOPERM this user has no permissions to run the 'set' command\r\n"),
        ("AUTH secret", "+OK\r\n"),
        ("SET lease me PX 5000", "+OK\r\n"),
        ("DEBUG ADVANCE 5001", "+OK\r\n"),
        ("EXISTS lease", ":0\r\n"),
        ("DEBUG FAULT REPLIES COUNT 1 ONLY decr", "+OK\r\n"),
    ] {
        client.write_all(format!("{request}\r\n").as_bytes()).expect("it reads");
        assert_eq!(read(&mut client, answer.len()), answer, "{request}");
    }
    client.write_all(b"DECR stock:{p1}\r\n").expect("it reads");
    assert_eq!(read_all(&mut client), "");
    let mut client = open(&socket);
    client.write_all(b"AUTH secret\r\nGET stock:{p1}\r\n").expect("it reads");
    assert_eq!(read(&mut client, 12), "+OK\r\n$1\r\n9\r\n");
    let killed = Command::new("kill").args(["-TERM", &process.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    assert_eq!(process.wait().expect("an end").code(), Some(0));
    assert_eq!(read_all(&mut client), "");
    assert!(!socket.exists());
    let _ = std::fs::remove_dir_all(&folder);
}

/// Named as its server to a suite that starts redis-server: the same options, and the same file.
#[cfg(feature = "cli")]
#[test]
fn the_command_takes_parameters_as_a_server_does() {
    use std::io::BufRead;
    let folder = crate::support::server::fresh_folder().expect("a folder");
    let (socket, file) = (folder.join("socket"), folder.join("redis.conf"));
    let lines = "# as on a server\n\nport 0\nsave 900 1\nSAVE 300 10\nmaxmemory 10mb\nuser bob on nopass +get ~*\n\
                 client-output-buffer-limit \"pubsub\" 1mb 1mb 60\n";
    std::fs::write(&file, lines).expect("a folder to write to");
    let mut process = std::process::Command::new(env!("CARGO_BIN_EXE_moonkeep"))
        .arg("serve")
        .arg(&file)
        .args(["--logfile", "", "--maxmemory", "100mb", "--hz", "20", "--enable-debug-command", "yes"])
        .args(["--client-output-buffer-limit", "normal", "5mb", "5mb", "1", "--unixsocket"])
        .arg(&socket)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut lines = std::io::BufReader::new(process.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert_eq!(first, format!("moonkeep serves at {}", socket.display()));
    let mut client = open(&socket);
    for (request, answer) in [
        ("CONFIG GET save", "*2\r\n$4\r\nsave\r\n$12\r\n900 1 300 10\r\n"),
        ("CONFIG GET maxmemory", "*2\r\n$9\r\nmaxmemory\r\n$9\r\n104857600\r\n"),
        ("CONFIG GET hz", "*2\r\n$2\r\nhz\r\n$2\r\n20\r\n"),
        (
            "CONFIG GET client-output-buffer-limit",
            "*2\r\n$26\r\nclient-output-buffer-limit\r\n$78\r\n\
             normal 5242880 5242880 1 slave 268435456 67108864 60 pubsub 1048576 1048576 60\r\n",
        ),
        ("AUTH bob any", "+OK\r\n"),
    ] {
        client.write_all(format!("{request}\r\n").as_bytes()).expect("it reads");
        assert_eq!(read(&mut client, answer.len()), answer, "{request}");
    }
    process.kill().and_then(|()| process.wait()).expect("an end");
    let _ = std::fs::remove_dir_all(&folder);
}

/// It listens at all addresses of a server's own file but for one that this machine lacks, and rewrites that file.
#[cfg(feature = "cli")]
#[test]
fn the_command_listens_at_several_addresses_and_rewrites_its_file() {
    use std::io::BufRead;
    let folder = crate::support::server::fresh_folder().expect("a folder");
    let (file, more) = (folder.join("redis.conf"), folder.join("more.conf"));
    std::fs::write(&file, format!("include {}\nbind 127.0.0.1 -127.0.0.2 -203.0.113.1\n", more.display()))
        .expect("a folder to write to");
    std::fs::write(&more, "bind 203.0.113.9\nport 1\nmaxmemory 1mb\n").expect("a folder to write to");
    let mut process = std::process::Command::new(env!("CARGO_BIN_EXE_moonkeep"))
        .arg("serve")
        .arg(&file)
        .args(["--port", "0"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut lines = std::io::BufReader::new(process.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("text");
    let places: Vec<&str> = first.trim_start_matches("moonkeep serves at ").split(" and ").collect();
    assert_eq!(places.len(), 2, "{first}");
    for place in places {
        let mut client = std::net::TcpStream::connect(place).expect("it listens there");
        let request = b"CONFIG GET maxmemory\r\nCONFIG SET hz 20\r\nCONFIG REWRITE\r\n";
        client.write_all(request).expect("it reads");
        let answer = "*2\r\n$9\r\nmaxmemory\r\n$7\r\n1048576\r\n+OK\r\n+OK\r\n";
        assert_eq!(read(&mut client, answer.len()), answer);
    }
    process.kill().and_then(|()| process.wait()).expect("an end");
    let (out, err, status) = crate::cli::moonkeep_reading("hz 20\nnonsense 1\n", &["serve", "-"]);
    assert!(out.is_empty() && status != 0, "{out}");
    assert!(err.contains("-: line 2: there is no parameter \"nonsense\""), "{err}");
    let text = std::fs::read_to_string(&file).expect("it is there");
    assert!(
        text.starts_with(&format!("include {}\nbind 127.0.0.1 -127.0.0.2 -203.0.113.1\n", more.display())),
        "{text}"
    );
    assert!(text.contains("\nhz 20\n") && text.contains("\nmaxmemory 1mb\n"), "{text}");
    let _ = std::fs::remove_dir_all(&folder);
}

#[cfg(feature = "cli")]
#[test]
fn wrong_options_of_serve_say_what_is_allowed() {
    for (words, text) in [
        (&["--clock", "lunar"][..], "--clock takes system or manual, not \"lunar\""),
        (&["--version", "8.0"], "--version takes 7.0, not \"8.0\": no other one is there"),
        (&["--port", "70000"], "--port takes a number up to 65535"),
        (&["--bind", "localhost"], "bind takes IP addresses, as 127.0.0.1 -::1, not \"localhost\""),
        (&["--advance", "5"], "--now and --advance need --clock manual"),
        (&["--config", "user=a on", "--config", "user=a off"], "--config user=… names a user twice"),
        (
            &["--config", "user=a on", "--config", "aclfile=a.acl"],
            "users stand in the aclfile or are given by --config user=…, not both",
        ),
        (
            &["--config", "aclfile=no/such/file"],
            "Error loading ACLs, opening file 'no/such/file': No such file or directory",
        ),
        (&["--nonsense"], "invalid option '--nonsense'; see `moonkeep serve --help`"),
        (&["no/such/file"], "no/such/file: No such file or directory"),
        (&["Cargo.toml"], "Cargo.toml: line 1: there is no parameter \"[package]\""),
        (
            &["--config", "bind=1.2.3.4 -nowhere"],
            "bind takes IP addresses, as 127.0.0.1 -::1, not \"1.2.3.4 -nowhere\"",
        ),
        (&["--maxmemory", "much"], "maxmemory does not take \"much\": argument must be a memory value"),
        (&["--port", "1", "--bind", "203.0.113.1"], "cannot listen at 203.0.113.1:1: "),
    ] {
        let words: Vec<&str> = ["serve"].iter().chain(words).copied().collect();
        let (out, err, status) = crate::cli::moonkeep_reading("", &words);
        assert!(out.is_empty() && err.contains(text) && status != 0, "{words:?}: {out} {err} {status}");
    }
}
