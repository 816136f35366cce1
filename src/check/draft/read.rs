//! What the words of a script say of its keys and arguments: how many there are, and what the script calls them.

use crate::contract::is_reserved;
use crate::syntax::Source;
use crate::syntax::outline::{Word, WordKind};

/// What was read.
pub(super) struct Read {
    pub(super) source: Vec<u8>,
    pub(super) keys: usize,
    pub(super) args: usize,
    /// KEYS, or ARGV, is gone through as a whole; more of them have the last name then.
    pub(super) many_keys: bool,
    pub(super) many: bool,
    pub(super) key_names: Vec<String>,
    pub(super) arg_names: Vec<String>,
}

/// More are not declared one by one.
const MOST: usize = 64;

struct Reader<'a> {
    source: &'a [u8],
    words: Vec<Word>,
}

impl Read {
    pub(super) fn of(source: &[u8]) -> Read {
        let words = Source::parse(source).map_or_else(|_| Vec::new(), |read| read.outline.words);
        let reader = Reader { source, words };
        let (keys, many_keys) = reader.count(b"KEYS");
        let (args, many) = reader.count(b"ARGV");
        let mut taken = vec!["keys".to_owned(), "more".to_owned()];
        let mut key_names = reader.names(b"KEYS", "key", keys, &mut taken);
        let mut arg_names = reader.names(b"ARGV", "arg", args, &mut taken);
        key_names.extend(many_keys.then(|| "keys".to_owned()));
        arg_names.extend(many.then(|| "more".to_owned()));
        Read { source: source.to_vec(), keys, args, many_keys, many, key_names, arg_names }
    }
    /// How many keys and arguments calls have that are tried: two of what there may be many of.
    pub(super) fn tried(&self) -> (usize, usize) {
        (self.keys + 2 * usize::from(self.many_keys), self.args + 2 * usize::from(self.many))
    }
}

impl<'a> Reader<'a> {
    fn text(&self, at: usize) -> &'a [u8] {
        self.words.get(at).map_or(b"", |word| &self.source[word.start..word.end])
    }
    fn number(&self, at: usize) -> Option<usize> {
        std::str::from_utf8(self.text(at)).ok()?.parse().ok().filter(|number| *number <= MOST)
    }
    /// The number of the key or argument at a place, as in `KEYS[1]`.
    fn position(&self, at: usize, table: &[u8]) -> Option<usize> {
        let is_indexed = self.text(at) == table && self.text(at + 1) == b"[" && self.text(at + 3) == b"]";
        self.number(at + 2).filter(|number| is_indexed && *number > 0)
    }
    /// How many keys or arguments there are, and whether all of them are gone through.
    fn count(&self, table: &[u8]) -> (usize, bool) {
        let (mut count, mut many) = (0, false);
        for at in 0..self.words.len() {
            if self.text(at) != table {
                continue;
            }
            if let Some(number) = self.position(at, table) {
                count = count.max(number);
            } else if at > 0 && self.text(at - 1) == b"#" {
                let is_compared = matches!(self.text(at + 1), b"~=" | b"==");
                count = count.max(self.number(at + 2).filter(|_| is_compared).unwrap_or(0));
                // `for i = 1, #KEYS`, `return #KEYS`.
                many |= at > 1 && !is_compared && matches!(self.text(at - 2), b"," | b"return");
            } else {
                many = true;
            }
        }
        (count, many)
    }
    /// What the script calls them: the names of `local a, b = KEYS[1], f(ARGV[1])`.
    fn names(&self, table: &[u8], other: &str, count: usize, taken: &mut Vec<String>) -> Vec<String> {
        let mut names = vec![String::new(); count];
        for at in (0..self.words.len()).filter(|&at| self.text(at) == b"local") {
            for (name, number) in self.assigned(at + 1, table) {
                let name = String::from_utf8_lossy(name).into_owned();
                let is_free = !is_reserved(&name) && !taken.contains(&name);
                if let Some(slot) = names.get_mut(number - 1).filter(|slot| slot.is_empty() && is_free) {
                    taken.push(name.clone());
                    *slot = name;
                }
            }
        }
        for (slot, number) in names.iter_mut().zip(1..) {
            if slot.is_empty() {
                *slot = format!("{other}{number}");
                while taken.contains(slot) {
                    slot.push('_');
                }
                taken.push(slot.clone());
            }
        }
        names
    }
    /// The names of a `local` with the keys or arguments that they are made of.
    fn assigned(&self, mut at: usize, table: &[u8]) -> Vec<(&'a [u8], usize)> {
        let mut names = Vec::new();
        while self.words.get(at).is_some_and(|word| word.kind == WordKind::Name) {
            names.push(self.text(at));
            at += 1;
            if self.text(at) != b"," {
                break;
            }
            at += 1;
        }
        if self.text(at) != b"=" {
            return Vec::new();
        }
        let (mut found, mut depth, mut value) = (Vec::new(), 0usize, 0);
        at += 1;
        while value < names.len() && at < self.words.len() {
            match self.text(at) {
                b"(" | b"{" | b"[" => depth += 1,
                b")" | b"}" | b"]" if depth == 0 => break,
                b")" | b"}" | b"]" => depth -= 1,
                b"," if depth == 0 => value += 1,
                b"local" | b"if" | b"return" | b"end" | b"function" | b"for" | b"while" => break,
                _ => {}
            }
            let is_known = found.iter().any(|(name, _)| *name == names[value.min(names.len() - 1)]);
            if let Some(number) = self.position(at, table).filter(|_| value < names.len() && !is_known) {
                found.push((names[value], number));
            }
            at += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_arguments_are_counted_and_named() {
        let read = Read::of(
            b"if #KEYS ~= 2 then return 1 end\nlocal stock, n = redis.call('GET', KEYS[1]), tonumber(ARGV[2])\nlocal len = ARGV[1] for i = 3, #ARGV do redis.call('SADD', KEYS[2], ARGV[i]) end",
        );
        assert_eq!((read.keys, read.args, read.many_keys, read.many), (2, 2, false, true));
        assert_eq!(read.key_names, ["stock", "key2"]);
        assert_eq!(read.arg_names, ["arg1", "n", "more"]);
        let read = Read::of(b"return 1");
        assert_eq!((read.keys, read.args, read.many_keys, read.many), (0, 0, false, false));
        for source in [
            "for i, key in ipairs(KEYS) do redis.call('DEL', key) end",
            "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end",
            "return redis.call('DEL', unpack(KEYS))",
            "return #KEYS",
        ] {
            let read = Read::of(source.as_bytes());
            assert_eq!((read.keys, read.many_keys, read.tried()), (0, true, (2, 0)), "{source}");
            assert_eq!(read.key_names, ["keys"]);
        }
    }
}
