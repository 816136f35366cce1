//! Lua 5.1's pattern matching, with every step counted: no pattern can hold up the engine or exhaust its stack.
//! Patterns end at their first NUL, as in C. Not here: what the string functions do with a match (`strings`).

/// Captures that a pattern may have.
const CAPTURES_MAX: usize = 32;
/// How deep the matcher may call itself: one level for each repetition and each end of a capture.
const DEPTH_MAX: u32 = 200;
/// How much of a set like `[a-z]` is read at once.
const SET_SLICE: usize = 64 * 1024;

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The pattern is wrong; Lua's message.
    Malformed(&'static [u8]),
    /// All steps are used up.
    Exhausted,
}

/// A found place: where the match starts and ends.
pub(super) type Found = Result<Option<usize>, Trouble>;

/// What a capture has taken so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// Its end is not reached yet.
    Open,
    /// Just the position.
    Position,
    /// So many bytes.
    Bytes(usize),
}

/// One capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    /// Where it starts.
    pub(super) start: usize,
    /// What it has taken.
    pub(super) taken: Taken,
}

/// A pattern at work on a text.
pub(super) struct Matcher<'a, F> {
    text: &'a [u8],
    pattern: &'a [u8],
    captures: [Capture; CAPTURES_MAX],
    level: usize,
    depth: u32,
    steps: u64,
    slice: u64,
    pay: F,
}

impl<'a, F: Fn(u64) -> bool> Matcher<'a, F> {
    /// A matcher that pays for its steps, slice by slice, and ends when it cannot. The pattern's own `^` is the
    /// caller's business.
    #[inline]
    pub(super) fn new(text: &'a [u8], pattern: &'a [u8], slice: u64, pay: F) -> Self {
        let none = Capture { start: 0, taken: Taken::Open };
        Matcher { text, pattern, captures: [none; CAPTURES_MAX], level: 0, depth: 0, steps: 0, slice, pay }
    }

    /// Steps that were made and not paid for yet; whoever asks pays.
    pub(super) fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// The captures of the last match.
    pub(super) fn captures(&self) -> &[Capture] {
        &self.captures[..self.level]
    }

    /// Matches at exactly this place; gives the end of the match.
    #[inline]
    pub(super) fn match_at(&mut self, start: usize) -> Found {
        self.level = 0;
        self.depth = 0;
        self.matches(start, 0)
    }

    #[inline(always)]
    fn step(&mut self, count: usize) -> Result<(), Trouble> {
        self.steps += count as u64;
        if self.steps > self.slice { self.pay_slice() } else { Ok(()) }
    }

    #[cold]
    fn pay_slice(&mut self) -> Result<(), Trouble> {
        let steps = self.take_steps();
        if (self.pay)(steps) { Ok(()) } else { Err(Trouble::Exhausted) }
    }

    #[inline(always)]
    fn at(&self, p: usize) -> u8 {
        self.pattern.get(p).copied().unwrap_or(0)
    }

    /// Matches the rest of the pattern, from `p`, at `s`, one level deeper.
    fn deeper(&mut self, s: usize, p: usize) -> Found {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Trouble::Malformed(b"pattern too complex"));
        }
        let found = self.matches(s, p);
        self.depth -= 1;
        found
    }

    fn matches(&mut self, mut s: usize, mut p: usize) -> Found {
        loop {
            self.step(1)?;
            match self.at(p) {
                0 => return Ok(Some(s)),
                b'(' if self.at(p + 1) == b')' => return self.start_capture(s, p + 2, Taken::Position),
                b'(' => return self.start_capture(s, p + 1, Taken::Open),
                b')' => return self.end_capture(s, p + 1),
                b'$' if p + 1 >= self.pattern.len() => return Ok((s == self.text.len()).then_some(s)),
                b'%' => match self.at(p + 1) {
                    b'b' => match self.match_balance(s, p + 2)? {
                        Some(end) => (s, p) = (end, p + 4),
                        None => return Ok(None),
                    },
                    b'f' => match self.match_frontier(s, p + 2)? {
                        Some(after) => p = after,
                        None => return Ok(None),
                    },
                    digit @ b'0'..=b'9' => match self.match_capture(s, digit)? {
                        Some(end) => (s, p) = (end, p + 2),
                        None => return Ok(None),
                    },
                    _ => match self.match_item(s, p)? {
                        Step::On(next, after) => (s, p) = (next, after),
                        Step::Done(found) => return Ok(found),
                    },
                },
                _ => match self.match_item(s, p)? {
                    Step::On(next, after) => (s, p) = (next, after),
                    Step::Done(found) => return Ok(found),
                },
            }
        }
    }

    /// One class with what follows it: `?`, `*`, `+`, `-` or nothing.
    #[inline]
    fn match_item(&mut self, s: usize, p: usize) -> Result<Step, Trouble> {
        let end = self.class_end(p)?;
        match self.at(end) {
            b'*' => self.expand(s, p, end).map(Step::Done),
            b'+' if self.single(s, p, end)? => self.expand(s + 1, p, end).map(Step::Done),
            b'+' => Ok(Step::Done(None)),
            b'-' => self.expand_least(s, p, end).map(Step::Done),
            b'?' => {
                if self.single(s, p, end)?
                    && let Some(found) = self.deeper(s + 1, end + 1)?
                {
                    return Ok(Step::Done(Some(found)));
                }
                Ok(Step::On(s, end + 1))
            }
            _ if self.single(s, p, end)? => Ok(Step::On(s + 1, end)),
            _ => Ok(Step::Done(None)),
        }
    }

    /// As many as there are, then fewer until the rest matches.
    fn expand(&mut self, s: usize, p: usize, end: usize) -> Found {
        let mut last = s;
        while self.single(last, p, end)? {
            last += 1;
        }
        loop {
            if let Some(found) = self.deeper(last, end + 1)? {
                return Ok(Some(found));
            }
            if last == s {
                return Ok(None);
            }
            last -= 1;
        }
    }

    /// None, then more until the rest matches.
    fn expand_least(&mut self, mut s: usize, p: usize, end: usize) -> Found {
        loop {
            if let Some(found) = self.deeper(s, end + 1)? {
                return Ok(Some(found));
            }
            if !self.single(s, p, end)? {
                return Ok(None);
            }
            s += 1;
        }
    }

    /// Where the class that starts at `p` ends.
    #[inline]
    fn class_end(&mut self, p: usize) -> Result<usize, Trouble> {
        match self.at(p) {
            b'%' if p + 1 >= self.pattern.len() => {
                Err(Trouble::Malformed(b"malformed pattern (ends with '%')"))
            }
            b'%' => Ok(p + 2),
            b'[' => self.set_end(p + 1),
            _ => Ok(p + 1),
        }
    }

    fn set_end(&mut self, mut p: usize) -> Result<usize, Trouble> {
        let mut start = p;
        if self.at(p) == b'^' {
            p += 1;
        }
        loop {
            let byte = self.at(p);
            if p >= self.pattern.len() {
                return Err(Trouble::Malformed(b"malformed pattern (missing ']')"));
            }
            p += if byte == b'%' && p + 1 < self.pattern.len() { 2 } else { 1 };
            if p - start >= SET_SLICE {
                self.step(p - start)?;
                start = p;
            }
            if self.at(p) == b']' && p < self.pattern.len() {
                self.step(p - start)?;
                return Ok(p + 1);
            }
        }
    }

    /// Whether the byte at `s` is of the class from `p` to `end`.
    #[inline]
    fn single(&mut self, s: usize, p: usize, end: usize) -> Result<bool, Trouble> {
        let Some(&byte) = self.text.get(s) else { return Ok(false) };
        Ok(match self.at(p) {
            b'.' => {
                self.step(1)?;
                true
            }
            b'%' => {
                self.step(1)?;
                is_of_class(byte, self.at(p + 1))
            }
            b'[' => self.is_in_set(byte, p, end - 1)?,
            literal => {
                self.step(1)?;
                literal == byte
            }
        })
    }

    /// Whether a byte is in the set from its `[` at `p` to its `]` at `end`.
    #[inline]
    fn is_in_set(&mut self, byte: u8, mut p: usize, end: usize) -> Result<bool, Trouble> {
        self.step((end + 1 - p).min(SET_SLICE))?;
        let negated = self.at(p + 1) == b'^';
        if negated {
            p += 1;
        }
        p += 1;
        loop {
            let stop = end.min(p + SET_SLICE);
            while p < stop {
                if self.at(p) == b'%' {
                    if is_of_class(byte, self.at(p + 1)) {
                        return Ok(!negated);
                    }
                    p += 2;
                } else if self.at(p + 1) == b'-' && p + 2 < end {
                    if (self.at(p)..=self.at(p + 2)).contains(&byte) {
                        return Ok(!negated);
                    }
                    p += 3;
                } else {
                    if self.at(p) == byte {
                        return Ok(!negated);
                    }
                    p += 1;
                }
            }
            if p >= end {
                return Ok(negated);
            }
            self.step((end - p).min(SET_SLICE))?;
        }
    }

    /// `%bxy`.
    fn match_balance(&mut self, s: usize, p: usize) -> Found {
        if p + 1 >= self.pattern.len() {
            return Err(Trouble::Malformed(b"unbalanced pattern"));
        }
        let (open, close) = (self.at(p), self.at(p + 1));
        if self.text.get(s) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1;
        for (index, &byte) in self.text.iter().enumerate().skip(s + 1) {
            self.step(1)?;
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(index + 1));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    /// `%f[set]`: the place in the pattern after it, when `s` is a frontier.
    fn match_frontier(&mut self, s: usize, p: usize) -> Found {
        if self.at(p) != b'[' {
            return Err(Trouble::Malformed(b"missing '[' after '%f' in pattern"));
        }
        let end = self.class_end(p)?;
        let before = s.checked_sub(1).map_or(0, |before| self.text[before]);
        let here = self.text.get(s).copied().unwrap_or(0);
        let frontier = !self.is_in_set(before, p, end - 1)? && self.is_in_set(here, p, end - 1)?;
        Ok(frontier.then_some(end))
    }

    fn start_capture(&mut self, s: usize, p: usize, taken: Taken) -> Found {
        let Some(capture) = self.captures.get_mut(self.level) else {
            return Err(Trouble::Malformed(b"too many captures"));
        };
        *capture = Capture { start: s, taken };
        self.level += 1;
        let found = self.deeper(s, p)?;
        if found.is_none() {
            self.level -= 1;
        }
        Ok(found)
    }

    fn end_capture(&mut self, s: usize, p: usize) -> Found {
        let open = self.captures[..self.level].iter().rposition(|capture| capture.taken == Taken::Open);
        let Some(open) = open else { return Err(Trouble::Malformed(b"invalid pattern capture")) };
        self.captures[open].taken = Taken::Bytes(s - self.captures[open].start);
        let found = self.deeper(s, p)?;
        if found.is_none() {
            self.captures[open].taken = Taken::Open;
        }
        Ok(found)
    }

    /// `%1` to `%9`: what a capture has taken, again.
    fn match_capture(&mut self, s: usize, digit: u8) -> Found {
        let capture =
            digit.checked_sub(b'1').and_then(|index| self.captures().get(usize::from(index)).copied());
        match capture {
            Some(Capture { start, taken: Taken::Bytes(length) }) => {
                self.step(length / 8 + 1)?;
                let again = self.text[s..].starts_with(&self.text[start..start + length]);
                Ok(again.then_some(s + length))
            }
            Some(Capture { taken: Taken::Position, .. }) => Ok(None),
            _ => Err(Trouble::Malformed(b"invalid capture index")),
        }
    }
}

/// After one item of a pattern.
enum Step {
    /// Go on at this place of the text and of the pattern.
    On(usize, usize),
    /// The whole rest is decided.
    Done(Option<usize>),
}

/// Whether a byte is of the class that a letter names; an upper-case letter is the opposite, another byte itself.
#[inline]
fn is_of_class(byte: u8, class: u8) -> bool {
    let is = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    is != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, pattern: &str) -> Option<(usize, usize)> {
        let mut matcher = Matcher::new(text.as_bytes(), pattern.as_bytes(), 1_000_000, |_| false);
        (0..=text.len()).find_map(|start| Some((start, matcher.match_at(start).expect("well-formed")?)))
    }

    fn trouble(text: &str, pattern: &str) -> Trouble {
        let mut matcher = Matcher::new(text.as_bytes(), pattern.as_bytes(), 100_000, |_| false);
        matcher.match_at(0).expect_err("trouble")
    }

    #[test]
    fn classes_repetitions_and_captures() {
        assert_eq!(find("abc123", "%d+"), Some((3, 6)));
        assert_eq!(find("abc123", "%a-%d"), Some((0, 4)));
        assert_eq!(find("key = val", "(%w+)%s*=%s*(%w+)"), Some((0, 9)));
        assert_eq!(find("f(a(b)c)d", "%b()"), Some((1, 8)));
        assert_eq!(find("THE (quick) fox", "%f[%a]%a+%f[%A]"), Some((0, 3)));
        assert_eq!(find("abab", "(ab)%1"), Some((0, 4)));
        assert_eq!(find("x]y", "[]]"), Some((1, 2)));
        assert_eq!(find("x-y", "[a%-z]"), Some((1, 2)));
        assert_eq!(find("x^y", "[%^]"), Some((1, 2)));
        assert_eq!(find("aaa", "a?a?a?$"), Some((0, 3)));
        assert_eq!(find("abc", "z"), None);
    }

    #[test]
    fn wrong_patterns_have_messages() {
        assert_eq!(trouble("x", "%"), Trouble::Malformed(b"malformed pattern (ends with '%')"));
        assert_eq!(trouble("x", "[a"), Trouble::Malformed(b"malformed pattern (missing ']')"));
        assert_eq!(trouble("x", "x)"), Trouble::Malformed(b"invalid pattern capture"));
        assert_eq!(trouble("x", "%1"), Trouble::Malformed(b"invalid capture index"));
        assert_eq!(trouble("x", &"()".repeat(33)), Trouble::Malformed(b"too many captures"));
    }

    #[test]
    fn work_and_depth_are_bounded() {
        let (text, pattern) = ("a".repeat(60), "a*".repeat(12) + "b");
        assert_eq!(trouble(&text, &pattern), Trouble::Exhausted);
        assert_eq!(trouble("", &"a-".repeat(5000)), Trouble::Malformed(b"pattern too complex"));
    }
}
