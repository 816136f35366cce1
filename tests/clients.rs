//! Real clients tour the families of commands: `tests/clients/tour.*` with redis-py, node-redis, ioredis, hiredis and
//! redigo, `rust.rs` with the redis crate, `cli.redis` with redis-cli; each meets `moonkeep serve` over TCP and a real server over a
//! unix socket, in each protocol that it speaks. `tests/clients/install` fetches them into `target/clients`. What is not
//! there is skipped with a line, unless MOONKEEP_REQUIRE_CLIENTS names it.

use crate::support::server::fresh_folder;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[cfg(feature = "redis")]
mod rust;

/// A server of either kind in a process of its own; killed on drop.
struct Serving {
    process: Child,
    folder: PathBuf,
    address: String,
}

impl Serving {
    /// Starts a program and reads lines until one says that it serves.
    fn start(
        mut command: Command,
        folder: PathBuf,
        ready: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = spawned.map_err(|error| format!("{command:?} does not start: {error}"))?;
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let address = lines.find_map(|line| ready(&line.ok()?)).ok_or("it ended early")?;
        // Nobody reads further lines, and they must not fill the pipe.
        std::thread::spawn(move || lines.count());
        Ok(Serving { process, folder, address })
    }
    /// What this package builds, over TCP.
    fn moonkeep() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_moonkeep"));
        command.args(["serve", "--port", "0"]);
        let folder = fresh_folder().expect("a folder");
        let ready = |line: &str| line.strip_prefix("moonkeep serves at ").map(Into::into);
        Serving::start(command, folder, ready).expect("moonkeep serves")
    }
    /// A real server, over a unix socket.
    fn redis(test: &str) -> Option<Self> {
        let program = std::env::var_os("MOONKEEP_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
        let folder = fresh_folder().expect("a folder");
        let socket = folder.join("socket").to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(["--port", "0", "--save", "", "--unixsocket", &socket]).current_dir(&folder);
        let ready = |line: &str| line.contains("ready to accept connections").then(|| socket.clone());
        match Serving::start(command, folder.clone(), ready) {
            Ok(serving) => Some(serving),
            Err(reason) => {
                assert!(
                    std::env::var_os("MOONKEEP_REQUIRE_SERVER").is_none(),
                    "{test} needs redis-server: {reason}"
                );
                println!("{test}: no redis-server to compare with, {reason}");
                None
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Each kind of server there is.
fn servings(test: &str) -> Vec<Serving> {
    Serving::redis(test).into_iter().chain([Serving::moonkeep()]).collect()
}

/// Where `tests/clients/install` has put clients.
fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients")
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// The output of a program that ends well.
fn output(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|error| format!("{command:?} does not start: {error}"))?;
    let text = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if out.status.success() { Ok(text) } else { Err(format!("{command:?}: {}\n{text}", out.status)) }
}

/// Says why a client is not there; fails where it is required.
fn skip(client: &str, reason: &str) {
    let required = std::env::var("MOONKEEP_REQUIRE_CLIENTS").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == client), "{client} is required: {reason}");
    println!("{client}: skipped, {reason}");
}

/// Runs a tour against each server in each protocol.
fn tour(client: &str, program: Result<Vec<OsString>, String>, protocols: &[&str]) {
    let words = match program {
        Ok(words) => words,
        Err(reason) => return skip(client, &reason),
    };
    for serving in servings(client) {
        for protocol in protocols {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).arg(&serving.address).arg(protocol);
            command.env("NODE_PATH", installed().join("node_modules"));
            match output(&mut command) {
                Ok(text) => print!("{}: {text}", serving.address),
                Err(text) => panic!("{text}"),
            }
        }
    }
}

/// redis-py, whose major version decides what values it makes of replies.
fn python() -> Result<Vec<OsString>, String> {
    let probe = "import redis; assert int(redis.__version__.split('.')[0]) >= 8, redis.__version__";
    let own = installed().join("venv/bin/python");
    let python = if own.exists() { own.into_os_string() } else { "python3".into() };
    output(Command::new(&python).args(["-c", probe]))?;
    Ok(vec![python, source("tour.py").into()])
}

/// A package for Node.js of this major version or a later one.
fn node(package: &str, major: u32, program: &str) -> Result<Vec<OsString>, String> {
    let probe = format!(
        "if (parseInt(require('{package}/package.json').version) < {major}) throw Error('it is too old')"
    );
    output(Command::new("node").env("NODE_PATH", installed().join("node_modules")).args(["-e", &probe]))?;
    Ok(vec!["node".into(), source(program).into()])
}

/// Where a compiled tour goes.
fn compiled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn c() -> Result<Vec<OsString>, String> {
    let program = compiled("tour_c");
    output(
        Command::new("cc").args(["-O1", "-Wall", "-o"]).arg(&program).arg(source("tour.c")).arg("-lhiredis"),
    )?;
    Ok(vec![program.into()])
}

/// With the sources that Debian installs.
fn go() -> Result<Vec<OsString>, String> {
    let program = compiled("tour_go");
    let mut build = Command::new("go");
    build.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOCACHE", compiled("gocache"));
    output(build.args(["build", "-o"]).arg(&program).arg(source("tour.go")))?;
    Ok(vec![program.into()])
}

#[test]
fn clients_redis_py_tours_the_families() {
    tour("redis-py", python(), &["2", "3"]);
}

#[test]
fn clients_node_redis_tours_the_families() {
    tour("node-redis", node("redis", 6, "tour_node_redis.js"), &["2", "3"]);
}

#[test]
fn clients_ioredis_tours_the_families() {
    tour("ioredis", node("ioredis", 6, "tour_ioredis.js"), &["2", "3"]);
}

#[test]
fn clients_hiredis_tours_the_families() {
    tour("hiredis", c(), &["2"]);
}

#[test]
fn clients_redigo_tours_the_families() {
    tour("redigo", go(), &["2"]);
}

/// A tool of the server's own package, that talks to this address.
fn tool(name: &str, address: &str) -> Command {
    let mut command = Command::new(name);
    match address.split_once(':') {
        Some((host, port)) => command.args(["-h", host, "-p", port]),
        None => command.args(["-s", address]),
    };
    command
}

/// What redis-cli shows of `cli.redis` stands in `cli.2.txt` and `cli.3.txt`, as it showed it of a real server.
#[test]
fn clients_redis_cli_shows_what_it_shows_of_a_server() {
    if let Err(reason) = output(Command::new("redis-cli").arg("--version")) {
        return skip("redis-cli", &reason);
    }
    for serving in servings("redis-cli") {
        for (protocol, shown) in
            [("-2", include_str!("clients/cli.2.txt")), ("-3", include_str!("clients/cli.3.txt"))]
        {
            let input = std::fs::File::open(source("cli.redis")).expect("it is there");
            let mut cli = tool("redis-cli", &serving.address);
            assert_eq!(output(cli.args(["--no-raw", protocol]).stdin(input)).as_deref(), Ok(shown));
        }
    }
}

#[test]
fn clients_redis_benchmark_runs_all_its_tests() {
    if let Err(reason) = output(Command::new("redis-benchmark").arg("--version")) {
        return skip("redis-cli", &reason);
    }
    for serving in servings("redis-benchmark") {
        let mut benchmark = tool("redis-benchmark", &serving.address);
        let text =
            output(benchmark.args(["-n", "1000", "-c", "10", "-P", "4", "--csv"])).expect("it ends well");
        let names: Vec<&str> = text.lines().filter_map(|line| line.split('"').nth(1)).collect();
        let wanted = [
            "test",
            "PING_INLINE",
            "PING_MBULK",
            "SET",
            "GET",
            "INCR",
            "LPUSH",
            "RPUSH",
            "LPOP",
            "RPOP",
            "SADD",
            "HSET",
            "SPOP",
            "ZADD",
            "ZPOPMIN",
            "LPUSH (needed to benchmark LRANGE)",
            "LRANGE_100 (first 100 elements)",
            "LRANGE_300 (first 300 elements)",
            "LRANGE_500 (first 500 elements)",
            "LRANGE_600 (first 600 elements)",
            "MSET (10 keys)",
        ];
        assert_eq!(names, wanted);
    }
}
