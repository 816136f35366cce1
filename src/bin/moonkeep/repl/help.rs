//! `help CMD` and `help @GROUP` as redis-cli prints them, from the rows of the commands.

use super::nearest::nearest;
use moonkeep::command::spec::Spec;
use moonkeep::command::usage;
use moonkeep::commands;
use std::fmt::Write;

/// What `help` without a word prints.
const GENERAL: &str = "\
moonkeep: Redis commands on a clock that you hold
To get help about Redis commands type:
      \"help @<group>\" to get a list of commands in <group>
      \"help <command>\" for help on <command>
      \"help <tab>\" to get a list of possible help topics
      \":help\" for what moonkeep adds: the clock, snapshots, traces, files
      \"quit\" to exit
";

/// The names of the groups that have commands, in order.
pub(super) fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = commands().rows().iter().map(|row| row.spec.group.name()).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The help about these words; an error says what there is instead.
pub(super) fn help(words: &[Vec<u8>], bold: bool) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).to_lowercase()).collect();
    let mut text = String::new();
    match words.first().map(String::as_str) {
        None => return Ok(GENERAL.to_owned()),
        Some(word) if word.starts_with('@') => {
            let group = &word[1..];
            for row in commands().rows().iter().filter(|row| row.spec.group.name() == group) {
                about(row.spec, false, bold, &mut text);
            }
            if text.is_empty() {
                return Err(format!("there is no group {word:?}; the groups are {}", groups().join(", ")));
            }
        }
        Some(_) => {
            let name = words.join("|");
            let inside = format!("{name}|");
            let is_it = |spec: &Spec| spec.name == name || spec.name.starts_with(&inside);
            for row in commands().rows().iter().filter(|row| is_it(row.spec)) {
                about(row.spec, true, bold, &mut text);
            }
            if text.is_empty() {
                return Err(unknown(&words));
            }
        }
    }
    text.push('\n');
    Ok(text)
}

fn unknown(words: &[String]) -> String {
    let name = words.join(" ");
    match nearest(&words.join("|"), commands().rows().iter().map(|row| row.spec.name)) {
        Some(near) => {
            let near = near.replace('|', " ").to_uppercase();
            format!("there is no command {name:?}; did you mean {near}?")
        }
        None => {
            format!("there is no command {name:?}; type a few letters and press tab, or try help @string")
        }
    }
}

fn about(spec: &Spec, with_group: bool, bold: bool, text: &mut String) {
    let syntax =
        usage::parse(spec.name, spec.usage).map(|arguments| usage::help(&arguments)).unwrap_or_default();
    let name = spec.name.replace('|', " ").to_uppercase();
    let styled =
        |style: &str, text: &str| if bold { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() };
    let name = styled("1", &name);
    let syntax = if syntax.is_empty() { syntax } else { format!(" {}", styled("90", &syntax)) };
    let _ = writeln!(text, "\n  {name}{syntax}");
    let mut line = |what: &str, value: &str| {
        let _ = writeln!(text, "  {} {value}", styled("33", what));
    };
    line("summary:", spec.summary);
    line("since:", spec.since);
    if with_group {
        line("group:", spec.group.name());
    }
}
