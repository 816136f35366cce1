//! Queues whose workers die, and what makes an effect happen once. (Sequences of calls stand in `tests/messaging.rs`.)

use super::{all, ends};
use moonkeep::Error;
use moonkeep::sim::{At, Client, Explore, Faults, StoreError, World};
use std::time::Duration;

async fn effect(client: &Client, task: &str, is_unique: bool) -> Result<(), Error> {
    let worker = client.now_ms().to_string();
    let key = if is_unique { task.to_owned() } else { format!("{task} {worker}") };
    match client.store().insert("effects", &key, [("at", worker)]).await {
        Err(StoreError::Duplicate { .. }) => Ok(()),
        other => Ok(other?),
    }
}

#[test]
fn s1_a_worker_that_dies_behind_its_pop_loses_the_task() {
    let explore = Explore::new(|world: &mut World| {
        world.setup(["LPUSH", "q", "t1"]);
        world.client("C1", |client| async move {
            if client.query::<Option<String>, _>(["RPOP", "q"]).await?.is_some() {
                effect(&client, "t1", true).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().crashes(1))
    .invariant("queued or done", At::End, |view| {
        view.query::<i64, _>(["LLEN", "q"]).unwrap_or(0) + view.rows("effects").len() as i64 == 1
    });
    let report = all(explore);
    assert_eq!((report.failing(), report.schedules()), (1, 3));
    assert_eq!(report.failure().expect("it is lost").replay, "C1 C1!crash");
}

/// A worker with a processing list, and one that brings back what is there after ten seconds.
fn processing(is_unique: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.setup(["LPUSH", "q", "t1"]);
        world.watch_keys(["q", "proc"]);
        world.client("C1", move |client| async move {
            if client.query::<Option<String>, _>(["LMOVE", "q", "proc", "RIGHT", "LEFT"]).await?.is_some() {
                effect(&client, "t1", is_unique).await?;
                client.call(["LREM", "proc", "1", "t1"]).await?;
            }
            Ok::<_, Error>(())
        });
        world.client("C2", move |client| async move {
            client.sleep(Duration::from_secs(10)).await;
            client.call(["LMOVE", "proc", "q", "RIGHT", "LEFT"]).await?;
            if client.query::<Option<String>, _>(["LMOVE", "q", "proc", "RIGHT", "LEFT"]).await?.is_some() {
                effect(&client, "t1", is_unique).await?;
                client.call(["LREM", "proc", "1", "t1"]).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().crashes(1).clock_jumps(1))
}

#[test]
fn s2_a_processing_list_loses_nothing_and_may_do_it_twice() {
    let kept = processing(true).invariant("queued, in work or done", At::EachStep, |view| {
        let count = |key: &str| view.query::<i64, _>(["LLEN", key]).unwrap_or(0);
        count("q") + count("proc") + view.rows("effects").len() as i64 >= 1
    });
    kept.run().expect("it is sound").assert_ok();
    let effects = |is_unique| {
        let explore = processing(is_unique).outcome(|view| view.rows("effects").len().to_string());
        explore.run().expect("it is sound").outcomes().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(effects(true), ["0", "1"]);
    assert_eq!(effects(false), ["0", "1", "2"]);
}

/// Consumers that take so many tasks each, one of which takes longer than the other.
fn consumers(each: &'static [(&'static str, usize)]) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.setup(["RPUSH", "q", "m1", "m2"]);
        world.watch_keys(["done"]);
        for &(name, tasks) in each {
            world.client(name, move |client| async move {
                for _ in 0..tasks {
                    let Some(task) = client.query::<Option<String>, _>(["LPOP", "q"]).await? else { break };
                    client.sleep(Duration::from_millis(if name == "slow" { 100 } else { 10 })).await;
                    client.call(["RPUSH", "done", &task]).await?;
                }
                Ok::<_, Error>(())
            });
        }
    })
}

#[test]
fn s6_what_is_delivered_first_may_be_done_last() {
    let two = all(consumers(&[("slow", 1), ("fast", 1)]));
    assert_eq!(ends(&two), [(r#"done=["m1", "m2"]"#, 1), (r#"done=["m2", "m1"]"#, 1)]);
    // One consumer for what belongs together keeps its order.
    assert_eq!(ends(&all(consumers(&[("slow", 2)]))), [(r#"done=["m1", "m2"]"#, 1)]);
}

/// A consumer of a group that may die, and one that claims what was not acknowledged for thirty seconds.
fn group(acknowledges_first: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.setup(["XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"]);
        world.setup(["XADD", "s", "1000-0", "order", "O42"]);
        world.client("C1", move |client| async move {
            let read = ["XREADGROUP", "GROUP", "g", "C1", "STREAMS", "s", ">"];
            client.call(read).await?;
            client.tally("deliveries");
            if acknowledges_first {
                client.call(["XACK", "s", "g", "1000-0"]).await?;
            }
            effect(&client, "O42", true).await?;
            if !acknowledges_first {
                client.call(["XACK", "s", "g", "1000-0"]).await?;
            }
            Ok::<_, Error>(())
        });
        world.client("C2", |client| async move {
            client.sleep(Duration::from_secs(31)).await;
            let claim = ["XAUTOCLAIM", "s", "g", "C2", "30000", "0-0", "JUSTID"];
            let (_, claimed, _): (String, Vec<String>, Vec<String>) = client.query(claim).await?;
            for id in claimed {
                client.tally("deliveries");
                effect(&client, "O42", true).await?;
                client.call(["XACK", "s", "g", &id]).await?;
            }
            Ok::<_, Error>(())
        });
    })
    .faults(Faults::none().crashes(1))
    .outcome(|view| {
        let who = if view.is_crashed("C1") { "died" } else { "lived" };
        format!("{who}: {} effects, {} deliveries", view.rows("effects").len(), view.tally("deliveries"))
    })
}

#[test]
fn s13_a_unique_effect_happens_once_wherever_a_worker_dies() {
    let told = |acknowledges_first| {
        let report = all(group(acknowledges_first));
        report
            .outcomes()
            .iter()
            .filter(|(end, _)| end.starts_with("died"))
            .map(|(end, n)| (end.clone(), *n))
            .collect::<Vec<_>>()
    };
    let wanted =
        |texts: &[(&str, u64)]| texts.iter().map(|(end, n)| ((*end).to_owned(), *n)).collect::<Vec<_>>();
    // Before its read it has taken nothing; before its commit and before its XACK the other one does it.
    assert_eq!(
        told(false),
        wanted(&[("died: 0 effects, 0 deliveries", 1), ("died: 1 effects, 2 deliveries", 2)])
    );
    assert_eq!(
        told(true),
        wanted(&[
            ("died: 0 effects, 0 deliveries", 1),
            ("died: 0 effects, 1 deliveries", 1),
            ("died: 1 effects, 2 deliveries", 1)
        ])
    );
}

#[test]
fn s14_looking_for_the_effect_first_does_not_make_it_unique() {
    let explore = |is_unique: bool| {
        Explore::new(move |world: &mut World| {
            if is_unique {
                world.store().unique("effects", "order");
            }
            for name in ["C1", "C2"] {
                world.client(name, move |client| async move {
                    let store = client.store();
                    if store.select("effects").await?.is_empty() {
                        match store.insert("effects", name, [("order", "O42")]).await {
                            Err(error) if error.is_duplicate() => {}
                            other => other?,
                        }
                    }
                    Ok::<_, StoreError>(())
                });
            }
        })
        .outcome(|view| view.rows("effects").len().to_string())
    };
    assert_eq!(ends(&all(explore(false))), [("1", 2), ("2", 4)]);
    assert_eq!(ends(&all(explore(true))), [("1", 6)]);
}

#[test]
fn s20_a_threshold_below_the_time_of_a_task_has_two_workers() {
    let explore = |is_unique: bool| {
        Explore::new(move |world: &mut World| {
            world.setup(["XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"]);
            world.setup(["XADD", "s", "1000-0", "order", "O42"]);
            world.client("C1", move |client| async move {
                client.call(["XREADGROUP", "GROUP", "g", "C1", "STREAMS", "s", ">"]).await?;
                client.sleep(Duration::from_secs(40)).await;
                effect(&client, "O42", is_unique).await
            });
            world.client("C2", move |client| async move {
                client.sleep(Duration::from_secs(30)).await;
                let claim = ["XAUTOCLAIM", "s", "g", "C2", "30000", "0-0", "JUSTID"];
                let (_, claimed, _): (String, Vec<String>, Vec<String>) = client.query(claim).await?;
                client.tally_by("claimed", claimed.len() as i64);
                effect(&client, "O42", is_unique).await
            });
        })
        .outcome(|view| format!("{} claimed, {} effects", view.tally("claimed"), view.rows("effects").len()))
    };
    assert_eq!(ends(&all(explore(false))), [("1 claimed, 2 effects", 1)]);
    assert_eq!(ends(&all(explore(true))), [("1 claimed, 1 effects", 1)]);
}
