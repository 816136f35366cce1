//! Reading, changing and writing back: what is lost without a lock, and what does not lose it. (The counts of GET and SET, of
//! WATCH, of the lease with and without a fence and of the retry behind a lost reply stand in `tests/exploring.rs`.)

use super::{all, ends, failing};
use moonkeep::Error;
use moonkeep::sim::{At, Client, Explore, Faults, World};

const STOCK: &str = include_str!("../../lua/decrease_stock.lua");
const NAMES: [&str; 3] = ["A", "B", "C"];

/// Clients that all do the same with a stock of so many.
fn clients<F>(
    count: usize,
    stock: &'static str,
    protocol: impl Fn(Client) -> F + Copy + Sync + 'static,
) -> impl Fn(&mut World) + Sync
where
    F: Future<Output = Result<(), Error>> + 'static,
{
    move |world| {
        world.setup(["SET", "stock", stock]);
        world.watch_keys(["stock"]);
        for name in &NAMES[..count] {
            world.client(name, protocol);
        }
    }
}

#[test]
fn s22_decrements_of_the_server_are_told_apart() {
    let explore = Explore::new(clients(2, "10", |client| async move {
        let left: i64 = client.query(["DECR", "stock"]).await?;
        client.tally(&format!("told {left}"));
        Ok(())
    }));
    let told = explore
        .outcome(|view| format!("{:?} {} {}", view.int("stock"), view.tally("told 9"), view.tally("told 8")));
    assert_eq!(ends(&all(told)), [("Some(8) 1 1", 2)]);
}

/// Looks whether there is one, and takes it in a second call.
async fn check_then_take(client: Client) -> Result<(), Error> {
    if client.query::<i64, _>(["GET", "stock"]).await? > 0 {
        client.call(["DECR", "stock"]).await?;
        client.tally("sold");
    }
    Ok(())
}

#[test]
fn s23_a_check_before_the_decrement_sells_what_is_not_there() {
    let sold = |count: usize, stock: &'static str| {
        let most: i64 = stock.parse().expect("a number");
        Explore::new(clients(count, stock, check_then_take)).invariant(
            "none is sold twice",
            At::End,
            move |view| view.tally("sold") <= most && view.int("stock") >= Some(0),
        )
    };
    assert_eq!(failing(sold(2, "1")), (4, 6));
    assert_eq!(failing(sold(3, "2")), (72, 90));
    let told =
        sold(2, "1").outcome(|view| format!("{} sold, {:?} left", view.tally("sold"), view.int("stock")));
    assert_eq!(ends(&all(told)), [("1 sold, Some(0) left", 2), ("2 sold, Some(-1) left", 4)]);
}

async fn take_by_script(client: Client) -> Result<(), Error> {
    let told: (i64, i64) = client.query(["EVAL", STOCK, "1", "stock", "1"]).await?;
    client.tally(&format!("{told:?}"));
    Ok(())
}

#[test]
fn s24_a_script_takes_one_after_the_other() {
    let explore = Explore::new(clients(2, "10", take_by_script))
        .outcome(|view| format!("{:?} {} {}", view.int("stock"), view.tally("(1, 9)"), view.tally("(1, 8)")));
    assert_eq!(ends(&all(explore)), [("Some(8) 1 1", 2)]);
}

#[test]
fn s25_of_the_last_one_a_script_sells_one() {
    for count in [2, 3] {
        let explore = Explore::new(clients(count, "1", take_by_script))
            .invariant("it is never less than nothing", At::EachStep, |view| view.int("stock") >= Some(0))
            .outcome(|view| {
                format!("{:?} {} {}", view.int("stock"), view.tally("(1, 0)"), view.tally("(0, 0)"))
            });
        let report = all(explore);
        report.assert_ok();
        let wanted = format!("Some(0) 1 {}", count - 1);
        assert_eq!(report.outcomes().keys().collect::<Vec<_>>(), [&wanted]);
    }
}

/// Two increments of A, with a look of B somewhere.
fn looked_between(is_transaction: bool) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        world.client("A", move |client| async move {
            if is_transaction {
                client.call(["MULTI"]).await?;
            }
            for _ in 0..2 {
                client.call(["INCR", "n"]).await?;
            }
            if is_transaction {
                client.call(["EXEC"]).await?;
            }
            Ok::<_, Error>(())
        });
        world.client("B", |client| async move {
            let seen: Option<i64> = client.query(["GET", "n"]).await?;
            client.tally(&format!("saw {}", seen.unwrap_or(0)));
            Ok::<_, Error>(())
        });
    })
    .outcome(|view| (0..3).map(|n| view.tally(&format!("saw {n}")).to_string()).collect())
}

#[test]
fn s28_a_pipeline_is_seen_half_done_and_a_transaction_is_not() {
    assert_eq!(ends(&all(looked_between(false))), [("001", 1), ("010", 1), ("100", 1)]);
    assert_eq!(ends(&all(looked_between(true))), [("001", 1), ("100", 4)]);
}

#[test]
fn s31_as_many_retries_as_there_are_others_are_enough() {
    for (count, retries, is_enough) in [(2, 0, false), (2, 1, true), (3, 1, false), (3, 2, true)] {
        let explore = Explore::new(move |world: &mut World| {
            world.setup(["SET", "stock", "10"]);
            for name in &NAMES[..count] {
                world.client(name, move |client| async move {
                    for _ in 0..=retries {
                        client.call(["WATCH", "stock"]).await?;
                        let stock: i64 = client.query(["GET", "stock"]).await?;
                        client.call(["MULTI"]).await?;
                        client.call(["SET", "stock", &(stock - 1).to_string()]).await?;
                        if client.query::<Option<Vec<String>>, _>(["EXEC"]).await?.is_some() {
                            client.tally("ran");
                            return Ok::<_, Error>(());
                        }
                    }
                    Ok(())
                });
            }
        })
        .invariant("each that ran counts", At::End, |view| view.int("stock") == Some(10 - view.tally("ran")))
        .outcome(|view| view.tally("ran").to_string());
        let report = explore.run().expect("the world is sound");
        report.assert_ok();
        let everybody = count.to_string();
        assert_eq!(report.outcomes().keys().all(|ran| *ran == everybody), is_enough);
    }
}

#[test]
fn s33_a_request_that_is_sent_again_needs_a_number() {
    let explore = |is_numbered: bool| {
        const ONCE: &str = "if redis.call('SET', KEYS[2], 1, 'NX') then return redis.call('DECR', KEYS[1]) end \
                            return tonumber(redis.call('GET', KEYS[1]))";
        Explore::new(move |world: &mut World| {
            world.setup(["SET", "stock", "10"]);
            world.watch_keys(["stock"]);
            world.client("A", move |client| async move {
                let argv: &[&str] =
                    if is_numbered { &["EVAL", ONCE, "2", "stock", "req:1"] } else { &["DECR", "stock"] };
                while let Err(error) = client.call(argv).await {
                    if !error.is_connection_lost() {
                        return Err(error);
                    }
                    client.tally("lost");
                }
                Ok::<_, Error>(())
            });
        })
        .faults(Faults::none().lost_replies(1).lost_requests(1))
        .outcome(|view| format!("{} lost, {}", view.tally("lost"), view.int("stock").unwrap_or(0)))
    };
    let plain = all(explore(false));
    assert_eq!(ends(&plain), [("0 lost, 9", 1), ("1 lost, 8", 1), ("1 lost, 9", 1), ("2 lost, 8", 2)]);
    let numbered = all(explore(true));
    assert!(numbered.outcomes().keys().all(|end| end.ends_with(", 9")), "{:?}", numbered.outcomes());
}
