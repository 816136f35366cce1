//! What stands behind the name of a key or an argument: its type, its grammar, and the words of a `key` clause. Clauses
//! are taken apart in `header`; what a grammar means is in `grammar`.

use super::cursor::Cursor;
use super::error::{ContractError, Position};
use super::grammar::{Form, Grammar};
use super::lexer::Token;
use super::{Access, Key, KeyType, Ttl};

const TYPES: [&str; 6] = ["list", "hash", "set", "zset", "stream", "string"];
const GRAMMARS: [&str; 4] = ["int", "token", "bytes", "one_of"];

/// The type of a key, and the grammar of a string.
pub(super) fn key_type(cursor: &mut Cursor<'_>) -> Result<KeyType, ContractError> {
    let (word, at) = cursor.name("the type of the key")?;
    let kind = match TYPES.into_iter().find(|name| *name == word) {
        Some("string") => return Ok(KeyType::String(grammar(cursor)?.unwrap_or(Grammar::ANY))),
        Some(name) => KeyType::Other(name),
        None if word == "any" => KeyType::Any,
        None => {
            return Err(at.error(format!(
                "{word:?} is no type of a key; types are string, list, hash, set, zset, stream, any"
            )));
        }
    };
    match cursor.peek() {
        Some(Token::Name(next)) if GRAMMARS.contains(&next.as_str()) => {
            Err(cursor.position().error(format!("a grammar stands behind string; {word} has none")))
        }
        _ => Ok(kind),
    }
}

/// The words after the type of a key, up to the end of the clause.
pub(super) fn key_words(cursor: &mut Cursor<'_>, key: &mut Key) -> Result<(), ContractError> {
    const EXCLUDED: [[&str; 2]; 4] =
        [["required", "optional"], ["ro", "rw"], ["ro", "rm"], ["canonical", "digits"]];
    let mut said: Vec<&str> = Vec::new();
    while !cursor.is_done() {
        let (at, word) = (cursor.position(), key_word(cursor, key)?);
        let excludes =
            |other: &&&str| EXCLUDED.iter().any(|pair| pair.contains(&word) && pair.contains(*other));
        if said.contains(&word) {
            return Err(at.error(format!("{word} is told twice")));
        }
        if let Some(other) = said.iter().find(excludes) {
            return Err(at.error(format!("{word} does not go with {other}")));
        }
        said.push(word);
    }
    Ok(())
}

fn key_word<'a>(cursor: &mut Cursor<'a>, key: &mut Key) -> Result<&'a str, ContractError> {
    const WANTED: &str = "required, optional, ro, rw, rm, ttl=kept, ttl=set, ttl=dropped or ttl=any";
    let wanted = match key.kind {
        KeyType::String(Grammar::Int { .. }) => cursor.wanted(&format!("canonical, digits, {WANTED}")),
        _ => cursor.wanted(WANTED),
    };
    let at = cursor.position();
    let Some(Token::Name(word)) = cursor.peek() else { return Err(wanted) };
    cursor.next();
    match word.as_str() {
        "required" => key.required = true,
        "optional" => key.required = false,
        "ro" => key.access = Access::default(),
        "rw" => key.access.write = true,
        "rm" => key.access.remove = true,
        "ttl" => key.ttl = ttl(cursor)?,
        "canonical" | "digits" => match &mut key.kind {
            KeyType::String(grammar @ Grammar::Int { .. }) => set_form(word, grammar, at)?,
            _ => return Err(wanted),
        },
        word if GRAMMARS.contains(&word) => {
            return Err(at.error("the grammar of a string stands right behind its type"));
        }
        _ => return Err(wanted),
    }
    Ok(word)
}

fn ttl(cursor: &mut Cursor<'_>) -> Result<Ttl, ContractError> {
    cursor.expect("=")?;
    let (word, at) = cursor.name("kept, set, dropped or any")?;
    match word {
        "kept" => Ok(Ttl::Kept),
        "set" => Ok(Ttl::Set),
        "dropped" => Ok(Ttl::Dropped),
        "any" => Ok(Ttl::Any),
        _ => Err(at.error(format!("{word:?} is no rule for a TTL; they are kept, set, dropped, any"))),
    }
}

/// A grammar, if one is next.
fn grammar(cursor: &mut Cursor<'_>) -> Result<Option<Grammar>, ContractError> {
    if cursor.takes_word("int") {
        let (min, max) = cursor.bounds()?;
        return Ok(Some(Grammar::Int { min, max, form: Form::Canonical }));
    }
    if cursor.takes_word("token") {
        return Ok(Some(Grammar::TOKEN));
    }
    if cursor.takes_word("bytes") {
        if !matches!(cursor.peek(), Some(Token::Sign("("))) {
            return Ok(Some(Grammar::ANY));
        }
        let at = cursor.position();
        let (min, max) = cursor.bounds()?;
        let sizes = usize::try_from(min).ok().zip(usize::try_from(max).ok());
        let (min, max) = sizes.ok_or_else(|| at.error("a number of bytes is not negative"))?;
        if min > Grammar::BYTES_MOST {
            return Err(at.error(format!("a text has at most {} bytes, not {min}", Grammar::BYTES_MOST)));
        }
        return Ok(Some(Grammar::Bytes { min, max }));
    }
    if cursor.takes_word("one_of") {
        cursor.expect("(")?;
        let mut texts = vec![cursor.text("a text in quotes")?];
        while cursor.takes(",") {
            texts.push(cursor.text("a text in quotes")?);
        }
        cursor.expect_one_of("\",\" or \")\"", ")")?;
        return Ok(Some(Grammar::OneOf(texts)));
    }
    Ok(None)
}

/// The grammar of an argument, and nothing behind it.
pub(super) fn argument(cursor: &mut Cursor<'_>) -> Result<Grammar, ContractError> {
    const WANTED: &str = "a grammar: int(MIN, MAX), token, bytes, bytes(MIN, MAX) or one_of(\"a\", ...)";
    let mut grammar = grammar(cursor)?.ok_or_else(|| cursor.wanted(WANTED))?;
    if matches!(grammar, Grammar::Int { .. }) {
        let wanted = cursor.wanted("canonical, digits or the end of the clause");
        if let Some(Token::Name(word)) = cursor.peek() {
            let at = cursor.position();
            cursor.next();
            if !["canonical", "digits"].contains(&word.as_str()) {
                return Err(wanted);
            }
            set_form(word, &mut grammar, at)?;
        }
    }
    cursor.done()?;
    Ok(grammar)
}

/// `canonical` or `digits` behind an integer.
fn set_form(word: &str, grammar: &mut Grammar, at: Position) -> Result<(), ContractError> {
    let Grammar::Int { min, form, .. } = grammar else { return Ok(()) };
    if word == "digits" && *min < 0 {
        return Err(at.error(format!("digits have no sign; the least value is 0 then, not {min}")));
    }
    *form = if word == "digits" { Form::Digits } else { Form::Canonical };
    Ok(())
}
