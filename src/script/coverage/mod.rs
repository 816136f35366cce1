//! Which lines of scripts and functions ran, and how often: a value that engines share. The hook and `redis.call` note
//! into it (`bridge`), compiled functions tell which lines can run (`bytecode`); `report` shows it as lcov and HTML.

mod report;

use super::bytecode::Paths;
use crate::command::shebang;
use crate::util::digest::sha1_hex;
use crate::util::lines::lines;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which lines of scripts ran, and how often: noted by all engines that were built with it
/// ([`Builder::coverage`](crate::Builder::coverage)), over their whole lives, added up by text of the script. Clones are
/// the same value.
///
/// ```
/// use moonkeep::{Coverage, Engine, Script};
/// let coverage = Coverage::with_instructions();
/// let mut client = Engine::builder().coverage(&coverage).build().client();
/// let script = Script::new("for i = 1, 3 do\n  redis.call('INCR', KEYS[1])\nend");
/// coverage.name_script(script.source(), "count.lua");
/// script.key("n").run::<()>(&mut client)?;
/// let [covered] = &coverage.scripts()[..] else { panic!("one script") };
/// let second = &covered.lines[1];
/// assert_eq!((second.line, second.hits, second.calls), (2, 3, 3));
/// assert_eq!(second.instructions, 6 * 3);
/// assert!(coverage.lcov().starts_with("TN:\nSF:count.lua\nDA:1,4\nDA:2,3\n"));
/// # Ok::<(), moonkeep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    scripts: Arc<Mutex<BTreeMap<Sha, Noted>>>,
    counts_instructions: bool,
}

type Sha = [u8; 40];

/// What is noted of one script.
#[derive(Debug)]
struct Noted {
    source: Vec<u8>,
    name: Option<String>,
    lines: Arc<Mutex<Lines>>,
}

/// The lines of one script.
#[derive(Debug, Default)]
struct Lines {
    /// Those that can run; empty until the script is compiled.
    paths: Paths,
    /// By the number of the line.
    tallies: Vec<Tally>,
}

/// What is noted of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) hits: u64,
    pub(crate) instructions: u64,
    pub(crate) calls: u64,
}

/// The lines of one script, for who looks at each run by itself.
#[derive(Clone)]
pub(crate) struct Watched(Arc<Mutex<Lines>>);

/// What ran of one script, or of one library of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCoverage {
    /// The name that [`Coverage::name_script`] gave it; else that of the library, or the SHA1, with `.lua` behind it.
    pub name: String,
    /// The SHA1 of the text in lower-case hexadecimal.
    pub sha: String,
    /// The text.
    pub source: Vec<u8>,
    /// The lines that can run, in order: those with an instruction on some path through the compiled script.
    pub lines: Vec<LineCoverage>,
}

/// How often one line ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCoverage {
    /// The number of the line, from 1.
    pub line: u32,
    /// How often it was entered; a loop on one line enters it anew each time around.
    pub hits: u64,
    /// Instructions of the Lua VM that ran on it; 0 unless they are counted ([`Coverage::with_instructions`]).
    pub instructions: u64,
    /// Calls of `redis.call` and `redis.pcall` that it made.
    pub calls: u64,
}

impl Coverage {
    /// Notes which lines run, and calls of commands.
    pub fn new() -> Self {
        Coverage::default()
    }
    /// Counts the instructions of each line as well, one by one, as a profile needs them.
    ///
    /// A script that runs out of its budget of work is stopped up to a thousand instructions earlier or later than
    /// without, where it uses coroutines or ran after another one; with [`new`](Self::new) it is stopped at the same one.
    pub fn with_instructions() -> Self {
        Coverage { counts_instructions: true, ..Coverage::default() }
    }
    /// Whether instructions are counted.
    pub fn counts_instructions(&self) -> bool {
        self.counts_instructions
    }
    /// Names the script with this text, as a file by its path: for what is shown, before or after it runs.
    pub fn name_script(&self, text: impl AsRef<[u8]>, name: impl Into<String>) {
        let text = text.as_ref();
        self.scripts.lock().entry(sha1_hex(text)).or_insert_with(|| Noted::new(text)).name =
            Some(name.into());
    }
    /// Each script that was compiled, in order of names.
    pub fn scripts(&self) -> Vec<ScriptCoverage> {
        let scripts = self.scripts.lock();
        let mut all: Vec<ScriptCoverage> =
            scripts.iter().filter_map(|(sha, noted)| noted.told(sha)).collect();
        all.sort_by(|one, other| (&one.name, &one.sha).cmp(&(&other.name, &other.sha)));
        all
    }
    /// All counts are 0 again.
    pub fn clear(&self) {
        self.scripts.lock().values().for_each(|noted| noted.lines.lock().tallies.clear());
    }
    /// A tracefile of lcov, as `genhtml` and the services that show coverage read it.
    pub fn lcov(&self) -> String {
        report::lcov(&self.scripts())
    }
    /// A page that stands alone in one file: each script with its lines, marked by what ran.
    pub fn html(&self) -> String {
        report::html(&self.scripts(), self.counts_instructions)
    }

    /// The lines of the script with this text.
    pub(crate) fn watch(&self, text: &[u8]) -> Watched {
        Watched(self.lines(text))
    }

    fn lines(&self, text: &[u8]) -> Arc<Mutex<Lines>> {
        let mut scripts = self.scripts.lock();
        scripts.entry(sha1_hex(text)).or_insert_with(|| Noted::new(text)).lines.clone()
    }
}

impl Watched {
    /// The lines that ran since the last time, with what is noted of each.
    pub(crate) fn take(&self) -> Vec<(u32, Tally)> {
        let tallies = std::mem::take(&mut self.0.lock().tallies);
        let ran = (0..).zip(tallies).filter(|(_, tally)| *tally != Tally::default());
        ran.collect()
    }
    /// The lines that can run.
    pub(crate) fn lines(&self) -> BTreeSet<u32> {
        self.0.lock().paths.lines.clone()
    }
    /// From one line to another that may come next.
    pub(crate) fn steps(&self) -> BTreeSet<(u32, u32)> {
        self.0.lock().paths.steps.clone()
    }
}

impl ScriptCoverage {
    /// The lines of the text as the VM counts them, whatever they end with; bytes that are no UTF-8 are replaced.
    ///
    /// ```
    /// use moonkeep::{Coverage, Engine};
    /// let coverage = Coverage::new();
    /// Engine::builder().coverage(&coverage).build().client().call(["EVAL", "local n = 1\r\nreturn\r n", "0"])?;
    /// let script = &coverage.scripts()[0];
    /// assert_eq!(script.source_lines(), ["local n = 1", "return", " n"]);
    /// assert_eq!(script.lines.last().map(|line| line.line), Some(3));
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    pub fn source_lines(&self) -> Vec<Cow<'_, str>> {
        lines(&self.source).map(String::from_utf8_lossy).collect()
    }
    /// The lines that can run and did not, in order.
    pub fn missed(&self) -> Vec<u32> {
        self.lines.iter().filter(|line| line.hits == 0).map(|line| line.line).collect()
    }
    /// How many of its lines ran, and how many can.
    ///
    /// ```
    /// use moonkeep::{Coverage, Engine};
    /// let coverage = Coverage::new();
    /// let mut client = Engine::builder().coverage(&coverage).build().client();
    /// client.call(["EVAL", "local n = 1\nif n == 2 then\n  return 3\nend", "0"])?;
    /// assert_eq!(coverage.scripts()[0].covered(), (3, 4));
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    pub fn covered(&self) -> (usize, usize) {
        (self.lines.iter().filter(|line| line.hits > 0).count(), self.lines.len())
    }
}

impl Noted {
    fn new(text: &[u8]) -> Self {
        Noted { source: text.to_vec(), name: None, lines: Arc::default() }
    }

    /// None before the script was compiled.
    fn told(&self, sha: &Sha) -> Option<ScriptCoverage> {
        let lines = self.lines.lock();
        if lines.paths.lines.is_empty() {
            return None;
        }
        let line = |&line: &u32| {
            let tally = lines.tallies.get(line as usize).copied().unwrap_or_default();
            let Tally { hits, instructions, calls } = tally;
            LineCoverage { line, hits, instructions, calls }
        };
        let sha = String::from_utf8_lossy(sha).into_owned();
        let own_name = || match shebang::parse_library(&self.source) {
            Ok(library) => format!("{}.lua", String::from_utf8_lossy(&library.name)),
            Err(_) => format!("{sha}.lua"),
        };
        Some(ScriptCoverage {
            name: self.name.clone().unwrap_or_else(own_name),
            source: self.source.clone(),
            lines: lines.paths.lines.iter().map(line).collect(),
            sha,
        })
    }
}

/// The side of an interpreter: it notes what runs for the text that was told last.
pub(super) struct Recorder {
    coverage: Coverage,
    current: Arc<Mutex<Lines>>,
}

/// The names of chunks that are scripts or libraries, not text that these load.
const CHUNKS: [&[u8]; 2] = [b"@user_script", b"@user_function"];

impl Recorder {
    pub(super) fn new(coverage: Coverage) -> Self {
        Recorder { coverage, current: Arc::default() }
    }

    /// What runs from now on belongs to this text.
    pub(super) fn cover(&mut self, text: &[u8]) {
        self.current = self.coverage.lines(text);
    }

    /// The lines of the current text that can run.
    pub(super) fn note_paths(&self, paths: Option<Paths>) {
        let Paths { lines, steps } = paths.unwrap_or_default();
        let mut current = self.current.lock();
        current.paths.lines.extend(lines);
        current.paths.steps.extend(steps);
    }

    /// Notes something of a line; false when the chunk is no script.
    pub(super) fn note(&self, chunk: &[u8], line: i32, what: impl FnOnce(&mut Tally)) -> bool {
        let Ok(line) = usize::try_from(line) else { return false };
        if !CHUNKS.contains(&chunk) {
            return false;
        }
        let mut lines = self.current.lock();
        if lines.tallies.len() <= line {
            lines.tallies.resize(line + 1, Tally::default());
        }
        lines.tallies.get_mut(line).map(what).is_some()
    }
}
