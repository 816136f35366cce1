//! Mutants: a script with one small change each, as people make mistakes. A contract that notices none of them in a
//! thousand calls says less than it seems to.

use super::{CheckHooks, CheckOptions};
use crate::contract::{Contract, Rule};
use crate::engine::{Engine, Script};
use crate::error::Error;
use crate::reply::Reply;
use crate::syntax::Source;
use crate::syntax::outline::{Outline, Span, Statement, StatementKind, Word, WordKind};
use crate::util::hasher::Set;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A script with one change. Its text is made when somebody asks for it: a long script has as many mutants as it has words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    original: Arc<[u8]>,
    line: usize,
    change: &'static str,
    /// What is replaced.
    place: Range<usize>,
    /// By what.
    parts: Vec<Part>,
    /// What is shown as replaced, and as what stands there now when that is no text of the script.
    shown: Range<usize>,
    told: Option<&'static str>,
}

/// A part of what is put into a script.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    /// What stands elsewhere in it.
    Copy(Range<usize>),
}

impl Mutant {
    /// The line of the change, from 1 on.
    pub fn line(&self) -> usize {
        self.line
    }
    /// What kind of change it is, as `comparison` or `dropped return`.
    pub fn change(&self) -> &'static str {
        self.change
    }
    /// What stood there.
    pub fn before(&self) -> String {
        String::from_utf8_lossy(&self.original[self.shown.clone()]).into_owned()
    }
    /// What stands there now; empty when it was dropped.
    pub fn after(&self) -> String {
        match self.told {
            Some(told) => told.to_owned(),
            None => String::from_utf8_lossy(&self.new_text()).into_owned(),
        }
    }
    /// The text of the changed script.
    pub fn source(&self) -> Vec<u8> {
        [&self.original[..self.place.start], &self.new_text(), &self.original[self.place.end..]].concat()
    }
    fn new_text(&self) -> Vec<u8> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.as_slice(),
            Part::Copy(place) => &self.original[place.clone()],
        });
        parts.collect::<Vec<_>>().concat()
    }
    /// The same for all changes that lead to the same text: how much of the beginning stays, how long the text is, and what
    /// stands between the beginning and the end that stay. None when nothing changes.
    fn essence(&self) -> Option<(usize, usize, Vec<u8>)> {
        let (old, new, Range { start, end }) = (&self.original, self.new_text(), self.place.clone());
        let byte = |at: usize| match at.checked_sub(start) {
            None => old[at],
            Some(behind) => new.get(behind).copied().unwrap_or_else(|| old[behind - new.len() + end]),
        };
        let length = old.len() - self.place.len() + new.len();
        let shorter = length.min(old.len());
        let head = (start..shorter).find(|&at| byte(at) != old[at]).unwrap_or(shorter);
        if head == length && head == old.len() {
            return None;
        }
        let known = (old.len() - end).min(shorter - head);
        let tail = (known..shorter - head).find(|&at| byte(length - 1 - at) != old[old.len() - 1 - at]);
        let tail = tail.unwrap_or(shorter - head);
        Some((head, length, (head..length - tail).map(byte).collect()))
    }
    /// The mutants of a script, in the order of its text: bounds by one, comparisons, checks, returns and writes that are
    /// dropped or moved, other keys, arguments and commands. Some of them may not compile; comments are left alone. A
    /// text that is no Lua has none.
    ///
    /// ```
    /// let mutants = moonkeep::Mutant::of("if ARGV[1] < 5 then return 1 end");
    /// assert_eq!(mutants[0].to_string(), "line 1, dropped check: ARGV[1] < 5 -> false");
    /// assert!(mutants.iter().any(|one| one.source() == b"if ARGV[1] <= 5 then return 1 end"));
    /// ```
    pub fn of(source: impl AsRef<[u8]>) -> Vec<Mutant> {
        let source = source.as_ref();
        let Ok(Source { outline, .. }) = Source::parse(source) else { return Vec::new() };
        let mut maker = Maker { original: source.into(), source, words: &outline.words, made: Vec::new() };
        maker.conditions(&outline);
        maker.statements(&outline);
        (0..outline.words.len()).for_each(|at| maker.word(at));
        let mut made = maker.made;
        made.sort_by_key(|mutant| mutant.place.start);
        let mut known = Set::default();
        made.retain(|mutant| mutant.essence().is_some_and(|essence| known.insert(essence)));
        made
    }
}

/// As in `line 17, comparison: < -> <=`.
impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            match line.char_indices().nth(70) {
                Some((at, _)) => format!("{}...", &line[..at]),
                None => line,
            }
        };
        write!(f, "line {}, {}: {}", self.line, self.change, short(&self.before()))?;
        let after = self.after();
        if after.is_empty() { Ok(()) } else { write!(f, " -> {}", short(&after)) }
    }
}

/// Makes the mutants of one source.
struct Maker<'a> {
    original: Arc<[u8]>,
    source: &'a [u8],
    words: &'a [Word],
    made: Vec<Mutant>,
}

impl<'a> Maker<'a> {
    fn text(&self, at: usize) -> &'a [u8] {
        self.words.get(at).map_or(b"", |word| &self.source[word.start..word.end])
    }
    /// The bytes of words.
    fn bytes(&self, (first, end): Span) -> Range<usize> {
        match (self.words.get(first), self.words.get(end.wrapping_sub(1))) {
            (Some(first), Some(last)) if first.start <= last.end => first.start..last.end,
            _ => 0..0,
        }
    }
    /// Puts another text in place of one.
    fn replace(&mut self, change: &'static str, place: Range<usize>, new: &[u8]) {
        self.rebuild(change, place.clone(), vec![Part::Text(new.to_vec())], place, None);
    }
    fn rebuild(
        &mut self,
        change: &'static str,
        place: Range<usize>,
        parts: Vec<Part>,
        shown: Range<usize>,
        told: Option<&'static str>,
    ) {
        let word = self.words.partition_point(|word| word.end <= place.start);
        let line = self.words.get(word).map_or(1, |word| word.line);
        let original = self.original.clone();
        self.made.push(Mutant { original, line, change, place, parts, shown, told });
    }
    fn drop_words(&mut self, change: &'static str, span: Span) {
        let place = self.bytes(span);
        if !place.is_empty() {
            self.replace(change, place, b"");
        }
    }
    /// Checks that always or never hold, and those of which a part is missing.
    fn conditions(&mut self, outline: &Outline) {
        for &span in &outline.conditions {
            let place = self.bytes(span);
            self.replace("dropped check", place.clone(), b"false");
            self.replace("dropped check", place, b"true");
        }
        for chain in &outline.chains {
            for (number, &(start, end)) in chain.iter().enumerate() {
                // With the `and` or `or` that joins it.
                let span = if number == 0 { (start, chain[1].0) } else { (start - 1, end) };
                self.drop_words("dropped part", span);
            }
        }
    }
    fn statements(&mut self, outline: &Outline) {
        for block in &outline.blocks {
            for (number, statement) in block.iter().enumerate() {
                match statement.kind {
                    StatementKind::Return => {
                        self.drop_words("dropped return", statement.span);
                        self.elements(outline, statement.span);
                    }
                    StatementKind::Call => self.drop_words("dropped call", statement.span),
                    StatementKind::Assignment => self.drop_words("dropped assignment", statement.span),
                    _ => {}
                }
                if let Some(next) = block.get(number + 1) {
                    self.reorder(outline, statement, next);
                }
            }
        }
    }
    /// Elements of what is returned.
    fn elements(&mut self, outline: &Outline, (first, end): Span) {
        let inside = |table: &&Vec<Span>| table.first().is_some_and(|one| one.0 > first && one.1 <= end);
        for table in outline.tables.iter().filter(inside) {
            for (number, &(start, end)) in table.iter().enumerate() {
                let has_more = table.len() > 1;
                let span = match number {
                    0 if has_more => (start, table[1].0),
                    0 => (start, end),
                    _ => (start - 1, end),
                };
                self.drop_words("dropped element", span);
            }
        }
    }
    /// Two statements the other way round, where one of them calls a command; a write before the check above it.
    fn reorder(&mut self, outline: &Outline, one: &Statement, other: &Statement) {
        use StatementKind::{Assignment, Call, If, Return};
        let calls =
            |span: Span| outline.commands.iter().copied().find(|call| call.0 >= span.0 && call.1 <= span.1);
        let (first, second) = (self.bytes(one.span), self.bytes(other.span));
        let (whole, between) = (first.start..second.end, Part::Copy(first.end..second.start));
        let [above, below] = [&first, &second].map(|place| Part::Copy(place.clone()));
        let is_moved = |kind| matches!(kind, Call | Assignment | If);
        if is_moved(one.kind) && is_moved(other.kind) && (calls(one.span).or(calls(other.span))).is_some() {
            self.rebuild("reordered", whole, vec![below, between, above], second, Some("before the above"));
        } else if one.kind == If
            && other.kind == Return
            && let Some(call) = calls(other.span)
        {
            let call = self.bytes(call);
            let text = |text: &str| Part::Text(text.into());
            let copy = Part::Copy(call.clone());
            let rest =
                [Part::Copy(second.start..call.start), text("moved"), Part::Copy(call.end..second.end)];
            let parts = [text("local moved = "), copy, text("\n"), above, between].into_iter().chain(rest);
            self.rebuild("reordered", whole, parts.collect(), call, Some("before the check above"));
        }
    }
    /// What is made of one word.
    fn word(&mut self, at: usize) {
        let word = self.words[at];
        let (place, text) = (word.start..word.end, self.text(at));
        match word.kind {
            WordKind::Sign => {
                let change = if matches!(text, b"+" | b"-" | b"*" | b"/" | b"%") {
                    "arithmetic"
                } else {
                    "comparison"
                };
                let is_unary = text == b"-" && !self.ends_a_value(at);
                let news = if is_unary { &[][..] } else { signs(text) };
                news.iter().for_each(|new| self.replace(change, place.clone(), new.as_bytes()));
            }
            WordKind::Name => match text {
                b"and" => self.replace("logic", place, b"or"),
                b"or" => self.replace("logic", place, b"and"),
                b"not" => self.replace("logic", place, b""),
                b"true" => self.replace("logic", place, b"false"),
                b"false" => self.replace("logic", place, b"true"),
                b"KEYS" | b"ARGV" => self.position(at),
                _ => {}
            },
            WordKind::Number if !self.is_position(at) => {
                let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
                let values = value
                    .into_iter()
                    .flat_map(|value| [value.checked_sub(1), value.checked_add(1)])
                    .flatten();
                values.for_each(|new| self.replace("bound", place.clone(), new.to_string().as_bytes()));
            }
            WordKind::Number => {}
            WordKind::Text => self.quoted(at),
        }
    }
    fn ends_a_value(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        before.is_some_and(|word| match word.kind {
            WordKind::Number | WordKind::Text => true,
            WordKind::Name => {
                !matches!(&self.source[word.start..word.end], b"return" | b"and" | b"or" | b"not")
            }
            WordKind::Sign => matches!(&self.source[word.start..word.end], b")" | b"]" | b"}"),
        })
    }
    /// Whether a number is that of a key or an argument.
    fn is_position(&self, at: usize) -> bool {
        at >= 2 && self.text(at - 1) == b"[" && matches!(self.text(at - 2), b"KEYS" | b"ARGV")
    }
    /// Another key or argument than the one that is named.
    fn position(&mut self, at: usize) {
        if self.text(at + 1) != b"[" || self.text(at + 3) != b"]" {
            return;
        }
        let name = self.text(at);
        let number = self.text(at + 2).to_vec();
        let change = if name == b"KEYS" { "wrong key" } else { "wrong argument" };
        let places = (0..self.words.len()).filter(|&place| self.is_position(place));
        let mut others: Vec<Vec<u8>> = places
            .filter(|&place| self.text(place - 2) == name && self.text(place) != number)
            .map(|place| self.text(place).to_vec())
            .collect();
        others.sort();
        others.dedup();
        let place = self.bytes((at + 2, at + 3));
        others.iter().for_each(|other| self.replace(change, place.clone(), other));
        if name == b"KEYS" {
            let whole = self.bytes((at, at + 4));
            let new = [b"(", &self.source[whole.clone()], b" .. \"x\")"].concat();
            self.replace(change, whole, &new);
        }
    }
    /// A pattern without one of its anchors, with another first digit; another command.
    fn quoted(&mut self, at: usize) {
        let word = self.words[at];
        let text = self.text(at);
        if text.first() == Some(&b'[') || text.len() < 3 {
            return;
        }
        let inner = word.start + 1..word.end - 1;
        let body = &self.source[inner.clone()];
        if body.starts_with(b"^") {
            self.replace("pattern", word.start..word.end, &[&text[..1], &text[2..]].concat());
        }
        if body.ends_with(b"$") && !body.ends_with(b"%$") {
            let end = text.len() - 2;
            self.replace("pattern", word.start..word.end, &[&text[..end], &text[end + 1..]].concat());
        }
        if let Some(place) = body.windows(5).position(|part| part == b"[1-9]") {
            let digit = inner.start + place + 1;
            let new = [&self.source[word.start..digit], b"0", &self.source[digit + 1..word.end]].concat();
            self.replace("pattern", word.start..word.end, &new);
        }
        let upper = body.to_ascii_uppercase();
        let Some(&(_, other)) = COMMANDS.iter().find(|(one, _)| one.as_bytes() == upper) else { return };
        let new = [&text[..1], other.as_bytes(), &text[..1]].concat();
        self.replace("other command", word.start..word.end, &new);
    }
}

/// What is written for a sign by mistake.
fn signs(sign: &[u8]) -> &'static [&'static str] {
    match sign {
        b"<" => &["<=", ">="],
        b"<=" => &["<", ">"],
        b">" => &[">=", "<="],
        b">=" => &[">", "<"],
        b"==" => &["~="],
        b"~=" => &["=="],
        b"+" => &["-"],
        b"-" => &["+"],
        b"*" => &["/"],
        b"/" => &["*"],
        b"%" => &["*"],
        _ => &[],
    }
}

/// Commands and options that are taken for each other.
const COMMANDS: [(&str, &str); 30] = [
    ("INCR", "DECR"),
    ("DECR", "INCR"),
    ("INCRBY", "DECRBY"),
    ("DECRBY", "INCRBY"),
    ("LPUSH", "RPUSH"),
    ("RPUSH", "LPUSH"),
    ("LPOP", "RPOP"),
    ("RPOP", "LPOP"),
    ("PEXPIRE", "EXPIRE"),
    ("EXPIRE", "PEXPIRE"),
    ("PEXPIREAT", "EXPIREAT"),
    ("EXPIREAT", "PEXPIREAT"),
    ("PTTL", "TTL"),
    ("TTL", "PTTL"),
    ("PX", "EX"),
    ("EX", "PX"),
    ("NX", "XX"),
    ("XX", "NX"),
    ("GT", "LT"),
    ("LT", "GT"),
    ("SADD", "SREM"),
    ("SREM", "SADD"),
    ("ZRANGE", "ZREVRANGE"),
    ("ZREVRANGE", "ZRANGE"),
    ("ZPOPMIN", "ZPOPMAX"),
    ("ZPOPMAX", "ZPOPMIN"),
    ("ZRANGEBYSCORE", "ZREVRANGEBYSCORE"),
    ("LEFT", "RIGHT"),
    ("RIGHT", "LEFT"),
    ("KEEPTTL", "GET"),
];

/// What became of the mutants of a script, see [`Contract::check_mutants`]. `Display` lists the survivors.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationReport {
    name: String,
    fates: Vec<(Mutant, Option<Rule>)>,
}

impl MutationReport {
    /// The mutants with the rule by which they were noticed; none for one that survived.
    pub fn mutants(&self) -> impl ExactSizeIterator<Item = (&Mutant, Option<Rule>)> {
        self.fates.iter().map(|(mutant, rule)| (mutant, *rule))
    }
    /// How many were noticed.
    pub fn killed(&self) -> usize {
        self.fates.iter().filter(|(_, rule)| rule.is_some()).count()
    }
    /// Those that nothing noticed.
    pub fn survivors(&self) -> impl Iterator<Item = &Mutant> {
        self.fates.iter().filter(|(_, rule)| rule.is_none()).map(|(mutant, _)| mutant)
    }
}

impl fmt::Display for MutationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} mutants noticed", self.name, self.killed(), self.fates.len())?;
        self.survivors().try_for_each(|mutant| write!(f, "\n  survives: {mutant}"))
    }
}

impl Contract {
    /// Checks every mutant of a script that compiles, each until the first call for which it breaks the contract; the
    /// calls of [`CheckOptions::first`] come first. A mutant that survives is a change that the contract does not notice:
    /// it may be one that changes nothing, or a promise that is missing. Of a script that breaks its contract itself nearly all are
    /// noticed, which says nothing: [`check`](Contract::check) it first.
    ///
    /// ```
    /// use moonkeep::{CheckOptions, Contract, Script};
    /// let source = include_str!("../../lua/unlock.lua");
    /// let report = Contract::parse(source)?.check_mutants(&Script::new(source), &CheckOptions::new().runs(500))?;
    /// assert_eq!(report.survivors().count(), 0, "{report}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`check`](Contract::check).
    pub fn check_mutants(&self, script: &Script, options: &CheckOptions) -> Result<MutationReport, Error> {
        self.check_mutants_watched(script, options, &mut |_, _| true)
    }
    /// The same; `watch` is told before each mutant how many are done and how many there are, those that do not compile
    /// among them, and ends it by false.
    ///
    /// # Errors
    /// As [`check`](Contract::check).
    pub fn check_mutants_watched(
        &self,
        script: &Script,
        options: &CheckOptions,
        watch: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<MutationReport, Error> {
        let mut compiler = Engine::new().try_client()?;
        let mut compiles = |source: &[u8]| -> Result<bool, Error> {
            let mut reply = Reply::new();
            compiler.call_into([b"SCRIPT", &b"LOAD"[..], source], &mut reply)?;
            let compiles = !reply.is_error();
            // Nothing is kept of one that was tried.
            compiler.call_into(["SCRIPT", "FLUSH"], &mut reply)?;
            Ok(compiles)
        };
        let options = CheckOptions { shrinks: false, covers: false, failures: 1, ..options.clone() };
        let mutants = Mutant::of(script.source());
        let (mut fates, count) = (Vec::new(), mutants.len());
        for (done, mutant) in mutants.into_iter().enumerate() {
            if !watch(done, count) {
                break;
            }
            let source = mutant.source();
            if compiles(&source)? {
                let report = self.check_with(&Script::new(&source), &options, CheckHooks::default())?;
                fates.push((mutant, report.failures().first().map(|failure| failure.rule())));
            }
        }
        Ok(MutationReport { name: self.name().to_owned(), fates })
    }
}
