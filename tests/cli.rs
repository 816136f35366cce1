//! The `moonkeep` command as its users meet it: what it prints, where, with which exit status, and what it says to
//! those who call it wrongly.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Standard output, standard error and the exit status of one call, in the folder of the crate.
fn moonkeep(words: &[&str]) -> (String, String, i32) {
    moonkeep_reading("", words)
}

/// The same, with this on standard input.
pub(crate) fn moonkeep_reading(input: &str, words: &[&str]) -> (String, String, i32) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_moonkeep"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // One that does not read its input may have gone already.
    let _ = child.stdin.take().expect("its input").write_all(input.as_bytes());
    let out = child.wait_with_output().expect("the command ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(out.stdout), text(out.stderr), out.status.code().expect("an exit status"))
}

/// A file that is removed with the guard.
pub(crate) struct ScriptFile(PathBuf);

impl ScriptFile {
    pub(crate) fn new(name: &str, source: impl AsRef<[u8]>) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
        std::fs::write(&path, source).expect("the file is written");
        ScriptFile(path)
    }
    pub(crate) fn path(&self) -> &str {
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
    let script = ScriptFile::new("error.lua", "return redis.error_reply('MY no')");
    let shown = ("(error) MY no\n".to_owned(), String::new(), 1);
    assert_eq!(moonkeep(&["eval", script.path()]), shown);
}

#[test]
fn words_may_hold_any_bytes() {
    let script =
        ScriptFile::new("bytes.lua", "return {KEYS[1], ARGV[1], #ARGV[1], redis.call('GET', KEYS[1])}");
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
    let script = ScriptFile::new("options.lua", "return #KEYS + #ARGV");
    let told = "moonkeep: --do stands after SCRIPT and went to the script; options stand before SCRIPT\n";
    let run = moonkeep(&["eval", script.path(), "k", ",", "--do", "SET k v"]);
    assert_eq!(run, ("(integer) 3\n".into(), told.into(), 0));
}

fn ok(out: &str) -> (String, String, i32) {
    (out.into(), String::new(), 0)
}

#[test]
fn the_examples_of_the_helps_run() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_moonkeep")).parent().expect("a folder").to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.display());
    let mut last_lines = Vec::new();
    for command in ["eval", "repl"] {
        let (help, _, _) = moonkeep(&["help", command]);
        let (_, examples) = help.split_once("Examples:\n").expect("examples");
        for example in examples.lines() {
            let shell =
                Command::new("sh").args(["-c", example]).env("PATH", &path).stdin(Stdio::null()).output();
            let out = shell.expect("a shell");
            assert_eq!((out.status.code(), out.stderr.len()), (Some(0), 0), "{example}");
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            last_lines.push(text.lines().last().unwrap_or_default().to_owned());
        }
        assert!(help.contains("\n  --do CMD "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
    }
    assert_eq!(
        last_lines,
        ["changed: DECRBY stock:{p1} 1", "(integer) 0", "changed: INCRBY n 5", "", "(nil)"]
    );
}

#[test]
fn a_script_may_be_a_file_standard_input_or_the_text_itself() {
    let source = "return {KEYS[1] or '', ARGV[1] or ''}";
    let shown = ok("1) \"k\"\n2) \"a\"\n");
    let file = ScriptFile::new("source.lua", source);
    assert_eq!(moonkeep(&["eval", file.path(), "k", ",", "a"]), shown);
    assert_eq!(moonkeep_reading(source, &["eval", "-", "k", ",", "a"]), shown);
    for option in ["-e", "--script"] {
        assert_eq!(moonkeep(&["eval", option, source, "k", ",", "a"]), shown);
    }
    assert_eq!(moonkeep(&["eval", "-e", source, ",", "a"]), ok("1) \"\"\n2) \"a\"\n"));
    assert_eq!(moonkeep(&["eval", "-ereturn 1"]), ok("(integer) 1\n"));
}

#[test]
fn the_set_up_is_done_in_the_order_given() {
    let lease = ScriptFile::new("order.txt", b"# a lease\n\nSET lock \"b\\xff\" NX PX 5000\r\n");
    let script = "return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), redis.call('TIME')[1]}";
    let run = moonkeep(&[
        "eval",
        "--do",
        "SET lock a PX 5000",
        "--advance",
        "5s",
        "--advance",
        "1",
        "--setup",
        lease.path(),
        "--advance",
        "1500ms",
        "--now",
        "1000",
        "-e",
        script,
        "lock",
    ]);
    assert_eq!(run, ok("1) \"b\\xff\"\n2) (integer) 3500\n3) \"7\"\n"));
}

#[test]
fn a_set_up_file_may_hold_scripts_and_any_bytes() {
    let setup = ScriptFile::new("script.txt", b"EVAL \"\nredis.call('SET', 'raw', '\xfe')\n\" 0\nINCR n");
    let run = moonkeep(&["eval", "--setup", setup.path(), "-e", "return redis.call('MGET', 'raw', 'n')"]);
    assert_eq!(run, ok("1) \"\\xfe\"\n2) \"1\"\n"));
}

#[test]
fn a_wrong_line_of_a_set_up_is_told_with_its_place() {
    let cases = [
        ("SET k v\nSET k\n", "2: ERR wrong number of arguments for 'set' command"),
        ("\n# c\nGTE k", "3: ERR unknown command 'GTE', with args beginning with: 'k' "),
        ("SET k v\nSET k \"v\nGET k\n", "2: the quotes are not balanced"),
        (
            "\n:advance 5s",
            "2: :advance is a command of the prompt (moonkeep repl); --advance moves the clock here",
        ),
        ("SET k \"v\"w", "1: a space has to follow a closing quote"),
    ];
    for (text, error) in cases {
        let setup = ScriptFile::new("wrong.txt", text);
        let told = format!("moonkeep: {}:{error}\n", setup.path());
        assert_eq!(moonkeep(&["eval", "--setup", setup.path(), STOCK]), (String::new(), told, 2));
    }
}

#[test]
fn json_has_the_reply_the_changes_and_the_log() {
    let script =
        "redis.log(redis.LOG_WARNING, 'hé'); redis.call('SELECT', 1); redis.call('SET', KEYS[1], ARGV[1])
        return {1, 'two', redis.status_reply('OK'), false}";
    let run = moonkeep(&["eval", "--json", "-e", script, "k", ",", "a b"]);
    let object = concat!(
        r#"{"reply":[1,"two",{"status":"OK"},null],"error":false,"#,
        r#""changes":[{"db":1,"command":["SET","k","a b"]}],"log":[{"level":"warning","text":"hé"}]}"#,
        "\n"
    );
    assert_eq!(run, ok(object));
    let (out, err, status) = moonkeep(&["eval", "--json", "-e", "return redis.error_reply('MY no')"]);
    let object = r#"{"reply":{"error":"MY no"},"error":true,"changes":[],"log":[]}"#;
    assert_eq!((out.trim_end(), err.as_str(), status), (object, "", 1));
    let (out, ..) =
        moonkeep(&["eval", "--json", "--do", r#"SET k "\xff\x00""#, "-e", "return redis.call('GET', 'k')"]);
    assert!(out.starts_with(r#"{"reply":{"hex":"ff00"},"#), "{out}");
}

/// The text with its real times as T.
pub(crate) fn timeless(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut out: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let unit = words.get(at + 1).map_or("", |next| next.trim_end_matches(')'));
        match word.trim_start_matches('(').parse::<f64>() {
            Ok(_) if matches!(unit, "us" | "ms" | "s") => out.push(word.replace(|c: char| c != '(', "")),
            _ if ["us", "ms", "s"].contains(&word.trim_end_matches(')')) && at > 0 => {
                let time = out.pop().unwrap_or_default();
                out.push(format!("{time}T{}", if word.ends_with(')') { ")" } else { "" }));
            }
            _ => out.push(word.to_string()),
        }
    }
    out.join(" ")
}

#[test]
fn a_trace_shows_each_call_with_its_reply_and_time() {
    let script = "redis.call('RPUSH', KEYS[1], 'a', 'b c'); redis.call('LRANGE', KEYS[1], 0, -1)
        return redis.pcall('INCR', KEYS[1])";
    let (out, err, status) = moonkeep(&["eval", "--trace", "-e", script, "l", ","]);
    let error = "(error) WRONGTYPE Operation against a key holding the wrong kind of value";
    let shown = format!(
        "call: RPUSH l a \"b c\" (T) -> (integer) 2\n\
         call: LRANGE l 0 -1 (T) ->\n      1) \"a\"\n      2) \"b c\"\n\
         call: INCR l (T) -> {error}\n\
         cost: T in 3 calls of T in all; 23 instructions of Lua\n\
         {error}\nchanged: RPUSH l a \"b c\"\n"
    );
    assert_eq!((timeless(&out).as_str(), err.as_str(), status), (shown.as_str(), "", 1));

    let (out, ..) = moonkeep(&["eval", "--json", "--trace", "-e", "return redis.call('INCR', KEYS[1])", "n"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["calls"][0]["command"], serde_json::json!(["INCR", "n"]));
    assert_eq!((&json["calls"][0]["reply"], &json["instructions"]), (&1.into(), &7.into()));
    let (inside, whole) = (json["calls"][0]["nanoseconds"].as_u64(), json["nanoseconds"].as_u64());
    assert!(inside <= whole && whole > Some(0), "{out}");
}

#[test]
fn a_script_is_held_to_its_contract() {
    let set = ["eval", "--checked", "--do", "SET stock 3"];
    let run = |more: &[&str]| moonkeep(&[&set, more].concat());
    assert_eq!(
        run(&[STOCK, "stock", ",", "1"]),
        ok("1) (integer) 1\n2) (integer) 2\nchanged: DECRBY stock 1\n")
    );
    let refused = "cost: Lua did not run\n(error) Quantity must be a positive bounded integer\n";
    assert_eq!(run(&["--trace", STOCK, "stock", ",", "01"]), (refused.into(), String::new(), 1));
    let (out, ..) = run(&["--trace", STOCK, "stock", ",", "1"]);
    let calls = "call: GET stock (T) -> \"3\"\ncall: DECRBY stock 1 (T) -> (integer) 2\ncost: T in 2 calls of T in all; ";
    assert!(timeless(&out).starts_with(calls), "{out}");

    let source = include_str!("../lua/decrease_stock.lua");
    let broken = ScriptFile::new("broken.lua", source.replace("if stock < quantity", "if stock <= quantity"));
    let breach = "decrease_stock broke its contract: line 17, case stock >= quantity => [1, stock - quantity] ; \
        stock = stock - quantity: the reply should be [1, 0], it is [0, 3]";
    let told = format!("moonkeep: {breach}\n");
    assert_eq!(
        run(&[broken.path(), "stock", ",", "3"]),
        ("1) (integer) 0\n2) (integer) 3\n".into(), told.clone(), 1)
    );
    let (out, err, status) = run(&["--json", broken.path(), "stock", ",", "3"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((json["breach"].as_str(), &json["reply"]), (Some(breach), &serde_json::json!([0, 3])));
    assert_eq!((err, status), (told, 1));
}

#[test]
fn a_script_must_refuse_what_its_contract_refuses() {
    let source = include_str!("../lua/decrease_stock.lua");
    let refused = "(error) Quantity must be a positive bounded integer\n";
    let told = |old: &str, new: &str, quantity: &str| {
        assert!(source.contains(old), "{old}");
        let script = ScriptFile::new("lax.lua", source.replacen(old, new, 1));
        let (out, err, status) =
            moonkeep(&["eval", "--checked", "--do", "SET stock 3", script.path(), "stock", ",", quantity]);
        assert_eq!((out.as_str(), status), (refused, 1));
        let before = "moonkeep: decrease_stock broke its contract: the call is to be refused with \
            Quantity must be a positive bounded integer, the script by itself ";
        err.strip_prefix(before).unwrap_or_else(|| panic!("{err}")).trim_end().to_owned()
    };
    assert_eq!(told("^[1-9]%d*$", "^%d+$", "02"), "replies [1,1]");
    assert_eq!(
        told("(\"Quantity must", "(\"The quantity must", "0"),
        "replies (error) The quantity must be a positive bounded integer"
    );
    let first = "local quantity = canonical";
    assert_eq!(
        told(first, &format!("redis.call('INCR', KEYS[1])\n{first}"), "0"),
        "writes before it refuses"
    );
}

#[test]
fn a_contract_stands_in_the_script_or_beside_it() {
    let plain = ScriptFile::new("plain.lua", "return redis.call('GET', KEYS[1])");
    let none = "has no contract to hold it to: no --! lines in its header";
    let path = plain.path().trim_end_matches(".lua");
    let told = format!(
        "moonkeep: {path}.lua {none}, and there is no {path}.contract; lua/README.md tells how to write one\n"
    );
    assert_eq!(moonkeep(&["eval", "--checked", plain.path(), "k"]), (String::new(), told, 2));
    let told = format!("moonkeep: the script {none}; lua/README.md tells how to write one\n");
    assert_eq!(moonkeep(&["eval", "--checked", "-e", "return 1"]), (String::new(), told, 2));

    let told = "moonkeep: the script:2:1: contract lines begin in the first column and stand in the header, above the first line of code\n";
    let late = ["eval", "--checked", "-e", "local k = 1\n--!contract c"];
    assert_eq!(moonkeep(&late), (String::new(), told.into(), 2));

    let clauses = "--!contract get\n--!key k string bytes ro\n--!error arity \"ERR one key\"\n--!error k.type WRONGTYPE\n--!case else => any\n";
    let beside = ScriptFile::new("plain.contract", clauses);
    assert_eq!(moonkeep(&["eval", "--checked", plain.path(), "k", ","]), ok("(nil)\n"));
    assert_eq!(moonkeep(&["eval", "--checked", plain.path()]).0, "(error) ERR one key\n");
    std::fs::write(beside.path(), clauses.replace("string", "strong")).expect("the file is written");
    let (_, err, status) = moonkeep(&["eval", "--checked", plain.path(), "k"]);
    assert!(
        err.starts_with(&format!("moonkeep: {}:2:10: \"strong\" is no type of a key", beside.path())),
        "{err}"
    );
    assert_eq!(status, 2);
}

#[test]
fn a_client_may_speak_resp3() {
    let script = "redis.setresp(3); return redis.call('HGETALL', KEYS[1])";
    let run = |options: &[&str]| {
        let mut words = vec!["eval", "--do", "HSET h f v"];
        words.extend(options);
        words.extend(["-e", script, "h", ","]);
        moonkeep(&words)
    };
    assert_eq!(run(&["--resp3"]), ok("1# \"f\" => \"v\"\n"));
    assert_eq!(run(&[]), ok("1) \"f\"\n2) \"v\"\n"));
}

#[test]
fn a_wrong_call_says_what_is_right_and_gives_status_2() {
    let cases: &[(&[&str], &str)] = &[
        (&["evl", STOCK], "there is no command \"evl\"; `moonkeep help` lists them"),
        (&["help", "evl"], "there is no command \"evl\"; `moonkeep help` lists them"),
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
            &["eval", "--advance", "5 sec", STOCK],
            "--advance takes a duration as in 250us, 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds, not \"5 sec\"",
        ),
        (
            &["eval", "--setup", "nofile.txt", STOCK],
            "cannot read the set-up \"nofile.txt\": No such file or directory (os error 2)",
        ),
        (&["eval", "-e", "return 1", "-e", "return 2"], "-e was given already; eval runs one script"),
        (
            &["eval", "--do", "MULTI", STOCK],
            "the set-up left a MULTI open, and the script would be queued; add EXEC",
        ),
        (&["eval", "--do"], "missing argument for option '--do'"),
        (&["eval", "--json", "--raw", STOCK], "--json and --raw are two forms of one output; choose one"),
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

#[test]
fn what_a_script_publishes_is_shown_to_a_session_that_subscribed() {
    let script = "return redis.call('PUBLISH', 'ch', 'hi')";
    let listens = ["eval", "--do", "HELLO 3", "--do", "SUBSCRIBE ch"];
    let run = moonkeep(&[&listens[..], &["-e", script]].concat());
    assert_eq!(run, ok("(integer) 1\n1) \"message\"\n2) \"ch\"\n3) \"hi\"\nchanged: PUBLISH ch hi\n"));
    let (out, err, status) = moonkeep(&[&listens[..], &["--json", "-e", script]].concat());
    let expected = r#"{"reply":1,"error":false,"changes":[{"db":0,"command":["PUBLISH","ch","hi"]}],"log":[],"messages":[["message","ch","hi"]]}"#;
    assert_eq!((out.trim_end(), err.as_str(), status), (expected, "", 0));
    let (out, _, status) = moonkeep(&["eval", "--do", "SUBSCRIBE ch", "-e", script]);
    assert!(out.starts_with("(error) ERR Can't execute 'eval': only (P|S)SUBSCRIBE"), "{out}");
    assert_eq!(status, 1);
}

#[test]
fn a_file_of_a_real_server_sets_the_keyspace_up() {
    let run = |words: &[&str]| moonkeep(&[&["eval", "--rdb"], words].concat());
    let get = "return redis.call('GET', KEYS[1])";
    let file = "tests/data/server-7.0.15.rdb";
    assert_eq!(run(&[file, "-e", get, "greeting"]), ok("\"hello\"\n"));
    assert_eq!(run(&[file, "--do", "SET greeting hi", "-e", get, "greeting"]), ok("\"hi\"\n"));
    let told = "moonkeep: LICENSE-MIT: the .rdb file cannot be loaded: \
                no .rdb file: REDIS and a version should stand first (at byte 0)\n";
    assert_eq!(run(&["LICENSE-MIT", "-e", get, "k"]), (String::new(), told.into(), 2));
    let (_, told, status) = run(&["nofile.rdb", "-e", get, "k"]);
    assert!(told.starts_with("moonkeep: cannot read \"nofile.rdb\": ") && status == 2, "{told}");
}
