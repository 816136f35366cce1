//! A place in a line, and what can be read there: words, expressions, the words of a command.

use super::language::{Command, Expr, Kind, Mistake, Operator, Part, Place};

pub(super) struct Cursor<'t> {
    text: &'t str,
    line: usize,
    at: usize,
    depth: usize,
    /// How many operators the line has had.
    operators: usize,
}

/// Expressions are nested so deep and no deeper.
const DEPTH_MAX: usize = 100;

/// A line has so many operators and no more.
const OPERATORS_MAX: usize = 256;

/// Operators by how tightly they bind, loosest first.
const OPERATORS: [&[(&str, Operator)]; 6] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("..", Operator::Join)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, line: usize) -> Self {
        Cursor { text, line, at: 0, depth: 0, operators: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.take();
        }
    }

    /// Where what comes next begins.
    pub(super) fn place(&mut self) -> Place {
        self.skip_blanks();
        Place { line: self.line, column: self.text[..self.at].chars().count() + 1 }
    }

    /// Whether nothing more stands in the line.
    pub(super) fn is_over(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty() || self.rest().starts_with('#')
    }

    pub(super) fn at_end(&mut self) -> Result<(), Mistake> {
        if self.is_over() {
            return Ok(());
        }
        self.place().mistake(format!("the line ends before {:?}", self.rest()))
    }

    /// Whether a command comes: it begins with a capital letter.
    pub(super) fn begins_command(&mut self) -> bool {
        self.skip_blanks();
        self.peek().is_some_and(char::is_uppercase)
    }

    /// The word that comes, up to a blank or a sign; empty when there is none.
    pub(super) fn word(&mut self) -> String {
        self.skip_blanks();
        let end = self.rest().find(|c: char| !is_of_name(c)).unwrap_or(self.rest().len());
        let word = &self.rest()[..end];
        self.at += end;
        word.to_owned()
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let is_it = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_name));
        self.at += if is_it { word.len() } else { 0 };
        is_it
    }

    /// A name; it may have hyphens within.
    pub(super) fn name(&mut self, wanted: &str) -> Result<String, Mistake> {
        let at = self.place();
        let end = self.rest().find(|c: char| !is_of_name(c) && c != '-').unwrap_or(self.rest().len());
        let name = &self.rest()[..end];
        if name.is_empty() {
            return at.mistake(format!("here stands {wanted}"));
        }
        self.at += end;
        Ok(name.to_owned())
    }

    /// A name for a value.
    pub(super) fn name_of_value(&mut self) -> Result<String, Mistake> {
        const TAKEN: [&str; 6] = ["nil", "not", "and", "or", "try", "client"];
        let at = self.place();
        let name = self.word();
        if name.is_empty() {
            return at.mistake("here stands a name");
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) || TAKEN.contains(&name.as_str()) {
            return at.mistake(format!(
                "{name:?} is no name for a value: letters, digits and _, not a digit first, and none of {}",
                TAKEN.join(", ")
            ));
        }
        Ok(name)
    }

    pub(super) fn integer(&mut self) -> Result<i64, Mistake> {
        let at = self.place();
        self.word().parse().or_else(|_| at.mistake("here stands a number"))
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), Mistake> {
        let at = self.place();
        if !self.rest().starts_with(sign) {
            return at.mistake(format!("here stands {sign:?}"));
        }
        self.at += sign.len();
        Ok(())
    }

    /// A text between double quotes.
    pub(super) fn quoted(&mut self) -> Result<String, Mistake> {
        let at = self.place();
        if self.peek() != Some('"') {
            return at.mistake("here stands a text in double quotes");
        }
        Ok(String::from_utf8_lossy(&self.string(at)?).into_owned())
    }

    /// A text between quotes: with escapes between double ones, as it is between single ones.
    fn string(&mut self, at: Place) -> Result<Vec<u8>, Mistake> {
        let quote = self.take();
        let mut text = Vec::new();
        loop {
            match self.take() {
                None => return at.mistake("the text that begins here has no end"),
                c if c == quote => return Ok(text),
                Some('\\') if quote == Some('"') => text.push(self.escape(at)?),
                Some(c) => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    /// The byte that an escape stands for.
    fn escape(&mut self, at: Place) -> Result<u8, Mistake> {
        Ok(match self.take() {
            Some('n') => b'\n',
            Some('r') => b'\r',
            Some('t') => b'\t',
            Some(c @ ('"' | '\\' | '\'')) => c as u8,
            Some('x') => {
                let digits = self.rest().get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let Some(byte) = digits else {
                    return at.mistake("behind \\x stand two hexadecimal digits");
                };
                self.at += 2;
                byte
            }
            Some(c) => {
                let text = format!("there is no escape \\{c}: \\n, \\r, \\t, \\xNN, \\\", \\' and \\\\");
                return at.mistake(text);
            }
            None => return at.mistake("the text that begins here has no end"),
        })
    }

    /// One word of a command: what stands together is joined. `stop` ends it as a blank does.
    pub(super) fn command_word(&mut self, stop: &str) -> Result<Vec<Part>, Mistake> {
        self.skip_blanks();
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            let at = Place { line: self.line, column: self.text[..self.at].chars().count() + 1 };
            if c.is_whitespace() || stop.contains(c) {
                break;
            }
            parts.push(match c {
                '"' | '\'' => Part::Text(self.string(at)?),
                '$' => {
                    self.take();
                    let name = self.word();
                    if name.is_empty() {
                        return at.mistake("behind $ stands a name; in quotes it is itself");
                    }
                    Part::Value(Expr { kind: Kind::Name(name), at })
                }
                '(' => {
                    self.take();
                    let value = self.expression(false)?;
                    self.expect(")")?;
                    Part::Value(value)
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || "\"'$(".contains(c) || stop.contains(c);
                    let end = self.rest().find(ends).unwrap_or(self.rest().len());
                    let text = self.rest().as_bytes()[..end].to_vec();
                    self.at += end;
                    Part::Text(text)
                }
            });
        }
        Ok(parts)
    }

    /// An expression; with commands in brackets where `asks`.
    pub(super) fn expression(&mut self, asks: bool) -> Result<Expr, Mistake> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.place().mistake("the expression is nested too deeply");
        }
        let expr = self.binary(0, asks);
        self.depth -= 1;
        expr
    }

    fn binary(&mut self, level: usize, asks: bool) -> Result<Expr, Mistake> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary(asks) };
        let mut left = self.binary(level + 1, asks)?;
        loop {
            let at = self.place();
            let Some(operator) = self.operator(operators) else { return Ok(left) };
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                return at.mistake(format!("a line has at most {OPERATORS_MAX} operators"));
            }
            let right = self.binary(level + 1, asks)?;
            left = Expr { kind: Kind::Binary(operator, Box::new(left), Box::new(right)), at };
        }
    }

    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        for (sign, operator) in operators {
            let is_word = sign.starts_with(char::is_alphabetic);
            if is_word && self.takes_word(sign) {
                return Some(*operator);
            }
            if !is_word && self.rest().starts_with(sign) {
                self.at += sign.len();
                return Some(*operator);
            }
        }
        None
    }

    fn unary(&mut self, asks: bool) -> Result<Expr, Mistake> {
        let at = self.place();
        if self.takes_word("not") {
            return Ok(Expr { kind: Kind::Not(Box::new(self.nested(asks)?)), at });
        }
        if self.peek() == Some('-') {
            self.take();
            return Ok(Expr { kind: Kind::Minus(Box::new(self.nested(asks)?)), at });
        }
        self.primary(at, asks)
    }

    fn nested(&mut self, asks: bool) -> Result<Expr, Mistake> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.place().mistake("the expression is nested too deeply");
        }
        let expr = self.unary(asks);
        self.depth -= 1;
        expr
    }

    fn primary(&mut self, at: Place, asks: bool) -> Result<Expr, Mistake> {
        let kind = match self.peek() {
            Some('(') => {
                self.take();
                let expr = self.expression(asks)?;
                self.expect(")")?;
                return Ok(expr);
            }
            Some('"' | '\'') => Kind::Text(self.string(at)?),
            Some('[') if asks => self.asked()?,
            Some('[') => {
                return at.mistake(
                    "a command within an expression is for invariants; before it stands `let x = `",
                );
            }
            Some('$') => return at.mistake("within an expression a name stands without $"),
            Some(c) if c.is_ascii_digit() => Kind::Int(self.integer()?),
            Some(c) if is_of_name(c) => self.named(asks)?,
            _ => return at.mistake("here stands a value: a number, a text in quotes, a name"),
        };
        Ok(Expr { kind, at })
    }

    fn asked(&mut self) -> Result<Kind, Mistake> {
        let asked_at = self.place();
        self.take();
        let mut words = Vec::new();
        loop {
            let at = self.place();
            match self.peek() {
                None => return at.mistake("here stands \"]\""),
                Some(']') if words.is_empty() => return at.mistake("here stand the words of a command"),
                Some(']') => {
                    self.take();
                    return Ok(Kind::Ask(Command { at: asked_at, words }));
                }
                Some(_) => words.push(self.command_word("]")?),
            }
        }
    }

    fn named(&mut self, asks: bool) -> Result<Kind, Mistake> {
        let name = self.word();
        if name == "nil" {
            return Ok(Kind::Nil);
        }
        if self.peek() != Some('(') {
            return Ok(Kind::Name(name));
        }
        self.take();
        let mut arguments = Vec::new();
        loop {
            self.skip_blanks();
            if self.peek() == Some(')') {
                self.take();
                return Ok(Kind::Call(name, arguments));
            }
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expression(asks)?);
        }
    }
}
