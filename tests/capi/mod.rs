//! The C ABI from outside: `header` makes the header, `allocations` counts, `programs` runs what `tests/c` and `examples/c` hold, `install` builds
//! against an installed library, `python` runs `examples/python`. A tool that is missing skips its tests with a message, unless
//! MOONKEEP_REQUIRE_C is set.

mod allocations;
mod header;
mod install;
mod programs;
mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// A place in the folder that cargo keeps for tests.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Whether the tools of a test are there; says which one is not.
fn have(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        !Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    let Some(missing) = missing else { return true };
    assert!(std::env::var_os("MOONKEEP_REQUIRE_C").is_none(), "{missing} is required, and not installed");
    println!("skipped: {missing} is not installed");
    false
}

#[track_caller]
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

/// The C library in the form with this ending, `a` or `so`, as cargo built it together with the library that this test
/// links: the newest one beside the test.
fn library(ending: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    let folder = test.parent().expect("a file is in a folder");
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("libmoonkeep") && name.rsplit_once('.').is_some_and(|(_, end)| end == ending)
    });
    let newest = found.max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok());
    newest.map(|entry| entry.path()).expect("cargo test builds the C libraries beside the test")
}
