//! From the text of a protocol to its tree: line by line, blocks by `end`. Expressions stand in `expression`.

use super::expression::Cursor;
use super::language::{Clients, Command, Invariant, Mistake, Place, Protocol, Source, Statement};

/// Reads a protocol.
///
/// # Errors
/// The first mistake, with its line and column.
pub(super) fn parse(text: &str) -> Result<Protocol, Mistake> {
    let mut lines = Lines { lines: text.lines().collect(), at: 0, depth: 0, loops: 0 };
    let mut protocol = Protocol::default();
    while let Some(mut line) = lines.next() {
        let at = line.place();
        match line.word().as_str() {
            "let" => {
                let at = line.place();
                let name = line.name_of_value()?;
                if protocol.constants.iter().any(|(other, _)| *other == name) {
                    return at.mistake(format!("{name} has its value already"));
                }
                line.expect("=")?;
                protocol.constants.push((name, line.expression(false)?));
            }
            "setup" => protocol.setup.push(line.command()?),
            "watch" => protocol.watched.extend(line.command()?.words),
            "time" => protocol.time_ms = Some(line.integer()?),
            "faults" => faults(&mut line, &mut protocol)?,
            "client" | "clients" => {
                let more = clients(&mut line, &mut lines, at, &protocol)?;
                protocol.clients.push(more);
            }
            "invariant" => protocol.invariants.push(invariant(&mut line)?),
            "end" => return at.mistake("there is no block that this `end` could end"),
            other => {
                return at.mistake(format!(
                    "{other:?} begins no line of a protocol: let, setup, watch, time, faults, client or invariant"
                ));
            }
        }
        line.at_end()?;
    }
    if protocol.clients.is_empty() {
        return Place { line: 1, column: 1 }.mistake("a protocol has a client: client NAME ... end");
    }
    Ok(protocol)
}

/// The lines of a file that say something.
struct Lines<'t> {
    lines: Vec<&'t str>,
    at: usize,
    /// How many blocks are open, and how many of them are loops.
    depth: usize,
    loops: usize,
}

/// Blocks are nested so deep and no deeper.
const DEPTH_MAX: usize = 100;

impl<'t> Lines<'t> {
    fn next(&mut self) -> Option<Cursor<'t>> {
        while let Some(text) = self.lines.get(self.at) {
            self.at += 1;
            let mut cursor = Cursor::new(text, self.at);
            if !cursor.is_over() {
                return Some(cursor);
            }
        }
        None
    }
}

fn faults(line: &mut Cursor<'_>, protocol: &mut Protocol) -> Result<(), Mistake> {
    while !line.is_over() {
        let at = line.place();
        let name = line.name("a fault, as clock-jumps=1")?;
        if protocol.faults.iter().any(|(other, ..)| *other == name) {
            return at.mistake(format!("how often {name} may happen is said already"));
        }
        line.expect("=")?;
        let most = usize::try_from(line.integer()?)
            .or_else(|_| at.mistake("a fault happens so often: 0 or more"))?;
        protocol.faults.push((name, most, at));
    }
    Ok(())
}

fn clients(
    line: &mut Cursor<'_>,
    lines: &mut Lines<'_>,
    at: Place,
    before: &Protocol,
) -> Result<Clients, Mistake> {
    let mut names = Vec::new();
    while !line.is_over() {
        let at = line.place();
        let name = line.name("the name of a client")?;
        if before.clients.iter().flat_map(|clients| &clients.names).chain(&names).any(|other| *other == name)
        {
            return at.mistake(format!("a client is named {name:?} already"));
        }
        names.push(name);
    }
    if names.is_empty() {
        return at.mistake("a client has a name: client A");
    }
    let (body, _) = block(lines, at, &["end"])?;
    Ok(Clients { names, body })
}

fn invariant(line: &mut Cursor<'_>) -> Result<Invariant, Mistake> {
    let name = line.quoted()?;
    let at = line.place();
    let at_each_step = match (line.word().as_str(), line.word().as_str()) {
        ("at", "end") => false,
        ("at", "each") => true,
        _ => return at.mistake("an invariant holds `at end` or `at each step`"),
    };
    if at_each_step {
        let at = line.place();
        if line.word() != "step" {
            return at.mistake("an invariant holds `at end` or `at each step`");
        }
    }
    line.expect(":")?;
    Ok(Invariant { name, at_each_step, holds: line.expression(true)? })
}

/// The statements up to one of these words, and which it was.
fn block(
    lines: &mut Lines<'_>,
    opened: Place,
    ends: &[&str],
) -> Result<(Vec<Statement>, (String, Place)), Mistake> {
    let mut body = Vec::new();
    lines.depth += 1;
    if lines.depth > DEPTH_MAX {
        return opened.mistake(format!("blocks are nested at most {DEPTH_MAX} deep"));
    }
    loop {
        let Some(mut line) = lines.next() else {
            return opened.mistake("the block that begins here has no `end`");
        };
        let at = line.place();
        if line.begins_command() {
            body.push(Statement::Run(line.command()?));
            continue;
        }
        let word = line.word();
        if ends.contains(&word.as_str()) {
            if word == "elif" {
                lines.at -= 1;
            } else {
                line.at_end()?;
            }
            lines.depth -= 1;
            return Ok((body, (word, at)));
        }
        body.push(statement(&word, &mut line, lines, at)?);
        line.at_end()?;
    }
}

fn statement(
    word: &str,
    line: &mut Cursor<'_>,
    lines: &mut Lines<'_>,
    at: Place,
) -> Result<Statement, Mistake> {
    Ok(match word {
        "let" => {
            let name = line.name_of_value()?;
            line.expect("=")?;
            Statement::Let(name, source(line)?)
        }
        "if" => branches(line, lines, at)?,
        "while" => {
            let condition = line.expression(false)?;
            line.at_end()?;
            lines.loops += 1;
            let (body, _) = block(lines, at, &["end"])?;
            lines.loops -= 1;
            Statement::While(condition, body)
        }
        "break" if lines.loops == 0 => {
            return at.mistake("`break` ends a `while`, and there is none around it");
        }
        "break" => Statement::Break,
        "stop" => Statement::Stop,
        "sleep" => Statement::Sleep(line.expression(false)?),
        "note" => Statement::Note(line.expression(false)?),
        "fail" => Statement::Fail(line.expression(false)?),
        "tally" => {
            let name = line.name("what is counted")?;
            let by = if line.is_over() { None } else { Some(line.expression(false)?) };
            Statement::Tally(name, by)
        }
        other => {
            return at.mistake(format!(
                "{other:?} begins no statement: a command in capitals, let, if, while, break, stop, sleep, note, tally or fail"
            ));
        }
    })
}

fn source(line: &mut Cursor<'_>) -> Result<Source, Mistake> {
    let tries = line.takes_word("try");
    if line.begins_command() {
        return Ok(Source::Command { command: line.command()?, tries });
    }
    if tries {
        return line.place().mistake("`try` stands before a command");
    }
    Ok(Source::Value(line.expression(false)?))
}

fn branches(line: &mut Cursor<'_>, lines: &mut Lines<'_>, at: Place) -> Result<Statement, Mistake> {
    let mut branches = Vec::new();
    let mut condition = line.expression(false)?;
    line.at_end()?;
    loop {
        let (body, (ended, place)) = block(lines, at, &["elif", "else", "end"])?;
        branches.push((condition, body));
        match ended.as_str() {
            "elif" => {
                let Some(mut next) = lines.next() else { return place.mistake("`elif` has a condition") };
                next.word();
                condition = next.expression(false)?;
                next.at_end()?;
            }
            "else" => return Ok(Statement::If(branches, block(lines, at, &["end"])?.0)),
            _ => return Ok(Statement::If(branches, Vec::new())),
        }
    }
}

impl Cursor<'_> {
    /// The words up to the end of the line.
    fn command(&mut self) -> Result<Command, Mistake> {
        let at = self.place();
        let mut words = Vec::new();
        while !self.is_over() {
            words.push(self.command_word("")?);
        }
        if words.is_empty() {
            return at.mistake("here stand the words of a command, or keys");
        }
        Ok(Command { at, words })
    }
}
