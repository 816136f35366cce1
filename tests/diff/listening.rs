//! A side that is listened to: in place of what a step propagates it tells the keyspace events of the step.

use crate::support::target::{Target, argv};
use crate::support::wire::Wire;

/// The connection that listens.
const LISTENER: &str = "(listener)";

/// A side with all keyspace events published.
pub(crate) struct Listening<T>(pub(crate) T);

impl<T: Target> Target for Listening<T> {
    fn send(&mut self, connection: &str, argv: &[Vec<u8>]) {
        self.0.send(connection, argv);
    }

    fn receive(&mut self, connection: &str) -> Wire {
        self.0.receive(connection)
    }

    fn poll(&mut self, connection: &str) -> Wire {
        self.0.poll(connection)
    }

    fn advance(&mut self, ms: i64) {
        self.0.advance(ms);
    }

    /// What has come before the reply to a PING that is sent now.
    fn effects(&mut self) -> Vec<String> {
        self.0.send(LISTENER, &argv(&["PING"]));
        let mut events = Vec::new();
        loop {
            let message = self.0.receive(LISTENER);
            match message.items() {
                [_, _, channel, payload] => events.push(format!("{channel} {payload}")),
                _ => return events,
            }
        }
    }

    fn reset(&mut self) {
        self.0.reset();
        let set = self.0.call("(state)", &argv(&["CONFIG", "SET", "notify-keyspace-events", "KEAmn"]));
        assert_eq!(set, Wire::Status(b"OK".to_vec()));
        self.0.call(LISTENER, &argv(&["PSUBSCRIBE", "__key*"]));
    }
}
