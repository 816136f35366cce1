//! What stands behind the name of a key or an argument: its type, its grammar, and the words of a `key` clause. Clauses
//! are taken apart in `header`; what a grammar means is in `grammar`.

use super::cursor::Cursor;
use super::error::{ContractError, Position};
use super::grammar::{Form, Grammar};
use super::lexer::Token;
use super::{Access, Elements, Field, Key, KeyType, Presence, Ttl};

const TYPES: [&str; 6] = ["list", "hash", "set", "zset", "stream", "string"];
const GRAMMARS: [&str; 5] = ["int", "token", "bytes", "one_of", "json"];

/// The type of a key, and the grammar of a string.
pub(super) fn key_type(cursor: &mut Cursor<'_>) -> Result<KeyType, ContractError> {
    let (word, at) = cursor.name("the type of the key")?;
    let kind = match TYPES.into_iter().find(|name| *name == word) {
        Some("string") => return Ok(KeyType::String(grammar(cursor)?.unwrap_or(Grammar::ANY))),
        Some(name) => KeyType::Collection(name, elements(cursor, name)?),
        None if word == "any" => KeyType::Any,
        None => {
            return Err(at.error(format!(
                "{word:?} is no type of a key; types are string, list, hash, set, zset, stream, any"
            )));
        }
    };
    match cursor.peek() {
        Some(Token::Name(next)) if GRAMMARS.contains(&next.as_str()) => {
            let told = match kind {
                KeyType::Any => format!("a grammar stands behind string; {word} has none"),
                _ => format!("what a {word} holds is told by of, as in {word} of {next}"),
            };
            Err(cursor.position().error(told))
        }
        _ => Ok(kind),
    }
}

/// What the elements of a key look like: `of GRAMMAR`, or the fields of a hash or a stream in parentheses.
fn elements(cursor: &mut Cursor<'_>, kind: &str) -> Result<Elements, ContractError> {
    let has_fields = matches!(kind, "hash" | "stream");
    if has_fields && cursor.takes("(") {
        return fields(cursor);
    }
    if !cursor.takes_word("of") {
        return Ok(Elements::Any);
    }
    Ok(Elements::Each(formed_grammar(cursor)?))
}

fn fields(cursor: &mut Cursor<'_>) -> Result<Elements, ContractError> {
    let mut fields: Vec<Field> = Vec::new();
    loop {
        let at = cursor.position();
        let name = field_name(cursor)?;
        if fields.iter().any(|field| field.name == name) {
            return Err(
                at.error(format!("the field {} is declared already", crate::util::words::quote(&name)))
            );
        }
        let grammar = formed_grammar(cursor)?;
        let optional = cursor.takes_word("optional");
        fields.push(Field { name, grammar, optional });
        if !cursor.takes(",") {
            break;
        }
    }
    cursor.expect_one_of("optional, \",\" or \")\"", ")")?;
    Ok(Elements::Fields(fields))
}

/// The name of a field: a name, or a text in quotes.
pub(super) fn field_name(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, ContractError> {
    match cursor.peek() {
        Some(Token::Text(_)) => cursor.text("the name of a field"),
        _ => Ok(cursor.name("the name of a field")?.0.as_bytes().to_vec()),
    }
}

/// A grammar with its form right behind it.
fn formed_grammar(cursor: &mut Cursor<'_>) -> Result<Grammar, ContractError> {
    let mut grammar = grammar(cursor)?.ok_or_else(|| cursor.wanted(GRAMMAR_WANTED))?;
    if matches!(grammar, Grammar::Int { .. }) {
        for word in ["canonical", "digits"] {
            let at = cursor.position();
            if cursor.takes_word(word) {
                set_form(word, &mut grammar, at)?;
            }
        }
    }
    Ok(grammar)
}

/// The words after the type of a key, up to the end of the clause.
pub(super) fn key_words(cursor: &mut Cursor<'_>, key: &mut Key) -> Result<(), ContractError> {
    const EXCLUDED: [[&str; 2]; 4] =
        [["required", "optional"], ["ro", "rw"], ["ro", "rm"], ["canonical", "digits"]];
    let mut said: Vec<&str> = Vec::new();
    while !cursor.is_done() {
        if cursor.takes("...") {
            key.many = Some(many(cursor, "keys")?);
            return cursor.done();
        }
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
    const WANTED: &str = "required, optional, ro, rw, rm, ttl=kept, ttl=set, ttl=dropped, ttl=any or \"...\"";
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
    if cursor.takes_word("json") {
        return Ok(Some(Grammar::Json));
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

const GRAMMAR_WANTED: &str =
    "a grammar: int(MIN, MAX), token, bytes, bytes(MIN, MAX), one_of(\"a\", ...) or json";

/// The grammar of an argument, how often it is given, and nothing behind it.
pub(super) fn argument(cursor: &mut Cursor<'_>) -> Result<(Grammar, Presence), ContractError> {
    let grammar = formed_grammar(cursor)?;
    let is_int = matches!(grammar, Grammar::Int { .. });
    if cursor.takes_word("optional") {
        cursor.done()?;
        return Ok((grammar, Presence::Optional));
    }
    if cursor.takes("...") {
        let (min, max) = many(cursor, "arguments")?;
        cursor.done()?;
        return Ok((grammar, Presence::Many { min, max }));
    }
    let form = if is_int { "canonical, digits, " } else { "" };
    cursor.done_after(&format!("{form}optional, \"...\""))?;
    Ok((grammar, Presence::Required))
}

/// How many keys or arguments may be given, behind `...`: any number unless bounds stand there.
fn many(cursor: &mut Cursor<'_>, what: &str) -> Result<(usize, usize), ContractError> {
    let at = cursor.position();
    if !matches!(cursor.peek(), Some(Token::Sign("("))) {
        return Ok((0, usize::MAX));
    }
    let (least, most) = cursor.bounds()?;
    let counts = usize::try_from(least).ok().zip(usize::try_from(most).ok());
    counts.ok_or_else(|| at.error(format!("a number of {what} is not negative")))
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
