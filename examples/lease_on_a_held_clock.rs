//! A lease on a clock that the test holds: A is paused for longer than its lease lasts, B takes it meanwhile, and A can
//! neither renew nor release what is B's.

use moonkeep::Engine;
use moonkeep::patterns::{Lease, SeededTokens, Step, Tokens};
use std::error::Error;
use std::io::Write;
use std::time::Duration;

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let (mut a, mut b) = (engine.client(), engine.client());
    let mut tokens = SeededTokens::new(7);
    let lease = Lease::new("lock:{p1}", Duration::from_secs(5))?;
    let start_ms = engine.now_ms()?;
    let mut say = |text: &str| -> Result<(), Box<dyn Error>> {
        let at = Duration::from_millis(u64::try_from(engine.now_ms()? - start_ms)?);
        Ok(writeln!(out, "{:5.3} s  {text}", at.as_secs_f64())?)
    };

    let of_a = lease.acquire(tokens.token()?).run(&mut a)?.expect("nobody holds it");
    say("A has the lease for 5 s")?;
    engine.advance(Duration::from_secs(1))?;
    let refused = lease.acquire(tokens.token()?).run(&mut b)?.is_none();
    say(&format!("B wants it: {}; now A is paused", if refused { "refused" } else { "taken" }))?;

    engine.advance(Duration::from_millis(4001))?;
    let of_b = lease.acquire(tokens.token()?).run(&mut b)?.expect("that of A is over");
    say("B has it, for that of A is over")?;

    engine.advance(Duration::from_millis(1999))?;
    say("A goes on")?;
    say(&format!("A renews: {}", of_a.renew().run(&mut a)?))?;
    say(&format!("A releases: {}", of_a.release().run(&mut a)?))?;
    let holder: String = a.query(["GET", "lock:{p1}"])?;
    say(&format!("B still holds it: {}", holder == of_b.token()))?;
    say(&format!("B releases: {}", of_b.release().run(&mut b)?))?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
