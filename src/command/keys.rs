//! Where the keys of a command are: the key specs applied to an argv, as COMMAND GETKEYS answers and clusters
//! route, and the older first, last and step that summarise them.
//! A few commands have keys that no spec describes (SORT STORE, MIGRATE KEYS) or whose access depends on the
//! arguments (SET GET); those are read here by name. The specs themselves stand in the rows.

use super::Argv;
use super::spec::{
    ACCESS, Access, Begin, DELETE, Find, INCOMPLETE, KeySpec, NOT_KEY, OW, RO, RW, Spec, UPDATE,
    VARIABLE_FLAGS,
};
use crate::util::num::parse_i64;

/// A key among the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRef {
    /// Its place in the argv.
    pub at: usize,
    /// What is done to it.
    pub access: Access,
}

/// Whether the command can have keys at all.
pub fn has_keys(spec: &Spec) -> bool {
    spec.keys.iter().any(|key| key.access & NOT_KEY == 0)
}

/// The keys of a command whose number of arguments is right; none when they cannot be told.
pub fn find(spec: &Spec, argv: Argv<'_>) -> Vec<KeyRef> {
    let varies = spec.keys.iter().any(|key| key.access & VARIABLE_FLAGS != 0);
    let by_specs = if varies { None } else { by_specs(spec.keys, argv) };
    by_specs.unwrap_or_else(|| by_name(spec, argv))
}

/// Where what a command is routed by is among its words: its keys, and what is routed as if it were one.
pub fn routed(spec: &Spec, argv: Argv<'_>) -> Vec<usize> {
    let found =
        if has_keys(spec) { find(spec, argv) } else { all_by_specs(spec.keys, argv).unwrap_or_default() };
    found.into_iter().map(|key| key.at).collect()
}

/// What all specs of keys find; None when one of them cannot tell, or not completely.
fn by_specs(specs: &[KeySpec], argv: Argv<'_>) -> Option<Vec<KeyRef>> {
    let keys: Vec<KeySpec> = specs.iter().filter(|spec| spec.access & NOT_KEY == 0).copied().collect();
    all_by_specs(&keys, argv)
}

fn all_by_specs(specs: &[KeySpec], argv: Argv<'_>) -> Option<Vec<KeyRef>> {
    let mut found = Vec::new();
    for spec in specs {
        let begin = match spec.begin {
            Begin::Index(index) => i64::from(index),
            Begin::Keyword(keyword, from) => match behind(keyword, i64::from(from), argv) {
                Some(begin) => begin,
                None => continue,
            },
            Begin::Unknown => return None,
        };
        let (first, last, step) = extent(spec.find, begin, argv)?;
        if first < 0 || last >= argv.len() as i64 || last < first {
            return None;
        }
        let places = (first as usize..=last as usize).step_by(step.max(1) as usize);
        found.extend(places.map(|at| KeyRef { at, access: spec.access }));
        if spec.access & INCOMPLETE != 0 {
            return None;
        }
    }
    Some(found)
}

/// The place behind a keyword.
fn behind(keyword: &str, from: i64, argv: Argv<'_>) -> Option<i64> {
    let is_keyword = |&at: &usize| argv.get(at).is_some_and(|word| is(word, keyword));
    let place = if from > 0 {
        (from as usize..argv.len().saturating_sub(1)).find(is_keyword)
    } else {
        let from = usize::try_from(argv.len() as i64 + from).ok()?;
        (2..=from).rev().find(is_keyword)
    };
    place.map(|at| at as i64 + 1)
}

/// First and last key and the distance between two.
fn extent(find: Find, begin: i64, argv: Argv<'_>) -> Option<(i64, i64, i64)> {
    let argc = argv.len() as i64;
    match find {
        Find::Range { last, step, limit } => {
            let last = match (last, limit) {
                (0.., _) => begin + i64::from(last),
                (_, 0) => argc + i64::from(last),
                (_, _) => begin + (argc - begin) / i64::from(limit) + i64::from(last),
            };
            Some((begin, last, i64::from(step)))
        }
        Find::Counted { count, first, step } => {
            let count = argv.get(usize::try_from(begin + i64::from(count)).ok()?)?;
            let count = parse_i64(count).filter(|&count| count >= 0)?;
            let first = begin + i64::from(first);
            // The server cuts the count to an int.
            Some((first, first + i64::from(count as i32) - 1, i64::from(step)))
        }
        Find::Unknown => None,
    }
}

/// The commands that the specs alone do not describe; also what remains when specs could not be applied.
fn by_name(spec: &Spec, argv: Argv<'_>) -> Vec<KeyRef> {
    match spec.name {
        "set" => set(argv),
        "bitfield" => bitfield(argv),
        "sort" => sort(argv),
        "sort_ro" => vec![KeyRef { at: 1, access: RO | ACCESS }],
        "migrate" => migrate(argv),
        "xread" | "xreadgroup" => streams(argv),
        _ => counted(spec, argv),
    }
}

fn is(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

fn set(argv: Argv<'_>) -> Vec<KeyRef> {
    let reads = argv.iter().skip(3).any(|argument| is(argument, "get"));
    vec![KeyRef { at: 1, access: if reads { RW | ACCESS | UPDATE } else { OW | UPDATE } }]
}

/// BITFIELD only reads when all of its operations are GET; what cannot be read counts as a write.
fn bitfield(argv: Argv<'_>) -> Vec<KeyRef> {
    let mut rest = argv.get(2..).unwrap_or_default();
    let reads = loop {
        rest = match rest {
            [] => break true,
            [word, _, _, rest @ ..] if is(word, "get") => rest,
            [word, _, rest @ ..] if is(word, "overflow") => rest,
            _ => break false,
        };
    };
    vec![KeyRef { at: 1, access: if reads { RO | ACCESS } else { RW | ACCESS | UPDATE } }]
}

/// The key that SORT reads and the one it stores to; the last STORE holds.
fn sort(argv: Argv<'_>) -> Vec<KeyRef> {
    let mut keys = vec![KeyRef { at: 1, access: RO | ACCESS }];
    let mut at = 2;
    while let Some(word) = argv.get(at) {
        if is(word, "limit") {
            at += 2;
        } else if is(word, "get") || is(word, "by") {
            at += 1;
        } else if is(word, "store") && at + 1 < argv.len() {
            keys.truncate(1);
            keys.push(KeyRef { at: at + 1, access: OW | UPDATE });
        }
        at += 1;
    }
    keys
}

/// One key, or those behind KEYS when the one is empty.
fn migrate(argv: Argv<'_>) -> Vec<KeyRef> {
    let mut places = 3..4;
    let mut at = 6;
    while let Some(word) = argv.get(at) {
        if is(word, "keys") {
            places = if argv.get(3).is_some_and(|key| key.is_empty()) { at + 1..argv.len() } else { 0..0 };
            break;
        }
        at += match word {
            word if is(word, "auth") => 2,
            word if is(word, "auth2") => 3,
            _ => 1,
        };
    }
    places.map(|at| KeyRef { at, access: RW | ACCESS | DELETE }).collect()
}

/// The first half of what follows STREAMS, which is looked for behind well-formed options only.
fn streams(argv: Argv<'_>) -> Vec<KeyRef> {
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        at += match word {
            word if is(word, "block") || is(word, "count") => 2,
            word if is(word, "group") => 3,
            word if is(word, "noack") => 1,
            word if is(word, "streams") => {
                let rest = argv.len() - at - 1;
                let keys = if rest.is_multiple_of(2) { rest / 2 } else { 0 };
                return (at + 1..at + 1 + keys).map(|at| KeyRef { at, access: 0 }).collect();
            }
            _ => break,
        };
    }
    Vec::new()
}

/// A count that the specs refuse is read as C's atoi reads it, as the server does; accesses are then unknown.
fn counted(spec: &Spec, argv: Argv<'_>) -> Vec<KeyRef> {
    let mut keys = Vec::new();
    for key in spec.keys {
        let (Begin::Index(begin), Find::Counted { count, first, .. }) = (key.begin, key.find) else {
            continue;
        };
        let first = (begin + first) as usize;
        let count = argv.get((begin + count) as usize).map_or(0, |count| leading_number(count));
        if count < 1 || count > argv.len().saturating_sub(first) {
            return Vec::new();
        }
        keys.extend(first..first + count);
    }
    if keys.is_empty() {
        return Vec::new();
    }
    let single = |key: &KeySpec| match (key.begin, key.find) {
        (Begin::Index(at), Find::Range { .. }) => Some(at as usize),
        _ => None,
    };
    keys.extend(spec.keys.iter().filter_map(single));
    keys.into_iter().map(|at| KeyRef { at, access: 0 }).collect()
}

/// C's atoi: white space, a sign, digits; a number too large for an int is cut.
fn leading_number(text: &[u8]) -> usize {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let number =
        digits.fold(0i64, |number, byte| number.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    usize::try_from(number as i32).unwrap_or(0)
}

/// First and last key and step, as far as such a range describes the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyRange {
    /// The first key; 0 for none.
    pub first: i32,
    /// The last key; negative counts from the end.
    pub last: i32,
    /// The distance between two keys.
    pub step: i32,
    /// The range does not tell of all keys (`flag::MOVABLEKEYS`).
    pub movable: bool,
}

/// Summarises the key specs as older clients know them.
pub fn legacy_range(specs: &[KeySpec]) -> LegacyRange {
    let plain = |key: &KeySpec| match (key.begin, key.find) {
        (Begin::Index(first), Find::Range { last, step, .. }) => {
            Some((first, if last < 0 { last } else { first + last }, step))
        }
        _ => None,
    };
    let incomplete = |key: &KeySpec| key.access & INCOMPLETE != 0;
    if let [key] = specs
        && let Some((first, last, step)) = plain(key)
    {
        return LegacyRange { first, last, step, movable: incomplete(key) };
    }
    let mut range = LegacyRange::default();
    for key in specs {
        match plain(key) {
            Some((first, last, 1)) if range.first == 0 || range.last == first - 1 => {
                range.movable |= incomplete(key);
                range.first = if range.first == 0 { first } else { range.first };
                // Compared without sign, so that a last key counted from the end is beyond any other.
                range.last = (range.last as u32).max(last as u32) as i32;
                range.step = 1;
            }
            _ => range.movable = true,
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::super::spec::{RM, after, at, unknown};
    use super::*;

    const COUNTED: KeySpec = at(2, RO | ACCESS).counted(0, 1, 1);

    fn places(name: &'static str, keys: &'static [KeySpec], words: &str) -> Vec<usize> {
        let argv: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
        find(&Spec { name, keys, ..Spec::BASE }, &argv).iter().map(|key| key.at).collect()
    }

    #[test]
    fn key_specs_find_keys() {
        const ALL: &[KeySpec] = &[at(1, RM | DELETE).range(-1, 1, 0)];
        const EVERY_OTHER: &[KeySpec] = &[at(1, OW | UPDATE).range(-1, 2, 0)];
        const STORED: &[KeySpec] = &[at(1, OW | UPDATE), COUNTED];
        assert_eq!(places("del", ALL, "DEL a b c"), [1, 2, 3]);
        assert_eq!(places("mset", EVERY_OTHER, "MSET a 1 b 2"), [1, 3]);
        assert_eq!(places("eval", &[COUNTED], "EVAL body 2 a b c"), [3, 4]);
        assert_eq!(places("eval", &[COUNTED], "EVAL body 0 a"), []);
        assert_eq!(places("eval", &[COUNTED], "EVAL body 3 a b"), []);
        assert_eq!(places("zunionstore", STORED, "ZUNIONSTORE d 2 a b"), [1, 3, 4]);
        const STREAMS: &[KeySpec] = &[after("STREAMS", 1, RO | ACCESS).range(-1, 1, 2)];
        assert_eq!(places("xread", STREAMS, "XREAD COUNT 1 streams a b 0 0"), [4, 5]);
        assert_eq!(places("xread", STREAMS, "XREAD a b 0 0"), []);
    }

    #[test]
    fn some_commands_are_read_by_name() {
        const SORT: &[KeySpec] = &[at(1, RO | ACCESS), unknown(RO | ACCESS), unknown(OW | UPDATE)];
        assert_eq!(places("sort", SORT, "SORT k GET store STORE a STORE b"), [1, 7]);
        const MIGRATE: &[KeySpec] = &[at(3, RW), after("KEYS", -2, RW | INCOMPLETE).range(-1, 1, 0)];
        let words = ["MIGRATE", "h", "p", "", "0", "9", "AUTH", "keys", "KEYS", "a", "b"].map(str::as_bytes);
        let found = find(&Spec { name: "migrate", keys: MIGRATE, ..Spec::BASE }, &words);
        assert_eq!(found.iter().map(|key| key.at).collect::<Vec<_>>(), [9, 10]);
        assert_eq!(places("migrate", MIGRATE, "MIGRATE h p k 0 9 COPY"), [3]);
    }

    #[test]
    fn access_depends_on_the_arguments() {
        let access = |name, keys, words: &str| {
            let argv: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
            find(&Spec { name, keys, ..Spec::BASE }, &argv)[0].access
        };
        const KEY: &[KeySpec] = &[at(1, RW | ACCESS | UPDATE | VARIABLE_FLAGS)];
        assert_eq!(access("set", KEY, "SET k v"), OW | UPDATE);
        assert_eq!(access("set", KEY, "SET k v get"), RW | ACCESS | UPDATE);
        assert_eq!(access("bitfield", KEY, "BITFIELD k GET u8 0 OVERFLOW WRAP"), RO | ACCESS);
        assert_eq!(access("bitfield", KEY, "BITFIELD k GET u8 0 SET u8 0 1"), RW | ACCESS | UPDATE);
    }

    #[test]
    fn older_clients_see_a_range() {
        let range = |first, last, step, movable| LegacyRange { first, last, step, movable };
        assert_eq!(legacy_range(&[]), range(0, 0, 0, false));
        assert_eq!(legacy_range(&[at(1, OW).range(-1, 2, 0)]), range(1, -1, 2, false));
        assert_eq!(legacy_range(&[at(1, RO), at(2, OW)]), range(1, 2, 1, false));
        assert_eq!(legacy_range(&[at(1, RO), at(2, RO).range(-1, 1, 0)]), range(1, -1, 1, false));
        assert_eq!(legacy_range(&[COUNTED]), range(0, 0, 0, true));
        assert_eq!(legacy_range(&[at(1, OW), COUNTED]), range(1, 1, 1, true));
    }
}
