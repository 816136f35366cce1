//! The table of all commands: from the words of a command to its row, in a dozen nanoseconds and without allocating.
//! Names are compared without case: they are folded to two machine words, which for up to 16 bytes are the whole name.
//! The rows themselves are in `commands`, a layer above; it hands them to [`Table::new`].

use super::spec::{FAST, Spec};
use super::{Argv, usage};
use crate::error::Failure;
use std::fmt;

/// A command as the table holds it: its spec and what was derived from it once.
pub struct Row {
    /// Its place in the table, by which users know it.
    pub number: u16,
    /// The command's description.
    pub spec: &'static Spec,
    /// The number of words, name included; negative when that is only the least.
    pub arity: i32,
    /// Whether it may take long, with much data: longer than it took to write the data it removes.
    pub may_take_long: bool,
    /// The places of the subcommands in the table, in order of name.
    subcommands: Vec<u16>,
}

impl Row {
    /// Whether this many words, the name included, fit the arity.
    #[inline]
    pub fn takes(&self, words: usize) -> bool {
        let least = self.arity.unsigned_abs() as usize;
        words == least || (self.arity < 0 && words > least)
    }

    /// Whether this is a command with subcommands.
    pub fn is_container(&self) -> bool {
        !self.subcommands.is_empty()
    }
}

/// All commands.
pub struct Table {
    /// Commands and subcommands in order of name; a container comes before its subcommands.
    rows: Vec<Row>,
    /// Open addressing, linear probing, at most half full; a power of two.
    slots: Vec<Slot>,
}

/// A name in the table; the subcommands of all containers are in there too, told apart by `parent`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    name: Folded,
    parent: u16,
    row: u16,
    /// The folded form is this name's alone: letters only, and all of them kept.
    is_exact: bool,
}

const TOP: u16 = u16::MAX;
const EMPTY: Slot =
    Slot { name: Folded { len: 0, low: 0, high: 0 }, parent: TOP, row: u16::MAX, is_exact: false };

impl Table {
    /// Builds the table from the rows of all families. Of two rows with one name the first one holds.
    pub fn new(families: &[&'static [Spec]]) -> Table {
        let mut specs: Vec<&'static Spec> = families.iter().copied().flatten().collect();
        specs.sort_by_key(|spec| spec.parts());
        specs.dedup_by_key(|spec| spec.name);
        let slots = vec![EMPTY; (specs.len() * 2).next_power_of_two().max(2)];
        let mut table = Table { rows: Vec::with_capacity(specs.len()), slots };
        let mut container = TOP;
        for (place, spec) in (0..TOP).zip(specs) {
            let (name, subcommand) = spec.parts();
            match subcommand {
                None => {
                    container = place;
                    table.insert(name, TOP, place);
                }
                Some(subcommand) => {
                    table.insert(subcommand, container, place);
                    if let Some(row) = table.rows.get_mut(usize::from(container)) {
                        row.subcommands.push(place);
                    }
                }
            }
            let may_take_long = !spec.has(FAST) && !matches!(spec.name, "set" | "del");
            table.rows.push(Row {
                number: place,
                spec,
                arity: arity(spec),
                may_take_long,
                subcommands: Vec::new(),
            });
        }
        table.fix_containers();
        table
    }

    /// A container without arguments of its own wants a subcommand.
    fn fix_containers(&mut self) {
        for row in &mut self.rows {
            if row.is_container() && row.spec.arity == 0 {
                row.arity = -2;
            }
        }
    }

    fn insert(&mut self, name: &str, parent: u16, row: u16) {
        let is_exact = name.len() <= Folded::WHOLE && name.bytes().all(|byte| byte.is_ascii_lowercase());
        let name = Folded::new(name.as_bytes());
        let mut at = self.home(name, parent);
        while self.slots[at].row != EMPTY.row {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = Slot { name, parent, row, is_exact };
    }

    #[inline]
    fn home(&self, name: Folded, parent: u16) -> usize {
        let mixed =
            (name.low ^ name.high.rotate_left(29) ^ u64::from(parent)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn find(&self, name: &[u8], parent: u16) -> Option<u16> {
        let folded = Folded::new(name);
        let mut at = self.home(folded, parent);
        loop {
            let slot = self.slots.get(at)?;
            if slot.name == folded
                && slot.parent == parent
                && (slot.is_exact || self.is_named(slot.row, name))
            {
                return Some(slot.row);
            }
            if slot.row == EMPTY.row {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Compares the names themselves, where their folded forms do not tell all.
    #[cold]
    #[inline(never)]
    fn is_named(&self, row: u16, name: &[u8]) -> bool {
        let (container, subcommand) = self.rows[usize::from(row)].spec.parts();
        subcommand.unwrap_or(container).as_bytes().eq_ignore_ascii_case(name)
    }

    /// The row that runs these words; refuses an unknown command or subcommand and a wrong number of words.
    ///
    /// # Errors
    /// With the server's texts.
    #[inline(always)]
    pub fn lookup(&self, argv: Argv<'_>) -> Result<&Row, Failure> {
        let row = self.resolve(argv)?;
        if row.takes(argv.len()) { Ok(row) } else { Err(Failure::Arity(row.spec.name.to_owned())) }
    }

    /// As [`lookup`](Self::lookup), whatever the number of words.
    ///
    /// # Errors
    /// With the server's texts for an unknown command or subcommand.
    #[inline(always)]
    pub fn resolve(&self, argv: Argv<'_>) -> Result<&Row, Failure> {
        let place = argv.first().and_then(|name| self.find(name, TOP));
        let Some(place) = place else { return Err(Failure::unknown_command(argv)) };
        let row = &self.rows[usize::from(place)];
        match argv.get(1) {
            Some(subcommand) if row.is_container() => match self.find(subcommand, place) {
                Some(place) => Ok(&self.rows[usize::from(place)]),
                None => Err(Failure::unknown_subcommand(row.spec.name, subcommand)),
            },
            _ => Ok(row),
        }
    }

    /// The row with this full name: `get`, `config|get`.
    pub fn by_name(&self, name: &[u8]) -> Option<&Row> {
        let mut parts = name.split(|&byte| byte == b'|');
        let place = self.find(parts.next()?, TOP)?;
        let place = match parts.next() {
            Some(subcommand) => self.find(subcommand, place)?,
            None => place,
        };
        parts.next().is_none().then(|| &self.rows[usize::from(place)])
    }

    /// All commands and subcommands, in order of name.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The commands that are no subcommands, in order of name.
    pub fn commands(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.spec.parts().1.is_none())
    }

    /// The subcommands of a command, in order of name.
    pub fn subcommands<'a>(&'a self, row: &'a Row) -> impl ExactSizeIterator<Item = &'a Row> {
        row.subcommands.iter().map(|&place| &self.rows[usize::from(place)])
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} rows)", self.rows.len())
    }
}

fn arity(spec: &Spec) -> i32 {
    match spec.arity {
        0 => usage::parse(spec.name, spec.usage).map_or(-1, |arguments| usage::arity(spec.name, &arguments)),
        given => given,
    }
}

/// A name without regard to case, as two words: for up to 16 bytes all of it, of a longer one its first and last eight.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Folded {
    len: u32,
    low: u64,
    high: u64,
}

impl Folded {
    /// Names up to this length are told apart by their folded form alone.
    const WHOLE: usize = 16;

    #[inline]
    fn new(name: &[u8]) -> Folded {
        let (low, high) = if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
            (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
        } else if let [first, .., last] = name {
            // Two or three bytes: the middle one is the last again when there are two.
            let middle = name[name.len() / 2];
            (u64::from(*first) | u64::from(middle) << 8 | u64::from(*last) << 16, 0)
        } else {
            (name.first().copied().map_or(0, u64::from), 0)
        };
        Folded { len: name.len() as u32, low: fold(low), high: fold(high) }
    }
}

/// Eight bytes with the bit set that tells small letters from capitals. No two letters become one by it, nor does
/// another byte become a letter; other bytes may.
#[inline]
const fn fold(word: u64) -> u64 {
    word | 0x2020_2020_2020_2020
}

#[cfg(test)]
mod tests {
    use super::*;

    static SPECS: &[Spec] = &[
        Spec { name: "get", usage: "GET key", ..Spec::BASE },
        Spec { name: "config", usage: "CONFIG", ..Spec::BASE },
        Spec { name: "config|get", usage: "CONFIG GET parameter=(parameter)...", ..Spec::BASE },
        Spec { name: "georadiusbymember_ro", usage: "GEORADIUSBYMEMBER_RO key member", ..Spec::BASE },
        Spec { name: "georadiusbymember_xo", usage: "GEORADIUSBYMEMBER_XO key", ..Spec::BASE },
    ];

    fn name(words: &[&str]) -> Result<&'static str, String> {
        let table = Box::leak(Box::new(Table::new(&[SPECS])));
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        table.lookup(&argv).map(|row| row.spec.name).map_err(|failure| failure.to_string())
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(name(&["gEt", "k"]), Ok("get"));
        assert_eq!(name(&["CONFIG", "GET", "x", "y"]), Ok("config|get"));
        assert_eq!(name(&["GeoRadiusByMember_RO", "k", "m"]), Ok("georadiusbymember_ro"));
        assert_eq!(name(&["georadiusbymember_xo", "k"]), Ok("georadiusbymember_xo"));
    }

    #[test]
    fn what_is_not_there_is_refused_with_the_servers_texts() {
        assert_eq!(
            name(&["georadiusbymemXer_ro", "k", "m"]).unwrap_err().get(..19),
            Some("ERR unknown command")
        );
        assert_eq!(name(&["config", "no"]), Err("ERR unknown subcommand 'no'. Try CONFIG HELP.".into()));
        assert_eq!(name(&["config"]), Err("ERR wrong number of arguments for 'config' command".into()));
        assert_eq!(
            name(&["CONFIG", "get"]),
            Err("ERR wrong number of arguments for 'config|get' command".into())
        );
        assert_eq!(name(&["get", "a", "b"]), Err("ERR wrong number of arguments for 'get' command".into()));
        for odd in ["", "g", "ge", "\u{0}et", "g\u{5}t", "GET\u{0}", "config|get"] {
            assert!(name(&[odd]).unwrap_err().starts_with("ERR unknown command"), "{odd:?}");
        }
    }

    #[test]
    fn folding_makes_letters_of_letters_only() {
        let folded = |byte: u8| fold(u64::from_le_bytes([byte; 8]));
        for letter in b'a'..=b'z' {
            let alike: Vec<u8> = (0..=255).filter(|&byte| folded(byte) == folded(letter)).collect();
            assert_eq!(alike, [letter.to_ascii_uppercase(), letter]);
        }
    }

    #[test]
    fn full_names_have_at_most_two_parts() {
        let table = Table::new(&[SPECS]);
        let by_name = |name: &str| table.by_name(name.as_bytes()).map(|row| row.spec.name);
        assert_eq!(by_name("CONFIG|Get"), Some("config|get"));
        assert_eq!(by_name("config"), Some("config"));
        assert_eq!((by_name("config|get|x"), by_name("get|"), by_name("|get")), (None, None, None));
    }
}
