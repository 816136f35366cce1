//! Whether two sides told the same of a step: line by line, but for the elements of a random choice, and for what the
//! server keeps to itself.

/// What of a step may be told otherwise.
#[derive(Clone, Copy, Default)]
pub(crate) struct Freedom {
    /// A command chooses elements at random.
    pub(crate) chooses: bool,
    /// A command reads by a consumer group what was read before.
    pub(crate) reads_again: bool,
    /// A command claims entries and sets how far the group has read.
    pub(crate) moves: bool,
}

impl Freedom {
    /// What a command allows, called as it is or by a script.
    pub(crate) fn of(argv: &[Vec<u8>]) -> Freedom {
        let has = |name: &str| argv.iter().any(|word| word.eq_ignore_ascii_case(name.as_bytes()));
        let streams = argv.iter().rposition(|word| word.eq_ignore_ascii_case(b"STREAMS"));
        let words = streams.map_or(&[][..], |at| &argv[at + 1..]);
        let asks_back = words[words.len() / 2..].iter().any(|id| id != b">");
        Freedom {
            chooses: has("SPOP"),
            reads_again: has("XREADGROUP") && asks_back,
            moves: has("XCLAIM") && has("LASTID"),
        }
    }
    /// What either allows.
    pub(crate) fn or(self, other: Freedom) -> Freedom {
        Freedom {
            chooses: self.chooses || other.chooses,
            reads_again: self.reads_again || other.reads_again,
            moves: self.moves || other.moves,
        }
    }
}

/// Compares what is propagated.
pub(crate) fn agree(expected: &[String], got: &[String], freedom: Freedom) -> bool {
    if !freedom.chooses {
        return expected == got || tells_more(expected, got, freedom);
    }
    let chosen = |lines: &[String]| lines.iter().map(|line| chosen(line)).collect::<Vec<_>>();
    agree(&chosen(expected), &chosen(got), Freedom { chooses: false, ..freedom })
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

/// BITFIELD whose numbers do not fit (OVERFLOW FAIL) may still lengthen the string, and XREADGROUP of what was read before
/// counts deliveries and may make a consumer; a claim that moves the group may look like a delivery. The server tells
/// nobody, so that a replica of it differs; moonkeep tells all of that (docs/DIFFERENCES.md). All else must be told alike.
fn tells_more(expected: &[String], got: &[String], freedom: Freedom) -> bool {
    let is_bracket = |line: &&String| *line == "MULTI" || *line == "EXEC";
    let may_be_more = |line: &String| {
        let line = line.to_ascii_uppercase();
        line.contains(": BITFIELD ") && line.contains(" FAIL")
            || freedom.moves && line.contains(": XGROUP SETID ")
            || freedom.reads_again
                && [": XGROUP CREATECONSUMER ", ": XCLAIM "].iter().any(|name| line.contains(name))
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
    let with = |expected: &[&str], got: &[&str], line: &str| {
        let argv = crate::support::words::split(line).expect("words");
        agree(&lines(expected), &lines(got), Freedom::of(&argv).or(Freedom::default()))
    };
    assert!(with(&["0: SREM e a b"], &["0: SREM e c d"], "SPOP e 2"));
    assert!(!with(&["0: SREM e a b"], &["0: SREM e c d"], "SREM e a b"));
    assert!(!with(&["0: SREM e a b"], &["0: SREM e c"], "SPOP e 2"));
    assert!(!with(&["0: SREM e a"], &["0: SREM f a"], "SPOP e"));
    let told = |expected: &[&str], got: &[&str]| with(expected, got, "PING");
    let grown = "0: BITFIELD s OVERFLOW FAIL SET u1 9 2";
    assert!(told(&[], &[grown]));
    assert!(told(&["0: APPEND s x"], &["MULTI", "0: APPEND s x", grown, "EXEC"]));
    assert!(!told(&["0: APPEND s x"], &[grown]));
    assert!(!told(&[grown], &[]));
    assert!(!told(&[], &["0: APPEND s x"]));
    let made = "0: XGROUP CREATECONSUMER x g c";
    assert!(!told(&[], &[made]));
    assert!(!with(&[], &[made], "XREADGROUP GROUP g c STREAMS x >"));
    assert!(with(&[], &[made], "XREADGROUP GROUP g c STREAMS x y > 0"));
}
