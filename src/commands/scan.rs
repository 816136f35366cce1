//! SCAN. Its cursor is the number of the slot to go on with: a key keeps its slot while it lives, so that whatever
//! is there throughout is met. The options are read in `command::scan`, slots are walked in `store::keyspace`.

use crate::command::scan::{ScanOptions, cursor};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "scan",
    usage: "SCAN cursor [MATCH pattern] [COUNT count] [TYPE type@6.0.0]",
    summary: "Incrementally iterate the keys space",
    since: "2.8.0",
    group: Group::Generic,
    complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection.",
    history: &[("6.0.0", "Added the `TYPE` subcommand.")],
    flags: READONLY | TOUCHES_ARBITRARY_KEYS,
    tips: &["nondeterministic_output", "request_policy:special"],
    run: scan,
    ..Spec::BASE
}];

fn scan(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let from = cursor(argv[1])?;
    let options = ScanOptions::parse(argv, 2, true)?;
    let db = cx.db();
    let mut keys = Vec::new();
    let next = cx.state.store.scan(db, from, options.count, |entry| keys.push(entry.key_bytes().clone()));
    out.array(2);
    out.bulk(itoa::Buffer::new().format(next).as_bytes());
    let list = out.deferred_array();
    let mut found = 0;
    for key in &keys {
        if options.matches(key) && has_type(cx, key, options.type_name) && !cx.expire_if_due(key) {
            out.bulk(key);
            found += 1;
        }
    }
    out.close(list, found);
    Ok(Flow::Done)
}

/// The TYPE option looks the key up as TYPE does. A key whose time is over goes by that and has the type `none`.
fn has_type(cx: &mut Ctx<'_>, key: &[u8], type_name: Option<&[u8]>) -> bool {
    let Some(wanted) = type_name else { return true };
    let found = cx.look(key).map_or("none", |entry| entry.value().type_name());
    wanted.eq_ignore_ascii_case(found.as_bytes())
}
