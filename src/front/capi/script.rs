//! Scripts as values: sent by their SHA1, and by their text where the engine does not know them yet; held to contracts.

use super::border::{Lengths, Text, Words, free, give};
use super::client::{Session, mk_client, with_words};
use super::fault::{Fault, Needed, entry};
use super::reply::{give_or_null, mk_reply};
use super::tree::Tree;
use crate::check::CheckOptions;
use crate::contract::{Contract, Verdict};
use crate::engine::{Invocation, Script};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::num::{NumBuf, format_u64};
use std::ffi::{c_char, c_int};
use std::ptr;

/// A Lua script, ready to be run any number of times, by any number of threads, in any engine.
pub struct mk_script {
    script: Script,
    /// Its SHA1, and a NUL.
    sha: [c_char; 41],
}

impl From<Script> for mk_script {
    fn from(script: Script) -> mk_script {
        let mut sha = [0; 41];
        for (to, &from) in sha.iter_mut().zip(script.sha().as_bytes()) {
            *to = from as c_char;
        }
        mk_script { script, sha }
    }
}

/// A script of this text, `len` bytes. It is not compiled yet: an error in it is answered when it runs. Owned by the
/// caller: `mk_script_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_new(source: Text<'_>, len: usize) -> *mut mk_script {
    give(entry(|| Ok(Script::new(source.of_length(len, "source")?).into())).ok())
}

/// A script that is held to a contract: the one of these `contract_len` bytes, or, where `contract` is NULL, the one in its
/// own header. A call that the contract refuses is answered without Lua; any other call runs, and where what it replied and
/// wrote is not what the contract promises, the run fails with `MK_ERR_BREACH`. NULL on failure: `mk_last_error` names line
/// and column of a mistake in the contract.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_checked(
    source: Text<'_>,
    len: usize,
    contract: Text<'_>,
    contract_len: usize,
) -> *mut mk_script {
    let script = entry(|| {
        let source = source.of_length(len, "source")?;
        let contract = match contract.is_null() {
            true => source,
            false => contract.of_length(contract_len, "contract")?,
        };
        Ok(Script::new(source).with_contract(Contract::parse(contract)?).into())
    });
    give(script.ok())
}

/// Frees a script; NULL is ignored, and what is not a living script refused as far as it can be told. Engines that have run
/// it still know it.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_free(script: *mut mk_script) {
    let _ = entry(|| free(script, "script"));
}

/// The SHA1 of the text as EVALSHA takes it, 40 hexadecimal digits and a NUL; NULL for NULL. Valid as long as the script.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_sha(script: Option<&mk_script>) -> *const c_char {
    script.map_or(ptr::null(), |script| script.sha.as_ptr())
}

/// Runs a script with `argc` words at `argv` (see `mk_call`): the first `numkeys` are its keys, the others its arguments.
/// EVALSHA, and EVAL when the engine does not know the script yet; where the call is queued (MULTI), run the script once
/// before, or call `SCRIPT LOAD`. Gives its reply, owned by the caller: `mk_reply_free`; an error of the script is a reply
/// too. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_run(
    client: Option<&mk_client>,
    script: Option<&mk_script>,
    numkeys: c_int,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> *mut mk_reply {
    give_or_null(|| {
        run(client, script, numkeys, (argc, argv, argvlen), |session| Ok(Tree::of(&session.tape)))
    })
}

/// As `mk_script_run`, but the reply belongs to the client, as that of `mk_call_borrow`.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_run_borrow(
    client: Option<&mk_client>,
    script: Option<&mk_script>,
    numkeys: c_int,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> *const mk_reply {
    entry(|| run(client, script, numkeys, (argc, argv, argvlen), |session| Ok(session.show())))
        .unwrap_or(ptr::null())
}

/// What the contract of a script says of a call in the state as it is; nothing runs. A status `ACCEPTED`, or the error that
/// the call will be answered: all of it, or its code where a command of the script will raise it. Owned by the caller:
/// `mk_reply_free`. NULL on failure: `MK_ERR_USAGE` for a script without a contract.
#[unsafe(no_mangle)]
pub extern "C" fn mk_script_verdict(
    client: Option<&mk_client>,
    script: Option<&mk_script>,
    numkeys: c_int,
    argc: c_int,
    argv: Words<'_>,
    argvlen: Lengths<'_>,
) -> *mut mk_reply {
    give_or_null(|| {
        let script = script.needed("script")?;
        with_words(client, &[b""], (argc, argv, argvlen), |session, words| {
            let call = invocation(script, numkeys, &words[1..])?;
            session.tape.clear();
            let verdict = call.verdict(&mut session.client);
            let verdict = session.settle(verdict, None)?;
            let mut tape = Reply::new();
            match verdict {
                Some(Verdict::Accepted) => tape.status("ACCEPTED"),
                Some(Verdict::Refused(text)) => tape.error_text(&text),
                Some(Verdict::Raised(code)) => tape.error_text(code.as_bytes()),
                None if session.tape.is_error() => tape.value(session.tape.view()),
                None => return Err(Fault::usage("the script has no contract; see mk_script_checked")),
            }
            Ok(Tree::of(&tape))
        })
    })
}

/// Checks a script against its contract: `runs` calls that are made from it with this seed, on engines of their own; what the
/// contract refuses runs too. Gives an array with an element for each way in which the script does not keep its word, none
/// where it does: the rule that is broken, what is told of it, and the smallest call that was found, as `moonkeep check`
/// writes it. Owned by the caller: `mk_reply_free`. NULL on failure: `MK_ERR_USAGE` for a script without a contract.
#[unsafe(no_mangle)]
pub extern "C" fn mk_check(script: Option<&mk_script>, seed: u64, runs: u64) -> *mut mk_reply {
    give_or_null(|| {
        let script = &script.needed("script")?.script;
        let contract = script.contract();
        let contract =
            contract.ok_or_else(|| Fault::usage("the script has no contract; see mk_script_checked"))?;
        let report = contract.check(script, &CheckOptions::new().seed(seed).runs(runs))?;
        let mut tape = Reply::new();
        tape.array(report.failures().len());
        for failure in report.failures() {
            tape.array(3);
            tape.bulk(failure.rule().name().as_bytes());
            tape.bulk(failure.told().as_bytes());
            tape.bulk(failure.input().to_string().as_bytes());
        }
        Ok(Tree::of(&tape))
    })
}

fn run<'a, T>(
    client: Option<&mk_client>,
    script: Option<&'a mk_script>,
    numkeys: c_int,
    (argc, argv, argvlen): (c_int, Words<'a>, Lengths<'a>),
    reply: impl FnOnce(&mut Session) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let script = script.needed("script")?;
    let mut digits = NumBuf::new();
    let count: &[u8] = format_u64(&mut digits, keys_of(numkeys, argc)? as u64);
    let own = [&b"EVALSHA"[..], script.script.sha().as_bytes(), count];
    with_words(client, &own, (argc, argv, argvlen), |session, words| {
        if script.script.contract().is_some() {
            let call = invocation(script, numkeys, &words[3..])?;
            let result = call.run_into(&mut session.client, &mut session.tape);
            session.settle(result, ())?;
            return reply(session);
        }
        session.run(words)?;
        if session.tape.error_message().is_some_and(|text| *text == *Failure::NoScript.to_bytes()) {
            (words[0], words[1]) = (b"EVAL", script.script.source());
            session.run(words)?;
        }
        reply(session)
    })
}

/// How many of the words of a call are keys.
fn keys_of(numkeys: c_int, argc: c_int) -> Result<usize, Fault> {
    usize::try_from(numkeys)
        .ok()
        .filter(|_| numkeys <= argc)
        .ok_or_else(|| Fault::usage(format!("numkeys is {numkeys}; it is from 0 to argc, which is {argc}")))
}

fn invocation<'a>(script: &'a mk_script, numkeys: c_int, words: &[&[u8]]) -> Result<Invocation<'a>, Fault> {
    let keys = keys_of(numkeys, words.len().try_into().unwrap_or(c_int::MAX))?;
    let (keys, args) = words.split_at(keys);
    Ok(script.script.call().keys(keys.iter().copied()).args(args.iter().copied()))
}
