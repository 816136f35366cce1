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
    // lexopt reads the command line; rustyline is the prompt's line editor (keys, history, completion, wide letters),
    // the one of its kind that takes in the fewest crates.
    let editor =
        ["bitflags", "log", "nix", "rustyline", "unicode-segmentation", "unicode-width", "utf8parse"];
    // mio watches the sockets of `serve`, signal-hook ends it.
    let server = ["errno", "mio", "signal-hook", "signal-hook-registry"];
    let wanted =
        editor.into_iter().chain(server).chain(["lexopt"]).map(String::from).collect::<BTreeSet<_>>();
    assert_eq!(command, wanted, "what the cli feature adds");
}

/// The redis crate and what it needs; whoever turns the feature on has it already. (More than half is for reading URLs.)
#[test]
fn the_redis_features_add_little_but_the_redis_crate() {
    let library = crates(&["--no-default-features"]);
    let with_redis = crates(&["--no-default-features", "--features", "redis"]);
    let with_async = crates(&["--no-default-features", "--features", "redis-aio"]);
    let redis = with_redis.difference(&library).count();
    assert!(redis <= 40, "{redis} crates more: {with_redis:?}");
    let more = with_async.difference(&with_redis).count();
    assert!(more <= 16, "{more} crates more: {with_async:?}");
}
