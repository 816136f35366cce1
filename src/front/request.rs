//! What clients send, as commands: RESP arrays of bulk strings, and inline commands. Bytes come in pieces of any size;
//! a request is the words of one command, which stay where they arrived. No sockets here, and no command is known.

use crate::util::num::parse_i64;
use crate::util::words::split_words;
use std::ops::Range;

/// The longest inline command, and the longest line that says a count.
const LINE_MAX: usize = 64 * 1024;
/// How much of a long word whose end is known is read at once.
pub(super) const READ_LONG_AT_ONCE: usize = 1 << 20;
/// A buffer with less room is not made smaller.
#[cfg(feature = "server")]
const SHRINKS_FROM: usize = 4096;
/// A buffer of this size is kept, unless its client does nothing for so long:
#[cfg(feature = "server")]
const KEPT: usize = 32 * 1024;
#[cfg(feature = "server")]
const IDLE_S: i64 = 2;
/// A client that still has to give its password sends at most so many words, each of at most so many bytes.
const WORDS_BEFORE_AUTH: i64 = 10;
const BYTES_BEFORE_AUTH: i64 = 16384;

/// What is no request, in the server's words; the connection ends after it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ProtocolError {
    /// An inline command without end.
    #[error("too big inline request")]
    BigInline,
    /// A quote that is not closed.
    #[error("unbalanced quotes in request")]
    UnbalancedQuotes,
    /// A count of words without end.
    #[error("too big mbulk count string")]
    BigCount,
    /// A count of words that is no number, or too large.
    #[error("invalid multibulk length")]
    BadCount,
    /// Many words from a client without its password.
    #[error("unauthenticated multibulk length")]
    CountBeforeAuth,
    /// A length of a word without end.
    #[error("too big bulk count string")]
    BigLength,
    /// A word that does not begin with its length.
    #[error("expected '$', got '{}'", .0.escape_ascii())]
    NoLength(u8),
    /// A length that is no number, negative or too large.
    #[error("invalid bulk length")]
    BadLength,
    /// A long word from a client without its password.
    #[error("unauthenticated bulk length")]
    LengthBeforeAuth,
}

impl ProtocolError {
    /// The error reply, in which that one byte stands as it came unless it would end the line.
    #[cfg(any(feature = "server", feature = "redis-aio"))]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"-ERR Protocol error: ");
        match self {
            ProtocolError::NoLength(byte) => {
                let shown = if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte };
                out.extend_from_slice(&[b"expected '$', got '", &[shown][..], b"'"].concat());
            }
            other => out.extend_from_slice(other.to_string().as_bytes()),
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// What a request may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The longest word: proto-max-bulk-len.
    pub(super) word_max: u64,
    /// The client has to give its password first.
    pub(super) before_auth: bool,
}

/// Bytes that arrived, and how far they are understood.
#[derive(Debug, Default)]
pub(super) struct Requests {
    bytes: Vec<u8>,
    /// Where the request begins that is being read.
    start: usize,
    /// How far it is understood.
    at: usize,
    /// The most that stood in `bytes` since it was made smaller, or could have been, last.
    peak: usize,
    /// Words of an array that are still to come.
    missing: usize,
    /// The length of the word that comes next, once it is known.
    length: Option<usize>,
    /// Where the words stand.
    words: Vec<Range<usize>>,
    /// Words of an inline command, which are unquoted.
    unquoted: Option<Vec<Vec<u8>>>,
    /// Requests without a word were passed over.
    has_passed_over: bool,
}

impl Requests {
    /// Where bytes that arrive are appended.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            (self.start, self.at) = (0, 0);
        } else if self.start > self.bytes.len() / 2 && self.words.is_empty() && self.missing == 0 {
            self.bytes.drain(..self.start);
            self.at -= self.start;
            self.start = 0;
        }
        &mut self.bytes
    }
    /// Bytes that arrived and are no whole request yet, or were not looked at.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len() - self.start
    }
    /// Bytes that arrived and are no whole word yet.
    #[cfg(feature = "server")]
    pub(super) fn begun(&self) -> usize {
        self.bytes.len() - self.at
    }
    /// Bytes of the words of a request that are there.
    #[cfg(feature = "server")]
    pub(super) fn word_bytes(&self) -> usize {
        self.words.iter().map(Range::len).sum()
    }
    /// What is left of a long word, with its line end; 0 where the word is short or its length is not known.
    #[cfg(feature = "server")]
    pub(super) fn expected(&self) -> usize {
        const LONG: usize = 16 * 1024;
        let length = self.length.filter(|length| *length > LONG);
        length.map_or(0, |length| (length + 2).saturating_sub(self.begun()))
    }
    /// Room for more.
    #[cfg(feature = "server")]
    pub(super) fn free(&self) -> usize {
        self.bytes.capacity() - self.pending()
    }
    /// Gives back memory: of a client that has not called for so many seconds, or that needs less than it did.
    #[cfg(feature = "server")]
    pub(super) fn shrink(&mut self, idle_s: i64) {
        let size = self.bytes.capacity();
        if self.free() > SHRINKS_FROM {
            if idle_s > IDLE_S {
                self.buffer().shrink_to_fit();
            } else if size > KEPT && size / 2 > self.peak {
                let peak = self.peak.max(self.length.unwrap_or_default());
                self.buffer().shrink_to(peak);
            }
        }
        self.peak = self.pending();
    }
    /// Goes on to the end of the next request: true when its words are all there.
    ///
    /// # Errors
    /// What comes is no request; there is nothing more to be had from these bytes.
    pub(super) fn advance(&mut self, bounds: Bounds) -> Result<bool, ProtocolError> {
        loop {
            if self.missing > 0 {
                return self.array(bounds);
            }
            let Some(&first) = self.bytes.get(self.at) else { return Ok(false) };
            if first != b'*' {
                match self.inline()? {
                    None => return Ok(false),
                    Some(true) => return Ok(true),
                    // An empty line.
                    Some(false) => self.pass_over(),
                }
                continue;
            }
            let Some(line) = self.line(ProtocolError::BigCount)? else { return Ok(false) };
            let count = count(&self.bytes[line.start + 1..line.end], bounds)?;
            self.at = line.end + 2;
            if count == 0 {
                self.pass_over();
                continue;
            }
            self.missing = count;
        }
    }
    fn pass_over(&mut self) {
        self.has_passed_over = true;
        self.finish();
    }
    /// Whether requests without a word were passed over since this was last asked.
    #[cfg(feature = "server")]
    pub(super) fn take_passed_over(&mut self) -> bool {
        std::mem::take(&mut self.has_passed_over)
    }
    /// Drops all that has arrived.
    #[cfg(feature = "server")]
    pub(super) fn discard(&mut self) {
        *self = Requests::default();
    }
    /// The words of the request, once `advance` has said that they are there.
    pub(super) fn words(&self) -> Vec<&[u8]> {
        match &self.unquoted {
            Some(words) => words.iter().map(Vec::as_slice).collect(),
            None => self.words.iter().map(|range| &self.bytes[range.clone()]).collect(),
        }
    }
    /// The request is done with.
    pub(super) fn finish(&mut self) {
        self.words.clear();
        self.unquoted = None;
        self.start = self.at;
        self.peak = self.peak.max(self.bytes.len());
        // A buffer that was very large once is not kept.
        if self.start == self.bytes.len() && self.bytes.capacity() > READ_LONG_AT_ONCE {
            self.bytes = Vec::new();
            (self.start, self.at) = (0, 0);
        }
    }
    /// The words of an array that are still to come.
    fn array(&mut self, bounds: Bounds) -> Result<bool, ProtocolError> {
        while self.missing > 0 {
            let length = match self.length {
                Some(length) => length,
                None => match self.length(bounds)? {
                    Some(length) => length,
                    None => return Ok(false),
                },
            };
            let end = self.at.saturating_add(length);
            if self.bytes.len() < end.saturating_add(2) {
                return Ok(false);
            }
            self.words.push(self.at..end);
            self.at = end + 2;
            self.length = None;
            self.missing -= 1;
        }
        Ok(true)
    }
    /// The length of the word that comes next.
    fn length(&mut self, bounds: Bounds) -> Result<Option<usize>, ProtocolError> {
        let Some(line) = self.line(ProtocolError::BigLength)? else { return Ok(None) };
        let text = &self.bytes[line.clone()];
        let Some((b'$', digits)) = text.split_first().map(|(first, rest)| (*first, rest)) else {
            return Err(ProtocolError::NoLength(self.bytes[self.at]));
        };
        let length = parse_i64(digits).filter(|length| *length >= 0).ok_or(ProtocolError::BadLength)?;
        if length.unsigned_abs() > bounds.word_max {
            return Err(ProtocolError::BadLength);
        }
        if bounds.before_auth && length > BYTES_BEFORE_AUTH {
            return Err(ProtocolError::LengthBeforeAuth);
        }
        let length = usize::try_from(length).map_err(|_| ProtocolError::BadLength)?;
        self.at = line.end + 2;
        self.length = Some(length);
        // What is known to come has its room at once.
        let whole = self.at.saturating_add(length).saturating_add(2);
        if length > LINE_MAX / 2 && self.bytes.capacity() < whole && length < 64 << 20 {
            self.bytes.reserve_exact(whole - self.bytes.len());
        }
        Ok(Some(length))
    }
    /// The line that begins here, up to its CR, once that and the byte after it are there.
    fn line(&self, too_long: ProtocolError) -> Result<Option<Range<usize>>, ProtocolError> {
        let rest = &self.bytes[self.at..];
        match position_in_text(rest, b'\r') {
            None if rest.len() > LINE_MAX => Err(too_long),
            Some(end) if end + 1 < rest.len() => Ok(Some(self.at..self.at + end)),
            _ => Ok(None),
        }
    }
    /// An inline command: None when its line has not ended, false when it is empty.
    fn inline(&mut self) -> Result<Option<bool>, ProtocolError> {
        let rest = &self.bytes[self.at..];
        let Some(end) = position_in_text(rest, b'\n') else {
            return if rest.len() > LINE_MAX { Err(ProtocolError::BigInline) } else { Ok(None) };
        };
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        let words = split_words(line).ok_or(ProtocolError::UnbalancedQuotes)?;
        self.at += end + 1;
        let is_one = !words.is_empty();
        self.unquoted = Some(words);
        Ok(Some(is_one))
    }
}

/// Where the byte is, unless a NUL stands before it: there ends, as for the server, what can be a line.
fn position_in_text(bytes: &[u8], wanted: u8) -> Option<usize> {
    let found = bytes.iter().position(|byte| *byte == wanted || *byte == 0)?;
    (bytes[found] == wanted).then_some(found)
}

/// How many words an array has; none when it says zero or less.
fn count(digits: &[u8], bounds: Bounds) -> Result<usize, ProtocolError> {
    let count = parse_i64(digits).filter(|count| *count <= i64::from(i32::MAX));
    let count = count.ok_or(ProtocolError::BadCount)?;
    if bounds.before_auth && count > WORDS_BEFORE_AUTH {
        return Err(ProtocolError::CountBeforeAuth);
    }
    Ok(usize::try_from(count).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { word_max: 512 << 20, before_auth: false };

    /// All requests of these bytes, which arrive in pieces of `piece` bytes; and how it ends.
    fn read(bytes: &[u8], piece: usize, bounds: Bounds) -> (Vec<Vec<Vec<u8>>>, Option<ProtocolError>) {
        let (mut requests, mut found) = (Requests::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            requests.buffer().extend_from_slice(piece);
            loop {
                match requests.advance(bounds) {
                    Ok(true) => found.push(requests.words().into_iter().map(<[u8]>::to_vec).collect()),
                    Ok(false) => break,
                    Err(error) => return (found, Some(error)),
                }
                requests.finish();
            }
        }
        (found, None)
    }

    fn texts(requests: &[Vec<Vec<u8>>]) -> Vec<String> {
        let text = |words: &Vec<Vec<u8>>| {
            words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join("|")
        };
        requests.iter().map(text).collect()
    }

    #[test]
    fn requests_are_the_same_in_pieces_of_any_size() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\n\r\n*0\r\n*-1\r\nset k \"a\\r\\n\"\n*1\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n";
        for piece in 1..=bytes.len() {
            let (found, error) = read(bytes, piece, BOUNDS);
            assert_eq!(texts(&found), ["GET|k", "PING", "set|k|a\r\n", "", "PING"], "pieces of {piece}");
            assert_eq!(error, None);
        }
    }

    proptest::proptest! {
        /// Whatever arrives is the same in one piece and in others, and no byte of a request is another one's.
        #[test]
        fn random_bytes_are_the_same_in_pieces(
            parts in proptest::collection::vec(
                proptest::prop_oneof![
                    "[*$][0-9-]{0,3}\r\n",
                    "(\\*[12]\r\n)?\\$[0-5]\r\n[a\r\n*$]{0,6}\r\n",
                    "[a-c'\"\\\\x0]{0,6}\r?\n",
                ],
                0..8,
            ),
            piece in 1_usize..9,
        ) {
            let bytes = parts.concat().into_bytes();
            proptest::prop_assert_eq!(read(&bytes, piece, BOUNDS), read(&bytes, bytes.len().max(1), BOUNDS));
        }
    }

    #[test]
    fn what_is_no_request_is_named_as_the_server_does() {
        let before_auth = Bounds { before_auth: true, ..BOUNDS };
        let long = vec![b'1'; LINE_MAX + 2];
        let after = |head: &[u8]| [head, &long].concat();
        for (bytes, bounds, text) in [
            (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n".to_vec(), BOUNDS, "expected '$', got 'f'"),
            (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$-10\r\n".to_vec(), BOUNDS, "invalid bulk length"),
            (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$2000000000\r\n".to_vec(), BOUNDS, "invalid bulk length"),
            (b"*1\r\n$blabla\r\n".to_vec(), BOUNDS, "invalid bulk length"),
            (b"*3000000000\r\n".to_vec(), BOUNDS, "invalid multibulk length"),
            (b"*foo\r\n".to_vec(), BOUNDS, "invalid multibulk length"),
            (b"*11\r\n".to_vec(), before_auth, "unauthenticated multibulk length"),
            (b"*1\r\n$16385\r\n".to_vec(), before_auth, "unauthenticated bulk length"),
            (b"set \"\"\"test-key\"\"\" x\r\n".to_vec(), BOUNDS, "unbalanced quotes in request"),
            (after(b""), BOUNDS, "too big inline request"),
            (after(b"*"), BOUNDS, "too big mbulk count string"),
            (after(b"*1\r\n$"), BOUNDS, "too big bulk count string"),
        ] {
            let (found, error) = read(&bytes, bytes.len(), bounds);
            assert!(found.is_empty(), "{text}");
            assert_eq!(error.map(|error| error.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_buffer_does_not_keep_what_was_read() {
        let mut requests = Requests::default();
        let word = vec![b'x'; 1 << 20];
        for _ in 0..3 {
            requests.buffer().extend_from_slice(b"*1\r\n$1048576\r\n");
            assert_eq!(requests.advance(BOUNDS), Ok(false));
            requests.buffer().extend_from_slice(&word);
            requests.buffer().extend_from_slice(b"\r\n");
            assert_eq!(requests.advance(BOUNDS), Ok(true));
            assert_eq!(requests.words(), [&word[..]]);
            requests.finish();
            assert_eq!((requests.pending(), requests.bytes.capacity()), (0, 0));
        }
    }
}
