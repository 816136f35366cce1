//! Glob patterns as KEYS, SCAN, PSUBSCRIBE, CONFIG GET and COMMAND LIST match them, byte for byte like
//! the server: `*`, `?`, `[a-z]`, `[^a]`, `\` as escape, and its odd cases (an open class, a trailing
//! backslash). One loop without recursion: the work is bounded by pattern length times text length.

/// A pattern whose match passes more `*` than this matches nothing, as on the server.
const MOST_STARS: usize = 1000;

/// Whether the whole text matches the pattern; `nocase` folds ASCII letters.
pub fn glob(pattern: &[u8], text: &[u8], nocase: bool) -> bool {
    if text.is_empty() {
        // Even `*` does not match the empty text.
        return pattern.is_empty();
    }
    let mut stars = 0;
    // Where to resume when the piece after the last `*` fails: (after the star, next start in the text).
    let mut retry: Option<(usize, usize)> = None;
    let (mut at, mut from) = (0, 0);
    loop {
        if from == text.len() {
            // A retry would not help: every element takes one byte, and it would have fewer.
            return after_stars(pattern, at) == pattern.len();
        }
        if pattern.get(at) == Some(&b'*') {
            at = after_stars(pattern, at);
            stars += 1;
            if at == pattern.len() || stars > MOST_STARS {
                return at == pattern.len();
            }
            retry = Some((at, from + 1));
            continue;
        }
        if let Some(next) = match_one(pattern, at, text[from], nocase) {
            (at, from) = (next, from + 1);
            continue;
        }
        // Only the last star has to be retried: a longer match of an earlier one leaves less text.
        match retry {
            Some((after, start)) if start < text.len() => {
                (at, from) = (after, start);
                retry = Some((after, start + 1));
            }
            _ => return false,
        }
    }
}

/// The position after a run of `*`.
fn after_stars(pattern: &[u8], at: usize) -> usize {
    at + pattern[at..].iter().take_while(|byte| **byte == b'*').count()
}

/// Matches one byte against the pattern element at a position, giving the position after the element.
fn match_one(pattern: &[u8], at: usize, byte: u8, nocase: bool) -> Option<usize> {
    match *pattern.get(at)? {
        b'?' => Some(at + 1),
        b'[' => match_class(pattern, at + 1, byte, nocase),
        b'\\' if at + 1 < pattern.len() => same(pattern[at + 1], byte, nocase).then_some(at + 2),
        literal => same(literal, byte, nocase).then_some(at + 1),
    }
}

/// Whether two bytes are equal, or equal but for their case.
fn same(left: u8, right: u8, nocase: bool) -> bool {
    left == right || nocase && left.eq_ignore_ascii_case(&right)
}

/// Matches one byte against the class whose inside starts at a position. A class that is never closed
/// ends with the pattern; an escaped byte is compared with its case even under `nocase`.
fn match_class(pattern: &[u8], start: usize, byte: u8, nocase: bool) -> Option<usize> {
    let negated = pattern.get(start) == Some(&b'^');
    let mut at = start + usize::from(negated);
    let mut matched = false;
    loop {
        match &pattern[at..] {
            [] => break,
            [b'\\', escaped, ..] => {
                matched |= *escaped == byte;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [first, b'-', last, ..] => {
                matched |= in_range(*first, *last, byte, nocase);
                at += 3;
            }
            [single, ..] => {
                matched |= same(*single, byte, nocase);
                at += 1;
            }
        }
    }
    (matched != negated).then_some(at)
}

/// Whether a byte lies between two others, in either order. Bytes compare as signed, and the case is
/// folded after the ends are put in order, both as on the server.
fn in_range(first: u8, last: u8, byte: u8, nocase: bool) -> bool {
    let (low, high) =
        (first.cast_signed().min(last.cast_signed()), first.cast_signed().max(last.cast_signed()));
    let fold =
        |value: i8| if nocase { value.cast_unsigned().to_ascii_lowercase().cast_signed() } else { value };
    (fold(low)..=fold(high)).contains(&fold(byte.cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::super::recorded::{rows, show};
    use super::*;

    #[test]
    fn recorded_matches() {
        for row in rows(include_str!("../../tests/tables/glob.txt")) {
            let [pattern, text, nocase, matched] = &row[..] else { panic!("four columns: {row:?}") };
            let found = glob(pattern, text, nocase == b"1");
            assert_eq!(found, matched == b"1", "pattern {} text {}", show(pattern), show(text));
        }
    }

    #[test]
    fn stars_are_counted() {
        let text = vec![b'a'; 1001];
        assert!(glob(&b"*a".repeat(1000), &text, false));
        assert!(!glob(&b"*a".repeat(1001), &text, false));
        assert!(!glob(&[&b"*a".repeat(1001)[..], b"*"].concat(), &text, false));
        assert!(glob(&[&b"*a".repeat(1000)[..], b"*"].concat(), &text, false));
        assert!(glob(&b"*".repeat(5000), &text, false));
    }

    #[test]
    fn abusive_patterns_end_soon() {
        let text = vec![b'a'; 50_000];
        assert!(!glob(&b"*?".repeat(50_000), &text, false));
        assert!(!glob(&[&b"*a".repeat(30)[..], b"b"].concat(), &text, false));
        assert!(!glob(&b"a*".repeat(50_000), &text, false));
    }
}
