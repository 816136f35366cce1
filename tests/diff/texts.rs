//! The error texts that stand in the sources, so that one which no program reaches shows as such, and replies with
//! different names and numbers count as one text.

/// Where they stand, and who looks for them: the texts of servers and scripts have their own judges.
const SOURCES: &[&str] = &[
    include_str!("../../src/error.rs"),
    include_str!("../../src/error/data.rs"),
    include_str!("../../src/error/payload.rs"),
    include_str!("../../src/error/scripting.rs"),
];

/// Texts that no random program reaches, and why.
const UNREACHED: &[(&str, &str)] = &[
    ("ERR String too long for LCS", "strings of 4 GiB"),
    ("ERR Insufficient memory", "strings of many megabytes, or too little memory: tests/corpus"),
    ("ERR Elements are too large to be stored", "the numbers of a millisecond used up: tests/corpus"),
    ("ERR count is out of range, the reply would", "a difference: docs/DIFFERENCES.md"),
    ("OOM ", "maxmemory counts otherwise (docs/DIFFERENCES.md): tests/memory.rs"),
    (
        "NOGROUP the consumer group this client was blocked on",
        "another client while one waits: tests/blocking_diff.rs",
    ),
    ("BUSY Redis is busy", "another thread: tests/scripts.rs"),
    ("UNKILLABLE ", "another thread: tests/scripts.rs"),
    ("ERR Script ", "a limit of moonkeep, or another thread: tests/hostile.rs"),
    ("ERR SCRIPT DEBUG", "a difference: docs/DIFFERENCES.md"),
    ("ERR Use SCRIPT DEBUG", "a difference: docs/DIFFERENCES.md"),
    ("ERR Error compiling script (new function): script source too long", "a limit of moonkeep"),
    ("ERR reached lua stack limit", "a reply nested too deeply: tests/scripts.rs"),
    ("ERR unknown error", "an error without a text: tests/corpus"),
    ("ERR FUNCTION LOAD timeout", "a library that runs for long: tests/functions.rs"),
    ("ERR TESTFAILED", "never, but in few self-tests: tests/corpus"),
    ("ERR Error running script", "an error without a place"),
    ("ERR Function code is missing", "never: there are too few words before"),
    ("ERR syntax error, XTRIM must be called", "never: there are too few words before"),
    ("ERR redis.call/pcall can only be called inside", "within the text of FUNCTION LOAD"),
    ("ERR MIGRATE", "a difference: docs/DIFFERENCES.md"),
    ("ERR When using MIGRATE", "a difference: docs/DIFFERENCES.md"),
    ("ERR Failed loading library ", "dumps of another version: tests/corpus"),
    ("ERR Failed loading engine", "dumps of another version: tests/corpus"),
    ("ERR given type is not a function", "dumps of another version: tests/corpus"),
    ("ERR Invalid number of arguments specified", "COMMAND GETKEYS: tests/introspection.rs"),
    ("ERR Invalid arguments specified", "COMMAND GETKEYS: tests/introspection.rs"),
    ("ERR Invalid command specified", "COMMAND GETKEYS: tests/introspection.rs"),
    ("ERR The command has no key arguments", "COMMAND GETKEYS: tests/introspection.rs"),
];

/// A text, in the pieces between what is filled in.
pub(crate) struct Text {
    pieces: Vec<String>,
}

impl Text {
    /// How it is shown.
    pub(crate) fn name(&self) -> String {
        self.pieces.join("…")
    }
    fn fits(&self, text: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some(mut text) = text.strip_prefix(first.as_str()) else { return false };
        for piece in rest {
            let Some(at) = text.find(piece.as_str()) else { return false };
            text = &text[at + piece.len()..];
        }
        true
    }
    fn len(&self) -> usize {
        self.pieces.iter().map(String::len).sum()
    }
}

/// All texts of the sources that programs can reach.
pub(crate) fn reachable() -> Vec<Text> {
    let mut texts = read();
    texts.retain(|text| !UNREACHED.iter().any(|(start, _)| text.name().starts_with(start)));
    texts
}

/// The longest of the texts that a reply is.
pub(crate) fn of<'a>(texts: &'a [Text], reply: &str) -> Option<&'a Text> {
    texts.iter().filter(|text| text.fits(reply)).max_by_key(|text| text.len())
}

/// The literals that begin with an error code. Unit tests are left out.
fn read() -> Vec<Text> {
    let sources = SOURCES.iter().map(|source| source.split("#[cfg(test)]").next().unwrap_or_default());
    let lines = sources.flat_map(str::lines).filter(|line| !line.trim_start().starts_with("//"));
    let mut literals: Vec<String> = lines.flat_map(literals).filter(|text| has_code(text)).collect();
    literals.sort();
    literals.dedup();
    literals.iter().map(|literal| Text { pieces: pieces(literal) }).collect()
}

fn has_code(text: &str) -> bool {
    let code = text.split(' ').next().unwrap_or_default();
    code.len() > 2 && code.len() + 3 < text.len() && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn literals(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once('"') {
        let mut text = String::new();
        let mut chars = after.char_indices();
        let mut end = after.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c => text.push(c),
            }
        }
        found.push(text);
        rest = &after[end..];
    }
    found
}

/// The pieces between `{…}`.
fn pieces(literal: &str) -> Vec<String> {
    let mut parts = literal.split('{');
    let mut pieces = vec![parts.next().unwrap_or_default().to_owned()];
    pieces.extend(parts.map(|part| part.split_once('}').map_or(part, |(_, after)| after).to_owned()));
    pieces
}

#[test]
fn texts_are_read_from_the_sources() {
    let texts = reachable();
    assert!(texts.len() > 120, "{} texts", texts.len());
    let name = |reply: &str| of(&texts, reply).map(Text::name);
    assert_eq!(name("ERR syntax error"), Some("ERR syntax error".into()));
    let arity = "ERR wrong number of arguments for 'get' command";
    assert_eq!(name(arity), Some("ERR wrong number of arguments for '…' command".into()));
    let place = "ERR invalid longitude,latitude pair 181.000000,0.000000";
    assert_eq!(name(place), Some("ERR invalid longitude,latitude pair …,…".into()));
    assert_eq!(name("ERR nonsense"), None);
    let stale: Vec<_> = UNREACHED
        .iter()
        .filter(|(start, _)| !read().iter().any(|text| text.name().starts_with(start)))
        .collect();
    assert!(stale.is_empty(), "no such texts: {stale:?}");
}
