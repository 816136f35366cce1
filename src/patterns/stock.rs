//! A stock: a number that is taken from while it lasts and never sold below zero. The decision is lua/decrease_stock.lua.

use super::error::{OutOfBounds, Refusal};
use super::script::{DECREASE_STOCK, RunScript, with_number};
use super::step::{Next, Step};
use crate::reply::ReplyRef;

/// The greatest stock and the greatest quantity.
const MOST: u64 = 1_000_000_000;

/// The stock under a key: a number from 0 to 1000000000.
///
/// ```
/// use moonkeep::Engine;
/// use moonkeep::patterns::{Decreased, Step, Stock};
/// let mut client = Engine::new().client();
/// let stock = Stock::new("stock:{p1}");
/// stock.set(10)?.run(&mut client)?;
/// match stock.decrease(3)?.run(&mut client)? {
///     Decreased::Taken { left } => assert_eq!(left, 7),
///     Decreased::Short { left } => panic!("only {left}"),
/// }
/// assert_eq!(stock.left().run(&mut client)?, 7);
/// assert_eq!(stock.decrease(0).unwrap_err().to_string(), "quantity is 0, it must be from 1 to 1000000000");
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stock {
    key: Vec<u8>,
}

/// What came of taking from a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a short stock gave nothing"]
pub enum Decreased {
    /// The quantity was taken.
    Taken {
        /// What is left after it.
        left: u64,
    },
    /// The stock has less than the quantity; nothing was taken.
    Short {
        /// What there is.
        left: u64,
    },
}

impl Stock {
    /// The stock under this key.
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Stock { key: key.into() }
    }
    /// Takes a quantity, if the stock has it.
    ///
    /// It is sent once: after [`Error::Call`](super::Error::Call) nobody knows whether the quantity was taken, and a
    /// second [`decrease`](Self::decrease) may take it twice. Where that matters, note the order under its own key
    /// first.
    ///
    /// # Errors
    /// A quantity outside 1 to 1000000000. When it runs: [`Refusal::StockInvalid`] when the key is missing or holds no
    /// stock.
    pub fn decrease(&self, quantity: u64) -> Result<Decrease, OutOfBounds> {
        let quantity = OutOfBounds::check("quantity", quantity, 1, MOST)?;
        Ok(Decrease { script: RunScript::new(DECREASE_STOCK.key(&self.key).arg(quantity)) })
    }
    /// Sets what there is, whatever was there before.
    ///
    /// # Errors
    /// A stock above 1000000000.
    pub fn set(&self, left: u64) -> Result<SetStock, OutOfBounds> {
        let left = OutOfBounds::check("stock", left, 0, MOST)?;
        Ok(SetStock { key: self.key.clone(), left: left.to_string() })
    }
    /// Reads what there is; [`Refusal::StockInvalid`] when the key is missing or holds no stock.
    pub fn left(&self) -> Left {
        Left { key: self.key.clone() }
    }
}

/// Takes from a stock: [`Stock::decrease`].
#[derive(Debug)]
#[must_use = "a step does nothing before it is run"]
pub struct Decrease {
    script: RunScript<'static>,
}

impl Step for Decrease {
    type Output = Decreased;

    fn argv(&self) -> Vec<&[u8]> {
        self.script.argv()
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<Decreased>, Refusal> {
        let Some(reply) = self.script.outcome(reply) else { return Ok(Next::Send) };
        Ok(Next::Done(match with_number(reply)? {
            (true, left) => Decreased::Taken { left },
            (false, left) => Decreased::Short { left },
        }))
    }
}

/// Sets a stock: [`Stock::set`].
#[derive(Debug)]
#[must_use = "a step does nothing before it is run"]
pub struct SetStock {
    key: Vec<u8>,
    left: String,
}

impl Step for SetStock {
    type Output = ();

    fn argv(&self) -> Vec<&[u8]> {
        vec![b"SET", &self.key, self.left.as_bytes()]
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<()>, Refusal> {
        match reply {
            ReplyRef::Status(b"OK") => Ok(Next::Done(())),
            other => Refusal::of("OK", other),
        }
    }
}

/// Reads a stock: [`Stock::left`].
#[derive(Debug)]
#[must_use = "a step does nothing before it is run"]
pub struct Left {
    key: Vec<u8>,
}

impl Step for Left {
    type Output = u64;

    fn argv(&self) -> Vec<&[u8]> {
        vec![b"GET", &self.key]
    }
    fn reply(&mut self, reply: ReplyRef<'_>) -> Result<Next<u64>, Refusal> {
        match reply {
            ReplyRef::Bulk(text) => canonical(text).map(Next::Done).ok_or(Refusal::StockInvalid),
            ReplyRef::Nil => Err(Refusal::StockInvalid),
            other => Refusal::of("a stock", other),
        }
    }
}

/// The number in a text that the script takes for a stock: digits without a leading zero, at most the greatest stock.
fn canonical(text: &[u8]) -> Option<u64> {
    let number: u64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (number <= MOST && number.to_string().as_bytes() == text).then_some(number)
}
