//! Scenarios with their exact outcomes, generic over the world they run in.

use super::faults;
use super::models;
use super::worlds::{Fate, Lost, World};
use moonkeep::patterns::{
    Acquire, Decreased, Error, FencedHeld, FencedLease, FencedValue, FencedWrite, Held, Lease, Refusal,
    Resend, SeededTokens, Step, Stock, Tokens,
};
use std::time::Duration;

const LOCK: &str = "lock:{p1}";

type Scenario<W> = (&'static str, fn(&mut W));

pub(crate) fn all<W: World>() -> Vec<Scenario<W>> {
    vec![
        ("a stock is taken from while it lasts", stock_is_taken_from),
        ("a stock that is none is refused", stock_that_is_none),
        ("a lease ends by itself", lease_ends_by_itself),
        ("renewing looks at token and time", renewing),
        ("the reply to acquire is lost", acquire_reply_lost),
        ("the request to acquire is lost", acquire_request_lost),
        ("the retry comes too late", retry_too_late),
        ("the replies to renew and release are lost", renew_and_release_lost),
        ("holders are numbered", holders_are_numbered),
        ("a numbered acquire is sent again", fenced_acquire_again),
        ("a counter that is none is refused", counter_that_is_none),
        ("a counter falls back", counter_falls_back),
        ("late writes are refused", late_writes),
        ("a numbered write is sent again", fenced_write_again),
        ("other errors keep their text", other_errors),
        ("the scripts refuse what the types never send", scripts_refuse),
        ("every loss and every forgotten script", faults::every_loss),
        ("keys of any bytes", faults::keys_of_any_bytes),
        ("keys of other types", faults::keys_of_other_types),
        ("a counter at its end", faults::counter_at_its_end),
        ("random histories of a lease", models::lease),
        ("random histories of a stock", models::stock),
        ("random histories of a numbered lease", models::fenced),
    ]
}

pub(crate) fn lease_of(ms: u64) -> Lease {
    Lease::new(LOCK, Duration::from_millis(ms)).expect("a time within the bounds")
}

fn attempts(seed: u64) -> impl FnMut(&Lease) -> Acquire {
    let mut tokens = SeededTokens::new(seed);
    move |lease| lease.acquire(tokens.token().expect("a seeded generator never runs dry"))
}

fn held<W: World>(world: &mut W, acquire: Acquire) -> Held {
    world.run(acquire).expect("no call fails").expect("the lease is free")
}

fn stock_is_taken_from<W: World>(world: &mut W) {
    let stock = Stock::new("stock:{p1}");
    let decrease = |world: &mut W, n| world.run(stock.decrease(n).unwrap());
    assert_eq!(world.run(stock.set(10).unwrap()), Ok(()));
    assert_eq!(decrease(world, 3), Ok(Decreased::Taken { left: 7 }));
    assert_eq!(decrease(world, 8), Ok(Decreased::Short { left: 7 }));
    assert_eq!(decrease(world, 7), Ok(Decreased::Taken { left: 0 }));
    assert_eq!(decrease(world, 1), Ok(Decreased::Short { left: 0 }));
    assert_eq!(world.run(stock.left()), Ok(0));
    assert_eq!(world.run(stock.set(1_000_000_000).unwrap()), Ok(()));
    assert_eq!(decrease(world, 1_000_000_000), Ok(Decreased::Taken { left: 0 }));
    assert_eq!(world.call(&["GET", "stock:{p1}"]), "\"0\"");
}

/// S26.
fn stock_that_is_none<W: World>(world: &mut W) {
    let stock = Stock::new("s");
    let both = |world: &mut W| {
        let decreased = world.run(stock.decrease(1).unwrap()).unwrap_err();
        (decreased, world.run(stock.left()).unwrap_err())
    };
    let invalid = || Error::Refused(Refusal::StockInvalid);
    assert_eq!(both(world), (invalid(), invalid()), "missing");
    for text in ["", "-1", "07", "1.5", "ten", "1000000001", "99999999999999999999", " 1"] {
        world.call(&["SET", "s", text]);
        assert_eq!(both(world), (invalid(), invalid()), "{text:?}");
        assert_eq!(world.call(&["STRLEN", "s"]), format!("(integer) {}", text.len()));
    }
    world.call(&["DEL", "s"]);
    world.call(&["RPUSH", "s", "x"]);
    let (decreased, left) = both(world);
    assert_eq!(decreased.refusal().unwrap().code(), Some("WRONGTYPE"));
    assert_eq!(left.refusal().unwrap().code(), Some("WRONGTYPE"));
}

/// S43: five seconds of lease, a pause from the first to the seventh.
fn lease_ends_by_itself<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(5000), attempts(1));
    let ours = held(world, attempt(&lease));
    assert_eq!(world.call(&["GET", LOCK]), format!("\"{}\"", ours.token()));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");
    assert!(world.run(attempt(&lease)).unwrap().is_none());
    world.advance(5000);
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 0");
    assert!(world.run(attempt(&lease)).unwrap().is_none(), "its last millisecond");
    assert_eq!(world.run(ours.renew()), Ok(false), "its last millisecond");
    world.advance(1);
    let theirs = held(world, attempt(&lease));
    world.advance(1999);
    assert_eq!(world.run(ours.renew()), Ok(false));
    assert_eq!(world.run(ours.release()), Ok(false));
    assert_eq!(world.call(&["GET", LOCK]), format!("\"{}\"", theirs.token()));
    assert_eq!(world.run(theirs.renew()), Ok(true));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");
    assert_eq!(world.run(theirs.release()), Ok(true));
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0");
}

/// S42.
fn renewing<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(10_000), attempts(2));
    let ours = held(world, attempt(&lease));
    world.advance(1000);
    assert_eq!(world.run(ours.renew_for(Duration::from_millis(20_000)).unwrap()), Ok(true));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 20000");
    assert_eq!(world.run(ours.renew_for(Duration::from_millis(1)).unwrap()), Ok(true), "it may be shorter");
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 1");
    let theirs = lease.held_with(SeededTokens::new(12).token().unwrap());
    assert_eq!(world.run(theirs.renew()), Ok(false), "another one's token");
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 1");
    world.call(&["PERSIST", LOCK]);
    assert_eq!(world.run(ours.renew()), Ok(false), "a lock without an end is none of ours");
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) -1");
    world.call(&["PEXPIRE", LOCK, "40"]);
    world.advance(40);
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 0");
    assert_eq!(world.run(ours.renew()), Ok(false), "its last millisecond");
    world.advance(1);
    assert_eq!(world.run(ours.renew()), Ok(false));
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0", "and it is not made anew");
}

fn acquire_reply_lost<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(5000), attempts(3));
    let mut acquire = attempt(&lease);
    world.fates(&[Fate::ReplyLost]);
    assert_eq!(world.try_run(&mut acquire).unwrap_err(), Error::Call(Lost));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000", "it is held, and we do not know");
    world.advance(2000);
    // The script is not known yet either: the retry sends SET, EVALSHA and EVAL.
    let ours = world.try_run(&mut acquire).unwrap().expect("recognised as our own");
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000", "its whole time from now");
    assert!(world.run(attempt(&lease)).unwrap().is_none(), "another attempt has another token");

    let mut other = attempt(&lease);
    world.fates(&[Fate::ReplyLost]);
    assert!(world.try_run(&mut other).unwrap_err().is_call());
    assert!(world.try_run(&mut other).unwrap().is_none(), "somebody else's after all");
    assert_eq!(world.run(ours.release()), Ok(true));
}

fn acquire_request_lost<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(5000), attempts(4));
    let mut acquire = attempt(&lease);
    world.fates(&[Fate::RequestLost, Fate::RequestLost]);
    assert!(world.try_run(&mut acquire).is_err());
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0");
    assert!(world.try_run(&mut acquire).is_err());
    assert!(world.try_run(&mut acquire).unwrap().is_some());

    // Something below may have sent the command twice: told of it, the step recognises its own lease.
    world.call(&["DEL", LOCK]);
    let mut acquire = attempt(&lease);
    acquire.lost();
    let argv: Vec<String> = acquire.argv().iter().map(|word| String::from_utf8_lossy(word).into()).collect();
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    assert_eq!(world.call(&words), "OK");
    assert!(world.run(acquire).unwrap().is_some());
}

fn retry_too_late<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(5000), attempts(5));
    for (pause, is_ours) in [(4999, true), (5000, false), (5001, true)] {
        world.call(&["DEL", LOCK]);
        let mut acquire = attempt(&lease);
        world.fates(&[Fate::ReplyLost]);
        assert!(world.try_run(&mut acquire).is_err());
        world.advance(pause);
        assert_eq!(world.try_run(&mut acquire).unwrap().is_some(), is_ours, "after {pause} ms");
    }
    // Meanwhile it was over, and somebody else's.
    world.call(&["DEL", LOCK]);
    let mut acquire = attempt(&lease);
    world.fates(&[Fate::ReplyLost]);
    assert!(world.try_run(&mut acquire).is_err());
    world.advance(5001);
    let theirs = held(world, attempt(&lease));
    assert!(world.try_run(&mut acquire).unwrap().is_none());
    assert_eq!(world.call(&["GET", LOCK]), format!("\"{}\"", theirs.token()));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");
}

fn renew_and_release_lost<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(5000), attempts(6));
    let ours = held(world, attempt(&lease));
    world.advance(3000);
    let mut renew = ours.renew();
    // EVALSHA finds no script; the reply to EVAL is lost.
    world.fates(&[Fate::Arrives, Fate::ReplyLost]);
    assert_eq!(world.try_run(&mut renew), Err(Error::Call(Lost)));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");
    world.advance(1000);
    assert_eq!(world.try_run(&mut renew), Ok(true));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");

    let mut release = ours.release();
    world.fates(&[Fate::Arrives, Fate::ReplyLost]);
    assert_eq!(world.try_run(&mut release), Err(Error::Call(Lost)));
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0");
    assert_eq!(world.try_run(&mut release), Ok(false), "the first one did it");
}

fn fenced_of(ms: u64) -> FencedLease {
    lease_of(ms).fenced("fence:{p1}").expect("the same slot")
}

struct Holders {
    lease: FencedLease,
    tokens: SeededTokens,
}

impl Holders {
    fn new(seed: u64) -> Self {
        Holders { lease: fenced_of(5000), tokens: SeededTokens::new(seed) }
    }
    fn attempt(&mut self) -> moonkeep::patterns::AcquireFenced {
        self.lease.acquire(self.tokens.token().expect("a seeded generator never runs dry"))
    }
    fn next<W: World>(&mut self, world: &mut W) -> Result<Option<FencedHeld>, Error<Lost>> {
        world.run(self.attempt())
    }
}

fn holders_are_numbered<W: World>(world: &mut W) {
    let mut holders = Holders::new(7);
    let first = holders.next(world).unwrap().expect("it is free");
    assert_eq!(first.fence(), 1);
    assert_eq!(world.call(&["GET", LOCK]), format!("\"{}\"", first.held().token()));
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");
    assert!(holders.next(world).unwrap().is_none());
    assert_eq!(world.call(&["GET", "fence:{p1}"]), "\"1\"", "who gets no lease gets no number");
    assert_eq!(world.call(&["PTTL", "fence:{p1}"]), "(integer) -1");
    world.advance(5000);
    assert!(holders.next(world).unwrap().is_none(), "its last millisecond");
    world.advance(1);
    let second = holders.next(world).unwrap().expect("it is free");
    assert_eq!(second.fence(), 2);
    assert_eq!(world.run(first.renew()), Ok(false));
    assert_eq!(world.run(second.renew()), Ok(true));
    assert_eq!(world.run(first.release()), Ok(false));
    assert_eq!(world.run(second.release()), Ok(true));
    assert_eq!(holders.next(world).unwrap().expect("it is free").fence(), 3);
}

fn fenced_acquire_again<W: World>(world: &mut W) {
    let mut holders = Holders::new(8);
    world.call(&["SET", "fence:{p1}", "40"]);
    let mut acquire = holders.attempt();
    world.fates(&[Fate::Arrives, Fate::ReplyLost]);
    assert_eq!(world.try_run(&mut acquire).unwrap_err(), Error::Call(Lost));
    world.advance(2000);
    let first = world.try_run(&mut acquire).unwrap().expect("recognised as our own");
    assert_eq!(first.fence(), 41, "one number for one holder");
    assert_eq!(world.call(&["PTTL", LOCK]), "(integer) 5000");
    world.advance(5000);
    assert!(world.try_run(&mut acquire).unwrap().is_none(), "no time left");
    world.advance(1);
    assert_eq!(world.try_run(&mut acquire).unwrap().expect("it is free").fence(), 42);
}

fn counter_that_is_none<W: World>(world: &mut W) {
    let mut holders = Holders::new(9);
    let invalid = || Error::Refused(Refusal::FenceInvalid);
    for text in ["", "-1", "07", "1.5", "x", "9007199254740991", "9007199254740992", "99999999999999999999"] {
        world.call(&["SET", "fence:{p1}", text]);
        assert_eq!(holders.next(world).unwrap_err(), invalid(), "{text:?}");
        assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0", "refused before the lock is taken");
    }
    world.call(&["SET", "fence:{p1}", "9007199254740990"]);
    let last = holders.next(world).unwrap().expect("it is free");
    assert_eq!(last.fence(), 9_007_199_254_740_991);
    assert!(holders.next(world).unwrap().is_none(), "taken is told first");
    world.call(&["DEL", "fence:{p1}", LOCK]);
    world.call(&["RPUSH", "fence:{p1}", "x"]);
    let error = holders.next(world).unwrap_err();
    assert_eq!(error.refusal().unwrap().code(), Some("WRONGTYPE"));
    assert_eq!(world.call(&["EXISTS", LOCK]), "(integer) 0");
}

fn write<W: World>(world: &mut W, fence: u64, value: &str) -> FencedWrite {
    let stock = FencedValue::new("stock:{p1}", "seen:{p1}").expect("the same slot");
    world.run(stock.set(fence, value).unwrap()).expect("no call fails")
}

/// S50: a failover to a replica that missed the last numbers: one number, two holders. The lease cannot help it; what
/// accepts each number once lets only one of them write.
fn counter_falls_back<W: World>(world: &mut W) {
    let mut holders = Holders::new(10);
    world.call(&["SET", "fence:{p1}", "40"]);
    let first = holders.next(world).unwrap().expect("it is free");
    world.call(&["SET", "fence:{p1}", "40"]);
    world.call(&["DEL", LOCK]);
    let second = holders.next(world).unwrap().expect("it is free");
    assert_eq!((first.fence(), second.fence()), (41, 41));
    assert_eq!(write(world, second.fence(), "8"), FencedWrite::Written);
    assert_eq!(write(world, first.fence(), "9"), FencedWrite::Stale { seen: 41 });
    assert_eq!(world.call(&["GET", "stock:{p1}"]), "\"8\"");
}

/// S45.
fn late_writes<W: World>(world: &mut W) {
    world.call(&["MSET", "stock:{p1}", "10", "seen:{p1}", "40"]);
    assert_eq!(write(world, 41, "9"), FencedWrite::Written);
    assert_eq!(write(world, 42, "8"), FencedWrite::Written);
    assert_eq!(write(world, 41, "9"), FencedWrite::Stale { seen: 42 });
    assert_eq!(world.call(&["MGET", "stock:{p1}", "seen:{p1}"]), "1) \"8\"\n2) \"42\"");
    assert_eq!(write(world, 42, "7"), FencedWrite::Stale { seen: 42 }, "each number writes once");
    assert_eq!(write(world, 9_007_199_254_740_991, ""), FencedWrite::Written);
    assert_eq!(world.call(&["MGET", "stock:{p1}", "seen:{p1}"]), "1) \"\"\n2) \"9007199254740991\"");
    assert_eq!(write(world, 9_007_199_254_740_990, "x"), FencedWrite::Stale { seen: 9_007_199_254_740_991 });

    let stock = FencedValue::new("stock:{p1}", "seen:{p1}").unwrap();
    for text in ["", "x", "041", "-1", "9007199254740992"] {
        world.call(&["SET", "seen:{p1}", text]);
        let error = world.run(stock.set(1, "x").unwrap()).unwrap_err();
        assert_eq!(error, Error::Refused(Refusal::FenceInvalid), "{text:?}");
    }
    assert_eq!(world.call(&["GET", "stock:{p1}"]), "\"\"");
}

fn fenced_write_again<W: World>(world: &mut W) {
    let stock = FencedValue::new("stock:{p1}", "seen:{p1}").unwrap();
    let lost_then_again = |world: &mut W, fence, value, then: &mut dyn FnMut(&mut W)| {
        let mut set = stock.set(fence, value).unwrap();
        world.fates(&[Fate::Arrives, Fate::ReplyLost]);
        assert_eq!(world.try_run(&mut set), Err(Error::Call(Lost)));
        then(world);
        world.try_run(&mut set).unwrap()
    };
    let written = lost_then_again(world, 41, "9", &mut |_| ());
    assert_eq!(written, FencedWrite::Written, "the first one wrote it");
    world.call(&["SCRIPT", "FLUSH"]);
    let overtaken = lost_then_again(world, 42, "8", &mut |world| {
        assert_eq!(write(world, 43, "7"), FencedWrite::Written);
    });
    assert_eq!(overtaken, FencedWrite::Stale { seen: 43 });
    assert_eq!(world.call(&["GET", "stock:{p1}"]), "\"7\"");
    world.call(&["SCRIPT", "FLUSH"]);
    let other = lost_then_again(world, 43, "6", &mut |_| ());
    assert_eq!(other, FencedWrite::Stale { seen: 43 }, "this number wrote another value");

    // The reply to reading back is lost too, and meanwhile a later holder wrote.
    let mut set = stock.set(44, "5").unwrap();
    world.fates(&[Fate::ReplyLost, Fate::Arrives, Fate::ReplyLost]);
    assert_eq!(world.try_run(&mut set), Err(Error::Call(Lost)));
    assert_eq!(world.try_run(&mut set), Err(Error::Call(Lost)));
    assert_eq!(write(world, 45, "4"), FencedWrite::Written);
    assert_eq!(world.try_run(&mut set), Ok(FencedWrite::Stale { seen: 45 }));
}

fn other_errors<W: World>(world: &mut W) {
    let (lease, mut attempt) = (lease_of(5000), attempts(11));
    let stock = Stock::new("s");
    world.call(&["RPUSH", LOCK, "x"]);
    assert!(world.run(attempt(&lease)).unwrap().is_none(), "SET NX does not look at the type");
    let handed_over = lease.held_with(SeededTokens::new(11).token().unwrap());
    let error = world.run(handed_over.renew()).unwrap_err();
    assert_eq!(error.refusal().unwrap().code(), Some("WRONGTYPE"));
    assert!(
        error.to_string().starts_with("WRONGTYPE Operation against a key holding the wrong kind of value")
    );

    if !W::HAS_SESSION {
        return;
    }
    world.call(&["MULTI"]);
    let error = world.run(stock.left()).unwrap_err();
    assert_eq!(error.to_string(), "cannot read +QUEUED as a stock");
    assert_eq!(world.call(&["DISCARD"]), "OK");
}

/// The scripts stand alone too: each refusal comes before the first write.
fn scripts_refuse<W: World>(world: &mut W) {
    let acquire = include_str!("../../lua/acquire_fenced.lua");
    let set = include_str!("../../lua/fenced_set.lua");
    let mut refused = |script: &str, words: &[&str], text: &str| {
        let reply = world.call(&[&["EVAL", script], words].concat());
        assert_eq!(reply, format!("(error) {text}"), "{words:?}");
        assert_eq!(world.call(&["DBSIZE"]), "(integer) 0");
    };
    let expected = "Expected two keys, owner token and TTL";
    for words in
        [&["0"][..], &["1", "l", "t", "5"], &["2", "{p}l", "{p}f", "t"], &["2", "{p}l", "{p}f", "", "5"]]
    {
        refused(acquire, words, expected);
    }
    refused(acquire, &["2", "{p}l", "{p}f", "t", "5", "x"], expected);
    for ttl in ["", "-1", "1.5", " 1", "x"] {
        refused(acquire, &["2", "{p}l", "{p}f", "t", ttl], "TTL must be a positive bounded integer");
    }
    for ttl in ["0", "000", "604800001", "99999999999999999999"] {
        refused(acquire, &["2", "{p}l", "{p}f", "t", ttl], "Invalid TTL");
    }
    let expected = "Expected two keys, fence and value";
    for words in [
        &["0"][..],
        &["1", "v", "1", "x"],
        &["2", "{p}v", "{p}s", "1"],
        &["2", "{p}v", "{p}s", "1", "x", "y"],
    ] {
        refused(set, words, expected);
    }
    for fence in ["", "0", "-1", "01", "1.5", "1e3", "9007199254740992", "99999999999999999999"] {
        refused(set, &["2", "{p}v", "{p}s", fence, "x"], "Fence must be a positive bounded integer");
    }
}
