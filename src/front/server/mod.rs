//! The server front: real clients speak RESP to an engine over TCP and unix sockets. `connection` is one of them, `turns` is the
//! loop that serves them all, `socket` what it listens and writes to, `process` what it costs.

mod connection;
mod files;
mod process;
mod socket;
mod turns;

use crate::engine::{Engine, Stop};
pub use files::{Disk, InMemory};
use process::Figures;
use socket::Listener;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use turns::{Mailbox, Turns};

/// Where a server listens. Without an address and without a path it listens nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// The TCP port; 0 lets the system choose one. None for no TCP.
    pub port: Option<u16>,
    /// The interfaces it listens at for TCP. Default: the loopback, so that only this machine is served.
    pub interfaces: Vec<Interface>,
    /// The file of a unix socket. One that an earlier server left behind gives way.
    pub unix: Option<PathBuf>,
    /// How many clients are served at a time; further ones get an error. This sets `maxclients`, which CONFIG SET may
    /// change later. None for what it says.
    pub clients_max: Option<usize>,
}

impl Default for Listen {
    fn default() -> Self {
        let loopback = Interface { address: IpAddr::V4(Ipv4Addr::LOCALHOST), may_miss: false };
        Listen { port: None, interfaces: vec![loopback], unix: None, clients_max: None }
    }
}

/// An interface of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// Its address; unspecified for all interfaces.
    pub address: IpAddr,
    /// It is no error when the machine has no such address.
    pub may_miss: bool,
}

/// An engine that unmodified Redis clients reach over sockets, in RESP2 and RESP3.
///
/// One thread serves them all, in the order in which their bytes arrive. The engine can be used from other threads at
/// the same time: a test holds the clock while its clients come from elsewhere.
///
/// ```
/// use moonkeep::{Engine, server::{Listen, Server}};
/// use std::io::{Read, Write};
///
/// let engine = Engine::new();
/// let server = Server::bind(&engine, &Listen { port: Some(0), ..Listen::default() })?;
/// let (address, handle) = (server.tcp_address().expect("TCP was asked for"), server.handle());
/// let thread = std::thread::spawn(|| server.run());
///
/// let mut socket = std::net::TcpStream::connect(address)?;
/// socket.write_all(b"SET greeting hello\r\n")?;
/// let mut answer = [0; 5];
/// socket.read_exact(&mut answer)?;
/// assert_eq!(&answer, b"+OK\r\n");
/// assert_eq!(engine.client().query::<String, _>(["GET", "greeting"])?, "hello");
///
/// handle.stop();
/// thread.join().expect("no panic")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server {
    turns: Turns,
    tcp_addresses: Vec<SocketAddr>,
}

impl Server {
    /// Listens. Connections are taken in once [`run`](Self::run) is called.
    ///
    /// # Errors
    /// An address or path that is taken or not allowed; more sockets than the system has; nowhere to listen.
    pub fn bind(engine: &Engine, listen: &Listen) -> io::Result<Self> {
        let mut listeners = Vec::new();
        if let Some(port) = listen.port {
            listeners = tcp_listeners(&listen.interfaces, port)?;
        }
        if let Some(path) = &listen.unix {
            listeners.push(Listener::unix(path)?);
        }
        if listeners.is_empty() {
            let text = "a server needs a TCP port or the path of a unix socket";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let tcp_addresses: Vec<SocketAddr> = listeners.iter().filter_map(Listener::tcp_address).collect();
        if let Some(count) = listen.clients_max {
            engine.set_clients_max(count).map_err(io::Error::other)?;
        }
        let port = tcp_addresses.first().map_or(0, SocketAddr::port);
        let turns = Turns::new(engine.clone(), listeners, Figures::new(port))?;
        Ok(Server { turns, tcp_addresses })
    }
    /// The address it listens to, the first one of several, with the port that the system chose.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp_addresses.first().copied()
    }
    /// All addresses it listens to.
    pub fn tcp_addresses(&self) -> &[SocketAddr] {
        &self.tcp_addresses
    }
    /// What stops it from another thread.
    pub fn handle(&self) -> Handle {
        Handle { mailbox: self.turns.mailbox() }
    }
    /// Serves until it is stopped, by its handle or by SHUTDOWN. Then all connections are closed, and the file of a unix socket is removed.
    ///
    /// # Errors
    /// The engine is poisoned; the system refuses to watch a socket.
    pub fn run(self) -> io::Result<()> {
        let front: Arc<dyn Stop> = self.turns.mailbox();
        let process = self.turns.process();
        self.turns.engine().add_front(Arc::downgrade(&front), process).map_err(io::Error::other)?;
        self.turns.run()
    }
}

/// Listeners at one port of several interfaces. One at all IPv6 addresses listens at those of IPv4 too.
fn tcp_listeners(interfaces: &[Interface], port: u16) -> io::Result<Vec<Listener>> {
    let mut listeners: Vec<Listener> = Vec::new();
    let is_all = |address: IpAddr| address.is_ipv6() && address.is_unspecified();
    let mut interfaces = interfaces.to_vec();
    interfaces.sort_by_key(|interface| !is_all(interface.address));
    for interface in interfaces {
        let first = listeners.first().and_then(Listener::tcp_address);
        // A port that the system chose for the first one is that of all.
        let port = first.map_or(port, |address| address.port());
        match Listener::tcp(SocketAddr::new(interface.address, port)) {
            Err(error) if interface.may_miss && is_missing(&error) => {}
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && first.is_some_and(|first| is_all(first.ip())) => {}
            listener => listeners.push(listener?),
        }
    }
    Ok(listeners)
}

/// Whether the machine has no such address, or no addresses of this kind (EAFNOSUPPORT).
fn is_missing(error: &io::Error) -> bool {
    const NO_FAMILY: i32 = 97;
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(NO_FAMILY)
}

/// Stops a [`Server`].
#[derive(Clone)]
pub struct Handle {
    mailbox: Arc<Mailbox>,
}

impl Handle {
    /// Lets [`Server::run`] return after its current turn.
    pub fn stop(&self) {
        self.mailbox.stop();
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
