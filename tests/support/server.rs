//! A private redis-server 7.0.15 on a unix socket, with its wall clock held by the test: a small preloaded
//! library (`clock.c`) answers gettimeofday from a shared file, so TTLs, expiry and generated stream IDs are
//! exact. The server is found by MOONKEEP_REDIS_SERVER or PATH. Without one the caller skips, unless
//! MOONKEEP_REQUIRE_SERVER is set.

use super::aof::{self, Aof};
use super::connection::{Connection, may_wait};
use super::target::{MAIN, START_MS, Target, argv};
use super::wire::Wire;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The version every recorded reply comes from.
const VERSION: &str = "redis_version:7.0.15";
/// Puts back what cases change of the settings.
const DEFAULTS: &[&str] = &[
    "CONFIG",
    "SET",
    "notify-keyspace-events",
    "",
    "maxmemory",
    "0",
    "maxmemory-policy",
    "noeviction",
    "hash-max-listpack-entries",
    "512",
    "hash-max-listpack-value",
    "64",
    "set-max-intset-entries",
    "512",
    "zset-max-listpack-entries",
    "128",
    "zset-max-listpack-value",
    "64",
    "list-max-listpack-size",
    "-2",
    "list-compress-depth",
    "0",
    "stream-node-max-entries",
    "100",
    "stream-node-max-bytes",
    "4096",
    "hll-sparse-max-bytes",
    "3000",
    "lazyfree-lazy-user-del",
    "no",
    "lazyfree-lazy-server-del",
    "no",
    "lazyfree-lazy-expire",
    "no",
    "lazyfree-lazy-user-flush",
    "no",
];

/// What empties a server.
const RESET: [&[&str]; 15] = [
    &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"],
    &["CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"],
    &["FLUSHALL"],
    &["SCRIPT", "FLUSH"],
    &["FUNCTION", "FLUSH"],
    DEFAULTS,
    &["CONFIG", "SET", "acllog-max-len", "128", "acl-pubsub-default", "resetchannels"],
    &["ACL", "DELUSER", "alice", "bob", "carol", "dave"],
    &["ACL", "LOG", "RESET"],
    &["CONFIG", "SET", "slowlog-log-slower-than", "10000", "slowlog-max-len", "128"],
    &["SLOWLOG", "RESET"],
    &["CONFIG", "SET", "latency-monitor-threshold", "0", "hz", "10"],
    &["LATENCY", "RESET"],
    &["CONFIG", "RESETSTAT"],
    &["DEBUG", "SET-ACTIVE-EXPIRE", "0"],
];

/// The file that a server starts from, where a test gives it one.
const FILE: &str = "given.rdb";

/// A running reference server; killed on drop.
pub(crate) struct Server {
    process: Child,
    folder: PathBuf,
    clock: File,
    connections: BTreeMap<String, Connection>,
    aof: Option<Aof>,
}

/// Starts a server, or says why the test is skipped; fails instead when a server is required.
pub(crate) fn server_or_skip(test: &str) -> Option<Server> {
    start_or_skip(test, &[], None)
}

/// The same, with what a file holds that lies there before it starts.
pub(crate) fn server_with_file_or_skip(test: &str, file: &[u8]) -> Option<Server> {
    start_or_skip(test, &["--dbfilename", FILE], Some(file))
}

/// The same, with an append-only file to read `effects` from.
pub(crate) fn propagating_server_or_skip(test: &str) -> Option<Server> {
    start_or_skip(test, aof::SETTINGS, None)
}

/// One that is a node of a cluster and serves all slots, and its port.
pub(crate) fn clustered_server_or_skip(test: &str) -> Option<(Server, u16)> {
    let (mut server, port) = node_or_skip(test)?;
    assert!(!server.control(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]).is_error());
    let is_up = |server: &mut Server| {
        let info = server.control(&["CLUSTER", "INFO"]);
        String::from_utf8_lossy(info.bytes().unwrap_or_default()).contains("cluster_state:ok")
    };
    while !is_up(&mut server) {
        // A node waits for a while before it takes writes.
        server.pass(100);
        server.control(&["DEBUG", "SLEEP", "0.01"]);
    }
    Some((server, port))
}

/// One that is a node of a cluster and serves no slot yet, and its port.
pub(super) fn node_or_skip(test: &str) -> Option<(Server, u16)> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    // The port for other nodes is higher by ten thousand.
    let port = if free > 55_000 { free - 10_000 } else { free };
    let (port_text, timeout) = (port.to_string(), i32::MAX.to_string());
    let settings = [
        &["--port", &port_text, "--bind", "127.0.0.1", "--cluster-enabled", "yes"][..],
        // No node is thought to have failed because the test moves the clock.
        &["--cluster-node-timeout", &timeout],
    ];
    Some((start_or_skip(test, &settings.concat(), None)?, port))
}

fn start_or_skip(test: &str, settings: &[&str], file: Option<&[u8]>) -> Option<Server> {
    match Server::start(settings, file) {
        Ok(server) => Some(server),
        Err(reason) if std::env::var_os("MOONKEEP_REQUIRE_SERVER").is_some() => {
            panic!("{test} needs redis-server 7.0.15: {reason}")
        }
        Err(reason) => {
            println!("{test}: skipped, {reason}");
            None
        }
    }
}

impl Server {
    /// Starts a server in a fresh folder.
    fn start(settings: &[&str], file: Option<&[u8]>) -> Result<Server, String> {
        let folder = fresh_folder()?;
        if let Some(file) = file {
            fs::write(folder.join(FILE), file).map_err(|error| error.to_string())?;
        }
        let clock_path = folder.join("clock");
        fs::write(&clock_path, (START_MS * 1000).to_ne_bytes()).map_err(|error| error.to_string())?;
        let library = build_clock(&folder)?;
        let mut process = spawn(&folder, &clock_path, &library, settings)?;
        wait_until_ready(&mut process)?;
        let clock =
            OpenOptions::new().read(true).write(true).open(&clock_path).map_err(|error| error.to_string())?;
        let aof = Aof::open(&folder);
        let connections = BTreeMap::new();
        let mut server = Server { process, folder, clock, connections, aof };
        match server.control(&["INFO", "server"]) {
            Wire::Bulk(info) if String::from_utf8_lossy(&info).contains(VERSION) => Ok(server),
            _ => Err("the server found is not version 7.0.15".into()),
        }
    }

    /// Makes it fail rather than take more memory than that.
    pub(crate) fn limit_memory(&self, bytes: u64) {
        let process = self.process.id().to_string();
        let set = Command::new("prlimit").args(["--pid", &process, &format!("--as={bytes}")]).status();
        assert!(set.is_ok_and(|status| status.success()), "prlimit sets the limit");
    }

    /// What it saves.
    pub(crate) fn saved(&mut self) -> Vec<u8> {
        assert_eq!(self.control(&["SAVE"]).to_string(), "+OK");
        let name = self.control(&["CONFIG", "GET", "dbfilename"]);
        let name = name.items().get(1).and_then(Wire::bytes).unwrap_or_default().to_vec();
        fs::read(self.folder.join(String::from_utf8_lossy(&name).as_ref())).expect("it has saved")
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    fn connection(&mut self, name: &str) -> &mut Connection {
        let socket = self.socket();
        self.connections.entry(name.into()).or_insert_with(|| Connection::open(&socket))
    }

    /// A command on a connection that no test uses.
    pub(super) fn control(&mut self, words: &[&str]) -> Wire {
        self.call("(control)", &argv(words))
    }

    pub(super) fn set_clock(&mut self, now_ms: i64) {
        self.clock.write_all_at(&(now_ms * 1000).to_ne_bytes(), 0).expect("the clock file is writable");
    }

    /// What the clock shows: the server moves it on too, when it sleeps.
    fn clock_ms(&self) -> i64 {
        let mut us = [0; 8];
        self.clock.read_exact_at(&mut us, 0).expect("the clock file is readable");
        i64::from_ne_bytes(us) / 1000
    }

    /// Lets time pass without removing what expires: it goes when a command meets it.
    pub(crate) fn pass(&mut self, ms: i64) {
        self.set_clock(self.clock_ms() + ms);
    }

    /// From now on the server keeps what it propagates, and expires keys only when a command meets them.
    pub(crate) fn keep_writes(&mut self) {
        for words in [
            &["DEBUG", "SET-ACTIVE-EXPIRE", "0"][..],
            &["CONFIG", "SET", "appendfsync", "no", "aof-use-rdb-preamble", "no"],
            &["CONFIG", "SET", "appendonly", "yes"],
        ] {
            let reply = self.control(words);
            assert!(!reply.is_error(), "{words:?} answered {reply}");
        }
        while self.incremental_file().is_none() {
            self.control(&["DEBUG", "SLEEP", "0.01"]);
        }
        self.set_clock(START_MS);
    }

    /// The file to which writes are appended, once the server has begun it.
    fn incremental_file(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.folder.join("appendonlydir")).ok()?;
        let mut paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        paths.find(|path| path.to_string_lossy().ends_with(".incr.aof"))
    }

    /// All that was propagated since [`keep_writes`](Self::keep_writes), byte for byte.
    pub(crate) fn writes(&self) -> Vec<u8> {
        self.incremental_file().and_then(|path| fs::read(path).ok()).unwrap_or_default()
    }

    /// Removes what has expired now rather than when the server's timer gets to it (SCAN deletes what it meets).
    fn sweep(&mut self) {
        let Wire::Bulk(keyspace) = self.control(&["INFO", "keyspace"]) else { return };
        let keyspace = String::from_utf8_lossy(&keyspace).into_owned();
        for line in keyspace.lines().filter_map(|line| line.strip_prefix("db")) {
            let db = line.split(':').next().unwrap_or("0");
            self.control(&["SELECT", db]);
            let mut cursor = String::from("0");
            loop {
                let reply = self.control(&["SCAN", &cursor, "COUNT", "10000"]);
                let next = reply.items().first().and_then(Wire::bytes).unwrap_or(b"0");
                cursor = String::from_utf8_lossy(next).into_owned();
                if cursor == "0" {
                    break;
                }
            }
        }
    }
}

impl Target for Server {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        let may_wait = may_wait(argv);
        if may_wait && !self.connection(connection).greeted {
            // The server reads a new connection one turn after it has accepted it.
            self.connection(connection).send(&super::target::argv(&["PING"]));
            self.receive(connection);
        }
        self.connection(connection).send(argv);
        if may_wait {
            // What another connection sends next must not overtake it.
            self.control(&["PING"]);
        }
    }

    /// A command that may wait has its reply in the socket once two turns of the server are over, or waits: the
    /// first turn may answer the control connection before it answers this one.
    fn receive(&mut self, connection: &str) -> Wire {
        if self.connection(connection).may_wait {
            self.control(&["PING"]);
            self.control(&["PING"]);
            return self.poll(connection);
        }
        self.connection(connection).receive()
    }

    fn poll(&mut self, connection: &str) -> Wire {
        self.connection(connection).poll()
    }

    fn advance(&mut self, ms: i64) {
        self.pass(ms);
        // The server looks for timeouts of blocked clients before it answers.
        self.control(&["PING"]);
        self.sweep();
    }

    fn pass(&mut self, ms: i64) {
        Server::pass(self, ms);
    }

    fn effects(&mut self) -> Vec<String> {
        self.aof.as_mut().map(Aof::take).unwrap_or_default()
    }

    fn reset(&mut self) {
        self.connections.retain(|name, _| name == "(control)");
        for words in RESET {
            self.connection("(control)").send(&argv(words));
        }
        for _ in 0..RESET.len() {
            let reply = self.connection("(control)").receive();
            assert!(!reply.is_error(), "a reset answered {reply}");
        }
        self.set_clock(START_MS);
        self.connection(MAIN);
        self.effects();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A folder of its own for a test.
pub(crate) fn fresh_folder() -> Result<PathBuf, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("moonkeep-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn build_clock(folder: &Path) -> Result<PathBuf, String> {
    let source = folder.join("clock.c");
    let library = folder.join("clock.so");
    fs::write(&source, include_str!("clock.c")).map_err(|error| error.to_string())?;
    let status =
        Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    match status {
        Ok(status) if status.success() => Ok(library),
        other => Err(format!("cc could not build the held clock: {other:?}")),
    }
}

fn spawn(folder: &Path, clock: &Path, library: &Path, settings: &[&str]) -> Result<Child, String> {
    let program = std::env::var_os("MOONKEEP_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
    Command::new(&program)
        .args(["--port", "0", "--save", "", "--appendonly", "no", "--enable-debug-command", "yes"])
        .args(settings)
        .arg("--unixsocket")
        .arg(folder.join("socket"))
        .current_dir(folder)
        .env("LD_PRELOAD", library)
        .env("MOONKEEP_CLOCK_FILE", clock)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{} does not start: {error}", program.to_string_lossy()))
}

fn wait_until_ready(process: &mut Child) -> Result<(), String> {
    let log = process.stdout.take().ok_or("the server has no log")?;
    let mut seen = String::new();
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        if line.contains("ready to accept connections") {
            return Ok(());
        }
        seen.push_str(&line);
        seen.push('\n');
    }
    Err(format!("the server ended early:\n{seen}"))
}
