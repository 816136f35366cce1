//! Hundreds of clients of `moonkeep serve` at once, of mixed work, that come and go as they like: no reply is lost, none is
//! another one's, memory stays flat, the end is clean. A few seconds by default; MOONKEEP_SOAK_SECONDS=1800 for a soak.

use crate::support::server::fresh_folder;
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const THREADS: u64 = 4;
const CLIENTS_PER_THREAD: u64 = 125;

/// A generator of its own for each thread.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A client with keys of its own, so that it knows what it has to be answered.
struct Client {
    number: u64,
    stream: BufReader<UnixStream>,
    counted: u64,
    listed: u64,
}

fn connect(socket: &Path) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(socket).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
    BufReader::new(stream)
}

impl Client {
    fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("it reads");
    }
    fn expect(&mut self, answer: &str) {
        let mut got = vec![0; answer.len()];
        self.stream.read_exact(&mut got).expect("no reply is lost");
        assert_eq!(String::from_utf8_lossy(&got), answer, "client {}", self.number);
    }
    /// Sends a request and expects its answer.
    fn ask(&mut self, request: &str, answer: &str) {
        self.send(request.as_bytes());
        self.expect(answer);
    }
    /// Goes without a word, in the middle of a request or while it waits, and comes again.
    fn vanish(&mut self, socket: &Path, random: &mut Random) {
        match random.below(4) {
            0 => self.send(b"*3\r\n$3\r\nSET\r\n$100\r\nhalf"),
            1 => self.send(format!("BLPOP nobody:{} 0\r\n", self.number).as_bytes()),
            2 => self.send(format!("SUBSCRIBE room\r\nPUBLISH room {}\r\n", "x".repeat(5000)).as_bytes()),
            _ => {}
        }
        self.stream = connect(socket);
    }
    fn work(&mut self, random: &mut Random) {
        let n = self.number;
        match random.below(7) {
            0 => {
                self.counted += 1;
                let counted = self.counted;
                self.ask(&format!("INCR count:{n}\r\n"), &format!(":{counted}\r\n"));
            }
            1 => {
                let value = "v".repeat(random.below(20_000) as usize);
                self.ask(&format!("SET text:{n} \"{value}\"\r\n"), "+OK\r\n");
                self.ask(&format!("GET text:{n}\r\n"), &format!("${}\r\n{value}\r\n", value.len()));
            }
            2 => {
                let count = 1 + random.below(50);
                let requests: String = (0..count).map(|at| format!("ECHO {n}-{at}\r\n")).collect();
                self.send(requests.as_bytes());
                for at in 0..count {
                    let text = format!("{n}-{at}");
                    self.expect(&format!("${}\r\n{text}\r\n", text.len()));
                }
            }
            3 => {
                self.listed += 1;
                let listed = self.listed;
                self.ask(&format!("RPUSH list:{n} {listed}\r\n"), ":1\r\n");
                let text = listed.to_string();
                let key = format!("list:{n}");
                let answer = format!("*2\r\n${}\r\n{key}\r\n${}\r\n{text}\r\n", key.len(), text.len());
                self.ask(&format!("BLPOP {key} 1\r\n"), &answer);
            }
            4 => {
                self.counted += 1;
                let counted = self.counted;
                let script = "EVAL \"return redis.call('INCR', KEYS[1])\" 1";
                self.ask(&format!("{script} count:{n}\r\n"), &format!(":{counted}\r\n"));
            }
            5 => {
                self.counted += 2;
                let (before, counted) = (self.counted - 1, self.counted);
                self.ask(
                    &format!("MULTI\r\nINCR count:{n}\r\nINCR count:{n}\r\nEXEC\r\n"),
                    &format!("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:{before}\r\n:{counted}\r\n"),
                );
            }
            _ => self.ask(&format!("SET fleeting:{n} v PX 5\r\n"), "+OK\r\n"),
        }
    }
}

/// Ends with the test, however that ends.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Memory of the process in KiB.
fn resident_kib(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "how long to go on, not what happens")]
fn now() -> Instant {
    Instant::now()
}

fn run_clients(socket: &Path, seed: u64, end: Instant) -> u64 {
    let mut random = Random(seed);
    let first = seed * CLIENTS_PER_THREAD;
    let mut clients: Vec<Client> = (first..first + CLIENTS_PER_THREAD)
        .map(|number| Client { number, stream: connect(socket), counted: 0, listed: 0 })
        .collect();
    for client in &mut clients {
        client.send(format!("GET count:{}\r\n", client.number).as_bytes());
        let mut byte = [0; 5];
        client.stream.read_exact(&mut byte).expect("an answer");
        if byte != *b"$-1\r\n" {
            client.send(format!("DEL count:{}\r\n", client.number).as_bytes());
            client.stream = connect(socket);
        }
    }
    let mut done = 0;
    while now() < end {
        let client = &mut clients[random.below(CLIENTS_PER_THREAD) as usize];
        if random.below(50) == 0 {
            client.vanish(socket, &mut random);
        } else {
            client.work(&mut random);
        }
        done += 1;
    }
    done
}

/// Runs all clients for so long; how much they did.
fn soak(socket: &Path, time: Duration) -> u64 {
    let end = now() + time;
    let threads: Vec<_> = (0..THREADS)
        .map(|seed| {
            let socket = socket.to_path_buf();
            std::thread::spawn(move || run_clients(&socket, seed, end))
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("each client got its replies")).sum()
}

#[test]
fn clients_that_come_and_go_lose_nothing_and_leave_nothing() {
    let seconds = std::env::var("MOONKEEP_SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let folder = fresh_folder().expect("a folder");
    let socket = folder.join("socket");
    let process = Command::new(env!("CARGO_BIN_EXE_moonkeep"))
        .args(["serve", "--unix"])
        .arg(&socket)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut process = Served(process);
    let mut line = [0; 1];
    process.0.stdout.take().expect("its output").read_exact(&mut line).expect("it says where it listens");
    // By then each client has had its largest buffers.
    let warm = Duration::from_secs(1 + seconds / 2);
    let mut done = soak(&socket, warm);
    let before_kib = resident_kib(&process.0);
    let mut control = connect(&socket);
    control.get_mut().write_all(b"FLUSHALL\r\n").expect("it reads");
    let mut ok = [0; 5];
    control.read_exact(&mut ok).expect("an answer");
    done += soak(&socket, Duration::from_secs(seconds));
    let after_kib = resident_kib(&process.0);
    println!(
        "{done} turns of {} clients; {before_kib} KiB before, {after_kib} KiB after",
        THREADS * CLIENTS_PER_THREAD
    );
    assert!(
        after_kib < before_kib + before_kib / 4 + 16 * 1024,
        "{before_kib} KiB before, {after_kib} KiB after"
    );
    assert!(
        Command::new("kill").args(["-TERM", &process.0.id().to_string()]).status().expect("kill").success()
    );
    assert_eq!(process.0.wait().expect("an end").code(), Some(0));
    let _ = std::fs::remove_dir_all(&folder);
}
