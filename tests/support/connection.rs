//! A connection to a server on a unix socket, the reference server or the front of moonkeep.

use super::wire::Wire;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a reply may take: PFSELFTEST keeps a server busy for seconds, and longer where others keep the machine busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// One client connection.
pub(crate) struct Connection {
    reader: BufReader<UnixStream>,
    /// Whether the command sent last may be one that waits.
    pub(crate) may_wait: bool,
    /// Whether the server has answered it before.
    pub(crate) greeted: bool,
}

impl Connection {
    pub(crate) fn open(socket: &Path) -> Connection {
        let stream = UnixStream::connect(socket).expect("the server accepts connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        Connection { reader: BufReader::new(stream), may_wait: false, greeted: false }
    }

    pub(crate) fn send(&mut self, argv: &[Vec<u8>]) {
        let mut request = Vec::new();
        Wire::write_command(argv, &mut request);
        self.may_wait = may_wait(argv);
        match self.reader.get_mut().write_all(&request) {
            // The server has ended the connection: no reply will come, which `receive` tells.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            result => result.expect("the server reads commands"),
        }
    }

    /// A reply that is in the socket already, without waiting for one.
    pub(crate) fn poll(&mut self) -> Wire {
        self.reader.get_ref().set_nonblocking(true).expect("a socket need not block");
        let there = self.reader.fill_buf().map(|bytes| !bytes.is_empty());
        self.reader.get_ref().set_nonblocking(false).expect("a socket may block");
        match there {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Wire::Timeout,
            _ => self.receive(),
        }
    }

    pub(crate) fn receive(&mut self) -> Wire {
        match Wire::read(&mut self.reader) {
            Ok(reply) => {
                self.greeted = true;
                reply
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Wire::Timeout
            }
            Err(error) => Wire::Error(format!("(no reply) {error}").into_bytes()),
        }
    }
}

/// Whether the command may be one that waits.
pub(crate) fn may_wait(argv: &[Vec<u8>]) -> bool {
    let is = |start: &[u8]| {
        argv.first()
            .is_some_and(|name| name.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start)))
    };
    let blocks = is(b"X") && argv.iter().any(|word| word.eq_ignore_ascii_case(b"BLOCK"));
    is(b"BL") || is(b"BR") || is(b"BZ") || blocks
}
