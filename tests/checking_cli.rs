//! `moonkeep check` as its users meet it: what it prints, which files it writes, its exit status, and that the command it
//! shows repeats the failure.

use crate::cli::{ScriptFile, moonkeep_reading};
use crate::support::server::server_or_skip;
use std::path::{Path, PathBuf};
use std::process::Command;

fn moonkeep(words: &[&str]) -> (String, String, i32) {
    moonkeep_reading("", words)
}

/// A file that another one leaves beside it, removed with the guard.
struct Left(PathBuf);

impl Left {
    fn beside(path: &str, extension: &str) -> Self {
        Left(Path::new(path).with_extension(extension))
    }
    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).expect("the file is there")
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn broken_unlock() -> String {
    let source = include_str!("../lua/unlock.lua");
    source.replace("redis.call(\"GET\", KEYS[1]) ~= token", "false")
}

#[test]
fn scripts_that_keep_their_word_take_a_line_each() {
    let (out, err, status) =
        moonkeep(&["check", "--runs", "500", "--seed", "3", "lua/unlock.lua", "lua/renew_lock.lua"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "lua/unlock.lua: kept, 500 runs, seed 3, up to 25 instructions of 40");
    assert!(lines[1].starts_with("lua/renew_lock.lua: kept, 500 runs, seed 3, up to "), "{out}");
    assert!(
        lines[2].starts_with("2 scripts, 1000 runs in ") && lines[2].ends_with(": all kept their word"),
        "{out}"
    );
    assert_eq!((lines.len(), err.as_str(), status), (3, "", 0));
}

#[test]
fn a_broken_script_is_told_kept_and_repeated() {
    let script = ScriptFile::new("check-broken.lua", broken_unlock());
    let kept = Left::beside(script.path(), "regressions");
    let (out, _, status) = moonkeep(&["check", "--runs", "400", script.path()]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("  reply: line 15, case else => 0: the reply should be 0, it is 1\n"), "{out}");
    assert!(out.contains("    - {k}lock string \"\"\n"), "{out}");
    let command = out.lines().find(|line| line.contains("moonkeep eval")).expect("a command").trim();
    let shown =
        format!("moonkeep eval --do 'SET {{k}}lock \"\"' --checked {} '{{k}}lock' , 0", script.path());
    assert_eq!(command, shown);
    assert!(kept.text().contains("\nSET {k}lock \"\"\nadvance 0 ms\ncall 1 {k}lock 0\n"), "{}", kept.text());
    // The command shows the same.
    let folder = Path::new(env!("CARGO_BIN_EXE_moonkeep")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let run = Command::new("sh").args(["-c", command]).env("PATH", path).output().expect("a shell");
    let err = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(err.contains("case else => 0: the reply should be 0, it is 1"), "{err}");
    assert_eq!(run.status.code(), Some(1));
    // What failed once is tried first, and is written once.
    let before = kept.text();
    let (out, _, status) = moonkeep(&["check", "--runs", "1", script.path()]);
    assert!(status == 1 && out.contains("the reply should be 0, it is 1"), "{out}");
    assert_eq!(kept.text(), before);
    std::fs::write(script.path(), include_str!("../lua/unlock.lua")).expect("repaired");
    let (out, _, status) = moonkeep(&["check", "--runs", "100", script.path()]);
    assert!(status == 0 && out.contains(": kept, 102 runs"), "{out}");
    std::fs::write(kept.path(), "SET k\n\"\n").expect("written");
    let (_, err, status) = moonkeep(&["check", script.path()]);
    assert_eq!((err, status), (format!("moonkeep: {}:2: a quote is not closed\n", kept.path()), 2));
}

#[test]
fn programs_read_json_and_junit_and_people_a_page() {
    let script = ScriptFile::new("check-reports.lua", broken_unlock());
    let (junit, html) = (Left::beside(script.path(), "xml"), Left::beside(script.path(), "html"));
    let (out, err, status) = moonkeep(&[
        "check",
        "--json",
        "--no-regressions",
        "--runs",
        "300",
        "--junit",
        junit.path(),
        "--html",
        html.path(),
        script.path(),
        "lua/unlock.lua",
    ]);
    assert_eq!((err.as_str(), status), ("", 1), "{out}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let scripts = json["scripts"].as_array().expect("scripts");
    assert_eq!((scripts[0]["kept"].clone(), scripts[1]["kept"].clone()), (false.into(), true.into()));
    let failure = &scripts[0]["failures"][0];
    assert_eq!((failure["rule"].as_str(), failure["reply"].as_i64()), (Some("reply"), Some(1)));
    assert_eq!(failure["setup"][0], serde_json::json!(["SET", "{k}lock", ""]));
    assert_eq!(scripts[1]["clauses"].as_array().map(Vec::len), Some(4));
    let junit = junit.text();
    assert!(junit.contains("tests=\"4\" failures=\"2\" skipped=\"0\""), "{junit}");
    assert!(
        junit.contains("<failure type=\"reply\" message=\"line 15, case else =&gt; 0: the reply"),
        "{junit}"
    );
    let html = html.text();
    assert!(html.contains("<title>moonkeep check: 1 of 2 scripts broke their contract</title>"), "{html}");
    assert!(!html.contains("http") && !html.contains("<script"), "it stands alone");
    assert!(!Path::new(script.path()).with_extension("regressions").exists());
}

#[test]
fn the_examples_of_the_help_run() {
    let (help, _, _) = moonkeep(&["help", "check"]);
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    for example in examples.lines() {
        let words: Vec<&str> = example.split_whitespace().skip(1).collect();
        let (out, err, status) = moonkeep(&words);
        assert_eq!((err.as_str(), status), ("", 0), "{example}: {out}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
}

#[test]
fn mutants_are_listed() {
    let (out, err, status) = moonkeep(&["check", "--mutate", "--runs", "600", "lua/unlock.lua"]);
    assert_eq!((err.as_str(), status), ("", 0), "{out}");
    assert!(out.contains(" mutants noticed\n"), "{out}");
}

#[test]
fn a_call_that_makes_no_sense_says_what_would() {
    let wrong = ScriptFile::new("check-wrong.lua", "--!contract c\n--!key k integer\nreturn 1");
    let broken =
        ScriptFile::new("check-syntax.lua", format!("{}\nreturn return", include_str!("../lua/unlock.lua")));
    let place = format!("{}:2:10: \"integer\" is no type of a key; types are", wrong.path());
    for (words, told) in [
        (&["check"][..], "check needs the file of a script, see moonkeep check --help"),
        (&["check", "--runs", "0", "lua/unlock.lua"], "--runs takes a number from 1 on"),
        (&["check", "--what"], "invalid option '--what'; see moonkeep check --help"),
        (&["check", "-"], "check reads scripts from files"),
        (&["check", wrong.path()], place.as_str()),
        (&["check", broken.path()], &format!("{}: ERR Error compiling script", broken.path())),
        (
            &["check", "--against", "rediss://h", "lua/unlock.lua"],
            "--against takes redis://HOST:PORT/DB or unix:PATH",
        ),
        (
            &["check", "--against", "redis://h/x", "lua/unlock.lua"],
            "after the / of --against stands the number of a database",
        ),
        (&["check", "--against", "unix:/no/such", "lua/unlock.lua"], "cannot connect to unix:/no/such: "),
    ] {
        let (out, err, status) = moonkeep(words);
        assert!(err.starts_with(&format!("moonkeep: {told}")), "{words:?}: {err}");
        assert_eq!((out.as_str(), status), ("", 2), "{words:?}");
    }
}

#[test]
fn a_real_server_takes_part() {
    let Some(server) = server_or_skip("a_real_server_takes_part") else { return };
    let url = format!("unix:{}", server.socket().display());
    let (out, err, status) = moonkeep(&["check", "--runs", "200", "--against", &url, "lua/renew_lock.lua"]);
    assert_eq!((err.as_str(), status), ("", 0), "{out}");
    assert!(
        out.contains(" calls were not sent to the server: they hang on the instant of an expiry\n"),
        "{out}"
    );
}

#[test]
fn words_in_quotes_hold_any_bytes() {
    let words = ["eval", "--quoted", "-e", "return {#KEYS, #ARGV[1]}", "\",\"", ",", "\"a\\x00b\""];
    assert_eq!(moonkeep(&words), ("1) (integer) 1\n2) (integer) 3\n".to_owned(), String::new(), 0));
    let (_, err, status) = moonkeep(&["eval", "--quoted", "-e", "return 1", "\"a"]);
    assert_eq!(status, 2);
    assert!(err.starts_with("moonkeep: \"\\\"a\" is no word in the quotes of redis-cli"), "{err}");
}

#[test]
fn a_draft_is_printed_for_a_script_without_a_contract() {
    let script = ScriptFile::new("draft.lua", "local n = ARGV[1] return redis.call('LPUSH', KEYS[1], n)");
    let (out, err, status) = moonkeep(&["contract", script.path()]);
    assert!(
        out.starts_with("--!contract script\n--!key   key1  list optional rw\n--!argv  n  bytes\n"),
        "{out}"
    );
    assert_eq!((err.as_str(), status), ("", 0));
    for (words, told) in [
        (&["contract"][..], "contract needs the file of a script, see moonkeep contract --help"),
        (&["contract", "lua/unlock.lua"], "lua/unlock.lua has a contract already; moonkeep check tries it"),
        (&["contract", "--what"], "invalid option '--what'; see moonkeep contract --help"),
        (&["contract", "a", "b"], "contract takes one script, not \"b\" too"),
    ] {
        assert_eq!(moonkeep(words), (String::new(), format!("moonkeep: {told}\n"), 2));
    }
}
