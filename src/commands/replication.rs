//! WAIT, for an engine that has no replicas: the time passes, and none has answered.

use crate::command::args::int;
use crate::command::blocking::{WaitOn, timeout_in_milliseconds};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "wait",
    usage: "WAIT numreplicas timeout<integer>",
    summary: "Wait for the synchronous replication of all the write commands sent in the context of the current connection",
    since: "3.0.0",
    group: Group::Generic,
    complexity: "O(1)",
    acl: acl::CONNECTION,
    flags: NOSCRIPT,
    tips: &["request_policy:all_shards", "response_policy:agg_min"],
    run: wait,
    ..Spec::BASE
}];

fn wait(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let replicas = int(argv[1])?;
    let deadline_ms = timeout_in_milliseconds(cx, argv[2])?;
    if replicas > 0 && cx.can_block() {
        return Ok(cx.wait(WaitOn::Replicas, &[], deadline_ms, argv));
    }
    out.int(0);
    Ok(Flow::Done)
}
