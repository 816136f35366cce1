//! Explorations of small protocols: counts of all schedules and of those that fail are exact, what a reduced search leaves
//! out is no outcome, the smallest failing schedule is the one that people draw.

use moonkeep::sim::{At, Explore, Faults, Reduction, Report, Search, World};
use moonkeep::{Error, Reply};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];
const UNLOCK: &str = include_str!("../lua/unlock.lua");
const FENCED_SET: &str = include_str!("../lua/fenced_set.lua");

/// Clients that read the stock and write one less.
fn read_then_write(clients: usize) -> impl Fn(&mut World) {
    move |world| {
        world.setup(["SET", "stock", "10"]);
        world.watch_keys(["stock"]);
        for name in &NAMES[..clients] {
            world.client(name, |client| async move {
                let stock: i64 = client.query(["GET", "stock"]).await?;
                client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                Ok::<_, Error>(())
            });
        }
    }
}

fn decrement(clients: usize) -> impl Fn(&mut World) {
    move |world| {
        world.setup(["SET", "stock", "10"]);
        world.watch_keys(["stock"]);
        for name in &NAMES[..clients] {
            world.client(name, |client| async move { client.call(["DECR", "stock"]).await.map(drop) });
        }
    }
}

/// Clients that write one less under WATCH, and try again so often when EXEC answers nil.
fn watched(clients: usize, retries: usize) -> impl Fn(&mut World) {
    move |world| {
        world.setup(["SET", "stock", "10"]);
        world.watch_keys(["stock"]);
        for name in &NAMES[..clients] {
            world.client(name, move |client| async move {
                for _ in 0..=retries {
                    client.call(["WATCH", "stock"]).await?;
                    let stock: i64 = client.query(["GET", "stock"]).await?;
                    client.call(["MULTI"]).await?;
                    client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                    if client.query::<Option<Vec<String>>, _>(["EXEC"]).await?.is_some() {
                        client.tally("counted");
                        return Ok::<_, Error>(());
                    }
                }
                Ok(())
            });
        }
    }
}

/// Clients that take a lease of five seconds and a number, and write one less; with or without the number.
fn leased(is_fenced: bool) -> impl Fn(&mut World) {
    move |world| {
        for (key, value) in [("stock", "10"), ("fence", "40"), ("max", "40")] {
            world.setup(["SET", key, value]);
        }
        world.watch_keys(["lock", "stock", "max"]);
        for name in ["A", "B"] {
            world.client(name, move |client| async move {
                let lease = ["SET", "lock", name, "NX", "PX", "5000"];
                if client.query::<Option<String>, _>(lease).await?.is_none() {
                    client.note("no lock, gives up");
                    return Ok::<_, Error>(());
                }
                let fence: i64 = client.query(["INCR", "fence"]).await?;
                let stock: i64 = client.query(["GET", "stock"]).await?;
                let (fence, less) = (fence.to_string(), (stock - 1).to_string());
                if is_fenced {
                    client.call(["EVAL", FENCED_SET, "2", "stock", "max", &fence, &less]).await?;
                } else {
                    client.call(["SET", "stock", &less]).await?;
                }
                client.call(["EVAL", UNLOCK, "1", "lock", name]).await?;
                Ok(())
            });
        }
    }
}

fn plain(explore: Explore<'_>) -> Report {
    explore.reduction(Reduction::None).run().expect("the world is sound")
}

/// All reductions find the same outcomes, with no more schedules than there are.
fn assert_reductions_agree(explore: impl Fn() -> Explore<'static>) -> Report {
    let all = plain(explore());
    assert!(all.is_exhausted());
    let kinds = |report: &Report| report.outcomes().keys().cloned().collect::<BTreeSet<_>>();
    for reduction in [Reduction::SleepSets, Reduction::States] {
        let reduced = explore().reduction(reduction).run().expect("the world is sound");
        assert!(reduced.is_exhausted());
        assert_eq!(kinds(&reduced), kinds(&all), "{reduction:?}");
        assert_eq!(reduced.failing() > 0, all.failing() > 0, "{reduction:?}");
        let runs = reduced.schedules() + reduced.pruned();
        assert!(runs <= all.schedules(), "{reduction:?}: {runs} of {}", all.schedules());
    }
    all
}

fn counts(report: &Report) -> (u64, u64) {
    (report.schedules(), report.failing())
}

fn outcomes(report: &Report) -> Vec<(&str, u64)> {
    report.outcomes().iter().map(|(text, &count)| (text.as_str(), count)).collect()
}

fn all_counted(clients: i64) -> impl Fn() -> Explore<'static> {
    move || {
        Explore::new(read_then_write(clients as usize))
            .invariant("all count", At::End, move |view| view.int("stock") == Some(10 - clients))
    }
}

/// S21.
#[test]
fn updates_are_lost_in_as_many_schedules_as_there_are() {
    let two = assert_reductions_agree(all_counted(2));
    assert_eq!(counts(&two), (6, 4));
    assert_eq!(outcomes(&two), [("stock=8", 2), ("stock=9", 4)]);
    // A is interrupted once, and that is enough.
    assert_eq!(two.failure().expect("an update is lost").replay, "A B B A");
    let three = assert_reductions_agree(all_counted(3));
    assert_eq!(counts(&three), (90, 84));
    assert_eq!(outcomes(&three), [("stock=7", 6), ("stock=8", 36), ("stock=9", 48)]);
    assert_eq!(counts(&assert_reductions_agree(all_counted(4))), (2520, 2496));
}

#[test]
fn sleep_sets_leave_one_schedule_of_each_order_that_matters() {
    for (clients, schedules) in [(2, 4), (3, 36), (4, 576)] {
        let report = all_counted(clients)().run().expect("the world is sound");
        assert_eq!(report.schedules(), schedules);
    }
}

#[test]
fn decrements_of_the_server_all_count() {
    let explore =
        || Explore::new(decrement(4)).invariant("all count", At::End, |view| view.int("stock") == Some(6));
    assert_eq!(counts(&assert_reductions_agree(explore)), (24, 0));
}

/// S31.
#[test]
fn a_watched_transaction_counts_or_says_that_it_does_not() {
    let explore = |retries| {
        move || {
            Explore::new(watched(2, retries)).invariant("what is told holds", At::End, |view| {
                view.int("stock") == Some(10 - view.tally("counted"))
            })
        }
    };
    let once = assert_reductions_agree(explore(0));
    assert_eq!(counts(&once), (252, 0));
    assert_eq!(outcomes(&once), [("stock=8", 2), ("stock=9", 250)]);
    let again = explore(1)().run().expect("the world is sound");
    assert_eq!(again.outcomes().keys().collect::<Vec<_>>(), ["stock=8"], "one retry is enough for two");
}

/// S31.
#[test]
fn three_watched_transactions_count_with_two_retries() {
    let explore =
        Explore::new(watched(3, 2)).invariant("all count", At::End, |view| view.int("stock") == Some(7));
    let report = explore.reduction(Reduction::SleepSets).run().expect("the world is sound");
    assert_eq!((counts(&report), report.is_exhausted()), ((804, 0), true));
}

const ONE_JUMP: Faults = Faults::none().clock_jumps(1);

/// S44.
#[test]
fn a_lease_without_a_fence_lets_a_late_write_through() {
    let explore = || {
        Explore::new(leased(false)).faults(ONE_JUMP).invariant(
            "each holder's write counts",
            At::End,
            |view| {
                let holders = view.int("fence").unwrap_or(0) - 40;
                let stock = view.int("stock").unwrap_or(0);
                if stock == 10 - holders {
                    Ok(())
                } else {
                    Err(format!("{holders} clients got the lock, stock {stock}"))
                }
            },
        )
    };
    assert_eq!(counts(&assert_reductions_agree(explore)), (456, 180));
    let report = explore().run().expect("the world is sound");
    let failure = report.failure().expect("a late write");
    assert_eq!(failure.why, "each holder's write counts: 2 clients got the lock, stock 9");
    assert_eq!(failure.replay, "A A A @5001 B B B B B A A");
    let rows: Vec<(i64, Option<usize>)> = failure.rows.iter().map(|row| (row.at_ms, row.actor)).collect();
    let at = |at_ms, who, times| std::iter::repeat_n((at_ms, who), times);
    let wanted =
        at(0, Some(0), 3).chain(at(5001, None, 1)).chain(at(5001, Some(1), 5)).chain(at(5001, Some(0), 2));
    assert_eq!(rows, wanted.collect::<Vec<_>>());
    assert_eq!(failure.rows[3].state, ["-", "10", "40"]);
    assert_eq!(failure.rows[7].text, "SET stock 9 -> OK");
    assert_eq!(explore().replay(&failure.replay).expect("it fits"), *failure);
}

#[test]
fn the_readme_shows_what_is_printed() {
    let explore = Explore::new(|world: &mut World| {
        world.setup(["SET", "stock", "10"]);
        world.watch_keys(["lock", "stock"]);
        for name in ["A", "B"] {
            world.client(name, move |client| async move {
                let lease = ["SET", "lock", name, "NX", "PX", "5000"];
                if client.query::<Option<String>, _>(lease).await?.is_some() {
                    client.tally("holders");
                    let stock: i64 = client.query(["GET", "stock"]).await?;
                    client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                }
                Ok::<_, Error>(())
            });
        }
    })
    .faults(ONE_JUMP)
    .invariant("each holder's write counts", At::End, |view| {
        view.int("stock") == Some(10 - view.tally("holders"))
    });
    let report = explore.run().expect("the world is sound");
    let table = report.failure().expect("a late write").to_string();
    assert!(include_str!("../README.md").contains(&table), "{table}");
}

/// S46.
#[test]
fn a_fenced_write_is_never_undone_by_a_late_one() {
    let explore = || {
        Explore::new(leased(true))
            .faults(ONE_JUMP)
            .invariant("the last holder's write stays", At::End, |view| view.int("max") == view.int("fence"))
            .outcome(|view| {
                format!("{} {}", view.get("stock").unwrap_or_default(), view.get("max").unwrap_or_default())
            })
    };
    let all = assert_reductions_agree(explore);
    assert_eq!(counts(&all), (456, 0));
    assert_eq!(all.outcomes().keys().collect::<Vec<_>>(), ["8 42", "9 41", "9 42"]);
}

/// S33.
#[test]
fn a_lost_reply_that_is_retried_counts_twice() {
    let explore = |is_marked: bool| {
        Explore::new(move |world: &mut World| {
            world.setup(["SET", "stock", "10"]);
            world.watch_keys(["stock"]);
            world.client("A", move |client| async move {
                const ONCE: &str =
                    "if redis.call('SET', KEYS[2], 1, 'NX') then redis.call('DECR', KEYS[1]) end";
                let argv: &[&str] =
                    if is_marked { &["EVAL", ONCE, "2", "stock", "request:1"] } else { &["DECR", "stock"] };
                match client.call(argv).await {
                    Err(error) if error.is_connection_lost() => client.call(argv).await.map(drop),
                    other => other.map(drop),
                }
            });
        })
        .faults(Faults { lost_replies: 1, ..Faults::default() })
        .invariant("one request counts once", At::End, |view| view.int("stock") == Some(9))
        .run()
        .expect("the world is sound")
    };
    let naive = explore(false);
    assert_eq!(counts(&naive), (2, 1));
    assert_eq!(naive.failure().expect("it counts twice").replay, "A!reply A");
    assert_eq!(counts(&explore(true)), (2, 0));
}

#[test]
fn whoever_waits_is_served_and_time_passes_when_nobody_can_go_on() {
    let explore = Explore::new(|world: &mut World| {
        world.watch_keys(["queue"]);
        world.client("consumer", |client| async move {
            let first: Option<(String, String)> = client.query(["BLPOP", "queue", "5"]).await?;
            client.tally(if first.is_some() { "served" } else { "nothing" });
            Ok::<_, Error>(())
        });
        world.client("producer", |client| async move {
            client.sleep(Duration::from_secs(2)).await;
            client.call(["RPUSH", "queue", "job"]).await.map(drop)
        });
    })
    .invariant("served", At::End, |view| view.tally("served") == 1);
    let report = explore.run().expect("the world is sound");
    report.assert_ok();
    // The consumer can only come first: the producer sleeps until nobody else can go on.
    assert_eq!((report.schedules(), report.is_exhausted()), (1, true));
    let table = explore.replay("consumer @2000 producer producer").expect("it fits").to_string();
    assert_eq!(
        table,
        "\
| # | ms   | consumer                     | producer             | queue |
|---|------|------------------------------|----------------------|-------|
| 1 | 0    | BLPOP queue 5 (waits)        |                      | -     |
| 2 | 2000 | (time -> 2000 ms)            |                      | -     |
| 3 | 2000 |                              | (wakes up)           | -     |
| 4 | 2000 |                              | RPUSH queue job -> 1 | -     |
| 5 | 2000 | (answered: [\"queue\", \"job\"]) |                      | -     |
violated: nothing
replay: consumer @2000 producer producer"
    );
}

/// S1.
#[test]
fn a_crash_between_pop_and_work_loses_the_task() {
    let explore = Explore::new(|world: &mut World| {
        world.setup(["LPUSH", "tasks", "t1"]);
        world.client("A", |client| async move {
            if client.query::<Option<String>, _>(["RPOP", "tasks"]).await?.is_some() {
                client.call(["INCR", "done"]).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults { crashes: 1, ..Faults::default() })
    .invariant("queued or done", At::EachStep, |view| {
        let queued: i64 = view.query(["LLEN", "tasks"]).unwrap_or(0);
        queued + view.int("done").unwrap_or(0) == 1 || !view.is_crashed("A")
    });
    let report = explore.run().expect("the world is sound");
    assert_eq!(report.failure().expect("the task is lost").replay, "A A!crash");
}

#[test]
fn chance_finds_what_is_there_and_the_seed_repeats_it() {
    for search in [Search::Random { seed: 7, runs: 200 }, Search::Pct { depth: 3, runs: 200, seed: 7 }] {
        let run = || all_counted(3)().search(search).run().expect("the world is sound");
        let (one, two) = (run(), run());
        assert_eq!(one.schedules(), 200);
        assert!(one.failing() > 0 && !one.is_exhausted());
        assert_eq!((one.outcomes(), one.failure()), (two.outcomes(), two.failure()));
    }
}

#[test]
fn a_bound_on_switches_says_less() {
    let bounded =
        |switches| all_counted(2)().search(Search::Bounded { switches }).run().expect("it is sound");
    assert_eq!(bounded(0).failing(), 0);
    assert!(bounded(1).failing() > 0);
}

#[test]
fn a_call_without_words_is_an_error_of_its_client() {
    let report = Explore::new(|world: &mut World| {
        world.client("A", |client| async move {
            client.call(["MULTI"]).await?;
            client.call::<&str>([]).await.map(drop)
        });
    });
    let report = report.run().expect("the world is sound");
    let outcomes: Vec<_> = report.outcomes().keys().cloned().collect();
    assert!(matches!(&outcomes[..], [one] if one.starts_with("A: ")), "{outcomes:?}");
}

#[test]
fn what_cannot_be_explored_is_said() {
    let text = |explore: Explore<'_>| explore.run().expect_err("it is refused").to_string();
    let world = |build: fn(&mut World)| text(Explore::new(build));
    assert!(world(|w| w.setup(["GET"])).contains("wrong number of arguments for 'get' command"));
    assert!(world(|w| w.client("a b", |_| async {})).contains("without blanks"));
    assert!(world(|w| w.client("A", |_| std::future::pending::<()>())).contains("awaits something"));
    let runs = AtomicU64::new(0);
    let changing = Explore::new(|world: &mut World| {
        let key = format!("k{}", runs.fetch_add(1, Ordering::Relaxed));
        world.client("A", |client| async move { client.call(["INCR", "k"]).await.map(drop) });
        world.client("B", move |client| async move { client.call(["INCR", &key]).await.map(drop) });
    });
    assert!(text(changing).contains("client B did not give the same request again"));
    let fits = |schedule: &str| all_counted(2)().replay(schedule).expect_err("it does not fit").to_string();
    assert!(fits("A C").contains("no client is named"));
    assert!(fits("A @77").contains("cannot happen at step 2"));
    assert!(fits("A!luck").contains("no fault"));
}

#[test]
fn a_client_that_fails_is_an_outcome() {
    let report = Explore::new(|world: &mut World| {
        world.setup(["SET", "k", "text"]);
        world.client("A", |client| async move { client.call(["INCR", "k"]).await.map(|_: Reply| ()) });
    })
    .run()
    .expect("the world is sound");
    let outcomes: Vec<_> = report.outcomes().keys().cloned().collect();
    assert_eq!(outcomes, ["A: ERR value is not an integer or out of range"]);
}
