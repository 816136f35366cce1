//! What a script may spend: work (VM instructions, and what functions of this layer charge for theirs), time,
//! memory, source length. Work is deterministic and normally stops a script; the deadline stands far above it.
//! A stop is sticky: once set it holds to the end of the run, whatever the script catches. Not here: the hook
//! that reports instructions (`bridge`) and the counting of memory (`alloc`).

use crate::command::State;
use crate::error::Failure;
use crate::util::clock::{Deadline, Stopwatch};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How many instructions run between two looks at the budget.
pub(super) const INTERVAL: i32 = 1000;
/// Bytes of memory filled that count as one unit of work.
pub(super) const BYTES_PER_WORK: u64 = 16;
/// After so much work that is charged at once, as by a function that is not made of instructions, comes a look at the
/// time and at whether somebody wants the script to stop.
const SLICE: i64 = 100_000;
/// With so many bytes in use an instruction may take long: it may walk all strings of one hash, or copy a whole stack.
/// Then instructions between two looks times bytes in use stay at `INTERVAL` times this.
const QUICK_BYTES: usize = 1 << 20;
/// The same for bytes in large blocks, each of which an instruction may compare, copy or search.
const QUICK_LARGE_BYTES: usize = 64 << 10;

/// How many instructions may run until the next look at the budget, with so much memory in use: the same for the same
/// script, so that looks come at the same places.
pub(super) fn interval(used: usize, large: usize) -> i32 {
    let fair = |quick: usize, bytes: usize| INTERVAL as usize * quick / bytes.max(quick);
    fair(QUICK_BYTES, used).min(fair(QUICK_LARGE_BYTES, large)).max(1) as i32
}

/// The bounds of a script's run. With `work` and `time_ms` both at their maximum nothing is counted: such an engine is
/// for scripts that are known to end, for no other one can be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of work: one is about an instruction of the VM. The same script stops at the same unit each time. The code
    /// of a library, as FUNCTION LOAD runs it, gets 50 million at most.
    pub work: u64,
    /// Real time, in milliseconds: a backstop for what the work budget misjudges.
    pub time_ms: u64,
    /// Memory that Lua may hold, in bytes.
    pub memory: usize,
    /// Length of a script's source, in bytes.
    pub source: usize,
    /// Length of a string that a script makes or reads, in bytes; a table of the same size is bounded by `memory`.
    pub string: usize,
    /// Bytes of what a script may pass to commands and get from them, and by which the keyspace may grow meanwhile; the
    /// command that goes beyond it is the last one.
    pub traffic: usize,
    /// Size of what a script returns: its bytes, and 16 for each element.
    pub reply: usize,
    /// How deep arrays may lie in each other in what a script returns.
    pub nesting: usize,
}

impl Limits {
    /// Whether instructions have to be counted.
    pub(super) fn counts(&self) -> bool {
        self.work != u64::MAX || self.time_ms != u64::MAX
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            work: 500_000_000,
            time_ms: 30_000,
            memory: 64 << 20,
            source: 1 << 20,
            string: 16 << 20,
            traffic: 640 << 20,
            reply: 64 << 20,
            nesting: 256,
        }
    }
}

/// What a run is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// EVAL and its like.
    Script,
    /// FCALL.
    Function,
    /// The code of a library, as FUNCTION LOAD runs it: nobody sees it run, nobody may stop it, and it may do less work.
    Library,
}

/// The work that a library's code may do: about what the server's half a second allows.
const LIBRARY_WORK: u64 = 50_000_000;

/// What others may see and do while a script or a function runs and holds the lock: shared, and lock-free but for the
/// details of a function that runs for long.
#[derive(Debug, Default)]
pub struct Control {
    running: AtomicU8,
    details: Mutex<Option<RunningFunction>>,
    wrote: AtomicBool,
    kill: AtomicBool,
    work_left: AtomicU64,
    /// How many runs there were: to tell one from the next.
    runs: AtomicU64,
    /// Somebody has waited for what runs now for as long as busy-reply-threshold allows.
    overdue: AtomicBool,
    /// busy-reply-threshold; 0 for no end to waiting.
    patience_ms: AtomicU64,
    /// Called by the thread that runs a script, from time to time, once it has run for that long.
    on_overdue: OnceLock<OnOverdue>,
}

/// See [`Control::on_overdue`].
pub(crate) type OnOverdue = fn(&mut State, &Control);

/// How often it is called.
const OVERDUE_EVERY: Duration = Duration::from_millis(1);

/// A function that has run for a while.
#[derive(Debug)]
pub(crate) struct RunningFunction {
    pub(crate) name: Vec<u8>,
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) since: Stopwatch,
    /// How many libraries there are.
    pub(crate) libraries: usize,
    /// How many functions.
    pub(crate) functions: usize,
}

const IDLE: u8 = 0;
const SCRIPT: u8 = 1;
const FUNCTION: u8 = 2;

impl Control {
    /// Whether a script or a function runs now.
    pub fn is_running(&self) -> bool {
        self.running.load(Relaxed) != IDLE
    }

    /// Whether what runs is a function.
    pub fn is_function(&self) -> bool {
        self.running.load(Relaxed) == FUNCTION
    }

    /// Whether FUNCTION STATS of another thread is answered at once: the function has run for a while.
    pub fn is_told(&self) -> bool {
        self.details.lock().is_some()
    }

    /// Looks at the function that runs, when it has run for a while.
    pub(crate) fn function<R>(&self, look: impl FnOnce(&RunningFunction) -> R) -> Option<R> {
        self.details.lock().as_ref().map(look)
    }

    /// The number of the script or function that runs now.
    pub(crate) fn run(&self) -> Option<u64> {
        self.is_running().then(|| self.runs.load(Relaxed))
    }

    /// How long to wait for what runs now: without an end when this is none.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let ms = if self.overdue.load(Relaxed) { 1 } else { self.patience_ms.load(Relaxed) };
        (ms > 0).then(|| Duration::from_millis(ms))
    }

    /// Has this called from now on by the thread of any script or function that has run for busy-reply-threshold, between
    /// two instructions, so that it can do what else it has to do. What is set first holds.
    #[cfg(feature = "server")]
    pub(crate) fn on_overdue(&self, call: OnOverdue) {
        let _ = self.on_overdue.set(call);
    }

    /// Somebody has waited so long: nobody else has to.
    pub(crate) fn note_overdue(&self) {
        self.overdue.store(true, Relaxed);
    }

    /// Whether the running script has called a write command.
    pub fn has_written(&self) -> bool {
        self.wrote.load(Relaxed)
    }

    /// What the last script or function left of its work budget: the same for the same script in the same state.
    pub fn work_left(&self) -> u64 {
        self.work_left.load(Relaxed)
    }

    /// Asks the running script to stop at its next look at the budget.
    pub fn kill(&self) {
        self.kill.store(true, Relaxed);
    }
}

/// Why a run has to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    Work,
    Time,
    Killed,
    Reply,
    Traffic,
    Panicked,
}

impl Stop {
    /// The text of that error: nothing that would have to be dropped.
    pub(super) fn text(self) -> &'static str {
        match self.failure() {
            Failure::Text(Cow::Borrowed(text)) => text,
            _ => "",
        }
    }

    /// The error that the client gets.
    pub(super) fn failure(self) -> Failure {
        match self {
            Stop::Work => Failure::OUT_OF_WORK,
            Stop::Time => Failure::OUT_OF_TIME,
            Stop::Killed => Failure::KILLED,
            Stop::Traffic => Failure::TOO_MUCH_TRAFFIC,
            Stop::Reply => Failure::REPLY_TOO_LARGE,
            Stop::Panicked => Failure::PANICKED,
        }
    }
}

/// The account of the current run.
pub(super) struct Meter {
    /// Work until the next look at the time; below zero when it is due, and for good once there is a stop.
    slice: i64,
    /// Work left after that.
    reserve: i64,
    /// Bytes that may still be exchanged with commands.
    traffic: usize,
    /// The most bytes that the keyspace may have; none before the first command.
    keyspace_max: Option<usize>,
    purpose: Purpose,
    /// Others can see what runs.
    told: bool,
    deadline: Option<Deadline>,
    /// When what else is to be done is to be done next.
    overdue: Option<Deadline>,
    stop: Option<Stop>,
    /// Steps inside functions of this layer until the next look at the time: what is no instruction is never seen by
    /// the hook.
    pace: i32,
    /// How many there are between two looks, with the memory that was in use when somebody asked.
    interval: i32,
    /// How many instructions ran, while each of them is counted.
    counted: Option<u64>,
    /// Each of them is to be counted always, for a profile.
    counts_always: bool,
    limits: Limits,
    control: Arc<Control>,
}

impl Meter {
    pub(super) fn new(limits: Limits, control: Arc<Control>) -> Self {
        Meter {
            slice: 0,
            reserve: 0,
            traffic: 0,
            keyspace_max: None,
            purpose: Purpose::Script,
            told: true,
            deadline: None,
            overdue: None,
            stop: None,
            pace: INTERVAL,
            interval: INTERVAL,
            counted: None,
            counts_always: false,
            limits,
            control,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether instructions have to be reported.
    pub(super) fn counts(&self) -> bool {
        self.limits.counts() || self.counted.is_some()
    }
    /// Counts each instruction of the runs to come, or none of them; gives how many were counted.
    pub(super) fn count_each(&mut self, on: bool) -> u64 {
        std::mem::replace(&mut self.counted, (on || self.counts_always).then_some(0)).unwrap_or_default()
    }
    /// Counts each instruction from now on.
    pub(super) fn count_always(&mut self) {
        (self.counted, self.counts_always) = (Some(0), true);
    }
    /// Whether the hook is to be called for each instruction.
    pub(super) fn counts_each(&self) -> bool {
        self.counted.is_some()
    }
    /// The hook was called after so many instructions. False when it is not yet time for a look at the budget, which is
    /// once in an interval.
    #[inline]
    pub(super) fn tick(&mut self, ran: i32, interval: i32) -> bool {
        let Some(counted) = &mut self.counted else { return true };
        let looks = |counted: u64| counted / u64::from(interval.unsigned_abs().max(1));
        let before = *counted;
        *counted += u64::from(ran.unsigned_abs());
        looks(before) != looks(*counted)
    }

    /// A run begins: a full budget, no stop. Whether its instructions have to be counted.
    #[inline]
    pub(super) fn begin(&mut self, purpose: Purpose, patience_ms: u64) -> bool {
        let (work, running) = match purpose {
            Purpose::Script => (self.limits.work, SCRIPT),
            Purpose::Function => (self.limits.work, FUNCTION),
            Purpose::Library => (self.limits.work.min(LIBRARY_WORK), IDLE),
        };
        let work = i64::try_from(work).unwrap_or(i64::MAX);
        self.slice = work.min(SLICE);
        self.reserve = work - self.slice;
        self.traffic = self.limits.traffic;
        self.keyspace_max = None;
        self.deadline = None;
        self.overdue = None;
        self.stop = None;
        self.purpose = purpose;
        self.told = purpose != Purpose::Function;
        self.control.kill.store(false, Relaxed);
        self.control.wrote.store(false, Relaxed);
        self.control.overdue.store(false, Relaxed);
        self.control.patience_ms.store(patience_ms, Relaxed);
        self.control.runs.store(self.control.runs.load(Relaxed).wrapping_add(1), Relaxed);
        self.control.running.store(running, Relaxed);
        self.counts() || purpose == Purpose::Library
    }

    /// A run ends.
    #[inline]
    pub(super) fn end(&mut self) {
        self.control.overdue.store(false, Relaxed);
        self.control.running.store(IDLE, Relaxed);
        self.tell_left();
        if self.purpose == Purpose::Function && self.told {
            *self.control.details.lock() = None;
        }
    }

    /// Lets others see what the run left of its budget.
    #[inline]
    pub(super) fn tell_left(&self) {
        self.control.work_left.store(self.left(), Relaxed);
    }

    /// Whether it is time to `tell` what runs.
    pub(super) fn is_untold(&self) -> bool {
        !self.told
    }

    /// Lets others see what runs.
    #[cold]
    pub(super) fn tell(&mut self, function: RunningFunction) {
        self.told = true;
        *self.control.details.lock() = Some(function);
    }

    /// The script called a write command.
    #[inline]
    pub(super) fn wrote(&mut self) {
        self.control.wrote.store(true, Relaxed);
    }

    /// Work left in this run.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        self.reserve.saturating_add(self.slice).max(0).unsigned_abs()
    }

    /// Why the run has to end, when it has to.
    #[inline(always)]
    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop
    }

    pub(super) fn set_stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
        self.reserve = self.reserve.saturating_add(self.slice).max(0);
        self.slice = -1;
    }

    /// Charges for work done or about to be done. An error when the run has to end.
    #[inline(always)]
    pub(super) fn charge(&mut self, work: u64) -> Result<(), Stop> {
        self.slice = self.slice.saturating_sub_unsigned(work);
        if self.slice < 0 { self.refill() } else { Ok(()) }
    }

    /// Steps are made inside a function of this layer: each may walk or compare as much as an instruction may. They
    /// cost nothing; false when a look is due.
    #[inline(always)]
    pub(super) fn keeps_pace(&mut self, steps: i32) -> bool {
        self.pace = self.pace.saturating_sub(steps);
        self.pace >= 0
    }

    /// From here on so many steps, as many as instructions, lie between two looks.
    #[inline]
    pub(super) fn set_pace(&mut self, interval: i32) {
        (self.pace, self.interval) = (interval, interval);
    }

    /// The next step is followed by a look.
    pub(super) fn hurry(&mut self) {
        self.pace = 0;
    }

    /// Steps while the memory in use stays as it is: with a look when one is due.
    #[inline]
    pub(super) fn step(&mut self, steps: i32) -> Result<(), Stop> {
        if self.keeps_pace(steps) {
            return Ok(());
        }
        self.pace = self.interval;
        self.look()
    }

    /// Charges for the words of a command, and for how far behind the end of a string it writes. One string may stand
    /// in many places of the words, but no call takes more than all of Lua's memory.
    #[inline(always)]
    pub(super) fn pass(&mut self, bytes: usize, far: usize) -> Result<(), Stop> {
        if bytes > self.limits.memory {
            self.set_stop(Stop::Traffic);
        }
        self.traffic = self.traffic.saturating_sub(far);
        self.exchange(bytes)
    }

    /// Charges for bytes that go to a command or come from it.
    #[inline(always)]
    pub(super) fn exchange(&mut self, bytes: usize) -> Result<(), Stop> {
        match self.traffic.checked_sub(bytes) {
            Some(left) => self.traffic = left,
            None => self.set_stop(Stop::Traffic),
        }
        self.charge(bytes as u64 / BYTES_PER_WORK)
    }

    /// The first command of a run: the keyspace may grow from there on, by what `traffic` allows.
    #[inline(always)]
    pub(super) fn begin_growth(&mut self, keyspace_bytes: impl FnOnce() -> usize) {
        if self.keyspace_max.is_none() {
            self.keyspace_max = Some(keyspace_bytes().saturating_add(self.limits.traffic));
        }
    }

    /// A command wrote: it may have copied what is there already, or made it long.
    #[inline]
    pub(super) fn grow(&mut self, keyspace_bytes: usize) {
        if self.keyspace_max.is_some_and(|max| keyspace_bytes > max) {
            self.set_stop(Stop::Traffic);
        }
    }

    /// A slice of the work is done: a look at the time, and the next slice.
    #[cold]
    fn refill(&mut self) -> Result<(), Stop> {
        if let Some(stop) = self.stop {
            self.slice = -1;
            return Err(stop);
        }
        self.reserve = self.reserve.saturating_add(self.slice);
        self.slice = 0;
        if self.reserve < 0 {
            self.reserve = 0;
            self.set_stop(Stop::Work);
        }
        self.look()?;
        self.slice = self.reserve.min(SLICE);
        self.reserve -= self.slice;
        Ok(())
    }

    /// Whether the time is over, or somebody wants the run to stop. The time counts from the first such look.
    pub(super) fn look(&mut self) -> Result<(), Stop> {
        if self.control.kill.load(Relaxed) && self.purpose != Purpose::Library {
            self.set_stop(Stop::Killed);
        }
        let limit = Duration::from_millis(self.limits.time_ms);
        if self.deadline.get_or_insert_with(|| Deadline::after(limit)).is_over() {
            self.set_stop(Stop::Time);
        }
        self.stop.map_or(Ok(()), Err)
    }

    /// What is to be called now because the run takes so long, see [`Control::on_overdue`].
    pub(super) fn overdue(&mut self) -> Option<(OnOverdue, Arc<Control>)> {
        let call = *self.control.on_overdue.get()?;
        let patience_ms = self.control.patience_ms.load(Relaxed);
        if patience_ms == 0 || self.purpose == Purpose::Library {
            return None;
        }
        let patience = Duration::from_millis(patience_ms);
        if !self.overdue.get_or_insert_with(|| Deadline::after(patience)).is_over() {
            return None;
        }
        self.overdue = Some(Deadline::after(OVERDUE_EVERY));
        Some((call, Arc::clone(&self.control)))
    }

    /// Called by the hook after so many instructions, with the bytes of memory filled meanwhile.
    pub(super) fn report(&mut self, instructions: i32, bytes: u64) -> Result<(), Stop> {
        self.charge(u64::from(instructions.unsigned_abs()) + bytes / BYTES_PER_WORK)?;
        self.look()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(work: u64, time_ms: u64) -> Meter {
        let limits = Limits { work, time_ms, ..Limits::default() };
        let mut meter = Meter::new(limits, Arc::default());
        meter.begin(Purpose::Script, 0);
        meter
    }

    #[test]
    fn work_stops_a_run_and_the_stop_holds() {
        let mut meter = meter(2500, 1000);
        assert_eq!(meter.report(1000, 0), Ok(()));
        assert_eq!(meter.report(1000, 0), Ok(()));
        assert_eq!(meter.left(), 500);
        assert_eq!(meter.report(1000, 0), Err(Stop::Work));
        assert_eq!((meter.charge(0), meter.left()), (Err(Stop::Work), 0));
        meter.begin(Purpose::Script, 0);
        assert_eq!(meter.charge(2500), Ok(()));
        assert_eq!(meter.left(), 0);
    }

    #[test]
    fn time_stops_a_run_whatever_work_is_left() {
        let mut timeless = meter(u64::MAX, 0);
        assert_eq!(timeless.report(1, 0), Err(Stop::Time));
        assert_eq!(timeless.stop(), Some(Stop::Time));
        let mut patient = meter(u64::MAX, 1_000_000);
        assert!((0..1000).all(|_| patient.report(1000, 0).is_ok()));
    }

    #[test]
    fn work_that_is_charged_at_once_looks_at_the_time_too() {
        let mut timeless = meter(u64::MAX, 0);
        assert_eq!(timeless.charge(1), Ok(()));
        assert_eq!(timeless.charge(SLICE.unsigned_abs()), Err(Stop::Time));
        let mut killed = meter(u64::MAX, 1_000_000);
        assert_eq!(killed.charge(1), Ok(()));
        killed.control.kill();
        assert_eq!(killed.charge(10), Ok(()));
        assert_eq!(killed.charge(SLICE.unsigned_abs()), Err(Stop::Killed));
        assert_eq!(killed.charge(0), Err(Stop::Killed));
    }

    #[test]
    fn steps_that_cost_nothing_look_at_the_time_too() {
        let mut timeless = meter(u64::MAX, 0);
        timeless.set_pace(10);
        assert_eq!(timeless.step(10), Ok(()));
        assert_eq!(timeless.step(1), Err(Stop::Time));
        let mut hurried = meter(u64::MAX, 0);
        hurried.hurry();
        assert_eq!((hurried.step(0), hurried.step(1)), (Ok(()), Err(Stop::Time)));
    }

    #[test]
    fn looks_come_more_often_the_more_memory_is_in_use() {
        assert_eq!(interval(100_000, 0), INTERVAL);
        assert_eq!(interval(16 << 20, 0), INTERVAL / 16);
        assert_eq!(interval(1 << 20, 1 << 20), INTERVAL / 16);
        assert_eq!(interval(1 << 40, 1 << 40), 1);
    }

    #[test]
    fn a_kill_reaches_the_running_script_only() {
        let mut meter = meter(10_000, 10);
        let control = Arc::clone(&meter.control);
        assert!(control.is_running());
        control.kill();
        assert_eq!(meter.report(1, 0), Err(Stop::Killed));
        meter.end();
        assert!(!control.is_running());
        meter.begin(Purpose::Script, 0);
        assert_eq!(meter.report(1, 0), Ok(()));
    }
}
