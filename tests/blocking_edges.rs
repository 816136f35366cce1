//! Waiting at its edges: extreme times, a clock that is moved behind the engine's back, panics and restored states while
//! somebody waits, replies that nobody fetches, wakers, and threads that push and pop at the same time.

use moonkeep::{Blocking, Client, Clock, Engine, Error, Reply};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

type Popped = Option<(String, String)>;

fn pair(key: &str, element: &str) -> Popped {
    Some((key.to_owned(), element.to_owned()))
}

fn blocked(client: &mut Client) -> usize {
    let info: String = client.query(["INFO", "clients"]).expect("a text");
    let line = info.lines().find_map(|line| line.strip_prefix("blocked_clients:")).expect("a line");
    line.parse().expect("a number")
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..50_000_000u64 {
        if is_so() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("never: {what}");
}

/// Runs a part of a test that must not hang, in a thread; its result, or a failure instead of a test that never ends.
fn within_time<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(run()));
    receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} hangs, or has panicked"))
}

#[derive(Default)]
struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Counting {
    fn woken(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn poll<F: Future>(future: Pin<&mut F>, counting: &Arc<Counting>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(counting.clone())))
}

#[test]
fn a_timeout_lasts_to_the_end_of_its_last_millisecond() {
    let engine = Engine::builder().blocking(Blocking::Advance).build();
    let mut client = engine.client();
    for (timeout, ms) in [
        ("0.001", 2),
        ("0.0001", 2),
        ("1e-9", 2),
        ("0.0011", 3),
        ("1.9999", 2001),
        ("0x1", 1001),
        ("1", 1001),
        ("1000000", 1_000_000_001),
        ("+1", 1001),
        (".5", 501),
    ] {
        let before_ms = engine.now_ms().expect("a time");
        assert_eq!(client.query::<Popped, _>(["BLPOP", "a", timeout]), Ok(None), "{timeout}");
        assert_eq!(engine.now_ms().expect("a time") - before_ms, ms, "{timeout}");
    }
}

#[test]
fn a_timeout_that_no_clock_reaches_is_none() {
    for timeout in ["0", "-0", "0.0", "9223372036854775", "9223372036854775.807", "1e13", "9230000000000"] {
        let outcome = within_time(timeout, move || {
            let engine = Engine::builder().blocking(Blocking::Advance).build();
            let mut client = engine.client();
            let error = client.call(["BLPOP", "a", timeout]).expect_err("it would wait");
            (error.is_would_block(), engine.now_ms(), blocked(&mut client))
        });
        assert_eq!(outcome, (true, Ok(Clock::DEFAULT_START_MS), 0), "{timeout}");
    }
    // A clock that stands still as this engine sees it.
    let error = within_time("a clock that stands", || {
        let clock = Clock::manual(1_000_000).skewed(0, -1_000_000);
        let engine = Engine::builder().clock(clock).blocking(Blocking::Advance).build();
        engine.client().call(["BLPOP", "a", "1"]).expect_err("it would wait")
    });
    assert!(error.is_would_block());
    // One that is slow gets there all the same.
    let slow = within_time("a slow clock", || {
        let clock = Clock::manual(1_000_000).skewed(0, -900_000);
        let engine = Engine::builder().clock(clock).blocking(Blocking::Advance).build();
        engine.client().query::<Popped, _>(["BLPOP", "a", "1"])
    });
    assert_eq!(slow, Ok(None));
}

#[test]
fn a_clock_that_moves_behind_the_engines_back_ends_the_waiting() {
    let clock = Clock::manual(1_000_000);
    let engine = Engine::builder().clock(clock.clone()).build();
    let beside = Engine::builder().clock(clock.clone()).build();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let mut pending = waiting.start(["BLPOP", "a", "1"]).expect("starts");
    beside.advance(Duration::from_millis(1000)).expect("a manual clock");
    assert_eq!(pending.is_ready(), Ok(false), "its last instant");
    clock.advance(Duration::from_millis(1));
    assert_eq!(pending.is_ready(), Ok(true));
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    // It has ended before another client pushes, whether it was asked or not.
    let mut pending = waiting.start(["BLPOP", "a", "1"]).expect("starts");
    clock.advance(Duration::from_millis(1001));
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    assert_eq!(other.query::<i64, _>(["LLEN", "a"]), Ok(1));
    assert_eq!(blocked(&mut other), 0);
}

#[test]
fn on_the_systems_clock_a_ticket_is_over_when_its_time_is() {
    let engine = Engine::builder().clock(Clock::system()).build();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let mut pending = waiting.start(["BLPOP", "a", "0.002"]).expect("starts");
    wait_until("the reply", || pending.is_ready().expect("no error"));
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    let mut pending = waiting.start(["BLPOP", "a", "0.002"]).expect("starts");
    let end_ms = engine.now_ms().expect("a time") + 2;
    wait_until("the end", || engine.now_ms().expect("a time") > end_ms);
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    let future = pin!(waiting.start(["BLPOP", "b", "0.001"]).expect("starts"));
    let mut future = future;
    let counting = Arc::new(Counting::default());
    wait_until("the future", || poll(future.as_mut(), &counting).is_ready());
}

#[test]
fn time_that_goes_back_makes_the_waiting_longer() {
    let engine = Engine::new();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let start_ms = engine.now_ms().expect("a time");
    let mut pending = waiting.start(["BLPOP", "a", "1"]).expect("starts");
    engine.set_time(0).expect("a manual clock");
    assert_eq!(pending.reply(), Ok(None));
    engine.set_time(start_ms + 1000).expect("a manual clock");
    assert_eq!(pending.reply(), Ok(None), "its last instant");
    engine.set_time(i64::MAX).expect("a manual clock");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
    drop(pending);
    let mut last = waiting.start(["BLPOP", "a", "1"]).expect("starts at the end of time");
    engine.advance(Duration::MAX).expect("a manual clock");
    assert_eq!(last.reply(), Ok(None));
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(last.reply().expect("no error").expect("there").get::<Popped>(), Ok(pair("a", "x")));
}

/// An engine whose scripts can panic.
fn fragile(blocking: Blocking) -> Engine {
    let engine = Engine::builder().blocking(blocking).function("fail", |_, _| panic!("in the host"));
    engine.expect("a free name").build()
}

fn panic_inside(engine: &Engine) {
    let mut client = engine.client();
    let panicked = catch_unwind(AssertUnwindSafe(|| client.call(["EVAL", "fail()", "0"])));
    assert!(panicked.is_err());
}

#[test]
fn a_panic_wakes_all_who_wait() {
    let engine = fragile(Blocking::Wait);
    let snapshot = engine.snapshot().expect("a snapshot");
    let (mut thread_client, mut ticket_client, mut other) =
        (engine.client(), engine.client(), engine.client());
    let thread = std::thread::spawn(move || {
        let error = thread_client.call(["BLPOP", "a", "0"]).expect_err("a panic");
        (error.is_poisoned(), thread_client)
    });
    wait_until("the thread waits", || blocked(&mut other) == 1);
    let counting = Arc::new(Counting::default());
    let mut future = Box::pin(ticket_client.start(["BLPOP", "a", "0"]).expect("starts"));
    assert!(poll(future.as_mut(), &counting).is_pending());
    panic_inside(&engine);
    assert_eq!(counting.woken(), 1);
    let (was_poisoned, mut thread_client) =
        within_time("the waiting thread", move || thread.join().expect("no panic"));
    assert!(was_poisoned);
    let Poll::Ready(Err(error)) = poll(future.as_mut(), &counting) else { panic!("it has failed") };
    assert!(error.is_poisoned());

    engine.restore(&snapshot).expect("restores");
    assert_eq!(blocked(&mut other), 0);
    drop(future);
    other.call(["RPUSH", "a", "x", "y"]).expect("pushes");
    assert_eq!(thread_client.query::<Popped, _>(["BLPOP", "a", "0"]), Ok(pair("a", "x")));
    assert_eq!(ticket_client.query::<Popped, _>(["BLPOP", "a", "0"]), Ok(pair("a", "y")));
    let mut pending = ticket_client.start(["BLPOP", "a", "0"]).expect("waits anew");
    other.call(["RPUSH", "a", "z"]).expect("pushes");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(pair("a", "z")));
}

#[test]
fn a_restored_engine_tells_those_who_waited_that_they_wait_no_more() {
    let engine = fragile(Blocking::default());
    let snapshot = engine.snapshot().expect("a snapshot");
    let (mut asked, mut dropped, mut other) = (engine.client(), engine.client(), engine.client());
    let mut pending = asked.start(["BLPOP", "a", "0"]).expect("starts");
    let gone = dropped.start(["BLPOP", "a", "0"]).expect("starts");
    panic_inside(&engine);
    drop(gone);
    engine.restore(&snapshot).expect("restores");
    assert!(pending.reply().expect_err("it has failed").is_poisoned());
    drop(pending);
    for client in [&mut asked, &mut dropped] {
        assert_eq!(client.query::<String, _>(["PING"]), Ok("PONG".into()));
    }
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(other.query::<i64, _>(["LLEN", "a"]), Ok(1), "nobody waits");
}

#[test]
fn states_that_come_and_go_keep_who_waits() {
    let engine = Engine::new();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let before = engine.snapshot().expect("a snapshot");
    engine.advance(Duration::from_secs(10)).expect("a manual clock");
    let mut pending = waiting.start(["BLPOP", "a", "1"]).expect("starts");
    let fork = engine.fork().expect("forks");
    let mut inside = fork.client();
    assert_eq!(blocked(&mut inside), 0);
    inside.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(inside.query::<i64, _>(["LLEN", "a"]), Ok(1), "nobody waits in a fork");
    assert_eq!(pending.reply(), Ok(None));
    engine.restore(&before).expect("restores");
    engine.reset().expect("resets");
    assert_eq!((pending.reply(), blocked(&mut other)), (Ok(None), 1));
    engine.advance(Duration::from_millis(11_000)).expect("a manual clock");
    assert_eq!(pending.reply(), Ok(None), "its last instant is what it was");
    engine.restore(&fork.snapshot().expect("a snapshot")).expect("restores");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(pair("a", "x")));
    drop(pending);
    // The time of a restored state may be past the end of the waiting.
    let mut pending = waiting.start(["BLPOP", "b", "0.5"]).expect("starts");
    fork.advance(Duration::from_secs(5)).expect("a manual clock");
    engine.restore(&fork.snapshot().expect("a snapshot")).expect("restores");
    assert_eq!(pending.reply().expect("no error").expect("there").get::<Popped>(), Ok(None));
}

#[test]
fn a_reply_that_nobody_fetched_is_not_that_of_a_later_call() {
    let engine = Engine::builder().blocking(Blocking::Advance).build();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let mut reply = Reply::new();
    assert_eq!(waiting.begin_call(["BLPOP", "a", "0"], &mut reply), Ok(false));
    other.call(["RPUSH", "a", "old"]).expect("pushes");
    assert_eq!(waiting.query::<Popped, _>(["BLPOP", "b", "1"]), Ok(None));
    assert_eq!(blocked(&mut other), 0);
    let told = "no call of this client waits for its reply";
    assert_eq!(waiting.finish_call(None, &mut reply).expect_err("nothing").to_string(), told);
    assert_eq!(waiting.begin_call(["PING"], &mut reply), Ok(true));
    assert_eq!(waiting.finish_call(None, &mut reply).expect_err("nothing").to_string(), told);
    assert_eq!(waiting.begin_call(["BLPOP", "a", "0"], &mut reply), Ok(false));
    waiting.cancel_call().expect("gives up");
    assert_eq!(waiting.finish_call(None, &mut reply).expect_err("nothing").to_string(), told);
}

#[test]
fn only_the_last_waker_is_woken_and_once() {
    let engine = Engine::new();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let [first, second] = [(); 2].map(|()| Arc::new(Counting::default()));
    let mut future = Box::pin(waiting.start(["BLPOP", "a", "5"]).expect("starts"));
    assert!(poll(future.as_mut(), &first).is_pending());
    assert!(poll(future.as_mut(), &second).is_pending());
    engine.advance(Duration::from_secs(5)).expect("a manual clock");
    assert_eq!((first.woken(), second.woken()), (0, 0));
    engine.advance(Duration::from_millis(1)).expect("a manual clock");
    assert_eq!((first.woken(), second.woken()), (0, 1));
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!((first.woken(), second.woken()), (0, 1));
    drop(future);
    // A future that is dropped is not woken, nor is one that was never asked.
    let mut future = Box::pin(waiting.start(["BLPOP", "b", "0"]).expect("starts"));
    assert!(poll(future.as_mut(), &first).is_pending());
    drop(future);
    other.call(["RPUSH", "b", "x"]).expect("pushes");
    assert_eq!(first.woken(), 0);
    assert_eq!(other.query::<i64, _>(["LLEN", "b"]), Ok(1));
}

#[test]
fn a_thread_that_begins_to_wait_wakes_whom_it_was_to_wake() {
    let clock = Clock::manual(1_000_000);
    let engine = Engine::builder().clock(clock.clone()).blocking(Blocking::Wait).build();
    let (mut waiting, mut thread_client, mut other) = (engine.client(), engine.client(), engine.client());
    let counting = Arc::new(Counting::default());
    let mut future = Box::pin(waiting.start(["BLPOP", "a", "1"]).expect("starts"));
    assert!(poll(future.as_mut(), &counting).is_pending());
    clock.advance(Duration::from_secs(2));
    // Its own call notices that the other one's time is over, and then nobody else calls.
    let thread = std::thread::spawn(move || thread_client.query::<Popped, _>(["BLPOP", "b", "0"]));
    wait_until("the future is woken", || counting.woken() == 1);
    other.call(["RPUSH", "b", "x"]).expect("pushes");
    assert_eq!(thread.join().expect("no panic"), Ok(pair("b", "x")));
}

#[test]
fn who_wants_no_replies_gets_none_after_waiting_either() {
    let engine = Engine::new();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    waiting.call(["CLIENT", "REPLY", "SKIP"]).expect("skips");
    let mut pending = waiting.start(["BLPOP", "a", "0"]).expect("starts");
    other.call(["RPUSH", "a", "1", "2"]).expect("pushes");
    assert_eq!(format!("{:?}", pending.reply().expect("no error").expect("there")), "");
    drop(pending);
    assert_eq!(waiting.query::<i64, _>(["LLEN", "a"]), Ok(1), "the one after is answered");
    waiting.call(["CLIENT", "REPLY", "OFF"]).expect("is silent");
    let mut pending = waiting.start(["BLPOP", "b", "1"]).expect("starts");
    engine.advance(Duration::from_secs(2)).expect("a manual clock");
    assert_eq!(format!("{:?}", pending.reply().expect("no error").expect("there")), "");
}

#[test]
fn an_engine_may_be_dropped_while_somebody_waits() {
    let engine = Engine::builder().blocking(Blocking::Wait).build();
    let (mut waiting, mut other) = (engine.client(), engine.client());
    let thread = std::thread::spawn(move || waiting.query::<Popped, _>(["BLPOP", "a", "0"]));
    wait_until("the thread waits", || blocked(&mut other) == 1);
    drop(engine);
    other.call(["RPUSH", "a", "x"]).expect("pushes");
    assert_eq!(thread.join().expect("no panic"), Ok(pair("a", "x")));
}

/// Threads that wait, ask, push and move the clock at the same time: each element is popped once or is still there.
#[test]
fn no_element_is_lost_or_doubled_between_threads() {
    const PUSHES: usize = 400;
    let engine = Engine::builder().blocking(Blocking::Wait).build();
    let consumers: Vec<_> = (0..4)
        .map(|number| {
            let mut client = engine.client();
            std::thread::spawn(move || consume(&mut client, number))
        })
        .collect();
    let (mut producer, mut second) = (engine.client(), engine.client());
    let beside = std::thread::spawn(move || {
        (0..PUSHES).for_each(|n| drop(second.call(["RPUSH", "a", &format!("second {n}")]).expect("pushes")));
    });
    for n in 0..PUSHES {
        producer.call(["LPUSH", "b", &format!("first {n}")]).expect("pushes");
        if n % 16 == 0 {
            engine.advance(Duration::from_millis(2)).expect("a manual clock");
        }
    }
    beside.join().expect("no panic");
    let mut all: Vec<String> = Vec::new();
    for consumer in consumers {
        while !consumer.is_finished() {
            producer.call(["RPUSH", "a", "stop", "stop", "stop", "stop"]).expect("pushes");
            engine.advance(Duration::from_millis(2)).expect("a manual clock");
        }
        all.extend(consumer.join().expect("no panic"));
    }
    for key in ["a", "b"] {
        all.extend(producer.query::<Vec<String>, _>(["LRANGE", key, "0", "-1"]).expect("a list"));
    }
    all.retain(|element| element != "stop");
    all.sort();
    let pushed = |who: &str| (0..PUSHES).map(|n| format!("{who} {n}")).collect::<Vec<_>>();
    let mut expected = [pushed("first"), pushed("second")].concat();
    expected.sort();
    assert_eq!(all, expected);
    assert_eq!(blocked(&mut producer), 0);
}

/// Pops in all ways until it is told to stop.
fn consume(client: &mut Client, number: usize) -> Vec<String> {
    let mut popped = Vec::new();
    for round in number.. {
        let got = match round % 4 {
            0 => client.query::<Popped, _>(["BLPOP", "a", "b", "0"]),
            1 => client.query::<Popped, _>(["BRPOP", "b", "a", "0.001"]),
            2 => asked(client),
            _ => client.query::<Popped, _>(["BLPOP", "b", "a", "0.002"]),
        };
        let Some((_, element)) = got.expect("no error") else { continue };
        let is_over = element == "stop";
        popped.push(element);
        if is_over {
            break;
        }
    }
    popped
}

/// A ticket that is asked until its reply is there.
fn asked(client: &mut Client) -> Result<Popped, Error> {
    let mut pending = client.start(["BLPOP", "a", "b", "0"])?;
    loop {
        match pending.reply()? {
            Some(reply) => return reply.get(),
            None => std::thread::yield_now(),
        }
    }
}

/// The lines of all that was written since the last look.
fn written(journal: &moonkeep::Journal) -> Vec<String> {
    journal.take().expect("at rest").iter().map(|entry| entry.to_string()).collect()
}

fn call(client: &mut Client, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut reply = Reply::new();
    client.call_into(words, &mut reply).expect("the engine answers");
    format!("{reply:?}")
}

#[test]
fn a_key_whose_time_is_over_when_it_comes_goes_instead_of_waking() {
    let engine = Engine::new();
    let (mut waits, mut other) = (engine.client(), engine.client());
    call(&mut other, "DEBUG SET-ACTIVE-EXPIRE 0");
    call(&mut other, "SELECT 1");
    call(&mut other, "RPUSH k hello");
    call(&mut other, "PEXPIRE k 10");
    let mut ticket = waits.start(["BRPOP", "k", "0"]).expect("it waits");
    engine.advance(Duration::from_millis(11)).expect("a manual clock");
    let journal = engine.subscribe_journal().expect("at rest");
    call(&mut other, "SWAPDB 0 1");
    assert_eq!(written(&journal), ["SWAPDB 0 1 (db 1)", "DEL k"]);
    // Time passes in a transaction, and is over when the one who waits is looked at.
    call(&mut other, "SELECT 0");
    for line in ["MULTI", "RPUSH k hello", "PEXPIRE k 100", "DEBUG SLEEP 0.2", "EXEC"] {
        call(&mut other, line);
    }
    let at_ms = engine.now_ms().expect("at rest") - 100;
    let expected = ["MULTI", "RPUSH k hello", &format!("PEXPIREAT k {at_ms}"), "EXEC", "DEL k"];
    assert_eq!(written(&journal), expected);
    assert!(!ticket.is_ready().expect("at rest"));
    call(&mut other, "RPUSH k live");
    let reply = ticket.reply().expect("at rest").expect("it was served");
    assert_eq!(reply.get::<(String, String)>(), Ok(("k".to_owned(), "live".to_owned())));
}

#[test]
fn a_watched_key_that_was_not_there_may_be_replaced_by_one_whose_time_is_over() {
    let engine = Engine::new();
    let (mut watches, mut other) = (engine.client(), engine.client());
    call(&mut other, "DEBUG SET-ACTIVE-EXPIRE 0");
    call(&mut other, "SET x foo PX 1");
    engine.advance(Duration::from_millis(2)).expect("a manual clock");
    call(&mut watches, "SELECT 1");
    let mut swaps = |swaps: &[&str], runs: bool| {
        call(&mut watches, "WATCH x");
        swaps.iter().for_each(|line| _ = call(&mut other, line));
        call(&mut watches, "MULTI");
        call(&mut watches, "PING");
        let answer = call(&mut watches, "EXEC");
        assert_eq!(answer.contains("PONG"), runs, "{swaps:?}: {answer}");
    };
    swaps(&["SWAPDB 0 1"], true);
    // It goes, and comes again.
    swaps(&["SWAPDB 0 1", "SWAPDB 0 1"], true);
    // What comes in its place is alive.
    swaps(&["SET x alive", "SWAPDB 0 1"], false);
    swaps(&["SWAPDB 0 1"], false);
}
