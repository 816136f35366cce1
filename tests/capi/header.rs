//! `include/moonkeep.h` is what the sources say: made by cbindgen of `src/front/capi`, with `command.h` behind it. UPDATE=1
//! rewrites it. It is clean C11 and C++17, and the shared library exports what it declares and nothing else.

use super::{have, library, root, scratch, succeed};
use std::collections::BTreeSet;
use std::process::Command;

pub(super) const STRICT: &[&str] =
    &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wformat=2", "-Werror"];

/// In the order of the header. Not `mod`: cbindgen follows what it names, and each function would stand there twice.
const SOURCES: &[&str] =
    &["version", "fault", "engine", "options", "client", "reply", "script", "state", "journal"];

/// Types of the border that say in Rust what is promised, and stand for these in C.
const TYPES: &[(&str, &str)] = &[
    ("Text ", "const char *"),
    ("Words ", "const char *const *"),
    ("Lengths ", "const size_t *"),
    ("Returned ", "mk_reply *"),
    // Shared in Rust, since any thread may use them; in C their state changes.
    ("const mk_engine *", "mk_engine *"),
    ("const mk_client *", "mk_client *"),
    ("const mk_options *", "mk_options *"),
    ("const mk_journal *", "mk_journal *"),
];

const END: &str = "#endif  /* MOONKEEP_H */";

fn generate() -> String {
    let config = cbindgen::Config::from_file(root("cbindgen.toml")).expect("cbindgen.toml is readable");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root(&format!("src/front/capi/{source}.rs")));
    }
    let mut generated = Vec::new();
    builder.generate().expect("cbindgen reads the C ABI").write(&mut generated);
    let mut text = String::from_utf8(generated).expect("the header is text");
    for (rust, c) in TYPES {
        text = text.replace(rust, c);
    }
    let command = std::fs::read_to_string(root("src/front/capi/command.h")).expect("it is kept");
    let once = |name: &&str| text.matches(&format!("{name}(")).count() == 1;
    assert!(["mk_call", "mk_version", "mk_state_hash"].iter().all(once), "each function is declared once");
    let (declared, _) = text.rsplit_once(END).expect("the header has a guard");
    format!("{declared}{command}\n{END}\n")
}

#[test]
fn the_header_is_the_generated_one() {
    let generated = generate();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(root("include/moonkeep.h"), &generated).expect("the header is writable");
    }
    let kept = std::fs::read_to_string(root("include/moonkeep.h")).unwrap_or_default();
    assert!(kept == generated, "include/moonkeep.h is not what cbindgen makes; run this test with UPDATE=1");
}

#[test]
fn the_header_is_clean_c11_and_cpp17() {
    for (compiler, standard, language) in [
        ("gcc", "-std=c11", "c"),
        ("g++", "-std=c++17", "c++"),
        ("clang", "-std=c11", "c"),
        ("clang++", "-std=c++17", "c++"),
    ] {
        if !have(&[compiler]) {
            continue;
        }
        let header = root("include/moonkeep.h");
        // Twice: the guard must hold.
        let unit = format!("#include \"{0}\"\n#include \"{0}\"\nint unit;\n", header.display());
        let source = scratch(&format!("header-{compiler}.{}", if language == "c" { "c" } else { "cpp" }));
        std::fs::write(&source, unit).expect("the scratch folder is writable");
        let mut command = Command::new(compiler);
        command.args([standard, "-x", language, "-fsyntax-only"]).args(STRICT).arg(&source);
        succeed(&mut command);
    }
}

#[test]
fn the_shared_library_exports_what_the_header_declares() {
    if cfg!(moonkeep_asan) || !have(&["nm"]) {
        return;
    }
    let mut command = Command::new("nm");
    command.args(["--dynamic", "--defined-only", "--format=posix"]).arg(library("so"));
    let output = succeed(&mut command);
    let text = String::from_utf8(output.stdout).expect("symbols are text");
    let exported: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    let header = generate();
    let (declared, _) = header.split_once("mk_command: a command from a format").expect("it follows");
    let declared: BTreeSet<&str> = declared
        .lines()
        .filter(|line| !line.starts_with([' ', '/', '#']) && line.contains('('))
        .filter_map(|line| line.split('(').next()?.rsplit([' ', '*']).next())
        .collect();
    assert_eq!(exported, declared);
}
