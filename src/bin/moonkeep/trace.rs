//! The calls that a script made, for people and for programs. Their times are real ones, of one run on this machine:
//! the engine's own time stands still within a script.

use crate::json::Json;
use crate::time::shown_duration as shown;
use moonkeep::TracedCall;
use moonkeep::util::words::join_words;
use std::time::Duration;

/// One line a call, and what all took; `whole` is the time of the script.
pub(crate) fn lines(calls: &[TracedCall], whole: Duration) -> String {
    let mut text = String::new();
    for call in calls {
        let reply = call.reply.to_string().replace('\n', "\n      ");
        let separator = if reply.contains('\n') { "\n      " } else { " " };
        let time = shown(call.real_time);
        text.push_str(&format!("call: {} ({time}) ->{separator}{reply}\n", join_words(&call.argv)));
    }
    let inside: Duration = calls.iter().map(|call| call.real_time).sum();
    let count = calls.len();
    let noun = if count == 1 { "call" } else { "calls" };
    text.push_str(&format!("time: {} in {count} {noun}, {} in all\n", shown(inside), shown(whole)));
    text
}

/// The calls as JSON.
pub(crate) fn json(calls: &[TracedCall]) -> Json {
    let call = |call: &TracedCall| {
        Json::Object(vec![
            ("command", Json::words(&call.argv)),
            ("reply", Json::reply(call.reply.view())),
            ("nanoseconds", nanoseconds(call.real_time)),
        ])
    };
    Json::List(calls.iter().map(call).collect())
}

/// A time as JSON.
pub(crate) fn nanoseconds(time: Duration) -> Json {
    Json::Int(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}
