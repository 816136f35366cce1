//! An optimistic change with WATCH: who was overtaken between reading and EXEC changes nothing, reads anew and tries
//! again, a bounded number of times.

use moonkeep::{Client, Engine};
use std::error::Error;
use std::io::Write;

/// How often a change is tried.
const ATTEMPTS: u32 = 3;

/// Adds ten per cent to a balance. `between` happens after it was read.
fn add_interest(
    client: &mut Client,
    key: &str,
    mut between: impl FnMut(u32) -> Result<(), moonkeep::Error>,
) -> Result<Option<(i64, u32)>, moonkeep::Error> {
    for attempt in 1..=ATTEMPTS {
        client.call(["WATCH", key])?;
        let balance: i64 = client.query(["GET", key])?;
        let more = balance + balance / 10;
        between(attempt)?;
        client.call(["MULTI"])?;
        client.call(["SET", key, &more.to_string()])?;
        // Null when the key was touched since WATCH.
        if client.query::<Option<Vec<String>>, _>(["EXEC"])?.is_some() {
            return Ok(Some((more, attempt)));
        }
    }
    Ok(None)
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let (mut bank, mut customer) = (engine.client(), engine.client());
    bank.call(["SET", "balance:{alice}", "1000"])?;

    let calm = add_interest(&mut bank, "balance:{alice}", |_| Ok(()))?;
    writeln!(out, "nobody comes between: {calm:?}")?;

    let overtaken = add_interest(&mut bank, "balance:{alice}", |attempt| {
        if attempt == 1 {
            customer.call(["INCRBY", "balance:{alice}", "100"])?;
        }
        Ok(())
    })?;
    writeln!(out, "alice pays in 100 between reading and EXEC: {overtaken:?}")?;

    let mut payments = 0;
    let given_up = add_interest(&mut bank, "balance:{alice}", |_| {
        payments += 1;
        customer.call(["INCRBY", "balance:{alice}", "1"]).map(|_| ())
    })?;
    let balance: i64 = bank.query(["GET", "balance:{alice}"])?;
    writeln!(out, "alice pays in 1 each time, {payments} times: {given_up:?}, and her balance is {balance}")?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
