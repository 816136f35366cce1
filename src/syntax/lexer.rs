//! The words of Lua 5.1: names, keywords, numbers, texts and signs, each with its place. Comments are left out, but for
//! what they allow (`-- lint: allow RULE`).

use super::{Place, SyntaxError};
use crate::util::float::strtod;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    /// A keyword or a sign: one of `KEYWORDS` or `SIGNS`.
    Sign(&'static str),
    /// A number, and whether it is written in digits and beyond 2^53.
    Number(f64, bool),
    Text(Vec<u8>),
    End,
}

const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil",
    "not", "or", "repeat", "return", "then", "true", "until", "while",
];
/// Longer ones first.
const SIGNS: [&str; 26] = [
    "...", "..", "==", "~=", "<=", ">=", "+", "-", "*", "/", "%", "^", "#", "<", ">", "=", "(", ")", "{",
    "}", "[", "]", ";", ":", ",", ".",
];

/// What a comment allows, for its own line and the one below.
pub(crate) struct Allowed {
    /// Of the comment.
    pub(crate) place: Place,
    pub(crate) rule: String,
}

/// A text word by word.
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    /// Where the last word ends.
    pub(super) at: usize,
    /// Where it begins.
    pub(super) from: usize,
    pub(super) line: usize,
    /// Where the line begins.
    begin: usize,
    pub(super) allowed: Vec<Allowed>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let mut lexer = Lexer { text, at: 0, from: 0, line: 1, begin: 0, allowed: Vec::new() };
        if text.starts_with(b"#!") {
            lexer.at = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        }
        lexer
    }

    pub(super) fn place(&self) -> Place {
        Place { line: self.line, column: self.at - self.begin + 1 }
    }

    /// The next word, and where it begins.
    pub(super) fn next(&mut self) -> Result<(Token, Place), SyntaxError> {
        self.skip()?;
        let place = self.place();
        self.from = self.at;
        let Some(&first) = self.text.get(self.at) else { return Ok((Token::End, place)) };
        let token = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let name = self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let name = String::from_utf8_lossy(name).into_owned();
                match KEYWORDS.iter().find(|keyword| **keyword == name) {
                    Some(keyword) => Token::Sign(keyword),
                    None => Token::Name(name),
                }
            }
            b'0'..=b'9' => self.number(place)?,
            b'.' if self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) => self.number(place)?,
            b'"' | b'\'' => self.quoted(first, place)?,
            b'[' => match self.long_bracket(place)? {
                Some(text) => Token::Text(text),
                None => self.sign(place)?,
            },
            _ => self.sign(place)?,
        };
        Ok((token, place))
    }

    fn sign(&mut self, place: Place) -> Result<Token, SyntaxError> {
        let rest = &self.text[self.at..];
        if rest.first() == Some(&b'.') {
            let more = rest[1..].iter().take(2).take_while(|byte| is_one_of(b".", Some(*byte))).count();
            self.at += 1 + more;
            return Ok(Token::Sign([".", "..", "..."][more]));
        }
        let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) else {
            let shown = rest.first().copied().unwrap_or_default().escape_ascii();
            return Err(SyntaxError::new(place, format!("{shown} is no sign of Lua")));
        };
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn number(&mut self, place: Place) -> Result<Token, SyntaxError> {
        let from = self.at;
        self.take(|byte| byte.is_ascii_digit() || byte == b'.');
        if is_one_of(b"Ee", self.text.get(self.at)) {
            self.at += 1;
            if is_one_of(b"+-", self.text.get(self.at)) {
                self.at += 1;
            }
        }
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let text = std::str::from_utf8(&self.text[from..self.at]).unwrap_or_default();
        let text = text.split('\0').next().unwrap_or_default();
        let read = strtod(text.as_bytes());
        let hexadecimal = || text.get(2..).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let value = match read.consumed == text.len() {
            true => Some(read.value),
            false if text.starts_with("0x") || text.starts_with("0X") => {
                hexadecimal().map(|value| value as f64)
            }
            false => None,
        };
        let value = value.ok_or_else(|| SyntaxError::new(place, format!("{text} is no number")))?;
        let is_large = |digits: &str| digits.parse::<u128>().map_or(true, |value| value > 1 << 53);
        Ok(Token::Number(value, text.bytes().all(|byte| byte.is_ascii_digit()) && is_large(text)))
    }

    fn quoted(&mut self, quote: u8, place: Place) -> Result<Token, SyntaxError> {
        let open = || SyntaxError::new(place, "the text does not end on its line".into());
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at).ok_or_else(open)?;
            self.at += 1;
            match byte {
                _ if byte == quote => return Ok(Token::Text(bytes)),
                b'\n' | b'\r' => return Err(open()),
                b'\\' => {
                    let escaped = *self.text.get(self.at).ok_or_else(open)?;
                    if matches!(escaped, b'\n' | b'\r') {
                        self.new_line();
                        bytes.push(b'\n');
                        continue;
                    }
                    self.at += 1;
                    bytes.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'a' => 7,
                        b'b' => 8,
                        b'f' => 12,
                        b'v' => 11,
                        b'0'..=b'9' => self.decimal(escaped),
                        other => other,
                    });
                }
                _ => bytes.push(byte),
            }
        }
    }

    /// A byte as up to three digits, the first of which was taken.
    fn decimal(&mut self, first: u8) -> u8 {
        let mut value = u32::from(first - b'0');
        for _ in 0..2 {
            match self.text.get(self.at) {
                Some(digit) if digit.is_ascii_digit() => value = value * 10 + u32::from(digit - b'0'),
                _ => break,
            }
            self.at += 1;
        }
        value as u8
    }

    /// Takes a line end: one of its two bytes, or both.
    fn new_line(&mut self) {
        let end = &self.text[self.at..];
        self.at += if end.starts_with(b"\r\n") || end.starts_with(b"\n\r") { 2 } else { 1 };
        self.line += 1;
        self.begin = self.at;
    }

    /// The text in long brackets that begins here, if one does.
    fn long_bracket(&mut self, place: Place) -> Result<Option<Vec<u8>>, SyntaxError> {
        let rest = &self.text[self.at..];
        let level = rest.iter().skip(1).take_while(|byte| **byte == b'=').count();
        if rest.first() != Some(&b'[') || rest.get(level + 1) != Some(&b'[') {
            return Ok(None);
        }
        let close = [&b"]"[..], &vec![b'='; level], b"]"].concat();
        let inner = &rest[level + 2..];
        let Some(length) = inner.windows(close.len()).position(|window| window == close) else {
            return Err(SyntaxError::new(place, "the long bracket does not end".into()));
        };
        let inner = &inner[..length];
        let end = self.at + 2 * close.len() + length;
        while self.at < end {
            match self.text[self.at] {
                b'\n' | b'\r' => self.new_line(),
                _ => self.at += 1,
            }
        }
        Ok(Some(inner.strip_prefix(b"\n").unwrap_or(inner).to_vec()))
    }

    /// Skips blanks and comments.
    fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.text.get(self.at) {
                Some(b'\n' | b'\r') => self.new_line(),
                Some(b' ' | b'\t' | 11 | 12) => self.at += 1,
                Some(b'-') if self.text.get(self.at + 1) == Some(&b'-') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let place = self.place();
        self.at += 2;
        if self.long_bracket(place)?.is_some() {
            return Ok(());
        }
        let text = self.take(|byte| byte != b'\n' && byte != b'\r').trim_ascii();
        let Some(rules) = text.strip_prefix(b"lint: allow ") else { return Ok(()) };
        for rule in String::from_utf8_lossy(rules).split([',', ' ']).filter(|rule| !rule.is_empty()) {
            self.allowed.push(Allowed { place, rule: rule.to_owned() });
        }
        Ok(())
    }
}

/// Whether the VM takes a byte for one of these. It asks C's `strchr`, which finds the NUL at the end of each text too.
fn is_one_of(signs: &[u8], byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| *byte == 0 || signs.contains(byte))
}
