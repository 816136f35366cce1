//! moonkeep with a thread for each command that is sent and not yet read: for scripts that run beside their killer.
//! Time passes here only in so far as a sent script is seen running, and has written if it is going to.

use super::moonkeep::replies;
use super::target::Target;
use super::wire::Wire;
use moonkeep::{Client, Clock, Engine, Limits};
use std::collections::BTreeMap;
use std::thread::{JoinHandle, spawn, yield_now};

/// One engine, and what runs in it. Sessions are opened before: opening one waits for the script that runs.
pub(crate) struct Beside {
    engine: Engine,
    sessions: Vec<Client>,
    running: BTreeMap<String, Sent>,
}

/// A case has fewer steps.
const SESSIONS: usize = 32;

struct Sent {
    reply: JoinHandle<Vec<Wire>>,
    is_script: bool,
    writes: bool,
}

impl Default for Beside {
    fn default() -> Self {
        let limits = Limits { work: u64::MAX, ..Limits::default() };
        let engine = Engine::builder().clock(Clock::default()).script_limits(limits).build();
        let sessions = (0..SESSIONS).map(|_| engine.client()).collect();
        Beside { engine, sessions, running: BTreeMap::new() }
    }
}

impl Target for Beside {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        let mut client = self.sessions.pop().expect("a case has few steps");
        let argv = argv.to_vec();
        let text = String::from_utf8_lossy(&argv.concat()).into_owned();
        let (is_script, writes) = (text.starts_with("EVAL"), text.contains("\"SET\""));
        let reply = spawn(move || replies(&mut client, &argv));
        self.running.insert(connection.to_owned(), Sent { reply, is_script, writes });
    }

    fn receive(&mut self, connection: &str) -> Wire {
        let Some(sent) = self.running.remove(connection) else { return Wire::Timeout };
        sent.reply.join().ok().and_then(|replies| replies.into_iter().next()).unwrap_or(Wire::Timeout)
    }

    fn advance(&mut self, _: i64) {
        let control = self.engine.script_control();
        for sent in self.running.values().filter(|sent| sent.is_script) {
            let is_there = || control.is_running() && (control.has_written() || !sent.writes);
            while !is_there() && !sent.reply.is_finished() {
                yield_now();
            }
        }
    }

    fn reset(&mut self) {
        *self = Beside::default();
    }
}
