//! Pub/sub: whoever listens when something is published gets it, whoever comes later does not; and the end of a key that
//! expires is published too, when the clock that the test holds gets there.

use moonkeep::Engine;
use std::error::Error;
use std::io::Write;
use std::time::Duration;

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let (mut cache, mut late, mut shop) = (engine.client(), engine.client(), engine.client());
    shop.call(["CONFIG", "SET", "notify-keyspace-events", "Ex"])?;

    let nobody: i64 = shop.query(["PUBLISH", "prices:p1", "100"])?;
    writeln!(out, "published before anybody listens, heard by {nobody}")?;
    cache.call(["PSUBSCRIBE", "prices:*", "__keyevent@0__:expired"])?;
    let heard: i64 = shop.query(["PUBLISH", "prices:p1", "120"])?;
    writeln!(out, "published, heard by {heard}")?;
    late.call(["SUBSCRIBE", "prices:p1"])?;
    writeln!(out, "who comes later has {} messages", u8::from(late.try_next_message()?.is_some()))?;

    shop.call(["SET", "offer:p1", "90", "EX", "60"])?;
    engine.advance(Duration::from_secs(60))?;
    shop.call(["PUBLISH", "prices:p1", "offer ends"])?;
    engine.advance(Duration::from_millis(1))?;
    while let Some(message) = cache.try_next_message()? {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        writeln!(out, "cache hears on {}: {}", text(message.channel()), text(message.payload()))?;
    }
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
