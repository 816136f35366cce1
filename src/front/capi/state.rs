//! The state of an engine as a value: hashes, snapshots, forks, differences, dumps.

use super::border::{Text, free, give};
use super::engine::mk_engine;
use super::fault::{Needed, code, entry};
use super::reply::{give_or_null, mk_reply};
use super::tree::Tree;
use crate::engine::Snapshot;
use crate::reply::Reply;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// The state of an engine at one time: databases, scripts, settings, randomness and the time; clients are no part of it. It
/// does not change: any number of threads may use it. Cheap: nothing is copied that the engine does not change later.
pub struct mk_snapshot {
    snapshot: Snapshot,
}

/// The state of an engine as it is now. Owned by the caller: `mk_snapshot_free`, before or after the engine is freed. NULL on
/// failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_snapshot_new(engine: Option<&mk_engine>) -> *mut mk_snapshot {
    give(entry(|| Ok(mk_snapshot { snapshot: engine.needed("engine")?.engine.snapshot()? })).ok())
}

/// Frees a snapshot; NULL is ignored, and what is not a living snapshot refused as far as it can be told.
#[unsafe(no_mangle)]
pub extern "C" fn mk_snapshot_free(snapshot: *mut mk_snapshot) {
    let _ = entry(|| free(snapshot, "snapshot"));
}

/// Goes back to a snapshot, of this engine or another one with as many databases. Clients stay open, and see the clock of
/// the snapshot if it is a manual one. An engine that a panic poisoned works again. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_restore(engine: Option<&mk_engine>, snapshot: Option<&mk_snapshot>) -> c_int {
    code(|| {
        let snapshot = &snapshot.needed("snapshot")?.snapshot;
        Ok(engine.needed("engine")?.engine.restore(snapshot)?)
    })
}

/// A new engine that goes on from the state of this one, with a clock of its own and no clients: neither sees what the other
/// does from now on. Owned by the caller: `mk_engine_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_fork(engine: Option<&mk_engine>) -> *mut mk_engine {
    give(entry(|| Ok(engine.needed("engine")?.engine.fork()?.into())).ok())
}

/// A new engine that goes on from a snapshot. Owned by the caller: `mk_engine_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_snapshot_fork(snapshot: Option<&mk_snapshot>) -> *mut mk_engine {
    give(entry(|| Ok(snapshot.needed("snapshot")?.snapshot.fork().into())).ok())
}

/// What differs between two snapshots, key by key: an array of lines as in `~ stock string "10" -> "9"` (`+` for a key that
/// came, `-` for one that went), owned by the caller (`mk_reply_free`). NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_snapshot_diff(
    before: Option<&mk_snapshot>,
    after: Option<&mk_snapshot>,
) -> *mut mk_reply {
    give_or_null(|| {
        let before = before.needed("before")?;
        let changes = before.snapshot.diff(&after.needed("after")?.snapshot);
        let mut tape = Reply::new();
        tape.array(changes.len());
        changes.iter().for_each(|change| tape.bulk_display(change));
        Ok(Tree::of(&tape))
    })
}

/// 64 bits that tell what the databases hold: keys, values and expiry. Engines that hold the same have the same hash. Cheap
/// after a small change. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_state_hash(engine: Option<&mk_engine>, hash: Option<&mut MaybeUninit<u64>>) -> c_int {
    code(|| {
        let hash = hash.needed("hash")?.write(0);
        *hash = engine.needed("engine")?.engine.state_hash()?;
        Ok(())
    })
}

/// All databases as an `.rdb` file, which a server of version 7.0 loads: a string, owned by the caller (`mk_reply_free`).
/// NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_save_rdb(engine: Option<&mk_engine>) -> *mut mk_reply {
    give_or_null(|| Ok(Tree::of_bytes(&engine.needed("engine")?.engine.save_rdb()?)))
}

/// Takes the databases of an `.rdb` file, `len` bytes, in the place of the engine's own. `MK_OK` or a code: a broken file is
/// `MK_ERR_USAGE`, `mk_last_error` names the place, and the engine is as it was.
#[unsafe(no_mangle)]
pub extern "C" fn mk_load_rdb(engine: Option<&mk_engine>, file: Text<'_>, len: usize) -> c_int {
    code(|| {
        let file = file.of_length(len, "file")?;
        Ok(engine.needed("engine")?.engine.load_rdb(file)?)
    })
}
