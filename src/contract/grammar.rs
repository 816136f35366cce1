//! What the text of an argument, or of a string key, may be: `int(0, 9) canonical`, `one_of("a", "b")`, `token`, `bytes`,
//! `json`.

use super::json::is_json;

/// The grammar of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Grammar {
    /// Any bytes, their number within the bounds; a `token` has at least one.
    Bytes { min: usize, max: usize },
    /// A decimal integer within the bounds.
    Int { min: i64, max: i64, form: Form },
    /// One of these texts.
    OneOf(Vec<Vec<u8>>),
    /// One value of JSON.
    Json,
}

/// How an integer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Its one form: no plus, no leading zero, no `-0`.
    Canonical,
    /// One decimal digit or more, leading zeros among them; no sign.
    Digits,
}

/// How a text, or a key, breaks its grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    /// The key is required and not there.
    Missing,
    /// The key holds another type.
    Type,
    /// The text has not the form.
    Syntax,
    /// The text has the form, its value or length is out of bounds.
    Range,
}

impl Fault {
    pub(super) const NAMES: [(&'static str, Fault); 4] = [
        ("missing", Fault::Missing),
        ("type", Fault::Type),
        ("syntax", Fault::Syntax),
        ("range", Fault::Range),
    ];
    pub(super) fn name(self) -> &'static str {
        match self {
            Fault::Missing => "missing",
            Fault::Type => "type",
            Fault::Syntax => "syntax",
            Fault::Range => "range",
        }
    }
}

impl Grammar {
    /// The longest text that a client can send.
    pub(super) const BYTES_MOST: usize = 512 << 20;
    pub(super) const ANY: Grammar = Grammar::Bytes { min: 0, max: usize::MAX };
    pub(super) const TOKEN: Grammar = Grammar::Bytes { min: 1, max: usize::MAX };

    /// How the text breaks the grammar, if it does.
    pub(super) fn fault(&self, text: &[u8]) -> Option<Fault> {
        match self {
            Grammar::Bytes { min, max } => (text.len() < *min || text.len() > *max).then_some(Fault::Range),
            Grammar::OneOf(texts) => (!texts.iter().any(|one| one == text)).then_some(Fault::Syntax),
            Grammar::Json => (!is_json(text)).then_some(Fault::Syntax),
            Grammar::Int { min, max, form } => match form.read(text) {
                None => Some(Fault::Syntax),
                Some(value) => (value < i128::from(*min) || value > i128::from(*max)).then_some(Fault::Range),
            },
        }
    }
    /// The faults that texts can have under this grammar.
    pub(super) fn faults(&self) -> &'static [Fault] {
        match self {
            Grammar::Bytes { min: 0, max: usize::MAX } => &[],
            Grammar::Bytes { .. } => &[Fault::Range],
            Grammar::OneOf(_) | Grammar::Json => &[Fault::Syntax],
            Grammar::Int { .. } => &[Fault::Syntax, Fault::Range],
        }
    }
}

impl Form {
    /// The value of an integer in this form; one that is too long for any bound is still told from what has no form.
    pub(super) fn read(self, text: &[u8]) -> Option<i128> {
        let (negative, digits) = match (self, text) {
            (Form::Canonical, [b'-', digits @ ..]) => (true, digits),
            _ => (false, text),
        };
        let (first, rest) = digits.split_first()?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        if self == Form::Canonical && *first == b'0' && (negative || !rest.is_empty()) {
            return None;
        }
        let value = digits
            .iter()
            .fold(0i128, |value, digit| value.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
        Some(if negative { -value } else { value })
    }
}

impl std::fmt::Display for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Grammar::Bytes { min: 0, max: usize::MAX } => f.write_str("bytes"),
            Grammar::Bytes { min: 1, max: usize::MAX } => f.write_str("token"),
            Grammar::Bytes { min, max } => write!(f, "bytes({min}, {max})"),
            Grammar::Int { min, max, form: Form::Canonical } => write!(f, "int({min}, {max})"),
            Grammar::Int { min, max, form: Form::Digits } => write!(f, "int({min}, {max}) digits"),
            Grammar::Json => f.write_str("json"),
            Grammar::OneOf(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| crate::util::words::quote(text)).collect();
                write!(f, "one_of({})", texts.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_a_form_and_bounds() {
        let canonical = Grammar::Int { min: -5, max: 1_000_000_000, form: Form::Canonical };
        for text in ["0", "-5", "7", "1000000000"] {
            assert_eq!(canonical.fault(text.as_bytes()), None, "{text}");
        }
        for text in ["", "-", "-0", "00", "01", "+1", " 1", "1 ", "1\n", "1e3", "1.0", "0x1", "１", "--1"] {
            assert_eq!(canonical.fault(text.as_bytes()), Some(Fault::Syntax), "{text}");
        }
        for text in ["-6", "1000000001", "99999999999999999999", &"9".repeat(400)] {
            assert_eq!(canonical.fault(text.as_bytes()), Some(Fault::Range), "{text}");
        }
        let digits = Grammar::Int { min: 1, max: 604_800_000, form: Form::Digits };
        for text in ["1", "01", "0005000", "604800000", &format!("{}5000", "0".repeat(400))] {
            assert_eq!(digits.fault(text.as_bytes()), None, "{text}");
        }
        for text in ["0", "00", "604800001", &"0".repeat(400), &"9".repeat(400)] {
            assert_eq!(digits.fault(text.as_bytes()), Some(Fault::Range), "{text}");
        }
        for text in ["", "-1", "+1", " 1", "1e3"] {
            assert_eq!(digits.fault(text.as_bytes()), Some(Fault::Syntax), "{text}");
        }
    }

    #[test]
    fn other_texts_have_lengths_or_are_listed() {
        assert_eq!(Grammar::ANY.fault(b""), None);
        assert_eq!(Grammar::TOKEN.fault(b""), Some(Fault::Range));
        assert_eq!(Grammar::TOKEN.fault(b"\0"), None);
        let short = Grammar::Bytes { min: 2, max: 3 };
        assert_eq!(
            [b"a".len(), 2, 3, 4].map(|n| short.fault(&vec![b'x'; n]).is_some()),
            [true, false, false, true]
        );
        let one_of = Grammar::OneOf(vec![b"on".to_vec(), b"off".to_vec()]);
        assert_eq!(one_of.fault(b"on"), None);
        assert_eq!(one_of.fault(b"ON"), Some(Fault::Syntax));
        assert_eq!(one_of.to_string(), "one_of(\"on\", \"off\")");
    }
}
