//! A cache before a business database: which orders of reading, refilling, updating and deleting leave an old value for good.

use super::{all, ends, failing};
use moonkeep::sim::{At, Client, Explore, Faults, Row, StoreError, Update, World};
use moonkeep::{Engine, Error};
use std::time::Duration;

/// A version and a value, refilled only where none of at least this version stands; a tombstone is a version without a value.
const REFILL: &str = "local held = redis.call('HGET', KEYS[1], 'version') \
                      if held and tonumber(held) >= tonumber(ARGV[1]) then return 0 end \
                      redis.call('HSET', KEYS[1], 'version', ARGV[1], 'value', ARGV[2]) return 1";
const BURY: &str =
    "redis.call('HSET', KEYS[1], 'version', ARGV[1]) redis.call('HDEL', KEYS[1], 'value') return 1";

async fn read_row(client: &Client) -> Result<Row, StoreError> {
    Ok(client.store().get("items", "1").await?.unwrap_or_default())
}

/// Reads through the cache and refills it where it has nothing.
async fn read_through(client: Client) -> Result<(), Error> {
    if client.query::<Option<String>, _>(["GET", "item"]).await?.is_none() {
        let row = read_row(&client).await?;
        client.call(["SET", "item", row.text("value").unwrap_or_default()]).await?;
    }
    Ok(())
}

async fn update(client: &Client) -> Result<(), StoreError> {
    client.store().update(Update::row("items", "1").set("value", "new").add("version", 1)).await.map(drop)
}

fn item(world: &mut World, is_warm: bool) {
    world.store().insert("items", "1", [("value", "old")]);
    world.watch_keys(["item"]);
    world.watch_row("items", "1");
    if is_warm {
        world.setup(["SET", "item", "old"]);
    }
}

/// A writer that deletes so often before its update, and so often behind it; nothing old is to be left.
fn cache_aside(is_warm: bool, before: usize, behind: usize) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        item(world, is_warm);
        world.client("reader", read_through);
        world.client("writer", move |client| async move {
            for _ in 0..before {
                client.call(["DEL", "item"]).await?;
            }
            update(&client).await?;
            for _ in 0..behind {
                client.call(["DEL", "item"]).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .invariant("the cache is not old", At::End, |view| view.get("item").as_deref() != Some("old"))
}

#[test]
fn s68_deleting_behind_the_update_leaves_an_old_value_in_one_schedule() {
    assert_eq!(failing(cache_aside(false, 0, 1)), (1, 10));
    assert_eq!(failing(cache_aside(true, 0, 1)), (0, 3));
    assert_eq!(failing(cache_aside(true, 1, 0)), (2, 5));
    let report = cache_aside(false, 0, 1).run().expect("it is sound");
    let failure = report.failure().expect("an old value");
    assert_eq!(failure.replay, "reader reader writer writer reader");
    assert_eq!(failure.rows.last().expect("a row").state, ["old", "value='new' version=1"]);
}

#[test]
fn s69_a_writer_that_dies_before_it_deletes_leaves_the_old_value() {
    let report = all(cache_aside(true, 0, 1).faults(Faults::none().crashes(1)));
    let failure = report.failure().map(|failure| failure.replay.clone());
    assert!(report.failing() > 0, "{failure:?}");
    // The row says that there is something to delete, until it is done: an outbox.
    let outbox = Explore::new(|world: &mut World| {
        item(world, true);
        world.client("writer", |client| async move {
            let store = client.store();
            store.begin().await?;
            update(&client).await?;
            store.insert("outbox", "item", [("todo", "delete")]).await?;
            store.commit().await?;
            Ok::<_, Error>(())
        });
        world.client("relay", |client| async move {
            // Behind the writer, whether it has died or not.
            client.sleep(Duration::from_secs(1)).await;
            for (key, _) in client.store().select("outbox").await? {
                client.call(["DEL", &key]).await?;
                client.store().delete("outbox", &key).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().crashes(1))
    .invariant("fresh in the end", At::End, |view| {
        let is_updated = view.row("items", "1").and_then(|row| row.int("version")) == Some(1);
        !is_updated || view.get("item").is_none() || view.is_crashed("relay")
    });
    all(outbox).assert_ok();
}

#[test]
fn s70_deleting_twice_makes_it_rarer() {
    assert_eq!(failing(cache_aside(false, 0, 2)), (1, 20));
}

/// A refill with the row's version, and a writer that deletes the cached version or leaves a tombstone with the new one.
fn versioned(leaves_tombstone: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        item(world, false);
        world.client("reader", |client| async move {
            if client.query::<Option<String>, _>(["HGET", "item", "value"]).await?.is_none() {
                let row = read_row(&client).await?;
                let version = row.int("version").unwrap_or(0).to_string();
                let value = row.text("value").unwrap_or_default();
                client.call(["EVAL", REFILL, "1", "item", &version, value]).await?;
            }
            Ok::<_, Error>(())
        });
        world.client("writer", move |client| async move {
            update(&client).await?;
            if leaves_tombstone {
                client.call(["EVAL", BURY, "1", "item", "1"]).await?;
            } else {
                client.call(["DEL", "item"]).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .invariant("the cache is not old", At::End, |view| {
        view.query::<Option<String>, _>(["HGET", "item", "value"]).ok().flatten().as_deref() != Some("old")
    })
}

#[test]
fn s71_a_version_does_not_help_when_deleting_removes_it() {
    assert_eq!(failing(versioned(false)), (1, 10));
    assert_eq!(failing(versioned(true)), (0, 10));
}

#[test]
fn s72_a_late_refill_of_an_older_version_is_refused() {
    let mut client = Engine::new().client();
    let mut refill = |version: &str, value: &str| -> i64 {
        client.query(["EVAL", REFILL, "1", "item", version, value]).expect("a number")
    };
    assert_eq!((refill("2", "new"), refill("1", "old")), (1, 0));
    assert_eq!(client.query::<String, _>(["HGET", "item", "value"]), Ok("new".into()));
}

#[test]
fn s74_lifetimes_that_differ_do_not_end_together() {
    let ends = |jitter_ms: u64| {
        let engine = Engine::new();
        let mut client = engine.client();
        let mut rng = moonkeep::util::rng::Rng::new(7);
        for key in 0..600 {
            let ttl = 300_000 + if jitter_ms > 0 { rng.below(jitter_ms) } else { 0 };
            client.call(["SET", &key.to_string(), "v", "PX", &ttl.to_string()]).expect("OK");
        }
        let mut most = 0;
        for _ in 0..370 {
            let before: i64 = client.query(["DBSIZE"]).expect("a number");
            engine.advance(Duration::from_secs(1)).expect("a held clock");
            most = most.max(before - client.query::<i64, _>(["DBSIZE"]).expect("a number"));
        }
        most
    };
    assert_eq!(ends(0), 600);
    assert!(ends(60_000) < 30, "{}", ends(60_000));
}

#[test]
fn s75_of_all_readers_behind_the_logical_end_one_rebuilds() {
    let explore = Explore::new(|world: &mut World| {
        world.setup(["SET", "item", "old"]);
        for name in ["A", "B", "C"] {
            world.client(name, move |client| async move {
                client.call(["GET", "item"]).await?;
                let lock = ["SET", "lock:refresh", name, "NX", "PX", "3000"];
                let is_ours = client.query::<Option<String>, _>(lock).await?.is_some();
                client.tally(if is_ours { "rebuilds" } else { "serves old" });
                Ok::<_, Error>(())
            });
        }
    })
    .outcome(|view| format!("{} {}", view.tally("rebuilds"), view.tally("serves old")));
    assert_eq!(ends(&all(explore)), [("1 2", 90)]);
}

/// Rebuilders with a lock of three seconds that take so long.
fn rebuilt(takes_ms: u64, is_versioned: bool, faults: Faults) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        for (name, version) in [("A", "1"), ("B", "2")] {
            world.client(name, move |client| async move {
                let lock = ["SET", "lock:refresh", name, "NX", "PX", "3000"];
                while client.query::<Option<String>, _>(lock).await?.is_none() {
                    client.sleep(Duration::from_millis(3_001)).await;
                }
                client.tally_by("rebuilding", 1);
                if client.query::<i64, _>(["EXISTS", "item"]).await? == 0 {
                    client.sleep(Duration::from_millis(takes_ms)).await;
                }
                if is_versioned {
                    client.call(["EVAL", REFILL, "1", "item", version, version]).await?;
                } else {
                    client.call(["HSET", "item", "value", version]).await?;
                }
                client.tally_by("rebuilding", -1);
                Ok::<_, Error>(())
            });
        }
    })
    .faults(faults)
}

#[test]
fn s76_a_rebuild_that_takes_longer_than_its_lock_is_not_alone() {
    let alone = |takes_ms| {
        rebuilt(takes_ms, false, Faults::none())
            .invariant("one at a time", At::EachStep, |view| view.tally("rebuilding") <= 1)
            .run()
            .expect("it is sound")
    };
    assert!(alone(5_000).failure().is_some());
    // A holder that dies keeps the others out until its time is over, and no longer.
    let dies = rebuilt(1_000, false, Faults::none().crashes(1))
        .invariant("the other one rebuilds", At::End, |view| {
            view.query::<i64, _>(["EXISTS", "item"]).unwrap_or(0) == 1
        })
        .run()
        .expect("it is sound");
    dies.assert_ok();
    let late = |is_versioned| {
        rebuilt(5_000, is_versioned, Faults::none().clock_jumps(2))
            .outcome(|view| view.query(["HGET", "item", "value"]).unwrap_or_default())
            .run()
            .expect("it is sound")
    };
    assert!(late(false).outcomes().contains_key("1"), "the older one came last");
    assert_eq!(late(true).outcomes().keys().collect::<Vec<_>>(), ["2"]);
}

#[test]
fn s77_one_load_for_all_who_miss_in_one_process() {
    let explore = Explore::new(|world: &mut World| {
        for process in ["p1", "p2"] {
            world.client(process, |client| async move {
                // Three requests of one process that miss at the same time share one load.
                if client.query::<Option<String>, _>(["GET", "item"]).await?.is_none() {
                    client.tally("loads");
                    client.call(["SET", "item", "v"]).await?;
                }
                Ok::<_, Error>(())
            });
        }
    })
    .outcome(|view| view.tally("loads").to_string());
    assert_eq!(ends(&all(explore)), [("1", 2), ("2", 4)]);
}

#[test]
fn s78_nothing_that_is_cached_hides_what_comes() {
    let explore = |writer_deletes: bool| {
        Explore::new(move |world: &mut World| {
            world.client("reader", |client| async move {
                for _ in 0..2 {
                    if client.query::<Option<String>, _>(["GET", "item"]).await?.is_none() {
                        let row = client.store().get("items", "1").await?;
                        let value = if row.is_some() { "row" } else { "null" };
                        client.call(["SET", "item", value, "PX", "5000"]).await?;
                    }
                }
                Ok::<_, Error>(())
            });
            world.client("writer", move |client| async move {
                client.store().insert("items", "1", [("value", "new")]).await?;
                if writer_deletes {
                    client.call(["DEL", "item"]).await?;
                }
                Ok::<_, Error>(())
            });
        })
        .outcome(|view| view.get("item").unwrap_or_else(|| "nothing".into()))
    };
    assert!(all(explore(false)).outcomes().contains_key("null"));
    let report = all(explore(true));
    assert!(
        report.outcomes()["null"] < all(explore(false)).outcomes()["null"] * 4,
        "{:?}",
        report.outcomes()
    );
    let later = Explore::new(|world: &mut World| {
        world.setup(["SET", "item", "null", "PX", "5000"]);
        world.store().insert("items", "1", [("value", "new")]);
        world.client("reader", |client| async move {
            client.sleep(Duration::from_millis(5_001)).await;
            assert!(client.query::<Option<String>, _>(["GET", "item"]).await?.is_none());
            Ok::<_, Error>(())
        });
    });
    all(later).assert_ok();
}

#[test]
fn s79_who_does_not_listen_keeps_what_is_old() {
    let engine = Engine::new();
    let (mut writer, mut near, mut far) = (engine.client(), engine.client(), engine.client());
    near.call(["SUBSCRIBE", "changed"]).expect("it listens");
    far.call(["SUBSCRIBE", "changed"]).expect("it listens");
    drop(far);
    assert_eq!(writer.query::<i64, _>(["PUBLISH", "changed", "item:1"]), Ok(1));
    assert!(near.try_next_message().expect("it listens").is_some());
    let mut far = engine.client();
    far.call(["SUBSCRIBE", "changed"]).expect("it listens again");
    assert!(far.try_next_message().expect("it listens").is_none(), "what was published is not told again");
}

#[test]
fn s80_one_hot_key_in_ten_parts() {
    let engine = Engine::builder().setting("cluster-enabled", "yes").expect("it is known").build();
    let mut client = engine.client();
    let mut slot = |key: &str| client.query::<i64, _>(["CLUSTER", "KEYSLOT", key]).expect("a slot");
    let slots: Vec<i64> = (0..10).map(|part| slot(&format!("item:1001:{{{part}}}"))).collect();
    assert_eq!(slots[0], 13907);
    assert_eq!(slots.iter().collect::<std::collections::BTreeSet<_>>().len(), 10);
    for request in 0..1_000 {
        let part = moonkeep::util::rng::Rng::new(request).below(10);
        client.call(["INCR", &format!("item:1001:{{{part}}}")]).expect("a number");
    }
    let parts = (0..10)
        .map(|part| client.query::<i64, _>(["GET", &format!("item:1001:{{{part}}}")]).expect("it is there"));
    assert_eq!(parts.sum::<i64>(), 1_000);
}
