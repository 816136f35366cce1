//! What a parameter is: its kind, where its value stands, when it can be changed, and how a value is read, in the
//! server's words. The parameters themselves are in `rows`, values of a form of their own in `values`.

use super::Config;
use crate::util::bytes::Bytes;
use crate::util::num::{parse_i64, parse_memory};
use crate::value::preview::quoted;

/// Texts that are empty without being none: a configuration file may say so.
const EMPTY_TEXTS: [&str; 3] = ["aclfile", "ignore-warnings", "logfile"];

/// Whether a value is one, and if not, why.
type Check = fn(&[u8]) -> Result<(), &'static str>;

/// One parameter.
pub struct Setting {
    /// The name in lower case.
    pub name: &'static str,
    /// An older name.
    pub alias: Option<&'static str>,
    /// The value of a new engine.
    pub default: &'static str,
    kind: Kind,
    place: Place,
    check: Option<Check>,
    /// Why a value other than the present one cannot be put to use.
    needs: Option<&'static str>,
    /// Only set when the engine is made.
    pub immutable: bool,
    /// Only shown to who asks by its whole name.
    pub hidden: bool,
    /// Changed only when enable-protected-configs says so.
    pub protected: bool,
    /// Not to be shown in logs.
    pub sensitive: bool,
}

/// What values a parameter takes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    YesNo,
    Number {
        min: i128,
        max: i128,
        unit: Unit,
    },
    OneOf(&'static [&'static str]),
    /// Text up to a NUL.
    Text,
    /// Any bytes.
    Bytes,
    /// A form of its own: gives the value as it is shown.
    Parsed(fn(&[u8]) -> Result<String, String>),
    /// What the engine keeps in a form of its own.
    Own {
        show: fn(&Config) -> String,
        read: fn(&mut Config, &[u8]) -> Result<(), String>,
    },
}

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Plain,
    Memory,
    /// A size, or below zero a percentage.
    MemoryOrPercent,
    Octal,
}

/// Where a value stands.
#[derive(Clone, Copy)]
enum Place {
    /// Among those that only CONFIG knows.
    Kept,
    Count(fn(&mut Config) -> &mut u64),
    Signed(fn(&mut Config) -> &mut i64),
    Yes(fn(&mut Config) -> &mut bool),
}

const fn row(name: &'static str, default: &'static str, kind: Kind) -> Setting {
    Setting {
        name,
        alias: None,
        default,
        kind,
        place: Place::Kept,
        check: None,
        needs: None,
        immutable: false,
        hidden: false,
        protected: false,
        sensitive: false,
    }
}

pub(super) const fn yes_no(name: &'static str, default: &'static str) -> Setting {
    row(name, default, Kind::YesNo)
}
pub(super) const fn number(name: &'static str, default: &'static str, min: i128, max: i128) -> Setting {
    row(name, default, Kind::Number { min, max, unit: Unit::Plain })
}
pub(super) const fn memory(name: &'static str, default: &'static str, min: i128, max: i128) -> Setting {
    row(name, default, Kind::Number { min, max, unit: Unit::Memory })
}
pub(super) const fn octal(name: &'static str, default: &'static str, min: i128, max: i128) -> Setting {
    row(name, default, Kind::Number { min, max, unit: Unit::Octal })
}
pub(super) const fn one_of(
    name: &'static str,
    default: &'static str,
    names: &'static [&'static str],
) -> Setting {
    row(name, default, Kind::OneOf(names))
}
pub(super) const fn text(name: &'static str, default: &'static str) -> Setting {
    row(name, default, Kind::Text)
}
pub(super) const fn bytes(name: &'static str, default: &'static str) -> Setting {
    row(name, default, Kind::Bytes)
}
pub(super) const fn parsed(
    name: &'static str,
    default: &'static str,
    parse: fn(&[u8]) -> Result<String, String>,
) -> Setting {
    row(name, default, Kind::Parsed(parse))
}
pub(super) const fn own(
    name: &'static str,
    default: &'static str,
    show: fn(&Config) -> String,
    read: fn(&mut Config, &[u8]) -> Result<(), String>,
) -> Setting {
    row(name, default, Kind::Own { show, read })
}

impl Setting {
    pub(super) const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }
    pub(super) const fn count(mut self, field: fn(&mut Config) -> &mut u64) -> Self {
        self.place = Place::Count(field);
        self
    }
    pub(super) const fn signed(mut self, field: fn(&mut Config) -> &mut i64) -> Self {
        self.place = Place::Signed(field);
        self
    }
    pub(super) const fn yes(mut self, field: fn(&mut Config) -> &mut bool) -> Self {
        self.place = Place::Yes(field);
        self
    }
    pub(super) const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }
    /// Another value than the present one needs what the engine does not have.
    pub(super) const fn unless(mut self, text: &'static str) -> Self {
        self.needs = Some(text);
        self
    }
    pub(super) const fn immutable(mut self) -> Self {
        self.immutable = true;
        self
    }
    pub(super) const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
    pub(super) const fn protected(mut self) -> Self {
        self.protected = true;
        self
    }
    pub(super) const fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// The value as CONFIG GET shows it.
    pub fn value(&self, config: &Config) -> Vec<u8> {
        if let Kind::Own { show, .. } = self.kind {
            return show(config).into_bytes();
        }
        let shown = match self.place {
            Place::Kept => return config.bytes(self).to_vec(),
            Place::Count(field) => field(&mut config.clone()).to_string(),
            Place::Signed(field) => field(&mut config.clone()).to_string(),
            Place::Yes(field) => if *field(&mut config.clone()) { "yes" } else { "no" }.to_owned(),
        };
        shown.into_bytes()
    }
    /// A value as a configuration file has it; none where it is given by having no line.
    pub(super) fn in_file(&self, value: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(value);
        let is_size = matches!(self.kind, Kind::Number { unit: Unit::Memory, .. })
            || ["maxmemory-clients", "repl-backlog-size"].contains(&self.name);
        match self.kind {
            Kind::Text | Kind::Bytes => {
                let is_none =
                    value.is_empty() && self.default.is_empty() && !EMPTY_TEXTS.contains(&self.name);
                (!is_none).then(|| quoted(value))
            }
            _ if ["dir", "notify-keyspace-events"].contains(&self.name) => Some(quoted(value)),
            _ => Some(text.parse().ok().filter(|_| is_size).map_or(text.into_owned(), Unit::in_file)),
        }
    }
    /// Sets the value.
    ///
    /// # Errors
    /// With the server's reason.
    pub fn change(&self, config: &mut Config, value: &[u8]) -> Result<(), String> {
        if let Kind::Own { read, .. } = self.kind {
            return read(config, value);
        }
        let shown = self.read(value)?;
        if let Some(check) = self.check {
            check(&shown)?;
        }
        // A number that passed its bounds fits the field it is for.
        let number = || std::str::from_utf8(&shown).unwrap_or_default();
        match self.place {
            Place::Kept => config.keep(self, &shown),
            Place::Count(field) => *field(config) = number().parse().unwrap_or_default(),
            Place::Signed(field) => *field(config) = number().parse().unwrap_or_default(),
            Place::Yes(field) => *field(config) = shown == b"yes",
        }
        Ok(())
    }
    /// Whether a new value can be put to use.
    ///
    /// # Errors
    /// With the server's reason.
    pub fn check_use(&self, before: &Config, after: &Config) -> Result<(), &'static str> {
        match self.needs {
            Some(text) if self.value(before) != self.value(after) => Err(text),
            _ => Ok(()),
        }
    }
    /// Reads a value; gives it as it is shown.
    fn read(&self, value: &[u8]) -> Result<Vec<u8>, String> {
        match self.kind {
            Kind::YesNo => {
                let known =
                    ["yes", "no"].into_iter().find(|word| value.eq_ignore_ascii_case(word.as_bytes()));
                Ok(known.ok_or("argument must be 'yes' or 'no'")?.into())
            }
            Kind::Number { min, max, unit } => {
                let number = unit.read(value)?;
                unit.check(number, min, max)?;
                Ok(unit.show(number).into_bytes())
            }
            Kind::OneOf(names) => {
                let known = names.iter().find(|name| value.eq_ignore_ascii_case(name.as_bytes()));
                known.map(|name| name.as_bytes().to_vec()).ok_or_else(|| one_of_these(names))
            }
            Kind::Text => Ok(until_nul(value).to_vec()),
            Kind::Bytes => Ok(value.to_vec()),
            Kind::Parsed(parse) => parse(value).map(String::into_bytes),
            Kind::Own { .. } => Ok(Vec::new()),
        }
    }
}

impl Unit {
    pub(super) fn read(self, value: &[u8]) -> Result<i128, String> {
        let read = match self {
            Unit::Plain => parse_i64(value).map(i128::from),
            Unit::Memory => parse_memory(value).map(i128::from),
            Unit::MemoryOrPercent => match (parse_memory(value), value.strip_suffix(b"%")) {
                (Some(bytes), _) => Some(i128::from(bytes as i64)),
                (None, Some(percent)) => {
                    parse_i64(percent).filter(|percent| *percent >= 0).map(|percent| -i128::from(percent))
                }
                (None, None) => None,
            },
            Unit::Octal => {
                std::str::from_utf8(value).ok().and_then(|text| i128::from_str_radix(text, 8).ok())
            }
        };
        let text = match self {
            Unit::Plain => "argument couldn't be parsed into an integer",
            Unit::Memory => "argument must be a memory value",
            Unit::MemoryOrPercent => "argument must be a memory or percent value",
            Unit::Octal => "argument couldn't be parsed as an octal number",
        };
        read.ok_or_else(|| text.to_owned())
    }
    pub(super) fn check(self, number: i128, min: i128, max: i128) -> Result<(), String> {
        let is_percentage = self == Unit::MemoryOrPercent && number < 0;
        match (min..=max).contains(&number) {
            true => Ok(()),
            false if is_percentage => Err(format!("percentage argument must be less or equal to {}", -min)),
            false if self == Unit::Octal => {
                Err(format!("argument must be between {min:o} and {max:o} inclusive"))
            }
            false => Err(format!("argument must be between {min} and {max} inclusive")),
        }
    }
    /// A number of bytes as a configuration file has it: in the largest unit of which it is a multiple.
    pub(super) fn in_file(bytes: u64) -> String {
        let units = [(30, "gb"), (20, "mb"), (10, "kb")];
        let unit = units.into_iter().find(|(bits, _)| bytes > 0 && bytes.trailing_zeros() >= *bits);
        unit.map_or_else(|| bytes.to_string(), |(bits, name)| format!("{}{name}", bytes >> bits))
    }
    pub(super) fn show(self, number: i128) -> String {
        match self {
            Unit::MemoryOrPercent if number < 0 => format!("{}%", -number),
            Unit::Octal => format!("{number:o}"),
            _ => number.to_string(),
        }
    }
}

/// What a word must be that is none of these.
pub(super) fn one_of_these(names: &[&str]) -> String {
    format!("argument(s) must be one of the following: {}", names.join(", "))
}

/// The part of a text that a C string function sees.
pub(super) fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

impl Config {
    /// The value of a parameter that only CONFIG knows.
    fn bytes(&self, setting: &Setting) -> &[u8] {
        self.kept.get(setting.name).map_or(setting.default.as_bytes(), Bytes::as_slice)
    }
    fn keep(&mut self, setting: &Setting, value: &[u8]) {
        let kept = std::sync::Arc::make_mut(&mut self.kept);
        if value == setting.default.as_bytes() {
            kept.remove(setting.name);
        } else {
            kept.insert(setting.name, Bytes::from(value));
        }
    }
}
