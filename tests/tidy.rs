//! The rules of the house, as far as a test can check them: layers, where `unsafe` and texts may stand, sizes, headers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lowest first. A module imports from those before it; those in one group know nothing of each other.
const LAYERS: &[&[&str]] = &[
    &["util", "error"],
    &["value"],
    &["store", "reply"],
    &["command"],
    &["commands", "contract", "syntax"],
    &["script", "lint"],
    &["engine"],
    &["patterns", "check"],
    &["sim"],
    &["front"],
    &["bin"],
];

/// The only files that may hold `unsafe`.
const UNSAFE_FILES: &[&str] = &[
    "src/script/alloc.rs",
    "src/script/bridge.rs",
    "src/script/interpreter.rs",
    "src/script/stack.rs",
    "src/front/capi/border.rs",
];

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 1000;

fn rust_files(dir: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(Path::new(dir), &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file is readable");
            (path.to_string_lossy().into_owned(), text)
        })
        .collect()
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|group| group.contains(&module))
}

/// The lines of a file without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(at, line)| (at + 1, line))
}

/// The lines before the unit tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn modules_import_only_from_lower_layers() {
    let mut problems = Vec::new();
    for (path, text) in rust_files("src") {
        let own =
            path.trim_start_matches("src/").split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let Some(own_layer) = layer_of(own) else { continue };
        for (line_number, line) in code(without_tests(&text)) {
            for part in line.split("crate::").skip(1) {
                let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let Some(layer) = layer_of(&name) else { continue };
                if name != own && layer >= own_layer {
                    problems.push(format!("{path}:{line_number}: {own} imports {name}"));
                }
            }
        }
    }
    report(problems);
}

#[test]
fn unsafe_stands_in_named_files_with_its_reason() {
    let mut problems = Vec::new();
    for (path, text) in rust_files("src") {
        let lines: Vec<&str> = text.lines().collect();
        for (line_number, line) in code(&text) {
            let is_unsafe = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"]
                .iter()
                .any(|word| line.contains(word));
            if is_unsafe && !UNSAFE_FILES.contains(&path.as_str()) {
                problems.push(format!("{path}:{line_number}: unsafe outside the named files"));
            }
            if line.contains("unsafe {") && is_unsafe {
                let above = lines[..line_number].iter().rev().take(6).any(|line| line.contains("SAFETY"));
                if !above {
                    problems.push(format!("{path}:{line_number}: unsafe without a SAFETY line"));
                }
            }
        }
    }
    report(problems);
}

#[test]
fn functions_fit_a_screen_and_files_one_idea() {
    let mut problems = Vec::new();
    for dir in ["src", "tests", "benches", "examples", "fuzz"] {
        for (path, text) in rust_files(dir) {
            if path.contains("/target/") {
                continue;
            }
            let lines: Vec<&str> = text.lines().collect();
            if lines.len() > FILE_LINES_MAX {
                problems.push(format!("{path}: {} lines, at most {FILE_LINES_MAX}", lines.len()));
            }
            problems.extend(long_functions(&path, &lines));
        }
    }
    report(problems);
}

/// A function ends at the first `}` at its own indentation: the formatter sees to that.
fn long_functions(path: &str, lines: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let is_function = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "const fn ",
            "unsafe fn ",
            "pub const fn ",
        ]
        .iter()
        .any(|start| trimmed.starts_with(start))
            || trimmed.starts_with("unsafe extern") && trimmed.contains(" fn ");
        if !is_function || trimmed.ends_with([';', '}']) {
            continue;
        }
        let close = format!("{}}}", &line[..line.len() - trimmed.len()]);
        let length = lines[at..].iter().position(|line| *line == close).map_or(1, |end| end + 1);
        if length > FUNCTION_LINES_MAX {
            problems.push(format!(
                "{path}:{}: a function of {length} lines, at most {FUNCTION_LINES_MAX}",
                at + 1
            ));
        }
    }
    problems
}

#[test]
fn each_file_says_what_it_is() {
    let mut problems = Vec::new();
    for (path, text) in rust_files("src") {
        let header = text.lines().take_while(|line| line.starts_with("//!")).count();
        if header == 0 {
            problems.push(format!("{path}: opens without //!"));
        }
    }
    report(problems);
}

#[test]
fn client_visible_texts_stand_in_one_file() {
    let codes = [
        "\"ERR ",
        "\"WRONGTYPE ",
        "\"NOSCRIPT ",
        "\"EXECABORT ",
        "\"OOM ",
        "\"BUSY ",
        "\"NOAUTH ",
        "\"NOPERM ",
    ];
    let mut problems = Vec::new();
    for (path, text) in rust_files("src") {
        if path.starts_with("src/error") || path.ends_with("tests.rs") {
            continue;
        }
        for (line_number, line) in code(without_tests(&text)) {
            if codes.iter().any(|code| line.contains(code)) {
                problems
                    .push(format!("{path}:{line_number}: an error text outside src/error: {}", line.trim()));
            }
        }
    }
    report(problems);
}

#[test]
fn no_word_of_unfinished_work() {
    let words = ["TODO", "FIXME", "XXX:", "todo!(", "unimplemented!(", "dbg!("];
    let mut problems = Vec::new();
    for (path, text) in rust_files("src") {
        for (at, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                problems.push(format!("{path}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    report(problems);
}

#[test]
fn each_difference_has_a_test_and_there_are_at_most_forty() {
    let text = fs::read_to_string("docs/DIFFERENCES.md").expect("docs/DIFFERENCES.md");
    let names = all_test_names();
    let mut count = 0;
    let mut problems = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")) {
        count += 1;
        let test = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default().trim().trim_matches('`');
        if !names.contains(test) {
            problems.push(format!("docs/DIFFERENCES.md: no test named {test:?} for: {line}"));
        }
    }
    assert!(count <= 40, "{count} differences, at most 40");
    report(problems);
}

/// The numbers of scenarios that are about replicas: nothing else is left out of the table.
const REPLICATION_SCENARIOS: [u32; 8] = [19, 35, 52, 53, 54, 55, 56, 57];

#[test]
fn each_scenario_is_where_the_table_says_and_the_table_knows_all() {
    let text = fs::read_to_string("docs/SCENARIOS.md").expect("docs/SCENARIOS.md");
    let (tests, cases) = (all_test_names(), numbered_cases());
    let mut problems = Vec::new();
    let mut told = BTreeSet::new();
    let mut numbers = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| S")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let number: u32 = cells[0].trim_start_matches('S').parse().expect("a number");
        numbers.push(number);
        let places: Vec<&str> = cells[2].split('`').skip(1).step_by(2).collect();
        if places.is_empty() {
            problems.push(format!("S{number} has no test"));
        }
        for place in places {
            if !tests.contains(place) && !cases.contains(&(place.to_owned(), number)) {
                problems.push(format!("S{number}: no test and no case is named {place:?}"));
            }
            told.insert((place.to_owned(), number));
        }
    }
    let wanted: Vec<u32> = (1..=80).filter(|number| !REPLICATION_SCENARIOS.contains(number)).collect();
    assert_eq!(numbers, wanted);
    // A test that is named after scenarios stands in the line of each.
    let numbered = tests.iter().flat_map(|name| numbers_of(name).map(|number| (name.clone(), number)));
    for (place, number) in numbered.chain(cases) {
        if !told.contains(&(place.clone(), number)) {
            problems.push(format!("S{number}: the table does not tell of {place:?}"));
        }
    }
    report(problems);
}

/// The scenarios in the name of a test: 39 and 40 of `s39_s40_only_a_script`, 58 and 60 of `s58_to_s60_a_majority`.
fn numbers_of(name: &str) -> impl Iterator<Item = u32> {
    let number = |part: &str| part.strip_prefix('s').and_then(|digits| digits.parse().ok());
    name.split('_').take_while(move |part| *part == "to" || number(part).is_some()).filter_map(number)
}

/// The cases of transcripts whose titles begin with the number of a scenario, as `messaging: S3`.
fn numbered_cases() -> BTreeSet<(String, u32)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("tests/corpus").expect("tests/corpus").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(family) = name.strip_suffix(".txt") else { continue };
        let text = fs::read_to_string(entry.path()).expect("a transcript");
        for title in text.lines().filter_map(|line| line.strip_prefix("== S")) {
            let number = title.split_once(':').and_then(|(number, _)| number.parse().ok());
            found.extend(number.map(|number| (format!("{family}: S{number}"), number)));
        }
    }
    found
}

fn all_test_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for dir in ["src", "tests"] {
        for (_, text) in rust_files(dir) {
            for line in text.lines() {
                if let Some(rest) = line.trim_start().strip_prefix("fn ") {
                    names.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
                }
            }
        }
    }
    names
}
