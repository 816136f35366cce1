//! Lua 5.1's grammar: words to a tree, names resolved on the way. What Lua takes it takes, but for scripts that are nested
//! deeper than anybody writes.

use super::lexer::{Allowed, Lexer, Token};
use super::tree::{Block, Chunk, Expr, Kind, Local, LocalId, Stmt};
use super::{Place, SyntaxError};
use crate::util::hasher::Map;
use std::rc::Rc;

/// How deep blocks, functions and brackets may lie in each other: as deep as in Lua.
const LEVELS_MAX: u32 = 200;
/// How high the tree of one expression may be: a chain of `or` is as high as it is long.
const HEIGHT_MAX: u32 = 2000;

/// A script's tree, and what its comments allow.
pub(super) fn parse(text: &[u8]) -> Result<(Chunk, Vec<Allowed>), SyntaxError> {
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
    };
    let body = parser.block()?;
    parser.expect_end()?;
    Ok((Chunk { body, locals: parser.locals }, parser.lexer.allowed))
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    place: Place,
    /// The line on which the word before it ends.
    last_line: usize,
    locals: Vec<Local>,
    /// What a name stands for, innermost last.
    visible: Map<String, Vec<LocalId>>,
    /// The names that each open block declares, innermost last.
    scopes: Vec<Vec<String>>,
    level: u32,
    /// Loops of the function around.
    loops: u32,
    /// Whether the function around has `...`.
    has_varargs: bool,
}

type Parsed<T> = Result<T, SyntaxError>;

/// Left and right binding power, as in Lua's own grammar.
fn power(sign: &str) -> Option<(u32, u32)> {
    Some(match sign {
        "or" => (1, 1),
        "and" => (2, 2),
        "<" | ">" | "<=" | ">=" | "~=" | "==" => (3, 3),
        ".." => (5, 4),
        "+" | "-" => (6, 6),
        "*" | "/" | "%" => (7, 7),
        "^" => (10, 9),
        _ => return None,
    })
}

const UNARY_POWER: u32 = 8;

impl Parser<'_> {
    fn advance(&mut self) -> Parsed<Token> {
        self.last_line = self.lexer.line;
        let (token, place) = self.lexer.next()?;
        self.place = place;
        Ok(std::mem::replace(&mut self.token, token))
    }
    fn is(&self, sign: &str) -> bool {
        matches!(&self.token, Token::Sign(found) if *found == sign)
    }
    fn accept(&mut self, sign: &str) -> Parsed<bool> {
        let found = self.is(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }
    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.accept(sign)? { Ok(()) } else { Err(self.unexpected(&format!("{sign:?}"))) }
    }
    fn expect_end(&self) -> Parsed<()> {
        if self.token == Token::End { Ok(()) } else { Err(self.unexpected("the end of the script")) }
    }
    fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match &self.token {
            Token::Name(name) => format!("{name:?}"),
            Token::Sign(sign) => format!("{sign:?}"),
            Token::Number(number, _) => number.to_string(),
            Token::Text(_) => "a text".into(),
            Token::End => "the end of the script".into(),
        };
        SyntaxError::new(self.place, format!("{wanted} is expected here, not {found}"))
    }
    fn name(&mut self) -> Parsed<String> {
        if !matches!(self.token, Token::Name(_)) {
            return Err(self.unexpected("a name"));
        }
        match self.advance()? {
            Token::Name(name) => Ok(name),
            _ => Ok(String::new()),
        }
    }
    fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
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
    fn expr(&self, place: Place, kind: Kind) -> Parsed<Expr> {
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
    fn declare_all(&mut self, names: Vec<String>) {
        for name in names {
            self.declare(name, None);
        }
    }
    fn resolve(&self, name: String) -> Kind {
        match self.visible.get(&name).and_then(|ids| ids.last()) {
            Some(id) => Kind::Local(*id),
            None => Kind::Global(name),
        }
    }
    fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
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
    fn block(&mut self) -> Parsed<Block> {
        let mut block = Vec::new();
        loop {
            if self.token == Token::End || ["end", "else", "elseif", "until"].iter().any(|sign| self.is(sign))
            {
                return Ok(block);
            }
            let last = self.is("return") || self.is("break");
            block.push(self.statement()?);
            self.accept(";")?;
            if last {
                return Ok(block);
            }
        }
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
            let condition = self.expression()?;
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

    // Expressions.
    fn expressions(&mut self) -> Parsed<Vec<Expr>> {
        let mut all = vec![self.expression()?];
        while self.accept(",")? {
            all.push(self.expression()?);
        }
        Ok(all)
    }
    fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.above(0))
    }
    /// An expression whose operators bind tighter than this.
    fn above(&mut self, limit: u32) -> Parsed<Expr> {
        let place = self.place;
        let mut left = match self.token {
            Token::Sign(sign @ ("not" | "-" | "#")) => {
                self.advance()?;
                let inner = self.nested(|parser| parser.above(UNARY_POWER))?;
                self.expr(place, Kind::Unary(sign, Box::new(inner)))?
            }
            _ => self.simple()?,
        };
        while let Token::Sign(sign) = self.token {
            let Some((_, right)) = power(sign).filter(|(power, _)| *power > limit) else { break };
            self.advance()?;
            let other = self.nested(|parser| parser.above(right))?;
            left = self.expr(place, Kind::Binary(sign, Box::new(left), Box::new(other)))?;
        }
        Ok(left)
    }
    fn simple(&mut self) -> Parsed<Expr> {
        let place = self.place;
        let kind = match &self.token {
            Token::Number(value, plain) => Kind::Number(*value, *plain),
            Token::Text(text) => Kind::Text(text.clone()),
            Token::Sign("nil") => Kind::Nil,
            Token::Sign("true" | "false") => Kind::Bool,
            Token::Sign("...") if !self.has_varargs => {
                let what = "\"...\" stands here in a function that has none";
                return Err(SyntaxError::new(place, what.into()));
            }
            Token::Sign("...") => Kind::Varargs,
            Token::Sign("{") => return self.table(),
            Token::Sign("function") => {
                self.advance()?;
                return self.function(false);
            }
            _ => return self.suffixed(),
        };
        self.advance()?;
        self.expr(place, kind)
    }
    /// A name or brackets, with fields, calls and indices behind it.
    fn suffixed(&mut self) -> Parsed<Expr> {
        let place = self.place;
        let mut expr = if self.accept("(")? {
            let inner = self.expression()?;
            self.expect(")")?;
            self.expr(place, Kind::Paren(Box::new(inner)))?
        } else {
            if !matches!(self.token, Token::Name(_)) {
                return Err(self.unexpected("an expression"));
            }
            let name = self.name()?;
            self.expr(place, self.resolve(name))?
        };
        loop {
            let kind = match self.token {
                Token::Sign(".") => {
                    self.advance()?;
                    let place = self.place;
                    let name = self.name()?;
                    let key = self.expr(place, Kind::Text(name.into_bytes()))?;
                    Kind::Index(Box::new(expr), Box::new(key))
                }
                Token::Sign("[") => {
                    self.advance()?;
                    let key = self.expression()?;
                    self.expect("]")?;
                    Kind::Index(Box::new(expr), Box::new(key))
                }
                Token::Sign(":") => {
                    self.advance()?;
                    let name = self.name()?;
                    Kind::Call(Box::new(expr), Some(name), self.arguments()?)
                }
                Token::Sign("(" | "{") | Token::Text(_) => {
                    Kind::Call(Box::new(expr), None, self.arguments()?)
                }
                _ => return Ok(expr),
            };
            expr = self.expr(place, kind)?;
        }
    }
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        match self.token {
            Token::Sign("{") => Ok(vec![self.table()?]),
            Token::Text(_) => Ok(vec![self.simple()?]),
            _ => {
                if self.is("(") && self.place.line != self.last_line {
                    let what =
                        "a call, or a new statement? write the bracket on the line above, or a semicolon";
                    return Err(SyntaxError::new(self.place, what.into()));
                }
                self.expect("(")?;
                let arguments = if self.is(")") { Vec::new() } else { self.expressions()? };
                self.expect(")")?;
                Ok(arguments)
            }
        }
    }
    fn table(&mut self) -> Parsed<Expr> {
        let place = self.place;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.is("}") {
            let at = self.place;
            if self.accept("[")? {
                let key = self.expression()?;
                self.expect("]")?;
                self.expect("=")?;
                fields.push((Some(key), self.expression()?));
            } else {
                let value = self.expression()?;
                match &value.kind {
                    Kind::Local(_) | Kind::Global(_) if self.accept("=")? => {
                        let name = match value.kind {
                            Kind::Local(id) => self.locals[id].name.clone(),
                            Kind::Global(name) => name,
                            _ => String::new(),
                        };
                        let key = self.expr(at, Kind::Text(name.into_bytes()))?;
                        fields.push((Some(key), self.expression()?));
                    }
                    _ => fields.push((None, value)),
                }
            }
            if !self.accept(",")? && !self.accept(";")? {
                break;
            }
        }
        self.expect("}")?;
        self.expr(place, Kind::Table(fields))
    }
    /// The parameters and the body of a function, up to its end.
    fn function(&mut self, is_method: bool) -> Parsed<Expr> {
        let place = self.place;
        self.expect("(")?;
        let mut names = if is_method { vec!["self".to_owned()] } else { Vec::new() };
        let mut has_varargs = false;
        while !self.is(")") {
            has_varargs = self.accept("...")?;
            if has_varargs {
                break;
            }
            names.push(self.name()?);
            if !self.accept(",")? {
                break;
            }
        }
        self.expect(")")?;
        let loops = std::mem::take(&mut self.loops);
        let had_varargs = std::mem::replace(&mut self.has_varargs, has_varargs);
        let body = self.scoped(|parser| {
            parser.declare_all(names);
            parser.block()
        })?;
        (self.loops, self.has_varargs) = (loops, had_varargs);
        self.expect("end")?;
        self.expr(place, Kind::Function(Rc::new(body)))
    }
}
