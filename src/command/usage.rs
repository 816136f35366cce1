//! The notation of a row's `usage` and what derives from it: the tree of arguments (COMMAND DOCS), the arity,
//! and the help text that redis-cli prints. The text carries all of it, so a row says each thing once.
//! Not here: the rows (commands/*.rs) and the replies of COMMAND (commands/introspection.rs).
//!
//! ```text
//! SET key value condition=[NX|XX]@2.6.12 [GET@6.2.0] expiration=[EX seconds@2.6.12|KEEPTTL@6.0.0]
//!
//! name             an argument (a word with a small letter)   name<type>  of another type than usual
//! TOKEN            a word to be given as it is                name=TOKEN  called otherwise than its word
//! TOKEN argument   an argument behind its token               [argument]  optional
//! name=(a b)       a block                                    name=[a b]  an optional block
//! name=(a|b)       one of several                             name=[a|b]  at most one of several
//! a...             may be repeated                            TOKEN a...+ repeated with its token
//! a@6.2.0          since this version                         a@-2.8.12   deprecated since then
//! a#1              the key spec it belongs to, where that is not the next one; #- for none
//! ```

use std::borrow::Cow;

/// An argument of a command: a leaf, or a group with arguments of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What the documentation calls it.
    pub name: Cow<'static, str>,
    /// What is given for it.
    pub kind: Kind,
    /// The word that introduces it, or that it is.
    pub token: Option<&'static str>,
    /// Since which version of the server.
    pub since: Option<&'static str>,
    /// Since when it is deprecated.
    pub deprecated_since: Option<&'static str>,
    /// The key spec that finds it.
    pub key_spec: Option<u8>,
    /// May be left out.
    pub optional: bool,
    /// May be given several times.
    pub multiple: bool,
    /// The token is repeated too.
    pub multiple_token: bool,
    /// The arguments of a group.
    pub arguments: Vec<Argument>,
}

/// The types of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the server's")]
pub enum Kind {
    String,
    Integer,
    Double,
    Key,
    Pattern,
    UnixTime,
    PureToken,
    OneOf,
    Block,
}

impl Kind {
    /// The name as COMMAND DOCS spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Double => "double",
            Kind::Key => "key",
            Kind::Pattern => "pattern",
            Kind::UnixTime => "unix-time",
            Kind::PureToken => "pure-token",
            Kind::OneOf => "oneof",
            Kind::Block => "block",
        }
    }

    fn of_name(name: &str) -> Option<Kind> {
        [Kind::String, Kind::Integer, Kind::Double, Kind::Key, Kind::Pattern, Kind::UnixTime]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// The type that an argument with this name usually has.
    fn usual(name: &str) -> Kind {
        match name {
            "key" | "key1" | "key2" | "newkey" | "source" | "sourcekey" | "src" | "destination"
            | "destkey" | "dst" => Kind::Key,
            "bit" | "bits" | "client-id" | "cluster_bus_port" | "config-epoch" | "count" | "cursor"
            | "db" | "decrement" | "destination-db" | "end" | "end-slot" | "entries_added"
            | "entries_read" | "frequency" | "increment" | "index" | "index1" | "index2" | "len"
            | "limit" | "milliseconds" | "ms" | "num-matches" | "numkeys" | "numreplicas" | "offset"
            | "port" | "protover" | "rank" | "seconds" | "slot" | "start" | "start-slot" | "stop" | "ttl"
            | "version" | "weight" => Kind::Integer,
            "height" | "latitude" | "longitude" | "radius" | "score" | "timeout" | "width" => Kind::Double,
            "pattern" => Kind::Pattern,
            "unix-time-milliseconds" | "unix-time-seconds" => Kind::UnixTime,
            _ => Kind::String,
        }
    }
}

/// A usage text that does not follow the notation: the rest that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Reads a usage text; `name` is the command's (`config|get`), whose words come first in it.
pub fn parse(name: &str, usage: &'static str) -> Result<Vec<Argument>, Malformed> {
    let mut rest = usage;
    for word in name.split('|') {
        let (head, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        if !head.eq_ignore_ascii_case(word) {
            return Err(Malformed(rest));
        }
        rest = tail;
    }
    let mut parser = Parser { rest, next_key: 0 };
    match parser.items()? {
        (arguments, false) if parser.rest.is_empty() => Ok(arguments),
        _ => Err(Malformed(parser.rest)),
    }
}

/// The arity that follows from the arguments: the number of words of the name and all arguments, negative
/// when that is only the least.
pub fn arity(name: &str, arguments: &[Argument]) -> i32 {
    let (words, fixed) = sum(arguments);
    let words = words + name.split('|').count() as i32;
    if fixed { words } else { -words }
}

fn sum(arguments: &[Argument]) -> (i32, bool) {
    arguments.iter().map(words).fold((0, true), |(all, fixed), (one, exactly)| (all + one, fixed && exactly))
}

/// How many words an argument takes at least, and whether it is always that many.
fn words(argument: &Argument) -> (i32, bool) {
    if argument.optional {
        return (0, false);
    }
    let (inner, fixed) = match argument.kind {
        Kind::Block => sum(&argument.arguments),
        Kind::OneOf => {
            let least = argument.arguments.iter().map(|one| words(one).0).min().unwrap_or(0);
            (least, argument.arguments.iter().all(|one| words(one) == (least, true)))
        }
        Kind::PureToken => (0, true),
        _ => (1, true),
    };
    (inner + i32::from(argument.token.is_some()), fixed && !argument.multiple)
}

/// The syntax without the command's name, as redis-cli's help prints it.
pub fn help(arguments: &[Argument]) -> String {
    join(arguments, " ")
}

fn join(arguments: &[Argument], separator: &str) -> String {
    arguments.iter().map(help_of).collect::<Vec<_>>().join(separator)
}

fn help_of(argument: &Argument) -> String {
    let inner = match argument.kind {
        Kind::OneOf => join(&argument.arguments, "|"),
        Kind::Block => join(&argument.arguments, " "),
        Kind::PureToken => argument.token.unwrap_or_default().to_owned(),
        _ => argument.name.clone().into_owned(),
    };
    let token = argument.token.filter(|_| argument.kind != Kind::PureToken);
    let with_token = |inner: &str| match token {
        Some(token) => format!("{token} {inner}"),
        None => inner.to_owned(),
    };
    let text = match (argument.multiple, argument.multiple_token) {
        (false, _) => with_token(&inner),
        (true, false) => format!("{} [{inner} ...]", with_token(&inner)),
        (true, true) => format!("{0} [{0} ...]", with_token(&inner)),
    };
    if argument.optional { format!("[{text}]") } else { text }
}

struct Parser {
    rest: &'static str,
    /// The key spec that the next key belongs to unless it says otherwise.
    next_key: u8,
}

impl Parser {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A sequence, up to a closing bracket or the end; true when its elements are alternatives.
    fn items(&mut self) -> Result<(Vec<Argument>, bool), Malformed> {
        let (mut arguments, mut alternatives) = (Vec::new(), false);
        while !self.rest.is_empty() && !self.rest.starts_with([')', ']']) {
            if self.eat("|") {
                alternatives = true;
            } else if !self.eat(" ") {
                arguments.push(self.argument()?);
            }
        }
        Ok((arguments, alternatives))
    }

    fn argument(&mut self) -> Result<Argument, Malformed> {
        if self.eat("[") {
            let mut argument = self.argument()?;
            argument.optional = true;
            return if self.eat("]") { Ok(argument) } else { Err(Malformed(self.rest)) };
        }
        let word = self.word()?;
        if self.eat("=") {
            return if self.rest.starts_with(['(', '[']) { self.group(word) } else { self.token_named(word) };
        }
        if !is_token(word) {
            return self.leaf(word);
        }
        match self.introduced()? {
            Some(argument) => Ok(Argument { token: Some(word), ..argument }),
            None => self.token(word, word.to_ascii_lowercase().into()),
        }
    }

    /// The argument behind the token just read, if what follows is one that has no token of its own.
    fn introduced(&mut self) -> Result<Option<Argument>, Malformed> {
        let (rest, next_key) = (self.rest, self.next_key);
        if self.eat(" ") && !self.rest.starts_with('[') {
            let argument = self.argument()?;
            if argument.token.is_none() && !argument.optional {
                return Ok(Some(argument));
            }
        }
        (self.rest, self.next_key) = (rest, next_key);
        Ok(None)
    }

    fn token_named(&mut self, name: &'static str) -> Result<Argument, Malformed> {
        let word = self.word()?;
        self.token(word, name.into())
    }

    fn token(&mut self, word: &'static str, name: Cow<'static, str>) -> Result<Argument, Malformed> {
        let word = if word == "\"\"" { "" } else { word };
        let token = Some(word);
        self.suffixes(Argument { token, ..bare(name, Kind::PureToken) })
    }

    fn group(&mut self, name: &'static str) -> Result<Argument, Malformed> {
        let optional = self.eat("[");
        if !optional {
            self.eat("(");
        }
        let (arguments, alternatives) = self.items()?;
        if !self.eat(if optional { "]" } else { ")" }) {
            return Err(Malformed(self.rest));
        }
        let kind = if alternatives { Kind::OneOf } else { Kind::Block };
        self.suffixes(Argument { optional, arguments, ..bare(name.into(), kind) })
    }

    fn leaf(&mut self, name: &'static str) -> Result<Argument, Malformed> {
        let mut argument = bare(name.into(), Kind::usual(name));
        if self.eat("<") {
            let (kind, rest) = self.rest.split_once('>').ok_or(Malformed(self.rest))?;
            argument.kind = Kind::of_name(kind).ok_or(Malformed(self.rest))?;
            self.rest = rest;
        }
        if self.eat("#") {
            if !self.eat("-") {
                argument.key_spec = Some(self.take(|c| c.is_ascii_digit()).parse().unwrap_or_default());
            }
        } else if argument.kind == Kind::Key {
            argument.key_spec = Some(self.next_key);
        }
        self.next_key = argument.key_spec.map_or(self.next_key, |index| index.saturating_add(1));
        self.suffixes(argument)
    }

    fn suffixes(&mut self, mut argument: Argument) -> Result<Argument, Malformed> {
        argument.multiple = self.eat("...");
        argument.multiple_token = self.eat("+");
        if self.eat("@") {
            argument.since = Some(self.version()).filter(|version| !version.is_empty());
            if self.eat("-") {
                argument.deprecated_since = Some(self.version());
            }
        }
        Ok(argument)
    }

    fn version(&mut self) -> &'static str {
        self.take(|c| c.is_ascii_digit() || c == '.')
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'static str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A word: one character of any kind, so that `=` may be a token, then up to the next mark.
    fn word(&mut self) -> Result<&'static str, Malformed> {
        let first = self.rest.chars().next().ok_or(Malformed(self.rest))?.len_utf8();
        let rest = &self.rest[first..];
        let end = rest.find([' ', '[', ']', '(', ')', '|', '<', '#', '@', '=']).unwrap_or(rest.len());
        let end = rest.find("...").map_or(end, |dots| dots.min(end));
        let (word, rest) = self.rest.split_at(first + end);
        self.rest = rest;
        Ok(word)
    }
}

fn bare(name: Cow<'static, str>, kind: Kind) -> Argument {
    Argument {
        name,
        kind,
        token: None,
        since: None,
        deprecated_since: None,
        key_spec: None,
        optional: false,
        multiple: false,
        multiple_token: false,
        arguments: Vec::new(),
    }
}

fn is_token(word: &str) -> bool {
    !word.contains(|c: char| c.is_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(usage: &'static str) -> Vec<Argument> {
        parse("x", usage).unwrap()
    }

    #[test]
    fn a_usage_gives_arity_and_help() {
        let cases = [
            ("X", 1, ""),
            ("X key", 2, "key"),
            ("X key...", -2, "key [key ...]"),
            ("X [id...]", -1, "[id [id ...]]"),
            ("X key condition=[NX|XX]@2.6.12 [GET]", -2, "key [NX|XX] [GET]"),
            (
                "X from=(FROMMEMBER member|FROMLONLAT at=(longitude latitude)) key",
                -4,
                "FROMMEMBER member|FROMLONLAT longitude latitude key",
            ),
            ("X where=(LEFT|RIGHT) timeout", 3, "LEFT|RIGHT timeout"),
            ("X data=(field value)...", -3, "field value [field value ...]"),
            ("X STREAMS streams=(key... id...)", -4, "STREAMS key [key ...] id [id ...]"),
            (
                "X [PREFIX prefix...+] [KEYS key...]",
                -1,
                "[PREFIX prefix [PREFIX prefix ...]] [KEYS key [key ...]]",
            ),
            ("X no-one=(NO ONE) operator=[equal==|approximately=~]", -3, "NO ONE [=|~]"),
        ];
        for (usage, wanted_arity, wanted_help) in cases {
            let arguments = tree(usage);
            assert_eq!(
                (arity("x", &arguments), help(&arguments).as_str()),
                (wanted_arity, wanted_help),
                "{usage}"
            );
        }
        assert_eq!(arity("config|get", &tree("X parameter=(parameter)...")), -3);
    }

    #[test]
    fn marks_are_read_into_the_tree() {
        let arguments =
            tree("X key1 key2#0 pattern#- [LIMIT page=(offset count<string>@6.2.0)] auto=*@-7.0.0");
        assert_eq!(arguments[0], Argument { key_spec: Some(0), ..bare("key1".into(), Kind::Key) });
        assert_eq!(arguments[1], Argument { key_spec: Some(0), ..bare("key2".into(), Kind::Key) });
        assert_eq!(arguments[2], bare("pattern".into(), Kind::Pattern));
        let count = Argument { since: Some("6.2.0"), ..bare("count".into(), Kind::String) };
        let page = Argument {
            token: Some("LIMIT"),
            optional: true,
            arguments: vec![bare("offset".into(), Kind::Integer), count],
            ..bare("page".into(), Kind::Block)
        };
        assert_eq!(arguments[3], page);
        let auto = Argument {
            token: Some("*"),
            deprecated_since: Some("7.0.0"),
            ..bare("auto".into(), Kind::PureToken)
        };
        assert_eq!(arguments[4], auto);
        assert_eq!(tree("X BCAST")[0].name, "bcast");
        assert_eq!(tree("X empty_string=\"\"")[0].token, Some(""));
    }

    #[test]
    fn what_does_not_follow_the_notation_is_refused() {
        for usage in
            ["Y key", "X [key", "X key]", "X name=(a b", "X a|b", "X key<number>", "X key<integer", "X a="]
        {
            assert!(parse("x", usage).is_err(), "{usage}");
        }
        assert_eq!(parse("config|get", "CONFIG SET x"), Err(Malformed("SET x")));
    }
}
