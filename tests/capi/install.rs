//! What `packaging/install` puts in place is found by pkg-config and by CMake's find_package, and builds programs that run.
//! MOONKEEP_PREFIX names a place where it was installed already; else the libraries of this build are.

use super::header::STRICT;
use super::{have, library, root, scratch, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLE: &str = "examples/c/stock_race.c";

/// The prefix with the library, in a folder of the test's own.
fn install(test: &str) -> PathBuf {
    if let Some(prefix) = std::env::var_os("MOONKEEP_PREFIX") {
        return prefix.into();
    }
    let prefix = scratch(&format!("prefix-{test}"));
    let built = library("so");
    let folder = built.parent().expect("a file is in a folder");
    succeed(Command::new(root("packaging/install")).arg(&prefix).arg(folder));
    prefix
}

fn runs(program: &Path, prefix: &Path) {
    let output = succeed(Command::new(program).arg(root("lua")).env("LD_LIBRARY_PATH", prefix.join("lib")));
    let expected = std::fs::read_to_string(root(EXAMPLE).with_extension("expected")).expect("it is kept");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{}", program.display());
}

fn pkg_config(prefix: &Path, args: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(args).arg("moonkeep");
    let output = succeed(&mut command);
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
}

#[test]
fn pkg_config_finds_what_is_installed() {
    if cfg!(moonkeep_asan) || !have(&["gcc", "pkg-config"]) {
        return;
    }
    let prefix = install("pkg-config");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(pkg_config(&prefix, &["--modversion"]), [version]);
    let program = scratch("installed-shared");
    let mut shared = Command::new("gcc");
    shared.arg("-std=c11").args(STRICT).arg(root(EXAMPLE)).arg("-o").arg(&program);
    succeed(shared.args(pkg_config(&prefix, &["--cflags", "--libs"])));
    runs(&program, &prefix);

    let program = scratch("installed-static");
    let mut archive = Command::new("gcc");
    archive.arg("-std=c11").args(STRICT).args(pkg_config(&prefix, &["--cflags"]));
    archive.arg(root(EXAMPLE)).arg("-o").arg(&program);
    archive.args(pkg_config(&prefix, &["--variable=archive"]));
    let system = pkg_config(&prefix, &["--static", "--libs-only-l"]);
    succeed(archive.args(system.iter().filter(|flag| *flag != "-lmoonkeep")));
    runs(&program, &prefix);
}

#[test]
fn cmake_finds_what_is_installed() {
    if cfg!(moonkeep_asan) || !have(&["gcc", "g++", "cmake"]) {
        return;
    }
    let prefix = install("cmake");
    let folder = scratch("cmake-project");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let project = format!(
        "cmake_minimum_required(VERSION 3.13)\n\
         project(program C)\n\
         find_package(moonkeep {} REQUIRED)\n\
         add_executable(shared \"{1}\")\n\
         target_link_libraries(shared PRIVATE moonkeep::moonkeep)\n\
         add_executable(static \"{1}\")\n\
         target_link_libraries(static PRIVATE moonkeep::static)\n",
        env!("CARGO_PKG_VERSION"),
        root(EXAMPLE).display()
    );
    std::fs::write(folder.join("CMakeLists.txt"), project).expect("the scratch folder is writable");
    let built = folder.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&folder).arg("-B").arg(&built);
    succeed(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    succeed(Command::new("cmake").arg("--build").arg(&built));
    runs(&built.join("shared"), &prefix);
    runs(&built.join("static"), &prefix);
}

#[test]
fn the_installed_library_has_its_versioned_name() {
    // Only a library that was built to be installed has one.
    if std::env::var_os("MOONKEEP_PREFIX").is_none() || !have(&["readelf"]) {
        return;
    }
    let library = install("name").join("lib/libmoonkeep.so");
    let output = succeed(Command::new("readelf").arg("-d").arg(library));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Library soname: [libmoonkeep.so.1]"), "{text}");
}
