//! Embed in unit tests: a rate limit of three calls a minute, tested without a server and without sleeping. What lies
//! between two calls is moved on by hand, each test has an engine of its own, and a state can be gone back to.

use moonkeep::{Client, Engine, Script};
use std::error::Error;
use std::io::Write;
use std::time::Duration;

/// The code under test: may this user call once more?
fn may_call(client: &mut Client, user: &str) -> Result<bool, moonkeep::Error> {
    const LIMIT: i64 = 3;
    let script = Script::new(
        "local calls = redis.call('INCR', KEYS[1])
         if calls == 1 then redis.call('EXPIRE', KEYS[1], 60) end
         return calls",
    );
    Ok(script.key(format!("calls:{user}")).run::<i64>(client)? <= LIMIT)
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let mut client = engine.client();

    let answers = (0..4).map(|_| may_call(&mut client, "alice")).collect::<Result<Vec<_>, _>>()?;
    writeln!(out, "four calls in one instant: {answers:?}")?;
    writeln!(out, "another user is not held up: {}", may_call(&mut client, "bob")?)?;

    let full = engine.snapshot()?;
    engine.advance(Duration::from_secs(60))?;
    writeln!(out, "in the last instant of the minute: {}", may_call(&mut client, "alice")?)?;
    engine.advance(Duration::from_millis(1))?;
    writeln!(out, "a millisecond later: {}", may_call(&mut client, "alice")?)?;

    for change in full.diff(&engine.snapshot()?) {
        writeln!(out, "changed since: {change}")?;
    }
    engine.restore(&full)?;
    writeln!(out, "back in the full minute: {}", may_call(&mut client, "alice")?)?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
