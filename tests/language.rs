//! The Lua language and its libraries, written out by hand: `tests/lua/*.lua` goes through operators, coercions,
//! functions and errors case by case; the answers beside it are the server's. `MOONKEEP_RECORD=1` records them.
//! A file has sections, `--- title`; each runs as a script of its own below `prelude.lua` and gives a list of lines.

use crate::support::moonkeep::Moonkeep;
use crate::support::server::server_or_skip;
use crate::support::target::{MAIN, Target, argv};
use crate::support::wire::Wire;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "tests/lua";

/// A title, and what the section answers, a line for each case.
type Answers = Vec<(String, Vec<String>)>;

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(FOLDER).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
    files.retain(|path| !path.ends_with("prelude.lua"));
    files.sort();
    files
}

fn answers(target: &mut dyn Target, file: &Path) -> Answers {
    let prelude = fs::read_to_string(Path::new(FOLDER).join("prelude.lua")).expect("the prelude");
    let text = fs::read_to_string(file).expect("a readable file");
    target.reset();
    let sections = text.split("\n--- ").map(|section| section.trim_start_matches("--- "));
    sections
        .map(|section| {
            let (title, code) = section.split_once('\n').unwrap_or((section, ""));
            let reply = target.call(MAIN, &argv(&["EVAL", &format!("{prelude}{code}\nreturn out"), "0"]));
            let lines = match &reply {
                Wire::Array(items) => items.iter().map(|item| item.to_string()).collect(),
                other => vec![other.to_string()],
            };
            (title.to_owned(), lines)
        })
        .collect()
}

fn recorded(file: &Path) -> Answers {
    let text = fs::read_to_string(file.with_extension("txt")).unwrap_or_default();
    let mut answers: Answers = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("== "), answers.last_mut()) {
            (Some(title), _) => answers.push((title.into(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.into()),
            (None, None) => {}
        }
    }
    answers
}

fn record(file: &Path, answers: &Answers) {
    let mut text = String::new();
    for (title, lines) in answers {
        text.push_str(&format!("== {title}\n"));
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    fs::write(file.with_extension("txt"), text).expect("a writable file");
}

fn differences(file: &Path, got: &Answers) -> Vec<String> {
    let expected = recorded(file);
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut found = Vec::new();
    let titles = |answers: &Answers| answers.iter().map(|(title, _)| title.clone()).collect::<Vec<_>>();
    if titles(&expected) != titles(got) {
        found.push(format!("{name}: the sections recorded are {:?}", titles(&expected)));
    }
    for ((title, expected), (_, got)) in expected.iter().zip(got) {
        for at in 0..expected.len().max(got.len()) {
            let (expected, got) = (expected.get(at), got.get(at));
            if expected != got && !waits(expected, got) {
                let line = |line: Option<&String>| line.map_or("(nothing)", String::as_str).to_owned();
                found.push(format!("{name}: {title}\nexpected {}\ngot      {}", line(expected), line(got)));
            }
        }
    }
    found
}

/// Whether the line calls a command that moonkeep does not have yet.
fn waits(expected: Option<&String>, got: Option<&String>) -> bool {
    let lacks = |line: Option<&String>| {
        let unknown = ["Unknown Redis command called", "Invalid command passed to redis.acl_check_cmd"];
        line.is_some_and(|line| unknown.iter().any(|text| line.contains(text)))
    };
    lacks(got) && !lacks(expected)
}

fn judge(who: &str, target: &mut dyn Target) {
    let mut found = Vec::new();
    let mut lines = 0;
    for file in files() {
        let answers = answers(target, &file);
        lines += answers.iter().map(|(_, lines)| lines.len()).sum::<usize>();
        found.extend(differences(&file, &answers));
    }
    println!("{who}: {lines} lines");
    assert!(found.is_empty(), "{} lines differ on {who}:\n\n{}", found.len(), found.join("\n"));
}

#[test]
fn moonkeep_speaks_the_server_s_lua() {
    judge("moonkeep", &mut Moonkeep::default());
}

#[test]
fn a_reader_is_called_to_its_end_before_anything_is_parsed() {
    let script = "local n = 0 local f, message = load(function() n = n + 1 return ({'x y', ' z'})[n] end) \
        return {n, message}";
    let got = Moonkeep::default().call(MAIN, &argv(&["EVAL", script, "0"])).to_string();
    assert_eq!(got, "[:3, \"(load):1: '=' expected near 'y'\"]");
}

#[test]
fn protected_tables_are_empty_stand_ins() {
    let script = "local r = {} for i, k in ipairs({'nil', '0/0', '1'}) do \
        r[i] = select(2, pcall(loadstring('string[' .. k .. '] = 1', '=s'))) end return r";
    let got = Moonkeep::default().call(MAIN, &argv(&["EVAL", script, "0"])).to_string();
    let expected = "[\"s:1: table index is nil\", \"s:1: table index is NaN\", \
        \"s:1: Attempt to modify a readonly table\"]";
    assert_eq!(got, expected);
    let script = "return {type(getmetatable('').__index.sub), type(setmetatable({}, getmetatable('')).sub)}";
    let got = Moonkeep::default().call(MAIN, &argv(&["EVAL", script, "0"])).to_string();
    assert_eq!(got, "[\"function\", \"nil\"]");
}

#[test]
fn the_server_speaks_its_lua_as_recorded() {
    let Some(mut server) = server_or_skip("the_server_speaks_its_lua_as_recorded") else { return };
    if std::env::var_os("MOONKEEP_RECORD").is_some() {
        files().iter().for_each(|file| record(file, &answers(&mut server, file)));
        return;
    }
    judge("redis-server", &mut server);
}
