//! The source of a script as words, and its statements: as much of Lua's grammar as it takes to change a script in a way
//! that still compiles. A source that does not parse has words only.

/// A word of the source, by its place in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) kind: WordKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A name or a keyword.
    Name,
    Number,
    Text,
    Sign,
}

/// The words of a source without its comments.
pub(super) fn words(source: &[u8]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut at = match source.starts_with(b"#") {
        true => source.iter().position(|&byte| byte == b'\n').unwrap_or(source.len()),
        false => 0,
    };
    while let Some(&byte) = source.get(at) {
        let rest = &source[at..];
        if byte.is_ascii_whitespace() || byte == 0x0b {
            at += 1;
            continue;
        }
        if rest.starts_with(b"--") {
            at += 2 + match long_bracket(&rest[2..]) {
                Some(length) => length,
                None => rest[2..].iter().position(|&byte| byte == b'\n').unwrap_or(rest.len() - 2),
            };
            continue;
        }
        let (kind, length) = word(rest);
        found.push(Word { kind, start: at, end: at + length });
        at += length;
    }
    found
}

/// The first word and its length, which is at least 1.
fn word(rest: &[u8]) -> (WordKind, usize) {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let first = rest[0];
    if first.is_ascii_digit() || (first == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit)) {
        return (WordKind::Number, number(rest));
    }
    if is_name(&first) {
        return (WordKind::Name, rest.iter().take_while(|byte| is_name(byte)).count());
    }
    if first == b'"' || first == b'\'' {
        return (WordKind::Text, quoted(rest, first));
    }
    if let Some(length) = long_bracket(rest) {
        return (WordKind::Text, length);
    }
    const SIGNS: [&[u8]; 6] = [b"...", b"..", b"==", b"~=", b"<=", b">="];
    let long = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
    (WordKind::Sign, long.map_or(1, <[u8]>::len))
}

fn number(rest: &[u8]) -> usize {
    let goes_on = |at: usize| match rest.get(at) {
        Some(b'+' | b'-') => matches!(rest[at - 1], b'e' | b'E') && !rest.starts_with(b"0x"),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'.',
        None => false,
    };
    (1..).find(|&at| !goes_on(at)).unwrap_or(1)
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of `[[ … ]]` or `[==[ … ]==]` at the front.
fn long_bracket(rest: &[u8]) -> Option<usize> {
    let inner = rest.strip_prefix(b"[")?;
    let level = inner.iter().take_while(|&&byte| byte == b'=').count();
    if inner.get(level) != Some(&b'[') {
        return None;
    }
    let close = [b"]", "=".repeat(level).as_bytes(), b"]"].concat();
    let body = &rest[level + 2..];
    let end = body.windows(close.len()).position(|part| part == close);
    Some(end.map_or(rest.len(), |end| level + 2 + end + close.len()))
}

/// Words by their numbers, the second excluded.
pub(super) type Span = (usize, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementKind {
    If,
    Return,
    Call,
    Assignment,
    Local,
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) span: Span,
}

/// What was found in a source, inner things before outer ones.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// The statements of each block.
    pub(super) blocks: Vec<Vec<Statement>>,
    /// The conditions of `if` and `elseif`.
    pub(super) conditions: Vec<Span>,
    /// What `or` joins, and within what `and` joins; of two parts or more.
    pub(super) chains: Vec<Vec<Span>>,
    /// The elements of each table constructor.
    pub(super) tables: Vec<Vec<Span>>,
    /// Calls of redis.call and redis.pcall.
    pub(super) commands: Vec<Span>,
}

/// The words that are no names.
const KEYWORDS: [&[u8]; 21] = [
    b"and",
    b"break",
    b"do",
    b"else",
    b"elseif",
    b"end",
    b"false",
    b"for",
    b"function",
    b"if",
    b"in",
    b"local",
    b"nil",
    b"not",
    b"or",
    b"repeat",
    b"return",
    b"then",
    b"true",
    b"until",
    b"while",
];
/// Deeper nesting does not compile.
const DEPTH_MAX: usize = 180;

struct Parser<'a> {
    source: &'a [u8],
    words: &'a [Word],
    at: usize,
    depth: usize,
    parsed: Parsed,
}

/// The statements of a source; None when it is not Lua.
pub(super) fn parse(source: &[u8], words: &[Word]) -> Option<Parsed> {
    let mut parser = Parser { source, words, at: 0, depth: 0, parsed: Parsed::default() };
    parser.block()?;
    (parser.at == words.len()).then_some(parser.parsed)
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a [u8] {
        self.words.get(self.at).map_or(b"", |word| &self.source[word.start..word.end])
    }
    fn takes(&mut self, text: &str) -> bool {
        let found = self.peek() == text.as_bytes();
        self.at += usize::from(found);
        found
    }
    fn expect(&mut self, text: &str) -> Option<()> {
        self.takes(text).then_some(())
    }
    fn block(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let mut statements = Vec::new();
        while !matches!(self.peek(), b"" | b"end" | b"else" | b"elseif" | b"until") {
            let start = self.at;
            let kind = self.statement()?;
            statements.push(Statement { kind, span: (start, self.at) });
            self.takes(";");
        }
        self.depth -= 1;
        self.parsed.blocks.push(statements);
        Some(())
    }
    fn statement(&mut self) -> Option<StatementKind> {
        match self.peek() {
            b"if" => return self.branches(),
            b"return" => return self.returned(),
            b"local" => return self.local(),
            b"while" => {
                self.at += 1;
                self.expression()?;
                self.expect("do")?;
                self.body_to("end")?;
            }
            b"do" => {
                self.at += 1;
                self.body_to("end")?;
            }
            b"for" => {
                self.at += 1;
                while !matches!(self.peek(), b"=" | b"in" | b"") {
                    self.at += 1;
                }
                self.at += 1;
                self.expressions()?;
                self.expect("do")?;
                self.body_to("end")?;
            }
            b"repeat" => {
                self.at += 1;
                self.body_to("until")?;
                self.expression()?;
            }
            b"function" => {
                self.at += 1;
                while self.peek() != b"(" {
                    (!self.peek().is_empty()).then_some(())?;
                    self.at += 1;
                }
                self.function()?;
            }
            b"break" => self.at += 1,
            _ => {
                self.suffixed()?;
                if !matches!(self.peek(), b"=" | b",") {
                    return Some(StatementKind::Call);
                }
                while self.takes(",") {
                    self.suffixed()?;
                }
                self.expect("=")?;
                self.expressions()?;
                return Some(StatementKind::Assignment);
            }
        }
        Some(StatementKind::Other)
    }
    fn branches(&mut self) -> Option<StatementKind> {
        while self.takes("if") || self.takes("elseif") {
            let start = self.at;
            self.expression()?;
            self.parsed.conditions.push((start, self.at));
            self.expect("then")?;
            self.block()?;
        }
        if self.takes("else") {
            self.block()?;
        }
        self.expect("end")?;
        Some(StatementKind::If)
    }
    fn returned(&mut self) -> Option<StatementKind> {
        self.at += 1;
        if !matches!(self.peek(), b"" | b";" | b"end" | b"else" | b"elseif" | b"until") {
            self.expressions()?;
        }
        Some(StatementKind::Return)
    }
    fn local(&mut self) -> Option<StatementKind> {
        self.at += 1;
        if self.takes("function") {
            self.at += 1;
            self.function()?;
            return Some(StatementKind::Local);
        }
        loop {
            self.at += 1;
            if !self.takes(",") {
                break;
            }
        }
        if self.takes("=") {
            self.expressions()?;
        }
        Some(StatementKind::Local)
    }
    fn body_to(&mut self, end: &str) -> Option<()> {
        self.block()?;
        self.expect(end)
    }
    /// From the parameters of a function to its end.
    fn function(&mut self) -> Option<()> {
        self.expect("(")?;
        while !self.takes(")") {
            (!self.peek().is_empty()).then_some(())?;
            self.at += 1;
        }
        self.body_to("end")
    }
    fn expressions(&mut self) -> Option<()> {
        self.expression()?;
        while self.takes(",") {
            self.expression()?;
        }
        Some(())
    }
    fn expression(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let start = self.at;
        let (mut ors, mut ands) = (vec![start], vec![vec![start]]);
        loop {
            while matches!(self.peek(), b"not" | b"-" | b"#") {
                self.at += 1;
            }
            self.simple()?;
            match self.peek() {
                b"or" => {
                    ors.push(self.at + 1);
                    ands.push(vec![self.at + 1]);
                }
                b"and" => ands.last_mut()?.push(self.at + 1),
                b"+" | b"-" | b"*" | b"/" | b"%" | b"^" | b".." | b"<" | b"<=" | b">" | b">=" | b"=="
                | b"~=" => {}
                _ => break,
            }
            self.at += 1;
        }
        self.depth -= 1;
        let end = self.at;
        for (number, starts) in ands.iter().enumerate() {
            let end = ors.get(number + 1).map_or(end, |next| next - 1);
            self.parsed.chain(starts, end);
        }
        self.parsed.chain(&ors, end);
        Some(())
    }
    fn simple(&mut self) -> Option<()> {
        match self.words.get(self.at)?.kind {
            WordKind::Number | WordKind::Text => self.at += 1,
            _ => match self.peek() {
                b"nil" | b"true" | b"false" | b"..." => self.at += 1,
                b"function" => {
                    self.at += 1;
                    self.function()?;
                }
                b"{" => self.table()?,
                _ => self.suffixed()?,
            },
        }
        Some(())
    }
    /// A name or an expression in parentheses, and what is called or indexed in it.
    fn suffixed(&mut self) -> Option<()> {
        let start = self.at;
        if self.takes("(") {
            self.expression()?;
            self.expect(")")?;
        } else {
            let is_name = self.words.get(self.at)?.kind == WordKind::Name;
            let is_keyword = KEYWORDS.contains(&self.peek());
            (is_name && !is_keyword).then_some(())?;
            self.at += 1;
        }
        loop {
            let is_text = self.words.get(self.at).is_some_and(|word| word.kind == WordKind::Text);
            match self.peek() {
                b"." | b":" => self.at += 2,
                b"[" if !is_text => {
                    self.at += 1;
                    self.expression()?;
                    self.expect("]")?;
                }
                b"(" => {
                    self.at += 1;
                    if !self.takes(")") {
                        self.expressions()?;
                        self.expect(")")?;
                    }
                    if self.is_command(start) {
                        self.parsed.commands.push((start, self.at));
                    }
                }
                b"{" => self.table()?,
                _ if is_text => self.at += 1,
                _ => return Some(()),
            }
        }
    }
    fn is_command(&self, start: usize) -> bool {
        let text = |at: usize| self.words.get(start + at).map(|word| &self.source[word.start..word.end]);
        text(0) == Some(b"redis") && matches!(text(2), Some(b"call" | b"pcall")) && text(3) == Some(b"(")
    }
    fn table(&mut self) -> Option<()> {
        self.expect("{")?;
        let mut elements = Vec::new();
        while !self.takes("}") {
            let start = self.at;
            let is_named = self.words.get(self.at)?.kind == WordKind::Name
                && self.words.get(self.at + 1).is_some_and(|word| &self.source[word.start..word.end] == b"=");
            if is_named {
                self.at += 2;
            } else if self.takes("[") {
                self.expression()?;
                self.expect("]")?;
                self.expect("=")?;
            }
            self.expression()?;
            elements.push((start, self.at));
            if !self.takes(",") && !self.takes(";") && self.peek() != b"}" {
                return None;
            }
        }
        self.parsed.tables.push(elements);
        Some(())
    }
}

impl Parsed {
    fn chain(&mut self, starts: &[usize], end: usize) {
        if starts.len() > 1 {
            let ends = starts.iter().skip(1).map(|next| next - 1).chain([end]);
            self.chains.push(starts.iter().copied().zip(ends).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Vec<&str> {
        words(source.as_bytes()).iter().map(|word| &source[word.start..word.end]).collect()
    }

    #[test]
    fn comments_are_no_words_and_texts_are_one() {
        let source = "#!lua\n--!key a\nlocal a = [[x]] --[==[ y ]] ]==] .. 'it\\'s' .. 1e-5+0x1F ~= a.b\n--";
        let words =
            ["local", "a", "=", "[[x]]", "..", "'it\\'s'", "..", "1e-5", "+", "0x1F", "~=", "a", ".", "b"];
        assert_eq!(shown(source), words);
    }

    #[test]
    fn statements_end_where_they_do() {
        let source = "local f = function(a, ...) return a end\nif f(1) or #KEYS ~= 1 and not x then redis.call('DEL', KEYS[1]) a.b, c = 1, 2 elseif y then end\nfor i = 1, 2 do f{i, j = 2; [3] = 4} end\nrepeat until f'x':g() return {1, redis.call('GET', 'k')}";
        let all = words(source.as_bytes());
        let parsed = parse(source.as_bytes(), &all).expect("it is Lua");
        let text = |span: &Span| &source[all[span.0].start..all[span.1 - 1].end];
        let outer: Vec<_> = parsed.blocks.last().expect("a block").iter().map(|one| one.kind).collect();
        use StatementKind::{Assignment, Call, If, Local, Other, Return};
        assert_eq!(outer, [Local, If, Other, Other, Return]);
        assert_eq!(parsed.blocks[1].iter().map(|one| one.kind).collect::<Vec<_>>(), [Call, Assignment]);
        let chains: Vec<Vec<&str>> =
            parsed.chains.iter().map(|chain| chain.iter().map(text).collect()).collect();
        assert_eq!(chains, [vec!["#KEYS ~= 1", "not x"], vec!["f(1)", "#KEYS ~= 1 and not x"]]);
        let commands: Vec<&str> = parsed.commands.iter().map(text).collect();
        assert_eq!(commands, ["redis.call('DEL', KEYS[1])", "redis.call('GET', 'k')"]);
        assert_eq!(parsed.tables.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2]);
    }

    #[test]
    fn what_is_no_lua_does_not_parse() {
        for source in ["if x then", "return return", "x", "local a = ", "{", "f(", "end", "a = = 1"] {
            let all = words(source.as_bytes());
            let is_bare = source == "x";
            assert_eq!(parse(source.as_bytes(), &all).is_some(), is_bare, "{source}");
        }
        let deep = "(".repeat(100_000);
        assert!(parse(deep.as_bytes(), &words(deep.as_bytes())).is_none());
    }
}
