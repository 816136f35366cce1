//! Lua 5.1's grammar: words to a tree, names resolved on the way. What Lua takes it takes, but for scripts that are nested
//! deeper than anybody writes.

use super::lexer::{Lexer, Token};
use super::outline::{Outline, Statement, StatementKind, Word, WordKind};
use super::tree::{Block, Chunk, Expr, Kind, Local, LocalId, Stmt};
use super::{Place, Source, SyntaxError};
use crate::util::hasher::Map;

/// How deep blocks, functions and brackets may lie in each other: as deep as in Lua.
const LEVELS_MAX: u32 = 200;
/// How high the tree of one expression may be: a chain of `or` is as high as it is long.
const HEIGHT_MAX: u32 = 2000;

/// Reads a whole script.
pub(super) fn parse(text: &[u8]) -> Parsed<Source> {
    let mut lexer = Lexer::new(text);
    let (token, place) = lexer.next()?;
    let mut parser = Parser {
        lexer,
        token,
        place,
        last_line: 1,
        locals: Vec::new(),
        visible: Map::default(),
        scopes: vec![Vec::new()],
        level: 0,
        loops: 0,
        has_varargs: true,
        outline: Outline::default(),
    };
    let body = parser.block()?;
    parser.expect_end()?;
    let chunk = Chunk { body, locals: parser.locals };
    Ok(Source { chunk, allowed: parser.lexer.allowed, outline: parser.outline })
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(super) token: Token,
    pub(super) place: Place,
    /// The line on which the word before it ends.
    pub(super) last_line: usize,
    pub(super) locals: Vec<Local>,
    /// What a name stands for, innermost last.
    visible: Map<String, Vec<LocalId>>,
    /// The names that each open block declares, innermost last.
    scopes: Vec<Vec<String>>,
    level: u32,
    /// Loops of the function around.
    pub(super) loops: u32,
    /// Whether the function around has `...`.
    pub(super) has_varargs: bool,
    pub(super) outline: Outline,
}

pub(super) type Parsed<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    pub(super) fn advance(&mut self) -> Parsed<Token> {
        let kind = match &self.token {
            Token::Name(_) => WordKind::Name,
            Token::Sign(sign) if sign.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                WordKind::Name
            }
            Token::Sign(_) | Token::End => WordKind::Sign,
            Token::Number(..) => WordKind::Number,
            Token::Text(_) => WordKind::Text,
        };
        let (start, end, line) = (self.lexer.from, self.lexer.at, self.place.line);
        self.outline.words.push(Word { kind, start, end, line });
        self.last_line = self.lexer.line;
        let (token, place) = self.lexer.next()?;
        self.place = place;
        Ok(std::mem::replace(&mut self.token, token))
    }
    /// The number of the word that comes next.
    pub(super) fn at(&self) -> usize {
        self.outline.words.len()
    }
    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(&self.token, Token::Sign(found) if *found == sign)
    }
    pub(super) fn accept(&mut self, sign: &str) -> Parsed<bool> {
        let found = self.is(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }
    pub(super) fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.accept(sign)? { Ok(()) } else { Err(self.unexpected(&format!("{sign:?}"))) }
    }
    fn expect_end(&self) -> Parsed<()> {
        if self.token == Token::End { Ok(()) } else { Err(self.unexpected("the end of the script")) }
    }
    pub(super) fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match &self.token {
            Token::Name(name) => format!("{name:?}"),
            Token::Sign(sign) => format!("{sign:?}"),
            Token::Number(number, _) => number.to_string(),
            Token::Text(_) => "a text".into(),
            Token::End => "the end of the script".into(),
        };
        SyntaxError::new(self.place, format!("{wanted} is expected here, not {found}"))
    }
    pub(super) fn name(&mut self) -> Parsed<String> {
        if !matches!(self.token, Token::Name(_)) {
            return Err(self.unexpected("a name"));
        }
        match self.advance()? {
            Token::Name(name) => Ok(name),
            _ => Ok(String::new()),
        }
    }
    pub(super) fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.level += 1;
        if self.level > LEVELS_MAX {
            return Err(SyntaxError::new(
                self.place,
                format!("more than {LEVELS_MAX} levels lie in each other"),
            ));
        }
        let result = work(self);
        self.level -= 1;
        result
    }
    pub(super) fn expr(&self, place: Place, kind: Kind) -> Parsed<Expr> {
        let mut expr = Expr { place, height: 0, kind };
        expr.height = 1 + expr.parts().iter().map(|part| part.height).max().unwrap_or(0);
        if expr.height > HEIGHT_MAX {
            return Err(SyntaxError::new(place, "the expression is too complex".into()));
        }
        Ok(expr)
    }

    // Names.
    fn declare(&mut self, name: String, value: Option<Expr>) -> LocalId {
        let id = self.locals.len();
        self.locals.push(Local { name: name.clone(), value, assigned: false });
        self.visible.entry(name.clone()).or_default().push(id);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name);
        }
        id
    }
    /// Names of which no value is known.
    pub(super) fn declare_all(&mut self, names: Vec<String>) {
        for name in names {
            self.declare(name, None);
        }
    }
    pub(super) fn resolve(&self, name: String) -> Kind {
        match self.visible.get(&name).and_then(|ids| ids.last()) {
            Some(id) => Kind::Local(*id),
            None => Kind::Global(name),
        }
    }
    pub(super) fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.scopes.push(Vec::new());
        let result = self.nested(work);
        for name in self.scopes.pop().unwrap_or_default() {
            self.visible.get_mut(&name).map(Vec::pop);
        }
        result
    }

    // Statements.
    fn inner_block(&mut self) -> Parsed<Block> {
        self.scoped(Self::block)
    }
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let (mut block, mut outline) = (Vec::new(), Vec::new());
        let ends = ["end", "else", "elseif", "until"];
        let mut is_last = false;
        while !is_last && self.token != Token::End && !ends.iter().any(|sign| self.is(sign)) {
            is_last = self.is("return") || self.is("break");
            let (start, is_function) = (self.at(), self.is("function"));
            let statement = self.statement()?;
            let kind = match &statement {
                Stmt::If(..) => StatementKind::If,
                Stmt::Return(_) => StatementKind::Return,
                Stmt::Call(_) => StatementKind::Call,
                Stmt::Assign(..) if !is_function => StatementKind::Assignment,
                Stmt::Local(_) => StatementKind::Local,
                _ => StatementKind::Other,
            };
            outline.push(Statement { kind, span: (start, self.at()) });
            block.push(statement);
            self.accept(";")?;
        }
        self.outline.blocks.push(outline);
        Ok(block)
    }
    fn statement(&mut self) -> Parsed<Stmt> {
        let Token::Sign(sign) = self.token else { return self.call_or_assignment() };
        let place = self.place;
        match sign {
            "do" | "while" | "repeat" | "if" | "for" | "function" | "local" | "return" | "break" => {
                self.advance()?;
            }
            _ => return self.call_or_assignment(),
        }
        match sign {
            "do" => {
                let block = self.inner_block()?;
                self.expect("end")?;
                Ok(Stmt::Do(block))
            }
            "while" => {
                let condition = self.expression()?;
                Ok(Stmt::While(condition, self.loop_body()?))
            }
            "repeat" => self.scoped(|parser| {
                let block = parser.looped(Self::block)?;
                parser.expect("until")?;
                Ok(Stmt::Repeat(block, parser.expression()?))
            }),
            "if" => self.conditional(),
            "for" => self.for_loop(),
            "function" => self.named_function(),
            "local" => self.local(),
            "return" => self.result(),
            _ if self.loops == 0 => Err(SyntaxError::new(place, "there is no loop to break".into())),
            _ => Ok(Stmt::Break),
        }
    }
    fn loop_body(&mut self) -> Parsed<Block> {
        self.expect("do")?;
        let block = self.looped(Self::inner_block)?;
        self.expect("end")?;
        Ok(block)
    }
    fn looped(&mut self, work: impl FnOnce(&mut Self) -> Parsed<Block>) -> Parsed<Block> {
        let loops = self.loops;
        self.loops = loops + 1;
        let block = work(self);
        self.loops = loops;
        block
    }
    fn conditional(&mut self) -> Parsed<Stmt> {
        let mut branches = Vec::new();
        loop {
            let start = self.at();
            let condition = self.expression()?;
            self.outline.conditions.push((start, self.at()));
            self.expect("then")?;
            branches.push((condition, self.inner_block()?));
            if self.accept("elseif")? {
                continue;
            }
            let other = if self.accept("else")? { Some(self.inner_block()?) } else { None };
            self.expect("end")?;
            return Ok(Stmt::If(branches, other));
        }
    }
    fn for_loop(&mut self) -> Parsed<Stmt> {
        let mut names = vec![self.name()?];
        if self.accept("=")? {
            let bounds = self.expressions()?;
            if !(2..=3).contains(&bounds.len()) {
                return Err(self.unexpected("a bound of the loop"));
            }
            let block = self.scoped(|parser| {
                parser.declare_all(names);
                parser.loop_body()
            })?;
            return Ok(Stmt::For(bounds, block));
        }
        while self.accept(",")? {
            names.push(self.name()?);
        }
        self.expect("in")?;
        let values = self.expressions()?;
        self.scoped(|parser| {
            parser.declare_all(names);
            Ok(Stmt::ForIn(values, parser.loop_body()?))
        })
    }
    fn named_function(&mut self) -> Parsed<Stmt> {
        let place = self.place;
        let name = self.name()?;
        let mut target = self.expr(place, self.resolve(name))?;
        let mut is_method = false;
        while self.is(".") || self.is(":") {
            is_method = self.is(":");
            self.advance()?;
            let place = self.place;
            let name = self.name()?;
            let key = self.expr(place, Kind::Text(name.into_bytes()))?;
            target = self.expr(place, Kind::Index(Box::new(target), Box::new(key)))?;
            if is_method {
                break;
            }
        }
        self.note_assignment(&target);
        let function = self.function(is_method)?;
        Ok(Stmt::Assign(vec![target], vec![function]))
    }
    fn local(&mut self) -> Parsed<Stmt> {
        if self.accept("function")? {
            let name = self.name()?;
            let id = self.declare(name, None);
            let function = self.function(false)?;
            self.locals[id].value = Some(function.clone());
            return Ok(Stmt::Local(vec![function]));
        }
        let mut names = vec![self.name()?];
        while self.accept(",")? {
            names.push(self.name()?);
        }
        let values = if self.accept("=")? { self.expressions()? } else { Vec::new() };
        for (at, name) in names.into_iter().enumerate() {
            self.declare(name, values.get(at).cloned());
        }
        Ok(Stmt::Local(values))
    }
    fn result(&mut self) -> Parsed<Stmt> {
        let ends = self.token == Token::End
            || ["end", "else", "elseif", "until", ";"].iter().any(|sign| self.is(sign));
        Ok(Stmt::Return(if ends { Vec::new() } else { self.expressions()? }))
    }
    fn call_or_assignment(&mut self) -> Parsed<Stmt> {
        let first = self.suffixed()?;
        if !self.is("=") && !self.is(",") {
            return match first.kind {
                Kind::Call(..) => Ok(Stmt::Call(first)),
                _ => Err(self.unexpected("\"=\"")),
            };
        }
        let mut targets = vec![first];
        while self.accept(",")? {
            targets.push(self.suffixed()?);
        }
        if !targets
            .iter()
            .all(|target| matches!(target.kind, Kind::Local(_) | Kind::Global(_) | Kind::Index(..)))
        {
            return Err(self.unexpected("a variable"));
        }
        self.expect("=")?;
        targets.iter().for_each(|target| self.note_assignment(target));
        Ok(Stmt::Assign(targets, self.expressions()?))
    }
    fn note_assignment(&mut self, target: &Expr) {
        if let Kind::Local(id) = target.kind {
            self.locals[id].assigned = true;
        }
    }
}
