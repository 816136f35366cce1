//! The conditions and values of `case` and `writes` clauses: typed when they are read, so that a slip is told at its
//! place, and computed on the facts of a call.

use super::closures::Closure;
use super::cursor::Cursor;
use super::error::{ContractError, Position};
use super::facts::Facts;
use super::grammar::{Form, Grammar};
use super::lexer::Token;
use super::{Contract, Elements, KeyType, Place, Presence};
use crate::reply::ReplyRef;
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Int(i128),
    Text(Vec<u8>),
    Nil,
    /// What an argument or a string key holds; as an integer when its grammar says so.
    Value(Place, Option<Form>),
    Exists(usize),
    /// Whether an argument is given.
    Given(usize),
    /// What a field of a hash holds.
    Field(usize, Vec<u8>, Option<Form>),
    /// What a hash holds in the field that an expression names.
    At(usize, Box<Expr>, Option<Form>),
    /// Whether a key has this element.
    Has(usize, Box<Expr>),
    /// The score of a member, rounded down.
    Score(usize, Box<Expr>),
    /// The item of a list at a place.
    Item(usize, Box<Expr>, Option<Form>),
    /// How many arguments there are from this one on.
    Count(Place),
    /// How many of the keys from this one on are there.
    Present(usize),
    Pttl(usize),
    Len(Place),
    Now,
    /// The reply, or an element of it, counted from 1.
    Reply(Option<usize>),
    Default(Box<[Expr; 2]>),
    Compute(char, Box<[Expr; 2]>),
    Compare(&'static str, Box<[Expr; 2]>),
    Not(Box<Expr>),
    Both(Box<[Expr; 2]>),
    Either(Box<[Expr; 2]>),
    /// A condition in Rust.
    Closure(Closure<bool>),
}

/// What an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Datum<'a> {
    Int(i128),
    Text(Cow<'a, [u8]>),
    Bool(bool),
    Nil,
    /// A reply of another kind, as an array: equal to nothing.
    Other,
}

/// What is known of an expression before any call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) kind: Kind,
    /// It may be missing.
    pub(super) optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Text,
    Bool,
    /// A part of a reply.
    Any,
    Nil,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Int => "an integer",
            Kind::Text => "a text",
            Kind::Bool => "a condition",
            Kind::Any => "a part of the reply",
            Kind::Nil => "nil",
        }
    }
}

impl Type {
    /// Refuses what may be missing.
    pub(super) fn must_be_there(self, at: Position) -> Result<(), ContractError> {
        if self.optional {
            return Err(
                at.error("an optional key may be missing; write default(KEY, VALUE) to say what counts then")
            );
        }
        Ok(())
    }
}

const INT: Type = Type { kind: Kind::Int, optional: false };
const BOOL: Type = Type { kind: Kind::Bool, optional: false };

/// The names that are not free for keys and arguments.
pub(super) const RESERVED: [&str; 18] = [
    "arity", "reply", "else", "and", "or", "not", "nil", "now", "exists", "pttl", "len", "default", "del",
    "change", "any", "status", "error", "when",
];

/// Whether a name is a word of the language.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

impl Expr {
    /// Computes the value; None where an integer overflows or is divided by 0.
    pub(super) fn eval<'a>(&'a self, facts: &'a Facts<'a>, reply: Option<ReplyRef<'a>>) -> Option<Datum<'a>> {
        let truth = |expr: &'a Expr| Some(matches!(expr.eval(facts, reply)?, Datum::Bool(true)));
        Some(match self {
            Expr::Int(value) => Datum::Int(*value),
            Expr::Text(text) => Datum::Text(Cow::Borrowed(text)),
            Expr::Nil => Datum::Nil,
            Expr::Now => Datum::Int(i128::from(facts.now_ms)),
            Expr::Value(place, form) => value(facts, *place, *form),
            Expr::Exists(key) => Datum::Bool(facts.held(*key).is_some()),
            Expr::Given(arg) => Datum::Bool(facts.args.len() > *arg),
            Expr::Present(key) => {
                let held = facts.held.get(*key..).unwrap_or_default();
                Datum::Int(held.iter().flatten().count() as i128)
            }
            Expr::Count(Place::Arg(arg)) => Datum::Int(facts.args.len().saturating_sub(*arg) as i128),
            Expr::Count(Place::Key(key)) => Datum::Int(facts.keys.len().saturating_sub(*key) as i128),
            Expr::Field(key, field, form) => read(facts.field(*key, field), *form),
            Expr::At(key, field, form) => read(facts.field(*key, &text(&field.eval(facts, reply)?)?), *form),
            Expr::Has(key, element) => Datum::Bool(facts.has(*key, &text(&element.eval(facts, reply)?)?)),
            Expr::Score(key, member) => match facts.score(*key, &text(&member.eval(facts, reply)?)?) {
                // A float beyond an i128 becomes the greatest or the least one.
                Some(score) => Datum::Int(score.floor() as i128),
                None => Datum::Nil,
            },
            Expr::Item(key, place, form) => match place.eval(facts, reply)? {
                Datum::Int(place) => read(facts.item(*key, place), *form),
                _ => return None,
            },
            Expr::Pttl(key) => Datum::Int(facts.pttl(*key)),
            Expr::Len(Place::Key(key)) => Datum::Int(facts.len(*key) as i128),
            Expr::Len(Place::Arg(arg)) => Datum::Int(facts.args.get(*arg).map_or(0, |arg| arg.len()) as i128),
            Expr::Reply(at) => part(reply?, *at),
            Expr::Default(pair) => match pair[0].eval(facts, reply)? {
                Datum::Nil => pair[1].eval(facts, reply)?,
                found => found,
            },
            Expr::Compute(sign, pair) => {
                let (Datum::Int(a), Datum::Int(b)) =
                    (pair[0].eval(facts, reply)?, pair[1].eval(facts, reply)?)
                else {
                    return None;
                };
                Datum::Int(compute(*sign, a, b)?)
            }
            Expr::Compare(sign, pair) => {
                Datum::Bool(compare(sign, &pair[0].eval(facts, reply)?, &pair[1].eval(facts, reply)?))
            }
            Expr::Not(one) => Datum::Bool(!truth(one)?),
            Expr::Both(pair) => Datum::Bool(truth(&pair[0])? && truth(&pair[1])?),
            Expr::Either(pair) => Datum::Bool(truth(&pair[0])? || truth(&pair[1])?),
            Expr::Closure(closure) => closure.datum(facts, reply),
        })
    }
    /// Whether a condition holds.
    pub(super) fn holds(&self, facts: &Facts<'_>, reply: Option<ReplyRef<'_>>) -> bool {
        self.eval(facts, reply) == Some(Datum::Bool(true))
    }
}

/// A text that may be there, as its form says.
fn read(text: Option<&[u8]>, form: Option<Form>) -> Datum<'_> {
    match (text, form) {
        (None, _) => Datum::Nil,
        (Some(text), None) => Datum::Text(Cow::Borrowed(text)),
        (Some(text), Some(form)) => form.read(text).map_or(Datum::Nil, Datum::Int),
    }
}

/// A value as the name of a field or a member.
fn text<'d>(value: &'d Datum<'_>) -> Option<Cow<'d, [u8]>> {
    match value {
        Datum::Text(text) => Some(Cow::Borrowed(text)),
        Datum::Int(value) => Some(Cow::Owned(value.to_string().into_bytes())),
        _ => None,
    }
}

fn value<'a>(facts: &'a Facts<'a>, place: Place, form: Option<Form>) -> Datum<'a> {
    let text = match place {
        Place::Key(key) => facts.text(key),
        Place::Arg(arg) => facts.args.get(arg).map(|&arg| Cow::Borrowed(arg)),
    };
    match (text, form) {
        (None, _) => Datum::Nil,
        (Some(text), None) => Datum::Text(text),
        (Some(text), Some(form)) => form.read(&text).map_or(Datum::Nil, Datum::Int),
    }
}

fn part(reply: ReplyRef<'_>, at: Option<usize>) -> Datum<'_> {
    let value = match (reply, at) {
        (value, None) => value,
        (ReplyRef::Array(mut items), Some(at)) => items.nth(at - 1).unwrap_or(ReplyRef::Nil),
        (_, Some(_)) => ReplyRef::Nil,
    };
    match value {
        ReplyRef::Int(value) => Datum::Int(i128::from(value)),
        ReplyRef::Bulk(text) | ReplyRef::Status(text) => Datum::Text(Cow::Borrowed(text)),
        ReplyRef::Nil | ReplyRef::NilArray => Datum::Nil,
        _ => Datum::Other,
    }
}

fn compute(sign: char, a: i128, b: i128) -> Option<i128> {
    match sign {
        '+' => a.checked_add(b),
        '-' => a.checked_sub(b),
        '*' => a.checked_mul(b),
        '/' => floor_divide(a, b),
        _ => a.checked_sub(floor_divide(a, b)?.checked_mul(b)?),
    }
}

/// As `math.floor(a / b)` in Lua.
fn floor_divide(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let is_exact = quotient.checked_mul(b)? == a;
    Some(if !is_exact && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn compare(sign: &str, a: &Datum<'_>, b: &Datum<'_>) -> bool {
    match (sign, a, b) {
        ("==", a, b) => a == b && *a != Datum::Other,
        ("!=", a, b) => a != b || *a == Datum::Other,
        ("<", Datum::Int(a), Datum::Int(b)) => a < b,
        ("<=", Datum::Int(a), Datum::Int(b)) => a <= b,
        (">", Datum::Int(a), Datum::Int(b)) => a > b,
        (">=", Datum::Int(a), Datum::Int(b)) => a >= b,
        _ => false,
    }
}

type Parsed = Result<(Expr, Type), ContractError>;

/// Reads expressions of one contract.
pub(super) struct Parser<'c, 't> {
    pub(super) contract: &'c Contract,
    pub(super) cursor: Cursor<'t>,
    /// Whether `reply` means something here.
    pub(super) knows_reply: bool,
    /// How many parentheses and `not` are open.
    pub(super) depth: usize,
    /// How many operators the clause has.
    pub(super) operators: usize,
}

/// More parentheses than this are a mistake, and would take the stack of the thread.
const DEPTH_MAX: usize = 64;
/// So are more operators: `a or b or c` nests as deep as it is long.
const OPERATORS_MAX: usize = 256;

impl<'t> Parser<'_, 't> {
    /// A condition.
    pub(super) fn condition(&mut self) -> Result<Expr, ContractError> {
        let at = self.cursor.position();
        let (expr, found) = self.either()?;
        if found.kind == Kind::Bool {
            return Ok(expr);
        }
        if matches!(self.cursor.peek(), Some(Token::Sign("="))) {
            return Err(self
                .cursor
                .position()
                .error("conditions compare with ==; a single = is for effects"));
        }
        Err(at.error(format!("here should be a condition, as in a >= 1, not {}", found.kind.name())))
    }
    /// A value: an integer or a text.
    pub(super) fn value(&mut self) -> Parsed {
        let at = self.cursor.position();
        let (expr, found) = self.either()?;
        match found.kind {
            Kind::Int | Kind::Text | Kind::Nil => Ok((expr, found)),
            other => Err(at.error(format!("here should be an integer or a text, not {}", other.name()))),
        }
    }
    fn either(&mut self) -> Parsed {
        self.chain("or", Self::both, Expr::Either)
    }
    fn both(&mut self) -> Parsed {
        self.chain("and", Self::negation, Expr::Both)
    }
    fn chain(
        &mut self,
        word: &str,
        next: fn(&mut Self) -> Parsed,
        make: fn(Box<[Expr; 2]>) -> Expr,
    ) -> Parsed {
        let at = self.cursor.position();
        let (mut left, mut found) = next(self)?;
        while self.cursor.takes_word(word) {
            let right_at = self.cursor.position();
            self.operator(right_at)?;
            let (right, right_found) = next(self)?;
            for (at, found) in [(at, found), (right_at, right_found)] {
                if found.kind != Kind::Bool {
                    return Err(at.error(format!("{word:?} joins conditions; this is {}", found.kind.name())));
                }
            }
            (left, found) = (make(Box::new([left, right])), BOOL);
        }
        Ok((left, found))
    }
    fn negation(&mut self) -> Parsed {
        let at = self.cursor.position();
        if !self.cursor.takes_word("not") {
            return self.comparison();
        }
        self.enter(at)?;
        let (expr, found) = self.negation()?;
        self.depth -= 1;
        if found.kind != Kind::Bool {
            return Err(
                at.error(format!("\"not\" stands before a condition, not before {}", found.kind.name()))
            );
        }
        Ok((Expr::Not(Box::new(expr)), BOOL))
    }
    fn comparison(&mut self) -> Parsed {
        let at = self.cursor.position();
        let (left, found) = self.sum()?;
        let signs = ["==", "!=", "<=", ">=", "<", ">"];
        let Some(sign) = signs.into_iter().find(|sign| self.cursor.takes(sign)) else {
            return Ok((left, found));
        };
        let right_at = self.cursor.position();
        let (right, right_found) = self.sum()?;
        if matches!(sign, "==" | "!=") {
            let (a, b) = (found.kind, right_found.kind);
            if a != b && ![a, b].iter().any(|kind| matches!(kind, Kind::Any | Kind::Nil)) {
                return Err(right_at.error(format!("{} is never equal to {}", b.name(), a.name())));
            }
        } else {
            needs_int(sign, at, found)?;
            needs_int(sign, right_at, right_found)?;
        }
        Ok((Expr::Compare(sign, Box::new([left, right])), BOOL))
    }
    fn sum(&mut self) -> Parsed {
        self.series(&["+", "-"], Self::product)
    }
    fn product(&mut self) -> Parsed {
        self.series(&["*", "/", "%"], Self::unary)
    }
    fn series(&mut self, signs: &[&'static str], next: fn(&mut Self) -> Parsed) -> Parsed {
        let at = self.cursor.position();
        let (mut left, mut found) = next(self)?;
        while let Some(sign) = signs.iter().copied().find(|sign| self.cursor.takes(sign)) {
            needs_int(sign, at, found)?;
            let right_at = self.cursor.position();
            self.operator(right_at)?;
            let (right, right_found) = next(self)?;
            needs_int(sign, right_at, right_found)?;
            let sign = sign.chars().next().unwrap_or('+');
            (left, found) = (Expr::Compute(sign, Box::new([left, right])), INT);
        }
        Ok((left, found))
    }
    fn unary(&mut self) -> Parsed {
        let at = self.cursor.position();
        if !self.cursor.takes("-") {
            return self.primary();
        }
        self.enter(at)?;
        let (expr, found) = self.unary()?;
        self.depth -= 1;
        needs_int("-", at, found)?;
        Ok((Expr::Compute('-', Box::new([Expr::Int(0), expr])), INT))
    }
    fn enter(&mut self, at: Position) -> Result<(), ContractError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(at.error("the expression is nested too deeply")) } else { Ok(()) }
    }
    fn operator(&mut self, at: Position) -> Result<(), ContractError> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            return Err(at.error(format!("a clause has at most {OPERATORS_MAX} operators")));
        }
        Ok(())
    }
    fn primary(&mut self) -> Parsed {
        let wanted = self.cursor.wanted("a name, an integer, a text or a condition");
        let Some((token, at)) = self.cursor.next() else { return Err(wanted) };
        match token {
            Token::Int(value) => Ok((Expr::Int(*value), INT)),
            Token::Text(text) => Ok((Expr::Text(text.clone()), Type { kind: Kind::Text, optional: false })),
            Token::Sign("(") => {
                self.enter(at)?;
                let inner = self.either()?;
                self.cursor.expect(")")?;
                self.depth -= 1;
                Ok(inner)
            }
            Token::Name(name) => self.named(name, at),
            Token::Sign(_) => Err(wanted),
        }
    }
    fn named(&mut self, name: &str, at: Position) -> Parsed {
        match name {
            "now" => Ok((Expr::Now, INT)),
            "nil" => Ok((Expr::Nil, Type { kind: Kind::Nil, optional: true })),
            "exists" => self.exists(),
            "pttl" => Ok((Expr::Pttl(self.key_in_parentheses()?), INT)),
            "len" => {
                self.cursor.expect("(")?;
                let (place, _, _) = self.place("the name of a key or an argument")?;
                self.cursor.expect(")")?;
                match place {
                    place if self.is_many(place) => Ok((Expr::Count(place), INT)),
                    place => Ok((Expr::Len(place), INT)),
                }
            }
            "default" => self.default(),
            // No words of the language by themselves: a key may have these names.
            "has" | "score" | "item" | "field" if matches!(self.cursor.peek(), Some(Token::Sign("("))) => {
                self.element(name)
            }
            "reply" => self.reply(at),
            _ if matches!(self.cursor.peek(), Some(Token::Sign("("))) => Err(at.error(format!(
                "{name:?} is no function; functions are exists, pttl, len, default, has, score, item, field"
            ))),
            _ => self.held(name, at),
        }
    }
    fn is_many(&self, place: Place) -> bool {
        match place {
            Place::Key(key) => self.contract.keys[key].many.is_some(),
            Place::Arg(arg) => matches!(self.contract.args[arg].presence, Presence::Many { .. }),
        }
    }
    /// Which of many is meant, nothing can say.
    fn must_be_one(&self, place: Place, name: &str, at: Position) -> Result<(), ContractError> {
        let what = if matches!(place, Place::Key(_)) { "keys" } else { "arguments" };
        match self.is_many(place) {
            true => Err(at.error(format!("{name} is any number of {what}; ask len({name})"))),
            false => Ok(()),
        }
    }
    /// `exists(KEY)`, `exists(KEY.FIELD)`, how many keys there are of many, or `exists(ARG)` of an argument that may be missing.
    fn exists(&mut self) -> Parsed {
        self.cursor.expect("(")?;
        let (place, name, at) = self.place("the name of a key or an argument")?;
        if let Place::Key(key) = place
            && self.is_many(place)
        {
            self.cursor.expect(")")?;
            return Ok((Expr::Present(key), INT));
        }
        self.must_be_one(place, name, at)?;
        let expr = match place {
            Place::Key(key) if self.cursor.takes(".") => {
                let (field, _, _) = self.field_name(key)?;
                Expr::Compare("!=", Box::new([Expr::Field(key, field, None), Expr::Nil]))
            }
            Place::Key(key) => Expr::Exists(key),
            Place::Arg(arg) if self.contract.args[arg].presence == Presence::Optional => Expr::Given(arg),
            Place::Arg(_) => {
                return Err(at.error(format!("{name} is always given; exists is for what may be missing")));
            }
        };
        self.cursor.expect(")")?;
        Ok((expr, BOOL))
    }
    /// The name of a declared field of a hash, behind the dot: how its text is read, and whether it may be missing.
    pub(super) fn field_name(&mut self, key: usize) -> Result<(Vec<u8>, Option<Form>, bool), ContractError> {
        let at = self.cursor.position();
        let declared = &self.contract.keys[key];
        let (name, optional) = (&declared.name, !declared.required);
        let KeyType::Collection("hash", elements) = &declared.kind else {
            return Err(at.error(format!("{name} is no hash; only a hash has fields")));
        };
        let field = super::keys::field_name(&mut self.cursor)?;
        let Some((grammar, may_miss)) = elements.field(&field) else {
            let shown = String::from_utf8_lossy(&field);
            let told = match elements {
                Elements::Fields(fields) => {
                    let names: Vec<_> =
                        fields.iter().map(|field| String::from_utf8_lossy(&field.name)).collect();
                    format!("{shown:?} is no field of {name}; its fields are {}", names.join(", "))
                }
                _ => format!(
                    "the fields of {name} are not declared; write hash({shown} GRAMMAR) or hash of GRAMMAR"
                ),
            };
            return Err(at.error(told));
        };
        let form = match grammar {
            Grammar::Int { form, .. } => Some(*form),
            _ => None,
        };
        Ok((field, form, optional || may_miss))
    }
    /// `has(KEY, ELEMENT)`, `score(KEY, MEMBER)`, `item(KEY, PLACE)`, `field(KEY, NAME)`.
    fn element(&mut self, function: &str) -> Parsed {
        let wanted: &[&str] = match function {
            "has" => &["set", "zset", "hash", "list"],
            "score" => &["zset"],
            "item" => &["list"],
            _ => &["hash"],
        };
        self.cursor.expect("(")?;
        let (place, name, at) = self.place("the name of a key")?;
        self.must_be_one(place, name, at)?;
        let (key, elements) = match place {
            Place::Key(key) => match &self.contract.keys[key].kind {
                KeyType::Collection(kind, elements) if wanted.contains(kind) => (key, elements),
                _ => {
                    return Err(at.error(format!("{function} is of a {}; {name} is none", wanted.join(", "))));
                }
            },
            Place::Arg(_) => {
                return Err(at.error(format!("{name} is an argument; here should be the name of a key")));
            }
        };
        let form = match elements {
            Elements::Each(Grammar::Int { form, .. }) => Some(*form),
            _ => None,
        };
        self.cursor.expect_one_of("\",\" and which element", ",")?;
        let at = self.cursor.position();
        self.enter(at)?;
        let (which, found) = self.value()?;
        self.depth -= 1;
        found.must_be_there(at)?;
        if function == "item" {
            needs_int("item", at, found)?;
        }
        self.cursor.expect(")")?;
        let which = Box::new(which);
        let held = Type { kind: if form.is_some() { Kind::Int } else { Kind::Text }, optional: true };
        Ok(match function {
            "has" => (Expr::Has(key, which), BOOL),
            "score" => (Expr::Score(key, which), Type { kind: Kind::Int, optional: true }),
            "item" => (Expr::Item(key, which, form), held),
            _ => (Expr::At(key, which, form), held),
        })
    }
    /// `default(a, b)`: a, or b where a is missing.
    fn default(&mut self) -> Parsed {
        self.cursor.expect("(")?;
        let at = self.cursor.position();
        let (one, found) = self.value()?;
        if !found.optional {
            return Err(at.error("this is never missing; default is for an optional key"));
        }
        self.cursor.expect_one_of("\",\" and what counts when the key is missing", ",")?;
        let at = self.cursor.position();
        let (other, other_found) = self.value()?;
        self.cursor.expect(")")?;
        if found.kind != other_found.kind {
            let (kind, other) = (found.kind.name(), other_found.kind.name());
            return Err(at.error(format!("what stands for {kind} is {kind} too; this is {other}")));
        }
        Ok((Expr::Default(Box::new([one, other])), other_found))
    }
    fn reply(&mut self, at: Position) -> Parsed {
        if !self.knows_reply {
            return Err(
                at.error("\"reply\" is known after the run only, in the condition of a writes clause")
            );
        }
        let mut element = None;
        if self.cursor.takes("[") {
            let at = self.cursor.position();
            let index = self.cursor.int("the number of an element, from 1 on")?;
            element = Some(
                usize::try_from(index)
                    .ok()
                    .filter(|&index| index > 0)
                    .ok_or_else(|| at.error("elements of a reply are counted from 1"))?,
            );
            self.cursor.expect("]")?;
        }
        Ok((Expr::Reply(element), Type { kind: Kind::Any, optional: true }))
    }
    fn key_in_parentheses(&mut self) -> Result<usize, ContractError> {
        self.cursor.expect("(")?;
        let (place, name, at) = self.place("the name of a key")?;
        self.must_be_one(place, name, at)?;
        self.cursor.expect(")")?;
        match place {
            Place::Key(key) => Ok(key),
            Place::Arg(_) => {
                Err(at.error(format!("{name} is an argument; here should be the name of a key")))
            }
        }
    }
    /// The name of a key or an argument.
    pub(super) fn place(&mut self, wanted: &str) -> Result<(Place, &'t str, Position), ContractError> {
        let (name, at) = self.cursor.name(wanted)?;
        let place = self.contract.place(name).ok_or_else(|| at.error(self.contract.unknown(name)))?;
        Ok((place, name, at))
    }
    /// What a key or an argument holds.
    fn held(&mut self, name: &str, at: Position) -> Parsed {
        let place = self.contract.place(name).ok_or_else(|| at.error(self.contract.unknown(name)))?;
        self.must_be_one(place, name, at)?;
        let (grammar, optional) = match place {
            Place::Arg(arg) => {
                let arg = &self.contract.args[arg];
                (&arg.grammar, arg.presence == Presence::Optional)
            }
            Place::Key(key) if self.cursor.takes(".") => {
                let (field, form, optional) = self.field_name(key)?;
                let kind = if form.is_some() { Kind::Int } else { Kind::Text };
                return Ok((Expr::Field(key, field, form), Type { kind, optional }));
            }
            Place::Key(key) => {
                let key = &self.contract.keys[key];
                let KeyType::String(grammar) = &key.kind else {
                    return Err(at.error(format!(
                        "{name} is no string: ask exists({name}), pttl({name}) or len({name})"
                    )));
                };
                (grammar, !key.required)
            }
        };
        let (form, kind) = match grammar {
            Grammar::Int { form, .. } => (Some(*form), Kind::Int),
            _ => (None, Kind::Text),
        };
        Ok((Expr::Value(place, form), Type { kind, optional }))
    }
}

fn needs_int(sign: &str, at: Position, found: Type) -> Result<(), ContractError> {
    match found {
        Type { kind: Kind::Int, optional: false } => Ok(()),
        Type { kind: Kind::Int, optional: true } => found.must_be_there(at),
        // Which part of a reply is an integer is known after the run.
        Type { kind: Kind::Any, .. } if matches!(sign, "<" | "<=" | ">" | ">=") => Ok(()),
        Type { kind, .. } => Err(at.error(format!("{sign:?} works on integers; this is {}", kind.name()))),
    }
}
