//! Locks with a lifetime: which orders let two in, and what keeps the second one's work whole. (The lease with and without a
//! fence stands in `tests/exploring.rs`, renewing and releasing at each moment in `tests/patterns`.)

use super::{all, ends};
use moonkeep::Error;
use moonkeep::patterns::{SeededTokens, Tokens};
use moonkeep::sim::{At, Client, Explore, Faults, World};
use std::time::Duration;

const UNLOCK: &str = include_str!("../../lua/unlock.lua");
const RENEW: &str = include_str!("../../lua/renew_lock.lua");
const FENCED_SET: &str = include_str!("../../lua/fenced_set.lua");
const ONE_JUMP: Faults = Faults::none().clock_jumps(1);

async fn acquire(client: &Client, token: &str) -> Result<bool, Error> {
    let lease = ["SET", "lock", token, "NX", "PX", "5000"];
    Ok(client.query::<Option<String>, _>(lease).await?.is_some())
}

#[test]
fn s37_a_lock_without_a_lifetime_is_held_for_ever_by_who_died() {
    let explore = |is_one_call: bool| {
        Explore::new(move |world: &mut World| {
            world.client("A", move |client| async move {
                if is_one_call {
                    acquire(&client, "A").await?;
                } else if client.query::<i64, _>(["SETNX", "lock", "A"]).await? == 1 {
                    client.call(["PEXPIRE", "lock", "5000"]).await?;
                }
                Ok::<_, Error>(())
            });
            world.client("B", |client| async move {
                client.sleep(Duration::from_secs(1_000_000)).await;
                client.tally(if acquire(&client, "B").await? { "got it" } else { "never" });
                Ok::<_, Error>(())
            });
        })
        .faults(Faults::none().crashes(1))
        .invariant("it is free again", At::End, |view| view.tally("never") == 0)
    };
    let failure = all(explore(false)).failure().expect("it is held for ever").clone();
    assert_eq!(failure.replay, "A A!crash @1000000000 B B");
    all(explore(true)).assert_ok();
}

/// A client that is not told whether it got the lock, asks again, and works if it believes that it has it; and another one.
fn reply_lost(believes: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.client("A", move |client| async move {
            let is_held = match acquire(&client, "tokenA").await {
                Err(error) if error.is_connection_lost() => {
                    client.tally("unheard");
                    client.tally_by("granted again", i64::from(acquire(&client, "tokenA").await?));
                    let holder: Option<String> = client.query(["GET", "lock"]).await?;
                    client.tally(holder.as_deref().unwrap_or("nobody"));
                    believes
                }
                other => other?,
            };
            if is_held {
                work(&client, "A").await?;
            }
            Ok::<_, Error>(())
        });
        world.client("B", |client| async move {
            if acquire(&client, "tokenB").await? {
                work(&client, "B").await?;
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().lost_replies(1))
}

async fn work(client: &Client, name: &str) -> Result<(), Error> {
    client.tally("working");
    client.call(["SET", "work", name]).await?;
    client.tally_by("working", -1);
    Ok(())
}

#[test]
fn s38_a_lost_reply_is_no_lock() {
    // The same token again is refused even where it is its own that stands there, which only GET tells.
    let told = all(reply_lost(false).outcome(|view| {
        let count = |name| view.tally(name);
        match count("unheard") {
            0 => "heard".into(),
            _ => {
                format!("again {}, A's {}, B's {}", count("granted again"), count("tokenA"), count("tokenB"))
            }
        }
    }));
    let kinds: Vec<&str> = told.outcomes().keys().map(String::as_str).collect();
    assert_eq!(kinds, ["again 0, A's 0, B's 1", "again 0, A's 1, B's 0", "heard"]);
    // Who believes that it holds the lock is not alone where it is another one's, nor when its time is over; who does not
    // believe it never works.
    let late = |believes| {
        reply_lost(believes).faults(Faults::none().lost_replies(1).clock_jumps(1)).invariant(
            "one at a time, if A was not told",
            At::EachStep,
            |view| view.tally("unheard") == 0 || view.tally("working") <= 1,
        )
    };
    for schedule in ["B A!reply A A", "A!reply A A @5001 B"] {
        let failure = late(true).replay(schedule).expect("a schedule");
        assert_eq!(failure.why, "one at a time, if A was not told", "{failure}");
    }
    all(late(false)).assert_ok();
}

#[derive(Clone, Copy, PartialEq)]
enum Release {
    Plain,
    ComparedBefore,
    Script,
}

/// A whose lock is over gives it back while B holds it, and C comes in.
fn robbed(how: Release) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.watch_keys(["lock"]);
        world.client("A", move |client| async move {
            if !acquire(&client, "A").await? {
                return Ok(());
            }
            let is_ours = how != Release::ComparedBefore
                || client.query::<Option<String>, _>(["GET", "lock"]).await?.as_deref() == Some("A");
            match how {
                Release::Script => client.call(["EVAL", UNLOCK, "1", "lock", "A"]).await?,
                _ if is_ours => client.call(["DEL", "lock"]).await?,
                _ => return Ok(()),
            };
            Ok::<_, Error>(())
        });
        for name in ["B", "C"] {
            world.client(name, move |client| async move {
                if acquire(&client, name).await? {
                    client.tally_by(name, client.now_ms() + 5_000);
                }
                Ok::<_, Error>(())
            });
        }
    })
    .faults(ONE_JUMP)
}

#[test]
fn s39_s40_s41_only_a_script_never_removes_another_ones_lock() {
    let kept = |how| {
        robbed(how).invariant("B keeps what it took", At::EachStep, |view| {
            view.tally("B") <= view.now_ms() || view.get("lock").as_deref() == Some("B")
        })
    };
    let alone = |how| {
        robbed(how).invariant("B and C do not both hold it", At::EachStep, |view| {
            view.tally("B").min(view.tally("C")) <= view.now_ms()
        })
    };
    for how in [Release::Plain, Release::ComparedBefore] {
        let report = kept(how).run().expect("it is sound");
        let failure = report.failure().expect("B is robbed");
        assert_eq!(failure.rows.last().expect("a row").text, "DEL lock -> 1", "{failure}");
        let report = alone(how).run().expect("it is sound");
        let failure = report.failure().expect("two hold it");
        let last: Vec<&str> = failure.rows.iter().rev().take(3).map(|row| row.text.as_str()).collect();
        let [take_c, take_b] = ["C", "B"].map(|name| format!("SET lock {name} NX PX 5000 -> OK"));
        assert_eq!(last, [&take_c, "DEL lock -> 1", &take_b], "{failure}");
    }
    all(kept(Release::Script)).assert_ok();
    all(alone(Release::Script)).assert_ok();
}

#[test]
fn s43_the_timeline_of_a_pause() {
    let explore = Explore::new(|world: &mut World| {
        world.watch_keys(["lock"]);
        world.client("A", |client| async move {
            assert!(acquire(&client, "A").await?);
            client.sleep(Duration::from_secs(7)).await;
            for script in [RENEW, UNLOCK] {
                let argv: &[&str] = if script == RENEW {
                    &["EVAL", RENEW, "1", "lock", "A", "5000"]
                } else {
                    &["EVAL", UNLOCK, "1", "lock", "A"]
                };
                assert_eq!(client.query::<i64, _>(argv).await?, 0);
            }
            Ok::<_, Error>(())
        });
        world.client("B", |client| async move {
            client.sleep(Duration::from_millis(5_000)).await;
            assert!(!acquire(&client, "B").await?);
            client.sleep(Duration::from_millis(100)).await;
            assert!(acquire(&client, "B").await?);
            client.sleep(Duration::from_secs(2)).await;
            assert_eq!(client.query::<i64, _>(["EVAL", RENEW, "1", "lock", "B", "5000"]).await?, 1);
            assert_eq!(client.query::<i64, _>(["EVAL", UNLOCK, "1", "lock", "B"]).await?, 1);
            Ok::<_, Error>(())
        });
    });
    let report = all(explore);
    assert_eq!((report.schedules(), report.failing()), (1, 0));
    assert_eq!(ends(&report), [("lock=-", 1)]);
}

#[derive(Clone, Copy, PartialEq)]
enum Fence {
    /// Compared and written in two calls.
    TwoCalls,
    /// Looked at once, by the client.
    ByClient,
    Script,
}

/// Holders with numbers 41 and 42 that write what they read less one.
fn fenced(how: Fence) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        for (key, value) in [("stock", "10"), ("max", "40")] {
            world.setup(["SET", key, value]);
        }
        world.watch_keys(["stock", "max"]);
        for (name, fence, less) in [("A", 41, "9"), ("B", 42, "8")] {
            world.client(name, move |client| async move {
                let token = fence.to_string();
                if how == Fence::Script {
                    client.call(["EVAL", FENCED_SET, "2", "stock", "max", &token, less]).await?;
                    return Ok(());
                }
                let most: i64 = client.query(["GET", "max"]).await?;
                if most < fence {
                    if how == Fence::TwoCalls {
                        client.call(["MSET", "stock", less, "max", &token]).await?;
                    } else {
                        client.call(["SET", "max", &token]).await?;
                        client.call(["SET", "stock", less]).await?;
                    }
                }
                Ok::<_, Error>(())
            });
        }
    })
    .invariant("the later holder's write stays", At::End, |view| view.get("stock").as_deref() == Some("8"))
}

#[test]
fn s46_s47_s48_a_fence_is_compared_where_it_is_written() {
    assert_eq!((all(fenced(Fence::Script)).failing(), all(fenced(Fence::Script)).schedules()), (0, 2));
    let in_two = all(fenced(Fence::TwoCalls));
    assert_eq!(ends(&in_two), [("stock=8, max=42", 4), ("stock=9, max=41", 2)]);
    assert_eq!(in_two.failing(), 2);
    let by_client = all(fenced(Fence::ByClient));
    assert_eq!((by_client.failing(), by_client.schedules()), (7, 18));
}

#[test]
fn s49_s50_numbers_are_of_one_counter_and_used_once() {
    let engine = moonkeep::Engine::new();
    let mut client = engine.client();
    let mut write = |fence: &str, value: &str| -> (i64, i64) {
        client.query(["EVAL", FENCED_SET, "2", "stock", "max", fence, value]).expect("two numbers")
    };
    assert_eq!((write("41", "9"), write("42", "8"), write("41", "7")), ((1, 41), (1, 42), (0, 42)));
    assert_eq!(write("42", "7"), (0, 42), "a fence is no mark of a request: the same number is refused");
    client.call(["SET", "lock:fence", "9223372036854775807"]).expect("OK");
    let error = client.call(["INCR", "lock:fence"]).expect_err("it is used up").to_string();
    assert_eq!(error, "ERR increment or decrement would overflow");
    // Tokens are told apart, and that is all: which of two is the later one they do not say.
    let mut tokens = SeededTokens::new(7);
    let tokens: Vec<_> = (0..8).map(|_| tokens.token().expect("a seeded generator never runs dry")).collect();
    assert!(!tokens.is_sorted_by(|one, next| one.as_str() < next.as_str()));
}

/// A holder that renews its lock after three seconds and works for five more if it believes that it may; and one who wants it
/// when the first five are over.
fn watchdog(goes_on_unheard: bool, faults: Faults) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.client("A", move |client| async move {
            if !acquire(&client, "A").await? {
                return Ok(());
            }
            client.tally("at work");
            client.sleep(Duration::from_millis(3_000)).await;
            let renewed = client.query::<i64, _>(["EVAL", RENEW, "1", "lock", "A", "5000"]).await;
            let is_ours = match renewed {
                Ok(renewed) => renewed == 1,
                Err(error) if error.is_connection_lost() => goes_on_unheard,
                Err(error) => return Err(error),
            };
            if is_ours {
                client.sleep(Duration::from_millis(5_000)).await;
            }
            client.tally_by("at work", -1);
            Ok::<_, Error>(())
        });
        world.client("B", |client| async move {
            client.sleep(Duration::from_millis(5_001)).await;
            client.tally_by("at work", i64::from(acquire(&client, "B").await?));
            Ok::<_, Error>(())
        });
    })
    .faults(faults)
    .invariant("one at a time", At::EachStep, |view| view.tally("at work") <= 1)
}

#[test]
fn s67_a_watchdog_that_is_not_answered_stops() {
    // It cannot tell a reply that was lost, where it holds the lock, from a request that was, where it does not.
    let (reply, request) = (Faults::none().lost_replies(1), Faults::none().lost_requests(1));
    all(watchdog(true, reply)).assert_ok();
    let overlap = all(watchdog(true, request));
    assert_eq!(overlap.failure().expect("two at work").replay, "A @3000 A A!request @5001 B B");
    all(watchdog(false, reply)).assert_ok();
    all(watchdog(false, request)).assert_ok();
}
