//! Expressions of Lua: operators by their binding powers, calls, tables and functions.

use super::SyntaxError;
use super::lexer::Token;
use super::outline::Chain;
use super::parser::{Parsed, Parser};
use super::tree::{Expr, Kind};
use std::rc::Rc;

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
    pub(super) fn expressions(&mut self) -> Parsed<Vec<Expr>> {
        let mut all = vec![self.expression()?];
        while self.accept(",")? {
            all.push(self.expression()?);
        }
        Ok(all)
    }
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.above(0))
    }
    /// An expression whose operators bind tighter than this.
    fn above(&mut self, limit: u32) -> Parsed<Expr> {
        let (place, start) = (self.place, self.at());
        let (mut ands, mut ors) = (Chain::default(), Chain::default());
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
            match sign {
                "and" => ands.join(self.at()),
                "or" => {
                    self.outline.chains.extend(ands.close(start, self.at()));
                    ors.join(self.at());
                }
                _ => {}
            }
            self.advance()?;
            let other = self.nested(|parser| parser.above(right))?;
            left = self.expr(place, Kind::Binary(sign, Box::new(left), Box::new(other)))?;
        }
        self.outline.chains.extend(ands.close(start, self.at()));
        self.outline.chains.extend(ors.close(start, self.at()));
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
    pub(super) fn suffixed(&mut self) -> Parsed<Expr> {
        let (place, start) = (self.place, self.at());
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
            if is_command(&expr) {
                self.outline.commands.push((start, self.at()));
            }
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
        let (mut fields, mut spans) = (Vec::new(), Vec::new());
        while !self.is("}") {
            let (at, start) = (self.place, self.at());
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
            spans.push((start, self.at()));
            if !self.accept(",")? && !self.accept(";")? {
                break;
            }
        }
        self.expect("}")?;
        self.outline.tables.push(spans);
        self.expr(place, Kind::Table(fields))
    }
    /// The parameters and the body of a function, up to its end.
    pub(super) fn function(&mut self, is_method: bool) -> Parsed<Expr> {
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

/// Whether redis.call or redis.pcall is called here.
fn is_command(expr: &Expr) -> bool {
    let Kind::Call(callee, None, _) = &expr.kind else { return false };
    let Kind::Index(table, field) = &callee.kind else { return false };
    matches!(&table.kind, Kind::Global(name) if name == "redis")
        && matches!(&field.kind, Kind::Text(field) if field == b"call" || field == b"pcall")
}
