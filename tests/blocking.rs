//! Calls that wait: as tickets that are polled or awaited, as threads that wait, and what ends the waiting.

use moonkeep::{Blocking, Client, Clock, Engine, Error, Loss, Reply};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

type Popped = Option<(String, String)>;

fn two() -> (Engine, Client, Client) {
    let engine = Engine::new();
    let (one, other) = (engine.client(), engine.client());
    (engine, one, other)
}

fn popped(reply: Option<Reply>) -> Popped {
    reply.expect("served").get().expect("a key and an element")
}

fn pair(key: &str, element: &str) -> Popped {
    Some((key.to_owned(), element.to_owned()))
}

#[test]
fn a_ticket_is_served_by_another_client() {
    let (_, mut waiting, mut other) = two();
    let mut pending = waiting.start(["BLPOP", "a", "b", "0"]).expect("starts");
    assert_eq!((pending.is_ready(), pending.reply()), (Ok(false), Ok(None)));
    other.call(["RPUSH", "b", "x", "y"]).expect("pushes");
    assert_eq!(pending.is_ready(), Ok(true));
    assert_eq!(popped(pending.reply().expect("no error")), pair("b", "x"));
    assert_eq!(pending.reply(), Ok(None), "once only");
    drop(pending);
    assert_eq!(waiting.query::<i64, _>(["LLEN", "b"]), Ok(1));
}

#[test]
fn a_ticket_for_a_call_that_need_not_wait_is_ready() {
    let (_, mut one, _) = two();
    let mut pending = one.start(["PING"]).expect("starts");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<String>(), Ok("PONG".into()));
    drop(pending);
    let mut refused = one.start(["BLPOP", "a", "-1"]).expect("starts");
    let reply = refused.reply().expect("no error").expect("there");
    assert_eq!(reply.error_message(), Some(&b"ERR timeout is negative"[..]));
}

#[test]
fn time_ends_the_waiting_after_its_last_instant() {
    let (engine, mut waiting, mut other) = two();
    let mut pending = waiting.start(["BLPOP", "a", "0.5"]).expect("starts");
    engine.advance(Duration::from_millis(500)).expect("a manual clock");
    assert_eq!(pending.reply(), Ok(None));
    engine.advance(Duration::from_millis(1)).expect("a manual clock");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(other.query::<i64, _>(["LLEN", "a"]), Ok(1));
}

#[test]
fn dropping_a_ticket_or_its_client_ends_the_waiting() {
    let (engine, mut waiting, mut other) = two();
    drop(waiting.start(["BLPOP", "a", "0"]).expect("starts"));
    assert_eq!(waiting.query::<String, _>(["PING"]), Ok("PONG".into()));
    std::mem::forget(waiting.start(["BLPOP", "a", "0"]).expect("starts"));
    assert!(waiting.call(["PING"]).expect_err("it waits").is_usage());
    assert!(blocked(&mut other).contains("blocked_clients:1\r\n"));
    drop(waiting);
    assert!(blocked(&mut other).contains("blocked_clients:0\r\n"));
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(engine.client().query::<i64, _>(["LLEN", "a"]), Ok(1));
}

fn blocked(client: &mut Client) -> String {
    client.query(["INFO", "clients"]).expect("a text")
}

#[test]
fn a_call_is_refused_where_its_own_thread_holds_the_clock() {
    let (_, mut one, mut other) = two();
    let error = one.call(["BLPOP", "a", "1"]).expect_err("it would wait");
    assert!(error.is_would_block(), "{error}");
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(one.query::<Popped, _>(["BLPOP", "a", "1"]), Ok(pair("a", "x")));
}

#[test]
fn the_clock_may_move_on_to_the_end_of_the_waiting() {
    let engine = Engine::builder().blocking(Blocking::Advance).build();
    let mut client = engine.client();
    let before_ms = engine.now_ms().expect("a time");
    assert_eq!(client.query::<Popped, _>(["BLPOP", "a", "2.5"]), Ok(None));
    assert_eq!(engine.now_ms().expect("a time") - before_ms, 2501);
    assert!(client.call(["BLPOP", "a", "0"]).expect_err("for ever").is_would_block());
    let fork = engine.fork().expect("forks");
    assert_eq!(fork.client().query::<Popped, _>(["BLPOP", "a", "1"]), Ok(None), "a fork does the same");
}

#[test]
fn a_thread_waits_for_another_one() {
    let engine = Engine::builder().blocking(Blocking::Wait).build();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let mut client = engine.client();
            std::thread::spawn(move || client.query::<Popped, _>(["BLPOP", "a", "0"]).expect("served"))
        })
        .collect();
    let mut client = engine.client();
    while !blocked(&mut client).contains("blocked_clients:4\r\n") {
        std::thread::yield_now();
    }
    for element in ["1", "2", "3", "4"] {
        client.call(["RPUSH", "a", element]).expect("pushes");
    }
    let mut served: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    served.sort();
    assert_eq!(served, ["1", "2", "3", "4"].map(|element| pair("a", element)));
}

#[test]
fn a_thread_waits_until_another_one_moves_the_clock() {
    let engine = Engine::builder().blocking(Blocking::Wait).build();
    let mut client = engine.client();
    let thread = std::thread::spawn(move || client.query::<Popped, _>(["BLPOP", "a", "1"]));
    let mut other = engine.client();
    while !blocked(&mut other).contains("blocked_clients:1\r\n") {
        std::thread::yield_now();
    }
    engine.advance(Duration::from_millis(1001)).expect("a manual clock");
    assert_eq!(thread.join().expect("no panic"), Ok(None));
}

#[test]
fn on_the_systems_clock_the_time_of_a_waiting_thread_runs() {
    let engine = Engine::builder().clock(Clock::system()).build();
    assert_eq!(engine.client().query::<Popped, _>(["BLPOP", "a", "0.001"]), Ok(None));
}

#[test]
fn client_unblock_and_client_kill_end_the_waiting() {
    let (engine, mut waiting, mut other) = two();
    let id = waiting
        .query::<String, _>(["CLIENT", "ID"])
        .or_else(|_| waiting.query::<i64, _>(["CLIENT", "ID"]).map(|id| id.to_string()));
    let id = id.expect("a number");
    let mut pending = waiting.start(["BLPOP", "a", "0"]).expect("starts");
    assert!(other.query::<String, _>(["CLIENT", "LIST", "ID", &id]).expect("a text").contains(" flags=b "));
    assert_eq!(other.query::<i64, _>(["CLIENT", "UNBLOCK", &id, "ERROR"]), Ok(1));
    assert_eq!(other.query::<i64, _>(["CLIENT", "UNBLOCK", &id]), Ok(0));
    let reply = pending.reply().expect("no error").expect("there");
    assert_eq!(reply.error_message(), Some(&b"UNBLOCKED client unblocked via CLIENT UNBLOCK"[..]));
    drop(pending);
    let mut pending = waiting.start(["BLPOP", "a", "0"]).expect("starts");
    assert_eq!(other.query::<i64, _>(["CLIENT", "UNBLOCK", &id, "TIMEOUT"]), Ok(1));
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    let mut pending = waiting.start(["BLPOP", "a", "0"]).expect("starts");
    assert_eq!(other.query::<i64, _>(["CLIENT", "KILL", "ID", &id]), Ok(1));
    assert!(pending.reply().expect_err("it has ended").is_closed());
    drop(pending);
    assert!(waiting.call(["PING"]).expect_err("it has ended").is_closed());
    drop(engine);
}

#[test]
fn a_restored_state_serves_who_waits() {
    let (engine, mut waiting, mut other) = two();
    other.call(["RPUSH", "a", "kept"]).expect("pushes");
    let snapshot = engine.snapshot().expect("a snapshot");
    engine.reset().expect("resets");
    let mut pending = waiting.start(["BLPOP", "a", "0"]).expect("starts");
    engine.restore(&snapshot).expect("restores");
    assert_eq!(popped(pending.reply().expect("no error")), pair("a", "kept"));
    assert_eq!(other.query::<i64, _>(["EXISTS", "a"]), Ok(0));
}

#[test]
fn the_reply_of_one_who_waits_can_be_lost() {
    let (engine, mut waiting, mut other) = two();
    let mut pending = waiting.start(["BLPOP", "a", "0"]).expect("starts");
    engine.lose(Loss::Replies).expect("loses");
    assert!(other.call(["RPUSH", "a", "x"]).expect_err("lost").is_connection_lost());
    engine.heal().expect("heals");
    assert!(pending.reply().expect_err("lost").is_connection_lost());
    assert_eq!(other.query::<i64, _>(["LLEN", "a"]), Ok(0), "it was taken");
}

/// Counts how often it is woken, and calls the engine when it is: the lock must be free.
struct Counting {
    woken: AtomicUsize,
    engine: Engine,
}

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.engine.now_ms().expect("the lock is free");
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_ticket_is_a_future() {
    let (engine, mut waiting, mut other) = two();
    let counting = Arc::new(Counting { woken: AtomicUsize::new(0), engine });
    let waker = Waker::from(counting.clone());
    let mut context = Context::from_waker(&waker);
    let mut pending = pin!(waiting.start(["BLPOP", "a", "0"]).expect("starts"));
    assert!(pending.as_mut().poll(&mut context).is_pending());
    other.call(["SET", "b", "1"]).expect("sets");
    assert_eq!(counting.woken.load(Ordering::SeqCst), 0);
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(counting.woken.load(Ordering::SeqCst), 1);
    let Poll::Ready(Ok(reply)) = pending.as_mut().poll(&mut context) else { panic!("it is there") };
    assert_eq!(reply.get::<Popped>(), Ok(pair("a", "x")));
}

#[test]
fn a_journal_of_served_calls_replays() {
    let (engine, mut waiting, mut other) = two();
    let journal = engine.subscribe_journal().expect("a journal");
    let mut pending = waiting.start(["BLMOVE", "a", "b", "LEFT", "RIGHT", "0"]).expect("starts");
    other.call(["RPUSH", "a", "1", "2"]).expect("pushes");
    assert!(pending.is_ready().expect("no error"));
    let entries = journal.take().expect("entries");
    let lines: Vec<String> = entries.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["RPUSH a 1 2", "LMOVE a b left right"]);
    let copy = Engine::new();
    copy.replay(&entries).expect("replays");
    assert_eq!(copy.state_hash(), engine.state_hash());
}

#[test]
fn asking_for_a_reply_that_nobody_waits_for_is_an_error() {
    let (_, mut one, _) = two();
    let error: Error = one.finish_call(None, &mut Reply::new()).expect_err("nothing waits");
    assert_eq!(error.to_string(), "no call of this client waits for its reply");
    assert_eq!(one.cancel_call(), Ok(()));
}

/// The IDs of the entries of the first stream in a reply of XREAD.
fn read_ids(reply: Option<Reply>) -> Vec<String> {
    type Entry = (String, Vec<String>);
    let streams: Vec<(String, Vec<Entry>)> = reply.expect("served").get().expect("streams with entries");
    streams
        .into_iter()
        .next()
        .map(|(_, entries)| entries.into_iter().map(|(id, _)| id).collect())
        .unwrap_or_default()
}

#[test]
fn a_reader_who_waited_is_given_a_thousand_entries_at_most() {
    let (engine, mut waiting, mut other) = two();
    let mut counted = engine.client();
    let mut pending = waiting.start(["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]).expect("starts");
    let words = ["XREAD", "BLOCK", "0", "COUNT", "1001", "STREAMS", "s", "$"];
    let mut more = counted.start(words).expect("starts");
    let script = "for n = 1, 1002 do redis.call('XADD', KEYS[1], n .. '-0', 'f', 'v') end";
    other.call(["EVAL", script, "1", "s"]).expect("adds");
    let ids = read_ids(pending.reply().expect("no error"));
    assert_eq!((ids.len(), ids.last().map(String::as_str)), (1000, Some("1000-0")));
    assert_eq!(read_ids(more.reply().expect("no error")).len(), 1001);
}

#[test]
fn readers_can_be_unblocked() {
    let (_, mut waiting, mut other) = two();
    let id: i64 = waiting.query(["CLIENT", "ID"]).expect("a number");
    other.call(["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"]).expect("a group");
    let reads: [&[&str]; 2] = [
        &["XREAD", "BLOCK", "0", "STREAMS", "s", "$"],
        &["XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"],
    ];
    for words in reads {
        for (reason, text) in
            [("TIMEOUT", None), ("ERROR", Some("UNBLOCKED client unblocked via CLIENT UNBLOCK"))]
        {
            let mut pending = waiting.start(words).expect("starts");
            let unblock = ["CLIENT", "UNBLOCK", &id.to_string(), reason];
            assert_eq!(other.query::<i64, _>(unblock), Ok(1));
            let reply = pending.reply().expect("no error").expect("there");
            assert_eq!(reply.error_message(), text.map(str::as_bytes));
        }
    }
    other.call(["XADD", "s", "1-1", "f", "v"]).expect("adds");
    let read = ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"];
    assert_eq!(read_ids(Some(waiting.call(read).expect("reads"))), ["1-1"]);
}
