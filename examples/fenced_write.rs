//! A fenced write: the end of a lease does not stop the one who held it. Each holder gets a number that only grows, and
//! what is written keeps the highest it has seen, so that a holder who comes late writes nothing.

use moonkeep::Engine;
use moonkeep::patterns::{FencedValue, FencedWrite, Lease, SeededTokens, Step, Tokens};
use std::error::Error;
use std::io::Write;
use std::time::Duration;

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let (mut a, mut b) = (engine.client(), engine.client());
    let mut tokens = SeededTokens::new(7);
    // Forty holders came before, and left a stock of 10.
    a.call(["MSET", "fence:{p1}", "40", "stock:{p1}", "10", "stock:{p1}:seen", "40"])?;
    let lease = Lease::new("lock:{p1}", Duration::from_secs(5))?.fenced("fence:{p1}")?;
    let stock = FencedValue::new("stock:{p1}", "stock:{p1}:seen")?;

    let of_a = lease.acquire(tokens.token()?).run(&mut a)?.expect("nobody holds it");
    let written = stock.set(of_a.fence(), "9")?.run(&mut a)?;
    writeln!(out, "A is holder {} and writes 9: {written:?}", of_a.fence())?;

    engine.advance(Duration::from_millis(5001))?;
    let of_b = lease.acquire(tokens.token()?).run(&mut b)?.expect("that of A is over");
    let written = stock.set(of_b.fence(), "8")?.run(&mut b)?;
    writeln!(out, "A is paused until its lease is over")?;
    writeln!(out, "B is holder {} and writes 8: {written:?}", of_b.fence())?;

    let late = stock.set(of_a.fence(), "9")?.run(&mut a)?;
    writeln!(out, "A goes on and writes 9 once more: {late:?}")?;
    assert_eq!(late, FencedWrite::Stale { seen: of_b.fence() });
    writeln!(out, "the stock is {}", a.query::<i64, _>(["GET", "stock:{p1}"])?)?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
