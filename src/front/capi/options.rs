//! Settings of a new engine.

use super::border::{Text, free, give};
use super::fault::{Fault, Needed, code, entry};
use crate::engine::{Blocking, Builder, DATABASES_MAX, Engine};
use crate::script::Limits;
use crate::util::clock::Clock;
use parking_lot::Mutex;
use std::ffi::c_int;

/// Units of work of a script: one is about an instruction of the Lua VM. Default: 500 million.
pub const MK_LIMIT_WORK: c_int = 1;
/// Real time of a script in milliseconds, far above the limit of work. Default: 30 000.
pub const MK_LIMIT_TIME_MS: c_int = 2;
/// Bytes that Lua may hold. Default: 64 MiB.
pub const MK_LIMIT_MEMORY: c_int = 3;
/// Bytes of a script's text. Default: 1 MiB.
pub const MK_LIMIT_SOURCE: c_int = 4;
/// Bytes of a string that a script makes or reads. Default: 16 MiB.
pub const MK_LIMIT_STRING: c_int = 5;
/// Bytes that a script may pass to commands and get from them. Default: 640 MiB.
pub const MK_LIMIT_TRAFFIC: c_int = 6;
/// Bytes of what a script returns, 16 for each element counted in. Default: 64 MiB.
pub const MK_LIMIT_REPLY: c_int = 7;
/// How deep arrays may lie in each other in what a script returns, at most 1000. Default: 256.
pub const MK_LIMIT_NESTING: c_int = 8;

/// A call that has to wait (BLPOP on an empty list) stops its thread on the system's clock, and is refused with
/// `MK_ERR_WOULD_BLOCK` on a manual one. The default.
pub const MK_BLOCK_BY_CLOCK: c_int = 0;
/// It stops its thread until another one serves it or moves the clock.
pub const MK_BLOCK_WAIT: c_int = 1;
/// It is refused with `MK_ERR_WOULD_BLOCK`.
pub const MK_BLOCK_REFUSE: c_int = 2;
/// It moves a manual clock on to the end of its timeout; without a timeout it is refused.
pub const MK_BLOCK_ADVANCE: c_int = 3;

/// Replies deeper than this are not made: some of what reads them goes down with them.
const NESTING_MAX: u64 = 1000;

/// Settings for engines that are to be made. One thread at a time changes them.
pub struct mk_options {
    settings: Mutex<Settings>,
}

#[derive(Clone, Default)]
struct Settings {
    builder: Builder,
    limits: Limits,
    /// None for the system's clock; else where a manual one stands.
    start_ms: Option<i64>,
}

impl mk_options {
    /// An engine with a clock of its own.
    pub(super) fn build(&self) -> Engine {
        let Settings { builder, limits, start_ms } = self.settings.lock().clone();
        let clock = start_ms.map_or_else(Clock::system, Clock::manual);
        builder.script_limits(limits).clock(clock).build()
    }
    fn change(&self, how: impl FnOnce(Builder) -> Builder) {
        let mut settings = self.settings.lock();
        settings.builder = how(settings.builder.clone());
    }
}

/// Settings as `mk_engine_new` has them, to be changed. Owned by the caller: `mk_options_free`. NULL on failure.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_new() -> *mut mk_options {
    let settings = Settings { start_ms: Some(Clock::DEFAULT_START_MS), ..Settings::default() };
    give(entry(|| Ok(mk_options { settings: Mutex::new(settings) })).ok())
}

/// Frees settings; NULL is ignored, and what is not living settings refused as far as it can be told. Engines that were
/// made with them stay as they are.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_free(options: *mut mk_options) {
    let _ = entry(|| free(options, "options"));
}

/// A clock that stands at this Unix time in milliseconds until it is moved. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_manual_clock(options: Option<&mk_options>, unix_ms: i64) -> c_int {
    code(|| {
        let options = options.needed("options")?;
        if unix_ms < 0 {
            return Err(Fault::usage(format!("unix_ms is {unix_ms}; no clock shows a time before 1970")));
        }
        options.settings.lock().start_ms = Some(unix_ms);
        Ok(())
    })
}

/// The system's clock, which nobody moves. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_system_clock(options: Option<&mk_options>) -> c_int {
    code(|| {
        options.needed("options")?.settings.lock().start_ms = None;
        Ok(())
    })
}

/// The seed of all randomness, of commands and scripts: the same calls then have the same results. Default: 0. `MK_OK` or a
/// code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_seed(options: Option<&mk_options>, seed: u64) -> c_int {
    code(|| {
        options.needed("options")?.change(|builder| builder.seed(seed));
        Ok(())
    })
}

/// The seed of the hash tables: choose it at random where keys come from people you do not trust. Default: 0. `MK_OK` or a
/// code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_hash_seed(options: Option<&mk_options>, seed: u64) -> c_int {
    code(|| {
        options.needed("options")?.change(|builder| builder.hasher_seed(seed));
        Ok(())
    })
}

/// How many databases SELECT knows, 1 to 1,000,000. Default: 16. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_databases(options: Option<&mk_options>, databases: c_int) -> c_int {
    code(|| {
        let options = options.needed("options")?;
        let databases = u32::try_from(databases)
            .ok()
            .filter(|databases| (1..=DATABASES_MAX).contains(databases))
            .ok_or_else(|| {
                Fault::usage(format!("databases is {databases}; there are 1 to {DATABASES_MAX}"))
            })?;
        options.change(|builder| builder.databases(databases));
        Ok(())
    })
}

/// A parameter of the server's configuration file by its name, as `maxmemory`, also one that CONFIG SET does not change.
/// `MK_OK` or a code: `MK_ERR_USAGE` when there is no such parameter, or it does not take the value.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_setting(options: Option<&mk_options>, name: Text<'_>, value: Text<'_>) -> c_int {
    code(|| {
        let options = options.needed("options")?;
        let name = String::from_utf8_lossy(name.until_nul("name")?);
        let value = String::from_utf8_lossy(value.until_nul("value")?);
        let mut settings = options.settings.lock();
        settings.builder = settings.builder.clone().setting(&name, &value)?;
        Ok(())
    })
}

/// What a script may spend: `which` is one of `MK_LIMIT_...`. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_limit(options: Option<&mk_options>, which: c_int, value: u64) -> c_int {
    code(|| {
        let mut settings = options.needed("options")?.settings.lock();
        let limits = &mut settings.limits;
        let bytes = usize::try_from(value).unwrap_or(usize::MAX);
        match which {
            MK_LIMIT_WORK => limits.work = value,
            MK_LIMIT_TIME_MS => limits.time_ms = value,
            MK_LIMIT_MEMORY => limits.memory = bytes,
            MK_LIMIT_SOURCE => limits.source = bytes,
            MK_LIMIT_STRING => limits.string = bytes,
            MK_LIMIT_TRAFFIC => limits.traffic = bytes,
            MK_LIMIT_REPLY => limits.reply = bytes,
            MK_LIMIT_NESTING if value <= NESTING_MAX => limits.nesting = bytes,
            MK_LIMIT_NESTING => {
                return Err(Fault::usage(format!("replies nest at most {NESTING_MAX} deep, not {value}")));
            }
            other => return Err(Fault::usage(format!("there is no limit {other}; see MK_LIMIT_..."))),
        }
        Ok(())
    })
}

/// What becomes of a call that has to wait: one of `MK_BLOCK_...`. `MK_OK` or a code.
#[unsafe(no_mangle)]
pub extern "C" fn mk_options_blocking(options: Option<&mk_options>, how: c_int) -> c_int {
    code(|| {
        let options = options.needed("options")?;
        let blocking = match how {
            MK_BLOCK_BY_CLOCK => Blocking::ByClock,
            MK_BLOCK_WAIT => Blocking::Wait,
            MK_BLOCK_REFUSE => Blocking::Refuse,
            MK_BLOCK_ADVANCE => Blocking::Advance,
            other => return Err(Fault::usage(format!("there is no way {other} to wait; see MK_BLOCK_..."))),
        };
        options.change(|builder| builder.blocking(blocking));
        Ok(())
    })
}
