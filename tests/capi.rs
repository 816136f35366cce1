//! The C ABI from C: the header is the one cbindgen makes, and the programs of `tests/c`, built by real compilers against
//! the static library, print what stands in their `.expected` file, under valgrind too where there is one.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];

/// What a static Rust library needs from the system: `rustc --print native-static-libs`.
const SYSTEM_LIBRARIES: &[&str] = &["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

#[test]
fn the_header_is_the_generated_one() {
    let config = cbindgen::Config::from_file(root("cbindgen.toml")).expect("cbindgen.toml is readable");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root("src/front/capi.rs"))
        .generate()
        .expect("cbindgen reads the C ABI");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let generated = String::from_utf8(generated).expect("the header is text");
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
        if !is_installed(compiler) {
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
fn border_built_by_gcc() {
    run_program("border", "gcc", &[]);
}

#[test]
fn border_built_by_clang() {
    run_program("border", "clang", &[]);
}

#[test]
fn border_under_valgrind() {
    run_program("border", "gcc", VALGRIND);
}

#[test]
fn stock_built_by_gcc() {
    run_program("stock", "gcc", &[]);
}

#[test]
fn stock_built_by_clang() {
    run_program("stock", "clang", &[]);
}

#[test]
fn stock_under_valgrind() {
    run_program("stock", "gcc", VALGRIND);
}

/// Any finding and any block that is lost fails the program; what statics hold to the end is not.
const VALGRIND: &[&str] = &[
    "valgrind",
    "--quiet",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite,indirect,possible",
    "--error-exitcode=99",
];

/// Builds a program of `tests/c`, runs it and compares what it prints with its `.expected` file.
fn run_program(name: &str, compiler: &str, runner: &[&str]) {
    let needed = [compiler].into_iter().chain(runner.first().copied());
    if let Some(missing) = needed.into_iter().find(|program| !is_installed(program)) {
        println!("skipped: {missing} is not installed");
        return;
    }
    let program = compile(name, compiler, runner);
    let mut words = runner.iter().map(Into::into).chain([program.into_os_string()]);
    let mut command = Command::new(words.next().expect("there is a program"));
    command.args(words).arg(root("lua/decrease_stock.lua"));
    let output = succeed(&mut command);
    let expected = std::fs::read_to_string(root(&format!("tests/c/{name}.expected"))).expect("it is kept");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}.c built by {compiler}");
}

fn root(file: &str) -> PathBuf {
    Path::new(ROOT).join(file)
}

/// A file in the folder that cargo keeps for tests.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn compile(name: &str, compiler: &str, runner: &[&str]) -> PathBuf {
    // A file of its own for each test: they run at the same time.
    let program = scratch(&format!("{name}-{compiler}-{}", runner.first().unwrap_or(&"alone")));
    let mut command = Command::new(compiler);
    command.args(["-std=c11", "-g", "-I"]).arg(root("include")).args(STRICT);
    command.arg(root(&format!("tests/c/{name}.c"))).arg("-o").arg(&program);
    command.arg(static_library()).args(SYSTEM_LIBRARIES);
    succeed(&mut command);
    program
}

/// The static library that cargo built together with the library that this test links: the newest one beside the test.
fn static_library() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    let folder = test.parent().expect("a file is in a folder");
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("libmoonkeep") && name.ends_with(".a")
    });
    let newest = found.max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok());
    newest.map(|entry| entry.path()).expect("cargo test builds the static library beside the test")
}
