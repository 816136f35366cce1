//! docs/COMMANDS.md is generated from the rows of the command table; this test compares, and with
//! `MOONKEEP_UPDATE=1` writes.

use moonkeep::command::spec::{FLAG_NAMES, Spec};
use moonkeep::command::usage;
use std::collections::BTreeMap;
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
