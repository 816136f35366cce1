//! Messages and what becomes of them when a worker stops at any step, in every order of the steps of two workers: what
//! lists, processing lists and consumer groups promise, and what only a unique constraint of the application does.
//! What the commands answer on the way is in `tests/corpus/messaging.txt`.

use moonkeep::{Client, Engine, JournalEntry, Reply};
use std::collections::BTreeSet;
use std::time::Duration;

/// All orders in which two workers may take so many steps each; true is the first worker's.
fn schedules(first: usize, second: usize) -> Vec<Vec<bool>> {
    if first == 0 || second == 0 {
        return vec![[vec![true; first], vec![false; second]].concat()];
    }
    let with = |step: bool, rest: Vec<Vec<bool>>| {
        rest.into_iter().map(move |rest| [vec![step], rest].concat()).collect::<Vec<_>>()
    };
    [with(true, schedules(first - 1, second)), with(false, schedules(first, second - 1))].concat()
}

/// An engine, and the database of the application beside it.
struct World {
    engine: Engine,
    client: Client,
    /// What was done, one entry for each time.
    effects: Vec<String>,
}

impl World {
    fn new(lines: &[&str]) -> World {
        let engine = Engine::new();
        let mut world = World { client: engine.client(), engine, effects: Vec::new() };
        lines.iter().for_each(|line| drop(world.call(line)));
        world
    }
    fn call(&mut self, line: &str) -> Reply {
        let words: Vec<&str> = line.split(' ').collect();
        let mut reply = Reply::new();
        self.client.call_into(words, &mut reply).expect("an engine that works");
        reply
    }
    fn task(&mut self, line: &str) -> Option<String> {
        self.call(line).get().expect("a task or none")
    }
    fn number(&mut self, line: &str) -> i64 {
        self.call(line).get().expect("a number")
    }
    /// How many messages a command delivers; they are those of one stream, or of XAUTOCLAIM.
    fn delivered(&mut self, line: &str) -> usize {
        let text = format!("{:?}", self.call(line));
        text.matches("\"task\"").count()
    }
    fn pass(&mut self, ms: u64) {
        self.engine.advance(Duration::from_millis(ms)).expect("a manual clock");
    }
    fn is_done(&self, task: &str) -> bool {
        self.effects.iter().any(|done| done == task)
    }
    /// Does a task once only, as a unique constraint in the database has it.
    fn once(&mut self, task: &str) {
        if !self.is_done(task) {
            self.effects.push(task.to_owned());
        }
    }
}

/// S1.
#[test]
fn a_popped_task_is_lost_when_the_worker_stops_before_its_effect() {
    let lost = (0..=2).filter(|&steps| {
        let mut world = World::new(&["LPUSH q t1"]);
        let task = if steps > 0 { world.task("RPOP q") } else { None };
        if steps > 1 {
            world.effects.extend(task);
        }
        world.number("LLEN q") == 0 && !world.is_done("t1")
    });
    assert_eq!(lost.collect::<Vec<_>>(), [1]);
}

/// S2: one worker moves the task, does it and removes it; another moves it back and does it too.
#[test]
fn a_processing_list_loses_nothing_but_may_deliver_twice() {
    let (mut deliveries, mut effects, mut unique_effects) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let all = schedules(3, 4);
    assert_eq!(all.len(), 35);
    // The first worker stops before each of its steps, or not at all.
    for (schedule, stops_at) in all.iter().flat_map(|schedule| (0..=3).map(move |stop| (schedule, stop))) {
        let mut world = World::new(&["LPUSH q t1"]);
        let (mut first, mut second, mut delivered) = (0, 0, 0);
        let (mut held, mut reclaimed) = (None, None);
        for is_first in schedule {
            match (is_first, first, second) {
                (true, step, _) if step >= stops_at => {}
                (true, 0, _) => held = world.task("LMOVE q proc RIGHT LEFT"),
                (true, 1, _) => world.effects.extend(held.clone()),
                (true, ..) if held.is_some() => drop(world.call("LREM proc 1 t1")),
                (false, _, 0) => drop(world.task("LMOVE proc q RIGHT LEFT")),
                (false, _, 1) => reclaimed = world.task("LMOVE q proc RIGHT LEFT"),
                (false, _, 2) => world.effects.extend(reclaimed.clone()),
                (false, ..) if reclaimed.is_some() => drop(world.call("LREM proc 1 t1")),
                _ => {}
            }
            *if *is_first { &mut first } else { &mut second } += 1;
            delivered = usize::from(held.is_some()) + usize::from(reclaimed.is_some());
            let somewhere = world.number("LLEN q") + world.number("LLEN proc") > 0;
            assert!(somewhere || world.is_done("t1"), "{schedule:?}, stops at {stops_at}");
        }
        deliveries.insert(delivered);
        effects.insert(world.effects.len());
        unique_effects.insert(world.effects.iter().collect::<BTreeSet<_>>().len());
    }
    assert_eq!(deliveries, BTreeSet::from([1, 2]));
    assert_eq!(effects, BTreeSet::from([0, 1, 2]), "done twice without a unique constraint");
    assert_eq!(unique_effects, BTreeSet::from([0, 1]));
}

/// S6.
#[test]
fn the_order_of_delivery_is_not_that_of_completion() {
    let mut world = World::new(&["RPUSH q m1 m2"]);
    let mut running = [(100, world.task("LPOP q")), (10, world.task("LPOP q"))];
    running.sort();
    assert_eq!(running.map(|(_, task)| task), [Some("m2".to_owned()), Some("m1".to_owned())]);
}

const ORDERS: [&str; 2] = ["XGROUP CREATE orders workers 0 MKSTREAM", "XADD orders 1000-0 task O42"];
const READ: &str = "XREADGROUP GROUP workers C1 STREAMS orders >";
const CLAIM: &str = "XAUTOCLAIM orders workers C2 30000 0";
const ACKNOWLEDGE: &str = "XACK orders workers 1000-0";

/// S13.
#[test]
fn a_worker_may_stop_at_any_step_when_effects_are_unique() {
    let mut deliveries = Vec::new();
    // After the delivery, after the effect, after the acknowledgement.
    for steps in 1..=3 {
        let mut world = World::new(&ORDERS);
        let mut delivered = world.delivered(READ);
        if steps > 1 {
            world.once("O42");
        }
        if steps > 2 {
            world.call(ACKNOWLEDGE);
        }
        world.pass(30_000);
        let again = world.delivered(CLAIM);
        delivered += again;
        if again > 0 {
            world.once("O42");
            world.call(ACKNOWLEDGE);
        }
        assert_eq!(world.effects, ["O42"]);
        deliveries.push(delivered);
    }
    assert_eq!(deliveries, [2, 2, 1]);
}

/// S13.
#[test]
fn acknowledging_before_the_effect_may_lose_it() {
    let mut world = World::new(&ORDERS);
    assert_eq!(world.delivered(READ), 1);
    world.call(ACKNOWLEDGE);
    // Here the worker stops.
    world.pass(30_000);
    assert_eq!((world.delivered(CLAIM), world.effects.len()), (0, 0));
}

/// S14: two workers that hold the same message ask whether it is done, and do it if not.
#[test]
fn asking_first_does_not_make_effects_unique() {
    let mut effects = BTreeSet::new();
    for schedule in schedules(2, 2) {
        let mut world = World::new(&ORDERS);
        assert_eq!(world.delivered(READ), 1);
        world.pass(30_000);
        assert_eq!(world.delivered(CLAIM), 1);
        let mut asked: [Option<bool>; 2] = [None, None];
        for is_first in schedule {
            let done = world.is_done("O42");
            match &mut asked[usize::from(is_first)] {
                unasked @ None => *unasked = Some(done),
                Some(false) => world.effects.push("O42".into()),
                Some(true) => {}
            }
        }
        effects.insert(world.effects.len());
    }
    assert_eq!(effects, BTreeSet::from([1, 2]));
}

/// A replica that has seen the first writes only, at the same time as the engine it follows.
fn replica(of: &World, seen: &[JournalEntry]) -> World {
    let world = World::new(&[]);
    let now_ms = of.engine.now_ms().expect("an engine that works");
    world.engine.set_time(now_ms).expect("a manual clock");
    world.engine.replay(seen).expect("writes that can be applied");
    world
}

/// S19.
#[test]
fn a_failover_may_lose_an_acknowledgement_or_a_message() {
    let mut main = World::new(&[]);
    let journal = main.engine.subscribe_journal().expect("an engine that works");
    ORDERS.iter().for_each(|line| drop(main.call(line)));
    assert_eq!(main.delivered(READ), 1);
    main.once("O42");
    assert_eq!(main.number(ACKNOWLEDGE), 1);
    let writes = journal.take().expect("an engine that works");

    let [before @ .., acknowledgement] = writes.as_slice() else { panic!("nothing was written") };
    assert_eq!(acknowledgement.to_string(), ACKNOWLEDGE);
    let mut promoted = replica(&main, before);
    promoted.effects = main.effects.clone();
    promoted.pass(30_000);
    assert_eq!(promoted.delivered(CLAIM), 1, "delivered again");
    promoted.once("O42");
    assert_eq!(promoted.effects, ["O42"]);

    let added = writes.iter().position(|write| write.to_string().starts_with("XADD")).expect("XADD");
    let mut promoted = replica(&main, &writes[..added]);
    assert_eq!((promoted.number("XLEN orders"), promoted.delivered(READ)), (0, 0), "lost");

    let mut promoted = replica(&main, &writes);
    promoted.pass(30_000);
    assert_eq!((promoted.number("XLEN orders"), promoted.delivered(CLAIM)), (1, 0));
}

/// S20: a task takes 40 seconds; who is thought to have stopped after 30 has not.
#[test]
fn a_threshold_below_the_time_of_a_task_makes_two_workers_do_it() {
    for (threshold_ms, workers) in [(30_000, 2), (40_001, 1)] {
        let mut world = World::new(&ORDERS);
        let mut working = world.delivered(READ);
        world.pass(30_000);
        working += world.delivered(&format!("XAUTOCLAIM orders workers C2 {threshold_ms} 0"));
        world.pass(10_000);
        let mut constrained = BTreeSet::new();
        for _ in 0..working {
            world.effects.push("O42".into());
            constrained.insert("O42");
        }
        assert_eq!((world.effects.len(), constrained.len()), (workers, 1));
    }
}
