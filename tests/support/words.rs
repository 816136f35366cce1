//! A command line of a test file as words, and back: spaces separate, `"…"` with `\n \r \t \\ \" \xHH` escapes,
//! `'…'` as it stands, and `"ab"{300}` for three hundred repetitions.

use super::wire::quote;

/// Splits a line into its words.
pub(crate) fn split(line: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start().as_bytes();
    while let Some(&first) = rest.first() {
        let (word, after) = match first {
            b'"' => double_quoted(&rest[1..])?,
            b'\'' => single_quoted(&rest[1..])?,
            _ => bare(rest),
        };
        let (word, after) = repeated(word, after)?;
        if after.first().is_some_and(|&next| next != b' ') {
            return Err(format!("a word must end at a space: {line}"));
        }
        words.push(word);
        rest = after.trim_ascii_start();
    }
    Ok(words)
}

/// Writes words so that `split` reads them back.
pub(crate) fn join(words: &[Vec<u8>]) -> String {
    words.iter().map(|word| write(word)).collect::<Vec<_>>().join(" ")
}

fn write(word: &[u8]) -> String {
    if word.len() > 40 && word.iter().all(|byte| *byte == word[0]) {
        return format!("{}{{{}}}", quote(&word[..1]), word.len());
    }
    let bare = !word.is_empty()
        && word.iter().all(|&byte| (b'!'..=b'~').contains(&byte) && !b"\"'\\{".contains(&byte));
    if bare { String::from_utf8_lossy(word).into_owned() } else { quote(word) }
}

fn bare(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
    (text[..end].to_vec(), &text[end..])
}

fn single_quoted(text: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let end = text.iter().position(|&byte| byte == b'\'').ok_or("a ' without its end")?;
    Ok((text[..end].to_vec(), &text[end + 1..]))
}

fn double_quoted(text: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let mut word = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return Ok((word, &text[at + 1..])),
            b'\\' => at += escape(&text[at + 1..], &mut word)? + 1,
            _ => {
                word.push(byte);
                at += 1;
            }
        }
    }
    Err("a \" without its end".into())
}

fn escape(text: &[u8], word: &mut Vec<u8>) -> Result<usize, String> {
    let byte = match text.first() {
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'x') => {
            let digits = text.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            word.push(byte.ok_or("\\x without two digits")?);
            return Ok(3);
        }
        Some(&other) => other,
        None => return Err("a \\ at the end".into()),
    };
    word.push(byte);
    Ok(1)
}

fn repeated(word: Vec<u8>, after: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    if after.first() != Some(&b'{') {
        return Ok((word, after));
    }
    let end = after.iter().position(|&byte| byte == b'}').ok_or("a { without its end")?;
    let times = std::str::from_utf8(&after[1..end]).ok().and_then(|times| times.parse().ok());
    Ok((word.repeat(times.ok_or("{} needs a number")?), &after[end + 1..]))
}

#[test]
fn words_survive_the_round_trip() {
    let words: Vec<Vec<u8>> =
        [&b"SET"[..], b"", b"a b", b"q\"'\\", b"\x00\xff\n", b"{x}", b"$1"].map(<[u8]>::to_vec).into();
    assert_eq!(split(&join(&words)), Ok(words));
    assert_eq!(split("a 'b c' \"\\x41\"{3}"), Ok(vec![b"a".to_vec(), b"b c".to_vec(), b"AAA".to_vec()]));
    assert!(split("\"open").is_err());
}
