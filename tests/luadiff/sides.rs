//! The two sides, each with a connection in RESP2 and one in RESP3: many programs go to the server in one write and
//! run here while it works on them. A server that crashed or hangs is replaced, and the program named.

use super::program::{Form, Program, SET_UP, STATE};
use crate::support::moonkeep;
use crate::support::server::{Server, server_or_skip};
use crate::support::target::{START_MS, argv};
use crate::support::wire::Wire;
use moonkeep::replies;
use std::io::{BufReader, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(4);
/// A program that makes ever longer texts must not take all memory.
const SERVER_BYTES: u64 = 1 << 30;

/// The server or moonkeep failed, and both are new.
pub(crate) struct Crash {
    /// What moonkeep answered to the program after those whose replies came; none when it failed itself.
    pub(crate) answered: Vec<Wire>,
}

impl Crash {
    /// The program does not end, or takes all memory: the server ran on, and moonkeep stopped it.
    pub(crate) fn is_endless(&self) -> bool {
        let stops = ["Script stopped: it used up its work budget", "not enough memory"];
        let stopped = |reply: &Wire| stops.iter().any(|stop| reply.to_string().contains(stop));
        self.answered.iter().any(stopped)
    }
}

type Commands = Vec<Vec<Vec<u8>>>;

/// All the commands for one program: what it needs set up, itself, what it left.
fn commands(program: &Program) -> Commands {
    let with_data = program.calls_commands() && program.form != Form::Load;
    let mut all = Vec::new();
    if with_data {
        all.push(argv(&["EVAL", SET_UP, "0"]));
    }
    all.extend(program.calls());
    if with_data {
        all.push(argv(&["EVAL", STATE, "0"]));
    }
    all
}

pub(crate) struct Sides {
    test: &'static str,
    server: Option<Server>,
    connections: Vec<BufReader<UnixStream>>,
    ours: Ours,
}

struct Ours {
    clients: Vec<::moonkeep::Client>,
}

impl Ours {
    fn new() -> Self {
        let engine = ::moonkeep::Engine::builder().clock(::moonkeep::Clock::manual(START_MS)).build();
        let mut clients = vec![engine.client(), engine.client()];
        replies(&mut clients[1], &argv(&["HELLO", "3"]));
        Ours { clients }
    }

    fn run(&mut self, resp3: bool, command: &[Vec<u8>]) -> Result<Wire, ()> {
        let client = &mut self.clients[usize::from(resp3)];
        match catch_unwind(AssertUnwindSafe(|| replies(client, command))) {
            Ok(mut replies) if replies.len() == 1 => Ok(replies.remove(0)),
            Ok(replies) => Ok(Wire::Array(replies)),
            Err(_) => Err(()),
        }
    }
}

impl Sides {
    /// None when there is no server, and none is required.
    pub(crate) fn start(test: &'static str) -> Option<Sides> {
        let mut sides = Sides { test, server: None, connections: Vec::new(), ours: Ours::new() };
        sides.restart().then_some(sides)
    }

    fn restart(&mut self) -> bool {
        self.connections.clear();
        self.server = None;
        self.server = server_or_skip(self.test);
        let Some(server) = &self.server else { return false };
        server.limit_memory(SERVER_BYTES);
        for greeting in ["2", "3"] {
            let stream = UnixStream::connect(server.socket()).expect("the server accepts connections");
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
            stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
            let mut connection = BufReader::new(stream);
            let mut request = Vec::new();
            Wire::write_command(&argv(&["HELLO", greeting]), &mut request);
            connection.get_mut().write_all(&request).expect("the server reads");
            Wire::read(&mut connection).expect("the server answers");
            self.connections.push(connection);
        }
        self.ours = Ours::new();
        true
    }

    /// The replies of both sides, program by program.
    pub(crate) fn run(&mut self, resp3: bool, programs: &[Program]) -> Result<Vec<[Vec<Wire>; 2]>, Crash> {
        let all: Vec<Commands> = programs.iter().map(commands).collect();
        let flush = argv(&["SCRIPT", "FLUSH"]);
        let mut request = Vec::new();
        Wire::write_command(&flush, &mut request);
        all.iter().flatten().for_each(|command| Wire::write_command(command, &mut request));
        let connection = &mut self.connections[usize::from(resp3)];
        // When the server hangs, this stops too; it shows from the replies that come.
        let _ = connection.get_mut().write_all(&request);
        let mut got = Vec::new();
        let _ = self.ours.run(resp3, &flush);
        for commands in &all {
            let replies: Result<Vec<Wire>, ()> =
                commands.iter().map(|command| self.ours.run(resp3, command)).collect();
            let Ok(replies) = replies else {
                self.restart();
                return Err(Crash { answered: Vec::new() });
            };
            got.push(replies);
        }
        self.read(resp3, &all, got)
    }

    fn read(
        &mut self,
        resp3: bool,
        all: &[Commands],
        got: Vec<Vec<Wire>>,
    ) -> Result<Vec<[Vec<Wire>; 2]>, Crash> {
        let connection = &mut self.connections[usize::from(resp3)];
        let mut both = Vec::new();
        let flushed = Wire::read(connection).is_ok();
        for (commands, got) in all.iter().zip(got) {
            let expected: Result<Vec<Wire>, _> = commands.iter().map(|_| Wire::read(connection)).collect();
            let Some(expected) = expected.ok().filter(|_| flushed) else {
                self.restart();
                return Err(Crash { answered: got });
            };
            both.push([expected, got]);
        }
        Ok(both)
    }
}

/// Where the replies to one program differ: the first cell, as text.
pub(crate) fn difference(both: &[Vec<Wire>; 2]) -> Option<[String; 2]> {
    let [expected, got] = both;
    if expected == got {
        return None;
    }
    let (expected, got) = (Wire::Array(expected.clone()), Wire::Array(got.clone()));
    first_cell(&without_addresses(&expected), &without_addresses(&got))
}

fn first_cell(expected: &Wire, got: &Wire) -> Option<[String; 2]> {
    let (left, right) = (expected.items(), got.items());
    if !left.is_empty() && left.len() == right.len() {
        return left.iter().zip(right).find_map(|(left, right)| first_cell(left, right));
    }
    let cells = [expected.to_string(), got.to_string()];
    (expected != got && !is_meant(&cells)).then_some(cells)
}

/// The differences of `docs/DIFFERENCES.md` that random programs meet.
fn is_meant([expected, got]: &[String; 2]) -> bool {
    let readonly = "Attempt to modify a readonly table";
    let keys = ["table index is nil", "table index is NaN"];
    got.contains("not enough memory")
        || keys.iter().any(|key| *got == expected.replace(readonly, key))
        || expected.contains("on bad self (string expected, got table)")
            && got.contains("attempt to call method")
        || got == "-ERR reached lua stack limit" && nesting(expected) > 256
        || is_other_order(expected, got)
}

/// How deep the arrays of a reply lie in each other.
fn nesting(reply: &str) -> usize {
    let mut deepest = 0;
    let steps = reply.bytes().scan(0_usize, |depth, byte| {
        match byte {
            b'[' => *depth += 1,
            b']' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    steps.for_each(|depth| deepest = deepest.max(depth));
    deepest
}

/// Whether it is the same in another order, and there is a key whose place follows from its address.
fn is_other_order(expected: &str, got: &str) -> bool {
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let keys = ["T=", "function=", "thread=", "userdata="];
    let has_such_a_key =
        ["{", ","].iter().any(|before| keys.iter().any(|key| expected.contains(&format!("{before}{key}"))));
    has_such_a_key && sorted(expected) == sorted(got)
}

/// The reply with all that looks like an address blotted out.
fn without_addresses(reply: &Wire) -> Wire {
    match reply {
        Wire::Bulk(text) => Wire::Bulk(blot(text)),
        Wire::Error(text) => Wire::Error(blot(text)),
        Wire::Status(text) => Wire::Status(blot(text)),
        Wire::Array(items) => Wire::Array(items.iter().map(without_addresses).collect()),
        Wire::Set(items) => Wire::Set(items.iter().map(without_addresses).collect()),
        Wire::Map(items) => Wire::Map(
            items.iter().map(|(key, value)| (without_addresses(key), without_addresses(value))).collect(),
        ),
        other => other.clone(),
    }
}

fn blot(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(4).position(|window| window == b": 0x") {
        let (before, after) = rest.split_at(at + 4);
        out.extend_from_slice(before);
        let digits = after.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits > 5 {
            out.push(b'?');
            rest = &after[digits..];
        } else {
            rest = after;
        }
    }
    out.extend_from_slice(rest);
    out
}
