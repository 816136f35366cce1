//! CLIENT and its subcommands: what a client asks about itself and about others. Those of caches are in `tracking`, those that
//! pause clients in `pause`.

use crate::command::args::{Args, int, is};
use crate::command::blocking::{Unblock, WaitOn};
use crate::command::client_info::{Type, address, local_address};
use crate::command::session::{Replies, Session};
use crate::command::spec::*;
use crate::command::users::Users;
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::SessionId;
use crate::util::num::parse_i64;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "client",
        usage: "CLIENT",
        summary: "A container for client connection commands",
        since: "2.4.0",
        group: Group::Connection,
        complexity: "Depends on subcommand.",
        acl: acl::NONE,
        ..Spec::BASE
    },
    Spec {
        name: "client|getname",
        usage: "CLIENT GETNAME",
        summary: "Get the current connection name",
        since: "2.6.9",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_getname,
        ..Spec::BASE
    },
    Spec {
        name: "client|help",
        usage: "CLIENT HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: LOADING | STALE,
        run: client_help,
        ..Spec::BASE
    },
    Spec {
        name: "client|id",
        usage: "CLIENT ID",
        summary: "Returns the client ID for the current connection",
        since: "5.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_id,
        ..Spec::BASE
    },
    Spec {
        name: "client|info",
        usage: "CLIENT INFO",
        summary: "Returns information about the current client connection.",
        since: "6.2.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        tips: &["nondeterministic_output"],
        run: client_info,
        ..Spec::BASE
    },
    Spec {
        name: "client|kill",
        usage: "CLIENT KILL filter=(ip:port@-2.8.12|new-format=([ID client-id@2.8.12]|[TYPE normal_master_slave_pubsub=(NORMAL|MASTER@3.2.0|SLAVE|REPLICA@5.0.0|PUBSUB)@2.8.12]|[USER username]|[ADDR ip:port]|[LADDR ip:port@6.2.0]|[SKIPME yes/no])...)",
        arity: -3,
        summary: "Kill the connection of a client",
        since: "2.4.0",
        group: Group::Connection,
        complexity: "O(N) where N is the number of client connections",
        history: &[
            ("2.8.12", "Added new filter format."),
            ("2.8.12", "`ID` option."),
            ("3.2.0", "Added `master` type in for `TYPE` option."),
            (
                "5.0.0",
                "Replaced `slave` `TYPE` with `replica`. `slave` still supported for backward compatibility.",
            ),
            ("6.2.0", "`LADDR` option."),
        ],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: client_kill,
        ..Spec::BASE
    },
    Spec {
        name: "client|list",
        usage: "CLIENT LIST [TYPE normal_master_replica_pubsub=(NORMAL|MASTER|REPLICA|PUBSUB)@5.0.0] [ID id=(client-id...)@6.2.0]",
        summary: "Get the list of client connections",
        since: "2.4.0",
        group: Group::Connection,
        complexity: "O(N) where N is the number of client connections",
        history: &[
            ("2.8.12", "Added unique client `id` field."),
            ("5.0.0", "Added optional `TYPE` filter."),
            ("6.0.0", "Added `user` field."),
            (
                "6.2.0",
                "Added `argv-mem`, `tot-mem`, `laddr` and `redir` fields and the optional `ID` filter.",
            ),
            ("7.0.0", "Added `resp`, `multi-mem`, `rbs` and `rbp` fields."),
            ("7.0.3", "Added `ssub` field."),
        ],
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        tips: &["nondeterministic_output"],
        run: client_list,
        ..Spec::BASE
    },
    Spec {
        name: "client|no-evict",
        usage: "CLIENT NO-EVICT enabled=(ON|OFF)",
        summary: "Set client eviction mode for the current connection",
        since: "7.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: client_no_evict,
        ..Spec::BASE
    },
    Spec {
        name: "client|reply",
        usage: "CLIENT REPLY on_off_skip=(ON|OFF|SKIP)",
        summary: "Instruct the server whether to reply to commands",
        since: "3.2.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_reply,
        ..Spec::BASE
    },
    Spec {
        name: "client|setname",
        usage: "CLIENT SETNAME connection-name",
        summary: "Set the current connection name",
        since: "2.6.9",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_setname,
        ..Spec::BASE
    },
    Spec {
        name: "client|unblock",
        usage: "CLIENT UNBLOCK client-id timeout_error=[TIMEOUT|ERROR]",
        summary: "Unblock a client blocked in a blocking command from a different connection",
        since: "5.0.0",
        group: Group::Connection,
        complexity: "O(log N) where N is the number of client connections",
        flags: ADMIN | NOSCRIPT | LOADING | STALE,
        run: client_unblock,
        ..Spec::BASE
    },
];

fn client_id(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.session().client_id as i64);
    Ok(Flow::Done)
}

fn client_getname(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let name = &cx.session().name;
    if name.is_empty() {
        out.nil()
    } else {
        out.bulk(name)
    }
    Ok(Flow::Done)
}

fn client_setname(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.session_mut().name = super::connection::client_name(argv[2])?;
    out.ok();
    Ok(Flow::Done)
}

fn client_info(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut text = Vec::new();
    text.extend(cx.state.client_info(cx.id));
    text.push(b'\n');
    out.verbatim(*b"txt", &text);
    Ok(Flow::Done)
}

fn client_list(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let ids = match argv {
        [_, _] => by_client_id(cx),
        [_, _, option, name] if is(option, "type") => {
            let kind = Type::named(name)?;
            let mut known = by_client_id(cx);
            known.retain(|id| Type::of(cx.state.sessions.get(*id)) == kind);
            known
        }
        [_, _, option, ids @ ..] if is(option, "id") && !ids.is_empty() => {
            let known = by_client_id(cx);
            let mut found = Vec::new();
            for id in ids {
                let wanted = parse_i64(id).ok_or(Failure::BAD_CLIENT_ID)?;
                let is_wanted = |id: &&SessionId| cx.state.sessions.get(**id).client_id as i64 == wanted;
                found.extend(known.iter().find(is_wanted));
            }
            found
        }
        _ => return Err(Failure::Syntax),
    };
    let mut text = Vec::new();
    for id in ids {
        text.extend(cx.state.client_info(id));
        text.push(b'\n');
    }
    out.verbatim(*b"txt", &text);
    Ok(Flow::Done)
}

/// All clients, oldest first.
fn by_client_id(cx: &Ctx<'_>) -> Vec<SessionId> {
    let mut all: Vec<(u64, SessionId)> =
        cx.state.sessions.iter().map(|(id, session)| (session.client_id, id)).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, id)| id).collect()
}

fn client_no_evict(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.session_mut().no_evict = on_off(argv[2])?;
    out.ok();
    Ok(Flow::Done)
}

fn on_off(word: &[u8]) -> Result<bool, Failure> {
    if is(word, "on") {
        Ok(true)
    } else if is(word, "off") {
        Ok(false)
    } else {
        Err(Failure::Syntax)
    }
}

fn client_reply(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let session = cx.session_mut();
    if is(argv[2], "on") {
        // What SKIP asked for in the same transaction is still to come.
        if session.replies != Replies::SkipNext {
            session.replies = Replies::On;
        }
        out.ok();
    } else if is(argv[2], "off") {
        session.replies = Replies::Off;
    } else if !is(argv[2], "skip") {
        return Err(Failure::Syntax);
    } else if session.replies != Replies::Off {
        session.replies = Replies::SkipNext;
    }
    Ok(Flow::Done)
}

/// Which clients CLIENT KILL ends: those that everything set here fits.
struct Filter<'a> {
    client_id: Option<u64>,
    kind: Option<Type>,
    address: Option<&'a [u8]>,
    local_address: Option<&'a [u8]>,
    user: Option<&'a [u8]>,
    skip_me: bool,
}

impl<'a> Filter<'a> {
    fn parse(argv: Argv<'a>, users: &Users) -> Result<Self, Failure> {
        let mut filter = Filter {
            client_id: None,
            kind: None,
            address: None,
            local_address: None,
            user: None,
            skip_me: true,
        };
        let mut args = Args::new(argv, 2);
        while let Some(option) = args.next() {
            let value = args.word()?;
            if is(option, "id") {
                let id = int(value).ok().and_then(|id| u64::try_from(id).ok()).filter(|id| *id > 0);
                filter.client_id = Some(id.ok_or(Failure::BAD_KILL_ID)?);
            } else if is(option, "type") {
                filter.kind = Some(Type::named(value)?);
            } else if is(option, "addr") {
                filter.address = Some(value);
            } else if is(option, "laddr") {
                filter.local_address = Some(value);
            } else if is(option, "user") {
                if users.get(value).is_none() {
                    return Err(Failure::no_such_user(value));
                }
                filter.user = Some(value);
            } else if is(option, "skipme") {
                filter.skip_me = yes_no(value)?;
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(filter)
    }
    fn fits(&self, session: &Session, is_me: bool) -> bool {
        self.client_id.is_none_or(|id| id == session.client_id)
            && self.kind.as_ref().is_none_or(|kind| *kind == Type::of(session))
            && self.address.is_none_or(|wanted| wanted == address(session).as_bytes())
            && self.local_address.is_none_or(|wanted| wanted == local_address(session).as_bytes())
            && self.user.is_none_or(|name| name == session.user_name())
            && !(self.skip_me && is_me)
    }
}

fn yes_no(word: &[u8]) -> Result<bool, Failure> {
    if is(word, "yes") {
        Ok(true)
    } else if is(word, "no") {
        Ok(false)
    } else {
        Err(Failure::Syntax)
    }
}

fn client_kill(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let old_form = argv.len() == 3;
    let filter = if old_form {
        Filter {
            client_id: None,
            kind: None,
            address: Some(argv[2]),
            local_address: None,
            user: None,
            skip_me: false,
        }
    } else {
        Filter::parse(argv, &cx.state.users)?
    };
    let fits = |(id, session): &(SessionId, &Session)| filter.fits(session, *id == cx.id);
    let victims: Vec<SessionId> = cx.state.sessions.iter().filter(fits).map(|(id, _)| id).collect();
    if old_form && victims.is_empty() {
        return Err(Failure::NO_SUCH_CLIENT);
    }
    for id in victims.iter().copied() {
        if id == cx.id { cx.close_session(id) } else { cx.cut_session(id) }
    }
    if old_form {
        out.ok()
    } else {
        out.int(victims.len() as i64)
    }
    Ok(Flow::Done)
}

fn client_unblock(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let reason = match argv {
        [_, _, _] => Unblock::Timeout,
        [_, _, _, reason] if is(reason, "timeout") => Unblock::Timeout,
        [_, _, _, reason] if is(reason, "error") => Unblock::Error,
        [_, _, _, _] => return Err(Failure::BAD_UNBLOCK_REASON),
        _ => return Err(Failure::wrong_subcommand("CLIENT", argv[1])),
    };
    let client_id = int(argv[2])?;
    let is_meant = |session: &Session| i64::try_from(session.client_id) == Ok(client_id);
    // What a pause holds back has not begun: there is nothing to end.
    let waits = |session: &Session| session.blocked.as_ref().is_some_and(|wait| wait.on != WaitOn::Pause);
    let mut waiting = cx.state.sessions.iter().filter(|(_, session)| waits(session));
    let found = waiting.find(|(_, session)| is_meant(session)).map(|(id, _)| id);
    // One that was unblocked in this unit already waits no more.
    let found = found.filter(|id| !cx.state.unblocked.iter().any(|(other, _)| other == id));
    cx.state.unblocked.extend(found.map(|id| (id, reason)));
    out.int(found.is_some().into());
    Ok(Flow::Done)
}

fn client_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "CACHING (YES|NO)",
        "    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.",
        "GETREDIR",
        "    Return the client ID we are redirecting to when tracking is enabled.",
        "GETNAME",
        "    Return the name of the current connection.",
        "ID",
        "    Return the ID of the current connection.",
        "INFO",
        "    Return information about the current client connection.",
        "KILL <ip:port>",
        "    Kill connection made from <ip:port>.",
        "KILL <option> <value> [<option> <value> [...]]",
        "    Kill connections. Options are:",
        "    * ADDR (<ip:port>|<unixsocket>:0)",
        "      Kill connections made from the specified address",
        "    * LADDR (<ip:port>|<unixsocket>:0)",
        "      Kill connections made to specified local address",
        "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
        "      Kill connections by type.",
        "    * USER <username>",
        "      Kill connections authenticated by <username>.",
        "    * SKIPME (YES|NO)",
        "      Skip killing current connection (default: yes).",
        "LIST [options ...]",
        "    Return information about client connections. Options:",
        "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
        "      Return clients of specified type.",
        "UNPAUSE",
        "    Stop the current client pause, resuming traffic.",
        "PAUSE <timeout> [WRITE|ALL]",
        "    Suspend all, or just write, clients for <timeout> milliseconds.",
        "REPLY (ON|OFF|SKIP)",
        "    Control the replies sent to the current connection.",
        "SETNAME <name>",
        "    Assign the name <name> to the current connection.",
        "UNBLOCK <clientid> [TIMEOUT|ERROR]",
        "    Unblock the specified blocked client.",
        "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
        "         [OPTIN] [OPTOUT] [NOLOOP]",
        "    Control server assisted client side caching.",
        "TRACKINGINFO",
        "    Report tracking status for the current connection.",
        "NO-EVICT (ON|OFF)",
        "    Protect current client connection from eviction.",
    ];
    help::reply(out, "CLIENT", LINES);
    Ok(Flow::Done)
}
