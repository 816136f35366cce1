//! The default build is small: what a program takes in with the library is counted, so that it does not grow unseen.

use std::collections::BTreeSet;
use std::process::Command;

fn crates(features: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(features)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn the_library_alone_takes_in_few_crates() {
    let library = crates(&["--no-default-features"]);
    assert!(library.len() <= 36, "{} crates: {library:?}", library.len());
    let command: BTreeSet<String> = crates(&[]).difference(&library).cloned().collect();
    assert_eq!(command, BTreeSet::from(["lexopt".to_string()]), "what the cli feature adds");
}
