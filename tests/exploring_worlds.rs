//! What a world of an exploration has beside one keyspace: a business database, several engines with clocks of their own and
//! their faults; long searches by several threads, and the hunt for what is not deterministic.

use moonkeep::Error;
use moonkeep::sim::{At, Explore, Faults, Is, Reduction, Report, Search, StoreError, Update, World};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

fn run(explore: Explore<'_>) -> Report {
    explore.run().expect("the world is sound")
}

/// Both find the same outcomes; the report of all schedules.
fn all_and_reduced(explore: impl Fn() -> Explore<'static>) -> Report {
    let all = run(explore().reduction(Reduction::None));
    let reduced = run(explore());
    assert!(all.is_exhausted() && reduced.is_exhausted());
    assert!(all.outcomes().keys().eq(reduced.outcomes().keys()), "{:?}", reduced.outcomes());
    assert!(reduced.schedules() <= all.schedules());
    all
}

fn texts(report: &Report) -> Vec<(&str, u64)> {
    report.outcomes().iter().map(|(text, count)| (text.as_str(), *count)).collect()
}

/// S14.
#[test]
fn a_query_before_an_insert_is_no_constraint() {
    let explore = |is_unique: bool| {
        move || {
            Explore::new(move |world: &mut World| {
                if is_unique {
                    world.store().unique("effects", "order");
                }
                for name in ["A", "B"] {
                    world.client(name, move |client| async move {
                        let store = client.store();
                        if store.select("effects").await?.is_empty() {
                            store.insert("effects", name, [("order", "O42")]).await?;
                        }
                        Ok::<_, StoreError>(())
                    });
                }
            })
            .outcome(|view| view.rows("effects").len().to_string())
        }
    };
    assert_eq!(texts(&all_and_reduced(explore(false))), [("1", 2), ("2", 4)]);
    assert_eq!(texts(&all_and_reduced(explore(true))), [("1", 6)]);
    let failing =
        run(explore(false)().invariant("one effect", At::End, |view| view.rows("effects").len() == 1));
    let failure = failing.failure().expect("two effects");
    assert_eq!(failure.replay, "A B B A");
    assert_eq!(failure.rows[0].text, "SELECT effects -> nothing");
    assert_eq!(failure.rows[2].text, "INSERT effects id='B' order='O42' -> ok");
}

/// Two clients move one between two accounts, locking them in the same order or in opposite ones.
fn transfers(is_ordered: bool) -> impl Fn() -> Explore<'static> {
    move || {
        Explore::new(move |world: &mut World| {
            world.store().insert("accounts", "x", [("left", 10)]).insert("accounts", "y", [("left", 10)]);
            world.watch_row("accounts", "x");
            for (name, from, to) in [("A", "x", "y"), ("B", "y", "x")] {
                world.client(name, move |client| async move {
                    let store = client.store();
                    let mut moves = [(from, -1), (to, 1)];
                    if is_ordered {
                        moves.sort_unstable();
                    }
                    store.begin().await?;
                    for (key, by) in moves {
                        store.update(Update::row("accounts", key).add("left", by)).await?;
                    }
                    store.commit().await
                });
            }
        })
        .invariant("nothing is lost", At::End, |view| {
            let left = |key| view.row("accounts", key).and_then(|row| row.int("left")).unwrap_or(0);
            left("x") + left("y") == 20
        })
    }
}

#[test]
fn transactions_that_wait_for_each_other_are_a_deadlock_and_one_goes() {
    let ordered = all_and_reduced(transfers(true));
    ordered.assert_ok();
    assert_eq!(ordered.outcomes().len(), 1, "{:?}", ordered.outcomes());
    let crossed = all_and_reduced(transfers(false));
    crossed.assert_ok();
    let ends: Vec<&str> = crossed.outcomes().keys().map(String::as_str).collect();
    assert_eq!(
        ends,
        [
            "accounts x=left=10",
            "accounts x=left=11, A: deadlock, rolled back",
            "accounts x=left=9, B: deadlock, rolled back"
        ]
    );
}

#[test]
fn what_is_not_committed_is_not_seen_and_a_crash_rolls_it_back() {
    let explore = Explore::new(|world: &mut World| {
        world.store().insert("stock", "p1", [("left", 10)]);
        world.client("A", |client| async move {
            let store = client.store();
            store.begin().await?;
            store.update(Update::row("stock", "p1").set("left", 3)).await?;
            store.insert("log", "1", [("what", "sold")]).await?;
            store.commit().await
        });
        world.client("B", |client| async move {
            let row = client.store().get("stock", "p1").await?;
            client.tally_by("seen", row.and_then(|row| row.int("left")).unwrap_or(0));
            Ok::<_, StoreError>(())
        });
    })
    .faults(Faults::none().crashes(1))
    .outcome(|view| {
        let left = view.row("stock", "p1").and_then(|row| row.int("left")).unwrap_or(0);
        format!("{left} {} {}", view.rows("log").len(), view.tally("seen"))
    });
    let report = run(explore);
    let ends: Vec<&str> = report.outcomes().keys().map(String::as_str).collect();
    assert_eq!(ends, ["10 0 10", "3 1 0", "3 1 10", "3 1 3"]);
}

/// S51.
#[test]
fn a_conditional_update_tells_how_many_rows_it_changed() {
    let explore = Explore::new(|world: &mut World| {
        world.store().insert("stock", "p1", [("fence", 40)]);
        world.watch_row("stock", "p1");
        world.client("A", |client| async move {
            for (fence, wanted) in [(41, 1), (42, 1), (41, 0)] {
                let update = Update::row("stock", "p1").when("fence", Is::Below(fence)).set("fence", fence);
                assert_eq!(client.store().update(update).await?, wanted);
            }
            Ok::<_, StoreError>(())
        });
    });
    assert_eq!(texts(&run(explore)), [("stock p1=fence=42", 1)]);
}

#[test]
fn a_text_is_not_added_to() {
    let explore = Explore::new(|world: &mut World| {
        world.store().insert("stock", "p1", [("left", "10"), ("note", "x")]).insert(
            "stock",
            "p2",
            [("left", 3)],
        );
        world.watch_row("stock", "p1");
        world.watch_row("stock", "p2");
        world.client("A", |client| async move {
            let refused = client.store().update(Update::all("stock").add("left", -1)).await;
            let (table, column) = ("stock".to_owned(), "left".to_owned());
            assert_eq!(refused, Err(StoreError::NotAnInteger { table, column }));
            // Rows that do not meet the conditions do not matter.
            let update = Update::all("stock").when("left", Is::AtLeast(1)).add("left", -1).add("sold", 1);
            assert_eq!(client.store().update(update).await?, 1);
            Ok::<_, StoreError>(())
        });
    });
    let rows = "stock p1=left='10' note='x', stock p2=left=2 sold=1";
    assert_eq!(texts(&run(explore)), [(rows, 1)]);
}

#[test]
fn rows_that_are_there_have_to_be_unique_too() {
    let explore = |second: &'static str| {
        Explore::new(move |world: &mut World| {
            let mut store = world.store();
            store.insert("users", "1", [("mail", "a@b")]).insert("users", "2", [("mail", second)]);
            store.unique("users", "mail");
        })
    };
    run(explore("c@d")).assert_ok();
    let error = explore("a@b").run().expect_err("two of one value").to_string();
    assert!(error.contains("duplicate mail in users"), "{error}");
}

#[test]
fn a_reply_that_is_lost_leaves_open_whether_it_was_committed() {
    let explore = Explore::new(|world: &mut World| {
        world.client("A", |client| async move {
            let store = client.store();
            store.begin().await?;
            store.insert("effects", "O42", [("by", "A")]).await?;
            store.commit().await
        });
    })
    .faults(Faults::none().lost_replies(1))
    .outcome(|view| format!("{} {}", view.rows("effects").len(), view.error("A").unwrap_or("done")));
    let lost = "the connection was lost";
    assert_eq!(
        texts(&run(explore)),
        [(format!("0 {lost}").as_str(), 2), ("1 done", 1), (format!("1 {lost}").as_str(), 1)]
    );
}

/// A lease of a second on an engine whose clock is ahead or runs fast, and another client who wants it at each moment.
#[test]
fn each_engine_has_its_own_clock() {
    let explore = Explore::new(|world: &mut World| {
        world.set_time(1_000_000);
        let ahead = world.node_with_clock("ahead", 5_000, 0);
        let fast = world.node_with_clock("fast", 0, 500_000);
        world.watch_keys_on(ahead, ["lock"]);
        world.client("A", move |client| async move {
            for (node, shown) in [(ahead, 1_005_000), (fast, 1_500_900)] {
                let client = client.on(node);
                let time: Vec<i64> = client.query(["TIME"]).await?;
                assert_eq!(time[0] * 1000 + time[1] / 1000, shown);
                client.call(["SET", "lock", "A", "PX", "900"]).await?;
                client.sleep(std::time::Duration::from_millis(600)).await;
                let left: i64 = client.query(["PTTL", "lock"]).await?;
                client.tally_by("left", left);
            }
            Ok::<_, Error>(())
        });
    })
    .invariant("one is over", At::End, |view| view.tally("left") == 300);
    // 600 ms on a clock that runs half as fast again are 900: the key is in its last millisecond.
    run(explore).assert_ok();
}

#[test]
fn an_engine_whose_clock_jumps_lets_go_of_what_the_others_hold() {
    let explore = |faults: Faults| {
        run(Explore::new(|world: &mut World| {
            let nodes = ["r1", "r2", "r3"].map(|name| world.node(name));
            for name in ["A", "B"] {
                world.client(name, move |client| async move {
                    let mut held = 0;
                    for node in nodes {
                        let lease = ["SET", "lock", name, "NX", "PX", "10000"];
                        held += i32::from(client.on(node).query::<Option<String>, _>(lease).await?.is_some());
                    }
                    if held >= 2 {
                        client.tally("holders");
                    }
                    Ok::<_, Error>(())
                });
            }
        })
        .faults(faults)
        .invariant("one holder", At::End, |view| view.tally("holders") < 2))
    };
    explore(Faults::none()).assert_ok();
    let jumped = explore(Faults::none().node_jumps(1));
    assert_eq!(jumped.failure().expect("a majority lets go").replay, "A A B @r2+10001 B B A");
    let restarted = explore(Faults::none().restarts(1));
    assert_eq!(restarted.failure().expect("a majority has forgotten").replay, "A A B r2!restart B B A");
    let again = explore(Faults::none().clock_jumps(1).lost_requests(1));
    assert!(again.failure().expect("time is over").replay.contains("@10001"));
}

#[test]
fn requests_to_an_engine_that_is_down_are_lost() {
    let report = run(Explore::new(|world: &mut World| {
        let node = world.node("r1");
        world.take_down(node);
        world.client("A", move |client| async move {
            let lost = client.on(node).call(["PING"]).await.expect_err("nobody is there");
            assert!(lost.is_connection_lost());
            client.call(["SET", "k", "here"]).await.map(drop)
        });
    }));
    assert_eq!(texts(&report), [("", 1)]);
}

/// So many clients that read the stock and write one less.
fn readers(count: i64) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.setup(["SET", "stock", "10"]);
        world.watch_keys(["stock"]);
        for name in &["A", "B", "C", "D", "E"][..count as usize] {
            world.client(name, |client| async move {
                let stock: i64 = client.query(["GET", "stock"]).await?;
                client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                Ok::<_, Error>(())
            });
        }
    })
    .invariant("all count", At::End, move |view| view.int("stock") == Some(10 - count))
}

#[test]
fn what_is_found_does_not_depend_on_the_threads() {
    let told = |explore: Explore<'_>| {
        let report = run(explore);
        let counts = (report.schedules(), report.failing(), report.pruned(), report.is_exhausted());
        (counts, report.outcomes().clone(), report.failure().cloned())
    };
    let one = told(readers(5).threads(1));
    assert_eq!(one.0.0, 14_400);
    assert_eq!(told(readers(5).threads(3)), one);
    let limited = |threads| told(readers(5).limits(5_000, 100).threads(threads));
    assert_eq!(limited(3), limited(1));
    assert_eq!(limited(3).0, (limited(1).0.0, limited(1).0.1, 5_000 - limited(1).0.0, false));
    for search in [Search::Random { seed: 7, runs: 3_000 }, Search::Pct { depth: 3, runs: 3_000, seed: 7 }] {
        let sampled = |threads| told(readers(5).search(search).threads(threads));
        assert_eq!(sampled(3), sampled(1));
    }
}

#[test]
fn which_error_is_told_does_not_depend_on_the_threads() {
    // Two await what is no call, far from the beginning: A when all others are done, C when all but A are.
    let broken = || {
        Explore::new(|world: &mut World| {
            world.setup(["SET", "stock", "10"]);
            for name in ["A", "B", "C", "D", "E"] {
                world.client(name, move |client| async move {
                    if name == "A" {
                        client.call(["SET", "begun", "1"]).await?;
                    }
                    let stock: i64 = client.query(["GET", "stock"]).await?;
                    let is_alone = name == "C"
                        && stock == 7
                        && client.query::<Option<i64>, _>(["GET", "begun"]).await?.is_none();
                    if is_alone || name == "A" && stock == 6 {
                        std::future::pending::<()>().await;
                    }
                    client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                    Ok::<_, Error>(())
                });
            }
        })
    };
    let told = |threads| broken().threads(threads).run().expect_err("one of them").to_string();
    let one = told(1);
    assert!(one.starts_with("client A awaits something"), "{one}");
    for threads in [2, 3, 5] {
        assert_eq!(told(threads), one);
    }
    // With a limit before the error there is none.
    let limited = |threads| {
        let report = run(broken().limits(2_100, 100).threads(threads));
        (report.schedules(), report.pruned(), report.outcomes().clone())
    };
    assert_eq!(limited(3), limited(1));
}

#[test]
fn a_long_search_tells_how_far_it_is() {
    let told = Mutex::new(Vec::new());
    let explore = readers(5).search(Search::Random { seed: 1, runs: 3_000 }).progress(1_000, |progress| {
        told.lock().expect("nobody panics").push(progress.schedules);
    });
    run(explore);
    let mut told = told.into_inner().expect("nobody panics");
    told.sort_unstable();
    // One thread may come to 2,000 before another has told of 1,000.
    assert!(!told.is_empty() && told.iter().all(|runs| [1_000, 2_000, 3_000].contains(runs)), "{told:?}");
}

#[test]
fn a_search_that_may_remember_less_is_longer_and_as_right() {
    let search = |states| run(readers(4).reduction(Reduction::States).states_max(states));
    let (all, few) = (search(1_000_000), search(20));
    assert!(all.outcomes().keys().eq(few.outcomes().keys()));
    assert!(few.states() == 20 && few.schedules() > all.schedules());
}

#[test]
fn who_is_woken_takes_part_in_the_step_that_wakes() {
    let explore = || {
        Explore::new(|world: &mut World| {
            world.client("A", |client| async move {
                client.call(["BLMOVE", "x", "y", "LEFT", "LEFT", "0"]).await.map(drop)
            });
            world.client("B", |client| async move { client.call(["RPUSH", "x", "1"]).await.map(drop) });
            world.client("C", |client| async move {
                let length: i64 = client.query(["LLEN", "y"]).await?;
                client.tally_by("seen", length);
                Ok::<_, Error>(())
            });
        })
        .outcome(|view| view.tally("seen").to_string())
    };
    let all = all_and_reduced(explore);
    assert_eq!(all.outcomes().keys().collect::<Vec<_>>(), ["0", "1"]);
}

#[test]
fn when_a_client_was_answered_tells_points_apart() {
    let explore = || {
        Explore::new(|world: &mut World| {
            world.client("A", |client| async move {
                client.call(["GET", "k"]).await?;
                client.sleep(std::time::Duration::from_millis(100)).await;
                client.tally_by("woke at", client.now_ms());
                Ok::<_, Error>(())
            });
            world.client("B", |client| async move {
                client.sleep(std::time::Duration::from_millis(60)).await;
                client.call(["SET", "k", "v"]).await.map(drop)
            });
            world.client("C", |client| async move { client.call(["GET", "c"]).await.map(drop) });
        })
        .faults(Faults::none().clock_jumps(1))
        .outcome(|view| view.tally("woke at").to_string())
    };
    let all = run(explore().reduction(Reduction::None));
    let states = run(explore().reduction(Reduction::States));
    assert!(
        all.outcomes().keys().eq(states.outcomes().keys()),
        "{:?} {:?}",
        all.outcomes(),
        states.outcomes()
    );
}

#[test]
fn a_schedule_that_is_too_long_is_not_judged_at_its_end() {
    let explore = || {
        Explore::new(|world: &mut World| {
            world.client("A", |client| async move {
                loop {
                    client.call(["INCR", "n"]).await?;
                    if false {
                        return Ok::<_, Error>(());
                    }
                }
            });
        })
        .limits(100, 50)
        .invariant("it ends", At::End, |view| view.is_done("A"))
    };
    for search in [Search::Exhaustive, Search::Random { seed: 1, runs: 3 }] {
        let report = run(explore().search(search));
        report.assert_ok();
        assert!(!report.is_exhausted());
    }
}

#[test]
fn a_hunt_for_chance_runs_each_schedule_twice() {
    let counter = AtomicU64::new(0);
    let explore = |is_sly: bool| {
        let counter = &counter;
        Explore::new(move |world: &mut World| {
            world.client("A", move |client| async move { client.call(["GET", "k"]).await.map(drop) });
            let number = counter.fetch_add(1, Ordering::Relaxed);
            world.client("B", move |client| async move {
                client.call(["GET", "k"]).await?;
                let value = if is_sly { number.to_string() } else { "same".into() };
                client.call(["SET", "k", &value]).await.map(drop)
            });
        })
    };
    run(explore(false).twice()).assert_ok();
    for search in [Search::Exhaustive, Search::Random { seed: 1, runs: 3 }] {
        let text = explore(true).search(search).twice().run().expect_err("it is found").to_string();
        assert!(text.contains("client B did not give the same request again"), "{text}");
    }
}

#[test]
fn nothing_of_a_schedule_is_left_in_the_next() {
    const STEPS: [&[&str]; 12] = [
        &["EVAL", "redis.call('FLUSHALL') redis.call('SET', 'z', 'y') return redis.call('DBSIZE')", "0"],
        &["EVAL", "redis.call('SWAPDB', 0, 1) return redis.call('KEYS', '*')", "0"],
        &["DEL", "key:7"],
        &["PEXPIRE", "key:8", "5"],
        &["MOVE", "key:9", "1"],
        &["APPEND", "key:10", "x"],
        &["RENAME", "key:11", "key:12"],
        &["RPUSH", "list", "a", "b"],
        &["SCAN", "0", "COUNT", "3"],
        &["EVAL", "for at = 1, 70 do redis.call('SET', 'more:' .. at, at) end", "0"],
        &["SELECT", "1"],
        &["GETDEL", "key:70"],
    ];
    // Each schedule is run twice: had the one between left anything, replies or data would differ.
    let explore = Explore::new(|world: &mut World| {
        for at in 0..80 {
            world.setup(["SET", &format!("key:{at}"), "v"]);
        }
        for (number, name) in ["A", "B", "C"].into_iter().enumerate() {
            world.client(name, move |client| async move {
                for step in 0..8 {
                    // Whether it is answered an error does not matter.
                    let _ = client.call(STEPS[(number * 7 + step * 5) % STEPS.len()]).await;
                }
            });
        }
    })
    .faults(Faults::none().clock_jumps(1).lost_replies(1));
    let report = run(explore.search(Search::Random { seed: 11, runs: 300 }).twice());
    assert_eq!(report.schedules(), 300);
}
