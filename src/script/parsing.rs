//! How long Lua's parser may take for a source: it looks names up in lists of all that is visible, and walks lists of
//! jumps, so a short source can keep it busy for seconds, and nothing can stop it. `steps` counts an upper bound
//! before a source is parsed. It knows just enough of the language: words, strings, comments, brackets, blocks.

use super::constants::Constants;

/// Local variables that a function may have, and upvalues.
const LOCALS_MAX: u64 = 200;
const UPVALUES_MAX: u64 = 60;
/// Functions inside functions that the parser takes.
const FUNCTIONS_MAX: u64 = 200;
/// A source that is not this long has too few constants to compare them for long.
const LONG_SOURCE: usize = 16 * 1024;

/// A source that may take more steps is refused: these are about 50 milliseconds.
pub(super) const STEPS_MAX: u64 = 40_000_000;

/// The steps that the parser makes beyond one for each byte: at most so many.
pub(super) fn steps(source: &[u8]) -> u64 {
    let constants = (source.len() >= LONG_SOURCE).then(Constants::new);
    let mut count = Count { rest: source, constants, ..Count::default() };
    while let Some(token) = count.token() {
        count.take(token);
        if count.steps > STEPS_MAX {
            break;
        }
    }
    count.steps
}

/// What of the language matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Word(&'a [u8]),
    Byte(u8),
    /// A number, a string, an operator of two bytes.
    Other,
}

/// What names declare.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Names {
    /// They are used.
    #[default]
    Used,
    /// After `local`.
    Locals,
    /// After `for`: they are visible in the block to come.
    Loop,
    /// Between `function` and its `(`, and up to its `)`.
    Function,
    Parameters,
}

/// A block that is open.
#[derive(Default)]
struct Block {
    is_function: bool,
    /// What was visible before it.
    visible: u64,
    /// Jumps of an `if` to its end so far; of a function, its `break`s.
    jumps: u64,
    /// The operators of the expression around it.
    operators: u64,
    brackets: usize,
}

#[derive(Default)]
struct Count<'a> {
    rest: &'a [u8],
    /// The strings and numbers of a long source.
    constants: Option<Constants>,
    steps: u64,
    blocks: Vec<Block>,
    functions: u64,
    /// Local variables that can be seen, those of functions around included.
    visible: u64,
    /// Variables of a `for` whose block has not begun.
    of_loop: u64,
    names: Names,
    /// `and`, `or` and `not` in the expression so far: the longest list of jumps in it.
    operators: u64,
    /// The same of the expressions around it, with the bracket that was opened.
    brackets: Vec<(u8, u64)>,
}

impl<'a> Count<'a> {
    fn take(&mut self, token: Token<'a>) {
        let Token::Word(word) = token else { return self.take_sign(token) };
        match word {
            b"and" | b"or" | b"not" => {
                self.operators += 1;
                self.steps += self.operators;
            }
            b"function" => {
                self.open(true);
                self.functions = (self.functions + 1).min(FUNCTIONS_MAX);
                self.names = Names::Function;
            }
            b"if" | b"repeat" | b"do" => {
                self.statement();
                self.open(false);
                if word == b"do" {
                    self.visible += std::mem::take(&mut self.of_loop);
                }
            }
            b"elseif" | b"else" => {
                self.statement();
                if let Some(block) = self.blocks.last_mut() {
                    block.jumps += 1;
                    self.steps += block.jumps;
                    self.visible = block.visible;
                }
            }
            b"end" => self.close(true),
            b"until" => self.close(false),
            b"break" => {
                self.statement();
                let function = self.blocks.iter_mut().rev().find(|block| block.is_function);
                self.steps += function.map_or(0, |function| {
                    function.jumps += 1;
                    function.jumps
                });
                if self.functions == 0 {
                    self.main_breaks();
                }
            }
            b"local" => {
                self.statement();
                self.names = Names::Locals;
            }
            b"for" => {
                self.statement();
                (self.names, self.of_loop) = (Names::Loop, 3);
            }
            b"in" | b"then" | b"while" | b"return" => self.statement(),
            b"nil" | b"true" | b"false" => {}
            _ => self.name(word),
        }
    }

    /// A `break` outside all functions: the outermost block counts for the main function.
    fn main_breaks(&mut self) {
        if let Some(block) = self.blocks.first_mut() {
            block.jumps += 1;
            self.steps += block.jumps;
        }
    }

    fn take_sign(&mut self, token: Token<'_>) {
        match token {
            Token::Byte(b'(') if self.names == Names::Function => self.names = Names::Parameters,
            Token::Byte(b')') if self.names == Names::Parameters => self.names = Names::Used,
            Token::Byte(bracket @ (b'(' | b'{' | b'[')) => {
                self.names = Names::Used;
                self.brackets.push((bracket, self.operators));
            }
            Token::Byte(b')' | b'}' | b']') => {
                let floor = self.blocks.last().map_or(0, |block| block.brackets);
                if self.brackets.len() > floor
                    && let Some((bracket, around)) = self.brackets.pop()
                {
                    // What stands in parentheses keeps its jumps; elements, keys and arguments do not.
                    self.operators = if bracket == b'(' { around + self.operators } else { around };
                }
            }
            Token::Byte(b',') if self.names == Names::Used => self.next_expression(),
            Token::Byte(b',' | b'.' | b':') => {}
            Token::Byte(b'=' | b';') => {
                self.names = Names::Used;
                self.next_expression();
            }
            _ if self.names != Names::Parameters => self.names = Names::Used,
            _ => {}
        }
    }

    /// Another expression of the same list begins. What was around the list goes on in `brackets`.
    fn next_expression(&mut self) {
        self.operators = 0;
    }

    /// A statement begins.
    fn statement(&mut self) {
        self.names = Names::Used;
        self.operators = 0;
    }

    fn name(&mut self, word: &[u8]) {
        self.text(word);
        match self.names {
            Names::Locals | Names::Parameters => self.visible += 1,
            Names::Loop => self.of_loop += 1,
            Names::Function | Names::Used => {}
        }
        let visible = self.visible.min(LOCALS_MAX * (self.functions + 1));
        self.steps += visible + UPVALUES_MAX * self.functions;
    }

    fn open(&mut self, is_function: bool) {
        let Count { visible, operators, .. } = *self;
        self.blocks.push(Block { is_function, visible, jumps: 0, operators, brackets: self.brackets.len() });
        self.operators = 0;
    }

    /// Ends a block; what a `repeat` declared is visible in its condition, so it stays until the next block ends.
    fn close(&mut self, hides: bool) {
        self.names = Names::Used;
        let Some(block) = self.blocks.pop() else { return };
        self.brackets.truncate(block.brackets);
        self.operators = 0;
        if hides {
            self.visible = block.visible;
        }
        if block.is_function {
            self.functions = self.functions.saturating_sub(1);
            self.operators = block.operators;
        }
    }

    /// A name or a string stands there.
    fn text(&mut self, text: &[u8]) {
        if let Some(constants) = &mut self.constants {
            self.steps += constants.text(text);
        }
    }

    /// A string between quotes, or a number, stands there.
    fn constant(&mut self, source: &[u8]) {
        if let Some(constants) = &mut self.constants {
            self.steps += match source {
                [b'"' | b'\'', ..] => constants.quoted(source),
                _ => constants.number(source),
            };
        }
    }

    fn token(&mut self) -> Option<Token<'a>> {
        loop {
            let (&byte, after) = self.rest.split_first()?;
            match byte {
                b'-' if after.first() == Some(&b'-') => {
                    self.rest = &after[1..];
                    if !self.skip_long_bracket() {
                        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                        self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
                    }
                }
                b'[' => {
                    let whole = self.rest;
                    if self.skip_long_bracket() {
                        self.text(&whole[..whole.len() - self.rest.len()]);
                        return Some(Token::Other);
                    }
                    self.rest = after;
                    return Some(Token::Byte(byte));
                }
                b'"' | b'\'' => {
                    let whole = self.rest;
                    self.rest = after;
                    self.skip_string(byte);
                    self.constant(&whole[..whole.len() - self.rest.len()]);
                    return Some(Token::Other);
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => return Some(Token::Word(self.split(is_of_word))),
                b'0'..=b'9' | b'.' if byte != b'.' || after.first().is_some_and(u8::is_ascii_digit) => {
                    let whole = self.rest;
                    self.split(|byte| byte.is_ascii_digit() || byte == b'.');
                    if let [b'e' | b'E', b'+' | b'-', rest @ ..] = self.rest {
                        self.rest = rest;
                    }
                    self.split(is_of_word);
                    self.constant(&whole[..whole.len() - self.rest.len()]);
                    return Some(Token::Other);
                }
                b'=' | b'~' | b'<' | b'>' if after.first() == Some(&b'=') => {
                    self.rest = &after[1..];
                    return Some(Token::Other);
                }
                b' ' | b'\t'..=b'\r' => self.rest = after,
                _ => {
                    self.rest = after;
                    return Some(Token::Byte(byte));
                }
            }
        }
    }

    /// Cuts off the bytes for which `is` holds.
    fn split(&mut self, is: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !is(*byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Skips `[[…]]`, `[=[…]=]` and so on; false when none begins here.
    fn skip_long_bracket(&mut self) -> bool {
        let Some(after) = self.rest.strip_prefix(b"[") else { return false };
        let level = after.iter().take_while(|byte| **byte == b'=').count();
        if after.get(level) != Some(&b'[') {
            return false;
        }
        self.rest = &after[level + 1..];
        while let Some(at) = self.rest.iter().position(|byte| *byte == b']') {
            self.rest = &self.rest[at + 1..];
            let signs = self.rest.iter().take_while(|byte| **byte == b'=').count();
            if signs == level && self.rest.get(level) == Some(&b']') {
                self.rest = &self.rest[level + 1..];
                return true;
            }
            self.rest = &self.rest[signs..];
        }
        self.rest = &[];
        true
    }

    fn skip_string(&mut self, quote: u8) {
        while let Some((&byte, after)) = self.rest.split_first() {
            self.rest = after;
            match byte {
                b'\\' => self.rest = after.get(1..).unwrap_or_default(),
                _ if byte == quote => return,
                _ => {}
            }
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strings that differ, all of one length and one hash.
    fn same_hash(count: u32, quote: impl Fn(&[u8]) -> String) -> String {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let letter = |index: u32| char::from(LETTERS[index as usize % LETTERS.len()]);
        let text = |i: u32| {
            format!("{}{}a{}a{}a", "a".repeat(26), letter(i), letter(i / 62), letter(i / 3844)).into_bytes()
        };
        let pieces: Vec<String> = (0..count).map(|i| quote(&text(i))).collect();
        format!("return {{{}}}", pieces.join(","))
    }

    #[test]
    fn constants_that_share_a_place_take_many_steps() {
        let quoted = |text: &[u8]| format!("'{}'", String::from_utf8_lossy(text));
        let escaped = |text: &[u8]| format!("\"\\9{}\"", String::from_utf8_lossy(text).replacen('a', "7", 1));
        assert!(steps(same_hash(20_000, quoted).as_bytes()) > STEPS_MAX);
        assert!(steps(same_hash(20_000, escaped).as_bytes()) > STEPS_MAX);
        let numbers = |number: &dyn Fn(u32) -> f64| {
            let numbers: Vec<String> = (0..50_000).map(|i| format!("{:?}", number(i))).collect();
            steps(format!("return {{{}}}", numbers.join(",")).as_bytes())
        };
        let same = |i: u32| {
            let high = 0x3ff0_0000 + i;
            f64::from_bits(u64::from(high) << 32 | u64::from(0x7fff_ffff - high))
        };
        assert!(numbers(&same) > STEPS_MAX);
        assert!(numbers(&f64::from) < STEPS_MAX / 10, "{}", numbers(&f64::from));
        assert!(numbers(&|i| f64::from(i) / 7.0) < STEPS_MAX / 10);
        let words: Vec<String> = (0..100_000).map(|i| format!("w{i}")).collect();
        let words = steps(words.join("=1 ").as_bytes());
        assert!(words < STEPS_MAX / 4, "{words}");
    }

    #[test]
    fn ordinary_sources_take_few_steps() {
        let stock = include_bytes!("../../lua/decrease_stock.lua");
        assert!(steps(stock) < 2000, "{}", steps(stock));
        assert_eq!(steps(b"return 1 -- and and and"), 0);
        assert_eq!(steps(b"local a, b = 1, 2 return a + b"), 1 + 2 + 2 + 2);
        assert_eq!(steps(b"do local a end return x"), 1);
        assert_eq!(steps(b"local s = 'a and b' .. [=[ or ]] or ]=] return \"\\\" and\""), 1);
        assert_eq!(steps(b"x = 1 and 2 y = 1 and 2"), 2);
        let block = b"local function f(a, b) for i = a, b do if i > 2 and a then return i end end end ";
        assert!(steps(&block.repeat(300)) < STEPS_MAX / 10, "{}", steps(&block.repeat(300)));
    }

    #[test]
    fn long_lists_of_jumps_and_names_take_many() {
        let chain = |piece: &str| steps(piece.repeat(20_000).as_bytes());
        for piece in ["and a ", "elseif a then ", "f(1) and ", "(a and b) or ", "a and f(1, 2) and "] {
            let source = format!("if {} x", piece.repeat(20_000));
            assert!(steps(source.as_bytes()) > STEPS_MAX, "{piece}");
        }
        assert_eq!(chain("while x do break end "), 20_000);
        let breaks = format!("while x do {}", "do break end ".repeat(20_000));
        assert!(steps(breaks.as_bytes()) > STEPS_MAX);
        let names = format!(
            "{} {}",
            format!("local {} function f()", vec!["a"; 199].join(",")).repeat(100),
            "x = x ".repeat(20_000)
        );
        assert!(steps(names.as_bytes()) > STEPS_MAX);
        let upvalues = format!("{} {}", "function f() ".repeat(150), "x = x ".repeat(20_000));
        assert!(steps(upvalues.as_bytes()) > STEPS_MAX);
    }
}
