//! Something that answers commands on named connections: moonkeep or the reference server.

use super::wire::Wire;

/// The instant at which every case begins, in Unix milliseconds.
pub(crate) const START_MS: i64 = 1_700_000_000_000;

/// The connection used when a test names none.
pub(crate) const MAIN: &str = "";

/// One side of a comparison.
pub(crate) trait Target {
    /// Sends a command and reads its reply.
    fn call(&mut self, connection: &str, argv: &[Vec<u8>]) -> Wire {
        self.send(connection, argv);
        self.receive(connection)
    }

    /// Sends a command; its reply is for `receive`.
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]);

    /// The next reply or push of a connection; `Wire::Timeout` when there is none.
    fn receive(&mut self, connection: &str) -> Wire;

    /// The next reply that is there already; `Wire::Timeout` when there is none.
    fn poll(&mut self, connection: &str) -> Wire {
        self.receive(connection)
    }

    /// Lets time pass.
    fn advance(&mut self, ms: i64);

    /// Lets time pass without removing what expires, where the side tells these apart.
    fn pass(&mut self, ms: i64) {
        self.advance(ms);
    }

    /// The propagated form of the writes since the last call, where the side tells it.
    fn effects(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// An empty keyspace at `START_MS`, no scripts, default settings, no connections.
    fn reset(&mut self);
}

/// A command from its words.
pub(crate) fn argv(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
