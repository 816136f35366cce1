//! A script as a tree: statements and expressions, with names resolved to locals and globals. `parser` makes it; here is
//! what walks it.

use super::Place;

/// A whole script.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) body: Block,
    pub(crate) locals: Vec<Local>,
}

pub(crate) type Block = Vec<Stmt>;

/// A local variable, by its place in `Chunk::locals`.
pub(crate) type LocalId = usize;

/// What is known of a local variable.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    /// The value it begins with, when that is one expression.
    pub(crate) value: Option<Expr>,
    /// It is assigned to later.
    pub(crate) assigned: bool,
}

#[derive(Debug)]
pub(crate) enum Stmt {
    /// The values with which locals begin; the locals know theirs.
    Local(Vec<Expr>),
    Assign(Vec<Expr>, Vec<Expr>),
    /// A call, or what stands in place of one.
    Call(Expr),
    Do(Block),
    While(Expr, Block),
    Repeat(Block, Expr),
    If(Vec<(Expr, Block)>, Option<Block>),
    For(Vec<Expr>, Block),
    ForIn(Vec<Expr>, Block),
    Return(Vec<Expr>),
    Break,
}

/// An expression, and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) place: Place,
    /// How deep expressions lie in it.
    pub(crate) height: u32,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Nil,
    Bool,
    Varargs,
    /// A number, and whether it is written in digits and beyond 2^53.
    Number(f64, bool),
    Text(Vec<u8>),
    /// The body of a function.
    Function(std::rc::Rc<Block>),
    Local(LocalId),
    Global(String),
    Index(Box<Expr>, Box<Expr>),
    /// What is called, the method's name, the arguments.
    Call(Box<Expr>, Option<String>, Vec<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Unary(&'static str, Box<Expr>),
    /// Keys, where there are such, and values.
    Table(Vec<(Option<Expr>, Expr)>),
    Paren(Box<Expr>),
}

impl Expr {
    /// The expressions in this one, functions not looked into.
    pub(crate) fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Index(table, key) => vec![&**table, key],
            Kind::Call(callee, _, arguments) => std::iter::once(&**callee).chain(arguments).collect(),
            Kind::Binary(_, left, right) => vec![&**left, right],
            Kind::Unary(_, inner) | Kind::Paren(inner) => vec![&**inner],
            Kind::Table(fields) => {
                fields.iter().flat_map(|(key, value)| key.iter().chain(std::iter::once(value))).collect()
            }
            _ => Vec::new(),
        }
    }
    /// This expression and all in it, functions not looked into.
    pub(crate) fn each<'a>(&'a self, look: &mut dyn FnMut(&'a Expr)) {
        look(self);
        for part in self.parts() {
            part.each(look);
        }
    }
    /// The bodies of functions in this expression.
    pub(crate) fn functions(&self) -> Vec<&Block> {
        let mut found = Vec::new();
        self.each(&mut |expr| {
            if let Kind::Function(body) = &expr.kind {
                found.push(&**body);
            }
        });
        found
    }
}

impl Stmt {
    /// The expressions of the statement itself.
    pub(crate) fn expressions(&self) -> Vec<&Expr> {
        match self {
            Stmt::Local(values) | Stmt::Return(values) | Stmt::For(values, _) | Stmt::ForIn(values, _) => {
                values.iter().collect()
            }
            Stmt::Assign(targets, values) => targets.iter().chain(values).collect(),
            Stmt::Call(call) => vec![call],
            Stmt::While(condition, _) | Stmt::Repeat(_, condition) => vec![condition],
            Stmt::If(branches, _) => branches.iter().map(|(condition, _)| condition).collect(),
            Stmt::Do(_) | Stmt::Break => Vec::new(),
        }
    }
    /// The blocks of the statement itself.
    pub(crate) fn blocks(&self) -> Vec<&Block> {
        match self {
            Stmt::Do(block)
            | Stmt::While(_, block)
            | Stmt::Repeat(block, _)
            | Stmt::For(_, block)
            | Stmt::ForIn(_, block) => vec![block],
            Stmt::If(branches, other) => branches.iter().map(|(_, block)| block).chain(other).collect(),
            _ => Vec::new(),
        }
    }
}

/// Each statement of a block, those of blocks and functions in it too.
pub(crate) fn each_statement<'a>(block: &'a Block, look: &mut dyn FnMut(&'a Stmt)) {
    for statement in block {
        look(statement);
        for expression in statement.expressions() {
            for body in expression.functions() {
                each_statement(body, look);
            }
        }
        for inner in statement.blocks() {
            each_statement(inner, look);
        }
    }
}

/// Each expression of a block, those in functions too.
pub(crate) fn each_expression<'a>(block: &'a Block, look: &mut dyn FnMut(&'a Expr)) {
    each_statement(block, &mut |statement| {
        for expression in statement.expressions() {
            expression.each(look);
        }
    });
}
