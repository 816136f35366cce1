//! What can be asked of an engine beside its lock, while a script or a function of another thread holds it: SCRIPT KILL,
//! FUNCTION KILL and FUNCTION STATS. And what those get who wait for it: BUSY, after busy-reply-threshold.

use super::Core;
use super::lock::Shared;
use crate::command::Argv;
use crate::command::args::is;
use crate::commands::functions::stats_of_engines;
use crate::error::{Error, Failure};
use crate::reply::Reply;
use crate::script::RunningFunction;
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;

impl Shared {
    /// Answers those calls while a script or a function runs; false for all other calls, and when none runs.
    #[inline]
    pub(super) fn answers_beside_the_lock(&self, argv: Argv<'_>, out: &mut Reply) -> bool {
        self.script_control.is_running() && argv.len() == 2 && self.answer(argv, out)
    }
    #[cold]
    fn answer(&self, argv: Argv<'_>, out: &mut Reply) -> bool {
        let control = &self.script_control;
        let of_functions = is(argv[0], "function");
        if is(argv[1], "kill") && (of_functions || is(argv[0], "script")) {
            match self.kill(of_functions) {
                Ok(()) => out.ok(),
                Err(failure) => out.error(&failure),
            }
            return true;
        }
        if !of_functions || !is(argv[1], "stats") {
            return false;
        }
        if control.is_function() {
            return control.function(|function| stats(function, out)).is_some();
        }
        out.error(&Failure::BUSY_SCRIPT);
        true
    }
    /// Waits for the lock. A script or a function that holds it for longer than busy-reply-threshold is told of instead.
    #[cold]
    pub(super) fn wait_for<'a>(&self, core: &'a Mutex<Core>) -> Result<MutexGuard<'a, Core>, Error> {
        // A script that begins just now holds the lock before it is known to run.
        const MOMENT: Duration = Duration::from_millis(1);
        let control = &self.script_control;
        loop {
            let run = control.run();
            let patience = match (run, control.patience()) {
                (None, _) => MOMENT,
                (Some(_), Some(patience)) => patience,
                (Some(_), None) => return Ok(core.lock()),
            };
            if let Some(core) = core.try_lock_for(patience) {
                return Ok(core);
            }
            if run.is_some() && control.run() == run {
                control.note_overdue();
                let failure =
                    if control.is_function() { Failure::BUSY_FUNCTION } else { Failure::BUSY_SCRIPT };
                return Err(Error::reply(&failure.to_bytes()));
            }
        }
    }
    /// Scripts and functions are killed by commands of their own, and only before they have written.
    fn kill(&self, of_functions: bool) -> Result<(), Failure> {
        let control = &self.script_control;
        if control.has_written() {
            return Err(Failure::UNKILLABLE);
        }
        match (control.is_function(), of_functions) {
            (true, false) => Err(Failure::BUSY_FUNCTION),
            (false, true) => Err(Failure::BUSY_SCRIPT),
            _ => {
                control.kill();
                Ok(())
            }
        }
    }
}

/// FUNCTION STATS of a function that has run for a while: of one that has just begun the lock tells soon.
fn stats(function: &RunningFunction, out: &mut Reply) {
    out.map(2);
    out.bulk(b"running_script");
    out.map(3);
    out.bulk(b"name");
    out.bulk(&function.name);
    out.bulk(b"command");
    out.array(function.argv.len());
    function.argv.iter().for_each(|word| out.bulk(word));
    out.bulk(b"duration_ms");
    out.int(i64::try_from(function.since.elapsed().as_millis()).unwrap_or(i64::MAX));
    stats_of_engines(function.libraries, function.functions, out);
}
