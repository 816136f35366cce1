//! CLIENT TRACKING, TRACKINGINFO, CACHING and GETREDIR: what a client that caches asks for. Who is told what is in
//! `command::tracking`.

use crate::command::args::{int, is};
use crate::command::spec::*;
use crate::command::tracking::Caching;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::bytes::Bytes;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "client|caching",
        usage: "CLIENT CACHING mode=(YES|NO)",
        summary: "Instruct the server about tracking or not keys in the next request",
        since: "6.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_caching,
        ..Spec::BASE
    },
    Spec {
        name: "client|getredir",
        usage: "CLIENT GETREDIR",
        summary: "Get tracking notifications redirection client ID if any",
        since: "6.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_getredir,
        ..Spec::BASE
    },
    Spec {
        name: "client|tracking",
        usage: "CLIENT TRACKING status=(ON|OFF) [REDIRECT client-id] [PREFIX prefix...+] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
        summary: "Enable or disable server assisted client side caching support",
        since: "6.0.0",
        group: Group::Connection,
        complexity: "O(1). Some options may introduce additional complexity.",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_tracking,
        ..Spec::BASE
    },
    Spec {
        name: "client|trackinginfo",
        usage: "CLIENT TRACKINGINFO",
        summary: "Return information about server assisted client side caching for the current connection",
        since: "6.2.0",
        group: Group::Connection,
        complexity: "O(1)",
        flags: NOSCRIPT | LOADING | STALE,
        run: client_trackinginfo,
        ..Spec::BASE
    },
];

/// What follows ON or OFF. With OFF it has to be well formed, and is not looked at.
struct Options<'a> {
    caching: Caching,
    prefixes: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(cx: &Ctx<'_>, argv: Argv<'a>) -> Result<Self, Failure> {
        let mut options = Options { caching: Caching::default(), prefixes: Vec::new() };
        let caching = &mut options.caching;
        let mut rest = &argv[3..];
        while let Some((word, behind)) = rest.split_first() {
            rest = behind;
            match behind.split_first() {
                Some((client_id, behind)) if is(word, "redirect") => {
                    if caching.redirect.is_some() {
                        return Err(Failure::TRACKING_REDIRECTED_TWICE);
                    }
                    caching.redirect = redirect(cx, int(client_id)?)?;
                    rest = behind;
                }
                Some((prefix, behind)) if is(word, "prefix") => {
                    options.prefixes.push(prefix);
                    rest = behind;
                }
                _ if is(word, "bcast") => caching.broadcasts = true,
                _ if is(word, "optin") => caching.opts_in = true,
                _ if is(word, "optout") => caching.opts_out = true,
                _ if is(word, "noloop") => caching.no_loop = true,
                _ => return Err(Failure::Syntax),
            }
        }
        Ok(options)
    }
    /// Whether they go together, and with what holds for the client already.
    fn check(&self, before: Option<&Caching>) -> Result<(), Failure> {
        let Caching { broadcasts, opts_in, opts_out, .. } = self.caching;
        if !broadcasts && !self.prefixes.is_empty() {
            return Err(Failure::TRACKING_PREFIX_WITHOUT_BCAST);
        }
        if before.is_some_and(|before| before.broadcasts != broadcasts) {
            return Err(Failure::TRACKING_SWITCHES_BCAST);
        }
        if broadcasts && (opts_in || opts_out) {
            return Err(Failure::TRACKING_OPT_WITH_BCAST);
        }
        if opts_in && opts_out {
            return Err(Failure::TRACKING_BOTH_OPTS);
        }
        if before.is_some_and(|before| (opts_in && before.opts_out) || (opts_out && before.opts_in)) {
            return Err(Failure::TRACKING_SWITCHES_OPT);
        }
        if broadcasts { self.check_prefixes(before) } else { Ok(()) }
    }
    /// No two prefixes of a client may be those of the same key.
    fn check_prefixes(&self, before: Option<&Caching>) -> Result<(), Failure> {
        let overlap = |one: &[u8], other: &[u8]| one.starts_with(other) || other.starts_with(one);
        for (at, prefix) in self.prefixes.iter().enumerate() {
            let mut known = before.iter().flat_map(|before| &before.prefixes);
            if let Some(known) = known.find(|known| overlap(known, prefix)) {
                return Err(Failure::prefix_overlaps(prefix, "an existing prefix", known));
            }
            let mut behind = self.prefixes[at + 1..].iter();
            if let Some(other) = behind.find(|other| overlap(other, prefix)) {
                return Err(Failure::prefix_overlaps(prefix, "another provided prefix", other));
            }
        }
        Ok(())
    }
}

/// The client of this number; 0 is nobody, and does not exist either.
fn redirect(cx: &Ctx<'_>, client_id: i64) -> Result<Option<(u32, u64)>, Failure> {
    let mut clients = cx.state.sessions.iter().map(|(id, session)| (id, session.client_id));
    let found = clients.find(|(_, number)| i64::try_from(*number) == Ok(client_id));
    found.map(Some).ok_or(Failure::TRACKING_NO_SUCH_CLIENT)
}

fn client_tracking(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut options = Options::parse(cx, argv)?;
    if is(argv[2], "on") {
        options.check(cx.session().tracking.as_deref())?;
        if options.caching.broadcasts && options.prefixes.is_empty() {
            options.prefixes.push(b"");
        }
        let prefixes = options.prefixes.into_iter().map(Bytes::from).collect();
        cx.state.begin_tracking(cx.id, Caching { prefixes, ..options.caching });
    } else if is(argv[2], "off") {
        cx.state.end_tracking(cx.id);
    } else {
        return Err(Failure::Syntax);
    }
    out.ok();
    Ok(Flow::Done)
}

fn client_caching(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let caching = cx.session_mut().tracking.as_mut().ok_or(Failure::NOT_TRACKING)?;
    if is(argv[2], "yes") {
        if !caching.opts_in {
            return Err(Failure::CACHING_NEEDS_OPTIN);
        }
    } else if !is(argv[2], "no") {
        return Err(Failure::Syntax);
    } else if !caching.opts_out {
        return Err(Failure::CACHING_NEEDS_OPTOUT);
    }
    caching.next_is_special = true;
    out.ok();
    Ok(Flow::Done)
}

fn client_getredir(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.session().redirected_to());
    Ok(Flow::Done)
}

fn client_trackinginfo(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let caching = cx.session().tracking.as_deref();
    let none = Caching::default();
    let asked = caching.unwrap_or(&none);
    let flags = [
        (caching.is_some(), "on"),
        (caching.is_none(), "off"),
        (asked.broadcasts, "bcast"),
        (asked.opts_in, "optin"),
        (asked.opts_in && asked.next_is_special, "caching-yes"),
        (asked.opts_out, "optout"),
        (asked.opts_out && asked.next_is_special, "caching-no"),
        (asked.no_loop, "noloop"),
        (asked.is_broken, "broken_redirect"),
    ];
    out.map(3);
    out.bulk(b"flags");
    out.set(flags.iter().filter(|(holds, _)| *holds).count());
    flags.iter().filter(|(holds, _)| *holds).for_each(|(_, name)| out.bulk(name.as_bytes()));
    out.bulk(b"redirect");
    out.int(cx.session().redirected_to());
    out.bulk(b"prefixes");
    out.array(asked.prefixes.len());
    asked.prefixes.iter().for_each(|prefix| out.bulk(prefix));
    Ok(Flow::Done)
}
