//! ACL: who there is and what each may do, shown and changed, and what was refused. Users themselves, their rules and
//! how a command is held to them are in `command::users`; AUTH is in `connection`.

use crate::command::args::{int, is};
use crate::command::host::HostCall;
use crate::command::spec::*;
use crate::command::users::{Grammar, Selector, has_spaces};
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "acl",
        usage: "ACL",
        summary: "A container for Access List Control commands ",
        since: "6.0.0",
        group: Group::Server,
        complexity: "Depends on subcommand.",
        ..Spec::BASE
    },
    Spec {
        name: "acl|cat",
        usage: "ACL CAT [categoryname]",
        summary: "List the ACL categories or the commands inside a category",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(1) since the categories and commands are a fixed set.",
        flags: NOSCRIPT | LOADING | STALE,
        run: acl_cat,
        ..Spec::BASE
    },
    Spec {
        name: "acl|deluser",
        usage: "ACL DELUSER username...",
        summary: "Remove the specified ACL users and the associated rules",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(1) amortized time considering the typical user.",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_deluser,
        ..Spec::BASE
    },
    Spec {
        name: "acl|dryrun",
        usage: "ACL DRYRUN username command [arg...]",
        summary: "Returns whether the user can execute the given command without executing the command.",
        since: "7.0.0",
        group: Group::Server,
        complexity: "O(1).",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_dryrun,
        ..Spec::BASE
    },
    Spec {
        name: "acl|genpass",
        usage: "ACL GENPASS [bits]",
        summary: "Generate a pseudorandom secure password to use for ACL users",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: acl_genpass,
        ..Spec::BASE
    },
    Spec {
        name: "acl|getuser",
        usage: "ACL GETUSER username",
        summary: "Get the rules for a specific ACL user",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N). Where N is the number of password, command and pattern rules that the user has.",
        history: &[
            ("6.2.0", "Added Pub/Sub channel patterns."),
            (
                "7.0.0",
                "Added selectors and changed the format of key and channel patterns from a list to their rule representation.",
            ),
        ],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_getuser,
        ..Spec::BASE
    },
    Spec {
        name: "acl|help",
        usage: "ACL HELP",
        summary: "Show helpful text about the different subcommands",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: acl_help,
        ..Spec::BASE
    },
    Spec {
        name: "acl|list",
        usage: "ACL LIST",
        summary: "List the current ACL rules in ACL config file format",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N). Where N is the number of configured users.",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_list,
        ..Spec::BASE
    },
    Spec {
        name: "acl|load",
        usage: "ACL LOAD",
        summary: "Reload the ACLs from the configured ACL file",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N). Where N is the number of configured users.",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_load,
        ..Spec::BASE
    },
    Spec {
        name: "acl|log",
        usage: "ACL LOG operation=[count|RESET]",
        summary: "List latest events denied because of ACLs in place",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N) with N being the number of entries shown.",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_log,
        ..Spec::BASE
    },
    Spec {
        name: "acl|save",
        usage: "ACL SAVE",
        summary: "Save the current ACL rules in the configured ACL file",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N). Where N is the number of configured users.",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_save,
        ..Spec::BASE
    },
    Spec {
        name: "acl|setuser",
        usage: "ACL SETUSER username [rule...]",
        summary: "Modify or create the rules for a specific ACL user",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N). Where N is the number of rules provided.",
        history: &[
            ("6.2.0", "Added Pub/Sub channel patterns."),
            ("7.0.0", "Added selectors and key based permissions."),
        ],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_setuser,
        ..Spec::BASE
    },
    Spec {
        name: "acl|users",
        usage: "ACL USERS",
        summary: "List the username of all the configured ACL rules",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(N). Where N is the number of configured users.",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: acl_users,
        ..Spec::BASE
    },
    Spec {
        name: "acl|whoami",
        usage: "ACL WHOAMI",
        summary: "Return the name of the user associated to the current connection",
        since: "6.0.0",
        group: Group::Server,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: acl_whoami,
        ..Spec::BASE
    },
];

fn acl_cat(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match *argv {
        [_, _] => {
            out.array(acl::NAMES.len());
            acl::NAMES.iter().for_each(|name| out.bulk(name.as_bytes()));
        }
        [_, _, name] => {
            let category = acl::by_name(name);
            if category == acl::NONE {
                return Err(Failure::unknown_category(name));
            }
            let rows = cx.state.table.rows();
            let members = || rows.iter().filter(|row| row.spec.categories() & category != 0);
            out.array(members().count());
            members().for_each(|row| out.bulk(row.spec.name.as_bytes()));
        }
        _ => return Err(Failure::wrong_subcommand("ACL", argv[1])),
    }
    Ok(Flow::Done)
}

fn acl_deluser(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let names = &argv[2..];
    if names.iter().any(|name| *name == b"default") {
        return Err(Failure::DEFAULT_USER);
    }
    let removed = names.iter().filter(|name| cx.state.remove_user(name)).count();
    out.int(removed as i64);
    Ok(Flow::Done)
}

fn acl_dryrun(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let words = &argv[3..];
    let user = cx.state.users.get(argv[2]).ok_or_else(|| Failure::user_not_found(argv[2]))?;
    let row = cx.state.table.resolve(words).map_err(|_| Failure::command_not_found(argv[3]))?;
    if !row.takes(words.len()) {
        return Err(Failure::Arity(row.spec.name.to_owned()));
    }
    match user.check(row, words) {
        Ok(()) => out.ok(),
        Err(denied) => out.bulk(&denied.in_dry_run(row, words)),
    }
    Ok(Flow::Done)
}

fn acl_genpass(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let bits = match *argv {
        [_, _] => 256,
        [_, _, bits] => int(bits)?,
        _ => return Err(Failure::wrong_subcommand("ACL", argv[1])),
    };
    if !(1..=4096).contains(&bits) {
        return Err(Failure::GENPASS_BITS);
    }
    let digits = (bits as usize).div_ceil(4);
    out.bulk(cx.state.store.rng.hex(digits).as_bytes());
    Ok(Flow::Done)
}

fn acl_getuser(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let table = cx.state.table;
    let Some(user) = cx.state.users.get(argv[2]) else {
        out.nil();
        return Ok(Flow::Done);
    };
    out.map(6);
    out.bulk(b"flags");
    out.set(user.flags().count());
    user.flags().for_each(|flag| out.bulk(flag.as_bytes()));
    out.bulk(b"passwords");
    out.array(user.passwords.len());
    user.passwords.iter().for_each(|password| out.bulk(password));
    let describe = |selector: &Selector, out: &mut Reply| {
        let fields = [
            ("commands", selector.describe_commands(table)),
            ("keys", selector.describe_keys()),
            ("channels", selector.describe_channels()),
        ];
        for (name, value) in fields {
            out.bulk(name.as_bytes());
            out.bulk(&value);
        }
    };
    let (own, others) = user.selectors.split_first().unzip();
    own.into_iter().for_each(|own| describe(own, out));
    let others = others.unwrap_or_default();
    out.bulk(b"selectors");
    out.array(others.len());
    for selector in others {
        out.map(3);
        describe(selector, out);
    }
    Ok(Flow::Done)
}

fn acl_list(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.array(cx.state.users.iter().len());
    for (name, user) in cx.state.users.iter() {
        out.bulk(&user.line(name, cx.state.table));
    }
    Ok(Flow::Done)
}

fn acl_users(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.array(cx.state.users.iter().len());
    cx.state.users.iter().for_each(|(name, _)| out.bulk(name));
    Ok(Flow::Done)
}

fn acl_whoami(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.bulk(cx.session().user_name());
    Ok(Flow::Done)
}

fn acl_setuser(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let name = argv[2];
    if has_spaces(name) {
        return Err(Failure::USER_NAME);
    }
    let grammar = Grammar { table: cx.state.table, all_channels: cx.state.config.acl_all_channels() };
    let user = grammar.changed(cx.state.users.get(name), &argv[3..])?;
    cx.state.set_user(name, user);
    out.ok();
    Ok(Flow::Done)
}

/// The latest entries; an engine's time may be set back, and an entry is then as old as that makes it.
fn acl_log(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let count = match *argv {
        [_, _] => 10,
        [_, _, word] if is(word, "reset") => {
            cx.state.users.denials.clear();
            out.ok();
            return Ok(Flow::Done);
        }
        [_, _, word] => int(word)?.max(0),
        _ => return Err(Failure::wrong_subcommand("ACL", argv[1])),
    };
    let (now_ms, denials) = (cx.now_ms(), &cx.state.users.denials);
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(denials.iter().len());
    out.array(count);
    for denial in denials.iter().take(count) {
        out.map(7);
        out.bulk(b"count");
        out.int(i64::try_from(denial.count).unwrap_or(i64::MAX));
        let texts = [
            ("reason", denial.reason.name().as_bytes()),
            ("context", denial.context.name().as_bytes()),
            ("object", &denial.object),
            ("username", &denial.user),
        ];
        for (name, value) in texts {
            out.bulk(name.as_bytes());
            out.bulk(value);
        }
        out.bulk(b"age-seconds");
        out.double((now_ms - denial.at_ms) as f64 / 1000.0);
        out.bulk(b"client-info");
        out.bulk(&denial.client_info);
    }
    Ok(Flow::Done)
}

fn acl_load(cx: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    with_file(cx, HostCall::LoadUsers)
}

fn acl_save(cx: &mut Ctx<'_>, _: Argv<'_>, _: &mut Reply) -> Result<Flow, Failure> {
    with_file(cx, HostCall::SaveUsers)
}

/// A file that the parameter `aclfile` names is asked for, or there is none.
fn with_file(cx: &Ctx<'_>, call: HostCall) -> Result<Flow, Failure> {
    if cx.state.config.text("aclfile").is_empty() {
        return Err(Failure::NO_ACL_FILE);
    }
    Ok(Flow::host(call))
}

fn acl_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "CAT [<category>]",
        "    List all commands that belong to <category>, or all command categories",
        "    when no category is specified.",
        "DELUSER <username> [<username> ...]",
        "    Delete a list of users.",
        "DRYRUN <username> <command> [<arg> ...]",
        "    Returns whether the user can execute the given command without executing the command.",
        "GETUSER <username>",
        "    Get the user's details.",
        "GENPASS [<bits>]",
        "    Generate a secure 256-bit user password. The optional `bits` argument can",
        "    be used to specify a different size.",
        "LIST",
        "    Show users details in config file format.",
        "LOAD",
        "    Reload users from the ACL file.",
        "LOG [<count> | RESET]",
        "    Show the ACL log entries.",
        "SAVE",
        "    Save the current config to the ACL file.",
        "SETUSER <username> <attribute> [<attribute> ...]",
        "    Create or modify a user with the specified attributes.",
        "USERS",
        "    List all the registered usernames.",
        "WHOAMI",
        "    Return the current connection username.",
    ];
    help::reply(out, "ACL", LINES);
    Ok(Flow::Done)
}
