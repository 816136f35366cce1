//! FCALL and FUNCTION. Handlers look at the libraries and say what the VM has to do; running Lua is above.

use crate::command::args::{Args, is};
use crate::command::libraries::Library;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, RestorePolicy, VmCall, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::glob::glob;
use crate::util::num::parse_i64;
use crate::value::rdb;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "fcall",
        usage: "FCALL function numkeys [key...] [arg...]",
        summary: "Invoke a function",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "Depends on the function that is executed.",
        flags: NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS | MAY_REPLICATE,
        keys: &[at(2, RW | ACCESS | UPDATE).counted(0, 1, 1).note(
            "We cannot tell how the keys will be used so we assume the worst, RW \
                 and UPDATE",
        )],
        run: fcall,
        ..Spec::BASE
    },
    Spec {
        name: "fcall_ro",
        usage: "FCALL_RO function numkeys [key...] [arg...]",
        summary: "Invoke a read-only function",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "Depends on the function that is executed.",
        flags: READONLY | NOSCRIPT | STALE | SKIP_MONITOR | NO_MANDATORY_KEYS,
        keys: &[at(2, RO | ACCESS).counted(0, 1, 1).note(
            "We cannot tell how the keys will be used so we assume the worst, RO \
                 and ACCESS",
        )],
        run: fcall_ro,
        ..Spec::BASE
    },
    Spec {
        name: "function",
        usage: "FUNCTION",
        summary: "A container for function commands",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "Depends on subcommand.",
        acl: acl::NONE,
        ..Spec::BASE
    },
    Spec {
        name: "function|delete",
        usage: "FUNCTION DELETE library-name",
        summary: "Delete a function by name",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: WRITE | NOSCRIPT,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: function_delete,
        ..Spec::BASE
    },
    Spec {
        name: "function|dump",
        usage: "FUNCTION DUMP",
        summary: "Dump all functions into a serialized binary payload",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(N) where N is the number of functions",
        flags: NOSCRIPT,
        run: function_dump,
        ..Spec::BASE
    },
    Spec {
        name: "function|flush",
        usage: "FUNCTION FLUSH async=[ASYNC|SYNC]",
        summary: "Deleting all functions",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(N) where N is the number of functions deleted",
        flags: WRITE | NOSCRIPT,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: function_flush,
        ..Spec::BASE
    },
    Spec {
        name: "function|help",
        usage: "FUNCTION HELP",
        summary: "Show helpful text about the different subcommands",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: function_help,
        ..Spec::BASE
    },
    Spec {
        name: "function|kill",
        usage: "FUNCTION KILL",
        summary: "Kill the function currently in execution.",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: NOSCRIPT | ALLOW_BUSY,
        tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
        run: function_kill,
        ..Spec::BASE
    },
    Spec {
        name: "function|list",
        usage: "FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]",
        summary: "List information about all the functions",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(N) where N is the number of functions",
        flags: NOSCRIPT,
        tips: &["nondeterministic_output_order"],
        run: function_list,
        ..Spec::BASE
    },
    Spec {
        name: "function|load",
        usage: "FUNCTION LOAD [REPLACE] function-code",
        summary: "Create a function with the given arguments (name, code, description)",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(1) (considering compilation time is redundant)",
        flags: WRITE | DENYOOM | NOSCRIPT,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: function_load,
        ..Spec::BASE
    },
    Spec {
        name: "function|restore",
        usage: "FUNCTION RESTORE serialized-value policy=[FLUSH|APPEND|REPLACE]",
        summary: "Restore all the functions on the given payload",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(N) where N is the number of functions on the payload",
        flags: WRITE | DENYOOM | NOSCRIPT,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: function_restore,
        ..Spec::BASE
    },
    Spec {
        name: "function|stats",
        usage: "FUNCTION STATS",
        summary: "Return information about the function currently running (name, description, duration)",
        since: "7.0.0",
        group: Group::Scripting,
        complexity: "O(1)",
        flags: NOSCRIPT | ALLOW_BUSY,
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        run: function_stats,
        ..Spec::BASE
    },
];

fn fcall(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    call_function(cx, argv, false)
}

fn fcall_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    call_function(cx, argv, true)
}

fn call_function(cx: &mut Ctx<'_>, argv: Argv<'_>, read_only: bool) -> Result<Flow, Failure> {
    cx.show_now(argv);
    const FIRST: usize = 3;
    let (library, index) = cx.state.libraries.function(argv[1]).ok_or(Failure::FUNCTION_NOT_FOUND)?;
    let count = parse_i64(argv[2]).ok_or(Failure::BAD_NUMBER_OF_KEYS)?;
    if count > (argv.len() - FIRST) as i64 {
        return Err(Failure::TOO_MANY_KEYS);
    }
    let Ok(numkeys) = u32::try_from(count) else {
        return Err(Failure::NEGATIVE_KEYS);
    };
    Ok(Flow::Vm(VmCall::Function { library: library.id, index: index as u32, numkeys, read_only }))
}

fn function_load(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    let code = argv.len() - 1;
    if let Some(word) = argv[2..code].iter().find(|word| !is(word, "replace")) {
        return Err(Failure::unknown_load_option(word));
    }
    Ok(Flow::Vm(VmCall::LoadLibrary { code: code as u32, replace: code > 2 }))
}

fn function_delete(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if !cx.state.libraries.remove(argv[2]) {
        return Err(Failure::LIBRARY_NOT_FOUND);
    }
    cx.propagate(argv);
    out.ok();
    Ok(Flow::Done)
}

fn function_flush(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match argv[2..] {
        [] => {}
        [mode] if is(mode, "sync") || is(mode, "async") => {}
        [_] => return Err(Failure::FUNCTION_FLUSH_MODE),
        _ => return Err(Failure::wrong_subcommand("FUNCTION", argv[1])),
    }
    cx.state.libraries.clear();
    cx.propagate(argv);
    out.ok();
    Ok(Flow::Done)
}

/// The byte in front of each library.
pub(crate) const LIBRARY: u8 = 0xf5;
/// As it was before 7.0 was released: name, engine and description stand apart from the code.
pub(crate) const EARLY_LIBRARY: u8 = 0xf6;

fn function_dump(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut writer = rdb::Writer::default();
    for library in cx.state.libraries.iter() {
        writer.byte(LIBRARY);
        writer.string(&library.code);
    }
    out.bulk(&writer.finish());
    Ok(Flow::Done)
}

fn function_restore(_: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    let policy = match argv[3..] {
        [] => RestorePolicy::Append,
        [word] if is(word, "append") => RestorePolicy::Append,
        [word] if is(word, "replace") => RestorePolicy::Replace,
        [word] if is(word, "flush") => RestorePolicy::Flush,
        [_] => return Err(Failure::RESTORE_POLICY),
        _ => return Err(Failure::wrong_subcommand("FUNCTION", argv[1])),
    };
    Ok(Flow::Vm(VmCall::RestoreLibraries { policy }))
}

fn function_list(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (mut with_code, mut pattern) = (false, None);
    let mut args = Args::new(argv, 2);
    while let Some(word) = args.next() {
        if !with_code && is(word, "withcode") {
            with_code = true;
        } else if pattern.is_none() && is(word, "libraryname") {
            pattern = Some(args.next().ok_or(Failure::LIBRARY_NAME_MISSING)?);
        } else {
            return Err(Failure::unknown_list_argument(word));
        }
    }
    let slot = out.deferred_array();
    let mut count = 0;
    for library in cx.state.libraries.iter() {
        if pattern.is_none_or(|pattern| glob(pattern, &library.name, true)) {
            describe(library, with_code, out);
            count += 1;
        }
    }
    out.close(slot, count);
    Ok(Flow::Done)
}

fn describe(library: &Library, with_code: bool, out: &mut Reply) {
    out.map(3 + usize::from(with_code));
    out.bulk(b"library_name");
    out.bulk(&library.name);
    out.bulk(b"engine");
    out.bulk(ENGINE);
    out.bulk(b"functions");
    out.array(library.functions.len());
    for function in &library.functions {
        out.map(3);
        out.bulk(b"name");
        out.bulk(&function.name);
        out.bulk(b"description");
        out.bulk_or_nil(function.description.as_deref());
        out.bulk(b"flags");
        out.set(function.flags.names().count());
        function.flags.names().for_each(|name| out.status(name));
    }
    if with_code {
        out.bulk(b"library_code");
        out.bulk(&library.code);
    }
}

/// The only engine there is.
const ENGINE: &[u8] = b"LUA";

/// Whoever gets here has the lock, so no function runs: one that does is told of beside the lock.
fn function_stats(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.map(2);
    out.bulk(b"running_script");
    out.nil();
    stats_of_engines(cx.state.libraries.len(), cx.state.libraries.functions_len(), out);
    Ok(Flow::Done)
}

/// The second half of FUNCTION STATS.
pub(crate) fn stats_of_engines(libraries: usize, functions: usize, out: &mut Reply) {
    out.bulk(b"engines");
    out.map(1);
    out.bulk(ENGINE);
    out.map(2);
    out.bulk(b"libraries_count");
    out.int(libraries as i64);
    out.bulk(b"functions_count");
    out.int(functions as i64);
}

/// As FUNCTION STATS: here no function runs.
fn function_kill(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::NOT_BUSY)
}

fn function_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    help::reply(out, "FUNCTION", &HELP);
    Ok(Flow::Done)
}

const HELP: [&str; 37] = [
    "LOAD [REPLACE] <FUNCTION CODE>",
    "    Create a new library with the given library name and code.",
    "DELETE <LIBRARY NAME>",
    "    Delete the given library.",
    "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
    "    Return general information on all the libraries:",
    "    * Library name",
    "    * The engine used to run the Library",
    "    * Library description",
    "    * Functions list",
    "    * Library code (if WITHCODE is given)",
    "    It also possible to get only function that matches a pattern using LIBRARYNAME argument.",
    "STATS",
    "    Return information about the current function running:",
    "    * Function name",
    "    * Command used to run the function",
    "    * Duration in MS that the function is running",
    "    If no function is running, return nil",
    "    In addition, returns a list of available engines.",
    "KILL",
    "    Kill the current running function.",
    "FLUSH [ASYNC|SYNC]",
    "    Delete all the libraries.",
    "    When called without the optional mode argument, the behavior is determined by the",
    "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
    "    * ASYNC: Asynchronously flush the libraries.",
    "    * SYNC: Synchronously flush the libraries.",
    "DUMP",
    "    Return a serialized payload representing the current libraries, can be restored using FUNCTION RESTORE command",
    "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
    "    Restore the libraries represented by the given payload, it is possible to give a restore policy to",
    "    control how to handle existing libraries (default APPEND):",
    "    * FLUSH: delete all existing libraries.",
    "    * APPEND: appends the restored libraries to the existing libraries. On collision, abort.",
    "    * REPLACE: appends the restored libraries to the existing libraries, On collision, replace the old",
    "      libraries with the new libraries (notice that even on this option there is a chance of failure",
    "      in case of functions name collision with another library).",
];
