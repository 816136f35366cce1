//! Expands the tables of `grammar` into programs: keeps track of which names are in scope, where `...` and `break`
//! may stand, how deep it is, and by which rules it went.

use super::grammar::{self, Rule};
use crate::diff::rng::Rng;

/// Names that each program declares, by what they hold at first.
const VARIABLES: &[(char, &[&str])] = &[
    ('N', &["n1", "n2"]),
    ('T', &["s1", "s2"]),
    ('L', &["t1", "t2"]),
    ('O', &["o1", "o2"]),
    ('F', &["f1"]),
    ('B', &["b1"]),
];
const ASSIGNABLE: &[&str] =
    &["n1", "n2", "s1", "s2", "t1", "t2", "u1", "b1", "t1.x", "t1[2]", "t2.y", "o1.x", "o2[1]"];

/// Makes pieces of programs.
pub(crate) struct Maker<'a> {
    pub(crate) rng: &'a mut Rng,
    /// The rules used, by name.
    pub(crate) tags: Vec<&'static str>,
    locals: Vec<String>,
    names: usize,
    varargs: bool,
    in_loop: bool,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(rng: &'a mut Rng) -> Self {
        Maker { rng, tags: Vec::new(), locals: Vec::new(), names: 0, varargs: true, in_loop: false }
    }

    pub(crate) fn tag(&mut self, name: &'static str) {
        if !name.is_empty() {
            self.tags.push(name);
        }
    }

    /// The line that declares the variables.
    pub(crate) fn declarations(&mut self) -> String {
        let function = self.fill("function{f}", 1);
        self.varargs = false;
        let (first, second) = (self.object(1), self.object(1));
        self.varargs = true;
        let literals = self.fill("{n},{n},{t},{t},{l},{l}", 1);
        format!(
            "local n1,n2,s1,s2,t1,t2,u1,b1={literals},nil,false local f1={function} local o1,o2={first},{second}"
        )
    }

    /// A line of a program.
    pub(crate) fn line(&mut self, depth: usize) -> String {
        self.expand(grammar::LINES, depth)
    }

    pub(crate) fn statement(&mut self, depth: usize) -> String {
        self.expand(grammar::STATEMENTS, depth)
    }

    /// Fills the holes of a template; a new name is known up to its end.
    pub(crate) fn fill(&mut self, template: &str, depth: usize) -> String {
        let known = self.locals.len();
        let text = self.fill_open(template, depth);
        self.locals.truncate(known);
        text
    }

    fn fill_open(&mut self, template: &str, depth: usize) -> String {
        let (mut first, mut second) = (None, None);
        let varargs = self.varargs;
        let mut text = String::new();
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            let (before, hole) = rest.split_at(open);
            text.push_str(before);
            self.varargs &= !before.contains("function(");
            let bytes = hole.as_bytes();
            if bytes.len() < 3 || bytes[2] != b'}' || !bytes[1].is_ascii_alphabetic() {
                text.push('{');
                rest = &hole[1..];
                continue;
            }
            let piece = match bytes[1] {
                b'z' => self.named(&mut first),
                b'y' => self.named(&mut second),
                b'X' => {
                    let may_be_empty = text.ends_with('(') && !text.ends_with("pcall(");
                    self.list(depth, may_be_empty)
                }
                kind => self.piece(char::from(kind), depth),
            };
            text.push_str(&piece);
            rest = &hole[3..];
        }
        text.push_str(rest);
        self.varargs = varargs;
        text
    }

    fn named(&mut self, name: &mut Option<String>) -> String {
        let names = &mut self.names;
        let new = name.get_or_insert_with(|| {
            *names += 1;
            format!("v{names}")
        });
        if !self.locals.contains(new) {
            self.locals.push(new.clone());
        }
        new.clone()
    }

    fn piece(&mut self, kind: char, depth: usize) -> String {
        match kind {
            'n' => (*self.rng.pick(grammar::NUMBERS)).into(),
            't' => self.text_literal().into(),
            'l' => (*self.rng.pick(&["{}", "{1,2,3}", "{x=1,y='b'}", "{5,3,4,1}", "{'a','b'}", "{1,nil,3}"]))
                .into(),
            'I' => (*self.rng.pick(grammar::INTEGERS)).into(),
            'K' => self.table_key(depth),
            'P' => self.pattern(),
            'R' => self.replacement(depth.saturating_sub(1)),
            'S' => self.format_call(depth.saturating_sub(1)),
            'C' => self.command(depth.saturating_sub(1)),
            'Q' => self.source(),
            'H' => self.chunk_name(depth.saturating_sub(1)),
            'D' => self.json(),
            'k' => self.key(),
            'v' => (*self.rng.pick(ASSIGNABLE)).into(),
            's' => self.block(depth.saturating_sub(1)),
            'f' => self.function_body(depth.saturating_sub(1)),
            _ => self.expression(kind, depth),
        }
    }

    /// An expression, mostly of the kind asked for.
    fn expression(&mut self, kind: char, depth: usize) -> String {
        if depth == 0 || self.rng.percent(25) {
            return self.atom(kind);
        }
        if kind != 'A' && self.rng.percent(7) {
            return self.expression('A', depth);
        }
        let rules: &[Rule] = match kind {
            'N' => grammar::NUMBER_RULES,
            'T' => grammar::TEXT_RULES,
            'L' => grammar::TABLES,
            'F' => grammar::FUNCTION_RULES,
            'B' => grammar::BOOLEAN_RULES,
            'O' => return self.object(depth - 1),
            _ => match self.rng.below(10) {
                0 => grammar::NUMBER_RULES,
                1 => grammar::TEXT_RULES,
                2 => grammar::TABLES,
                3 => grammar::BOOLEAN_RULES,
                4 => grammar::FUNCTION_RULES,
                5 | 6 => grammar::OPERATORS,
                _ => grammar::CALLS,
            },
        };
        self.expand(rules, depth - 1)
    }

    fn expand(&mut self, rules: &[Rule], depth: usize) -> String {
        let (name, template) = *self.rng.pick(rules);
        if name == "break" && !self.in_loop {
            return self.fill("local {z}={A}", depth);
        }
        self.tag(name);
        let loops = template.contains("G() ") && template.contains("{s}");
        let outer = self.in_loop;
        self.in_loop |= loops;
        let text = if template.starts_with("local ") {
            self.fill_open(template, depth)
        } else {
            self.fill(template, depth)
        };
        self.in_loop = outer;
        text
    }

    fn atom(&mut self, kind: char) -> String {
        if self.varargs && self.rng.percent(4) {
            self.tag("...");
            return "...".into();
        }
        if self.rng.percent(35) {
            if !self.locals.is_empty() && self.rng.percent(40) {
                let at = self.rng.below(self.locals.len());
                return self.locals[at].clone();
            }
            if let Some((_, names)) = VARIABLES.iter().find(|(of, _)| *of == kind) {
                return (*self.rng.pick(names)).into();
            }
            let (_, names) = self.rng.pick(VARIABLES);
            return (*self.rng.pick(names)).into();
        }
        match kind {
            'N' => (*self.rng.pick(grammar::NUMBERS)).into(),
            'T' => self.text_literal().into(),
            'L' => {
                (*self.rng.pick(&["{}", "{1,2,3}", "{x=1}", "{'b','a'}", "{3,2,1}", "KEYS", "ARGV"])).into()
            }
            'F' => (*self.rng.pick(&[
                "f1",
                "string.upper",
                "type",
                "S",
                "select",
                "(function(...) return ... end)",
            ]))
            .into(),
            'B' => (*self.rng.pick(&["true", "false", "nil", "b1"])).into(),
            'O' => (*self.rng.pick(&["o1", "o2"])).into(),
            _ => match self.rng.below(3) {
                0 => (*self.rng.pick(grammar::NUMBERS)).into(),
                1 => self.text_literal().into(),
                _ => (*self.rng.pick(grammar::OTHERS)).into(),
            },
        }
    }

    /// One of several words.
    pub(crate) fn word(&mut self, from: &[&'static str]) -> &'static str {
        from[self.rng.below(from.len())]
    }

    pub(crate) fn text_literal(&mut self) -> &'static str {
        self.word(grammar::TEXTS)
    }

    /// Not a table or a function: the order of such keys depends on addresses.
    fn table_key(&mut self, depth: usize) -> String {
        match self.rng.below(12) {
            0..=3 => (*self.rng.pick(&["1", "2", "3", "-1", "1.5", "0", "2^53", "10"])).into(),
            4..=7 => (*self.rng.pick(&["'x'", "'y'", "'n'", "'1'", "'a b'", "''"])).into(),
            8 => (*self.rng.pick(&["true", "false", "nil", "0/0", "1/0"])).into(),
            9 => "n1".into(),
            10 if depth > 0 => format!("type({})", self.expression('A', depth - 1)),
            _ => self.text_literal().into(),
        }
    }

    fn list(&mut self, depth: usize, may_be_empty: bool) -> String {
        let count = self.rng.below(4).max(usize::from(!may_be_empty));
        let items: Vec<String> = (0..count).map(|_| self.expression('A', depth.saturating_sub(1))).collect();
        items.join(",")
    }

    fn object(&mut self, depth: usize) -> String {
        let mut events = Vec::new();
        for _ in 0..=self.rng.below(4) {
            events.push(self.expand(grammar::EVENTS, depth));
        }
        self.tag("setmetatable");
        format!("setmetatable({{{}}},{{{}}})", self.word(&["", "1,2", "x=1"]), events.join(","))
    }

    fn block(&mut self, depth: usize) -> String {
        let known = self.locals.len();
        let mut text = String::new();
        for _ in 0..=self.rng.below(3) {
            text.push_str(&self.expand(grammar::STATEMENTS, depth));
            text.push(' ');
        }
        self.locals.truncate(known);
        text
    }

    /// The parameters, the block and the end of a function.
    fn function_body(&mut self, depth: usize) -> String {
        let known = self.locals.len();
        const LISTS: &[&[&str]] = &[&[], &["p"], &["p", "q"], &["p", "..."], &["..."]];
        let parameters: &[&str] = LISTS[self.rng.below(LISTS.len())];
        let varargs = std::mem::replace(&mut self.varargs, parameters.contains(&"..."));
        let in_loop = std::mem::replace(&mut self.in_loop, false);
        self.locals.extend(parameters.iter().filter(|name| **name != "...").map(ToString::to_string));
        let mut text = format!("({}) G() ", parameters.join(","));
        if depth > 0 && self.rng.percent(60) {
            text.push_str(&self.block(depth));
        }
        if self.rng.percent(85) {
            text.push_str("return ");
            text.push_str(&self.list(depth + 1, false));
            text.push(' ');
        }
        text.push_str("end");
        (self.varargs, self.in_loop) = (varargs, in_loop);
        self.locals.truncate(known);
        text
    }
}
