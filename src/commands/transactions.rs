//! Transactions: MULTI, EXEC, DISCARD, WATCH, UNWATCH. Queueing is in `command::call`, running the queue in `engine::exec`,
//! which keys changed under a WATCH in `store::watch`.

use crate::command::session::Queue;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "discard",
        usage: "DISCARD",
        summary: "Discard all commands issued after MULTI",
        since: "2.0.0",
        group: Group::Transactions,
        complexity: "O(N), when N is the number of queued commands",
        flags: NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY,
        run: discard,
        ..Spec::BASE
    },
    Spec {
        name: "exec",
        usage: "EXEC",
        summary: "Execute all commands issued after MULTI",
        since: "1.2.0",
        group: Group::Transactions,
        complexity: "Depends on commands in the transaction",
        flags: NOSCRIPT | LOADING | STALE | SKIP_SLOWLOG,
        run: exec,
        ..Spec::BASE
    },
    Spec {
        name: "multi",
        usage: "MULTI",
        summary: "Mark the start of a transaction block",
        since: "1.2.0",
        group: Group::Transactions,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY,
        run: multi,
        ..Spec::BASE
    },
    Spec {
        name: "unwatch",
        usage: "UNWATCH",
        summary: "Forget about all watched keys",
        since: "2.2.0",
        group: Group::Transactions,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY,
        run: unwatch,
        ..Spec::BASE
    },
    Spec {
        name: "watch",
        usage: "WATCH key...",
        summary: "Watch the given keys to determine execution of the MULTI/EXEC block",
        since: "2.2.0",
        group: Group::Transactions,
        complexity: "O(1) for every key.",
        flags: NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY,
        keys: &[at(1, RO).range(-1, 1, 0)],
        run: watch,
        ..Spec::BASE
    },
];

fn multi(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let session = cx.session_mut();
    if session.queue.is_some() {
        return Err(Failure::NESTED_MULTI);
    }
    session.queue = Some(Queue::default());
    out.ok();
    Ok(Flow::Done)
}

fn exec(cx: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    match cx.session().queue {
        Some(_) => Ok(Flow::Exec),
        None => Err(Failure::EXEC_WITHOUT_MULTI),
    }
}

fn discard(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.session().queue.is_none() {
        return Err(Failure::DISCARD_WITHOUT_MULTI);
    }
    cx.end_transaction();
    out.ok();
    Ok(Flow::Done)
}

fn watch(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.session().queue.is_some() {
        return Err(Failure::WATCH_IN_MULTI);
    }
    let db = cx.db();
    for key in argv.iter().skip(1) {
        cx.state.store.watch(cx.id, db, key);
    }
    out.ok();
    Ok(Flow::Done)
}

fn unwatch(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.store.unwatch(cx.id);
    out.ok();
    Ok(Flow::Done)
}
