//! Clients that see more than what is stored: the order of members and keys, chance, connections, memory, the end of a
//! pause. A search that leaves schedules out finds the same outcomes as one that does not.

use moonkeep::Error;
use moonkeep::sim::{At, Client, Explore, Faults, Reduction, Report, Search, World};
use std::time::Duration;

type Program = &'static [&'static [&'static str]];

/// The commands of a client, one behind the other. It ends with the last reply as its failure, so that outcomes tell it.
async fn play(client: Client, program: Program) -> Result<(), String> {
    let mut last = String::new();
    for command in program {
        last =
            client.call(*command).await.map_or_else(|error| error.to_string(), |reply| format!("{reply:?}"));
    }
    Err(last)
}

fn explored(setup: Program, clients: &'static [Program], faults: Faults) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        for command in setup {
            world.setup(*command);
        }
        for (name, program) in ["A", "B", "C"].into_iter().zip(clients) {
            world.client(name, move |client| play(client, program));
        }
    })
    .faults(faults)
}

fn outcomes(report: &Report) -> Vec<&str> {
    assert!(report.is_exhausted() || report.is_bound_exhausted());
    report.outcomes().keys().map(String::as_str).collect()
}

/// All searches find the same outcomes, so many of them.
fn found_by_all(setup: Program, clients: &'static [Program], faults: Faults, count: usize) {
    let explore = || explored(setup, clients, faults);
    let all = explore().reduction(Reduction::None).run().expect("a sound world");
    let all = outcomes(&all);
    assert_eq!(all.len(), count, "{all:?}");
    for reduction in [Reduction::SleepSets, Reduction::States] {
        let report = explore().reduction(reduction).run().expect("a sound world");
        assert_eq!(outcomes(&report), all, "{reduction:?}");
    }
    let looked_at = explore().invariant("any", At::EachStep, |_| true).run().expect("a sound world");
    assert_eq!(outcomes(&looked_at), all);
    let bounded = explore().search(Search::Bounded { switches: 9 }).run().expect("a sound world");
    assert_eq!(outcomes(&bounded), all);
}

const NONE: Faults = Faults::none();

#[test]
fn the_order_of_members_and_chance_are_seen() {
    found_by_all(&[], &[&[&["SADD", "s", "x"]], &[&["SADD", "s", "y"], &["SMEMBERS", "s"]]], NONE, 3);
    found_by_all(&[], &[&[&["SADD", "s", "x"]], &[&["SADD", "s", "y"], &["SPOP", "s"]]], NONE, 2);
    found_by_all(
        &[],
        &[&[&["HSET", "h", "x", "1"]], &[&["HSET", "h", "y", "2"], &["HGETALL", "h"]]],
        NONE,
        3,
    );
    let setup: Program = &[&["SADD", "s", "a", "b", "c"], &["SADD", "t", "a", "b", "c"]];
    found_by_all(setup, &[&[&["SRANDMEMBER", "s"]], &[&["SRANDMEMBER", "t"]]], NONE, 2);
}

#[test]
fn the_order_of_keys_is_seen() {
    found_by_all(&[], &[&[&["SET", "a", "1"], &["KEYS", "*"]], &[&["SET", "b", "1"]]], NONE, 3);
    found_by_all(&[], &[&[&["SET", "a", "1"], &["SCAN", "0"]], &[&["SET", "b", "1"]]], NONE, 3);
    const SCRIPT: &str = "redis.call('SET', 'a', '1') return redis.call('KEYS', '*')";
    found_by_all(&[], &[&[&["PING"], &["EVAL", SCRIPT, "0"]], &[&["SET", "b", "1"]]], NONE, 2);
}

#[test]
fn keys_that_patterns_name_are_read() {
    let setup: Program = &[&["RPUSH", "l", "1", "2"], &["MSET", "w_1", "1", "w_2", "2"]];
    found_by_all(setup, &[&[&["SORT", "l", "BY", "w_*"]], &[&["SET", "w_1", "9"]]], NONE, 2);
    found_by_all(setup, &[&[&["SORT", "l", "GET", "w_*"]], &[&["SET", "w_1", "9"]]], NONE, 2);
    const SCRIPT: &str = "return redis.call('SORT', KEYS[1], 'GET', 'w_*')";
    found_by_all(setup, &[&[&["EVAL", SCRIPT, "1", "l"]], &[&["SET", "w_1", "9"]]], NONE, 2);
}

#[test]
fn memory_and_use_are_seen() {
    let explore = || {
        Explore::new(|world: &mut World| {
            world.setup(["CONFIG", "SET", "maxmemory", "2mb"]);
            for name in ["A", "B", "C"] {
                world.client(name, move |client| async move {
                    client.call(["SET", name, &"x".repeat(1_400_000)]).await.map(drop)
                });
            }
        })
    };
    let all = explore().reduction(Reduction::None).run().expect("a sound world");
    assert_eq!(all.outcomes().len(), 3);
    let reduced = explore().run().expect("a sound world");
    assert!(reduced.outcomes().keys().eq(all.outcomes().keys()));
    let idle = || {
        Explore::new(|world: &mut World| {
            world.setup(["SET", "k", "v"]);
            world.client("A", |client| async move {
                client.sleep(Duration::from_secs(5)).await;
                play(client, &[&["OBJECT", "IDLETIME", "k"]]).await
            });
            world.client("B", |client| async move {
                client.sleep(Duration::from_secs(5)).await;
                play(client, &[&["GET", "k"]]).await
            });
        })
    };
    let all = idle().reduction(Reduction::None).run().expect("a sound world");
    assert_eq!(all.outcomes().len(), 2, "{:?}", all.outcomes());
    assert!(idle().run().expect("a sound world").outcomes().keys().eq(all.outcomes().keys()));
}

#[test]
fn connections_are_seen() {
    let clients: &'static [Program] = &[&[&["GET", "k"], &["CLIENT", "ID"]], &[&["GET", "k"], &["GET", "k"]]];
    let explore = || explored(&[], clients, Faults::none().lost_replies(2));
    let all = explore().reduction(Reduction::None).run().expect("a sound world");
    let found = outcomes(&all);
    for reduction in [Reduction::SleepSets, Reduction::States] {
        assert_eq!(
            outcomes(&explore().reduction(reduction).run().expect("a sound world")),
            found,
            "{reduction:?}"
        );
    }
}

#[test]
fn the_end_of_a_pause_is_a_moment() {
    let clients: &'static [Program] = &[&[&["SET", "x", "1"]], &[&["CLIENT", "PAUSE", "1000", "WRITE"]]];
    found_by_all(&[], clients, NONE, 1);
    let clients: &'static [Program] =
        &[&[&["EVAL", "return redis.call('INCR', 'x')", "0"]], &[&["CLIENT", "PAUSE", "1000", "WRITE"]]];
    found_by_all(&[], clients, NONE, 1);
}

/// A guard that gives its lock back, as people write them.
struct Guard<'a>(&'a mut moonkeep::sim::Blocking);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let _ = self.0.call(["DEL", "lock"]);
    }
}

#[test]
fn a_guard_may_call_while_its_thread_unwinds() {
    let explore = Explore::new(|world: &mut World| {
        for name in ["A", "B"] {
            world.blocking_client(name, |mut client| -> Result<(), Error> {
                let guard = Guard(&mut client);
                guard.0.call(["GET", "k"]).map(drop)
            });
        }
    });
    let report = explore.run().expect("a sound world");
    assert!(report.is_exhausted());
    assert_eq!(report.outcomes().len(), 1);
}

#[test]
fn a_failure_that_does_not_come_again_is_no_table() {
    let counter = std::sync::atomic::AtomicU64::new(0);
    let explore = || {
        let counter = &counter;
        Explore::new(move |world: &mut World| {
            let number = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            world.client("A", move |client| async move {
                client.call(["GET", "k"]).await?;
                if number == 1 { client.call(["INCR", "n"]).await.map(drop) } else { Ok(()) }
            });
        })
        .invariant("nothing is counted", At::End, |view| view.get("n").is_none())
        .search(Search::Random { seed: 1, runs: 5 })
    };
    let text = explore().run().expect_err("A is not deterministic").to_string();
    assert!(text.contains("client A did not give the same request again"), "{text}");
    // What nobody asks for is seen as well.
    let chance = std::sync::atomic::AtomicU64::new(0);
    let explore = Explore::new(|world: &mut World| {
        let number = chance.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        world.client("A", move |client| async move {
            client.call(["GET", "k"]).await.map_err(|error| error.to_string())?;
            if number.is_multiple_of(2) { Ok(()) } else { Err("bad luck".to_owned()) }
        });
    });
    let text = explore.twice().run().expect_err("A is not deterministic").to_string();
    assert!(text.contains("did not end or count in the same way again"), "{text}");
}

#[test]
fn an_invariant_asks_for_clients_that_there_are() {
    let explore = Explore::new(|world: &mut World| {
        world.client("reader", |client| async move { client.call(["GET", "k"]).await.map(drop) });
    })
    .invariant("it never waits", At::EachStep, |view| !view.is_waiting("raeder"));
    let text = explore.run().expect_err("a client of another name").to_string();
    assert!(text.contains("an invariant asks for client \"raeder\", which this world has not"), "{text}");
    assert!(explore.replay("reader").is_err());
}

/// Polls what is in it only when that was woken, as `FuturesUnordered` does.
struct OnlyWhenWoken<F> {
    inner: std::pin::Pin<Box<F>>,
    woken: std::sync::Arc<Woken>,
}

struct Woken(std::sync::atomic::AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

impl<F: Future> Future for OnlyWhenWoken<F> {
    type Output = F::Output;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<F::Output> {
        if !self.woken.0.swap(false, std::sync::atomic::Ordering::Relaxed) {
            return std::task::Poll::Pending;
        }
        let waker = std::task::Waker::from(self.woken.clone());
        self.inner.as_mut().poll(&mut std::task::Context::from_waker(&waker))
    }
}

#[test]
fn who_waits_for_an_answer_is_woken() {
    let explore = Explore::new(|world: &mut World| {
        for name in ["A", "B"] {
            world.client(name, |client| {
                let calls = async move {
                    client.call(["INCR", "n"]).await?;
                    client.sleep(Duration::from_secs(1)).await;
                    client.call(["INCR", "n"]).await.map(drop)
                };
                let woken = std::sync::Arc::new(Woken(true.into()));
                OnlyWhenWoken { inner: Box::pin(calls), woken }
            });
        }
    })
    .invariant("both count", At::End, |view| view.int("n") == Some(4));
    let report = explore.run().expect("a sound world");
    report.assert_ok();
    assert!(report.is_exhausted());
}
