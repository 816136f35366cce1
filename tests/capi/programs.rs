//! The programs of `tests/c` and `examples/c`, built by real compilers against the static library: each prints what stands in
//! its `.expected` file, under valgrind too. Built with `--cfg moonkeep_asan`, this test builds them for AddressSanitizer, with
//! its check for leaks.

use super::header::STRICT;
use super::{have, library, root, scratch, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a static Rust library needs from the system: `rustc --print native-static-libs`.
const SYSTEM_LIBRARIES: &[&str] = &["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

/// Any finding and any block that is lost fails the program; what statics hold to the end is not.
const VALGRIND: &[&str] = &[
    "valgrind",
    "--quiet",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite,indirect,possible",
    "--error-exitcode=99",
];

/// One way to build and run a program.
struct Way {
    name: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    runner: &'static [&'static str],
}

const C11: &[&str] = &["-std=c11", "-D_POSIX_C_SOURCE=200809L"];
const CPP17: &[&str] = &["-std=c++17"];

const C_WAYS: &[Way] = &[
    Way { name: "gcc", compiler: "gcc", flags: C11, runner: &[] },
    Way { name: "clang", compiler: "clang", flags: C11, runner: &[] },
    Way { name: "valgrind", compiler: "gcc", flags: C11, runner: VALGRIND },
];

const CPP_WAYS: &[Way] = &[
    Way { name: "g++", compiler: "g++", flags: CPP17, runner: &[] },
    Way { name: "clang++", compiler: "clang++", flags: CPP17, runner: &[] },
    Way { name: "valgrind", compiler: "g++", flags: CPP17, runner: VALGRIND },
];

const C_ASAN: &[Way] = &[Way { name: "asan", compiler: "clang", flags: C11, runner: &[] }];
const CPP_ASAN: &[Way] = &[Way { name: "asan", compiler: "clang++", flags: CPP17, runner: &[] }];

#[test]
fn border() {
    run("tests/c/border.c");
}

#[test]
fn command() {
    run("tests/c/command.c");
}

#[test]
fn objects() {
    run("tests/c/objects.c");
}

#[test]
fn random() {
    run("tests/c/random.c");
}

#[test]
fn stock() {
    run("tests/c/stock.c");
}

#[test]
fn threads() {
    run("tests/c/threads.c");
}

#[test]
fn wrapper() {
    run("tests/c/wrapper.cpp");
}

#[test]
fn example_of_a_race_on_stock() {
    run("examples/c/stock_race.c");
}

#[test]
fn example_of_a_lease() {
    run("examples/c/lease.c");
}

#[test]
fn the_readme_shows_what_the_examples_print() {
    let readme = std::fs::read_to_string(root("README.md")).expect("it is kept");
    for example in ["lease", "stock_race"] {
        let printed =
            std::fs::read_to_string(root(&format!("examples/c/{example}.expected"))).expect("it is kept");
        assert!(readme.contains(&format!("```text\n{printed}```\n")), "the README shows {example}");
    }
}

/// Builds a program in each way, runs it and compares what it prints with its `.expected` file.
fn run(file: &str) {
    let source = root(file);
    let is_cpp = file.ends_with(".cpp");
    let ways = match (cfg!(moonkeep_asan), is_cpp) {
        (false, false) => C_WAYS,
        (false, true) => CPP_WAYS,
        (true, false) => C_ASAN,
        (true, true) => CPP_ASAN,
    };
    let expected = std::fs::read_to_string(source.with_extension("expected")).expect("it is kept");
    for way in ways {
        let runner = way.runner.first().copied();
        if !have(&[way.compiler]) || runner.is_some_and(|runner| !have(&[runner])) {
            continue;
        }
        let program = compile(&source, way);
        let mut words = way.runner.iter().map(Into::into).chain([program.into_os_string()]);
        let mut command = Command::new(words.next().expect("there is a program"));
        // Caught panics are part of some programs; where they were is told by the compiler's own tests.
        command.args(words).arg(root("lua")).env("RUST_BACKTRACE", "0");
        let output = succeed(&mut command);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{file}, {}", way.name);
    }
}

fn compile(source: &Path, way: &Way) -> PathBuf {
    // A file of its own for each way: tests run at the same time.
    let stem = source.file_stem().expect("a file").to_string_lossy().into_owned();
    let program = scratch(&format!("{stem}-{}", way.name));
    let object = program.with_extension("o");
    let mut command = Command::new(way.compiler);
    command.args(way.flags).arg("-g").arg("-I").arg(root("include")).args(STRICT);
    if cfg!(moonkeep_asan) {
        command.args(["-fsanitize=address", "-fno-omit-frame-pointer"]);
    }
    succeed(command.arg("-c").arg(source).arg("-o").arg(&object));
    let mut command = Command::new(way.compiler);
    command.arg(&object).arg(library("a"));
    if cfg!(moonkeep_asan) {
        // The runtime that the library was built for, not the C compiler's.
        command.arg("-Wl,--whole-archive").arg(asan_runtime()).arg("-Wl,--no-whole-archive");
    }
    succeed(command.args(SYSTEM_LIBRARIES).arg("-o").arg(&program));
    program
}

fn asan_runtime() -> PathBuf {
    let output = succeed(Command::new("rustc").args(["--print", "target-libdir"]));
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let mut files = std::fs::read_dir(folder).expect("the compiler has libraries").flatten();
    let runtime = files.find(|file| file.file_name().to_string_lossy().ends_with("_rt.asan.a"));
    runtime.expect("the compiler comes with its sanitizers").path()
}
