//! MONITOR. Who is shown what is in `command::monitors`.

use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "monitor",
    usage: "MONITOR",
    summary: "Listen for all requests received by the server in real time",
    since: "1.0.0",
    group: Group::Server,
    flags: ADMIN | NOSCRIPT | LOADING | STALE,
    run: monitor,
    ..Spec::BASE
}];

/// One who is shown commands already, or follows the writes, is answered nothing.
fn monitor(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.origin != Origin::Client {
        return Err(Failure::NO_MONITOR);
    }
    if !cx.is_monitor() && !cx.is_replica() {
        cx.state.begin_to_monitor(cx.id);
        out.ok();
    }
    Ok(Flow::Done)
}
