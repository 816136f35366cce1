//! Locks with a lifetime: which orders let two in, and what keeps the second one's work whole. (The lease with and without a
//! fence stands in `tests/exploring.rs`, renewing and releasing at each moment in `tests/patterns`.)

use super::{all, ends};
use moonkeep::Error;
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

/// A client that works when it believes that it holds the lock, and another one.
fn reply_lost(believes: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.client("A", move |client| async move {
            let is_held = match acquire(&client, "tokenA").await {
                Err(error) if error.is_connection_lost() => {
                    // The same token again: refused even where it is our own that stands there.
                    client.tally_by("again", i64::from(acquire(&client, "tokenA").await?));
                    believes
                }
                other => other?,
            };
            if is_held {
                client.tally("working");
                client.call(["SET", "work", "A"]).await?;
                client.tally_by("working", -1);
            }
            Ok::<_, Error>(())
        });
        world.client("B", |client| async move {
            if acquire(&client, "tokenB").await? {
                client.tally("working");
                client.call(["SET", "work", "B"]).await?;
                client.tally_by("working", -1);
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().clock_jumps(1).lost_replies(1))
    .invariant("one at a time", At::EachStep, |view| view.tally("working") <= 1)
}

#[test]
fn s38_a_lost_reply_is_no_lock() {
    assert!(reply_lost(true).run().expect("it is sound").failure().is_some());
    // Even who was told may be late: that is what the jump finds, and why a lock needs a fence.
    let told = reply_lost(false).faults(Faults::none().lost_replies(1));
    told.run().expect("it is sound").assert_ok();
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
        world.client("B", |client| async move {
            if acquire(&client, "B").await? {
                client.tally_by("B holds it until", client.now_ms() + 5_000);
            }
            Ok::<_, Error>(())
        });
    })
    .faults(ONE_JUMP)
    .invariant("B keeps what it took", At::EachStep, |view| {
        view.tally("B holds it until") <= view.now_ms() || view.get("lock").as_deref() == Some("B")
    })
}

#[test]
fn s39_s40_s41_only_a_script_never_removes_another_ones_lock() {
    for how in [Release::Plain, Release::ComparedBefore] {
        let report = robbed(how).run().expect("it is sound");
        let failure = report.failure().expect("B is robbed");
        assert_eq!(failure.rows.last().expect("a row").text, "DEL lock -> 1", "{failure}");
    }
    all(robbed(Release::Script)).assert_ok();
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
    assert_eq!((in_two.failing(), in_two.outcomes().len()), (2, 2), "{:?}", in_two.outcomes());
    assert!(in_two.outcomes().contains_key("stock=9, max=41"));
    assert!(all(fenced(Fence::ByClient)).failing() > 0);
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
}

/// A holder that renews its lock and goes on working, and one who waits for it.
fn watchdog(goes_on_unheard: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.client("A", move |client| async move {
            if !acquire(&client, "A").await? {
                return Ok(());
            }
            client.tally("A works");
            let renewed = client.query::<i64, _>(["EVAL", RENEW, "1", "lock", "A", "5000"]).await;
            let is_ours = match renewed {
                Ok(renewed) => renewed == 1,
                Err(error) if error.is_connection_lost() => goes_on_unheard,
                Err(error) => return Err(error),
            };
            if !is_ours {
                client.tally_by("A works", -1);
                return Ok(());
            }
            client.sleep(Duration::from_millis(5_001)).await;
            client.tally_by("A works", -1);
            Ok::<_, Error>(())
        });
        world.client("B", |client| async move {
            client.sleep(Duration::from_millis(5_001)).await;
            client.tally_by("B works", i64::from(acquire(&client, "B").await?));
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().lost_requests(1))
    .invariant("one at a time", At::EachStep, |view| view.tally("A works") + view.tally("B works") <= 1)
}

#[test]
fn s67_a_watchdog_that_is_not_answered_stops() {
    assert!(watchdog(true).run().expect("it is sound").failure().is_some());
    let stops = watchdog(false).run().expect("it is sound");
    assert!(stops.failure().is_none_or(|failure| !failure.replay.contains('!')));
}
