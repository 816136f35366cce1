//! Line coverage and profiles: which lines can run, which did and how often, over runs, engines, libraries and stops;
//! that nothing else changes where lines are noted; and what the reports hold, to the letter.

use moonkeep::{Coverage, Engine, Limits, Reply, Script, ScriptCoverage};

/// The lines with their hits after one run of a script.
fn run(source: &str, keys: &[&str], args: &[&str]) -> Vec<(u32, u64)> {
    let coverage = Coverage::new();
    let mut client = Engine::builder().coverage(&coverage).build().client();
    let mut out = Reply::new();
    Script::new(source).call().keys(keys).args(args).run_into(&mut client, &mut out).expect("it runs");
    hits(&coverage.scripts()[0])
}

fn hits(script: &ScriptCoverage) -> Vec<(u32, u64)> {
    script.lines.iter().map(|line| (line.line, line.hits)).collect()
}

#[test]
fn lines_of_branches_loops_and_functions_are_told_apart() {
    let source = "local function double(n)\n  return n * 2\nend\nlocal sum = 0\nfor i = 1, 3 do\n  if i == 2 then\n    \
                  sum = sum + double(i)\n  elseif i == 9 then\n    sum = -1\n  end\nend\nreturn sum";
    let wanted = [(2, 1), (3, 1), (4, 1), (5, 4), (6, 3), (7, 1), (8, 2), (9, 0), (12, 1)];
    assert_eq!(run(source, &[], &[]), wanted);
}

#[test]
fn comments_blank_lines_and_what_no_path_reaches_are_no_lines() {
    assert_eq!(run("-- first\n\nlocal a = 1\n--[[ two\nlines ]]\nreturn a", &[], &[]), [(3, 1), (6, 1)]);
    assert_eq!(run("do return 1 end\nreturn 2", &[], &[]), [(1, 1)]);
    assert_eq!(run("while true do\n  break\nend\nreturn 2", &[], &[]), [(2, 1), (4, 1)]);
    assert_eq!(run("local f = function()\n  return 1\nend\nreturn 2", &[], &[]), [(2, 0), (3, 1), (4, 1)]);
    // A function that ends without a return of its own leaves at its end.
    assert_eq!(run("local function f()\n  local a = 1\nend\nf()", &[], &[]), [(2, 1), (3, 2), (4, 1)]);
    // A first line that declares the script is one.
    assert_eq!(run("#!lua flags=no-writes\nreturn 1", &[], &[]), [(2, 1)]);
}

#[test]
fn conditions_over_several_lines_are_followed() {
    let source = "if #KEYS == 1 and\n  #ARGV == 1 and\n  ARGV[1] == 'x' then\n  return 1\nend\nreturn 0";
    assert_eq!(run(source, &["k"], &["x"]), [(1, 1), (2, 1), (3, 1), (4, 1), (6, 0)]);
    assert_eq!(run(source, &[], &[]), [(1, 1), (2, 0), (3, 0), (4, 0), (6, 1)]);
    let value = "local a = KEYS[1] == 'k'\nlocal b = a or\n  false\nreturn b";
    assert_eq!(run(value, &["k"], &[]), [(1, 1), (2, 1), (3, 0), (4, 1)]);
}

#[test]
fn coroutines_pcall_and_errors_are_covered_too() {
    let source = "local c = coroutine.wrap(function()\n  coroutine.yield(1)\n  error('x')\nend)\nc()\npcall(c)\nreturn 1";
    // The call on the first line comes behind the function that it is given.
    assert_eq!(run(source, &[], &[]), [(1, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)]);
    // What a script loads has lines of its own, which are none of the script's.
    assert_eq!(run("local f = loadstring('\\n\\n\\nreturn 7')\nreturn f()", &[], &[]), [(1, 1), (2, 1)]);
}

#[test]
fn a_whole_life_and_several_engines_add_up() {
    let coverage = Coverage::new();
    let (one, two) = (Script::new("return 1"), Script::new("if ARGV[1] then\n  return 2\nend"));
    for _ in 0..2 {
        let engine = Engine::builder().coverage(&coverage).build();
        let mut client = engine.client();
        one.call().run::<i64>(&mut client).expect("an integer");
        two.call().run::<()>(&mut client).expect("nil");
        client.call(["SCRIPT", "FLUSH"]).expect("forgets");
        two.arg(1).run::<i64>(&mut client).expect("an integer");
        let mut forked = engine.fork().expect("a copy").client();
        one.call().run::<i64>(&mut forked).expect("an integer");
    }
    coverage.name_script(one.source(), "b.lua");
    coverage.name_script(two.source(), "a.lua");
    let scripts = coverage.scripts();
    let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    assert_eq!(names, ["a.lua", "b.lua"]);
    assert_eq!((hits(&scripts[0]), hits(&scripts[1])), (vec![(1, 4), (2, 2), (3, 2)], vec![(1, 4)]));
    coverage.clear();
    assert_eq!(hits(&coverage.scripts()[1]), [(1, 0)]);
}

#[test]
fn functions_of_libraries_are_covered() {
    let coverage = Coverage::with_instructions();
    let mut client = Engine::builder().coverage(&coverage).build().client();
    let code = "#!lua name=stock\nlocal function add(keys, args)\n  if #args == 0 then\n    return 0\n  end\n  \
                return redis.call('INCRBY', keys[1], args[1])\nend\nredis.register_function('add', add)";
    client.call(["FUNCTION", "LOAD", code]).expect("loads");
    let scripts = coverage.scripts();
    assert_eq!(hits(&scripts[0]), [(3, 0), (4, 0), (6, 0), (7, 1), (8, 1)]);
    client.call(["FCALL", "add", "1", "n", "5"]).expect("adds");
    client.call(["FCALL", "add", "1", "n", "2"]).expect("adds");
    let scripts = coverage.scripts();
    assert_eq!((scripts.len(), scripts[0].name.as_str()), (1, "stock.lua"));
    let counts: Vec<_> = scripts[0].lines.iter().map(|line| (line.line, line.hits, line.calls)).collect();
    assert_eq!(counts, [(3, 2, 0), (4, 0, 0), (6, 2, 2), (7, 1, 0), (8, 1, 0)]);
    // In a fork it is loaded again.
    client.call(["FUNCTION", "DUMP"]).expect("dumps");
}

#[test]
fn a_profile_counts_the_instructions_that_ran_and_calls_through_pcall() {
    let coverage = Coverage::with_instructions();
    let mut client = Engine::builder().coverage(&coverage).build().client();
    let source = "local ok = pcall(redis.call, 'INCR', KEYS[1])\nredis.pcall('INCR', KEYS[1])\nreturn ok";
    let argv = ["EVAL", source, "1", "n"];
    client.call(argv).expect("runs");
    let script = &coverage.scripts()[0];
    assert_eq!(script.lines.iter().map(|line| line.calls).collect::<Vec<_>>(), [1, 1, 0]);
    let counted: u64 = script.lines.iter().map(|line| line.instructions).sum();
    let (_, told) = Engine::new().client().count_instructions(argv).expect("counts");
    assert_eq!(counted, told);
    // Counting by hand goes on as before, and takes nothing away.
    assert_eq!(client.count_instructions(argv).expect("counts").1, told);
    client.call(argv).expect("runs");
    assert_eq!(coverage.scripts()[0].lines.iter().map(|line| line.instructions).sum::<u64>(), 3 * told);
}

/// Scripts that end in every way: by themselves, by an error, by each bound.
const ENDINGS: [&str; 12] = [
    "return 1",
    "error('no')",
    "while true do end",
    "local t = {} while true do t[#t + 1] = #t end",
    "local s = 'x' while true do s = s .. s end",
    "local function f(n) return f(n + 1) end return f(0)",
    "local function f(n) return 1 + f(n + 1) end return f(0)",
    "for i = 1, 3000 do\n  redis.call('SET', KEYS[1], i)\nend\nreturn 1",
    "while true do\n  pcall(function()\n    while true do end\n  end)\nend",
    "local c = coroutine.wrap(function() while true do\n coroutine.yield() end end) while true do\n c() end",
    "local t = {} for i = 1, 50000 do\n  t[i] = tostring(i) .. 'x'\nend table.sort(t)\nreturn #t",
    "while true do\n  redis.pcall('APPEND', KEYS[1], 'xxxxxxxx')\nend",
];

#[test]
fn scripts_do_the_same_work_and_stop_at_the_same_unit_where_lines_are_noted() {
    for source in ENDINGS {
        let mut outcomes = Vec::new();
        for coverage in [None, Some(Coverage::new())] {
            let limits = Limits { work: 2_000_000, memory: 8 << 20, ..Limits::default() };
            let builder = Engine::builder().script_limits(limits);
            let builder = match &coverage {
                Some(coverage) => builder.coverage(coverage),
                None => builder,
            };
            let engine = builder.build();
            let mut reply = Reply::new();
            engine.client().call_into(["EVAL", source, "1", "k"], &mut reply).expect("a reply");
            let left = engine.script_control().work_left();
            outcomes.push((format!("{reply:?}"), left, engine.state_hash().expect("a hash")));
        }
        assert_eq!(outcomes[0], outcomes[1], "{source}");
    }
}

#[test]
fn lines_are_noted_where_nothing_is_counted() {
    let coverage = Coverage::new();
    let limits = Limits { work: u64::MAX, time_ms: u64::MAX, ..Limits::default() };
    let mut client = Engine::builder().script_limits(limits).coverage(&coverage).build().client();
    client.call(["EVAL", "local a = 1\nreturn a", "0"]).expect("runs");
    assert_eq!(hits(&coverage.scripts()[0]), [(1, 1), (2, 1)]);
}

#[test]
fn a_script_can_be_killed_where_lines_are_noted() {
    let coverage = Coverage::new();
    let engine = Engine::builder().coverage(&coverage).build();
    let control = engine.script_control();
    let killer = std::thread::spawn(move || {
        while !control.is_running() {
            std::thread::yield_now();
        }
        control.kill();
    });
    let mut reply = Reply::new();
    engine
        .client()
        .call_into(["EVAL", "while true do\n  local a = 1\nend", "0"], &mut reply)
        .expect("a reply");
    killer.join().expect("it has killed");
    assert!(format!("{reply:?}").contains("Script killed"), "{reply:?}");
    assert!(coverage.scripts()[0].lines.iter().all(|line| line.hits > 0));
}

const SCRIPT: &str = "local n = tonumber(ARGV[1])\nif n < 1 then\n  return \"<&>\"\nend\nreturn redis.call('INCRBY', KEYS[1], n)\n";

fn noted() -> Coverage {
    let coverage = Coverage::with_instructions();
    coverage.name_script(SCRIPT, "lua/add.lua");
    let mut client = Engine::builder().coverage(&coverage).build().client();
    Script::new(SCRIPT).key("n").arg(5).run::<i64>(&mut client).expect("an integer");
    coverage
}

#[test]
fn the_tracefile_is_one_of_lcov() {
    let wanted = "TN:\nSF:lua/add.lua\nDA:1,1\nDA:2,1\nDA:3,0\nDA:5,1\nLF:4\nLH:3\nend_of_record\n";
    assert_eq!(noted().lcov(), wanted);
}

#[test]
fn the_page_stands_alone_and_marks_what_ran() {
    let page = noted().html();
    let rows = [
        "<tr><td><a href=\"#s0\">lua/add.lua</a></td><td>4</td><td>3</td><td>75.0 %</td></tr>\n",
        "<tr class=\"hit\"><td class=\"n\">1</td><td>1</td><td>4</td><td></td><td>local n = tonumber(ARGV[1])</td></tr>\n",
        "<tr class=\"missed\"><td class=\"n\">3</td><td>0</td><td>0</td><td></td><td>  return &quot;&lt;&amp;&gt;&quot;</td></tr>\n",
        "<tr><td class=\"n\">4</td><td></td><td></td><td></td><td>end</td></tr>\n",
    ];
    for row in rows {
        assert!(page.contains(row), "{row}\n{page}");
    }
    assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    assert!(!page.contains("http") && !page.contains("<script") && !page.contains("<link"));
}

#[cfg(feature = "cli")]
#[test]
fn the_command_writes_coverage_by_extension_and_shows_a_profile() {
    use crate::cli::{ScriptFile, moonkeep_reading};
    let script = ScriptFile::new("add.lua", SCRIPT);
    let run =
        |words: &[&str]| moonkeep_reading("", &[&["eval"], words, &[script.path(), "n", ",", "5"]].concat());
    for (extension, wanted) in
        [("info", format!("TN:\nSF:{}\nDA:1,1\n", script.path())), ("html", "<!DOCTYPE html>".into())]
    {
        let file = ScriptFile::new(&format!("coverage.{extension}"), "");
        let told = format!("coverage: {}: 3 of 4 lines; not run: 3\n", script.path());
        let reply = "(integer) 5\nchanged: INCRBY n 5\n".to_owned();
        assert_eq!(run(&["--coverage", file.path()]), (reply, told, 0));
        assert!(std::fs::read_to_string(file.path()).expect("written").starts_with(&wanted));
    }
    let (out, err, status) = run(&["--profile"]);
    let table = format!(
        "(integer) 5\nchanged: INCRBY n 5\nprofile: {}: 13 instructions, 1 call\n    \
         hits  instructions  calls   line  source\n       \
         1             4      .      1  local n = tonumber(ARGV[1])\n       \
         1             1      .      2  if n < 1 then\n       \
         .             .      .      3    return \"<&>\"\n       \
         1             8      1      5  return redis.call('INCRBY', KEYS[1], n)\n",
        script.path()
    );
    assert_eq!((out, err, status), (table, String::new(), 0));
    let (out, ..) = run(&["--profile", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let line = serde_json::json!({"line": 5, "hits": 1, "instructions": 8, "calls": 1});
    assert_eq!((&json["profile"][0]["lines"][3], json["reply"].as_i64()), (&line, Some(5)));
    assert_eq!(json["profile"][0]["script"].as_str(), Some(script.path()));
    let refused = [
        (
            &["--coverage", "out.txt"][..],
            "--coverage out.txt: the name ends in .info or .lcov for lcov, or in .html for a page",
        ),
        (
            &["--trace", "--profile"],
            "--trace runs the script on a fork too, which would be noted; choose it or --coverage and --profile",
        ),
    ];
    for (words, told) in refused {
        assert_eq!(run(words), (String::new(), format!("moonkeep: {told}\n"), 2));
    }
}

#[test]
fn reports_keep_to_the_lines_of_the_vm_and_names_to_one_line() {
    let coverage = Coverage::new();
    let mut client = Engine::builder().coverage(&coverage).build().client();
    let text = "local a = 1\r\nlocal b = 2\rlocal c = 3\n\rif a == b then return c end";
    client.call(["EVAL", text, "0"]).expect("it runs");
    coverage.name_script(text, "a\nSF:b");
    let html = coverage.html();
    for (line, text) in
        [(1, "local a = 1"), (2, "local b = 2"), (3, "local c = 3"), (4, "if a == b then return c end")]
    {
        let row = format!("<td class=\"n\">{line}</td><td>1</td><td></td><td>{text}</td></tr>\n");
        assert!(html.contains(&row), "{row}{html}");
    }
    assert!(!html.contains("<td class=\"n\">5</td>"), "{html}");
    assert_eq!(
        coverage.lcov(),
        "TN:\nSF:a?SF:b\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,1\nLF:4\nLH:4\nend_of_record\n"
    );
}
