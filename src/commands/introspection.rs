//! The COMMAND command: the table described to clients. All answers derive from the rows, none is stored.
//! The rows of the other commands are in their families' files; the notation of `usage` is in command/usage.rs.

use crate::command::args::{Args, is};
use crate::command::keys::{self, legacy_range};
use crate::command::spec::*;
use crate::command::table::Row;
use crate::command::usage::{self, Argument, Kind};
use crate::command::{Argv, Ctx, Flow, help};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::glob::glob;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "command",
        usage: "COMMAND",
        arity: -1,
        summary: "Get array of Redis command details",
        since: "2.8.13",
        group: Group::Server,
        complexity: "O(N) where N is the total number of Redis commands",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        tips: &["nondeterministic_output_order"],
        run: command,
        ..Spec::BASE
    },
    Spec {
        name: "command|count",
        usage: "COMMAND COUNT",
        summary: "Get total number of Redis commands",
        since: "2.8.13",
        group: Group::Server,
        complexity: "O(1)",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        run: command_count,
        ..Spec::BASE
    },
    Spec {
        name: "command|docs",
        usage: "COMMAND DOCS [command-name...]",
        summary: "Get array of specific Redis command documentation",
        since: "7.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the number of commands to look up",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        tips: &["nondeterministic_output_order"],
        run: command_docs,
        ..Spec::BASE
    },
    Spec {
        name: "command|getkeys",
        usage: "COMMAND GETKEYS",
        arity: -4,
        summary: "Extract keys given a full Redis command",
        since: "2.8.13",
        group: Group::Server,
        complexity: "O(N) where N is the number of arguments to the command",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        run: command_getkeys,
        ..Spec::BASE
    },
    Spec {
        name: "command|getkeysandflags",
        usage: "COMMAND GETKEYSANDFLAGS",
        arity: -4,
        summary: "Extract keys and access flags given a full Redis command",
        since: "7.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the number of arguments to the command",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        run: command_getkeysandflags,
        ..Spec::BASE
    },
    Spec {
        name: "command|help",
        usage: "COMMAND HELP",
        summary: "Show helpful text about the different subcommands",
        since: "5.0.0",
        group: Group::Server,
        complexity: "O(1)",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        run: command_help,
        ..Spec::BASE
    },
    Spec {
        name: "command|info",
        usage: "COMMAND INFO [command-name...]",
        summary: "Get array of specific Redis command details, or all when no argument is given.",
        since: "2.8.13",
        group: Group::Server,
        complexity: "O(N) where N is the number of commands to look up",
        history: &[("7.0.0", "Allowed to be called with no argument to get info on all commands.")],
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        tips: &["nondeterministic_output_order"],
        run: command_info,
        ..Spec::BASE
    },
    Spec {
        name: "command|list",
        usage: "COMMAND LIST [FILTERBY filterby=(MODULE module-name|ACLCAT category|PATTERN pattern)]",
        summary: "Get an array of Redis command names",
        since: "7.0.0",
        group: Group::Server,
        complexity: "O(N) where N is the total number of Redis commands",
        acl: acl::CONNECTION,
        flags: LOADING | STALE,
        tips: &["nondeterministic_output_order"],
        run: command_list,
        ..Spec::BASE
    },
];

fn command(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    all_infos(cx, out);
    Ok(Flow::Done)
}

fn command_count(cx: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    out.int(cx.state.table.commands().count() as i64);
    Ok(Flow::Done)
}

fn command_info(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let names = &argv[2..];
    if names.is_empty() {
        all_infos(cx, out);
        return Ok(Flow::Done);
    }
    out.array(names.len());
    for name in names {
        match cx.state.table.by_name(name) {
            Some(row) => info(cx, row, out),
            None => out.nil(),
        }
    }
    Ok(Flow::Done)
}

fn command_docs(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let table = cx.state.table;
    let rows: Vec<&Row> = match &argv[2..] {
        [] => table.commands().collect(),
        names => names.iter().filter_map(|name| table.by_name(name)).collect(),
    };
    out.map(rows.len());
    for row in rows {
        out.bulk(row.spec.name.as_bytes());
        docs(cx, row, out);
    }
    Ok(Flow::Done)
}

fn command_list(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let filter = Filter::parse(&mut Args::new(argv, 2))?;
    let list = out.deferred_array();
    let mut len = 0;
    for row in cx.state.table.rows().iter().filter(|row| filter.takes(row.spec)) {
        out.bulk(row.spec.name.as_bytes());
        len += 1;
    }
    out.close(list, len);
    Ok(Flow::Done)
}

fn command_getkeys(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let words = &argv[2..];
    let keys = keys_of(cx, words)?;
    out.array(keys.len());
    for key in keys {
        out.bulk(words[key.at]);
    }
    Ok(Flow::Done)
}

fn command_getkeysandflags(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let words = &argv[2..];
    let keys = keys_of(cx, words)?;
    out.array(keys.len());
    for key in keys {
        out.array(2);
        out.bulk(words[key.at]);
        names(out, key.access, &ACCESS_NAMES);
    }
    Ok(Flow::Done)
}

fn command_help(_: &mut Ctx<'_>, _: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    const LINES: &[&str] = &[
        "(no subcommand)",
        "    Return details about all Redis commands.",
        "COUNT",
        "    Return the total number of commands in this Redis server.",
        "LIST",
        "    Return a list of all commands in this Redis server.",
        "INFO [<command-name> ...]",
        "    Return details about multiple Redis commands.",
        "    If no command names are given, documentation details for all",
        "    commands are returned.",
        "DOCS [<command-name> ...]",
        "    Return documentation details about multiple Redis commands.",
        "    If no command names are given, documentation details for all",
        "    commands are returned.",
        "GETKEYS <full-command>",
        "    Return the keys from a full Redis command.",
        "GETKEYSANDFLAGS <full-command>",
        "    Return the keys and the access flags from a full Redis command.",
    ];
    help::reply(out, "COMMAND", LINES);
    Ok(Flow::Done)
}

/// The keys of a command for GETKEYS; the places are within `words`.
fn keys_of(cx: &Ctx<'_>, words: Argv<'_>) -> Result<Vec<keys::KeyRef>, Failure> {
    let row = cx.state.table.resolve(words).map_err(|_| Failure::GetKeysOfNoCommand)?;
    if !keys::has_keys(row.spec) {
        return Err(Failure::GetKeysOfKeyless);
    }
    if !row.takes(words.len()) {
        return Err(Failure::GetKeysArity);
    }
    let keys = keys::find(row.spec, words);
    if keys.is_empty() && !row.spec.has(NO_MANDATORY_KEYS) {
        return Err(Failure::GetKeysNotFound);
    }
    Ok(keys)
}

/// What COMMAND LIST FILTERBY lets through.
enum Filter<'a> {
    All,
    /// There are no modules, so none of their commands.
    Module,
    Categories(Acl),
    Pattern(&'a [u8]),
}

impl<'a> Filter<'a> {
    fn parse(args: &mut Args<'a>) -> Result<Self, Failure> {
        let mut filter = Filter::All;
        while !args.is_done() {
            if !args.take("filterby") || args.left() != 2 {
                return Err(Failure::Syntax);
            }
            let (kind, value) = (args.word()?, args.word()?);
            filter = match kind {
                kind if is(kind, "module") => Filter::Module,
                kind if is(kind, "aclcat") => Filter::Categories(acl::by_name(value)),
                kind if is(kind, "pattern") => Filter::Pattern(value),
                _ => return Err(Failure::Syntax),
            };
        }
        Ok(filter)
    }

    fn takes(&self, spec: &Spec) -> bool {
        match self {
            Filter::All => true,
            Filter::Module => false,
            Filter::Categories(categories) => spec.categories() & categories != 0,
            Filter::Pattern(pattern) => glob(pattern, spec.name.as_bytes(), true),
        }
    }
}

fn all_infos(cx: &Ctx<'_>, out: &mut Reply) {
    let commands: Vec<&Row> = cx.state.table.commands().collect();
    out.array(commands.len());
    for row in commands {
        info(cx, row, out);
    }
}

fn text(out: &mut Reply, name: &str, value: &str) {
    out.bulk(name.as_bytes());
    out.bulk(value.as_bytes());
}

fn number(out: &mut Reply, name: &str, value: i32) {
    out.bulk(name.as_bytes());
    out.int(i64::from(value));
}

/// The names of the flags that are set, as a set of statuses.
fn names(out: &mut Reply, flags: u32, all: &[(u32, &str)]) {
    let set = || all.iter().filter(|(flag, _)| flags & flag != 0);
    out.set(set().count());
    for (_, name) in set() {
        out.status(name);
    }
}

/// One command for COMMAND INFO, its subcommands within it.
fn info(cx: &Ctx<'_>, row: &Row, out: &mut Reply) {
    let spec = row.spec;
    let range = legacy_range(spec.keys);
    out.array(10);
    out.bulk(spec.name.as_bytes());
    out.int(i64::from(row.arity));
    names(out, spec.flags | if range.movable { MOVABLEKEYS } else { 0 }, &FLAG_NAMES);
    for number in [range.first, range.last, range.step] {
        out.int(i64::from(number));
    }
    categories(spec.categories(), out);
    out.set(spec.tips.len());
    for tip in spec.tips {
        out.bulk(tip.as_bytes());
    }
    out.set(spec.keys.len());
    for key in spec.keys {
        key_spec(key, out);
    }
    let subcommands = cx.state.table.subcommands(row);
    match subcommands.len() {
        0 => out.set(0),
        len => out.array(len),
    }
    for subcommand in subcommands {
        info(cx, subcommand, out);
    }
}

fn categories(categories: Acl, out: &mut Reply) {
    let set = || (0..).zip(acl::NAMES).filter(|(bit, _)| categories >> bit & 1 == 1);
    out.set(set().count());
    for (_, name) in set() {
        out.status(&format!("@{name}"));
    }
}

fn key_spec(key: &KeySpec, out: &mut Reply) {
    out.map(3 + usize::from(!key.notes.is_empty()));
    if !key.notes.is_empty() {
        text(out, "notes", key.notes);
    }
    out.bulk(b"flags");
    names(out, key.access, &ACCESS_NAMES);
    out.bulk(b"begin_search");
    match key.begin {
        Begin::Index(index) => {
            typed(out, "index", 1);
            number(out, "index", index);
        }
        Begin::Keyword(keyword, from) => {
            typed(out, "keyword", 2);
            text(out, "keyword", keyword);
            number(out, "startfrom", from);
        }
        Begin::Unknown => typed(out, "unknown", 0),
    }
    out.bulk(b"find_keys");
    match key.find {
        Find::Range { last, step, limit } => {
            typed(out, "range", 3);
            number(out, "lastkey", last);
            number(out, "keystep", step);
            number(out, "limit", limit);
        }
        Find::Counted { count, first, step } => {
            typed(out, "keynum", 3);
            number(out, "keynumidx", count);
            number(out, "firstkey", first);
            number(out, "keystep", step);
        }
        Find::Unknown => typed(out, "unknown", 0),
    }
}

/// Opens `{type: .., spec: {..}}` for a spec of so many fields.
fn typed(out: &mut Reply, kind: &str, fields: usize) {
    out.map(2);
    text(out, "type", kind);
    out.bulk(b"spec");
    out.map(fields);
}

/// One command for COMMAND DOCS, its subcommands within it.
fn docs(cx: &Ctx<'_>, row: &Row, out: &mut Reply) {
    let spec = row.spec;
    let doc_flags = usize::from(spec.deprecated.is_some() || spec.has(SYSCMD));
    let arguments = usage::parse(spec.name, spec.usage).unwrap_or_default();
    let fields = 3
        + usize::from(!spec.complexity.is_empty())
        + doc_flags
        + 2 * usize::from(spec.deprecated.is_some())
        + usize::from(!spec.history.is_empty())
        + usize::from(!arguments.is_empty())
        + usize::from(row.is_container());
    out.map(fields);
    text(out, "summary", spec.summary);
    text(out, "since", spec.since);
    text(out, "group", spec.group.name());
    if !spec.complexity.is_empty() {
        text(out, "complexity", spec.complexity);
    }
    if doc_flags == 1 {
        out.bulk(b"doc_flags");
        out.set(1);
        out.status(if spec.deprecated.is_some() { "deprecated" } else { "syscmd" });
    }
    if let Some((since, replacement)) = spec.deprecated {
        text(out, "deprecated_since", since);
        text(out, "replaced_by", replacement);
    }
    if !spec.history.is_empty() {
        history(spec.history, out);
    }
    if !arguments.is_empty() {
        out.bulk(b"arguments");
        argument_list(&arguments, out);
    }
    if row.is_container() {
        subcommand_docs(cx, row, out);
    }
}

fn history(history: &[(&str, &str)], out: &mut Reply) {
    out.bulk(b"history");
    out.set(history.len());
    for (since, change) in history {
        out.array(2);
        out.bulk(since.as_bytes());
        out.bulk(change.as_bytes());
    }
}

fn subcommand_docs(cx: &Ctx<'_>, row: &Row, out: &mut Reply) {
    let subcommands = cx.state.table.subcommands(row);
    out.bulk(b"subcommands");
    out.map(subcommands.len());
    for subcommand in subcommands {
        out.bulk(subcommand.spec.name.as_bytes());
        docs(cx, subcommand, out);
    }
}

fn argument_list(arguments: &[Argument], out: &mut Reply) {
    out.array(arguments.len());
    for one in arguments {
        argument(one, out);
    }
}

fn argument(argument: &Argument, out: &mut Reply) {
    let texts = [
        ("token", argument.token),
        ("since", argument.since),
        ("deprecated_since", argument.deprecated_since),
    ];
    let flags = argument_flags(argument);
    let is_group = matches!(argument.kind, Kind::OneOf | Kind::Block);
    let fields = 2
        + usize::from(argument.key_spec.is_some())
        + texts.iter().filter(|(_, value)| value.is_some()).count()
        + usize::from(!flags.is_empty())
        + usize::from(is_group);
    out.map(fields);
    text(out, "name", &argument.name);
    text(out, "type", argument.kind.name());
    if let Some(index) = argument.key_spec {
        number(out, "key_spec_index", i32::from(index));
    }
    for (name, value) in texts {
        if let Some(value) = value {
            text(out, name, value);
        }
    }
    if !flags.is_empty() {
        out.bulk(b"flags");
        out.set(flags.len());
        flags.iter().for_each(|flag| out.status(flag));
    }
    if is_group {
        out.bulk(b"arguments");
        argument_list(&argument.arguments, out);
    }
}

fn argument_flags(argument: &Argument) -> Vec<&'static str> {
    let flags = [
        (argument.optional, "optional"),
        (argument.multiple, "multiple"),
        (argument.multiple_token, "multiple_token"),
    ];
    flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
}
