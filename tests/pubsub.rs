//! Pub/sub through the Rust API: inboxes, waiting for a message, limits, and what becomes of subscriptions. What the
//! commands answer is in `tests/corpus/pubsub.txt`.

use moonkeep::{Blocking, Client, Clock, Engine, Error, Loss, Message, Reply};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// An engine, a client that listens to `ch`, and one that does not.
fn heard() -> Result<(Engine, Client, Client), Error> {
    let engine = Engine::new();
    let (mut listener, other) = (engine.client(), engine.client());
    listener.call(["SUBSCRIBE", "ch"])?;
    Ok((engine, listener, other))
}

fn publish(client: &mut Client, payload: &str) -> i64 {
    client.query(["PUBLISH", "ch", payload]).expect("PUBLISH works")
}

fn payloads(client: &mut Client) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    while let Some(message) = client.try_next_message()? {
        all.push(String::from_utf8_lossy(message.payload()).into_owned());
    }
    Ok(all)
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn each_subscriber_reads_each_message_once_in_order() -> Result<(), Error> {
    let (engine, mut a, mut publisher) = heard()?;
    let mut b = engine.client();
    b.call(["PSUBSCRIBE", "c*"])?;
    assert_eq!((publish(&mut publisher, "one"), publish(&mut publisher, "two")), (2, 2));
    assert_eq!(payloads(&mut a)?, ["one", "two"]);
    let first = b.try_next_message()?.expect("published");
    assert_eq!(
        (first.kind(), first.pattern(), first.channel(), first.payload()),
        ("pmessage", Some(&b"c*"[..]), &b"ch"[..], &b"one"[..])
    );
    assert_eq!(first.to_string(), "1) \"pmessage\"\n2) \"c*\"\n3) \"ch\"\n4) \"one\"");
    assert_eq!(
        format!("{first:?}"),
        r#"Message { kind: "pmessage", pattern: "c*", channel: "ch", payload: "one" }"#
    );
    assert_eq!(payloads(&mut b)?, ["two"]);
    Ok(())
}

#[test]
fn a_dropped_client_listens_no_more() -> Result<(), Error> {
    let (_engine, listener, mut publisher) = heard()?;
    drop(listener);
    assert_eq!(publish(&mut publisher, "m"), 0);
    assert_eq!(publisher.call(["PUBSUB", "CHANNELS"])?.to_string(), "(empty array)");
    Ok(())
}

#[test]
fn a_future_is_woken_by_a_message_and_by_the_end_of_its_session() -> Result<(), Error> {
    let (engine, mut listener, mut publisher) = heard()?;
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let id: i64 = {
        let mut third = engine.client();
        third.query(["CLIENT", "ID"])?
    };
    assert_eq!(id, 3);
    {
        let mut next = pin!(listener.message());
        assert!(next.as_mut().poll(&mut context).is_pending());
        publish(&mut publisher, "one");
        publish(&mut publisher, "two");
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        let Poll::Ready(message) = next.as_mut().poll(&mut context) else { panic!("it was woken") };
        assert_eq!(message?.payload(), b"one");
    }
    assert_eq!(payloads(&mut listener)?, ["two"]);
    let mut next = pin!(listener.message());
    assert!(next.as_mut().poll(&mut context).is_pending());
    publisher.call(["CLIENT", "KILL", "ID", "1"])?;
    assert_eq!(woken.0.load(Ordering::Relaxed), 2);
    let Poll::Ready(Err(error)) = next.as_mut().poll(&mut context) else { panic!("it has ended") };
    assert!(error.is_closed());
    Ok(())
}

#[test]
fn a_thread_waits_for_a_message_where_calls_may_wait() -> Result<(), Error> {
    let (_engine, mut listener, _) = heard()?;
    assert!(listener.next_message().expect_err("its own thread holds the clock").is_would_block());
    let engine = Engine::builder().blocking(Blocking::Wait).build();
    let mut listener = engine.client();
    listener.call(["SUBSCRIBE", "ch"])?;
    let waiting = std::thread::spawn(move || -> Result<(Message, Error), Error> {
        let message = listener.next_message()?;
        Ok((message, listener.next_message().expect_err("it is killed")))
    });
    let mut other = engine.client();
    publish(&mut other, "m");
    while other.query::<String, _>(["CLIENT", "LIST", "TYPE", "pubsub"])?.contains("oll=1") {
        std::thread::yield_now();
    }
    other.call(["CLIENT", "KILL", "TYPE", "pubsub"])?;
    let (message, error) = waiting.join().expect("no panic")?;
    assert_eq!((message.payload(), error.is_closed()), (&b"m"[..], true));
    Ok(())
}

#[test]
fn who_never_reads_is_ended_at_the_hard_limit() -> Result<(), Error> {
    let (_engine, mut listener, mut publisher) = heard()?;
    publisher.call(["CONFIG", "SET", "client-output-buffer-limit", "pubsub 1000 0 0"])?;
    let message = "x".repeat(400);
    assert_eq!(publish(&mut publisher, &message), 1);
    assert_eq!(publish(&mut publisher, &message), 1);
    // The one that is too many still counts: the session ends with the unit.
    let script = "return {redis.call('PUBLISH', 'ch', ARGV[1]), redis.call('PUBLISH', 'ch', ARGV[1])}";
    assert_eq!(publisher.query::<Vec<i64>, _>(["EVAL", script, "0", &message])?, [1, 1]);
    assert_eq!(publish(&mut publisher, &message), 0);
    assert!(listener.try_next_message().expect_err("ended").is_closed());
    assert!(listener.call(["PING"]).expect_err("ended").is_closed());
    Ok(())
}

#[test]
fn who_waits_for_a_key_is_told_that_its_inbox_has_run_over() -> Result<(), Error> {
    let engine = Engine::new();
    let (mut listener, mut publisher) = (engine.client(), engine.client());
    publisher.call(["CONFIG", "SET", "client-output-buffer-limit", "pubsub 100 0 0"])?;
    for words in [&["HELLO", "3"][..], &["SUBSCRIBE", "ch"]] {
        listener.call(words)?;
    }
    let mut pop = listener.start(["BLPOP", "queue", "0"])?;
    assert_eq!(publish(&mut publisher, &"x".repeat(100)), 1);
    assert!(pop.reply().expect_err("ended").is_closed());
    assert_eq!(publisher.query::<i64, _>(["RPUSH", "queue", "job"])?, 1);
    assert_eq!(publisher.query::<i64, _>(["LLEN", "queue"])?, 1);
    Ok(())
}

#[test]
fn who_reads_too_slowly_is_ended_after_the_soft_limit() -> Result<(), Error> {
    let (engine, mut listener, mut publisher) = heard()?;
    publisher.call(["CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 100 5"])?;
    let message = "x".repeat(100);
    publish(&mut publisher, &message);
    engine.advance(Duration::from_secs(5))?;
    assert_eq!(publish(&mut publisher, &message), 1);
    assert_eq!(payloads(&mut listener)?.len(), 2);
    // What was read in time does not count.
    publish(&mut publisher, "");
    engine.advance(Duration::from_secs(60))?;
    publish(&mut publisher, &message);
    engine.advance(Duration::from_secs(6))?;
    assert_eq!((publish(&mut publisher, &message), publish(&mut publisher, &message)), (1, 0));
    Ok(())
}

#[test]
fn own_messages_come_before_the_reply() -> Result<(), Error> {
    let engine = Engine::new();
    let mut client = engine.client();
    for words in [&["HELLO", "3"][..], &["SUBSCRIBE", "ch"], &["MULTI"], &["PUBLISH", "ch", "m"], &["PING"]] {
        client.call(words)?;
    }
    let reply = client.call(["EXEC"])?;
    assert_eq!(reply.to_string(), "1) (integer) 1\n2) PONG");
    let mut bytes = Vec::new();
    assert_eq!(client.messages_into(None, &mut bytes)?, 1);
    assert_eq!(bytes, b">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\nm\r\n");
    Ok(())
}

#[test]
fn a_message_keeps_the_protocol_version_that_was_spoken_when_it_came() -> Result<(), Error> {
    let (_engine, mut listener, mut publisher) = heard()?;
    publish(&mut publisher, "two");
    for words in [&["RESET"][..], &["HELLO", "3"], &["SUBSCRIBE", "ch"]] {
        listener.call(words)?;
    }
    publish(&mut publisher, "three");
    let mut bytes = Vec::new();
    assert_eq!(listener.messages_into(None, &mut bytes)?, 2);
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.starts_with("*3\r\n") && text.contains("two\r\n>3\r\n"), "{text}");
    Ok(())
}

#[test]
fn topics_are_listed_and_left_in_the_order_of_their_subscription() -> Result<(), Error> {
    let engine = Engine::new();
    let (mut a, mut b) = (engine.client(), engine.client());
    let names: Vec<String> = (0..50).map(|n| format!("channel {}", n * 37 % 50)).collect();
    let words: Vec<&str> = ["SUBSCRIBE"].into_iter().chain(names.iter().map(String::as_str)).collect();
    a.call(&words)?;
    assert_eq!(b.query::<Vec<String>, _>(["PUBSUB", "CHANNELS"])?, names);
    let replies: Vec<(String, String, i64)> = a.call(["UNSUBSCRIBE"])?.get_each()?;
    assert_eq!(replies.iter().map(|(_, name, _)| name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    a.call(["PSUBSCRIBE", "c*", "ch"])?;
    b.call(["PSUBSCRIBE", "?h", "c*"])?;
    publish(&mut engine.client(), "m");
    let patterns = |client: &mut Client| -> Result<Vec<String>, Error> {
        let mut all = Vec::new();
        while let Some(message) = client.try_next_message()? {
            all.push(String::from_utf8_lossy(message.pattern().unwrap_or_default()).into_owned());
        }
        Ok(all)
    };
    assert_eq!(
        (patterns(&mut a)?, patterns(&mut b)?),
        (vec!["c*".to_owned(), "ch".to_owned()], vec!["c*".to_owned(), "?h".to_owned()],)
    );
    Ok(())
}

#[test]
fn a_fork_has_no_subscriptions_and_a_restore_keeps_them() -> Result<(), Error> {
    let (engine, mut listener, mut publisher) = heard()?;
    let kept = engine.snapshot()?;
    let hash = engine.state_hash()?;
    publish(&mut publisher, "one");
    assert_eq!(engine.state_hash()?, hash);
    assert_eq!(publish(&mut engine.fork()?.client(), "elsewhere"), 0);
    engine.restore(&kept)?;
    assert_eq!(publish(&mut publisher, "two"), 1);
    assert_eq!(payloads(&mut listener)?, ["one", "two"]);
    Ok(())
}

#[test]
fn what_is_published_stands_in_the_journal_and_is_published_again_by_a_replay() -> Result<(), Error> {
    let (engine, mut listener, mut publisher) = heard()?;
    let journal = engine.subscribe_journal()?;
    publish(&mut publisher, "m");
    publisher.call(["EVAL", "redis.set_repl(redis.REPL_AOF) redis.call('PUBLISH', 'ch', 'untold')", "0"])?;
    let entries = journal.take()?;
    assert_eq!(entries.iter().map(ToString::to_string).collect::<Vec<_>>(), ["PUBLISH ch m"]);
    payloads(&mut listener)?;
    engine.replay(&entries)?;
    assert_eq!(payloads(&mut listener)?, ["m"]);
    Ok(())
}

#[test]
fn messages_are_not_read_while_replies_are_lost() -> Result<(), Error> {
    let (engine, mut listener, mut publisher) = heard()?;
    publish(&mut publisher, "m");
    engine.lose(Loss::Replies)?;
    assert!(listener.try_next_message().expect_err("lost").is_connection_lost());
    engine.heal()?;
    assert_eq!(payloads(&mut listener)?, ["m"]);
    Ok(())
}

#[test]
fn events_of_expiry_come_with_the_passing_of_time() -> Result<(), Error> {
    let engine = Engine::builder().clock(Clock::manual(1_700_000_000_000)).build();
    let (mut listener, mut other) = (engine.client(), engine.client());
    other.call(["CONFIG", "SET", "notify-keyspace-events", "Ex"])?;
    listener.call(["PSUBSCRIBE", "__key*__:*"])?;
    for key in ["a", "b"] {
        other.call(["SET", key, "v", "PX", "10"])?;
    }
    engine.advance(Duration::from_millis(11))?;
    assert_eq!(payloads(&mut listener)?, ["a", "b"]);
    let mut reply = Reply::new();
    other.call_into(["CONFIG", "GET", "notify-keyspace-events"], &mut reply)?;
    assert_eq!(reply.get_each::<(String, String)>()?, [("notify-keyspace-events".into(), "xE".into())]);
    Ok(())
}
