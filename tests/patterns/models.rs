//! Random histories against models that are too simple to be wrong: a counter; a holder and an end.

use super::scenarios::lease_of;
use super::worlds::{Fate, World};
use moonkeep::patterns::{
    Decreased, Error, FencedValue, FencedWrite, Held, Refusal, Resend, SeededTokens, Stock, Tokens,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use std::fmt::Debug;

const CASES: u32 = 60;

/// Runs random histories, each on the world as it begins; shrinks one that fails.
fn histories<W: World, T: Debug>(
    world: &mut W,
    input: impl Strategy<Value = T>,
    history: impl Fn(&mut W, &T),
) {
    let world = RefCell::new(world);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&input, |input| {
        let mut world = world.borrow_mut();
        world.reset();
        load_scripts(&mut **world);
        history(&mut **world, &input);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Lets every shipped script be known, so that each step sends one command.
fn load_scripts(world: &mut impl World) {
    for text in [
        include_str!("../../lua/renew_lock.lua"),
        include_str!("../../lua/unlock.lua"),
        include_str!("../../lua/acquire_fenced.lua"),
        include_str!("../../lua/fenced_set.lua"),
    ] {
        world.call(&["SCRIPT", "LOAD", text]);
    }
}

fn losses() -> impl Strategy<Value = Vec<Fate>> {
    let lost = prop_oneof![Just(Fate::RequestLost), Just(Fate::ReplyLost)];
    prop_oneof![3 => Just(Vec::new()), 2 => vec(lost, 1..3)]
}

/// Around the ends of leases of 1000 ms.
fn pause() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![0, 1, 500, 999, 1000, 1001])
}

#[derive(Debug, Clone)]
enum LeaseOp {
    Acquire(Vec<Fate>, u64),
    Renew(prop::sample::Index, Vec<Fate>, u64),
    Release(prop::sample::Index, Vec<Fate>, u64),
    Pause(u64),
}

fn lease_ops() -> impl Strategy<Value = Vec<LeaseOp>> {
    let index = any::<prop::sample::Index>;
    let op = prop_oneof![
        3 => (losses(), pause()).prop_map(|(losses, pause)| LeaseOp::Acquire(losses, pause)),
        2 => (index(), losses(), pause()).prop_map(|(at, losses, pause)| LeaseOp::Renew(at, losses, pause)),
        1 => (index(), losses(), pause()).prop_map(|(at, losses, pause)| LeaseOp::Release(at, losses, pause)),
        2 => pause().prop_map(LeaseOp::Pause),
    ];
    vec(op, 1..25)
}

/// Who holds it until when.
#[derive(Default)]
struct LeaseModel {
    now: u64,
    holder: Option<(usize, u64)>,
}

const TTL: u64 = 1000;

impl LeaseModel {
    fn holder(&self) -> Option<(usize, u64)> {
        self.holder.filter(|(_, end)| self.now <= *end)
    }
    /// SET NX PX.
    fn set(&mut self, who: usize) -> bool {
        let is_free = self.holder().is_none();
        if is_free {
            self.holder = Some((who, self.now + TTL));
        }
        is_free
    }
    fn renew(&mut self, who: usize) -> bool {
        let can = self.holder().is_some_and(|(holder, end)| holder == who && end > self.now);
        if can {
            self.holder = Some((who, self.now + TTL));
        }
        can
    }
    fn release(&mut self, who: usize) -> bool {
        let can = self.holder().is_some_and(|(holder, _)| holder == who);
        if can {
            self.holder = None;
        }
        can
    }
    fn pttl(&self) -> String {
        let left = self.holder().map_or(-2, |(_, end)| (end - self.now) as i64);
        format!("(integer) {left}")
    }
}

/// Runs a step again until it is answered, with a pause after each loss; `effect` is what a run does to the model.
fn persist<W: World, S: Resend>(
    world: &mut W,
    model: &mut LeaseModel,
    step: &mut S,
    (losses, pause): (&[Fate], u64),
    mut effect: impl FnMut(&mut LeaseModel),
) -> S::Output {
    world.fates(losses);
    for loss in losses {
        assert!(world.try_run(step).is_err_and(|error| error.is_call()));
        if *loss == Fate::ReplyLost {
            effect(model);
        }
        world.advance(pause);
        model.now += pause;
    }
    world.try_run(step).unwrap_or_else(|error| panic!("{error:?}"))
}

pub(crate) fn lease<W: World>(world: &mut W) {
    histories(world, lease_ops(), |world, ops| lease_history(world, ops));
}

fn lease_history<W: World>(world: &mut W, ops: &[LeaseOp]) {
    let (lease, mut tokens, mut model) = (lease_of(TTL), SeededTokens::new(1), LeaseModel::default());
    let mut holders: Vec<(usize, Held)> = Vec::new();
    for (attempt, op) in ops.iter().enumerate() {
        match op {
            LeaseOp::Acquire(losses, pause) => {
                let mut step = lease.acquire(tokens.token().expect("seeded"));
                let held = persist(world, &mut model, &mut step, (losses, *pause), |model| {
                    model.set(attempt);
                });
                let is_ours = model.set(attempt) || !losses.is_empty() && model.renew(attempt);
                assert_eq!(held.is_some(), is_ours);
                holders.extend(held.map(|held| (attempt, held)));
            }
            LeaseOp::Renew(at, losses, pause) if !holders.is_empty() => {
                let (who, held) = &holders[at.index(holders.len())];
                let renewed = persist(world, &mut model, &mut held.renew(), (losses, *pause), |model| {
                    model.renew(*who);
                });
                assert_eq!(renewed, model.renew(*who));
            }
            LeaseOp::Release(at, losses, pause) if !holders.is_empty() => {
                let (who, held) = holders.swap_remove(at.index(holders.len()));
                let released = persist(world, &mut model, &mut held.release(), (losses, *pause), |model| {
                    model.release(who);
                });
                assert_eq!(released, model.release(who));
            }
            LeaseOp::Pause(ms) => {
                world.advance(*ms);
                model.now += ms;
            }
            LeaseOp::Renew(..) | LeaseOp::Release(..) => {}
        }
        assert_eq!(world.call(&["PTTL", "lock:{p1}"]), model.pttl());
    }
}

#[derive(Debug, Clone)]
enum StockOp {
    Decrease(u64),
    Set(u64),
    Forget,
}

pub(crate) fn stock<W: World>(world: &mut W) {
    let amount = || prop_oneof![0..12u64, 999_999_990..=1_000_000_000u64];
    let op = prop_oneof![
        6 => amount().prop_map(|n| StockOp::Decrease(n.max(1))),
        2 => amount().prop_map(StockOp::Set),
        1 => Just(StockOp::Forget),
    ];
    histories(world, vec(op, 1..40), |world, ops| stock_history(world, ops));
}

fn stock_history<W: World>(world: &mut W, ops: &[StockOp]) {
    let stock = Stock::new("s");
    let mut model: Option<u64> = None;
    for op in ops {
        match (op, model) {
            (StockOp::Set(n), _) => {
                world.run(stock.set(*n).unwrap()).unwrap();
                model = Some(*n);
            }
            (StockOp::Forget, _) => {
                world.call(&["DEL", "s"]);
                model = None;
            }
            (StockOp::Decrease(n), Some(left)) if *n <= left => {
                let left = left - n;
                assert_eq!(world.run(stock.decrease(*n).unwrap()), Ok(Decreased::Taken { left }));
                model = Some(left);
            }
            (StockOp::Decrease(n), Some(left)) => {
                assert_eq!(world.run(stock.decrease(*n).unwrap()), Ok(Decreased::Short { left }));
            }
            (StockOp::Decrease(n), None) => {
                let refused = Err(Error::Refused(Refusal::StockInvalid));
                assert_eq!(world.run(stock.decrease(*n).unwrap()), refused);
            }
        }
        let left = world.run(stock.left());
        assert_eq!(left, model.ok_or(Error::Refused(Refusal::StockInvalid)));
    }
}

#[derive(Debug, Clone)]
enum FencedOp {
    Acquire(Vec<Fate>, u64),
    Write(prop::sample::Index, Vec<Fate>),
    Pause(u64),
}

pub(crate) fn fenced<W: World>(world: &mut W) {
    let index = any::<prop::sample::Index>;
    let op = prop_oneof![
        2 => (losses(), pause()).prop_map(|(losses, pause)| FencedOp::Acquire(losses, pause)),
        3 => (index(), losses()).prop_map(|(at, losses)| FencedOp::Write(at, losses)),
        2 => pause().prop_map(FencedOp::Pause),
    ];
    histories(world, vec(op, 1..25), |world, ops| fenced_history(world, ops));
}

/// Each holder has a number above all before; writes go through in the order of numbers, each number once.
fn fenced_history<W: World>(world: &mut W, ops: &[FencedOp]) {
    let lease = lease_of(TTL).fenced("fence:{p1}").expect("the same slot");
    let value = FencedValue::new("v:{p1}", "seen:{p1}").expect("the same slot");
    let (mut tokens, mut model) = (SeededTokens::new(2), LeaseModel::default());
    let (mut numbers, mut given, mut written) = (Vec::new(), 0, 0);
    for (attempt, op) in ops.iter().enumerate() {
        match op {
            FencedOp::Acquire(losses, pause) => {
                let mut step = lease.acquire(tokens.token().expect("seeded"));
                let held = persist(world, &mut model, &mut step, (losses, *pause), |model| {
                    if !model.renew(attempt) && model.set(attempt) {
                        given += 1;
                    }
                });
                let renewed = model.renew(attempt);
                let is_ours = renewed || model.set(attempt);
                given += u64::from(is_ours && !renewed);
                assert_eq!(held.as_ref().map(|held| held.fence()), is_ours.then_some(given));
                numbers.extend(held.map(|held| held.fence()));
            }
            FencedOp::Write(at, losses) if !numbers.is_empty() => {
                let fence = *at.get(&numbers);
                let mut step = value.set(fence, format!("{fence}#{attempt}")).unwrap();
                let mut wrote = false;
                let outcome = persist(world, &mut model, &mut step, (losses, 0), |_| {
                    wrote |= fence > written;
                    written = written.max(fence);
                });
                wrote |= fence > written;
                written = written.max(fence);
                let expected =
                    if wrote { FencedWrite::Written } else { FencedWrite::Stale { seen: written } };
                assert_eq!(outcome, expected);
                if wrote {
                    assert_eq!(world.call(&["GET", "v:{p1}"]), format!("\"{fence}#{attempt}\""));
                }
            }
            FencedOp::Pause(ms) => {
                world.advance(*ms);
                model.now += ms;
            }
            FencedOp::Write(..) => {}
        }
    }
}
