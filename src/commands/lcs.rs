//! LCS: the longest common subsequence of two strings, and the ranges in which both have it.

use crate::command::args::{Args, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "lcs",
    usage: "LCS key1 key2#0 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]",
    summary: "Find longest common substring",
    since: "7.0.0",
    group: Group::String,
    complexity: "O(N*M) where N and M are the lengths of s1 and s2, respectively",
    flags: READONLY,
    keys: &[at(1, RO | ACCESS).range(1, 1, 0)],
    run: lcs,
    ..Spec::BASE
}];

/// The options of LCS.
#[derive(Default)]
struct LcsOptions {
    len: bool,
    idx: bool,
    withmatchlen: bool,
    minmatchlen: i64,
}

impl LcsOptions {
    fn parse(args: &mut Args<'_>) -> Result<Self, Failure> {
        let mut options = LcsOptions::default();
        while let Some(word) = args.next() {
            if is(word, "IDX") {
                options.idx = true;
            } else if is(word, "LEN") {
                options.len = true;
            } else if is(word, "WITHMATCHLEN") {
                options.withmatchlen = true;
            } else if is(word, "MINMATCHLEN") {
                options.minmatchlen = args.int()?.max(0);
            } else {
                return Err(Failure::Syntax);
            }
        }
        if options.len && options.idx {
            return Err(Failure::LCS_LEN_AND_IDX);
        }
        Ok(options)
    }
}

fn lcs(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (a, b) = (string_at(cx, argv[1]), string_at(cx, argv[2]));
    let (a, b) = (a?, b?);
    let options = LcsOptions::parse(&mut Args::new(argv, 3))?;
    let lengths = Lengths::new(&a, &b, cx.state.config.proto_max_bulk_len)?;
    let len = lengths.at(a.len(), b.len());
    if options.idx {
        out.map(2);
        out.bulk(b"matches");
        reply_matches(&a, &b, &lengths, &options, out);
        out.bulk(b"len");
        out.int(i64::from(len));
    } else if options.len {
        out.int(i64::from(len));
    } else {
        let mut common = Vec::with_capacity(len as usize);
        lengths.walk_back(&a, &b, |step| {
            if let Step::Match(i, _) = step {
                common.push(a[i]);
            }
        });
        common.reverse();
        out.bulk(&common);
    }
    Ok(Flow::Done)
}

/// A copy of the string at a key; empty when there is none.
fn string_at(cx: &mut Ctx<'_>, key: &[u8]) -> Result<Vec<u8>, Failure> {
    let Some(entry) = cx.read(key) else { return Ok(Vec::new()) };
    let text = entry.value().as_string();
    text.map(|text| text.to_vec()).map_err(|_| Failure::LCS_NOT_STRINGS)
}

/// For each pair of prefixes of two strings the length of what they have in common.
struct Lengths {
    cells: Vec<u32>,
    width: usize,
}

/// A step of the walk from the ends of both strings to their starts.
enum Step {
    /// Both have the same byte here, and it belongs to the result.
    Match(usize, usize),
    /// One of the strings goes back alone.
    Skip,
}

impl Lengths {
    /// Fills the table; its size is limited as that of a string is.
    fn new(a: &[u8], b: &[u8], limit: u64) -> Result<Self, Failure> {
        const LONGEST: usize = u32::MAX as usize - 1;
        if a.len() >= LONGEST || b.len() >= LONGEST {
            return Err(Failure::LCS_TOO_LONG);
        }
        let width = b.len() + 1;
        let size = (a.len() as u64 + 1).checked_mul(width as u64);
        match size.and_then(|size| size.checked_mul(size_of::<u32>() as u64)) {
            None => return Err(Failure::LCS_NO_MEMORY),
            Some(bytes) if bytes > limit => {
                return Err(Failure::LCS_TABLE_TOO_BIG);
            }
            Some(_) => {}
        }
        let mut cells = Vec::new();
        cells.try_reserve_exact((a.len() + 1) * width).map_err(|_| Failure::LCS_NO_MEMORY)?;
        cells.resize((a.len() + 1) * width, 0);
        for (i, byte) in a.iter().enumerate() {
            let (before, row) = cells[i * width..].split_at_mut(width);
            for (j, other) in b.iter().enumerate() {
                row[j + 1] = if byte == other { before[j] + 1 } else { before[j + 1].max(row[j]) };
            }
        }
        Ok(Lengths { cells, width })
    }

    fn at(&self, i: usize, j: usize) -> u32 {
        self.cells[i * self.width + j]
    }

    /// Walks from the ends to the starts, as the server does, so that of equal results the same one is found.
    fn walk_back(&self, a: &[u8], b: &[u8], mut each: impl FnMut(Step)) {
        let (mut i, mut j) = (a.len(), b.len());
        while i > 0 && j > 0 {
            if a[i - 1] == b[j - 1] {
                i -= 1;
                j -= 1;
                each(Step::Match(i, j));
            } else {
                if self.at(i - 1, j) > self.at(i, j - 1) {
                    i -= 1;
                } else {
                    j -= 1;
                }
                each(Step::Skip);
            }
        }
    }
}

/// Where a run of matching bytes starts in both strings, and how long it is.
#[derive(Clone, Copy)]
struct Run {
    a: usize,
    b: usize,
    len: usize,
}

fn reply_matches(a: &[u8], b: &[u8], lengths: &Lengths, options: &LcsOptions, out: &mut Reply) {
    let slot = out.deferred_array();
    let mut count = 0;
    let mut emit = |run: Run| {
        if run.len as i64 >= options.minmatchlen {
            reply_run(run, options.withmatchlen, out);
            count += 1;
        }
    };
    let mut open: Option<Run> = None;
    lengths.walk_back(a, b, |step| match (step, open) {
        (Step::Match(i, j), Some(run)) if run.a == i + 1 && run.b == j + 1 => {
            open = Some(Run { a: i, b: j, len: run.len + 1 });
        }
        (Step::Match(a, b), before) => {
            if let Some(run) = before {
                emit(run);
            }
            open = Some(Run { a, b, len: 1 });
        }
        (Step::Skip, before) => {
            if let Some(run) = before {
                emit(run);
            }
            open = None;
        }
    });
    if let Some(run) = open {
        emit(run);
    }
    out.close(slot, count);
}

fn reply_run(run: Run, with_len: bool, out: &mut Reply) {
    out.array(2 + usize::from(with_len));
    for start in [run.a, run.b] {
        out.array(2);
        out.int(start as i64);
        out.int((start + run.len - 1) as i64);
    }
    if with_len {
        out.int(run.len as i64);
    }
}
