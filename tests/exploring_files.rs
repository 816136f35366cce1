//! `moonkeep explore FILE`: what is printed, exit codes, pages, and mistakes with their line and column.

use std::path::PathBuf;
use std::process::Command;

fn explore(args: &[&str]) -> (String, String, i32) {
    let out =
        Command::new(env!("CARGO_BIN_EXE_moonkeep")).arg("explore").args(args).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (text(out.stdout), text(out.stderr), out.status.code().expect("it is not killed"))
}

fn written(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("moonkeep-explore-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("it is written");
    path
}

const LEASE: &str = "examples/protocols/lease.explore";

#[test]
fn the_smallest_failing_schedule_is_a_table_and_a_page() {
    let page = written("lease.html", "");
    let (out, error, code) = explore(&[LEASE, "--html", page.to_str().expect("text")]);
    assert_eq!((code, error.as_str()), (1, ""));
    assert!(
        out.starts_with(
            "22 schedules run and 0 left out, the others are like one of these: 8 break an invariant.\n"
        ),
        "{out}"
    );
    let (_, table) = out.split_once("\n\n").expect("a table");
    assert!(include_str!("../README.md").contains(table), "{table}");
    assert!(table.ends_with("replay: A A @5001 B B B A\n"), "{table}");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(page.matches("<tr").count(), out.lines().filter(|line| line.starts_with("| ")).count());
    assert!(page.contains("GET stock -&gt; &quot;10&quot;"));
}

#[test]
fn the_documents_show_what_is_printed() {
    let documents = include_str!("../docs/SCHEDULES.md");
    for name in ["lost_update", "lease", "release", "queue", "cache"] {
        let (out, _, code) = explore(&[&format!("examples/protocols/{name}.explore")]);
        let (_, table) = out.split_once("\n\n").expect("a table");
        assert!(code == 1 && documents.contains(table), "{table}");
    }
    let lease = std::fs::read_to_string(LEASE).expect("it is there");
    let (_, lease) = lease.split_once('\n').expect("a comment before it");
    assert!(include_str!("../README.md").contains(lease), "{lease}");
}

#[test]
fn a_schedule_is_run_again_by_its_string() {
    let (out, _, code) = explore(&[LEASE, "--replay", "A A A B"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("violated: nothing\nreplay: A A A B\n"), "{out}");
    let (_, error, code) = explore(&[LEASE, "--replay", "A C"]);
    assert_eq!((code, error.as_str()), (2, "moonkeep: no client is named \"C\"; there are: A, B\n"));
}

#[test]
fn what_holds_in_every_schedule_is_told() {
    for file in ["examples/protocols/fenced.explore", "examples/protocols/retry.explore"] {
        let (out, error, code) = explore(&[file]);
        assert_eq!((code, error.as_str()), (0, ""), "{file}: {out}");
        assert!(out.contains("the others are like one of these: none breaks an invariant."), "{out}");
    }
    let (out, _, code) = explore(&["examples/protocols/fenced.explore", "--runs", "3"]);
    assert_eq!(code, 3);
    assert!(out.contains("3 schedules run and 0 left out, not all there are"), "{out}");
    let (out, _, code) =
        explore(&["examples/protocols/fenced.explore", "--random", "20", "--seed", "7", "--twice"]);
    assert_eq!(code, 3);
    assert!(out.contains("20 schedules run and 0 left out, not all there are: none breaks"), "{out}");
    let (out, _, code) = explore(&["examples/protocols/fenced.explore", "--reduction", "none"]);
    assert_eq!(code, 0);
    assert!(out.contains(" all there are: none breaks an invariant."), "{out}");
    let (out, _, _) = explore(&["examples/protocols/fenced.explore", "--html", "unwritten.html"]);
    assert!(out.ends_with("No schedule is shown: unwritten.html is not written.\n"), "{out}");
}

#[test]
fn reductions_and_bounds_may_be_chosen() {
    let run = |args: &[&str]| {
        let (out, _, code) = explore(&[&["examples/protocols/lease.explore"], args].concat());
        (out.split(' ').next().unwrap_or_default().parse::<u64>().expect("a number"), code)
    };
    let all = run(&["--reduction", "none"]);
    for args in
        [&["--reduction", "states"][..], &["--switches", "2"], &["--pct", "3,40"], &["--threads", "2"]]
    {
        let (count, code) = run(args);
        assert!(count <= all.0 && code == 1, "{args:?}: {count}");
    }
    let (out, _, code) = explore(&["examples/protocols/lease.explore", "--switches", "0"]);
    assert_eq!(code, 3, "nobody is interrupted, and not all was tried");
    assert!(out.contains("all with at most 0 forced switches: none breaks an invariant."), "{out}");
}

#[test]
fn a_mistake_is_told_with_its_line_and_column() {
    let cases = [
        ("client A\n    GET k\n", "1:1: the block that begins here has no `end`"),
        ("client A\n    let = GET k\nend\n", "2:9: here stands a name"),
        ("client A\n    get k\nend\n", "2:5: \"get\" begins no statement"),
        ("client A\n    if x ==\n    end\nend\n", "2:12: here stands a value"),
        ("client A\n    SET k \"v\nend\n", "2:11: the text that begins here has no end"),
        ("client A\n    let x = [GET k]\nend\n", "2:13: a command within an expression is for invariants"),
        ("client A\nend\nend\n", "3:1: there is no block that this `end` could end"),
        ("setup SET k v\n", "1:1: a protocol has a client"),
        ("watch k v\nhello\n", "2:1: \"hello\" begins no line of a protocol"),
        ("faults luck=1\nclient A\nend\n", "1:8: there is no fault \"luck\""),
        (
            "invariant \"x\" at noon: 1\nclient A\nend\n",
            "1:15: an invariant holds `at end` or `at each step`",
        ),
        ("let x = file(\"nowhere.lua\")\nclient A\nend\n", "1:9: cannot read "),
        ("let x = nowhere\nclient A\nend\n", "1:9: nothing is named \"nowhere\" here"),
        ("client A\n    GET k extra) (1\nend\n", "2:20: here stands \")\""),
        ("client A\n    SET k $y\nend\n", "2:11: nothing is named \"y\" here"),
        ("setup NOPE\nclient A\nend\n", "1:7: there is no command \"NOPE\""),
        ("setup SET k x\nsetup INCR k\nclient A\nend\n", "2:7: ERR value is not an integer or out of"),
        ("client A\n    INCR k x\nend\n", "2:5: INCR takes 2 words, its name included, not 3"),
        ("client A\n    CONFIG GETT x\nend\n", "2:5: CONFIG has no subcommand \"GETT\""),
        ("client A\nend\ninvariant \"x\" at end: [GETT k]\n", "3:23: there is no command \"GETT\""),
        (
            "client A\n    tally a\nend\ninvariant \"x\" at end: tally(\"b\")\n",
            "4:23: no client counts \"b\": a",
        ),
        ("client A\nend\ninvariant \"x\" at end: is_done(\"Q\")\n", "3:23: no client is named \"Q\": A"),
        ("client A\n    note foo(1)\nend\n", "2:10: there is no function \"foo\" here: int, len,"),
        ("client A\n    note len()\nend\n", "2:10: len takes 1 values, not 0"),
        ("client A A\nend\n", "1:10: a client is named \"A\" already"),
        ("client A\n    break\nend\n", "2:5: `break` ends a `while`, and there is none around it"),
        ("client A\n    let a-b = 3\nend\n", "2:10: here stands \"=\""),
        ("client A\n    let nil = 1\nend\n", "2:9: \"nil\" is no name for a value"),
        ("let x = 1\nlet x = 2\nclient A\nend\n", "2:5: x has its value already"),
        ("faults crashes=1 crashes=2\nclient A\nend\n", "1:18: how often crashes may happen is said already"),
        ("client A\n    SET k \"\\q\"\nend\n", "2:11: there is no escape \\q"),
        ("client A\n    SET k \"\\x0g\"\nend\n", "2:11: behind \\x stand two hexadecimal digits"),
    ];
    for (at, (text, wanted)) in cases.iter().enumerate() {
        let path = written(&format!("mistake{at}.explore"), text);
        let (_, error, code) = explore(&[path.to_str().expect("text")]);
        let start = format!("moonkeep: {}:{wanted}", path.display());
        assert!(code == 2 && error.starts_with(&start), "{text:?}: {error}");
    }
    let depth = format!("client A\n    let x = {}1\nend\n", "(".repeat(10_000));
    let path = written("deep.explore", &depth);
    let (_, error, code) = explore(&[path.to_str().expect("text")]);
    assert!(code == 2 && error.contains("the expression is nested too deeply"), "{error}");
    let sum = format!("client A\n    let x = 1{}\nend\n", "+1".repeat(100_000));
    let blocks = format!("client A\n{}{}end\n", "if 1\n".repeat(8_000), "end\n".repeat(8_000));
    for (text, wanted) in
        [(sum, "a line has at most 256 operators"), (blocks, "blocks are nested at most 100 deep")]
    {
        let path = written("many.explore", &text);
        let (_, error, code) = explore(&[path.to_str().expect("text")]);
        assert!(code == 2 && error.contains(wanted), "{error}");
    }
    let path = written("bytes.explore", "");
    std::fs::write(&path, b"client A\nnote \"\xff\"\nend\n").expect("a file");
    let (_, error, code) = explore(&[path.to_str().expect("text")]);
    assert!(code == 2 && error.ends_with("bytes.explore:2: what stands here is no UTF-8\n"), "{error}");
}

#[test]
fn an_invariant_whose_command_fails_does_not_hold() {
    let told = |invariant: &str, wanted: i32| {
        let text = format!(
            "setup SET k 1\nsetup SET zero 0\nclient A\n    tally a\nend\ninvariant \"x\" at end: {invariant}\n"
        );
        let path = written("asks.explore", &format!("\u{feff}{text}"));
        let (out, error, code) = explore(&[path.to_str().expect("text")]);
        assert_eq!(code, wanted, "{invariant}: {out}{error}");
        out
    };
    assert!(told("[LLEN k]", 1).contains("violated: x: 6:23: WRONGTYPE Operation against a key"));
    told("[BLPOP n 0]", 1);
    told("is_error([LLEN k])", 0);
    told("is_error([GET k])", 1);
    told("[GET zero]", 1);
    told("not [GET zero] and [GET k] and not \"\" and tally(\"a\")", 0);
    told("[GET k] == \"\\x31\"", 0);
}

#[test]
fn a_mistake_while_it_runs_breaks_the_protocol() {
    let cases = [
        ("client A\n    let x = GET k\n    SET k (x + 1)\nend\n", "mistake: 3:12: nil is no integer"),
        ("client A\n    sleep 0 - 1\nend\n", "mistake: 2:13: -1 is no time in milliseconds"),
        ("client A\n    tally x \"a\"\nend\n", "mistake: 2:13: x is counted by an integer, not by a"),
        ("client A\n    while 1\n    end\nend\n", "mistake: 2:11: this goes round more than 100000 times"),
        ("client A\n    let x = 9223372036854775807 + 1\nend\n", "mistake: 2:33: there is no such integer"),
    ];
    for (at, (text, wanted)) in cases.iter().enumerate() {
        let path = written(&format!("runs{at}.explore"), text);
        let (out, _, code) = explore(&[path.to_str().expect("text")]);
        assert!(code == 1 && out.contains(&format!("violated: the protocol has no {wanted}")), "{out}");
    }
    let path = written(
        "fails.explore",
        "setup SET k x\nclient A\n    INCR k\nend\nclient B\n    fail \"no\"\nend\n",
    );
    let (out, _, code) = explore(&[path.to_str().expect("text")]);
    assert_eq!(code, 0);
    assert!(out.contains("A: ERR value is not an integer or out of range, B: no\n"), "{out}");
}

#[test]
fn options_that_are_wrong_are_told() {
    for (args, wanted) in [
        (&["--what", LEASE][..], "invalid option '--what'; see `moonkeep explore --help`"),
        (&[LEASE, "--runs", "many"], "--runs takes a number, not \"many\""),
        (&[LEASE, "--pct", "3"], "--pct takes DEPTH,RUNS, as 3,10000: not \"3\""),
        (&[LEASE, "--random", "0"], "--random takes a number of schedules from 1 on"),
        (&[LEASE, "--pct", "0,9"], "--pct takes a depth and a number of schedules, each from 1 on"),
        (&[LEASE, "--pct", "3,9", "--random", "9"], "--random and --pct: one of them, once"),
        (
            &[LEASE, "--random", "9", "--switches", "1"],
            "--switches is a bound of a search over all schedules",
        ),
        (&[LEASE, LEASE], "one file, not also "),
        (&["nowhere.explore"], "cannot read nowhere.explore: "),
        (&[], "which file? see `moonkeep explore --help`"),
    ] {
        let (_, error, code) = explore(args);
        assert!(code == 2 && error.starts_with(&format!("moonkeep: {wanted}")), "{error}");
    }
    let (help, _, code) = explore(&["--help"]);
    assert!(code == 0 && help.starts_with("moonkeep explore: run a protocol"), "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
}
