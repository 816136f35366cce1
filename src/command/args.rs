//! A cursor over argv: handlers read options in one loop, without index arithmetic.

use super::Argv;
use crate::error::Failure;
use crate::util::num::parse_i64;
use std::ops::Range;

/// Walks the words of a command.
#[derive(Debug, Clone)]
pub struct Args<'a> {
    argv: Argv<'a>,
    at: usize,
}

impl<'a> Args<'a> {
    /// A cursor that starts at word `at` of argv (0 is the name).
    pub fn new(argv: Argv<'a>, at: usize) -> Self {
        Args { argv, at }
    }
    /// The next word, or a syntax error.
    ///
    /// # Errors
    /// Syntax when there is none.
    pub fn word(&mut self) -> Result<&'a [u8], Failure> {
        self.next().ok_or(Failure::Syntax)
    }
    /// The next word as an integer.
    ///
    /// # Errors
    /// Syntax when there is none, NotInteger when it is not one.
    pub fn int(&mut self) -> Result<i64, Failure> {
        int(self.word()?)
    }
    /// Takes the next word when it is this keyword, whatever its case.
    pub fn take(&mut self, keyword: &str) -> bool {
        let found = self.argv.get(self.at).is_some_and(|word| is(word, keyword));
        self.at += usize::from(found);
        found
    }
    /// The words not read yet.
    pub fn rest(&self) -> Argv<'a> {
        self.argv.get(self.at..).unwrap_or_default()
    }
    /// The index of the next word in argv.
    pub fn index(&self) -> usize {
        self.at
    }
    /// How many words are left.
    pub fn left(&self) -> usize {
        self.argv.len().saturating_sub(self.at)
    }
    /// True when all words are read.
    pub fn is_done(&self) -> bool {
        self.left() == 0
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        let word = self.argv.get(self.at)?;
        self.at += 1;
        Some(word)
    }
}

/// Whether a word is this keyword, whatever its case. The server compares C strings: a NUL ends the word.
#[inline]
pub fn is(word: &[u8], keyword: &str) -> bool {
    let (len, keyword) = (keyword.len(), keyword.as_bytes());
    word.get(..len).is_some_and(|start| start.eq_ignore_ascii_case(keyword))
        && word.get(len).is_none_or(|&byte| byte == 0)
}

/// A word as an integer.
///
/// # Errors
/// NotInteger.
#[inline]
pub fn int(word: &[u8]) -> Result<i64, Failure> {
    parse_i64(word).ok_or(Failure::NotInteger)
}

/// A word as an integer that is not negative.
///
/// # Errors
/// MustBePositive, also when it is no integer.
pub fn positive(word: &[u8]) -> Result<i64, Failure> {
    parse_i64(word).filter(|&value| value >= 0).ok_or(Failure::MustBePositive)
}

/// What LMPOP and ZMPOP read from word `at` on, `numkeys key… end [COUNT count]`: the keys, the end as `parse` reads it,
/// and the count.
///
/// # Errors
/// With the server's texts.
pub fn first_of<'a, T>(
    argv: Argv<'a>,
    at: usize,
    parse: impl FnOnce(&[u8]) -> Result<T, Failure>,
) -> Result<(Argv<'a>, T, usize), Failure> {
    let from_one = |word: &[u8]| parse_i64(word).filter(|&count| count > 0);
    let numkeys = argv.get(at).and_then(|word| from_one(word)).ok_or(Failure::NUMKEYS_NOT_POSITIVE)?;
    let numkeys = usize::try_from(numkeys).unwrap_or(usize::MAX);
    let rest = argv.get(at + 1..).unwrap_or_default();
    let (keys, options) = rest.split_at_checked(numkeys).ok_or(Failure::Syntax)?;
    let mut options = Args::new(options, 0);
    let end = parse(options.word()?)?;
    let mut count = None;
    while let Some(word) = options.next() {
        if count.is_some() || !is(word, "COUNT") {
            return Err(Failure::Syntax);
        }
        count = Some(from_one(options.word()?).ok_or(Failure::COUNT_NOT_POSITIVE)?);
    }
    Ok((keys, end, usize::try_from(count.unwrap_or(1)).unwrap_or(usize::MAX)))
}

/// The positions from `start` to `end`, the end included; negative ones count from the end. Empty when they do not
/// meet the `len` positions there are.
pub fn span(start: i64, end: i64, len: usize) -> Range<usize> {
    let len = len as i64;
    let from = |at: i64| if at < 0 { len + at } else { at };
    let (start, end) = (from(start).max(0), from(end).min(len - 1));
    if start > end { 0..0 } else { start as usize..end as usize + 1 }
}
