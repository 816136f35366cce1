//! `Contract::check` and its mutants: the shipped scripts keep their word, scripts that do not are told with the smallest
//! call, and what the checks of the documents' scripts have to notice they notice.

use crate::boundaries::shipped;
use crate::support::server::server_or_skip;
use moonkeep::{CheckHooks, CheckOptions, CheckReport, Contract, Input, Mutant, Reply, Rule, Script};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

const SCRIPTS: [&str; 5] = ["decrease_stock", "unlock", "renew_lock", "acquire_fenced", "fenced_set"];

/// How many calls each script gets; `MOONKEEP_CHECK_RUNS` says otherwise.
fn runs() -> u64 {
    let told = std::env::var("MOONKEEP_CHECK_RUNS").ok();
    told.map_or(3000, |count| count.parse().expect("MOONKEEP_CHECK_RUNS is a number"))
}

fn check(contract: &str, source: &str) -> CheckReport {
    let contract = Contract::parse(contract).unwrap_or_else(|error| panic!("{error}"));
    contract.check(&Script::new(source), &CheckOptions::new().runs(runs())).expect("it is checked")
}

#[test]
fn the_shipped_scripts_keep_their_word() {
    for name in SCRIPTS {
        let source = shipped(name);
        let report = check(&source, &source);
        report.assert_kept();
        assert_eq!((report.name(), report.runs()), (name, runs()));
        let unreached: Vec<_> = report.clauses().iter().filter(|clause| clause.runs == 0).collect();
        assert!(unreached.is_empty(), "{name}: {unreached:?}");
        assert!(report.instructions() <= report.instructions_allowed().expect("declared"));
    }
}

/// A script, what is changed in it, the rule that it breaks then, and what is told of it.
type Broken = (&'static str, &'static str, &'static str, Rule, &'static str);

/// The eleven mutants of the three documents' scripts.
const DOCUMENTS: [Broken; 11] = [
    ("decrease_stock", "^[1-9]%d*$", "^%d+$", Rule::Refusal, "Quantity must be a positive"),
    ("decrease_stock", "number <= MOST", "number <= MOST + 1", Rule::Refusal, "replied"),
    ("decrease_stock", "stock < quantity", "stock <= quantity", Rule::Reply, "it is [0, 1]"),
    (
        "decrease_stock",
        "local stock =",
        "redis.call(\"SET\", KEYS[1], 7)\nlocal stock =",
        Rule::Writes,
        "no writes clause lets stock be written for the reply [0, 7]",
    ),
    (
        "decrease_stock",
        "local stock =",
        "redis.call(\"GET\", KEYS[1] .. \"x\")\nlocal stock =",
        Rule::Keys,
        "the script used {k}stockx, which is none of its keys",
    ),
    ("decrease_stock", "{0, stock}", "{0}", Rule::Reply, "the script replied [0]"),
    ("decrease_stock", "^[1-9]%d*$", "^[1-9]%d*", Rule::Refusal, "Quantity must be"),
    ("unlock", "redis.call(\"GET\", KEYS[1]) ~= token", "false", Rule::Reply, "it is 1"),
    ("renew_lock", "KEYS[1]) > 0", "KEYS[1]) >= 0", Rule::Reply, "it is 1"),
    ("renew_lock", " and redis.call(\"PTTL\", KEYS[1]) > 0", "", Rule::Reply, "it is 1"),
    (
        "unlock",
        "local token",
        "while true do end\nlocal token",
        Rule::End,
        "did not end within 1000000 instructions",
    ),
];

#[test]
fn the_eleven_mutants_of_the_documents_are_killed() {
    for (name, old, new, rule, told) in DOCUMENTS {
        let source = shipped(name);
        let changed = source.replacen(old, new, 1);
        assert_ne!(changed, source, "{name} has no {old}");
        let contract = Contract::parse(&source).expect("a contract");
        let options = CheckOptions::new().runs(4000).failures(6);
        let report = contract.check(&Script::new(changed), &options).expect("it is checked");
        let found = report.failures().iter().any(|one| one.rule() == rule && one.told().contains(told));
        assert!(found, "{name}: {old} -> {new}\n{report}");
    }
}

#[test]
fn what_is_told_is_the_smallest_call() {
    let source = shipped("renew_lock");
    // Only a lock whose time ends at this very instant tells these apart.
    let report = check(&source, &source.replace("KEYS[1]) > 0", "KEYS[1]) >= 0"));
    let failure = &report.failures()[0];
    assert_eq!(
        failure.input().to_string(),
        "SET {k}lock 0\nPEXPIRE {k}lock 1\nadvance 1 ms\ncall 1 {k}lock 0 1"
    );
    assert_eq!(report.failures().len(), 1, "{report}");
}

const HEAD: &str = "--!contract c\n--!key k string int(0, 9) rw ttl=any\n--!argv n int(0, 9)\n--!error arity \"ERR arity\"\n--!error n \"ERR n\"\n--!error k \"ERR k\"\n--!error k.type WRONGTYPE\n--!reply any\n";

const BODY: &str = "if #KEYS ~= 1 or #ARGV ~= 1 then return redis.error_reply('ERR arity') end if not ARGV[1]:find('^%d$') then return redis.error_reply('ERR n') end local k = redis.call('GET', KEYS[1]) if k and not k:find('^%d$') then return redis.error_reply('ERR k') end ";

/// The rules that a script breaks, each once.
fn rules(rest: &str) -> Vec<Rule> {
    let source = format!("{HEAD}{BODY}{rest}");
    let report = check(&source, &source);
    let mut rules: Vec<Rule> = report.failures().iter().map(|failure| failure.rule()).collect();
    rules.sort();
    rules.dedup();
    rules
}

#[test]
fn lines_that_no_call_ran_are_told_with_the_nearest_one() {
    let rest = "\nlocal function never(a)\n  return a\nend\nfor i = 1, 3 do\n  if i == 4 then\n    return never(i)\n  end\nend\n\
                if k == ARGV[1] and\n  k == '3' and #k > 1 then\n  return 1\nend\nreturn 2";
    let source = format!("{HEAD}{BODY}{rest}");
    let report = check(&source, &source);
    let first = HEAD.lines().count() as u32 + 1;
    let missed: Vec<_> =
        report.missed().iter().map(|one| (one.line - first, one.guard.map(|line| line - first))).collect();
    // The end of the function is where it is made; the line that would return from it is on no way.
    assert_eq!(missed, [(2, Some(3)), (6, Some(5)), (11, Some(10))]);
    let nearest = |at: usize| report.missed()[at].nearest.as_ref().map(ToString::to_string);
    assert_eq!(nearest(2).as_deref(), Some("SET {k}k 3\nadvance 0 ms\ncall 1 {k}k 3"));
    assert_eq!(nearest(1).as_deref(), Some("advance 0 ms\ncall 1 {k}k 0"));
    assert_eq!(report.coverage().missed(), report.missed().iter().map(|one| one.line).collect::<Vec<_>>());
    let run = report.coverage().lines.iter().find(|line| line.line == first + 5).expect("the line");
    assert_eq!((run.hits % 3, run.hits >= 3), (0, true));
}

#[test]
fn what_no_single_run_shows_is_found() {
    assert_eq!(rules("return redis.call('SET', KEYS[1], ARGV[1])"), []);
    // What chance decides.
    let random = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('RANDOMKEY')";
    assert_eq!(rules(random), [Rule::Keys]);
    let report = check(
        "--!contract c\n--!key s set ro\n--!error arity \"ERR arity\"\n--!error s.type WRONGTYPE\n--!reply any",
        "if #KEYS ~= 1 or #ARGV ~= 0 then return redis.error_reply('ERR arity') end return redis.call('SRANDMEMBER', KEYS[1])",
    );
    assert_eq!(report.failures().iter().map(|one| one.rule()).collect::<Vec<_>>(), [Rule::Determinism]);
    // A run that does not end.
    assert_eq!(rules("if ARGV[1] == '3' then while true do end end return 1"), [Rule::End]);
}

#[test]
fn what_may_hang_on_chance_is_declared() {
    let source = "--!contract draw\n--!key s set of token rw rm\n--!argv count int(1, 5) optional\n--!error arity \"ERR arity\"\n--!error count \"ERR count\"\n--!error s.type WRONGTYPE\n--!flags random\n--!reply [bytes...]\n--!writes s\nif #KEYS ~= 1 or #ARGV > 1 then return redis.error_reply('ERR arity') end local n = ARGV[1] or '1' if not n:find('^[1-5]$') then return redis.error_reply('ERR count') end return redis.call('SPOP', KEYS[1], n)";
    check(source, source).assert_kept();
    let report = check(&source.replace("--!flags random\n", ""), source);
    assert_eq!(report.failures().iter().map(|one| one.rule()).collect::<Vec<_>>(), [Rule::Determinism]);
}

#[test]
fn a_call_that_failed_once_is_tried_first() {
    let source = shipped("unlock");
    let broken = source.replace("redis.call(\"GET\", KEYS[1]) ~= token", "false");
    let input: Input = "SET {k}lock a\ncall 1 {k}lock b".parse().expect("an input");
    let contract = Contract::parse(source).expect("a contract");
    let options = CheckOptions::new().runs(0).first([input.clone()]);
    let report = contract.check(&Script::new(&broken), &options).expect("it is checked");
    assert_eq!((report.runs(), report.failures().len()), (1, 1));
    assert_eq!(report.failures()[0].run(), 1);
    let open: Input = "MULTI\ncall 0".parse().expect("an input");
    let error = contract.check(&Script::new(&broken), &options.clone().first([open])).expect_err("queued");
    assert_eq!(error.to_string(), "the set-up leaves a MULTI open, and the script would be queued");
    let wrong: Input = "NOSUCH\ncall 0".parse().expect("an input");
    let error = contract.check(&Script::new(broken), &options.first([wrong])).expect_err("no set-up");
    assert!(error.to_string().starts_with("the set-up NOSUCH is refused: ERR unknown command"), "{error}");
}

/// A job that a worker takes up, ends or tries again, five times at most.
const JOB: &str = "--!contract job
--!key h hash(state one_of(\"new\", \"run\"), tries int(0, 5) optional) required rw ttl=kept
--!argv how one_of(\"start\", \"retry\")
--!error arity \"bad arity\"
--!error how \"bad how\"
--!error h \"no job\"
--!error h.type WRONGTYPE
--!reply int(0, 6) | nil
--!case how == \"retry\" and h.state == \"run\" and default(h.tries, 0) < 5 => default(h.tries, 0) + 1 ; h.tries = default(h.tries, 0) + 1, h.state = \"new\"
--!case how == \"retry\" and h.state == \"run\" => error \"too many tries\"
--!case how == \"start\" and h.state == \"new\" => 1 ; h.state = \"run\"
--!case else => nil
if #KEYS ~= 1 or #ARGV ~= 1 then return redis.error_reply('bad arity') end
if ARGV[1] ~= 'start' and ARGV[1] ~= 'retry' then return redis.error_reply('bad how') end
if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('no job') end
local held = redis.call('HMGET', KEYS[1], 'state', 'tries')
local tries = tonumber(held[2] or 0)
if ARGV[1] == 'start' and held[1] == 'new' then
  redis.call('HSET', KEYS[1], 'state', 'run')
  return 1
elseif ARGV[1] == 'retry' and held[1] == 'run' then
  if tries >= 5 then return redis.error_reply('too many tries') end
  redis.call('HINCRBY', KEYS[1], 'tries', 1)
  redis.call('HSET', KEYS[1], 'state', 'new')
  return tries + 1
end
return false
";

#[test]
fn a_small_call_stays_in_the_declared_states() {
    check(JOB, JOB).assert_kept();
    let report = check(JOB, &JOB.replace("tries >= 5", "tries >= 4"));
    let failure = &report.failures()[0];
    // A field that is no number fails too, with the right script as well: the contract does not speak of it.
    let told = "HSET {k}h state run tries 4\nadvance 0 ms\ncall 1 {k}h retry";
    assert_eq!((failure.input().to_string().as_str(), report.failures().len()), (told, 1), "{report}");
    assert_eq!(failure.told(), "the call is to be accepted, the script replied (error) too many tries");
}

#[test]
fn a_call_of_which_the_contract_does_not_speak_is_no_failure() {
    let first = [
        "HSET {k}h state run tries \"\"\ncall 1 {k}h retry",
        "HSET {k}h state run tries \"\"\ncall 1 {k}h what",
    ];
    let first = first.map(|text| text.parse::<Input>().expect("an input"));
    let contract = Contract::parse(JOB).expect("a contract");
    let options = CheckOptions::new().runs(0).first(first);
    let with = |source: &str| contract.check(&Script::new(source), &options).expect("it is checked");
    let report = with(JOB);
    assert_eq!((report.runs(), report.outside(), report.failures().len()), (2, 1, 0), "{report}");
    // Where an error clause decides, whatever the key holds, it speaks of the call.
    let report = with(&JOB.replace("'bad how'", "'what'"));
    assert_eq!((report.outside(), report.failures().len()), (1, 1), "{report}");
    assert_eq!(report.failures()[0].rule(), Rule::Refusal);
}

#[test]
fn what_replicas_are_not_told_they_do_not_have() {
    for mode in ["REPL_NONE", "REPL_AOF"] {
        let quiet = format!("redis.set_repl(redis.{mode}) return redis.call('SET', KEYS[1], ARGV[1])");
        assert_eq!(rules(&quiet), [Rule::Replication], "{mode}");
    }
    assert_eq!(rules("redis.set_repl(redis.REPL_REPLICA) return redis.call('SET', KEYS[1], ARGV[1])"), []);
}

#[test]
fn what_hangs_on_luas_chance_is_found_and_comes_again() {
    assert_eq!(rules("return math.random(100000)"), [Rule::Determinism]);
    assert_eq!(
        rules("return redis.call('SET', KEYS[1], ARGV[1], 'EX', 60 + math.random(30))"),
        [Rule::Determinism]
    );
    // A seed of its own is no chance.
    assert_eq!(rules("math.randomseed(5) return math.random(100000)"), []);
    // One call of two hundred is another one: told is what came of it, and with the same runs it comes again.
    let source = format!("{HEAD}{BODY}if math.random(200) == 7 then return 2 end return 1")
        .replace("--!reply any", "--!reply 1");
    let report = check(&source, &source);
    assert_eq!(report.failures().len(), 2, "{report}");
    let failure =
        report.failures().iter().find(|failure| failure.rule() == Rule::Reply).expect("it is found");
    assert_eq!(failure.told(), "replies are 1, the script replied 2");
    assert_eq!(format!("{:?}", failure.reply()), ":2");
    let command = failure.command("rare.lua");
    assert_eq!(command, format!("moonkeep check --no-regressions --runs {} rare.lua", failure.run()));
    let contract = Contract::parse(&source).expect("a contract");
    let options = CheckOptions::new().runs(failure.run());
    let again = contract.check(&Script::new(&source), &options).expect("it is checked");
    assert_eq!(again.failures().last(), Some(failure));
}

/// The rules that a script breaks which reads a set and a hash.
fn unordered(rest: &str) -> Vec<Rule> {
    let head = "--!contract u\n--!key s set ro\n--!key h hash ro\n--!key l list rw rm ttl=any\n--!error arity \"ERR arity\"\n--!error s.type WRONGTYPE\n--!error h.type WRONGTYPE\n--!error l.type WRONGTYPE\n--!reply any\n";
    let body = "if #KEYS ~= 3 or #ARGV ~= 0 then return redis.error_reply('ERR arity') end local s = redis.call('SMEMBERS', KEYS[1]) local h = redis.call('HKEYS', KEYS[2]) redis.call('LLEN', KEYS[3]) ";
    let source = format!("{head}{body}{rest}");
    check(&source, &source).failures().iter().map(|failure| failure.rule()).collect()
}

#[test]
fn what_hangs_on_the_order_of_members_is_found() {
    assert_eq!(unordered("return s[1]"), [Rule::Determinism]);
    assert_eq!(unordered("return h[1]"), [Rule::Determinism]);
    assert_eq!(
        unordered("for _, m in ipairs(s) do redis.call('RPUSH', KEYS[3], m) end return 1"),
        [Rule::Determinism]
    );
    // All of them, in whatever order, are the same; so is what is sorted.
    assert_eq!(unordered("return {s, h}"), []);
    assert_eq!(unordered("table.sort(s) return s[1]"), []);
    assert_eq!(unordered("for _, m in ipairs(s) do redis.call('LREM', KEYS[3], 0, m) end return 1"), []);
}

#[test]
fn a_run_may_take_what_its_contract_allows() {
    let declared = |rest: &str, instructions: u64| {
        let source = format!("{HEAD}{BODY}{rest}")
            .replace("--!reply any", &format!("--!reply any\n--!instructions {instructions}"));
        let contract = Contract::parse(&source).expect("a contract");
        let options = CheckOptions::new().runs(12);
        let report = contract.check(&Script::new(&source), &options).expect("it is checked");
        report.failures().iter().map(|one| (one.rule(), one.told().to_owned())).collect::<Vec<_>>()
    };
    let counts = "for i = 1, 600000 do k = i end return 1";
    assert_eq!(declared(counts, 1_500_000), []);
    // Bytes that strings fill are work too.
    let grows = "local s = '' for i = 1, 2000 do s = s .. '0123456789' end return 1";
    assert_eq!(declared(grows, 1_000_000), []);
    let told = declared(counts, 1_000_000).into_iter().next().expect("a failure");
    assert_eq!(told.0, Rule::Instructions);
    let told = declared(grows, 5000).into_iter().next().expect("a failure");
    assert_eq!(told.0, Rule::End);
    let expected = "the run did not end within 1000000 units of work: it took ";
    assert!(
        told.1.starts_with(expected)
            && told.1.ends_with(" instructions of Lua, and the rest for strings and commands"),
        "{}",
        told.1
    );
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let source = shipped("decrease_stock");
    let broken = source.replace("stock < quantity", "stock <= quantity");
    let contract = Contract::parse(&source).expect("a contract");
    let with = |seed| {
        contract.check(&Script::new(&broken), &CheckOptions::new().seed(seed).runs(500)).expect("checked")
    };
    assert_eq!(with(5), with(5));
    assert_ne!(with(5).clauses(), with(6).clauses());
    let report = with(5);
    assert_eq!(report.failures()[0].changes().len(), 0);
    assert_eq!(report.failures()[0].calls()[0].to_string(), "GET {k}stock -> \"1\"");
}

#[test]
fn mutants_are_changes_that_people_make() {
    let source = "-- a < b\nlocal a = tonumber(ARGV[1])\nif a == nil or a < 5 then\n  return redis.error_reply('no')\nend\nreturn {1, redis.call('DECRBY', KEYS[1], a + 1)}";
    let mutants: Vec<String> = Mutant::of(source).iter().map(ToString::to_string).collect();
    for expected in [
        "line 3, comparison: == -> ~=",
        "line 3, comparison: < -> <=",
        "line 3, comparison: < -> >=",
        "line 3, bound: 5 -> 4",
        "line 3, bound: 5 -> 6",
        "line 3, logic: or -> and",
        "line 3, dropped part: a == nil or",
        "line 3, dropped part: or a < 5",
        "line 3, dropped check: a == nil or a < 5 -> false",
        "line 3, dropped check: a == nil or a < 5 -> true",
        "line 4, dropped return: return redis.error_reply('no')",
        "line 3, reordered: redis.call('DECRBY', KEYS[1], a + 1) -> before the check above",
        "line 6, dropped element: 1,",
        "line 6, other command: 'DECRBY' -> 'INCRBY'",
        "line 6, wrong key: KEYS[1] -> (KEYS[1] .. \"x\")",
        "line 6, arithmetic: + -> -",
    ] {
        assert!(mutants.iter().any(|one| one == expected), "{expected} is not in\n{}", mutants.join("\n"));
    }
    assert!(mutants.iter().all(|one| !one.starts_with("line 1,")), "comments stay: {mutants:?}");
    // Of anything else there are none, and nothing fails.
    assert_eq!(Mutant::of("return 9223372036854775807").len(), 2);
    assert!(Mutant::of("").is_empty());
    let told = Mutant::of("local n = 1\r\nreturn\rn < 2").iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(told.contains(&"line 3, comparison: < -> <=".to_owned()), "{told:?}");
    Mutant::of([0xff, b'<', b'"', b'[', b'[']);
}

#[test]
fn mutants_of_a_long_script_are_made_one_by_one() {
    // Two thousand statements, of each of which there are several mutants: as texts they would be 300 MB.
    let source = "local a = redis.call('GET', KEYS[1])\n".repeat(2000) + "return 1";
    let mutants = Mutant::of(&source);
    assert_eq!(mutants.len(), 2000 + 3);
    assert!(mutants.iter().take(2000).enumerate().all(|(at, mutant)| mutant.line() == at + 1));
    let first = mutants[0].source();
    assert_eq!(first.len(), source.len() + " .. \"x\"".len() + 2);
    assert!(first.starts_with(b"local a = redis.call('GET', (KEYS[1] .. \"x\"))\n"));
}

#[test]
fn changes_that_lead_to_one_text_are_one_mutant() {
    let source = "redis.call('DEL', KEYS[1])redis.call('DEL', KEYS[1])return 1";
    let dropped = Mutant::of(source).into_iter().filter(|mutant| mutant.change() == "dropped call").count();
    assert_eq!(dropped, 1);
    let mut texts: Vec<_> = Mutant::of(shipped("unlock")).iter().map(Mutant::source).collect();
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count);
}

/// What may be changed in the shipped scripts without anybody noticing: it changes nothing.
const SURVIVORS: [(&str, &str); 6] = [
    ("decrease_stock", "line 30, dropped part: and #text <= 10"),
    ("decrease_stock", "line 30, bound: 10 -> 11"),
    ("decrease_stock", "line 43, bound: 0 -> -1"),
    ("renew_lock", "line 32, dropped part: not ttl_ms or"),
    ("acquire_fenced", "line 39, dropped part: not ttl_ms or"),
    ("fenced_set", "line 51, reordered: redis.call(\"SET\", KEYS[1], ARGV[2]) -> before the above"),
];

#[test]
fn only_changes_that_change_nothing_survive() {
    for name in SCRIPTS {
        let source = shipped(name);
        let contract = Contract::parse(&source).expect("a contract");
        let options = CheckOptions::new().runs(runs().min(3000));
        let report = contract.check_mutants(&Script::new(&source), &options).expect("they are checked");
        println!("{report}");
        let survivors: Vec<String> = report.survivors().map(ToString::to_string).collect();
        let expected: Vec<&str> =
            SURVIVORS.iter().filter(|(script, _)| *script == name).map(|(_, mutant)| *mutant).collect();
        assert_eq!(survivors, expected);
        assert!(report.mutants().len() > 25, "{report}");
    }
}

/// A shipped script without its contract.
fn bare(name: &str) -> String {
    let source = shipped(name);
    source.lines().filter(|line| !line.starts_with("--!")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_draft_tells_what_a_script_seems_to_promise() {
    let draft = Contract::draft("unlock", &Script::new(bare("unlock"))).expect("a draft");
    let expected = "--!contract unlock\n--!key   key1  string bytes optional rm\n--!argv  token  token\n--!error arity  \"Expected one key and a non-empty owner token\"\n--!error token.range  \"Expected one key and a non-empty owner token\"\n--!error key1.type  WRONGTYPE\n--!reply int\n--!instructions 50\n-- To finish: names, the order of errors, cases, and what was not found out.\n";
    assert_eq!(draft, expected);
    check(&draft, &bare("unlock")).assert_kept();
    let drafts = SCRIPTS.map(|name| {
        let draft = Contract::draft(name, &Script::new(bare(name))).expect("a draft");
        Contract::parse(&draft).unwrap_or_else(|error| panic!("{error}\n{draft}"));
        draft
    });
    for (draft, line) in [
        (&drafts[0], "--!key   stock  string int(0, 1000000000) required rw\n"),
        (&drafts[0], "--!argv  quantity  int(1, 1000000000)\n"),
        (&drafts[0], "--!error quantity  \"Quantity must be a positive bounded integer\"\n"),
        (&drafts[0], "--!error stock  \"Stock is missing or invalid\"\n"),
        (&drafts[0], "--!reply [int, int]\n"),
        (&drafts[2], "--!argv  ttl  int(1, 604800000) digits\n"),
        (&drafts[2], "--!error ttl.range  \"Invalid TTL\"\n"),
        (&drafts[2], "string bytes optional rw ttl=set\n"),
        (&drafts[3], "string int(0, 9007199254740990) optional rw"),
        (&drafts[4], "--!key   seen  string int(0, 9007199254740991) optional rw ttl=any\n"),
    ] {
        assert!(draft.contains(line), "{line} is not in\n{draft}");
    }
}

/// Most scripts look neither how many keys and arguments there are nor at what they get, and some go through all of them.
#[test]
fn drafts_of_usual_scripts_are_kept_as_they_are() {
    for (source, declared) in [
        (
            "for i, k in ipairs(KEYS) do redis.call('DEL', k) end return #KEYS",
            "--!key   keys  any rm ...\n--!arity trusted\n--!reply int\n",
        ),
        (
            "return redis.call('DEL', unpack(KEYS))",
            "--!key   keys  any rm ...(1, 1000)\n--!arity trusted\n--!reply int\n",
        ),
        (
            "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end",
            "--!key   key1  string bytes optional rm\n--!argv  arg1  bytes\n--!arity trusted\n--!error key1.type  WRONGTYPE\n--!reply int\n",
        ),
    ] {
        let draft = Contract::draft("usual", &Script::new(source)).expect("a draft");
        assert!(draft.starts_with(&format!("--!contract usual\n{declared}")), "{draft}");
        check(&draft, source).assert_kept();
    }
    let many = "return redis.call('XADD', KEYS[1], '*', unpack(ARGV))";
    let draft = Contract::draft("many", &Script::new(many)).expect("a draft");
    assert!(
        draft.contains("--!key   key1  stream optional rw\n--!argv  more  bytes ...(2, 1000)\n"),
        "{draft}"
    );
}

#[test]
fn anything_has_a_draft() {
    for source in [
        "",
        "return redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])",
        "return unpack(ARGV)",
        "error('x')",
        "while true do end",
        "for i = 1, #ARGV do redis.call('SADD', KEYS[1], ARGV[i]) end return #ARGV",
        "local n = redis.call('HINCRBY', KEYS[1], ARGV[1], 1) if n > 5 then redis.call('DEL', KEYS[1]) end return n",
        "local arity, reply, key1 = KEYS[1], ARGV[1], KEYS[2] return redis.call('GET', KEYS[2])",
    ] {
        let draft = Contract::draft("a-b", &Script::new(source)).expect("a draft");
        assert!(draft.starts_with("--!contract script\n"), "{draft}");
        Contract::parse(&draft).unwrap_or_else(|error| panic!("{source}: {error}\n{draft}"));
    }
    let error = Contract::draft("x", &Script::new("return return")).expect_err("no script");
    assert!(error.to_string().starts_with("ERR Error compiling script"), "{error}");
}

/// A connection to a server that the test started.
fn caller(socket: &std::path::Path) -> impl FnMut(&[&[u8]]) -> Result<Reply, String> {
    let mut stream = BufReader::new(UnixStream::connect(socket).expect("the server listens"));
    move |words| {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(&[word, &b"\r\n"[..]].concat());
        }
        stream.get_mut().write_all(&request).map_err(|error| error.to_string())?;
        let mut reply = Reply::new();
        read(&mut stream, &mut reply).map_err(|error| error.to_string())?;
        Ok(reply)
    }
}

fn read(stream: &mut BufReader<UnixStream>, reply: &mut Reply) -> std::io::Result<()> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let (kind, text) = line.trim_end().split_at(1);
    let number = || text.parse::<i64>().expect("a number");
    match kind {
        "+" => reply.status(text),
        "-" => reply.error_text(text.as_bytes()),
        ":" => reply.int(number()),
        "$" if number() < 0 => reply.nil(),
        "$" => {
            let mut bytes = vec![0; number() as usize + 2];
            stream.read_exact(&mut bytes)?;
            reply.bulk(&bytes[..bytes.len() - 2]);
        }
        _ => {
            reply.array(number() as usize);
            for _ in 0..number() {
                read(stream, reply)?;
            }
        }
    }
    Ok(())
}

#[test]
fn a_real_server_gets_the_same_calls() {
    let Some(server) = server_or_skip("a_real_server_gets_the_same_calls") else { return };
    let socket = server.socket();
    let mut call = caller(&socket);
    for name in SCRIPTS {
        let source = shipped(name);
        let contract = Contract::parse(&source).expect("a contract");
        let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
        let options = CheckOptions::new().runs(400);
        let report = contract.check_with(&Script::new(source), &options, hooks).expect("it is checked");
        report.assert_kept();
        assert!(report.left_out() > 0 && report.left_out() < 300, "{name}: {}", report.left_out());
    }
    // It is as empty as it was; what holds keys is not used.
    assert_eq!(call(&[b"DBSIZE"]).expect("it answers").get::<i64>().expect("a number"), 0);
    call(&[b"SET", b"mine", b"1"]).expect("it answers");
    let contract = Contract::parse(shipped("unlock")).expect("a contract");
    let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
    let error = contract.check_with(&Script::new(shipped("unlock")), &CheckOptions::new(), hooks);
    let told = error.expect_err("a key stands there").to_string();
    assert!(told.starts_with("the server's database holds 1 keys; the check needs an empty one"), "{told}");
    call(&[b"DEL", b"mine"]).expect("it answers");
}

#[test]
fn a_real_server_is_not_blamed_for_its_clock() {
    let Some(server) = server_or_skip("a_real_server_is_not_blamed_for_its_clock") else { return };
    let socket = server.socket();
    let mut call = caller(&socket);
    // One gives keys a time to live of a millisecond, one asks for the time, one for an id of the clock.
    for name in ["acquire_fenced", "limits/token_bucket", "once/stream_add_once"] {
        let source = shipped(name);
        let contract = Contract::parse(&source).expect("a contract");
        let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
        let report = contract.check_with(&Script::new(source), &CheckOptions::new().runs(400), hooks);
        report.expect("it is checked").assert_kept();
    }
}

#[test]
fn a_real_server_is_asked_in_the_same_protocol() {
    let Some(server) = server_or_skip("a_real_server_is_asked_in_the_same_protocol") else { return };
    let socket = server.socket();
    let mut call = caller(&socket);
    for (kind, body) in [
        ("hash", "redis.setresp(3) return redis.call('HGETALL', KEYS[1])"),
        ("zset", "redis.setresp(3) return redis.call('ZSCORE', KEYS[1], 'a')"),
        ("set", "redis.setresp(3) return {redis.call('SISMEMBER', KEYS[1], 'a') == 1, true, false}"),
        ("list", "local t = {redis.call('LLEN', KEYS[1])} for i = 1, 70 do t = {t} end return t"),
    ] {
        let source = format!(
            "--!contract c\n--!key k {kind} rw\n--!error arity \"ERR arity\"\n--!error k.type WRONGTYPE\n--!reply any\nif #KEYS ~= 1 or #ARGV ~= 0 then return redis.error_reply('ERR arity') end {body}"
        );
        let contract = Contract::parse(&source).expect("a contract");
        let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
        let report = contract.check_with(&Script::new(source), &CheckOptions::new().runs(200), hooks);
        let report = report.expect("it is checked");
        report.assert_kept();
        assert!(report.left_out() < 120, "{kind}: {}", report.left_out());
    }
}

/// What a server like this engine is asked to do, when a script with this body is checked against it, and how many calls
/// were left out.
fn asked(body: &str, flags: &str) -> (Vec<String>, CheckReport) {
    let source = format!("{HEAD}{flags}{BODY}{body}");
    let contract = Contract::parse(&source).expect("a contract");
    let mut client = moonkeep::Engine::new().client();
    let mut asked = Vec::new();
    let mut call = |words: &[&[u8]]| {
        let mut reply = Reply::new();
        client.call_into(words, &mut reply).map_err(|error| error.to_string())?;
        asked.push(String::from_utf8_lossy(words[0]).into_owned());
        Ok(reply)
    };
    let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
    let options = CheckOptions::new().runs(300);
    let report = contract.check_with(&Script::new(source), &options, hooks).expect("it is checked");
    asked.sort();
    asked.dedup();
    (asked, report)
}

#[test]
fn a_server_never_gets_what_reaches_beyond_the_keys() {
    // Before all else, so that no call of these bodies is without it.
    for reach in [
        "redis.pcall('FLUSHALL')",
        "redis.pcall('SWAPDB', 0, 1)",
        "redis.pcall('SELECT', 1)",
        "redis.pcall('CONFIG', 'SET', 'save', '')",
        "redis.pcall('SCRIPT', 'FLUSH')",
        "redis.pcall('PUBLISH', 'c', 'x')",
        "redis.pcall('MOVE', KEYS[1], 1)",
    ] {
        let source = format!("{HEAD}local reached = {reach} return 1");
        // With a contract that allows all of it, so that no rule is broken.
        let contract = Contract::parse("--!contract c\n--!key k any rw rm ttl=any\n--!flags random\n--!error arity \"x\"\n--!reply any\n").expect("a contract");
        let mut asked = Vec::new();
        let mut call = |words: &[&[u8]]| {
            asked.push(words[0].to_vec());
            let mut reply = Reply::new();
            reply.nil();
            Ok(reply)
        };
        let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
        contract
            .check_with(&Script::new(source), &CheckOptions::new().runs(50), hooks)
            .expect("it is checked");
        assert_eq!(asked, [b"RANDOMKEY"], "{reach}");
    }
    let (words, report) = asked("redis.call('PUBLISH', 'c', 'x') return 1", "");
    report.assert_kept();
    assert!(report.left_out() > 100 && report.left_out() < 300, "{}", report.left_out());
    assert!(words.contains(&"EVAL".to_owned()), "refused calls are compared");
    let (words, report) = asked("return 1", "--!flags random\n");
    assert_eq!((words, report.left_out(), report.is_kept()), (vec!["RANDOMKEY".to_owned()], 300, true));
}

#[test]
fn what_a_server_does_otherwise_is_told() {
    let source = shipped("unlock");
    let contract = Contract::parse(&source).expect("a contract");
    let mut client = moonkeep::Engine::new().client();
    // A server that deletes nothing.
    let mut call = |words: &[&[u8]]| {
        let mut reply = Reply::new();
        client.call_into(words, &mut reply).map_err(|error| error.to_string())?;
        if words[0] == b"EVAL" && reply.get() == Ok(1) {
            client.call(["SET", "{k}lock", "0"]).map_err(|error| error.to_string())?;
        }
        Ok(reply)
    };
    let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
    let report = contract.check_with(&Script::new(source), &CheckOptions::new().runs(300), hooks);
    let report = report.expect("it is checked");
    let failure = &report.failures()[0];
    assert_eq!(failure.rule(), Rule::Server);
    assert_eq!(failure.told(), "the server holds something else: + {k}lock string \"0\"");
    assert_eq!(failure.input().to_string(), "SET {k}lock 0\nadvance 0 ms\ncall 1 {k}lock 0");
}

#[test]
fn what_a_server_does_otherwise_only_once_is_counted() {
    let source = shipped("unlock");
    let contract = Contract::parse(&source).expect("a contract");
    let mut left_out = [false, true].map(|lies| {
        let mut client = moonkeep::Engine::new().client();
        let mut has_lied = !lies;
        let mut call = |words: &[&[u8]]| {
            let mut reply = Reply::new();
            client.call_into(words, &mut reply).map_err(|error| error.to_string())?;
            if words[0] == b"EVAL" && reply.get() == Ok(1) && !std::mem::replace(&mut has_lied, true) {
                client.call(["SET", "{k}lock", "0"]).map_err(|error| error.to_string())?;
            }
            Ok(reply)
        };
        let hooks = CheckHooks { server: Some(&mut call), ..CheckHooks::default() };
        let options = CheckOptions::new().runs(300);
        let report = contract.check_with(&Script::new(&source), &options, hooks).expect("it is checked");
        assert!(has_lied);
        report.assert_kept();
        report.left_out()
    });
    left_out[0] += 1;
    assert_eq!(left_out[0], left_out[1]);
}
