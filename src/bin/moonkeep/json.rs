//! What a run gave, as JSON for programs. Text is a string; bytes that are no UTF-8 are `{"hex": "ff00"}`. A reply
//! keeps its types: what JSON has no type for is an object with one member that names it.

use moonkeep::ReplyRef;
use std::fmt;

/// A JSON value.
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Vec<u8>),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(crate) fn text(bytes: &[u8]) -> Json {
        Json::Text(bytes.to_vec())
    }
    /// Words as a list of texts.
    pub(crate) fn words(words: &[Vec<u8>]) -> Json {
        Json::List(words.iter().map(|word| Json::text(word)).collect())
    }
    fn named(name: &'static str, value: Json) -> Json {
        Json::Object(vec![(name, value)])
    }
    /// A reply with its types.
    pub(crate) fn reply(value: ReplyRef<'_>) -> Json {
        let list = |items: moonkeep::reply::Items<'_>| Json::List(items.map(Json::reply).collect());
        let name = if matches!(value, ReplyRef::Map(_)) { "map" } else { "attribute" };
        match value {
            ReplyRef::Int(number) => Json::Int(number),
            ReplyRef::Bulk(bytes) => Json::text(bytes),
            ReplyRef::Status(text) => Json::named("status", Json::text(text)),
            ReplyRef::Error(text) => Json::named("error", Json::text(text)),
            ReplyRef::Nil | ReplyRef::NilArray => Json::Null,
            ReplyRef::Bool(value) => Json::Bool(value),
            ReplyRef::Double(value) | ReplyRef::Coordinate(value) => {
                Json::named("double", Json::Double(value))
            }
            ReplyRef::BigNumber(digits) => Json::named("big_number", Json::text(digits)),
            ReplyRef::Verbatim(_, text) => Json::named("verbatim", Json::text(text)),
            ReplyRef::Array(items) => list(items),
            ReplyRef::Set(items) => Json::named("set", list(items)),
            ReplyRef::Push(items) => Json::named("push", list(items)),
            ReplyRef::Map(mut items) | ReplyRef::Attribute(mut items) => {
                let mut pairs = Vec::new();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    pairs.push(Json::List(vec![Json::reply(key), Json::reply(value)]));
                }
                Json::named(name, Json::List(pairs))
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Int(number) => write!(f, "{number}"),
            Json::Double(value) if value.is_finite() => write!(f, "{value}"),
            Json::Double(value) => write!(f, "\"{value}\""),
            Json::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => string(text, f),
                Err(_) => {
                    f.write_str("{\"hex\":\"")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    f.write_str("\"}")
                }
            },
            Json::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}\"{name}\":{value}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            control if control < ' ' || control == '\x7f' => write!(f, "\\u{:04x}", u32::from(control))?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use moonkeep::Reply;

    #[test]
    fn a_reply_keeps_its_types() {
        let mut reply = Reply::new();
        reply.array(12);
        reply.int(i64::MIN);
        reply.bulk("a\"\\\n\u{1}ü".as_bytes());
        reply.bulk(b"\xff\x00");
        reply.ok();
        reply.error_text(b"ERR no");
        reply.nil();
        reply.nil_array();
        reply.boolean(true);
        reply.double(1.5);
        reply.double(f64::INFINITY);
        reply.map(1);
        reply.bulk(b"f");
        reply.set(1);
        reply.int(1);
        reply.big_number(b"12");
        let shown = Json::reply(reply.view()).to_string();
        let wanted = r#"[-9223372036854775808,"a\"\\\n\u0001ü",{"hex":"ff00"},{"status":"OK"},{"error":"ERR no"},null,null,true,{"double":1.5},{"double":"inf"},{"map":[["f",{"set":[1]}]]},{"big_number":"12"}]"#;
        assert_eq!(shown, wanted);
        assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok());
    }
}
