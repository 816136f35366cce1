//! Where a call, and the state that it meets, are not as a contract declares them: told from the words of an input, before
//! anything runs.

use super::{Contract, Elements, Field, Input, Key, KeyType, Presence};
use std::collections::BTreeMap;

/// One place where an input is not as declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stray {
    Arity,
    Arg(usize),
    /// The key is missing, of another type, or holds another text.
    Key(usize),
    /// The key has an element that is not as declared, or lacks one: no clause tells what becomes of it.
    Element(usize),
    /// The key has a field that is not declared.
    More(usize),
}

/// A key as the commands of a set-up make it.
struct Made<'a> {
    kind: &'static str,
    /// The commands that fill it, without their names, the key and the id of an entry.
    words: Vec<&'a [Vec<u8>]>,
}

impl Contract {
    /// All places where an input is not as declared; what a set-up does by other commands than those of the generator
    /// passes.
    pub(crate) fn strays(&self, input: &Input) -> Vec<Stray> {
        let mut strays = Vec::new();
        if self.has_wrong_arity(input.keys.len(), input.args.len()) {
            strays.push(Stray::Arity);
        }
        for (at, text) in input.args.iter().enumerate() {
            let many = self
                .args
                .len()
                .checked_sub(1)
                .filter(|last| at > *last && matches!(self.args[*last].presence, Presence::Many { .. }));
            let at = many.unwrap_or(at);
            let is_wrong = self.args.get(at).is_some_and(|arg| arg.grammar.fault(text).is_some());
            if is_wrong && !strays.contains(&Stray::Arg(at)) {
                strays.push(Stray::Arg(at));
            }
        }
        let mut setup: BTreeMap<&[u8], Vec<&Vec<Vec<u8>>>> = BTreeMap::new();
        for command in input.setup.iter().filter(|command| command.len() > 1) {
            setup.entry(&command[1]).or_default().push(command);
        }
        for (at, name) in input.keys.iter().enumerate() {
            let commands = setup.get(name.as_slice()).map_or(&[][..], Vec::as_slice);
            let declared = self.declared_key(at);
            let stray = declared.and_then(|(number, key)| key.stray(number, commands, input.advance_ms));
            strays.extend(stray.filter(|stray| !strays.contains(stray)));
        }
        strays
    }
}

impl Key {
    /// How a key is not as declared, by the number of its declaration.
    fn stray(&self, at: usize, commands: &[&Vec<Vec<u8>>], advance_ms: u64) -> Option<Stray> {
        let Some(made) = made(commands, advance_ms)? else {
            return self.required.then_some(Stray::Key(at));
        };
        match &self.kind {
            KeyType::Any => None,
            KeyType::String(grammar) if made.kind == "string" => {
                let text = made.words.last().and_then(|words| words.first());
                text.filter(|text| grammar.fault(text).is_some()).map(|_| Stray::Key(at))
            }
            KeyType::Collection(own, elements) if made.kind == *own => match elements {
                Elements::Any => None,
                Elements::Each(grammar) => {
                    let is_wrong = |text: &&Vec<u8>| grammar.fault(text).is_some();
                    made.values().any(|text| is_wrong(&text)).then_some(Stray::Element(at))
                }
                Elements::Fields(fields) => made.field_strays(fields, at),
            },
            _ => Some(Stray::Key(at)),
        }
    }
}

/// What the commands of a set-up make of their key: nothing that is there at the call, or something; None where a command does it that the
/// generator does not use.
fn made<'a>(commands: &[&'a Vec<Vec<u8>>], advance_ms: u64) -> Option<Option<Made<'a>>> {
    let mut made: Option<Made<'a>> = None;
    for command in commands {
        let (kind, from) = match command[0].as_slice() {
            b"SET" => ("string", 2),
            b"RPUSH" => ("list", 2),
            b"HSET" => ("hash", 2),
            b"SADD" => ("set", 2),
            b"ZADD" => ("zset", 2),
            b"XADD" => ("stream", 3),
            b"PEXPIRE" => {
                let ttl_ms: i64 = std::str::from_utf8(command.get(2)?).ok()?.parse().ok()?;
                // What has no time left at the call is still there.
                if ttl_ms <= 0 || u64::try_from(ttl_ms).ok()? < advance_ms {
                    made = None;
                }
                continue;
            }
            _ => return None,
        };
        let words = command.get(from..)?;
        match &mut made {
            Some(made) if made.kind == kind => made.words.push(words),
            _ => made = Some(Made { kind, words: vec![words] }),
        }
    }
    Some(made)
}

impl<'a> Made<'a> {
    /// What has a grammar of its own: items, members, the values of fields.
    fn values(&self) -> impl Iterator<Item = &'a Vec<u8>> + '_ {
        let (from, step) = if matches!(self.kind, "list" | "set") { (0, 1) } else { (1, 2) };
        self.words.iter().flat_map(move |words| words.iter().skip(from).step_by(step))
    }
    fn field_strays(&self, fields: &[Field], at: usize) -> Option<Stray> {
        // The entries of a stream have fields each; a hash has those of all commands.
        let whole: Vec<Vec<&[Vec<u8>]>> = match self.kind {
            "stream" => self.words.iter().map(|words| words.chunks(2).collect()).collect(),
            _ => vec![self.words.iter().flat_map(|words| words.chunks(2)).collect()],
        };
        let is_right = |pairs: &Vec<&[Vec<u8>]>| {
            fields.iter().all(|field| {
                let held = pairs.iter().rev().find(|pair| pair[0] == field.name);
                held.map_or(field.optional, |pair| {
                    pair.get(1).is_some_and(|text| field.grammar.fault(text).is_none())
                })
            })
        };
        let is_declared = |pair: &&[Vec<u8>]| fields.iter().any(|field| pair[0] == field.name);
        if !whole.iter().all(is_right) {
            return Some(Stray::Element(at));
        }
        (!whole.iter().flatten().all(is_declared)).then_some(Stray::More(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "--!contract c\n--!key h hash(state one_of(\"new\", \"run\"), tries int(0, 5) optional) rw\n\
        --!key n string int(0, 9) required\n--!argv how one_of(\"a\", \"b\")\n--!error arity, how, n \"ERR\"\n\
        --!error h.type WRONGTYPE\n--!error n.type WRONGTYPE\n--!reply any\n";

    #[test]
    fn each_place_is_told() {
        let contract = Contract::parse(TEXT).expect("a contract");
        let right = "SET n 1\nHSET h state new tries 5\n";
        for (setup, call, expected) in [
            (right, "call 2 h n a", &[][..]),
            ("SET n 1\nHSET h state new\n", "call 2 h n a", &[]),
            ("SET n 1\nHSET h tries 1\nHSET h state new\n", "call 2 h n a", &[]),
            ("SET n 1\n", "call 2 h n a", &[]),
            ("SET n 1\nHSET h state new tries \"\"\n", "call 2 h n a", &[Stray::Element(0)]),
            ("SET n 1\nHSET h tries 1\n", "call 2 h n a", &[Stray::Element(0)]),
            ("SET n 1\nHSET h state new more 1\n", "call 2 h n a", &[Stray::More(0)]),
            ("SET n 1\nSADD h state\n", "call 2 h n a", &[Stray::Key(0)]),
            ("SET n 10\n", "call 2 h n a", &[Stray::Key(1)]),
            ("SET n 1\nPEXPIRE n 4\nadvance 5 ms\n", "call 2 h n a", &[Stray::Key(1)]),
            ("SET n 1\nPEXPIRE n 5\nadvance 5 ms\n", "call 2 h n a", &[]),
            ("INCR n\n", "call 2 h n a", &[]),
            (right, "call 2 h n c", &[Stray::Arg(0)]),
            (right, "call 1 h c", &[Stray::Arity, Stray::Arg(0)]),
        ] {
            let input: Input = format!("{setup}{call}").parse().expect("an input");
            assert_eq!(contract.strays(&input), expected, "{setup}{call}");
        }
    }

    #[test]
    fn what_the_generator_makes_is_wrong_in_one_place_at_most_or_in_all_it_chose() {
        let contract = Contract::parse(TEXT).expect("a contract");
        let counts = contract.inputs(3).take(2000).map(|input| contract.strays(&input).len());
        let mut by_count = [0; 5];
        counts.for_each(|count| by_count[count] += 1);
        assert!(by_count[0] > 900 && by_count[1] > 500 && by_count[2] < 150, "{by_count:?}");
        let is_element = |stray: &Stray| matches!(stray, Stray::Element(_) | Stray::More(_));
        assert!(!contract.inputs(3).take(2000).any(|input| contract.strays(&input).iter().any(is_element)));
    }
}
