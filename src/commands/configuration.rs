//! CONFIG: reading and changing the settings that `command::config` lists. There is no file to rewrite.

use crate::command::config::{Setting, setting, settings};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin, Stats, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::StoreStats;
use crate::util::glob::glob;

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

fn config_get(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut found: Vec<(&[u8], &Setting)> = Vec::new();
    for pattern in &argv[2..] {
        if pattern.iter().any(|byte| b"[*?".contains(byte)) {
            for setting in settings() {
                let name = setting.name.as_bytes();
                if glob(pattern, name, true) && !is_found(&found, setting) {
                    found.push((name, setting));
                }
            }
        } else if let Some(setting) = setting(pattern).filter(|setting| !is_found(&found, setting)) {
            found.push((pattern, setting));
        }
    }
    out.map(found.len());
    for (name, setting) in found {
        out.bulk(name);
        let value = setting.value(cx.state.store.databases(), &cx.state.config);
        out.bulk(value.as_bytes());
    }
    Ok(Flow::Done)
}

fn is_found(found: &[(&[u8], &Setting)], setting: &Setting) -> bool {
    found.iter().any(|(_, known)| known.name == setting.name)
}

/// All or nothing: names are checked first, then values are set on a copy.
fn config_set(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let pairs = argv[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(Failure::Syntax);
    }
    let mut changes: Vec<(&Setting, &[u8])> = Vec::new();
    for pair in pairs {
        let setting = setting(pair[0]).ok_or_else(|| Failure::unknown_setting(pair[0]))?;
        if !setting.can_change() {
            return Err(Failure::config_set(pair[0], "can't set immutable config"));
        }
        if changes.iter().any(|(known, _)| known.name == setting.name) {
            return Err(Failure::config_set(pair[0], "duplicate parameter"));
        }
        changes.push((setting, pair[1]));
    }
    let mut config = cx.state.config.clone();
    for (setting, value) in changes {
        let refused = |why: String| Failure::config_set(setting.name.as_bytes(), &why);
        setting.change(&mut config, value).map_err(refused)?;
    }
    cx.state.store.set_memory(config.memory);
    cx.state.config = config;
    cx.state.listen();
    if cx.origin == Origin::Client {
        cx.state.store.make_room();
    }
    out.ok();
    Ok(Flow::Done)
}

fn config_resetstat(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.state.stats = Stats::default();
    cx.state.store.stats = StoreStats::default();
    out.ok();
    Ok(Flow::Done)
}

fn config_rewrite(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Err(Failure::NO_CONFIG_FILE)
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
