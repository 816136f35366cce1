//! Splitting a line into words as redis-cli and the inline protocol do: quotes, escapes, bytes in hexadecimal.

/// The words of a line; None when quotes are not closed or are followed by something other than a space.
///
/// In double quotes `\n \r \t \b \a \xHH` stand for bytes and `\` before anything else for that; in single quotes
/// only `\'` does.
pub fn split_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        let blanks = rest.iter().take_while(|byte| is_space(byte)).count();
        rest = &rest[blanks..];
        if rest.is_empty() || rest[0] == 0 {
            return Some(words);
        }
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after;
    }
}

/// What C calls a space.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The word at the front, and what follows it.
fn word(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'"' | b'\'' => {
                rest = if byte == b'"' {
                    double_quoted(after, &mut word)?
                } else {
                    single_quoted(after, &mut word)?
                };
                return rest.first().is_none_or(|next| is_space(next) || *next == 0).then_some((word, rest));
            }
            b' ' | b'\n' | b'\r' | b'\t' | 0 => break,
            _ => word.push(byte),
        }
        rest = after;
    }
    Some((word, rest))
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'"', after @ ..] => return Some(after),
            [b'\\', b'x', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                word.push(hex(*high) * 16 + hex(*low));
                after
            }
            [b'\\', escaped, after @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                after
            }
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
            [] => return None,
        };
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'\'', after @ ..] => return Some(after),
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                after
            }
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
            [] => return None,
        };
    }
}

fn hex(digit: u8) -> u8 {
    (digit as char).to_digit(16).unwrap_or(0) as u8
}

/// A word as it can be typed again: bare when it is plain, else in double quotes with escapes.
pub fn quote_word(word: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\');
    if !word.is_empty() && word.iter().all(is_plain) {
        return String::from_utf8_lossy(word).into_owned();
    }
    quote(word)
}

/// Words as a line that [`split_words`] takes apart again.
pub fn join_words(words: &[Vec<u8>]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
    words.join(" ")
}

/// Bytes in double quotes as redis-cli shows them.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            7 => out.push_str("\\a"),
            8 => out.push_str("\\b"),
            0x20..=0x7e => out.push(byte as char),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<String>> {
        let words = split_words(line.as_bytes())?;
        Some(words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }

    #[test]
    fn words_are_split_as_redis_cli_does() {
        let some = |list: &[&str]| Some(list.iter().map(|word| word.to_string()).collect::<Vec<_>>());
        assert_eq!(words("SET k  v"), some(&["SET", "k", "v"]));
        assert_eq!(words(r#" "a\x41\n\"" 'it\'s' "#), some(&["aA\n\"", "it's"]));
        assert_eq!(words("\"\""), some(&[""]));
        assert_eq!(words(""), some(&[]));
        assert_eq!(words("\"open"), None);
        assert_eq!(words("\"a\"b"), None);
    }

    #[test]
    fn a_quoted_word_reads_back_as_itself() {
        for word in [&b"plain"[..], b"", b"a b", b"\x00\xff\"\\\n\r\t\x07\x08'"] {
            assert_eq!(split_words(quote_word(word).as_bytes()), Some(vec![word.to_vec()]));
        }
    }
}
