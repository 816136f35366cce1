//! A lock over five servers: what a majority grants, what is left of the time when answers are slow, and what no majority
//! keeps apart. The calls and replies of each server were recorded from five real ones.

use super::ends;
use moonkeep::patterns::{Redlock, RunAsync, SeededTokens};
use moonkeep::sim::{At, Client, Explore, Failure, Faults, Node, Report, Search, World};
use moonkeep::{Engine, Error, JournalEntry, Reply};
use std::time::Duration;

const SERVERS: usize = 5;
const TTL: Duration = Duration::from_secs(10);

/// A client's connection to one server, whose answers take their time.
struct Server {
    client: Client,
    takes: Duration,
}

impl RunAsync for Server {
    type Error = Error;

    async fn exchange_async(&mut self, argv: &[&[u8]]) -> Result<Reply, Error> {
        let reply = self.client.exchange_async(argv).await;
        if !self.takes.is_zero() {
            self.client.sleep(self.takes).await;
        }
        reply
    }
}

/// Five servers, the last ones of which may be down.
fn servers(world: &mut World, down: usize) -> Vec<Node> {
    let nodes: Vec<Node> = (1..=SERVERS).map(|at| world.node(&format!("r{at}"))).collect();
    nodes.iter().rev().take(down).for_each(|node| world.take_down(*node));
    for &node in &nodes {
        // Known scripts are one call.
        for script in [include_str!("../../lua/unlock.lua"), include_str!("../../lua/renew_lock.lua")] {
            world.setup_on(node, ["SCRIPT", "LOAD", script]);
        }
    }
    nodes
}

/// What a client does with the lock.
#[derive(Clone)]
struct Use {
    /// In this order the servers are asked.
    nodes: Vec<Node>,
    /// Each answer takes so long.
    takes: Duration,
    retries: u32,
    pause: Duration,
    seed: u64,
}

impl Use {
    fn of(nodes: &[Node], first: usize, seed: u64) -> Self {
        let mut nodes = nodes.to_vec();
        nodes.rotate_left(first);
        Use { nodes, takes: Duration::ZERO, retries: 0, pause: Duration::ZERO, seed }
    }

    /// Takes the lock, works, gives it back.
    async fn run<W: Future<Output = Result<(), Error>>>(
        self,
        client: Client,
        work: impl FnOnce(Client) -> W,
    ) -> Result<(), Error> {
        let connect = |node: &Node| Server { client: client.on(*node), takes: self.takes };
        let mut servers: Vec<Server> = self.nodes.iter().map(connect).collect();
        let lock = Redlock::new("lock", TTL)?.retry(self.retries, self.pause);
        let Some(held) = lock.acquire(&mut servers, &client, &mut SeededTokens::new(self.seed)).await? else {
            client.tally("refused");
            return Ok(());
        };
        client.tally("got it");
        client.tally_by("valid for", held.valid_for(&client).as_millis() as i64);
        client.tally("holders");
        work(client.clone()).await?;
        client.tally_by("holders", -1);
        client.tally_by("released", held.release(&mut servers).await as i64);
        Ok(())
    }
}

/// Work that is one call to the first engine.
async fn works(client: Client) -> Result<(), Error> {
    client.call(["INCR", "work"]).await.map(drop)
}

/// Clients that all ask the servers in the same order.
fn in_order(names: &'static [&'static str], down: usize) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        let nodes = servers(world, down);
        world.watch_keys_on(nodes[3], ["lock"]);
        for (seed, name) in (1..).zip(names) {
            let user = Use::of(&nodes, 0, seed);
            world.client(name, |client| user.run(client, works));
        }
    })
    .outcome(told)
    .invariant("one holder", At::EachStep, |view| view.tally("holders") <= 1)
}

/// What clients have counted.
fn told(view: &moonkeep::sim::View<'_>) -> String {
    let [got, refused, released] = ["got it", "refused", "released"].map(|name| view.tally(name));
    format!("got it {got}, refused {refused}, released {released}")
}

/// The replies that a client got in a schedule, `-` where there was none, in their order.
fn replies(failure: &Failure, name: &str) -> Vec<String> {
    let column = failure.names.iter().position(|other| other == name);
    let rows = failure.rows.iter().filter(|row| row.actor == column && !row.text.starts_with('('));
    rows.map(|row| row.text.rsplit_once(" -> ").map_or("-", |(_, reply)| reply).to_owned()).collect()
}

fn run(explore: Explore<'_>) -> Report {
    explore.run().expect("the world is sound")
}

/// Lets each client do so many steps, in this order.
fn turns(turns: &[(&str, usize)]) -> String {
    let words: Vec<&str> =
        turns.iter().flat_map(|(name, steps)| std::iter::repeat_n(*name, *steps)).collect();
    words.join(" ")
}

#[test]
fn s58_to_s60_three_of_five_hold_it_and_two_do_not() {
    // A asks all, then B, while A works.
    let asked = |down| in_order(&["A", "B"], down).replay(&turns(&[("A", 5), ("B", 10), ("A", 6)]));
    let all = asked(0).expect("a schedule");
    assert_eq!(replies(&all, "A"), ["OK", "OK", "OK", "OK", "OK", "1", "1", "1", "1", "1", "1"]);
    assert_eq!(replies(&all, "B"), ["nil", "nil", "nil", "nil", "nil", "0", "0", "0", "0", "0"]);
    let three = asked(2).expect("a schedule");
    assert_eq!(replies(&three, "A"), ["OK", "OK", "OK", "-", "-", "1", "1", "1", "1", "-", "-"]);
    assert_eq!(replies(&three, "B"), ["nil", "nil", "nil", "-", "-", "0", "0", "0", "-", "-"]);
    let report = run(in_order(&["A"], 3));
    assert_eq!(ends(&report), [("got it 0, refused 1, released 0", 1)]);
    let two = in_order(&["A"], 3).replay(&turns(&[("A", 10)])).expect("a schedule");
    assert_eq!(replies(&two, "A"), ["OK", "OK", "-", "-", "-", "1", "1", "-", "-", "-"]);
}

/// What one client on slow servers ends with, and when.
fn slow(takes: Duration) -> (String, i64, i64) {
    let told = std::sync::Mutex::new(None);
    let explore = Explore::new(move |world: &mut World| {
        let nodes = servers(world, 0);
        world.client("A", |client| Use { takes, ..Use::of(&nodes, 0, 1) }.run(client, works));
    })
    .invariant("it is told", At::End, |view| {
        *told.lock().expect("nobody panics") =
            Some((self::told(view), view.tally("valid for"), view.now_ms()));
        true
    });
    let report = run(explore);
    assert_eq!((report.schedules(), report.is_exhausted()), (1, true));
    let told = told.lock().expect("nobody panics").take();
    told.expect("it has ended")
}

#[test]
fn s61_what_is_left_of_the_time_is_what_answers_have_not_taken() {
    // 10,000 ms less 100 ms and 2 ms that clocks may differ by.
    assert_eq!(slow(Duration::ZERO), ("got it 1, refused 0, released 5".into(), 9_898, 0));
    // All five grant it, but 10,000 ms have passed: 102 too many. It is given back, which takes as long.
    assert_eq!(slow(Duration::from_secs(2)), ("got it 0, refused 1, released 0".into(), 0, 20_000));
    // 9,895 ms leave 3.
    assert_eq!(slow(Duration::from_millis(1_979)).1, 3);
    assert_eq!(slow(Duration::from_millis(1_980)).0, "got it 0, refused 1, released 0");
}

/// A works on r1 to r3 while the others do not answer it, then B asks all.
fn two_minorities(fault: &str) -> Failure {
    let explore = Explore::new(|world: &mut World| {
        let nodes = servers(world, 0);
        world.client("A", |client| Use::of(&nodes, 0, 1).run(client, works));
        world.client("B", |client| Use::of(&nodes, 0, 2).run(client, works));
    })
    .faults(Faults::none().lost_requests(2).node_jumps(1).restarts(1))
    .invariant("one holder", At::EachStep, |view| view.tally("holders") <= 1);
    let schedule = ["A A A A!request A!request", fault, "B B B B B"].join(" ");
    explore.replay(&schedule).expect("a schedule")
}

#[test]
fn s62_s63_a_majority_of_two_minorities() {
    for fault in ["@r3+10001", "r3!restart"] {
        let failure = two_minorities(fault);
        assert_eq!(replies(&failure, "A"), ["OK", "OK", "OK", "-", "-"], "{failure}");
        assert_eq!(replies(&failure, "B"), ["nil", "nil", "OK", "OK", "OK"], "{failure}");
        assert_eq!(failure.why, "one holder");
    }
}

#[test]
fn s63_a_server_that_comes_back_late_grants_nothing_that_is_held() {
    let explore = Explore::new(|world: &mut World| {
        let nodes = servers(world, 0);
        for (seed, name) in [(1, "A"), (2, "B")] {
            let user = Use::of(&nodes, 0, seed);
            world.client(name, |client| user.run(client, works));
        }
    })
    .faults(Faults::none().lost_requests(3).restarts(1))
    .invariant("one holder", At::EachStep, |view| view.tally("holders") <= 1);
    // r3 has forgotten it, but is not there for B while A holds it.
    let asked = "A A A A!request A!request r3!restart B B B!request B B";
    let failure = explore.replay(&[asked, &turns(&[("B", 5), ("A", 6)])].join(" ")).expect("a schedule");
    assert_eq!(replies(&failure, "B"), ["nil", "nil", "-", "OK", "OK", "0", "0", "0", "1", "1"]);
    assert_eq!(failure.why, "nothing");
}

#[test]
fn s63_what_a_server_keeps_of_its_writes_decides_what_it_grants_after_a_restart() {
    let server = Engine::new();
    let journal = server.subscribe_journal().expect("at rest");
    server.client().call(["SET", "lock", "A", "NX", "PX", "10000"]).expect("OK");
    let writes = journal.take().expect("at rest");
    assert_eq!(writes.len(), 1);
    // All that it answered was kept, as appendfsync always has it, or the last second was lost, as everysec may have it.
    let asked_after = |kept: &[JournalEntry], ms: u64| {
        let server = Engine::new();
        server.replay(kept).expect("writes that can be applied");
        server.advance(Duration::from_millis(ms)).expect("a held clock");
        let ask = ["SET", "lock", "B", "NX", "PX", "10000"];
        server.client().query::<Option<String>, _>(ask).expect("OK or nil")
    };
    assert_eq!(asked_after(&writes, 1_000), None);
    assert_eq!(asked_after(&writes, 10_000), None);
    assert_eq!(asked_after(&writes, 10_001), Some("OK".into()));
    assert_eq!(asked_after(&[], 1_000), Some("OK".into()));
}

/// A holder that pauses beyond its time, and writes all the same. What is written is its number.
fn paused(is_fenced: bool) -> Explore<'static> {
    const FENCED: &str = include_str!("../../lua/fenced_set.lua");
    Explore::new(move |world: &mut World| {
        let nodes = servers(world, 0);
        world.watch_keys(["value"]);
        for (seed, name) in [(1, "A"), (2, "B")] {
            let user = Use::of(&nodes, 0, seed);
            let work = move |client: Client| async move {
                let number = client.query::<i64, _>(["INCR", "fence"]).await?.to_string();
                let written = match is_fenced {
                    true => client.call(["EVAL", FENCED, "2", "value", "seen", &number, &number]).await,
                    false => client.call(["SET", "value", &number]).await,
                };
                written.map(drop)
            };
            world.client(name, move |client| async move {
                // It asks for the lock some time after the world begins.
                client.call(["PING"]).await?;
                user.run(client, work).await
            });
        }
    })
    .faults(Faults::none().clock_jumps(1))
    .invariant("the last holder's write stays", At::End, |view| view.int("value") == view.int("fence"))
}

#[test]
fn s64_who_pauses_beyond_the_time_of_the_lock_needs_a_fence() {
    // A has the lock and its number when its time ends; B takes the lock, writes and gives it back; then A writes.
    let schedule = [turns(&[("A", 7)]), "@10001".into(), turns(&[("B", 13), ("A", 6)])].join(" ");
    let run = |explore: Explore<'_>| explore.replay(&schedule).expect("a schedule");
    assert_eq!(run(paused(false)).why, "the last holder's write stays");
    assert_eq!(run(paused(true)).why, "nothing");
    // Both were active at once all the same: that is not what a fence prevents.
    let active = paused(true).invariant("one holder", At::EachStep, |view| view.tally("holders") <= 1);
    assert_eq!(run(active).why, "one holder");
    // What the smallest search finds is this schedule; with a fence it finds none.
    let bounded =
        |is_fenced| paused(is_fenced).search(Search::Bounded { switches: 1 }).run().expect("it is sound");
    assert_eq!(bounded(false).failure().expect("an old write comes last").replay, schedule);
    bounded(true).assert_ok();
}

/// Three who ask the servers in different orders.
fn split(retries: u32, pause: Duration) -> Explore<'static> {
    Explore::new(move |world: &mut World| {
        let nodes = servers(world, 0);
        for (seed, name, first) in [(1, "A", 0), (2, "B", 2), (3, "C", 4)] {
            let user = Use { retries, pause, ..Use::of(&nodes, first, seed) };
            world.client(name, |client| user.run(client, works));
        }
    })
    .outcome(told)
    .invariant("one holder", At::EachStep, |view| view.tally("holders") <= 1)
}

#[test]
fn s65_of_a_split_vote_nobody_holds_it() {
    let vote = [("A", 2), ("B", 2), ("C", 1), ("A", 3), ("B", 3), ("C", 4), ("A", 5), ("B", 5), ("C", 5)];
    let once = split(0, Duration::ZERO).replay(&turns(&vote)).expect("a schedule");
    assert_eq!(replies(&once, "A"), ["OK", "OK", "nil", "nil", "nil", "1", "1", "0", "0", "0"]);
    assert_eq!(replies(&once, "B"), ["OK", "OK", "nil", "nil", "nil", "1", "1", "0", "0", "0"]);
    assert_eq!(replies(&once, "C"), ["OK", "nil", "nil", "nil", "nil", "1", "0", "0", "0", "0"]);
    // Who tries again at once may meet the others again, as often as they try.
    let all_wake = [("A", 1), ("B", 1), ("C", 1)];
    let again = [&vote[..], &all_wake, &vote, &all_wake, &vote].concat();
    let thrice = split(2, Duration::ZERO)
        .invariant("somebody holds it", At::End, |view| view.tally("got it") > 0)
        .replay(&turns(&again))
        .expect("a schedule");
    assert_eq!(thrice.why, "somebody holds it");
    assert_eq!(replies(&thrice, "A").len(), 30);
    // Pauses that differ end it: whoever wakes first is alone.
    let apart = split(1, Duration::from_millis(200)).search(Search::Random { seed: 3, runs: 500 }).invariant(
        "somebody holds it",
        At::End,
        |view| view.tally("got it") > 0,
    );
    let report = run(apart);
    report.assert_ok();
    assert_eq!(report.schedules(), 500);
}

#[test]
fn s66_it_is_given_back_where_no_answer_came() {
    let one = |schedule: &str| {
        in_order(&["A"], 0).faults(Faults::none().lost_replies(1)).replay(schedule).expect("a schedule")
    };
    // r4 has granted it, and nobody heard: the key stands there, and would until its time is over.
    let failure = one("A A A A!reply A A A A A A A");
    let is_there = |row: usize| failure.rows[row].state != ["-"];
    assert_eq!([2, 3, 8, 9].map(is_there), [false, true, true, false], "{failure}");
    assert_eq!(replies(&failure, "A"), ["OK", "OK", "OK", "-", "OK", "1", "1", "1", "1", "1", "1"]);
}
