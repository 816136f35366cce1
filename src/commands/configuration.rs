//! CONFIG: reading and changing the settings that `command::config` lists.

use crate::command::config::{Setting, setting, settings};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::glob::glob;
use std::borrow::Cow;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "config",
        usage: "CONFIG",
        summary: "A container for server configuration commands",
        since: "2.0.0",
        group: Group::Server,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "config|get",
        usage: "CONFIG GET parameter=(parameter)...",
        summary: "Get the values of configuration parameters",
        since: "2.0.0",
        group: Group::Server,
        complexity: "O(N) when N is the number of configuration parameters provided",
        history: &[("7.0.0", "Added the ability to pass multiple pattern parameters in one call")],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: config_get,
        ..Spec::BASE
    },
    Spec {
        name: "config|help",
        usage: "CONFIG HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: config_help,
        ..Spec::BASE
    },
    Spec {
        name: "config|resetstat",
        usage: "CONFIG RESETSTAT",
        summary: "Reset the stats returned by INFO",
        since: "2.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: config_resetstat,
        ..Spec::BASE
    },
    Spec {
        name: "config|rewrite",
        usage: "CONFIG REWRITE",
        summary: "Rewrite the configuration file with the in memory configuration",
        since: "2.8.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: config_rewrite,
        ..Spec::BASE
    },
    Spec {
        name: "config|set",
        usage: "CONFIG SET parameter_value=(parameter value)...",
        summary: "Set configuration parameters to the given values",
        since: "2.0.0",
        group: Group::Server,
        complexity: "O(N) when N is the number of configuration parameters provided",
        history: &[("7.0.0", "Added the ability to set multiple parameters in one call.")],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        run: config_set,
        ..Spec::BASE
    },
];

fn config_get<'a>(cx: &mut Ctx<'_>, argv: Argv<'a>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut found: Vec<(&'a [u8], &Setting)> = Vec::new();
    let mut add = |name: &'a [u8], setting: &'static Setting| {
        if !found.iter().any(|(known, _)| name.eq_ignore_ascii_case(known)) {
            found.push((name, setting));
        }
    };
    for pattern in &argv[2..] {
        if pattern.iter().any(|byte| b"[*?".contains(byte)) {
            let fits = |name: &str| glob(pattern, name.as_bytes(), true);
            let shown = settings().into_iter().filter(|(name, setting)| !setting.hidden && fits(name));
            shown.for_each(|(name, setting)| add(name.as_bytes(), setting));
        } else if let Some((_, setting)) = setting(pattern) {
            add(pattern, setting);
        }
    }
    out.map(found.len());
    for (name, setting) in found {
        out.bulk(name);
        out.bulk(&setting.value(&cx.state.config));
    }
    Ok(Flow::Done)
}

/// All or nothing: names are checked first, then values are set on a copy, then it is seen whether they can be used.
fn config_set(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if argv.len() % 2 == 1 {
        return Err(Failure::Syntax);
    }
    let changes = changes(cx, &argv[2..])?;
    let mut config = cx.state.config.clone();
    for (name, setting, value) in &changes {
        let refused = |why: String| Failure::config_set(name.as_bytes(), &why);
        let value = placed(cx, name, value).map_err(refused)?;
        setting.change(&mut config, &value).map_err(refused)?;
    }
    for (name, setting, _) in &changes {
        setting
            .check_use(&cx.state.config, &config)
            .map_err(|why| Failure::config_set(name.as_bytes(), why))?;
    }
    cx.state.store.set_memory(config.memory);
    let before = std::mem::replace(&mut cx.state.config, config);
    if before.requirepass() != cx.state.config.requirepass() {
        cx.state.require_password();
    }
    cx.state.heed_config();
    if cx.origin == Origin::Client {
        cx.state.evict_clients();
        cx.state.make_room();
    }
    out.ok();
    Ok(Flow::Done)
}

/// A value as it is to be kept: `dir` is the whole path of a directory that is there.
fn placed<'a>(cx: &Ctx<'_>, name: &str, value: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
    let Some(files) = cx.state.files.as_ref().filter(|_| name == "dir") else {
        return Ok(Cow::Borrowed(value));
    };
    let name = std::str::from_utf8(value).map_err(|_| "the name of a directory is UTF-8 text".to_owned())?;
    let path = files.directory(&cx.state.config.text("dir"), name)?;
    Ok(Cow::Owned(path.into_bytes()))
}

/// A parameter, the name it was called by, and what it is to be.
type Change<'a> = (&'static str, &'static Setting, &'a [u8]);

/// What CONFIG SET is to change.
fn changes<'a>(cx: &Ctx<'_>, words: &[&'a [u8]]) -> Result<Vec<Change<'a>>, Failure> {
    let may_protected = cx.state.config.text("enable-protected-configs") != "no";
    let mut changes: Vec<Change<'_>> = Vec::new();
    for pair in words.chunks_exact(2) {
        let (name, setting) = setting(pair[0]).ok_or_else(|| Failure::unknown_setting(pair[0]))?;
        if setting.immutable {
            return Err(Failure::config_set(pair[0], "can't set immutable config"));
        }
        if setting.protected && !may_protected {
            return Err(Failure::config_set(pair[0], "can't set protected config"));
        }
        if changes.iter().any(|(known, ..)| *known == name) {
            return Err(Failure::config_set(pair[0], "duplicate parameter"));
        }
        changes.push((name, setting, pair[1]));
    }
    Ok(changes)
}

fn config_resetstat(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.reset_stats();
    out.ok();
    Ok(Flow::Done)
}

fn config_rewrite(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let why = |why: String| Failure::config_not_rewritten("Rewriting config file", &why);
    cx.state.rewrite_config(false)?.map_err(why)?;
    out.ok();
    Ok(Flow::Done)
}

fn config_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "GET <pattern>",
        "    Return parameters matching the glob-like <pattern> and their values.",
        "SET <directive> <value>",
        "    Set the configuration <directive> to <value>.",
        "RESETSTAT",
        "    Reset statistics reported by the INFO command.",
        "REWRITE",
        "    Rewrite the configuration file.",
    ];
    help::reply(out, "CONFIG", LINES);
    Ok(Flow::Done)
}
