//! `cjson.decode`: JSON text as a Lua value. The tokens are those of the server, which takes more than JSON has: what
//! `strtod` takes is a number, and the text ends at its first NUL. Nested values are built with a list of open levels,
//! not by recursion. Its settings are in `cjson`.

use super::super::bridge::Call;
use super::super::convert::before_nul;
use super::super::stack::{Raised, Returned};
use super::cjson::{Setting, Settings};
use super::{Level, VALUE_WORK, fail, refuse, spend};
use crate::util::float::strtod;

/// Bytes read that count as one unit of work.
const BYTES_PER_WORK: u64 = 8;
/// Integers of so many digits are exact.
const EXACT_DIGITS: usize = 15;

pub(super) fn decode(call: Call<'_>) -> Returned {
    let stack = call.stack;
    if stack.top() != 1 {
        return Err(refuse(stack, 1, c"expected 1 argument"));
    }
    let settings = Settings::of(call);
    let text = stack.check_text(1);
    if let [first, second, ..] = text
        && (*first == 0 || *second == 0)
    {
        return Err(fail(stack, &[b"JSON parser does not support UTF-16 or UTF-32"]));
    }
    spend(call, text.len() as u64 / BYTES_PER_WORK)?;
    call.run(|run| run.levels.clear());
    Decoder { call, settings, text: before_nul(text), at: 0, start: 0 }.run()?;
    Ok(1)
}

/// A piece of the text.
#[derive(Clone, Copy)]
enum Token<'a> {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    /// A string without escapes.
    Plain(&'a [u8]),
    /// A string with escapes; it is in the run's scratch memory.
    Escaped,
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Invalid(&'static [u8]),
}

impl Token<'_> {
    /// How errors name it.
    fn name(self) -> &'static [u8] {
        match self {
            Token::ObjectBegin => b"T_OBJ_BEGIN",
            Token::ObjectEnd => b"T_OBJ_END",
            Token::ArrayBegin => b"T_ARR_BEGIN",
            Token::ArrayEnd => b"T_ARR_END",
            Token::Plain(_) | Token::Escaped => b"T_STRING",
            Token::Number(_) => b"T_NUMBER",
            Token::Boolean(_) => b"T_BOOLEAN",
            Token::Null => b"T_NULL",
            Token::Colon => b"T_COLON",
            Token::Comma => b"T_COMMA",
            Token::End => b"T_END",
            Token::Invalid(what) => what,
        }
    }
}

struct Decoder<'a> {
    call: Call<'a>,
    settings: Settings,
    text: &'a [u8],
    /// What is read next.
    at: usize,
    /// Where the last token begins, or what is wrong in it.
    start: usize,
}

impl<'a> Decoder<'a> {
    /// Pushes the value of the whole text.
    fn run(&mut self) -> Result<(), Raised> {
        let mut token = self.next();
        loop {
            let mut whole = self.begin_value(token)?;
            token = self.next();
            // The end of one value may be the end of those around it.
            let level = loop {
                let Some(level) = self.call.run(|run| run.levels.last().copied()) else {
                    return match token {
                        Token::End => Ok(()),
                        _ => Err(self.expected(b"the end", token)),
                    };
                };
                if whole {
                    self.keep(level);
                }
                if !matches!((level.keyed, token), (true, Token::ObjectEnd) | (false, Token::ArrayEnd)) {
                    break level;
                }
                self.call.run(|run| run.levels.pop());
                whole = true;
                token = self.next();
            };
            if whole {
                token = match token {
                    Token::Comma => self.next(),
                    _ if level.keyed => return Err(self.expected(b"comma or object end", token)),
                    _ => return Err(self.expected(b"comma or array end", token)),
                };
            }
            if level.keyed {
                token = self.key(token)?;
            }
        }
    }

    /// Pushes the value that a token is, or the empty table that it opens: then it is not whole, and false is returned.
    fn begin_value(&mut self, token: Token<'a>) -> Result<bool, Raised> {
        let stack = self.call.stack;
        spend(self.call, VALUE_WORK)?;
        match token {
            Token::Plain(_) | Token::Escaped => self.push_string(token),
            Token::Number(value) => stack.push_number(value),
            Token::Boolean(value) => stack.push_bool(value),
            Token::Null => stack.push_null(),
            Token::ObjectBegin => {
                self.open(true)?;
                return Ok(false);
            }
            Token::ArrayBegin => {
                self.open(false)?;
                return Ok(false);
            }
            _ => return Err(self.expected(b"value", token)),
        }
        Ok(true)
    }

    fn push_string(&self, token: Token<'_>) {
        match token {
            Token::Plain(text) => self.call.stack.push_bytes(text),
            _ => {
                let made: *const [u8] = self.call.run(|run| &raw const run.scratch[..]);
                self.call.stack.push_scratch(made);
            }
        }
    }

    /// Pushes an empty table. It grows as the server's does, so that `#` and `pairs` find the same.
    fn open(&self, keyed: bool) -> Result<(), Raised> {
        let stack = self.call.stack;
        let depth = self.call.run(|run| run.levels.len()) + 1;
        // The table, a value, and a key.
        let room = if keyed { 3 } else { 2 };
        if depth > self.settings.get(Setting::DecodeMaxDepth) as usize || !stack.reserve(room) {
            return Err(self.too_deep(depth));
        }
        self.call.run(|run| run.levels.push(Level { keyed, done: 0, left: 0 }));
        stack.new_table(0, 0);
        Ok(())
    }

    /// Moves the value on top into the table below it.
    fn keep(&self, level: Level) {
        if level.keyed {
            return self.call.stack.raw_set(-3);
        }
        self.call.stack.raw_set_index(-2, level.done as i32 + 1);
        self.call.run(|run| {
            if let Some(level) = run.levels.last_mut() {
                level.done += 1;
            }
        });
    }

    /// Pushes the key that a token is; what follows its colon is returned.
    fn key(&mut self, token: Token<'a>) -> Result<Token<'a>, Raised> {
        match token {
            Token::Plain(_) | Token::Escaped => self.push_string(token),
            _ => return Err(self.expected(b"object key string", token)),
        }
        match self.next() {
            Token::Colon => Ok(self.next()),
            other => Err(self.expected(b"colon", other)),
        }
    }

    #[cold]
    fn expected(&self, what: &[u8], found: Token<'_>) -> Raised {
        let mut place = itoa::Buffer::new();
        let place = place.format(self.start + 1).as_bytes();
        fail(self.call.stack, &[b"Expected ", what, b" but found ", found.name(), b" at character ", place])
    }

    #[cold]
    fn too_deep(&self, depth: usize) -> Raised {
        let (mut text, mut place) = (itoa::Buffer::new(), itoa::Buffer::new());
        let (depth, place) = (text.format(depth).as_bytes(), place.format(self.at).as_bytes());
        let what = b"Found too many nested data structures (";
        fail(self.call.stack, &[what, depth, b") at character ", place])
    }
}

/// The tokens.
impl<'a> Decoder<'a> {
    /// The byte so far ahead; NUL at the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Token<'a> {
        while matches!(self.peek(0), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.start = self.at;
        match self.peek(0) {
            b'{' => self.take(1, Token::ObjectBegin),
            b'}' => self.take(1, Token::ObjectEnd),
            b'[' => self.take(1, Token::ArrayBegin),
            b']' => self.take(1, Token::ArrayEnd),
            b',' => self.take(1, Token::Comma),
            b':' => self.take(1, Token::Colon),
            0 => Token::End,
            b'"' => self.string(),
            b'-' | b'0'..=b'9' if self.takes_odd_numbers() || !self.is_odd_number() => self.number(),
            b'-' | b'0'..=b'9' => Token::Invalid(b"invalid number"),
            b'f' | b'i' | b'I' | b'n' | b'N' | b't' | b'+' => self.word(),
            _ => Token::Invalid(b"invalid token"),
        }
    }

    fn take(&mut self, length: usize, token: Token<'a>) -> Token<'a> {
        self.at += length;
        token
    }

    fn word(&mut self) -> Token<'a> {
        let rest = self.rest();
        if rest.starts_with(b"true") {
            self.take(4, Token::Boolean(true))
        } else if rest.starts_with(b"false") {
            self.take(5, Token::Boolean(false))
        } else if rest.starts_with(b"null") {
            self.take(4, Token::Null)
        } else if self.takes_odd_numbers() && self.is_odd_number() {
            self.number()
        } else {
            Token::Invalid(b"invalid token")
        }
    }

    fn takes_odd_numbers(&self) -> bool {
        self.settings.get(Setting::DecodeInvalidNumbers) != 0
    }

    /// Whether a number follows that JSON does not have: one with a plus, in hexadecimal, with zeros in front, or a
    /// name.
    fn is_odd_number(&self) -> bool {
        let sign = usize::from(self.peek(0) == b'-');
        match self.peek(sign) {
            b'+' => sign == 0,
            b'0' => matches!(self.peek(sign + 1), b'x' | b'X' | b'0'..=b'9'),
            _ => {
                let name = self.rest().get(sign..sign + 3).unwrap_or_default();
                name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"nan")
            }
        }
    }

    fn number(&mut self) -> Token<'a> {
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits =
            rest[sign..].iter().take(EXACT_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
        let end = sign + digits;
        let more = rest.get(end).is_some_and(|byte| matches!(byte, b'.' | b'e' | b'E' | b'x' | b'X'));
        if (1..=EXACT_DIGITS).contains(&digits) && !more {
            let value = rest[sign..end].iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
            let value = if sign == 1 { -(value as f64) } else { value as f64 };
            return self.take(end, Token::Number(value));
        }
        let number = strtod(rest);
        if number.consumed == 0 {
            return Token::Invalid(b"invalid number");
        }
        if number.value.is_nan()
            && let Some((value, length)) = nan_payload(number.value, &rest[number.consumed..])
        {
            return self.take(number.consumed + length, Token::Number(value));
        }
        self.take(number.consumed, Token::Number(number.value))
    }

    /// A string: as it stands in the text when it has no escapes, else it is put together.
    fn string(&mut self) -> Token<'a> {
        self.at += 1;
        let rest = self.rest();
        let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
        if rest.get(plain) == Some(&b'"') {
            return self.take(plain + 1, Token::Plain(&rest[..plain]));
        }
        self.call.run(|run| run.scratch.clear());
        loop {
            let rest = self.rest();
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
            self.call.run(|run| run.scratch.extend_from_slice(&rest[..plain]));
            self.at += plain;
            match self.peek(0) {
                b'"' => return self.take(1, Token::Escaped),
                b'\\' => {
                    if let Err(what) = self.escape() {
                        self.start = self.at;
                        return Token::Invalid(what);
                    }
                }
                _ => {
                    self.start = self.at;
                    return Token::Invalid(b"unexpected end of string");
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), &'static [u8]> {
        let byte = match self.peek(1) {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 0x0c,
            b'r' => b'\r',
            b'u' => return self.unicode_escape().ok_or(b"invalid unicode escape code"),
            _ => return Err(b"invalid escape code"),
        };
        self.call.run(|run| run.scratch.push(byte));
        self.at += 2;
        Ok(())
    }

    /// `\uXXXX`, two of them for what is beyond 16 bits.
    fn unicode_escape(&mut self) -> Option<()> {
        let high = self.hex(2)?;
        let (point, length) = match high {
            0xd800..=0xdbff => {
                let low =
                    if self.peek(6) == b'\\' && self.peek(7) == b'u' { self.hex(8)? } else { return None };
                if !(0xdc00..=0xdfff).contains(&low) {
                    return None;
                }
                (0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff), 12)
            }
            _ => (high, 6),
        };
        // No half of a pair is a character, so what comes second or alone is refused here.
        let character = char::from_u32(point)?;
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        self.call.run(|run| run.scratch.extend_from_slice(bytes));
        self.at += length;
        Some(())
    }

    /// Four hexadecimal digits so far ahead.
    fn hex(&self, ahead: usize) -> Option<u32> {
        (ahead..ahead + 4).try_fold(0, |value, at| Some(value * 16 + char::from(self.peek(at)).to_digit(16)?))
    }
}

/// What C's `strtod` makes of a text like `(0x1f)` after `nan`: a number to keep in the bits of the value that have no
/// meaning. The value, and the length of the text.
fn nan_payload(value: f64, text: &[u8]) -> Option<(f64, usize)> {
    const PAYLOAD: u64 = (1 << 51) - 1;
    let inner = text.strip_prefix(b"(")?;
    let length = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if inner.get(length) != Some(&b')') {
        return None;
    }
    let digits = &inner[..length];
    let (digits, radix) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] => (digits, 8),
        _ => (digits, 10),
    };
    let payload = digits.iter().try_fold(0u64, |sum, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        Some(sum.checked_mul(radix.into()).and_then(|sum| sum.checked_add(digit.into())).unwrap_or(u64::MAX))
    });
    let bits = value.to_bits() | (payload.unwrap_or(0) & PAYLOAD);
    Some((f64::from_bits(bits), length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_may_carry_a_number() {
        let bits = |text: &[u8]| nan_payload(f64::NAN, text).map(|(value, length)| (value.to_bits(), length));
        assert_eq!(bits(b"(5)"), Some((0x7ff8_0000_0000_0005, 3)));
        assert_eq!(bits(b"(0x1F)]"), Some((0x7ff8_0000_0000_001f, 6)));
        assert_eq!(bits(b"(017)"), Some((0x7ff8_0000_0000_000f, 5)));
        assert_eq!(bits(b"(99999999999999999999)"), Some((0x7fff_ffff_ffff_ffff, 22)));
        assert_eq!(bits(b"(1_)"), Some((0x7ff8_0000_0000_0000, 4)));
        assert_eq!(bits(b"()"), Some((0x7ff8_0000_0000_0000, 2)));
        assert_eq!(bits(b"(5"), None);
        assert_eq!(bits(b"(!)"), None);
        assert_eq!(bits(b""), None);
    }
}
