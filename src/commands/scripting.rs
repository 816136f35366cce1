//! EVAL and its variants, SCRIPT. Handlers check arguments and say what the VM has to do; running Lua is above.

use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin, Source, VmCall};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::num::parse_i64;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "eval",
        usage: "EVAL script numkeys [key...] [arg...]",
        summary: "Execute a Lua script server side",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "Depends on the script that is executed.",
        flags: NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS | MAY_REPLICATE,
        keys: &[at(2, RW | ACCESS | UPDATE).counted(0, 1, 1).note(
            "We cannot tell how the keys will be used so we assume the worst, RW \
                 and UPDATE",
        )],
        run: eval,
        ..Spec::BASE
    },
    Spec {
        name: "eval_ro",
        usage: "EVAL_RO script numkeys [key...] [arg...]",
        summary: "Execute a read-only Lua script server side",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "Depends on the script that is executed.",
        flags: READONLY | NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS,
        keys: &[at(2, RO | ACCESS).counted(0, 1, 1).note(
            "We cannot tell how the keys will be used so we assume the worst, RO \
                 and ACCESS",
        )],
        run: eval_ro,
        ..Spec::BASE
    },
    Spec {
        name: "evalsha",
        usage: "EVALSHA sha1 numkeys [key...] [arg...]",
        summary: "Execute a Lua script server side",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "Depends on the script that is executed.",
        flags: NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS | MAY_REPLICATE,
        keys: &[at(2, RW | ACCESS | UPDATE).counted(0, 1, 1)],
        run: evalsha,
        ..Spec::BASE
    },
    Spec {
        name: "evalsha_ro",
        usage: "EVALSHA_RO sha1 numkeys [key...] [arg...]",
        summary: "Execute a read-only Lua script server side",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "Depends on the script that is executed.",
        flags: READONLY | NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS,
        keys: &[at(2, RO | ACCESS).counted(0, 1, 1)],
        run: evalsha_ro,
        ..Spec::BASE
    },
    Spec {
        name: "script",
        usage: "SCRIPT",
        summary: "A container for Lua scripts management commands",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "Depends on subcommand.",
        acl: acl::NONE,
        ..Spec::BASE
    },
    Spec {
        name: "script|debug",
        usage: "SCRIPT DEBUG mode=(YES|SYNC|NO)",
        summary: "Set the debug mode for executed scripts.",
        since: "3.2.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: NOSCRIPT,
        run: script_debug,
        ..Spec::BASE
    },
    Spec {
        name: "script|exists",
        usage: "SCRIPT EXISTS sha1...",
        summary: "Check existence of scripts in the script cache.",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "O(N) with N being the number of scripts to check (so checking a single script is an O(1) operation).",
        flags: NOSCRIPT,
        tips: &["request_policy:all_shards", "response_policy:agg_logical_and"],
        run: script_exists,
        ..Spec::BASE
    },
    Spec {
        name: "script|flush",
        usage: "SCRIPT FLUSH async=[ASYNC|SYNC]@6.2.0",
        summary: "Remove all the scripts from the script cache.",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "O(N) with N being the number of scripts in cache",
        history: &[("6.2.0", "Added the `ASYNC` and `SYNC` flushing mode modifiers.")],
        flags: NOSCRIPT,
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        run: script_flush,
        ..Spec::BASE
    },
    Spec {
        name: "script|help",
        usage: "SCRIPT HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: script_help,
        ..Spec::BASE
    },
    Spec {
        name: "script|kill",
        usage: "SCRIPT KILL",
        summary: "Kill the script currently in execution.",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: NOSCRIPT | ALLOW_BUSY,
        tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
        run: script_kill,
        ..Spec::BASE
    },
    Spec {
        name: "script|load",
        usage: "SCRIPT LOAD script",
        summary: "Load the specified Lua script into the script cache.",
        since: "2.6.0",
        group: Group::Scripting,
        complexity: "O(N) with N being the length in bytes of the script body.",
        flags: NOSCRIPT | STALE,
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        run: script_load,
        ..Spec::BASE
    },
];

fn eval(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    cx.show_now(argv);
    run_script(argv, Source::Body, false)
}

fn eval_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    cx.show_now(argv);
    run_script(argv, Source::Body, true)
}

fn evalsha(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    cx.show_now(argv);
    run_known(argv, false)
}

fn evalsha_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    cx.show_now(argv);
    run_known(argv, true)
}

/// A text that cannot be a SHA1 is refused before anything else is looked at.
fn run_known(argv: Argv<'_>, read_only: bool) -> Result<Flow, Failure> {
    if argv[1].len() != 40 {
        return Err(Failure::NoScript);
    }
    run_script(argv, Source::Sha, read_only)
}

fn run_script(argv: Argv<'_>, source: Source, read_only: bool) -> Result<Flow, Failure> {
    const FIRST: usize = 3;
    let count = parse_i64(argv[2]).ok_or(Failure::NotInteger)?;
    if count > (argv.len() - FIRST) as i64 {
        return Err(Failure::TOO_MANY_KEYS);
    }
    let Ok(numkeys) = u32::try_from(count) else {
        return Err(Failure::NEGATIVE_KEYS);
    };
    Ok(Flow::Vm(VmCall::Eval { source, numkeys, read_only }))
}

fn script_load(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Ok(Flow::Vm(VmCall::Load { body: 2 }))
}

fn script_exists(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let shas = &argv[2..];
    out.array(shas.len());
    for sha in shas {
        out.int(i64::from(cx.state.scripts.get(sha).is_some()));
    }
    Ok(Flow::Done)
}

fn script_flush(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let known = match argv[2..] {
        [] => true,
        [mode] => mode.eq_ignore_ascii_case(b"sync") || mode.eq_ignore_ascii_case(b"async"),
        _ => false,
    };
    if !known {
        return Err(Failure::FLUSH_MODE);
    }
    cx.state.scripts.clear();
    out.ok();
    Ok(Flow::Done)
}

/// Whoever gets here has the lock, so no script runs: a kill that finds one is the front's business.
fn script_kill(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::NOT_BUSY)
}

/// There is no debugger: only turning it off succeeds.
fn script_debug(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.origin == Origin::Exec {
        return Err(Failure::DEBUG_IN_PIPELINE);
    }
    if argv[2].eq_ignore_ascii_case(b"no") {
        out.ok();
        return Ok(Flow::Done);
    }
    if argv[2].eq_ignore_ascii_case(b"yes") || argv[2].eq_ignore_ascii_case(b"sync") {
        return Err(Failure::NO_DEBUGGER);
    }
    Err(Failure::DEBUG_MODE)
}

fn script_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.array(HELP.len());
    HELP.iter().for_each(|line| out.status(line));
    Ok(Flow::Done)
}

const HELP: [&str; 17] = [
    "SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "DEBUG (YES|SYNC|NO)",
    "    Set the debug mode for subsequent scripts executed.",
    "EXISTS <sha1> [<sha1> ...]",
    "    Return information about the existence of the scripts in the script cache.",
    "FLUSH [ASYNC|SYNC]",
    "    Flush the Lua scripts cache. Very dangerous on replicas.",
    "    When called without the optional mode argument, the behavior is determined by the",
    "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
    "    * ASYNC: Asynchronously flush the scripts cache.",
    "    * SYNC: Synchronously flush the scripts cache.",
    "KILL",
    "    Kill the currently executing Lua script.",
    "LOAD <script>",
    "    Load a script into the scripts cache without executing it.",
    "HELP",
    "    Prints this help.",
];
