//! Each operation under each short sequence of losses, with the scripts forgotten at each place; and on keys that hold
//! something else, or have odd names.

use super::worlds::{Fate, World};
use moonkeep::ReplyRef;
use moonkeep::patterns::{
    Error, FencedValue, FencedWrite, Lease, Next, Refusal, Resend, SeededTokens, Step, Stock, Token, Tokens,
};
use std::time::Duration;

const LOCK: &str = "lock:{p}";
const COUNTER: &str = "fence:{p}";
const TTL_MS: u64 = 1000;

fn token(seed: u64) -> Token {
    SeededTokens::new(seed).token().expect("a seeded generator never runs dry")
}

fn lease() -> Lease {
    Lease::new(LOCK, Duration::from_millis(TTL_MS)).expect("a second")
}

/// A step that lets the server forget all scripts before its command with this number.
struct Forgetful<S> {
    step: S,
    sent: usize,
    forgets_at: usize,
    forgotten: bool,
}

/// SCRIPT FLUSH stands in for the command; what the command was is sent next.
impl<S: Resend> Step for Forgetful<S> {
    type Output = S::Output;

    fn argv(&self) -> Vec<&[u8]> {
        if self.sent == self.forgets_at && !self.forgotten {
            return vec![b"SCRIPT", b"FLUSH"];
        }
        self.step.argv()
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<S::Output>, Refusal> {
        if self.sent == self.forgets_at && !self.forgotten {
            self.forgotten = true;
            return Ok(Next::Send);
        }
        self.sent += 1;
        self.step.reply(reply)
    }
}

impl<S: Resend> Resend for Forgetful<S> {
    fn lost(&mut self) {
        self.step.lost();
    }
}

/// Sequences of up to three fates.
fn fates() -> Vec<Vec<Fate>> {
    const ALL: [Fate; 3] = [Fate::Arrives, Fate::RequestLost, Fate::ReplyLost];
    let mut sequences = vec![Vec::new()];
    for length in 0..3 {
        let longer: Vec<Vec<Fate>> = sequences
            .iter()
            .filter(|sequence| sequence.len() == length)
            .flat_map(|sequence| ALL.map(|fate| [&sequence[..], &[fate]].concat()))
            .collect();
        sequences.extend(longer);
    }
    sequences
}

/// Runs an operation under these losses until it is answered.
fn persist<W: World, S: Resend>(world: &mut W, step: S, fates: &[Fate], forgets_at: usize) -> S::Output {
    let mut step = Forgetful { step, sent: 0, forgets_at, forgotten: false };
    world.fates(fates);
    for _ in 0..=fates.len() {
        match world.try_run(&mut step) {
            Err(error) if error.is_call() => {}
            outcome => {
                world.fates(&[]);
                return outcome.unwrap_or_else(|error| panic!("{error:?}"));
            }
        }
    }
    panic!("as many losses as fates")
}

/// Whatever is lost, each operation is done once, and who asked for it knows.
pub(crate) fn every_loss<W: World>(world: &mut W) {
    for fates in fates() {
        for forgets_at in 0..3 {
            one_of_each(world, &fates, forgets_at);
        }
    }
}

fn one_of_each<W: World>(world: &mut W, fates: &[Fate], forgets_at: usize) {
    let what = format!("{fates:?}, scripts forgotten before command {forgets_at}");
    let lost = fates.contains(&Fate::ReplyLost);
    world.reset();
    let held = persist(world, lease().acquire(token(1)), fates, forgets_at).expect("it is free");
    assert_eq!(world.call(&["GET", LOCK]), format!("\"{}\"", token(1).as_str()), "{what}");
    assert!(persist(world, lease().acquire(token(2)), fates, forgets_at).is_none(), "{what}");
    world.advance(10);
    assert!(persist(world, held.renew(), fates, forgets_at), "{what}");
    assert_eq!(world.call(&["PTTL", LOCK]), format!("(integer) {TTL_MS}"), "{what}");
    let released = persist(world, held.release(), fates, forgets_at);
    assert!(released || lost, "{what}");
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0", "{what}");

    let fenced = lease().fenced(COUNTER).expect("the same slot");
    let held = persist(world, fenced.acquire(token(3)), fates, forgets_at).expect("it is free");
    assert_eq!(held.fence(), 1, "{what}");
    assert_eq!(world.call(&["GET", COUNTER]), "\"1\"", "{what}");
    assert!(persist(world, fenced.acquire(token(4)), fates, forgets_at).is_none(), "{what}");
    let value = FencedValue::new("v:{p}", "seen:{p}").expect("the same slot");
    let written = persist(world, value.set(1, "one").expect("a fence"), fates, forgets_at);
    assert_eq!(written, FencedWrite::Written, "{what}");
    let again = persist(world, value.set(1, "other").expect("a fence"), fates, forgets_at);
    assert_eq!(again, FencedWrite::Stale { seen: 1 }, "{what}");
    assert_eq!(world.call(&["MGET", "v:{p}", "seen:{p}"]), "1) \"one\"\n2) \"1\"", "{what}");
}

pub(crate) fn keys_of_any_bytes<W: World>(world: &mut W) {
    let names: [(&[u8], &[u8]); 5] = [
        (b"{x}", b"{x}:2"),
        (b"\xff{\x00\r\n}", b"{\x00\r\n}"),
        (b"{a b}\"'", b"$1{a b}"),
        (b"{}{z}", b"{}{z}"),
        (b"", b""),
    ];
    for (key, counter) in names {
        world.reset();
        let lease = Lease::new(key, Duration::from_millis(TTL_MS)).expect("a second");
        let held = world.run(lease.acquire(token(5))).expect("no call fails").expect("it is free");
        assert_eq!(world.run(held.renew()), Ok(true));
        assert_eq!(world.run(held.release()), Ok(true));
        let stock = Stock::new(key);
        assert_eq!(world.run(stock.set(3).expect("a stock")), Ok(()));
        assert_eq!(world.run(stock.left()), Ok(3));
        assert_eq!(world.call(&["DBSIZE"]), "(integer) 1");
        world.call(&["FLUSHALL"]);
        let Ok(fenced) = lease.fenced(counter) else { continue };
        let held = world.run(fenced.acquire(token(6))).expect("no call fails").expect("it is free");
        assert_eq!((held.fence(), world.call(&["DBSIZE"])), (1, "(integer) 2".into()));
    }
}

fn code<T: std::fmt::Debug, E>(outcome: Result<T, Error<E>>) -> Option<String> {
    let Err(error) = outcome else { return None };
    Some(error.refusal().map_or("no refusal".into(), |refusal| refusal.code().unwrap_or("none").to_owned()))
}

pub(crate) fn keys_of_other_types<W: World>(world: &mut W) {
    let wrong = || Some("WRONGTYPE".to_owned());
    for make in [["RPUSH", "K", "x"], ["SADD", "K", "x"]] {
        world.reset();
        let on = |world: &mut W, key: &str| {
            world.call(&["FLUSHALL"]);
            world.call(&make.map(|word| if word == "K" { key } else { word }));
        };
        on(world, LOCK);
        assert!(world.run(lease().acquire(token(7))).expect("no error").is_none(), "somebody's");
        let held = lease().held_with(token(7));
        assert_eq!(code(world.run(held.renew())), wrong());
        assert_eq!(code(world.run(held.release())), wrong());
        let fenced = lease().fenced(COUNTER).expect("the same slot");
        assert_eq!(code(world.run(fenced.acquire(token(8)))), wrong());
        assert_eq!(world.call(&["EXISTS", COUNTER]), "(integer) 0");
        on(world, COUNTER);
        assert_eq!(code(world.run(fenced.acquire(token(8)))), wrong());
        assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0");
        let value = FencedValue::new("v:{p}", "seen:{p}").expect("the same slot");
        on(world, "seen:{p}");
        assert_eq!(code(world.run(value.set(1, "x").expect("a fence"))), wrong());
        assert_eq!(world.call(&["EXISTS", "v:{p}"]), "(integer) 0");
        on(world, "v:{p}");
        assert_eq!(world.run(value.set(1, "x").expect("a fence")), Ok(FencedWrite::Written));
        assert_eq!(world.call(&["TYPE", "v:{p}"]), "string");
    }
}

pub(crate) fn counter_at_its_end<W: World>(world: &mut W) {
    let fenced = lease().fenced(COUNTER).expect("the same slot");
    let value = FencedValue::new("v:{p}", "seen:{p}").expect("the same slot");
    let last: u64 = (1 << 53) - 1;
    let invalid = || Error::Refused(Refusal::FenceInvalid);
    world.call(&["SET", COUNTER, &(last - 1).to_string()]);
    let held = world.run(fenced.acquire(token(9))).expect("no error").expect("it is free");
    assert_eq!(held.fence(), last);
    assert_eq!(world.run(value.set(held.fence(), "x").expect("a fence")), Ok(FencedWrite::Written));
    assert_eq!(world.run(value.set(last, "y").expect("a fence")), Ok(FencedWrite::Stale { seen: last }));
    assert_eq!(world.run(value.set(last - 1, "y").expect("a fence")), Ok(FencedWrite::Stale { seen: last }));
    assert!(world.run(fenced.acquire(token(10))).expect("no error").is_none(), "held, whatever the counter");
    assert_eq!(world.run(held.release()), Ok(true));
    assert_eq!(world.run(fenced.acquire(token(10))).map(|_| ()), Err(invalid()));
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0");
    for text in ["9007199254740992", "9007199254740993", "18014398509481984", "-0", "1e15", "0x1", ""] {
        world.call(&["SET", COUNTER, text]);
        assert_eq!(world.run(fenced.acquire(token(10))).map(|_| ()), Err(invalid()), "{text:?}");
        world.call(&["SET", "seen:{p}", text]);
        assert_eq!(world.run(value.set(1, "x").expect("a fence")), Err(invalid()), "{text:?}");
    }
}
