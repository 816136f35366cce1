//! Where the patterns run in these tests: on an engine and, through the redis crate, on the reference server; blocking
//! and not. A world loses requests and replies when it is told to.

use crate::support::target::START_MS;
use moonkeep::patterns::{Error, Resend, Run, RunAsync, Step};
use moonkeep::{Client, Clock, Engine, Reply};
use std::collections::VecDeque;
use std::fmt::{Debug, Display, Formatter};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// What becomes of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives and is answered.
    Arrives,
    /// It never arrives.
    RequestLost,
    /// It runs, and nobody hears of it.
    ReplyLost,
}

/// The only way a call fails here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost;

impl Display for Lost {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("lost")
    }
}

/// A place and a way to run.
pub(crate) trait World {
    /// All commands go to one session, so that there are transactions.
    const HAS_SESSION: bool = true;
    /// Empty, at `START_MS`, no script known.
    fn reset(&mut self);
    /// Lets time pass.
    fn advance(&mut self, ms: u64);
    /// The fates of the next commands; those after them arrive.
    fn fates(&mut self, fates: &[Fate]);
    /// Runs a command and shows its reply as redis-cli does.
    fn call(&mut self, words: &[&str]) -> String;
    /// Runs a step.
    fn run<S: Step>(&mut self, step: S) -> Result<S::Output, Error<Lost>>;
    /// Runs a step that can be run again.
    fn try_run<S: Resend>(&mut self, step: &mut S) -> Result<S::Output, Error<Lost>>;
}

/// Loses what it is told to lose.
struct Lossy<R> {
    on: R,
    fates: VecDeque<Fate>,
}

impl<R> Lossy<R> {
    fn new(on: R) -> Self {
        Lossy { on, fates: VecDeque::new() }
    }
    fn next_fate(&mut self) -> Fate {
        self.fates.pop_front().unwrap_or(Fate::Arrives)
    }
}

fn heard<E: Debug>(fate: Fate, reply: Result<Reply, E>) -> Result<Reply, Lost> {
    let reply = reply.expect("no call fails by itself");
    if fate == Fate::ReplyLost { Err(Lost) } else { Ok(reply) }
}

impl<R: Run<Error: Debug>> Run for Lossy<R> {
    type Error = Lost;
    fn exchange(&mut self, argv: &[&[u8]]) -> Result<Reply, Lost> {
        let fate = self.next_fate();
        if fate == Fate::RequestLost {
            return Err(Lost);
        }
        heard(fate, self.on.exchange(argv))
    }
}

impl<R: RunAsync<Error: Debug>> RunAsync for Lossy<R> {
    type Error = Lost;
    async fn exchange_async(&mut self, argv: &[&[u8]]) -> Result<Reply, Lost> {
        let fate = self.next_fate();
        if fate == Fate::RequestLost {
            return Err(Lost);
        }
        heard(fate, self.on.exchange_async(argv).await)
    }
}

fn bytes<'a>(words: &'a [&str]) -> Vec<&'a [u8]> {
    words.iter().map(|word| word.as_bytes()).collect()
}

/// Polls until it is ready: no executor at all.
fn poll<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}

/// An engine; `BLOCKING` chooses the driver.
pub(crate) struct OnEngine<const BLOCKING: bool> {
    engine: Engine,
    client: Lossy<Client>,
}

impl<const BLOCKING: bool> Default for OnEngine<BLOCKING> {
    fn default() -> Self {
        let engine = Engine::builder().clock(Clock::manual(START_MS)).build();
        let client = Lossy::new(engine.client());
        OnEngine { engine, client }
    }
}

impl<const BLOCKING: bool> World for OnEngine<BLOCKING> {
    fn reset(&mut self) {
        *self = Self::default();
    }
    fn advance(&mut self, ms: u64) {
        self.engine.advance(Duration::from_millis(ms)).expect("a manual clock");
    }
    fn fates(&mut self, fates: &[Fate]) {
        self.client.fates = fates.to_vec().into();
    }
    fn call(&mut self, words: &[&str]) -> String {
        self.client.on.exchange(&bytes(words)).expect("the engine is at rest").to_string()
    }
    fn run<S: Step>(&mut self, step: S) -> Result<S::Output, Error<Lost>> {
        if BLOCKING { step.run(&mut self.client) } else { poll(step.run_async(&mut self.client)) }
    }
    fn try_run<S: Resend>(&mut self, step: &mut S) -> Result<S::Output, Error<Lost>> {
        if BLOCKING { step.try_run(&mut self.client) } else { poll(step.try_run_async(&mut self.client)) }
    }
}

#[cfg(feature = "redis")]
pub(crate) use on_cluster::OnCluster;
#[cfg(feature = "redis")]
pub(crate) use on_server::OnServer;
#[cfg(feature = "redis-aio")]
pub(crate) use on_server_async::OnServerAsync;

#[cfg(feature = "redis")]
mod on_server {
    use super::{Error, Fate, Lossy, Lost, Resend, Run, Step, World, bytes};
    use crate::support::server::{Server, server_or_skip};
    use crate::support::target::Target;
    use moonkeep::patterns::Redis;

    pub(super) fn connect_to(server: &Server) -> redis::Client {
        let url = format!("redis+unix://{}", server.socket().display());
        redis::Client::open(url).expect("the address of a socket")
    }

    /// The reference server, through the blocking connection of the redis crate.
    pub(crate) struct OnServer {
        server: Server,
        connection: Lossy<Redis<redis::Connection>>,
    }

    impl OnServer {
        pub(crate) fn or_skip(test: &str) -> Option<OnServer> {
            let server = server_or_skip(test)?;
            let connection = connect(&server);
            Some(OnServer { server, connection })
        }
    }

    fn connect(server: &Server) -> Lossy<Redis<redis::Connection>> {
        Lossy::new(Redis(connect_to(server).get_connection().expect("the server accepts connections")))
    }

    impl World for OnServer {
        fn reset(&mut self) {
            self.server.reset();
            self.connection = connect(&self.server);
        }
        fn advance(&mut self, ms: u64) {
            self.server.advance(i64::try_from(ms).expect("a short time"));
        }
        fn fates(&mut self, fates: &[Fate]) {
            self.connection.fates = fates.to_vec().into();
        }
        fn call(&mut self, words: &[&str]) -> String {
            self.connection.on.exchange(&bytes(words)).expect("the server is there").to_string()
        }
        fn run<S: Step>(&mut self, step: S) -> Result<S::Output, Error<Lost>> {
            step.run(&mut self.connection)
        }
        fn try_run<S: Resend>(&mut self, step: &mut S) -> Result<S::Output, Error<Lost>> {
            step.try_run(&mut self.connection)
        }
    }
}

#[cfg(feature = "redis-aio")]
mod on_server_async {
    use super::on_server::connect_to;
    use super::{Error, Fate, Lossy, Lost, Resend, RunAsync, Step, World, bytes};
    use crate::support::server::{Server, server_or_skip};
    use crate::support::target::Target;
    use moonkeep::patterns::Redis;
    use redis::aio::MultiplexedConnection;
    use tokio::runtime::{Builder, Runtime};

    /// The reference server, through the connection of the redis crate that does not block.
    pub(crate) struct OnServerAsync {
        server: Server,
        runtime: Runtime,
        connection: Lossy<Redis<MultiplexedConnection>>,
    }

    impl OnServerAsync {
        pub(crate) fn or_skip(test: &str) -> Option<OnServerAsync> {
            let server = server_or_skip(test)?;
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            let connection = connect(&server, &runtime);
            Some(OnServerAsync { server, runtime, connection })
        }
    }

    fn connect(server: &Server, runtime: &Runtime) -> Lossy<Redis<MultiplexedConnection>> {
        let client = connect_to(server);
        let connection = runtime.block_on(client.get_multiplexed_async_connection());
        Lossy::new(Redis(connection.expect("the server accepts connections")))
    }

    impl World for OnServerAsync {
        fn reset(&mut self) {
            self.server.reset();
            self.connection = connect(&self.server, &self.runtime);
        }
        fn advance(&mut self, ms: u64) {
            self.server.advance(i64::try_from(ms).expect("a short time"));
        }
        fn fates(&mut self, fates: &[Fate]) {
            self.connection.fates = fates.to_vec().into();
        }
        fn call(&mut self, words: &[&str]) -> String {
            let argv = bytes(words);
            let reply = self.runtime.block_on(self.connection.on.exchange_async(&argv));
            reply.expect("the server is there").to_string()
        }
        fn run<S: Step>(&mut self, step: S) -> Result<S::Output, Error<Lost>> {
            self.runtime.block_on(step.run_async(&mut self.connection))
        }
        fn try_run<S: Resend>(&mut self, step: &mut S) -> Result<S::Output, Error<Lost>> {
            self.runtime.block_on(step.try_run_async(&mut self.connection))
        }
    }
}

#[cfg(feature = "redis")]
mod on_cluster {
    use super::{Error, Fate, Lossy, Lost, Resend, Run, Step, World, bytes};
    use crate::support::cluster::{Cluster, cluster_or_skip};
    use moonkeep::patterns::Redis;
    use redis::cluster::{ClusterClient, ClusterConnection};

    /// A cluster of three reference servers, through the cluster connection of the redis crate.
    pub(crate) struct OnCluster {
        cluster: Cluster,
        connection: Lossy<Redis<ClusterConnection>>,
    }

    impl OnCluster {
        pub(crate) fn or_skip(test: &str) -> Option<OnCluster> {
            let cluster = cluster_or_skip(test)?;
            let client = ClusterClient::new(cluster.addresses()).expect("addresses");
            let connection = client.get_connection().expect("the nodes accept connections");
            Some(OnCluster { cluster, connection: Lossy::new(Redis(connection)) })
        }
    }

    impl World for OnCluster {
        const HAS_SESSION: bool = false;
        fn reset(&mut self) {
            self.cluster.reset();
            self.connection.fates.clear();
        }
        fn advance(&mut self, ms: u64) {
            self.cluster.advance(i64::try_from(ms).expect("a short time"));
        }
        fn fates(&mut self, fates: &[Fate]) {
            self.connection.fates = fates.to_vec().into();
        }
        fn call(&mut self, words: &[&str]) -> String {
            self.connection.on.exchange(&bytes(words)).expect("the nodes are there").to_string()
        }
        fn run<S: Step>(&mut self, step: S) -> Result<S::Output, Error<Lost>> {
            step.run(&mut self.connection)
        }
        fn try_run<S: Resend>(&mut self, step: &mut S) -> Result<S::Output, Error<Lost>> {
            step.try_run(&mut self.connection)
        }
    }
}
