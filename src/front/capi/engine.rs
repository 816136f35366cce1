//! Engines and their clock.

use super::border::{free, give};
use super::fault::{Fault, Needed, code, entry};
use super::options::mk_options;
use super::reply::{give_or_null, mk_reply};
use super::tree::Tree;
use crate::engine::Engine;
use crate::reply::Reply;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An engine: databases, scripts and the clock. Any number of threads may use one at the same time.
pub struct mk_engine {
    pub(super) engine: Engine,
    /// Shared with its clients; false once it is freed.
    pub(super) open: Arc<AtomicBool>,
}

impl From<Engine> for mk_engine {
    fn from(engine: Engine) -> mk_engine {
        mk_engine { engine, open: Arc::new(AtomicBool::new(true)) }
    }
}

impl Drop for mk_engine {
    fn drop(&mut self) {
        self.open.store(false, Ordering::Release);
        // After a panic, or from inside the engine, nobody waits.
        let _ = self.engine.close_sessions();
    }
}

/// Makes an engine with 16 empty databases and a clock that stands at the start of 2024 until `mk_advance_ms` moves it.
/// Owned by the caller: `mk_engine_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_engine_new() -> *mut mk_engine {
    give(entry(|| Ok(Engine::new().into())).ok())
}

/// Makes an engine with other settings, which are only read: further engines can be made with them. Owned by the caller:
/// `mk_engine_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_engine_with(options: Option<&mk_options>) -> *mut mk_engine {
    give(entry(|| Ok(options.needed("options")?.build().into())).ok())
}

/// Closes and frees an engine; NULL is ignored. Its clients stay valid and must still be freed, but each call through
/// them fails with `MK_ERR_CLOSED`. The memory of the databases is returned with the last client. A call that another
/// thread has begun is finished, and waited for; one that waits itself (BLPOP, `mk_wait_message`) fails with
/// `MK_ERR_CLOSED`. What is not a living engine is refused, as far as it can be told: `MK_ERR_USAGE` in
/// `mk_last_error_code`. No other thread uses this pointer from now on.
#[unsafe(no_mangle)]
pub extern "C" fn mk_engine_free(engine: *mut mk_engine) {
    let _ = entry(|| free(engine, "engine"));
}

/// Moves the engine's clock on by so many milliseconds and expires what is due, earliest first. `MK_OK` or a code:
/// `MK_ERR_USAGE` on the system's clock.
#[unsafe(no_mangle)]
pub extern "C" fn mk_advance_ms(engine: Option<&mk_engine>, ms: i64) -> c_int {
    code(|| {
        let engine = engine.needed("engine")?;
        let by = u64::try_from(ms)
            .map_err(|_| Fault::usage(format!("ms is {ms}; time is moved on, by 0 or more")))?;
        Ok(engine.engine.advance(Duration::from_millis(by))?)
    })
}

/// Sets the engine's clock to this Unix time in milliseconds, also backwards (not before 1970), and expires what is due.
/// `MK_OK` or a code: `MK_ERR_USAGE` on the system's clock.
#[unsafe(no_mangle)]
pub extern "C" fn mk_set_time_ms(engine: Option<&mk_engine>, unix_ms: i64) -> c_int {
    code(|| {
        let engine = engine.needed("engine")?;
        if unix_ms < 0 {
            return Err(Fault::usage(format!("unix_ms is {unix_ms}; no clock shows a time before 1970")));
        }
        Ok(engine.engine.set_time(unix_ms)?)
    })
}

/// The engine's time in Unix milliseconds; -1 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_now_ms(engine: Option<&mk_engine>) -> i64 {
    entry(|| Ok(engine.needed("engine")?.engine.now_ms()?)).unwrap_or(-1)
}

/// On the system's clock, for who keeps an engine for long and has nothing else to do: expires what is due and ends the
/// waiting of those whose timeout is over; any call does a little of it too. `*idle_ms` is how long nothing is to be done by
/// the clock, -1 for no end, as on a manual clock, which does all of this when it is moved. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_keep_time(engine: Option<&mk_engine>, idle_ms: Option<&mut MaybeUninit<i64>>) -> c_int {
    code(|| {
        let idle_ms = idle_ms.needed("idle_ms")?.write(-1);
        if let Some(idle) = engine.needed("engine")?.engine.keep_time()? {
            *idle_ms = i64::try_from(idle.as_millis()).unwrap_or(i64::MAX);
        }
        Ok(())
    })
}

/// Empties all databases at once; clients, scripts, settings and the clock stay as they are. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_reset(engine: Option<&mk_engine>) -> c_int {
    code(|| Ok(engine.needed("engine")?.engine.reset()?))
}

/// Stops the script that runs, whatever it has written, from another thread; does not wait for the engine. `MK_OK`, when
/// none runs too, or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_kill_script(engine: Option<&mk_engine>) -> c_int {
    code(|| {
        engine.needed("engine")?.engine.script_control().kill();
        Ok(())
    })
}

/// Takes what scripts wrote with `redis.log`, the oldest line first: an array of lines as in `warning: text`, owned by the
/// caller (`mk_reply_free`). The last thousand lines are kept. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_take_log(engine: Option<&mk_engine>) -> *mut mk_reply {
    give_or_null(|| {
        let lines = engine.needed("engine")?.engine.take_log()?;
        let mut tape = Reply::new();
        tape.array(lines.len());
        lines.iter().for_each(|line| tape.bulk_display(line));
        Ok(Tree::of(&tape))
    })
}
