//! A cache before a business database: which orders of reading, refilling, updating and deleting leave an old value for good.

use super::{all, ends, failing};
use moonkeep::sim::{At, Client, Explore, Faults, Row, StoreError, Update, World};
use moonkeep::{Engine, Error};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};
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
async fn look_up(client: &Client) -> Result<String, Error> {
    if let Some(value) = client.query(["GET", "item"]).await? {
        return Ok(value);
    }
    let value = read_row(client).await?.text("value").unwrap_or_default().to_owned();
    client.call(["SET", "item", &value]).await?;
    Ok(value)
}

async fn read_through(client: Client) -> Result<(), Error> {
    look_up(&client).await.map(drop)
}

/// Lets time pass until so many milliseconds after the beginning.
async fn until(client: &Client, at_ms: u64) {
    let now_ms = u64::try_from(client.now_ms()).expect("a time after the beginning");
    client.sleep(Duration::from_millis(at_ms - now_ms)).await;
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

/// What readers see at these times of a row that was updated, and whose cached value nobody deletes.
fn old_until_its_end(lifetime: &'static [&'static str], seen: &'static [(u64, &'static str)]) {
    let explore = Explore::new(move |world: &mut World| {
        item(world, false);
        world.setup([&["SET", "item", "old"], lifetime].concat());
        world.client("all", move |client| async move {
            update(&client).await?;
            for &(at_ms, value) in seen {
                until(&client, at_ms).await;
                assert_eq!(look_up(&client).await?, value, "at {at_ms}");
            }
            Ok::<_, Error>(())
        });
    });
    all(explore).assert_ok();
}

#[test]
fn s69_a_writer_that_dies_before_it_deletes_leaves_the_old_value() {
    for faults in [Faults::none().crashes(1), Faults::none().lost_requests(1)] {
        let report = all(cache_aside(true, 0, 1).faults(faults));
        assert_eq!((report.failing(), report.schedules()), (5, 13), "{faults:?}");
        let failure = report.failure().expect("an old value");
        assert_eq!(failure.rows.last().expect("a row").state, ["old", "value='new' version=1"]);
    }
    // It stays until its time is over, and for ever where it has none.
    old_until_its_end(&["PX", "5000"], &[(0, "old"), (5_000, "old"), (5_001, "new")]);
    old_until_its_end(&[], &[(0, "old"), (5_001, "old"), (1_000_000_000, "old")]);
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
    assert_eq!(ends(60_000), 19);
}

/// Three who read, at this time, what is to be rebuilt from five seconds on, and serve it as it is until that is done.
fn read_at(now_ms: i64) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.set_time(now_ms);
        world.setup(["HSET", "item", "value", "old", "until", "5000"]);
        for name in ["A", "B", "C"] {
            world.client(name, move |client| async move {
                let until: i64 = client.query(["HGET", "item", "until"]).await?;
                if client.now_ms() < until {
                    return Ok(());
                }
                let lock = ["SET", "lock:refresh", name, "NX", "PX", "3000"];
                let is_ours = client.query::<Option<String>, _>(lock).await?.is_some();
                client.tally(if is_ours { "rebuilds" } else { "serves old" });
                Ok::<_, Error>(())
            });
        }
    })
    .outcome(|view| format!("{} {}", view.tally("rebuilds"), view.tally("serves old")))
}

#[test]
fn s75_of_all_readers_behind_the_logical_end_one_rebuilds() {
    assert_eq!(ends(&all(read_at(4_999))), [("0 0", 6)]);
    assert_eq!(ends(&all(read_at(5_000))), [("1 2", 90)]);
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
    alone(1_000).assert_ok();
    assert_eq!(alone(5_000).failure().expect("two rebuild").replay, "A A B @3001 B B");
    // A holder that dies keeps the others out until its time is over, and no longer.
    let engine = Engine::new();
    let mut client = engine.client();
    let mut is_granted = |name: &str| {
        let lock = ["SET", "lock:refresh", name, "NX", "PX", "3000"];
        client.query::<Option<String>, _>(lock).expect("OK or nil").is_some()
    };
    assert!(is_granted("A") && !is_granted("B"));
    engine.advance(Duration::from_millis(3_000)).expect("a held clock");
    assert!(!is_granted("B"));
    engine.advance(Duration::from_millis(1)).expect("a held clock");
    assert!(is_granted("B"));
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
    // Without a version the older one may come last.
    assert_eq!(late(false).outcomes().keys().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(late(true).outcomes().keys().collect::<Vec<_>>(), ["2"]);
}

/// What the requests of one process share: whether one of them is loading.
type Flight = Rc<Cell<bool>>;

/// A request that loads what it misses, unless another one of its process does: then it waits for that one.
async fn load_once(client: Client, flight: Flight) -> Result<(), Error> {
    if client.query::<Option<String>, _>(["GET", "item"]).await?.is_some() {
        return Ok(());
    }
    client.tally("misses");
    if flight.replace(true) {
        while flight.get() {
            client.sleep(Duration::from_millis(1)).await;
        }
        return Ok(());
    }
    client.tally("loads");
    let row = read_row(&client).await?;
    client.call(["SET", "item", row.text("value").unwrap_or_default()]).await?;
    flight.set(false);
    Ok(())
}

/// So many processes with so many requests each: the most that miss, and how many load.
fn loads(processes: usize, requests: usize) -> (i64, Vec<String>) {
    let most = AtomicI64::new(0);
    let explore = Explore::new(|world: &mut World| {
        item(world, false);
        for process in 1..=processes {
            let flight = Flight::default();
            for request in 1..=requests {
                let flight = flight.clone();
                world.client(&format!("p{process}.{request}"), |client| load_once(client, flight));
            }
        }
    })
    .outcome(|view| {
        most.fetch_max(view.tally("misses"), Ordering::Relaxed);
        view.tally("loads").to_string()
    });
    let loads = all(explore).outcomes().keys().cloned().collect();
    (most.into_inner(), loads)
}

#[test]
fn s77_one_load_for_all_who_miss_in_one_process() {
    assert_eq!(loads(1, 1), (1, vec!["1".into()]));
    assert_eq!(loads(1, 3), (3, vec!["1".into()]));
    // Another process knows nothing of it.
    assert_eq!(loads(2, 2), (4, vec!["1".into(), "2".into()]));
}

/// What a reader sees at these times of a row that is made after a second, where that there is none is cached for five.
fn null_until_its_end(writer_deletes: bool, seen: [(u64, &'static str); 4]) {
    let explore = Explore::new(move |world: &mut World| {
        world.client("reader", move |client| async move {
            for (at_ms, wanted) in seen {
                until(&client, at_ms).await;
                let mut value: Option<String> = client.query(["GET", "item"]).await?;
                if value.is_none() {
                    let row = client.store().get("items", "1").await?;
                    let found = if row.is_some() { "row" } else { "null" };
                    client.call(["SET", "item", found, "PX", "5000"]).await?;
                    value = Some(found.into());
                }
                assert_eq!(value.as_deref(), Some(wanted), "at {at_ms}");
            }
            Ok::<_, Error>(())
        });
        world.client("writer", move |client| async move {
            until(&client, 1_000).await;
            client.store().insert("items", "1", [("value", "new")]).await?;
            if writer_deletes {
                client.call(["DEL", "item"]).await?;
            }
            Ok::<_, Error>(())
        });
    });
    let report = all(explore);
    report.assert_ok();
    assert_eq!(report.schedules(), 1);
}

#[test]
fn s78_nothing_that_is_cached_hides_what_comes() {
    null_until_its_end(false, [(0, "null"), (2_000, "null"), (5_000, "null"), (5_001, "row")]);
    null_until_its_end(true, [(0, "null"), (2_000, "row"), (5_000, "row"), (5_001, "row")]);
}

/// A value that a process keeps for five seconds, unless it is told of a change over a channel.
struct Near {
    engine: Engine,
    client: moonkeep::Client,
    held: Option<(String, i64)>,
}

impl Near {
    fn new(engine: &Engine) -> Self {
        let mut near = Near { engine: engine.clone(), client: engine.client(), held: None };
        near.connect();
        near
    }
    fn connect(&mut self) {
        self.client = self.engine.client();
        self.client.call(["SUBSCRIBE", "changed"]).expect("it listens");
    }
    fn read(&mut self) -> String {
        if self.client.try_next_message().expect("it listens").is_some() {
            self.held = None;
        }
        let now_ms = self.engine.now_ms().expect("at rest");
        if let Some((value, until_ms)) = &self.held
            && now_ms <= *until_ms
        {
            return value.clone();
        }
        let value: String = self.engine.client().query(["GET", "item"]).expect("a value");
        self.held = Some((value.clone(), now_ms + 5_000));
        value
    }
}

/// (That an older value does not refill a cache that has a newer one is S72.)
#[test]
fn s79_who_does_not_listen_keeps_what_is_old_until_its_time_is_over() {
    let engine = Engine::new();
    let mut writer = engine.client();
    writer.call(["SET", "item", "old"]).expect("OK");
    let (mut listens, mut was_away) = (Near::new(&engine), Near::new(&engine));
    assert_eq!((listens.read(), was_away.read()), ("old".into(), "old".into()));
    was_away.client = engine.client();
    writer.call(["SET", "item", "new"]).expect("OK");
    assert_eq!(writer.query::<i64, _>(["PUBLISH", "changed", "item"]), Ok(1));
    // What was published is not told again.
    was_away.connect();
    assert_eq!((listens.read(), was_away.read()), ("new".into(), "old".into()));
    engine.advance(Duration::from_secs(5)).expect("a held clock");
    assert_eq!(was_away.read(), "old");
    engine.advance(Duration::from_millis(1)).expect("a held clock");
    assert_eq!(was_away.read(), "new");
}

#[test]
fn s80_one_hot_key_in_ten_parts() {
    let engine = Engine::builder().setting("cluster-enabled", "yes").expect("it is known").build();
    let mut client = engine.client();
    let mut slot = |key: &str| client.query::<i64, _>(["CLUSTER", "KEYSLOT", key]).expect("a slot");
    let slots: Vec<i64> = (0..10).map(|part| slot(&format!("item:1001:{{{part}}}"))).collect();
    assert_eq!(slots, [13907, 9842, 5649, 1584, 14039, 9974, 5781, 1716, 14171, 10106]);
    for request in 0..1_000 {
        let part = moonkeep::util::rng::Rng::new(request).below(10);
        client.call(["INCR", &format!("item:1001:{{{part}}}")]).expect("a number");
    }
    let parts = (0..10)
        .map(|part| client.query::<i64, _>(["GET", &format!("item:1001:{{{part}}}")]).expect("it is there"));
    assert_eq!(parts.sum::<i64>(), 1_000);
}
