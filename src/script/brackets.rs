//! Long brackets inside long brackets: `[[ a [[ b ]]`. The server's Lua takes them, the one compiled in here refuses
//! them. A refused source is rewritten with a level of its own for each such bracket, which means the same.
//! Only that: what else a source may hold is the parser's business.

use std::borrow::Cow;

/// Levels from here on are ours: no source has them, but for one that wants to fool its own error text.
const LEVEL_MIN: usize = 50;

/// Whether Lua's message is the one about nested brackets.
pub(super) fn is_refusal(message: &[u8]) -> bool {
    message.ends_with(b"nesting of [[...]] is deprecated near '['")
}

/// The source with another level for each bracket of level 0 that has one like it inside.
pub(super) fn rewrite(source: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(source.len() + 64);
    let mut rest = source;
    while let Some(&byte) = rest.first() {
        let length = match byte {
            b'-' if rest.starts_with(b"--") => {
                let bracket = rest.get(2..).unwrap_or_default();
                if level(bracket).is_some() { 2 } else { line_length(rest) }
            }
            b'[' => match level(rest) {
                Some(0) => {
                    rest = copy_bracket(rest, &mut text);
                    continue;
                }
                Some(level) => bracket_length(rest, level),
                None => 1,
            },
            b'"' | b'\'' => quoted_length(rest, byte),
            _ => 1,
        };
        let (piece, after) = rest.split_at(length.min(rest.len()));
        text.extend_from_slice(piece);
        rest = after;
    }
    text
}

/// The level of the long bracket that opens here, if one does.
fn level(text: &[u8]) -> Option<usize> {
    let signs = text.strip_prefix(b"[")?.iter().take_while(|byte| **byte == b'=').count();
    (text.get(signs + 1) == Some(&b'[')).then_some(signs)
}

fn line_length(text: &[u8]) -> usize {
    text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(text.len())
}

/// Up to the closing quote or the end of the line.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' | b'\r' => return at,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn closing(level: usize) -> Vec<u8> {
    [&b"]"[..], &b"=".repeat(level), b"]"].concat()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn bracket_length(text: &[u8], level: usize) -> usize {
    let open = level + 2;
    let inside = text.get(open..).unwrap_or_default();
    find(inside, &closing(level)).map_or(text.len(), |end| open + end + level + 2)
}

/// Copies the bracket of level 0 that opens here, with another level if it has to be; what follows it.
fn copy_bracket<'a>(text: &'a [u8], to: &mut Vec<u8>) -> &'a [u8] {
    let inside = text.get(2..).unwrap_or_default();
    let end = find(inside, b"]]");
    let content = &inside[..end.unwrap_or(inside.len())];
    let level = if find(content, b"[[").is_some() { free_level(content) } else { 0 };
    to.push(b'[');
    to.extend(std::iter::repeat_n(b'=', level));
    to.push(b'[');
    to.extend_from_slice(content);
    match end {
        Some(end) => {
            to.extend_from_slice(&closing(level));
            inside.get(end + 2..).unwrap_or_default()
        }
        None => &[],
    }
}

/// A level whose closing bracket comes only where it is put.
fn free_level(content: &[u8]) -> usize {
    let longest = content.split(|byte| *byte != b'=').map(<[u8]>::len).max().unwrap_or(0);
    longest.max(LEVEL_MIN) + 1
}

/// A message about a rewritten source, with the brackets as they were.
pub(super) fn restore(message: &[u8]) -> Cow<'_, [u8]> {
    let signs = b"=".repeat(LEVEL_MIN);
    if find(message, &signs).is_none() {
        return Cow::Borrowed(message);
    }
    let mut text = Vec::new();
    let mut rest = message;
    while let Some(&byte) = rest.first() {
        let signs = rest.get(1..).unwrap_or_default().iter().take_while(|byte| **byte == b'=').count();
        let closes = rest.get(signs + 1) == Some(&byte);
        if matches!(byte, b'[' | b']') && signs > LEVEL_MIN && closes {
            text.extend([byte, byte]);
            rest = rest.get(signs + 2..).unwrap_or_default();
        } else {
            text.push(byte);
            rest = &rest[1..];
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_brackets_get_a_level_of_their_own() {
        let level = "=".repeat(51);
        for (source, expected) in [
            ("return [[a[[b]]", "return [=[a[[b]=]"),
            ("x = [[plain]] y = [[a[[b]]", "x = [[plain]] y = [=[a[[b]=]"),
            ("--[[ a [[ b ]] f()", "--[=[ a [[ b ]=] f()"),
            ("-- [[ a [[ b ]]\ng()", "-- [[ a [[ b ]]\ng()"),
            ("'[[ [[ ]]' \"\\\"[[ [[\"", "'[[ [[ ]]' \"\\\"[[ [[\""),
            ("[==[ [[ ]==] t[t[1]]", "[==[ [[ ]==] t[t[1]]"),
            ("open [[ a [[ b", "open [=[ a [[ b"),
            ("--", "--"),
            ("[", "["),
            ("'\\", "'\\"),
        ] {
            let got = rewrite(source.as_bytes());
            let long = expected.replace("[=[", &format!("[{level}["));
            let long = long.replace("]=]", &format!("]{level}]"));
            assert_eq!(String::from_utf8_lossy(&got), long);
            assert_eq!(restore(&got), source.as_bytes());
        }
        assert!(is_refusal(b"user_script:2: nesting of [[...]] is deprecated near '['"));
    }
}
