//! Clients that block: each runs in a thread of its own, which goes on only while the schedule lets it. A run costs some tens
//! of times what one of futures does, so bounds are to be small.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use super::client::{Asking, Client, as_reply};
use super::desk::{Answer, End, Outcome, Request};
use super::world::{Node, World};
use crate::error::Error;
use crate::patterns::Run;
use crate::reply::{FromReply, Reply};

/// What the thread tells: that it asks for something, or its end.
enum Event {
    Asks(Request),
    Ended(End),
}

/// The handle of a client that blocks, in its thread: as [`Client`], but its calls return when the schedule has run them.
/// With feature `redis` it is a `redis::ConnectionLike`.
pub struct Blocking {
    client: Client,
    events: Sender<Event>,
    answers: Receiver<Result<Answer, Error>>,
}

impl Blocking {
    fn ask(&self, request: Request) -> Result<Answer, Error> {
        let asked = self.events.send(Event::Asks(request)).is_ok();
        match self.answers.recv() {
            Ok(answer) if asked => answer,
            // A guard that is dropped on the way calls once more.
            _ if std::thread::panicking() => Err(Error::usage("the schedule has ended")),
            // The schedule has ended before the client did: its thread unwinds, without a word.
            _ => std::panic::resume_unwind(Box::new(())),
        }
    }

    /// Runs a command once the schedule lets it.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn call<T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) -> Result<Reply, Error> {
        let words = self.client.desks.lock().words(argv.as_ref());
        match self.ask(Request::Call { node: self.client.node, words })? {
            Answer::Reply(reply) => Ok(reply),
            Answer::Store(_) | Answer::Awake => Err(Error::usage("another answer than a command has")),
        }
    }

    /// Runs a command once the schedule lets it, and reads its reply as `R`.
    ///
    /// # Errors
    /// As [`call`](Self::call), and when the reply cannot be read as `R`.
    pub fn query<R: FromReply, T: AsRef<[u8]>>(&mut self, argv: impl AsRef<[T]>) -> Result<R, Error> {
        self.call(argv)?.get()
    }

    /// Sleeps at least so long.
    pub fn sleep(&self, time: Duration) {
        let until = self.client.wakes_at(time);
        // That it is awake is all that it is told.
        let _ = self.ask(Request::Sleep(until));
    }

    /// From now on its calls go to another engine of the world.
    pub fn go_to(&mut self, node: Node) {
        self.client = self.client.on(node);
    }

    /// What is no point of the schedule: the time, remarks, counts.
    pub fn handle(&self) -> &Client {
        &self.client
    }

    /// The same with an error reply as a reply.
    #[cfg(feature = "redis")]
    pub(crate) fn exchange_words(&mut self, argv: &[&[u8]]) -> Result<Reply, Error> {
        as_reply(self.call(argv))
    }
}

impl std::fmt::Debug for Blocking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocking").field("client", &self.client).finish_non_exhaustive()
    }
}

/// Patterns run on it as they are.
impl Run for Blocking {
    type Error = Error;

    fn exchange(&mut self, argv: &[&[u8]]) -> Result<Reply, Error> {
        as_reply(self.call(argv))
    }
}

type Work = Box<dyn FnOnce(Blocking) -> End + Send>;

/// A thread as a future: polled, it lets the thread go on to its next request.
struct Threaded {
    client: Client,
    work: Option<Work>,
    asking: Option<Asking>,
    line: Option<Line>,
}

struct Line {
    events: Receiver<Event>,
    answers: Sender<Result<Answer, Error>>,
    thread: JoinHandle<()>,
}

impl Threaded {
    fn start(&mut self) -> Option<()> {
        let work = self.work.take()?;
        let (events, heard) = channel();
        let (answers, answered) = channel();
        let blocking = Blocking { client: self.client.clone(), events: events.clone(), answers: answered };
        let thread = std::thread::spawn(move || {
            let end = work(blocking);
            // Nobody listens when the schedule has ended before.
            let _ = events.send(Event::Ended(end));
        });
        self.line = Some(Line { events: heard, answers, thread });
        Some(())
    }

    fn join(&mut self) {
        let Some(Line { answers, events, thread }) = self.line.take() else { return };
        drop((answers, events));
        if let Err(payload) = thread.join()
            && !payload.is::<()>()
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(payload);
        }
    }
}

impl Future for Threaded {
    type Output = End;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<End> {
        self.start();
        loop {
            if let Some(asking) = &mut self.asking {
                let Poll::Ready(answer) = Pin::new(asking).poll(context) else { return Poll::Pending };
                self.asking = None;
                if let Some(line) = &self.line {
                    // A thread that has ended does not listen; what it told is read below.
                    let _ = line.answers.send(answer);
                }
            }
            match self.line.as_ref().map(|line| line.events.recv()) {
                Some(Ok(Event::Asks(request))) => self.asking = Some(self.client.ask(request)),
                Some(Ok(Event::Ended(end))) => {
                    self.join();
                    return Poll::Ready(end);
                }
                // It panicked: so does who explores it.
                Some(Err(_)) | None => {
                    self.join();
                    return Poll::Ready(End::Failed("the thread of the client is gone".into()));
                }
            }
        }
    }
}

impl Drop for Threaded {
    fn drop(&mut self) {
        self.join();
    }
}

impl World {
    /// Adds a client whose code blocks, in a thread of its own. It may wait for nothing but its calls. A schedule that ends
    /// before the client does unwinds its thread, as a panic would; what is called while it unwinds fails.
    ///
    /// ```
    /// use moonkeep::sim::{At, Explore};
    ///
    /// let report = Explore::new(|world| {
    ///     world.setup(["SET", "stock", "10"]);
    ///     for name in ["A", "B"] {
    ///         world.blocking_client(name, |mut client| {
    ///             let stock: i64 = client.query(["GET", "stock"])?;
    ///             client.call(["SET", "stock", &(stock - 1).to_string()]).map(drop)
    ///         });
    ///     }
    /// })
    /// .invariant("both count", At::End, |view| view.int("stock") == Some(8))
    /// .run()?;
    /// assert_eq!(report.failure().expect("an update is lost").replay, "A B B A");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    pub fn blocking_client<O: Outcome>(
        &mut self,
        name: &str,
        protocol: impl FnOnce(Blocking) -> O + Send + 'static,
    ) {
        let Some(client) = self.add_client(name) else { return };
        let work: Work = Box::new(move |blocking| match protocol(blocking).failure() {
            Some(text) => End::Failed(text),
            None => End::Done,
        });
        let threaded = Threaded { client, work: Some(work), asking: None, line: None };
        self.protocols.push(Some(Box::pin(threaded)));
    }
}
