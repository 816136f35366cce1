//! What has to be there for each row of the command table: its line in docs/COMMANDS.md, which is generated
//! (`MOONKEEP_UPDATE=1` writes it), and a transcript in tests/corpus/.

use moonkeep::command::spec::{FLAG_NAMES, Spec};
use moonkeep::command::usage;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

const FILE: &str = "docs/COMMANDS.md";

fn entry(spec: &Spec) -> String {
    let arguments = usage::parse(spec.name, spec.usage).expect("a usage in the notation");
    let name = spec.name.to_uppercase().replace('|', " ");
    let mut text =
        format!("- `{}`: {}", format!("{name} {}", usage::help(&arguments)).trim_end(), spec.summary);
    if !text.ends_with('.') {
        text.push('.');
    }
    let flags: Vec<&str> =
        FLAG_NAMES.iter().filter(|(flag, _)| spec.has(*flag)).map(|(_, name)| *name).collect();
    let _ = write!(
        text,
        " *Since {}; {}.*",
        spec.since,
        if flags.is_empty() { "no flags".into() } else { flags.join(", ") }
    );
    if let Some((since, replacement)) = spec.deprecated {
        let _ = write!(text, " Deprecated since {since}: use {}.", replacement.replace("`!", "`"));
    }
    text
}

/// The commands and subcommands that a server has and the engine has not, of `COMMAND LIST` as a server answered it.
pub(crate) fn absent() -> Vec<&'static str> {
    let known = |name: &&str| moonkeep::commands().by_name(name.as_bytes()).is_some();
    include_str!("data/server_commands.txt").lines().filter(|name| !known(name)).collect()
}

/// What is absent, as a paragraph.
fn absent_text() -> String {
    let names: Vec<String> =
        absent().iter().map(|name| format!("`{}`", name.to_uppercase().replace('|', " "))).collect();
    match names.as_slice() {
        [] => "All commands of the server are there.\n".to_owned(),
        names => format!("Not there: {}.\n", names.join(", ")),
    }
}

fn reference() -> String {
    let mut groups: BTreeMap<&str, Vec<&Spec>> = BTreeMap::new();
    let mut count = 0;
    for row in moonkeep::commands().rows().iter().filter(|row| !row.is_container() || row.arity != -2) {
        groups.entry(row.spec.group.name()).or_default().push(row.spec);
        count += 1;
    }
    let mut text = format!(
        "# Commands\n\nThe {count} commands and subcommands that moonkeep has, generated from its command table \
         (`MOONKEEP_UPDATE=1 cargo test reference`). Syntax, versions and flags are those of Redis 7.0.15; \
         `COMMAND DOCS` answers with more. What differs stands in [DIFFERENCES.md](DIFFERENCES.md).\n"
    );
    let _ = write!(text, "\n{}", absent_text());
    for (group, specs) in groups {
        let _ = write!(text, "\n## {group}\n\n");
        for spec in specs {
            text.push_str(&entry(spec));
            text.push('\n');
        }
    }
    text
}

#[test]
fn the_reference_follows_from_the_rows() {
    let wanted = reference();
    if std::env::var_os("MOONKEEP_UPDATE").is_some() {
        fs::write(FILE, &wanted).expect("docs/ is writable");
    }
    let found = fs::read_to_string(FILE).unwrap_or_default();
    assert!(found == wanted, "{FILE} is out of date; run: MOONKEEP_UPDATE=1 cargo test reference");
}

/// The commands that the recorded transcripts call: `get`, `config|get`.
fn recorded() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in fs::read_dir("tests/corpus").expect("tests/corpus/").flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        for (connection, call) in text.lines().filter_map(|line| line.split_once("> ")) {
            if connection.chars().all(|c| c.is_alphanumeric() || c == '>') {
                let words: Vec<String> = call.split(' ').take(2).map(str::to_lowercase).collect();
                names.insert(words.join("|"));
                names.extend(words.into_iter().take(1));
            }
        }
    }
    names
}

#[test]
fn each_command_has_a_recorded_transcript() {
    let recorded = recorded();
    let names = moonkeep::commands().rows().iter().map(|row| row.spec.name);
    let missing: Vec<&str> = names.filter(|name| !recorded.contains(*name)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "not called in any file of tests/corpus/");
}
