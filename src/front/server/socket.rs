//! TCP and unix sockets as one: where connections come in, and what one reads from and writes to.

use crate::command::session::Peer;
use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Where connections come in.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    /// The file of the socket goes with it.
    Unix(UnixListener, PathBuf),
}

/// The two ends of a connection.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    pub(super) fn tcp(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).map(Listener::Tcp)
    }
    /// A socket that an earlier server left behind gives way; any other file does not.
    pub(super) fn unix(path: &Path) -> io::Result<Self> {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err() {
            fs::remove_file(path)?;
        }
        Ok(Listener::Unix(UnixListener::bind(path)?, path.to_path_buf()))
    }
    pub(super) fn tcp_address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }
    /// The next connection; none when there is no more.
    pub(super) fn accept(&self) -> io::Result<Option<Socket>> {
        let accepted = match self {
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }),
            Listener::Unix(listener, _) => listener.accept().map(|(stream, _)| Socket::Unix(stream)),
        };
        match accepted {
            Ok(socket) => Ok(Some(socket)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Listener::Tcp(listener) => listener.register(registry, token, Interest::READABLE),
            Listener::Unix(listener, _) => listener.register(registry, token, Interest::READABLE),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // Somebody may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}

impl Socket {
    /// Asks to be told when it can be read.
    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE;
        match self {
            Socket::Tcp(stream) => stream.register(registry, token, interest),
            Socket::Unix(stream) => stream.register(registry, token, interest),
        }
    }
    /// Asks to be told when it can be written again too, or no more: else each answer that is read would tell of it.
    pub(super) fn await_room(&mut self, registry: &Registry, token: Token, awaits: bool) -> io::Result<()> {
        let interest = if awaits { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        match self {
            Socket::Tcp(stream) => stream.reregister(registry, token, interest),
            Socket::Unix(stream) => stream.reregister(registry, token, interest),
        }
    }
    /// Who is at the other end. Of a unix socket the server shows the path of its own end for both.
    pub(super) fn peer(&self, listener: &Listener) -> Peer {
        // A client of IPv4 at a listener of IPv6 is one of IPv4.
        let shown =
            |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port()).to_string();
        let text = |address: io::Result<SocketAddr>| address.map_or("?:0".into(), shown);
        match (self, listener) {
            (Socket::Tcp(stream), _) => Peer {
                address: text(stream.peer_addr()).into(),
                local_address: text(stream.local_addr()).into(),
                descriptor: stream.as_raw_fd(),
                ..Peer::default()
            },
            (Socket::Unix(stream), Listener::Unix(_, path)) => {
                let address: Box<str> = format!("{}:0", path.display()).into();
                let descriptor = stream.as_raw_fd();
                Peer {
                    address: address.clone(),
                    local_address: address,
                    is_unix: true,
                    descriptor,
                    ..Peer::default()
                }
            }
            (Socket::Unix(stream), _) => {
                Peer { is_unix: true, descriptor: stream.as_raw_fd(), ..Peer::default() }
            }
        }
    }
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(bytes),
            Socket::Unix(stream) => stream.read(bytes),
        }
    }
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }
}
