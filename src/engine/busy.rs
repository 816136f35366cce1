//! What can be asked of an engine beside its lock, while a script of another thread holds it: SCRIPT KILL.

use super::lock::Shared;
use crate::command::Argv;
use crate::command::args::is;
use crate::error::Failure;
use crate::reply::Reply;

impl Shared {
    /// Answers SCRIPT KILL while a script runs; false for all other calls, and when none runs.
    #[inline]
    pub(super) fn answers_beside_the_lock(&self, argv: Argv<'_>, out: &mut Reply) -> bool {
        self.script_control.is_running() && argv.len() == 2 && self.kill(argv, out)
    }
    #[cold]
    fn kill(&self, argv: Argv<'_>, out: &mut Reply) -> bool {
        if !is(argv[0], "script") || !is(argv[1], "kill") {
            return false;
        }
        if self.script_control.has_written() {
            out.error(&Failure::UNKILLABLE);
        } else {
            self.script_control.kill();
            out.ok();
        }
        true
    }
}
