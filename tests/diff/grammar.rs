//! The commands and their arguments as the reference server describes them (COMMAND DOCS): what there is to generate.

use crate::support::target::{Target, argv};
use crate::support::wire::Wire;

/// One argument, or a group of them.
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) token: Option<String>,
    pub(crate) optional: bool,
    pub(crate) multiple: bool,
    /// The token is repeated with each.
    pub(crate) multiple_token: bool,
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Key,
    Integer,
    Double,
    Text,
    Token,
    OneOf,
    Block,
}

/// One command or subcommand.
pub(crate) struct Syntax {
    /// In upper case: `SET`, `OBJECT ENCODING`.
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) arguments: Vec<Argument>,
    /// How often to choose it.
    pub(crate) weight: usize,
}

/// Those whose words seldom are what they take.
const RARE: &[&str] = &["FUNCTION RESTORE", "XSETID"];

impl Syntax {
    fn new(name: String, group: &str, arguments: Vec<Argument>) -> Syntax {
        let rare = if RARE.contains(&name.as_str()) { 4 } else { 1 };
        let weight = (2 + tokens(&arguments).len()) * rare;
        Syntax { name, group: group.into(), arguments, weight }
    }
}

/// All tokens among arguments.
pub(crate) fn tokens(arguments: &[Argument]) -> Vec<String> {
    let mut all = Vec::new();
    for argument in arguments {
        all.extend(argument.token.clone());
        all.extend(tokens(&argument.arguments));
    }
    all
}

/// Asks the server for all its commands.
pub(crate) fn read(server: &mut dyn Target) -> Vec<Syntax> {
    server.call("(docs)", &argv(&["HELLO", "3"]));
    let docs = server.call("(docs)", &argv(&["COMMAND", "DOCS"]));
    let mut commands = Vec::new();
    for (name, description) in pairs(&docs) {
        let group = text(field(description, "group"));
        match field(description, "subcommands") {
            Some(subcommands) => {
                for (name, description) in pairs(subcommands) {
                    let name = text(Some(name)).to_ascii_uppercase().replace('|', " ");
                    commands.push(Syntax::new(name, &group, arguments(description)));
                }
            }
            None => {
                let name = text(Some(name)).to_ascii_uppercase();
                commands.push(Syntax::new(name, &group, arguments(description)));
            }
        }
    }
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands
}

fn pairs(map: &Wire) -> &[(Wire, Wire)] {
    match map {
        Wire::Map(pairs) => pairs,
        _ => &[],
    }
}

fn field<'a>(map: &'a Wire, name: &str) -> Option<&'a Wire> {
    pairs(map).iter().find(|(key, _)| key.bytes() == Some(name.as_bytes())).map(|(_, value)| value)
}

fn text(value: Option<&Wire>) -> String {
    value.and_then(Wire::bytes).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

fn arguments(description: &Wire) -> Vec<Argument> {
    field(description, "arguments").map(Wire::items).unwrap_or_default().iter().map(argument).collect()
}

fn argument(description: &Wire) -> Argument {
    let flags: Vec<String> = field(description, "flags")
        .map(|flags| flags.items().iter().map(|flag| text(Some(flag))).collect())
        .unwrap_or_default();
    let has = |flag: &str| flags.iter().any(|one| one == flag);
    let kind = match text(field(description, "type")).as_str() {
        "key" => Kind::Key,
        "integer" | "unix-time" => Kind::Integer,
        "double" => Kind::Double,
        "pure-token" => Kind::Token,
        "oneof" => Kind::OneOf,
        "block" => Kind::Block,
        _ => Kind::Text,
    };
    Argument {
        name: text(field(description, "name")),
        kind,
        token: field(description, "token").map(|token| text(Some(token))),
        optional: has("optional"),
        multiple: has("multiple"),
        multiple_token: has("multiple_token"),
        arguments: arguments(description),
    }
}
