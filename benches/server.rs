//! A redis-server of the bench's own, on a unix socket, and what the bench asks it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The server, stopped when dropped.
pub(crate) struct Server {
    child: Child,
    dir: PathBuf,
}

/// One connection.
pub(crate) struct Connection {
    reader: BufReader<UnixStream>,
}

impl Server {
    /// Starts a server pinned to the given processor; None when redis-server is not installed.
    pub(crate) fn start(cpu: usize) -> Option<Server> {
        let dir = std::env::temp_dir().join(format!("moonkeep-bench-{}", std::process::id()));
        std::fs::create_dir_all(&dir).ok()?;
        let child = Command::new("taskset")
            .args(["-c", &cpu.to_string(), "redis-server", "--port", "0", "--save", "", "--appendonly", "no"])
            .arg("--unixsocket")
            .arg(dir.join("redis.sock"))
            .arg("--dir")
            .arg(&dir)
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let server = Server { child, dir };
        (0..2000).any(|_| server.answers()).then_some(server)
    }
    fn answers(&self) -> bool {
        let ok = UnixStream::connect(self.dir.join("redis.sock")).is_ok();
        if !ok {
            // Not a test of time: give the process a chance to come up.
            std::thread::yield_now();
            let _ = Command::new("true").status();
        }
        ok
    }
    /// Opens a connection.
    pub(crate) fn connect(&self) -> Connection {
        let stream = UnixStream::connect(self.dir.join("redis.sock")).expect("the server listens");
        Connection { reader: BufReader::with_capacity(1 << 20, stream) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The bytes of a command.
pub(crate) fn command(argv: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", argv.len()).into_bytes();
    for word in argv {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}

impl Connection {
    /// Sends bytes that hold `replies` commands and reads that many replies; gives the last one's bulk, if it is one.
    pub(crate) fn send(&mut self, bytes: &[u8], replies: usize) -> Vec<u8> {
        self.reader.get_mut().write_all(bytes).expect("the server reads");
        let mut last = Vec::new();
        for _ in 0..replies {
            last = self.reply();
        }
        last
    }
    /// One command, one reply.
    pub(crate) fn call(&mut self, argv: &[&[u8]]) -> Vec<u8> {
        self.send(&command(argv), 1)
    }
    fn reply(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).expect("the server answers");
        let number: i64 = String::from_utf8_lossy(&line[1..]).trim().parse().unwrap_or(0);
        match line[0] {
            b'$' if number >= 0 => {
                let mut body = vec![0; number as usize + 2];
                self.reader.read_exact(&mut body).expect("the server answers");
                body.truncate(number as usize);
                body
            }
            b'*' => {
                for _ in 0..number.max(0) {
                    self.reply();
                }
                line
            }
            b'-' => panic!("the server refused: {}", String::from_utf8_lossy(&line)),
            _ => line,
        }
    }
    /// The server's own nanoseconds per call of a command, over `rounds` pipelines of 64 times `argv`.
    pub(crate) fn exec_ns(&mut self, name: &str, argv: &[&[u8]], rounds: usize) -> f64 {
        let batch = command(argv).repeat(64);
        self.call(&[b"CONFIG", b"RESETSTAT"]);
        for _ in 0..rounds {
            self.send(&batch, 64);
        }
        self.exec_so_far_ns(name)
    }
    /// The server's own nanoseconds per call of a command, since the statistics were reset.
    pub(crate) fn exec_so_far_ns(&mut self, name: &str) -> f64 {
        let info = String::from_utf8_lossy(&self.call(&[b"INFO", b"commandstats"])).into_owned();
        let line =
            info.lines().find(|line| line.starts_with(&format!("cmdstat_{name}:"))).expect("was called");
        let field = |key: &str| -> f64 {
            let at = line.split(&[':', ','][..]).find_map(|part| part.strip_prefix(key)).expect("a field");
            at.parse().expect("a number")
        };
        field("usec=") * 1000.0 / field("calls=")
    }
    /// One field of INFO memory.
    pub(crate) fn used_memory(&mut self) -> f64 {
        let info = String::from_utf8_lossy(&self.call(&[b"INFO", b"memory"])).into_owned();
        let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("a field");
        line.trim().parse().expect("a number")
    }
}
