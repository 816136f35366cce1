//! A queue on lists that loses no job: LMOVE takes a job and notes who has it in one step, LREM acknowledges it. A worker
//! that dies leaves its list behind; once its sign of life is over, whoever looks puts the jobs back at the front.

use moonkeep::{Client, Engine, Script};
use std::error::Error;
use std::io::Write;
use std::time::Duration;

const PENDING: &str = "jobs:{orders}:pending";
const DONE: &str = "jobs:{orders}:done";

fn taken_by(worker: &str) -> String {
    format!("jobs:{{orders}}:taken:{worker}")
}

fn alive(worker: &str) -> String {
    format!("jobs:{{orders}}:alive:{worker}")
}

/// Takes the oldest job, and shows for the next 30 seconds that the worker lives.
fn take(client: &mut Client, worker: &str) -> Result<Option<String>, moonkeep::Error> {
    client.call(["SET", &alive(worker), "1", "EX", "30"])?;
    client.query(["LMOVE", PENDING, &taken_by(worker), "LEFT", "RIGHT"])
}

/// A job is done and acknowledged: false when it was taken from this worker meanwhile.
fn acknowledge(client: &mut Client, worker: &str, job: &str) -> Result<bool, moonkeep::Error> {
    let removed: i64 = client.query(["LREM", &taken_by(worker), "1", job])?;
    if removed == 1 {
        client.call(["RPUSH", DONE, job])?;
    }
    Ok(removed == 1)
}

/// Puts back what a dead worker had, in its old order; how many. To look and to put back is one step.
fn recover(client: &mut Client, worker: &str) -> Result<i64, moonkeep::Error> {
    let script = Script::new(
        "if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
         local back = 0
         while redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT') do back = back + 1 end
         return back",
    );
    script.call().keys([taken_by(worker), PENDING.to_owned(), alive(worker)]).run(client)
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let mut client = engine.client();
    client.call(["RPUSH", PENDING, "O41", "O42", "O43"])?;

    let first = take(&mut client, "w1")?.expect("three wait");
    writeln!(out, "w1 takes {first} and acknowledges it: {}", acknowledge(&mut client, "w1", &first)?)?;
    let second = take(&mut client, "w1")?.expect("two wait");
    writeln!(out, "w1 takes {second} and dies")?;

    engine.advance(Duration::from_secs(30))?;
    writeln!(out, "30 s later w2 looks after it: {} put back, w1 may live", recover(&mut client, "w1")?)?;
    engine.advance(Duration::from_millis(1))?;
    writeln!(out, "a millisecond later: {} put back", recover(&mut client, "w1")?)?;
    writeln!(out, "and once more: {} put back", recover(&mut client, "w1")?)?;

    while let Some(job) = take(&mut client, "w2")? {
        writeln!(out, "w2 takes {job} and acknowledges it: {}", acknowledge(&mut client, "w2", &job)?)?;
    }
    writeln!(
        out,
        "w1 was only slow, and acknowledges {second}: {}",
        acknowledge(&mut client, "w1", &second)?
    )?;
    let done: Vec<String> = client.query(["LRANGE", DONE, "0", "-1"])?;
    writeln!(out, "done: {}", done.join(" "))?;
    Ok(())
}

#[allow(dead_code, reason = "the test of the examples calls run")]
fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}
