//! Commands as lines of text: which lines of a file or a pipe make up one command. A command stands on one line,
//! quoted as in redis-cli; while a quote is open it goes on in the next one, so that a Lua script may stand in it.

use moonkeep::util::words::split_words;

/// What a piece of text is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// The words of a command; none for a blank line or a comment.
    Words(Vec<Vec<u8>>),
    /// A quote is open at the end.
    Open,
    /// No continuation makes it right: something touches a closing quote.
    Malformed,
}

/// Reads the text of a command.
pub(crate) fn parse(text: &[u8]) -> Parsed {
    if is_comment(text) {
        return Parsed::Words(Vec::new());
    }
    let mut quotes = Quotes::default();
    quotes.read(text);
    match split_words(text) {
        Some(words) => Parsed::Words(words),
        None if quotes.is_open() => Parsed::Open,
        None => Parsed::Malformed,
    }
}

fn is_comment(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"#")
}

/// Which quotes are open, as `split_words` sees them, carried from line to line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Quotes {
    #[default]
    Closed,
    /// A quote was closed just before.
    Closing,
    Double,
    /// A backslash stands before the next byte.
    DoubleEscape,
    Single,
    SingleEscape,
    /// What follows does not matter: a NUL ends the words, something touches a closing quote.
    Over,
}

impl Quotes {
    fn is_open(self) -> bool {
        matches!(self, Quotes::Double | Quotes::DoubleEscape | Quotes::Single | Quotes::SingleEscape)
    }
    fn read(&mut self, text: &[u8]) {
        *self = text.iter().fold(*self, |quotes, &byte| quotes.after(byte));
    }
    fn after(self, byte: u8) -> Quotes {
        match (self, byte) {
            // In single quotes a backslash stands for itself but before a quote.
            (Quotes::SingleEscape, b'\\') => Quotes::SingleEscape,
            (Quotes::Closed, b'"') | (Quotes::DoubleEscape, _) => Quotes::Double,
            (Quotes::Closed, b'\'') | (Quotes::SingleEscape, _) => Quotes::Single,
            (Quotes::Closed | Quotes::Closing, 0) => Quotes::Over,
            (Quotes::Closed, _) => Quotes::Closed,
            (Quotes::Closing, byte) if byte.is_ascii_whitespace() => Quotes::Closed,
            (Quotes::Closing, _) => Quotes::Over,
            (Quotes::Double, b'"') | (Quotes::Single, b'\'') => Quotes::Closing,
            (Quotes::Double, b'\\') => Quotes::DoubleEscape,
            (Quotes::Single, b'\\') => Quotes::SingleEscape,
            (other, _) => other,
        }
    }
}

/// A command of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The number of its first line.
    pub(crate) line: usize,
    /// Its text as it stands there, without the last line end.
    pub(crate) text: Vec<u8>,
}

/// Puts lines together to commands; blank lines and comments are skipped. Each line is looked at once, however long a
/// quote stays open.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    lines_read: usize,
    open: Option<(Statement, Quotes)>,
}

impl Statements {
    /// Takes a line without its end; gives a command when that completes one. A malformed one is given too.
    pub(crate) fn push(&mut self, line: &[u8]) -> Option<Statement> {
        self.lines_read += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (mut statement, mut quotes) = match self.open.take() {
            Some((mut statement, mut quotes)) => {
                statement.text.push(b'\n');
                quotes.read(b"\n");
                (statement, quotes)
            }
            None if is_comment(line) || line.trim_ascii().is_empty() => return None,
            None => (Statement { line: self.lines_read, text: Vec::new() }, Quotes::default()),
        };
        statement.text.extend_from_slice(line);
        quotes.read(line);
        if !quotes.is_open() {
            return Some(statement);
        }
        self.open = Some((statement, quotes));
        None
    }
    /// The lines are over: what is still open.
    pub(crate) fn finish(self) -> Option<Statement> {
        self.open.map(|(statement, _)| statement)
    }
    /// All commands of a text; the last one may be open.
    pub(crate) fn of(text: &[u8]) -> Vec<Statement> {
        let mut statements = Statements::default();
        let lines = text.split(|&byte| byte == b'\n');
        let mut all: Vec<Statement> = lines.filter_map(|line| statements.push(line)).collect();
        all.extend(statements.finish());
        all
    }
}

/// The words of a command, or what is wrong with it.
pub(crate) fn words(text: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    match parse(text) {
        Parsed::Words(words) => Ok(words),
        Parsed::Open => Err("the quotes are not balanced"),
        Parsed::Malformed => Err("a space has to follow a closing quote"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_while_a_quote_is_open() {
        let text = b"# a comment\n\nSET k v\r\nEVAL \"return\n  1\" 0\nSET a 'it\\'s\nopen";
        let statements: Vec<(usize, String)> = Statements::of(text)
            .into_iter()
            .map(|statement| (statement.line, String::from_utf8_lossy(&statement.text).into_owned()))
            .collect();
        let wanted = [(3, "SET k v"), (4, "EVAL \"return\n  1\" 0"), (6, "SET a 'it\\'s\nopen")];
        assert_eq!(statements, wanted.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn open_and_malformed_are_told_apart() {
        let cases: [(&[u8], Result<usize, &str>); 8] = [
            (b"SET k \"a b\"", Ok(3)),
            (b"", Ok(0)),
            (b"  # SET \"", Ok(0)),
            (b"SET \"a", Err("the quotes are not balanced")),
            (b"SET 'a", Err("the quotes are not balanced")),
            (b"SET \"a\\", Err("the quotes are not balanced")),
            (b"SET \"a\"b", Err("a space has to follow a closing quote")),
            (b"SET \"a\"b \"c", Err("a space has to follow a closing quote")),
        ];
        for (text, wanted) in cases {
            assert_eq!(words(text).map(|words| words.len()), wanted, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn quotes_are_open_where_a_closing_one_would_make_words() {
        let bytes = *b"\"'\\ x\n\0a";
        let mut rng = moonkeep::util::rng::Rng::new(7);
        for _ in 0..20_000 {
            let text: Vec<u8> =
                (0..rng.below(9)).map(|_| bytes[rng.below(bytes.len() as u64) as usize]).collect();
            let closed_by = |end: &[u8]| split_words(&[&text, end].concat()).is_some();
            let wanted = match split_words(&text) {
                Some(words) => Parsed::Words(words),
                None if closed_by(b"\n\"") || closed_by(b"\n'") => Parsed::Open,
                None => Parsed::Malformed,
            };
            assert_eq!(parse(&text), wanted, "{}", text.escape_ascii());
        }
    }
}
