//! Connection: PING, ECHO, SELECT, HELLO, AUTH, RESET, QUIT. What looks at clients, CLIENT and its subcommands, is in
//! `client`; the session itself in `command::session`. Who there is, and what each may do, is in `command::users`.

use crate::command::args::{Args, int};
use crate::command::session::Replies;
use crate::command::spec::*;
use crate::command::users::DEFAULT_USER;
use crate::command::{Argv, Ctx, Flow, REDIS_VERSION};
use crate::error::Failure;
use crate::reply::{Reply, Resp};
use crate::util::bytes::Bytes;
use crate::util::num::parse_i64;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "auth",
        usage: "AUTH [username@6.0.0] password",
        summary: "Authenticate to the server",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(N) where N is the number of passwords defined for the user",
        history: &[("6.0.0", "Added ACL style (username and password).")],
        flags: NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
        run: auth,
        ..Spec::BASE
    },
    Spec {
        name: "echo",
        usage: "ECHO message",
        summary: "Echo the given string",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: LOADING | STALE | FAST,
        run: echo,
        ..Spec::BASE
    },
    Spec {
        name: "hello",
        usage: "HELLO arguments=[protover [AUTH username_password=(username password)] [SETNAME clientname]]",
        summary: "Handshake with Redis",
        since: "6.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        history: &[(
            "6.2.0",
            "`protover` made optional; when called without arguments the command reports the current connection's context.",
        )],
        flags: NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
        run: hello,
        ..Spec::BASE
    },
    Spec {
        name: "ping",
        usage: "PING [message]",
        summary: "Ping the server",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: FAST,
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        run: ping,
        ..Spec::BASE
    },
    Spec {
        name: "quit",
        usage: "QUIT",
        arity: -1,
        summary: "Close the connection",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
        run: quit,
        ..Spec::BASE
    },
    Spec {
        name: "reset",
        usage: "RESET",
        summary: "Reset the connection",
        since: "6.2.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
        run: reset,
        ..Spec::BASE
    },
    Spec {
        name: "select",
        usage: "SELECT index",
        summary: "Change the selected database for the current connection",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: LOADING | STALE | FAST,
        run: select,
        ..Spec::BASE
    },
];

fn ping(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match argv {
        [_] | [_, _] if cx.only_listens() => {
            out.array(2);
            out.bulk(b"pong");
            out.bulk(argv.get(1).copied().unwrap_or_default());
        }
        [_] => out.status("PONG"),
        [_, message] => out.bulk(message),
        _ => return Err(Failure::Arity("ping".to_owned())),
    }
    Ok(Flow::Done)
}

fn echo(_: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.bulk(argv[1]);
    Ok(Flow::Done)
}

fn select(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let index =
        i32::try_from(int(argv[1])?).map_err(|_| Failure::NotBetween(i32::MIN.into(), i32::MAX.into()))?;
    if index != 0 && cx.state.cluster.is_some() {
        return Err(Failure::NO_SELECT_IN_CLUSTER);
    }
    let db = u32::try_from(index).ok().filter(|db| *db < cx.state.store.databases());
    cx.session_mut().db = db.ok_or(Failure::DbOutOfRange)?;
    out.ok();
    Ok(Flow::Done)
}

fn auth(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    match argv {
        [_, _] if cx.state.users.default_user().nopass => return Err(Failure::NO_PASSWORD),
        [name, password] => cx.authenticate(DEFAULT_USER, password, name)?,
        [name, user, password] => cx.authenticate(user, password, name)?,
        _ => return Err(Failure::Syntax),
    }
    out.ok();
    Ok(Flow::Done)
}

fn hello(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut args = Args::new(argv, 1);
    let resp = args.next().map(protocol).transpose()?;
    while let Some(option) = args.next() {
        match *args.rest() {
            [user, password, ..] if option.eq_ignore_ascii_case(b"auth") => {
                cx.authenticate(user, password, argv[0])?;
                args.nth(1);
            }
            [name, ..] if option.eq_ignore_ascii_case(b"setname") => {
                cx.session_mut().name = client_name(name)?;
                args.next();
            }
            _ => return Err(Failure::hello_option(option)),
        }
    }
    let session = cx.session_mut();
    if !session.authenticated {
        return Err(Failure::HELLO_NO_AUTH);
    }
    session.resp = resp.unwrap_or(session.resp);
    let (resp, client_id) = (session.resp, session.client_id);
    let mode = if cx.state.cluster.is_some() { "cluster" } else { "standalone" };
    let role = if cx.state.has_master() { "replica" } else { "master" };
    greet(resp, client_id, (mode, role), out);
    Ok(Flow::Done)
}

fn protocol(word: &[u8]) -> Result<Resp, Failure> {
    match parse_i64(word) {
        Some(2) => Ok(Resp::V2),
        Some(3) => Ok(Resp::V3),
        Some(_) => Err(Failure::NO_PROTOCOL),
        None => Err(Failure::BAD_PROTOCOL),
    }
}

fn greet(resp: Resp, client_id: u64, (mode, role): (&str, &str), out: &mut Reply) {
    out.map(7);
    out.bulk(b"server");
    out.bulk(b"redis");
    out.bulk(b"version");
    out.bulk(REDIS_VERSION.as_bytes());
    out.bulk(b"proto");
    out.int(resp.number());
    out.bulk(b"id");
    out.int(client_id as i64);
    out.bulk(b"mode");
    out.bulk(mode.as_bytes());
    out.bulk(b"role");
    out.bulk(role.as_bytes());
    out.bulk(b"modules");
    out.array(0);
}

/// A client's name: printable ASCII without space, or empty for none.
pub(super) fn client_name(name: &[u8]) -> Result<Bytes, Failure> {
    if !name.iter().all(u8::is_ascii_graphic) {
        return Err(Failure::BAD_CLIENT_NAME);
    }
    Ok(Bytes::from(name))
}

fn reset(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    if cx.is_replica() {
        return Err(Failure::NO_RESET);
    }
    cx.state.end_monitoring(cx.id);
    cx.state.end_tracking(cx.id);
    cx.end_transaction();
    cx.state.end_subscriptions(cx.id);
    cx.state.reset_user(cx.id);
    let session = cx.session_mut();
    session.db = 0;
    session.resp = Resp::V2;
    session.name = Bytes::default();
    session.reads_replicas = false;
    if session.replies != Replies::Skip {
        session.replies = Replies::On;
    }
    out.status("RESET");
    Ok(Flow::Done)
}

fn quit(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    cx.close_session(cx.id);
    out.ok();
    Ok(Flow::Done)
}
