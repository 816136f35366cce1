//! `examples/python` on the shared library: what the example prints, and its tests with a held clock.

use super::{have, library, root, succeed};
use std::process::Command;

fn python(file: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg("-B").arg(root(file)).env("MOONKEEP_LIBRARY", library("so"));
    command
}

#[test]
fn the_example_prints_what_is_kept() {
    if cfg!(moonkeep_asan) || !have(&["python3"]) {
        return;
    }
    let output = succeed(&mut python("examples/python/scripts.py"));
    let expected = std::fs::read_to_string(root("examples/python/scripts.expected")).expect("it is kept");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn the_tests_of_the_example_pass() {
    if cfg!(moonkeep_asan) || !have(&["python3"]) {
        return;
    }
    let output = succeed(&mut python("examples/python/test_moonkeep.py"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("Ran 12 tests") && told.trim_end().ends_with("OK"), "{told}");
}
