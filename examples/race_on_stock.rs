//! A race on stock: two buyers who read, subtract and write lose a sale in most orders of their steps; a script that
//! checks and subtracts in one loses none. All orders are tried, each on a fork of the same state.

use moonkeep::{Client, Engine, Script};
use std::error::Error;
use std::io::Write;

/// Every order of two steps of each of two buyers.
const ORDERS: [&str; 6] = ["AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA"];

/// A buyer who does not trust the server to subtract.
struct Buyer {
    client: Client,
    read: Option<i64>,
}

impl Buyer {
    fn step(&mut self) -> Result<(), moonkeep::Error> {
        match self.read.take() {
            None => self.read = Some(self.client.query(["GET", "stock:{p1}"])?),
            Some(stock) => {
                self.client.call(["SET", "stock:{p1}", &(stock - 1).to_string()])?;
            }
        }
        Ok(())
    }
}

/// What is left of 10 when both have bought one.
fn left_after(engine: &Engine, order: &str) -> Result<i64, moonkeep::Error> {
    let engine = engine.fork()?;
    let mut buyers = ['A', 'B'].map(|_| Buyer { client: engine.client(), read: None });
    for who in order.bytes() {
        buyers[usize::from(who - b'A')].step()?;
    }
    engine.client().query(["GET", "stock:{p1}"])
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["SET", "stock:{p1}", "10"])?;
    writeln!(out, "two buyers, each reads 10 and writes one less:")?;
    for order in ORDERS {
        let left = left_after(&engine, order)?;
        writeln!(out, "  {order}: {left} left{}", if left == 8 { "" } else { ", a sale is lost" })?;
    }

    // What stands for a script in production stands here for it: the same file.
    let decrease = Script::new(include_str!("../lua/decrease_stock.lua")).checked()?;
    client.call(["SET", "stock:{p1}", "1"])?;
    writeln!(out, "one is left, and a script checks and subtracts in one:")?;
    for buyer in ["A", "B"] {
        let (sold, left): (i64, i64) = decrease.key("stock:{p1}").arg(1).run(&mut client)?;
        writeln!(out, "  {buyer}: {}, {left} left", if sold == 1 { "sold" } else { "sold out" })?;
    }
    let error = decrease.key("stock:{none}").arg(1).run::<(i64, i64)>(&mut client).unwrap_err();
    writeln!(out, "a stock that is not there is not zero: {error}")?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
