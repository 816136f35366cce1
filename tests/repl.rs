//! `moonkeep repl` as a pipe meets it: what each line prints, where, and the exit status. What tab offers is tested in
//! `src/bin/moonkeep/repl/editor.rs`.

use super::cli::{ScriptFile, moonkeep_reading, timeless};

/// Standard output, standard error and the exit status of a session with these lines.
fn session(lines: &[&str]) -> (String, String, i32) {
    session_with(&[], lines)
}

fn session_with(options: &[&str], lines: &[&str]) -> (String, String, i32) {
    let mut words = vec!["repl"];
    words.extend(options);
    moonkeep_reading(&lines.join("\n"), &words)
}

fn ok(lines: &[&str]) -> (String, String, i32) {
    (lines.iter().map(|line| format!("{line}\n")).collect(), String::new(), 0)
}

/// A session whose lines all fail, each with one of these texts.
fn refused(cases: &[(&str, &str)]) {
    let lines: Vec<&str> = cases.iter().map(|(line, _)| *line).collect();
    let notes =
        cases.iter().enumerate().map(|(at, (_, text))| format!("moonkeep: line {}: {text}\n", at + 1));
    assert_eq!(session(&lines), (String::new(), notes.collect(), 1));
}

#[test]
fn replies_are_shown_as_redis_cli_does_on_a_terminal() {
    let run = session(&[
        "SET k \"a b\\n\"",
        "GET k",
        "GET none",
        "RPUSH l x y",
        "LRANGE l 0 -1",
        "# a comment",
        "",
        "INFO keyspace",
    ]);
    let shown = [
        "OK",
        "\"a b\\n\"",
        "(nil)",
        "(integer) 2",
        "1) \"x\"",
        "2) \"y\"",
        "# Keyspace\r",
        "db0:keys=2,expires=0,avg_ttl=0\r",
    ];
    assert_eq!(run, ok(&shown));
    assert_eq!(
        session_with(&["--raw"], &["MSET a 1 b 2", "MGET a b", "GET none"]),
        ok(&["OK", "1", "2", ""])
    );
}

#[test]
fn the_session_of_the_readme_prints_what_the_readme_shows() {
    let readme = include_str!("../README.md");
    let (_, block) = readme.split_once("```text\nmoonkeep> ").expect("a session in the README");
    let (block, _) = block.split_once("```").expect("its end");
    let mut shown = String::new();
    let mut lines = Vec::new();
    for part in block.split("moonkeep> ") {
        let (line, output) = part.split_once('\n').expect("a line and what it prints");
        lines.push(line);
        shown.push_str(output);
    }
    assert_eq!(session(&lines), (shown, String::new(), 0));
}

#[test]
fn an_error_reply_gives_status_1_and_the_next_lines_run() {
    let error = "(error) WRONGTYPE Operation against a key holding the wrong kind of value";
    let (out, err, status) = session(&["RPUSH l x", "GET l", "LLEN l"]);
    assert_eq!(
        (out.as_str(), err.as_str(), status),
        (&*format!("(integer) 1\n{error}\n(integer) 1\n"), "", 1)
    );
}

#[test]
fn the_clock_stands_until_it_is_moved() {
    let run = session(&[
        "SET lock me PX 5000",
        ":advance 5s",
        "PTTL lock",
        ":advance 1",
        "EXISTS lock",
        ":now 1000",
        ":now",
        "TIME",
    ]);
    let shown = [
        "OK",
        "2024-01-01T00:00:05.000Z (1704067205000)",
        "(integer) 0",
        "2024-01-01T00:00:05.001Z (1704067205001)",
        "(integer) 0",
        "1970-01-01T00:00:01.000Z (1000)",
        "1970-01-01T00:00:01.000Z (1000)",
        "1) \"1\"",
        "2) \"0\"",
    ];
    assert_eq!(run, ok(&shown));
}

#[test]
fn snapshots_are_compared_and_gone_back_to() {
    let run = session_with(
        &["--do", "SET k 1"],
        &[
            ":diff",
            "INCR k",
            ":diff",
            ":snapshot two",
            ":diff",
            "SET new v PX 5000",
            ":advance 1s",
            ":diff two",
            ":restore two",
            ":now",
            ":diff",
            ":snapshot",
            "DEL k",
            ":diff",
            ":restore",
            "GET k",
        ],
    );
    let shown = [
        "(no change)",
        "(integer) 2",
        "~ k string \"1\" -> \"2\"",
        "OK",
        "(no change)",
        "OK",
        "2024-01-01T00:00:01.000Z (1704067201000)",
        "+ new string \"v\" (expires in 4000 ms)",
        "OK",
        "2024-01-01T00:00:00.000Z (1704067200000)",
        "(no change)",
        "OK",
        "(integer) 1",
        "- k string \"2\"",
        "OK",
        "\"2\"",
    ];
    assert_eq!(run, ok(&shown));
}

#[test]
fn changes_are_shown_while_the_journal_is_on() {
    let run = session(&[
        "SET before 1",
        ":journal on",
        "SET k v PX 1500",
        "GET k",
        ":advance 2s",
        ":journal off",
        "SET after 1",
    ]);
    let shown = [
        "OK",
        "OK",
        "OK",
        "changed: SET k v PXAT 1704067201500",
        "\"v\"",
        "2024-01-01T00:00:02.000Z (1704067202000)",
        "changed: DEL k",
        "OK",
        "OK",
    ];
    assert_eq!(run, ok(&shown));
}

#[test]
fn scripts_may_go_over_lines_and_come_from_files() {
    let run = session(&[
        "EVAL \"",
        "redis.log(redis.LOG_NOTICE, 'n = ' .. ARGV[1])",
        "return redis.call('INCRBY', KEYS[1], ARGV[1])\" 1 n 5",
        ":log",
        ":log",
        "SET stock:{p1} 10",
        ":eval lua/decrease_stock.lua stock:{p1} , 3",
        "GET stock:{p1}",
    ]);
    let shown = [
        "(integer) 5",
        "notice: n = 5",
        "(nothing logged)",
        "OK",
        "1) (integer) 1",
        "2) (integer) 7",
        "\"7\"",
    ];
    assert_eq!(run, ok(&shown));
}

#[test]
fn what_scripts_call_is_shown_when_asked() {
    let eval = "EVAL \"return redis.call('INCR', 'n')\" 0";
    let trace_eval = format!(":trace {eval}");
    let (out, err, status) = session(&[
        ":trace on",
        "INCR n",
        eval,
        ":trace off",
        eval,
        &trace_eval,
        ":trace :eval lua/unlock.lua lock , me",
    ]);
    assert_eq!((err.as_str(), status), ("", 0));
    let traced = |n: u8| {
        format!(
            "call: INCR n (T) -> (integer) {n}\ncost: T in 1 call of T in all; 6 instructions of Lua\n(integer) {n}\n"
        )
    };
    let unlock =
        "call: GET lock (T) -> (nil)\ncost: T in 1 call of T in all; 18 instructions of Lua\n(integer) 0\n";
    let wanted = format!("OK\n(integer) 1\n{}OK\n(integer) 3\n{}{unlock}", traced(2), traced(4));
    assert_eq!(timeless(&out), wanted);
}

#[test]
fn a_script_is_held_to_its_contract_when_asked() {
    let source = include_str!("../lua/decrease_stock.lua");
    let broken =
        ScriptFile::new("repl-broken.lua", source.replace("if stock < quantity", "if stock <= quantity"));
    let check = format!(":check {} s , 3", broken.path());
    let (out, err, status) =
        session(&["SET s 3", &check, ":check lua/decrease_stock.lua s , 3", ":check nofile.lua"]);
    assert_eq!(out, "OK\n1) (integer) 0\n2) (integer) 3\n1) (integer) 1\n2) (integer) 0\n");
    let breach = "moonkeep: line 2: decrease_stock broke its contract: line 17, case ";
    assert!(
        err.starts_with(breach) && err.contains("\nmoonkeep: line 4: cannot read \"nofile.lua\": "),
        "{err}"
    );
    assert_eq!(status, 1);
}

#[test]
fn a_command_that_waits_lets_its_timeout_pass() {
    let run = session(&["BLPOP l 2", ":now", "RPUSH l x", "BLPOP l 2", ":now"]);
    let now = "2024-01-01T00:00:02.001Z (1704067202001)";
    assert_eq!(run, ok(&["(nil)", now, "(integer) 1", "1) \"l\"", "2) \"x\"", now]));
    let note = "the command would wait for ever: nobody else is here to serve it; with a timeout, that passes on the clock";
    refused(&[("BLPOP l 0", note)]);
}

#[test]
fn a_slip_of_the_comma_is_told() {
    let (out, err, status) =
        session(&[":eval lua/decrease_stock.lua s 1", ":check lua/decrease_stock.lua s, 1"]);
    assert_eq!(out, "(error) Expected one key and one argument\n".repeat(2));
    let notes = "moonkeep: line 1: no comma stands among the words, so all are keys; arguments follow one: KEY , ARG\n\
        moonkeep: line 2: the comma of \"s,\" belongs to the key; one that ends the keys stands alone: KEY , ARG\n";
    assert_eq!((err.as_str(), status), (notes, 1));
}

#[test]
fn a_session_begins_again_with_its_set_up() {
    let run = session_with(
        &["--do", "SET k v", "--seed", "3", "--now", "5"],
        &[
            ":seed",
            "DEL k",
            ":snapshot gone",
            ":advance 1s",
            "SELECT 2",
            ":reset",
            "GET k",
            ":now",
            ":seed 4",
            ":seed",
            "GET k",
            ":restore gone",
            "GET k",
        ],
    );
    let shown = [
        "3",
        "(integer) 1",
        "OK",
        "1970-01-01T00:00:01.005Z (1005)",
        "OK",
        "OK",
        "\"v\"",
        "1970-01-01T00:00:00.005Z (5)",
        "OK",
        "4",
        "\"v\"",
        "OK",
        "(nil)",
    ];
    assert_eq!(run, ok(&shown));
}

#[test]
fn the_protocol_version_is_chosen() {
    let run = session(&["HSET h f v", "HGETALL h", ":resp 3", ":resp", "HGETALL h", ":resp 2", "HGETALL h"]);
    let shown =
        ["(integer) 1", "1) \"f\"", "2) \"v\"", "OK", "3", "1# \"f\" => \"v\"", "OK", "1) \"f\"", "2) \"v\""];
    assert_eq!(run, ok(&shown));
}

#[test]
fn a_file_is_run_as_if_typed() {
    let file = ScriptFile::new("lines.txt", "SET k v\n:advance 1s\nGET \"k\nGTE k");
    let source = format!(":source {}", file.path());
    let (out, err, status) = session(&[&source]);
    assert_eq!(out, "OK\n2024-01-01T00:00:01.000Z (1704067201000)\n");
    assert_eq!(err, format!("moonkeep: line 1: {}:3: the quotes are not balanced\n", file.path()));
    assert_eq!(status, 1);
    std::fs::write(file.path(), format!("{source}\n")).expect("the file is written");
    let (_, err, _) = session(&[&source]);
    assert!(err.ends_with(": 16 files name each other; :source goes no deeper\n"), "{err}");
}

#[test]
fn help_tells_about_commands_as_redis_cli_does() {
    let get = ["", "  GET key", "  summary: Get the value of a key", "  since: 1.0.0", "  group: string", ""];
    assert_eq!(session(&["help GET"]), ok(&get));
    let (out, ..) = session(&["help script"]);
    assert!(out.contains("\n  SCRIPT LOAD script\n"), "{out}");
    let (out, ..) = session(&["HELP @transactions"]);
    let names: Vec<&str> =
        out.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.contains(": ")).collect();
    assert_eq!(names, ["DISCARD", "EXEC", "MULTI", "UNWATCH", "WATCH key [key ...]"]);
    let (out, ..) = session(&["help"]);
    assert!(out.contains("\":help\" for what moonkeep adds"), "{out}");
    let (out, ..) = session(&[":help"]);
    assert!(out.contains(":advance DURATION "), "{out}");
    let (out, ..) = session(&[":help diff"]);
    assert_eq!(
        out,
        ":diff [NAME]                     show what changed since the last snapshot, or since this one\n"
    );
}

#[test]
fn the_end_may_be_told() {
    for end in ["quit", "EXIT", ":quit"] {
        assert_eq!(session(&["PING", end, "PING"]), ok(&["PONG"]));
    }
    assert_eq!(session(&[]), ok(&[]));
    assert_eq!(
        session(&["CLIENT KILL ID 1 SKIPME no", "PING"]).1,
        "moonkeep: line 2: the session had ended; a new one is open now, in database 0: call again\n"
    );
}

#[test]
fn a_slip_is_told_what_was_meant() {
    let (out, err, status) = session(&["GTE k", "CONFIG GTE k", "CLIENT nothing", "FROBNICATE"]);
    assert!(out.starts_with("(error) ERR unknown command 'GTE', with args beginning with: 'k' \n"), "{out}");
    let notes = "moonkeep: line 1: did you mean GET?\nmoonkeep: line 2: did you mean CONFIG GET?\n\
        moonkeep: line 3: help client shows its subcommands\n\
        moonkeep: line 4: no command that runs here has a name like that; tab lists all\n";
    assert_eq!((err.as_str(), status), (notes, 1));
}

#[test]
fn each_refusal_says_what_to_do() {
    refused(&[
        (":advnce 5s", "there is no :advnce; did you mean :advance?"),
        (":ADV 5s", "there is no :ADV; did you mean :advance?"),
        (":res", "there is no :res; did you mean :restore or :resp or :reset?"),
        (":nothing", "there is no :nothing; :help lists what there is"),
        (":advance", ":advance takes: DURATION"),
        (":advance 5 s", ":advance takes: DURATION"),
        (
            ":advance 5sec",
            ":advance takes a duration as in 250us, 500ms, 5s, 2m, 1h, 1d, or a number of milliseconds, not \"5sec\"",
        ),
        (":now noon", ":now takes Unix milliseconds, not \"noon\""),
        (":restore x", "there is no snapshot \"x\", nor another one with a name: :snapshot x keeps one"),
        (":trace", ":trace takes: on|off|COMMAND"),
        (":journal yes", ":journal takes: on|off"),
        (":resp 4", ":resp takes: [2|3]"),
        (":seed -1", ":seed takes a number from 0 on, not \"-1\""),
        (":reset now", ":reset takes no words"),
        (":prompt", ":prompt takes: time|plain"),
        (":eval", ":eval takes: FILE [KEY...] , [ARG...]"),
        (":eval nofile.lua", "cannot read \"nofile.lua\": No such file or directory (os error 2)"),
        (":source nofile.txt", "cannot read \"nofile.txt\": No such file or directory (os error 2)"),
        (":help x", "there is no :x; :help lists what there is"),
        ("help gte", "there is no command \"gte\"; did you mean GET?"),
        (
            "help frobnicate",
            "there is no command \"frobnicate\"; type a few letters and press tab, or try help @string",
        ),
        (
            "help client nme",
            "there is no command \"client nme\"; type a few letters and press tab, or try help @string",
        ),
        ("SET k \"v\"w", "a space has to follow a closing quote"),
        ("SET k \"v", "the quotes are not balanced"),
    ]);
    let (out, err, status) = session(&[":snapshot a", ":snapshot b", ":restore c"]);
    let note = "moonkeep: line 3: there is no snapshot \"c\"; there are: a, b\n";
    assert_eq!((out.as_str(), err.as_str(), status), ("OK\nOK\n", note, 1));
    let (_, err, _) = session(&["help @nothing"]);
    assert!(
        err.starts_with("moonkeep: line 1: there is no group \"@nothing\"; the groups are bitmap, "),
        "{err}"
    );
}

#[test]
fn a_wrong_call_of_repl_gives_status_2() {
    let cases: &[(&[&str], &str)] = &[
        (&["--what"], "invalid option '--what'; see moonkeep repl --help"),
        (
            &["lua/unlock.lua"],
            "repl takes options only, not \"lua/unlock.lua\"; to run a file of commands: --setup FILE, or < FILE",
        ),
        (&["--do", "SET k"], "--do \"SET k\": ERR wrong number of arguments for 'set' command"),
    ];
    for (options, text) in cases {
        assert_eq!(session_with(options, &[]), (String::new(), format!("moonkeep: {text}\n"), 2));
    }
    let (out, _, status) = session_with(&["--help"], &[]);
    assert!(out.starts_with("Type Redis commands at a prompt") && status == 0, "{out}");
    assert_eq!(moonkeep_reading("", &["help", "repl"]).0, out);
}

#[test]
fn messages_are_shown_as_they_come() {
    let lines = [
        "HELLO 3",
        "SUBSCRIBE a b",
        "PUBLISH a hi",
        ":resp",
        "PSUBSCRIBE __key*",
        "CONFIG SET notify-keyspace-events Ex",
    ];
    let (out, err, status) = session(&[&lines[..], &["SET k v PX 10", ":advance 1s"]].concat());
    let shown = "1) \"subscribe\"\n2) \"a\"\n3) (integer) 1\n1) \"subscribe\"\n2) \"b\"\n3) (integer) 2\n\
        (integer) 1\n1) \"message\"\n2) \"a\"\n3) \"hi\"\n";
    assert!(out.contains(shown), "{out}");
    let expired = "1) \"pmessage\"\n2) \"__key*\"\n3) \"__keyevent@0__:expired\"\n4) \"k\"\n";
    assert!(out.ends_with(expired), "{out}");
    assert_eq!((err.as_str(), status), ("", 0));
}
