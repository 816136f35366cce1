//! What is refused as a contract, with place and text; and what the clauses mean.

use super::*;

const TAKE: &str = r#"--!contract take
--!key   stock  string int(0, 1000) required rw
--!argv  n      int(1, 1000)
--!error arity  "ERR arity"
--!error n      "ERR n"
--!error stock  "ERR stock"
--!error stock.type WRONGTYPE
--!reply [0, int(0, 1000)] | [1, int(0, 999)]
--!case stock >= n => [1, stock - n] ; stock = stock - n
--!case else       => [0, stock]
"#;

#[test]
fn a_contract_is_read() {
    let contract = Contract::parse(TAKE).expect("parses");
    assert_eq!(contract.keys().collect::<Vec<_>>(), ["stock"]);
    assert_eq!(contract.args().collect::<Vec<_>>(), ["n"]);
    assert_eq!(contract.rejections.len(), 4);
    assert_eq!(contract.cases.iter().map(|case| case.line).collect::<Vec<_>>(), [9, 10]);
    assert_eq!(
        contract.reply.as_ref().map(ToString::to_string).as_deref(),
        Some("[0, int(0, 1000)] | [1, int(0, 999)]")
    );
    assert!(Contract::is_in(TAKE) && !Contract::is_in("-- no contract\nreturn 1"));
}

#[test]
fn a_clause_may_go_on_in_further_lines() {
    let text = TAKE.replace("=> [1, stock - n] ;", "\n--!    => [1, stock - n] # the rest\n--!    ;");
    let contract = Contract::parse(&text).expect("parses");
    let whole = Contract::parse(TAKE).expect("parses");
    assert_eq!(contract.cases[0].effects, whole.cases[0].effects);
    assert_eq!(contract.cases[0].promise, whole.cases[0].promise);
}

/// The error of `TAKE` with a line exchanged.
fn error(line: usize, new: &str) -> String {
    let mut lines: Vec<&str> = TAKE.lines().collect();
    lines[line - 1] = new;
    match Contract::parse(lines.join("\n")) {
        Ok(_) => panic!("{new} is accepted"),
        Err(error) => error.to_string(),
    }
}

/// What people who know Lua, or another language of types, try first.
const SLIPS: &[(usize, &str, &str)] = &[
    (
        1,
        "--!contract take-it",
        "1:17: here should be the end of the clause; names are ASCII letters, digits and underscores, not \"-\"",
    ),
    (
        2,
        "--! key stock string",
        "2:5: a line with a blank behind --! goes on with the clause above; a clause begins right behind --!",
    ),
    (
        2,
        " --!key stock string",
        "2:1: contract lines begin in the first column and stand in the header, above the first line of code",
    ),
    (2, "--!key stock list int(0, 5)", "2:19: what a list holds is told by of, as in list of int"),
    (2, "--!key stock string rw int(0, 5)", "2:24: the grammar of a string stands right behind its type"),
    (2, "--!key stock string required optional", "2:30: optional does not go with required"),
    (2, "--!key stock string rm ro", "2:24: ro does not go with rm"),
    (2, "--!key stock string ttl=kept ttl=set", "2:30: ttl is told twice"),
    (
        2,
        "--!key stock string canonical",
        "2:21: here should be required, optional, ro, rw, rm, ttl=kept, ttl=set, ttl=dropped, ttl=any or \"...\", not \"canonical\"",
    ),
    (
        2,
        "--!key stock string int",
        "2:24: here should be \"(\" and two bounds, as in (0, 100), not the end of the clause",
    ),
    (3, "--!argv n int(5)", "3:16: here should be \",\" and the greatest value, not \")\""),
    (3, "--!argv n one_of(\"a\" \"b\")", "3:22: here should be \",\" or \")\", not \"b\""),
    (5, "-- no clause", "3:10: nothing says what is answered when n is wrong; add --!error n \"TEXT\""),
    (8, "--!reply status OK", "8:17: here should be the text of the status in quotes, not \"OK\""),
    (8, "--!reply [int, bytes...]", "8:21: \"...\" goes with one shape alone, as in [bytes...]"),
    (8, "--!reply [0, 1", "8:15: here should be \",\" or \"]\", not the end of the clause"),
    (9, "--!case stock = 1 => 1", "9:15: conditions compare with ==; a single = is for effects"),
    (9, "--!case stock ~= 1 => 1", "9:15: '~' means nothing here; \"is not\" is !="),
    (
        9,
        "--!case exist(stock) => 1",
        "9:9: \"exist\" is no function; functions are exists, pttl, len, default, has, score, item, field",
    ),
    (9, "--!case default(n, 0) == 1 => 1", "9:17: this is never missing; default is for an optional key"),
    (9, "--!case n > 1 => 1 ; stock = \"a\"", "9:30: stock holds an integer; this is a text"),
    (9, "--!case n > 1 => 1 ; stock = nil", "9:30: a key that holds nothing is gone; write del stock"),
    (
        9,
        "--!case n > 1 => 1 ; stock = 1, change stock",
        "9:33: another effect of this case says what becomes of the key",
    ),
    (
        9,
        "--!case n > 1 => 1 ; set stock",
        "9:22: \"set\" is no effect; effects are KEY = VALUE, KEY.FIELD = VALUE, pttl(KEY) = VALUE, del KEY, change KEY",
    ),
    (9, "--!case n > 1 => 1 ; stok = 1", "9:22: \"stok\" is not declared above; declared are stock, n"),
    (9, "--!case n > 1 => 1 ; change", "9:28: here should be the name of a key, not the end of the clause"),
    (9, "--!case n > 1 => 1, stock = 2", "9:19: here should be \";\" or the end of the clause, not \",\""),
    (
        9,
        "--!case n > 1 => 1 ; stock = 1 stock = 2",
        "9:32: here should be \",\" or the end of the clause, not \"stock\"",
    ),
    (9, "--!writes stock if n == 1", "9:17: here should be \",\", when or the end of the clause, not \"if\""),
];

/// What the elements of keys and the number of arguments can be.
const PARTS: &[(usize, &str, &str)] = &[
    (
        3,
        "--!argv n int(1, 2) many",
        "3:21: here should be canonical, digits, optional, \"...\" or the end of the clause, not \"many\"",
    ),
    (3, "--!argv n token ...(-1, 2)", "3:20: a number of arguments is not negative"),
    (3, "--!argv n token ...(3, 2)", "3:21: the bounds are the wrong way round: 3 is greater than 2"),
    (3, "--!argv n token ...\n--!argv m token", "4:9: n takes all arguments that are left"),
    (
        3,
        "--!argv n token optional\n--!argv m token",
        "4:9: n may be missing, so what follows may be: write optional",
    ),
    (2, "--!key stock hash(a token, a token)", "2:28: the field \"a\" is declared already"),
    (
        2,
        "--!key stock hash(a)",
        "2:20: here should be a grammar: int(MIN, MAX), token, bytes, bytes(MIN, MAX), one_of(\"a\", ...) or json, not \")\"",
    ),
    (2, "--!key stock hash(a token b)", "2:27: here should be optional, \",\" or \")\", not \"b\""),
    (
        2,
        "--!key stock list(a token)",
        "2:18: here should be required, optional, ro, rw, rm, ttl=kept, ttl=set, ttl=dropped, ttl=any or \"...\", not \"(\"",
    ),
    (10, "--!flags chance", "10:10: \"chance\" is no flag; there is random"),
];

#[test]
fn what_parts_may_be_is_told() {
    for (line, new, told) in PARTS {
        assert_eq!(error(*line, new), *told, "{new}");
    }
    let with = |clauses: &str| {
        let text = format!("--!contract c\n{clauses}\n--!reply any");
        Contract::parse(&text).expect_err(&text).to_string()
    };
    let hash =
        "--!key h hash(n int(0, 9), t token optional) rw\n--!key l list\n--!argv more token ...\n--!argv";
    let hash = hash.trim_end_matches("\n--!argv");
    for (case, told) in [
        ("h.x == 1 => 1", "5:11: \"x\" is no field of h; its fields are n, t"),
        ("l.x == 1 => 1", "5:11: l is no hash; only a hash has fields"),
        (
            "h.n == 1 => h.n + 1",
            "5:21: an optional key may be missing; write default(KEY, VALUE) to say what counts then",
        ),
        ("more == \"a\" => 1", "5:9: more is any number of arguments; ask len(more)"),
        ("exists(more) => 1", "5:16: more is any number of arguments; ask len(more)"),
        ("else => 1 ; h.n = nil", "5:27: a field that holds nothing is gone; write del KEY.FIELD"),
        ("else => 1 ; h.n = 1, h.n = 2", "5:30: another effect of this case says what becomes of the key"),
        ("else => 1 ; h = 1", "5:21: h is no string; write change h, or h.FIELD = VALUE"),
        ("else => 1 ; l.n = 1", "5:21: l is read only; declare it rw, or rm when it may be removed"),
    ] {
        assert_eq!(with(&format!("{hash}\n--!case {case}")), told, "{case}");
    }
}

/// A line of `TAKE`, what stands there instead, and what is said of it.
const MISTAKES: &[(usize, &str, &str)] = &[
    (1, "--!key a string", "1:4: a contract begins with a line --!contract NAME, not with key"),
    (1, "--!contract take 2", "1:18: the version of the contract language is 1"),
    (1, "--!contract", "1:12: here should be the name of the contract, not the end of the clause"),
    (2, "--!key stock", "2:13: here should be the type of the key, not the end of the clause"),
    (
        2,
        "--!key stock text",
        "2:14: \"text\" is no type of a key; types are string, list, hash, set, zset, stream, any",
    ),
    (2, "--!key pttl string", "2:8: \"pttl\" is a word of the language; take another name"),
    (2, "--!key stock string int(5, 1)", "2:25: the bounds are the wrong way round: 5 is greater than 1"),
    (
        2,
        "--!key stock string ttl=never",
        "2:25: \"never\" is no rule for a TTL; they are kept, set, dropped, any",
    ),
    (
        2,
        "--!keys 1",
        "2:4: \"keys\" is no clause; clauses are contract, key, argv, error, reply, case, writes, instructions, flags, arity",
    ),
    (3, "--!argv stock int(1, 2)", "3:9: \"stock\" is declared already"),
    (
        3,
        "--!argv n number",
        "3:11: here should be a grammar: int(MIN, MAX), token, bytes, bytes(MIN, MAX), one_of(\"a\", ...) or json, not \"number\"",
    ),
    (3, "--!argv n int(-1, 2) digits", "3:22: digits have no sign; the least value is 0 then, not -1"),
    (
        4,
        "-- no clause",
        "1:4: nothing says what a wrong number of keys or arguments is answered; add --!error arity \"TEXT\", or --!arity trusted when the script does not look at it",
    ),
    (5, "--!error n.missing \"no\"", "5:12: n cannot be wrong by \"missing\"; it can by syntax, range"),
    (
        5,
        "--!error n.syntax \"no\"",
        "3:10: nothing says what is answered when n is wrong by range; add --!error n.range \"TEXT\"",
    ),
    (
        5,
        "--!error m \"no\"",
        "5:10: \"m\" is not declared above; declared are stock, n (and arity, for their number)",
    ),
    (
        5,
        "--!error n",
        "5:11: here should be the text of the error in quotes, or the code of the error that a command raises, not the end of the clause",
    ),
    (
        7,
        "-- no clause",
        "2:10: nothing says what is answered when stock is wrong by type; add --!error stock.type WRONGTYPE",
    ),
    (
        8,
        "--!reply list",
        "8:10: here should be a shape: an integer, int, int(MIN, MAX), bytes, a text, status, nil, any, or [SHAPE, ...], not \"list\"",
    ),
    (9, "--!case stock => 1", "9:9: here should be a condition, as in a >= 1, not an integer"),
    (9, "--!case stock >= \"5\" => 1", "9:18: \">=\" works on integers; this is a text"),
    (9, "--!case stock == \"5\" => 1", "9:18: a text is never equal to an integer"),
    (
        9,
        "--!case reply == 1 => 1",
        "9:9: \"reply\" is known after the run only, in the condition of a writes clause",
    ),
    (9, "--!case stock > 1 1", "9:19: here should be \"=>\", not 1"),
    (9, "--!case stock > 1 => 1 ; del stock", "9:26: stock may not be removed; declare it rm"),
    (
        9,
        "--!case stock > 1 => 1 ; pttl(stock) = 5",
        "9:26: the TTL of stock is not set; declare the key ttl=set or ttl=any",
    ),
    (9, "--!case stock > 1 => 1 ; n = 5", "9:26: n is an argument; here should be the name of a key"),
    (9, "--!case else => 1", "10:4: no case applies after \"case else\"; put this one above it"),
    (9, "--!writes stock when reply[0] == 1", "9:28: elements of a reply are counted from 1"),
    (9, "--!instructions 0", "9:17: a run takes at least one instruction"),
    (
        10,
        "return 1\n--!case else => 1",
        "11:1: contract lines begin in the first column and stand in the header, above the first line of code",
    ),
];

#[test]
fn mistakes_are_told_with_their_place() {
    for (line, new, expected) in MISTAKES.iter().chain(SLIPS).copied() {
        assert_eq!(error(line, new), expected, "{new}");
    }
    let none = "1:1: there is no contract in the header; it begins with a line --!contract NAME";
    assert_eq!(Contract::parse("return 1").expect_err("none").to_string(), none);
}

#[test]
fn a_key_that_may_be_missing_needs_a_default() {
    let text = "--!contract c\n--!key n string int(0, 9) rw\n--!error arity \"a\"\n--!error n \"b\"\n--!error n.type WRONGTYPE\n";
    let bare = Contract::parse(format!("{text}--!case n + 1 > 5 => 1\n")).expect_err("may be missing");
    let told = "6:9: an optional key may be missing; write default(KEY, VALUE) to say what counts then";
    assert_eq!(bare.to_string(), told);
    assert!(Contract::parse(format!("{text}--!case default(n, 0) + 1 > 5 => 1\n")).is_ok());
    assert!(Contract::parse(format!("{text}--!case n == nil or exists(n) => 1\n")).is_ok());
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("--!case {}1 == 1 => 1", "(".repeat(100_000));
    assert_eq!(error(9, &deep), "9:73: the expression is nested too deeply");
    let deep = format!("--!case {} 1 == 1 => 1", "not ".repeat(100_000));
    assert!(error(9, &deep).ends_with("the expression is nested too deeply"));
    let deep = format!("--!reply {}", "[".repeat(100_000));
    assert!(error(8, &deep).ends_with("arrays are nested too deeply"));
}

#[test]
fn the_header_ends_where_code_begins() {
    let script = "#!lua flags=no-writes\n\n-- text\n--!contract c\n--[[ --!key ]]\nreturn 1";
    assert_eq!(header::lines(script.as_bytes()).map(|(line, _)| line).collect::<Vec<_>>(), [4]);
    let script = "--!contract c\n--[==[\n--!argv\n]==] return 1";
    assert_eq!(header::lines(script.as_bytes()).count(), 1);
}

#[test]
fn lines_of_the_header_end_as_in_lua() {
    let script = "#!lua\n-- text\r--!contract c\r\n--!nonsense\rreturn 1";
    assert_eq!(Contract::parse(script).unwrap_err().line(), 4);
    let lines: Vec<_> = header::lines(script.as_bytes()).collect();
    assert_eq!(lines, [(3, b"contract c" as &[u8]), (4, b"nonsense")]);
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn is_read_or_refused_with_its_place(
            at in 0..TAKE.len(), cut in 0..20usize, put in "(--![a-z]{0,8}|[ -~]{0,6}|\\PC{0,4}|[\\n\"\\\\()=>.,|;#-]{0,6})"
        ) {
            let (mut start, mut end) = (at, (at + cut).min(TAKE.len()));
            while !TAKE.is_char_boundary(start) { start -= 1; }
            while !TAKE.is_char_boundary(end) { end += 1; }
            let text = format!("{}{put}{}", &TAKE[..start], &TAKE[end..]);
            if let Err(error) = Contract::parse(&text) {
                prop_assert!(error.line() >= 1 && error.line() <= crate::util::lines::lines(text.as_bytes()).count().max(1) + 1, "{error}");
                prop_assert!(error.column() >= 1, "{error}");
            }
        }

        #[test]
        fn of_any_bytes_ends(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Contract::parse([&b"--!contract c\n--!"[..], &bytes].concat());
        }
    }
}
