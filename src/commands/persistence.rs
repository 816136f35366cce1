//! SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF and SHUTDOWN. An engine touches no files and ends no process: whoever keeps it may
//! give it a place for files, and a front that serves it can be stopped (`engine::host`).

use crate::command::args::is;
use crate::command::host::HostCall;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, Origin};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "bgrewriteaof",
        usage: "BGREWRITEAOF",
        summary: "Asynchronously rewrite the append-only file",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING,
        run: bgrewriteaof,
        ..Spec::BASE
    },
    Spec {
        name: "bgsave",
        usage: "BGSAVE [SCHEDULE@3.2.2]",
        summary: "Asynchronously save the dataset to disk",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        history: &[("3.2.2", "Added the `SCHEDULE` option.")],
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING,
        run: bgsave,
        ..Spec::BASE
    },
    Spec {
        name: "lastsave",
        usage: "LASTSAVE",
        summary: "Get the UNIX time stamp of the last successful save to disk",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        acl: acl::ADMIN | acl::DANGEROUS,
        flags: LOADING | STALE | FAST,
        tips: &["nondeterministic_output"],
        run: lastsave,
        ..Spec::BASE
    },
    Spec {
        name: "save",
        usage: "SAVE",
        summary: "Synchronously save the dataset to disk",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the total number of keys in all databases",
        flags: ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
        run: save,
        ..Spec::BASE
    },
    Spec {
        name: "shutdown",
        usage: "SHUTDOWN nosave_save=[NOSAVE|SAVE] [NOW@7.0.0] [FORCE@7.0.0] [ABORT@7.0.0]",
        summary: "Synchronously save the dataset to disk and then shut down the server",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) when saving, where N is the total number of keys in all databases when saving data, otherwise O(1)",
        history: &[("7.0.0", "Added the `NOW`, `FORCE` and `ABORT` modifiers.")],
        flags: ADMIN | NOSCRIPT | LOADING | STALE | NO_MULTI | ALLOW_BUSY,
        run: shutdown,
        ..Spec::BASE
    },
];

fn save(_: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    Ok(Flow::host(HostCall::Save { reply: "OK" }))
}

/// The image is written before the reply: nobody has to wait for it.
fn bgsave(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    match argv {
        [_] => {}
        [_, option] if is(option, "schedule") => {}
        _ => return Err(Failure::Syntax),
    }
    let in_exec = cx.origin == Origin::Exec;
    let reply = if in_exec { "Background saving scheduled" } else { "Background saving started" };
    Ok(Flow::host(HostCall::Save { reply }))
}

fn lastsave(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.state.saving.saved_at_s);
    Ok(Flow::Done)
}

/// There is no such file: what was written is in the journal of those who read it.
fn bgrewriteaof(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.status(match cx.origin {
        Origin::Exec => "Background append only file rewriting scheduled",
        _ => "Background append only file rewriting started",
    });
    Ok(Flow::Done)
}

#[derive(Default)]
struct ShutdownOptions {
    nosave: bool,
    save: bool,
    now: bool,
    force: bool,
    abort: bool,
}

impl ShutdownOptions {
    fn parse(argv: Argv<'_>) -> Result<Self, Failure> {
        let mut found = ShutdownOptions::default();
        for word in &argv[1..] {
            let option = match word {
                word if is(word, "nosave") => &mut found.nosave,
                word if is(word, "save") => &mut found.save,
                word if is(word, "now") => &mut found.now,
                word if is(word, "force") => &mut found.force,
                word if is(word, "abort") => &mut found.abort,
                _ => return Err(Failure::Syntax),
            };
            *option = true;
        }
        let others = found.nosave | found.save | found.now | found.force;
        if (found.abort && others) || (found.nosave && found.save) {
            return Err(Failure::Syntax);
        }
        Ok(found)
    }
}

fn shutdown(cx: &mut Ctx<'_>, argv: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    let options = ShutdownOptions::parse(argv)?;
    if options.abort {
        return Err(Failure::NO_SHUTDOWN);
    }
    if !options.now && cx.origin != Origin::Client {
        return Err(Failure::SHUTDOWN_WOULD_BLOCK);
    }
    // Beside a script there is nothing whole to be saved.
    if let Some(busy) = cx.state.busy().filter(|_| !options.nosave) {
        return Err(busy.clone());
    }
    let saves = options.save || (!options.nosave && !cx.state.config.save_points().is_empty());
    Ok(Flow::host(HostCall::Shutdown { saves, force: options.force }))
}
