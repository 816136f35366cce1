//! Whether two sides told the same of a step: line by line, but for the elements of a random choice, and for what the
//! server keeps to itself.

/// Whether a command reads by a consumer group what was read before.
pub(crate) fn reads_again(argv: &[Vec<u8>]) -> bool {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let end = argv.iter().rposition(|word| is(word, "STREAMS")).map_or(&[][..], |at| &argv[at + 1..]);
    argv.iter().any(|word| is(word, "XREADGROUP")) && end[end.len() / 2..].iter().any(|id| id != b">")
}

/// Compares what is propagated by commands of which one `reads_again`, or none.
pub(crate) fn agree(expected: &[String], got: &[String], reads_again: bool) -> bool {
    expected == got || {
        let (expected, got): (Vec<_>, Vec<_>) = (
            expected.iter().map(|line| chosen(line)).collect(),
            got.iter().map(|line| chosen(line)).collect(),
        );
        expected == got || tells_more(&expected, &got, reads_again)
    }
}

/// A line without the elements that SPOP may have chosen, which are propagated as SREM: only how many they are.
fn chosen(line: &str) -> String {
    match crate::support::words::split(line) {
        Ok(words) if words.get(1).is_some_and(|name| name == b"SREM") => {
            let key = String::from_utf8_lossy(&words[2]).into_owned();
            format!("{} SREM {key} ({})", String::from_utf8_lossy(&words[0]), words.len() - 3)
        }
        _ => line.to_owned(),
    }
}

/// BITFIELD whose numbers do not fit (OVERFLOW FAIL) may still lengthen the string, and XREADGROUP of what was
/// read before counts deliveries and may make a consumer, which the server tells nobody, so that a replica of it differs; moonkeep tells both (docs/DIFFERENCES.md).
/// All else must be told alike.
fn tells_more(expected: &[String], got: &[String], reads_again: bool) -> bool {
    let is_bracket = |line: &&String| *line == "MULTI" || *line == "EXEC";
    let may_be_more = |line: &String| {
        let line = line.to_ascii_uppercase();
        line.contains(": BITFIELD ") && line.contains(" FAIL")
            || reads_again && [": XGROUP CREATECONSUMER ", ": XCLAIM "].iter().any(|name| line.contains(name))
    };
    let mut expected = expected.iter().filter(|line| !is_bracket(line)).peekable();
    for line in got.iter().filter(|line| !is_bracket(line)) {
        if expected.next_if_eq(&line).is_none() && !may_be_more(line) {
            return false;
        }
    }
    expected.next().is_none()
}

#[test]
fn what_is_told_may_differ_by_chance_only() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let told = |expected: &[&str], got: &[&str]| agree(&lines(expected), &lines(got), false);
    assert!(told(&["0: SREM e a b"], &["0: SREM e c d"]));
    assert!(!told(&["0: SREM e a b"], &["0: SREM e c"]));
    assert!(!told(&["0: SREM e a"], &["0: SREM f a"]));
    let grown = "0: BITFIELD s OVERFLOW FAIL SET u1 9 2";
    assert!(told(&[], &[grown]));
    assert!(told(&["0: APPEND s x"], &["MULTI", "0: APPEND s x", grown, "EXEC"]));
    assert!(!told(&["0: APPEND s x"], &[grown]));
    assert!(!told(&[grown], &[]));
    assert!(!told(&[], &["0: APPEND s x"]));
    let made = "0: XGROUP CREATECONSUMER x g c";
    assert!(!told(&[], &[made]));
    assert!(agree(&[], &lines(&[made]), true));
}
