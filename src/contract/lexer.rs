//! The words of a contract's clauses: names, integers, quoted texts and signs, each with its place.

use super::error::{ContractError, Position};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name: a letter or underscore, then letters, digits, underscores.
    Name(String),
    Int(i128),
    /// A quoted text, its escapes resolved.
    Text(Vec<u8>),
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name(name) => write!(f, "{name:?}"),
            Token::Int(value) => write!(f, "{value}"),
            Token::Text(text) => f.write_str(&crate::util::words::quote(text)),
            Token::Sign(sign) => write!(f, "{sign:?}"),
        }
    }
}

/// The longest first: a sign is not cut short.
const SIGNS: [&str; 22] = [
    "...", "=>", "==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "(", ")", "[", "]", ",", ".", ";",
    "|", "/", "%",
];

/// Splits a line from `column` on (in characters, from 1); a `#` outside quotes ends it.
pub(super) fn split(
    text: &str,
    start: Position,
    tokens: &mut Vec<(Token, Position)>,
) -> Result<(), ContractError> {
    let mut rest = text;
    // Up to where characters are counted, and how many: each is counted once, however long the line is.
    let (mut counted, mut column) = (0, start.column);
    loop {
        rest = rest.trim_start();
        let here = text.len() - rest.len();
        column += text[counted..here].chars().count();
        counted = here;
        let at = Position { line: start.line, column };
        let Some(first) = rest.chars().next().filter(|&c| c != '#') else { return Ok(()) };
        let token = if first == '"' {
            quoted(&mut rest, at)?
        } else if first.is_ascii_digit() {
            integer(&mut rest, at)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let name = rest[..end].to_owned();
            rest = &rest[end..];
            Token::Name(name)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            rest = &rest[sign.len()..];
            Token::Sign(sign)
        } else {
            return Err(at.error(format!("{first:?} means nothing here{}", instead(first))));
        };
        tokens.push((token, at));
    }
}

/// What is written in place of a character that people try.
fn instead(found: char) -> &'static str {
    match found {
        '\'' | '`' => "; texts stand in double quotes",
        '~' => "; \"is not\" is !=",
        '&' => "; conditions are joined by and",
        '!' => "; a condition is denied by not",
        '{' | '}' => "; arrays stand in [ ]",
        letter if letter.is_alphabetic() => "; names are ASCII letters, digits and underscores",
        _ => "",
    }
}

fn integer(rest: &mut &str, at: Position) -> Result<Token, ContractError> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    // One more than an i64 holds: it may stand behind a minus.
    let value = digits.parse::<i128>().ok().filter(|value| *value <= 1 << 63);
    *rest = after;
    value.map(Token::Int).ok_or_else(|| at.error("integers go up to 9223372036854775807"))
}

fn quoted(rest: &mut &str, at: Position) -> Result<Token, ContractError> {
    let mut bytes = Vec::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((index, c)) = chars.next() {
        match c {
            '"' => {
                *rest = &rest[index + 1..];
                return Ok(Token::Text(bytes));
            }
            '\\' => match chars.next() {
                Some((_, 'n')) => bytes.push(b'\n'),
                Some((_, 'r')) => bytes.push(b'\r'),
                Some((_, 't')) => bytes.push(b'\t'),
                Some((_, escaped @ ('"' | '\\'))) => bytes.push(escaped as u8),
                Some((index, 'x')) => {
                    let byte =
                        rest.get(index + 1..index + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                    bytes.push(byte.ok_or_else(|| at.error("\\x needs two hexadecimal digits"))?);
                    chars.nth(1);
                }
                _ => return Err(at.error(r#"escapes in a text are \" \\ \n \r \t \xHH"#)),
            },
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err(at.error("the text has no closing double quote"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<(Token, Position)>, ContractError> {
        let mut tokens = Vec::new();
        split(text, Position { line: 3, column: 4 }, &mut tokens)?;
        Ok(tokens)
    }

    #[test]
    fn words_know_their_place() {
        let found = tokens("a_1 >= 10 => \"é\\x00\\\"\" # \"rest").expect("splits");
        let shown: Vec<(String, usize)> =
            found.iter().map(|(token, at)| (token.to_string(), at.column)).collect();
        let expected = [("\"a_1\"", 4), ("\">=\"", 8), ("10", 11), ("\"=>\"", 14)];
        for (one, (token, column)) in shown.iter().zip(expected) {
            assert_eq!(*one, (token.to_owned(), column));
        }
        assert_eq!(found[4].0, Token::Text(b"\xc3\xa9\x00\"".to_vec()));
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn what_is_no_word_is_told_with_its_place() {
        for (text, error) in [
            ("a \"b", "3:6: the text has no closing double quote"),
            ("\"\\q\"", r#"3:4: escapes in a text are \" \\ \n \r \t \xHH"#),
            ("\"\\xg1\"", "3:4: \\x needs two hexadecimal digits"),
            ("é ~", "3:4: 'é' means nothing here; names are ASCII letters, digits and underscores"),
            ("'a'", "3:4: '\\'' means nothing here; texts stand in double quotes"),
            ("a ~= 1", "3:6: '~' means nothing here; \"is not\" is !="),
            ("a && b", "3:6: '&' means nothing here; conditions are joined by and"),
            ("{1}", "3:4: '{' means nothing here; arrays stand in [ ]"),
            ("@", "3:4: '@' means nothing here"),
            ("9223372036854775809", "3:4: integers go up to 9223372036854775807"),
        ] {
            assert_eq!(tokens(text).expect_err(text).to_string(), error);
        }
    }
}
