//! Reading what has been published: at once, by a thread that waits, by a future, as RESP bytes for a front. Who listens
//! to what, and the inboxes themselves, are in `command::pubsub`.

use super::blocking::Blocking;
use super::lock::Shared;
use super::{Client, Core};
use crate::command::Ctx;
use crate::command::{Origin, State};
use crate::error::Error;
use crate::reply::Message;
use crate::store::SessionId;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

impl Client {
    /// Takes the oldest message that was published to a channel or pattern of this client, once one has come.
    ///
    /// A client subscribes by a call, which answers once for each name; what is published from then on waits in its inbox.
    /// Of the messages of a unit of work, those to the client itself come before the reply. An inbox that nobody reads
    /// ends its session when it holds more than client-output-buffer-limit allows, as on the server.
    ///
    /// A fork has no sessions, and so no subscriptions; subscriptions and unread messages stay where they are when an
    /// engine is restored.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// let (mut subscriber, mut publisher) = (engine.client(), engine.client());
    /// let replies = subscriber.call(["SUBSCRIBE", "news", "sports"])?;
    /// let replies: Vec<(String, String, i64)> = replies.get_each()?;
    /// assert_eq!(replies[1], ("subscribe".into(), "sports".into(), 2));
    /// assert!(subscriber.try_next_message()?.is_none());
    /// assert_eq!(publisher.query::<i64, _>(["PUBLISH", "news", "hello"])?, 1);
    /// let message = subscriber.try_next_message()?.expect("published");
    /// assert_eq!((message.channel(), message.payload()), (&b"news"[..], &b"hello"[..]));
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// The session has ended and there is no message left; replies are lost; a call from inside the engine, a poisoned
    /// engine.
    pub fn try_next_message(&mut self) -> Result<Option<Message>, Error> {
        self.shared.patiently(Shared::lock)?.next_message(self.id)
    }
    /// Takes the oldest message, and waits for it as a call that waits does: on the system's clock the thread waits, on a
    /// manual one it is refused; see [`Builder::blocking`](crate::Builder::blocking).
    ///
    /// ```
    /// let engine = moonkeep::Engine::builder().blocking(moonkeep::Blocking::Wait).build();
    /// let mut subscriber = engine.client();
    /// subscriber.call(["SUBSCRIBE", "news"])?;
    /// let publisher = std::thread::spawn(move || engine.client().call(["PUBLISH", "news", "hello"]));
    /// assert_eq!(subscriber.next_message()?.payload(), b"hello");
    /// publisher.join().expect("no panic")?;
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`try_next_message`](Self::try_next_message); one for which [`Error::is_would_block`] holds where a call may
    /// not wait.
    pub fn next_message(&mut self) -> Result<Message, Error> {
        let mut core = self.shared.patiently(Shared::lock)?;
        loop {
            if let Some(message) = core.next_message(self.id)? {
                return Ok(message);
            }
            match core.blocking {
                Blocking::Wait => core.wait_for_delivery(self.id)?,
                Blocking::ByClock if !core.clock.is_manual() => core.wait_for_delivery(self.id)?,
                _ => return Err(Error::would_block()),
            }
        }
    }
    /// The next message as a future, for any executor. Dropping it loses nothing.
    pub fn message(&mut self) -> NextMessage<'_> {
        NextMessage { client: self }
    }
    /// Appends the RESP bytes of all messages that have come, each in the version that the client spoke then; answers how
    /// many. When there is none, `waker` is woken once asking again is worth it: for fronts, which write what
    /// [`messages_ahead_into`](Self::messages_ahead_into) gives, the reply of the call that was made last, and then these.
    ///
    /// ```
    /// let engine = moonkeep::Engine::new();
    /// let mut client = engine.client();
    /// client.call(["HELLO", "3"])?;
    /// client.call(["SUBSCRIBE", "news"])?;
    /// client.call(["PUBLISH", "news", "hello"])?;
    /// let mut bytes = Vec::new();
    /// assert_eq!(client.messages_into(None, &mut bytes)?, 1);
    /// assert_eq!(bytes, b">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`try_next_message`](Self::try_next_message), where there is a message to be lost.
    pub fn messages_into(&mut self, waker: Option<&Waker>, out: &mut Vec<u8>) -> Result<usize, Error> {
        let mut core = self.shared.patiently(Shared::lock)?;
        let mut count = core.raw_into(self.id, out);
        loop {
            match core.next_message(self.id) {
                Ok(Some(message)) => message.encode(out),
                Ok(None) => break,
                // Replies are lost, and there is none.
                Err(error) if error.is_connection_lost() && core.has_nothing_for(self.id) => break,
                Err(error) if count == 0 => return Err(error),
                Err(_) => break,
            }
            count += 1;
        }
        if let Some(waker) = waker.filter(|_| count == 0) {
            core.deliveries.ask_for_messages(self.id, waker);
        }
        Ok(count)
    }
    /// Appends the RESP bytes of the messages that stand before the reply of the call that was made last: of what has come
    /// all but what that call has brought about for its own client, as the line of MONITOR that shows it. Answers how many.
    ///
    /// # Errors
    /// As [`try_next_message`](Self::try_next_message); an ended session has none.
    pub fn messages_ahead_into(&mut self, out: &mut Vec<u8>) -> Result<usize, Error> {
        let mut core = self.shared.patiently(Shared::lock)?;
        if core.loses_replies() {
            return Err(Error::connection_lost());
        }
        Ok(core.state.take_ahead(self.id, out))
    }
}

/// The next message of a client, see [`Client::message`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct NextMessage<'c> {
    client: &'c mut Client,
}

impl Future for NextMessage<'_> {
    type Output = Result<Message, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let client = &*self.client;
        let mut core = match client.shared.lock() {
            Ok(core) => core,
            Err(error) => return Poll::Ready(Err(error)),
        };
        match core.next_message(client.id).transpose() {
            Some(result) => Poll::Ready(result),
            None => {
                core.deliveries.ask_for_messages(client.id, context.waker());
                Poll::Pending
            }
        }
    }
}

impl Core {
    /// What has come for a replica; whether anything has.
    fn raw_into(&mut self, id: SessionId, out: &mut Vec<u8>) -> usize {
        if self.loses_replies() {
            return 0;
        }
        let subscriber = self.state.sessions.get_mut(id).subscriber.as_mut();
        usize::from(subscriber.is_some_and(|subscriber| subscriber.take_raw(out)))
    }
    fn has_nothing_for(&self, id: SessionId) -> bool {
        let subscriber = self.state.sessions.get(id).subscriber.as_ref();
        subscriber.is_none_or(|subscriber| subscriber.unread().0 == 0 && subscriber.raw.is_empty())
    }
    fn next_message(&mut self, id: SessionId) -> Result<Option<Message>, Error> {
        if self.loses_replies() {
            return Err(Error::connection_lost());
        }
        let session = self.state.sessions.get_mut(id);
        let message = session.subscriber.as_mut().and_then(|subscriber| subscriber.take());
        match message {
            None if session.closed => Err(Error::closed()),
            message => Ok(message),
        }
    }
    /// The end of a unit: tells those to whom a message has come, and ends the sessions whose inbox has run over.
    #[cold]
    pub(super) fn hand_out(&mut self) {
        for id in self.state.pubsub.take_news() {
            if self.state.has_overflowed(id) {
                Ctx::new(&mut self.state, id, Origin::Client).cut_session(id);
            }
            self.deliveries.tell_of_messages(id);
        }
    }
}

impl State {
    /// Appends the messages that stand before the reply to what the session has called last.
    pub(super) fn take_ahead(&mut self, id: SessionId, out: &mut Vec<u8>) -> usize {
        let Some(subscriber) = &mut self.sessions.get_mut(id).subscriber else { return 0 };
        let mut count = usize::from(subscriber.take_raw(out));
        while let Some(message) = subscriber.take_ahead() {
            message.encode(out);
            count += 1;
        }
        count
    }
}
