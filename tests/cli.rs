//! The `moonkeep` command as its users meet it: what it prints, where, with which exit status, and what it says to
//! those who call it wrongly.

use std::path::PathBuf;
use std::process::Command;

/// Standard output, standard error and the exit status of one call, in the folder of the crate.
fn moonkeep(words: &[&str]) -> (String, String, i32) {
    let out = Command::new(env!("CARGO_BIN_EXE_moonkeep"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(words)
        .output()
        .expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(out.stdout), text(out.stderr), out.status.code().expect("an exit status"))
}

/// A script file that is removed with the guard.
struct ScriptFile(PathBuf);

impl ScriptFile {
    fn new(name: &str, source: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}.lua"));
        std::fs::write(&path, source).expect("the script is written");
        ScriptFile(path)
    }
    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for ScriptFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const STOCK: &str = "lua/decrease_stock.lua";

#[test]
fn the_first_command_of_the_readme_prints_what_the_readme_shows() {
    let (out, err, status) = moonkeep(&["eval", "--do", "SET stock:{p1} 10", STOCK, "stock:{p1}", ",", "1"]);
    let readme = include_str!("../README.md");
    assert!(readme.contains("eval --do 'SET stock:{p1} 10' lua/decrease_stock.lua 'stock:{p1}' , 1\n"));
    assert!(readme.contains(&format!("```text\n{out}```")), "{out}");
    assert_eq!((err.as_str(), status), ("", 0));
}

#[test]
fn an_error_reply_is_shown_and_gives_status_1() {
    let script = ScriptFile::new("error", "return redis.error_reply('MY no')");
    let shown = ("(error) MY no\n".to_owned(), String::new(), 1);
    assert_eq!(moonkeep(&["eval", script.path()]), shown);
}

#[test]
fn words_may_hold_any_bytes() {
    let script = ScriptFile::new("bytes", "return {KEYS[1], ARGV[1], #ARGV[1], redis.call('GET', KEYS[1])}");
    let (out, err, status) = moonkeep(&["eval", "--do", r#"SET ü "\xff\x00""#, script.path(), "ü", ",", "é"]);
    let replies = "1) \"\\xc3\\xbc\"\n2) \"\\xc3\\xa9\"\n3) (integer) 2\n4) \"\\xff\\x00\"\n";
    assert_eq!((out.as_str(), err.as_str(), status), (replies, "", 0));
}

#[test]
fn a_forgotten_comma_is_told_when_the_script_fails() {
    let error = "(error) Expected one key and one argument\n".to_owned();
    let none =
        "moonkeep: no comma stands among the words, so all are keys; arguments follow one: KEY , ARG\n";
    assert_eq!(moonkeep(&["eval", STOCK, "stock", "1"]), (error.clone(), none.into(), 1));
    let touching = |word: &str| {
        format!(
            "moonkeep: the comma of {word:?} belongs to the key; one that ends the keys stands alone: KEY , ARG\n"
        )
    };
    assert_eq!(moonkeep(&["eval", STOCK, "stock,", "1"]), (error.clone(), touching("stock,"), 1));
    assert_eq!(moonkeep(&["eval", STOCK, "stock", ",1"]), (error, touching(",1"), 1));
}

#[test]
fn an_option_after_the_script_is_told() {
    let script = ScriptFile::new("options", "return #KEYS + #ARGV");
    let told = "moonkeep: --do stands after SCRIPT and went to the script; options stand before SCRIPT\n";
    let run = moonkeep(&["eval", script.path(), "k", ",", "--do", "SET k v"]);
    assert_eq!(run, ("(integer) 3\n".into(), told.into(), 0));
}

#[test]
fn a_wrong_call_says_what_is_right_and_gives_status_2() {
    let cases: &[(&[&str], &str)] = &[
        (&["evl", STOCK], "there is no command \"evl\"; `moonkeep help` lists them"),
        (&["--eval", STOCK], "it is `moonkeep eval SCRIPT ...`, without the dashes of redis-cli"),
        (&["--what"], "invalid option '--what'; see `moonkeep help`"),
        (&["eval"], "eval needs the file of a script, see moonkeep eval --help"),
        (
            &["eval", "--sed", "1", STOCK],
            "invalid option '--sed'; options of eval stand before SCRIPT, see moonkeep eval --help",
        ),
        (&["eval", "--now", "2024-01-01", STOCK], "--now takes Unix milliseconds, not \"2024-01-01\""),
        (&["eval", "--seed", "-1", STOCK], "--seed takes a number from 0 on, not \"-1\""),
        (&["eval", "--do", "", STOCK], "--do \"\": it needs a command, as in --do 'SET k v'"),
        (&["eval", "--do", "SET k \"v", STOCK], "--do \"SET k \\\"v\": the quotes are not balanced"),
        (
            &["eval", "--do", "SET k", STOCK],
            "--do \"SET k\": ERR wrong number of arguments for 'set' command",
        ),
        (
            &["eval", "nofile.lua"],
            "cannot read the script \"nofile.lua\": No such file or directory (os error 2)",
        ),
    ];
    for (words, text) in cases {
        assert_eq!(moonkeep(words), (String::new(), format!("moonkeep: {text}\n"), 2), "{words:?}");
    }
}

#[test]
fn help_is_there_in_each_form_that_people_try() {
    let (general, _, _) = moonkeep(&["help"]);
    assert!(general.contains("moonkeep eval [OPTIONS] SCRIPT [KEY...] , [ARG...]"), "{general}");
    for words in [&[][..], &["--help"], &["-h"]] {
        assert_eq!(moonkeep(words), (general.clone(), String::new(), 0));
    }
    let (eval, _, _) = moonkeep(&["eval", "--help"]);
    assert!(eval.contains("--do CMD"), "{eval}");
    for words in [&["help", "eval"][..], &["eval", "-h"]] {
        assert_eq!(moonkeep(words), (eval.clone(), String::new(), 0));
    }
}
