//! What a compiled script can do to tables, read from its bytecode: a script that writes to no global and to no
//! table needs no proxies, and gets an environment that is quicker to read (`sandbox`). Dumps come from our own
//! parser and are only looked at, never loaded.

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
    // Version, format, byte order, sizes of int, size_t, instruction and number, whether numbers are integers.
    const HEADER: [u8; 12] = *b"\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00";
    let mut reader = Reader { rest: dump.strip_prefix(&HEADER)?, is_plain, uses: Uses::default() };
    reader.function()?;
    Some(reader.uses)
}

struct Reader<'a> {
    rest: &'a [u8],
    is_plain: &'a dyn Fn(&[u8]) -> bool,
    uses: Uses,
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

    fn function(&mut self) -> Option<()> {
        self.string()?;
        self.take(4 + 4 + 4)?;
        let count = self.count()?;
        let code = self.take(count.checked_mul(4)?)?;
        let constants = self.constants()?;
        for instruction in code.chunks_exact(4) {
            self.instruction(u32::from_le_bytes(instruction.try_into().ok()?), &constants)?;
        }
        for _ in 0..self.count()? {
            self.function()?;
        }
        self.debug_information()
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

    fn debug_information(&mut self) -> Option<()> {
        let lines = self.count()?;
        self.take(lines.checked_mul(4)?)?;
        for _ in 0..self.count()? {
            self.string()?;
            self.take(8)?;
        }
        for _ in 0..self.count()? {
            self.string()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_dump_has_no_known_uses() {
        assert_eq!(inspect(b"", &|_| true), None);
        assert_eq!(inspect(b"\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00\xff\xff", &|_| true), None);
    }
}
