//! MODULE, for an engine that has none and loads none: the list is empty, and a module fails to load as one does whose file
//! is not there.

use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "module",
        usage: "MODULE",
        summary: "A container for module commands",
        since: "4.0.0",
        group: Group::Server,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "module|help",
        usage: "MODULE HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: module_help,
        ..Spec::BASE
    },
    Spec {
        name: "module|list",
        usage: "MODULE LIST",
        summary: "List all modules loaded by the server",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the number of loaded modules.",
        flags: ADMIN | NOSCRIPT,
        tips: &["nondeterministic_output_order"],
        run: module_list,
        ..Spec::BASE
    },
    Spec {
        name: "module|load",
        usage: "MODULE LOAD path [arg...]",
        summary: "Load a module",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING | PROTECTED,
        run: module_load,
        ..Spec::BASE
    },
    Spec {
        name: "module|loadex",
        usage: "MODULE LOADEX path [CONFIG configs=(name value)...+] [ARGS args=(arg)...]",
        summary: "Load a module with extended parameters",
        since: "7.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING | PROTECTED,
        run: module_loadex,
        ..Spec::BASE
    },
    Spec {
        name: "module|unload",
        usage: "MODULE UNLOAD name",
        summary: "Unload a module",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING | PROTECTED,
        run: module_unload,
        ..Spec::BASE
    },
];

fn module_list(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.array(0);
    Ok(Flow::Done)
}

fn module_load(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::CANNOT_LOAD_MODULE)
}

fn module_loadex(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::CANNOT_LOAD_MODULE)
}

fn module_unload(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::NO_SUCH_MODULE)
}

fn module_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "LIST",
        "    Return a list of loaded modules.",
        "LOAD <path> [<arg> ...]",
        "    Load a module library from <path>, passing to it any optional arguments.",
        "LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]",
        "    Load a module library from <path>, while passing it module configurations and optional arguments.",
        "UNLOAD <name>",
        "    Unload a module.",
    ];
    help::reply(out, "MODULE", LINES);
    Ok(Flow::Done)
}
