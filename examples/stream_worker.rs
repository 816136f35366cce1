//! A stream worker whose effects are idempotent: C1 commits the effect of a message to an SQL database and dies before
//! XACK. The message is delivered again, to C2, and the unique key of the first transaction keeps it from having a second
//! effect. Delivered twice, done once.

use moonkeep::{Client, Engine};
use rusqlite::{Connection, ErrorCode};
use std::error::Error;
use std::io::Write;
use std::time::Duration;

const ORDERS: &str = "stream:{orders}";

/// One entry: its ID, and its fields and values in turn.
type Entry = (String, Vec<String>);

fn database() -> rusqlite::Result<Connection> {
    let database = Connection::open_in_memory()?;
    database.execute_batch(
        "CREATE TABLE processed_events (business_id TEXT PRIMARY KEY);
         CREATE TABLE stock (product TEXT PRIMARY KEY, quantity INTEGER NOT NULL CHECK (quantity >= 0));
         INSERT INTO stock VALUES ('p1', 10);",
    )?;
    Ok(database)
}

/// The effect of an order and the note that it happened, in one transaction: false when it had happened already.
fn process(database: &mut Connection, business_id: &str) -> rusqlite::Result<bool> {
    let transaction = database.transaction()?;
    match transaction.execute("INSERT INTO processed_events VALUES (?1)", [business_id]) {
        // Rolled back when it goes out of scope.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => return Ok(false),
        result => result?,
    };
    transaction.execute("UPDATE stock SET quantity = quantity - 1 WHERE product = 'p1'", [])?;
    transaction.commit()?;
    Ok(true)
}

fn business_id(entry: &Entry) -> &str {
    let at = entry.1.iter().position(|field| field == "business_id");
    at.and_then(|at| entry.1.get(at + 1)).map_or("", String::as_str)
}

fn acknowledge(client: &mut Client, entry: &Entry) -> Result<(), moonkeep::Error> {
    client.call(["XACK", ORDERS, "workers", &entry.0]).map(|_| ())
}

/// Messages that nobody has acknowledged for 30 seconds, from the beginning of the list to its end.
fn claim(client: &mut Client, consumer: &str) -> Result<Vec<Entry>, moonkeep::Error> {
    let (mut cursor, mut claimed) = ("0-0".to_owned(), Vec::new());
    loop {
        let (next, entries, _deleted): (String, Vec<Entry>, Vec<String>) =
            client.query(["XAUTOCLAIM", ORDERS, "workers", consumer, "30000", &cursor, "COUNT", "1"])?;
        claimed.extend(entries);
        if next == "0-0" {
            return Ok(claimed);
        }
        cursor = next;
    }
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let (mut c1, mut c2) = (engine.client(), engine.client());
    let mut database = database()?;
    c1.call(["XGROUP", "CREATE", ORDERS, "workers", "0", "MKSTREAM"])?;
    c1.call(["XADD", ORDERS, "1000-0", "business_id", "O42", "action", "process_order"])?;

    let read = ["XREADGROUP", "GROUP", "workers", "C1", "COUNT", "1", "STREAMS", ORDERS, ">"];
    let streams: Vec<(String, Vec<Entry>)> = c1.query(read)?;
    let entry = &streams[0].1[0];
    writeln!(out, "C1 gets {} with order {}", entry.0, business_id(entry))?;
    writeln!(out, "C1 commits its effect: {}", process(&mut database, business_id(entry))?)?;
    drop(c1);
    writeln!(out, "C1 dies before XACK")?;

    engine.advance(Duration::from_millis(29_999))?;
    writeln!(out, "C2 claims what has waited for 30 s: {} messages", claim(&mut c2, "C2")?.len())?;
    engine.advance(Duration::from_millis(1))?;
    for entry in claim(&mut c2, "C2")? {
        writeln!(out, "a millisecond later C2 gets {} with order {}", entry.0, business_id(&entry))?;
        let pending: Vec<(String, String, i64, i64)> =
            c2.query(["XPENDING", ORDERS, "workers", "-", "+", "10"])?;
        writeln!(out, "it was delivered {} times", pending[0].3)?;
        writeln!(out, "C2 commits its effect: {}", process(&mut database, business_id(&entry))?)?;
        acknowledge(&mut c2, &entry)?;
    }

    let quantity: i64 = database.query_row("SELECT quantity FROM stock", [], |row| row.get(0))?;
    writeln!(out, "the stock went from 10 to {quantity}")?;
    let (pending, kept): (i64, i64) = (
        c2.call(["XPENDING", ORDERS, "workers"])?
            .get_each::<Option<i64>>()
            .map_or(0, |all| all[0].unwrap_or(0)),
        c2.query(["XLEN", ORDERS])?,
    );
    writeln!(out, "{pending} messages are not acknowledged, {kept} is kept in the stream")?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
