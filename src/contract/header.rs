//! Reads a contract: finds its lines in the header of a script, takes them apart into clauses, and refuses what is
//! incomplete, so that a contract that was read has an answer for every call.

use super::cursor::Cursor;
use super::error::{ContractError, Position};
use super::expr::{Expr, Kind, Parser, RESERVED};
use super::grammar::{Fault, Grammar};
use super::lexer::{self, Token};
use super::shape::{Promise, Shape};
use super::{
    Access, Answer, Arg, Case, Contract, Effect, Elements, Key, KeyType, Place, Presence, Rejection, Ttl,
    Writes, Wrong, keys,
};
use crate::util::hasher::{Map, Set};

const MARK: &[u8] = b"--!";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const CLAUSES: &str = "contract, key, argv, error, reply, case, writes, instructions, flags, arity";

/// One clause: its name, its words, where it begins and ends.
struct Clause {
    name: String,
    at: Position,
    end: Position,
    tokens: Vec<(Token, Position)>,
    text: String,
}

/// The contract lines in the header of a text, with their numbers: what follows the mark.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let lines = numbered(text).skip_while(|(line, number)| *number == 1 && line.starts_with(b"#!"));
    let header = lines.take_while(|(line, _)| {
        let line = line.trim_ascii();
        line.is_empty() || (line.starts_with(b"--") && !is_long_comment(line))
    });
    header.filter_map(|(line, number)| Some((number, line.strip_prefix(MARK)?)))
}

fn numbered(text: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    crate::util::lines::lines(text).zip(1..)
}

fn is_long_comment(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"--[") else { return false };
    rest.iter().find(|&&byte| byte != b'=') == Some(&b'[')
}

pub(super) fn parse(text: &[u8]) -> Result<Contract, ContractError> {
    if text.starts_with(BYTE_ORDER_MARK) {
        let at = Position { line: 1, column: 1 };
        return Err(
            at.error("the text begins with a byte order mark, which no script may; save it without one")
        );
    }
    let clauses = split(text)?;
    refuse_misplaced_lines(text)?;
    let mut clauses = clauses.iter();
    let Some(first) = clauses.next() else {
        let at = Position { line: 1, column: 1 };
        return Err(at.error("there is no contract in the header; it begins with a line --!contract NAME"));
    };
    let mut reader = Reader::new(first)?;
    for clause in clauses {
        reader.clause(clause)?;
    }
    reader.finish(false)
}

/// The declarations of a builder: its clauses, one line each. `has_cases` when there are cases besides them.
pub(super) fn declared(clauses: &[String], has_cases: bool) -> Result<Contract, ContractError> {
    let mut reader: Option<Reader> = None;
    for (text, line) in clauses.iter().zip(1..) {
        let at = Position { line, column: 1 };
        if text.contains(['\n', '\r']) {
            return Err(at.error(format!("{text:?} is more than a line; a clause of a builder is one")));
        }
        for clause in split(format!("{}--!{text}", "\n".repeat(line - 1)).as_bytes())? {
            match &mut reader {
                None => reader = Some(Reader::new(&clause)?),
                Some(reader) => reader.clause(&clause)?,
            }
        }
    }
    let reader = reader.ok_or_else(|| Position { line: 1, column: 1 }.error("the contract has no name"))?;
    if has_cases && reader.has_else {
        return Err(reader.at.error("no case applies after \"case else\"; leave it to otherwise"));
    }
    reader.finish(has_cases)
}

/// The number of a key that a contract lets its script write.
pub(super) fn writable(contract: &Contract, name: &str) -> Result<usize, ContractError> {
    let at = Position { line: 1, column: 1 };
    match contract.place(name) {
        None => Err(at.error(contract.unknown(name))),
        Some(place) => writable_place(contract, place, name, at),
    }
}

/// A contract line below the first line of code, or behind blanks, would be overlooked.
fn refuse_misplaced_lines(text: &[u8]) -> Result<(), ContractError> {
    let mut read = lines(text).map(|(number, _)| number).peekable();
    let mut marked = numbered(text).filter(|(line, _)| line.trim_ascii_start().starts_with(MARK));
    match marked.find(|(_, number)| read.next_if_eq(number).is_none()) {
        None => Ok(()),
        Some((_, line)) => Err(Position { line, column: 1 }.error(
            "contract lines begin in the first column and stand in the header, above the first line of code",
        )),
    }
}

/// A contract line as text. What is no UTF-8 would become another text silently.
fn readable(line: usize, bytes: &[u8]) -> Result<&str, ContractError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (read, rest) = bytes.split_at(error.valid_up_to());
        let column = MARK.len() + 1 + String::from_utf8_lossy(read).chars().count();
        let byte = rest.first().copied().unwrap_or_default();
        let told = format!("this byte is no UTF-8; in a text in quotes it is written \\x{byte:02x}");
        Position { line, column }.error(told)
    })
}

fn split(text: &[u8]) -> Result<Vec<Clause>, ContractError> {
    let mut clauses: Vec<Clause> = Vec::new();
    for (line, bytes) in lines(text) {
        let words = readable(line, bytes)?.trim_end();
        let start = Position { line, column: MARK.len() + 1 };
        let end = Position { line, column: MARK.len() + 1 + words.chars().count() };
        if let Some(clause) = clauses.last_mut().filter(|_| words.starts_with(char::is_whitespace)) {
            lexer::split(words, start, &mut clause.tokens)?;
            clause.end = end;
            clause.text.extend(words.split_whitespace().map(|word| format!(" {word}")));
            continue;
        }
        let mut tokens = Vec::new();
        lexer::split(words, start, &mut tokens)?;
        if tokens.is_empty() {
            continue;
        }
        let (Token::Name(name), at) = tokens.remove(0) else {
            return Err(start.error(format!("here should be the name of a clause; clauses are {CLAUSES}")));
        };
        let text = words.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
        clauses.push(Clause { name, at, end, tokens, text });
    }
    Ok(clauses)
}

/// The contract as far as it was read, and what the next clause may be.
struct Reader {
    contract: Contract,
    at: Position,
    has_else: bool,
    /// What the `error` clauses so far tell the answer of.
    told: Set<Wrong>,
    /// Where each key and argument is declared.
    key_places: Vec<Position>,
    arg_places: Vec<Position>,
}

impl Reader {
    fn new(first: &Clause) -> Result<Self, ContractError> {
        if first.name != "contract" {
            return Err(first
                .at
                .error(format!("a contract begins with a line --!contract NAME, not with {}", first.name)));
        }
        let mut cursor = first.cursor();
        let (name, _) = cursor.name("the name of the contract")?;
        let at = cursor.position();
        if let Some(Token::Int(_)) = cursor.peek()
            && cursor.int("the version")? != 1
        {
            return Err(at.error("the version of the contract language is 1"));
        }
        if !cursor.is_done() && cursor.position().line > first.at.line {
            return Err(cursor.position().error(
                "a line with a blank behind --! goes on with the clause above; a clause begins right behind --!",
            ));
        }
        if let Some(Token::Sign(_)) = cursor.peek() {
            return Err(
                cursor.wanted("the end of the clause; names are ASCII letters, digits and underscores")
            );
        }
        cursor.done()?;
        let contract = Contract {
            name: name.to_owned(),
            names: Map::default(),
            keys: Vec::new(),
            args: Vec::new(),
            rejections: Vec::new(),
            reply: None,
            cases: Vec::new(),
            writes: Vec::new(),
            instructions: None,
            random: false,
            trusts_arity: false,
        };
        let (key_places, arg_places) = (Vec::new(), Vec::new());
        Ok(Reader { contract, at: first.at, has_else: false, told: Set::default(), key_places, arg_places })
    }
    fn clause(&mut self, clause: &Clause) -> Result<(), ContractError> {
        match clause.name.as_str() {
            "key" => self.key(clause),
            "argv" => self.argv(clause),
            "error" => self.error(clause),
            "reply" => self.reply(clause),
            "case" => self.case(clause),
            "writes" => self.writes(clause),
            "instructions" => self.instructions(clause),
            "flags" => self.flags(clause),
            "arity" => self.arity(clause),
            "contract" => Err(clause.at.error("a script has one contract; this is its second")),
            name => Err(clause.at.error(format!("{name:?} is no clause; clauses are {CLAUSES}"))),
        }
    }
    /// A name for a key or an argument that nothing else has.
    fn fresh<'a>(&self, cursor: &mut Cursor<'a>, wanted: &str) -> Result<(&'a str, Position), ContractError> {
        let (name, at) = cursor.name(wanted)?;
        if RESERVED.contains(&name) {
            return Err(at.error(format!("{name:?} is a word of the language; take another name")));
        }
        if self.contract.place(name).is_some() {
            return Err(at.error(format!("{name:?} is declared already")));
        }
        Ok((name, at))
    }
    fn key(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut cursor = clause.cursor();
        let (name, at) = self.fresh(&mut cursor, "the name of a key")?;
        if let Some(last) = self.contract.keys.last().filter(|last| last.many.is_some()) {
            return Err(at.error(format!("{} takes all keys that are left", last.name)));
        }
        let kind = keys::key_type(&mut cursor)?;
        let (name, access) = (name.to_owned(), Access::default());
        let mut key = Key { name, kind, required: false, access, ttl: Ttl::Kept, many: None };
        keys::key_words(&mut cursor, &mut key)?;
        self.contract.names.insert(key.name.clone(), Place::Key(self.contract.keys.len()));
        self.contract.keys.push(key);
        self.key_places.push(at);
        Ok(())
    }
    fn argv(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut cursor = clause.cursor();
        let (name, at) = self.fresh(&mut cursor, "the name of an argument")?;
        let (grammar, presence) = keys::argument(&mut cursor)?;
        if let Some(last) = self.contract.args.last() {
            let told = match (last.presence, presence) {
                (Presence::Many { .. }, _) => format!("{} takes all arguments that are left", last.name),
                (Presence::Optional, Presence::Required) => {
                    format!("{} may be missing, so what follows may be: write optional", last.name)
                }
                _ => String::new(),
            };
            if !told.is_empty() {
                return Err(at.error(told));
            }
        }
        self.contract.names.insert(name.to_owned(), Place::Arg(self.contract.args.len()));
        self.contract.args.push(Arg { name: name.to_owned(), grammar, presence });
        self.arg_places.push(at);
        Ok(())
    }
    fn error(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut cursor = clause.cursor();
        let mut wrongs = vec![self.wrong(&mut cursor)?];
        while cursor.takes(",") {
            wrongs.push(self.wrong(&mut cursor)?);
        }
        let answer = match cursor.peek() {
            Some(Token::Text(_)) => Answer::Text(cursor.error_text()?),
            _ => {
                let wanted =
                    "the text of the error in quotes, or the code of the error that a command raises";
                Answer::Raised(cursor.name(wanted)?.0.to_owned())
            }
        };
        cursor.done()?;
        let (line, text) = (clause.at.line, clause.text.clone());
        self.contract.rejections.push(Rejection { line, text, wrongs, answer });
        Ok(())
    }
    fn wrong(&mut self, cursor: &mut Cursor<'_>) -> Result<Wrong, ContractError> {
        let at = cursor.position();
        if cursor.takes_word("arity") {
            self.tell(at, "arity", &[Wrong::Arity])?;
            return Ok(Wrong::Arity);
        }
        let (name, _) = cursor.name("arity, or the name of a key or an argument")?;
        let unknown = || at.error(format!("{} (and arity, for their number)", self.contract.unknown(name)));
        let place = self.contract.place(name).ok_or_else(unknown)?;
        let possible = self.possible_faults(place);
        let broken = |fault: Fault| Wrong::Broken(place, Some(fault));
        if !cursor.takes(".") {
            let faults = possible.into_iter().filter(|&fault| fault != Fault::Type);
            let faults: Vec<Wrong> = faults.map(broken).collect();
            if faults.is_empty() {
                return Err(
                    at.error(format!("{name} cannot be wrong in a way that this clause would be for"))
                );
            }
            self.tell(at, name, &faults)?;
            return Ok(Wrong::Broken(place, None));
        }
        let (word, word_at) = cursor.name("a way to be wrong")?;
        let fault = Fault::NAMES.into_iter().find(|(fault, _)| *fault == word).map(|(_, fault)| fault);
        let Some(fault) = fault.filter(|fault| possible.contains(fault)) else {
            return Err(word_at.error(impossible(name, word, &possible)));
        };
        self.tell(at, &format!("{name}.{word}"), &[broken(fault)])?;
        Ok(broken(fault))
    }
    /// Notes what a clause tells the answer of; one that says nothing new never applies.
    fn tell(&mut self, at: Position, what: &str, wrongs: &[Wrong]) -> Result<(), ContractError> {
        let before = self.told.len();
        self.told.extend(wrongs.iter().copied());
        if self.told.len() == before {
            return Err(at.error(format!("the answer to {what} is told above already; this never applies")));
        }
        Ok(())
    }
    /// The faults that a key or an argument can have.
    fn possible_faults(&self, place: Place) -> Vec<Fault> {
        match place {
            Place::Arg(arg) => self.contract.args[arg].grammar.faults().to_vec(),
            Place::Key(key) => {
                let key = &self.contract.keys[key];
                let mut faults = Vec::new();
                faults.extend(key.required.then_some(Fault::Missing));
                faults.extend((key.kind != KeyType::Any).then_some(Fault::Type));
                if let KeyType::String(grammar) = &key.kind {
                    faults.extend(grammar.faults());
                }
                faults
            }
        }
    }
    fn reply(&mut self, clause: &Clause) -> Result<(), ContractError> {
        if self.contract.reply.is_some() {
            return Err(clause.at.error("the shape of replies is declared already; join shapes with |"));
        }
        let mut cursor = clause.cursor();
        let shape = Shape::parse(&mut cursor, 0)?;
        cursor.done()?;
        self.contract.reply = Some(shape);
        Ok(())
    }
    fn case(&mut self, clause: &Clause) -> Result<(), ContractError> {
        if self.has_else {
            return Err(clause.at.error("no case applies after \"case else\"; put this one above it"));
        }
        let mut parser = self.parser(clause, false);
        let when = if parser.cursor.takes_word("else") { None } else { Some(parser.condition()?) };
        parser.cursor.expect("=>")?;
        let promise = Promise::parse(&mut parser, 0)?;
        let mut effects = Vec::new();
        if !matches!(promise, Promise::Error(_)) && parser.cursor.takes(";") {
            loop {
                let at = parser.cursor.position();
                let effect = effect(&mut parser)?;
                if effects.iter().any(|other: &Effect| other.excludes(&effect)) {
                    return Err(at.error("another effect of this case says what becomes of the key"));
                }
                effects.push(effect);
                if !parser.cursor.takes(",") {
                    break;
                }
            }
            parser.cursor.done_after("\",\"")?;
        }
        match promise {
            Promise::Error(_) => parser.cursor.done()?,
            _ => parser.cursor.done_after("\";\"")?,
        }
        self.has_else = when.is_none();
        let case = Case { line: clause.at.line, text: clause.text.clone(), when, promise, effects };
        self.contract.cases.push(case);
        Ok(())
    }
    fn writes(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut parser = self.parser(clause, true);
        let mut keys = Vec::new();
        loop {
            keys.push(written_key(&mut parser)?);
            if !parser.cursor.takes(",") {
                break;
            }
        }
        let when = if parser.cursor.takes_word("when") { Some(parser.condition()?) } else { None };
        if when.is_none() {
            parser.cursor.done_after("\",\", when")?;
        }
        parser.cursor.done()?;
        self.contract.writes.push(Writes { keys, when });
        Ok(())
    }
    fn instructions(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut cursor = clause.cursor();
        let at = cursor.position();
        let count = cursor.int("how many instructions of the Lua VM a run may take")?;
        cursor.done()?;
        if count < 1 {
            return Err(at.error("a run takes at least one instruction"));
        }
        if self.contract.instructions.replace(count.unsigned_abs()).is_some() {
            return Err(clause.at.error("the instructions are declared already"));
        }
        Ok(())
    }
    fn flags(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut cursor = clause.cursor();
        loop {
            let (name, at) = cursor.name("random")?;
            if name != "random" {
                return Err(at.error(format!("{name:?} is no flag; there is random")));
            }
            self.contract.random = true;
            if !cursor.takes(",") {
                return cursor.done();
            }
        }
    }
    fn arity(&mut self, clause: &Clause) -> Result<(), ContractError> {
        let mut cursor = clause.cursor();
        let (word, at) = cursor.name("trusted")?;
        if word != "trusted" {
            return Err(at.error(format!("{word:?} is nothing that arity is; it may be trusted")));
        }
        cursor.done()?;
        self.tell(clause.at, "arity", &[Wrong::Arity])?;
        self.contract.trusts_arity = true;
        Ok(())
    }
    fn parser<'c, 't>(&'c self, clause: &'t Clause, knows_reply: bool) -> Parser<'c, 't> {
        Parser { contract: &self.contract, cursor: clause.cursor(), knows_reply, depth: 0, operators: 0 }
    }
    /// Every way in which a call can be wrong must have its answer.
    fn finish(self, has_cases: bool) -> Result<Contract, ContractError> {
        let contract = &self.contract;
        if !self.told.contains(&Wrong::Arity) {
            return Err(self.at.error(
                "nothing says what a wrong number of keys or arguments is answered; add --!error arity \"TEXT\", or \
                 --!arity trusted when the script does not look at it",
            ));
        }
        let keys = self.key_places.iter().enumerate().map(|(key, at)| (Place::Key(key), at));
        let args = self.arg_places.iter().enumerate().map(|(arg, at)| (Place::Arg(arg), at));
        for (place, at) in keys.chain(args) {
            let mut open = self.possible_faults(place);
            open.retain(|fault| !self.told.contains(&Wrong::Broken(place, Some(*fault))));
            if let Some(told) = unanswered(contract.place_name(place), &open) {
                return Err(at.error(told));
            }
        }
        if contract.reply.is_none() && contract.cases.is_empty() && !has_cases {
            return Err(self
                .at
                .error("nothing says what the script replies; add a reply clause or case clauses"));
        }
        Ok(self.contract)
    }
}

/// What is said of a way to be wrong that there is not.
fn impossible(name: &str, word: &str, possible: &[Fault]) -> String {
    let list: Vec<&str> = possible.iter().map(|fault| fault.name()).collect();
    match &list[..] {
        [] => format!("{name} cannot be wrong at all; it needs no error clause"),
        list => format!("{name} cannot be wrong by {word:?}; it can by {}", list.join(", ")),
    }
}

/// What is said of a key or an argument that may be wrong in ways for which no clause has an answer.
fn unanswered(name: &str, open: &[Fault]) -> Option<String> {
    let says = |how: &str, clause: &str| {
        Some(format!("nothing says what is answered when {name} is wrong{how}; add --!error {name}{clause}"))
    };
    match open {
        [] => None,
        [Fault::Type, ..] => says(" by type", ".type WRONGTYPE"),
        [one] => says(&format!(" by {}", one.name()), &format!(".{} \"TEXT\"", one.name())),
        _ => says("", " \"TEXT\""),
    }
}

impl Effect {
    /// Whether one case cannot have both.
    fn excludes(&self, other: &Effect) -> bool {
        let (key, is_expiry) = self.key();
        let (other_key, is_other_expiry) = other.key();
        let is_deletion = [self, other].iter().any(|effect| matches!(effect, Effect::Delete(_)));
        if let (Some(one), Some(other)) = (self.field(), other.field()) {
            return key == other_key && one == other;
        }
        key == other_key && (is_expiry == is_other_expiry || is_deletion)
    }
    /// The key, and whether the effect is on its expiry.
    fn key(&self) -> (usize, bool) {
        match self {
            Effect::Assign(key, _)
            | Effect::Delete(key)
            | Effect::Change(key)
            | Effect::SetField(key, ..)
            | Effect::DropField(key, _) => (*key, false),
            Effect::Expire(key, _) => (*key, true),
        }
    }
    /// The field of a hash that the effect is on.
    fn field(&self) -> Option<&[u8]> {
        match self {
            Effect::SetField(_, field, _) | Effect::DropField(_, field) => Some(field),
            _ => None,
        }
    }
}

impl Clause {
    fn cursor(&self) -> Cursor<'_> {
        Cursor::new(&self.tokens, self.end)
    }
}

/// A key that the contract lets the script write.
fn written_key(parser: &mut Parser<'_, '_>) -> Result<usize, ContractError> {
    let (place, name, at) = parser.place("the name of a key")?;
    writable_place(parser.contract, place, name, at)
}

fn writable_place(
    contract: &Contract,
    place: Place,
    name: &str,
    at: Position,
) -> Result<usize, ContractError> {
    match place {
        Place::Key(key) if contract.keys[key].access != Access::default() => Ok(key),
        Place::Key(_) => {
            Err(at.error(format!("{name} is read only; declare it rw, or rm when it may be removed")))
        }
        Place::Arg(_) => Err(at.error(format!("{name} is an argument; here should be the name of a key"))),
    }
}

/// The value that a key is given.
fn assigned(parser: &mut Parser<'_, '_>, key: usize, at: Position) -> Result<Expr, ContractError> {
    let Key { name, kind, .. } = &parser.contract.keys[key];
    if let KeyType::Collection(kind, elements) = kind {
        let field = if *kind == "hash" && *elements != Elements::Any {
            format!(", or {name}.FIELD = VALUE")
        } else {
            String::new()
        };
        return Err(at.error(format!("{name} is no string; write change {name}{field}")));
    }
    let at = parser.cursor.position();
    let (value, found) = parser.value()?;
    match (kind, found.kind) {
        (_, Kind::Nil) => Err(at.error(format!("a key that holds nothing is gone; write del {name}"))),
        (KeyType::String(Grammar::Int { .. }), Kind::Text) => {
            Err(at.error(format!("{name} holds an integer; this is a text")))
        }
        _ => found.must_be_there(at).map(|()| value),
    }
}

/// The declared field of a hash behind its name, if a dot stands there.
fn field_of(parser: &mut Parser<'_, '_>, key: usize) -> Result<Option<Vec<u8>>, ContractError> {
    if !parser.cursor.takes(".") {
        return Ok(None);
    }
    Ok(Some(parser.field_name(key)?.0))
}

fn effect(parser: &mut Parser<'_, '_>) -> Result<Effect, ContractError> {
    let contract = parser.contract;
    let at = parser.cursor.position();
    let needs = |key: usize, remove: bool| {
        let Key { name, access, .. } = &contract.keys[key];
        match remove {
            true if !access.remove => Err(at.error(format!("{name} may not be removed; declare it rm"))),
            false if !access.write => Err(at.error(format!("{name} may not be written; declare it rw"))),
            _ => Ok(key),
        }
    };
    if parser.cursor.takes_word("del") {
        let key = written_key(parser)?;
        if let Some(field) = field_of(parser, key)? {
            return Ok(Effect::DropField(needs(key, false)?, field));
        }
        return Ok(Effect::Delete(needs(key, true)?));
    }
    if parser.cursor.takes_word("change") {
        let key = written_key(parser)?;
        return Ok(Effect::Change(needs(key, false)?));
    }
    if parser.cursor.takes_word("pttl") {
        parser.cursor.expect("(")?;
        let key = needs(written_key(parser)?, false)?;
        parser.cursor.expect(")")?;
        parser.cursor.expect("=")?;
        if matches!(contract.keys[key].ttl, Ttl::Kept | Ttl::Dropped) {
            return Err(at.error(format!(
                "the TTL of {} is not set; declare the key ttl=set or ttl=any",
                contract.keys[key].name
            )));
        }
        let at = parser.cursor.position();
        let (value, found) = parser.value()?;
        if found.kind != Kind::Int {
            return Err(at.error("the time that a key has left is an integer"));
        }
        found.must_be_there(at)?;
        return Ok(Effect::Expire(key, value));
    }
    if let Some(Token::Name(name)) = parser.cursor.peek()
        && contract.place(name).is_none()
        && !parser.cursor.has_behind("=")
        && !parser.cursor.has_behind(".")
    {
        return Err(at.error(format!(
            "{name:?} is no effect; effects are KEY = VALUE, KEY.FIELD = VALUE, pttl(KEY) = VALUE, del KEY, change KEY"
        )));
    }
    let key = needs(written_key(parser)?, false)?;
    if let Some(field) = field_of(parser, key)? {
        parser.cursor.expect("=")?;
        let at = parser.cursor.position();
        let (value, found) = parser.value()?;
        if found.kind == Kind::Nil {
            return Err(at.error("a field that holds nothing is gone; write del KEY.FIELD"));
        }
        return found.must_be_there(at).map(|()| Effect::SetField(key, field, value));
    }
    parser.cursor.expect("=")?;
    Ok(Effect::Assign(key, assigned(parser, key, at)?))
}
