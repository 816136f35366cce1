//! Code as it is in production under every schedule: on the redis crate, with and without blocking, and the lock over several
//! servers; and histories of many threads, which some order of their operations has to explain.

use moonkeep::patterns::{Redlock, SeededTokens};
use moonkeep::sim::{At, Explore, Faults, History, Model, Reduction, Report, Search, World};
use moonkeep::{Engine, Error};
use std::time::Duration;

fn run(explore: Explore<'_>) -> Report {
    explore.run().expect("the world is sound")
}

fn ends(report: &Report) -> Vec<(&str, u64)> {
    report.outcomes().iter().map(|(text, count)| (text.as_str(), *count)).collect()
}

#[cfg(feature = "redis-aio")]
mod not_blocking {
    use super::{ends, run};
    use moonkeep::sim::{At, Explore, Reduction, World};
    use redis::{AsyncCommands, RedisResult, Script};

    async fn naive(mut connection: impl AsyncCommands) -> RedisResult<()> {
        let stock: i64 = connection.get("stock").await?;
        connection.set("stock", stock - 1).await
    }

    async fn by_script(mut connection: impl AsyncCommands) -> RedisResult<()> {
        let script = Script::new("return redis.call('DECRBY', KEYS[1], ARGV[1])");
        script.key("stock").arg(1).invoke_async::<i64>(&mut connection).await.map(drop)
    }

    async fn by_pipeline(mut connection: impl redis::aio::ConnectionLike) -> RedisResult<()> {
        let mut pipeline = redis::pipe();
        let (old, new): (i64, i64) =
            pipeline.atomic().decr("stock", 1).get("stock").query_async(&mut connection).await?;
        assert_eq!(old, new, "nobody comes between");
        Ok(())
    }

    async fn again(mut connection: impl AsyncCommands) -> RedisResult<()> {
        match connection.decr::<_, _, i64>("stock", 1).await {
            Err(error) if error.is_io_error() || error.is_connection_dropped() => {
                connection.decr::<_, _, i64>("stock", 1).await.map(drop)
            }
            other => other.map(drop),
        }
    }

    macro_rules! both {
        ($protocol:expr) => {
            Explore::new(|world: &mut World| {
                world.setup(["SET", "stock", "10"]);
                world.watch_keys(["stock"]);
                for name in ["A", "B"] {
                    world.client(name, $protocol);
                }
            })
            .invariant("both count", At::End, |view| view.int("stock") == Some(8))
        };
    }

    #[test]
    fn async_commands_lose_an_update_and_pipelines_and_scripts_do_not() {
        let lost = run(both!(naive).reduction(Reduction::None));
        assert_eq!((lost.failing(), lost.schedules()), (4, 6));
        assert_eq!(lost.failure().expect("an update is lost").rows[3].text, "SET stock 9 -> OK");
        run(both!(by_script)).assert_ok();
        let piped = run(both!(by_pipeline).reduction(Reduction::None));
        piped.assert_ok();
        // MULTI, two commands and EXEC of each.
        assert_eq!(piped.schedules(), 70);
    }

    #[test]
    fn a_retry_behind_a_lost_reply_counts_twice() {
        let explore = Explore::new(|world: &mut World| {
            world.setup(["SET", "stock", "10"]);
            world.watch_keys(["stock"]);
            world.client("A", again);
        })
        .faults(moonkeep::sim::Faults::none().lost_replies(1).lost_requests(1));
        let report = run(explore.reduction(Reduction::None));
        let lost = "A: ";
        let told: Vec<_> = ends(&report).into_iter().filter(|(end, _)| !end.contains(lost)).collect();
        assert_eq!(told, [("stock=8", 1), ("stock=9", 2)]);
    }
}

#[cfg(feature = "redis")]
#[test]
fn redis_transaction_is_explored_in_threads() {
    let explore = Explore::new(|world: &mut World| {
        world.setup(["SET", "stock", "10"]);
        world.watch_keys(["stock"]);
        for name in ["A", "B"] {
            world.blocking_client(name, |mut connection| {
                redis::transaction(&mut connection, &["stock"], |connection, pipeline| {
                    let stock: i64 = redis::Commands::get(connection, "stock")?;
                    pipeline.set("stock", stock - 1).query::<Option<()>>(connection)
                })
            });
        }
    })
    .invariant("both count", At::End, |view| view.int("stock") == Some(8));
    let report = run(explore);
    report.assert_ok();
    assert!(report.is_exhausted() && report.schedules() > 1);
}

#[test]
fn threads_that_a_schedule_leaves_behind_end() {
    let explore = |is_blocking: bool| {
        Explore::new(move |world: &mut World| {
            world.setup(["SET", "stock", "10"]);
            for name in ["A", "B"] {
                if is_blocking {
                    world.blocking_client(name, |mut client| {
                        let stock: i64 = client.query(["GET", "stock"])?;
                        client.sleep(Duration::from_millis(5));
                        client.call(["SET", "stock", &(stock - 1).to_string()]).map(drop)
                    });
                } else {
                    world.client(name, |client| async move {
                        let stock: i64 = client.query(["GET", "stock"]).await?;
                        client.sleep(Duration::from_millis(5)).await;
                        client.call(["SET", "stock", &(stock - 1).to_string()]).await.map(drop)
                    });
                }
            }
        })
        .faults(Faults::none().crashes(1))
        .outcome(|view| format!("{:?} {}", view.int("stock"), view.is_crashed("A")))
    };
    for reduction in [Reduction::None, Reduction::States] {
        let told = |is_blocking| {
            let report = run(explore(is_blocking).reduction(reduction));
            ((report.schedules(), report.pruned()), report.outcomes().clone())
        };
        assert_eq!(told(true), told(false));
    }
}

/// Two clients that take a lock over so many servers, of which some are down.
fn redlock(servers: usize, down: usize, retries: u32) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        let nodes: Vec<_> = (1..=servers).map(|at| world.node(&format!("r{at}"))).collect();
        nodes.iter().rev().take(down).for_each(|node| world.take_down(*node));
        for (seed, name) in [(1, "A"), (2, "B")] {
            let nodes = nodes.clone();
            world.client(name, move |client| async move {
                let mut servers: Vec<_> = nodes.iter().map(|node| client.on(*node)).collect();
                let lock =
                    Redlock::new("lock", Duration::from_secs(10))?.retry(retries, Duration::from_millis(200));
                let taken = lock.acquire(&mut servers, &client, &mut SeededTokens::new(seed)).await?;
                if let Some(held) = taken {
                    client.tally("holders");
                    client.tally("got it");
                    client.call(["INCR", "work"]).await?;
                    client.tally_by("holders", -1);
                    let released = held.release(&mut servers).await;
                    client.tally_by("released", released as i64);
                }
                Ok::<_, Error>(())
            });
        }
    })
    .invariant("one holder", At::EachStep, |view| view.tally("holders") <= 1)
}

#[test]
fn s58_to_s60_a_majority_holds_the_lock() {
    let ways = |servers, down| {
        let report = run(redlock(servers, down, 0).outcome(|view| view.tally("got it").to_string()));
        report.assert_ok();
        assert!(report.is_exhausted());
        report.outcomes().keys().cloned().collect::<Vec<_>>()
    };
    // All ask in the same order: of three, somebody always gets two.
    assert_eq!(ways(3, 0), ["1", "2"]);
    assert_eq!(ways(3, 1), ["0", "1", "2"]);
    assert_eq!(ways(3, 2), ["0"]);
}

#[test]
fn s62_s63_a_clock_that_jumps_and_a_server_that_forgets_let_two_in() {
    for faults in [Faults::none().node_jumps(1), Faults::none().restarts(1)] {
        let two = redlock(3, 0, 0).faults(faults).search(Search::Random { seed: 5, runs: 4_000 });
        let report = run(two);
        assert!(report.failing() > 0, "{faults:?}: nothing in {} schedules", report.schedules());
    }
}

#[test]
fn s65_a_split_vote_ends_when_the_pauses_differ() {
    let report = run(redlock(3, 0, 2)
        .search(Search::Random { seed: 3, runs: 500 })
        .outcome(|view| view.tally("got it").to_string()));
    report.assert_ok();
    assert!(report.outcomes().get("2").is_some_and(|both| *both > 250), "{:?}", report.outcomes());
}

#[test]
fn s66_it_is_given_back_where_no_answer_came() {
    let explore = redlock(3, 0, 0)
        .faults(Faults::none().lost_replies(1))
        .search(Search::Random { seed: 9, runs: 1_000 })
        .outcome(|view| format!("{} {}", view.tally("got it"), view.tally("released")));
    let report = run(explore);
    report.assert_ok();
    // A holder whose SET on one server was not answered gives it back there all the same.
    assert!(report.outcomes().contains_key("1 3"), "{:?}", ends(&report));
}

/// A key of the keyspace: what SET, GET and INCR do to it.
struct Key;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Ask {
    Get,
    Set(i64),
    Increment,
}

impl Model for Key {
    type State = i64;
    type Call = Ask;
    type Told = i64;

    fn step(state: &i64, call: &Ask) -> (i64, i64) {
        match call {
            Ask::Get => (*state, *state),
            Ask::Set(value) => (*value, 0),
            Ask::Increment => (state + 1, state + 1),
        }
    }
}

fn ask_of(thread: i64, at: i64) -> Ask {
    match (thread + at) % 3 {
        0 => Ask::Get,
        1 => Ask::Increment,
        _ => Ask::Set(thread * 1_000 + at),
    }
}

fn words(ask: &Ask) -> Vec<String> {
    match ask {
        Ask::Get => vec!["GET".into(), "k".into()],
        Ask::Set(value) => vec!["SET".into(), "k".into(), value.to_string()],
        Ask::Increment => vec!["INCR".into(), "k".into()],
    }
}

#[test]
fn many_threads_on_one_engine_are_linearizable() {
    let engine = Engine::new();
    engine.client().call(["SET", "k", "0"]).expect("OK");
    let history = History::<Key>::new();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let (engine, history) = (&engine, &history);
            scope.spawn(move || {
                let mut client = engine.client();
                for at in 0..300 {
                    let ask = ask_of(thread, at);
                    let argv = words(&ask);
                    history.record(ask.clone(), || {
                        let reply = client.call(&argv).expect("it is answered");
                        Some(if matches!(ask, Ask::Set(_)) {
                            0
                        } else {
                            reply.get::<i64>().expect("a number")
                        })
                    });
                }
            });
        }
    });
    assert_eq!(history.len(), 1_800);
    assert!(history.is_linearizable(0));
}

#[cfg(feature = "server")]
#[test]
fn many_connections_of_the_front_are_linearizable() {
    use crate::support::connection::Connection;
    use crate::support::served::Front;
    use crate::support::wire::Wire;
    let engine = Engine::new();
    engine.client().call(["SET", "k", "0"]).expect("OK");
    let mut front = Front::new(&engine, moonkeep::server::Listen::default());
    front.when_it_serves();
    let (history, socket) = (History::<Key>::new(), front.socket());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (history, socket) = (&history, &socket);
            scope.spawn(move || {
                let mut connection = Connection::open(socket);
                for at in 0..200 {
                    let ask = ask_of(thread, at);
                    let argv: Vec<Vec<u8>> = words(&ask).into_iter().map(String::into_bytes).collect();
                    history.record(ask, || {
                        connection.send(&argv);
                        match connection.receive() {
                            Wire::Int(n) => Some(n),
                            Wire::Bulk(text) => std::str::from_utf8(&text).ok()?.parse().ok(),
                            _ => Some(0),
                        }
                    });
                }
            });
        }
    });
    assert!(history.is_linearizable(0));
    front.stop().expect("it ends well");
}

#[test]
fn what_no_order_explains_is_found() {
    let lost = History::<Key>::new();
    lost.record(Ask::Increment, || Some(1));
    lost.record(Ask::Increment, || Some(1));
    assert!(!lost.is_linearizable(0));
    let stale = History::<Key>::new();
    stale.record(Ask::Set(7), || Some(0));
    stale.record(Ask::Get, || Some(0));
    assert!(!stale.is_linearizable(0));
    // An operation without an answer may have been done, at any time behind its beginning, or not at all.
    let open = |seen: &[i64]| {
        let history = History::<Key>::new();
        history.record(Ask::Set(7), || None);
        seen.iter().for_each(|value| history.record(Ask::Get, || Some(*value)));
        history.is_linearizable(0)
    };
    assert!(open(&[0, 0]) && open(&[0, 7]) && open(&[7, 7]) && !open(&[7, 0]));
    // Two at the same time may have come in either order.
    let history = History::<Key>::new();
    history.record(Ask::Increment, || {
        history.record(Ask::Increment, || Some(1));
        Some(2)
    });
    assert!(history.is_linearizable(0) && !history.is_linearizable(1));
}
