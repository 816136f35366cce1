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
    let told = out.split("  reply: ").nth(1).expect("it is told");
    let command =
        told.lines().map(str::trim).find(|line| line.starts_with("moonkeep eval")).expect("a command");
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
    let failures = scripts[0]["failures"].as_array().expect("failures");
    let failure = failures.iter().find(|failure| failure["rule"] == "reply").expect("a wrong reply");
    assert_eq!(failure["reply"].as_i64(), Some(1));
    assert_eq!(failure["setup"][0], serde_json::json!(["SET", "{k}lock", ""]));
    assert_eq!(scripts[1]["clauses"].as_array().map(Vec::len), Some(4));
    assert_eq!(scripts[0]["missed"][0]["line"], 25);
    assert_eq!(scripts[0]["missed"][0]["guard"], 24);
    assert_eq!(scripts[0]["missed"][0]["nearest"], "advance 0 ms\ncall 1 {k}lock 0");
    assert_eq!(
        (scripts[1]["missed"].as_array().map(Vec::len), scripts[1]["findings"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
    let ran = scripts[1]["lines"].as_array().expect("lines");
    assert!(ran.iter().all(|line| line["hits"].as_u64() > Some(0)), "{ran:?}");
    let junit = junit.text();
    assert!(junit.contains("tests=\"6\" failures=\"2\" errors=\"0\" skipped=\"1\""), "{junit}");
    assert!(junit.contains("<skipped message=\"never ran: 25\">line 25; nearest: moonkeep eval "), "{junit}");
    assert!(
        junit.contains("<failure type=\"reply\" message=\"line 15, case else =&gt; 0: the reply"),
        "{junit}"
    );
    let html = html.text();
    assert!(html.contains("<title>moonkeep check: 1 of 2 scripts broke their contract</title>"), "{html}");
    assert!(html.contains("<tr class=missed><td class=n>25<td class=n>0<td class=n>0<td class=n>0<td><code>  return 0</code>\n<tr class=note>"), "{html}");
    assert!(!html.contains("http") && !html.contains("<script"), "it stands alone");
    assert!(!Path::new(script.path()).with_extension("regressions").exists());
}

#[test]
fn reports_that_cannot_be_written_or_would_cost_a_file_are_told_first() {
    let script = ScriptFile::new("check-report-twice.lua", include_str!("../lua/unlock.lua"));
    let left = Left::beside(script.path(), "report");
    let told = |words: &[&str]| {
        let (out, err, status) = moonkeep(&[&["check", script.path()], words].concat());
        assert_eq!((out.as_str(), status), ("", 2), "{err}");
        err
    };
    let twice = told(&["--junit", left.path(), "--html", left.path()]);
    assert_eq!(
        twice,
        format!("moonkeep: --html names {:?}, which is the file of another report\n", left.path())
    );
    let over = told(&["--html", script.path()]);
    assert_eq!(
        over,
        format!("moonkeep: --html names {:?}, which is a script that is checked\n", script.path())
    );
    let nowhere = format!("{}/x", script.path());
    let lost = told(&["--junit", &nowhere]);
    assert_eq!(
        lost,
        format!("moonkeep: cannot write the report {nowhere:?}: Not a directory (os error 20)\n")
    );
    let source = std::fs::read_to_string(script.path()).expect("the script");
    assert_eq!(source, include_str!("../lua/unlock.lua"));
}

/// A script that keeps its contract, whose last branch nothing leads into.
const LOOSE: &str = "--!contract loose\n--!key k string int(0, 9)\n--!argv n int(0, 9)\n--!error arity \"ERR arity\"\n--!error n \"ERR n\"\n--!error k \"ERR k\"\n--!error k.type WRONGTYPE\n--!reply int\nif #KEYS ~= 1 or #ARGV ~= 1 then return redis.error_reply('ERR arity') end\nif not ARGV[1]:find('^%d$') then return redis.error_reply('ERR n') end\nlocal k = redis.call('GET', KEYS[1])\nif k and not k:find('^%d$') then return redis.error_reply('ERR k') end\nif k == ARGV[1] and k == '3' and #k == 2 then\n  return 8\nelseif k == nil then\n  return 9\nend\nreturn 1\n";

#[test]
fn lines_that_never_run_and_findings_are_told_and_fail_when_it_is_to_be_strict() {
    let script = ScriptFile::new("check-loose.lua", LOOSE);
    let path = script.path();
    let (out, err, status) = moonkeep(&["check", "--no-regressions", "--runs", "3000", path]);
    let expected = [
        format!("{path}: kept, 3000 runs, seed 0, up to 32 instructions"),
        "  never ran: line 14, to which line 13 leads".into(),
        format!("    nearest: moonkeep eval --do 'SET {{k}}k 3' {path} '{{k}}k' , 3"),
        "  never ran: line 16, to which line 15 leads".into(),
        format!("    nearest: moonkeep eval {path} '{{k}}k' , 0"),
        format!(
            "  lint: {path}:15:8: nil-reply: a reply is never nil: what is not there is false; compare with false, or write `not`"
        ),
    ];
    assert_eq!(
        (out.lines().collect::<Vec<_>>(), err.as_str(), status),
        (expected.iter().map(String::as_str).collect(), "", 0)
    );
    let with = |more: &[&str]| {
        let (out, _, status) =
            moonkeep(&[&["check", "--no-regressions", "--runs", "50", path], more].concat());
        (status, out.contains("lint: "))
    };
    assert_eq!(with(&["--strict"]), (1, true));
    assert_eq!(with(&["--no-lint"]), (0, false));
    assert_eq!(moonkeep(&["check", "--runs", "2000", "--strict", "lua/unlock.lua"]).2, 0);
}

#[test]
fn what_is_kept_is_read_again_whatever_it_tells() {
    let source = "--!contract h\n--!key h hash rw\n--!error arity \"ERR x\"\n--!error h.type WRONGTYPE\n--!reply 1\n\
        --!case else => 1\nif #KEYS ~= 1 or #ARGV ~= 0 then return redis.error_reply('ERR x') end\n\
        redis.call('HSET', KEYS[1], 'f', '1')\nreturn 1";
    let script = ScriptFile::new("check-quotes.lua", source);
    let kept = Left::beside(script.path(), "regressions");
    for _ in 0..2 {
        let (out, err, status) = moonkeep(&["check", "--no-lint", "--runs", "300", script.path()]);
        assert_eq!((err.as_str(), status), ("", 1), "{out}");
    }
    assert!(kept.text().contains("{\"f\": \"1\"}"), "{}", kept.text());
}

#[test]
fn one_script_that_stops_takes_nothing_from_the_others() {
    let script = ScriptFile::new("check-stops.lua", broken_unlock());
    let kept = Left::beside(script.path(), "regressions");
    std::fs::write(kept.path(), "NOSUCH\ncall 0\n").expect("written");
    let (out, err, status) = moonkeep(&["check", "--runs", "100", "--json", script.path(), "lua/unlock.lua"]);
    let told = "the set-up NOSUCH is refused: ERR unknown command 'NOSUCH', with args beginning with: ";
    let told = format!("{}: {told}", script.path());
    assert_eq!((err, status), (format!("moonkeep: {told}\n"), 2));
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["stopped"][0], serde_json::json!({"script": script.path(), "told": told}));
    assert_eq!(
        (json["scripts"].as_array().map(Vec::len), &json["scripts"][0]["script"]),
        (Some(1), &"lua/unlock.lua".into())
    );
}

#[test]
fn reports_tell_of_a_contract_that_is_wrong_too() {
    let wrong = ScriptFile::new("check-report-wrong.lua", "--!contract c\n--!key k integer\nreturn 1");
    let (junit, html) = (Left::beside(wrong.path(), "xml"), Left::beside(wrong.path(), "html"));
    for old in [junit.path(), html.path()] {
        std::fs::write(old, "of the run before").expect("written");
    }
    let words = ["check", "--json", "--junit", junit.path(), "--html", html.path(), "lua/unlock.lua"];
    let (out, err, status) = moonkeep(&[&words[..], &[wrong.path()]].concat());
    let told = err.strip_prefix("moonkeep: ").and_then(|told| told.strip_suffix('\n')).expect("a reason");
    assert!(told.starts_with(&format!("{}:2:10: \"integer\" is no type of a key", wrong.path())), "{told}");
    assert_eq!(status, 2);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let expected = serde_json::json!({"scripts": [], "stopped": [{"script": wrong.path(), "told": told}]});
    assert_eq!(json, expected);
    let suite = format!(
        "<testsuite name=\"{}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">",
        wrong.path()
    );
    assert!(junit.text().contains(&suite), "{}", junit.text());
    let row = format!("<tr><td>{}<td class=broken colspan=8>not checked to its end: ", wrong.path());
    assert!(html.text().contains(&row), "{}", html.text());
}

#[test]
fn two_contracts_of_one_script_that_differ_are_told() {
    let source = include_str!("../lua/unlock.lua");
    let script = ScriptFile::new("check-two.lua", source);
    let beside = Left::beside(script.path(), "contract");
    let clauses: String =
        source.lines().filter(|line| line.starts_with("--!")).map(|line| format!("{line}\r\n")).collect();
    std::fs::write(beside.path(), &clauses).expect("written");
    let check = ["check", "--no-regressions", "--runs", "50", script.path()];
    assert_eq!(moonkeep(&check).2, 0, "the same one twice");
    std::fs::write(beside.path(), clauses.replace("token", "bytes")).expect("written");
    let told = format!(
        "moonkeep: {} has a contract in its header and another one in {}; leave one of them out\n",
        script.path(),
        beside.path()
    );
    for words in [&check[..], &["lint", script.path()], &["eval", "--checked", script.path(), "k", ",", "v"]]
    {
        assert_eq!(moonkeep(words), (String::new(), told.clone(), 2), "{words:?}");
    }
}

#[test]
fn a_path_that_is_no_text_is_a_path() {
    use std::os::unix::ffi::OsStrExt;
    let folder = std::env::temp_dir().join(format!("moonkeep-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = folder.join(std::ffi::OsStr::from_bytes(b"a\xff.lua"));
    std::fs::write(&script, broken_unlock()).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_moonkeep"));
    let run = command.args(["check", "--runs", "300", "--mutate"]).arg(&script).output().expect("it runs");
    let out = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(out.ends_with("  mutants not tried: the script breaks its contract itself\n"), "{out}");
    let mut names: Vec<_> =
        std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("one").file_name()).collect();
    names.sort();
    // Nothing else is left of writing it.
    assert_eq!(names, [&b"a\xff.lua"[..], b"a\xff.regressions"].map(std::ffi::OsStr::from_bytes));
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Runs what a terminal would, in the shell of most, and gives its exit status.
fn pasted(out: &str, begin: &str) -> (String, Option<i32>) {
    let command =
        out.lines().map(str::trim).find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{out}"));
    let folder = Path::new(env!("CARGO_BIN_EXE_moonkeep")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let run = Command::new("bash").args(["-c", command]).env("PATH", path).output().expect("a shell");
    (command.to_owned(), run.status.code())
}

/// A script with one key that holds any text, and this behind the checks of its call.
fn with_key(argv: &str, rest: &str) -> String {
    format!(
        "--!contract c\n--!key k string bytes optional rw ttl=any\n{argv}--!error arity \"wrong arity\"\n--!error k.type WRONGTYPE\n--!reply any\nif #KEYS ~= 1 or #ARGV ~= {} then return redis.error_reply('wrong arity') end\nredis.call('GET', KEYS[1])\n{rest}\n",
        usize::from(!argv.is_empty())
    )
}

#[test]
fn what_one_run_does_not_show_is_repeated_by_the_check() {
    for (name, rest) in [
        ("check-chance.lua", "return math.random(100000)"),
        ("check-repl.lua", "redis.set_repl(redis.REPL_NONE) redis.call('SET', KEYS[1], 'x') return 1"),
    ] {
        let script = ScriptFile::new(name, with_key("", rest));
        let (out, _, status) =
            moonkeep(&["check", "--no-regressions", "--no-lint", "--runs", "400", script.path()]);
        assert_eq!(status, 1, "{out}");
        let (command, status) = pasted(&out, "moonkeep check --no-regressions --runs ");
        assert!(status == Some(1) && command.ends_with(script.path()), "{command}: {status:?}");
    }
}

#[test]
fn a_run_without_an_end_is_repeated_with_its_bound() {
    let script = ScriptFile::new("check-endless.lua", with_key("", "while true do end"));
    let options = ["check", "--no-regressions", "--no-lint", "--work", "50000", script.path()];
    let (out, _, status) = moonkeep(&options);
    assert!(out.contains("  end: the run did not end within 50000 instructions of Lua\n"), "{out}");
    let (command, again) = pasted(&out, "moonkeep eval ");
    let expected = format!("moonkeep eval --work 50000 --checked {} '{{k}}k' ,", script.path());
    assert_eq!((status, command, again), (1, expected, Some(1)));
}

#[test]
fn a_word_that_no_system_takes_is_made_again_by_the_check() {
    let rest = "if #ARGV[1] > 200000 then return 1 end\nif #ARGV[1] == 200000 then redis.call('DEL', KEYS[1]) end\nreturn 1";
    let script = ScriptFile::new(
        "check-over.lua",
        with_key("--!argv a bytes(0, 200000)\n--!error a \"bad a\"\n", rest),
    );
    let (out, _, status) =
        moonkeep(&["check", "--no-regressions", "--no-lint", "--runs", "500", script.path()]);
    assert_eq!(status, 1);
    let (_, status) = pasted(&out, "moonkeep check --no-regressions --runs ");
    assert_eq!(status, Some(1));
}

#[test]
fn names_that_a_shell_or_a_terminal_would_take_otherwise_are_quoted() {
    let folder = std::env::temp_dir().join(format!("moonkeep-check-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, shown, pasted) in [
        ("-dash.lua", "-dash.lua", " --checked ./-dash.lua '{k}lock' , 0"),
        ("a\x1b[31m.lua", "a\\x1b[31m.lua", " --checked $'a\\033[31m.lua' '{k}lock' , 0"),
    ] {
        std::fs::write(folder.join(name), broken_unlock()).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_moonkeep"));
        command.args(["check", "--no-regressions", "--runs", "300", "--", name]).current_dir(&folder);
        let run = command.output().expect("it runs");
        let out = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(out.starts_with(&format!("{shown}: broken, ")) && out.contains(pasted), "{out}");
        assert!(!out.contains('\x1b'), "{out}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn calls_outside_of_the_contract_are_told() {
    let source = with_key("", "return redis.call('HINCRBY', KEYS[1], 'n', 1)")
        .replace("string bytes optional", "hash(n int(0, 9)) optional")
        .replace("'GET'", "'HLEN'");
    let script = ScriptFile::new("check-outside.lua", source);
    let kept = Left::beside(script.path(), "regressions");
    std::fs::write(kept.path(), "HSET {k}k n x\ncall 1 {k}k\n").expect("written");
    let (out, _, status) = moonkeep(&["check", "--no-lint", "--runs", "200", script.path()]);
    let told = "  1 calls of the regressions failed and do not count: their keys hold what the contract does not speak of\n";
    assert!(out.contains(": kept, 201 runs") && out.contains(told), "{out}");
    assert_eq!(status, 0);
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
        out.contains(" calls were not compared with the server: they hang on an expiry or its clock, "),
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
    // The shell makes an empty file of `> NAME.contract` before the draft is there.
    let beside = Left::beside(script.path(), "contract");
    std::fs::write(beside.path(), "").expect("written");
    assert_eq!(moonkeep(&["contract", script.path()]), (out.clone(), String::new(), 0));
    std::fs::write(beside.path(), &out).expect("written");
    let told = format!(
        "moonkeep: {} has a contract in {} already; moonkeep check tries it\n",
        script.path(),
        beside.path()
    );
    assert_eq!(moonkeep(&["contract", script.path()]), (String::new(), told, 2));
}
