//! The calls that a script made, and what they cost, for people and for programs. Times are real ones, of one run on this
//! machine: the engine's own time stands still within a script. Instructions are the same in each run; they are counted
//! on a fork, so that counting slows nothing that is timed.

use crate::json::Json;
use crate::time::shown_duration;
use moonkeep::util::words::join_words;
use moonkeep::{Client, Engine, Error, TracedCall};
use std::time::Duration;

/// What a run called and cost.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) calls: Vec<TracedCall>,
    pub(crate) time: Duration,
    pub(crate) instructions: u64,
}

/// A client in the same database of a fork, to try there what a call comes to.
pub(crate) fn forked(engine: &Engine, client: &Client) -> Result<Client, Error> {
    in_database_of(client, &engine.fork()?)
}

/// A client of this engine in the database of another one.
pub(crate) fn in_database_of(client: &Client, engine: &Engine) -> Result<Client, Error> {
    let mut forked = engine.try_client()?;
    forked.call(["SELECT", &client.database()?.to_string()])?;
    Ok(forked)
}

impl Trace {
    /// One line a call, and what all took.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        for call in &self.calls {
            let reply = call.reply.to_string().replace('\n', "\n      ");
            let separator = if reply.contains('\n') { "\n      " } else { " " };
            let time = shown_duration(call.real_time);
            text.push_str(&format!("call: {} ({time}) ->{separator}{reply}\n", join_words(&call.argv)));
        }
        let inside: Duration = self.calls.iter().map(|call| call.real_time).sum();
        let count = self.calls.len();
        let noun = if count == 1 { "call" } else { "calls" };
        let (inside, whole) = (shown_duration(inside), shown_duration(self.time));
        match self.instructions {
            0 => text.push_str("cost: Lua did not run\n"),
            instructions => text.push_str(&format!(
                "cost: {inside} in {count} {noun} of {whole} in all; {instructions} instructions of Lua\n"
            )),
        }
        text
    }

    /// The same as members of a JSON object.
    pub(crate) fn members(&self) -> Vec<(&'static str, Json)> {
        let call = |call: &TracedCall| {
            Json::Object(vec![
                ("command", Json::words(&call.argv)),
                ("reply", Json::reply(call.reply.view())),
                ("nanoseconds", nanoseconds(call.real_time)),
            ])
        };
        vec![
            ("calls", Json::List(self.calls.iter().map(call).collect())),
            ("nanoseconds", nanoseconds(self.time)),
            ("instructions", Json::Int(i64::try_from(self.instructions).unwrap_or(i64::MAX))),
        ]
    }
}

fn nanoseconds(time: Duration) -> Json {
    Json::Int(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}
