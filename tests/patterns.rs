//! The patterns: the same scenarios on an engine and on the reference server, blocking and not; random histories
//! against naive models; what a step sends, by hand.

#[path = "patterns/faults.rs"]
mod faults;
#[path = "patterns/models.rs"]
mod models;
#[path = "patterns/scenarios.rs"]
mod scenarios;
#[path = "patterns/schedules.rs"]
mod schedules;
#[path = "patterns/worlds.rs"]
mod worlds;

use moonkeep::patterns::{
    Decreased, FenceError, FencedValue, Lease, Next, Refusal, Resend, RunScript, SeededTokens, Step, Stock,
    Tokens,
};
use moonkeep::{Client, Engine, Loss, ReplyRef, Script};
use std::time::Duration;
use worlds::{OnEngine, World};

/// Every scenario and every random history on one world.
fn all_on(mut world: impl World) {
    for (name, scenario) in scenarios::all() {
        println!("{name}");
        world.reset();
        scenario(&mut world);
    }
}

#[test]
fn scenarios_on_an_engine() {
    all_on(OnEngine::<true>::default());
}

#[test]
fn scenarios_on_an_engine_without_blocking() {
    all_on(OnEngine::<false>::default());
}

#[cfg(feature = "redis")]
#[test]
fn scenarios_on_a_server() {
    if let Some(world) = worlds::OnServer::or_skip("scenarios_on_a_server") {
        all_on(world);
    }
}

#[cfg(feature = "redis-aio")]
#[test]
fn scenarios_on_a_server_without_blocking() {
    if let Some(world) = worlds::OnServerAsync::or_skip("scenarios_on_a_server_without_blocking") {
        all_on(world);
    }
}

/// The keys of the scenarios lie in slots of different nodes, and commands without keys go to all of them.
#[cfg(feature = "redis")]
#[test]
fn scenarios_on_a_cluster() {
    if let Some(world) = worlds::OnCluster::or_skip("scenarios_on_a_cluster") {
        all_on(world);
    }
}

fn words(step: &impl Step) -> Vec<String> {
    step.argv().iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[test]
fn acquire_by_hand() {
    let lease = Lease::new("lock", Duration::from_millis(5000)).unwrap();
    let mut acquire = lease.acquire(SeededTokens::new(7).token().unwrap());
    let token = SeededTokens::new(7).token().unwrap();
    let set = ["SET", "lock", token.as_str(), "NX", "PX", "5000"];
    assert_eq!(words(&acquire), set);
    assert!(matches!(acquire.reply(ReplyRef::Nil), Ok(Next::Done(None))), "one command tells");

    acquire.lost();
    assert_eq!(words(&acquire), set);
    assert!(matches!(acquire.reply(ReplyRef::Nil), Ok(Next::Send)));
    let renew = Script::new(include_str!("../lua/renew_lock.lua"));
    assert_eq!(words(&acquire), ["EVALSHA", renew.sha(), "1", "lock", token.as_str(), "5000"]);
    let no_script = ReplyRef::Error(b"NOSCRIPT No matching script. Please use EVAL.");
    assert!(matches!(acquire.reply(no_script), Ok(Next::Send)));
    assert_eq!(words(&acquire)[..3], ["EVAL", std::str::from_utf8(renew.source()).unwrap(), "1"]);
    let again = acquire.reply(no_script).unwrap_err();
    assert_eq!(again.code(), Some("NOSCRIPT"), "a script that replies so itself asks for nothing");
}

#[test]
fn tokens_have_160_bits_and_show_few() {
    let mut tokens = SeededTokens::new(7);
    let (first, second) = (tokens.token().unwrap(), tokens.token().unwrap());
    assert_eq!(first.as_str(), "5a76f94ef7fa58b3d22c484f963d5c4796792c95");
    assert_ne!(first, second);
    assert_eq!(format!("{first:?}"), format!("Token({}...)", &first.as_str()[..8]));
}

#[test]
fn numbers_out_of_bounds_are_not_sent() {
    let stock = Stock::new("s");
    for (n, text) in [(0, "0"), (1_000_000_001, "1000000001"), (u64::MAX, "18446744073709551615")] {
        let error = stock.decrease(n).unwrap_err();
        assert_eq!(error.to_string(), format!("quantity is {text}, it must be from 1 to 1000000000"));
        assert_eq!(error.bounds(), (1, 1_000_000_000));
    }
    assert_eq!(
        stock.set(1_000_000_001).unwrap_err().to_string(),
        "stock is 1000000001, it must be from 0 to 1000000000"
    );
    for (ttl, text) in [
        (Duration::ZERO, "0"),
        (Duration::from_micros(999), "0"),
        (Duration::from_millis(604_800_001), "604800001"),
        (Duration::MAX, "18446744073709551615999"),
    ] {
        let error = Lease::new("lock", ttl).unwrap_err();
        let expected = format!("time in milliseconds is {text}, it must be from 1 to 604800000");
        assert_eq!(error.to_string(), expected);
    }
    assert!(Lease::new("lock", Duration::from_millis(604_800_000)).is_ok());
    let value = FencedValue::new("v", "{v}:seen").unwrap();
    assert!(value.set(0, "").is_err());
    assert!(value.set(1 << 53, "").is_err());
}

#[test]
fn keys_in_different_slots_are_refused() {
    let lease = Lease::new("lock:{p1}", Duration::from_secs(5)).unwrap();
    assert_eq!(lease.fenced("fence:p1"), Err(FenceError::DifferentSlots));
    assert!(lease.fenced("fence:{p1}").is_ok());
    assert_eq!(FencedValue::new("a", "b"), Err(FenceError::DifferentSlots));
}

#[test]
fn any_script_runs_as_a_step() {
    let mut client = Engine::new().client();
    let script = Script::new("return {KEYS[1], ARGV[1], #KEYS}");
    let reply = RunScript::new(script.key("k").arg("a")).run(&mut client).unwrap();
    assert_eq!(reply.to_string(), "1) \"k\"\n2) \"a\"\n3) (integer) 1");
    let failing = Script::new("return redis.error_reply('MY own')");
    let error = RunScript::new(failing.call()).run(&mut client).unwrap_err();
    assert_eq!(error.refusal(), Some(&Refusal::Reply(b"MY own".to_vec())));
}

#[test]
fn failures_fit_into_the_one_error() {
    fn sell(client: &mut Client, quantity: u64) -> Result<Decreased, moonkeep::Error> {
        Ok(Stock::new("s").decrease(quantity)?.run(client)?)
    }
    let engine = Engine::new();
    let mut client = engine.client();
    let out_of_bounds = sell(&mut client, 0).unwrap_err();
    assert!(out_of_bounds.is_usage());
    let missing = sell(&mut client, 1).unwrap_err();
    assert_eq!(missing.reply_text(), Some(b"Stock is missing or invalid".as_slice()));
    client.call(["RPUSH", "s", "x"]).unwrap();
    assert_eq!(sell(&mut client, 1).unwrap_err().code(), Some("WRONGTYPE"));
    client.call(["MULTI"]).unwrap();
    assert!(sell(&mut client, 1).unwrap_err().is_conversion());
    engine.lose(Loss::Requests).unwrap();
    assert!(sell(&mut client, 1).unwrap_err().is_connection_lost());
}

/// A step on a connection can be spawned on an executor with threads.
#[test]
fn futures_can_move_between_threads() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let mut client = Engine::new().client();
    let stock = Stock::new("s");
    drop(assert_send(stock.set(3).unwrap().run_async(&mut client)));
    let lease = Lease::new("lock", Duration::from_secs(5)).unwrap();
    let mut acquire = lease.acquire(SeededTokens::new(7).token().unwrap());
    drop(assert_send(acquire.try_run_async(&mut client)));
}

/// The same of a connection of the redis crate, and of one to a cluster: this is never called.
#[cfg(feature = "redis-aio")]
#[allow(dead_code, reason = "compiling it is the test")]
fn futures_on_connections(mut connection: moonkeep::patterns::Redis<redis::aio::MultiplexedConnection>) {
    fn assert_send<T: Send>(_: &T) {}
    assert_send(&Stock::new("s").left().run_async(&mut connection));
}

#[test]
fn one_key_does_not_serve_for_two_things() {
    let lease = Lease::new("lock", Duration::from_secs(5)).unwrap();
    assert_eq!(lease.fenced("lock"), Err(FenceError::SameKey));
    assert_eq!(FencedValue::new("", ""), Err(FenceError::SameKey));
    assert_eq!(
        FencedValue::new("v", "v").unwrap_err().to_string(),
        "both keys are the same: each holds something of its own"
    );
    assert!(FencedValue::new("", "{}").is_err(), "other slots");
}
