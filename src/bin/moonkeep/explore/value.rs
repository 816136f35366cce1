//! Values of a protocol, and what expressions make of them.

use moonkeep::ReplyRef;

use super::language::{Expr, Kind, Mistake, Operator, Part, Place};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Nil,
    Int(i64),
    Text(Vec<u8>),
    List(Vec<Value>),
    /// An error reply, or a lost connection.
    Error(String),
}

/// What a name, a function and a command mean where an expression stands.
pub(super) trait Scope {
    fn name(&self, name: &str) -> Option<Value>;
    /// The functions that only this place has.
    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>>;
    fn ask(&self, words: &[Vec<u8>]) -> Value;
}

impl Value {
    pub(super) fn of(reply: &ReplyRef<'_>) -> Value {
        match reply {
            ReplyRef::Int(n) => Value::Int(*n),
            ReplyRef::Nil | ReplyRef::NilArray => Value::Nil,
            ReplyRef::Bulk(text) | ReplyRef::Status(text) => Value::Text(text.to_vec()),
            ReplyRef::Error(text) => Value::Error(String::from_utf8_lossy(text).into_owned()),
            ReplyRef::Array(items) | ReplyRef::Set(items) | ReplyRef::Push(items) => {
                Value::List((*items).map(|item| Value::of(&item)).collect())
            }
            ReplyRef::Map(items) | ReplyRef::Attribute(items) => {
                Value::List((*items).map(|item| Value::of(&item)).collect())
            }
            other => Value::Text(other.to_string().into_bytes()),
        }
    }

    /// The integer that it is or reads as.
    fn int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// All but nil, 0 and the empty text; 0 may be a number or a text, as a reply has it.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Value::Nil | Value::Int(0) => false,
            Value::Text(text) => !text.is_empty() && text != b"0",
            _ => true,
        }
    }

    /// As the word of a command, or in a text.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Value::Int(n) => Some(n.to_string().into_bytes()),
            Value::Text(text) => Some(text.clone()),
            Value::Error(text) => Some(text.clone().into_bytes()),
            Value::Nil | Value::List(_) => None,
        }
    }

    /// For people.
    pub(super) fn show(&self) -> String {
        match self {
            Value::Nil => "nil".into(),
            Value::List(items) => {
                format!("[{}]", items.iter().map(Value::show).collect::<Vec<_>>().join(", "))
            }
            other => String::from_utf8_lossy(&other.bytes().unwrap_or_default()).into_owned(),
        }
    }

    fn is_as(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Int(n), text @ Value::Text(_)) | (text @ Value::Text(_), Value::Int(n)) => {
                text.int() == Some(*n)
            }
            _ => self == other,
        }
    }
}

/// The bytes of a word of a command.
pub(super) fn word(parts: &[Part], scope: &dyn Scope) -> Result<Vec<u8>, Mistake> {
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => bytes.extend_from_slice(text),
            Part::Value(expr) => {
                let value = evaluate(expr, scope)?;
                match value.bytes() {
                    Some(text) => bytes.extend(text),
                    None => return expr.at.mistake(format!("{} is no word of a command", value.show())),
                }
            }
        }
    }
    Ok(bytes)
}

pub(super) fn words(command: &super::language::Command, scope: &dyn Scope) -> Result<Vec<Vec<u8>>, Mistake> {
    command.words.iter().map(|parts| word(parts, scope)).collect()
}

pub(super) fn evaluate(expr: &Expr, scope: &dyn Scope) -> Result<Value, Mistake> {
    let truth = |holds: bool| Value::Int(i64::from(holds));
    Ok(match &expr.kind {
        Kind::Int(n) => Value::Int(*n),
        Kind::Text(text) => Value::Text(text.clone()),
        Kind::Nil => Value::Nil,
        Kind::Name(name) => match scope.name(name) {
            Some(value) => value,
            None => return expr.at.mistake(format!("nothing is named {name:?} here")),
        },
        Kind::Not(inner) => truth(!evaluate(inner, scope)?.is_true()),
        Kind::Minus(inner) => Value::Int(number(inner, scope)?.wrapping_neg()),
        Kind::Binary(operator, left, right) => return binary(*operator, left, right, expr.at, scope),
        Kind::Call(name, arguments) => {
            // Only who asks for an error may be answered one.
            let evaluate = if matches!(name.as_str(), "is_error" | "is_lost") { answer } else { evaluate };
            let arguments =
                arguments.iter().map(|one| evaluate(one, scope)).collect::<Result<Vec<_>, _>>()?;
            match call(name, &arguments, scope) {
                Ok(value) => value,
                Err(text) => return expr.at.mistake(text),
            }
        }
        Kind::Ask(command) => match answer(expr, scope)? {
            Value::Error(text) => {
                return command.at.mistake(format!("{text}; where that may be, ask with is_error([...])"));
            }
            value => value,
        },
    })
}

/// The value of an expression; where it is a command, its error too.
fn answer(expr: &Expr, scope: &dyn Scope) -> Result<Value, Mistake> {
    match &expr.kind {
        Kind::Ask(command) => Ok(scope.ask(&words(command, scope)?)),
        _ => evaluate(expr, scope),
    }
}

fn number(expr: &Expr, scope: &dyn Scope) -> Result<i64, Mistake> {
    let value = evaluate(expr, scope)?;
    match value.int() {
        Some(n) => Ok(n),
        None => expr.at.mistake(format!("{} is no integer", value.show())),
    }
}

fn binary(
    operator: Operator,
    left: &Expr,
    right: &Expr,
    at: Place,
    scope: &dyn Scope,
) -> Result<Value, Mistake> {
    let truth = |holds: bool| Ok(Value::Int(i64::from(holds)));
    match operator {
        Operator::Or => {
            let value = evaluate(left, scope)?;
            return if value.is_true() { Ok(value) } else { evaluate(right, scope) };
        }
        Operator::And => {
            let value = evaluate(left, scope)?;
            return if value.is_true() { evaluate(right, scope) } else { Ok(value) };
        }
        Operator::Equal => return truth(evaluate(left, scope)?.is_as(&evaluate(right, scope)?)),
        Operator::Unequal => return truth(!evaluate(left, scope)?.is_as(&evaluate(right, scope)?)),
        Operator::Join => {
            let (mut one, other) = (evaluate(left, scope)?.show(), evaluate(right, scope)?.show());
            one.push_str(&other);
            return Ok(Value::Text(one.into_bytes()));
        }
        _ => {}
    }
    let (a, b) = (number(left, scope)?, number(right, scope)?);
    let result = match operator {
        Operator::Less => return truth(a < b),
        Operator::LessOrEqual => return truth(a <= b),
        Operator::Greater => return truth(a > b),
        Operator::GreaterOrEqual => return truth(a >= b),
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    match result {
        Some(n) => Ok(Value::Int(n)),
        None => at.mistake(format!("there is no such integer: {a} and {b}")),
    }
}

/// The functions that every expression has, and those of its place.
fn call(name: &str, arguments: &[Value], scope: &dyn Scope) -> Result<Value, String> {
    if let Some(result) = scope.call(name, arguments) {
        return result;
    }
    match (name, arguments) {
        ("int", [value]) => Ok(value.int().map_or(Value::Nil, Value::Int)),
        ("len", [Value::List(items)]) => Ok(Value::Int(items.len() as i64)),
        ("len", [value]) => Ok(Value::Int(value.bytes().map_or(0, |bytes| bytes.len() as i64))),
        ("item", [Value::List(items), Value::Int(at)]) => {
            let at = usize::try_from(*at).ok().and_then(|at| at.checked_sub(1));
            Ok(at.and_then(|at| items.get(at)).cloned().unwrap_or(Value::Nil))
        }
        ("item", [Value::Nil, _]) => Ok(Value::Nil),
        ("is_error", [value]) => Ok(Value::Int(i64::from(matches!(value, Value::Error(_))))),
        ("is_lost", [value]) => Ok(Value::Int(i64::from(*value == Value::Error(LOST.into())))),
        ("int" | "len" | "is_error" | "is_lost", _) => Err(format!("{name} takes one value")),
        ("item", _) => Err("item takes a list and a number from 1 on".into()),
        _ => Err(format!("there is no function {name:?} here: {NO_FUNCTION}")),
    }
}

/// Which functions there are.
pub(super) const NO_FUNCTION: &str = "int, len, item, is_error, is_lost; file in a `let` before the clients; now in clients and \
                                      invariants; tally, is_done and is_crashed in invariants";

/// What a call that was lost gives.
pub(super) const LOST: &str = "connection lost";
