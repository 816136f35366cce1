//! DUMP and RESTORE between the two sides: what one dumps the other takes, with the same value, expiry and encoding.

use crate::support::target::{Target, argv};
use crate::support::wire::Wire;

/// The key that a dump is restored as, and where the server restores what comes back.
const COPY: &[u8] = b"(copy)";
const BACK: &[u8] = b"(back)";

const HOUR_MS: i64 = 3_600_000;

/// What differs: the key, what was expected, and what was found.
type Problem = (String, String, String);

fn call(side: &mut dyn Target, words: &[&[u8]]) -> Wire {
    side.call("(state)", &words.iter().map(|word| word.to_vec()).collect::<Vec<_>>())
}

fn sides<'a>(server: &'a mut dyn Target, moonkeep: &'a mut dyn Target) -> [&'a mut dyn Target; 2] {
    [server, moonkeep]
}

/// Restores a dump with an expiry.
fn restore(side: &mut dyn Target, key: &[u8], dump: &[u8], expire_at_ms: i64) -> Wire {
    // A key whose time is just over would go at once.
    let ttl = if expire_at_ms > 0 { expire_at_ms.saturating_add(HOUR_MS) } else { 0 }.to_string();
    call(side, &[b"RESTORE", key, ttl.as_bytes(), dump, b"REPLACE", b"ABSTTL"])
}

fn expiry(side: &mut dyn Target, key: &[u8]) -> i64 {
    match call(side, &[b"PEXPIRETIME", key]) {
        Wire::Int(at_ms) => at_ms,
        _ => -2,
    }
}

/// Puts what the server has under a key on both sides, in the database that is selected.
pub(crate) fn copy(server: &mut dyn Target, moonkeep: &mut dyn Target, key: &[u8]) {
    let expire_at_ms = expiry(server, key);
    match call(server, &[b"DUMP", key]).bytes() {
        Some(dump) => {
            for side in sides(server, moonkeep) {
                restore(side, key, dump, expire_at_ms);
            }
        }
        None => {
            for side in sides(server, moonkeep) {
                call(side, &[b"DEL", key]);
            }
        }
    }
}

/// Passes each key of the database that is selected to and fro.
pub(crate) fn pass_to_and_fro(server: &mut dyn Target, moonkeep: &mut dyn Target) -> Result<(), Problem> {
    for key in server.call("(state)", &argv(&["KEYS", "*"])).items() {
        let Some(name) = key.bytes() else { continue };
        pass_key(server, moonkeep, name).map_err(|(expected, got)| (key.to_string(), expected, got))?;
    }
    for side in sides(server, moonkeep) {
        call(side, &[b"DEL", COPY, BACK]);
    }
    Ok(())
}

fn pass_key(server: &mut dyn Target, moonkeep: &mut dyn Target, key: &[u8]) -> Result<(), (String, String)> {
    // The server itself loses the sign of a score of -0 where a sorted set gets smaller on the way.
    let own = call(server, &[b"DUMP", key]);
    let expire_at_ms = expiry(server, key);
    restore(server, COPY, own.bytes().unwrap_or_default(), expire_at_ms);
    let digest = call(server, &[b"DEBUG", b"DIGEST-VALUE", COPY]);
    let mut facts: Option<[Wire; 3]> = None;
    for from in 0..2 {
        let [there, here] = sides(server, moonkeep);
        let dump = call(if from == 0 { there } else { here }, &[b"DUMP", key]);
        let Some(dump) = dump.bytes() else { return Err(("a dump".into(), dump.to_string())) };
        for to in sides(server, moonkeep) {
            let reply = restore(to, COPY, dump, expire_at_ms);
            if reply.is_error() {
                return Err(("+OK".into(), reply.to_string()));
            }
            let found = [
                call(to, &[b"OBJECT", b"ENCODING", COPY]),
                call(to, &[b"PEXPIRETIME", COPY]),
                call(to, &[b"XINFO", b"STREAM", COPY, b"FULL", b"COUNT", b"0"]),
            ];
            same(facts.get_or_insert_with(|| found.clone()), &found)?;
        }
        same(&digest, &call(server, &[b"DEBUG", b"DIGEST-VALUE", COPY]))?;
        same(&digest, &call(moonkeep, &[b"DEBUG", b"DIGEST-VALUE", COPY]))?;
        let back = call(moonkeep, &[b"DUMP", COPY]);
        restore(server, BACK, back.bytes().unwrap_or_default(), expire_at_ms);
        same(&digest, &call(server, &[b"DEBUG", b"DIGEST-VALUE", BACK]))?;
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(expected: &T, got: &T) -> Result<(), (String, String)> {
    if expected == got { Ok(()) } else { Err((format!("{expected:?}"), format!("{got:?}"))) }
}
