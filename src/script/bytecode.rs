//! What a compiled script can do to tables, read from its bytecode: a script that writes to no global and to no
//! table needs no proxies, and gets an environment that is quicker to read (`sandbox`). And which of its lines can run,
//! and which come next, for coverage. Dumps come from our own parser and are only looked at, never loaded.

use std::collections::{BTreeMap, BTreeSet};

/// How a script uses names and tables.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// It assigns to a global.
    pub(super) sets_global: bool,
    /// It assigns to a field of some table.
    pub(super) sets_field: bool,
    /// It reads a global for which `is_plain` was false.
    pub(super) reads_other: bool,
}

const GET_GLOBAL: u32 = 5;
const SET_GLOBAL: u32 = 7;
const SET_TABLE: u32 = 9;

/// The uses of a dumped function and all functions in it; none when it cannot be read.
pub(super) fn inspect(dump: &[u8], is_plain: &dyn Fn(&[u8]) -> bool) -> Option<Uses> {
    let mut reader =
        Reader { rest: dump.strip_prefix(&HEADER)?, is_plain, uses: Uses::default(), paths: None };
    reader.function()?;
    Some(reader.uses)
}

/// The lines of a script that can run, and the ways between them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    /// The lines that hold an instruction which some path reaches. The return that Lua adds behind a function's own one is
    /// on no path.
    pub(super) lines: BTreeSet<u32>,
    /// From one line to another that may come next; to the first line of a function from where it is made.
    pub(super) steps: BTreeSet<(u32, u32)>,
}

/// The paths of a dumped function and all functions in it; none when the dump cannot be read.
pub(super) fn paths(dump: &[u8]) -> Option<Paths> {
    let rest = dump.strip_prefix(&HEADER)?;
    let paths = Some(Paths::default());
    let mut reader = Reader { rest, is_plain: &|_| true, uses: Uses::default(), paths };
    reader.function()?;
    reader.paths
}

/// Version, format, byte order, sizes of int, size_t, instruction and number, whether numbers are integers.
const HEADER: [u8; 12] = *b"\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00";

struct Reader<'a> {
    rest: &'a [u8],
    is_plain: &'a dyn Fn(&[u8]) -> bool,
    uses: Uses,
    /// The lines that can run, when somebody wants to know them.
    paths: Option<Paths>,
}

/// What is to be known of an inner function where it is made.
struct Inner {
    upvalues: usize,
    first_line: Option<u32>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.try_into().ok()?;
        usize::try_from(i32::from_le_bytes(bytes)).ok()
    }

    /// A string without the zero byte at its end.
    fn string(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u64::from_le_bytes(self.take(8)?.try_into().ok()?)).ok()?;
        let text = self.take(length)?;
        Some(text.split_last().map_or(text, |(_, text)| text))
    }

    /// Reads a function.
    fn function(&mut self) -> Option<Inner> {
        self.string()?;
        self.take(4 + 4)?;
        let upvalues = usize::from(*self.take(4)?.first()?);
        let count = self.count()?;
        let code = self.take(count.checked_mul(4)?)?;
        let constants = self.constants()?;
        for instruction in code.chunks_exact(4) {
            self.instruction(u32::from_le_bytes(instruction.try_into().ok()?), &constants)?;
        }
        let mut inner = Vec::new();
        for _ in 0..self.count()? {
            inner.push(self.function()?);
        }
        let lines = self.debug_information()?;
        let line = |at: usize| Some(u32::from_le_bytes(lines.get(at * 4..at * 4 + 4)?.try_into().ok()?));
        if let Some(paths) = &mut self.paths {
            let reached = reached(code, &inner);
            paths.lines.extend(reached.keys().filter_map(|at| line(*at)));
            let steps = reached.iter().flat_map(|(from, all)| all.iter().map(move |to| (*from, *to)));
            let steps = steps.filter_map(|(from, to)| Some((line(from)?, line(to)?)));
            let made =
                reached.keys().filter_map(|at| Some((line(*at)?, made(code, *at, &inner)?.first_line?)));
            paths.steps.extend(steps.chain(made).filter(|(from, to)| from != to));
        }
        Some(Inner { upvalues, first_line: line(0) })
    }

    /// The constants that are strings, by number; the others are empty.
    fn constants(&mut self) -> Option<Vec<&'a [u8]>> {
        let count = self.count()?;
        let mut constants = Vec::new();
        for _ in 0..count {
            constants.push(match self.take(1)? {
                [0] => &[][..],
                [1] => self.take(1).map(|_| &[][..])?,
                [3] => self.take(8).map(|_| &[][..])?,
                [4] => self.string()?,
                _ => return None,
            });
        }
        Some(constants)
    }

    fn instruction(&mut self, instruction: u32, constants: &[&[u8]]) -> Option<()> {
        match instruction & 0x3f {
            SET_GLOBAL => self.uses.sets_global = true,
            SET_TABLE => self.uses.sets_field = true,
            GET_GLOBAL => {
                let name = constants.get((instruction >> 14) as usize)?;
                self.uses.reads_other |= !(self.is_plain)(name);
            }
            _ => {}
        }
        Some(())
    }

    /// The line of each instruction, four bytes each.
    fn debug_information(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let lines = self.take(count.checked_mul(4)?)?;
        for _ in 0..self.count()? {
            self.string()?;
            self.take(8)?;
        }
        for _ in 0..self.count()? {
            self.string()?;
        }
        Some(lines)
    }
}

/// The instructions that some path from the first one reaches and a hook sees, each with those that may come next.
fn reached(code: &[u8], inner: &[Inner]) -> BTreeMap<usize, Vec<usize>> {
    let mut reached = BTreeMap::new();
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let Some(word) = instruction(code, at).filter(|_| !reached.contains_key(&at)) else { continue };
        let jump = |at: usize, word: u32| at.wrapping_add_signed((word >> 14) as isize - 0x1_ffff + 1);
        let (next, c) = (at + 1, (word >> 14) & 0x1ff);
        let all = match word & 0x3f {
            JUMP | FOR_PREPARE => vec![jump(at, word)],
            FOR_LOOP => vec![jump(at, word), next],
            RETURN => Vec::new(),
            // The jump behind a test belongs to it: it is no instruction of its own.
            EQUAL..=TEST_SET | FOR_EACH => {
                instruction(code, next).map(|word| jump(next, word)).into_iter().chain([next + 1]).collect()
            }
            LOAD_BOOLEAN if c != 0 => vec![next + 1],
            SET_LIST if c == 0 => vec![next + 1],
            CLOSURE => vec![next + made(code, at, inner).map_or(0, |inner| inner.upvalues)],
            _ => vec![next],
        };
        open.extend(&all);
        reached.insert(at, all);
    }
    reached
}

fn instruction(code: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(code.get(at.checked_mul(4)?..at.checked_mul(4)? + 4)?.try_into().ok()?))
}

/// The inner function that an instruction makes.
fn made<'a>(code: &[u8], at: usize, inner: &'a [Inner]) -> Option<&'a Inner> {
    let word = instruction(code, at).filter(|word| word & 0x3f == CLOSURE)?;
    inner.get((word >> 14) as usize)
}

const LOAD_BOOLEAN: u32 = 2;
const JUMP: u32 = 22;
const EQUAL: u32 = 23;
const TEST_SET: u32 = 27;
const RETURN: u32 = 30;
const FOR_LOOP: u32 = 31;
const FOR_PREPARE: u32 = 32;
const FOR_EACH: u32 = 33;
const SET_LIST: u32 = 34;
const CLOSURE: u32 = 36;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_dump_has_no_known_uses() {
        assert_eq!(inspect(b"", &|_| true), None);
        assert_eq!(inspect(b"\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00\xff\xff", &|_| true), None);
    }
}
