//! One module as it stands in production, on the redis crate: tested in this process on a clock that is held, then run
//! against a real server, unchanged. `cargo run --features redis --example production_module -- redis://127.0.0.1/`
//! does both; without an address it is the first.

use std::error::Error;
use std::io::Write;

/// The module: it knows the redis crate and nothing of moonkeep.
mod reservations {
    use redis::{Commands, ConnectionLike, RedisResult, Script};

    /// What became of a reservation.
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) enum Reserved {
        /// So many are left.
        Yes { left: i64 },
        /// The same order has reserved already.
        Before,
        /// There are not enough.
        SoldOut { left: i64 },
    }

    /// Takes `quantity` of a product for an order, and notes the order in the same step.
    pub(crate) fn reserve(
        connection: &mut impl ConnectionLike,
        product: &str,
        order: &str,
        quantity: i64,
    ) -> RedisResult<Reserved> {
        let script = Script::new(
            "if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return {2, 0} end
             local left = tonumber(redis.call('GET', KEYS[1]) or '0')
             if left < tonumber(ARGV[2]) then return {0, left} end
             redis.call('SADD', KEYS[2], ARGV[1])
             return {1, redis.call('DECRBY', KEYS[1], ARGV[2])}",
        );
        let stock = format!("stock:{{{product}}}");
        let orders = format!("orders:{{{product}}}");
        let mut call = script.key(stock);
        let (what, left): (i64, i64) = call.key(orders).arg(order).arg(quantity).invoke(connection)?;
        Ok(match what {
            1 => Reserved::Yes { left },
            2 => Reserved::Before,
            _ => Reserved::SoldOut { left },
        })
    }

    /// Puts a product on offer for a while; the old price comes back by itself.
    pub(crate) fn offer(
        connection: &mut impl ConnectionLike,
        product: &str,
        price: u32,
        ms: u64,
    ) -> RedisResult<()> {
        connection.pset_ex(format!("offer:{{{product}}}"), price, ms)
    }

    /// The price of a product, and how long it still holds.
    pub(crate) fn price(
        connection: &mut impl ConnectionLike,
        product: &str,
        usual: u32,
    ) -> RedisResult<(u32, bool)> {
        let offered: Option<u32> = connection.get(format!("offer:{{{product}}}"))?;
        Ok((offered.unwrap_or(usual), offered.is_some()))
    }
}

/// What the module does, on whatever it is given.
fn tour(out: &mut dyn Write, connection: &mut impl redis::ConnectionLike) -> Result<(), Box<dyn Error>> {
    use redis::Commands;
    let () = connection.del(&["stock:{p1}", "orders:{p1}", "offer:{p1}"])?;
    let () = connection.set("stock:{p1}", 3)?;
    for (order, quantity) in [("O41", 2), ("O41", 2), ("O42", 2), ("O43", 1)] {
        let reserved = reservations::reserve(connection, "p1", order, quantity)?;
        writeln!(out, "  {order} reserves {quantity}: {reserved:?}")?;
    }
    reservations::offer(connection, "p1", 90, 60_000)?;
    writeln!(out, "  price while on offer: {:?}", reservations::price(connection, "p1", 120)?)?;
    let () = connection.del("orders:{p1}")?;
    Ok(())
}

pub(crate) fn run(out: &mut dyn Write, address: Option<&str>) -> Result<(), Box<dyn Error>> {
    writeln!(out, "in this process:")?;
    let engine = moonkeep::Engine::new();
    let mut connection = moonkeep::redis::Connection::new(engine.client());
    tour(out, &mut connection)?;
    // What only a test can do: a minute passes in no time, and not a millisecond more than was said.
    engine.advance(std::time::Duration::from_millis(60_000))?;
    writeln!(out, "  price a minute later: {:?}", reservations::price(&mut connection, "p1", 120)?)?;
    engine.advance(std::time::Duration::from_millis(1))?;
    writeln!(out, "  and a millisecond after that: {:?}", reservations::price(&mut connection, "p1", 120)?)?;
    if let Some(address) = address {
        writeln!(out, "on a server:")?;
        tour(out, &mut redis::Client::open(address)?.get_connection()?)?;
    }
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout(), std::env::args().nth(1).as_deref())
}
