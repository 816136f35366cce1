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
    if text.trim_ascii_start().starts_with(b"#") {
        return Parsed::Words(Vec::new());
    }
    if let Some(words) = split_words(text) {
        return Parsed::Words(words);
    }
    let closed_by = |end: &[u8]| split_words(&[text, end].concat()).is_some();
    if closed_by(b"\n\"") || closed_by(b"\n'") { Parsed::Open } else { Parsed::Malformed }
}

/// A command of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The number of its first line.
    pub(crate) line: usize,
    /// Its text as it stands there, without the last line end.
    pub(crate) text: Vec<u8>,
}

/// Puts lines together to commands; blank lines and comments are skipped.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    lines_read: usize,
    open: Option<Statement>,
}

impl Statements {
    /// Takes a line without its end; gives a command when that completes one. A malformed one is given too.
    pub(crate) fn push(&mut self, line: &[u8]) -> Option<Statement> {
        self.lines_read += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let statement = match self.open.take() {
            Some(open) => Statement { text: [&open.text, &b"\n"[..], line].concat(), ..open },
            None => Statement { line: self.lines_read, text: line.to_vec() },
        };
        match parse(&statement.text) {
            Parsed::Words(words) if words.is_empty() => None,
            Parsed::Words(_) | Parsed::Malformed => Some(statement),
            Parsed::Open => {
                self.open = Some(statement);
                None
            }
        }
    }
    /// The lines are over: what is still open.
    pub(crate) fn finish(self) -> Option<Statement> {
        self.open
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
}
