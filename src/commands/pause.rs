//! CLIENT PAUSE and UNPAUSE. What waits meanwhile is in `command::pause`.

use crate::command::args::{int, is};
use crate::command::pause::Paused;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "client|pause",
        usage: "CLIENT PAUSE timeout<integer> mode=[WRITE|ALL]@6.2.0",
        summary: "Stop processing commands from clients for some time",
        since: "2.9.50",
        group: Group::Connection,
        complexity: "O(1)",
        history: &[("6.2.0", "`CLIENT PAUSE WRITE` mode added along with the `mode` option.")],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: client_pause,
        ..Spec::BASE
    },
    Spec {
        name: "client|unpause",
        usage: "CLIENT UNPAUSE",
        summary: "Resume processing of clients that were paused",
        since: "6.2.0",
        group: Group::Connection,
        complexity: "O(N) Where N is the number of paused clients",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: client_unpause,
        ..Spec::BASE
    },
];

fn client_pause(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let what = match argv[3..] {
        [] => Paused::All,
        [mode] if is(mode, "all") => Paused::All,
        [mode] if is(mode, "write") => Paused::Writes,
        [_] => return Err(Failure::BAD_PAUSE_MODE),
        _ => return Err(Failure::wrong_subcommand("CLIENT", argv[1])),
    };
    let timeout_ms = int(argv[2]).map_err(|_| Failure::TIMEOUT_NOT_INTEGER)?;
    let last_ms = match timeout_ms {
        ..0 => return Err(Failure::TIMEOUT_NEGATIVE),
        // No time at all: it is over already.
        0 => 0,
        _ => cx.now_ms().saturating_add(timeout_ms),
    };
    cx.state.pause(what, last_ms);
    out.ok();
    Ok(Flow::Done)
}

fn client_unpause(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.end_pause();
    out.ok();
    Ok(Flow::Done)
}
